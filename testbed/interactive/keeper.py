"""The keeper of a network: a process that keeps it running, and passes input and output of its sessions on.

It outlives the command that started it. It holds the network's entry in the journal as long as anything of the network
exists, starts the kernel with the agent in it, and listens at a socket that only this user can open. Started as
`python -m testbed.interactive.keeper FOLDER ENTRY READY`: the network's folder, and the descriptors of the entry and of
a pipe for what happens until all is ready.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import select
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from typing import Any

from .. import journal
from ..error import MachineError, TestbedError, visible
from ..journal import Held
from ..kernel import guest_file, host, lab, nic
from ..kernel.consumption import Watch, share
from ..kernel.guest import CONSOLE, TrialError, ending, write_steps
from ..kernel.image.cache import find
from ..kernel.machine import connected
from ..native_program import tools
from ..plan.node.real_nic import Wanted
from ..plan.step import Serve, step_of
from ..process import CommandError, Running
from ..trial.strict_folder import remove_tree
from ..trial.subject.openflow import NOT_STARTED
from . import node_files
from .node_files import MARK
from .running_network import Process
from .session_relay import Relay

FAILED = "is_connected=true"
"""In the failed step: a switch waited for its controller."""
DEAF = re.compile(rf"{node_files.DEAF} \d+, and does nothing")
"""Not in the words of the step, where the number of the port is a variable."""
FILES = "controller-*.err"
LINES = 12
"""Of what each controller printed, at most; the last ones."""


def explained(error: str, folder: Path) -> str:
    """The error, and what each controller printed last; other errors than a controller that is not there as they are.

    `folder` is where the network's steps write their files.
    """
    if FAILED not in error:
        return error
    said = {
        path.stem.removeprefix("controller-"): guest_file.told(path, guest_file.STORY_BYTES) for path in _files(folder)
    }
    why = [f"{name}: {visible(found[0])}" for name, text in said.items() if (found := NOT_STARTED.search(text))]
    why += [found[0] for found in DEAF.finditer(error)]
    return "\n".join([*(why or ["a switch did not find its controller"]), *_printed(folder)])


def _printed(folder: Path) -> Iterator[str]:
    for path in _files(folder):
        name = path.stem.removeprefix("controller-")
        lines = _last_lines(path)
        yield f"{name} printed, at last:" if lines else f"{name} printed nothing"
        yield from (f"  {visible(line)}" for line in lines)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob(FILES))


def _last_lines(path: Path) -> list[str]:
    text = guest_file.told(path, guest_file.STORY_BYTES)
    return [line for line in text.splitlines() if line.strip() and not line.startswith(MARK)][-LINES:]


LOOK_MS = 2_000
"""How often, at least, it is seen what the guest takes of the host."""
GRACE_S = 10.0
"""How long the guest may take to end by itself."""


class Quit(Exception):
    """The network is to go down."""


class Announcer:
    """Reports progress to the command that started us; notices if nobody listens any more."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor: int | None = descriptor

    def say(self, **what: Any) -> None:
        if self.descriptor is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self.descriptor, (json.dumps(what) + "\n").encode())

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def main(folder: str, entry: str, ready: str) -> int:
    signal.signal(signal.SIGTERM, _quit)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, _quit)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    home, announcer = Path(folder), Announcer(int(ready))
    os.set_inheritable(int(entry), False)
    os.set_inheritable(int(ready), False)
    held = journal.adopt(Path(json.loads((home / "start.json").read_text())["entry"]), int(entry))
    try:
        with _listening(home / "socket") as listening:
            try:
                keep(home, held, announcer, listening)
            except TestbedError as error:
                _go_on_to_the_end()
                fix = {"fix": error.fix, "what": error.what} if isinstance(error, MachineError) else {}
                announcer.say(error=explained(str(error), home / "trial"), exit_code=error.exit_code, **fix)
                return error.exit_code
            except Quit:
                return 0
    finally:
        _go_on_to_the_end()
        remove_tree(home)
        held.remove()
        announcer.close()
    return 0


def _go_on_to_the_end() -> None:
    """From here on signals no longer interrupt an orderly end."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def _quit(number: int, stack: object) -> None:
    raise Quit


@contextmanager
def _listening(path: Path) -> Iterator[socket.socket]:
    """A socket in a folder whose name may be longer than the name of a socket can be."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(f"/proc/self/fd/{folder}/{path.name}")
            listening.listen(64)
            listening.setblocking(False)
            yield listening
    finally:
        os.close(folder)


