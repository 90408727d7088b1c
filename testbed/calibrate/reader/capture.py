"""A capture (pcap, of tcpdump): handshakes, round-trip times, rate and retransmissions of its largest transfer.

Reads bytes. Ethernet, raw IP and Linux's cooked captures; IPv4 and IPv6. pcapng is refused, with the command that
converts it.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..measurement import Ask, Measurement, Reading, Second, Transfer, Way, refused, summed

FORMAT = "pcap"
MAGIC = {b"\xd4\xc3\xb2\xa1": ("<", 1e-6), b"\xa1\xb2\xc3\xd4": (">", 1e-6)}
MAGIC |= {b"\x4d\x3c\xb2\xa1": ("<", 1e-9), b"\xa1\xb2\x3c\x4d": (">", 1e-9)}
NEW_MAGIC = b"\x0a\x0d\x0d\x0a"
LINK_BYTES = {1: 14, 101: 0, 12: 0, 14: 0, 113: 16, 276: 20, 0: 4}
"""Link types, and the bytes before the packet of IP."""
TCP, SYN, ACK = 6, 0x02, 0x10
SECOND_S = 1.0
BACK_S = 1.0
"""Packets of several queues may be out of order by less than that; a clock that is set back is out by more."""
BULK_BYTES = 100_000
"""A transfer of less tells no rate."""

Flow = tuple[bytes, int, bytes, int]


class Segment(NamedTuple):
    """A TCP segment; `octets` are its payload."""

    at_s: float
    flow: Flow
    number: int
    acked: int
    flags: int
    octets: int


@dataclass(frozen=True)
class Handshake:
    """From the first SYN to the ACK of a connection; `is_at_client`: the answer took the longer part of it."""

    flow: Flow
    rtt_s: float
    is_at_client: bool


def is_it(data: bytes) -> bool:
    return data[:4] in MAGIC or data[:4] == NEW_MAGIC


def read(file: str, data: bytes) -> Reading:
    """Raises SpecError for a capture that is cut short, of another link, or whose clock goes backward."""
    if data[:4] == NEW_MAGIC:
        raise refused(file, None, "this is pcapng", f"pcap: editcap -F pcap {file} converted.pcap")
    segments = list(_segments(file, data))
    if not segments:
        raise refused(file, None, "there is no TCP packet in it", "a capture of a TCP transfer, from its handshake on")
    shakes = list(_handshakes(segments))
    sent: Counter[Flow] = Counter()
    for each in segments:
        sent[each.flow] += each.octets
    main, octets = sent.most_common(1)[0]
    clients = {shake.flow: shake for shake in shakes}
    shake = clients.get(main) or clients.get(_turned(main))
    way: Way = "backward" if shake is not None and shake.flow == _turned(main) else "forward"
    told, untold = [], ["the congestion control", "which of several limits held the rate"]
    found: list[Measurement] = []
    if shakes:
        told.append(f"{len(shakes)} handshakes")
        found.append(
            Measurement(file, None, pings=summed([each.rtt_s for each in shakes], 1e-6, has_sd=False), way=way)
        )
    else:
        untold.append("round-trip times without load: the capture has no handshake")
    if octets >= BULK_BYTES:
        flows = [
            flow for flow, count in sent.items() if flow[0] == main[0] and flow[2] == main[2] and count * 10 > octets
        ]
        mine = [each for each in segments if each.flow in flows]
        transfer = _transfer(mine)
        if transfer is not None:
            told.append(f"goodput {transfer.goodput_bps / 1e6:.4g} Mbit/s of {len(flows)} flows")
            told.append(f"{transfer.retransmits} segments sent again")
            took_s = mine[-1].at_s - mine[0].at_s
            ask = Ask("iperf3", "tcp", len(flows), max(1.0, round(took_s)), way == "backward")
            found.append(Measurement(file, ask, transfer=transfer, way=way))
        rtts = _round_trips(segments, set(flows)) if _is_at_sender(shake, main) else []
        if rtts:
            told.append(f"{len(rtts)} round-trip times under load")
            found.append(Measurement(file, None, pings=summed(rtts, 1e-6, has_sd=False), is_loaded=True, way=way))
        else:
            untold.append("round-trip times under load, which a capture at the sender tells")
    else:
        untold.append(f"a rate: it transfers less than {BULK_BYTES} bytes")
    if not found:
        raise refused(file, None, "it has neither a handshake nor a transfer", "a capture from the handshake on")
    notes = ("iperf3 makes as many flows for as long here; the program of the capture is not known",)
    return Reading(file, FORMAT, tuple(found), tuple(told), tuple(untold), notes=notes)


def _segments(file: str, data: bytes) -> Iterator[Segment]:
    order, unit_s = MAGIC[data[:4]]
    if len(data) < 24:
        raise refused(file, None, "the capture is cut short", "a whole capture")
    link = struct.unpack_from(order + "I", data, 20)[0] & 0xFFFF
    if link not in LINK_BYTES:
        raise refused(file, None, f"the link type is {link}", f"{', '.join(map(str, LINK_BYTES))} (Ethernet is 1)")
    record, at, last_s, number = struct.Struct(order + "IIII"), 24, 0.0, 0
    while at < len(data):
        number += 1
        if at + 16 > len(data):
            raise refused(file, None, f"the capture is cut short in packet {number}", "a whole capture")
        whole, part, kept, _ = record.unpack_from(data, at)
        at += 16
        if at + kept > len(data):
            raise refused(file, None, f"the capture is cut short in packet {number}", "a whole capture")
        time_s = whole + part * unit_s
        if time_s < last_s - BACK_S:
            raise refused(file, None, f"the clock goes backward at packet {number}", "times that do not fall")
        last_s = max(last_s, time_s)
        found = _segment(time_s, data[at : at + kept], link)
        if found is not None:
            yield found
        at += kept


def _segment(time_s: float, frame: bytes, link: int) -> Segment | None:
    at = LINK_BYTES[link]
    if link == 1:
        while frame[at - 2 : at] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
    version = frame[at] >> 4 if len(frame) > at else 0
    if version == 4 and len(frame) >= at + 20:
        total, kind = int.from_bytes(frame[at + 2 : at + 4]), frame[at + 9]
        source, target, head = frame[at + 12 : at + 16], frame[at + 16 : at + 20], (frame[at] & 15) * 4
    elif version == 6 and len(frame) >= at + 40:
        total, kind = int.from_bytes(frame[at + 4 : at + 6]) + 40, frame[at + 6]
        source, target, head = frame[at + 8 : at + 24], frame[at + 24 : at + 40], 40
    else:
        return None
    tcp = at + head
    if kind != TCP or len(frame) < tcp + 14:
        return None
    source_port, target_port, number, acked = struct.unpack_from("!HHII", frame, tcp)
    octets = total - head - (frame[tcp + 12] >> 4) * 4
    return Segment(time_s, (source, source_port, target, target_port), number, acked, frame[tcp + 13], max(0, octets))


def _turned(flow: Flow) -> Flow:
    return flow[2], flow[3], flow[0], flow[1]


def _handshakes(segments: Sequence[Segment]) -> Iterator[Handshake]:
    """Those without a SYN sent again, whose answer would be one of two."""
    syns: dict[Flow, list[float]] = {}
    answers: dict[Flow, list[float]] = {}
    done: set[Flow] = set()
    for each in segments:
        is_syn, is_ack = bool(each.flags & SYN), bool(each.flags & ACK)
        if is_syn and not is_ack:
            syns.setdefault(each.flow, []).append(each.at_s)
        elif is_syn:
            answers.setdefault(_turned(each.flow), []).append(each.at_s)
        elif each.flow in answers and each.flow not in done:
            done.add(each.flow)
            begun, answered = syns.get(each.flow, []), answers[each.flow]
            if len(begun) == 1 and len(answered) == 1 and begun[0] < answered[0] <= each.at_s:
                there, back = answered[0] - begun[0], each.at_s - answered[0]
                yield Handshake(each.flow, there + back, there > back)


def _is_at_sender(shake: Handshake | None, main: Flow) -> bool:
    return shake is not None and shake.is_at_client == (shake.flow == main)


def _transfer(mine: Sequence[Segment]) -> Transfer | None:
    """What was new in each second, and what was sent again."""
    mine = [each for each in mine if each.octets]
    begin_s, end_s = mine[0].at_s, mine[-1].at_s
    if end_s - begin_s < 2 * SECOND_S:
        return None
    tops: dict[Flow, int] = {}
    fresh: Counter[int] = Counter()
    again: Counter[int] = Counter()
    octets: Counter[Flow] = Counter()
    sizes: Counter[int] = Counter()
    data_segments = 0
    for each in mine:
        second = int((each.at_s - begin_s) / SECOND_S)
        top = tops.get(each.flow)
        end = (each.number + each.octets) & 0xFFFFFFFF
        new = each.octets if top is None else min(each.octets, max(0, _ahead(end, top)))
        data_segments += 1
        sizes[each.octets] += 1
        fresh[second] += new
        octets[each.flow] += new
        if new == 0:
            again[second] += 1
        else:
            tops[each.flow] = end
    count = int((end_s - begin_s) / SECOND_S)
    seconds = tuple(Second(n * SECOND_S, (n + 1) * SECOND_S, fresh[n], again[n]) for n in range(count))
    took_s = end_s - begin_s
    return Transfer(
        goodput_bps=sum(octets.values()) * 8 / took_s,
        seconds=seconds,
        flows_bps=tuple(count * 8 / took_s for count in octets.values()),
        by_receiver=True,
        retransmits=sum(again.values()),
        segments=float(data_segments),
        mss_bytes=sizes.most_common(1)[0][0] if sizes.most_common(1)[0][0] <= 1460 else None,
    )


def _ahead(one: int, other: int) -> int:
    """By how much a sequence number is ahead of another, which may have wrapped around."""
    return ((one - other + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def _round_trips(segments: Sequence[Segment], flows: set[Flow]) -> list[float]:
    """From a segment that was sent once to the first ACK of its end (Karn's rule)."""
    waiting: dict[tuple[Flow, int], float] = {}
    again: set[tuple[Flow, int]] = set()
    tops: dict[Flow, int] = {}
    found = []
    for each in segments:
        if each.flow in flows and each.octets:
            end = (each.number + each.octets) & 0xFFFFFFFF
            key = (each.flow, end)
            if each.flow in tops and _ahead(end, tops[each.flow]) <= 0:
                again.add(key)
                waiting.pop(key, None)
            else:
                tops[each.flow] = end
                waiting[key] = each.at_s
        elif each.flags & ACK and _turned(each.flow) in flows:
            key = (_turned(each.flow), each.acked)
            if key in waiting and key not in again:
                found.append(each.at_s - waiting.pop(key))
    return found
