"""What a controller needs of this computer: an interpreter, our package and os-ken, where its kernel can read them.
Looks for files, nothing else.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...error import MachineError
from ...plan.step import Run, StartController, Step
from ..guest import interpreter

OS_KEN = "os_ken"
INSTALL = "make setup"
MOUNTED = "/run/python"
HIDDEN = ("/run", "/tmp", "/var/tmp", "/var/log", "/mnt")
"""The folders that a lab kernel replaces by its own."""

ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "OSKEN_HUB_TYPE": "native"}
"""Gives every run the same order of sets and the same kind of threads."""


def folders() -> tuple[Path, ...]:
    """The folders of our package and of os-ken. Raises MachineError if os-ken is not here or cannot be read."""
    spec = importlib.util.find_spec(OS_KEN)
    if spec is None or spec.origin is None:
        raise MachineError("the Python package os-ken is missing, which controllers need", INSTALL)
    found = (Path(__file__).resolve().parents[3], Path(spec.origin).resolve().parents[1])
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
    found = [str(folder) for folder in folders()]
    mounted = [f"{MOUNTED}/{number}" for number, _ in enumerate(found)] if is_lab else found
    mounts = [step for pair in zip(found, mounted, strict=True) for step in _mount(*pair)] if is_lab else []
    start = _start(mounted)
    done = [
        replace(step, words=(*start, *step.words[1:])) if isinstance(step, StartController) else step for step in steps
    ]
    return (*done[:first], *mounts, *done[first:])


def _mount(source: str, target: str) -> Iterator[Run]:
    yield Run(("mkdir", "-p", target))
    yield Run(("mount", "-r", "-t", "hostfs", "-o", source, "none", target), "mount")


def _start(search: list[str]) -> tuple[str, ...]:
    settings = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(search)}
    return ("env", *(f"{key}={value}" for key, value in settings.items()), interpreter(), "-sB")
