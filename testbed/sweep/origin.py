"""The origin of a run's trials: the computers they ran on, told apart by their software, and how each differs from this
one. Reads files of trials' folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..codec.frozen import dataclass
from ..error import UserError
from ..spec.syntax import input_file
from ..trial import provenance
from ..trial.folder import HOST, PROVENANCE, TRIAL, read_json, read_trial
from ..trial.provenance import Difference
from ..trial.result import TrialResult
from ..trial.software import Parts
from .store import Store

NAMELESS = "a computer without a name"


@dataclass(frozen=True)
class Origin:
    """Trials that ran with the same software; `parts` is empty if it was not noted."""

    folders: tuple[Path, ...]
    parts: Parts

    def differences(self) -> tuple[Difference, ...]:
        """Between this computer and theirs. Raises UserError if their specification cannot be read."""
        first = self.folders[0]
        return provenance.differences(read_trial(first), first)


def origins(folders: Sequence[Path]) -> tuple[Origin, ...]:
    """Of these trials, those of the first one first."""
    alike: dict[bytes | None, list[Path]] = {}
    for folder in folders:
        file = folder / PROVENANCE
        alike.setdefault(_bytes(file), []).append(folder)
    return tuple(Origin(tuple(each), provenance.parts_of(provenance.noted(each[0]) or {})) for each in alike.values())


def _bytes(file: Path) -> bytes | None:
    """None if it cannot be read, which is as if nothing was noted."""
    try:
        return input_file.read(file, input_file.RECORD_BYTES)
    except OSError:
        return None


def computer(folder: Path) -> str:
    """The name of the computer that a trial ran on, as far as its folder tells."""
    try:
        return str(read_json(folder / HOST).get("computer") or NAMELESS)
    except UserError:
        return NAMELESS


def mixed(store: Store, results: Iterable[TrialResult]) -> tuple[str, ...]:
    """What to say if those in real time, whose numbers depend on their computers, did not all run on the same ones, or
    under the same kernels there.
    """
    told: dict[str, dict[str, None]] = {}
    for each in results:
        if not each.is_virtual_time:
            name = computer(store.path / "trials" / each.id)
            told.setdefault("they", {})[f"{name} (Linux {each.kernel_release})"] = None
            for node, about in each.machines.items():
                told.setdefault(f"their {node}", {})[f"{about.host} (Linux {about.release})"] = None
    why = "trials in real time depend on their computers"
    return tuple(f"{why}, and {who} ran on {', '.join(names)}" for who, names in told.items() if len(names) > 1)


def finished(folder: Path) -> tuple[Path, ...]:
    """The folders of the finished trials of a run, or the folder of one trial. Raises UserError if it is neither, or
    nothing is finished.
    """
    if (folder / TRIAL).exists():
        return (folder,)
    store = Store(folder).open()
    found = tuple(each for id in store.ids if (each := folder / "trials" / id).exists())
    if not found:
        raise UserError(f"{folder} has no finished trial; allowed: a run, or a trial, that was measured")
    return found
