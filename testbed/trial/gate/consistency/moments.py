"""Checks of the gate: is what was seen at each moment of a workload there, and does it fit together? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from ....plan.link.stage import DELAY
from ....plan.node.namespace import node_netns
from ...evidence.case import Case
from ...evidence.outcome import Sent
from ...result import Finding
from .queue_samples import faults_of
from .tools import firsts


def whole(case: Case) -> Iterator[Finding]:
    return firsts(part(case) for part in PARTS)


def _settings(case: Case) -> Iterator[str]:
    """Every queue that was set up told its settings in the looks around the workload, and between them."""
    for each in (*case.evidence.stages, *case.evidence.beside, *case.evidence.channels):
        for handle in sorted(each.qdiscs.keys() & each.qdiscs_after.keys()):
            told = each.settings.get(handle, ())
            if not told or not all(one.options and 0 < one.first_ns <= one.last_ns for one in told):
                yield f"missing: the settings of the queue {handle} of {each.where} over time"
            elif any(one.options == later.options or later.first_ns <= one.last_ns for one, later in pairwise(told)):
                yield f"the settings of the queue {handle} of {each.where} are not in their order"


def _delays(case: Case) -> Iterator[str]:
    """A delay is asked with the bucket behind it, in one look."""
    netns = {emulator.link: emulator.netns for emulator in case.plan.emulators}
    for each in case.evidence.data_stages if case.trial.samples_interval_ns else ():
        looks = [look.time_ns for look in each.samples if look not in (each.around or ())]
        if [look.time_ns for look in each.delay_samples] != (looks if each.stage.loses_at_random else []):
            yield f"{each.where}: the samples of the delay are not those of its bucket"
        for what in faults_of(each.delay_samples, netns[each.link], DELAY, case.virtual):
            yield f"{each.where}: {what}"


def _sent(case: Case) -> Iterator[str]:
    """What sockets sent is what their flows say, in segments of at most the largest."""
    outcome = case.evidence.outcome
    received = outcome.received_bytes
    for name, sent, segments in (("senders", outcome.sent, outcome.sent_segments), ("receivers", outcome.answered, 0)):
        if sent is None:
            continue
        if sent.data_packets != segments or not _fits(case, sent):
            yield f"the {name} sent {sent.packets} packets, {sent.data_packets} with {sent.payload_bytes} bytes of data"
        if name == "senders" and (sent.payload_bytes < received or not sent.packets):
            yield f"the senders sent {sent.payload_bytes} bytes, and {received} arrived"
        if name == "receivers" and received and not sent.packets:
            yield f"the receivers got {received} bytes, and answered none"
        if sent.largest_bytes < max((flow.mss_bytes or 0 for flow in outcome.flows), default=0) and name == "senders":
            yield f"the senders sent segments of at most {sent.largest_bytes} bytes"


def _fits(case: Case, sent: Sent) -> bool:
    """Segments get smaller while a connection lasts where a link farther on has a smaller MTU (RFC 1191)."""
    is_one = len({link.mtu_bytes for link in case.trial.topology.links}) == 1
    is_full = not is_one or sent.payload_bytes <= sent.data_packets * sent.largest_bytes
    return sent.data_packets <= sent.packets and is_full and bool(sent.payload_bytes) == bool(sent.data_packets)


def _agreed(case: Case) -> Iterator[str]:
    """If one socket tells what it agreed on, all that tell anything do: one that waits for its end does not."""
    hosts = {node_netns(node) for node in case.trial.workload.hosts}
    told = [each.agreed for each in case.evidence.tcp if each.netns in hosts and each.info.get("state") is not None]
    if any(told) and not all(told):
        yield "a socket does not tell what it agreed on"


def _begun(case: Case) -> Iterator[str]:
    """A background begins after the look before it."""
    looks = [each.around[0].time_ns for each in case.evidence.data_stages if each.around is not None]
    for name, begun in case.evidence.background_begun.items():
        if begun.at_ns < min(looks, default=1):
            yield f"{name} began before the network was read back"


PARTS: tuple[Callable[[Case], Iterator[str]], ...] = (_settings, _delays, _sent, _agreed, _begun)
