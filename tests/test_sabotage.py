"""Sabotage: something between the plan and the workload is changed behind the testbed's back; the gate must say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from trials import Ran, Steps, adding, instead

from testbed.spec import mininet_import

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

EMULATOR = "tb-path.emulator"


def before_the_read_back(*added: dict[str, Any]) -> Callable[[Steps], Steps]:
    """Does something more once the plan is carried out."""
    return adding("title=observe", *added)


def before_the_workload(*added: dict[str, Any]) -> Callable[[Steps], Steps]:
    """Does something more after all has been checked."""
    return adding("background=observer", *added)


def inside(*words: str) -> dict[str, Any]:
    return {"run": list(words), "netns": EMULATOR}


def changed(device: str, *words: str) -> dict[str, Any]:
    return inside("tc", "qdisc", "change", "dev", device, "root", *words)


def without_offload_steps(steps: Steps) -> Steps:
    """The emulator's devices keep their segmentation, as fresh ones have it."""
    return tuple(s for s in steps if not (s.get("netns") == EMULATOR and s.get("run", [""])[0] == "ethtool"))


CASES: dict[str, tuple[Callable[[Steps], Steps], dict[str, str]]] = {
    "segmentation-left-on": (without_offload_steps, {"frame size": "invalid"}),
    "segmentation-turned-on": (
        before_the_workload(inside("ethtool", "-K", "wire0", "tso", "on", "gso", "on")),
        {"frame size": "invalid"},
    ),
    "netem-of-1000-packets": (instead("limit 2147483647", "limit 1000"), {"set-up": "invalid"}),
    "netem-of-5-packets-later": (
        before_the_workload(changed("wire0", "netem", "delay", "5ms", "limit", "5")),
        {"delay": "invalid"},
    ),
    "another-delay": (instead("delay 5000us", "delay 6000us"), {"rtt": "invalid", "set-up": "invalid"}),
    "delay-one-tick-off": (instead("delay 5000us", "delay 5001us"), {"set-up": "invalid"}),
    "no-delay": (
        before_the_read_back(inside("tc", "qdisc", "del", "dev", "wire0", "root")),
        {"set-up": "invalid"},
    ),
    "another-rate": (instead("tbf rate 100000000bit", "tbf rate 200000000bit"), {"set-up": "invalid"}),
    "another-rate-later": (
        before_the_workload(changed("end1", "tbf", "rate", "120mbit", "burst", "5kb", "limit", "125000")),
        {"rate": "invalid"},
    ),
    "another-buffer": (instead("limit 125000", "limit 250000"), {"set-up": "invalid"}),
    "loss-rule-missing": (
        before_the_workload(inside("nft", "flush", "chain", "netdev", "testbed", "data-forward")),
        {"data": "invalid"},
    ),
    "loss-rule-counts-without-dropping": (
        instead('counter name \\"dropped-forward\\" drop', "continue"),
        {"loss": "invalid"},
    ),
    "loss-twice-as-often": (instead("mod 100 == 99", "mod 50 == 49"), {"loss": "invalid"}),
    "wrong-congestion-control": (instead("cubic:0:", "reno:0:"), {"congestion control": "invalid"}),
}


SCHEDULE = [
    {"at": "500 ms", "rate": "20 Mbit/s"},
    {"at": "1 s", "rtt": "20 ms", "loss": "1 in 100"},
    {"at": "1500 ms", "buffer": "50 kB"},
]


def timeline(change: Callable[[list[dict[str, Any]]], None]) -> Callable[[Steps], Steps]:
    """Another timeline."""

    def tamper(steps: Steps) -> Steps:
        copied: list[dict[str, Any]] = json.loads(json.dumps(steps))
        change(next(step["timeline"] for step in copied if "timeline" in step))
        return tuple(copied)

    return tamper


def late(moments: list[dict[str, Any]]) -> None:
    moments[0]["steps"].insert(0, {"sleep": 0.002})


def unseen(moments: list[dict[str, Any]]) -> None:
    moments[1]["then"].clear()


