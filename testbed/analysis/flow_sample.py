"""The samples of a stored trial by flow. Reads samples.parquet and trial.json of a trial's folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import units
from ..error import UserError
from ..spec.syntax.document import mapping
from ..trial.folder import SAMPLES, TRIAL, read_json
from ..trial.result import TrialResult
from .metric import METRICS, FlowSamples, measure

COLUMNS = ["time_s", "source_port", "destination_port", "bytes_acked", "srtt_s"]
BUSY = "busy_s"


def metrics(folder: Path, result: TrialResult, names: Sequence[str]) -> dict[str, float | None]:
    """The named metrics of a trial's folder in base units, None where it has nothing to tell. Reads the samples if one
    of them needs them; raises UserError as `read` does. Samples that are lost are no reason to compute what needs them
    from something else.
    """
    needing = {name for name in names if METRICS[name].needs_samples}
    samples = read(folder, result) if needing else ()
    lost = needing if needing and are_lost(folder, result, samples) else set()
    found = measure(result, samples, [name for name in names if name not in lost])
    return {name: found.get(name) for name in names}


def are_lost(folder: Path, result: TrialResult, samples: Sequence[FlowSamples] | None = None) -> bool:
    """Whether the trial was to take samples, and their file is gone, or lacks a flow that ran long enough. `samples`
    are those that were read already.
    """
    try:
        asked = mapping(read_json(folder / TRIAL).get("samples"))
        interval_s = units.parse_time(str(asked["interval"])) / 1e9 if asked else None
    except (UserError, KeyError):
        return not (folder / SAMPLES).exists()  # nothing says that it never was there
    if interval_s is None:
        return False
    if not (folder / SAMPLES).exists():
        return True
    return len(read(folder, result) if samples is None else samples) < ran_long(result, interval_s)


def ran_long(result: TrialResult, interval_s: float) -> int:
    """How many flows ran for more than two samples."""
    return sum(flow.port is not None and (flow.busy_s or 0) > 2 * interval_s for flow in result.flows)


def parts(folder: Path, result: TrialResult) -> tuple[float, ...]:
    """What all flows brought in each part of the trial after the ramp, in bit/s, one for each sample; empty without
    samples of every flow.
    """
    samples = read(folder, result)
    if not samples or len(samples) < len(result.flows):
        return ()
    begin_s, end_s = result.steady_s or 0.0, min(float(each.time_s[-1]) for each in samples)
    longest = max(samples, key=lambda each: len(each.time_s)).time_s
    count = int(((longest >= begin_s) & (longest <= end_s)).sum()) - 1
    if count < 1 or end_s <= begin_s:
        return ()
    times = np.linspace(begin_s, end_s, count + 1)
    acked = sum(np.interp(times, each.time_s, each.acked_bytes) for each in samples)
    return tuple((8 * np.diff(acked) / np.diff(times)).tolist())


def without_another_seed(results: Sequence[TrialResult]) -> list[TrialResult]:
    """The only trial of each cell that has one: of how it varies, only its parts tell."""
    seeds = Counter(tuple(each.params.items()) for each in results)
    return [each for each in results if seeds[tuple(each.params.items())] == 1]


def read(folder: Path, result: TrialResult) -> tuple[FlowSamples, ...]:
    """One for each flow that was sampled, in the order of the flows; empty if the trial has no samples.

    A flow is identified by its port, the destination port of its sender. If flows share a port, or a flow had several
    connections (HTTP), the result is empty. Raises UserError if the file is broken.
    """
    from ..trial import sample_table  # imports pyarrow, which only stored samples need

    path = folder / SAMPLES
    if not path.exists():
        return ()
    with sample_table.reading(path):
        file = sample_table.opened(path)
        if not set(COLUMNS) <= set(file.schema_arrow.names):
            return ()
        names = [name for name in (*COLUMNS, BUSY) if name in file.schema_arrow.names]
        found = sample_table.rows(file, names)
        columns = {name: found[name].to_numpy(zero_copy_only=False) for name in names}
    return of_columns(columns, result)


def of_rows(rows: Sequence[Mapping[str, Any]], result: TrialResult) -> tuple[FlowSamples, ...]:
    """As `read`, of samples that are no file."""
    if not rows:
        return ()
    values = {name: [row.get(name) for row in rows] for name in (*COLUMNS, BUSY)}
    return of_columns({name: np.array(each, dtype=np.float64) for name, each in values.items()}, result)


def of_columns(columns: Mapping[str, NDArray[Any]], result: TrialResult) -> tuple[FlowSamples, ...]:
    """As `read`, of the columns of the samples."""
    ports = [flow.port for flow in result.flows]
    if len(set(ports)) < len(ports):
        return ()
    samples = []
    for port in ports:
        mine = columns["destination_port"] == port
        if len(np.unique(columns["source_port"][mine])) > 1:
            return ()
        if mine.any():
            time, acked, srtt = (columns[name][mine].astype(np.float64) for name in ("time_s", "bytes_acked", "srtt_s"))
            busy = columns[BUSY][mine].astype(np.float64) if BUSY in columns else np.full(len(time), np.nan)
            known = None if np.isnan(busy).all() else np.nan_to_num(busy)
            samples.append(FlowSamples(time, np.nan_to_num(acked), np.nan_to_num(srtt), known))
    return tuple(samples)
