"""`testbed compare`: compares a run with another run, or with a published profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ...analysis import flow_sample
from ...analysis.metric import METRICS, chosen
from ...analysis.series import Span, series
from ...compare import profile, profile_text, published, run, run_text
from ...error import UserError
from ...spec.scenario.trial import trial_of
from ...sweep.store import Store
from ...trial.folder import TRIAL, read_json
from ..comparison_table import write, write_table

EXAMPLES = (
    ("Find out whether a change made anything worse", "testbed compare results/before results/after"),
    ("Compare two values of an axis of one run",
     "testbed compare results/mine --axis flows --base 1 --candidate 4"),
    ("Compare a run with a published profile", "testbed compare results/mine google-cloud-emulated"),
    ("Let a build server read the outcome",
     "testbed compare results/before results/after --format junit -o out.xml"),
)  # fmt: skip


class Format(StrEnum):
    table = "table"
    json = "json"
    markdown = "markdown"
    junit = "junit"


def compare(
    base: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN|PROFILE",
            help="The folder of another run; or a published profile as NAME, FILE or NAME#SERIES (testbed list "
            "profiles).",
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
    account how much the seeds differ among themselves.

    The exit code is 1 if the run is worse than the other, or differs from the profile.
    """
    _refuse_what_means_nothing(other, axis, {"--metric": metric, "--ignore": ignore}, with_ramp)
    metrics = chosen(metric or [*METRICS])
    if axis is not None:
        if other is not None or base_value is None or candidate is None:
            raise UserError("--axis compares within one run; allowed: DIR --axis AXIS --base VALUE --candidate VALUE")
        values = (base_value, candidate)
        _two_values(base, axis, values, _share(tolerance, run.TOLERANCE), metrics, format, output)
        return
    if other is None or base_value is not None or candidate is not None:
        raise UserError(
            "there is nothing to compare the run with; allowed: the folder of another run, a published profile "
            f"({', '.join(published.names())}), or --axis with --base and --candidate"
        )
    if (Path(other) / "run.json").is_file():
        share = _share(tolerance, run.TOLERANCE)
        _two_runs(base, Path(other), share, metrics, ignore or [], format, output)
    elif Path(other).is_dir():
        raise UserError(f"{other} is not a results folder (no run.json); allowed: what `testbed run -o` wrote")
    else:
        _published(
            base, other, _share(tolerance, profile.TOLERANCE), "whole" if with_ramp else "steady", format, output
        )


def _two_runs(
    base: Path,
    candidate: Path,
    tolerance: float,
    metrics: Sequence[str],
    ignore: Sequence[str],
    format: Format,
    output: Path | None,
) -> None:
    names = (str(base), str(candidate))
    found = run.compare(
        _measured(base, metrics), _measured(candidate, metrics), names, tolerance, metrics, ignored=ignore
    )
    _show_runs(replace(found, left_over=(*_missing(base), *_missing(candidate), *found.left_over)), format, output)


def _refuse_what_means_nothing(
    other: str | None, axis: str | None, of_runs: Mapping[str, list[str] | None], with_ramp: bool
) -> None:
    """An option that would not be looked at is refused. Raises UserError."""
    is_profile = axis is None and other is not None and not Path(other).is_dir()
    if with_ramp and not is_profile:
        raise UserError("--with-ramp is for a published profile; allowed: two runs without it")
    unfit = [option for option, value in of_runs.items() if value and (is_profile or (axis and option == "--ignore"))]
    if unfit:
        raise UserError(f"{unfit[0]} is for two runs; allowed: the same without it")


def _missing(folder: Path) -> tuple[str, ...]:
    """What a run should have and has not, in one line."""
    store = Store(folder)
    missing, failed = len(store.ids) - len(store.results()), len(store.failures())
    said = f"{folder}: {missing} of {len(store.ids)} trials are missing, {failed} of them failed"
    return (said,) if missing else ()


def _two_values(
    folder: Path,
    axis: str,
    values: tuple[str, str],
    tolerance: float,
    metrics: Sequence[str],
    format: Format,
    output: Path | None,
) -> None:
    measured = _measured(folder, metrics)
    first, second = run.split(measured, axis, *values)
    key = run.axis_key(measured, axis)
    names = (f"{key} {values[0]}", f"{key} {values[1]}")
    found = run.compare(first, second, names, tolerance, metrics, axis=key)
    _show_runs(replace(found, left_over=(*_missing(folder), *found.left_over)), format, output)


def _show_runs(found: run.RunComparison, format: Format, output: Path | None) -> None:
    if format is Format.table:
        write_table(
            [(run_text.RUN_HEADERS, run_text.run_rows(found))],
            run_text.run_notes(found),
            run_text.run_summary(found),
            output,
        )
    else:
        write(RUN_PRINTERS[format](found), output)
    if found.verdict == "worse":
        raise typer.Exit(1)


def _published(folder: Path, name: str, tolerance: float, span: Span, format: Format, output: Path | None) -> None:
    if format is Format.junit:
        raise UserError("--format junit is for two runs; allowed for a published profile: table, json, markdown")
    known, only = published.find(name)
    store = Store(folder).open()
    results = store.results()
    trials = {each.id: trial_of(_settings(store, each.id), each.id) for each in results}
    found = profile.compare(series(results, trials), known, only, tolerance, span)
    found = replace(found, not_compared=(*_missing(folder), *found.not_compared))
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


def _measured(folder: Path, metrics: Sequence[str]) -> list[run.Measured]:
    store = Store(folder).open()
    found = []
    for each in store.results():
        measured = flow_sample.metrics(store.path / "trials" / each.id, each, metrics)
        found.append(run.Measured(each, _settings(store, each.id), measured))
    return found


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


RUN_PRINTERS = {
    Format.json: run_text.run_json,
    Format.markdown: run_text.run_markdown,
    Format.junit: run_text.run_junit,
}
