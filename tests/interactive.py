"""Interactive networks for tests: the command line with a cache of its own, and a computer with NICs to play with."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from leftover import outlive, processes_below
from patience import PATIENCE_S

from testbed.cache_folder import user_folder
from testbed.native_program import tools

TESTBED = "from testbed.cli import main; main()"

PLAIN = """
name: {name}
nodes: {{a: {{type: host}}, s: {{type: switch{nic}}}, b: {{type: host}}}}
links: {{left: {{ends: [a, s]}}, right: {{ends: [s, b]}}}}
"""


@dataclass(frozen=True)
class Home:
    """A user's files: their own journal and networks, everybody's lab kernels and tools."""

    folder: Path
    inside: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, folder: Path, inside: Sequence[str] = ()) -> Home:
        cache = folder / "cache" / "testbed"
        cache.mkdir(parents=True)
        tools()
        for name in ("kernels", "tools"):
            (cache / name).symlink_to(user_folder() / name)
        return cls(folder, inside, {"XDG_CACHE_HOME": str(folder / "cache")})

    @property
    def cache(self) -> Path:
        return self.folder / "cache" / "testbed"

    def words(self, *words: str | Path) -> tuple[str | Path, ...]:
        return (*self.inside, sys.executable, "-c", TESTBED, *words)

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, **self.environment}

    def run(self, *words: str | Path, input: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        stdin = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
        return subprocess.run(
            self.words(*words), capture_output=True, timeout=PATIENCE_S, env=self.env, cwd=self.folder, **stdin
        )

    def says(self, *words: str | Path) -> str:
        done = self.run(*words)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def topology(self, name: str, nic: str | None = None) -> Path:
        path = self.folder / f"{name}.yaml"
        path.write_text(PLAIN.format(name=name, nic="" if nic is None else f", nic: {nic}"))
        return path

    def clean(self) -> None:
        """Takes down what is up, and removes what a test that failed has left."""
        if self.files() or processes_below(self.folder):
            self.run("down", "--all")
            self.run("clean")

    def left(self) -> list[str]:
        """What of the testbed's there is: files of networks, entries of the journal, processes that do not end by
        themselves within some patience.
        """
        processes = outlive(processes_below(self.folder))
        return [*self.files(), *map(str, processes)]

    def files(self) -> list[str]:
        """The files of networks that are up, and the entries of the journal."""
        return [str(path) for name in ("up", "journal") for path in (self.cache / name).glob("*")]


@dataclass(frozen=True)
class Computer:
    """A network namespace that plays a computer. Its NIC leads to another one, that plays the world."""

    netns: str
    world: str
    nic: str = "nic1"

    @property
    def inside(self) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.netns)

    def ip(self, *words: str, netns: str | None = None) -> str:
        done = subprocess.run(("ip", "-n", netns or self.netns, *words), check=True, capture_output=True, text=True)
        return done.stdout

    def state(self) -> str:
        """All of it: devices with their flags, addresses, routes, queues, offloads, rules."""
        asked = (
            ("ip", "-d", "address"),
            ("ip", "route", "show", "table", "all"),
            ("ip", "-6", "route", "show", "table", "all"),
            ("tc", "qdisc"),
            ("ethtool", "-k", self.nic),
            ("nft", "list", "ruleset"),
            ("sh", "-c", f"cat /proc/sys/net/ipv6/conf/{self.nic}/*"),
        )
        texts = [subprocess.run((*self.inside, *words), capture_output=True, text=True).stdout for words in asked]
        return "\n".join(texts)


@contextmanager
def computer(up: bool = False) -> Iterator[Computer]:
    tag = uuid.uuid4().hex[:6]
    made = Computer(f"computer-{tag}", f"world-{tag}")
    for name in (made.netns, made.world):
        subprocess.run(("ip", "netns", "add", name), check=True)
    try:
        made.ip("link", "set", "lo", "up")
        made.ip("link", "add", made.nic, "type", "veth", "peer", "name", "eth0", "netns", made.world)
        made.ip("link", "set", "eth0", "up", netns=made.world)
        made.ip("address", "add", "10.0.0.99/24", "dev", "eth0", netns=made.world)
        # A NIC gets its first queue when it is up for the first time, and the kernel never takes that back.
        made.ip("link", "set", made.nic, "up")
        while "state UP" not in (now := made.ip("address", "show", made.nic)) or "tentative" in now:
            pass  # until the kernel has seen the cable and tried its own address
        if not up:
            made.ip("link", "set", made.nic, "down")
        yield made
    finally:
        for name in (made.netns, made.world):
            subprocess.run(("ip", "netns", "delete", name), check=True)
