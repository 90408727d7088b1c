"""Values that say their keys: a frozen dataclass whose fields are keys of a mapping in a file. Pure, no I/O.

    @keyed
    class Capture(Keyed):
        at: str = key("at", NAME, "The node or link to capture at.")
        snaplen_bytes: int = key("snaplen", SNAPLEN, default=96)

A key has its name, its kind, a help text and, unless it is required, a default. From that `check` reads a mapping or
tells all that is wrong with it, `Keyed.written` writes it back in canonical text, and `codec.schema` describes it for
editors. What must hold between keys is `Keyed.faults`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, field, fields, replace
from functools import cache
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from ..error import ValueRefused, one_of
from .fault import MAPPING, Fault, Faulty, faults_of
from .frozen import dataclass

K = TypeVar("K", bound="Keyed")
C = TypeVar("C", bound=type)
Schema = Mapping[str, Any]


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of value.

    `read` makes the value of data, which is text, lists and mappings, and raises ValueRefused or Faulty. `write` makes
    canonical data of it. `schema` is the JSON Schema, in which "$ref" may be a class of keys. `none` is the word that
    stands for None in a file; None if there is no such word. `full` writes what is absent inside a value, too, as None;
    without it `write` does.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any], Any] = _same
    schema: Schema | Callable[[], Schema] = field(default_factory=dict)
    none: str | None = None
    full: Callable[[Any], Any] | None = None

    def described(self) -> Schema:
        return self.schema() if callable(self.schema) else self.schema

    def checked(self, data: Any) -> tuple[Any, list[Fault]]:
        """The value; or None, and all that is wrong with the data."""
        try:
            return self.read(data), []
        except (ValueRefused, Faulty) as error:
            return None, faults_of(error)


@dataclass(frozen=True)
class Key:
    """A key of a mapping: its name there, and the field that it fills, which may be `inside` a value of keys that its
    owner has in that field. `default` is MISSING for a key that is required; `shown` is what editors are told of it.
    """

    name: str
    kind: Kind
    about: str
    default: Any
    shown: Any
    field: str = ""
    inside: str = ""

    @property
    def is_required(self) -> bool:
        return self.default is MISSING

    @property
    def may_be_none(self) -> bool:
        """Whether JSON may say null for it, as for what is left out."""
        return self.default is None and self.kind.none is None

    def read(self, data: Any) -> Any:
        """Raises ValueRefused or Faulty."""
        return None if data is None and self.may_be_none else self.kind.read(data)

    def checked(self, data: Any) -> tuple[Any, list[Fault]]:
        """The value; or None, and all that is wrong with the data."""
        return (None, []) if data is None and self.may_be_none else self.kind.checked(data)

    def written(self, value: Any) -> Any:
        """Canonical data; the word for None, or None if there is no word."""
        return self.kind.none if value is None else self.kind.write(value)

    def full(self, value: Any) -> Any:
        """The same with what is absent inside it as None, as parameters of trials tell it."""
        return self.kind.none if value is None else (self.kind.full or self.kind.write)(value)

    def of(self, value: Any) -> Any:
        """What a value has for it."""
        return getattr(getattr(value, self.inside) if self.inside else value, self.field)


def key(
    name: str,
    kind: Kind,
    about: str = "",
    *,
    default: Any = MISSING,
    shown: Any = MISSING,
    kw_only: Any = MISSING,
) -> Any:
    """A field that files call `name`. None is written as no line, unless no line means something else. `about` takes
    the place of what the kind says of itself, `shown` that of the default in editors.
    """
    said = {"key": Key(name, kind, about, default, default if shown is MISSING else shown)}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=said, kw_only=kw_only)
    return field(default=default, metadata=said, kw_only=kw_only)


def inline(keys: type[Keyed]) -> Any:
    """A field with a value whose keys stand among those of its owner."""
    return field(default_factory=keys, metadata={"inline": keys})


@dataclass_transform(frozen_default=True, field_specifiers=(key, inline, field))
def keyed(cls: C) -> C:
    """Makes a class of keys a frozen dataclass."""
    return dataclass(frozen=True)(cls)  # type: ignore[return-value]


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(key, inline, field))
def named(cls: C) -> C:
    """The same with arguments by name alone, so that keys may stand in any order."""
    return dataclass(frozen=True, kw_only=True)(cls)  # type: ignore[return-value]


class Keyed:
    """A value whose fields are keys of a mapping.

    `TAG` is a key that says which class a mapping is of, and the class attribute that has the word; it stands behind
    the keys of the class that states it. `DEFINITION` is the name of its JSON Schema, where that of the class without
    its ending would be another's. `ORDER` has all keys except the tag, where it is not that of the fields.
    """

    TAG: ClassVar[str] = ""
    DEFINITION: ClassVar[str] = ""
    ORDER: ClassVar[tuple[str, ...]] = ()
    refused_keys: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Keys that somebody may expect: why there is none, and what is allowed."""

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """The keys as one writes them in a file."""
        return order(cls)

    def written(self) -> dict[str, Any]:
        """The mapping in canonical text, defaults included and what is absent left out."""
        known, found = keys(type(self)), {}
        for name in order(type(self)):
            each = known.get(name)
            value = getattr(self, name) if each is None else each.of(self)
            if each is None:
                found[name] = value
            elif value is not None or (each.default is not None and each.kind.none is not None):
                found[name] = each.written(value)
        return found

    def full(self) -> dict[str, Any]:
        """The same with what is absent as None."""
        return {name: each.full(each.of(self)) for name, each in keys(type(self)).items()}

    def changed(self, values: Mapping[str, object]) -> Self:
        """A copy with other values, by the keys as one writes them in a file."""
        known = keys(type(self))
        update: dict[str, Any] = {}
        for name, value in values.items():
            each = known[name]
            if each.inside:
                update[each.inside] = replace(
                    update.get(each.inside, getattr(self, each.inside)), **{each.field: value}
                )
            else:
                update[each.field] = value
        return replace(self, **update)  # type: ignore[type-var]

    def faults(self) -> Iterator[Fault]:
        """What is wrong between its keys."""
        yield from ()


