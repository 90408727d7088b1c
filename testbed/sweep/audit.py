"""An audit: a random sample of a run's finished trials, repeated, and compared byte by byte with what is stored. Reads
and writes files of one run's folder, and has the sample carried out.
"""

from __future__ import annotations

import datetime
import platform
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, replace
from pathlib import Path
from shlex import quote
from typing import Any, Literal, TypeAlias

from ..codec.frozen import dataclass
from ..error import TestbedError, UserError, visible
from ..model.scenario import Trial
from ..trial import provenance, record, strict_folder
from ..trial.folder import HOST, PROVENANCE, Damaged, partial, read_json, read_trial, replace_json, same_files
from ..trial.orders.sequence import orders
from . import run as sweep
from .forecast import Forecast, work
from .queue import TrialQueue
from .store import Store

FILE = "audit.json"
Outcome: TypeAlias = Literal["same", "different", "not repeated"]

Repeat: TypeAlias = Callable[[sweep.Sweep], sweep.Summary]
"""Carries out the trials of a sweep into its store, here or elsewhere."""

Differing: TypeAlias = Callable[[Path, Path], tuple[str, ...]]
"""What of a trial's folder, the first, the second one should have and does not; `same_files` compares every file."""

SEED_MAX = 2**32


@dataclass(frozen=True)
class Audited:
    """A trial of the sample. `files` are those that differ, `why` says why it could not be repeated. `software` is how
    the software of the repetition differs from that of the trial, which began at `started`; `computer` the name of the
    one that repeated it (None: not known).
    """

    id: str
    outcome: Outcome
    files: tuple[str, ...] = ()
    why: str | None = None
    software: tuple[str, ...] = ()
    started: str | None = None
    computer: str | None = None


@dataclass(frozen=True)
class Audit:
    """One audit. `left_out` counts the finished trials that no repetition can match byte for byte, as they ran in real
    time; `finished` counts all that are finished. `digests` are of the software then (as noted) and now.
    """

    date: str
    computer: str
    seed: int
    finished: int
    left_out: int
    trials: tuple[Audited, ...]
    digests: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)

    def count(self, outcome: Outcome) -> int:
        return sum(each.outcome == outcome for each in self.trials)

    @property
    def verdict(self) -> Literal["same", "different", "cannot tell"]:
        """`same` only if there is a sample, and all of it was repeated to the byte."""
        if self.count("different"):
            return "different"
        return "same" if self.trials and self.count("same") == len(self.trials) else "cannot tell"

    def in_words(self) -> str:
        """One line for people."""
        said = [f"{self.count('same')} of {len(self.trials)} repeated trials are the same, byte for byte"]
        if differ := self.count("different"):
            only = sum(each.files == (PROVENANCE,) for each in self.trials)
            less = f" ({only} in nothing but the software that it names)" if only else ""
            said.append(f"{differ} {'differ' if differ > 1 else 'differs'}{less}")
        if lost := self.count("not repeated"):
            said.append(f"{lost} could not be repeated")
        if self.left_out:
            said.append(f"{self.left_out} in real time left out")
        return f"audit of {visible(self.date[:10])}: {'; '.join(said)}"


def audit(
    store: Store, size: int | Sequence[str], seed: int | None, repeat: Repeat, differing: Differing = same_files
) -> Audit:
    """Repeats a sample of this size, all if there are fewer, or trials with these ids, and stores what came out. `seed`
    None draws another sample each time. Raises UserError if no trial is finished.
    """
    finished = [id for id in store.open().ids if (store.path / "trials" / id).exists()]
    if not finished:
        raise UserError(f"{store.path} has no finished trial; allowed: a run that was measured")
    drawn = random.SystemRandom().randrange(SEED_MAX) if seed is None else seed
    damaged: dict[str, str] = {}
    trials = {id: trial for id in finished if (trial := _read(store, id, damaged)) is not None}
    candidates = [id for id in finished if id in damaged or trials[id].kernel.is_virtual_time]
    chosen = sample(candidates, size, drawn) if isinstance(size, int) else [id for id in candidates if id in size]
    with store.ours(), partial(store.path) as made:
        before = stored(store.path)
        again = Store(made.path)
        outcomes = _repeated(store, again, [trials[id] for id in chosen if id in trials], repeat, differing)
        found = Audit(
            datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            platform.node(),
            drawn,
            len(finished),
            len(finished) - len(candidates),
            tuple(outcomes[id] if id in outcomes else _unread(store, id, damaged[id]) for id in chosen),
            {when: _digests(each, chosen) for when, each in (("then", store), ("now", again))},
        )
        replace_json(store.path / FILE, {"audits": [*before, asdict(found)]})
    return found


