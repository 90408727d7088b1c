"""`testbed mininet`: runs a Mininet script, unchanged, in a lab kernel."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ...error import MachineError, UserError, ValueRefused
from ...interactive import mininet_guest
from ...interactive.mininet_script import (
    Script,
    attend,
    batch,
    check_empty,
    refuse_endless,
    script,
    stand,
    without_effect,
)
from ...kernel import confinement
from ...kernel.ready import probe
from ...units import parse_size
from ..foreign_code import AllowCode
from ..terminal import Terminal, say

SETTINGS = {"context_settings": {"allow_interspersed_args": False}}
"""Options after the script are those of the script."""
EXAMPLES = (
    ("Run a script that builds a network and opens Mininet's CLI", "testbed mininet mynet.py"),
    ("Use Mininet's own command", "testbed mininet mn --topo tree,2 --test pingall"),
    ("Run a script in virtual time, and keep the files that it writes", "testbed mininet --virtual -o out mynet.py"),
    ("Open a shell in the guest of a running script, and in a node", "testbed shell mininet"),
)
NEEDED = ("lab kernel", "Open vSwitch", "Mininet")


def mininet(
    file: Annotated[str, typer.Argument(metavar="SCRIPT", help="A Python file, or mn: Mininet's own command.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGS]...", help="The arguments of the script.")
    ] = None,
    virtual: Annotated[
        bool,
        typer.Option(
            "--virtual",
            help="Run it in virtual time; its input must be complete when it starts, and an iperf needs a rate.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Copy the files that the script writes into this folder."),
    ] = None,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="The most memory of the guest; only used pages take memory.")
    ] = f"{mininet_guest.MEMORY_BYTES >> 20} MiB",
    allow_code: AllowCode = False,
) -> None:
    """The script is root in a lab kernel of its own, and needs no rights here. It can read its folder; files that it
    writes there stay in the guest, unless you give a folder for them. Its input, output and exit code are this
    command's; `m NODE` in `testbed shell mininet` opens a shell in a node.
    """
    wanted = script(file, arguments or ())
    memory_bytes = _bytes(memory)
    if not confinement.method().holds and not allow_code:
        why = "nothing confines guests on this computer (testbed doctor)"
        raise UserError(f"{file} would run, and {why}; allowed: --allow-code, if you trust it")
    _check()
    if output is not None:
        check_empty(output)
    if (lacks := without_effect(wanted)) is not None:
        say(Terminal(), ("warning", "yellow"), f": {lacks}")
    raise typer.Exit(_run(wanted, memory_bytes, output, virtual=virtual))


def _run(wanted: Script, memory_bytes: int, output: Path | None, *, virtual: bool) -> int:
    if virtual:
        text = "" if sys.stdin.isatty() else sys.stdin.read()
        refuse_endless(wanted, text)
        return batch(wanted, memory_bytes, output, text)
    with Terminal().status(Text("a lab kernel starts")) as screen:
        network = stand(wanted, memory_bytes, lambda step: screen.update(Text(f"a lab kernel starts: {step}")))
    return attend(network, wanted, output)


def _bytes(text: str) -> int:
    try:
        return parse_size(text)
    except ValueRefused as refused:
        raise UserError(f"--memory {refused}") from None


def _check() -> None:
    """Raises MachineError for what this computer lacks."""
    for need in NEEDED:
        lacks = probe.lacking(need)
        if lacks is not None:
            raise MachineError(lacks.what, lacks.fix)
