"""A scenario: cells, which are combinations of axis values, and the trials they make. Pure, no I/O."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

from .background import Backgrounds
from .backgroundfile import background_faults, background_file
from .document import of_data
from .error import SpecError
from .scenariofile import CaptureFile, LimitsFile, SamplesFile, TrialFile
from .setting import LAB, UNLIMITED, Capture, Kernel, Limits, Until
from .shape import check
from .topology import Nic, Topology
from .topologycheck import check_topology
from .topologyfile import TopologyFile
from .workload import FlowWorkload, Iperf3Workload, PingWorkload, Workload
from .workloadfile import workload_file

__all__ = [
    "Axis",
    "Capture",
    "Cell",
    "FlowWorkload",
    "Iperf3Workload",
    "Kernel",
    "Limits",
    "PingWorkload",
    "Scenario",
    "Trial",
    "Workload",
]

Params = tuple[tuple[str, str], ...]
Size: TypeAlias = Literal["full", "quick"]
ID_MAX = 120


@dataclass(frozen=True)
class Axis:
    """What is varied: its key ("path.rtt", "flows"), and its values as canonical text, in file order."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One combination of axis values, resolved. `params` has the key and the text of each axis.

    `sysctls` are those that axes set; they go before the scenario's. `background` is other traffic.
    """

    params: Params
    topology: Topology
    workload: Workload
    kernel: Kernel
    nic: Nic | None
    sysctls: tuple[tuple[str, str], ...] = ()
    background: Backgrounds = ()


@dataclass(frozen=True)
class Trial:
    """One cell with one seed: all that is needed to run it, and to run it again.

    `id` is unique in the scenario and fit for a file name. `repetition` counts from 0, and `seed` is the
    scenario's plus that. `nic` is what hosts use that do not say themselves, the same as `topology.nic`.
    `samples_interval_ns` is in lab time; None takes no samples. `sysctls` are for all hosts, `background` is
    other traffic.
    """

    id: str
    params: Params
    seed: int
    repetition: int
    topology: Topology
    workload: Workload
    kernel: Kernel = LAB
    nic: Nic | None = None
    samples_interval_ns: int | None = None
    captures: tuple[Capture, ...] = ()
    limits: Limits = UNLIMITED
    sysctls: tuple[tuple[str, str], ...] = ()
    background: Backgrounds = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the keys of a scenario file with the topology inline, in canonical text, and the id."""
        interval_ns = self.samples_interval_ns
        return TrialFile.model_construct(
            id=self.id,
            params=dict(self.params),
            seed=self.seed,
            repetition=self.repetition,
            topology=TopologyFile.of(self.topology),
            workload=workload_file(self.workload),
            background={name: background_file(each) for name, each in self.background} or None,
            kernel=self.kernel,
            nic=self.nic,
            samples="none" if interval_ns is None else SamplesFile.model_construct(interval=interval_ns),
            capture=[CaptureFile.model_construct(at=each.at, snaplen=each.snaplen_bytes) for each in self.captures],
            limits=LimitsFile.model_construct(wall=self.limits.wall_ns, memory=self.limits.memory_bytes),
            sysctls=dict(self.sysctls),
        ).written()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], source: str = "trial") -> Trial:
        """The trial of which to_dict() is `data`. Raises SpecError that names `source` for anything else."""
        file, faults = check(TypeAdapter(TrialFile), dict(data))
        if isinstance(data.get("topology"), dict):
            faults += [fault.under("topology") for fault in check_topology(of_data(data["topology"], source))[1]]
        faults += [] if file is None else [fault.under("workload") for fault in file.workload.faults()]
        if file is not None and file.background:
            topology = file.topology.topology() if not faults else None
            workload = file.workload.workload() if not faults else None
            faults += [f.under("background") for f in background_faults(file.background, topology, workload)]
        if file is None or faults:
            raise SpecError(of_data(dict(data), source).problems(faults))
        return cls(
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


@dataclass(frozen=True)
class Scenario:
    """What to run. `cells` are the product of `axes`, the last axis varying fastest, without what is excluded; axes of
    one group vary together.

    `repetitions` is at least 1; repetition i, from 0, has the seed `seed` + i. With `until`, repetitions are the most
    that a cell can get. `size` says whether the file's quick settings are in force, and `quick_note` what they scale.
    The rest is as in Trial.
    """

    name: str
    description: str
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    repetitions: int = 1
    seed: int = 1
    samples_interval_ns: int | None = None
    captures: tuple[Capture, ...] = ()
    limits: Limits = UNLIMITED
    sysctls: tuple[tuple[str, str], ...] = ()
    until: Until | None = None
    size: Size = "full"
    quick_note: str | None = None

    def order(self) -> tuple[Trial, ...]:
        """The trials in the order in which to run them: a block for each repetition, with every cell once, and drawn
        by lot within the block, so that a drift of the machine does not look like the effect of an axis.

        The lot is a hash of the seed and the trial: the same for the same scenario, everywhere.
        """
        return tuple(sorted(self.trials(), key=lambda trial: (trial.repetition, self._lot(trial))))

    def _lot(self, trial: Trial) -> bytes:
        return hashlib.sha256(f"{self.seed} {trial.repetition} {trial.id}".encode()).digest()

    def trials(self) -> tuple[Trial, ...]:
        """Every cell with every seed, the seeds of a cell side by side."""
        runs = [(cell, i) for cell in self.cells for i in range(self.repetitions)]
        ids = trial_ids([(*cell.params, ("seed", str(self.seed + i))) for cell, i in runs])
        return tuple(
            Trial(
                id=id,
                params=cell.params,
                seed=self.seed + i,
                repetition=i,
                topology=cell.topology,
                workload=cell.workload,
                kernel=cell.kernel,
                nic=cell.nic,
                samples_interval_ns=self.samples_interval_ns,
                captures=self.captures,
                limits=self.limits,
                sysctls=tuple((dict(self.sysctls) | dict(cell.sysctls)).items()),
                background=cell.background,
            )
            for id, (cell, i) in zip(ids, runs, strict=True)
        )


def trial_ids(runs: Sequence[Params]) -> list[str]:
    """A readable name for each, "rtt=10ms,seed=1"; one that is too long or not unique ends in a hash."""
    labels = _labels([key for key, _ in runs[0]]) if runs else {}
    names = [",".join(f"{labels[key]}={_slug(text)}" for key, text in run) for run in runs]
    count = Counter(names)
    return [
        name if count[name] == 1 and len(name) <= ID_MAX else _hashed(name, run)
        for name, run in zip(names, runs, strict=True)
    ]


def _labels(keys: list[str]) -> dict[str, str]:
    """The shortest end of each key that is an end of no other: "rtt" for "path.rtt"."""
    return {key: next(end for end in _ends(key) if sum(end in _ends(other) for other in keys) == 1) for key in keys}


def _ends(key: str) -> list[str]:
    words = key.split(".")
    least = 2 if words[-1] in ("forward", "backward") else 1
    return [".".join(words[-n:]) for n in range(least, len(words) + 1)]


def _slug(text: str) -> str:
    """Numbers side by side stay apart; otherwise spaces go: "10 ms" is 10ms."""
    words = re.sub(r"(?<=\d) +(?=\d)", "-", text).replace(" ", "")
    return re.sub(r"[^A-Za-z0-9._+]+", "-", words.replace("%", "pct")).strip("-")


def _hashed(name: str, run: Params) -> str:
    digest = hashlib.sha256(repr(run).encode()).hexdigest()[:10]
    return f"{name[: ID_MAX - len(digest) - 1].rstrip(',=.-')},{digest}"
