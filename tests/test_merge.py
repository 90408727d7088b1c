"""Merging shards: the same as the whole run; no difference, no other scenario and no gap is passed over in silence."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from runs import files_of, make_store, read_json
from test_shard import SCENARIO, began, measuring_nothing, run, said

from testbed.error import UserError
from testbed.spec.load import load_scenario
from testbed.spec.syntax import input_file
from testbed.sweep import merge as merging
from testbed.sweep.merge import joined, merge
from testbed.sweep.origin import mixed
from testbed.sweep.store import Store
from testbed.trial.folder import DiskFull, write_json
from testbed.trial.result import MachineResult

__all__ = ["began"]
HERE_ONLY = ("host.json", "host.parquet", "lock")


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scenario") / "made.yaml"
    path.write_text(SCENARIO)
    return path


Made = Callable[..., Path]


@pytest.fixture(scope="module")
def made(scenario: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Three shards and the whole run with these settings, in a folder that nobody changes."""

    @cache
    def folder(*settings: str) -> Path:
        home = tmp_path_factory.mktemp("made")
        with pytest.MonkeyPatch.context() as patch:
            measuring_nothing(patch)
            for number in (1, 2, 3):
                run(scenario, home / f"part{number}", f"{number}/3", *settings)
            run(scenario, home / "whole", None, *settings)
        return home

    return folder


def shards(made: Made, folder: Path, *settings: str) -> list[Path]:
    """Three shards; beside them is the whole run."""
    shutil.copytree(made(*settings), folder, symlinks=True, dirs_exist_ok=True)
    return [folder / f"part{number}" for number in (1, 2, 3)]


@pytest.mark.parametrize("settings", [(), ("until={ci: 1 %, max: 5}",)])
def test_merged_shards_are_the_whole_run_byte_for_byte(
    settings: tuple[str, ...], made: Made, scenario: Path, began: list[str], tmp_path: Path
) -> None:
    parts = shards(made, tmp_path, *settings)
    code, out, err = said("merge", *map(str, reversed(parts)), "-o", str(tmp_path / "out"))
    assert code == 0, out + err
    merged, whole = (files_of(tmp_path / name, but=HERE_ONLY) for name in ("out", "whole"))
    assert merged.keys() == whole.keys()
    assert [name for name in whole if merged[name] != whole[name]] == []
    count = len(began)
    run(scenario, tmp_path / "out", None, *settings)
    assert len(began) == count
    assert said("results", str(tmp_path / "out"))[0] == 0


def test_missing_shards_are_named_and_the_run_completes_them(
    made: Made, scenario: Path, began: list[str], tmp_path: Path
) -> None:
    parts = shards(made, tmp_path)
    out = tmp_path / "out"
    code, told, _ = said("merge", str(parts[0]), str(parts[2]), "-o", str(out))
    assert code == 4
    assert "missing shards: 2/3" in told
    lost = len(Store(parts[1]).results())
    assert f"{24 - lost} of 24 trials" in told
    assert Store(out).shards == ("1/3", "3/3")
    assert said("results", str(out))[0] == 1
    before = files_of(out / "trials")
    began.clear()
    run(scenario, out)
    assert len(began) == lost
    assert files_of(out / "trials").items() >= before.items()
    assert files_of(out, but=HERE_ONLY) == files_of(tmp_path / "whole", but=HERE_ONLY)


def test_a_later_merge_adds_what_was_missing(made: Made, began: list[str], tmp_path: Path) -> None:
    parts = shards(made, tmp_path)
    out = str(tmp_path / "out")
    assert [said("merge", str(part), "-o", out)[0] for part in parts] == [4, 4, 0]
    assert said("merge", *map(str, parts), "-o", out)[0] == 0
    assert said("merge", out, *map(str, parts), "-o", out)[0] == 0
    assert files_of(tmp_path / "out", but=HERE_ONLY) == files_of(tmp_path / "whole", but=HERE_ONLY)


