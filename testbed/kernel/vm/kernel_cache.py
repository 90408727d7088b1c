"""The kernels for virtual machines on this computer, one folder each, complete or absent. What a machine starts from:
the kernel without the program that unpacks it, and the file system that it finds in memory.

Touches its own folder (`$XDG_CACHE_HOME/testbed/vm`), and starts zstd.

In virtual time each instruction of the program that unpacks a kernel would take its time, in every machine, at every
start. QEMU starts an unpacked kernel by the PVH protocol, if the kernel says where
(https://xenbits.xen.org/docs/unstable/misc/pvh.html).
"""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import struct
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from ... import package, process
from ...cache_folder import refuse_foreign, user_folder
from ...codec.frozen import dataclass
from ...error import MachineError, one_of
from ...spec import bpf_object
from ..shelf import Shelf

FOLDER_MODE, PROGRAM_MODE, FILE_MODE = 0o040755, 0o100755, 0o100644
CONSOLE_MODE, CONSOLE_DEVICE = 0o020600, (5, 1)
END = "TRAILER!!!"

ROOTS = {"host": ("9p", "9pnet_virtio", "overlay"), "disk": ("overlay", "virtio_blk", "ext4")}
CARDS = {"virtio": ("virtio_net",), "e1000": ("e1000",)}
"""The modules that a machine needs to boot, by its root file system and its network cards; a kernel has no file for
what is built in."""

SIGNED, SIGNATURE_BYTES = b"~Module signature appended~\n", 12
"""How a signed module ends, and the bytes before that, the last 4 of which say how long the signature before them is
(include/linux/module_signature.h)."""


def initramfs(init: bytes, modules: Iterable[tuple[str, bytes]]) -> bytes:
    """An archive with the program `/init`, and `/modules` with a file for each module and their order in `list`."""
    entries = [_entry("dev", FOLDER_MODE), _entry("dev/console", CONSOLE_MODE, device=CONSOLE_DEVICE)]
    entries += [_entry("init", PROGRAM_MODE, init), _entry("modules", FOLDER_MODE)]
    names = []
    for name, content in modules:
        names.append(name)
        entries.append(_entry(f"modules/{name}", FILE_MODE, content))
    entries.append(_entry("modules/list", FILE_MODE, "".join(f"{name}\n" for name in names).encode()))
    return b"".join((*entries, _entry(END, 0)))


def load_order(dependencies: str, wanted: Iterable[str]) -> tuple[str, ...]:
    """The files of the wanted modules, each after those it depends on, by the text of `modules.dep`."""
    needs = {file: rest.split() for file, _, rest in (line.partition(":") for line in dependencies.splitlines())}
    by_name = {module_name(file): file for file in needs}
    order: dict[str, None] = {}

    def add(file: str) -> None:
        for other in needs.get(file, []):
            add(other)
        order.setdefault(file)

    for name in wanted:
        if name in by_name:
            add(by_name[name])
    return tuple(order)


def module_name(file: str) -> str:
    """`virtio_net` for `kernel/drivers/net/virtio-net.ko.xz`."""
    return file.rpartition("/")[2].partition(".")[0].replace("-", "_")


def unsigned(module: bytes) -> bytes:
    """A module without its signature, which a kernel does not ask for and would verify at 10 instructions a byte."""
    if not module.endswith(SIGNED):
        return module
    end = len(module) - len(SIGNED)
    return module[: end - SIGNATURE_BYTES - int.from_bytes(module[end - 4 : end], "big")]


def _entry(name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """A header of 13 numbers of 8 hexadecimal digits; name and content are filled up to a multiple of 4 bytes."""
    path = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(path), 0)
    header = b"070701" + b"".join(b"%08x" % number for number in numbers)
    return _filled(header + path) + _filled(content)


def _filled(text: bytes) -> bytes:
    return text + bytes(-len(text) % 4)


ELF, XZ, ZSTD, GZIP = b"\x7fELF\x02\x01", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08"
SECTOR_BYTES = 512
VERSION_MIN = 0x208
"""Of the boot protocol: the first that says where the packed kernel is."""

NOTES = 4
ENTRY = (b"Xen\0", 18)
"""The note with the address at which a PVH kernel begins (XEN_ELFNOTE_PHYS32_ENTRY)."""


