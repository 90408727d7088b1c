"""Counters that must add up: what the gate says of captures, schedules, policies, TCLinks and switches, at bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from test_gate import S, fine, on_answers, on_data, outcome, top
from test_mininet import in_mininet, tc_evidence
from trials import SWITCH, make_trial, with_seen

from testbed.model.scenario import Trial
from testbed.plan.network import Plan
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.fault import FaultCount
from testbed.trial.evidence.interval import Counts, Interval, LossCount
from testbed.trial.evidence.policing import Policed
from testbed.trial.evidence.stage import Evidence
from testbed.trial.gate.consistency import links
from testbed.trial.observe.sample import CounterSample, QueueSample
from testbed.trial.orders.sequence import orders
from testbed.trial.result import CaptureResult
from testbed.trial.subject.openflow import PORT_KEYS, ControllerEvidence, OpenFlowEvidence


def said(trial: Trial, plan: Plan, evidence: Evidence) -> list[str]:
    found = list(links.adds_up(Case(trial, plan, evidence)))
    assert {(each.check, each.verdict) for each in found} <= {("evidence", "invalid")}
    assert {each.hint for each in found} <= {"an output of the trial is damaged or not whole"}
    return [each.text for each in found]


def of(change: Any = None, path: Any = None, **more: Any) -> list[str]:
    """What is said of a trial that went as asked, but for a change."""
    trial = make_trial(path, **more)
    plan = orders(trial).plan
    evidence = fine(trial, plan)
    return said(trial, plan, change(evidence) if change else evidence)


SEEN = CaptureResult(
    packets=8202, payload_bytes=11_875_000, again_packets=0, again_bytes=0, largest_bytes=1448, span_s=1.0
)
TWO = {"packets": 2, "payload_bytes": 3000, "largest_bytes": 1500}
ONE = {"packets": 1, "payload_bytes": 1500, "largest_bytes": 1500}


@pytest.mark.parametrize(
    ("sent", "arrived", "text"),
    [
        (7917, 7917, None),  # 11 875 000 bytes in segments of up to 1500
        (7917, 7916, "11875000 bytes arrived in 7916 segments of at most 1500 bytes"),
        (7920, 7921, "7921 segments arrived, 7920 were sent"),
        (None, 9000, None),  # `presence` says so
        (9000, None, None),
    ],
)
def test_what_arrived_came_in_segments_that_were_sent(sent: int | None, arrived: int | None, text: str | None) -> None:
    told = outcome(sent_segments=sent, arrived_segments=arrived)
    assert of(told) == ([text] if text else [])

    def copied(e: Evidence) -> Evidence:
        (stage,) = e.data_stages
        return told(on_data(faults=(FaultCount("duplicate", stage.stage.start, 7920, 1),))(e))

    assert of(copied) == ([text] if text and sent != 7920 else [])


@pytest.mark.parametrize("name", ["path-end0", "path-end1", "path-wire0", "path-wire1", "a-end0", "b-end0"])
def test_a_capture_on_the_way_has_all_that_arrived(name: str) -> None:
    less = replace(SEEN, payload_bytes=11_874_999)
    text = f"the capture {name}.pcap has 11874999 bytes of payload, 11875000 arrived"
    assert of(top(captures={f"{name}.pcap": SEEN})) == []
    assert of(top(captures={f"{name}.pcap": less})) == [text]
    assert of(top(captures={"other.pcap": None, f"{name}.pcap": less})) == [text]
    for missed in (1, None):
        assert of(top(captures={f"{name}.pcap": less}, captures_dropped=missed)) == []


@pytest.mark.parametrize("name", ["path-eth0", "other-end0"])
def test_a_capture_elsewhere_may_have_less(name: str) -> None:
    assert of(top(captures={f"{name}.pcap": replace(SEEN, payload_bytes=11_874_999)})) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (TWO, None),
        ({**TWO, "payload_bytes": 3001}, "2 packets with 3001 bytes, the largest with 1500"),
        ({**TWO, "payload_bytes": 1500}, None),
        ({**TWO, "payload_bytes": 1499}, "2 packets with 1499 bytes, the largest with 1500"),
        ({**ONE, "span_s": 0.0}, None),
        ({**ONE, "span_s": None}, "1 packets with 1500 bytes, the largest with 1500"),
        ({"packets": 0, "payload_bytes": 0, "largest_bytes": None, "span_s": None}, None),
        ({"packets": 0, "payload_bytes": 0, "largest_bytes": None}, "0 packets with 0 bytes, the largest with 0"),
        ({**TWO, "packets": 10, "span_s": 0.0}, None),
        ({**TWO, "packets": 11, "span_s": 0.0}, "11 packets in 0.0 s"),
        ({**TWO, "packets": 11, "span_s": 0.1}, None),
        ({**TWO, "again_packets": 2, "again_bytes": 3000}, None),
        ({**TWO, "again_packets": 3, "again_bytes": 3000}, "3 packets with 3000 bytes came again"),
        ({**TWO, "again_packets": 2, "again_bytes": 3001}, "2 packets with 3001 bytes came again"),
        ({**TWO, "again_packets": 1, "again_bytes": 0}, "1 packets with 0 bytes came again"),
        ({**TWO, "again_packets": 0, "again_bytes": 1}, "0 packets with 1 bytes came again"),
    ],
)  # fmt: skip
def test_packets_of_a_capture_have_bytes_and_take_time(changes: Any, fault: str | None) -> None:
    found = of(top(captures={"a-eth0.pcap": replace(SEEN, **changes)}))
    assert found == ([f"the capture a-eth0.pcap: {fault}"] if fault else [])


def test_without_a_delay_packets_of_a_capture_may_come_at_one_time() -> None:
    at_once = {"captures": {"a-eth0.pcap": replace(SEEN, packets=11_000, span_s=0.0)}}
    assert of(top(**at_once), {"rtt": "0 ms", "buffer": "20 packets"}) == []


def test_what_was_sent_has_come_to_the_delay() -> None:
    none = {"delay_packets": 0, "delay_drops": 0}
    looks = (QueueSample(1, "e", 2, "2:", "tbf", 0, 7, 0, 0, 0), QueueSample(2, "e", 2, "2:", "tbf", 0, 7, 0, 0, 0))
    sent = (looks[0], replace(looks[1], packets=8))
    text = "packets were sent, but none came to the delay"
    assert of(on_data(**none)) == [f"path forward: {text}"]
    assert of(on_answers(**none)) == [f"path backward: {text}"]
    assert of(on_data(delay_packets=0, delay_drops=1)) == of(on_data(delay_packets=1, delay_drops=0)) == []
    for around, is_told in ((looks, False), (sent, True), (None, False)):
        assert bool(of(on_data(**none, data_packets=0, around=around))) is is_told
        assert bool(of(on_data(**none, dropped_packets=10_000, around=around))) is is_told
    assert of(on_data(**none, dropped_packets=9_999, around=None)) == [f"path forward: {text}"]
    assert of(on_data(**none), {"rtt": "0 ms", "buffer": "20 packets"}) == []


COUNTS = {"data_packets": 10_000, "dropped_packets": 10, "queue_drops": 2, "delay_drops": 6, "delay_packets": 9_000}
SAMPLES = tuple(QueueSample(at * S, "e", 2, "2:", "tbf", at, at, 0, 0, 0) for at in range(11))


def scheduled(kernel: str = "lab", first: Any = None, second: Any = None, **changes: Any) -> list[str]:
    """What is said of a link that changes after 5 of 10 s, each state of which has half of everything."""
    trial = make_trial({"schedule": [{"at": "5 s", "rate": "10 Mbit/s"}]}, {"duration": "10 s"}, kernel=kernel)
    plan = orders(trial).plan
    seen = fine(trial, plan)
    (stage,) = seen.data_stages
    half = {name: count // 2 for name, count in COUNTS.items()}
    one, other = stage.stage.history
    intervals = (
        Interval(**{"state": one, "begin_ns": 0, "end_ns": 5 * S, "qdiscs": stage.qdiscs, "samples": SAMPLES[:6],
                    "counts": Counts(**half), **(first or {})}),
        Interval(**{"state": other, "begin_ns": 5 * S, "end_ns": 10 * S, "qdiscs": stage.qdiscs,
                    "samples": SAMPLES[6:], "counts": Counts(**half), **(second or {})}),
    )  # fmt: skip
    losses = (LossCount(one, 5_000, 5), LossCount(other, 5_000, 5))
    told = {"intervals": intervals, "losses": losses, **changes}
    answers = tuple(
        with_seen(each, delay_packets=1, stage=replace(each.stage, states=())) for each in seen.answer_stages
    )
    return said(trial, plan, replace(seen, data_stages=(replace(stage, **told),), answer_stages=answers))


def test_losses_count_the_packets_that_the_states_count_and_there_is_no_gap_between_states() -> None:
    assert scheduled() == []
    missing = ["path forward: missing: what it did in each state"]
    assert scheduled(intervals=()) == scheduled(losses=()) == missing
    other = ["path forward: the losses counted other packets than the states"]
    assert scheduled(losses=(LossCount(None, 9_999, 0),)) == other  # type: ignore[arg-type]
    assert scheduled("host", losses=(LossCount(None, 9_999, 0),)) == []  # type: ignore[arg-type]
    assert scheduled(second={"begin_ns": 5 * S + 1}) == ["path forward: there is a gap between its states"]


def policed(
    came: Any = None, dropped: Any = None, whole: Any = None, every_ns: int | None = 1, **stage: Any
) -> list[str]:
    """Of a policy with two pairs of samples, the second of which has these changes."""
    trial = replace(make_trial({"policy": {"after": "1 MB", "rate": "40 Mbit/s"}}), samples_interval_ns=every_ns)
    plan = orders(trial).plan
    seen = fine(trial, plan)
    (data,) = seen.data_stages
    assert data.stage.passed_counter
    assert data.stage.policed_counter
    one = (
        CounterSample(5, "e", data.stage.passed_counter, 10, 10_000),
        CounterSample(5, "e", data.stage.policed_counter, 3, 3_000),
    )
    other = (
        replace(one[0], **{"time_ns": 6, "packets": 11, "bytes": 11_000, **(came or {})}),
        replace(one[1], **{"time_ns": 6, "packets": 4, "bytes": 4_000, **(dropped or {})}),
    )
    told = Policed(**{"policed_packets": 4, "offered_bytes": 11_000, "policed_bytes": 4_000, "samples": (one, other),
                      **(whole or {})})  # fmt: skip
    return said(trial, plan, replace(seen, data_stages=(with_seen(data, policed=told, **stage),)))


def test_a_policy_counts_packets_with_their_bytes_and_drops_of_what_came() -> None:
    where = "path forward: "
    assert policed() == []
    assert policed(whole={"policed_bytes": 0}) == [f"{where}4 packets with 0 bytes were policed"]
    assert policed(whole={"policed_packets": 0}) == [f"{where}0 packets with 4000 bytes were policed"]
    assert policed(whole={"policed_packets": 0, "policed_bytes": 0}) == []
    assert policed(whole={"policed_bytes": 11_000}) == []
    assert policed(whole={"policed_bytes": 11_001}) == [f"{where}11001 of 11000 bytes were policed"]
    none = {"policed_packets": 0, "policed_bytes": 0, "offered_bytes": 0, "samples": ()}
    assert policed(whole=none, every_ns=None) == [f"{where}0 of 0 bytes were policed"]
    assert policed(whole=none, every_ns=None, data_packets=0) == []
    assert policed(whole={**none, "offered_bytes": 1}) == [f"{where}missing: the samples of the policy"]
    assert policed(whole={"offered_bytes": 11_001}) == []


@pytest.mark.parametrize(
    ("came", "dropped", "fault"),
    [
        ({"bytes": 10_000, "packets": 10}, {"bytes": 3_000, "packets": 3}, None),
        ({"name": "x"}, {}, "samples of x and POLICED"),
        ({}, {"name": "x"}, "samples of CAME and x"),
        ({"time_ns": 5}, {}, "samples of e at 5 ns, of e at 5"),
        ({}, {"time_ns": 5}, "samples of e at 5 ns, of e at 5"),
        ({"netns": "f"}, {}, "samples of e at 5 ns, of f at 6"),
        ({"bytes": 9_999}, {}, "CAME went backwards"),
        ({}, {"packets": 2}, "POLICED went backwards"),
        ({"bytes": 10_000}, {}, "CAME counted bytes without packets"),
        ({}, {"packets": 3}, "POLICED counted bytes without packets"),
        ({"bytes": 11_001}, {}, "the policy's samples have more bytes than came"),
    ],
)
def test_samples_of_a_policy_rise_and_are_of_its_counters(came: Any, dropped: Any, fault: str | None) -> None:
    found = policed(came, dropped)
    (stage,) = orders(make_trial({"policy": {"after": "1 MB", "rate": "40 Mbit/s"}})).plan.stages(is_data=True)
    names = {"CAME": stage.passed_counter, "POLICED": stage.policed_counter}
    for word, name in names.items():
        fault = fault and fault.replace(word, str(name))
    assert found == ([f"path forward: {fault}"] if fault else [])


def test_a_policy_is_judged_beside_links_that_have_none() -> None:
    trial = make_trial({"policy": {"after": "1 MB", "rate": "40 Mbit/s"}})
    plan = orders(trial).plan
    seen = fine(trial, plan)
    (data,) = seen.data_stages
    bad = replace(data, policed=Policed(1, 1, 0, ()))
    assert said(trial, plan, replace(seen, data_stages=(data, bad))) == [
        "path forward: 1 packets with 0 bytes were policed"
    ]


@pytest.mark.parametrize("change", [{"kind": "fq"}, {"handle": "9:"}, {"netns": "tb-c"}])
def test_a_queue_of_a_tclink_is_where_it_should_be(change: dict[str, str]) -> None:
    trial = in_mininet()
    plan = orders(trial).plan
    assert said(trial, plan, tc_evidence(trial, lambda each: each)) == []
    seen = tc_evidence(trial, lambda each: each)
    (end,) = seen.data_tc_ends
    assert end.netem is not None
    netem = replace(end.netem, **change)  # type: ignore[arg-type]
    text = f"path at a: a {netem.kind} {netem.handle} in {netem.netns} was read back"
    assert said(trial, plan, replace(seen, data_tc_ends=(replace(end, netem=netem),))) == [text]
    assert said(trial, plan, replace(seen, data_tc_ends=(replace(end, netem=None),))) == []


@pytest.mark.parametrize(
    ("data", "answers", "is_told"),
    [
        ({"loss": 1, "gap": 1}, {"gap": 2, "loss": 0}, False),
        ({"loss": 0}, {"gap": 0, "loss": 0}, True),
        ({}, {}, True),
    ],
)
def test_the_kernel_tells_the_same_numbers_of_every_tclink(
    data: Mapping[str, int], answers: Mapping[str, int], is_told: bool
) -> None:
    trial = in_mininet()
    seen = tc_evidence(trial, lambda each: each)
    ends = [
        tuple(replace(each, netem=each.netem and replace(each.netem, more=more), netem_after=None) for each in found)
        for found, more in ((seen.data_tc_ends, data), (seen.answer_tc_ends, answers))
    ]
    found = said(trial, orders(trial).plan, replace(seen, data_tc_ends=ends[0], answer_tc_ends=ends[1]))
    assert found == (["not every TCLink has all numbers of its netem"] if is_told else [])


PORT = dict.fromkeys(PORT_KEYS, 0)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"ports": {"1": PORT, "2": PORT}}, None),
        ({"ports": {"1": PORT, "2": {"rx_packets": 0}}}, f"missing: {', '.join(PORT_KEYS[1:])} of port 2"),
        ({"ports": {"3": {**PORT, "rx_packets": 1}}}, "port 3 counts packets without bytes"),
        ({"ports": {"3": {**PORT, "rx_bytes": 1}}}, "port 3 counts packets without bytes"),
        ({"ports": {"3": {**PORT, "tx_packets": 1}}}, "port 3 counts packets without bytes"),
        ({"ports": {"3": {**PORT, "tx_packets": 1, "tx_bytes": 60}}}, None),
        ({"ports": {"3": {**PORT, "rx_errors": -1}}}, "port 3 counted backwards"),
        ({"ports": {"1": {**PORT, "rx_packets": 120, "rx_bytes": 9}}, "hit_packets": 30, "missed_packets": 20}, None),
        (
            {"ports": {"1": {**PORT, "rx_packets": 120, "rx_bytes": 9}}, "hit_packets": 29, "missed_packets": 20},
            "its ports received 120 packets, its datapath 49",
        ),
        ({"ports": {"1": PORT}, "hit_packets": 0, "missed_packets": 0}, None),
        ({"version": "beta"}, "its version is beta"),
        ({"version": "v3"}, "its version is v3"),
        ({"version": ""}, None),
    ],
)
def test_packets_of_a_switch_have_bytes_and_are_looked_up(changes: dict[str, Any], fault: str | None) -> None:
    found = of(top(openflow=OpenFlowEvidence({"r": SWITCH, "s": replace(SWITCH, **changes)})))
    assert found == ([f"the Open vSwitch s: {fault}"] if fault else [])


EVENTS = "the events are not in the order of time"
ROW = {"port": 1, **PORT}
ANSWER = {"time_ns": 5, "switch": "s", "dpid": 1, "ports": [ROW]}


@pytest.mark.parametrize(
    ("events", "answers", "fault"),
    [
        ([{"time_ns": 1, "kind": "note"}, {"time_ns": 1, "kind": "note"}], [ANSWER, ANSWER], None),
        ([{"time_ns": 2, "kind": "note"}, {"time_ns": 1, "kind": "note"}], [], EVENTS),
        ([{"time_ns": 0, "kind": "note"}], [], EVENTS),
        ([{"time_ns": 1.0, "kind": "note"}], [], EVENTS),
        ([{"kind": "note"}], [], EVENTS),
        ([], [ANSWER, {**ANSWER, "time_ns": 4}], "the answers are not in the order of time"),
        ([{"time_ns": 1, "kind": ""}], [], "an event is of no kind"),
        ([{"time_ns": 1, "kind": 1}], [], "an event is of no kind"),
        ([{"time_ns": 1}], [], "an event is of no kind"),
        ([], [{**ANSWER, "switch": "t"}], "an answer of the switch t"),
        ([], [{**ANSWER, "dpid": 0}], "an answer of the switch s"),
        ([], [{**ANSWER, "dpid": "1"}], "an answer of the switch s"),
        ([], [{**ANSWER, "dpid": True}], "an answer of the switch s"),
        ([], [{**ANSWER, "ports": []}], "an answer without ports"),
        ([], [{key: each for key, each in ANSWER.items() if key != "ports"}], None),
        ([], [{**ANSWER, "ports": [ROW, {**ROW, "tx_errors": 10**15 - 1}]}], None),
        ([], [{**ANSWER, "ports": [ROW, {**ROW, "tx_errors": 10**15}]}],
         f"an answer about a port says {[1, 0, 0, 0, 0, 0, 0, 0, 10**15]}"),
        ([], [{**ANSWER, "ports": [{**ROW, "rx_packets": -1}]}], f"an answer about a port says {[1, -1, *[0] * 7]}"),
        ([], [{**ANSWER, "ports": [PORT]}], f"an answer about a port says {[None, *[0] * 8]}"),
        ([], [{**ANSWER, "ports": [{**ROW, "port": 0}]}], None),
    ],
)  # fmt: skip
def test_what_a_controller_wrote_is_in_order_and_about_its_switches(
    events: list[Any], answers: list[Any], fault: str | None
) -> None:
    controllers = (
        ControllerEvidence("d", (), {}, ()),
        ControllerEvidence("c", tuple(events), {}, tuple(answers)),
    )
    found = of(top(openflow=OpenFlowEvidence({"s": SWITCH}, controllers)))
    assert found == ([f"the controller c: {fault}"] if fault else [])


def kept(change: Any) -> list[str]:
    trial = make_trial()
    plan = orders(trial).plan
    found = list(links.kept(Case(trial, plan, change(fine(trial, plan)))))
    assert {(each.check, each.verdict) for each in found} <= {("set-up", "invalid")}
    hint = "somebody set it up again while the workload ran, or what was read back is not whole"
    assert {each.hint for each in found} <= {hint}
    return [each.text for each in found]


def test_what_nobody_changes_is_read_back_the_same() -> None:
    def later(handle: str, **changes: Any) -> Any:
        def change(e: Evidence) -> Evidence:
            now = e.data_stages[0].qdiscs
            return on_data(qdiscs_after={**now, handle: replace(now[handle], **changes)})(e)

        return change

    assert kept(lambda e: e) == []
    for handle in ("1:", "2:"):
        assert kept(later(handle, device=7)) == [f"path forward: the queue {handle} was not the same all the time"]
    two = later("1:", device=7)
    assert kept(lambda e: on_answers(qdiscs_after={})(two(e))) == []  # it is not as asked, which says all
    dropped = "path forward: the queue 3: was not the same all the time"
    for name in ("qdiscs", "qdiscs_after"):
        assert kept(lambda e, name=name: on_data(**{name: {
            key: each for key, each in e.data_stages[0].qdiscs.items() if key != "3:"
        }})(e)) == [dropped]  # fmt: skip


def through_states(handle: str, middle: Any = None, last: Any = None) -> list[str]:
    """What is said of a link whose queues stay as they are while its loss changes twice, but for a queue's changes."""
    losses = [{"at": "3 s", "loss": "1 in 10"}, {"at": "6 s", "loss": "none"}]
    trial = make_trial({"schedule": losses}, {"duration": "10 s"})
    plan = orders(trial).plan
    seen = fine(trial, plan)
    (stage,) = seen.data_stages
    queues = [{**stage.qdiscs, handle: replace(stage.qdiscs[handle], **(each or {}))} for each in (None, middle, last)]
    states = zip(stage.stage.history, queues, strict=True)
    intervals = tuple(Interval(state, 0, 1, found, (), Counts()) for state, found in states)
    found = list(links.kept(Case(trial, plan, replace(seen, data_stages=(replace(stage, intervals=intervals),)))))
    return [each.text for each in found]


