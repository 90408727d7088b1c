"""`testbed pingall`: pings from every host of a running network to every other."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from ...error import UserError
from ...interactive import reachability
from ...interactive.reachability import Pinged
from ...interactive.running_network import choose
from ..text_table import Column, Format, FormatOption, Table, show, terminal_width

COLUMNS = (
    Column("from", names=True),
    Column("to", names=True),
    Column("sent", right=True),
    Column("received", right=True),
    Column("rtt ms", right=True),
)

EXAMPLES = (
    ("See which hosts reach which", "testbed pingall"),
    ("Three pings for each pair, for a program", "testbed pingall wan --count 3 --format json"),
)


def pingall(
    name: Annotated[
        str | None, typer.Argument(metavar="NETWORK", help="A running network; the only one if left out.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many pings for each pair.")] = 1,
    format: FormatOption = Format.table,
) -> None:
    """The exit code is 1 if any ping was not answered within 2 s. The first ping between two hosts also waits for their
    switches to learn.
    """
    network = choose(name)
    hosts = reachability.hosts(network)
    if len(hosts) < 2:
        raise UserError(f"{network.name} has no two hosts with addresses; allowed: a network with two")
    found: list[Pinged] = []
    for source in hosts:
        found += reachability.pings(network, source, (each for each in hosts if each != source), count)
    if format is Format.json:
        print(json.dumps([asdict(each) for each in found], indent=1))
    else:
        show(Table(COLUMNS, tuple(map(_row, found))).lines(terminal_width()))
        lost = sum(not each.is_reached for each in found)
        print(f"{len(found) - lost} of {len(found)} pairs reach each other" + (f"; {lost} do not" if lost else ""))
    raise typer.Exit(0 if all(each.is_reached for each in found) else 1)


def _row(each: Pinged) -> tuple[str, ...]:
    rtt = "-" if each.rtt_ms is None else f"{each.rtt_ms:.3f}"
    return each.source, each.destination, str(each.sent), str(each.received), rtt
