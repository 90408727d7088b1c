"""Shelves: folders of the user's cache with a folder for each thing, complete or absent. Touches its own folder.

A thing is made in a partial folder, gets a record and is renamed into place. A partial folder that a killed process
left is removed by `testbed clean`, or by the next process that locks the shelf.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..cache_folder import FIX, locked, make, open_lock
from ..codec.frozen import dataclass
from ..error import MachineError
from ..journal import folder_noted, unique

PARTIAL = ".partial"


@dataclass(frozen=True)
class Shelf:
    """`record` is the name of the JSON file that a complete thing has."""

    folder: Path
    record: str

    def things(self) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """The folder and record of each thing, the one last made or used at the end. Damaged records do not count."""
        for path in sorted(self._records(), key=lambda path: path.stat().st_mtime_ns):
            if (known := self.known(path.parent.name)) is not None:
                yield path.parent, known

    def known(self, name: str) -> Mapping[str, Any] | None:
        """The record of a thing; None if there is none, or a damaged one."""
        try:
            found = json.loads((self.folder / name / self.record).read_text())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    @contextmanager
    def partial(self) -> Iterator[Path]:
        """A folder to make a thing in, removed afterwards. Raises MachineError if the shelf cannot be written."""
        self._make()
        with folder_noted(self.folder / unique(PARTIAL)) as partial:
            yield partial

    def put(self, made: Path, name: str, about: Mapping[str, Any]) -> Path:
        """Makes a folder in a partial folder the thing of this name, in place of one that is there."""
        write(made / self.record, about)
        home = self.folder / name
        if home.exists():
            home.rename(made.parent / "replaced")
        return made.rename(home)

    def amend(self, name: str, about: Mapping[str, Any]) -> Path:
        """Gives a thing another record."""
        write(self.folder / name / self.record, about)
        return self.folder / name

    @contextmanager
    def lock(self, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Locks the shelf; calls `on_wait` once if another process holds the lock, which ends with us, however we end.
        Raises MachineError if the shelf cannot be written.
        """
        self._make()
        try:
            descriptor = open_lock(self.folder / ".lock")
        except OSError as error:
            raise self._unwritable(error) from error
        with locked(descriptor, on_wait):
            for left_behind in self.folder.glob(f"{PARTIAL}-*"):
                shutil.rmtree(left_behind, ignore_errors=True)
            yield

    def use(self, name: str) -> None:
        """Notes that a thing is used now, in a shelf that can be written."""
        with suppress(OSError):
            os.utime(self.folder / name / self.record)

    def remove_unused(self, since_s: float) -> None:
        """Removes things that were last made or used so long ago."""
        for path in self._records():
            if time.time() - path.stat().st_mtime > since_s:
                shutil.rmtree(path.parent, ignore_errors=True)

    def _records(self) -> Iterator[Path]:
        return self.folder.glob(f"[!.]*/{self.record}")

    def _make(self) -> None:
        try:
            make(self.folder)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> MachineError:
        return MachineError(f"{self.folder} cannot be written ({error.strerror})", FIX)


def write(path: Path, about: Mapping[str, Any]) -> None:
    """Writes a record, so that readers find the old one or the new one. Raises OSError."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_text(json.dumps(about, indent=2) + "\n")
    fresh.replace(path)
