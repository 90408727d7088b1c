"""The errors of the user and of the computer. Pure, no I/O.

Our own mistakes are not here: they are assertions whose text begins with "BUG:".
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

KEPT = str.maketrans("", "", "\n\t")
"""Takes away what text of several lines may hold, and is not printable."""


class TestbedError(Exception):
    """An error with a message for the person at the terminal and an exit code for the shell."""

    __test__: ClassVar[bool] = False  # the name is no test class, whatever pytest thinks of it
    exit_code: ClassVar[int] = 1


class UserError(TestbedError):
    """The user's input is wrong: a file, an option or a combination of them."""

    exit_code: ClassVar[int] = 2


class MachineError(TestbedError):
    """This machine lacks something; `fix` is the command that supplies it."""

    exit_code: ClassVar[int] = 3

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(f"{what}; to fix it, type: {fix}")
        self.what = what
        self.fix = fix


class ValueRefused(UserError, ValueError):
    """One value that is wrong, and what would be allowed.

    `allowed` is None where nothing short can be said. `at` is where inside a list or mapping the value
    stands, empty if it is the whole.
    """

    def __init__(self, what: str, allowed: str | None = None, at: tuple[str | int, ...] = ()) -> None:
        super().__init__(with_allowed(what, allowed))
        self.what = what
        self.allowed = allowed
        self.at = at


@dataclass(frozen=True)
class Problem:
    """One fault of a spec file.

    `file` is the file as the user would name it, or the option (`--set path.rtt=5`); `line` counts from 1
    and is None for options and for a file that cannot be read at all.
    """

    file: str
    line: int | None
    what: str
    allowed: str | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return visible(f"{place}: {with_allowed(self.what, self.allowed)}")


class SpecError(UserError):
    """All the problems of a spec file, and of the files it names, in the order in which one reads them."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        assert self.problems, "BUG: a SpecError without a problem"
        super().__init__("\n".join(map(str, self.problems)))


class NotHere(SpecError):
    """What spec files name and this computer lacks, with the lines that name it."""

    exit_code: ClassVar[int] = MachineError.exit_code


def visible(text: str) -> str:
    """Text in one line, in which control characters are to be seen instead of obeyed."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def harmless(text: str) -> str:
    """Text in which all that is not printable, but for line feeds and tabs, is written as JSON writes it, so that JSON
    stays JSON: control characters, those that turn the direction of writing, and halves of surrogate pairs.
    """
    if text.translate(KEPT).isprintable():
        return text
    return "".join(each if each in "\n\t" or each.isprintable() else _written(each) for each in text)


def _written(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def with_allowed(what: str, allowed: str | None) -> str:
    return what if allowed is None else f"{what}; allowed: {allowed}"


def one_of(allowed: Sequence[str], written: str, without: str = "none") -> str:
    """The allowed words as text, with the one that was probably meant; `without` if there is no such word."""
    return ", ".join(allowed) + did_you_mean(written, allowed) if allowed else without


def did_you_mean(written: str, known: Iterable[str]) -> str:
    """The end of a sentence that names the word which was probably meant; empty if there is none."""
    meant = nearest(written, tuple(known))
    return "" if meant is None else f" (did you mean {meant!r}?)"


def nearest(written: str, known: Sequence[str]) -> str | None:
    """The known word that is most similar to the written one, or None; ignores letter case."""
    by_fold: dict[str, str] = {}
    for word in known:
        by_fold.setdefault(word.casefold(), word)
    close = difflib.get_close_matches(written.casefold(), list(by_fold), n=1, cutoff=0.6)
    return by_fold[close[0]] if close else None
