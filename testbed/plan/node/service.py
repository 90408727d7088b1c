"""DHCP and DNS servers (dnsmasq) and those who take leases (udhcpc of busybox), as commands. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...codec.frozen import dataclass
from ...model.address import AddressBook, Port, lease_network
from ...model.node.service import Dhcp
from ...model.route import routes
from ...model.topology import Node, Topology
from ..command import PREFIX, Command, Facts, File, Raw, Signal, Wait, Words, new_folder
from ..linux import Address, Route
from .namespace import node_netns

SERVICE_FOLDER = f"/run/{PREFIX}service"
"""Has a folder for each node that has a DHCP or DNS server, takes a lease or asks for names: resolv.conf, a server's
configuration, log and leases."""
LEASE_SCRIPT = f"{SERVICE_FOLDER}/lease.sh"
ASKS, ASK_AGAIN_S = 60, 1
"""How often a client asks for an address, a second apart: switches listen and learn for up to 30 s before they pass it
on."""
TAKE_LEASE = """export resolver="$5/resolv.conf"
busybox udhcpc -i "$1" -O staticroutes -n -t "$2" -T "$3" -s "$4" -p "$5/udhcpc.pid" || exit
ip -4 address show dev "$1" | grep -qF " $6 " && exit
echo "$1 got another address than $6:" $(ip -4 -brief address show dev "$1") >&2
exit 1"""
CONFIG, LOG, LEASES, HOSTS, RESOLVER = "dnsmasq.conf", "dnsmasq.log", "leases", "hosts", "resolv.conf"
SERVER_BYTES, CLIENT_BYTES = 8 << 20, 2 << 20
UP_S = 2
"""In its first second by the clock, which a lab kernel begins at 0, dnsmasq 2.90 with DHCP never sleeps."""
SCRIPT = """#!/bin/sh
# What udhcpc does with a lease: the address, the routes, and who is asked for names. $resolver is a file.
case $1 in
    deconfig)
        ip -4 address flush dev "$interface"
        ip link set "$interface" up
        ;;
    bound | renew)
        ip -4 address replace "$ip/$mask" dev "$interface"
        if [ -n "$staticroutes" ]; then
            set -- $staticroutes
            while [ $# -gt 1 ]; do
                ip -4 route replace "$1" via "$2" dev "$interface"
                shift 2
            done
        elif [ -n "$router" ]; then
            ip -4 route replace default via "${router%% *}" dev "$interface"
        fi
        if [ -n "$resolver" ]; then
            {
                [ -z "$domain" ] || echo "search $domain"
                for each in $dns; do echo "nameserver $each"; done
            } >"$resolver"
        fi
        ;;
esac
"""


@dataclass(frozen=True)
class Server(Command):
    """Starts dnsmasq with the configuration in a node's folder."""

    folder: str

    tool = "dnsmasq"
    form = f"--conf-file={{folder}}/{CONFIG}"

    @property
    def undo(self) -> Command:
        return Signal("TERM", f"{self.folder}/dnsmasq.pid")


@dataclass(frozen=True)
class Lease(Command):
    """Takes a lease. A DHCP server must give this address and these routes: networks, or "default", each with the
    neighbour that it goes through.
    """

    device: str
    folder: str
    address: str
    through: tuple[tuple[str, str], ...]

    tool = "lease"

    @property
    def words(self) -> Words:
        return (self.device, self.folder, self.address, *(word for pair in self.through for word in pair))

    @property
    def process(self) -> Words:
        asked = (self.device, str(ASKS), str(ASK_AGAIN_S), LEASE_SCRIPT, self.folder, self.address)
        return ("sh", "-c", TAKE_LEASE, "lease", *asked)

    @property
    def undo(self) -> Command:
        return Signal("TERM", f"{self.folder}/udhcpc.pid")

    def leave(self, facts: Facts) -> None:
        Address(self.address, self.device, netns=self.netns).leave(facts)
        for to, via in self.through:
            Route(to, via, self.device, netns=self.netns).leave(facts)


def servers(topology: Topology) -> tuple[Node, ...]:
    """The nodes with a DHCP or DNS server, in file order."""
    return tuple(node for node in topology.nodes if node.serves)


def memory_bytes(node: Node) -> int:
    """What its server and its client take in a lab kernel."""
    return SERVER_BYTES * node.serves + CLIENT_BYTES * node.takes_lease


def folder(node: str) -> str:
    return f"{SERVICE_FOLDER}/{node}"


def commands(topology: Topology, book: AddressBook) -> Iterator[Command]:
    """Servers first, then each client: it waits for its lease, and fails if it gets none or another one."""
    clients = [node for node in topology.nodes if node.takes_lease]
    names = any(node.dns is not None for node in topology.nodes)
    asking = [
        node
        for node in topology.nodes
        if names and not node.kind.has_own_kernel and any(port.addresses for port in book.interfaces_of(node.name))
    ]
    for node in topology.nodes:
        if node.serves or node in clients or node in asking:
            yield new_folder(folder(node.name))
    for node in asking:
        if not node.takes_lease:
            yield File(f"{folder(node.name)}/{RESOLVER}", _resolver(node, topology, book))
    if servers(topology):
        yield Wait(UP_S)
    for node in servers(topology):
        at = folder(node.name)
        if node.dns is not None:
            yield File(f"{at}/{HOSTS}", "".join(f"{line}\n" for line in _hosts(node, topology, book)))
        yield File(f"{at}/{CONFIG}", config(node, topology, book))
        yield Server(at, netns=node_netns(node.name))
    if clients:
        yield File(LEASE_SCRIPT, SCRIPT, Raw("rm", (LEASE_SCRIPT,)))
        yield Raw("sh", ("-c", f"chmod 755 {LEASE_SCRIPT}"))
    for node in clients:
        (port,) = book.ports_of(node.name)
        through = tuple(_through(port, topology, book))
        yield Lease(port.device, folder(node.name), str(port.addresses[0]), through, netns=node_netns(node.name))


def _through(port: Port, topology: Topology, book: AddressBook) -> Iterator[tuple[str, str]]:
    """The routes of a client: networks, or "default", each with the neighbour that it goes through."""
    for hop in routes(topology, book, port.node):
        for via in hop.via.addresses:
            if via.version == 4 and (hop.to is None or hop.to.version == 4):
                yield "default" if hop.to is None else str(hop.to), str(via.ip)


def config(node: Node, topology: Topology, book: AddressBook) -> str:
    """The configuration of a node's dnsmasq, as its manual page has it."""
    at = folder(node.name)
    lines = ["user=root", f"pid-file={at}/dnsmasq.pid", f"log-facility={at}/{LOG}", "no-resolv", "no-hosts"]
    if node.dns is None:
        lines += ["port=0"]
    else:
        lines += ["log-queries", f"addn-hosts={at}/{HOSTS}", f"domain={node.dns.domain}", f"local=/{node.dns.domain}/"]
        lines += [f"local=/{name}/" for name, _ in node.dns.names]
        if node.dns.upstream is not None:
            lines += [f"server={_address(node.dns.upstream, topology, book)}"]
    if node.dhcp is not None:
        # Otherwise it writes clients into the table of neighbours, in place of what the plan put there.
        lines += ["log-dhcp", "dhcp-authoritative", "dhcp-broadcast", f"dhcp-leasefile={at}/{LEASES}"]
        lines += _leases(node, node.dhcp, topology, book)
    return "".join(f"{line}\n" for line in lines)


def _leases(node: Node, dhcp: Dhcp, topology: Topology, book: AddressBook) -> Iterator[str]:
    """The range, what all clients are told, and the address of each client of the topology."""
    own = next(p for p in book.interfaces_of(node.name) if lease_network(dhcp, p.addresses) is not None)
    address = lease_network(dhcp, own.addresses)
    assert address is not None, "BUG: a DHCP server outside of its range"
    yield f"dhcp-range={dhcp.first},{dhcp.last},{address.network.netmask},{dhcp.lease_s}"
    clients = [port for port in book.members(own.segment) if topology.node(port.node).takes_lease]
    default: str | None = None
    for port in clients:
        yield f"dhcp-host={port.mac},set:{port.node},{port.addresses[0].ip},{port.node}"
        found = list(_through(port, topology, book))
        if found and found[0][0] == "default":
            default = found[0][1]
        elif found:
            yield f"dhcp-option=tag:{port.node},option:classless-static-route,{','.join(w for p in found for w in p)}"
    yield f"dhcp-option=option:router,{default}" if default else "dhcp-option=option:router"
    told = _name_servers(own, topology, book)
    yield f"dhcp-option=option:dns-server,{','.join(told)}" if told else "dhcp-option=option:dns-server"
    if told and node.dns is None:
        yield f"dhcp-option=option:domain-name,{_domain(topology)}"


def _name_servers(port: Port, topology: Topology, book: AddressBook) -> tuple[str, ...]:
    """The DNS servers that the nodes of a port's segment ask, three at most (resolv.conf(5)): that of the port's own
    node, those of its segment, then all others.
    """
    near = {member.node for member in book.members(port.segment)}
    found = [node.name for node in topology.nodes if node.dns is not None]
    found.sort(key=lambda name: (name != port.node, name not in near))
    return tuple(_first(name, port, book) for name in found[:3])


def _first(node: str, port: Port, book: AddressBook) -> str:
    """A node's address on the segment of a port, or else its first; in IPv4 if it has one."""
    ports = sorted(book.interfaces_of(node), key=lambda each: each.segment != port.segment)
    addresses = [address for each in ports for address in each.addresses]
    return str(min(addresses, key=lambda address: address.version).ip)


def _domain(topology: Topology) -> str:
    return next(node.dns.domain for node in topology.nodes if node.dns is not None)


def _resolver(node: Node, topology: Topology, book: AddressBook) -> str:
    port = next(port for port in book.interfaces_of(node.name) if port.addresses)
    told = "".join(f"nameserver {each}\n" for each in _name_servers(port, topology, book))
    return f"search {_domain(topology)}\n{told}"


def _address(text: str, topology: Topology, book: AddressBook) -> str:
    """Of a node, in IPv4 if it has one; or the address itself."""
    ports = book.interfaces_of(text) if any(node.name == text for node in topology.nodes) else ()
    addresses = [address for port in ports for address in port.addresses]
    return str(min(addresses, key=lambda address: address.version).ip) if addresses else text


def _hosts(node: Node, topology: Topology, book: AddressBook) -> Iterator[str]:
    """hosts(5): each node at all its addresses, and the names of the file."""
    assert node.dns is not None, "BUG: the names of a node without a DNS server"
    of_node = {each.name: [a.ip for p in book.interfaces_of(each.name) for a in p.addresses] for each in topology.nodes}
    for name, addresses in of_node.items():
        yield from (f"{address} {name.lower()}.{node.dns.domain}" for address in addresses)
    for name, meant in node.dns.names:
        yield from (f"{address} {name}" for address in of_node.get(meant, [meant]))
