"""Whether many values of one type are surely what a trial can have, looked at by columns: of numbers the least and the
most. Pure, no I/O.

It says yes or no, many times as fast as the walk through each value; after a no the walk says which it is, if any.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from ...evidence.interval import FOR_EVER_NS
from ...law import NONE, WORDS, Laws

Column: TypeAlias = Callable[[Sequence[Any]], bool]
Unmet: TypeAlias = Callable[[float, str, Laws], str | None]
"""What is wrong with a number at a place of this name. What is right must be one range, and FOR_EVER_NS."""


def column(hint: Any, name: str, unmet: Unmet, laws: Laws = NONE) -> Column:
    """Says whether all values of a sequence are of a type and meet the laws; False may mean that it cannot tell."""
    origin, parts = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        kind: Any = hint
        return _are(kind) if laws.get("asked") else _records(kind, unmet)
    if origin in (Union, types.UnionType):
        some = [part for part in parts if part is not type(None)]
        if len(some) > 1 and not {*some} <= {int, float}:
            return lambda values: False
        inner = column(some[0] if len(some) == 1 else float, name, unmet, laws)
        return lambda values: inner([each for each in values if each is not None])
    if origin is tuple:
        return _rows([column(part, name, unmet, laws) for part in parts if part is not Ellipsis], Ellipsis in parts)
    if origin in (Mapping, dict):
        return _mappings(parts[1], unmet, laws)
    if origin is Literal:
        return lambda values: all(each in parts for each in values)
    if hint in (int, float):
        return _numbers(hint, name, unmet, laws)
    return _are(hint) if hint in WORDS else lambda values: True


@cache
def _records(kind: Any, unmet: Unmet) -> Column:
    hints, are = get_type_hints(kind), _are(kind)
    parts = [
        (attrgetter(each.name), column(hints[each.name], each.name, unmet, each.metadata)) for each in fields(kind)
    ]
    return lambda values: are(values) and all(inner([*map(get, values)]) for get, inner in parts)


def _are(kind: type) -> Column:
    return lambda values: {*map(type, values)} <= {kind}


def _rows(inner: list[Column], is_series: bool) -> Column:
    def fine(values: Sequence[Any]) -> bool:
        if not {*map(type, values)} <= {tuple}:
            return False
        if is_series:
            return inner[0]([part for each in values for part in each])
        lengths = {*map(len, values)}
        return lengths <= {len(inner)} and all(map(_call, inner, zip(*values, strict=True)))

    return fine


def _call(inner: Column, values: Sequence[Any]) -> bool:
    return inner(values)


def _mappings(hint: Any, unmet: Unmet, laws: Laws) -> Column:
    by_key = cache(lambda key: column(hint, str(key).rpartition(".")[2].partition("[")[0], unmet, laws))

    def fine(values: Sequence[Any]) -> bool:
        if not all(isinstance(each, Mapping) for each in values):
            return False
        keys = set[Any]().union(*values)
        return all(by_key(key)([each[key] for each in values if key in each]) for key in keys)

    return fine


def _numbers(kind: type, name: str, unmet: Unmet, laws: Laws) -> Column:
    allowed = {int, float} if kind is float else {int}

    def fine(values: Sequence[Any]) -> bool:
        kinds = {*map(type, values)}
        if not kinds <= allowed or (float in kinds and not all(map(math.isfinite, values))):
            return False
        if not values:
            return True
        least, most = min(values), max(values)
        return most != FOR_EVER_NS and not (unmet(least, name, laws) or unmet(most, name, laws))

    return fine
