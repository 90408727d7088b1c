"""Mininet as an engine: what is made of a topology, what is read of one in Python, what the gate says of TCLinks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from test_gate import INTERVAL_NS, carried, fine
from trials import make_trial, steps_data, whole

from testbed.codec.keyed import read
from testbed.error import MachineError, SpecError
from testbed.kernel.ready import feasibility
from testbed.kernel.ready.probe import Lacking
from testbed.model.link.buffer import Buffer
from testbed.model.link.impairment import Direction
from testbed.model.openflow import Controller, Ovs
from testbed.model.scenario import Trial
from testbed.model.topology import Link, Topology
from testbed.plan import mininet
from testbed.plan.link import tclink
from testbed.plan.network import plan
from testbed.spec import mininet_import
from testbed.spec.load import files_of, is_scenario, load_scenario, load_topology
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.spec.syntax.attachment import permitted
from testbed.spec.topology.file import TopologyFile
from testbed.trial import readiness
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.stage import Evidence, TcEvidence
from testbed.trial.gate.judge import judge
from testbed.trial.observe.readback import HtbClass, Qdisc
from testbed.trial.orders.sequence import orders

HERE = Path(__file__).parent
CLASSES = HERE / "mininet" / "topologies.py"
LOOK = mininet_import.missing


@cache
def missing_for(python: tuple[str, ...]) -> MachineError | None:
    return LOOK()


@pytest.fixture(autouse=True)
def mininet_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a topology looks for Mininet first, with a process of Python that imports it."""
    monkeypatch.setattr(mininet_import, "missing", lambda: missing_for(mininet_import.MININET_PYTHON))


needs_mininet = pytest.mark.skipif(missing_for(mininet_import.MININET_PYTHON) is not None, reason="there is no Mininet")


def in_mininet(*links: str, engine: str = "mininet", **changes: Any) -> Trial:
    """A flow from a to b over a switch, with `links` to it."""
    trial = make_trial(path={"rate": "100 Mbit/s", "rtt": "10 ms", "buffer": None, **changes})
    return replace(trial, topology=replace(trial.topology, engine=engine))


def link_of(**changes: Any) -> Link:
    return in_mininet(**changes).topology.links[0]


@pytest.mark.parametrize(
    ("asked", "suits"),
    [
        ({}, True),
        ({"rate": None}, True),
        ({"rtt": None}, True),
        ({"rtt": None, "buffer": "10 packets"}, True),
        ({"buffer": "10 packets"}, False),
        ({"buffer": "1 bdp"}, False),
        ({"buffer": "10 kB"}, False),
        ({"rate": "1 Gbit/s"}, True),
        ({"rate": "1000000001 bit/s"}, False),
        ({"rate": None, "rtt": None}, False),
        ({"rtt": "3 ns"}, False),
        ({"rtt": None, "delay": {"forward": "1 ms", "backward": "2 ms"}}, False),
        ({"loss": "1 in 100"}, False),
        ({"loss": {"random": "1 %"}}, False),
        ({"jitter": "1 ms"}, False),
        ({"schedule": [{"at": "1 s", "rtt": "5 ms"}]}, False),
        ({"policy": {"after": "1 MB", "rate": "1 Mbit/s"}}, False),
    ],
    ids=str,
)
def test_a_link_is_a_tclink_where_that_does_all_that_is_asked(asked: dict[str, Any], suits: bool) -> None:
    topology = in_mininet(**asked).topology
    planned = plan(topology)
    assert tclink.suits(topology.links[0]) is suits
    assert len(planned.tc_ports) == (2 if suits else 0)
    assert len(planned.emulators) == (topology.links[0].is_emulated and not suits)
    assert not plan(replace(topology, engine="netns")).tc_ports


