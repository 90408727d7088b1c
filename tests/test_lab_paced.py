"""Shapers, policers and traces in the lab kernel, packet by packet: captures against closed forms, and the trace."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
from pcap import packets
from saboteur import for_a_while
from trials import Ran, Steps, adding, instead

from testbed.model.link.bucket import Policer, Shaper, carried_bytes
from testbed.model.link.trace import Trace
from testbed.spec import trace_file
from testbed.trial.result import PacedResult

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

CAPTURE = [{"at": "path", "snaplen": 60}]
FRAME = 1514
TRACES = Path(__file__).parents[1] / "topologies" / "traces"


def traced(trace: Trace) -> dict[str, Any]:
    own = {"forward": {"file": trace.name, "opportunities": trace.packed}}
    return {"rate": {"backward": "100 Mbit/s"}, "trace": own, "buffer": "50 packets"}


def of_lines(text: str, tmp_path: Path) -> Trace:
    file = tmp_path / "own.trace"
    file.write_text(text)
    return trace_file.read(str(file), "own.trace")


def udp(rate: str, duration: str = "2 s", length: int = 1472, **more: Any) -> dict[str, Any]:
    return {"tool": "udp", "rate": rate, "duration": duration, "length": length, **more}


def left(ran: Ran, device: str = "end1") -> list[tuple[int, int]]:
    """When each datagram left, in ns, and the bytes of its frame."""
    found = [each for each in packets(ran.folder / f"path-{device}.pcap") if each.is_data("10.0.0.1")]
    return [(round(each.time_s * 1e9), each.length_bytes + 14) for each in found]


def forward(ran: Ran) -> PacedResult:
    found = next(each.paced for each in ran.result.stages if each.way == "forward")
    assert found is not None
    return found


def begin_ns(ran: Ran) -> int:
    found = forward(ran).trace
    assert found is not None
    return found.begin_ns


NANO = instead('"tcpdump", ', '"tcpdump", "--nano", ')
"""Captures with ns."""


@pytest.mark.parametrize(
    ("rate", "burst", "refill", "offered"),
    [
        ("100 Mbit/s", "50 Mbit", "7.5 Mbit/s", "120 Mbit/s"),
        ("1 Gbit/s", "25 MB", "75 Mbit/s", "1100 Mbit/s"),
        ("30000008 bit/s", "999983 B", "1000008 bit/s", "40 Mbit/s"),
    ],
)
def test_a_shaper_carries_what_the_closed_form_says_to_a_packet(
    run_trial: RunTrial, rate: str, burst: str, refill: str, offered: str
) -> None:
    path = {"rate": None, "shaper": {"rate": rate, "burst": burst, "refill": refill}, "buffer": "50 packets"}
    ran = run_trial(path=path, workload=udp(offered), capture=CAPTURE)
    assert ran.result.verdict == "valid", ran.result.findings
    asked: Shaper = ran.trial.topology.links[0].forward.shaper  # type: ignore[assignment]
    packets_left = left(ran)
    begin_ns, sent, fast = packets_left[0][0], 0, 0
    for at_ns, size in packets_left:
        sent += size
        could = carried_bytes(asked, at_ns - begin_ns)
        assert could - FRAME < sent <= could + 2.5 * FRAME  # the bucket of the line holds a frame and a half
        if (at_ns - begin_ns) * asked.rate_bps < 8e9 * (sent + FRAME):
            fast = at_ns - begin_ns
    drained_bps = asked.rate_bps - asked.refill_bps
    assert abs(fast - 8e9 * asked.burst_bytes / drained_bps) < 4 * 8e9 * FRAME / drained_bps


def test_credit_comes_back_while_nothing_is_sent(run_trial: RunTrial) -> None:
    """Two flows of 4 MB, the second one after 6 s: each gets 10 Mbit at the full rate, and no more."""
    shaper = {"rate": "100 Mbit/s", "burst": "10 Mbit", "refill": "2 Mbit/s"}
    workload = {"flows": 2, "start": ["0 s", "14 s"], "bytes": "1700 kB"}
    path = {"rate": None, "rtt": "2 ms", "shaper": shaper, "buffer": "1000 packets"}
    ran = run_trial(path=path, workload=workload, capture=CAPTURE)
    assert ran.result.verdict == "valid", ran.result.findings
    asked: Shaper = ran.trial.topology.links[0].forward.shaper  # type: ignore[assignment]
    found = left(ran)
    for first_ns in (found[0][0], next(later for (one, _), (later, _) in pairwise(found) if later - one > 2 * 10**9)):
        fast = sum(size for at_ns, size in found if first_ns <= at_ns < first_ns + 200 * 10**6)
        assert abs(fast - carried_bytes(asked, 200 * 10**6)) < 0.1 * fast


@pytest.mark.parametrize("nic", ["offload", "plain"])
@pytest.mark.parametrize(
    ("rate", "burst"), [("20 Mbit/s", "64 KiB"), ("8 Mbit/s", "1514 B"), ("10000008 bit/s", "1 MB")]
)
def test_a_policer_passes_its_burst_and_its_rate_and_drops_the_rest(
    run_trial: RunTrial, nic: str, rate: str, burst: str
) -> None:
    path = {"policer": {"forward": {"rate": rate, "burst": burst}}}
    ran = run_trial(path=path, workload=udp("50 Mbit/s"), nic=nic, capture=CAPTURE)
    assert ran.result.verdict == "valid", ran.result.findings
    asked: Policer = ran.trial.topology.links[0].forward.policer  # type: ignore[assignment]
    came, passed = left(ran, "wire1"), left(ran)
    first_ns, held, taken = came[0][0], asked.burst_bytes * 8 * 10**9, []
    last_ns = first_ns
    for at_ns, size in came:  # the bucket again, in bits * 10^-9
        held = min(asked.burst_bytes * 8 * 10**9, held + (at_ns - last_ns) * asked.rate_bps)
        last_ns = at_ns
        if held >= size * 8 * 10**9:
            held -= size * 8 * 10**9
            taken.append((at_ns, size))
    policer = forward(ran).policer
    assert policer is not None
    assert len(passed) == len(taken)
    assert len(came) - len(taken) == policer.policed_packets > 100
    volume = asked.burst_bytes + asked.rate_bps * (passed[-1][0] - first_ns) / 8e9
    lost = FRAME if asked.burst_bytes > 3 * FRAME else volume  # a bucket of one packet overflows between two that come
    assert volume - lost <= sum(size for _, size in passed) <= volume


LATE_NS = 256
"""A timer acts at the first tick of the clock, of 256 ns, that is not before it."""


def lateness(trace: Trace, times_ns: list[int]) -> list[int]:
    """How long after its opportunity each packet left, if none of the opportunities was left out."""
    first = trace.until(times_ns[0] - LATE_NS)
    due = islice(trace.times_ns(), first, first + len(times_ns))
    return [at_ns - due_ns for at_ns, due_ns in zip(times_ns, due, strict=True)]


@pytest.mark.parametrize("name", ["stepwise.csv", "satellite.csv", "fading.trace"])
def test_a_packet_leaves_at_every_opportunity_of_a_trace_and_at_no_other_time(run_trial: RunTrial, name: str) -> None:
    trace = trace_file.read(str(TRACES / name), name)
    offered = {"stepwise.csv": ("15 Mbit/s", "12 s"), "satellite.csv": ("70 Mbit/s", "16 s")}
    workload = udp(*offered.get(name, ("120 Mbit/s", "6 s")))
    ran = run_trial(path=traced(trace), workload=workload, capture=CAPTURE, tamper=NANO)
    assert ran.result.verdict == "valid", ran.result.findings
    times = [at_ns - begin_ns(ran) for at_ns, _ in left(ran)]
    since = [at_ns for at_ns in times if at_ns > 20 * 10**6]  # the first datagrams need half of the RTT
    late = lateness(trace, since)
    assert min(late) >= 0
    assert max(late) < LATE_NS
    assert len(since) > 1000


def test_a_gigabit_of_opportunities_is_used_one_by_one(run_trial: RunTrial, tmp_path: Path) -> None:
    lines = "".join(f"{at}\n" * (82 if at % 3 else 84) for at in range(1, 1001))
    trace = of_lines(lines, tmp_path)
    path = {**traced(trace), "buffer": "1000 packets"}
    ran = run_trial(path=path, workload=udp("1200 Mbit/s", "1500 ms"), capture=CAPTURE, tamper=NANO)
    assert ran.result.verdict == "valid", ran.result.findings
    since = [at_ns - begin_ns(ran) for at_ns, _ in left(ran) if at_ns - begin_ns(ran) > 50 * 10**6]
    late = lateness(trace, since)
    assert min(late) >= 0
    assert max(late) < LATE_NS
    assert len(since) > 100_000
    assert since[-1] > trace.period_ns  # it began again


def test_opportunities_of_more_than_a_gigabit_are_used_one_by_one(run_trial: RunTrial, tmp_path: Path) -> None:
    trace = of_lines("time_ms,rate_gbps\n0,10\n20,2.5\n40,end\n", tmp_path)
    path = {**traced(trace), "buffer": "1000 packets", "rtt": "2 ms"}
    ran = run_trial(path=path, workload=udp("12 Gbit/s", "120 ms"), capture=CAPTURE, tamper=NANO)
    assert ran.result.verdict == "valid", ran.result.findings
    since = [at_ns - begin_ns(ran) for at_ns, _ in left(ran) if at_ns - begin_ns(ran) > 5 * 10**6]
    late = lateness(trace, since)
    assert min(late) >= 0
    assert max(late) < LATE_NS
    assert len(since) > 50_000
    assert since[-1] > 2 * trace.period_ns


def test_small_packets_share_an_opportunity_and_what_is_left_of_it_is_lost(run_trial: RunTrial, tmp_path: Path) -> None:
    """Ten datagrams of 142 bytes fit into one opportunity: 1420 of 1514 bytes, and the eleventh begins in the rest."""
    trace = of_lines("".join(f"{at}\n" for at in range(10, 1010, 10)), tmp_path)
    ran = run_trial(path=traced(trace), workload=udp("5 Mbit/s", length=100), capture=CAPTURE, tamper=NANO)
    assert ran.result.verdict == "valid", ran.result.findings
    by_time: dict[int, int] = {}
    for at_ns, _ in left(ran):
        due_ms = round((at_ns - begin_ns(ran)) / 1e6)
        by_time[due_ms] = by_time.get(due_ms, 0) + 1
    busy = [count for at_ms, count in by_time.items() if 100 < at_ms < 1900]
    assert set(busy) == {10, 11}
    assert abs(sum(busy) * 142 - len(busy) * FRAME) <= FRAME


SHAPER = {"rate": None, "shaper": {"rate": "100 Mbit/s", "burst": "50 Mbit", "refill": "8 Mbit/s"}}
POLICER = {"policer": {"forward": {"rate": "8 Mbit/s", "burst": "64 KiB"}}}
ROWS = {
    "rate": {"backward": "100 Mbit/s"},
    "trace": {"forward": {"file": "x", "opportunities": "ns 1000000000:12000000"}},
}


@pytest.mark.parametrize(
    ("path", "old", "new", "check"),
    [
        (SHAPER, "credit 6250000", "credit 6250001", "set-up"),
        (SHAPER, "refill 1000000", "refill 1000001", "set-up"),
        (SHAPER, "rate 12500000", "rate 12500001", "set-up"),
        (SHAPER, "burst 2271", "burst 4542", "set-up"),
        (SHAPER, "refill 1000000 credit 6250000", "refill 12500000 credit 6250000", "set-up"),
        (POLICER, "credit 65536", "credit 65537", "set-up"),
        (POLICER, "refill 1000000", "refill 1000001", "set-up"),
        (ROWS, "bytes 1514", "bytes 1515", "set-up"),
        (ROWS, "period 1000000000", "period 1000000001", "set-up"),
        (ROWS, "runs 1009334x990", "runs 1009334x989", "set-up"),
        (
            ROWS,
            "change dev end1 root handle 2: tbtrace start 1",
            "change dev end1 root handle 2: tbtrace limit 151400",
            "trace",
        ),
    ],
)
def test_another_number_than_asked_is_invalid(run_trial: RunTrial, path: Any, old: str, new: str, check: str) -> None:
    ran = run_trial(path=path, workload={"duration": "1 s"}, tamper=instead(old, new))
    assert ran.findings.get(check) == "invalid", ran.result.findings


def during(*words: str, after_s: float = 0.0) -> Callable[[Steps], Steps]:
    """Something else happens after all has been checked, and is not undone."""
    line = {"run": ["/run/tools/qdisc"], "stdin": " ".join(words), "netns": "tb-path.emulator"}
    return adding("background=observer", line)


@pytest.mark.parametrize(
    ("path", "line", "check"),
    [
        (SHAPER, "qdisc change dev end1 root handle 2: tbshaper credit 100000000", "set-up"),
        (POLICER, "qdisc change dev end1 root handle 4: tbpolicer credit 100000000", "set-up"),
        (ROWS, "qdisc change dev end1 root handle 2: tbtrace bytes 3028", "set-up"),
    ],
)
def test_what_somebody_changes_after_the_check_is_invalid(
    run_trial: RunTrial, path: Any, line: str, check: str
) -> None:
    ran = run_trial(path=path, workload={"duration": "1 s"}, tamper=during(line))
    assert ran.findings.get(check) == "invalid", ran.result.findings


def test_the_same_seed_gives_the_same_bytes(run_trial: RunTrial) -> None:
    trace = trace_file.read(str(TRACES / "fading.trace"), "fading.trace")
    one, two = (run_trial(path=traced(trace), workload={"duration": "2 s"}) for _ in "12")
    assert (one.folder / "samples.parquet").read_bytes() == (two.folder / "samples.parquet").read_bytes()


@pytest.mark.parametrize(
    ("path", "where", "other", "back", "check"),
    [
        (
            SHAPER | {"shaper": {**SHAPER["shaper"], "burst": "5 Mbit"}},
            ("end1", "2:"),
            "tbshaper refill 12500000",
            "tbshaper refill 1000000",
            "shaper",
        ),
        (
            SHAPER | {"shaper": {**SHAPER["shaper"], "burst": "5 Mbit"}},
            ("end1", "2:"),
            "tbshaper refill 100000",
            "tbshaper refill 1000000",
            "shaper",
        ),
        (SHAPER, ("end1", "2:"), "tbshaper rate 1250000", "tbshaper rate 12500000", "shaper"),
        (POLICER, ("end1", "4:"), "tbpolicer refill 12500000", "tbpolicer refill 1000000", "policer"),
        (ROWS, ("end1", "2:"), "tbtrace bytes 3028", "tbtrace bytes 1514", "trace"),
        (ROWS, ("end1", "2:"), "tbtrace bytes 757", "tbtrace bytes 1514", "trace"),
        (ROWS, ("end1", "2:"), "tbtrace start 1", "tbtrace limit 1514", "trace"),
    ],
)
def test_what_held_for_a_while_is_seen_in_what_passed(
    run_trial: RunTrial, path: Any, where: tuple[str, str], other: str, back: str, check: str
) -> None:
    ran = run_trial(path=path, workload={"duration": "2 s"}, tamper=for_a_while(*where, other, back))
    assert ran.findings.get(check) == "invalid", ran.result.findings
