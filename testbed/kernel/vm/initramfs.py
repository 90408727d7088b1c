"""The file system that a virtual machine's kernel finds in memory when it starts: a `newc` archive. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable

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
