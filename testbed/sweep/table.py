"""The tables of a run: trials, flows, samples, queues and completions of all its trials, one Parquet file each. Reads
and writes files of one run's folder.

They hold only what the folders of the trials hold, and are made from them again when they are older. The values that
depend on this computer are in a separate file, host.parquet, so that the others repeat byte for byte.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from shlex import quote
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..codec.frozen import dataclass
from ..error import UserError
from ..spec.syntax import input_file
from ..trial import column, sample_table
from ..trial.ack_table import ACKS, EVENTS
from ..trial.evidence.completion import FctResult
from ..trial.folder import RESULT, disk_full, read_host, read_result, replacing
from ..trial.folder import damaged as damaged_record
from ..trial.result import SCHEMA, TrialResult
from ..trial.sample_table import COMPLETIONS, FAULTS
from .store import Store

NAMES = ("trials", "flows", "samples", "queues", FAULTS, COMPLETIONS, ACKS, EVENTS)
WALL = "host"
"""The table of wall times; `read` adds them to the trials."""
VERSION = "3"
"""The version of the columns."""
BATCH_ROWS, GROUP_ROWS = 1_000, 100_000
"""Each row group but the last has at least GROUP_ROWS rows; memory holds at most these and one trial."""


@dataclass(frozen=True)
class _Finished:
    """A finished trial, and when its result was written. What its rows are made from is read once, where it is asked
    for.
    """

    folder: Path
    changed_ns: int
    known: TrialResult | None

    @property
    def id(self) -> str:
        return self.folder.name

    @cached_property
    def result(self) -> TrialResult:
        return read_result(self.folder) if self.known is None else self.known


@dataclass(frozen=True)
class _Trials:
    """The finished trials of a run, in the order of the scenario. `results` are those that were read already."""

    store: Store
    changed_ns: dict[str, int]
    results: Mapping[str, TrialResult]

    @classmethod
    def of(cls, store: Store, results: Iterable[TrialResult]) -> _Trials:
        changed_ns = {}
        for id in store.ids:
            path = store.path / "trials" / id / RESULT
            if path.exists():
                changed_ns[id] = path.stat().st_mtime_ns
        return cls(store, changed_ns, {each.id: each for each in results})

    def __iter__(self) -> Iterator[_Finished]:
        for id, changed_ns in self.changed_ns.items():
            yield _Finished(self.folder(id), changed_ns, self.results.get(id))

    def folder(self, id: str) -> Path:
        return self.store.path / "trials" / id

    @cached_property
    def digest(self) -> dict[str, str]:
        """The metadata of every table of these trials; a table with other metadata is stale."""
        about: dict[str, Any] = {"version": VERSION, "schema": SCHEMA, "trials": list(self.changed_ns)}
        shards = self.store.shards
        return {"testbed": json.dumps(about | ({"shards": shards} if shards else {}))}


def path(store: Store, name: str) -> Path:
    return store.tables / f"{name}.parquet"


class Unwritable(UserError):
    """Tables that are missing or stale, in a folder that nobody may change."""


def update(store: Store, *, mend: bool = False, results: Iterable[TrialResult] = ()) -> None:
    """Makes the tables that are missing or stale, all in one walk over the trials; with `mend`, damaged ones too.
    `results` are those of trials that were just read from the folder.

    Raises UserError for a table or a trial whose files cannot be read, and if the folder cannot be written; then all
    tables are as before.
    """
    trials = _Trials.of(store, results)
    stale = [name for name in (*NAMES, WALL) if not _is_of(path(store, name), trials, mend)]
    if WALL in stale or _changed_ns(store, mend) != trials.changed_ns:
        stale = [*NAMES, WALL]  # a trial was measured again, or may have been
    with ExitStack() as stack:
        made = [stack.enter_context(_made(trials, name)) for name in reversed(stale)]  # so WALL is replaced last
        for each in trials if stale else ():
            for name, table in zip(reversed(stale), made, strict=True):
                with _writing(store, name):
                    table.add(each)


@contextmanager
def _made(trials: _Trials, name: str) -> Iterator[_Table]:
    """A table that takes the place of the one before when the block ends without an error."""
    with _writing(trials.store, name), replacing(path(trials.store, name)) as file:
        table = TABLES[name](trials, file)
        try:
            yield table
        except BaseException:
            table.close()
            raise
        table.end()


@contextmanager
def _writing(store: Store, name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = error.strerror or error
        kind = Unwritable if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) else UserError
        what = kind(f"{path(store, name)} cannot be written: {said}; allowed: a folder that can")
        raise disk_full(error, store.tables) or what from None


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
    what = f"{file} is damaged: {sample_table.first_line(error)}"
    return UserError(f"{what}; delete it, and it is made again from the trials: rm {quote(str(file))}")


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


class _Table:
    """A table that is written as its trials come, in row groups. `pieces` are the rows of one trial."""

    def __init__(self, trials: _Trials, file: Path) -> None:
        self.trials, self._file = trials, file
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._writer: pq.ParquetWriter | None = None

    def columns(self) -> pa.Schema:
        raise NotImplementedError

    def pieces(self, trial: _Finished) -> Iterable[pa.Table]:
        raise NotImplementedError

    def last(self) -> Iterable[pa.Table]:
        """What is left when all trials have come."""
        return ()

    def add(self, trial: _Finished) -> None:
        for each in self.pieces(trial):
            self._put(each)

    def end(self) -> None:
        for each in self.last():
            self._put(each)
        if self._rows:
            self._write()
        self._open().close()

    def close(self) -> None:
        """The table will not be needed."""
        with suppress(OSError, pa.ArrowException):
            if self._writer is not None:
                self._writer.close()

    def _put(self, piece: pa.Table) -> None:
        self._waiting.append(piece)
        self._rows += piece.num_rows
        if self._rows >= GROUP_ROWS:
            self._write()

    def _write(self) -> None:
        digest = self.trials.digest
        self._open().write_table(pa.concat_tables(self._waiting).replace_schema_metadata(digest).combine_chunks())
        self._waiting, self._rows = [], 0

    def _open(self) -> pq.ParquetWriter:
        if self._writer is None:
            columns = self.columns().with_metadata(self.trials.digest)
            self._writer = pq.ParquetWriter(self._file, columns, compression="zstd")
        return self._writer


class _Listed(_Table):
    """A table whose rows come from records, BATCH_ROWS at a time."""

    def __init__(self, trials: _Trials, file: Path) -> None:
        super().__init__(trials, file)
        self._listed: list[dict[str, Any]] = []

    def rows(self, trial: _Finished) -> Iterable[dict[str, Any]]:
        raise NotImplementedError

    def pieces(self, trial: _Finished) -> Iterator[pa.Table]:
        self._listed.extend(self.rows(trial))
        while len(self._listed) >= BATCH_ROWS:
            yield self._taken()

    def last(self) -> Iterator[pa.Table]:
        while self._listed:
            yield self._taken()

    def _taken(self) -> pa.Table:
        batch, self._listed = self._listed[:BATCH_ROWS], self._listed[BATCH_ROWS:]
        return _table(batch, self.columns(), self.trials)


class _OfTrials(_Listed):
    """Its columns are known when all trials have come: the axes of the scenario, and other parameters of the trials."""

    def __init__(self, trials: _Trials, file: Path) -> None:
        super().__init__(trials, file)
        self._axes = dict.fromkeys(trials.store.axes)

    def columns(self) -> pa.Schema:
        return column.trials(self._axes)

    def rows(self, trial: _Finished) -> Iterator[dict[str, Any]]:
        self._axes |= dict.fromkeys(trial.result.params)
        names = {*dict(column.TRIAL), *map(column.axis_column, trial.result.params)}
        yield {name: value for name, value in column.trial_row(trial.result).items() if name in names}

    def pieces(self, trial: _Finished) -> Iterator[pa.Table]:
        self._listed.extend(self.rows(trial))
        return iter(())


class _Flows(_Listed):
    def columns(self) -> pa.Schema:
        return column.flows()

    def rows(self, trial: _Finished) -> Iterator[dict[str, Any]]:
        for number, flow in enumerate(trial.result.flows):
            yield {"trial": trial.id, "number": number, **vars(flow)}


class _Wall(_Listed):
    def columns(self) -> pa.Schema:
        return pa.schema(column.HOST)

    def rows(self, trial: _Finished) -> Iterator[dict[str, Any]]:
        yield {"trial": trial.id, "changed_ns": trial.changed_ns, **vars(read_host(trial.folder))}


def _table(rows: list[dict[str, Any]], columns: pa.Schema, trials: _Trials) -> pa.Table:
    """Raises UserError with the file of the trial that no column can hold."""
    try:
        return pa.Table.from_pylist(rows, columns)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        if len(rows) > 1:
            return pa.concat_tables([_table([row], columns, trials) for row in rows])
        id = rows[0].get("trial", rows[0].get("id"))
        raise damaged_record(trials.folder(str(id)) / RESULT, sample_table.first_line(error)) from None


class _Joined(_Table):
    """Joins the trials' tables of a name into one. `has` says which trials have such a table."""

    def __init__(
        self, name: str, own: pa.Schema, trials: _Trials, file: Path, *, has: Callable[[_Finished], bool]
    ) -> None:
        super().__init__(trials, file)
        self._name, self._columns, self._has = name, column.of_trial(own), has

    def columns(self) -> pa.Schema:
        return self._columns

    def pieces(self, trial: _Finished) -> Iterator[pa.Table]:
        if self._has(trial):
            yield _of_one(self.trials, trial.id, self._name, self._columns)


