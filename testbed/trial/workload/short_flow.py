"""The workload `flow` with arrivals: flows that come and go by a drawn schedule, by our own program (see
native/arrivals.c).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ...kernel.guest import TrialError
from ...model.workload import ShortFlowWorkload
from ...model.workload.short_flow import Arrival, schedule
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Run, Step
from .. import record
from ..stored_result import FlowResult
from .completion import Completion, FctResult, goodput_bps, ideal_ns, summary
from .outcome import Outcome
from .tool import Tool

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


TOOL = Tool(
    ShortFlowWorkload,
    steps=steps,
    read=read,
    begin=(OUTPUT, r"^start (\d+)$"),
    tells=frozenset({"begin_ns", "end_ns", "goodput_bps", "congestion", "received_bytes", "retransmits"}),
    measures=frozenset({FctResult.KEY}),
    comments=comments,
)
