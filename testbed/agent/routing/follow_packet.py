"""Follows a packet through a network as its routes and flow tables are now: where it would come, and where it ends.

    follow_packet.py NETWORK PAIRS PATTERN

NETWORK is JSON: {NAME: {"type", "netns", "ovs", "version", "ports": [{"device", "mac", "addresses", "number", "peer",
"peer_device"}]}}; `ovs` is the folder of an Open vSwitch's sockets. PAIRS is a list of [FROM, ADDRESS, PORT, FILE]:
PORT of TCP, or null for a ping. It follows the first pair of which FILE has PATTERN. Prints JSON: the
`pair`, `stages` (an ARP exchange, the packet, its answer) up to the first that ends too early, {"what", "arrived",
"way": [NODE], "hops": [{"node", "port", "did", "entries"}]}, and `tables`, what ovs-ofctl says of
each switch on the way.

Nothing is sent and nothing changes: it asks `ip route get` and `ovs-appctl ofproto/trace`. What nftables would do is
not asked, and a bridge is taken for one that passes on all. Runs where the network is, without the rest of the testbed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

MYPY = False
if MYPY:  # importing `typing` would cost a guest time
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    Told: TypeAlias = dict[str, Any]
    End: TypeAlias = tuple[str, str, Told, list[str]]

TABLES_MAX = 4
"""So many flow tables are told."""
HOPS_MAX = 64
"""So many hops are told of one packet; then it goes in a circle, or everywhere."""
PROGRAM_S = 10
ASKS, ANSWERS = 1, 2
ECHO = {False: (8, 0), True: (128, 129)}
"""The types of ICMP of a ping and its answer, over IPv4 and over IPv6."""
ALL = "ff:ff:ff:ff:ff:ff"
ENTRY = re.compile(r"^ *(\d+)\. (.*)$")
SETS = re.compile(r"(eth|ipv4|ipv6|tcp|udp|arp)\(([^()]*)\)")
FIELDS = {
    ("eth", "src"): "eth_src", ("eth", "dst"): "eth_dst", ("ipv4", "src"): "ip_src", ("ipv4", "dst"): "ip_dst",
    ("ipv6", "src"): "ip_src", ("ipv6", "dst"): "ip_dst", ("tcp", "src"): "tcp_src", ("tcp", "dst"): "tcp_dst",
}  # fmt: skip
"""What the datapath's actions call the fields that they set."""
STAYS = ("set(", "push_vlan(", "pop_vlan", "meter(", "trunc(")
"""Actions of a datapath that send a packet nowhere."""


class Ended(Exception):
    """A packet goes no further; the text says why."""


def program(*words: str) -> tuple[int, str, str]:
    """Its status, its output, and what it complained of."""
    done = subprocess.run(words, capture_output=True, timeout=PROGRAM_S)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace").strip()


