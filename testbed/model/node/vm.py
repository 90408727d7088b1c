"""Virtual machines as values. Pure, no I/O."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ... import units
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import FLAG, matching, pattern, whole, word
from ...codec.scalar import quantity, text_of
from ...error import ValueRefused

Cpu: TypeAlias = Literal["1 GIPS", "0.5 GIPS", "0.25 GIPS"]
"""How many instructions a machine's processor carries out in a second of virtual time."""

Model: TypeAlias = Literal["virtio", "e1000"]
"""What the machine's network cards look like to it."""

MEMORY_BYTES = 1 << 30
MEMORY_MIN_BYTES = 256 << 20
"""A distribution's kernel does not come up with much less."""
CPUS_MAX = 64


KERNEL_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._+-]*"
KERNEL_ALLOWED = "a name that `testbed kernel list` prints for virtual machines"
MEMORY_ALLOWED = f"{units.format_size(MEMORY_MIN_BYTES)} or more, such as 1 GiB"


def read_memory(value: object) -> int:
    found = quantity(units.parse_size, units.SIZE.allowed)(value)
    if found is None or found < MEMORY_MIN_BYTES:
        raise ValueRefused(f"{value!r} is too small for a virtual machine", MEMORY_ALLOWED)
    return found


MEMORY = Kind(read_memory, units.format_size, matching(units.SIZE.pattern, "Its memory.", "1 GiB"))
KERNEL_NAME = pattern(KERNEL_PATTERN, "the name of a kernel", KERNEL_ALLOWED, KERNEL_ALLOWED, "debian-7.3.4")
IMAGE_ALLOWED = "a file with the image of a disk"
IMAGE = Kind(lambda value: text_of(value, IMAGE_ALLOWED), schema={"type": "string", "minLength": 1})


@keyed
class Vm(Keyed):
    """A virtual machine. `kernel` is the name of one that this machine has, None the newest fetched by default.

    `image` is a disk to boot from, as an absolute path; None is a root file system that shows the host's, read-only.
    With both, the kernel takes the image's first file system for its root; with the image alone the image boots itself.
    `vhost` has the host's kernel move packets, not QEMU. `cpu` is for virtual time, where None is the fastest; in real
    time the computer decides.
    """

    memory_bytes: int = key("memory", MEMORY, "Its memory; default: 1 GiB.", default=MEMORY_BYTES)
    cpus: int = key("cpus", whole(1, CPUS_MAX, "Its processors."), default=1)
    model: Model = key("model", word("virtio", "e1000"), "The model of its network cards.", default="virtio")
    kernel: str | None = key(
        "kernel", KERNEL_NAME, "The name of its kernel; default: the newest of `testbed kernel fetch`.", default=None
    )
    image: str | None = key(
        "image",
        IMAGE,
        "A disk image, used instead of the host's files; needs qemu-guest-agent in it.",
        default=None,
    )
    vhost: bool = key(
        "vhost", FLAG, "Whether the host's kernel (vhost-net) moves packets instead of QEMU.", default=False
    )
    cpu: Cpu | None = key(
        "cpu",
        word("1 GIPS", "0.5 GIPS", "0.25 GIPS"),
        "The speed of its processor in virtual time (`kernel: lab`); default: 1 GIPS.",
        default=None,
    )

    @property
    def boots_itself(self) -> bool:
        return self.image is not None and self.kernel is None
