"""Superpackets that meet a periodic loss: only the one that holds the packet to drop is cut, and everything is as if
all were cut before they are counted.

What must hold was written down before there were data:

- the packets that are lost are those that the sender's own capture says: the packet number t (from 0, data packets
  alone) is lost if X divides t + 1 + phase, wherever in a superpacket it is; all others arrive, in order;
- the counters are exact: floor((packets + phase) / X) were dropped, and the gate says valid;
- a capture behind the emulator, the samples, the queues and the result are the same bytes as with superpackets that are
  cut where they leave the delay, so every packet leaves at the same nanosecond.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from late_cut import check_same_bytes, late_and_soon
from pcap import packets
from trials import Ran, RunTrial, Steps, make_trial

from testbed.plan.link.stage import Emulator
from testbed.trial.orders.sequence import orders
from testbed.trial.start import bring_up

PATH = {"rate": "1 Gbit/s", "rtt": "10 ms", "buffer": "4 bdp"}
NODES = {"a": {"type": "host", "nic": "offload"}, "b": {"type": "host", "nic": "plain"}}
"""The receiver merges nothing: a capture there has every packet that left the bottleneck. That of the sender has
superpackets."""
HEADERS_BYTES, PAYLOAD_BYTES = 52, 1448


def emulator(**path: Any) -> Emulator:
    (found,) = orders(make_trial(path={**PATH, **path}, workload={"duration": "2 s"})).plan.emulators
    return found


@pytest.mark.parametrize(
    ("path", "cuts_late"),
    [
        ({"loss": "1 in 100"}, True),
        ({"loss": {"every": 100, "phase": "seeded"}}, True),
        ({"schedule": [{"at": "1 s", "loss": "1 in 100"}]}, True),
        ({"loss": "1 in 100", "schedule": [{"at": "1 s", "loss": "none"}]}, True),
        ({"loss": "1 in 100", "rtt": "0 s", "buffer": "50 kB"}, False),
        ({"loss": "1 in 100", "jitter": "10 us"}, False),
        ({"loss": "1 in 100", "duplicate": "1 in 100"}, False),
        ({"loss": "1 in 100", "corrupt": "1 in 100"}, False),
        ({"loss": "1 in 100", "queue": "fq_codel"}, False),
        ({"loss": {"random": "1 %"}}, False),
        ({"loss": {"gilbert-elliott": {"p": "1 %", "r": "10 %"}}}, False),
        ({"loss": "1 in 100", "schedule": [{"at": "1 s", "loss": {"random": "1 %"}}]}, False),
    ],
    ids=str,
)
def test_a_periodic_loss_lets_superpackets_pass_and_no_other_loss_does(
    monkeypatch: pytest.MonkeyPatch, path: dict[str, Any], cuts_late: bool
) -> None:
    monkeypatch.setattr(bring_up, "cuts_late", lambda kernel: True)
    assert emulator(**path).forward.cuts_late is cuts_late


@dataclass(frozen=True)
class Sent:
    """A data packet as the sender's capture has it: `place` is first, middle, last or alone in its superpacket."""

    number: int
    payload_bytes: int
    place: str


def sent(ran: Ran) -> list[Sent]:
    """The data packets in the order in which they come to the emulator."""
    (captured,) = ran.folder.glob("a-*.pcap")
    found = []
    for each in packets(captured):
        if not each.is_data("10.0.0.1") or each.destination_port == 22:
            continue
        whole = each.length_bytes - HEADERS_BYTES
        starts = range(0, whole, PAYLOAD_BYTES)
        for at in starts:
            size = min(PAYLOAD_BYTES, whole - at)
            if size + HEADERS_BYTES > 100:
                found.append(Sent((each.number + at) % 2**32, size, _place(at, starts)))
    return found


def _place(at: int, starts: range) -> str:
    if len(starts) == 1:
        return "alone"
    return {starts[0]: "first", starts[-1]: "last"}.get(at, "middle")


def arrived(ran: Ran) -> list[tuple[int, int]]:
    (captured,) = ran.folder.glob("b-*.pcap")
    return [(each.number, each.length_bytes - HEADERS_BYTES) for each in packets(captured) if each.is_data("10.0.0.1")]


