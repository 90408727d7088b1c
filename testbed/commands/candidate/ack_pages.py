"""The cells that differ most, once more with a record of each ACK, as pages beside the evidence. Runs trials, and
writes files.

The records change no other byte of a trial (`tests/test_acks_lab.py`), so a page shows the trial that was judged.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from ...compare.run import CellKey, RunComparison
from ...error import MachineError, UserError, harmless
from ...model.scenario import Scenario
from ...report.evidence import CellName
from ...spec.load import files_of
from ...sweep.store import Store
from ...trial import sample_table
from ...trial.folder import SAMPLES, write_named
from ...units import counted
from ..measure.run import carry_out, prepare
from ..screen import duration
from ..terminal import say
from .suite import Suite

MOST = 3
PAGES = "acks-*.html"


def differing(found: RunComparison) -> list[CellKey]:
    """The primary cells that differ, at most MOST: what is worse first, then by how much of the base's value."""
    cells = [each for each in found.cells if found.is_primary(each.key) and each.verdict in ("worse", "better")]
    by_size = sorted(
        cells, key=lambda each: (each.verdict != "worse", -math.inf if each.relative is None else -abs(each.relative))
    )
    return [each.key for each in by_size[:MOST]]


@dataclass(frozen=True)
class _Run:
    """One cell of one side with its first seed."""

    path: Path
    scenario: Scenario
    store: Store

    @property
    def trial(self) -> Path:
        return self.store.path / "trials" / self.scenario.trials()[0].id


def write(made: Suite, found: RunComparison) -> Mapping[CellName, str]:
    """Runs the first seed of these cells on both sides, and writes a page for each; the names of the files by cell.
    Nothing if nothing differs, or if it would take longer than is left of the budget, which it says.
    """
    for old in made.candidate.glob(PAGES):
        old.unlink()
    keys = differing(found)
    runs = {key: runs for key in keys if len(runs := tuple(_runs(made, key))) == 2}
    for key, why in [(key, why) for key, (base, _) in runs.items() if (why := _why_not(made, base)) is not None]:
        del runs[key]
        say(made.console, f"no page of the ACKs of {found.label(key.cell)}: {why}")
    if not runs:
        return {}
    try:
        takes_s = sum(map(_takes_s, (run for both in runs.values() for run in both)))
        if takes_s > made.left_s():
            left = duration(max(0.0, made.left_s()))
            said = f"they take {duration(takes_s)}, and {left} of the budget is left"
            say(made.console, f"no pages of the ACKs of {counted(len(runs), 'cell')} that differ: {said}")
            return {}
        return dict(_pages(made, found, runs))
    except (UserError, MachineError) as error:
        say(made.console, f"no pages of ACKs: {error}")
        return {}


def _runs(made: Suite, key: CellKey) -> Iterator[_Run]:
    path = next(each for each in made.files if each.stem == key.scenario)
    home = made.output / "acks" / f"{made.base.name}+{made.candidate.name}"
    for kind, (_, side) in zip(("base", "candidate"), made.sides, strict=True):
        asked = made.asked(path, side)
        cells = tuple(each for each in asked.cells if frozenset(each.params) == frozenset(key.params))
        if len(cells) == 1:
            name = "".join(each if each.isalnum() else "-" for each in " ".join(text for _, text in key.params))
            one = replace(asked, cells=cells, repetitions=1, acks=True, expect=())
            yield _Run(path, one, Store(home / kind / f"{path.stem}-{name}".strip("-")))


def _why_not(made: Suite, run: _Run) -> str | None:
    """Why there is nothing to draw: the trial that was judged had samples, and none of a TCP socket, as a program has
    that speaks QUIC, or they are damaged; else None.
    """
    samples = made.base / run.path.stem / "trials" / run.trial.name / SAMPLES
    try:
        has_none = samples.exists() and not sample_table.opened(samples).metadata.num_rows
    except (OSError, pa.ArrowException) as error:
        return str(sample_table.broken(samples, error))
    return "no socket of TCP sent anything" if has_none else None


def _takes_s(run: _Run) -> float:
    prepared = prepare(run.scenario, run.store)
    told = prepared.forecast.told([each.params for each in prepared.waiting], 1)
    return told.wall_s.expected if prepared.waiting else 0.0


def _pages(
    made: Suite, found: RunComparison, runs: Mapping[CellKey, tuple[_Run, ...]]
) -> Iterator[tuple[CellName, str]]:
    from ...report import ack_page  # imports pyarrow, which a comparison of the same need not pay for

    labels = f"base: {made.pair.base.label}", f"candidate: {made.pair.candidate.label}"
    for number, (key, both) in enumerate(runs.items(), 1):
        for run in both:
            if not prepare(run.scenario, run.store).waiting:
                continue
            until_s = time.monotonic() + made.left_s()
            carry_out(run.scenario, run.store, files_of(run.path), 1, made.console, until_s=until_s)
        if not all(run.trial.is_dir() for run in both):
            say(made.console, f"no page of the ACKs of {found.label(key.cell)}: a trial of it has no result")
            continue
        title = f"{found.label(key.cell)}, seed {both[0].scenario.seed}"
        sides = [ack_page.Side(label, run.trial) for label, run in zip(labels, both, strict=True)]
        name = f"acks-{number}-{key.scenario}.html"
        write_named(made.candidate / name, harmless(ack_page.page(title, sides)))
        say(made.console, f"each ACK of {title}: {made.candidate / name}")
        yield (key.scenario, frozenset(key.params)), name
