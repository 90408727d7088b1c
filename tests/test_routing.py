"""Routing daemons, translated addresses and firewalls: keys, commands, and what the gate says of made-up evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from trials import make_trial

from testbed.agent.routing import await_routes
from testbed.codec.keyed import read
from testbed.error import SpecError, UserError
from testbed.model.address import address_book
from testbed.model.data_path import data_path_between, detours, must_cross
from testbed.model.topology import Topology
from testbed.plan.network import plan
from testbed.plan.node import frr
from testbed.spec.load import load_topology
from testbed.spec.topology.file import TopologyFile
from testbed.trial.gate.link.rtt_check import own_packets_s
from testbed.trial.orders.sequence import orders
from testbed.trial.subject import routing
from testbed.trial.subject.routing import Look, RouterEvidence, RoutingEvidence

READY = Path(__file__).parents[1] / "topologies" / "ospf-triangle.yaml"


def triangle(**changes: Any) -> dict[str, Any]:
    data = dict(yaml.safe_load(READY.read_text()))
    for name, value in changes.items():
        data["nodes"][name] = value
    return data


def topology(tmp_path: Path, data: dict[str, Any]) -> Topology:
    path = tmp_path / "t.yaml"
    path.write_text(yaml.safe_dump(data))
    return load_topology(path)


def test_the_configuration_says_what_the_file_says(tmp_path: Path) -> None:
    made = topology(tmp_path, triangle())
    ((node, asked), *_) = frr.routers(made)
    text = frr.config(node, asked, made, address_book(made))
    assert " timers throttle spf 0 50 5000" in text
    assert text.count(" ip ospf dead-interval 4") == 3
    assert text.count(" ip ospf passive") == 1  # towards the host
    assert text.count(" ip ospf network point-to-point") == 2
    assert " ip ospf cost 30" in text
    assert frr.daemons(text) == ("zebra", "ospfd")


@pytest.mark.parametrize(("key", "seconds"), [("hello", 2), ("dead", 5)])
def test_routers_whose_hellos_differ_are_refused(tmp_path: Path, key: str, seconds: int) -> None:
    def router(**more: object) -> dict[str, object]:
        times = {"hello": "1 s", "dead": "4 s", key: f"{seconds} s"}
        return {"type": "router", "frr": {"ospf": times, **more}}

    with pytest.raises(SpecError) as error:
        topology(tmp_path, triangle(r2=router()))
    usual = {"hello": 1, "dead": 4}[key]
    assert f"{key} is {seconds} s here and {usual} s at 'r1', so the two never" in str(error.value)
    with pytest.raises(SpecError, match="never become neighbours"):  # one of the two waits for the other
        topology(tmp_path, triangle(r2=router(within="none")))
    data = triangle(r2=router(within="none"))
    for name in ("r1", "r3"):
        data["nodes"][name]["frr"]["within"] = "none"
    assert len(frr.routers(topology(tmp_path, data))) == 3


def test_a_router_speaks_to_one_with_a_configuration_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "r2.conf").write_text("router ospf\n network 0.0.0.0/0 area 0\n")
    data = triangle(r2={"type": "router", "frr": {"config": "r2.conf"}})
    data["nodes"]["r1"]["frr"]["rip"] = {}
    made = topology(tmp_path, data)
    ((node, asked), *_) = frr.routers(made)
    text = frr.config(node, asked, made, address_book(made))
    assert text.count(" ip ospf passive") == 1, "towards the host alone"
    assert text.count(" ip ospf network point-to-point") == 1, "as FRR's own on the segment of the configuration"
    assert text.count(" passive-interface ") == 2, "r3 has no RIP"


def test_every_daemon_of_a_configuration_starts() -> None:
    text = "router bgp 1\n neighbor 10.0.0.1 remote-as 2\nrouter rip\nip route 10.9.0.0/16 10.0.0.1\n"
    assert frr.daemons(text) == ("zebra", "ripd", "bgpd", "staticd")
    assert frr.daemons("interface eth0\n ipv6 ospf6 area 0\n") == ("zebra", "ospf6d")


def test_daemons_of_an_exercise_may_wake_late_and_nothing_else_may(tmp_path: Path) -> None:
    made = topology(tmp_path, triangle())
    steps = [each.step for each in frr.commands(made, address_book(made))]
    patient = [frr.patient(each) for each in steps]
    changed = [(was, now) for was, now in zip(steps, patient, strict=True) if was != now]
    assert len(changed) == 2 * 3, "zebra and ospfd of three routers"
    for was, now in changed:
        assert was.words[0].startswith("/usr/lib/frr/")
        assert now.words == ("sh", "-c", frr.PATIENT, "1100000", *was.words)


def test_routers_with_daemons_get_no_routes_from_the_plan(tmp_path: Path) -> None:
    made = plan(topology(tmp_path, triangle()))
    routed = {each.netns for each in made.commands if each.tool == "ip" and each.words[:1] == ("route",)}
    assert routed == {"tb-a", "tb-b"}


def test_what_comes_over_a_link_only_is_known_where_nobody_chooses_another_way(tmp_path: Path) -> None:
    """From b to a: over their own links surely; over the triangle by the routes of the plan, if these decide."""

    def crossed(data: dict[str, Any]) -> list[tuple[str, str]]:
        made = topology(tmp_path, data)
        book = address_book(made)
        ways = ((link.name, way) for link in made.links for way, _ in link.directions)
        return [(link, way) for link, way in ways if must_cross(made, book, "b", "a", link, way)]

    access = [("a-r1", "backward"), ("b-r2", "forward")]
    assert crossed(triangle()) == access, "daemons choose"
    plain = {each: {"type": "router"} for each in ("r1", "r2", "r3")}
    assert sorted(crossed(triangle(**plain))) == sorted([*access, ("r1-r2", "backward")])
    switches = {each: {"type": "switch", "stp": True} for each in ("r1", "r2", "r3")}
    assert crossed(triangle(**switches)) == access, "so does the spanning tree"
    (tmp_path / "rules.nft").write_text("table ip t {\n}\n")
    plain["r3"] = {"type": "router", "nftables": "rules.nft"}
    assert crossed(triangle(**plain)) == access, "a ruleset may translate addresses"


def test_the_data_path_follows_the_costs_and_detours_the_links_that_are_left(tmp_path: Path) -> None:
    data = triangle()
    data["links"]["r1-r2"]["schedule"] = [{"at": "1 s", "down": True}]
    made = topology(tmp_path, data)
    book = address_book(made)
    path = data_path_between(made, book, "a", "b")
    assert [hop.link.name for hop in path.path] == ["a-r1", "r1-r2", "b-r2"]
    (detour,) = detours(made, book, path)
    assert [hop.link.name for hop in detour.path] == ["a-r1", "r1-r3", "r2-r3", "b-r2"]
    assert detour.rtt_ns == 20_000_000
    # A ping may wait for a frame of OSPF's at each of the two links between routers, there and back.
    assert own_packets_s(made, detour) == pytest.approx(4 * 8 * 1514 / 10e6)
    assert own_packets_s(made, path) == pytest.approx(2 * 8 * 1514 / 10e6)
    mute = topology(tmp_path, triangle(r2={"type": "router"}))
    assert own_packets_s(mute, path) == 0
    dear = {"type": "router", "frr": {"ospf": {"costs": {"r1-r2": 100}}}}
    other = topology(
        tmp_path, triangle(r1=dear, **{name: {"type": "router", "frr": {"ospf": {}}} for name in ("r2", "r3")})
    )
    assert [hop.link.name for hop in data_path_between(other, address_book(other), "a", "b").path][1] == "r1-r3"


WEB = {"port": 80, "to": "10.0.0.1"}
FAULTS = {
    "no protocol": ({"frr": {}}, "this names no protocol"),
    "both": ({"frr": {"rip": {}, "config": "x.conf", "text": "router rip\n"}}, "config has the whole configuration"),
    "dead": ({"frr": {"ospf": {"hello": "5 s", "dead": "5 s"}}}, "every neighbour would be down"),
    "half a second": ({"frr": {"ospf": {"hello": "500 ms"}}}, "no time that the protocol can say"),
    "link": ({"frr": {"ospf": {"costs": {"b-r2": 5}}}}, "the router has no link 'b-r2'"),
    "spf": ({"frr": {"ospf": {"spf": ["1 s", "2 s"]}}}, "these are not three times"),
    "within": ({"frr": {"rip": {}, "within": "10 ms"}}, "is too short"),
    "file": ({"frr": {"config": "none.conf"}}, "cannot be read"),
    "out": ({"nat": {"out": "b-r2"}}, "the router has no link 'b-r2'"),
    "twice": (
        {"nat": {"out": "a-r1", "forward": [{"port": 80, "to": "10.0.0.1"}, {"port": 80, "to": "10.0.0.9"}]}},
        "is passed on already",
    ),
    "port": ({"firewall": [{"action": "deny", "port": 80}]}, "only tcp and udp have ports"),
    "node": ({"firewall": [{"action": "deny", "from": "c"}]}, "there is no node 'c'"),
    "ruleset": ({"firewall": [], "nftables": "x.nft", "nftables_text": "x"}, "a ruleset replaces nat and firewall"),
}


@pytest.mark.parametrize(("keys", "said"), FAULTS.values(), ids=list(FAULTS))
def test_what_makes_no_sense_is_refused_with_its_line(tmp_path: Path, keys: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        topology(tmp_path, triangle(r1={"type": "router", **keys}))
    assert said in str(refused.value)
    assert "t.yaml:" in str(refused.value)


def test_a_file_that_is_named_becomes_part_of_the_topology(tmp_path: Path) -> None:
    (tmp_path / "r1.conf").write_text("router ospf\n network 10.0.0.0/8 area 0\n")
    made = topology(tmp_path, triangle(r1={"type": "router", "frr": {"config": "r1.conf"}}))
    ((node, asked), *_) = frr.routers(made)
    assert "network 10.0.0.0/8 area 0" in frr.config(node, asked, made, address_book(made))
    assert not frr.knowledge(made, address_book(made))[0].is_told


LONG = "!" * 4095 + "output file /x"


@pytest.mark.parametrize(
    "order", ["output file /x", "ou file /x", " O file /x", "wr", "cop /x running-config", "d wr", LONG]
)
def test_orders_of_vtysh_are_refused_however_they_are_written(tmp_path: Path, order: str) -> None:
    """vtysh takes the beginning of a word for the word, and reads 4095 bytes at a time."""
    (tmp_path / "r1.conf").write_text(f"router ospf\n network 10.0.0.0/8 area 0\nexit\n{order}\n")
    made = topology(tmp_path, triangle(r1={"type": "router", "frr": {"config": "r1.conf"}}))
    ((node, asked), *_) = frr.routers(made)
    with pytest.raises(UserError, match="the configuration of r1, line 4"):
        frr.config(node, asked, made, address_book(made))


LOOK_ROUTES = {"10.0.1.0/24": frozenset({("10.0.2.2", "eth1")})}
THERE = {"ospf": {"10.0.2.2": True, "10.0.3.2": True}}


def look(**changes: Any) -> Look:
    return replace(Look(("zebra", "ospfd"), THERE, LOOK_ROUTES, LOOK_ROUTES), **changes)


Judge = Callable[..., list[str]]


@pytest.fixture
def judged() -> Judge:
    """The worst verdict of each finding about r1, if it said this before and after the workload."""
    ends = {"from": "a", "to": "b"}
    trial = make_trial(topology=triangle(), workload={"tool": "ping", "count": 1, **ends})
    made = orders(trial)

    def findings(before: Look, after: Look) -> list[str]:
        known = {each.router: each for each in frr.knowledge(trial.topology, made.plan.book)}
        mine = RouterEvidence("r1", before, after, ())
        seen = RoutingEvidence((mine,), 10**9, {"r1": known["r1"]})
        checks = (routing.ran, routing.neighbours, routing.installed, routing.way)
        found = [each for check in checks for each in check(SimpleNamespace(trial=trial, plan=made.plan), seen)]  # type: ignore[arg-type]
        return [f"{each.verdict}: {each.text}" for each in found if "r1" in each.text]

    return findings


def test_a_router_that_works_is_valid(judged: Judge) -> None:
    assert judged(look(), look()) == []


SABOTAGE = {
    "a daemon that died": ("after", {"running": ("zebra",)}, "ospfd of r1 did not run after"),
    "no daemon at all": ("before", {"running": ()}, "zebra of r1 did not run before"),
    "a silent zebra": ("before", {"routes": None}, "did not say its routes"),
    "no neighbours": ("before", {"neighbours": {}}, "no OSPF neighbour 10.0.2.2 (r2) before"),
    "an answer that is none": ("before", {"neighbours": {"ospf": None}}, "no OSPF neighbour 10.0.2.2"),
    "one missing": ("after", {"neighbours": {"ospf": {"10.0.2.2": True}}}, "no OSPF neighbour 10.0.3.2 (r3) after"),
    "not full": ("before", {"neighbours": {"ospf": {"10.0.2.2": True, "10.0.3.2": False}}}, "neighbour 10.0.3.2"),
    "a route that the kernel lacks": ("before", {"kernel": {}}, "the kernel has no route"),
    "a route that FRR lacks": ("after", {"routes": {}}, "FRR says no route"),
    "another next hop": (
        "before",
        {key: {"10.0.1.0/24": frozenset({("10.0.3.2", "eth2")})} for key in ("routes", "kernel")},
        "r1 sends packets for 10.0.1.1 to 10.0.3.2",
    ),
    "no route at all": ("before", {"routes": {}, "kernel": {}}, "to nobody"),
}


@pytest.mark.parametrize(("when", "changes", "said"), SABOTAGE.values(), ids=list(SABOTAGE))
def test_a_router_that_does_not_is_never_valid(judged: Judge, when: str, changes: dict[str, Any], said: str) -> None:
    looks = {"before": look(), "after": look()} | {when: look(**changes)}
    found = judged(looks["before"], looks["after"])
    assert any(said in each and each.startswith("invalid") for each in found), found


def test_two_next_hops_are_suspect(judged: Judge) -> None:
    both = {"10.0.1.0/24": frozenset({("10.0.2.2", "eth1"), ("10.0.3.2", "eth2")})}
    (found,) = judged(look(routes=both, kernel=both), look())
    assert found.startswith("suspect: r1 has 2 next hops")


def test_a_neighbour_in_two_way_counts_only_beside_a_full_one() -> None:
    def said(*states: str) -> dict[str, bool]:
        each = [{"ifaceAddress": str(n), "ifaceName": "eth0:x", "nbrState": s} for n, s in enumerate(states)]
        return await_routes.neighbours("ospf", {"neighbors": {"x": each}})

    assert said("2-Way/DROther", "2-Way/DROther") == {"0": False, "1": False}
    assert said("2-Way/DROther", "Full/DR") == {"0": True, "1": True}
    assert said("Init/DROther", "Full/DR") == {"0": False, "1": True}
    assert await_routes.neighbours("ospf", {}) == {}


def test_mininet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="does more than forward"):
        topology(tmp_path, {**triangle(), "engine": "mininet"})


def test_who_is_behind_nat_is_seen_as_the_router(tmp_path: Path) -> None:
    data = triangle(r1={"type": "router", "nat": {"out": "r1-r2"}}, r2={"type": "router"}, r3={"type": "router"})
    del data["links"]["r1-r3"]
    made = topology(tmp_path, data)
    book = address_book(made)
    path = data_path_between(made, book, "a", "b")
    assert [hop.link.name for hop in path.answers] == ["b-r2", "r1-r2", "a-r1"]
    routed = [each.words for each in plan(made).commands if each.netns == "tb-r2" and each.words[0] == "route"]
    assert not any("10.0.0.0/24" in words for words in routed)
    rules = [" ".join(each.words) for each in plan(made).commands if each.tool == "nft" and each.netns == "tb-r1"]
    assert "add rule ip testbed leaving meta oifname eth1 counter masquerade" in rules


def row(routers: dict[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A host at each end of routers in a row, which are joined as `more` says, too."""
    names = ["a", *routers, "b"]
    links = {f"{one}-{other}": {"ends": [one, other]} for one, other in pairwise(names)}
    nodes = {name: {"type": "router", "frr": keys} if keys else {"type": "router"} for name, keys in routers.items()}
    return {"name": "row", "nodes": {**nodes, "a": {"type": "host"}, "b": {"type": "host"}}, "links": links | more}


