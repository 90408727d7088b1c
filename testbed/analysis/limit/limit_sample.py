"""What held the flows of a stored trial back, by time. Reads samples.parquet and queues.parquet of a trial's folder."""

from __future__ import annotations

from pathlib import Path as File

import numpy as np
import pyarrow as pa

from ...model.address import address_book
from ...model.data_path import data_path_between
from ...model.scenario import Trial
from ...model.workload import Workload
from ...trial import sample_table
from ...trial.folder import QUEUES, SAMPLES
from ...trial.result import StageResult, TrialResult
from ..statistic import FloatArray
from . import flow_time
from .flow_time import Path, QueueSamples, SenderSamples
from .limitation import Limit

SOCKET = tuple(SenderSamples.__dataclass_fields__)
QUEUE = ("time_s", "bytes", "drops")

Times = dict[Limit, float]


def times(folder: File, result: TrialResult, trial: Trial | None) -> tuple[Times, ...]:
    """The parts of each flow's life, in the order of the flows; empty where they cannot be told: without samples, or if
    a port does not tell which socket a flow is. Raises UserError if a file is broken.

    A flow is identified by its port, the destination port of its sender.
    """
    ports = [flow.port for flow in result.flows]
    if not ports or None in ports or len(set(ports)) < len(ports):
        return ()
    columns = _columns(folder / SAMPLES, (*SOCKET, "source_port", "destination_port"))
    if not columns:
        return ()
    path = _path(folder, result, trial)
    found = []
    for port in ports:
        mine = columns["destination_port"] == port
        if len(np.unique(columns["source_port"][mine])) != 1:
            return ()
        found.append(flow_time.parts(SenderSamples(**{name: columns[name][mine] for name in SOCKET}), path))
    return tuple(found)


def _path(folder: File, result: TrialResult, trial: Trial | None) -> Path:
    stages = [each for each in result.stages if _is_on_path(each, trial)]
    policed = [each.policy.crossed_s for each in stages if each.policy is not None]
    begins = [each for each in policed if each is not None]
    return Path(
        queues=tuple(_queues(folder / QUEUES, stages)),
        rtt_s=result.asked.rtt_s,
        policed_from_s=min(begins) if begins else None,
        is_lossy=any(each.dropped_packets or each.random_drops for each in stages),
        always_sends=trial is None or _always_sends(trial.workload),
    )


def _always_sends(workload: Workload) -> bool:
    """Not if it pauses, or its flows offer less than they could."""
    if workload.tool == "flow":
        return all(flow.rate_bps is None for flow in workload.asked_flows)
    return workload.sending_ns is not None


def _is_on_path(stage: StageResult, trial: Trial | None) -> bool:
    """Whether the workload's data crosses it; without the trial, every stage may be on its path."""
    if trial is None:
        return True
    book = address_book(trial.topology)
    hops = [hop for pair in trial.workload.pairs for hop in data_path_between(trial.topology, book, *pair).path]
    return any((hop.link.name, hop.way) == (stage.link, stage.way) for hop in hops)


def _queues(file: File, stages: list[StageResult]) -> list[QueueSamples]:
    columns = _columns(file, QUEUE, ("link", "way"))
    if not columns:
        return []
    found = []
    for stage in stages:
        mine = (columns["link"] == stage.link) & (columns["way"] == stage.way)
        if mine.any():
            time_s, sent_bytes, drops = (columns[name][mine] for name in QUEUE)
            found.append(QueueSamples(time_s, sent_bytes, drops, _rates(stage, time_s)))
    return found


def _rates(stage: StageResult, time_s: FloatArray) -> FloatArray:
    """What was asked at each time, through all states of a schedule."""
    found = np.full(len(time_s), np.nan if stage.asked_rate_bps is None else stage.asked_rate_bps)
    for state in stage.intervals:
        inside = (time_s >= state.from_s) & (time_s < state.to_s)
        found[inside] = np.nan if state.asked_rate_bps is None else state.asked_rate_bps
    return found


def _columns(file: File, numbers: tuple[str, ...], words: tuple[str, ...] = ()) -> dict[str, FloatArray]:
    """The columns of a file, in which an absent number is NaN; empty if there is no such file or column."""
    if not file.exists():
        return {}
    try:
        table = sample_table.opened(file)
        if not {*numbers, *words} <= set(table.schema_arrow.names):
            return {}
        read = sample_table.rows(table, [*numbers, *words])
        return {name: _array(read[name], name in words) for name in (*numbers, *words)}
    except (OSError, pa.ArrowException) as error:
        raise sample_table.broken(file, error) from None


def _array(column: pa.ChunkedArray, is_text: bool) -> FloatArray:
    if is_text:
        return np.asarray(column.to_pylist(), dtype=object)
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
