"""Program files: what a workload names beside its scenario is read, kept, and named by its content. Reads files, and
copies them into the user's cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import program_store
from .syntax.document import Document, Fault, mapping

ALLOWED = "a file or folder, relative to the scenario's folder"


def with_programs(document: Document, folder: str) -> Document:
    """The document of a scenario in which each file of its workload has its SHA-256, and each program with a path is
    such a file; what cannot be read is a fault of it.
    """
    sources, faults = _sources(document, folder)
    if mapping(mapping(document.data).get("workload")).get("tool") != "command" or not (sources or faults):
        return document
    digests: dict[str, Any] = {}
    for name, (path, written) in sources.items():
        try:
            digests[name] = program_store.digest(written)
        except OSError as error:
            faults.append(Fault(path, f"{str(written)!r} cannot be read: {error.strerror}", ALLOWED, named=True))
    if not faults:
        files = tuple(sorted(digests.items()))
        try:
            program_store.keep({name: written for name, (_, written) in sources.items()}, files)
        except OSError as error:
            faults.append(Fault(("workload", "files"), f"they cannot be kept: {error.strerror or error}", ALLOWED))
    place = document.positions.get(("workload", "files"), document.positions[document.written(("workload",))])
    twig = Document(digests, {(): place, **{(name,): place for name in digests}})
    grafted = _with_links(document, folder).grafted(("workload", "files"), twig)
    return replace(grafted, faults=(*grafted.faults, *faults))


def program_files(document: Document, folder: str) -> dict[str, str]:
    """The paths of the files, without folders, by their names."""
    return {name: str(path) for name, (_, path) in _sources(document, folder)[0].items() if path.is_file()}


def _sources(document: Document, folder: str) -> tuple[dict[str, tuple[tuple[Any, ...], Path]], list[Fault]]:
    """Names to where they stand in the document and what they lead to."""
    workload = mapping(mapping(document.data).get("workload"))
    listed = workload.get("files")
    found: dict[str, tuple[tuple[Any, ...], Path]] = {}
    faults: list[Fault] = []
    if workload.get("tool") != "command" or isinstance(listed, dict):
        return {}, []
    named = enumerate(listed) if isinstance(listed, list) else ()
    asked = [(("workload", "files", number), each) for number, each in named if isinstance(each, str)]
    asked += [(path, program) for path, program in _programs(workload)]
    for path, text in asked:
        source = Path(os.path.normpath(Path(folder, text)))
        is_inside = path[1] != "files" and os.path.normpath(text).split("/")[0] in found
        if is_inside:
            continue
        if found.get(source.name, (path, source))[1] != source:
            faults.append(Fault(path, f"two files have the name {source.name!r}", "names that differ", named=True))
        found.setdefault(source.name, (path, source))
    return found, faults


def _programs(workload: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Those that a relative path names."""
    for path, each in _started(workload):
        first = _words(each)[0]
        if "/" in first and not first.startswith("/"):
            yield (*path, "run"), first


def _words(started: dict[str, Any]) -> list[str]:
    """The words of a program as far as they are any; one at least."""
    said: Any = started.get("run")
    words = said.split() if isinstance(said, str) else said
    return words if isinstance(words, list) and words and isinstance(words[0], str) else [""]


def _started(workload: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    for key in ("background", "server", "client"):
        said = workload.get(key)
        if isinstance(said, dict):
            yield ("workload", key), said
        for number, each in enumerate(said if isinstance(said, list) else ()):
            if isinstance(each, dict):
                yield ("workload", key, number), each


def _with_links(document: Document, folder: str) -> Document:
    """Each program with a path is in the program's folder, under its last name."""
    names = set(_sources(document, folder)[0])
    changed = document.data
    for path, each in _started(mapping(changed.get("workload"))):
        first, *rest = _words(each)
        last = os.path.basename(os.path.normpath(first))
        inside = os.path.normpath(first).split("/")[0] in names
        if "/" in first and not first.startswith("/") and not inside and last in names:
            changed = _put(changed, (*path, "run"), [f"./{last}", *rest])
    return replace(document, data=changed)


def _put(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    if isinstance(data, list):
        return [_put(each, path[1:], value) if number == path[0] else each for number, each in enumerate(data)]
    return {**data, path[0]: _put(data[path[0]], path[1:], value)}
