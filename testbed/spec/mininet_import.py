"""Mininet topologies in Python, read in a process of the system's Python. Reads files and starts processes.

The nodes and links that the class builds replace the key `topo` that names it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from .. import process
from ..agent.mininet_driver import ALLOW_CODE, ONLY
from ..codec.fault import Fault
from ..error import MachineError, Problem, SpecError, ValueRefused
from ..library import is_ours
from ..native_program import tools
from ..package import MININET_DRIVER, MININET_PYTHON, install_command
from .syntax import input_file
from .syntax.attachment import Folder, Outside, unread
from .syntax.document import Document, Position, mapping, walk
from .topology import mininet
from .topology.mininet import MININET_TOPOLOGY, PLACE, MininetTopologyFile, nodes_and_links

READ_LIMIT_S = 60
"""Wall time in which a class must build its nodes and links; a tree of 1 000 hosts takes less than one second."""


LINE_BYTES = 4096
"""Of what a class printed, where a reason is to be told."""
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
    return Document(data, dict.fromkeys([(), *(path for path, _ in walk(data))], where))


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
    positions |= {path: positions.get(path, position) for path, _ in walk(made)}
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
        with folder.held(document, ("topo",), mininet_topology.file) as held:
            source = input_file.read(held, input_file.SPEC_BYTES)
            if not folder.permission.python and not is_ours(held):
                what = f"the topology is Python, {path}, which is not run here"
                raise SpecError([document.problem(Fault(("topo",), what, "--allow-code, if you trust it"))])
            return _built(path, mininet_topology, source, held)
    except Outside as error:
        raise SpecError([document.problem(unread(("topo",), path, error, ""))]) from None
    except OSError:
        raise SpecError([document.problem(Fault(("topo",), f"{path!r} cannot be read", "a Python file"))]) from None


def _built(path: str, mininet_topology: MininetTopologyFile, source: bytes, held: str) -> dict[str, Any]:
    """What the class says, in a process that has these bytes of the file, and descriptors of the file and its folder.
    What it prints goes to files, whose size it may not exceed. Raises SpecError.
    """
    lacking = missing()
    if lacking is not None:
        raise lacking
    with ExitStack() as stack:
        home = Path(os.readlink(held)).parent
        folder = os.open(home, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, folder)
        file = int(os.path.basename(held))
        named = os.stat(os.path.basename(os.readlink(held)), dir_fd=folder, follow_symlinks=False)
        if not os.path.samestat(named, os.fstat(file)):  # somebody put another folder in its place
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        said, out, error = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        library = str(tools().folder / "confine_topology.so")
        about = {"source": source.decode("latin-1"), "library": library, "file": file, "folder": folder}
        said.write(json.dumps({**about, "arguments": dict(mininet_topology.args)}).encode())
        said.seek(0)
        python = (*MININET_PYTHON, str(driver()), "read", path, mininet_topology.name)
        words = ("env", "-i", *_environment(), *python)
        running = process.start(words, stdin=said, stdout=out, stderr=error, cwd=home, pass_fds=(file, folder))
        try:
            with running:
                status = running.wait(READ_LIMIT_S)
        except process.CommandError:
            which = "the only topology" if mininet_topology.name == ONLY else mininet_topology.name
            what = f"{which} did not finish within {READ_LIMIT_S} s: it loops, or waits for something"
            raise SpecError([Problem(path, None, what, "a build() that adds nodes and links and returns")]) from None
        if status != 0:
            raise SpecError([Problem(path, None, _last_line(error, status))])
        out.seek(0)
        return _checked(path, out.read())


def _last_line(error: IO[bytes], status: int) -> str:
    """Of the end of what a process printed that failed."""
    error.seek(max(0, error.seek(0, os.SEEK_END) - LINE_BYTES))
    lines = error.read(LINE_BYTES).decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"Python ended with status {status}: it takes too much memory, perhaps"


def _checked(path: str, text: bytes) -> dict[str, Any]:
    """What the process said, which its topology could have written. Raises SpecError for an error, and for what the
    driver does not say.
    """
    try:
        built = json.loads(text)
    except (ValueError, RecursionError):
        built = None
    said, line = (built.get("error"), built.get("line")) if isinstance(built, dict) else (None, None)
    allowed = built.get("allowed") if isinstance(built, dict) else None
    if isinstance(said, str) and isinstance(line, int | None) and isinstance(allowed, str | None):
        raise SpecError([Problem(path, line, said[:LINE_BYTES], allowed)])
    if not (isinstance(built, dict) and _are(built.get("nodes"), _is_node) and _are(built.get("links"), _is_link)):
        raise SpecError([Problem(path, None, "it does not say what nodes and links it has", "a class of Topo's")])
    names = [node["name"] for node in built["nodes"]]
    if len(set(names)) < len(names) or not {end for link in built["links"] for end in link["ends"]} <= set(names):
        raise SpecError([Problem(path, None, "its links and nodes have names that do not go together", "addHost()")])
    return built


def _are(parts: object, is_one: Callable[[dict[str, Any]], bool]) -> bool:
    def is_part(part: object) -> bool:
        if not isinstance(part, dict) or not isinstance(part.get("options"), dict):
            return False
        return isinstance(part.get("class", 0), str | None) and is_one(part)

    return isinstance(parts, list) and all(map(is_part, parts))


def _is_node(part: dict[str, Any]) -> bool:
    return isinstance(part.get("name"), str) and isinstance(part.get("is_switch"), bool)


def _is_link(part: dict[str, Any]) -> bool:
    return all(
        isinstance(pair := part.get(name), list) and len(pair) == 2 and all(isinstance(each, kind) for each in pair)
        for name, kind in (("ends", str), ("ports", int))
    )


def _environment() -> tuple[str, ...]:
    """What the process of a topology is told: nothing of the user's."""
    said = {ALLOW_CODE: os.environ[ALLOW_CODE]} if ALLOW_CODE in os.environ else {}
    return tuple(f"{name}={value}" for name, value in {"PATH": SYSTEM_PATH, **said}.items())
