"""Switches and controllers: what they are told, and what is made of what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_gate import fine
from trials import SWITCH, make_trial, steps_data

from testbed import package
from testbed.error import MachineError, SpecError, UserError
from testbed.kernel import controller
from testbed.model.address import address_book
from testbed.model.openflow import Controller, Ovs, Rule
from testbed.model.topology import Link, Node, Topology
from testbed.model.vlan import Membership
from testbed.model.workload import PingWorkload
from testbed.plan.batch import steps
from testbed.plan.command import File, Wait, script, undos
from testbed.plan.network import plan
from testbed.plan.node import control_channel
from testbed.plan.node.controller import Start, told
from testbed.spec.load import load_scenario, load_topology
from testbed.spec.syntax.attachment import permitted
from testbed.trial import readiness, ready_kernel
from testbed.trial.evidence.case import Case
from testbed.trial.orders.sequence import orders
from testbed.trial.subject import openflow

ROOT = Path(__file__).parents[1]
HOSTS = ROOT / "topologies" / "sdn-hosts.yaml"
FAT_TREE = ROOT / "topologies" / "fat-tree.yaml"
MANY = "01:00:00:00:00:00"


@st.composite
def meshes(draw: st.DrawFn) -> Topology:
    """Open vSwitches joined at random, rings and all, with a static controller, and hosts."""
    count = draw(st.integers(1, 7))
    switches = [Node(f"s{i}", "ovs", ovs=Ovs()) for i in range(count)]
    pairs = [(switches[draw(st.integers(0, i - 1))].name, switches[i].name) for i in range(1, count)]
    for _ in range(draw(st.integers(0, 5)) if count > 1 else 0):
        first, second = draw(st.permutations([switch.name for switch in switches]))[:2]
        pairs.append((first, second))
    hosts = [Node(f"h{i}", "host") for i in range(draw(st.integers(1, 5)))]
    pairs += [(host.name, draw(st.sampled_from(switches)).name) for host in hosts]
    once = {frozenset(pair): pair for pair in pairs}
    links = [Link(f"l{i}", pair) for i, pair in enumerate(draw(st.permutations(list(once.values()))))]
    nodes = (*switches, *hosts, Node("c", "controller", controller=Controller("static")))
    return Topology("net", tuple(draw(st.permutations(nodes))), tuple(links))


@st.composite
def meshes_with_edges(draw: st.DrawFn) -> Topology:
    """The same, with switches around them that keep VLANs apart: one trunk each, and hosts on their ports."""
    mesh = draw(meshes())
    core = [node.name for node in mesh.nodes if node.ovs is not None]
    nodes, links = list(mesh.nodes), list(mesh.links)
    for number in range(draw(st.integers(1, 3))):
        edge, trunk = f"e{number}", f"t{number}"
        ports = {f"{edge}-p{i}": draw(st.sampled_from([10, 20])) for i in range(draw(st.integers(1, 3)))}
        members = (
            Membership(trunk, (10, 20), True),
            *(Membership(port, (vlan,), False) for port, vlan in ports.items()),
        )
        nodes += [Node(edge, "switch", vlans=members), *(Node(f"{port}-host", "host") for port in ports)]
        links += [Link(trunk, (edge, draw(st.sampled_from(core)))), *(Link(p, (edge, f"{p}-host")) for p in ports)]
    return replace(mesh, nodes=tuple(draw(st.permutations(nodes))), links=tuple(draw(st.permutations(links))))


class Tables:
    """What switches do with a frame, by nothing but what their controller is told to put into them."""

    def __init__(self, topology: Topology) -> None:
        self.topology, self.book = topology, address_book(topology)
        (channel,) = control_channel.channels(topology)
        self.tables = told(channel, topology, self.book)["switches"]

    def send(self, switch: str, in_port: int, mac: str) -> Iterator[str]:
        """The hosts that a frame reaches."""
        waiting, steps = [(switch, in_port)], 0
        while waiting:
            steps += 1
            assert steps < 1000, "a frame goes round for ever"
            here, came = waiting.pop()
            for port in self.book.ports_of(here):
                number = int(port.device.removeprefix("eth")) + 1
                if number not in self.out(here, came, mac):
                    continue
                there = self.topology.link(port.link).other_end(here)
                if self.topology.node(there).type == "host":
                    yield there
                else:
                    entered = self.book.port(there, port.link)
                    waiting.append((there, int(entered.device.removeprefix("eth")) + 1))

    def out(self, switch: str, came: int, mac: str) -> list[int]:
        table = self.tables[str(control_channel.dpid(self.topology, self.topology.node(switch)))]
        if mac != MANY:
            return [table["ways"][mac]]
        return [port for port in table["flood"] if port != came] if came in table["flood"] else []


@given(meshes())
def test_static_ways_lead_every_frame_to_its_host_and_to_nobody_else(topology: Topology) -> None:
    tables = Tables(topology)
    ports = [port for port in tables.book.ports if port.addresses]
    for source in ports:
        switch = topology.link(source.link).other_end(source.node)
        entered = int(tables.book.port(switch, source.link).device.removeprefix("eth")) + 1
        for destination in ports:
            if destination.node != source.node:
                assert list(tables.send(switch, entered, destination.mac)) == [destination.node]


@given(meshes())
def test_what_is_for_all_reaches_every_other_host_once_whatever_rings_there_are(topology: Topology) -> None:
    tables = Tables(topology)
    hosts = sorted(node.name for node in topology.nodes if node.type == "host")
    for source in (port for port in tables.book.ports if port.addresses):
        switch = topology.link(source.link).other_end(source.node)
        entered = int(tables.book.port(switch, source.link).device.removeprefix("eth")) + 1
        assert sorted(tables.send(switch, entered, MANY)) == [host for host in hosts if host != source.node]


@given(st.one_of(meshes(), meshes_with_edges()), st.data())
def test_the_path_of_the_plan_is_the_one_that_the_switches_are_told(topology: Topology, data: st.DataObject) -> None:
    hosts = [node.name for node in topology.nodes if node.type == "host"]
    pairs = [pair for pair in permutations(hosts, 2) if topology.path(*pair)]
    if not pairs:
        return
    source, destination = data.draw(st.sampled_from(pairs))
    planned = plan(topology, PingWorkload(source, destination))
    tables = Tables(topology)
    here, way = source, []
    mac = planned.book.ports_of(destination)[0].mac
    link = topology.link(planned.book.ports_of(source)[0].link)
    while True:
        way.append(link.name)
        here = link.other_end(here)
        if here == destination:
            break
        if topology.node(here).vlans:  # to its own host, or by its only trunk
            onward = topology.links_of(here)
            link = next((each for each in onward if destination in each.ends), topology.link(f"t{here[1:]}"))
            continue
        (number,) = tables.out(here, 0, mac)
        link = topology.link(planned.book.ports_of(here)[number - 1].link)
    assert [hop.link.name for hop in planned.path] == way


def test_a_fat_tree_uses_all_of_its_core() -> None:
    topology = load_topology(FAT_TREE)
    crossed = set()
    for to in range(4):
        planned = plan(topology, PingWorkload("host-0-0", f"host-3-{to}"))
        crossed |= {end for hop in planned.path for end in hop.link.ends if end.startswith("core")}
    assert crossed == {"core-0", "core-1", "core-2", "core-3"}


def test_every_switch_is_given_back_by_the_undos_of_its_commands() -> None:
    commands = [c for c in plan(load_topology(HOSTS)).commands if c.tool in ("ovs-vswitchd", "ovsdb-server", "mkdir")]
    assert [(undo.tool, undo.words) for undo in undos(commands)] == [
        ("ovs-appctl", ("-t", "ovs-vswitchd", "exit", "--cleanup")),
        ("ovs-appctl", ("-t", "ovs-vswitchd", "exit", "--cleanup")),
        ("rm", ("-r", "/run/tb-ovs/c0")),
        ("ovs-appctl", ("-t", "ovsdb-server", "exit")),
        ("rm", ("-r", "/run/tb-ovs/s2")),
        ("ovs-appctl", ("-t", "ovsdb-server", "exit")),
        ("rm", ("-r", "/run/tb-ovs/s1")),
    ]


def test_no_switch_starts_before_the_clock_is_past_ten_seconds() -> None:
    tools = [command.tool for command in plan(load_topology(HOSTS)).commands]
    assert tools.index("ovsdb-server") < tools.index("wait") < tools.index("ovs-vswitchd")
    assert steps_data(steps([Wait(10)]))[0]["run"][-1] == "/proc/uptime"


def test_a_file_with_quotes_stands_in_the_script_as_it_is(tmp_path: Path) -> None:
    text = 'it\'s "a" $HOME\n\\n\n'
    subprocess.run(["sh", "-e"], input=script([File(f"{tmp_path}/x", text)]), text=True, check=True)
    assert (tmp_path / "x").read_text() == text


def topology_with(controller: Controller, ovs: Ovs | None = None, **host: Any) -> Topology:
    nodes = (
        Node("a", "host", **host),
        Node("b", "host"),
        Node("s", "ovs", ovs=ovs or Ovs()),
        Node("c", "controller", controller=controller),
    )
    return Topology("net", nodes, (Link("one", ("a", "s")), Link("two", ("s", "b"))))


def test_a_late_controller_is_not_waited_for_and_is_started_and_killed_on_time() -> None:
    planned = plan(topology_with(Controller("static", start_ns=2, stop_ns=5)), PingWorkload("a", "b"))
    assert not any("wait-until" in command.words for command in planned.commands)
    assert [(moment.at_ns, moment.commands[0].words[0]) for moment in planned.timeline] == [(2, "USR1"), (5, "KILL")]


def test_hosts_send_packets_one_by_one_and_summed_up_to_a_datapath_in_user_space() -> None:
    planned = plan(topology_with(Controller("static"), Ovs(datapath="user")))
    assert planned.nics == (("a", "plain"), ("b", "plain"))
    told_hosts = [c for c in planned.commands if c.tool == "ethtool" and c.words[-2:] == ("tx", "off")]
    assert {command.netns for command in told_hosts} == {"tb-a", "tb-b"}
    with pytest.raises(UserError, match=r"a is on a switch with datapath: user.*allowed: nic: plain"):
        plan(topology_with(Controller("static"), Ovs(datapath="user"), nic="offload"))


def test_with_neighbours_that_are_learned_no_host_knows_a_mac_address() -> None:
    topology = replace(load_topology(HOSTS), neighbours="learned")
    told_hosts = [c for c in plan(topology).commands if "neighbour" in c.words]
    assert {command.netns for command in told_hosts} == {"tb-c0", "tb-s1", "tb-s2"}, "but the channel's do"


def test_a_rule_between_hosts_is_a_match_of_their_addresses() -> None:
    rules = (Rule("allow", "a", "b", "tcp", 80), Rule("deny", protocol="icmp"), Rule("deny", "b"))
    topology = topology_with(Controller("firewall", rules=rules), addresses=("10.1.0.1/24",))
    (channel,) = control_channel.channels(topology)
    found = told(channel, topology, address_book(topology))["rules"]
    assert found[0]["matches"] == [
        {"eth_type": 0x800, "ipv4_src": "10.1.0.1", "ipv4_dst": "10.1.0.2", "ip_proto": 6, "tcp_dst": 80}
    ]
    assert found[1]["matches"] == [{"eth_type": 0x800, "ip_proto": 1}, {"eth_type": 0x86DD, "ip_proto": 58}]
    assert found[2]["matches"] == [{"eth_type": 0x800, "ipv4_src": "10.1.0.2"}]


def test_the_channel_can_vary_one_way() -> None:
    trials = load_scenario(ROOT / "tests/specs/good/openflow.yaml", permission=permitted([ROOT])).trials()
    last = trials[-1].topology
    fire, own = last.node("fire").controller, last.node("own").controller
    assert fire is not None
    assert own is not None
    assert (fire.forward.delay_ns, fire.backward.delay_ns, fire.forward.rate_bps) == (2 * 10**6, 3 * 10**6, 10**6)
    assert (own.rtt_ns, last.neighbours) == (20 * 10**6, "learned")
    assert "class TutorialSwitch(app_manager.RyuApp)" in (own.text or ""), "what is stored can be repeated"


def test_the_first_packets_are_those_of_the_workload() -> None:
    trial = load_scenario(ROOT / "scenarios" / "sdn-first-packet.yaml").trials()[0]
    titles = [step.get("out", "") or step.get("stdin", "")[:4] for step in steps_data(orders(trial).steps)]
    assert titles.index("flows-s1-before.txt") < titles.index("ping") < titles.index("flows-s1-after.txt")
    assert titles.index("flows-s1-after.txt") < titles.index("rtt-warm-up-left.out") < titles.index("rtt-check.out")


def test_what_open_vswitch_prints_is_read() -> None:
    assert openflow.lookups("netdev@ovs-netdev:\n  lookups: hit:7 missed:3 lost:2\n  flows: 1\n") == (
        "netdev",
        7,
        3,
        2,
    )
    assert openflow.flow_count("OFPST_FLOW reply (OF1.3):\n cookie=0x0, priority=0 actions=drop\n") == 1
    text = (
        "OFPST_PORT reply (OF1.3) (xid=0x2): 2 ports\n"
        "  port LOCAL: rx pkts=1, bytes=2, drop=3, errs=4, frame=0, over=0, crc=0\n"
        "           tx pkts=5, bytes=6, drop=7, errs=8, coll=0\n"
        "           duration=1s\n"
        "  port  1: rx pkts=10, bytes=980, drop=?, errs=0, frame=?, over=?, crc=?\n"
        "           tx pkts=9, bytes=840, drop=1, errs=?, coll=?\n"
    )
    assert openflow.ports(text) == {
        1: dict(zip(openflow.PORT_KEYS, (10, 980, 0, 0, 9, 840, 1, 0), strict=True)),
    }


ALIAS = """
import sys
from testbed.agent.controller import ryu_alias as alias
alias.install()
from ryu.base import app_manager
from ryu.lib.packet import ethernet
import ryu.ofproto.ofproto_v1_3 as old
import os_ken.lib.packet.ethernet, os_ken.ofproto.ofproto_v1_3 as new
from os_ken.base.app_manager import OSKenApp
assert app_manager.RyuApp is OSKenApp
assert ethernet is os_ken.lib.packet.ethernet and old is new
assert new.__spec__.name == "os_ken.ofproto.ofproto_v1_3"
from ryu.app import simple_switch_13
assert issubclass(simple_switch_13.SimpleSwitch13, OSKenApp)
try:
    import ryu.nothing
