"""The trial's side of a workload tool, as a value. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, TypeVar

from ...codec.frozen import dataclass
from ...model.workload import Workload
from ...plan.network import Plan
from ...plan.step import Step
from ..evidence.case import Case
from ..evidence.outcome import Outcome
from ..measured import ToolResult, find
from ..result import Finding, Verdict

W = TypeVar("W", bound=Workload)


@dataclass(frozen=True)
class Tool(Generic[W]):
    """How to run a tool, and to read its output.

    `steps` makes the steps that run a workload over a plan, with a seed for random draws; they name their output files
    after the tool. `read` reads these files in a trial's folder, and raises TrialError if they make no sense. `begin`
    is the file and the pattern in it by which the running tool reports its start (ns of CLOCK_MONOTONIC); None if the
    tool does not. `tells` are the fields of the outcome and of each flow that are always there, `result` is the type of
    what only this tool measures (None: nothing), `always` or not: the gate refuses a trial without them. `faults` says
    what does not add up in that, `checks` compare it with what was asked, `host_checks` say whether hosts held it back.
    `comments` says what was drawn, in lines of comment for the script of a plan, from the same as `steps`; None if
    nothing is drawn. `runs_programs`: of the user, which open sockets as they like. `gather` joins what it left on
    several kernels, before `read`; None if it needs no joining.
    """

    workload: type[W]
    steps: Callable[[W, Plan, int], Sequence[Step]]
    read: Callable[[W, Path], Outcome]
    begin: tuple[str, str] | None
    tells: frozenset[str] = frozenset()
    result: type[ToolResult] | None = None
    always: bool = True
    runs_programs: bool = False
    faults: Callable[[Case, Any], Iterator[str]] | None = None
    checks: tuple[Callable[[Case, Any], Iterator[Finding]], ...] = ()
    host_checks: tuple[Callable[[Case, Any], Iterator[Finding]], ...] = ()
    comments: Callable[[W, Plan, int], str] | None = None
    gather: Callable[[W, Plan, Path], None] | None = None

    def measured(self, case: Case) -> ToolResult | None:
        """What only this tool measures."""
        return None if self.result is None else find(self.result, case.evidence.outcome.measured)

    def judged(self, case: Case, checks: tuple[Callable[[Case, Any], Iterator[Finding]], ...]) -> Iterator[Finding]:
        """What checks find; nothing where the tool should have measured something, and did not."""
        found = self.measured(case)
        return (one for check in checks if found or self.result is None for one in check(case, found))


def other_load(text: str, verdict: Verdict = "invalid") -> Finding:
    """The tool sent something else than it was asked to send."""
    return Finding("load", verdict, text, "the tool was given other options than the plan says")


def rises(times: list[float], *, or_stays: bool = False) -> bool:
    return all(one < later or (or_stays and one == later) for one, later in pairwise(times))
