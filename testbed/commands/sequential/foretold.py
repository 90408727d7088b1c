"""Says before trials run how many seeds a comparison will need. Reads results folders."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ...compare import run as comparison
from ...compare.look import Terms
from ...compare.seeds_ahead import seeds_ahead
from ...compare.side import Side
from ...error import UserError
from ...model.run_setting import PRIMARY
from ...sweep import run_file
from .. import compared_run
from ..terminal import say


def foretell(
    console: Console, folder: Path, tolerance: float = comparison.TOLERANCE, sds: float = 0.0, budget: int | None = None
) -> None:
    """By what the folder of a run, or of several, has. Says nothing without a cell of two seeds, or of a folder that
    cannot be read: who reads it for more than this text says so.
    """
    try:
        runs = {folder} if run_file.is_run(folder) else {*run_file.suite(folder)}
        sides = {
            str(each): compared_run.run(each, (compared_run.primary_of(each) or PRIMARY,), in_parts=False)
            for each in runs
        }
    except UserError:
        return
    rare = {name: run.rare for name, run in sides.items() if run.rare is not None}
    found = seeds_ahead(Side(str(folder), sides), Terms(tolerance, sds, rare))
    if found is None:
        return
    short = budget is not None and (found.seeds is None or found.seeds > budget)
    more = f"; the budget is {budget} seeds" if short else ""
    say(console, f"seeds: by the noise of {folder}, {found.text}{more}")
