"""Computers for tests: real sshd processes, each in namespaces of its own with its own addresses, host key and folders.

The caller's thread moves to a network namespace of its own, from which the machines can be reached; so nothing of the
host's network changes, and all that is started from here on reaches them too.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import asyncssh

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
CARRIER = re.compile(r"NO-CARRIER,|,LOWER_UP|,M-DOWN| state \w+| linkdown")
SSHD_CONFIG = """\
Port 22
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
StrictModes no
Subsystem sftp internal-sftp
"""
START = """\
set -e
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /root
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs tmpfs /home
mkdir -p /run/sshd /var/lib/dpkg
cp /etc/passwd {folder}/passwd
grep -q ^sshd: {folder}/passwd || echo 'sshd:x:64999:65534::/run/sshd:/usr/sbin/nologin' >>{folder}/passwd
mount --bind {folder}/passwd /etc/passwd
mount -t sysfs sysfs /sys
echo 1 >/proc/sys/net/ipv6/conf/default/addr_gen_mode
echo > {folder}/ready
read started
exec {sshd} -D -e -f {folder}/sshd_config 2>{folder}/sshd.log
"""


PASSING = ("ps ", "sshd", "[sshd]", "sh ")
"""How the lines of processes begin that come and go, or that have ended and wait for their parent."""


@dataclass(frozen=True)
class Computer:
    """One that is on. `pid` is its first process; `folder` has its keys and its log."""

    name: str
    address: str
    folder: Path
    pid: int

    def run(self, *words: str, check: bool = True) -> str:
        """As somebody would who sits there."""
        inside = ("nsenter", f"--target={self.pid}", "--mount", "--net", "--pid", "--", *words)
        return subprocess.run(inside, check=check, capture_output=True, text=True).stdout

    def dump(self) -> dict[str, str]:
        """All that a trial must leave as it was; not whether a cable's other end is up: that is told late."""
        return {what: CARRIER.sub("", text) for what, text in self._dump().items()}

    def _dump(self) -> dict[str, str]:
        listed = self.run("ps", "-eo", "args=").splitlines(keepends=True)
        running = [line for line in listed if "<defunct>" not in line]  # over, and about to be reaped
        return {
            "sysctls": self.run("sh", "-c", "cd /proc/sys/net && grep -r . . 2>/dev/null | LC_ALL=C sort"),
            "qdiscs": self.run("tc", "qdisc", "show"),
            "links": self.run("ip", "-d", "link", "show"),
            "addresses": self.run("ip", "address", "show"),
            "routes": self.run("sh", "-c", "ip route show table all | grep -v ^multicast | LC_ALL=C sort"),
            "namespaces": self.run("ip", "netns", "list"),
            "rules": self.run("nft", "list", "ruleset"),
            "offloads": self.run("sh", "-c", "for n in $(ls /sys/class/net); do ethtool -k $n; done 2>&1"),
            "processes": "".join(sorted(line for line in running if not line.startswith(PASSING))),
            "modules": Path("/proc/modules").read_text() if Path("/proc/modules").exists() else "",
        }


@dataclass(frozen=True)
class Sshd:
    """A server's program, the folder of its libraries, and what its configuration has to say besides."""

    program: str
    libraries: str = ""
    settings: str = ""


