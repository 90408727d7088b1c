"""The workload `flow` with arrivals: flows that come and go by a drawn schedule, by our own program (see
native/arrivals.c).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...kernel.guest import TrialError
from ...model.workload import ShortFlowWorkload
from ...model.workload.flow import Arrival, schedule
from ...plan.link.impairment import BURST_NS, REAL_TIME_BURST_NS
from ...plan.link.stage import frame_bytes
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Run, Step
from .. import record
from ..evidence.case import Case
from ..evidence.completion import Completion, FctResult, goodput_bps, ideal_ns, summary
from ..evidence.outcome import Outcome
from ..result import Finding, FlowResult
from .tool import Tool, other_load
from .udp import LATE_S

SCHEDULE, OUTPUT = "arrivals.txt", "arrivals.out"
FLOWS_PER_PORT = 4_000
"""A connection that ended keeps its pair of ports for a minute; of the ports of a client there are 28 232."""
SHOWN = 20
"""So many flows are in the script of a plan."""


def asked(workload: ShortFlowWorkload, plan: Plan, seed: int) -> tuple[Arrival, ...]:
    """The flows of a trial. Raises UserError if they cannot be drawn."""
    return schedule(workload, seed=seed, goodput_bps=goodput_bps(plan))


def steps(workload: ShortFlowWorkload, plan: Plan, seed: int) -> list[Step]:
    """Writes the schedule, and carries it out. Raises UserError if the flows cannot be drawn."""
    assert plan.data_path is not None, "BUG: a plan without a workload"
    flows, ideal = asked(workload, plan, seed), ideal_ns(workload, plan)
    lines = (f"{each.start_ns} {each.size_bytes} {ideal(each.size_bytes) if ideal else 0}\n" for each in flows)
    listens = plan.data_path.destination_ip if workload.requests is None else plan.data_path.source_ip
    words = [
        "/run/tools/arrivals",
        *("--from", node_netns(workload.source), "--to", node_netns(workload.destination)),
        *("--address", str(listens), "--port", str(_port(workload)), "--ports", str(1 + len(flows) // FLOWS_PER_PORT)),
        *("--congestion", workload.congestion, "--until", str(workload.duration_ns + workload.drain_ns)),
    ]
    words += [] if workload.rate_bps is None else ["--rate", str(workload.rate_bps // 8)]
    if workload.requests is not None:
        words += ["--request", str(workload.requests.size_bytes)]
        words += ["--connections", str(workload.requests.connections)] if workload.requests.connections else []
    return [
        Run(("cat",), "schedule of flows", stdin="".join(lines), out=SCHEDULE),
        Run((*words, f"/run/trial/{SCHEDULE}"), "flow", out=OUTPUT),
    ]


def comments(workload: ShortFlowWorkload, plan: Plan, seed: int) -> str:
    """For the script of the plan: the first flows."""
    flows = asked(workload, plan, seed)
    octets = sum(each.size_bytes for each in flows)
    head = f"# {len(flows)} flows with {octets} bytes arrive, in s after the start of the workload:\n"
    lines = "".join(f"#   {each.start_ns / 1e9:.9f} s: {each.size_bytes} bytes\n" for each in flows[:SHOWN])
    rest = f"#   and {len(flows) - SHOWN} more\n" if len(flows) > SHOWN else ""
    return f"\n{head}{lines}{rest}"


def read(workload: ShortFlowWorkload, folder: Path) -> Outcome:
    """Parses the lines that arrivals.c describes. Raises TrialError if they are not whole, or tell of other flows than
    the schedule.
    """
    planned = [tuple(map(int, line.split())) for line in (folder / SCHEDULE).read_text().splitlines()]
    text = (folder / OUTPUT).read_text()
    begin_ns, end_ns, congestion, rate, seen = _parse(text)
    if begin_ns is None or end_ns is None or congestion is None:
        raise TrialError(f"{OUTPUT} does not tell of flows from start to end")
    if rate != (workload.rate_bps or 0) // 8:
        raise TrialError(f"{OUTPUT} tells of a rate of {rate} bytes/s, asked were {(workload.rate_bps or 0) // 8}")
    if any(len(row) != 3 for row in planned) or any(number >= len(planned) for number in seen):
        raise TrialError(f"{OUTPUT} tells of other flows than {SCHEDULE}")
    flows = tuple(
        replace(seen.get(number, NEVER), start_ns=start_ns, size_bytes=size_bytes, ideal_ns=ideal or None)
        for number, (start_ns, size_bytes, ideal) in enumerate(planned)
    )
    if any(each.ended_ns is not None and each.received_bytes != each.size_bytes for each in flows):
        raise TrialError(f"{OUTPUT} tells of flows that ended without all of their bytes")
    found = summary(flows, end_ns)
    rate_bps = found.received_bytes * 8e9 / end_ns if end_ns else 0.0
    together = FlowResult(rate_bps, found.retransmits, None, congestion, received_bytes=found.received_bytes)
    measured = {FctResult.KEY: record.write(found)}
    told = Outcome(begin_ns, None, begin_ns + end_ns, rate_bps, None, (together,), measured)
    return replace(told, completions=flows, connections=_accepted(text))


def _port(workload: ShortFlowWorkload) -> int:
    ports = workload.data_ports
    return (ports.destination if workload.requests is None else ports.source)[0]


def _parse(text: str) -> tuple[int | None, int | None, str | None, int | None, dict[int, Completion]]:
    """The start, the end after it, the congestion control and rate of the sockets, and each flow by its number, without
    what was asked.
    """
    begin_ns = end_ns = congestion = rate = None
    seen: dict[int, Completion] = {}
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "start":
            begin_ns = int(words[0])
        elif kind == "end":
            end_ns = int(words[0])
        elif kind == "socket":
            congestion, rate = words[0], int(words[1])
        elif kind == "flow":
            seen[int(words[0])] = _flow(words[1:])
    return begin_ns, end_ns, congestion, rate, seen


def _accepted(text: str) -> int | None:
    """How many connections the end that listens accepted; None if that is not told."""
    told = re.findall(r"^accepted (\d+)$", text, re.MULTILINE)
    return int(told[0]) if len(told) == 1 else None


def _flow(words: list[str]) -> Completion:
    port, began_ns, connected_ns, ended_ns, received_bytes, retransmits, *requested = map(int, words)
    return replace(
        NEVER,
        began_ns=began_ns,
        connected_ns=connected_ns or None,
        ended_ns=ended_ns or None,
        received_bytes=received_bytes,
        retransmits=retransmits,
        port=port or None,
        requested_bytes=requested[0] if requested else None,
    )


NEVER = Completion(0, 0, None)
"""A flow that did not begin."""


HINT = "the program did other things than the schedule says"
DAMAGED = "an output of the trial is damaged or not whole"
FREE_FRAMES = 2
"""So many frames may pass a token bucket at once."""
CLOCK_NS = 1_000
"""By how much two looks at the clock may differ."""


def as_drawn(case: Case, found: FctResult) -> Iterator[Finding]:
    """Each flow is that of the draw, began when it was asked to, and the result's numbers are those of the flows."""
    workload, flows = case.trial.workload, case.evidence.outcome.completions
    if not isinstance(workload, ShortFlowWorkload):
        return
    drawn, ideal = asked(workload, case.plan, case.trial.seed), ideal_ns(workload, case.plan)
    expected = [(each.start_ns, each.size_bytes, ideal(each.size_bytes) if ideal else None) for each in drawn]
    told = [(each.start_ns, each.size_bytes, each.ideal_ns) for each in flows]
    if len(told) != len(expected):
        yield Finding("flows", "invalid", f"the tool tells of {len(told)} flows, asked were {len(expected)}", HINT)
    elif told != expected:
        number = next(n for n, pair in enumerate(zip(told, expected, strict=True)) if pair[0] != pair[1])
        what = f"flow {number + 1} was {told[number]} (start and ideal in ns, bytes), asked was {expected[number]}"
        yield Finding("flows", "invalid", what, HINT)
    outcome = case.evidence.outcome
    if outcome.begin_ns is None or outcome.end_ns is None or not flows:
        return
    if found != summary(flows, outcome.end_ns - outcome.begin_ns):
        yield Finding("flows", "invalid", "the completion times of the result are not those of its flows", DAMAGED)
    yield from _order(workload, case.plan, flows, outcome.end_ns - outcome.begin_ns)
    yield from _in_time(case, workload, flows)


