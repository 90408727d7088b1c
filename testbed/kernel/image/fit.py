"""Whether a source can become a lab kernel: what its User-Mode Linux must have, and our patches. Reads and changes an
unpacked tree.
"""

from __future__ import annotations

import re
from pathlib import Path

from ... import process
from ...codec.frozen import dataclass
from ...error import UserError
from ...units import counted
from .change import version
from .recipe import Patch, Recipe

KNOWN = "Linux 7.2 or 7.3, or a newer one that our patches fit"
"""What was tried. Between 6.12, which lacks what a guest needs, and 7.2 nothing was."""
SECCOMP = "arch/um/os-Linux/start_up.c"
PATCHED = re.compile(r"^(?:patching|checking) file (\S+)")
FAILED = re.compile(r"^(\d+) out of (\d+) hunks? (?:FAILED|ignored)")
ABSENT = re.compile(r"^\|\+\+\+ \w+/(\S+)")


@dataclass(frozen=True)
class Misfit:
    """A patch of ours that does not fit, and where: files, each with the parts that do not fit."""

    patch: str
    where: tuple[str, ...]


def prepare(tree: Path, ours: Recipe, name: str) -> None:
    """Applies our patches, except those that the tree already has; nothing where there are none, as for virtual
    machines. Raises UserError, after which the tree is half patched, that names what the source lacks or each patch
    that does not fit, with its files.
    """
    if ours.patches:
        _refuse_without_seccomp(tree, name)
    misfits = [found for patch in ours.patches if (found := _apply(tree, patch)) is not None]
    if misfits:
        first, *others = misfits
        verb = "does" if len(others) == 1 else "do"
        more = f"; nor {verb} {', '.join(each.patch for each in others)}, perhaps for that reason" if others else ""
        raise _unfit(tree, name, f"our patch {first.patch} does not fit {'; '.join(first.where)}{more}")


def _refuse_without_seccomp(tree: Path, name: str) -> None:
    path = tree / SECCOMP
    if not path.is_file() or "seccomp" not in path.read_text(errors="replace"):
        raise _unfit(
            tree,
            name,
            f"its User-Mode Linux has no seccomp mode ({SECCOMP} knows none), in which all guests run, and for which "
            "our patches are that keep programs in their guest",
        )


def _unfit(tree: Path, name: str, why: str) -> UserError:
    makefile = tree / "Makefile"
    said = f" (Linux {version(makefile)})" if makefile.is_file() else ""
    return UserError(f"{name}{said} cannot become a lab kernel: {why}; allowed: {KNOWN}")


def _apply(tree: Path, patch: Patch) -> Misfit | None:
    words = ("patch", "-p1", "--force", "--no-backup-if-mismatch", "--reject-file=-")
    settings = {"LC_ALL": "C", "PATH": process.search_path()}
    try:
        process.run((*words, "--dry-run"), input=patch.text, cwd=tree, env=settings)
    except process.CommandError as error:
        try:
            process.run((*words, "--dry-run", "--reverse"), input=patch.text, cwd=tree, env=settings)
        except process.CommandError:
            return Misfit(patch.name, _where(error.stderr))
        return None
    process.run(words, input=patch.text, cwd=tree, env=settings)
    return None


def _where(said: str) -> tuple[str, ...]:
    """By what `patch` said: such as "net/sched/sch_tbf.c (1 of 9 parts)"."""
    file, found = "", []
    for line in said.splitlines():
        if match := PATCHED.match(line) or ABSENT.match(line):
            file = match[1]
        elif (match := FAILED.match(line)) and file:
            found.append(f"{file} ({match[1]} of {counted(int(match[2]), 'part')})")
        elif "No file to patch" in line:
            found.append(f"{file} (which is not there)")
    return tuple(dict.fromkeys(found)) or ("(patch gave no reason)",)
