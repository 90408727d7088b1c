"""The plan: topologies in, exact scripts out; and what holds for every topology.

Each `plans/NAME.yaml`, a topology or a scenario, and each of `topologies/`, leads to the script `plans/NAME.sh` (or
`plans/topologies/NAME.sh`). After a change that is meant, write them anew and read the difference:

    TESTBED_UPDATE=1 pytest tests/test_plan.py; git diff tests/plans
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from network import Forwarding, Wires, topologies, vlan_topologies
from trials import steps_data

from testbed import units
from testbed.cli import main
from testbed.error import UserError
from testbed.library import SCENARIOS
from testbed.model.address import address_book
from testbed.model.route import way
from testbed.model.topology import Link, Node, Topology
from testbed.model.workload import PingWorkload
from testbed.plan.batch import batches, steps
from testbed.plan.command import PREFIX, Command, File, comment, undos
from testbed.plan.command import script as as_script
from testbed.plan.linux import Namespace, Write
from testbed.plan.network import plan
from testbed.plan.node.namespace import node_netns
from testbed.spec.load import is_scenario, load_scenario, load_topology
from testbed.spec.syntax.attachment import permitted
from testbed.trial.orders.sequence import orders

HERE = Path(__file__).parent
PLANS = sorted((HERE / "plans").glob("*.yaml"))
TOPOLOGIES = sorted((HERE.parent / "topologies").glob("*.yaml"))


def script(path: Path) -> str:
    if is_scenario(path):
        return orders(load_scenario(path, permission=permitted([HERE.parent])).trials()[0]).script
    return plan(load_topology(path, permitted([HERE.parent]))).script()


def stem(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize(
    ("path", "expected"),
    [(path, path.with_suffix(".sh")) for path in PLANS]
    + [(path, HERE / "plans/topologies" / f"{path.stem}.sh") for path in TOPOLOGIES],
    ids=[path.stem for path in PLANS] + [f"topologies-{path.stem}" for path in TOPOLOGIES],
)
def test_a_topology_leads_to_exactly_this_script(path: Path, expected: Path) -> None:
    if os.environ.get("TESTBED_UPDATE"):
        expected.write_text(script(path))
    assert script(path) == expected.read_text()


def test_every_script_belongs_to_a_topology() -> None:
    scripts = {path.relative_to(HERE / "plans").with_suffix("") for path in (HERE / "plans").rglob("*.sh")}
    asked = {Path(path.stem) for path in PLANS} | {Path("topologies", path.stem) for path in TOPOLOGIES}
    assert scripts == asked


@given(topologies())
def test_the_undos_are_the_reverse_of_what_was_done(topology: Topology) -> None:
    planned = plan(topology)
    done = [command for command in planned.commands if command.undo]
    assert [replace(undo, netns=None, on=None) for undo in planned.undos] == [each.undo for each in reversed(done)]
    assert [(undo.netns, undo.on) for undo in planned.undos] == [(each.netns, each.on) for each in reversed(done)]


@given(topologies())
def test_every_device_is_made_in_a_namespace_that_is_removed_again(topology: Topology) -> None:
    planned = plan(topology)
    made = [command.words[2] for command in planned.commands if command.words[:2] == ("netns", "add")]
    gone = [undo.words[2] for undo in planned.undos if undo.words[:2] == ("netns", "del")]
    assert gone == made[::-1]
    inside = {netns for command in planned.commands for netns in (command.netns, *_netns_words(command)) if netns}
    assert inside <= set(made)


def _netns_words(command: Command) -> tuple[str, ...]:
    if command.words[:2] != ("link", "add"):
        return ()
    pairs = zip(command.words, command.words[1:], strict=False)
    return tuple(value for key, value in pairs if key == "netns")


@given(topologies())
def test_every_namespace_carries_our_prefix_and_is_made_once(topology: Topology) -> None:
    names = [c.words[2] for c in plan(topology).commands if c.words[:2] == ("netns", "add")]
    assert all(name.startswith(PREFIX) for name in names)
    assert len(set(names)) == len(names)


@given(topologies())
def test_every_address_is_there_once(topology: Topology) -> None:
    ports = address_book(topology).ports
    addresses = [address.ip for port in ports for address in port.addresses]
    assert len(set(addresses)) == len(addresses)
    assert len({port.mac for port in ports}) == len(ports)
    assert len({(port.node, port.device) for port in ports}) == len(ports)


@given(topologies(), st.data())
def test_appending_a_host_changes_no_address(topology: Topology, data: st.DataObject) -> None:
    neighbour = data.draw(st.sampled_from([node.name for node in topology.nodes]))
    longer = replace(
        topology,
        nodes=(*topology.nodes, Node("appended", "host")),
        links=(*topology.links, Link("appended-link", ("appended", neighbour))),
    )
    before = address_book(topology).ports
    assert address_book(longer).ports[: len(before)] == before


@given(topologies())
def test_every_host_reaches_every_other(topology: Topology) -> None:
    network = Forwarding(topology, plan(topology))
    hosts = [node.name for node in topology.nodes if node.type == "host"]
    for source in hosts:
        for destination in hosts:
            for address in network.addresses_of(destination):
                assert network.send(source, address) == destination


@given(vlan_topologies())
def test_hosts_with_a_path_reach_each_other_and_others_hear_nothing(topology: Topology) -> None:
    planned = plan(topology)
    network = Forwarding(topology, planned)
    hosts = [node.name for node in topology.nodes if node.type == "host"]
    for source, destination in permutations(hosts, 2):
        if topology.path(source, destination) is None:
            continue
        found = way(topology, planned.book, source, destination)
        assert network.send(source, found.destination_ip) == destination
        assert network.send(destination, found.source_ip) == source


@given(vlan_topologies())
def test_a_segment_is_what_a_broadcast_reaches(topology: Topology) -> None:
    planned = plan(topology)
    wires = Wires(planned)
    interfaces = [port for node in topology.nodes for port in planned.book.interfaces_of(node.name) if port.addresses]
    for port in interfaces:
        others = {(node_netns(o.node), o.device) for o in planned.book.members(port.segment)}
        itself = (node_netns(port.node), port.device)
        assert wires.hear(*itself) | {itself} == others | {itself}


@given(topologies())
def test_the_batches_hold_all_commands_in_their_order(topology: Topology) -> None:
    planned = plan(topology)
    assert tuple(c for batch in batches(planned.commands) for c in batch.commands) == planned.commands
    lines = [line for step in steps_data(steps(planned.commands)) for line in step.get("stdin", "").splitlines()]
    assert lines == [" ".join(c.words) for c in planned.commands if c.tool in ("ip", "tc", "bridge", "nft")]


@given(st.text(), st.text())
def test_a_field_of_a_command_stays_one_word_whatever_is_in_it(one: str, other: str) -> None:
    assert Write(one, other).words == (one, other)
    assert File(one, other).words == (one, other)
    assert Namespace(one).words == ("netns", "add", one)
    assert [undo.words for undo in undos((Namespace(one),))] == [("netns", "del", one)]


def test_undoing_what_was_undone_does_nothing() -> None:
    commands = (Namespace("tb-a"),)
    assert len(undos(commands)) == 1
    assert undos(undos(commands)) == ()


def test_two_nodes_with_one_address_are_refused() -> None:
    nodes = (Node("a", "host", addresses=("10.1.0.1/24",)), Node("b", "host", addresses=("10.1.0.1/16",)))
    with pytest.raises(UserError, match=r"both have the address 10\.1\.0\.1; allowed: each address once"):
        plan(Topology("net", nodes, (Link("path", ("a", "b")),)))


def test_a_given_network_that_is_full_is_refused() -> None:
    nodes = (Node("a", "host", addresses=("10.1.0.1/31",)), Node("s", "switch"), Node("b", "host"), Node("c", "host"))
    links = (Link("one", ("a", "s")), Link("two", ("b", "s")), Link("three", ("c", "s")))
    with pytest.raises(UserError, match=r"10\.1\.0\.0/31 has no address left for c"):
        plan(Topology("net", nodes, links))


def test_a_segment_of_a_thousand_hosts_gets_a_network_that_holds_them() -> None:
    hosts = tuple(Node(f"h{i}", "host") for i in range(1000))
    links = tuple(Link(f"l{i}", ("s", f"h{i}")) for i in range(1000))
    book = address_book(Topology("net", (Node("s", "switch"), *hosts), links))
    networks = {address.network for port in book.ports for address in port.addresses}
    assert [network.num_addresses for network in networks] == [1024]


@pytest.mark.parametrize("text", ["1 ms", "15 ns", "1000001 ns", "366 ms", "2.5 us"])
def test_the_two_ways_of_a_round_trip_add_up(text: str) -> None:
    path = f"name: n\nnodes: {{a: {{type: host}}, b: {{type: host}}}}\nlinks: {{path: {{ends: [a, b], rtt: {text}}}}}\n"
    link = _loaded(path).links[0]
    assert link.rtt_ns == units.parse_time(text)
    assert link.backward.delay_ns - link.forward.delay_ns in (0, 1)


def _loaded(text: str) -> Topology:
    from testbed.spec.syntax.document import Position, parse
    from testbed.spec.topology.rules import check_topology

    file, faults = check_topology(parse(text, Position("net.yaml", 1)))
    assert file is not None, faults
    return file.topology()


def test_the_data_goes_to_the_address_on_the_last_link_of_its_path() -> None:
    nodes = (Node("a", "host"), Node("b", "host"), Node("c", "host"))
    links = (Link("aside", ("b", "c")), Link("direct", ("a", "b")))
    planned = plan(Topology("net", nodes, links), PingWorkload("a", "b"))
    assert planned.destination in {address.ip for address in planned.book.port("b", "direct").addresses}


NASTY = "\nid > /tmp/owned\n#\r\x1b[2J\u2028\x85id"


def test_a_comment_has_no_line_that_a_shell_runs() -> None:
    said = comment(f"on left: {NASTY}")
    assert said.endswith("\n")
    assert all(line.startswith("# ") for line in said.removesuffix("\n").split("\n"))
    assert all(line.isprintable() for line in said.removesuffix("\n").split("\n"))


def test_a_command_for_another_kernel_is_a_comment_to_its_last_line() -> None:
    """Even of a plan that was not made from a file, whose reader refuses such text."""
    command = Write("/proc/sys/net/ipv4/tcp_ecn", NASTY, on="left")
    assert all(line.startswith("# ") for line in as_script([command]).removesuffix("\n").split("\n"))


def test_the_name_of_a_scenarios_file_is_a_comment_to_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / f"x\nid > {'owned'}\n"
    home.mkdir()
    shutil.copy(SCENARIOS / "quickstart.yaml", home)
    text = (home / "quickstart.yaml").read_text()
    (home / "quickstart.yaml").write_text(text.replace("../topologies", str(TOPOLOGIES[0].parent)))
    monkeypatch.setattr("sys.argv", ["testbed", "plan", str(home / "quickstart.yaml")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    said = capsys.readouterr().out
    assert "\n# id > owned\n# /quickstart.yaml)\n" in said
    assert not [line for line in said.splitlines() if line.startswith(("id", "/"))]
