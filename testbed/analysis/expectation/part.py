"""What flows did in a part of the time, by their samples: what a rule with `between` asks. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...codec.frozen import dataclass
from .. import statistic
from ..metric import SHORT_TERM_S, FlowSamples

LITTLE = 0.1
"""A flow starves while it has less than this share of its fair share."""


@dataclass(frozen=True)
class Part:
    """The samples of all flows from one time to another, in seconds since the workload began, with both ends."""

    flows: tuple[FlowSamples, ...]
    from_s: float
    to_s: float

    @property
    def rates_bps(self) -> tuple[float, ...]:
        """What each flow brought, by its acknowledged bytes."""
        return tuple(
            8 * float(each.acked_bytes[-1] - each.acked_bytes[0]) / (self.to_s - self.from_s) for each in self.flows
        )


def interval_s(samples: Sequence[FlowSamples]) -> float:
    """The time from one sample to the next; 0 with one of each flow."""
    return max(float(np.median(np.diff(each.time_s))) if len(each.time_s) > 1 else 0.0 for each in samples)


def of(samples: Sequence[FlowSamples], from_s: float, to_s: float) -> Part | None:
    """The part of the samples; None unless they reach its end. Before its first sample a flow has brought nothing."""
    if any(float(each.time_s[-1]) + interval_s(samples) < to_s for each in samples):
        return None
    return Part(tuple(_cut(each, from_s, to_s) for each in samples), from_s, to_s)


def steady(samples: Sequence[FlowSamples], from_s: float) -> Part:
    """From a time on, until the first flow ends."""
    found = of(samples, from_s, min(float(each.time_s[-1]) for each in samples))
    assert found is not None, "BUG: samples that do not reach their own end"
    return found


def _cut(each: FlowSamples, from_s: float, to_s: float) -> FlowSamples:
    inside = each.time_s[(each.time_s > from_s) & (each.time_s < to_s)]
    times = np.concatenate(([from_s], inside, [to_s]))
    acked = np.interp(times, each.time_s, each.acked_bytes)
    return replace(
        each, time_s=times, acked_bytes=acked, srtt_s=np.interp(times, each.time_s, each.srtt_s), busy_s=None
    )


def starved_s(part: Part, flow: int) -> float | None:
    """The longest time in which the flow's mean over a second is below a tenth of its fair share, which is all that the
    flows have in that second, over their number. 0 if there is none; a second at least. A second in which nothing
    passes at all is nobody's. None without a second flow.
    """
    if flow >= len(part.flows) or len(part.flows) < 2:
        return None
    times = part.flows[0].time_s
    step_s = float(np.median(np.diff(times)))
    ends = np.arange(part.from_s + SHORT_TERM_S, part.to_s + step_s / 2, step_s)
    if not len(ends):
        return None
    got = np.array(
        [np.interp(ends, each.time_s, each.acked_bytes) - np.interp(ends - SHORT_TERM_S, each.time_s, each.acked_bytes)
         for each in part.flows]
    )  # fmt: skip
    fair = got.mean(axis=0)
    longest = now = 0
    for is_low in (got[flow] < LITTLE * fair) & (fair > 0):
        now = now + 1 if is_low else 0
        longest = max(longest, now)
    return (longest - 1) * step_s + SHORT_TERM_S if longest else 0.0


def _goodput(part: Part, flow: int) -> float:
    return sum(part.rates_bps)


def _flow_goodput(part: Part, flow: int) -> float | None:
    return part.rates_bps[flow] if flow < len(part.flows) else None


def _share(part: Part, flow: int) -> float | None:
    whole = sum(part.rates_bps)
    return part.rates_bps[flow] / whole if flow < len(part.flows) and whole else None


def _fairness(part: Part, flow: int) -> float | None:
    return statistic.jain_index(part.rates_bps) if len(part.flows) > 1 and max(part.rates_bps) > 0 else None


def _rtt(share: float) -> Callable[[Part, int], float | None]:
    def quantile(part: Part, flow: int) -> float | None:
        seen = np.concatenate([each.srtt_s[1:-1][each.srtt_s[1:-1] > 0] for each in part.flows])
        return statistic.quantile(seen, share) if len(seen) else None

    return quantile


PARTS: dict[str, Callable[[Part, int], float | None]] = {
    "goodput": _goodput,
    "rtt": _rtt(0.5),
    "rtt-p95": _rtt(0.95),
    "rtt-p99": _rtt(0.99),
    "fairness": _fairness,
    "share": _share,
    "flow-goodput": _flow_goodput,
    "starved": starved_s,
}
"""By the names of `model.expectation.OF_A_PART`. All get the number of a flow; some are of all flows."""
