"""Frozen dataclasses whose methods are made when they are first needed. Pure, no I/O.

A command imports some 400 of them, and makes instances of a quarter. `dataclasses` compiles six functions for each,
which took half of the time of `testbed check`. Here `dataclasses` sees to the fields alone; `__init__` is compiled when
the first instance is made, and the other methods need no source text. What a class does is the same, which
`tests/test_frozen.py` shows, also where a class inherits from one that `dataclasses` made, or the other way round.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, kw_only=False, **others):
        """As `dataclasses.dataclass`, which it is unless the class is frozen."""
        if not frozen or others:
            return dataclasses.dataclass(cls, frozen=frozen, eq=eq, kw_only=kw_only, **others)
        made = _maker(eq=eq, kw_only=kw_only)
        return made if cls is None else made(cls)


def _maker(*, eq: bool, kw_only: bool) -> Callable[[type], Any]:
    def make(cls: type) -> Any:
        own = set(vars(cls))
        inherits = any(dataclasses.is_dataclass(base) for base in cls.__bases__)
        made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=inherits, kw_only=kw_only)(cls)
        about = made.__dataclass_params__
        about.init, about.repr, about.eq, about.frozen = True, True, eq, True
        methods = {"__init__": _init, "__repr__": _repr} | ({"__eq__": _eq, "__hash__": _hash} if eq else {})
        methods |= {} if inherits else {"__setattr__": _setattr, "__delattr__": _delattr}
        for name, method in methods.items():
            if name not in own or (name == "__hash__" and vars(cls)[name] is None):
                setattr(made, name, method(made))
        return made

    return make


def _init(cls: type) -> Callable[..., None]:
    """Makes way for the compiled one."""

    def __init__(self: Any, *args: Any, **named: Any) -> None:
        compiled = _compiled(cls)
        cls.__init__ = compiled  # type: ignore[misc]
        compiled(self, *args, **named)

    return __init__


def _compiled(cls: Any) -> Callable[..., None]:
    """Its text is that of `dataclasses`, which would compile two more functions."""
    known: dict[str, Any] = {"MISSING": MISSING, "set_field": object.__setattr__}
    places: tuple[list[str], list[str]] = ([], [])
    body = []
    for each in dataclasses.fields(cls):
        value = each.name
        known[f"default_{value}"], known[f"factory_{value}"] = each.default, each.default_factory
        if each.init:
            stands_for = "MISSING" if each.default is MISSING else f"default_{value}"
            is_required = each.default is MISSING and each.default_factory is MISSING
            places[bool(each.kw_only)].append(value if is_required else f"{value}={stands_for}")
        if each.default_factory is not MISSING:
            made = f"factory_{value}()"
            value = f"{made} if {value} is MISSING else {value}" if each.init else made
        if each.init or each.default_factory is not MISSING:
            body.append(f"set_field(self, {each.name!r}, {value})")
    body += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    taken = ", ".join(["self", *places[0], *(["*", *places[1]] if places[1] else [])])
    exec(f"def __init__({taken}):\n " + "\n ".join(body or ["pass"]), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _repr(cls: Any) -> Callable[[Any], str]:
    names = [each.name for each in dataclasses.fields(cls) if each.repr]

    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _eq(cls: Any) -> Callable[[Any, object], bool]:
    values = _values([each.name for each in dataclasses.fields(cls) if each.compare])

    def __eq__(self: Any, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return __eq__


def _hash(cls: Any) -> Callable[[Any], int]:
    counts = ((each.name, each.compare if each.hash is None else each.hash) for each in dataclasses.fields(cls))
    values = _values([name for name, is_counted in counts if is_counted])

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _setattr(cls: Any) -> Callable[[Any, str, Any], None]:
    names = frozenset(each.name for each in dataclasses.fields(cls))

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    return __setattr__


def _delattr(cls: Any) -> Callable[[Any, str], None]:
    names = frozenset(each.name for each in dataclasses.fields(cls))

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __delattr__
