"""`testbed compare`: compares a run with another run, or with a published profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ...analysis.metric import METRICS, chosen
from ...analysis.series import Span, series
from ...compare import junit, profile, profile_text, published, run, run_text
from ...compare.headline import headline
from ...compare.run import Outcome, RunComparison
from ...compare.side import axis_keys, split
from ...error import UserError
from ...spec.scenario.trial import trial_of
from ...sweep.store import Store
from ...trial.folder import TRIAL, read_json
from .. import compared_run
from ..comparison_table import EXIT_CODES, write, write_table

EXAMPLES = (
    ("Find out whether a change made anything worse", "testbed compare results/before results/after"),
    ("Compare two values of an axis of one run",
     "testbed compare results/mine --axis flows --base 1 --candidate 4"),
    ("Compare a run with a published profile", "testbed compare results/mine google-cloud-emulated"),
    ("Let a build server read the outcome",
     "testbed compare results/before results/after --format junit -o out.xml"),
)  # fmt: skip


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


def compare(
    base: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run, or of several.")],
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN|PROFILE",
            help="The folder of another run, or of several; or a published profile as NAME, FILE or NAME#SERIES "
            "(testbed list profiles).",
        ),
    ] = None,
    axis: Annotated[
        str | None, typer.Option(metavar="KEY", help="Compare two values of this axis of one run, such as kernel.")
    ] = None,
    base_value: Annotated[
        str | None, typer.Option("--base", metavar="VALUE", help="With --axis: the value to compare with.")
    ] = None,
    candidate: Annotated[str | None, typer.Option(metavar="VALUE", help="With --axis: the value to judge.")] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="The difference that does not matter; if left out, 3 % of a metric, or for a profile 10 % RMS of "
            "the capacity.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help=f"Compare this metric only; may be repeated: {', '.join(METRICS)}."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETTING",
            help="A setting in which the runs may differ, such as workload.duration; may be repeated.",
        ),
    ] = None,
    with_ramp: Annotated[
        bool,
        typer.Option("--with-ramp", help="Include the start of the flows, which leave_out leaves out, in a profile."),
    ] = False,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(
            metavar="worse|lost|cannot-tell",
            help="What makes the command fail: cannot-tell (the default), all that was not shown to be the same or "
            "better; worse or lost, only what is worse or lost.",
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="The format of the output; junit is for two runs.")] = Format.table,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write to this file; a .png, .svg or .pdf file gets a figure of a profile.",
        ),
    ] = None,
) -> None:
    """Trials of two runs are paired by cell and seed. A verdict is better, same, worse or cannot tell; it takes into
    account how much the pairs differ among themselves. What the candidate lacks is lost. Folders that hold several runs
    are compared as one suite.

    The exit code is 0 if everything was shown to be the same or better; 1 if anything is worse, or the run differs from
    the profile; 4 if the candidate lacks trials, cells or values that the base has; 5 if a primary metric is undecided.
    """
    _refuse_what_means_nothing(other, axis, {"--metric": metric, "--ignore": ignore, "--fail-on": fail_on}, with_ramp)
    metrics = chosen(metric or [*METRICS])
    least = max(fail_on or [FailOn.cannot_tell], key=lambda each: len(FAILS[each]))
    if axis is not None:
        if other is not None or base_value is None or candidate is None:
            raise UserError("--axis compares within one run; allowed: DIR --axis AXIS --base VALUE --candidate VALUE")
        values = (base_value, candidate)
        _show_runs(_axis(base, axis, values, _share(tolerance, run.TOLERANCE), metrics), format, least, output)
        return
    if other is None or base_value is not None or candidate is not None:
        raise UserError(
            "there is nothing to compare the run with; allowed: the folder of another run, a published profile "
            f"({', '.join(published.names())}), or --axis with --base and --candidate"
        )
    if Path(other).is_dir():
        share = _share(tolerance, run.TOLERANCE)
        sides = compared_run.sides(base, Path(other), metrics)
        _show_runs(run.compare(*sides, share, metrics, ignored=ignore or []), format, least, output)
    else:
        _published(
            base, other, _share(tolerance, profile.TOLERANCE), "whole" if with_ramp else "steady", format, output
        )


def _refuse_what_means_nothing(
    other: str | None, axis: str | None, of_runs: Mapping[str, Sequence[str] | None], with_ramp: bool
) -> None:
    """An option that would not be looked at is refused. Raises UserError."""
    is_profile = axis is None and other is not None and not Path(other).is_dir()
    if with_ramp and not is_profile:
        raise UserError("--with-ramp is for a published profile; allowed: two runs without it")
    unfit = [option for option, value in of_runs.items() if value and (is_profile or (axis and option == "--ignore"))]
    if unfit:
        raise UserError(f"{unfit[0]} is for two runs; allowed: the same without it")


def _axis(folder: Path, axis: str, values: tuple[str, str], tolerance: float, metrics: Sequence[str]) -> RunComparison:
    if not compared_run.is_run(folder) and compared_run.suite(folder):
        raise UserError(f"{folder} holds several runs; allowed with --axis: the folder of one run")
    found = compared_run.run(folder, metrics)
    first, second = split(found, axis, *values)
    return run.compare(first, second, tolerance, metrics, axis=axis_keys(found, axis))


def _show_runs(found: RunComparison, format: Format, fail_on: FailOn, output: Path | None) -> None:
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


def _absent(folder: Path) -> tuple[str, ...]:
    """What a run should have and has not, in one line."""
    store = Store(folder)
    missing, failed = len(store.ids) - len(store.results()), len(store.failures())
    said = f"{folder}: {missing} of {len(store.ids)} trials are missing, {failed} of them failed"
    return (said,) if missing else ()


def _published(folder: Path, name: str, tolerance: float, span: Span, format: Format, output: Path | None) -> None:
    if format is Format.junit:
        raise UserError("--format junit is for two runs; allowed for a published profile: table, json, markdown")
    known, only = published.find(name)
    store = Store(folder).open()
    results = store.results()
    trials = {each.id: trial_of(_settings(store, each.id), each.id) for each in results}
    found = profile.compare(series(results, trials), known, only, tolerance, span)
    found = replace(found, not_compared=(*_absent(folder), *found.not_compared))
    is_figure = output is not None and output.suffix in (".png", ".svg", ".pdf")
    if is_figure and output is not None:
        from ...report.figure.published_profile import draw  # matplotlib takes a second to import

        draw(found, output, span)
    to = None if is_figure else output
    if format is Format.table:
        tables = [
            (profile_text.SUMMARY_HEADERS, profile_text.summary_rows(found)),
            (profile_text.HEADERS, profile_text.point_rows(found)),
        ]
        write_table(tables, profile_text.notes(found), profile_text.summary(found), to)
    else:
        write(profile_text.to_json(found) if format is Format.json else profile_text.to_markdown(found), to)
    if not found.agrees:
        raise typer.Exit(1)


def _settings(store: Store, id: str) -> dict[str, object]:
    return read_json(store.path / "trials" / id / TRIAL)


def _share(written: str | None, usual: float) -> float:
    """A share: 3 % or 0.03. Raises UserError."""
    if written is None:
        return usual
    number = written.strip().removesuffix("%")
    try:
        value = float(number) / (100 if number != written.strip() else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise UserError(f"--tolerance {written!r}: allowed: a share below 1, such as 0.03 or '3 %'")
    return value
