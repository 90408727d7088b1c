"""Mininet's own options: each is followed, said to have no effect, or refused; and a topology that runs by itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from test_mininet import mininet_is_looked_for_once, needs_mininet
from typer.testing import CliRunner

from testbed.cli import app
from testbed.commands.measure.lone_topology import scenario_for
from testbed.error import UserError, ValueRefused
from testbed.library import spec_file
from testbed.spec.load import load_scenario, load_topology, read
from testbed.spec.mininet_import import without_effect
from testbed.spec.syntax.attachment import NOTHING_MORE, Folder
from testbed.spec.topology import mininet
from testbed.spec.topology.mininet import NODES, OF_BRIDGES, OF_LINKS, OF_NET, OF_SWITCHES, check_net, numbering

__all__ = ["mininet_is_looked_for_once"]
NET = """
from mininet.link import TCLink
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo


class Net(Topo):
    def build(self, host={{}}, switch={{}}, link={{}}):
        self.addLink(self.addHost("h1", **host), self.addSwitch("s1", **switch), cls=TCLink, **link)
        self.addLink(self.addHost("h2"), "s1", {more})
"""
VALUES: dict[str, Any] = {
    **{
        "cpu": 0.5,
        "cores": 1,
        "sched": "rt",
        "period_us": 100000,
        "defaultRoute": "via 10.0.0.9",
        "inNamespace": False,
    },
    **{"batch": True, "listenPort": 6634, "opts": "--no-slicing", "dpopts": "--no-local-port", "prio": 5, "dpid": "2a"},
    **{"gro": False, "txo": True, "rxo": True, "fast": False, "port": 3, "delete": True},
    **{"intfName": "x", "intfName1": "x", "intfName2": "y", "use_htb": True, "latency_ms": 5},
}


def made(folder: Path, more: str = "bw=10", yaml: str = "") -> Path:
    (folder / "net.py").write_text(NET.format(more=more))
    path = folder / "net.yaml"
    path.write_text(f"name: net\ntopo: {{file: net.py, class: Net{yaml}}}\n")
    return path


def words(options: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {str(value).lower()}" for key, value in options.items()) + "}"


@needs_mininet
def test_options_without_effect_change_nothing_and_are_told(tmp_path: Path) -> None:
    plain = load_topology(made(tmp_path))
    tables = {"host": NODES, "switch": OF_SWITCHES, "link": OF_LINKS}
    args = ", ".join(f"{part}: {words({key: VALUES[key] for key in table})}" for part, table in tables.items())
    net = words(dict.fromkeys(OF_NET, True))
    path = made(tmp_path, yaml=f", args: {{{args}}}, options: {net}")
    assert load_topology(path) == plain
    said = without_effect(read(path), Folder.of(path))
    named = {(each.split()[3], whose) for each in said for whose in each.rpartition(") of ")[2].split(", ")}
    told = {"h1": NODES, "s1": OF_SWITCHES, "h1-s1": OF_LINKS, "Mininet()": OF_NET}
    assert named == {(option, whose) for whose, table in told.items() for option in table}


PORTS = """
from mininet.topo import SingleSwitchReversedTopo, Topo
class Mixed(Topo):
    def build(self, first=None):
        for name in ("s1", "s2"):
            self.addSwitch(name)
        for name in ("h1", "h2", "h3"):
            self.addHost(name)
        self.addLink("h2", "s1", port2=first)
        self.addLink("s1", "s2")
        self.addLink("h1", "s1")
        self.addLink("h3", "s1")
