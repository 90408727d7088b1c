"""The state of running networks: nodes, links, and what has passed through the links. Asks their keepers."""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import Iterator
from typing import Any

from ..error import MachineError
from ..plan.node.namespace import node_netns
from ..spec.syntax import input_file
from ..trial.observe import sample
from ..trial.observe.sample import Query
from .connection import ask, run
from .running_network import RunningNetwork

OBSERVE = "/run/tools/observe"
DUMP_BYTES = 64 << 20
"""Of what the observer tells; a guest could have written anything in its place."""
OURS = ("emulator", "changes", "drop_counters", "fault_counters")
"""Facts about a link that only this module needs."""


def overview(network: RunningNetwork) -> dict[str, Any]:
    """JSON: name, since, kernel, nodes with their addresses, links with what is asked of them and what passed through
    them.

    `seen` of a link is None if the network did not answer.
    """
    about = network.about
    told = ask(network, "status")
    counters = _counters(network)
    links = [{**link, "seen": None if counters is None else _seen(link, counters)} for link in about["links"]]
    nodes = {name: {"type": node["type"], "ports": node["ports"]} for name, node in about["nodes"].items()}
    return {
        "name": network.name,
        "topology": about["topology"],
        "kernel": about["kernel"],
        "image": about["image"],
        "since": network.since,
        "memory_bytes": told["memory_bytes"],
        "events": told["events"],
        "nodes": nodes,
        "links": [{key: value for key, value in link.items() if key not in OURS} for link in links],
    }


Counters = dict[tuple[str, str], dict[str, int]]


def _counters(network: RunningNetwork) -> Counters | None:
    """Maps (namespace, device) to its counters, for the first end of each link and for its emulator; and (namespace,
    counter) to the packets of a counter of the emulator.
    """
    with contextlib.suppress(MachineError, OSError, ValueError, LookupError, ArithmeticError, struct.error):
        sources = tuple(_sources(network))
        if not sources:
            return {}
        name = f"counters-{network.entry.name}.bin"
        path = network.folder / "trial" / name
        path.unlink(missing_ok=True)
        words = [OBSERVE, f"/run/trial/{name}", "0", *(source.word for source in sources)]
        status, _, _ = run(network, {}, words)
        if status == 0:
            return _decoded(input_file.read(path, DUMP_BYTES, by_link=False), sources)
    return None


def _sources(network: RunningNetwork) -> Iterator[Query]:
    """Takes the counters of the emulator, through which both directions pass; of a plain link those of either end."""
    spaces: dict[str, None] = {}
    for link in network.about["links"]:
        where = [network.about["nodes"][end["node"]]["where"].get("netns") for end in link["ends"]]
        space = link["emulator"] or where[0] or where[1]
        if space is not None:
            spaces[space] = None
    yield from (Query(kind, space) for space in spaces for kind in ("link", "qdisc"))
    yield from (Query("nft", link["emulator"]) for link in network.about["links"] if link["drop_counters"])


def _decoded(data: bytes, sources: tuple[Query, ...]) -> Counters:
    found = {key: dict(each) for key, each in sample.device_counters(data, sources).items()}
    names = sample.device_numbers(data, sources)
    for queue in sample.queue_samples(data, sources):
        counted = found.get((queue.netns, names.get((queue.netns, queue.device), "")))
        if counted is not None:
            counted["drops"] = max(counted.get("drops", 0), queue.drops)  # a parent counts those of its children, too
    for counter in sample.counter_samples(data, sources):
        found[counter.netns, counter.name] = {"packets": counter.packets}
    return found


def _seen(link: dict[str, Any], counters: Counters) -> dict[str, Any] | None:
    """Packets and bytes in each direction, and the drops of an emulator's queues, losses and policy."""
    first, second = link["ends"]
    if link["emulator"] is not None:
        space = link["emulator"]
        ins = [counters.get((space, device)) for device in ("end0", "end1")]
        ways = {"forward": (ins[0], "rx"), "backward": (ins[1], "rx")}
    else:
        near = counters.get((node_netns(first["node"]), first["device"]))
        far = counters.get((node_netns(second["node"]), second["device"]))
        ways = (
            {"forward": (near, "tx"), "backward": (near, "rx")}
            if near
            else {"forward": (far, "rx"), "backward": (far, "tx")}
        )
        space = None
    if any(counted is None for counted, _ in ways.values()):
        return None
    seen: dict[str, Any] = {
        way: {"packets": counted[f"{word}_packets"], "bytes": counted[f"{word}_bytes"]}
        for way, (counted, word) in ways.items()
        if counted is not None
    }
    named = [*link["drop_counters"], *(name for names in link.get("fault_counters", {}).values() for name in names)]
    if not link.get("changes") and any((space, name) not in counters for name in named):
        return None
    if space is not None:
        queued = sum(each.get("drops", 0) for (netns, _), each in counters.items() if netns == space)
        for fault, names in link.get("fault_counters", {}).items():
            seen[fault] = sum(_packets(counters, space, name) for name in names)
        seen["drops"] = queued + sum(_packets(counters, space, name) for name in link["drop_counters"])
    return seen


def _packets(counters: Counters, space: str, name: str) -> int:
    """A counter of what a schedule changes is made when it changes."""
    return counters.get((space, name), {"packets": 0})["packets"]


def as_json(networks: list[dict[str, Any]]) -> str:
    return json.dumps(networks, indent=2, ensure_ascii=False)
