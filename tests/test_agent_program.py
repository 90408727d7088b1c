"""The agent starts programs, and reads and writes JSON, as `subprocess` and `json` do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from testbed.agent import program, step
from testbed.kernel.native_program import AGENT

LONG = b"0123456789abcdef" * 65536
"""More than a pipe holds."""


def by_subprocess(words: list[str], text: bytes) -> tuple[int, bytes, bytes]:
    done = subprocess.run(words, input=text, capture_output=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("text", [b"", b"a", LONG], ids=["nothing", "a letter", "much"])
@pytest.mark.parametrize("limit_s", [None, 60.0])
@pytest.mark.parametrize(
    "script",
    [
        "cat",
        "cat; echo b >&2; exit 3",
        "cat >&2",
        "true",
        "exec <&- >&- 2>&-; sleep 0.1; exit 4",
        "kill -9 $$",
        "head -c 3000000 /dev/zero; cat",
        "grep -E 'SigBlk|SigCgt' /proc/self/status",
    ],
)
def test_a_program_does_what_it_does_otherwise(script: str, limit_s: float | None, text: bytes) -> None:
    words = ["sh", "-c", script]
    before = os.listdir("/proc/self/fd")
    assert program.run(words, text, None, None, limit_s) == by_subprocess(words, text)
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize("limit_s", [None, 60.0])
def test_what_goes_to_a_descriptor_is_not_returned(limit_s: float | None, tmp_path: Path) -> None:
    out, err = (os.open(tmp_path / name, os.O_WRONLY | os.O_CREAT) for name in ("out", "err"))
    words = ["sh", "-c", "cat; echo b >&2"]
    assert program.run(words, b"a", out, None, limit_s) == (0, b"", b"b\n")
    assert program.run(words, b"a", None, err, limit_s) == (0, b"a", b"")
    assert program.run(words, b"a", out, err, limit_s) == (0, b"", b"")
    assert (tmp_path / "out").read_text() == "aa"
    assert (tmp_path / "err").read_text() == "b\nb\n"
    for each in (out, err):
        os.close(each)


@pytest.mark.parametrize("script", ["exec sleep 1000", "exec >&- 2>&-; exec sleep 1000", "echo a; exec sleep 1000"])
def test_a_program_that_takes_too_long_is_killed(script: str) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises(program.LateError):
        program.run(["sh", "-c", script], LONG, None, None, 0.2)
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize("word", ["no-such-program", "/etc/passwd", "/"])
def test_what_cannot_be_started_says_why(word: str) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises((FileNotFoundError, PermissionError)) as otherwise:
        subprocess.run([word])
    with pytest.raises(type(otherwise.value)) as found:
        program.run([word], b"", None, None, None)
    assert str(found.value) == str(otherwise.value)
    assert os.listdir("/proc/self/fd") == before


def test_a_program_in_the_background(tmp_path: Path) -> None:
    out = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    started = program.start(["sh", "-c", "cat; echo a; echo b >&2; exec sleep 1000"], out, out)
    while (tmp_path / "out").read_text() != "a\nb\n":
        assert started.poll() is None
        time.sleep(0.01)
    started.send_signal(program.SIGTERM)
    assert started.wait() == started.poll() == -signal.SIGTERM
    started.kill()  # of a program that has ended: nothing
    again = program.start(["sleep", "1000"], out, out)
    again.kill()
    assert again.wait() == -signal.SIGKILL
    os.close(out)


def test_programs_get_no_descriptor_that_the_agent_was_started_with() -> None:
    ends = os.pipe()
    for end in ends:
        os.set_inheritable(end, True)
    ask = "import os, sys; sys.path.insert(0, sys.argv[1]); from agent import syscall; syscall.keep_descriptors(); "
    ask += "print([os.get_inheritable(int(each)) for each in (0, 1, 2, *sys.argv[2:])])"
    words = [sys.executable, "-ISB", "-c", ask, str(AGENT.parent), *map(str, ends)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, pass_fds=ends)
    assert done.stdout.strip() == "[True, True, True, False, False]"
    for end in ends:
        os.close(end)


def test_signals_have_their_numbers() -> None:
    for name in ("SIGKILL", "SIGPIPE", "SIGTERM", "SIGXFSZ"):
        assert getattr(program, name) == getattr(signal, name)


@pytest.mark.parametrize(
    "value",
    [
        *("", "a", 'ü\u2028\U0001f600"\\/\x00\x1f\x7f\t\ud800', 0, -1, 10**30, 0.1, -1e-9, 1e22, True, False, None),
        *([], {}, [1, [2, {}], "3"], {"a": {"b": [None, True]}, "c": 1.5, "": []}),
    ],
)
def test_json_is_what_it_is_otherwise(value: Any) -> None:
    assert step.text_of_value(value) == json.dumps(value)
    for indent in (None, 1):
        assert step.value_of(json.dumps(value, indent=indent) + "\n") == value


@pytest.mark.parametrize("text", ["", "x", "{", '{"a" 1}', "[1,", '"a', "nul"])
def test_what_is_no_json_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"no JSON|char \d"):
        step.value_of(text)


def test_what_takes_long_to_import_is_not_imported() -> None:
    """One of these would bring others, and a guest would take a third longer to start."""
    ask = "import sys; sys.path.insert(0, sys.argv[1]); import agent.main; print(*sys.modules)"
    words = [sys.executable, "-ISB", "-c", ask, AGENT.parent]
    names = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert {"agent.main", "agent.program", "agent.step"} <= {*names}
    slow = {"contextlib", "enum", "importlib", "json", "re", "signal", "subprocess", "tempfile", "threading", "typing"}
    assert not slow & {*names}
