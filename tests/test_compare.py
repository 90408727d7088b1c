"""`testbed compare`: two runs, and a run with a published profile: what it says, and its exit codes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from comparing import Compare
from storedruns import Made, write_run

from testbed.analysis.paired import CellComparison
from testbed.analysis.statistic import Interval
from testbed.compare import run_text
from testbed.compare.headline import effect_text
from testbed.compare.run import CellKey

ROOT = Path(__file__).parents[1]
SEEDS = range(1, 9)


def noisy(factor: float = 1.0, cells: tuple[str, ...] = ("1 bdp", "2 bdp"), **changes: object) -> list[Made]:
    """Cells of two flows with a little noise by seed, times a factor in the first cell."""
    made = []
    for number, buffer in enumerate(cells):
        for seed in SEEDS:
            noise = np.random.default_rng([number, seed]).normal(0, 0.005)
            rate = 20e6 * (1 + noise) * (factor if number == 0 else 1)
            made.append(Made({"path.buffer": buffer}, [rate, rate], seed, **changes))  # type: ignore[arg-type]
    return made


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_run(tmp_path / "base", noisy())


def test_a_run_is_the_same_as_itself_in_every_cell(compare: Compare, base: Path) -> None:
    said = compare(base, base)
    assert said.code == 0
    assert said.out.splitlines()[-2:] == [
        "overall: same (14 same; tolerance 3 %)",
        "goodput: all 2 cells are the same within 3 %",
    ]


def test_a_regression_is_named_and_is_exit_code_1(compare: Compare, base: Path, tmp_path: Path) -> None:
    said = compare(base, write_run(tmp_path / "mine", noisy(0.8)))
    assert said.code == 1
    worse = [line.split() for line in said.out.splitlines() if line.rstrip().endswith("worse")]
    assert [(line[0], line[1], line[3], line[7]) for line in worse] == [("buffer", "1", "goodput", "-20.0")]
    assert said.out.splitlines()[-2].startswith("overall: worse (13 same, 1 worse;")
    assert said.out.splitlines()[-1] == "goodput: 1 of 2 cells worse, -20.0 % in buffer 1 bdp; 1 same"


def test_a_gain_is_better_and_a_wide_tolerance_forgives(compare: Compare, base: Path, tmp_path: Path) -> None:
    assert "overall: better (1 better, 13 same;" in compare(base, write_run(tmp_path / "up", noisy(1.2))).out
    down = write_run(tmp_path / "down", noisy(0.8))
    assert compare(base, down, "--tolerance", "25 %").code == 0
    assert compare(base, down, "--metric", "fairness", "--metric", "retransmits").code == 0
    assert compare(base, down, "--metric", "goodput", "--tolerance", "0.1").code == 1


@pytest.mark.parametrize(("seeds", "code"), [(2, 5), (3, 1)])
@pytest.mark.parametrize("cells", [1, 2, 4])
def test_a_collapse_in_one_of_few_cells_takes_three_seeds(
    compare: Compare, tmp_path: Path, cells: int, seeds: int, code: int
) -> None:
    """47.5 to 12.9 Mbit/s: it could not be told, since "all seeds are copies", and --fail-on worse let it pass."""
    buffers = tuple(f"{number} bdp" for number in range(1, cells + 1))
    made, slow = ([each for each in noisy(of, buffers) if each.seed <= seeds] for of in (1.0, 12.9 / 47.5))
    sides = write_run(tmp_path / "base", made), write_run(tmp_path / "slow", slow)
    said = compare(*sides)
    assert said.code == code
    assert compare(*sides, "--fail-on", "worse").code == (1 if code == 1 else 0)
    assert "copies" not in said.out
    told = " ".join(said.out.split())
    assert "p of 1 row is not that of the t-test, which is less, but the chance that two levels" in told
    assert ("goodput: 2 seeds show no change, however large; 3 seeds would decide" in told) == (code == 5)


def test_an_rtt_that_grows_is_worse(compare: Compare, base: Path, tmp_path: Path) -> None:
    slow = write_run(
        tmp_path / "slow", [replace(each, srtt_s=0.06 * (1 + (each.seed - 4.5) / 1e4)) for each in noisy()]
    )
    said = compare(base, slow, "--metric", "rtt")
    assert (said.code, "+20.0 %" in said.out) == (1, True)
    assert "all seeds of the base give the same result in: buffer 1 bdp; buffer 2 bdp" in said.out


def test_an_rtt_that_grows_in_eight_copies_of_one_pair_of_trials_is_worse(
    compare: Compare, base: Path, tmp_path: Path
) -> None:
    """Only two levels could do that by chance: once in 4^8 times for each direction."""
    said = compare(base, write_run(tmp_path / "slow", noisy(srtt_s=0.06)), "--metric", "rtt")
    assert said.out.splitlines()[-2] == "overall: worse (2 worse; tolerance 3 %)"
    assert said.code == 1


def test_json_has_every_number(compare: Compare, base: Path, tmp_path: Path) -> None:
    said = compare(base, write_run(tmp_path / "mine", noisy(0.8)), "--format", "json")
    found = json.loads(said.out)
    assert (found["verdict"], found["tolerance"], len(found["cells"])) == ("worse", 0.03, 14)
    (goodput,) = (c for c in found["cells"] if c["metric"] == "goodput" and c["params"] == {"path.buffer": "1 bdp"})
    assert goodput["unit"] == "bit/s"
    assert goodput["relative"] == pytest.approx(-0.2)
    assert goodput["base"] == pytest.approx(40e6, rel=0.01)
    assert goodput["interval"]["low"] < goodput["effect"] < goodput["interval"]["high"] < 0
    assert {"noise_floor", "p", "pairs", "verdict"} <= goodput.keys()


def test_markdown_is_as_it_was(compare: Compare, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path / "mine", noisy(0.8))
    monkeypatch.chdir(tmp_path)
    said = compare("base", "mine", "--format", "markdown", "--metric", "goodput", "--metric", "fairness")
    assert said.out == (ROOT / "tests/data/compare-runs.md").read_text()


def test_a_table_goes_to_a_file_too(compare: Compare, base: Path, tmp_path: Path) -> None:
    assert compare(base, base, "-o", tmp_path / "table.txt").code == 0
    text = (tmp_path / "table.txt").read_text()
    assert text.endswith("overall: same (14 same; tolerance 3 %)\ngoodput: all 2 cells are the same within 3 %\n")
    said = compare(base, base, "-o", tmp_path / "missing/table.txt")
    assert (said.code, "cannot be written" in said.err) == (2, True)


def test_runs_with_nothing_in_common_are_refused(compare: Compare, base: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", [Made({"flows": "1"}, [1e6])])
    said = compare(base, other)
    assert said.code == 2
    assert "nothing to compare: no trial of" in said.err
    assert "16 trials over path.buffer with seeds 1–8; 1 trial over flows with seeds 1–1" in said.err


def test_runs_of_unlike_settings_are_refused_by_the_name_of_the_setting(
    compare: Compare, base: Path, tmp_path: Path
) -> None:
    other = write_run(tmp_path / "longer", noisy(workload={"duration": "20 s"}, path={"rate": "1 Gbit/s"}))
    said = compare(base, other)
    assert said.code == 2
    assert "workload.duration: 10 s → 20 s" in said.err
    assert "topology.links.path.rate: 100 Mbit/s → 1 Gbit/s" in said.err
    assert "--ignore workload.duration" in said.err
    allowed = compare(base, other, "--ignore", "workload.duration", "--ignore", "topology.links.path")
    assert allowed.code == 0
    assert "the sides differ in workload.duration: 10 s → 20 s" in allowed.out


def test_kernels_may_differ_and_it_is_said(compare: Compare, base: Path, tmp_path: Path) -> None:
    said = compare(base, write_run(tmp_path / "mine", noisy(changes={"kernel": {"lab": "mine"}})))
    assert said.code == 0
    assert "the sides differ in kernel: lab → lab mine" in said.out


def test_kernel_axes_of_one_value_name_the_side_and_not_the_cell(compare: Compare, tmp_path: Path) -> None:
    sides = [
        write_run(tmp_path / name, [Made({"kernel": f"{{lab: {name}}}"}, [1e6], seed) for seed in SEEDS])
        for name in ("old", "new")
    ]
    said = compare(*sides, "--metric", "goodput")
    assert said.out.splitlines()[-2] == "overall: same (1 same; tolerance 3 %)"


def with_axis(tmp_path: Path) -> Path:
    """One run with two kernels, of which the second is slower with two flows."""
    made = [
        Made({"kernel": f"{{lab: {name}}}", "flows": str(flows)}, [rate * (1 + seed / 1000)] * flows, seed)
        for name, flows, rate in (("old", 1, 9e6), ("old", 2, 9e6), ("new", 1, 9e6), ("new", 2, 7e6))
        for seed in SEEDS
    ]
    return write_run(tmp_path / "run", made)


def test_two_values_of_an_axis_of_one_run_are_compared(compare: Compare, tmp_path: Path) -> None:
    said = compare(
        with_axis(tmp_path), "--axis", "kernel", "--base", "old", "--candidate", "new", "--metric", "goodput"
    )
    assert said.code == 1
    one, two = said.out.splitlines()[1:3]
    assert one.startswith("1 flow ")
    assert one.split()[-1] == "same"
    assert two.startswith("2 flows ")
    assert two.split()[-1] == "worse"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--axis", "colour", "--base", "a", "--candidate", "b"), "allowed: kernel, flows"),
        (("--axis", "kernel", "--base", "old", "--candidate", "newer"), "--candidate newer: kernel has no such value"),
        (("--axis", "kernel", "--base", "old", "--candidate", "old"), "are both {lab: old}"),
        (("--axis", "kernel", "--base", "old"), "--axis compares within one run"),
        (("--base", "old"), "there is nothing to compare the run with"),
        (
            ("--axis", "flows", "--base", "1", "--candidate", "2", "--metric", "speed"),
            "--metric speed: allowed: goodput",
        ),
        (("--axis", "flows", "--base", "1", "--candidate", "2", "--tolerance", "-1"), "--tolerance '-1': allowed"),
        (
            ("--axis", "flows", "--base", "1", "--candidate", "2", "--tolerance", "3"),
            "--tolerance '3': allowed: a share",
        ),
        (("--axis", "flows", "--base", "1", "--candidate", "2", "--ignore", "seed"), "--ignore is for two runs"),
        (("--axis", "flows", "--base", "1", "--candidate", "2", "--with-ramp"), "--with-ramp is for a published"),
        (("google-cloud-emulated", "--metric", "goodput"), "--metric is for two runs"),
        ((), "google-cloud-emulated"),
        (("google-clout-emulated",), "did you mean 'google-cloud-emulated'?"),
        (("google-cloud-emulated#cloud",), "has no 'cloud'"),
        (("google-cloud-emulated", "--format", "junit"), "--format junit is for two runs"),
        ((str(ROOT / "tests"),), "is not a results folder (no run.json)"),
        ((str(ROOT / "results"),), "holds several; allowed: two runs, or two folders of runs"),
    ],
    ids=lambda value: " ".join(value)[-40:] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_compared_is_refused(
    compare: Compare, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    said = compare(with_axis(tmp_path), *words)
    assert said.code == 2
    assert message in said.err
    assert "Traceback" not in said.err


def test_results_of_another_schema_are_refused(compare: Compare, base: Path, tmp_path: Path) -> None:
    old = write_run(tmp_path / "old", noisy())
    about = json.loads((old / "run.json").read_text())
    (old / "run.json").write_text(json.dumps({**about, "schema": 0}))
    said = compare(base, old)
    assert said.code == 2
    assert "has results of schema version 0; allowed: " in said.err


def judged(**changes: Any) -> CellComparison[CellKey]:
    """A cell of goodput that is undecided: 3 pairs that show 2 Mbit/s of 40, and 5 that would decide."""
    usual: dict[str, Any] = {"pairs": 3, "base": 40e6, "candidate": 39e6, "effect": -1e6, "relative": -0.025}
    usual |= {"interval": Interval(-3e6, 1e6, 0.95), "relative_interval": Interval(-0.075, 0.025, 0.95)}
    usual |= {"noise_floor": 0.1, "p": 0.123, "verdict": "cannot tell", "smallest_effect": 2e6, "seeds_needed": 5}
    return CellComparison(**{"key": CellKey((), "goodput"), **usual, **changes})


@pytest.mark.parametrize(
    ("changes", "seen", "why"),
    [
        ({}, "5.0 %; 5 seeds", "3 seeds show a change of 5.0 % or more; 5 seeds would decide"),
        ({"seeds_needed": None}, "5.0 %", "3 seeds show a change of 5.0 % or more; no number of seeds would decide"),
        (
            {"seeds_needed": 3},  # as many as there are: to ask for them would say that they are missing
            "5.0 %",
            "3 seeds show a change of 5.0 % or more; so many decide most cells with this noise, but not those whose "
            "difference is near the tolerance",
        ),
        ({"smallest_effect": 40e6}, "over 100 %; 5 seeds", None),
        ({"smallest_effect": 39.9e6}, "99.8 %; 5 seeds", None),
        ({"base": 0.0}, "2 Mbit/s; 5 seeds", "3 seeds show a change of 2 Mbit/s or more; 5 seeds would decide"),
        ({"base": -40e6}, "5.0 %; 5 seeds", None),
        ({"base": 0.0, "candidate": 0.0}, None, "it is 0 on both sides, so nothing was measured"),
        ({"pairs": 1, "smallest_effect": None}, "-", "one pair of seeds shows nothing; more repetitions do"),
        ({"smallest_effect": None}, "-", "3 seeds show no change, however large; 5 seeds would decide"),
        (
            {"smallest_effect": None, "is_random": False},
            "-",
            "all seeds are copies of one case, which may be one of two levels; 5 seeds would decide",
        ),
    ],
)
def test_why_a_cell_is_undecided_and_what_would_decide_it(
    changes: dict[str, Any], seen: str | None, why: str | None
) -> None:
    assert seen is None or run_text._could_be_seen(judged(**changes)) == seen
    assert why is None or run_text._undecided(judged(**changes)) == why


def test_an_interval_is_relative_or_in_the_unit_of_the_metric() -> None:
    assert run_text._interval(judged()) == "-7.5 … +2.5 %"
    assert run_text._interval(judged(relative_interval=None)) == "-3.0 … +1.0 Mbit/s"
    assert run_text._interval(judged(relative_interval=None, interval=None)) == "-"
    assert effect_text(judged()) == "-2.5 %"
    assert effect_text(judged(relative=None)) == "-1 Mbit/s"


def test_more_than_three_are_counted() -> None:
    assert run_text._few(["a", "b", "c"], ", ") == "a, b, c"
    assert run_text._few(["a", "b", "c", "d", "e"], "; ") == "a; b; c; and 2 more"


def test_both_sides_are_named_where_they_are_of_unlike_settings(compare: Compare, base: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "longer", noisy(workload={"duration": "20 s"}))
    said = " ".join(compare(base, other).err.split())
    assert f"{base} and {other} are not of the same scenario: workload.duration: 10 s → 20 s; allowed: " in said
    assert "two runs that differ in kernel, sysctls, workload.congestion only, or --ignore workload.duration" in said


def test_a_setting_that_a_side_lacks_is_not_set(compare: Compare, base: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "ecn", noisy(changes={"sysctls": {"net.ipv4.tcp_ecn": "1"}}))
    assert "the sides differ in sysctls.net.ipv4.tcp_ecn: not set → 1" in compare(base, other).out
    assert "the sides differ in sysctls.net.ipv4.tcp_ecn: 1 → not set" in compare(other, base).out


def test_the_cheapest_cells_to_decide_are_named_and_how_many_seeds_the_suite_needs(
    compare: Compare, tmp_path: Path
) -> None:
    def run(side: int) -> list[Made]:
        return [
            Made({"path.buffer": f"{cell} bdp"}, [20e6 * (1 + float(noise))] * 2, seed)
            for cell in (1, 2, 3, 4)
            for seed, noise in zip(
                range(1, 5), np.random.default_rng([side, cell]).normal(0, 0.02 * cell, 4), strict=True
            )
        ]

    said = compare(
        write_run(tmp_path / "base", run(1)), write_run(tmp_path / "candidate", run(2)), "--metric", "goodput"
    )
    assert said.code == 5
    words = " ".join(said.out.split())
    assert re.search(r"the cheapest to decide: .* \(\d+ seeds\); .* \(\d+ seeds\)", words)
    assert re.search(r"If nothing changed, \d+ seeds show it in all 4 primary cells, in 80 % of cases", words)
