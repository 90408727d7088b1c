"""The cables of machines: how fast their NICs run, and whether one came loose while the workload ran. Reads files of a
trial's folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...codec.frozen import dataclass
from ...model.scenario import Trial
from ...model.topology import Link
from ...plan.command import HOME
from ...plan.linux import Move
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Run, Step
from ..evidence.case import Case, Subject, When
from ..observe.sample import carrier_changes
from ..result import Finding
from .network import looked_at, observed_after
from .observer import AFTER, READ_BACK, observed

SPEED = re.compile(r"^\s*Speed: (\d+)Mb/s$", re.MULTILINE)
DUPLEX = re.compile(r"^\s*Duplex: (\w+)", re.MULTILINE)
HALF = "Half"


@dataclass(frozen=True)
class Cable:
    """A cable of a machine at its NIC `nic`. `speed_bps` and `duplex` (Full, Half) are None if the NIC does not tell.
    `changes` is how often the carrier came or went while the workload ran (None: it was not seen before and after).
    """

    machine: str
    nic: str
    speed_bps: int | None
    duplex: str | None
    changes: int | None


def nics(trial: Trial, plan: Plan) -> Iterator[tuple[str, Move]]:
    """The NICs that machines lend and that are looked at: each with its machine, and how it moved."""
    seen = looked_at(trial, plan)
    for each in plan.commands:
        if isinstance(each, Move) and each.on is not None and each.to in seen:
            yield each.on.removesuffix(HOME), each


def file(machine: str, nic: str) -> str:
    """What ethtool says of a NIC after the workload."""
    return f"nic-{machine}-{nic}.txt"


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    for machine, each in nics(trial, plan) if when == "after" else ():
        words, where = ("ethtool", each.name), plan.where_in(each.to)
        yield Run(words, "NIC", where, out=file(machine, each.device), may_fail=True)


def read(trial: Trial, plan: Plan, folder: Path) -> tuple[Cable, ...]:
    lent = tuple(nics(trial, plan))
    if not lent:
        return ()
    before = carrier_changes((folder / READ_BACK).read_bytes(), observed(trial, plan))
    after = carrier_changes((folder / AFTER).read_bytes(), observed_after(trial, plan))
    return tuple(
        _cable(machine, each, (folder / file(machine, each.device)).read_text(), before, after)
        for machine, each in lent
    )


def _cable(
    machine: str, nic: Move, said: str, before: dict[tuple[str, str], int], after: dict[tuple[str, str], int]
) -> Cable:
    speed, duplex, place = SPEED.search(said), DUPLEX.search(said), (nic.to, nic.name)
    return Cable(
        machine,
        nic.device,
        None if speed is None else int(speed[1]) * 10**6,
        None if duplex is None or duplex[1].startswith("Unknown") else duplex[1],
        after[place] - before[place] if place in before and place in after else None,
    )


def missing(case: Case, seen: tuple[Cable, ...]) -> Iterator[str]:
    told = {(each.machine, each.nic) for each in seen if each.changes is not None}
    for machine, each in nics(case.trial, case.plan):
        if (machine, each.device) not in told:
            yield f"how often the cable of {each.device} of {machine} came loose"


def loose(case: Case, seen: tuple[Cable, ...]) -> Iterator[Finding]:
    for each in seen:
        if each.changes:
            what = f"the carrier of {each.nic} of {each.machine} came or went {each.changes} times"
            hint = "somebody pulled the cable, or the NIC and the switch agreed on a speed anew"
            yield Finding("cable", "invalid", f"{what} while the workload ran", hint)


def speed(case: Case, seen: tuple[Cable, ...]) -> Iterator[Finding]:
    """A NIC must not be slower than the link that it carries is asked to be."""
    links = {(machine, each.device): _link(case, each) for machine, each in nics(case.trial, case.plan)}
    for each in seen:
        link, whose = links[each.machine, each.nic], f"{each.nic} of {each.machine}"
        asked_bps = max((side.rate_bps or 0 for side in (link.forward, link.backward)), default=0)
        hint = f"look at the cable, the switch, and at what ethtool {each.nic} says there"
        if each.speed_bps is not None and each.speed_bps < asked_bps:
            what = f"{whose} runs at {each.speed_bps / 1e6:g} Mbit/s, and the link {link.name} was asked to have"
            yield Finding("cable", "invalid", f"{what} {asked_bps / 1e6:g} Mbit/s", hint)
        if each.duplex == HALF:
            yield Finding("cable", "suspect", f"{whose} sends and receives by turns (half duplex)", hint)


def _link(case: Case, nic: Move) -> Link:
    """That the NIC carries."""
    names = {(e.netns, end): e.link for e in case.plan.emulators for end in ("end0", "end1")}
    names |= {(node_netns(port.node), port.device): port.link for port in case.plan.book.ports}
    return case.trial.topology.link(names[nic.to, nic.name])


CABLES = Subject[tuple[Cable, ...]](
    name="cables",
    kind=tuple[Cable, ...],
    read=read,
    steps=steps,
    missing=missing,
    checks=(loose, speed),
    result=lambda case, seen: seen or None,
)
