"""A kernel without the program that unpacks it. Pure, but for zstd, a program.

In virtual time each instruction of that program would take its time, in every machine, at every start. QEMU starts an
unpacked kernel by the PVH protocol, if the kernel says where (https://xenbits.xen.org/docs/unstable/misc/pvh.html).
"""

from __future__ import annotations

import lzma
import struct
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ... import package, process
from ...error import MachineError

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
