"""What is missing is never a pass: trials, values, cells and scenarios that a side of a comparison lacks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from comparing import Compare, Said
from storedruns import Made, write_run

SEEDS = range(1, 9)
WORSE, WRONG, LOST, UNDECIDED = 1, 2, 4, 5
DATA = Path(__file__).parent / "data"
"""The exit codes of what was not shown to be the same or better."""


def steady(cells: tuple[str, ...] = ("1 bdp", "2 bdp"), scale: float = 1.0, flows: int = 2) -> list[Made]:
    """Cells with a little noise by seed."""
    return [
        Made({"path.buffer": cell}, [20e6 * scale * (1 + noise(cell, seed))] * flows, seed)
        for cell in cells
        for seed in SEEDS
    ]


def noise(*key: object) -> float:
    return float(np.random.default_rng([ord(each) for each in repr(key)]).normal(0, 0.002))


def in_last_seven(made: list[Made], **changes: object) -> list[Made]:
    """All but the first seed of the first cell changed."""
    return [
        replace(each, **changes) if each.seed > 1 and each.params["path.buffer"] == "1 bdp" else each
        for each in made  # type: ignore[arg-type]
    ]


def unlisted(folder: Path, is_gone: Callable[[str], bool]) -> Path:
    """Without these trials, which the run does not list either."""
    about = json.loads((folder / "run.json").read_text())
    for id in filter(is_gone, about["trials"]):
        shutil.rmtree(folder / "trials" / id)
    about["trials"] = [id for id in about["trials"] if not is_gone(id)]
    (folder / "run.json").write_text(json.dumps(about))
    return folder


def not_run(folder: Path, is_gone: Callable[[str], bool], error: str | None = None) -> Path:
    """Without these trials, which the run still lists; they failed if there is an `error`."""
    for id in filter(is_gone, json.loads((folder / "run.json").read_text())["trials"]):
        if error is not None:
            (folder / "failed" / id).mkdir(parents=True)
            (folder / "failed" / id / "error.txt").write_text(error)
            shutil.copy(folder / "trials" / id / "trial.json", folder / "failed" / id)
        shutil.rmtree(folder / "trials" / id)
    return folder


def seven(id: str) -> bool:
    return id.startswith("buffer=1bdp") and not id.endswith("seed=1")


def lines(said: Said) -> str:
    return " ".join(said.out.split())


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_run(tmp_path / "base", steady())


@pytest.fixture
def candidate(tmp_path: Path) -> Path:
    return write_run(tmp_path / "candidate", steady())


def test_two_runs_with_all_of_it_are_the_same(compare: Compare, base: Path, candidate: Path) -> None:
    assert compare(base, candidate).code == 0


def test_seven_of_eight_invalid_and_one_equal_pair_are_lost(compare: Compare, base: Path, tmp_path: Path) -> None:
    said = compare(base, write_run(tmp_path / "x", in_last_seven(steady(), verdict="invalid")))
    assert said.code == LOST
    assert "lost: buffer 1 bdp: the candidate lacks 7 trials (seed 2, seed 3, seed 4, and 4 more)" in lines(said)
    assert said.out.splitlines()[-1].startswith("goodput: 1 of 2 cells lost trials or values; 1 same")


@pytest.mark.parametrize(
    ("lose", "why"),
    [
        (unlisted, "there is no such trial"),
        (not_run, "not run"),
        (lambda folder, gone: not_run(folder, gone, "the kernel died\nof this"), "failed: the kernel died"),
    ],
    ids=["absent", "not run yet", "failed"],
)
def test_trials_that_did_not_run_are_lost_with_the_reason(
    compare: Compare, base: Path, candidate: Path, lose: Callable[[Path, Callable[[str], bool]], Path], why: str
) -> None:
    said = compare(base, lose(candidate, seven))
    assert said.code == LOST
    assert f"and 4 more): {why}" in lines(said)


def test_a_metric_that_the_candidate_has_no_more_is_lost(compare: Compare, base: Path, candidate: Path) -> None:
    """As the time to convergence of a flow that starves, or the RTT of a run without samples."""
    for id in ("buffer=1bdp,seed=3", "buffer=1bdp,seed=4"):
        (candidate / "trials" / id / "samples.parquet").unlink()
    said = compare(base, candidate)
    assert said.code == LOST
    assert "lost: buffer 1 bdp: the candidate lacks 2 values of rtt-p99 (seed 3, seed 4)" in lines(said)
    found = json.loads(compare(base, candidate, "--format", "json").out)
    assert {gap["metric"] for gap in found["gaps"]} == {"rtt", "rtt-p95", "rtt-p99", "fairness", "convergence"}
    assert all((gap["verdict"], gap["base"], gap["candidate"]) == ("lost", 8, 6) for gap in found["gaps"])
    assert compare(base, candidate, "--metric", "goodput").code == 0


def test_a_flow_without_a_count_loses_its_retransmissions(compare: Compare, base: Path, candidate: Path) -> None:
    for file in candidate.glob("trials/buffer=1bdp*/result.json"):
        stored = json.loads(file.read_text())
        stored["flows"][0]["retransmits"] = None
        file.write_text(json.dumps(stored))
    said = compare(base, candidate, "--metric", "retransmits", "--metric", "goodput")
    assert said.code == LOST
    assert "retransmits values" in lines(said)


def test_a_whole_cell_that_is_lost_is_worse_than_undecided(compare: Compare, base: Path, candidate: Path) -> None:
    said = compare(base, unlisted(candidate, lambda id: id.startswith("buffer=2bdp")))
    assert said.code == LOST
    assert said.out.splitlines()[-2] == "overall: lost (7 same, 1 cell and 8 trials lost; tolerance 3 %)"


def test_a_candidate_that_lost_everything_is_lost(compare: Compare, base: Path, candidate: Path) -> None:
    said = compare(base, not_run(candidate, lambda id: True))
    assert said.code == LOST
    assert said.out.splitlines()[-1] == "goodput: 2 of 2 cells lost trials or values"


def test_a_base_that_has_nothing_is_refused(compare: Compare, base: Path, candidate: Path) -> None:
    said = compare(not_run(base, lambda id: True), candidate)
    assert (said.code, "has no usable trial" in said.err) == (WRONG, True)


def test_what_is_worse_and_lost_is_worse(compare: Compare, base: Path, tmp_path: Path) -> None:
    slow = not_run(write_run(tmp_path / "slow", steady(scale=0.8)), lambda id: id.endswith("seed=8"))
    said = compare(base, slow)
    assert said.code == WORSE
    assert "2 trials lost" in said.out.splitlines()[-2]


def test_what_only_the_candidate_has_is_said(compare: Compare, tmp_path: Path) -> None:
    base = write_run(tmp_path / "base", steady(("1 bdp",)))
    said = compare(base, write_run(tmp_path / "more", steady()))
    assert said.code == 0
    assert "new: buffer 2 bdp: the base lacks 8 trials" in lines(said)
    assert "1 cell and 8 trials new" in said.out


def test_a_cell_that_neither_side_measured_cannot_be_told(compare: Compare, base: Path, candidate: Path) -> None:
    for folder in (base, candidate):
        not_run(folder, lambda id: id.startswith("buffer=2bdp"))
    said = compare(base, candidate)
    assert said.code == UNDECIDED
    assert "absent: all: both sides lack 8 trials: buffer=2bdp,seed=1: not run" in lines(said)


def test_a_cell_that_is_invalid_on_both_sides_cannot_be_told(compare: Compare, tmp_path: Path) -> None:
    made = [replace(each, verdict="invalid") if each.params["path.buffer"] == "2 bdp" else each for each in steady()]
    said = compare(write_run(tmp_path / "base", made), write_run(tmp_path / "candidate", made))
    assert said.code == UNDECIDED
    assert "absent: buffer 2 bdp: both sides lack 8 trials" in lines(said)


def test_a_trial_that_both_sides_lack_is_said_and_the_other_pairs_decide(
    compare: Compare, base: Path, candidate: Path
) -> None:
    for folder in (base, candidate):
        not_run(folder, lambda id: id.endswith("seed=8"))
    said = compare(base, candidate)
    assert said.code == 0
    assert "both sides lack 2 trials" in lines(said)


def test_one_equal_pair_of_eight_shows_nothing(compare: Compare, tmp_path: Path) -> None:
    base = write_run(tmp_path / "base", in_last_seven(steady(), verdict="invalid"))
    said = compare(base, write_run(tmp_path / "candidate", steady()))
    assert said.code == UNDECIDED
    assert "cannot tell: buffer 1 bdp: goodput: one pair of seeds shows nothing" in lines(said)


def test_nothing_on_both_sides_is_not_the_same(compare: Compare, tmp_path: Path) -> None:
    made = [replace(each, goodput_bps=[0.0, 0.0]) for each in steady()]
    said = compare(write_run(tmp_path / "base", made), write_run(tmp_path / "candidate", made), "--metric", "goodput")
    assert said.code == UNDECIDED
    assert "it is 0 on both sides" in lines(said)


def test_a_primary_metric_that_no_trial_has_cannot_be_told(compare: Compare, base: Path, candidate: Path) -> None:
    """One flow has no fairness."""
    for folder in (base, candidate):
        declare(folder, "fairness")
        for file in folder.glob("trials/*/result.json"):
            stored = json.loads(file.read_text())
            file.write_text(json.dumps({**stored, "flows": stored["flows"][:1]}))
    said = compare(base, candidate)
    assert said.code == UNDECIDED
    assert "both sides lack 8 values of fairness" in lines(said)


def declare(folder: Path, primary: str) -> None:
    about = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**about, "primary": primary}))


def test_only_the_primary_metric_has_to_be_decided(compare: Compare, tmp_path: Path) -> None:
    """RTTs that differ between the sides at random are undecided; goodput is the same."""

    def sides(primary: str | None) -> list[Path]:
        found = []
        for side in ("base", "candidate"):
            made = [replace(each, srtt_s=0.05 * (1 + 40 * noise(side, each.seed))) for each in steady()]
            found.append(write_run(tmp_path / f"{side}-{primary}", made))
            if primary:
                declare(found[-1], primary)
        return found

    said = compare(*sides(None))
    assert said.code == 0
    assert "cannot tell" in said.out.splitlines()[-2]
    said = compare(*sides("rtt"))
    assert said.code == UNDECIDED
    assert said.out.splitlines()[-1] == "rtt: 2 of 2 cells cannot tell"
    assert "seeds would decide" in lines(said)


def test_an_undecided_run_fails_unless_it_is_pardoned(compare: Compare, tmp_path: Path) -> None:
    """Three seeds whose goodput differs by 17 %, and by chance as much: what CI took for green."""

    def side(name: str, factor: float) -> Path:
        made = [Made({}, [20e6 * factor * (1 + 50 * noise(name, seed))], seed) for seed in (1, 2, 3)]
        return write_run(tmp_path / name, made)

    sides = (side("before", 1.0), side("after", 0.83))
    assert compare(*sides, "--metric", "goodput").code == UNDECIDED
    assert compare(*sides, "--metric", "goodput", "--fail-on", "cannot-tell").code == UNDECIDED
    for least in ("worse", "lost"):
        said = compare(*sides, "--metric", "goodput", "--fail-on", least)
        assert (said.code, said.out.splitlines()[-1]) == (0, f"cannot tell is no failure (--fail-on {least})")
    assert compare(*sides, "--metric", "goodput", "--fail-on", "worse", "--fail-on", "cannot-tell").code == UNDECIDED


@pytest.mark.parametrize("least", ["worse", "lost", "cannot-tell"])
def test_worse_and_lost_always_fail(compare: Compare, base: Path, tmp_path: Path, least: str) -> None:
    assert compare(base, write_run(tmp_path / "slow", steady(scale=0.8)), "--fail-on", least).code == WORSE
    lost = not_run(write_run(tmp_path / "lost", steady()), seven)
    assert compare(base, lost, "--fail-on", least).code == LOST


def suite(folder: Path, **runs: list[Made]) -> Path:
    for name, made in runs.items():
        write_run(folder / name, made)
    return folder


def test_folders_of_runs_are_one_suite_with_one_correction(compare: Compare, tmp_path: Path) -> None:
    names = ("bulk", "short", "far")
    base = suite(tmp_path / "base", **{name: steady() for name in names})
    mine = suite(tmp_path / "mine", **{name: steady(scale=0.8 if name == "far" else 1.0) for name in names})
    said = compare(base, mine)
    assert said.code == WORSE
    assert said.out.splitlines()[-1].startswith("goodput: 2 of 6 cells worse, the worst -20.0 % in far: buffer ")
    found = json.loads(compare(base, mine, "--format", "json").out)
    assert {cell["scenario"] for cell in found["cells"]} == {*names}
    alone = json.loads(compare(base / "far", mine / "far", "--format", "json").out)
    p = [next(each["p"] for each in one["cells"] if each["verdict"] == "worse") for one in (alone, found)]
    assert p[0] < p[1]  # of six primary cells, not of two


def test_a_scenario_that_a_side_lacks_is_lost_or_new(compare: Compare, tmp_path: Path) -> None:
    base = suite(tmp_path / "base", bulk=steady(), far=steady())
    mine = suite(tmp_path / "mine", bulk=steady())
    said = compare(base, mine)
    assert said.code == LOST
    assert "lost: far: buffer 1 bdp: the candidate lacks 8 trials" in lines(said)
    assert "there is no such run" in lines(said)
    said = compare(mine, base)
    assert said.code == 0
    assert "new: far: buffer 1 bdp: the base lacks 8 trials" in lines(said)


def test_a_run_is_not_compared_with_a_suite(compare: Compare, base: Path, tmp_path: Path) -> None:
    folder = suite(tmp_path / "suite", bulk=steady())
    for pair in ((base, folder), (folder, base)):
        said = compare(*pair)
        assert (said.code, "is one run" in said.err) == (WRONG, True)


def test_suspect_trials_are_said_with_their_side(compare: Compare, base: Path, tmp_path: Path) -> None:
    made = steady()
    said = compare(base, write_run(tmp_path / "x", [replace(made[0], verdict="suspect"), *made[1:]]))
    assert "suspect: candidate: buffer=1bdp,seed=1" in said.out


@pytest.mark.parametrize(("side", "suspect", "code"), [(0, 8, 5), (1, 8, 5), (1, 4, 5), (1, 3, 0)])
def test_a_cell_of_suspect_trials_is_not_the_same(
    compare: Compare, tmp_path: Path, side: int, suspect: int, code: int
) -> None:
    """It was, with exit code 0, while a rule of `expect` counts no suspect trial."""
    both = [steady(), steady()]
    both[side] = [
        replace(each, verdict="suspect") if number < suspect else each for number, each in enumerate(both[side])
    ]
    said = compare(write_run(tmp_path / "base", both[0]), write_run(tmp_path / "candidate", both[1]))
    assert said.code == code
    assert ("goodput: half of its pairs or more have a suspect trial" in said.out) == (code == 5)


def test_a_cell_of_suspect_trials_can_be_worse(compare: Compare, base: Path, tmp_path: Path) -> None:
    worse = [replace(each, verdict="suspect") for each in steady(scale=0.5)]
    assert compare(base, write_run(tmp_path / "candidate", worse)).code == 1


def test_seeds_that_a_run_did_not_need_are_not_lost(compare: Compare, base: Path, candidate: Path) -> None:
    """With `until`, a cell gets seeds until its mean is known: less noise needs fewer of them."""
    unlisted(candidate, lambda id: id[-1] in "5678")
    assert compare(base, candidate).code == LOST
    about = json.loads((candidate / "run.json").read_text())
    (candidate / "run.json").write_text(json.dumps({**about, "until": {"ci": "1/100", "max": 8, "min": 3}}))
    said = compare(base, candidate)
    assert said.code == 0
    assert "spare: buffer 1 bdp: a side did not need 4 trials (seed 5, seed 6, seed 7, and 1 more)" in lines(said)
    assert compare(base, unlisted(candidate, lambda id: id.startswith("buffer=2bdp"))).code == LOST
    assert compare(base, not_run(candidate, lambda id: id.endswith("seed=2"))).code == LOST


@pytest.mark.parametrize(
    "absurd",
    [float("nan"), float("inf"), -5.0, 1e308, 10**400],
    ids=["nan", "infinite", "negative", "huge", "no float"],
)
def test_a_value_that_no_trial_can_give_is_refused_where_it_is_read(
    compare: Compare, base: Path, candidate: Path, absurd: float
) -> None:
    for side in (base, candidate):
        for file in side.glob("trials/*/result.json"):
            file.write_text(json.dumps({**json.loads(file.read_text()), "goodput_bps": absurd}))
    said = compare(base, candidate, "--metric", "goodput")
    assert (said.code, "result.json is damaged: goodput_bps is" in said.err) == (WRONG, True)


def listed_as_added(folder: Path, is_added: Callable[[str], bool], less: int = 1) -> Path:
    """As a hand can write it: these trials are none that the scenario asked for."""
    about = json.loads((folder / "run.json").read_text())
    added = {id: int(id.rpartition("=")[2]) - less for id in about["trials"] if is_added(id)}
    (folder / "run.json").write_text(json.dumps({**about, "added": added}))
    return folder


@pytest.mark.parametrize(
    ("is_added", "less"),
    [
        (lambda id: id.startswith("buffer=1bdp"), 1),  # a whole cell
        (seven, 1),  # the other cell was asked for 8 times
        (lambda id: id.endswith("seed=3"), 1),  # later ones were asked for
        (lambda id: id.endswith("seed=8"), 0),  # another repetition than the trial's
    ],
)
@pytest.mark.parametrize("is_open", [False, True])
def test_no_cell_is_hidden_by_a_list_of_what_was_added(
    compare: Compare, base: Path, candidate: Path, is_added: Callable[[str], bool], less: int, is_open: bool
) -> None:
    listed_as_added(base, is_added, less)
    if is_open:
        about = json.loads((base / "run.json").read_text())
        (base / "run.json").write_text(json.dumps({**about, "until": {"ci": "1/100", "max": 8, "min": 3}}))
    if is_open and is_added is seven:
        return  # a cell whose mean was known after one seed: nothing tells it from one that is honest
    unlisted(candidate, is_added)
    said = compare(base, candidate)
    assert (said.code, f"{base / 'run.json'} is damaged: its 'added'" in said.err) == (WRONG, True)


def test_what_was_added_after_all_that_the_scenario_asks_for_is_no_loss(
    compare: Compare, base: Path, candidate: Path
) -> None:
    listed_as_added(base, lambda id: id[-1] in "78")
    assert compare(base, unlisted(candidate, lambda id: id[-1] in "78")).code == 0


@pytest.mark.parametrize("added", [[], {"a": "1"}, {"a": True}, {"a": 0}, {"a": -1}, {"a": 1.5}, "a"])
def test_a_list_of_what_was_added_that_cannot_be_is_refused(
    compare: Compare, base: Path, candidate: Path, added: object
) -> None:
    about = json.loads((base / "run.json").read_text())
    (base / "run.json").write_text(json.dumps({**about, "added": added}))
    said = compare(base, candidate)
    assert (said.code, f"{base / 'run.json'} is damaged: its 'added'" in said.err) == (WRONG, True)


def test_what_only_a_change_of_more_than_all_would_show_is_said_so(compare: Compare, tmp_path: Path) -> None:
    made = [Made({"path.buffer": "1 bdp"}, [rate], seed) for seed, rate in enumerate((10e6, 30e6, 60e6), 1)]
    base, other = (
        write_run(
            tmp_path / name, [replace(each, goodput_bps=[each.goodput_bps[0] * (1 + off * each.seed)]) for each in made]
        )
        for name, off in (("a", 0.0), ("b", 0.3))
    )
    said = lines(compare(base, other, "--metric", "goodput"))
    assert "3 seeds show only a change of more than 100 %; " in said
    assert "over 100 % or more" not in said


@pytest.mark.parametrize("metric", ["goodput", "rtt"])
def test_values_that_both_sides_lack_in_some_seeds_are_said(
    compare: Compare, base: Path, candidate: Path, metric: str
) -> None:
    for folder in (base, candidate):
        for seed in range(3, 9):
            home = folder / "trials" / f"buffer=1bdp,seed={seed}"
            if metric == "rtt":
                (home / "samples.parquet").unlink()
            else:
                without(folder, "goodput_bps", home.name)
    said = compare(base, candidate, "--metric", metric)
    assert f"absent: buffer 1 bdp: both sides lack 6 {metric} values (seed 3, seed 4, seed 5, and 3 more)" in lines(
        said
    ).replace("values of " + metric, metric + " values")


def test_samples_that_no_trial_can_give_are_lost(compare: Compare, base: Path, tmp_path: Path) -> None:
    made = write_run(tmp_path / "x", [replace(each, srtt_s=1e300) for each in steady()])
    assert compare(base, made, "--metric", "rtt").code == LOST


def test_samples_that_lack_one_of_two_flows_are_lost(compare: Compare, tmp_path: Path) -> None:
    """The other flow's RTT was taken for that of the trial."""
    trials = [Made({"path.buffer": "1 bdp"}, (1e6, 2e6), seed=seed, srtt_s=0.05) for seed in range(1, 7)]
    base, made = (write_run(tmp_path / name, trials) for name in ("one", "other"))
    for file in made.glob("trials/*/samples.parquet"):
        table = pq.read_table(file)
        pq.write_table(table.filter(pc.not_equal(table["destination_port"], 5002)), file)
    assert compare(base, base, "--metric", "rtt").code == 0
    said = compare(base, made, "--metric", "rtt")
    assert said.code == LOST
    assert "rtt" in said.out


