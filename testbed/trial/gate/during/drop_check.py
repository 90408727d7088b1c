"""Checks of the gate: packets are dropped where a queue is full, or by chance as asked, and marked by a queue. Pure, no
I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ....model.link.impairment import RandomLoss
from ....plan.link.stage import RATE, frame_bytes
from ....plan.node.namespace import node_netns
from ....units import percent
from ...evidence.case import Case
from ...evidence.stage import StageEvidence
from ...observe.sample import QueueSample
from ...result import Finding
from .. import chance

SUPERPACKET_BYTES = 65_536


def tail(case: Case) -> Iterator[Finding]:
    """A fifo drops only if what comes does not fit: then it is full, and at the next look it still has what did not
    leave meanwhile. A superpacket that does not fit may be as large as SUPERPACKET_BYTES.
    """
    for each in case.evidence.data_stages if case.virtual else ():
        if each.stage.queue is not None or each.is_scheduled or each.stage.asked.rate_bps is None:
            continue
        limit = each.stage.limit or 0
        largest = SUPERPACKET_BYTES if each.stage.cuts_late else frame_bytes(each.mtu_bytes)
        for one, later in pairwise(each.samples):
            if later.drops == one.drops or later.handle != RATE:
                continue
            if each.stage.limit_unit == "bytes":
                held, left, most = later.backlog_bytes, later.bytes - one.bytes, limit - largest
            else:
                held, left = later.backlog_packets, later.packets - one.packets
                most = limit - -(-largest // frame_bytes(each.mtu_bytes))
            if held + left < most:
                unit = each.stage.limit_unit
                what = f"{each.where}: {later.drops - one.drops} packets were dropped, and at most {held + left} {unit}"
                hint = "the buffer was smaller than asked, or something else drops packets"
                yield Finding("queue", "invalid", f"{what} waited in a buffer of {limit}", hint)
                break


def marks(case: Case) -> Iterator[Finding]:
    """Receivers saw no more marks than queues made, of all that passes them."""
    stages = case.evidence.judged
    made = sum(each.counts.marks + each.met("duplicate") for each in stages)
    hosts = {node_netns(node) for node in case.trial.workload.hosts}
    seen: dict[tuple[object, ...], int] = {}
    for each in case.evidence.tcp:
        if each.netns in hosts and each.destination_port and each.ecn is not None and each.ecn.received_ce is not None:
            seen[each.netns, each.source_port, each.destination, each.destination_port] = each.ecn.received_ce
    if sum(seen.values()) > made:
        what = f"receivers saw {sum(seen.values())} packets that were marked, and queues marked {made}"
        yield Finding("ECN", "invalid", what, "something else marks packets")


def spread(case: Case) -> Iterator[Finding]:
    """Independent losses come at any time alike: between two looks no more, and no fewer, than chance explains. All
    pairs of looks together reject a loss that is as asked in one trial of a million.
    """
    for each in case.evidence.data_stages if case.virtual else ():
        loss = each.stage.loss
        if not isinstance(loss, RandomLoss) or each.is_scheduled or len(each.delay_samples) < 3:
            continue
        came = list(_losses(each))
        for offered, dropped in came:
            if not chance.can_be([(loss, offered)], dropped, chance.ERROR_RATE / len(came)):
                what = f"{each.where}: {dropped} of {offered} packets were lost between two looks, asked were "
                hint = "the losses come in bursts, or another loss was at work for a while"
                yield Finding("loss", "invalid", f"{what}{percent(float(loss.probability))}", hint)
                break


def _losses(each: StageEvidence) -> Iterator[tuple[int, int]]:
    """How many packets came to the delay between two looks, and how many of them it lost. What its queue for the rate
    refuses, the delay counts too if that is inside it. So it does with what a policer there drops, which is looked at
    at other times: then nothing is told.
    """
    if each.stage.is_nested and (each.policer or each.per_flow):
        return
    inner = {look.time_ns: look for look in each.samples} if each.stage.is_nested else {}
    for one, later in pairwise(each.delay_samples):
        refused = 0
        if each.stage.is_nested:
            if one.time_ns not in inner or later.time_ns not in inner:
                continue
            refused = inner[later.time_ns].drops - inner[one.time_ns].drops
        dropped = later.drops - one.drops - refused
        offered = _passed(later) - _passed(one) + later.drops - one.drops
        if dropped >= 0 and offered >= dropped:
            yield offered, dropped


def _passed(look: QueueSample) -> int:
    return look.packets + look.backlog_packets
