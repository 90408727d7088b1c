"""Tables of comparisons. Prints them, or writes them to a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console

from ..compare.run import Outcome
from ..compare.run_text import Row
from ..error import UserError, harmless
from ..trial.folder import write_named
from .text_table import Column, Table, literal, paragraph, show, terminal_width

ALIKE_MAX = 4
"""More notes that begin alike are counted on a terminal."""
MORE_NOTES = "--format json lists them"
MORE = "a wider terminal or --format json shows them"
EXIT_CODES: Mapping[Outcome, int] = {"worse": 1, "lost": 4, "cannot tell": 5, "better": 0, "same": 0}
"""Of a comparison, by its verdict. 2, 3 and 130 are those of all commands."""
COLOUR = {
    "better": "green",
    "same": "dim",
    "worse": "red",
    "lost": "red",
    "cannot tell": "yellow",
    "new": "yellow",
    "spare": "dim",
    "AGREE": "green",
    "DIFFER": "red",
    "CANNOT TELL": "yellow",
}
COLUMNS: dict[str, dict[str, Any]] = {
    "cell": {"heads": True, "names": True},
    "metric": {"names": True, "folds": True},
    **{name: {"right": True} for name in ("base", "candidate", "difference", "RMS")},
    "95 % interval": {"drop": 1, "folds": True},
    "could be seen": {"drop": 2, "folds": True},
    "seeds": {"drop": 3, "folds": True, "right": True},
    "p": {"drop": 4, "folds": True},
    "may differ": {"drop": 6, "folds": True, "right": True},
    "tolerance": {"drop": 7, "folds": True, "right": True},
    "noise": {"drop": 5, "folds": True},
    "published": {"heads": True, "names": True, "folds": True},
    "ours": {"heads": True, "names": True, "folds": True},
    "C_UC difference": {"drop": 2},
    "shape": {"drop": 1, "wraps": True},
    "claim": {"folds": True},
    "RTTs": {"right": True, "folds": True},
    "known to": {"drop": 2, "folds": True},
    "RTT": {"names": True, "right": True},
    "published value": {"right": True},
    "our value": {"right": True},
}
"""How the columns of a comparison give way where there is no room."""


def write(whole: str, output: Path | None) -> None:
    """On standard output, or in a file, whose name is then printed. Raises UserError if it cannot be written."""
    if output is None:
        print(whole, end="")
        return
    try:
        write_named(output, harmless(whole))
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}; allowed: -o with a file that can") from None
    print(output)


def _few(notes: Sequence[str]) -> Iterator[str]:
    """The first of many notes that begin alike, and how many more there are."""
    for kind, alike in groupby(notes, lambda note: note.partition(": ")[0]):
        listed = list(alike)
        shown = listed if len(listed) <= ALIKE_MAX else listed[: ALIKE_MAX - 1]
        yield from shown
        if len(shown) < len(listed):
            yield f"{kind}: {len(listed) - len(shown)} more ({MORE_NOTES})"


def write_table(
    tables: Sequence[tuple[Row, Sequence[Row]]],
    notes: Sequence[str],
    summary: str,
    output: Path | None,
    more: Sequence[str] = (),
) -> None:
    """On standard output as wide as the terminal; in a file as wide as it needs to be. `more` are the last lines."""
    width = terminal_width() if output is None else None
    lines: list[str] = []
    for headers, rows in tables:
        columns = tuple(Column(name, **COLUMNS.get(name, {})) for name in headers)
        lines += [*Table(columns, tuple(rows), MORE, COLOUR).lines(width), *([""] if output is None else [])]
    lines += [literal(paragraph(note, width)) for note in (_few(notes) if output is None else notes)]
    if output is None:
        show([*lines, *(literal(paragraph(line, width)) for line in (summary, *more))])
        return
    console = Console(highlight=False, no_color=True)
    with console.capture() as captured:
        show(lines, console)
    write(captured.get() + "".join(f"{line}\n" for line in (summary, *more)), output)
