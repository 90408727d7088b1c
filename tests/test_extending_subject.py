"""A thing that a trial looks at, from outside: the page's code appends it, and steps, gate and result have it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from shipped import page
from test_gate import fine
from trials import RunTrial, make_trial, steps_data

from testbed.kernel.guest import Ending, TrialError
from testbed.trial.evidence.case import Case, Subject
from testbed.trial.gate.judge import judge
from testbed.trial.orders.sequence import orders
from testbed.trial.subject.registry import SUBJECTS
from testbed.trial.summary import result

CODE = page("A thing that a trial looks at", "python")


@pytest.fixture(autouse=True)
def softnet() -> Iterator[Subject[Any]]:
    exec(compile(CODE, "docs/extending.md", "exec"), {})
    yield SUBJECTS[-1]
    SUBJECTS.pop()


def case(seen: Any) -> Case:
    trial = make_trial()
    plan = orders(trial).plan
    evidence = fine(trial, plan)
    return Case(trial, plan, replace(evidence, things={**evidence.things, "softnet": seen}))


def test_it_is_asked_before_the_workload_and_after_it() -> None:
    names = [name for step in steps_data(orders(make_trial()).steps) for name in step.get("read", {})]
    mine = [name for name in names if name.startswith("softnet")]
    assert mine == [f"softnet-{host}-{when}.txt" for when in ("before", "after") for host in "ab"]


def test_it_is_read_as_a_difference(softnet: Subject[Any], tmp_path: Path) -> None:
    trial = make_trial()
    for host in "ab":
        (tmp_path / f"softnet-{host}-before.txt").write_text("00000001 00000000 00000002 0\n")
        (tmp_path / f"softnet-{host}-after.txt").write_text("00000009 00000000 0000000c 0\n0 0 00000001 0\n")
    assert softnet.read(trial, orders(trial).plan, tmp_path) == {"a": 11, "b": 11}


def test_the_gate_judges_it_and_the_result_has_it() -> None:
    assert judge(case({"a": 0, "b": 0})) == ()
    (found,) = judge(case({"a": 3, "b": 0}))
    assert (found.check, found.verdict, found.text) == ("softnet", "suspect", "a left packets waiting 3 times")
    (lacking,) = judge(case({"a": 0}))
    assert (lacking.verdict, lacking.text) == ("invalid", "missing: the packets that waited at b")
    done = result(case({"a": 3, "b": 0}), (), Ending("7.3.4", 10**9, 1.0))
    assert done.things == {"softnet": {"a": 3, "b": 0}}


@pytest.mark.parametrize("absurd", [None, {"a": -1, "b": 0}, {"a": "x", "b": 0}, {"a": 1.5, "b": 0}])
def test_what_no_trial_can_have_is_refused(absurd: Any) -> None:
    with pytest.raises(TrialError, match=r"the evidence is damaged: things\.softnet"):
        judge(case(absurd))


@pytest.mark.lab
def test_a_trial_has_it(run_trial: RunTrial) -> None:
    assert run_trial().result.things["softnet"].keys() == {"a", "b"}
