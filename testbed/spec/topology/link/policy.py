"""A link's volume policy as a topology file writes it, and what is wrong with one. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .... import units
from ....codec.fault import Fault
from ....codec.keyed import Keyed, Kind, key, keyed
from ....codec.keyed import read as read_keys
from ....codec.kind import RATE, SIZE
from ....codec.scalar import quantity
from ....error import ValueRefused, one_of
from ....model.link.extent import VOLUME_MAX
from ....model.link.impairment import Policy
from ....model.topology import Link
from .direction import WAYS, PerDirection, of_data, per_direction

POLICY_ALLOWED = "none, {after: 9 GB, rate: 400 Mbit/s}, or {forward: …, backward: …} with one of these for each"


@keyed
class VolumeRange(Keyed):
    """A volume that is drawn from the trial's seed."""

    low: int = key("from", SIZE)
    high: int = key("to", SIZE)


def _volume(value: object) -> tuple[int, int]:
    if not isinstance(value, dict):
        size = quantity(units.parse_size, f"{units.SIZE.allowed}; or {{from: …, to: …}}", low=1, high=VOLUME_MAX)(value)
        return (size or 0), (size or 0)
    drawn = read_keys(VolumeRange, value)
    if drawn.low > drawn.high:
        raise ValueRefused("the range ends before it begins", "from: the smaller size, to: the larger", ("to",))
    return drawn.low, drawn.high


def _write_volume(volume: tuple[int, int]) -> Any:
    low, high = map(units.format_size, volume)
    return low if low == high else {"from": low, "to": high}


def _rate(value: object) -> int:
    rate_bps = quantity(units.parse_rate, units.RATE.allowed, low=1)(value) or 0
    if rate_bps % 8:
        raise ValueRefused(f"{value!r} is not a whole number of bytes per second", "a multiple of 8 bit/s")
    return rate_bps


_RANGE: dict[str, Any] = {
    "type": "object",
    "properties": {"from": SIZE.schema, "to": SIZE.schema},
    "required": ["from", "to"],
    "additionalProperties": False,
}


@keyed
class PolicyKeys(Keyed):
    """A volume, and the rate to which what follows it is policed."""

    after: tuple[int, int] = key("after", Kind(_volume, _write_volume, {"anyOf": [SIZE.schema, _RANGE]}))
    rate: int = key("rate", Kind(_rate, units.format_rate, RATE.schema))


def _read(value: object) -> Policy | None:
    if value == "none":
        return None
    if not isinstance(value, dict):
        raise ValueRefused("this is not a policy", POLICY_ALLOWED)
    found = read_keys(PolicyKeys, value)
    return Policy(found.rate, *found.after)


def _write(policy: Policy | None) -> Any:
    if policy is None:
        return "none"
    return PolicyKeys((policy.low_bytes, policy.high_bytes), policy.rate_bps).written()


POLICY = Kind(_read, _write, {"anyOf": [{"const": "none"}, {"$ref": PolicyKeys}]}, none="none")


def _read_ways(value: Any) -> PerDirection:
    for way in value:
        if way not in WAYS:
            raise ValueRefused(f"unknown key {way!r}", one_of(WAYS, str(way)), (way,))
    found: PerDirection = _WAYS.read(value)
    return found


_WAYS = per_direction(POLICY, "PolicyByDirection")
_LINK = of_data(
    POLICY,
    "After a volume, packets above a rate are dropped; for the direction of the data.",
    "LinkPolicy",
    _read_ways,
)
LINK_POLICY = Kind(
    _LINK.read,
    lambda value: (
        {way: _write(getattr(value, way)) for way in WAYS if getattr(value, way) is not None}
        if isinstance(value, PerDirection)
        else _write(value)
    ),
    _LINK.schema,
    none="none",
)


def policy_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a policy and the rates of the link; paths begin at the link."""
    for way, direction in link.directions:
        if direction.policy is not None:
            yield from (fault.under("policy", way) for fault in _rate_faults(direction.policy, (direction.rate_bps,)))
    if link.data.policy is not None:
        either = (link.forward.rate_bps, link.backward.rate_bps)
        yield from (fault.under("policy") for fault in _rate_faults(link.data.policy, either))


def _rate_faults(policy: Policy, rates: tuple[int | None, ...]) -> Iterator[Fault]:
    fastest = max((rate for rate in rates if rate is not None), default=None)
    if fastest is None:
        yield Fault((), "a policy lowers the rate of a link, and this link has none", "a rate on the link")
    elif policy.rate_bps >= fastest:
        what = f"the link itself carries no more than {units.format_rate(fastest)}: nothing would be policed"
        yield Fault(("rate",), what, "a rate below that of the link")
