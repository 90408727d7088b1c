"""A calibration from its files to its outcome: reads, fits, refines, rebuilds, judges, writes. Writes one folder.

Nothing is written before all files are read and a link can be built. An interrupted calibration goes on with the same
command: its trials are runs, and finished ones are not measured again.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..error import SpecError, UserError, with_allowed
from ..spec.load import load_topology
from ..spec.syntax import input_file
from ..trial import strict_folder
from ..trial.folder import replace_json, unwritable, write_text
from . import page, rebuild, written
from .fit import path as paths
from .fit.steady import grouped
from .link import LinkFit, chosen
from .measurement import Ask, Reading, refused, with_load
from .outcome import Outcome, asks_of, verdicts
from .reader import registry
from .rebuild import Measure, Rebuilt, Refined

CALIBRATION, REPORT, PROFILE, WHAT_IF = "calibration.json", "report.html", "profile.yaml", "what-if.yaml"
REFINEMENT = "refinement"
FOREIGN_RTT = 2.0


@dataclass(frozen=True)
class Wanted:
    """What the user asked for. `asked` are keys of the link that are given and not fitted."""

    files: tuple[Path, ...]
    held: tuple[Path, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)
    budget_s: float = 600.0
    seed: int = 1
    repetitions: int = written.REPETITIONS


@dataclass(frozen=True)
class Prepared:
    """All that is known before anything runs."""

    readings: tuple[Reading, ...]
    held: tuple[Reading, ...]
    fit: paths.PathFit
    link: LinkFit

    @property
    def asks(self) -> list[Ask]:
        return asks_of(self.readings)

    @property
    def every_ask(self) -> list[Ask]:
        return asks_of((*self.readings, *self.held))


def read(wanted: Wanted) -> tuple[tuple[Reading, ...], tuple[Reading, ...]]:
    """The files to fit and those held out. Raises SpecError for all that cannot be read, and for several paths."""
    if not wanted.files:
        raise UserError("there is no file to fit; allowed: at least one, beside those that are held out")
    same = {each.resolve() for each in wanted.files} & {each.resolve() for each in wanted.held}
    if same:
        raise UserError(f"{min(same)} is fitted and held out; allowed: each file once")
    _refuse_copies((*wanted.files, *wanted.held))
    found = [registry.read(each) for each in wanted.files]
    held = [registry.read(each) for each in wanted.held]
    every = with_load([*found, *held])
    _refuse_other_paths(every)
    traces = [each.file for each in found if each.trace is not None]
    if len(traces) > 1:
        raise refused(traces[1], None, f"this is a trace, and so is {traces[0]}", "one trace, which the link plays")
    return tuple(every[: len(found)]), tuple(every[len(found) :])


def _refuse_copies(files: Sequence[Path]) -> None:
    """A file that counts twice would make its noise look smaller than it is."""
    seen: dict[bytes, Path] = {}
    for path in files:
        try:
            digest = hashlib.sha256(input_file.read(path, registry.FILE_BYTES)).digest()
        except OSError:
            continue  # its reader says what is wrong
        if digest in seen:
            raise UserError(f"{path} has the same bytes as {seen[digest]}; allowed: each measurement once")
        seen[digest] = path


def _refuse_other_paths(readings: Sequence[Reading]) -> None:
    """Files that name different other ends, or whose idle round-trip times are far apart, are of different paths. A
    flow's own least one may be that of a queue, so that it only counts where it is the lower one.
    """
    ends: dict[str, str] = {}
    least: list[tuple[float, str]] = []
    flows: list[tuple[float, str]] = []
    for reading in readings:
        for each in reading.measurements:
            if each.other_end is not None:
                ends.setdefault(each.other_end, each.file)
            if each.pings is not None and each.pings.min_s and not each.is_loaded:
                least.append((each.pings.min_s, each.file))
            if each.transfer is not None and each.transfer.rtt_min_s:
                flows.append((each.transfer.rtt_min_s, each.file))
    if len(ends) > 1:
        (one, first), (other, second) = list(ends.items())[:2]
        raise refused(second, 1, f"this is a path to {other}, and {first} is one to {one}", "files of one path")
    high, second = max(least, default=(0.0, ""))
    low, first = min((each for each in (*least, *flows) if each[1] != second), default=(math.inf, ""))
    if high > FOREIGN_RTT * low + 1e-3:
        what = f"its round-trip times begin at {high * 1e3:.4g} ms, those of {first} at {low * 1e3:.4g} ms"
        allowed = "files of one path, and pings under load with -D, whose times show the load"
        raise refused(second, 1, what, allowed)


def prepare(wanted: Wanted) -> Prepared:
    """Reads and fits. Raises UserError if no link can be built."""
    readings, held = read(wanted)
    fit = paths.fit(readings)
    link = chosen(fit, wanted.asked)
    _refuse_unbuildable(link)
    return Prepared(readings, held, fit, link)


def _refuse_unbuildable(link: LinkFit) -> None:
    """Raises UserError for keys of the user's that no topology can have."""
    with tempfile.TemporaryDirectory(prefix="testbed-") as place:
        rebuild.write(Path(place), link, [], 1, 1)
        try:
            load_topology(Path(place, rebuild.TOPOLOGY))
        except SpecError as error:
            problems = error.problems
        else:
            return
    said = "; ".join(with_allowed(each.what, each.allowed) for each in problems)
    assert link.asked, f"BUG: a link that cannot be built: {said}"
    raise UserError(f"--set {', '.join(f'path.{key}' for key in link.asked)}: {said}")


