"""Checks that this computer has the kernels of virtual machines that trials name, with the lines that name them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ...codec.fault import Fault
from ...codec.fault import Path as At
from ...error import Problem, SpecError, one_of
from ...model.topology import Topology
from ...spec.load import read
from ...spec.syntax.document import Data, Document, mapping
from ...spec.topology.node.keys import nodes_that
from . import kernel_cache


def names(topologies: Iterable[Topology]) -> frozenset[str]:
    """The kernels that their virtual machines name."""
    machines = (node.vm for topology in topologies for node in topology.nodes)
    return frozenset(vm.kernel for vm in machines if vm is not None and vm.kernel is not None)


def check_names(files: Iterable[str | Path], needed: Collection[str]) -> None:
    """Raises SpecError for each line of these topology and scenario files that names one of the needed kernels and
    none of this computer's.
    """
    have = {each.name for each in kernel_cache.installed()}
    missing = {name for name in needed if name not in have}
    if missing and (problems := [problem for file in files for problem in _problems(read(file), missing, have)]):
        raise SpecError(problems)


def _problems(document: Document, missing: Collection[str], have: Collection[str]) -> Iterator[Problem]:
    for path, name in (*_of_nodes(document), *_of_axes(document)):
        if name in missing:
            what = f"no kernel for virtual machines is called {name!r} here"
            allowed = one_of(sorted(have), str(name), "none yet")
            fetch = f"{allowed}; or one from {kernel_cache.FETCH_COMMAND} --name NAME"
            yield document.problem(Fault(path, what, fetch, named=True))


def _of_nodes(document: Document) -> Iterator[tuple[At, Data]]:
    inline = mapping(document.data).get("topology")
    above = ("topology",) if isinstance(inline, dict) else ()
    topology = mapping(inline if above else document.data)
    for name, node in nodes_that(topology, lambda kind: kind.runs_in == "virtual machine").items():
        yield (*above, "nodes", name, "kernel"), node.get("kernel")


def _of_axes(document: Document) -> Iterator[tuple[At, Data]]:
    for key, values in mapping(mapping(document.data).get("sweep")).items():
        if key.endswith(".kernel") and isinstance(values, list):
            yield from ((("sweep", key, place), value) for place, value in enumerate(values))
