"""Routing daemons: did they run, have their neighbours, and put their routes into the kernel; do the data go where the
plan looks for them? They and the kernel are asked before the workload and after it; every change of a route while it
runs is kept. Reads files of a trial's folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, TypeAlias

from ...agent.routing import await_routes
from ...codec.frozen import dataclass
from ...kernel.guest import TrialError
from ...model import data_path as paths
from ...model.address import Port
from ...model.link.impairment import Way
from ...model.route import next_hop
from ...model.scenario import Trial
from ...model.topology import Topology
from ...plan.link import fault
from ...plan.link.stage import Emulator
from ...plan.network import Plan
from ...plan.node import frr
from ...plan.node.frr import FRR_FOLDER, vtysh_words
from ...plan.node.namespace import node_netns
from ...plan.step import Location, Run, Step, Stop
from ..evidence.case import Case, Subject, When
from ..observe.process_state import is_alive
from ..result import Finding, RouteChange, RouterResult
from .filter import FILTERS

SCRIPT = "await_routes.py"
CONVERGED, CLOCK = "routing-converged.txt", "routing-clock.txt"
SHOW = {
    "routes": "show ip route json",
    "ospf": "show ip ospf neighbor json",
    "bgp": "show bgp ipv4 unicast summary json",
    "rip": "show ip rip status",
}
"""What each daemon is asked; `routes` is zebra's."""
OF_DAEMON = {"ospfd": "ospf", "bgpd": "bgp", "ripd": "rip"}
KERNEL, DAEMONS = "kernel", "daemons"
NOW = "import time; print(time.time_ns() - time.monotonic_ns())"

Routes: TypeAlias = Mapping[str, frozenset[tuple[str, str]]]
"""Networks, each with its next hops: address and device."""

KERNELS_OWN, OF_SETUP = "2", ("3", "4")
"""Protocols of routes (linux/rtnetlink.h): of connected networks; of the commands of a plan."""
NOT_INSTALLED = ("connected", "kernel", "local")
"""What zebra calls routes that it only learnt from the kernel."""

STAMP = re.compile(r"^\[(\d+-\d+-\d+T\d+:\d+:\d+\.\d{6})\] (.*)$")

LOG = "look at its log: testbed up, then testbed logs ROUTER"
SHOWN = 5


@dataclass(frozen=True)
class Look:
    """A router at one moment. `running` are its daemons that run; `neighbours` maps protocol to address to whether
    it is there, None if the daemon did not say. `routes` are those that FRR says it installed (None: it did not say),
    `kernel` those that the kernel has from daemons.
    """

    running: tuple[str, ...]
    neighbours: Mapping[str, Mapping[str, bool] | None]
    routes: Routes | None
    kernel: Routes


@dataclass(frozen=True)
class RouterEvidence:
    """One router, before the workload and after it. `changes` are pairs (ns of CLOCK_MONOTONIC, what `ip` said)."""

    name: str
    before: Look
    after: Look
    changes: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class RoutingEvidence:
    """All routers with daemons, in file order; `waited_ns` is how long it took until all was known (None: unasked)."""

    routers: tuple[RouterEvidence, ...] = ()
    waited_ns: int | None = None
    knowledge: Mapping[str, frr.Knowledge] = field(default_factory=dict)


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    if when == "settled":
        yield from _awaits(trial.topology, plan)
    if when in ("before", "late"):
        yield from _asks(trial.topology, plan, "before" if when == "before" else "after")
    if when == "watching":
        yield from _watches(trial.topology)
    if when == "ending":
        yield from _stops(trial.topology)


def _file(router: str, what: str, when: str) -> str:
    return f"routing-{router}-{what}-{when}.txt"


def _changes_file(router: str) -> str:
    return f"routing-{router}-changes.txt"


def _converged_file(number: int) -> str:
    """Of each wait, one after the other."""
    return CONVERGED if not number else f"routing-converged-{number}.txt"


def _awaits(topology: Topology, plan: Plan) -> Iterator[Step]:
    """Waits for the routers that are to be waited for, each kind of patience by itself, the shortest first."""
    every = {each.router: each for each in frr.knowledge(topology, plan.book)}
    limits = {node.name: each.within_ns for node, each in frr.routers(topology)}
    for number, limit_ns in enumerate(sorted({limit for limit in limits.values() if limit is not None})):
        wanted = [asdict(each) for name, each in every.items() if limits[name] == limit_ns]
        words = ("python3", f"/run/tools/{SCRIPT}", FRR_FOLDER, f"{limit_ns / 1e9:g}")
        yield Run(words, "routing", stdin=json.dumps(wanted), out=_converged_file(number))


