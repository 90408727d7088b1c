"""System calls of the agent: mounts, namespaces, files of /proc/sys and /sys."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time

CLONE_NEWNET = 0x40000000
MNT_DETACH = 2
TIMER_ABSTIME = 1
GRID_NS = 1_000_000
AF_INET, SOCK_DGRAM, SIOCETHTOOL = 2, 2, 0x8946
ETHTOOL_GSTRINGS, ETHTOOL_SFEATURES, ETH_SS_FEATURES, SOME_ARE_FIXED = 0x1B, 0x3B, 4, 1
FEATURE_BYTES, FEATURES_MAX = 32, 256
"""linux/ethtool.h: the length of a feature's name; there are 64 features or more."""
IS_FEATURE = {
    "tx": lambda name: name.startswith("tx-checksum-"),
    "tso": lambda name: name.startswith("tx-tcp") and name.endswith("-segmentation"),
    "gso": lambda name: name == "tx-generic-segmentation",
    "gro": lambda name: name == "rx-gro",
    "tx-udp-segmentation": lambda name: name == "tx-udp-segmentation",
}
"""The features of the kernel that ethtool means by a name."""
POWER_OFF = 0x4321FEDC
READ_BYTES = 1 << 16
ONE_READ = "/proc/sys/"
"""The files below it say all that they have at once."""
RLIMIT_NOFILE, FILES_MAX = 7, 65536
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
            put(path, value)
        except OSError as error:
            raise StepError(f"{path} does not take {value!r}: {error.strerror}") from None
        seen = content(path)
        if seen.split() != value.split():
            raise StepError(f"{path} was set to {value!r} and reads {seen.strip()!r}")


def put(path: str, value: str) -> None:
    """Writes to a file that is there. `open` would ask more often of the kernel."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def text_of(path: str) -> str:
    """The text of a file; of a folder, or of several files with spaces between, a line for each that can be read."""
    if " " in path:
        return texts_of(path.split())
    if not os.path.isdir(path):
        return content(path)
    lines = []
    for name in sorted(os.listdir(path)):
        with contextlib.suppress(OSError):  # folders, and keys that cannot be read
            lines.append(f"{name}: {' '.join(content(os.path.join(path, name)).split())}\n")
    return "".join(lines)


def content(path: str) -> str:
    """The text of a file. `open` would ask more often of the kernel, and a trial reads hundreds of settings."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        parts = [os.read(descriptor, READ_BYTES)]
        while parts[-1] and not path.startswith(ONE_READ):
            parts.append(os.read(descriptor, READ_BYTES))
    finally:
        os.close(descriptor)
    return b"".join(parts).decode()


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
        with contextlib.suppress(OSError):  # a device is gone; the reader misses its line
            lines.append(f"{path}: {' '.join(content(path).split())}\n")
    return "".join(lines)


def write_sysfs(pairs: list[tuple[str, str]]) -> None:
    """Sysfs shows the devices of the network namespace in which it was mounted. Nobody else sees our mounts."""
    mount("sysfs", "sysfs", "/sys")
    try:
        write_files(pairs)
    finally:
        checked(LIBC.umount2(b"/sys", MNT_DETACH), "umount /sys")


class DeviceRequest(ctypes.Structure):
    _fields_ = (("device", ctypes.c_char * 16), ("data", ctypes.c_void_p), ("rest", ctypes.c_char * 16))


def set_features(device: str, *words: str) -> bool:
    """What `ethtool -K` does, without its start, which takes longer than all else here. False if that is not enough:
    ethtool then does it, or says why it cannot.
    """
    asked = dict(zip(words[::2], words[1::2], strict=False))
    if len(device.encode()) > 15 or len(words) != 2 * len(asked):
        return False
    if not set(asked) <= set(IS_FEATURE) or not set(asked.values()) <= {"on", "off"}:
        return False
    descriptor = LIBC.socket(AF_INET, SOCK_DGRAM, 0)
    if descriptor < 0:
        return False
    try:
        strings = (ctypes.c_uint32 * (3 + FEATURES_MAX * FEATURE_BYTES // 4))(ETHTOOL_GSTRINGS, ETH_SS_FEATURES)
        if _ask(descriptor, device, strings) or not 0 < strings[2] <= FEATURES_MAX:
            return False
        text, count = bytes(strings)[12:], strings[2]
        names = [
            text[at : at + FEATURE_BYTES].rstrip(b"\0").decode()
            for at in range(0, count * FEATURE_BYTES, FEATURE_BYTES)
        ]
        blocks = (count + 31) // 32
        order = (ctypes.c_uint32 * (2 + 2 * blocks))(ETHTOOL_SFEATURES, blocks)
        for number, name in enumerate(names):
            for feature, value in asked.items():
                if IS_FEATURE[feature](name):
                    order[2 + number // 32 * 2] |= 1 << number % 32
                    order[3 + number // 32 * 2] |= (value == "on") << number % 32
        return _ask(descriptor, device, order) in (0, SOME_ARE_FIXED)
    finally:
        os.close(descriptor)


def _ask(descriptor: int, device: str, data: ctypes.Array[ctypes.c_uint32]) -> int:
    return int(
        LIBC.ioctl(
            descriptor,
            SIOCETHTOOL,
            ctypes.byref(DeviceRequest(device.encode(), ctypes.cast(data, ctypes.c_void_p).value, b"")),
        )
    )


class Timespec(ctypes.Structure):
    _fields_ = (("s", ctypes.c_long), ("ns", ctypes.c_long))


def await_whole(grid_ns: int = GRID_NS) -> None:
    """Sleeps until CLOCK_MONOTONIC is a whole multiple of `grid_ns`, but for the kernel's slack of 50 us."""
    s, ns = divmod((time.monotonic_ns() // grid_ns + 1) * grid_ns, 10**9)
    LIBC.clock_nanosleep(time.CLOCK_MONOTONIC, TIMER_ABSTIME, ctypes.byref(Timespec(s, ns)), None)


def setns(descriptor: int) -> None:
    checked(LIBC.setns(descriptor, CLONE_NEWNET), "setns")


def mount(kind: str | None, source: str, target: str, flags: int = 0, data: str | None = None) -> None:
    text = [None if word is None else word.encode() for word in (source, target, kind, data)]
    checked(LIBC.mount(text[0], text[1], text[2], flags, text[3]), f"mount {kind or source} on {target}")


def checked(result: int, what: str) -> None:
    if result:
        raise StepError(f"{what}: {os.strerror(ctypes.get_errno())}")


def raise_file_limit() -> None:
    """If it may: the usual limit suffices for usual topologies."""
    LIBC.setrlimit(RLIMIT_NOFILE, (ctypes.c_ulong * 2)(FILES_MAX, FILES_MAX))


def power_off() -> None:
    os.sync()
    LIBC.reboot(POWER_OFF)
