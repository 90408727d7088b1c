"""What the kernel says over netlink of devices, addresses, routes, neighbours, VLANs, offloads and queues, as the facts
of `plan.command`. Pure, no I/O.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address, ip_network

from ...plan.command import FEATURES, Facts
from . import netlink
from .readback import qdiscs
from .sample import Query, of_kind

IFF_UP = 1
IFLA_ADDRESS, IFLA_IFNAME, IFLA_MASTER, IFLA_LINKINFO = 1, 3, 10, 18
NUMBERS = {4: "mtu", 13: "txqueuelen", 40: "gso_max_segs", 41: "gso_max_size"}
IFLA_INFO_KIND, IFLA_INFO_DATA = 1, 2
IFLA_VLAN_ID = 1
BRIDGE = {5: "stp_state", 7: "vlan_filtering", 23: "mcast_snooping", 39: "vlan_default_pvid"}
IFA_ADDRESS, IFA_LOCAL = 1, 2
SCOPE_LINK, SCOPE_HOST = 253, 254
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_METRICS, RTA_TABLE = 1, 4, 5, 8, 15
RT_TABLE_MAIN, RTPROT_KERNEL, RTN_UNICAST = 254, 2, 1
RTM_F_CLONED, RTAX_MTU = 0x200, 2
OF_DAEMONS = (11, 42, *range(186, 199))
"""The protocols that the routes of FRR's daemons have in the kernel (linux/rtnetlink.h)."""
LEARNED_MTU = "cached"
"""The first word of what a host learned from a router: `cached DESTINATION via GATEWAY on DEVICE`, and the MTU."""
NDA_DST, NDA_LLADDR, NUD_PERMANENT = 1, 2, 0x80
IFLA_AF_SPEC, IFLA_BRIDGE_VLAN_INFO = 26, 2
VLAN_PVID, VLAN_UNTAGGED = 2, 4

Names = Mapping[tuple[str, int], str]
"""Devices by namespace and number."""


def facts(data: bytes, sources: tuple[Query, ...], names: Names) -> Facts:
    """All facts in the observer's records."""
    found: Facts = {}
    for kind, read in _READERS.items():
        for record, source in of_kind(kind, data, sources):
            for body in netlink.bodies(record.messages):
                found |= {(source.netns, what): value for what, value in read(body, source, names)}
    for each in qdiscs(data, sources):
        if each.handle != "0:":  # what a device has by default
            found[each.netns, f"qdisc {each.handle} of {names[each.netns, each.device]}"] = (
                f"{each.kind}, {each.parent}"
            )
    for record, source in of_kind("rule", data, sources):
        if count := sum(1 for _ in netlink.bodies(record.messages)):
            found[source.netns, "rules of nftables"] = str(count)
    return found


def _link(body: bytes, source: Query, names: Names) -> Iterator[tuple[str, str]]:
    (flags,) = struct.unpack_from("=I", body, 8)
    told = netlink.attributes(body[16:])
    name = told[IFLA_IFNAME].rstrip(b"\0").decode()
    yield f"{name} is", "up" if flags & IFF_UP else "down"
    yield f"{name} address", told.get(IFLA_ADDRESS, b"").hex(":")
    yield from ((f"{name} {key}", str(_number(told[n]))) for n, key in NUMBERS.items() if n in told)
    if IFLA_MASTER in told:
        yield f"{name} master", names[source.netns, _number(told[IFLA_MASTER])]
    about = netlink.attributes(told.get(IFLA_LINKINFO, b""))
    kind, data = about.get(IFLA_INFO_KIND, b"").rstrip(b"\0"), netlink.attributes(about.get(IFLA_INFO_DATA, b""))
    if kind == b"vlan":
        yield f"{name} vlan", str(_number(data[IFLA_VLAN_ID]))
    if kind == b"bridge":
        yield from ((f"{name} {key}", str(_number(data[n]))) for n, key in BRIDGE.items() if n in data)


