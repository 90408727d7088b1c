"""The guard that compares what two checkouts read: a difference, and a side that says nothing, is never a pass."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks import same

ROOT = Path(__file__).parents[1]


def other(folder: Path, module: str, old: str, new: str) -> Path:
    """A checkout in which one thing differs."""
    shutil.copytree(ROOT / "testbed", folder / "testbed", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "testbed" / module
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return folder


@pytest.mark.slow
def test_a_checkout_reads_the_same_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert same.main(["--against", str(ROOT), "--count", "20", "schemas", "ping", "host"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["schemas", "ping", "host"]
    assert all(line.endswith(", 0 differ") for line in said)


@pytest.mark.slow
def test_another_word_of_a_fault_is_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = other(tmp_path, "units.py", "is not a", "is none a")
    assert same.main(["--against", str(checkout), "--count", "50", "link"]) == 1
    assert "is none a" in capsys.readouterr().out


def test_another_help_of_a_key_is_a_difference_and_another_title_is_none() -> None:
    was: dict[str, Any] = {
        "$defs": {"A": {"title": "A", "description": "one"}},
        "properties": {"a": {"$ref": "#/$defs/A"}},
    }
    now: dict[str, Any] = {"properties": {"a": {"title": "B", "description": "one"}}}
    assert same.whole(was, was)["properties"] == same.whole(now, now)["properties"]
    now["properties"]["a"]["description"] = "two"
    assert same.whole(was, was)["properties"] != same.whole(now, now)["properties"]


@pytest.mark.slow
def test_a_side_that_breaks_off_is_no_pass(tmp_path: Path) -> None:
    checkout = other(tmp_path, "spec/topology/rules.py", "def check_topology(", "exit(3)\n\n\ndef check_topology(")
    with pytest.raises((SystemExit, ValueError, IndexError)):
        same.main(["--against", str(checkout), "--count", "5", "ping"])
