"""A trial as rules of `expect` see it, and the values that only they ask for. Reads a trial's samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cache, partial
from pathlib import Path
from typing import Any

from ...codec.frozen import dataclass
from ...error import ValueRefused
from ...model.expectation import Expectation, NotChecked
from ...model.round_trip import round_trip_ns
from ...model.scenario import Trial
from ...trial.folder import SAMPLES as SAMPLES_FILE
from ...trial.folder import read_trial
from ...trial.result import TrialResult
from ...trial.workload.background import backgrounds
from .. import flow_sample
from ..metric import METRICS, FlowSamples, measure
from . import part

ALMOST = 0.99
"""Samples come late by less than the rest."""


@dataclass(frozen=True)
class Measured:
    """A trial that ran: its result, metrics by name, and in `lost` the missing files of the trial by the metrics that
    need them. `samples` reads those of its flows, and `asked` what was asked of it (None: nobody knows).
    """

    result: TrialResult
    metrics: Mapping[str, float | None]
    lost: Mapping[str, str] = field(default_factory=dict)
    samples: Callable[[], Sequence[FlowSamples]] = tuple
    asked: Callable[[], Trial] | None = None

    def part(self, rule: Expectation) -> tuple[float, float] | None:
        """The part of the time that a rule is about, in seconds since the workload began. Raises NotChecked where it
        counts from an event that did not come, or in round trips, and the path of its flows has none that stays.
        """
        part = rule.between_s
        if rule.round_trips is not None:
            rtt_s = self._rtt_s()
            part = rule.round_trips[0] * rtt_s, rule.round_trips[1] * rtt_s
        if part is None:
            return None
        begin_s = self._begin_s(rule)
        return begin_s + part[0], begin_s + part[1]

    def _begin_s(self, rule: Expectation) -> float:
        if rule.event is None:
            return rule.since_s
        came = [each.at_s for each in self.result.schedule_events if (each.link, each.entry) == rule.event]
        if not came or came[0] is None:
            raise NotChecked(f"the event of {rule.since} did not come in the trial {self.result.id}")
        return came[0]

    def _rtt_s(self) -> float:
        try:
            if self.asked is not None:
                trial = self.asked()
                return round_trip_ns(trial.topology, trial.workload) / 1e9
            what = "the round trip is not known"
        except ValueRefused as refused:
            what = refused.what
        raise NotChecked(f"{what}, in the trial {self.result.id}")

    def value(self, name: str, number: int, between_s: tuple[float, float] | None = None) -> float | None:
        """In base units; None where the trial has no such value. `number` is for those of EXTRA, `between_s` a part of
        the time for those of PARTS. Raises NotChecked for a part that is shorter than from one sample to the next, or
        ends after the samples.
        """
        if between_s is None and name not in SAMPLED:
            return EXTRA[name](self.result, number) if name in EXTRA else self.metrics.get(name)
        samples = self.samples()
        if not samples or len(samples) < len(self.result.flows):
            return None
        if between_s is None:
            return SAMPLED[name](part.steady(samples, self.result.steady_s or 0.0), number)
        if between_s[1] - between_s[0] < ALMOST * (interval_s := part.interval_s(samples)):
            what = f"this part of the time is shorter than from one sample to the next, {1e3 * interval_s:.4g} ms"
            raise NotChecked(f"{what}, in the trial {self.result.id}")
        cut = part.of(samples, *between_s)
        if cut is None:
            what = f"this part of the time ends at {between_s[1]:g} s, when not every flow was sampled any more"
            raise NotChecked(f"{what}, in the trial {self.result.id}")
        return part.PARTS[name](cut, number)


def read(folder: Path, result: TrialResult, names: Sequence[str]) -> Measured:
    """With those of the names that are metrics; the trial's files are in `folder`. Raises UserError for broken ones."""
    known = [name for name in names if name in METRICS]
    needing = [name for name in known if METRICS[name].needs_samples]
    lost = needing if needing and flow_sample.are_lost(folder, result) else []
    samples = partial(flow_sample.read, folder, result)
    metrics, asked = flow_sample.metrics(folder, result, known), cache(partial(read_trial, folder))
    return Measured(result, metrics, dict.fromkeys(lost, SAMPLES_FILE), samples, asked)


def of_rows(result: TrialResult, rows: Sequence[Mapping[str, Any]], asked: Trial, names: Sequence[str]) -> Measured:
    """As `read`, with the samples as rows."""
    known = [name for name in names if name in METRICS]
    samples = flow_sample.of_rows(rows, result)
    interval_ns = asked.samples_interval_ns
    lack = interval_ns is not None and len(samples) < flow_sample.ran_long(result, interval_ns / 1e9)
    lost = [name for name in known if METRICS[name].needs_samples] if lack else []
    found = measure(result, samples, [name for name in known if name not in lost])
    values = {name: found.get(name) for name in known}
    return Measured(result, values, dict.fromkeys(lost, SAMPLES_FILE), lambda: samples, lambda: asked)


def _share(result: TrialResult, flow: int) -> float | None:
    shares = result.shares
    return shares[flow] if flow < len(shares) else None


def _ping(result: TrialResult, number: int) -> float | None:
    measured = result.measured.get("ping")
    rtts = measured.get("first_rtts_s", ()) if isinstance(measured, Mapping) else getattr(measured, "first_rtts_s", ())
    return float(rtts[number]) if number < len(rtts) and rtts[number] is not None else None


def _against(result: TrialResult, number: int) -> float | None:
    found = list(backgrounds(result.measured).values())
    mine = result.received_bytes
    if mine is None or number >= len(found) or not found[number].received_bytes:
        return None
    return mine / found[number].received_bytes


def _flow_goodput(result: TrialResult, flow: int) -> float | None:
    return result.flows[flow].goodput_bps if flow < len(result.flows) else None


EXTRA: dict[str, Callable[[TrialResult, int], float | None]] = {
    "share": _share,
    "ping": _ping,
    "against": _against,
    "flow-goodput": _flow_goodput,
}
SAMPLED: dict[str, Callable[[part.Part, int], float | None]] = {"starved": part.starved_s}
"""Of samples alone. EXTRA and they have the names of `model.expectation.EXTRA_UNITS`."""