def test_a_queue_of_a_tclink_holds_what_is_on_its_way_and_the_buffer() -> None:
    # 100 Mbit/s for 5 ms are 500 kbit, 41.3 frames of 1514 bytes; one BDP of 10 ms is less than 100 frames.
    assert tclink.limit(link_of()) == 42 + 100
    assert tclink.limit(link_of(rtt=None, buffer="10 packets")) == 10
    assert tclink.limit(link_of(rate=None)) == 2**31 - 1
    assert tclink.options(link_of(rate="12345678 bit/s", rtt="36 us")) == {
        "bw": 12.345678,
        "delay": "18us",
        "max_queue_size": 101,
    }


def test_mininet_gets_the_names_and_addresses_that_our_own_commands_would_give() -> None:
    topology = in_mininet(loss="1 in 100").topology
    said = mininet.description(topology, plan(topology).book)
    assert [node["netns"] for node in said["hosts"]] == ["tb-a", "tb-b", "tb-path.emulator"]
    ends = [[(end["node"], end["device"]) for end in link["ends"]] for link in said["links"]]
    emulator = "tb-path.emulator"
    assert ends == [[("a", "eth0"), (emulator, "end0")], [(emulator, "end1"), ("b", "eth0")]]
    macs = [end["mac"] for link in said["links"] for end in link["ends"]]
    assert len(set(macs)) == 4
    assert macs[0] == "02:54:42:00:00:00"
    own = [command for command in plan(replace(topology, engine="netns")).commands if command.words[:1] == ("address",)]
    assert own
    assert set(own) <= set(plan(topology).commands)


