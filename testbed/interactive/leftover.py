"""Finds what killed commands left behind, by the journal, and removes it. Removes what the journal names, nothing else.

A new kind of thing that can outlast us needs a line in KINDS, and an entry in the journal before it exists.
"""

from __future__ import annotations

import errno
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from .. import journal
from ..codec.frozen import dataclass
from ..error import UserError
from ..journal import RUN, Entry
from ..kernel import nic
from ..trial.strict_folder import remove_tree
from .running_network import KIND as NETWORK
from .running_network import Process


@dataclass(frozen=True)
class Leftover:
    """One thing that should not exist any more, in words, and how to remove it; or why it must not be removed."""

    what: str
    remove: Callable[[], object]
    stays: str | None = None


@contextmanager
def leftovers() -> Iterator[list[tuple[Entry | None, list[Leftover]]]]:
    """What nobody keeps any more, entry by entry; until the block ends nobody else removes it. An entry with nothing to
    remove may be forgotten. Unfinished entries come last, without an entry.
    """
    with journal.orphans() as found:
        torn = [Leftover(f"unfinished entry {path}", path.unlink) for path in journal.abandoned_files()]
        known = [entry for entry in found if entry.kind in KINDS]
        yield [*((entry, list(KINDS[entry.kind](entry))) for entry in known), *([(None, torn)] if torn else [])]


def _network(entry: Entry) -> Iterator[Leftover]:
    """The guest ends with its keeper; if it did not, its number and its start time identify it."""
    folder = Path(entry.about["folder"])
    try:
        guest = Process(**json.loads((folder / "guest.json").read_text()))
    except (OSError, ValueError, TypeError, RecursionError):
        guest = None
    if guest is not None and journal.not_ours(folder, entry) is None and guest.runs:
        yield Leftover(f"process {guest.pid} of network {entry.name}", lambda: guest.kill(signal.SIGKILL))
    yield from _folder(entry)


def _nic(entry: Entry) -> Iterator[Leftover]:
    left = nic.left(entry.about)
    if left is not None:
        wanted, before = left
        if nic.is_left(wanted, before):
            what = f"attachment of NIC {wanted.nic} to {entry.about['owner']}"
            yield Leftover(what, lambda: nic.give_back(wanted, before))


def _run(entry: Entry) -> Iterator[Leftover]:
    """Half-written files in a folder that this user's runs locked. If another run uses it, that deals with them."""
    from ..sweep.store import LOCK, Store  # imports all that reads results: only where there was a run

    store = Store(Path(entry.about["folder"]))
    try:
        is_ours = (store.path / LOCK).lstat().st_uid == os.geteuid()
        left = store.partials() if is_ours and not store.is_in_use else []
    except (OSError, UserError):
        return
    for path in left:
        yield Leftover(f"half-written {path}", partial(store.discard, path))


def _folder(entry: Entry) -> Iterator[Leftover]:
    folder = Path(entry.about["folder"])
    if os.path.lexists(folder):
        of = f" of network {entry.name}" if entry.kind == NETWORK else ""
        stays = journal.not_ours(folder, entry)
        yield Leftover(f"folder {folder}{of}", partial(_remove, folder), stays)


def _remove(folder: Path) -> None:
    remove_tree(folder)
    if os.path.lexists(folder):
        raise OSError(errno.ENOTEMPTY, "it could not be removed", str(folder))


KINDS: Mapping[str, Callable[[Entry], Iterator[Leftover]]] = {
    nic.KIND: _nic,
    NETWORK: _network,
    RUN: _run,
    journal.FOLDER: _folder,
}
