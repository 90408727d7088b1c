"""The results that the project keeps: a table for each scenario in each size, small enough to clone. Reads and writes
these tables, and folders of runs that are made of them.

A row of a table is a trial: what was asked (trial.json), what came out (result.json), what it ran with
(provenance.json), and when and for how long (host.json). What run.json says is beside them. That is all that rows are
judged by; the other files of a trial's folder are not kept, and the same seed gives them again. A folder that is
made of a row has tables of samples without rows, as more seeds may join it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from testbed.api import Store, UserError, counted, write_none

from . import again, look
from .row import Cost

FOLDER = Path(__file__).parent / "data"
PROVENANCE = "provenance.json"
FILES = ("trial.json", "result.json", PROVENANCE, "host.json")
RUN = "run.json"
HOST_KEYS = ("wall_s", "cpu_s", "started")
"""Of host.json; the mark of the user who made the trial is nobody else's."""


def pack(store: Store, path: Path) -> int:
    """Writes the finished trials of a run as a table, in the run's order; returns their number.

    Raises UserError if a trial cannot be read, or the table cannot be written.
    """
    trials = [store.path / "trials" / id for id in store.ids]
    finished = [folder for folder in trials if folder.exists()]
    try:
        columns: dict[str, list[str | None]] = {"id": [folder.name for folder in finished]}
        columns |= {name: [_packed(folder / name) for folder in finished] for name in FILES}
        run = json.dumps(json.loads((store.path / RUN).read_text()), separators=(",", ":"))
        table = pa.table(columns, pa.schema([(name, pa.string()) for name in columns], {RUN: run}))
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path, compression="zstd", compression_level=19, write_statistics=False)
    except (OSError, ValueError) as error:
        raise UserError(
            f"{store.path} cannot be kept: {error}; allowed: the folder of a run, and one to write in"
        ) from None
    return len(finished)


def _packed(file: Path) -> str | None:
    """None for what was not noted of a trial."""
    if file.name == PROVENANCE and not file.exists():
        return None
    data = json.loads(file.read_text())
    if file.name == "host.json":
        data = {key: data[key] for key in HOST_KEYS if key in data}
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def unpack(path: Path, folder: Path) -> None:
    """Makes the folder of a run from a table. Raises UserError for a table that is damaged."""
    try:
        table = pq.read_table(path)
        run = (table.schema.metadata or {})[RUN.encode()]
        rows = table.select(["id", *FILES]).to_pylist()
        partial = folder.with_name(f".partial-{folder.name}")
        shutil.rmtree(partial, ignore_errors=True)
        (partial / "trials").mkdir(parents=True)
        (partial / RUN).write_bytes(run)
        for row in rows:
            made = partial / "trials" / Path(row["id"]).name
            made.mkdir()
            for name in FILES:
                if name != PROVENANCE or row[name] is not None:
                    (made / name).write_text(row[name])
            write_none(made)
        partial.rename(folder)
    except (OSError, KeyError, TypeError, pa.ArrowException) as error:
        raise UserError(f"{path} is damaged: {error}; allowed: what `testbed reproduce --keep` wrote") from None


def keep(results: Path, names: list[str], kept: Path) -> dict[str, int]:
    """Writes the tables of these scenarios that have run in a results folder; the number of trials of each.

    An audit was of the tables as they were: it goes if one of them changes.
    """
    before = {path: path.read_bytes() for path in kept.glob("*.parquet")}
    found = {name: pack(Store(results / name), kept / f"{name}.parquet")
             for name in names if Store(results / name).exists}  # fmt: skip
    if any(path.read_bytes() != data for path, data in before.items()):
        again.forget(kept)
    look.carry(results, kept, found)
    return found


def put_back(kept: Path, results: Path, names: list[str]) -> None:
    """Makes the folders of the runs of these scenarios that are kept, and that a results folder does not have."""
    lacking = [name for name in names if (kept / f"{name}.parquet").exists() and not (results / name).exists()]
    for name in lacking:
        unpack(kept / f"{name}.parquet", results / name)
    look.carry(kept, results, lacking)


def said(results: Path, kept: Path) -> str:
    """The trials of a results folder: their number, days, processor time, and lab kernels, and the last audit of the
    tables that they are from; in sentences.
    """
    hosts = [host for scenario in _hosts(results).values() for host in scenario]
    if not hosts:
        return "no trials."
    kernels = {
        f"{kernel['name']} ({kernel['key'][:12]})"
        for path in results.glob(f"*/trials/*/{PROVENANCE}")
        if (kernel := json.loads(path.read_text()).get("kernel"))
    }
    days = sorted({str(each["started"])[:10] for each in hosts if each.get("started")})
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "an unknown day"
    hours = _cpu_s(hosts) / 3600
    by = " and ".join(sorted(kernels)) or "no lab kernel"
    audits = again.stored(kept)
    audited = f" {audits[-1].in_words()}" if audits else ""
    return f"{counted(len(hosts), 'trial')} of {when}, {hours:.3g} h of processor time, with {by}.{audited}"


def costs(results: Path) -> dict[str, Cost]:
    """Of the trials of each scenario of a results folder."""
    return {name: Cost(len(hosts), _cpu_s(hosts)) for name, hosts in _hosts(results).items()}


def _hosts(results: Path) -> dict[str, list[dict[str, Any]]]:
    """What host.json says of each trial, by scenario."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(results.glob("*/trials/*/host.json")):
        found.setdefault(path.parents[2].name, []).append(json.loads(path.read_text()))
    return found


def _cpu_s(hosts: list[dict[str, Any]]) -> float:
    return sum(each.get("cpu_s") or 0.0 for each in hosts)


@contextmanager
def unpacked(kept: Path, names: Sequence[str] | None = None) -> Iterator[Path]:
    """A results folder with what is kept of these scenarios in a size (None: of all), as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="testbed-kept-") as name:
        folder = Path(name)
        put_back(kept, folder, sorted(path.stem for path in kept.glob("*.parquet")) if names is None else list(names))
        yield folder
