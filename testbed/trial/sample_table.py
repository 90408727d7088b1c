"""The samples of a trial as Parquet tables. Writes into the trial's folder, and opens what stands there."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..error import UserError
from ..spec.syntax import input_file
from . import column
from .ack_table import ACKS, EVENTS
from .evidence.completion import Completion
from .evidence.stage import Evidence, StageEvidence
from .folder import damaged
from .observe.queue_counter import Counts
from .sample_row import socket_rows

COMPLETIONS = "completions"
"""The table of flows that arrive and end; only trials with such flows have it."""
FAULTS = "faults"
"""The table of what faults met; only trials with links that have some have it."""
VALUES_MAX = 1 << 27
"""Of all columns of a trial's table together: 1 GiB in memory. A hundred flows for an hour have a tenth of it."""
TABLE_BYTES = 1 << 30
"""Of what a table holds, without compression."""
WORD_BYTES = 1 << 10
"""Of a name, which a table holds once, however many rows have it."""

NUMBERS, WORDS = frozenset({"BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE"}), "BYTE_ARRAY"

SCHEMAS = {
    "samples": column.SAMPLES,
    "queues": column.QUEUES,
    COMPLETIONS: column.COMPLETIONS,
    FAULTS: column.FAULTS,
    ACKS: column.ACKS,
    EVENTS: column.EVENTS,
}
"""The columns of each table, by the name of its file."""
IS: dict[pa.DataType, Callable[[pa.DataType], bool]] = {
    column.TEXT: pa.types.is_string,
    column.REAL: pa.types.is_floating,
    column.WHOLE: pa.types.is_integer,
}
ALWAYS = frozenset(("time_s",))
"""Columns that have a value in each row."""


def opened(file: Path) -> pq.ParquetFile:
    """Opens a table in a trial's folder, which somebody else may have made. Raises OSError or ArrowException for what
    is none, and for one with more than VALUES_MAX values or TABLE_BYTES, however few bytes it takes.
    """
    input_file.refuse_other(file)
    about = pq.read_metadata(file)
    _refuse(about)
    columns = map(about.schema.column, range(about.num_columns))
    words = [each.name for each in columns if each.physical_type == WORDS]
    found = pq.ParquetFile(file, metadata=about, read_dictionary=words)
    known = {each.name: each.type for each in SCHEMAS.get(file.stem, ())}
    for each in found.schema_arrow:
        if each.name in known and not pa.types.is_null(each.type) and not IS[known[each.name]](_plain(each.type)):
            raise OSError(errno.EINVAL, f"its column {each.name!r} is {each.type}; allowed: {known[each.name]}")
    return found


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Raises UserError for a table in a trial's folder that `opened` or `rows` refuses in this block."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise broken(file, error) from None


def broken(file: Path, error: Exception) -> UserError:
    """What is said of a table in a trial's folder that cannot be read, for which `opened` or `rows` raised this."""
    return damaged(file, first_line(error))


def first_line(error: Exception) -> str:
    """Of what an error of Arrow says, which may have many, or none."""
    return str(error).splitlines()[0].rstrip(". ") if str(error) else type(error).__name__


def _refuse(about: pq.FileMetaData) -> None:
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    values, size = sum(each.num_values for each in chunks), sum(each.total_uncompressed_size for each in chunks)
    if values > VALUES_MAX:
        raise OSError(errno.EFBIG, f"it has {values} values; allowed: up to {VALUES_MAX}")
    if size > TABLE_BYTES:
        raise OSError(errno.EFBIG, f"it holds {size >> 20} MiB; allowed: up to {TABLE_BYTES >> 20} MiB")
    for each in map(about.schema.column, range(about.num_columns)):
        if each.physical_type not in {*NUMBERS, WORDS} or each.max_repetition_level or "." in each.path:
            kind = each.physical_type.lower().replace("_", " ")
            raise OSError(errno.EINVAL, f"its column {each.path!r:.60} is {kind}; allowed: numbers and words")


