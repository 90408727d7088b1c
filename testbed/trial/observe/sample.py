"""Samples of TCP sockets, queues and counters over time. Pure, no I/O.

Decoded from the observer's records; the numbers of attributes are those of linux/inet_diag.h, linux/rtnetlink.h,
linux/gen_stats.h, and linux/netfilter/nf_tables.h.
"""

from __future__ import annotations

import builtins
import socket
import struct
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import pairwise

from ...codec.frozen import dataclass
from ..law import RISES, SAME
from . import netlink, queue_counter, tcp_info
from .queue_counter import Counts


@dataclass(frozen=True)
class TcpSecond:
    """What the receiver got from all flows in the second that begins `time_s` after the start of the workload."""

    time_s: float
    goodput_bps: float


INET_DIAG_INFO, INET_DIAG_CONG = 2, 4
IFLA_IFNAME, IFLA_STATS64, IFLA_CARRIER_CHANGES = 3, 23, 35
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
NFTA_OBJ_NAME, NFTA_OBJ_DATA = 2, 4
NFTA_COUNTER_BYTES, NFTA_COUNTER_PACKETS = 1, 2
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_PKT64 = 1, 3, 8


@dataclass(frozen=True)
class Query:
    """A query of the observer: `kind` is "tcp", "qdisc", "link", "nft" or, for one `device`, "class"."""

    kind: str
    netns: str
    device: str = ""

    @property
    def word(self) -> str:
        return f"{self.kind}{'/' if self.device else ''}{self.device}@{self.netns}"


@dataclass(frozen=True)
class TcpSample:
    """One socket at one time."""

    time_ns: int
    netns: str
    source: str
    source_port: int
    destination: str
    destination_port: int
    congestion: str
    info: tcp_info.TcpInfo
    ecn: tcp_info.EcnInfo | None = None
    agreed: tcp_info.Agreed | None = None


@dataclass(frozen=True)
class QueueSample:
    """One queueing discipline at one time; counters since it was set up, backlog now. `handle` is like "2:". `counts`
    are there for queues that may drop or mark before they are full. `options` is what the kernel told of its settings.
    """

    time_ns: int = field(metadata=RISES)
    netns: str
    device: int = field(metadata=SAME)
    handle: str
    kind: str
    bytes: int = field(metadata=RISES)
    packets: int = field(metadata=RISES)
    drops: int = field(metadata=RISES)
    backlog_bytes: int
    backlog_packets: int
    counts: Counts | None = None
    options: builtins.bytes = field(default=b"", repr=False, compare=False)


@dataclass(frozen=True)
class CounterSample:
    """One named counter of nftables at one time."""

    time_ns: int
    netns: str
    name: str
    packets: int
    bytes: int


def of_kind(kind: str, data: bytes, sources: tuple[Query, ...]) -> Iterator[tuple[netlink.Record, Query]]:
    """The records of one kind of source, each with its source."""
    for record in netlink.records(data):
        if sources[record.source].kind == kind:
            yield record, sources[record.source]


def tcp_samples(data: bytes, sources: tuple[Query, ...]) -> Iterator[TcpSample]:
    """Every socket in every answer, in the order of time."""
    for time_ns, netns, body in _bodies("tcp", data, sources):
        yield tcp_sample(time_ns, netns, body)


def _bodies(kind: str, data: bytes, sources: tuple[Query, ...]) -> Iterator[tuple[int, str, bytes]]:
    """Every answer of one kind of source: its time, its namespace, and each thing in it."""
    for record, source in of_kind(kind, data, sources):
        for body in netlink.bodies(record.messages):
            yield record.time_ns, source.netns, body


def received_series(
    samples: Iterable[TcpSample], netns: str, ports: Container[int | None], begin_ns: int, end_ns: int
) -> list[TcpSecond]:
    """The goodput of all sockets with these ports together, for each whole second after `begin_ns`.

    A socket's count at a full second is interpolated between the samples around it. A socket that is gone keeps its
    last count.
    """
    counts: dict[tuple[int, str, int], list[tuple[int, float]]] = {}
    for each in samples:
        if each.netns == netns and each.source_port in ports and each.destination_port:
            socket_key = (each.source_port, each.destination, each.destination_port)
            counts.setdefault(socket_key, []).append((each.time_ns, each.info["bytes_received"] or 0))
    marks = range(begin_ns, end_ns + 1, 10**9)
    totals = [sum(_at(mark, of_socket) for of_socket in counts.values()) for mark in marks]
    return [TcpSecond(n, (b - a) * 8) for n, (a, b) in enumerate(pairwise(totals))]


def _at(time_ns: int, counts: list[tuple[int, float]]) -> float:
    """The count at a time, from pairs (time, count) in the order of time; 0 before the first."""
    after = bisect_left(counts, time_ns, key=lambda pair: pair[0])
    if after == len(counts):
        return counts[-1][1]
    if after == 0:
        return counts[0][1] if counts[0][0] == time_ns else 0.0
    (t0, c0), (t1, c1) = counts[after - 1], counts[after]
    return c0 + (c1 - c0) * (time_ns - t0) / (t1 - t0)


def queue_samples(data: bytes, sources: tuple[Query, ...]) -> Iterator[QueueSample]:
    """Every queueing discipline in every answer, in the order of time."""
    for time_ns, netns, body in _bodies("qdisc", data, sources):
        yield _queue(time_ns, netns, body)


