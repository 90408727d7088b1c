"""`testbed iperf`: measures what TCP reaches between two nodes of a running network, with iperf3."""

from __future__ import annotations

import contextlib
import json
from typing import Annotated, Any

import typer

from ...error import MachineError, UserError
from ...interactive import reachability
from ...interactive.connection import run
from ...interactive.running_network import RunningNetwork, choose
from .exec import OfNode

PORT = "5201"
LISTENS = f"for each in $(seq 100); do ss -Hltn sport = :{PORT} | grep -q . && exit; sleep 0.05; done; exit 1"

CONNECT_MS = 5_000
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
    _in(network, destination, f"iperf3 -s -1 -D -p {PORT} && {{ {LISTENS}; }}")
    said = _in(network, source, f"iperf3 -c {address} -p {PORT} -t {time} --connect-timeout {CONNECT_MS} -J")
    try:
        told: dict[str, Any] = json.loads(said)
        if "error" in told:
            raise UserError(f"iperf3 in {source} failed: {told['error']}")
        end = told["end"]
        sent, received = end["sum_sent"], end["sum_received"]
        rates = f"{sent['bits_per_second'] / 1e6:.1f} Mbit/s sent, {received['bits_per_second'] / 1e6:.1f} received"
        again = f"{sent['retransmits']} segments sent again, {end.get('sender_tcp_congestion', '?')}"
    except (ValueError, LookupError, TypeError):
        raise MachineError("iperf3 printed no result", f"testbed exec {source} -- iperf3 -c {address}") from None
    print(f"{source} → {destination}: {rates} in {time} s, {again}")


def _in(network: RunningNetwork, node: str, script: str) -> str:
    """What a script prints in a node. Raises UserError if it fails."""
    status, out, err = run(network, network.where(node), ["sh", "-c", script])
    if status:
        said = (err or out).decode(errors="replace").strip()
        with contextlib.suppress(ValueError, LookupError, TypeError):
            said = json.loads(out)["error"]
        raise UserError(f"iperf3 in {node} failed (exit code {status}): {said}")
    return out.decode(errors="replace")
