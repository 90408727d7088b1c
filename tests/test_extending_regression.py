"""A regression scenario: one file, which make, the tests and the page's rules find."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from shipped import ROOT, page, scenarios

from testbed.model.link.impairment import Loss, PeriodicLoss, RandomLoss
from testbed.model.scenario import Scenario, Trial
from testbed.spec.load import load_scenario
from testbed.trial.orders.sequence import orders

TEXT = page("A regression scenario", "yaml")
NAME = "late-joiner"
SHIPPED = sorted((ROOT / "scenarios" / "regression").glob("*.yaml"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Of scenarios and Makefile, with the page's scenario in it and nothing else changed."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "scenarios" / "regression" / f"{NAME}.yaml").write_text(TEXT)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("regression", "run scenarios/regression/$name.yaml"),
        ("regression-compare", "compare results/regression/base results/regression/mine"),
    ],
)
def test_make_finds_it(checkout: Path, target: str, words: str) -> None:
    said = subprocess.run(
        ["make", "-n", target, "KERNEL=base", "BASE=base", "CANDIDATE=mine"],
        cwd=checkout, stdout=subprocess.PIPE, text=True, check=True,
    ).stdout  # fmt: skip
    assert NAME in said.partition("for name in ")[2].partition(";")[0].split()
    assert words in said


def test_tests_that_look_at_all_scenarios_find_it(checkout: Path) -> None:
    there, here = ({path.relative_to(root) for path in scenarios(root)} for root in (checkout, ROOT))
    assert there - here == {Path(f"scenarios/regression/{NAME}.yaml")}
    assert {path.parent.name for path in scenarios()} >= {"scenarios", "regression"}


def test_the_scenario_of_the_page_keeps_the_rules(checkout: Path) -> None:
    check(checkout / "scenarios" / "regression" / f"{NAME}.yaml")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_regression_scenario_keeps_the_rules(path: Path) -> None:
    check(path)


def check(path: Path) -> None:
    scenario = load_scenario(path)
    assert path.read_text().startswith("# "), "its first line does not say what it shows"
    assert scenario.name == f"regression-{path.stem}"
    assert repetitions(scenario) >= 8
    for trial in {tuple(each.params): each for each in scenario.trials()}.values():
        assert is_random(trial), f"{trial.id}: every seed comes out alike"
        assert orders(trial).steps


def repetitions(scenario: Scenario) -> int:
    """The fewest of a cell."""
    return min(Counter(each.params for each in scenario.trials()).values())


def is_random(trial: Trial) -> bool:
    directions = [way for link in trial.topology.links for way in (link.forward, link.backward, link.data)]
    wanders = any(link.wander is not None and link.wander.sd_ns for link in trial.topology.links)
    return wanders or any(way.jitter or isinstance(way.loss, RandomLoss) or _is_seeded(way.loss) for way in directions)


def _is_seeded(loss: Loss | None) -> bool:
    return isinstance(loss, PeriodicLoss) and loss.phase == "seeded"
