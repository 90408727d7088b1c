"""What limited the trials of a run: rate, buffers, losses, a policer, the application. Pure, no I/O.

The parts of each flow's life come from `limit_sample`; without them, `limitation` has the counters of the result, and
its goodput in each second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...codec.frozen import dataclass
from ...model.scenario import Params, Trial
from ...trial.result import FlowResult, TrialResult
from ..condition import Conditions, conditions
from ..theory_curve import line_rate_bps
from . import series_time
from .flow_time import mean
from .limitation import FlowTotals, Limit, Limitation, limitation

Times = Sequence[Mapping[Limit, float]]
"""The parts of the life of each flow of a trial; empty without samples."""


@dataclass(frozen=True)
class CellLimits:
    """What limited the trials of one cell, over its seeds: each limit with the number of trials, and why in the first
    trial with the most common limit.
    """

    params: Params
    trials: int
    limits: tuple[tuple[Limit, int], ...]
    why: str = ""

    def __str__(self) -> str:
        """`loss`, or `rate 2, loss 1` where the seeds differ."""
        if len(self.limits) == 1:
            return self.limits[0][0]
        return ", ".join(f"{limit} {count}" for limit, count in self.limits)


def flow_limitations(result: TrialResult, trial: Trial | None = None, times: Times = ()) -> tuple[Limitation, ...]:
    """What limited each flow. A flow's life is the duration asked for, or else the duration of the workload."""
    about = conditions(result, trial)
    duration_s = about.duration_s or result.workload_s
    if not duration_s:
        return ()
    offered = _offered_bps(trial)
    each_times = times if len(times) == len(result.flows) else [{}] * len(result.flows)
    seconds = {} if all(each_times) else series_time.parts(result, trial, _full_bps(result, about))
    return tuple(
        _of_flow(_totals(flow, result, about, duration_s, offered, parts, seconds), result, about)
        for flow, parts in zip(result.flows, each_times, strict=True)
    )


def of_trial(result: TrialResult, trial: Trial | None = None, times: Times = ()) -> Limitation:
    """What limited most flows of a trial; in a tie, what limited the first of them. Several flows that were sampled
    count by time: the mean of their parts. "unknown" without flows.
    """
    found = flow_limitations(result, trial, times)
    if not found:
        return Limitation("unknown", None, "no flow was measured")
    about = conditions(result, trial)
    if len(found) > 1 and len(times) == len(found):
        shared = mean([dict(each) for each in times])
        duration_s = about.duration_s or result.workload_s or 1.0
        return limitation(
            FlowTotals(
                duration_s,
                goodput_bps=result.goodput_bps,
                limit_bps=_full_bps(result, about),
                offered_bps=_offered_bps(trial),
                times=shared,
            )
        )
    limit = Counter(each.limit for each in found).most_common(1)[0][0]
    return next(each for each in found if each.limit == limit)


def limited_by(result: TrialResult, trial: Trial | None = None, times: Times = ()) -> Limit:
    """The limit of `of_trial`."""
    return of_trial(result, trial, times).limit


def limits(
    results: Sequence[TrialResult], trials: Mapping[str, Trial] | None = None, times: Mapping[str, Times] | None = None
) -> tuple[CellLimits, ...]:
    """The limits of each cell that has a valid or suspect trial, in the order of the results. `times` is by the trials'
    ids.
    """
    cells: dict[Params, list[Limitation]] = {}
    for each in results:
        if each.verdict != "invalid":
            found = of_trial(each, (trials or {}).get(each.id), (times or {}).get(each.id, ()))
            cells.setdefault(tuple(each.params.items()), []).append(found)
    return tuple(_cell(params, found) for params, found in cells.items())


def _cell(params: Params, found: Sequence[Limitation]) -> CellLimits:
    counts = tuple(Counter(each.limit for each in found).most_common())
    why = next(each.why for each in found if each.limit == counts[0][0])
    return CellLimits(params, len(found), counts, why)


def _full_bps(result: TrialResult, about: Conditions) -> float | None:
    """The goodput of the full path: of its slowest link, or of all flows at the cap that each has."""
    cap_bps = flow_cap_bps(result, about)
    of_all = (line_rate_bps(about), None if cap_bps is None else cap_bps * len(result.flows))
    return min((each for each in of_all if each is not None), default=None)


def flow_cap_bps(result: TrialResult, about: Conditions) -> float | None:
    """The goodput of a flow at the lowest cap that a link of its data has for each; None without one."""
    caps = [
        each.paced.per_flow.asked_rate_bps
        for each in result.stages
        if each.data_packets and each.paced is not None and each.paced.per_flow is not None
    ]
    return line_rate_bps(replace(about, rate_bps=min(caps))) if caps else None


def _offered_bps(trial: Trial | None) -> float | None:
    """What all flows together offer; None if one offers all that the path takes, or if that is unknown."""
    rates = [] if trial is None else [flow.rate_bps for flow in trial.workload.asked_flows]
    known = [rate for rate in rates if rate is not None]
    return float(sum(known)) if known and len(known) == len(rates) else None


def _totals(
    flow: FlowResult,
    result: TrialResult,
    about: Conditions,
    duration_s: float,
    offered_bps: float | None,
    times: Mapping[Limit, float],
    seconds: Mapping[Limit, float],
) -> FlowTotals:
    return FlowTotals(
        duration_s=duration_s,
        busy_s=flow.busy_s,
        rwnd_limited_s=_part(flow.rwnd_limited, flow.busy_s),
        sndbuf_limited_s=_part(flow.sndbuf_limited, flow.busy_s),
        goodput_bps=result.goodput_bps,
        limit_bps=_full_bps(result, about),
        offered_bps=offered_bps,
        times=times,
        seconds=seconds,
    )


def _of_flow(totals: FlowTotals, result: TrialResult, about: Conditions) -> Limitation:
    found = limitation(totals)
    is_tcp = about.congestion or any(flow.busy_s is not None for flow in result.flows)
    return found if is_tcp or found.limit != "unknown" else _of_datagrams(result) or found


def _of_datagrams(result: TrialResult) -> Limitation | None:
    """Datagrams that did not arrive were dropped: by what dropped most. TCP would send again, and less."""
    caps = [each.paced.per_flow for each in result.stages if each.paced is not None and each.paced.per_flow is not None]
    waited = sum(each.dropped_packets for each in caps if each.queue_bytes)  # for room in the queue of their flow
    drops: dict[Limit, int] = {
        "policer": (result.policed_packets or 0) - waited,
        "path buffer": (result.seen.queue_drops or 0) + (result.seen.aqm_drops or 0) + waited,
        "loss": (result.seen.dropped_packets or 0) + (result.seen.random_drops or 0),
    }
    total = sum(drops.values())
    if not total:
        return None
    limit, count = max(drops.items(), key=lambda each: each[1])
    return Limitation(limit, count / total, f"it dropped {count / total:.0%} of the packets that were dropped")


def _part(share: float | None, whole: float | None) -> float | None:
    return None if share is None or whole is None else share * whole