def _order(workload: ShortFlowWorkload, plan: Plan, flows: Sequence[Completion], end_ns: int) -> Iterator[Finding]:
    """A flow begins, is connected and ends, in this order, within the workload; a handshake takes a round trip."""
    is_new = workload.requests is None or workload.requests.connections is None
    least_ns = plan.rtts_ns[0] - CLOCK_NS if is_new and not _varies(plan) else 0
    for number, each in enumerate(flows, 1):
        times = [each.began_ns, each.connected_ns, each.ended_ns]
        known = [at_ns for at_ns in times if at_ns is not None]
        if known != sorted(known) or any(at_ns > end_ns for at_ns in known) or (known and known[0] < each.start_ns):
            what = f"flow {number} was to begin at {each.start_ns} ns; it began, was connected and ended at {times} ns"
            yield Finding("flows", "invalid", what, DAMAGED)
            return
        has_socket = each.connected_ns is not None or each.ended_ns is not None
        if (each.began_ns is not None and each.retransmits is None) or (has_socket and not each.port):
            what = f"missing: the port or the retransmissions of flow {number}"
            yield Finding("flows", "invalid", what, DAMAGED)
            return
        connected = None if each.connected_ns is None else each.connected_ns - (each.began_ns or 0)
        if is_new and each.ended_ns is not None and (connected is None or connected < least_ns):
            what = f"flow {number} was connected in {connected} ns over a path with an RTT of {plan.rtts_ns[0]} ns"
            yield Finding("flows", "invalid", what, DAMAGED)
            return


