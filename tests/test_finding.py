"""Findings of the gate: what they say of policies, switches, TCLinks and machines, where each begins to speak, and the
numbers in all of their words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_gate import CASES, fine, judged, queued, slow_ping
from test_mininet import HTB, in_mininet, tc_evidence
from trials import SWITCH, found_by, make_trial, rose, round_trip, seen_as, vm, with_seen

from testbed.kernel.vm.hypervisor import COUNTED
from testbed.model.node.vm import Cpu
from testbed.model.openflow import Controller, Rule
from testbed.plan.node.control_channel import Channel
from testbed.trial import record, subject
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.interval import Happened, Timeline
from testbed.trial.evidence.policing import Policed
from testbed.trial.evidence.stage import TcEvidence
from testbed.trial.gate import data_check
from testbed.trial.gate.link import policy_check, rtt_check, set_up_check, tclink_check
from testbed.trial.observe.sample import CounterSample
from testbed.trial.orders.sequence import orders
from testbed.trial.result import Finding, SwitchResult, VmResult
from testbed.trial.subject.openflow import ControllerEvidence, OpenFlowEvidence

SAID = (Path(__file__).parent / "data/gate-findings.txt").read_text().splitlines()
"""Of each case of the gate: its name, the verdict, and the finding in words."""


@pytest.mark.parametrize("name", sorted({line.split(": ")[0] for line in SAID}))
def test_a_finding_says_what_was_asked_and_what_was_seen(name: str) -> None:
    """Which checks speak, and which do not, is in `test_gate`."""
    found = {f"{name}: {each.verdict}: {each}" for each in judged(CASES[name])}
    assert {line for line in SAID if line.startswith(f"{name}: ")} <= found


CHECKS = {"TCLink", "controller", "data", "datapath", "frame size", "policy", "retransmissions", "rtt", "set-up",
          "upcalls", "virtual machine"}  # fmt: skip


def told(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """The verdict and the text of each, all of which are of a known check, and have a hint."""
    found = list(findings)
    assert {each.check for each in found} <= CHECKS
    assert all(each.hint for each in found)
    return [(each.verdict, each.text) for each in found]


AFTER_BYTES = 1_000_000
MS = 10**6


def policed(
    offered: int, dropped: int, *samples: tuple[int, int, int, int], interval_ms: int = 0
) -> list[tuple[str, str]]:
    """What is said of a policy of 40 Mbit/s after 1 MB. A sample: when in ms, bytes that came, packets and bytes that
    were dropped of them.
    """
    trial = make_trial({"policy": {"after": "1 MB", "rate": "40 Mbit/s"}})
    trial = replace(trial, samples_interval_ns=interval_ms * MS)
    plan = orders(trial).plan
    seen = fine(trial, plan)
    (stage,) = seen.data_stages
    assert stage.stage.policing is not None
    counted = tuple(
        (CounterSample(at * MS, "e", "came", 0, came), CounterSample(at * MS, "e", "dropped", packets, octets))
        for at, came, packets, octets in samples
    )
    policing = replace(stage.stage.policing, after_bytes=AFTER_BYTES, burst_bytes=0)
    data = replace(stage, stage=replace(stage.stage, policing=policing), policed=Policed(dropped, offered, 0, counted))
    return told(policy_check.policy(Case(trial, plan, replace(seen, data_stages=(data,)))))


def test_a_policy_drops_nothing_before_its_volume_has_come() -> None:
    never = "path forward: only 1000000 of the 1000000 bytes came"
    assert policed(AFTER_BYTES, 0) == [("valid", never)]
    assert policed(AFTER_BYTES + 1, 0) == []
    assert policed(AFTER_BYTES + 1, 7) == []
    early = ("invalid", "path forward: 7 packets were policed before 1000000 bytes had come")
    assert policed(AFTER_BYTES, 7) == [early, ("valid", never)]
    when = ("invalid", "path forward: packets were policed when 1000000 of 1000000 bytes had come")
    assert policed(2 * AFTER_BYTES, 7, (0, AFTER_BYTES, 1, 1500)) == [when]
    assert policed(2 * AFTER_BYTES, 7, (0, AFTER_BYTES, 0, 0), (1, AFTER_BYTES + 1, 1, 1500)) == []


@pytest.mark.parametrize(("passed", "is_fine"), [(10_050_000, True), (10_050_001, False)])
def test_after_its_volume_a_policy_passes_its_rate_and_what_its_bucket_held(passed: int, is_fine: bool) -> None:
    """In a second 5 MB and 1 %, and the bucket of a second, 5 MB."""
    found = policed(9 * AFTER_BYTES, 7, (0, 1_500_000, 0, 0), (1000, 1_500_000 + passed + 3000, 2, 3000))
    text = f"path forward: {passed} bytes passed in the 1 s after the volume, allowed were 10050000"
    assert found == ([] if is_fine else [("invalid", text)])


@pytest.mark.parametrize(
    ("interval_ms", "bps", "is_fine"),
    [
        (0, 40_520_000, True),
        (0, 40_520_080, False),
        (0, 39_480_000, True),
        (0, 39_479_920, False),
        (1, 40_720_000, True),
        (1, 40_720_080, False),
    ],
)
def test_while_a_policy_drops_it_passes_its_rate(interval_ms: int, bps: int, is_fine: bool) -> None:
    """Over the 200 ms of two intervals with drops, between two others: within 1 % of 40 Mbit/s, two packets of 1500
    bytes, which are 0.12 Mbit/s, and what comes in a part of one sample's interval. In the last interval hardly
    anything comes.
    """
    came = [(100 * n, 2_000_000 + bps // 80 * n + 1500 * n, n, 1500 * n) for n in range(4)]
    came.append((400, came[-1][1] + 3000, 4, 6000))
    found = policed(9 * AFTER_BYTES, 7, *came, interval_ms=interval_ms)
    said = f"path forward: {bps / 1e6:.2f} Mbit/s passed while packets were policed, asked were 40 Mbit/s"
    assert found == ([] if is_fine else [("invalid", said)])


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (SWITCH, []),
        (
            replace(SWITCH, datapath="user"),
            [("invalid", "s was asked to use the datapath kernel and used user")],
        ),
        (replace(SWITCH, lost_packets=3), [("suspect", "s lost 3 packets between its datapath and ovs-vswitchd")]),
    ],
)
def test_a_switch_uses_its_datapath_and_loses_no_packet_for_its_daemon(
    seen: SwitchResult, expected: list[tuple[str, str]]
) -> None:
    trial = make_trial()
    plan = replace(orders(trial).plan, datapaths=(("s", "kernel"),))
    evidence = seen_as(fine(trial, plan), openflow=OpenFlowEvidence({"s": seen}))
    assert told(found_by(subject.openflow.datapath, Case(trial, plan, evidence))) == expected


@pytest.mark.parametrize(
    ("connected", "runs", "asked", "expected"),
    [
        (((True, True), (True, True)), True, {}, None),
        (((False, True), (True, True)), True, {}, ("suspect", "c came late for s")),
        (((False, True), (False, True)), True, {}, ("suspect", "c came late for s, t")),
        (((True, True), (True, False)), True, {}, ("suspect", "c was gone for t")),
        (((True, True), (True, True)), False, {}, ("suspect", "c was gone for s, t")),
        (((None, None), (True, True)), True, {}, ("suspect", "c came late for s")),
        (((True, True), (True, False)), True, {"stop_ns": 5}, ("valid", "c was gone for t, as asked")),
        (((False, True), (True, True)), True, {"start_ns": 5}, ("valid", "c came late for s, as asked")),
        (((True, True), (True, True)), True, {"start_ns": 5}, None),
    ],
)
def test_a_controller_that_was_away_is_told_of_with_its_switches(
    connected: tuple[Any, Any], runs: bool, asked: dict[str, int], expected: tuple[str, str] | None
) -> None:
    trial = make_trial()
    channel = Channel("c", Controller("learning", **asked), ("s", "t"))  # type: ignore[arg-type]
    plan = replace(orders(trial).plan, channels=(channel,))
    looks = zip("st", connected, strict=True)
    switches = {name: replace(SWITCH, connected_before=one, connected_after=two) for name, (one, two) in looks}
    seen = OpenFlowEvidence(switches, (ControllerEvidence("c", (), {}, (), runs),))
    found = told(found_by(subject.openflow.controllers, Case(trial, plan, seen_as(fine(trial, plan), openflow=seen))))
    assert found == ([expected] if expected else [])


def test_exceptions_and_errors_of_an_app_are_told_of_three_at_most() -> None:
    trial = make_trial()
    plan = replace(orders(trial).plan, channels=(Channel("c", Controller("learning"), ()),))
    kinds = ("exception", "error", "refused", "note", *("exception",) * 4)
    events = tuple({"kind": kind, "text": f" {kind} {n}\n"} for n, kind in enumerate(kinds))
    seen = OpenFlowEvidence({}, (ControllerEvidence("c", events, {}, ()),))
    found = told(found_by(subject.openflow.controllers, Case(trial, plan, seen_as(fine(trial, plan), openflow=seen))))
    assert found == [
        ("invalid", "c (learning) had an exception: exception 0"),
        ("invalid", "c (learning) had an exception: exception 4"),
        ("invalid", "c (learning) had an exception: exception 5"),
        ("suspect", "c (learning) had an error: error 1"),
        ("suspect", "c (learning) had an error: refused 2"),
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"rate_bps": 100_000_009}, "rate in bit/s: asked 100000000, the kernel has 100000009"),
        ({"rate_bps": 100_000_008}, None),
        ({"ceiling_bps": 200_000_000}, "ceiling in bit/s: asked 100000000, the kernel has 200000000"),
        ({"bucket_ns": 80_000_000}, "bucket in ns at its rate: asked 1228800, the kernel has 80000000"),
        ({"ceiling_bucket_ns": 0}, "bucket in ns at its ceiling: asked 128000, the kernel has 0"),
        ({"delay_ns": 5_000_065}, "delay in ns: asked 5000000, the kernel has 5000065"),
        ({"delay_ns": 4_999_936}, None),
        ({"limit": 141}, "packets that the queue holds: asked 142, the kernel has 141"),
        ({"jitter_ns": 1}, "jitter in ns: asked 0, the kernel has 1"),
        ({"more": {"loss": 7}}, "loss of netem: asked 0, the kernel has 7"),
        ({"more": {"loss": 0, "delay": 5}}, None),
    ],
)
def test_a_tclink_that_differs_is_told_of_with_both_numbers(change: dict[str, Any], expected: str | None) -> None:
    """A tick of the kernel, 64 ns, and a byte per second may be lost in rounding."""
    trial = in_mininet()
    plan = orders(trial).plan
    name = "htb" if change.keys() <= vars(HTB).keys() else "netem"
    for when in ("", "_after"):
        seen = tc_evidence(
            trial, lambda each, when=when: replace(each, **{f"{name}{when}": replace(getattr(each, name), **change)})
        )
        found = told(tclink_check.set_up(Case(trial, plan, seen)))
        text = f"path at a: {expected}{' after the workload' if when else ''}"
        assert found == ([("invalid", text)] if expected else [])
        (aside,) = seen.data_tc_ends
        seen = replace(seen, data_tc_ends=(), answer_tc_ends=(), beside_tc_ends=(aside,))
        assert told(tclink_check.set_up(Case(trial, plan, seen))) == found


def test_a_tclink_without_a_rate_has_no_htb_and_one_with_a_rate_has_one() -> None:
    trial = in_mininet()
    rows = ((100_000_000, None, "100000000, the kernel has none"), (None, HTB, "0, the kernel has 100000000"))
    for rate_bps, htb, has in rows:
        (end,) = tc_evidence(trial, lambda each: each).data_tc_ends
        end = replace(end, port=replace(end.port, rate_bps=rate_bps), htb=htb, htb_after=htb)
        seen = replace(fine(trial, orders(trial).plan), data_tc_ends=(end,))
        assert told(tclink_check.set_up(Case(trial, orders(trial).plan, seen)))[0] == (
            "invalid", f"path at a: rate in bit/s: asked {has}",
        )  # fmt: skip


def test_drops_of_a_tclink_are_told_of_by_where_they_are() -> None:
    trial = in_mininet()
    plan = orders(trial).plan

    def dropped(**port: Any) -> list[str]:
        seen = tc_evidence(trial, lambda each: replace(each, drops=3, port=replace(each.port, **port)))
        return [
            verdict
            for verdict, text in told(tclink_check.drops(Case(trial, plan, seen)))
            if "dropped 3 packets" in text
        ]

    assert dropped() == ["suspect", "valid"]
    assert dropped(is_host=False) == ["valid"]
    assert dropped(delay_ns=0) == dropped(rate_bps=None) == ["suspect"]
    assert dropped(is_host=False, delay_ns=0) == []


@pytest.mark.parametrize(
    ("nic", "waits", "expected"),
    [
        ("plain", [(2, 3028), (0, 0)], None),
        ("plain", [(2, 3029), (0, 0)], "path at a: frames larger than the MTU of 1500 bytes waited at 1 of 2 looks"),
        ("plain", [(4, 198_720)] * 2, "path at a: frames larger than the MTU of 1500 bytes waited at 2 of 2 looks"),
        ("offload", [(4, 198_720)] * 2, None),
    ],
)
def test_what_waits_whole_at_a_tclink_of_plain_hosts_is_invalid(
    nic: str, waits: list[tuple[int, int]], expected: str | None
) -> None:
    """TCP makes no superpackets there, but programs make those of datagrams, which are cut below the queue."""
    trial = in_mininet()
    plan = replace(orders(trial).plan, nics=(("a", nic), ("b", nic)))

    def waiting(each: TcEvidence) -> TcEvidence:
        pairs = zip(each.samples, waits, strict=False)
        looks = (replace(look, backlog_packets=n, backlog_bytes=octets) for look, (n, octets) in pairs)
        return replace(each, samples=tuple(looks))

    found = [each for each in told(tclink_check.superpackets(Case(trial, plan, tc_evidence(trial, waiting))))]
    told_invalid = [
        text.removesuffix(": each was queued and dropped as a whole") for v, text in found if v == "invalid"
    ]
    assert told_invalid == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("port", "is_noted"),
    [
        ({"delay_ns": 0}, True),
        ({}, False),
        ({"delay_ns": 0, "is_host": False}, False),
        ({"delay_ns": 0, "rate_bps": None}, False),
        ({"delay_ns": 0, "rate_bps": 99_000_000}, False),
    ],
)
def test_a_bottleneck_on_the_senders_own_device_is_noted(port: dict[str, Any], is_noted: bool) -> None:
    trial = in_mininet()
    plan = orders(trial).plan
    seen = tc_evidence(trial, lambda each: replace(each, port=replace(each.port, **port)))
    found = told(tclink_check.backpressure(Case(trial, plan, seen)))
    text = "path at a: the bottleneck is the sender's own device, so its TCP waits for it and loses nothing"
    assert found == ([("valid", text)] if is_noted else [])


@pytest.mark.parametrize(
    ("busy", "expected"),
    [
        (0.9, []),
        (0.901, [("suspect", "the processors of a were busy for 90% of the time")]),
        (None, []),
    ],
)
def test_a_machine_that_is_never_idle_is_suspect(busy: float | None, expected: list[tuple[str, str]]) -> None:
    trial = make_trial()
    plan = orders(trial).plan
    one = vm("tcg", busy, why_no_kvm="no /dev/kvm")
    vms = {"a": one, "b": replace(one, accelerator="kvm", cpu_busy=0.1), "c": replace(one, cpu_busy=0.1)}
    seen = seen_as(fine(trial, plan), vms=vms)
    assert told(found_by(subject.machine.processors, Case(trial, plan, seen))) == expected
    without = "a, c ran without KVM, every instruction translated: no /dev/kvm"
    assert told(found_by(subject.machine.emulated, Case(trial, plan, seen))) == [("valid", without)]
    assert told(found_by(subject.machine.emulated, Case(trial, plan, seen_as(seen, vms={"b": vms["b"]})))) == []


@pytest.mark.parametrize(
    ("busy_s", "cpu", "level"),
    [
        (0.92, None, None),
        (0.94, None, "suspect"),
        (1.01, "0.25 GIPS", None),
        (1.03, "0.25 GIPS", "suspect"),
        (0.99, "0.5 GIPS", "suspect"),
        (0.0, None, None),
    ],
)
def test_a_machine_in_virtual_time_is_busy_while_data_flows(busy_s: float, cpu: Cpu | None, level: str | None) -> None:
    """The looks at a machine are further apart than its data: the share of their time says too little."""
    one = vm(COUNTED, busy_s / 1.7, cpu=cpu, busy_s=busy_s)
    assert [each[0] for each in of_machine(one, 1.0)] == ([level] if level else [])


def of_machine(machine: VmResult, took_s: float, **changes: Any) -> list[tuple[str, str]]:
    """What is found of it if a tool says that it sent for so long; 0: programs of users ran for 0.4 s."""
    trial = make_trial(**changes)
    plan = orders(trial).plan
    good = fine(trial, plan)
    begin_ns, end_ns, took_ns = (None, None, round(took_s * 1e9)) if took_s else (10**9, 14 * 10**8, None)
    outcome = replace(good.outcome, begin_ns=begin_ns, steady_ns=None, end_ns=end_ns, took_ns=took_ns)
    return told(
        found_by(subject.machine.processors, Case(trial, plan, seen_as(good, vms={"a": machine}, outcome=outcome)))
    )


def test_a_short_transfer_of_a_machine_that_is_never_idle_is_suspect() -> None:
    """0.2 s at 0.25 GIPS, and the 30 million instructions of the looks, which are the fewest that were seen."""
    one = vm(COUNTED, 0.4, cpu="0.25 GIPS", busy_s=0.2 + 0.12)
    assert [each[0] for each in of_machine(one, 0.2)] == ["suspect"]


@pytest.mark.parametrize(("share", "level"), [(0.47, None), (0.89, None), (0.91, "suspect")])
def test_what_programs_do_before_they_send_is_no_share_of_their_time(share: float, level: str | None) -> None:
    """0.5 s of a machine in 1.07 s, in which its web server started, and two clients ran for 0.4 s, at 20 Mbit/s."""
    one = vm(COUNTED, share, cpu=None, busy_s=1.07 * share)
    assert [each[0] for each in of_machine(one, 0.0)] == ([level] if level else [])


POLICER = {"rate": "100 Mbit/s", "burst": "64 KiB"}


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ({}, "valid"),
        ({"rtt": "1 ms"}, "valid"),
        ({"rate": "100 Gbit/s"}, "suspect"),
        ({"shaper": {"rate": "1 Gbit/s", "burst": "200 Mbit", "refill": "75 Mbit/s"}}, "suspect"),
        ({"policer": POLICER}, "suspect"),
        ({"policer": {"forward": POLICER}}, "suspect"),
        ({"rate": {"backward": "10 Mbit/s"}}, "suspect"),
    ],
)
def test_only_a_path_on_which_nothing_has_a_rate_shows_processors(path: dict[str, Any], level: str) -> None:
    """Between machines in virtual time. A policer has a rate, too, and so has a link that only the answers cross."""
    nodes = {name: {"type": "vm", "memory": "512 MiB"} for name in "ab"}
    topology = {"name": "pair", "nodes": nodes, "links": {"path": {"ends": ["a", "b"], **path}}}
    one = vm(COUNTED, 0.6, cpu=None, busy_s=1.02)
    found = of_machine(one, 1.0, topology=topology, workload={"tool": "iperf3", "duration": "1 s"})
    assert found == [(level, "the processors of a were busy for 99% of the time")]


@pytest.mark.parametrize(
    ("controller", "denies_data", "denies_pings"),
    [
        (Controller("firewall"), False, False),
        (Controller("firewall", rules=(Rule("deny"),)), True, True),
        (Controller("firewall", rules=(Rule("deny", protocol="tcp"),)), True, False),
        (Controller("firewall", rules=(Rule("deny", protocol="udp"),)), True, False),
        (Controller("firewall", rules=(Rule("deny", protocol="icmp"),)), False, True),
        (Controller("firewall", rules=(Rule("allow"), Rule("allow", protocol="icmp"))), False, False),
        (Controller("learning", start_ns=5), True, True),
        (Controller("learning", stop_ns=5), True, True),
    ],
)
def test_what_a_controller_denies_as_asked_is_no_fault(
    controller: Controller, denies_data: bool, denies_pings: bool
) -> None:
    trial = make_trial()
    plan = replace(orders(trial).plan, controlled=(("s", Channel("c", controller, ("s",))),))
    seen = fine(trial, plan)
    nothing = seen_as(
        seen,
        outcome=replace(seen.outcome, goodput_bps=0.0),
        rtt_check=replace(round_trip(seen), received=0, rtt_min_s=None, rtt_max_s=None),
    )
    data = [each.verdict for each in data_check.arrived(Case(trial, plan, nothing))]
    assert data == (["valid"] if denies_data else ["invalid"])
    (ping,) = rtt_check.rtt(Case(trial, plan, nothing))
    assert (ping.verdict, ping.text) == (
        "valid" if denies_pings else "invalid", "no ping after the workload got a reply",
    )  # fmt: skip


@pytest.mark.parametrize(("again", "timeouts", "is_told"), [(2, 0, False), (3, 0, True), (300, 1, False)])
def test_without_a_rate_only_a_timeout_explains_any_number_of_segments(
    again: int, timeouts: int, is_told: bool
) -> None:
    trial = make_trial({"rate": None, "buffer": None}, kernel="host")
    plan = orders(trial).plan
    seen = fine(trial, plan)
    flows = tuple(replace(flow, retransmits=again) for flow in seen.outcome.flows)
    stages = tuple(with_seen(stage, dropped_packets=2) for stage in seen.data_stages)
    counters = {**rose(seen), "TCPTimeouts": timeouts}
    seen = seen_as(seen, data_stages=stages, host_counters=counters, outcome=replace(seen.outcome, flows=flows))
    text = "3 segments were sent again, but 2 drops explain 2 at most"
    assert told(data_check.resent(Case(trial, plan, seen))) == ([("suspect", text)] if is_told else [])


@pytest.mark.parametrize(("came_s", "rate_bps"), [((), 100e6), ((1,), 50e6), ((1, 2), 20e6), ((2,), 20e6)])
def test_what_is_read_back_at_the_end_is_held_against_the_last_change_that_happened(
    came_s: tuple[int, ...], rate_bps: float
) -> None:
    changes = [{"at": "1 s", "rate": "50 Mbit/s"}, {"at": "2 s", "rate": "20 Mbit/s"}]
    plan = orders(make_trial({"schedule": changes}, {"duration": "10 s"})).plan
    (stage,) = plan.stages(is_data=True)
    moments = {at * 10**9: Happened(0, 0, 0, 0) for at in came_s}
    assert set_up_check.last_state(stage, Timeline(0, 10**10, moments)).asked.rate_bps == rate_bps
    assert set_up_check.last_state(stage, None).asked.rate_bps == 100e6


@pytest.mark.parametrize(
    ("what", "mtu", "is_fine"),
    [
        ("cached 10.0.2.2/32 via 10.0.0.2 on eth0", "1400", True),
        ("cached 10.0.2.2/32 via 10.0.0.2 on eth0", "1300", False),  # no link has it
        ("cached 10.0.2.2/32 via 10.0.0.2 on eth0", "9000", False),  # its own
        ("cached 10.0.2.2/32 via 10.0.0.2 on eth0", "none", False),
        ("cached 10.0.2.2/32 via 10.0.0.3 on eth0", "1400", False),  # somebody sends it another way
        ("cached 10.0.3.2/32 via 10.0.0.2 on eth0", "1400", False),
        ("cached 10.0.2.2/32 via 10.0.0.2 on eth1", "1400", False),
        ("cached fd00::2/128 via fd00:1::1 on eth0", "1400", True),
        ("cached 10.0.2.2/32 via fd00:1::1 on eth0", "1400", False),
    ],
)
def test_what_a_host_learned_from_a_router_is_an_mtu_of_a_link_on_its_own_way(
    what: str, mtu: str, is_fine: bool
) -> None:
    asked = {
        ("tb-a", "eth0 mtu"): "9000",
        ("tb-r", "eth1 mtu"): "1400",
        ("tb-a", "route 10.0.2.0/24 via"): "10.0.0.2",
        ("tb-a", "route default6 via"): "fd00:1::1",
    }
    assert subject.network.is_mtu_of_path(asked, "tb-a", what, mtu) is is_fine


def test_a_setting_of_tcp_that_nobody_asked_for_is_told_of_with_the_kernels_own() -> None:
    trial = make_trial(sysctls={"net.ipv4.tcp_sack": 0})
    plan = orders(trial).plan
    seen = fine(trial, plan)
    own = {("none", f"/proc/sys/net/ipv4/{name}"): value for name, value in (("tcp_ecn", "2"), ("tcp_sack", "1"))}

    def said(**settings: str) -> list[str]:
        facts = {("tb-a", f"/proc/sys/net/ipv4/{name}"): value for name, value in settings.items()}
        network = {**seen.things["network"].facts, **own, **facts}
        found = found_by(subject.network.check, Case(trial, plan, seen_as(seen, network=network, reference="none")))
        return [each.text for each in found]

    assert said(tcp_ecn="2") == []
    assert said(tcp_ecn="1") == ["tb-a: tcp_ecn: not asked for, the kernel has 1, not 2"]
    assert said(tcp_new="1") == ["tb-a: tcp_new: not asked for, the kernel has 1, not none"]
    assert said(tcp_fastopen_key="1-2-3-4") == []
    (lacking,) = found_by(subject.network.check, Case(trial, plan, seen_as(seen, reference="none")))
    assert lacking.text == "none: the kernel's settings of TCP were not read back"
    assert len(said(**{f"tcp_{n}": "1" for n in range(5)})) == 5
    many = said(**{f"tcp_{n}": "1" for n in range(7)})
    assert (len(many), many[-1]) == (6, "and 2 more differences")


@pytest.mark.parametrize(
    ("before_s", "during_s", "text"),
    [
        (0.01002, 0.01157, None),
        (0.01157, 0.01157, "asked 10 ms, pings before the workload took 11.57 to 11.57 ms"),
        (0.01002, 0.01159, "asked 10 ms, pings of the workload took 11.59 to 11.59 ms"),
    ],
)
def test_a_ping_of_the_workload_may_meet_the_slowest_rate_of_a_schedule_and_one_before_it_not(
    before_s: float, during_s: float, text: str | None
) -> None:
    """At 1 Mbit/s 98 bytes take 0.784 ms, there and back; at 100 Mbit/s a hundredth of that. 10 µs are allowed."""
    trial = make_trial({"schedule": [{"at": "500 ms", "rate": "1 Mbit/s"}]}, {"tool": "ping", "count": 1})
    plan = orders(trial).plan
    seen = slow_ping(during_s)(fine(trial, plan))
    seen = seen_as(seen, rtt_check=replace(round_trip(seen), rtt_min_s=before_s, rtt_max_s=before_s))
    assert told(rtt_check.rtt(Case(trial, plan, seen))) == ([("invalid", text)] if text else [])


@pytest.mark.parametrize(("rules", "verdict"), [((), "suspect"), ((Rule("deny"),), "valid")])
def test_a_flow_that_starved_is_suspect_unless_it_was_denied(rules: tuple[Rule, ...], verdict: str) -> None:
    trial = make_trial()
    channel = Channel("c", Controller("firewall", rules=rules), ("s",))
    plan = replace(orders(trial).plan, controlled=(("s", channel),))
    seen = fine(trial, plan)
    flows = tuple(replace(flow, goodput_bps=0.0) for flow in seen.outcome.flows)
    found = told(data_check.arrived(Case(trial, plan, replace(seen, outcome=replace(seen.outcome, flows=flows)))))
    assert found == [(verdict, "flow 1 brought nothing while its goodput was measured")]


def test_what_is_read_back_of_the_network_is_told_of_beside_what_was_asked() -> None:
    trial = make_trial()
    plan = orders(trial).plan
    seen = fine(trial, plan)
    facts = seen.things["network"].facts
    (where, what), asked = next(iter(facts.items()))
    for has, network in (("5", {**facts, (where, what): "5"}), ("none", dict([*facts.items()][1:]))):
        found = told(found_by(subject.network.check, Case(trial, plan, seen_as(seen, network=network))))
        assert found == [("invalid", f"{where or 'the kernel'}: {what}: asked {asked}, the kernel has {has}")]


@pytest.mark.parametrize(
    ("received", "rtt_s", "text"),
    [
        (5, 0.01002, None),
        (3, 0.01002, "2 of 5 pings from the origin to the cache got no reply"),
        (0, None, "no ping from the origin to the cache got a reply"),
        (5, 0.01003, "between cache and origin asked 10 ms, pings took 10.03 to 10.03 ms"),
        (5, 0.00998, "between cache and origin asked 10 ms, pings took 9.98 to 9.98 ms"),
    ],
)
def test_pings_between_a_cache_and_its_origin_are_judged_too(
    received: int, rtt_s: float | None, text: str | None
) -> None:
    """98 bytes at 100 Mbit/s take 7.84 µs each way."""
    trial = make_trial()
    plan = orders(trial).plan
    plan = replace(plan, upstream=plan.data_path)
    seen = fine(trial, plan)
    ping = replace(round_trip(seen), sent=5, received=received, rtt_min_s=rtt_s, rtt_max_s=rtt_s)
    found = told(rtt_check.upstream(Case(trial, plan, seen_as(seen, upstream_check=ping))))
    assert found == ([("invalid", text)] if text else [])
    assert told(rtt_check.upstream(Case(trial, plan, seen))) == []


@pytest.mark.parametrize(("bps", "is_told"), [(10.36e6, False), (10.38e6, True)])
def test_after_a_link_slowed_down_a_round_trip_and_a_buffer_may_still_arrive(bps: float, is_told: bool) -> None:
    """In 5 s at 10 Mbit/s 50 Mbit and 0.1 %; 10 ms of the 100 Mbit/s before are 1 Mbit, and 100 kB are 0.8 Mbit: in all
    10.37 Mbit/s.
    """
    assert queued({"buffer": "100 kB"}, bps) == ({"goodput"} if is_told else set())


def test_what_a_full_buffer_dropped_later_took_no_ping_before() -> None:
    trial = make_trial(workload={"tool": "ping", "count": 5})
    plan = orders(trial).plan
    seen = fine(trial, plan)
    stages = tuple(with_seen(stage, queue_drops=5) for stage in seen.data_stages)
    lost = seen_as(seen, data_stages=stages, rtt_check=replace(round_trip(seen), received=4))
    text = "1 of 5 pings before the workload got no reply"
    assert told(rtt_check.rtt(Case(trial, plan, lost))) == [("invalid", text)]
    own = replace(round_trip(seen), received=4)
    during = replace(seen, outcome=replace(seen.outcome, measured={**seen.outcome.measured, "ping": record.write(own)}))
    assert told(rtt_check.rtt(Case(trial, plan, during))) == [("invalid", "1 of 5 pings of the workload got no reply")]
    assert told(rtt_check.rtt(Case(trial, plan, replace(during, data_stages=stages)))) == []
