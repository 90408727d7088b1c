"""Open vSwitch and its controllers: did they do what they were asked? Their flow tables, port counters and events are
dumped before the workload and after it. Reads files of a trial's folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from ...codec.frozen import dataclass
from ...kernel import guest_file
from ...kernel.guest_file import ERRORS_BYTES
from ...model.openflow import VERSIONS
from ...model.scenario import Trial
from ...model.topology import Node, Topology
from ...plan.command import PREFIX
from ...plan.network import Plan
from ...plan.node import control_channel
from ...plan.node.control_channel import OVS_FOLDER, Channel
from ...plan.step import Location, Run
from ..evidence.case import Case, Subject, When
from ..observe.process_state import is_alive
from ..result import ControllerResult, Finding, SdnResult, SwitchResult

LOOKS = ("before", "after")
SPOKEN = "OpenFlow13"
DUMPS: dict[str, tuple[str, ...]] = {
    "flows": ("ovs-ofctl", "-O", SPOKEN, "dump-flows", "br0"),
    "ports": ("ovs-ofctl", "-O", SPOKEN, "dump-ports", "br0"),
    "datapath": ("ovs-appctl", "dpctl/show"),
    "controllers": ("ovs-vsctl", "--format=json", "--columns=is_connected", "list", "controller"),
    "version": ("ovs-appctl", "version"),
}
"""The commands that query each switch, before the workload and after it."""

LIMITED = {"protocols": ("ovs-vsctl", "get", "bridge", "br0", "protocols")}
"""Of a switch whose controller says which versions of OpenFlow it offers."""

TOLD_BACK = ("events.jsonl", "packet-ins", "monitor.jsonl")
"""The files that a controller writes; it may be killed before it writes any."""

TOLD_MAX = 20
"""Of so many controllers it is said what they complained of, where a trial fails."""

TRACEBACK = "Traceback (most recent call last)"
"""How Python begins to tell of an exception."""

NOT_STARTED = re.compile(r"the app does not start: .*")
"""What a controller says first of an app that fails as soon as it is there."""

STATE = "state"
"""The file with the State line of /proc/PID/status; empty if the process is gone."""

LOOKED_UP, MANY = 0.5, 10
"""At least this share of the packets of its ports, but for so many, an Open vSwitch looks up."""
MOST = 1e15
"""No trial has so many packets or bytes."""

SHOWN = 3
"""At most so many errors of a controller become findings; its events have all of them."""

KINDS = {"system": "kernel", "netdev": "user"}
PORT_KEYS = ("rx_packets", "rx_bytes", "rx_dropped", "rx_errors", "tx_packets", "tx_bytes", "tx_dropped", "tx_errors")
RX = re.compile(r"port +(\S+): rx pkts=(\S+), bytes=(\S+), drop=(\S+), errs=(\S+),")
TX = re.compile(r"tx pkts=(\S+), bytes=(\S+), drop=(\S+), errs=(\S+),")


@dataclass(frozen=True)
class ControllerEvidence:
    """One controller. `events` is its log, `packet_ins` counts the packets that each switch sent to it in the whole
    trial (of a program nobody counts them), `answers` are those to the monitor. `runs` says whether the process still
    ran at the end.
    """

    name: str
    events: tuple[Mapping[str, Any], ...]
    packet_ins: Mapping[str, int]
    answers: tuple[Mapping[str, Any], ...]
    runs: bool = True

    def texts(self, *kinds: str) -> tuple[str, ...]:
        return tuple(event["text"] for event in self.events if event["kind"] in kinds)


@dataclass(frozen=True)
class OpenFlowEvidence:
    """All switches, by name, and controllers, in file order."""

    switches: Mapping[str, SwitchResult] = field(default_factory=dict)
    controllers: tuple[ControllerEvidence, ...] = ()


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Run]:
    if when in ("before", "late"):
        yield from _dumps(trial.topology, LOOKS[when == "late"])
    if when == "last":
        yield from _told_back(plan)


def _dumps(topology: Topology, when: str) -> Iterator[Run]:
    """Queries every switch; `when` is one of LOOKS."""
    limited = {name: each for each in control_channel.channels(topology) for name in each.switches}
    for switch in control_channel.switches(topology):
        channel = limited.get(switch.name)
        asked = channel is not None and bool(channel.controller.versions)
        for kind, words in (DUMPS | LIMITED if asked else DUMPS).items():
            spoken = channel.version if asked and channel is not None else SPOKEN
            said = (spoken if word == SPOKEN else word for word in words)
            inside = ("env", f"OVS_RUNDIR={OVS_FOLDER}/{switch.name}", *said)
            where, out = Location(f"{PREFIX}{switch.name}"), _file(kind, switch.name, when)
            yield Run(inside, kind, where, out=out)


def _told_back(planned: Plan) -> Iterator[Run]:
    """Saves what the controllers wrote, and whether they still run."""
    for channel in planned.channels:
        state = ("sh", "-c", f'grep State: "/proc/$(cat {channel.folder}/pid)/status"')
        yield Run(state, "controller", out=_told_file(channel, STATE), may_fail=True)
        for name in TOLD_BACK:
            words = ("cat", f"{channel.folder}/{name}")
            yield Run(words, "controller", out=_told_file(channel, name), may_fail=True)


def read(trial: Trial, plan: Plan, folder: Path) -> OpenFlowEvidence:
    topology = trial.topology
    return OpenFlowEvidence(
        {switch.name: _switch(switch, topology, folder) for switch in control_channel.switches(topology)},
        tuple(_controller(channel, topology, folder) for channel in plan.channels),
    )


def failures(folder: Path) -> str:
    """The standard error of the controllers, as text, of each its end; empty if there is none."""
    return "\n".join(f"{name} said:\n{text}" for name, text in errors(folder).items())


def errors(folder: Path) -> dict[str, str]:
    """The standard error of each controller that has written any, its end, by "controller-NAME"."""
    found = {path.stem: _end(path) for path in sorted(folder.glob("controller-*.err"))[:TOLD_MAX]}
    return {name: text for name, text in found.items() if text}


def _end(path: Path) -> str:
    return guest_file.told(path, ERRORS_BYTES).strip()


def _file(kind: str, switch: str, when: str) -> str:
    return f"{kind}-{switch}-{when}.txt"


def _told_file(channel: Channel, name: str) -> str:
    return f"controller-{channel.name}-{name}"


def _switch(switch: Node, topology: Topology, folder: Path) -> SwitchResult:
    def texts(kind: str) -> tuple[str, str]:
        first, last = ((folder / _file(kind, switch.name, when)).read_text() for when in LOOKS)
        return first, last

    ports_before, ports_after = map(ports, texts("ports"))
    (datapath, *before), (_, *after) = map(lookups, texts("datapath"))
    flows_before, flows_after = map(flow_count, texts("flows"))
    has_one = control_channel.controller_of(topology, switch) is not None
    connected_before, connected_after = map(_is_connected, texts("controllers")) if has_one else (None, None)
    return SwitchResult(
        datapath=KINDS.get(datapath, datapath),
        version=texts("version")[0].splitlines()[0].split()[-1],
        flows_before=flows_before,
        flows_after=flows_after,
        ports={
            str(number): {key: last[key] - ports_before.get(number, {}).get(key, 0) for key in last}
            for number, last in ports_after.items()
        },
        hit_packets=after[0] - before[0],
        missed_packets=after[1] - before[1],
        lost_packets=after[2],
        connected_before=connected_before,
        connected_after=connected_after,
        protocols=_protocols(folder / _file("protocols", switch.name, LOOKS[1])),
    )


def _protocols(path: Path) -> tuple[str, ...] | None:
    return tuple(re.findall(r"OpenFlow\d+", path.read_text())) if path.exists() else None


def flow_count(text: str) -> int:
    """The entries of `ovs-ofctl dump-flows`."""
    return sum("actions=" in line for line in text.splitlines())


def ports(text: str) -> dict[int, dict[str, int]]:
    """The counters of `ovs-ofctl dump-ports`, by OpenFlow number, without the switch's own port. A counter that it does
    not have ("?") is 0.
    """
    counters = {}
    for rx, tx in zip(RX.finditer(text), TX.finditer(text), strict=True):
        name, *counts = (*rx.groups(), *tx.groups())
        if name.isdigit():
            counters[int(name)] = dict(zip(PORT_KEYS, (0 if n == "?" else int(n) for n in counts), strict=True))
    return counters


def lookups(text: str) -> tuple[str, int, int, int]:
    """The kind of the datapath, and how many packets it forwarded itself, asked ovs-vswitchd about, and lost."""
    match = re.search(r"^(\w+)@.*?lookups: hit:(\d+) missed:(\d+) lost:(\d+)", text, re.MULTILINE | re.DOTALL)
    if match is None:
        return "none", 0, 0, 0
    hit, missed, lost = map(int, match.groups()[1:])
    return match[1], hit, missed, lost


def _is_connected(text: str) -> bool:
    rows = json.loads(text)["data"]
    return bool(rows) and all(value for row in rows for value in row)


def _controller(channel: Channel, topology: Topology, folder: Path) -> ControllerEvidence:
    texts = {name: (folder / _told_file(channel, name)).read_text() for name in TOLD_BACK}
    numbers = {control_channel.dpid(topology, topology.node(name)): name for name in channel.switches}
    pairs = (line.split() for line in texts["packet-ins"].splitlines())
    counts = {int(dpid): int(count) for dpid, count in pairs}
    is_program = channel.controller.program is not None
    return ControllerEvidence(
        channel.name,
        tuple(_raised(channel, folder) if is_program else map(json.loads, texts["events.jsonl"].splitlines())),
        {} if is_program else {name: counts.get(dpid, 0) for dpid, name in numbers.items()},
        tuple(
            {**answer, "switch": numbers.get(answer["dpid"])}
            for answer in map(json.loads, texts["monitor.jsonl"].splitlines())
        ),
        is_alive((folder / _told_file(channel, STATE)).read_text()),
    )


def _raised(channel: Channel, folder: Path) -> Iterator[dict[str, Any]]:
    """The exceptions that a program wrote of, as events; when it did is not known."""
    for name in ("err", "out"):
        path = folder / f"controller-{channel.name}.{name}"
        text = _end(path) if path.exists() else ""
        at = text.find(TRACEBACK)
        if at >= 0:
            yield {"time_ns": 1, "kind": "exception", "text": text[at:][:ERRORS_BYTES]}


def result(case: Case, seen: OpenFlowEvidence) -> SdnResult | None:
    """Times count from the workload's start, or from that of the clock if the tool does not tell."""
    begin_ns = case.evidence.outcome.begin_ns or 0
    controllers = {each.name: _controller_result(each, begin_ns) for each in seen.controllers}
    return SdnResult(seen.switches, controllers) if seen.switches else None


