"""`testbed plan`: the exact script that builds a network, and nothing done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError
from ...library import spec_file
from ...plan import network as planning
from ...spec.load import is_scenario, load_scenario, load_topology
from ...trial.orders.sequence import orders


def plan(
    file: Annotated[
        Path, typer.Argument(help="A topology or a scenario file, or the name of one that comes with the testbed.")
    ],
    trial: Annotated[str | None, typer.Option(help="Which trial of a scenario, by its id (the first one).")] = None,
    list_trials: Annotated[
        bool, typer.Option("--list", help="Print the ids of the scenario's trials instead.")
    ] = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the scenario.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The quick size of the scenario.")] = False,
) -> None:
    """Print the commands that build the network, as a script for a root shell, and stop there."""
    file = spec_file(file)
    if not is_scenario(file):
        print(planning.plan(load_topology(file)).script(), end="")
        return
    trials = load_scenario(file, settings or [], quick).trials()
    if list_trials:
        print("\n".join(each.id for each in trials))
        return
    chosen = next((each for each in trials if trial in (None, each.id)), None)
    if chosen is None:
        raise UserError(f"{file} has no trial {trial!r}; allowed: one of `testbed plan {file} --list`")
    print(f"# {chosen.id} (1 of {len(trials)} trials of {file})")
    print(orders(chosen).script, end="")
