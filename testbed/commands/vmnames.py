"""Whether the kernels for virtual machines that files name are on this computer, with the lines that name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..document import Document, Fault, mapping
from ..error import Problem, SpecError, one_of
from ..kernels import vmkernel
from ..specfile import read


def check_names(files: Iterable[str | Path]) -> None:
    """Raises SpecError for each kernel that a vm of these topology and scenario files names, and that is not here."""
    problems = [problem for file in files for problem in _problems(read(file))]
    if problems:
        raise SpecError(problems)


def _problems(document: Document) -> Iterator[Problem]:
    inline = mapping(document.data).get("topology")
    topology = document.at("topology") if isinstance(inline, dict) else document
    have = sorted({each.name for each in vmkernel.installed()})
    for name, node in mapping(mapping(topology.data).get("nodes")).items():
        kernel = mapping(node).get("kernel")
        if mapping(node).get("type") == "vm" and kernel is not None and str(kernel) not in have:
            what = f"no kernel for virtual machines is called {kernel!r} here"
            allowed = one_of(have, str(kernel)) if have else "none yet"
            fetch = f"{allowed}; or one from {vmkernel.FETCH_COMMAND} --name NAME"
            yield topology.problem(Fault(("nodes", name, "kernel"), what, fetch, named=True))
