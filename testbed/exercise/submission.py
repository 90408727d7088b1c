"""A submission: the files that an exercise names, out of a folder that anybody may have filled. Reads those files.

Nothing else of the folder is looked at, no link is followed, and no file may be larger than the exercise says.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..codec.frozen import dataclass
from ..error import UserError
from ..spec.syntax import input_file
from ..spec.syntax.document import Position, mapping, parse
from .file import SOLUTION, STARTER, WRONG, Exercise

YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class Submission:
    """The files that are there, and why others are not."""

    name: str
    files: Mapping[str, bytes]
    problems: tuple[str, ...]

    def text(self, name: str) -> str:
        """A file as text; what is no UTF-8 is replaced."""
        return input_file.decoded(self.files[name], errors="replace")


def read(exercise: Exercise, folder: Path, name: str | None = None) -> Submission:
    """Raises UserError if the folder is none."""
    if folder.is_symlink() or not folder.is_dir():
        raise UserError(f"{folder} is no folder; allowed: a folder with {', '.join(exercise.file.files)}")
    found: dict[str, bytes] = {}
    problems: list[str] = []
    for wanted, about in exercise.file.files.items():
        try:
            found[wanted] = _read(folder / wanted, about.bytes)
        except OSError as error:
            why = "it is missing" if error.errno == errno.ENOENT else (error.strerror or str(error))
            problems.append(f"{wanted}: {why}")
    return checked(exercise, name or folder.resolve().name, found, problems)


def of_solution(exercise: Exercise) -> Submission:
    """What the exercise says is right."""
    return read(exercise, exercise.folder / SOLUTION, SOLUTION)


def of_starter(exercise: Exercise) -> Submission:
    """What the student begins with."""
    return read(exercise, exercise.folder / STARTER, STARTER)


def of_wrong(exercise: Exercise, name: str) -> Submission:
    """A wrong submission: the solution, but for the files that it has itself."""
    folder = exercise.folder / WRONG / name
    own = {each: (folder / each).read_bytes() for each in exercise.file.files if (folder / each).is_file()}
    return checked(exercise, name, {**of_solution(exercise).files, **own}, [])


def checked(exercise: Exercise, name: str, files: Mapping[str, bytes], problems: list[str]) -> Submission:
    """With what is wrong with the files themselves."""
    more: list[str] = []
    for each, about in exercise.file.files.items():
        if each in files and each.endswith(YAML):
            more += _elsewhere(each, files[each])
        if about.may_change and each in files:
            starter = input_file.read_text(exercise.folder / STARTER / each, input_file.SPEC_BYTES)
            more += _changed(each, starter, files[each], about.may_change)
    return Submission(name, files, (*problems, *more))


def _read(path: Path, most_bytes: int) -> bytes:
    size = os.lstat(path).st_size
    if size > most_bytes:
        raise OSError(errno.EFBIG, f"it has {size} bytes; allowed: up to {most_bytes}")
    return input_file.read(path, most_bytes, by_link=False)


def _elsewhere(name: str, text: bytes) -> list[str]:
    """Values that name files beyond the folder: whoever reads a topology or a scenario would read them, too."""
    try:
        data = parse(input_file.decoded(text), Position(name, 1)).data
    except (UserError, UnicodeDecodeError):
        return []  # whoever needs the file says so
    found = [each for each in _texts(data) if each.startswith(("/", "~")) or ".." in each.split("/")]
    return [f"{name}: {found[0]!r} is the name of a file elsewhere; allowed: files beside it"] if found else []


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data.strip()
    for each in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _texts(each)


def _changed(name: str, starter: str, text: bytes, allowed: Sequence[str]) -> list[str]:
    """The keys that differ from the starter's and may not."""
    try:
        given = parse(input_file.decoded(text), Position(name, 1)).data
    except (UserError, UnicodeDecodeError) as error:
        return [str(error) if isinstance(error, UserError) else f"{name}: it is {input_file.no_text(text)}"]
    before, after = _leaves(parse(starter, Position(name, 1)).data), _leaves(given)
    keys = [key for key in dict.fromkeys((*before, *after)) if before.get(key) != after.get(key)]
    refused = [key for key in keys if not any(_under(key, pattern) for pattern in allowed)]
    if not refused:
        return []
    return [f"{name}: {refused[0]} is changed; allowed: changes of {', '.join(allowed)}"]


def _under(key: str, pattern: str) -> bool:
    """Whether a key, a.b.c, is one of those of the pattern, or below it."""
    parts, wanted = key.split("."), pattern.split(".")
    return len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))


def _leaves(data: Any, at: str = "") -> dict[str, Any]:
    """All that is no mapping, by its keys; an empty mapping is a leaf."""
    if not mapping(data):
        return {at: data}
    return {
        path: leaf
        for key, value in data.items()
        for path, leaf in _leaves(value, f"{at}.{key}" if at else str(key)).items()
    }
