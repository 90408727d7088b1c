"""What `compare` reads: a run, or a suite of several runs, as a side of a comparison. Reads results folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..analysis import flow_sample
from ..analysis.metric import chosen
from ..compare.look import LEAST
from ..compare.run import PARTED
from ..compare.side import Measured, Missing, Run, Side
from ..error import UserError, visible
from ..kernel import oops
from ..model import chance
from ..sweep import extension
from ..sweep.run_file import is_run, suite
from ..sweep.shard import in_words
from ..sweep.store import Store
from ..trial.folder import TRIAL, read_json, read_trial
from ..trial.record import MOST
from ..trial.result import TrialResult


def sides(base: Path, candidate: Path, metrics: Sequence[str]) -> tuple[Side, Side]:
    """Two runs, or two suites; a scenario of a suite is named by its folder. Raises UserError for one of each."""
    for each in (base, candidate):
        if not suite(each):
            Store(each).open()  # which says that there is no run
    if is_run(base) != is_run(candidate):
        one, other = (base, candidate) if is_run(base) else (candidate, base)
        raise UserError(f"{one} is one run, {other} holds several; allowed: two runs, or two folders of runs")
    if is_run(base):
        return Side(str(base), {"": run(base, metrics)}), Side(str(candidate), {"": run(candidate, metrics)})
    return _suite_side(base, metrics), _suite_side(candidate, metrics)


def primary_of(folder: Path) -> str | None:
    """The metric that decides about a run; None if it says none."""
    return Store(folder).open().primary


def run(folder: Path, metrics: Sequence[str], *, in_parts: bool = True) -> Run:
    """A run with the metrics of its trials, and the trials that it lacks; `in_parts`: those of few seeds with what each
    part of them brought. Raises UserError for a damaged one.
    """
    store = Store(folder).open()
    results = store.results()
    extension.refuse_hidden(store, results)
    trials, drawn, seeds = [], {}, Counter(_cell(each) for each in results)
    for each in results:
        home, cell = store.path / "trials" / each.id, _cell(each)
        if cell not in drawn:
            drawn[cell] = _is_drawn(home)
        found = flow_sample.metrics(home, each, metrics)
        known = {name: None if value is None or not abs(value) < MOST else value for name, value in found.items()}
        parts = flow_sample.parts(home, each) if in_parts and PARTED in metrics and seeds[cell] < LEAST else ()
        trials.append(Measured(each, read_json(home / TRIAL), known, drawn[cell], parts))
    have, failures = {each.result.id for each in trials}, store.failures()
    missing = tuple(_missing(store, id, failures) for id in store.ids if id not in have)
    if store.primary is not None:
        chosen([store.primary])
    return Run(
        tuple(trials), missing, store.primary, store.rare, frozenset(store.added), is_open=store.until is not None
    )


def _is_drawn(folder: Path) -> bool:
    """Whether the trial of the folder may depend on its seed; so does one that is not known to this version."""
    try:
        return chance.is_drawn(read_trial(folder))
    except UserError:
        return True


def _cell(result: TrialResult) -> tuple[tuple[str, str], ...]:
    return tuple(result.params.items())


def _suite_side(folder: Path, metrics: Sequence[str]) -> Side:
    return Side(str(folder), {str(each.relative_to(folder)): run(each, metrics) for each in suite(folder)})


def _missing(store: Store, id: str, failures: dict[str, str]) -> Missing:
    if id not in failures:
        return Missing(id, f"not run: this is {in_words(store.shards)}" if store.shards else "not run")
    why = f"failed: {visible(oops.in_line(failures[id]))}"
    about = store.path / "failed" / id / TRIAL
    stored = read_json(about) if about.exists() else {}
    params, seed = stored.get("params"), stored.get("seed")
    is_told = isinstance(params, dict) and isinstance(seed, int)
    return Missing(id, why, params, seed) if is_told else Missing(id, why)
