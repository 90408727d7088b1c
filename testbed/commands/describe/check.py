"""`testbed check`: finds the mistakes in spec files, up to the commands that they lead to."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ... import library
from ...error import SpecError, TestbedError
from ...kernel.ready.named import check_controls_of, check_kernels, check_lab_kernels, kernels_of
from ...library import PROFILES, spec_file
from ...model.run_setting import Kernel
from ...model.scenario import Trial
from ...model.topology import Topology
from ...plan.network import Plan, plan
from ...spec.load import files_of, is_profile, is_scenario, load_scenario, load_topology, read, sizes_of
from ...spec.mininet_import import without_effect
from ...spec.syntax.attachment import Folder, Permission, permitted
from ...trial.orders.remark import remarks
from ...trial.orders.sequence import draft, orders
from ...trial.start import bring_up
from ...units import counted
from ..foreign_code import AllowCode, AllowFile, allow

EXAMPLES = (
    ("Check a scenario that comes with the testbed", "testbed check quickstart"),
    ("Check files of yours, and whether this computer can run them", "testbed check --here net.yaml test.yaml"),
    ("Check all scenarios in a folder", "testbed check scenarios/*.yaml"),
    ("Check a profile of your own", "testbed check mine.yaml"),
)


def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE|NAME",
            help="Topology, scenario and profile files, or the names of those that come with the testbed (testbed "
            "list).",
        ),
    ],
    on_this_machine: Annotated[
        bool, typer.Option("--here", help="Also check whether this computer can run them.")
    ] = False,
    allow_code: AllowCode = False,
    allow_file: AllowFile = None,
) -> None:
    """All mistakes in all files are printed at once, each with its line. Nothing runs; a topology in Python is refused,
    or with --allow-code read, confined where this computer can.

    The exit code is 2 if a file has a mistake, and 3 if --here finds something that this computer lacks.
    """
    if allow_code:
        allow()
    may = permitted(allow_file or (), python=allow_code)
    failed: TestbedError | None = None
    for file in map(_file, files):
        try:
            described, said = _describe(file, may)
            print(f"{file}: {described}{_where(file, may) if on_this_machine else ''}{said}")
        except SpecError as error:
            print(error)
            failed = error
        except TestbedError as error:
            print(f"{file}: {error}")
            failed = error
    if failed is not None:
        raise typer.Exit(failed.exit_code)


def _file(path: Path) -> Path:
    """A spec file, or the profile of this name."""
    found = spec_file(path)
    return PROFILES / f"{path}.yaml" if not found.exists() and str(path) in library.names(PROFILES) else found


def _describe(file: Path, may: Permission) -> tuple[str, str]:
    """A line, and lines with remarks below it."""
    if is_profile(file):
        return _profile(file), ""
    if is_scenario(file):
        found = {size: load_scenario(file, quick=size == "quick", permission=may).trials() for size in sizes_of(file)}
        trials = [trial for size in found.values() for trial in size]
        found_remarks = dict.fromkeys(each for trial, made in _plans(trials) for each in remarks(trial, made))
        check_controls_of(file, trials)
        quick = f", {len(found['quick'])} in the quick size" if "quick" in found else ""
        said = "".join(f"\n  remark: {what} ({hint})" for _, what, hint in found_remarks)
        return f"fine, {counted(len(found['full']), 'trial')}{quick}", said
    topology = load_topology(file, may)
    planned = plan(topology)
    counts = ((topology.nodes, "node"), (topology.links, "link"), (planned.emulators, "emulator"))
    said = "".join(f"\n  remark: {each}" for each in without_effect(read(file), Folder.of(file, may)))
    return ", ".join(("fine", *(counted(len(those), noun) for those, noun in counts))), said


def _plans(trials: Sequence[Trial]) -> Iterator[tuple[Trial, Plan]]:
    """The plan of each trial; all orders once for each network, and for the other trials what is their own. Raises
    UserError for a trial that no kernel could carry out.
    """
    known: set[tuple[Topology, Kernel]] = set()
    cuts_late = functools.cache(bring_up.cuts_late)
    for trial in trials:
        network = trial.topology, trial.kernel
        yield trial, draft(trial, cuts_late=cuts_late).plan if network in known else orders(trial).plan
        known.add(network)


def _profile(file: Path) -> str:
    from ...compare import published  # imports what computes

    profile = published.load(file)
    points = sum(len(each.points) for each in profile.series.values())
    counts = ((len(profile.facts), "fact"), (len(profile.series), "series"), (points, "point"))
    return ", ".join(("fine", *(counted(count, noun) for count, noun in counts)))


def _where(file: Path, may: Permission) -> str:
    """On which kernels it can run here. Raises UserError or MachineError if it can on none of those it asks for."""
    if is_profile(file):
        return ""
    from ...kernel.ready import feasibility  # imports all that examines a computer
    from ...trial import readiness

    if not is_scenario(file):
        topology = load_topology(file, may)
        check_kernels([file], kernels_of([topology]))
        return f", runs here on kernel {feasibility.place_for(topology, None)[0]}"
    trials = load_scenario(file, permission=may).trials()
    check_kernels(files_of(file).values(), kernels_of(trial.topology for trial in trials))
    check_lab_kernels(file, (trial.kernel for trial in trials))
    for asked, place in dict.fromkeys((trial.topology, trial.kernel.kind) for trial in trials):
        feasibility.refuse(asked, place)
    for workload, place in dict.fromkeys((trial.workload, trial.kernel.kind) for trial in trials):
        if workload.is_users_code:
            readiness.check_programs(workload, is_lab=place != "host")
    for trial in trials:
        readiness.check_bpf(trial, is_lab=trial.kernel.kind != "host")
    return ", runs here"
