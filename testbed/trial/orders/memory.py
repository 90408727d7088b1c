"""How much memory a lab kernel needs for a trial. Pure, no I/O."""

from __future__ import annotations

import math

from ...model.workload import FlowWorkload, HttpWorkload, Iperf3Workload, UdpWorkload, Workload
from ...plan.link.emulator import frame_bytes
from ...plan.link.stage import Stage
from ...plan.network import Plan

BASE_BYTES = 192 << 20
NODE_BYTES = 1 << 20
SWITCH_BYTES, CONTROLLER_BYTES = 48 << 20, 160 << 20
"""An Open vSwitch with its two daemons, and a controller with its interpreter and os-ken."""
FLOW_BYTES = 8 << 20
OVERHEAD = 1.6
"""Memory the kernel accounts for a byte of TCP payload in an MTU packet (sk_buff and its head)."""
COPIES = 2
"""What is on its way is also in the sender's retransmission queue, and may wait at the receiver out of order."""
MAP_SHARE = 1 / 60
"""The kernel's own map of its memory: 64 bytes for a page of 4 096."""


MININET_BYTES, MININET_NODE_BYTES = 32 << 20, 3 << 20
"""Mininet's Python, and the shell of each of its nodes."""

BACKGROUND_FLOW_BYTES = 64 << 10
"""A flow of the background: two threads and two sockets, most of which come and go."""
TMPFS_SHARE = 2
"""A tmpfs may take half of the guest's memory, and what a cache holds lies in one."""


def memory_bytes(plan: Plan, workload: Workload | None, background_flows: int = 0, background_bps: int = 0) -> int:
    """A ceiling for the guest, rounded up to whole MiB: base + nodes + flows + 2 × 1.6 × what the path and its buffers
    hold. iperf3 also fills fixed socket buffers with data of its own, two for each flow, and a cache is kept in memory.
    `background_bps` is what datagrams of the background bring.
    """
    path_bytes = 0.0
    fastest_bps = max((_rate_bps(stage) for emulator in plan.emulators for stage in emulator.stages), default=0)
    for emulator in plan.emulators:
        for stage in emulator.stages:
            # A delay stands before its rate: datagrams fill it faster, and without a rate what other links bring does.
            rate_bps = max(_rate_bps(stage) or fastest_bps, _offered_bps(workload), background_bps)
            path_bytes += rate_bps * max(state.asked.delay_ns for state in stage.history) / 8e9
            path_bytes += stage.buffer_bytes(emulator.mtu_bytes)
    fastest_bps = max(fastest_bps, *(port.rate_bps or 0 for port in plan.tc_ports), _offered_bps(workload), 0)
    for port in plan.tc_ports:
        held = port.limit * frame_bytes(port.mtu_bytes) if port.rate_bps else fastest_bps * port.delay_ns / 8e9
        path_bytes += held
    flows = workload.flows if isinstance(workload, FlowWorkload | Iperf3Workload | UdpWorkload) else 1
    buffers = BACKGROUND_FLOW_BYTES * background_flows + FLOW_BYTES * len(plan.background)
    if isinstance(workload, Iperf3Workload):
        buffers += flows * 2 * (workload.window_bytes or 0)
    if isinstance(workload, HttpWorkload):
        flows = 2 * workload.concurrency
        buffers += TMPFS_SHARE * _cached_bytes(workload)
    if any(command.tool == "mininet" for command in plan.commands):
        buffers += MININET_BYTES + MININET_NODE_BYTES * plan.namespaces
    openflow = SWITCH_BYTES * len(plan.datapaths) + CONTROLLER_BYTES * len(plan.channels)
    total = (
        BASE_BYTES
        + NODE_BYTES * plan.namespaces
        + openflow
        + FLOW_BYTES * flows
        + OVERHEAD * COPIES * path_bytes
        + buffers
    )
    return math.ceil(total * (1 + MAP_SHARE) / 2**20) << 20


def _rate_bps(stage: Stage) -> int:
    return max(state.asked.rate_bps or 0 for state in stage.history)


def _offered_bps(workload: Workload | None) -> int:
    """What comes whatever the path carries."""
    if isinstance(workload, UdpWorkload) or (isinstance(workload, Iperf3Workload) and workload.protocol == "udp"):
        return (workload.rate_bps or 0) * workload.flows
    return 0


def _cached_bytes(workload: HttpWorkload) -> int:
    """What the cache holds, and what it is fetching: clients that miss an object at the same time fetch it each."""
    if workload.cache is None:
        return 0
    copies = 1 if workload.warm else workload.concurrency
    return sum(workload.sizes_bytes) + copies * max(workload.sizes_bytes)
