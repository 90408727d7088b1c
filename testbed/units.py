"""Converts quantities between text with a unit and exact numbers in base units. Pure, no I/O, never a float.

Every parse_* takes text ("100 ms", "10Gbit/s"), returns whole base units or a Fraction, and
raises ValueRefused for anything it cannot convert exactly. Every format_* gives the canonical text, and
parse(format(x)) == x. Nothing is negative. Space between number and unit is optional.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from .error import ValueRefused, nearest


@dataclass(frozen=True)
class Quantity:
    """A quantity: its units, each as a number of base units.

    The first unit is the base unit. `aliases` are other spellings; `hints` map refused units
    to the ones that were probably meant.
    """

    noun: str
    example: str
    units: Mapping[str, int]
    aliases: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)

    @property
    def allowed(self) -> str:
        return f"a {self.noun} in {', '.join(self.units)}, such as {self.example!r}"

    @property
    def pattern(self) -> str:
        """An ECMA regular expression for JSON Schema that accepts the same spelling."""
        words = "|".join(map(re.escape, [*self.units, *self.aliases]))
        return rf"^\s*{_DECIMAL}\s*({words})\s*$"


# Thirty digits are more than any quantity needs, and keep a hostile file from costing time.
_DECIMAL = r"[0-9]{1,30}(\.[0-9]{1,30})?"
_PLAIN = re.compile(rf"([+-]?)({_DECIMAL})\s*([A-Za-z\u00b5\u03bc%].*)?", re.DOTALL)
_RATIO = r"[0-9]{1,30}/[0-9]{1,30}"
_FRACTION = re.compile(rf"(-?)({_RATIO}|{_DECIMAL}(?:[eE][+-]?[0-9]{{1,2}})?)\s*(.*)", re.DOTALL)
_ONE_IN = re.compile(r"1\s*in\s*([0-9]{1,30})")

FRACTION_PATTERN = rf"^\s*({_RATIO}|{_DECIMAL}([eE][+-]?[0-9]{{1,2}})?)\s*%?\s*$"
SHARE_PATTERN = rf"^\s*({_RATIO}|{_DECIMAL}([eE][+-]?[0-9]{{1,2}})?)\s*%\s*$"
BDP_PATTERN = rf"^\s*({_RATIO}|{_DECIMAL})\s*bdp\s*$"
ONE_IN_PATTERN = r"^\s*1\s*in\s*[0-9]{1,30}\s*$"


def parse_rate(text: str) -> int:
    """Bits per second, SI prefixes; the layer it counts at is said where the rate is used."""
    return _parse(RATE, text)


def format_rate(rate_bps: int) -> str:
    return _scaled(rate_bps, RATE.units)


def parse_time(text: str) -> int:
    """Nanoseconds. Only 0 needs no unit."""
    return 0 if text.strip() == "0" else _parse(TIME, text)


def format_time(time_ns: int) -> str:
    """In ns, us, ms or s; 0 is "0 s"."""
    return _scaled(time_ns, {unit: TIME.units[unit] for unit in ("ns", "us", "ms", "s")}) if time_ns else "0 s"


def parse_size(text: str) -> int:
    """Bytes; KiB, MiB, GiB are powers of 1024 and kB, MB, GB powers of 1000."""
    return _parse(SIZE, text)


def format_size(size_bytes: int) -> str:
    """In the unit in which it is the smallest whole number, a binary one if two are equal."""
    units = ("GiB", "MiB", "KiB", "GB", "MB", "kB", "B")
    whole = [unit for unit in units if size_bytes and size_bytes % SIZE.units[unit] == 0] or ["B"]
    unit = min(whole, key=lambda unit: size_bytes // SIZE.units[unit])
    return f"{size_bytes // SIZE.units[unit]} {unit}"


def size_words(size_bytes: int) -> str:
    """For people: as `format_size`, or in decimals of a larger unit where that is shorter, such as "562.5 GB"."""
    larger = _scaled(size_bytes, {unit: SIZE.units[unit] for unit in ("B", "kB", "MB", "GB")})
    return min(larger, format_size(size_bytes), key=len)


def parse_bits(text: str) -> int:
    """Bits, SI prefixes."""
    return _parse(BITS, text)


def parse_packets(text: str) -> int:
    return _parse(PACKETS, text)


def format_packets(packets: int) -> str:
    return counted(packets, "packet")


def counted(count: int, noun: str) -> str:
    """Such as "1 trial", "12 trials" or "2 series"."""
    return f"{count} {noun}{'' if count == 1 or noun.endswith('s') else 's'}"


def parse_fraction(text: str) -> Fraction:
    """A share from 0 to 1, written "0.1 %", "0.001", "1e-3" or "1/1000"."""
    number, unit = _fraction(text, "0.1 %, 0.001 or 1e-3")
    if unit not in ("", "%"):
        raise ValueRefused(f"unknown unit {unit!r} in {text!r}", "a fraction such as 0.1 %, 0.001 or 1e-3")
    value = number / 100 if unit else number
    if value > 1:
        raise ValueRefused(f"{text!r} is more than the whole", "0 to 1, or 0 % to 100 %")
    return value


def format_fraction(value: Fraction) -> str:
    """In per cent, or as "1/3" where no decimal is exact."""
    percent = _decimal(value * 100)
    return f"{value.numerator}/{value.denominator}" if percent is None else f"{percent} %"


def percent(share: float) -> str:
    """With two decimals, such as "1.25%"; of what is too small for them, the first two digits: "0.0010%"."""
    small = 0 < abs(share) < 0.0001
    digits = 1 - math.floor(math.log10(abs(share) * 100)) if small else 2
    return f"{share * 100:.{digits}f}%"


def parse_bdp(text: str) -> Fraction:
    """Bandwidth-delay products: rate × round-trip time."""
    number, unit = _fraction(text, "1 bdp")
    if unit != "bdp":
        raise ValueRefused(f"{text!r} is not in bandwidth-delay products", "a number and bdp, such as '1 bdp'")
    return number


def format_bdp(value: Fraction) -> str:
    return f"{_decimal(value) or f'{value.numerator}/{value.denominator}'} bdp"


def parse_one_in(text: str) -> int:
    """The X of "1 in X", without judging its range."""
    match = _ONE_IN.fullmatch(text.strip())
    if match is None:
        raise ValueRefused(f"{text!r} is not of the form '1 in X'", "such as '1 in 10000'")
    return int(match[1])


def format_one_in(every: int) -> str:
    return f"1 in {every}"


def unit_in(text: str, quantity: Quantity) -> str | None:
    """The unit that a text is written in; None if it has none of the quantity's."""
    match = _PLAIN.fullmatch(text.strip())
    unit = match and quantity.aliases.get(match[4], match[4])
    return unit if unit in quantity.units else None


