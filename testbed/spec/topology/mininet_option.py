"""Mininet's options that change nothing here, and why; what `Mininet()` itself takes. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from ...error import ValueRefused

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
    **dict.fromkeys(("port", "port1", "port2"), "ports are in the order of the links"),
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

SAYS_NOTHING: tuple[Any, ...] = (None, [], {}, "")


def check_net(options: Mapping[str, Any]) -> None:
    """Raises ValueRefused for what Mininet() has not got."""
    known = (*OF_NET, "autoSetMacs", "ipBase")
    for key in options:
        if key not in known:
            raise ValueRefused(f"Mininet() has no option {key!r} that can be followed here", ", ".join(sorted(known)))


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
        for key in _said(node["options"]):
            if table.get(key):
                given.setdefault(f"{key} ({table[key]})", []).append(node["name"])
    for link in built["links"]:
        for key in _said(link["options"]):
            if key in OF_LINKS and key not in ("port1", "port2"):
                given.setdefault(f"{key} ({OF_LINKS[key]})", []).append("-".join(link["ends"]))
    for key in net:
        if key in OF_NET:
            given.setdefault(f"{key} ({OF_NET[key]})", []).append("Mininet()")
    for what, whose in given.items():
        more = f" and {len(whose) - 3} more" if len(whose) > 3 else ""
        yield f"no effect here: {what} of {', '.join(whose[:3])}{more}"


def _said(options: Mapping[str, Any]) -> Iterator[str]:
    return (key for key, value in options.items() if value not in SAYS_NOTHING)
