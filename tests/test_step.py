"""Steps to JSON and back, over every plan that is tested and every ready topology."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shipped import scenarios

from testbed.agent.step import KINDS
from testbed.error import UserError
from testbed.plan import step as steps
from testbed.plan.step import (
    FORMS,
    Align,
    Await,
    AwaitCables,
    Bring,
    LendNics,
    Location,
    Moment,
    Needs,
    ReachMachine,
    ReachVm,
    Read,
    Run,
    Serve,
    Sleep,
    StartController,
    StartVm,
    Step,
    Stop,
    Timeline,
    Write,
    data,
    step_of,
)
from testbed.spec.load import load_scenario
from testbed.trial.orders.sequence import orders

ROOT = Path(__file__).parents[1]
SCENARIOS = scenarios()


def plain(step: Step) -> Step:
    """What starts a controller or a machine is any program, once the kernel has put its words in."""
    if isinstance(step, StartController | StartVm):
        return Run(**{name: getattr(step, name) for name in Run.__dataclass_fields__})
    return step


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_step_of_a_scenario_comes_back_from_json(path: Path) -> None:
    trial = load_scenario(path).trials()[0]
    try:
        made = orders(trial)
    except UserError as error:  # a lab kernel has no virtual machines
        pytest.skip(str(error))
    for step in made.steps:
        assert step_of(json.loads(json.dumps(data(step)))) == plain(step)


def test_every_kind_of_step_is_one_that_the_agent_knows() -> None:
    assert {form.marks[0] for form in FORMS.values()} == set(KINDS)
    assert set(FORMS) == set(steps.Step.__args__)


def test_what_no_step_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no step has the keys walk"):
        step_of({"walk": 1})
    with pytest.raises(ValueError, match="no key 'backgruond'"):
        step_of({"run": ["true"], "backgruond": "x"})


EVERY_KIND: tuple[Step, ...] = (
    Stop("x"),
    Write((("/proc/sys/a", "1"),), Location("tb-a")),
    Read("netstat", (("a", "/proc/a"),), of="x"),
    Sleep(1.0),
    Run(("true",)),
    ReachMachine("m", "m", Needs((), (), (), (), (), "x86_64", ()), "/tools", "m.json"),
    LendNics("m", "m", "tb-m", ("eth0",)),
    AwaitCables("m", "m", "tb-m"),
    ReachVm("v", "p", "c", "s", 10.0, (("00:00", "eth0"),)),
    Timeline((Moment(5, (Sleep(1.0),), ()),)),
    Serve("/channel"),
    Await(("x",), ("y",)),
    Bring((("a", "/a"),), Location(on="m")),
    Align(0.01),
)


@pytest.mark.parametrize("step", EVERY_KIND, ids=lambda step: type(step).__name__)
def test_a_key_that_a_kind_of_step_does_not_have_is_refused(step: Step) -> None:
    assert step_of(data(step)) == step
    with pytest.raises(ValueError, match="no key 'wehre'"):
        step_of({**data(step), "wehre": "x"})


def test_every_kind_of_step_is_among_them() -> None:
    assert {type(step) for step in EVERY_KIND} == set(FORMS)


def test_keys_inside_a_step_are_looked_at_too() -> None:
    timeline, reach = data(EVERY_KIND[9]), data(EVERY_KIND[5])
    with pytest.raises(ValueError, match="no key 'after'"):
        step_of({**timeline, "timeline": [{**timeline["timeline"][0], "after": []}]})
    with pytest.raises(ValueError, match="no key 'nisc'"):
        step_of({**reach, "needs": {**reach["needs"], "nisc": []}})
    with pytest.raises(ValueError, match="has no 'out'"):
        step_of({key: value for key, value in reach.items() if key != "out"})


def test_a_step_says_only_what_it_needs_to() -> None:
    assert data(Run(("true",))) == {"run": ["true"]}
    assert data(Run(("true",), where=Location("tb-a"), may_fail=True)) == {
        "run": ["true"],
        "netns": "tb-a",
        "may_fail": True,
    }
    assert data(Serve((3, 4)))["serve"] == [3, 4]
    assert data(Run(("true",), where=Location())) == {"run": ["true"], "netns": None}


def test_a_step_of_a_kind_without_json_is_not_lost_in_silence() -> None:
    with pytest.raises(AssertionError, match="BUG: no JSON for a step of type object"):
        list(map(data, [Run(("true",)), object(), Run(("false",))]))  # type: ignore[list-item]


def test_a_limit_of_no_time_is_a_limit() -> None:
    step = Run(("true",), timeout_s=0.0)
    assert step_of(data(step)) == step
