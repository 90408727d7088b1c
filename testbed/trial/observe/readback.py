"""What the kernel reports as set up, decoded by pyroute2: this checks independently what iproute2 did. Pure, no I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pyroute2.netlink import nla
from pyroute2.netlink.rtnl.tcmsg import tcmsg

from ...plan.link.impairment import TICK_NS
from . import netlink
from .sample import Query, of_kind

TCA_OPTIONS = 2
TCA_NETEM_LOSS, NETEM_LOSS_GE, NETEM_QOPT_BYTES = 5, 2, 24
TCA_TBF_RATE64 = 4
TCA_HTB_PARMS, TCA_HTB_RATE64 = 1, 6


@dataclass(frozen=True)
class Qdisc:
    """One queueing discipline; None if its kind has no such parameter. `limit` is in packets, for tbf in bytes.

    `more` has other values that the kernel reports, by the names of pyroute2 and in the kernel's units.
    """

    netns: str
    device: int
    handle: str
    kind: str
    limit: int | None = None
    delay_ns: int | None = None
    jitter_ns: int | None = None
    rate_bps: int | None = None
    more: Mapping[str, int] = field(default_factory=dict)

    def value(self, name: str) -> int | None:
        """The field or the entry of `more` with this name; None if the kernel does not report it."""
        number: int | None = getattr(self, name, None)
        return self.more.get(name) if number is None else number


def qdiscs(data: bytes, sources: tuple[Query, ...]) -> Iterator[Qdisc]:
    """Every queueing discipline in the observer's records, in their order."""
    for record, source in of_kind("qdisc", data, sources):
        for message in _messages(record.messages):
            yield _qdisc(source.netns, message)


def class_rates_bps(data: bytes, sources: tuple[Query, ...]) -> dict[tuple[str, str], int]:
    """Maps (namespace, device) to the rate of its HTB class, if it has one; Mininet makes at most one."""
    rates = {}
    for record, source in of_kind("class", data, sources):
        for message in _messages(record.messages):
            if message.get_attr("TCA_KIND") == "htb":
                attributes = netlink.attributes(_options(message))
                wide = attributes.get(TCA_HTB_RATE64)
                (rate,) = struct.unpack("=Q", wide) if wide else struct.unpack_from("=I", attributes[TCA_HTB_PARMS], 8)
                rates[source.netns, source.device] = rate * 8
    return rates


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
        more = _numbers(options) | _gemodel(message)
        return Qdisc(netns, message["index"], handle, kind, options["limit"], delay_ns, jitter_ns, more=more)
    if kind == "tbf":
        parameters = options.get_attr("TCA_TBF_PARMS")
        wide = netlink.attributes(_options(message)).get(TCA_TBF_RATE64)
        rate = struct.unpack("=Q", wide)[0] if wide else parameters["rate"]  # pyroute2 does not know the wide one
        return Qdisc(netns, message["index"], handle, kind, parameters["limit"], rate_bps=rate * 8)
    if kind == "pfifo":
        (limit,) = struct.unpack_from("=I", _options(message))
        return Qdisc(netns, message["index"], handle, kind, limit)
    return Qdisc(netns, message["index"], handle, kind)


def _numbers(options: nla) -> dict[str, int]:
    """The numbers of a structure, and of the structures in its attributes."""
    numbers = {name: value for name, value in options.items() if isinstance(value, int)}
    for inner in (value for _, value in options.get("attrs", ()) if isinstance(value, nla)):
        numbers |= _numbers(inner)
    return numbers


def _gemodel(message: tcmsg) -> dict[str, int]:
    """The Gilbert–Elliott chain of a netem, which pyroute2 does not decode."""
    loss = netlink.attributes(_options(message)[NETEM_QOPT_BYTES:]).get(TCA_NETEM_LOSS)
    model = None if loss is None else netlink.attributes(loss).get(NETEM_LOSS_GE)
    names = ("gemodel_p", "gemodel_r", "gemodel_h", "gemodel_k1")
    return {} if model is None else dict(zip(names, struct.unpack("=4I", model), strict=True))


def _options(message: tcmsg) -> bytes:
    """The raw options of a kind that pyroute2 does not decode: a bare structure."""
    return netlink.attributes(bytes(message.data[36:]))[TCA_OPTIONS]
