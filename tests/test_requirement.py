"""A topology that cannot run here is refused before anything is touched, naming the part and the reason."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from testbed.error import MachineError, UserError
from testbed.kernel.ready import feasibility, probe, requirement
from testbed.kernel.ready.probe import PROBES, Lacking
from testbed.kernel.ready.requirement import ENGINES, Need, Never, needs, of_type
from testbed.model.node.type import NODE_TYPES
from testbed.model.openflow import Controller, Ovs
from testbed.model.topology import Link, Node, Topology
from testbed.plan.network import plan

NET = Topology("net", (Node("a", "host"), Node("s", "switch"), Node("b", "host")), ())
NET = replace(NET, links=(Link("left", ("a", "s")), Link("right", ("s", "b"))))


def lacking(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """A machine that has everything but these."""
    found = {name: Lacking(f"there is no {name}", f"get {name}") for name in names}
    monkeypatch.setattr(feasibility, "lacking", found.get)


def test_every_node_type_says_what_it_needs_on_either_kernel() -> None:
    nodes = [{"lab": of_type(kind, "lab"), "host": of_type(kind, "host")} for kind in NODE_TYPES.values()]
    for row in (*nodes, *ENGINES.values(), {"lab": requirement.REAL_NIC["lab"], "host": ()}):
        assert set(row) == {"lab", "host"}
        for needed in row.values():
            assert isinstance(needed, Never) or set(needed) <= set(PROBES)


def test_needs_are_told_of_the_node_or_link_that_has_them() -> None:
    slow = replace(
        NET, links=(replace(NET.links[0], forward=replace(NET.links[0].forward, delay_ns=10**6)), *NET.links[1:])
    )
    found = set(needs(slow, plan(slow), "host"))
    assert Need("node s (switch)", "bridge") in found
    assert Need("link left", "netem") in found
    assert not {need for need in found if need.part == "link right"}
    assert Need("node a (host)", "lab kernel") in set(needs(slow, plan(slow), "lab-realtime"))
    assert not {need for need in needs(slow, plan(slow), "lab") if need.part.startswith("link")}


def test_a_node_with_the_name_of_a_feature_does_not_need_it() -> None:
    nodes = (Node("a", "host"), Node("s", "ovs", ovs=Ovs()), Node("red", "controller", controller=Controller("switch")))
    net = Topology("net", nodes, (Link("path", ("a", "s")),))
    found = {need.needed for need in needs(net, plan(net), "host") if need.part.startswith("node red")}
    assert "controllers" in found
    assert "red" not in found


def test_what_is_lacking_is_refused_with_the_command_that_fixes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, "bridge")
    feasibility.refuse(NET, "lab")
    with pytest.raises(MachineError, match=r"^node s \(switch\): there is no bridge; to fix it, type: get bridge$"):
        feasibility.refuse(NET, "host")


def test_what_no_machine_can_do_is_the_users_error_and_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    never = Never("it is another computer", "kernel: host")
    monkeypatch.setattr(requirement, "COMPUTER", never)
    lacking(monkeypatch, "lab kernel", "root")
    net = replace(NET, nodes=(replace(NET.nodes[0], type="machine"), *NET.nodes[1:]))
    found = list(requirement.needs(net, plan(NET), "lab-realtime"))
    assert Need("node a (machine)", never) in found
    monkeypatch.setattr(feasibility, "needs", lambda *_: iter(found))
    with pytest.raises(UserError, match=r"^node a \(machine\): it is another computer; allowed: kernel: host$"):
        feasibility.refuse(NET, "lab-realtime")


def test_a_network_stands_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch)
    assert feasibility.place_for(NET, None) == ("host", "")
    lacking(monkeypatch, "root")
    assert feasibility.place_for(NET, None) == ("lab-realtime", " (engine netns: there is no root)")
    with pytest.raises(MachineError, match="there is no root"):
        feasibility.place_for(NET, "host")
    lacking(monkeypatch, "root", "lab kernel")
    why = r"kernel host: .* no root; kernel lab-realtime: .* no lab kernel"
    said = rf"this topology cannot run here \({why}\); .* get lab kernel"
    with pytest.raises(MachineError, match=said):
        feasibility.place_for(NET, None)


def test_every_ability_has_a_reason_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, "bridge")
    found = {(each.part, each.kernel): each for each in feasibility.abilities()}
    assert found["node type switch", "lab"].ok
    refused = found["node type switch", "host"]
    assert (refused.ok, refused.why, refused.fix) == (False, "there is no bridge", "get bridge")
    assert {part for part, _ in found} >= {f"node type {name}" for name in NODE_TYPES}


@pytest.mark.parametrize("name", PROBES)
def test_every_probe_looks_at_this_machine_and_says_what_to_type(name: str) -> None:
    found = probe.lacking(name)
    assert found is None or (found.what and found.fix)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_probes_of_the_hosts_kernel_tell_what_is_there_from_what_is_not() -> None:
    assert probe.lacking("veth") is None
    missing = probe._command("flux", "flux", *probe.ADD, "flux")
    assert missing is not None
    assert missing.what.startswith("this machine's kernel has no flux (")
    assert "sudo modprobe -a flux" in missing.fix


@pytest.mark.parametrize("field", ["lab_needs", "host_needs"])
def test_a_need_with_a_typo_is_a_bug_on_either_kernel(monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    lacking(monkeypatch)
    monkeypatch.setitem(NODE_TYPES, "switch", replace(NODE_TYPES["switch"], **{field: ("brigde",)}))
    for place in ("lab", "host"):
        with pytest.raises(AssertionError, match=r"BUG: the node type switch needs brigde; allowed: .*bridge"):
            feasibility.obstacles(NET, place)
