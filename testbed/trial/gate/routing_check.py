"""Checks of the gate: did routing daemons run, have their neighbours, and put their routes into the kernel; do the data
go where the plan looks for them? Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from ...model.address import Port
from ...model.route import next_hop
from ...plan.link import fault
from ...plan.network import Plan
from ...plan.node import frr
from ..evidence.case import Case
from ..evidence.routing import Look, RouterEvidence, Routes
from ..stored_result import Finding

LOG = "look at its log: testbed up, then testbed logs ROUTER"
SHOWN = 5


def ran(case: Case) -> Iterator[Finding]:
    """Every daemon, before the workload and after it, and every router that the plan has."""
    seen = {each.name: each for each in case.evidence.routing.routers}
    for node, each in frr.routers(case.trial.topology):
        asked = frr.daemons(frr.config(node, each, case.trial.topology, case.plan.book))
        if node.name not in seen:
            yield Finding("routing", "invalid", f"nothing is known of the daemons of {node.name}", LOG)
            continue
        for when, look in _looks(seen[node.name]):
            dead = [name for name in asked if name not in look.running]
            for daemon in dead:
                yield Finding("routing", "invalid", f"{daemon} of {node.name} did not run {when} the workload", LOG)
            if look.routes is None and not dead:
                yield Finding("routing", "invalid", f"zebra of {node.name} did not say its routes {when} it", LOG)


def neighbours(case: Case) -> Iterator[Finding]:
    """Neighbours before the workload if the trial was to wait for them; after it, but for links that are down then."""
    waits = {node.name: each.within_ns is not None for node, each in frr.routers(case.trial.topology)}
    down = _down_at_end(case.plan)
    touched = {link.name for link in case.trial.topology.links if link.schedule}
    for router in case.evidence.routing.routers:
        wanted = case.evidence.routing.knowledge[router.name]
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


def installed(case: Case) -> Iterator[Finding]:
    """FRR's own account of its routes and the kernel's are the same, hop by hop."""
    for router in case.evidence.routing.routers:
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


def way(case: Case) -> Iterator[Finding]:
    """Before the workload, the routers send the data and their answers over the links that the other checks look at."""
    waits = {node.name for node, each in frr.routers(case.trial.topology) if each.within_ns is not None}
    found = {each.name: each for each in case.evidence.routing.routers if each.name in waits}
    for data_path in filter(None, (case.plan.data_path, case.plan.upstream, *case.plan.background)):
        ways = ((data_path.path, data_path.destination_ip), (data_path.answers, data_path.source_ip))
        for hops, to in ways:
            passed = dict.fromkeys(end for hop in hops for end in hop.link.ends if end in found)
            for name in passed:
                port, via = next_hop(case.trial.topology, case.plan.book, name, to)
                if port is None or via is None or to in _own(case.plan, name) or _is_connected(port, str(to)):
                    continue
                yield from _goes(name, found[name].before.kernel, str(to), port, via)


def changed(case: Case) -> Iterator[Finding]:
    """A note: when the last route changed while the workload ran."""
    moved = [(at_ns, each.name) for each in case.evidence.routing.routers for at_ns, _ in each.changes]
    begin_ns = case.evidence.outcome.begin_ns
    if begin_ns is None and case.evidence.timeline is not None:
        begin_ns = case.evidence.timeline.start_ns
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
