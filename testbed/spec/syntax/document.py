"""A YAML document as plain data, with the place of every value in it. Pure, no I/O.

YAML 1.1 guesses types ("no" is false, 1:30 is 90, 010 is 8). Here every scalar is the text as written, and
what its position means decides; text that another YAML reader would take for something else is a problem.
Tags, anchors and merge keys are not part of the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import Any, TypeAlias

import yaml

from ...codec.fault import MAPPING, Fault, Path
from ...codec.frozen import dataclass
from ...codec.keyed import K, check
from ...error import Problem, SpecError

LEVELS_MAX = 40
"""How deep mappings and lists may be inside each other; a scenario with its topology needs ten."""
EXPLAINED = 100_000
"""Characters up to which the slow loader, which says better what is wrong, reads a text that the fast one refused."""

FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass
class Broken(Exception):
    """Why text is no document: in which line, counted from 1, and what is allowed."""

    line: int
    what: str
    allowed: str | None = None


def tree(text: str) -> yaml.Node | None:
    """The root node; None if the text is empty. Raises Broken."""
    try:
        _refuse_events(text)
        return _compose(text)
    except UnicodeEncodeError as error:  # of an option: Python has half characters for bytes that are no text
        raise Broken(text.count("\n", 0, error.start) + 1, "this is not text in UTF-8") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Broken(mark.line + 1 if mark else 1, *_syntax(error)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise Broken(line, f"the character {chr(_code(error))!r} is not allowed in YAML") from None
    except RecursionError:  # of the slow loader, which may read on where the fast one stops
        raise _too_deep(1) from None


def _refuse_events(text: str) -> None:
    """Raises Broken for what is too deep, and for anchors: one could make a document endless, or a small file a huge
    document.
    """
    depth, has_anchors = 0, "&" in text
    for event in _events(text):
        line = event.start_mark.line + 1
        if has_anchors and getattr(event, "anchor", None) is not None:
            raise Broken(line, "anchors (&x) and aliases (*x) are not supported", "the value in full")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > LEVELS_MAX:
                raise _too_deep(line)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _too_deep(line: int) -> Broken:
    return Broken(line, "this is too deep", f"up to {LEVELS_MAX} levels of lists and mappings")


def _events(text: str) -> Iterator[Any]:
    """As far as they can be read; what follows is said when the tree is made."""
    with suppress(yaml.YAMLError):
        yield from yaml.parse(text, Loader=FAST)


def _compose(text: str) -> yaml.Node | None:
    """The node tree, by the fast loader if PyYAML has it; what is wrong is said by the plain one."""
    try:
        return yaml.compose(text, Loader=FAST)
    except yaml.YAMLError:
        if len(text) > EXPLAINED:
            raise
        return yaml.compose(text, Loader=yaml.SafeLoader)


def _syntax(error: yaml.MarkedYAMLError) -> tuple[str, str | None]:
    problem = error.problem or "this cannot be read"
    if r"'\t'" in problem:
        return "there is a tab", "spaces, for indentation and between words"
    for said, meaning in _SYNTAX.items():
        if said in problem:
            return meaning
    return f"this is not YAML: {problem}", None


def _code(error: yaml.reader.ReaderError) -> int:
    return error.character if isinstance(error.character, int) else ord(error.character)


_SYNTAX: dict[str, tuple[str, str | None]] = {
    "undefined alias": ("text without quotes cannot begin with '*'", "the text in quotes"),
    "mapping values are not allowed here": (
        "there is a ':' where YAML does not allow one",
        "one 'key: value' on a line, and text with ': ' in quotes",
    ),
    "expected a single document": ("a second document begins here", "one document in a file"),
    "but found another document": ("a second document begins here", "one document in a file"),
}


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

    def checked(self, cls: type[K]) -> K:
        """Its value. Raises SpecError with all that is wrong with it."""
        found, faults = check(cls, self.data)
        if found is None or self.faults:
            raise SpecError(self.problems(faults))
        return found

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

    def planted(self, path: Path, twig: Document) -> Document:
        """This document with another in the place of what stands at a path, also below lists."""
        positions = {old: at for old, at in self.positions.items() if old[: len(path)] != path}
        positions |= {(*path, *under): at for under, at in twig.positions.items()}
        return Document(put(self.data, path, twig.data), positions, self.faults)


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
    return Document(data, {(): Position(name), **{path: Position(name) for path, _ in walk(data)}})


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


def put(data: Any, path: Sequence[Any], value: Any) -> Any:
    """The data with a value in the place of what stands at a path."""
    if not path:
        return value
    if isinstance(data, list):
        return [put(each, path[1:], value) if number == path[0] else each for number, each in enumerate(data)]
    return {**data, path[0]: put(data[path[0]], path[1:], value)}


def walk(data: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """All that stands in mappings and lists, and where; what holds others comes before them."""
    items: Iterable[tuple[str | int, object]] = ()
    if isinstance(data, dict):
        items = data.items()
    elif isinstance(data, list):
        items = enumerate(data)
    for step, value in items:
        yield (*path, step), value
        yield from walk(value, (*path, step))


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
