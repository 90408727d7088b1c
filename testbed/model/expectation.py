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
EXTRA_UNITS: Mapping[str, str] = MappingProxyType(
    {"share": "ratio", "ping": "s", "against": TIMES, "flow-goodput": "bit/s", "starved": "s"}
)
"""What only a rule can ask, with its base unit: `share` is the share that flow `number` has of the goodput, `ping` the
round trip of ping `number` of `tool: ping`, up to the third; `against` how many times as many bytes the workload
carried as background `number`; `flow-goodput` the goodput of flow `number`, `starved` the longest time in which that
flow has less than a tenth of its fair share. All count from 0.
"""
OF_A_PART = frozenset({"goodput", "rtt", "rtt-p95", "rtt-p99", "fairness", "share", "flow-goodput", "starved"})
"""What a rule can ask of a part of the time."""
PART_ALLOWED = "two times, the first one less, as [10 s, 20 s], or round trips, as {rtts: [5, 20]}"
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
    must hold, so that this one counts; `message` is for people. `between_ns` is a part of the time, from and to, and
    `between_rtts` is one in round trips of the path (both empty: all of it). It counts from when the workload began, or
    from `since`: a time after that, or an event, as its link, and behind it which entry of the link's schedule it is,
    from 1, if not the first.
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
    between_ns: tuple[int, ...] = ()
    since: str = ""
    between_rtts: tuple[int, ...] = ()

    @property
    def event(self) -> tuple[str, int] | None:
        """The link and the entry of the event from which the part of the time counts; None: it counts from a time.
        Raises UserError for what is neither.
        """
        link, _, entry = self.since.partition(" ")
        if not link or self._is_time:
            return None
        return link, int(entry or 1)

    @property
    def since_s(self) -> float:
        """The time from which the part of the time counts, unless that is an event."""
        return units.parse_time(self.since) / 1e9 if self._is_time else 0.0

    @property
    def _is_time(self) -> bool:
        entry = self.since.partition(" ")[2]
        if not entry or (entry.isascii() and entry.isdecimal()):
            return False
        try:
            units.parse_time(self.since)
        except UserError:
            what = f"since is no event and no time: {self.since!r}"
            raise UserError(f"{what}; allowed: a link, and which entry of its schedule, or such as 10 s") from None
        return True

    @property
    def is_part(self) -> bool:
        """Whether it is about a part of the time."""
        return bool(self.between_ns or self.between_rtts)

    @property
    def between_s(self) -> tuple[float, float] | None:
        """The part of the time; None if it is not given as one. Raises UserError for what is none."""
        return _pair(self.between_ns, 1e-9)

    @property
    def round_trips(self) -> tuple[float, float] | None:
        """The same in round trips."""
        return _pair(self.between_rtts, 1)

    @property
    def has_part(self) -> bool:
        """Whether it is about a part of the time."""
        return (self.between_s or self.round_trips) is not None

    @property
    def what(self) -> str:
        """The metric in words, with its part of the time."""
        if (part := self.between_s or self.round_trips) is None:
            return self.metric
        said = f"{part[0]:g} s to {part[1]:g} s" if self.between_ns else f"{part[0]:g} to {part[1]:g} round trips"
        behind = f" after {self.since if self._is_time else f'the event of {self.since}'}" if self.since else ""
        return f"{self.metric} from {said}{behind}"

    @property
    def unit(self) -> str:
        """The unit of the bounds."""
        return TIMES if self.over is not None or self.metric in OVER_THE_WHOLE else self.base_unit

    @property
    def measured(self) -> str:
        """The metric in words, with what it is divided by."""
        return self.what if self.over is None else f"{self.what} over that {in_words(self.over)}"

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


def _pair(part: tuple[int, ...], scale: float) -> tuple[float, float] | None:
    if not part:
        return None
    if len(part) != 2 or not 0 <= part[0] < part[1]:
        raise UserError(f"between is no part of the time; allowed: {PART_ALLOWED}")
    return part[0] * scale, part[1] * scale


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
