"""`testbed plan`: prints the script that builds a network, and runs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError, did_you_mean
from ...library import spec_file
from ...plan import network as planning
from ...plan.command import comment
from ...spec.load import is_scenario, load_scenario, load_topology
from ...spec.syntax.attachment import permitted
from ...trial.orders.remark import remarks
from ...trial.orders.sequence import orders
from ..foreign_code import AllowFile

EXAMPLES = (
    ("Print the script of a topology", "testbed plan wan"),
    ("List the trials of a scenario", "testbed plan quickstart --list"),
    (
        "Print the script of its first trial, with another RTT",
        "testbed plan quickstart --set path.rtt='50 ms'",
    ),
)


def plan(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|NAME",
            help="A topology or scenario file, or the name of one that comes with the testbed (testbed list).",
        ),
    ],
    trial: Annotated[
        str | None, typer.Option(metavar="ID", help="The trial of a scenario; the first one if left out.")
    ] = None,
    list_trials: Annotated[bool, typer.Option("--list", help="Print the ids of the trials instead.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key or an axis of the scenario; may be repeated."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Take the quick size of the scenario.")] = False,
    allow_file: AllowFile = None,
) -> None:
    """The script can be pasted into a root shell. For a scenario it is the script of one trial."""
    file, may = spec_file(file), permitted(allow_file or ())
    if not is_scenario(file):
        print(planning.plan(load_topology(file, may)).script(), end="")
        return
    trials = load_scenario(file, settings or [], quick, may).trials()
    if list_trials:
        print("\n".join(each.id for each in trials))
        return
    chosen = next((each for each in trials if trial in (None, each.id)), None)
    if chosen is None:
        meant = did_you_mean(trial or "", [each.id for each in trials])
        raise UserError(f"{file} has no trial {trial!r}; allowed: one of `testbed plan {file} --list`{meant}")
    print(comment(f"{chosen.id} (1 of {len(trials)} trials of {file})"), end="")
    made = orders(chosen)
    print(made.script, end="")
    for _, what, hint in remarks(chosen, made.plan):
        print(comment(f"remark: {what} ({hint})"), end="")
