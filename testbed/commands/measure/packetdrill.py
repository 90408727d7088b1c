"""`testbed packetdrill`: runs packetdrill's scripts in lab kernels."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ...compare import drill
from ...compare.drill import Drilled
from ...error import UserError, harmless
from ...kernel import packetdrill as kernels
from ...kernel.image.cache import find
from ...trial.folder import write_named
from ..terminal import Terminal, say

EXAMPLES = (
    ("Run the scripts of a tree of Linux; the first time, name packetdrill's source",
     "testbed packetdrill ~/linux --source ~/packetdrill"),
    ("Find the scripts that your change fails and Linux without it passes",
     "testbed packetdrill ~/linux --kernel mine --base linux-7.3.4"),
    ("Write a file for a build server", "testbed packetdrill tests/ --format junit -o packetdrill.xml"),
)  # fmt: skip


class Format(StrEnum):
    table = "table"
    junit = "junit"
    ktap = "ktap"


class Ip(StrEnum):
    v4 = "ipv4"
    v6 = "ipv6"
    mapped = "ipv4-mapped-ipv6"


def packetdrill(
    scripts: Annotated[
        list[Path],
        typer.Argument(
            metavar="TREE|FILE", help="Trees of Linux, whose selftests have scripts, folders of scripts, or scripts."
        ),
    ],
    kernel: Annotated[
        str | None, typer.Option(metavar="NAME", help="The lab kernel to test; the default one if left out.")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Also run them in this lab kernel; what fails there, too, is no failure."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The source of packetdrill, to build it from; if left out, what was built last."
        ),
    ] = None,
    ip: Annotated[
        list[Ip] | None, typer.Option(help="Only this version of IP; may be repeated. All three if left out.")
    ] = None,
    tolerance: Annotated[
        int | None,
        typer.Option(min=1, metavar="MICROSECONDS", help="By how much events may be late; packetdrill's if left out."),
    ] = None,
    format: Annotated[Format, typer.Option(help="The format of what is printed.")] = Format.table,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to this file instead.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many lab kernels run at the same time.")
    ] = os.cpu_count() or 1,
) -> None:
    """Runs each script in a network namespace of its own, in virtual time, with each version of IP, as the kernel's own
    selftests do.

    The exit code is 1 if one fails, or the kernel warns or oopses meanwhile; with --base only for what passes there.
    """
    wanted = kernels.cases(scripts, tuple(each.value for each in ip or Ip))
    images = [find(kernel), *([] if base is None else [find(base)])]
    if len({image.path for image in images}) < len(images):
        what = f"--base is the kernel {images[0].name}, which is the candidate, too: every failure would be a known one"
        raise UserError(f"{what}; allowed: another kernel (testbed kernel list)")
    program = kernels.program(source, jobs)
    options = () if tolerance is None else (f"--tolerance_usecs={tolerance}",)
    console = Terminal()
    sides = []
    for image in images:
        say(console, f"{len(wanted)} scripts in {image.name}")
        sides.append(kernels.run(image, program, wanted, jobs, options))
    before = sides[-1] if base is not None else (None,) * len(wanted)
    found = [
        Drilled(one.case.name, one.wrong, one.lab_s, None if other is None else other.wrong)
        for one, other in zip(sides[0], before, strict=True)
    ]
    base_name = None if base is None else images[-1].name
    _write(found, images[0].name, base_name, format, output)
    if any(each.wrong is not None and not each.is_known for each in found):
        raise typer.Exit(1)


def _write(found: list[Drilled], kernel: str, base: str | None, format: Format, output: Path | None) -> None:
    said = drill.sentence(found, kernel, base)
    if format is Format.ktap:
        text = drill.ktap(found)
    elif format is Format.junit:
        text = drill.junit(found, kernel, base, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S"))
    else:
        lines = [
            f"{'fails on both' if each.is_known else 'FAILED'} {each.name}: {drill.reason(each.wrong)}"
            for each in found
            if each.wrong is not None
        ]
        better = [f"passes only here: {each.name}" for each in found if each.wrong is None and each.base_wrong]
        text = "\n".join([*lines, *better, said]) + "\n"
    if output is None:
        print(text, end="")
        return
    write_named(output, harmless(text))
    print(said)
