"""The mark of a submission: what became of each rule. Pure, no I/O.

The same submission has the same mark, and the same bytes of `data`, every time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from ..codec.frozen import dataclass
from .rule.registry import Rule

Outcome: TypeAlias = Literal["passed", "failed", "not checked"]
SCHEMA = 1
ERROR = re.compile(r"^\S.*[Ee]rror\b|^\w*Error\b")
"""A line of a traceback, or of nft, that is no line of a program."""


@dataclass(frozen=True)
class Block:
    """Lines that explain something, under a title. `same` is what two blocks with the same news have in common."""

    title: str
    lines: tuple[str, ...]
    same: str


@dataclass(frozen=True)
class RuleMark:
    """One rule. `points` is what it gives, of `of`; `seen` what was seen instead of what should be, or why it could not
    be checked; None if it passed. `shown` are lines that explain it: the way of its packet, flow tables, what switches
    refused.
    """

    name: str
    outcome: Outcome
    points: int
    of: int
    message: str | None = None
    seen: str | None = None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mark:
    """A submission. `problems` are what is wrong with its files, `ended` why its network ended too early (None: it did
    not), `notes` what its programs complained of, `same_as` the submissions whose programs are the same but for names
    (None: nobody looked).
    """

    exercise: str
    submission: str
    rules: tuple[RuleMark, ...]
    problems: tuple[str, ...] = ()
    ended: str | None = None
    notes: tuple[str, ...] = ()
    same_as: tuple[str, ...] | None = None

    @property
    def points(self) -> int:
        """The sum of what the rules give."""
        return sum(rule.points for rule in self.rules)

    @property
    def of(self) -> int:
        """The full mark."""
        return sum(rule.of for rule in self.rules)

    @property
    def remarks(self) -> list[str]:
        """A line for each thing that went wrong besides rules: with files, with the network, with programs."""
        return [*map(headline, (*self.problems, *filter(None, [self.ended]), *self.notes))]

    @property
    def is_full(self) -> bool:
        """Whether every rule passed."""
        return bool(self.rules) and all(rule.outcome == "passed" for rule in self.rules)

    @property
    def fails(self) -> tuple[str, ...]:
        """The rules that gave nothing, in their order."""
        return tuple(rule.name for rule in self.rules if rule.outcome != "passed")

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": SCHEMA,
            "exercise": self.exercise,
            "submission": self.submission,
            "points": self.points,
            "of": self.of,
            "problems": list(self.problems),
            "ended": self.ended,
            "rules": [
                {
                    "name": rule.name,
                    "outcome": rule.outcome,
                    "points": rule.points,
                    "of": rule.of,
                    "message": rule.message,
                    "seen": rule.seen,
                    "shown": list(rule.shown),
                }
                for rule in self.rules
            ],
            "notes": list(self.notes),
        } | ({} if self.same_as is None else {"same_as": list(self.same_as)})


def headline(text: str) -> str:
    """What a message of several lines is about, in one: its first line and, if that ends with a colon, the last line
    that speaks of an error, or else the last one with letters.
    """
    head, *lines = text.splitlines() or [""]
    told = [line.strip() for line in lines if re.search(r"\w", line)]
    errors = [line for line in lines if ERROR.search(line)] or told
    return f"{head} {errors[-1].strip()}" if head.endswith(":") and errors else head


@dataclass(frozen=True)
class Verdict:
    """What a rule says by itself: `seen` None if it holds. `shown` explains it."""

    seen: str | None
    is_checked: bool = True
    shown: tuple[Block, ...] = ()


def marked(rules: Sequence[Rule], verdicts: Mapping[str, Verdict]) -> tuple[RuleMark, ...]:
    """The marks of the rules; one that has no verdict was not checked, one whose needs fail gives nothing."""
    done: dict[str, RuleMark] = {}
    told: dict[str, str] = {}
    for rule in rules:
        verdict = verdicts.get(rule.name, Verdict("nothing was asked", is_checked=False))
        failed = [need for need in rule.needs if done[need].outcome != "passed"]
        if verdict.seen is None and failed:
            verdict = Verdict(f"it holds, and does not count unless {', '.join(failed)} does", is_checked=False)
        done[rule.name] = _marked(rule, verdict, told)
    return tuple(done.values())


def unmarked(exercise: str, submission: str, rules: Sequence[Rule], why: str) -> Mark:
    """Of a submission that this computer could not mark."""
    text = f"could not be graded: {why}"
    return Mark(
        exercise, submission, marked(rules, {rule.name: Verdict(why, is_checked=False) for rule in rules}), (text,)
    )


def _marked(rule: Rule, verdict: Verdict, told: dict[str, str]) -> RuleMark:
    if verdict.is_checked and verdict.seen is None:
        return RuleMark(rule.name, "passed", rule.points, rule.points)
    outcome: Outcome = "failed" if verdict.is_checked else "not checked"
    seen = verdict.seen if verdict.is_checked else f"could not be checked: {verdict.seen}"
    shown = tuple(_once(verdict.shown, rule.name, told))
    return RuleMark(rule.name, outcome, 0, rule.points, rule.message.strip(), seen, shown)


def _once(blocks: Sequence[Block], rule: str, told: dict[str, str]) -> Iterator[str]:
    """The lines of the blocks of a rule; of what an earlier rule has told, only which: `told` has it."""
    for block in blocks:
        before = told.setdefault(block.same, rule)
        if before != rule:
            yield f"{block.title}: as at {before}"
        else:
            yield f"{block.title}:"
            yield from (f"  {line}" for line in block.lines)
