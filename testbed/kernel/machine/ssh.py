"""SSH connections to machines, with errors that say what to type, and the relay that passes the agent's requests over
them. Opens network connections, and reads the user's SSH configuration, keys and known hosts.

It never trusts an unknown host key; the error says how to look at the key.

The agent is in the trial's network and cannot reach a machine itself, but both can reach a socket in the trial's
folder. Each machine has one connection for a whole trial. When one end closes, the other notices, and the machine
daemon restores the machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import asyncssh

from ...error import MachineError
from ...model.node.machine import SSH_PORT, Machine
from ...native_program import AGENT

CONNECT_S = 30
KEEPALIVE_S, KEEPALIVES = 5, 12
"""A machine that answers none of so many questions, so far apart, is gone."""


async def connect(node: str, machine: Machine) -> asyncssh.SSHClientConnection:
    """Raises MachineError that names the node and the host."""
    ssh = machine.ssh
    options: dict[str, Any] = {"connect_timeout": CONNECT_S, "login_timeout": CONNECT_S}
    options |= {"keepalive_interval": KEEPALIVE_S, "keepalive_count_max": KEEPALIVES}
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
    address, port = (ssh.address, ssh.port or SSH_PORT) if ssh else (host, SSH_PORT)
    known = Path(ssh.known_hosts if ssh and ssh.known_hosts else os.path.expanduser("~/.ssh/known_hosts"))
    file = shlex.quote(os.fspath(known))
    if known.exists():
        trusted = asyncssh.match_known_hosts(os.fspath(known), address, address, None if port == SSH_PORT else port)[0]
        name = address if port == SSH_PORT else f"[{address}]:{port}"
        if trusted:
            return MachineError(
                f"{where} shows another host key than the one in {known}: it was set up anew, or somebody else answers",
                f"ssh-keygen -f {file} -R '{name}'   # if you know why",
            )
    scan = f"ssh-keyscan -p {port} {address} >> {file}"
    return MachineError(
        f"the host key of {where} is not known, and is not taken on trust",
        f"{ssh_command}   # and compare the fingerprint; or, on a network you trust, {scan}",
    )


Accept: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

MODULES = ("syscall", "nic_loan", "machine_daemon")
"""Of the agent's package: what the machine daemon consists of."""

LEAVE_S = 30.0
"""How long a machine may take to restore everything once we close the connection."""

HEARTBEAT_S = 5.0

SHELL = (
    'if [ "$(id -u)" = 0 ]; then s=; else s="sudo -n"; fi; '
    'exec $s env "SSH_CONNECTION=$SSH_CONNECTION" PYTHONDONTWRITEBYTECODE=1 python3 -ISB -c "$0"'
)

LOADER = """\
import os, sys, types
modules = {sources!r}
for name, text in modules.items():
    module = types.ModuleType(name)
    module.__package__ = "agent"
    module.__path__ = []
    sys.modules[name] = module
    if "." in name:
        setattr(sys.modules["agent"], name.split(".")[1], module)
    exec(compile(text, name, "exec"), module.__dict__)
words = os.environ.get("SSH_CONNECTION", "").split()
sys.exit(sys.modules["agent.machine_daemon"].main(modules, words[2] if len(words) > 2 else None))
"""

FIRST = "import os\nt=b''\nwhile len(t)<{size}:t+=os.read(0,{size}-len(t)) or os._exit(1)\nexec(t)"


def daemon() -> tuple[str, bytes]:
    """The command that starts the machine daemon, and what it reads first."""
    sources = {"agent": "", **{f"agent.{name}": (AGENT / f"{name}.py").read_text() for name in MODULES}}
    loader = LOADER.format(sources=sources).encode()
    return f"exec sh -c {shlex.quote(SHELL)} {shlex.quote(FIRST.format(size=len(loader)))}", loader


class Relay:
    """The connections of one trial, in their own thread."""

    def __init__(self, machines: Mapping[str, Machine], folder: Path) -> None:
        self.machines = dict(machines)
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="relay", daemon=True)
        self.connections: dict[str, asyncssh.SSHClientConnection] = {}
        self.servers: list[asyncio.Server] = []
        self.lines: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Connects to every machine at once. Raises MachineError for the first that cannot be reached."""
        self.thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._open(), self.loop).result()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Waits until every machine has restored everything, or no longer answers."""
        asyncio.run_coroutine_threadsafe(self._close(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _open(self) -> None:
        found = await asyncio.gather(*(connect(*each) for each in self.machines.items()), return_exceptions=True)
        for node, each in zip(self.machines, found, strict=True):
            if isinstance(each, asyncssh.SSHClientConnection):
                self.connections[node] = each
        failed = [each for each in found if isinstance(each, BaseException)]
        if failed:
            raise failed[0]
        descriptor = os.open(self.folder, os.O_PATH)  # the folder's own path may be longer than a socket's can be
        try:
            for node in self.machines:
                path = f"/proc/self/fd/{descriptor}/{node}.sock"
                self.servers.append(await asyncio.start_unix_server(self._accept(node), path))
        finally:
            os.close(descriptor)

    def _accept(self, node: str) -> Accept:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._line(node, reader, writer))
            self.lines.add(task)
            with suppress(asyncio.CancelledError):
                await task

        return accept

    async def _line(self, node: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """From the agent's connection to the daemon's end."""
        command, loader = daemon()
        said = "the SSH connection is gone"
        try:
            process = await self.connections[node].create_process(command, encoding=None)
            process.stdin.write(loader)
            there = asyncio.ensure_future(_pump_there(reader, process))
            beat = asyncio.ensure_future(_beat(process))
            try:
                await _pump_back(process, writer)
                error = (await process.stderr.read()).decode(errors="replace").strip()
                await process.wait_closed()
                if process.exit_status:
                    said = error or f"the machine daemon ended with status {process.exit_status}"
            finally:
                beat.cancel()
                there.cancel()
        except (asyncssh.Error, OSError) as error:
            said = f"{said}: {error}"
        with suppress(OSError):
            writer.write(_gone(said))
            writer.close()
            await writer.wait_closed()

    async def _close(self) -> None:
        for server in self.servers:
            server.close()
        if self.lines:
            _, late = await asyncio.wait(self.lines, timeout=LEAVE_S)
            for task in late:
                task.cancel()
        for connection in self.connections.values():
            connection.close()
        for connection in self.connections.values():
            with suppress(asyncssh.Error, OSError, TimeoutError):
                await asyncio.wait_for(connection.wait_closed(), LEAVE_S)
        for node in self.machines:
            (self.folder / f"{node}.sock").unlink(missing_ok=True)


async def _pump_there(reader: asyncio.StreamReader, process: asyncssh.SSHClientProcess[bytes]) -> None:
    with suppress(asyncssh.Error, OSError):
        while data := await reader.read(1 << 18):
            process.stdin.write(data)
            await process.stdin.drain()
        process.stdin.write_eof()


async def _pump_back(process: asyncssh.SSHClientProcess[bytes], writer: asyncio.StreamWriter) -> None:
    """Runs to the end, even if nobody listens any more."""
    while data := await process.stdout.read(1 << 18):
        with suppress(OSError):
            writer.write(data)
            await writer.drain()


async def _beat(process: asyncssh.SSHClientProcess[bytes]) -> None:
    """A sign of life: an empty request."""
    with suppress(asyncssh.Error, OSError):
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            process.stdin.write(b"{}\n")


def _gone(said: str) -> bytes:
    return (json.dumps({"gone": said}) + "\n").encode()
