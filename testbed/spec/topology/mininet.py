"""A Mininet topology in Python, as a topology file names it, and the nodes and links that it comes to. Pure, no I/O.

What the class says in Mininet's words becomes what a topology file says: bw, delay, jitter, loss and max_queue_size of
links, the addresses of hosts, and what is said of switches. An option that we cannot follow is refused, not left out;
those that change nothing here are tables, with the reason.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from ipaddress import IPv4Address, IPv4Network
from itertools import chain, count, pairwise
from typing import Any, Literal

from ...codec.keyed import Keyed, Kind, key, keyed, read
from ...codec.kind import ANY, TEXT, WORD, mapped, word
from ...codec.scalar import NAME_PATTERN
from ...error import ValueRefused
from ...model.openflow import DPID_MAX, NOBODY

IP_BASE = "10.0.0.0/8"
"""Mininet's own."""

FREE = "computing is free in virtual time"
NODES: Mapping[str, str] = {
    "cpu": FREE,
    "cores": FREE,
    "sched": FREE,
    "period_us": FREE,
    "defaultRoute": "routes follow from the links",
    "inNamespace": "every node has a namespace of its own",
}
"""Of hosts."""

OF_SWITCHES: Mapping[str, str] = {
    "batch": "all switches start one by one",
    "listenPort": "testbed exec SWITCH -- ovs-ofctl needs no port",
    "inNamespace": NODES["inNamespace"],
    "opts": "those of Stanford's switch",
    "dpopts": "those of Stanford's switch",
}
OF_BRIDGES: Mapping[str, str] = {
    "stp": "",  # which takes effect
    "prio": "the bridge with the lowest MAC address is the root",
    "dpid": "a bridge has no controller that would ask",
}
OF_LINKS: Mapping[str, str] = {
    **dict.fromkeys(("gro", "txo", "rxo"), "`nic:` says how NICs behave"),
    "port": "ports are in the order of the links",
    **dict.fromkeys(("intfName", "intfName1", "intfName2"), "devices are eth0, eth1, …"),
    "use_htb": "a TCLink is an HTB anyway",
    "fast": "links are made at once anyway",
    "delete": "all is removed at the end",
    "latency_ms": "it is one of use_tbf's",
}

WAITS = "a network is up when all in it is"
OF_NET: Mapping[str, str] = {
    "autoStaticArp": "hosts know each other's MAC addresses unless neighbours: learned",
    "inNamespace": NODES["inNamespace"],
    "autoPinCpus": FREE,
    "listenPort": OF_SWITCHES["listenPort"],
    "waitConnected": WAITS,
    "build": WAITS,
    "cleanup": "nothing of another network is in the way",
    "xterms": "testbed shell NODE opens a shell",
}
"""Of Mininet() itself; `autoSetMacs` and `ipBase` take effect."""

IN_A_ROW = "ports are numbered in Mininet's order, without gaps"
SAYS_NOTHING: tuple[Any, ...] = (None, [], {}, "")


def check_net(options: Mapping[str, Any]) -> None:
    """Raises ValueRefused for what Mininet() has not got."""
    known = (*OF_NET, "autoSetMacs", "ipBase")
    for name in options:
        if name not in known:
            raise ValueRefused(f"Mininet() has no option {name!r} that can be followed here", ", ".join(sorted(known)))


def numbering(options: Mapping[str, Any]) -> Callable[[int], tuple[str, str | None]]:
    """The address of each host, by its number from 1 on, and its MAC address; None leaves that to the plan."""
    text = str(options.get("ipBase", IP_BASE))
    try:
        base, written = IPv4Network(text, strict=False), IPv4Address(text.partition("/")[0])
    except ValueError:
        raise ValueRefused(f"ipBase {text!r} is no network", "such as 10.0.0.0/8") from None
    first = max(int(written) & int(base.hostmask), 1)

    def of(number: int) -> tuple[str, str | None]:
        index = first + number - 1
        if index >= base.num_addresses - 1:
            raise ValueRefused(f"ipBase {text} has too few addresses", "a larger network")
        mac = ":".join(f"{index >> shift & 255:02x}" for shift in (40, 32, 24, 16, 8, 0))
        return f"{base[index]}/{base.prefixlen}", mac if options.get("autoSetMacs") is True else None

    return of


