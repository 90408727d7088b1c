"""The change exercise of docs/extending.md: a workload tool from outside, from its keys to the report. The code is that
of the page.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType

import jsonschema
import pytest
from test_extending_node import type_errors
from trials import Ran, RunTrial, make_trial, seen_evidence, seen_stage, whole, with_seen

from testbed import cli, package
from testbed.analysis.condition import conditions
from testbed.error import MachineError, SpecError
from testbed.kernel.guest import Ending, TrialError
from testbed.model.scenario import Trial
from testbed.model.workload import BUILT_IN
from testbed.model.workload import tool as files
from testbed.spec.json_schema import schema
from testbed.spec.load import load_scenario
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.sweep.forecast import work
from testbed.sweep.store import Store
from testbed.trial import readiness, ready_kernel
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.stage import Evidence
from testbed.trial.folder import HOST, RESULT, TRIAL, write_json
from testbed.trial.gate.judge import judge
from testbed.trial.measured import PingResult
from testbed.trial.orders.sequence import orders
from testbed.trial.result import SCHEMA
from testbed.trial.subject.capture import data_stream
from testbed.trial.summary import result
from testbed.trial.workload import registry as tools

ROOT = Path(__file__).parents[1]
SECTION = (ROOT / "docs" / "extending.md").read_text().partition("\n## A workload tool\n")[2].partition("\n## ")[0]
PARTS = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
"""Of the page: the tool's class with its keys, its steps and reading."""
CODE = "\n\n".join(PARTS)
BEACON = {"tool": "beacon", "count": 4}
SENT = "1000000000\n1100000000\n1200000000\n1300000000\n"


