"""System calls of the agent: mounts, namespaces, files of /proc/sys and /sys."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource

CLONE_NEWNET = 0x40000000
MNT_DETACH = 2
POWER_OFF = 0x4321FEDC
FILES_MAX = 65536
OUTSIDE = "TESTBED_OUTSIDE"
"""Environment variable with the descriptor of the network namespace that has this computer's real NICs. As the `netns`
of a step it means that namespace.
"""
LIBC = ctypes.CDLL(None, use_errno=True)


class StepError(Exception):
    """A step failed."""


def write_files(pairs: list[tuple[str, str]]) -> None:
    for path, value in pairs:
        try:
            with open(path, "w") as file:
                file.write(value)
        except OSError as error:
            raise StepError(f"{path} does not take {value!r}: {error.strerror}") from None
        with open(path) as file:
            seen = file.read()
        if seen.split() != value.split():
            raise StepError(f"{path} was set to {value!r} and reads {seen.strip()!r}")


def text_of(path: str) -> str:
    """The text of a file; of a folder, or of several files with spaces between, a line for each that can be read."""
    if " " in path:
        return texts_of(path.split())
    if not os.path.isdir(path):
        with open(path) as file:
            return file.read()
    lines = []
    for name in sorted(os.listdir(path)):
        try:
            with open(os.path.join(path, name)) as file:
                lines.append(f"{name}: {' '.join(file.read().split())}\n")
        except OSError:  # folders, and keys that cannot be read
            pass
    return "".join(lines)


def texts_of(paths: list[str]) -> str:
    if any(path.startswith("/sys/") for path in paths):
        mount("sysfs", "sysfs", "/sys")
        try:
            return lines_of(paths)
        finally:
            checked(LIBC.umount2(b"/sys", MNT_DETACH), "umount /sys")
    return lines_of(paths)


def lines_of(paths: list[str]) -> str:
    lines = []
    for path in paths:
        try:
            with open(path) as file:
                lines.append(f"{path}: {' '.join(file.read().split())}\n")
        except OSError:  # a device is gone; the reader misses its line
            pass
    return "".join(lines)


def write_sysfs(pairs: list[tuple[str, str]]) -> None:
    """Sysfs shows the devices of the network namespace in which it was mounted. Nobody else sees our mounts."""
    mount("sysfs", "sysfs", "/sys")
    try:
        write_files(pairs)
    finally:
        checked(LIBC.umount2(b"/sys", MNT_DETACH), "umount /sys")


def setns(descriptor: int) -> None:
    checked(LIBC.setns(descriptor, CLONE_NEWNET), "setns")


def mount(kind: str | None, source: str, target: str, flags: int = 0, data: str | None = None) -> None:
    text = [None if word is None else word.encode() for word in (source, target, kind, data)]
    checked(LIBC.mount(text[0], text[1], text[2], flags, text[3]), f"mount {kind or source} on {target}")


def checked(result: int, what: str) -> None:
    if result:
        raise StepError(f"{what}: {os.strerror(ctypes.get_errno())}")


def raise_file_limit() -> None:
    with contextlib.suppress(ValueError, OSError):  # the usual limit suffices for usual topologies
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES_MAX, FILES_MAX))


def power_off() -> None:
    os.sync()
    LIBC.reboot(POWER_OFF)