def captured_trial(run_trial: RunTrial, every: int, phase: int, **workload: str | int) -> Ran:
    path = {"rate": "1 Gbit/s", "rtt": "20 ms", "buffer": "10 bdp", "loss": {"every": every, "phase": phase}}
    topology = {"name": "half", "nodes": NODES, "links": {"path": {"ends": ["a", "b"], **path}}}
    words = {"tool": "flow", "from": "a", "to": "b", "bytes": "30 MB", **workload}
    capture = [{"at": "a", "snaplen": 96}, {"at": "b", "snaplen": 96}]
    return run_trial(topology=topology, workload=words, capture=capture)


def lost_as_asked(ran: Ran, every: int, phase: int) -> list[Sent]:
    """Checks what was lost, what arrived and what was counted; returns what was sent."""
    came = sent(ran)
    expected = [each for t, each in enumerate(came) if (t + 1 + phase) % every]
    assert len(came) - len(expected) == (len(came) + phase) // every >= 1
    assert arrived(ran) == [(each.number, each.payload_bytes) for each in expected]
    (stage,) = (stage for stage in ran.result.stages if stage.dropped_packets)
    assert stage.data_packets == len(came)
    assert stage.dropped_packets == (len(came) + phase) // every
    assert stage.queue_drops == 0
    assert {check for check, verdict in ran.findings.items() if verdict != "valid"} <= {"duration"}, ran.findings
    assert ran.made.plan.emulators[0].forward.cuts_late
    return came


