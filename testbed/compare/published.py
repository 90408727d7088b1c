"""Published profiles: the printed numbers of a paper, as data with their source and certainty. Reads files.

docs/published-profiles.md describes the format. Values are in base units: s, bit/s, B, ratio, or the noun of what
is counted. A number that the source does not print is None, never 0.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from ..analysis.profile import Limit, Limits, Published, Reference, ThroughputProfile
from ..analysis.statistic import Estimate
from ..codec.frozen import dataclass
from ..codec.keyed import Keyed, Kind, key, named
from ..codec.kind import NAME, SAID, TEXT, listed, record, table, word
from ..codec.scalar import whole as read_whole
from ..codec.schema import of_keys, whole
from ..error import UserError, ValueRefused, did_you_mean, one_of
from ..library import PROFILES, did_you_mean_path
from ..spec import load as specfile
from . import condition, loss, quantity
from .number import COUNTS, NUMBER, UNIT, Number
from .quantity import RATE, Quantity

Certainty: TypeAlias = Literal["exact", "about", "bound", "unknown", "cited", "derived"]
Claim: TypeAlias = Literal["reproduced", "shape", "calibrated", "data only"]
"""How strong it is to meet a published number: the same mechanism gave it; only orderings and shapes compare; it is an
input of the emulator; nothing is claimed, and the number is kept as data.
"""

LIMITS: Mapping[str, Limit] = {"at_least": "at least", "at_most": "at most"}

K = TypeVar("K", "Fact", "Series")

RTT = "rtt"
AXES = (*condition.KINDS, *(key for key in quantity.READ if key not in condition.KINDS))
"""What a series may be over, besides the RTT, so that each of its points is a condition of a run."""
NOWHERE: Number = NUMBER.read("0 s")
"""The place of a number at an RTT that is not stated."""

_OF = "What distinguishes it: provider, region, … and the conditions of docs/published-profiles.md."
_METRIC = "The metric of a trial that runs are judged by; docs/published-profiles.md has them. Default: by its unit."
RUNS = Kind(read_whole(1, 10**6), schema={"type": "integer", "minimum": 1})
YEAR = Kind(read_whole(1900, 2100), schema={"type": "integer"})
CERTAINTY = word("exact", "about", "bound", "unknown", "cited", "derived")
CLAIM = word("reproduced", "shape", "calibrated", "data only")


@named
class Citation(Keyed):
    """Where it was published; venue and year are None if they are not known for certain."""

    authors: tuple[str, ...] = key("authors", listed(TEXT, 1))
    title: str = key("title", SAID)
    venue: str | None = key("venue", TEXT, default=None)
    year: int | None = key("year", YEAR, default=None)
    note: str | None = key("note", TEXT, default=None)


@named
class Statement(Keyed):
    """A statement of a source without a number: a condition of the measurement, or a finding."""

    says: str = key("says", SAID)
    where: str = key("where", SAID, "Section, figure or table.")
    note: str | None = key("note", TEXT, default=None)


@named
class Contradiction(Keyed):
    """Two statements of a source that cannot both be true, and how we read them."""

    what: str = key("what", SAID)
    reading: str = key("reading", SAID)


@named
class Measure(Keyed):
    """One number of a source: a value, or limits, or only a unit (unknown)."""

    value: Number | None = key("value", NUMBER, default=None)
    at_least: Number | None = key("at_least", NUMBER, default=None)
    at_most: Number | None = key("at_most", NUMBER, default=None)
    sd: Number | None = key("sd", NUMBER, "The standard deviation printed with the value.", default=None)
    runs: int | None = key("runs", RUNS, "How many runs the value is the mean, and the sd that, of.", default=None)
    plus_minus: Number | None = key("plus_minus", NUMBER, "How far the value may be off, such as 5 %.", default=None)
    note: str | None = key("note", TEXT, default=None)

    @property
    def numbers(self) -> Iterator[tuple[str, Number]]:
        """The numbers that are given, each with its key."""
        for name in ("value", "at_least", "at_most", "sd"):
            number = getattr(self, name)
            if number is not None:
                yield name, number

    def refuse_negative(self) -> None:
        """Raises ValueRefused: nothing that a trial has is below 0."""
        for name, number in self.numbers:
            if number.value < 0:
                raise ValueRefused(f"{number.text!r} is negative", "0 or more", (name,))

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
        for name in ("sd", "plus_minus"):
            if getattr(self, name) is not None and self.value is None:
                raise ValueRefused(f"{'an' if name == 'sd' else 'a'} {name} needs a value", "a value", (name,))
        if self.sd is not None and self.sd.value < 0:
            raise ValueRefused(f"{self.sd.text!r} is negative", "0 or more", ("sd",))
        if self.at_least is not None and self.at_most is not None and self.at_least.value > self.at_most.value:
            raise ValueRefused("no number is both", f"at_least up to {self.at_most.text}", ("at_least",))
        if self.runs is not None and (self.sd is None) != (self.runs == 1):
            raise ValueRefused("one run has no sd, and several have one", "'runs: 1', or runs with an sd", ("runs",))
        off = self.plus_minus
        if off is not None and (off.value < 0 or off.unit not in ("ratio", unit)):
            raise ValueRefused(f"{off.text!r} is no distance", f"0 or more, in {unit} or %", ("plus_minus",))
        for name, number in self.numbers:
            if unit is not None and number.unit != unit:
                raise ValueRefused(f"this is in {number.unit} and others are in {unit}", f"in {unit}", (name,))


@named
class Fact(Measure):
    """One number, its quantity, and where it is printed. `unit` is needed only if the number is unknown.

    Runs are compared with one that has a `metric` or a `claim`, as with a series of one point.
    """

    what: str = key("what", SAID)
    of: Mapping[str, str] = key("of", table(NAME, TEXT), _OF, default={})
    certainty: Certainty = key("certainty", CERTAINTY)
    where: str = key("where", SAID)
    unit: str | None = key("unit", UNIT, default=None)
    claim: Claim | None = key("claim", CLAIM, "The most that a run which meets it can claim.", default=None)
    metric: str | None = key("metric", TEXT, _METRIC, default=None)

    def refuse_inconsistent(self) -> None:
        """Raises ValueRefused if what it says contradicts itself."""
        first = next((number.unit for _, number in self.numbers), None)
        self.refuse_unless(self.certainty, self.unit or first)
        if self.certainty == "unknown" and self.unit is None:
            raise ValueRefused("it has no unit", "'unit: Mbit/s' or the like")
        try:
            found = quantity.of_number(self.metric, self.unit or first, self.of)
        except ValueRefused as refused:
            if self.metric is not None:
                raise
            if self.claim is not None:
                what = f"nothing can be compared with it: {refused.what}"
                raise ValueRefused(what, f"{refused.allowed}; or no claim", ("claim",)) from None
        else:
            if self.claim is not None or self.metric is not None:
                _refuse_unread(self.of, found)
                self.refuse_negative()


@named
class Point(Measure):
    """One point of a series; without `certainty` or `where`, those of the series hold."""

    at: Number = key("at", NUMBER)
    certainty: Certainty | None = key("certainty", CERTAINTY, default=None)
    where: str | None = key("where", TEXT, default=None)


@named
class Series(Keyed):
    """Numbers over another quantity, all in one unit, one for each value of that quantity.

    `capacity` normalizes the throughput of a series over RTT.
    """

    what: str = key("what", SAID)
    of: Mapping[str, str] = key("of", table(NAME, TEXT), _OF, default={})
    over: str = key("over", NAME, "What `at` is: rtt, window, loss, size, …")
    certainty: Certainty = key("certainty", CERTAINTY)
    where: str = key("where", SAID)
    capacity: Number | None = key("capacity", NUMBER, default=None)
    claim: Claim = key("claim", CLAIM, "The most that a run which meets it can claim.", default="data only")
    metric: str | None = key("metric", TEXT, _METRIC, default=None)
    note: str | None = key("note", TEXT, default=None)
    points: tuple[Point, ...] = key("points", listed(record(Point), 1))

    def refuse_inconsistent(self) -> None:
        """Raises ValueRefused if what it says contradicts itself."""
        unit = self._unit
        if self.metric is not None and unit is not None:
            quantity.of_number(
                self.metric, unit, {**self.of, **({} if self.is_over_rtt else self._own(self.points[0]))}
            )
        try:
            quantity_of(self)
        except ValueRefused:
            pass
        else:
            self._refuse_unread_conditions()
        seen: set[float] = set()
        for index, point in enumerate(self.points):
            try:
                point.refuse_unless(self.certainty_of(point), unit)
                self._refuse_place(point, seen)
            except ValueRefused as refused:
                at = ("points", index, *refused.at)
                raise ValueRefused(refused.what, refused.allowed, at) from None
            seen.add(point.at.value)

    @property
    def _unit(self) -> str | None:
        return next((number.unit for point in self.points for _, number in point.numbers), None)

    def _own(self, point: Point) -> Mapping[str, str]:
        """The conditions of a point of a series over a condition."""
        at = point.at.text.removesuffix(" flows").removesuffix(" flow").removesuffix(" ratio")
        if self.over == "loss":
            at = f"{self.of.get('loss', '')} {at}".strip() if point.at.value else loss.NONE
        return {**self.of, self.over: at}

    def _refuse_unread_conditions(self) -> None:
        """Of something that runs are compared with. Raises ValueRefused."""
        if self.over in self.of and not (self.over == "loss" and self.of["loss"] in loss.WAYS):
            what = f"{self.over} is what its points are at, and stands here, too"
            allowed = f"one of the two, or how all of it is lost: {one_of(loss.WAYS, '')}"
            raise ValueRefused(what, allowed if self.over == "loss" else "one of the two", ("of", self.over))
        self._refuse_absurd(quantity_of(self))
        if self.is_over_rtt:
            _refuse_unread(self.of, quantity_of(self))
            return
        for index, point in enumerate(self.points):
            try:
                _refuse_unread(self._own(point), quantity_of(self))
            except ValueRefused as refused:
                at = ("points", index, "at") if refused.at[-1] == self.over else refused.at
                raise ValueRefused(refused.what, refused.allowed, at) from None

    def _refuse_place(self, point: Point, seen: set[float]) -> None:
        unit = self.points[0].at.unit
        if point.at.unit != unit:
            raise ValueRefused(f"this is in {point.at.unit} and others are in {unit}", f"in {unit}", ("at",))
        if point.at.value in seen:
            raise ValueRefused(f"there are two points at {point.at.text}", "each once", ("at",))

    def _refuse_absurd(self, found: Quantity) -> None:
        """A number or an RTT below 0, a capacity that is no rate, or normalizes none. Raises ValueRefused."""
        if self.capacity is not None:
            if self.capacity.unit != RATE or self.capacity.value < 1:
                raise ValueRefused(f"{self.capacity.text!r} is no rate", "1 bit/s or more", ("capacity",))
            if not self.is_over_rtt or found.base_unit != RATE:
                what = "a capacity normalizes throughput over RTT, and this is something else"
                raise ValueRefused(what, f"of: {{rate: {self.capacity.text}}}", ("capacity",))
            if "rate" in self.of:
                raise ValueRefused("the rate stands in capacity, too", "one of the two", ("of", "rate"))
        for index, point in enumerate(self.points):
            try:
                point.refuse_negative()
                if self.is_over_rtt and point.at.value < 0:
                    raise ValueRefused(f"{point.at.text!r} is negative", "0 or more", ("at",))
            except ValueRefused as refused:
                raise ValueRefused(refused.what, refused.allowed, ("points", index, *refused.at)) from None

    def certainty_of(self, point: Point) -> Certainty:
        return point.certainty or self.certainty

    def off_bps(self, point: Point) -> float:
        """How far the number of a point may be off: as printed with it, else half of a unit of its last digit, or a
        whole one if it is printed as approximate. Chance, which `sd` and `runs` describe, comes on top.
        """
        assert point.value is not None, "BUG: how far nothing may be off"
        if point.plus_minus is not None:
            scale = point.value.value if point.plus_minus.unit != point.value.unit else 1.0
            return point.plus_minus.value * scale
        return point.value.last_digit * (1.0 if self.certainty_of(point) == "about" else 0.5)

    def references(self) -> Published:
        """The points that have a value, with what is known of their errors, by what they are at."""
        known = [point for point in self.points if point.value is not None and self.certainty_of(point) != "unknown"]
        return {point.at.value: Reference(_mean(point), self.off_bps(point)) for point in known}

    def limits(self) -> Limits:
        """The points that are limits, by what they are at, two for an interval."""
        return [
            (point.at.value, Reference(Estimate.constant(number.value), number.last_digit / 2, LIMITS[key]))
            for point in self.points
            for key, number in point.numbers
            if key in LIMITS
        ]

    @property
    def is_over_rtt(self) -> bool:
        return self.over == RTT

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


def _at(text: str) -> Number:
    """An RTT among the conditions. Raises ValueRefused for one that is none."""
    try:
        found: Number = NUMBER.read(text)
    except ValueRefused:
        found = None  # type: ignore[assignment]
    if found is None or found.unit != "s" or found.value <= 0:
        raise ValueRefused(f"{text!r} is no RTT", "such as 80 ms", ("of", RTT))
    return found


@dataclass(frozen=True)
class Compared:
    """What runs are compared with: numbers over RTT, or one number. That is at an RTT, or, if it does not `has_rtt`,
    at one that the publication does not state. `group` is what a user names it by, alone or with the other points of
    its series over `axis`.
    """

    group: str
    series: Series
    quantity: Quantity
    has_rtt: bool = True
    is_alone: bool = False
    axis: str | None = None

    @property
    def numbers(self) -> int:
        return len(self.series.references()) + len({at for at, _ in self.series.limits()})


def quantity_of(about: Fact | Series) -> Quantity:
    """What its numbers are. Raises ValueRefused, with the reason, if runs cannot be compared with it."""
    if isinstance(about, Fact):
        unit = next((number.unit for _, number in about.numbers), None)
        if unit is None:
            raise ValueRefused("the publication prints no number for it", "a number")
        if about.metric is None and about.claim is None:
            raise ValueRefused(_unnamed(unit), f"`metric` with one of {', '.join(quantity.names())}")
        return quantity.of_number(about.metric, unit, about.of)
    unit = about._unit
    if unit is None:
        raise ValueRefused("the publication prints no number for it", "a number")
    if not about.is_over_rtt and about.over not in AXES:
        what = f"it is over {about.over}, and a run has no such axis"
        raise ValueRefused(what, f"over {', '.join((RTT, *AXES))}")
    if about.is_over_rtt and about.points[0].at.unit != "s":
        raise ValueRefused(
            f"it is over {about.over}, and its points are in {about.points[0].at.unit}", "RTTs such as 80 ms"
        )
    own = about.of if about.is_over_rtt else about._own(about.points[0])
    found = quantity.of_number(about.metric, unit, own)
    if not about.is_over_rtt and about.over not in (*condition.KINDS, *found.needs):
        raise ValueRefused(f"it is over {about.over}, and {found.name} does not depend on it", "a metric that does")
    return found


def _unnamed(unit: str) -> str:
    """Why a fact of this unit, of which the profile says no metric, is none of a trial."""
    if unit in COUNTS:
        return f"it counts {unit}, and a trial has no such number"
    if unit == "ratio":
        return "it is a share or a ratio, and the profile names no metric of one trial for it, as for one of groups"
    return "the profile names no metric of one trial for it"


def _refuse_unread(of: Mapping[str, str], found: Quantity) -> None:
    """Raises ValueRefused, at its key, for a condition that no run could be held against."""
    if RTT in of:
        _at(of[RTT])
    condition.refuse_unread(of)
    found.refuse_unread(of)


def _single(about: Fact | Series, group: str, of: Mapping[str, str], point: Point, axis: str | None) -> Compared:
    """One number: at its RTT if one is stated, else as if at 0."""
    left, at = {name: text for name, text in of.items() if name != RTT}, of.get(RTT)
    series = Series(
        what=about.what,
        of=left,
        over=RTT,
        certainty=about.certainty,
        where=about.where,
        claim=about.claim or "data only",
        points=(replace(point, at=_at(at) if at else NOWHERE),),
    )
    return Compared(group, series, quantity_of(about), at is not None, is_alone=True, axis=axis)


def _of_fact(name: str, fact: Fact) -> Compared:
    numbers = {key: getattr(fact, key) for key in ("value", "at_least", "at_most", "sd", "runs", "plus_minus")}
    return _single(fact, name, fact.of, Point(at=NOWHERE, **numbers), None)


def _of_series(name: str, series: Series) -> dict[str, Compared]:
    """The series, or one for each of its points if it is over a condition."""
    if series.is_over_rtt:
        return {name: Compared(name, series, quantity_of(series))}
    found = {point.at.text: point for point in series.points}
    return {
        f"{name} at {at}": _single(series, name, series._own(point), point, series.over) for at, point in found.items()
    }


def _mean(point: Point) -> Estimate:
    """With its error where an sd and the number of runs are printed, an unknown one for one run; else a constant."""
    assert point.value is not None, "BUG: the mean of no number"
    if point.runs == 1:
        return Estimate(point.value.value, None, 0)
    if point.sd is None or point.runs is None:
        return Estimate.constant(point.value.value)
    return Estimate(point.value.value, point.sd.value / point.runs**0.5, point.runs - 1)


def _consistent(keys: type[K]) -> Kind:
    own = record(keys)

    def read_consistent(value: Any) -> K:
        found: K = own.read(value)
        found.refuse_inconsistent()
        return found

    return Kind(read_consistent, own.write, own.schema)


FACT, SERIES = _consistent(Fact), _consistent(Series)


@named
class PublishedProfile(Keyed):
    """All data taken from one publication."""

    name: str = key("name", NAME)
    about: str = key("about", TEXT)
    citation: Citation = key("citation", record(Citation))
    conditions: Mapping[str, Statement] = key(
        "conditions", table(NAME, record(Statement)), "How it was measured.", default={}
    )
    facts: Mapping[str, Fact] = key("facts", table(NAME, FACT), "Single numbers.", default={})
    series: Mapping[str, Series] = key("series", table(NAME, SERIES), "Numbers over another quantity.", default={})
    findings: Mapping[str, Statement] = key(
        "findings", table(NAME, record(Statement)), "Orderings and shapes, without a number.", default={}
    )
    not_printed: tuple[str, ...] = key(
        "not_printed", listed(TEXT), "What a reproduction would need and the source does not print.", default=()
    )
    contradictions: tuple[Contradiction, ...] = key(
        "contradictions", listed(record(Contradiction)), "Statements that cannot both be true.", default=()
    )

    @property
    def compared(self) -> Mapping[str, Compared]:
        """What runs are compared with, by name: the series, those over a condition as one number for each of its
        points, such as `NAME at 4`, and the facts that say a metric; `fact NAME` where a series has that name.
        """
        found: dict[str, Compared] = {}
        for name, each in self._named.items():
            try:
                found |= _of_series(name, each) if isinstance(each, Series) else {name: _of_fact(name, each)}
            except ValueRefused:
                continue
        return found

    @property
    def refused(self) -> Mapping[str, str]:
        """Why runs cannot be compared with the others, by name."""
        found = {}
        for name, each in self._named.items():
            try:
                quantity_of(each)
            except ValueRefused as refused:
                found[name] = f"{each.what} ({each.where}): {refused.what}"
        return found

    @property
    def _named(self) -> Mapping[str, Fact | Series]:
        facts = {f"fact {name}" if name in self.series else name: fact for name, fact in self.facts.items()}
        return {**self.series, **facts}

    @property
    def numbers(self) -> int:
        """How many it has: facts, and points of series."""
        return len(self.facts) + sum(len(each.points) for each in self.series.values())

    @property
    def compared_numbers(self) -> int:
        """By how many of them `testbed compare` can judge runs; the others are for `testbed reproduce`."""
        return sum(each.numbers for each in self.compared.values())

    def chosen(self, name: str | None) -> Mapping[str, Compared]:
        """Those of this name: one, or all points of a series (None: all)."""
        return {key: each for key, each in self.compared.items() if name in (None, key, each.group)}


def names() -> tuple[str, ...]:
    """The profiles that come with the testbed."""
    return tuple(sorted(path.stem for path in PROFILES.glob("*.yaml")))


def comparable() -> tuple[str, ...]:
    """Those of them by which `testbed compare` can judge runs."""
    return tuple(name for name in names() if load(PROFILES / f"{name}.yaml").compared)


def find(text: str) -> tuple[PublishedProfile, str | None]:
    """The profile that a user names, by name or file, and the series or fact named after a '#' (None: none).

    Raises UserError for an unknown name, and with the reason for one with which no run can be compared; SpecError for a
    file with problems.
    """
    where, _, series = text.partition("#")
    path = PROFILES / f"{where}.yaml" if where in names() else Path(where)
    if not path.is_file():
        listed = f"a file, or {', '.join(comparable())}"
        meant = did_you_mean(where, names()) or did_you_mean_path(Path(where))
        raise UserError(f"there is no published profile {where!r}; allowed: {listed}{meant}")
    profile = load(path)
    if series and not profile.chosen(series):
        groups = list(dict.fromkeys(each.group for each in profile.compared.values()))
        what = f"{where} has no {series!r}"
        if series in profile.refused:
            what = f"no run can be compared with {series}: {profile.refused[series]}"
        raise UserError(f"{what}; allowed: {one_of(groups, series)}")
    return profile, series or None


def load(path: str | os.PathLike[str]) -> PublishedProfile:
    """Reads a profile. Raises SpecError with all problems of the file, each with its line."""
    return specfile.read(path).checked(PublishedProfile)


def schema() -> dict[str, Any]:
    """The format as a JSON Schema, for editors."""
    return whole(of_keys(PublishedProfile))
