"""What the gate says of the data at its bounds: that it came, for how long, how much, and what was sent again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_gate import FLOW, PING, START_NS, UDP, Change, S, fine, flow, on_data, outcome, resent, top
from test_mininet import in_mininet, tc_evidence
from trials import RunTrial, make_trial, rose, seen_as, with_seen

from testbed.model.workload import FlowWorkload
from testbed.plan.link import fault
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.fault import FaultCount
from testbed.trial.evidence.interval import Counts, waiting, waiting_in
from testbed.trial.evidence.stage import Evidence
from testbed.trial.gate import data_check
from testbed.trial.gate.link import fault_check, link_check
from testbed.trial.observe.sample import QueueSample
from testbed.trial.orders.sequence import orders
from testbed.trial.workload import iperf3
from testbed.trial.workload.udp import UdpResult


def of(check: Any, change: Change, path: Any = None, **more: Any) -> list[tuple[str, str, str]]:
    """The check, the verdict and the text of each finding of a trial that went as asked, but for a change."""
    trial = make_trial(path, **more)
    plan = orders(trial).plan
    found = list(check(Case(trial, plan, change(fine(trial, plan)))))
    assert all(each.hint for each in found)
    return [(each.check, each.verdict, each.text) for each in found]


def flows(*changes: Any, **more: Any) -> Change:
    return outcome(flows=tuple(replace(FLOW, **each) for each in changes), **more)


@pytest.mark.parametrize(
    ("change", "verdict", "text"),
    [
        (lambda e: e, None, None),
        (flows(), "invalid", "the tool tells of 0 flows, asked were 1"),
        (flows({}, {}), "invalid", "the tool tells of 2 flows, asked were 1"),
        (outcome(goodput_bps=None), "invalid", "there is no goodput"),
        (outcome(goodput_bps=0.0), "invalid", "the goodput is 0"),
        (outcome(goodput_bps=0.5), None, None),
        (flows({"received_bytes": 0}), "invalid", "flow 1 brought nothing"),
        (flows({"received_bytes": 0, "goodput_bps": 0.0}), "invalid", "flow 1 brought nothing"),
        (flows({"received_bytes": 1, "goodput_bps": 0.5}), None, None),
        (flows({"received_bytes": None, "goodput_bps": None}), None, None),
        (flows({"goodput_bps": 0.0}), "suspect", "flow 1 brought nothing while its goodput was measured"),
    ],
)
def test_what_was_asked_arrived(change: Change, verdict: str | None, text: str | None) -> None:
    assert of(data_check.arrived, change) == ([("data", verdict, text)] if text else [])
    assert of(data_check.arrived, change, workload=PING) == []


@pytest.mark.parametrize(
    ("kernel", "took_ns", "verdict"),
    [
        ("lab", 989_000_000, None),
        ("lab", 988_999_999, "invalid"),
        ("lab", 1_611_000_000, None),
        ("lab", 1_611_000_001, "suspect"),
        ("host", 940_000_000, None),
        ("host", 939_999_999, "invalid"),
        ("host", 1_660_000_000, None),
        ("host", 1_660_000_001, "suspect"),
    ],
)
def test_a_workload_takes_its_time(kernel: str, took_ns: int, verdict: str | None) -> None:
    """A hundredth of a second less; a tenth, 0.5 s and a round trip of 10 ms more; and 1 ms, in real time 50 ms."""
    text = f"the workload took {took_ns / 1e9:g} s, asked were 1 s"
    found = of(data_check.lasted, outcome(end_ns=START_NS + took_ns), kernel=kernel)
    assert found == ([("duration", verdict, text)] if verdict else [])
    assert of(data_check.lasted, outcome(end_ns=START_NS + took_ns), kernel=kernel, workload=PING) == []
    assert of(data_check.lasted, outcome(begin_ns=None, took_ns=None), kernel=kernel) == []


@pytest.mark.parametrize(
    ("asked", "least_ns"),
    [
        ({"rate": "64 kbit/s", "length": "160 B"}, 980_000_000),  # the last of 50 is due 20 ms before the end
        ({"rate": "100 kbit/s", "length": "1472 B"}, 942_080_000),
        ({"rate": "16 kbit/s", "length": "1472 B"}, 736_000_000),  # two, of which the second is due after the half
        ({"rate": "128 kbit/s", "length": "160 B", "burst": 4}, 960_000_000),
        ({"rate": "1 kbit/s", "length": "1472 B"}, 990_000_000),  # a single one tells no rate
    ],
)
def test_datagrams_end_with_the_last_one_that_is_due(asked: dict[str, Any], least_ns: int) -> None:
    def found(took_ns: int) -> list[tuple[str, str, str]]:
        return of(data_check.lasted, outcome(end_ns=START_NS + took_ns), workload={**UDP, **asked})

    assert found(least_ns) == []
    assert [verdict for _, verdict, _ in found(least_ns - 11_000_001)] == ["invalid"]


@pytest.mark.parametrize(("rate", "says"), [("1 kbit/s", "a single datagram tells no rate"), ("1 Mbit/s", "cut short")])
def test_a_single_datagram_was_not_cut_short(rate: str, says: str) -> None:
    trial = make_trial(workload={**UDP, "rate": rate, "length": "1472 B"})
    plan = orders(trial).plan
    (finding,) = data_check.lasted(Case(trial, plan, outcome(end_ns=START_NS + 960)(fine(trial, plan))))
    assert says in finding.hint


HALF = {"steady_ns": START_NS + S // 2, "ramp_goodput_bps": 50e6, "goodput_bps": 110e6}
"""In half a second each 3.125 and 6.875 MB, together 10 MB, though 110 Mbit/s are more than the link has."""
MOST_BPS = 100e6 * 1448 / 1514
"""The payload of full segments on a link of 100 Mbit/s, which counts their headers, too: 95.64 Mbit/s."""


def carried(octets: int, later: int = 0, frames: int = 1000, handle: str = "2:") -> Change:
    """At the end the link had carried so much payload, in frames with headers of 42 bytes; then some more."""
    first = QueueSample(START_NS - 1, "e", 2, handle, "tbf", 1000, 10, 0, 0, 0)
    headers = 42 * frames if handle == "2:" else 0
    at_end = replace(first, time_ns=START_NS + S, bytes=1000 + octets + headers, packets=10 + frames)
    before = replace(at_end, time_ns=START_NS + S - 1, bytes=1000, packets=10)
    after = replace(at_end, time_ns=START_NS + 2 * S, bytes=at_end.bytes + later)
    return on_data(samples=(first, before, at_end, after), around=(first, after))


def goodput(change: Change, path: Any = None, **said: Any) -> list[str]:
    found = of(data_check.goodput, lambda e: outcome(**{**HALF, **said})(change(e)), path)
    assert {(check, text) for check, _, text in found} <= {
        ("goodput", "110.0 Mbit/s of payload over a path that brings 95.6 at most")
    }
    return [verdict for _, verdict, _ in found]


def test_a_receiver_may_hand_over_later_what_the_link_had_carried_before() -> None:
    assert goodput(carried(10_000_000)) == ["valid"]
    assert goodput(carried(9_999_999)) == ["invalid"]
    assert goodput(carried(9_999_999, later=10**9)) == ["invalid"]
    assert goodput(carried(10_000_000, handle="1:")) == ["valid"]
    assert goodput(carried(9_999_999, handle="1:")) == ["invalid"]
    assert goodput(on_data(around=None)) == ["invalid"]
    assert goodput(carried(10_000_000), ramp_goodput_bps=None) == ["invalid"]
    assert goodput(carried(10_000_000), begin_ns=None) == ["invalid"]
    assert goodput(carried(10_000_000), steady_ns=None) == ["invalid"]
    assert goodput(carried(10_000_000), end_ns=None) == ["invalid"]
    assert goodput(carried(10_000_000), goodput_bps=None) == []
    assert goodput(carried(0), goodput_bps=MOST_BPS * 1.0009) == []


def of_payload(bps: float, change: Change = lambda e: e, path: Any = None) -> list[tuple[str, str, str]]:
    return of(data_check.goodput, lambda e: outcome(goodput_bps=bps)(change(e)), path)


def test_a_short_run_may_begin_with_a_full_bucket_and_end_within_a_frame() -> None:
    """The bucket holds 1.5 frames, which are 0.2 % of a second at 10 Mbit/s, and 0.02 % at 100."""
    slow = {"rate": "10 Mbit/s", "rtt": "2 ms", "buffer": "100 packets"}
    frames = 10e6 / 8 / 1514
    assert of_payload(8 * 1448 * (frames + 2.49), path=slow) == []
    assert len(of_payload(8 * 1448 * (frames + 2.51), path=slow)) == 1


def test_headers_leave_less_than_the_rate_for_payload() -> None:
    """98 of 100 Mbit/s pass every check against the rate of frames, and no segment can bring them."""
    text = "98.0 Mbit/s of payload over a path that brings 95.6 at most"
    assert of_payload(98e6) == [("goodput", "invalid", text)]
    assert of_payload(MOST_BPS * 1.0009) == []
    assert len(of_payload(MOST_BPS * 1.0011)) == 1
    # Without time stamps a segment has 1460 bytes; of small ones each has headers of its own; a tool may not tell.
    for mss, most in [(1460, 1460 / 1514), (536, 536 / 590), (None, 1472 / 1514)]:
        assert of_payload(100e6 * most, flow(mss_bytes=mss)) == []
        assert len(of_payload(100e6 * most * 1.0011, flow(mss_bytes=mss))) == 1


def test_the_goodput_counts_what_arrived_and_says_what_was_handed_over() -> None:
    """The issue's case in small: 98 Mbit/s were handed over, of which 95.6 had arrived in that time."""
    said = outcome(handed_over_bps=98e6, goodput_bps=95.6e6)
    ((check, verdict, text),) = of(data_check.goodput, said)
    assert (check, verdict) == ("goodput", "valid")
    assert text == "98.0 Mbit/s of payload over a path that brings 95.6 at most"
    trial = make_trial()
    plan = orders(trial).plan
    (finding,) = data_check.goodput(Case(trial, plan, said(fine(trial, plan))))
    assert "the goodput counts the 95.6 that arrived in that time" in finding.hint
    assert of(data_check.goodput, outcome(handed_over_bps=95.6e6, goodput_bps=95e6)) == []


