"""Who answered a ping: the node itself, or another one in its place, as NAT can. Pure, no I/O.

The kernel of each node counts the echo requests that it answers, over IPv4 and IPv6; no program can set that back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ...plan.node.namespace import node_netns
from ...plan.step import Step
from .common import Found, Net, NotChecked, addresses, said

ECHOES = (
    'echoes() { [ -z "$1" ] || nsenter --net="/run/netns/$1" '
    'grep -hs "^Icmp:\\|^Icmp6OutEchoReplies" /proc/net/snmp /proc/net/snmp6; }; '
)
"""A function of the shell: what a namespace has counted; of no namespace, nothing."""
BEFORE, AFTER = "echoes-before", "echoes-after"
OF_NODES = ECHOES + (
    'for each; do echo "node $each"; echoes "$each"; nsenter --net="/run/netns/$each" ip -o address show; done; true'
)
READ = re.compile(r"^Icmp: ([A-Z].*)\nIcmp: ([\d ]+)\n(?:Icmp6OutEchoReplies\s+(\d+)$)?", re.MULTILINE)
NODE = re.compile(r"^node (\S+)\n", re.MULTILINE)
IS_ADDRESS = re.compile(r"[0-9.]+$|[0-9a-f]*:")
PINGED = re.compile(r"^--- (\S+) ping statistics ---\n\d+ packets transmitted, (\d+) received", re.MULTILINE)


def namespace(net: Net, address: str) -> str:
    """Of the node that has the address, for `echoes`; "" if there is none."""
    node = net.owner(address)
    return "" if node is None else node_netns(node)


def answered(text: str, node: str) -> int:
    """How many requests the node answered between the two readings in what `echoes` printed. Raises NotChecked."""
    counts = [
        int(dict(zip(names.split(), values.split(), strict=True))["OutEchoReps"]) + int(more or 0)
        for names, values, more in READ.findall(text)
    ]
    if len(counts) != 2:
        raise NotChecked(f"{node} does not say how many pings it answered")
    return counts[1] - counts[0]


def watched(net: Net, node: str, name: str, steps: Iterable[Step]) -> Iterator[Step]:
    """The steps, and before and after them a reading of the counters and addresses of all nodes, which `node` takes."""
    namespaces = [*map(node_netns, net.addressed)]
    yield net.run(node, OF_NODES, f"{name}-{BEFORE}.out", *namespaces)
    yield from steps
    yield net.run(node, OF_NODES, f"{name}-{AFTER}.out", *namespaces)


def stand_in(net: Net, source: str, text: str, found: Found, name: str) -> str | None:
    """What the pings of `source` of which `text` has the statistics, in steps that were `watched`, say that another
    node answered; None if there are none such. Behind an address that no node has may be any other host, to which it is
    translated. Raises NotChecked.
    """
    hosts = [node.name for node in net.topology.nodes if node.type == "host" and node.name in net.addressed]
    counts: Counter[str | None] = Counter()
    for pinged, count in PINGED.findall(text):
        if int(count) and (IS_ADDRESS.match(pinged) or pinged in net.addressed):
            counts[_owner(net, source, pinged.partition("%")[0], found, name)] += int(count)
    for node, count in counts.items():
        likely = [each for each in hosts if each != source] if node is None else [node]
        own = sum(_between(found, name, each) for each in likely)
        if own < count:
            return in_its_place(count, "an address that no node has" if node is None else node, own)
    return None


def in_its_place(count: int, node: str, own: int) -> str:
    """That a node gave only its `own` of `count` answers."""
    return f"{count} pings of {node} were answered, {own} of them by the right node: another one answers in its place"


def _between(found: Found, name: str, node: str) -> int:
    """How many requests a node answered between the two readings."""
    return answered("".join(_of_node(found, f"{name}-{each}", node) for each in (BEFORE, AFTER)), node)


def _of_node(found: Found, name: str, node: str) -> str:
    _, text = said(found, f"{name}.out")
    parts = NODE.split(text + "\n")
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(node_netns(node), "")


def _owner(net: Net, source: str, pinged: str, found: Found, name: str) -> str | None:
    """The node with this name or address, be it one that a script gave it; None if none has it. Raises NotChecked if
    several have it.
    """
    known = pinged if pinged in net.addressed else net.owner(pinged)
    if known is not None:
        return known
    owners = [node for node in net.addressed if pinged in map(str, addresses(_of_node(found, f"{name}-{AFTER}", node)))]
    if source in owners:
        return source
    if len(owners) > 1:
        raise NotChecked(f"{pinged} is an address of {' and '.join(owners)}, so nobody can say who answers")
    return owners[0] if owners else None
