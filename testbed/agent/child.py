"""A copy of the agent that does one thing while the agent goes on."""

from __future__ import annotations

import os
import signal
import time

MYPY = False
if MYPY:
    from collections.abc import Callable


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
            os.kill(self.pid, signal.SIGKILL)


class Stopped(Exception):
    """A process that blocks SIGTERM has received it."""


def sleep_until(time_ns: int) -> None:
    """Raises Stopped if a blocked SIGTERM is pending."""
    while nap_until(time_ns) > 0:
        pass


def nap_until(time_ns: int) -> int:
    """The same without another look at the clock, for who sleeps often; how long it slept (ns)."""
    left_ns = time_ns - time.monotonic_ns()
    if signal.sigtimedwait({signal.SIGTERM}, max(0, left_ns) / 1e9) is not None:
        raise Stopped
    return left_ns
