"""The file of a stored trial. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...codec.keyed import Keyed, Kind, check, key, named
from ...codec.kind import TEXT, WORD, mapped, record
from ...codec.scalar import whole
from ...error import SpecError
from ...model.background import one_by_one
from ...model.run_setting import REPETITIONS_MAX, SEED_MAX, Samples
from ...model.scenario import Trial
from ...model.workload.tool import keys_of
from ..syntax.document import of_data
from ..topology.file import TopologyFile
from ..topology.rules import check_topology
from .file import RunFile
from .place import background_faults, place_faults


@named
class LabelFile(Keyed):
    """What a stored trial begins with."""

    id: str = key("id", TEXT)
    params: tuple[tuple[str, str], ...] = key("params", mapped(WORD, TEXT))
    repetition: int = key("repetition", Kind(whole(0, REPETITIONS_MAX)))
    topology: TopologyFile = key("topology", record(TopologyFile))


@named
class TrialFile(RunFile, LabelFile):
    """One trial, as it is stored with its result."""

    seed: int = key("seed", Kind(whole(0, SEED_MAX + REPETITIONS_MAX)))


def trial_data(trial: Trial) -> dict[str, Any]:
    """For JSON: the keys of a scenario file with the topology inline, in canonical text, and the id."""
    return TrialFile(
        id=trial.id,
        params=trial.params,
        seed=trial.seed,
        repetition=trial.repetition,
        topology=TopologyFile.of(trial.topology),
        workload=keys_of(trial.workload),
        background=trial.background or None,
        kernel=trial.kernel,
        nic=trial.nic,
        samples=_samples(trial),
        captures=trial.captures,
        limits=trial.limits,
        sysctls=trial.sysctls,
    ).written()


def _samples(trial: Trial) -> Samples | None:
    interval_ns = trial.samples_interval_ns
    return None if interval_ns is None else Samples(interval_ns, trial.acks or None)


def trial_of(data: Mapping[str, Any], source: str = "trial") -> Trial:
    """The trial of which trial_data() is `data`. Raises SpecError that names `source` for anything else."""
    file, faults = check(TrialFile, dict(data))
    if isinstance(data.get("topology"), dict):
        faults += [fault.under("topology") for fault in check_topology(of_data(data["topology"], source))[1]]
    faults += [] if file is None else [fault.under("workload") for fault in file.workload.faults()]
    if file is not None and file.background:
        topology = file.topology.topology() if not faults else None
        workload = file.workload.workload() if not faults else None
        faults += [f.under("background") for f in background_faults(dict(file.background), topology, workload)]
    if file is not None and not faults:
        faults += [fault.under("workload") for fault in place_faults(file.workload, file.topology.topology())]
    if file is None or faults:
        raise SpecError(of_data(dict(data), source).problems(faults))
    return Trial(
        id=file.id,
        params=file.params,
        seed=file.seed,
        repetition=file.repetition,
        topology=file.topology.topology(),
        workload=file.workload.workload(),
        kernel=file.kernel,
        nic=file.nic,
        samples_interval_ns=None if file.samples is None else file.samples.interval_ns,
        acks=file.samples is not None and bool(file.samples.acks),
        captures=file.captures,
        limits=file.limits,
        sysctls=file.sysctls,
        background=one_by_one(file.background or ()),
    )
