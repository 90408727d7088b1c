"""Tables that fit a terminal: they break headers and long text, say equal cells once, leave out columns and say which,
and at last rotate rows into records; no number is ever cut. Pure, but for `terminal_width` and `show`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from ..codec.frozen import dataclass
from ..error import visible
from .terminal import Terminal

GAP = "  "
WRAPPED_MIN, WORD_MAX = 16, 28
"""Columns of text are not made narrower than that, nor than their longest word that is not longer than this."""
PIPED_MAX = 60
"""Where nothing need fit, columns of text are no wider than that for the sake of one long cell, which stands out."""
TIED = "\u00a0"
"""A space between words that stay on one line; printed as any other."""


class Format(StrEnum):
    """What commands with a single table print."""

    table = "table"
    json = "json"


FormatOption = Annotated[Format, typer.Option(help="The format of the output.")]


@dataclass(frozen=True)
class Column:
    """`right`: it is flush right. `wraps`: its text may take several lines. `folds`: what is equal in all rows may be
    said once, above the table. `heads`: it may be a heading above the rows that have it in common. `drop`: it may be
    left out, the highest number first; 0 is never. `names`: it says what a row is about.
    """

    name: str
    right: bool = False
    wraps: bool = False
    folds: bool = False
    heads: bool = False
    drop: int = 0
    names: bool = False


@dataclass(frozen=True)
class Table:
    """`more` says how to see columns that were left out; `colours` are of cells with such a text; `headings`, one for
    each row if any, stand above the rows that have it in common.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str = "a wider terminal shows them"
    colours: Mapping[str, str] = field(default_factory=dict)
    headings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = tuple(tuple(TIED.join(map(visible, text.split(TIED))) for text in row) for row in self.rows)
        object.__setattr__(self, "rows", rows)

    def lines(self, width: int | None) -> list[str]:
        """In rich's markup. `width` None is as wide as it needs to be."""
        if width is None:
            return _grid(self, None, narrow=False)
        folded, same = _folded(self)
        above = _flowed(f"all: {', '.join(same)}", width) if same else []
        headed = _headed(folded)
        for table, before in ((self, []), (folded, above), (headed, above)):
            for narrow in (False, True):
                if _least(table, narrow=narrow, wrapped=False) <= width:
                    return [*before, *_grid(table, width, narrow=narrow)]
        for table in (folded, headed):
            if _least(table, narrow=True, wrapped=True) <= width:
                return [*above, *_grid(table, width, narrow=True)]
        kept, dropped = _dropped(headed, width)
        if kept is not None:
            said = f"Not shown in {width} columns: {', '.join(dropped)} ({self.more})."
            return [*above, *_grid(kept, width, narrow=True), *_flowed(said, width)]
        return [*above, *_records(folded, width)]