def _asks(topology: Topology, plan: Plan, when: str) -> Iterator[Step]:
    """Asks every router, and the kernel, for routes; every daemon for its neighbours, and whether it runs."""
    for node, each in frr.routers(topology):
        where = Location(node_netns(node.name))
        running = frr.daemons(frr.config(node, each, topology, plan.book))
        for what in ("routes", *(OF_DAEMON[name] for name in running if name in OF_DAEMON)):
            words = vtysh_words(node.name, "-c", SHOW[what])
            yield Run(words, "routing", where, out=_file(node.name, what, when), may_fail=True)
        kernel = ("ip", "-N", "-json", "-4", "route", "show")
        yield Run(kernel, "routing", where, out=_file(node.name, KERNEL, when))
        pids = " ".join(f"{FRR_FOLDER}/{node.name}/{name}.pid" for name in running)
        state = f'for f in {pids}; do echo "$f $(grep State: /proc/$(cat $f)/status)"; done'
        yield Run(("sh", "-c", state), "routing", out=_file(node.name, DAEMONS, when), may_fail=True)


def _watches(topology: Topology) -> Iterator[Step]:
    """Writes every change of a route while the workload runs, with the wall clock's time, and how far that is ahead."""
    routers = frr.routers(topology)
    if routers:
        yield Run(("python3", "-c", NOW), "routing", out=CLOCK)
    for node, _ in routers:
        words = ("env", "TZ=UTC", "ip", "-ts", "-4", "monitor", "route")
        out, name = _changes_file(node.name), f"routes-{node.name}"
        yield Run(words, "routing", Location(node_netns(node.name)), out=out, background=name)


def _stops(topology: Topology) -> Iterator[Step]:
    for node, _ in frr.routers(topology):
        yield Stop(f"routes-{node.name}")


def detours(trial: Trial, plan: Plan) -> Iterator[tuple[tuple[Emulator, Way], ...]]:
    """The emulators, each with the direction of the pass, on the data paths that daemons find while links are down."""
    for detour in () if plan.data_path is None else paths.detours(trial.topology, plan.book, plan.data_path):
        found = ((plan.emulator(hop.link.name), hop.way) for hop in detour.path)
        yield tuple((each, way) for each, way in found if each is not None)


def read(trial: Trial, plan: Plan, folder: Path) -> RoutingEvidence:
    """Raises TrialError for outputs that make no sense."""
    named = {each.router: each for each in frr.knowledge(trial.topology, plan.book)}
    if not named:
        return RoutingEvidence()
    try:
        ahead_ns = int((folder / CLOCK).read_text())
        limits = {about.within_ns for _, about in frr.routers(trial.topology) if about.within_ns is not None}
        waited = [int((folder / _converged_file(number)).read_text()) for number in range(len(limits))]
        each = tuple(_router(node.name, folder, ahead_ns) for node, _ in frr.routers(trial.topology))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrialError(f"what routers said makes no sense: {error!r}") from None
    return RoutingEvidence(each, sum(waited) if waited else None, named)


def _router(name: str, folder: Path, ahead_ns: int) -> RouterEvidence:
    before, after = (_look(name, when, folder) for when in ("before", "after"))
    lines = (folder / _changes_file(name)).read_text().splitlines()
    return RouterEvidence(name, before, after, tuple(_changes(lines, ahead_ns)))