def star(access: str = "1 Gbit/s", **path: Any) -> dict[str, Any]:
    """The hosts a and c, each with a link to a router, and b behind a link that all share."""
    link = {"rate": "100 Mbit/s", "rtt": "10 ms", "buffer": "1 bdp"}
    return {
        "name": "star",
        "nodes": {**{each: {"type": "host"} for each in "abc"}, "middle": {"type": "router"}},
        "links": {
            "path": {"ends": ["a", "middle"], **link, **path},
            "access": {"ends": ["middle", "b"], **link, "rate": access},
            "aside": {"ends": ["c", "middle"], **link},
        },
    }


def test_what_other_hosts_sent_may_have_come_on_other_ways() -> None:
    """A client of several servers: the link to one of them carries, and allows, only what that one sends."""
    for elsewhere, most in [(1_700_000, 109.2), (1_900_000, None)]:  # in 1 s
        said = outcome(goodput_bps=110e6, elsewhere_bytes={"c": elsewhere})
        texts = [text for _, _, text in of(data_check.goodput, said, topology=star())]
        assert texts == ([f"110.0 Mbit/s of payload over a path that brings {most} at most"] if most else [])
    received = flow(received_bytes=10_000_000)

    def findings(octets: int, elsewhere: int) -> list[str]:
        def change(e: Evidence) -> Evidence:
            return outcome(elsewhere_bytes={"c": elsewhere})(received(carried(octets)(e)))

        return [text for _, _, text in of(data_check.carried, change, topology=star())]

    assert findings(4_000_000, 6_000_000) == []
    assert len(findings(4_000_000, 5_000_000)) == len(findings(4_000_000, 0)) == 1


