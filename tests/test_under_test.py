"""The control under test in the place of CUBIC: in every cell of the suite, on both sides alike."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from testbed.commands.candidate.contender import Contender
from testbed.commands.candidate.suite import FIRST, GROUPS, QUICK, chosen, given, named, ours
from testbed.commands.candidate.under_test import under_test
from testbed.error import UserError
from testbed.kernel.image.cache import KernelImage
from testbed.library import SCENARIOS
from testbed.model.background import Constant
from testbed.model.expectation import chosen as is_chosen
from testbed.model.run_setting import Kernel
from testbed.model.scenario import Scenario, Trial
from testbed.spec.load import load_scenario

IMAGE = KernelImage("mine", Path("/nowhere/linux"), "7.3.4", "", False, "", "key")


def side(control: str, name: str = "mine", **changes: object) -> Contender:
    return replace(Contender(control, control, Kernel("lab", name), IMAGE), **changes)  # type: ignore[arg-type]


@cache
def suite(control: str, base: str = "cubic") -> dict[str, Scenario]:
    files = ours(named([*GROUPS]))
    assert len(files) >= 8
    return {path.stem: under_test(load_scenario(path), side(control), base, 3) for path in files}


def controls(trial: Trial) -> list[str]:
    """Every control that runs in a trial: of the flows, then of the background."""
    background = [each.congestion for _, each in trial.background if not isinstance(each, Constant)]
    return [*(str(flow.congestion) for flow in trial.workload.asked_flows), *background]


def is_twin(scenario: Scenario, trial: Trial) -> bool:
    """Whether a rule divides by what it measures."""
    return any(rule.over is not None and is_chosen(rule.over, dict(trial.params)) for rule in scenario.expect)


def test_the_control_under_test_is_in_every_trial_of_the_suite_but_twins_and_cubic_is_only_an_incumbent() -> None:
    for name, scenario in suite("foo").items():
        for trial in scenario.trials():
            assert ("foo" in controls(trial)) != is_twin(scenario, trial), name
            assert "cubic" not in controls(trial) or name == "harm", name


def test_of_a_list_the_first_cubic_is_under_test_and_others_are_incumbents() -> None:
    found = {dict(each.params)["congestion"]: controls(each) for each in suite("foo")["harm"].trials()}
    assert found == {
        "tested + cubic": ["foo", "cubic"],
        "tested + reno": ["foo", "reno"],
        "reno + reno": ["reno", "reno"],
    }


def test_rules_name_the_control_under_test_and_the_twin_that_they_divide_by() -> None:
    (rule,) = (each for each in suite("foo")["harm"].expect if each.name == "harm-to-reno")
    assert rule.where == {"congestion": ("tested + reno",), "path.buffer": ("4 bdp",)}
    assert rule.over == {"congestion": ("reno + reno",)}


def test_the_base_of_the_suite_runs_what_the_files_say() -> None:
    for path in ours(named([*GROUPS])):
        plain = load_scenario(path, ["repetitions=3"])
        mine = under_test(load_scenario(path), side("cubic"), "cubic", 3)
        assert [controls(each) for each in mine.trials()] == [controls(each) for each in plain.trials()]


def test_background_flows_get_the_control_too() -> None:
    (trial, *_) = suite("foo")["rtt-unfairness"].trials()
    assert controls(trial) == ["foo", "foo"]


def test_in_coexistence_the_other_control_stays() -> None:
    cells = {tuple(controls(trial)) for trial in suite("foo")["coexistence"].trials()}
    assert cells == {("foo", "reno"), ("foo", "bbr")}


def test_a_base_other_than_cubic_changes_places_with_it() -> None:
    base = {tuple(controls(trial)) for trial in suite("bbr", base="bbr")["coexistence"].trials()}
    candidate = {tuple(controls(trial)) for trial in suite("foo", base="bbr")["coexistence"].trials()}
    assert base == {("bbr", "reno"), ("bbr", "cubic")}
    assert candidate == {("foo", "reno"), ("foo", "cubic")}


@pytest.mark.parametrize("base", ["cubic", "bbr"])
def test_both_sides_have_the_same_trials_by_name_and_parameters(base: str) -> None:
    first, second = suite(base, base), suite("foo", base)
    for name, scenario in first.items():
        mine, theirs = scenario.trials(), second[name].trials()
        assert [(each.id, each.params, each.seed) for each in mine] == [
            (each.id, each.params, each.seed) for each in theirs
        ]
        assert [axis.values for axis in scenario.axes] == [axis.values for axis in second[name].axes]


def test_no_parameter_names_a_control_that_does_not_run() -> None:
    for scenario in suite("foo", base="bbr").values():
        for trial in scenario.trials():
            told = dict(trial.params).get("congestion", "")
            assert {*told.replace("+", " ").split()} <= {"tested", *controls(trial)}


def test_nothing_but_control_and_kernel_differs() -> None:
    for name, scenario in suite("foo").items():
        for mine, plain in zip(scenario.trials(), suite("cubic")[name].trials(), strict=True):
            assert replace(mine, workload=plain.workload, background=plain.background) == plain
            assert mine.kernel == Kernel("lab", "mine")


def test_a_cell_without_the_control_under_test_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "mixed.yaml"
    file.write_text("""
name: mixed
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 20 Mbit/s, rtt: 20 ms}}
workload: {tool: flow, from: a, to: b, duration: 2 s}
sweep: {congestion: [reno, cubic, bbr]}
""")
    scenario = under_test(load_scenario(file), side("foo"), "cubic", 3)
    assert [cell.params for cell in scenario.cells] == [(("congestion", "tested"),)]


def test_two_scenarios_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="two files are called a; allowed: names that differ"):
        given((tmp_path / "a.yaml", tmp_path / "b" / "a.yaml"))


def test_another_kernel_control_or_setting_is_another_folder() -> None:
    plain = side("foo")
    others = [
        plain.identity("reno"),
        side("bar").identity("cubic"),
        replace(plain, settings=("sysctls.net.ipv4.tcp_sack=0",)).identity("cubic"),
        replace(plain, image=replace(IMAGE, key="other")).identity("cubic"),
    ]
    assert len({plain.identity("cubic"), *others}) == 5
    assert replace(plain, label="a new name").identity("cubic") == plain.identity("cubic")


def stems(*groups: str, is_quick: bool = False, is_full: bool = False) -> list[str]:
    return [path.stem for path in chosen((), groups, is_quick=is_quick, is_full=is_full)]


def test_the_parts_of_the_suite_are_in_its_order_and_each_file_has_one_group() -> None:
    whole = stems(is_full=True)
    assert sorted(whole) == sorted(path.stem for path in (SCENARIOS / "regression").glob("*.yaml"))
    assert sum(map(len, GROUPS.values())) == len(whole)
    assert (stems(), set(stems(is_quick=True))) == ([*FIRST], {*QUICK})
    assert set(stems("aqm", "loss")) == {*GROUPS["aqm"], *GROUPS["loss"]}
    for part in (stems(), stems(is_quick=True), stems("aqm", "sharing")):
        assert part == [each for each in whole if each in part]


def test_a_group_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match=r"there is no such group; allowed: capacity, .*'aqm'"):
        stems("aqms")
