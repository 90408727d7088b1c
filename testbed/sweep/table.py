"""The tables of a run: trials, flows, samples, queues and completions of all its trials, one Parquet file each. Reads
and writes files of one run's folder.

They hold only what the folders of the trials hold, and are made from them again when they are older. The values that
depend on this computer are in a separate file, host.parquet, so that the others repeat byte for byte.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..error import UserError
from ..spec.syntax import input_file
from ..trial import column, sample_table
from ..trial.evidence.completion import FctResult
from ..trial.folder import RESULT, disk_full, read_host, read_result, replacing
from ..trial.folder import damaged as damaged_record
from ..trial.result import SCHEMA, TrialResult
from ..trial.sample_table import COMPLETIONS, FAULTS
from .store import Store

NAMES = ("trials", "flows", "samples", "queues", FAULTS, COMPLETIONS)
WALL = "host"
"""The table of wall times; `read` adds them to the trials."""
VERSION = "1"
"""The version of the columns."""
BATCH_ROWS, GROUP_ROWS = 1_000, 100_000
"""Each row group but the last has at least GROUP_ROWS rows; memory holds at most these and one trial."""


@dataclass(frozen=True)
class _Trials:
    """The finished trials of a run, in the order of the scenario, and when the result of each was written."""

    store: Store
    changed_ns: dict[str, int]

    @classmethod
    def of(cls, store: Store) -> _Trials:
        changed_ns = {}
        for id in store.ids:
            path = store.path / "trials" / id / RESULT
            if path.exists():
                changed_ns[id] = path.stat().st_mtime_ns
        return cls(store, changed_ns)

    def folder(self, id: str) -> Path:
        return self.store.path / "trials" / id

    @property
    def digest(self) -> dict[str, str]:
        """The metadata of every table of these trials; a table with other metadata is stale."""
        about: dict[str, Any] = {"version": VERSION, "schema": SCHEMA, "trials": list(self.changed_ns)}
        shards = self.store.shards
        return {"testbed": json.dumps(about | ({"shards": shards} if shards else {}))}


def path(store: Store, name: str) -> Path:
    return store.path / f"{name}.parquet"


def update(store: Store, *, mend: bool = False) -> None:
    """Makes the tables that are missing or stale; with `mend`, damaged ones too.

    Raises UserError for a table or a trial whose files cannot be read, and if the folder cannot be written.
    """
    trials = _Trials.of(store)
    stale = [name for name in (*NAMES, WALL) if not _is_of(path(store, name), trials, mend)]
    if WALL in stale or _changed_ns(store, mend) != trials.changed_ns:
        stale = [*NAMES, WALL]  # a trial was measured again, or may have been
    for name in stale:
        try:
            with replacing(path(store, name)) as partial:
                MAKERS[name](trials, partial)
        except OSError as error:
            said = error.strerror or error
            what = UserError(f"{path(store, name)} cannot be written: {said}; allowed: a folder that can")
            raise disk_full(error, store.path) or what from None


def open_file(store: Store, name: str) -> pq.ParquetFile:
    """Opens the file of a table. Raises UserError if it is damaged."""
    file = path(store, name)
    try:
        return _opened(file)
    except (OSError, pa.ArrowException) as error:
        raise damaged(file, error) from None


def _opened(file: Path) -> pq.ParquetFile:
    input_file.refuse_other(file)
    return pq.ParquetFile(file)


def read(store: Store, name: str) -> pa.Table:
    """A whole table; that of the trials with wall_s and started. Raises UserError if a file is damaged."""
    try:
        table = open_file(store, name).read()
        if name != "trials":
            return table
        wall = open_file(store, WALL).read()
    except (OSError, pa.ArrowException) as error:
        raise damaged(path(store, name), error) from None
    return table.append_column("wall_s", wall["wall_s"]).append_column("started", wall["started"])


def damaged(file: Path, error: Exception) -> UserError:
    return UserError(f"{file} is damaged: {_line(error)}; delete it, and it is made again from the trials: rm {file}")


def find_damage(store: Store) -> None:
    """Raises UserError with the first table that cannot be read to its end; does nothing if there is none."""
    for name in (*NAMES, WALL):
        file = open_file(store, name)
        try:
            for _ in file.iter_batches():
                pass
        except (OSError, pa.ArrowException) as error:
            raise damaged(path(store, name), error) from None


def _is_of(file: Path, trials: _Trials, mend: bool) -> bool:
    if not file.exists():
        return False
    try:
        metadata = _opened(file).schema_arrow.metadata or {}
    except (OSError, pa.ArrowException) as error:
        if mend:
            return False
        raise damaged(file, error) from None
    return bool(metadata.get(b"testbed") == trials.digest["testbed"].encode())


def _changed_ns(store: Store, mend: bool) -> dict[str, int]:
    try:
        table = _opened(path(store, WALL)).read(columns=["trial", "changed_ns"])
    except (OSError, pa.ArrowException) as error:
        if mend:
            return {}
        raise damaged(path(store, WALL), error) from None
    return dict(zip(table["trial"].to_pylist(), table["changed_ns"].to_pylist(), strict=True))


def _make_trials(trials: _Trials, file: Path) -> None:
    columns = column.trials(_axes(trials))
    _write(file, columns, trials, (column.trial_row(each) for each in _results(trials)))


def _axes(trials: _Trials) -> list[str]:
    """The axes of the scenario, and other parameters of the trials."""
    keys = dict.fromkeys(trials.store.axes)
    for each in _results(trials):
        keys |= dict.fromkeys(each.params)
    return list(keys)


def _make_flows(trials: _Trials, file: Path) -> None:
    rows = (
        {"trial": each.id, "number": number, **vars(flow)}
        for each in _results(trials)
        for number, flow in enumerate(each.flows)
    )
    _write(file, column.flows(), trials, rows)


def _make_wall(trials: _Trials, file: Path) -> None:
    rows = (
        {"trial": id, "changed_ns": changed_ns, **vars(read_host(trials.folder(id)))}
        for id, changed_ns in trials.changed_ns.items()
    )
    _write(file, pa.schema(column.HOST), trials, rows)


def _results(trials: _Trials) -> Iterator[TrialResult]:
    return (read_result(trials.folder(id)) for id in trials.changed_ns)


def _write(file: Path, columns: pa.Schema, trials: _Trials, rows: Iterable[dict[str, Any]]) -> None:
    left = iter(rows)
    batches = iter(lambda: list(itertools.islice(left, BATCH_ROWS)), [])
    _write_tables(file, columns, trials, (_table(batch, columns, trials) for batch in batches))


def _table(rows: list[dict[str, Any]], columns: pa.Schema, trials: _Trials) -> pa.Table:
    """Raises UserError with the file of the trial that no column can hold."""
    try:
        return pa.Table.from_pylist(rows, columns)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        if len(rows) > 1:
            return pa.concat_tables([_table([row], columns, trials) for row in rows])
        id = rows[0].get("trial", rows[0].get("id"))
        raise damaged_record(trials.folder(str(id)) / RESULT, _line(error)) from None


def _write_tables(file: Path, columns: pa.Schema, trials: _Trials, tables: Iterable[pa.Table]) -> None:
    waiting: list[pa.Table] = []
    rows = 0
    with pq.ParquetWriter(file, columns.with_metadata(trials.digest), compression="zstd") as writer:
        for each in tables:
            waiting.append(each)
            rows += each.num_rows
            if rows >= GROUP_ROWS:
                writer.write_table(_joined(waiting, trials))
                waiting, rows = [], 0
        if rows:
            writer.write_table(_joined(waiting, trials))


def _joined(tables: list[pa.Table], trials: _Trials) -> pa.Table:
    return pa.concat_tables(tables).replace_schema_metadata(trials.digest).combine_chunks()


def _of_all(name: str, own: pa.Schema) -> Callable[[_Trials, Path], None]:
    """A function that joins the trials' tables of this name into one."""
    columns = column.of_trial(own)

    def make(trials: _Trials, file: Path) -> None:
        _write_tables(file, columns, trials, (_of_one(trials, id, name, columns) for id in trials.changed_ns))

    return make


