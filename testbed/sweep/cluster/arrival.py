"""What arrives from a worker: checked, and stored as if it had been measured here. Writes files of a run's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...codec.frozen import dataclass
from ...error import TestbedError
from ...kernel.guest import TrialError
from ...kernel.parcel import ParcelError, unpack
from ...model.scenario import Trial
from ...trial.folder import PROVENANCE, TRIAL, read_json, read_result
from ...trial.result import TrialResult
from ..store import Store
from .flight import Trouble
from .kernel_parcel import KernelId
from .task import Outcome, Task


@dataclass(frozen=True)
class Expected:
    """What a trial is to run on. `provenance` is what its result must say of itself; None: no matter what."""

    kernel: KernelId
    provenance: Mapping[str, Any] | None


def stored(store: Store, trial: Trial, task: Task, outcome: Outcome, expected: Expected, worker: str) -> TrialResult:
    """The result, which is in the store now. `worker` is for messages.

    Raises TrialError if the trial failed, and Trouble for what is no result of this trial.
    """
    with store.writing(trial) as folder:
        try:
            if outcome.parcel is not None:
                unpack(outcome.parcel, folder)
        except ParcelError as error:
            raise Trouble(f"{worker}: {error}") from None
        if outcome.ending != "finished":
            raise TrialError(outcome.said)
        return _checked(folder, trial, task, expected, worker)


def _checked(folder: Path, trial: Trial, task: Task, expected: Expected, worker: str) -> TrialResult:
    try:
        if read_json(folder / TRIAL) != json.loads(task.spec):
            raise Trouble(f"{worker} sent the result of another trial")
        if expected.provenance is not None and read_json(folder / PROVENANCE) != expected.provenance:
            raise Trouble(f"{worker} measured with other software than it said")
        result = read_result(folder)
        if result.id != trial.id:
            raise Trouble(f"{worker} sent the result of {result.id!r}")
        return result
    except TestbedError as error:
        raise Trouble(f"{worker} sent a result that cannot be read: {error}") from None
