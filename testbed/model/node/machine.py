"""A machine: a real computer that is reached over SSH, as a value. Pure, no I/O."""

from __future__ import annotations

from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.keyed import key as a_key
from ...codec.kind import FLAG, NAME, mapped, matching, pattern, record, whole
from ...codec.scalar import word
from ...error import ValueRefused

DEVICE_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.@:-]{0,14}"
DEVICE_ALLOWED = "the name of a network interface, such as eth1"
HOST_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_.:%-]{0,252}"
HOST_ALLOWED = "the name or the address of a computer"
USER_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}\$?"
SSH_PORT = 22
PATH_PATTERN = r"[^\x00-\x1f\x7f'\"\\]+"


_nic_name = word(DEVICE_PATTERN, "a network interface", DEVICE_ALLOWED)


def _nics(value: object) -> tuple[str, ...]:
    names = tuple(map(_nic_name, value)) if isinstance(value, list | tuple) else (_nic_name(value),)
    if not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise ValueRefused(f"these are {len(names)} network interfaces", "one, or two different ones: [eth1, eth2]")
    return names


_ONE = matching(f"^{DEVICE_PATTERN}$", DEVICE_ALLOWED)
NICS = Kind(
    _nics,
    lambda names: names[0] if len(names) == 1 else list(names),
    {"anyOf": [_ONE, {"type": "array", "items": _ONE, "minItems": 1, "maxItems": 2}]},
)
HOST = pattern(HOST_PATTERN, "a host", HOST_ALLOWED, HOST_ALLOWED)
USER = pattern(USER_PATTERN, "the name of a user", "the name of a user, such as root", "A user.")
FILE = pattern(
    PATH_PATTERN,
    "a path without quotes and backslashes",
    "the path of a file",
    "A file, relative to the folder of this file.",
)


@keyed
class Ssh(Keyed):
    """How a computer is reached; what is left out is as in the user's SSH configuration."""

    address: str = a_key("address", HOST)
    user: str | None = a_key("user", USER, default=None)
    port: int | None = a_key("port", whole(1, 65535, "A TCP port."), default=None)
    key: str | None = a_key(
        "key", FILE, "The file of a private key; default: the keys of the agent and of ~/.ssh.", default=None
    )
    known_hosts: str | None = a_key(
        "known_hosts", FILE, "The file with its host key; default: ~/.ssh/known_hosts.", default=None
    )

    @property
    def options(self) -> tuple[str, ...]:
        """The words of `ssh` that say what it cannot take from a configuration. It splits values at blanks itself."""
        return ("-o", f'UserKnownHostsFile="{self.known_hosts}"') if self.known_hosts else ()


@keyed
class Machine(Keyed):
    """What a node of this type has of its own.

    `host` is a name in the inventory or in the user's SSH configuration, None is the node's own name. `nics` holds, by
    link, the machine's network interfaces on it: one, and two (towards the first and the second end) where the machine
    is the emulator of a link between others. `forward` makes it a router. `ssh` None leaves all to the SSH
    configuration.
    """

    host: str | None = key(
        "host", HOST, "Its name in inventory.yml or in ~/.ssh/config; default: the node's name.", default=None
    )
    nics: tuple[tuple[str, tuple[str, ...]], ...] = key(
        "nics", mapped(NAME, NICS), "Its interfaces, by link: eth1; an emulator has [eth1, eth2].", default=()
    )
    forward: bool = key("forward", FLAG, "Whether it routes between its links.", default=False)
    ssh: Ssh | None = key("ssh", record(Ssh), "How to reach it; replaces its entry in inventory.yml.", default=None)

    def described(self, node: str) -> str:
        """For messages: root@192.0.2.11 port 2222, or the name in the SSH configuration."""
        if self.ssh is None:
            return self.host or node
        user = f"{self.ssh.user}@" if self.ssh.user else ""
        return f"{user}{self.ssh.address}" + (f" port {self.ssh.port}" if self.ssh.port else "")

    def ssh_words(self, node: str) -> tuple[str, ...]:
        """The `ssh` that a person would type."""
        ssh = self.ssh
        if ssh is None:
            return ("ssh", self.host or node)
        words = ["ssh", *(("-p", str(ssh.port)) if ssh.port else ()), *(("-i", ssh.key) if ssh.key else ())]
        return (*words, *ssh.options, f"{ssh.user}@{ssh.address}" if ssh.user else ssh.address)

    def nics_of(self, link: str) -> tuple[str, ...]:
        """None, one or two."""
        return dict(self.nics).get(link, ())