def test_another_primary_metric_is_said_and_that_of_the_base_decides(
    compare: Compare, base: Path, candidate: Path
) -> None:
    declare(candidate, "rtt")
    assert compare(base, candidate).out.splitlines()[-1].startswith("rtt: ")  # an older base says nothing
    declare(base, "goodput")
    said = compare(base, candidate)
    assert "the sides differ in primary: goodput → rtt" in lines(said)
    assert said.out.splitlines()[-1].startswith("goodput: ")


def without(folder: Path, value: str, cell: str = "") -> Path:
    """Trials that have no such value."""
    for file in folder.glob(f"trials/{cell}*/result.json"):
        file.write_text(json.dumps({**json.loads(file.read_text()), value: None}))
    return folder


@pytest.mark.parametrize("cell", ["", "buffer=1bdp"], ids=["in no cell", "not in one cell"])
def test_a_base_without_the_primary_metric_shows_nothing(
    compare: Compare, base: Path, candidate: Path, cell: str
) -> None:
    """The other metrics were taken for primary, and all was the same."""
    said = compare(without(base, "goodput_bps", cell), candidate)
    assert said.code == UNDECIDED
    assert said.out.splitlines()[-1].startswith(f"goodput: {'1' if cell else '2'} of 2 cells cannot tell")
    assert 'failures="0"' not in compare(base, candidate, "--format", "junit").out


