"""One plan in every place: the lab kernel in virtual and in real time, and this machine's kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from trials import Ran, make_trial

from testbed.error import MachineError
from testbed.spec.load import load_topology
from testbed.spec.topology.file import TopologyFile
from testbed.trial import readiness
from testbed.trial.orders.sequence import Orders, orders
from testbed.trial.start import bring_up
from testbed.trial.start.bring_up import LAB_SYSCTLS, VIRTUAL_TIME_SYSCTLS

READY = Path(__file__).parents[1] / "topologies"
FILES = sorted(READY.glob("*.yaml"))
PLACES = ("lab", "lab-realtime", "host")
PLAIN: dict[str, Any] = {
    "name": "net",
    "ip": "both",
    "nodes": {
        "a": {"type": "host"},
        "left": {"type": "switch"},
        "middle": {"type": "router"},
        "right": {"type": "switch"},
        "b": {"type": "host"},
    },
    "links": {
        "one": {"ends": ["a", "left"]},
        "two": {"ends": ["left", "middle"]},
        "three": {"ends": ["middle", "right"]},
        "four": {"ends": ["right", "b"]},
    },
}
"""Nothing to emulate, so that every kernel can."""
PING = {"tool": "ping", "from": "a", "to": "b", "count": 3}
SHOW = {
    "addresses.json": ["ip", "-json", "address"],
    "routes.json": ["ip", "-json", "route"],
    "routes-6.json": ["ip", "-json", "-6", "route"],
}


def in_every_place(topology: dict[str, Any], workload: dict[str, Any]) -> dict[str, Orders]:
    return {place: orders(make_trial(topology=topology, workload=workload, kernel=place)) for place in PLACES}


def commands_of(made: Orders) -> list[tuple[object, ...]]:
    """Without the size of token buckets, which is larger where timers are late."""
    return [(c.tool, c.netns, *without_burst(c.words)) for c in made.plan.commands]


def without_burst(words: tuple[str, ...]) -> tuple[str, ...]:
    at = words.index("burst") if "tbf" in words else None
    return words if at is None else (*words[:at], *words[at + 2 :])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_topology_leads_to_the_same_commands_and_addresses_in_every_place(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but where superpackets are cut: only a lab kernel with our patch can do that in the token bucket."""
    monkeypatch.setattr(bring_up, "cuts_late", lambda kernel: False)
    topology = TopologyFile.of(load_topology(path)).written()  # as a Mininet topology in Python comes out
    types = {node["type"] for node in topology["nodes"].values()}
    hosts = [name for name, node in topology["nodes"].items() if node["type"] == "host"]
    if not types <= {"host", "router", "switch"} or len(hosts) < 2:
        pytest.skip(f"{', '.join(sorted(types))}: not every place has all of these")
    made = in_every_place(topology, {"tool": "ping", "from": hosts[0], "to": hosts[-1], "count": 1})
    assert commands_of(made["lab"]) == commands_of(made["lab-realtime"]) == commands_of(made["host"])
    assert made["lab"].plan.book == made["lab-realtime"].plan.book == made["host"].plan.book
    assert made["host"].commands == made["host"].plan.commands
    for place, sysctls in (("lab", (*LAB_SYSCTLS, *VIRTUAL_TIME_SYSCTLS)), ("lab-realtime", LAB_SYSCTLS)):
        before = made[place].commands[: -len(made[place].plan.commands)]
        assert [command.words for command in before] == [(f"/proc/sys/{key}", value) for key, value in sysctls]


@pytest.mark.lab
@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_every_kernel_has_the_same_addresses_and_routes_in_the_end(run_trial: Callable[..., Ran]) -> None:
    seen = {}
    for place in PLACES:
        trial = make_trial(topology=PLAIN, workload=PING, kernel=place)
        try:
            readiness.check(trial, orders(trial))
        except MachineError:  # such as a host whose kernel has no bridges
            continue
        ran = run_trial(topology=PLAIN, workload=PING, kernel=place, tamper=show)
        assert ran.result.kernel == place
        assert ran.ping.received == 3
        seen[place] = [told(ran, node, name) for node in PLAIN["nodes"] for name in SHOW]
    assert {"lab", "lab-realtime"} <= seen.keys()
    for each in seen.values():
        assert each == seen["lab"]


def show(steps: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    shown = [
        {"run": words, "netns": f"tb-{node}", "out": f"{node}-{name}"}
        for node in PLAIN["nodes"]
        for name, words in SHOW.items()
    ]
    return (*steps, *shown)


def told(ran: Ran, node: str, name: str) -> list[Any]:
    """What iproute2 says of addresses and routes, without the order, and what kernels add by themselves."""
    entries = yaml.safe_load((ran.folder / f"{node}-{name}").read_text()) or []
    if name != "addresses.json":
        own = [
            e for e in entries if e.get("type", "unicast") == "unicast" and not e["dst"].startswith(("fe80", "ff00"))
        ]
        return sorted((e["dst"], e.get("gateway", ""), e.get("dev", "")) for e in own)
    known = [
        (entry["ifname"], entry["address"], one["local"], one["prefixlen"])
        for entry in entries
        for one in entry["addr_info"]
        if one["scope"] == "global"
    ]
    return sorted(known)
