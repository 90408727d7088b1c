"""Published profiles: the printed numbers of a paper, as data with their source and certainty. Reads files.

docs/published-profiles.md describes the format. Values are in base units: s, bit/s, B, ratio, or the noun of what
is counted. A number that the source does not print is None, never 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, PlainSerializer, PlainValidator, TypeAdapter, WithJsonSchema, model_validator

from .. import units
from ..analysis.profile import ThroughputProfile
from ..error import SpecError, UserError, ValueRefused, did_you_mean, nearest, one_of
from ..library import PROFILES, did_you_mean_path
from ..spec import load as specfile
from ..spec.syntax.field import Name, Text
from ..spec.syntax.file_model import FileModel, check
from ..spec.syntax.scalar import text_of, whole

Certainty: TypeAlias = Literal["exact", "about", "bound", "unknown", "cited", "derived"]
Claim: TypeAlias = Literal["reproduced", "shape", "calibrated", "data only"]
"""How strong it is to meet a published number: the same mechanism gave it; only orderings and shapes compare; it is an
input of the emulator; nothing is claimed, and the number is kept as data.
"""

COUNTS = (
    "bit", "cases", "cycles", "datacenters", "downloads", "edges", "flows", "frames", "orders of magnitude",
    "packets", "pairs", "providers", "regions", "runs", "scenarios", "segments", "sites", "tests",
)  # fmt: skip
"""Nouns of what can be counted; each is a unit of its own."""

_DAY_S = 86_400
_TIMES_S = {unit: Fraction(ns, 10**9) for unit, ns in units.TIME.units.items()} | {"d": Fraction(_DAY_S)}
_BYTE_RATES = {f"{unit}/s": 8 * Fraction(size) for unit, size in units.SIZE.units.items()}

UNITS: dict[str, tuple[str, Fraction]] = {
    **{unit: ("s", scale) for unit, scale in _TIMES_S.items()},
    **{unit: ("bit/s", scale) for unit, scale in _BYTE_RATES.items()},
    **{unit: ("bit/s", Fraction(scale)) for unit, scale in units.RATE.units.items()},
    **{unit: ("B", Fraction(scale)) for unit, scale in units.SIZE.units.items()},
    **{noun: (noun, Fraction(1)) for noun in COUNTS},
    "ratio": ("ratio", Fraction(1)),
    "%": ("ratio", Fraction(1, 100)),
}
"""Every unit a number may have: its base unit, and how many of those it is."""

_NUMBER = re.compile(r"([+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?)(?:\s*(\S.*))?")
_OF = "What distinguishes it: provider, region, flows, …"
_EXAMPLE = "a number with its unit, such as '77.8 Mbit/s'"


@dataclass(frozen=True)
class Number:
    """A printed number: `value` in the base unit `unit`, and the text as written in the file."""

    value: float
    unit: str
    text: str


def parse_number(text: str) -> Number:
    """Reads "77.8 Mbit/s", with any sign. Raises ValueRefused for text without a number or without a known unit."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise ValueRefused(f"{text!r} is not a number", _EXAMPLE)
    if match[2] is None:
        raise ValueRefused(f"{text!r} has no unit", f"{_EXAMPLE}; 'ratio' if it has no dimension")
    base, scale = _unit(match[2])
    return Number(float(Fraction(match[1]) * scale), base, text)


def _unit(word: str) -> tuple[str, Fraction]:
    if word not in UNITS:
        meant = nearest(word, [*UNITS])
        hint = f" (did you mean {meant!r}?)" if meant else ""
        raise ValueRefused(f"unknown unit {word!r}", ", ".join(UNITS) + hint)
    return UNITS[word]


