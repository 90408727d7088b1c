"""Rules of a scenario's `expect`: from its file to the exit code. What is missing, empty or not finite never passes."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
import typer
import yaml
from comparing import Said, said_by
from runs import make_result, write_result
from storedruns import Made, trial_result, write_run
from trials import make_trial

from testbed.analysis.expectation.measured import EXTRA, Measured
from testbed.analysis.expectation.measured import SAMPLED as OF_SAMPLES
from testbed.analysis.expectation.measured import read as read_measured
from testbed.analysis.expectation.part import PARTS
from testbed.analysis.expectation.verdict import seen_range, verdicts
from testbed.analysis.metric import METRICS, AtLeast, FlowSamples
from testbed.codec.keyed import read
from testbed.error import SpecError, UserError
from testbed.exercise.rule.measure import Measure
from testbed.model.expectation import EXTRA_UNITS, OF_A_PART, Expectation, NotChecked
from testbed.model.metric_need import NEEDS
from testbed.model.run_setting import METRIC_UNITS
from testbed.model.scenario import Trial
from testbed.report import stored_run
from testbed.report.view import view
from testbed.spec.json_schema import schema
from testbed.spec.load import load_scenario
from testbed.sweep import run as sweep
from testbed.sweep import run_file
from testbed.sweep.expectation import judged
from testbed.sweep.shard import Shard, scenario_key
from testbed.sweep.store import Store
from testbed.trial.result import EventResult, Finding, TrialResult

SCENARIO = """name: x
topology:
  name: x
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 20 ms}}
workload: {tool: flow, from: a, to: b, duration: 5 s}
sweep: {path.rtt: [20 ms, 50 ms], flows: [1, 2]}
exclude: [{path.rtt: 50 ms, flows: 2}]
expect:
"""
FILLS = "  - {name: fills, measure: {metric: goodput, least: 8 Mbit/s}}\n"


def written(tmp_path: Path, rules: str, scenario: str = SCENARIO) -> Path:
    file = tmp_path / "x.yaml"
    file.write_text(scenario + rules)
    return file


def rule(**values: Any) -> Expectation:
    return replace(Expectation("r", "goodput", "bit/s", least="8 Mbit/s"), **values)


def measured(value: float | None, verdict: str = "valid", **params: str) -> Measured:
    made = trial_result(Made({"path.rtt": "20 ms", **params}, [9e6], verdict=verdict))
    return Measured(made, {"goodput": value})


def outcomes(*rules: Expectation, trials: list[Measured], absent: str | None = None) -> list[str]:
    return [each.outcome for each in verdicts(rules, trials, absent)]


def test_a_scenario_has_rules(tmp_path: Path) -> None:
    where = "{path.rtt: 20000 us, workload.flows: [2, 1]}"
    more = f"  - {{name: near, needs: [fills], measure: {{metric: rtt, where: {where}, most: 1 s}}}}\n"
    fills, near = load_scenario(written(tmp_path, FILLS + more)).expect
    assert fills == Expectation("fills", "goodput", "bit/s", least="8 Mbit/s")
    assert near.where == {"path.rtt": ("20 ms",), "flows": ("1", "2")}
    assert (near.needs, near.unit, near.bound(near.most)) == (("fills",), "s", 1.0)


def test_editors_know_rules(tmp_path: Path) -> None:
    keys = {"metric": "goodput", "where": {"flows": 2}, "over": {"flows": 1}, "least": 0.95}
    file = written(tmp_path, f"  - {json.dumps({'name': 'r', 'measure': keys})}\n")
    assert load_scenario(file).expect[0].least == "0.95"
    jsonschema.validate(yaml.safe_load(file.read_text()), schema("scenario"))
    for wrong in ({"metric": 5}, {"points": 2}, {"least": -1}):
        file.write_text(SCENARIO + f"  - {json.dumps({'name': 'r', 'measure': keys | wrong})}\n")
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(file.read_text()), schema("scenario"))


def test_a_rule_is_the_same_in_a_scenario_and_in_an_exercise(tmp_path: Path) -> None:
    keys = {"metric": "rtt", "where": {"path.rtt": "20 ms"}, "over": {"path.rtt": "50 ms"}, "most": "0.5"}
    (mine,) = load_scenario(written(tmp_path, f"  - {json.dumps({'name': 'r', 'measure': keys})}\n")).expect
    theirs = read(Measure, {"scenario": "x.yaml", **keys})
    assert not list(theirs.faults())
    assert replace(theirs.expectation, name="r") == mine


BAD = [
    ("least: 8 Mbit/s", "least: 8 Mbit/s, between: [2 s, 2 s]", "between: this is no part of the time"),
    ("least: 8 Mbit/s", "least: 8 Mbit/s, between: [2 s]", "between: this is no part of the time"),
    ("least: 8 Mbit/s", "least: 8 Mbit/s, between: []", "between: this is no part of the time"),
    ("least: 8 Mbit/s", "least: 8 Mbit/s, between: {rtts: [20, 5]}", "between: this is no part of the time"),
    ("least: 8 Mbit/s", "least: 8 Mbit/s, between: {rtts: [5]}", "between: this is no part of the time"),
    ("least: 8 Mbit/s", "least: 8 Mbit/s, between: {rtts: [0.5, 5]}", "rtts: .*allowed"),
    ("least: 8 Mbit/s", "least: 8 Mbit/s, between: {rtt: [0, 5]}", "unknown key 'rtt'"),
    ("least: 8 Mbit/s", "least: 8 Mbit/s, since: 1 s", "since: nothing counts from it"),
    ("least: 8 Mbit/s", "least: 8 Mbit/s, since: at 1 s, between: {rtts: [0, 20]}", "since: .*or a time, such as 10 s"),
    (
        "least: 8 Mbit/s",
        "least: 8 Mbit/s, between: {rtts: [0, 4]}",
        "rtts: 4 round trips of 20 ms are shorter than from one sample to the next, 100 ms .where path.rtt is 20 ms",
    ),
    (
        "least: 8 Mbit/s",
        "least: 8 Mbit/s, between: {rtts: [0, 101]}",
        "rtts: with a round trip of 50 ms they end 5.05 s after the start, and the workload ends after 5 s",
    ),
    (
        "least: 8 Mbit/s",
        "least: 8 Mbit/s, since: 4500 ms, between: {rtts: [0, 26]}",
        "rtts: with a round trip of 20 ms they end 5.02 s after the start",
    ),
    ("goodput, least: 8 Mbit/s", "convergence, most: 8 s, between: [1 s, 2 s]", "convergence is of the whole time"),
    (
        "goodput, least: 8 Mbit/s",
        "starved, most: 2 s, between: [1 s, 1999 ms]",
        "between: starved is by means over 1 s, and this part has 0.999 s; allowed: a part of 1 s or more",
    ),
    (
        "goodput, least: 8 Mbit/s",
        "starved, where: {flows: 2}, most: 2 s, between: {rtts: [0, 49]}",
        "rtts: starved is by means over 1 s, and this part has 0.98 s .where path.rtt is 20 ms, flows is 2",
    ),
    ("goodput", "speed", "'speed' is not a metric"),
    ("least: 8 Mbit/s", "least: 8", "least: .*rate"),
    ("least: 8 Mbit/s", "least: 0 Mbit/s", "every value would do"),
    (", least: 8 Mbit/s", "", "any value would do"),
    ("least: 8 Mbit/s", "least: 8 Mbit/s, most: 7 Mbit/s", "no value is at least 8 Mbit/s and at most 7 Mbit/s"),
    ("goodput, least: 8 Mbit/s", "fairness, most: 1", "every value would do"),
    ("goodput, least: 8 Mbit/s", "share, least: 0 %, most: 100 %", "every value would do"),
    ("goodput, least: 8 Mbit/s", "against, least: nan", "no bound"),
    ("goodput, least: 8 Mbit/s", "against, most: inf", "no bound"),
    ("goodput, least: 8 Mbit/s", "against, least: -1", "no bound"),
    ("goodput, least: 8 Mbit/s", "slowdown, least: much", "not a number"),
    ("least", "where: {path.rtt: 30 ms}, least", "the axis has no '30 ms'"),
    ("least", "where: {path.rtt: []}, least", "this is empty"),
    ("least", "where: {}, least", "this is empty"),
    ("least", "where: {path.rate: 10 Mbit/s}, least", "'path.rate' is not varied"),
    ("least", "where: {flows: 1, workload.flows: 1}, least", "flows is named twice"),
    ("least", "where: {path.rtt: 50 ms, flows: 2}, least", "no cell has these values"),
    (
        "least",
        "where: {path.rtt: [20 ms, 50 ms], flows: 2}, least",
        "no cell has these values: where path.rtt is 50 ms",
    ),
    ("goodput, least: 8 Mbit/s", "rtt, where: {flows: 1}, over: {flows: 1}, most: 2", "divided by itself"),
    ("goodput, least: 8 Mbit/s", "rtt, over: {flows: 1}, most: 2 s", "not a number"),
    ("measure: {metric: goodput, least: 8 Mbit/s}", "reach: {from: [a], to: [b]}", "ask what its trials measured"),
    ("name: fills, ", "name: fills, points: 2, ", "unknown key 'points'"),
    ("name: fills, ", "name: fills, needs: [other], ", "no rule before this one has the name 'other'"),
    ("name: fills, ", "name: fills, needs: [fills], ", "no rule before this one has the name 'fills'"),
    ("least", "number: 1, least", "goodput has no numbers"),
    ("measure: {", "measure: {scenario: x.yaml, ", "unknown key 'scenario'"),
]


@pytest.mark.parametrize(("old", "new", "said"), BAD)
def test_a_rule_that_cannot_be_meant_is_refused_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in FILLS
    with pytest.raises(SpecError, match=rf"x\.yaml:10: .*{said}"):
        load_scenario(written(tmp_path, FILLS.replace(old, new, 1)))


def test_no_rules_at_all_and_two_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"expect: this is empty"):
        load_scenario(written(tmp_path, "", SCENARIO.replace("expect:\n", "expect: []\n")))
    with pytest.raises(SpecError, match=r"x\.yaml:11: two rules have the name 'fills'"):
        load_scenario(written(tmp_path, FILLS + FILLS))


def test_a_number_of_a_command_can_be_asked(tmp_path: Path) -> None:
    command = """name: x
