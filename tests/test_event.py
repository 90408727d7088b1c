"""Events of schedules: which state a sender is in, what is refused, what is planned, and what the gate says."""

from __future__ import annotations

import json
import re
import socket
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from patience import wait_for
from trials import make_trial, steps_data

from testbed.agent import event as agent
from testbed.error import SpecError, UserError
from testbed.kernel.image.feature import OTHER_NAMES
from testbed.model.event import STATES, When, phases
from testbed.model.run_setting import Kernel
from testbed.model.schedule import Change, course, placed
from testbed.model.workload.control import OF_LINUX
from testbed.plan.step import Timeline, step_of
from testbed.spec.load import load_scenario
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.interval import Timeline as Log
from testbed.trial.evidence.outcome import Outcome
from testbed.trial.evidence.stage import Evidence
from testbed.trial.orders.sequence import orders, with_events
from testbed.trial.subject import event

S = 10**9
RECOVERY = {"when": {"state": "recovery"}, "after": "1 s", "for": "2 s", "rate": "5 Mbit/s"}
START_NS = 3 * S


def told(
    ca_state: int,
    *,
    port: int = 5001,
    gains: tuple[int, int] | None = None,
    cwnd: int = 10,
    more: int = 0,
    sent: int = 9,
    tcp: int = 1,
) -> str:
    """What the kernel would say of a sender: struct inet_diag_msg, TCP_INFO, and BBR's numbers."""
    info = bytearray(248)
    info[0], info[1] = 1, ca_state
    struct.pack_into("=II", info, 76, 20, cwnd)
    struct.pack_into("=I", info, 156, sent)
    found = struct.pack("=BBBB", 2, tcp, 0, 0) + struct.pack("!HH", 40000, port) + bytes(64)
    for number, data in ((2, bytes(info)), (16, None if gains is None else struct.pack("=5I", 1, 0, 9, *gains))):
        if data is not None:
            data += bytes(more) if number == 16 else b""
            found += struct.pack("=HH", 4 + len(data), number) + data
    return found.hex()


def state_by_agent(said: str) -> tuple[str, tuple[str, ...]]:
    return agent.state_of(agent.attributes(bytes.fromhex(said)[agent.MESSAGE_BYTES :]))


@pytest.mark.parametrize(
    ("gains", "found"),
    [
        ((739, 739), ("startup",)),
        ((88, 739), ("drain",)),
        ((320, 512), ("probe_bw", "probe_up")),
        ((192, 512), ("probe_bw", "probe_down")),
        ((256, 512), ("probe_bw",)),
        ((256, 256), ("probe_rtt",)),
        ((0, 0), ()),
        ((340, 512), ("probe_bw", "probe_up")),
        ((710, 512), ("startup",)),
        ((88, 512), ("drain",)),
        ((320, 576), ("probe_bw", "probe_up")),
        ((232, 512), ("probe_bw", "probe_down")),
        ((256, 128), ("probe_rtt",)),
        (None, ("slow_start",)),
    ],
)
def test_the_agent_and_the_gate_find_the_same_phase(gains: tuple[int, int] | None, found: tuple[str, ...]) -> None:
    assert phases(10, 20, gains) == found
    for number, state in enumerate(STATES):
        assert state_by_agent(told(number, gains=gains)) == (state, found)


def test_at_its_threshold_a_window_avoids_congestion_and_a_bbr_that_tells_more_has_the_same_phases() -> None:
    assert phases(20, 20, None) == ("avoidance",)
    assert state_by_agent(told(0, cwnd=20)) == ("open", ("avoidance",))
    assert state_by_agent(told(0, gains=(320, 512), more=32)) == ("open", ("probe_bw", "probe_up"))


def test_any_state_of_a_list_will_do_and_a_state_and_a_phase_must_both_hold() -> None:
    assert When(states=("recovery", "loss")).holds("loss", ())
    assert not When(states=("recovery",)).holds("open", ("probe_up",))
    both = When(states=("recovery",), phases=("probe_up", "startup"))
    assert both.holds("recovery", ("probe_bw", "probe_up"))
    assert not both.holds("recovery", ("probe_bw",))


