"""Samples and what must be there: what the gate says of queues, of sockets, and of each part that is missing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from test_gate import FLOW, IPERF3, NOISE, START_NS, Change, S, fine, measured, on_answers, on_data, outcome, top
from test_mininet import in_mininet, tc_evidence
from trials import SWITCH, make_trial, rose, round_trip, seen_as, vm

from testbed.kernel.vm.hypervisor import COUNTED
from testbed.model.openflow import Controller
from testbed.plan.node.control_channel import Channel
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.interval import FOR_EVER_NS
from testbed.trial.evidence.stage import Evidence
from testbed.trial.gate.consistency import presence, queue_samples, ranges, socket_samples
from testbed.trial.observe import tcp_info
from testbed.trial.orders.sequence import orders
from testbed.trial.subject.openflow import ControllerEvidence, OpenFlowEvidence

MS = 10**6
QUEUE = "tb-path.emulator"


def of(check: Any, change: Change, path: Any = None, **more: Any) -> list[tuple[str, str]]:
    """The verdict and the text of each finding of a check, on a trial that went as asked, but for a change."""
    trial = make_trial(path, **more)
    plan = orders(trial).plan
    found = list(check(Case(trial, plan, change(fine(trial, plan)))))
    assert {each.check for each in found} <= {"samples", "evidence", "memory", "capture"}
    assert all(each.hint for each in found)
    return [(each.verdict, each.text) for each in found]


def sampled(number: int, **changes: Any) -> Change:
    """One sample of the data's queue is another one."""

    def change(e: Evidence) -> Evidence:
        found = list(e.data_stages[0].samples)
        found[number] = replace(found[number], **changes)
        return on_data(samples=tuple(found))(e)

    return change


@pytest.mark.parametrize(
    ("number", "changes", "fault"),
    [
        (5, {}, None),
        (5, {"netns": "tb-x"}, f"a sample of tbf 2: in tb-x, not of tbf 2: in {QUEUE}"),
        (5, {"handle": "9:"}, f"a sample of tbf 9: in {QUEUE}, not of tbf 2: in {QUEUE}"),
        (5, {"kind": "pfifo"}, f"a sample of pfifo 2: in {QUEUE}, not of tbf 2: in {QUEUE}"),
        (5, {"device": 0}, f"a sample of tbf 2: in {QUEUE}, not of tbf 2: in {QUEUE}"),
        (5, {"backlog_bytes": 1}, "0 packets of 1 bytes waited"),
        (5, {"backlog_packets": 1}, "1 packets of 0 bytes waited"),
        (5, {"backlog_packets": 1, "backlog_bytes": 1}, None),
        (0, {"bytes": 0}, "10 packets with 0 bytes"),
        (0, {"packets": 0}, "0 packets with 1000 bytes"),
        (5, {"time_ns": START_NS}, f"time_ns went from {START_NS + 300 * MS} to {START_NS}"),
        (5, {"time_ns": START_NS + 300 * MS}, "two samples at one time"),
        (5, {"drops": 3}, "drops went from 3 to 0"),
        (5, {"device": 3}, "device went from 2 to 3"),
        (1, {"bytes": 999}, "bytes went from 1000 to 999"),
        (1, {"packets": 9}, "packets went from 10 to 9"),
    ],
)
def test_counters_of_a_queue_only_rise(number: int, changes: Any, fault: str | None) -> None:
    expected = [("invalid", f"path forward: {fault}")] if fault else []
    assert of(queue_samples.queues, sampled(number, **changes)) == expected


def test_the_looks_around_the_workload_are_of_the_same_queue() -> None:
    def looks(number: int, **changes: Any) -> Change:
        def change(e: Evidence) -> Evidence:
            around = list(e.answer_stages[0].around or ())
            around[number] = replace(around[number], **changes)
            return on_answers(around=tuple(around))(e)

        return change

    for number in (0, 1):
        (found,) = of(queue_samples.queues, looks(number, kind="fq"))
        assert found == ("invalid", f"path backward: a sample of fq 2: in {QUEUE}, not of tbf 2: in {QUEUE}")
    assert of(queue_samples.queues, looks(1, bytes=999)) != []


