"""Measures the rebuilt path with the same tools, and reads it with the same readers. Writes one folder.

A step of the refinement fits the rebuilt path's measurements just as the measured ones and corrects each number by the
ratio of the two fits: indirect inference (Gourieroux, Monfort and Renault, J. Applied Econometrics 8, 1993). What a
closed form is wrong about is wrong on both sides, and cancels.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from ..error import TestbedError, UserError
from ..trial import strict_folder
from ..trial.folder import read_json, write_bytes, write_json, write_text
from ..trial.result import TrialResult
from ..trial.workload.command_output import output_file
from ..trial.workload.ping import OUTPUT
from . import written
from .fit import path as paths
from .fit.fitted import unknown
from .fit.path import PathFit
from .fit.steady import FRAME_BYTES
from .link import TRACE, LinkFit
from .measurement import Ask, Measurement, Reading, with_load
from .reader import registry

TOPOLOGY, SCENARIO, PINGS, RESULTS = "topology.yaml", "scenario.yaml", "pings.yaml", "results"
STEPS_MAX = 4
SETTLED = {"rate": 0.005, "bucket_rate": 0.005, "bucket_refill": 0.005, "bucket_burst": 0.01, "buffer": 0.03}
"""A number is settled if a step changes it by less."""
TUNED = tuple(SETTLED)
STEADIER = {"buffer": "queue"}
"""The median queue rises with the buffer, and varies less than the largest one."""
CHANGE_MAX = 2.0
NEARER, FAR = 0.9, math.log(1.25)
"""A step that leaves a number further off than FAR must bring it nearer than this share of what it was off before."""
TIMES = "steps.json"
REFINED_OFF = {"buffer": (0.12, FRAME_BYTES)}
"""The share and the number by which a refined one may be off, where its closed form alone has a wider interval. Buffers
in which the same number of frames fit are alike.
"""

Measure: TypeAlias = Callable[[Path, Path], Sequence[TrialResult]]
"""Runs a scenario into a folder, skipping what is there."""


@dataclass(frozen=True)
class Rebuilt:
    """What was measured again: the runs of each ask. `notes` say which trials do not count, and why; `suspect` are
    those that count and should not decide alone.
    """

    runs: Mapping[Ask, tuple[Measurement, ...]]
    notes: tuple[str, ...] = ()
    suspect: frozenset[str] = frozenset()

    def is_doubtful(self, ask: Ask) -> bool:
        """Whether at most half of the runs are without suspicion, which compares nothing as the same elsewhere, too."""
        runs = self.runs.get(ask, ())
        return bool(runs) and 2 * sum(each.file in self.suspect for each in runs) >= len(runs)

    @property
    def readings(self) -> list[Reading]:
        every = tuple(each for runs in self.runs.values() for each in runs)
        return [Reading("rebuilt", "rebuilt", every, (), ())]


@dataclass(frozen=True)
class Step:
    """One step of the refinement: the numbers that were tried, and by which factors they changed."""

    number: int
    tried: Mapping[str, float]
    factors: Mapping[str, float]
    trials: int

    def data(self) -> dict[str, Any]:
        return {"step": self.number, "tried": dict(self.tried), "factors": dict(self.factors), "trials": self.trials}


@dataclass(frozen=True)
class Refined:
    link: LinkFit
    fit: PathFit
    steps: tuple[Step, ...] = ()
    stopped: str = ""
    notes: tuple[str, ...] = field(default=())
    stuck: frozenset[str] = frozenset()
    """The numbers that no step brought nearer: the rebuilt path does not show them as the measured one does."""


def write(folder: Path, link: LinkFit, asks: Sequence[Ask], repetitions: int, seed: int) -> None:
    """The topology and the scenarios in a folder; a trace is copied beside them."""
    strict_folder.make_own(folder)
    if link.trace is not None:
        write_bytes(folder / TRACE, Path(link.trace).read_bytes())
    write_text(folder / TOPOLOGY, written.topology(link))
    for name, mine, text in _scenarios(asks):
        if mine:
            write_text(folder / name, text(mine, repetitions, seed))


def _scenarios(asks: Sequence[Ask]) -> tuple[tuple[str, list[Ask], Callable[..., str]], ...]:
    """Transfers and pings are of two workloads, and so of two scenarios."""
    idle = [ask for ask in asks if ask.tool == "ping"]
    return (SCENARIO, [ask for ask in asks if ask not in idle], written.scenario), (PINGS, idle, written.pings)


def run(folder: Path, asks: Sequence[Ask], measure: Measure) -> Rebuilt:
    """Carries out the scenarios of a folder and reads what the tools said."""
    found: dict[Ask, list[Measurement]] = {ask: [] for ask in asks}
    notes: list[str] = []
    suspect: set[str] = set()
    for name, mine, _ in _scenarios(asks):
        results = folder / f"{RESULTS}{'-pings' if name == PINGS else ''}"
        for result in measure(folder / name, results) if mine else ():
            alike = [ask for ask in mine if _is_of(ask, dict(result.params))]
            if result.verdict == "invalid":
                notes.append(f"{result.id} is invalid: {'; '.join(result.warnings)[:200]}")
                continue
            output = OUTPUT if name == PINGS else output_file("client", 1, "out")
            try:
                reading = registry.read(results / "trials" / result.id / output)
            except UserError as error:
                notes.append(str(error))
                continue
            if result.verdict == "suspect":
                suspect.add(result.id)
                notes.append(f"{result.id} is suspect: {'; '.join(result.warnings)[:200]}")
            for ask in alike:
                found[ask] += [replace(each, ask=ask, file=result.id) for each in reading.measurements]
    return Rebuilt({ask: tuple(runs) for ask, runs in found.items()}, tuple(notes), frozenset(suspect))


def _is_of(ask: Ask, params: Mapping[str, str]) -> bool:
    if ask.tool == "ping":
        return written.ping_values(ask) == tuple(params[key] for key in written.PING_KEYS)
    return " ".join(ask.words()) == params["workload.variant"]


def refine(
    folder: Path,
    fit: PathFit,
    link: LinkFit,
    readings: Sequence[Reading],
    measure: Measure,
    budget_s: float,
    seed: int,
    clock: Callable[[], float] = time.monotonic,
) -> Refined:
    """Corrects the numbers that tune, step by step, until they are settled or the budget is used up. The time that
    earlier calls took for the same counts.
    """
    tuned = [name for name, chosen in link.numbers.items() if chosen.tunes and name.partition(".")[0] in TUNED]
    tuned = [name for name in tuned if _key(name) not in link.asked and fit.fitted[name].value is not None]
    needed = _needed(fit, tuned, readings)
    if not tuned or not needed or link.trace is not None:
        return Refined(link, fit, stopped="nothing to refine")
    idle = _idle(readings)
    steps: list[Step] = []
    notes: list[str] = []
    stuck: set[str] = set()
    question = _question(link, needed, seed)
    spent_s = _spent(folder, question)

    def ended(why: str) -> Refined:
        return Refined(link, fit, tuple(steps), why, tuple(notes), frozenset(stuck))

    for number in range(1, STEPS_MAX + 1):
        if sum(spent_s.values()) >= budget_s:
            return ended("the budget is used up")
        place = folder / str(number)
        began = clock()
        try:
            write(place, link, needed, 1, seed)
            rebuilt = run(place, needed, measure)
        finally:
            spent_s[str(number)] = spent_s.get(str(number), 0.0) + clock() - began
            write_json(folder / TIMES, {"question": question, "spent_s": spent_s})
        notes += rebuilt.notes
        again = paths.fit([*idle, *with_load(rebuilt.readings)])
        factors = {name: _factor(_told(fit, name), _told(again, name)) for name in tuned if name not in stuck}
        known = {name: factor for name, factor in factors.items() if factor is not None}
        tried = {name: link.numbers[name].value for name in tuned}
        steps.append(Step(number, tried, known, sum(map(len, rebuilt.runs.values()))))
        if not known:
            return ended("the rebuilt path does not show what is to be refined")
        lost = {name for name in known if _is_stuck(steps, name)}
        if lost:
            stuck |= lost
            first = {name: steps[0].tried[name] for name in sorted(lost)}
            link = link.with_numbers(first, "no step of the refinement came nearer: as it was fitted")
            known = {name: factor for name, factor in known.items() if name not in lost}
        moved = {name: factor for name, factor in known.items() if abs(math.log(factor)) > SETTLED[name.split(".")[0]]}
        if not moved:
            return ended("settled" if not stuck else "no step came nearer")
        values = {name: tried[name] * factor for name, factor in moved.items()}
        link = link.with_numbers(values, f"step {number} of the refinement: times {_words(moved)}")
    return ended(f"{STEPS_MAX} steps")


def _is_stuck(steps: Sequence[Step], name: str) -> bool:
    """Whether the last step left a number far off, and hardly nearer than the step before it."""
    offs = [abs(math.log(each.factors[name])) for each in steps if name in each.factors]
    return len(offs) > 1 and offs[-1] > max(FAR, NEARER * offs[-2])


def _needed(fit: PathFit, tuned: Sequence[str], readings: Sequence[Reading]) -> list[Ask]:
    """The measurements from which the numbers that tune were fitted, of TCP."""
    words = [name.partition(".") for name in tuned]
    files = {file for word, _, way in words for file in fit.fitted[f"{STEADIER.get(word, word)}.{way}"].sources}
    every = (each for reading in readings for each in reading.measurements)
    mine = (each.ask for each in every if each.file in files and each.transfer is not None and each.ask is not None)
    return list(dict.fromkeys(ask for ask in mine if ask.is_bulk))


def _idle(readings: Sequence[Reading]) -> list[Reading]:
    """The measured pings without load: a rebuilt path has the same round-trip time, so a step need not ping."""
    found = []
    for reading in readings:
        kept = tuple(each for each in reading.measurements if each.pings is not None and not each.is_loaded)
        found += [replace(reading, measurements=kept)] if kept else []
    return found


def _words(factors: Mapping[str, float]) -> str:
    return ", ".join(f"{factor:.4f}" for factor in factors.values())


def _key(name: str) -> str:
    word = name.partition(".")[0]
    return written.KEY_OF.get(word, word)


def _factor(measured: float | None, rebuilt: float | None) -> float | None:
    if not measured or not rebuilt:
        return None
    return min(max(measured / rebuilt, 1 / CHANGE_MAX), CHANGE_MAX)


def _told(fit: PathFit, name: str) -> float | None:
    """What corrects a number: its own fit, or a steadier one that rises with it."""
    word, _, way = name.partition(".")
    return fit.fitted[f"{STEADIER.get(word, word)}.{way}"].value


def _question(link: LinkFit, needed: Sequence[Ask], seed: int) -> str:
    """What tells a refinement from one of other files in the same folder, whose time is not this one's."""
    scenarios = (text(mine, 1, seed) for _, mine, text in _scenarios(needed) if mine)
    return hashlib.sha256("\n".join((written.topology(link), *scenarios)).encode()).hexdigest()


