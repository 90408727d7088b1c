"""`testbed plot`: figures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError


def plot(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `testbed run -o` wrote.")],
    kind: Annotated[
        str,
        typer.Argument(
            help="profile (goodput over RTT), windows (transfer by window), cuc (utilization-concavity coefficient), "
            "cdf, timeseries (inside a trial), heatmap (any two axes) or topology."
        ),
    ] = "profile",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A .png, .svg or .pdf (DIR/KIND.png).")
    ] = None,
    trial: Annotated[
        str | None,
        typer.Option(metavar="ID", help="timeseries: of this trial; or words of its name: flows=10,rtt=91ms."),
    ] = None,
    x: Annotated[str | None, typer.Option(metavar="KEY", help="heatmap: the axis across, such as rtt.")] = None,
    y: Annotated[str | None, typer.Option(metavar="KEY", help="heatmap: the axis down.")] = None,
    metric: Annotated[
        str | None, typer.Option(help="cdf: a metric of `testbed compare`, or of all samples: srtt, rate.")
    ] = None,
) -> None:
    """Draw a figure of a run. Its caption says what is needed to repeat it."""
    from ...report.figure import (  # matplotlib takes a second to import, which no other command should pay for
        KINDS,
        draw,
    )
    from ...report.figure.option import Options
    from ...report.stored_run import read

    for option, of, value in (("--trial", "timeseries", trial), ("--x", "heatmap", x), ("--y", "heatmap", y),
                              ("--metric", "cdf", metric)):  # fmt: skip
        if value is not None and kind != of and kind in KINDS:
            raise UserError(f"{option} is for {of}; allowed: {kind} without it")
    path = output or folder / f"{kind}.png"
    draw(kind, read(folder), path, Options(trial, x, y, metric))
    print(path)
