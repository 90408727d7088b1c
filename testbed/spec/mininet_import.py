"""Mininet topologies in Python, read in a process of the system's Python. Reads files and starts processes.

The nodes and links that the class builds replace the key `topo` that names it.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from .. import process
from ..agent.mininet_driver import ALLOW_CODE, ONLY
from ..codec.fault import Fault
from ..error import MachineError, Problem, SpecError, ValueRefused
from ..library import is_ours
from ..package import MININET_DRIVER, MININET_PYTHON, install_command
from .syntax import input_file
from .syntax.attachment import Folder, Outside, unread
from .syntax.document import Document, Position, mapping
from .topology import mininet
from .topology.mininet import MININET_TOPOLOGY, PLACE, MininetTopologyFile, nodes_and_links

READ_LIMIT_S = 20
"""Wall time in which a class must build its nodes and links; a tree of 1 000 hosts takes less than one second."""


SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def is_python(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a Python file, or of a topology in one: FILE.py:NAME."""
    return _named(path) is not None


def path_of(said: str) -> str:
    """The path of a topology file, without the name of a topology in it."""
    return (_named(said) or (said, ""))[0]


def described(path: str | os.PathLike[str]) -> Document:
    """The document of a topology that is all in a Python file: the one that the path names, or the only one."""
    file, name = _named(path) or ("", "")
    stem = re.sub(r"[^a-z0-9-]+", "-", Path(file).stem.lower()).strip("-") or "network"
    where = Position(os.path.normpath(file), None)
    data = {"name": stem, "topo": {"file": os.path.basename(file), "class": name or ONLY}}
    return Document(data, dict.fromkeys([(), *_paths(data, ())], where))


def _named(path: str | os.PathLike[str]) -> tuple[str, str] | None:
    text = os.fspath(path)
    found = PLACE.fullmatch(text)
    if found is not None:
        return found["file"], found["name"]
    return (text, "") if text.endswith(".py") else None


def expanded(document: Document, folder: Folder) -> Document:
    """A topology document with nodes and links in place of `topo`; as it is without that key.

    Raises SpecError for what is wrong with the class, MachineError without Mininet.
    """
    data = mapping(document.data)
    if "topo" not in data:
        return document
    mininet_topology, faults = MININET_TOPOLOGY.checked(data["topo"])
    faults = [fault.under("topo") for fault in faults]
    faults += [
        Fault(("topo",), f"topo and {key} exclude each other", "one") for key in ("nodes", "links") if key in data
    ]
    if mininet_topology is None or faults or document.faults:
        raise SpecError(document.problems(faults))
    built = _read(document, mininet_topology, folder)
    try:
        made = nodes_and_links(built, mininet_topology)
    except ValueRefused as refused:
        raise SpecError([document.problem(Fault(("topo",), refused.what, refused.allowed))]) from None
    rest = {key: value for key, value in data.items() if key != "topo"} | {"engine": data.get("engine", "mininet")}
    positions = {path: position for path, position in document.positions.items() if path[:1] != ("topo",)}
    position = document.positions[("topo",)]
    positions |= {path: positions.get(path, position) for path in _paths(made, ())}
    return Document({**rest, **made}, positions, document.faults)


def without_effect(document: Document, folder: Folder) -> tuple[str, ...]:
    """A sentence for each option of its Mininet topology that changes nothing here; none for other documents."""
    mininet_topology, faults = MININET_TOPOLOGY.checked(mapping(document.data).get("topo"))
    if mininet_topology is None or faults:
        return ()
    return tuple(mininet.without_effect(_read(document, mininet_topology, folder), dict(mininet_topology.options)))


def python_file(document: Document, folder: Folder) -> str | None:
    """The path of the Python file that a topology document names; None if it names none."""
    mininet_topology, _ = MININET_TOPOLOGY.checked(mapping(document.data).get("topo"))
    return None if mininet_topology is None else os.path.join(folder.path, mininet_topology.file)


def driver() -> Path:
    return Path(__file__).parents[1] / "agent" / MININET_DRIVER


def missing() -> MachineError | None:
    """Why Mininet cannot be used here; None if it can."""
    try:
        process.run((*MININET_PYTHON, driver(), "check"))
    except process.CommandError as error:
        reason = error.stderr.strip().splitlines()[-1].removeprefix("mininet: ")
        # From Python 3.12 on distutils, which Mininet 2.3 imports, comes with setuptools.
        package = "python3-setuptools" if "distutils" in reason else "mininet"
        return MachineError(f"Mininet does not work: {reason}", install_command([package]))
    except MachineError as error:
        return MachineError("Mininet is missing", error.fix)
    return None


def _read(document: Document, mininet_topology: MininetTopologyFile, folder: Folder) -> dict[str, Any]:
    path = os.path.normpath(os.path.join(folder.path, mininet_topology.file))
    try:
        folder.find(document, ("topo",), mininet_topology.file)
        input_file.read(path, input_file.SPEC_BYTES)
    except Outside as error:
        raise SpecError([document.problem(unread(("topo",), path, error, ""))]) from None
    except OSError:
        raise SpecError([document.problem(Fault(("topo",), f"{path!r} cannot be read", "a Python file"))]) from None
    if not folder.permission.python and not is_ours(path):
        what = f"the topology is Python, {path}, which is not run here"
        raise SpecError([document.problem(Fault(("topo",), what, "--allow-code, if you trust it"))])
    lacking = missing()
    if lacking is not None:
        raise lacking
    words = (*MININET_PYTHON, driver(), "read", path, mininet_topology.name)
    try:
        done = process.run(
            words, input=json.dumps(dict(mininet_topology.args)), timeout=READ_LIMIT_S, env=_environment()
        )
    except process.CommandError as error:
        if error.status is None:
            what = f"{mininet_topology.name} did not finish within {READ_LIMIT_S} s: it loops, or waits for something"
            raise SpecError([Problem(path, None, what, "a build() that adds nodes and links and returns")]) from None
        raise SpecError([Problem(path, None, error.stderr.strip().splitlines()[-1])]) from None
    built: dict[str, Any] = json.loads(done.stdout)
    if "error" in built:
        raise SpecError([Problem(path, built.get("line"), built["error"], built.get("allowed"))])
    return built


def _environment() -> dict[str, str]:
    """What the process of a topology is told: nothing of the user's."""
    said = {ALLOW_CODE: os.environ[ALLOW_CODE]} if ALLOW_CODE in os.environ else {}
    return {"PATH": SYSTEM_PATH, **said}


def _paths(data: object, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [each for step, value in items for each in ((*path, step), *_paths(value, (*path, step)))]
