"""`testbed report`: writes everything about a run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError

EXAMPLES = (
    ("Write results/quickstart/report.html", "testbed report results/quickstart"),
    ("Compare with a profile of your own in it", "testbed report results/quickstart --profile mine.yaml"),
    ("Write it elsewhere", "testbed report results/quickstart -o /tmp/quickstart.html"),
    ("Show each ACK of a trial with `samples: acks`, beside that of another run",
     "testbed report results/mine --acks cubic,seed=1 --beside results/before"),
)  # fmt: skip


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file to write; DIR/report.html if left out."),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROFILE",
            help="Compare with this profile too, published or your own: NAME, FILE or NAME#SERIES; may be repeated.",
        ),
    ] = None,
    acks: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Write DIR/acks.html instead: each ACK of this trial, by its id or a part of it, such as "
            "flows=10,rtt=91ms.",
        ),
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --acks: the run with the same trial to draw on the same axes."),
    ] = None,
    between: Annotated[
        str | None, typer.Option(metavar="S,S", help="With --acks: only this part of the time, such as 2,2.5.")
    ] = None,
) -> None:
    """The page opens in any browser, without a server and without a network."""
    if acks is not None:
        _write(_acks(folder, acks, beside, between), output, folder / "acks.html")
        return
    if beside is not None or between is not None:
        raise UserError("--beside and --between are for --acks; allowed: --acks ID with them")
    from ...compare import published
    from ...report.page import page  # SciPy takes a second to import, which no other command should pay for
    from ...report.stored_run import read
    from ...report.view import view

    text = page(view(read(folder), profiles=[published.find(each) for each in profile or []]))
    _write(text, output, folder / "report.html")


def _acks(folder: Path, named: str, beside: Path | None, between: str | None) -> str:
    from ...report import ack_page
    from ...report.figure.option import Options, chosen_trial
    from ...report.stored_run import read

    run = read(folder)
    id = chosen_trial(run, Options(trial=named)).id
    sides = [ack_page.Side(run.name if beside is None else folder.name, run.folder(id))]
    if beside is not None:
        other = read(beside)
        if id not in {each.id for each in other.results}:
            raise UserError(f"{beside} has no trial {id}; allowed: a run with the same trial")
        label = beside.name if beside.name != folder.name else str(beside)
        sides.insert(0, ack_page.Side(label, other.folder(id)))
    return ack_page.page(id, sides, None if between is None else _times(between))


def _times(text: str) -> tuple[float, float]:
    try:
        first, last = map(float, text.split(","))
    except ValueError:
        first = last = 0.0
    if not first < last:
        raise UserError(f"--between {text}: no part of the time; allowed: two times in s, such as 2,2.5")
    return first, last


def _write(text: str, output: Path | None, usual: Path) -> None:
    from ...trial.folder import write_named, write_text

    path = output or usual
    try:
        if output is None:
            write_text(path, text)  # the folder is perhaps not ours, nor is a link of this name
        else:
            write_named(path, text)
    except OSError as error:
        raise UserError(
            f"the report {path} cannot be written: {error.strerror}; allowed: -o with a file that can"
        ) from None
    print(path)
