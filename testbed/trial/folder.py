"""The folder of one trial: the names of its files; reads, writes, marks and compares them."""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from ..cache_folder import user_key
from ..codec.frozen import dataclass
from ..codec.scalar import CONTROL
from ..error import MachineError, TestbedError, UserError, visible
from ..model.scenario import Trial
from ..spec.scenario.trial import trial_of
from ..spec.syntax import input_file
from . import record, strict_folder, trusted_path
from .result import SCHEMA, TrialResult
from .strict_folder import FULL

RESULT, TRIAL, HOST, PROVENANCE = "result.json", "trial.json", "host.json", "provenance.json"
SAMPLES, QUEUES = "samples.parquet", "queues.parquet"
"""Tables, of sockets and of queues over time, which `sample_table` writes and opens."""

LEVELS_MAX = 40
TOO_DEEP = f"it is too deep, with more than {LEVELS_MAX} levels of lists and objects"
SURROGATE = re.compile("[\ud800-\udfff]")

PARTIAL = ".partial-"

NOT_REPEATED = frozenset({HOST})
"""Files that depend on this computer and the time of the run, and so differ from run to run."""

MARK = "made_by"
"""The key of host.json with the mark of the user who made the trial."""


FULL_BYTES = 1 << 16
"""With less than this left, somebody's output may have been cut short."""


class DiskFull(MachineError):
    """There is no room for results; those that are finished are whole."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"disk full: {path} ({why})", f"df -h {quote(str(path))}, make room, and the same command again"
        )


def disk_full(error: Exception, path: Path) -> DiskFull | None:
    """What an error while files are written below `path` means, if it means that; else None. Programs in a guest say
    it in words, or leave files that end too early.
    """
    if isinstance(error, DiskFull):
        return error
    if isinstance(error, OSError) and error.errno in FULL:
        return DiskFull(path, os.strerror(error.errno))
    said = next((words for words in map(os.strerror, FULL) if words in str(error)), None)
    if said is None and is_full(path):
        said = os.strerror(errno.ENOSPC)
    return None if said is None else DiskFull(path, said)


def is_full(path: Path) -> bool:
    """Whether so little room is left that what was just written may not be whole."""
    about = os.statvfs(path)
    return about.f_bavail * about.f_frsize < FULL_BYTES


@contextmanager
def partial(parent: Path) -> Iterator[strict_folder.Fresh]:
    """A folder that is removed when the block ends, unless it was put somewhere."""
    with strict_folder.fresh(parent, PARTIAL) as made:
        yield made


def read_result(folder: Path) -> TrialResult:
    """Raises UserError if the files cannot be read."""
    data, host = read_json(folder / RESULT), read_host(folder)
    if data.get("schema") != SCHEMA:
        raise UserError(f"{folder} has a result of schema version {data.get('schema')}; allowed: {SCHEMA}")
    try:
        found = record.read(TrialResult, {**data, "wall_s": host.wall_s, "cpu_s": host.cpu_s})
    except record.RecordError as error:
        raise damaged(folder / RESULT, str(error)) from None
    for name in (name for pair in found.params.items() for name in pair):
        if CONTROL.search(name) is not None:
            raise damaged(folder / RESULT, f"params has a control character: {visible(name)[:200]}")
    has_name = folder.parent.name == "trials" and not folder.name.startswith(PARTIAL)
    if has_name and found.id != folder.name:
        raise damaged(folder / RESULT, f"id is {found.id!r:.200}, not the name of its folder")
    return found


@dataclass(frozen=True)
class HostNotes:
    """host.json: how long the trial took in real time, the processor time of its guest (None: it was not measured), and
    when it began, as ISO 8601; the SHA-256 of its lab kernel's program (None: no lab kernel, or not noted).
    """

    wall_s: float = 0.0
    cpu_s: float | None = None
    started: str | None = None
    kernel_program: str | None = None


def read_host(folder: Path) -> HostNotes:
    """Raises UserError if the file cannot be read."""
    try:
        return record.read(HostNotes, read_json(folder / HOST))
    except record.RecordError as error:
        raise damaged(folder / HOST, str(error)) from None


def read_provenance(folder: Path) -> dict[str, Any]:
    """What a trial ran with; empty if that was not noted. Raises UserError if the file cannot be read."""
    noted = read_json(folder / PROVENANCE) if (folder / PROVENANCE).exists() else {}
    for key in ("kernel", "versions", "software"):
        if not isinstance(noted.get(key, {}), dict | None):
            raise damaged(folder / PROVENANCE, f"{key} is {noted[key]!r:.40}, not an object")
    return noted


class Damaged(UserError):
    """A file is not as a run wrote it."""


def damaged(path: Path, why: str) -> Damaged:
    """The error of a file in a trial's folder."""
    again = f"delete the trial's folder and `testbed run` measures it again: rm -r {quote(str(path.parent))}"
    return Damaged(f"{path} is damaged: {why}; {again}")


def read_json(path: Path) -> dict[str, Any]:
    """Raises Damaged if the file holds no JSON object, or a trial has no such file; UserError if it cannot be read."""
    is_of_trial = path.parent.parent.name == "trials"
    if is_of_trial and path.parent.is_dir() and not os.path.lexists(path):
        raise damaged(path, "it is gone")
    try:
        return _object(read_text(path))
    except (ValueError, RecursionError) as error:
        why = str(error)[:200] if isinstance(error, ValueError) else TOO_DEEP
        raise damaged(path, why) if is_of_trial else Damaged(f"{path} cannot be read: {why}") from None


