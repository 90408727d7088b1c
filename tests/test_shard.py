"""Shards: equal shares of a scenario's trials, which no other cell moves; what a folder of one says of itself."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from rich.console import Console
from runs import always_same, make_trials, read_json
from typer.testing import CliRunner

from testbed.cli import app
from testbed.commands.measure.run import carry_out
from testbed.error import UserError
from testbed.model.run_setting import Until
from testbed.model.scenario import Scenario
from testbed.report import caption, stored_run, view
from testbed.spec.load import load_scenario
from testbed.sweep import run as sweep
from testbed.sweep import table
from testbed.sweep.queue import TrialQueue
from testbed.sweep.shard import Shard, absent, in_words, parse, scenario_key, trial_key
from testbed.sweep.store import Store

SCENARIO = """
name: made
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 10 ms, buffer: 1 bdp}}
workload: {tool: flow, from: a, to: b, duration: 1 s}
sweep: {path.rtt: [10 ms, 20 ms, 30 ms, 40 ms], flows: [1, 2, 3]}
repetitions: 2
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "made.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return measuring_nothing(monkeypatch)


def measuring_nothing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The trials that began, which measure nothing."""
    monkeypatch.setattr(sweep.readiness, "check", lambda trial, made: None)
    return always_same(monkeypatch)


def run(scenario: Path, folder: Path, shard: str | None = None, *settings: str) -> Scenario:
    """As `testbed run` does it."""
    loaded = load_scenario(scenario, list(settings))
    mine = None if shard is None else parse(shard, by_cell=loaded.until is not None)
    console = Console(quiet=True)
    carry_out(loaded, Store(folder), {"scenario.yaml": str(scenario)}, 1, console, shard=mine)
    return loaded


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_every_trial_is_in_one_shard(count: int, scenario: Path) -> None:
    trials = load_scenario(scenario, ["repetitions=10"]).trials()
    shards = [Shard(count, number + 1) for number in range(count)]
    held = Counter(shard.number for trial in trials for shard in shards if shard.has(trial))
    assert sum(held.values()) == len(trials) == 120
    if count in (2, 3):
        assert min(held.values()) > 120 / count / 2


def test_a_cell_more_moves_no_trial(scenario: Path) -> None:
    before = {each.id: int(trial_key(each), 16) % 64 for each in load_scenario(scenario, []).trials()}
    more = load_scenario(scenario, ["path.rtt=[5 ms, 10 ms, 20 ms, 30 ms, 40 ms, 50 ms]", "repetitions=3"])
    after = {each.id: int(trial_key(each), 16) % 64 for each in more.trials()}
    assert len(after) == 54
    assert {id: after[id] for id in before} == before


def test_the_key_of_a_trial_is_what_its_file_says(scenario: Path) -> None:
    trials = load_scenario(scenario, []).trials()
    assert len({trial_key(each) for each in trials}) == len(trials) == 24
    assert len({trial_key(each, by_cell=True) for each in trials}) == 12
    assert trial_key(trials[0]) == trial_key(load_scenario(scenario, []).trials()[0])
    other = load_scenario(scenario, ["path.rate=20 Mbit/s"]).trials()[0]
    assert other.id == trials[0].id
    assert trial_key(other) != trial_key(trials[0])


def test_the_key_of_a_scenario_is_all_that_it_asks_for(scenario: Path) -> None:
    key = scenario_key(load_scenario(scenario, []))
    assert key == scenario_key(load_scenario(scenario, []))
    changes = ("seed=2", "repetitions=3", "flows=[1, 2]", "path.rate=20 Mbit/s", "primary=rtt", "flows=[3, 2, 1]")
    others = [scenario_key(load_scenario(scenario, [each])) for each in changes]
    others.append(scenario_key(load_scenario(scenario, ["until={ci: 5 %, max: 4}"])))
    assert len({key, *others}) == 1 + len(others)


@pytest.mark.parametrize(
    "text", ["", "3", "0/3", "4/3", "1/0", "a/b", "1/3/5", "-1/3", "1/100001", "1.0/3", "01/3", "1/3 "]
)
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is no shard; allowed: NUMBER/COUNT such as 3/64"):
        parse(text)


def test_a_shard_of_a_scenario_that_has_changed_since_is_not_in_the_folder(
    scenario: Path, began: list[str], tmp_path: Path
) -> None:
    run(scenario, tmp_path, "1/3")
    run(scenario, tmp_path, "2/3", "repetitions=9")
    assert Store(tmp_path).shards == ("2/3",)
    run(scenario, tmp_path, "1/3", "repetitions=9")
    assert Store(tmp_path).shards == ("2/3", "1/3")


def test_which_shards_are_absent() -> None:
    assert absent(["1/3", "3/3"]) == ["2/3"]
    assert absent(["1/1"]) == absent([]) == absent(["1/2", "2/3"]) == []
    assert [in_words(each) for each in ((), ["1/3"], ["1/3", "2/3"])] == ["", "shard 1/3", "shards 1/3, 2/3"]


def test_a_shard_runs_its_share_and_an_unsharded_run_completes_it(
    scenario: Path, began: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    loaded = run(scenario, out, "2/3")
    share = [each.id for each in loaded.order() if parse("2/3").has(each)]
    assert began == share
    assert 0 < len(share) < 24
    assert Store(out).shards == ("2/3",)
    assert len(Store(out).ids) == 24
    assert table.read(Store(out), "trials").num_rows == len(share)
    assert b'"shards": ["2/3"]' in table.open_file(Store(out), "trials").schema_arrow.metadata[b"testbed"]
    run(scenario, out, "2/3")
    assert began == share
    run(scenario, out, "1/3")
    assert Store(out).shards == ("2/3", "1/3")
    run(scenario, out)
    assert sorted(began) == sorted(each.id for each in loaded.trials())
    assert Store(out).shards == ()
    assert "shards" not in read_json(out / "run.json")
    whole = tmp_path / "whole"
    run(scenario, whole)
    for name in ("run.json", "trials.parquet", "flows.parquet", "samples.parquet", "queues.parquet"):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name


def test_with_until_a_cell_is_in_one_shard_with_all_its_repetitions(
    scenario: Path, began: list[str], tmp_path: Path
) -> None:
    """Whether there is another repetition depends on all earlier ones."""
    until = "until={ci: 1 %, max: 6}"
    for number in (1, 2, 3):
        run(scenario, tmp_path / str(number), f"{number}/3", until)
    loaded = run(scenario, tmp_path / "whole", None, until)
    split, whole = began[: len(began) // 2], began[len(began) // 2 :]
    assert sorted(split) == sorted(whole)
    assert len(split) == 12 * 6
    shards = {
        each.params: {n for n in (1, 2, 3) if (tmp_path / f"{n}/trials/{each.id}").exists()} for each in loaded.trials()
    }
    assert {len(each) for each in shards.values()} == {1}
    assert set.union(*shards.values()) == {1, 2, 3}


def test_the_queue_counts_only_what_may_still_be_ours() -> None:
    trials = make_trials(["10 ms", "20 ms"], 4)
    queue = TrialQueue(trials, Until(Fraction(1, 100), 4, 2), lambda trial: dict(trial.params)["path.rtt"] == "10 ms")
    assert [trial.params[0][1] for trial in queue.waiting] == ["10 ms"] * 2
    assert queue.undecided == 2
    assert len(queue.members) == 4
    assert len(queue.possible) == 4


def said(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.stdout, done.stderr + (str(done.exception) if done.exception else "")


def test_a_shard_is_nowhere_taken_for_the_whole(scenario: Path, began: list[str], tmp_path: Path) -> None:
    shard, whole = tmp_path / "shard", tmp_path / "whole"
    code, out, _ = said("run", str(scenario), "-o", str(shard), "--shard", "1/3")
    assert code == 0
    count = len(began)
    assert f"shard 1/3: {count} of 24 trials are here; testbed merge joins the shards" in out
    assert said("run", str(scenario), "-o", str(whole))[0] == 0
    code, _, err = said("results", str(shard))
    assert code == 1
    assert "is shard 1/3 of its scenario" in err
    assert f"{24 - count} of 24 trials are missing" in err
    assert "is shard 1/3" in said("query", str(shard), "SELECT count(*) FROM trials")[2]
    code, out, err = said("compare", str(whole), str(shard))
    assert code == 4, out + err
    assert "lost" in out
    code, out, err = said("compare", str(shard), str(whole))
    assert code == 5, out + err
    assert "shard 1/3" in out
    note = f"This is shard 1/3 of its scenario: {24 - count} of 24 trials are missing."
    assert note in view._notes(stored_run.read(shard), 0.0)
    assert caption.trials(stored_run.read(shard)).endswith("not measured yet: this is shard 1/3 of the scenario")
    assert said("run", str(scenario), "-o", str(shard))[0] == 0
    for words in (("results", str(shard)), ("compare", str(whole), str(shard))):
        code, out, err = said(*words)
        assert (code, "shard 1/3" in out + err) == (0, False), out + err


def test_a_shard_without_a_trial_is_no_success(scenario: Path, began: list[str], tmp_path: Path) -> None:
    trials = load_scenario(scenario, []).trials()
    empty = next(each for each in (Shard(1000, n) for n in range(1, 1001)) if not any(map(each.has, trials)))
    code, out, err = said("run", str(scenario), "-o", str(tmp_path / "out"), "--shard", str(empty))
    assert code == 4, out + err
    assert f"shard {empty} has none of the 24 trials: nothing was run" in " ".join(err.split())
    assert began == []
    other = said("run", str(scenario), "-o", str(tmp_path / "other"), "--shard", "1/2")[0]
    rest = said("run", str(scenario), "-o", str(tmp_path / "rest"), "--shard", "2/2")[0]
    folders = [str(tmp_path / each) for each in ("out", "other", "rest")]
    assert (other, rest, said("merge", *folders, "-o", str(tmp_path / "all"))[0]) == (0, 0, 0)


def test_a_dry_run_tells_of_the_share(scenario: Path, tmp_path: Path) -> None:
    words = ("run", str(scenario), "-o", str(tmp_path / "none"), "--shard", "1/3", "--dry-run")
    told = json.loads(said(*words, "--format", "json")[1])
    share = sum(parse("1/3").has(each) for each in load_scenario(scenario, []).trials())
    assert (told["shard"], told["trials"], told["waiting"]) == ("1/3", 24, share)
    assert f"waiting:  {share} in shard 1/3" in said(*words)[1]
    assert not (tmp_path / "none").exists()


def test_a_shard_of_something_else_than_a_scenario_is_refused(scenario: Path, tmp_path: Path) -> None:
    assert "allowed: --repeat" in said("run", "--repeat", str(tmp_path), "--shard", "1/3")[2]
    assert "--until-decided runs a whole" in said("run", str(scenario), "--until-decided", "--shard", "1/3")[2]


def test_each_shard_has_a_folder_of_its_own(
    scenario: Path, began: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said("run", str(scenario), "--shard", "2/3")[0] == 0
    assert Store(tmp_path / "results/made-shard-2-of-3").shards == ("2/3",)
