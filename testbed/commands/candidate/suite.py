"""The suite on both sides, the cells most likely to differ first, with seeds added until each is decided. Runs trials,
and writes to the folders of both sides.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from ...analysis import program_metric
from ...analysis.metric import METRICS
from ...cache_folder import open_lock, try_lock
from ...compare.look import LEAST
from ...compare.pairing import Cell
from ...compare.run import TOLERANCE, RunComparison, with_unmeasured
from ...error import UserError, one_of
from ...library import SCENARIOS
from ...model.background import Constant
from ...model.run_setting import LAB, PRIMARY
from ...model.scenario import Scenario, Trial
from ...report.evidence import Rules
from ...spec.load import files_of, load_scenario
from ...sweep import run_file
from ...sweep.expectation import judged
from ...sweep.store import Store
from ...trial import strict_folder
from ...trial.folder import HOST, PROVENANCE, TRIAL, unwritable
from ...units import counted
from .. import compared_run, question
from ..known import learn_metrics
from ..measure.run import carry_out, prepare
from ..screen import between, duration
from ..sequential.budget import Budget
from ..sequential.until_decided import UntilDecided
from ..terminal import say
from .contender import VARIANT_KEY, Contender, Pair
from .under_test import under_test

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "capacity": ("shallow-buffer", "bulk", "bufferbloat", "high-delay", "low-bdp", "aggregation", "policer"),
        "loss": ("random-loss", "high-loss", "loss-bursts"),
        "sharing": ("coexistence", "harm", "minority", "start-stop", "second-flow", "rtt-unfairness", "unresponsive"),
        "short": ("short-flows", "short-vs-long", "long-vs-short", "latency"),
        "change": ("timeout", "rate-step", "delay-step", "varying-delay", "variable-rate"),
        "phase": ("probe-fall", "recovery-rise", "probe-rtt-fall"),
        "reordering": ("undo-reorder", "undo-delay", "reordering"),
        "application": ("idle", "app-limited"),
        "aqm": ("aqm", "classic-ecn", "dualpi2"),
        "data-center": ("ecn-step", "incast"),
    }
)
"""All scenarios of ours, by what they are about: what --group selects, and --full runs."""
FIRST = (
    *("shallow-buffer", "idle", "timeout", "bulk", "random-loss", "coexistence", "rate-step", "bufferbloat"),
    *("undo-reorder", "undo-delay", "harm", "high-loss", "short-flows", "start-stop", "rtt-unfairness"),
)
"""Those of a suite for which nothing was asked. In any suite they come first: a change was most often seen in the first
one.
"""
QUICK = ("shallow-buffer", "idle", "timeout", "bulk", "coexistence")
"""Those of --quick: more seeds of fewer cells decide more than three seeds of all."""
OF_SIDE = frozenset({HOST, PROVENANCE, TRIAL})
"""Files of a trial that name its kernel or this computer."""


def named(groups: Sequence[str]) -> frozenset[str]:
    """The scenarios of these groups. Raises UserError for what is none."""
    for each in groups:
        if each not in GROUPS:
            raise UserError(f"--group {each}: there is no such group; allowed: {one_of([*GROUPS], each)}")
    return frozenset(name for each in groups for name in GROUPS[each])


def ours(names: Collection[str]) -> tuple[Path, ...]:
    """The files of these scenarios of ours, in the order in which they run."""
    order = (*FIRST, *(name for group in GROUPS.values() for name in group if name not in FIRST))
    return tuple(SCENARIOS / "regression" / f"{name}.yaml" for name in order if name in names)


def chosen(own: Sequence[Path], groups: Sequence[str], *, is_quick: bool, is_full: bool) -> tuple[Path, ...]:
    """The files of a suite: the author's `own` ones, or ours: the quick part, some groups, all, or those of FIRST."""
    if own:
        return given(own)
    if is_quick:
        return ours(QUICK)
    return ours(named([*GROUPS] if is_full else groups) or FIRST)


def given(files: Sequence[Path]) -> tuple[Path, ...]:
    """The author's own files. Raises UserError for two of one name."""
    names = [path.stem for path in files]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"--scenario: two files are called {', '.join(twice)}; allowed: names that differ")
    return tuple(files)


