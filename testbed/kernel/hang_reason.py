"""Which process of a guest computes while lab time stands still. Reads /proc of the guest's processes.

Each address space of a User-Mode Linux guest is a process of the host, in which the guest's pages are at their places.
So the end of its stack, where Linux puts the environment and the name of the program, can be read from outside.
"""

from __future__ import annotations

import time
from pathlib import Path

from .consumption import children

LOOK_S = 0.2
LOOKS = 25
ENOUGH_TICKS = 10
"""Hundredths of a second that the guest must have had of a processor, for as many looks as that takes on a busy one."""
BUSY_SHARE = 0.5
"""Of the guest's time: less is no computing."""
STACK_BYTES = 64 << 10
SHOWN = 120
MARK = b"TESTBED_PROGRAM="
ADVICE = (
    "a program that waits must sleep, or ask for the time, which lets some pass; one that computes for so long needs "
    "kernel: lab-realtime"
)


def story(guest: int) -> str:
    """What to say of the standstill of the guest whose process this is; general advice if no process computes."""
    found = spinner(guest)
    if found is None:
        return "Something in the guest waits for time to pass without sleeping, or the path has no rate"
    return f"The process {found} computes without a system call, and lab time waits for it: {ADVICE}"


def spinner(guest: int) -> str | None:
    """The program that takes processor time now, and whose it is; None if there is none, or if it cannot be read."""
    before = {pid: _ticks(pid) for pid in (guest, *children(guest))}
    for _ in range(LOOKS):
        time.sleep(LOOK_S)
        grew = {pid: _ticks(pid) - ticks for pid, ticks in before.items()}
        if sum(grew.values()) >= ENOUGH_TICKS:
            busiest = max(grew, key=lambda pid: grew[pid])
            return _name(busiest) if busiest != guest and grew[busiest] >= BUSY_SHARE * sum(grew.values()) else None
    return None


def _ticks(pid: int) -> int:
    """The processor time in the process's own code, in hundredths of a second."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    except (OSError, ValueError, IndexError):
        return 0


def _name(pid: int) -> str | None:
    """From the end of the stack: the environment, then the program's name."""
    for first, last in _stacks(pid):
        try:
            with open(f"/proc/{pid}/mem", "rb") as memory:
                memory.seek(max(first, last - STACK_BYTES))
                strings = memory.read(last - memory.tell()).rstrip(b"\0").split(b"\0")
        except (OSError, ValueError, OverflowError):
            continue
        own = next((each.removeprefix(MARK) for each in reversed(strings) if each.startswith(MARK)), None)
        if own is not None or b"/" in strings[-1]:
            return _shown(strings[-1]) + ("" if own is None else f" (the program {_shown(own)})")
    return None


def _stacks(pid: int) -> list[tuple[int, int]]:
    """Ranges of writable pages that lie side by side, from the top."""
    found: list[tuple[int, int]] = []
    try:
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    except OSError:
        return []
    for line in lines:
        (first, last), kind = (int(word, 16) for word in line.split()[0].split("-")), line.split()[1]
        if "w" not in kind:
            continue
        if found and found[-1][1] == first:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found[::-1]


def _shown(text: bytes) -> str:
    return "".join(each if each.isprintable() else "?" for each in text.decode(errors="replace"))[-SHOWN:]
