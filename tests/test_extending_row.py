"""A row of a publication: the page's code alone makes it, and the list, the judgement and the page have it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from comparing import said_by
from shipped import page

from results import plain
from testbed.trial.result import TrialResult
from testbed_reproductions import command
from testbed_reproductions.measured import Measured
from testbed_reproductions.page import Both, markdown
from testbed_reproductions.row import Finding, Row

CODE = page("A row of a publication", "python")


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> Row:
    made: dict[str, Any] = {}
    exec(compile(CODE, "docs/extending.md", "exec"), made)
    found: Row = made["ROW"]
    monkeypatch.setattr(command, "ROWS", (*command.ROWS, found))
    return found


def result(seed: int, bps: float, loss: str = "none") -> TrialResult:
    params = {"path.rtt": "10 ms", "path.loss": loss}
    return plain(params=params, goodput_bps=bps, seed=seed, asked={"rtt_s": 0.01, "rate_bps": 100e6})


def judged(row: Row, *goodputs_bps: float) -> Finding:
    results = [result(seed, bps) for seed, bps in enumerate(goodputs_bps)]
    assert row.judge is not None
    runs = {"quickstart": Measured.of("quickstart", "quick", [*results, result(1, 1e6, "1 in 9")])}
    return Finding(row, row.judge(runs))


def test_it_is_listed_with_its_criterion(row: Row, capsys: pytest.CaptureFixture[str]) -> None:
    (listed,) = json.loads(said_by(capsys, "reproduce", "S4-Q1", "--list", "--format", "json").out)
    assert (listed["id"], listed["scenarios"]) == ("S4-Q1", ["quickstart"])
    assert listed["criterion"] == "95 % or more of a full link's goodput"


def test_its_judge_decides_by_the_seeds(row: Row) -> None:
    """A full link carries 1448 of 1514 bytes: 95.6 Mbit/s of 100."""
    assert judged(row, 95.5e6, 95.6e6, 95.5e6).outcome == "pass"
    assert judged(row, 85.5e6, 85.6e6, 85.5e6).outcome == "fail"
    assert judged(row, 70e6, 95.6e6).outcome == "cannot tell"


def test_the_page_has_it(row: Row) -> None:
    found = judged(row, 95.5e6, 95.6e6)
    text = markdown([Both(found, Finding(row, None))], command.citations(), "")
    words = "95.5 Mbit/s [94.9, 96.2] | shape | pass | not run |"
    assert f"| 95 % or more of a full link's goodput (Table II) | {words}" in text
