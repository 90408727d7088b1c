"""Code that stands in files of users: where it runs, and what is refused where nothing confines it. Reads files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ..agent.mininet_driver import ALLOW_CODE
from ..error import UserError
from ..kernel import confinement
from ..model.run_setting import Kernel
from ..model.topology import Topology
from ..model.workload import Workload
from ..spec.syntax.attachment import OPTION

AllowCode = Annotated[
    bool,
    typer.Option("--allow-code", help="Run the code of a file even if nothing confines it."),
]
AllowFile = Annotated[
    list[Path] | None,
    typer.Option(
        OPTION,
        metavar="FILE|DIR",
        exists=True,
        help="Let spec files name this file, or those in this folder, outside their own folder; may be repeated.",
    ),
]


def allow() -> None:
    """From here on topologies in Python are read even where nothing confines them."""
    os.environ[ALLOW_CODE] = "1"


def refuse_unconfined(whose: str, parts: Iterable[tuple[Topology, Workload | None, Kernel]]) -> None:
    """Raises UserError if code of a topology or a workload would run in a lab kernel that nothing confines."""
    if confinement.method().holds:
        return
    for topology, workload, kernel in parts:
        what = "its controller's app" if has_code(topology) else "what its workload says"
        if kernel.kind != "host" and (has_code(topology) or (workload is not None and workload.is_users_code)):
            why = f"{what} would run, and nothing confines guests on this computer (testbed doctor)"
            raise UserError(f"{whose}: {why}; allowed: --allow-code, if you trust it")


def has_code(topology: Topology) -> bool:
    """Whether a controller's app comes with it, or a program that is a controller."""
    return any(node.controller is not None and not node.controller.is_ours for node in topology.nodes)


def refuse_foreign(folder: Path, topology: Topology, workload: Workload, kernel: Kernel) -> None:
    """Of a trial that was not made here. Raises UserError if it would run where nothing confines it."""
    if kernel.kind == "host":
        raise UserError(
            f"{folder} is foreign and wants this computer's own kernel; allowed: --allow-code, if you trust it"
        )
    images = [node.vm.image for node in topology.nodes if node.vm is not None and node.vm.image is not None]
    if images:
        what = f"{folder} is foreign, and starts a virtual machine from a disk of this computer, {images[0]}"
        raise UserError(f"{what}; allowed: --allow-code, if you trust it")
    refuse_unconfined(str(folder), [(topology, workload, kernel)])
