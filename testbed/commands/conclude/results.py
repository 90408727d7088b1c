"""`testbed results`: what came out, and whether it can be believed."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...model.run_setting import Until
from ...sweep.repetition import Mean, cells
from ...sweep.store import Store
from ...trial.stored_result import TrialResult

PIPED_WIDTH = 200
COLOUR = {"valid": "green", "suspect": "yellow", "invalid": "red"}


class By(StrEnum):
    trial = "trial"
    cell = "cell"


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"


def results(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `testbed run -o` wrote.")],
    format: Annotated[Format, typer.Option(help="How to print.")] = Format.table,
    by: Annotated[
        By | None, typer.Option(help="A line or object for each trial, or for each cell (a table has both).")
    ] = None,
) -> None:
    """Print the results of a run: trials, and what the repetitions of each cell say together. Exit code 1 if a trial is
    invalid or missing.
    """
    store = Store(folder).open()
    found, failures = store.results(), store.failures()
    if by is not By.cell:
        PRINTERS[format](found)
    if by is By.cell or (by is None and format is Format.table and any(each.data["repetition"] for each in found)):
        CELL_PRINTERS[format](found, store.until)
    missing = len(store.ids) - len(found)
    for id, reason in failures.items():
        print(f"failed {id}: {reason}", file=sys.stderr)
    if missing:
        print(f"{missing} of {len(store.ids)} trials are missing, {len(failures)} of them failed", file=sys.stderr)
    if missing or any(each.verdict == "invalid" for each in found):
        raise typer.Exit(1)


def print_table(found: Sequence[TrialResult]) -> None:
    """A line for each trial; below it why some are not valid, and how many of each verdict."""
    keys = list(dict.fromkeys(key for each in found for key in each.data["params"]))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPED_WIDTH)
    table = Table(
        *_short(keys),
        "seed",
        "Mbit/s",
        "resent",
        "RTT ms",
        "dropped",
        "queue drops",
        "verdict",
        box=None,
        pad_edge=False,
    )
    for each in found:
        table.add_row(*[escape(str(word)) for word in _row(each, keys)[:-1]], _coloured(each.verdict))
    console.print(table)
    for each in found:
        for finding in each.data["findings"]:
            word = "[dim]note[/]" if finding["verdict"] == "valid" else _coloured(finding["verdict"])
            text = f"{each.id}: {finding['check']}: {finding['text']} ({finding['hint']})"
            console.print(f"{word} {escape(text)}", soft_wrap=True)
    counts: Counter[str] = Counter(each.verdict for each in found)
    console.print(", ".join(f"{counts[verdict]} {verdict}" for verdict in COLOUR if counts[verdict]) or "no trials")


def print_cells(found: Sequence[TrialResult], until: Until | None = None) -> None:
    """A line for each cell: the mean goodput of its trials that are not invalid, with its 95 % t interval."""
    keys = list(dict.fromkeys(key for each in found for key in each.data["params"]))
    ends = ["stopped"] if until is not None else []
    table = Table(
        *_short(keys), "trials", "mean Mbit/s", "95 % interval", "±", "verdicts", *ends, box=None, pad_edge=False
    )
    for cell in cells(found, until):
        goodput = cell.goodput
        why = [] if until is None else ["not finished" if cell.stop is None else cell.stop.told(until)]
        words = (
            *(cell.params.get(key, "") for key in keys),
            "0" if goodput is None else str(goodput.trials),
            "-" if goodput is None else _number(goodput.mean_bps, 1e-6, 1),
            "-" if goodput is None or goodput.low_bps is None else _interval(goodput),
            "-" if goodput is None or goodput.half_width is None else f"{goodput.half_width:.2%}",
            ", ".join(f"{count} {verdict}" for verdict, count in cell.verdicts.items()),
            *why,
        )
        table.add_row(*map(escape, words))
    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=PIPED_WIDTH)
    console.print(table)


def _interval(goodput: Mean) -> str:
    return f"{_number(goodput.low_bps, 1e-6, 1)} – {_number(goodput.high_bps, 1e-6, 1)}"


def _print_cells_json(found: Sequence[TrialResult], until: Until | None) -> None:
    print(json.dumps([each.to_dict() for each in cells(found, until)], indent=1))


def _print_cells_csv(found: Sequence[TrialResult], until: Until | None) -> None:
    _write_csv([_flat(each.to_dict()) for each in cells(found, until)])


def _short(keys: Sequence[str]) -> list[str]:
    """`rtt` for `path.rtt` where no other key ends like that."""
    ends = [key.rsplit(".", 1)[-1] for key in keys]
    return [end if ends.count(end) == 1 else key for key, end in zip(keys, ends, strict=True)]


def _coloured(verdict: str) -> str:
    return f"[{COLOUR[verdict]}]{verdict}[/]"


def _row(each: TrialResult, keys: Sequence[str]) -> list[str]:
    data, seen, asked = each.data, each.data["seen"], each.data["asked"]
    again = [flow["retransmits"] for flow in data["flows"] if flow["retransmits"] is not None]
    dropped = seen["dropped_packets"]
    if asked["dropped_packets"] is not None:
        dropped = f"{seen['dropped_packets']}/{asked['dropped_packets']}"
    return [
        *(data["params"].get(key, "") for key in keys),
        str(data["seed"]),
        _number(data["goodput_bps"], 1e-6, 1),
        str(sum(again)) if again else "-",
        _number(seen["rtt_s"], 1e3, 3),
        _or_dash(dropped),
        _or_dash(seen["queue_drops"]),
        each.verdict,
    ]


def _number(value: float | None, scale: float, digits: int) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)


def print_json(found: Sequence[TrialResult]) -> None:
    print(json.dumps([each.to_dict() for each in found], indent=1))


def print_csv(found: Sequence[TrialResult]) -> None:
    """Parameters, then scalar fields; `asked.rtt_s` is how a field of an object is named."""
    _write_csv([_flat(each.to_dict()) for each in found])


def _write_csv(rows: Sequence[dict[str, object]]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _flat(data: dict[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            flat |= {f"{key}.{name}": each for name, each in value.items() if not isinstance(each, dict | list)}
        elif key == "warnings" and isinstance(value, list):
            flat[key] = "; ".join(value)
        elif not isinstance(value, list):
            flat[key] = value
    return flat


PRINTERS = {Format.table: print_table, Format.csv: print_csv, Format.json: print_json}
CELL_PRINTERS = {Format.table: print_cells, Format.csv: _print_cells_csv, Format.json: _print_cells_json}
