"""The change exercise of docs/extending.md: an impairment from outside, from its key to the report. The code is that
of the page.

Its rows must be there before the keys of files are made, so these tests import a testbed of their own.
"""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from testbed.model.link.impairment import IMPAIRMENTS
from testbed.plan.link.impairment import MAKINGS
from testbed.spec.topology.link.impairment import FILE_FIELDS

if TYPE_CHECKING:
    from testbed.plan.link.stage import Stage
    from testbed.trial.evidence.stage import StageEvidence
    from testbed.trial.result import TrialResult

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text()
SECTION, FOLLOWED = (
    PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0] for title in ("An impairment", "Follow one RTT")
)
PARTS = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
"""Of the page: what it is, how files write it, how it is made."""
ONE_PERCENT = round(0.01 * (2**32 - 1))
TOPOLOGY = """name: net
nodes: {a: {type: host}, b: {type: host}}
links:
  path:
    ends: [a, b]
    rate: 100 Mbit/s
    rtt: 10 ms
    twin: 1 %
"""


@contextmanager
def imported_after(code: str) -> Iterator[None]:
    """The page's code is run first, then the testbed is imported anew; in the end the old one is back."""
    ours = ("testbed", "trials")
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ours}
    for name in before:
        del sys.modules[name]
    try:
        exec(compile(code, "docs/extending.md", "exec"), {"__name__": "twin"})
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
            del sys.modules[name]
        sys.modules.update(before)


@pytest.fixture(scope="module", autouse=True)
def twin() -> Iterator[None]:
    with imported_after("\n\n".join(PARTS)):
        yield


def stage(**path: Any) -> Stage:
    """The stage that the data of a trial pass."""
    from trials import make_trial

    from testbed.trial.orders.sequence import orders

    (found,) = orders(make_trial(path=path)).plan.stages(is_data=True)
    return found


def commands(tool: str, **path: Any) -> list[str]:
    from trials import make_trial

    from testbed.trial.orders.sequence import orders

    made = orders(make_trial(path=path)).plan
    return [" ".join(command.words) for command in made.commands if command.tool == tool]


def test_its_key_becomes_a_value_and_back() -> None:
    from trials import make_trial

    from testbed.spec.scenario.trial import trial_data, trial_of

    trial = make_trial(path={"twin": {"forward": "1 %"}})
    link = trial.topology.link("path")
    assert (link.forward.value("twin"), link.backward.value("twin")) == (Fraction(1, 100), None)
    assert link.forward.is_emulated
    assert trial_data(trial)["topology"]["links"]["path"]["twin"] == {"forward": "1 %"}
    assert trial_of(trial_data(trial)) == trial
    both = make_trial(path={"twin": "0.5 %"})
    assert trial_data(both)["topology"]["links"]["path"]["twin"] == "0.5 %"


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (
            "twin: 100 %",
            "net.yaml:8: twin: nothing or everything would come twice; ",
        ),
        ("twin: often", "net.yaml:8: twin: 'often' is not a number"),
        ("twinn: 1 %", "net.yaml:8: unknown key 'twinn'; allowed: "),
    ],
)
def test_what_is_wrong_with_it_is_told_with_the_line(tmp_path: Path, said: str, says: str) -> None:
    from testbed.error import SpecError
    from testbed.spec.load import load_topology

    path = tmp_path / "net.yaml"
    path.write_text(TOPOLOGY.replace("twin: 1 %", said))
    with pytest.raises(SpecError) as caught:
        load_topology(path)
    assert says in str(caught.value)


def test_it_is_an_axis_for_both_directions_or_for_one(tmp_path: Path) -> None:
    from testbed.spec.load import load_scenario

    (tmp_path / "net.yaml").write_text(TOPOLOGY)
    path = tmp_path / "s.yaml"
    path.write_text(
        "name: s\ntopology: net.yaml\nworkload: {tool: flow, from: a, to: b, duration: 1 s}\n"
        "sweep: {path.twin.forward: [none, 2 %], path.rate: [1 Mbit/s]}\n"
    )
    links = [trial.topology.link("path") for trial in load_scenario(path).trials()]
    assert [link.forward.value("twin") for link in links] == [None, Fraction(2, 100)]
    assert [link.backward.value("twin") for link in links] == [Fraction(1, 100)] * 2
    (trial,) = load_scenario(path, ["path.twin.forward=none", "path.twin.backward=3 %"]).trials()
    assert trial.topology.link("path").backward.value("twin") == Fraction(3, 100)


@pytest.mark.slow
def test_editors_get_its_schema() -> None:
    from testbed.spec.json_schema import schema

    found = schema("scenario")
    link = {"ends": ["a", "b"], "twin": "1 %", "schedule": [{"at": "1 s", "twin": {"forward": "2 %"}}]}
    topology = {"name": "net", "nodes": {"a": {"type": "host"}, "b": {"type": "host"}}, "links": {"path": link}}
    workload = {"tool": "flow", "from": "a", "to": "b"}
    good = {"name": "x", "topology": topology, "workload": workload, "sweep": {"path.twin": ["none", "1 %"]}}
    jsonschema.validate(good, found)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**good, "sweep": {"path.twin": ["often"]}}, found)


