"""A controller that is a program, as a topology file writes it. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ....codec.fault import Fault
from ....codec.keyed import Kind
from ....codec.program import DIGEST_PATTERN
from ....codec.scalar import text_of
from ....error import ValueRefused, one_of
from ....model.openflow import VERSIONS, ControllerProgram

Pairs: TypeAlias = tuple[tuple[str, str], ...]


def read_versions(value: object) -> tuple[str, ...]:
    """In their order; one alone counts as a list."""
    allowed = f"one of {', '.join(VERSIONS)}, or a list of them"
    said = [text_of(each, allowed) for each in (value if isinstance(value, list | tuple) else [value])]
    for each in said:
        if each not in VERSIONS:
            raise ValueRefused(f"there is no OpenFlow {each}", one_of(tuple(VERSIONS), each))
    if not said or len(set(said)) < len(said):
        raise ValueRefused("these are no versions of OpenFlow", allowed)
    return tuple(each for each in VERSIONS if each in said)


_VERSION = {"anyOf": [{"type": "string", "pattern": r"^1\.[0-5]$"}, {"type": "number", "minimum": 1, "maximum": 1.5}]}
OPENFLOW_VERSIONS = Kind(read_versions, list, {"anyOf": [_VERSION, {"type": "array", "items": _VERSION}]})


def program_of(
    words: tuple[str, ...] | None, files: Mapping[str, str], python: str | None, environment: Pairs
) -> ControllerProgram | None:
    """None without words."""
    if words is None:
        return None
    return ControllerProgram(words, tuple(sorted(files.items())), python, tuple(sorted(environment)))


def program_faults(
    files: Mapping[str, str], python: str | None, app: str | None, text: str | None, start_ns: int | None
) -> Iterator[Fault]:
    """What is wrong between the keys of a program; paths begin at the node."""
    if app is not None:
        yield Fault(("command",), "app and command exclude each other", "one")
    if text is not None:
        yield Fault(("text",), "a program has no text", "no such line")
    if start_ns is not None:
        yield Fault(("start",), "only an app can start late", "no such line")
    if not all(re.fullmatch(DIGEST_PATTERN, digest) for digest in files.values()):
        yield Fault(("files",), "the files were not read", "files, relative to the topology file's folder")
    if python is not None and python not in files:
        yield Fault(("python",), f"there is no {python!r} among the files", "a virtual environment")