def carry_out(
    wanted: Wanted, prepared: Prepared, folder: Path, measure: Measure, say: Callable[[str], None]
) -> Outcome:
    """Refines, rebuilds, judges and writes. Raises UserError for a folder in which others could exchange files."""
    try:
        strict_folder.make_own(folder)
    except OSError as error:
        raise unwritable(folder, error) from None
    refined = Refined(prepared.link, prepared.fit, stopped="no file can be measured again")
    rebuilt = Rebuilt({})
    if prepared.asks and wanted.budget_s > 0:
        say(f"refinement: up to {rebuild.STEPS_MAX} steps")
        refined = rebuild.refine(
            *(folder / REFINEMENT, prepared.fit, prepared.link, prepared.readings, measure),
            *(wanted.budget_s, wanted.seed),
        )
        say(f"refinement: {len(refined.steps)} steps, {refined.stopped}")
    fit = rebuild.refitted(refined)
    asks = prepared.every_ask
    _write_spec(folder, refined.link, fit, prepared.readings, asks, wanted)
    if asks:
        rebuilt = rebuild.run(folder, asks, measure)
    judged = verdicts(prepared.readings, prepared.held, rebuilt)
    notes = (*(note for each in (*prepared.readings, *prepared.held) for note in each.notes), *refined.notes)
    outcome = Outcome(
        *(prepared.readings, prepared.held, fit, refined.link, rebuilt, judged),
        steps=refined.steps,
        stopped=refined.stopped,
        notes=tuple(dict.fromkeys(notes)),
        seed=wanted.seed,
    )
    replace_json(folder / CALIBRATION, outcome.data())
    write_text(folder / REPORT, page.page(outcome))
    return outcome


def _write_spec(
    folder: Path, link: LinkFit, fit: paths.PathFit, readings: Sequence[Reading], asks: Sequence[Ask], wanted: Wanted
) -> None:
    rebuild.write(folder, link, asks, wanted.repetitions, wanted.seed)
    write_text(folder / WHAT_IF, written.what_if())
    measurements = [each for reading in readings for each in reading.measurements]
    text = written.profile(grouped(measurements), fit)
    if text is not None:
        write_text(folder / PROFILE, text)
