"""What runs over a topology, as values: the facts that every tool states, and a class for each tool. Pure, no I/O."""

from .command import CommandWorkload
from .fact import (
    FLOWS_MAX,
    WINDOW_MAX_BYTES,
    AskedFlow,
    ControlConnection,
    DataPorts,
    Program,
    SocketFact,
    ToolKeys,
    Transfer,
    Workload,
    measure_faults,
)
from .flow import FlowWorkload, ShortFlowWorkload
from .http import HttpWorkload
from .iperf3 import Iperf3Workload
from .ping import PingWorkload
from .tool import BUILT_IN
from .udp import UdpWorkload

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
    "ToolKeys",
    "Transfer",
    "UdpWorkload",
    "Workload",
    "measure_faults",
]
