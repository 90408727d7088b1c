"""Metrics of a trial: what comparisons judge, and results and the report show. Pure, no I/O.

Goodput, retransmissions, RTT under load, fairness and time to convergence: the metrics of RFC 5166, section 2, that can
be measured at the ends of a path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..error import UserError, one_of
from ..trial.stored_result import TrialResult
from . import statistic
from .condition import MSS_BYTES
from .series import jain_index
from .statistic import FloatArray

CLOSE = 0.8
"""A flow has converged when its short-term throughput is within this factor of its long-term one."""
SHORT_TERM_S = 1.0
"""The time over which a short-term average is taken."""


@dataclass(frozen=True)
class FlowSamples:
    """Samples of a flow's sender: seconds since the workload began, bytes acknowledged, smoothed RTT."""

    time_s: FloatArray
    acked_bytes: FloatArray
    srtt_s: FloatArray

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


@dataclass(frozen=True)
class Metric:
    """`what` describes it in words. `of` computes it in `base_unit` (s, bit/s, ratio, …), None if the trial has no
    value; it gets the samples of the flows only if the metric `needs_samples`.

    `unit` is for people ("" for none); `scale` converts base units to it. `is_more_better` says which direction is
    better. `least` is a difference that does not matter, in base units, for metrics that can be 0.
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

    @property
    def title(self) -> str:
        """The name with the unit, for the head of a column."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def text(self, value: float | None) -> str:
        """A value given in base units as people read it, without the unit; a dash for None."""
        return "-" if value is None else f"{value * self.scale:.4g}"


def register(metric: Metric) -> None:
    """Adds a metric from outside: comparisons, results, figures and the report then have it."""
    assert metric.name not in METRICS, f"BUG: two metrics with the name {metric.name!r}"
    METRICS[metric.name] = metric


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


def convergence_s(samples: Sequence[FlowSamples]) -> float | None:
    """From the last flow's start until every flow's short-term throughput is near its long-term one for the first time.

    Near is within a factor of 0.8, above or below: the epsilon-convergence time of Li, Leith and Shorten, Experimental
    Evaluation of TCP Protocols for High-Speed Networks, IEEE/ACM Transactions on Networking 15(5), 2007, for all flows
    at once. Short-term is over a second, long-term over the second half of the time in which all flows run. If the
    flows never converge it is all of that time, the least possible value. None if they run together for less than 4 s.
    """
    busy = [each.busy for each in samples]
    if not busy or any(len(each.time_s) < 2 for each in busy):
        return None
    start = max(float(each.time_s[0]) for each in busy)
    end = min(float(each.time_s[-1]) for each in busy)
    if end - start < 4 * SHORT_TERM_S:
        return None
    step = float(np.median(np.diff(busy[0].time_s)))
    times = np.arange(start + SHORT_TERM_S, end + step / 2, step)
    near = np.ones(len(times), dtype=bool)
    for each in busy:
        short = (_acked(each, times) - _acked(each, times - SHORT_TERM_S)) / SHORT_TERM_S
        middle = (start + end) / 2
        first, last = _acked(each, np.array([middle, end]))
        long = (last - first) / (end - middle)
        near &= (short >= CLOSE * long) & (short * CLOSE <= long)
    return float(times[np.argmax(near)] - start) if near.any() else end - start


def _acked(each: FlowSamples, times: FloatArray) -> FloatArray:
    return np.interp(times, each.time_s, each.acked_bytes)


_ALL = (
    Metric("goodput", "goodput of all flows", "bit/s", "Mbit/s", 1e-6, True, 0.0, False, lambda r, s: r.goodput_bps),
    Metric("retransmits", "share of segments sent again", "ratio", "%", 100, False, 0.0005, False,
           lambda r, s: retransmitted_share(r)),
    Metric("rtt", "median of the RTT under load", "s", "ms", 1e3, False, 1e-4, True,
           lambda r, s: rtt_under_load_s(r, s, 0.5)),
    Metric("rtt-p95", "95 % quantile of the RTT under load", "s", "ms", 1e3, False, 1e-4, True,
           lambda r, s: rtt_under_load_s(r, s, 0.95)),
    Metric("fairness", "Jain's index over the flows", "ratio", "", 1, True, 0.01, False, lambda r, s: jain_index(r)),
    Metric("convergence", "time until all flows are near their long-term goodput", "s", "s", 1, False, 0.2, True,
           lambda r, s: convergence_s(s)),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
"""By name, in the order of display. All code and all help that shows metrics derives from this table."""
