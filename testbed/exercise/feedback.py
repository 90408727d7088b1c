"""What a student reads about a submission, in Markdown. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..codec.markup import escaped
from .file import Exercise
from .mark import Mark, RuleMark

BLOCK = re.compile(r"^(\s*\d*)([#=~+*>_.)-])")
"""What means something in Markdown at the beginning of a line."""
POINTS = re.compile(r"\s*[\^~]+[\s^~]*")
WORDS = {"passed": "holds", "failed": "does not hold", "not checked": "was not checked"}
NAME_BYTES = 200
"""A file system takes 255, and a number and an ending follow."""


def text(exercise: Exercise, mark: Mark) -> str:
    """The whole file."""
    return "\n".join(_lines(exercise, mark)) + "\n"


def _lines(exercise: Exercise, mark: Mark) -> Iterator[str]:
    yield f"# {escaped(exercise.file.title)}: {mark.points} of {mark.of} points"
    yield ""
    yield f"Submission: {escaped(mark.submission)}"
    for each in mark.problems:
        yield ""
        yield from _quoted(each) if "\n" in each else [f"**{escaped(each)}**"]
    yield ""
    yield "| rule | points | |"
    yield "|---|---|---|"
    for rule in mark.rules:
        yield f"| {escaped(rule.name)} | {rule.points} of {rule.of} | {WORDS[rule.outcome]} |"
    for rule in mark.rules:
        yield from _about(rule)
    if mark.ended is not None:
        yield from ("", "## The network ended too early", "", *_quoted(mark.ended))
    for note in mark.notes:
        yield from ("", "## What your program said", "", *_quoted(note))
    if mark.is_full:
        yield from ("", "Every rule holds.")


def _about(rule: RuleMark) -> Iterator[str]:
    if rule.outcome == "passed":
        return
    yield from ("", f"## {escaped(rule.name)}", "")
    yield escaped(rule.message or "")
    if rule.seen and not rule.seen.startswith("could not be graded"):
        yield from ("", f"Seen: {escaped(rule.seen)}")


def _quoted(note: str) -> Iterator[str]:
    """Line by line, each as it is, without those that only point at a place of the line above."""
    for line in note.splitlines():
        if not POINTS.fullmatch(line):
            yield f"> {_line(line)}  "


def _line(text: str) -> str:
    """Text that is a line of its own, and begins no heading, list, quotation or fence."""
    return BLOCK.sub(r"\1\\\2", escaped(text))


def file_names(submissions: Sequence[str]) -> list[str]:
    """A name for each one's file, all different, without folders and without characters that mean something."""
    taken: set[str] = set()
    found = []
    for submission in submissions:
        plain = re.sub(r"[^\w.@+-]+", "-", submission).strip("-.") or "submission"
        plain = plain.encode()[:NAME_BYTES].decode(errors="ignore")
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        found.append(f"{name}.md")
    return found