def test_it_becomes_an_option_of_netem_behind_those_that_are_there() -> None:
    limit = "limit 2147483647"
    at = "qdisc add dev {} root handle 1: netem " + limit
    found = [words for words in commands("tc", twin={"forward": "1 %"}) if "netem" in words]
    assert found == [
        f"{at.format('end1')} delay 5000us duplicate 1%",  # behind the segmentation: netem must see single packets
        f"{at.format('wire1')} delay 5000us",
    ]
    bare = commands("tc", buffer=None, rtt=None, twin="1 %")
    (alone, _) = [words for words in bare if "netem" in words]
    assert alone == f"{at.format('end1')} duplicate 1%"
    assert not [words for words in commands("tc") if "duplicate" in words]


def test_a_schedule_changes_it_in_place() -> None:
    from trials import make_trial

    from testbed.trial.orders.sequence import orders

    schedule = [{"at": "500 ms", "twin": {"forward": "2 %"}}, {"at": "800 ms", "twin": "none"}]
    moments = orders(make_trial(path={"schedule": schedule})).plan.timeline
    told = {moment.at_ns: [" ".join(command.words) for command in moment.commands] for moment in moments}
    netem = "qdisc change dev end1 root handle 1: netem limit 2147483647 delay 5000us"
    assert told == {500_000_000: [f"{netem} duplicate 2%"], 800_000_000: [netem]}


def test_what_netlink_says_of_it_is_decoded() -> None:
    """A message as the kernel writes it; the shares are 2^-32."""
    from testbed.plan.link.impairment import settings
    from testbed.trial.observe.readback import qdiscs
    from testbed.trial.observe.sample import Query

    found = stage(twin="1 %")
    (setting,) = [each for each in settings(found, found.start) if each.name == "duplicate"]
    assert (setting.what, setting.asked, setting.handle) == ("duplicated share in 2^-32", ONE_PERCENT, "1:")
    (read,) = qdiscs(netem_record(ONE_PERCENT), (Query("qdisc", "e"),))
    assert (read.kind, read.handle, read.value("duplicate")) == ("netem", "1:", ONE_PERCENT)


def netem_record(share: int) -> bytes:
    """An observer's record with one RTM_NEWQDISC of a netem."""

    def attribute(number: int, payload: bytes) -> bytes:
        padding = -len(payload) % 4
        return struct.pack("=HH", 4 + len(payload), number) + payload + bytes(padding)

    qopt = struct.pack("=6I", 78_125, 2**31 - 1, 0, 0, share, 0)
    body = struct.pack("=BxxxiIII", 0, 2, 1 << 16, 2**32 - 1, 0) + attribute(1, b"netem\0") + attribute(2, qopt)
    message = struct.pack("=IHHII", 16 + len(body), 36, 0, 1, 0) + body
    return struct.pack("=QII", 1, 0, len(message)) + message


def evidence(found: Stage, **says: int) -> StageEvidence:
    """What is read back where the kernel has all that was asked, but for what it `says`."""
    from trials import seen_stage

    from testbed.plan.link.impairment import Context, settings
    from testbed.trial.observe.readback import Qdisc

    numbers: dict[str, dict[str, int]] = {}
    for each in settings(found, found.start, Context(1500, real_time=False)):
        numbers.setdefault(each.handle, {})[each.name] = says.get(each.name, each.asked)
    kinds = {"1:": "netem", "2:": "tbf"}
    qdiscs = {handle: Qdisc("e", 1, handle, kinds[handle], more=more) for handle, more in numbers.items()}
    return seen_stage(found, qdiscs, data_packets=1000, delay_packets=1000, qdiscs_after=qdiscs)


def judged(**says: int) -> TrialResult:
    """The result of a trial whose forward direction duplicates, with other numbers read back."""
    from trials import make_trial, seen_evidence, whole

    from testbed.kernel.guest import Ending
    from testbed.trial import record
    from testbed.trial.evidence.case import Case
    from testbed.trial.evidence.outcome import Outcome
    from testbed.trial.gate.judge import judge
    from testbed.trial.measured import PingResult
    from testbed.trial.orders.sequence import orders
    from testbed.trial.summary import result

    trial = make_trial(path={"twin": {"forward": "1 %"}}, workload={"tool": "ping", "count": 5})
    plan = orders(trial).plan
    (data,), (answers,) = plan.stages(is_data=True), plan.stages(is_data=False)
    ping = PingResult(5, 5, 0.01, 0.01, 0.01, 0.0)
    told = seen_evidence(
        rtt_check=ping,
        data_stages=(evidence(data, **says),),
        answer_stages=(evidence(answers),),
        outcome=Outcome(0, 0, 10**9, None, None, (), {"ping": record.write(ping)}),
        tcp=(),
        host_counters={},
        device_drops={},
        cpu_busy=None,
        captures_dropped=0,
    )
    seen = whole(trial, plan, told)
    return result(Case(trial, plan, seen), judge(Case(trial, plan, seen)), Ending("7.3.4", 10**9, 1.0))


