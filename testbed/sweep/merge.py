"""A merge: the trials of several folders of one scenario, in one folder. Reads and writes results folders.

A trial that is in more than one of them must be the same in all, byte for byte. What is copied gets its name by a
rename, so that an interrupted merge leaves whole trials only, and the next one goes on from there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..codec.frozen import dataclass
from ..error import UserError, visible
from ..trial import provenance, sample_table, strict_folder
from ..trial.folder import disk_full, partial, read_json, read_result, read_text, replace_json, same_files
from ..trial.result import TrialResult
from ..trial.software import differences
from . import audit, run_file, table
from .origin import computer, mixed, origins
from .repetition import cells
from .shard import absent
from .store import FOLDERS, Store

SAME = ("key", "scenario", "axes")
"""What run.json must say alike."""


@dataclass(frozen=True)
class Conflict:
    """A trial that two folders have, and that differs. `files` are the names of those that do."""

    id: str
    first: Path
    second: Path
    files: tuple[str, ...]

    def __str__(self) -> str:
        sides = " and ".join(f"{folder} ({computer(folder)})" for folder in (self.first, self.second))
        return visible(f"{self.id}: {', '.join(self.files)} differ between {sides}{self._software}")

    @property
    def _software(self) -> str:
        noted = [provenance.parts_of(provenance.noted(folder) or {}) for folder in (self.first, self.second)]
        if not all(noted):
            return "; not both tell their software"
        parts = [f"{part} {before} → {after}" for part, before, after in differences(*noted)]
        return f"; software: {'; '.join(parts)}" if parts else "; their software is the same"


@dataclass(frozen=True)
class Merged:
    """What a folder has after a merge. `missing` are ids of trials without a result, those that failed included;
    `shards` the shards that are absent, where that is known; `open_cells` how many cells need more repetitions;
    `unlike` the parts of the software in which the trials differ; `notes` say what was not carried over, and why.
    """

    results: tuple[TrialResult, ...]
    trials: int
    invalid: int
    missing: tuple[str, ...]
    failed: tuple[str, ...]
    shards: tuple[str, ...]
    open_cells: int
    unlike: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def found(self) -> int:
        return len(self.results)

    @property
    def is_whole(self) -> bool:
        return self.trials > 0 and not self.missing and not self.open_cells


def merge(sources: Sequence[Store], target: Store) -> Merged | tuple[Conflict, ...]:
    """Merges the folders into `target`, which may have some of it already; or the conflicts, and nothing is written.

    Raises UserError for folders of different scenarios, and for one that a run is writing to.
    """
    others = [each.open() for each in sources if os.path.realpath(each.path) != os.path.realpath(target.path)]
    stores = [*([target.open()] if target.exists else []), *others]
    _refuse_others(stores)
    for each in others:
        if each.is_in_use:
            raise UserError(f"a run is writing to {each.path}; allowed: waiting for it")
    audits, (looks, notes) = _audits(stores), _looks(stores)
    with target.locked(), _room(target):
        conflicts = tuple(_conflicts(stores))
        if conflicts:
            return conflicts
        ids = joined([each.ids for each in stores])
        _list(stores, target, ids)
        target.discard_partial()
        for each in others:
            _copy(each, target)
        target.discard_partial()
        _list(stores, target, ids)
        if audits:
            replace_json(target.path / audit.FILE, {"audits": audits})
        if looks is not None:
            replace_json(target.path / run_file.LOOKS, looks)
        results = target.results()
        table.update(target, mend=True, results=results)
    found = _state(target, results, [shard for each in stores for shard in each.about.get("shards", ())])
    return replace(found, notes=(*notes, *mixed(target, results)))


@contextmanager
def _room(target: Store) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise disk_full(error, target.path) or error from None


def joined(lists: Iterable[Sequence[str]]) -> list[str]:
    """All ids, in an order that agrees with each list where the lists agree: a new one comes after its predecessor."""
    order: list[str] = []
    known: set[str] = set()
    for ids in lists:
        if not known.issuperset(ids):
            place = {id: number for number, id in enumerate(order)}
            after: dict[int, list[str]] = {}
            at = -1
            for id in ids:
                at = place.get(id, at)
                if id not in place:
                    after.setdefault(at, []).append(id)
            order = [*after.get(-1, []), *(each for n, id in enumerate(order) for each in (id, *after.get(n, [])))]
            known.update(ids)
    return order


def _refuse_others(stores: Sequence[Store]) -> None:
    if not stores:
        raise UserError("there is nothing to merge; allowed: folders that `testbed run` wrote, and -o with another one")
    first = stores[0].about
    for store in stores:
        about = store.about
        if about.get("key") is None:
            raise UserError(
                f"{store.path} does not tell which scenario it is of, an earlier version wrote it; allowed: run the "
                f"scenario again with -o {store.path}, which keeps its trials"
            )
        if any(about.get(name) != first.get(name) for name in SAME):
            raise UserError(
                f"{stores[0].path} and {store.path} are of different scenarios; allowed: folders of one scenario, run "
                "with the same settings (--set, --quick)"
            )


def _conflicts(stores: Sequence[Store]) -> Iterator[Conflict]:
    """Of each trial that more than one folder has: against the first one."""
    first: dict[str, Path] = {}
    for store in stores:
        for id in strict_folder.names_in(store.path, "trials"):
            folder = store.path / "trials" / id
            if id.startswith("."):
                continue
            strict_folder.ordinary(store.path, "trials", id)  # and not what a link of this name leads to
            if id not in first:
                first[id] = folder
            elif files := same_files(first[id], folder):
                yield Conflict(id, first[id], folder, files)


def _list(stores: Sequence[Store], target: Store, ids: Sequence[str]) -> None:
    """run.json and the folders of the target. Its shards are those of all, while trials are missing."""
    for folder in FOLDERS:
        strict_folder.make(target.path, folder)
    about = stores[0].about
    added = {id: number for each in stores for id, number in each.added.items()}
    shards = list(dict.fromkeys(shard for each in stores for shard in each.about.get("shards", ())))
    is_whole = all((target.path / "trials" / id).exists() for id in ids)
    rest = {name: each for name, each in about.items() if name not in ("trials", "added", "shards")}
    rest |= {} if is_whole or not shards else {"shards": shards}
    rest |= {"trials": list(ids)} | ({"added": {id: added[id] for id in ids if id in added}} if added else {})
    replace_json(target.path / "run.json", rest)
    for kind in strict_folder.names_in(stores[0].path, "spec"):
        data = read_text(stores[0].path / "spec" / kind).encode()
        strict_folder.write(target.path, "spec", kind, data=data)


def _audits(stores: Sequence[Store]) -> list[dict[str, Any]]:
    """Those of all folders, each once, in the order of their dates. Raises UserError for a damaged file."""
    found = {json.dumps(each, sort_keys=True): each for store in stores for each in audit.stored(store.path)}
    return sorted(found.values(), key=lambda each: str(each.get("date")))


def _looks(stores: Sequence[Store]) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The looks of comparisons, where one folder has some or all have the same; else None, and why."""
    files = [store.path / run_file.LOOKS for store in stores]
    told = {file: read_json(file) for file in files if file.exists()}
    if len({json.dumps(each, sort_keys=True) for each in told.values()}) <= 1:
        return next(iter(told.values()), None), ()
    names = " and ".join(map(str, told))
    why = "looks at different data cannot be one comparison's; begin it anew: testbed compare … --until-decided"
    return None, (f"{names} are not carried over: {why}",)