@pytest.mark.parametrize("alone", [True, False])
def test_a_flow_that_is_over_is_in_no_state(alone: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
        senders = agent.Senders(4, server.getsockname()[1], alone=alone)
        with server.accept()[0] as other, senders.socket:
            assert list(senders.look()) == []
            client.sendall(b"x")
            other.recv(1)
            assert len(list(senders.look())) == len(list(senders.look())) == 1
            client.shutdown(socket.SHUT_WR)
            assert other.recv(1) == b""
            wait_for(lambda: not list(senders.look()), "the end of the flow")  # the FIN is acknowledged late


def scenario(folder: Path, schedule: list[Any], **more: Any) -> Path:
    file = folder / "s.yaml"
    path = {"ends": ["a", "b"], "rate": "10 Mbit/s", "rtt": "40 ms", "schedule": schedule, **more.pop("path", {})}
    said = {
        "name": "s",
        "topology": {"name": "t", "nodes": {"a": {"type": "host"}, "b": {"type": "host"}}, "links": {"path": path}},
        "workload": {"tool": "flow", "from": "a", "to": "b", "duration": "5 s"},
        **more,
    }
    file.write_text(json.dumps(said))
    return file


RULE = {"metric": "rtt", "most": "1 s", "between": ["1 s", "2 s"], "since": "path"}


@pytest.mark.parametrize(
    ("schedule", "more", "what"),
    [
        ([{"when": {"flow": 0}, "rate": "1 Mbit/s"}], {}, "any state would do"),
        ([{"when": {"phase": "probing"}, "rate": "1 Mbit/s"}], {}, "'probing' is not known"),
        ([{"when": {"state": "open", "flow": 200}, "rate": "1 Mbit/s"}], {}, "'200' is no flow"),
        ([{**RECOVERY, "at": "1 s"}], {}, "it begins at a time, and at an event"),
        ([{"rate": "1 Mbit/s"}], {}, "nothing says when it begins"),
        ([{"at": "1 s", "after": "1 s", "rate": "1 Mbit/s"}], {}, "it begins at a time"),
        ([{**RECOVERY, "every": "5 s"}], {}, "an event comes when the flow does"),
        ([RECOVERY, {"at": "4 s", "rate": "1 Mbit/s"}], {}, "nobody knows which comes first"),
        ([RECOVERY], {"path": {"down": {"from": "4 s", "for": "1 s"}}}, "nobody knows which comes first"),
        ([{**RECOVERY, "loss": {"every": 9, "phase": "seeded"}}], {}, "a seeded phase is drawn for the time"),
        ([{**RECOVERY, "corrupt": {"every": 9, "phase": "seeded"}}], {}, "a seeded phase is drawn for the time"),
        (
            [{"at": "1 s", "rate": "1 Mbit/s"}],
            {"expect": [{"name": "r", "measure": RULE}]},
            "the schedule of no link has this event: path",
        ),
        (
            [RECOVERY],
            {"expect": [{"name": "r", "measure": {**RULE, "since": "path 2"}}]},
            "no link has this event: path 2; allowed: path 1",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, schedule: list[dict[str, Any]], more: dict[str, Any], what: str
) -> None:
    with pytest.raises(SpecError) as refused:
        load_scenario(scenario(tmp_path, schedule, **more))
    assert what in str(refused.value)


@pytest.mark.parametrize(
    ("schedule", "changes", "what"),
    [
        ([RECOVERY], {"kernel": "lab-realtime"}, "in real time a sender that is looked at"),
        ([{**RECOVERY, "when": {"flow": 1, "state": "loss"}}], {}, "the workload has no flow 1; allowed: 0"),
        ([{**RECOVERY, "when": {"flow": "web", "state": "loss"}}], {}, "no background of TCP has the name 'web'"),
        (
            [RECOVERY],
            {"workload": {"tool": "iperf3", "duration": "5 s"}},
            "no flow of tool: iperf3 has a number; allowed: tool: flow",
        ),
    ],
)
def test_what_nobody_could_see_is_refused(schedule: list[dict[str, Any]], changes: dict[str, Any], what: str) -> None:
    with pytest.raises(UserError) as refused:
        orders(make_trial(path={"schedule": schedule}, **changes))
    assert what in str(refused.value)


TOPOLOGY = """name: t
nodes:
  a: {type: host}
  b: {type: host}
links:
  path:
    ends: [a, b]
    rate: 10 Mbit/s
    rtt: 40 ms
    schedule: SCHEDULE
"""
SCENARIO = """name: s
topology: t.yaml
workload: {tool: flow, from: a, to: b, duration: 5 s}
"""
WHEN = "\n      - when: {state: loss, FLOW}\n        after: AFTER\n        rate: 1 Mbit/s"
AT = "\n      - {at: 2 s, rate: 5 Mbit/s}\n      - at: AFTER\n        rate: 1 Mbit/s"


def refusals(folder: Path, schedule: str, scenario: str = SCENARIO, settings: tuple[str, ...] = ()) -> list[str]:
    """What is wrong with a scenario whose topology is a file of its own."""
    (folder / "t.yaml").write_text(TOPOLOGY.replace("SCHEDULE", schedule))
    (folder / "s.yaml").write_text(scenario)
    try:
        load_scenario(folder / "s.yaml", settings)
    except SpecError as refused:
        return [str(each).replace(f"{folder}/", "") for each in refused.problems]
    return []


@pytest.mark.parametrize(
    ("flow", "scenario", "said"),
    [
        ("flow: 1", SCENARIO, "t.yaml:11: flow: the workload has no flow 1; allowed: 0"),
        ("flow: web", SCENARIO, "t.yaml:11: flow: no background of TCP has the name 'web'; allowed: a number, from 0"),
        (
            "flow: 0",
            SCENARIO.replace("flow,", "iperf3,"),
            "t.yaml:11: flow: no flow of tool: iperf3 has a number; allowed: tool: flow",
        ),
        (
            "occurrence: 1",
            SCENARIO.replace("flow,", "iperf3,"),
            "t.yaml:11: when: no flow of tool: iperf3 has a number; allowed: tool: flow",
        ),
        (
            "flow: 2",
            SCENARIO + "sweep: {flows: [2, 4]}\n",
            "t.yaml:11: flow: the workload has no flow 2 (with flows = 2); allowed: 0 to 1",
        ),
        (
            "flow: 0",
            SCENARIO + "kernel: lab-realtime\n",
            "t.yaml:11: when: in real time a sender that is looked at every millisecond is slower "
            "(kernel: lab-realtime); allowed: kernel: lab, or a change at a time",
        ),
    ],
)
def test_a_flow_that_no_event_can_be_about_is_refused_with_its_line(
    tmp_path: Path, flow: str, scenario: str, said: str
) -> None:
    schedule = WHEN.replace("FLOW", flow).replace("AFTER", "1 s")
    assert refusals(tmp_path, schedule, scenario) == [said]
    assert refusals(tmp_path, schedule.replace(flow, "flow: 0")) == []


PROBES = "\n      - rate: 1 Mbit/s\n        when:\n          phase: probe_up"
OF_CUBIC = "slow_start, avoidance; in a list with one of them, others too"


def test_a_phase_that_a_control_of_linux_does_not_have_is_refused_with_its_line(tmp_path: Path) -> None:
    swept = f"{SCENARIO}sweep: {{congestion: [bbr, cubic]}}\n"
    never = f"t.yaml:13: phase: cubic is never in probe_up (with congestion = cubic); allowed: {OF_CUBIC}"
    assert refusals(tmp_path, PROBES, swept) == [never]
    assert refusals(tmp_path, PROBES.replace("probe_up", "[probe_up, avoidance]"), swept) == []
    (other,) = refusals(tmp_path, PROBES.replace("probe_up", "avoidance"), swept)
    assert "phase: bbr is never in avoidance (with congestion = bbr); allowed: startup, drain, probe_bw," in other
    assert refusals(tmp_path, PROBES.replace("phase: probe_up", "state: loss"), swept) == []


def test_the_controls_of_linux_are_those_of_our_kernels() -> None:
    config = (Path(__file__).parents[1] / "kernel" / "config").read_text()
    built = {name.lower() for name in re.findall(r"^CONFIG_TCP_CONG_(\w+)=y$", config, re.MULTILINE)} - {"advanced"}
    assert {OTHER_NAMES.get(name, name) for name in built} | {"reno"} == OF_LINUX


def test_of_several_flows_the_phase_is_of_the_one_that_is_waited_for(tmp_path: Path) -> None:
    both = SCENARIO.replace("flow,", "flow, flows: 2, congestion: [cubic, bbr],")
    assert "phase: cubic is never in probe_up" in refusals(tmp_path, PROBES, both)[0]
    assert refusals(tmp_path, f"{PROBES}\n          flow: 1", both) == []
    web = "background: {web: {pattern: on-off, from: a, to: b, busy: 1 s, idle: 1 s, congestion: CONTROL}}\n"
    of_web = f"{PROBES}\n          flow: web"
    (other,) = refusals(tmp_path, of_web, SCENARIO + web.replace("CONTROL", "reno"))
    assert "phase: reno is never in probe_up" in other
    assert refusals(tmp_path, of_web, SCENARIO + web.replace("CONTROL", "bbr")) == []


def test_a_control_or_a_kernel_of_ones_own_may_have_any_phase(tmp_path: Path) -> None:
    assert refusals(tmp_path, PROBES, SCENARIO.replace("flow,", "flow, congestion: mine,")) == []
    assert refusals(tmp_path, PROBES, f"{SCENARIO}kernel: {{lab: mine}}\n") == []
    trial = make_trial(path={"schedule": [{"when": {"phase": "probe_up"}, "rate": "1 Mbit/s"}]})
    with pytest.raises(UserError, match="link path: flow 0 is in probe_up: cubic is never in probe_up"):
        orders(trial)
    assert orders(replace(trial, kernel=Kernel("lab", "mine"))).plan.events


def test_the_line_is_that_of_the_axis_or_the_option_that_sets_the_schedule(tmp_path: Path) -> None:
    entry = "{when: {flow: 3, state: loss}, rate: 1 Mbit/s}"
    swept = f"{SCENARIO}sweep:\n  path.schedule:\n    - none\n    - [{entry}]\n"
    said = "flow: the workload has no flow 3; allowed: 0"
    assert refusals(tmp_path, "none", swept) == [f"s.yaml:7: {said}"]
    (one,) = refusals(tmp_path, "none", settings=(f"path.schedule=[[{entry}]]",))
    assert one == f"--set path.schedule=[[{entry}]]: {said}"
    inline = scenario(tmp_path, [{"when": {"flow": 3, "state": "loss"}, "rate": "1 Mbit/s"}])
    with pytest.raises(SpecError, match=rf"s\.yaml:1: {said}"):
        load_scenario(inline)


def test_of_several_topologies_the_file_is_named_whose_schedule_it_is(tmp_path: Path) -> None:
    swept = SCENARIO.replace("topology: t.yaml\n", "") + "sweep: {topology: [t.yaml, u.yaml], flows: [1, 2]}\n"
    bad = WHEN.replace("FLOW", "flow: 1").replace("AFTER", "1 s")
    (tmp_path / "u.yaml").write_text(TOPOLOGY.replace("name: t", "name: u").replace("SCHEDULE", "none"))
    said = "t.yaml:11: flow: the workload has no flow 1 (with flows = 1); allowed: 0"
    assert refusals(tmp_path, bad, swept) == [said]


def test_what_begins_when_the_workload_is_over_is_refused_with_its_line(tmp_path: Path) -> None:
    never = "the workload is over after 5 s, so this never comes; allowed: less than 5 s"
    late, soon = WHEN.replace("AFTER", "5 s"), WHEN.replace("AFTER", "4999 ms")
    assert refusals(tmp_path, late.replace("FLOW", "flow: 0")) == [f"t.yaml:12: after: {never}"]
    assert refusals(tmp_path, soon.replace("FLOW", "flow: 0")) == []
    assert refusals(tmp_path, AT.replace("AFTER", "6 s")) == [], "a network may be for longer workloads, too"
    by_bytes = SCENARIO.replace("duration: 5 s", "bytes: 1 GB")
    assert refusals(tmp_path, late.replace("FLOW", "flow: 0"), by_bytes) == [], "nobody knows when it ends"


def test_an_event_must_come_in_every_trial(tmp_path: Path) -> None:
    swept = SCENARIO.replace("duration: 5 s", "duration: 9 s") + "sweep: {duration: [5 s, 9 s]}\n"
    late = WHEN.replace("AFTER", "7 s").replace("FLOW", "flow: 0")
    never = "the workload is over after 5 s, so this never comes (with duration = 5 s); allowed: less than 5 s"
    assert refusals(tmp_path, late, swept) == [f"t.yaml:12: after: {never}"]
    soon = WHEN.replace("AFTER", "4 s").replace("FLOW", "flow: 0")
    assert "never comes (with duration = 3 s)" in refusals(tmp_path, soon, settings=("duration=3 s",))[0]


def test_a_schedule_of_events_is_written_as_it_is_read(tmp_path: Path) -> None:
    schedule = [RECOVERY, {"when": {"flow": "web", "phase": ["drain", "avoidance"], "occurrence": 2}, "down": True}]
    web = {
        "web": {
            "pattern": "heavy-tailed",
            "from": "a",
            "to": "b",
            "arrivals": "20 /s",
            "size": {"mean": "20 kB", "shape": "1.3"},
        }
    }
    (cell,) = load_scenario(scenario(tmp_path, schedule, background=web)).cells
    again = make_trial(path={"schedule": schedule}).topology.links[0].schedule
    assert [each.when for each in cell.topology.links[0].schedule] == [each.when for each in again]
    assert again[1].when == When("web", phases=("drain", "avoidance"), occurrence=2)


def asked(*events: dict[str, Any]) -> Any:
    return make_trial(path={"rate": "10 Mbit/s", "schedule": list(events or (RECOVERY,))}, workload={"duration": "5 s"})


SECOND = {"when": {"phase": "avoidance"}, "loss": "1 in 100", "rate": "20 Mbit/s"}


def test_the_plan_knows_the_states_and_only_the_times_are_told_later() -> None:
    trial = asked(RECOVERY, SECOND)
    made, resolved = orders(trial), orders(trial, {"path": {0: 2 * S, 1: 5 * S}})
    assert not made.plan.timeline
    first, second = made.plan.events
    assert [moment.commands for moment in resolved.plan.timeline] == [first.commands, first.ending, second.commands]
    assert [moment.at_ns for moment in resolved.plan.timeline] == [2 * S, 4 * S, 5 * S]
    assert made.observed == resolved.observed
    assert made.changed == resolved.changed
    for before, after in zip(made.plan.emulators, resolved.plan.emulators, strict=True):
        for stages in zip(before.stages, after.stages, strict=True):
            told = [[replace(state, at_ns=0) for state in stage.history] for stage in stages]
            assert told[0] == told[1]


def test_an_event_that_changes_nothing_is_a_moment_too() -> None:
    trial = asked({"when": {"state": "recovery"}, "for": "2 s", "rate": "10 Mbit/s"})
    assert "(nothing changes)" in orders(trial).script
    resolved = orders(trial, {"path": {0: 1 * S}})
    assert [(moment.at_ns, moment.commands) for moment in resolved.plan.timeline] == [(S, ()), (3 * S, ())]


def test_what_did_not_come_is_planned_behind_the_end_so_that_the_network_is_the_one_that_was_set_up() -> None:
    trial = asked(RECOVERY, SECOND)
    resolved = orders(trial, {}).plan
    assert [len(stage.history) for stage in resolved.emulators[0].stages] == [4, 4]
    assert all(moment.at_ns > 5 * S for moment in resolved.timeline)
    ends_late = orders(trial, {"path": {0: resolved.until_ns - 1000}}).plan
    assert [len(stage.history) for stage in ends_late.emulators[0].stages] == [4, 4]


def test_the_states_of_a_link_do_not_depend_on_when_they_come() -> None:
    rate = [Change(0, None, 7 * S, forward=(("rate_bps", n),), when=When(states=("loss",))) for n in (1, 2, 3)]
    start = orders(asked()).plan.emulators[0].forward.asked
    sequences = [
        [now.rate_bps for _, now in course(start, placed(rate, came, 100 * S), "forward", True, 100 * S)]
        for came in (None, {}, {0: S}, {0: S, 1: 9 * S}, {0: 90 * S, 1: 98 * S})
    ]
    assert all(each == sequences[0] for each in sequences)


def test_the_steps_of_events_come_back_from_json() -> None:
    (timeline,) = [step for step in orders(asked(RECOVERY, SECOND)).steps if isinstance(step, Timeline)]
    assert timeline.events
    (data,) = steps_data((timeline,))
    assert step_of(json.loads(json.dumps(data))) == timeline
    assert "events" not in steps_data(orders(make_trial()).steps)[-1]


# ----- the gate


def judged(tmp_path: Path, lines: list[dict[str, Any]], *events: dict[str, Any]) -> tuple[list[str], Any, Case]:
    trial = asked(*events)
    made = orders(trial)
    folder = tmp_path
    (folder / "timeline.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in [{"start_ns": START_NS}, *lines])
    )
    made = with_events(trial, made, folder)

    seen = event.read(trial, made.plan, folder)
    evidence = Evidence(
        (),
        (),
        Outcome(START_NS, None, START_NS + 5 * S, 1.0, None, ()),
        (),
        {},
        timeline=Log(START_NS, START_NS + 5 * S, {}),
    )
    case = Case(trial, made.plan, evidence)
    found = [*event.missing(case, seen), *(each.text for each in event.check(case, seen) if each.verdict != "valid")]
    return found, event.result(case, seen), case


def came(at_ns: int, said: str, place: int = 0, late_ns: int = 0, occurrence: int = 1) -> dict[str, Any]:
    note = {"link": "path", "place": place, "occurrence": occurrence, "told": said}
    note["look_ns"] = START_NS + at_ns + late_ns
    return {"at_ns": at_ns, "begin_ns": 1, "done_ns": 1, "end_ns": 1, "events": [note]}


def ended(at_ns: int, place: int = 0) -> dict[str, Any]:
    return {
        "at_ns": at_ns,
        "begin_ns": 1,
        "done_ns": 1,
        "end_ns": 1,
        "events": [{"link": "path", "place": place, "ended": True}],
    }


def test_an_event_that_came_as_asked_is_fine_and_told(tmp_path: Path) -> None:
    found, (result,), case = judged(tmp_path, [came(2 * S, told(3)), ended(4 * S), {"waiting": []}])
    assert found == []
    assert (result.at_s, result.until_s, result.state, result.phase) == (2, 4, "recovery", "slow_start")
    assert [state.at_ns for state in case.plan.emulators[0].forward.history] == [0, 2 * S, 4 * S]


WAITING = {"link": "path", "place": 0, "seen": {"open slow_start": 7, "open avoidance": 9}}


def test_an_event_that_never_came_is_never_a_pass(tmp_path: Path) -> None:
    found, (result, later), _ = judged(
        tmp_path, [{"waiting": [WAITING, {**WAITING, "place": 1, "seen": {}}]}], RECOVERY, SECOND
    )
    assert found == [
        "path: the change when flow 0 is in recovery never came",
        "path: the change when flow 0 is in avoidance never came",
    ]
    assert result.at_s is None
    assert later.state is None


def test_an_event_of_which_nothing_is_known_is_missing(tmp_path: Path) -> None:
    assert judged(tmp_path, [{"waiting": []}])[0] == ["what became of the event 1 of path"]
    assert judged(tmp_path, [])[0] == ["what became of the event 1 of path"]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ([came(2 * S, told(0)), ended(4 * S)], "it came when the sender was in open"),
        ([came(2 * S, told(3, port=5002)), ended(4 * S)], "sends to port 5002"),
        ([came(2 * S, told(3, sent=0)), ended(4 * S)], "before the sender had sent anything"),
        ([came(2 * S, told(3), occurrence=2), ended(4 * S)], "it came at time 2 of this state, asked was time 1"),
        ([came(2 * S, told(3, tcp=5)), ended(4 * S)], "when the flow was over"),
        ([came(S - 1_000_000, told(3)), ended(3 * S - 1_000_000)], "which is no time for it"),
        ([came(2 * S + 1, told(3)), ended(4 * S + 1)], "which is no time for it"),
        ([came(2 * S, told(3), late_ns=1_000_001), ended(4 * S)], "the sender was looked at"),
        ([came(2 * S, told(3), late_ns=-1), ended(4 * S)], "the sender was looked at"),
        ([came(2 * S, told(3)), ended(3 * S)], "which is not its time"),
        ([came(2 * S, told(3)), ended(4 * S), came(5 * S, told(3), place=1)], "an event came that nobody asked for"),
    ],
)
def test_an_event_that_came_otherwise_is_invalid(tmp_path: Path, lines: list[dict[str, Any]], what: str) -> None:
    found, _, _ = judged(tmp_path, [*lines, {"waiting": []}])
    assert any(what in each for each in found), found


def test_events_of_a_link_come_in_their_turn(tmp_path: Path) -> None:
    second = came(3 * S, told(0, cwnd=30), place=1)
    found, _, _ = judged(tmp_path, [came(2 * S, told(3)), second, ended(4 * S), {"waiting": []}], RECOVERY, SECOND)
    assert any("the event 2 came at 3 s, out of its turn" in each for each in found)