class Network:
    """The nodes, and what they say when they are asked."""

    def __init__(self, nodes: dict[str, Told]) -> None:
        self.nodes = nodes
        self.owners = {
            address: (name, port)
            for name, node in self.nodes.items()
            for port in node["ports"]
            for address in port["addresses"]
        }

    def port(self, node: str, device: str | None) -> Told | None:
        return next((each for each in self.nodes[node]["ports"] if each["device"] == device), None)

    def ip(self, node: str, *words: str) -> tuple[int, str, str]:
        return program("ip", "-n", self.nodes[node]["netns"], *words)

    def way(self, node: str, packet: Told, arrives: str | None) -> tuple[Told, str]:
        """The port by which a packet leaves a node, and the address of the next node. A packet that begins here
        gets its source, if it has none. Raises Ended.
        """
        more: tuple[str, ...] = ("from", str(packet["ip_src"])) if packet["ip_src"] else ()
        more += ("iif", arrives) if arrives else ()
        status, out, error = self.ip(node, "-j", "route", "get", packet["ip_dst"], *more)
        if status:
            said = error.splitlines()[-1].removeprefix("RTNETLINK answers: ") if error else f"status {status}"
            raise Ended(f"has no route to {packet['ip_dst']} ({said})")
        found = json.loads(out)[0]
        if found.get("type") in ("local", "unreachable", "blackhole", "prohibit"):
            raise Ended(f"its route to {packet['ip_dst']} is {found['type']}")
        port = self.port(node, found.get("dev"))
        if port is None:
            raise Ended(f"sends it to {found.get('dev')}, where it cannot be followed")
        packet["ip_src"] = packet["ip_src"] or found.get("prefsrc", "")
        return port, found.get("gateway", packet["ip_dst"])

    def known_mac(self, node: str, port: Told, address: str) -> str | None:
        """What a node believes; None if it would have to ask."""
        status, out, _ = self.ip(node, "-j", "neigh", "show", "to", address, "dev", port["device"])
        for each in json.loads(out or "[]") if status == 0 else ():
            if each.get("lladdr") and not {"FAILED", "INCOMPLETE"} & set(each.get("state", ())):
                return str(each["lladdr"])
        return None

    def has(self, node: str, address: str) -> bool:
        """Whether an address is one of the node's own, as it is now."""
        status, out, _ = self.ip(node, "-j", "route", "get", address)
        return status == 0 and bool(json.loads(out)[0].get("type") == "local")


def follow(network: Network, source: str, address: str, tcp: int | None) -> list[Told]:
    """The stages of a ping, or of the first packet of a TCP connection."""
    stages: list[Told] = []
    packet = {
        "ip_src": "",
        "ip_dst": address,
        "tcp_dst": tcp,
        "tcp_src": None if tcp is None else 40000,
        "reply": False,
    }
    target = network.owners.get(address, (None, None))[0]
    what = "the ping" if tcp is None else f"the TCP SYN to port {tcp}"
    arrived = travel(network, stages, what, source, packet, target)
    if arrived is not None:
        node, packet = arrived
        back = {**packet, "ip_src": packet["ip_dst"], "ip_dst": packet["ip_src"], "tcp_src": packet["tcp_dst"],
                "tcp_dst": packet["tcp_src"], "reply": True}  # fmt: skip
        travel(network, stages, "the answer", node, back, source)
    return stages


def travel(
    network: Network, stages: list[Told], what: str, node: str, packet: Told, target: str | None
) -> tuple[str, Told] | None:
    """Adds the stages of a packet on its whole way: the node that it arrives at, and as what; None if nowhere."""
    hops: list[Told] = []
    arrives: str | None = None
    way = [node]
    for _ in range(HOPS_MAX):
        try:
            port, gateway = network.way(node, packet, arrives)
        except Ended as why:
            hops.append({"node": node, "port": arrives, "did": str(why), "entries": []})
            break
        mac = network.known_mac(node, port, gateway)
        if mac is None:
            mac = asked_mac(network, stages, node, port, gateway)
            if mac is None:
                return None
        hops.append({"node": node, "port": arrives, "did": f"sends it to {port['peer']}", "entries": []})
        frame = {**packet, "eth_src": port["mac"], "eth_dst": mac}
        end = spread(network, hops, node, port, frame)
        if end is None:
            break
        node, arrives, packet, passed = end
        way += passed[1:]
        if network.has(node, packet["ip_dst"]):
            stages.append({"what": what, "arrived": target in (None, node), "hops": hops, "way": way})
            return (node, packet) if target in (None, node) else None
        if network.nodes[node]["type"] != "router":
            hops.append({"node": node, "port": arrives, "did": "drops it: it is for another node", "entries": []})
            break
    stages.append({"what": what, "arrived": False, "hops": hops, "way": []})
    return None