def _copy(source: Store, target: Store) -> None:
    """The trials that the target does not have, and the failures of those that it still lacks. Raises UserError for a
    trial of the source that is damaged, and does not copy it: a whole one would then differ from the copy.
    """
    listed = set(source.ids)
    for kind in ("trials", "failed"):
        for id in strict_folder.names_in(source.path, kind):
            there = [target.path / each / id for each in ("trials", kind)]
            if id in listed and not any(each.exists() for each in there):
                if kind == "trials":
                    _read(source.path / kind / id)
                with partial(target.path / "trials") as made:
                    strict_folder.copy_all(source.path, kind, id, target=made.path)
                    made.put(target.path, kind, id)


def _read(folder: Path) -> None:
    """Raises UserError for a result or a table that cannot be read."""
    read_result(folder)
    for file in sorted(folder.glob("*.parquet")):
        with sample_table.reading(file):
            sample_table.opened(file)


def _state(target: Store, found: Sequence[TrialResult], shards: Iterable[str]) -> Merged:
    ids, there = target.ids, {each.id for each in found}
    missing = tuple(id for id in ids if id not in there)
    until = target.until
    open_cells = 0 if until is None else sum(cell.stop is None for cell in cells(found, until))
    failures = target.failures() if missing else {}
    failed = tuple(id for id in missing if id in failures)
    invalid = sum(each.verdict == "invalid" for each in found)
    lost = tuple(absent(dict.fromkeys(shards))) if missing else ()
    return Merged(tuple(found), len(ids), invalid, missing, failed, lost, open_cells, _unlike(target, found))


def _unlike(target: Store, found: Sequence[TrialResult]) -> tuple[str, ...]:
    kinds = origins([target.path / "trials" / each.id for each in found])
    told = (part for each in kinds[1:] for part, _, _ in differences(kinds[0].parts, each.parts))
    return tuple(dict.fromkeys(told)) or (("not noted",) if any(not each.parts for each in kinds) else ())