def keep(home: Path, held: Held, announcer: Announcer, listening: socket.socket) -> None:
    """Keeps the network running until it is to go down, or ends by itself."""
    start = json.loads((home / "start.json").read_text())
    folder = home / "trial"
    with ExitStack() as stack:
        for wanted in start["nics"]:
            stack.enter_context(nic.attached(Wanted(**wanted), owner=f"the network {held.entry.name}"))
        stack.enter_context(_machines(start, folder))
        (told, says), (hears, telling), (signs, writing) = (stack.enter_context(_pipe()) for _ in range(3))
        serve = Serve(lab.CHANNEL if start["image"] else (told.fileno(), telling.fileno()))
        write_steps(folder, [*map(step_of, start["steps"]), serve])
        guest = stack.enter_context(_started(start, folder, writing.fileno(), (told.fileno(), telling.fileno())))
        (home / "guest.json").write_text(json.dumps(_identity(guest.pid)))
        told.close()
        telling.close()
        relay = Relay(hears.fileno(), says.fileno(), listening, guest)
        memory_bytes = start["memory_bytes"] if start["image"] else None
        taken = Watch(guest.pid, folder, CONSOLE, share(folder), memory_bytes=memory_bytes)
        _wait_until_ready(relay, guest, folder, signs.fileno(), announcer, taken)
        since = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        held.update(since=since, keeper=_identity(os.getpid()))
        announcer.say(ready=since)
        announcer.close()
        try:
            _serve(relay, guest, signs.fileno(), taken)
        finally:
            _take_down(relay, guest)


@contextmanager
def _machines(start: dict[str, Any], folder: Path) -> Iterator[None]:
    """The connections to nodes that are real computers."""
    if start["machines"] is None:
        yield
        return
    from ..codec.keyed import read
    from ..spec.topology.file import TopologyFile

    nodes = read(TopologyFile, start["machines"]).topology().nodes
    with connected({node.name: node.machine for node in nodes if node.machine is not None}, folder):
        yield


@contextmanager
def _pipe() -> Iterator[tuple[FileIO, FileIO]]:
    """The two ends of a pipe."""
    reading, writing = os.pipe()
    with FileIO(reading, "rb") as ours, FileIO(writing, "wb") as theirs:
        yield ours, theirs


def _started(
    start: dict[str, Any], folder: Path, signs: int, channel: tuple[int, int]
) -> contextlib.AbstractContextManager[Running]:
    if start["image"] is None:
        return host.started(folder, tools=tools(), signs=signs, channel=channel)
    lab.check_descriptors()
    lab.check_memory(start["memory_bytes"], "other networks down: testbed status, testbed down NAME")
    return lab.started(
        find(start["image"]),
        folder,
        tools=tools(),
        seed=start["seed"],
        memory_bytes=start["memory_bytes"],
        virtual_time=False,
        signs=signs,
        channel=channel,
        files=None if start["files"] is None else Path(start["files"]),
        programs=lab.Programs(
            {name: Path(folder) for name, folder in start["programs"]["folders"].items()},
            tuple(map(Path, start["programs"]["reads"])),
            {name: Path(folder) for name, folder in start["programs"]["places"].items()},
        ),
    )


def _identity(pid: int) -> dict[str, int]:
    found = Process.of(pid)
    assert found is not None, "BUG: a process that we have not waited for has vanished"
    return asdict(found)


def _wait_until_ready(
    relay: Relay, guest: Running, folder: Path, signs: int, announcer: Announcer, taken: Watch
) -> None:
    """Raises TrialError if a step fails or the guest takes too much of the host, Quit if the command that started us is
    gone.
    """
    while not relay.is_ready:
        watched = {signs: select.POLLIN}
        if announcer.descriptor is not None:
            watched[announcer.descriptor] = 0  # only whether its other end is closed
        ready = relay.look(watched, LOOK_MS)
        excess = taken.excess()
        if excess is not None:
            raise TrialError(excess)
        if ready.get(signs):
            for line in os.read(signs, 65536).decode(errors="replace").splitlines():
                announcer.say(step=line)
        if announcer.descriptor in ready or relay.wants_down:
            raise Quit
        if guest.poll() is not None:
            ending(folder, 0.0)
            raise TrialError("the network went down as soon as it was up")


def _serve(relay: Relay, guest: Running, signs: int, taken: Watch) -> None:
    """Ends when the network is to go down, or takes too much of the host."""
    while not relay.wants_down and guest.poll() is None:
        if relay.look({signs: select.POLLIN}, LOOK_MS).get(signs):
            os.read(signs, 65536)
        excess = taken.excess()
        if excess is not None:
            print(excess, file=sys.stderr, flush=True)
            return


def _take_down(relay: Relay, guest: Running) -> None:
    """Has the agent end everything in order; tells open sessions."""
    _go_on_to_the_end()
    relay.say_goodbye()
    with contextlib.suppress(CommandError):
        guest.wait(GRACE_S)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
