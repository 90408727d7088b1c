"""What limited the trials of a run: window, loss, rate, sender buffer, application. Pure, no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..model.scenario import Params, Trial
from ..trial.stored_result import FlowResult, TrialResult
from .condition import Conditions, conditions
from .limit import FlowTotals, Limit, Limitation, limitation
from .theory_curve import line_rate_bps


@dataclass(frozen=True)
class CellLimits:
    """What limited the trials of one cell, over its seeds: each limit with the number of trials."""

    params: Params
    trials: int
    limits: tuple[tuple[Limit, int], ...]

    def __str__(self) -> str:
        """`loss`, or `rate 2, window 1` where the seeds differ."""
        if len(self.limits) == 1:
            return self.limits[0][0]
        return ", ".join(f"{limit} {count}" for limit, count in self.limits)


def flow_limitations(result: TrialResult, trial: Trial | None = None) -> tuple[Limitation, ...]:
    """What limited each flow. A flow's life is the duration asked for, or else the duration of the workload."""
    about = conditions(result, trial)
    duration_s = about.duration_s or result.workload_s
    if not duration_s:
        return ()
    return tuple(limitation(_totals(flow, result, about, duration_s)) for flow in result.flows)


def limited_by(result: TrialResult, trial: Trial | None = None) -> Limit:
    """What limited most flows of a trial; in a tie, what limited the first of them. "unknown" without flows."""
    counts = Counter(each.limit for each in flow_limitations(result, trial))
    return counts.most_common(1)[0][0] if counts else "unknown"


def limits(results: Sequence[TrialResult], trials: Mapping[str, Trial] | None = None) -> tuple[CellLimits, ...]:
    """The limits of each cell that has a valid or suspect trial, in the order of the results."""
    cells: dict[Params, list[Limit]] = {}
    for each in results:
        if each.verdict != "invalid":
            limit = limited_by(each, (trials or {}).get(each.id))
            cells.setdefault(tuple(each.params.items()), []).append(limit)
    return tuple(CellLimits(params, len(each), tuple(Counter(each).most_common())) for params, each in cells.items())


def _totals(flow: FlowResult, result: TrialResult, about: Conditions, duration_s: float) -> FlowTotals:
    return FlowTotals(
        duration_s=duration_s,
        busy_s=flow.busy_s,
        rwnd_limited_s=_part(flow.rwnd_limited, flow.busy_s),
        sndbuf_limited_s=_part(flow.sndbuf_limited, flow.busy_s),
        retransmits=flow.retransmits,
        goodput_bps=result.goodput_bps,
        limit_bps=line_rate_bps(about),
    )


def _part(share: float | None, whole: float | None) -> float | None:
    return None if share is None or whole is None else share * whole