topology:
  name: x
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 20 ms}}
workload:
  tool: command
  server: {at: b, run: [sleep, "1"]}
  client: {at: a, run: [date]}
  measure: {handshake: {output: "([0-9]+)", unit: ms}}
expect:
"""
    said = "  - {name: quick, measure: {metric: handshake, most: 50 ms}}\n"
    (quick,) = load_scenario(written(tmp_path, said, command)).expect
    assert (quick.base_unit, quick.bound(quick.most)) == ("s", 0.05)
    with pytest.raises(SpecError, match="'handshake' is not a metric"):
        load_scenario(written(tmp_path, said))
    with pytest.raises(SpecError, match="'share' is a number of the command, and"):
        load_scenario(written(tmp_path, said.replace("handshake", "share"), command.replace("handshake", "share")))


def test_what_an_option_fixes_needs_no_look_and_what_it_takes_away_is_not_there(tmp_path: Path) -> None:
    near = "  - {name: near, measure: {metric: goodput, where: {path.rtt: 20 ms}, least: 8 Mbit/s}}\n"
    file = written(tmp_path, near)
    (same,) = load_scenario(file, ["path.rtt=20 ms"]).expect
    (gone,) = load_scenario(file, ["path.rtt=30 ms"]).expect
    (among,) = load_scenario(file, ["path.rtt=[30 ms, 40 ms]"]).expect
    assert outcomes(same, trials=[measured(9e6)]) == ["passed"]
    assert outcomes(gone, among, trials=[measured(9e6, **{"path.rtt": "30 ms"})]) == ["not checked"] * 2
    rated = near.replace("path.rtt: 20 ms", "path.rate: 20 Mbit/s").strip().removeprefix("- ")
    (fixed,) = load_scenario(file, ["path.rate=20 Mbit/s", f"expect=[{rated}]"]).expect
    (other,) = load_scenario(file, ["path.rate=30 Mbit/s", f"expect=[{rated}]"]).expect
    assert outcomes(fixed, other, trials=[measured(9e6)]) == ["passed", "not checked"]
    with pytest.raises(SpecError, match="expect"):
        load_scenario(file, ["expect=[]"])


def test_a_rule_holds_in_all_trials_or_it_does_not() -> None:
    assert outcomes(rule(), trials=[measured(8e6), measured(9e6)]) == ["passed"]
    assert outcomes(rule(), trials=[measured(9e6), measured(7.99e6)]) == ["failed"]
    assert outcomes(rule(least=None, most="8 Mbit/s"), trials=[measured(8e6)]) == ["passed"]
    assert outcomes(rule(least=None, most="8 Mbit/s"), trials=[measured(8.01e6)]) == ["failed"]
    (seen,) = verdicts([rule()], [measured(9e6), measured(7e6)])
    assert (seen.low, seen.high, seen.trials) == (7e6, 9e6, 2)
    assert seen.seen == f"goodput is 7 Mbit/s, and should be at least 8 Mbit/s, in the trial {measured(7e6).result.id}"


def test_a_trial_that_is_not_valid_is_named_with_what_made_it_so_and_not_with_notes() -> None:
    found = (
        Finding("window", "suspect", "it held the flow back", "a larger one"),
        Finding("loss", "suspect", "it has another share", "look"),
        Finding("jitter", "valid", "in order, packets wait for one another", "a note"),
    )
    doubtful = measured(9e6, verdict="suspect")
    result = replace(doubtful.result, findings=found, warnings=tuple(map(str, found)))
    (seen,) = verdicts([rule()], [replace(doubtful, result=result)])
    causes = "window: it held the flow back (a larger one); loss: it has another share (look)"
    assert seen.seen == f"the trial {result.id} is suspect: {causes}"


def test_a_failure_names_its_trials_and_of_many_the_first() -> None:
    trials = [measured(value, flows=str(number)) for number, value in enumerate((9e6, 7e6, 8e6, 6e6))]
    ids = [each.result.id for each in trials]
    assert len({*ids}) == 4
    (found,) = verdicts([rule()], trials)
    assert (found.failed, found.data()["failed_trials"]) == ((ids[1], ids[3]), [ids[1], ids[3]])
    said = "goodput is 7 Mbit/s, and should be at least 8 Mbit/s, in the trial"
    assert found.seen == f"{said} {ids[1]} and 1 more of 4"
    (halves,) = verdicts([rule(where={"flows": ("1",)}, over={"flows": ("0",)}, least="0.9")], trials)
    said = "goodput where flows is 1 is 0.778 times that where flows is 0, and should be at least 0.9, in the trial"
    assert halves.seen == f"{said} {ids[1]}"


@pytest.mark.parametrize(
    ("base_unit", "bounds", "value", "said"),
    [
        ("s", {"most": "20 s"}, 40.0, "40 s"),
        ("s", {"most": "20 ms"}, 40.0, "40000 ms"),
        ("s", {"most": "250 µs"}, 0.0004, "400 us"),
        ("s", {"most": "2 min"}, 180.0, "3 min"),
        ("s", {"most": "0"}, 0.0004, "0.4 ms"),
        ("ratio", {"most": "5 %"}, 0.0766, "7.66 %"),
        ("ratio", {"most": "0.05"}, 0.0766, "0.0766"),
        ("ratio", {"least": "0.9"}, 0.89996, "0.89996"),
        ("bit/s", {"least": "215 kbit/s"}, 2e5, "200 kbit/s"),
        ("bit/s", {"least": "1 Gbit/s"}, 9.4e8, "0.94 Gbit/s"),
        ("bit/s", {"least": "9.9 Mbit/s"}, 9_899_996.0, "9.899996 Mbit/s"),
        ("bit/s", {"least": "1 Mbit/s", "most": "3 Gbit/s"}, 4e9, "4 Gbit/s"),
        ("B", {"most": "64 KiB"}, 131072.0, "128 KiB"),
        ("times", {"most": "12"}, 25000.0, "25000"),
        ("times", {"most": "12"}, 2.5e30, "2.5e+30"),
    ],
)
def test_a_failure_is_in_the_units_of_its_rule_and_shows_what_is_wrong(
    base_unit: str, bounds: dict[str, str], value: float, said: str
) -> None:
    asked = replace(Expectation("r", "mine", base_unit), **bounds)
    (found,) = verdicts([asked], [Measured(measured(1.0).result, {"mine": value})])
    assert found.outcome == "failed"
    assert (found.seen or "").startswith(f"mine is {said}, and should be ")


def test_what_was_seen_is_told_from_both_bounds() -> None:
    asked = replace(Expectation("r", "mine", "bit/s"), least="1 kbit/s", most="10 Mbit/s")
    (found,) = verdicts([asked], [Measured(measured(1.0).result, {"mine": 10_000_000.1})])
    assert (found.outcome, seen_range(found)) == ("failed", "10000.0001 kbit/s")


MISSING: list[tuple[list[Measured], str | None]] = [
    ([], None),
    ([measured(9e6)], "1 of 2 trials are missing"),
    ([measured(None)], None),
    ([measured(math.nan)], None),
    ([measured(math.inf)], None),
    ([measured(9e6), measured(math.nan)], None),
    ([measured(9e6, "suspect")], None),
    ([measured(9e6, "invalid")], None),
    ([measured(9e6), measured(9e6, "invalid")], None),
]


@pytest.mark.parametrize(("trials", "absent"), MISSING)
@pytest.mark.parametrize("bounds", [{}, {"least": None, "most": "100 Mbit/s"}])
def test_what_is_missing_or_not_believed_never_passes(
    trials: list[Measured], absent: str | None, bounds: dict[str, Any]
) -> None:
    assert outcomes(rule(**bounds), trials=trials, absent=absent) == ["not checked"]


def test_what_did_not_happen_is_no_pass_whatever_the_bound() -> None:
    """Flows that never converged in 80 s took at least 80 s: not at most 100 s, and nobody knows whether."""
    made = Measured(trial_result(Made({}, [1e6])), {"convergence": AtLeast(80.0)})
    assert outcomes(rule(metric="convergence", least=None, most="100 s", base_unit="s"), trials=[made]) == ["failed"]
    assert outcomes(rule(metric="convergence", least="60 s", base_unit="s"), trials=[made]) == ["passed"]


def test_every_value_of_where_must_have_been_measured() -> None:
    both = rule(where={"path.rtt": ("20 ms", "50 ms")})
    near, far = measured(9e6), measured(9e6, **{"path.rtt": "50 ms"})
    assert outcomes(both, trials=[near, far]) == ["passed"]
    assert outcomes(both, trials=[near]) == ["not checked"]
    assert outcomes(rule(where={"path.loss": ("1 %",)}), trials=[near]) == ["not checked"]
    assert outcomes(rule(where={"path.rtt": ()}), trials=[near]) == ["not checked"]


def test_a_quotient_needs_something_to_divide_by() -> None:
    ratio = rule(where={"flows": ("2",)}, over={"flows": ("1",)}, least="1.5")
    one, two, none = measured(4e6, flows="1"), measured(8e6, flows="2"), measured(0.0, flows="1")
    assert outcomes(ratio, trials=[one, two]) == ["passed"]
    assert outcomes(ratio, trials=[one, measured(5e6, flows="2")]) == ["failed"]
    assert outcomes(ratio, trials=[two]) == ["not checked"]
    assert outcomes(ratio, trials=[none, two]) == ["not checked"]
    assert outcomes(ratio, trials=[measured(5e-324, flows="1"), two]) == ["not checked"]


def test_nothing_is_divided_by_itself(tmp_path: Path) -> None:
    """Options may leave only the trials that others were to be compared with."""
    ratio = rule(over={"flows": ("1",)}, least="0.9")
    one, two = measured(4e6, flows="1"), measured(8e6, flows="2")
    assert outcomes(ratio, trials=[one, two]) == ["passed"]
    assert outcomes(ratio, trials=[one, one]) == ["not checked"]
    single = SCENARIO.replace("flows: [1, 2]}\nexclude: [{path.rtt: 50 ms, flows: 2}]\n", "flows: [1]}\n")
    assert single != SCENARIO
    with pytest.raises(SpecError, match="divided by itself"):
        load_scenario(written(tmp_path, "  - {name: x, measure: {metric: rtt, over: {flows: 1}, most: 2}}\n", single))


def test_a_rule_counts_only_with_those_that_it_needs() -> None:
    idle = rule(name="idle", least=None, most="100 Mbit/s", needs=("r",))
    assert outcomes(rule(), idle, trials=[measured(9e6)]) == ["passed", "passed"]
    assert outcomes(rule(), idle, trials=[measured(1e6)]) == ["failed", "not checked"]
    assert outcomes(idle, trials=[measured(9e6)]) == ["not checked"]


def test_bounds_in_another_unit_than_the_metric_are_no_bounds() -> None:
    assert outcomes(rule(base_unit="s", least="1 s"), trials=[measured(9e6)]) == ["not checked"]
    assert outcomes(rule(metric="gone"), trials=[measured(9e6)]) == ["not checked"]


def test_the_values_that_only_rules_ask_for_have_units() -> None:
    assert [*EXTRA, *OF_SAMPLES] == [*EXTRA_UNITS]
    assert PARTS.keys() == OF_A_PART
    even = Measured(trial_result(Made({}, [3e6, 1e6])), {})
    share = Expectation("even", "share", "ratio", least="20 %", most="40 %", number=1)
    assert outcomes(share, replace(share, number=0), replace(share, number=2), trials=[even]) == [
        "passed",
        "failed",
        "not checked",
    ]


STEP_S = 0.1


def flows_of(*rates_bps: Callable[[float], float], until_s: float = 20.0) -> Measured:
    """Two trials' worth of samples, in which each flow has a rate at each time."""
    times = np.arange(0, until_s + STEP_S / 2, STEP_S)

    def sampled(rate: Callable[[float], float]) -> FlowSamples:
        brought = np.cumsum([0.0, *(rate(time) * STEP_S / 8 for time in times[:-1])])
        return FlowSamples(times, brought, np.where(times < 10, 0.02, 0.08))

    samples = [sampled(each) for each in rates_bps]
    return Measured(trial_result(Made({}, [1e6] * len(samples))), {}, samples=lambda: samples)