def systems(*numbers: int, **keys: Any) -> dict[str, dict[str, Any]]:
    return {f"r{place}": {"bgp": {"as": number}, **keys} for place, number in enumerate(numbers, 1)}


UNLEARNT = {
    "not a mesh": (systems(1, 2, 2, 2, 5), "'r1' never learns a route to 10.0.4.0/24 of 'r4'"),
    "one system": (systems(1, 1, 1), "'r3' never learns a route to 10.0.0.0/24 of 'r1'"),
    "system twice": (systems(1, 2, 1), "'r1' never learns a route to 10.0.3.0/24 of 'r3'"),
    "too far": (
        {f"r{place}": {"rip": {}} for place in range(10, 26)},
        "'r10' never learns a route to 10.0.16.0/24 of 'r25'",
    ),
}


@pytest.mark.parametrize(("routers", "said"), UNLEARNT.values(), ids=list(UNLEARNT))
def test_a_route_that_nobody_can_learn_is_not_waited_for(
    tmp_path: Path, routers: dict[str, dict[str, Any]], said: str
) -> None:
    with pytest.raises(SpecError) as refused:
        topology(tmp_path, row(routers))
    assert said in str(refused.value)
    topology(tmp_path, row({name: {**keys, "within": "none"} for name, keys in routers.items()}))
    topology(tmp_path, row({name: {**keys, "ospf": {}} for name, keys in routers.items()}))