def _parse(quantity: Quantity, text: str) -> int:
    match = _PLAIN.fullmatch(text.strip())
    if match is None:
        raise ValueRefused(f"{text!r} is not a {quantity.noun}", quantity.allowed)
    sign, number, unit = match[1], match[2], match[4]
    if sign == "-":
        raise ValueRefused(f"{text!r} is negative", f"0 or more: {quantity.allowed}")
    if unit is None:
        raise ValueRefused(f"{text!r} has no unit", quantity.allowed)
    scale = quantity.units.get(quantity.aliases.get(unit, unit))
    if scale is None:
        raise _unknown_unit(quantity, text, unit)
    value = Fraction(number) * scale
    if value.denominator != 1:
        raise ValueRefused(f"{text!r} is not a whole number of {next(iter(quantity.units))}", quantity.allowed)
    return value.numerator


def _unknown_unit(quantity: Quantity, text: str, unit: str) -> ValueRefused:
    hint = quantity.hints.get(unit)
    if re.match(r"[eE][+-]?[0-9]", unit):
        return ValueRefused(f"unknown unit {unit!r} in {text!r}: numbers have no exponent", quantity.allowed)
    if hint is None:
        meant = nearest(unit, [*quantity.units])
        hint = None if meant is None else f"did you mean {meant!r}?"
    return ValueRefused(f"unknown unit {unit!r} in {text!r}", quantity.allowed + (f" ({hint})" if hint else ""))