def sample(ids: Sequence[str], size: int, seed: int) -> list[str]:
    """A random sample, in the order of the ids; the same for the same ids and seed."""
    chosen = set(random.Random(seed).sample(sorted(ids), min(size, len(ids))))
    return [id for id in ids if id in chosen]


def latest(folder: Path) -> Audit | None:
    """The last audit of a run; None if there is none. Trials that were measured again since are left out of it. Raises
    UserError for a damaged file.
    """
    audits = stored(folder)
    if not audits:
        return None
    try:
        found = record.read(Audit, audits[-1])
    except record.RecordError as error:
        raise _damaged(folder / FILE, str(error)) from None
    return replace(found, trials=tuple(each for each in found.trials if _is_of(folder, each)))


def stored(folder: Path) -> list[dict[str, Any]]:
    """All audits of a run, the last one last; empty if there are none. Raises UserError for a damaged file."""
    if not (folder / FILE).exists():
        return []
    try:
        audits = read_json(folder / FILE).get("audits")
    except Damaged:
        audits = None
    if not isinstance(audits, list) or not all(isinstance(each, dict) for each in audits):
        raise _damaged(folder / FILE, "it has no list of audits")
    return audits


def _damaged(file: Path, why: str) -> UserError:
    return UserError(f"{file} is damaged: {why}; delete it: rm {quote(str(file))}")


def _is_of(folder: Path, each: Audited) -> bool:
    return strict_folder.is_name(each.id) and _started(folder / "trials" / each.id) == each.started


def _started(folder: Path) -> str | None:
    """When a trial began, as host.json tells; None if it does not."""
    began = _host(folder).get("started")
    return began if isinstance(began, str) else None


def _host(folder: Path) -> dict[str, Any]:
    try:
        return read_json(folder / HOST)
    except UserError:
        return {}


def _read(store: Store, id: str, damaged: dict[str, str]) -> Trial | None:
    try:
        return read_trial(store.path / "trials" / id)
    except TestbedError as error:
        damaged[id] = str(error)
        return None


def _unread(store: Store, id: str, why: str) -> Audited:
    return Audited(id, "not repeated", why=why, started=_started(store.path / "trials" / id))


def _repeated(
    store: Store, again: Store, trials: Sequence[Trial], repeat: Repeat, differing: Differing
) -> dict[str, Audited]:
    """Of each trial what came out."""
    again.create("audit", {}, [trial.id for trial in trials])
    made = {trial.params: (trial, orders(trial)) for trial in trials}
    needs = {params: each.memory_bytes for params, (_, each) in made.items()}
    forecast = Forecast({params: work(trial, each) for params, (trial, each) in made.items()})
    most = max(needs.values(), default=0)
    summary = repeat(sweep.Sweep(again, tuple(trials), (), _Sample(trials), forecast, most, needs=needs))
    why = {trial.id: str(error) for trial, error in summary.failures}
    return {
        trial.id: _compared(store, again, trial, why.get(trial.id, "it did not run"), differing) for trial in trials
    }


class _Sample(TrialQueue):
    """Trials of which none depends on another: a later repetition runs without the earlier ones."""

    def has(self, trial: Trial) -> bool:
        return True


def _compared(store: Store, again: Store, trial: Trial, why: str, differing: Differing) -> Audited:
    first, second = (each.path / "trials" / trial.id for each in (store, again))
    started = _started(first)
    if not second.exists():
        return Audited(trial.id, "not repeated", why=why, started=started)
    files = differing(first, second)
    now = provenance.noted(second) or {}
    software = tuple(map(str, provenance.between(trial, first, now)))
    computer = _host(second).get("computer")
    by = computer if isinstance(computer, str) else None
    return Audited(trial.id, "different" if files else "same", files, None, software, started, by)


def _digests(store: Store, ids: Sequence[str]) -> tuple[str | None, ...]:
    """Of the software that these trials ran with, each once; None where a trial does not tell."""
    folders = (store.path / "trials" / id for id in ids)
    return tuple(dict.fromkeys(provenance.digest_of(folder) for folder in folders if folder.exists()))
