"""Two values of an axis of one run, and of a group of axes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from comparing import Compare
from storedruns import Made, trial_result, write_run

from testbed.compare.side import Measured, Missing, Run, primary_of, single, split
from testbed.error import UserError

GROUPS = (("4 KiB", "4 KiB", 1.0), ("1 MiB", "1 MiB", 3.5), ("1 MiB", "4 KiB", 1.0))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A group of two sysctls that vary together, over two RTTs; loss is written with a comma."""
    made = [
        Made(
            {"sysctls.rmem": rmem, "sysctls.wmem": wmem, "path.rtt": rtt, "path.loss": "every 500, phase seeded"},
            [3e6 * factor * (1 + seed / 1000)],
            seed,
        )
        for rmem, wmem, factor in GROUPS
        for rtt in ("10 ms", "50 ms")
        for seed in range(1, 9)
    ]
    return write_run(tmp_path / "run", made)


@pytest.mark.parametrize("axis", ["rmem+wmem", "sysctls.rmem + sysctls.wmem", "wmem+rmem"])
def test_a_grouped_axis_is_compared(compare: Compare, run: Path, axis: str) -> None:
    said = compare(run, "--axis", axis, "--base", "4 KiB, 4 KiB", "--candidate", "1 MiB,1 MiB", "--format", "json")
    found = json.loads(said.out)
    cells = [each for each in found["cells"] if each["metric"] == "goodput"]
    assert [each["verdict"] for each in cells] == ["better", "better"]
    assert [each["relative"] for each in cells] == [pytest.approx(2.5)] * 2
    assert [each["pairs"] for each in cells] == [8, 8]
    assert {*cells[0]["params"]} == {"path.rtt", "path.loss"}


def test_values_may_be_words_that_only_they_have(compare: Compare, run: Path) -> None:
    said = compare(run, "--axis", "rmem+wmem", "--base", "KiB, KiB", "--candidate", "MiB, MiB", "--metric", "goodput")
    assert said.code == 0
    assert said.out.splitlines()[-1] == "goodput: 2 of 2 cells better"


def without(run: Path, words: tuple[str, ...]) -> None:
    """As if these trials never ran, though the run lists them."""
    for folder in (run / "trials").iterdir():
        if all(word in folder.name for word in words):
            shutil.rmtree(folder)


def test_a_third_value_that_never_ran_is_no_gap_of_the_two(compare: Compare, run: Path) -> None:
    words = ("--axis", "rmem+wmem", "--base", "4 KiB, 4 KiB", "--candidate", "1 MiB, 1 MiB", "--metric", "goodput")
    without(run, ("rmem=1MiB", "wmem=4KiB"))
    said = compare(run, *words)
    assert said.code == 0
    assert "lack" not in said.out
    without(run, ("rmem=1MiB", "wmem=1MiB", "rtt=50ms"))
    said = compare(run, *words)
    assert (said.code, "the candidate lacks 8 trials" in " ".join(said.out.split())) == (4, True)


