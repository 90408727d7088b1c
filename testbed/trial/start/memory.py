"""How much memory a lab kernel needs for a trial. Pure, no I/O."""

from __future__ import annotations

import math

from ...model.workload import Workload
from ...plan import mininet
from ...plan.link.stage import frame_bytes
from ...plan.network import Plan

BASE_BYTES = 192 << 20
NODE_BYTES = 1 << 20
FLOW_BYTES = 8 << 20
OVERHEAD = 1.6
"""How much memory the kernel counts for each byte of TCP payload in an MTU packet (sk_buff and its head)."""
COPIES = 2
"""A packet in flight is also in the sender's retransmission queue, and may wait at the receiver out of order."""
MAP_SHARE = 1 / 60
"""The kernel's own map of its memory: 64 bytes for a page of 4 096."""


MININET_BYTES, MININET_NODE_BYTES = 32 << 20, 3 << 20
"""Mininet's Python, and the shell of each of its nodes."""

BACKGROUND_FLOW_BYTES = 64 << 10
"""For each flow of a background: two threads and two sockets, most of which exist only for a while."""


def memory_bytes(plan: Plan, workload: Workload | None, background_flows: int = 0, background_bps: int = 0) -> int:
    """A ceiling for the guest, rounded up to whole MiB: base + nodes + flows + 2 × 1.6 × what the path and its buffers
    hold + the tool's own memory. `background_bps` is the rate of the background's datagrams.
    """
    path_bytes = 0.0
    unyielding_bps = 0 if workload is None else workload.unyielding_bps
    fastest_bps = max((stage.fastest_bps for emulator in plan.emulators for stage in emulator.stages), default=0)
    for emulator in plan.emulators:
        for stage in emulator.stages:
            # The delay comes before the rate: faster datagrams, or without a rate the traffic of other links, fill it.
            rate_bps = max(stage.fastest_bps or fastest_bps, unyielding_bps, background_bps)
            path_bytes += rate_bps * max(state.asked.delay_ns for state in stage.history) / 8e9
            path_bytes += stage.buffer_bytes(emulator.mtu_bytes)
            path_bytes += stage.flow_bytes * (1 if workload is None else workload.connections)
    fastest_bps = max(fastest_bps, *(port.rate_bps or 0 for port in plan.tc_ports), unyielding_bps, 0)
    for port in plan.tc_ports:
        held = port.limit * frame_bytes(port.mtu_bytes) if port.rate_bps else fastest_bps * port.delay_ns / 8e9
        path_bytes += held
    flows = 1 if workload is None else workload.connections
    buffers = BACKGROUND_FLOW_BYTES * background_flows + FLOW_BYTES * len(plan.background)
    buffers += 0 if workload is None else workload.buffer_bytes
    if plan.count(mininet.Build):
        buffers += MININET_BYTES + MININET_NODE_BYTES * plan.namespaces
    total = (
        BASE_BYTES
        + NODE_BYTES * plan.namespaces
        + plan.programs_bytes
        + FLOW_BYTES * flows
        + OVERHEAD * COPIES * path_bytes
        + buffers
    )
    return math.ceil(total * (1 + MAP_SHARE) / 2**20) << 20
