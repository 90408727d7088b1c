"""`testbed kernel build` and `testbed kernel list`: the lab kernels of this user."""

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

from ..kernels.build import KernelImage, Stage, build, installed

app = typer.Typer(help="Build and list lab kernels.", no_args_is_help=True, add_completion=False, rich_markup_mode=None)


class Format(StrEnum):
    table = "table"
    json = "json"


class Bar:
    """Shows the stages of a build: a bar on a terminal, a line now and then where output is piped."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said = ""
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._progress = Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal)
        self._task = self._progress.add_task("lab kernel", total=None)

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, stage: Stage) -> None:
        if self._console.is_terminal:
            self._progress.update(self._task, description=stage.what, completed=stage.done or 0, total=stage.total)
        elif (line := plain(stage)) != self._said:
            self._said = line
            self._console.print(line, highlight=False)


def plain(stage: Stage) -> str:
    """The stage in words that change ten times in a build."""
    if stage.done is None or not stage.total:
        return f"lab kernel: {stage.what}"
    return f"lab kernel: {stage.what}, {10 * int(10 * stage.done / stage.total)} %"


@app.command("build")
def build_command(
    source: Annotated[
        str | None, typer.Option(help="A version (7.3), a tarball, or a folder with Linux's source.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What scenarios call it: `kernel: {lab: NAME}`.")] = None,
    patch: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A change of yours to the source (patch -p1); needs --name."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Compilers at once; all processors if left out.")] = None,
) -> None:
    """Build the lab kernel, unless it is there already."""
    with Bar(Console(stderr=True)) as bar:
        image = build(source, name, patches=patch or [], jobs=jobs, report=bar.show)
    print(f"lab kernel {image.name} ({image.release}) is ready: {image.path}")


@app.command("list")
def list_command(
    format: Annotated[Format, typer.Option(help="How to print them.")] = Format.table,
) -> None:
    """List the lab kernels, the newest last."""
    images = installed()
    if format is Format.json:
        print(json.dumps([_plain(image) for image in images], indent=2))
    elif not images:
        print("no lab kernel has been built yet; to build one, type: testbed kernel build")
    else:
        print(table(images))


def _plain(image: KernelImage) -> dict[str, object]:
    return {**asdict(image), "path": str(image.path)}


def table(images: tuple[KernelImage, ...]) -> str:
    """One line for each kernel; paths are not shortened, so that they can be copied."""
    rows = [
        ("name", "release", "default", "built", "where"),
        *(
            (image.name, image.release, "yes" if image.default else "no", image.built, str(image.folder))
            for image in images
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
