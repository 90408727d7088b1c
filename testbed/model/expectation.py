"""A rule of `expect` about what trials measure, as a value; `analysis.expectation` judges it. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TypeAlias

from .. import units
from ..codec.frozen import dataclass
from ..error import UserError

Choice: TypeAlias = Mapping[str, tuple[str, ...]]
"""Axis to the texts of its values that are meant; an axis that is not in it may have any."""

TIMES = "times"
EXTRA_UNITS: Mapping[str, str] = MappingProxyType({"share": "ratio", "ping": "s", "against": TIMES})
"""What only a rule can ask, with its base unit: `share` is the share that flow `number` has of the goodput, `ping` the
round trip of ping `number` of `tool: ping`, up to the third; `against` how many times as many bytes the workload
carried as background `number`. All count from 0.
"""
OVER_THE_WHOLE = ("slowdown", "slowdown-p99")
"""Metrics whose base unit is ratio, and which can be more than 1."""
PARSERS: Mapping[str, Callable[[str], float]] = MappingProxyType(
    {
        "s": lambda text: units.parse_time(text) / 1e9,
        "bit/s": lambda text: float(units.parse_rate(text)),
        "ratio": lambda text: float(units.parse_fraction(text)),
        "B": lambda text: float(units.parse_size(text)),
    }
)


class NotChecked(Exception):
    """A rule that could not be checked, and why: it counts as failed."""


@dataclass(frozen=True)
class Expectation:
    """In all trials in which the axes have the values of `where`, `metric` is from `least` to `most`, which are texts
    with units (None: no bound); with `over` it is divided by its mean where the axes have those values.

    `base_unit` is the metric's. `number` is which flow, ping or background, from 0. `needs` are names of rules that
    must hold, so that this one counts; `message` is for people.
    """

    name: str
    metric: str
    base_unit: str
    least: str | None = None
    most: str | None = None
    where: Choice = field(default_factory=dict)
    over: Choice | None = None
    number: int = 0
    needs: tuple[str, ...] = ()
    message: str = ""

    @property
    def unit(self) -> str:
        """The unit of the bounds."""
        return TIMES if self.over is not None or self.metric in OVER_THE_WHOLE else self.base_unit

    @property
    def measured(self) -> str:
        """The metric in words, with what it is divided by."""
        return self.metric if self.over is None else f"{self.metric} over that {in_words(self.over)}"

    @property
    def wanted(self) -> str:
        """The bounds in words."""
        bounds = (("at least", self.least), ("at most", self.most))
        return " and ".join(f"{word} {text}" for word, text in bounds if text is not None)

    def bound(self, text: str | None) -> float | None:
        """`least` or `most` in base units, 0 or more. Raises UserError."""
        if text is None:
            return None
        try:
            value = PARSERS.get(self.unit, float)(text)
        except UserError:
            raise
        except (ValueError, OverflowError):
            raise UserError(f"{text!r} is not a number; allowed: such as 0.9 or 12") from None
        if not (math.isfinite(value) and value >= 0):
            raise UserError(f"{text!r} is no bound; allowed: a number, 0 or more")
        return value


def chosen(choice: Choice, params: Mapping[str, str]) -> bool:
    """Whether a trial or a cell with these parameters is meant."""
    return all(params.get(key) in texts for key, texts in choice.items())


def lacking(choice: Choice, found: Iterable[Mapping[str, str]]) -> Choice | None:
    """What of a choice is not there: a value that none of those that are meant has; `found` are their parameters. None
    if each value is there.
    """
    meant = [each for each in found if chosen(choice, each)]
    if not meant:
        return choice
    absent = ((key, text) for key, texts in choice.items() for text in texts)
    return next(({key: (text,)} for key, text in absent if all(each[key] != text for each in meant)), None)


def in_words(choice: Choice) -> str:
    """Such as "where path.rtt is 20 ms or 50 ms, flows is 4"; empty for any trial."""
    said = ", ".join(f"{key} is {' or '.join(texts)}" for key, texts in choice.items())
    return f"where {said}" if said else ""
