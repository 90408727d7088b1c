"""Events of schedules: did each come, and was the sender in the state that was waited for? Reads a file of the trial's
folder.

The agent decides when an event comes, and notes what the kernel had told it. Here that is decoded anew, by the decoder
of samples. Which links were how at which time then follows from the plan that was told when the events came, as for
a schedule with times. An event that never came makes a trial invalid: it did not test what its scenario says.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from ...codec.frozen import dataclass
from ...model.event import LOOK_NS, STATES, When, phases
from ...model.scenario import Trial
from ...model.schedule import Came
from ...plan.link.timeline import Event
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ..evidence.case import Case, Subject
from ..evidence.interval import TIMELINE
from ..observe import netlink
from ..observe.sample import TcpSample, tcp_sample
from ..result import EventResult, Finding
from ..workload.background import FIRST_PORT

INET_DIAG_BBRINFO = 16
INFINITE = 0x7FFFFFFF
SENDING = (1, 4, 8)
"""TCP_ESTABLISHED, TCP_FIN_WAIT1 and TCP_CLOSE_WAIT of linux/tcp_states.h."""
HINT = "look at timeline.jsonl"


@dataclass(frozen=True)
class Flow:
    """Where its sender is: a namespace, the IP version, and the port of its peer."""

    netns: str
    version: int
    port: int


@dataclass(frozen=True)
class Seen:
    """An event that came `at_ns` after the start, and what was told of the sender at `look_ns` of CLOCK_MONOTONIC: the
    `occurrence`-th time that it came into this state (0: not noted). One that `is_over` has closed, and all that it
    sent was acknowledged.
    """

    link: str
    place: int
    at_ns: int
    occurrence: int
    look_ns: int
    sender: TcpSample
    is_over: bool
    state: str
    phases: tuple[str, ...]


@dataclass(frozen=True)
class Waited:
    """An event that did not come, and at how many looks which state of the sender was seen."""

    link: str
    place: int
    seen: Mapping[str, int]


@dataclass(frozen=True)
class EventEvidence:
    """What came, in the order of time, and what did not; `ended` has when what came for a time was over, by link and
    place.
    """

    came: tuple[Seen, ...] = ()
    waiting: tuple[Waited, ...] = ()
    ended: Mapping[tuple[str, int], int] = field(default_factory=dict)


def watched(trial: Trial, plan: Plan, when: When) -> Flow:
    """The flow that an event is about; `check_events` has found that there is one."""
    if isinstance(when.flow, int):
        assert trial.workload.data_ports is not None, "BUG: a flow without ports"
        port = trial.workload.data_ports.destination[0] + when.flow
        return Flow(node_netns(trial.workload.source), plan.destination.version, port)
    number = [name for name, _ in trial.background].index(when.flow)
    path = plan.background[number]
    return Flow(node_netns(path.source), path.destination_ip.version, FIRST_PORT + number)


def came(folder: Path) -> dict[str, Came]:
    """When the events of each link came, by their places in its schedule."""
    found: dict[str, dict[int, int]] = {}
    for at_ns, note in _notes(folder):
        if "told" in note:
            found.setdefault(note["link"], {})[note["place"]] = at_ns
    return dict(found)


def _entries(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / TIMELINE).read_text().splitlines()]


def _notes(folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    return ((each["at_ns"], note) for each in _entries(folder) for note in each.get("events", ()))


def read(trial: Trial, plan: Plan, folder: Path) -> EventEvidence:
    if not plan.events:
        return EventEvidence()
    netns = {(each.link, each.place): watched(trial, plan, each.when).netns for each in plan.events}
    waits = (note for each in _entries(folder) for note in each.get("waiting", ()))
    return EventEvidence(
        tuple(_seen(at_ns, note, netns) for at_ns, note in _notes(folder) if "told" in note),
        tuple(Waited(note["link"], note["place"], note["seen"]) for note in waits),
        {(note["link"], note["place"]): at_ns for at_ns, note in _notes(folder) if "told" not in note},
    )


def _seen(at_ns: int, note: Mapping[str, Any], netns: Mapping[tuple[str, int], str]) -> Seen:
    body, place = bytes.fromhex(note["told"]), (note["link"], note["place"])
    sender = tcp_sample(note["look_ns"], netns.get(place, ""), body)
    bbr = netlink.attributes(body[72:]).get(INET_DIAG_BBRINFO)
    gains = None if bbr is None else struct.unpack_from("=II", bbr, 12)
    cwnd, ssthresh = (sender.info[name] for name in ("snd_cwnd", "snd_ssthresh"))
    known = phases(int(cwnd or 0), INFINITE if ssthresh is None else int(ssthresh), gains)
    is_over = body[1] not in SENDING
    state = STATES[int(sender.info["ca_state"] or 0)]
    return Seen(*place, at_ns, note.get("occurrence", 0), note["look_ns"], sender, is_over, state, known)


def missing(case: Case, seen: EventEvidence) -> Iterator[str]:
    """Of each event either that it came, or that it was waited for to the end."""
    told = [*((each.link, each.place) for each in seen.came), *((each.link, each.place) for each in seen.waiting)]
    for each in case.plan.events:
        if told.count((each.link, each.place)) != 1 and case.evidence.timeline is not None:
            yield f"what became of the event {each.place + 1} of {each.link}"


def check(case: Case, seen: EventEvidence) -> Iterator[Finding]:
    asked = {(each.link, each.place): each for each in case.plan.events}
    for each in seen.came:
        event = asked.get((each.link, each.place))
        if event is None:
            yield _found(f"{each.link}: an event came that nobody asked for")
        else:
            yield Finding("event", "valid", f"{_where(event)} came at {each.at_ns / 1e9:g} s", f"in {_state(each)}")
            yield from (_found(f"{_where(event)}: {what}") for what in _wrong(case, event, each))
    for waited in seen.waiting:
        if (event := asked.get((waited.link, waited.place))) is not None:
            yield _never(event, waited, seen)
    yield from (_found(f"{link}: {what}") for link, what in _disorder(case, seen))


def _where(event: Event) -> str:
    return f"{event.link}: the change when {event.when.words}"


def _found(what: str, hint: str = HINT) -> Finding:
    return Finding("event", "invalid", what, hint)


def _never(event: Event, waited: Waited, seen: EventEvidence) -> Finding:
    """The first of a link that did not come was waited for; those behind it were not."""
    before = [each.place for each in seen.waiting if each.link == event.link and each.place < event.place]
    if before:
        return _found(f"{_where(event)} never came", "the one before it did not come, or was not over")
    most = sorted(waited.seen.items(), key=lambda pair: -pair[1])
    looks = ", ".join(f"{name.replace(' ', '/')} {count}" for name, count in most) or "no sender at all"
    hint = f"the trial did not test what its scenario says; it was, at looks of {LOOK_NS / 1e6:g} ms: {looks}"
    return _found(f"{_where(event)} never came", hint)


def _wrong(case: Case, event: Event, each: Seen) -> Iterator[str]:
    """What speaks against an event that came: its time, its socket, and what that told."""
    flow, timeline = watched(case.trial, case.plan, event.when), case.evidence.timeline
    assert timeline is not None, "BUG: an event without a timeline"
    if each.at_ns % LOOK_NS or each.at_ns < event.change.at_ns:
        yield f"it came at {each.at_ns / 1e9:g} s, which is no time for it"
    if not 0 <= each.look_ns - timeline.start_ns - each.at_ns <= LOOK_NS:
        yield f"the sender was looked at {each.look_ns} ns, and it came at {timeline.start_ns + each.at_ns} ns"
    if each.sender.destination_port != flow.port:
        yield f"the socket that was looked at sends to port {each.sender.destination_port}, the flow to {flow.port}"
    if not each.sender.info["data_segs_out"]:
        yield "it came before the sender had sent anything"
    if each.occurrence != event.when.occurrence:
        yield f"it came at time {each.occurrence} of this state, asked was time {event.when.occurrence}"
    if each.is_over:
        yield "it came when the flow was over"
    if not event.when.holds(each.state, each.phases):
        yield f"it came when the sender was in {_state(each)}"


def _state(each: Seen) -> str:
    return " ".join((each.state, *each.phases))


def _disorder(case: Case, seen: EventEvidence) -> Iterator[tuple[str, str]]:
    """Those of a link come one after the other, each once the one before it is over."""
    for_ns = {(each.link, each.place): each.change.for_ns for each in case.plan.events}
    last: dict[str, tuple[int, int]] = {}
    for each in seen.came:
        place, over_ns = last.get(each.link, (-1, -1))
        if each.place != place + 1 or each.at_ns <= over_ns:
            yield each.link, f"the event {each.place + 1} came at {each.at_ns / 1e9:g} s, out of its turn"
        last[each.link] = each.place, each.at_ns + (for_ns.get((each.link, each.place)) or 0)
    for (link, place), at_ns in seen.ended.items():
        began = [each.at_ns for each in seen.came if (each.link, each.place) == (link, place)]
        if at_ns not in [begin_ns + (for_ns.get((link, place)) or 0) for begin_ns in began]:
            yield link, f"the event {place + 1} ended at {at_ns / 1e9:g} s, which is not its time"


def result(case: Case, seen: EventEvidence) -> tuple[EventResult, ...]:
    by_place = {(each.link, each.place): each for each in seen.came}
    return tuple(_result(each, by_place.get((each.link, each.place)), seen) for each in case.plan.events)


def _result(event: Event, each: Seen | None, seen: EventEvidence) -> EventResult:
    if each is None:
        return EventResult(event.link, event.place + 1, event.when.words)
    until_ns = seen.ended.get((event.link, event.place))
    return EventResult(
        *(event.link, event.place + 1, event.when.words, each.at_ns / 1e9),
        *(None if until_ns is None else until_ns / 1e9, each.state, each.phases[-1] if each.phases else None),
    )


EVENTS: Subject[EventEvidence] = Subject(
    name="schedule_events",
    kind=EventEvidence,
    read=read,
    missing=missing,
    checks=(check,),
    result=result,
    field="schedule_events",
)
