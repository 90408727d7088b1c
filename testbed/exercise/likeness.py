"""Which submissions are the same program but for its names, comments and layout. Pure, no I/O.

Only programs are compared: a table of routes or a topology often has one right answer, which many students find. The
same program is a reason to look, and no proof: a short one has few forms.

Names are those that the program itself gives: of variables, functions, classes, arguments and attributes that it
assigns. Names of a library stay, so two programs that call different functions differ.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence

from ..spec.syntax import input_file

PYTHON_TEXTS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
"""What may begin with a text that describes it."""
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SHELL_NAME = re.compile(r"(?:^|[;&|\s])(?:for\s+|read\s+|local\s+|export\s+)?([A-Za-z_]\w*)(?==|\s+in\s)", re.MULTILINE)


def alike(programs: Mapping[str, Mapping[str, bytes]], starter: Mapping[str, bytes]) -> dict[str, tuple[str, ...]]:
    """The others that are the same, for each name of `programs`, whose values are a submission's files by name. A
    submission without programs, or with those of the starter, is like none.
    """
    untouched = fingerprint(starter)
    prints = {name: fingerprint(files) for name, files in programs.items()}
    groups: dict[str, list[str]] = {}
    for name, found in prints.items():
        if found is not None and found != untouched:
            groups.setdefault(found, []).append(name)
    return {name: tuple(each for each in groups.get(found or "", ()) if each != name) for name, found in prints.items()}


def fingerprint(files: Mapping[str, bytes]) -> str | None:
    """The same for programs that are the same but for names; None if there is no program."""
    found = [
        (name, FORMS[suffix](input_file.decoded(data, errors="replace")))
        for name, data in sorted(files.items())
        if (suffix := "." + name.rpartition(".")[2]) in FORMS
    ]
    return hashlib.sha256(repr(found).encode()).hexdigest() if found else None


def _python(text: str) -> str:
    """What the program does, in one form; of text that is no Python its words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            return ast.dump(_renamed(_without_texts(tree)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return " ".join(_words(text))


def _words(text: str) -> Iterator[str]:
    """Without comments and layout, as far as it can be read."""
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in skipped:
                yield token.string
    except (tokenize.TokenError, SyntaxError):
        yield "…"


def _without_texts(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, PYTHON_TEXTS) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _renamed(tree: ast.Module) -> ast.Module:
    """With numbers for the names that the program gives, in the order in which they are first seen. A name and an
    attribute are two things: `port = message.port` gives one of them.
    """
    variables, attributes = {*_variables(tree)}, {*_attributes(tree)}
    numbers: dict[tuple[bool, str], str] = {}

    def number(name: str, is_attribute: bool) -> str:
        known = attributes if is_attribute else variables
        return numbers.setdefault((is_attribute, name), f"name-{len(numbers)}") if name in known else name

    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = number(node.id, False)
        elif isinstance(node, ast.arg):
            node.arg = number(node.arg, False)
        elif isinstance(node, ast.Attribute):
            node.attr = number(node.attr, True)
        elif isinstance(node, DEFINITIONS):
            node.name = number(node.name, node.name in attributes)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            node.name = number(node.name, False)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [number(each, False) for each in node.names]
        elif isinstance(node, ast.alias) and node.asname:
            node.asname = number(node.asname, False)
    return tree


def _variables(tree: ast.Module) -> Iterator[str]:
    """The names that the program gives to anything but attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, DEFINITIONS):
            yield node.name
        elif isinstance(node, ast.ExceptHandler | ast.alias):
            given = node.name if isinstance(node, ast.ExceptHandler) else node.asname
            yield from () if given is None else (given,)


def _attributes(tree: ast.Module) -> Iterator[str]:
    """The attributes that the program assigns, and the methods of its classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.ClassDef):
            yield from (each.name for each in node.body if isinstance(each, DEFINITIONS))


def _shell(text: str) -> str:
    """Without comments and layout, and with numbers for the names of variables."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    kept = "\n".join(line for line in lines if line and not line.startswith("#"))
    numbers: dict[str, str] = {}
    for name in SHELL_NAME.findall(kept):
        numbers.setdefault(name, f"name-{len(numbers)}")
    return re.sub(r"[A-Za-z_]\w*", lambda found: numbers.get(found[0], found[0]), kept)


FORMS: Mapping[str, Callable[[str], str]] = {".py": _python, ".sh": _shell}
"""What is a program, by the end of its name."""


def has_programs(names: Sequence[str]) -> bool:
    """Whether any of these files is a program."""
    return any(f".{name.rpartition('.')[2]}" in FORMS for name in names)
