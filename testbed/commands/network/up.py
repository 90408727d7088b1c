"""`testbed up`: starts a network that people work in, and keeps it running."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ...codec.scalar import NAME_ALLOWED, NAME_PATTERN
from ...error import SpecError, UserError
from ...interactive.build import build
from ...interactive.overview import await_routers, lacking
from ...interactive.running_network import RunningNetwork
from ...interactive.starter import start
from ...kernel.ready import feasibility
from ...kernel.ready.named import check_kernels, kernels_of, older_kernels
from ...library import spec_file
from ...model.network_need import vm_faults
from ...model.run_setting import Kernel
from ...model.topology import Topology
from ...plan.node import frr
from ...spec.load import is_scenario, load_topology, read
from ...spec.mininet_import import without_effect
from ...spec.syntax.attachment import Folder, permitted
from .. import foreign_code
from ..foreign_code import AllowCode, AllowFile
from ..terminal import Terminal, say

EXAMPLES = (
    ("Start a network that comes with the testbed, and work in it", "testbed up wan; testbed shell client"),
    ("Start a second one from the same file", "testbed up wan --name other"),
    ("Start a network of yours in a lab kernel, without root", "testbed up net.yaml --kernel lab-realtime"),
)


class Place(StrEnum):
    host = "host"
    lab_realtime = "lab-realtime"


def up(
    topology: Annotated[
        Path, typer.Argument(metavar="TOPOLOGY", help="A topology file, or the name of one (testbed list topologies).")
    ],
    kernel: Annotated[
        Place | None,
        typer.Option(help="The kernel of this computer, which takes root, or a lab kernel in real time."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", "-n", metavar="NAME", help="The name of the network; the topology's if left out."),
    ] = None,
    schedule: Annotated[
        bool, typer.Option("--schedule", help="Begin the schedules of links as soon as the network is up.")
    ] = False,
    allow_code: AllowCode = False,
    allow_file: AllowFile = None,
) -> None:
    """`testbed shell` and `testbed exec` work in it, and `testbed down` stops it.

    Without --kernel, root gets the kernel of this computer if that can do all that the topology needs; everybody else
    gets lab-realtime.
    """
    topology = spec_file(topology)
    if is_scenario(topology):
        raise UserError(f"{topology} is a scenario; allowed: a topology file, such as the one it names")
    if allow_code:
        foreign_code.allow()
    may = permitted(allow_file or ())
    wanted = load_topology(topology, may)
    called = wanted.name if name is None else name
    if not re.fullmatch(NAME_PATTERN, called):
        raise UserError(f"--name {called!r} cannot be the name of a network; allowed: {NAME_ALLOWED}")
    check_kernels([topology], kernels_of([wanted]))
    place, why = feasibility.place_for(wanted, None if kernel is None else kernel.value)
    if not allow_code:
        foreign_code.refuse_unconfined(str(topology), [(wanted, None, Kernel(place))])
    if faults := tuple(vm_faults(wanted, Kernel(place))):
        raise SpecError(read(topology).problems(faults))
    made = build(wanted, Kernel(place))
    feasibility.refuse_programs(made.steps, place)
    console = Terminal()
    if schedule and made.timeline is None:
        raise UserError(f"{topology}: no link has a schedule with times; allowed: a link with one, or no --schedule")
    said = without_effect(read(topology), Folder.of(topology, may))
    for what in older_kernels([Kernel(place)]):
        say(console, ("warning", "yellow"), f": {what}")
    for note in (*said, *(() if schedule else made.notes)):
        say(console, note)
    with console.status(Text(f"{called}: kernel {place}")) as screen:
        network = start(
            made, called, topology, lambda step: screen.update(Text(f"{called}: {step}")), schedule=schedule
        )
        screen.update(Text(f"{called}: routers find one another"))
        missing = _awaited(network, wanted)
    print(f"{called} is up on kernel {place}{why}: {', '.join(node.name for node in wanted.nodes)}")
    node = next((node.name for node in wanted.nodes if node.kind.is_local_host), wanted.nodes[0].name)
    for what in missing:
        say(console, ("warning", "yellow"), f": {what}; testbed status says when it is there")
    print(f"work in it: testbed shell {node}; look at it: testbed status; stop it: testbed down {called}")


def _awaited(network: RunningNetwork, wanted: Topology) -> tuple[str, ...]:
    """What routers miss after as long as their file has a trial wait for them (`within`)."""
    limits = {node.name: each.within_ns for node, each in frr.routers(wanted) if each.within_ns is not None}
    return await_routers(lambda: lacking(network, [*limits]), max(limits.values(), default=0) / 1e9)