@pytest.mark.lab
def test_the_packet_to_drop_is_the_one_wherever_in_a_superpacket_it_is(
    run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First, second, middle, last but one and last of one superpacket, the last of the one before, the first of the one
    behind. Until the first loss all these trials are the same.
    """
    every = 9000
    without = sent(captured_trial(run_trial, 10**8, 0))
    assert len(without) > every
    first = next(t for t in range(3000, every) if without[t].place == "first" and without[t + 9].place == "middle")
    last = next(t for t in range(first, every) if without[t].place == "last")
    seen = set()
    for target in (first - 1, first, first + 1, (first + last) // 2, last - 1, last, last + 1):
        ran = captured_trial(run_trial, every, every - 1 - target)
        came = lost_as_asked(ran, every, every - 1 - target)
        assert came[: target + 1] == without[: target + 1]
        seen.add(came[target].place)
    assert seen == {"first", "middle", "last"}


@pytest.mark.lab
@pytest.mark.parametrize("phase", [5, 17, 36])
def test_a_last_packet_as_short_as_an_ack_is_not_counted(run_trial: RunTrial, phase: int) -> None:
    """The rule of data leaves it out when it comes by itself, and so does a superpacket that ends with it."""
    size_bytes = 30 * PAYLOAD_BYTES + 20
    ran = captured_trial(run_trial, 37, phase, flows=40, bytes=f"{size_bytes} B")
    came = lost_as_asked(ran, 37, phase)
    assert len(came) > 40 * 30
    (captured,) = ran.folder.glob("a-*.pcap")
    whole = [each.length_bytes - HEADERS_BYTES for each in packets(captured) if each.is_data("10.0.0.1")]
    short = [at for at, size in enumerate(whole) if size > PAYLOAD_BYTES and 0 < size % PAYLOAD_BYTES <= 48]
    assert any(at < len(whole) - 10 for at in short)


LATER = [
    {"at": "700 ms", "loss": "1 in 50"},
    {"at": "1200 ms", "loss": "none"},
    {"at": "1500 ms", "loss": {"every": 3000, "phase": 2990}, "rate": "500 Mbit/s"},
]
SMALL = {"rate": "1 Gbit/s", "rtt": "10 ms", "buffer": "50 kB"}


@pytest.mark.lab
@pytest.mark.parametrize(
    ("path", "workload"),
    [
        ({**SMALL, "loss": "1 in 1000"}, {"flows": 4, "duration": "3 s"}),
        ({**SMALL, "loss": "1 in 7"}, {"duration": "2 s"}),
        ({**SMALL, "loss": {"every": 44, "phase": 20}}, {"flows": 3, "duration": "2 s", "congestion": "bbr"}),
        ({"rate": "10 Gbit/s", "rtt": "20 ms", "buffer": "0.5 bdp", "loss": "1 in 20000"}, {"duration": "1 s"}),
        ({**SMALL, "buffer": "30 packets", "loss": {"every": 5000, "phase": "seeded"}}, {"duration": "3 s"}),
        ({**SMALL, "loss": "1 in 5000", "schedule": LATER}, {"flows": 2, "duration": "2 s"}),
    ],
    ids=["full-buffer", "each-has-one", "a-superpacket-apart", "fast", "packets", "schedule"],
)
def test_results_are_the_same_bytes_as_if_all_were_cut_before_they_are_counted(
    run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch, path: dict[str, Any], workload: dict[str, Any]
) -> None:
    late, soon = late_and_soon(monkeypatch, lambda: run_trial(path=path, workload=workload))
    assert late.result.verdict == "valid"
    stage = late.result.stages[0]
    assert stage.dropped_packets > 0
    if "schedule" not in path:
        assert stage.dropped_packets == stage.expected_drops
    check_same_bytes(late, soon)


HOSTS = {"a": {"type": "host"}, "b": {"type": "host"}}
LOSSY = {**SMALL, "loss": "1 in 700"}
TOPOLOGIES: dict[str, dict[str, Any]] = {
    "IPv6": {"ip": 6, "nodes": HOSTS, "links": {"path": {"ends": ["a", "b"], **LOSSY}}},
    "jumbo": {"nodes": HOSTS, "links": {"path": {"ends": ["a", "b"], **LOSSY, "mtu": 9000}}},
    "hops": {
        "nodes": {**HOSTS, "r": {"type": "router"}},
        "links": {"one": {"ends": ["a", "r"], **LOSSY}, "two": {"ends": ["r", "b"], **LOSSY, "rate": "500 Mbit/s"}},
    },
    "tags": {
        "nodes": {
            **HOSTS,
            "west": {"type": "switch", "vlans": {"in": 10, "trunk": [10, 20]}},
            "east": {"type": "switch", "vlans": {"out": 10, "trunk": [10, 20]}},
        },
        "links": {
            "in": {"ends": ["a", "west"]},
            "trunk": {"ends": ["west", "east"], **LOSSY},
            "out": {"ends": ["b", "east"]},
        },
    },
}


@pytest.mark.lab
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_other_packets_and_paths_are_the_same_bytes_too(
    run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    workload = {"tool": "flow", "from": "a", "to": "b", "flows": 2, "duration": "1 s"}
    words = {"topology": {"name": "other", **TOPOLOGIES[name]}, "workload": workload}
    late, soon = late_and_soon(monkeypatch, lambda: run_trial(**words))
    assert late.result.verdict == "valid"
    for stage in late.result.stages:
        assert stage.dropped_packets == stage.expected_drops or stage.expected_drops is None
    assert sum(stage.dropped_packets for stage in late.result.stages) >= 2
    check_same_bytes(late, soon)


@pytest.mark.lab
def test_what_leaves_the_bottleneck_is_the_same_in_captures(
    run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, soon = late_and_soon(monkeypatch, lambda: captured_trial(run_trial, 4000, 123))
    for pattern in ("a-*.pcap", "b-*.pcap"):
        (one,), (other,) = late.folder.glob(pattern), soon.folder.glob(pattern)
        assert len(list(packets(one))) > 1000
        assert one.read_bytes() == other.read_bytes(), pattern


@pytest.mark.lab
@pytest.mark.parametrize("new", ["inc mod 900 == 899", "inc mod 1000 == 1", "random mod 1000 == 999"])
def test_a_rule_that_drops_others_is_found(run_trial: RunTrial, new: str) -> None:
    """Sabotage: more often, another packet of each thousand, and at random, of which superpackets know nothing."""

    def tamper(steps: Steps) -> Steps:
        text = json.dumps(steps)
        changed = text.replace("numgen inc mod 1000 == 999", f"numgen {new}")
        assert changed != text
        return tuple(json.loads(changed))

    ran = run_trial(path={**PATH, "loss": "1 in 1000"}, workload={"duration": "1 s"}, tamper=tamper)
    assert ran.made.plan.emulators[0].forward.cuts_late
    assert ran.result.verdict == "invalid"
    assert ran.findings["loss"] == "invalid"
