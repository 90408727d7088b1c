"""The folder in which a student works on an exercise, and where exercises are found. Reads and writes files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from ..codec.frozen import dataclass
from ..error import UserError, did_you_mean
from ..library import EXERCISES
from ..spec.syntax import input_file
from ..spec.syntax.document import Position, mapping, parse
from ..trial import strict_folder, trusted_path
from .file import EXERCISE, HANDOUT, SOLUTION, STARTER, WRONG, Exercise, load

STATE = ".exercise.json"
FOR_TEACHERS = ("mistakes", "wrong")
"""Keys of exercise.yaml."""
ANSWERS = ("is", "within")
"""Keys of an answer that say what is right."""
QUOTED = r"""\"(?:\\.|[^\"\\])*\"|'[^']*'"""
IN_BRACKETS = re.compile(rf"\b(answer *: *\{{)((?:{QUOTED}|[^{{}}\"'])*)\}}")
PART = re.compile(rf"(?:{QUOTED}|[^,\"'])+")
"""An answer, and its keys with their values."""
OPENS, RIGHT = re.compile(r"( *(?:- +)?)answer *:\s*$"), re.compile(rf" +(?:{'|'.join(ANSWERS)}) *:")
"""A line that an answer begins below, and a line of what is right."""
BACKUP = "before-%Y-%m-%d-%H%M%S"


@dataclass(frozen=True)
class WorkFolder:
    """A folder of a student: its exercise, and how many hints were opened."""

    path: Path
    exercise: Exercise
    hints: int


def names() -> list[str]:
    """The exercises that come with the testbed."""
    return sorted(path.parent.name for path in EXERCISES.glob(f"*/{EXERCISE}"))


def find(written: str) -> Exercise:
    """An exercise by its name, or else its folder (./NAME if one of ours has that name). Raises UserError if there is
    none, SpecError if it is no good.
    """
    if written in names():  # also where a submission has that name, and an exercise.yaml of its own
        return load(EXERCISES / written)
    if (Path(written) / EXERCISE).is_file():
        return load(Path(written))
    meant = did_you_mean(written, names())
    raise UserError(
        f"there is no exercise {written!r}{meant}; allowed: testbed exercise list, or a folder with {EXERCISE}"
    )


