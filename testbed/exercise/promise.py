"""What an exercise promises of itself: its solution has the full mark, its starter has not, and each wrong submission
fails the rules that it says, and no others. Runs guests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import submission
from .check import mark
from .file import SOLUTION, STARTER, Exercise
from .mark import Mark


@dataclass(frozen=True)
class Kept:
    """One submission of the exercise's own. `broken` says how it is not as promised; None if it is."""

    name: str
    mark: Mark
    broken: str | None


def cases(exercise: Exercise) -> tuple[str, ...]:
    """The names of its own submissions."""
    return (SOLUTION, STARTER, *exercise.wrongs())


def kept(exercise: Exercise, name: str, cancelled: Callable[[], bool] = lambda: False) -> Kept:
    """Whether one of them is as promised."""
    readers = {SOLUTION: submission.of_solution, STARTER: submission.of_starter}
    reader = readers.get(name)
    found = mark(exercise, submission.of_wrong(exercise, name) if reader is None else reader(exercise), cancelled)
    return Kept(name, found, _broken(exercise, name, found))


def _broken(exercise: Exercise, name: str, found: Mark) -> str | None:
    if name == SOLUTION:
        return None if found.is_full else f"the solution fails {', '.join(found.fails)}"
    if name == STARTER:
        return "the starter has the full mark" if found.is_full else None
    wanted, fails = set(exercise.file.wrong[name].fails), set(found.fails)
    more, less = sorted(fails - wanted), sorted(wanted - fails)
    parts = [f"fails {', '.join(more)}, too" if more else "", f"does not fail {', '.join(less)}" if less else ""]
    return f"{name} {'; '.join(filter(None, parts))}" if more or less else None
