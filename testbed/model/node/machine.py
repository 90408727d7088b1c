"""A machine: a real computer that is reached over SSH, as a value. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ssh:
    """How a machine is reached. What is None is left to the user's SSH configuration."""

    address: str
    user: str | None = None
    port: int | None = None
    key: str | None = None
    known_hosts: str | None = None


@dataclass(frozen=True)
class Machine:
    """What a node of this type has of its own.

    `host` is a name in the inventory or in the user's SSH configuration, None is the node's own name. `nics` holds, by
    link, the machine's network interfaces on it: one, and two (towards the first and the second end) where the machine
    is the emulator of a link between others. `forward` makes it a router. `ssh` None leaves all to the SSH
    configuration.
    """

    host: str | None = None
    nics: tuple[tuple[str, tuple[str, ...]], ...] = ()
    forward: bool = False
    ssh: Ssh | None = None

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
        words += ["-o", f"UserKnownHostsFile={ssh.known_hosts}"] if ssh.known_hosts else []
        return (*words, f"{ssh.user}@{ssh.address}" if ssh.user else ssh.address)

    def nics_of(self, link: str) -> tuple[str, ...]:
        """None, one or two."""
        return dict(self.nics).get(link, ())
