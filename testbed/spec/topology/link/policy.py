"""A link's volume policy as a topology file writes it, and what is wrong with one. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator, TypeAdapter, WithJsonSchema

from .... import units
from ....error import ValueRefused, one_of
from ....model.link.impairment import Policy
from ....model.topology import Link
from ...syntax.document import Fault
from ...syntax.field import PerDirection, Rate, Size, is_directional
from ...syntax.file_model import FileModel
from ...syntax.scalar import quantity
from .extent import VOLUME_MAX

POLICY_ALLOWED = "none, {after: 9 GB, rate: 400 Mbit/s}, or {forward: …, backward: …} with one of these for each"


class RangeFile(FileModel):
    """A volume that is drawn from the trial's seed."""

    low: Size = Field(alias="from")
    high: Size = Field(alias="to")


def _volume(value: object) -> tuple[int, int]:
    if not isinstance(value, dict):
        size = quantity(units.parse_size, f"{units.SIZE.allowed}; or {{from: …, to: …}}", low=1, high=VOLUME_MAX)(value)
        return (size or 0), (size or 0)
    drawn = RangeFile.model_validate(value)
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


_size_schema = TypeAdapter(Size).json_schema()
_rate_schema = TypeAdapter(Rate).json_schema()
_RANGE: dict[str, Any] = {
    "type": "object",
    "properties": {"from": _size_schema, "to": _size_schema},
    "required": ["from", "to"],
    "additionalProperties": False,
}


class PolicyFile(FileModel):
    """A volume, and the rate to which what follows it is policed."""

    after: Annotated[
        Any, PlainValidator(_volume), PlainSerializer(_write_volume), WithJsonSchema({"anyOf": [_size_schema, _RANGE]})
    ]
    rate: Annotated[int, PlainValidator(_rate), PlainSerializer(units.format_rate), WithJsonSchema(_rate_schema)]

    @classmethod
    def read(cls, value: object) -> Policy | None:
        if value == "none":
            return None
        if not isinstance(value, dict):
            raise ValueRefused("this is not a policy", POLICY_ALLOWED)
        file = cls.model_validate(value)
        return Policy(file.rate, *file.after)

    @classmethod
    def write(cls, policy: Policy | None) -> Any:
        if policy is None:
            return "none"
        return cls.model_construct(after=(policy.low_bytes, policy.high_bytes), rate=policy.rate_bps).written()


def _read_link(value: object) -> Any:
    """One, for the direction of the data, or a PerDirection of them."""
    if not is_directional(value) or not isinstance(value, dict):
        return PolicyFile.read(value)
    for way in value:
        if way not in ("forward", "backward"):
            raise ValueRefused(f"unknown key {way!r}", one_of(("forward", "backward"), str(way)), (way,))
    return PerDirection[PolicyField].model_validate(value)


def _write_link(value: Any) -> Any:
    if isinstance(value, PerDirection):
        ways = (("forward", value.forward), ("backward", value.backward))
        return {way: PolicyFile.write(policy) for way, policy in ways if policy is not None}
    return PolicyFile.write(value)


_ONE: dict[str, Any] = {"anyOf": [{"const": "none"}, PolicyFile.model_json_schema()]}
PolicyField = Annotated[Any, PlainValidator(PolicyFile.read), PlainSerializer(PolicyFile.write), WithJsonSchema(_ONE)]
LinkPolicy = Annotated[
    Any,
    PlainValidator(_read_link),
    PlainSerializer(_write_link),
    WithJsonSchema(
        {
            "anyOf": [
                *_ONE["anyOf"],
                {
                    "type": "object",
                    "properties": {"forward": _ONE, "backward": _ONE},
                    "additionalProperties": False,
                    "minProperties": 1,
                },
            ],
            "description": "After a volume, packets above a rate are dropped; for the direction of the data.",
        }
    ),
]


def policy_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a policy and the rates of the link; paths begin at the link."""
    rates = {"forward": link.forward.rate_bps, "backward": link.backward.rate_bps}
    for way, policy in (("forward", link.forward.policy), ("backward", link.backward.policy)):
        if policy is not None:
            yield from (fault.under("policy", way) for fault in _rate_faults(policy, (rates[way],)))
    if link.data.policy is not None:
        either = (rates["forward"], rates["backward"])
        yield from (fault.under("policy") for fault in _rate_faults(link.data.policy, either))


def _rate_faults(policy: Policy, rates: tuple[int | None, ...]) -> Iterator[Fault]:
    fastest = max((rate for rate in rates if rate is not None), default=None)
    if fastest is None:
        yield Fault((), "a policy lowers the rate of a link, and this link has none", "a rate on the link")
    elif policy.rate_bps >= fastest:
        what = f"the link itself carries no more than {units.format_rate(fastest)}: nothing would be policed"
        yield Fault(("rate",), what, "a rate below that of the link")
