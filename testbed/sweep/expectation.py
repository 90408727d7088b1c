"""Whether a run keeps the rules of its scenario's `expect`. Reads the run's folder."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis import program_metric
from ..analysis.expectation.measured import read
from ..analysis.expectation.verdict import Verdict, verdicts
from ..trial.folder import read_trial
from ..trial.result import TrialResult
from .repetition import cells, unfinished
from .store import Store

NAMED = 3
"""So many of the trials that are missing are named."""


def judged(store: Store, found: Sequence[TrialResult]) -> tuple[Verdict, ...]:
    """A verdict for each rule, in their order; empty if the scenario has none. `found` are the run's results. While a
    trial is missing, or a cell needs more repetitions, no rule is checked. Raises UserError for broken samples.
    """
    rules = store.expect
    if not rules:
        return ()
    absent = _absent(store, found)
    if absent is not None:
        return verdicts(rules, (), absent)
    program_metric.learn(read_trial(store.path / "trials" / found[0].id).workload)
    names = list(dict.fromkeys(rule.metric for rule in rules))
    return verdicts(rules, [read(store.path / "trials" / each.id, each, names) for each in found])


def _absent(store: Store, found: Sequence[TrialResult]) -> str | None:
    there = {each.id for each in found}
    missing = [id for id in store.ids if id not in there]
    if missing or not found:
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        named = f": {', '.join(missing[:NAMED])}{more}" if missing else ""
        return f"{len(missing)} of {len(store.ids)} trials are missing{named}"
    until = store.until
    if until is not None and (count := sum(each.stop is None for each in cells(found, until))):
        return unfinished(count)
    return None
