"""`testbed compare` for tests: how it ends, and what it says."""

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


def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Compare:
    """Runs `testbed compare` in this process."""

    def run(*words: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["testbed", "compare", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return Said(int(ended.value.code or 0), said.out, said.err)

    return run