def test_a_cell_that_ran_with_neither_value_is_no_pass(compare: Compare, run: Path) -> None:
    words = ("--axis", "rmem+wmem", "--base", "4 KiB, 4 KiB", "--candidate", "1 MiB, 1 MiB", "--metric", "goodput")
    without(run, ("rtt=50ms",))
    said = compare(run, *words)
    assert (said.code, "both sides lack 16 trials" in " ".join(said.out.split())) == (5, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rmem+wmem", "4 KiB", "1 MiB, 1 MiB"), "--base 4 KiB: sysctls.rmem+sysctls.wmem has no such value"),
        (("rmem+wmem", "MiB, 4", "MiB, 9"), "--candidate MiB, 9: sysctls.rmem+sysctls.wmem has no such value"),
        (("rmem+wmem", "4 KiB, 1 MiB", "1 MiB, 1 MiB"), "allowed: 4 KiB, 4 KiB; 1 MiB, 1 MiB; 1 MiB, 4 KiB"),
        (("rmem+vmem", "4 KiB, 4 KiB", "1 MiB, 1 MiB"), "--axis rmem+vmem: the run has no such axis"),
        (("rmem+wmem", "1 MiB, 1 MiB", "1 MiB, 1 MiB"), "are both 1 MiB, 1 MiB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_group_has_not_is_refused(compare: Compare, run: Path, words: tuple[str, ...], message: str) -> None:
    axis, base, candidate = words
    said = compare(run, "--axis", axis, "--base", base, "--candidate", candidate, "--metric", "goodput")
    assert said.code == 2
    assert message in said.err


def test_one_axis_of_a_group_is_compared_where_the_others_agree(compare: Compare, run: Path) -> None:
    """Of "1 MiB", the trials with a wmem of 4 KiB have a partner; the others are said."""
    said = compare(run, "--axis", "rmem", "--base", "4 KiB", "--candidate", "1 MiB", "--metric", "goodput")
    assert said.code == 0
    assert said.out.splitlines()[-1] == "goodput: all 2 cells are the same within 3 %"
    assert "new: 1 MiB, 10 ms: the base lacks 8 trials" in " ".join(said.out.split())


def test_a_trial_that_failed_is_lost_on_its_side(compare: Compare, run: Path) -> None:
    gone = [home for home in (run / "trials").iterdir() if "rmem=1MiB,wmem=1MiB,rtt=50ms" in home.name]
    assert len(gone) == 8
    for home in gone[1:]:
        (run / "failed" / home.name).mkdir(parents=True)
        (run / "failed" / home.name / "error.txt").write_text("it died\n")
        (home / "trial.json").rename(run / "failed" / home.name / "trial.json")
        (home / "result.json").unlink()
        for file in home.iterdir():
            file.unlink()
        home.rmdir()
    words = ("--axis", "rmem+wmem", "--base", "4 KiB, 4 KiB", "--candidate", "1 MiB, 1 MiB", "--metric", "goodput")
    said = compare(run, *words)
    assert said.code == 4
    assert "failed: it died" in " ".join(said.out.split())


def test_a_run_with_the_axis_is_one_run(compare: Compare, run: Path) -> None:
    said = compare(run.parent, "--axis", "rtt", "--base", "10 ms", "--candidate", "50 ms")
    assert (said.code, "holds several runs; allowed with --axis: the folder of one run" in said.err) == (2, True)


def one(params: dict[str, str], seed: int = 1) -> Measured:
    return Measured(trial_result(Made(params, [1e6], seed)), {}, {"goodput": 1e6})


def test_a_split_has_the_trials_of_its_value_and_those_of_which_nothing_is_known() -> None:
    trials = tuple(one({"kernel": name, "flows": flows}) for name in ("old", "new") for flows in ("1", "2"))
    missing = (
        Missing("o", "failed", {"kernel": "old", "flows": "1"}, 9),
        Missing("n", "failed", {"kernel": "new", "flows": "1"}, 9),
        Missing("x", "not run"),
    )
    base, candidate = split(Run(trials, missing, "rtt"), "kernel", "old", "new")
    assert (base.name, candidate.name) == ("kernel old", "kernel new")
    assert (base.trials, candidate.trials) == (trials[:2], trials[2:])
    assert [[each.id for each in side.runs[""].missing] for side in (base, candidate)] == [["o", "x"], ["n", "x"]]
    assert [side.runs[""].primary for side in (base, candidate)] == ["rtt", "rtt"]
    assert primary_of(base, candidate, "") == "rtt"
    whole = single("all", trials)
    assert (whole.name, whole.trials, primary_of(whole, candidate, "")) == ("all", trials, "rtt")
    assert primary_of(whole, whole, "") == primary_of(whole, whole, "other") == "goodput"


@pytest.mark.parametrize(
    ("axis", "base", "candidate", "message"),
    [
        ("flow", "1", "2", "--axis flow: the run has no such axis; allowed: kernel, flows"),
        ("flows", "1", "1", "--base and --candidate are both 1; allowed: two of 1, 2"),
        ("flows", "3", "1", "--base 3: flows has no such value; allowed: 1, 2"),
        ("kernel+flows", "old,1", "old,1", "are both old, 1; allowed: two of old, 1; old, 2; new, 1"),
        (
            "kernel+flows",
            "old",
            "new, 1",
            "--base old: kernel+flows has no such value; allowed: old, 1; old, 2; new, 1",
        ),
    ],
)
def test_what_a_run_cannot_be_split_by_is_refused_with_what_it_has(
    axis: str, base: str, candidate: str, message: str
) -> None:
    rows = (("old", "1"), ("old", "2"), ("new", "1"))
    run = Run(tuple(one({"kernel": name, "flows": flows}) for name, flows in rows))
    with pytest.raises(UserError) as caught:
        split(run, axis, base, candidate)
    assert message in str(caught.value)


def test_a_run_without_parameters_has_no_axis() -> None:
    with pytest.raises(UserError, match="allowed: none, it has no axes"):
        split(Run((one({}),)), "kernel", "old", "new")
