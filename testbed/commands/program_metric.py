"""The metrics that the programs of runs say: they are known once the first trial of each run was looked at. Reads
results folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..error import UserError
from ..sweep.store import Store
from ..trial.folder import TRIAL, read_json, read_trial


def learn(folders: Iterable[Path]) -> tuple[str, ...]:
    """The names of these metrics, of all runs in the folders. What cannot be read says so when it is compared."""
    found: dict[str, None] = {}
    for folder in folders:
        for here, below, files in os.walk(folder, followlinks=False):
            if "run.json" not in files:
                continue
            below.clear()
            found |= dict.fromkeys(_of_run(Path(here)))
    return tuple(found)


def _of_run(folder: Path) -> tuple[str, ...]:
    try:
        for id in Store(folder).ids:
            place = folder / "trials" / id
            if (place / TRIAL).exists():
                workload = read_json(place / TRIAL).get("workload")
                if not isinstance(workload, dict) or workload.get("tool") != "command":
                    return ()
                from ..analysis import program_metric  # takes a second to import

                return program_metric.learn(read_trial(place).workload)
    except (UserError, OSError, LookupError, TypeError):
        pass
    return ()
