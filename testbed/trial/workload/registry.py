"""The tools that trials can run. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ...model.workload import BUILT_IN, Workload
from ...plan.network import Plan
from ...plan.step import Step
from .outcome import Outcome
from .tool import Tool

TOOLS: dict[str, Tool[Any]] = {
    each.tool: import_module(f".{each.tool}", __package__).TOOL for each in BUILT_IN
}  # each tool has its module here, named after it


def register(tool: Tool[Any]) -> None:
    """Adds a tool from outside this package; spec.workload.registry adds its keys."""
    assert tool.workload.tool not in TOOLS, f"BUG: two tools with the name {tool.workload.tool!r}"
    TOOLS[tool.workload.tool] = tool


def workloads() -> tuple[type[Workload], ...]:
    """The class of each tool, in the order in which messages name them."""
    return tuple(tool.workload for tool in TOOLS.values())


def versions(*, apart: bool) -> dict[str, tuple[str, ...]]:
    """The programs of tools, each with the words that print its version; if `apart`, only those of tools whose ends
    need not be in one kernel.
    """
    programs = (program for each in workloads() if not (apart and each.one_kernel) for program in each.programs)
    return {program.name: (program.name, program.version) for program in programs}


def steps(workload: Workload, plan: Plan, seed: int) -> Sequence[Step]:
    """The steps that run a workload."""
    return TOOLS[workload.tool].steps(workload, plan, seed)


def read(workload: Workload, folder: Path) -> Outcome:
    """What a workload's output files in a trial's folder say. Raises TrialError if they make no sense."""
    return TOOLS[workload.tool].read(workload, folder)


def begin(workload: Workload) -> tuple[str, str] | None:
    """The file and the pattern in it by which a workload reports its start; None if it does not."""
    return TOOLS[workload.tool].begin
