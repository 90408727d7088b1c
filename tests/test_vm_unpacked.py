"""A kernel without the program that unpacks it, against a bzImage made by its documentation, and readelf."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from testbed import package
from testbed.error import MachineError
from testbed.kernel.vm import kernel_cache
from testbed.kernel.vm.kernel_cache import unpacked

XEN_ENTRY = struct.pack("<III4sQ", 4, 8, 18, b"Xen\0", 0x1000000)
LINUX_FUNC = struct.pack("<III8sI", 6, 4, 257, b"Linux\0", 0)


def elf(notes: bytes) -> bytes:
    """A file of two segments, the second of which has notes (elf(5))."""
    start = 64 + 2 * 56
    header = (
        b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    )
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, start, start, 4096)
    note = struct.pack("<IIQQQQQQ", 4, 4, start, 0, 0, len(notes), len(notes), 4)
    return header + load + note + notes + bytes(1000)


def by_zstd(plain: bytes) -> bytes:
    return subprocess.run(("zstd", "-q", "-c"), input=plain, capture_output=True, check=True).stdout


PACKERS = {"gzip": gzip.compress, "xz": lzma.compress, "zstd": by_zstd, "not packed": bytes}


def bzimage(plain: bytes, packer: str, version: int = 0x20F) -> bytes:
    """By Documentation/arch/x86/boot.rst. The length follows a packed kernel, but for gzip, which ends with it."""
    packed = PACKERS[packer](plain) + (b"" if packer in ("gzip", "not packed") else struct.pack("<I", len(plain)))
    head = bytearray(5 * 512)
    head[0x1F1] = 4
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", head, 0x206, version)
    struct.pack_into("<II", head, 0x248, 300, len(packed))
    return bytes(head) + bytes(300) + packed + b"what follows"


def cut_off(packer: str) -> bytes:
    """An image whose packed kernel lacks its end, of more than what one block says."""
    image = bytearray(bzimage(elf(XEN_ENTRY) + random.Random(1).randbytes(200_000), packer))
    struct.pack_into("<I", image, 0x24C, struct.unpack_from("<I", image, 0x24C)[0] - 50_000)
    return bytes(image)


@pytest.mark.parametrize("packer", PACKERS)
def test_the_kernel_in_an_image_is_found_however_it_is_packed(packer: str) -> None:
    if packer == "zstd" and shutil.which("zstd") is None:
        pytest.skip("needs zstd")
    plain = elf(LINUX_FUNC + XEN_ENTRY)
    assert unpacked(bzimage(plain, packer)) == plain


@pytest.mark.parametrize(
    "image",
    [
        b"",
        b"a kernel",
        bytes(4096),
        bzimage(elf(LINUX_FUNC), "gzip"),
        bzimage(elf(b""), "xz"),
        bzimage(b"no ELF file", "gzip"),
        bzimage(elf(XEN_ENTRY), "gzip", version=0x207),
        bzimage(elf(XEN_ENTRY), "gzip").replace(b"\x1f\x8b\x08\0", b"\x1f\x8b\x08\xff"),
        bzimage(elf(XEN_ENTRY)[:100], "xz"),
        cut_off("gzip"),
        cut_off("xz"),
    ],
)
def test_what_qemu_would_not_start_is_left_as_it_is(image: bytes) -> None:
    assert unpacked(image) is None


def test_without_zstd_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    image = bzimage(elf(XEN_ENTRY), "not packed").replace(b"\x7fELF\x02\x01", b"\x28\xb5\x2f\xfd\0\0")
    monkeypatch.setattr(package, "which", lambda program: None)
    with pytest.raises(MachineError, match=r"zstd is missing.*apt-get install -y zstd"):
        unpacked(image)


def test_an_unpacked_kernel_is_what_readelf_calls_one() -> None:
    """Of a kernel that somebody else packed, if this computer has one."""
    try:
        kernel = kernel_cache.find(None)
    except MachineError:
        pytest.skip("needs `testbed kernel fetch`")
    if lacking := [name for name in ("zstd", "readelf") if shutil.which(name) is None]:
        pytest.skip(f"needs {lacking[0]}")
    found = kernel_cache.unpacked_of(kernel)
    said = subprocess.run(("readelf", "--file-header", "--notes", found), capture_output=True, text=True, check=True)
    assert "EXEC (Executable file)" in said.stdout
    assert kernel.release in found.read_bytes().decode("latin-1")


def test_an_unpacked_kernel_is_made_once_and_lies_beside_the_packed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = elf(XEN_ENTRY)
    packed = bzimage(plain, "gzip")
    (tmp_path / "vmlinuz").write_bytes(packed)
    kernel = kernel_cache.VmKernel("k", "7", "s", False, "2026", tmp_path)
    made = kernel_cache.unpacked_of(kernel)
    assert (made.name, made.read_bytes()) == (f"vmlinux-{hashlib.sha256(packed).hexdigest()[:16]}", plain)
    monkeypatch.setattr(kernel_cache, "unpacked", None)
    assert kernel_cache.unpacked_of(kernel) == made
    (tmp_path / "vmlinuz").write_bytes(b"another")
    monkeypatch.setattr(kernel_cache, "unpacked", lambda image: image)
    assert kernel_cache.unpacked_of(kernel).read_bytes() == b"another"
