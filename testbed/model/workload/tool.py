"""The tools that scenario files can name, each with its keys. Pure, no I/O.

The steps that run a tool and what its output says: trial.workload.
"""

from __future__ import annotations

from ...codec.kind import variant
from .command import CommandWorkload
from .command_keys import CommandKeys
from .fact import ToolKeys, Workload
from .flow import FlowKeys, FlowWorkload
from .http import HttpWorkload
from .iperf3 import Iperf3Workload
from .ping import PingWorkload
from .udp import UdpWorkload

BUILT_IN: tuple[type[Workload], ...] = (
    FlowWorkload,
    Iperf3Workload,
    PingWorkload,
    UdpWorkload,
    HttpWorkload,
    CommandWorkload,
)
"""In the order in which messages name them. `trial.workload` has a module for each, which is named after its tool."""

TOOLS: dict[str, type[ToolKeys]] = {
    each.tool: each for each in (FlowKeys, Iperf3Workload, PingWorkload, UdpWorkload, HttpWorkload, CommandKeys)
}
"""The keys of each tool, by its name."""

WORKLOAD = variant("tool", TOOLS)


def register(keys: type[ToolKeys]) -> None:
    """Takes in a tool from outside; trial.workload.registry takes in what runs it."""
    assert keys.tool not in TOOLS, f"BUG: two tools with the name {keys.tool!r}"
    TOOLS[keys.tool] = keys


def keys_of(workload: Workload) -> ToolKeys:
    """The keys of a workload; their `workload()` is the value again."""
    return TOOLS[workload.tool].of(workload)
