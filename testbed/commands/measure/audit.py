"""`testbed audit`: repeats a random sample of a run's trials, and says whether the bytes are the same."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ...error import visible
from ...sweep import audit as auditing
from ...sweep import run as sweep
from ...sweep.store import Store
from .. import option_rule
from ..result_table import Format
from ..screen import Screen
from ..terminal import Terminal, say
from ..text_table import paragraph, terminal_width
from . import cluster_option

if TYPE_CHECKING:
    from ...sweep.cluster.place import Cluster

EXIT_CODES = {"same": 0, "different": 1, "cannot tell": 5}

EXAMPLES = (
    ("Repeat 20 trials of a run, drawn at random", "testbed audit results/quickstart"),
    ("Repeat the sample of another audit", "testbed audit results/quickstart --sample 5 --seed 7"),
    ("Repeat them on other computers", "testbed audit results/quickstart --on tcp://scheduler:8786"),
    ("See what a difference may come from", "testbed doctor --same-as results/quickstart"),
)


def audit(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    sample: Annotated[int, typer.Option(min=1, metavar="N", help="How many trials to repeat.")] = 20,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Draw the sample by this seed; if left out, by chance.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many trials run at the same time.")
    ] = os.cpu_count() or 1,
    on: Annotated[str | None, typer.Option(metavar="WHERE", help=cluster_option.ON)] = None,
    any_worker: Annotated[bool, typer.Option("--any-worker", help=cluster_option.ANY_WORKER)] = False,
    format: Annotated[Format, typer.Option(metavar="table|json", help="The format of the output.")] = Format.table,
) -> None:
    """The trials run on this computer, or with --on on a cluster, and every file but host.json counts. The outcome is
    kept in DIR/audit.json; `testbed results` and `testbed report` show it. Trials in real time never repeat to the
    byte and are left out.

    The exit code is 0 if all of the sample are the same, 1 if any differs, 5 if any could not be repeated, or all
    trials are left out.
    """
    option_rule.refuse(option_rule.given_in(context), (cluster_option.OF_CLUSTER,))
    console = Terminal()
    place = cluster_option.place(on, any_worker, console, is_fresh=True)
    found = auditing.audit(Store(folder), sample, seed, repeating(jobs, console, place))
    if format is Format.json:
        print(json.dumps({**asdict(found), "verdict": found.verdict}, indent=1))
    else:
        _print(found, folder, console)
    if code := EXIT_CODES[found.verdict]:
        raise typer.Exit(code)


def repeating(jobs: int, console: Console, place: Cluster | None = None) -> auditing.Repeat:
    """Carries out the trials of a sample on this computer, or in `place`, and shows how far it is."""

    def repeat(prepared: sweep.Sweep) -> sweep.Summary:
        if place is not None and prepared.waiting:
            place.check(prepared.waiting)
        width = jobs if place is None else place.width
        with Screen(console, len(prepared.waiting), None, width) as screen:
            return sweep.run(prepared, jobs, screen, place)

    return repeat


def tell_software(differences: Iterable[str]) -> None:
    """Prints them, each once."""
    if said := "; ".join(dict.fromkeys(differences)):
        print(f"software then → now: {visible(said)}")


def _print(found: auditing.Audit, folder: Path, console: Console) -> None:
    for each in found.trials:
        if each.outcome == "different":
            say(console, ("different", "red"), f" {each.id}: {visible(', '.join(each.files))}")
        if each.outcome == "not repeated":
            say(console, ("not repeated", "red"), f" {each.id}: {visible(each.why or '')}")
    away = sorted({each.computer for each in found.trials if each.computer not in (None, found.computer)}, key=str)
    if away:
        print(f"repeated on: {visible(', '.join(map(str, away)))}")
    tell_software(said for each in found.trials for said in each.software)
    if not found.trials:
        print("all trials ran in real time, which no repetition matches byte for byte: nothing was audited")
    print(paragraph(found.in_words(), terminal_width()))
    print(
        f"stored in {folder / auditing.FILE}; the same sample again: --sample {len(found.trials)} --seed {found.seed}"
    )
