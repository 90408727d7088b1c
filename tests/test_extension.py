"""A run that gets more repetitions of some cells: what they are, how the run lists them, and when it refuses them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from runs import files_of, make_result, make_store, make_trials, read_json, write_result

from testbed.error import UserError
from testbed.model.scenario import sibling, trial_ids
from testbed.spec.load import load_scenario
from testbed.sweep import extension
from testbed.sweep import run as sweep
from testbed.sweep.store import Store
from testbed.trial import provenance
from testbed.trial.folder import write_json
from testbed.trial.orders.sequence import orders

SCENARIO = """
name: made
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 10 ms, buffer: 1 bdp}}
workload: {tool: flow, from: a, to: b, duration: 1 s}
sweep: {path.rtt: [10 ms, 20 ms], path.loss: [{every: 100, phase: seeded}, none]}
seed: 7
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "made.yaml"
    path.write_text(SCENARIO)
    return path


def test_a_sibling_is_the_trial_that_a_longer_scenario_has(scenario: Path) -> None:
    """Whatever the number of repetitions, number 11 of a cell is the same, down to the steps and a seeded phase."""
    long = load_scenario(scenario, ["repetitions=12"]).trials()
    for trial in load_scenario(scenario, ["repetitions=3"]).trials():
        for repetition in (0, 2, 11):
            same = next(each for each in long if (each.params, each.repetition) == (trial.params, repetition))
            assert sibling(trial, repetition) == same
            assert orders(sibling(trial, repetition)) == orders(same)


@pytest.mark.parametrize("texts", [("a b", "ab"), ("x" * 200, "y"), ("x" * 105, "y")], ids=["alike", "long", "longish"])
def test_names_that_need_a_hash_have_one_in_every_repetition(texts: tuple[str, ...]) -> None:
    """Two values that read alike in a name; one that is too long for a name; one that is, from seed 10000 on."""
    (trial,) = make_trials(["10 ms"], 1)
    runs = [((("x", text), ("seed", str(seed))), text, seed) for text in texts for seed in (1, 2, 10_000)]
    ids = {(text, seed): id for id, (_, text, seed) in zip(trial_ids([run for run, *_ in runs]), runs, strict=True)}
    for text in texts:
        first = replace(trial, id=ids[text, 1], params=(("x", text),))
        assert [sibling(first, seed - 1).id for seed in (1, 2, 10_000)] == [ids[text, n] for n in (1, 2, 10_000)]


def test_a_name_that_is_not_the_trials_is_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path, make_trials(["10 ms"], 2))
    (tmp_path / "trials/rtt=10ms,kernel=lab,seed=1").rename(tmp_path / "trials/renamed")
    for path in (tmp_path / "trials/renamed/trial.json", tmp_path / "run.json"):
        path.write_text(path.read_text().replace("rtt=10ms,kernel=lab,seed=1", "renamed"))
    with pytest.raises(UserError, match="cannot be extended: renamed is not the name"):
        extension.stems(store)


def test_what_is_added_is_listed_after_its_cell_and_the_rest_stays_as_it_was(tmp_path: Path) -> None:
    trials = make_trials(["10 ms", "20 ms"], 3)
    store = make_store(tmp_path, trials)
    before, about = files_of(tmp_path), read_json(tmp_path / "run.json")
    stem = extension.stems(store)[trials[0].params]
    assert (stem.trial, stem.listed, stem.tried) == (trials[0], 3, 3)
    new = stem.trials(5)
    assert new[:3] == trials[:3]
    for each in (new[4], new[3], new[4]):
        store.add(each)
    first = [f"rtt=10ms,kernel=lab,seed={n}" for n in range(1, 6)]
    assert list(store.ids) == [*first, *(each.id for each in trials[3:])]
    assert store.added == {first[3]: 3, first[4]: 4}
    assert {**read_json(tmp_path / "run.json"), "trials": 0, "added": 0} == {**about, "trials": 0, "added": 0}
    changed = {path for path, data in files_of(tmp_path).items() if before.get(path) != data}
    assert changed == {"run.json"}


def test_a_run_keeps_what_was_added_and_a_longer_one_takes_it_in(scenario: Path, tmp_path: Path) -> None:
    out = Store(tmp_path / "out")
    short = load_scenario(scenario, ["repetitions=2"])
    make_store(out.path, short.trials())
    more = sibling(short.trials()[2], 4)
    with out.writing(more) as folder:
        write_result(folder, more, make_result(more))
    out.add(more)
    for count, ids in ((2, 9), (6, 24)):
        again = load_scenario(scenario, [f"repetitions={count}"])
        found = extension.added(again, out)
        assert found == ([more] if count == 2 else [])
        prepared = sweep.prepare(again.trials(), out, again.order(), added=found, check=False)
        assert more.id in prepared.ids
        assert more.id in {each.id for each in prepared.done}
        assert more.id not in {each.id for each in prepared.waiting}
        assert len(prepared.ids) == ids
    other = load_scenario(scenario, ["repetitions=2", "path.rtt=[30 ms]"])
    assert extension.added(other, out) == []


def test_a_trial_that_would_not_run_as_the_others_did_is_refused(tmp_path: Path) -> None:
    trials = make_trials(["10 ms"], 1)
    store = make_store(tmp_path, trials)
    folder = tmp_path / "trials" / trials[0].id
    with pytest.raises(UserError, match=r"cannot be extended, .*provenance.json cannot be read"):
        extension.check(store, trials)
    made = orders(trials[0])
    noted = provenance.of(trials[0])
    (folder / "plan.sh").write_text(made.script)
    (folder / "steps.json").write_text(provenance.steps_of(trials[0], made))
    write_json(folder / "provenance.json", noted)
    extension.check(store, trials)
    kernel = {"name": "linux-1", "release": "1", "config_hash": "0", "key": "0123456789"}
    for change, said in (
        ({"kernel": kernel}, r"kernel linux-1 \(build 01234567\) → "),
        ({"kernel": None}, r"kernel none noted → "),
        ({"programs": "old"}, r"programs old → "),
        ({"testbed": "0.0.9"}, r"testbed 0.0.9 → "),
        ({"versions": {**noted["versions"], "python": "2.7"}}, r"python 2.7 → 3"),
        ({"versions": {}}, r"python none → 3"),
    ):
        write_json(folder / "provenance.json", {**noted, **change})
        with pytest.raises(UserError, match=said):
            extension.check(store, trials)
    for key in noted:
        write_json(folder / "provenance.json", {name: each for name, each in noted.items() if name != key})
        with pytest.raises(UserError, match="cannot be extended"):
            extension.check(store, trials)
    write_json(folder / "provenance.json", noted)
    for name in ("plan.sh", "steps.json"):
        text = (folder / name).read_text()
        (folder / name).write_text(text + " ")
        with pytest.raises(UserError, match=f"{name} would be another"):
            extension.check(store, trials)
        (folder / name).unlink()
        with pytest.raises(UserError, match=f"{name} is missing"):
            extension.check(store, trials)
        (folder / name).write_text(text)
