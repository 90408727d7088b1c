"""Routing daemons in a trial: the steps that wait for them, and that ask them before and after the workload. Pure, no
I/O.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from ...model.topology import Topology
from ...plan.network import Plan
from ...plan.node import frr
from ...plan.node.frr import FRR_FOLDER, vtysh_words
from ...plan.node.namespace import node_netns
from ...plan.step import Location, Run, Step, Stop

SCRIPT = "await_routes.py"
CONVERGED, CLOCK = "routing-converged.txt", "routing-clock.txt"
SHOW = {
    "routes": "show ip route json",
    "ospf": "show ip ospf neighbor json",
    "bgp": "show bgp ipv4 unicast summary json",
    "rip": "show ip rip status",
}
"""What each daemon is asked; `routes` is zebra's."""
OF_DAEMON = {"ospfd": "ospf", "bgpd": "bgp", "ripd": "rip"}
KERNEL, DAEMONS = "kernel", "daemons"
NOW = "import time; print(time.time_ns() - time.monotonic_ns())"


def file(router: str, what: str, when: str) -> str:
    return f"routing-{router}-{what}-{when}.txt"


def changes_file(router: str) -> str:
    return f"routing-{router}-changes.txt"


def converged_file(number: int) -> str:
    """Of each wait, one after the other."""
    return CONVERGED if not number else f"routing-converged-{number}.txt"


def awaits(topology: Topology, planned: Plan) -> Iterator[Step]:
    """Waits for the routers that are to be waited for, each kind of patience by itself, the shortest first."""
    every = {each.router: each for each in frr.knowledge(topology, planned.book)}
    limits = {node.name: each.within_ns for node, each in frr.routers(topology)}
    for number, limit_ns in enumerate(sorted({limit for limit in limits.values() if limit is not None})):
        wanted = [asdict(each) for name, each in every.items() if limits[name] == limit_ns]
        words = ("python3", f"/run/tools/{SCRIPT}", FRR_FOLDER, f"{limit_ns / 1e9:g}")
        yield Run(words, "routing", stdin=json.dumps(wanted), out=converged_file(number))


def asks(topology: Topology, planned: Plan, when: str) -> Iterator[Step]:
    """Asks every router, and the kernel, for routes; every daemon for its neighbours, and whether it runs."""
    for node, each in frr.routers(topology):
        where = Location(node_netns(node.name))
        running = frr.daemons(frr.config(node, each, topology, planned.book))
        for what in ("routes", *(OF_DAEMON[name] for name in running if name in OF_DAEMON)):
            words = vtysh_words(node.name, "-c", SHOW[what])
            yield Run(words, "routing", where, out=file(node.name, what, when), may_fail=True)
        kernel = ("ip", "-N", "-json", "-4", "route", "show")
        yield Run(kernel, "routing", where, out=file(node.name, KERNEL, when))
        pids = " ".join(f"{FRR_FOLDER}/{node.name}/{name}.pid" for name in running)
        state = f'for f in {pids}; do echo "$f $(grep State: /proc/$(cat $f)/status)"; done'
        yield Run(("sh", "-c", state), "routing", out=file(node.name, DAEMONS, when), may_fail=True)


def watches(topology: Topology) -> Iterator[Step]:
    """Writes every change of a route while the workload runs, with the wall clock's time, and how far that is ahead."""
    routers = frr.routers(topology)
    if routers:
        yield Run(("python3", "-c", NOW), "routing", out=CLOCK)
    for node, _ in routers:
        words = ("env", "TZ=UTC", "ip", "-ts", "-4", "monitor", "route")
        out, name = changes_file(node.name), f"routes-{node.name}"
        yield Run(words, "routing", Location(node_netns(node.name)), out=out, background=name)


def stops(topology: Topology) -> Iterator[Step]:
    for node, _ in frr.routers(topology):
        yield Stop(f"routes-{node.name}")
