"""Data paths: the links that data crosses from one host to another. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from itertools import islice

from ..codec.frozen import dataclass
from ..error import UserError
from .address import AddressBook
from .link.impairment import Loss, Way, mean_loss
from .route import trace, way
from .schedule import Change
from .topology import MTU_DEFAULT, Link, Node, Topology

MOST_NS, INSTANTS_MAX = 86_400_000_000_000, 100


@dataclass(frozen=True)
class PathHop:
    """A link on a data path, and the direction in which the data crosses it."""

    link: Link
    way: Way


@dataclass(frozen=True)
class DataPath:
    """The links of data from one host to another, and of its answers, by the routes that the plan sets up.

    `source_ip` is the sender's address, on the first link; `destination_ip` the receiver's, on the last.
    """

    source: str
    destination: str
    path: tuple[PathHop, ...]
    answers: tuple[PathHop, ...]
    source_ip: IPv4Address | IPv6Address
    destination_ip: IPv4Address | IPv6Address

    @property
    def rtt_ns(self) -> int:
        """Of a round trip, without serialisation, queues and jitter."""
        hops = (*self.path, *self.answers)
        return sum(hop.link.own(hop.way).delay_ns for hop in hops)

    @property
    def mtu_bytes(self) -> int:
        """The smallest MTU that the data meets."""
        return min((hop.link.mtu_bytes for hop in self.path), default=MTU_DEFAULT)


def lowest_rate_bps(hops: tuple[PathHop, ...]) -> int | None:
    """The lowest rate of these hops; None if no link has one."""
    asked = [hop.link.own(hop.way) for hop in hops]
    return min((each.rate_bps for each in asked if each.rate_bps is not None), default=None)


def data_ways(data_paths: Iterable[DataPath]) -> dict[str, Way]:
    """Link to the direction in which data crosses it, to which the link's `data` applies; of several data paths the
    last one decides.
    """
    return {hop.link.name: hop.way for data_path in data_paths for hop in data_path.path}


def path_losses(hops: Iterable[PathHop], ways: Mapping[str, Way]) -> tuple[Loss, ...]:
    """What loses data on these hops; `ways` are `data_ways` of all data paths."""
    asked = (hop.link.asked(hop.way, is_data=ways[hop.link.name] == hop.way).loss for hop in hops)
    return tuple(loss for loss in asked if loss is not None)


def path_loss(hops: Iterable[PathHop], ways: Mapping[str, Way]) -> float:
    """The share of the data that is lost on these hops in the long run, each loss on its own; `ways` are `data_ways`
    of all data paths.
    """
    kept = 1.0
    for loss in path_losses(hops, ways):
        kept *= 1 - mean_loss(loss)
    return 1 - kept if kept < 1 else 0.0


def data_path_between(topology: Topology, book: AddressBook, source: str, destination: str) -> DataPath:
    """The data path between two hosts. Raises UserError if there is none."""
    found = way(topology, book, source, destination)
    data, answers = (_hops(links) for links in (found.there, found.back))
    return DataPath(source, destination, data, answers, found.source_ip, found.destination_ip)


def _hops(found: tuple[tuple[Link, str], ...]) -> tuple[PathHop, ...]:
    return tuple(PathHop(link, "forward" if entered == link.ends[0] else "backward") for link, entered in found)


def must_cross(topology: Topology, book: AddressBook, source: str, destination: str, link: str, way: Way) -> bool:
    """Whether nothing comes from one host to another but over this link in this direction: nothing else joins them, or
    the plan's routes lead there. Routing daemons, address translation, controllers and spanning trees find other ways.
    """
    if _is_only_way(topology, source, destination, link, way):
        return True
    if any(map(_chooses, topology.nodes)):
        return False
    to = (address.ip for port in book.interfaces_of(destination) for address in port.addresses)
    ways = (found for each in to if (found := trace(topology, book, source, each)) is not None)
    return all((link, way) in [(hop.link.name, hop.way) for hop in _hops(found)] for found in ways)


def _is_only_way(topology: Topology, source: str, destination: str, link: str, way: Way) -> bool:
    reached, waiting = {source}, [source]
    while waiting:
        here = waiting.pop()
        others = {each.other_end(here) for each in topology.links_of(here) if each.name != link} - reached
        reached |= others
        waiting += others
    end = topology.link(link).leads_to(way)
    return destination not in reached and end not in reached and topology.link(link).other_end(end) in reached


def _chooses(node: Node) -> bool:
    """Whether it sends packets on other ways than the plan's routes and the shortest way over switches."""
    router = node.router
    translates = router is not None and (router.nat is not None or router.nftables is not None)
    return node.finds_routes or translates or node.controller is not None or node.stp


def detours(topology: Topology, book: AddressBook, data_path: DataPath) -> tuple[DataPath, ...]:
    """The data paths that routing daemons find while links are down, for each set of links that are down together as
    their schedules say; those between the same hosts. Without daemons nobody finds any.
    """
    if not any(node.finds_routes for node in topology.nodes):
        return ()
    found: dict[DataPath, None] = {}
    for down in sorted(map(sorted, _down_together(topology.links))):
        left = replace(topology, links=tuple(link for link in topology.links if link.name not in down))
        ports = (tuple(port for port in ports if port.link not in down) for ports in (book.ports, book.tagged))
        try:
            detour = data_path_between(left, AddressBook(*ports), data_path.source, data_path.destination)
        except (UserError, AssertionError):  # nobody can pass
            continue
        if (detour.path, detour.answers) != (data_path.path, data_path.answers):
            found[detour] = None
    return tuple(found)


def _down_together(links: Iterable[Link]) -> set[frozenset[str]]:
    """The links that are down, at the first instants at which any goes down or comes back."""
    downs = [(link.name, change) for link in links for change in link.schedule if _takes_down(change)]
    instants = {at for _, change in downs for at in islice(change.instants(MOST_NS), INSTANTS_MAX)}
    return {
        frozenset(name for name, change in downs if change.holds(at_ns)) for at_ns in sorted(instants)[:INSTANTS_MAX]
    } - {frozenset[str]()}


def goes_down(link: Link) -> bool:
    """Whether a schedule takes it down."""
    return any(map(_takes_down, link.schedule))


def _takes_down(change: Change) -> bool:
    return ("down", True) in change.all_pairs
