"""Mininet's TCLink: which links it can make, and where its queues are. Pure, no I/O.

It puts an HTB with a netem below it on the devices of the nodes themselves:

    node ── packets wait in netem, first for the delay, then for the rate ── HTB ── device

So one limit, in packets, bounds the packets in flight and those that wait for the rate together: with a delay, nobody
can ask for a buffer of a certain size. TCLink accepts rates up to 1 Gbit/s and ignores higher ones. It cannot do
periodic losses, buffers in bytes or BDP, and directions that differ.
"""

from __future__ import annotations

import math

from ...codec.frozen import dataclass
from ...model.link.impairment import Direction, Way
from ...model.topology import Link, Topology
from .emulator import buffer
from .impairment import NETEM_LIMIT, tc_time
from .stage import frame_bytes

HTB, NETEM = "5:", "10:"
"""The handles that Mininet uses. The class 5:1 has the rate."""

RATE_MAX_BPS = 10**9
BUCKET_BYTES, CEILING_BUCKET_BYTES = 15 * 1024, 1600
"""Mininet's "burst 15k", and what tc gives the bucket of a ceiling that it is not told, which is the rate."""
BURST_BYTES = BUCKET_BYTES + CEILING_BUCKET_BYTES
"""What HTB may send at once: its bucket and one more frame."""


@dataclass(frozen=True)
class TcPort:
    """One end of a TCLink, which impairs what leaves there, in the direction `way` of the link.

    `limit` is in packets. `is_host` says whether the device belongs to a host, whose TCP then notices the queue.
    """

    link: str
    way: Way
    node: str
    netns: str
    device: str
    rate_bps: int | None
    delay_ns: int
    limit: int
    mtu_bytes: int
    is_host: bool


def suits(link: Link) -> bool:
    """Whether the link has an impairment, and a TCLink can do everything that is asked of it."""
    asked = link.forward
    able = Direction(rate_bps=asked.rate_bps, delay_ns=asked.delay_ns, buffer=asked.buffer)
    has_buffer = asked.buffer is None or (asked.buffer.unit == "packets" and not asked.delay_ns)
    if not link.is_emulated or link.data.is_emulated or link.schedule or link.wander or not has_buffer:
        return False
    return able == link.forward == link.backward and (asked.rate_bps or 0) <= RATE_MAX_BPS


def is_tclink(topology: Topology, link: Link) -> bool:
    return topology.engine == "mininet" and suits(link)


def is_emulated(topology: Topology, link: Link) -> bool:
    """Whether our emulator is in the middle of the link."""
    return link.is_emulated and not is_tclink(topology, link)


def options(link: Link) -> dict[str, float | int | str]:
    """The options of TCLink, in its own units: Mbit/s, and the delay as tc writes it."""
    asked = link.forward
    rate = {} if asked.rate_bps is None else {"bw": asked.rate_bps / 1e6}
    delay = {"delay": tc_time(asked.delay_ns)} if asked.delay_ns else {}
    return {**rate, **delay, "max_queue_size": limit(link)}


def limit(link: Link) -> int:
    """The queue's limit in packets: what the rate sends in the delay, plus the buffer that an emulator would have."""
    asked, frame = link.forward, frame_bytes(link.mtu_bytes)
    if asked.rate_bps is None:
        return NETEM_LIMIT
    size, unit = buffer(asked, link.rtt_ns, link.mtu_bytes)
    waiting = math.ceil((size or 0) / (frame if unit == "bytes" else 1))
    return waiting + math.ceil(asked.rate_bps * asked.delay_ns / (8 * 10**9 * frame))
