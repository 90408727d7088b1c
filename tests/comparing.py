"""Commands of the testbed for tests, `compare` above all: how they end, and what they say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed import cli


@dataclass(frozen=True)
class Said:
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


def command(capsys: pytest.CaptureFixture[str]) -> Compare:
    """Runs `testbed compare` in this process."""

    def run(*words: str | Path) -> Said:
        code = exit_code("compare", *words)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run
