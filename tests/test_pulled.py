"""Packets that leave a token bucket when the receiver looks: no event for each, and most of them never cut.

The other side is the same trial on the same kernel with an event for each packet (`pulled` 0), which must write the
same bytes: results, samples, looks at queues, counters and captures. What would count as failure was written down
before there were data: any other byte in any file but those that hold the switch itself or the time of the host.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pcap import packets
from trials import Ran, RunTrial, Steps

from testbed.trial.gate import judge

SWITCH = "/sys/module/sch_tbf/parameters/pulled"
DIFFER = {"host.json", "steps.json", "log.jsonl", "outcome.json", "softirqs"}
"""The host's times; the switch is in the steps, their log, and the checksum of that."""

PATH = {"rate": "1 Gbit/s", "rtt": "10 ms", "buffer": "50 kB"}
FAST = {"rate": "10 Gbit/s", "rtt": "20 ms", "buffer": "0.1 bdp"}
HOSTS = {"a": {"type": "host"}, "b": {"type": "host"}}
BOTH = [{"at": "a", "snaplen": 96}, {"at": "b", "snaplen": 65535}]


def switched(pulled: int, *before: str) -> Callable[[Steps], Steps]:
    """Steps that set the switch and do what else is to be done before the workload, and tell at the end how often each
    kind of work was done.
    """

    def tamper(steps: Steps) -> Steps:
        at = next(number for number, step in enumerate(steps) if step.get("title") == "observe")
        lines = (f"echo {pulled} > {SWITCH}", *before)
        made = [{"run": ["sh", "-ec", line]} for line in lines]
        return (*steps[:at], *made, *steps[at:], {"run": ["sh", "-ec", "cat /proc/softirqs > /run/trial/softirqs"]})

    return tamper


def visits(ran: Ran) -> int:
    """How often the guest's kernel ran queues."""
    found = re.search(r"NET_TX:\s+(\d+)", (ran.folder / "softirqs").read_text())
    assert found
    return int(found[1])


def check_same_files(one: Ran, other: Ran) -> None:
    names = {path.relative_to(one.folder) for path in one.folder.rglob("*") if path.is_file()}
    assert names == {path.relative_to(other.folder) for path in other.folder.rglob("*") if path.is_file()}
    compared = sorted(name for name in names if name.name not in DIFFER)
    assert len(compared) > 10
    assert [name for name in compared if (one.folder / name).read_bytes() != (other.folder / name).read_bytes()] == []


def topology(nodes: dict[str, Any] = HOSTS, ip: int = 4, **link: Any) -> dict[str, Any]:
    return {"name": "other", "ip": ip, "nodes": nodes, "links": {"path": {"ends": ["a", "b"], **link}}}


def flow(duration: str, flows: int = 2, **more: Any) -> dict[str, Any]:
    return {"workload": {"tool": "flow", "from": "a", "to": "b", "flows": flows, "duration": duration, **more}}


PLAIN = {"a": {"type": "host", "nic": "offload"}, "b": {"type": "host", "nic": "plain"}}
TAGS = {
    "nodes": {
        **HOSTS,
        "west": {"type": "switch", "vlans": {"in": 10, "trunk": [10, 20]}},
        "east": {"type": "switch", "vlans": {"out": 10, "trunk": [10, 20]}},
    },
    "links": {
        "in": {"ends": ["a", "west"]},
        "trunk": {"ends": ["west", "east"], **PATH},
        "out": {"ends": ["b", "east"], **PATH, "rate": "900 Mbit/s"},
    },
}
CHANGES = [
    {"at": "300 ms", "rate": "100 Mbit/s"},
    {"at": "600 ms", "buffer": "30 kB", "rtt": "20 ms"},
    {"at": "800 ms", "rate": "2 Gbit/s", "rtt": "10 ms"},
]
SIZE = {"mean": "300 kB", "shape": "1.5"}
WEB = {"web": {"pattern": "heavy-tailed", "from": "a", "to": "b", "arrivals": "50 /s", "size": SIZE}}
BACK = {"back": {"pattern": "on-off", "from": "b", "to": "a", "busy": "50 ms", "idle": "50 ms", "congestion": "cubic"}}
CELLS: dict[str, dict[str, Any]] = {
    "full-buffer": {"topology": topology(**PATH), **flow("1 s", 4), "capture": BOTH},
    "packets": {"topology": topology(**{**PATH, "buffer": "30 packets"}), **flow("1 s", 3)},
    "fast": {"topology": topology(**FAST), **flow("600 ms", 1), "samples": {"interval": "1 ms"}},
    "bbr": {"topology": topology(**PATH), **flow("1 s", 2, congestion="bbr")},
    "schedule": {"topology": topology(**PATH, schedule=CHANGES), **flow("1 s", 3)},
    "idle-and-bursts": {"topology": topology(**PATH), **flow("1 s", 1), "background": {**WEB, **BACK}},
    "IPv6": {"topology": topology(**FAST, ip=6), **flow("400 ms")},
    "jumbo": {"topology": topology(**{**FAST, "mtu": 9000}), **flow("400 ms"), "capture": BOTH},
    "tags": {"topology": {"name": "other", **TAGS}, **flow("1 s")},
    "100G": {"topology": topology(rate="100 Gbit/s", rtt="1 ms", buffer="1 bdp"), **flow("100 ms", 4)},
}


