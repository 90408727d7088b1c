"""Remote nodes, which are no namespaces of this kernel: how steps reach them.

Each kind is a class with the methods of RemoteNode, and a line in REACH, under the name in `by` of a `reach` step.
Its constructor takes (NODE, STEP, FOLDER) and reaches the node; it raises StepError, with the reason, if the node does
not answer.
"""

from __future__ import annotations

MYPY = False
if MYPY:
    from collections.abc import Callable
    from typing import Any, Protocol

    Step = dict[str, Any]

    class RemoteProcess(Protocol):
        """A program on a remote node; as much of a Popen as the agent needs. Its output is in the two descriptors that
        it was started with when `wait` returns, or before.
        """

        pid: int
        returncode: int | None

        def poll(self) -> int | None: ...
        def wait(self) -> int: ...
        def send_signal(self, number: int) -> None: ...
        def kill(self) -> None: ...

    class RemoteNode(Protocol):
        """One node. All raise StepError if the node is gone or refuses; `run` also after `timeout_s` (None: never)."""

        def about(self) -> Step:
            """What the log keeps: the seconds that it took to reach it, the kernel that answered, …"""

        def run(self, words: list[str], stdin: bytes, timeout_s: float | None) -> tuple[int, bytes, bytes]:
            """Exit status, standard output, standard error."""

        def start(self, words: list[str], out: int, err: int) -> RemoteProcess: ...

        def read(self, path: str) -> str:
            """The text of a file; of a folder, a line for each file."""

        def write(self, pairs: list[tuple[str, str]]) -> None:
            """Writes files below /proc/sys or /sys, and reads each back and compares."""

        def bring(self, name: str, data: bytes) -> None:
            """Puts a program or a file of ours where it keeps such."""

        def close(self) -> None: ...

    Reach = Callable[[str, Step, str], RemoteNode]


def vm(node: str, step: Step, folder: str) -> RemoteNode:
    from .remote_vm import VirtualMachine  # its imports would cost every guest time

    return VirtualMachine(node, step, folder)


def machine(node: str, step: Step, folder: str) -> RemoteNode:
    from .remote_machine import Machine

    return Machine(node, step, folder)


REACH: dict[str, Reach] = {"vm": vm, "machine": machine}