def test_a_part_of_the_time_has_its_own_values() -> None:
    trial = flows_of(lambda at: 4e6 if at < 10 else 1e6, lambda at: 4e6 if at < 10 else 3e6)

    def value(metric: str, part: tuple[float, float], number: int = 0) -> float | None:
        return trial.value(metric, number, part)

    assert value("goodput", (2, 8)) == pytest.approx(8e6)
    assert value("goodput", (12, 18)) == pytest.approx(4e6)
    assert value("flow-goodput", (12, 18), 1) == pytest.approx(3e6)
    assert value("share", (5, 15), 1) == pytest.approx(7 / 12)
    assert value("fairness", (12, 18)) == pytest.approx(0.8)
    assert value("rtt", (2, 8)) == pytest.approx(0.02)
    assert value("rtt-p95", (12, 18)) == pytest.approx(0.08)
    with pytest.raises(NotChecked, match="ends at 25 s, when not every flow was sampled any more, in the trial seed=1"):
        value("goodput", (15, 25))
    assert value("flow-goodput", (2, 8), 2) is None


@pytest.mark.parametrize(("metric", "is_said"), [("goodput", True), ("flow-goodput", True), ("share", False)])
def test_a_goodput_of_a_part_that_is_not_as_it_should_be_is_said_to_be_of_acknowledgements(
    metric: str, is_said: bool
) -> None:
    """So it can be more than the link carries in that part."""
    unit, most = ("ratio", "1 %") if metric == "share" else ("bit/s", "3 Mbit/s")
    asked = rule(metric=metric, base_unit=unit, least=None, most=most, between_ns=(10**9, 5 * 10**9))
    (found,) = verdicts([asked], [flows_of(lambda at: 4e6, lambda at: 4e6)])
    assert found.outcome == "failed"
    assert (found.seen or "").endswith("waited for a lost segment)") is is_said, found.seen