def _address(body: bytes, source: Query, names: Names) -> Iterator[tuple[str, str]]:
    """Addresses that the kernel gives itself, of lo and of a link, are left out."""
    _, prefix, _, scope, number = struct.unpack_from("=BBBBI", body)
    told = netlink.attributes(body[8:])
    if scope not in (SCOPE_LINK, SCOPE_HOST):
        address = ip_address(told.get(IFA_LOCAL, told[IFA_ADDRESS]))
        yield f"address {address}/{prefix} on {names[source.netns, number]}", "there"


def _route(body: bytes, source: Query, names: Names) -> Iterator[tuple[str, str]]:
    """Those of the main table that the kernel does not make by itself, and the metrics of all. What daemons found has
    another name: its next hops are read in other ways. So has what a host learned from a router: an MTU, a gateway.
    """
    family, length, _, _, table, protocol, _, kind, flags = struct.unpack_from("=8BI", body)
    told = netlink.attributes(body[12:])
    table = _number(told[RTA_TABLE]) if RTA_TABLE in told else table
    if table != RT_TABLE_MAIN or kind != RTN_UNICAST:
        return
    to = "default" if family == 2 else "default6"
    if RTA_DST in told:
        to = str(ip_network((told[RTA_DST], length)))
    if protocol in OF_DAEMONS:
        yield f"learned {to}", "there"
        return
    metrics = netlink.attributes(told.get(RTA_METRICS, b""))
    gateway = str(ip_address(told[RTA_GATEWAY])) if RTA_GATEWAY in told else "nobody"
    if flags & RTM_F_CLONED:
        device = names[source.netns, _number(told[RTA_OIF])] if RTA_OIF in told else "none"
        mtu = str(_number(metrics[RTAX_MTU])) if RTAX_MTU in metrics else "none"
        yield f"{LEARNED_MTU} {to} via {gateway} on {device}", mtu
        return
    for metric, payload in metrics.items():
        yield f"route {to} metric {metric}", payload.hex()
    if protocol == RTPROT_KERNEL:
        return
    yield f"route {to} via", gateway
    if RTA_OIF in told:
        yield f"route {to} on", names[source.netns, _number(told[RTA_OIF])]


def _neighbour(body: bytes, source: Query, names: Names) -> Iterator[tuple[str, str]]:
    """Those that do not expire."""
    number, state = struct.unpack_from("=iH", body, 4)
    told = netlink.attributes(body[12:])
    if state & NUD_PERMANENT and NDA_DST in told and NDA_LLADDR in told:
        yield f"neighbour {ip_address(told[NDA_DST])} on {names[source.netns, number]}", told[NDA_LLADDR].hex(":")


def _vlan(body: bytes, source: Query, names: Names) -> Iterator[tuple[str, str]]:
    (number,) = struct.unpack_from("=i", body, 4)
    told = netlink.attributes(body[16:])
    name = names[source.netns, number]
    for kind, payload in netlink.each_attribute(told.get(IFLA_AF_SPEC, b"")):
        if kind == IFLA_BRIDGE_VLAN_INFO:
            flags, vlan = struct.unpack_from("=HH", payload)
            words = [word for word, bit in (("pvid", VLAN_PVID), ("untagged", VLAN_UNTAGGED)) if flags & bit]
            yield f"vlan {vlan} on {name}", " ".join(words) or "tagged"


def _feature(body: bytes, source: Query, names: Names) -> Iterator[tuple[str, str]]:
    number, *values = struct.unpack("=4I", body)
    for feature, value in zip(FEATURES, values, strict=True):
        yield f"{names[source.netns, number]} {feature}", "on" if value else "off"


def _number(payload: bytes) -> int:
    return int.from_bytes(payload, "little")


_READERS: dict[str, Callable[[bytes, Query, Names], Iterator[tuple[str, str]]]] = {
    "link": _link,
    "address": _address,
    "route": _route,
    "neighbour": _neighbour,
    "vlan": _vlan,
    "feature": _feature,
}
"""For each kind of source: what a message of it says, as pairs of what is meant and its value."""
