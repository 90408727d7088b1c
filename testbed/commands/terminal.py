"""What is drawn on a terminal, in colours and bars: what comes from files, results and other computers is text, never
markup or a command to the terminal. What is printed goes through `cli.screened`. Writes to standard output and error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NoReturn, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ..error import harmless
from .closed_output import closed


def behind(stream: TextIO) -> TextIO:
    """The stream itself, without the screen before it: for what draws on a terminal, and for the output of a program
    that the user started.
    """
    return getattr(stream, "rich_proxied_file", stream)


class Terminal(Console):
    """Draws on standard error, or output, with styles that are given apart from the text."""

    def __init__(self, *, error: bool = True) -> None:
        stream = behind(sys.stderr if error else sys.stdout)
        super().__init__(file=stream, stderr=error, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> NoReturn:
        self.quiet = True
        closed(behind(sys.stderr if self.stderr else sys.stdout))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for each in super().render(renderable, options):
            yield each if each.control else each._replace(text=harmless(each.text))


def say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Prints a line of text, broken nowhere; a part may have a style."""
    console.print(Text.assemble(*parts), soft_wrap=True)
