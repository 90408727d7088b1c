"""Metrics of a trial: what comparisons judge, and results and the report show. Pure, no I/O.

Goodput, retransmissions, RTT under load, fairness and time to convergence: the metrics of RFC 5166, section 2, that can
be measured at the ends of a path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ..codec.frozen import dataclass
from ..error import UserError, one_of
from ..model.metric_need import SHORT_TERM_S as SHORT_TERM_S
from ..model.metric_need import TOGETHER, TOGETHER_LEAST_S
from ..model.run_setting import METRIC_UNITS
from ..trial.evidence.completion import FctResult, FctSpread
from ..trial.measured import PingResult, find
from ..trial.result import TrialResult
from . import statistic
from .condition import MSS_BYTES
from .statistic import FloatArray

CLOSE = 0.8
"""A flow has converged when its short-term throughput is within this factor of its long-term one."""
STAY = 0.9
"""A flow stays converged if it is near its long-term throughput at this share of all later times, …"""
STAY_S = 3.0
"""… of which there must be so many seconds."""
NEVER = "never"


class AtLeast(float):
    """A value that was not reached while anyone looked: the true one is larger, or there is none."""


@dataclass(frozen=True)
class FlowSamples:
    """Samples of a flow's sender: seconds since the workload began, bytes acknowledged, smoothed RTT, and the seconds
    in which it had data to send (None: not sampled).
    """

    time_s: FloatArray
    acked_bytes: FloatArray
    srtt_s: FloatArray
    busy_s: FloatArray | None = None

    @property
    def active(self) -> slice:
        """From the last sample before the first acknowledged byte to the first sample with all acknowledged bytes.

        A flow may be connected long before it sends, and long after. Empty if it never sent.
        """
        moved = np.flatnonzero(np.diff(self.acked_bytes) > 0)
        return slice(int(moved[0]), int(moved[-1]) + 2) if len(moved) else slice(0, 0)

    @property
    def busy(self) -> FlowSamples:
        """The samples of the time in which the flow is active."""
        return FlowSamples(self.time_s[self.active], self.acked_bytes[self.active], self.srtt_s[self.active])

    @property
    def running(self) -> tuple[float, float] | None:
        """When the flow had data to send, from and to; None if never. A flow that starves runs all the same."""
        work = self.acked_bytes if self.busy_s is None else self.busy_s
        grew = np.flatnonzero(np.diff(work) > 0)
        return (float(self.time_s[grew[0]]), float(self.time_s[grew[-1] + 1])) if len(grew) else None


@dataclass(frozen=True)
class Metric:
    """`what` describes it in words. `of` computes it in `base_unit` (s, bit/s, ratio, …), None if the trial has no
    value; it gets the samples of the flows only if the metric `needs_samples`.

    `only` is a key of `measured`: trials without it never have the metric, and nobody looks for it in a comparison of
    them; None: every trial may have it.

    `unit` is for people ("" for none); `scale` converts base units to it. `is_more_better` says which direction is
    better. `least` is a difference that does not matter, in base units, for metrics that can be 0. Where a share of the
    value says nothing, as of an index near 1, `is_relative` is False: then `least` alone says what does not matter.
    """

    name: str
    what: str
    base_unit: str
    unit: str
    scale: float
    is_more_better: bool
    least: float
    needs_samples: bool
    of: Callable[[TrialResult, Sequence[FlowSamples]], float | None]
    is_relative: bool = True
    only: str | None = None

    @property
    def title(self) -> str:
        """The name with the unit, for the head of a column."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def text(self, value: float | None) -> str:
        """A value given in base units as people read it, without the unit; a dash for None, `never` for one that was
        not reached.
        """
        if isinstance(value, AtLeast):
            return NEVER
        return "-" if value is None else f"{value * self.scale:.4g}"


def register(metric: Metric) -> None:
    """Adds a metric from outside: comparisons, results, figures and the report then have it."""
    assert metric.name not in METRICS, f"BUG: two metrics with the name {metric.name!r}"
    METRICS[metric.name] = metric
    METRIC_UNITS[metric.name] = metric.base_unit


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """These metrics, in the order of METRICS. Raises UserError for a metric that does not exist."""
    for name in names:
        if name not in METRICS:
            raise UserError(f"--metric {name}: allowed: {one_of([*METRICS], name)}")
    return tuple(name for name in METRICS if name in names)


def measure(result: TrialResult, samples: Sequence[FlowSamples], names: Sequence[str]) -> dict[str, float | None]:
    """The named metrics of a trial in base units; None where the trial has no value."""
    return {name: METRICS[name].of(result, samples) for name in names}


