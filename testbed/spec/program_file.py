"""Program files: what a workload or a controller names beside its spec file is read, kept, and named by its content.
Reads files, and copies them into the user's cache.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..codec.fault import Fault
from ..codec.fault import Path as Place
from ..error import SpecError
from . import program_store
from .syntax.attachment import Folder, unread
from .syntax.document import Document, mapping, put
from .topology.node import nodes_that

BESIDE = "a file or folder, relative to the {} folder"
SCENARIO, TOPOLOGY = "scenario's", "topology file's"
ENVIRONMENT = "python"
"""The name of the virtual environment among the files of a controller."""
LINE_BYTES = 256
"""Of the first line of a program, as far as a kernel reads it."""
A_VENV = "the folder of a virtual environment (python3 -m venv)"


@dataclass
class Files:
    """The files of one program or workload: `found` by the names that they have among them, without links, the digests
    of what is in them, and what is wrong. `beside` says whose folder they are in.
    """

    beside: str
    document: Document
    folder: Folder
    found: dict[str, Path] = field(default_factory=dict)
    digests: dict[str, Any] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    @property
    def allowed(self) -> str:
        return BESIDE.format(self.beside)

    @property
    def kept(self) -> program_store.Files:
        return tuple(sorted(self.digests.items()))

    def add(self, path: Place, said: str, name: str = "") -> None:
        """A file that stands at `path` in the document, and the SHA-256 of what is in it while it is held; its name is
        the last one of its path, unless one is given.
        """
        name = name or os.path.basename(os.path.normpath(said))
        try:
            with self.folder.held(self.document, path, said) as held:
                source = Path(os.readlink(held))
                if name not in self.found:
                    self._read(path, name, source, held)
        except FileNotFoundError as error:
            source = Path(os.path.realpath(os.path.join(self.folder.path, said)))
            if name not in self.found:
                self._unread(path, source, error)
        except OSError as error:
            self.faults.append(unread(path, said, error, self.allowed, named=True))
            return
        if self.found.setdefault(name, source) != source:
            self.faults.append(Fault(path, f"two files have the name {name!r}", "names that differ", named=True))

    def _read(self, path: Place, name: str, source: Path, held: str) -> None:
        try:
            self.digests[name] = program_store.digest(held)
            self._refuse_other_lines(path, name, source, held)
        except OSError as error:
            self._unread(path, source, error)

    def _unread(self, path: Place, source: Path, error: OSError) -> None:
        what = f"{str(source)!r} cannot be read: {error.strerror}"
        self.faults.append(Fault(path, what, self.allowed, named=True))

    def _refuse_other_lines(self, path: Place, name: str, source: Path, held: str) -> None:
        """Programs are kept as they are, byte for byte; and a kernel takes the CR in `#!/bin/sh CR LF` for a part of
        the interpreter's name. Python, started with a file, does not mind.
        """
        is_pythons = name.endswith(".py") and path[-1] != "run"
        if is_pythons or not os.path.isfile(held):
            return
        with open(held, "rb") as file:
            first = file.readline(LINE_BYTES)
        if first.startswith(b"#!") and first.endswith(b"\r\n"):
            what = f"{str(source)!r} has line endings of Windows, with which Linux does not start it"
            fix = f"those of Linux: sed -i 's/\\r$//' {shlex.quote(str(source))}"
            self.faults.append(Fault(path, what, fix, named=True))

    def keep(self, path: Place) -> None:
        """Has them copied into the cache when nothing is wrong with the spec files. Then raises SpecError for what goes
        wrong with that, at `path`.
        """
        if self.found and not self.faults:
            self.folder.last.append(lambda: self._kept(path))

    def _kept(self, path: Place) -> None:
        try:
            program_store.keep(self.found, self.kept)
        except OSError as error:
            fault = Fault(path, f"its files cannot be kept: {error.strerror or error}", self.allowed)
            raise SpecError([self.document.problem(fault)]) from None

    def named_in(self, document: Document, at: Place, usual: Place) -> Document:
        """The document with their SHA-256 at the key `files` of `at`, and their faults; where the position of `usual`
        stands for what the document does not say.
        """
        place = document.positions.get(usual, document.positions[document.written(at)])
        twig = Document(self.digests, {(): place, **{(name,): place for name in self.digests}})
        grafted = document.grafted((*at, "files"), twig)
        return replace(grafted, faults=(*grafted.faults, *self.faults))


def with_programs(document: Document, folder: Folder) -> Document:
    """The document of a scenario in which each file of its workload has its SHA-256, and each program with a path is
    such a file; what cannot be read is a fault of it.
    """
    files = _of_workload(document, folder)
    if not (files.found or files.faults):
        return document
    files.keep(("workload", "files"))
    return files.named_in(_with_links(document, files.found), ("workload",), ("workload", "files"))


def program_files(document: Document, folder: Folder) -> dict[str, str]:
    """Where the files of a workload are kept, without folders, by their names."""
    files = _of_workload(document, folder)
    places = {name: program_store.place(name, files.kept) for name in files.found}
    return {name: str(place) for name, place in places.items() if place.is_file()}


def with_controller_programs(document: Document, folder: Folder) -> Document:
    """The document of a topology in which each file of a controller's program has its SHA-256; what cannot be read is a
    fault of it.
    """
    for name, about in nodes_that(document.data, lambda kind: kind.openflow == "controller").items():
        if "command" in about and not isinstance(about.get("files"), dict):
            document = _with_controller(document, folder, name, about)
    return document


def _of_workload(document: Document, folder: Folder) -> Files:
    files = Files(SCENARIO, document, folder)
    workload = mapping(mapping(document.data).get("workload"))
    if workload.get("tool") != "command" or isinstance(workload.get("files"), dict):
        return files
    for number, each in _listed(workload):
        files.add(("workload", "files", number), each)
    for path, started in _started(workload):
        first = _first(started.get("run"))
        if _has_path(first) and _top(first) not in files.found:
            files.add((*path, "run"), first)
    return files


def _with_controller(document: Document, folder: Folder, name: str, about: dict[str, Any]) -> Document:
    node: Place = ("nodes", name)
    files = Files(TOPOLOGY, document, folder)
    for number, each in _listed(about):
        files.add((*node, "files", number), each)
    first = _first(about.get("command"))
    if _is_file(first) and _top(first) not in files.found:
        files.add((*node, "command"), first)
    if isinstance(about.get(ENVIRONMENT), str):
        files.add((*node, ENVIRONMENT), about[ENVIRONMENT], ENVIRONMENT)
    files.faults += [fault.under(*node) for fault in _environment_faults(first, files.found.get(ENVIRONMENT))]
    files.keep((*node, "command"))
    if not (files.found or files.faults):
        return document
    changed = {"command": _words(about["command"], files.found)}
    changed |= {ENVIRONMENT: ENVIRONMENT} if ENVIRONMENT in files.found else {}
    data = {**document.data, "nodes": {**document.data["nodes"], name: {**about, **changed}}}
    return files.named_in(replace(document, data=data), node, (*node, "command"))


def _listed(about: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """What `files` lists, as far as it is text, and its place."""
    said = about.get("files")
    yield from (
        (number, each) for number, each in enumerate(said if isinstance(said, list) else ()) if isinstance(each, str)
    )


def _top(text: str) -> str:
    """The first part of a path."""
    return os.path.normpath(text).split("/")[0]


def _split(said: Any) -> Any:
    return said.split() if isinstance(said, str) else said


def _first(said: Any) -> str:
    """The first word of a command; empty if it has none."""
    words = _split(said)
    return words[0] if isinstance(words, list) and words and isinstance(words[0], str) else ""


def _has_path(word: str) -> bool:
    return "/" in word and not word.startswith("/")


def _is_file(word: str) -> bool:
    return not word.startswith("/") and ("/" in word or word.endswith(".py"))


def _started(workload: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    for key in ("background", "server", "client"):
        said = workload.get(key)
        if isinstance(said, dict):
            yield ("workload", key), said
        for number, each in enumerate(said if isinstance(said, list) else ()):
            if isinstance(each, dict):
                yield ("workload", key, number), each


def _with_links(document: Document, names: dict[str, Path]) -> Document:
    """Each program with a path is in the program's folder, under its last name."""
    changed = document.data
    for path, each in _started(mapping(changed.get("workload"))):
        first = _first(each.get("run"))
        last = os.path.basename(os.path.normpath(first))
        if _has_path(first) and _top(first) not in names and last in names:
            changed = put(changed, (*path, "run"), [f"./{last}", *_split(each["run"])[1:]])
    return replace(document, data=changed)


def _words(said: Any, found: dict[str, Path]) -> Any:
    """A file is in the program's folder, under its last name."""
    first, words = _first(said), _split(said)
    if not _is_file(first):
        return words
    inside = os.path.normpath(first)
    return [f"./{inside if _top(first) in found else os.path.basename(inside)}", *words[1:]]


def _environment_faults(first: str, place: Path | None) -> Iterator[Fault]:
    if place is None:
        return
    if not (place / "pyvenv.cfg").is_file() or not os.access(place / "bin" / "python", os.X_OK):
        yield Fault((ENVIRONMENT,), f"{str(place)!r} is no virtual environment", A_VENV, named=True)
    elif first and "/" not in first and not (place / "bin" / first).exists() and not _is_file(first):
        yield Fault(("command",), f"the virtual environment has no program {first!r}", "one that is in its bin")
