"""Events: looks at TCP senders of this kernel until one is in the state in which a link is to change.

A look asks the kernel for the sockets with one port of their peers (sock_diag with TCP_INFO, and what a control tells
of itself).  The numbers are those of linux/sock_diag.h, inet_diag.h and tcp.h; the phases of BBR follow from its gains
as `testbed.model.event` says, by which whoever judges the trial decodes the answer again.
"""

from __future__ import annotations

import socket
import struct

MYPY = False
if MYPY:
    from collections.abc import Callable, Iterator
    from typing import Any

    Step = dict[str, Any]

LOOK_NS = 1_000_000
SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, NLM_F_DUMP, NLMSG_ERROR, NLMSG_DONE = 20, 1, 0x300, 2, 3
NETLINK_SOCK_DIAG, ANSWER_BYTES = 4, 1 << 18
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
SENDING = 1 << 1 | 1 << 4 | 1 << 8
"""ESTABLISHED, FIN_WAIT1, CLOSE_WAIT: the states in which a socket can still have data to send."""
INFO, VEGASINFO, CONG, BBRINFO = 2, 3, 4, 16
ASKED = 1 << (INFO - 1) | 1 << (VEGASINFO - 1) | 1 << (CONG - 1)
"""Who asks for Vegas' numbers gets those of any control that tells some: there are eight bits, and BBR's is beyond."""
HEADER, MESSAGE_BYTES = struct.Struct("=IHHII"), 72
STATES = ("open", "disorder", "cwr", "recovery", "loss")
UNIT = 256
"""A gain of 1."""


class Senders:
    """The sockets of a namespace with one port of their peers. The process is in that namespace when this is made. Of
    one that is `alone` the kernel is asked by its name once it is known, which takes half of the time.
    """

    def __init__(self, version: int, port: int, *, alone: bool) -> None:
        self.alone, self.one = alone, b""
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
        self.socket.connect((0, 0))
        self.head = struct.pack("=BBBBI", FAMILIES[version], socket.IPPROTO_TCP, ASKED, 0, SENDING)
        self.all = self.request(struct.pack("!HH", 0, port) + bytes(44), NLM_F_DUMP)

    def request(self, name: bytes, flags: int = 0) -> bytes:
        """For the socket with this struct inet_diag_sockid, or those that have what is not 0 in it."""
        body = self.head + name
        return HEADER.pack(HEADER.size + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | flags, 0, 0) + body

    def look(self) -> Iterator[tuple[bytes, dict[int, bytes]]]:
        """What the kernel says of each socket that has sent data, with its attributes: before that it is in no state
        that means anything.
        """
        if self.one:
            self.socket.send(self.one)
            answer = self.socket.recv(ANSWER_BYTES)
            length, kind = HEADER.unpack_from(answer)[:2]
            if kind != NLMSG_ERROR:
                told = answer[HEADER.size : length]
                if SENDING >> told[1] & 1:  # who asks by name is told of one that is over, too
                    yield told, attributes(told[MESSAGE_BYTES:])
                return
            self.one = b""
        for told in self.each():
            found = attributes(told[MESSAGE_BYTES:])
            if has_sent(found):
                self.one = self.request(told[4:52]) if self.alone else b""
                yield told, found

    def each(self) -> Iterator[bytes]:
        self.socket.send(self.all)
        while True:
            answer, at = self.socket.recv(ANSWER_BYTES), 0
            while at + HEADER.size <= len(answer):
                length, kind = HEADER.unpack_from(answer, at)[:2]
                if kind == NLMSG_DONE:
                    return
                if kind == NLMSG_ERROR:
                    raise OSError(-struct.unpack_from("=i", answer, at + HEADER.size)[0], "the kernel tells no sockets")
                yield answer[at + HEADER.size : at + length]
                at += (length + 3) & ~3


