"""Virtual machines as values. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Cpu: TypeAlias = Literal["1 GIPS", "0.5 GIPS", "0.25 GIPS"]
"""How many instructions a machine's processor carries out in a second of virtual time."""

Model: TypeAlias = Literal["virtio", "e1000"]
"""What the machine's network cards look like to it."""

MEMORY_BYTES = 1 << 30
MEMORY_MIN_BYTES = 256 << 20
"""A distribution's kernel does not come up with much less."""
CPUS_MAX = 64


@dataclass(frozen=True)
class Vm:
    """A virtual machine. `kernel` is the name of one that this machine has, None the newest fetched by default.

    `image` is a disk to boot from, as an absolute path; None is a root file system that shows the host's, read-only.
    With both, the kernel takes the image's first file system for its root; with the image alone the image boots itself.
    `vhost` has the host's kernel move packets, not QEMU. `cpu` is for virtual time, where None is the fastest; in real
    time the computer decides.
    """

    memory_bytes: int = MEMORY_BYTES
    cpus: int = 1
    model: Model = "virtio"
    kernel: str | None = None
    image: str | None = None
    vhost: bool = False
    cpu: Cpu | None = None

    @property
    def boots_itself(self) -> bool:
        return self.image is not None and self.kernel is None
