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
    """How to run a tool, and to read its output.

    `steps` makes the steps that run a workload over a plan, with a seed for random draws; they name their output files
    after the tool. `read` reads these files in a trial's folder, and raises TrialError if they make no sense. `begin`
    is the file and the pattern in it by which the running tool reports its start (ns of CLOCK_MONOTONIC); None if the
    tool does not. `tells` are the fields of the outcome and of each flow, and `measures` the keys of `measured`, that
    are always there: the gate refuses a trial without them. `comments` says what was drawn, in lines of comment for the
    script of a plan, from the same as `steps`; None if nothing is drawn. `gather` joins what it left on several
    kernels, before `read`; None if it needs no joining.
    """

    workload: type[W]
    steps: Callable[[W, Plan, int], Sequence[Step]]
    read: Callable[[W, Path], Outcome]
    begin: tuple[str, str] | None
    tells: frozenset[str] = frozenset()
    measures: frozenset[str] = frozenset()
    comments: Callable[[W, Plan, int], str] | None = None
    gather: Callable[[W, Plan, Path], None] | None = None