@pytest.mark.parametrize(
    ("kernel", "lasted_ms", "times_ms", "verdict"),
    [
        ("lab", 1000, range(0, 600, 100), None),
        ("lab", 1000, range(0, 500, 100), "suspect"),
        ("lab", 1000, [0, 150, *range(200, 1000, 100)], None),
        ("lab", 1000, [0, 151, *range(200, 1000, 100)], "suspect"),
        ("lab", 300, [0, 100], None),
        ("lab", 300, [0], "invalid"),
        ("lab", 300, [], "invalid"),
        ("lab", 299, [], None),
        ("lab", 2000, range(0, 1400, 100), "suspect"),
        ("lab", 2000, range(0, 1500, 100), None),
        ("lab", 2000, [0, 100], "invalid"),
        ("lab", 2000, [0, 100, 200], "suspect"),
        ("host", 1000, [0, 900], None),
        ("host", 1000, [0], "invalid"),
        ("host", 2000, [0, 100, 200, 1900, 1901, 1902, 1903], None),
        ("host", 2000, [0, 100, 200, 1900, 1901, 1902], "suspect"),
    ],
)
def test_samples_are_taken_all_the_time(kernel: str, lasted_ms: int, times_ms: Any, verdict: str | None) -> None:
    """Every 100 ms: in virtual time 9 of 10, in real time 5 of 10, less three."""

    def change(e: Evidence) -> Evidence:
        one = e.data_stages[0].samples[0]
        told = tuple(replace(one, time_ns=START_NS + at_ms * MS) for at_ms in times_ms)
        return outcome(end_ns=START_NS + lasted_ms * MS, flows=())(replace(on_data(samples=told)(e), answer_stages=()))

    gap_ms = max((later - one for one, later in zip(times_ms, [*times_ms][1:], strict=False)), default=0)
    text = (
        f"{len(times_ms)} samples in {lasted_ms / 1e3:g} s, up to {gap_ms / 1e3:g} s apart; asked was one every 0.1 s"
    )
    expected = [(verdict, f"path forward: {text}")] if verdict else []
    assert of(socket_samples.often, change, kernel=kernel) == expected


def test_sockets_of_every_flow_are_sampled() -> None:
    none = "0 samples in 1 s, up to 0 s apart; asked was one every 0.1 s"
    expected = [("invalid", f"{where}: {none}") for where in ("flow 1 at a", "flow 1 at b", "the sockets")]
    assert of(socket_samples.often, top(tcp=())) == expected
    assert of(socket_samples.often, top(tcp=()), workload={"tool": "ping", "count": 1}) == []
    at_b = of(socket_samples.often, lambda e: replace(e, tcp=tuple(each for each in e.tcp if each.netns == "tb-a")))
    assert at_b == expected[1:2]
    listening = of(
        socket_samples.often, lambda e: replace(e, tcp=tuple(replace(each, destination_port=0) for each in e.tcp))
    )
    assert listening == expected[:2]
    over = of(socket_samples.often, all_of("a", state=None))
    assert over == expected[:1]


def one_of(end: str, number: int, info: Any = None, **changes: Any) -> Change:
    """One sample of the socket of an end is another one."""

    def change(e: Evidence) -> Evidence:
        found = list(e.tcp)
        at = [n for n, each in enumerate(found) if each.netns == f"tb-{end}"][number]
        found[at] = replace(found[at], **changes, info={**found[at].info, **(info or {})})
        return replace(e, tcp=tuple(found))

    return change


@pytest.mark.parametrize("field", ["pacing_rate_bps", "delivery_rate_bps"])
def test_a_rate_that_tcp_computes_of_a_path_without_a_delay_is_no_damage(field: str) -> None:
    """Seen on a busy computer: 2.5e15 bit/s. Nothing needs to have been sent at it; a larger one cannot be."""
    trial = make_trial()
    good = fine(trial, orders(trial).plan)
    seen = 2_528_821_179_733_328.0
    assert ranges.faults(one_of("a", 5, {field: seen})(good)) == ranges.faults(good) == []
    for wrong in (2e17, 10**18, -8.0):
        assert any(field in each for each in ranges.faults(one_of("a", 5, {field: wrong})(good)))
    assert any("snd_cwnd" in each for each in ranges.faults(one_of("a", 5, {"snd_cwnd": 10**15})(good)))


class Slow(type(ranges.SEEN)):  # type: ignore[misc]
    """The walk through each value alone."""

    def _quickly(self, walk: Any, is_fine: Any) -> Any:
        return walk


