"""Two checkouts in turns: `python -m benchmarks --against OTHER_CHECKOUT [CASE …] [--runs N]`.

Runs the trials of `python -m benchmarks` with this checkout and with another one, by the command line of each, one
trial at a time. Each side has the lab kernel that its own checkout builds (`testbed kernel build`, once, in each), and
a cache folder of its own that refers to the user's. The sides take turns, and who begins changes with each pair, so
that a machine that becomes slower or faster is so for both.

The wall time is that of the guest, from its boot to its end; the CPU time is that of the whole command. The ratio is
that of the two trials of a pair: its median, and the lowest and the highest.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
PATCHES = "kernel/lab/patches"


@dataclass(frozen=True)
class Side:
    """A checkout, and the cache folder with its kernel."""

    checkout: Path
    cache: Path

    def measure(self, scenario: Mapping[str, Any], folder: Path) -> Run:
        file = folder / "scenario.yaml"
        file.write_text(json.dumps(scenario))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "testbed", "run", str(file), "-o", str(folder / "out"), "--jobs", "1"],
            cwd=self.checkout,
            env={**os.environ, "PYTHONPATH": str(self.checkout), "XDG_CACHE_HOME": str(self.cache)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found = list((folder / "out" / "trials").glob("*/result.json"))
        if len(found) != 1:
            raise SystemExit(f"{self.checkout} measured nothing:\n{done.stdout[-2000:]}")
        result = json.loads(found[0].read_text())
        wall_s = json.loads((found[0].parent / "host.json").read_text())["wall_s"]
        return Run(result["workload_s"] or 0.0, wall_s, cpu_s, result["goodput_bps"] or 0.0, result["verdict"])


@dataclass(frozen=True)
class Run:
    lab_s: float
    wall_s: float
    cpu_s: float
    goodput_bps: float
    verdict: str


def compare(scenarios: Mapping[str, Mapping[str, Any]], other: Path, runs: int) -> int:
    """Prints a line for each side and one for their ratio; 1 if a trial was invalid or a side did not repeat itself."""
    bad = 0
    with tempfile.TemporaryDirectory(prefix="against-") as name:
        sides = [side(checkout.resolve(), Path(name) / which) for which, checkout in (("this", HERE), ("other", other))]
        head = f"{'case':24}{'side':>6}{'lab s':>7}{'wall s':>8}{'from':>8}{'to':>8}{'CPU s':>8}{'lab/wall':>9}"
        print(f"{head}  verdict")
        for case, scenario in scenarios.items():
            found: list[list[Run]] = [[], []]
            for turn in range(runs):
                for which in (0, 1) if turn % 2 else (1, 0):
                    with tempfile.TemporaryDirectory(dir=name) as folder:
                        found[which].append(sides[which].measure(scenario, Path(folder)))
            bad += _print(case, found)
    return 1 if bad else 0


def side(checkout: Path, cache: Path) -> Side:
    """A cache folder in which everything is the user's, but the only kernel is the one of the checkout."""
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "testbed"
    mine = cache / "testbed"
    (mine / "kernels").mkdir(parents=True, mode=0o700)
    for each in users.iterdir():
        if each.name != "kernels":
            (mine / each.name).symlink_to(each)
    kernel = kernel_of(checkout, users / "kernels")
    (mine / "kernels" / kernel.name).symlink_to(kernel)
    return Side(checkout, cache)


def kernel_of(checkout: Path, kernels: Path) -> Path:
    """The folder of the default kernel with the patches of a checkout, the newest if there are several."""
    files = sorted((checkout / PATCHES).glob("*.patch"))
    wanted = {file.name: hashlib.sha256(file.read_text().encode()).hexdigest() for file in files}
    fitting = []
    for record in kernels.glob("[!.]*/kernel.json"):
        about = json.loads(record.read_text())
        if about["is_default"] and about["patches"] == wanted:
            fitting.append((record.stat().st_mtime_ns, record.parent))
    if not fitting:
        raise SystemExit(f"the kernel of {checkout} is not built; there: python -m testbed kernel build")
    return max(fitting)[1]


def _print(case: str, found: Sequence[Sequence[Run]]) -> bool:
    """Prints what was measured in one case; whether something is wrong."""
    for name, runs in zip(("this", "other"), found, strict=True):
        walls = [run.wall_s for run in runs]
        wall_s, cpu_s = statistics.median(walls), statistics.median(run.cpu_s for run in runs)
        lab_s, verdicts = runs[0].lab_s, ", ".join(sorted({run.verdict for run in runs}))
        print(
            f"{case:24}{name:>6}{lab_s:7.1f}{wall_s:8.2f}{min(walls):8.2f}{max(walls):8.2f}{cpu_s:8.2f}"
            f"{lab_s / wall_s:9.2f}  {verdicts}, {runs[0].goodput_bps / 1e6:.1f} Mbit/s",
            flush=True,
        )
    ratios = sorted(other.wall_s / this.wall_s for this, other in zip(*found, strict=True))
    print(
        f"{case:24}{'ratio':>6}{'':7}{statistics.median(ratios):8.2f}{ratios[0]:8.2f}{ratios[-1]:8.2f}"
        f"  times as fast as the other, {len(ratios)} pairs",
        flush=True,
    )
    repeats = all(len({(run.goodput_bps, run.verdict) for run in runs}) == 1 for runs in found)
    if not repeats:
        print(f"{case:24}a side did not repeat itself: its numbers differ from run to run")
    return not repeats or any(run.verdict == "invalid" for runs in found for run in runs)
