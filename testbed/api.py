"""What programs outside this package may import from it, with `testbed.open`: results, analyses, published profiles,
running a scenario, and the tables of the command line. `testbed_reproductions` imports these names and no others.

What new tools, node types and metrics are registered with is in docs/extending.md.
"""

from __future__ import annotations

from .analysis import changepoint, concavity, series, statistic, tcp_model
from .analysis.concavity import Curve
from .analysis.profile import ThroughputProfile
from .codec.markup import escaped
from .commands.measure.audit import repeating
from .commands.measure.run import carry_out, prepare
from .commands.result_table import Format
from .commands.screen import duration
from .commands.terminal import Terminal, say
from .commands.text_table import Column, Table, show, terminal_width
from .compare import published
from .compare.published import Citation, Claim
from .error import MachineError, TestbedError, UserError, nearest
from .library import SCENARIOS
from .model.node.type import NODE_TYPES
from .model.scenario import Scenario
from .model.topology import Engine
from .spec.load import files_of, load_scenario
from .sweep.audit import Repeat, audit
from .sweep.audit import sample as audit_sample
from .sweep.run import Summary
from .sweep.store import Store
from .trial import software
from .trial.evidence.outcome import TcpResult
from .trial.folder import write_named
from .trial.measured import PingResult, need
from .trial.result import TrialResult
from .trial.sample_table import write_none
from .trial.workload.background import backgrounds
from .trial.workload.command import CommandResult
from .trial.workload.http import Download, HttpResult
from .trial.workload.udp import UdpResult, UdpSecond
from .units import counted, parse_one_in

__all__ = [
    "NODE_TYPES",
    "SCENARIOS",
    "Citation",
    "Claim",
    "Column",
    "CommandResult",
    "Curve",
    "Download",
    "Engine",
    "Format",
    "HttpResult",
    "MachineError",
    "PingResult",
    "Repeat",
    "Scenario",
    "Store",
    "Summary",
    "Table",
    "TcpResult",
    "Terminal",
    "TestbedError",
    "ThroughputProfile",
    "TrialResult",
    "UdpResult",
    "UdpSecond",
    "UserError",
    "audit",
    "audit_sample",
    "backgrounds",
    "carry_out",
    "changepoint",
    "concavity",
    "counted",
    "duration",
    "escaped",
    "files_of",
    "load_scenario",
    "nearest",
    "need",
    "parse_one_in",
    "prepare",
    "published",
    "repeating",
    "say",
    "series",
    "show",
    "software",
    "statistic",
    "tcp_model",
    "terminal_width",
    "write_named",
    "write_none",
]
