"""Rules about what the student found out and wrote into a file of answers. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ... import units
from ...codec.fault import Fault
from ...codec.keyed import key as a_key
from ...codec.keyed import named
from ...codec.kind import FRACTION, TEXT
from ...error import UserError
from ...plan.step import Step
from ...spec.syntax.document import Position, mapping, parse
from .common import Found, Kind, Net, NotChecked

NUMBER = re.compile(r"[+-]?([0-9]{1,30}/[0-9]{1,30}|([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?)")


def plain(text: str) -> Fraction:
    """A number without a unit. Raises ValueError for what is none, or has an exponent that would take for ever."""
    if NUMBER.fullmatch(text.strip()) is None:
        raise ValueError(text)
    return Fraction(text.strip())


READERS = (units.parse_time, units.parse_rate, units.parse_size, units.parse_bits, plain)
"""What a number may be; the first that reads the expected one reads the answer, too."""


@named
class Answer(Kind):
    """The key `key` of `file`, lines of `key: value`, `is` this text or number, with an error of up to `within`."""

    file: str = a_key("file", TEXT, default="answers.yaml")
    key: str = a_key("key", TEXT)
    is_: str = a_key("is", TEXT)
    within: Fraction = a_key("within", FRACTION, default=Fraction(0))

    def faults(self) -> Iterator[Fault]:
        if self.within and read(self.is_, self.is_) is None:
            yield Fault(("is",), f"{self.is_!r} is no number, and cannot be off by anything", "a number", named=True)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        yield from ()

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        return self.judged(found)

    def judged(self, found: Found) -> str | None:
        """As `judge`, of the submission's own files."""
        if self.file not in found:
            raise NotChecked(f"there is no {self.file}")
        try:
            answers = mapping(parse(found[self.file], Position(self.file, 1)).data)
        except UserError as error:
            raise NotChecked(str(error)) from None
        value = answers.get(self.key)
        if not isinstance(value, str) or not value.strip() or value.strip() in ("?", "TODO"):
            raise NotChecked(f"{self.file} has no answer to {self.key}")
        wanted, given = read(self.is_, self.is_), read(self.is_, value)
        if wanted is None:
            is_right = value.strip().casefold() == self.is_.strip().casefold()
        elif given is None:
            return f"{self.key}: {value!r} is not written like {'a number' if self.is_.isdigit() else self._example()}"
        else:
            is_right = abs(given - wanted) <= Fraction(self.within or 0) * abs(wanted)
        return None if is_right else f"{self.key}: {value} is not right"

    def _example(self) -> str:
        unit = self.is_.strip().lstrip("0123456789. ")
        return f"a number with a unit, such as 1 {unit}" if unit else "a number"


def read(like: str, text: str) -> Fraction | None:
    """A number in the unit that `like` has; None if it is none."""
    for reader in READERS:
        try:
            reader(like)
        except (UserError, ValueError, ZeroDivisionError):
            continue
        try:
            return Fraction(reader(text))
        except (UserError, ValueError, ZeroDivisionError):
            return None
    return None


KINDS: dict[str, Any] = {"answer": Answer}
