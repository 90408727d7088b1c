"""Where the files of controllers that are programs are on this computer, and the Python of their virtual environments.
Looks for files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...error import MachineError
from ...model.openflow import ControllerProgram
from ...model.topology import Topology
from ...plan.node.controller import files_of
from ...plan.step import Run, Step
from ...spec import program_store
from .. import lab
from ..lab import Programs

CONFIGURATION = "pyvenv.cfg"
HOME = re.compile(r"^home\s*=\s*(/\S+)\s*$", re.MULTILINE)


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
        return replace(step, words=tuple(str(places[called]) if each == word else each for each in step.words))
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