def _object(text: str) -> dict[str, Any]:
    """Raises ValueError or RecursionError if this is no JSON object that we would write."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("it holds no JSON object")
    _refuse_deep(data)
    if "\\u" in text and SURROGATE.search(json.dumps(data, ensure_ascii=False)):
        raise ValueError("it holds half of a surrogate pair, which is no text")
    return data


def read_text(path: Path) -> str:
    """Raises UserError if the file cannot be read, or is no text."""
    try:
        return input_file.read_text(path, input_file.RECORD_BYTES, by_link=False)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None


def _refuse_deep(data: Any) -> None:
    """Raises ValueError for more levels than calls inside calls could follow."""
    level = [data]
    for _ in range(LEVELS_MAX):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
        if not level:
            return
    raise ValueError(TOO_DEEP)


def read_trial(folder: Path) -> Trial:
    """The trial of a trial's folder. Raises UserError if the folder is none."""
    if not (folder / TRIAL).exists():
        raise UserError(f"{folder} is not the folder of a trial; allowed: DIR/trials/ID")
    return trial_of(read_json(folder / TRIAL), str(folder / TRIAL))


def write_json(path: Path, value: Any) -> None:
    """Writes a file anew; a link of its name is replaced."""
    strict_folder.write(path.parent, path.name, data=_json(value).encode())


def _json(value: Any) -> str:
    return f"{json.dumps(value, indent=1, ensure_ascii=False)}\n"


def write_text(path: Path, text: str) -> None:
    """Replaces a file in one step, also where its name is that of a link."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """The same of bytes."""
    with replacing(path) as partial:
        partial.write_bytes(data)


def write_named(path: Path, text: str | bytes) -> None:
    """Writes to a file that the user named. One that is there is replaced in one step, also where a link leads to it,
    and keeps its mode; a pipe or a device gets the text. Raises UserError for somebody else's link.
    """
    data = text.encode() if isinstance(text, str) else text
    about = path.stat() if path.exists() else None
    if about is not None and (not stat.S_ISREG(about.st_mode) or path.absolute().parts[1] in ("dev", "proc")):
        path.write_bytes(data)
        return
    place = trusted_path.named(path)
    if about is None:
        _write_new(place, data)
        return
    try:
        with strict_folder.replacing(place.parent, place.name, PARTIAL, stat.S_IMODE(about.st_mode)) as descriptor:
            if os.geteuid() == 0:
                os.fchown(descriptor, about.st_uid, about.st_gid)
            Path(f"/proc/self/fd/{descriptor}").write_bytes(data)
    except PermissionError:  # of the folder; the file itself may be ours to write
        path.write_bytes(data)


def _write_new(path: Path, data: bytes) -> None:
    """A file that there is not yet, as a whole or not at all; nothing of this name is followed or written over."""
    with path.open("xb") as file:
        try:
            file.write(data)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise


def replace_json(path: Path, value: Any) -> None:
    """Replaces the file in one step: a reader, or a crash, sees either the old file or the new one."""
    write_text(path, _json(value))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of `path`, also of a link, when the block ends without an error."""
    with strict_folder.replacing(path.parent, path.name, PARTIAL) as descriptor:
        yield Path(f"/proc/self/fd/{descriptor}")


def unwritable(path: Path, error: OSError) -> TestbedError:
    if error.errno in FULL:
        return DiskFull(path, os.strerror(error.errno))
    return UserError(
        f"the results folder {path} cannot be written: {error.strerror}; allowed: -o with a folder that can be written"
    )


def same_files(first: Path, second: Path) -> tuple[str, ...]:
    """The names of the files that should repeat, but differ between two trial folders. Raises UserError for a folder
    that has anything but ordinary files.
    """
    ones, others = (strict_folder.ordinary(folder) for folder in (first, second))
    both = {name for name in ones & others if input_file.are_same(first / name, second / name)}
    return tuple(sorted((ones | others) - both - NOT_REPEATED))


def is_summary(folder: Path) -> bool:
    """Whether there is no more of a trial than what tables of results keep of it."""
    return strict_folder.ordinary(folder) <= {RESULT, TRIAL, HOST, PROVENANCE}


def same_result(first: Path, second: Path) -> tuple[str, ...]:
    """As `same_files`, of the results alone, however they are written. Raises UserError for a damaged one."""
    return () if read_json(first / RESULT) == read_json(second / RESULT) else (RESULT,)


def mark(folder: Path) -> str:
    """Of all that says what runs in the trial; only this user, on this computer, can make it."""
    said = input_file.read(folder / TRIAL, input_file.RECORD_BYTES, by_link=False)
    return hmac.new(user_key(), said, hashlib.sha256).hexdigest()


def is_ours(folder: Path) -> bool:
    """Whether the folder has this user's mark for what it says now. One that was made by an earlier version, elsewhere,
    or before the cache folder was lost has not.
    """
    try:
        said = read_json(folder / HOST).get(MARK)
        return isinstance(said, str) and hmac.compare_digest(said.encode(), mark(folder).encode())
    except (UserError, MachineError, OSError):
        return False
