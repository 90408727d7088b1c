"""What a shaper, a policer or a trace did, for the result, from the looks at it. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from ...model.link.bucket import Policer, Shaper
from ...model.link.impairment import Direction
from ...model.link.trace import PACKET_BYTES, Trace
from ..node_result import PacedResult, PolicerResult, ShaperResult, TraceResult
from ..observe.paced import PacedSample

K = TypeVar("K")

EMPTY_BYTES = 2 * PACKET_BYTES
"""A bucket with less is empty but for what the packet waits for that is next."""


def result(
    asked: Direction, paced: Sequence[PacedSample], policer: Sequence[PacedSample], begin_ns: int | None
) -> PacedResult | None:
    """None if nothing of ours was asked, or nobody looked. `begin_ns` is when the workload began, if that is known."""
    made = PacedResult(
        None if asked.shaper is None or not paced else _shaper(asked.shaper, paced, begin_ns),
        None if asked.policer is None or not policer else _policer(asked.policer, policer),
        None if asked.trace is None or not paced else _trace(asked.trace, paced),
    )
    return None if made == PacedResult() else made


def by_key(looks: Iterable[PacedSample], key: Callable[[PacedSample], K]) -> dict[K, list[PacedSample]]:
    """The looks of each key, in the order of time."""
    found: dict[K, list[PacedSample]] = {}
    for each in sorted(looks, key=lambda each: each.time_ns):
        found.setdefault(key(each), []).append(each)
    return found


def knee_ns(shaper: Shaper, looks: Sequence[PacedSample]) -> int | None:
    """When the credit was used up for the first time: between two looks, if packets waited all that time."""
    for one, later in pairwise(looks):
        if one.credit_bytes >= EMPTY_BYTES > later.credit_bytes:
            lasts_ns = 8 * one.credit_bytes * 10**9 // (shaper.rate_bps - shaper.refill_bps)
            return min(one.time_ns + lasts_ns, later.time_ns)
    return None


def _shaper(asked: Shaper, looks: Sequence[PacedSample], begin_ns: int | None) -> ShaperResult:
    knee = knee_ns(asked, looks)
    since_ns = looks[0].time_ns if begin_ns is None else begin_ns
    return ShaperResult(
        asked_rate_bps=asked.rate_bps,
        burst_bytes=asked.burst_bytes,
        refill_bps=asked.refill_bps,
        knee_s=None if knee is None else max(0, knee - since_ns) / 1e9,
        carried_bytes=looks[-1].taken_bytes - looks[0].taken_bytes,
        least_credit_bytes=min(look.credit_bytes for look in looks),
        credit_bytes=looks[-1].credit_bytes,
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