def without_effect(built: Mapping[str, Any], net: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each option that is given and changes nothing."""
    given: dict[str, list[str]] = {}
    for node in built["nodes"]:
        table = OF_SWITCHES if node["is_switch"] else NODES
        for name in _said(node["options"]):
            if table.get(name):
                given.setdefault(f"{name} ({table[name]})", []).append(node["name"])
    for link in built["links"]:
        for name in _said(link["options"]):
            if name in OF_LINKS:
                given.setdefault(f"{name} ({OF_LINKS[name]})", []).append("-".join(link["ends"]))
    for place in _misnumbered(built):
        given.setdefault(f"port1, port2 ({IN_A_ROW})", []).append(place)
    for name in net:
        if name in OF_NET:
            given.setdefault(f"{name} ({OF_NET[name]})", []).append("Mininet()")
    for what, whose in given.items():
        more = f" and {len(whose) - 3} more" if len(whose) > 3 else ""
        yield f"no effect here: {what} of {', '.join(whose[:3])}{more}"


def _said(options: Mapping[str, Any]) -> Iterator[str]:
    return (name for name, value in options.items() if value not in SAYS_NOTHING)


PLACE = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)")
ALLOWED = "FILE.py:CLASS, or {file: FILE.py, class: CLASS, args: {…}}"
HOST_CLASSES = {None, "Host", "CPULimitedHost", "Node"}
LINK_CLASSES = {None, "Link", "TCLink", "TCULink"}
BRIDGE_CLASS, LONE_CLASS, USER_CLASS = "LinuxBridge", "OVSBridge", "UserSwitch"
"""Mininet's Linux bridge, its Open vSwitch without a controller, and the one in user space."""

SWITCH_CLASSES = {None, BRIDGE_CLASS, LONE_CLASS, USER_CLASS, "OVSSwitch", "OVSKernelSwitch"}
OPENFLOW = "OpenFlow13"
"""What controllers speak here; switches offer all versions."""

CONTROLLER = "c0"
"""What Mininet calls it."""
TC_UNITS = {"": 1e3, "us": 1e3, "usec": 1e3, "usecs": 1e3, "ms": 1e6, "msec": 1e6, "msecs": 1e6}
TC_UNITS |= {"ns": 1.0, "s": 1e9, "sec": 1e9, "secs": 1e9}
"""A time without a unit is in µs for tc."""
NAME_MAX = 32
"""Letters of a name."""

SHORT = 80
"""Letters of a value that is quoted."""

_WORDS = mapped(WORD, ANY)


@keyed
class MininetTopologyFile(Keyed):
    """A class of a Python file."""

    file: str = key("file", TEXT, "Relative to the folder of this file.")
    name: str = key("class", TEXT, "The name of a class derived from Mininet's Topo, or a key of the file's topos.")
    args: tuple[tuple[str, Any], ...] = key("args", _WORDS, "The keyword arguments of its build().", default=())
    switch: Literal["ovs", "bridge"] = key(
        "switch", word("ovs", "bridge"), "The type of the switches that have no class.", default="ovs"
    )
    options: tuple[tuple[str, Any], ...] = key(
        "options", _WORDS, "Arguments of Mininet(): autoSetMacs, ipBase, …", default=()
    )
    controller: Any = key(
        "controller", ANY, "The keys of a controller, or none; default: {app: learning-switch}.", default=None
    )


def read_mininet_topology(value: object) -> MininetTopologyFile:
    if isinstance(value, dict):
        given = {key: value[key] for key in ("args", "options") if isinstance(value.get(key), dict)}
        typed = {key: {name: _typed(one) for name, one in words.items()} for key, words in given.items()}
        return read(MininetTopologyFile, {**value, **typed})
    found = PLACE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueRefused("this does not name a class in a Python file", ALLOWED)
    return read(MininetTopologyFile, {"file": found["file"], "class": found["name"]})


def _typed(value: object) -> object:
    """Spec files are read as text: numbers, true and false for the class."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


MININET_TOPOLOGY = Kind(
    read_mininet_topology,
    schema={
        "anyOf": [{"type": "string", "pattern": r"^.+\.py:[A-Za-z_].*$"}, {"$ref": MininetTopologyFile}],
        "description": "A Mininet topology in Python, instead of nodes and links.",
    },
)


def nodes_and_links(built: Mapping[str, Any], mininet_topology: MininetTopologyFile) -> dict[str, Any]:
    """The nodes and links of a topology file, from what the driver read. Raises ValueRefused for what we cannot do."""
    check_net(dict(mininet_topology.options))
    numbered = numbering(dict(mininet_topology.options))
    names = _names([node["name"] for node in built["nodes"]])
    degree = [end for link in built["links"] for end in link["ends"]]
    hosts = [node["name"] for node in built["nodes"] if not node["is_switch"]]
    alone = all(degree.count(name) <= 1 for name in hosts)
    nodes = {}
    for node in built["nodes"]:
        own = numbered(hosts.index(node["name"]) + 1) if node["name"] in hosts and alone else (None, None)
        free = _is_program(mininet_topology.controller)
        nodes[names[node["name"]]] = (
            _switch(node, mininet_topology.switch, free=free) if node["is_switch"] else _host(node, *own)
        )
    _number_switches(nodes, {names[node["name"]]: node["name"] for node in built["nodes"]})
    links: dict[str, Any] = {}
    for link in _in_order_of_ports(built["links"]):
        first, second = (names[end] for end in link["ends"])
        links[_free(f"{first}-{second}", {*nodes, *links})] = {"ends": [first, second], **_link(link)}
    return {"nodes": {**nodes, **_controller(nodes, mininet_topology)}, "links": links}


def _number_switches(nodes: Mapping[str, dict[str, Any]], given: Mapping[str, str]) -> None:
    """Gives a switch without a dpid that of Mininet: the first number in its name (s3 is 3). If two would have the
    same, or one has none, all keep those of their positions.
    """
    switches = [name for name, node in nodes.items() if node["type"] == "ovs"]
    found = {name: re.search("[0-9]+", given[name]) for name in switches}
    dpids = {name: int(nodes[name].get("dpid") or (number[0] if number else 0)) for name, number in found.items()}
    if len(set(dpids.values())) < len(dpids) or not all(0 < dpid <= DPID_MAX for dpid in dpids.values()):
        return
    for position, name in enumerate(switches, 1):
        if dpids[name] != position:
            nodes[name]["dpid"] = str(dpids[name])


def _in_order_of_ports(links: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The links in an order in which those of each node have rising ports, as ours are numbered in the order of the
    links; the order that they have, if there is no such order, and as far as it does not matter.
    """
    at: dict[str, list[tuple[int, int]]] = {}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for position, link in enumerate(links):
        sorter.add(position)
        for end, port in zip(link["ends"], link["ports"], strict=True):
            at.setdefault(end, []).append((port, position))
    for (_, earlier), (_, later) in chain.from_iterable(pairwise(sorted(ports)) for ports in at.values()):
        sorter.add(later, earlier)
    try:
        sorter.prepare()
    except CycleError:
        return list(links)
    ready: list[int] = []
    found = []
    while sorter.is_active():
        for position in sorter.get_ready():
            heappush(ready, position)
        found.append(links[next_one := heappop(ready)])
        sorter.done(next_one)
    return found


def _misnumbered(built: Mapping[str, Any]) -> Iterator[str]:
    """The ports that do not have Mininet's number here."""
    switches = {node["name"] for node in built["nodes"] if node["is_switch"]}
    numbers: Counter[str] = Counter(switches)  # from 1 on, those of hosts from 0 on
    for link in _in_order_of_ports(built["links"]):
        for end, port in zip(link["ends"], link["ports"], strict=True):
            if port != numbers[end]:
                yield f"{end} port {port}"
            numbers[end] += 1


def _free(name: str, taken: Container[str]) -> str:
    """The name, cut to what is allowed, or with the first number from 2 on that makes it another."""
    ends = chain([""], (f"-{number}" for number in count(2)))
    return next(found for end in ends if (found := name[: NAME_MAX - len(end)] + end) not in taken)


def _controller(nodes: Mapping[str, Any], mininet_topology: MininetTopologyFile) -> dict[str, Any]:
    """The one that Open vSwitches ask, if there are any that do; `mn` starts one too."""
    asking = [name for name, node in nodes.items() if node["type"] == "ovs" and node.get("controller") != NOBODY]
    if mininet_topology.controller == NOBODY or not asking:
        if mininet_topology.controller not in (None, NOBODY):
            raise ValueRefused("there is a controller, but no switch uses one", "no such key, or switch: ovs")
        return {}
    if CONTROLLER in nodes:
        raise ValueRefused(f"a node is called {CONTROLLER}, which is the name of the controller", "another name")
    about = {"app": "learning-switch"} if mininet_topology.controller is None else mininet_topology.controller
    if not isinstance(about, dict):
        raise ValueRefused(f"the controller is {about!r}", f"keys such as {{app: learning-switch}}, or {NOBODY}")
    return {CONTROLLER: {"type": "controller", **about}}


def _names(given: list[str]) -> dict[str, str]:
    """Mininet's names to ours, which are in lower case and have no '_'."""
    names = {name: re.sub(r"[^a-z0-9-]", "-", name.lower()) for name in given}
    for name, ours in names.items():
        if not re.fullmatch(NAME_PATTERN, ours):
            raise ValueRefused(f"the node name {name!r} is not allowed here", f"names that match {NAME_PATTERN}")
    taken: dict[str, str] = {}
    for name, ours in names.items():
        if taken.setdefault(ours, name) != name:
            raise ValueRefused(f"the node names {taken[ours]!r} and {name!r} are both {ours!r} here", "other names")
    return names


def _host(node: Mapping[str, Any], automatic: str | None, own_mac: str | None) -> dict[str, Any]:
    """`automatic` is the address that Mininet would give; None leaves it, or the MAC address, to the plan."""
    options = _known(node, HOST_CLASSES, {"ip", "mac", *NODES})
    for which in ("ip", "mac"):
        if not isinstance(options.get(which, ""), str):
            raise ValueRefused(f"{_of(node)} has the {which} {_short(options[which])}", "text")
    ip = options.get("ip") or automatic
    if ip and "/" not in ip:
        ip += "/8"
    mac = options.get("mac", own_mac)
    return {"type": "host", **({"addresses": [ip]} if ip else {}), **({"mac": mac} if mac else {})}


def _is_program(controller: Any) -> bool:
    return isinstance(controller, dict) and "command" in controller


def _switch(node: Mapping[str, Any], default: Literal["ovs", "bridge"], *, free: bool) -> dict[str, Any]:
    """`default` is for a switch without a class, and `bridge` makes bridges of those that are Open vSwitches too.
    `free`: its controller is a program, which chooses the version.
    """
    if default == "bridge" or node["class"] == BRIDGE_CLASS:
        if node["options"].get("failMode") == "standalone":  # which is what a bridge does
            node = {**node, "options": {key: value for key, value in node["options"].items() if key != "failMode"}}
        options = _known(node, SWITCH_CLASSES, OF_BRIDGES.keys() | OF_SWITCHES, ", a bridge,")
        return {"type": "switch", "stp": "true" if options.get("stp") else "false"}
    options = _known(node, SWITCH_CLASSES, OVS_KEYS.keys() | OF_SWITCHES)
    if free:
        options.pop("protocols", None)
    found = {ours: read(options[key]) for key, (ours, read) in OVS_KEYS.items() if key in options}
    if node["class"] == USER_CLASS:
        found["datapath"] = "user"
    if node["class"] == LONE_CLASS:
        found |= {"controller": NOBODY, "fail_mode": "standalone"}
    return {"type": "ovs", **{ours: value for ours, value in found.items() if value is not None}}


def _link(link: Mapping[str, Any]) -> dict[str, Any]:
    """Of two ways that differ, each has its own; `params1` is for the way from the first end."""
    options = _known(link, LINK_CLASSES, {*LINK_KEYS, *OF_LINKS, "params1", "params2"})
    ways = [
        {name: one for name, one in {**options, **_side(link, options, side)}.items() if one is not None}
        for side in ("params1", "params2")
    ]
    found: dict[str, Any] = {}
    for name, (ours, get) in LINK_KEYS.items():
        forward, backward = (_followed(link, get, name, way[name]) if way.get(name, 0) != 0 else None for way in ways)
        if forward == backward and ours != "loss":  # one loss for both would be for the data's direction only
            found |= {ours: forward} if forward is not None else {}
        elif forward is not None or backward is not None:
            found[ours] = {w: v for w, v in (("forward", forward), ("backward", backward)) if v is not None}
    if "buffer" in found and "rate" not in found:
        raise ValueRefused(f"{_of(link)} has a max_queue_size but no bw", "bw with it: a queue builds before a rate")
    return found


def _side(link: Mapping[str, Any], options: Mapping[str, Any], side: str) -> dict[str, Any]:
    own = options.get(side) or {}
    if not isinstance(own, dict):
        raise ValueRefused(f"{_of(link)} has the {side} {_short(own)}", "a mapping")
    _known({**link, "options": own}, LINK_CLASSES, {*LINK_KEYS, *OF_LINKS}, f": {side}")
    return own


def _followed(link: Mapping[str, Any], get: Callable[[Any], Any], name: str, value: object) -> Any:
    """Our value of one of Mininet's, which a class may have made of anything."""
    try:
        return get(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueRefused(f"{_of(link)} has the {name} {_short(value)}", "a number, or a time for tc") from None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHORT else f"{text[:SHORT]}…"


def _known(part: Mapping[str, Any], classes: set[str | None], allowed: set[str], why: str = "") -> dict[str, Any]:
    """The options that say something. Raises ValueRefused for others than the `allowed`."""
    options = {which: value for which, value in part["options"].items() if value not in (None, [], {}, "", False)}
    if part["class"] not in classes:
        known = ", ".join(sorted(name for name in classes if name))
        raise ValueRefused(f"{_of(part)} is a {part['class']}", known)
    for which in options:
        if which not in allowed:
            raise ValueRefused(f"{_of(part)}{why} has the option {which!r}", ", ".join(sorted(allowed)))
    return options


def _of(part: Mapping[str, Any]) -> str:
    return str(part["name"]) if "name" in part else f"the link {part['ends'][0]}-{part['ends'][1]}"


def _rate(bw: Any) -> str:
    return f"{round(float(bw) * 10**6)} bit/s"


def _time(text: Any) -> str:
    found = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]*)\s*", str(text))
    if found is None or found[2] not in TC_UNITS:
        raise ValueRefused(f"{text!r} is not a time for tc", "such as '5ms'")
    return f"{round(float(found[1]) * TC_UNITS[found[2]])} ns"


