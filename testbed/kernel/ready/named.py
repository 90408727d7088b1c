"""Checks that this computer has what files name, with the lines that name it: lab kernels and their congestion
controls, and kernels of virtual machines. A lab kernel that has not been asked yet boots once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from ...codec.fault import Fault
from ...codec.fault import Path as At
from ...error import MachineError, NotHere, SpecError, UserError, one_of
from ...model.run_setting import Kernel
from ...model.scenario import Trial
from ...model.topology import Topology
from ...spec import congestion
from ...spec.load import read
from ...spec.syntax.document import Data, Document, mapping, walk
from ...spec.topology.node import nodes_that
from ..image import first_boot
from ..image.cache import find
from ..vm import kernel_cache

Names: TypeAlias = Iterator[tuple[At, Data]]
"""Where a document has a name, and the name."""


def older_kernels(kernels: Iterable[Kernel]) -> tuple[str, ...]:
    """What to say of those lab kernels that another version of the testbed built, each once. Silent where there is no
    such kernel: others say that.
    """
    said = []
    for name in dict.fromkeys(each.name for each in kernels if each.kind != "host"):
        with suppress(MachineError):
            said.append(find(name).older)
    return tuple(each for each in said if each is not None)


def check_controls(file: str | Path, kernel: str | None, wanted: Collection[str]) -> None:
    """Raises SpecError for each line of a scenario file that names a congestion control which a lab kernel lacks;
    UserError if no line does. `kernel` None is the default one. A kernel that is not on this computer is not checked.
    """
    try:
        image = find(kernel)
    except MachineError:
        return
    features = first_boot.features(image.path)
    lacks = [(name, lack) for name in sorted(wanted) if (lack := features.lacks_control(name)) is not None]
    said = {name: f"the lab kernel {image.name} has {lack}" for name, lack in lacks}
    _refuse([file], congestion.named, said)
    for what in said.values():
        raise UserError(what)


def check_controls_of(file: str | Path, trials: Iterable[Trial]) -> None:
    """`check_controls` for trials in a lab kernel: another computer's own kernel may have others than this one's."""
    wanted: dict[str | None, set[str]] = {}
    for trial in trials:
        if trial.kernel.kind != "host":
            wanted.setdefault(trial.kernel.name, set()).update(trial.controls)
    for kernel, names in wanted.items():
        check_controls(file, kernel, names)


def check_lab_kernels(file: str | Path, kernels: Iterable[Kernel]) -> None:
    """Raises NotHere for each line of a scenario file that names one of these lab kernels and none of this computer's;
    MachineError if no line does.
    """
    lacks: dict[str, MachineError] = {}
    for name in dict.fromkeys(each.name for each in kernels if each.name is not None):
        try:
            find(name)
        except MachineError as error:
            lacks[name] = error
    _refuse([file], _lab_kernels, {name: str(lack) for name, lack in lacks.items()}, NotHere)
    for lack in lacks.values():
        raise lack


def kernels_of(topologies: Iterable[Topology]) -> frozenset[str]:
    """The kernels that their virtual machines name."""
    machines = (node.vm for topology in topologies for node in topology.nodes)
    return frozenset(vm.kernel for vm in machines if vm is not None and vm.kernel is not None)


def check_kernels(files: Iterable[str | Path], needed: Collection[str]) -> None:
    """Raises NotHere for each line of these topology and scenario files that names one of the needed kernels and none
    of this computer's.
    """
    have = sorted(each.name for each in kernel_cache.installed())
    said = {
        name: f"no kernel for virtual machines is called {name!r} here; allowed: {one_of(have, name, 'none yet')}; "
        f"or one from {kernel_cache.FETCH_COMMAND} --name NAME"
        for name in needed
        if name not in have
    }
    _refuse(files, _kernels, said, NotHere)


def _refuse(
    files: Iterable[str | Path],
    names: Callable[[Document], Names],
    said: Mapping[str, str],
    error: type[SpecError] = SpecError,
) -> None:
    """Raises the error for each line that has one of the names: what is said of it, with what is allowed."""
    problems = []
    for document in map(read, files if said else ()):
        for path, name in names(document):
            if name in said:
                what, _, allowed = said[str(name)].partition("; allowed: ")
                problems.append(document.problem(Fault(path, what, allowed or None, named=True)))
    if problems:
        raise error(problems)


def _lab_kernels(document: Document) -> Names:
    """Of a scenario: `{lab: NAME}` as its kernel, or as a value of an axis."""
    data = mapping(document.data)
    for path, value in walk({key: data[key] for key in ("kernel", "sweep") if key in data}):
        if path[-1] == "lab" and isinstance(value, str):
            yield path[:-1], value


def _kernels(document: Document) -> Names:
    inline = mapping(document.data).get("topology")
    above = ("topology",) if isinstance(inline, dict) else ()
    topology = mapping(inline if above else document.data)
    for name, node in nodes_that(topology, lambda kind: kind.runs_in == "virtual machine").items():
        yield (*above, "nodes", name, "kernel"), node.get("kernel")
    for key, values in mapping(mapping(document.data).get("sweep")).items():
        if key.endswith(".kernel") and isinstance(values, list):
            yield from ((("sweep", key, place), value) for place, value in enumerate(values))
