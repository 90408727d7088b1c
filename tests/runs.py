"""Runs for tests that need no kernel: scenarios, and folders of results that nothing measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from trials import make_trial

from results import plain
from testbed.model.run_setting import Kernel
from testbed.model.scenario import Trial
from testbed.spec.scenario.trial import trial_data
from testbed.sweep import run as sweep
from testbed.sweep.store import Store
from testbed.trial import column
from testbed.trial.folder import HOST, RESULT, TRIAL, write_json
from testbed.trial.orders.sequence import Orders
from testbed.trial.result import TrialResult

Measure = Callable[[Trial], Mapping[str, Any]]


def make_trials(
    cells: Iterable[str] = ("10 ms", "20 ms"), repetitions: int = 2, kernels: Iterable[str] = ("lab",)
) -> list[Trial]:
    """A trial for each RTT, kernel and repetition, in file order."""
    return [
        replace(
            make_trial({"rtt": rtt}, id=f"rtt={rtt.replace(' ', '')},kernel={place},seed={i + 1}"),
            params=(("path.rtt", rtt), ("kernel", place)),
            seed=i + 1,
            repetition=i,
            kernel=Kernel(place),  # type: ignore[arg-type]
        )
        for rtt in cells
        for place in kernels
        for i in range(repetitions)
    ]


def make_result(trial: Trial, wall_s: float = 1.0, **changes: Any) -> TrialResult:
    """A result with all the fields that one has; its goodput is 1 Mbit/s times the seed."""
    flow = {"goodput_bps": 1e6 * trial.seed, "retransmits": 3, "rtt_min_s": 0.01, "congestion": "cubic"}
    about = {
        "id": trial.id,
        "params": dict(trial.params),
        "seed": trial.seed,
        "repetition": trial.repetition,
        "goodput_bps": flow["goodput_bps"],
        "flows": [flow],
        "kernel": trial.kernel.kind,
        "wall_s": wall_s,
    }
    return plain(**{**about, **changes})


def write_result(folder: Path, trial: Trial, result: TrialResult, samples: int = 3) -> None:
    """The files of a finished trial, of those that others read."""
    write_json(folder / TRIAL, trial_data(trial))
    write_json(folder / HOST, {"wall_s": result.wall_s, "cpu_s": result.cpu_s, "started": "2026-01-01T00:00:00+00:00"})
    rows = [{"time_s": 0.1 * i, "netns": "a", "snd_cwnd": 10 + i, "min_rtt_s": None} for i in range(samples)]
    pq.write_table(pa.Table.from_pylist(rows, column.SAMPLES), folder / "samples.parquet")
    pq.write_table(pa.Table.from_pylist([], column.QUEUES), folder / "queues.parquet")
    write_json(folder / RESULT, result.stored())


def always_same(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Trials measure nothing: the same comes out of each. Those that began."""
    ids: list[str] = []

    def run(trial: Trial, made: Orders, folder: Path, **options: Any) -> TrialResult:
        ids.append(trial.id)
        write_result(folder, trial, result := make_result(trial))
        return result

    monkeypatch.setattr(sweep.runner, "run", run)
    return ids


def make_store(path: Path, trials: Iterable[Trial], *, samples: int = 3) -> Store:
    """A run's folder in which all of these trials are finished."""
    store, all_trials = Store(path), list(trials)
    store.create("made", {}, [trial.id for trial in all_trials], [key for key, _ in all_trials[0].params])
    for trial in all_trials:
        with store.writing(trial) as folder:
            write_result(folder, trial, make_result(trial), samples)
    return store


def files_of(folder: Path, *, but: Iterable[str] = ()) -> dict[str, bytes]:
    """Everything below a folder, by path; not the files with these names."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in but
    }


def read_json(path: Path) -> Any:
    return json.loads(path.read_text())
