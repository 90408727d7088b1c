"""`testbed iperf`: measures what TCP reaches between two nodes of a running network, with iperf3."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Annotated, Any

import typer

from ... import units
from ...error import MachineError, UserError
from ...interactive import reachability
from ...interactive.connection import run
from ...interactive.link_change import topology_of
from ...interactive.running_network import RunningNetwork, choose
from .exec import OfNode

FILLED = 0.85
"""Of a link's rate: frames, addresses and acknowledgements take the rest."""
PORTS = "$(seq 5201 5299)"
SERVER = f"""
for port in {PORTS}; do ss -Hltn sport = ":$port" | grep -q . || break; done
iperf3 -s -1 -D -p "$port" || exit
for each in $(seq 600); do ss -Hltn sport = ":$port" | grep -q . && echo "$port" && exit; sleep 0.05; done; exit 1
"""
"""A server for one flow, at a port at which nobody listens: another flow may still be on its way."""
CLIENT = "grep '^cpu[0-9]' /proc/stat; {words}; status=$?; grep '^cpu[0-9]' /proc/stat; exit $status"
BUSY = 0.97
"""A processor that had so much to do had no time left; the first moments of a flow leave some."""

CONNECT_MS = 10_000
"""Without it iperf3 waits for minutes if the other node cannot be reached."""

EXAMPLES = (
    ("See what TCP reaches between two nodes in 5 s", "testbed iperf client server"),
    ("The other way round, for 20 s", "testbed iperf server client --time 20"),
)


def iperf(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The node that sends.")],
    destination: Annotated[str, typer.Argument(metavar="TO", help="The node that receives.")],
    time: Annotated[int, typer.Option(min=1, max=86_400, help="Seconds.")] = 5,
    name: OfNode = None,
) -> None:
    """One flow of iperf3 in real time, next to other work of this computer: a rough check, no measurement. `testbed
    run` measures, and checks that the network was as asked.
    """
    if source == destination:
        raise UserError(f"{source} would send to itself, over no link; allowed: two nodes")
    network = choose(name, source)
    address = reachability.address(network, destination)
    port = _in(network, destination, SERVER).strip()
    words = f"iperf3 -c {address} -p {port} -t {time} --connect-timeout {CONNECT_MS} -J"
    said = _in(network, source, CLIENT.format(words=words))
    try:
        told: dict[str, Any] = json.loads("".join(line for line in said.splitlines() if not line.startswith("cpu")))
        if "error" in told:
            raise UserError(f"iperf3 in {source} failed: {told['error']}")
        end = told["end"]
        sent, received = end["sum_sent"], end["sum_received"]
        rates = f"{sent['bits_per_second'] / 1e6:.1f} Mbit/s sent, {received['bits_per_second'] / 1e6:.1f} received"
        again = f"{sent['retransmits']} segments sent again, {end.get('sender_tcp_congestion', '?')}"
    except (ValueError, LookupError, TypeError):
        raise MachineError("iperf3 printed no result", f"testbed exec {source} -- iperf3 -c {address}") from None
    print(f"{source} → {destination}: {rates} in {time} s, {again}")
    rate_bps = rate_between(network, source, destination)
    is_filled = rate_bps is not None and received["bits_per_second"] >= FILLED * rate_bps
    cores = len(os.sched_getaffinity(0))
    if not is_filled and (why := limit(busiest(said), os.getloadavg()[0], cores)) is not None:
        print(why)


def limit(share: float | None, load: float, cores: int) -> str | None:
    """What to say of a computer that kept a link from being filled: its kernel's busiest core was busy for this share
    of the time (None: unknown), and so many processes wanted its cores. None if neither explains it.
    """
    if share is not None and share >= BUSY:
        return f"the computer was the limit, not the network: a core of its kernel was busy {share:.0%} of the time"
    if load > cores:
        shared = f"{load:.0f} processes share its {units.counted(cores, 'core')}"
        return f"the computer may be the limit, not the network: {shared}"
    return None


def rate_between(network: RunningNetwork, source: str, destination: str) -> int | None:
    """The least rate, in bit/s, of the links between two nodes; None if none has a rate."""
    asked = {link["name"]: link["asked"].get("rate") for link in network.about["links"]}
    way = topology_of(network).path(source, destination) or ()
    said = [asked.get(link.name) for link in way]
    each = [rate for one in said for rate in (one.values() if isinstance(one, dict) else [one])]
    return min((units.parse_rate(rate) for rate in each if isinstance(rate, str)), default=None)


def busiest(said: str) -> float | None:
    """The share of the time in which the busiest core had something to do, from two looks at /proc/stat; None if there
    are no two. See proc(5): the fourth and the fifth number are idle and iowait.
    """
    looks: dict[str, list[tuple[int, int]]] = {}
    for line in said.splitlines():
        name, *words = line.split() or [""]
        if name.startswith("cpu") and len(words) > 4 and all(word.isdigit() for word in words):
            numbers = [int(word) for word in words[:8]]
            looks.setdefault(name, []).append((sum(numbers), numbers[3] + numbers[4]))
    pairs = [(last[0] - first[0], last[1] - first[1]) for first, *_, last in (e for e in looks.values() if len(e) > 1)]
    return max((1 - idle / passed for passed, idle in pairs if passed > 0), default=None)


def _in(network: RunningNetwork, node: str, script: str) -> str:
    """What a script prints in a node. Raises UserError if it fails."""
    status, out, err = run(network, network.where(node), ["sh", "-c", script])
    if status:
        said = (err or out).decode(errors="replace").strip()
        with contextlib.suppress(ValueError, LookupError, TypeError):
            said = json.loads(b"".join(line for line in out.splitlines() if not line.startswith(b"cpu")))["error"]
        raise UserError(f"iperf3 in {node} failed (exit code {status}): {said}")
    return out.decode(errors="replace")
