"""Rules of `expect` about what trials measure, as files have them. Pure, no I/O.

Exercises have them too, with the `scenario` whose trials they are about; a scenario's own are about its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ... import units
from ...codec.fault import MAPPING, Fault
from ...codec.keyed import Keyed, Kind, key, keyed, named, read
from ...codec.kind import LINES, NAME, TEXT, TIME, listed, pattern, record, whole
from ...codec.scalar import NAME_PATTERN
from ...error import UserError, ValueRefused, one_of
from ...model.expectation import EXTRA_UNITS, OF_A_PART, PART_ALLOWED, Choice, Expectation
from ...model.metric_need import least_part_ns
from ...model.run_setting import METRIC_UNITS

NUMBER_MAX, ROUND_TRIPS_MAX = 10**9, 10**6
OTHER_KINDS = (
    "reach", "no-reach", "path", "flow", "no-flow", "seen", "route", "port", "output", "converges", "answer",
)  # fmt: skip
"""Rules of exercises that ask a network."""
ASKS_TRIALS = "a scenario's rules ask what its trials measured", "measure; a command's numbers by tool: command"
AXES = {"type": "object", "minProperties": 1}


def read_choice(value: object) -> Any:
    """Values of axes as they are written: what they mean depends on the axis."""
    if not isinstance(value, dict):
        raise ValueRefused("this is not a mapping", MAPPING)
    if not value:
        raise ValueRefused("this is empty", "AXIS: VALUE, or a list of values")
    return value


BOUND = {"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}], "examples": ["9 Mbit/s", "50 ms", "5 %", 0.9]}
BOUND_KIND = Kind(TEXT.read, schema=BOUND)
SINCE = pattern(
    f"{NAME_PATTERN}( [1-9][0-9]{{0,3}})?",
    "an event",
    "a link, and behind it which entry of its schedule, if not the first: path 2",
    "An event of a link's schedule.",
    "path",
    "path 2",
)


def _since(value: Any) -> str:
    """An event as it is written, or a time in its canonical spelling, which has a blank as no name has."""
    if isinstance(value, str) and re.match(units.TIME.pattern, value):
        return units.format_time(TIME.read(value))
    try:
        return str(SINCE.read(value))
    except ValueRefused as refused:
        raise ValueRefused(refused.what, f"{refused.allowed}; or a time, such as 10 s") from None


SINCE_KIND = Kind(_since, schema=lambda: {"anyOf": [SINCE.described(), TIME.described()]})


@keyed
class RoundTrips(Keyed):
    """A part of the time, counted in round trips of the path, without any queue."""

    rtts: tuple[int, ...] = key("rtts", listed(whole(0, ROUND_TRIPS_MAX)), "From and to, in round trips.")


_TIMES = listed(TIME)


def _part(value: Any) -> Any:
    if isinstance(value, dict | RoundTrips):
        return read(RoundTrips, value)
    if not (value and isinstance(value, list | tuple)):
        raise ValueRefused("this is no part of the time", PART_ALLOWED)
    return _TIMES.read(value)


BETWEEN = Kind(
    _part,
    lambda value: value.written() if isinstance(value, RoundTrips) else _TIMES.write(value),
    lambda: {"anyOf": [_TIMES.described(), {"$ref": RoundTrips}]},
)
CHOICE = Kind(read_choice, schema=AXES)
NUMBER = whole(0, NUMBER_MAX)


@named
class MeasureKeys(Keyed):
    """In the trials in which the axes have the values of `where`, the `metric` is from `least` to `most`; with `over`
    it is divided by that of the trials in which they have those values. All their verdicts are `valid`.
    """

    metric: str = key("metric", TEXT, "What is measured.")
    where: Mapping[str, Any] = key("where", CHOICE, "Values of axes: the trials in which they have these.", default={})
    over: Mapping[str, Any] | None = key(
        "over", CHOICE, "Values of axes: the trials whose mean it is divided by.", default=None
    )
    number: int | None = key("number", NUMBER, "Which flow, ping or background, from 0.", default=None, shown=0)
    between: tuple[int, ...] | RoundTrips = key(
        "between", BETWEEN, "Only this part of the time: from and to, since the workload began.", default=()
    )
    since: str | None = key(
        "since",
        SINCE_KIND,
        "What `between` counts from, in place of the workload's start: an event's link, or a time.",
        default=None,
    )
    least: str | None = key("least", BOUND_KIND, "The smallest value that is right.", default=None)
    most: str | None = key("most", BOUND_KIND, "The largest value that is right.", default=None)

    def value(
        self,
        name: str,
        where: Choice,
        over: Choice | None,
        own: Mapping[str, str] = METRIC_UNITS,
        needs: Sequence[str] = (),
        message: str = "",
    ) -> Expectation:
        """The rule as a value; `own` has the base units of the metrics of its trials."""
        unit, between = {**own, **EXTRA_UNITS}[self.metric], self.between
        times, rtts = ((), between.rtts) if isinstance(between, RoundTrips) else (between, ())
        return Expectation(
            *(name, self.metric, unit, self.least, self.most, where, over, self.number or 0, tuple(needs), message),
            *(times, self.since or "", rtts),
        )

    def bound_faults(self, own: Mapping[str, str] = METRIC_UNITS) -> Iterator[Fault]:
        """What is wrong with the metric and its bounds."""
        known = {**own, **EXTRA_UNITS}
        if self.metric not in known:
            yield Fault(("metric",), f"{self.metric!r} is not a metric", one_of([*known], self.metric), named=True)
            return
        if self.metric in EXTRA_UNITS and self.metric in own:
            what = f"{self.metric!r} is a number of the command, and a value that only rules ask for"
            yield Fault(("metric",), what, "another name under the command's measure", named=True)
        if self.number is not None and self.metric not in EXTRA_UNITS:
            yield Fault(
                ("number",), f"{self.metric} has no numbers", f"number with {', '.join(EXTRA_UNITS)}", named=True
            )
        if self.between:
            yield from self._part_faults()
        elif self.since is not None:
            yield Fault(("since",), "nothing counts from it", "since with between", named=True)
        if self.least is None and self.most is None:
            yield Fault((), "any value would do", "least, most", named=True)
            return
        rule, bounds = self.value("", {}, None if self.over is None else {}, own), {}
        for which in ("least", "most"):
            try:
                bounds[which] = rule.bound(getattr(self, which))
            except UserError as error:
                yield Fault((which,), str(error), named=True)
        if len(bounds) < 2:
            return
        least, most = bounds["least"], bounds["most"]
        is_any = not least and (most is None or (rule.unit == "ratio" and most >= 1))
        if is_any:
            yield Fault(
                ("least" if self.least is not None else "most",),
                "every value would do",
                "a bound that counts",
                named=True,
            )
        elif least is not None and most is not None and least > most:
            yield Fault(("most",), f"no value is {rule.wanted}", "at least what least says", named=True)

    def _part_faults(self) -> Iterator[Fault]:
        if self.metric not in OF_A_PART:
            what = f"{self.metric} is of the whole time"
            yield Fault(("between",), what, f"between with {', '.join(sorted(OF_A_PART))}", named=True)
        part = self.between.rtts if isinstance(self.between, RoundTrips) else self.between
        if len(part) != 2 or part[0] >= part[1]:
            yield Fault(("between",), "this is no part of the time", PART_ALLOWED, named=True)
        elif part is self.between and (fault := short_fault(self.metric, part[1] - part[0])) is not None:
            yield fault.under("between")


def short_fault(metric: str, part_ns: float) -> Fault | None:
    """A part of the time that is too short for any value of the metric; None if it is not."""
    least_ns = least_part_ns(metric)
    if part_ns >= least_ns:
        return None
    least = units.format_time(least_ns)
    what = f"{metric} is by means over {least}, and this part has {part_ns / 1e9:g} s"
    return Fault((), what, f"a part of {least} or more", named=True)


@keyed
class ExpectFile(Keyed):
    """A rule about what the trials of the scenario measure."""

    refused_keys: ClassVar[Mapping[str, tuple[str, str]]] = dict.fromkeys(OTHER_KINDS, ASKS_TRIALS)

    name: str = key("name", NAME)
    measure: MeasureKeys = key("measure", record(MeasureKeys))
    message: str = key("message", LINES, "What it means if the rule does not hold.", default="")
    needs: tuple[str, ...] = key(
        "needs", listed(NAME), "Rules before this one that must hold, so that this one counts.", default=()
    )


def rule_faults(rules: Sequence[ExpectFile], own: Mapping[str, str]) -> Iterator[Fault]:
    """What is wrong between keys of rules; paths begin with the number of the rule."""
    known: list[str] = []
    for number, rule in enumerate(rules):
        yield from (fault.under(number, "measure") for fault in rule.measure.bound_faults(own))
        yield from (fault.under(number) for fault in name_faults(rule.name, rule.needs, known))
        known.append(rule.name)


def name_faults(name: str, needs: Iterable[str], known: Sequence[str]) -> Iterator[Fault]:
    """What is wrong with the name of a rule, and of those that it needs; `known` are those before it."""
    if name in known:
        yield Fault(("name",), f"two rules have the name {name!r}", "each name once")
    for need in needs:
        if need not in known:
            what = f"no rule before this one has the name {need!r}"
            yield Fault(("needs",), what, one_of(known, need, "a rule before it"), named=True)


def plain(choice: Mapping[str, Any]) -> tuple[dict[str, tuple[str, ...]], list[Fault]]:
    """Values as they stand in results, and what is none: for a scenario that is not there yet."""
    found, wrong = {}, []
    for axis, data in choice.items():
        texts = tuple(values(data))
        if not texts or not all(isinstance(each, str) for each in texts):
            wrong.append(Fault((axis,), "this is no value", "a text as in the results, or a list of them", named=True))
        found[axis] = tuple(each for each in texts if isinstance(each, str))
    return found, wrong


def values(data: Any) -> list[Any]:
    return data if isinstance(data, list) else [data]