@pytest.fixture(autouse=True)
def beacon(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The page's code as a module of somebody else's, registered as the page says."""
    module = ModuleType("beacon")
    monkeypatch.setitem(sys.modules, "beacon", module)
    exec(compile(CODE, "docs/extending.md", "exec"), module.__dict__)
    files.register(module.BeaconWorkload)
    tools.register(module.TOOL)
    yield module
    del files.TOOLS["beacon"], tools.TOOLS["beacon"]


def scenario(folder: Path, workload: str, more: str = "") -> Path:
    path = folder / "beacon.yaml"
    path.write_text(
        "name: beacon\n"
        "topology:\n"
        "  name: net\n"
        "  nodes: {a: {type: host}, b: {type: host}}\n"
        "  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 10 ms}}\n"
        f"workload: {workload}\n{more}"
    )
    return path


def output(folder: Path, arrived: int) -> Path:
    (folder / "beacon-sent.out").write_text(SENT)
    (folder / "beacon-arrived.out").write_text("1\n" * arrived)
    return folder


def evidence(trial: Trial, folder: Path, dropped: int = 0) -> Evidence:
    """What is seen when everything goes as it was asked, and the output of 4 datagrams of which `dropped` got lost."""
    planned = orders(trial).plan
    rtt_s = planned.rtt_ns / 1e9
    stages = [
        tuple(
            seen_stage(stage, data_packets=packets, dropped_packets=dropped, delay_packets=packets) for stage in found
        )
        for found, packets in ((planned.stages(is_data=True), 4), (planned.stages(is_data=False), 0))
    ]
    seen = seen_evidence(
        rtt_check=PingResult(5, 5, rtt_s, rtt_s, rtt_s, 0.0),
        data_stages=stages[0],
        answer_stages=stages[1],
        outcome=tools.read(trial.workload, output(folder, 4 - dropped)),
        tcp=(),
        host_counters={},
        device_drops={},
        cpu_busy=None,
        captures_dropped=0,
    )
    return whole(trial, planned, seen)


def test_its_keys_become_a_value_and_back(beacon: ModuleType, tmp_path: Path) -> None:
    found = load_scenario(scenario(tmp_path, "{tool: beacon, from: a, to: b, count: 4, interval: 20 ms}"))
    (trial,) = found.trials()
    assert trial.workload == beacon.BeaconWorkload("a", "b", 4, 20_000_000)
    assert trial_data(trial)["workload"] == {"tool": "beacon", "from": "a", "to": "b", "count": 4, "interval": "20 ms"}
    assert trial_of(trial_data(trial)) == trial


def test_its_keys_can_be_varied(tmp_path: Path) -> None:
    sweep = "sweep: {workload.count: [1, 2], workload.interval: [10 ms, 20 ms]}\n"
    found = load_scenario(scenario(tmp_path, "{tool: beacon, from: a, to: b}", sweep))
    assert [trial.workload.length_ns for trial in found.trials()] == [10**7, 2 * 10**7, 2 * 10**7, 4 * 10**7]


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        (
            "{tool: becon, from: a, to: b}",
            "6: tool: 'becon' is not known; allowed: *command, beacon (did you mean 'beacon'?)",
        ),
        ("{tool: beacon, from: a, to: b, size: 3}", "6: *unknown key 'size'; allowed: *count, interval*"),
        ("{tool: beacon, from: a, to: b, count: 0}", "6: count: *1 to 1000*"),
        ("{tool: beacon, from: a, to: c}", "6: to: there is no host 'c'*"),
        ("{tool: beacon, from: a, to: b, count: 10, interval: 1 h}", "6: *the beacon takes more than an hour*"),
    ],
)
def test_what_is_wrong_with_them_is_told_with_the_line(tmp_path: Path, workload: str, says: str) -> None:
    path = scenario(tmp_path, workload)
    with pytest.raises(SpecError) as caught:
        load_scenario(path)
    assert fnmatch(str(caught.value), f"*beacon.yaml:{says}"), str(caught.value)


@pytest.mark.slow
def test_editors_get_its_schema() -> None:
    found = schema("scenario")
    topology = {"name": "net", "nodes": {"a": {"type": "host"}, "b": {"type": "host"}}}
    good = {"name": "x", "topology": topology, "workload": {"tool": "beacon", "from": "a", "to": "b", "count": 4}}
    jsonschema.validate({**good, "sweep": {"workload.count": [1, 2]}}, found)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**good, "workload": {**good["workload"], "count": "many"}}, found)


def test_its_steps_are_ordered_and_its_facts_are_asked(beacon: ModuleType) -> None:
    trial = make_trial(workload=BEACON)
    made = orders(trial)
    titles = [getattr(step, "title", None) for step in made.steps]
    assert titles.index("beacon receiver") < titles.index("beacon")
    stream = data_stream(trial.workload, made.plan)
    assert stream is not None
    assert stream.destination_ports == (beacon.PORT,) * 2
    assert work(trial, made).packets == pytest.approx(4)
    assert work(trial, made).lab_s == pytest.approx(3.4)
    less = orders(make_trial(workload={"tool": "udp", "rate": "8 kbit/s", "duration": "400 ms", "length": "100 B"}))
    assert made.memory_bytes == less.memory_bytes


def test_a_program_that_it_lacks_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = make_trial(workload=BEACON)
    monkeypatch.setattr(readiness, "ready_kernel", lambda kernel: ready_kernel.ReadyKernel(kernel, None, object()))  # type: ignore[arg-type]
    for which in ("which", "which_in_guest"):
        monkeypatch.setattr(package, which, lambda program: None if program == "python3" else f"/bin/{program}")
    with pytest.raises(MachineError, match=r"'python3' is missing.*apt-get install -y python3"):
        readiness.check(trial, orders(trial))


def test_the_gate_judges_it_and_the_result_has_what_it_measured(tmp_path: Path) -> None:
    trial = make_trial(workload=BEACON, path={"loss": "1 in 2"})
    fine = evidence(trial, tmp_path, dropped=2)
    made = orders(trial).plan
    assert not [
        each for each in judge(Case(trial, made, fine)) if each.check in ("data", "congestion control", "window")
    ]
    none = replace(fine, data_stages=tuple(with_seen(each, data_packets=0) for each in fine.data_stages))
    assert "data" in {each.check for each in judge(Case(trial, made, none))}
    done = result(Case(trial, made, fine), (), Ending("7.3.4", 10**9, 1.0))
    assert done.measured == {"beacon": {"sent_datagrams": 4, "arrived_datagrams": 2}}
    assert done.goodput_bps == 2 * 800 / 0.4
    assert done.workload_s == 0.4
    assert (conditions(done, trial).loss, conditions(done, trial).duration_s) == (0.5, 0.4)


def test_an_output_that_is_not_whole_is_no_result(tmp_path: Path) -> None:
    trial = make_trial(workload={**BEACON, "count": 5})
    with pytest.raises(TrialError, match="tells of 4 datagrams, asked were 5"):
        tools.read(trial.workload, output(tmp_path, 4))


def test_a_stored_run_has_it_in_its_table_and_in_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(*words: str) -> None:
        monkeypatch.setattr(sys, "argv", ["testbed", *words])
        with suppress(SystemExit):
            cli.main()

    store = Store(tmp_path / "run")
    trial = make_trial(workload=BEACON, params={"workload.count": "4"})
    folder = store.path / "trials" / trial.id
    folder.mkdir(parents=True)
    done = result(Case(trial, orders(trial).plan, evidence(trial, tmp_path)), (), Ending("7.3.4", 10**9, 1.0))
    for name, value in ((TRIAL, trial_data(trial)), (RESULT, done.stored()), (HOST, {"wall_s": 1.0})):
        write_json(folder / name, value)
    write_json(store.path / "run.json", {"schema": SCHEMA, "scenario": "beacon", "trials": [trial.id]})
    command("results", str(store.path))
    assert "1 valid" in capsys.readouterr().out
    command("results", str(store.path), "--format", "json")
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["goodput_bps"], len(told["flows"])) == (8000, 1)
    command("report", str(store.path))
    page = (store.path / "report.html").read_text()
    assert "beacon" in page
    assert "arrived_datagrams" in page


@pytest.mark.lab
def test_it_runs(run_trial: RunTrial) -> None:
    ran: Ran = run_trial(workload=BEACON, path={"loss": "1 in 2"})
    assert ran.result.measured["beacon"] == {"sent_datagrams": 4, "arrived_datagrams": 2}
    assert ran.result.seen.data_packets == 4
    assert ran.result.verdict == "valid"


def without(fact: str) -> str:
    """The page's code with one fact forgotten: a line of the class's header or body, or a property."""
    found = re.sub(rf"\n    @property\n    def {fact}\(self\).*?(?=\n    @property|\n\n\n)", "", CODE, flags=re.DOTALL)
    return re.sub(rf"\n    {fact} ?=[^\n]*", "", found)


HEADER = ("tool", "programs", "one_kernel", "sends_data", "reports", "port_is_senders", "control")
BODY = (
    *("relays", "asked_flows", "load", "length_ns", "opening_round_trips", "data_ports", "echo_bytes"),
    *("connections", "buffer_bytes"),
)


def test_these_are_all_facts() -> None:
    (base,) = {each.__mro__[1] for each in BUILT_IN}
    assert base.__abstractmethods__ == set(BODY)
    assert {*base.__annotations__, "tool"} == set(HEADER)


@pytest.mark.parametrize("fact", [*HEADER, *BODY])
def test_a_forgotten_fact_is_refused_when_the_class_is_made_or_used(fact: str) -> None:
    code = without(fact)
    assert code != CODE
    with pytest.raises(TypeError, match=fact):
        exec(compile(f"{code}\n\nBeaconWorkload('a', 'b')", "beacon", "exec"), {"__name__": "beacon"})


@pytest.mark.slow
def test_a_forgotten_fact_is_a_type_error(tmp_path: Path) -> None:
    """One run of mypy over the page's code, and over copies of it that forget a fact each."""
    facts = ("sends_data", "echo_bytes", "load")
    errors = type_errors({"beacon": CODE, **{f"no_{fact}": without(fact) for fact in facts}}, tmp_path)
    assert not [line for line in errors if "/beacon.py" in line]
    for fact in facts:
        assert any(f"/no_{fact}.py" in line and f'"{fact}"' in line for line in errors), errors


def test_a_name_is_given_once(beacon: ModuleType) -> None:
    with pytest.raises(AssertionError, match="two tools with the name 'beacon'"):
        files.register(beacon.BeaconWorkload)
    with pytest.raises(AssertionError, match="two tools with the name 'beacon'"):
        tools.register(beacon.TOOL)


def test_every_tool_has_its_module_on_each_side() -> None:
    """Two for each: keys and facts, steps and reading."""
    for each in BUILT_IN:
        for side in ("model", "trial"):
            assert (ROOT / "testbed" / side / "workload" / f"{each.tool}.py").exists()
