"""What the kernel says was set up, decoded by pyroute2: a second opinion on what iproute2 did. Pure, no I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from pyroute2.netlink.rtnl.tcmsg import tcmsg

from . import netlink
from .sample import Source, of_kind

TCA_OPTIONS = 2
TCA_TBF_RATE64 = 4
TCA_HTB_PARMS, TCA_HTB_RATE64 = 1, 6
TICK_NS = 64
"""The kernel's packet scheduler counts 64 ns ticks (PSCHED_SHIFT); what is read back is exact to one of them."""


@dataclass(frozen=True)
class Qdisc:
    """One queueing discipline; None where its kind has no such parameter. `limit` is in packets, for tbf in bytes."""

    netns: str
    device: int
    handle: str
    kind: str
    limit: int | None = None
    delay_ns: int | None = None
    jitter_ns: int | None = None
    rate_bps: int | None = None


def qdiscs(data: bytes, sources: tuple[Source, ...]) -> Iterator[Qdisc]:
    """Every queueing discipline in the observer's records, in their order."""
    for record, source in of_kind("qdisc", data, sources):
        for message in _messages(record.messages):
            yield _qdisc(source.netns, message)


def class_rates_bps(data: bytes, sources: tuple[Source, ...]) -> dict[tuple[str, str], int]:
    """(namespace, device) to the rate of its HTB class, where there is one; Mininet makes no more."""
    found = {}
    for record, source in of_kind("class", data, sources):
        for message in _messages(record.messages):
            if message.get_attr("TCA_KIND") == "htb":
                told = netlink.attributes(_options(message))
                wide = told.get(TCA_HTB_RATE64)
                (rate,) = struct.unpack("=Q", wide) if wide else struct.unpack_from("=I", told[TCA_HTB_PARMS], 8)
                found[source.netns, source.device] = rate * 8
    return found


def _messages(data: bytes) -> Iterator[tcmsg]:
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("=I", data, at)
        message = tcmsg(data[at : at + length])
        message.decode()
        yield message
        at += netlink.aligned(length)


def _qdisc(netns: str, message: tcmsg) -> Qdisc:
    kind = message.get_attr("TCA_KIND")
    options = message.get_attr("TCA_OPTIONS")
    handle = f"{message['handle'] >> 16:x}:"
    if kind == "netem":
        delay_ns, jitter_ns = (options[key] * TICK_NS for key in ("delay", "jitter"))
        return Qdisc(netns, message["index"], handle, kind, options["limit"], delay_ns, jitter_ns)
    if kind == "tbf":
        parameters = options.get_attr("TCA_TBF_PARMS")
        wide = netlink.attributes(_options(message)).get(TCA_TBF_RATE64)
        rate = struct.unpack("=Q", wide)[0] if wide else parameters["rate"]  # pyroute2 does not know the wide one
        return Qdisc(netns, message["index"], handle, kind, parameters["limit"], rate_bps=rate * 8)
    if kind == "pfifo":
        (limit,) = struct.unpack_from("=I", _options(message))
        return Qdisc(netns, message["index"], handle, kind, limit)
    return Qdisc(netns, message["index"], handle, kind)


def _options(message: tcmsg) -> bytes:
    """The raw options of a kind that pyroute2 does not decode: a bare structure."""
    return netlink.attributes(bytes(message.data[36:]))[TCA_OPTIONS]
