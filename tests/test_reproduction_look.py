"""Seeds that are added until the rows of a reproduction are decided."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from printed import result
from rich.console import Console

from testbed.error import UserError
from testbed.trial.result import TrialResult
from testbed_reproductions import command, look
from testbed_reproductions.check import ERROR, above, decide, estimate
from testbed_reproductions.command import ROWS, Runs, reproduce
from testbed_reproductions.look import Looks, sizes
from testbed_reproductions.measured import Measured
from testbed_reproductions.row import Judgement, Row

SCENARIO = "buffer-ceiling"
(BUFFERS,) = (row for row in ROWS if row.id == "S3-E2")


@pytest.mark.parametrize(
    ("asked", "full", "found"),
    [
        (2, 10, (2, 4, 8, 16, 20)),
        (5, 100, (4, 8, 16, 32, 64, 100)),
        (1, 1, (1, 2, 4, 8, 16, 20)),
        (10, 10, (4, 8, 16, 20)),
        (30, 30, (4, 8, 16, 30)),
    ],
)
def test_seeds_are_doubled_up_to_the_publications_number_or_20(asked: int, full: int, found: tuple[int, ...]) -> None:
    assert sizes(asked, full) == found


def test_looks_are_kept_beside_the_results(tmp_path: Path) -> None:
    assert look.read(tmp_path) == Looks({})
    assert look.read(tmp_path).number(["a"]) == 1
    looks = Looks({}).begun({"a": (2, 4, 8), "b": (5, 10)}).grown(["a"])
    assert looks.seeds == {"a": 4, "b": 5}
    look.write(tmp_path / "new", looks, ["a", "b"])
    assert look.read(tmp_path / "new") == looks
    grown = looks.grown(["a"])
    assert grown.so_far(["a", "b"]) == [{"a": 2, "b": 5}, {"a": 4, "b": 5}, {"a": 8, "b": 5}]
    assert grown.grown(["b"]).so_far(["a", "b"]) == [{"a": 8, "b": 10}]  # nobody knows which grew first
    assert (looks.so_far(["b"]), looks.so_far(["c"])) == ([{"b": 5}], [{}])
    assert [looks.number(names) for names in (["a"], ["b", "a"], ["b"], ["c"])] == [3, 4, 2, 1]
    assert looks.grown(["b"]).grown(["b"]).seeds == {"a": 4, "b": 10}  # and no more than there are
    assert looks.begun({"a": (2, 4, 8), "c": (1, 2)}).seeds == {"a": 4, "b": 5, "c": 1}
    assert looks.begun({"a": (3, 6)}) == looks  # the numbers that were begun with are part of the statistics


def test_what_is_kept_of_some_scenarios_says_nothing_of_the_others(tmp_path: Path) -> None:
    look.write(tmp_path / "kept", Looks({"a": (2, 4), "b": (4, 8)}, {"a": 4, "b": 4}), ["a", "b"])
    look.write(tmp_path / "new", Looks({"b": (4, 8), "c": (1, 2)}, {"b": 8, "c": 1}), ["b", "c"])
    look.carry(tmp_path / "new", tmp_path / "kept", ["a", "b"])
    assert look.read(tmp_path / "kept") == Looks({"b": (4, 8)}, {"b": 8})  # a ran anew, without looks
    look.carry(tmp_path / "none", tmp_path / "empty", ["a"])
    assert not (tmp_path / "empty").exists()


def test_a_command_leaves_the_scenarios_of_another_one_alone(tmp_path: Path) -> None:
    mine = Looks({"a": (2, 4), "b": (4, 8)}, {"a": 2, "b": 4})
    look.write(tmp_path, mine, ["a", "b"])
    look.write(tmp_path, Looks(mine.sizes, {"a": 2, "b": 8}), ["b"])  # by another one meanwhile
    look.write(tmp_path, mine.grown(["a"]), ["a"])
    assert look.read(tmp_path) == Looks(mine.sizes, {"a": 4, "b": 8})


BROKEN = ('{"a": {}}', '{"a": {"sizes": [2, 4], "seeds": 3}}', '{"a": 1}', '{"a": {"sizes": "24", "seeds": "2"}}',
          '{"a": {"sizes": [8, 4], "seeds": 8}}', '{"a": {"sizes": [0, 4], "seeds": 4}}')  # fmt: skip


@pytest.mark.parametrize("text", ["", "[]", *BROKEN])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / look.FILE).write_text(text)
    with pytest.raises(UserError, match="is damaged"):
        look.read(tmp_path)


def test_all_looks_together_err_as_rarely_as_one() -> None:
    """The true mean lies on the bound, so each decision is wrong. With 5 % at each look far more than 5 % are."""
    generator = np.random.default_rng(11)
    looks, runs = sizes(2, 10), 2000
    wrong = {ERROR: 0, ERROR / len(looks): 0}
    for _ in range(runs):
        values = generator.normal(0.0, 1.0, looks[-1]).tolist()
        for error in wrong:
            found = {decide([above("it", estimate((1, values[:n])))], error)[0].verdict for n in looks}
            wrong[error] += found != {"cannot tell"}
    assert wrong[ERROR / len(looks)] / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert wrong[ERROR] / runs > 0.1


@dataclass
class Fake:
    """In place of trials: each seed of the scenario has one result; records how many seeds were asked for."""

    seeds: list[int]
    verdict: str = "valid"
    failures: tuple[Any, ...] = ()

    def __call__(self, scenario: Any, *rest: Any) -> tuple[Fake, list[str]]:
        self.seeds.append(scenario.repetitions)
        return self, [str(seed) for seed in range(scenario.repetitions)]

    def in_order(self, order: list[str]) -> list[TrialResult]:
        results = [result({}, 1e9, int(seed), repetition=int(seed)) for seed in order]
        return [replace(each, verdict=self.verdict if each.seed == 1 else "valid") for each in results]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake([])
    monkeypatch.setattr(command, "carry_out", made)
    return made


def runs_in(folder: Path) -> Runs:
    return Runs(folder, "quick", Console(quiet=True))


def wide(seeds: int) -> Row:
    """A row that is undecided with fewer seeds, since its values are around 0."""

    def judge(runs: Mapping[str, Measured]) -> Judgement:
        found = sorted({each.seed for each in runs[SCENARIO].results})
        values = [1.0 if len(found) >= seeds else (-1.0) ** each for each in found]
        return Judgement("", (above("it", estimate((1, values))),))

    return replace(BUFFERS, judge=judge)


def test_a_row_gets_seeds_until_it_is_decided_and_no_more(tmp_path: Path, fake: Fake) -> None:
    runs = runs_in(tmp_path)
    runs.add_seeds([wide(8)])
    runs.carry_out([wide(8)], 1)
    assert fake.seeds == [2, 4, 8]
    found = runs.finding(wide(8))
    assert found.judgement is not None
    assert (found.outcome, found.judgement.error) == ("pass", ERROR / 5)
    assert json.loads((tmp_path / look.FILE).read_text())[SCENARIO] == {"sizes": [2, 4, 8, 16, 20], "seeds": 8}


def early(seeds: int) -> Row:
    """A row that is decided with so many seeds, and not with more."""

    def judge(runs: Mapping[str, Measured]) -> Judgement:
        found = sorted({each.seed for each in (*runs[SCENARIO].results, *runs[SCENARIO].left_out)})
        values = [1.0 if len(found) <= seeds else (-1.0) ** each for each in found]
        return Judgement(f"{len(found)} seeds", (above("it", estimate((1, values))),))

    return replace(BUFFERS, judge=judge)


def test_seeds_for_another_row_do_not_make_a_decided_one_undecided(tmp_path: Path, fake: Fake) -> None:
    runs = runs_in(tmp_path)
    runs.add_seeds([wide(8)])
    runs.carry_out([wide(8)], 1)
    found = runs.finding(early(4))
    assert found.judgement is not None
    assert (found.outcome, found.judgement.ours, found.judgement.error) == ("pass", "4 seeds", ERROR / 5)
    assert found.why == f"decided with 4 seeds of {SCENARIO}"
    late = runs.finding(wide(8))
    assert (late.outcome, late.why) == ("pass", "")  # the last look that decides counts
    assert runs.finding(early(0)).outcome == "cannot tell"


def test_a_decided_row_whose_later_trial_is_lost_cannot_be_told(tmp_path: Path, fake: Fake) -> None:
    runs = runs_in(tmp_path)
    runs.add_seeds([wide(8)])
    runs.carry_out([wide(8)], 1)
    ((name, each),) = runs.measured.items()
    runs.measured[name] = replace(
        each, results=each.results[:-1], left_out=(replace(each.results[-1], verdict="invalid"),)
    )
    assert runs.finding(early(4)).outcome == "cannot tell"


def test_rows_of_another_command_are_judged_as_often_as_that_one_judges_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page has all rows, also those whose scenarios another command gave seeds while this one ran."""
    other = Looks({"a": (2, 4)}, {"a": 4})
    carry_out = Fake([])

    def meanwhile(*words: Any) -> Any:
        look.write(tmp_path, other, ["a"])
        return carry_out(*words)

    monkeypatch.setattr(command, "carry_out", meanwhile)
    runs = runs_in(tmp_path)
    runs.add_seeds([wide(8)])
    runs.carry_out([wide(8)], 1)
    assert (runs.looks.seeds, runs.looks.number(["a"])) == ({SCENARIO: 8, "a": 4}, 2)