ODD: tuple[Any, ...] = (-1, True, math.nan, math.inf, 10**15, "x", None, 2.5, [])
WRONG: tuple[dict[str, Any], ...] = (
    *({"time_ns": value} for value in (-1, True, 5.0, "5", None, 10**18, FOR_EVER_NS, math.nan)),
    *({"source_port": value} for value in (-1, 10**15, 10**15 - 1, "x")),
    *({"congestion": value} for value in (None, 3, "", b"cubic")),
    *({"info": {"snd_cwnd": value}} for value in ODD),
    *({"info": {"new": value}} for value in (-1, 7, "x")),
    *({"info": {"pacing_rate_bps": value}} for value in (1e17, 2e17, -1e17)),
    *({"agreed": value} for value in (None, 3, *(tcp_info.Agreed(True, True, True, n) for n in (-1, True, 0)))),
    *({"ecn": value} for value in (None, "x", tcp_info.EcnInfo("none", -1, 0), tcp_info.EcnInfo("none", 1, None))),
)


@pytest.mark.parametrize("changes", WRONG, ids=str)
@pytest.mark.parametrize("number", [0, 5, -1])
def test_columns_find_no_more_and_no_less_than_a_walk_through_each_value(
    changes: dict[str, Any], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = make_trial()
    damaged = one_of("a", number, **changes)(fine(trial, orders(trial).plan))
    quick = ranges.faults(damaged)
    monkeypatch.setattr(ranges, "SEEN", Slow())
    assert quick == ranges.faults(damaged)


def test_only_what_is_damaged_is_walked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = make_trial()
    good = fine(trial, orders(trial).plan)
    walked: list[str] = []

    class Told(type(ranges.SEEN)):  # type: ignore[misc]
        def unmet(self, number: float, at: str, laws: Any) -> str | None:
            walked.append(at)
            found: str | None = super().unmet(number, at, laws)
            return found

    monkeypatch.setattr(ranges, "SEEN", Told())
    assert ranges.faults(good) == []
    assert not [at for at in walked if at.startswith("tcp[")]
    assert ranges.faults(one_of("a", 5, time_ns=-1)(good))
    assert [at for at in walked if at.startswith("tcp[")]


def all_of(end: str, **info: Any) -> Change:
    """All samples of the socket of an end have these values."""
    return lambda e: replace(e, tcp=tuple(
        replace(each, info={**each.info, **info}) if each.netns == f"tb-{end}" else each for each in e.tcp
    ))  # fmt: skip


AT_5 = START_NS + 400 * MS
"""When the sample with the number 5 was taken."""


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (one_of("a", 5), None),
        (one_of("a", 0, time_ns=0), "time_ns went from 0 to 0"),
        (one_of("a", 5, time_ns=AT_5 - 101 * MS), f"time_ns went from {AT_5 - 100 * MS} to {AT_5 - 101 * MS}"),
        (one_of("a", 5, netns="tb-x"), "a socket in tb-x"),
        (one_of("a", 5, source="x"), "a socket from x:45001 to 10.0.0.2:5001"),
        (one_of("a", 5, destination=""), "a socket from 10.0.0.1:45001 to :5001"),
        (one_of("a", 5, source_port=0), "a socket from 10.0.0.1:0 to 10.0.0.2:5001"),
        (one_of("a", 5, {"state": 0}), "a socket in the state 0 with the congestion control 'cubic'"),
        (one_of("a", 5, {"state": 13}), "a socket in the state 13 with the congestion control 'cubic'"),
        (one_of("a", 5, {"state": 12}), None),
        (one_of("a", 5, congestion=""), "a socket in the state 1 with the congestion control ''"),
        (one_of("a", 5, {"total_rto": None}), "the kernel told less of one socket than of another"),
        (one_of("a", 5, {"unacked": None, "lost": None}), "missing in a sample: lost, unacked"),
        (one_of("a", 0, {"min_rtt_s": None}), None),
        (one_of("a", 5, {"min_rtt_s": None}), "missing or 0 in a sample: min_rtt_s"),
        (one_of("a", 5, {"snd_ssthresh": None}), None),
        (one_of("a", 5, {"pacing_rate_bps": 0, "segs_in": 0}), "missing or 0 in a sample: pacing_rate_bps, segs_in"),
        (one_of("a", 0, {"pacing_rate_bps": 0, "segs_in": 0}), None),
        (one_of("a", 1, {"bytes_acked": 1, "pacing_rate_bps": 0}), None),
        (one_of("a", 1, {"bytes_acked": 2, "pacing_rate_bps": 0}), "missing or 0 in a sample: pacing_rate_bps"),
        (one_of("b", 0, {"bytes_received": 1, "segs_in": 0}), "missing or 0 in a sample: segs_in"),
        *(
            (one_of("a", 0, {name: 0}), f"missing or 0 in a sample: {name}")
            for name in ("rcv_ssthresh_bytes", "reordering", "rto_s", "snd_cwnd", "snd_mss_bytes")
        ),
        (one_of("a", 0, {"rto_s": 0, "state": 2}), None),
    ],
)
def test_no_socket_has_what_none_can_have(change: Change, fault: str | None) -> None:
    assert of(socket_samples.sockets, change) == ([("invalid", f"the sockets: {fault}")] if fault else [])


