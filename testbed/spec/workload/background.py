"""The file models of background traffic, one for each pattern, converted to and from values. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ...error import ValueRefused
from ...model.background import Background, Constant, HeavyTailed, OnOff
from ...model.topology import Topology
from ...model.workload import Workload
from ..syntax.document import Fault
from ..syntax.field import Rate, Size, Span, Time, matching
from ..syntax.file_model import FileModel
from ..syntax.scalar import NAME_ALLOWED, NAME_PATTERN, text_of
from ..syntax.variant import Variant
from .common import Congestion, EndsFile
from .registry import place_faults
from .udp import Length

_ARRIVALS_ALLOWED = "a number of arrivals in a time, such as '5 /s' or '30 /min'"
_ARRIVALS_PATTERN = r"^\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*/\s*(s|min|h)\s*$"
_SECONDS = {"s": 1, "min": 60, "h": 3600}
_SHAPE_ALLOWED = "a number from more than 1 to 10, such as 1.2"
_DECIMAL = r"[0-9]{1,3}(\.[0-9]{1,9})?"


def _arrivals(value: object) -> Fraction:
    """In a second."""
    text = text_of(value, _ARRIVALS_ALLOWED)
    match = re.fullmatch(_ARRIVALS_PATTERN, text)
    if match is None or not Fraction(match[1]):
        raise ValueRefused(f"{text!r} is not a rate of arrivals", _ARRIVALS_ALLOWED)
    return Fraction(match[1]) / _SECONDS[match[2]]


def _write_arrivals(arrivals: Fraction) -> str:
    """In the shortest time in which it is a decimal: every one that was read is."""
    for unit, seconds in _SECONDS.items():
        text = _decimal(arrivals * seconds)
        if Fraction(text) == arrivals * seconds:
            return f"{text} /{unit}"
    raise AssertionError(f"BUG: {arrivals} arrivals in a second cannot be written")


def _shape(value: object) -> Fraction:
    text = text_of(value, _SHAPE_ALLOWED)
    if not re.fullmatch(_DECIMAL, text) or not 1 < Fraction(text) <= 10:
        raise ValueRefused(f"{text!r} is not the shape of a Pareto distribution that has a mean", _SHAPE_ALLOWED)
    return Fraction(text)


def _decimal(value: Fraction) -> str:
    """With up to nine places."""
    whole, rest = divmod(value.numerator * 10**9 // value.denominator, 10**9)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".")


Arrivals = Annotated[
    Fraction,
    PlainValidator(_arrivals),
    PlainSerializer(_write_arrivals),
    WithJsonSchema(
        matching(_ARRIVALS_PATTERN, "How many flows begin per unit of time, on average.", "5 /s", "30 /min")
    ),
]
ParetoShape = Annotated[
    Fraction,
    PlainValidator(_shape),
    PlainSerializer(_decimal),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 1, "maximum": 10}, {"type": "string"}]}),
]


class SizesFile(FileModel):
    """A Pareto distribution of sizes."""

    mean: Size
    shape: ParetoShape = Field(
        Fraction(6, 5), description="The shape of the Pareto distribution; a smaller one has a heavier tail."
    )


class _BackgroundFile(EndsFile):
    """What all patterns have in common."""

    lead: Time = Field(0, description="How long before the workload it starts.")
    duration: Span | None = Field(None, description="How long it runs at most; default: as long as the workload.")


class OnOffFile(_BackgroundFile):
    """A flow that comes and goes."""

    pattern: Literal["on-off"]
    busy: Span = Field(description="How long it sends, on average.")
    idle: Span = Field(description="How long it pauses, on average.")
    congestion: Congestion = "cubic"

    def background(self) -> OnOff:
        ends = (self.source, self.destination)
        return OnOff(*ends, self.busy, self.idle, self.congestion, self.lead, self.duration)


class HeavyTailedFile(_BackgroundFile):
    """Flows that arrive at random, most of them small and a few very large."""

    pattern: Literal["heavy-tailed"]
    arrivals: Arrivals
    size: SizesFile
    congestion: Congestion = "cubic"

    def background(self) -> HeavyTailed:
        ends, size = (self.source, self.destination), self.size
        return HeavyTailed(*ends, self.arrivals, size.mean, size.shape, self.congestion, self.lead, self.duration)


class ConstantFile(_BackgroundFile):
    """Datagrams at a constant rate."""

    pattern: Literal["constant"]
    rate: Rate = Field(description="The rate of its payload.")
    length: Length = 1400

    def background(self) -> Constant:
        assert self.rate is not None, "BUG: a constant background that was not checked"
        return Constant(self.source, self.destination, self.rate, self.length, self.lead, self.duration)


AnyBackgroundFile: TypeAlias = OnOffFile | HeavyTailedFile | ConstantFile

PATTERNS: dict[str, type[AnyBackgroundFile]] = {
    "on-off": OnOffFile,
    "heavy-tailed": HeavyTailedFile,
    "constant": ConstantFile,
}

BackgroundFile: TypeAlias = Annotated[AnyBackgroundFile, Variant("pattern", PATTERNS)]


def background_file(background: Background) -> AnyBackgroundFile:
    """The file model of a background; its `background()` returns the value again."""
    common: dict[str, Any] = {
        "pattern": background.pattern,
        "source": background.source,
        "destination": background.destination,
        "lead": background.lead_ns,
        "duration": background.duration_ns,
    }
    match background:
        case OnOff():
            return OnOffFile.model_construct(
                **common, busy=background.busy_ns, idle=background.idle_ns, congestion=background.congestion
            )
        case HeavyTailed():
            size = SizesFile.model_construct(mean=background.mean_bytes, shape=background.shape)
            return HeavyTailedFile.model_construct(
                **common, arrivals=background.arrivals, size=size, congestion=background.congestion
            )
        case Constant():
            return ConstantFile.model_construct(**common, rate=background.rate_bps, length=background.length_bytes)


def background_faults(
    files: Mapping[str, AnyBackgroundFile], topology: Topology | None, workload: Workload | None
) -> list[Fault]:
    """What is wrong with them in this topology and beside this workload; paths are seen from the mapping."""
    faults: list[Fault] = []
    for name, file in files.items():
        if not re.fullmatch(NAME_PATTERN, name):
            faults.append(Fault((name,), f"{name!r} is not a name", NAME_ALLOWED))
        if isinstance(file, ConstantFile) and file.rate is None:
            faults.append(
                Fault((name, "rate"), "a constant background needs a rate", "a rate such as 10 Mbit/s", named=True)
            )
        if topology is not None:
            faults += [fault.under(name) for fault in place_faults(file, topology)]
        if workload is not None and file.duration is None and workload.length_ns is None:
            what = "the length of the workload is not known in advance, so the background needs a duration"
            faults.append(Fault((name,), what, "a line such as 'duration: 60 s'", named=True))
    return faults