NumberField = Annotated[
    Number,
    PlainValidator(lambda value: parse_number(text_of(value, _EXAMPLE))),
    PlainSerializer(lambda number: number.text),
    WithJsonSchema({"type": "string", "description": f"{_EXAMPLE[0].upper()}{_EXAMPLE[1:]}."}),
]
UnitField = Annotated[
    str,
    PlainValidator(lambda value: _unit(text_of(value, "a unit"))[0]),
    WithJsonSchema({"enum": [*UNITS]}),
]
Year = Annotated[int, PlainValidator(whole(1900, 2100)), WithJsonSchema({"type": "integer"})]


class Citation(FileModel):
    """Where it was published; venue and year are None if they are not known for certain."""

    authors: list[Text] = Field(min_length=1)
    title: Text = Field(min_length=1)
    venue: Text | None = None
    year: Year | None = None
    note: Text | None = None


class Statement(FileModel):
    """A statement of a source without a number: a condition of the measurement, or a finding."""

    says: Text = Field(min_length=1)
    where: Text = Field(min_length=1, description="Section, figure or table.")
    note: Text | None = None


class Contradiction(FileModel):
    """Two statements of a source that cannot both be true, and how we read them."""

    what: Text = Field(min_length=1)
    reading: Text = Field(min_length=1)


class Measure(FileModel):
    """One number of a source: a value, or limits, or only a unit (unknown)."""

    value: NumberField | None = None
    at_least: NumberField | None = None
    at_most: NumberField | None = None
    sd: NumberField | None = Field(None, description="The standard deviation printed with the value.")
    note: Text | None = None

    @property
    def numbers(self) -> Iterator[tuple[str, Number]]:
        """The numbers that are given, each with its key."""
        for key in ("value", "at_least", "at_most", "sd"):
            number = getattr(self, key)
            if number is not None:
                yield key, number

    def refuse_unless(self, certainty: Certainty, unit: str | None) -> None:
        """Raise ValueRefused if numbers, certainty and unit contradict each other."""
        is_limit = self.at_least is not None or self.at_most is not None
        if certainty == "unknown" and [*self.numbers]:
            raise ValueRefused("an unknown value has no number", "another certainty, or no number")
        if certainty != "unknown" and self.value is None and not is_limit:
            raise ValueRefused("there is no number", "value, at_least, at_most, or 'certainty: unknown'")
        if self.value is not None and is_limit:
            raise ValueRefused("there are a value and a limit", "value alone, or at_least and at_most")
        if certainty == "bound" and self.value is not None:
            raise ValueRefused("a bound has no value", "at_least, at_most, or both", ("value",))
        if self.sd is not None and self.value is None:
            raise ValueRefused("an sd needs a value", "a value", ("sd",))
        for key, number in self.numbers:
            if unit is not None and number.unit != unit:
                raise ValueRefused(f"this is in {number.unit} and others are in {unit}", f"in {unit}", (key,))


class Fact(Measure):
    """One number, its quantity, and where it is printed. `unit` is needed only if the number is unknown."""

    what: Text = Field(min_length=1)
    of: dict[Name, Text] = Field({}, description=_OF)
    certainty: Certainty
    where: Text = Field(min_length=1)
    unit: UnitField | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Fact:
        first = next((number.unit for _, number in self.numbers), None)
        self.refuse_unless(self.certainty, self.unit or first)
        if self.certainty == "unknown" and self.unit is None:
            raise ValueRefused("it has no unit", "'unit: Mbit/s' or the like")
        return self


class Point(Measure):
    """One point of a series; without `certainty` or `where`, those of the series hold."""

    at: NumberField
    certainty: Certainty | None = None
    where: Text | None = None


