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
    error = 100 * (1 - looks.level)
    return (
        f"sequential: {_range(counts)} look{'s' if max(counts) > 1 else ''} at each cell, with {_range(seeds)} seeds; "
        f"all looks at all cells together may err by {error:g} %, of which {error * spent:.2g} % are spent. p and "
        "intervals are those of the last look"
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
