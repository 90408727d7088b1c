"""`testbed plot`: figures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError

EXAMPLES = (
    ("Draw goodput over RTT", "testbed plot results/quickstart"),
    ("Draw what happened inside a trial, for a paper",
     "testbed plot results/quickstart timeseries --trial ID -o figure.pdf"),
    ("Draw goodput over the round-trip time under load, a point for each trial",
     "testbed plot results/bufferbloat-class tradeoff"),
    ("Draw the mean of each cell over two axes", "testbed plot results/quickstart heatmap --x rtt --y loss"),
)  # fmt: skip


def plot(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="profile (goodput over RTT), windows (transfer by window), cuc (utilization-concavity coefficient), "
            "cdf, fct (flow completion times), tradeoff (goodput over another metric), timeseries (inside a trial), "
            "heatmap (over two axes) or topology; profile if left out.",
        ),
    ] = "profile",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="A .png, .svg or .pdf file; DIR/KIND.png if left out."),
    ] = None,
    trial: Annotated[
        str | None,
        typer.Option(metavar="ID", help="timeseries: the trial, by its id or values of it, such as flows=10,rtt=91ms."),
    ] = None,
    x: Annotated[str | None, typer.Option(metavar="KEY", help="heatmap: the horizontal axis, such as rtt.")] = None,
    y: Annotated[str | None, typer.Option(metavar="KEY", help="heatmap: the vertical axis.")] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help="cdf: a metric of `testbed compare`, or srtt or rate, over all samples; tradeoff: a metric, rtt-p95 "
            "if left out.",
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS", help="Only the trials with these values, as tables show them: 'rtt=91 ms, flows=10'."
        ),
    ] = None,
) -> None:
    """The caption of the figure says how to repeat it."""
    from ...report.figure import (  # matplotlib takes a second to import, which no other command should pay for
        KINDS,
        draw,
    )
    from ...report.figure.option import Options
    from ...report.stored_run import read
    from ...trial.folder import write_bytes, write_named

    for option, of, value in (("--trial", ("timeseries",), trial), ("--x", ("heatmap",), x), ("--y", ("heatmap",), y),
                              ("--metric", ("cdf", "tradeoff"), metric)):  # fmt: skip
        if value is not None and kind not in of and kind in KINDS:
            raise UserError(f"{option} is for {' and '.join(of)}; allowed: {kind} without it")
    path = output or folder / f"{kind}.png"
    write = write_named if output else write_bytes  # the folder is perhaps not ours, nor is a link of this name
    draw(kind, read(folder), path, Options(trial, x, y, metric, where), write)
    print(path)
