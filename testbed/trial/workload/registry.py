"""The tools that trials can run. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ...model.workload import BUILT_IN, Workload
from ...plan.network import Plan
from ...plan.step import Step
from ..evidence.outcome import Outcome
from ..measured import ToolResult
from . import short_flow
from .tool import Tool

TOOLS: dict[str, Tool[Any]] = {
    each.tool: import_module(f".{each.tool}", __package__).TOOL for each in BUILT_IN
}  # each tool has its module here, named after it


KINDS: dict[type[Workload], Tool[Any]] = {short_flow.TOOL.workload: short_flow.TOOL}
"""What runs workloads that share the name of a tool with another kind."""


def tool_of(workload: Workload) -> Tool[Any]:
    """What runs a workload."""
    return KINDS.get(type(workload)) or TOOLS[workload.tool]


def register(tool: Tool[Any]) -> None:
    """Adds a tool from outside this package; model.workload.tool adds its keys."""
    assert tool.workload.tool not in TOOLS, f"BUG: two tools with the name {tool.workload.tool!r}"
    TOOLS[tool.workload.tool] = tool


def workloads() -> tuple[type[Workload], ...]:
    """The class of each tool, in the order in which messages name them."""
    return tuple(tool.workload for tool in TOOLS.values())


def results() -> tuple[type[ToolResult], ...]:
    """What tools measure, each type once."""
    found: list[type[ToolResult]] = [each.result for each in (*TOOLS.values(), *KINDS.values()) if each.result]
    return tuple(dict.fromkeys(found))


def versions(*, apart: bool) -> dict[str, tuple[str, ...]]:
    """The programs of tools, each with the words that print its version; if `apart`, only those of tools whose ends
    need not be in one kernel.
    """
    programs = (program for each in workloads() if not (apart and each.one_kernel) for program in each.programs)
    return {program.name: (program.name, program.version) for program in programs}


def steps(workload: Workload, plan: Plan, seed: int) -> Sequence[Step]:
    """The steps that run a workload."""
    return tool_of(workload).steps(workload, plan, seed)


def gather(workload: Workload, plan: Plan, folder: Path) -> None:
    """Joins what a workload left on several kernels. Raises TrialError if something is missing."""
    join = tool_of(workload).gather
    if join is not None:
        join(workload, plan, folder)


def read(workload: Workload, folder: Path) -> Outcome:
    """What a workload's output files in a trial's folder say. Raises TrialError if they make no sense."""
    return tool_of(workload).read(workload, folder)


def begin(workload: Workload) -> tuple[str, str] | None:
    """The file and the pattern in it by which a workload reports its start; None if it does not."""
    return tool_of(workload).begin


def comments(workload: Workload, plan: Plan, seed: int) -> str:
    """What was drawn for a workload, in lines of comment; empty if nothing was."""
    made = tool_of(workload).comments
    return "" if made is None else made(workload, plan, seed)