def rows(table: pq.ParquetFile, columns: Sequence[str] | None = None, *, use_threads: bool = True) -> pa.Table:
    """These columns (None: all) of an opened table, words as a dictionary. Raises as `opened` does, also for a word of
    more than WORD_BYTES.
    """
    found = table.read(columns=columns, use_threads=use_threads)
    for number, name in enumerate(found.column_names):
        _refuse_values(name, found[name])
        if pa.types.is_null(found[name].type):
            found = found.set_column(number, name, found[name].cast(column.REAL))
        for chunk in found[name].chunks if pa.types.is_dictionary(found[name].type) else ():
            longest = pc.max(pc.binary_length(chunk.dictionary)).as_py() or 0
            if longest > WORD_BYTES:
                what = f"its column {name!r:.60} has a word of {longest} bytes"
                raise OSError(errno.EFBIG, f"{what}; allowed: up to {WORD_BYTES}")
    return found


def _refuse_values(name: str, values: pa.ChunkedArray) -> None:
    """Raises OSError where a number is none, and where what every row has is missing."""
    if name in ALWAYS and values.null_count:
        raise OSError(errno.EINVAL, f"its column {name!r} has rows without a value")
    if pa.types.is_floating(values.type) and pc.all(pc.is_finite(values)).as_py() is False:
        raise OSError(errno.EINVAL, f"its column {name!r:.60} has what is no finite number")


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _counts(seen: Counts | None) -> dict[str, int | None]:
    """What a queue that was asked counted, which the token bucket above it does not tell."""
    names = [name for name, _ in (*column.COUNTED, *column.FILTERED)]
    return {name: None if seen is None else getattr(seen, name) for name in names}


def write_none(folder: Path) -> None:
    """The tables that each trial has, without rows: of one whose samples are not at hand."""
    for name in ("samples", "queues"):
        (folder / f"{name}.parquet").write_bytes(_without_rows(name))


@cache
def _without_rows(name: str) -> bytes:
    pq.write_table(SCHEMAS[name].empty_table(), made := io.BytesIO())
    return made.getvalue()


def write_samples(folder: Path, evidence: Evidence) -> None:
    """samples.parquet: one row for each socket and time; queues.parquet: one for each bottleneck buffer and time.
    completions.parquet: one for each flow of a workload whose flows arrive and end; faults.parquet: one for each fault
    of a link and time.
    """
    begin_ns = evidence.outcome.begin_ns or 0
    sockets = socket_rows(evidence)
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
            **_counts(counted.get(sample.time_ns)),
        }
        for stage in evidence.stages
        for counted in ({each.time_ns: each.counts for each in stage.queue_samples},)
        for sample in stage.samples
    ]
    counted = column.COUNTED if any(stage.stage.queue for stage in evidence.stages) else ()
    filtered = column.FILTERED if any(each.filters_acks for each in evidence.stages) else ()
    waiting = pa.schema((*column.QUEUE, *counted, *filtered))
    tables: list[tuple[str, list[dict[str, Any]], pa.Schema]] = [
        ("samples", sockets, column.SAMPLES),
        ("queues", queues, waiting),
    ]
    if faults := [row for each in evidence.stages for row in _faults(each, begin_ns)]:
        tables.append((FAULTS, faults, column.FAULTS))
    if evidence.outcome.completions:
        rows = [_completion(number, each) for number, each in enumerate(evidence.outcome.completions)]
        tables.append((COMPLETIONS, rows, column.COMPLETIONS))
    for name, rows, columns in tables:
        pq.write_table(pa.Table.from_pylist(rows, columns), folder / f"{name}.parquet", compression="zstd")


def _faults(stage: StageEvidence, begin_ns: int) -> Iterator[dict[str, Any]]:
    for each in stage.fault_samples:
        place = {"time_s": (each.time_ns - begin_ns) / 1e9, "link": stage.link, "way": stage.stage.way}
        yield {**place, "fault": each.key, "packets": each.packets, "met": each.met}


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
