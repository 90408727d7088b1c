"""`testbed kernel`: the lab kernels of this user, and kernels for virtual machines."""

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from ...kernel.image.build import KernelImage, Stage, build, installed
from ...kernel.vm import build as vmbuild
from ...kernel.vm import fetch, kernel_cache
from ...kernel.vm.kernel_cache import VmKernel
from ..text_table import Column, Table, show, terminal_width

app = typer.Typer(
    help="Build lab kernels; build or fetch kernels for virtual machines; list both.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


class Format(StrEnum):
    table = "table"
    json = "json"


class Use(StrEnum):
    lab = "lab"
    vm = "vm"


COLUMNS = (
    Column("for", names=True),
    Column("name", names=True),
    Column("release", names=True),
    Column("default"),
    Column("made"),
    Column("where"),
)
WHAT = {Use.lab: "lab kernel", Use.vm: "kernel for virtual machines"}


class Bar:
    """Shows the stages of a build: a bar on a terminal, a line now and then where output is piped."""

    def __init__(self, console: Console, use: Use) -> None:
        self._console = console
        self._what = WHAT[use]
        self._said = ""
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._progress = Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal)
        self._task = self._progress.add_task(self._what, total=None)

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, stage: Stage) -> None:
        if self._console.is_terminal:
            self._progress.update(self._task, description=stage.what, completed=stage.done or 0, total=stage.total)
        elif (line := f"{self._what}: {plain(stage)}") != self._said:
            self._said = line
            self._console.print(line, highlight=False)


def plain(stage: Stage) -> str:
    """The stage in words that change ten times in a build."""
    if stage.done is None or not stage.total:
        return stage.what
    return f"{stage.what}, {10 * int(10 * stage.done / stage.total)} %"


@app.command("build")
def build_command(
    source: Annotated[
        str | None, typer.Option(help="A version (7.3), a tarball, or a folder with Linux's source.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="What scenarios call it, `kernel: {lab: NAME}`, or topologies, `kernel: NAME` of a vm."),
    ] = None,
    patch: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A change of yours to the source (patch -p1); needs --name."),
    ] = None,
    use: Annotated[Use, typer.Option("--for", help="A lab kernel, or one for virtual machines.")] = Use.lab,
    jobs: Annotated[int | None, typer.Option(min=1, help="Compilers at once; all processors if left out.")] = None,
) -> None:
    """Build the lab kernel, or one for virtual machines, unless it is there already."""
    with Bar(Console(stderr=True), use) as bar:
        if use is Use.vm:
            kernel = vmbuild.make(source, name, patches=patch or [], jobs=jobs, report=bar.show)
            print(f"kernel {kernel.name} ({kernel.release}) for virtual machines is ready: {kernel.folder}")
            return
        image = build(source, name, patches=patch or [], jobs=jobs, report=bar.show)
    print(f"lab kernel {image.name} ({image.release}) is ready: {image.path}")


@app.command("fetch")
def fetch_command(
    version: Annotated[str | None, typer.Argument(help="Such as 7.3 or 6.16; left out, the newest.")] = None,
    name: Annotated[str | None, typer.Option(help="What topologies call it: `kernel: NAME` of a vm.")] = None,
) -> None:
    """Fetch a kernel for virtual machines from Debian, and the guest agent, unless they are there already.

    They are unpacked, not installed.
    """
    console = Console(stderr=True)
    kernel = fetch.fetch(version, name, lambda what: console.print(f"virtual machines: {what}", highlight=False))
    print(f"kernel {kernel.name} ({kernel.release}) for virtual machines is ready: {kernel.folder}")


@app.command("list")
def list_command(
    format: Annotated[Format, typer.Option(help="How to print them.")] = Format.table,
) -> None:
    """List the lab kernels and those for virtual machines, the newest last."""
    images, machines = installed(), kernel_cache.installed()
    if format is Format.json:
        print(json.dumps([*map(_plain, images), *map(_plain_machine, machines)], indent=2))
        return
    if not images:
        print("no lab kernel has been built yet; to build one, type: testbed kernel build")
    if not machines:
        print(f"there is no kernel for virtual machines yet; to get one, type: {kernel_cache.FETCH_COMMAND}")
    if images or machines:
        show(table(images, machines).lines(terminal_width()))


def _plain(image: KernelImage) -> dict[str, object]:
    return {**asdict(image), "path": str(image.path), "for": "lab"}


def _plain_machine(kernel: VmKernel) -> dict[str, object]:
    return {**asdict(kernel), "folder": str(kernel.folder), "for": "vm"}


def table(images: tuple[KernelImage, ...], machines: tuple[VmKernel, ...] = ()) -> Table:
    """One line for each kernel; paths can be copied."""
    rows = (
        *(("lab", *_row(each, each.built)) for each in images),
        *(("vm", *_row(each, each.made)) for each in machines),
    )
    return Table(COLUMNS, rows)


def _row(kernel: KernelImage | VmKernel, made: str) -> tuple[str, ...]:
    folder = str(kernel.folder)
    home = str(Path.home())
    where = f"~{folder.removeprefix(home)}" if folder.startswith(f"{home}/") else folder
    return kernel.name, kernel.release, _yes(kernel.default), made[:16].replace("T", " "), where


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"
