"""Starts processes and ends them; no other module does, but for those of the agent.

Each process leads its own session, so that ending it ends its children too, and ends when the testbed is killed.
"""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from .error import MachineError, TestbedError
from .package import fix_for, which
from .package import search_path as search_path  # for callers that make an environment

Words = Sequence[str | Path]
Stream = int | IO[bytes] | None

PIPE = subprocess.PIPE
DISCARD = subprocess.DEVNULL
TO_STDOUT = subprocess.STDOUT

LEASH = ("--pdeathsig", "TERM", "--", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')
"""For setpriv: the process ends when we die, and does not start if we have died before."""


@dataclass(frozen=True)
class Completed:
    """A command that ended with status 0, and its output."""

    argv: tuple[str, ...]
    stdout: str
    stderr: str
    wall_s: float


class CommandError(TestbedError):
    """A command failed.

    `status` is None when it was still running at its time limit, and negative when a signal ended it.
    """

    exit_code = 3

    def __init__(self, argv: Sequence[str], status: int | None, stderr: str) -> None:
        self.argv = tuple(argv)
        self.status = status
        self.stderr = stderr
        ending = "did not end in time" if status is None else f"failed with status {status}"
        super().__init__(f"`{' '.join(argv)}` {ending}" + (f":\n{stderr.rstrip()}" if stderr.strip() else ""))


class Running:
    """A process and everything it started. Leaving the `with` block ends them all."""

    def __init__(self, argv: tuple[str, ...], popen: subprocess.Popen[bytes]) -> None:
        self.argv = argv
        self._popen = popen

    @property
    def pid(self) -> int:
        """The number of the process, its process group and its session."""
        return self._popen.pid

    @property
    def stdin(self) -> IO[bytes] | None:
        return self._popen.stdin

    @property
    def stdout(self) -> IO[bytes] | None:
        return self._popen.stdout

    @property
    def stderr(self) -> IO[bytes] | None:
        return self._popen.stderr

    def poll(self) -> int | None:
        """Its status (negative: the signal that ended it), or None while it runs."""
        if self._popen.returncode is not None:
            return self._popen.returncode
        # Left unreaped until `end`: the number of the group stays ours as long as the leader is not reaped.
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def wait(self, timeout: float | None = None) -> int:
        """Its status once it ended. `timeout` in seconds, None is for ever; CommandError when it is over."""
        if self._popen.returncode is None:
            descriptor = os.pidfd_open(self.pid)
            try:
                poller = select.poll()
                poller.register(descriptor, select.POLLIN)
                poller.poll(None if timeout is None else max(0.0, timeout) * 1000)
            finally:
                os.close(descriptor)
        status = self.poll()
        if status is None:
            raise CommandError(self.argv, None, "")
        return status

    def end(self, grace_s: float = 2.0) -> int:
        """Asks the whole group to end and kills what is left of it after `grace_s`; the leader's status."""
        if self._popen.returncode is not None:
            return self._popen.returncode
        if self.poll() is None and grace_s > 0:
            self.signal(signal.SIGTERM)
            with contextlib.suppress(CommandError):  # It had its chance; now kill it.
                self.wait(grace_s)
        self.signal(signal.SIGKILL)
        status = self._popen.wait()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        return status

    def signal(self, number: int) -> None:
        """Sends a signal to the whole group; nothing happens when all of it is gone."""
        if self._popen.returncode is None:
            os.killpg(self.pid, number)

    def __enter__(self) -> "Running":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


def start(
    argv: Words,
    *,
    stdin: Stream = DISCARD,
    stdout: Stream = None,
    stderr: Stream = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    outlives_us: bool = False,
) -> Running:
    """Starts a long-lived process in a session of its own. `env` None is ours, with the sbin folders in PATH.

    It receives SIGTERM when the thread that started it dies, unless it `outlives_us`.
    MachineError when the program is missing, with the command that installs it.
    """
    words = tuple(str(word) for word in argv)
    program = _find(words[0])
    leash = () if outlives_us else (_find("setpriv"), *LEASH, str(os.getpid()))
    path = {"PATH": search_path()}
    environment = {**os.environ, **path} if env is None else {**path, **env}
    popen = subprocess.Popen(
        (*leash, program, *words[1:]),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=cwd,
        env=environment,
        pass_fds=pass_fds,
        start_new_session=True,
    )
    return Running(words, popen)


def run(
    argv: Words,
    *,
    input: str | None = None,
    timeout: float | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Completed:
    """Runs a command to its end. `timeout` in seconds, None is for ever.

    CommandError unless its status is 0. At the time limit, or when we are interrupted, it is ended with
    everything it started.
    """
    began = time.monotonic()
    stdin = DISCARD if input is None else PIPE
    with start(argv, stdin=stdin, stdout=PIPE, stderr=PIPE, cwd=cwd, env=env) as process:
        stdout, stderr, status = _converse(process, input, timeout)
    if status != 0:
        raise CommandError(process.argv, status, stderr or stdout)
    return Completed(process.argv, stdout, stderr, time.monotonic() - began)


def _find(program: str) -> str:
    path = which(program)
    if path is None:
        raise MachineError(f"the program {program!r} is missing", fix_for(program))
    return path


def _converse(process: Running, text: str | None, timeout: float | None) -> tuple[str, str, int | None]:
    popen = process._popen
    try:
        out, err = popen.communicate(None if text is None else text.encode(), timeout)
        status: int | None = popen.returncode
    except subprocess.TimeoutExpired:
        process.signal(signal.SIGKILL)
        out, err = popen.communicate()
        status = None
    return out.decode(errors="replace"), err.decode(errors="replace"), status
