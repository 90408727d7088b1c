"""Where a kernel's source comes from: Debian's archive, a tarball, or the user's own tree.

Never changes a source; `unpack` writes only into the given folder.
"""

import hashlib
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ... import process
from ...codec.frozen import dataclass
from ...error import UserError, with_allowed
from . import make
from .debian import Archive, Release

MARK = "arch/um/Kconfig"
"""A folder that holds this is a Linux source tree."""
PRODUCTS = re.compile(
    r".*\.(o|a|ko|mod|cmd|order|symvers|d|so|dbg|lds|gz|orig|rej)|\..*|modules\..*|vmlinux.*|linux|System\.map|.*~"
)
"""Names of files that a build, an editor or git leaves in a tree: not part of its identity."""
GENERATED = ("include/generated", "include/config")


class Source(Protocol):
    """`name` is for people; two sources with the same `identity` hold the same kernel."""

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str: ...

    def unpack(self, tree: Path) -> None:
        """Puts a clean copy at `tree`, which does not exist yet."""


@dataclass(frozen=True)
class DebianSource:
    release: Release
    archive: Archive

    @property
    def name(self) -> str:
        return f"linux-{self.release.upstream}"

    @property
    def identity(self) -> str:
        return f"debian {self.release.package} {self.release.version}"

    def unpack(self, tree: Path) -> None:
        box = tree.with_name("deb")
        process.run(["dpkg-deb", "--extract", self.archive.fetch(self.release), box])
        (tarball,) = (box / "usr/src").glob(f"{self.release.package}.tar.*")
        _extract(tarball, tree)
        process.run(["rm", "-rf", box])


@dataclass(frozen=True)
class Tarball:
    path: Path

    @property
    def name(self) -> str:
        return re.sub(r"\.(tar(\.\w+)?|t[gbx]z)$", "", self.path.name)

    @property
    def identity(self) -> str:
        with self.path.open("rb") as file:
            return f"tarball {hashlib.file_digest(file, 'sha256').hexdigest()}"

    def unpack(self, tree: Path) -> None:
        try:
            _extract(self.path, tree)
        except process.CommandError as error:
            reason = error.stderr.strip().splitlines() or ["no reason given"]
            raise UserError(f"--source {self.path}: cannot be unpacked: {reason[0]}") from error
        _require_tree(tree, f"--source {self.path}")


@dataclass(frozen=True)
class Tree:
    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def identity(self) -> str:
        """Over the name, mode and content of each file that a build reads."""
        whole = hashlib.sha256()
        for path in self.files():
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            executable = os.access(path, os.X_OK)
            line = f"{path.relative_to(self.path)} {executable} {hashlib.sha256(content).hexdigest()}\n"
            whole.update(line.encode(errors="surrogateescape"))
        return f"tree {whole.hexdigest()}"

    def unpack(self, tree: Path) -> None:
        tree.mkdir()
        parts = [entry for entry in sorted(self.path.iterdir()) if entry.name != ".git"]
        process.run(["cp", "-a", "--reflink=auto", "--", *parts, tree])
        process.run(["chmod", "-R", "u+rwX", tree])
        process.run(["rm", "-rf", *(tree / "arch").glob("*/include/generated")])
        make.run(tree, "um", "mrproper")

    def files(self) -> Iterator[Path]:
        """Those that a build reads."""
        for folder, folders, names in os.walk(self.path):
            here = Path(folder)
            folders[:] = sorted(name for name in folders if not self._generated(here / name))
            yield from (here / name for name in sorted(names) if not PRODUCTS.fullmatch(name))

    def _generated(self, folder: Path) -> bool:
        return folder.name == ".git" or str(folder).endswith(GENERATED)


def choose(text: str | None, archive: Archive) -> Source:
    """The source a user named: None (Debian's newest), a version, a tarball, or a folder.

    UserError when it is none of these.
    """
    if text is None or re.fullmatch(r"\d+\.\d+([.~+-][\w.~+-]*)?", text):
        return DebianSource(archive.newest(text), archive)
    path = Path(os.path.realpath(Path(text).expanduser()))
    if path.is_dir():
        _require_tree(path, f"--source {text}")
        return Tree(path)
    if path.is_file() and _is_tarball(path):
        return Tarball(path)
    what = f"--source {text}: " + ("is not a tarball" if path.exists() else "does not exist")
    raise UserError(with_allowed(what, "a version such as 7.3, a tarball, a folder with Linux's source"))


def _is_tarball(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path) or path.suffix in (".zst", ".zstd")
    except OSError:
        return False


def _require_tree(tree: Path, what: str) -> None:
    if not (tree / MARK).is_file():
        raise UserError(f"{what}: is not a Linux source tree (it has no {MARK})")


def _extract(tarball: Path, tree: Path) -> None:
    tree.mkdir()
    process.run(["tar", "-x", "--strip-components=1", "--no-same-owner", "-f", tarball, "-C", tree])
