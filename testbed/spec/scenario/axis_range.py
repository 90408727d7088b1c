"""Ranges: the values of an axis from one end to the other, for every quantity that is a number. Pure, no I/O.

The ends are just what is written. Between them, `points` values lie at equal distances (linear) or at equal ratios
(log), rounded to three significant digits, or to as many more as keep them apart; a `step` is exact. "1 in X" is
counted in X.
"""

from __future__ import annotations

import decimal
import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from ... import units
from ...codec.fault import Fault
from ...codec.keyed import Keyed, Kind, check, key, named
from ...codec.kind import ANY, number, word
from ...codec.scalar import whole
from ...error import ValueRefused

VALUES_MAX = 10_000
DIGITS, DIGITS_MAX = 3, 12
EXAMPLE = "{from: 1, to: 10, step: 1}"
NUMBERS = "a number with its unit"

Written = tuple[Any, str, list[Fault]]
"""A value as its field reads it, its canonical text, and what is wrong with it."""

POINTS = Kind(whole(2), schema=number(2, VALUES_MAX, "How many values, including both ends; instead of step."))

_LOG = decimal.Context(prec=40)
_ROUND = decimal.Context(prec=30)


@named
class RangeFile(Keyed):
    """The values between two ends, both of which belong to it."""

    first: Any = key("from", ANY, "The first value.")
    last: Any = key("to", ANY, "The last value; it may be the smaller one.")
    points: int | None = key("points", POINTS, default=None)
    step: Any = key("step", ANY, "The step from one value to the next; instead of points.", default=None)
    spacing: Literal["linear", "log"] | None = key(
        "spacing",
        word("linear", "log"),
        "The spacing of points: linear (equal differences) or log (equal ratios).",
        default=None,
    )

    def faults(self) -> Iterator[Fault]:
        if self.points is None and self.step is None:
            yield Fault((), "the range has neither points nor step", "one of the two", named=True)
        if self.points is not None and self.step is not None:
            yield Fault(("step",), "points and step exclude each other", "one of the two")
        if self.step is not None and self.spacing == "log":
            yield Fault(("spacing",), "a step is always linear", "points with spacing: log, or step alone")


@dataclass(frozen=True)
class Form:
    """How numbers of one kind are written: `text` with the number in base units, `units` in which one rounds."""

    text: str
    is_whole: bool
    units: tuple[int, ...] = (1,)

    def write(self, value: Fraction) -> str:
        exact = decimal.Context(prec=60).divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
        return self.text.format(f"{exact:f}")

    def rounded(self, value: Fraction, digits: int) -> Fraction:
        """In the largest unit in which the rounded value is a whole number of base units."""
        for unit in self.units:
            found = _rounded(value / unit, digits) * unit
            if value >= unit and (found.denominator == 1 or not self.is_whole):
                return found
        found = _rounded(value, digits)
        return Fraction(_nearest(value)) if self.is_whole and found.denominator != 1 else found


_BINARY = (2**30, 2**20, 2**10)
_FORMS = {
    "one in": Form("1 in {}", is_whole=True),
    "bdp": Form("{} bdp", is_whole=False),
    "%": Form("{} %", is_whole=False),
    "": Form("{}", is_whole=True),
}
_QUANTITIES = (units.TIME, units.RATE, units.SIZE, units.PACKETS)
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+|/[0-9]+)?)\s*(\S*)")
_ONE_IN = re.compile(r"1 in ([0-9]+)")


def is_range(data: object) -> bool:
    """Whether this stands for values rather than being one: no value of an axis has one of these keys."""
    return isinstance(data, dict) and bool({"from", "to", "points", "step", "spacing"} & set(data))


def read_range(data: Any, read: Callable[[Any], Written]) -> tuple[list[Written], list[Fault]]:
    """The values of a range, each read by the axis's own field; or what is wrong, with paths from the range on."""
    file, faults = check(RangeFile, data)
    faults += [] if file is None else list(file.faults())
    if file is None or faults:
        return [], faults
    ends = {"from": read(file.first), "to": read(file.last)}
    faults = [fault.under(key) for key, end in ends.items() for fault in end[2]]
    if faults:
        return [], faults
    first, last = ends["from"], ends["to"]
    try:
        between = _between(file, first[1], last[1], lambda text: read(text)[1] or text)
    except ValueRefused as refused:
        return [], [Fault(refused.at, refused.what, refused.allowed, named=True)]
    values = [first, *map(read, between), last]
    return values, [fault for each in values for fault in each[2]]


