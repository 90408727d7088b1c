"""A change to a kernel's source: a congestion control in a file of its own, a patch, or a tree that differs. Reads the
user's files, and writes to a folder for temporary files.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Protocol

from ... import process
from ...error import UserError, one_of
from ...model.workload.control import OF_LINUX
from .source import MARK, Tree

PLACE = "net/ipv4"
"""Where the kernel's own congestion controls are."""
CONTROL_FILE = re.compile(rf"{PLACE}/tcp_(\w+)\.c")
OPERATIONS = re.compile(r"struct\s+tcp_congestion_ops\s+\w+[^=;{]*=\s*\{(.*?)\n\s*\};", re.DOTALL)
NAME = re.compile(r"\.name\s*=\s*\"([^\"]*)\"")
NAME_ALLOWED = re.compile(r"[a-z][a-z0-9_]{0,14}")
"""TCP_CA_NAME_MAX is 16 with the zero byte at the end."""
REGISTERS = "tcp_register_congestion_control"
INCLUDED = re.compile(r"^\s*#\s*include\s+\"([\w./-]+)\"", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
TOUCHED = re.compile(r"^(?:---|\+\+\+) (\S+)", re.MULTILINE)
REFUSED = re.compile(r"Hunk #\d+ FAILED at \d+|can't find file to patch|malformed patch|Only garbage was found")
VERSION = re.compile(r"^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)", re.MULTILINE)


class Original(Protocol):
    """The source that a change is to: `path` is one of its files, with our own patches or without them."""

    def path(self, name: str) -> Path: ...

    def unpatched(self, name: str) -> Path: ...

    def names(self) -> Iterator[str]: ...

    @property
    def title(self) -> str: ...


@dataclass(frozen=True)
class Change:
    """What differs from the source: the new content of files (None: there is no such file any more).

    `label` names it for people. `control` is the congestion control that it is about; None where that is not
    known. `adds` says that the source has no such control, `option` is then the option that builds it.
    """

    label: str
    files: Mapping[str, bytes | None]
    control: str | None = None
    adds: bool = False
    option: str | None = None

    @property
    def sha256(self) -> str:
        whole = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            told = "gone" if content is None else hashlib.sha256(content).hexdigest()
            whole.update(f"{name} {told}\n".encode())
        return whole.hexdigest()


NOTHING = Change("base", {})


def of_file(path: Path, original: Original, controls: tuple[str, ...]) -> Change:
    """A congestion control in one file, with the lines that build it; `controls` are those of the base. UserError for
    a file that is no such control, or one whose name is taken.
    """
    content = _read(path)  # once: a save meanwhile must not give its code another name
    text = content.decode(errors="replace")
    stem = path.name.removesuffix(".c")
    short = stem.removeprefix("tcp_")
    if not re.fullmatch(r"tcp_\w+\.c", path.name):
        raise UserError(f"{path}: its name is not that of a congestion control; allowed: tcp_NAME.c")
    control = control_of(path, text)
    if original.path(f"{PLACE}/{path.name}").exists():
        raise UserError(
            f"{path}: {original.title} has {PLACE}/{path.name} already; allowed: another name, such as "
            f"tcp_my{short}.c, or a patch: diff -u {PLACE}/{path.name} {path}"
        )
    if control in controls:
        raise UserError(
            f"{path}: the kernel has a congestion control named {control!r} already; allowed: another .name in the "
            f"file's tcp_congestion_ops than {one_of(sorted(controls), '')}, or a patch to the kernel's own file"
        )
    option = f"TCP_CONG_{short.upper()}"
    kconfig, makefile = (original.path(f"{PLACE}/{name}").read_bytes() for name in ("Kconfig", "Makefile"))
    block = f'\nconfig {option}\n\tbool "{control}"\n\tdepends on TCP_CONG_ADVANCED\n\tdefault y\n'
    files: dict[str, bytes | None] = {
        f"{PLACE}/{path.name}": content,
        f"{PLACE}/Kconfig": kconfig + block.encode(),
        f"{PLACE}/Makefile": makefile + f"\nobj-$(CONFIG_{option}) += {stem}.o\n".encode(),
    }
    for name in INCLUDED.findall(text):
        beside = path.parent / name
        if beside.is_file() and not original.path(f"{PLACE}/{name}").exists():
            files[f"{PLACE}/{name}"] = _read(beside)
    return Change(stem, files, control, adds=True, option=f"CONFIG_{option}")


def control_of(path: Path, text: str) -> str:
    """The name of the congestion control in a file: the first that it registers. UserError if there is none."""
    plain = COMMENT.sub("", text)
    bodies = OPERATIONS.findall(plain)
    names: list[str] = [name for body in bodies for name in NAME.findall(body)]
    if not names:
        raise UserError(
            f"{path}: it registers no congestion control; allowed: a file with a "
            '`struct tcp_congestion_ops NAME = { …, .name = "foo", }` that is registered'
        )
    if REGISTERS not in plain:
        raise UserError(
            f"{path}: it does not call tcp_register_congestion_control(), so {names[0]} would not be in the kernel; "
            "allowed: a module_init() that calls it"
        )
    if not NAME_ALLOWED.fullmatch(names[0]):
        raise UserError(f"{path}: .name is {names[0]!r}; allowed: up to 15 of a to z, 0 to 9 and _, a letter first")
    return names[0]


def of_patch(path: Path, original: Original) -> Change:
    """A patch (`patch -p1`) on top of our own patches. Raises UserError, with the hunk, for one that does not fit."""
    made = _patched(str(path), _read(path).decode(errors="surrogateescape"), original, path.stem)
    _refuse_unused_control(str(path), made, original)
    return made


def of_tree(folder: Path, original: Original) -> Change:
    """A tree of the same version, in what differs. Raises UserError for another version or architecture."""
    _refuse_other_tree(folder, original)
    differing = _differing(folder, original)
    both = [name for name in differing if original.unpatched(name) != original.path(name)]
    files = {name: _content(folder / name) for name in differing if name not in both}
    if both:  # our own patches change these, too
        files |= _patched(str(folder), _differences(folder, both, original), original, folder.name).files
    made = Change(folder.name, files, _control_in(files))
    _refuse_unused_control(str(folder), made, original)
    return made


def _refuse_unused_control(said: str, made: Change, original: Original) -> None:
    """A control that only the candidate has would run on neither side. One beside a change of a known control may."""
    if made.control is not None:
        return
    for name, content in made.files.items():
        if content is None or not name.endswith(".c") or original.path(name).is_file():
            continue
        text = content.decode(errors="replace")
        if REGISTERS in COMMENT.sub("", text):
            raise UserError(
                f"{said}: {name} adds the congestion control {control_of(Path(name), text)}, which neither side would "
                f"run; allowed: testbed cc {PurePosixPath(name).name}, or a change to a control that the kernel has"
            )


def _differences(folder: Path, names: list[str], original: Original) -> str:
    with tempfile.TemporaryDirectory(prefix="testbed-tree-") as made:
        for name in names:
            for side, file in (("a", original.unpatched(name)), ("b", folder / name)):
                target = Path(made, side, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                if file.is_file():
                    target.write_bytes(file.read_bytes())
        return _difference(made)


def _difference(folder: str) -> str:
    try:
        process.run(("diff", "-uNr", "a", "b"), cwd=Path(folder), env={"LC_ALL": "C", "PATH": process.search_path()})
    except process.CommandError as error:
        if error.status == 1:  # they differ; what was printed is the message, as nothing went wrong
            return error.stderr
        raise
    return ""


def _patched(said: str, text: str, original: Original, label: str) -> Change:
    names = [name for name in map(_stripped, TOUCHED.findall(text)) if name is not None]
    names = list(dict.fromkeys(names))
    if not names:
        raise UserError(f"{said}: it is no patch; allowed: what `git diff` or `diff -u` prints, with folders a/ and b/")
    for name in names:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise UserError(f"{said}: {name} is outside the tree; allowed: files of the kernel's source")
    with tempfile.TemporaryDirectory(prefix="testbed-patch-") as made:
        work = Path(made)
        for name in names:
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            if original.path(name).is_file():
                (work / name).write_bytes(original.path(name).read_bytes())
        _apply(said, text, work, original.title)
        files: dict[str, bytes | None] = {}
        for name in names:
            now = (work / name).read_bytes() if (work / name).is_file() else None
            before = original.path(name).read_bytes() if original.path(name).is_file() else None
            if now != before:
                files[name] = now
    if not files:
        raise UserError(f"{said}: it changes nothing in {original.title}; allowed: a patch that is not applied already")
    return Change(label, files, _control_in(files))


def _apply(said: str, text: str, work: Path, title: str) -> None:
    words = ("patch", "-p1", "--batch", "--fuzz=0", "--no-backup-if-mismatch", "--reject-file=-", "--forward")
    try:
        process.run(words, input=text, cwd=work, env={"LC_ALL": "C", "PATH": process.search_path()})
    except process.CommandError as error:
        lines = error.stderr.splitlines()
        file, why = "", []
        for line in lines:
            if line.startswith(("patching file", "checking file")):
                file = line.split("file ", 1)[1]
            if REFUSED.search(line) or "previously applied" in line:
                why.append(f"{file}: {line.split(' (')[0].rstrip('.')}" if file else line)
        told = "; ".join(why[:5]) or (lines[-1] if lines else "no reason given")
        raise UserError(
            f"{said} does not fit {title}: {told}; allowed: what `patch -p1 --fuzz=0` takes there, or the source that "
            "it was made for, with --source"
        ) from None


def _control_in(files: Mapping[str, bytes | None]) -> str | None:
    """The control whose file changes; None if none or several do."""
    found = {match[1] for name in files if (match := CONTROL_FILE.fullmatch(name))} & (OF_LINUX - {"reno"})
    return found.pop() if len(found) == 1 else None


def _stripped(name: str) -> str | None:
    """A path of a patch without its first folder; None for /dev/null."""
    return None if name == "/dev/null" else name.partition("/")[2] or name


def _refuse_other_tree(folder: Path, original: Original) -> None:
    if not (folder / MARK).is_file():
        archs = sorted(path.name for path in folder.glob("arch/*") if path.is_dir())
        has = f"it is a tree of {', '.join(archs)}, without User-Mode Linux" if archs else "it is no source of Linux"
        raise UserError(f"{folder}: {has} (no {MARK}); allowed: a tree with arch/um and arch/x86")
    own, base = version(folder / "Makefile"), version(original.path("Makefile"))
    if own != base:
        raise UserError(
            f"{folder} is Linux {own}, and the base is {original.title}, Linux {base}: they differ in more than your "
            f"change; allowed: --source TREE with an unchanged source of {own}"
        )


def version(makefile: Path) -> str:
    """7.3.4, by a kernel's own Makefile."""
    found = dict(VERSION.findall(makefile.read_text(errors="replace")))
    return ".".join(found.get(part, "?") for part in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))


def _differing(folder: Path, original: Original) -> list[str]:
    tree = Tree(folder)
    mine = {str(path.relative_to(folder)) for path in tree.files() if not path.is_symlink()}
    theirs = set(original.names())
    names = chain(sorted(mine - theirs), sorted(theirs - mine))
    return [*names, *(name for name in sorted(mine & theirs) if _differ(folder / name, original.unpatched(name)))]


def _differ(one: Path, other: Path) -> bool:
    if not other.is_file() or not one.is_file():
        return True
    return os.path.getsize(one) != os.path.getsize(other) or one.read_bytes() != other.read_bytes()


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
