"""Rules about what the student found out and wrote into a file of answers. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

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
    """A number without a unit, or a share such as "1 %" or "1 in 100". Raises ValueError for what is none, or has an
    exponent that would take for ever, ZeroDivisionError for "1 in 0".
    """
    if text.strip().startswith("1") and " in " in text:
        return Fraction(1, units.parse_one_in(text))
    number, percent, rest = text.strip().partition("%")
    if rest or NUMBER.fullmatch(number.strip()) is None:
        raise ValueError(text)
    return Fraction(number.strip()) / (100 if percent else 1)


FOR_TEACHERS = "only the teacher's copy of the exercise has the answer, and marks it"
Reader: TypeAlias = Callable[[str], int | Fraction]
READERS: dict[Reader, str] = {
    plain: "a number such as 3, 0.8 or 4/5, or a share such as '1 %' or '1 in 100'",
    units.parse_time: units.TIME.allowed,
    units.parse_rate: units.RATE.allowed,
    units.parse_size: units.SIZE.allowed,
    units.parse_bits: units.BITS.allowed,
    units.parse_packets: units.PACKETS.allowed,
    units.parse_bdp: "bandwidth-delay products, such as '1 bdp'",
}
"""What a number may be; the first that reads the expected one reads the answer, too."""

SPELLINGS = {
    "KB": "kB",
    **{f"{unit}ec": unit for unit in ("s", "ms", "us")},
    **{
        f"{given}{per}": f"{prefix}bit/s"
        for prefix in ("", "k", "M", "G", "T")
        for given in (prefix, prefix.upper())
        for per in ("bps", "b/s")
    },
}
"""Other names of units that students write, who cannot see how files of the testbed write them."""
IN_A_UNIT = re.compile(r"(\s*[0-9]{1,30}(?:\.[0-9]{1,30})?\s*)(\S+)(\s*)")


@named
class Answer(Kind):
    """The key `key` of `file`, lines of `key: value`, `is` this text or number, with an error of up to `within`. In the
    copy for students, `is` is left out.
    """

    file: str = a_key("file", TEXT, default="answers.yaml")
    key: str = a_key("key", TEXT)
    is_: str | None = a_key("is", TEXT, default=None)
    within: Fraction = a_key("within", FRACTION, default=Fraction(0))

    def faults(self) -> Iterator[Fault]:
        if self.is_ is not None and self.within and read(self.is_, self.is_) is None:
            what = f"{self.is_!r} is no number, and cannot be off by anything"
            yield Fault(("is",), what, "; ".join(READERS.values()), named=True)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        yield from ()

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        return self.judged(found)

    def judged(self, found: Found) -> str | None:
        """As `judge`, of the submission's own files."""
        if self.file not in found:
            raise NotChecked(f"there is no {self.file}")
        try:
            document = parse(found[self.file], Position(self.file, 1))
        except UserError as error:
            raise NotChecked(str(error)) from None
        for fault in document.faults:
            if fault.path[:-1] == (self.key,):  # beside the value: the key appears twice
                raise NotChecked(str(document.problem(fault)))
        answers = mapping(document.data)
        value = answers.get(self.key)
        if not isinstance(value, str) or not value.strip() or value.strip() in ("?", "TODO"):
            raise NotChecked(f"{self.file} has no answer to {self.key}")
        if self.is_ is None:
            raise NotChecked(FOR_TEACHERS)
        wanted, given = read(self.is_, self.is_), read(self.is_, spelled(value))
        if wanted is None:
            is_right = value.strip().casefold() == self.is_.strip().casefold()
        elif given is None:
            return f"{self.key}: {value!r} is not written like {READERS[_reader(self.is_) or plain]}"
        else:
            is_right = abs(given - wanted) <= Fraction(self.within or 0) * abs(wanted)
        return None if is_right else f"{self.key}: {value} is not right"


def spelled(text: str) -> str:
    """An answer with the unit's name as the testbed writes it."""
    found = IN_A_UNIT.fullmatch(text)
    return text if found is None else f"{found[1]}{SPELLINGS.get(found[2], found[2])}{found[3]}"


def read(like: str, text: str) -> Fraction | None:
    """A number in a unit of what `like` is; None if it is none."""
    reader = _reader(like)
    return None if reader is None else _number(reader, text)


def _reader(like: str) -> Reader | None:
    """What reads such numbers; None if `like` is none."""
    return next((reader for reader in READERS if _number(reader, like) is not None), None)


def _number(reader: Reader, text: str) -> Fraction | None:
    try:
        return Fraction(reader(text))
    except (UserError, ValueError, ZeroDivisionError):
        return None


KINDS: dict[str, Any] = {"answer": Answer}
