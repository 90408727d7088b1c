"""Checks of the gate for `tool: command`: what programs yielded, and whether the hosts' counters bear it out. Pure, no
I/O.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...model.workload.command import CommandWorkload
from .. import measured
from ..evidence.case import Case
from ..measured import CommandResult
from ..stored_result import Finding

COUNTED = 0.99
"""The least share of the bytes that a program transferred which must have come in packets."""

EARLY_S, LAB_LATE_S, REAL_LATE_S = 1e-6, 0.001, 0.5
"""By how much a run may begin sooner or later than asked."""


def values(case: Case) -> Iterator[Finding]:
    """Every run said every number that was asked for."""
    found = _found(case)
    if found is None:
        return
    workload, result = found
    for measure in workload.measures:
        value = result.values.get(measure.name)
        reason = "" if value is None or not value.missing else f" ({value.missing[0]})"
        if value is None or not value.values or value.mean is None:
            what = f"missing: {measure.name}{reason}"
            yield Finding("measure", "invalid", what, "look at the program's output, command-*.out and .err")
    for pattern in result.uncollected:
        what = f"no program left a file {pattern}"
        yield Finding("collect", "suspect", what, "look at what the programs wrote, and at the pattern")


def starts(case: Case) -> Iterator[Finding]:
    """Every client began when it was to, and paused between its runs as long as asked."""
    found = _found(case)
    if found is None:
        return
    workload, result = found
    if result.left:  # what a program left behind is ended first
        return
    is_real = not case.virtual or any(each.at in case.plan.remote for each in workload.clients)
    for client in workload.clients:
        due_s = client.start_ns / 1e9
        for run in sorted((each for each in result.runs if each.program == client.name), key=lambda each: each.number):
            late_s = run.begin_s - due_s
            if not -EARLY_S <= late_s <= (REAL_LATE_S if is_real else LAB_LATE_S):
                what = f"run {run.number} of {client.name} began at {run.begin_s:g} s, asked was {due_s:g} s"
                busy = is_real and late_s > 0
                hint = "the machine is too busy" if busy else "the programs were started in another way"
                yield Finding("programs", "suspect" if busy else "invalid", what, hint)
                break
            due_s = run.begin_s + run.elapsed_s + client.pause_ns / 1e9


def traffic(case: Case) -> Iterator[Finding]:
    """Data arrived where it was to arrive, as much as the programs say, and found room in the sockets."""
    found = _found(case)
    if found is None:
        return
    workload, result = found
    for host in workload.hosts:
        if host not in result.traffic:
            yield Finding("evidence", "invalid", f"missing: the counters of {host}", "a file of the trial is not whole")
            return
    there = result.traffic[workload.destination]
    if not there.tcp_in_segments and not there.udp_in_datagrams:
        what = f"{workload.destination} received no TCP and no UDP"
        yield Finding("data", "invalid", what, "the programs did not use the network, or 'to' is the wrong host")
    asked = workload.goodput
    for host, octets in _told(workload).items():
        came = result.traffic[host].payload_in_bytes
        if octets * COUNTED > came:
            what = f"the programs were to transfer {octets} bytes, and {came} came to {host}"
            yield Finding("data", "invalid", what, "they transferred less, compressed it, or 'to' is the wrong host")
    if asked is None and any(each.destination == workload.destination for _, each in case.trial.background):
        what = f"the counters of {workload.destination} count background traffic, too"
        yield Finding("goodput", "invalid", what, "say where the goodput comes from: measure: {goodput: …}")
    for host, each in result.traffic.items():
        if each.udp_lost_datagrams:
            what = f"{each.udp_lost_datagrams} datagrams were lost in sockets of {host}"
            yield Finding("receiver", "suspect", what, "its program reads too slowly, or asks for too small a buffer")


def _told(workload: CommandWorkload) -> dict[str, int]:
    """Hosts to what programs say that they received: the clients' own, or the destination that they send to."""
    told: dict[str, int] = {}
    octets = workload.goodput.run_bytes if workload.goodput is not None else None
    send = any(each.at == workload.source for each in workload.clients)
    for each in workload.clients if octets is not None else ():
        host = workload.destination if send else each.at
        told[host] = told.get(host, 0) + (octets or 0) * each.runs
    return told


def processes(case: Case) -> Iterator[Finding]:
    """No program left others behind, and every server ended when it was asked to."""
    found = _found(case)
    if found is None:
        return
    _, result = found
    for text in result.left:
        hint = "it was ended: run the program in the foreground, or as a server"
        yield Finding("programs", "suspect", f"{text} behind", hint)
    for name, how in result.stopped.items():
        if how == "killed":
            what = f"{name} did not end when it was asked to, and was killed"
            yield Finding("programs", "valid", what, "what it writes at its end is missing: another 'stop' signal?")


def _found(case: Case) -> tuple[CommandWorkload, CommandResult] | None:
    result = measured.find(CommandResult, case.evidence.outcome.measured)
    return (
        None
        if result is None or not isinstance(case.trial.workload, CommandWorkload)
        else (case.trial.workload, result)
    )
