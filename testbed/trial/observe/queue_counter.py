"""What a queue counted: what it dropped before it was full, what because it was full, and what it marked.

Pure, no I/O.

The kernel tells the sum of all drops of every kind in the same way, and which of them they were in a structure of each
kind (linux/pkt_sched.h).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import field

from ...codec.frozen import dataclass
from ..law import RISES
from . import netlink

TCA_STATS_QUEUE, TCA_STATS_APP = 3, 4
CAKE_LIMIT, CAKE_USED, CAKE_TINS, CAKE_TIN_ACKS, CAKE_TIN_MARKS = 3, 4, 10, 6, 8


@dataclass(frozen=True)
class Counts:
    """Since the queue was set up. `aqm_drops` were dropped to signal congestion, `full_drops` because the queue was
    full, `marks` got the ECN mark CE. `is_told_apart`: False where the kernel does not tell drops of a full queue from
    others and there may have been some; all are in `aqm_drops` then. `largest_bytes` is the largest packet; None: not
    told. `filtered_acks` were dropped because a later ACK that waited with them says the same, and are in neither.
    """

    aqm_drops: int = field(metadata=RISES)
    full_drops: int = field(metadata=RISES)
    marks: int = field(metadata=RISES)
    is_told_apart: bool = True
    largest_bytes: int | None = None
    filtered_acks: int = field(default=0, metadata=RISES)


def counts(kind: str, drops: int, stats: Mapping[int, bytes], options: bytes) -> Counts | None:
    """Of a queue of this kind with so many drops in all; None for a kind that is no such queue. Raises struct.error and
    KeyError for what is not whole.
    """
    read = _READ.get(kind)
    return None if read is None else read(drops, stats, options)


def _codel(drops: int, stats: Mapping[int, bytes], options: bytes) -> Counts:
    largest, *_, full, ecn_mark, _, ce_mark = struct.unpack_from("=4Ii4I", stats[TCA_STATS_APP])
    return Counts(drops - full, full, _marks(ecn_mark, ce_mark, options, 1, 5), largest_bytes=largest)


def _fq_codel(drops: int, stats: Mapping[int, bytes], options: bytes) -> Counts:
    _, largest, full, ecn_mark, _, _, _, ce_mark, *_ = struct.unpack_from("=10I", stats[TCA_STATS_APP])
    return Counts(drops - full, full, _marks(ecn_mark, ce_mark, options, 1, 7), largest_bytes=largest)


def _marks(ecn_mark: int, ce_mark: int, options: bytes, target: int, threshold: int) -> int:
    """CoDel counts marks by its law and by its threshold apart, and a packet may have both. With a threshold up to the
    target, each that the law marks is over the threshold, too. With a higher one the sum may count a packet twice.
    """
    found = netlink.attributes(options)
    if threshold not in found:
        return ecn_mark + ce_mark
    is_below = int.from_bytes(found[threshold], "little") <= int.from_bytes(found[target], "little")
    return max(ecn_mark, ce_mark) if is_below else ecn_mark + ce_mark


def _pie(drops: int, stats: Mapping[int, bytes], options: bytes) -> Counts:
    _, _, _, _, _, _, full, _, marks = struct.unpack_from("=Q8I", stats[TCA_STATS_APP])
    return Counts(drops - full, full, marks)


def _fq_pie(drops: int, stats: Mapping[int, bytes], options: bytes) -> Counts:
    _, _, full, _, marks = struct.unpack_from("=5I", stats[TCA_STATS_APP])
    return Counts(drops - full, full, marks)


def _red(drops: int, stats: Mapping[int, bytes], options: bytes) -> Counts:
    early, full, _, marks = struct.unpack_from("=4I", stats[TCA_STATS_APP])
    return Counts(early, full, marks)


def _dualpi2(drops: int, stats: Mapping[int, bytes], options: bytes) -> Counts:
    """Its `overlimits` count the packets that met a full queue, and nothing else."""
    *_, full = struct.unpack_from("=5I", stats[TCA_STATS_QUEUE])
    _, _, _, _, _, _, marks = struct.unpack_from("=7I", stats[TCA_STATS_APP])
    return Counts(drops - full, full, marks)


def _cake(drops: int, stats: Mapping[int, bytes], options: bytes) -> Counts:
    """It does not tell how many drops were those of a full queue, but how much memory it ever took."""
    told = netlink.attributes(stats[TCA_STATS_APP])
    used, limit = (int.from_bytes(told[n], "little") for n in (CAKE_USED, CAKE_LIMIT))
    tins = [netlink.attributes(tin) for _, tin in netlink.each_attribute(told[CAKE_TINS])]
    marks, acks = (sum(int.from_bytes(tin[n], "little") for tin in tins) for n in (CAKE_TIN_MARKS, CAKE_TIN_ACKS))
    return Counts(drops - acks, 0, marks, is_told_apart=used <= limit, filtered_acks=acks)


def _sfq(drops: int, stats: Mapping[int, bytes], options: bytes) -> Counts:
    """fq marks only above a threshold, which no plan sets: its count has packets that cannot be marked, too."""
    return Counts(0, drops, 0)


_READ: Mapping[str, Callable[[int, Mapping[int, bytes], bytes], Counts]] = {
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "fq_pie": _fq_pie,
    "red": _red,
    "dualpi2": _dualpi2,
    "cake": _cake,
    "sfq": _sfq,
    "fq": _sfq,
}