def opened(folder: Path) -> WorkFolder:
    """Raises UserError for a folder in which no exercise was started."""
    try:
        data = _state(folder)
        name, hints = str(data["exercise"]), int(data["hints"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise UserError(f"no exercise was started in {folder}; allowed: testbed exercise start NAME") from None
    return WorkFolder(folder, find(name), hints)


def start(exercise: Exercise, folder: Path, *, force: bool = False) -> list[str]:
    """Copies what the student gets; the names. Raises UserError if a file would be overwritten and not `force`, which
    puts the student's files aside.
    """
    files = _files(exercise)
    there = [name for name in files if (folder / name).exists() or (folder / name).is_symlink()]
    if there and not force:
        what = f"{folder} has {', '.join(there[:3])}{' …' if len(there) > 3 else ''} already"
        raise UserError(f"{what}; allowed: another folder, testbed exercise reset, or --force, which puts them aside")
    if there:
        put_aside(folder, there)
    put(folder, {name: source.read_bytes() for name, source in files.items()})
    is_ours = exercise.folder.resolve().parent == EXERCISES.resolve()
    note(folder, exercise.name if is_ours else str(exercise.folder.resolve()), 0)
    return list(files)


def reset(work: WorkFolder) -> Path | None:
    """Puts the starters, and what is given, in place again; the folder with what was there (None: it was the same)."""
    files = _files(work.exercise)
    changed = [name for name, source in files.items() if not _same(work.path / name, source)]
    there = [name for name in changed if (work.path / name).exists() or (work.path / name).is_symlink()]
    kept = put_aside(work.path, there) if there else None
    put(work.path, {name: files[name].read_bytes() for name in changed})
    return kept


def put_aside(folder: Path, names: list[str]) -> Path:
    """Moves files into a new folder below; the folder."""
    base = datetime.now().strftime(BACKUP)
    paths = (folder / (base if not number else f"{base}-{number}") for number in range(1000))
    kept = next(path for path in paths if not path.exists())
    with _writing(folder), strict_folder.opened(folder) as here:
        os.mkdir(kept.name, dir_fd=here)
        with strict_folder.opened(folder, kept.name) as there:
            for name in names:
                os.rename(name, name, src_dir_fd=here, dst_dir_fd=there)
    return kept


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files into a folder, which is made if it is missing. The folder may be another user's: no link in it is
    followed. Raises UserError for a folder that cannot be written, or to which somebody else's link leads.
    """
    with _writing(folder):
        os.close(trusted_path.open_made(folder))
        for name, data in files.items():
            strict_folder.write(folder, name, data=data)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror}; allowed: another folder") from None


def next_hint(work: WorkFolder) -> str | None:
    """The next hint, which counts as opened; None if there is no other."""
    hints = work.exercise.file.hints
    if work.hints >= len(hints):
        return None
    note(work.path, _named(work), work.hints + 1)
    return hints[work.hints].strip()


def solution(exercise: Exercise) -> dict[str, str]:
    """The reference solution, by the names of its files."""
    folder = exercise.folder / SOLUTION
    return {name: input_file.read_text(folder / name, input_file.SPEC_BYTES) for name in exercise.file.files}


def whole(exercise: Exercise) -> Exercise:
    """The exercise, if it has its solution. Raises UserError for the copy that students get."""
    if exercise.is_for_students:
        raise UserError(
            f"solutions are for teachers, and {exercise.name} has none here; allowed: the folder of the exercise in "
            f"the testbed's source, or your own: testbed exercise solution …/exercises/{exercise.name}"
        )
    return exercise


def publish(exercise: Exercise, folder: Path) -> list[str]:
    """Copies an exercise without what is for the teacher; the names. Raises UserError if the folder is there, if
    exercise.yaml is written so that what is for the teacher cannot be left out, or for a file that is private.
    """
    if os.path.lexists(folder):
        raise UserError(f"{folder} exists; allowed: a new folder")
    text = input_file.read_text(exercise.folder / EXERCISE, input_file.SPEC_BYTES)
    files: dict[str, bytes] = {EXERCISE: _for_students(text, exercise.folder / EXERCISE).encode()}
    for path in sorted(exercise.folder.rglob("*")):
        name = path.relative_to(exercise.folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and name.parts[0] not in (EXERCISE, SOLUTION, WRONG) and not hidden:
            _refuse_private(path, exercise.folder / EXERCISE)
            files[name.as_posix()] = path.read_bytes()
    for below in sorted({Path(name).parent for name in files}):
        put(folder / below, {Path(name).name: data for name, data in files.items() if Path(name).parent == below})
    load(folder)
    return list(files)


def _refuse_private(path: Path, beside: Path) -> None:
    """Raises UserError for a file that only its owner can read where others can read exercise.yaml: `--secret` wants a
    secret to be such a file.
    """
    if beside.stat().st_mode & 0o044 and not path.stat().st_mode & 0o044:
        raise UserError(f"{path}: others cannot read it, so it is not published; allowed: chmod a+r, or another folder")


def _for_students(text: str, path: Path) -> str:
    """exercise.yaml without what is for the teacher. YAML has more forms than `_without` and `_unanswered` know: what
    they left is compared with what the file says. Raises UserError.
    """
    kept = _unanswered(_without(FOR_TEACHERS, text))
    whole = mapping(parse(text, Position(os.fspath(path), 1)).data)
    wanted = {key: whole[key] for key in whole if key not in FOR_TEACHERS}
    wanted["expect"] = [_without_answer(rule) for rule in wanted["expect"]]
    with suppress(UserError):  # of what is no YAML any more
        if parse(kept, Position("", 1)).data == wanted:
            return kept
    raise UserError(
        f"{path}: {', '.join(FOR_TEACHERS)} and answers cannot be left out as they are written; allowed: each "
        "key of the file at the beginning of a line (mistakes: …), with lines that are indented below it; "
        "answer: {key: …, is: …}, or its keys in lines that are indented below it"
    )


def _without_answer(rule: Mapping[str, Any]) -> dict[str, Any]:
    answer = mapping(rule.get("answer"))
    left = {key: value for key, value in answer.items() if key not in ANSWERS}
    return {key: left if key == "answer" else value for key, value in rule.items()}


def _unanswered(text: str) -> str:
    """The text of exercise.yaml without what answers are, in brackets or in lines of their own."""
    kept: list[str] = []
    answer = right = -1  # where the key of an answer begins, and what is right; -1 outside them
    for line in IN_BRACKETS.sub(_cut, text).splitlines(keepends=True):
        column = len(line) - len(line.lstrip(" ")) if line.strip() else 1 << 30
        answer, right = (answer if column > answer else -1), (right if column > right else -1)
        if answer >= 0 > right and RIGHT.match(line):
            right = column
        if right < 0:
            kept.append(line)
        if (opens := OPENS.match(line)) is not None:
            answer = len(opens[1])
    return "".join(kept)


def _cut(found: re.Match[str]) -> str:
    parts = [each for each in PART.findall(found[2]) if each.partition(":")[0].strip("\"' \r\n") not in ANSWERS]
    return f"{found[1]}{','.join(parts).lstrip()}}}"


def _without(keys: tuple[str, ...], text: str) -> str:
    """The text of a YAML file without some of its first keys, with all that is below them."""
    kept, is_left_out = [], False
    for line in text.splitlines(keepends=True):
        if line[:1] not in (" ", "#", "\n", "-"):
            is_left_out = line.partition(":")[0].strip("\"'") in keys
        if not is_left_out:
            kept.append(line)
    return "".join(kept)


def note(folder: Path, exercise: str, hints: int) -> None:
    """Writes which exercise a folder is for."""
    put(folder, {STATE: (json.dumps({"exercise": exercise, "hints": hints}) + "\n").encode()})


def _named(work: WorkFolder) -> str:
    return str(_state(work.path)["exercise"])


def _state(folder: Path) -> Any:
    return json.loads(input_file.read_text(folder / STATE, input_file.SPEC_BYTES, by_link=False))


def _files(exercise: Exercise) -> dict[str, Path]:
    """What the student gets, by name."""
    starters = {name: exercise.folder / STARTER / name for name in exercise.file.files}
    given = {name: exercise.folder / name for name in exercise.given}
    handout = {HANDOUT: exercise.folder / HANDOUT}
    return {name: path for name, path in (handout | starters | given).items() if path.is_file()}


def _same(path: Path, source: Path) -> bool:
    try:
        return not path.is_symlink() and path.read_bytes() == source.read_bytes()
    except OSError:
        return False
