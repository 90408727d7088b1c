"""A stored run as its figures and its report read it. Reads the run's folder; writes nothing there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..analysis import program_metric
from ..analysis.expectation.verdict import Verdict
from ..analysis.series import Series, series
from ..codec.frozen import dataclass
from ..error import UserError
from ..model.scenario import Trial
from ..spec.scenario.trial import trial_of
from ..sweep.audit import Audit, latest
from ..sweep.expectation import judged
from ..sweep.store import Store
from ..trial.folder import TRIAL, damaged, read_json, read_provenance
from ..trial.result import TrialResult


@dataclass(frozen=True)
class StoredRun:
    """A run's results with what was asked. `trials` and `settings` (trial.json) are by id.

    A trial whose specification this version cannot read has a result and settings, and no place in `trials`.
    """

    name: str
    path: Path
    results: tuple[TrialResult, ...]
    trials: Mapping[str, Trial]
    settings: Mapping[str, Mapping[str, Any]]
    ids: tuple[str, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    has_until: bool = False
    shards: tuple[str, ...] = ()
    audit: Audit | None = None

    @cached_property
    def usable(self) -> tuple[TrialResult, ...]:
        """The results that are not invalid and have a goodput."""
        return tuple(each for each in self.results if each.is_usable)

    @cached_property
    def series(self) -> tuple[Series, ...]:
        return series(self.results, self.trials)

    @cached_property
    def rules(self) -> tuple[Verdict, ...]:
        """What became of the rules of the scenario's `expect`. Raises UserError for broken samples."""
        return judged(Store(self.path), self.results)

    @property
    def missing(self) -> int:
        """How many trials of the scenario have no result, those that failed included."""
        return len(self.ids) - len(self.results)

    def folder(self, id: str) -> Path:
        return self.path / "trials" / id

    def provenance(self, id: str) -> Mapping[str, Any]:
        """What a trial ran with; empty if that was not noted."""
        return read_provenance(self.folder(id))

    def only(self, results: Sequence[TrialResult]) -> StoredRun:
        return replace(self, results=tuple(results))


@dataclass
class Reader:
    """Reads a run again and again while it goes on: what is finished does not change, and is read once."""

    _results: dict[str, TrialResult] = field(default_factory=dict)
    _settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    _trials: dict[str, Trial | None] = field(default_factory=dict)

    def read(self, store: Store) -> StoredRun:
        """Raises UserError for a folder that is no run's, or of another schema version, and for damaged files."""
        from ..trial.folder import read_result

        store.open()
        ids = store.ids
        for id in ids:
            folder = store.path / "trials" / id
            if id not in self._results and folder.exists():
                self._settings[id] = read_json(folder / TRIAL)
                self._trials[id] = _trial(self._settings[id], id)
                self._results[id] = result = read_result(folder)
                if self._settings[id].get("params") != dict(result.params):
                    raise damaged(folder / TRIAL, "its params are not those of the result")
                if not isinstance(self._settings[id].get("sysctls", {}), dict | None):
                    raise damaged(folder / TRIAL, "its sysctls are no object")
        found = [id for id in ids if id in self._results]
        for workload in (each.workload for each in self._trials.values() if each is not None):
            program_metric.learn(workload)
        return StoredRun(
            name=store.name,
            path=store.path,
            results=tuple(self._results[id] for id in found),
            trials={id: trial for id in found if (trial := self._trials[id]) is not None},
            settings={id: self._settings[id] for id in found},
            ids=ids,
            failures=store.failures(),
            has_until=store.until is not None,
            shards=store.shards,
            audit=latest(store.path),
        )


def read(folder: Path) -> StoredRun:
    """The run in a folder. Raises UserError as Reader.read does."""
    return Reader().read(Store(folder))


def _trial(settings: Mapping[str, Any], id: str) -> Trial | None:
    try:
        return trial_of(settings, id)
    except UserError:
        return None
