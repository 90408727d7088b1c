"""The folder of one trial: the names of its files; reads, writes, marks and compares them."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..cache_folder import user_key
from ..error import MachineError, UserError
from ..model.scenario import Trial
from ..spec.scenario.trial import trial_of
from . import record, strict_folder
from .stored_result import SCHEMA, TrialResult

RESULT, TRIAL, HOST, PROVENANCE = "result.json", "trial.json", "host.json", "provenance.json"

PARTIAL = ".partial-"

NOT_REPEATED = frozenset({HOST})
"""Files that depend on this computer and the time of the run, and so differ from run to run."""

MARK = "made_by"
"""The key of host.json with the mark of the user who made the trial."""


@contextmanager
def partial(parent: Path) -> Iterator[Path]:
    """A folder that is removed when the block ends, unless it was moved."""
    folder = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=parent)).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_result(folder: Path) -> TrialResult:
    """Raises UserError if the files cannot be read."""
    data = read_json(folder / RESULT)
    if data.get("schema") != SCHEMA:
        raise UserError(f"{folder} has a result of schema version {data.get('schema')}; allowed: {SCHEMA}")
    try:
        return record.read(TrialResult, {**data, "wall_s": read_json(folder / HOST).get("wall_s", 0.0)})
    except record.RecordError as error:
        raise UserError(
            f"{folder / RESULT} is damaged: {error}; delete the trial's folder and `testbed run` measures it again: "
            f"rm -r {folder}"
        ) from None


def read_json(path: Path) -> dict[str, Any]:
    """Raises UserError if the file cannot be read, or holds no JSON object."""
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise UserError(f"{path} cannot be read: it holds no JSON object")
    return data


def read_trial(folder: Path) -> Trial:
    """The trial of a trial's folder. Raises UserError if the folder is none."""
    if not (folder / TRIAL).exists():
        raise UserError(f"{folder} is not the folder of a trial; allowed: DIR/trials/ID")
    return trial_of(read_json(folder / TRIAL), str(folder / TRIAL))


def write_json(path: Path, value: Any) -> None:
    """Writes a file anew; a link of its name is replaced."""
    strict_folder.write(path.parent, path.name, data=f"{json.dumps(value, indent=1, ensure_ascii=False)}\n".encode())


def write_text(path: Path, text: str) -> None:
    """Replaces a file in one step, also where its name is that of a link."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")


def replace_json(path: Path, value: Any) -> None:
    """Replaces the file in one step: a reader, or a crash, sees either the old file or the new one."""
    with replacing(path) as partial:
        write_json(partial, value)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of `path`, also of a link, when the block ends without an error."""
    descriptor, name = tempfile.mkstemp(prefix=f"{PARTIAL}{path.name}-", dir=path.parent)
    os.close(descriptor)
    try:
        yield Path(name)
        os.chmod(name, 0o644)
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


def unwritable(path: Path, error: OSError) -> UserError:
    return UserError(
        f"the results folder {path} cannot be written: {error.strerror}; allowed: -o with a folder that can be written"
    )


def same_files(first: Path, second: Path) -> tuple[str, ...]:
    """The names of the files that should repeat, but differ between two trial folders."""
    names = {path.name for folder in (first, second) for path in folder.iterdir()} - NOT_REPEATED
    return tuple(name for name in sorted(names) if _bytes(first / name) != _bytes(second / name))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def put_in_place(source: Path, folder: Path, *names: str) -> None:
    """Moves a folder to where the names lead below `folder`. Raises UserError if a link is in the way."""
    os.chmod(source, 0o755)
    with strict_folder.opened(folder, *names[:-1]) as here:
        if strict_folder.is_link(names[-1], here):
            raise strict_folder.link_refused(folder.joinpath(*names))
        os.rename(source, names[-1], dst_dir_fd=here)


def mark(folder: Path) -> str:
    """Of all that says what runs in the trial; only this user, on this computer, can make it."""
    return hmac.new(user_key(), (folder / TRIAL).read_bytes(), hashlib.sha256).hexdigest()


def is_ours(folder: Path) -> bool:
    """Whether the folder has this user's mark for what it says now. One that was made by an earlier version, elsewhere,
    or before the cache folder was lost has not.
    """
    try:
        said = read_json(folder / HOST).get(MARK)
        return isinstance(said, str) and hmac.compare_digest(said.encode(), mark(folder).encode())
    except (UserError, MachineError, OSError):
        return False
