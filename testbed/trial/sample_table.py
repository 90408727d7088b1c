"""The samples of a trial as Parquet tables. Writes into the trial's folder, and opens what stands there."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..spec.syntax import input_file
from . import column
from .evidence.stage import Evidence
from .workload.completion import Completion

COMPLETIONS = "completions"
"""The table of flows that arrive and end; only trials with such flows have it."""
VALUES_MAX = 1 << 27
"""Of all columns of a trial's table together: 1 GiB in memory. A hundred flows for an hour have a tenth of it."""


def opened(file: Path) -> pq.ParquetFile:
    """Opens a table in a trial's folder, which somebody else may have made. Raises OSError or ArrowException for what
    is none, and for one with more than VALUES_MAX values, however few bytes they take in the file.
    """
    input_file.refuse_other(file)
    table = pq.ParquetFile(file)
    groups = (table.metadata.row_group(number) for number in range(table.metadata.num_row_groups))
    values = sum(group.column(number).num_values for group in groups for number in range(group.num_columns))
    if values > VALUES_MAX:
        raise OSError(errno.EFBIG, f"it has {values} values; allowed: up to {VALUES_MAX}")
    return table


def write_samples(folder: Path, evidence: Evidence) -> None:
    """samples.parquet: one row for each socket and time; queues.parquet: one for each bottleneck buffer and time.
    completions.parquet: one for each flow of a workload whose flows arrive and end.
    """
    begin_ns = evidence.outcome.begin_ns or 0
    sockets = [
        {
            "time_s": (each.time_ns - begin_ns) / 1e9,
            "netns": each.netns,
            "source": each.source,
            "source_port": each.source_port,
            "destination": each.destination,
            "destination_port": each.destination_port,
            "congestion": each.congestion,
            **each.info,
        }
        for each in evidence.tcp
    ]
    queues = [
        {
            "time_s": (sample.time_ns - begin_ns) / 1e9,
            "link": stage.link,
            "way": stage.stage.way,
            "bytes": sample.bytes,
            "packets": sample.packets,
            "drops": sample.drops,
            "backlog_bytes": sample.backlog_bytes,
            "backlog_packets": sample.backlog_packets,
        }
        for stage in evidence.stages
        for sample in stage.samples
    ]
    tables: list[tuple[str, list[dict[str, Any]], pa.Schema]] = [
        ("samples", sockets, column.SAMPLES),
        ("queues", queues, column.QUEUES),
    ]
    if evidence.outcome.completions:
        rows = [_completion(number, each) for number, each in enumerate(evidence.outcome.completions)]
        tables.append((COMPLETIONS, rows, column.COMPLETIONS))
    for name, rows, columns in tables:
        pq.write_table(pa.Table.from_pylist(rows, columns), folder / f"{name}.parquet", compression="zstd")


def _completion(number: int, each: Completion) -> dict[str, Any]:
    began_ns, connected_ns = each.began_ns, each.connected_ns
    return {
        "number": number,
        "start_s": each.start_ns / 1e9,
        "size_bytes": each.size_bytes,
        "fct_s": None if each.fct_ns is None else each.fct_ns / 1e9,
        "slowdown": each.slowdown,
        "connect_s": None if began_ns is None or connected_ns is None else (connected_ns - began_ns) / 1e9,
        "received_bytes": each.received_bytes,
        "retransmits": each.retransmits,
        "port": each.port,
        "state": "never began" if began_ns is None else "cut" if each.ended_ns is None else "finished",
    }