def test_the_gate_passes_it_with_a_note_and_the_result_tells_of_it() -> None:
    from testbed.trial import record
    from testbed.trial.result import StageResult

    done = judged()
    assert done.verdict == "valid"
    (note,) = [each for each in done.findings if each.check == "twin"]
    assert (note.verdict, note.text) == ("valid", "path forward: 1 % of the packets arrive twice")
    assert [each.more for each in done.stages] == [{"twin": "1 %"}, {}]
    stored = json.loads(json.dumps(done.stored()))
    assert stored["stages"][0]["more"] == {"twin": "1 %"}
    assert "more" not in stored["stages"][1]
    assert record.read(StageResult, stored["stages"][0]) == done.stages[0]


@pytest.mark.parametrize("seen", [0, 2 * ONE_PERCENT])
def test_the_gate_notices_when_it_is_absent_or_doubled(seen: int) -> None:
    done = judged(duplicate=seen)
    assert done.verdict == "invalid"
    (finding,) = [each for each in done.findings if each.verdict == "invalid"]
    assert finding.check == "set-up"
    assert finding.text == f"path forward: duplicated share in 2^-32: asked {ONE_PERCENT}, the kernel has {seen}"


def test_status_and_report_have_words_for_it() -> None:
    from trials import make_trial

    from testbed.interactive.build import build
    from testbed.model.run_setting import Kernel
    from testbed.report.caption import Fact, facts

    topology = make_trial(path={"twin": "1 %"}).topology
    (link,) = build(topology, Kernel("host")).to_dict()["links"]
    assert link["asked"]["twin"] == "1 %"
    assert Fact("twin", ("1 %",)) in facts(topology.links)
    one_way = replace(topology.links[0], backward=topology.links[0].backward.with_value("twin", None))
    assert Fact("twin", ("→ 1 %",)) in facts([one_way])


@pytest.mark.lab
@pytest.mark.parametrize(("told", "verdict"), [("duplicate 1%", "valid"), ("", "invalid"), ("duplicate 2%", "invalid")])
def test_it_runs_and_sabotage_is_noticed(tmp_path: Path, told: str, verdict: str) -> None:
    """The emulator is told something else than the plan says."""
    from trials import make_trial, tampered

    from testbed.trial import run
    from testbed.trial.orders.sequence import orders

    trial = make_trial(path={"twin": {"forward": "1 %"}}, workload={"duration": "500 ms"})
    made = tampered(orders(trial), lambda steps: tuple(json.loads(json.dumps(steps).replace("duplicate 1%", told))))
    done = run.run(trial, made, tmp_path)
    assert done.verdict == verdict, done.warnings
    invalid = {each.check for each in done.findings if each.verdict == "invalid"}
    assert invalid == (set() if verdict == "valid" else {"set-up"})


@pytest.mark.parametrize(("forgotten", "table"), [(1, "FILE_FIELDS lacks twin"), (2, "MAKINGS lacks twin")])
def test_a_forgotten_row_is_an_error_and_no_silence(forgotten: int, table: str) -> None:
    code = "\n\n".join(part for number, part in enumerate(PARTS) if number != forgotten)
    with imported_after(f"from fractions import Fraction\n{code}"), pytest.raises(AssertionError, match=table):
        commands("tc")


def test_rows_that_come_too_late_are_refused() -> None:
    late = "\n\n".join(("import testbed.spec.load", *PARTS))
    with (
        imported_after(late),
        pytest.raises(AssertionError, match="twin came to FILE_FIELDS after LinkFile was made"),
    ):
        commands("tc")


def test_the_files_on_the_way_of_an_rtt_are_there() -> None:
    files = re.findall(r"`([a-z0-9_/]+\.(?:py|c))`", FOLLOWED)
    assert len(files) > 20
    assert not [file for file in files if not (ROOT / "testbed" / file).exists()]


def test_every_layer_has_a_row_for_every_impairment() -> None:
    assert IMPAIRMENTS.keys() == FILE_FIELDS.keys() == MAKINGS.keys()


def test_each_field_of_a_direction_has_its_row() -> None:
    from testbed.model.link.impairment import IMPAIRMENTS, Direction

    names = {each for each in Direction.__dataclass_fields__ if each != "more"}
    faults = {"down", "ack_loss", "corrupt", "duplicate", "reorder", "aggregate"}
    assert {row.name for row in IMPAIRMENTS.values()} - {"twin"} - faults == names
