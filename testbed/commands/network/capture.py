"""`testbed capture`: writes the packets at points of a running network, for Wireshark."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from ... import process
from ...error import UserError
from ...interactive.running_network import choose
from ...interactive.tapping import Tap, points, refuse_other_computers
from ...trial import trusted_path
from ...units import counted
from .exec import OfNode

EXAMPLES = (
    ("Watch both ends of a router in Wireshark", "testbed capture router --wireshark"),
    ("Save what two nodes see of a link's traffic", "testbed capture s1:trunk s2:trunk -w trunk.pcapng"),
    ("Give it to another program, such as Wireshark over SSH", "testbed capture s1 | tcpdump -n -r -"),
    ("Ten packets of ARP or ping", "testbed capture a -w a.pcapng -c 10 --filter 'arp or icmp'"),
)
WIRESHARK = ("wireshark", "-k", "-i", "-")


def capture(
    at: Annotated[
        list[str],
        typer.Argument(metavar="NODE[:LINK]...", help="A node with all its ports, or its port on a link."),
    ],
    output: Annotated[Path | None, typer.Option("-w", "--write", metavar="FILE", help="A new file in pcapng.")] = None,
    wireshark: Annotated[bool, typer.Option("--wireshark", help="Show it in Wireshark, live.")] = False,
    count: Annotated[int | None, typer.Option("-c", "--count", min=1, metavar="N", help="End after N packets.")] = None,
    filter: Annotated[
        str | None, typer.Option("--filter", "-f", metavar="EXPRESSION", help="Only what this filter of tcpdump takes.")
    ] = None,
    name: OfNode = None,
) -> None:
    """Ctrl-C ends it. Without -w and --wireshark it writes to a pipe.

    One file has all points, each with its name (NODE:LINK) as an interface. Hosts with `nic: offload` send
    superpackets, which are larger than their link's MTU; with `nic: plain` each packet is seen.
    """
    if output is not None and wireshark:
        raise UserError("-w and --wireshark at the same time; allowed: one of them (Wireshark can save what it shows)")
    if output is None and not wireshark and sys.stdout.isatty():
        raise UserError("a terminal shows no packets; allowed: -w FILE, --wireshark, or a pipe: … | tcpdump -n -r -")
    network = choose(name, at[0].partition(":")[0])
    listened = points(network, at)
    refuse_other_computers(network, listened)
    with ExitStack() as stack:
        tap = stack.enter_context(Tap(network, listened, () if filter is None else (filter,)))
        tap.begin()
        target = _target(output, wireshark, stack)
        said = ", ".join(each.name for each in listened)
        print(f"capturing at {said}; Ctrl-C ends it", file=sys.stderr)

        def write(data: bytes) -> None:
            target.write(data)
            target.flush()

        write(tap.head())
        done = tap.copy(write, count)
    missed = "it is not known how many were missed" if done.missed is None else f"{done.missed} missed"
    print(f"{counted(done.packets, 'packet')}, {missed}", file=sys.stderr)


def _target(output: Path | None, wireshark: bool, stack: ExitStack) -> BinaryIO:
    if wireshark:
        shown = stack.enter_context(process.start(WIRESHARK, stdin=process.PIPE))
        assert shown.stdin is not None, "BUG: a process without a pipe"
        return shown.stdin  # type: ignore[return-value]
    if output is None:
        return sys.stdout.buffer
    if output.exists():
        raise UserError(f"{output} exists; allowed: a new file")
    return stack.enter_context(trusted_path.named(output).open("xb"))
