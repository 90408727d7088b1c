"""What an exercise promises of itself: its solution has the full mark, its starter has not, and each wrong submission
fails the rules that it says, and no others; and the solution is far from the limits. Runs guests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..codec.frozen import dataclass
from . import submission
from .check import mark
from .file import SOLUTION, STARTER, Exercise
from .mark import Mark

SLOWER = 3
"""How many times as long another computer may take."""


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
    handed_in = submission.of_wrong(exercise, name) if reader is None else reader(exercise)
    if name == SOLUTION:
        found = mark(_frugal(exercise), handed_in, cancelled)
        if found.is_full:
            return Kept(name, found, None)
    found = mark(exercise, handed_in, cancelled)
    return Kept(name, found, _broken(exercise, name, found))


def _frugal(exercise: Exercise) -> Exercise:
    """The exercise with a part of its processor time: a slower computer needs more for the same."""
    limits = exercise.file.limits
    less = replace(limits, cpu=limits.cpu // SLOWER)
    return replace(exercise, file=replace(exercise.file, limits=less))


def _broken(exercise: Exercise, name: str, found: Mark) -> str | None:
    if name == SOLUTION:
        if not found.is_full:
            first = next(rule for rule in found.rules if rule.outcome != "passed")
            return f"the solution fails {', '.join(found.fails)} ({first.name}: {first.seen})"
        limit_s = exercise.file.limits.cpu / 1e9
        return f"the solution takes more than 1/{SLOWER} of limits.cpu ({limit_s:g} s): a slower computer would end it"
    if name == STARTER:
        return "the starter has the full mark" if found.is_full else None
    wanted, fails = set(exercise.file.wrong[name].fails), set(found.fails)
    more, less = sorted(fails - wanted), sorted(wanted - fails)
    parts = [f"fails {', '.join(more)}, too" if more else "", f"does not fail {', '.join(less)}" if less else ""]
    return f"{name} {'; '.join(filter(None, parts))}" if more or less else None