def test_beside_a_configuration_of_the_users_nobody_can_tell_what_is_learnt(tmp_path: Path) -> None:
    (tmp_path / "r3.conf").write_text("router rip\n network eth0\n")
    made = topology(tmp_path, row({"r1": {"rip": {}}, "r2": {"rip": {}}, "r3": {"config": "r3.conf"}}))
    assert data_path_between(made, address_book(made), "a", "b").path
    topology(tmp_path, row({**systems(1, 1, 1), "r4": {"config": "r3.conf"}}))


def test_routes_that_can_be_learnt_are_waited_for(tmp_path: Path) -> None:
    mesh = topology(tmp_path, row(systems(1, 2, 2, 2, 5), across={"ends": ["r2", "r4"]}))
    for made in (
        mesh,
        topology(tmp_path, row(systems(1, 1))),
        topology(tmp_path, row(systems(*range(1, 20)))),
        topology(tmp_path, row({f"r{place}": {"rip": {}} for place in range(10, 25)})),
    ):
        assert data_path_between(made, address_book(made), "a", "b").path


NO_WAY = {
    "plain": ({"r1": {"ospf": {}}, "r2": {}}, "r1 has no way to 10.0.2.2, as its protocols"),
    "another protocol": ({"r1": {"ospf": {}}, "r2": {"rip": {}}}, "r1 has no way to 10.0.2.2, as its protocols"),
    "a plain one between": ({"r1": {"ospf": {}}, "r2": {}, "r3": {"ospf": {}}}, "r1 has no way to 10.0.3.2, as its"),
    "too far": (
        {f"r{place}": {"rip": {}, "within": "none"} for place in range(10, 26)},
        "r10 has no way to 10.0.16.2, as its protocols tell it of none",
    ),
}


