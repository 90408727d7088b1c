"""What the agent starts: programs, and copies of itself that do one thing while it goes on.

`subprocess` would start programs, too, but imports more than all the rest of the agent, and asks more of the kernel.
"""

from __future__ import annotations

import os
import select
import time

MYPY = False
if MYPY:
    from collections.abc import Callable

SIGKILL, SIGPIPE, SIGTERM, SIGXFSZ = 9, 13, 15, 25
IGNORED = (SIGPIPE, SIGXFSZ)
"""The signals that Python ignores, and a program shall not."""
WRITE_BYTES, READ_BYTES = 4096, 32768


class LateError(Exception):
    """A program still ran when its time was over; it was killed."""


class Program:
    """A program that runs, and inherits only three descriptors. Raises OSError if it cannot be started."""

    def __init__(self, words: list[str], stdin: int, stdout: int, stderr: int) -> None:
        self.returncode: int | None = None
        ends = [(os.POSIX_SPAWN_DUP2, end, at) for at, end in enumerate((stdin, stdout, stderr))]
        self.pid = os.posix_spawnp(words[0], words, os.environ, file_actions=ends, setsigdef=IGNORED)

    def poll(self) -> int | None:
        """Its status if it has ended, negative if a signal ended it."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(SIGKILL)


class Child:
    """A copy of this process that does one thing. It is stopped and waited for like a program.

    SIGTERM takes effect only while it sleeps, so it always finishes what it has begun.
    """

    def __init__(self, work: Callable[[], None], err: int) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if not self.pid:
            self.run(work, err)

    def run(self, work: Callable[[], None], err: int) -> None:
        import signal  # takes long; `prepare` did so before the first step

        status = 1
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            work()
            status = 0
        except Stopped:
            status = 0
        except BaseException as error:
            os.write(err, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, SIGKILL)


class Stopped(Exception):
    """A process that blocks SIGTERM has received it."""


def sleep_until(time_ns: int) -> None:
    """Raises Stopped if a blocked SIGTERM is pending."""
    import signal

    while True:
        left_ns = time_ns - time.monotonic_ns()
        if signal.sigtimedwait({signal.SIGTERM}, max(0, left_ns) / 1e9) is not None:
            raise Stopped
        if left_ns <= 0:
            return


def start(words: list[str], stdout: int, stderr: int) -> Program:
    """Starts a program without input."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        return Program(words, nothing, stdout, stderr)
    finally:
        os.close(nothing)


def run(
    words: list[str], text: bytes, stdout: int | None, stderr: int | None, limit_s: float | None
) -> tuple[int, bytes, bytes]:
    """Its exit status, and what it wrote; nothing of what goes to a descriptor. `limit_s` None: it has all time.

    Raises LateError when its time is over, OSError if it cannot be started.
    """
    pipes = {at: os.pipe() for at, end in enumerate((-1, stdout, stderr)) if end is None or not at}
    feed, (said, complained) = pipes[0][1], (pipes.get(at, (-1, -1))[0] for at in (1, 2))
    try:
        program = Program(
            words,
            pipes[0][0],
            pipes[1][1] if stdout is None else stdout,
            pipes[2][1] if stderr is None else stderr,
        )
    except OSError:
        for end in (feed, *(end for end in (said, complained) if end >= 0)):
            os.close(end)
        raise
    finally:
        for at, (reading, writing) in pipes.items():
            os.close(writing if at else reading)
    deadline_s = None if limit_s is None else time.monotonic() + limit_s
    texts: dict[int, list[bytes]] = {said: [], complained: []}
    try:
        exchange(program, feed, text, texts, deadline_s)
    except LateError:
        program.kill()
        program.wait()
        raise
    return program.wait(), b"".join(texts[said]), b"".join(texts[complained])


def exchange(program: Program, feed: int, text: bytes, texts: dict[int, list[bytes]], deadline_s: float | None) -> None:
    """Writes the text, and reads until nobody can write any more; -1 is no descriptor. Closes all. With a deadline it
    waits until the program has ended, too.
    """
    poller, open_ends = select.poll(), {end for end in texts if end >= 0}
    for end in open_ends:
        poller.register(end, select.POLLIN)
    if text:
        open_ends.add(feed)
        poller.register(feed, select.POLLOUT)
    else:
        os.close(feed)
    alive = None if deadline_s is None else os.pidfd_open(program.pid)
    if alive is not None:
        open_ends.add(alive)
        poller.register(alive, select.POLLIN)
    try:
        while open_ends:
            left_s = None if deadline_s is None else deadline_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                raise LateError
            for end, _ in poller.poll(None if left_s is None else left_s * 1000):
                if end in texts:
                    chunk = os.read(end, READ_BYTES)
                    texts[end].append(chunk)
                    is_over = not chunk
                elif end == alive:
                    is_over = True
                else:
                    text = rest(end, text)
                    is_over = not text
                if is_over:
                    poller.unregister(end)
                    open_ends.remove(end)
                    os.close(end)
    finally:
        for end in open_ends:
            os.close(end)


def rest(end: int, text: bytes) -> bytes:
    """What is left to write; nothing if nobody reads any more."""
    try:
        return text[os.write(end, text[:WRITE_BYTES]) :]
    except BrokenPipeError:
        return b""
