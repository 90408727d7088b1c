"""What firewalls of routers deny along a data path: for certain, and what a gate and a remark make of that."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from test_gate import fine
from trials import make_trial, round_trip, seen_as, with_seen

from testbed.error import SpecError
from testbed.model.address import address_book
from testbed.model.data_path import data_path_between
from testbed.model.firewall import denied_by
from testbed.model.scenario import Trial
from testbed.model.topology import Topology
from testbed.spec.load import load_topology
from testbed.trial.evidence.case import Case
from testbed.trial.gate import data_check
from testbed.trial.gate.link import link_check, rtt_check
from testbed.trial.orders.remark import remarks
from testbed.trial.orders.sequence import orders

ALLOW, DENY = {"action": "allow"}, {"action": "deny"}
UDP = {"tool": "udp", "rate": "1 Mbit/s", "duration": "1 s"}
PING = {"tool": "ping", "count": 3}


def network(rules: list[dict[str, Any]], **home: Any) -> dict[str, Any]:
    nodes = {name: {"type": "host"} for name in "ab"} | {"s": {"type": "switch"}, "isp": {"type": "router"}}
    nodes["home"] = {"type": "router", **home}
    nodes["isp"]["firewall"] = rules  # type: ignore[assignment]
    ends = {"a-s": ["a", "s"], "s-home": ["s", "home"], "access": ["home", "isp"], "isp-b": ["isp", "b"]}
    links: dict[str, dict[str, Any]] = {name: {"ends": each} for name, each in ends.items()}
    for link in ("access", "isp-b"):
        links[link]["rate"] = "10 Mbit/s"
    return {"name": "net", "nodes": nodes, "links": links}


def trial_of(rules: list[dict[str, Any]], workload: dict[str, Any] | None = None, **home: Any) -> Trial:
    asked = {**(workload or {"tool": "flow", "duration": "1 s"}), "from": "a", "to": "b"}
    return make_trial(topology=network(rules, **home), workload=asked)


NAT = {"nat": {"out": "access"}}
ONWARD = {"nat": {"out": "s-home", "forward": [{"port": 80, "to": "10.0.2.2"}]}}
RULES: dict[str, tuple[list[dict[str, Any]], dict[str, Any], set[str]]] = {
    "none": ([], {}, set()),
    "all": ([DENY], {}, {"tcp", "udp", "icmp"}),
    "all but tcp": ([{**ALLOW, "protocol": "tcp"}, DENY], {}, {"udp", "icmp"}),
    "tcp": ([{**DENY, "protocol": "tcp"}], {}, {"tcp"}),
    "perhaps": ([{**ALLOW, "protocol": "tcp", "port": 5001}, DENY], {}, {"udp", "icmp"}),
    "ssh alone": ([{**ALLOW, "protocol": "tcp", "port": 22}, DENY], {}, {"tcp", "udp", "icmp"}),
    "from": ([{**DENY, "from": "a"}], {}, {"tcp", "udp", "icmp"}),
    "from others": ([{**ALLOW, "from": "b"}, {**DENY, "to": "a"}], {}, set()),
    "allowed before": ([{**ALLOW, "from": "a", "to": "b"}, DENY], {}, set()),
    "from behind NAT": ([{**DENY, "from": "a"}], NAT, set()),
    "from the translator": ([{**DENY, "from": "home"}], NAT, {"tcp", "udp", "icmp"}),
    "from an address of its own": ([{**DENY, "from": "home"}], {"nat": {**NAT["nat"], "source": "10.0.1.1"}}, set()),
    "after ports passed on": ([DENY], ONWARD, set()),
    "after a ruleset": ([DENY], {"nftables": "x.nft"}, set()),
}


def loaded(tmp_path: Path, rules: list[dict[str, Any]], **home: Any) -> Topology:
    path = tmp_path / "net.yaml"
    path.write_text(json.dumps(network(rules, **home)))
    return load_topology(path)


@pytest.mark.parametrize(("rules", "home", "denied"), RULES.values(), ids=list(RULES))
def test_a_firewall_denies_what_its_first_rule_that_matches_says(
    tmp_path: Path, rules: list[dict[str, Any]], home: dict[str, Any], denied: set[str]
) -> None:
    (tmp_path / "x.nft").write_text("table ip t {\n}\n")
    plain = loaded(tmp_path, [])
    path = data_path_between(plain, address_book(plain), "a", "b")
    topology = loaded(tmp_path, rules, **home)
    protocols: tuple[Literal["tcp", "udp", "icmp"], ...] = ("tcp", "udp", "icmp")
    found = {each: denied_by(topology, path, each, (5001, 5009)) for each in protocols}
    assert found == {each: "isp" if each in denied else None for each in protocols}


def test_one_port_decides(tmp_path: Path) -> None:
    topology = loaded(tmp_path, [{**DENY, "protocol": "tcp", "port": 5201}])
    path = data_path_between(topology, address_book(topology), "a", "b")
    assert denied_by(topology, path, "tcp", (5201, 5201)) == "isp"
    assert denied_by(topology, path, "tcp", (5200, 5200)) is None


WORKLOADS = {
    "flow": ({"tool": "flow", "duration": "1 s"}, [{**DENY, "protocol": "tcp"}], [{**DENY, "protocol": "udp"}]),
    "udp": (UDP, [{**DENY, "protocol": "udp"}], [{**DENY, "protocol": "tcp"}]),
    "ping": (PING, [{**DENY, "protocol": "icmp"}], [{**DENY, "protocol": "tcp"}]),
}


@pytest.mark.parametrize(("workload", "denying", "other"), WORKLOADS.values(), ids=list(WORKLOADS))
def test_a_workload_that_a_firewall_denies_deserves_a_remark(
    workload: dict[str, Any], denying: list[dict[str, Any]], other: list[dict[str, Any]]
) -> None:
    def said(rules: list[dict[str, Any]]) -> list[tuple[str, str]]:
        trial = trial_of(rules, workload)
        return [(about, what) for about, what, _ in remarks(trial, orders(trial).plan)]

    assert said(denying) == [("firewall", "the firewall of isp denies what a sends to b")]
    assert said(other) == []


@pytest.mark.parametrize("protocol", ["tcp", "udp", "icmp"])
def test_what_a_router_denies_as_asked_is_no_fault_and_what_passes_it_is(protocol: str) -> None:
    trial = trial_of([{**DENY, "protocol": protocol}], UDP)
    plan = orders(trial).plan
    seen = fine(trial, plan)
    nothing = seen_as(
        seen,
        outcome=replace(seen.outcome, goodput_bps=0.0),
        rtt_check=replace(round_trip(seen), received=0, rtt_min_s=None, rtt_max_s=None),
    )
    (data,) = data_check.arrived(Case(trial, plan, nothing))
    assert data.verdict == ("valid" if protocol == "udp" else "invalid")
    (ping,) = rtt_check.rtt(Case(trial, plan, nothing))
    assert ping.verdict == ("valid" if protocol == "icmp" else "invalid")
    passed = [(each.verdict, each.text) for each in rtt_check.rtt(Case(trial, plan, seen))]
    said = f"the firewall of isp denies pings, and {round_trip(seen).received} got a reply"
    assert passed == ([("invalid", said)] if protocol == "icmp" else [])


def test_no_data_come_behind_a_firewall_that_denies_them() -> None:
    def found(protocol: str) -> list[str]:
        trial = trial_of([{**DENY, "protocol": protocol}], UDP)
        plan = orders(trial).plan
        seen = fine(trial, plan)
        none = with_seen(seen.data_stages[0], data_packets=0)
        stages = tuple(replace(none, link=link) for link in ("access", "isp-b"))
        return [each.text for each in link_check.no_data(Case(trial, plan, seen_as(seen, data_stages=stages)))]

    assert found("tcp") == [f"no data packet passed the link {link}" for link in ("access", "isp-b")]
    assert found("udp") == ["no data packet passed the link access"]


def test_a_rule_about_a_node_without_an_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="'s' is a switch without an address, so no packet fits this rule"):
        loaded(tmp_path, [{**DENY, "from": "s"}])
