"""Checks of the gate: is everything there that the plan says must be looked at? What is missing is never a pass.

Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ....plan.link.stage import Emulator, Stage
from ....plan.node.namespace import node_netns
from ...evidence.case import Case
from ...evidence.outcome import TcpResult
from ...evidence.stage import StageEvidence, stages_beside, tc_beside
from ...result import Finding
from ...subject.observer import is_observed, passed
from ...subject.registry import SUBJECTS
from ...workload import background
from ...workload.registry import tool_of

SECOND_NS = 10**9

HINT = "a file of the trial's folder is not whole, or the kernel does not report it"


def present(case: Case) -> Iterator[Finding]:
    """One finding for each part that is missing. The other checks may take for granted what this one finds."""
    parts = (what for part in PARTS for what in part(case))
    things = (what for each in SUBJECTS for what in each.missing(case, case.of(each)))
    for what in (*parts, *things):
        yield Finding("evidence", "invalid", f"missing: {what}", HINT)


def reported(case: Case) -> Iterator[Finding]:
    """What computers and programs report by themselves."""
    return (found for each in SUBJECTS for found in each.reported(case, case.of(each)))


def _stages(case: Case) -> Iterator[str]:
    for is_data, found in ((True, case.evidence.data_stages), (False, case.evidence.answer_stages)):
        asked = [(emulator, emulator.stage(way)) for emulator, way in case.plan.emulators_passed(is_data=is_data)]
        yield from _emulated(asked, found)
        yield from _behind(case, asked, found)
    channels = [case.plan.emulator(channel.link.name) for channel in case.plan.channels]
    aside = [(emulator, stage) for emulator in channels if emulator is not None for stage in emulator.stages]
    yield from _emulated(aside, case.evidence.channels)
    yield from _emulated(stages_beside(case.plan), case.evidence.beside)
    yield from _behind(case, stages_beside(case.plan), case.evidence.beside)


def _behind(case: Case, asked: Iterable[tuple[Emulator, Stage]], found: tuple[StageEvidence, ...]) -> Iterator[str]:
    """What the next node counts of what a bucket sent that cuts superpackets itself."""
    told = {(each.link, each.stage.way) for each in found if each.left_packets is not None}
    looked_at = {node for node in passed(case.trial, case.plan) if is_observed(case.plan, node)}
    for emulator, stage in asked:
        end = case.trial.topology.link(emulator.link).leads_to(stage.way)
        if stage.cuts_late and (emulator.link, stage.way) not in told and end in looked_at:
            yield f"the frames that left the link {emulator.link} {stage.way}"


def _emulated(asked: Iterable[tuple[Emulator, Stage]], found: tuple[StageEvidence, ...]) -> Iterator[str]:
    told = {(each.link, each.stage.way): each for each in found}
    for emulator, stage in asked:
        seen = told.get((emulator.link, stage.way))
        if seen is None or seen.mtu_bytes != emulator.mtu_bytes:
            yield f"the emulator of the link {emulator.link} {stage.way}"
        elif seen.around is None and (stage.asked.rate_bps or (stage.asked.delay_ns and not stage.states)):
            yield f"the queue of the link {emulator.link} {stage.way}"
        elif stage.queue is not None and (
            seen.queue_around is None or any(look.counts is None for look in seen.queue_around)
        ):
            yield f"what the {stage.queue.type} of the link {emulator.link} {stage.way} counted"
        elif stage.policing is not None and seen.policed is None:
            yield f"the policy of the link {emulator.link} {stage.way}"


def _tc_ends(case: Case) -> Iterator[str]:
    rows = (
        (case.plan.tc_passed(is_data=True), case.evidence.data_tc_ends),
        (case.plan.tc_passed(is_data=False), case.evidence.answer_tc_ends),
        (tc_beside(case.plan), case.evidence.beside_tc_ends),
    )
    for asked, found in rows:
        told = {(each.port.link, each.port.node) for each in found}
        yield from (f"the TCLink {port.link} at {port.node}" for port in asked if (port.link, port.node) not in told)
    version = case.evidence.mininet
    if (case.trial.topology.engine == "mininet") != bool(version):
        yield f"Mininet {version}, which was not asked for" if version else "the version of Mininet"


def _tool(case: Case) -> Iterator[str]:
    """What the tool always says."""
    tool, outcome = tool_of(case.trial.workload), case.evidence.outcome
    for name in sorted(tool.tells):
        if getattr(outcome, name, 0) is None:
            yield f"{name} of the tool {case.trial.workload.tool}"
        for number, flow in enumerate(outcome.flows, 1):
            if getattr(flow, name, 0) is None:
                yield f"{name} of flow {number}"
    measures = {tool.result.KEY} if tool.result is not None and tool.always else set()
    if case.trial.workload.port_is_senders and (case.trial.samples_interval_ns or SECOND_NS) < SECOND_NS:
        measures.add(TcpResult.KEY)
    for name in sorted(measures):
        if outcome.measured.get(name) is None:
            yield f"what the tool {case.trial.workload.tool} measured: {name}"


def _devices(case: Case) -> Iterator[str]:
    for node in passed(case.trial, case.plan):
        if is_observed(case.plan, node):
            for port in case.plan.book.ports_of(node):
                device = f"{node_netns(node)} {port.device}"
                if device not in case.evidence.device_drops:
                    yield f"the losses of the device {device}"


PARTS: tuple[Callable[[Case], Iterator[str]], ...] = (
    _stages,
    _tc_ends,
    _tool,
    background.missing,
    _devices,
)
