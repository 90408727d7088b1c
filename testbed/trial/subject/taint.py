"""Did the kernel warn of itself, or oops and go on? Asked at the end of a trial on a kernel that `testbed cc` built.
Reads a file of the trial's folder.

A warning stops nothing, and the lab kernel's console does not show it. Nobody is asked on other kernels, whose trials
stay the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...codec.frozen import dataclass
from ...kernel import guest_file, oops
from ...model.scenario import Trial
from ...plan.network import Plan
from ...plan.step import Run, Step
from ..evidence.case import Case, Subject, When
from ..result import Finding

FILE = "kernel-warned.txt"
MOST_BYTES = 1 << 20
LOOK = """\
bits=$(cat /proc/sys/kernel/tainted)
[ "$bits" = 0 ] || { echo "$bits"; dmesg; }
"""
"""Says nothing of a kernel with which all is well, so that two such kernels give the same file. The shell's own `read`
asks for a byte at a time, and gets the first one only.
"""


@dataclass(frozen=True)
class Taint:
    """All that the kernel said if it warned, or oopsed; None: it did not, or nobody asked."""

    said: str | None = None


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    if when == "last" and trial.kernel.is_on_trial:
        yield Run(("sh", "-c", LOOK), title="whether the kernel warned", out=FILE, may_fail=True)


def warned(folder: Path) -> str | None:
    """All that the kernel said in the trial of this folder, if it warned or oopsed; None: not, or nobody asked."""
    bits, _, said = guest_file.told(folder / FILE, MOST_BYTES).partition("\n")
    if not bits.isdecimal() or not int(bits) & (oops.OOPS | oops.WARNED):
        return None
    return said if oops.line(said) is not None else f"tainted by {bits}; its messages could not be read"


def read(trial: Trial, plan: Plan, folder: Path) -> Taint:
    return Taint(warned(folder) if trial.kernel.is_on_trial else None)


def check(case: Case, seen: Taint) -> Iterator[Finding]:
    """A note: what the kernel warns of need not be about what was measured."""
    if seen.said is not None:
        what = f"the kernel warned: {oops.told(seen.said).splitlines()[0]}"
        yield Finding("kernel", "valid", what, f"all that it said is in {FILE}")


TAINT = Subject(name="taint", kind=Taint, read=read, steps=steps, checks=(check,))
