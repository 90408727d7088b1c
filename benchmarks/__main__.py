"""Prints lab seconds per wall second for typical trials, one trial at a time: `python -m benchmarks [CASE …]`.

`python -m benchmarks NAME [NUMBER …]` measures something else; the module NAME says what, and what the numbers are:
{names}.

Wall time on a shared machine varies: compare figures of one call with one another, and look at the spread.
`--against CHECKOUT` runs this checkout and another one in turns, each with its own kernel, and prints their ratio.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.model.scenario import Trial
from testbed.spec.scenario.trial import trial_of
from testbed.trial import run as runner
from testbed.trial.orders.sequence import orders

from . import (
    against,
    alike,
    calibrate,
    campaign,
    cluster,
    confinement,
    coverage,
    digests,
    exercises,
    faults,
    forecast,
    inputs,
    jobs,
    mutants,
    packet,
    places,
    power,
    queue,
    report,
    rules,
    same,
    start,
    windows,
)

WITH_OPTIONS = {
    "digests": digests.main,
    "faults": faults.main,
    "inputs": inputs.main,
    "mutants": mutants.main,
    "power": power.main,
    "exercises": exercises.main,
    "rules": rules.main,
    "same": same.main,
    "start": start.main,
    "windows": windows.main,
}
WITH_NUMBERS: dict[str, Callable[..., int]] = {
    each.__name__.rpartition(".")[2]: each.main
    for each in (
        alike,
        calibrate,
        campaign,
        cluster,
        confinement,
        coverage,
        forecast,
        jobs,
        packet,
        places,
        queue,
        report,
    )
}


@dataclass(frozen=True)
class Case:
    """A trial to time; `prototype` is what a hand-made one reached, in lab seconds per wall second."""

    name: str
    rate: str
    rtt: str
    flows: int
    duration: str
    loss: str = "none"
    nic: str = "offload"
    prototype: float | None = None


CASES = (
    Case("empty", "10 Gbit/s", "1 ms", 1, "1 ms"),
    Case("10G-366ms-10-offload", "10 Gbit/s", "366 ms", 10, "30 s", prototype=0.79),
    Case("10G-366ms-10-plain", "10 Gbit/s", "366 ms", 10, "30 s", nic="plain", prototype=0.42),
    Case("10G-50ms-1-offload", "10 Gbit/s", "50 ms", 1, "12 s", prototype=1.3),
    Case("25G-100ms-8-offload", "25 Gbit/s", "100 ms", 8, "10 s"),
    Case("100G-10ms-16-offload", "100 Gbit/s", "10 ms", 16, "2 s"),
    Case("1G-50ms-10-offload", "1 Gbit/s", "50 ms", 10, "30 s", prototype=4.8),
    Case("1G-50ms-10-plain", "1 Gbit/s", "50 ms", 10, "30 s", nic="plain", prototype=2.7),
    Case("10G-50ms-1in1000000", "10 Gbit/s", "50 ms", 1, "12 s", loss="1 in 1000000"),
    Case("10G-100ms-1in10000", "10 Gbit/s", "100 ms", 1, "120 s", loss="1 in 10000", prototype=100),
)


def scenario(case: Case) -> dict[str, Any]:
    return {
        "name": case.name.lower(),
        "topology": {
            "name": "bench",
            "nic": case.nic,
            "nodes": {"client": {"type": "host"}, "server": {"type": "host"}},
            "links": {
                "path": {
                    "ends": ["client", "server"],
                    "rate": case.rate,
                    "rtt": case.rtt,
                    "loss": case.loss,
                    "buffer": "1 bdp",
                }
            },
        },
        "workload": {
            "tool": "flow",
            "from": "client",
            "to": "server",
            "duration": case.duration,
            "flows": str(case.flows),
        },
        "samples": {"interval": "100 ms"},
    }


def trial(case: Case) -> Trial:
    asked = {key: value for key, value in scenario(case).items() if key != "name"}
    one = {"id": case.name, "params": {}, "seed": 1, "repetition": 0, "kernel": "lab", "nic": case.nic}
    return trial_of({**one, **asked}, case.name)


def measure(case: Case) -> tuple[float, float, float, str]:
    """Wall and CPU seconds of one run, lab seconds of its workload alone, and the verdict."""
    made = orders(trial(case))
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        result = runner.run(trial(case), made, Path(folder).resolve())
        wall_s = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall_s, cpu_s, result.workload_s or 0.0, result.verdict


def main() -> None:
    name, words = "".join(sys.argv[1:2]), sys.argv[2:]
    if name in WITH_OPTIONS:
        sys.exit(WITH_OPTIONS[name](words))
    if name in WITH_NUMBERS and "--help" not in words:
        sys.exit(WITH_NUMBERS[name](*map(int, words)))
    about = str(__doc__).format(names=", ".join(sorted((*WITH_OPTIONS, *WITH_NUMBERS))))
    parser = argparse.ArgumentParser(
        description=about, prog="python -m benchmarks", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="CASE", help=", ".join(case.name for case in CASES))
    parser.add_argument("--runs", type=int, help="runs of each case (1; with --against 5); the median is printed")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="run another checkout, too, in turns")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - {case.name for case in CASES})
    if unknown:
        parser.error(f"there is no case {', '.join(unknown)}; allowed: {', '.join(case.name for case in CASES)}")
    if options.against is not None:
        asked = {case.name: scenario(case) for case in CASES if case.name in (options.names or [case.name])}
        sys.exit(against.compare(asked, options.against, options.runs or 5))
    print(f"{'case':24}{'lab s':>8}{'wall s':>8}{'CPU s':>8}{'lab/wall':>10}{'prototype':>10}  verdict")
    for case in CASES:
        if options.names and case.name not in options.names:
            continue
        runs = [measure(case) for _ in range(options.runs or 1)]
        wall_s, cpu_s, lab_s = (statistics.median(column) for column in zip(*(run[:3] for run in runs), strict=True))
        prototype = f"{case.prototype:g}" if case.prototype else "-"
        ratio = lab_s / wall_s
        print(
            f"{case.name:24}{lab_s:8.1f}{wall_s:8.2f}{cpu_s:8.2f}{ratio:10.2f}{prototype:>10}  {runs[0][3]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
