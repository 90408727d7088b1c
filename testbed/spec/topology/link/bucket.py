"""A link's shaper and policer as files write them, and what is wrong with them. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, TypeAdapter, WithJsonSchema

from .... import units
from ....error import ValueRefused
from ....model.link.bucket import RATE_MAX_BPS, Policer, Shaper
from ....model.topology import Link
from ...syntax.document import Fault
from ...syntax.field import Rate, matching
from ...syntax.file_model import FileModel
from ...syntax.scalar import quantity, text_of
from .extent import BURST_MAX

SHAPER_ALLOWED = "none, or {rate: 10 Gbit/s, burst: 2.6 Tbit, refill: 750 Mbit/s}"
POLICER_ALLOWED = "none, or {rate: 10 Mbit/s, burst: 64 KiB}"
VOLUME_ALLOWED = f"{units.SIZE.allowed}; or in {', '.join(units.BITS.units)}, such as '2.6 Tbit'"


def _rate(value: object) -> int:
    rate_bps = quantity(units.parse_rate, units.RATE.allowed, low=1)(value) or 0
    if rate_bps % 8 or rate_bps > RATE_MAX_BPS:
        why = "is not a whole number of bytes per second" if rate_bps % 8 else "is too fast for a bucket"
        raise ValueRefused(f"{value!r} {why}", f"a multiple of 8 bit/s up to {units.format_rate(RATE_MAX_BPS)}")
    return rate_bps


def _volume(value: object) -> int:
    text = text_of(value, VOLUME_ALLOWED)
    if not text.rstrip().endswith("bit"):
        return quantity(units.parse_size, VOLUME_ALLOWED, low=1, high=BURST_MAX)(value) or 0
    bits = units.parse_bits(text)
    if not bits or bits % 8:
        raise ValueRefused(f"{text!r} is not a whole number of bytes, or none", VOLUME_ALLOWED)
    if bits // 8 > BURST_MAX[0]:
        raise ValueRefused(f"{text!r} is too large", BURST_MAX[1])
    return bits // 8


_RATE_SCHEMA = TypeAdapter(Rate).json_schema()
BucketRate = Annotated[int, PlainValidator(_rate), PlainSerializer(units.format_rate), WithJsonSchema(_RATE_SCHEMA)]
Volume = Annotated[
    int,
    PlainValidator(_volume),
    PlainSerializer(units.format_size),
    WithJsonSchema(
        matching(rf"{units.SIZE.pattern}|{units.BITS.pattern}", "A volume of whole frames.", "2.6 Tbit", "64 KiB")
    ),
]


class ShaperFile(FileModel):
    """A rate while there is credit, and the rate at which credit comes back, which holds without any."""

    rate: BucketRate
    burst: Volume
    refill: BucketRate

    @classmethod
    def read(cls, value: object) -> Shaper | None:
        if value == "none":
            return None
        if not isinstance(value, dict):
            raise ValueRefused("this is not a shaper", SHAPER_ALLOWED)
        file = cls.model_validate(value)
        if file.refill >= file.rate:
            what = f"the credit comes back at {units.format_rate(file.refill)}, and would never end"
            raise ValueRefused(what, f"less than the rate of {units.format_rate(file.rate)}", ("refill",))
        return Shaper(file.rate, file.burst, file.refill)

    @classmethod
    def write(cls, shaper: Shaper | None) -> Any:
        if shaper is None:
            return "none"
        said = {"rate": shaper.rate_bps, "burst": shaper.burst_bytes, "refill": shaper.refill_bps}
        return cls.model_construct(None, **said).written()


class PolicerFile(FileModel):
    """A rate and a burst; what exceeds them is dropped."""

    rate: BucketRate
    burst: Volume

    @classmethod
    def read(cls, value: object) -> Policer | None:
        if value == "none":
            return None
        if not isinstance(value, dict):
            raise ValueRefused("this is not a policer", POLICER_ALLOWED)
        file = cls.model_validate(value)
        return Policer(file.rate, file.burst)

    @classmethod
    def write(cls, policer: Policer | None) -> Any:
        if policer is None:
            return "none"
        return cls.model_construct(None, rate=policer.rate_bps, burst=policer.burst_bytes).written()


ShaperField = Annotated[
    Any,
    PlainValidator(ShaperFile.read),
    PlainSerializer(ShaperFile.write),
    WithJsonSchema({"anyOf": [{"const": "none"}, ShaperFile.model_json_schema()]}),
]
PolicerField = Annotated[
    Any,
    PlainValidator(PolicerFile.read),
    PlainSerializer(PolicerFile.write),
    WithJsonSchema({"anyOf": [{"const": "none"}, PolicerFile.model_json_schema()]}),
]


def shaper_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a shaper and the rest of a link; paths begin at the link."""
    for way, direction in (("forward", link.forward), ("backward", link.backward)):
        shaper = direction.shaper
        if shaper is None:
            continue
        yield from down_faults(link, "shaper", way)
        if direction.rate_bps != shaper.rate_bps:
            what = "the shaper has a rate of its own, and the link has another one"
            yield Fault(("shaper", way), what, "no rate on the link")
        if shaper.burst_bytes < link.mtu_bytes + 14:
            yield Fault(("shaper", way), "a full packet is larger than the burst", f"{link.mtu_bytes + 14} B or more")


def down_faults(link: Link, key: str, way: str) -> Iterator[Fault]:
    """What waits in a link that goes down is thrown away at an endless rate, which no bucket and no trace has."""
    later = (change for each in link.schedule for change in (*each.forward, *each.backward, *each.data))
    if any(each.value("down") for each in (link.forward, link.backward)) or any(pair[0] == "down" for pair in later):
        yield Fault((key, way), f"a link cannot have '{key}' and go down", f"'{key}', or 'down'")


def policer_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a policer and the rest of a link; paths begin at the link."""
    for way, direction in (("forward", link.forward), ("backward", link.backward)):
        policer = direction.policer
        if policer is None:
            continue
        if policer.burst_bytes < link.mtu_bytes + 14:
            what = "a full packet is larger than the burst, and none would pass"
            yield Fault(("policer", way), what, f"{link.mtu_bytes + 14} B or more")
        if direction.rate_bps is not None and direction.rate_bps <= policer.rate_bps and direction.trace is None:
            what = f"the link itself carries no more than {units.format_rate(direction.rate_bps)}"
            yield Fault(("policer", way), f"{what}: nothing would be policed", "a rate below that of the link")
