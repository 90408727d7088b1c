"""docs/results.md lists every file of a run's folder, and of a trial's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from evidence_sabotage import RECORDED
from trials import make_trial

from testbed.kernel.guest import CONSOLE
from testbed.plan.step import data
from testbed.sweep import audit, run_file, store
from testbed.trial import folder, reader
from testbed.trial.column import TRIAL
from testbed.trial.orders.sequence import orders
from testbed.trial.result import TrialResult
from testbed.trial.subject import observer, round_trip

TEXT = Path(__file__, "../../docs/results.md").resolve().read_text()
(BLOCK,) = re.findall(r"```\n(DIR/run\.json.*?)```", TEXT, re.DOTALL)
WORDS = {word for line in BLOCK.splitlines() for word in re.split(r"\s{2,}", line.strip())[0].split()}
PATTERNS = {word.removeprefix("DIR/").rstrip("/") for word in WORDS}
MORE = {
    "real time": {"kernel": "lab-realtime", "workload": {"duration": "2 s"}},
    "pings of several sizes": {"workload": {"tool": "ping", "count": 20}},
}


def written(step: Any) -> Iterator[str]:
    """The files in the trial's folder that a step writes."""
    if isinstance(step, dict):
        yield from (step[key] for key in ("out", "err") if isinstance(step.get(key), str))
        step = [*step.values()]
    if isinstance(step, list):
        for each in step:
            yield from written(each)
    elif isinstance(step, str):
        yield from re.findall(r"/run/trial/([\w.-]+)", step)


@pytest.mark.parametrize("name", [*RECORDED, *MORE])
def test_every_file_that_a_trial_writes_is_listed(name: str) -> None:
    trial = make_trial(**(RECORDED | MORE)[name])
    names = {file for step in orders(trial).steps for file in written(data(step))}
    assert observer.SAMPLES in names
    unlisted = {file for file in names if not any(fnmatch(file, pattern) for pattern in PATTERNS)}
    assert unlisted == {observer.SAMPLES}  # it becomes samples.parquet


def test_every_file_with_a_fixed_name_is_listed() -> None:
    fixed = {folder.RESULT, folder.TRIAL, folder.HOST, folder.PROVENANCE, CONSOLE, "plan.sh", "steps.json"}
    parts = vars(reader) | vars(round_trip) | vars(observer)
    fixed |= {name for key, name in parts.items() if key.isupper() and isinstance(name, str) and "." in name}
    fixed |= {run_file.NAME, run_file.LOOKS, audit.FILE, store.LOCK, store.ERROR, f"{folder.PARTIAL}x"}
    listed = BLOCK.replace("DIR/", "")
    missing = {each for each in fixed if not any(fnmatch(each, word) for word in PATTERNS) and each not in listed}
    assert missing == {observer.SAMPLES}  # it becomes samples.parquet


def test_every_field_of_a_result_is_named() -> None:
    names = {each.name for each in fields(TrialResult)} | {name.split(".")[-1] for name, _ in TRIAL}
    assert {name for name in names if f"`{name}`" not in TEXT} == set()