def _of_one(trials: _Trials, id: str, name: str, columns: pa.Schema) -> pa.Table:
    """One trial's table with its id and all columns. Raises UserError if its file cannot be read."""
    file = trials.folder(id) / f"{name}.parquet"
    with sample_table.reading(file):
        table = sample_table.rows(sample_table.opened(file))
        arrays = [
            table[each.name].cast(each.type) if each.name in table.column_names else pa.nulls(table.num_rows, each.type)
            for each in list(columns)[1:]
        ]
    return pa.Table.from_arrays([pa.repeat(pa.scalar(id, pa.string()), table.num_rows), *arrays], schema=columns)


def _always(trial: _Finished) -> bool:
    return True


def _has(name: str, trial: _Finished) -> bool:
    """Only trials with faults, and with samples, have that of faults; only those with `samples: acks` those of ACKs."""
    return (trial.folder / f"{name}.parquet").exists()


def _has_completions(trial: _Finished) -> bool:
    """Only trials with flows that arrive and end have such a table; these have all one."""
    return FctResult.KEY in trial.result.measured


TABLES: dict[str, Callable[[_Trials, Path], _Table]] = {
    "trials": _OfTrials,
    "flows": _Flows,
    "samples": partial(_Joined, "samples", column.SAMPLES, has=_always),
    "queues": partial(_Joined, "queues", column.QUEUES, has=_always),
    FAULTS: partial(_Joined, FAULTS, column.FAULTS, has=partial(_has, FAULTS)),
    COMPLETIONS: partial(_Joined, COMPLETIONS, column.COMPLETIONS, has=_has_completions),
    ACKS: partial(_Joined, ACKS, column.ACKS, has=partial(_has, ACKS)),
    EVENTS: partial(_Joined, EVENTS, column.EVENTS, has=partial(_has, EVENTS)),
    WALL: _Wall,
}