def retransmitted_share(result: TrialResult) -> float | None:
    """Retransmitted segments over all segments sent, over the life of the flows; None if not counted."""
    flows = [flow for flow in result.flows if flow.retransmits is not None and flow.received_bytes]
    if not flows or len(flows) < len(result.flows):
        return None
    again = sum(flow.retransmits or 0 for flow in flows)
    once = sum((flow.received_bytes or 0) / (flow.mss_bytes or MSS_BYTES) for flow in flows)
    return again / (once + again)


def rtt_under_load_s(result: TrialResult, samples: Sequence[FlowSamples], share: float) -> float | None:
    """A quantile of the senders' smoothed RTTs, over all flows, while they send and after the ramp.

    None without samples.
    """
    steady_s = result.steady_s or 0.0
    busy = [each.busy for each in samples]
    seen = [each.srtt_s[(each.time_s >= steady_s) & (each.srtt_s > 0)] for each in busy]
    values = np.concatenate(seen) if seen else np.array([])
    return statistic.quantile(values, share) if len(values) else None


def ping_rtt_s(result: TrialResult, share: float) -> float | None:
    """A quantile of the RTTs of a workload's pings; None without any reply, and of lost ones at the quantile's place:
    they took longer than all others, if they ever had come. Of 100 ms and more ping prints three digits of each, and
    all of the shortest and the longest: the quantile lies between those.
    """
    found = find(PingResult, result.measured)
    if found is None:
        return None
    known = [rtt for rtt in found.rtts_s if rtt is not None]
    if not known:
        return None
    with np.errstate(invalid="ignore"):
        value = float(np.quantile([math.inf if rtt is None else rtt for rtt in found.rtts_s], share, method="linear"))
    if not math.isfinite(value):
        return None
    return min(max(value, found.rtt_min_s or 0.0), found.rtt_max_s or math.inf)


def _ping(share: int) -> Metric:
    what = "median" if share == 50 else f"{share} % quantile"
    return Metric(f"ping-p{share}", f"{what} of the RTTs of the workload's pings", "s", "ms", 1e3, False, 1e-4, False,
                  lambda r, s: ping_rtt_s(r, share / 100), only=PingResult.KEY)  # fmt: skip


def convergence_s(samples: Sequence[FlowSamples]) -> float | None:
    """From the last flow's start until every flow's short-term throughput is near its long-term one, and stays there.

    Near is within a factor of 0.8, above or below: the epsilon-convergence time of Li, Leith and Shorten, Experimental
    Evaluation of TCP Protocols for High-Speed Networks, IEEE/ACM Transactions on Networking 15(5), 2007, for all flows
    at once. Short-term is over a second, long-term over the second half of the time in which all flows run. It stays
    there if all flows are near at 9 in 10 of the times from then to the end, 3 s or more: a flow that oscillates passes
    its mean again and again. If the flows never converge it is AtLeast all of that time; a flow that gets nothing never
    does. None if they run together for less than 4 s, or one of them never had data to send.
    """
    spans = [each.running for each in samples]
    known = [span for span in spans if span is not None]
    if not known or len(known) < len(spans):
        return None
    start, end = max(first for first, _ in known), min(last for _, last in known)
    if end - start < TOGETHER_LEAST_S:
        return None
    step = float(np.median(np.diff(samples[0].time_s)))
    times = np.arange(start + SHORT_TERM_S, end + step / 2, step)
    near = np.ones(len(times), dtype=bool)
    for each in samples:
        short = (_acked(each, times) - _acked(each, times - SHORT_TERM_S)) / SHORT_TERM_S
        middle = (start + end) / 2
        first, last = _acked(each, np.array([middle, end]))
        long = (last - first) / (end - middle)
        near &= (long > 0) & (short >= CLOSE * long) & (short * CLOSE <= long)
    later = np.cumsum(near[::-1])[::-1] / np.arange(len(near), 0, -1)
    stays = near & (later >= STAY) & (times <= end - STAY_S + step / 2)
    return float(times[np.argmax(stays)] - start) if stays.any() else AtLeast(end - start)


