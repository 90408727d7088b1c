"""Checks of the gate: did the tool send what it was asked to send, to the ports of its data? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence.case import Case
from ..result import Finding
from ..workload.tool import other_load


def ports(case: Case) -> Iterator[Finding]:
    """Flows go to the ports of the data, one after the other: captures and samples know them by these."""
    asked = case.trial.workload.data_ports
    if asked is None:
        return
    for number, flow in enumerate(case.evidence.outcome.flows):
        expected = asked.destination[0] + number
        if flow.port is not None and flow.port != expected:
            yield other_load(f"flow {number + 1} went to port {flow.port}, asked was {expected}")


def sizes(case: Case) -> Iterator[Finding]:
    """A flow that was asked for an amount brought exactly that."""
    load = case.trial.workload.load
    asked_bytes = load[0].flow_bytes if len(load) == 1 and load[0].times == 1 else None
    if asked_bytes is None:
        return
    for number, flow in enumerate(case.evidence.outcome.flows, 1):
        if flow.received_bytes is not None and flow.received_bytes != asked_bytes:
            yield other_load(f"flow {number} brought {flow.received_bytes} bytes, asked were {asked_bytes}")
