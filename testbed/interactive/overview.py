"""The state of running networks: nodes, links, and what has passed through the links. Asks their keepers."""

from __future__ import annotations

import contextlib
import json
import struct
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ..codec.frozen import dataclass
from ..error import MachineError
from ..kernel import guest_file
from ..model.node.type import NODE_TYPES
from ..plan.link.stage import ETHERNET_BYTES, RATE
from ..plan.node.frr import FRR_FOLDER
from ..plan.node.namespace import node_netns
from ..spec.syntax import input_file
from ..trial.observe import netlink, sample
from ..trial.observe.sample import Query
from . import node_files
from .connection import ask, run
from .node_files import ROUTING, TRIAL
from .running_network import RunningNetwork

OBSERVE, LOOK = "/run/tools/observe", "/run/tools/await_routes.py"
SERVICE = """
cat "$1/leases" 2>/dev/null
case $(cat /proc/$(cat "$1/dnsmasq.pid")/comm 2>/dev/null) in dnsmasq) echo runs ;; esac
"""
"""Prints the leases of a dnsmasq, and a line if it runs."""
PIDS = {
    "controller": {"controller": "pid"},
    "switch": {"ovs-vswitchd": "ovs-vswitchd.pid", "ovsdb-server": "ovsdb-server.pid"},
}
"""The daemons of nodes that speak OpenFlow, and the files with the numbers of their processes."""
KEPT = ("ovs-vswitchd", "ovsdb-server")
"""Those that must run; the end of a controller is told by the agent."""
TIMES = """
look() {
  for each; do
    pid= stat=; read -r pid <"$each"; read -r stat <"/proc/${pid:-none}/stat"; echo "$stat"
  done 2>/dev/null
  cat /proc/uptime
}
look "$@"; sleep 0.2; echo --; look "$@"; sleep 0.2; echo --; look "$@"
"""
RAISED = """
last_run=$0
for each; do
  sh -c "$last_run" "$each" | grep -q 'Traceback (most recent call last)' && echo "$each"
done
true
"""
"""Prints those of the logs whose last run tells of an exception."""
HAD_EXCEPTION = "{name}: its app had an exception: testbed logs {name}"
TICKS = 100
"""Of a second, in which /proc counts the time of processes (USER_HZ)."""
BUSY = 0.3
"""The share of a core that is worth a word. Learning switches in a small network take less than 0.01."""
WAYS = {"forward": ("end0", "end1"), "backward": ("end1", "end0")}
"""Where packets of a direction come into an emulator, and where they leave it."""
EARLIER = "earlier"
"""Of a link: what was dropped, and met by faults, before its emulator was set up anew, which counts from 0."""
OURS = ("emulator", "merging", "changes", "drop_counters", "fault_counters", "switched", EARLIER)
"""Facts about a link that only this module needs."""


def overview(network: RunningNetwork) -> dict[str, Any]:
    """JSON: name, since, kernel, nodes with their addresses, links with what is asked of them and what passed through
    them.

    `seen` of a link is None if the network did not answer, `clock_s` too: when the links were looked at, by a clock of
    the network that began some time before it. A router with daemons has `routing`: their neighbours, the number of
    their routes, and what is missing of either, which is an event, too. A node with a DHCP or DNS server has
    `services`: its leases, its domain, and whether it runs.
    """
    about = network.about
    told = ask(network, "status")
    look = _look(network)
    daemons = _daemons(network)
    links = [{**link, "seen": None if look is None else _seen(link, look)} for link in about["links"]]
    routers, served = _routers(network), _services(network)
    nodes = {name: _node(name, node, routers, served) for name, node in about["nodes"].items()}
    nodes = {name: {**node, **({"off": True} if network.is_off(name) else {})} for name, node in nodes.items()}
    nodes |= {name: {**nodes[name], "cpu": found.share} for name, found in daemons.items() if found.share is not None}
    ended = [f"{name}: its DHCP or DNS server does not run" for name, each in served.items() if not each["runs"]]
    return {
        "name": network.name,
        "topology": about["topology"],
        "kernel": about["kernel"],
        "image": about["image"],
        "since": network.since,
        "memory_bytes": told["memory_bytes"],
        "events": [*told["events"], *_missing(network, routers), *ended, *_ailing(network, daemons)],
        "clock_s": None if look is None else look.clock_s,
        "nodes": nodes,
        "links": [{key: value for key, value in link.items() if key not in OURS} for link in links],
    }


