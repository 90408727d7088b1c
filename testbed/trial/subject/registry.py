"""All that a trial looks at. Pure, no I/O."""

from __future__ import annotations

from typing import Any

from ..evidence.case import Subject
from .ack import ACKS
from .bpf import BPF
from .cable import CABLES
from .capture import CAPTURES
from .control_module import CONTROL_MODULES
from .dhcp import DHCP
from .event import EVENTS
from .filter import FILTERS
from .host_counter import HOST_COUNTERS
from .machine import MACHINES, VMS
from .network import NETWORK
from .openflow import OPENFLOW
from .round_trip import ROUND_TRIPS
from .routing import ROUTING
from .taint import TAINT

SUBJECTS: list[Subject[Any]] = [
    OPENFLOW,
    ROUTING,
    DHCP,
    FILTERS,
    NETWORK,
    HOST_COUNTERS,
    CONTROL_MODULES,
    BPF,
    MACHINES,
    CABLES,
    CAPTURES,
    VMS,
    ROUND_TRIPS,
    ACKS,
    EVENTS,
    TAINT,
]
"""In the order of their steps at one time, and of their findings. A package outside the testbed appends its own."""
