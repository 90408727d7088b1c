"""The file of a stored trial. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, TypeAdapter

from ...error import SpecError
from ...model.run_setting import SEED_MAX
from ...model.scenario import Trial
from ..syntax.document import of_data
from ..syntax.field import Text
from ..syntax.file_model import FileModel, check
from ..syntax.scalar import whole
from ..topology.file import TopologyFile
from ..topology.rules import check_topology
from ..workload.background import background_faults, background_file
from ..workload.registry import place_faults, workload_file
from .file import REPETITIONS_MAX, CaptureFile, LimitsFile, RunFile, SamplesFile


class LabelFile(FileModel):
    """What a stored trial begins with."""

    id: Text
    params: dict[str, Text]
    repetition: Annotated[int, PlainValidator(whole(0, REPETITIONS_MAX))]
    topology: TopologyFile


class TrialFile(RunFile, LabelFile):
    """One trial, as it is stored with its result."""

    seed: Annotated[int, PlainValidator(whole(0, SEED_MAX + REPETITIONS_MAX))]


def trial_data(trial: Trial) -> dict[str, Any]:
    """For JSON: the keys of a scenario file with the topology inline, in canonical text, and the id."""
    interval_ns = trial.samples_interval_ns
    return TrialFile.model_construct(
        id=trial.id,
        params=dict(trial.params),
        seed=trial.seed,
        repetition=trial.repetition,
        topology=TopologyFile.of(trial.topology),
        workload=workload_file(trial.workload),
        background={name: background_file(each) for name, each in trial.background} or None,
        kernel=trial.kernel,
        nic=trial.nic,
        samples="none" if interval_ns is None else SamplesFile.model_construct(interval=interval_ns),
        capture=[CaptureFile.model_construct(at=each.at, snaplen=each.snaplen_bytes) for each in trial.captures],
        limits=LimitsFile.model_construct(wall=trial.limits.wall_ns, memory=trial.limits.memory_bytes),
        sysctls=dict(trial.sysctls),
    ).written()


def trial_of(data: Mapping[str, Any], source: str = "trial") -> Trial:
    """The trial of which trial_data() is `data`. Raises SpecError that names `source` for anything else."""
    file, faults = check(TypeAdapter(TrialFile), dict(data))
    if isinstance(data.get("topology"), dict):
        faults += [fault.under("topology") for fault in check_topology(of_data(data["topology"], source))[1]]
    faults += [] if file is None else [fault.under("workload") for fault in file.workload.faults()]
    if file is not None and file.background:
        topology = file.topology.topology() if not faults else None
        workload = file.workload.workload() if not faults else None
        faults += [f.under("background") for f in background_faults(file.background, topology, workload)]
    if file is not None and not faults:
        faults += [fault.under("workload") for fault in place_faults(file.workload, file.topology.topology())]
    if file is None or faults:
        raise SpecError(of_data(dict(data), source).problems(faults))
    return Trial(
        id=file.id,
        params=tuple(file.params.items()),
        seed=file.seed,
        repetition=file.repetition,
        topology=file.topology.topology(),
        workload=file.workload.workload(),
        kernel=file.kernel,
        nic=file.nic,
        samples_interval_ns=file.samples_interval_ns,
        captures=tuple(each.capture() for each in file.capture),
        limits=file.limits.limits(),
        sysctls=tuple(file.sysctls.items()),
        background=tuple((name, each.background()) for name, each in (file.background or {}).items()),
    )
