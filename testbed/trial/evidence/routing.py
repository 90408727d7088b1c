"""What a trial's folder says of routing daemons: whether they ran, their neighbours, their routes and the kernel's, and
when routes changed; and of DHCP and DNS servers. Reads files of that folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from typing import Any, TypeAlias

from ...agent.routing import await_routes
from ...kernel.guest import TrialError
from ...model import data_path
from ...model.link.impairment import Way
from ...model.scenario import Trial
from ...plan.link.stage import Emulator
from ...plan.node import frr, service
from ...plan.node.frr import FRR_FOLDER
from ..node_result import RouteChange, RouterResult
from ..orders import routing as orders
from ..orders import service as server_orders
from ..orders.sequence import Orders
from .filtering import FilterEvidence

Routes: TypeAlias = Mapping[str, frozenset[tuple[str, str]]]
"""Networks, each with its next hops: address and device."""

KERNELS_OWN, OF_SETUP = "2", ("3", "4")
"""Protocols of routes (linux/rtnetlink.h): of connected networks; of the commands of a plan."""
NOT_INSTALLED = ("connected", "kernel", "local")
"""What zebra calls routes that it only learnt from the kernel."""

STAMP = re.compile(r"^\[(\d+-\d+-\d+T\d+:\d+:\d+\.\d{6})\] (.*)$")


@dataclass(frozen=True)
class Look:
    """A router at one moment. `running` are its daemons that run; `neighbours` maps protocol to address to whether
    it is there, None if the daemon did not say. `routes` are those that FRR says it installed (None: it did not say),
    `kernel` those that the kernel has from daemons.
    """

    running: tuple[str, ...]
    neighbours: Mapping[str, Mapping[str, bool] | None]
    routes: Routes | None
    kernel: Routes


@dataclass(frozen=True)
class RouterEvidence:
    """One router, before the workload and after it. `changes` are pairs (ns of CLOCK_MONOTONIC, what `ip` said)."""

    name: str
    before: Look
    after: Look
    changes: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class ServerEvidence:
    """A DHCP or DNS server after the workload: whether it runs, and its leases: pairs (MAC address, IP address)."""

    name: str
    runs: bool
    leases: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class RoutingEvidence:
    """All routers with daemons, in file order; `waited_ns` is how long it took until all was known (None: unasked).
    `servers` are those of DHCP and DNS.
    """

    routers: tuple[RouterEvidence, ...] = ()
    waited_ns: int | None = None
    knowledge: Mapping[str, frr.Knowledge] = field(default_factory=dict)
    servers: tuple[ServerEvidence, ...] = ()


def detours(trial: Trial, made: Orders) -> Iterator[tuple[tuple[Emulator, Way], ...]]:
    """The emulators, each with the direction of the pass, on the data paths that daemons find while links are down."""
    plan = made.plan
    for detour in () if plan.data_path is None else data_path.detours(trial.topology, plan.book, plan.data_path):
        found = ((plan.emulator(hop.link.name), hop.way) for hop in detour.path)
        yield tuple((each, way) for each, way in found if each is not None)


def read(trial: Trial, made: Orders, folder: Path) -> RoutingEvidence:
    """Raises TrialError for outputs that make no sense."""
    named = {each.router: each for each in frr.knowledge(trial.topology, made.plan.book)}
    servers = tuple(_server(node.name, folder) for node in service.servers(trial.topology))
    if not named:
        return RoutingEvidence(servers=servers)
    try:
        ahead_ns = int((folder / orders.CLOCK).read_text())
        limits = {about.within_ns for _, about in frr.routers(trial.topology) if about.within_ns is not None}
        waited = [int((folder / orders.converged_file(number)).read_text()) for number in range(len(limits))]
        each = tuple(_router(node.name, folder, ahead_ns) for node, _ in frr.routers(trial.topology))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrialError(f"what routers said makes no sense: {error!r}") from None
    return RoutingEvidence(each, sum(waited) if waited else None, named, servers)


def _server(name: str, folder: Path) -> ServerEvidence:
    """dnsmasq writes for each lease its end, the MAC address, the IP address, the name and the client's identity."""
    state, leases = folder / server_orders.state_file(name), folder / server_orders.leases_file(name)
    lines = [line.split() for line in leases.read_text().splitlines()] if leases.exists() else []
    runs = _is_alive(state.read_text()) if state.exists() else False
    return ServerEvidence(name, runs, frozenset((words[1], words[2]) for words in lines if len(words) > 2))


