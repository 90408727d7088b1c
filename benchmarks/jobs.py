"""How many times the trials two jobs do in the wall time of one, and whether the results are the same.

The sweep is of equal trials, small enough that none waits for memory. On a machine that others use too, the ratio says
as much about them: it is printed with the CPU time that the trials took, which neighbours change little.
"""

from __future__ import annotations

import io
import resource
import tempfile
import time
from pathlib import Path

from rich.console import Console

from testbed.commands.measure.run import carry_out
from testbed.spec.load import files_of, load_scenario
from testbed.sweep.store import Store

GOAL = 1.8
NOT_REPEATED = ("host.json", "host.parquet")
SCENARIO = """
name: jobs
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 1 Gbit/s, rtt: 10 ms, buffer: 1 bdp}}
workload: {tool: flow, from: a, to: b, duration: 10 s}
repetitions: TRIALS
"""


def main(trials: int = 12, runs: int = 1) -> int:
    """Prints a line for each pair of runs; 0 if the results were the same each time."""
    print(f"{'trials':>6}{'1 job s':>10}{'2 jobs s':>10}{'ratio':>8}{'CPU 1 s':>10}{'CPU 2 s':>10}  results")
    different = 0
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            walls_s, cpus_s = zip(*(_measure(folder, trials, jobs) for jobs in (1, 2)), strict=True)
            same = _files(folder / "1") == _files(folder / "2")
        ratio = walls_s[0] / walls_s[1]
        print(
            f"{trials:6}{walls_s[0]:10.2f}{walls_s[1]:10.2f}{ratio:8.2f}{cpus_s[0]:10.2f}{cpus_s[1]:10.2f}  "
            f"{'the same' if same else 'DIFFERENT'}, goal {GOAL}",
            flush=True,
        )
        different += not same
    return different


def _measure(folder: Path, trials: int, jobs: int) -> tuple[float, float]:
    """Wall and CPU seconds of a sweep, its tables included; Python has been started already."""
    path = folder / "jobs.yaml"
    path.write_text(SCENARIO.replace("TRIALS", str(trials)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    carry_out(load_scenario(path), Store(folder / str(jobs)), files_of(path), jobs, Console(file=io.StringIO()))
    wall_s = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in NOT_REPEATED
    }
