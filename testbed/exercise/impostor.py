"""Impostors: nodes that have the address of another node, or a device in another node's network. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_interface

from ..plan.step import Step
from .rule.common import Net, NotChecked, said

WORDS = "ip -o address show && ip -o link show"
DEVICE = re.compile(r"^[0-9]+: ([^ @:]+)(@[^ ]*)?: .*\blink-netns", re.MULTILINE)
"""One that has its other end, or the device below it, in another namespace."""


def steps(net: Net) -> Iterator[Step]:
    """Asks every node that has an address for all that it has, and for its devices."""
    for node in _asked(net):
        yield net.run(node, WORDS, f"addresses-{node}.out")


def refuse(net: Net, found: Mapping[str, str]) -> None:
    """Raises NotChecked if one node has the address of another, or a way to another that is no link of the topology, or
    if it did not say what it has.
    """
    owners = {address.ip: port.node for port in net.plan.book.ports for address in port.addresses}
    for node in _asked(net):
        status, text = said(found, f"addresses-{node}.out")
        if status:
            raise NotChecked(f"{node} does not say its addresses: {text.strip()[:200]}")
        links = [port.device for port in net.plan.book.ports_of(node)]
        more = [each[1] for each in DEVICE.finditer(text) if each[1] not in links]
        if more:
            raise NotChecked(f"the device {more[0]} of {node} reaches another node, and is no link of the network")
        for address in _addresses(text):
            if owners.get(address, node) != node:
                raise NotChecked(f"{node} has the address {address} of {owners[address]}, and answers in its place")


def _asked(net: Net) -> tuple[str, ...]:
    return tuple(dict.fromkeys(port.node for port in net.plan.book.ports if port.addresses))


def _addresses(text: str) -> Iterator[IPv4Address | IPv6Address]:
    for line in text.splitlines():
        words = line.split()
        if len(words) > 3 and words[2] in ("inet", "inet6"):
            yield ip_interface(words[3]).ip