@pytest.mark.parametrize(("routers", "said"), NO_WAY.values(), ids=list(NO_WAY))
def test_data_take_no_path_of_which_daemons_cannot_learn(
    tmp_path: Path, routers: dict[str, dict[str, Any]], said: str
) -> None:
    made = topology(tmp_path, row(routers))
    with pytest.raises(UserError, match=said):
        data_path_between(made, address_book(made), "a", "b")


def test_daemons_lead_data_around_a_router_that_has_none(tmp_path: Path) -> None:
    three: dict[str, dict[str, Any]] = {"r1": {"ospf": {}}, "r2": {}, "r3": {"ospf": {}}}
    data = row(three, first={"ends": ["r1", "r4"]}, second={"ends": ["r4", "r5"]}, third={"ends": ["r5", "r3"]})
    data["nodes"] |= {name: {"type": "router", "frr": {"ospf": {}}} for name in ("r4", "r5")}
    made = topology(tmp_path, data)
    path = data_path_between(made, address_book(made), "a", "b")
    assert [hop.link.name for hop in path.path] == ["a-r1", "first", "second", "third", "r3-b"]


def test_protocols_carry_ipv4_alone(tmp_path: Path) -> None:
    data = row({"r1": {"ospf": {}}, "r2": {"ospf": {}}})
    made = topology(tmp_path, {**data, "ip": "both"})
    assert data_path_between(made, address_book(made), "a", "b").destination_ip.version == 4
    only = topology(tmp_path, {**data, "ip": 6})
    with pytest.raises(UserError, match="they carry IPv4"):
        data_path_between(only, address_book(only), "a", "b")


