"""Numbers of tools that must add up: what the gate says of flows, datagrams, downloads, pings and backgrounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_gate import (
    DOWNLOAD,
    DOWNLOADED,
    FLOW,
    HTTP,
    IPERF3,
    MEANS,
    NOISE,
    START_NS,
    UDP,
    Change,
    S,
    datagrams,
    fine,
    flow,
    measured,
    outcome,
)
from trials import make_trial, seen_as

from testbed.trial import record
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.interval import Happened, Timeline
from testbed.trial.evidence.stage import Begun, Evidence
from testbed.trial.gate.consistency import links, tools
from testbed.trial.gate.during import account_check
from testbed.trial.measured import PingResult
from testbed.trial.orders.sequence import orders
from testbed.trial.workload.ping import round_trip_faults


def of(change: Change, path: Any = None, workload: Any = None, **more: Any) -> list[str]:
    """What is said of a trial that went as asked, but for a change."""
    trial = make_trial(path, workload, **more)
    plan = orders(trial).plan
    found = list(tools.adds_up(Case(trial, plan, change(fine(trial, plan)))))
    assert {(each.check, each.verdict) for each in found} <= {("evidence", "invalid")}
    assert {each.hint for each in found} <= {"an output of the trial is damaged or not whole"}
    return [each.text for each in found]


@pytest.mark.parametrize(
    ("begin", "steady", "end", "fault"),
    [
        (START_NS, START_NS, START_NS + S, None),
        (-1, -1, S - 1, f"the workload began at -1 ns and ended at {S - 1} ns"),
        (0, 0, S, None),
        (S, S, S, f"the workload began at {S} ns and ended at {S} ns"),
        (S, S - 1, 2 * S, f"the steady state began at {S - 1} ns, the workload at {S} ns"),
        (S, 2 * S, 2 * S, f"the steady state began at {2 * S} ns, the workload at {S} ns"),
        (S, 2 * S - 1, 2 * S, None),
        (S, None, 2 * S, None),
        (None, 5, 2, None),
        (5, 2, None, None),
    ],
)
def test_a_workload_begins_before_its_steady_state_and_ends_after_it(
    begin: int | None, steady: int | None, end: int | None, fault: str | None
) -> None:
    only = outcome(begin_ns=begin, steady_ns=steady, end_ns=end, goodput_bps=None, measured={})
    assert of(only) == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("start", "stop", "happened", "fault"),
    [
        (10, 20, (15, 14, 15, 15), None),
        (10, 20, (15, 10, 16, 17), None),
        (10, 10, (15, 14, 15, 15), None),
        (11, 10, (16, 14, 16, 16), "the schedule ran from 11 to 10 ns"),
        (2, 4, (7, 7, 7, 7), "the schedule ran from 2 to 4 ns"),
        (2, 5, (7, 7, 7, 7), None),
        (10, 20, (16, 14, 16, 16), "the change at 5e-09 s was due at 16 ns and done at 16 ns"),
        (10, 20, (15, 14, 14, 15), "the change at 5e-09 s was due at 15 ns and done at 14 ns"),
        (10, 20, (15, 14, 16, 15), "the change at 5e-09 s was due at 15 ns and done at 16 ns"),
        (10, 20, (15, 17, 16, 17), "the change at 5e-09 s was due at 15 ns and done at 16 ns"),
        (10, 20, (15, 16, 16, 17), None),
        (10, 20, (15, 9, 15, 15), "the change at 5e-09 s began before the schedule"),
    ],
)
def test_a_change_happens_after_it_was_due(
    start: int, stop: int, happened: tuple[int, int, int, int], fault: str | None
) -> None:
    def change(e: Evidence) -> Evidence:
        begun = outcome(begin_ns=5, steady_ns=None, end_ns=None, goodput_bps=None, measured={})(e)
        return replace(begun, timeline=Timeline(start, stop, {5: Happened(*happened)}))

    assert of(change) == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        *(({name: 0}, f"{name} of flow 1 is 0") for name in ("sndbuf_bytes", "rcvbuf_bytes", "mss_bytes", "rtt_min_s")),
        ({"rwnd_limited": 1.0}, None),
        ({"rwnd_limited": 1 + 2e-6}, "flow 1 was held back for more than its time"),
        ({"sndbuf_limited": 1 + 2e-6}, "flow 1 was held back for more than its time"),
        ({"sndbuf_limited": 1 + 1e-7, "rwnd_limited": None}, None),
        ({"goodput_bps": 95e6 * 1.009}, None),
        ({"goodput_bps": 95e6 * 1.02}, "the only flow had 9.69e+07 bit/s, all together 9.5e+07 bit/s"),
        ({"goodput_bps": 95e6 * 0.98}, "the only flow had 9.31e+07 bit/s, all together 9.5e+07 bit/s"),
        ({"goodput_bps": None}, None),
    ],
)
def test_the_only_flow_has_what_a_socket_has(changes: Any, fault: str | None) -> None:
    assert of(flow(**changes)) == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ((None, None), None),
        ((60e6, 35e6), None),
        ((60e6, 30e6), None),
        ((60e6, 35.001e6), "the flows' parts make 9.5001e+07 bit/s, the goodput is 9.5e+07"),
        ((60e6, None), "1 of 2 flows have no part of the goodput"),
    ],
)
def test_the_parts_of_flows_make_no_more_than_the_goodput(parts: tuple[float | None, ...], fault: str | None) -> None:
    apart = {"tool": "flow", "duration": "1 s", "flows": 2, "start": "100 ms"}

    def change(evidence: Evidence) -> Evidence:
        flows = zip(evidence.outcome.flows, parts, strict=True)
        told = tuple(replace(each, part_bps=part) for each, part in flows)
        return replace(evidence, outcome=replace(evidence.outcome, flows=told))

    assert of(change, workload=apart) == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("busy_s", "goodput_bps", "fault"),
    [
        (0.98, 95e6 / 0.98, None),  # looked at 20 ms after the start
        (0.95, 95e6 / 0.931, None),  # a hundredth of 0.95 s, and a tick of 10 ms
        (0.95, 95e6 / 0.929, "the only flow had 1.0226e+08 bit/s, all together 9.5e+07 bit/s"),
        (0.5, 95e6 / 0.5, "the only flow had 1.9e+08 bit/s, all together 9.5e+07 bit/s"),  # nobody looks so late
        (0.001, 95e9, "the only flow had 9.5e+10 bit/s, all together 9.5e+07 bit/s"),  # its sender was hardly busy
        (0.98, 95e6 * 0.98, "the only flow had 9.31e+07 bit/s, all together 9.5e+07 bit/s"),
        (0.0, 95e6 / 0.98, "the only flow had 9.69388e+07 bit/s, all together 9.5e+07 bit/s"),
        (None, 95e6 / 0.98, "the only flow had 9.69388e+07 bit/s, all together 9.5e+07 bit/s"),
    ],
)
def test_in_real_time_a_flow_counts_from_when_it_was_looked_at_and_lasts_while_its_sender_is_busy(
    busy_s: float | None, goodput_bps: float, fault: str | None
) -> None:
    change = flow(busy_s=busy_s, goodput_bps=goodput_bps)
    assert of(change, kernel="lab-realtime") == ([fault] if fault else [])
    assert of(change) == [f"the only flow had {goodput_bps:g} bit/s, all together 9.5e+07 bit/s"]
    steady = outcome(steady_ns=START_NS + S // 2, ramp_goodput_bps=95e6)
    assert len(of(lambda e: change(steady(e)), kernel="lab-realtime")) == 1  # with a ramp both count from its end


def test_only_a_tool_that_tells_congestion_controls_has_one() -> None:
    text = "flow 1 has the congestion control cubic, which udp cannot tell"
    assert of(flow(congestion="cubic"), workload=UDP) == [text]
    assert of(flow(congestion="cubic")) == of(flow(congestion=None)) == []


@pytest.mark.parametrize("steady_ms", [0, 500])
@pytest.mark.parametrize(("off", "is_told"), [(0, False), (11, False), (13, True), (-11, False), (-13, True)])
def test_the_goodput_is_the_bytes_of_the_flows(steady_ms: int, off: int, is_told: bool) -> None:
    """A byte for each flow, and a millionth of 11 875 000."""
    told = 11_875_000 + off
    begun = outcome(steady_ns=START_NS + steady_ms * 10**6, goodput_bps=8000.0 * told / (1000 - steady_ms))
    text = f"the goodput makes {told} bytes, the flows got 11875000"
    found = of(lambda e: flow(goodput_bps=None)(begun(e)))
    assert found == ([text] if is_told else [])


@pytest.mark.parametrize(("ramp_bps", "is_told"), [(85.6e6, False), (85.4e6, True), (104.4e6, False), (104.6e6, True)])
def test_with_a_ramp_the_ends_of_flows_may_miss_a_twentieth(ramp_bps: float, is_told: bool) -> None:
    """Half a second at 95 Mbit/s beside the ramp's; a twentieth of 11 875 000 bytes is 593 750, 9.5 Mbit/s of half a
    second.
    """
    told = (95e6 + ramp_bps) / 16
    found = of(outcome(steady_ns=START_NS + S // 2, ramp_goodput_bps=ramp_bps))
    assert found == ([f"the goodput makes {told:.0f} bytes, the flows got 11875000"] if is_told else [])


def test_seconds_are_those_of_the_samples() -> None:
    def second(**changes: Any) -> list[str]:
        def change(e: Evidence) -> Evidence:
            series = [{**each, **changes} for each in e.outcome.measured["tcp"]["series"]]
            return measured(tcp={"series": series})(e)

        return of(change)

    assert second() == []
    assert second(goodput_bps=95e6 + 94) == []
    assert second(goodput_bps=95e6 + 97) == ["9.50001e+07 bit/s in second 0, by the samples 9.5e+07"]
    assert second(time_s=1.0) == ["the series has 1 seconds, its samples 1"]
    assert of(measured(tcp={"series": []})) == ["the series has 0 seconds, its samples 1"]


def udp(tool: str = "udp", second: Any = None, **changes: Any) -> list[str]:
    """89 datagrams of 1400 bytes, with these changes."""
    made = datagrams(89)
    series = [{**made["series"][0], **(second or {})}]
    workload = UDP if tool == "udp" else {**IPERF3, "protocol": "udp", "rate": "1 Mbit/s", "length": "1400 B"}
    workload = {key: each for key, each in workload.items() if key != "window"}

    def change(e: Evidence) -> Evidence:
        if tool != "udp":
            bps = 8.0 * 89 * 1400
            flows = (replace(FLOW, goodput_bps=bps, received_bytes=89 * 1400, congestion=None),)
            e = replace(e, outcome=replace(e.outcome, flows=flows, goodput_bps=bps))
        return measured(udp={**made, "series": series, **changes})(e)

    return of(change, workload=workload)


@pytest.mark.parametrize("tool", ["udp", "iperf3"])
def test_datagrams_that_were_sent_arrive_or_are_lost(tool: str) -> None:
    assert udp(tool) == []
    assert udp(tool, sent_datagrams=90) == ["90 datagrams were sent, 89 arrived and 0 were lost"]
    assert udp(tool, lost_datagrams=1) == ["89 datagrams were sent, 89 arrived and 1 were lost"]
    assert udp(tool, received_bytes=124_601) == ["89 datagrams arrived, with 124600 bytes in flows and 124601 in all"]
    none = udp(tool, arrived_datagrams=0, lost_datagrams=89)
    assert none == ["0 datagrams arrived, with 124600 bytes in flows and 124600 in all"]


def test_iperf3_tells_less_of_its_datagrams() -> None:
    assert udp("iperf3", received_bytes=None, loss=None, series=[], delay_min_s=None) == []
    assert udp("iperf3", offered_bps=0.0) == ["89 datagrams were sent at 0.0 bit/s"]


TOGETHER = "datagrams sent, lost and arrived; all together [89, 0, 89]"
OWN = ("burst_datagrams", "delay_mean_s", "duplicates", "jitter_s", "receiver_drops", "send_late_max_s")


@pytest.mark.parametrize(
    ("second", "changes", "fault"),
    [
        ({}, {"offered_bps": 1e6 + 1}, "1e+06 bit/s were offered, asked were 1000000"),
        ({}, {"loss": None}, "a loss of None, where 0 of 89 datagrams were lost"),
        ({}, {"loss": 2e-6}, "a loss of 2e-06, where 0 of 89 datagrams were lost"),
        ({}, {"loss": 1e-6}, None),
        ({"sent_datagrams": 88}, {}, f"the seconds have [88, 0, 89] {TOGETHER}"),
        ({"lost_datagrams": 1}, {}, f"the seconds have [89, 1, 89] {TOGETHER}"),
        ({"goodput_bps": 996_802}, {}, "the seconds have other bytes than the flows"),
        ({"goodput_bps": 996_800.5}, {}, None),
        *(({}, {name: None}, f"missing: {name} of the datagrams")
          for name in OWN),
        ({}, {"delay_mean_s": 0.02}, "delays of 0.01 to 0.01 s with a mean of 0.02 s"),
        ({}, {"delay_mean_s": 0.009}, "delays of 0.01 to 0.01 s with a mean of 0.009 s"),
        ({}, {"delay_mean_s": 0.01 * (1 - 5e-7)}, None),
        ({}, {"delay_min_s": 0.004}, "delays of 0.004 s and more; the links alone take 0.00499994 s"),
        ({}, {"delay_min_s": 0.0049999361, "jitter_mean_s": 0.1}, None),
        ({}, {"delay_min_s": 0.0049999, "jitter_mean_s": 0.1},
         "delays of 0.0049999 s and more; the links alone take 0.00499994 s"),
        ({}, {"burst_datagrams": 0}, "groups of 0 datagrams"),
        ({}, {"jitter_mean_s": None}, "missing: jitter_mean_s of the datagrams"),
        ({}, {"delay_max_s": 0.0100009}, None),
        ({}, {"delay_max_s": 0.0100011}, "delays of 0.01 to 0.0100011 s without jitter"),
        ({}, {"delay_max_s": 0.02, "jitter_mean_s": 1e-9}, None),
    ],
)  # fmt: skip
def test_our_own_tool_tells_all_of_its_datagrams(second: Any, changes: Any, fault: str | None) -> None:
    assert udp(second=second, **changes) == ([fault] if fault else [])


def test_the_seconds_of_datagrams_rise() -> None:
    one = datagrams(89)["series"][0]
    none = dict.fromkeys(("goodput_bps", "sent_datagrams", "lost_datagrams", "arrived_datagrams"), 0)
    assert udp(series=[one, {**none, "time_s": 1}]) == []
    assert udp(series=[one, {**none, "time_s": 0}]) == [f"the seconds have [89, 0, 89] {TOGETHER}"]


def test_a_loss_is_the_lost_share_of_what_was_sent() -> None:
    """One of 90; the flows got what arrived."""
    lossy = {"sent_datagrams": 90, "lost_datagrams": 1}
    assert udp(second=lossy, **lossy, loss=1 / 90) == []
    assert udp(second=lossy, **lossy, loss=1 / 90 + 1.1e-6) == [
        f"a loss of {1 / 90 + 1.1e-6}, where 1 of 90 datagrams were lost"
    ]


FEW = {**DOWNLOAD, "goodput_bps": 95e6}


def http(first: Any = None, mean: Any = None, rtt: str = "10 ms", **told: Any) -> list[str]:
    """A download with these changes, whose means have them too."""
    one = {**FEW, **(first or {})}
    means = {f"{name}_mean": one[name] for name in ("elapsed_s", "first_byte_s", "goodput_bps")}
    row = {**DOWNLOADED["objects"][0], **means, **(mean or {})}
    path = {"rtt": rtt, **({"buffer": "20 packets"} if rtt == "0 ms" else {})}
    return of(measured(http={"downloads": [one], "objects": [row], **told}), path, HTTP)


@pytest.mark.parametrize(
    ("first", "fault"),
    [
        ({}, None),
        ({"status": 404}, "status 404, (0.1, 1.0) s"),
        ({"first_byte_s": 1.1}, "status 200, (1.1, 1.0) s"),
        ({"first_byte_s": 1.0}, None),
        ({"connect_s": 0.2}, "status 200, (0.2, 0.1, 1.0) s"),
        ({"connect_s": 0.1}, None),
        ({"connect_s": 0.0}, "it took (0.0, 0.1, 1.0) s"),
        ({"first_byte_s": 0.0}, "it took (0.0, 1.0) s"),
        ({"elapsed_s": 2.0, "goodput_bps": 47.5e6}, None),
        ({"elapsed_s": 2.0}, "11875000 bytes in 2.0 s"),
        ({"goodput_bps": 95e6 + 94}, None),
        ({"goodput_bps": 95e6 + 96}, "11875000 bytes in 1.0 s"),
        ({"number": 1}, "the downloads are not numbered one after the other"),
        ({"cache": "HIT"}, "download 0: the cache says HIT"),
    ],
)
def test_a_download_takes_its_time(first: Any, fault: str | None) -> None:
    fault = f"download 0: {fault}" if fault and not fault.startswith(("the down", "download")) else fault
    assert http(first) == ([fault] if fault else [])


def test_without_a_delay_a_download_may_take_no_time() -> None:
    assert http({"first_byte_s": 0.0}, rtt="0 ms") == []
    assert http({"first_byte_s": 1.1}, rtt="0 ms") == ["download 0: status 200, (1.1, 1.0) s"]
    assert http({"goodput_bps": 90e6}, rtt="0 ms") == ["download 0: 11875000 bytes in 1.0 s"]


def test_means_are_those_of_the_downloads() -> None:
    other = "the object of 11875000 bytes has other means than its downloads"
    for name, value in MEANS.items():
        assert http(mean={name: value * (1 + 5e-7)}) == []
        assert http(mean={name: value * (1 + 2e-6)}) == [other]
    assert http(mean={"downloads": 2}) == [other]
    assert http(objects=[]) == ["not every object has its means"]
    halves = [{**FEW, "number": n, "object_bytes": 5_937_500, "elapsed_s": 0.5 + n, "first_byte_s": 0.1 + n,
               "goodput_bps": 47.5e6 / (0.5 + n)} for n in (0, 1)]  # fmt: skip
    means = {"elapsed_s_mean": 1.0, "first_byte_s_mean": 0.6, "goodput_bps_mean": (95e6 + 47.5e6 / 1.5) / 2}
    row = {"object_bytes": 5_937_500, "downloads": 2, **means}
    assert http(**{"downloads": halves, "objects": [row]}) == []
    got = http(**{"downloads": halves[:1], "objects": [{**row, "downloads": 1, "elapsed_s_mean": 0.5,
                  "first_byte_s_mean": 0.1, "goodput_bps_mean": 95e6}]})  # fmt: skip
    assert got == ["the clients got 11875000 bytes, other than the downloads have"]


def test_only_a_cache_has_hits_and_misses() -> None:
    assert http(cache_hits=1, cache_misses=0) == ["1 hits and 0 misses in the cache, by the downloads None, None"]
    assert http(cache_misses=0) == ["None hits and 0 misses in the cache, by the downloads None, None"]


@pytest.mark.parametrize("which", ["before", "own", "upstream"])
@pytest.mark.parametrize(
    ("ping", "fault"),
    [
        ((5, 5, 0.01, 0.01, 0.01, 0.0), None),
        ((5, 6, 0.01, 0.01, 0.01, 0.0), "6 of 5 pings got a reply, with RTTs of (0.01, 0.01, 0.01) s"),
        ((5, 0, 0.01, 0.01, 0.01, 0.0), "0 of 5 pings got a reply, with RTTs of (0.01, 0.01, 0.01) s"),
        ((5, 0, None, None, None, None), None),
        ((5, 1, 0.01, None, 0.01, 0.0), "1 of 5 pings got a reply, with RTTs of (0.01, None, 0.01) s"),
        ((5, 1, 0.01, 0.01, 0.01, None), "1 of 5 pings got a reply, with RTTs of (0.01, 0.01, 0.01) s"),
        ((5, 5, 0.02, 0.01, 0.03, 0.01), "RTTs of (0.02, 0.01, 0.03) s"),
        ((5, 5, 0.01, 0.04, 0.03, 0.01), "RTTs of (0.01, 0.04, 0.03) s"),
        ((5, 5, 0.0, 0.01, 0.03, 0.01), "RTTs of (0.0, 0.01, 0.03) s"),
        ((8, 8, 0.01, 0.01, 0.0100049, 0.0), None),
        ((8, 8, 0.01, 0.01, 0.0100051, 0.0), "RTTs of (0.01, 0.01, 0.0100051) s with a standard deviation of 0.0 s"),
        ((8, 8, 0.01, 0.01, 0.02, 1e-6), None),
    ],
)
def test_pings_have_as_many_round_trips_as_replies(which: str, ping: Any, fault: str | None) -> None:
    """Without a standard deviation, eight replies lie within 1 + sqrt(2·8) = 5 µs."""
    trial = make_trial(workload={"tool": "ping", "count": 1})
    plan = orders(trial).plan
    plan = replace(plan, upstream=plan.data_path)
    seen = fine(trial, plan)
    result = PingResult(*ping)
    changed = {
        "before": seen_as(seen, rtt_check=result),
        "own": measured(ping=record.write(result))(seen),
        "upstream": seen_as(seen, upstream_check=result),
    }[which]
    case = Case(trial, plan, changed)
    assert [each.text for each in (*tools.adds_up(case), *links.adds_up(case))] == ([fault] if fault else [])


def test_without_a_delay_a_round_trip_may_be_0() -> None:
    zero = PingResult(5, 5, 0.0, 0.0, 0.0, 0.0)
    assert list(round_trip_faults(zero, 0)) == []
    assert list(round_trip_faults(zero, 1000)) == ["RTTs of (0.0, 0.0, 0.0) s"]


DATA = {"sent_datagrams": 10, "arrived_datagrams": 7, "lost_datagrams": 3}
DRAWN = {"planned_flows": 9, "started_flows": 9, "finished_flows": 9, "retransmits": 0}


@pytest.mark.parametrize(
    ("counts", "octets", "fault"),
    [
        (DATA, 1000, None),
        (DRAWN, 1000, None),
        ({}, 0, "noise counts neither flows nor datagrams"),
        ({**DATA, **DRAWN}, 1000, "noise counts neither flows nor datagrams"),
        ({**DATA, "sent_datagrams": 11}, 1000, "noise: (11, 7, 3) datagrams were sent, arrived and were lost"),
        ({**DRAWN, "retransmits": None}, 1000, "noise counts neither flows nor datagrams"),
        ({**DRAWN, "started_flows": 10}, 1000, "noise: (9, 10, 9) flows were planned, began and finished"),
        ({**DRAWN, "started_flows": 8}, 1000, "noise: (9, 8, 9) flows were planned, began and finished"),
        ({**DATA, "arrived_datagrams": 0, "lost_datagrams": 10}, 1000, "noise brought 1000 bytes with nothing"),
        ({**DATA, "arrived_datagrams": 0, "lost_datagrams": 10}, 0, None),
        ({**DRAWN, "started_flows": 0, "finished_flows": 0}, 1, "noise brought 1 bytes with nothing"),
        ({**DRAWN, "started_flows": 1, "finished_flows": 1}, 1, None),
        (DRAWN, 0, None),
    ],
)
def test_a_background_counts_flows_or_datagrams(counts: Any, octets: int, fault: str | None) -> None:
    ends = {"pattern": "constant", "from": "a", "to": "b"}
    none = dict.fromkeys((*DATA, *DRAWN))
    told = measured(background={"noise": {**ends, "received_bytes": octets, **none, **counts}})
    assert of(told, background=NOISE) == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("kernel", "late_ns", "said"),
    [
        ("lab", 5_000_000, None),  # it waits for the one processor; 1.12 ms was seen
        ("lab", 5_000_001, "0.005"),
        ("host", 1_000_000_000, None),
        ("host", 1_000_000_001, "1"),
    ],
)
def test_a_flow_of_a_background_begins_in_time(kernel: str, late_ns: int, said: str | None) -> None:
    trial = make_trial(background=NOISE, kernel=kernel)
    plan = orders(trial).plan
    seen = replace(fine(trial, plan), background_begun={"noise": Begun(START_NS, late_ns)})
    found = [(each.verdict, each.text) for each in account_check.others(Case(trial, plan, seen))]
    assert found == ([("invalid", f"a flow of noise began {said} s too late")] if said else [])
