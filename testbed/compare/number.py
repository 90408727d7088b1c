"""A printed number with its unit: "77.8 Mbit/s". Pure, no I/O."""

from __future__ import annotations

import re
from fractions import Fraction

from .. import units
from ..codec.frozen import dataclass
from ..codec.keyed import Kind
from ..codec.scalar import text_of
from ..error import ValueRefused, nearest

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
_EXAMPLE = "a number with its unit, such as '77.8 Mbit/s'"


@dataclass(frozen=True)
class Number:
    """A printed number: `value` in the base unit `unit`, and the text as written in the file."""

    value: float
    unit: str
    text: str

    @property
    def last_digit(self) -> float:
        """The unit of the last digit that is written, in the base unit: 1e7 bit/s for "1.40 Gbit/s"."""
        match = _NUMBER.fullmatch(self.text.strip())
        assert match is not None, "BUG: a number that was never parsed"
        digits, _, exponent = match[1].lower().partition("e")
        places = len(digits.partition(".")[2]) - int(exponent or 0)
        return float(Fraction(10) ** -places * _unit(match[2])[1])


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


NUMBER = Kind(
    lambda value: value if isinstance(value, Number) else parse_number(text_of(value, _EXAMPLE)),
    lambda number: number.text,
    {"type": "string", "description": f"{_EXAMPLE[0].upper()}{_EXAMPLE[1:]}."},
)
UNIT = Kind(lambda value: _unit(text_of(value, "a unit"))[0], schema={"enum": [*UNITS]})
