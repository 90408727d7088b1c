"""Checks of the gate: does the kernel have what the plan asked for, all of it and nothing else, before the workload and
after it? Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....plan.link import fault
from ....plan.link.impairment import Context, Setting, settings
from ....plan.link.stage import BUFFER, DELAY, PER_FLOW, POLICE, RATE, Stage, State
from ...evidence.case import Case
from ...evidence.interval import Timeline
from ...evidence.stage import StageEvidence
from ...observe.readback import Qdisc
from ...result import Finding
from ...subject.network import HINT

FIFO = "pfifo"
"""The kind of a buffer in packets, where no queue was asked."""

TOLD_TWICE = frozenset({"delay", "jitter", "limit"})
"""Numbers of netem that Qdisc has as fields too."""


def queues(case: Case) -> Iterator[Finding]:
    """Compares what was read back over netlink of every emulator with what was asked."""
    for each in (*case.evidence.stages, *case.evidence.beside, *case.evidence.channels):
        context = case.context(each)
        before = tuple(differences(each.stage, each.stage.start, each.qdiscs, context))
        last = last_state(each.stage, case.evidence.timeline)
        after = tuple(differences(each.stage, last, each.qdiscs_after, context))
        for what in before:
            yield _finding(each, what)
        for what in after:
            if what not in before:
                yield _finding(each, f"{what} after the workload")


def last_state(stage: Stage, timeline: Timeline | None) -> State:
    """The state at the end of the workload: that of the last change that happened."""
    came = set() if timeline is None else timeline.moments.keys()
    return next((state for state in reversed(stage.states) if state.at_ns in came), stage.start)


def differences(stage: Stage, state: State, qdiscs: Mapping[str, Qdisc], context: Context) -> Iterator[str]:
    """What differs between what was asked of a stage in a state and what the kernel has, in words; and what it has that
    was not asked for.
    """
    kind = state.queue.type if state.queue else FIFO
    found = qdiscs[BUFFER].kind if BUFFER in qdiscs else None
    if found != kind and (state.queue or found):
        yield f"queue: asked {kind}, the kernel has {found or 'none'}"
        return
    asked = tuple(settings(stage, state, context))
    for setting in asked:
        seen = _seen(setting, qdiscs)
        if seen is None and setting.may_be_absent:
            continue
        if seen is None or abs(seen - setting.asked) > setting.slack:
            yield f"{setting.what}: asked {setting.asked}, the kernel has {'none' if seen is None else seen}"
    for handle in (DELAY, RATE, BUFFER, POLICE, PER_FLOW, *fault.HANDLES):
        known = {setting.name for setting in asked if setting.handle == handle} | TOLD_TWICE
        for name, number in qdiscs[handle].more.items() if handle in qdiscs else ():
            if number and name not in known:
                yield f"{name} of {qdiscs[handle].kind}: not asked for, the kernel has {number}"


def _seen(setting: Setting, qdiscs: Mapping[str, Qdisc]) -> int | None:
    qdisc = qdiscs.get(setting.handle)
    return None if qdisc is None else qdisc.value(setting.name)


def _finding(each: StageEvidence, what: str) -> Finding:
    return Finding("set-up", "invalid", f"{each.where}: {what}", HINT)