def test_a_cell_in_which_the_base_failed_shows_nothing(compare: Compare, candidate: Path, tmp_path: Path) -> None:
    made = [replace(each, verdict="invalid") if each.params["path.buffer"] == "2 bdp" else each for each in steady()]
    for base in (
        write_run(tmp_path / "invalid", made),
        not_run(write_run(tmp_path / "not run", steady()), lambda id: id.startswith("buffer=2bdp")),
    ):
        said = compare(base, candidate)
        assert said.code == UNDECIDED
        assert said.out.splitlines()[-1] == "goodput: 1 of 2 cells cannot tell; 1 same"
        assert 'failures="1"' in compare(base, candidate, "--format", "junit").out


def test_the_only_metric_that_is_lost_is_lost_and_not_a_wrong_input(
    compare: Compare, base: Path, candidate: Path
) -> None:
    said = compare(base, without(candidate, "goodput_bps"), "--metric", "goodput")
    assert said.code == LOST
    assert said.out.splitlines()[-1] == "goodput: 2 of 2 cells lost trials or values"


def test_a_run_behind_a_link_is_one_of_the_suite(compare: Compare, tmp_path: Path) -> None:
    """It was left out on both sides, and the rest was the same."""
    sides = [suite(tmp_path / name, bulk=steady()) for name in ("base", "candidate")]
    for side, scale in zip(sides, (1.0, 0.5), strict=True):
        (side / "far").symlink_to(write_run(tmp_path / f"of-{side.name}", steady(scale=scale)))
    assert compare(*sides).code == WORSE
    (sides[0] / "loop").symlink_to(sides[0])
    assert compare(*sides).code == WRONG


