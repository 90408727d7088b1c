"""DHCP and DNS servers: does each dnsmasq run after the workload, and does each client have its lease? Reads files of a
trial's folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...codec.frozen import dataclass
from ...model.scenario import Trial
from ...plan.network import Plan
from ...plan.node import service
from ...plan.step import Run, Step
from ..evidence.case import Case, Subject, When
from ..observe.process_state import is_alive
from ..result import Finding

LOG = "look at its log: testbed up, then testbed logs NODE"


@dataclass(frozen=True)
class Server:
    """A DHCP or DNS server after the workload: whether it runs, and its leases: pairs (MAC address, IP address)."""

    name: str
    runs: bool
    leases: frozenset[tuple[str, str]] = frozenset()


def _state_file(server: str) -> str:
    return f"server-{server}.txt"


def _leases_file(server: str) -> str:
    return f"leases-{server}.txt"


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    for node in service.servers(trial.topology) if when == "late" else ():
        at = service.folder(node.name)
        state = f"grep State: /proc/$(cat {at}/dnsmasq.pid)/status"
        yield Run(("sh", "-c", state), "servers", out=_state_file(node.name), may_fail=True)
        if node.dhcp is not None:
            yield Run(("cat", f"{at}/{service.LEASES}"), "servers", out=_leases_file(node.name), may_fail=True)


def read(trial: Trial, plan: Plan, folder: Path) -> tuple[Server, ...]:
    return tuple(_server(node.name, folder) for node in service.servers(trial.topology))


def _server(name: str, folder: Path) -> Server:
    """dnsmasq writes for each lease its end, the MAC address, the IP address, the name and the client's identity."""
    state, leases = folder / _state_file(name), folder / _leases_file(name)
    lines = [line.split() for line in leases.read_text().splitlines()] if leases.exists() else []
    runs = is_alive(state.read_text()) if state.exists() else False
    return Server(name, runs, frozenset((words[1], words[2]) for words in lines if len(words) > 2))


def check(case: Case, seen: tuple[Server, ...]) -> Iterator[Finding]:
    """After the workload every dnsmasq runs, and has leased each client of its segment the address of the plan."""
    told = {each.name: each for each in seen}
    for node in service.servers(case.trial.topology):
        found = told.get(node.name)
        if found is None or not found.runs:
            yield Finding("servers", "invalid", f"dnsmasq of {node.name} did not run after the workload", LOG)
    leased = {pair for each in seen for pair in each.leases}
    for node in case.trial.topology.nodes:
        for port in case.plan.book.ports_of(node.name) if node.takes_lease else ():
            address = str(port.addresses[0].ip)
            if (port.mac, address) not in leased:
                what = f"no DHCP server has a lease of {address} for {node.name} after the workload"
                yield Finding("servers", "invalid", what, LOG)


DHCP = Subject(name="servers", kind=tuple[Server, ...], read=read, steps=steps, checks=(check,))
