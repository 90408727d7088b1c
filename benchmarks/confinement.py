"""What confinement costs an empty trial: a lab kernel that boots and ends, with and without it, in turns.

On a machine that others use too, single times say little: the ratio within each pair does, and its standard error says
how much. The CPU time of all processes is printed beside the wall time, which neighbours change more.
"""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from testbed.kernel import confinement, lab
from testbed.kernel.image.cache import KernelImage, find
from testbed.native_program import Tools, tools

PAIRS = 40
GOAL = 0.02
MEMORY_BYTES = 256 << 20


def main(pairs: int = PAIRS) -> int:
    """Prints the ratio of times with and without; 0 if the CPU time's is below 1 + GOAL, as far as can be told."""
    image, programs = find(None), tools()
    print(f"confined by {confinement.method().text}, {pairs} pairs of empty trials in turns")
    _measure(image, programs, confined=True)
    found = [_pair(image, programs, first=bool(number % 2)) for number in range(pairs)]
    for name, ratios in zip(("wall time", "CPU time"), zip(*found, strict=True), strict=True):
        error = statistics.stdev(ratios) / len(ratios) ** 0.5
        mean = f"{statistics.mean(ratios):.4f} ± {error:.4f}"
        print(f"{name}: with / without {statistics.median(ratios):.4f} (median), {mean} (mean)")
    return 0 if statistics.median(ratio for _, ratio in found) <= 1 + GOAL else 1


def _pair(image: KernelImage, programs: Tools, *, first: bool) -> tuple[float, float]:
    """The ratios of wall and CPU time; `first` says whether the confined one comes first."""
    one, other = (_measure(image, programs, confined=confined) for confined in (first, not first))
    with_it, without = (one, other) if first else (other, one)
    return with_it[0] / without[0], with_it[1] / without[1]


def _measure(image: KernelImage, programs: Tools, *, confined: bool) -> tuple[float, float]:
    words = confinement.words if confined else lambda tools, allowed: ()
    with tempfile.TemporaryDirectory() as folder, patch.object(confinement, "words", words):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        lab.run(image, (), Path(folder).resolve(), tools=programs, seed=1, memory_bytes=MEMORY_BYTES)
        wall_s = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
