"""`--watch`: a command that is repeated at each save, and interrupted by a save."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed import process
from testbed.commands.candidate import watch
from testbed.error import UserError
from testbed.process import Running

PROGRAM = """
import sys
from pathlib import Path
from testbed.commands.candidate import watch
watch.watch(Path(sys.argv[1]), ("sh", "-c", sys.argv[2]))
"""


INTERRUPTED = """
import signal, sys, time

def keep(number, frame):
    time.sleep(3)
    print("kept", flush=True)
    sys.exit()

signal.signal(signal.SIGTERM, keep)
print(open(sys.argv[1]).read(), flush=True)
time.sleep(1000)
"""
"""What keeps for longer than a process is given that is only ended."""
IN_THE_BACKGROUND = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""What the background of a shell without a terminal starts ignores Ctrl-C, and so does all that it starts."""


def started(file: Path, command: str, before: str = "") -> Running:
    words = (sys.executable, "-c", before + PROGRAM, file, command)
    return process.start(words, stdout=process.PIPE, stderr=process.TO_STDOUT)


def save(file: Path, text: str) -> None:
    """As a whole: who looks in between sees no empty file."""
    new = file.with_suffix(".new")
    new.write_text(text)
    os.replace(new, file)


def lines(running: Running) -> Iterator[str]:
    assert running.stdout is not None
    return (line.decode().rstrip() for line in running.stdout)


def test_the_command_runs_at_once_and_at_each_save(tmp_path: Path) -> None:
    file = tmp_path / "tcp_foo.c"
    file.write_text("first")
    with started(file, f"cat {file}; echo") as running:
        said = lines(running)
        assert next(said) == "first"
        assert "waiting until" in next(said)
        save(file, "second")
        assert "was saved" in next(said)
        assert next(said) == "second"


@pytest.mark.parametrize("before", ["", IN_THE_BACKGROUND], ids=["terminal", "background"])
def test_a_save_interrupts_the_command_and_it_begins_anew(tmp_path: Path, before: str) -> None:
    file = tmp_path / "tcp_foo.c"
    file.write_text("first")
    script = tmp_path / "command.py"
    script.write_text(INTERRUPTED)
    with started(file, f"exec {sys.executable} {script} {file}", before) as running:
        said = lines(running)
        assert next(said) == "first"
        save(file, "second")
        assert next(said) == "kept"
        assert "waiting until" in next(said)
        assert "was saved" in next(said)
        assert next(said) == "second"


def test_what_is_no_file_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--watch .*: there is no such file; allowed: a file tcp_NAME"):
        watch.watch(tmp_path / "none.c", ("true",))
