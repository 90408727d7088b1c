"""Checks that the lab kernels of this computer have the congestion controls that scenarios name, with the lines that
name them. A kernel that has not been asked yet boots once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from ...codec.fault import Fault
from ...codec.fault import Path as At
from ...error import MachineError, Problem, SpecError, UserError
from ...spec.load import read
from ...spec.syntax.document import Data, Document
from . import first_boot
from .cache import KernelImage, find


def check_names(file: str | Path, kernel: str | None, wanted: Collection[str]) -> None:
    """Raises SpecError for each line of a scenario file that names a congestion control which a lab kernel lacks;
    UserError if no line does. `kernel` None is the default one. A kernel that is not on this computer is not checked.
    """
    try:
        image = find(kernel)
    except MachineError:
        return
    features = first_boot.features(image.path)
    missing = {name: lacks for name in sorted(wanted) if (lacks := features.lacks_control(name)) is not None}
    document = read(file)
    if problems := [each for name, lacks in missing.items() for each in _problems(document, image, name, lacks)]:
        raise SpecError(problems)
    for lacks in missing.values():
        raise UserError(f"the lab kernel {image.name} has {lacks}")


def _problems(document: Document, image: KernelImage, name: str, lacks: str) -> Iterator[Problem]:
    what, _, allowed = lacks.partition("; allowed: ")
    for path in _places(document.data, (), name):
        yield document.problem(Fault(path, f"the lab kernel {image.name} has {what}", allowed, named=True))


def _places(data: Data, path: At, name: str, is_control: bool = False) -> Iterator[At]:
    """Where a key that ends in `congestion`, or the sysctl, has this value, or a list with it."""
    if isinstance(data, dict):
        for key, value in data.items():
            is_named = str(key).rpartition(".")[2] in ("congestion", "tcp_congestion_control")
            yield from _places(value, (*path, key), name, is_control or is_named)
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from _places(value, (*path, place), name, is_control)
    elif is_control and data == name:
        yield path
