"""Which hosts of a running network reach which: pings between them. Runs programs in its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..codec.frozen import dataclass
from ..error import UserError, one_of
from .connection import run
from .running_network import RunningNetwork

PORTED = ("host", "vm", "machine")
"""The types of nodes that people ping from."""
WAIT_S = 5
"""How long an answer may take: the first one waits for controllers, which wait for a processor."""
SENT = re.compile(r"(\d+) packets transmitted, (\d+) received")
MEAN = re.compile(r"= [\d.]+/([\d.]+)/")


@dataclass(frozen=True)
class Pinged:
    """What became of `sent` pings; `rtt_ms` is the mean of those that were answered, None if none was."""

    source: str
    destination: str
    sent: int
    received: int
    rtt_ms: float | None

    @property
    def is_reached(self) -> bool:
        return 0 < self.sent == self.received


def addresses(network: RunningNetwork) -> dict[str, str]:
    """The first address of each node that has one, IPv4 before IPv6."""
    found = {}
    for name, node in network.about["nodes"].items():
        known = [each.partition("/")[0] for port in node["ports"].values() for each in port]
        if known:
            found[name] = min(known, key=lambda address: ":" in address)
    return found


def address(network: RunningNetwork, node: str) -> str:
    """Raises UserError if there is no such node, or it has no address."""
    network.where(node)
    known = addresses(network)
    if node not in known:
        allowed = one_of(tuple(known), node, "none, no node of it has one")
        raise UserError(f"{node} of {network.name} has no address; allowed: {allowed}")
    return known[node]


def hosts(network: RunningNetwork) -> tuple[str, ...]:
    """The nodes that can ping and be pinged."""
    known = addresses(network)
    return tuple(name for name, node in network.about["nodes"].items() if name in known and node["type"] in PORTED)


def pings(network: RunningNetwork, source: str, destinations: Iterable[str], count: int) -> Iterator[Pinged]:
    """Pings from one host to others at the same time, `count` times each; in their order.

    Raises MachineError if the network goes down, UserError if the host has no ping.
    """
    asked = {each: address(network, each) for each in destinations}
    words = f'(said=$(ping -n -q -c {count} -W {WAIT_S} "$each" 2>&1); echo "$each" $said) &'
    script = f"for each; do {words} done; wait"
    status, out, err = run(network, network.where(source), ["sh", "-c", script, "sh", *asked.values()])
    lines = {line.split()[0]: line for line in out.decode(errors="replace").splitlines() if line.split()}
    for name, at in asked.items():
        line = lines.get(at, "")
        sent, mean = SENT.search(line), MEAN.search(line)
        if sent is None and "unreachable" not in line:
            why = (line.removeprefix(at) or err.decode(errors="replace")).strip() or f"status {status}"
            raise UserError(f"{source} could not ping {name}: {why}")
        numbers = (count, 0) if sent is None else (int(sent[1]), int(sent[2]))
        yield Pinged(source, name, *numbers, None if mean is None else float(mean[1]))
