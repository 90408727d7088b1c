"""Checks of the gate: are devices, addresses, routes, rules, queues and settings those of the plan, and no others? The
whole network is read back after the workload. Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.node.namespace import node_netns
from ...plan.set_up import ALL_IS_ASKED, Facts
from ..evidence.case import Case
from ..evidence.network import settings_of
from ..evidence.stage import Evidence
from ..orders import bring_up, set_up
from ..stored_result import Finding
from .link.set_up_check import HINT

SHOWN = 5
"""At most so many differences become findings."""

OWN_SETTINGS = ("tcp_fastopen_key",)
"""What the kernel draws for each namespace."""


def network(case: Case) -> Iterator[Finding]:
    differences = tuple(_differences(case))
    for what in differences[:SHOWN]:
        yield Finding("set-up", "invalid", what, HINT)
    if len(differences) > SHOWN:
        yield Finding("set-up", "invalid", f"and {len(differences) - SHOWN} more differences", HINT)


def _differences(case: Case) -> Iterator[str]:
    netns = set_up.looked_at(case.trial, case.plan)
    until_ns = max(case.evidence.timeline.moments, default=-1) if case.evidence.timeline else -1
    asked = set_up.expected(bring_up.commands(case.plan, case.trial.kernel), case.plan, netns, until_ns)
    seen = case.evidence.network
    for (where, what), value in asked.items():
        if seen.get((where, what)) != value:
            yield f"{where or 'the kernel'}: {what}: asked {value}, the kernel has {seen.get((where, what), 'none')}"
    if case.trial.topology.engine == "netns":
        find = frozenset(node_netns(node.name) for node in case.trial.topology.nodes if node.finds_routes)
        yield from _strangers(asked, seen, netns, find)
    if case.evidence.reference is not None:
        yield from _settings(asked, case.evidence, case.evidence.reference)


def _strangers(asked: Facts, seen: Facts, netns: tuple[str, ...], find: frozenset[str]) -> Iterator[str]:
    """What only somebody else can have set up, in the namespaces of this computer that are read back as a whole; in
    those that `find` has, daemons find routes.

    Of an emulator on a machine, only the queues are read.
    """
    for (where, what), value in ((place, value) for place, value in seen.items() if place[0] in ("", *netns)):
        kind = what.split()[0]
        filters = asked.get((where, "br0 vlan_filtering")) == "1"
        is_strange = kind in ALL_IS_ASKED or (kind == "vlan" and filters) or (kind == "learned" and where not in find)
        if (where, what) not in asked and is_strange:
            yield f"{where}: {what}: nobody asked for it, the kernel has {value}"


def _settings(asked: Facts, evidence: Evidence, reference: str) -> Iterator[str]:
    """Settings of TCP and IP that differ from the kernel's own, though nobody asked for that."""
    own = settings_of(evidence.network, reference)
    if not own:
        yield f"{reference}: the kernel's settings of TCP were not read back"
    for netns in sorted({where for where, _ in asked} - {"", reference}):
        for name, value in settings_of(evidence.network, netns).items():
            is_asked = (netns, f"{set_up.TCP_SETTINGS}/{name}") in asked
            if not is_asked and name not in OWN_SETTINGS and own.get(name) != value:
                yield f"{netns}: {name}: nobody asked for it, the kernel has {value}, not {own.get(name, 'none')}"