def test_a_socket_without_values_is_no_socket_that_lacks_some() -> None:
    nothing = [("invalid", "the sockets: a sample without values")]
    assert of(socket_samples.sockets, lambda e: replace(e, tcp=(replace(e.tcp[0], info={}),))) == nothing
    unknown = dict.fromkeys(socket_samples.OFFSETS)
    assert of(socket_samples.sockets, one_of("a", 5, unknown)) == []


@pytest.mark.parametrize("name", socket_samples.RISING)
def test_what_a_socket_counts_only_rises(name: str) -> None:
    (found, *_) = of(socket_samples.sockets, one_of("b", 5, {name: 2e9}))
    after = fine(make_trial(), orders(make_trial()).plan).tcp[13].info[name]
    assert found == ("invalid", f"flow 1 at b: {name} went from 2e+09 to {after:g}")


SYN = "segments with"


@pytest.mark.parametrize(
    ("end", "change", "fault"),
    [
        ("a", one_of("a", 5, congestion="reno"), f"cubic at {AT_5 - 100 * MS} ns, then reno at {AT_5} ns"),
        ("a", all_of("a", srtt_s=0), "an RTT of 0 in a sample"),
        ("b", all_of("b", srtt_s=0), "an RTT of 0 in a sample"),
        *(
            ("a", all_of("a", **{name: 0}), f"data in a sample, but 0 {name}")
            for name in ("data_segs_out", "segs_out", "bytes_sent", "delivered")
        ),
        ("b", all_of("b", data_segs_in=0), "data in a sample, but 0 data_segs_in"),
        ("b", all_of("b", data_segs_in=0, bytes_received=1), None),
        ("b", all_of("b", total_retrans=0, bytes_retrans=5), f"0 {SYN} 5 bytes were sent again"),
        ("b", all_of("b", total_retrans=1, bytes_retrans=65_536), None),
        ("b", all_of("b", total_retrans=1, bytes_retrans=65_537), f"1 {SYN} 65537 bytes were sent again"),
        ("b", all_of("b", total_retrans=10, bytes_retrans=0), None),
        ("b", all_of("b", total_retrans=11, bytes_retrans=0), f"11 {SYN} 0 bytes were sent again"),
        ("b", all_of("b", delivered=2), "2 segments were delivered, but no bytes"),
        ("b", all_of("b", delivered=2, bytes_acked=1), "2 segments were delivered, but no bytes"),
    ],
)
def test_bytes_of_a_socket_come_in_segments(end: str, change: Change, fault: str | None) -> None:
    assert of(socket_samples.sockets, change) == ([("invalid", f"flow 1 at {end}: {fault}")] if fault else [])


def test_without_a_delay_a_socket_may_have_an_rtt_of_0() -> None:
    assert of(socket_samples.sockets, all_of("a", srtt_s=0), {"rtt": "0 ms", "buffer": "20 packets"}) == []
    assert of(socket_samples.sockets, all_of("a", srtt_s=0), {"rtt": "1 us", "buffer": "20 packets"}) != []


