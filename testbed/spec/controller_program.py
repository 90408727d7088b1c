"""Controllers that are programs of their users: what a topology names for one is read, kept, and named by its content.
Reads files, and copies them into the user's cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import program_store
from .syntax.document import Document, Fault
from .topology.node.keys import nodes_that

ALLOWED = "a file or folder, relative to the topology file's folder"
ENVIRONMENT = "python"
"""The name of the virtual environment among the files."""
A_VENV = "the folder of a virtual environment (python3 -m venv)"


def with_controller_programs(document: Document, folder: str) -> Document:
    """The document of a topology in which each file of a controller's program has its SHA-256; what cannot be read is a
    fault of it.
    """
    for name, about in nodes_that(document.data, lambda kind: kind.openflow == "controller").items():
        if "command" in about and not isinstance(about.get("files"), dict):
            document = _with_files(document, folder, name, about)
    return document


def _with_files(document: Document, folder: str, name: str, about: dict[str, Any]) -> Document:
    node = ("nodes", name)
    faults: list[Fault] = []
    found: dict[str, Path] = {}
    digests: dict[str, Any] = {}
    for path, called, source in _sources(about, folder):
        if found.setdefault(called, source) != source:
            faults.append(Fault((*node, *path), f"two files have the name {called!r}", "names that differ", named=True))
            continue
        try:
            digests[called] = program_store.digest(source)
        except OSError as error:
            what = f"{str(source)!r} cannot be read: {error.strerror}"
            faults.append(Fault((*node, *path), what, ALLOWED, named=True))
    faults += [fault.under(*node) for fault in _environment_faults(about, found.get(ENVIRONMENT))]
    if not faults and found:
        try:
            program_store.keep(found, tuple(sorted(digests.items())))
        except OSError as error:
            faults.append(Fault((*node, "command"), f"its files cannot be kept: {error.strerror or error}", ALLOWED))
    if not found and not faults:
        return document
    changed = {"command": _words(about, found), **({ENVIRONMENT: ENVIRONMENT} if ENVIRONMENT in found else {})}
    data = {**document.data, "nodes": {**document.data["nodes"], name: {**about, **changed}}}
    place = document.positions.get((*node, "command"), document.positions[node])
    twig = Document(digests, {(): place, **{(each,): place for each in digests}})
    grafted = replace(document, data=data).grafted((*node, "files"), twig)
    return replace(grafted, faults=(*grafted.faults, *faults))


def _sources(about: dict[str, Any], folder: str) -> Iterator[tuple[tuple[Any, ...], str, Path]]:
    """Where each file is named, what it is called among the files, and where it is."""
    listed = about.get("files")
    names = []
    for number, each in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(each, str):
            source = _at(folder, each)
            names.append(source.name)
            yield ("files", number), source.name, source
    first = _first(about)
    if _is_file(first) and os.path.normpath(first).split("/")[0] not in names:
        source = _at(folder, first)
        yield ("command",), source.name, source
    python = about.get(ENVIRONMENT)
    if isinstance(python, str):
        yield (ENVIRONMENT,), ENVIRONMENT, _at(folder, python)


def _at(folder: str, text: str) -> Path:
    return Path(os.path.normpath(Path(folder, text)))


def _first(about: dict[str, Any]) -> str:
    said = about.get("command")
    words = said.split() if isinstance(said, str) else said
    return words[0] if isinstance(words, list) and words and isinstance(words[0], str) else ""


def _is_file(word: str) -> bool:
    return not word.startswith("/") and ("/" in word or word.endswith(".py"))


def _words(about: dict[str, Any], found: dict[str, Path]) -> Any:
    """A file is in the program's folder, under its last name."""
    first, said = _first(about), about["command"]
    words = said.split() if isinstance(said, str) else said
    inside = os.path.normpath(first)
    if not _is_file(first):
        return words
    return [f"./{inside if inside.split('/')[0] in found else os.path.basename(inside)}", *words[1:]]


def _environment_faults(about: dict[str, Any], place: Path | None) -> Iterator[Fault]:
    if place is None:
        return
    if not (place / "pyvenv.cfg").is_file() or not os.access(place / "bin" / "python", os.X_OK):
        yield Fault((ENVIRONMENT,), f"{str(place)!r} is no virtual environment", A_VENV, named=True)
    elif (first := _first(about)) and "/" not in first and not (place / "bin" / first).exists() and not _is_file(first):
        yield Fault(("command",), f"the virtual environment has no program {first!r}", "one that is in its bin")
