"""Data paths: the links that data crosses from one host to another. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from .address import AddressBook
from .link.impairment import Way, mean_loss
from .route import way
from .topology import MTU_DEFAULT, Link, Topology


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
        return sum((hop.link.forward if hop.way == "forward" else hop.link.backward).delay_ns for hop in hops)

    @property
    def mtu_bytes(self) -> int:
        """The smallest MTU that the data meets."""
        return min((hop.link.mtu_bytes for hop in self.path), default=MTU_DEFAULT)


def lowest_rate_bps(hops: tuple[PathHop, ...]) -> int | None:
    """The lowest rate of these hops; None if no link has one."""
    asked = [hop.link.forward if hop.way == "forward" else hop.link.backward for hop in hops]
    return min((each.rate_bps for each in asked if each.rate_bps is not None), default=None)


def data_ways(data_paths: Iterable[DataPath]) -> dict[str, Way]:
    """Link to the direction in which data crosses it, to which the link's `data` applies; of several data paths the
    last one decides.
    """
    return {hop.link.name: hop.way for data_path in data_paths for hop in data_path.path}


def path_loss(hops: Iterable[PathHop], ways: Mapping[str, Way]) -> float:
    """The share of the data that is lost on these hops in the long run, each loss on its own; `ways` are `data_ways`
    of all data paths.
    """
    kept = 1.0
    for hop in hops:
        kept *= 1 - mean_loss(hop.link.asked(hop.way, is_data=ways[hop.link.name] == hop.way).loss)
    return 1 - kept if kept < 1 else 0.0


def data_path_between(topology: Topology, book: AddressBook, source: str, destination: str) -> DataPath:
    """The data path between two hosts. Raises UserError if there is none."""
    found = way(topology, book, source, destination)
    data, answers = (_hops(links) for links in (found.there, found.back))
    return DataPath(source, destination, data, answers, found.source_ip, found.destination_ip)


def _hops(found: tuple[tuple[Link, str], ...]) -> tuple[PathHop, ...]:
    return tuple(PathHop(link, "forward" if entered == link.ends[0] else "backward") for link, entered in found)