def test_what_differs_is_named_with_both_computers_and_nothing_is_written(
    made: Made, began: list[str], tmp_path: Path
) -> None:
    parts = shards(made, tmp_path)
    again = tmp_path / "again"
    shutil.copytree(parts[0], again)
    id = Store(again).results()[0].id
    for folder, name in ((parts[0], "one"), (again, "two")):
        write_json(folder / "trials" / id / "host.json", {"wall_s": 1.0, "started": "", "computer": name})
        parts_of = {"nft": name, "ip": "1"}
        write_json(folder / "trials" / id / "provenance.json", {"software": {"parts": parts_of}})
    out = tmp_path / "out"
    code, _, err = said("merge", *map(str, parts), str(again), "-o", str(out))
    assert code == 1
    for word in (f"{id}: provenance.json differ", "(one)", "(two)", "software: nft one → two", "nothing was written"):
        assert word in err
    assert not (out / "trials").exists() or not list((out / "trials").iterdir())
    shutil.copyfile(parts[0] / "trials" / id / "provenance.json", again / "trials" / id / "provenance.json")
    assert said("merge", *map(str, parts), str(again), "-o", str(out))[0] == 0


@pytest.mark.parametrize("how", ["flipped", "shorter", "gone", "more"])
def test_any_difference_of_a_duplicate_counts(how: str, scenario: Path, began: list[str], tmp_path: Path) -> None:
    run(scenario, tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    trial = tmp_path / "b/trials" / Store(tmp_path / "a").ids[5]
    file = trial / "samples.parquet"
    data = file.read_bytes()
    match how:
        case "flipped":
            file.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
        case "shorter":
            file.write_bytes(data[:-1])
        case "gone":
            file.unlink()
        case "more":
            (trial / "more.txt").touch()
    code, _, err = said("merge", str(tmp_path / "a"), str(tmp_path / "b"), "-o", str(tmp_path / "out"))
    assert code == 1
    assert ("more.txt" if how == "more" else "samples.parquet") in err
    for target in ("a", "b"):  # into one that has the other
        before = files_of(tmp_path / target)
        other = {"a": "b", "b": "a"}[target]
        assert said("merge", str(tmp_path / other), "-o", str(tmp_path / target))[0] == 1
        assert files_of(tmp_path / target) == before


def test_other_scenarios_are_refused(scenario: Path, began: list[str], tmp_path: Path) -> None:
    run(scenario, tmp_path / "a", "1/3")
    for number, setting in enumerate(("path.rate=20 Mbit/s", "seed=3", "repetitions=3", "flows=[1, 2]")):
        run(scenario, tmp_path / str(number), "2/3", setting)
        err = said("merge", str(tmp_path / "a"), str(tmp_path / str(number)), "-o", str(tmp_path / "out"))[2]
        assert "of different scenarios" in err
    about = read_json(tmp_path / "a/run.json")
    write_json(tmp_path / "a/run.json", {name: each for name, each in about.items() if name != "key"})
    assert "does not tell which scenario" in said("merge", str(tmp_path / "a"), "-o", str(tmp_path / "out"))[2]
    assert "is not a results folder" in said("merge", str(tmp_path), "-o", str(tmp_path / "out"))[2]
    assert not (tmp_path / "out").exists()


def test_a_folder_that_a_run_is_writing_to_is_refused(scenario: Path, began: list[str], tmp_path: Path) -> None:
    run(scenario, tmp_path / "a", "1/3")
    with Store(tmp_path / "a").locked():
        for words in (("a", "out"), ("out", "a")):
            if words[0] == "out":
                run(scenario, tmp_path / "out", "2/3")
            code, _, err = said("merge", str(tmp_path / words[0]), "-o", str(tmp_path / words[1]))
            assert code != 0
            assert "writing to" in err


def test_an_interrupted_merge_leaves_whole_trials_and_goes_on(
    made: Made, began: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, out = shards(made, tmp_path), tmp_path / "out"
    whole = files_of(tmp_path / "whole" / "trials", but=HERE_ONLY)
    copy, left = merging.strict_folder._copy, iter(range(10**6))

    for limit in (0, 1, 7, 31, 80):

        def interrupted(name: str, here: int, said: Path, target: Path, *most: int, limit: int = limit) -> int:
            if next(left) % 97 == limit:
                target.write_bytes(b"half")
                raise KeyboardInterrupt
            return copy(name, here, said, target, *most)

        monkeypatch.setattr(merging.strict_folder, "_copy", interrupted)
        with pytest.raises(KeyboardInterrupt):
            merge([Store(each) for each in parts], Store(out))
        assert files_of(out / "trials", but=HERE_ONLY).items() <= whole.items()
        assert len(Store(out).ids) == 24
    monkeypatch.setattr(merging.strict_folder, "_copy", copy)
    (out / "trials/.partial-killed").mkdir()
    assert said("merge", *map(str, parts), "-o", str(out))[0] == 0
    assert files_of(out, but=HERE_ONLY) == files_of(tmp_path / "whole", but=HERE_ONLY)


def test_failed_and_invalid_trials_are_no_pass(made: Made, began: list[str], tmp_path: Path) -> None:
    parts, out = shards(made, tmp_path), tmp_path / "out"
    ids = [each.id for each in Store(parts[0]).results()]
    (parts[0] / "trials" / ids[0]).rename(parts[0] / "failed" / ids[0])
    (parts[0] / "failed" / ids[0] / "error.txt").write_text("it broke\n")
    code, told, _ = said("merge", *map(str, parts), "-o", str(out))
    assert code == 4
    assert f"failed: {ids[0]}" in told
    assert Store(out).failures() == {ids[0]: "it broke"}
    assert said("merge", str(tmp_path / "whole"), "-o", str(out))[0] == 0
    assert Store(out).failures() == {}
    result = read_json(out / "trials" / ids[0] / "result.json")
    for folder in (out, tmp_path / "whole"):
        write_json(folder / "trials" / ids[0] / "result.json", {**result, "verdict": "invalid"})
    (parts[0] / "failed" / ids[0] / "error.txt").unlink()
    code, told, _ = said("merge", *map(str, parts), "-o", str(out))
    assert (code, "1 of them is invalid" in told) == (1, True), told


def test_links_in_a_shard_lead_nowhere(scenario: Path, began: list[str], tmp_path: Path) -> None:
    run(scenario, tmp_path / "a")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    trial = tmp_path / "a/trials" / Store(tmp_path / "a").ids[0]
    (trial / "more.txt").symlink_to(secret)
    assert "is no plain file" in said("merge", str(tmp_path / "a"), "-o", str(tmp_path / "out"))[2]
    assert b"secret" not in files_of(tmp_path / "out").values()


def test_trials_of_other_software_are_said(made: Made, began: list[str], tmp_path: Path) -> None:
    parts = shards(made, tmp_path)
    for number, part in enumerate(parts):
        for trial in (part / "trials").iterdir():
            write_json(trial / "provenance.json", {"software": {"parts": {"ip": "1", "nft": str(number // 2)}}})
    code, told, _ = said("merge", *map(str, parts), "-o", str(tmp_path / "out"))
    assert code == 0
    assert "ran with different software: nft (" in told


def test_trials_in_real_time_that_ran_on_different_computers_are_said(scenario: Path, tmp_path: Path) -> None:
    """In virtual time the computer does not matter."""
    store = make_store(tmp_path, load_scenario(scenario).trials()[:3])
    for name, result in zip(("one", "two", "two\x1b"), store.results(), strict=True):
        write_json(tmp_path / "trials" / result.id / "host.json", {"computer": name})
    about = MachineResult("6.1", "lab1", "x86_64", 8, {}, 0, 0, 1.0, 0.1)
    first, second, third = (
        replace(result, kernel="host", kernel_release="6.12", machines={"a": replace(about, release=release)})
        for result, release in zip(store.results(), ("6.1", "6.1", "6.5"), strict=True)
    )
    why = "trials in real time depend on their computers, and"
    assert mixed(store, store.results()) == mixed(store, [first]) == ()
    assert mixed(store, [first, second]) == (f"{why} they ran on one (Linux 6.12), two (Linux 6.12)",)
    assert mixed(store, [replace(second, id=third.id), third]) == (
        f"{why} their a ran on lab1 (Linux 6.1), lab1 (Linux 6.5)",
    )


def test_lists_are_joined_in_an_order_that_agrees_with_each() -> None:
    assert joined([["a1", "b1", "b2", "c1"], ["a1", "a2", "b1", "c1"], ["a1", "b1", "c1", "c2"]]) == [
        *("a1", "a2", "b1", "b2", "c1", "c2")
    ]
    assert joined([[], ["a"], ["z", "a"]]) == ["z", "a"]
    assert joined([["a", "b"], ["a", "b"]]) == ["a", "b"]
    assert json.dumps(joined([])) == "[]"


def audit_of(date: str, id: str) -> dict[str, object]:
    trial = {"id": id, "outcome": "same", "files": [], "why": None, "software": [], "started": "s", "computer": "c"}
    return {"date": date, "computer": "c", "seed": 1, "finished": 1, "left_out": 0, "trials": [trial], "digests": {}}


def test_audits_of_the_folders_are_joined_each_once(made: Made, began: list[str], tmp_path: Path) -> None:
    parts = shards(made, tmp_path)
    made = [audit_of(f"2026-01-0{number}", Store(part).results()[0].id) for number, part in enumerate(parts, 1)]
    write_json(parts[0] / "audit.json", {"audits": [made[0], made[2]]})
    write_json(parts[2] / "audit.json", {"audits": [made[1], made[0]]})
    for _ in range(2):  # the second finds the first's
        assert said("merge", *map(str, parts), "-o", str(tmp_path / "out"))[0] == 0
        assert read_json(tmp_path / "out" / "audit.json") == {"audits": made}


def test_a_damaged_audit_is_said_and_nothing_is_written(made: Made, began: list[str], tmp_path: Path) -> None:
    parts = shards(made, tmp_path)
    write_json(parts[1] / "audit.json", {"audits": 3})
    with pytest.raises(UserError, match=r"part2/audit\.json is damaged"):
        merge([Store(each) for each in parts], Store(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["result.json", "samples.parquet"])
def test_a_damaged_trial_is_not_copied_and_a_whole_one_is_merged_later(
    name: str, made: Made, began: list[str], tmp_path: Path
) -> None:
    parts, out = shards(made, tmp_path), tmp_path / "out"
    id = os.listdir(parts[1] / "trials")[0]
    file = parts[1] / "trials" / id / name
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=rf"{file} is damaged: .*: rm -r {file.parent}$"):
        merge([Store(each) for each in parts], Store(out))
    assert not (out / "trials" / id).exists()
    file.write_bytes(whole)
    assert said("merge", *map(str, parts), "-o", str(out))[0] == 0


def test_a_full_disk_is_said_with_what_to_do(
    made: Made, began: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = shards(made, tmp_path)

    def full(*about: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(merging.strict_folder, "_copy", full)
    with pytest.raises(DiskFull, match="make room, and the same command again"):
        merge([Store(each) for each in parts], Store(tmp_path / "out"))


@pytest.mark.parametrize("others", ["none", "the same", "another"])
def test_the_looks_of_one_comparison_are_kept_and_those_of_two_are_not(
    others: str, made: Made, began: list[str], tmp_path: Path
) -> None:
    parts = shards(made, tmp_path)
    looks = {"schema": 1, "comparisons": []}
    write_json(parts[0] / "looks.json", looks)
    if others != "none":
        write_json(parts[1] / "looks.json", looks if others == "the same" else {**looks, "comparisons": [{}]})
    code, out, _ = said("merge", *map(str, parts), "-o", str(tmp_path / "out"))
    assert code == 0
    if others == "another":
        assert "part1/looks.json and" in out
        assert "part2/looks.json are not carried over: looks at different data" in out
        assert not (tmp_path / "out" / "looks.json").exists()
    else:
        assert "carried over" not in out
        assert read_json(tmp_path / "out" / "looks.json") == looks


def test_what_is_merged_is_read_once(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, out = shards(made, tmp_path), tmp_path / "out"
    opened: Counter[str] = Counter()
    before = input_file._opened

    def counted(path: str | os.PathLike[str], by_link: bool) -> int:
        opened[os.path.relpath(path, out / "trials")] += 1
        return before(path, by_link)

    monkeypatch.setattr(input_file, "_opened", counted)
    assert said("merge", *map(str, parts), "-o", str(out))[0] == 0
    ids = Store(out).ids
    for name in ("result.json", "samples.parquet", "queues.parquet"):
        assert {opened[f"{id}/{name}"] for id in ids} == {1}, name


def test_all_that_is_missing_is_looked_for_once(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failures of a run are read from as many files as it has trials; with many missing that took their square."""
    part, asked = shards(made, tmp_path)[0], []
    before = Store.failures

    def counted(self: Store) -> dict[str, str]:
        asked.append(self.path)
        return before(self)

    monkeypatch.setattr(Store, "failures", counted)
    found = merge([Store(part)], Store(tmp_path / "out"))
    assert isinstance(found, merging.Merged)
    assert len(found.missing) > 1
    assert len(asked) == 1
