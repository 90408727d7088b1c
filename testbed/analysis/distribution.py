"""Quantiles and tails of distributions, by scipy, which is imported when one is asked for: it takes as long as all that
reading a scenario does. Pure, no I/O.
"""

from __future__ import annotations

from typing import Any


def t_quantile(freedom: float, chance: float) -> float:
    """What Student's t with these degrees of freedom (more than 0) stays below with this chance (0 to 1)."""
    return float(_special().stdtrit(freedom, chance))


def t_below(freedom: float, value: float) -> float:
    """The chance that Student's t with these degrees of freedom (more than 0) is at most this value."""
    return float(_special().stdtr(freedom, value))


def _special() -> Any:
    from scipy import special

    return special
