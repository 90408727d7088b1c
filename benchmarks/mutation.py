"""Faults that a seed draws in the source of a congestion control. Pure, no I/O.

A mutant differs in one place: first an operator is drawn, then one of its places, each with the same chance. Comments,
texts, includes, what only registers the control or counts for /proc, and tables of numbers are no places.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import cycle
from typing import TypeAlias

Place: TypeAlias = tuple[int, int, str]
"""Where it begins and ends in the text, and what stands there then."""
Operator: TypeAlias = Callable[[str], list[Place]]

BLANK = re.compile(r"/\*.*?\*/|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
NO_PLACE = re.compile(
    r"^\s*(?:#\s*include|module_|MODULE_|BTF_|BUILD_BUG_ON|WARN_ON|pr_debug|NET_(?:INC|ADD)_STATS|LINUX_MIB|\.\w+\s*=)"
    r"|(?:\d+, +){7}|btf_kfunc|_congestion_control\(|BPF_|ret < 0"
)
IF = re.compile(r"\bif \(")
NUMBER = re.compile(r"(?<![\w.])(\d+)(U|ull)?\b")
BOUND = re.compile(r"\b(min|max)(?:_t)?\(")


def _words(*pairs: tuple[str, str]) -> Operator:
    """Each place of a word between blanks, with the other of its pair."""
    other = dict(pairs)
    found = re.compile(rf"(?<= )(?:{'|'.join(map(re.escape, other))})(?= )")
    return lambda text: [(at.start(), at.end(), other[at[0]]) for at in found.finditer(text)]


def _deleted(pattern: str) -> Operator:
    """Each statement on a line of its own, without it."""
    found = re.compile(rf"^\t+({pattern});$", re.MULTILINE)
    return lambda text: [(at.start(1), at.end(1), "") for at in found.finditer(text)]


def _conditions(made: str) -> Operator:
    def places(text: str) -> list[Place]:
        found = [(at.end(), _closing(text, at.end())) for at in IF.finditer(text)]
        return [(begin, end, made.format(text[begin:end])) for begin, end in found]

    return places


def _closing(text: str, begin: int) -> int:
    """Where the parenthesis that is open at `begin` closes."""
    depth, at = 1, begin
    while True:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at
        at += 1


def _doubled(text: str) -> list[Place]:
    return [(at.start(), at.end(), f"{2 * int(at[1]) or 1}{at[2] or ''}") for at in NUMBER.finditer(text)]


def _bounds(text: str) -> list[Place]:
    other = {"min": "max", "max": "min"}
    return [(at.start(1), at.end(1), other[at[1]]) for at in BOUND.finditer(text)]


OPERATORS: Mapping[str, Operator] = {
    "the bound of a comparison moves": _words(("<", "<="), ("<=", "<"), (">", ">="), (">=", ">")),
    "a comparison is the opposite": _words(
        ("<", ">="), (">=", "<"), (">", "<="), ("<=", ">"), ("==", "!="), ("!=", "==")
    ),
    "and for or": _words(("&&", "||"), ("||", "&&")),
    "another operation": _words(("+", "-"), ("-", "+"), ("*", "/"), ("/", "*"), ("<<", ">>"), (">>", "<<")),
    "a step the other way": _words(("+=", "-="), ("-=", "+=")),
    "a number is doubled": _doubled,
    "min for max": _bounds,
    "a condition never holds": _conditions("0 && ({})"),
    "a condition always holds": _conditions("1 || ({})"),
    "an assignment is left out": _deleted(r"\w+->\w+ [-+]?= [^;\n]*"),
    "a call is left out": _deleted(r"(?:\w+_)?\w+\([^;\n]*\)"),
}
"""What a fault of one place can be."""


@dataclass(frozen=True)
class Mutant:
    """A `file` with one place changed: the line `before` and `after`, and the whole `original` and `text`."""

    file: str
    operator: str
    line: int
    before: str
    after: str
    original: str
    text: str

    @property
    def patch(self) -> str:
        """What `patch -p1` takes."""
        one, other = (whole.splitlines(keepends=True) for whole in (self.original, self.text))
        changed = "".join(unified_diff(one, other, f"a/{self.file}", f"b/{self.file}"))
        return f"{self.operator}, at line {self.line}\n\n{changed}"


def drawn(sources: Mapping[str, str], seed: int) -> Iterator[Mutant]:
    """Mutants of each file in turn, none of them twice; without end, as long as there are others."""
    rng, seen = random.Random(seed), set[Mutant]()
    found = {file: places(text) for file, text in sources.items()}
    for file in cycle(sources):
        while (made := _any(file, sources[file], found[file], rng)) in seen:
            pass
        seen.add(made)
        yield made


def _any(file: str, text: str, found: Mapping[str, Sequence[Place]], rng: random.Random) -> Mutant:
    operator = rng.choice([name for name, its in found.items() if its])
    return _mutant(file, text, operator, rng.choice(found[operator]))


def places(text: str) -> dict[str, list[Place]]:
    """Those of each operator."""
    code = BLANK.sub(lambda at: re.sub(r"\S", " ", at[0]), text)
    lines = code.splitlines(keepends=True)
    plain = "".join(" " * (len(line) - 1) + "\n" if NO_PLACE.search(line) else line for line in lines)
    return {name: operator(plain) for name, operator in OPERATORS.items()}


def _mutant(file: str, text: str, operator: str, place: Place) -> Mutant:
    begin, end, new = place
    changed = text[:begin] + new + text[end:]
    line = text.count("\n", 0, begin)
    before, after = (whole.splitlines()[line].strip() for whole in (text, changed))
    return Mutant(file, operator, line + 1, before, after, text, changed)
