"""What a shaper, a policer, a cap of each flow or a trace did, for the result, from the looks at it. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from ...codec.frozen import dataclass
from ...model.link.bucket import Policer, Shaper
from ...model.link.impairment import Direction
from ...model.link.trace import PACKET_BYTES, Trace
from ...plan.link.impairment import Context, flow_burst_bytes
from ...plan.link.stage import Stage
from ..observe.bucket import Flow, PacedSample
from ..result import PacedResult, PerFlowResult, PolicerResult, ShaperResult, TraceResult

K = TypeVar("K")

EMPTY_BYTES = 2 * PACKET_BYTES
"""A bucket with less is empty but for what the packet waits for that is next."""
SURE_SHARE = 0.01
"""By this share of itself, or an interval of samples, a time may be uncertain and is told all the same."""
SLOW_SHARE = 0.9
"""With less than this share of what the rate brings, the credit is what held it back, not a timer."""


@dataclass(frozen=True)
class Watch:
    """How well a shaper was watched: when the workload began (None: not known), the time between samples (None: there
    were none), and whether packets that wait leave exactly when they may, as in virtual time.
    """

    begin_ns: int | None
    interval_ns: int | None
    is_exact: bool


@dataclass(frozen=True)
class UsedUp:
    """Whether the credit of a shaper was ever used up, and when for the first time; None where that cannot be told."""

    ever: bool | None
    at_ns: int | None = None


def result(
    asked: Direction,
    paced: Sequence[PacedSample],
    policer: Sequence[PacedSample],
    watch: Watch,
    per_flow: PerFlowResult | None = None,
) -> PacedResult | None:
    """None if nothing of ours was asked, or nobody looked."""
    made = PacedResult(
        None if asked.shaper is None or not paced else _shaper(asked.shaper, paced, watch),
        None if asked.policer is None or not policer else _policer(asked.policer, policer),
        None if asked.trace is None or not paced else _trace(asked.trace, paced),
        per_flow,
    )
    return None if made == PacedResult() else made


def by_key(looks: Iterable[PacedSample], key: Callable[[PacedSample], K]) -> dict[K, list[PacedSample]]:
    """The looks of each key, in the order of time."""
    found: dict[K, list[PacedSample]] = {}
    for each in sorted(looks, key=lambda each: each.time_ns):
        found.setdefault(key(each), []).append(each)
    return found


def used_up(shaper: Shaper, looks: Sequence[PacedSample], watch: Watch) -> UsedUp:
    """From what passed between any two looks: at most at the rate, so credit falls no faster than by rate - refill. It
    was used up if it is gone at the later one, or if clearly less passed than the rate brings in the time in which
    packets waited. Between that and what can never have used it up, nothing is known.
    """
    rate, refill = shaper.rate_bps // 8, shaper.refill_bps // 8
    if len(looks) < 2 or shaper.burst_bytes < 2 * EMPTY_BYTES:
        return UsedUp(None)
    for one, later in pairwise(looks):
        passed, waited_ns = later.taken_bytes - one.taken_bytes, later.busy_ns - one.busy_ns
        if later.credit_bytes >= EMPTY_BYTES <= one.credit_bytes - passed * (rate - refill) // rate:
            continue
        is_slow = watch.is_exact and passed + EMPTY_BYTES < SLOW_SHARE * rate * waited_ns / 1e9
        if min(one.credit_bytes, later.credit_bytes) < EMPTY_BYTES or is_slow:
            return UsedUp(True, _knee_ns(shaper, one, later, watch))
        return UsedUp(None)
    return UsedUp(False)


def _knee_ns(shaper: Shaper, one: PacedSample, later: PacedSample, watch: Watch) -> int | None:
    """When the credit went between two looks, if packets waited all the time from the first, or from the beginning of
    the workload; it can have been so much later as nothing waited, and no later than it was seen to be gone.
    """
    falls = shaper.rate_bps - shaper.refill_bps
    start_ns = min(max(one.time_ns, watch.begin_ns or 0), later.time_ns)
    held = min(shaper.burst_bytes, one.credit_bytes + shaper.refill_bps * (start_ns - one.time_ns) // (8 * 10**9))
    first_ns = min(start_ns + 8 * held * 10**9 // falls, later.time_ns)
    idle_ns = max(0, later.time_ns - start_ns - (later.busy_ns - one.busy_ns))
    unsure_ns = min(idle_ns * shaper.rate_bps // falls, later.time_ns - first_ns)
    sure_ns = max(round(SURE_SHARE * (first_ns - start_ns)), watch.interval_ns or 0)
    return first_ns if unsure_ns <= sure_ns else None


def _shaper(asked: Shaper, looks: Sequence[PacedSample], watch: Watch) -> ShaperResult:
    used = used_up(asked, looks, watch)
    since_ns = looks[0].time_ns if watch.begin_ns is None else watch.begin_ns
    least = min(look.credit_bytes for look in looks)
    return ShaperResult(
        asked_rate_bps=asked.rate_bps,
        burst_bytes=asked.burst_bytes,
        refill_bps=asked.refill_bps,
        knee_s=None if used.at_ns is None else max(0, used.at_ns - since_ns) / 1e9,
        carried_bytes=looks[-1].taken_bytes - looks[0].taken_bytes,
        least_credit_bytes=None if watch.interval_ns is None and least >= EMPTY_BYTES else least,
        credit_bytes=looks[-1].credit_bytes,
        used_up=used.ever,
    )


def _policer(asked: Policer, looks: Sequence[PacedSample]) -> PolicerResult:
    first, last = looks[0], looks[-1]
    return PolicerResult(
        asked_rate_bps=asked.rate_bps,
        burst_bytes=asked.burst_bytes,
        passed_bytes=last.taken_bytes - first.taken_bytes,
        policed_bytes=last.policed_bytes - first.policed_bytes,
        policed_packets=last.policed_packets - first.policed_packets,
    )


def per_flow(
    stage: Stage,
    looks: Sequence[PacedSample],
    flows: Sequence[tuple[Flow, Sequence[PacedSample]]],
    context: Context,
) -> PerFlowResult | None:
    """None without a cap of each flow, or if nobody looked."""
    asked = stage.asked.per_flow
    if asked is None or not looks:
        return None
    first, last = looks[0], looks[-1]
    used = [of_flow for _, of_flow in flows if of_flow[-1].time_ns > first.time_ns]
    return PerFlowResult(
        asked_rate_bps=asked.rate_bps,
        burst_bytes=flow_burst_bytes(asked, context),
        queue_bytes=stage.flow_bytes,
        flows=last.begin_ns,
        capped_flows=sum(1 for of_flow in used if of_flow[-1].busy_ns or of_flow[-1].policed_packets),
        passed_bytes=last.taken_bytes - first.taken_bytes,
        dropped_bytes=last.policed_bytes - first.policed_bytes,
        dropped_packets=last.policed_packets - first.policed_packets,
    )


def _trace(asked: Trace, looks: Sequence[PacedSample]) -> TraceResult:
    since = [look for look in looks if look.begin_ns == looks[-1].begin_ns]
    return TraceResult(
        file=asked.name,
        period_s=asked.period_ns / 1e9,
        mean_rate_bps=asked.rate_bps,
        begin_ns=since[-1].begin_ns,
        opportunities=since[-1].opportunities,
        used_bytes=since[-1].taken_bytes - since[0].taken_bytes,
    )