def translating(**nat: dict[str, Any]) -> dict[str, Any]:
    data = row({"r1": {}, "r2": {}})
    for name, keys in nat.items():
        data["nodes"][name]["nat"] = keys
    return data


def test_addresses_may_be_translated_twice(tmp_path: Path) -> None:
    made = topology(tmp_path, translating(r1={"out": "r1-r2"}, r2={"out": "r2-b"}))
    path = data_path_between(made, address_book(made), "a", "b")
    assert [hop.link.name for hop in path.answers] == ["r2-b", "r1-r2", "a-r1"]


NAT = {
    "nobody's": (
        {"out": "r1-r2", "source": "10.0.1.9"},
        "answers would not come back: 10.0.1.9 is the address of nobody",
    ),
    "another's": ({"out": "r1-r2", "source": "10.0.2.2"}, "10.0.2.2 is the address of 'b'"),
    "to nobody": ({"out": "r1-r2", "forward": [{"port": 80, "to": "10.0.0.9"}]}, "nobody has the address 10.0.0.9"),
}


@pytest.mark.parametrize(("nat", "said"), NAT.values(), ids=list(NAT))
def test_translated_addresses_lead_to_somebody(tmp_path: Path, nat: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        topology(tmp_path, translating(r1=nat))
    assert said in str(refused.value)


def test_a_source_beyond_needs_a_route_that_leads_back(tmp_path: Path) -> None:
    data = translating(r1={"out": "r1-r2", "source": "203.0.113.9"})
    made = topology(tmp_path, data)
    with pytest.raises(UserError, match=r"r2 has no way to 203\.0\.113\.9"):
        data_path_between(made, address_book(made), "a", "b")
    data["nodes"]["r2"]["routes"] = [{"to": "203.0.113.0/24", "via": "10.0.1.1"}]
    made = topology(tmp_path, data)
    path = data_path_between(made, address_book(made), "a", "b")
    assert [hop.link.name for hop in path.answers] == ["r2-b", "r1-r2", "a-r1"]
    data["nodes"]["r2"]["routes"] = [{"to": "203.0.113.0/24", "via": "10.0.2.2"}]
    made = topology(tmp_path, data)
    with pytest.raises(UserError, match="go round in a ring"):
        data_path_between(made, address_book(made), "a", "b")


def test_what_leaves_by_a_trunk_cannot_be_translated(tmp_path: Path) -> None:
    data = {
        "name": "stick",
        "nodes": {
            "a": {"type": "host"},
            "b": {"type": "host"},
            "s": {"type": "switch", "vlans": {"a-s": 10, "b-s": 20, "stick": [10, 20]}},
            "r": {"type": "router", "nat": {"out": "stick"}},
        },
        "links": {"a-s": {"ends": ["a", "s"]}, "b-s": {"ends": ["b", "s"]}, "stick": {"ends": ["s", "r"]}},
    }
    with pytest.raises(SpecError, match="'stick' is a trunk"):
        topology(tmp_path, data)


def test_a_trial_that_does_not_wait_for_routes_does_not_when_it_is_repeated(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(
        "name: net\n"
        "nodes:\n"
        "  a: {type: host}\n"
        "  r: {type: router, frr: {rip: {}, within: none}}\n"
        "links:\n"
        "  left: {ends: [a, r]}\n"
    )
    found = load_topology(path)
    router = found.node("r").router
    assert router is not None
    assert router.frr is not None
    assert router.frr.within_ns is None
    assert TopologyFile.of(found).written()["nodes"]["r"]["frr"] == {"rip": {}, "within": "none"}
    assert read(TopologyFile, TopologyFile.of(found).written()).topology() == found