def fairness(result: TrialResult, samples: Sequence[FlowSamples]) -> float | None:
    """Jain's index over what the flows got while they ran together: the mean over all times after the ramp in which two
    flows or more had data to send, each interval between a start or an end and the next with its length.

    A flow's goodput over its own time is no share: of flows that start one after the other, the one that was alone for
    a while has more. Without samples it is the index over the goodputs, if the flows ran at the same time. None for
    fewer than two flows, for flows that never ran together or got nothing, and where a flow's share is not known.
    Jain, Chiu and Hawe, DEC-TR-301, 1984, for the index; RFC 5166, section 2.3.
    """
    if len(result.flows) < 2:
        return None
    if not samples:
        return _fairness_of_goodputs(result)
    silent = len(result.flows) - len(samples)
    if silent > sum(not (flow.goodput_bps or flow.received_bytes) for flow in result.flows):
        return None  # a flow that got something was not sampled
    running = [(each, span) for each in samples if (span := each.running)]
    edges = sorted({max(edge, result.steady_s or 0.0) for _, span in running for edge in span})
    indices, lengths = [], []
    for first, last in pairwise(edges):
        ends = np.array([first, last])
        got = [float(np.diff(_acked(each, ends))[0]) for each, span in running if span[0] <= first and last <= span[1]]
        got += [0.0] * (len(result.flows) - len(running))
        if len(got) > 1 and max(got) > 0:
            indices.append(statistic.jain_index(got))
            lengths.append(last - first)
    return float(np.average(indices, weights=lengths)) if indices else None


def _fairness_of_goodputs(result: TrialResult) -> float | None:
    rates = [flow.goodput_bps for flow in result.flows]
    known = [rate for rate in rates if rate is not None]
    apart = any(
        flow.busy_s is not None and flow.busy_s < TOGETHER * (result.workload_s or 0.0) for flow in result.flows
    )
    return None if apart or len(known) < len(rates) or max(known) <= 0 else statistic.jain_index(known)


def _acked(each: FlowSamples, times: FloatArray) -> FloatArray:
    return np.interp(times, each.time_s, each.acked_bytes)


def completion(result: TrialResult, of: str, name: str) -> float | None:
    """A mean or quantile (`name`) of the flow completion times or slowdowns (`of`: fct_s, slowdown) of a trial: that is
    the one value of the trial. None if flows that were cut make it a lower bound, without flows that arrive and end,
    and if none of them ended.
    """
    found = find(FctResult, result.measured)
    spread: FctSpread | None = None if found is None else getattr(found, of)
    return None if spread is None else spread.exact(name)


def unfinished_share(result: TrialResult) -> float | None:
    """The share of the flows that had not ended when the workload was over; None without flows that arrive and end."""
    found = find(FctResult, result.measured)
    return None if found is None or not found.flows else found.unfinished / found.flows


def _fct(name: str, quantile: str, what: str) -> Metric:
    return Metric(name, what, "s", "ms", 1e3, False, 1e-6, False,
                  lambda r, s: completion(r, "fct_s", quantile), only=FctResult.KEY)  # fmt: skip


_ALL = (
    Metric("goodput", "goodput of all flows", "bit/s", "Mbit/s", 1e-6, True, 0.0, False, lambda r, s: r.goodput_bps),
    Metric("retransmits", "share of segments sent again", "ratio", "%", 100, False, 0.0005, False,
           lambda r, s: retransmitted_share(r)),
    Metric("rtt", "median of the RTT under load", "s", "ms", 1e3, False, 1e-4, True,
           lambda r, s: rtt_under_load_s(r, s, 0.5)),
    Metric("rtt-p95", "95 % quantile of the RTT under load", "s", "ms", 1e3, False, 1e-4, True,
           lambda r, s: rtt_under_load_s(r, s, 0.95)),
    Metric("rtt-p99", "99 % quantile of the RTT under load", "s", "ms", 1e3, False, 1e-4, True,
           lambda r, s: rtt_under_load_s(r, s, 0.99)),
    *map(_ping, (50, 95, 99)),
    Metric("fairness", "Jain's index over the flows while they run together", "ratio", "", 1, True, 0.01, True,
           fairness, is_relative=False),
    Metric("convergence", "time until all flows are near their long-term goodput and stay there", "s", "s", 1, False,
           0.2, True, lambda r, s: convergence_s(s) if len(s) == len(r.flows) else None),
    _fct("fct", "p50", "median of the flow completion times"),
    _fct("fct-p95", "p95", "95 % quantile of the flow completion times"),
    _fct("fct-p99", "p99", "99 % quantile of the flow completion times"),
    Metric("slowdown", "mean of flow completion times over those on an empty path", "ratio", "", 1, False, 0.0, False,
           lambda r, s: completion(r, "slowdown", "mean"), only=FctResult.KEY),
    Metric("slowdown-p99", "99 % quantile of flow completion times over those on an empty path", "ratio", "", 1, False,
           0.0, False, lambda r, s: completion(r, "slowdown", "p99"), only=FctResult.KEY),
    Metric("unfinished", "share of the flows that had not ended", "ratio", "%", 100, False, 0.001, False,
           lambda r, s: unfinished_share(r), is_relative=False, only=FctResult.KEY),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
"""By name, in the order of display. All code and all help that shows metrics derives from this table."""
