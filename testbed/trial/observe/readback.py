"""What the kernel reports as set up, decoded by pyroute2: this checks independently what iproute2 did. Pure, no I/O."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ...codec.frozen import dataclass
from ...plan.link.impairment import TICK_NS
from ...plan.linux import OWN_QDISCS
from ..law import RAW
from . import bucket, netlink, queue_option
from .sample import Query, of_kind

if TYPE_CHECKING:  # imports all of pyroute2, which only decoding needs
    from pyroute2.netlink import nla
    from pyroute2.netlink.rtnl.tcmsg import tcmsg

TC_H_ROOT, TC_H_INGRESS = 0xFFFFFFFF, 0xFFFFFFF1
TCA_OPTIONS = 2
NETEM_QOPT_BYTES = 24
TCA_NETEM_LOSS, TCA_NETEM_ECN, TCA_NETEM_RATE64, TCA_NETEM_SLOT = 5, 7, 8, 12
TCA_NETEM_LATENCY64, TCA_NETEM_JITTER64 = 10, 11
NETEM_LOSS_GI, NETEM_LOSS_GE = 1, 2
NETEM_ELSEWHERE = {1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14}
"""The attributes of netem that pyroute2 or this module decodes, that repeat a number in a wider type, or that nobody
can ask for: padding, and the seed, which the kernel draws."""
SLOT = ("slot_min_ns", "slot_max_ns", "slot_packets", "slot_bytes", "slot_delay_ns", "slot_jitter_ns")
TCA_TBF_PARMS, TCA_TBF_RATE64 = 1, 4
TCA_HTB_PARMS, TCA_HTB_RATE64, TCA_HTB_CEIL64 = 1, 6, 7


@dataclass(frozen=True)
class Qdisc:
    """One queueing discipline; None if its kind has no such parameter. `limit` is in packets, for tbf in bytes.

    `parent` is "root" or such as "1:1". `more` has other values that the kernel reports, by the names of pyroute2 and
    in the kernel's units; the rate of a netem is in bytes/s, `burst_ns` of a tbf is the time to send its bucket.
    """

    netns: str
    device: int
    handle: str
    kind: str
    limit: int | None = None
    delay_ns: int | None = None
    jitter_ns: int | None = None
    rate_bps: int | None = None
    more: Mapping[str, int] = field(default_factory=dict, metadata=RAW)
    parent: str = "root"

    def value(self, name: str) -> int | None:
        """The field or the entry of `more` with this name; None if the kernel does not report it."""
        number: int | None = getattr(self, name, None)
        return self.more.get(name) if number is None else number


def qdiscs(data: bytes, sources: tuple[Query, ...]) -> Iterator[Qdisc]:
    """Every queueing discipline in the observer's records, in their order."""
    for record, source in of_kind("qdisc", data, sources):
        for message in _messages(record.messages):
            yield _qdisc(source.netns, message)


@dataclass(frozen=True)
class HtbClass:
    """A class of an HTB: its rate and its ceiling, and the times to send the buckets of both at these."""

    rate_bps: int
    ceiling_bps: int
    bucket_ns: int
    ceiling_bucket_ns: int


def htb_classes(data: bytes, sources: tuple[Query, ...]) -> dict[tuple[str, str], HtbClass]:
    """Maps (namespace, device) to its HTB class, if it has one; Mininet makes at most one."""
    found = {}
    for record, source in of_kind("class", data, sources):
        for message in _messages(record.messages):
            if message.get_attr("TCA_KIND") == "htb":
                found[source.netns, source.device] = _htb_class(netlink.attributes(_options(message)))
    return found


def _htb_class(told: Mapping[int, bytes]) -> HtbClass:
    """struct tc_htb_opt: a struct tc_ratespec each for rate and ceiling, then their buckets in ticks."""
    rate, ceiling, bucket, ceiling_bucket = struct.unpack_from("=8xI8xIII", told[TCA_HTB_PARMS])
    rate, ceiling = (
        struct.unpack("=Q", told[wide])[0] if wide in told else narrow
        for wide, narrow in ((TCA_HTB_RATE64, rate), (TCA_HTB_CEIL64, ceiling))
    )
    return HtbClass(rate * 8, ceiling * 8, bucket * TICK_NS, ceiling_bucket * TICK_NS)


def _messages(data: bytes) -> Iterator[tcmsg]:
    from pyroute2.netlink.rtnl.tcmsg import tcmsg

    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("=I", data, at)
        message = tcmsg(data[at : at + length])
        message.decode()
        yield message
        at += netlink.aligned(length)


