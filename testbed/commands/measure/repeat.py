"""`testbed run --repeat`: carries out a stored trial again, and compares its files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from ... import journal
from ...cache_folder import private
from ...error import visible
from ...kernel import confinement
from ...spec import program_store
from ...spec.load import COPY
from ...trial.folder import NOT_REPEATED, is_ours, read_result, read_trial, same_files
from ...trial.orders.sequence import orders
from ...trial.run import run as run_trial
from ...trial.strict_folder import remove_tree
from .. import foreign_code
from ..screen import rate

SCRATCH = "repeated"


def repeat_trial(folder: Path, allow_code: bool) -> None:
    """Raises typer.Exit if a file differs."""
    trial = read_trial(folder)
    first = read_result(folder)
    if not is_ours(folder):
        if not allow_code:
            foreign_code.refuse_foreign(folder, trial.topology, trial.workload, trial.kernel)
        held = confinement.method() if trial.kernel.kind != "host" else confinement.NONE
        print(f"{trial.id} is foreign: you did not make it here. It is confined by: {held.text}", file=sys.stderr)
    made = orders(trial)
    program_store.find(trial.workload.needed_files, _copies(folder))
    with journal.folder_noted(
        private(SCRATCH) / journal.unique("trial"), remove_tree
    ) as place:  # `folder` may be foreign
        again = place / "again"
        again.mkdir()
        second = run_trial(trial, made, again)
        different = same_files(folder, again)
    print(f"{trial.id}: {rate(first)}, again {rate(second)}")
    if different:
        print(f"different: {visible(', '.join(different))}")
        raise typer.Exit(1)
    print(
        f"every file is the same, byte for byte (but {', '.join(sorted(NOT_REPEATED))}, which describes this computer)"
    )


def _copies(folder: Path) -> dict[str, Path]:
    """The run's own copies of program files, by their names."""
    spec = Path(os.path.realpath(folder)).parent.parent / "spec"
    return {path.name.removeprefix(COPY): path for path in spec.glob(f"{COPY}*")}
