"""Compiles the hot files of a lab kernel anew, by a profile of trials that ran on the same tree. Writes into the tree.

A profile fits one source, configuration and compiler, so none comes with the testbed: each build makes its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ... import process
from ...error import TestbedError
from . import make

Train = Callable[[Path, Path], None]
"""Runs trials on a kernel that counts: its executable, and an empty folder for what it counts. TestbedError if one
fails."""


class ProfileError(TestbedError):
    """There is no profile that fits; a build then goes on without one."""


COUNT = ("-fprofile-arcs", "-fprofile-update=single")
USE = ("-fprofile-use", "-fno-profile-values", "-Werror=coverage-mismatch", "-Werror=missing-profile")
"""A profile that is missing, or made of another function, is an error."""
COUNTING = "LAB_PROFILE=y"


def compile(tree: Path, arch: str, product: str, hot: Sequence[str], train: Train, jobs: int) -> bool:
    """Compiles those of the `hot` objects that a compiled tree has anew; False if it has none of them.

    Afterwards the tree has a kernel by the profile. ProfileError if the compiler fails or an object was not counted,
    another TestbedError if a trial fails; then no product in the tree may be used.
    """
    found = [each for each in hot if _record(tree, each).exists()]
    if not found:
        return False
    _anew(tree, found, COUNT, jobs)
    make.run(tree, arch, COUNTING, product)
    counts = tree / "counts"
    counts.mkdir()
    train(tree / product, counts)
    for each in found:
        name = str(Path(each).with_suffix(".gcda"))
        counted = counts / tree.resolve().relative_to("/") / name
        if not counted.is_file():
            raise ProfileError(f"the kernel that counts wrote nothing of {each}")
        shutil.copyfile(counted, tree / name)
    _anew(tree, found, USE, jobs)
    make.run(tree, arch, product)
    return True


def _anew(tree: Path, objects: Sequence[str], flags: Sequence[str], jobs: int) -> None:
    """Runs the commands again that made them, with more flags. make does not see a difference but their time."""
    environment = make.environment()

    def one(name: str) -> None:
        try:
            process.run(("sh", "-c", command(tree, name, flags)), cwd=tree, env=environment)
        except process.CommandError as error:
            why = make.reasons(error.stderr).splitlines()
            raise ProfileError(f"{name} cannot be compiled with {flags[0]}: {why[0] if why else error}") from error

    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(one, objects):
            pass


def command(tree: Path, name: str, flags: Sequence[str]) -> str:
    """The command that made an object, as the kernel's make noted it, with more flags. ProfileError if it is not a call
    of the compiler.
    """
    made = _record(tree, name).read_text().splitlines()[0].partition(":=")[2].split(" ; ")[0].strip()
    before, found, after = made.partition(" -c -o ")
    if not found:
        raise ProfileError(f"the kernel's make does not say how {name} was compiled: {made[:200]!r}")
    return " ".join((before, *flags)) + found + after


def _record(tree: Path, name: str) -> Path:
    path = tree / name
    return path.with_name(f".{path.name}.cmd")