def _controller_result(each: ControllerEvidence, start_ns: int) -> ControllerResult:
    return ControllerResult(
        packet_ins=dict(each.packet_ins),
        events=tuple(_timed(event, start_ns) for event in each.events),
        ports=tuple(_timed(answer, start_ns) for answer in each.answers if "ports" in answer),
        flows=tuple(_timed(answer, start_ns) for answer in each.answers if "flows" in answer),
    )


def _timed(event: Mapping[str, Any], start_ns: int) -> dict[str, Any]:
    rest = {key: value for key, value in event.items() if key != "time_ns"}
    return {"time_s": (event["time_ns"] - start_ns) / 1e9, **rest}


def missing(case: Case, seen: OpenFlowEvidence) -> Iterator[str]:
    switches = seen.switches
    controllers = {each.name: each for each in seen.controllers}
    for name, _ in case.plan.datapaths:
        ports = len(case.plan.book.ports_of(name))
        if name not in switches or len(switches[name].ports) < max(1, ports) or not switches[name].version:
            yield f"the Open vSwitch {name}"
    for channel in case.plan.channels:
        found = controllers.get(channel.name)
        counted = () if channel.controller.program is not None else channel.switches
        if found is None or not set(counted) <= found.packet_ins.keys():
            yield f"the controller {channel.name}"
        for switch in channel.switches if channel.controller.versions else ():
            if switch not in switches or not switches[switch].protocols:
                yield f"the versions of OpenFlow of {switch}"


