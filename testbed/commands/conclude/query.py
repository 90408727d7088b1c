"""`testbed query`: SQL over the tables of one run, or of several."""

from __future__ import annotations

import csv
import json
import math
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ...error import UserError
from ...sweep.shard import in_words
from ...sweep.store import Store
from ..result_table import Format
from ..text_table import Column, Table, show, terminal_width

EXAMPLES = (
    ("Print the mean goodput for each number of flows",
     "testbed query DIR 'SELECT flows, avg(goodput_bps) FROM trials GROUP BY 1'"),
    ("Print the mean goodput of two runs",
     "testbed query A B 'SELECT run, avg(goodput_bps) FROM trials GROUP BY 1'"),
    ("List the columns of a table", "testbed query DIR 'DESCRIBE samples'"),
    ("Save a table as CSV", "testbed query DIR 'FROM flows' --format csv > flows.csv"),
)  # fmt: skip


def query(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="The folder of a run, or those of several.")],
    sql: Annotated[
        str,
        typer.Argument(
            metavar="SQL",
            help="A statement over the tables trials, flows, samples, queues, faults, completions, acks and events. "
            'Put names with a dot in double quotes: "path.rtt". Of several runs each row has its run.',
        ),
    ],
    format: Annotated[Format, typer.Option(help="The format of the output.")] = Format.table,
) -> None:
    """The dialect is that of DuckDB. A query changes nothing."""
    from ...sweep import database  # Arrow and DuckDB take a while to import, which no other command should pay for

    for store in (Store(folder).open() for folder in folders):
        if store.shards:
            print(f"{store.path} is {in_words(store.shards)} of its scenario", file=sys.stderr)
    places = [os.path.realpath(each) for each in folders]
    twice = next((each for each, place in zip(folders, places, strict=True) if places.count(place) > 1), None)
    if twice is not None:
        raise UserError(f"{twice} is there twice; allowed: the folders of different runs")
    found = database.query(sql, [database.open_results(folder) for folder in folders])
    names = list(found.schema.names)
    same = next((name for name in names if names.count(name) > 1), None)
    if same is not None and format is Format.json:
        raise UserError(f"two columns have the name {same!r}; allowed: different names, such as ... AS other")
    columns = [column.to_pylist() for column in found.columns]
    PRINTERS[format](names, [list(row) for row in zip(*columns, strict=True)])


def _print_table(names: list[str], rows: list[list[Any]]) -> None:
    cells = tuple(tuple(_text(value) for value in row) for row in rows)
    columns = tuple(
        Column(name, right=any(isinstance(row[at], int | float) for row in rows), names=at == 0)
        for at, name in enumerate(names)
    )
    show(Table(columns, cells).lines(terminal_width()))


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.10g}"
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


def _print_csv(names: list[str], rows: list[list[Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_json(value) if isinstance(value, list | dict) else value for value in row] for row in rows)


def _print_json(names: list[str], rows: list[list[Any]]) -> None:
    print(_json([dict(zip(names, row, strict=True)) for row in rows], indent=1))


def _json(value: Any, indent: int | None = None) -> str:
    """JSON has no numbers for what is not finite: these are null."""
    return json.dumps(_finite(value), indent=indent, default=str, allow_nan=False, ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list) else value


PRINTERS = {Format.table: _print_table, Format.csv: _print_csv, Format.json: _print_json}
