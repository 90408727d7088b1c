"""The running networks of this user, and which of them a command means. Reads the journal and their folders.

FOLDER/network.json   what runs: nodes, links, kernel
FOLDER/start.json     the keeper's settings
FOLDER/guest.json     the process that the kernel, or the agent, runs in
FOLDER/socket         where its keeper listens
FOLDER/keeper.log     the keeper's output
FOLDER/trial/         the folder of the agent
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import journal
from ..cache_folder import locked, open_lock, user_folder
from ..codec.frozen import dataclass
from ..error import MachineError, UserError, did_you_mean, one_of
from ..journal import Entry
from ..trial.folder import replacing

KIND = "network"
ABOUT = "network.json"
OFF = "off"
"""The key in network.json of a node that is switched off."""
UP = "testbed up TOPOLOGY"


@dataclass(frozen=True)
class RunningNetwork:
    """A network that is up, or about to be."""

    entry: Entry

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def folder(self) -> Path:
        return Path(self.entry.about["folder"])

    @property
    def is_ready(self) -> bool:
        return "since" in self.entry.about

    @property
    def since(self) -> str:
        """The time when it was ready; ISO 8601, UTC."""
        return str(self.entry.about["since"])

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """network.json. Raises MachineError if it cannot be read."""
        path = self.folder / ABOUT
        try:
            about = json.loads(path.read_text())
            if not all(isinstance(node, dict) for node in about["nodes"].values()):
                raise ValueError
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            what = f"{path} of the network {self.name} cannot be read"
            raise MachineError(what, f"testbed down {self.name}") from None
        return about  # type: ignore[no-any-return]

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self.about["nodes"])

    def where(self, node: str) -> dict[str, str]:
        """The key of a session at a node. Raises UserError if there is none of that name."""
        if node not in self.nodes:
            raise UserError(f"the network {self.name} has no node {node!r}; allowed: {one_of(self.nodes, node)}")
        return dict(self.about["nodes"][node]["where"])

    def is_off(self, node: str) -> bool:
        """Whether somebody has switched it off."""
        return bool(self.about["nodes"][node].get(OFF))

    def environment(self, node: str) -> dict[str, str]:
        """What programs in a node get besides their users' settings."""
        return dict(self.about["nodes"][node].get("environment", {}))


def rewrite(network: RunningNetwork, change: Callable[[Any], Any], file: str = ABOUT) -> None:
    """Changes what one of its JSON files says now; other processes that do so wait meanwhile. What network.json says is
    read again.
    """
    path = network.folder / file
    with locked(open_lock(network.folder / ".lock")):
        said = change(json.loads(path.read_text()))
        with replacing(path) as new:
            new.write_text(json.dumps(said))
    vars(network).pop("about", None)


def folder_of(name: str) -> Path:
    return user_folder() / "up" / name


def networks() -> tuple[RunningNetwork, ...]:
    """Those that are up or about to be, by name."""
    return tuple(RunningNetwork(entry) for entry, held in journal.entries() if entry.kind == KIND and held)


def choose(name: str | None, node: str | None = None) -> RunningNetwork:
    """The network of a name; without a name the only one that is up, or the only one with such a node.

    Raises UserError if there is none or several; MachineError if no network is up.
    """
    found = [each for each in networks() if each.is_ready]
    if name is not None:
        return _named(found, name)
    if not found:
        raise MachineError(f"no network is up{_unreadable()}", UP)
    fitting = found if node is None or len(found) == 1 else [each for each in found if node in each.nodes]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(each.name for each in (fitting or found))
    what = f"no network that is up has a node {node!r}" if not fitting else f"several networks are up ({names})"
    if fitting and node is not None:
        what = f"several networks that are up have a node {node!r} ({names})"
    meant = "" if fitting or node is None else did_you_mean(node, {name for each in found for name in each.nodes})
    raise UserError(f"{what}{meant}; allowed: {'to name' if node is None else '--name with'} one of {names}")


def _named(found: list[RunningNetwork], name: str) -> RunningNetwork:
    for each in found:
        if each.name == name:
            return each
    if found:
        raise UserError(f"no network {name!r} is up; allowed: {one_of([each.name for each in found], name)}")
    raise MachineError(f"the network {name!r} is not up, and no other is{_unreadable()}", f"{UP} --name {name}")


def _unreadable() -> str:
    """The end of a sentence that says which networks may be up all the same."""
    found = [str(each) for each in journal.unreadable()]
    return f" ({'; '.join(found)})" if found else ""


@dataclass(frozen=True)
class Process:
    """A process and its start time, in ticks after the computer's, which tells it from a later process of the same
    number.
    """

    pid: int
    start_ticks: int

    def __post_init__(self) -> None:
        if type(self.pid) is not int or self.pid <= 0:
            raise ValueError(f"{self.pid!r} is not the number of a process")

    @classmethod
    def of(cls, pid: int) -> Process | None:
        """The process of a number; None if there is none."""
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return cls(pid, int(text.rpartition(")")[2].split()[19]))

    @property
    def runs(self) -> bool:
        return Process.of(self.pid) == self

    def kill(self, number: int) -> bool:
        """Sends a signal to this process and no other; returns whether it existed."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except (ProcessLookupError, OverflowError):
            return False
        try:
            if not self.runs:
                return False
            import signal

            signal.pidfd_send_signal(descriptor, number)
            return True
        except ProcessLookupError:
            return False
        finally:
            os.close(descriptor)