"""


def ports_of(path: Path) -> list[str]:
    """What is linked to s1, by its ports, from 1 on."""
    ends = [link.ends for link in load_topology(path).links]
    return [first if second == "s1" else second for first, second in ends if "s1" in (first, second)]


@needs_mininet
def test_ports_have_the_numbers_of_mininet(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PORTS)
    path = tmp_path / "net.yaml"

    def ask(about: str) -> list[str]:
        path.write_text(f"name: net\ntopo: {{file: net.py, {about}}}\n")
        return list(without_effect(read(path), Folder.of(path)))

    assert ask("class: Mixed") == []
    assert ports_of(path) == ["h2", "s2", "h1", "h3"]
    assert ask("class: SingleSwitchReversedTopo, args: {k: 3}") == []
    assert ports_of(path) == ["h3", "h2", "h1"]
    (said,) = ask("class: Mixed, args: {first: 9}")
    assert said.endswith("Mininet's order, without gaps) of s1 port 2, s1 port 3, s1 port 4 and 1 more")
    assert ports_of(path) == ["s2", "h1", "h3", "h2"]


def test_numbers_of_ports_that_no_order_of_links_has_are_told() -> None:
    nodes = [{"name": name, "is_switch": True, "class": None, "options": {}} for name in ("s1", "s2")]
    crossed = [{"ends": ["s1", "s2"], "ports": ports, "class": None, "options": {}} for ports in ([1, 2], [2, 1])]
    built, file = {"nodes": nodes, "links": crossed}, mininet.MininetTopologyFile("net.py", "Net")
    ends = [each["ends"] for each in mininet.nodes_and_links(built, file)["links"].values()]
    assert ends == [["s1", "s2"], ["s1", "s2"]]
    (said,) = mininet.without_effect(built, {})
    assert said.endswith(" of s2 port 2, s2 port 1")


@needs_mininet
def test_mac_addresses_and_the_network_are_those_that_mininet_would_give(tmp_path: Path) -> None:
    topology = load_topology(made(tmp_path, yaml=", options: {autoSetMacs: true, ipBase: 10.1.0.5/16}"))
    assert [(node.addresses, node.mac) for node in topology.nodes if node.type == "host"] == [
        (("10.1.0.5/16",), "00:00:00:00:00:05"),
        (("10.1.0.6/16",), "00:00:00:00:00:06"),
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ipBase": "elsewhere"}, "ipBase 'elsewhere' is no network; allowed: such as 10.0.0.0/8"),
        ({"ipBase": "10.0.0.0/31"}, "ipBase 10.0.0.0/31 has too few addresses; allowed: a larger network"),
        ({"topology": "x"}, "Mininet() has no option 'topology' that can be followed here; allowed: autoPinCpus"),
    ],
)
def test_options_of_mininet_that_cannot_be_followed_are_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueRefused, match=re.escape(said)):
        addresses_of(options)


def addresses_of(options: dict[str, str]) -> None:
    check_net(options)
    numbering(options)(2)


def test_hosts_are_numbered_as_in_mininet() -> None:
    of = numbering({"ipBase": "10.0.0.0/8", "autoSetMacs": True})
    assert [of(number) for number in (1, 256, 70_000)] == [
        ("10.0.0.1/8", "00:00:00:00:00:01"),
        ("10.0.1.0/8", "00:00:00:00:01:00"),
        ("10.1.17.112/8", "00:00:00:01:11:70"),
    ]
    with pytest.raises(ValueRefused):
        numbering({"ipBase": "10.0.0.0/30"})(3)


def test_every_table_says_why() -> None:
    for table in (NODES, OF_SWITCHES, OF_BRIDGES, OF_LINKS, OF_NET):
        assert all(table.values()) or table is OF_BRIDGES


@needs_mininet
@pytest.mark.parametrize(("more", "tool"), [("bw=10", "flow"), ("delay='1ms'", "ping")])
def test_a_topology_that_runs_by_itself_has_a_flow_where_there_is_a_rate(tmp_path: Path, more: str, tool: str) -> None:
    made(tmp_path, more=more)
    with scenario_for(tmp_path / "net.py", NOTHING_MORE) as (path, may):
        (trial,) = load_scenario(path, permission=may).trials()
        assert (trial.workload.tool, trial.workload.source, trial.workload.destination) == (tool, "h1", "h2")
        assert trial.topology == load_topology(tmp_path / "net.py")
    assert not path.exists()


@needs_mininet
def test_a_topology_with_one_host_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "from mininet.topo import Topo\n\n\nclass One(Topo):\n    def build(self):\n"
        "        self.addLink(self.addHost('h1'), self.addSwitch('s1'))\n"
    )
    with pytest.raises(UserError, match="has no two hosts"), scenario_for(tmp_path / "one.py", NOTHING_MORE):
        pass


def test_a_scenario_is_what_runs(tmp_path: Path) -> None:
    with scenario_for(tmp_path / "s.yaml", NOTHING_MORE) as found:
        assert found == (tmp_path / "s.yaml", NOTHING_MORE)


@pytest.mark.parametrize("command", ["run", "up"])
def test_a_topology_where_a_scenario_belongs_is_named_and_the_other_way_round(command: str, tmp_path: Path) -> None:
    mine, other = ("wan", "topology") if command == "run" else ("quickstart", "scenario")
    done = CliRunner().invoke(app, [command, mine])
    assert isinstance(done.exception, UserError)
    assert f"{mine}.yaml is a {other}; allowed: " in str(done.exception)
    assert command == "up" or str(done.exception).endswith(f"to start the network: testbed up {spec_file(Path(mine))}")
