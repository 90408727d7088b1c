"""Superpackets that a shaper holds uncut: each packet leaves as if all had been cut before they came to it.

What must hold was written down before there were data:

- results, samples, queues, what flows and hosts counted are the same bytes as with superpackets that are cut where they
  leave the delay; so is each look at the shaper: the credit, the bytes that it let pass, the time in which packets
  waited, and how many do;
- a capture behind the shaper, with nanoseconds, is the same bytes, wherever in a superpacket the credit ends: the first
  packet that waits for credit is its first, one in the middle, or its last;
- where no packet is lost, each leaves at the nanosecond that two buckets give in whole numbers, replayed from the
  sender's own capture; up to 1 us late, and never early, where lab time had gone on as a timer was due;
- over all, what left is burst + refill * t to a packet and what the bucket of the line holds (test_lab_paced.py);
- a shaper with another number for a while, and frames that pass it uncut, are invalid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import pytest
from late_cut import check_same_bytes, late_and_soon
from pcap import packets
from saboteur import for_a_while
from trials import Ran, RunTrial, Steps, make_trial

from testbed.model.link.bucket import Shaper, carried_bytes
from testbed.model.topology import Link
from testbed.plan.link.impairment import Context, burst_bytes
from testbed.plan.link.stage import Emulator
from testbed.trial.evidence.stage import Evidence
from testbed.trial.gate import judge
from testbed.trial.observe import bucket as observe_paced
from testbed.trial.observe.bucket import PacedSample
from testbed.trial.observe.sample import Query
from testbed.trial.orders.sequence import orders
from testbed.trial.start import bring_up

SHAPER = {"rate": "1 Gbit/s", "burst": "200 Mbit", "refill": "75 Mbit/s"}
PATH = {"rate": None, "rtt": "10 ms", "shaper": SHAPER, "buffer": "50 kB"}
HEADERS_BYTES, PAYLOAD_BYTES, ETHERNET_BYTES, FRAME = 52, 1448, 14, 1514
LATE_NS = 512
"""A timer acts at the first tick of the clock, of 256 ns, that is not before it: once for the delay, once for the
bucket, whose busy period begins when the first packet has come.
"""


def emulator(**changes: Any) -> Emulator:
    (found,) = orders(make_trial(**changes)).plan.emulators
    return found


@pytest.mark.parametrize(
    "path",
    [
        {},
        {"buffer": "30 packets"},
        {"loss": "1 in 100"},
        {"loss": {"every": 100, "phase": "seeded"}},
        {"schedule": [{"at": "1 s", "rtt": "20 ms"}]},
        {"rate": {"backward": "1 Gbit/s"}, "shaper": {"forward": SHAPER}},
    ],
    ids=str,
)
def test_a_shaper_behind_a_delay_holds_superpackets(monkeypatch: pytest.MonkeyPatch, path: dict[str, Any]) -> None:
    monkeypatch.setattr(bring_up, "cuts_late", lambda kernel: kernel.is_virtual_time)
    made = orders(make_trial(path={**PATH, **path}, workload={"duration": "2 s"})).plan
    assert [stage.cuts_late for stage in made.emulators[0].stages] == [True, True]
    offloads = [command.words[1:] for command in made.commands if command.tool == "ethtool"]
    assert ("wire0", "tso", "on", "gso", "on") in offloads
    assert ("end1", "tso", "off", "gso", "off", "tx-udp-segmentation", "off") in offloads


@pytest.mark.parametrize(
    "changes",
    [
        {"nic": "plain"},
        {"path": {"rtt": "0 s"}},
        {"path": {"loss": {"forward": {"random": "1 %"}, "backward": {"random": "1 %"}}}},
        {"path": {"jitter": "10 us"}},
        {"path": {"queue": "fq_codel"}},
        {"path": {"duplicate": "1 in 100"}},
        {"path": {"policer": {"rate": "10 Mbit/s", "burst": "64 KiB"}}},
        {"capture": [{"at": "path"}]},
        {"kernel": "lab-realtime"},
    ],
    ids=str,
)
def test_whatever_looks_at_single_packets_gets_single_packets(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    monkeypatch.setattr(bring_up, "cuts_late", lambda kernel: kernel.is_virtual_time)
    found = emulator(**{**changes, "path": {**PATH, **changes.get("path", {})}})
    assert not any(stage.cuts_late for stage in found.stages)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Evidence]:
    """The evidence of each trial that is run."""
    kept: list[Evidence] = []
    judging = judge.judge
    monkeypatch.setattr(judge, "judge", lambda case: kept.append(case.evidence) or judging(case))  # type: ignore[func-returns-value]
    return kept


def looks(evidence: Evidence) -> list[tuple[PacedSample, ...]]:
    return [each.paced for each in evidence.judged]


ODD = {"rate": "30000008 bit/s", "burst": "999983 B", "refill": "1000008 bit/s"}
FAST = {"rate": "10 Gbit/s", "burst": "2 Gbit", "refill": "750 Mbit/s"}
SLOW = {"rate": "100 Mbit/s", "burst": "50 Mbit", "refill": "8 Mbit/s"}
SHALLOW = {"rate": "1 Gbit/s", "burst": "1514 B", "refill": "100 Mbit/s"}
BACK = {"back": {"pattern": "on-off", "from": "b", "to": "a", "busy": "1 s", "idle": "100 ms", "congestion": "cubic"}}
CELLS: dict[str, dict[str, Any]] = {
    "bytes": {"workload": {"flows": 4, "duration": "2 s"}},
    "packets": {"path": {"shaper": SLOW, "buffer": "30 packets"}, "workload": {"flows": 3, "duration": "3 s"}},
    "one-packet": {"path": {"shaper": SLOW, "buffer": "1 packets"}, "workload": {"duration": "3 s"}},
    "fast": {"path": {"shaper": FAST, "rtt": "1 ms", "buffer": "4 MB"}, "workload": {"duration": "600 ms"}},
    "fast-flows": {"path": {"shaper": FAST, "buffer": "1 MB"}, "workload": {"flows": 8, "duration": "600 ms"}},
    "odd": {"path": {"shaper": ODD, "buffer": "20 kB"}, "workload": {"flows": 2, "duration": "3 s"}},
    "shallow": {"path": {"shaper": SHALLOW}, "workload": {"flows": 2, "duration": "1 s"}},
    "bbr": {"workload": {"flows": 2, "duration": "2 s", "congestion": "bbr"}},
    "comes-back": {
        "path": {"shaper": SLOW, "buffer": "1000 packets"},
        "workload": {"flows": 3, "start": ["0 s", "3 s", "6 s"], "bytes": "3 MB"},
    },
    "both-ways": {"workload": {"flows": 2, "duration": "2 s"}, "background": BACK},
    "loss": {"path": {"loss": "1 in 1000"}, "workload": {"flows": 3, "duration": "2 s"}},
    "schedule": {
        "path": {"schedule": [{"at": "300 ms", "rtt": "20 ms"}, {"at": "600 ms", "loss": "1 in 500", "rtt": "5 ms"}]},
        "workload": {"flows": 2, "duration": "1 s"},
    },
    "one-way": {
        "path": {"rate": {"backward": "20 Mbit/s"}, "shaper": {"forward": SHAPER}},
        "workload": {"flows": 2, "duration": "1 s"},
    },
}


@pytest.mark.lab
@pytest.mark.parametrize("name", CELLS)
def test_the_same_packets_leave_at_the_same_times(
    run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch, judged: list[Evidence], name: str
) -> None:
    cell = {"samples": {"interval": "10 ms"}, **CELLS[name]}
    cell["path"] = {**PATH, **cell.get("path", {})}
    late, soon = late_and_soon(monkeypatch, lambda: run_trial(**cell))
    assert late.result.verdict == "valid", late.result.findings
    assert late.result.stages[0].paced is not None
    assert name == "comes-back" or late.result.stages[0].queue_drops > 0
    check_same_bytes(late, soon)
    one, other = map(looks, judged)
    assert one == other
    assert min(len(each) for each in one if each) > 20


@pytest.mark.lab
def test_jumbo_frames_and_ipv6_are_the_same_bytes_too(run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch) -> None:
    link = {**PATH, "mtu": 9000}
    del link["rate"]
    nodes = {"a": {"type": "host"}, "b": {"type": "host"}}
    topology = {"name": "other", "ip": 6, "nodes": nodes, "links": {"path": {"ends": ["a", "b"], **link}}}
    workload = {"tool": "flow", "from": "a", "to": "b", "flows": 2, "duration": "1 s"}
    late, soon = late_and_soon(monkeypatch, lambda: run_trial(topology=topology, workload=workload))
    assert late.result.verdict == "valid"
    assert late.result.stages[0].queue_drops > 0
    check_same_bytes(late, soon)


@dataclass(frozen=True)
class Left:
    """A frame of a, with the ns at which it left; `place` is first, middle, last or alone in its superpacket."""

    at_ns: int
    size_bytes: int
    number: int
    place: str


def nano(steps: Steps) -> Steps:
    """Captures with ns."""
    return tuple(
        {**step, "run": ["tcpdump", "--nano", *step["run"][1:]]} if step.get("run", [""])[0] == "tcpdump" else step
        for step in steps
    )


def captured_trial(run_trial: RunTrial, burst_bytes: int, **workload: Any) -> Ran:
    """The receiver merges nothing: a capture there has every packet that left the shaper. That of the sender has
    superpackets.
    """
    shaper = {"rate": "1 Gbit/s", "burst": f"{burst_bytes} B", "refill": "80 Mbit/s"}
    nodes = {"a": {"type": "host", "nic": "offload"}, "b": {"type": "host", "nic": "plain"}}
    link = {"ends": ["a", "b"], "rtt": "10 ms", "shaper": shaper, "buffer": "40 MB"}
    topology = {"name": "half", "nodes": nodes, "links": {"path": link}}
    words = {"tool": "flow", "from": "a", "to": "b", "bytes": "10 MB", **workload}
    capture = [{"at": "a", "snaplen": 96}, {"at": "b", "snaplen": 96}]
    return run_trial(topology=topology, workload=words, capture=capture, tamper=nano)


def of_a(ran: Ran, node: str) -> list[Left]:
    """What a sent, cut into its packets, at a or at b."""
    (captured,) = ran.folder.glob(f"{node}-*.pcap")
    found = []
    for each in packets(captured):
        if str(each.source) != "10.0.0.1":
            continue
        starts = range(0, max(1, each.length_bytes - HEADERS_BYTES), PAYLOAD_BYTES)
        for at in starts:
            size = min(PAYLOAD_BYTES + HEADERS_BYTES, each.length_bytes - at) + ETHERNET_BYTES
            place = "alone" if len(starts) == 1 else {starts[0]: "first", starts[-1]: "last"}.get(at, "middle")
            found.append(Left(round(each.time_s * 1e9), size, (each.number + at) % 2**32, place))
    return found


@dataclass
class Bucket:
    """In whole numbers of 10^-9 bytes: full at first."""

    rate: int
    size: int

    def __post_init__(self) -> None:
        self.held, self.at_ns = self.size * 10**9, 0

    def fill(self, now_ns: int) -> None:
        self.held = min(self.size * 10**9, self.held + (now_ns - self.at_ns) * self.rate)
        self.at_ns = now_ns

    def wait_ns(self, size_bytes: int) -> int:
        return max(0, -((self.held - size_bytes * 10**9) // self.rate))


def replayed(came: Sequence[Left], link: Link) -> Iterator[int]:
    """When each packet leaves two buckets in a row behind the delay, if all of them wait."""
    asked: Shaper = link.forward.shaper  # type: ignore[assignment]
    line = Bucket(asked.rate_bps // 8, burst_bytes(asked.rate_bps, Context(link.mtu_bytes, False)))
    buckets = (line, Bucket(asked.refill_bps // 8, asked.burst_bytes))
    now_ns = 0
    for each in came:
        now_ns = max(now_ns, each.at_ns + link.forward.delay_ns)
        for bucket in buckets:
            bucket.fill(now_ns)
        now_ns += max(bucket.wait_ns(each.size_bytes) for bucket in buckets)
        for bucket in buckets:
            bucket.fill(now_ns)
            bucket.held -= each.size_bytes * 10**9
        yield now_ns


def knee(left: Sequence[Left]) -> int:
    """The number of the first packet that waited for credit, if only in part: a packet takes 151 us of it, and 12 us of
    the line.
    """
    gaps = [later.at_ns - one.at_ns for one, later in pairwise(left)]
    return 1 + next(n for n, gap in enumerate(gaps) if gap > 12_112 + LATE_NS and min(gaps[n + 1 : n + 20]) > 100_000)


@pytest.mark.lab
def test_the_credit_may_end_anywhere_in_a_superpacket(run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its first, second, middle, last but one and last packet: so much more credit, of which a part comes back."""
    whole, burst = captured_trial(run_trial, 3_000_000), 3_000_000
    came, at = of_a(whole, "a"), knee(of_a(whole, "b"))
    first = next(n for n in range(at, len(came)) if came[n].place == "first" and came[n + 3].place == "middle")
    last = next(n for n in range(first, len(came)) if came[n].place == "last")
    seen = {}
    for target in (first, first + 1, (first + last) // 2, last - 1, last):
        more = (target - at) * FRAME * (1000 - 80) // 1000
        with monkeypatch.context() as patch:
            late, soon = late_and_soon(patch, lambda more=more: captured_trial(run_trial, burst + more))  # type: ignore[misc]
        assert late.result.verdict == "valid"
        assert late.result.stages[0].queue_drops == 0
        for node in "ab":
            (one,), (other,) = (ran.folder.glob(f"{node}-*.pcap") for ran in (late, soon))
            assert one.read_bytes() == other.read_bytes(), (node, target)
        check_same_bytes(late, soon)
        seen[target] = knee(of_a(late, "b"))
    assert seen == {target: target for target in seen}


@pytest.mark.lab
@pytest.mark.parametrize("flows", [1, 5])
def test_each_packet_leaves_at_the_nanosecond_that_the_buckets_give(run_trial: RunTrial, flows: int) -> None:
    ran = captured_trial(run_trial, 3_000_000, flows=flows, bytes=f"{10 // flows} MB")
    assert ran.result.verdict == "valid", ran.result.findings
    assert ran.made.plan.emulators[0].forward.cuts_late
    (link,) = ran.trial.topology.links
    came, left = of_a(ran, "a"), of_a(ran, "b")
    assert [(each.number, each.size_bytes) for each in came] == [(each.number, each.size_bytes) for each in left]
    late = [each.at_ns - due_ns for each, due_ns in zip(left, replayed(came, link), strict=True)]
    assert len(late) > 6000
    assert min(late) >= 0
    assert max(late) < LATE_NS


@pytest.mark.lab
def test_what_left_is_what_the_closed_form_says_to_a_packet(run_trial: RunTrial) -> None:
    """As in test_lab_paced.py, of TCP with superpackets: while packets wait, rate * t up to the knee, then refill * t;
    on the whole at most burst + refill * t.
    """
    ran = captured_trial(run_trial, 30_000_000, bytes="45 MB", flows=4)
    assert ran.made.plan.emulators[0].forward.cuts_late
    asked: Shaper = ran.trial.topology.links[0].forward.shaper  # type: ignore[assignment]
    came, left = of_a(ran, "a"), of_a(ran, "b")
    sent = list(accumulate(each.size_bytes for each in left))
    delay_ns, last = ran.trial.topology.links[0].forward.delay_ns, knee(left)
    begin = 1 + max(n for n in range(last) if came[n].at_ns + delay_ns + LATE_NS >= left[n].at_ns)
    assert last - begin > 10_000
    for n in range(begin, last):
        could = asked.rate_bps * (left[n].at_ns - left[begin].at_ns) / 8e9
        assert abs(sent[n] - sent[begin] - could) < 2.5 * FRAME
    end = next(n for n in range(last, len(left)) if n + 1 == len(left) or came[n + 1].at_ns + delay_ns > left[n].at_ns)
    assert end - last > 5_000
    for n in range(last, end):
        could = asked.refill_bps * (left[n].at_ns - left[last].at_ns) / 8e9
        assert abs(sent[n] - sent[last] - could) < FRAME
    assert all(sent[n] <= carried_bytes(asked, left[n].at_ns - left[0].at_ns) + 2.5 * FRAME for n in range(len(left)))


@pytest.mark.lab
@pytest.mark.parametrize(
    ("burst", "other", "back"),
    [
        ("200 Mbit", "refill 125000000", "refill 9375000"),
        ("2 Gbit", "rate 250000000", "rate 125000000"),
        ("2 Gbit", "credit 1514", "credit 250000000"),
    ],
)
def test_another_shaper_for_a_while_is_found(run_trial: RunTrial, burst: str, other: str, back: str) -> None:
    """Sabotage that nobody can read back: faster without credit, faster with credit, and without its rest."""
    tamper = for_a_while("end1", "2:", f"tbshaper {other}", f"tbshaper {back}")
    path = {**PATH, "shaper": {**SHAPER, "burst": burst}, "buffer": "4 bdp"}
    ran = run_trial(path=path, workload={"duration": "2 s"}, tamper=tamper)
    assert ran.made.plan.emulators[0].forward.cuts_late
    assert ran.findings["shaper"] == "invalid"


@pytest.mark.lab
@pytest.mark.parametrize("name", ["bytes", "packets", "fast-flows"])
def test_a_kernel_that_does_not_count_how_long_packets_wait_is_found(
    run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    honest = observe_paced.samples

    def wrong(data: bytes, sources: tuple[Query, ...]) -> Iterator[PacedSample]:
        return (replace(each, busy_ns=0) for each in honest(data, sources))

    monkeypatch.setattr(observe_paced, "samples", wrong)
    cell = CELLS[name]
    ran = run_trial(**{**cell, "path": {**PATH, **cell.get("path", {})}})
    assert ran.findings["shaper"] == "invalid", ran.result.findings
