"""Laws at fields: what the values of a field obey, beside their type. Pure, no I/O.

A field has its law in its metadata. So whoever adds a counter says there that it only rises, and every check that looks
at two of its values, one after the other, knows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Law:
    """`rises`: from one look to the next it gets no less; `same`: it stays as it is; `never_zero`: where told, it is
    not 0; `is_raw`: a number as the kernel has it, with 64 bits and a sign.
    """

    rises: bool = False
    same: bool = False
    never_zero: bool = False
    is_raw: bool = False


NONE = Law()

RISES = MappingProxyType({"law": Law(rises=True)})
SAME = MappingProxyType({"law": Law(same=True)})
NEVER_ZERO = MappingProxyType({"law": Law(never_zero=True)})
RAW = MappingProxyType({"law": Law(is_raw=True)})
"""The metadata of fields."""


@cache
def laws(kind: Any) -> dict[str, Law]:
    """The law of each field that has one, in their order."""
    return {each.name: each.metadata["law"] for each in fields(kind) if "law" in each.metadata}


def broken_between(one: Any, later: Any) -> Iterator[str]:
    """What differs from one look at something to a later one, and cannot."""
    kind: Any = type(one)
    for name, each in laws(kind).items():
        before, after = getattr(one, name), getattr(later, name)
        if (each.rises and after < before) or (each.same and after != before):
            yield f"{name} went from {before} to {after}"


def zeros(value: Any) -> Iterator[str]:
    """The fields that are 0 and cannot be."""
    kind: Any = type(value)
    return (name for name, each in laws(kind).items() if each.never_zero and getattr(value, name) == 0)
