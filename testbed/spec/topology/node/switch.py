"""A switch as a topology file writes it: its VLANs and the rates of its ports. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .... import units
from ....codec.keyed import Kind, key, keyed
from ....codec.kind import FLAG, NAME, REAL_NIC, mapped, matching, number
from ....codec.scalar import name as read_name
from ....codec.scalar import quantity, whole
from ....error import ValueRefused
from ....model.topology import Node
from ....model.vlan import VLAN_MAX, VLAN_MIN, Membership
from .keys import NodeKeys

VLANS_ALLOWED = f"{VLAN_MIN} to {VLAN_MAX} for an access port, or a list such as [10, 20] for a trunk"

_read_vlan = whole(VLAN_MIN, VLAN_MAX)
_read_rate = quantity(units.parse_rate, units.RATE.allowed, low=1)


def read_vlans(value: object) -> int | tuple[int, ...]:
    """One for an access port, several for a trunk."""
    if isinstance(value, dict):
        raise ValueRefused("this is a mapping", VLANS_ALLOWED)
    if not isinstance(value, list | tuple):
        return _read_vlan(value)
    if not value:
        raise ValueRefused("this is empty", VLANS_ALLOWED)
    found = tuple(map(_read_vlan, value))
    twice = next((vlan for vlan in found if found.count(vlan) > 1), None)
    if twice is not None:
        raise ValueRefused(f"VLAN {twice} appears twice", "each once")
    return found


def read_port_rate(value: object) -> Any:
    """One rate for all ports, or one for each of some ports, by their links."""
    if not isinstance(value, dict):
        return _read_rate(value)
    if not value:
        raise ValueRefused("the mapping is empty", "a rate, or {LINK: RATE, …}")
    return {read_name(link): _rate_of(rate, link) for link, rate in value.items()}


def _rate_of(value: object, link: str) -> int | None:
    try:
        return _read_rate(value)
    except ValueRefused as refused:
        raise ValueRefused(refused.what, refused.allowed, (link,)) from None


_VLAN_SCHEMA = number(VLAN_MIN, VLAN_MAX, "A VLAN.")
_RATE_SCHEMA = matching(units.RATE.pattern, "A rate in bits per second.", "1 Gbit/s")

VLANS = Kind(
    read_vlans,
    lambda value: list(value) if isinstance(value, tuple) else value,
    {"anyOf": [_VLAN_SCHEMA, {"type": "array", "items": _VLAN_SCHEMA, "minItems": 1}]},
)
PORT_RATE = Kind(
    read_port_rate,
    schema={"anyOf": [_RATE_SCHEMA, {"type": "object", "additionalProperties": _RATE_SCHEMA, "minProperties": 1}]},
)


@keyed
class SwitchFile(NodeKeys):
    """A switch: a Linux bridge."""

    type = "switch"

    stp: bool = key("stp", FLAG, "Whether it runs the spanning tree protocol.", default=False)
    nic: str | None = key(
        "nic", REAL_NIC, "A NIC of this computer as an additional port; needs kernel: host.", default=None
    )
    vlans: tuple[tuple[str, Any], ...] | None = key(
        "vlans",
        mapped(NAME, VLANS),
        "For each of its links: one VLAN for an access port, or a list of VLANs for a trunk.",
        default=None,
    )
    port_rate: Any = key(
        "port_rate",
        PORT_RATE,
        "How fast its ports send: one rate for all whose links set none, or a rate for each link.",
        default=None,
    )

    def node(self, name: str) -> Node:
        vlans = tuple(_member(link, said) for link, said in self.vlans or ())
        return Node(name, self.type, stp=self.stp, real_nic=self.nic, vlans=vlans)

    @classmethod
    def of(cls, node: Node) -> SwitchFile:
        vlans = tuple((each.link, each.vlans if each.is_trunk else each.vlans[0]) for each in node.vlans)
        return cls(stp=node.stp, nic=node.real_nic, vlans=vlans or None)

    def sends_at(self, link: str) -> int | None:
        """The rate of the port to a link; None if the switch does not say."""
        if isinstance(self.port_rate, Mapping):
            return self.port_rate.get(link)
        rate: int | None = self.port_rate
        return rate


def _member(link: str, said: int | tuple[int, ...]) -> Membership:
    return Membership(link, said, True) if isinstance(said, tuple) else Membership(link, (said,), False)