@dataclass(frozen=True)
class Suite:
    """The scenarios of a comparison. `output` has a folder for each base and each candidate."""

    pair: Pair
    files: tuple[Path, ...]
    output: Path
    budget: Budget
    jobs: int
    console: Console
    began_s: float

    @property
    def base(self) -> Path:
        return self._home("base", self.pair.base)

    @property
    def candidate(self) -> Path:
        return self._home("candidate", self.pair.candidate)

    @property
    def own(self) -> frozenset[str]:
        """The scenarios that are the testbed's own."""
        folder = (SCENARIOS / "regression").resolve()
        return frozenset(path.stem for path in self.files if path.resolve().parent == folder)

    def _home(self, kind: str, side: Contender) -> Path:
        identity = side.identity(self.pair.base.control)
        label = "".join(each if each.isalnum() or each in "._-" else "-" for each in side.label).strip(".-") or kind
        return self.output / kind / f"{label}-{identity[:10]}-{self._digest()[:6]}"

    def _digest(self) -> str:
        whole = hashlib.sha256()
        for path in sorted(self.files, key=lambda path: path.stem):
            for name, file in sorted(files_of(path).items()):
                digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
                whole.update(f"{path.stem} {name} {digest}\n".encode())
        return whole.hexdigest()

    def carry_out(self) -> RunComparison | None:
        """Measures both sides, and adds seeds until each cell is decided; None if the budget ended before there was a
        scenario to judge. Those that were not measured before are named, and then nothing is the same or better.
        """
        scenarios = [(path, load_scenario(path)) for path in self.files]
        self._refuse_other_kernels(scenarios)
        self._take_over()
        self._foretell()
        lacking = []
        for path, _ in scenarios:
            is_new = (self.left_s() > 0 or self._is_taken(path)) and self._measure(path)
            if self.left_s() <= 0 and self._lacks(path):
                lacking.append(path)
            elif is_new:
                say(self.console, *self._preview(path.stem))
        if lacking:
            say(self.console, self._too_late(lacking))
        if len(lacking) == len(scenarios):
            return None
        roots = [root for root in (self.base, self.candidate) if root.is_dir() and run_file.suite(root)]
        if len(roots) < 2 and self.pair.is_of_programs:
            raise UserError(
                f"no program has {{variant}} in its words ({', '.join(path.stem for path in self.files)}); "
                "allowed: --scenario with a scenario of tool: command that has"
            )
        if len(roots) < 2:
            raise UserError(
                f"no scenario has a flow of the control under test ({', '.join(path.stem for path in self.files)}); "
                "allowed: --scenario with one of CUBIC, which the control under test replaces"
            )
        learn_metrics([self.base, self.candidate])
        wanted = question.of_runs(self.base, self.candidate, TOLERANCE, None, self._ignored(scenarios))
        wanted = question.without(wanted, {path.stem for path in lacking})
        ahead = self._cells(lacking)
        budget = self.budget
        if budget.wall_s is not None:
            budget = replace(budget, wall_s=max(0.0, self.left_s()))
        UntilDecided(wanted, budget, self.jobs, self.console, tuple(ahead.values())).carry_out()
        return with_unmeasured(question.answer(wanted), ahead)

    def _too_late(self, lacking: Sequence[Path]) -> str:
        names = ", ".join(path.stem for path in lacking)
        if len(lacking) == len(self.files):
            said = f"0 of {len(self.files)} scenarios are measured"
            return f"the budget is spent before there is anything to judge: {said}; the same command goes on"
        said = f"{len(lacking)} of {counted(len(self.files), 'scenario')} are not measured, and not judged ({names})"
        return f"the budget is spent: {said}; the same command goes on"

    def _cells(self, lacking: Sequence[Path]) -> dict[Cell, str]:
        """The cells of scenarios, with the metric that will decide about each, which is known from now on."""
        asked = {path.stem: self.asked(path, self.pair.base) for path in lacking}
        for cell in (cell for scenario in asked.values() for cell in scenario.cells):
            program_metric.learn(cell.workload)
        return {
            Cell(name, trial.params): scenario.primary or PRIMARY
            for name, scenario in asked.items()
            for trial in scenario.trials()
        }

    def _refuse_other_kernels(self, scenarios: Sequence[tuple[Path, Scenario]]) -> None:
        """Raises UserError for cells that name a kernel: there neither the candidate's nor the base's would run."""
        if self.pair.built is None:
            return
        for path, scenario in scenarios:
            named = sorted({cell.kernel.name or cell.kernel.kind for cell in scenario.cells if cell.kernel != LAB})
            if named:
                raise UserError(
                    f"{path}: it runs on the kernel {', '.join(named)}, which is not the candidate's; allowed: a "
                    "scenario without `kernel`"
                )

    def _take_over(self) -> None:
        """Takes first trials that another suite measured of the same side; its folder's name differs in the end."""
        for path, (home, side) in product(self.files, self.sides):
            store, alike = Store(home / path.stem), f"{home.name.rpartition('-')[0]}-*"
            others = sorted({*home.parent.glob(f"{alike}/{path.stem}")} - {store.path})
            for other, trial in product(others, self.asked(path, side).trials() if others else ()):
                with suppress(UserError):  # another scenario of this name
                    _take(trial, Store(other), store)

    def _foretell(self) -> None:
        """Says what the first seeds will take."""
        waiting, least_s, most_s, cpu_s = 0, 0.0, 0.0, 0.0
        for path, (home, side) in product(self.files, self.sides):
            scenario = self.asked(path, side)
            if not scenario.cells:
                continue
            prepared = prepare(scenario, Store(home / path.stem))
            told = prepared.forecast.told([each.params for each in prepared.waiting], self.jobs)
            waiting += len(prepared.waiting)
            least_s, most_s = least_s + told.wall_s.least, most_s + told.wall_s.most
            cpu_s += told.cpu_s.expected
        if waiting:
            budget = "" if self.budget.wall_s is None else f"; the budget is {duration(self.budget.wall_s)}"
            what = f"{counted(len(self.files), 'scenario')}, {counted(waiting, 'trial')} of first seeds"
            took = f"{between(least_s, most_s)} by how busy this computer stays, {duration(cpu_s)} of processor time"
            say(self.console, f"suite: {what}, {took}{budget}")

    @property
    def sides(self) -> tuple[tuple[Path, Contender], ...]:
        """The base and the candidate, each with its folder."""
        return (self.base, self.pair.base), (self.candidate, self.pair.candidate)

    def asked(self, path: Path, side: Contender) -> Scenario:
        """A scenario with its first seeds, for a side."""
        return under_test(load_scenario(path, side.settings), side, self.pair.base.control, LEAST)

    def left_s(self) -> float:
        """What is left of the budget."""
        wall_s = self.budget.wall_s
        return float("inf") if wall_s is None else wall_s - (time.monotonic() - self.began_s)

    def _measure(self, path: Path) -> bool:
        """The first seeds of a scenario on both sides; whether anything was measured."""
        is_new = False
        for home, side in self.sides:
            scenario = self.asked(path, side)
            if not scenario.cells:
                what = (
                    "program has {variant} in its words"
                    if self.pair.is_of_programs
                    else "flow has the control under test"
                )
                say(self.console, f"{path.stem} is left out: no {what}")
                return False
            store = Store(home / path.stem)
            if _is_done(scenario, store):
                continue
            is_new = True
            say(self.console, f"{path.stem}, {side.label}:")
            until_s = time.monotonic() + self.left_s()
            carry_out(scenario, store, files_of(path), self.jobs, self.console, until_s=until_s)
        return is_new

    def _is_taken(self, path: Path) -> bool:
        """Whether trials of the scenario were taken over, and it is no run yet: to make it one takes no time."""
        stores = [Store(home / path.stem) for home, _ in self.sides]
        return any((each.path / "trials").is_dir() and not each.exists for each in stores)

    def _lacks(self, path: Path) -> bool:
        """Whether a first trial of the scenario has neither a result nor a failure."""
        for home, side in self.sides:
            trials, store = self.asked(path, side).trials(), Store(home / path.stem)
            failed = store.failures() if store.exists else {}
            if any(not (store.path / "trials" / each.id).is_dir() and each.id not in failed for each in trials):
                return True
        return False

    def _preview(self, name: str) -> list[str]:
        """What the first seeds show of the deciding metric, without a verdict: looks that count come later. Seeds that
        one side alone has are left out, but where they are all there is.
        """
        metric = compared_run.primary_of(self.base / name) or PRIMARY
        learn_metrics([self.base / name])
        values: dict[tuple[tuple[str, str], ...], list[dict[int, float]]] = {}
        for at, home in enumerate((self.base, self.candidate)):
            for trial in compared_run.run(home / name, (metric,), in_parts=False).trials:
                cell = values.setdefault(tuple(trial.result.params.items()), [{}, {}])
                if (value := trial.metrics[metric]) is not None:
                    cell[at][trial.result.seed] = value
        parts = []
        for params, both in values.items():
            paired = [seed for seed in both[0] if seed in both[1]]
            first, second = ([each[seed] for seed in paired] or [*each.values()] for each in both)
            where = ", ".join(text for key, text in params if len({dict(each)[key] for each in values}) > 1)
            said = "no seed has a value on both sides" if all(both) and not paired else _change(metric, first, second)
            parts.append(f"{f'{where}: ' if where else ''}{said}")
        return [f"so far: {name}: {metric}: {'; '.join(parts)}"]

    @staticmethod
    def _ignored(scenarios: Sequence[tuple[Path, Scenario]]) -> tuple[str, ...]:
        """The variant of programs and the congestion controls of background traffic, in which the sides may differ."""
        names = {
            name
            for _, each in scenarios
            for cell in each.cells
            for name, background in cell.background
            if not isinstance(background, Constant)
        }
        return (VARIANT_KEY, *(f"background.{name}.congestion" for name in sorted(names)))

    def identical(self) -> tuple[int, int]:
        """How many pairs of trials have the same files, but for what names the kernel, and how many there are."""
        same = total = 0
        for path in self.files:
            first, second = (home / path.stem / "trials" for home in (self.base, self.candidate))
            for trial in sorted(first.iterdir()) if first.is_dir() else ():
                if (second / trial.name).is_dir():
                    total += 1
                    same += _alike(trial, second / trial.name)
        return same, total

    def rules(self) -> Rules:
        """What became of the rules of each scenario, on both sides."""
        stores = {path.stem: [Store(home / path.stem) for home, _ in self.sides] for path in self.files}
        return {
            name: tuple(zip(*(judged(each, each.results()) for each in both), strict=True))
            for name, both in stores.items()
            if all(each.exists for each in both)
        }

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Raises UserError if another `testbed cc` writes to the same output, or others could exchange files in it."""
        try:
            strict_folder.make_own(self.output)
        except OSError as error:
            raise unwritable(self.output, error) from None
        descriptor = open_lock(self.output / ".lock")
        try:
            if not try_lock(descriptor):
                raise UserError(
                    f"another testbed cc is writing to {self.output}; allowed: another folder (-o), or waiting for it"
                )
            yield
        finally:
            os.close(descriptor)


def _take(trial: Trial, other: Store, store: Store) -> None:
    """Copies a trial from the other store, if that has it and this one does not."""
    if (store.path / "trials" / trial.id).exists() or other.finished(trial) is None:
        return
    with store.locked():
        strict_folder.make(store.path, "trials")
        with store.writing(trial) as folder:
            strict_folder.copy_all(other.path, "trials", trial.id, target=folder)


def _is_done(scenario: Scenario, store: Store) -> bool:
    return store.exists and all((store.path / "trials" / trial.id).is_dir() for trial in scenario.trials())


def _change(metric: str, first: Sequence[float], second: Sequence[float]) -> str:
    if not first or not second:
        return "no value yet" if not first else "the candidate has no value"
    base, candidate = (sum(each) / len(each) for each in (first, second))
    kind = METRICS[metric]
    if base == 0:
        return f"{kind.text(base)} → {kind.text(candidate)}"
    return f"{100 * (candidate - base) / base:+.1f} %"


def _alike(one: Path, other: Path) -> bool:
    names = [sorted(path.name for path in each.iterdir() if path.name not in OF_SIDE) for each in (one, other)]
    return names[0] == names[1] and all((one / name).read_bytes() == (other / name).read_bytes() for name in names[0])


def spent(began_s: float) -> str:
    """How long it took so far, in words."""
    return duration(time.monotonic() - began_s)
