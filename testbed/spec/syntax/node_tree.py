"""YAML text as PyYAML's tree of nodes, or the line where it is none, is too deep or has anchors. Pure, no I/O.

The tree is made by calls inside calls: the depth is counted before it, as PyYAML's fast parser dies of a few hundred
thousand brackets.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml

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
