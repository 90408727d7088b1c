"""Random topologies, and where packets would go in them. Pure, no I/O."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from ipaddress import ip_address, ip_interface, ip_network
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from testbed.model.topology import Link, Node, Topology
from testbed.model.vlan import Membership
from testbed.plan.network import Plan
from testbed.plan.node.namespace import node_netns
from testbed.spec.topology.segment_rules import one_way_faults

HOPS_MAX = 64


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """A connected net of routers and switches with further links between routers, and hosts with one or two links."""
    types = draw(st.lists(st.sampled_from(["router", "switch"]), min_size=1, max_size=6))
    core = [Node(f"{kind[0]}{i}", kind) for i, kind in enumerate(types)]
    pairs = [(core[draw(st.integers(0, i - 1))].name, core[i].name) for i in range(1, len(core))]
    routers = [node.name for node in core if node.type == "router"]
    for _ in range(draw(st.integers(0, 2)) if len(routers) > 1 else 0):
        pairs.append(tuple(draw(st.permutations(routers))[:2]))
    hosts = [Node(f"h{i}", "host") for i in range(draw(st.integers(1, 4)))]
    for host in hosts:
        names = draw(st.permutations([node.name for node in core]))
        pairs += [(host.name, name) for name in names[: draw(st.integers(1, 2))]]
    once = {frozenset(pair): pair for pair in pairs}
    ways = [pair if draw(st.booleans()) else pair[::-1] for pair in once.values()]
    links = [Link(f"l{i}", pair) for i, pair in enumerate(draw(st.permutations(ways)))]
    ip = draw(st.sampled_from(["4", "6", "both"]))
    return Topology("net", tuple(draw(st.permutations([*core, *hosts]))), tuple(links), ip=ip)


@st.composite
def vlan_topologies(draw: st.DrawFn) -> Topology:
    """The same with switches some of which keep VLANs apart, their ports drawn without looking at the other end; those
    that are refused, because frames would go one way only, are left out.
    """
    topology = draw(topologies())
    nodes = []
    for node in topology.nodes:
        if node.type == "switch" and draw(st.booleans()):
            node = replace(node, vlans=tuple(draw(membership(link.name)) for link in topology.links_of(node.name)))
        nodes.append(node)
    found = replace(topology, nodes=tuple(nodes))
    assume(not list(one_way_faults(found)))
    return found


@st.composite
def membership(draw: st.DrawFn, link: str) -> Membership:
    if draw(st.booleans()):
        return Membership(link, (draw(st.sampled_from([10, 20])),), False)
    return Membership(link, tuple(draw(st.lists(st.sampled_from([10, 20]), min_size=1, unique=True))), True)


class Forwarding:
    """What the kernels of a planned network would do with a packet: only what the plan's commands say is known."""

    def __init__(self, topology: Topology, planned: Plan) -> None:
        self.topology = topology
        self.addresses: dict[str, dict[Any, str]] = defaultdict(dict)  # node → address → device
        self.routes: dict[str, list[tuple[Any, Any, str]]] = defaultdict(list)  # node → (network, via or None, device)
        self.wires = Wires(planned)
        by_netns = {node_netns(node.name): node.name for node in topology.nodes}
        for command in planned.commands:
            node, words = by_netns.get(command.netns or ""), command.words
            if node and words[:2] == ("address", "add"):
                interface = ip_interface(words[2])
                self.addresses[node][interface.ip] = words[4]
                self.routes[node].append((interface.network, None, words[4]))
            elif node and command.tool == "ip" and "route" in words:
                words = words[words.index("route") :]
                via = ip_address(words[4])
                everything = "0.0.0.0/0" if via.version == 4 else "::/0"
                network = ip_network(everything if words[2] == "default" else words[2])
                self.routes[node].append((network, via, words[6]))

    def addresses_of(self, node: str) -> list[Any]:
        return list(self.addresses[node])

    def send(self, source: str, destination: Any) -> str:
        """The node where a packet ends. Asserts that each hop is one that the kernels would make."""
        here = source
        for _ in range(HOPS_MAX):
            if destination in self.addresses[here]:
                return here
            assert here == source or self.topology.node(here).type == "router", f"{here} does not forward"
            fitting = [route for route in self.routes[here] if destination in route[0]]
            assert fitting, f"{here} has no route to {destination}"
            _, via, device = max(fitting, key=lambda route: route[0].prefixlen)
            here = self._neighbour(here, device, via or destination)
        raise AssertionError(f"a packet from {source} to {destination} goes round in circles")

    def _neighbour(self, node: str, device: str, address: Any) -> str:
        """Who answers to the address on the segment of a device."""
        heard = self.wires.hear(node_netns(node), device)
        for other, addresses in self.addresses.items():
            if address in addresses and (node_netns(other), addresses[address]) in heard:
                return other
        raise AssertionError(f"nobody on the segment of {node} {device} has {address}")