def test_what_links_sent_twice_counts_for_those_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """1000 packets of 1500 bytes, after the link that carried 4 MB, or before it, or on the way of another host."""

    def findings(*stages: str, beside: str = "", octets: int = 5_500_000) -> list[str]:
        def change(e: Evidence) -> Evidence:
            (path,) = carried(4_000_000)(e).data_stages
            twice = (FaultCount("duplicate", path.stage.start, 10_000, 1000),)
            other = replace(path, link="access", faults=twice, around=None)
            data = tuple({"path": path, "access": other}[each] for each in stages)
            said = flow(received_bytes=octets)(e)
            return replace(said, data_stages=data, beside=(other,) if beside else ())

        return [text for _, _, text in of(data_check.carried, change, topology=star())]

    assert len(findings("path", "access")) == 1  # a flow of TCP counts nothing twice
    monkeypatch.setattr(FlowWorkload, "counts_twice", True)
    assert findings("path", "access") == []
    assert len(findings("path", "access", octets=5_500_001)) == 1
    assert len(findings("access", "path")) == 1
    assert findings("path", beside="access") == []


def test_what_other_hosts_sent_over_the_same_link_is_in_what_it_carried() -> None:
    """A tool that says 150 Mbit/s over a link of 100, beside cross traffic of 90: that takes the same link."""
    said = outcome(goodput_bps=150e6, elsewhere_bytes={"c": 90_000_000 // 8})
    text = "150.0 Mbit/s of payload over a path that brings 95.6 at most"
    assert of(data_check.goodput, said, topology=star("100 Mbit/s")) == [("goodput", "invalid", text)]
    assert of(data_check.goodput, said, topology=star()) == []

    def change(e: Evidence) -> Evidence:
        (path,) = carried(4_000_000)(e).data_stages
        said = outcome(elsewhere_bytes={"c": 6_000_000})(flow(received_bytes=10_000_000)(e))
        return replace(said, data_stages=(path, replace(path, link="access")))

    ((_, _, text),) = of(data_check.carried, change, topology=star())
    assert text == "10000000 bytes arrived, but access forward carried 4000000 bytes of payload"


def test_what_a_tool_that_pauses_gets_is_held_against_the_time_in_which_it_does_not() -> None:
    """Two runs with a pause, together half of the time: three servers bring 3 times 90 Mbit/s meanwhile."""
    sent = {"c": 2 * 90_000_000 // 8 // 2}
    said = outcome(goodput_bps=270e6, elsewhere_bytes=sent, counted_ns=S // 2)
    assert of(data_check.goodput, said, topology=star()) == []
    assert len(of(data_check.goodput, outcome(goodput_bps=270e6, elsewhere_bytes=sent), topology=star())) == 1


def test_the_mean_of_runs_is_no_rate_where_one_may_bring_more_than_another() -> None:
    """A short run with all of the second server's, and a long one without any; on a link alone no run is faster."""
    said = {"goodput_bps": 150e6, "counted_bps": 100e6}
    assert of(data_check.goodput, outcome(**said, elsewhere_bytes={"c": 900_000}), topology=star()) == []
    assert len(of(data_check.goodput, outcome(**said, elsewhere_bytes={"c": 500_000}), topology=star())) == 1
    for elsewhere in ({}, {"c": 0}):
        assert len(of(data_check.goodput, outcome(**said, elsewhere_bytes=elsewhere), topology=star())) == 1


def test_of_several_links_the_one_that_carried_least_counts() -> None:
    def second(octets: int | None) -> Change:
        def change(e: Evidence) -> Evidence:
            (least,) = carried(octets)(e).data_stages if octets is not None else on_data(around=None)(e).data_stages
            return replace(e, data_stages=(*carried(10_000_000)(e).data_stages, least))

        return change

    assert goodput(second(10_000_000)) == goodput(second(None)) == ["valid"]
    assert goodput(second(9_999_999)) == ["invalid"]
    elsewhere = replace(fine(make_trial(), orders(make_trial()).plan).data_stages[0], link="other")
    assert goodput(lambda e: replace(e, data_stages=(replace(elsewhere, link="other"),))) == ["invalid"]


def test_without_a_look_at_the_end_the_last_one_counts() -> None:
    def early(e: Evidence) -> Evidence:
        (stage,) = carried(10_000_000)(e).data_stages
        return replace(e, data_stages=(with_seen(stage, samples=stage.samples[:2]),))

    assert goodput(early) == ["valid"]


@pytest.mark.parametrize(("short", "is_told"), [(0, False), (1, True)])
@pytest.mark.parametrize("workload", [None, UDP])
def test_what_arrived_was_carried_by_every_link(short: int, is_told: bool, workload: Any) -> None:
    received = 89 * 1400 if workload else 11_875_000
    text = f"{received} bytes arrived, but path forward carried {received - short} bytes of payload"
    for handle in ("1:", "2:"):
        found = of(data_check.carried, carried(received - short, handle=handle), workload=workload)
        assert found == ([("data", "invalid", text)] if is_told else [])
    assert of(data_check.carried, on_data(around=None), workload=workload) == []
    assert of(data_check.carried, carried(0), workload=PING) == []


@pytest.mark.parametrize(
    ("rtt", "again", "counted", "rest"),
    [
        ("1.1 s", 1, 1, 0),
        ("1.1 s", 2, 1, 1),
        ("1.1 s", 1, 0, 1),
        ("100 ms", 1, 1, 1),  # full buffers, too, hold for 0.3 s only
        ("3.5 s", 11, 11, 1),
    ],
)
def test_a_handshake_that_takes_longer_than_its_timeout_is_sent_again(
    rtt: str, again: int, counted: int, rest: int
) -> None:
    """As often as the sender's own counter has it, and once a second at most: 10.5 s with full buffers both ways."""

    def change(seen: Evidence) -> Evidence:
        seen = resent(again=again, drops=0)(seen)
        return seen_as(seen, host_counters={**rose(seen), "TCPSynRetrans": counted})

    text = f"{rest} segments were sent again, though no emulator dropped any"
    expected = [("retransmissions", "suspect", text)] if rest else []
    assert of(data_check.resent, change, {"rtt": rtt, "buffer": "1 bdp"}) == expected


@pytest.mark.lab
def test_a_handshake_of_a_long_way_is_no_fault(run_trial: RunTrial) -> None:
    workload = {"duration": "20 s", "window": "64 KiB"}
    ran = run_trial(path={"rate": "10 Mbit/s", "rtt": "1.1 s"}, workload=workload)
    assert ran.result.retransmits == 1
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.lab
def test_resets_after_the_end_with_a_capture_are_no_fault(run_trial: RunTrial) -> None:
    """A host answers each acknowledgement on its way with one, and a capture's end keeps the network up."""
    workload = {"duration": "20 s", "window": "64 KiB"}
    ran = run_trial(path={"rate": "10 Mbit/s", "rtt": "1.02 s"}, workload=workload, capture=[{"at": "a"}])
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.parametrize(
    ("path", "most"),
    [
        # 10 ms at 100 Mbit/s and a buffer of that each way: 375 000 bytes in frames of 1514 bytes.
        ({}, 249),
        ({"buffer": "20 packets"}, 82 + 40 + 2),
        ({"rtt": "20 ms", "buffer": "20 packets"}, 165 + 40 + 2),
        ({"rate": "50 Mbit/s", "buffer": "20 packets"}, 41 + 40 + 2),
        # A change to twice the rate counts from its start.
        ({"buffer": "20 packets", "schedule": [{"at": "500 ms", "rate": "200 Mbit/s"}]}, 165 + 40 + 2),
    ],
)
def test_a_timeout_costs_at_most_what_path_and_buffers_hold(path: Any, most: int) -> None:
    """Besides the one drop, and the segment whose timer it was."""
    assert of(data_check.resent, resent(again=most, drops=1, timeouts=1), path) == []
    ((_, verdict, text),) = of(data_check.resent, resent(again=most + 1, drops=1, timeouts=1), path)
    assert verdict == "suspect"
    assert text.startswith(f"{most + 1} segments were sent again, but 1 drops explain ")


@pytest.mark.parametrize(("nic", "segments"), [("plain", 1), ("offload", 44)])
@pytest.mark.parametrize(("more", "is_told"), [(0, False), (1, True)])
def test_a_queue_of_a_tclink_holds_packets_and_drops_superpackets(
    more: int, is_told: bool, nic: str, segments: int
) -> None:
    """A superpacket of 64 KiB has up to 44 segments of 1500 bytes."""
    trial = in_mininet()
    plan = replace(orders(trial).plan, nics=(("a", nic),))
    seen = tc_evidence(trial, lambda each: replace(each, drops=1))
    limits = sum(each.port.limit for each in seen.tc_ends if each.port.rate_bps)
    most = segments + 1 + int((plan.rate_bps or 0) * plan.rtts_ns[1] / 8e9 / 1514) + limits
    again = tuple(replace(each, retransmits=most + more) for each in seen.outcome.flows)
    seen = seen_as(outcome(flows=again)(seen), host_counters={**rose(seen), "TCPTimeouts": 1})
    assert bool(list(data_check.resent(Case(trial, plan, seen)))) is is_told


@pytest.mark.parametrize(
    ("packets", "octets", "waits"), [(0, 0, 0), (3, 180, 3), (2, 3028, 2), (2, 3029, 3), (2, 2 * 62_330, 88)]
)
def test_what_waits_in_a_queue_is_its_packets_or_what_the_bytes_of_superpackets_make(
    packets: int, octets: int, waits: int
) -> None:
    """A superpacket of 43 segments has 62 330 bytes: two are 86 segments, or with 1428 bytes of payload each 88."""
    look = QueueSample(S, "n", 2, "2:", "tbf", 0, 0, 0, octets, packets)
    assert waiting_in(look, 1500) == waits
    (end, *_) = tc_evidence(in_mininet(), lambda each: replace(each, samples=(*each.samples, look))).tc_ends
    assert end.waiting_packets == waits
    assert replace(end, samples=()).waiting_packets == 0


def test_what_waits_in_a_stage_is_counted_once_for_each_device_by_its_last_samples() -> None:
    """A queue below the bucket is in the bucket's count; the delay and the burst have devices of their own."""
    asked = {"aggregate": {"forward": {"time": "4 ms", "bytes": "10 kB"}}, "queue": "codel"}
    (emulator,) = orders(make_trial(asked, nic="plain")).plan.emulators
    stage, netns = emulator.forward, emulator.netns
    assert len({stage.delay_device, stage.rate_device, fault.END["forward"]}) == 3

    def look(delay: int, rate: int, burst: int) -> dict[tuple[str, str, str], QueueSample]:
        places = (*stage.own_places, (fault.END["forward"], fault.BURST))
        counts = dict(zip(places, (delay, rate, rate, rate, rate, burst), strict=True))
        return {
            (netns, *place): QueueSample(S, netns, 2, place[1], "", 0, 0, 0, 60 * n, n) for place, n in counts.items()
        }

    assert waiting(stage, netns, look(4, 97, 2), look(0, 90, 3)) == 103
    assert waiting(stage, netns, {}, look(0, 90, 3)) == 93
    assert waiting(stage, netns, look(0, 0, 0), look(1, 1, 1)) == waiting(stage, netns, {}, {}) == 0
    assert waiting(stage, "other", look(4, 97, 2), {}) == waiting(emulator.backward, netns, look(4, 97, 2), {}) == 0


@pytest.mark.parametrize(
    ("sent", "arrived", "dropped", "later", "waits", "whole"),
    [
        (1641, 1497, 61, 0, 84, True),  # of those that wait one is the reset
        (1642, 1497, 61, 0, 84, False),
        (1641, 1496, 61, 0, 84, False),
        (1641, 1497, 61, 0, 83, False),
        (1641, 1497, 62, 1, 84, True),
        (1641, 1497, 61, 1, 84, False),  # what was dropped afterwards waited before
        (None, 1497, 61, 0, 84, False),
        (1641, None, 61, 0, 84, False),
    ],
)
def test_all_segments_came_or_were_dropped_or_wait(
    sent: int | None, arrived: int | None, dropped: int, later: int, waits: int, whole: bool
) -> None:
    trial = make_trial()
    first = QueueSample(S, "n", 2, "2:", "tbf", 0, 0, 0, 0, 0)
    looks = (first, replace(first, time_ns=2 * S, drops=dropped))
    stage = {"around": looks, "samples": (first, replace(looks[1], drops=dropped - later)), "queue_drops": dropped}
    seen = on_data(**stage, waiting_packets=waits)(fine(trial, orders(trial).plan))
    assert outcome(sent_segments=sent, arrived_segments=arrived)(seen).has_all_segments is whole
    seen = on_data(**{**stage, "samples": ()}, waiting_packets=84)(seen)
    assert outcome(sent_segments=1641, arrived_segments=1497)(seen).has_all_segments


def test_what_waits_explains_nothing_beside_others_packets_or_where_segments_are_missing() -> None:
    """Sent again were 63 of the 61 that were dropped: 2 of 20 that wait were sent once more."""
    again = resent(again=63, drops=61, once_more=2, waiting=20)
    noise = {"noise": {"pattern": "constant", "from": "a", "to": "b", "rate": "1 Mbit/s"}}
    assert of(data_check.resent, again) == []
    assert of(data_check.resent, lambda e: outcome(arrived_segments=8540)(again(e))) == []
    for changed in (outcome(arrived_segments=8539), outcome(sent_segments=None), outcome(arrived_segments=None)):
        assert len(of(data_check.resent, lambda e, changed=changed: changed(again(e)))) == 1
    assert len(of(data_check.resent, again, background=noise)) == 1


def test_what_waits_at_a_tclink_explains_as_much_as_what_waits_in_an_emulator() -> None:
    trial = in_mininet()
    plan = orders(trial).plan
    for packets, is_told in ((3, False), (2, True)):
        look = QueueSample(S, "n", 2, "5:", "htb", 0, 0, 0, 60 * packets, packets)
        seen = tc_evidence(trial, lambda each, look=look: replace(each, drops=9, samples=(look,)))
        drops, ends = sum(each.drops for each in seen.tc_ends), sum(each.drops > 0 for each in seen.data_tc_ends)
        again = tuple(replace(each, retransmits=drops + 3 * ends) for each in seen.outcome.flows)
        sums = {"sent_segments": 9000, "arrived_segments": 9000}
        seen = seen_as(
            outcome(flows=again, **sums)(seen),
            host_counters={**rose(seen), "TCPLostRetransmit": 99},
        )
        assert bool(list(data_check.resent(Case(trial, plan, seen)))) is is_told


def test_a_change_of_two_states_may_look_like_a_loss() -> None:
    again = flows({"retransmits": 3})
    slower = {"schedule": [{"at": "500 ms", "rate": "50 Mbit/s"}]}
    assert of(data_check.resent, again, slower) == []
    text = "3 segments were sent again, though no emulator dropped any"
    assert of(data_check.resent, again) == [("retransmissions", "suspect", text)]
    missing = ("retransmissions", "suspect", "missing: how many segments flow 1 sent again")
    assert of(data_check.resent, flows({"retransmits": None})) == [missing]
    assert of(data_check.resent, top()) == []


@pytest.mark.parametrize(
    ("buffer", "limit", "is_told"),
    [
        ("0.3 bdp", 37_500, False),
        ("37499 B", 37_499, True),
        ("25 packets", 37_500, False),
        ("24 packets", 36_000, True),
    ],
)
def test_a_buffer_of_few_superpackets_is_noted(buffer: str, limit: int, is_told: bool) -> None:
    """In a millisecond at 100 Mbit/s TCP makes 12 500 bytes; a few are three of them."""
    text = f"path forward: superpackets of 12500 bytes meet a buffer of {limit}"
    for drops in (0, 1):
        found = of(link_check.burst, on_data(queue_drops=drops), {"buffer": buffer}, nic="offload")
        assert found == ([("burst", "valid", text)] if is_told and drops else [])
    assert of(link_check.burst, on_data(queue_drops=1), {"buffer": buffer}, nic="plain") == []


IPERF3_UDP = {"tool": "iperf3", "protocol": "udp", "duration": "1 s", "rate": "1 Mbit/s", "length": "1400 B"}
DATAGRAMS = UdpResult(
    sent_datagrams=89,
    arrived_datagrams=89,
    lost_datagrams=0,
    out_of_order_datagrams=0,
    offered_bps=1e6,
    jitter_s=0.0,
)


def test_iperf3_counts_what_comes_twice_as_two_datagrams() -> None:
    """So it told of 3 lost datagrams, where 29 were."""

    def found(twice: int) -> list[tuple[str, str, str]]:
        def change(e: Evidence) -> Evidence:
            (stage,) = e.data_stages
            return on_data(faults=(FaultCount("duplicate", stage.stage.start, 89, twice),))(e)

        return of(lambda case: iperf3.once(case, DATAGRAMS), change, workload=IPERF3_UDP)

    assert found(0) == []
    assert found(25) == [("data", "invalid", "links sent 25 packets twice, and iperf3 counts both")]


@pytest.mark.parametrize("key", ["duplicate", "reorder"])
def test_faults_of_all_packets_leave_the_connection_alone_by_which_iperf3_controls_itself(key: str) -> None:
    """The answers of datagrams are nothing else; those of other flows are looked at."""
    value = {"random": "5 %", "by": "1 ms"} if key == "reorder" else {"random": "5 %"}

    def change(e: Evidence) -> Evidence:
        (back,) = e.answer_stages
        first = QueueSample(START_NS, "e", 2, "2:", "tbf", 0, 0, 0, 0, 0)
        held = tuple(replace(each, counts=Counts()) for each in back.intervals)
        looked = (FaultCount(key, back.stage.start, 0, 0),)
        back = replace(back, around=(first, replace(first, packets=14)), intervals=held, faults=looked)
        return replace(e, answer_stages=(back,))

    def found(workload: Any) -> list[str]:
        texts = [text for _, _, text in of(fault_check.picked, change, {key: value}, workload=workload)]
        return [text for text in texts if text.startswith("path backward")]

    assert found(IPERF3_UDP) == ["path backward: no packet came that it looks at"]
    assert found({"tool": "iperf3", "duration": "1 s"}) == ["path backward: packets passed, and it looked at none"]
    assert found(UDP) == ["path backward: packets passed, and it looked at none"]
