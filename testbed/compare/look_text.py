"""Looks of a sequential comparison as text. Pure, no I/O."""

from __future__ import annotations

from .look import Looks


def note(looks: Looks) -> str:
    """How often was looked, and what that may err."""
    known = [each for each in looks.cells if each.looks]
    counts = [len(each.looks) for each in known]
    seeds = [look.repetitions for each in known for look in each.looks]
    if not known:
        return "sequential: no look yet"
    spent = max(each.spent for each in known)
    errors = [f"{each.looks[-1].error:.2g}" for each in sorted(known, key=lambda each: each.looks[-1].error)]
    least = errors[0] if errors[0] == errors[-1] else f"{errors[0]} to {errors[-1]}"
    error = 100 * (1 - looks.level)
    return (
        f"sequential: {_range(counts)} look{'s' if max(counts) > 1 else ''} at each cell, with {_range(seeds)} seeds; "
        f"all looks at all cells together may err by {error:g} %, of which {error * spent:.2g} % are spent. p and the "
        f"interval are those of the last look, which tells a difference where p is below its own error ({least})"
    )


def to_json(looks: Looks) -> dict[str, object]:
    """For JSON: the error of all looks together, what is spent of it, and each metric that decides, with its looks."""
    return {
        "error": 1 - looks.level,
        "spent": (1 - looks.level) * max((each.spent for each in looks.cells), default=0.0),
        "tests": looks.keys,
        "metrics": list(looks.metrics),
        "cells": [{**vars(each), "verdict": each.verdict, "looks": [*map(vars, each.looks)]} for each in looks.cells],
    }


def _range(numbers: list[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least} to {most}"
