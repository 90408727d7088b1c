"""The kernels for virtual machines on this computer: one folder each, complete or absent.

Touches its own folder (`$XDG_CACHE_HOME/testbed/vm`).
"""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ... import process
from ...cache_folder import refuse_foreign, user_folder
from ...error import MachineError, one_of
from ..shelf import Shelf
from . import initramfs, unpacked

FETCH_COMMAND = "testbed kernel fetch"
BUILD_COMMAND = "testbed kernel build --for vm"


@dataclass(frozen=True)
class VmKernel:
    """A kernel as a distribution, or a build, left it. A `default` one was fetched or built without a name."""

    name: str
    release: str
    source: str
    default: bool
    made: str
    folder: Path

    @property
    def image(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def modules(self) -> Path:
        """The folder that a machine sees as /lib/modules."""
        return self.folder / "modules"


def folder() -> Path:
    """Raises MachineError if it is another user's, who could have put kernels there."""
    found = user_folder() / "vm"
    for each in (found.parent, found):
        refuse_foreign(each)
    return found


def kernels() -> Shelf:
    return Shelf(folder() / "kernels", "kernel.json")


def installed() -> tuple[VmKernel, ...]:
    """The newest at the end."""
    return tuple(found for home, about in kernels().things() if (found := _read(home, about)))


def find(name: str | None) -> VmKernel:
    """The kernel of this name; None is the newest default one. MachineError with the command that gets it."""
    have = installed()
    fitting = [each for each in have if (each.default if name is None else each.name == name)]
    if fitting:
        return fitting[-1]
    if name is None:
        raise MachineError("no kernel for virtual machines has been fetched yet", FETCH_COMMAND)
    listed = one_of(sorted(each.name for each in have), name)
    what = f"no kernel for virtual machines is called {name!r} (there are: {listed})"
    raise MachineError(
        what, f"{FETCH_COMMAND} --name {name}, or for a kernel of your own: {BUILD_COMMAND} --name {name}"
    )


def put(made: Path, kernel: VmKernel) -> VmKernel:
    """Makes a finished folder a kernel, and replaces one of the same name."""
    about = {key: value for key, value in asdict(kernel).items() if key != "folder"}
    made.chmod(0o755)
    return replace(kernel, folder=kernels().put(made, kernel.name, about))


def initramfs_of(kernel: VmKernel, init: Path, root: str = "host", card: str = "virtio") -> Path:
    """The archive with our init and the modules for this root file system and these cards; made if it is missing."""
    program = init.read_bytes()
    path = kernel.folder / f"initramfs-{hashlib.sha256(program).hexdigest()[:12]}-{root}-{card}"
    if not path.exists():
        wanted = (*initramfs.ROOTS[root], *initramfs.CARDS[card])
        modules = ((name, initramfs.unsigned(module)) for name, module in module_files(kernel, wanted))
        _put_file(path, initramfs.initramfs(program, modules))
    return path


def unpacked_of(kernel: VmKernel) -> Path:
    """The kernel as virtual time starts it: unpacked, made if it is missing; the image itself if that cannot be."""
    image = kernel.image.read_bytes()
    path = kernel.folder / f"vmlinux-{hashlib.sha256(image).hexdigest()[:16]}"
    if not path.exists():
        made = unpacked.unpacked(image)
        if made is None:
            return kernel.image
        _put_file(path, made)
    return path


def _put_file(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as fresh:
        fresh.write(content)
    os.chmod(fresh.name, 0o644)
    os.replace(fresh.name, path)


def module_files(kernel: VmKernel, wanted: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """File name and content of these modules, and of those they need, in the order in which they must be loaded."""
    for file in initramfs.load_order(dependencies(kernel), wanted):
        yield _plain_name(file), _module(kernel.modules / kernel.release / file)


def dependencies(kernel: VmKernel) -> str:
    """The text of its modules.dep."""
    return (kernel.modules / kernel.release / "modules.dep").read_text()


def _plain_name(file: str) -> str:
    return f"{initramfs.module_name(file)}.ko"


def _module(path: Path) -> bytes:
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if path.suffix == ".zst":
        plain = Path(tempfile.mkdtemp()) / path.stem
        process.run(["zstd", "-q", "-d", path, "-o", plain])
        try:
            return plain.read_bytes()
        finally:
            shutil.rmtree(plain.parent)
    return path.read_bytes()


def _read(home: Path, about: Mapping[str, Any]) -> VmKernel | None:
    try:
        found = VmKernel(**about, folder=home)
    except TypeError:
        return None
    return found if found.image.is_file() and found.modules.is_dir() else None
