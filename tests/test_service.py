"""DHCP and DNS servers: keys, addresses, commands, and what the gate says of made-up evidence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from trials import make_trial

from testbed.error import SpecError
from testbed.model.address import address_book
from testbed.model.topology import Topology
from testbed.plan.command import facts
from testbed.plan.network import plan
from testbed.plan.node import service
from testbed.spec.load import load_topology
from testbed.spec.topology.file import TopologyFile
from testbed.trial.orders.sequence import orders
from testbed.trial.subject import dhcp
from testbed.trial.subject.dhcp import Server

READY = Path(__file__).parents[1] / "topologies" / "dhcp-lan.yaml"
HOST = {"type": "host"}
CLIENT = {"type": "host", "addresses": "dhcp"}


def written(**nodes: Any) -> dict[str, Any]:
    data = dict(yaml.safe_load(READY.read_text()))
    data["nodes"].update(nodes)
    return data


def topology(tmp_path: Path, data: dict[str, Any]) -> Topology:
    path = tmp_path / "t.yaml"
    path.write_text(json.dumps(data))
    return load_topology(path)


def test_clients_get_the_first_free_addresses_of_the_range(tmp_path: Path) -> None:
    book = address_book(topology(tmp_path, written()))
    has = {name: str(book.ports_of(name)[0].addresses[0]) for name in ("laptop", "phone")}
    assert has == {"laptop": "10.0.0.100/24", "phone": "10.0.0.101/24"}


def test_the_plan_gives_clients_no_address_and_no_route_but_expects_both(tmp_path: Path) -> None:
    commands = plan(topology(tmp_path, written())).commands
    own = [c for c in commands if c.netns == "tb-laptop" and c.tool == "ip"]
    assert not [c for c in own if c.words[0] in ("address", "route")]
    found = facts(commands)
    assert found["tb-laptop", "address 10.0.0.100/24 on eth0"] == "there"
    assert found["tb-laptop", "route default via"] == "10.0.0.1"


def test_several_ways_out_are_told_as_classless_routes(tmp_path: Path) -> None:
    """RFC 3442: each network with its router."""
    data = {
        "name": "t",
        "nodes": {
            "pc": CLIENT,
            "lan": {"type": "switch"},
            "r1": {"type": "router", "dhcp": {"range": "10.0.0.50-10.0.0.60"}},
            "r2": {"type": "router"},
            "x": HOST,
            "y": HOST,
        },
        "links": {
            "pc-lan": {"ends": ["pc", "lan"]},
            "r1-lan": {"ends": ["r1", "lan"], "addresses": {"r1": "10.0.0.1/24"}},
            "r2-lan": {"ends": ["r2", "lan"]},
            "x-r1": {"ends": ["x", "r1"]},
            "y-r2": {"ends": ["y", "r2"]},
        },
    }
    made = topology(tmp_path, data)
    text = service.config(made.node("r1"), made, address_book(made))
    ways = "10.0.1.0/24,10.0.0.1,10.0.2.0/24,10.0.0.2"
    assert f"dhcp-option=tag:pc,option:classless-static-route,{ways}\n" in text
    assert "dhcp-option=option:router\n" in text
    assert "port=0\n" in text


def test_a_file_is_the_same_after_it_was_read_and_written(tmp_path: Path) -> None:
    made = topology(tmp_path, written())
    again = topology(tmp_path, TopologyFile.of(made).written())
    assert again == made
    assert TopologyFile.of(made).written()["nodes"]["laptop"]["addresses"] == "dhcp"


FAULTS = {
    "nobody leases": ({"gateway": {"type": "router"}}, "no node there has a DHCP server for it"),
    "outside": ({"gateway": {"type": "router", "dhcp": {"range": "10.9.0.1-10.9.0.9"}}}, "no node there has a DHCP"),
    "full": ({"gateway": {"type": "router", "dhcp": {"range": "10.0.0.9-10.0.0.10"}}}, "no address left for phone"),
    "taken": ({"gateway": {"type": "router", "dhcp": {"range": "10.0.0.5-10.0.0.20"}}}, "is the address of 'printer'"),
    "backwards": ({"gateway": {"type": "router", "dhcp": {"range": "10.0.0.9-10.0.0.5"}}}, "10.0.0.9 comes after"),
    "no range": ({"gateway": {"type": "router", "dhcp": {"range": "10.0.0.9"}}}, "is no range of addresses"),
    "short": ({"gateway": {"type": "router", "dhcp": {"range": "10.0.0.9-10.0.0.9", "lease": "5 s"}}}, "cannot last"),
    "own routes": ({"laptop": {**CLIENT, "routes": [{"to": "default", "via": "10.0.0.9"}]}}, "come with its lease"),
    "both": ({"laptop": {**CLIENT, "dhcp": {"range": "10.0.0.30-10.0.0.40"}}}, "cannot take its own address"),
    "second server": (
        {"printer": {**HOST, "addresses": "10.0.0.9/24", "dhcp": {"range": "10.0.0.30-10.0.0.40"}}},
        "both have a DHCP server",
    ),
    "name": ({"ns": {**HOST, "dns": {"names": {"www.example.org": "nobody"}}}}, "is no address, and no node with one"),
    "ring": (
        {"ns": {**HOST, "dns": {"upstream": "10.0.0.1"}}},
        "gateway asks ns asks gateway for names that none of them knows",
    ),
    "itself": ({"ns": {**HOST, "dns": {"upstream": "10.0.2.2"}}}, "ns asks ns for names that none of them knows"),
    "another network": (
        {"gateway": {"type": "router", "dhcp": {"range": "10.0.7.1-10.0.7.9"}}},
        "the file gives gateway no address in the network of its range",
    ),
    "odd name": ({"ns": {**HOST, "dns": {"names": {"www..org": "web"}}}}, "is no name in the DNS"),
    "upstream": ({"ns": {**HOST, "dns": {"upstream": "web"}}}, "is no other node with dns"),
    "broadcast": (
        {"gateway": {"type": "router", "dhcp": {"range": "10.0.0.250-10.0.0.255"}}},
        "10.0.0.255 is the network",
    ),
    "network": (
        {"gateway": {"type": "router", "dhcp": {"range": "10.0.0.0-10.0.0.8"}}},
        "10.0.0.0 is the network's own",
    ),
    "scope": ({"ns": {**HOST, "dns": {"upstream": "fe80::1%eth0\nport=0"}}}, "is no other node with dns"),
    "scope of a name": (
        {"ns": {**HOST, "dns": {"names": {"www.x.org": "fe80::1%eth0 x\n10.0.0.1 y"}}}},
        "is no address, and no node with one",
    ),
    "a node's name": (
        {"ns": {**HOST, "dns": {"domain": "net.lab", "names": {"web.net.lab": "10.9.9.9"}}}},
        "has this name",
    ),
    "nowhere": ({"lonely": {**HOST, "dns": {}}}, "has no address to answer at"),
    "machine": ({"web": {"type": "machine", "addresses": "dhcp"}}, "only a host, on its only link"),
    "vm": ({"web": {"type": "vm", "addresses": "dhcp"}}, "only a host, on its only link"),
}


@pytest.mark.parametrize(("nodes", "said"), FAULTS.values(), ids=list(FAULTS))
def test_what_makes_no_sense_is_refused_with_its_line(tmp_path: Path, nodes: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        topology(tmp_path, written(**nodes))
    assert said in str(refused.value)
    assert "t.yaml:" in str(refused.value)


def test_a_node_without_an_address_asks_nobody(tmp_path: Path) -> None:
    commands = plan(topology(tmp_path, written(lonely=HOST))).commands
    written_to = [command.words[0] for command in commands if command.tool == "file"]
    assert any("/laptop/" in path or "/printer/" in path for path in written_to)
    assert not [path for path in written_to if "lonely" in path]


def test_mininet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="which Mininet's nodes do not"):
        topology(tmp_path, {**written(), "engine": "mininet"})


def test_a_server_that_died_or_a_lease_that_is_missing_is_no_pass() -> None:
    topology = yaml.safe_load(READY.read_text())
    trial = make_trial(topology=topology, workload={"tool": "ping", "from": "laptop", "to": "web", "count": 1})
    made = orders(trial)
    leases = {made.plan.book.ports_of(name)[0] for name in ("laptop", "phone")}
    whole = frozenset((port.mac, str(port.addresses[0].ip)) for port in leases)
    good = (Server("gateway", True, whole), Server("ns", True))

    def found(*servers: Server) -> list[tuple[str, str]]:
        case: Any = SimpleNamespace(trial=trial, plan=made.plan)
        return [(each.verdict, each.text) for each in dhcp.check(case, servers)]

    assert found(*good) == []
    dead = "dnsmasq of ns did not run after the workload"
    assert found(good[0], replace(good[1], runs=False)) == [("invalid", dead)]
    assert found(good[0]) == [("invalid", dead)]
    lost = "no DHCP server has a lease of 10.0.0.101 for phone after the workload"
    assert found(replace(good[0], leases=frozenset(list(sorted(whole))[:1])), good[1]) == [("invalid", lost)]