def faults(case: Case, seen: OpenFlowEvidence) -> Iterator[str]:
    for name, each in seen.switches.items():
        yield from (f"the Open vSwitch {name}: {what}" for what in _switch_faults(each))
    for controller in seen.controllers:
        yield from (f"the controller {controller.name}: {what}" for what in _told_faults(controller, seen.switches))


def _switch_faults(each: SwitchResult) -> Iterator[str]:
    """Packets have bytes, and what ports receive is looked up. A switch has two ports and more on the way."""
    for number, counts in each.ports.items():
        if lacking := [key for key in PORT_KEYS if key not in counts]:
            yield f"missing: {', '.join(lacking)} of port {number}"
        elif any(bool(counts[f"{way}_packets"]) != bool(counts[f"{way}_bytes"]) for way in ("rx", "tx")):
            yield f"port {number} counts packets without bytes"
        elif min(counts.values()) < 0:
            yield f"port {number} counted backwards"
    received = sum(counts.get("rx_packets", 0) for counts in each.ports.values())
    looked_up = each.hit_packets + each.missed_packets
    if looked_up < received * LOOKED_UP - MANY:
        yield f"its ports received {received} packets, its datapath {looked_up}"
    if each.version and not each.version[0].isdigit():
        yield f"its version is {each.version}"