SCHEDULED: dict[str, tuple[Callable[[Steps], Steps], dict[str, str]]] = {
    "a-change-is-skipped": (timeline(lambda moments: moments.pop(1) and None), {"schedule": "invalid"}),
    "all-changes-are-skipped": (timeline(lambda moments: moments.clear()), {"schedule": "invalid"}),
    "a-change-is-late": (timeline(late), {"schedule": "invalid"}),
    "a-change-is-not-looked-at": (timeline(unseen), {"schedule": "invalid"}),
    "a-wrong-rate": (instead("tbf rate 20000000bit", "tbf rate 21000000bit"), {"schedule": "invalid"}),
    "a-wrong-delay": (instead("delay 10000us", "delay 11000us"), {"schedule": "invalid"}),
    "a-wrong-buffer": (instead("limit 50000\\n", "limit 60000\\n"), {"schedule": "invalid"}),
    "a-wrong-loss": (instead("mod 100 == 99", "mod 50 == 49"), {"loss": "invalid"}),
    "another-rate-in-between": (
        timeline(
            lambda moments: moments[0]["steps"].append(
                changed("end1", "tbf", "rate", "60mbit", "burst", "5kb", "limit", "125000")
            )
        ),
        {"schedule": "invalid"},
    ),
}


@pytest.mark.parametrize("name", SCHEDULED)
def test_the_gate_catches_a_schedule_where(run_trial: RunTrial, name: str) -> None:
    tamper, expected = SCHEDULED[name]
    workload = {"duration": "2 s", "flows": 2}
    ran = run_trial(path={"schedule": SCHEDULE}, workload=workload, tamper=tamper, samples={"interval": "20 ms"})
    assert expected.items() <= ran.findings.items(), ran.result.warnings
    assert ran.result.verdict == "invalid"


POLICIES: dict[str, Callable[[Steps], Steps]] = {
    "begins-too-early": instead("quota over 5000000", "quota over 1000000"),
    "never-begins": instead("quota over 5000000", "quota over 500000000"),
    "polices-to-another-rate": instead("rate over 2500000", "rate over 5000000"),
}


@pytest.mark.parametrize("name", POLICIES)
def test_the_gate_catches_a_policy_that(run_trial: RunTrial, name: str) -> None:
    path = {"policy": {"after": "5 MB", "rate": "20 Mbit/s"}}
    udp = {"tool": "iperf3", "protocol": "udp", "rate": "80 Mbit/s", "length": "1400 B", "duration": "4 s"}
    ran = run_trial(path=path, workload=udp, tamper=POLICIES[name])
    assert ran.findings.get("policy") == "invalid", ran.result.warnings


def test_without_sabotage_schedules_and_policies_are_valid(run_trial: RunTrial) -> None:
    path = {"schedule": SCHEDULE, "policy": {"after": "5 MB", "rate": "19 Mbit/s"}}
    ran = run_trial(path=path, workload={"duration": "4 s", "flows": 2}, samples={"interval": "20 ms"})
    assert ran.result.warnings == ()
    assert ran.result.stages[0].policy.policed_packets > 0


@pytest.mark.parametrize("name", CASES)
def test_the_gate_catches(run_trial: RunTrial, name: str) -> None:
    tamper, expected = CASES[name]
    path = {"loss": "1 in 100"} if "loss" in name else {}
    if "segmentation" in name:
        path = {"loss": "1 in 100", "jitter": "10 us"}  # which looks at each packet: the plan has all cut
    ran = run_trial(path=path, workload={"duration": "2 s", "flows": 2}, tamper=tamper)
    assert expected.items() <= ran.findings.items(), ran.result.warnings
    assert ran.result.verdict == "invalid"


def test_without_sabotage_the_same_trials_are_valid(run_trial: RunTrial) -> None:
    for path in ({"loss": "1 in 100"}, {}):
        ran = run_trial(path=path, workload={"duration": "2 s", "flows": 2})
        assert ran.result.warnings == ()


def test_the_gate_suspects_hosts_with_little_memory_for_tcp(run_trial: RunTrial) -> None:
    few_pages = {"write": [["/proc/sys/net/ipv4/tcp_mem", "8 16 64"]]}
    ran = run_trial(workload={"flows": 10}, tamper=before_the_workload(few_pages))
    assert ran.findings.get("memory") == "suspect", ran.result.warnings
    assert ran.result.verdict in ("suspect", "invalid")


def test_the_gate_catches_a_window_that_the_kernel_cut(run_trial: RunTrial) -> None:
    ran = run_trial(workload={"window": "200 kB"}, tamper=instead("cubic:200000:", "cubic:100000:"))
    assert ran.findings == {"window": "invalid"}


def test_the_gate_catches_a_network_without_a_way(run_trial: RunTrial) -> None:
    ran = run_trial(
        workload={"tool": "ping", "count": 1},
        tamper=before_the_read_back(inside("nft", "flush", "chain", "netdev", "testbed", "from-end1")),
    )
    assert ran.findings["rtt"] == "invalid"


