"""What must hold between switches, controllers and the rest of a topology file. Pure, no I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from ...codec.fault import Fault
from ...error import one_of
from ...model.openflow import DPID_MAX, NOBODY
from .file import LinkFile
from .node.keys import NodeKeys
from .node.openflow import ControllerNodeFile, OvsNodeFile

DPID_TAKEN = f"a number of its own from 1 to {DPID_MAX}"


def openflow_faults(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    """`nodes` and `links` are those that are well-formed; paths begin at the topology."""
    for check in CHECKS:
        yield from check(nodes, links)


def _own(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    for name, controller in _of(nodes, ControllerNodeFile):
        yield from (fault.under("nodes", name) for fault in controller.faults())
        if name == NOBODY:
            yield Fault(("nodes", name), f"{NOBODY!r} is how a switch says that it has no controller", "another name")


def _no_links(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    for name, link in links.items():
        for index, end in enumerate(link.ends):
            if end in nodes and nodes[end].kind.openflow == "controller":
                what = f"{end!r} is a controller, which switches reach over its channel, not over a link"
                yield Fault(("links", name, "ends", index), what, "'control: {rtt: 10 ms}' at the controller")


def _controllers(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    known = [name for name, _ in _of(nodes, ControllerNodeFile)]
    for name, switch in _of(nodes, OvsNodeFile):
        controller_name = switch.ovs.controller
        if controller_name is None and len(known) > 1:
            what = f"the switch {name!r} does not say which of the controllers {', '.join(known)} it has"
            yield Fault(("nodes", name), what, f"'controller: {known[0]}', or 'controller: none'")
        elif controller_name is not None and controller_name != NOBODY and controller_name not in known:
            yield Fault(
                ("nodes", name, "controller"),
                f"there is no controller {controller_name!r}",
                one_of((*known, NOBODY), controller_name),
            )


def _dpids(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    owners: dict[int, str] = {}
    for number, (name, switch) in enumerate(_of(nodes, OvsNodeFile), 1):
        dpid = switch.ovs.dpid or number
        other = owners.setdefault(dpid, name)
        if other != name:
            how = "" if switch.ovs.dpid else ", which it has by its position in the file,"
            path = ("nodes", name, "dpid") if switch.ovs.dpid else ("nodes", name)
            yield Fault(path, f"the dpid {dpid} of {name!r}{how} is also that of {other!r}", DPID_TAKEN)


def _rules(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    hosts = [name for name, node in nodes.items() if node.kind.is_local_host]
    for name, controller in _of(nodes, ControllerNodeFile):
        for number, rule in enumerate(controller.rules):
            for key, host in (("from", rule.source), ("to", rule.destination)):
                if host is not None and host not in hosts:
                    path = ("nodes", name, "rules", number, key)
                    yield Fault(path, f"there is no host {host!r}", one_of(hosts, host))


def _rings(nodes: Mapping[str, NodeKeys], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    """In a ring of switches a broadcast goes round for ever, unless the controller of all knows better."""
    switching = {name for name, node in nodes.items() if node.kind.switches_frames}
    ways: dict[str, list[str]] = {name: [] for name in switching}
    for name, link in links.items():
        first, second = link.ends
        if first == second or not switching.issuperset(link.ends):
            continue
        ring = _shortest_path(ways, first, second)
        unsafe = [each for each in ring or () if not _breaks_loops(nodes, each)]
        if unsafe and any(nodes[each].kind.openflow == "switch" for each in ring or ()):
            what = f"link {name!r} closes a ring of switches, in which a broadcast never ends: {_why(nodes, unsafe[0])}"
            allowed = (
                "Open vSwitches with 'app: static' (or an app with 'loops: true') and fail_mode: secure, or no ring"
            )
            yield Fault(("links", name, "ends"), what, allowed)
        ways[first].append(second)
        ways[second].append(first)


def _breaks_loops(nodes: Mapping[str, NodeKeys], name: str) -> bool:
    switch, controller = nodes[name], _controller_of(nodes, name)
    return (
        controller is not None
        and isinstance(switch, OvsNodeFile)
        and switch.ovs.fail_mode != "standalone"
        and controller.controller().breaks_loops
    )


def _why(nodes: Mapping[str, NodeKeys], name: str) -> str:
    switch, controller = nodes[name], _controller_of(nodes, name)
    if not isinstance(switch, OvsNodeFile):
        return f"{name!r} is a plain switch"
    if controller is None:
        return f"{name!r} has no controller"
    if switch.ovs.fail_mode == "standalone":
        return f"{name!r} floods when its controller is away (fail_mode: standalone)"
    return f"the app {controller.app} of {name!r} does not break rings"


def _controller_of(nodes: Mapping[str, NodeKeys], name: str) -> ControllerNodeFile | None:
    switch = nodes[name]
    if not isinstance(switch, OvsNodeFile):
        return None
    known, controller_name = dict(_of(nodes, ControllerNodeFile)), switch.ovs.controller
    return next(iter(known.values()), None) if controller_name is None else known.get(controller_name)


def _shortest_path(ways: Mapping[str, list[str]], start: str, end: str) -> list[str] | None:
    """The switches of a shortest path; None if there is none."""
    before: dict[str, str] = {start: start}
    waiting = deque([start])
    while waiting and end not in before:
        switch = waiting.popleft()
        for neighbour in ways[switch]:
            if neighbour not in before:
                before[neighbour] = switch
                waiting.append(neighbour)
    if end not in before:
        return None
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path


def _of(nodes: Mapping[str, NodeKeys], kind: type[Any]) -> Iterator[tuple[str, Any]]:
    return ((name, node) for name, node in nodes.items() if isinstance(node, kind))


CHECKS = (_own, _no_links, _controllers, _dpids, _rules, _rings)
