"""Random topologies, and where packets would go in them. Pure, no I/O."""

from __future__ import annotations

from collections import defaultdict
from ipaddress import ip_address, ip_interface, ip_network
from typing import Any

from hypothesis import strategies as st

from testbed.node import node_netns
from testbed.plan import Plan
from testbed.topology import Link, Node, Topology

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
    return Topology("net", tuple(draw(st.permutations([*core, *hosts]))), tuple(links))


class Forwarding:
    """What the kernels of a planned network would do with a packet: only what the plan's commands say is known."""

    def __init__(self, topology: Topology, planned: Plan) -> None:
        self.topology = topology
        self.addresses: dict[str, dict[Any, str]] = defaultdict(dict)  # node → address → device
        self.routes: dict[str, list[tuple[Any, Any, str]]] = defaultdict(list)  # node → (network, via or None, device)
        self.segment = {(p.node, p.device): p.segment for p in planned.book.ports}
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
        segment = self.segment[node, device]
        for other, addresses in self.addresses.items():
            if address in addresses and self.segment[other, addresses[address]] == segment:
                return other
        raise AssertionError(f"nobody on the segment of {node} {device} has {address}")
