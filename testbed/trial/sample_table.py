"""The samples of a trial as Parquet tables. Writes into the trial's folder."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from . import column
from .evidence.stage import Evidence


def write_samples(folder: Path, evidence: Evidence) -> None:
    """samples.parquet: one row for each socket and time; queues.parquet: one for each bottleneck buffer and time."""
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
    for name, rows, columns in (("samples", sockets, column.SAMPLES), ("queues", queues, column.QUEUES)):
        pq.write_table(pa.Table.from_pylist(rows, columns), folder / f"{name}.parquet", compression="zstd")
