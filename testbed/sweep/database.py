"""A run's results for Python and SQL: the tables of its folder as Arrow, pandas, Polars and DuckDB. Reads the folder,
and writes tables that are missing or older than its trials, there or in a temporary folder.
"""

from __future__ import annotations

import atexit
import importlib
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from ..error import MachineError, UserError, one_of
from ..trial.result import TrialResult
from . import table
from .store import Store

LARGE = ("samples", "queues", "faults", "completions", "acks", "events")
"""Tables that SQL reads from their files as needed; the others are small enough for memory."""


MEMORY_MIB = 2048
"""Of a query in DuckDB."""
CLOSED = "disabled by configuration"
"""What DuckDB says of files, and of other settings."""


class Results:
    """The value of `testbed.open(DIR)`. It reads a table at its first use, and keeps it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __repr__(self) -> str:
        return f"testbed.open({str(self.path)!r})"

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self._store.path

    @cached_property
    def results(self) -> list[TrialResult]:
        """A result for each finished trial, in the order of the scenario."""
        return list(self._store.results())

    @property
    def trials(self) -> pa.Table:
        """A row for each trial."""
        return self._table("trials")

    @property
    def flows(self) -> pa.Table:
        """A row for each flow of each trial."""
        return self._table("flows")

    @property
    def samples(self) -> pa.Table:
        """A row for each socket and time of each trial. It can be large; `duckdb` reads only what a query needs."""
        return self._table("samples")

    @property
    def queues(self) -> pa.Table:
        """A row for each bottleneck buffer and time of each trial."""
        return self._table("queues")

    @property
    def faults(self) -> pa.Table:
        """A row for each fault of a link and time of each trial with faults."""
        return self._table("faults")

    @property
    def completions(self) -> pa.Table:
        """A row for each flow that arrived and ended, or was cut, of each trial with such flows."""
        return self._table("completions")

    @property
    def acks(self) -> pa.Table:
        """A row for each ACK that a sender took, of each trial with `samples: acks`. It can be large."""
        return self._table("acks")

    @property
    def events(self) -> pa.Table:
        """A row for what else happened to senders of each trial with `samples: acks`: changes of the state of recovery,
        segments that were sent again, windows that changed without an ACK, numbers that a control told.
        """
        return self._table("events")

    def pandas(self, name: str) -> Any:
        """A table as a pandas DataFrame. Raises MachineError without pandas, UserError for an unknown table."""
        arrow = self._table(name)
        _library("pandas")
        return arrow.to_pandas()

    def polars(self, name: str) -> Any:
        """A table as a Polars DataFrame. Raises MachineError without Polars, UserError for an unknown table."""
        arrow = self._table(name)
        return _library("polars").from_arrow(arrow)

    def duckdb(self) -> Any:
        """A DuckDB connection in memory with the tables as views; it cannot access files. Close it after use.

        It has one thread. With several, sums and other results that depend on the order of rows vary:
        https://duckdb.org/docs/2.0/guides/python/sql_on_arrow.html
        """
        return _connected([self])

    def query(self, sql: str) -> pa.Table:
        """The result of the last SQL statement. Raises UserError with DuckDB's message and the columns."""
        return _queried(sql, [self])

    @cached_property
    def _tables(self) -> dict[str, pa.Table]:
        """Those that were read. Where the folder cannot be written, they are made elsewhere: a connection may need them
        as long as this program runs.
        """
        try:
            table.update(self._store)
        except table.Unwritable:
            made = tempfile.mkdtemp(prefix="testbed-tables-")
            atexit.register(shutil.rmtree, made, ignore_errors=True)
            self._store = replace(self._store, elsewhere=Path(made))
            table.update(self._store)
        return {}

    def _table(self, name: str) -> pa.Table:
        if name not in table.NAMES:
            raise UserError(f"there is no table {name!r}; allowed: {one_of(table.NAMES, name)}")
        if name not in self._tables:
            self._tables[name] = table.read(self._store, name)
        return self._tables[name]

    def source(self, name: str) -> pa.Table | ds.Dataset:
        if name not in LARGE or name in self._tables:
            return self._table(name)
        table.open_file(self._store, name).close()
        return ds.dataset(table.path(self._store, name), format="parquet")

    def find_damage(self) -> None:
        """Raises UserError with the first table that cannot be read to its end; does nothing if there is none."""
        table.find_damage(self._store)


def open_results(path: str | Path) -> Results:
    """The results in a folder that `testbed run -o` wrote. Raises UserError for anything else."""
    return Results(Store(Path(path)).open())


def query(sql: str, runs: Sequence[Results]) -> pa.Table:
    """As `Results.query`, over the tables of one run, or of several together: each row then begins with the path of its
    `run`, as it was given, and NULL stands for what a run has no column for.
    """
    return _queried(sql, runs)


def _queried(sql: str, runs: Sequence[Results]) -> pa.Table:
    duckdb = _library("duckdb")
    with _connected(runs) as connection:
        try:
            relation = connection.sql(sql)  # None for statements without a result, such as CREATE TABLE
            return pa.table({}) if relation is None else relation.to_arrow_table()
        except duckdb.Error as error:
            for each in runs:
                each.find_damage()
            said = str(error).strip()
            if CLOSED in said:
                raise UserError(f"{said}; allowed: the tables of runs; to save one: --format csv > FILE") from None
            raise UserError(f"{said}\n{_columns(runs)}") from None


def _connected(runs: Sequence[Results]) -> Any:
    connection = _library("duckdb").connect(":memory:")
    connection.execute("SET threads = 1")
    connection.execute(f"SET memory_limit = '{MEMORY_MIB}MiB'")
    connection.execute("SET temp_directory = ''")  # what does not fit is refused, not written to a disk
    for name in table.NAMES:
        if len(runs) == 1:
            connection.register(name, runs[0].source(name))
        else:
            _register_together(connection, name, runs)
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _register_together(connection: Any, name: str, runs: Sequence[Results]) -> None:
    """A view of a table of several runs, each with its path in the column `run`."""
    parts = []
    for number, each in enumerate(runs):
        connection.register(f"{name}_{number}", each.source(name))
        said = str(each.path).replace("'", "''")
        parts.append(f"SELECT '{said}' AS run, * FROM {name}_{number}")
    connection.execute(f"CREATE VIEW {name} AS {' UNION ALL BY NAME '.join(parts)}")


def _columns(runs: Sequence[Results]) -> str:
    lines = []
    for name in table.NAMES:
        found = dict.fromkeys(column for each in runs for column in each.source(name).schema.names)
        lines.append(f"  {name}: {', '.join(map(_quoted, [*(['run'] if len(runs) > 1 else []), *found]))}")
    return "\n".join(["allowed: SQL over these tables (put a name with a dot in double quotes)", *lines])


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'


def _library(name: str) -> Any:
    """Imports a library that only this call needs. Raises MachineError if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MachineError(f"the Python package {name} is missing", f"pip install {name}") from None
