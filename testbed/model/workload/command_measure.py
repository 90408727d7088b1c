"""What is measured of programs, as files write it: numbers in their output, with units. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from ...codec.fault import Fault
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import FLAG, NAME, SIZE, TEXT, word
from ...codec.scalar import text_of
from ...error import ValueRefused
from .command import Measure

JSON_KEY = r"\$((\.[A-Za-z0-9_-]+)|(\[[0-9]{1,6}\]))*"
JSON_KEY_ALLOWED = "$ with .name and [number], such as $.end.streams[0].rtt"

UNITS: dict[str, tuple[str, float, bool]] = {
    "s": ("s", 1.0, False),
    "ms": ("s", 1e-3, False),
    "us": ("s", 1e-6, False),
    "ns": ("s", 1e-9, False),
    "bit/s": ("bit/s", 1.0, True),
    "kbit/s": ("bit/s", 1e3, True),
    "Mbit/s": ("bit/s", 1e6, True),
    "Gbit/s": ("bit/s", 1e9, True),
    "B/s": ("bit/s", 8.0, True),
    "kB/s": ("bit/s", 8e3, True),
    "MB/s": ("bit/s", 8e6, True),
    "KiB/s": ("bit/s", 8.0 * 2**10, True),
    "MiB/s": ("bit/s", 8.0 * 2**20, True),
    "B": ("B", 1.0, True),
    "kB": ("B", 1e3, True),
    "MB": ("B", 1e6, True),
    "KiB": ("B", 2.0**10, True),
    "MiB": ("B", 2.0**20, True),
    "%": ("ratio", 1e-2, False),
}
"""What people write: the base unit, how much of it that is, and whether more of it is better, as a rule."""


def unit_of(text: str) -> tuple[str, float, bool]:
    """The same for any word; one that is not known is its own base unit, of which less is better."""
    return UNITS.get(text, (text, 1.0, False))


def _pattern(value: object) -> str:
    """A regular expression with one group."""
    allowed = "a regular expression whose only group is the number, such as 'handshake ([0-9.]+) ms'"
    text = text_of(value, allowed)
    try:
        found = re.compile(text)
    except re.error as error:
        raise ValueRefused(f"{text!r} is no regular expression: {error}", allowed) from None
    if found.groups != 1:
        raise ValueRefused(f"{text!r} has {found.groups} groups", allowed)
    return text


def _key(value: object) -> str:
    text = text_of(value, JSON_KEY_ALLOWED)
    if not re.fullmatch(JSON_KEY, text):
        raise ValueRefused(f"{text!r} is no place in JSON", JSON_KEY_ALLOWED)
    return text


PATTERN = Kind(_pattern, schema={"type": "string"})
PLACE = Kind(_key, schema={"type": "string"})


@keyed
class MeasuredKeys(Keyed):
    """A number that every run yields."""

    bytes: int | None = key("bytes", SIZE, "What a run transfers; over its time, that is a rate.", default=None)
    output: str | None = key(
        "output", PATTERN, "A regular expression with one group; its last match in the output.", default=None
    )
    file: str | None = key("json", TEXT, "A JSON file in the program's folder, or stdout.", default=None)
    place: str | None = key("key", PLACE, "The place in the JSON, such as $.rtt or $.end.streams[0].rtt.", default=None)
    of: str | None = key("of", NAME, "The program that says it; left out, every client.", default=None)
    unit: str = key("unit", TEXT, "The unit of the number, such as ms or Mbit/s.", default="")
    better: Literal["more", "less"] | None = key("better", word("more", "less"), default=None)
    zero: bool = key("zero", FLAG, "Whether 0 is a value at all.", default=False)

    def faults(self) -> Iterator[Fault]:
        said = [name for name in ("bytes", "output", "file") if getattr(self, name) is not None]
        if len(said) != 1:
            yield Fault((), "where the number comes from is not clear", "one of bytes, output and json", named=True)
        if (self.place is None) != (self.file is None):
            yield Fault(("key",), "json and key go together", "both, or none", named=True)
        if self.bytes is not None and self.unit:
            yield Fault(("unit",), "bytes over time are bit/s", "no such line", named=True)
        if self.file is not None and (self.file.startswith("/") or ".." in self.file):
            yield Fault(("json",), "this is outside the program's folder", "a name such as out/stats.json", named=True)

    def measure(self, name: str) -> Measure:
        unit = "bit/s" if self.bytes is not None else self.unit
        base_unit, scale, is_more_better = unit_of(unit)
        better = is_more_better if self.better is None else self.better == "more"
        return Measure(
            name,
            self.bytes,
            self.output,
            self.file,
            self.place or "$",
            self.of,
            unit,
            base_unit,
            scale,
            better,
            self.zero,
        )


def measure_keys(measure: Measure) -> MeasuredKeys:
    """The way back."""
    return MeasuredKeys(
        bytes=measure.run_bytes,
        output=measure.output,
        file=measure.json,
        place=measure.key if measure.json is not None else None,
        of=measure.of,
        unit="" if measure.run_bytes is not None else measure.unit,
        better="more" if measure.is_more_better else "less",
        zero=measure.may_be_zero,
    )