def requested(case: Case, found: FctResult) -> Iterator[Finding]:
    """The end that sends got every request whole, and over as many connections as asked: by its own count, and by the
    ports of the other end.
    """
    if isinstance(case.trial.workload, ShortFlowWorkload) and case.evidence.outcome.completions:
        for what in (
            *_sizes(case.trial.workload, case.evidence.outcome),
            *_connections(case.trial.workload, case.evidence.outcome),
        ):
            yield Finding("flows", "invalid", what, HINT)


def _sizes(workload: ShortFlowWorkload, outcome: Outcome) -> Iterator[str]:
    size = 0 if workload.requests is None else workload.requests.size_bytes
    for number, each in enumerate(outcome.completions, 1):
        if each.ended_ns is not None and each.requested_bytes != size:
            told = (
                "missing: how long it was" if each.requested_bytes is None else f"it had {each.requested_bytes} bytes"
            )
            yield f"the request of flow {number}: {told}, asked were {size}"
            return


def _connections(workload: ShortFlowWorkload, outcome: Outcome) -> Iterator[str]:
    flows, accepted = outcome.completions, outcome.connections
    kept = None if workload.requests is None else workload.requests.connections
    least = kept or sum(each.ended_ns is not None for each in flows)
    most = kept or sum(each.began_ns is not None for each in flows)
    if accepted is None:
        yield "missing: how many connections were accepted"
    elif not least <= accepted <= most:
        yield f"{accepted} connections were accepted, asked were {least if least == most else f'{least} to {most}'}"
    ports: dict[int, int] = {}
    for number, each in enumerate(flows):
        if kept and each.port is not None and ports.setdefault(number % kept, each.port) != each.port:
            yield f"flow {number + 1} came from port {each.port}, its connection has port {ports[number % kept]}"
            return
    if kept and len(set(ports.values())) < len(ports):
        yield f"{len(ports)} connections have {len(set(ports.values()))} ports"