def counter_samples(data: bytes, sources: tuple[Query, ...]) -> Iterator[CounterSample]:
    """Every named counter in every answer, in the order of time; nftables counts in network byte order."""
    for time_ns, netns, body in _bodies("nft", data, sources):
        told = netlink.attributes(body[4:])
        counts = netlink.attributes(told[NFTA_OBJ_DATA])
        octets, packets = (int.from_bytes(counts[n], "big") for n in (NFTA_COUNTER_BYTES, NFTA_COUNTER_PACKETS))
        yield CounterSample(time_ns, netns, told[NFTA_OBJ_NAME].rstrip(b"\0").decode(), packets, octets)


def counters(data: bytes, sources: tuple[Query, ...]) -> dict[str, dict[str, CounterSample]]:
    """Maps each namespace to its named counters by name, as the last answer had them."""
    found: dict[str, dict[str, CounterSample]] = {}
    for each in counter_samples(data, sources):
        found.setdefault(each.netns, {})[each.name] = each
    return found


def device_numbers(data: bytes, sources: tuple[Query, ...]) -> dict[tuple[str, int], str]:
    """Maps (namespace, device number) to the device's name."""
    return {(netns, number): name for netns, number, name, _ in _devices(data, sources)}


def carrier_changes(data: bytes, sources: tuple[Query, ...]) -> dict[tuple[str, str], int]:
    """Maps (namespace, device) to how often its cable's other end has come or gone."""
    told = ((netns, name, told.get(IFLA_CARRIER_CHANGES)) for netns, _, name, told in _devices(data, sources))
    return {(netns, name): int.from_bytes(count, "little") for netns, name, count in told if count is not None}


def device_drops(data: bytes, sources: tuple[Query, ...]) -> dict[tuple[str, str], int]:
    """Maps (namespace, device) to the packets that the device itself dropped, which no queueing discipline counts."""
    counters = ((netns, name, _stats("=8Q", told)) for netns, _, name, told in _devices(data, sources))
    return {(netns, name): each[6] + each[7] for netns, name, each in counters}


def device_counters(data: bytes, sources: tuple[Query, ...]) -> dict[tuple[str, str], dict[str, int]]:
    """Maps (namespace, device) to the packets and bytes that it received and sent."""
    found = {}
    for netns, _, name, told in _devices(data, sources):
        rx, tx, rx_bytes, tx_bytes = _stats("=4Q", told)
        found[netns, name] = {"rx_packets": rx, "tx_packets": tx, "rx_bytes": rx_bytes, "tx_bytes": tx_bytes}
    return found


def _stats(form: str, told: Mapping[int, bytes]) -> tuple[int, ...]:
    """The beginning of a device's struct rtnl_link_stats64."""
    return struct.unpack_from(form, told.get(IFLA_STATS64, b""))


def _devices(data: bytes, sources: tuple[Query, ...]) -> Iterator[tuple[str, int, str, Mapping[int, bytes]]]:
    """Every device in every answer: its namespace, number and name, and all its attributes."""
    for _, netns, body in _bodies("link", data, sources):
        (number,) = struct.unpack_from("=i", body, 4)
        told = netlink.attributes(body[16:])
        yield netns, number, told[IFLA_IFNAME].rstrip(b"\0").decode(), told


def tcp_sample(time_ns: int, netns: str, body: bytes) -> TcpSample:
    """struct inet_diag_msg: 4 bytes, then the socket's identity (ports in network order), 72 bytes in all."""
    family = socket.AddressFamily(body[0])
    source_port, destination_port = struct.unpack_from("!HH", body, 4)
    size = 4 if family == socket.AF_INET else 16
    found = netlink.attributes(body[72:])
    return TcpSample(
        time_ns,
        netns,
        socket.inet_ntop(family, body[8 : 8 + size]),
        source_port,
        socket.inet_ntop(family, body[24 : 24 + size]),
        destination_port,
        found.get(INET_DIAG_CONG, b"").rstrip(b"\0").decode(),
        tcp_info.decode(found.get(INET_DIAG_INFO, b"")),
        tcp_info.ecn(found.get(INET_DIAG_INFO, b"")),
        tcp_info.agreed(found.get(INET_DIAG_INFO, b"")),
    )


def _queue(time_ns: int, netns: str, body: bytes) -> QueueSample:
    """struct tcmsg: family, device number, handle, parent, info; then attributes."""
    device, handle = struct.unpack_from("=iI", body, 4)
    found = netlink.attributes(body[20:])
    stats = netlink.attributes(found[TCA_STATS2])
    octets, packets = struct.unpack_from("=QI", stats[TCA_STATS_BASIC])
    if TCA_STATS_PKT64 in stats:
        (packets,) = struct.unpack_from("=Q", stats[TCA_STATS_PKT64])
    queued, backlog, drops = struct.unpack_from("=III", stats[TCA_STATS_QUEUE])
    kind = found[TCA_KIND].rstrip(b"\0").decode()
    options = bytes(found.get(TCA_OPTIONS, b""))
    counts = queue_counter.counts(kind, drops, stats, options)
    place = netns, device, f"{handle >> 16:x}:", kind
    return QueueSample(time_ns, *place, octets, packets, drops, backlog, queued, counts, options)
