"""Checks of the gate: did every queue have its settings all the time? Pure, no I/O.

Each look at a queue tells all of its settings, byte for byte; nothing in them changes by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ...evidence.case import Case
from ...evidence.interval import Happened
from ...evidence.stage import StageEvidence, Told
from ...result import Finding


def kept(case: Case) -> Iterator[Finding]:
    """From one look to the next the settings of a queue change only if a schedule changes something meanwhile."""
    timeline = case.evidence.timeline
    moments = () if timeline is None else tuple(timeline.moments.values())
    for each in case.judged:
        for what in _changes(case, each, moments):
            hint = "somebody set it up again while the workload ran"
            yield Finding("set-up", "invalid", f"{each.where}: {what}", hint)
            break


def _changes(case: Case, each: StageEvidence, moments: tuple[Happened, ...]) -> Iterator[str]:
    for handle, told in sorted(each.settings.items()):
        for one, later in pairwise(told):
            if not any(moment.begin_ns <= later.first_ns and one.last_ns <= moment.end_ns for moment in moments):
                yield f"the queue {handle} had other settings {_when(case, later)} than at the look before"


def _when(case: Case, told: Told) -> str:
    begin_ns = case.evidence.outcome.begin_ns
    if begin_ns is None:
        return "from one look on"
    first, last = ((at_ns - begin_ns) / 1e9 for at_ns in (told.first_ns, told.last_ns))
    return f"from {first:.3g} s to {last:.3g} s of the workload"
