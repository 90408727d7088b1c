"""The file models of machines in a topology file and an inventory, converted to and from values. Pure, no I/O."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ....error import ValueRefused
from ....model.node.machine import Machine, Ssh
from ....model.topology import Nic, Node
from ...syntax.field import Addresses, EcnField, Flag, Name, Sysctls, matching, number
from ...syntax.file_model import FileModel
from ...syntax.scalar import whole, word
from .keys import NodeKeys

NIC_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.@:-]{0,14}"
NIC_ALLOWED = "the name of a network interface, such as eth1"
HOST_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_.:%-]{0,252}"
HOST_ALLOWED = "the name or the address of a computer"
USER_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}\$?"
PATH_PATTERN = r"[^\s'\"\\]+"

nic_name = word(NIC_PATTERN, "a network interface", NIC_ALLOWED)


def _nics(value: object) -> tuple[str, ...]:
    names = tuple(map(nic_name, value)) if isinstance(value, list | tuple) else (nic_name(value),)
    if not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise ValueRefused(f"these are {len(names)} network interfaces", "one, or two different ones: [eth1, eth2]")
    return names


Nics = Annotated[
    tuple[str, ...],
    PlainValidator(_nics),
    PlainSerializer(lambda names: names[0] if len(names) == 1 else list(names)),
    WithJsonSchema(
        {
            "anyOf": [
                matching(f"^{NIC_PATTERN}$", NIC_ALLOWED),
                {"type": "array", "items": matching(f"^{NIC_PATTERN}$", NIC_ALLOWED), "minItems": 1, "maxItems": 2},
            ]
        }
    ),
]
Host = Annotated[
    str,
    PlainValidator(word(HOST_PATTERN, "a host", HOST_ALLOWED)),
    WithJsonSchema(matching(f"^{HOST_PATTERN}$", HOST_ALLOWED)),
]
User = Annotated[
    str,
    PlainValidator(word(USER_PATTERN, "the name of a user", "the name of a user, such as root")),
    WithJsonSchema(matching(f"^{USER_PATTERN}$", "A user.")),
]
Port = Annotated[int, PlainValidator(whole(1, 65535)), WithJsonSchema(number(1, 65535, "A TCP port."))]
File = Annotated[
    str,
    PlainValidator(word(PATH_PATTERN, "a path without spaces and quotes", "the path of a file")),
    WithJsonSchema(matching(f"^{PATH_PATTERN}$", "A file, relative to the folder of this file.")),
]


class SshFile(FileModel):
    """How a computer is reached; what is left out is as in the user's SSH configuration."""

    address: Host
    user: User | None = None
    port: Port | None = None
    key: File | None = Field(
        None, description="The file of a private key; default: the keys of the agent and of ~/.ssh."
    )
    known_hosts: File | None = Field(None, description="The file with its host key; default: ~/.ssh/known_hosts.")

    def ssh(self) -> Ssh:
        return Ssh(self.address, self.user, self.port, self.key, self.known_hosts)

    @classmethod
    def of(cls, ssh: Ssh) -> SshFile:
        return cls.model_construct(**vars(ssh))


class MachineFile(NodeKeys):
    """A machine: a real computer, reached over SSH."""

    varied = ("nic",)
    type: Literal["machine"]
    host: Host | None = Field(
        None, description="Its name in inventory.yml or in ~/.ssh/config; default: the node's name."
    )
    nics: dict[Name, Nics] = Field({}, description="Its interfaces, by link: eth1; an emulator has [eth1, eth2].")
    nic: Nic | None = Field(None, description="How its NICs behave; default: as the topology says.")
    addresses: Addresses = Field((), description="The addresses on its only link; a link can set them too.")
    sysctls: Sysctls = Field({}, description="Kernel settings in the network namespace that it uses.")
    ecn: EcnField = Field(
        None, description="Whether TCP uses ECN: off, on (RFC 3168) or accurate; default: the kernel's."
    )
    forward: Flag = Field(False, description="Whether it routes between its links.")
    ssh: SshFile | None = Field(None, description="How to reach it; replaces its entry in inventory.yml.")

    def node(self, name: str) -> Node:
        ssh = None if self.ssh is None else self.ssh.ssh()
        machine = Machine(self.host, tuple(self.nics.items()), self.forward, ssh)
        return Node(
            name,
            self.type,
            nic=self.nic,
            addresses=self.addresses,
            sysctls=tuple(self.sysctls.items()),
            ecn=self.ecn,
            machine=machine,
        )

    @classmethod
    def of(cls, node: Node) -> MachineFile:
        machine = node.machine or Machine()
        return cls.model_construct(
            type="machine",
            host=machine.host,
            nics=dict(machine.nics),
            nic=node.nic,
            addresses=node.addresses,
            sysctls=dict(node.sysctls),
            ecn=node.ecn,
            forward=machine.forward,
            ssh=None if machine.ssh is None else SshFile.of(machine.ssh),
        )