def test_mininet_gets_its_open_vswitches_with_their_controllers_and_starts_them_itself() -> None:
    topology = read(
        TopologyFile,
        {
            "name": "t",
            "engine": "mininet",
            "nodes": {
                **{name: {"type": "host"} for name in "ab"},
                "s": {"type": "ovs", "datapath": "user", "dpid": "255"},
                "t": {"type": "ovs", "controller": "none"},
                "c": {"type": "controller", "app": "static", "control": {"rtt": "2 ms"}},
            },
            "links": {"as": {"ends": ["a", "s"]}, "st": {"ends": ["s", "t"]}, "tb": {"ends": ["t", "b"]}},
        },
    ).topology()
    planned, ours = plan(topology), plan(replace(topology, engine="netns"))
    said = mininet.description(topology, planned.book)
    assert {each["name"]: each["kind"] for each in said["hosts"]} == {"a": "host", "b": "host", "c": "node"}
    assert [each["kind"] for each in said["switches"]] == ["ovs", "ovs"]
    options = [each["options"] for each in said["switches"]]
    assert [each["targets"] for each in options] == [["tcp:198.18.0.1:6653"], []]
    assert [each["dpid"] for each in options] == ["00000000000000ff", "0000000000000002"]
    assert [each["failMode"] for each in options] == ["secure", "standalone"]
    assert [each["datapath"] for each in options] == ["user", "kernel"]
    skipped = {each.tool for each in ours.commands} - {each.tool for each in planned.commands}
    assert skipped == {"ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "wait"}
    assert planned.channels == ours.channels
    assert [e.netns for e in planned.emulators] == [e.netns for e in ours.emulators] == ["tb-c.control.emulator"]
    assert planned.namespaces == ours.namespaces == 7


def test_the_engine_can_be_an_axis_and_an_option(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(
        "name: t\nnodes: {a: {type: host}, b: {type: host}}\nlinks: {l: {ends: [a, b], rate: 1 Mbit/s}}\n"
    )
    said = "name: s\ntopology: t.yaml\nworkload: {tool: flow, from: a, to: b, duration: 1 s}\n"
    (tmp_path / "s.yaml").write_text(said)
    engines = {
        settings: [trial.topology.engine for trial in load_scenario(tmp_path / "s.yaml", settings).trials()]
        for settings in ((), ("engine=mininet",), ("engine=[netns, mininet]",))
    }
    assert [*engines.values()] == [["netns"], ["mininet"], ["netns", "mininet"]]
    (trial,) = load_scenario(tmp_path / "s.yaml", ["engine=mininet"]).trials()
    assert trial_of(trial_data(trial)).topology.engine == "mininet"
    with pytest.raises(SpecError, match="engine: 'ns3' is not known; allowed: netns, mininet"):
        load_scenario(tmp_path / "s.yaml", ["engine=ns3"])


@needs_mininet
def test_the_options_of_a_class_are_followed(tmp_path: Path) -> None:
    topology = topology_of(tmp_path, "Words", "{k: 2, name: host}")
    assert topology.engine == "mininet"
    assert [(node.name, node.type, node.addresses, node.mac) for node in topology.nodes] == [
        ("s-1", "ovs", (), None),
        ("host1", "host", ("10.0.0.1/8",), "00:00:00:00:aa:01"),
        ("host2", "host", ("10.0.0.2/8",), "00:00:00:00:aa:02"),
        ("c0", "controller", (), None),
    ]
    assert topology.node("s-1").ovs == Ovs(fail_mode="standalone", dpid=42)
    assert topology.node("c0").controller == Controller("learning-switch")
    assert [port.mac for port in plan(topology).book.ports_of("host2")] == ["00:00:00:00:aa:02"]
    first, second = (topology.link(f"host{n}-s-1") for n in (1, 2))
    assert first.forward == first.backward
    assert (first.forward.rate_bps, first.forward.delay_ns) == (500_000, 5_000_000)
    assert first.forward.jitter is not None
    assert first.forward.jitter.most_ns == 100_000
    assert first.forward.buffer == Buffer(20, "packets")
    assert str(first.forward.loss) == "RandomLoss(probability=Fraction(1, 100))"
    assert second.forward == Direction(rate_bps=10_000_000, delay_ns=1_000_000)
    assert second.backward == Direction(rate_bps=2_500_000, delay_ns=1_000_000)


@needs_mininet
def test_hosts_with_several_links_have_the_addresses_of_the_plan(tmp_path: Path) -> None:
    topology = topology_of(tmp_path, "Routed")
    assert {node.addresses for node in topology.nodes} == {()}
    assert [str(port.addresses[0]) for port in plan(topology).book.ports_of("middle")] == ["10.0.0.2/24", "10.0.1.2/24"]


@needs_mininet
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Ring", "t.yaml:2: link 's2-s0' closes a ring of switches, in which a broadcast never ends: the app"),
        ("Raises", "topologies.py:41: AttributeError: 'Raises' object has no attribute 'nothing'"),
        ("Shaped", "t.yaml:2: the link h1-s1 has the option 'use_hfsc'; allowed: bw, delay, delete"),
        ("Private", "t.yaml:2: h1 has the option 'privateDirs'; allowed: cores, cpu, def"),
        ("Queue", "t.yaml:2: the link h1-s1 has a max_queue_size but no bw; allowed: bw with it"),
        ("Absent", "topologies.py: there is no 'Absent' in it; allowed: words, Words, Routed, Ring"),
    ],
)
def test_a_class_that_cannot_be_followed_is_refused_with_its_place(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(SpecError) as refused:
        topology_of(tmp_path, name)
    (problem,) = refused.value.problems
    assert said in str(problem)


@needs_mininet
def test_switches_are_what_their_classes_say_and_ask_one_controller(tmp_path: Path) -> None:
    said = "{stp: true, failMode: standalone, dpid: '1f', datapath: kernel, protocols: 'OpenFlow10,OpenFlow13'}"
    topology = topology_of(tmp_path, "Kinds", said)
    assert {node.name: node.ovs for node in topology.nodes if node.type == "ovs"} == {
        "plain": Ovs(fail_mode="standalone", datapath="kernel", dpid=31),
        "lone": Ovs(controller="none", fail_mode="standalone"),
        "slow": Ovs(datapath="user"),
    }
    assert (topology.node("bridge").type, topology.node("bridge").stp) == ("switch", True)
    (channel,) = plan(topology).channels
    assert (channel.name, channel.switches) == ("c0", ("plain", "slow"))


@needs_mininet
def test_a_file_can_ask_for_bridges_and_for_another_controller(tmp_path: Path) -> None:
    bridges = topology_of(tmp_path, "Kinds", "{failMode: standalone}", "switch: bridge")
    assert {node.type for node in bridges.nodes} == {"host", "switch"}
    static = topology_of(tmp_path, "Ring", "{}", "controller: {app: static, control: {rtt: 10 ms}}")
    controller = static.node("c0").controller
    assert controller is not None
    assert (controller.app, controller.rtt_ns) == ("static", 10_000_000)
    alone = topology_of(tmp_path, "Kinds", "{}", "controller: none")
    assert plan(alone).channels == ()


@needs_mininet
@pytest.mark.parametrize(
    ("args", "more", "said"),
    [
        ("{failMode: open}", "", "failMode 'open' is not known; allowed: secure, standalone"),
        ("{protocols2: 1}", "", "plain has the option 'protocols2'; allowed: batch, datapath, dpid"),
        ("{dpid: xyz}", "", "dpid 'xyz' is not a number; allowed: up to 16 hexadecimal digits"),
        ("{inband: true}", "", "plain has the option 'inband'; allowed: batch"),
        ("{reconnectms: 5}", "", "reconnectms 5 is not supported; allowed: 1000"),
        ("{datapath: user}", "switch: bridge", "plain, a bridge, has the option 'datapath'; allowed: batch, dpid"),
        (
            "{protocols: OpenFlow10}",
            "",
            "protocols 'OpenFlow10' do not include the one that controllers use here; allowed: OpenFlow13",
        ),
        ("{}", "switch: hub", "switch: 'hub' is not known; allowed: ovs, bridge"),
        ("{}", "controller: pox", "the controller is 'pox'; allowed: keys such as {app: learning-switch}, or none"),
        ("{}", "controller: {app: nat}", "t.yaml:2: app: there is no app 'nat'; allowed: learning-switch"),
    ],
)
def test_what_cannot_be_followed_of_switches_is_refused(tmp_path: Path, args: str, more: str, said: str) -> None:
    with pytest.raises(SpecError) as refused:
        topology_of(tmp_path, "Kinds", args, more)
    assert said in str(refused.value)


@needs_mininet
def test_a_class_that_loops_comes_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mininet_import, "READ_LIMIT_S", 1)
    with pytest.raises(SpecError, match=r"topologies.py: Loops did not finish within 1 s: it loops"):
        topology_of(tmp_path, "Loops")