def asked_mac(network: Network, stages: list[Told], node: str, port: Told, address: str) -> str | None:
    """The MAC address that a node gets by ARP; None, with a stage that says where the exchange ended."""
    ask = {
        "arp": ASKS,
        "ip_src": (port["addresses"] or ["0.0.0.0"])[0],
        "ip_dst": address,
        "eth_src": port["mac"],
        "eth_dst": ALL,
    }
    hops: list[Told] = [{"node": node, "port": None, "did": f"asks who has {address}, by ARP", "entries": []}]
    ends: list[End] = []
    spread(network, hops, node, port, ask, ends)
    come = next(((name, device) for name, device, *_ in ends if network.has(name, address)), None)
    if come is None:
        stages.append({"what": f"the ARP request for {address}", "arrived": False, "hops": hops, "way": []})
        return None
    name, device = come
    theirs = network.port(name, device) or {}
    answer = {
        **ask,
        "arp": ANSWERS,
        "ip_src": address,
        "ip_dst": ask["ip_src"],
        "eth_src": theirs["mac"],
        "eth_dst": port["mac"],
    }
    hops = [{"node": name, "port": device, "did": "answers by ARP", "entries": []}]
    end = spread(network, hops, name, theirs, answer)
    if end is None or end[0] != node:
        stages.append({"what": f"the ARP answer of {name}", "arrived": False, "hops": hops, "way": []})
        return None
    return str(theirs["mac"])


def spread(
    network: Network,
    hops: list[Told],
    node: str,
    port: Told,
    frame: Told,
    ends: list[End] | None = None,
) -> End | None:
    """Sends a frame out of a port, through switches: the host or router that takes it, by which port, as what, on which
    way; None if none does. `ends` gets all of them.
    """
    waiting, taken = [(node, port, frame, [node])], []
    seen: set[tuple[str, str, str]] = set()
    while waiting and len(hops) < HOPS_MAX:
        node, port, frame, way = waiting.pop(0)
        there, device = port["peer"], port["peer_device"]
        if there is None or (there, device, json.dumps(frame, sort_keys=True)) in seen:
            continue
        seen.add((there, device, json.dumps(frame, sort_keys=True)))
        kind = network.nodes[there]["type"]
        if kind == "ovs":
            waiting += [(*each, [*way, there]) for each in switched(network, hops, there, device, frame)]
        elif kind == "switch":
            waiting += [
                (there, each, frame, [*way, there])
                for each in network.nodes[there]["ports"]
                if each["device"] != device
            ]
        elif frame["eth_dst"] in (ALL, (network.port(there, device) or {}).get("mac")):
            taken.append((there, device, frame, [*way, there]))
        else:
            hops.append(
                {"node": there, "port": device, "did": f"drops it: it is for {frame['eth_dst']}", "entries": []}
            )
    if ends is not None:
        ends += taken
    return taken[0] if taken else None


def switched(network: Network, hops: list[Told], name: str, device: str, frame: Told) -> list[tuple[str, Told, Told]]:
    """What an Open vSwitch does with a frame: (name, port, frame) for each port that it leaves by."""
    node = network.nodes[name]
    port = network.port(name, device) or {}
    status, out, error = ovs(node, "ofproto/trace", "br0", flow(port["number"], frame))
    hop: Told = {"node": name, "port": device, "did": "", "entries": []}
    hops.append(hop)
    if status:
        hop["did"] = f"could not be asked: {' '.join((out + error).split()) or status}"
        return []
    hop["entries"] = [*entries(out)]
    found, said = sent(out, numbers(node), frame)
    leaves = []
    for number, changed in found:
        each = next((each for each in node["ports"] if each["device"] == number), None)
        if each is not None:
            said.append(f"port {each['number']} ({each['peer']})")
            leaves.append((name, each, changed))
    hop["did"] = f"sends it to {', '.join(said)}" if said else "drops it"
    return leaves


def ovs(node: Told, *words: str) -> tuple[int, str, str]:
    return program("env", f"OVS_RUNDIR={node['ovs']}", "ovs-appctl", *words)


def numbers(node: Told) -> dict[str, str]:
    """The devices of an Open vSwitch by the numbers that its datapath has for them."""
    _, out, _ = ovs(node, "dpif/show")
    return {found[2]: found[1] for found in re.finditer(r"^\s+(\S+) \d+/(\d+):", out, re.MULTILINE)}


