"""What `compare` does with a published profile: reads the run, compares, and prints or draws. Reads results folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..analysis import flow_sample
from ..analysis.point import Verdict
from ..analysis.series import Span, series
from ..compare import profile, profile_text, published
from ..compare.condition import Choice
from ..compare.profile import ProfileComparison
from ..sweep.shard import in_words
from ..sweep.store import Store
from ..trial.folder import read_trial
from ..trial.result import TrialResult
from .comparison_table import write, write_table

EXIT_CODES: Mapping[Verdict, int] = {"agree": 0, "differ": 1, "cannot tell": 5}
FIGURES = (".png", ".svg", ".pdf")


def found_in(folder: Path, name: str, choice: Choice, span: Span) -> ProfileComparison:
    """A run compared with the profile of this name or file. Raises UserError if nothing of it can be compared."""
    known, only = published.find(name)
    store = Store(folder).open()
    results = store.results()
    trials = {each.id: read_trial(store.path / "trials" / each.id) for each in results}
    ours = series(results, trials)
    alone = flow_sample.without_another_seed(results) if span == "steady" else ()
    parts = {each.id: flow_sample.parts(store.path / "trials" / each.id, each) for each in alone}

    def value(result: TrialResult, name: str) -> float | None:
        return flow_sample.metrics(store.path / "trials" / result.id, result, [name])[name]

    found = profile.compare(ours, known, only, choice, span, parts, value)
    return replace(found, lost=(*_absent(store), *found.lost))


def show(found: ProfileComparison, span: Span, format: str, output: Path | None) -> None:
    """As table, json or markdown on standard output or in a file; as a figure in a file that ends like one.

    Raises UserError if the file cannot be written.
    """
    is_figure = output is not None and output.suffix in FIGURES
    if is_figure and output is not None:
        from ..report.figure.published_profile import draw  # matplotlib takes a second to import

        draw(found, output, span)
    to = None if is_figure else output
    if format == "table":
        tables = [
            (profile_text.SUMMARY_HEADERS, profile_text.summary_rows(found)),
            (profile_text.HEADERS, profile_text.point_rows(found)),
        ]
        write_table(tables, profile_text.notes(found), profile_text.summary(found), to)
    else:
        write(profile_text.to_json(found) if format == "json" else profile_text.to_markdown(found), to)


def _absent(store: Store) -> tuple[str, ...]:
    """What a run should have and has not, in one line."""
    missing, failed = len(store.ids) - len(store.results()), len(store.failures())
    said = f"{store.path}: {missing} of {len(store.ids)} trials are missing, {failed} of them failed"
    share = f"; this is {in_words(store.shards)} of its scenario" if store.shards else ""
    return (f"{said}{share}",) if missing else ()
