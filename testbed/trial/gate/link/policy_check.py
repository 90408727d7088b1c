"""Checks of the gate: did a volume policy begin when it should, and drop what it should? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ....plan.link.stage import Policing
from ...evidence.case import Case
from ...evidence.policing import Policed
from ...evidence.stage import StageEvidence
from ...result import Finding

POLICY_TOLERANCE = 0.01


def policy(case: Case) -> Iterator[Finding]:
    """The policy drops nothing until the volume has come. After that it passes its rate, and what its bucket held."""
    for each in case.judged:
        if each.stage.policing is None or each.policed is None:
            continue
        for what in _faults(each.stage.policing, each.policed, each, case.trial.samples_interval_ns or 0):
            hint = "somebody changed the rules of the policy, or they count other packets"
            yield Finding("policy", "invalid", f"{each.where}: {what}", hint)
        yield from _notes(each.stage.policing, each.policed, each)


def _faults(policing: Policing, seen: Policed, each: StageEvidence, interval_ns: int) -> Iterator[str]:
    if seen.offered_bytes <= policing.after_bytes and seen.policed_packets:
        yield f"{seen.policed_packets} packets were policed before {policing.after_bytes} bytes had come"
    early = [came.bytes for came, dropped in seen.samples if dropped.packets and came.bytes <= policing.after_bytes]
    if early:
        yield f"packets were policed when {early[0]} of {policing.after_bytes} bytes had come"
    after = [(came, dropped) for came, dropped in seen.samples if came.bytes > policing.after_bytes]
    if len(after) > 1:
        (came, dropped), (last_came, last_dropped) = after[0], after[-1]
        seconds = (last_came.time_ns - came.time_ns) / 1e9
        passed = last_came.bytes - came.bytes - (last_dropped.bytes - dropped.bytes)
        most = policing.rate_bps / 8 * seconds * (1 + POLICY_TOLERANCE) + policing.bucket_bytes
        if passed > most:
            yield f"{passed} bytes passed in the {seconds:g} s after the volume, allowed were {most:.0f}"
    busy, span_ns = seen.passed_bps(), seen.span_ns
    if busy is None or span_ns is None:
        return
    # A bucket that ran empty within a sample interval holds, at its end, less than the rest of the interval brought.
    slack = policing.rate_bps * (POLICY_TOLERANCE + interval_ns / span_ns) + 2 * each.mtu_bytes * 8e9 / span_ns
    if abs(busy - policing.rate_bps) > slack:
        asked = f"{policing.rate_bps / 1e6:g} Mbit/s"
        yield f"{busy / 1e6:.2f} Mbit/s passed while packets were policed, asked were {asked}"


def _notes(policing: Policing, seen: Policed, each: StageEvidence) -> Iterator[Finding]:
    if seen.offered_bytes <= policing.after_bytes:
        what = f"{each.where}: only {seen.offered_bytes} of the {policing.after_bytes} bytes came"
        yield Finding("policy", "valid", what, "the policy never began: use a longer workload, or a smaller volume")
