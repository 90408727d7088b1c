"""A virtual machine as a topology file writes it. Pure, no I/O."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from .... import units
from ....error import ValueRefused
from ....model.node.vm import CPUS_MAX, MEMORY_BYTES, MEMORY_MIN_BYTES, Cpu, Model, Vm
from ....model.topology import Nic, Node
from ...syntax.attachment import Folder, unread
from ...syntax.document import Document, Path
from ...syntax.field import Addresses, EcnField, Flag, Sysctls, matching, number
from ...syntax.scalar import quantity, text_of, whole, word
from .keys import NodeKeys, nodes_that

KERNEL_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._+-]*"
KERNEL_ALLOWED = "a name that `testbed kernel list` prints for virtual machines"
MEMORY_ALLOWED = f"{units.format_size(MEMORY_MIN_BYTES)} or more, such as 1 GiB"


def read_memory(value: object) -> int:
    found = quantity(units.parse_size, units.SIZE.allowed)(value)
    if found is None or found < MEMORY_MIN_BYTES:
        raise ValueRefused(f"{value!r} is too small for a virtual machine", MEMORY_ALLOWED)
    return found


Memory = Annotated[
    int,
    PlainValidator(read_memory),
    PlainSerializer(units.format_size),
    WithJsonSchema(matching(units.SIZE.pattern, "Its memory.", "1 GiB")),
]
Cpus = Annotated[int, PlainValidator(whole(1, CPUS_MAX)), WithJsonSchema(number(1, CPUS_MAX, "Its processors."))]
KernelName = Annotated[
    str,
    PlainValidator(word(KERNEL_PATTERN, "the name of a kernel", KERNEL_ALLOWED)),
    WithJsonSchema(matching(f"^{KERNEL_PATTERN}$", KERNEL_ALLOWED, "debian-7.3.4")),
]
IMAGE_ALLOWED = "a file with the image of a disk"
Image = Annotated[
    str,
    PlainValidator(lambda value: text_of(value, IMAGE_ALLOWED)),
    WithJsonSchema({"type": "string", "minLength": 1}),
]


class VmFile(NodeKeys):
    """A virtual machine: QEMU, with a kernel of its own."""

    varied = ("nic", "ecn", "memory", "cpus", "model", "kernel", "vhost", "cpu")
    type: Literal["vm"]
    nic: Nic | None = Field(None, description="How its NICs behave; default: as the topology says.")
    addresses: Addresses = Field((), description="The addresses on its only link; a link can set them too.")
    sysctls: Sysctls = Field({}, description="Kernel settings of this machine.")
    ecn: EcnField = Field(
        None, description="Whether TCP uses ECN: off, on (RFC 3168) or accurate; default: the kernel's."
    )
    memory: Memory = Field(MEMORY_BYTES, description="Its memory; default: 1 GiB.")
    cpus: Cpus = 1
    model: Model = Field("virtio", description="The model of its network cards.")
    kernel: KernelName | None = Field(
        None, description="The name of its kernel; default: the newest of `testbed kernel fetch`."
    )
    image: Image | None = Field(
        None, description="A disk image, used instead of the host's files; needs qemu-guest-agent in it."
    )
    vhost: Flag = Field(False, description="Whether the host's kernel (vhost-net) moves packets instead of QEMU.")

    cpu: Cpu | None = Field(
        None, description="The speed of its processor in virtual time (`kernel: lab`); default: 1 GIPS."
    )

    def node(self, name: str) -> Node:
        vm = Vm(self.memory, self.cpus, self.model, self.kernel, self.image, self.vhost, self.cpu)
        sysctls = tuple(self.sysctls.items())
        return Node(name, self.type, nic=self.nic, addresses=self.addresses, sysctls=sysctls, vm=vm, ecn=self.ecn)

    @classmethod
    def of(cls, node: Node) -> VmFile:
        vm = node.vm
        assert vm is not None, "BUG: a virtual machine without its values"
        return cls.model_construct(
            type="vm",
            nic=node.nic,
            addresses=node.addresses,
            sysctls=dict(node.sysctls),
            ecn=node.ecn,
            memory=vm.memory_bytes,
            cpus=vm.cpus,
            model=vm.model,
            kernel=vm.kernel,
            image=vm.image,
            vhost=vm.vhost,
            cpu=vm.cpu,
        )


def anchored(topology: Document, folder: Folder) -> Document:
    """The same document, in which images are named as seen from the root and not from the topology's folder."""
    for name, node in nodes_that(topology.data, lambda kind: kind.runs_in == "virtual machine").items():
        if isinstance(node.get("image"), str):
            place: Path = ("nodes", name, "image")
            said = node["image"]
            try:
                image = os.path.abspath(folder.find(topology, place, os.path.expanduser(said)))
            except OSError as error:
                topology = replace(topology, faults=(*topology.faults, unread(place, said, error, IMAGE_ALLOWED)))
                continue
            nodes = {**topology.data["nodes"], name: {**node, "image": image}}
            topology = replace(topology, data={**topology.data, "nodes": nodes})
    return topology
