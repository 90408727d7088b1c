"""The one way out to a terminal: what comes from files, results and other computers is text, and never markup or a
command to the terminal. Writes to standard output and standard error.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ..error import harmless


@contextmanager
def screened() -> Iterator[None]:
    """All that is printed meanwhile is harmless, and is never refused for its characters."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = (cast(TextIO, _Screen(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def behind(stream: TextIO) -> TextIO:
    """The stream itself: for what draws on a terminal, and for the output of a program that the user started."""
    return stream.stream if isinstance(stream, _Screen) else stream


class _Screen:
    """A stream of text to which only harmless text is written."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(harmless(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Terminal(Console):
    """Draws on standard error, or output, with styles that are given apart from the text."""

    def __init__(self, *, error: bool = True) -> None:
        stream = behind(sys.stderr if error else sys.stdout)
        super().__init__(file=stream, stderr=error, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for each in super().render(renderable, options):
            yield each if each.control else each._replace(text=harmless(each.text))


def say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Prints a line of text, broken nowhere; a part may have a style."""
    console.print(Text.assemble(*parts), soft_wrap=True)
