"""The kernel's own make, for one architecture; and hot files compiled anew by a profile of trials that ran on the same
tree. Writes only into the given tree.

A profile fits one source, configuration and compiler, so none comes with the testbed: each build makes its own.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ... import package, process
from ...error import TestbedError

STEP = re.compile(r"^  [A-Z][A-Z0-9_]+( \[\w\])? +\S")
"""A line such as `  CC      init/main.o`."""
KEPT = ("PATH", "HOME", "TMPDIR", "CCACHE_DIR", "CCACHE_DISABLE", "CCACHE_MAXSIZE")
ALWAYS = {
    "LC_ALL": "C",
    # The same source gives the same `uname -a` wherever it is built: results carry it.
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "testbed",
    "KBUILD_BUILD_HOST": "lab",
    # make counts how often it links; `uname -v` is in the kernel's entropy, so it would change what is drawn.
    "KBUILD_BUILD_VERSION": "1",
}


def environment() -> dict[str, str]:
    """The environment for make, without the MAKEFLAGS of a surrounding `make setup` or the user's ARCH and CFLAGS."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "PATH": package.search_path(), **ALWAYS}


def words(arch: str, *targets: str) -> tuple[str, ...]:
    """The command for these targets; `arch` is what make calls ARCH."""
    ccache = ("CC=ccache gcc",) if package.which("ccache") else ()
    return ("make", f"ARCH={arch}", *ccache, *targets)


def run(tree: Path, arch: str, *targets: str) -> None:
    """Makes small targets, such as `olddefconfig`. CommandError when one fails."""
    process.run(words(arch, *targets), cwd=tree, env=environment())


def compile(tree: Path, arch: str, target: str, jobs: int, log: Path, on_step: Callable[[int], None]) -> int:
    """Compiles `target`; calls `on_step` with the number of files made so far and returns it at the end.

    Raises CommandError if it fails; `log` has the whole output.
    """
    steps = 0
    argv = words(arch, f"-j{jobs}", target)
    made = process.start(argv, cwd=tree, env=environment(), stdout=process.PIPE, stderr=process.TO_STDOUT)
    with log.open("w") as file, made:
        assert made.stdout is not None, "BUG: make without a pipe"
        for raw in made.stdout:
            line = raw.decode(errors="replace")
            file.write(line)
            if STEP.match(line):
                steps += 1
                on_step(steps)
        status = made.wait()
    if status != 0:
        raise process.CommandError(argv, status, reasons(log.read_text()))
    return steps


def reasons(log: str) -> str:
    """The lines of a build's log that give the reason of its failure, or its last lines."""
    lines = log.splitlines()
    why = re.compile(r"error:|\*\*\*|not found|No such file|No space left")
    telling = [line for line in lines if why.search(line)]
    return "\n".join((telling or lines)[-12:])


Train = Callable[[Path, Path], None]
"""Runs trials on a kernel that counts: its executable, and an empty folder for what it counts. TestbedError if one
fails."""


class ProfileError(TestbedError):
    """There is no profile that fits; a build then goes on without one."""


COUNT = ("-fprofile-arcs", "-fprofile-update=single")
USE = ("-fprofile-use", "-fno-profile-values", "-Werror=coverage-mismatch", "-Werror=missing-profile")
"""A profile that is missing, or made of another function, is an error."""
COUNTING = "LAB_PROFILE=y"


def compile_again(tree: Path, arch: str, product: str, hot: Sequence[str], train: Train, jobs: int) -> bool:
    """Compiles those of the `hot` objects that a compiled tree has anew; False if it has none of them.

    Afterwards the tree has a kernel by the profile. ProfileError if the compiler fails or an object was not counted,
    another TestbedError if a trial fails; then no product in the tree may be used.
    """
    found = [each for each in hot if _command_file(tree, each).exists()]
    if not found:
        return False
    _anew(tree, found, COUNT, jobs)
    run(tree, arch, COUNTING, product)
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
    run(tree, arch, product)
    return True


def _anew(tree: Path, objects: Sequence[str], flags: Sequence[str], jobs: int) -> None:
    """Runs the commands again that made them, with more flags. make does not see a difference but their time."""
    settings = environment()

    def one(name: str) -> None:
        try:
            process.run(("sh", "-c", command(tree, name, flags)), cwd=tree, env=settings)
        except process.CommandError as error:
            why = reasons(error.stderr).splitlines()
            raise ProfileError(f"{name} cannot be compiled with {flags[0]}: {why[0] if why else error}") from error

    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(one, objects):
            pass


def command(tree: Path, name: str, flags: Sequence[str]) -> str:
    """The command that made an object, as the kernel's make noted it, with more flags. ProfileError if it is not a call
    of the compiler.
    """
    made = _command_file(tree, name).read_text().splitlines()[0].partition(":=")[2].split(" ; ")[0].strip()
    before, found, after = made.partition(" -c -o ")
    if not found:
        raise ProfileError(f"the kernel's make does not say how {name} was compiled: {made[:200]!r}")
    return " ".join((before, *flags)) + found + after


def _command_file(tree: Path, name: str) -> Path:
    path = tree / name
    return path.with_name(f".{path.name}.cmd")
