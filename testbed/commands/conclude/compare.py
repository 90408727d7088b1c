"""`testbed compare`: a run against another run, or against what was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ...analysis import flow_sample
from ...analysis.metric import METRICS, chosen
from ...analysis.series import Span, series
from ...compare import profile, profile_text, published, run, run_text
from ...error import UserError
from ...spec.scenario.trial import trial_of
from ...sweep.store import Store
from ...trial.folder import TRIAL, read_json
from ..text_table import Column, Table, paragraph, show, terminal_width

MORE = "a wider terminal or --format json shows them"
COLOUR = {"better": "green", "same": "dim", "worse": "red", "cannot tell": "yellow", "AGREE": "green", "DIFFER": "red"}


class Format(StrEnum):
    table = "table"
    json = "json"
    markdown = "markdown"
    junit = "junit"


def compare(
    base: Annotated[Path, typer.Argument(metavar="DIR", help="A run: what `testbed run -o` wrote.")],
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN|PROFILE]", help="Another run's folder; or a published profile: NAME, FILE, or NAME#SERIES."
        ),
    ] = None,
    axis: Annotated[
        str | None, typer.Option(help="Compare two values of this axis of one run, such as kernel.")
    ] = None,
    base_value: Annotated[
        str | None, typer.Option("--base", metavar="VALUE", help="With --axis: the value to compare with.")
    ] = None,
    candidate: Annotated[str | None, typer.Option(metavar="VALUE", help="With --axis: the value to judge.")] = None,
    tolerance: Annotated[
        str | None, typer.Option(help="What does not matter: 3 % of a metric; 10 % RMS of capacity for a profile.")
    ] = None,
    metric: Annotated[list[str] | None, typer.Option(help=f"Only this metric: {', '.join(METRICS)}.")] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="SETTING", help="A setting that two runs may differ in, such as workload.duration."),
    ] = None,
    with_ramp: Annotated[bool, typer.Option(help="Take the ramp, which leave_out leaves out, into a profile.")] = False,
    format: Annotated[Format, typer.Option(help="How to print.")] = Format.table,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write it there; a figure if .png, .svg or .pdf."),
    ] = None,
) -> None:
    """Compare a run with another run, or with a published profile. Exit code 1 if it is worse, or differs."""
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
            "say what to compare the run with; allowed: another run's folder, a published profile "
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
        raise UserError(f"{unfit[0]} is for two runs; allowed: this without it")


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
        _write_table(
            [(run_text.RUN_HEADERS, run_text.run_rows(found))],
            run_text.run_notes(found),
            run_text.run_summary(found),
            output,
        )
    else:
        _write(RUN_PRINTERS[format](found), output)
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
        _write_table(tables, profile_text.notes(found), profile_text.summary(found), to)
    else:
        _write(profile_text.to_json(found) if format is Format.json else profile_text.to_markdown(found), to)
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


def _write(whole: str, output: Path | None) -> None:
    if output is None:
        print(whole, end="")
        return
    try:
        output.write_text(whole)
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}; allowed: -o with a file that can") from None
    print(output)


def _write_table(
    tables: Sequence[tuple[run_text.Row, Sequence[run_text.Row]]],
    notes: Sequence[str],
    summary: str,
    output: Path | None,
) -> None:
    """On standard output as wide as the terminal; in a file as wide as it needs to be."""
    width = terminal_width() if output is None else None
    lines: list[str] = []
    for headers, rows in tables:
        columns = tuple(Column(name, **COLUMNS.get(name, {})) for name in headers)
        lines += [*Table(columns, tuple(rows), MORE, COLOUR).lines(width), *([""] if output is None else [])]
    lines += [escape(paragraph(note, width)) for note in notes]
    if output is None:
        show([*lines, escape(paragraph(summary, width))])
        return
    console = Console(highlight=False, no_color=True)
    with console.capture() as captured:
        show(lines, console)
    _write(f"{captured.get()}{summary}\n", output)


COLUMNS: dict[str, dict[str, Any]] = {
    "cell": {"heads": True, "names": True},
    "metric": {"names": True, "folds": True},
    **{name: {"right": True} for name in ("base", "candidate", "difference", "RMS")},
    "95 % interval": {"drop": 1, "folds": True},
    "noise": {"drop": 2, "folds": True},
    "p": {"drop": 4, "folds": True},
    "seeds": {"drop": 3, "folds": True, "right": True},
    "published": {"heads": True, "names": True, "folds": True},
    "ours": {"heads": True, "names": True, "folds": True},
    "C_UC difference": {"drop": 2},
    "shape": {"drop": 1, "wraps": True},
    "claim": {"folds": True},
    "certainty": {"drop": 2, "folds": True},
    "RTT": {"names": True, "right": True},
    "published share": {"right": True},
    "ours share": {"right": True},
}
"""How the columns of a comparison give way where there is no room."""

RUN_PRINTERS = {
    Format.json: run_text.run_json,
    Format.markdown: run_text.run_markdown,
    Format.junit: run_text.run_junit,
}
