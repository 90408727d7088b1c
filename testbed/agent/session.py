"""A session: a program in a node, started by a client outside, with its input, its output and its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import termios

from .frame import COUNT, ENDED, ERRORS, OUTPUT, PAYLOAD_MAX, STATUS, TAKEN, WINDOW_BYTES
from .syscall import LIBC, StepError, checked, mount, setns

MYPY = False
if MYPY:
    from collections.abc import Callable
    from typing import Any

    Asked = dict[str, Any]
    Send = Callable[[int, bytes], None]

CLONE_NEWNS = 0x00020000
MS_BIND, MS_SLAVE_REC = 0x1000, 0x84000
HOSTS = "/run/trial/hosts"
"""The names of nodes, if the network has some; programs see them as /etc/hosts."""
RESOLVER = "/run/tb-service/{}/resolv.conf"
"""Whom a node asks for names, if the network has a DNS server; programs see it as /etc/resolv.conf."""
NOT_FOUND, NOT_ALLOWED = 127, 126
REST_BYTES = 1 << 20
"""How much output is still read once a program has ended: what it left in its pipes, but not what its children write
for ever.
"""
END_OF_FILE = b"\x04"
KEPT = ("PATH", "HOME", "LC_ALL")


class Session:
    """A program of this kernel. `send` sends frames of this session: their kind and their bytes.

    `asked` has `words`, `tty` (whether it gets a terminal), and may have `netns`, `rows`, `columns`, `folder` to start
    in and `environment`. A missing program ends with status 127, as in a shell.
    """

    def __init__(self, asked: Asked, send: Send) -> None:
        self.send = send
        self.credit = WINDOW_BYTES
        self.waiting = bytearray()
        self.ends_input = False
        self.pid: int | None = None
        self.outputs: dict[int, int] = {}
        self.is_terminal = bool(asked.get("tty"))
        ours, theirs = self.terminal(asked) if self.is_terminal else self.pipes()
        self.input: int | None = ours[0]
        try:
            self.process = subprocess.Popen(
                asked["words"],
                stdin=theirs[0],
                stdout=theirs[1],
                stderr=theirs[2],
                env={**{key: os.environ[key] for key in KEPT if key in os.environ}, **asked.get("environment", {})},
                cwd=folder_of(asked),
                start_new_session=True,
                preexec_fn=lambda: enter(asked),
            )
            self.pid = self.process.pid
        except OSError as error:
            send(ERRORS, f"{asked['words'][0]}: {error.strerror}\n".encode())
            self.end(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_ALLOWED)
        except subprocess.SubprocessError as error:
            self.close()
            raise StepError(f"no program can be started there: {error}") from None
        finally:
            for descriptor in set(theirs):
                os.close(descriptor)

    def terminal(self, asked: Asked) -> tuple[tuple[int], tuple[int, int, int]]:
        ours, theirs = os.openpty()
        self.outputs[ours] = OUTPUT
        os.set_blocking(ours, False)
        set_size(ours, asked.get("rows", 24), asked.get("columns", 80))
        return (ours,), (theirs, theirs, theirs)

    def pipes(self) -> tuple[tuple[int], tuple[int, int, int]]:
        (their_in, our_in), (our_out, their_out), (our_err, their_err) = os.pipe(), os.pipe(), os.pipe()
        self.outputs.update({our_out: OUTPUT, our_err: ERRORS})
        for descriptor in (our_in, our_out, our_err):
            os.set_blocking(descriptor, False)
        return (our_in,), (their_in, their_out, their_err)

    @property
    def reads(self) -> tuple[int, ...]:
        """The descriptors to read: none while nobody takes what was read."""
        return tuple(self.outputs) if self.credit > 0 else ()

    @property
    def writes(self) -> tuple[int, ...]:
        return (self.input,) if self.waiting and self.input is not None else ()

    def read(self, descriptor: int, most: int | None = None) -> int:
        """Passes on what a descriptor has, and returns how much that was; closes it at its end."""
        try:
            data = os.read(descriptor, min(self.credit if most is None else most, PAYLOAD_MAX))
        except BlockingIOError:
            return 0
        except OSError:  # a terminal whose last program has ended
            data = b""
        if data:
            self.credit -= len(data)
            self.send(self.outputs[descriptor], data)
        else:
            del self.outputs[descriptor]
            if descriptor != self.input:
                os.close(descriptor)
        return len(data)

    def put(self, data: bytes) -> None:
        """Takes input for the program."""
        self.waiting += data
        self.write()

    def write(self) -> None:
        """Writes as much of the input as the program takes; acknowledges what it will never take, too."""
        done = len(self.waiting)
        if self.input is not None:
            try:
                done = os.write(self.input, self.waiting)
            except BlockingIOError:
                return
            except OSError:
                self.drop_input()
        del self.waiting[:done]
        if done:
            self.send(TAKEN, COUNT.pack(done))
        if self.ends_input and not self.waiting:
            self.end_input()

    def end_input(self) -> None:
        self.ends_input = True
        if self.waiting or self.input is None:
            return
        if self.is_terminal:
            with contextlib.suppress(OSError):
                os.write(self.input, END_OF_FILE)
        else:
            self.drop_input()

    def drop_input(self) -> None:
        if self.input is not None and self.input not in self.outputs:
            os.close(self.input)
        self.input = None

    def give(self, count: int) -> None:
        self.credit += count

    def resize(self, rows: int, columns: int) -> None:
        if self.is_terminal and self.input is not None:
            set_size(self.input, rows, columns)

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.pid is not None:
                os.killpg(self.pid, number)

    def close(self) -> None:
        """The client has gone: hangs up, as when a terminal is closed."""
        self.signal(signal.SIGHUP)
        self.signal(signal.SIGCONT)
        for descriptor in {*self.outputs, *([] if self.input is None else [self.input])}:
            os.close(descriptor)
        self.outputs, self.input = {}, None

    def end(self, status: int) -> None:
        """The program has ended: sends what it left in its pipes, and then its status."""
        for descriptor in tuple(self.outputs):
            left = REST_BYTES
            while left > 0 and descriptor in self.outputs and (read := self.read(descriptor, left)):
                left -= read
        self.send(ENDED, STATUS.pack(status))
        self.pid = None
        self.close()


def enter(asked: Asked) -> None:
    """Runs in the program's process before it starts: enters the node's network, and mounts the /sys that shows it, and
    the names of nodes.
    """
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if asked.get("netns"):
        with open(f"/run/netns/{asked['netns']}") as file:
            setns(file.fileno())
        checked(LIBC.unshare(CLONE_NEWNS), "unshare --mount")
        checked(LIBC.mount(None, b"/", None, MS_SLAVE_REC, None), "mount --make-rslave /")
        mount("sysfs", "sysfs", "/sys")
        names = RESOLVER.format(asked["netns"].removeprefix("tb-"))
        if os.path.exists(names) and os.path.exists("/etc/resolv.conf"):
            mount(None, names, "/etc/resolv.conf", flags=MS_BIND)
        if os.path.exists(HOSTS) and os.path.exists("/etc/hosts"):
            mount(None, HOSTS, "/etc/hosts", flags=MS_BIND)
    if asked.get("tty"):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def folder_of(asked: Asked) -> str:
    """Changes to the user's folder, if it exists here."""
    folder = asked.get("folder") or "/"
    return folder if os.path.isdir(folder) and os.access(folder, os.X_OK) else "/"


def set_size(descriptor: int, rows: int, columns: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