def _make_completions(trials: _Trials, file: Path) -> None:
    """Only trials with flows that arrive and end have such a table; these have all one."""
    columns = column.of_trial(column.COMPLETIONS)
    ids = (each.id for each in _results(trials) if FctResult.KEY in each.measured)
    _write_tables(file, columns, trials, (_of_one(trials, id, COMPLETIONS, columns) for id in ids))


def _make_faults(trials: _Trials, file: Path) -> None:
    """Only trials with faults, and with samples, have such a table."""
    columns = column.of_trial(column.FAULTS)
    ids = (id for id in trials.changed_ns if (trials.folder(id) / f"{FAULTS}.parquet").exists())
    _write_tables(file, columns, trials, (_of_one(trials, id, FAULTS, columns) for id in ids))


def _of_one(trials: _Trials, id: str, name: str, columns: pa.Schema) -> pa.Table:
    """One trial's table with its id and all columns. Raises UserError if its file cannot be read."""
    file = trials.folder(id) / f"{name}.parquet"
    try:
        table = sample_table.rows(sample_table.opened(file))
        arrays = [
            table[each.name].cast(each.type) if each.name in table.column_names else pa.nulls(table.num_rows, each.type)
            for each in list(columns)[1:]
        ]
    except (OSError, pa.ArrowException) as error:
        raise UserError(
            f"{file}, of the trial {id}, is damaged: {_line(error)}; delete the trial's folder and `testbed run` "
            f"measures it again: rm -r {trials.folder(id)}"
        ) from None
    return pa.Table.from_arrays([pa.repeat(pa.scalar(id, pa.string()), table.num_rows), *arrays], schema=columns)


def _line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(". ") if str(error) else type(error).__name__


MAKERS: dict[str, Callable[[_Trials, Path], None]] = {
    "trials": _make_trials,
    "flows": _make_flows,
    "samples": _of_all("samples", column.SAMPLES),
    "queues": _of_all("queues", column.QUEUES),
    FAULTS: _make_faults,
    COMPLETIONS: _make_completions,
    WALL: _make_wall,
}
