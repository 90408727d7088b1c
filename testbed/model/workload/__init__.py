"""What runs over a topology, as values: the facts that every tool states, and a class for each tool. Pure, no I/O."""

from .command import CommandWorkload
from .fact import AskedFlow, ControlConnection, DataPorts, Program, SocketFact, Transfer, Workload
from .http import HttpWorkload
from .short_flow import ShortFlowWorkload
from .tool import BUILT_IN, FLOWS_MAX, WINDOW_MAX_BYTES, FlowWorkload, Iperf3Workload, PingWorkload, UdpWorkload

__all__ = [
    "BUILT_IN",
    "FLOWS_MAX",
    "WINDOW_MAX_BYTES",
    "AskedFlow",
    "CommandWorkload",
    "ControlConnection",
    "DataPorts",
    "FlowWorkload",
    "HttpWorkload",
    "Iperf3Workload",
    "PingWorkload",
    "Program",
    "ShortFlowWorkload",
    "SocketFact",
    "Transfer",
    "UdpWorkload",
    "Workload",
]
