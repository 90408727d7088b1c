"""The kernel's own make, for one architecture. Writes only into the given tree."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from ... import package, process

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
