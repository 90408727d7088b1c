"""The spool of a computer with workers: finished results that nobody has fetched yet, so that the client of a run can
go away and come back. Touches its own folder in the user's cache; all workers of a user on a computer share it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ...cache_folder import make, private
from ...codec.frozen import dataclass
from ...kernel.parcel import Parcel
from ...trial.folder import replacing

MOST_BYTES = 4 << 30
MOST_RESULTS = 5000
"""Of the results on one computer. The oldest make room for new ones; what is gone is measured again."""

NAME = re.compile(r"([0-9a-f]{64})\.([0-9a-f]{64})")


@dataclass(frozen=True)
class Spool:
    """`folder` need not exist. Its files are called KEY.DIGEST: the key of the trial, the digest of the content."""

    folder: Path
    most_bytes: int = MOST_BYTES
    most_results: int = MOST_RESULTS

    def keep(self, key: str, parcel: Parcel) -> None:
        """Raises OSError if it cannot be written."""
        make(self.folder)
        with replacing(self.folder / f"{key}.{parcel.digest}") as partial:
            partial.write_bytes(parcel.data)
        self._make_room()

    def held(self) -> tuple[str, ...]:
        """The keys whose results are here."""
        return tuple(sorted({key for key, _, _ in self._files()}))

    def fetch(self, key: str) -> Parcel | None:
        """None if it is not here any more."""
        for _, digest, path in (each for each in self._files() if each[0] == key):
            try:
                return Parcel(path.read_bytes(), digest)
            except FileNotFoundError:  # another worker of this computer dropped it
                continue
        return None

    def drop(self, keys: Iterable[str]) -> None:
        wanted = frozenset(keys)
        for key, _, path in self._files():
            if key in wanted:
                path.unlink(missing_ok=True)

    def _files(self) -> list[tuple[str, str, Path]]:
        names = os.listdir(self.folder) if self.folder.is_dir() else []
        return [(found[1], found[2], self.folder / name) for name in names if (found := NAME.fullmatch(name))]

    def _make_room(self) -> None:
        sizes = []
        for _, _, path in self._files():
            try:
                about = path.stat()
            except FileNotFoundError:
                continue
            sizes.append((about.st_mtime_ns, about.st_size, path))
        count, size = len(sizes), sum(size for _, size, _ in sizes)
        for _, each, path in sorted(sizes):
            if count <= self.most_results and size <= self.most_bytes:
                break
            path.unlink(missing_ok=True)
            count, size = count - 1, size - each


def spool() -> Spool:
    """Of this user on this computer."""
    return Spool(private("cluster-results"))