def _keys(cls: Any) -> dict[str, Key]:
    found: dict[str, Key] = {}
    for each in fields(cls):
        if "key" in each.metadata:
            own: Key = each.metadata["key"]
            found[own.name] = replace(own, field=each.name)
        elif "inline" in each.metadata:
            inner = keys(each.metadata["inline"])
            found |= {name: replace(own, inside=each.name) for name, own in inner.items()}
    return {name: found[name] for name in cls.ORDER or found}


def _order(cls: Any) -> tuple[str, ...]:
    names = tuple(keys(cls))
    if not cls.TAG:
        return names
    owner = next(each for each in reversed(cls.__mro__) if "TAG" in each.__dict__ and each is not Keyed)
    before = len(keys(owner)) if hasattr(owner, "__dataclass_fields__") else 0
    return (*names[:before], cls.TAG, *names[before:])


keys: Callable[[Any], dict[str, Key]] = cache(_keys)
"""The keys of a class with their kinds, in the order of the file; without the tag."""
order: Callable[[Any], tuple[str, ...]] = cache(_order)
"""The names of all keys of a class, with the tag."""


def read(cls: type[K], data: Any) -> K:
    """Raises Faulty with all that is wrong with the mapping; a value that was read before passes."""
    if isinstance(data, cls):
        return data
    if not isinstance(data, dict):
        raise Faulty([Fault((), "this is not a mapping", MAPPING, named=True)])
    known, found, faults = keys(cls), dict[str, dict[str, Any]](), list[Fault]()
    for name, each in known.items():
        if name not in data:
            if each.is_required:
                faults.append(Fault((), f"the key {name!r} is missing", named=True))
            continue
        try:
            found.setdefault(each.inside, {})[each.field] = each.read(data[name])
        except (ValueRefused, Faulty) as error:
            faults += faults_of(error, name)
    names = cls.known_keys()
    faults += [_unknown(cls, name, names) for name in data if name not in names]
    if faults:
        raise Faulty(faults)
    own = found.pop("", {})
    inner = {each.name: each.metadata["inline"] for each in fields(cls) if each.name in found}  # type: ignore[arg-type]
    return cls(**own, **{name: made(**found[name]) for name, made in inner.items()})


def _unknown(cls: type[Keyed], name: str, names: tuple[str, ...]) -> Fault:
    if name in cls.refused_keys:
        return Fault((name,), *cls.refused_keys[name])
    return Fault((name,), f"unknown key {name!r}", one_of(names, name))


def check(cls: type[K], data: Any) -> tuple[K | None, list[Fault]]:
    """The value; or None, and every fault that stands in the way."""
    try:
        return read(cls, data), []
    except Faulty as error:
        return None, list(error.faults)