@needs_mininet
def test_a_file_that_loops_comes_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mininet_import, "READ_LIMIT_S", 1)
    (tmp_path / "loops.py").write_text("while True:\n    pass\n")
    with pytest.raises(SpecError, match=r"loops.py: the only topology did not finish within 1 s: it loops"):
        load_topology(tmp_path / "loops.py")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("topo: campus", "topo: this does not name a class in a Python file; allowed: FILE.py:CLASS"),
        ("topo: none.py:A", "'none.py' cannot be read; allowed: a Python file"),
        ("topo: {file: a.py}", "the key 'class' is missing"),
        ("topo: a.py:A\nnodes: {}", "topo and nodes exclude each other; allowed: one"),
    ],
)
def test_a_key_that_names_no_class_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(f"name: t\n{text}\n")
    with pytest.raises(SpecError) as refused:
        load_topology("t.yaml")
    assert said in str(refused.value)


def topology_of(folder: Path, name: str, args: str = "{}", more: str = "") -> Topology:
    path = folder / "t.yaml"
    path.write_text(f"name: t\ntopo: {{file: {CLASSES}, class: {name}, args: {args}{more and ', '}{more}}}\n")
    return load_topology(path, permitted([CLASSES]))


def test_without_mininet_nothing_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = in_mininet()
    found = {"Mininet": Lacking("Mininet is missing", "apt-get install mininet")}
    monkeypatch.setattr(feasibility, "lacking", found.get)
    said = "^engine mininet: Mininet is missing; to fix it, type: apt-get install mininet$"
    with pytest.raises(MachineError, match=said):
        readiness.check(trial, orders(trial))