def _told_faults(each: ControllerEvidence, switches: Container[object]) -> Iterator[str]:
    """What a controller wrote is in the order of time, and about its switches."""
    for what, rows in (("events", each.events), ("answers", each.answers)):
        times = [row.get("time_ns") for row in rows]
        if any(type(time_ns) is not int or time_ns <= 0 for time_ns in times) or sorted(map(_int, times)) != times:
            yield f"the {what} are not in the order of time"
    for event in each.events:
        if not isinstance(event.get("kind"), str) or not event["kind"]:
            yield "an event is of no kind"
    for answer in each.answers:
        if answer.get("switch") not in switches or type(answer.get("dpid")) is not int or answer["dpid"] <= 0:
            yield f"an answer of the switch {answer.get('switch')}"
        if "ports" in answer:
            yield from _port_rows(answer["ports"])


def _port_rows(rows: Any) -> Iterator[str]:
    if not rows:
        yield "an answer without ports"
    for row in rows:
        numbers = [row.get(key) for key in ("port", *PORT_KEYS)]
        if any(type(number) is not int or not 0 <= number < MOST for number in numbers):
            yield f"an answer about a port says {numbers}"


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def datapath(case: Case, seen: OpenFlowEvidence) -> Iterator[Finding]:
    """Checks that each switch used the datapath that was asked, and that no packet for ovs-vswitchd was lost."""
    asked = dict(case.plan.datapaths)
    for name, each in seen.switches.items():
        if each.datapath != asked[name]:
            yield Finding(
                "datapath",
                "invalid",
                f"{name} was asked to use the datapath {asked[name]} and used {each.datapath}",
                "the kernel has no Open vSwitch: use datapath: user",
            )
        if each.lost_packets:
            yield Finding(
                "upcalls",
                "suspect",
                f"{name} lost {each.lost_packets} packets between its datapath and ovs-vswitchd",
                "the datapath had no flow for them: use a lower rate of new flows, or set up flows beforehand",
            )


def controllers(case: Case, seen: OpenFlowEvidence) -> Iterator[Finding]:
    found = {each.name: each for each in seen.controllers}
    for channel in case.plan.channels:
        yield from _app(channel, found[channel.name])
        yield from _versions(channel, seen.switches)
        mine = {name: seen.switches[name] for name in channel.switches}
        lost = [name for name, each in mine.items() if not (each.connected_before and each.connected_after)]
        is_gone = not found[channel.name].runs or any(each.connected_after is False for each in mine.values())
        if not lost and not is_gone:
            continue
        is_asked = _is_as_asked(channel, found[channel.name], mine.values())
        names = ", ".join(lost or channel.switches) or "any switch"
        yield Finding(
            "controller",
            "valid" if is_asked else "suspect",
            f"{channel.name} {'was gone' if is_gone else 'came late'} for {names}" + (", as asked" if is_asked else ""),
            "meanwhile the fail_mode of the switches decides on new packets"
            if is_asked
            else "the process ended, or its channel loses too many packets: look at its events",
        )


def _is_as_asked(channel: Channel, found: ControllerEvidence, switches: Collection[SwitchResult]) -> bool:
    """Whether a controller that starts late or is killed was there before the workload, and after it, as it should."""
    controller = channel.controller
    stays = controller.stop_ns is None
    looks = [(each.connected_before, controller.start_ns is None) for each in switches]
    looks += [(each.connected_after, stays) for each in switches]
    return found.runs >= stays and all(was is not None and was >= wanted for was, wanted in looks)


def _versions(channel: Channel, switches: Mapping[str, SwitchResult]) -> Iterator[Finding]:
    """A switch that offers others might speak another one with its controller."""
    asked = tuple(VERSIONS[each] for each in channel.controller.versions)
    for name in channel.switches if asked else ():
        offered = switches[name].protocols or ()
        if sorted(offered) != sorted(asked):
            yield Finding(
                "controller",
                "invalid",
                f"{name} was asked to offer {', '.join(asked)} and offered {', '.join(offered) or 'nothing'}",
                "something changed the protocols of its bridge",
            )


def _app(channel: Channel, seen: ControllerEvidence) -> Iterator[Finding]:
    app = channel.controller.app
    for text in seen.texts("exception")[:SHOWN]:
        yield Finding(
            "controller",
            "invalid",
            f"{channel.name} ({app}) had an exception: {text.strip()}",
            "the app did not do its work: fix it",
        )
    for text in seen.texts("error", "refused")[:SHOWN]:
        yield Finding(
            "controller",
            "suspect",
            f"{channel.name} ({app}) had an error: {text.strip()}",
            "a rule of the app may be missing in a switch",
        )


OPENFLOW = Subject(
    name="openflow",
    kind=OpenFlowEvidence,
    read=read,
    steps=steps,
    missing=missing,
    faults=faults,
    checks=(controllers, datapath),
    result=result,
    field="sdn",
)
