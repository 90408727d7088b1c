"""`testbed up`: has a network stand, for people to work in."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ...error import UserError
from ...interactive.build import build
from ...interactive.starter import start
from ...kernel.ready import feasibility
from ...kernel.vm.named_kernels import check_names, names
from ...library import spec_file
from ...model.run_setting import Kernel
from ...spec.load import is_scenario, load_topology
from ...spec.syntax.scalar import NAME_ALLOWED, NAME_PATTERN


class Place(StrEnum):
    host = "host"
    lab_realtime = "lab-realtime"


def up(
    topology: Annotated[Path, typer.Argument(help="A topology file, or the name of one that comes with the testbed.")],
    kernel: Annotated[
        Place | None,
        typer.Option(help="This machine's kernel (root), or a lab kernel on the wall clock (left out: see below)."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", "-n", metavar="NAME", help="What to call it (the topology's name).")
    ] = None,
) -> None:
    """Have a network stand: `testbed shell NODE` works in it, `testbed down` takes it down.

    Without --kernel it is this machine's own for root where that can do what the topology needs, else lab-realtime.
    """
    topology = spec_file(topology)
    if is_scenario(topology):
        raise UserError(f"{topology} is a scenario; allowed: a topology file, such as the one it names")
    wanted = load_topology(topology)
    called = wanted.name if name is None else name
    if not re.fullmatch(NAME_PATTERN, called):
        raise UserError(f"--name {called!r} is no name of a network; allowed: {NAME_ALLOWED}")
    check_names([topology], names([wanted]))
    place, why = feasibility.place_for(wanted, None if kernel is None else kernel.value)
    made = build(wanted, Kernel(place))
    console = Console(stderr=True, highlight=False)
    for note in made.notes:
        console.print(note, soft_wrap=True)
    with console.status(f"{called}: kernel {place}") as screen:
        start(made, called, lambda step: screen.update(f"{called}: {step}"))
    print(f"{called} is up on kernel {place}{why}: {', '.join(node.name for node in wanted.nodes)}")
    node = next((node.name for node in wanted.nodes if node.kind.is_local_host), wanted.nodes[0].name)
    print(f"testbed shell {node} works in it, testbed status shows it, testbed down {called} ends it")