def test_a_flow_starves_below_a_tenth_of_its_fair_share() -> None:
    trial = flows_of(lambda at: 2e6, lambda at: 0.09e6 if 5 <= at < 9 else 1e6)
    assert trial.value("starved", 0) == 0
    assert trial.value("starved", 1) == pytest.approx(4, abs=0.25)
    assert trial.value("starved", 1, (6, 8)) == pytest.approx(2, abs=0.25)
    silent = flows_of(lambda at: 0.0 if at > 5 else 1e6, lambda at: 0.0 if at > 5 else 1e6)
    assert silent.value("starved", 0) == 0, "what nobody has is nobody's"
    lost = Measured(trial.result, {})
    assert lost.value("starved", 0) is None
    assert lost.value("goodput", 0, (2, 8)) is None


def test_a_rule_about_a_part_of_the_time_is_kept_with_the_run_and_said_in_words(tmp_path: Path) -> None:
    text = "  - {name: r, measure: {metric: goodput, between: [1 s, 2500 ms], least: 8 Mbit/s}}\n"
    (made,) = load_scenario(written(tmp_path, text)).expect
    assert (made.between_s, made.measured) == ((1.0, 2.5), "goodput from 1 s to 2.5 s")
    folder = run_with(tmp_path / "r", made)
    assert Store(folder).open().expect == (made,)
    about = json.loads((folder / "run.json").read_text())
    about["expect"][0]["between_ns"] = [5]
    (folder / "run.json").write_text(json.dumps(about))
    with pytest.raises(UserError, match="no part of the time"):
        _ = Store(folder).open().expect


def test_a_part_of_the_time_can_count_from_an_event_and_one_that_did_not_come_is_never_a_pass() -> None:
    trial = flows_of(lambda at: 4e6 if at < 10 else 1e6)
    came = EventResult("path", 1, "flow 0 is in recovery", 10.0, None, "recovery", None)
    second = replace(came, entry=2, at_s=None, state=None)
    trial = replace(trial, result=replace(trial.result, schedule_events=(came, second)))
    slow = rule(least="0.5 Mbit/s", most="1.5 Mbit/s", between_ns=(10**9, 5 * 10**9))
    asked = [replace(slow, name=str(n), since=since) for n, since in enumerate(("path", "path 1", "path 2", "wan", ""))]
    found = verdicts(asked, [trial])
    assert [each.outcome for each in found] == ["passed", "passed", "not checked", "not checked", "failed"]
    assert found[0].low == pytest.approx(1e6)
    assert "the event of path 2 did not come" in (found[2].seen or "")
    assert found[0].data()["since"] == "path"
    assert asked[0].measured == "goodput from 1 s to 5 s after the event of path"


ROUND_TRIPS = "  - {name: r, measure: {metric: goodput, between: {rtts: [10, 50]}, since: 2000 ms, least: 1 Mbit/s}}\n"


def test_a_part_of_the_time_can_be_counted_in_round_trips_and_be_since_a_time(tmp_path: Path) -> None:
    """Of the path's round trip as it was asked of each trial: 20 ms and 50 ms make other parts of the same rule."""
    (made,) = load_scenario(written(tmp_path, ROUND_TRIPS)).expect
    assert (made.between_rtts, made.between_ns, made.since, made.since_s) == ((10, 50), (), "2 s", 2.0)
    assert made.measured == "goodput from 10 to 50 round trips after 2 s"
    trial = flows_of(lambda at: 4e6 if 2.2 <= at < 3 else 1e6)
    for rtt, part in (("20 ms", (2.2, 3.0)), ("50 ms", (2.5, 4.5))):
        assert over(trial, {"rtt": rtt}).part(made) == pytest.approx(part)
    (found,) = verdicts([made], [over(trial, {"rtt": "20 ms"})])
    assert (found.outcome, found.data()["between_rtts"]) == ("passed", (10.0, 50.0))
    assert found.low == pytest.approx(4e6)
    jsonschema.validate(yaml.safe_load((tmp_path / "x.yaml").read_text()), schema("scenario"))


