"""What `testbed run --dry-run` prints: what a run would do, and how long it would take. Prints."""

from __future__ import annotations

import json

from ...kernel.consumption import available_bytes
from ...model.scenario import Scenario
from ...sweep.run import Sweep
from ...sweep.shard import Shard
from ...units import counted
from ..screen import duration
from ..text_table import Format


def foretell(scenario: Scenario, prepared: Sweep, jobs: int, format: Format, shard: Shard | None) -> None:
    """Prints how many trials there are, how long those take that are not done, and the memory that they need."""
    folder = prepared.store
    waiting, undecided = prepared.waiting, prepared.queue.undecided
    forecast = prepared.forecast
    wall_s = forecast.total_s([trial.params for trial in waiting], jobs) if waiting else 0.0
    most_s = forecast.total_s(prepared.queue.possible, jobs) if waiting else 0.0
    touched = max((forecast.touched_bytes(trial.params) for trial in waiting), default=0)
    source = (
        f"learned from {counted(forecast.trials, 'finished trial')}"
        if forecast.trials
        else "built-in values, as no trial is finished"
    )
    said = {
        "scenario": scenario.name,
        "size": scenario.size,
        "note": scenario.quick_note,
        "folder": str(folder.path),
        "cells": len(scenario.cells),
        "trials": len(prepared.ids),
        "trials_most": len(prepared.ids) + undecided,
        "found": len(prepared.done),
        "waiting": len(waiting),
        "jobs": jobs,
        "wall_s": wall_s,
        "wall_most_s": most_s,
        "estimate": source,
        "memory_bytes": prepared.memory_bytes if waiting else None,
        "touched_bytes": touched if waiting else None,
        "available_bytes": available_bytes(),
        "shard": None if shard is None else str(shard),
    }
    if format is Format.json:
        print(json.dumps(said, indent=1))
        return
    trials = f"{len(prepared.ids)}" + (f", up to {said['trials_most']} (until)" if undecided else "")
    print(f"scenario: {scenario.name}, {scenario.size} size")
    if scenario.quick_note:
        print(f"scaled:   {scenario.quick_note}")
    print(f"cells:    {len(scenario.cells)}")
    print(f"trials:   {trials}")
    print(f"found:    {len(prepared.done)} in {folder.path}")
    print(f"waiting:  {len(waiting)}" + ("" if shard is None else f" in shard {shard}"))
    if waiting:
        most = f", up to {duration(most_s)}" if undecided else ""
        print(f"estimate: {duration(wall_s)}{most} with {jobs} job{'s' if jobs > 1 else ''} ({source})")
        free = f"{available_bytes() >> 20} MiB are free"
        print(f"memory:   {prepared.memory_bytes >> 20} MiB for the largest trial, about {touched >> 20} taken; {free}")
