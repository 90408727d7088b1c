"""SSH connections to machines, with errors that say what to type. Opens network connections, and reads the user's SSH
configuration, keys and known hosts.

It never trusts an unknown host key; the error says how to look at the key.
"""

from __future__ import annotations

import os
import shlex
import socket
from pathlib import Path
from typing import Any

import asyncssh

from ...error import MachineError
from ...model.node.machine import Machine

CONNECT_S = 10
KEEPALIVE_S = 5


async def connect(node: str, machine: Machine) -> asyncssh.SSHClientConnection:
    """Raises MachineError that names the node and the host."""
    ssh = machine.ssh
    options: dict[str, Any] = {"connect_timeout": CONNECT_S, "login_timeout": CONNECT_S}
    options |= {"keepalive_interval": KEEPALIVE_S, "keepalive_count_max": 3}
    if ssh is not None:
        given = {"username": ssh.user, "port": ssh.port, "known_hosts": ssh.known_hosts}
        options |= {key: value for key, value in given.items() if value is not None}
        options |= {"client_keys": [ssh.key]} if ssh.key else {}
    try:
        return await asyncssh.connect(ssh.address if ssh else (machine.host or node), **options)
    except (asyncssh.Error, OSError, ValueError) as error:
        raise _explained(node, machine, error) from None


def _explained(node: str, machine: Machine, error: Exception) -> MachineError:
    where = f"{node}: {machine.described(node)}"
    ssh_command = shlex.join(machine.ssh_words(node))
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return _host_key(where, machine, (machine.host or node), ssh_command)
    if isinstance(error, asyncssh.PermissionDenied):
        return MachineError(f"{where} accepts none of our keys ({error.reason})", f"ssh-copy-id {ssh_command[4:]}")
    if isinstance(error, asyncssh.KeyImportError | asyncssh.KeyEncryptionError):
        return MachineError(f"{where}: the key cannot be used ({error})", "ssh-add, which gives it to the agent")
    if isinstance(error, socket.gaierror):
        fix = f"ssh {(machine.host or node)}   # its name has to be in inventory.yml, ~/.ssh/config or the DNS"
        return MachineError(f"{where} is not known: {error.strerror}", fix)
    if isinstance(error, ConnectionRefusedError):
        return MachineError(f"{where} refuses the connection (is sshd running there?)", ssh_command)
    if isinstance(error, TimeoutError):
        return MachineError(f"{where} does not answer within {CONNECT_S} s", ssh_command)
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
    return MachineError(f"{where} cannot be reached: {reason}", ssh_command)


def _host_key(where: str, machine: Machine, host: str, ssh_command: str) -> MachineError:
    ssh = machine.ssh
    address, port = (ssh.address, ssh.port or 22) if ssh else (host, 22)
    known = Path(ssh.known_hosts if ssh and ssh.known_hosts else os.path.expanduser("~/.ssh/known_hosts"))
    if known.exists():
        trusted = asyncssh.match_known_hosts(os.fspath(known), address, address, None if port == 22 else port)[0]
        if trusted:
            return MachineError(
                f"{where} shows another host key than the one in {known}: it was set up anew, or somebody else answers",
                f"ssh-keygen -f {known} -R '{address if port == 22 else f'[{address}]:{port}'}'   # if you know why",
            )
    scan = f"ssh-keyscan -p {port} {address} >> {known}"
    return MachineError(
        f"the host key of {where} is not known, and is not taken on trust",
        f"{ssh_command}   # and compare the fingerprint; or, on a network you trust, {scan}",
    )