def test_the_gate_catches_a_switch_that_loses_what_nobody_asked_it_to_lose(run_trial: RunTrial) -> None:
    nodes = {"a": {"type": "host"}, "s": {"type": "switch"}, "b": {"type": "host"}}
    links = {
        "port": {"ends": ["a", "s"], "mtu": 9000},
        "path": {"ends": ["s", "b"], "mtu": 9000, "rate": "1 Gbit/s", "rtt": "10 ms"},
    }
    short_queues = {"write": [["/proc/sys/net/core/netdev_max_backlog", "1"]]}
    network = {"name": "net", "nic": "plain", "nodes": nodes, "links": links}
    ran = run_trial(topology=network, workload={"flows": 10}, tamper=before_the_workload(short_queues))
    assert ran.findings["device"] == "invalid"
    assert any("tb-s eth0 lost" in text for text in ran.result.warnings), ran.result.warnings


def without_checksums(steps: Steps) -> Steps:
    """Checksums are left to the receiver's trust, as between devices of one kernel."""
    kept = [step for step in steps if "tx" not in step.get("run", ())]
    assert len(kept) < len(steps)
    return tuple(kept)


def flushed(chain: str) -> Callable[[Steps], Steps]:
    return before_the_workload(inside("nft", "flush", "chain", "netdev", "testbed", chain))


DOUBLED = {"duplicate": {"forward": "1 in 50"}}
DAMAGED = {"corrupt": {"forward": "1 in 50"}}
LATE = {"reorder": {"forward": {"every": 50, "by": "2 ms"}}}
GATHERED = {"aggregate": {"forward": {"time": "4 ms", "bytes": "64 KiB"}}}
DOWN = {"down": {"from": "300 ms", "for": "100 ms"}}

