"""Keeps a network running, and starts programs in its nodes for clients outside.

One channel of bytes, two pipes or a terminal line, carries all sessions (see `frame`).  The step ends on request, or
when nobody holds the other end of the channel any more.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import termios
import time
import tty

from . import frame
from .remote_session import TICK_MS, RemoteSession
from .session import Session
from .syscall import StepError, mount

MYPY = False
if MYPY:
    from collections.abc import Callable
    from typing import Any

    from .step import Trial

    AnySession = Session | RemoteSession

READ_BYTES = 65536
PATIENCE_S, LOOK_AGAIN_S = 3.0, 0.02
"""How long a program that is to end is waited for before it is killed."""


def serve(trial: Trial, channel: list[int] | str) -> None:
    """`channel` is the descriptors to read and to write, or the path of a terminal line."""
    make_terminals_work()
    Server(trial, *opened(channel)).run()


def opened(channel: list[int] | str) -> tuple[int, int]:
    if isinstance(channel, str):
        descriptor = os.open(channel, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        tty.setraw(descriptor, termios.TCSANOW)
        return descriptor, descriptor
    hears, says = channel
    for descriptor in (hears, says):
        os.set_inheritable(descriptor, False)
    return hears, says


def make_terminals_work() -> None:
    """Completes the bare /dev of a lab kernel."""
    if not os.path.ismount("/dev/pts"):
        os.makedirs("/dev/pts", exist_ok=True)
        mount("devpts", "devpts", "/dev/pts", data="ptmxmode=666,mode=620")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        if not os.path.lexists(f"/dev/{name}"):
            os.symlink(target, f"/dev/{name}")


class Server:
    """The sessions that are open."""

    def __init__(self, trial: Trial, hears: int, says: int) -> None:
        self.trial = trial
        self.hears, self.says = hears, says
        self.sessions: dict[int, AnySession] = {}
        self.told: set[str] = set()
        self.goes_on = True
        self.reader = frame.Reader()
        self.signs, writing = os.pipe()
        for descriptor in (self.signs, writing):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, stack: None)

    def run(self) -> None:
        self.send(0, frame.READY)
        self.reap()
        while self.goes_on:
            far = any(isinstance(each, RemoteSession) for each in self.sessions.values())
            self.look(TICK_MS if far else None)
        for each in self.sessions.values():
            each.close()

    def look(self, patience_ms: int | None) -> None:
        """Waits for the next event of any session, and handles it."""
        poll = select.poll()
        owners: dict[int, AnySession] = {}
        poll.register(self.hears, select.POLLIN)
        poll.register(self.signs, select.POLLIN)
        wanted: dict[int, int] = {}
        for each in self.sessions.values():
            for descriptors, event in ((each.reads, select.POLLIN), (each.writes, select.POLLOUT)):
                for descriptor in descriptors:
                    wanted[descriptor] = wanted.get(descriptor, 0) | event
                    owners[descriptor] = each
        for descriptor, events in wanted.items():
            poll.register(descriptor, events)
        ready = dict(poll.poll(patience_ms))
        for descriptor, events in ready.items():
            if descriptor in owners:
                self.move(owners[descriptor], descriptor, events)
        if self.signs in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self.signs, READ_BYTES)
            self.reap()
        for number, each in tuple(self.sessions.items()):
            if isinstance(each, RemoteSession) and each.look():
                del self.sessions[number]
        if self.hears in ready:
            self.receive()

    def move(self, session: AnySession, descriptor: int, events: int) -> None:
        if events & ~select.POLLOUT and descriptor in session.reads:
            session.read(descriptor)
        if events & ~select.POLLIN and descriptor in session.writes:
            session.write()

    def receive(self) -> None:
        try:
            data = os.read(self.hears, READ_BYTES)
        except OSError:
            data = b""
        self.goes_on = bool(data)
        self.send(0, frame.HEARD, frame.COUNT.pack(len(data)))
        for number, kind, payload in self.reader.feed(data):
            if kind == frame.QUIT:
                self.goes_on = False
            elif kind == frame.OPEN:
                self.open(number, json.loads(payload))
            elif number in self.sessions:
                ON[kind](self.sessions[number], payload)
                if kind == frame.CLOSE:
                    del self.sessions[number]

    def open(self, number: int, asked: dict[str, Any]) -> None:
        def send(kind: int, payload: bytes) -> None:
            self.send(number, kind, payload)

        try:
            if "file" in asked:
                self.carry_out(asked["file"])
                send(frame.ENDED, frame.STATUS.pack(0))
                return
            if asked.get("on"):
                self.sessions[number] = RemoteSession(self.trial.remote_nodes[asked["on"]], asked, send)
                return
            session = Session(asked, send)
            if session.pid is not None:
                self.sessions[number] = session
        except (StepError, OSError, LookupError, TypeError, ValueError, StopIteration) as error:
            self.send(number, frame.REFUSED, str(error).encode()[: frame.PAYLOAD_MAX])

    def carry_out(self, file: str) -> None:
        """Does more steps in the network, from a file in FOLDER. What they start is looked after like what was there
        from the beginning.
        """
        with open(os.path.join(self.trial.folder, file)) as text:
            steps = json.load(text)
        for at, step in enumerate(steps, 1):
            if "stop" in step:
                self.end(step["stop"])
            else:
                self.trial.do(step, f"{at}/{len(steps)}")
                if step.get("background") in self.told:
                    self.told.remove(step["background"])
                    self.send(0, frame.STARTED, step["background"].encode())

    def end(self, name: str) -> None:
        """Ends a program of the network, whether it wants to or not, or has ended long ago. One that was ended before
        is no error: who asked for that may have been interrupted before it was started again.
        """
        program = self.trial.running.pop(name, None)
        if program is None:
            return
        if program.poll() is None:
            program.send_signal(signal.SIGTERM)
        for _ in range(int(PATIENCE_S / LOOK_AGAIN_S)):
            if program.poll() is not None:
                return
            time.sleep(LOOK_AGAIN_S)
        program.kill()
        program.wait()

    def reap(self) -> None:
        """Reaps every process that has ended: those of sessions, those of steps, and orphans, which are ours because
        we are the first process.
        """
        by_pid = {each.pid: number for number, each in self.sessions.items() if isinstance(each, Session)}
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                break
            if found is None:
                break
            for name, program in self.trial.running.items():
                if program.poll() is not None and name not in self.told:
                    self.told.add(name)
                    self.send(0, frame.DIED, f"{name} has ended with status {program.returncode}".encode())
            with contextlib.suppress(ChildProcessError):
                _, status = os.waitpid(found.si_pid, os.WNOHANG)
                number = by_pid.get(found.si_pid)
                if number is not None:
                    session = self.sessions.pop(number)
                    assert isinstance(session, Session)
                    session.process.returncode = os.waitstatus_to_exitcode(status)
                    session.end(session.process.returncode)

    def send(self, number: int, kind: int, payload: bytes = b"") -> None:
        data = frame.pack(number, kind, payload)
        while data:
            try:
                data = data[os.write(self.says, data) :]
            except OSError:
                self.goes_on = False
                return


ON: dict[int, Callable[[Any, bytes], None]] = {
    frame.INPUT: lambda session, payload: session.put(payload),
    frame.END_OF_INPUT: lambda session, payload: session.end_input(),
    frame.RESIZE: lambda session, payload: session.resize(*frame.SIZE.unpack(payload)),
    frame.SIGNAL: lambda session, payload: session.signal(*frame.COUNT.unpack(payload)),
    frame.CLOSE: lambda session, payload: session.close(),
    frame.TAKEN: lambda session, payload: session.give(*frame.COUNT.unpack(payload)),
}