def _spent(folder: Path, question: str) -> dict[str, float]:
    """How long each step took in earlier calls; empty if they refined another link, or by other measurements."""
    try:
        told = read_json(folder / TIMES)
        if told["question"] != question:
            return {}
        return {str(key): float(value) for key, value in told["spent_s"].items()}
    except (TestbedError, OSError, KeyError, TypeError, ValueError, AttributeError):
        return {}


def refitted(refined: Refined) -> PathFit:
    """The fit with the refined numbers, each interval moved along."""
    fitted = dict(refined.fit.fitted)
    for name, chosen in refined.link.numbers.items():
        was = fitted.get(name)
        if was is None or not was.value or chosen.value == was.value or name.partition(".")[0] not in TUNED:
            continue
        factor = chosen.value / was.value
        off = REFINED_OFF.get(name.partition(".")[0])
        low, high = (None if end is None else end * factor for end in (was.low, was.high))
        if off is not None and was.is_known:
            low, high = (max(0.0, chosen.value + sign * (off[0] * chosen.value + off[1])) for sign in (-1, 1))
        if was.status == "bound":  # it stays what the files show; the number is the one with which they come out
            low, high = was.low, was.high
        fitted[name] = replace(was, value=chosen.value, low=low, high=high, rule=f"{was.rule}; refined by trials")
    for name in refined.stuck:
        was = fitted[name]
        if was.status == "bound":
            continue
        rule = f"{was.rule}; but the rebuilt path does not come near, whatever it has: this is no such link"
        fitted[name] = unknown(was.name, was.unit, rule, was.next, was.sources)
    return replace(refined.fit, fitted=fitted)