@pytest.mark.parametrize(
    ("flow", "info", "fault"),
    [
        ({"busy_s": 1.0}, {}, None),
        ({"busy_s": 1.0199}, {}, None),
        ({"busy_s": 1.0201}, {}, "busy_s was 0.9 in a sample, 1.0201 at the end"),
        ({"busy_s": 0.9}, {}, None),
        ({"busy_s": 0.89999}, {}, "busy_s was 0.9 in a sample, 0.89999 at the end"),
        ({"busy_s": None}, {}, None),
        ({"rwnd_limited": 0.1199}, {}, None),
        ({"rwnd_limited": 0.1201}, {}, "rwnd_limited_s was 0 in a sample, 0.1201 at the end"),
        ({"sndbuf_limited": 0.1201}, {}, "sndbuf_limited_s was 0 in a sample, 0.1201 at the end"),
        ({"sndbuf_limited": None, "rwnd_limited": None}, {}, None),
        ({"retransmits": 2}, {"total_retrans": 3}, "3 segments were sent again in a sample, 2 at the end"),
        ({"retransmits": 3}, {"total_retrans": 3}, None),
        ({"retransmits": None}, {"total_retrans": 3}, None),
    ],
)
def test_the_end_of_a_flow_has_no_less_than_its_last_sample(flow: Any, info: Any, fault: str | None) -> None:
    """The last one before the end is 100 ms before it; two jiffies are 20 ms."""

    def change(e: Evidence) -> Evidence:
        return outcome(flows=(replace(e.outcome.flows[0], **flow),))(all_of("a", **info)(e))

    assert of(socket_samples.sockets, change) == ([("invalid", f"flow 1 at a: {fault}")] if fault else [])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (on_data(mtu_bytes=1400), "the emulator of the link path forward"),
        (top(data_stages=()), "the emulator of the link path forward"),
        (top(answer_stages=()), "the emulator of the link path backward"),
        (on_data(around=None), "the queue of the link path forward"),
        (on_answers(around=None), "the queue of the link path backward"),
        (top(mininet="2.3.0"), "Mininet 2.3.0, which was not asked for"),
        (lambda e: seen_as(e, rtt_check=replace(round_trip(e), sent=4)), "pings: 4 of 5 were sent"),
        (outcome(goodput_bps=None), "goodput_bps of the tool flow"),
        (outcome(flows=(replace(FLOW, received_bytes=None),)), "received_bytes of flow 1"),
        (outcome(flows=(FLOW, replace(FLOW, retransmits=None))), "retransmits of flow 2"),
        (outcome(measured={}), "what the tool flow measured: tcp"),
        (lambda e: replace(e, device_drops={"tb-b eth0": 0}), "the losses of the device tb-a eth0"),
    ],
)
def test_what_the_plan_looks_at_is_there(change: Change, told: str) -> None:
    found = of(presence.present, change)
    assert ("invalid", f"missing: {told}") in found
    assert {text.startswith("missing: ") for _, text in found} == {True}
    assert of(presence.present, lambda e: e) == []


def test_a_policy_and_a_delay_alone_are_looked_at_too() -> None:
    (found,) = of(presence.present, lambda e: e, {"policy": {"after": "1 MB", "rate": "40 Mbit/s"}})
    assert found == ("invalid", "missing: the policy of the link path forward")
    alone: dict[str, Any] = {"rate": None, "buffer": None}
    (found,) = of(presence.present, on_data(around=None), alone, kernel="host")
    assert found == ("invalid", "missing: the queue of the link path forward")


def test_seconds_are_needed_only_with_samples_more_often() -> None:
    trial = replace(make_trial(workload={"duration": "5 s"}), samples_interval_ns=S)
    plan = orders(trial).plan
    for interval_ns, count in ((S, 0), (S - 1, 1), (None, 0)):
        asked = replace(trial, samples_interval_ns=interval_ns)
        assert len(list(presence.present(Case(asked, plan, outcome(measured={})(fine(trial, plan)))))) == count
    assert of(presence.present, outcome(measured={}), workload={**IPERF3}) == []


