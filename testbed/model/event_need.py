"""What the events of schedules need of a trial, so that they can come. Pure, no I/O.

A fault's path begins at the schedule of its link: which entry of it, from 0, and a key.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..codec.fault import Fault
from ..units import format_time
from .background import Backgrounds, Constant
from .event import OF_BBR, OF_OTHERS, PHASES, When
from .run_setting import LAB, Kernel
from .topology import Link, Topology
from .workload import FlowWorkload, Workload
from .workload.control import OF_LINUX


def event_faults(
    link: Link, topology: Topology, workload: Workload, background: Backgrounds, kernel: Kernel
) -> Iterator[Fault]:
    """Events of a link that nobody could see in such a trial: of a flow that there is not, of phases that its
    congestion control does not have, and but in virtual time.
    """
    others = {name: each for name, each in background if not isinstance(each, Constant)}
    for place, change in enumerate(link.schedule):
        if change.when is None:
            continue
        flow, at = change.when.flow, (place, "when")
        if not kernel.is_virtual_time:
            what = f"in real time a sender that is looked at every millisecond is slower (kernel: {kernel.kind})"
            yield Fault(at, what, "kernel: lab, or a change at a time", named=True)
        elif any(node.finds_routes for node in topology.nodes):
            what = "routing daemons would find other ways at a time that nobody knows beforehand"
            yield Fault(at, what, "a change at a time", named=True)
        elif isinstance(flow, int) and flow >= (flows := _numbered(workload)):
            yield _no_number((*at, "flow"), flow, flows, workload, tuple(others))
        elif isinstance(flow, str) and flow not in others:
            what = f"no background of TCP has the name {flow!r}"
            yield Fault((*at, "flow"), what, ", ".join(others) or "a number, from 0", named=True)
        else:
            source = others[flow].source if isinstance(flow, str) else workload.source
            if topology.node(source).kind.has_own_kernel:
                what = f"{source} has a kernel of its own, in which nobody looks"
                yield Fault((*at, "flow"), what, "a flow from a host", named=True)
            control = others[flow].congestion if isinstance(flow, str) else workload.asked_flows[flow].congestion
            yield from _no_phase((*at, "phase"), change.when, control if kernel == LAB else None)


def late_faults(link: Link, workload: Workload) -> Iterator[Fault]:
    """Events of a link that are looked for from the end of the workload on, so that they never come. A change at a time
    may be one of a longer workload's.
    """
    length_ns = workload.length_ns
    if length_ns is None:
        return
    for place, change in enumerate(link.schedule):
        if change.when is not None and change.at_ns >= length_ns:
            what = f"the workload is over after {format_time(length_ns)}, so this never comes"
            yield Fault((place, "after"), what, f"less than {format_time(length_ns)}", named=True)


def _no_phase(at: tuple[str | int, ...], when: When, control: str | None) -> Iterator[Fault]:
    """A control of somebody, and any in a kernel of somebody (None), may tell any phase: nobody knows it here."""
    told = OF_BBR if control == "bbr" else OF_OTHERS if control in OF_LINUX else PHASES
    if when.phases and {*told}.isdisjoint(when.phases):
        what = f"{control} is never in {' or '.join(when.phases)}"
        yield Fault(at, what, f"{', '.join(told)}; in a list with one of them, others too", named=True)


def _numbered(workload: Workload) -> int:
    """How many flows have numbers that an event can name."""
    return workload.flows if isinstance(workload, FlowWorkload) and workload.data_ports else 0


def _no_number(at: tuple[str | int, ...], flow: int, flows: int, workload: Workload, others: tuple[str, ...]) -> Fault:
    allowed = "0" if flows == 1 else f"0 to {flows - 1}"
    tool = "tool: flow" if workload.tool != FlowWorkload.tool else "flows, and no arrivals and requests"
    what = f"the workload has no flow {flow}" if flows else f"no flow of tool: {workload.tool} has a number"
    other = f", or a background ({', '.join(others)})" if others else ""
    return Fault(at, what, f"{allowed if flows else tool}{other}", named=True)