def test_a_python_without_mininet_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mininet_import, "MININET_PYTHON", ("/usr/bin/python3", "-EsSB"))  # without Debian's packages
    lacking = mininet_import.missing()
    assert lacking is not None
    assert "No module named 'mininet'" in lacking.what
    assert "apt-get install -y mininet" in lacking.fix


def htb_of(rate_bps: int | None) -> HtbClass | None:
    """As Mininet sets it up: tc writes times in whole microseconds, of 15 KiB and of 1600 bytes."""
    if rate_bps is None:
        return None
    bucket_ns, ceiling_ns = (octets * 8 * 10**6 // rate_bps * 1000 for octets in (15_360, 1600))
    return HtbClass(rate_bps, rate_bps, bucket_ns, ceiling_ns)


def tc_evidence(trial: Trial, change: Callable[[TcEvidence], TcEvidence]) -> Evidence:
    """All as asked, but for the end at which the data leaves."""
    planned = orders(trial).plan
    data, answers = (
        tuple(
            TcEvidence(
                port,
                htb_of(port.rate_bps),
                Qdisc(port.netns, 1, "10:", "netem", port.limit, port.delay_ns, 0, more={"limit": port.limit}),
                0,
                carried(port.rate_bps or 0),
            )
            for port in planned.tc_passed(is_data=is_data)
        )
        for is_data in (True, False)
    )
    data, answers = (tuple(map(_in_place, ends)) for ends in ((change(data[0]),), answers))
    seen = replace(fine(trial, planned), mininet="2.3.0", data_tc_ends=data, answer_tc_ends=answers)
    return whole(trial, planned, seen)


def _in_place(end: TcEvidence) -> TcEvidence:
    """Samples and settings of the queues of its own port."""
    handle, kind = (tclink.HTB, "htb") if end.port.rate_bps else (tclink.NETEM, "netem")
    samples = tuple(replace(each, netns=end.port.netns, handle=handle, kind=kind) for each in end.samples)
    netem = None if end.netem is None else replace(end.netem, netns=end.port.netns)
    after = netem if end.netem_after is None else replace(end.netem_after, netns=end.port.netns)
    htb_after = end.htb if end.htb_after is None else end.htb_after
    return replace(end, samples=samples, netem=netem, htb_after=htb_after, netem_after=after)


NETEM = Qdisc("n", 1, "10:", "netem", 142, 5_000_000, 0, more={"limit": 142})
HTB = HtbClass(100_000_000, 100_000_000, 1_228_000, 128_000)
BURST_BPS = tclink.BURST_BYTES * 8e9 / INTERVAL_NS


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, set()),
        ({"htb": None}, {("set-up", "invalid")}),
        ({"htb": replace(HTB, rate_bps=99_000_000)}, {("set-up", "invalid")}),
        ({"htb": replace(HTB, rate_bps=99_999_992)}, set()),
        ({"htb": replace(HTB, ceiling_bps=99_999_991)}, {("set-up", "invalid")}),
        ({"htb": replace(HTB, ceiling_bps=200_000_000)}, {("set-up", "invalid")}),
        ({"htb": replace(HTB, bucket_ns=1_228_800 + 64)}, set()),
        ({"htb": replace(HTB, bucket_ns=1_228_800 - 1064)}, set()),
        ({"htb": replace(HTB, bucket_ns=1_228_800 - 1065)}, {("set-up", "invalid")}),
        ({"htb": replace(HTB, bucket_ns=1_228_800 + 1065)}, {("set-up", "invalid")}),
        ({"htb": replace(HTB, ceiling_bucket_ns=128_000 - 1064)}, set()),
        ({"htb": replace(HTB, ceiling_bucket_ns=128_000 + 1065)}, {("set-up", "invalid")}),
        ({"htb_after": replace(HTB, bucket_ns=80_000_000)}, {("set-up", "invalid")}),
        ({"netem_after": replace(NETEM, limit=143)}, {("set-up", "invalid")}),
        ({"netem": None}, {("set-up", "invalid")}),
        ({"netem": replace(NETEM, limit=1000)}, {("set-up", "invalid")}),
        ({"netem": replace(NETEM, delay_ns=4_999_000)}, {("set-up", "invalid")}),
        ({"drops": 3}, {("TCLink", "suspect"), ("TCLink", "valid")}),
        ({"samples": carried(100e6 + BURST_BPS)}, set()),
        ({"samples": carried(102e6 + BURST_BPS)}, {("rate", "invalid")}),
    ],
)
def test_the_gate_tells_a_tclink_that_is_not_what_was_asked(
    change: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    trial = in_mininet()
    evidence = tc_evidence(trial, lambda seen: replace(seen, **change))
    found = judge(Case(trial, orders(trial).plan, evidence))
    assert {(each.check, each.verdict) for each in found} == expected


def test_hosts_of_tclinks_send_packets_one_by_one_unless_they_are_asked_not_to() -> None:
    trial = in_mininet()
    assert dict(orders(trial).plan.nics) == {"a": "plain", "b": "plain"}
    segments = [each.words for each in orders(trial).plan.commands if "gso_max_segs" in each.words]
    assert len(segments) == 2
    asked = replace(trial, topology=replace(trial.topology, nic="offload"))
    planned = orders(asked).plan
    found = judge(Case(asked, planned, tc_evidence(asked, lambda seen: seen)))
    assert {(each.check, each.verdict) for each in found} == {("TCLink", "valid")}


def test_the_driver_reads_what_the_plan_says() -> None:
    (step,) = [step for step in steps_data(orders(in_mininet()).steps) if step.get("title") == "mininet"]
    assert step["run"][-2:] == ["build", "/run/trial"]
    assert json.loads(step["stdin"])["links"][0]["tc"]["bw"] == 100.0


ONE = """
from mininet.topo import Topo


class One(Topo):
    def build(self):
        self.addLink(self.addHost("h1"), self.addHost("h2"), bw=10, delay="5ms", use_htb=True)
"""


@needs_mininet
def test_a_python_file_is_a_topology_itself(tmp_path: Path) -> None:
    (tmp_path / "My_Net.py").write_text(ONE)
    made = load_topology(tmp_path / "My_Net.py")
    assert (made.name, made.engine, [node.name for node in made.nodes]) == ("my-net", "mininet", ["h1", "h2"])
    assert made == load_topology(f"{tmp_path / 'My_Net.py'}:One")
    (tmp_path / "named.yaml").write_text("name: my-net\ntopo: My_Net.py:One\n")
    assert made == load_topology(tmp_path / "named.yaml")
    assert not is_scenario(tmp_path / "My_Net.py")


@needs_mininet
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ONE + "\n\nclass Two(One):\n    pass\n", "there are several topologies in it; allowed: .*py:One, .*py:Two"),
        ("x = 1\n", "there is no topology in it; allowed: a class of Topo's"),
        ("def f(:\n", "net.py:1: SyntaxError"),
    ],
)
def test_a_python_file_that_is_not_one_topology_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "net.py").write_text(text)
    with pytest.raises(SpecError, match=said):
        load_topology(tmp_path / "net.py")


@needs_mininet
def test_topos_come_before_classes(tmp_path: Path) -> None:
    """What `mn --custom` would offer."""
    (tmp_path / "net.py").write_text(ONE + "\n\nclass Two(One):\n    pass\n\n\ntopos = {'two': Two}\n")
    assert load_topology(tmp_path / "net.py") == load_topology(f"{tmp_path / 'net.py'}:two")


@needs_mininet
def test_a_scenario_names_a_python_file_and_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(ONE)
    (tmp_path / "s.yaml").write_text(
        "name: s\ntopology: net.py\nworkload: {tool: flow, from: h1, to: h2, duration: 1 s}\n"
    )
    assert load_scenario(tmp_path / "s.yaml").trials()[0].topology.engine == "mininet"
    assert files_of(tmp_path / "s.yaml")["topology.py"] == str(tmp_path / "net.py")