def test_round_trips_count_from_an_event_too() -> None:
    trial = flows_of(lambda at: 4e6 if at < 10 else 1e6)
    came = EventResult("path", 1, "flow 0 is in recovery", 10.0, None, "recovery", None)
    trial = replace(trial, result=replace(trial.result, schedule_events=(came,)))
    slow = rule(least="0.5 Mbit/s", most="1.5 Mbit/s", between_rtts=(10, 50), since="path")
    (found,) = verdicts([slow], [over(trial, {"rtt": "100 ms"})])
    assert (found.outcome, slow.what) == ("passed", "goodput from 10 to 50 round trips after the event of path")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rtt: 20 ms}}", "rtt: 20 ms, schedule: [{at: 1 s, rtt: 60 ms}]}}", "that of the link path changes"),
        ("rtt: 20 ms}}", "rtt: 20 ms, schedule: [{at: 1 s, delay: {forward: 60 ms}}]}}", "of the link path changes"),
        ("rtt: 20 ms}}", "rtt: 20 ms, wander: {sd: 1 ms, correlation: 1 s}}}", "that of the link path changes"),
        ("rtt: 20 ms}}", "rtt: 0 s}}", "the path has no round trip to count in: path .*; allowed: an rtt, or between"),
    ],
)
def test_a_round_trip_that_is_not_known_or_does_not_stay_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    scenario = SCENARIO.replace("sweep: {path.rtt: [20 ms, 50 ms], flows: [1, 2]}\n", "sweep: {flows: [1, 2]}\n")
    scenario = scenario.replace("exclude: [{path.rtt: 50 ms, flows: 2}]\n", "")
    assert load_scenario(written(tmp_path, ROUND_TRIPS, scenario)).expect
    assert old in scenario
    with pytest.raises(SpecError, match=rf"x\.yaml:9: rtts: .*{said}"):
        load_scenario(written(tmp_path, ROUND_TRIPS, scenario.replace(old, new)))
    still = scenario.replace(old, new)
    if "schedule" in new:  # an option changes nothing of that
        with pytest.raises(SpecError, match=said):
            load_scenario(written(tmp_path, ROUND_TRIPS, still), ["path.rate=20 Mbit/s"])


@pytest.mark.parametrize("part", ["{rtts: [10, 50]}", "[1 s, 3 s]"])
def test_an_option_that_shortens_the_workload_runs_without_what_then_cannot_be_checked(
    tmp_path: Path, part: str
) -> None:
    """In round trips as in times."""
    file = written(tmp_path, ROUND_TRIPS.replace("{rtts: [10, 50]}", part))
    assert load_scenario(file, ["workload.duration=1 s"]).expect
    file.write_text(file.read_text() + "quick: {note: n, workload.duration: 1 s}\n")
    assert load_scenario(file, quick=True).expect


def test_round_trips_may_end_with_the_workload(tmp_path: Path) -> None:
    """Of 534 ms as a float, in nanoseconds, and two more the sum is not 536 ms."""
    short = SCENARIO.replace("duration: 5 s", "duration: 536 ms").replace("20 ms, 50 ms", "1 ms, 2 ms")
    short = short.replace("exclude: [{path.rtt: 50 ms, flows: 2}]\n", "samples: {interval: 1 ms}\n")
    part = "{rtts: [0, 2]}, since: 534 ms, where: {path.rtt: 1 ms}"
    ends = ROUND_TRIPS.replace("{rtts: [10, 50]}, since: 2000 ms", part)
    assert load_scenario(written(tmp_path, ends, short)).expect


def over(trial: Measured, path: dict[str, Any], **changes: Any) -> Measured:
    """The same, as if it had been asked of such a path."""
    return replace(trial, asked=lambda: make_trial({"rtt": "100 ms", **path}, {"duration": "20 s"}, **changes))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ({"schedule": [{"at": "1 s", "rtt": "60 ms"}]}, "that of the link path changes, in the trial seed=1"),
        ({"wander": {"sd": "1 ms", "correlation": "1 s"}}, "that of the link path changes, in the trial"),
        ({"rtt": "0 ms", "buffer": "100 packets"}, "the path has no round trip to count in: path, in the trial"),
        ({"schedule": [{"at": "1 s", "rate": "2 Mbit/s"}]}, None),
    ],
)
def test_a_round_trip_that_did_not_stay_is_never_a_pass(path: dict[str, Any], said: str | None) -> None:
    """As in an exercise, whose network its rule does not know."""
    (found,) = verdicts([rule(least="1 Mbit/s", between_rtts=(10, 50))], [over(flows_of(lambda at: 4e6), path)])
    assert found.outcome == ("passed" if said is None else "not checked")
    assert said is None or said in (found.seen or "")


def test_only_the_path_of_the_flows_has_the_round_trip_that_counts(tmp_path: Path) -> None:
    """Before it runs, as `testbed check` finds it, and after that alike."""
    changing = {"ends": ["c", "b"], "rtt": "60 ms", "schedule": [{"at": "1 s", "rtt": "90 ms"}]}
    links = {"path": {"ends": ["a", "b"], "rate": "10 Mbit/s", "rtt": "100 ms"}, "aside": changing}
    nodes = {name: {"type": "host"} for name in ("a", "b", "c")}
    trial = over(flows_of(lambda at: 4e6), {}, topology={"name": "t", "nodes": nodes, "links": links})
    counted = rule(least="1 Mbit/s", between_rtts=(10, 50))
    assert outcomes(counted, trials=[trial]) == ["passed"]
    assert outcomes(counted, trials=[flows_of(lambda at: 4e6)]) == ["not checked"], "nobody knows its path"
    made = Made({"path.rtt": "20 ms"}, [4e6])
    folder = write_run(tmp_path / "r", [made]) / "trials" / made.id
    assert read_measured(folder, trial_result(made), []).part(counted) == pytest.approx((0.2, 1.0))


def test_a_rule_in_round_trips_is_kept_with_the_run(tmp_path: Path) -> None:
    late = rule(between_rtts=(5, 20), since="10 s")
    folder = run_with(tmp_path / "r", late, rule(name="s"))
    assert Store(folder).open().expect == (late, rule(name="s"))
    about = json.loads((folder / "run.json").read_text())
    assert ["between_rtts" in each for each in about["expect"]] == [True, False]
    for wrong in ([20, 5], [5]):
        about["expect"][0]["between_rtts"] = wrong
        (folder / "run.json").write_text(json.dumps(about))
        with pytest.raises(UserError, match="no part of the time"):
            _ = Store(folder).open().expect


@pytest.mark.parametrize(("schedule", "outcome"), [([], "passed"), ([{"at": "1 s", "down": True}], "not checked")])
def test_a_ring_of_switches_that_breaks_has_no_round_trip_that_stays(schedule: list[Any], outcome: str) -> None:
    ends = {"own": ["a", "s"], "other": ["b", "t"], "st": ["s", "t"], "tu": ["t", "u"], "us": ["u", "s"]}
    links: dict[str, Any] = {name: {"ends": each, "rate": "10 Mbit/s", "rtt": "10 ms"} for name, each in ends.items()}
    links["st"] |= {"schedule": schedule} if schedule else {}
    nodes = {name: {"type": "host"} if name in "ab" else {"type": "switch", "stp": True} for name in "abstu"}
    trial = over(flows_of(lambda at: 4e6), {}, topology={"name": "t", "nodes": nodes, "links": links})
    (found,) = verdicts([rule(least="1 Mbit/s", between_rtts=(10, 50))], [trial])
    assert (found.outcome, (found.seen or "").partition(",")[0]) == (
        outcome,
        "the round trip does not stay: when the link st is down" if schedule else "",
    )


def test_a_part_of_the_time_in_which_nothing_was_sampled_is_never_a_pass() -> None:
    trial = flows_of(lambda at: 4e6)
    interval_s = float(trial.samples()[0].time_s[1] - trial.samples()[0].time_s[0])
    ends = [10**9 + round(share * interval_s * 1e9) for share in (1, 0.9, 1e-6)]
    found = verdicts([rule(least="1 Mbit/s", between_ns=(10**9, end)) for end in ends], [trial])
    assert [each.outcome for each in found] == ["passed", "not checked", "not checked"]
    assert "shorter than from one sample to the next" in (found[1].seen or "")


