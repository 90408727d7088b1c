"""Nodes that are no namespaces of this kernel: how steps reach them.

Each way is a class with the methods of Elsewhere, and a line in WAYS, under the name that `by` of a `reach` step gives.
It is made with (NODE, STEP, FOLDER), and made means reached: it raises StepError, with what there is to say, if the
node does not answer.
"""

from __future__ import annotations

MYPY = False
if MYPY:
    from collections.abc import Callable
    from typing import Any, Protocol

    Step = dict[str, Any]

    class FarProcess(Protocol):
        """A program that runs elsewhere; as much of a Popen as the agent needs. Its output goes to the two descriptors
        that it was started with, at the latest when `wait` returns.
        """

        pid: int
        returncode: int | None

        def poll(self) -> int | None: ...
        def wait(self) -> int: ...
        def send_signal(self, number: int) -> None: ...
        def kill(self) -> None: ...

    class Elsewhere(Protocol):
        """One node. All raise StepError if the node is gone or refuses; `run` also after `timeout_s` (None: never)."""

        def about(self) -> Step:
            """What the log keeps of how it was reached: seconds it took, which kernel answered, …"""

        def run(self, words: list[str], stdin: bytes, timeout_s: float | None) -> tuple[int, bytes, bytes]:
            """Exit status, standard output, standard error."""

        def start(self, words: list[str], out: int, err: int) -> FarProcess: ...

        def read(self, path: str) -> str:
            """As `text_of` does here: of a folder, a line for each file."""

        def write(self, pairs: list[tuple[str, str]]) -> None:
            """Files below /proc/sys or /sys and their values, each read back and compared."""

        def close(self) -> None: ...

    Way = Callable[[str, Step, str], Elsewhere]


def vm(node: str, step: Step, folder: str) -> Elsewhere:
    from .remote_vm import VirtualMachine  # what it imports would cost every guest time

    return VirtualMachine(node, step, folder)


def machine(node: str, step: Step, folder: str) -> Elsewhere:
    from .remote_machine import Machine

    return Machine(node, step, folder)


WAYS: dict[str, Way] = {"vm": vm, "machine": machine}
