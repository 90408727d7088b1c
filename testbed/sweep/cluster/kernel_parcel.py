"""A lab kernel on its way to workers: what identifies it, byte for byte, and where a worker keeps it.

A kernel that a worker has built itself is used if its image is the same; others lie apart from the worker's own
kernels, by the digest of their image, so that nothing changes for who works there. Touches the user's cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

from ...cache_folder import private
from ...codec.frozen import dataclass
from ...kernel.image.cache import Cache, KernelImage, installed
from ...kernel.parcel import Parcel, ParcelError, packed, unpack

FILES = ("linux", "config", "kernel.json", "features.json")
"""What of a kernel's folder is needed to run it; of the last one, it says what the kernel has, once it has booted."""


@dataclass(frozen=True)
class KernelId:
    """`image` is the SHA-256 of the executable; `name` and `key` are written to every result."""

    name: str
    key: str
    image: str


def received(value: object) -> KernelId | None:
    """What arrived, made anew; None if it is no name of a kernel."""
    has = vars(value) if isinstance(value, KernelId) else {}
    words = [has.get(each.name) for each in fields(KernelId)]
    return KernelId(*map(str, words)) if all(type(each) is str for each in words) else None


def kernel_id(image: KernelImage) -> KernelId:
    return KernelId(image.name, image.key, _digest(image.path))


def parcel_of(image: KernelImage) -> Parcel:
    return packed(image.folder, [name for name in FILES if (image.folder / name).exists()])


def find(wanted: KernelId) -> KernelImage | None:
    """The kernel as this computer has it; None if it does not. Its name is the wanted one."""
    for image in _candidates():
        if image.key == wanted.key and _digest(image.path) == wanted.image:
            return replace(image, name=wanted.name)
    return None


def receive(wanted: KernelId, parcel: Parcel) -> None:
    """Keeps a kernel. Raises ParcelError if it is not the wanted one."""
    home = _received().folder / wanted.image
    with _received().partial() as partial:
        made = partial / "made"
        made.mkdir()
        unpack(parcel, made)
        if not (made / "linux").is_file() or _digest(made / "linux") != wanted.image:
            raise ParcelError(f"the kernel {wanted.name} that arrived is not the one that was sent")
        with suppress(OSError):  # another worker was faster
            made.rename(home)
    if find(wanted) is None:
        raise ParcelError(f"the kernel {wanted.name} arrived, but cannot be used: {home}")


def _candidates() -> Iterator[KernelImage]:
    yield from installed()
    yield from _received().installed()


def _received() -> Cache:
    return Cache(private("cluster-kernels"))


def _digest(path: Path) -> str:
    about = path.stat()
    return _digest_of(path, about.st_mtime_ns, about.st_size)


@cache
def _digest_of(path: Path, changed_ns: int, size_bytes: int) -> str:
    """Once for each file as it is: a trial need not read 10 MB again."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lacking(wanted: Iterable[KernelId]) -> tuple[KernelId, ...]:
    """Those that this computer does not have."""
    return tuple(each for each in wanted if find(each) is None)