def _look(name: str, when: str, folder: Path) -> Look:
    def text(what: str) -> str | None:
        path = folder / _file(name, what, when)
        return path.read_text() if path.exists() else None

    neighbours: dict[str, Mapping[str, bool] | None] = {}
    for what in OF_DAEMON.values():
        said = text(what)
        if said is not None:
            found = said if what == "rip" else _json(said)
            is_answer = "Sending updates" in said if what == "rip" else found is not None
            neighbours[what] = await_routes.neighbours(what, found) if is_answer else None
    routes = _json(text("routes") or "")
    return Look(
        running=tuple(_running(text(DAEMONS) or "", name)),
        neighbours=neighbours,
        routes=None if routes is None else _installed(routes),
        kernel=_of_kernel(json.loads(text(KERNEL) or "")),
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _running(text: str, name: str) -> Iterator[str]:
    """A line for each daemon: its file, and the State of its process; without one, and as a zombie, it is dead."""
    prefix = f"{FRR_FOLDER}/{name}/"
    for line in text.splitlines():
        file, _, state = line.partition(" ")
        if is_alive(state):
            yield file.removeprefix(prefix).removesuffix(".pid")


def _installed(routes: Mapping[str, Any]) -> Routes:
    return {
        network: frozenset((hop.get("ip", ""), hop["interfaceName"]) for hop in one["nexthops"] if hop.get("fib"))
        for network, several in routes.items()
        for one in several
        if one.get("selected") and one.get("installed") and one["protocol"] not in NOT_INSTALLED
    }


def _of_kernel(routes: list[Mapping[str, Any]]) -> Routes:
    found: dict[str, frozenset[tuple[str, str]]] = {}
    for one in routes:
        if str(one.get("protocol", "3")) not in (KERNELS_OWN, *OF_SETUP) and "type" not in one:
            to = "0.0.0.0/0" if one["dst"] == "default" else str(ip_network(one["dst"]))
            hops = one.get("nexthops") or [one]
            found[to] = frozenset((hop.get("gateway", ""), hop.get("dev", "")) for hop in hops)
    return found


def _changes(lines: list[str], ahead_ns: int) -> Iterator[tuple[int, str]]:
    """A change of several lines (more than one next hop) is one."""
    at_ns, said = 0, ""
    for line in lines:
        stamp = STAMP.match(line)
        if stamp is None:
            said = f"{said} {line.strip()}"
            continue
        if said:
            yield at_ns, said
        moment = datetime.fromisoformat(stamp[1]).replace(tzinfo=UTC)
        since = moment - datetime.fromtimestamp(0, UTC)
        at_ns = (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000 - ahead_ns
        said = stamp[2].strip()
    if said:
        yield at_ns, said


def result(case: Case, seen: RoutingEvidence) -> dict[str, RouterResult]:
    """Routers with daemons, then those that have rules only. Times count from the start, or from that of the clock."""
    found = {each.name: _result(each, seen.waited_ns, case.start_ns or 0) for each in seen.routers}
    for each in case.of(FILTERS):
        met = {f"{where}: {text}": packets for where, text, packets in each.met}
        found[each.name] = replace(found.get(each.name, RouterResult()), rules=met)
    return found


def _result(each: RouterEvidence, waited_ns: int | None, begin_ns: int) -> RouterResult:
    return RouterResult(
        waited_s=None if waited_ns is None else waited_ns / 1e9,
        neighbours_before=_there(each.before),
        neighbours_after=_there(each.after),
        routes={network: _words(hops) for network, hops in sorted((each.after.routes or {}).items())},
        changes=tuple(RouteChange((at_ns - begin_ns) / 1e9, what) for at_ns, what in each.changes),
    )


def _there(look: Look) -> tuple[str, ...]:
    return tuple(f"{name} {to}" for name, found in look.neighbours.items() for to, ok in (found or {}).items() if ok)


def _words(hops: frozenset[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(sorted(f"{via} {device}".strip() for via, device in hops))


def ran(case: Case, seen: RoutingEvidence) -> Iterator[Finding]:
    """Every daemon, before the workload and after it, and every router that the plan has."""
    told = {each.name: each for each in seen.routers}
    for node, each in frr.routers(case.trial.topology):
        asked = frr.daemons(frr.config(node, each, case.trial.topology, case.plan.book))
        if node.name not in told:
            yield Finding("routing", "invalid", f"nothing is known of the daemons of {node.name}", LOG)
            continue
        for when, look in _looks(told[node.name]):
            dead = [name for name in asked if name not in look.running]
            for daemon in dead:
                yield Finding("routing", "invalid", f"{daemon} of {node.name} did not run {when} the workload", LOG)
            if look.routes is None and not dead:
                yield Finding("routing", "invalid", f"zebra of {node.name} did not say its routes {when} it", LOG)


def neighbours(case: Case, seen: RoutingEvidence) -> Iterator[Finding]:
    """Neighbours before the workload if the trial was to wait for them; after it, but for links that are down then."""
    waits = {node.name: each.within_ns is not None for node, each in frr.routers(case.trial.topology)}
    down = _down_at_end(case.plan)
    touched = {link.name for link in case.trial.topology.links if link.schedule}
    for router in seen.routers:
        wanted = seen.knowledge[router.name]
        for when, look in _looks(router):
            if when == "before" and not waits[router.name]:
                continue
            if not wanted.is_told:
                yield from _as_they_say(router.name, when, look, is_changed=bool(touched))
            for protocol, several in wanted.neighbours.items():
                there = look.neighbours.get(protocol) or {}
                for address, node in several:
                    links = _links(case.plan, router.name, node)
                    if there.get(address) or (when == "after" and links & down):
                        continue
                    is_soft = when == "after" and bool(links & touched)
                    what = f"{router.name} had no {protocol.upper()} neighbour {address} ({node}) {when} the workload"
                    yield Finding("routing", "suspect" if is_soft else "invalid", what, LOG)


def installed(case: Case, seen: RoutingEvidence) -> Iterator[Finding]:
    """FRR's own account of its routes and the kernel's are the same, hop by hop."""
    for router in seen.routers:
        for when, look in _looks(router):
            told = look.routes or {}
            differ = [each for each in sorted({*told, *look.kernel}) if told.get(each) != look.kernel.get(each)]
            for network in differ[:SHOWN]:
                yield Finding(
                    "routing",
                    "invalid",
                    f"{router.name}: {network}: FRR says {_hops(told, network)} {when} the workload, "
                    f"the kernel has {_hops(look.kernel, network)}",
                    "somebody else changes routes",
                )


def way(case: Case, seen: RoutingEvidence) -> Iterator[Finding]:
    """Before the workload, the routers send the data and their answers over the links that the other checks look at."""
    waits = {node.name for node, each in frr.routers(case.trial.topology) if each.within_ns is not None}
    found = {each.name: each for each in seen.routers if each.name in waits}
    for data_path in filter(None, (case.plan.data_path, case.plan.upstream, *case.plan.background)):
        ways = ((data_path.path, data_path.destination_ip), (data_path.answers, data_path.source_ip))
        for hops, to in ways:
            passed = dict.fromkeys(end for hop in hops for end in hop.link.ends if end in found)
            for name in passed:
                port, via = next_hop(case.trial.topology, case.plan.book, name, to)
                if port is None or via is None or to in _own(case.plan, name) or _is_connected(port, str(to)):
                    continue
                yield from _goes(name, found[name].before.kernel, str(to), port, via)


def changed(case: Case, seen: RoutingEvidence) -> Iterator[Finding]:
    """A note: when the last route changed while the workload ran."""
    moved = [(at_ns, each.name) for each in seen.routers for at_ns, _ in each.changes]
    begin_ns = case.start_ns
    if moved and begin_ns is not None:
        at_ns, name = max(moved)
        what = f"{len(moved)} changes of routes, the last at {name}, {(at_ns - begin_ns) / 1e9:.6f} s after the start"
        yield Finding("routing", "valid", what, "the result's `routers` have them all")


def _goes(name: str, routes: Routes, to: str, port: Port, via: Port) -> Iterator[Finding]:
    fits = [each for each in routes if ip_address(to) in ip_network(each)]
    hops = routes[max(fits, key=lambda each: ip_network(each).prefixlen)] if fits else frozenset[tuple[str, str]]()
    ours = {(str(address.ip), port.device) for address in via.addresses}
    if not ours & hops:
        what = f"{name} sends packets for {to} to {', '.join(sorted(hop[0] for hop in hops)) or 'nobody'}"
        hint = f"the checks look at the link to {via.node}: set the costs so that this is the shortest path"
        yield Finding("routing", "invalid", what, hint)
    elif hops - ours:
        what = f"{name} has {len(hops)} next hops for {to}, and the checks look at one"
        yield Finding("routing", "suspect", what, "set costs so that one path is the shortest")


def _as_they_say(name: str, when: str, look: Look, *, is_changed: bool) -> Iterator[Finding]:
    """Of a configuration of the user's: the neighbours that the daemons name are there, and there is one."""
    several = [(protocol, to, ok) for protocol, found in look.neighbours.items() for to, ok in (found or {}).items()]
    if look.neighbours and not several:
        verdict = "suspect" if is_changed else "invalid"
        yield Finding("routing", verdict, f"{name} had no neighbour {when} the workload", LOG)  # type: ignore[arg-type]
    for protocol, to, ok in several:
        if not ok:
            verdict = "suspect" if is_changed and when == "after" else "invalid"
            what = f"{name}: the {protocol.upper()} neighbour {to} was not there {when} the workload"
            yield Finding("routing", verdict, what, LOG)  # type: ignore[arg-type]


def _looks(router: RouterEvidence) -> tuple[tuple[str, Look], ...]:
    return (("before", router.before), ("after", router.after))


def _down_at_end(plan: Plan) -> frozenset[str]:
    """The links that a schedule leaves down."""
    return frozenset(e.link for e in plan.emulators for stage in e.stages if fault.is_down(stage.history[-1]))


def _links(plan: Plan, one: str, other: str) -> frozenset[str]:
    """The links by which two routers meet on a segment."""
    theirs = plan.book.interfaces_of(other)
    own = plan.book.interfaces_of(one)
    return frozenset(link for p in own for q in theirs if p.segment == q.segment for link in (p.link, q.link))


def _own(plan: Plan, name: str) -> set[object]:
    return {address.ip for port in plan.book.interfaces_of(name) for address in port.addresses}


def _is_connected(port: Port, to: str) -> bool:
    return any(ip_address(to) in address.network for address in port.addresses)


def _hops(routes: Routes, network: str) -> str:
    found = routes.get(network)
    if found is None:
        return "no route"
    return " and ".join(sorted(f"{via} {device}".strip() or "nobody" for via, device in found)) or "no next hop"


ROUTING = Subject(
    name="routing",
    kind=RoutingEvidence,
    read=read,
    steps=steps,
    checks=(ran, neighbours, installed, way, changed),
    result=result,
    field="routers",
)
