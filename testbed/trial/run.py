"""Runs one trial on the kernel it asks for, and writes everything to a folder."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from ..kernel import confinement, host, lab, nic
from ..kernel.guest import Ending, Progress, Steps, TrialError, write_steps
from ..kernel.machine import connected
from ..kernel.vm import snapshot
from ..kernel.vm.hypervisor import Accelerator
from ..model.scenario import Trial
from ..plan.network import Plan
from ..spec import program_store
from ..spec.scenario.trial import trial_data
from . import provenance, reader, software, strict_folder
from .evidence import remains
from .evidence.case import Case
from .evidence.stage import Evidence
from .folder import HOST, MARK, PROVENANCE, RESULT, TRIAL, DiskFull, is_full, mark, write_json
from .gate import judge
from .orders.sequence import Orders, with_events
from .readiness import machines
from .ready_kernel import ReadyKernel, ready_kernel
from .result import TrialResult
from .start import local_words, remote
from .subject import openflow
from .subject.ack import ACKS
from .subject.machine import HYPERVISOR
from .subject.observer import AFTER, READ_BACK, SAMPLES
from .summary import result
from .workload import registry


def run(
    trial: Trial,
    made: Orders,
    folder: Path,
    *,
    progress: Progress = lambda lab_s: None,
    cancelled: Callable[[], bool] = lambda: False,
    ready: ReadyKernel | None = None,
    cpu_limit_s: float | None = None,
    keep: Callable[[Path, Evidence], None] | None = None,
) -> TrialResult:
    """Carries out a trial. Afterwards `folder` has all that is needed to repeat it and to analyse it again.

    `ready` is the kernel to run on; None is the one that the trial names, as this computer has it. `cpu_limit_s` is the
    processor time of a lab kernel (None: no limit), `keep` gets the samples instead of the tables in the folder. Raises
    TrialError if the trial failed, Cancelled if `cancelled` returned True.
    """
    ready = ready or ready_kernel(trial.kernel)
    noted, files_before = provenance.of(trial, ready), software.files()
    files = program_store.find(trial.workload.needed_files)
    steps, accelerator = provenance.steps_here(trial, made, ready, files)
    if ready.image is not None:
        snapshot.make_missing(steps, ready.image, ready.tools, software.of_snapshots, cancelled)
    described = partial(_describe, trial, made, noted, accelerator, folder)
    described()
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    try:
        try:
            with connected(machines(trial), folder):
                ending = _carry_out(trial, made, steps, ready, folder, progress, cancelled, files, cpu_limit_s)
        finally:
            left = remains.tidied(folder)
    except TrialError as error:
        described()
        failures = openflow.failures(folder)
        raise TrialError(f"{failures}\nThen {error}" if failures else str(error)) from None
    if left is not None:
        raise TrialError(f"the guest left {left}")
    if trial.kernel.is_virtual_time and (changed := software.changed(files_before)):
        described = partial(_describe, trial, made, provenance.disturbed(noted, changed), accelerator, folder)
    described()  # the guest could change them, and the mark will say that they are ours
    write_steps(folder, steps)
    if is_full(folder):
        raise DiskFull(folder.parent, "what the trial wrote may not be whole")
    with remains.read():
        remains.check_whole(folder)
        remote.gather(folder, made.plan, {READ_BACK: made.observed, AFTER: made.observed_after, SAMPLES: made.sampled})
        registry.gather(trial.workload, made.plan, folder)
        made = with_events(trial, made, folder)
        evidence = reader.read(trial, made, folder)
        case = Case(trial, made.plan, evidence)
        findings = judge.judge(case)
        (keep or partial(_write_tables, made.plan))(folder, evidence)
        (folder / SAMPLES).unlink()
        (folder / lab.ACKS).unlink(missing_ok=True)
        done = result(case, findings, ending)
    confined = confinement.NONE if ready.image is None else confinement.method()
    about = {
        "wall_s": ending.wall_s,
        "cpu_s": ending.cpu_s,
        "started": started,
        "confinement": confined.text,
        "computer": platform.node(),
        "kernel_program": provenance.kernel_program(ready),
    }
    write_json(folder / HOST, about | {MARK: mark(folder)})
    write_json(folder / RESULT, done.stored())
    return done


def _write_tables(planned: Plan, folder: Path, evidence: Evidence) -> None:
    from . import ack_table  # imports pyarrow, which a run without trials need not pay for
    from .sample_table import write_samples

    write_samples(folder, evidence)
    acks = evidence.things[ACKS.name]
    if acks is not None:
        ack_table.write(folder, planned, evidence, acks)


def _describe(trial: Trial, made: Orders, noted: dict[str, Any], accelerator: Accelerator | None, folder: Path) -> None:
    """Writes what the trial is, in place of whatever has these names."""
    write_json(folder / TRIAL, trial_data(trial))
    write_json(folder / PROVENANCE, noted)
    strict_folder.write(folder, "plan.sh", data=made.script.encode())
    if accelerator is not None:
        write_json(folder / HYPERVISOR, asdict(accelerator))


def _carry_out(
    trial: Trial,
    made: Orders,
    steps: Steps,
    ready: ReadyKernel,
    folder: Path,
    progress: Progress,
    cancelled: Callable[[], bool],
    files: Path | None,
    cpu_limit_s: float | None,
) -> Ending:
    wall_limit_s = trial.limits.wall_ns / 1e9 if trial.limits.wall_ns is not None else None
    if ready.image is None:
        with ExitStack() as stack:
            for wanted in made.plan.real_nics:
                stack.enter_context(nic.attached(wanted, owner=f"the trial {trial.id}"))
            return host.run(
                steps,
                folder,
                tools=ready.tools,
                wall_limit_s=wall_limit_s,
                progress=progress,
                cancelled=cancelled,
            )
    return lab.run(
        ready.image,
        steps,
        folder,
        tools=ready.tools,
        seed=trial.seed,
        memory_bytes=made.memory_bytes,
        virtual_time=trial.kernel.is_virtual_time,
        clock_start_s=snapshot.clock_start_s(steps),
        wall_limit_s=wall_limit_s,
        cpu_limit_s=cpu_limit_s,
        progress=progress,
        cancelled=cancelled,
        files=files,
        programs=local_words.programs(trial.topology),
        variables=lab.RECORDS_ACKS if trial.acks else lab.NO_VARIABLES,
    )
