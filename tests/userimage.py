"""A disk such as a user may bring: a small root file system out of this computer's programs, made without root."""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
from pathlib import Path

from testbed.kernel.vm import kernel_cache
from testbed.kernel.vm.kernel_cache import VmKernel
from testbed.plan.node import vm

PROGRAMS = ("sh", "cat", "grep", "uname", "nproc", "mount", "insmod", "ip", "ethtool", "iperf3", "ping", "qemu-ga")
FOLDERS = ("bin", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "tmp", "usr", "var")
INIT = """\
#!/bin/sh
# As udev and a service would: the guest agent on the port of its name.
PATH={path}
export PATH
mount -t tmpfs run /run
for port in /sys/class/virtio-ports/*; do
    [ "$(cat "$port/name")" = org.qemu.guest_agent.0 ] && device=/dev/${{port##*/}}
done
echo "image: $(cat /etc/image) on $device"
exec {agent} --method virtio-serial --path "$device" --statedir /run
"""
FIRST = """\
#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do insmod "$module"; done
exec /sbin/init
"""


def missing(*more: str) -> str | None:
    """The first program without which there is no image; None if all are here."""
    return next((name for name in (*PROGRAMS, *more) if _which(name) is None), None)


def make(folder: Path, about: str, agent: Path) -> Path:
    """A file system whose /etc/image says `about`, as its console does. It needs a kernel from outside."""
    root = _root(folder, about, agent)
    image = folder / "user.img"
    _run("mke2fs", "-q", "-t", "ext4", "-d", str(root), str(image), "128M")
    return image


def make_bootable(folder: Path, about: str, agent: Path, kernel: VmKernel) -> Path:
    """A disk with a boot loader, a kernel, and a root file system in memory that says `about`."""
    root = _root(folder, about, agent)
    home = kernel.modules / kernel.release
    for number, file in enumerate(kernel_cache.load_order((home / "modules.dep").read_text(), ("virtio_net", "e1000"))):
        module = (home / file).read_bytes()
        plain = lzma.decompress(module) if file.endswith(".xz") else module
        (root / "modules").mkdir(exist_ok=True)
        (root / f"modules/{number:02}.ko").write_bytes(plain)
    (root / "init").write_text(FIRST)
    (root / "init").chmod(0o755)
    files = b"\n".join(bytes(path.relative_to(root)) for path in sorted(root.rglob("*")))
    archive, settings, disk = folder / "initrd", folder / "syslinux.cfg", folder / "user.img"
    archive.write_bytes(_run("cpio", "--quiet", "-o", "-H", "newc", cwd=root, stdin=files))
    settings.write_text(f"DEFAULT own\nPROMPT 0\nLABEL own\n KERNEL vmlinuz\n APPEND initrd=initrd {vm.BOOT_WORDS}\n")
    size = (archive.stat().st_size + kernel.image.stat().st_size >> 20) + 32
    disk.write_bytes(b"")
    os.truncate(disk, size << 20)
    _run("mformat", "-i", str(disk), "-T", str(size << 11), "-h", "64", "-s", "32", "::")
    _run("mcopy", "-i", str(disk), str(kernel.image), "::vmlinuz")
    _run("mcopy", "-i", str(disk), str(archive), str(settings), "::")
    _run("syslinux", "--install", str(disk))
    return disk


def _root(folder: Path, about: str, agent: Path) -> Path:
    root = folder / "root"
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    places = {name: _which(name) or "" for name in PROGRAMS} | {"qemu-ga": str(agent)}
    for place in places.values():
        for file in (place, *_libraries(place)):
            _copy(file, root)
    (root / "etc/image").write_text(about)
    search = dict.fromkeys(str(Path(place).parent) for place in places.values())
    _script(root / "bin/sh", places["sh"])
    (root / "sbin/init").write_text(INIT.format(path=":".join(search), agent=places["qemu-ga"]))
    (root / "sbin/init").chmod(0o755)
    return root


def _run(program: str, *words: str, cwd: Path | None = None, stdin: bytes = b"") -> bytes:
    done = subprocess.run((_which(program) or program, *words), check=True, capture_output=True, cwd=cwd, input=stdin)
    return done.stdout


def _script(link: Path, shell: str) -> None:
    if not link.exists():
        link.symlink_to(shell)


def _copy(place: str, root: Path) -> None:
    to = root / place.lstrip("/")
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(place, to)
    to.chmod(0o755)


def _libraries(program: str) -> list[str]:
    said = subprocess.run(("ldd", program), check=False, capture_output=True, text=True).stdout
    return [word for line in said.splitlines() for word in line.split() if word.startswith("/")]


def _which(name: str) -> str | None:
    return shutil.which(name, path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
