"""The cable of a link without an emulator, pulled out of a running network and put in again. Runs programs at its ends.

A device that is taken down leaves the other end without carrier, and that end keeps all it knows. So a switch is taken
down at its end: a switch has no routes. If both ends are hosts or routers, both are taken down, and what a device
loses with that, routes, addresses of IPv6 and neighbours that somebody wrote down, is kept and comes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..error import UserError
from ..model.node.type import NODE_TYPES
from .connection import run
from .running_network import RunningNetwork

KEEP = """
dev=$1 kept=/run/testbed-cable-$2-$1
ip -4 route save dev "$dev" >"$kept.4" 2>/dev/null; ip -6 route save dev "$dev" >"$kept.6" 2>/dev/null
ip -6 address save dev "$dev" scope global >"$kept.a" 2>/dev/null
ip neighbour show dev "$dev" nud permanent >"$kept.n"
"""
SET = 'ip link set "$1" "$3"'
GIVE_BACK = """
dev=$1 kept=/run/testbed-cable-$2-$1
[ -e "$kept.n" ] || exit 0
ip -6 address restore <"$kept.a" 2>/dev/null
while read -r address _ mac _; do
  ip neighbour replace "$address" lladdr "$mac" dev "$dev" nud permanent
done <"$kept.n"
ip -4 route restore <"$kept.4" 2>/dev/null; ip -6 route restore <"$kept.6" 2>/dev/null
rm -f "$kept".*
"""
"""What exists already, such as the routes that the kernel makes itself, is left as it is."""


def pull(network: RunningNetwork, link: Mapping[str, Any], *, down: bool) -> None:
    """All ends keep what they have before one goes down: a route that says that its link is down cannot be written.

    Raises UserError if an end is on another computer, or a program fails.
    """
    ends, has_switch = _ends(network, link)
    scripts = (SET,) if has_switch else (KEEP, SET) if down else (SET, GIVE_BACK)
    for script in scripts:
        for node, device in ends:
            words = ["sh", "-c", script, "sh", device, node, "down" if down else "up"]
            status, _, err = run(network, network.where(node), words)
            if status:
                raise UserError(f"{device} of {node} does not go {words[-1]}: {err.decode(errors='replace').strip()}")


def _ends(network: RunningNetwork, link: Mapping[str, Any]) -> tuple[list[tuple[str, str]], bool]:
    """(node, device) of the ends that are taken down; whether they are switches."""
    ends = [(each["node"], each["device"]) for each in link["ends"]]
    for node, _ in ends:
        if network.where(node).get("netns") is None:
            raise UserError(f"{node} is another computer, and its cable is not ours; allowed: a rate for the link")
    switches = [each for each in ends if NODE_TYPES[network.about["nodes"][each[0]]["type"]].switches_frames]
    return switches or ends, bool(switches)
