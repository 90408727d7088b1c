"""A budget as it is written on the command line: how much a comparison may measure. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...compare.look import LEAST
from ...error import UserError

SEEDS = 40
HELP = (
    f'when to give up, as "40 seeds" (of a cell in all; {SEEDS} if left out), "500 trials" or "2 h" (new ones, of '
    "this call); may be repeated."
)
ALLOWED = '"40 seeds", "500 trials", or a time such as "30 min"'
WRITTEN = re.compile(r"(\d+) *(seeds?|trials?)?")
TIME = re.compile(r"([\d.]+) *(s|min|h)")
SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Budget:
    """How much may be measured: repetitions of a cell in all; new trials, and seconds on the wall clock, of this call
    (None: as many as that takes). A round that does not fit is not begun.
    """

    repetitions: int = SEEDS
    trials: int | None = None
    wall_s: float | None = None


def budget_of(written: Sequence[str]) -> Budget:
    """Raises UserError for what is no budget, or one in which nothing can be decided."""
    found = Budget()
    for text in written:
        count, time = WRITTEN.fullmatch(text.strip()), TIME.fullmatch(text.strip())
        try:
            if count is not None and (count[2] or "seeds").startswith("seed"):
                found = replace(found, repetitions=int(count[1]))
            elif count is not None:
                found = replace(found, trials=int(count[1]))
            elif time is not None:
                found = replace(found, wall_s=float(time[1]) * SECONDS[time[2]])
            else:
                raise ValueError
        except ValueError:
            raise UserError(f"--budget {text!r} is no budget; allowed: {ALLOWED}") from None
    if found.repetitions < LEAST:
        raise UserError(f"--budget '{found.repetitions} seeds' decides nothing; allowed: {LEAST} seeds or more")
    return found
