"""What controllers need of this computer: an interpreter, our package and os-ken, where their kernel can read them; the
files of those that are programs, and the Python of their virtual environments. Looks for files, nothing else.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..error import MachineError
from ..model.openflow import ControllerProgram
from ..model.topology import Topology
from ..plan.node.controller import files_of
from ..plan.step import Run, StartController, Step
from ..spec import program_store
from . import lab
from .guest import interpreter
from .lab import Programs

OS_KEN = "os_ken"
INSTALL = "make setup"
MOUNTED = "/run/python"
HIDDEN = ("/run", "/tmp", "/var/tmp", "/var/log", "/mnt")
"""The folders that a lab kernel replaces by its own."""

ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "OSKEN_HUB_TYPE": "native"}
"""Gives every run the same order of sets and the same kind of threads."""

CONFIGURATION = "pyvenv.cfg"
HOME = re.compile(r"^home\s*=\s*(/\S+)\s*$", re.MULTILINE)


def folders() -> tuple[Path, ...]:
    """The folders of our package and of os-ken. Raises MachineError if os-ken is not here or cannot be read."""
    spec = importlib.util.find_spec(OS_KEN)
    if spec is None or spec.origin is None:
        raise MachineError("the Python package os-ken is missing, which controllers need", INSTALL)
    found = (Path(__file__).resolve().parents[2], Path(spec.origin).resolve().parents[1])
    for folder, name in zip(found, ("testbed", OS_KEN), strict=True):
        if not os.access(folder / name / "__init__.py", os.R_OK):
            raise MachineError(f"{folder / name} cannot be read, which controllers need", f"chmod -R a+rX {folder}")
    return tuple(dict.fromkeys(found))


def check(*, is_lab: bool) -> None:
    """Raises MachineError if controllers cannot run."""
    folders()
    hidden = [folder for folder in HIDDEN if Path(interpreter()).is_relative_to(folder)]
    if is_lab and hidden:
        what = f"the interpreter {interpreter()} is below {hidden[0]}, where the lab kernel has an empty folder"
        raise MachineError(f"{what} and cannot start controllers", "python3 -m venv .venv, with a Python below /usr")


def with_interpreter(steps: Sequence[Step], *, is_lab: bool) -> tuple[Step, ...]:
    """The steps of a trial, with this computer's interpreter where a controller starts. A lab kernel may hide our
    folders, so it mounts them below MOUNTED.
    """
    first = next((number for number, step in enumerate(steps) if isinstance(step, StartController)), None)
    if first is None:
        return tuple(steps)
    mounts, start = _mounted() if is_lab else ((), _started(list(map(str, folders()))))
    done = [
        replace(step, words=(*start, *step.words[1:])) if isinstance(step, StartController) else step for step in steps
    ]
    return (*done[:first], *mounts, *done[first:])


def in_guest() -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """The mounts of a lab kernel that show it our package and os-ken, and the words that start Python with them. Raises
    MachineError if they are not here.
    """
    check(is_lab=True)
    return _mounted()


def _mounted() -> tuple[tuple[Run, ...], tuple[str, ...]]:
    found = [str(folder) for folder in folders()]
    mounted = [f"{MOUNTED}/{number}" for number, _ in enumerate(found)]
    return tuple(step for pair in zip(found, mounted, strict=True) for step in _mount(*pair)), _started(mounted)


def _mount(source: str, target: str) -> Iterator[Run]:
    yield Run(("mkdir", "-p", target))
    yield Run(("mount", "-r", "-t", "hostfs", "-o", source, "none", target), "mount")


def _started(search: list[str]) -> tuple[str, ...]:
    settings = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(search)}
    return ("env", *(f"{key}={value}" for key, value in settings.items()), interpreter(), "-sB")


def programs(topology: Topology) -> Programs:
    """Those of a topology. Raises MachineError for files that are not on this computer."""
    folders: dict[str, Path] = {}
    reads: list[Path] = []
    for name, program in _found(topology).items():
        place = program_store.find(program.files)
        if place is not None:
            folders[_called(name)] = place
            if program.python is not None:
                reads += _interpreter(place / program.python)
    return Programs(folders, tuple(dict.fromkeys(reads)))


def with_files(steps: Sequence[Step], topology: Topology, *, is_lab: bool) -> tuple[Step, ...]:
    """The steps with the place of the files, which a lab kernel has to mount. Raises as `programs` does, but for a lab
    kernel.
    """
    words = {str(files_of(name)): name for name in _found(topology)}
    if not words:
        return tuple(steps)
    places = {} if is_lab else programs(topology).folders
    return tuple(_with_files(step, words, places) if isinstance(step, Run) else step for step in steps)


def _with_files(step: Run, words: Mapping[str, str], places: Mapping[str, Path]) -> Run:
    word = next((word for word in step.words if word in words), None)
    if word is None:
        return step
    called = _called(words[word])
    if called in places:
        return step.with_word(word, str(places[called]))
    return replace(step, words=("mount", "-r", "-t", "hostfs", "-o", f"{lab.HERE}/{called}", "none", step.words[-1]))


def _found(topology: Topology) -> dict[str, ControllerProgram]:
    """Programs by the names of their controllers."""
    controllers = ((node.name, node.controller) for node in topology.nodes)
    return {name: each.program for name, each in controllers if each is not None and each.program is not None}


def _called(name: str) -> str:
    return f"controller-{name}"


def _interpreter(environment: Path) -> Iterator[Path]:
    """What a virtual environment needs of the Python that made it: the program, and its library. Nothing else of what
    its configuration names. Raises MachineError if that Python is not here.
    """
    try:
        found = HOME.search((environment / CONFIGURATION).read_text())
    except (OSError, ValueError):
        found = None
    program = Path(os.path.realpath(environment / "bin" / "python"))
    if found is None or not program.is_file() or not program.name.startswith("python"):
        what = f"the Python of the virtual environment {environment} is not on this computer"
        raise MachineError(what, "python3 -m venv, and its packages again")
    yield program
    base = program.parent.parent
    for library in (base / "lib", base / "lib64"):
        yield from (each for each in library.glob("python3.*") if (each / "os.py").is_file())
        yield from library.glob("libpython3*.so*")