class Wires:
    """Which devices hear a frame: cables, bridges and VLAN devices, as the plan's commands say and nothing else."""

    def __init__(self, planned: Plan) -> None:
        self.other_end: dict[tuple[str, str], tuple[str, str]] = {}
        self.bridged: dict[str, list[str]] = defaultdict(list)  # namespace → devices of its bridge
        self.filters: set[str] = set()  # namespaces whose bridge keeps VLANs apart
        self.vlans: dict[tuple[str, str], dict[int, bool]] = defaultdict(dict)  # port → VLAN → whether untagged
        self.on_top: dict[tuple[str, str], tuple[str, int]] = {}  # VLAN device → device below, VLAN
        for command in planned.commands:
            self._note(command.netns or "", command.words)

    def _note(self, netns: str, words: tuple[str, ...]) -> None:
        if words[:2] == ("link", "add") and "veth" in words:
            names = [words[i + 1] for i, word in enumerate(words) if word == "name"]
            spaces = [words[i + 1] for i, word in enumerate(words) if word == "netns"]
            one, other = zip(spaces, names, strict=True)
            self.other_end |= {one: other, other: one}
        elif words[:2] == ("link", "add") and "vlan" in words:
            self.on_top[netns, words[5]] = (words[3], int(words[-1]))
        elif "master" in words:
            self.bridged[netns].append(words[2])
        elif "vlan_filtering" in words:
            self.filters.add(netns)
        elif words[:2] == ("vlan", "add"):
            self.vlans[netns, words[3]][int(words[5])] = "untagged" in words

    def hear(self, netns: str, device: str) -> set[tuple[str, str]]:
        """The devices, and VLAN devices on them, of those that a broadcast from a device reaches."""
        below, tag = self.on_top.get((netns, device), (device, None))
        heard: set[tuple[str, str]] = set()
        waiting, sent = [(netns, below, tag)], set()
        while waiting:
            frame = waiting.pop()
            if frame in sent:
                continue
            sent.add(frame)
            there, port = self.other_end[frame[:2]]
            tag = frame[2]
            if port not in self.bridged[there]:
                names = [name for (space, name), on in self.on_top.items() if space == there and on == (port, tag)]
                heard |= {(there, name) for name in (names if tag else [port])}
                continue
            waiting += [(there, *out) for out in self._bridge(there, port, tag)]
        return heard

    def _bridge(self, netns: str, port: str, tag: int | None) -> list[tuple[str, int | None]]:
        others = [other for other in self.bridged[netns] if other != port]
        if netns not in self.filters:
            return [(other, tag) for other in others]
        own = self.vlans[netns, port]
        inside = tag if tag is not None else next((vlan for vlan, untagged in own.items() if untagged), None)
        if inside not in own:
            return []
        found = ((other, self.vlans[netns, other].get(inside)) for other in others)
        return [(other, None if untagged else inside) for other, untagged in found if untagged is not None]