def _qdisc(netns: str, message: tcmsg) -> Qdisc:
    kind = message.get_attr("TCA_KIND")
    made = Qdisc(netns, message["index"], _handle(message["handle"]), kind, parent=_parent(message["parent"]))
    if kind in queue_option.KINDS:
        numbers = queue_option.decoded(kind, _options(message))
        return replace(made, limit=numbers.pop("limit", None), more=numbers)
    read = _READ.get(kind)
    return made if read is None else replace(made, **read(message))


def _netem(message: tcmsg) -> dict[str, Any]:
    options = message.get_attr("TCA_OPTIONS")
    raw = netlink.attributes(_options(message)[NETEM_QOPT_BYTES:])
    delay_ns, jitter_ns = (
        struct.unpack("=q", raw[exact])[0] if exact in raw else options[key] * TICK_NS
        for key, exact in (("delay", TCA_NETEM_LATENCY64), ("jitter", TCA_NETEM_JITTER64))
    )
    more = _numbers(options) | _loss_model(raw) | {f"attribute_{n}": 1 for n in raw.keys() - NETEM_ELSEWHERE}
    if TCA_NETEM_RATE64 in raw:
        (more["rate"],) = struct.unpack("=Q", raw[TCA_NETEM_RATE64])
    if TCA_NETEM_ECN in raw:
        (more["ecn"],) = struct.unpack("=I", raw[TCA_NETEM_ECN])
    if TCA_NETEM_SLOT in raw:
        more |= dict(zip(SLOT, struct.unpack("=2q2i2q", raw[TCA_NETEM_SLOT]), strict=True))
    return {"limit": options["limit"], "delay_ns": delay_ns, "jitter_ns": jitter_ns, "more": more}


def _tbf(message: tcmsg) -> dict[str, Any]:
    """struct tc_tbf_qopt: two tc_ratespec, then limit, buffer and mtu. pyroute2 does not know the wide rates."""
    attributes = netlink.attributes(_options(message))
    values = struct.unpack("=BBHhHIBBHhHIIII", attributes[TCA_TBF_PARMS])
    _, _, overhead, align, mpu, rate, *_, peak, limit, buffer, mtu = values
    if TCA_TBF_RATE64 in attributes:
        (rate,) = struct.unpack("=Q", attributes[TCA_TBF_RATE64])
    more = {"burst_ns": buffer * TICK_NS, "peak_rate": peak, "mtu": mtu, "overhead": overhead, "mpu": mpu}
    return {"limit": limit, "rate_bps": rate * 8, "more": {**more, "cell_align": align}}


def _pfifo(message: tcmsg) -> dict[str, Any]:
    return {"limit": struct.unpack_from("=I", _options(message))[0]}


def _paced(message: tcmsg) -> dict[str, Any]:
    """Kinds of ours; a shaper's rate is that of its line."""
    told = dict(bucket.options(_options(message)))
    rate = {"rate_bps": told.pop("rate") * 8} if told.get("rate") else {}
    return {"limit": told.pop("limit", None), "more": {name: told[name] for name in told if told[name]}, **rate}


_READ: dict[str, Callable[[tcmsg], dict[str, Any]]] = {
    "netem": _netem,
    "tbf": _tbf,
    "pfifo": _pfifo,
    **dict.fromkeys(OWN_QDISCS, _paced),
}
"""What the kinds that a plan sets up report of themselves, as fields of Qdisc."""


def _handle(number: int) -> str:
    return f"{number >> 16:x}:"


def _parent(number: int) -> str:
    """Such as "root", "1:1" or "ingress"."""
    return {TC_H_ROOT: "root", TC_H_INGRESS: "ingress"}.get(number, f"{number >> 16:x}:{number & 0xFFFF:x}")


def _numbers(options: nla) -> dict[str, int]:
    """The numbers of a structure, and of the structures in its attributes."""
    from pyroute2.netlink import nla

    numbers = {name: value for name, value in options.items() if isinstance(value, int)}
    for inner in (value for _, value in options.get("attrs", ()) if isinstance(value, nla)):
        numbers |= _numbers(inner)
    return numbers


def _loss_model(raw: Mapping[int, bytes]) -> dict[str, int]:
    """The chain of a netem, which pyroute2 does not decode: that of Gilbert and Elliott, or that of four states."""
    models = netlink.attributes(raw.get(TCA_NETEM_LOSS, b""))
    names = ("gemodel_p", "gemodel_r", "gemodel_h", "gemodel_k1")
    found = (
        dict(zip(names, struct.unpack("=4I", models[NETEM_LOSS_GE]), strict=True)) if NETEM_LOSS_GE in models else {}
    )
    return found | ({"loss_states": 1} if NETEM_LOSS_GI in models else {})


def _options(message: tcmsg) -> bytes:
    """The raw options of a kind that pyroute2 does not decode: a bare structure."""
    return netlink.attributes(bytes(message.data[36:]))[TCA_OPTIONS]