def _missing(network: RunningNetwork, routers: Mapping[str, Any]) -> Iterator[str]:
    for name, each in routers.items():
        yield from () if network.is_off(name) else each["missing"]


@dataclass(frozen=True)
class Daemons:
    """The programs of a controller or an Open vSwitch. `share` is how much of a core a controller took while it was
    looked at, None if it was not there; `missing` are those of a switch that do not run.
    """

    share: float | None = None
    missing: tuple[str, ...] = ()


def _daemons(network: RunningNetwork) -> dict[str, Daemons]:
    """Of each controller and each Open vSwitch of ours; nothing if the network does not answer."""
    files = {
        (name, daemon): f"{node['daemons']}/{file}"
        for name, node in network.about["nodes"].items()
        if "daemons" in node
        for daemon, file in PIDS.get(NODE_TYPES[node["type"]].openflow or "", {}).items()
    }
    if not files:
        return {}
    try:
        status, out, _ = run(network, {}, ["sh", "-c", TIMES, "sh", *files.values()])
        parts = [part.splitlines() for part in out.decode(errors="replace").split("--\n")]
        looks = [(float(lines[-1].split()[0]), _times(lines, list(files))) for lines in parts]
    except (MachineError, OSError, ValueError, LookupError):
        return {}
    found: dict[str, Daemons] = {}
    for name, daemon in files:
        known = found.get(name, Daemons())
        if daemon in KEPT:
            is_gone = looks[-1][1].get((name, daemon)) is None
            found[name] = replace(known, missing=(*known.missing, *([daemon] if is_gone else [])))
        else:
            found[name] = replace(known, share=_share(looks, (name, daemon)))
    return found if status == 0 else {}


def _share(looks: Sequence[tuple[float, dict[tuple[str, str], int | None]]], key: tuple[str, str]) -> float | None:
    """The least that a process took between two looks: an app that loops does not rest."""
    found = []
    for (began_s, first), (ended_s, last) in pairwise(looks):
        before, after = first.get(key), last.get(key)
        if before is None or after is None or ended_s <= began_s:
            return None
        found.append((after - before) / TICKS / (ended_s - began_s))
    return round(min(found), 2) if found else None


def _times(lines: Sequence[str], keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int | None]:
    """The processor time of each process, in ticks; None of one that is not there."""
    return {key: _ticks(line) for key, line in zip(keys, lines, strict=False)}


def _ticks(line: str) -> int | None:
    """See proc_pid_stat(5): utime and stime; a zombie has ended."""
    words = line.rpartition(")")[2].split()
    return None if len(words) < 13 or words[0] == "Z" else int(words[11]) + int(words[12])


def _ailing(network: RunningNetwork, daemons: Mapping[str, Daemons]) -> Iterator[str]:
    for name in network.nodes:
        if network.is_off(name):
            yield f"{name} is off: testbed node {name} start"
            continue
        found = daemons.get(name, Daemons())
        for daemon in found.missing:
            yield f"{name}: its {daemon} does not run: testbed logs {name}, testbed node {name} restart"
        if found.share is not None and found.share >= BUSY:
            why = "its app loops without hub.sleep(), or very many packets come to it"
            yield f"{name} takes {found.share:.0%} of a core: {why}"
    for name in raised(network):
        yield HAD_EXCEPTION.format(name=name)


def _node(name: str, node: dict[str, Any], routers: dict[str, Any], served: dict[str, Any]) -> dict[str, Any]:
    found = {"type": node["type"], "ports": node["ports"]}
    found |= {"routing": routers[name]} if name in routers else {}
    return {**found, "services": served[name]} if name in served else found


def raised(network: RunningNetwork) -> tuple[str, ...]:
    """The controllers whose app has had an exception since it started; none if the network does not answer."""
    files = {
        name: node_files.logs(node["type"], name, finds_routes=False, serves=False)[0]
        for name, node in network.about["nodes"].items()
        if NODE_TYPES[node["type"]].openflow == "controller" and not network.is_off(name)
    }
    found: list[str] = []
    if files:
        with contextlib.suppress(MachineError, OSError):
            _, out, _ = run(network, {}, ["sh", "-c", RAISED, node_files.LAST_RUN, *files.values()])
            found = out.decode(errors="replace").splitlines()
    return tuple(name for name, file in files.items() if file in found)