def test_a_rule_that_counts_from_an_event_is_kept_with_the_run(tmp_path: Path) -> None:
    late = rule(between_ns=(1, 2), since="path 2")
    folder = run_with(tmp_path / "r", late, rule(name="s"))
    assert Store(folder).open().expect == (late, rule(name="s"))
    about = json.loads((folder / "run.json").read_text())
    assert ["since" in each for each in about["expect"]] == [True, False]
    about["expect"][0]["since"] = "path two"
    (folder / "run.json").write_text(json.dumps(about))
    with pytest.raises(UserError, match="since is no event"):
        _ = Store(folder).open().expect


def run_with(folder: Path, *rules: Expectation, verdict: str = "valid", listed: int = 2) -> Path:
    """A run of two cells with so many listed trials of which two are there."""
    made = [Made({"path.rtt": rtt}, [9e6], verdict=verdict) for rtt in ("20 ms", "50 ms")]
    write_run(folder, made)
    about = json.loads((folder / "run.json").read_text()) | {"expect": run_file.rules_data(rules)}
    about["trials"] += [f"lost-{number}" for number in range(listed - 2)]
    (folder / "run.json").write_text(json.dumps(about))
    return folder


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    return partial(said_by, capsys)


Called = Callable[..., Said]


def test_results_end_with_1_unless_all_rules_hold(tmp_path: Path, called: Called) -> None:
    good, bad = rule(), rule(name="much", least="10 Mbit/s", message="Look at the buffer.")
    kept, broken = run_with(tmp_path / "kept", good), run_with(tmp_path / "broken", good, bad)
    assert called("results", str(kept))[0] == 0
    code, out, _ = called("results", str(broken))
    assert code == 1
    assert "1 of 2 rules holds" in out
    assert "Look at the buffer." in out
    code, out, err = called("results", str(broken), "--format", "json")
    assert (code, len(json.loads(out))) == (1, 2)
    assert "rule much failed: goodput is 9 Mbit/s, and should be at least 10 Mbit/s" in err
    assert called("results", str(run_with(tmp_path / "lost", good, listed=3)))[0] == 1
    assert called("results", str(run_with(tmp_path / "doubtful", good, verdict="suspect")))[0] == 1


def test_rules_leave_as_json_csv_and_junit(tmp_path: Path, called: Called) -> None:
    run = str(
        run_with(
            tmp_path / "r", rule(), rule(name="much", least="10 Mbit/s"), rule(name="gone", metric="share", number=7)
        )
    )
    code, out, _ = called("results", run, "--by", "rule", "--format", "json")
    assert code == 1
    assert [each["outcome"] for each in json.loads(out)] == ["passed", "failed", "not checked"]
    assert json.loads(out)[0]["least"] == 8e6
    rows = list(csv.DictReader(io.StringIO(called("results", run, "--by", "rule", "--format", "csv")[1])))
    assert [(row["outcome"], row["failed_trials"]) for row in rows] == [
        ("passed", ""),
        ("failed", "rtt=20ms,seed=1; rtt=50ms,seed=1"),
        ("not checked", ""),
    ]
    code, out, _ = called("results", run, "--format", "junit")
    suite = ElementTree.fromstring(out)[0]
    assert code == 1
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")
    assert float(suite.get("time", "0")) > 0
    assert float(suite.get("time", "0")) == sum(float(each.get("time", "0")) for each in suite.iter("testcase"))
    failed = [each.get("name") for each in suite.iter("testcase") if each.find("failure") is not None]
    assert failed == ["much", "gone"]
    lost = str(run_with(tmp_path / "lost", rule(), listed=3))
    suite = ElementTree.fromstring(called("results", lost, "--format", "junit")[1])[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")


def test_rules_that_are_not_there_are_not_printed(tmp_path: Path, called: Called) -> None:
    write_run(tmp_path / "r", [Made({"path.rtt": "20 ms"}, [9e6])])
    for words in (("--by", "rule"), ("--format", "junit")):
        code, _, err = called("results", str(tmp_path / "r"), *words)
        assert code == 2
        assert "has no rules" in err


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("least", None),
        ("least", "fast"),
        ("least", "nan"),
        ("where", {"path.rtt": 5}),
        ("name", "a\x1b[31m"),
        ("metric", 7),
    ],
)
def test_damaged_rules_are_said(tmp_path: Path, key: str, value: Any) -> None:
    folder = run_with(tmp_path / "r", rule())
    about = json.loads((folder / "run.json").read_text())
    about["expect"][0][key] = value
    (folder / "run.json").write_text(json.dumps(about))
    with pytest.raises(UserError, match="damaged"):
        judged(Store(folder), Store(folder).results())


def test_a_run_keeps_its_rules_and_other_rules_make_another_scenario(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path, FILLS))
    store = Store(tmp_path / "r")
    store.create("x", {}, ["t"], expect=scenario.expect)
    assert store.expect == scenario.expect
    store.list_trials(["t", "u"])
    assert store.expect == scenario.expect
    other = load_scenario(written(tmp_path, FILLS.replace("8 Mbit/s", "9 Mbit/s")))
    assert scenario_key(other) != scenario_key(scenario) != scenario_key(replace(scenario, expect=()))


def test_the_report_tells_the_rules(tmp_path: Path) -> None:
    run = run_with(tmp_path / "r", rule(), rule(name="much", least="10 Mbit/s", message="Look."))
    told = view(stored_run.read(run))["rules"]
    assert [(each["name"], each["outcome"], each["range"]) for each in told] == [
        ("r", "passed", "9 Mbit/s"),
        ("much", "failed", "9 Mbit/s"),
    ]
    assert told[1]["why"].endswith("; Look.")


