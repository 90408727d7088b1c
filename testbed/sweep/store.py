"""The store: one folder for each trial, written once and whole. Reads and writes files of one run's folder.

DIR/run.json             the schema version of the folder, and the trials of the run
DIR/spec/                the scenario and topology files as given
DIR/trials/ID/           a finished trial; a rename puts it there as a whole
DIR/failed/ID/           the files of a trial that could not be carried out, with error.txt
DIR/*.parquet            tables of all trials, which `table` makes from the folders
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import Any

from .. import __version__, journal
from ..cache_folder import open_lock, try_lock
from ..codec.frozen import dataclass
from ..error import TestbedError, UserError
from ..journal import RUN
from ..kernel.guest import Cancelled
from ..library import did_you_mean_path
from ..model.expectation import Expectation
from ..model.run_setting import Until
from ..model.scenario import Trial, sibling
from ..spec.scenario.trial import trial_data
from ..trial import strict_folder
from ..trial.evidence import remains
from ..trial.folder import (
    PARTIAL,
    TRIAL,
    Damaged,
    disk_full,
    partial,
    read_json,
    read_provenance,
    read_result,
    read_text,
    replace_json,
    unwritable,
)
from ..trial.result import SCHEMA, TrialResult
from ..trial.strict_folder import names_in
from . import run_file

FOLDERS = ("trials", "failed", "spec")
LOCK = "lock"
ERROR, SAID_MAX = "error.txt", 1 << 20
"""The file of a failed trial with the reason; its folder has no other mark."""


@dataclass(frozen=True)
class Store:
    """A run's folder. `elsewhere` is where its tables are made if the folder cannot be written."""

    path: Path
    elsewhere: Path | None = None

    @property
    def tables(self) -> Path:
        """The folder of its tables."""
        return self.elsewhere or self.path

    def create(
        self,
        name: str,
        specs: Mapping[str, str],
        order: Iterable[str],
        axes: Sequence[str] = (),
        until: Until | None = None,
        added: Mapping[str, int] | None = None,
        primary: str | None = None,
        share: Mapping[str, Any] | None = None,
        expect: Sequence[Expectation] = (),
        rare: Fraction | None = None,
    ) -> None:
        """Makes the folder, or uses an existing one. `added` are those of the trials that the scenario does not ask
        for, with their repetitions; `share` is its identity, with shards. Raises UserError if it cannot be written.
        """
        try:
            strict_folder.make_own(self.path)
            for folder in FOLDERS:
                strict_folder.make(self.path, folder)
            about: dict[str, Any] = {"schema": SCHEMA, "scenario": name, "testbed": __version__, "axes": list(axes)}
            about |= {"until": run_file.until_data(until)} | ({} if primary is None else {"primary": primary})
            about |= {} if rare is None else {"rare": float(rare)}
            about |= dict(share or {}) | ({"expect": run_file.rules_data(expect)} if expect else {})
            about |= {"trials": list(order)} | ({"added": dict(added)} if added else {})
            replace_json(self.path / "run.json", about)
            for kind, spec in specs.items():
                strict_folder.write(self.path, "spec", kind, data=Path(spec).read_bytes())
        except OSError as error:
            raise unwritable(self.path, error) from None

    def list_trials(self, order: Iterable[str]) -> None:
        """Updates the list of the trials of the run."""
        replace_json(self.path / "run.json", self.about | {"trials": list(order)})

    def add(self, trial: Trial) -> None:
        """Lists a trial that the scenario does not ask for, after the other repetitions of its cell."""
        about = self.about
        ids = about["trials"]
        if trial.id in ids:
            return
        before = {sibling(trial, number).id for number in range(trial.repetition)}
        place = max((number + 1 for number, id in enumerate(ids) if id in before), default=len(ids))
        ids = [*ids[:place], trial.id, *ids[place:]]
        known = {**self.added, trial.id: trial.repetition}
        added = {id: known[id] for id in ids if id in known}
        try:
            replace_json(self.path / "run.json", about | {"trials": ids, "added": added})
        except OSError as error:
            raise unwritable(self.path, error) from None

    @property
    def exists(self) -> bool:
        """Whether the folder has a run."""
        return (self.path / "run.json").exists()

    def open(self) -> Store:
        """This store, if it is the folder of a run with this schema version. Raises UserError otherwise."""
        path = self.path / "run.json"
        if not path.exists():
            meant = "" if self.path.exists() else did_you_mean_path(self.path)
            raise UserError(
                f"{self.path} is not a results folder (no run.json); allowed: what `testbed run -o` wrote{meant}"
            )
        schema = self._run_json().get("schema")
        if schema != SCHEMA:
            raise UserError(f"{self.path} has results of schema version {schema}; allowed: {SCHEMA}")
        return self

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Makes the folder if there is none, and locks it. Raises UserError if another run has locked it.

        The journal has an entry meanwhile, so that `testbed clean` finds what a killed run left half-written.
        """
        folder = Path(os.path.realpath(self.path))  # links in a circle are refused below
        with journal.noted(RUN, journal.unique(folder.name), folder=str(folder)), self.ours():
            yield

    @contextmanager
    def ours(self) -> Iterator[None]:
        """Locks the folder as `locked` does, without an entry in the journal."""
        try:
            strict_folder.make_own(self.path)
            descriptor = self._lock(make=True)
        except OSError as error:
            if (self.path / LOCK).is_symlink():
                raise strict_folder.link_refused(self.path / LOCK) from None
            raise unwritable(self.path, error) from None
        try:
            if not try_lock(descriptor):
                raise UserError(
                    f"another run is writing to {self.path}; allowed: another folder (-o), or waiting for it"
                )
            yield
        finally:
            os.close(descriptor)

    def _lock(self, *, make: bool) -> int:
        with strict_folder.opened(self.path) as here:
            return open_lock(Path(f"/proc/self/fd/{here}", LOCK), make=make)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the trials of the scenario that ran last."""
        return tuple(self.about["trials"])

    @property
    def added(self) -> dict[str, int]:
        """The ids of the trials that the scenario does not ask for, with their repetitions."""
        added = self.about.get("added", {})
        if not isinstance(added, dict) or not all(type(number) is int and number > 0 for number in added.values()):
            allowed = "trials, each with its repetition, 1 or more"
            raise UserError(f"{self.path / 'run.json'} is damaged: its 'added' cannot be read; allowed: {allowed}")
        return added

    def failures(self) -> dict[str, str]:
        """The trials of the scenario that could not be carried out, and why."""
        files = {id: self.path / "failed" / id / ERROR for id in self.ids}
        return {id: read_text(file).strip() for id, file in files.items() if file.exists()}

    @property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.about["scenario"])

    @property
    def axes(self) -> tuple[str, ...]:
        """The keys of the scenario's axes."""
        return tuple(self.about.get("axes", ()))

    @property
    def primary(self) -> str | None:
        """The metric that decides comparisons of the run; None if the scenario says none."""
        primary = self.about.get("primary")
        return None if primary is None else str(primary)

    @property
    def rare(self) -> float | None:
        """The share of trials that may differ where a comparison says that a cell is the same; None: any."""
        rare = self.about.get("rare")
        return None if rare is None else float(rare)

    @property
    def expect(self) -> tuple[Expectation, ...]:
        """The rules that the scenario expects its trials to keep."""
        return run_file.rules_of(self.about, self.path / "run.json")

    @property
    def shards(self) -> tuple[str, ...]:
        """The shards of the scenario that are in the folder; empty if it has, or was asked to have, all trials."""
        shards = tuple(map(str, self.about.get("shards", ())))
        return () if not shards or all((self.path / "trials" / id).exists() for id in self.ids) else shards

    @property
    def until(self) -> Until | None:
        """The condition that ends the repetitions of a cell; None if all cells have the same number."""
        return run_file.until_of(self.about.get("until"), self.path / "run.json")

    @property
    def about(self) -> dict[str, Any]:
        """What run.json says. Raises UserError unless it is what a run wrote."""
        about = self._run_json()
        run_file.check(about, self.path / "run.json")
        return about

    def _run_json(self) -> dict[str, Any]:
        path = self.path / "run.json"
        try:
            return read_json(path)
        except Damaged as error:
            again = "delete it, and `testbed run` writes it again and keeps the scenario's trials"
            raise UserError(f"{error}; {again}: rm {quote(str(path))}") from None

    def finished(self, trial: Trial) -> TrialResult | None:
        """The trial's stored result; None if there is none. Raises UserError if a different trial has the same id."""
        folder = self.path / "trials" / trial.id
        if not folder.exists():
            return None
        stored = read_json(folder / TRIAL)
        if stored != json.loads(json.dumps(trial_data(trial))):
            raise UserError(
                f"{folder} holds a trial with the same name and another specification; allowed: another folder (-o), "
                "or this one without it"
            )
        return read_result(folder)

    def kernel_key(self, trial: Trial) -> str | None:
        """The build key of a finished trial's lab kernel and virtual machines' kernels; None if it was not recorded."""
        noted = read_provenance(self.path / "trials" / trial.id)
        keys = ((noted.get("kernel") or {}).get("key"), noted.get("machine_kernels"))
        return "; ".join(key for key in keys if isinstance(key, str)) or None

    def results(self) -> tuple[TrialResult, ...]:
        """The results of the scenario that ran last, in its order. Raises UserError for one that cannot be read."""
        folders = (self.path / "trials" / id for id in self.ids)
        return tuple(read_result(folder) for folder in folders if folder.exists())

    @contextmanager
    def writing(self, trial: Trial) -> Iterator[Path]:
        """A folder for the files of a trial. It moves to `trials` if the block ends without an error, and to `failed`
        if the trial cannot be carried out.
        """
        with strict_folder.opened(self.path, "trials"), partial(self.path / "trials") as made:
            folder = made.path
            try:
                yield folder
            except (Cancelled, KeyboardInterrupt):
                raise
            except Exception as error:
                if (full := disk_full(error, self.path)) is not None:
                    raise full from None  # not even the reason can be written
                if folder.exists():
                    said = str(error) if isinstance(error, TestbedError) else remains.in_words(error)
                    strict_folder.write(folder, ERROR, data=f"{said[:SAID_MAX]}\n".encode(errors="backslashreplace"))
                    self._remove_failure(trial.id)
                    made.put(self.path, "failed", trial.id)
                raise
            made.put(self.path, "trials", trial.id)
            self._remove_failure(trial.id)

    def partials(self) -> list[Path]:
        """The half-written folders and files of a run in progress, or of one that was killed."""
        places = [(folder, name) for folder in ((), ("trials",)) for name in names_in(self.path, *folder)]
        paths = (self.path.joinpath(*folder, name) for folder, name in places if name.startswith(PARTIAL))
        return sorted(path for path in paths if not path.is_symlink())

    def discard(self, partial: Path) -> None:
        """Removes a half-written folder or file. Raises UserError if a run is using the folder."""
        with self.ours():
            self._remove(partial)

    @property
    def is_in_use(self) -> bool:
        """Whether a run is using the folder."""
        try:
            descriptor = self._lock(make=False)
        except OSError:
            return False
        try:
            return not try_lock(descriptor)
        finally:
            os.close(descriptor)

    def discard_partial(self) -> None:
        """Removes what a killed run left half-written, and the failures of trials that succeeded later."""
        for left in self.partials():
            self._remove(left)
        finished = set(names_in(self.path, "trials"))
        for id in names_in(self.path, "failed"):
            if id in finished:
                self._remove_failure(id)

    def _remove(self, path: Path) -> None:
        strict_folder.remove(self.path, *path.relative_to(self.path).parts)

    def _remove_failure(self, id: str) -> None:
        """Removes a folder in `failed`, if it is one that a failed trial left, or an empty one, and no link."""
        with suppress(UserError):
            if (names := names_in(self.path, "failed", id)) == [] or ERROR in names:
                strict_folder.remove(self.path, "failed", id)