def _fraction(text: str, example: str) -> tuple[Fraction, str]:
    match = _FRACTION.fullmatch(text.strip())
    if match is None or re.fullmatch(r".*/0+", match[2]):
        raise ValueRefused(f"{text!r} is not a number", f"such as {example}")
    if match[1]:
        raise ValueRefused(f"{text!r} is negative", f"0 or more, such as {example}")
    return Fraction(match[2]), match[4]


def _scaled(value: int, units: Mapping[str, int]) -> str:
    """The value in the largest unit of which it is at least one."""
    unit = max((unit for unit in units if units[unit] <= max(value, 1)), key=lambda unit: units[unit])
    return f"{_decimal(Fraction(value, units[unit]))} {unit}"


def _decimal(value: Fraction) -> str | None:
    """The exact decimal expansion, or None if there is none that can be read again."""
    places, rest = 0, value.denominator
    while rest % 10 == 0:
        rest, places = rest // 10, places + 1
    for prime in (2, 5):
        while rest % prime == 0:
            rest, places = rest // prime, places + 1
    if rest != 1 or places > 30:
        return None
    digits = str(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    whole, decimals = digits[: len(digits) - places], digits[len(digits) - places :].rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


_BYTE_RATE = "that is bytes: a rate is in bits, 1 byte/s is 8 bit/s"

RATE = Quantity(
    noun="rate",
    example="10 Gbit/s",
    units={"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9, "Tbit/s": 10**12},
    hints={
        **{f"{p}{b}": _BYTE_RATE for p in ("", "k", "K", "M", "G", "T") for b in ("B/s", "iB/s", "Bps")},
        **{f"{p}{b}": f"did you mean '{p}bit/s'?" for p in ("k", "M", "G", "T") for b in ("bps", "b/s", "bit", "")},
        **dict.fromkeys(("bps", "b/s", "bit"), "did you mean 'bit/s'?"),
    },
)
TIME = Quantity(
    noun="time",
    example="100 ms",
    units={
        "ns": 1,
        "us": 10**3,
        "ms": 10**6,
        "s": 10**9,
        "min": 60 * 10**9,
        "h": 3600 * 10**9,
    },
    aliases={"\u00b5s": "us", "\u03bcs": "us"},
    hints={"m": "did you mean 'min' or 'ms'?", "sec": "did you mean 's'?", "seconds": "did you mean 's'?"},
)
SIZE = Quantity(
    noun="size",
    example="64 KiB",
    units={
        "B": 1,
        "kB": 10**3,
        "KiB": 2**10,
        "MB": 10**6,
        "MiB": 2**20,
        "GB": 10**9,
        "GiB": 2**30,
    },
    aliases={"byte": "B", "bytes": "B"},
    hints={
        **dict.fromkeys(("K", "k", "KB"), "did you mean 'KiB' (1024 B) or 'kB' (1000 B)?"),
        **dict.fromkeys(("M", "mB"), "did you mean 'MiB' (1024 KiB) or 'MB' (1000 kB)?"),
        **dict.fromkeys(("G", "gB"), "did you mean 'GiB' (1024 MiB) or 'GB' (1000 MB)?"),
    },
)
BITS = Quantity(
    noun="number of bits",
    example="2.6 Tbit",
    units={"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12},
)
PACKETS = Quantity(
    noun="number of packets", example="1000 packets", units={"packets": 1}, aliases={"packet": "packets"}
)
