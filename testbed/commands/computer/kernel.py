"""`testbed kernel`: the lab kernels of this user, and kernels for virtual machines.

A lab kernel is profiled by trials when it is built; what they measure is thrown away.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator
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

from ...error import UserError
from ...journal import folder_noted, unique
from ...kernel import lab
from ...kernel.image import feature, recipe
from ...kernel.image.build import Stage, build, current_key, installed
from ...kernel.image.cache import KernelImage
from ...kernel.vm import build as vmbuild
from ...kernel.vm import kernel_cache
from ...kernel.vm.kernel_cache import VmKernel
from ...native_program import tools
from ...spec.load import load_scenario
from ...trial.folder import write_named
from ...trial.orders.sequence import orders
from ...trial.start import local_words
from ..help_page import Command, examples, group
from ..terminal import Terminal
from ..text_table import Column, Format, FormatOption, Table, paragraph, show, terminal_width

app = group(
    "Trials run in a lab kernel, which is built once. Virtual machines have kernels of their own, which are "
    "built, or fetched from Debian.",
    ("Build the lab kernel", "testbed kernel build"),
    ("Fetch a kernel for virtual machines", "testbed kernel fetch"),
    ("List the kernels", "testbed kernel list"),
)


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

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, stage: Stage) -> None:
        if self._console.is_terminal:
            self._progress.update(self._task, description=stage.what, completed=stage.done or 0, total=stage.total)
        elif (line := f"{self._what}: {plain(stage)}") != self._said:
            self._said = line
            self._console.print(line)


def plain(stage: Stage) -> str:
    """The stage in words that change ten times in a build."""
    if stage.done is None or not stage.total:
        return stage.what
    return f"{stage.what}, {10 * int(10 * stage.done / stage.total)} %"


@app.command(
    "build",
    cls=Command,
    epilog=examples(
        ("Build the lab kernel", "testbed kernel build"),
        (
            "Build one with a change of yours, for scenarios with `kernel: {lab: mine}`",
            "testbed kernel build --name mine --patch tcp.patch",
        ),
        ("Build another version of Linux for virtual machines", "testbed kernel build --for vm --source 6.16"),
    ),
)
def build_command(
    source: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="A version of Linux (7.3), a tarball, or a folder with its source."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="KERNEL",
            help="The name that scenarios (`kernel: {lab: NAME}`) or virtual machines (`kernel: NAME`) use for it.",
        ),
    ] = None,
    patch: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Apply a patch to the source (patch -p1); needs --name. May be repeated."),
    ] = None,
    use: Annotated[Use, typer.Option("--for", help="Build a lab kernel, or one for virtual machines.")] = Use.lab,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="How many compilers run at once; one for each processor if left out."),
    ] = None,
) -> None:
    """Build a lab kernel, or one for virtual machines.

    A kernel that exists is not built again. Files of a lab kernel that do most of the work are compiled twice, the
    second time by a profile of short trials: it changes how long trials take, not what they measure.
    """
    with Bar(Terminal(), use) as bar:
        if use is Use.vm:
            kernel = vmbuild.make(source, name, patches=patch or [], jobs=jobs, report=bar.show)
            print(f"kernel {kernel.name} ({kernel.release}) for virtual machines is ready: {kernel.folder}")
            return
        pass  # half a second, for what a trial needs

        image = build(source, name, patches=patch or [], jobs=jobs, report=bar.show, train=train)
    if image.profile.startswith("none"):
        print(f"it has no profile, so trials take more CPU time ({image.profile}); the same is measured")
        print(f"it is kept like this; to try again: rm -r {shlex.quote(str(image.folder))}, and build it once more")
    print(f"lab kernel {image.name} ({image.release}) is ready: {image.path}")


@app.command(
    "key",
    cls=Command,
    epilog=examples(("Name the cache of a build server, before anything is built", "testbed kernel key")),
)
def key_command() -> None:
    """Print what decides whether `testbed kernel build` has something to do, as a name.

    It changes with the options and patches of this version of the testbed, and with the compiler. The source is
    Debian's newest at the time of the build, and is no part of it.
    """
    print(current_key())


@app.command(
    "fetch",
    cls=Command,
    epilog=examples(
        ("Fetch the newest kernel", "testbed kernel fetch"),
        ("Fetch an older one, for virtual machines with `kernel: old`", "testbed kernel fetch 6.16 --name old"),
    ),
)
def fetch_command(
    version: Annotated[
        str | None, typer.Argument(metavar="VERSION", help="Such as 7.3 or 6.16; the newest if left out.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="KERNEL", help="The name that virtual machines use for it (`kernel: NAME`).")
    ] = None,
) -> None:
    """Fetch a kernel for virtual machines from Debian.

    The kernel and the guest agent are unpacked into the cache folder of the user; nothing is installed.
    """
    console = Terminal()
    kernel = vmbuild.fetch(version, name, lambda what: console.print(f"virtual machines: {what}"))
    print(f"kernel {kernel.name} ({kernel.release}) for virtual machines is ready: {kernel.folder}")


@app.command(
    "export",
    cls=Command,
    epilog=examples(
        ("Write the default lab kernel to a file, for other computers", "testbed kernel export lab.tar.gz")
    ),
)
def export_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it; it must not exist.")],
    name: Annotated[
        str | None, typer.Option(metavar="KERNEL", help="The kernel of this name; the default one if left out.")
    ] = None,
) -> None:
    """Write a lab kernel to a file, which another computer can import.

    It prints the SHA-256 that the import needs.
    """
    from ...kernel.image import travel

    if os.path.lexists(file):
        raise UserError(f"{file} exists; allowed: a new file")
    image, parcel = travel.export(name)
    write_named(file, parcel.data)
    print(f"{file} has the lab kernel {image.name} ({image.release}), {len(parcel.data) / 1e6:.1f} MB")
    print(f"its program has the SHA-256 {travel.executable(image)}")
    print(f"testbed kernel import {shlex.quote(file.name)} --sha256 {parcel.digest}")


@app.command(
    "import",
    cls=Command,
    epilog=examples(
        ("Take a lab kernel from a file", "testbed kernel import lab.tar.gz --sha256 DIGEST"),
        ("For all users of this computer, as root", "testbed kernel import lab.tar.gz --sha256 DIGEST --for-all"),
    ),
)
def import_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `testbed kernel export` wrote.")],
    sha256: Annotated[
        str, typer.Option("--sha256", metavar="DIGEST", help="The SHA-256 of the file, as its maker tells it.")
    ],
    for_all: Annotated[
        bool, typer.Option("--for-all", help="Keep it in /var/cache/testbed, for all users; needs root.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take it in place of a kernel that was built here from the same source.")
    ] = False,
) -> None:
    """Take a lab kernel from a file instead of building it.

    A kernel is a program that you will run: take the digest from somebody whom you trust. It boots once before it is
    kept.
    """
    from ...kernel.image import travel

    image = travel.import_(file, sha256, for_all=for_all, replace=replace)
    print(f"lab kernel {image.name} ({image.release}) is ready: {image.path}")
    print(f"its program has the SHA-256 {travel.executable(image)}")
    if image.older is not None:
        print(paragraph(image.older, terminal_width()))


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("List all kernels", "testbed kernel list"),
        ("Read their paths in a program", "testbed kernel list --format json"),
    ),
)
def list_command(
    format: FormatOption = Format.table,
) -> None:
    """List the lab kernels and those for virtual machines.

    Kernels for all users come first, then yours; of each, the one that was last made, or used by `testbed cc`, comes
    last. Trials that name no kernel use the last one with `default: yes`, one of this version of the testbed if there
    is one.
    """
    images, machines = installed(), kernel_cache.installed()
    if format is Format.json:
        print(json.dumps([*map(_plain, images), *map(_plain_machine, machines)], indent=2))
        return
    if not images:
        print("no lab kernel has been built yet; to build one, type: testbed kernel build")
    if not machines:
        print(f"there is no kernel for virtual machines yet; to fetch one, type: {kernel_cache.FETCH_COMMAND}")
    if images or machines:
        show(table(images, machines).lines(terminal_width()))
        kernels = [(each.name, each.folder) for each in images] + [(m.name, m.folder) for m in machines]
        for name, controls in controls_of(kernels):
            print(paragraph(f"{name} has {controls}", terminal_width()))
        for image in images:
            if image.older is not None:
                print(paragraph(image.older, terminal_width()))
            if image.profile.startswith("none"):
                what = f"{image.folder.name} has no profile, so its trials take more CPU time ({image.profile})"
                print(paragraph(what, terminal_width()))


def controls_of(kernels: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, str]]:
    """What each kernel has: those that are in the first one that was asked are named once."""
    first: tuple[str, frozenset[str]] | None = None
    for name, folder in kernels:
        found = feature.read(folder)
        if found is None:
            yield name, "not been asked yet which congestion controls it has: it boots once when a trial needs it"
            continue
        own = found.congestion_controls
        if first is None or not first[1] <= {*own}:
            yield name, f"the congestion controls {', '.join(own)}"
            first = first or (name, frozenset(own))
        else:
            more = [each for each in own if each not in first[1]]
            yield name, ", and ".join(filter(None, (f"those of {first[0]}", ", ".join(more))))


def _plain(image: KernelImage) -> dict[str, object]:
    return {**asdict(image), "path": str(image.path), "for": "lab", **_features(image.folder)}


def _plain_machine(kernel: VmKernel) -> dict[str, object]:
    return {**asdict(kernel), "folder": str(kernel.folder), "for": "vm", **_features(kernel.folder)}


def _features(folder: Path) -> dict[str, object]:
    """null for a kernel that has not been asked yet."""
    found = feature.read(folder)
    return {"features": None if found is None else asdict(found)}


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


FILE = recipe.FOLDER / "lab" / recipe.TRAINING


def train(linux: Path, counts: Path) -> None:
    """Runs them on a kernel that counts what it does (`kernel/image/make.py`). What all of them counted is in
    `counts` afterwards. TestbedError if one fails.
    """
    image = KernelImage("training", linux, "", "", False, "", "")
    programs = tools()
    for trial in load_scenario(FILE).trials():
        made = orders(trial)
        with folder_noted(Path(tempfile.gettempdir(), unique("testbed-training"))) as folder:
            inside = folder / "counts"  # a guest writes nowhere else; it adds to what is there
            shutil.copytree(counts, inside)
            steps, _ = local_words.substituted(
                trial.topology, made.steps, programs, is_lab=True, is_virtual_time=trial.kernel.is_virtual_time
            )
            lab.run(
                image,
                steps,
                folder,
                tools=programs,
                seed=trial.seed,
                memory_bytes=made.memory_bytes,
                variables={"GCOV_PREFIX": str(inside)},
            )
            shutil.copytree(inside, counts, dirs_exist_ok=True)
