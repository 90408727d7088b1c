"""The sabotage list of sabotage.py: each must change the verdict of a trial that is valid, or be an exception with its
reason. `make test` carries out a spread of the list, `make nightly` all of it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sabotage
from sabotage import Sabotage
from trials import RunTrial, as_set_up, found_by, make_trial, seen_evidence

from testbed.model.scenario import Trial
from testbed.plan.network import Plan
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.outcome import Outcome
from testbed.trial.measured import PingResult
from testbed.trial.orders.sequence import orders
from testbed.trial.subject import network as networks

EVERY = 50
"""One of so many is in `make test`."""

EXCEPTIONS: dict[str, str] = {
    r": \w+: /run/tools/udp .* \[16\]$": "how long the receiver waits for late datagrams, of which there are none",
    r": double: /run/tools/udp .* \[20\]$": "two datagrams at a time in place of one: udp.c does not tell",
    r"^ping: (half|double): .*\bping .* \[5\]$": "the pause between pings: ping does not tell",
    r"^iperf3-udp: half: .*iperf3 --client .* \[7\]$": "the client's port of datagrams: the rules go by that of TCP",
    r": double: .* vlan_filtering 1 .* \(1 → 2\)$": "the kernel filters with any number but 0, and says 1",
    r": nothing: r /proc/sys/net/ipv4/conf/all/rp_filter 0$": "0 is what a new namespace has",
    r": nothing: (a|r) /proc/sys/net/ipv6/conf/all/disable_ipv6 0$": "0 is what a new namespace has",
    r": nothing: r ip link set eth0\.\d+ up$": "the device of a VLAN comes up with the one below",
    r": double: .* sfq .*\((127 → 254|128 → 256)\)$": "more than the kernel takes, or than its limit fills",
    r"^sdn: (half|double): awk ": "how long the machine has been up, which Open vSwitch waits for",
    r"^sdn: (half|double): .* ovs-vsctl .* \[\d+\]$": "numbers of Open vSwitch that the gate does not read back",
    r"^trace: \w+: .* tbtrace (limit 1514 .*tick 1000000 .*)?start 1 \(1 → [02]\)$": "any number begins a trace",
    r"^fault-schedule: nothing: moment [03] nft flush chain .* (duplicate|reorder)-": "a chain that is empty so far",
    r"^down: nothing: path.emulator nft add rule .* (cut|leave)-\w+ meta mark != 16 ": "no mark is older at the start",
    r"^down: nothing: moment 0 nft flush chain .* (enter|cut)-": "an outage takes all, whatever the old rules do",
    r": moment \d nft add rule netdev testbed enter-\w+ meta mark set 32\b": "what comes in an outage is lost anyway",
    r"^fault-schedule: nothing: moment 1 nft add rule .* leave-\w+ counter": "cut-… takes all that comes in an outage",
    r"^down: nothing: moment 0 nft add rule .* leave-\w+ (counter name \S+-left-|fwd)": "nothing comes to it then",
    r"^(down|fault-schedule): nothing: moment \d nft add rule .* cut-\w+ counter .* drop$": "leave-… takes it, then",
    r"^corrupt: other: .* ethtool -K wire\d tx off tso off gso off \[[46]\]$": "plain NICs send nothing to cut",
    r"^few: nothing: .* ethtool -K wire\d tso on gso on$": "a new device has both on",
    r": other: .* ethtool -K \S+ tso off gso off tx-udp-segmentation off( gro off)? \[8\]$": "nothing to cut: no such "
    "superpackets here; where one is, its frame size tells",
    r"^command: \w+: /run/tools/command .* \[10\]$": "how long servers go on when nothing comes any more",
    r"^arrivals: double: /run/tools/arrivals .* \[10\]$": "a second port, one of those of the data",
    r"^arrivals: \w+: /run/tools/arrivals .* \[14\]$": "when flows are cut, which have ended long before",
    r"^background: \w+: /run/tools/udp .* \[8\]$": "the port of background traffic: nothing looks for it there",
    r"^wander: (nothing|double): moment ([5-9]|\d\d)\b": "due after the workload, which takes 1 s",
    r"^wander: half: moment ([7-9]|\d\d) time": "carried out in order, so after the workload all the same",
    r"^wander: (half|other): moment ([5-9]|\d\d) (?!time)": "due after the workload, which takes 1 s",
    r"^background: \w+: /run/tools/udp .* \[14\]$": "the most that it may last: the workload ends before",
}
"""Patterns of names, and why the gate says nothing."""

LIST = sabotage.sabotages()


def found(trial: Trial, planned: Plan, network: dict[tuple[str, str], str], reference: str | None = None) -> list[str]:
    """What the check of the network says if this was read back."""
    ping = PingResult(5, 5, 0.01, 0.01, 0.01, 0.0)
    outcome = Outcome(None, None, None, 1e6, None, (), {})
    seen = seen_evidence(ping, (), (), outcome, (), {}, {}, None, 0, network=network, reference=reference)
    return [each.text for each in found_by(networks.check, Case(trial, planned, seen))]


def excused(each: Sabotage) -> bool:
    return any(re.search(pattern, each.name) for pattern in EXCEPTIONS)


def some(of: list[Sabotage]) -> list[object]:
    return [
        pytest.param(each, id=each.name, marks=() if number % EVERY == 0 else pytest.mark.nightly)
        for number, each in enumerate(of)
    ]


@pytest.mark.lab
@pytest.mark.parametrize("each", some([each for each in LIST if not excused(each)]))
def test_the_gate_catches(each: Sabotage, tmp_path: Path) -> None:
    assert sabotage.caught(each, tmp_path) != "valid"


@pytest.mark.lab
@pytest.mark.parametrize("plan", sabotage.PLANS)
def test_without_sabotage_the_trial_is_valid(run_trial: RunTrial, plan: str) -> None:
    result = run_trial(**sabotage.PLANS[plan]).result
    assert result.verdict == "valid", result.warnings


def test_the_list_has_all_kinds_of_commands_and_of_sabotage() -> None:
    assert {each.what for each in LIST} == {"nothing", "half", "double", "other", "added"}
    assert {each.plan for each in LIST} == set(sabotage.PLANS)
    for word in (
        "ip link add",
        "qdisc add",
        "add rule",
        "/proc/sys",
        "/sys/class",
        "ethtool",
        "run/tools/flow",
        "iperf3",
    ):
        assert any(word in each.where for each in LIST), word
    assert len({each.name for each in LIST}) == len(LIST)


@pytest.mark.parametrize("pattern", EXCEPTIONS)
def test_an_exception_is_of_something_in_the_list(pattern: str) -> None:
    assert any(re.search(pattern, each.name) for each in LIST)


@pytest.mark.parametrize("plan", sabotage.PLANS)
def test_every_fact_of_a_plan_that_is_missing_or_another_is_found(plan: str) -> None:
    trial = make_trial(**sabotage.PLANS[plan])
    planned = orders(trial).plan
    fine = as_set_up(trial, planned)
    assert not found(trial, planned, fine)
    for place, value in fine.items():
        assert found(trial, planned, {key: each for key, each in fine.items() if key != place}), place
        assert found(trial, planned, {**fine, place: "0" if value != "0" else "1"}), place


@pytest.mark.parametrize(
    "what",
    [
        "address 10.1.1.1/24 on eth0",
        "route 10.9.0.0/16 via",
        "route 10.0.0.0/24 metric 11",
        "neighbour 10.0.0.9 on eth0",
        "qdisc 8001: of eth0",
        "rules of nftables",
        "rule 9 of data-forward",
    ],
)
def test_what_nobody_asked_for_is_found(what: str) -> None:
    trial = make_trial()
    planned = orders(trial).plan
    (said,) = found(trial, planned, {**as_set_up(trial, planned), ("tb-a", what): "1"})
    assert said == f"tb-a: {what}: not asked for, the kernel has 1"


def test_a_vlan_that_nobody_asked_for_is_found_where_a_bridge_filters() -> None:
    trial = make_trial(**sabotage.PLANS["lanes"])
    planned = orders(trial).plan
    assert found(trial, planned, {**as_set_up(trial, planned), ("tb-s", "vlan 30 on eth0"): "tagged"})


def test_settings_of_tcp_are_compared_with_those_of_an_emulator() -> None:
    trial = make_trial()
    planned = orders(trial).plan
    seen = as_set_up(trial, planned)
    own = {("tb-path.emulator", "/proc/sys/net/ipv4/tcp_sack"): "1"}
    reference = "tb-path.emulator"
    assert found(trial, planned, seen, reference) == [f"{reference}: the kernel's settings of TCP were not read back"]
    assert not found(trial, planned, seen | own | {("tb-a", "/proc/sys/net/ipv4/tcp_sack"): "1"}, reference)
    (said,) = found(trial, planned, seen | own | {("tb-a", "/proc/sys/net/ipv4/tcp_sack"): "0"}, reference)
    assert said == "tb-a: tcp_sack: not asked for, the kernel has 0, not 1"