def terminal_width() -> int | None:
    """Of COLUMNS or of the terminal that standard output is; None where it is neither: nothing need fit there."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def show(lines: Iterable[str], console: Console | None = None) -> None:
    """Prints lines of markup as they are: none is broken again."""
    console = console or Terminal(error=False)
    for line in lines:
        console.print(Text.from_markup(line, emoji=False), soft_wrap=True)


def literal(text: str) -> str:
    """Markup for the text as it is, where no tag follows: a backslash at its end is one."""
    return escape(f"{text} ")[:-1]


def paragraph(text: str, width: int | None, indent: str = "  ") -> str:
    """Text broken between words; `indent` begins all lines but the first."""
    if width is not None:
        width = max(width, WRAPPED_MIN)
        text = textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    return text.replace(TIED, " ")


def _flowed(text: str, width: int | None) -> list[str]:
    return [literal(line) for line in paragraph(text, width).split("\n")]


def _natural(table: Table, at: int) -> int:
    return max((len(row[at]) for row in table.rows), default=0)


def _header_width(column: Column, narrow: bool) -> int:
    return max(map(len, column.name.split()), default=0) if narrow else len(column.name)


def _widths(table: Table, narrow: bool) -> list[int]:
    return [max(_natural(table, at), _header_width(column, narrow)) for at, column in enumerate(table.columns)]


def _least(table: Table, *, narrow: bool, wrapped: bool) -> int:
    """How wide it is at least, with headers broken between words, and text wrapped."""
    widths = _widths(table, narrow)
    if wrapped:
        widths = [
            min(width, _least_text(table, at, narrow)) if table.columns[at].wraps else width
            for at, width in enumerate(widths)
        ]
    return _indent(table) + sum(widths) + len(GAP) * (len(widths) - 1)


def _least_text(table: Table, at: int, narrow: bool) -> int:
    words = [len(word) for row in table.rows for word in row[at].split(" ")]
    longest = max((word for word in words if word <= WORD_MAX), default=0)
    return max(WRAPPED_MIN, longest, _header_width(table.columns[at], narrow))


def _indent(table: Table) -> int:
    return len(GAP) if table.headings else 0


def _without(table: Table, gone: Iterable[int]) -> Table:
    kept = [at for at in range(len(table.columns)) if at not in set(gone)]
    return replace(
        table,
        columns=tuple(table.columns[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in table.rows),
    )


def _folded(table: Table) -> tuple[Table, list[str]]:
    """Without the columns that are equal in all rows, and what they say."""
    same = [
        at
        for at, column in enumerate(table.columns)
        if column.folds and len(table.rows) > 1 and len({row[at] for row in table.rows}) == 1
    ]
    return _without(table, same), [f"{table.columns[at].name} {table.rows[0][at]}".rstrip() for at in same]


def _headed(table: Table) -> Table:
    """With headings in place of the columns that may be one."""
    heads = [at for at, column in enumerate(table.columns) if column.heads]
    if not heads or len(heads) == len(table.columns):
        return table
    headings = tuple(", ".join(row[at] for at in heads) for row in table.rows)
    return replace(_without(table, heads), headings=headings)


def _dropped(table: Table, width: int) -> tuple[Table | None, list[str]]:
    """Without as few columns as will do, and their names; None if it never fits."""

    def fits(gone: Iterable[int]) -> bool:
        return _least(_without(table, gone), narrow=True, wrapped=True) <= width

    gone: list[int] = []
    order = sorted((at for at, each in enumerate(table.columns) if each.drop), key=lambda at: -table.columns[at].drop)
    while order and not fits(gone):
        gone.append(order.pop(0))
    if not fits(gone):
        return None, []
    for at in reversed(gone):  # one that came back may be narrow enough
        without = [each for each in gone if each != at]
        gone = without if fits(without) else gone
    return _without(table, gone), [table.columns[at].name for at in sorted(gone)]


def _grid(table: Table, width: int | None, *, narrow: bool) -> list[str]:
    widths = _widths(table, narrow)
    if width is not None:
        widths = _squeezed(table, widths, width)
    else:
        pairs = zip(widths, table.columns, strict=True)
        widths = [min(each, max(PIPED_MAX, len(column.name))) if column.wraps else each for each, column in pairs]
    wraps = width is not None
    indent = " " * _indent(table)
    names = tuple(column.name for column in table.columns)
    lines = [indent + line for line in _row(table, names, widths, wraps=wraps)]
    for at, row in enumerate(table.rows):
        if table.headings and table.headings[at] != (table.headings[at - 1] if at else None):
            lines += _flowed(table.headings[at], width)
        lines += [indent + line for line in _row(table, row, widths, wraps=wraps)]
    return lines


def _squeezed(table: Table, widths: Sequence[int], width: int) -> list[int]:
    """Takes what is too much from the columns that wrap, the widest first."""
    squeezed = list(widths)
    over = _indent(table) + sum(widths) + len(GAP) * (len(widths) - 1) - width
    least = {at: _least_text(table, at, True) for at, column in enumerate(table.columns) if column.wraps}
    for _ in range(max(over, 0)):
        wide = [at for at in least if squeezed[at] > least[at]]
        if not wide:
            break
        squeezed[max(wide, key=lambda at: squeezed[at])] -= 1
    return squeezed


def _row(table: Table, row: Sequence[str], widths: Sequence[int], *, wraps: bool) -> list[str]:
    cells = [
        [text]
        if len(text) <= width or not wraps
        else textwrap.wrap(_breakable(text, width), width, break_on_hyphens=False)
        for text, width in zip(row, widths, strict=True)
    ]
    lines = []
    for at in range(max(map(len, cells), default=0)):
        line, blanks = "", ""
        for cell, width, column in zip(cells, widths, table.columns, strict=True):
            text = cell[at] if at < len(cell) else ""
            space = " " * (width - len(text))
            before, after = (space, "") if column.right else ("", space)
            if text:
                line += blanks + before + _coloured(table, text.replace(TIED, " "))
                blanks = after + GAP
            else:
                blanks += space + GAP
        lines.append(line)
    return lines


def _breakable(text: str, width: int) -> str:
    """With spaces in words that are longer than a line: paths are broken before a slash."""
    words = []
    for word in text.split(" "):
        parts = re.findall(r"/?[^/]+/*|/+", word) if len(word) > width else [word]
        lines = [""]
        for part in parts:
            if lines[-1] and len(lines[-1]) + len(part) > width:
                lines.append("")
            lines[-1] += part
        words += lines
    return " ".join(words)


def _records(table: Table, width: int) -> list[str]:
    """A few lines for each row: what it is about, and below it the rest."""
    lines = []
    for row in table.rows:
        pairs = [
            (column.names, f"{column.name} {text}".strip())
            for column, text in zip(table.columns, row, strict=True)
            if text
        ]
        heads = _items([text for names, text in pairs if names], ", ", width - 2)
        rest = _items([text for names, text in pairs if not names], GAP, width - 2)
        lines += [*(line if at == 0 else f"  {line}" for at, line in enumerate(heads)), *(f"  {line}" for line in rest)]
    return lines


def _items(texts: Sequence[str], between: str, width: int) -> list[str]:
    """As many on a line as fit; an item is broken only if it is longer than a line."""
    lines: list[str] = []
    for text in texts:
        if lines and len(lines[-1]) + len(between) + len(text) <= width:
            lines[-1] += between + text
        else:
            lines[-1:] = [line + between.rstrip() for line in lines[-1:]]
            lines += paragraph(text, width, indent="").split("\n")
    return [literal(line) for line in lines]


def _coloured(table: Table, text: str) -> str:
    colour = table.colours.get(text)
    return literal(text) if colour is None else f"[{colour}]{literal(text)}[/]"
