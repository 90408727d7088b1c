"""What --until-decided is given: what to compare with, and how much may be measured. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ...codec.frozen import dataclass
from ...error import UserError
from ..option_rule import Only

SEEDS = 40
HELP = (
    f'when to give up, as "40 seeds" (of a cell in all; {SEEDS} if left out), "500 trials" or "2 h" (new ones, of '
    "this call); may be repeated."
)
ALLOWED = '"40 seeds", "500 trials", or a time such as "30 min"'
WRITTEN = re.compile(r"(\d+) *(seeds?|trials?)?")
TIME = re.compile(r"([\d.]+) *(s|min|h)")
SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


TOGETHER = "--until-decided with --base DIR, or with --axis KEY (and --base VALUE --candidate VALUE)"

OF_DECISION = Only(
    ("--base", "--axis", "--candidate", "--tolerance", "--budget"),
    "--until-decided",
    f"{{option}} says what to compare the run with; allowed: {TOGETHER}",
)


@dataclass(frozen=True)
class Options:
    """What the options say: `base` is a folder, or a value of `axis`; None for those that were left out."""

    base: str | None
    axis: str | None
    candidate: str | None
    tolerance: str | None
    budget: tuple[str, ...]


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
    from ...compare.look import LEAST  # imports all that computes

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
        if found.wall_s == 0:
            raise UserError(f"--budget {text!r} leaves no time to measure anything; allowed: more than 0")
    if found.repetitions < LEAST:
        raise UserError(f"--budget '{found.repetitions} seeds' decides nothing; allowed: {LEAST} seeds or more")
    return found