def test_a_row_that_stays_undecided_ends_at_the_most(tmp_path: Path, fake: Fake) -> None:
    runs = runs_in(tmp_path)
    runs.add_seeds([wide(1000)])
    runs.carry_out([wide(1000)], 1)
    assert fake.seeds == [2, 4, 8, 16, 20]
    assert runs.finding(wide(1000)).outcome == "cannot tell"


def test_seeds_do_not_help_a_row_that_lost_a_trial(tmp_path: Path, fake: Fake) -> None:
    fake.verdict = "invalid"
    runs = runs_in(tmp_path)
    runs.add_seeds([wide(8)])
    runs.carry_out([wide(8)], 1)
    assert fake.seeds == [2]


def test_without_the_option_nothing_grows_and_seeds_that_were_added_stay(tmp_path: Path, fake: Fake) -> None:
    runs = runs_in(tmp_path)
    runs.carry_out([wide(8)], 1)
    assert fake.seeds == [2]
    assert not (tmp_path / look.FILE).exists()
    look.write(tmp_path, Looks({SCENARIO: (2, 4, 8, 16, 20)}, {SCENARIO: 4}), [SCENARIO])
    again = runs_in(tmp_path)
    again.carry_out([wide(8)], 1)
    assert fake.seeds == [2, 4]
    found = again.finding(wide(4))
    assert found.judgement is not None
    assert found.judgement.error == ERROR / 5


