"""A scenario: cells, which are combinations of axis values, and the trials they make. Pure, no I/O."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, TypeAlias

from ..codec.frozen import dataclass
from .background import Backgrounds, Constant
from .expectation import Expectation
from .run_setting import LAB, UNLIMITED, Capture, Kernel, Limits, Until
from .topology import Nic, Topology
from .workload import Workload

Params = tuple[tuple[str, str], ...]
Size: TypeAlias = Literal["full", "quick"]
ID_MAX = 120


@dataclass(frozen=True)
class Axis:
    """A varied setting: its key ("path.rtt", "flows"), and its values as canonical text, in file order."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One combination of axis values, resolved. `params` has the key and the text of each axis.

    `sysctls` are those that axes set; they take precedence over the scenario's. `background` is other traffic.
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

    `id` is unique in the scenario and a valid file name. `repetition` counts from 0, and `seed` is the
    scenario's plus that. `nic` is that of hosts without their own, the same as `topology.nic`.
    `samples_interval_ns` is in lab time; None takes no samples. With `acks` each ACK that a sender takes is recorded,
    too. `sysctls` are for all hosts, `background` is other traffic.
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
    acks: bool = False
    captures: tuple[Capture, ...] = ()
    limits: Limits = UNLIMITED
    sysctls: tuple[tuple[str, str], ...] = ()
    background: Backgrounds = ()

    @property
    def controls(self) -> frozenset[str]:
        """The congestion controls that it asks kernels for: workload, background, and the sysctl of the default."""
        own = set(self.workload.controls) - {each.name for each in self.workload.bpf_controls}
        background = {each.congestion for _, each in self.background if not isinstance(each, Constant)}
        default = {value for name, value in self.sysctls if name == CONGESTION_SYSCTL}
        return frozenset({*own, *background, *default})


CONGESTION_SYSCTL = "net.ipv4.tcp_congestion_control"


@dataclass(frozen=True)
class Scenario:
    """What to run. `cells` are the product of `axes`, the last axis varying fastest, without the excluded ones; axes of
    one group vary together.

    `repetitions` is at least 1; repetition i, from 0, has the seed `seed` + i. With `until`, repetitions are the most
    that a cell can get. `size` says whether the file's quick settings apply, and `quick_note` what they scale.
    `primary` is the metric that decides a comparison of two runs; None leaves it to the comparison. `rare` is the share
    of trials that may differ where it says that a cell is the same; None: any.
    `expect` are rules about what the trials measure.
    The rest is as in Trial.
    """

    name: str
    description: str
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    repetitions: int = 1
    seed: int = 1
    samples_interval_ns: int | None = None
    acks: bool = False
    captures: tuple[Capture, ...] = ()
    limits: Limits = UNLIMITED
    sysctls: tuple[tuple[str, str], ...] = ()
    until: Until | None = None
    size: Size = "full"
    quick_note: str | None = None
    primary: str | None = None
    rare: Fraction | None = None
    expect: tuple[Expectation, ...] = ()

    def order(self) -> tuple[Trial, ...]:
        """The trials in the order in which to run them: a block for each repetition, with every cell once, shuffled
        within the block, so that a drift of the computer does not look like the effect of an axis.

        A hash of the seed and the trial decides the order: the same scenario has the same order everywhere.
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
                acks=self.acks,
                captures=self.captures,
                limits=self.limits,
                sysctls=tuple((dict(self.sysctls) | dict(cell.sysctls)).items()),
                background=cell.background,
            )
            for id, (cell, i) in zip(ids, runs, strict=True)
        )


def sibling(trial: Trial, repetition: int) -> Trial:
    """Another repetition of the trial's cell, named as in a scenario of that many repetitions; nothing else of the cell
    depends on how many there are. Raises ValueError if the trial is not named as its scenario would name it.
    """
    seed = trial.seed - trial.repetition + repetition
    name, run = _name(trial.params, trial.seed)
    if trial.id not in (name, _hashed(name, run)):
        raise ValueError(f"{trial.id} is not the name of a trial with these parameters and this seed")
    is_hashed = trial.id != name
    name, run = _name(trial.params, seed)
    id = _hashed(name, run) if is_hashed or len(name) > ID_MAX else name
    return replace(trial, id=id, seed=seed, repetition=repetition)


def _name(params: Params, seed: int) -> tuple[str, Params]:
    """The name of a trial, as long as it may be, and what it tells."""
    run = (*params, ("seed", str(seed)))
    labels = _labels([key for key, _ in run])
    return ",".join(f"{labels[key]}={_slug(text)}" for key, text in run), run


def trial_ids(runs: Sequence[Params]) -> list[str]:
    """A readable name for each, "rtt=10ms,seed=1"; a name that is too long or not unique ends in a hash."""
    labels = _labels([key for key, _ in runs[0]]) if runs else {}
    names = [",".join(f"{labels[key]}={_slug(text)}" for key, text in run) for run in runs]
    count = Counter(names)
    return [
        name if count[name] == 1 and len(name) <= ID_MAX else _hashed(name, run)
        for name, run in zip(names, runs, strict=True)
    ]


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The last word of each key, or all of it where several end alike: `rtt` for `path.rtt`."""
    ends = [key.rsplit(".", 1)[-1] for key in keys]
    return {key: end if ends.count(end) == 1 else key for key, end in zip(keys, ends, strict=True)}


def _labels(keys: list[str]) -> dict[str, str]:
    """The shortest unique end of each key: "rtt" for "path.rtt"; the whole key if it is the end of another one."""
    return {
        key: next((end for end in _ends(key) if sum(end in _ends(other) for other in keys) == 1), key) for key in keys
    }


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