def attributes(data: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[at + 4 : at + length]
        at += (length + 3) & ~3
    return found


def has_sent(found: dict[int, bytes]) -> bool:
    (segments,) = struct.unpack_from("=I", found[INFO], 156)
    return bool(segments)


def state_of(found: dict[int, bytes]) -> tuple[str, tuple[str, ...]]:
    """TCP's state of recovery, and the phases of the congestion control, by a socket's attributes."""
    info, bbr = found[INFO], found.get(BBRINFO)
    ssthresh, cwnd = struct.unpack_from("=II", info, 76)
    if bbr is None:
        return STATES[info[1]], ("slow_start",) if cwnd < ssthresh else ("avoidance",)
    return STATES[info[1]], phases_of(*struct.unpack_from("=II", bbr, 12))


def phases_of(pacing: int, window: int) -> tuple[str, ...]:
    """Those of BBR by its gains, of which 0 are of one that has not begun."""
    if not pacing or not window:
        return ()
    if pacing >= 2 * UNIT or pacing <= UNIT // 2:
        return ("startup" if pacing > UNIT else "drain",)
    if window <= UNIT:
        return ("probe_rtt",)
    return ("probe_bw",) if pacing == UNIT else ("probe_bw", "probe_up" if pacing > UNIT else "probe_down")


class Waiting:
    """One event that is waited for: how often its state came, and what was seen at how many looks."""

    def __init__(self, event: Step, senders: Senders) -> None:
        self.event, self.senders = event, senders
        self.came, self.was_there = 0, False
        self.seen: dict[str, int] = {}

    def look(self) -> bytes | None:
        """What the kernel said of the socket that makes it come now; None if none does."""
        there = None
        for told, found in self.senders.look():
            state, phases = state_of(found)
            name = " ".join((state, *phases))
            self.seen[name] = self.seen.get(name, 0) + 1
            states, wanted = self.event["states"], self.event["phases"]
            if (not states or state in states) and (not wanted or any(phase in wanted for phase in phases)):
                there = told
        if there is not None and not self.was_there:
            self.came += 1
        self.was_there = there is not None
        return there if self.came == self.event["occurrence"] else None


class Chain:
    """The events of one link, one after the other; a change ends before the next one is waited for."""

    def __init__(self, events: list[Step], senders: Callable[[Step], Senders]) -> None:
        self.left = [Waiting(each, senders(each)) for each in events]
        self.end: tuple[int, Step] | None = None
        self.from_ns = 0

    def next_ns(self) -> int | None:
        """When it does something; None if nothing is left."""
        if self.end is not None:
            return self.end[0]
        if not self.left:
            return None
        least: int = max(self.from_ns, self.left[0].event["after_ns"])
        return -(-least // LOOK_NS) * LOOK_NS

    def act(self, at_ns: int, now_ns: Callable[[], int]) -> tuple[list[Step], Step | None]:
        """The steps that are due at this time, and what to note of it."""
        if self.end is not None:
            event, self.end, self.from_ns = self.end[1], None, at_ns + 1
            return event["ending"], {"link": event["link"], "place": event["place"], "ended": True}
        waiting, self.from_ns = self.left[0], at_ns + 1
        told, look_ns = waiting.look(), now_ns()
        if told is None:
            return [], None
        event = self.left.pop(0).event
        if event["for_ns"] is not None:
            self.end = at_ns + event["for_ns"], event
        note = {"link": event["link"], "place": event["place"], "occurrence": waiting.came}
        return event["steps"], {**note, "look_ns": look_ns, "told": told.hex()}

    def waits(self) -> Iterator[Step]:
        for each in self.left:
            yield {"link": each.event["link"], "place": each.event["place"], "seen": each.seen}


def chains(events: list[Step], enter: Callable[[str | None], None], leave: Callable[[], None]) -> list[Chain]:
    """A chain for each link. `enter` goes into a namespace, `leave` back."""

    def senders(event: Step) -> Senders:
        enter(event["netns"])
        try:
            return Senders(event["version"], event["port"], alone=event["alone"])
        finally:
            leave()

    by_link: dict[str, list[Step]] = {}
    for each in events:
        by_link.setdefault(each["link"], []).append(each)
    return [Chain(each, senders) for each in by_link.values()]
