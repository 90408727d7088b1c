"""Ways to damage a results folder, generated: each file as a whole, and each value in each JSON file of a trial."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

RECORDS = ("run.json", "result.json", "trial.json", "host.json", "provenance.json")
TABLES = ("samples.parquet", "queues.parquet")
OF_RUN = ("trials.parquet", "flows.parquet", "samples.parquet", "queues.parquet", "host.parquet")
ABSENT = object()
VALUES: tuple[Any, ...] = (
    ABSENT, None, True, -1, 0, 1e308, float("nan"), float("inf"), 10**400, "", "x", "\x1b]0;x\x07[/x]|<script>\u202e",
    "\udc80", "../../x", [], [None], [[]], {}, {"x": []}, {"": None},
)  # fmt: skip


@dataclass(frozen=True)
class Damage:
    """One way to damage: what it is called, the file that it is in, and how."""

    name: str
    file: str
    do: Callable[[Path], None]


def whole(path: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    data = path.read_bytes() if path.is_file() else b"PAR1 something"
    for name, content in (
        ("empty", b""), ("half", data[: len(data) // 2]), ("garbage", bytes(range(256)) * 4), ("nul", data + b"\0"),
        ("latin", b'{"schema": "\xe9"}'), ("list", b"[]"), ("null", b"null"), ("number", b"1"), ("object", b"{}"),
        ("deep", b'{"schema": ' + b"[" * 100_000), ("deep, closed", b'{"a": ' + b"[" * 900 + b"]" * 900 + b"}"),
        ("digits", b'{"schema": ' + b"9" * 5000 + b"}"),
    ):  # fmt: skip
        yield name, lambda at, content=content: _replace(at, content)  # type: ignore[misc]
    yield "missing", lambda at: at.unlink(missing_ok=True)
    yield "folder", lambda at: (at.unlink(missing_ok=True), at.mkdir())[1]
    yield "pipe", lambda at: (at.unlink(missing_ok=True), os.mkfifo(at))[1]
    yield "endless", lambda at: (at.unlink(missing_ok=True), at.symlink_to("/dev/zero"))[1]
    yield "link to itself", lambda at: (at.unlink(missing_ok=True), at.symlink_to(at.name))[1]


def tables(path: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    table = pq.read_table(path)
    nothing = pa.table({"x": pa.array([], pa.int64())})
    words = pa.table({name: pa.array(["x"] * 3) for name in table.column_names})
    nulls = pa.table({name: pa.nulls(3, table.schema.field(name).type) for name in table.column_names})
    lists = pa.table({name: pa.array([[1], [2]]) for name in table.column_names})
    half = table.select(table.column_names[: len(table.column_names) // 2])
    doubled = pa.Table.from_arrays([*table.columns, table.columns[0]], names=[*table.column_names, "time_s"])
    kinds = {"no columns": nothing, "words": words, "nulls": nulls, "lists": lists, "half the columns": half}
    for name, made in {**kinds, "a column twice": doubled}.items():
        yield name, lambda at, made=made: (at.unlink(missing_ok=True), pq.write_table(made, at))[1]  # type: ignore[misc]
    yield "flipped bytes", lambda at: _replace(at, _flipped(at.read_bytes()))


def every(run: Path, seed: int = 1) -> list[Damage]:
    """All ways, in an order that a sample of has some of each."""
    trial = sorted((run / "trials").iterdir())[0].name
    found = []
    for record in RECORDS:
        file = record if record == "run.json" else f"trials/{trial}/{record}"
        found += [Damage(f"{record}: {name}", file, do) for name, do in whole(run / file)]
        for place in _places(json.loads((run / file).read_text()), ()):
            for value in VALUES:
                name = f"{record}: {'.'.join(map(str, place))} is {'absent' if value is ABSENT else repr(value):.30}"
                found.append(Damage(name, file, _changed(place, value)))
    for record in TABLES:
        file = f"trials/{trial}/{record}"
        for name, do in (*whole(run / file), *tables(run / file)):
            found.append(Damage(f"{record}: {name}", file, do))
    for record in OF_RUN:
        found += [Damage(f"run's {record}: {name}", record, do) for name, do in whole(run / record)]
    for name in ("trials", "failed", "spec", f"trials/{trial}"):
        found.append(Damage(f"{name} is a file", name, _filed))
    random.Random(seed).shuffle(found)
    return found


def _places(data: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Of all values; of a list only those of its first."""
    items = data.items() if isinstance(data, dict) else enumerate(data[:1]) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _places(value, (*path, key))


def _changed(place: tuple[str | int, ...], value: Any) -> Callable[[Path], None]:
    def do(at: Path) -> None:
        data = json.loads(at.read_text())
        part = data
        for step in place[:-1]:
            part = part[step]
        if value is ABSENT:
            del part[place[-1]]
        else:
            part[place[-1]] = value
        _replace(at, json.dumps(data).encode())

    return do


def _filed(at: Path) -> None:
    shutil.rmtree(at, ignore_errors=True)
    at.write_text("x")


def _flipped(data: bytes) -> bytes:
    changed = bytearray(data)
    for at in range(10, len(changed), 97):
        changed[at] ^= 0xFF
    return bytes(changed)


def _replace(at: Path, content: bytes) -> None:
    at.unlink(missing_ok=True)
    at.write_bytes(content)
