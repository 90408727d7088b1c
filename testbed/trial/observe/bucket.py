"""What queueing disciplines of ours report: how they are set up, and what they did, over time. Pure, no I/O.

The numbers are those of net/sched/sch_testbed.c, a patch of the lab kernel.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator, Mapping
from dataclasses import field

from ...codec.frozen import dataclass
from ...plan.link.paced import PER_FLOW
from ...plan.linux import OWN_QDISCS
from ..law import RISES
from . import netlink
from .sample import TCA_KIND, TCA_STATS2, Query, of_kind

TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_APP = 1, 3, 4
OPTIONS = {
    1: ("limit", "=I"),
    2: ("rate", "=Q"),
    3: ("burst", "=Q"),
    4: ("refill", "=Q"),
    5: ("credit", "=Q"),
    6: ("bytes", "=I"),
    7: ("period", "=Q"),
    9: ("start", "=I"),
    10: ("count", "=I"),
    11: ("crc", "=I"),
}
"""By the numbers of their attributes: the names in the plan's words, and the form."""
PADDING = 12
_DONE, _FLOW = struct.Struct("=8Q"), struct.Struct("=16s16s2s2sBBH")


@dataclass(frozen=True)
class PacedSample:
    """One of them at one time: `time_ns` is the kernel's own, of all that it counts since it was set up.

    In `busy_ns` something waited; packets of `taken_bytes` were let pass. A bucket holds `credit_bytes`, and its
    policer dropped `policed_packets`. A trace began at `begin_ns`, and since then `opportunities` have come. Where each
    flow has a cap, `begin_ns` is the number of flows that ever came, and `opportunities` that of the packets which were
    of none, because there were too many; of one flow, `begin_ns` is when it came.
    `backlog_packets` with `backlog_bytes` wait. What a kind does not have is 0.
    """

    netns: str
    device: int
    handle: str
    kind: str
    backlog_packets: int
    backlog_bytes: int
    time_ns: int = field(metadata=RISES)
    busy_ns: int = field(metadata=RISES)
    taken_bytes: int = field(metadata=RISES)
    credit_bytes: int
    policed_packets: int = field(metadata=RISES)
    policed_bytes: int = field(metadata=RISES)
    begin_ns: int
    opportunities: int


def samples(data: bytes, sources: tuple[Query, ...]) -> Iterator[PacedSample]:
    """Every one in every answer, in the order of time. One that reports less than all of it is left out."""
    return (sample for sample, more in _told("qdisc", data, sources) if not more)


def _told(of: str, data: bytes, sources: tuple[Query, ...]) -> Iterator[tuple[PacedSample, bytes]]:
    """Each of ours in every answer, and what it tells of a flow."""
    for record, source in of_kind(of, data, sources):
        for body in netlink.bodies(record.messages):
            found = netlink.attributes(body[20:])
            kind = found[TCA_KIND].rstrip(b"\0").decode()
            stats = netlink.attributes(found.get(TCA_STATS2, b""))
            told = stats.get(TCA_STATS_APP, b"")
            if kind in OWN_QDISCS and len(told) >= _DONE.size:
                device, handle = struct.unpack_from("=iI", body, 4)
                waiting = struct.unpack_from("=2I", stats[TCA_STATS_QUEUE])
                done = PacedSample(source.netns, device, f"{handle >> 16:x}:", kind, *waiting, *_DONE.unpack_from(told))
                yield done, told[_DONE.size :]


@dataclass(frozen=True)
class Flow:
    """A flow that has a cap: `protocol` is a number of IP; a port is 0 where the protocol has none. It came at
    `came_ns`: one that was idle for long is another one when it comes back.
    """

    source: str
    source_port: int
    destination: str
    destination_port: int
    protocol: int
    came_ns: int


def flows(data: bytes, sources: tuple[Query, ...]) -> Iterator[tuple[Flow, PacedSample]]:
    """Every flow with a cap in every answer, and what its bucket did."""
    for done, more in _told("class", data, sources):
        if done.kind == PER_FLOW and len(more) == _FLOW.size:
            yield _flow(more, done.begin_ns), done


def _flow(raw: bytes, came_ns: int) -> Flow:
    source, destination, *ports, protocol, version, _ = _FLOW.unpack(raw)
    source, destination = (_address(each, version) for each in (source, destination))
    source_port, destination_port = (int.from_bytes(port, "big") for port in ports)
    return Flow(source, source_port, destination, destination_port, protocol, came_ns)


def _address(raw: bytes, version: int) -> str:
    """Of IPv4 the last bytes of the address of IPv6 that stands for it."""
    return str(ipaddress.IPv4Address(raw[12:]) if version == 4 else ipaddress.IPv6Address(raw))


def options(raw: bytes) -> Mapping[str, int]:
    """The numbers of their options by name; an attribute that nobody knows is a 1, so that the gate asks about it."""
    found = {}
    for number, data in netlink.attributes(raw).items():
        if number != PADDING:
            name, form = OPTIONS.get(number, (f"attribute_{number}", ""))
            found[name] = struct.unpack(form, data)[0] if form else 1
    return found
