"""Commands of the testbed for tests, `compare` above all: how they end, and what they say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from testbed import cli


class Said(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


Compare = Callable[..., Said]


def exit_code(*words: str | Path) -> int:
    """Of a command of the testbed that runs in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["testbed", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return int(ended.value.code or 0)


def said_by(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Said:
    """What a command of the testbed says that runs in this process."""
    code = exit_code(*words)
    return Said(code, *capsys.readouterr())


def command(capsys: pytest.CaptureFixture[str]) -> Compare:
    """Runs `testbed compare` in this process."""
    return partial(said_by, capsys, "compare")