def test_a_run_of_a_suite_without_its_list_is_not_left_out(compare: Compare, tmp_path: Path) -> None:
    sides = [suite(tmp_path / name, bulk=steady(), far=steady()) for name in ("base", "candidate")]
    for side in sides:
        (side / "far" / "run.json").unlink()
    said = compare(*sides)
    assert (said.code, "far has trials and no run.json" in said.err) == (WRONG, True)


def test_markdown_has_all_that_is_lost_new_failed_and_suspect(
    compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 3 cells, one lost 3 trials, one all of them, and one a trial that failed; a fourth is new."""

    def wide(made: list[Made], of: Callable[[int], float]) -> list[Made]:
        """RTTs that differ by seed in the third cell."""
        return [
            replace(each, srtt_s=0.05 * (1 + of(each.seed) / 10)) if each.params["path.buffer"] == "3 bdp" else each
            for each in made
        ]

    base = wide(steady(("1 bdp", "2 bdp", "3 bdp")), lambda seed: seed)
    base[-7] = replace(base[-7], verdict="suspect")
    mine = wide(steady(("1 bdp", "3 bdp", "4 bdp"), 0.9), lambda seed: seed * 7 % 9)
    mine[5:8] = [replace(each, verdict="invalid") for each in mine[5:8]]
    write_run(tmp_path / "base", base)
    not_run(write_run(tmp_path / "mine", mine), lambda id: id == "buffer=3bdp,seed=4", "the kernel <died> | here\nx")
    monkeypatch.chdir(tmp_path)
    assert compare("base", "mine", "--format", "markdown").out == (DATA / "compare-lost.md").read_text()
    found = json.loads(compare("base", "mine", "--format", "json").out)
    assert (found["base"], found["candidate"], found["primary"]) == ("base", "mine", {"": "goodput"})
    assert [(gap["verdict"], gap["is_whole"], gap["base"], gap["candidate"]) for gap in found["gaps"]] == [
        ("lost", False, 8, 5), ("lost", True, 8, 0), ("lost", False, 8, 7), ("new", True, 0, 8),
    ]  # fmt: skip
    assert found["gaps"][2] == {
        "verdict": "lost",
        "scenario": "",
        "params": {"path.buffer": "3 bdp"},
        "metric": None,
        "seeds": [4],
        "base": 8,
        "candidate": 7,
        "is_whole": False,
        "why": ["failed: the kernel <died> | here"],
    }


def test_a_candidate_whose_trials_failed_is_lost_and_no_stranger(compare: Compare, tmp_path: Path) -> None:
    """Its only usable trials are of a cell that the base does not have."""
    base = write_run(tmp_path / "base", steady(("1 bdp",)))
    mine = not_run(write_run(tmp_path / "mine", steady()), lambda id: id.startswith("buffer=1bdp"), "it died")
    said = compare(base, mine)
    assert said.code == LOST
    assert said.out.splitlines()[-1] == "goodput: 1 of 1 cells lost trials or values"
    strange = compare(base, write_run(tmp_path / "other", steady(("2 bdp",))))
    assert (strange.code, "has the parameters and the seed" in strange.err) == (WRONG, True)


def test_trials_that_were_added_to_one_side_are_no_gap(compare: Compare, base: Path, tmp_path: Path) -> None:
    more = [replace(each, seed=9) for each in steady() if each.seed == 1]
    mine = write_run(tmp_path / "mine", [*steady(), *more])
    assert "new: buffer 1 bdp: the base lacks 1 trial (seed 9)" in lines(compare(base, mine))
    about = json.loads((mine / "run.json").read_text())
    (mine / "run.json").write_text(json.dumps({**about, "added": {each.id: 8 for each in more}}))
    said = compare(base, mine)
    assert (said.code, "new:" in said.out) == (0, False)


def test_a_metric_without_a_unit_of_its_own_share_is_the_same_within_tolerance(compare: Compare, base: Path) -> None:
    said = compare(base, base, "--metric", "fairness")
    assert said.out.splitlines()[-1] == "fairness: all 2 cells are the same within tolerance"
