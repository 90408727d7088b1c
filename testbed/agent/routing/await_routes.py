"""Waits until FRR's daemons have their neighbours and know all networks, or says what is missing. Stands alone.

    await_routes.py FOLDER LIMIT_S < WANTED
    await_routes.py FOLDER look < WANTED     prints JSON: for each router, neighbours, routes, and what is missing now

FOLDER has a folder for each router, with the sockets of its daemons. WANTED is a JSON list of {"router": NAME,
"neighbours": {PROTOCOL: [[ADDRESS, NODE], …]}, "networks": [NETWORK, …], "is_told": BOOL}. Of a router that is not told
(its configuration is the user's), all neighbours that its daemons know must be there, one at least, and they and its
routes stay the same for QUIET_S. Prints how long it took, in nanoseconds of CLOCK_MONOTONIC.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import time

MYPY = False
if MYPY:  # importing `typing` would cost a guest time
    from collections.abc import Iterator
    from typing import Any

    Before = dict[str, tuple[Any, float]]

LOOK_AGAIN_S, QUIET_S = 0.1, 10.0
"""OSPF tells of a link up to 5 s after the last time (MinLSInterval of RFC 2328, appendix B), so 5 s is not enough."""
END = b"\0\0\0"
SHOW = {
    "routes": ("zebra", "show ip route json"),
    "ospf": ("ospfd", "show ip ospf neighbor json"),
    "bgp": ("bgpd", "show bgp ipv4 unicast summary json"),
    "rip": ("ripd", "show ip rip status"),
}


def told(folder: str, router: str, what: str) -> Any:
    """What a daemon says; None if it does not run."""
    daemon, words = SHOW[what]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            end.connect(os.path.join(folder, router, daemon + ".vty"))
            end.sendall(words.encode() + b"\0")
            data = b""
            while data[-4:-1] != END:
                got = end.recv(65536)
                if not got:
                    return None
                data += got
    except OSError:
        return None
    text = data[:-4].decode(errors="replace")
    if what == "rip":
        return text
    try:
        return json.loads(text or "{}")
    except ValueError:
        return None


def neighbours(what: str, found: Any) -> dict[str, bool]:
    """The addresses of neighbours, and whether each is there; `found` is what the daemon says."""
    if what == "ospf":
        each = [one for many in (found.get("neighbors") or {}).values() for one in many]
        full = {one["ifaceName"] for one in each if one["nbrState"].startswith("Full")}
        return {
            one["ifaceAddress"]: one["nbrState"].startswith("Full")
            or (one["nbrState"].startswith("2-Way") and one["ifaceName"] in full)
            for one in each
        }
    if what == "bgp":
        peers = (found.get("ipv4Unicast") or found).get("peers") or {}
        return {address: one.get("state") == "Established" for address, one in peers.items()}
    sources = found.partition("Routing Information Sources:")[2]
    return {match[1]: True for match in re.finditer(r"^\s+(\d+\.\d+\.\d+\.\d+)\s", sources, re.MULTILINE)}


def known(routes: dict[str, Any]) -> dict[str, Any]:
    """The networks to which the kernel got a route, each with its next hops."""
    return {
        network: [[hop.get("ip"), hop.get("interfaceName")] for hop in one["nexthops"] if hop.get("fib")]
        for network, many in routes.items()
        for one in many
        if one.get("selected") and one.get("installed")
    }


def missing(folder: str, wanted: dict[str, Any], before: Before) -> Iterator[str]:
    """What one router lacks, as sentences; keeps in `before` what the routes of a router that is not told were."""
    router = wanted["router"]
    routes = told(folder, router, "routes")
    if routes is None:
        yield router + ": zebra does not run"
        return
    has = known(routes)
    if not wanted["is_told"]:
        yield from unknown(folder, router, has, before)
        return
    for protocol, several in wanted["neighbours"].items():
        found = told(folder, router, protocol)
        if found is None:
            yield f"{router}: {SHOW[protocol][0]} does not run"
            continue
        there = neighbours(protocol, found)
        for address, node in several:
            if not there.get(address):
                yield f"{router}: no {protocol.upper()} neighbour {address} ({node})"
    for network in wanted["networks"]:
        if network not in has:
            yield f"{router}: no route to {network}"


def unknown(folder: str, router: str, has: dict[str, Any], before: Before) -> Iterator[str]:
    names = {what: daemon for what, (daemon, _) in SHOW.items() if what != "routes"}
    running = [what for what, name in names.items() if os.path.exists(os.path.join(folder, router, f"{name}.pid"))]
    there: dict[str, Any] = {}
    for protocol in running:
        found = told(folder, router, protocol)
        if found is None:
            yield f"{router}: {names[protocol]} does not run"
            continue
        there[protocol] = neighbours(protocol, found)
        for address, is_there in there[protocol].items():
            if not is_there:
                yield f"{router}: the {protocol.upper()} neighbour {address} is not there yet"
    if running and not any(there.values()):
        yield f"{router}: no neighbour yet"
    now, state = time.monotonic(), [has, there]
    if before.get(router, (None, 0.0))[0] != state:
        before[router] = (state, now)
    if now - before[router][1] < QUIET_S:
        yield f"{router}: its neighbours or routes changed less than {QUIET_S:g} s ago"


def look(folder: str) -> int:
    found = {}
    for each in json.load(sys.stdin):
        router = each["router"]
        there = {what: told(folder, router, what) for what in SHOW}
        names = {what: neighbours(what, said) for what, said in there.items() if said is not None and what != "routes"}
        lacks = [what for what in missing(folder, each, {}) if "s ago" not in what]
        routes = None if there["routes"] is None else len(known(there["routes"]))
        found[router] = {"neighbours": names, "routes": routes, "missing": lacks}
    print(json.dumps(found))
    return 0


def main(folder: str, limit_s: float) -> int:
    before: Before = {}
    wanted = json.load(sys.stdin)
    begin = time.monotonic()
    while True:
        lacks = [what for each in wanted for what in missing(folder, each, before)]
        if not lacks:
            print(int((time.monotonic() - begin) * 1e9))
            return 0
        if time.monotonic() - begin > limit_s:
            more = "" if len(lacks) <= 5 else f", and {len(lacks) - 5} more"
            print(f"after {limit_s:g} s: {'; '.join(lacks[:5])}{more}", file=sys.stderr)
            return 1
        time.sleep(LOOK_AGAIN_S)


if __name__ == "__main__":
    sys.exit(look(sys.argv[1]) if sys.argv[2] == "look" else main(sys.argv[1], float(sys.argv[2])))