@pytest.mark.parametrize("decided", [0, 5])
def test_a_run_until_decided_ends_with_0_only_if_its_rules_hold_too(
    decided: int, tmp_path: Path, called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Decided:
        def foretell(self, *_: object) -> None:
            return None

        def carry_out(self, *_: object) -> None:
            if decided:
                raise typer.Exit(decided)

    def run_trial(trial: Trial, made: object, folder: Path, **options: object) -> TrialResult:
        write_result(folder, trial, result := make_result(trial))
        return result

    monkeypatch.setattr(sweep.runner, "run", run_trial)
    monkeypatch.setattr(sweep.readiness, "check", lambda trial, made: None)
    monkeypatch.setattr("testbed.commands.measure.run_until_decided.Decision.of", lambda options, loaded: Decided())
    for least, code in (("8 bit/s", decided), ("8 Gbit/s", decided or 1)):
        file = written(tmp_path, FILLS.replace("8 Mbit/s", least))
        ended, out, _ = called("run", str(file), "-o", str(tmp_path / "r"), "--until-decided", "--base", "x")
        assert ended == code
        assert ("1 of 1 rule holds" if least == "8 bit/s" else "0 of 1 rule hold") in out


@pytest.mark.lab
def test_a_run_ends_with_1_if_a_rule_does_not_hold(tmp_path: Path, called: Called) -> None:
    more = "  - {name: near, measure: {metric: rtt, where: {path.rtt: 20 ms}, most: %s}}\n"
    one = SCENARIO.replace("flows: [1, 2]}\nexclude: [{path.rtt: 50 ms, flows: 2}]\n", "flows: [1]}\n")
    folder = str(tmp_path / "r")
    code, out, _ = called("run", str(written(tmp_path, FILLS + more % "15 ms", one)), "-o", folder, "--jobs", "1")
    assert code == 1
    assert "2 valid" in out
    assert "near failed: rtt where path.rtt is 20 ms is " in out
    code, out, _ = called("run", str(written(tmp_path, FILLS + more % "1 s", one)), "-o", folder, "--jobs", "1")
    assert code == 0
    assert "2 of 2 rules hold" in out


@pytest.mark.lab
def test_round_trips_of_each_trial_are_its_own_and_have_the_values_of_the_times_that_they_are(
    tmp_path: Path, called: Called
) -> None:
    one = SCENARIO.replace("flows: [1, 2]}\nexclude: [{path.rtt: 50 ms, flows: 2}]\n", "flows: [1]}\n")
    asked = "  - {name: NAME, measure: {metric: goodput, where: {path.rtt: RTT ms}, PART, least: 1 bit/s}}\n"
    rules = "".join(
        asked.replace("NAME", f"{name}-{rtt}").replace("RTT", rtt).replace("PART", part)
        for rtt, times in (("20", "1200 ms, 2 s"), ("50", "1500 ms, 3500 ms"))
        for name, part in (("times", f"between: [{times}]"), ("rtts", "since: 1 s, between: {rtts: [10, 50]}"))
    )
    run = tmp_path / "r"
    assert called("run", str(written(tmp_path, rules, one)), "-o", str(run), "--jobs", "1")[0] == 0
    found = {each.rule.name: each.low for each in judged(Store(run), Store(run).results())}
    assert found["rtts-20"] == pytest.approx(found["times-20"], rel=1e-9)
    assert found["rtts-50"] == pytest.approx(found["times-50"], rel=1e-9)
    assert found["rtts-20"] != found["rtts-50"]


@pytest.mark.lab
def test_a_share_of_the_trials_is_not_judged_and_the_whole_is(tmp_path: Path, called: Called) -> None:
    scenario = written(tmp_path, FILLS, SCENARIO.replace("exclude: [{path.rtt: 50 ms, flows: 2}]\n", ""))
    trials = load_scenario(scenario, ["repetitions=2"]).trials()
    shards = [number for number in range(1, 9) if any(Shard(8, number).has(each) for each in trials)]
    assert len(shards) > 1
    parts = [str(tmp_path / f"part{number}") for number in shards]
    for number, part in zip(shards, parts, strict=True):
        words = ("--set", "repetitions=2", "--shard", f"{number}/8", "--jobs", "1")
        code, out, _ = called("run", str(scenario), "-o", part, *words)
        assert code == 0
        assert "1 rule of expect: judged by testbed merge, when all shards are there" in out
    assert called("merge", *parts[1:], "-o", str(tmp_path / "half"))[0] == 4
    assert called("results", str(tmp_path / "half"))[0] == 1
    code, out, _ = called("merge", *parts, "-o", str(tmp_path / "whole"))
    assert code == 0
    assert "1 of 1 rule holds" in out


ANSWERS = """name: x
topology:
  name: x
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 20 ms}}
workload: {tool: flow, from: a, to: b, duration: 5 s, flows: 2}
samples: {interval: 100 ms}
expect:
"""
BULK = "tool: flow, from: a, to: b, duration: 5 s, flows: 2"
ARRIVING = "tool: flow, from: a, to: b, arrivals: {poisson: 5 /s}, size: 10 kB, duration: 5 s"
PAIR = "from: a, to: b, duration: 5 s, flows: 2"
WORKLOADS = {
    "flow": BULK,
    "alone": "tool: flow, from: a, to: b, duration: 5 s",
    "arrivals": ARRIVING,
    "iperf3": f"tool: iperf3, {PAIR}",
    "iperf3-udp": f"tool: iperf3, protocol: udp, rate: 1 Mbit/s, {PAIR}",
    "udp": f"tool: udp, rate: 1 Mbit/s, {PAIR}",
    "ping": "tool: ping, from: a, to: b",
    "http": "tool: http, from: a, to: b, sizes: 1 MiB, downloads: 3, concurrency: 2",
    "apart": "tool: flow, from: a, to: b, duration: 2 s, flows: 2, start: 3 s",
    "short": "tool: flow, from: a, to: b, duration: 3 s, flows: 2",
}
FLOW_TIMES = {"fct", "fct-p95", "fct-p99", "slowdown", "slowdown-p99", "unfinished"}
SAMPLED = {"rtt", "rtt-p95", "rtt-p99"}
POSSIBLE = {
    "flow": {"goodput", "flow-goodput", "retransmits", *SAMPLED, "fairness", "convergence", "share", "starved"},
    "alone": {"goodput", "flow-goodput", "retransmits", *SAMPLED, "convergence"},
    "arrivals": {"goodput", "flow-goodput", "retransmits", *FLOW_TIMES},
    "iperf3": {"goodput", "flow-goodput", "retransmits", "fairness", "share"},
    "iperf3-udp": {"goodput", "flow-goodput", "fairness", "share"},
    "udp": {"goodput", "flow-goodput", "fairness", "share"},
    "ping": {"ping-p50", "ping-p95", "ping-p99"},
    "http": {"goodput", "flow-goodput", "fairness", "share"},
    "apart": {"goodput", "flow-goodput", "retransmits", *SAMPLED, "share", "starved"},
    "short": {"goodput", "flow-goodput", "retransmits", *SAMPLED, "fairness", "share", "starved"},
}
"""What trials of these workloads measured, in lab kernels; `test_a_trial_has_what_check_says_it_can_have` runs them."""
MOST = {"s": "most: 100 s", "bit/s": "most: 1 Tbit/s", "ratio": "most: 99.99 %"}


def asking(metric: str, more: str = "") -> str:
    unit = {**METRIC_UNITS, **EXTRA_UNITS}[metric]
    most = "most: 1000" if metric.startswith("slowdown") else MOST.get(unit, "most: 1000")
    return f"  - {{name: r, measure: {{metric: {metric}, {most}{more}}}}}\n"


def test_every_metric_says_what_it_needs() -> None:
    assert {*NEEDS} == {*METRIC_UNITS, *EXTRA_UNITS}


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_rule_that_no_trial_can_answer_is_refused_with_its_line(workload: str, tmp_path: Path) -> None:
    text = ANSWERS.replace(BULK, WORKLOADS[workload])
    for metric in NEEDS:
        file = written(tmp_path, asking(metric), text)
        if metric in POSSIBLE[workload]:
            assert load_scenario(file).expect
            continue
        with pytest.raises(SpecError, match=rf"x\.yaml:9: .*no trial can have {metric}, which needs .*; allowed:"):
            load_scenario(file)


def test_what_is_refused_names_what_such_trials_have(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        load_scenario(written(tmp_path, asking("fct-p99"), ANSWERS))
    assert str(refused.value).endswith(
        "x.yaml:9: metric: no trial can have fct-p99, which needs flows of `tool: flow` that arrive "
        "and end (arrivals); allowed: goodput, retransmits, rtt, rtt-p95, rtt-p99, fairness, convergence, share, "
        "flow-goodput, starved (did you mean 'rtt-p99'?); or another workload"
    )


NEVER = [
    ("samples: {interval: 100 ms}", "samples: none", "goodput", ", between: [1 s, 2 s]"),
    (BULK, BULK, "starved", ", number: 2"),
    (BULK, BULK, "flow-goodput", ", number: 2"),
    ("samples: {interval: 100 ms}", "samples: none", "rtt", ""),
    ("samples: {interval: 100 ms}", "samples: none", "convergence", ""),
    ("flows: 2}", "flows: 2, start: 2 s}\nsamples: none", "fairness", ""),
    (BULK, "tool: flow, from: a, to: b, duration: 5 s, flows: 2, start: 2 s", "convergence", ""),
    (BULK, BULK, "share", ", number: 2"),
    (BULK, BULK, "against", ""),
]


@pytest.mark.parametrize(("old", "new", "metric", "more"), NEVER)
def test_numbers_samples_and_times_count(old: str, new: str, metric: str, more: str, tmp_path: Path) -> None:
    text = ANSWERS.replace("samples: {interval: 100 ms}\n", "") if "\nsamples" in new else ANSWERS
    is_part = "between" in more
    said = f"can have {metric}{' from 1 s to 2 s' if is_part else ''}, which needs .*{'no between' if is_part else ''}"
    with pytest.raises(SpecError, match=said):
        load_scenario(written(tmp_path, asking(metric, more), text.replace(old, new)))


def test_a_background_is_what_against_is_about(tmp_path: Path) -> None:
    there = "background: {other: {pattern: constant, from: a, to: b, rate: 1 Mbit/s}}\nexpect:"
    text = ANSWERS.replace("expect:", there)
    assert load_scenario(written(tmp_path, asking("against"), text)).expect
    with pytest.raises(SpecError, match="can have against"):
        load_scenario(written(tmp_path, asking("against", ", number: 1"), text))


def test_a_number_that_is_another_background_in_another_cell_is_refused(tmp_path: Path) -> None:
    """The only one of its kind is `bulk`, and the first of three `bulk-1`: the same one."""
    same = "pattern: constant, from: a, to: b, rate: 1 Mbit/s"
    there = f"background: {{bulk: {{{same}}}, web: {{{same}}}}}\nsweep: {{background.bulk.count: [1, 3]}}\nexpect:"
    text = ANSWERS.replace("expect:", there)
    what = r"x\.yaml:\d+: number: background 1 is bulk-2 or web, by the cell; allowed: one that has this number in all"
    with pytest.raises(SpecError, match=what):
        load_scenario(written(tmp_path, asking("against", ", number: 1"), text))
    with pytest.raises(SpecError, match=what):  # whatever else an option varies
        load_scenario(written(tmp_path, asking("against", ", number: 1"), text), ["duration=6 s"])
    assert load_scenario(written(tmp_path, asking("against", ", number: 0"), text)).expect
    alone = ", number: 1, where: {background.bulk.count: 3}"
    assert load_scenario(written(tmp_path, asking("against", alone), text)).expect
    last = text.replace(f"{{bulk: {{{same}}}, web: {{{same}}}}}", f"{{web: {{{same}}}, bulk: {{{same}}}}}")
    assert load_scenario(written(tmp_path, asking("against", ", number: 1"), last)).expect


def test_a_cell_that_cannot_answer_is_named_and_where_leaves_it_out(tmp_path: Path) -> None:
    text = ANSWERS.replace("expect:", "sweep: {flows: [1, 2]}\nexpect:")
    with pytest.raises(SpecError, match="no trial where flows is 1 can have fairness"):
        load_scenario(written(tmp_path, asking("fairness"), text))
    assert load_scenario(written(tmp_path, asking("fairness", ", where: {flows: 2}"), text)).expect
    over = asking("fairness", ", where: {flows: 2}, over: {flows: 1}").replace("99.99 %", "99")
    with pytest.raises(SpecError, match="no trial where flows is 1 can have fairness"):
        load_scenario(written(tmp_path, over, text))


def metrics_of(run: Path) -> set[str]:
    """What the trials of a run have."""
    store = Store(run)
    found = [read_measured(store.path / "trials" / each.id, each, [*METRICS]) for each in store.results()]
    return {name for name in NEEDS for each in found if each.value(name, 0) is not None}


@pytest.mark.lab
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_trial_has_what_check_says_it_can_have(workload: str, tmp_path: Path, called: Called) -> None:
    text = ANSWERS.replace(BULK, WORKLOADS[workload]).replace("expect:\n", "")
    run = tmp_path / "r"
    assert called("run", str(written(tmp_path, "", text)), "-o", str(run), "--jobs", "1")[0] == 0
    alone = {"share"} if workload in ("alone", "arrivals") else set()  # which is always 100 %
    assert metrics_of(run) - alone == POSSIBLE[workload]


EVIDENCE = frozenset({"result.json", "host.json", "trial.json"})
"""The files of a trial without which no rule can hold; those about the metrics of NEED_SAMPLES need one more."""
NEED_SAMPLES = {name for name, each in METRICS.items() if each.needs_samples} | {*OF_SAMPLES}


@pytest.mark.lab
@pytest.mark.parametrize("workload", ["flow", "arrivals"])
def test_no_rule_passes_without_its_evidence(workload: str, tmp_path: Path, called: Called) -> None:
    text, run = ANSWERS.replace(BULK, WORKLOADS[workload]), tmp_path / "r"
    metrics = [each for each in NEEDS if each in POSSIBLE[workload]]
    rules = "".join(asking(each).replace("name: r", f"name: {each}") for each in metrics)
    assert called("run", str(written(tmp_path, rules, text)), "-o", str(run), "--jobs", "1")[0] == 0
    (trial,) = (run / "trials").iterdir()
    for file in sorted(trial.iterdir()):
        data = file.read_bytes()
        file.unlink()
        passed = set() if file.name in EVIDENCE else {*metrics}
        passed -= NEED_SAMPLES if file.name == "samples.parquet" else set()
        try:
            held = {each.rule.name for each in judged(Store(run), Store(run).results()) if each.outcome == "passed"}
        except UserError:
            held = set()
        assert held == passed, file.name
        code = called("results", str(run))[0]
        assert (code == 0) == (passed == {*metrics}), file.name
        file.write_bytes(data)
    assert all(each.outcome == "passed" for each in judged(Store(run), Store(run).results()))


@pytest.mark.parametrize("metric", ["rtt", "rtt-p95", "fairness", "convergence"])
def test_a_rule_names_the_samples_that_are_gone(metric: str, tmp_path: Path) -> None:
    made = Made({}, [5e6, 5e6], changes={"samples": {"interval": "100 ms"}})
    folder = write_run(tmp_path / "r", [made])
    (trial,) = (folder / "trials").iterdir()
    asked = Expectation("r", metric, METRIC_UNITS[metric], most="1000 s" if METRIC_UNITS[metric] == "s" else "100 %")

    def seen() -> Any:
        (found,) = Store(folder).results()
        return verdicts([asked], [read_measured(trial, found, [metric])])[0]

    assert seen().outcome == "passed"
    (trial / "samples.parquet").unlink()
    assert (seen().outcome, seen().seen) == (
        "not checked",
        f"the trial {trial.name} has no {metric}: its samples.parquet is missing",
    )
