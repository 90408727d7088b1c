"""`testbed machines`: prepares the real computers of a topology, and puts them back as they were."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError
from ...kernel.machine.playbook import play
from ...library import spec_file
from ...model.topology import Topology
from ...spec.load import is_scenario, load_scenario, load_topology
from ...spec.syntax.attachment import permitted
from ...trial.strict_folder import make_own
from ..foreign_code import AllowFile
from ..help_page import Command, examples, group

app = group(
    "The computers are the nodes of type machine in a topology; inventory.yml says how to reach them.",
    ("Prepare the computers of a topology", "testbed machines prepare topologies/machines.yaml"),
    ("Undo what was prepared", "testbed machines restore topologies/machines.yaml"),
)

File = Annotated[
    Path, typer.Argument(metavar="FILE|NAME", help="A topology or scenario file with nodes of type machine.")
]


@app.command(
    cls=Command,
    epilog=examples(("Prepare the computers of a topology", "testbed machines prepare topologies/machines.yaml")),
)
def prepare(file: File, allow_file: AllowFile = None) -> None:
    """Install tools, load modules and change settings.

    Each value is recorded before it is changed, so that `restore` can undo it. Doing it twice changes nothing.
    """
    _play("prepare", _topology(file, allow_file))


@app.command(
    cls=Command,
    epilog=examples(("Undo what was prepared", "testbed machines restore topologies/machines.yaml")),
)
def restore(file: File, allow_file: AllowFile = None) -> None:
    """Undo what `prepare` changed.

    It also removes the remains of killed trials on the computers.
    """
    _play("restore", _topology(file, allow_file))


@app.command(
    cls=Command,
    epilog=examples(
        ("Write machines/NODE.json for each computer", "testbed machines collect topologies/machines.yaml"),
        ("Write the files elsewhere", "testbed machines collect topologies/machines.yaml -o facts"),
    ),
)
def collect(
    file: File,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where the files NODE.json go.")] = Path(
        "machines"
    ),
    allow_file: AllowFile = None,
) -> None:
    """Record the kernel, CPU, NICs, drivers, offloads and settings.

    Nothing on the computers changes.
    """
    topology = _topology(file, allow_file)
    make_own(output)
    _play("collect", topology, output, changes=False)
    print(f"machines: {output}")


def _topology(file: Path, allow_file: list[Path] | None) -> Topology:
    file, may = spec_file(file), permitted(allow_file or ())
    if is_scenario(file):
        topology = load_scenario(file, permission=may).trials()[0].topology
    else:
        topology = load_topology(file, may)
    if not any(node.kind.runs_in == "computer" for node in topology.nodes):
        raise UserError(f"{file} has no machine; allowed: a topology with nodes of type machine")
    return topology


def _play(name: str, topology: Topology, output: Path | None = None, changes: bool = True) -> None:
    began = time.monotonic()
    played = play(name, topology, output, tell=print)
    for host, count in played.changed.items() if changes else ():
        print(f"{host}: {f'{count} changed' if count else 'nothing to change'}")
    print(f"{name}: {len(played.changed)} machines, {time.monotonic() - began:.1f} s")
