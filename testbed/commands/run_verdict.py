"""The verdict on two runs: prints it, or writes it to a file, and ends the command with its exit code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import typer

from ..compare import junit, run_text
from ..compare.headline import headline
from ..compare.run import Outcome, RunComparison
from ..error import UserError
from .comparison_table import EXIT_CODES, write, write_table

ALLOWED = "a share below 1, such as 0.03 or '3 %'; for two runs also '3 % or 2 sd'"


class FailOn(StrEnum):
    worse = "worse"
    lost = "lost"
    cannot_tell = "cannot-tell"


FAILS: Mapping[FailOn, tuple[Outcome, ...]] = {
    FailOn.worse: ("worse", "lost"),
    FailOn.lost: ("worse", "lost"),
    FailOn.cannot_tell: junit.FAILS,
}


class Format(StrEnum):
    table = "table"
    json = "json"
    markdown = "markdown"
    junit = "junit"


def show_runs(found: RunComparison, format: Format, fail_on: FailOn, output: Path | None) -> None:
    """Raises typer.Exit with the exit code of the verdict, if that is a failure."""
    if format is Format.table:
        last = [headline(found)]
        last += [f"{found.verdict} is no failure (--fail-on {fail_on})"] if _is_pardoned(found, fail_on) else []
        rows, hidden = run_text.told_rows(found) if output is None else (run_text.run_rows(found), [])
        write_table(
            [(run_text.RUN_HEADERS, rows)],
            [*hidden, *run_text.run_notes(found)],
            run_text.run_summary(found),
            output,
            last,
        )
    elif format is Format.junit:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        write(junit.run_junit(found, FAILS[fail_on], now), output)
    else:
        write((run_text.run_json if format is Format.json else run_text.run_markdown)(found), output)
    if found.verdict in FAILS[fail_on]:
        raise typer.Exit(EXIT_CODES[found.verdict])


def _is_pardoned(found: RunComparison, fail_on: FailOn) -> bool:
    return found.verdict not in FAILS[fail_on] and EXIT_CODES[found.verdict] != 0


SDS = re.compile(r"(?:(?P<share>.*?) +or +)?(?P<sds>\d+(\.\d+)?) *sd")
SDS_MAX = 100.0


def tolerance_of(written: str | None, usual: float) -> tuple[float, float]:
    """A share, and how many standard deviations of the base's own trials: "3 %", "2 sd", "3 % or 2 sd". UserError."""
    found = None if written is None else SDS.fullmatch(written.strip())
    if written is None or found is None:
        return share(written, usual), 0.0
    sds = float(found["sds"])
    if not 0 < sds <= SDS_MAX:
        raise UserError(f"--tolerance {written!r}: allowed: {ALLOWED}")
    return share(found["share"], usual), sds


def in_words(tolerance: float, sds: float) -> str:
    """As `tolerance_of` reads it."""
    return f"{100 * tolerance:g} %{f' or {sds:g} sd' if sds else ''}"


def share(written: str | None, usual: float) -> float:
    """A share: 3 % or 0.03. Raises UserError."""
    if written is None:
        return usual
    number = written.strip().removesuffix("%")
    try:
        value = float(number) / (100 if number != written.strip() else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise UserError(f"--tolerance {written!r}: allowed: {ALLOWED}")
    return value