def test_a_scenario_that_has_run_begins_with_the_seeds_with_which_it_was_judged(tmp_path: Path, fake: Fake) -> None:
    """With four of its ten they would be judged once more than is counted."""
    (row,) = (row for row in ROWS if row.id == "S4-T2")
    (scenario,) = row.scenarios
    full = Runs(tmp_path, "full", Console(quiet=True))
    full.add_seeds([row])
    assert full.looks.sizes[scenario] == (4, 8, 16, 20)
    (tmp_path / scenario).mkdir()
    (tmp_path / scenario / "run.json").write_text("{}")
    again = Runs(tmp_path, "full", Console(quiet=True))
    again.add_seeds([row])
    assert again.looks.sizes[scenario] == (10, 20)


def test_a_run_that_goes_on_begins_where_it_was(tmp_path: Path, fake: Fake) -> None:
    look.write(tmp_path, Looks({SCENARIO: (2, 4, 8, 16, 20)}, {SCENARIO: 8}), [SCENARIO])
    runs = runs_in(tmp_path)
    runs.add_seeds([wide(16)])
    runs.carry_out([wide(16)], 1)
    assert fake.seeds == [8, 16]


def test_a_dry_run_says_how_long_each_scenario_takes_and_for_which_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fake: Fake
) -> None:
    reproduce(["S3-E2", "S2-E5"], results=tmp_path, dry_run=True, jobs=2)
    said = " ".join(capsys.readouterr().err.split())
    assert "buffer-ceiling: 6 trials to run, about " in said
    assert "(S3-E2)" in said
    assert "default-window: 6 trials to run" in said
    assert "2 scenarios, 12 trials to run, about" in said
    reproduce(["S3-E2"], results=tmp_path, dry_run=True, jobs=1)
    said = " ".join(capsys.readouterr().err.split())
    assert re.search("1 scenario, 6 trials to run, about .* with 1 job$", said)
    assert (fake.seeds, list(tmp_path.iterdir())) == ([], [])
    with pytest.raises(UserError, match="--stored runs nothing"):
        reproduce(["S3-E2"], results=tmp_path, dry_run=True, stored=True)
