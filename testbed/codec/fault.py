"""What is wrong in data, and where in it. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ..error import UserError, ValueRefused, with_allowed
from .frozen import dataclass

Path: TypeAlias = tuple[str | int, ...]

MAPPING = "a mapping (lines of 'key: value')"


@dataclass(frozen=True)
class Fault:
    """A problem whose position is still a path in the data; if `named`, the message begins with the key."""

    path: Path
    what: str
    allowed: str | None = None
    named: bool = False

    def under(self, *path: str | int) -> Fault:
        """The same seen from a document that has the data at `path`."""
        return Fault((*path, *self.path), self.what, self.allowed, self.named)


def refuse(fault: Fault | None) -> None:
    """Raises UserError for a fault of what no file told, which has no line."""
    if fault is not None:
        raise UserError(with_allowed(fault.what, fault.allowed))


class Faulty(ValueError):
    """All that is wrong with one value; the paths begin there."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(each.what for each in self.faults))


def faults_of(error: ValueRefused | Faulty, *path: str | int) -> list[Fault]:
    """What an error says is wrong with the value at `path`."""
    if isinstance(error, Faulty):
        return [each.under(*path) for each in error.faults]
    return [Fault((*path, *error.at), error.what, error.allowed, named=True)]