@pytest.mark.parametrize(
    ("handle", "changes", "is_other"),
    [
        ("2:", {}, False),
        ("2:", {"limit": 5, "rate_bps": 5}, False),
        ("1:", {"limit": 5, "delay_ns": 5, "jitter_ns": 5}, False),
        *(("2:", change, True) for change in ({"netns": "x"}, {"device": 7}, {"handle": "9:"}, {"kind": "fq"},
                                              {"parent": "1:9"}, {"limit": None}, {"rate_bps": None})),
        *(("1:", {name: None}, True) for name in ("limit", "delay_ns", "jitter_ns")),
    ],
)  # fmt: skip
def test_through_a_schedule_a_queue_changes_its_values_but_stays_the_same(
    handle: str, changes: Any, is_other: bool
) -> None:
    found = through_states(handle, changes)
    assert found == ([f"path forward: the queue {handle} became another one"] if is_other else [])


@pytest.mark.parametrize("name", sorted(links.ALWAYS))
def test_a_number_that_the_kernel_always_tells_is_always_there(name: str) -> None:
    trial = make_trial({"schedule": [{"at": "3 s", "loss": "1 in 10"}]}, {"duration": "10 s"})
    (stage,) = fine(trial, orders(trial).plan).data_stages
    own = stage.qdiscs["1:"].more
    assert through_states("1:", {"more": {**own, "other": 1}}) == []
    other = {key: each for key, each in own.items() if key != name} if name in own else {**own, name: 1}
    assert through_states("1:", {"more": other}) == ["path forward: the queue 1: became another one"]


def test_after_the_last_change_a_queue_stays_as_it_was() -> None:
    differs = ["path forward: the queue 2: was not the same all the time"]
    assert through_states("2:", last={"limit": 5}) == differs


def test_copies_that_came_stand_for_no_segment_that_is_missing() -> None:
    trial = make_trial({"duplicate": "1 in 100"})
    plan = orders(trial).plan
    faults = (FaultCount("duplicate", plan.emulators[0].forward.start, 8000, 80),)
    for arrived, is_whole in ((8080, True), (8000, False)):
        seen = on_data(faults=faults, queue_drops=0, waiting_packets=1)(fine(trial, plan))
        assert outcome(sent_segments=8000, arrived_segments=arrived)(seen).has_all_segments is is_whole
