"""A damaged results folder gives a clear error that names the file, or is read; never a traceback, never a wait."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from types import FrameType
from typing import NoReturn

import pytest
from comparing import said_by
from damage import Damage, every

EXAMPLE = Path(__file__).parents[1] / "results" / "example"
READING = (
    ("results", "DIR"),
    ("results", "DIR", "--format", "json"),
    ("results", "DIR", "--format", "csv", "--metric", "rtt-p95"),
    ("results", "DIR", "--format", "profile"),
    ("compare", "DIR", "EXAMPLE"),
    ("compare", "EXAMPLE", "DIR", "--format", "junit"),
    ("compare", "DIR", "PROFILE"),
    ("report", "DIR", "-o", "OUT/report.html"),
    ("plot", "DIR", "profile", "-o", "OUT/profile.png"),
    ("query", "DIR", "FROM samples LIMIT 3"),
    ("doctor", "--same-as", "DIR"),
)
PROFILE = Path(__file__).with_name("data") / "example-profile.yaml"
"""`testbed results results/example --format profile`."""
WAIT_S = 300


def _waited(number: int, frame: FrameType | None) -> NoReturn:
    raise AssertionError("this waits")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged") / "run"
    shutil.copytree(EXAMPLE, folder)
    return folder


def say(words: tuple[str, ...], folder: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a command in this process, and its errors; raises what a user would see as a traceback."""
    names = {"DIR": str(folder), "EXAMPLE": str(EXAMPLE), "PROFILE": str(PROFILE)}
    words = tuple(names.get(word, word.replace("OUT", str(out))) for word in words)
    code, _, err = said_by(capsys, *words)
    return code, err


def check(damage: Damage, folder: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is wrong with how commands read a folder with this damage."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(EXAMPLE, folder)
    damage.do(folder / damage.file)
    wrong = []
    for words in READING:
        before = signal.signal(signal.SIGALRM, _waited)
        signal.alarm(WAIT_S)
        try:
            code, err = say(words, folder, out, capsys)
            if code == 2 and str(folder) not in err:
                wrong.append(f"{damage.name}: {' '.join(words)}: the error names no file: {err[:200]}")
        except Exception as error:
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            at = "" if place is None else f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
            wrong.append(f"{damage.name}: {' '.join(words)}: {type(error).__name__} {str(error)[:100]} at {at}")
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
    return wrong


ALL = every(EXAMPLE)
SAMPLE, NIGHTLY = 24, 400


@pytest.mark.parametrize("damage", ALL[:SAMPLE], ids=lambda damage: damage.name.encode("ascii", "replace").decode())
def test_damage_is_named_or_read(damage: Damage, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """49 of 255 damaged folders gave tracebacks, at 41 places."""
    assert check(damage, run, tmp_path, capsys) == []


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(SAMPLE, NIGHTLY, 20))
def test_more_damage_is_named_or_read(
    start: int, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [check(damage, run, tmp_path, capsys) for damage in ALL[start : start + 20]]
    assert [each for one in found for each in one] == []
