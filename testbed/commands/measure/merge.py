"""`testbed merge`: puts the shards of a scenario together."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ...error import visible
from ...sweep import merge as merging
from ...sweep.repetition import unfinished
from ...sweep.store import Store
from ..result_table import MISSING, print_rules

NAMED = 10

EXAMPLES = (
    ("Run a third of the trials here, as two other computers do", "testbed run quickstart --shard 1/3 -o part1"),
    ("Merge the three", "testbed merge part1 part2 part3 -o results/quickstart"),
    ("Run what is still missing", "testbed run quickstart -o results/quickstart"),
)


def merge(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of runs of one scenario.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="The folder for all of it; it may have some already.")
    ],
) -> None:
    """A trial that is in several folders must be the same in all, byte for byte; only host.json may differ. If one
    differs, nothing is written. An interrupted merge continues when it is given again, and `testbed run` then runs the
    missing trials. Audits of the folders are joined; the looks of a sequential comparison are kept if only one folder
    has some.

    The exit code is 0 if all trials of the scenario are there, 1 if one differs or is invalid, or a rule of `expect`
    does not hold, 4 if any is missing.
    """
    found = merging.merge([Store(each) for each in folders], Store(output))
    if not isinstance(found, merging.Merged):
        for each in found:
            print(f"different: {each}", file=sys.stderr)
        count = f"{len(found)} trial{'s differ' if len(found) > 1 else ' differs'}"
        print(f"{count}; nothing was written to {output}", file=sys.stderr)
        raise typer.Exit(1)
    print(f"{found.found} of {found.trials} trials are in {output}")
    _say_what_is_missing(found)
    if found.unlike:
        unlike = visible(", ".join(found.unlike))
        print(f"note: the trials ran with different software: {unlike} (testbed doctor --same-as DIR)")
    for note in found.notes:
        print(f"note: {visible(note)}")
    if found.invalid:
        print(f"{found.invalid} of them {'are' if found.invalid > 1 else 'is'} invalid")
    if not found.is_whole:
        raise typer.Exit(MISSING)
    if not print_rules(Store(output), found.results) or found.invalid:
        raise typer.Exit(1)


def _say_what_is_missing(found: merging.Merged) -> None:
    if found.shards:
        print(f"missing shards: {visible(', '.join(found.shards))}")
    for id in found.missing[:NAMED]:
        print(f"{'failed' if id in found.failed else 'missing'}: {id}")
    if len(found.missing) > NAMED:
        print(f"… and {len(found.missing) - NAMED} more")
    if found.open_cells:
        print(unfinished(found.open_cells))
    if not found.is_whole:
        print("testbed run runs what is missing: give it the scenario and this folder (-o)")