@pytest.mark.lab
@pytest.mark.parametrize("name", CELLS)
def test_packets_without_events_are_the_same_bytes(run_trial: RunTrial, name: str) -> None:
    asked, every = (run_trial(**CELLS[name], tamper=switched(pulled)) for pulled in (2, 0))
    assert asked.result.verdict != "invalid", asked.result.findings
    assert visits(asked) < visits(every)
    check_same_files(asked, every)


@pytest.mark.lab
@pytest.mark.parametrize("name", ["full-buffer", "fast"])
def test_packets_that_are_cut_but_have_no_event_are_too(run_trial: RunTrial, name: str) -> None:
    asked, every = (run_trial(**CELLS[name], tamper=switched(pulled)) for pulled in (1, 0))
    assert 2 * visits(asked) < visits(every)
    check_same_files(asked, every)


@pytest.mark.lab
def test_a_full_ring_stops_the_queue_as_with_events(run_trial: RunTrial) -> None:
    """The receiver looks so rarely that more packets leave than its ring of 256 holds."""
    rarely = "ip netns exec tb-b sh -c 'for each in /sys/class/net/*/gro_flush_timeout; do echo 600000 > $each; done'"
    words = {"topology": topology(**FAST), **flow("300 ms", 2)}
    asked, cut, every = (run_trial(**words, tamper=switched(pulled, rarely)) for pulled in (2, 1, 0))
    assert 2 * visits(asked) < visits(every)
    check_same_files(asked, every)
    check_same_files(cut, every)


@pytest.mark.lab
@pytest.mark.parametrize(("ip", "mtu"), [(4, 1500), (6, 9000)])
def test_a_packet_is_made_as_linux_cuts_it(run_trial: RunTrial, ip: int, mtu: int) -> None:
    """Without events on paper Linux's own code cuts each superpacket. A receiver that merges nothing has every packet,
    here with all its bytes; windows tell that it takes as much memory.
    """
    words = {"topology": topology(PLAIN, ip, **PATH, mtu=mtu), **flow("400 ms", 3), "capture": BOTH}
    ours, linux = (run_trial(**words, tamper=switched(pulled)) for pulled in (2, 0))
    assert ours.result.stages[0].queue_drops > 0
    check_same_files(ours, linux)
    if ip == 4:
        (captured,) = ours.folder.glob("b-*.pcap")
        sizes = Counter(each.length_bytes for each in packets(captured) if each.is_data("10.0.0.1"))
        assert sizes[mtu] > 5_000


@pytest.mark.lab
def test_a_loss_meets_the_first_middle_and_last_packet_of_a_piece(run_trial: RunTrial) -> None:
    """1 in 44 of superpackets of 43: each time another place. The sender's capture says which packets are lost."""
    path = {**PATH, "loss": {"every": 44, "phase": 20}, "buffer": "4 bdp"}
    words = {"topology": topology(**path), **flow("2 s", 3, congestion="bbr"), "capture": BOTH}
    asked, every = (run_trial(**words, tamper=switched(pulled)) for pulled in (2, 0))
    assert asked.result.verdict == "valid", asked.result.findings
    check_same_files(asked, every)
    (captured,) = asked.folder.glob("a-*.pcap")
    places, number = Counter[str](), 0
    for each in packets(captured):
        if not each.is_data("10.0.0.1") or each.destination_port == 22:
            continue
        count = -(-(each.length_bytes - 52) // 1448)
        lost = [place for place in range(count) if (number + place + 1 + 20) % 44 == 0]
        number += count
        places.update("first" if place == 0 else "last" if place == count - 1 else "middle" for place in lost)
    assert min(places[place] for place in ("first", "middle", "last")) > 3


@pytest.mark.lab
def test_pieces_that_nobody_counts_as_packets_are_found(run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: the receiver's device counts what it got merged, as its capture has it, and no longer each packet."""
    kept = []
    judging = judge.judge
    monkeypatch.setattr(judge, "judge", lambda case: kept.append(case) or judging(case))  # type: ignore[func-returns-value]
    words = {"topology": topology(**FAST), **flow("200 ms", 1), "capture": [{"at": "b", "snaplen": 96}]}
    ran = run_trial(**words)
    assert ran.result.verdict != "invalid", ran.result.findings
    (captured,) = ran.folder.glob("b-*.pcap")
    pieces = sum(each.is_data("10.0.0.1") for each in packets(captured))
    (case,) = kept
    (stage,) = case.evidence.data_stages
    assert 4 * pieces < stage.left_packets
    seen = replace(case.evidence, data_stages=(replace(stage, left_packets=pieces),))
    assert {each.check: each.verdict for each in judging(replace(case, evidence=seen))}["frame size"] == "invalid"