FAULTS: dict[str, tuple[dict[str, Any], Callable[[Steps], Steps], dict[str, str]]] = {
    "twice-as-many-doubled": (DOUBLED, instead("mod 50 == 49", "mod 25 == 24"), {"duplicate": "invalid"}),
    "half-of-them-doubled": (DOUBLED, instead("duplicate 100%", "duplicate 50%"), {"set-up": "invalid"}),
    "half-of-them-doubled-later": (
        DOUBLED,
        before_the_workload(changed("twin0", "netem", "limit", "2147483647", "duplicate", "50%")),
        {"duplicate": "invalid"},
    ),
    "none-doubled-later": (DOUBLED, flushed("duplicate-forward"), {"duplicate": "invalid"}),
    "counted-without-damage": (
        DAMAGED,
        instead("@th,64,8 set @th,64,8 ^ 0x1", "continue"),
        {"corrupt": "invalid"},
    ),
    "damage-that-nobody-checks": (DAMAGED, without_checksums, {"corrupt": "invalid"}),
    "damage-that-nobody-checks-in-an-outage": (DAMAGED | DOWN, without_checksums, {"corrupt": "invalid"}),
    "damage-of-half-as-many": (DAMAGED, instead("mod 50 == 49", "mod 100 == 99"), {"corrupt": "invalid"}),
    "less-late": (LATE, instead("delay 2000us", "delay 1000us"), {"set-up": "invalid"}),
    "late-packets-lost": (
        LATE,
        before_the_workload(changed("late0", "netem", "limit", "2147483647", "delay", "2ms", "loss", "50%")),
        {"set-up": "invalid"},
    ),
    "none-late": (LATE, flushed("reorder-forward-met"), {"set-up": "invalid"}),
    "no-bursts": (
        GATHERED,
        instead("slot 4000000ns 4000000ns bytes 65536", ""),
        {"set-up": "invalid", "rtt": "invalid"},
    ),
    "larger-bursts": (GATHERED, instead("bytes 65536", "bytes 131072"), {"set-up": "invalid"}),
    "acks-counted-without-loss": (
        {"ack_loss": "1 in 10"},
        instead('counter name \\"ack_loss-met-backward\\" drop', 'counter name \\"ack_loss-met-backward\\" continue'),
        {"set-up": "invalid"},
    ),
    "down-without-dropping": (
        DOWN,
        instead('counter name \\"down-lost-forward-1\\" drop', 'counter name \\"down-lost-forward-1\\"'),
        {"down": "invalid"},
    ),
    "never-down": (DOWN, timeline(lambda moments: moments.clear()), {"schedule": "invalid"}),
    "never-up-again": (DOWN, timeline(lambda moments: moments.pop() and None), {"schedule": "invalid"}),
    "up-again-sooner": (
        DOWN,
        timeline(lambda moments: moments[1].update(at_ns=350_000_000)),
        {"schedule": "invalid"},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_gate_catches_a_fault_where(run_trial: RunTrial, name: str) -> None:
    path, tamper, expected = FAULTS[name]
    ran = run_trial(path=path, tamper=tamper)
    assert expected.items() <= ran.findings.items(), ran.result.warnings
    assert ran.result.verdict == "invalid"


def test_the_gate_passes_those_faults_as_they_are(run_trial: RunTrial) -> None:
    for path in (DOUBLED, DAMAGED, LATE, GATHERED, DOWN, {"ack_loss": "1 in 10"}):
        ran = run_trial(path=path)
        assert ran.result.verdict == "valid", (path, ran.result.warnings)


def test_the_gate_suspects_a_loss_that_nobody_asked_for_while_packets_wait(run_trial: RunTrial) -> None:
    """One data packet in 400 is lost behind the last queue. At the end packets wait there that were sent once more, and
    explain as many, and no others.
    """
    lossy = {"shaper": {"rate": "40 Mbit/s", "burst": "8 Mbit", "refill": "10 Mbit/s"}, "rate": None, **GATHERED}
    path = {**lossy, "buffer": "100 packets", "queue": {"forward": "codel"}}
    drop = ("meta", "length", ">", "100", "numgen", "inc", "mod", "400", "==", "399", "drop")
    words = (
        ("add", "table", "netdev", "lossy"),
        ("add", "chain", "netdev", "lossy", "in", "{ type filter hook ingress device eth0 priority 0; }"),
        ("add", "rule", "netdev", "lossy", "in", *drop),
    )
    tamper = before_the_workload(*({"run": ["nft", *each], "netns": "tb-b"} for each in words))
    ran = run_trial(path=path, nic="plain", tamper=tamper)
    assert ran.findings["retransmissions"] == "suspect", ran.result.warnings
    assert ran.findings["set-up"] == "invalid"
    assert run_trial(path=path, nic="plain").result.verdict == "valid"


HTB = "class change dev eth1 parent 5: classid 5:1 htb rate"
TCLINKS = {
    "a-larger-bucket": ("tb-s", f"{HTB} 10mbit burst 1mb"),
    "a-higher-ceiling": ("tb-s", f"{HTB} 10mbit ceil 20mbit burst 15k"),
    "a-larger-bucket-of-the-ceiling": ("tb-s", f"{HTB} 10mbit burst 15k cburst 1mb"),
    "another-queue": ("tb-s", "qdisc change dev eth1 parent 5:1 handle 10: netem delay 5ms limit 50000"),
    "another-rate-beside-the-path": ("tb-c", f"{HTB} 20mbit burst 15k".replace("eth1", "eth0")),
}
"""What is changed of a TCLink of 10 Mbit/s that carries 8 Mbit/s, so that no counter shows it."""


@pytest.mark.skipif(mininet_import.missing() is not None, reason="there is no Mininet: apt-get install mininet")
@pytest.mark.parametrize("when", [before_the_read_back, before_the_workload])
@pytest.mark.parametrize("name", [None, *TCLINKS])
def test_the_gate_catches_the_bucket_of_a_tclink(run_trial: RunTrial, name: str | None, when: Any) -> None:
    hosts = {each: {"type": "host"} for each in "abc"}
    slow = {"rate": "10 Mbit/s", "delay": "5 ms"}
    links = {"in": {"ends": ["a", "s"]}, "path": {"ends": ["s", "b"], **slow}, "other": {"ends": ["s", "c"], **slow}}
    network = {"name": "net", "engine": "mininet", "nodes": {**hosts, "s": {"type": "switch"}}, "links": links}
    udp = {"tool": "udp", "from": "a", "to": "b", "rate": "8 Mbit/s", "duration": "1 s"}
    added: tuple[dict[str, Any], ...] = ()
    if name is not None:
        netns, words = TCLINKS[name]
        added = ({"run": ["tc", *words.split()], "netns": netns},)
    ran = run_trial(topology=network, workload=udp, tamper=when(*added))
    assert ran.findings == ({} if name is None else {"set-up": "invalid"}), ran.result.warnings