def _is_alive(state: str) -> bool:
    """By the line State of a process; without one, and as a zombie, it is dead."""
    return state.split()[1:2] not in ([], ["Z"])


def _router(name: str, folder: Path, ahead_ns: int) -> RouterEvidence:
    before, after = (_look(name, when, folder) for when in ("before", "after"))
    lines = (folder / orders.changes_file(name)).read_text().splitlines()
    return RouterEvidence(name, before, after, tuple(_changes(lines, ahead_ns)))


def _look(name: str, when: str, folder: Path) -> Look:
    def text(what: str) -> str | None:
        path = folder / orders.file(name, what, when)
        return path.read_text() if path.exists() else None

    neighbours: dict[str, Mapping[str, bool] | None] = {}
    for what in orders.OF_DAEMON.values():
        said = text(what)
        if said is not None:
            found = said if what == "rip" else _json(said)
            is_answer = "Sending updates" in said if what == "rip" else found is not None
            neighbours[what] = await_routes.neighbours(what, found) if is_answer else None
    routes = _json(text("routes") or "")
    return Look(
        running=tuple(_running(text(orders.DAEMONS) or "", name)),
        neighbours=neighbours,
        routes=None if routes is None else _installed(routes),
        kernel=_of_kernel(json.loads(text(orders.KERNEL) or "")),
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _running(text: str, name: str) -> Iterator[str]:
    """A line for each daemon: its file, and the State of its process; without one, and as a zombie, it is dead."""
    prefix = f"{FRR_FOLDER}/{name}/"
    for line in text.splitlines():
        file, _, state = line.partition(" ")
        if _is_alive(state):
            yield file.removeprefix(prefix).removesuffix(".pid")


def _installed(routes: Mapping[str, Any]) -> Routes:
    return {
        network: frozenset((hop.get("ip", ""), hop["interfaceName"]) for hop in one["nexthops"] if hop.get("fib"))
        for network, several in routes.items()
        for one in several
        if one.get("selected") and one.get("installed") and one["protocol"] not in NOT_INSTALLED
    }


def _of_kernel(routes: list[Mapping[str, Any]]) -> Routes:
    found: dict[str, frozenset[tuple[str, str]]] = {}
    for one in routes:
        if str(one.get("protocol", "3")) not in (KERNELS_OWN, *OF_SETUP) and "type" not in one:
            to = "0.0.0.0/0" if one["dst"] == "default" else str(ip_network(one["dst"]))
            hops = one.get("nexthops") or [one]
            found[to] = frozenset((hop.get("gateway", ""), hop.get("dev", "")) for hop in hops)
    return found


def _changes(lines: list[str], ahead_ns: int) -> Iterator[tuple[int, str]]:
    """A change of several lines (more than one next hop) is one."""
    at_ns, said = 0, ""
    for line in lines:
        stamp = STAMP.match(line)
        if stamp is None:
            said = f"{said} {line.strip()}"
            continue
        if said:
            yield at_ns, said
        moment = datetime.fromisoformat(stamp[1]).replace(tzinfo=UTC)
        since = moment - datetime.fromtimestamp(0, UTC)
        at_ns = (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000 - ahead_ns
        said = stamp[2].strip()
    if said:
        yield at_ns, said


def result(
    evidence: RoutingEvidence, filters: tuple[FilterEvidence, ...], begin_ns: int | None
) -> dict[str, RouterResult]:
    """The routers by name. Times count from the workload's start, or from that of the clock if None."""
    found = {each.name: _result(each, evidence.waited_ns, begin_ns or 0) for each in evidence.routers}
    for filter in filters:
        met = {f"{where}: {text}": packets for where, text, packets in filter.met}
        found[filter.name] = replace(found.get(filter.name, RouterResult()), rules=met)
    return found


def _result(each: RouterEvidence, waited_ns: int | None, begin_ns: int) -> RouterResult:
    return RouterResult(
        waited_s=None if waited_ns is None else waited_ns / 1e9,
        neighbours_before=_there(each.before),
        neighbours_after=_there(each.after),
        routes={network: _words(hops) for network, hops in sorted((each.after.routes or {}).items())},
        changes=tuple(RouteChange((at_ns - begin_ns) / 1e9, what) for at_ns, what in each.changes),
    )


def _there(look: Look) -> tuple[str, ...]:
    return tuple(f"{name} {to}" for name, found in look.neighbours.items() for to, ok in (found or {}).items() if ok)


def _words(hops: frozenset[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(sorted(f"{via} {device}".strip() for via, device in hops))
