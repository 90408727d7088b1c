"""Commands that write into a folder of somebody else's: no link in it is followed, whatever its owner put there."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from storedruns import Made, write_run

from testbed.commands.computer import machines
from testbed.commands.teach import exercise as command
from testbed.error import TestbedError, UserError
from testbed.exercise import work_folder
from testbed.exercise.file import HANDOUT
from testbed.report.figure import draw
from testbed.report.stored_run import read
from testbed.trial import folder, trusted_path

NOBODY = 65534
EXERCISE = "learning-switch"
root = pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")


@pytest.fixture
def private(tmp_path: Path) -> Path:
    (tmp_path / "private").mkdir()
    (tmp_path / "private/thesis").write_text("mine")
    return tmp_path / "private"


def begun(where: Path) -> Path:
    work_folder.start(work_folder.find(EXERCISE), where)
    return where


def hint(where: Path) -> None:
    work_folder.next_hint(work_folder.opened(where))


def reset(where: Path) -> None:
    work_folder.reset(work_folder.opened(where))


USES: dict[str, Callable[[Path], object]] = {
    "start": begun,
    "start --force": lambda where: work_folder.start(work_folder.find(EXERCISE), where, force=True),
    "hint": hint,
    "reset": reset,
    "solution": lambda where: command.solution(EXERCISE, where),
}


@pytest.mark.parametrize("is_there", [True, False], ids=["a file", "nothing"])
@pytest.mark.parametrize("use", USES)
def test_an_exercise_writes_through_no_link_of_its_folder(
    use: str, is_there: bool, private: Path, tmp_path: Path
) -> None:
    names = (work_folder.STATE, HANDOUT, *work_folder.find(EXERCISE).file.files)
    state = (begun(tmp_path / "begun") / work_folder.STATE).read_bytes()
    target = private / ("thesis" if is_there else "new")
    for number, name in enumerate(names):
        where = tmp_path / f"work-{number}"
        where.mkdir()
        if name != work_folder.STATE:
            (where / work_folder.STATE).write_bytes(state)
        elif is_there and use in ("hint", "reset"):
            target.write_bytes(state)  # so that it would be read, and written over
        (where / name).symlink_to(target)
        before = {path: path.read_bytes() for path in private.iterdir()}
        with contextlib.suppress(UserError):
            USES[use](where)
        assert {path: path.read_bytes() for path in private.iterdir()} == before, name


def test_a_folder_that_is_none_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("mine")
    for use in ("start", "solution"):
        with pytest.raises(UserError, match="cannot be written: Not a directory"):
            USES[use](tmp_path / "work")


def test_a_file_that_vanishes_while_it_is_put_aside_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with pytest.raises(UserError, match="cannot be written: No such file"):
        work_folder.put_aside(tmp_path / "work", ["gone"])


@root
def test_an_exercise_follows_no_link_of_somebody_else_to_its_folder(private: Path, tmp_path: Path) -> None:
    (tmp_path / "work").symlink_to(private)
    os.lchown(tmp_path / "work", NOBODY, NOBODY)
    for use in (begun, USES["solution"]):
        with pytest.raises(UserError, match="is a symbolic link of the user"):
            use(tmp_path / "work")
    assert [path.name for path in private.iterdir()] == ["thesis"]


def test_a_folder_of_an_exercise_that_is_new_is_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        begun(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "a" / "b" / HANDOUT).stat().st_mode & 0o777 == 0o644


def test_a_figure_replaces_a_link_in_the_folder_of_a_run(private: Path, tmp_path: Path) -> None:
    made = [Made({"path.rtt": f"{rtt} ms"}, [rtt * 1e6]) for rtt in (10, 20)]
    run = write_run(tmp_path / "run", made)
    for target in ("thesis", "new"):
        name = run / "profile.png"
        name.unlink(missing_ok=True)
        name.symlink_to(private / target)
        draw("profile", read(run), name, write=folder.write_bytes)
        assert not name.is_symlink()
        assert name.read_bytes().startswith(b"\x89PNG")
    assert [path.read_text() for path in private.iterdir()] == ["mine"]


@root
@pytest.mark.parametrize("target", ["thesis", "new"])
def test_a_file_that_one_names_is_not_written_through_a_link_of_somebody_else(
    target: str, private: Path, tmp_path: Path
) -> None:
    (tmp_path / "figure.png").symlink_to(private / target)
    os.lchown(tmp_path / "figure.png", NOBODY, NOBODY)
    with pytest.raises(UserError, match="is a symbolic link of the user"):
        folder.write_named(tmp_path / "figure.png", b"x")
    assert [path.read_text() for path in private.iterdir()] == ["mine"]


def test_a_new_file_that_one_names_may_be_where_a_link_of_ones_own_leads(private: Path, tmp_path: Path) -> None:
    (tmp_path / "figure.png").symlink_to(private / "new")
    folder.write_named(tmp_path / "figure.png", b"x")
    assert (private / "new").read_bytes() == b"x"


def test_a_new_file_for_which_there_is_no_room_is_not_there(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)  # Python ignores SIGXFSZ
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            folder.write_named(tmp_path / "page.html", b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


@root
def test_facts_of_machines_are_not_written_into_a_folder_that_somebody_else_owns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Path] = []
    monkeypatch.setattr(machines, "_topologies", lambda *given: None)
    monkeypatch.setattr(machines, "_play", lambda name, topology, output, **more: played.append(output))
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    monkeypatch.delenv("SUDO_UID", raising=False)
    with pytest.raises(TestbedError, match="who could exchange what is in it"):
        machines.collect(Path("net.yaml"), theirs)
    assert played == []
    machines.collect(Path("net.yaml"), tmp_path / "ours")
    assert played == [tmp_path / "ours"]


def test_nothing_on_the_way_is_made_twice(tmp_path: Path) -> None:
    for _ in range(2):
        os.close(trusted_path.open_made(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()
