"""What a trial asks for in vain, which no kernel refuses. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.data_path import lowest_rate_bps
from ...model.firewall import data_denied_by, denied_by
from ...model.scenario import Trial
from ...plan.network import Plan
from ...units import format_time
from ..evidence.case import Case
from ..result import Finding

NEEDS_MARKS = frozenset({"dctcp", "prague"})
"""Congestion controls that expect the path's queues to mark packets (ECN), and slow down by how many were."""
ECN_SYSCTL = "net.ipv4.tcp_ecn"
ASKS_FOR_ECN = frozenset({"1", "3", "4", "5"})
"""Values of the sysctl with which connections ask for ECN; with the others they only answer. Above 2 is AccECN."""

Remark = tuple[str, str, str]
"""What it is about, a clause, and a hint."""


def remarks(trial: Trial, planned: Plan) -> Iterator[Remark]:
    yield from _without_marks(trial, planned)
    yield from _denied(trial, planned)
    length_ns = trial.workload.length_ns
    if length_ns is not None:
        for what in changes_from(trial, planned, length_ns):
            yield "schedule", f"{what} never happens", f"the workload is over after {format_time(length_ns)}"


def _denied(trial: Trial, planned: Plan) -> Iterator[Remark]:
    """A gate takes pings and datagrams that a firewall denies for what was asked; TCP has no connection then."""
    if planned.data_path is None:
        return
    is_ping = trial.workload.echo_bytes is not None
    name = (
        denied_by(trial.topology, planned.data_path, "icmp")
        if is_ping
        else data_denied_by(trial.topology, planned.data_path, trial.workload)
    )
    if name is not None:
        what = f"the firewall of {name} denies what {trial.workload.source} sends to {trial.workload.destination}"
        yield "firewall", what, f"if that is not meant, allow it in a rule of {name} before"


def changes_from(trial: Trial, planned: Plan, end_ns: int) -> Iterator[str]:
    """The changes of links that are due at the end of the workload or later; events come when they come."""
    passed = {link.name for link in planned.links}
    for link in trial.topology.links:
        for change in link.schedule if link.name in passed else ():
            if change.at_ns >= end_ns and change.when is None:
                yield f"{link.name}: the change at {change.at_ns / 1e9:g} s"


def in_vain(case: Case) -> Iterator[Finding]:
    """What a trial asks for in vain as notes of the gate, which knows itself when the workload was over; none of them
    is a fault.
    """
    said = _without_marks(case.trial, case.plan)
    return (Finding(check, "valid", what, hint) for check, what, hint in said)


def _without_marks(trial: Trial, planned: Plan) -> Iterator[Remark]:
    """The queues of a rate hold and drop packets (pfifo, tbf, and netem under htb), and mark none; others are asked."""
    wanted = sorted(trial.controls & NEEDS_MARKS)
    if (ECN_SYSCTL, True) in {(name, value in ASKS_FOR_ECN) for name, value in trial.sysctls}:
        wanted.append(ECN_SYSCTL)
    wanted += [f"{node.name} with ecn {node.ecn}" for node in trial.topology.nodes if node.ecn not in (None, "off")]
    queues = [state.queue for each in planned.emulators for stage in each.stages for state in stage.history]
    if any(queue is not None and queue.asked.marks for queue in queues):
        return
    if not wanted or planned.data_path is None or lowest_rate_bps(planned.data_path.path) is None:
        return
    what = f"{', '.join(wanted)} asks the path's queues to mark packets (ECN), and they can only drop"
    yield "ECN", what, "without marks dctcp reacts to losses alone, as reno does: read the result so"