def test_pings_of_a_cache_and_computers_are_there() -> None:
    trial = make_trial()
    plan = orders(trial).plan
    plan = replace(plan, upstream=plan.data_path)
    seen = fine(trial, plan)
    for ping in (None, replace(round_trip(seen), sent=4)):
        (found,) = presence.present(Case(trial, plan, seen_as(seen, upstream_check=ping)))
        assert found.text == "missing: the pings from the origin to the cache"
    assert list(presence.present(Case(trial, plan, seen_as(seen, upstream_check=round_trip(seen))))) == []
    busy = of(presence.present, top(cpu_busy=None), kernel="host")
    assert busy == [("invalid", "missing: the CPU time of this computer")]
    assert of(presence.present, top(cpu_busy=0.0), kernel="host") == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, None),
        ({"cpu_busy": None}, "the CPU time of the virtual machine a"),
        ({"busy_s": None}, "the CPU time of the virtual machine a"),
        ({"accelerator": "kvm"}, "how the virtual machine a ran"),
        ({"kernel_release": ""}, "how the virtual machine a ran"),
        ({"qemu": ""}, "how the virtual machine a ran"),
        ({"boot_s": 0.0}, "how the virtual machine a ran"),
    ],
)
def test_what_virtual_machines_say_is_there(change: dict[str, Any], told: str | None) -> None:
    """One with `kvm` in virtual time would be judged as in real time."""
    nodes, link = {"a": {"type": "vm"}, "b": {"type": "host"}}, {"ends": ["a", "b"], "rate": "100 Mbit/s"}
    trial = make_trial(topology={"name": "net", "nodes": nodes, "links": {"path": link}}, workload=IPERF3)
    plan = orders(trial).plan
    machine = vm(COUNTED, 0.4, cpu="1 GIPS", busy_s=0.5)
    found = presence.present(Case(trial, plan, seen_as(fine(trial, plan), vms={"a": replace(machine, **change)})))
    assert [each.text for each in found] == ([f"missing: {told}"] if told else [])


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ({}, None),
        ({"pattern": "web"}, "the background noise, from a to b"),
        ({"from": "b"}, "the background noise, from a to b"),
        ({"to": "a"}, "the background noise, from a to b"),
        (None, "the background noise"),
    ],
)
def test_every_background_is_told_of(ends: dict[str, str] | None, told: str | None) -> None:
    own = {"pattern": "constant", "from": "a", "to": "b", "received_bytes": 1, "sent_datagrams": 1}
    found = of(presence.present, measured(background={} if ends is None else {"noise": own | ends}), background=NOISE)
    assert found == ([("invalid", f"missing: {told}")] if told else [])
    short = of(presence.present, top(background_short_ns={}), background=NOISE)
    assert short == [("invalid", "missing: the background noise")]


def test_ends_of_tclinks_are_there() -> None:
    trial = in_mininet()
    plan = orders(trial).plan
    seen = tc_evidence(trial, lambda each: each)

    def said(**changes: Any) -> list[str]:
        return [each.text for each in presence.present(Case(trial, plan, replace(seen, **changes)))]

    assert said() == []
    assert said(data_tc_ends=()) == ["missing: the TCLink path at a"]
    assert said(answer_tc_ends=()) == ["missing: the TCLink path at b"]
    (aside,) = (port for port in plan.tc_ports if port.node == "b")
    assert said(data_tc_ends=seen.data_tc_ends, beside_tc_ends=()) == []
    lonely = replace(plan, tc_ports=(*plan.tc_ports, replace(aside, link="other")))
    told = list(presence.present(Case(trial, lonely, seen)))
    assert [each.text for each in told] == ["missing: the TCLink other at b"]
    assert said(mininet=None) == ["missing: the version of Mininet"]


@pytest.mark.parametrize(
    ("switches", "packet_ins", "told"),
    [
        ({"ports": {"1": {}}, "version": "3"}, {"s": 0}, []),
        ({"ports": {}, "version": "3"}, {"s": 0}, ["the Open vSwitch s"]),
        ({"ports": {"1": {}}, "version": ""}, {"s": 0}, ["the Open vSwitch s"]),
        (None, {"s": 0}, ["the Open vSwitch s"]),
        ({"ports": {"1": {}}, "version": "3"}, {}, ["the controller c"]),
        ({"ports": {"1": {}}, "version": "3"}, None, ["the controller c"]),
    ],
)
def test_switches_and_controllers_are_there(switches: Any, packet_ins: Any, told: list[str]) -> None:
    trial = make_trial()
    channel = Channel("c", Controller("learning"), ("s",))
    plan = replace(orders(trial).plan, datapaths=(("s", "kernel"),), channels=(channel,))
    seen = OpenFlowEvidence(
        {} if switches is None else {"s": replace(SWITCH, **switches)},
        () if packet_ins is None else (ControllerEvidence("c", (), packet_ins, ()),),
    )
    found = presence.present(Case(trial, plan, seen_as(fine(trial, plan), openflow=seen)))
    assert [each.text for each in found] == [f"missing: {each}" for each in told]


def test_what_an_older_kernel_does_not_report_is_suspect() -> None:
    def lacking(e: Evidence) -> Evidence:
        return seen_as(e, host_counters={key: n for key, n in rose(e).items() if key != "TCPTimeouts"})

    assert of(presence.reported, lacking) == [("suspect", "missing: the hosts' counters TCPTimeouts")]
    missed = [("suspect", "missing: how many packets the captures missed")]
    assert of(presence.reported, top(captures_dropped=None)) == missed
    assert of(presence.reported, top(captures_dropped=0)) == []