class Series(FileModel):
    """Numbers over another quantity, all in one unit, one for each value of that quantity.

    `capacity` normalizes the throughput of a series over RTT.
    """

    what: Text = Field(min_length=1)
    of: dict[Name, Text] = Field({}, description=_OF)
    over: Name = Field(description="What `at` is: rtt, window, loss, size, …")
    certainty: Certainty
    where: Text = Field(min_length=1)
    capacity: NumberField | None = None
    claim: Claim = Field("data only", description="The most that a run which meets it can claim.")
    note: Text | None = None
    points: list[Point] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_consistent(self) -> Series:
        unit = next((number.unit for point in self.points for _, number in point.numbers), None)
        seen: set[float] = set()
        for index, point in enumerate(self.points):
            try:
                point.refuse_unless(self.certainty_of(point), unit)
                self._refuse_place(point, seen)
            except ValueRefused as refused:
                at = ("points", index, *refused.at)
                raise ValueRefused(refused.what, refused.allowed, at) from None
            seen.add(point.at.value)
        return self

    def _refuse_place(self, point: Point, seen: set[float]) -> None:
        unit = self.points[0].at.unit
        if point.at.unit != unit:
            raise ValueRefused(f"this is in {point.at.unit} and others are in {unit}", f"in {unit}", ("at",))
        if point.at.value in seen:
            raise ValueRefused(f"there are two points at {point.at.text}", "each once", ("at",))

    def certainty_of(self, point: Point) -> Certainty:
        return point.certainty or self.certainty

    def throughput_profile(
        self, certainties: Collection[Certainty] = ("exact", "about", "cited", "derived")
    ) -> ThroughputProfile:
        """The points of these certainties as a throughput profile; limits and unknown points are left out.

        Raises UserError if it is not throughput over RTT, or nothing is left.
        """
        values = {
            point.at.value: point.value
            for point in self.points
            if point.value is not None and self.certainty_of(point) in certainties
        }
        if not values:
            raise UserError(f"there is no point whose certainty is {one_of([*certainties], '')}: {self.what}")
        if self.points[0].at.unit != "s" or next(iter(values.values())).unit != "bit/s":
            raise UserError(f"this is not throughput over RTT: {self.what}")
        return ThroughputProfile.of_means({rtt: number.value for rtt, number in values.items()})


class PublishedProfile(FileModel):
    """All data taken from one publication."""

    name: Name
    about: Text
    citation: Citation
    conditions: dict[Name, Statement] = Field({}, description="How it was measured.")
    facts: dict[Name, Fact] = Field({}, description="Single numbers.")
    series: dict[Name, Series] = Field({}, description="Numbers over another quantity.")
    findings: dict[Name, Statement] = Field({}, description="Orderings and shapes, without a number.")
    not_printed: list[Text] = Field([], description="What a reproduction would need and the source does not print.")
    contradictions: list[Contradiction] = Field([], description="Statements that cannot both be true.")


def names() -> tuple[str, ...]:
    """The profiles that come with the testbed."""
    return tuple(sorted(path.stem for path in PROFILES.glob("*.yaml")))


def find(text: str) -> tuple[PublishedProfile, str | None]:
    """The profile that a user names, by name or file, and the series named after a '#' (None: no series).

    Raises UserError for an unknown name, SpecError for a file with problems.
    """
    where, _, series = text.partition("#")
    path = PROFILES / f"{where}.yaml" if where in names() else Path(where)
    if not path.is_file():
        listed = f"a file, or {', '.join(names())}"
        meant = did_you_mean(where, names()) or did_you_mean_path(Path(where))
        raise UserError(f"there is no published profile {where!r}; allowed: {listed}{meant}")
    profile = load(path)
    if series and series not in profile.series:
        raise UserError(f"{where} has no series {series!r}; allowed: {one_of([*profile.series], series) or 'none'}")
    return profile, series or None


def load(path: str | os.PathLike[str]) -> PublishedProfile:
    """Reads a profile. Raises SpecError with all problems of the file, each with its line."""
    document = specfile.read(path)
    profile, faults = check(TypeAdapter(PublishedProfile), document.data)
    if profile is None or document.faults:
        raise SpecError(document.problems(faults))
    return profile


def schema() -> dict[str, Any]:
    """The format as a JSON Schema, for editors."""
    return PublishedProfile.model_json_schema()