def _in_time(case: Case, workload: ShortFlowWorkload, flows: Sequence[Completion]) -> Iterator[Finding]:
    """Of connections that stay open, a request waits for the one before it, and no longer."""
    kept = 0 if workload.requests is None else workload.requests.connections or 0
    most_ns, late_ns, number = case.slack(LATE_S) * 1e9, 0, 0
    for n, each in enumerate(flows):
        before = flows[n - kept] if 0 < kept <= n else None
        due_ns = max(each.start_ns, (before.ended_ns or each.start_ns) if before else 0)
        if each.began_ns is not None and each.began_ns - due_ns > late_ns:
            late_ns, number = each.began_ns - due_ns, n + 1
    if late_ns > most_ns:
        what = f"flow {number} began {late_ns / 1e6:.3g} ms late"
        yield Finding("flows", "suspect", what, "the machine is too slow for these arrivals: fewer, or kernel: lab")


def possible(case: Case, found: FctResult) -> Iterator[Finding]:
    """No flow ended sooner than the path can carry its bytes, with what a token bucket lets pass at once."""
    if not isinstance(case.trial.workload, ShortFlowWorkload) or _varies(case.plan):
        return
    burst_ns = BURST_NS if case.virtual else REAL_TIME_BURST_NS
    frames_ns = (
        FREE_FRAMES * frame_bytes(case.plan.mtu_bytes) * 8 * 10**9 // case.plan.rate_bps if case.plan.rate_bps else 0
    )
    for number, each in enumerate(case.evidence.outcome.completions, 1):
        if each.fct_ns is not None and each.ideal_ns and each.fct_ns < each.ideal_ns - frames_ns - burst_ns:
            what = f"flow {number} took {each.fct_ns / 1e6:g} ms, on an empty path it takes {each.ideal_ns / 1e6:g} ms"
            yield Finding("flows", "invalid", what, "the data took another path, or the tool counted too early")
            return


def ended(case: Case, found: FctResult) -> Iterator[Finding]:
    """Flows that were cut are counted. Without any that ended there is no completion time."""
    if not isinstance(case.trial.workload, ShortFlowWorkload):
        return
    if found.begun < found.flows:
        what = f"{found.flows - found.begun} of {found.flows} flows never began"
        yield Finding("flows", "suspect", what, "the connections that stay open were busy, or broke")
    if not found.finished:
        hint = "the network denies it, as asked" if case.denies_data else "a longer drain, a lower load, smaller flows"
        what = f"none of {found.flows} flows ended: there is no completion time"
        yield Finding("flows", "valid" if case.denies_data else "invalid", what, hint)
    elif found.unfinished:
        bounds = () if found.fct_s is None else found.fct_s.bounds
        what = (
            f"{found.unfinished} of {found.flows} flows had not ended and were cut; of the completion times and "
            f"slowdowns {', '.join(bounds)} are lower bounds"
        )
        yield Finding("flows", "suspect", what, "a longer drain, or a lower load")


def _varies(plan: Plan) -> bool:
    """Whether a delay may be less than was asked at the start: it jitters, or changes."""
    stages = (*plan.stages(is_data=True), *plan.stages(is_data=False))
    return any(stage.states or stage.asked.jitter is not None for stage in stages)


def listens(case: Case, found: FctResult) -> Iterator[Finding]:
    """Flows that arrive go to the ports of the data: their rows of the samples know them by these."""
    workload = case.trial.workload
    if not isinstance(workload, ShortFlowWorkload) or case.trial.background:
        return
    ends = workload.data_ports
    first, last = ends.destination if workload.requests is None else ends.source
    for each in case.evidence.tcp:
        if each.destination_port and not any(
            first <= port <= last for port in (each.source_port, each.destination_port)
        ):
            yield other_load(
                f"a flow was between the ports {each.source_port} and {each.destination_port}, asked was {first}"
            )
            return


TOOL = Tool(
    ShortFlowWorkload,
    steps=steps,
    read=read,
    begin=(OUTPUT, r"^start (\d+)$"),
    tells=frozenset({"begin_ns", "end_ns", "goodput_bps", "congestion", "received_bytes", "retransmits"}),
    result=FctResult,
    checks=(listens, as_drawn, requested, possible, ended),
    comments=comments,
)
