"""What a rule shows that does not hold, besides its verdict: where its packet ends, flow tables on the way, and what
switches refused. It changes no mark: nothing is sent, and a rule that holds costs a look at its own output.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..agent.routing import follow_packet
from ..error import visible
from ..interactive.node_files import TRIAL
from ..interactive.watch.flow_table import Names, parsed
from ..plan.node.control_channel import OVS_FOLDER
from ..plan.node.namespace import node_netns
from ..plan.node.open_vswitch import port_number
from ..plan.step import Step
from ..units import counted
from .mark import Block
from .rule.common import Found, Kind, Net, NotChecked, said
from .rule.flow_table import Flow
from .rule.node_state import Port
from .rule.reach import NoReach, Reach

LOST, ANSWERED = r"[1-9][0-9]*% packet loss|unreachable|No route", r" [1-9][0-9]* received"
SHUT, OPEN = r"testbed-status [1-9]", r"testbed-status 0$"
"""What the output of a rule has that does not hold."""
FOLLOW = """
grep -Eqs "$1" "$2".out "$2"-[0-9]*.out || exit 0
exec python3 -ISB -c "$3" "$4" "$5" "$1"
"""
PATIENCE_S = 120
ENTRIES_MAX, REFUSALS_MAX, HOPS_MAX = 12, 3, 16
REFUSED = re.compile(r"^testbed: ((\S+) refused .*)$", re.MULTILINE)
"""What the recorder of a controller logs."""
DETAILS = re.compile(r", cookie 0x?[0-9a-f]+|, priority 32768$")


def steps(net: Net, kind: Kind, name: str) -> Iterator[Step]:
    """What is asked after a rule, whose files begin with `name`, unless its output says that it holds."""
    pairs, pattern = _followed(net, kind, name)
    if pairs:
        words = (pattern, f"{TRIAL}/{name}", inspect.getsource(follow_packet), json.dumps(_nodes(net)))
        node = pairs[0][0]
        yield net.run(node, FOLLOW, _file(name), *words, json.dumps(pairs), patience_s=PATIENCE_S)


def _file(name: str) -> str:
    return f"explain-{name}.out"


def _followed(net: Net, kind: Kind, name: str) -> tuple[list[list[Any]], str]:
    """[from, address, TCP port, file] of each packet of a rule, and what the file has if it does not hold."""
    if isinstance(kind, Reach | NoReach):
        sources = list(dict.fromkeys(source for source, _ in kind.pairs()))
        files = {source: f"{TRIAL}/{name}-{number}.out" for number, source in enumerate(sources)}
        pairs = [[source, net.address(other), None, files[source]] for source, other in kind.pairs()]
        return pairs, ANSWERED if kind.is_negative else LOST
    if isinstance(kind, Port):
        pair = [kind.source, net.address(kind.node), kind.tcp, f"{TRIAL}/{name}.out"]
        return [pair], OPEN if kind.is_negative else SHUT
    return [], ""


def _nodes(net: Net) -> dict[str, Any]:
    """As `follow_packet` reads them."""
    versions = {switch: channel.version for channel in net.plan.channels for switch in channel.switches}
    found = {}
    for node in net.topology.nodes:
        if node.kind.openflow == "controller":
            continue
        kind = "ovs" if node.kind.openflow == "switch" else "switch" if node.kind.switches_frames else node.type
        found[node.name] = {
            "type": kind,
            "netns": node_netns(node.name),
            "ovs": f"{OVS_FOLDER}/{node.name}",
            "version": versions.get(node.name, "OpenFlow13"),
            "ports": [*_ports(net, node.name, kind)],
        }
    return found


def _ports(net: Net, node: str, kind: str) -> Iterator[dict[str, Any]]:
    for port in net.plan.book.ports_of(node):
        peer = net.topology.link(port.link).other_end(node)
        there = next(each for each in net.plan.book.ports_of(peer) if each.link == port.link)
        yield {
            "device": port.device,
            "mac": port.mac,
            "addresses": [str(each.ip) for each in port.addresses],
            "number": port_number(port) if kind == "ovs" else None,
            "peer": peer,
            "peer_device": there.device,
        }


def names(net: Net, switch: str) -> Names:
    """What the numbers and addresses in the flow tables of a switch mean."""
    ports = {
        port_number(port): net.topology.link(port.link).other_end(switch) for port in net.plan.book.ports_of(switch)
    }
    owners = {str(each.ip): port.node for port in net.plan.book.ports for each in port.addresses}
    macs = {
        port.mac: port.node for port in net.plan.book.ports if not net.topology.node(port.node).kind.switches_frames
    }
    return Names(ports, owners | macs)


def shown(net: Net, kind: Kind, name: str, found: Found, refused: Mapping[str, str]) -> Iterator[Block]:
    """What explains a rule that does not hold; of what switches refused, that of the switches on its way."""
    blocks, met = _seen(net, kind, name, found)
    lines = [text for text, switch in refused.items() if not met or switch in met]
    if lines:
        yield Block("what switches refused", tuple(refused_lines(lines)), "\n".join(lines))
    yield from blocks


def _seen(net: Net, kind: Kind, name: str, found: Found) -> tuple[list[Block], frozenset[str]]:
    if isinstance(kind, Flow):
        return [_table(net, kind.switch, _said(found, f"{name}.out"))], frozenset({kind.switch})
    text = _said(found, _file(name))
    try:
        told = json.loads(text) if text else None
    except ValueError:
        told = None
    if told is None:
        return [], frozenset()
    tables: Mapping[str, str] = told["tables"]
    return [_way(net, told, kind), *(_table(net, *each) for each in tables.items())], frozenset(tables)


def _said(found: Found, name: str) -> str:
    """What a program said; nothing, if it did not come to its end."""
    try:
        return said(found, name)[1] if name in found else ""
    except NotChecked:
        return ""


def _way(net: Net, told: Mapping[str, Any], kind: Kind) -> Block:
    source, address, _ = told["pair"]
    owner = net.owner(address)
    to = address if owner is None else f"{owner} ({address})"
    lines = tuple(_stages(net, told, kind))
    title = f"where a packet from {source} to {to} comes, as routes and flow tables were then"
    return Block(title, lines, "\n".join((title, *lines)))


def _stages(net: Net, told: Mapping[str, Any], kind: Kind) -> Iterator[str]:
    if "error" in told:
        yield f"it could not be followed: {visible(told['error'])}"
    for stage in told["stages"]:
        hops = stage["hops"]
        if stage["arrived"]:
            yield f"{stage['what']} arrives; its way: {', '.join(stage['way'])}"
            continue
        yield f"{stage['what']} does not arrive" + (f"; it ends at {hops[-1]['node']}:" if hops else "")
        yield from (f"  {_hop(net, hop)}" for hop in hops[:HOPS_MAX])
        if len(hops) > HOPS_MAX:
            yield f"  … and {len(hops) - HOPS_MAX} more"
    if not kind.is_negative and told["stages"] and all(stage["arrived"] for stage in told["stages"]):
        yield "so it was lost before, or for another reason: a rule of nftables, an app that answers too late"


def _hop(net: Net, hop: Mapping[str, Any]) -> str:
    node, device = hop["node"], hop["port"]
    at = "" if device is None else f" (from {_behind(net, node, device)})"
    if net.topology.node(node).kind.openflow == "switch":
        naming = names(net, node)
        rules = [naming.told(DETAILS.sub("", each)) for each in hop["entries"]]
        why = "; ".join(each.replace("No match.", "no entry matches") for each in rules)
        return visible(f"{node}{at}: {why}: {hop['did']}" if why else f"{node}{at}: {hop['did']}")
    return visible(f"{node}{at}: {hop['did']}")


def _behind(net: Net, node: str, device: str) -> str:
    link = next(port.link for port in net.plan.book.ports_of(node) if port.device == device)
    return net.topology.link(link).other_end(node)


def _table(net: Net, switch: str, text: str) -> Block:
    """The flow table of a switch, without what differs between two equal runs."""
    rows, naming = parsed("\n".join(line for line in text.splitlines() if "actions=" in line)), names(net, switch)
    lines, same = [], [f"flow table of {switch}"]
    for row in rows[:ENTRIES_MAX]:
        table = f"table {row['table']}, " if any(each["table"] for each in rows) else ""
        match, actions = naming.told(row["match"]) or "any packet", naming.told(row["actions"])
        same.append(f"{table}{row['priority']} {match} {actions}")
        passed = counted(row["packets"], "packet")
        lines.append(visible(f"{table}priority {row['priority']}: {match} → {actions} ({passed})"))
    if len(rows) > ENTRIES_MAX:
        lines.append(f"… and {len(rows) - ENTRIES_MAX} more")
    return Block(f"flow table of {switch}", tuple(lines) or ("it has no entries",), "\n".join(same))


def refusals(texts: Iterable[str]) -> dict[str, str]:
    """What switches refused, in what controllers said: the switch of each sentence."""
    return {found[1]: found[2] for text in texts for found in REFUSED.finditer(text)}


def refused_lines(refused: Sequence[str]) -> Iterator[str]:
    yield from (visible(each) for each in refused[:REFUSALS_MAX])
    if len(refused) > REFUSALS_MAX:
        yield f"… and {len(refused) - REFUSALS_MAX} more"