def _between(file: RangeFile, first: str, last: str, canonical: Callable[[str], str]) -> list[str]:
    """What stands between the ends, as text. Raises ValueRefused, `at` the key that is wrong."""
    found = {name: _measured(text) for name, text in (("from", first), ("to", last))}
    for name, text in (("from", first), ("to", last)):
        if found[name] is None:
            raise ValueRefused(f"{text!r} is not {NUMBERS}, so no values lie between", "a list of values", (name,))
    (form, low), (other, high) = (each for each in found.values() if each is not None)
    if form != other:
        raise ValueRefused(f"{last!r} is of another kind than {first!r}", "two ends of one kind", ("to",))
    if low == high:
        raise ValueRefused("from and to are the same", "two different ends, or a list with the one value", ("to",))
    if file.points is None:
        values = _steps(form, low, high, file.step, lambda value: canonical(form.write(value)))
    else:
        _refuse_many(file.points, "points")
        values = _points(_form_as_written(form, file), low, high, file.points, file.spacing == "log")
    return [form.write(value) for value in values]


def _measured(text: str) -> tuple[Form, Fraction] | None:
    """How a text is written, and its number in base units; None if it is not a number."""
    one_in, match = _ONE_IN.fullmatch(text), _NUMBER.fullmatch(text)
    if one_in is not None:
        return _FORMS["one in"], Fraction(int(one_in[1]))
    if match is None:
        return None
    if match[2] in _FORMS:
        return _FORMS[match[2]], Fraction(match[1])
    for quantity in _QUANTITIES:
        unit = quantity.aliases.get(match[2], match[2])
        if unit in quantity.units:
            base = next(iter(quantity.units))
            return Form(f"{{}} {base}", is_whole=True), Fraction(match[1]) * quantity.units[unit]
    return None


def _form_as_written(form: Form, file: RangeFile) -> Form:
    """Sizes are rounded in KiB, MiB and GiB where the file writes both ends so."""
    is_binary = all(str(end).strip().endswith("iB") for end in (file.first, file.last))
    return Form(form.text, form.is_whole, _BINARY) if is_binary else form


def _steps(
    form: Form, low: Fraction, high: Fraction, written: Any, canonical: Callable[[Fraction], str]
) -> list[Fraction]:
    text = str(written).strip()
    kind, step = _measured(text) or (None, Fraction(0))
    if kind != form and not (form == _FORMS["one in"] and kind == _FORMS[""]):
        such = "a whole number" if form.text in ("{}", "1 in {}") else f"such as {canonical(abs(high - low))!r}"
        raise ValueRefused(f"{text!r} is not a step between {canonical(low)} and {canonical(high)}", such, ("step",))
    if not step:
        raise ValueRefused("the step is 0", "more than 0", ("step",))
    count, rest = divmod(abs(high - low), step)
    toward = step if high > low else -step
    if rest:
        before, after = (canonical(low + n * toward) for n in (count, count + 1))
        what = f"steps of {text} from {canonical(low)} lead to {before} and {after}, not to {canonical(high)}"
        raise ValueRefused(what, "a step that reaches the end", ("step",))
    _refuse_many(int(count) + 1, "step")
    return [low + n * toward for n in range(1, int(count))]


def _points(form: Form, low: Fraction, high: Fraction, points: int, is_log: bool) -> list[Fraction]:
    if is_log and not (low and high):
        what = "a range with spacing: log cannot begin or end at 0"
        raise ValueRefused(what, "more than 0, or spacing: linear", ("to" if low else "from",))
    exact = [_at(low, high, Fraction(n, points - 1), is_log) for n in range(1, points - 1)]
    for digits in range(DIGITS, DIGITS_MAX + 1):
        found = [form.rounded(value, digits) for value in exact]
        if _is_ordered([low, *found, high]):
            return found
    what = f"there are no {points} different values between {form.write(low)} and {form.write(high)}"
    raise ValueRefused(what, "fewer points", ("points",))


def _at(low: Fraction, high: Fraction, share: Fraction, is_log: bool) -> Fraction:
    """A share of the way: by decimal logarithms of 40 digits, which are the same on every machine."""
    if not is_log:
        return low + (high - low) * share
    ends, weight = ((_decimal(end).ln(_LOG)) for end in (low, high)), _decimal(share)
    first, last = ends
    power = _LOG.add(first, _LOG.multiply(weight, _LOG.subtract(last, first)))
    return Fraction(_ROUND.plus(power.exp(_LOG)))


def _decimal(value: Fraction) -> decimal.Decimal:
    return _LOG.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))


def _rounded(value: Fraction, digits: int) -> Fraction:
    if not value:
        return value
    quantum = Fraction(10) ** (math.floor(math.log10(value)) - digits + 1)
    return _nearest(value / quantum) * quantum


def _nearest(value: Fraction) -> int:
    """The nearest whole number, of two the larger one."""
    return math.floor(value + Fraction(1, 2))


def _is_ordered(values: list[Fraction]) -> bool:
    pairs = list(itertools.pairwise(values))
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)


def _refuse_many(count: int, key: str) -> None:
    if count > VALUES_MAX:
        raise ValueRefused(f"this makes {count} values", f"up to {VALUES_MAX}", (key,))