def flow(number: int, frame: Told) -> str:
    """A frame, in the words of ofproto/trace."""
    words = [f"in_port={number}", f"dl_src={frame['eth_src']}", f"dl_dst={frame['eth_dst']}"]
    if "arp" in frame:
        theirs = "00:00:00:00:00:00" if frame["arp"] == ASKS else frame["eth_dst"]
        about = (f"arp_op={frame['arp']}", f"arp_spa={frame['ip_src']}", f"arp_tpa={frame['ip_dst']}")
        return ",".join((*words, "arp", *about, f"arp_sha={frame['eth_src']}", f"arp_tha={theirs}"))
    six = ":" in frame["ip_dst"]
    key = "ipv6" if six else "nw"
    addresses = (f"{key}_src={frame['ip_src']}", f"{key}_dst={frame['ip_dst']}", "nw_ttl=64")
    if frame["tcp_dst"] is not None:
        ports = (f"tp_src={frame['tcp_src']}", f"tp_dst={frame['tcp_dst']}")
        return ",".join((*words, "tcp6" if six else "tcp", *addresses, *ports))
    kind = ECHO[six][1 if frame["reply"] else 0]
    return ",".join((*words, "icmp6" if six else "icmp", *addresses, f"icmp_type={kind}", "icmp_code=0"))


def entries(text: str) -> Iterator[str]:
    """The entries that ofproto/trace says a packet matches, one of each table that it passes."""
    for line in text.splitlines():
        found = ENTRY.match(line)
        if found:
            yield f"table {found[1]}: {found[2].strip().rstrip(',')}"


def sent(text: str, devices: dict[str, str], frame: Told) -> tuple[list[tuple[str, Told]], list[str]]:
    """Of what ofproto/trace says: (device, frame) for each port, and in words what else becomes of it."""
    actions = re.search(r"^Datapath actions: (.*)$", text, re.MULTILINE)
    found: list[tuple[str, Told]] = []
    said: list[str] = []
    now = dict(frame)
    for each in split(actions[1] if actions else ""):
        if each in devices:
            found.append((devices[each], dict(now)))
        elif each.startswith("set("):
            for layer, inside in SETS.findall(each):
                for key, value in re.findall(r"(\w+)=([^,]+)", inside):
                    if (layer, key) in FIELDS:
                        now[FIELDS[layer, key]] = int(value) if value.isdigit() else value
        elif each.startswith("userspace(") and "controller" in each:
            said.append("the controller")
        elif each != "drop" and not each.startswith(STAYS):
            said.append(f"where it cannot be followed ({each})")
    return found, said


def split(text: str) -> list[str]:
    """The parts of a list with commas, of which some are inside brackets."""
    parts, depth = [""], 0
    for letter in text.strip():
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [each.strip() for each in parts if each.strip()]


def table(node: Told) -> str:
    """What ovs-ofctl says of a switch."""
    words = ("ovs-ofctl", "-O", node["version"], "--no-names", "dump-flows", "br0")
    return program("env", f"OVS_RUNDIR={node['ovs']}", *words)[1]


def chosen(pairs: list[Any], pattern: str) -> list[Any] | None:
    """The first of which the file has the pattern; in the file of pings, the part with its address."""
    for pair in pairs:
        with open(pair[3], errors="replace") as file:
            text = file.read()
        part = text.partition(f"ping {pair[1]}\n")[2].partition("\nend")[0] if pair[2] is None else text
        if re.search(pattern, part):
            return list(pair)
    return None


def main(told: str, pairs: str, pattern: str) -> None:
    network, pair = Network(json.loads(told)), chosen(json.loads(pairs), pattern)
    if pair is None:
        return
    said: Told = {"pair": pair[:3], "stages": [], "tables": {}}
    try:
        said["stages"] = follow(network, *pair[:3])
        met = dict.fromkeys(hop["node"] for stage in said["stages"] for hop in stage["hops"])
        switches = [name for name in met if network.nodes[name]["type"] == "ovs"]
        said["tables"] = {name: table(network.nodes[name]) for name in switches[:TABLES_MAX]}
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError) as error:
        said["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:4])
