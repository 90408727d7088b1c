"""A YAML document as plain data, with the place of every value in it. Pure, no I/O.

YAML 1.1 guesses types ("no" is false, 1:30 is 90, 010 is 8). Here every scalar is the text as written, and
what its position means decides; text that another YAML reader would take for something else is a problem.
Tags, anchors and merge keys are not part of the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import yaml

from ...codec.fault import MAPPING, Fault, Path
from ...error import Problem, SpecError
from .node_tree import Broken, tree

Data: TypeAlias = "str | list[Data] | dict[str, Data] | None"


@dataclass(frozen=True)
class Position:
    """A line of a file, or (line None) an option or a whole file. `is_option`: a user has typed it."""

    file: str
    line: int | None = None
    is_option: bool = False


@dataclass(frozen=True)
class Document:
    """Data, where each part of it was written, and what is wrong with it as YAML."""

    data: Any
    positions: Mapping[Path, Position]
    faults: tuple[Fault, ...] = ()

    def written(self, path: Path) -> Path:
        """The path, or as much of it as the document has; a step that it does not have is passed over."""
        found: Path = ()
        for step in path:
            if (*found, step) in self.positions:
                found = (*found, step)
        return found

    def problem(self, fault: Fault) -> Problem:
        written = self.written(fault.path)
        position = self.positions[written]
        keys = [step for step in written if isinstance(step, str)]
        what = f"{keys[-1]}: {fault.what}" if fault.named and keys else fault.what
        return Problem(position.file, position.line, what, fault.allowed)

    def problems(self, faults: Iterable[Fault]) -> list[Problem]:
        """What is wrong, each thing once, in the order of the lines; of what is no good YAML only that."""
        broken = {fault.path for fault in self.faults}
        found = {self.problem(fault): None for fault in self.faults}
        for fault in faults:
            written = self.written(fault.path)
            if not any(written[:end] in broken for end in range(len(written) + 1)):
                found[self.problem(fault)] = None
        return sorted(found, key=lambda problem: problem.line or 0)

    def at(self, *path: str | int) -> Document:
        """The part of the document at a path that it has, as a document."""
        depth, data = len(path), self.data
        for step in path:
            data = data[step]
        positions = {old[depth:]: position for old, position in self.positions.items() if old[:depth] == path}
        faults = [fault for fault in self.faults if fault.path[:depth] == path]
        return Document(data, positions, tuple(replace(fault, path=fault.path[depth:]) for fault in faults))

    def grafted(self, path: Path, twig: Document) -> Document:
        """This document with another in the place of what stands at a path of keys, if anything does."""
        rest = {old: position for old, position in self.positions.items() if old[: len(path)] != path}
        above = {path[:end]: self.positions.get(path[:end], twig.positions[()]) for end in range(len(path))}
        positions = {**rest, **above, **{(*path, *under): position for under, position in twig.positions.items()}}
        faults = [fault for fault in self.faults if fault.path[: len(path)] != path]
        data = _with(self.data, path, twig.data)
        return Document(data, positions, (*faults, *(fault.under(*path) for fault in twig.faults)))


def parse(text: str, position: Position) -> Document:
    """Read YAML. Lines count from 1 if the position is a file; all of an option is at the option.

    Raises SpecError if it is no YAML at all; lesser faults are kept with the document.
    """
    try:
        node = tree(text)
    except Broken as broken:
        raise _no_yaml(position, broken.line, broken.what, broken.allowed) from None
    if node is None:
        raise SpecError([Problem(position.file, None, "this is empty", MAPPING)])
    reader = _Reader(position)
    data = reader.read(node, ())
    return Document(data, reader.positions, tuple(reader.faults))


def of_data(data: object, name: str) -> Document:
    """A document of data that was read some other way and has no lines."""
    return Document(data, {(): Position(name), **{path: Position(name) for path in _paths(data, ())}})


@dataclass
class _Reader:
    """One walk over the nodes; it notes positions and faults on the way."""

    position: Position
    positions: dict[Path, Position] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def read(self, node: yaml.Node, path: Path) -> Data:
        self.positions.setdefault(path, self._position(node))
        if node.tag not in _TAGS:
            self._fault(path, f"the tag {node.tag!r} is not supported", "values without tags")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, (*path, index)) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode), "BUG: a node that is nothing of the three"
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Data]:
        data: dict[str, Data] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.positions[(*path, "?")] = self._position(key_node)
                self._fault((*path, "?"), "a key is a list or a mapping", "a word as the key")
                continue
            key, here = key_node.value, (*path, key_node.value)
            if key in data:
                first = self.positions[here].line
                again: Path = (*path, key, f"again at {key_node.start_mark.line}")
                self.positions[again] = self._position(key_node)
                self._fault(again, f"the key {key!r} appears twice, first in line {first}", "each key once")
                continue
            self.positions[here] = self._position(key_node)
            self._trap(key_node, here)
            data[key] = self.read(value_node, here)
        return data

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Data:
        if node.tag == "tag:yaml.org,2002:null":
            self._fault(
                path,
                f"{path[-1]!r} has no value" if path else "there is no value",
                "a value, or no such line",
            )
            return None
        self._trap(node, path)
        return str(node.value)

    def _trap(self, node: yaml.ScalarNode, path: Path) -> None:
        """Refuse bare text that YAML 1.1 readers take for something other than what one sees."""
        text = node.value
        if node.style or (text in ("on", "off") and _takes_on_and_off(path)):
            return
        for tag, fine, say in _TRAPS:
            if node.tag == f"tag:yaml.org,2002:{tag}" and not fine.fullmatch(text):
                self._fault(path, *(part.format(text=text) for part in say))

    def _position(self, node: yaml.Node) -> Position:
        return self.position if self.position.line is None else Position(self.position.file, node.start_mark.line + 1)

    def _fault(self, path: Path, what: str, allowed: str) -> None:
        self.faults.append(Fault(path, what, allowed))


def _takes_on_and_off(path: Path) -> bool:
    """Whether the key there, or what an axis varies there, takes true and false for these words."""
    key = next((step for step in reversed(path) if isinstance(step, str)), "")
    return key.rsplit(".", 1)[-1] in ON_AND_OFF


def mapping(data: object) -> dict[str, Any]:
    """The data if it is a mapping, and an empty one if it is not."""
    return data if isinstance(data, dict) else {}


def _no_yaml(position: Position, line: int, what: str, allowed: str | None = None) -> SpecError:
    return SpecError([Problem(position.file, None if position.line is None else line, what, allowed)])


def _with(data: Any, path: Path, value: Data) -> Any:
    if not path:
        return value
    base = data if isinstance(data, dict) else {}
    return {**base, path[0]: _with(base.get(path[0]), path[1:], value)}


def _paths(data: object, path: Path) -> Iterator[Path]:
    items: Iterable[tuple[str | int, object]] = ()
    if isinstance(data, dict):
        items = data.items()
    elif isinstance(data, list):
        items = enumerate(data)
    for step, value in items:
        yield (*path, step)
        yield from _paths(value, (*path, step))


_TAGS = {
    f"tag:yaml.org,2002:{name}"
    for name in ("map", "seq", "str", "null", "bool", "int", "float", "timestamp", "merge", "value")
}
_BOOL = re.compile("true|false", re.IGNORECASE)
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]*([eE][-+][0-9]+)?|[-+]?\.(inf|nan)", re.IGNORECASE)
_NEVER = re.compile("(?!)")
_NUMBER = (
    "YAML reads {text} without quotes as another number (':' means base 60, a leading 0 base 8)",
    "a decimal number, with its unit, such as 90 s, or '{text}' in quotes",
)
ON_AND_OFF = ("ecn",)
"""Keys whose values `on` and `off` need no quotes."""
_TRAPS = (
    (
        "bool",
        _BOOL,
        ("YAML reads {text} without quotes as true or false", "true, false, none, or '{text}' in quotes"),
    ),
    ("int", _INT, _NUMBER),
    ("float", _FLOAT, _NUMBER),
    ("merge", _NEVER, ("<< (merge) is not supported", "the keys written out")),
)
"""By YAML's own guess: the text that means what one sees, and what to say of all other."""
