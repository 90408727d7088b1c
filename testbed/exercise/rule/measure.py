"""Rules about what the trials of a scenario measured. Pure, no I/O.

Names of metrics are those of `primary` in scenarios and of comparisons, and those of EXTRA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from ... import units
from ...analysis.metric import METRICS
from ...error import UserError, one_of
from ...plan.step import Step
from ...spec.syntax.document import Fault
from ...spec.syntax.field import Text
from ...trial.measured import backgrounds
from ...trial.stored_result import TrialResult
from .common import Found, Kind, Net, NotChecked, Number


@dataclass(frozen=True)
class Trial:
    """A trial that ran: its result, and the metrics that need its samples, by name."""

    result: TrialResult
    metrics: Mapping[str, float | None]


def _share(trial: Trial, flow: int) -> float | None:
    rates = [each.goodput_bps for each in trial.result.flows]
    if flow >= len(rates) or any(rate is None for rate in rates) or not sum(filter(None, rates)):
        return None
    return (rates[flow] or 0.0) / sum(filter(None, rates))


def _ping(trial: Trial, number: int) -> float | None:
    measured = trial.result.measured.get("ping")
    rtts = measured.get("first_rtts_s", ()) if isinstance(measured, Mapping) else getattr(measured, "first_rtts_s", ())
    return float(rtts[number]) if number < len(rtts) and rtts[number] is not None else None


def _against(trial: Trial, number: int) -> float | None:
    found = list(backgrounds(trial.result.measured).values())
    mine = trial.result.received_bytes
    if mine is None or number >= len(found) or not found[number].received_bytes:
        return None
    return mine / found[number].received_bytes


EXTRA: dict[str, tuple[str, Callable[[Trial, int], float | None]]] = {
    "share": ("ratio", _share),
    "ping": ("s", _ping),
    "against": ("times", _against),
}
"""`share`: the share that flow number `number` has of the goodput; `ping`: the round trip of ping number `number` of
`tool: ping`, up to the third; `against`: how many times as many bytes the workload carried as background `number`. All
count from 0.
"""
PARSERS: dict[str, Callable[[str], float]] = {
    "s": lambda text: units.parse_time(text) / 1e9,
    "bit/s": lambda text: float(units.parse_rate(text)),
    "ratio": lambda text: float(units.parse_fraction(text)),
}


class Measure(Kind):
    """In the trials of `scenario` in which the axes have the values of `where`, the `metric` is from `least` to `most`;
    with `over` it is divided by that of the trials in which they have those values. All their verdicts are `valid`.
    """

    scenario: Text
    metric: Text
    where: dict[str, Text] = Field({}, description="Values of axes.")
    over: dict[str, Text] | None = None
    number: Number = Field(0, description="Which flow, or which ping.")
    least: Text | None = None
    most: Text | None = None

    @property
    def unit(self) -> str:
        """The unit of the bounds."""
        return "times" if self.over is not None else self.base_unit

    @property
    def base_unit(self) -> str:
        """The unit of the metric."""
        return EXTRA[self.metric][0] if self.metric in EXTRA else METRICS[self.metric].base_unit

    def faults(self) -> Iterator[Fault]:
        if self.metric not in (*METRICS, *EXTRA):
            allowed = one_of((*METRICS, *EXTRA), self.metric)
            yield Fault(("metric",), f"{self.metric!r} is not a metric", allowed, named=True)
            return
        if self.least is None and self.most is None:
            yield Fault((), "any value would do", "least, most", named=True)
        for key in ("least", "most"):
            try:
                if self.bound(key) == 0 and key == "least" and self.most is None:
                    yield Fault((key,), "every value would do", "more than 0", named=True)
            except (UserError, ValueError) as error:
                yield Fault((key,), str(error), named=True)

    def bound(self, key: str) -> float | None:
        """`least` or `most` in base units."""
        text = getattr(self, key)
        return None if text is None else PARSERS.get(self.unit, float)(text)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        yield from ()

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        raise NotChecked("no scenario was run")

    def judge_trials(self, trials: Sequence[Trial]) -> str | None:
        """As `judge`, of what was measured."""
        values = self._values(trials, self.where)
        if self.over is not None:
            base = self._values(trials, self.where | self.over)
            mean = sum(base) / len(base)
            if mean <= 0:
                raise NotChecked(f"{self.metric} is 0 where {_words(self.where | self.over)}")
            values = [value / mean for value in values]
        least, most = self.bound("least"), self.bound("most")
        off = [each for each in values if (least is not None and each < least) or (most is not None and each > most)]
        if not off:
            return None
        wanted = " and ".join(
            f"{word} {text}" for word, text in (("at least", self.least), ("at most", self.most)) if text is not None
        )
        return f"{self.metric}{_where(self.where)} is {self._written(off[0])}, and should be {wanted}"

    def _values(self, trials: Sequence[Trial], where: Mapping[str, str]) -> list[float]:
        chosen = [each for each in trials if all(each.result.params.get(key) == text for key, text in where.items())]
        if not chosen:
            raise NotChecked(f"{self.scenario} has no trial{_where(where)}")
        for each in chosen:
            if each.result.verdict != "valid":
                reasons = "; ".join(each.result.warnings[:3])
                raise NotChecked(f"the trial {each.result.id} is {each.result.verdict}: {reasons}")
        values = [self._value(each) for each in chosen]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            raise NotChecked(f"{self.scenario} has no {self.metric}{_where(where)}")
        return known

    def _value(self, trial: Trial) -> float | None:
        return EXTRA[self.metric][1](trial, self.number) if self.metric in EXTRA else trial.metrics.get(self.metric)

    def _written(self, value: float) -> str:
        if self.unit == "bit/s":
            return f"{value / 1e6:.4g} Mbit/s"
        return f"{value * 1e3:.4g} ms" if self.unit == "s" else f"{value:.3g}"


def _words(where: Mapping[str, str]) -> str:
    return ", ".join(f"{key} is {text}" for key, text in where.items())


def _where(where: Mapping[str, str]) -> str:
    return f" where {_words(where)}" if where else ""


KINDS: dict[str, Any] = {"measure": Measure}