def _loss(percent: Any) -> dict[str, str] | None:
    return {"random": f"{float(percent):.5f} %"}


def _packets(count: Any) -> str:
    return f"{math.floor(count)} packets"


def _fail_mode(mode: Any) -> str:
    if mode not in ("secure", "standalone"):
        raise ValueRefused(f"failMode {mode!r} is not known", "secure, standalone")
    return str(mode)


def _protocols(text: Any) -> None:
    """One list for all: an app has the choice among those that switches offer."""
    if OPENFLOW not in str(text).split(","):
        raise ValueRefused(
            f"protocols {text!r} do not include the one that controllers use here", f"{OPENFLOW}, alone or among others"
        )


def _datapath(kind: Any) -> str:
    if kind not in ("kernel", "user"):
        raise ValueRefused(f"datapath {kind!r} is not known", "kernel, user")
    return str(kind)


def _dpid(text: Any) -> str:
    """Mininet has it in hexadecimal digits, with or without colons."""
    digits = str(text).replace(":", "")
    if not re.fullmatch(r"[0-9A-Fa-f]{1,16}", digits) or not int(digits, 16):
        raise ValueRefused(f"dpid {text!r} is not a number", "up to 16 hexadecimal digits, not all 0")
    return str(int(digits, 16))


def _refused_stp(_: Any) -> None:
    raise ValueRefused("Open vSwitches with STP are not supported", "LinuxBridge, or topo: {…, switch: bridge}")


def _backoff(span_ms: Any) -> None:
    if span_ms != BACKOFF_MS:
        raise ValueRefused(f"reconnectms {span_ms!r} is not supported", f"{BACKOFF_MS}, which is Mininet's own")


BACKOFF_MS = 1000

OVS_KEYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "failMode": ("fail_mode", _fail_mode),
    "protocols": ("protocols", _protocols),
    "datapath": ("datapath", _datapath),
    "dpid": ("dpid", _dpid),
    "stp": ("stp", _refused_stp),
    "reconnectms": ("reconnectms", _backoff),
}
"""Of an Open vSwitch: our key, and what makes its value of Mininet's; None is nothing to say."""

LINK_KEYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "bw": ("rate", _rate),
    "delay": ("delay", _time),
    "jitter": ("jitter", _time),
    "loss": ("loss", _loss),
    "max_queue_size": ("buffer", _packets),
}
