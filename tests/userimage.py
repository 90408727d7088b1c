"""A disk such as a user may bring: a small root file system out of this computer's programs, made without root."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

PROGRAMS = ("sh", "cat", "grep", "uname", "nproc", "mount", "ip", "ethtool", "iperf3", "ping", "qemu-ga")
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


def missing() -> str | None:
    """The first program without which there is no image; None if all are here."""
    return next((name for name in (*PROGRAMS, "mke2fs", "ldd") if _which(name) is None), None)


def make(folder: Path, about: str, agent: Path) -> Path:
    """An image whose /etc/image says `about`, as its console does."""
    root = folder / "root"
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    places = {name: _which(name) for name in PROGRAMS} | {"qemu-ga": str(agent)}
    for place in places.values():
        assert place is not None
        _copy(place, root)
        for library in _libraries(place):
            _copy(library, root)
    (root / "etc/image").write_text(about)
    search = dict.fromkeys(str(Path(place).parent) for place in places.values() if place)
    _script(root / "bin/sh", places["sh"])
    (root / "sbin/init").write_text(INIT.format(path=":".join(search), agent=places["qemu-ga"]))
    (root / "sbin/init").chmod(0o755)
    image = folder / "user.img"
    subprocess.run((_which("mke2fs"), "-q", "-t", "ext4", "-d", root, image, "128M"), check=True)  # type: ignore[arg-type]
    return image


def _script(link: Path, shell: str | None) -> None:
    if not link.exists():
        link.symlink_to(str(shell))


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
