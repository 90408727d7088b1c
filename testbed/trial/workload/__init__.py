"""What runs over a network: for each tool the steps that run it, and what its output says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...model.workload import FlowWorkload, HttpWorkload, Iperf3Workload, PingWorkload, UdpWorkload, Workload
from ...plan.network import Plan
from . import flow, http, iperf3, ping, udp
from .outcome import Outcome

_TOOLS = {FlowWorkload: flow, Iperf3Workload: iperf3, PingWorkload: ping, UdpWorkload: udp, HttpWorkload: http}

PROGRAMS: dict[type[Workload], tuple[str, ...]] = {HttpWorkload: ("nginx", "curl")}
"""What a tool needs of the machine that not every trial does."""


def steps(workload: Workload, plan: Plan, seed: int) -> list[dict[str, Any]]:
    """The steps that run the workload; they name their output files after the tool. `seed` draws what is drawn."""
    return _TOOLS[type(workload)].steps(workload, plan, seed)  # type: ignore[no-any-return]


def read(workload: Workload, folder: Path) -> Outcome:
    """What the workload's output files in a trial's folder say. Raises TrialError if they make no sense."""
    return _TOOLS[type(workload)].read(workload, folder)  # type: ignore[no-any-return]


def begin(workload: Workload) -> tuple[str, str] | None:
    """The file and the pattern in it by which a tool says, while it runs, when it began (ns of CLOCK_MONOTONIC); None
    for a tool that does not.
    """
    return getattr(_TOOLS[type(workload)], "BEGIN", None)
