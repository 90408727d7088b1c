"""Forecast against truth: `python -m benchmarks forecast [BUDGET [LONGEST]]`.

Runs trials of each shipped scenario that the lab kernel takes in virtual time, one at a time: of its quick size, if it
has one, cells in a seeded order, as long as the forecasts of one scenario add up to BUDGET seconds (10), at least one
and at most three. A cell whose forecast is above LONGEST seconds (120) is not run.

The truth is the processor time of the guest: what a trial takes where a core is free. The forecast of a scenario is
that of a run which has seen the trials of the others, so the machine's speed is known and the scenario itself is not.
Memory is what the guest has touched; its ceiling, by which trials are admitted, is higher.

Exit code 0 if each shipped scenario was forecast within 30 % in both, but for those of the host's kernel, whose trials
take their own length.
"""

from __future__ import annotations

import os
import random
import resource
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from testbed.error import TestbedError
from testbed.model.scenario import Scenario, Trial
from testbed.spec.load import load_scenario
from testbed.sweep.forecast import PRIOR, Work, fitted, forecast_s, work
from testbed.trial import run as runner
from testbed.trial.orders.sequence import orders

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
WITHIN = 0.3
MOST = 3
LOOK_S = 0.03
MEMORY = "/memfd:lab-kernel"


@dataclass(frozen=True)
class Measured:
    """A trial: its work, and the seconds of a processor and the bytes that it took."""

    work: Work
    cpu_s: float
    memory_bytes: int


@dataclass(frozen=True)
class Sample:
    """The trials of one scenario. `left_out` says why there are none; `is_real` if that is no failure, as they go by
    the wall clock.
    """

    name: str
    cells: int
    trials: tuple[Measured, ...] = ()
    left_out: str = ""
    is_real: bool = False


def main(budget_s: int = 10, longest_s: int = 120) -> int:
    """Prints a line for each scenario, and the share of those within 30 %."""
    print(f"load average: {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores")
    samples = []
    for path in sorted(SCENARIOS.rglob("*.yaml")):
        samples.append(_sample(path, budget_s, longest_s))
        print(f"{samples[-1].name:34}{len(samples[-1].trials)} trials {samples[-1].left_out}", flush=True)
    return report(samples)


def report(samples: Sequence[Sample]) -> int:
    """The table; how many scenarios were not forecast within 30 %, or not run."""
    print(f"{'scenario':34}{'cells':>10}{'forecast s':>11}{'CPU s':>8}{'error':>7}{'MiB':>6}{'seen':>6}{'error':>7}")
    run = [sample for sample in samples if sample.trials]
    met = {"time": 0, "memory": 0, "both": 0}
    for sample in run:
        coefficients = fitted((each.work, each.cpu_s) for other in run if other is not sample for each in other.trials)
        told_s = sum(forecast_s(each.work, coefficients) for each in sample.trials)
        took_s = sum(each.cpu_s for each in sample.trials)
        told = max(each.work.touched_bytes for each in sample.trials)
        touched = max(each.memory_bytes for each in sample.trials)
        errors = told_s / took_s - 1, told / touched - 1
        fine = [abs(error) <= WITHIN for error in errors]
        met = {key: met[key] + ok for key, ok in zip(met, (*fine, all(fine)), strict=True)}
        cells = f"{len(sample.trials)} of {sample.cells}"
        print(
            f"{sample.name:34}{cells:>10}{told_s:11.2f}{took_s:8.2f}{errors[0]:+7.0%}"
            f"{told >> 20:6}{touched >> 20:6}{errors[1]:+7.0%}"
        )
    left = [sample for sample in samples if not sample.trials]
    for sample in left:
        print(f"{sample.name:34}not run: {sample.left_out}")
    for key, count in met.items():
        print(f"{key} within {WITHIN:.0%}: {count} of {len(run)} scenarios run, of {len(samples)} shipped")
    return len(run) - met["both"] + sum(not sample.is_real for sample in left) + (not run)


def _sample(path: Path, budget_s: float, longest_s: float) -> Sample:
    """Runs some trials of a scenario."""
    scenario = _smallest(path)
    name = f"{path.relative_to(SCENARIOS).with_suffix('')}:{scenario.size}"
    cells = list({trial.params: trial for trial in scenario.trials()}.values())
    random.Random(name).shuffle(cells)
    if any(not trial.kernel.is_virtual_time or trial.kernel.kind != "lab" for trial in cells):
        return Sample(name, len(cells), left_out="its trials go by the wall clock", is_real=True)
    done: list[Measured] = []
    told_s, why = 0.0, ""
    for trial in cells:
        told = forecast_s(work(trial, orders(trial)), PRIOR)
        if told > longest_s:
            why = f"a trial takes about {told:.0f} s"
        elif len(done) < MOST and (not done or told_s + told <= budget_s):
            told_s += told
            try:
                done.append(measured(trial))
            except TestbedError as error:
                why = str(error).splitlines()[0][:80]
    return Sample(name, len(cells), tuple(done), why)


def _smallest(path: Path) -> Scenario:
    """Its quick size, or the only one."""
    with suppress(TestbedError):
        return load_scenario(path, quick=True)
    return load_scenario(path)


def measured(trial: Trial) -> Measured:
    made = orders(trial)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        with _memory(folder) as touched:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            runner.run(trial, made, folder)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if not touched:
        raise TestbedError("its memory was not seen")
    return Measured(work(trial, made), cpu_s, touched[0])


@contextmanager
def _memory(folder: Path) -> Iterator[list[int]]:
    """What a guest that starts in a folder has touched of its memory, when the block has ended."""
    ended, found = threading.Event(), list[int]()

    def look() -> None:
        while not found and not ended.wait(LOOK_S):
            found.extend(_opened(folder))

    thread = threading.Thread(target=look)
    thread.start()
    touched: list[int] = []
    try:
        yield touched
    finally:
        ended.set()
        thread.join()
        for descriptor in found:
            touched.append(os.fstat(descriptor).st_blocks * 512)
            os.close(descriptor)


def _opened(folder: Path) -> list[int]:
    """The memory of a guest, opened by us: it stays until we have looked."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if not Path(os.readlink(process / "cwd")).is_relative_to(folder):
                continue
            for link in (process / "fd").iterdir():
                if os.readlink(link).startswith(MEMORY):
                    return [os.open(link, os.O_RDONLY)]
    return []
