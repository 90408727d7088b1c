"""Virtual machines in a lab kernel: what QEMU reads there, and where. Looks for files.

QEMU is a program of the guest, which sees of the computer what confinement leaves open. So machines have a root file
system of their own there: the system folders, and of /etc what programs need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...model.node.vm import Vm
from ...plan.node import vm as qemu
from ...plan.step import Placeholder, Run, StartVm, Step
from ..confinement import SYSTEM
from ..lab import HERE, NO_PROGRAMS, VM_FILES, Programs
from ..vm import kernel_cache

MOUNTED = "/run/vm"
"""Where the guest has the folder of kernels for virtual machines and of the guest agent."""

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


def programs(machines: Sequence[Vm]) -> Programs:
    """What a lab kernel reads for these machines. Without links: hostfs follows only one."""
    if not machines:
        return NO_PROGRAMS
    images = (Path(vm.image) for vm in machines if vm.image is not None)
    return Programs({VM_FILES: kernel_cache.folder().resolve()}, tuple(images))


def with_files(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps for a lab kernel, which mounts these files before it starts the first machine."""
    first = next((number for number, step in enumerate(steps) if isinstance(step, StartVm)), None)
    if first is None:
        return tuple(steps)
    mounts = (
        Run(("mkdir", "-p", MOUNTED, ROOT), "folders of the virtual machines"),
        Run(("mount", "-r", "-t", "hostfs", "-o", f"{HERE}/{VM_FILES}", "none", MOUNTED), "mount"),
        Run(("mount", "-t", "tmpfs", "-o", "mode=0755", "none", ROOT), "mount"),
        Run(("sh", "-ec", MAKE_ROOT), "root of the virtual machines"),
    )
    return (*steps[:first], *mounts, *steps[first:])


def in_lab(words: Mapping[Placeholder, str]) -> dict[Placeholder, str]:
    """The values of placeholders, with the names of files in the guest: no step says where this user's cache is."""
    homes = [f"{path}/" for path in (kernel_cache.folder(), kernel_cache.folder().resolve())]

    def named(text: str) -> str:
        return next((f"{MOUNTED}/{text.removeprefix(home)}" for home in homes if text.startswith(home)), text)

    return {**{key: named(text) for key, text in words.items()}, qemu.ROOT: ROOT}