except ModuleNotFoundError as error:
    print(error)
"""


def test_what_is_imported_from_ryu_is_os_ken() -> None:
    done = subprocess.run([sys.executable, "-c", ALIAS], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "No module named 'ryu.nothing'\n"), done.stderr


def test_without_open_vswitch_a_trial_is_refused_with_the_node_and_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trial = load_scenario(ROOT / "scenarios" / "sdn-first-packet.yaml").trials()[0]
    monkeypatch.setattr(readiness, "ready_kernel", lambda kernel: ready_kernel.ReadyKernel(kernel, None, None))  # type: ignore[arg-type]
    monkeypatch.setattr(package, "which", lambda program: None if program == "ovs-vswitchd" else f"/usr/bin/{program}")
    with pytest.raises(MachineError, match=r"node s1 \(ovs\): .*ovs-vswitchd is missing") as refused:
        readiness.check(trial, orders(trial))
    assert "apt-get install -y openvswitch-switch" in refused.value.fix


def test_without_os_ken_a_controller_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MachineError, match="os-ken is missing") as refused:
        controller.check(is_lab=True)
    assert refused.value.fix == "make setup"


def test_a_lab_kernel_sees_our_folders_wherever_they_are() -> None:
    start = steps([Start("c", "/run/tb-ovs/c", netns="tb-c")])
    found = steps_data(controller.with_interpreter(start, is_lab=True))
    mounts = {step["run"][-1]: step["run"][-3] for step in found if step.get("title") == "mount"}
    search = next(word for word in found[-1]["run"] if word.startswith("PYTHONPATH="))
    assert search == f"PYTHONPATH={os.pathsep.join(mounts)}"
    assert str(ROOT) in mounts.values()
    assert found[-1]["background"] == "controller-c"


def test_events_of_a_controller_are_told_from_the_start_of_the_workload() -> None:
    event = {"time_ns": 3 * 10**9, "kind": "connected", "dpid": 1}
    controllers = (openflow.ControllerEvidence("c", (event,), {"s": 2}, ()),)
    trial = make_trial()
    plan = orders(trial).plan
    good = fine(trial, plan)
    case = Case(trial, plan, replace(good, outcome=replace(good.outcome, begin_ns=10**9)))
    assert openflow.result(case, openflow.OpenFlowEvidence({}, controllers)) is None
    found = openflow.result(case, openflow.OpenFlowEvidence({"s": SWITCH}, controllers))
    assert found is not None
    told_back = found.controllers["c"]
    assert list(map(dict, told_back.events)) == [{"time_s": 2.0, "kind": "connected", "dpid": 1}]
    assert dict(told_back.packet_ins) == {"s": 2}


RYU = "from ryu.base import app_manager\n{}\nclass App(app_manager.RyuApp):\n    pass\n"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("from ryu.app.wsgi import ControllerBase", "ryu.app.wsgi"),
        ("import ryu.app.ofctl_rest", "ryu.app.ofctl_rest"),
        ("from ryu.app import wsgi, ofctl", "ryu.app.wsgi"),
        ("def later():\n    from os_ken.app import rest_router", "os_ken.app.rest_router"),
        ("from ryu.app.simple_switch_13 import SimpleSwitch13", None),
        ("from ryu.app.ofctl import api", None),
        ("import ryu.app.ofctl.api", None),
        ("try:\n    import ryu.app.wsgi\nexcept ImportError:\n    wsgi = None", None),
    ],
)
def test_parts_of_ryu_that_are_missing_are_refused_with_their_line(text: str, part: str | None, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(RYU.format(text))
    (tmp_path / "net.yaml").write_text(
        "name: net\nnodes: {a: {type: host}, s1: {type: ovs}, c0: {type: controller, app: app.py}}\n"
        "links: {l: {ends: [a, s1]}}\n"
    )
    if part is None:
        load_topology(tmp_path / "net.yaml")
        return
    line = 3 if text.startswith("def") else 2
    with pytest.raises(SpecError, match=rf"app\.py:{line}: {part} is a part of Ryu that os-ken does not have"):
        load_topology(tmp_path / "net.yaml")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("head = buffer(b'')[:6]", "buffer"),
        ("def buffer(data):\n    return data\n\n\nhead = buffer(b'')", None),
        ("from compat import unicode\nname = unicode('a')", None),
        ("try:\n    name = unicode('a')\nexcept NameError:\n    name = 'a'", None),
    ],
)
def test_what_only_python_2_has_is_refused_with_its_line(text: str, name: str | None, tmp_path: Path) -> None:
    """As in samples of Ryu for OpenFlow 1.0: the first packet would end them."""
    (tmp_path / "app.py").write_text(RYU.format(text))
    (tmp_path / "net.yaml").write_text(
        "name: net\nnodes: {a: {type: host}, s1: {type: ovs}, c0: {type: controller, app: app.py}}\n"
        "links: {l: {ends: [a, s1]}}\n"
    )
    if name is None:
        load_topology(tmp_path / "net.yaml")
        return
    with pytest.raises(SpecError, match=rf"app\.py:2: {name} is a part of Python 2"):
        load_topology(tmp_path / "net.yaml")
