"""The kinds of value that keys of many mappings have. Pure, no I/O.

Each reads, writes and describes itself. "none" is None: no such impairment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from .. import units
from ..error import ValueRefused, one_of
from . import scalar
from .fault import MAPPING, Fault, Faulty, faults_of
from .keyed import Keyed, Kind, Schema, read
from .scalar import lines_of, text_of
from .schema import resolved, shared

K = TypeVar("K", bound=Keyed)

LONGEST = (87_600 * 3600 * 10**9, "up to 87600 h")
"""Ten years, in ns, which no clock of a kernel exceeds; and in words."""


def or_none(write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "none" if value is None else write(value)


def matching(pattern: str, description: str, *examples: Any, none: bool = False) -> dict[str, Any]:
    """JSON Schema of text; `none` lets the word itself in."""
    full = f"^none$|{pattern}" if none else pattern
    return {"type": "string", "pattern": full, "description": description, "examples": list(examples)}


def number(low: int, high: int, description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high, "description": description}


def byte_count_schema(low: int, high: int, description: str) -> dict[str, Any]:
    return {"anyOf": [number(low, high, description), matching(units.SIZE.pattern, description, f"{low} B")]}


def whole(low: int, high: int, about: str = "") -> Kind:
    described = number(low, high, about)
    return Kind(scalar.whole(low, high), schema={key: value for key, value in described.items() if value != ""})


def byte_count(low: int, high: int, about: str, write: Callable[[int], Any] = int) -> Kind:
    """A small number of bytes, with the unit or without."""
    return Kind(scalar.byte_count(low, high), write, byte_count_schema(low, high, about))


def word(*allowed: str) -> Kind:
    """One of these words."""

    def read_word(value: Any) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise ValueRefused(f"{str(value)!r} is not known", one_of(allowed, str(value)))

    return Kind(read_word, schema={"enum": list(allowed), "type": "string"})


def pattern(regex: str, noun: str, allowed: str, about: str, *examples: Any) -> Kind:
    """Text that matches a regular expression in full."""
    return Kind(scalar.word(regex, noun, allowed), schema=matching(f"^{regex}$", about, *examples))


def record(keys: type[Keyed]) -> Kind:
    """A mapping with the keys of a class."""
    return Kind(partial(read, keys), lambda value: value.written(), {"$ref": keys}, full=lambda value: value.full())


def variant(tag: str, table: Mapping[str, type[Keyed]]) -> Kind:
    """A mapping in which the word under `tag` selects the class from a table, which may grow later."""

    def read_variant(value: Any) -> Any:
        return value if isinstance(value, Keyed) else read(table[scalar.tag_of(value, tag, table)], value)

    def schema() -> Schema:
        return {
            "oneOf": [{"$ref": each} for each in table.values()],
            "discriminator": {"propertyName": tag, "mapping": dict(table)},
        }

    return Kind(read_variant, lambda value: value.written(), schema)


def _said(value: Any) -> str:
    text = TEXT.read(value)
    if not text:
        raise ValueRefused("this is empty", "at least one entry")
    return str(text)


def none_or(keys: type[Keyed], what: str, allowed: str, about: str = "") -> Kind:
    """The word none, or a mapping with the keys of a class; the first thing that is wrong between them is told."""

    def read_one(value: Any) -> Any:
        if value == "none":
            return None
        if not isinstance(value, dict | keys):
            raise ValueRefused(what, allowed)
        return sound(keys, value)

    return Kind(
        read_one,
        lambda value: "none" if value is None else value.written(),
        {"anyOf": [{"const": "none"}, {"$ref": keys}]} | ({"description": about} if about else {}),
        none="none",
    )


def sound(keys: type[K], value: Any) -> K:
    """The value of a mapping. Raises Faulty for what is wrong with keys, or else for the first fault between them."""
    found = read(keys, value)
    for fault in found.faults():
        raise Faulty([fault])
    return found


NO_LIST = "this is not a list"


def listed(each: Kind, least: int = 0) -> Kind:
    """A list; its value is a tuple."""

    def read_list(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise ValueRefused(NO_LIST, "a list, such as [a, b]")
        found, faults = [], []
        for index, data in enumerate(value):
            try:
                found.append(each.read(data))
            except (ValueRefused, Faulty) as error:
                faults += faults_of(error, index)
        if faults:
            raise Faulty(faults)
        if len(found) < least:
            raise ValueRefused("this is empty", "at least one entry")
        return tuple(found)

    return Kind(
        read_list,
        lambda value: [each.write(one) for one in value],
        lambda: {"type": "array", "items": each.described()} | ({"minItems": least} if least else {}),
    )


def mapped(name: Kind, each: Kind, least: int = 0, most: int | None = None) -> Kind:
    """A mapping from names to values; its value is a tuple of pairs, in the order of the file."""

    def read_mapping(value: Any) -> tuple[tuple[Any, Any], ...]:
        if isinstance(value, tuple):
            return value
        if not isinstance(value, dict):
            raise ValueRefused("this is not a mapping", MAPPING)
        found, faults = [], list[Fault]()
        for word, data in value.items():
            pair = []
            for kind, one in ((name, word), (each, data)):
                try:
                    pair.append(kind.read(one))
                except (ValueRefused, Faulty) as error:
                    faults += faults_of(error, word)
            found.append(tuple(pair))
        if faults:
            raise Faulty(faults)
        if len(found) < least:
            raise ValueRefused("this is empty", "at least one entry")
        if most is not None and len(found) > most:
            raise ValueRefused(f"these are {len(found)}", f"up to {most}")
        return tuple(found)

    def schema() -> Schema:
        own, inner = resolved(name.described()), each.described()
        rest = {key: value for key, value in own.items() if key not in ("pattern", "type")}
        values = (
            {"patternProperties": {own["pattern"]: inner}}
            if "pattern" in own
            else {"additionalProperties": inner or True}
        )
        bounds = ({"minProperties": least} if least else {}) | ({} if most is None else {"maxProperties": most})
        return {"type": "object", **values, **({"propertyNames": rest} if rest else {}), **bounds}

    def write_full(value: Any) -> dict[str, Any]:
        return {name.write(word): (each.full or each.write)(one) for word, one in value}

    return Kind(
        read_mapping, lambda value: {name.write(word): each.write(one) for word, one in value}, schema, full=write_full
    )


def table(name: Kind, each: Kind, least: int = 0, most: int | None = None) -> Kind:
    """The same; its value is a dict."""
    pairs = mapped(name, each, least, most)
    return Kind(lambda value: dict(pairs.read(value)), lambda value: pairs.write(value.items()), pairs.schema)


def _sysctl(value: Any) -> Any:
    return _SYSCTLS.read(value if isinstance(value, tuple) else scalar.sysctls(value))


_TIME = {"anyOf": [matching(units.TIME.pattern, "A time.", "100 ms", "2.5 us", "30 s"), {"const": 0}]}
_ADDRESS = matching(r"^[0-9A-Fa-f:.]+/[0-9]{1,3}$", "Address and prefix length.", "10.0.0.1/24")
ADDRESSES_SCHEMA: dict[str, Any] = {"anyOf": [_ADDRESS, {"type": "array", "items": _ADDRESS}]}

ANY = Kind(lambda value: value)
NAME = Kind(scalar.name, schema=shared("Name", matching(f"^{scalar.NAME_PATTERN}$", f"A name: {scalar.NAME_ALLOWED}.")))
END_NAME = Kind(scalar.end_name, schema=matching(f"^{scalar.END_PATTERN}$", f"An end: {scalar.END_ALLOWED}."))
TEXT = Kind(lambda value: scalar.text_of(value, "text"), schema={"type": "string"})
WORD = Kind(str)
"""A key that may be any text."""
SAID = Kind(_said, schema={"type": "string", "minLength": 1})
"""Text that is there."""
LINES = Kind(scalar.lines_of, schema={"type": "string"})
REAL_NIC = Kind(scalar.real_nic, schema=matching(f"^{scalar.NIC_PATTERN}$", f"A NIC: {scalar.NIC_ALLOWED}.", "eth1"))
ENDS = Kind(
    scalar.ends,
    list,
    {
        "type": "array",
        "items": {"type": "string", "pattern": f"^{scalar.NAME_PATTERN}$"},
        "minItems": 2,
        "maxItems": 2,
        "description": "Two nodes; forward is from the first.",
    },
)
FLAG = Kind(scalar.flag, schema={"type": "boolean"})
RATE = Kind(
    scalar.quantity(units.parse_rate, units.RATE.allowed, low=1, none=True),
    or_none(units.format_rate),
    shared("Rate", matching(units.RATE.pattern, "A rate in bits per second, or none.", "10 Gbit/s", none=True)),
    none="none",
)
TIME = Kind(
    scalar.quantity(units.parse_time, units.TIME.allowed, high=LONGEST), units.format_time, shared("Time", _TIME)
)
SPAN = Kind(
    scalar.quantity(units.parse_time, units.TIME.allowed, low=1, high=LONGEST),
    units.format_time,
    shared("Span", matching(units.TIME.pattern, "A time, more than 0.", "10 s", "500 ms")),
)
SIZE = Kind(
    scalar.quantity(units.parse_size, units.SIZE.allowed, low=1),
    units.format_size,
    shared("Size", matching(units.SIZE.pattern, "A size, more than 0.", "64 KiB", "1 MB")),
)
FRACTION = Kind(
    lambda value: units.parse_fraction(scalar.text_of(value, "a fraction such as 0.1 % or 0.001")),
    units.format_fraction,
    shared(
        "Share",
        {
            "anyOf": [
                matching(units.FRACTION_PATTERN, "A share of the whole.", "0.1 %", "0.001"),
                {"type": "number", "minimum": 0, "maximum": 1},
            ]
        },
    ),
)
ADDRESSES = Kind(scalar.addresses, list, ADDRESSES_SCHEMA)
PREFIX = Kind(
    scalar.prefix,
    schema=matching(r"^default$|^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$", scalar.PREFIX_ALLOWED, "10.0.2.0/24", "default"),
)
IP = Kind(scalar.ip, schema=matching(r"^[0-9A-Fa-f:.]+$", scalar.IP_ALLOWED, "10.0.0.1"))
MAC = Kind(
    scalar.mac, schema=matching(r"^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$", scalar.MAC_ALLOWED, "00:00:00:00:00:01")
)
ECN = Kind(scalar.ecn, schema={"anyOf": [{"enum": ["off", "on", "accurate"]}, {"type": "boolean"}]})
IP_VERSIONS = Kind(
    scalar.word("4|6|both", "a choice of IP versions", "4, 6, both"),
    schema={"anyOf": [{"enum": ["4", "6", "both"]}, {"enum": [4, 6]}]},
)
_SYSCTLS = mapped(Kind(scalar.sysctl_name), Kind(scalar.sysctl_value))
SYSCTLS = Kind(
    _sysctl,
    dict,
    {
        "type": "object",
        "propertyNames": {"pattern": f"^{scalar.SYSCTL_PATTERN}$"},
        "additionalProperties": {"type": ["string", "number"]},
        "description": "Kernel settings by name, such as net.ipv4.tcp_ecn.",
    },
)


WORDS_MAX = 200
FILE_PATTERN = r"[A-Za-z0-9_+@][A-Za-z0-9_.+@-]{0,99}"
DIGEST_PATTERN = r"[0-9a-f]{64}"
_RUN_ALLOWED = "the words of a program, such as [iperf3, -s], or one text without quotes in it"
_FILES_ALLOWED = "files beside this one, such as [quic-server, cert.pem]"


def _run(value: object) -> tuple[str, ...]:
    words: Any = value.split() if isinstance(value, str) else value
    if isinstance(value, str) and re.search("[\"'\\\\|;&<>$`]", value):
        raise ValueRefused("no shell reads this", _RUN_ALLOWED)
    if not isinstance(words, list | tuple) or not words:
        raise ValueRefused("this is no program", _RUN_ALLOWED)
    if len(words) > WORDS_MAX:
        raise ValueRefused(f"this has {len(words)} words", f"up to {WORDS_MAX}")
    found = []
    for index, word in enumerate(words):
        try:
            found.append(lines_of(word))
        except ValueRefused as refused:
            raise ValueRefused(refused.what, refused.allowed, (index,)) from None
    text_of(found[0], _RUN_ALLOWED)
    if not found[0]:
        raise ValueRefused("the program has no name", _RUN_ALLOWED)
    return tuple(found)


def _files(value: object) -> dict[str, str]:
    """Names to their SHA-256; that of a file which was not read yet is empty."""
    items = {each: "" for each in value} if isinstance(value, list) else value
    if not isinstance(items, dict):
        raise ValueRefused("this is not a list", _FILES_ALLOWED)
    for name, digest in items.items():
        if not re.fullmatch(FILE_PATTERN, str(name)):
            raise ValueRefused(f"{name!r} is no name of a file", "letters, digits and _.+@-", (name,))
        if isinstance(value, dict) and not re.fullmatch(DIGEST_PATTERN, str(digest)):
            raise ValueRefused(f"{digest!r} is no SHA-256", "64 of 0-9 and a-f", (name,))
    return {str(name): str(digest) for name, digest in items.items()}


WORDS = Kind(
    _run,
    list,
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 1}]},
)
FILES = Kind(_files, schema={"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "object"}]})
