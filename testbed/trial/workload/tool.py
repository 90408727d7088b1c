"""The trial's side of a workload tool, as a value. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from ...model.workload import Workload
from ...plan.network import Plan
from ...plan.step import Step
from .outcome import Outcome

W = TypeVar("W", bound=Workload)


@dataclass(frozen=True)
class Tool(Generic[W]):
    """How a tool is run, and what its output says.

    `steps` has the steps that run a workload over a plan; they name their output files after the tool, and the seed
    draws what is drawn. `read` reads these files in a trial's folder, and raises TrialError if they make no sense.
    `begin` is the file and the pattern in it by which the tool says, while it runs, when it began (ns of
    CLOCK_MONOTONIC); None for a tool that does not.
    """

    workload: type[W]
    steps: Callable[[W, Plan, int], Sequence[Step]]
    read: Callable[[W, Path], Outcome]
    begin: tuple[str, str] | None