def _services(network: RunningNetwork) -> dict[str, Any]:
    """What each node with a DHCP or DNS server has leased, as dnsmasq's file of leases says: the time until which it
    holds, MAC address, address, name (or *). One whose process is not there, or of which nobody can tell, does not run.
    """
    found = {}
    for name, node in network.about["nodes"].items():
        about = node.get("serves")
        if isinstance(about, dict):
            lines: list[list[str]] = []
            with contextlib.suppress(MachineError, OSError):
                status, out, _ = run(network, {}, ["sh", "-c", SERVICE, "sh", about["folder"]])
                lines = [line.split() for line in out.decode(errors="replace").splitlines()] if status == 0 else []
            leases = [
                {"address": words[2], "mac": words[1], "host": None if words[3] == "*" else words[3]}
                for words in lines
                if len(words) >= 4 and words[0].isdigit()
            ]
            found[name] = {"runs": ["runs"] in lines, "dns": about["dns"], "leases": leases if about["dhcp"] else None}
    return found


def lacking(network: RunningNetwork, names: Collection[str]) -> tuple[str, ...]:
    """What these routers miss now: neighbours, and routes; empty if all have all."""
    found = _routers(network) if names else {}
    return tuple(each for name in names for each in found.get(name, {}).get("missing", ()))


