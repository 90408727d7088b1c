"""`testbed path`: a topology of the path between two regions of clouds, from what others measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ... import units
from ...compare import cloud_path
from ...error import UserError, ValueRefused
from ...trial.folder import write_named

EXAMPLES = (
    ("Write a topology of a path between two instances with a token bucket",
     "testbed path aws:us-east-1 aws:eu-west-1 --instance c5.xlarge --rtt 85ms"),
    ("Take RTT and rates from Skyplane's measurements",
     "testbed path aws:us-east-1 gcp:us-east1 --grid skyplane/profiles"),
    ("Write all of these as a profile for testbed compare", "testbed path --grid skyplane/profiles > skyplane.yaml"),
)  # fmt: skip


def path(
    source: Annotated[
        str | None, typer.Argument(metavar="FROM", help="A region with its provider, such as aws:us-east-1.")
    ] = None,
    destination: Annotated[str | None, typer.Argument(metavar="TO", help="Another region.")] = None,
    instance: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="The type of both instances of EC2, such as c5.xlarge: its token bucket."),
    ] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help="The RTT, where no grid is given.")] = None,
    grid: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="A folder with throughput.csv and latency.csv of Skyplane, of which each row counts."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file, and not to the screen.")
    ] = None,
) -> None:
    """Each number has a comment: the file and line that it is from, and what it is worth. Without regions, prints the
    whole grid as a profile.
    """
    text = _text(source, destination, instance, _ns(rtt), None if grid is None else cloud_path.read_grid(grid))
    if output is None:
        print(text, end="")
    else:
        write_named(output, text)


def _ns(rtt: str | None) -> int | None:
    if rtt is None:
        return None
    try:
        found = units.parse_time(rtt)
    except ValueRefused as refused:
        raise UserError(f"--rtt {rtt}: {refused.what}; allowed: {refused.allowed}") from None
    if not found:
        raise UserError(f"--rtt {rtt}: allowed: a time above 0")
    return found


def _text(
    source: str | None, destination: str | None, instance: str | None, rtt_ns: int | None, grid: cloud_path.Grid | None
) -> str:
    if grid is not None and rtt_ns is not None:
        raise UserError("--rtt and --grid: the grid has the RTT; allowed: one of the two")
    if source is None or destination is None:
        if grid is None or source is not None or instance is not None:
            raise UserError("two regions are missing; allowed: FROM and TO, or --grid FOLDER alone for all pairs")
        return cloud_path.joined(grid)
    if grid is None and rtt_ns is None:
        raise UserError(
            f"the RTT from {source} to {destination} does not come with the testbed; allowed: --rtt TIME, or --grid "
            "FOLDER with the files of Skyplane (github.com/skyplane-project/skyplane at commit d3d50e1f, "
            "folder profiles)"
        )
    if instance is not None:
        rtt = cloud_path.given(rtt_ns) if rtt_ns is not None else _grid_rtt(grid, source, destination)
        return cloud_path.of_instance(source, destination, rtt, instance)
    if grid is not None:
        return cloud_path.of_grid(grid, source, destination)
    assert rtt_ns is not None, "BUG: neither an RTT nor a grid"
    return cloud_path.of_curve(source, destination, rtt_ns)


def _grid_rtt(grid: cloud_path.Grid | None, source: str, destination: str) -> cloud_path.Known:
    assert grid is not None, "BUG: neither an RTT nor a grid"
    return grid.rtt(source, destination)
