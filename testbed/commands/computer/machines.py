"""`testbed machines`: prepares the real computers of a topology, and puts them back as they were."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ...error import UserError
from ...kernel.machine.playbook import inventory, play
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
    _play("prepare", _topologies(file, allow_file))


@app.command(
    cls=Command,
    epilog=examples(("Undo what was prepared", "testbed machines restore topologies/machines.yaml")),
)
def restore(file: File, allow_file: AllowFile = None) -> None:
    """Undo what `prepare` changed.

    It also removes the remains of killed trials on the computers.
    """
    _play("restore", _topologies(file, allow_file))


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
    topologies = _topologies(file, allow_file)
    make_own(output)
    _play("collect", topologies, output, changes=False)
    print(f"machines: {output}")


def _topologies(file: Path, allow_file: list[Path] | None) -> tuple[Topology, ...]:
    """Those of a file that have machines, without those whose machines are as in one before."""
    file, may = spec_file(file), permitted(allow_file or ())
    if is_scenario(file):
        found = [cell.topology for cell in load_scenario(file, permission=may).cells]
    else:
        found = [load_topology(file, may)]
    wanted: list[dict[str, Any]] = []
    topologies = []
    for topology in found:
        asked = inventory(topology)
        if asked["machines"]["hosts"] and asked not in wanted:
            wanted.append(asked)
            topologies.append(topology)
    if not topologies:
        raise UserError(f"{file} has no machine; allowed: a topology with nodes of type machine")
    return tuple(topologies)


def _play(name: str, topologies: tuple[Topology, ...], output: Path | None = None, changes: bool = True) -> None:
    began = time.monotonic()
    names: set[str] = set()
    for topology in topologies:
        played = play(name, topology, output, tell=print)
        names |= played.changed.keys()
        for host, count in played.changed.items() if changes else ():
            print(f"{host}: {f'{count} changed' if count else 'nothing to change'}")
    print(f"{name}: {len(names)} machines, {time.monotonic() - began:.1f} s")