def await_routers(
    look: Callable[[], tuple[str, ...]],
    limit_s: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[str, ...]:
    """Waits until nothing is missing, so long at most; what is missing then. Ctrl-C ends the wait."""
    until = clock() + limit_s
    missing = look()
    with contextlib.suppress(KeyboardInterrupt):
        while missing and clock() < until:
            sleep(LOOK_AGAIN_S)
            missing = look()
    return missing


def _routers(network: RunningNetwork) -> dict[str, Any]:
    """What the daemons of each router say now."""
    names = [name for name, node in network.about["nodes"].items() if "routing" in node]
    if not names:
        return {}
    with contextlib.suppress(MachineError, OSError, ValueError, LookupError):
        status, out, _ = run(network, {}, ["sh", "-c", f"python3 {LOOK} {FRR_FOLDER} look < {TRIAL}/{ROUTING}"])
        told = json.loads(out) if status == 0 else {}
        if set(told) == set(names) and all(isinstance(each["missing"], list) for each in told.values()):
            wanted = json.loads((network.folder / "trial" / ROUTING).read_text())
            return {each["router"]: with_absent(told[each["router"]], each["neighbours"]) for each in wanted}
    return {name: {"neighbours": {}, "routes": None, "missing": [f"{name}: did not answer"]} for name in names}


def with_absent(told: Mapping[str, Any], wanted: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, Any]:
    """What a router's daemons say, with the neighbours that it should have and that they have forgotten, or never met:
    an address is False then. `wanted` has (address, node) of each protocol.
    """
    found = told["neighbours"]
    absent = {protocol: {address: False for address, _ in several} for protocol, several in wanted.items()}
    return {**told, "neighbours": {key: absent.get(key, {}) | found.get(key, {}) for key in {**absent, **found}}}


LOOK_AGAIN_S = 0.5
"""Between two looks at routers that are still to find one another."""
Counters = dict[tuple[str, str], dict[str, int]]


@dataclass(frozen=True)
class Look:
    """`counters` maps (namespace, device) to its counters, for the first end of each link and for its emulator; and
    (namespace, counter) to the packets of a counter of the emulator. `queues` maps (namespace, device) to the packets
    and bytes that wait for the rate there.
    """

    clock_s: float | None
    counters: Counters
    queues: Mapping[tuple[str, str], tuple[int, int]]


def _look(network: RunningNetwork) -> Look | None:
    """None if the network does not answer. The file is this look's own: several may look at once."""
    path = network.folder / "trial" / f"counters-{uuid.uuid4().hex}.bin"
    with contextlib.suppress(MachineError, OSError, ValueError, LookupError, ArithmeticError, struct.error):
        sources = tuple(_sources(network))
        if not sources:
            return Look(None, {}, {})
        try:
            words = [OBSERVE, f"/run/trial/{path.name}", "0", *(source.word for source in sources)]
            status, _, _ = run(network, {}, words)
            if status == 0:
                return _decoded(input_file.read(path, guest_file.COUNTERS_BYTES, by_link=False), sources)
        finally:
            path.unlink(missing_ok=True)
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


def _decoded(data: bytes, sources: tuple[Query, ...]) -> Look:
    found = {key: dict(each) for key, each in sample.device_counters(data, sources).items()}
    names = sample.device_numbers(data, sources)
    queues = {}
    for queue in sample.queue_samples(data, sources):
        device = (queue.netns, names.get((queue.netns, queue.device), ""))
        counted = found.get(device)
        if counted is not None:
            counted["drops"] = max(counted.get("drops", 0), queue.drops)  # a parent counts those of its children, too
            if queue.handle == RATE:
                queues[device] = (queue.backlog_packets, queue.backlog_bytes)
    for counter in sample.counter_samples(data, sources):
        found[counter.netns, counter.name] = {"packets": counter.packets}
    times = [record.time_ns for record in netlink.records(data)]
    return Look(times[0] / 1e9 if times else None, found, queues)


def dropped(network: RunningNetwork, link: str) -> dict[str, int]:
    """The packets that a link has dropped since the start of the network, and those that each of its faults has met; as
    far as known before, if the network does not answer.
    """
    (about,) = (each for each in network.about["links"] if each["name"] == link)
    look = _look(network)
    seen = None if look is None else _seen(about, look)
    earlier: dict[str, int] = about.get(EARLIER, {})
    return earlier if seen is None else {key: count for key, count in seen.items() if isinstance(count, int)}


def _seen(link: dict[str, Any], look: Look) -> dict[str, Any] | None:
    """Packets and bytes in each direction; of an emulator also those that left it, what waits for its rate now, and the
    drops of its queues, losses and policy.
    """
    counters = look.counters
    first, second = link["ends"]
    if link["emulator"] is not None:
        return _seen_emulator(link, look)
    near = counters.get((node_netns(first["node"]), first["device"]))
    far = counters.get((node_netns(second["node"]), second["device"]))
    counted, forward, backward = (near, "tx", "rx") if near else (far, "rx", "tx")
    if counted is None:
        return None
    one, other = link.get("merging", (False, False))
    return {"forward": _passed(counted, forward, other), "backward": _passed(counted, backward, one)}


def _seen_emulator(link: dict[str, Any], look: Look) -> dict[str, Any] | None:
    space, counters = link["emulator"], look.counters
    ends = {end: counters.get((space, end)) for end in ("end0", "end1")}
    seen: dict[str, Any] = {}
    merging = dict(zip(("end0", "end1"), link.get("merging", (False, False)), strict=True))
    for way, (into, out_of) in WAYS.items():
        came, left = ends[into], ends[out_of]
        if came is None or left is None:
            return None
        waiting = look.queues.get((space, out_of))
        seen[way] = {
            **_passed(came, "rx"),
            "left": _passed(left, "tx", merging[out_of]),
            "queue": None if waiting is None else {"packets": waiting[0], "bytes": waiting[1]},
        }
    faults = link.get("fault_counters", {})
    named = [*link["drop_counters"], *(name for names in faults.values() for name in names)]
    if not link.get("changes") and any((space, name) not in counters for name in named):
        return None
    queued = sum(each.get("drops", 0) for (netns, _), each in counters.items() if netns == space)
    for fault, names in faults.items():
        seen[fault] = sum(_packets(counters, space, name) for name in names)
    seen["drops"] = queued + sum(_packets(counters, space, name) for name in link["drop_counters"])
    return seen | {key: seen.get(key, 0) + count for key, count in link.get(EARLIER, {}).items()}


def _passed(counted: Mapping[str, int], word: str, is_merged: bool = False) -> dict[str, int]:
    """Whole Ethernet frames. A veth device counts what a NIC that merges gets from it without the headers
    (drivers/net/veth.c: xdp_bytes, which veth_get_stats64 takes for those sent by the other end).
    """
    packets = counted[f"{word}_packets"]
    return {"packets": packets, "bytes": counted[f"{word}_bytes"] + ETHERNET_BYTES * packets * is_merged}


def _packets(counters: Counters, space: str, name: str) -> int:
    """A counter of what a schedule changes is made when it changes."""
    return counters.get((space, name), {"packets": 0})["packets"]


def as_json(networks: list[dict[str, Any]]) -> str:
    return json.dumps(networks, indent=2, ensure_ascii=False)
