"""Background traffic beside a workload: flows by native/background.c, datagrams by native/udp.c."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from ...codec.frozen import dataclass
from ...error import UserError
from ...kernel.guest import TrialError
from ...model.background import Background, Backgrounds, Burst, Constant, schedule
from ...model.data_path import DataPath
from ...model.workload import Workload
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Run, Sleep, Step, Stop
from .. import measured
from ..evidence.case import Case
from ..evidence.stage import Begun
from ..record import ABSENT_IF_EMPTY
from ..result import Finding
from . import udp

BACKGROUND = "background"
"""Their key in `measured`."""


@dataclass(frozen=True, kw_only=True)
class BackgroundResult:
    """What one background carried. A background that draws flows counts flows, one with a constant rate counts
    datagrams; the other counts are None.
    """

    pattern: str
    source: str = field(metadata={"key": "from"})
    destination: str = field(metadata={"key": "to"})
    planned_flows: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    started_flows: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    finished_flows: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    sent_datagrams: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    arrived_datagrams: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    lost_datagrams: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    received_bytes: int
    retransmits: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)


FIRST_PORT = 7001
SETTLE_NS = 2 * 10**9
"""What a workload takes beyond its own length, apart from round trips."""

LEAST_SENT, MOST_SENT = 0.9, 1.02
"""Shares of the datagrams that a rate makes of a time. A machine that is too slow sends fewer."""

Schedules: TypeAlias = Mapping[str, tuple[Burst, ...]]


def schedules(backgrounds: Backgrounds, workload: Workload, plan: Plan, seed: int) -> Schedules:
    """Maps names to the drawn flows; datagrams have none. Raises UserError if the flows are too many."""
    return {
        name: ()
        if isinstance(each, Constant)
        else schedule(each, name=name, seed=seed, length_ns=_length_ns(name, each, workload, plan))
        for name, each in backgrounds
    }


def steps(backgrounds: Backgrounds, drawn: Schedules, workload: Workload, plan: Plan) -> list[Step]:
    """Starts each background before the workload, by its lead time; the schedules become files of the trial."""
    files = [
        Run(("cat",), "background", stdin=_text(drawn[name]), out=schedule_file(name))
        for name, each in backgrounds
        if not isinstance(each, Constant)
    ]
    by_lead = sorted(enumerate(backgrounds), key=lambda found: -found[1][1].lead_ns)
    leads = [*(each.lead_ns for _, (_, each) in by_lead), 0]
    starts: list[Step] = []
    for (number, (name, each)), (lead_ns, next_ns) in zip(by_lead, pairwise(leads), strict=True):
        data_path = plan.background[number]
        words = (
            udp_words(each, data_path, FIRST_PORT + number, _length_ns(name, each, workload, plan))
            if isinstance(each, Constant)
            else _flow_words(name, each.congestion, data_path, FIRST_PORT + number)
        )
        starts.append(Run(tuple(words), "background", out=output(name), background=_process(name)))
        starts += [Sleep((lead_ns - next_ns) / 1e9)] if lead_ns > next_ns else []
    return [*files, *starts]


def stops(backgrounds: Backgrounds) -> list[Step]:
    """Stops the backgrounds: flows first, because stopping datagrams waits for them."""
    return [Stop(_process(name)) for name, _ in sorted(backgrounds, key=lambda each: isinstance(each[1], Constant))]


def udp_words(background: Constant, data_path: DataPath, port: int, length_ns: int) -> list[str]:
    return udp.words(
        data_path,
        port=port,
        rate_bps=background.rate_bps,
        length_bytes=background.length_bytes,
        duration_ns=length_ns,
        flows=1,
        burst=udp.burst(background.rate_bps, background.length_bytes),
    )


def comments(drawn: Schedules) -> str:
    """For the script of the plan: which flow starts when, in seconds, with how many bytes or until when."""
    return "".join(
        f"# Background {name}: {len(bursts)} flows (the workload's end cuts off what is left)\n"
        + "".join(f"#   {_line(burst)}\n" for burst in bursts)
        for name, bursts in drawn.items()
        if bursts
    )


def read(backgrounds: Backgrounds, folder: Path) -> dict[str, BackgroundResult]:
    """What each carried. Raises TrialError if an output makes no sense."""
    return {name: _read(name, each, folder) for name, each in backgrounds}


def short_ns(backgrounds: Backgrounds, workload: Workload, plan: Plan, folder: Path, log: str) -> dict[str, int]:
    """Maps the names of backgrounds to how long before the workload they ended, 0 if they did not; a background of
    flows ends when it starts no more flows. The log has the end of the workload.
    """
    steps = map(json.loads, log.splitlines())
    names = {_process(name) for name, _ in backgrounds}
    end_ns = min(entry["begin_ns"] for entry in steps if entry["step"].get("stop") in names)
    short = {}
    for name, each in backgrounds:
        start = re.search(r"^start (\d+)$", (folder / output(name)).read_text(), re.MULTILINE)
        assert start is not None, "BUG: a background that was not read"
        short[name] = end_ns - int(start[1]) - _length_ns(name, each, workload, plan)
    return {name: max(0, ns) for name, ns in short.items()}


def begun(backgrounds: Backgrounds, drawn: Schedules, folder: Path) -> dict[str, Begun]:
    """Maps names to when they began. Lacks a background whose output does not say it."""
    found = {}
    for name, _ in backgrounds:
        lines = [line.split() for line in (folder / output(name)).read_text().splitlines()]
        at_ns = next((int(words[1]) for words in lines if words[:1] == ["start"]), None)
        if at_ns is not None:
            late = (
                int(words[2]) - drawn[name][int(words[1])].start_ns for words in lines if _is_drawn(words, drawn[name])
            )
            found[name] = Begun(at_ns, max(late, default=0))
    return found


def _is_drawn(words: list[str], bursts: tuple[Burst, ...]) -> bool:
    return words[:1] == ["flow"] and int(words[1]) < len(bursts)


def schedule_file(name: str) -> str:
    return f"background-{name}.txt"


def output(name: str) -> str:
    return f"background-{name}.out"


def _process(name: str) -> str:
    return f"background-{name}"


def _length_ns(name: str, background: Background, workload: Workload, plan: Plan) -> int:
    """How long a background lasts at most. Beyond its length, a workload needs round trips for its connections."""
    if background.duration_ns is not None:
        return background.duration_ns
    own_ns = workload.length_ns
    if own_ns is None:
        raise UserError(
            f"background {name}: how long the workload takes is not known beforehand; allowed: a line such as "
            "'duration: 60 s' for the background"
        )
    return background.lead_ns + own_ns + SETTLE_NS + (workload.opening_round_trips + 4) * plan.rtt_ns


def _text(bursts: tuple[Burst, ...]) -> str:
    return "".join(f"{burst.start_ns} {burst.stop_ns or 0} {burst.flow_bytes or 0}\n" for burst in bursts)


def _line(burst: Burst) -> str:
    what = f"until {burst.stop_ns / 1e9:.9f} s" if burst.stop_ns is not None else f"{burst.flow_bytes} bytes"
    return f"{burst.start_ns / 1e9:.9f} s: {what}"


def _flow_words(name: str, congestion: str, data_path: DataPath, port: int) -> list[str]:
    return [
        "/run/tools/background",
        *("--from", node_netns(data_path.source), "--to", node_netns(data_path.destination)),
        *("--address", str(data_path.destination_ip), "--port", str(port), "--congestion", congestion),
        f"/run/trial/{schedule_file(name)}",
    ]


def _read(name: str, background: Background, folder: Path) -> BackgroundResult:
    text = (folder / output(name)).read_text()
    result = partial(BackgroundResult, pattern=background.pattern, source=background.source,
                     destination=background.destination)  # fmt: skip
    if isinstance(background, Constant):
        told = udp.parse(text, background.length_bytes)
        _check_rate(name, background, told)
        return result(
            sent_datagrams=told.sent,
            arrived_datagrams=told.arrived,
            lost_datagrams=told.sent - told.arrived,
            received_bytes=told.arrived * background.length_bytes,
        )
    planned = (folder / schedule_file(name)).read_text().splitlines()
    flows = list(_flows(text))
    if len(flows) > len(planned):
        raise TrialError(f"{output(name)} tells of {len(flows)} flows, planned were {len(planned)}")
    return result(
        planned_flows=len(planned),
        started_flows=len(flows),
        finished_flows=sum(finished for _, _, finished in flows),
        received_bytes=sum(received for received, _, _ in flows),
        retransmits=sum(retransmits for _, retransmits, _ in flows),
    )


def _check_rate(name: str, background: Constant, told: udp.UdpOutput) -> None:
    """Raises TrialError if it sent far more or less than its rate makes of the time in which it sent."""
    asked = background.rate_bps * (told.end_ns - told.begin_ns) / (8e9 * background.length_bytes)
    slack = 2 + 2 * udp.burst(background.rate_bps, background.length_bytes)
    if not asked * LEAST_SENT - slack <= told.sent <= asked * MOST_SENT + slack:
        raise TrialError(f"the background {name} sent {told.sent} datagrams, asked were {asked:.0f}")


def _flows(text: str) -> Iterator[tuple[int, int, bool]]:
    """(received bytes, retransmits, whether it finished)."""
    if not text.startswith("start "):
        raise TrialError("a background did not run to its end")
    for line in text.splitlines()[1:]:
        _, _, _, _, received, retransmits, state = line.split()
        yield int(received), int(retransmits), state == "finished"


def backgrounds(found_in: Mapping[str, Any]) -> dict[str, BackgroundResult]:
    """The results of the backgrounds by name; empty without any. Raises UserError as `find`."""
    found = found_in.get(BACKGROUND, {})
    if not isinstance(found, Mapping):
        raise UserError(f"a result is damaged: measured.{BACKGROUND} is {found!r:.40}, not an object")
    return {name: measured.read(BackgroundResult, each, f"{BACKGROUND}.{name}") for name, each in found.items()}


def missing(case: Case) -> Iterator[str]:
    carried = case.evidence.outcome.measured.get(BACKGROUND, {})
    for name, each in case.trial.background:
        if name not in carried or name not in case.evidence.background_short_ns:
            yield f"the background {name}"
        elif (carried[name].get("pattern"), carried[name].get("from"), carried[name].get("to")) != (
            each.pattern,
            each.source,
            each.destination,
        ):
            yield f"the background {name}, from {each.source} to {each.destination}"


def faults(case: Case) -> Iterator[str]:
    for name, each in backgrounds(case.evidence.outcome.measured).items():
        counts = (each.sent_datagrams, each.arrived_datagrams, each.lost_datagrams)
        flows = (each.planned_flows, each.started_flows, each.finished_flows, each.retransmits)
        if (None in counts) == (None in flows):
            yield f"{name} counts neither flows nor datagrams"
        elif None not in counts and (counts[0] or 0) != (counts[1] or 0) + (counts[2] or 0):
            yield f"{name}: {counts} datagrams were sent, arrived and were lost"
        elif None not in flows and not (flows[0] or 0) >= (flows[1] or 0) >= (flows[2] or 0):
            yield f"{name}: {flows[:3]} flows were planned, began and finished"
        if bool(each.received_bytes) > bool(each.arrived_datagrams or each.started_flows):
            yield f"{name} brought {each.received_bytes} bytes with nothing"


def check(case: Case) -> Iterator[Finding]:
    """Each background lasted as long as the workload, unless it was asked to end sooner, and delivered some data."""
    carried = backgrounds(case.evidence.outcome.measured)
    for name, each in case.trial.background:
        short_ns = case.evidence.background_short_ns.get(name)
        if short_ns:
            yield Finding(
                "background",
                "suspect" if each.duration_ns is None else "valid",
                f"{name} ended {short_ns / 1e9:.3g} s before the workload",
                "it shared the path for only part of the time: give it a (longer) duration",
            )
        if name in carried and not carried[name].received_bytes:
            drawn = carried[name].planned_flows != 0
            yield Finding(
                "background",
                "suspect" if drawn else "valid",
                f"{name} delivered nothing" + ("" if drawn else ": no flow was drawn for this seed"),
                "look at its times, and at the losses of the path",
            )
