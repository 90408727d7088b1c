"""Stored runs for tests: folders as `testbed run` leaves them, made of a few numbers for each trial."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from trials import make_trial

from results import plain
from testbed.spec.scenario.trial import trial_data
from testbed.trial import column
from testbed.trial.result import SCHEMA, TrialResult

RATE_BPS = 100e6


@dataclass(frozen=True)
class Made:
    """One trial: what it was asked, and the goodput of each of its flows."""

    params: Mapping[str, str]
    goodput_bps: Sequence[float]
    seed: int = 1
    verdict: str = "valid"
    retransmits: int = 0
    srtt_s: float = 0.05
    path: Mapping[str, Any] = field(default_factory=dict)
    workload: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        words = (f"{key.split('.')[-1]}={value.replace(' ', '')}" for key, value in self.params.items())
        return ",".join([*words, f"seed={self.seed}"])


def trial_settings(made: Made) -> dict[str, Any]:
    """trial.json."""
    rtt = made.params.get("path.rtt", "10 ms")
    workload = {"duration": "10 s", "flows": len(made.goodput_bps), **made.workload}
    asked = [{"rtt": rtt, **made.path}, workload, {"params": dict(made.params), **made.changes}]
    own = {key: value for key, value in (("id", made.id), ("seed", made.seed)) if key not in made.changes}
    return {**json.loads(_settings(json.dumps(asked))), **own}


@cache
def _settings(asked: str) -> str:
    """Of trials that differ in their names and seeds alone."""
    path, workload, changes = json.loads(asked)
    return json.dumps(trial_data(make_trial(path, workload, **changes)))


def trial_result(made: Made, rate_bps: float | None = RATE_BPS) -> TrialResult:
    return plain(**_measured(made, rate_bps))


@cache
def _stored(measured: bytes) -> str:
    """result.json."""
    return json.dumps(plain(**pickle.loads(measured)).stored())


def _measured(made: Made, rate_bps: float | None) -> dict[str, Any]:
    rtt_s = float(made.params.get("path.rtt", "10 ms").split()[0]) / 1e3
    flows = [
        {
            "goodput_bps": rate,
            "retransmits": made.retransmits,
            "rtt_min_s": rtt_s,
            "congestion": made.params.get("congestion", "cubic"),
            "port": 5001 + number,
            "received_bytes": int(rate * 10 / 8),
            "mss_bytes": 1448,
            "busy_s": 10.0,
            "rwnd_limited": 0.0,
            "sndbuf_limited": 0.0,
        }
        for number, rate in enumerate(made.goodput_bps)
    ]
    about = {
        "id": made.id,
        "params": dict(made.params),
        "seed": made.seed,
        "repetition": max(0, made.seed - 1),
        "verdict": made.verdict,
        "goodput_bps": sum(made.goodput_bps) if made.goodput_bps else None,
        "flows": flows,
        "asked": {"rtt_s": rtt_s, "rate_bps": rate_bps},
        "seen": {
            "rtt_s": rtt_s,
            "rtt_max_s": rtt_s,
            "rate_bps": rate_bps,
            "data_packets": 1000,
            "dropped_packets": 0,
        },
        "lab_s": 13.0,
        "workload_s": 10.0,
        "steady_s": 0.0,
    }
    return {**about, **made.data}


def write_run(folder: Path, trials: Sequence[Made], samples: bool = True, rate_bps: float | None = RATE_BPS) -> Path:
    """The folder of a run with these trials."""
    for made in trials:
        home = folder / "trials" / made.id
        home.mkdir(parents=True)
        (home / "trial.json").write_text(json.dumps(trial_settings(made)))
        (home / "result.json").write_text(_stored(pickle.dumps(_measured(made, rate_bps))))
        (home / "host.json").write_text('{"wall_s": 1.0}')
        if samples:
            _write_samples(home, made)
    about = {"schema": SCHEMA, "scenario": "made", "trials": [made.id for made in trials]}
    (folder / "run.json").write_text(json.dumps(about))
    return folder


def write_completions(folder: Path) -> None:
    """In each trial of a run 101 flows of 1 ms, 2 ms, … that arrived; the last one was cut."""
    rows: list[dict[str, Any]] = [
        {"number": n, "size_bytes": 1000, "fct_s": n / 1e3, "slowdown": float(n), "state": "finished"}
        for n in range(1, 102)
    ]
    rows[-1] |= {"fct_s": None, "slowdown": None, "state": "cut"}
    for home in (folder / "trials").iterdir():
        pq.write_table(pa.Table.from_pylist(rows, column.COMPLETIONS), home / "completions.parquet")


def _write_samples(home: Path, made: Made) -> None:
    (home / "samples.parquet").write_bytes(_samples(tuple(made.goodput_bps), made.srtt_s, made.retransmits))
    (home / "queues.parquet").write_bytes(_queues())


def _parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


@cache
def _samples(goodput_bps: tuple[float, ...], srtt_s: float, retransmits: int) -> bytes:
    """Every flow at its goodput from the start, seen from both ends every 100 ms."""
    rows = [
        {
            "time_s": float(time_s),
            "source_port": 40000 + number if is_sender else 5001 + number,
            "destination_port": 5001 + number if is_sender else 40000 + number,
            "bytes_acked": int(rate * time_s / 8) if is_sender else 0,
            "srtt_s": srtt_s if is_sender else 0.01,
            "snd_cwnd": 10 + number,
            "snd_mss_bytes": 1448,
            "total_retrans": int(retransmits * time_s / 10),
        }
        for time_s in np.arange(0, 10, 0.1)
        for number, rate in enumerate(goodput_bps)
        for is_sender in (True, False)
    ]
    return _parquet(rows)


@cache
def _queues() -> bytes:
    rows = [
        {"time_s": float(time_s), "link": "path", "way": way, "backlog_packets": int(10 * time_s), "drops": int(time_s)}
        for time_s in np.arange(0, 10, 0.1)
        for way in ("forward", "backward")
    ]
    return _parquet(rows)
