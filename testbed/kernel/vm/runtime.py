"""Virtual machines in a lab kernel: what QEMU reads there, and where. Looks for files.

QEMU is a program of the guest, which sees of the computer what confinement leaves open. So machines have a root file
system of their own there: the system folders, and of /etc what programs need.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...cache_folder import is_trusted, user
from ...error import MachineError
from ...model.node.vm import Vm
from ...plan.node import vm as qemu
from ...plan.step import Placeholder, Run, StartVm, Step
from ..confinement import SYSTEM
from ..lab import HERE, NO_PROGRAMS, VM_FILES, Programs
from . import kernel_cache

MOUNTED = "/run/vm"
"""Where the guest has the folder of kernels for virtual machines and of the guest agent."""

IMAGES = "/run/vm-images"
ROOT = "/run/vm-root"
SHOWN = (*(folder.removeprefix("/") for folder in SYSTEM), MOUNTED.removeprefix("/"))
SETTINGS = "alternatives group host.conf hosts iproute2 ld.so.cache localtime nsswitch.conf passwd protocols services"
"""Of /etc. QEMU reads whole folders, and this one is not open to a guest as a whole."""

EMPTY = ("proc", "sys", "dev", "tmp", "var/tmp", "var/log", "mnt", "root")
MAKE_ROOT = f"""\
cd {ROOT}
mkdir etc
for name in {" ".join(SHOWN)} {" ".join(f"etc/{name}" for name in SETTINGS.split())}; do
    if [ -L /$name ]; then
        ln -s "$(readlink /$name)" $name
    elif [ -d /$name ]; then
        mkdir -p $name
        mount --bind /$name $name
    elif [ -f /$name ]; then
        cp /$name $name
    fi
done
mkdir -p {" ".join(EMPTY)}
"""

MOUNTS: tuple[Run, ...] = (
    Run(("mkdir", "-p", MOUNTED, ROOT), "folders of the virtual machines"),
    Run(("mount", "-r", "-t", "hostfs", "-o", f"{HERE}/{VM_FILES}", "none", MOUNTED), "mount"),
    Run(("mount", "-t", "tmpfs", "-o", "mode=0755", "none", ROOT), "mount"),
    Run(("sh", "-ec", MAKE_ROOT), "root of the virtual machines"),
)


def programs(machines: Sequence[Vm]) -> Programs:
    """What a lab kernel reads for these machines. Without links: hostfs follows only one."""
    if not machines:
        return NO_PROGRAMS
    images = _images(machines)
    places = {name: path.parent for name, path in images.values()}
    return Programs({VM_FILES: kernel_cache.folder().resolve()}, tuple(path for _, path in images.values()), places)


def _images(machines: Sequence[Vm]) -> dict[str, tuple[str, Path]]:
    """The disks of machines: what the guest calls the folder of each, and which file it is, without links."""
    named = dict.fromkeys(vm.image for vm in machines if vm.image is not None)
    return {image: (f"image-{number}", _disk(Path(image))) for number, image in enumerate(named)}


def _disk(image: Path) -> Path:
    """Its path was without links when it was judged. Raises MachineError for a link that another user has put there."""
    for place in (*reversed(image.parents), image):
        if place.is_symlink() and not is_trusted(owner := place.lstat().st_uid):
            raise MachineError(f"{image}: the link {place} belongs to {user(owner)}", "a path without it")
    return Path(os.path.realpath(image))


def with_files(steps: Sequence[Step], machines: Sequence[Vm]) -> tuple[Step, ...]:
    """The steps for a lab kernel, which mounts these files before it starts the first machine. Disks, too: a guest has
    a /tmp of its own.
    """
    first = next((number for number, step in enumerate(steps) if isinstance(step, StartVm)), None)
    if first is None:
        return tuple(steps)
    mounts = MOUNTS
    drives: dict[str, str] = {}
    for image, (name, path) in _images(machines).items():
        place = f"{IMAGES}/{name}"
        mounts += (
            Run(("mkdir", "-p", place), "folder of a disk"),
            Run(("mount", "-r", "-t", "hostfs", "-o", f"{HERE}/{name}", "none", place), "mount"),
        )
        drives[qemu.drive(image)] = qemu.drive(f"{place}/{path.name}")
    told = (_with_drives(step, drives) if isinstance(step, StartVm) else step for step in steps[first:])
    return (*steps[:first], *mounts, *told)


def _with_drives(step: StartVm, drives: Mapping[str, str]) -> StartVm:
    return replace(step, words=tuple(drives.get(word, word) for word in step.words))


def in_lab(words: Mapping[Placeholder, str]) -> dict[Placeholder, str]:
    """The values of placeholders, with the names of files in the guest: no step says where this user's cache is."""
    homes = [f"{path}/" for path in (kernel_cache.folder(), kernel_cache.folder().resolve())]

    def named(text: str) -> str:
        return next((f"{MOUNTED}/{text.removeprefix(home)}" for home in homes if text.startswith(home)), text)

    return {**{key: named(text) for key, text in words.items()}, qemu.ROOT: ROOT}
