"""Two checkouts in turns: which kernel each gets, and what is printed; no trial runs."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from benchmarks import against
from benchmarks.__main__ import CASES, Case, scenario
from benchmarks.against import Run, Side
from testbed.spec.load import load_scenario

PATCH = "net: a change\n"


def checkout(folder: Path, *patches: str) -> Path:
    (folder / against.PATCHES).mkdir(parents=True)
    for number, text in enumerate(patches):
        (folder / against.PATCHES / f"{number}.patch").write_text(text)
    return folder


def kernel(kernels: Path, name: str, *patches: str, is_default: bool = True, time_s: int = 1) -> Path:
    found = {f"{number}.patch": hashlib.sha256(text.encode()).hexdigest() for number, text in enumerate(patches)}
    (kernels / name).mkdir(parents=True)
    (kernels / name / "kernel.json").write_text(json.dumps({"is_default": is_default, "patches": found}))
    os.utime(kernels / name / "kernel.json", (time_s, time_s))
    return kernels / name


def test_each_checkout_gets_the_newest_default_kernel_with_its_own_patches(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    old, new = checkout(tmp_path / "old", PATCH), checkout(tmp_path / "new", PATCH, "another\n")
    kernel(kernels, "a", PATCH, time_s=1)
    wanted = kernel(kernels, "b", PATCH, time_s=3)
    kernel(kernels, "c", PATCH, is_default=False, time_s=5)
    other = kernel(kernels, "d", PATCH, "another\n", time_s=7)
    assert against.kernel_of(old, kernels) == wanted
    assert against.kernel_of(new, kernels) == other


def test_a_checkout_without_its_kernel_is_told_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is not built; there: python -m testbed kernel build"):
        against.kernel_of(checkout(tmp_path / "old", PATCH), tmp_path)


def test_a_side_sees_the_users_cache_but_one_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users = tmp_path / "users"
    monkeypatch.setenv("XDG_CACHE_HOME", str(users))
    kernel(users / "testbed/kernels", "a", PATCH)
    kernel(users / "testbed/kernels", "b")
    (users / "testbed/tools").mkdir()
    found = against.side(checkout(tmp_path / "old", PATCH), tmp_path / "cache")
    assert sorted(path.name for path in (found.cache / "testbed").iterdir()) == ["kernels", "tools"]
    assert [path.name for path in (found.cache / "testbed/kernels").iterdir()] == ["a"]


def compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, walls: dict[str, list[Run]], runs: int
) -> tuple[int, list[str]]:
    """The exit code, and which side measured in which order."""
    turns: list[str] = []

    def measure(self: Side, scenario: object, folder: Path) -> Run:
        turns.append(self.cache.name)
        return walls[self.cache.name].pop(0)

    monkeypatch.setattr(against, "side", lambda checkout, cache: Side(checkout, cache))
    monkeypatch.setattr(Side, "measure", measure)
    return against.compare({"case": {}}, tmp_path, runs), turns


def test_sides_take_turns_and_the_ratio_is_that_of_pairs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walls = {
        "this": [Run(12, wall, 5, 1e9, "valid") for wall in (4, 5, 6)],
        "other": [Run(12, wall, 9, 1e9, "valid") for wall in (8, 15, 6)],
    }
    status, turns = compared(monkeypatch, tmp_path, walls, 3)
    assert status == 0
    assert turns == ["other", "this", "this", "other", "other", "this"]
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1][:8] == ["case", "this", "12.0", "5.00", "4.00", "6.00", "5.00", "2.40"]
    assert lines[3][:5] == ["case", "ratio", "2.00", "1.00", "3.00"]


@pytest.mark.parametrize("odd", [Run(12, 4, 5, 2e9, "valid"), Run(12, 4, 5, 1e9, "invalid")])
def test_a_side_that_is_invalid_or_does_not_repeat_itself_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, odd: Run
) -> None:
    fine = Run(12, 4, 5, 1e9, "valid")
    status, _ = compared(monkeypatch, tmp_path, {"this": [fine, odd], "other": [fine, fine]}, 2)
    assert status == 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_case_is_a_scenario_of_one_trial(tmp_path: Path, case: Case) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(json.dumps(scenario(case)))
    assert len(list(load_scenario(file).trials())) == 1
