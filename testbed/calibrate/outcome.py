"""Everything about a calibration as one value, and as calibration.json. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .fit.path import PathFit
from .link import LinkFit
from .measurement import Ask, Measurement, Reading
from .rebuild import Rebuilt, Step
from .verdict import Judged, doubted, exit_code, judged

CLAIM = "calibrated"
SCHEMA = 1


@dataclass(frozen=True)
class Outcome:
    """`readings` were fitted, `held` are those held out. `stopped` says why the refinement ended."""

    readings: tuple[Reading, ...]
    held: tuple[Reading, ...]
    fit: PathFit
    link: LinkFit
    rebuilt: Rebuilt
    judged: tuple[Judged, ...]
    steps: tuple[Step, ...] = ()
    stopped: str = ""
    notes: tuple[str, ...] = ()
    seed: int = 1

    @property
    def exit_code(self) -> int:
        return exit_code(self.judged)

    def data(self) -> dict[str, Any]:
        files = [_file(each, held_out=False) for each in self.readings] + [
            _file(each, held_out=True) for each in self.held
        ]
        return {
            "schema": SCHEMA,
            "claim": CLAIM,
            "seed": self.seed,
            "files": files,
            "fitted": {name: each.data() for name, each in self.fit.fitted.items()},
            "explanations": [each.data() for each in self.fit.explanations],
            "link": self.link.keys(),
            "refinement": {"steps": [each.data() for each in self.steps], "stopped": self.stopped},
            "verdicts": [each.data() for each in self.judged],
            "notes": [*self.notes, *self.rebuilt.notes],
            "exit_code": self.exit_code,
        }


def _file(reading: Reading, held_out: bool) -> dict[str, Any]:
    return {
        "file": reading.file,
        "format": reading.format,
        "held_out": held_out,
        "told": list(reading.told),
        "untold": list(reading.untold),
        "notes": list(reading.notes),
    }


def asks_of(readings: Sequence[Reading]) -> list[Ask]:
    """Each measurement that can be made again, once, in the order of the files."""
    every = (each for reading in readings for each in reading.measurements)
    return list(dict.fromkeys(each.ask for each in every if each.ask is not None and not each.is_loaded))


def verdicts(readings: Sequence[Reading], held: Sequence[Reading], rebuilt: Rebuilt) -> tuple[Judged, ...]:
    """Of each measurement; its repetitions are judged together, and held-out files apart."""
    found: list[Judged] = []
    for group, is_held in ((readings, False), (held, True)):
        by_ask: dict[Ask, list[Measurement]] = {}
        for reading in group:
            for each in reading.measurements:
                if each.ask is not None and not each.is_loaded:
                    by_ask.setdefault(each.ask, []).append(each)
        for ask, runs in by_ask.items():
            files = list(dict.fromkeys(each.file for each in runs))
            made = judged(ask.said(), files, is_held, runs, rebuilt.runs.get(ask, ()))
            found += map(doubted, made) if rebuilt.is_doubtful(ask) else made
    return tuple(found)


def counts(found: Sequence[Judged]) -> Mapping[str, int]:
    """How many metrics have each verdict."""
    words = ("agrees", "differs", "cannot tell", "not identifiable")
    return {word: sum(1 for each in found if each.verdict == word) for word in words}