@cache
def sshd() -> Sshd | None:
    """This machine's; without, Debian's, unpacked, not installed: that would start it. None if it cannot be had."""
    if os.access("/usr/sbin/sshd", os.X_OK):
        return Sshd("/usr/sbin/sshd")
    folder = Path(tempfile.mkdtemp(prefix="testbed-sshd-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for package in ("openssh-server", "libwrap0"):
        if subprocess.run(("apt-get", "download", package), cwd=folder, capture_output=True).returncode:
            return None
    for path in folder.glob("*.deb"):
        subprocess.run(("dpkg-deb", "-x", path, folder), check=True)
    parts = {"SshdSessionPath": "sshd-session", "SshdAuthPath": "sshd-auth"}
    found = {key: folder / "usr/lib/openssh" / name for key, name in parts.items()}
    settings = "".join(f"{key} {path}\n" for key, path in found.items() if path.exists())
    libraries = next(iter(folder.glob("usr/lib/*/libwrap.so.0")), folder / "none").parent
    return Sshd(str(folder / "usr/sbin/sshd"), str(libraries), settings)


class Room:
    """A network namespace with a bridge, to which computers are plugged with their first interface."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.computers: dict[str, Computer] = {}
        self.processes: list[subprocess.Popen[bytes]] = []
        self.key = folder / "key"
        keygen(self.key)
        _ip("link", "set", "lo", "up")
        _ip("link", "add", "br0", "type", "bridge")
        _ip("address", "add", "10.77.0.254/24", "dev", "br0")
        _ip("link", "set", "br0", "up")

    def add(self, name: str, *, key: Path | None = None) -> Computer:
        """On, and answering; only the holder of the key comes in."""
        server = sshd()
        assert server is not None
        folder = self.folder / name
        folder.mkdir()
        address = f"10.77.0.{len(self.computers) + 1}"
        keygen(folder / "host_key")
        (folder / "authorized_keys").write_text((key or self.key).with_suffix(".pub").read_text())
        (folder / "sshd_config").write_text(server.settings + SSHD_CONFIG.format(address=address, folder=folder))
        process = subprocess.Popen(
            (
                *("setpriv", "--pdeathsig", "KILL", "--", "unshare", "--mount", "--net", "--pid", "--fork"),
                *("--kill-child", "--mount-proc", "--", "sh", "-c", START.format(folder=folder, sshd=server.program)),
            ),
            stdin=subprocess.PIPE,
            env={**os.environ, "LD_LIBRARY_PATH": server.libraries} if server.libraries else None,
        )
        self.processes.append(process)
        pid = _first_child(process, folder / "ready")
        computer = Computer(name, address, folder, pid)
        self.computers[name] = computer
        _ip("link", "add", "name", f"p-{name}", "type", "veth", "peer", "name", "eth0", "netns", str(pid))
        _ip("link", "set", f"p-{name}", "master", "br0", "up")
        computer.run("ip", "address", "add", f"{address}/24", "dev", "eth0")
        computer.run("ip", "link", "set", "eth0", "up")
        computer.run("ip", "link", "set", "lo", "up")
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        while process.poll() is None:
            with suppress(ConnectionRefusedError), socket.create_connection((address, 22)):
                return computer
        raise AssertionError((folder / "sshd.log").read_text())

    def plug(self, one: str, nic: str, other: str, peer: str) -> None:
        """A cable between two of them."""
        first, second = (self.computers[name] for name in (one, other))
        words = ("name", nic, "netns", str(first.pid), "type", "veth", "peer", "name", peer, "netns", str(second.pid))
        _ip("link", "add", *words)
        first.run("ip", "link", "set", nic, "up")
        second.run("ip", "link", "set", peer, "up")

    def known_hosts(self) -> Path:
        path = self.folder / "known_hosts"
        lines = [f"{c.address} {(c.folder / 'host_key.pub').read_text()}" for c in self.computers.values()]
        path.write_text("".join(lines))
        return path

    def inventory(self, folder: Path) -> Path:
        path = folder / "inventory.yml"
        entries = "".join(
            f"  {c.name}: {{address: {c.address}, user: root, key: {self.key}, known_hosts: {self.known_hosts()}}}\n"
            for c in self.computers.values()
        )
        path.write_text(f"hosts:\n{entries}")
        return path

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()


@contextmanager
def room(folder: Path) -> Iterator[Room]:
    """Afterwards the thread is back where it was, and every computer is gone."""
    home = os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY)
    assert LIBC.unshare(CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
    found = None
    try:
        found = Room(folder)
        yield found
    finally:
        if found is not None:
            found.close()
        assert LIBC.setns(home, CLONE_NEWNET) == 0
        os.close(home)


def keygen(path: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(path)
    path.chmod(0o600)
    key.write_public_key(path.with_suffix(".pub"))


def _ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True)


def _first_child(process: subprocess.Popen[bytes], ready: Path) -> int:
    """The process that `unshare` started, once its namespaces are there."""
    while process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if children and ready.exists():
            return int(children[0])
        os.sched_yield()
    raise AssertionError(f"no computer: status {process.returncode}")


if __name__ == "__main__":  # a room to look around in
    with room(Path(sys.argv[1])) as one:
        for each in ("alpha", "beta", "emu"):
            one.add(each)
        one.plug("alpha", "eth1", "emu", "eth1")
        one.plug("emu", "eth2", "beta", "eth1")
        one.inventory(Path(sys.argv[1]))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        status = subprocess.run(sys.argv[2:]).returncode
    sys.exit(status)
