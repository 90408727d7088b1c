"""`testbed machines`: prepares the real computers of a topology, and puts them back as they were."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError
from ...kernel.machine.playbook import play
from ...model.topology import Topology
from ...spec.load import is_scenario, load_scenario, load_topology

app = typer.Typer(
    help="Real computers over SSH: prepare them, look at them, and put them back as they were.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(metavar="TOPOLOGY", help="A topology or a scenario file with machines.")]


@app.command()
def prepare(file: File) -> None:
    """Install tools, load modules and change settings, all written down before; again, it changes nothing."""
    _play("prepare", _topology(file))


@app.command()
def restore(file: File) -> None:
    """Put back exactly what `prepare` changed, and what a trial that was killed left."""
    _play("restore", _topology(file))


@app.command()
def collect(
    file: File,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where NODE.json goes.")] = Path(
        "machines"
    ),
) -> None:
    """Write down what the machines are: kernel, CPU, NICs, drivers, offloads, settings. Changes nothing."""
    topology = _topology(file)
    output.mkdir(parents=True, exist_ok=True)
    _play("collect", topology, output, changes=False)
    print(f"machines: {output}")


def _topology(file: Path) -> Topology:
    topology = load_scenario(file).trials()[0].topology if is_scenario(file) else load_topology(file)
    if not any(node.kind.runs_in == "computer" for node in topology.nodes):
        raise UserError(f"{file} has no machine; allowed: a topology with nodes of type machine")
    return topology


def _play(name: str, topology: Topology, output: Path | None = None, changes: bool = True) -> None:
    began = time.monotonic()
    played = play(name, topology, output, tell=print)
    for host, count in played.changed.items() if changes else ():
        print(f"{host}: {f'{count} changed' if count else 'nothing to change'}")
    print(f"{name}: {len(played.changed)} machines, {time.monotonic() - began:.1f} s")