def unpacked(image: bytes) -> bytes | None:
    """The ELF file inside a bzImage; None if there is none that QEMU starts. MachineError if zstd is missing.

    Offsets: Documentation/arch/x86/boot.rst of Linux.
    """
    if len(image) < 0x260 or image[0x202:0x206] != b"HdrS":
        return None
    version, (offset, length) = struct.unpack_from("<H", image, 0x206)[0], struct.unpack_from("<II", image, 0x248)
    if version < VERSION_MIN:
        return None
    start = ((image[0x1F1] or 4) + 1) * SECTOR_BYTES + offset
    try:
        found = _plain(image[start : start + length])
        return found if found is not None and found.startswith(ELF) and _has_entry(found) else None
    except (zlib.error, lzma.LZMAError, struct.error, process.CommandError):
        return None  # the machine itself says that such a kernel does not start


def _plain(packed: bytes) -> bytes | None:
    """Behind all but gzip there are 4 bytes with the length."""
    if packed.startswith(ELF):
        return packed
    if packed.startswith(GZIP):
        return _whole(zlib.decompressobj(wbits=31), packed)
    if packed.startswith(XZ):
        return _whole(lzma.LZMADecompressor(), packed)
    return _by_zstd(packed[:-4]) if packed.startswith(ZSTD) else None


def _whole(unpacker: Any, packed: bytes) -> bytes | None:
    plain: bytes = unpacker.decompress(packed)
    return plain if unpacker.eof else None


def _by_zstd(packed: bytes) -> bytes:
    if package.which("zstd") is None:
        raise MachineError("zstd is missing, which unpacks this kernel for virtual time", package.fix_for("zstd"))
    with tempfile.TemporaryDirectory(prefix="testbed-") as folder:
        source, made = Path(folder, "packed"), Path(folder, "plain")
        source.write_bytes(packed)
        process.run(["zstd", "-q", "-d", source, "-o", made])
        return made.read_bytes()


def _has_entry(elf: bytes) -> bool:
    return any(note == ENTRY for note in _notes(elf))


def _notes(elf: bytes) -> Iterator[tuple[bytes, int]]:
    """Name and type of each note of a 64-bit ELF file (elf(5))."""
    (table,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    for number in range(count):
        kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", elf, table + number * size)
        end = at + length
        while kind == NOTES and at + 12 <= end:
            name_bytes, about_bytes, note = struct.unpack_from("<III", elf, at)
            yield elf[at + 12 : at + 12 + name_bytes], note
            at += 12 + -(-name_bytes // 4) * 4 + -(-about_bytes // 4) * 4


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
        wanted = (*ROOTS[root], *CARDS[card])
        modules = ((name, unsigned(module)) for name, module in module_files(kernel, wanted))
        _put_file(path, initramfs(program, modules))
    return path


def unpacked_of(kernel: VmKernel) -> Path:
    """The kernel as virtual time starts it: unpacked, made if it is missing; the image itself if that cannot be."""
    image = kernel.image.read_bytes()
    path = kernel.folder / f"vmlinux-{hashlib.sha256(image).hexdigest()[:16]}"
    if not path.exists():
        made = unpacked(image)
        if made is None:
            return kernel.image
        _put_file(path, made)
    return path


def has_types(kernel: VmKernel) -> bool | None:
    """Whether a kernel tells its types (BTF), which programs in BPF need; None if its image does not say."""
    path = unpacked_of(kernel)
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        return bpf_object.TYPES in bpf_object.sections(data) if data[: len(ELF)] == ELF else None


def _put_file(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as fresh:
        fresh.write(content)
    os.chmod(fresh.name, 0o644)
    os.replace(fresh.name, path)


def module_files(kernel: VmKernel, wanted: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """File name and content of these modules, and of those they need, in the order in which they must be loaded."""
    for file in load_order(dependencies(kernel), wanted):
        yield _plain_name(file), _module(kernel.modules / kernel.release / file)


def dependencies(kernel: VmKernel) -> str:
    """The text of its modules.dep."""
    return (kernel.modules / kernel.release / "modules.dep").read_text()


def _plain_name(file: str) -> str:
    return f"{module_name(file)}.ko"


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
