"""What held the flows of a stored trial back, by time. Reads samples.parquet and queues.parquet of a trial's folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as File

import numpy as np
import pyarrow as pa

from ...model.address import address_book
from ...model.data_path import data_path_between
from ...model.scenario import Trial
from ...model.workload import Workload
from ...trial import sample_table
from ...trial.folder import QUEUES, SAMPLES
from ...trial.result import ShaperResult, StageResult, TrialResult
from ..condition import conditions
from ..statistic import FloatArray
from . import flow_time
from .flow_time import Path, QueueSamples, SenderSamples
from .limitation import Limit
from .limited_by import flow_cap_bps

SOCKET = tuple(SenderSamples.__dataclass_fields__)
QUEUE = ("time_s", "bytes", "drops")
NO_CREDIT = 0.01
"""A shaper with less of its credit than this share has none: looks are apart, and frames are whole."""

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
    stages, back = _crossed(result, trial)
    sampled = _columns(folder / QUEUES, QUEUE, ("link", "way"))
    policed = [each.policy.crossed_s for each in stages if each.policy is not None]
    begins = [each for each in policed if each is not None]
    return Path(
        queues=tuple(_queues(sampled, stages)),
        rtt_s=result.asked.rtt_s,
        policed_from_s=min(begins) if begins else None,
        is_lossy=any(each.dropped_packets or each.random_drops for each in stages),
        always_sends=trial is None or _always_sends(trial.workload),
        others=(*_queues(sampled, back), *_refills(sampled, stages)),
        cap_bps=flow_cap_bps(result, conditions(result, trial)),
    )


def _always_sends(workload: Workload) -> bool:
    """Not if it pauses, or its flows offer less than they could."""
    if workload.tool == "flow":
        return all(flow.rate_bps is None for flow in workload.asked_flows)
    return workload.sending_ns is not None


def _crossed(result: TrialResult, trial: Trial | None) -> tuple[list[StageResult], list[StageResult]]:
    """The stages that the workload's data crosses, and others that its answers cross; without the trial, its data may
    cross every stage.
    """
    if trial is None:
        return [*result.stages], []
    book = address_book(trial.topology)
    paths = [data_path_between(trial.topology, book, *pair) for pair in trial.workload.pairs]
    data = {(hop.link.name, hop.way) for each in paths for hop in each.path}
    answers = {(hop.link.name, hop.way) for each in paths for hop in each.answers} - data
    there, back = ([each for each in result.stages if (each.link, each.way) in ways] for ways in (data, answers))
    return there, back


def _queues(columns: dict[str, FloatArray], stages: list[StageResult]) -> list[QueueSamples]:
    if not columns:
        return []
    found = []
    for stage in stages:
        mine = (columns["link"] == stage.link) & (columns["way"] == stage.way)
        if mine.any():
            time_s, sent_bytes, drops = (columns[name][mine] for name in QUEUE)
            found.append(QueueSamples(time_s, sent_bytes, drops, _rates(stage, time_s)))
    return found


def _refills(columns: dict[str, FloatArray], stages: list[StageResult]) -> list[QueueSamples]:
    """Each shaper as a queue that has the rate of the refill while there is no credit, and otherwise none."""
    found: list[QueueSamples] = []
    for stage in stages:
        if stage.paced is not None and stage.paced.shaper is not None:
            shaper = stage.paced.shaper
            found += [replace(each, rate_bps=_refill_bps(shaper, each)) for each in _queues(columns, [stage])]
    return found


def _refill_bps(shaper: ShaperResult, queue: QueueSamples) -> FloatArray:
    credit_bytes, rates = float(shaper.burst_bytes), [np.nan]
    for seconds, sent_bytes in zip(np.diff(queue.time_s), np.diff(queue.sent_bytes), strict=True):
        credit_bytes = min(shaper.burst_bytes, credit_bytes + shaper.refill_bps / 8 * seconds) - sent_bytes
        credit_bytes = max(credit_bytes, 0.0)
        rates.append(shaper.refill_bps if credit_bytes <= NO_CREDIT * shaper.burst_bytes else np.nan)
    return np.array(rates)


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
    with sample_table.reading(file):
        table = sample_table.opened(file)
        if not {*numbers, *words} <= set(table.schema_arrow.names):
            return {}
        read = sample_table.rows(table, [*numbers, *words])
        return {name: _array(read[name], name in words) for name in (*numbers, *words)}


def _array(column: pa.ChunkedArray, is_text: bool) -> FloatArray:
    if is_text:
        return np.asarray(column.to_pylist(), dtype=object)
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
