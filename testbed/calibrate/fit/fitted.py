"""What was fitted: a number with its interval, the rule in words, and what would tell more. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from ...analysis import statistic
from ...analysis.distribution import t_quantile

Status: TypeAlias = Literal["identified", "bound", "not identifiable"]

LEVEL = 0.95
LARGEST_CORRELATION = 0.95


@dataclass(frozen=True)
class Fitted:
    """A property of a path. Values are in base units: s, bit/s, bytes, shares.

    `low` and `high` are the 95 % interval; one of them is None where only a bound is known, both where nothing says
    how far the value may be off. `value` None is not identifiable, and never 0. `next` is the measurement that would
    tell it, or tell it better.
    """

    name: str
    unit: str
    status: Status
    rule: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    sources: tuple[str, ...] = ()
    next: str | None = None

    def __post_init__(self) -> None:
        ends = [each for each in (self.value, self.low, self.high) if each is not None]
        assert all(math.isfinite(each) for each in ends), f"BUG: {self.name} is no number"
        assert (self.value is None) == (self.status == "not identifiable"), f"BUG: {self.name} is {self.status}"

    @property
    def is_known(self) -> bool:
        return self.status == "identified"

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        known = {"name": self.name, "unit": self.unit, "status": self.status, "value": self.value}
        return known | {
            "low": self.low,
            "high": self.high,
            "rule": self.rule,
            "sources": list(self.sources),
            "next": self.next,
        }


@dataclass(frozen=True)
class Explanation:
    """What may be behind an observation; `apart` is the measurement that would tell it from the others."""

    of: str
    says: str
    fits: bool
    why: str
    apart: str | None = None

    def data(self) -> dict[str, Any]:
        return {"of": self.of, "says": self.says, "fits": self.fits, "why": self.why, "apart": self.apart}


@dataclass(frozen=True)
class Found:
    """The outcome of one fit: what was fitted, and the explanations that are kept."""

    fitted: tuple[Fitted, ...] = ()
    explanations: tuple[Explanation, ...] = field(default=())


def unknown(name: str, unit: str, rule: str, next: str | None = None, sources: Sequence[str] = ()) -> Fitted:
    """What the files do not tell."""
    return Fitted(name, unit, "not identifiable", rule, next=next, sources=tuple(sources))


def correlation(values: Sequence[float]) -> float:
    """Of neighbours in time; 0 for fewer than 4 values, or values that are all equal."""
    samples = np.asarray(values, dtype=float)
    if len(samples) < 4 or statistic.population_sd(samples) == 0:
        return 0.0
    centred = samples - samples.mean()
    return float((centred[1:] @ centred[:-1]) / (centred @ centred))


def independent(values: Sequence[float]) -> float:
    """As many samples as the correlation leaves independent: n (1 - r) / (1 + r) for a first-order process."""
    r = min(max(correlation(values), 0.0), LARGEST_CORRELATION)
    return max(2.0, len(values) * (1 - r) / (1 + r))


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Student's interval of the mean of a series, with as many samples as are `independent`. None for fewer than 3
    values.
    """
    if len(values) < 3:
        return None
    count = independent(values)
    half = t_quantile(count - 1, (1 + LEVEL) / 2) * statistic.sample_sd(values) / math.sqrt(count)
    middle = statistic.mean(values)
    return middle - half, middle + half


def poisson_interval(count: int) -> tuple[float, float]:
    """Garwood's interval of the mean of a Poisson count: quantiles of chi-square (Biometrika 28, 1936)."""
    from scipy import stats  # takes a second to import

    tail = (1 - LEVEL) / 2
    low = float(stats.chi2.ppf(tail, 2 * count)) / 2 if count else 0.0
    return low, float(stats.chi2.ppf(1 - tail, 2 * count + 2)) / 2


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """In their order, each once."""
    return tuple(dict.fromkeys(names))
