"""`testbed results`: prints what was measured, and whether it can be believed."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...error import UserError, visible
from ...model.run_setting import Until
from ...sweep.repetition import CellResult, Metrics, cells
from ...sweep.shard import in_words
from ...sweep.store import Store
from ...trial.folder import read_trial
from ...trial.result import TrialResult
from ..known import learn_metrics
from ..result_table import print_cells, print_trials, print_verdicts, unkept
from ..text_table import paragraph, terminal_width

if TYPE_CHECKING:
    from ...analysis.expectation.verdict import Verdict
    from ...sweep.audit import Audit

AUDIT = "audit.json"
INDENTED = "\n  "

EXAMPLES = (
    ("Print the trials of a run, with the warnings", "testbed results results/quickstart"),
    ("Print the mean of each cell with its confidence interval", "testbed results results/quickstart --by cell"),
    ("Read the results in a spreadsheet", "testbed results results/quickstart --format csv > trials.csv"),
    ("Compare later runs with this one", "testbed results results/quickstart --format profile > mine.yaml"),
)


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"
    junit = "junit"
    profile = "profile"


class By(StrEnum):
    trial = "trial"
    cell = "cell"
    rule = "rule"


def results(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    format: Annotated[
        Format,
        typer.Option(
            help="The format of the output; profile is a file to compare other runs with (testbed compare), junit has "
            "a case for each rule of expect."
        ),
    ] = Format.table,
    by: Annotated[
        By | None,
        typer.Option(help="Print a line for each trial, cell, or rule of expect; a table has all if left out."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="Also print this metric of `testbed compare`; may be repeated."),
    ] = None,
) -> None:
    """A trial is `valid`, `suspect` or `invalid`; the lines below the table say why. A cell is the trials that differ
    only in their seed: its mean leaves out invalid trials.

    The exit code is 1 if a trial is invalid or missing, or a rule of the scenario's `expect` does not hold or could not
    be checked.
    """
    store = Store(folder).open()
    found, failures = store.results(), store.failures()
    audit, judged = _audit(folder), _judged(store, found)
    missing = len(store.ids) - len(found)
    if format is Format.junit or by is By.rule:
        _print_rules(store, found, judged, by, format, metric)
    elif format is Format.profile:
        _print_profile(store, found, by, metric)
    else:
        measured = _measured(store, found, [*(metric or ()), *learn_metrics([folder]), *_of_pings(found)])
        if by is not By.cell:
            if format is Format.json:
                print_json(found, measured, {} if audit is None else {each.id: each.outcome for each in audit.trials})
            else:
                PRINTERS[format](found, measured)
        if by is By.cell or (by is None and format is Format.table and any(each.repetition for each in found)):
            CELL_PRINTERS[format](found, store.until, measured)
        if by is None and format is Format.table:
            print_verdicts(judged)
        else:
            print("".join(f"rule {line}\n" for line in unkept(judged)), end="", file=sys.stderr)
        if format is Format.table:
            _print_mixed(store, found)
        if audit is not None and format is Format.table:
            print(paragraph(audit.in_words(), terminal_width()))
    for id, reason in failures.items():
        print(f"failed {visible(id)}: {INDENTED.join(reason.splitlines())}", file=sys.stderr)
    if missing:
        if store.shards:
            print(
                f"{store.path} is {in_words(store.shards)} of its scenario; testbed merge joins them", file=sys.stderr
            )
        print(f"{missing} of {len(store.ids)} trials are missing, {len(failures)} of them failed", file=sys.stderr)
    is_kept = all(each.outcome == "passed" for each in judged)
    if missing or not is_kept or any(each.verdict == "invalid" for each in found):
        raise typer.Exit(1)


def _judged(store: Store, found: Sequence[TrialResult]) -> tuple[Verdict, ...]:
    if not store.expect:
        return ()
    from ...sweep.expectation import judged  # takes a second to import

    return judged(store, found)


def _print_rules(
    store: Store,
    found: Sequence[TrialResult],
    judged: Sequence[Verdict],
    by: By | None,
    format: Format,
    metric: Sequence[str] | None,
) -> None:
    if metric or format is Format.profile or by not in (None, By.rule):
        raise UserError(
            "rules have metrics of their own; allowed: --by rule in any format but profile, or --format junit"
        )
    if not judged:
        raise UserError(f"{store.path} has no rules; allowed: the results of a scenario with expect")
    if format is Format.table:
        print_verdicts(judged)
    elif format is Format.json:
        print(json.dumps([each.data() for each in judged], indent=1))
    elif format is Format.csv:
        _write_csv([_rule_row(each) for each in judged])
    else:
        from ...compare import junit

        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        print(junit.rules_junit(store.name, judged, found, len(store.ids), now), end="")


def _rule_row(each: Verdict) -> dict[str, object]:
    from ...model.expectation import in_words

    words = {
        "where": in_words(each.rule.where),
        "over": in_words(each.rule.over or {}),
        "failed_trials": "; ".join(each.failed),
    }
    return {key: value for key, value in each.data().items() if key not in words} | words


def _print_profile(store: Store, found: Sequence[TrialResult], by: By | None, metric: Sequence[str] | None) -> None:
    from ... import __version__
    from ...analysis.series import series  # SciPy takes a second to import
    from ...compare import own_profile

    if by is not None or metric:
        raise UserError("a profile is the goodput of all trials; allowed with --format profile: no --by, no --metric")
    trials = {each.id: read_trial(store.path / "trials" / each.id) for each in found}
    name = os.path.basename(os.path.realpath(store.path))
    about = f"Our run {name} of the scenario {store.name}"
    print(own_profile.text(name, series(found, trials), about, f"testbed {__version__}"), end="")


def _measured(store: Store, found: Sequence[TrialResult], names: Sequence[str] | None) -> dict[str, Metrics]:
    """The metrics asked for, by the id of the trial; empty if none is. Raises UserError for an unknown one."""
    if not names:
        return {}
    from ...analysis import flow_sample, metric  # these take a second to import

    wanted = metric.chosen(names)
    return {each.id: flow_sample.metrics(store.path / "trials" / each.id, each, wanted) for each in found}


def _of_pings(found: Sequence[TrialResult]) -> list[str]:
    """The metrics of pings, which are all that such a workload measures."""
    if not any("ping" in each.measured for each in found):
        return []
    from ...analysis.metric import METRICS
    from ...trial.measured import PingResult

    return [name for name, each in METRICS.items() if each.only == PingResult.KEY]


def _print_cells_json(found: Sequence[TrialResult], until: Until | None, measured: Mapping[str, Metrics]) -> None:
    print(json.dumps([each.to_dict() for each in cells(found, until, measured)], indent=1))


def _print_cells_csv(found: Sequence[TrialResult], until: Until | None, measured: Mapping[str, Metrics]) -> None:
    _write_csv([_cell_row(each) for each in cells(found, until, measured)])


def _cell_row(cell: CellResult) -> dict[str, object]:
    data = cell.to_dict()
    means = data.pop("metrics", {})
    return _flat({**data, **{f"metrics.{name}": mean or {} for name, mean in means.items()}})


def print_json(
    found: Sequence[TrialResult], measured: Mapping[str, Metrics], audited: Mapping[str, str] | None = None
) -> None:
    """`audited` maps ids to what the last audit says of them."""
    told = {id: {"audit": outcome} for id, outcome in (audited or {}).items()}
    print(json.dumps([_with_metrics(each, measured) | told.get(each.id, {}) for each in found], indent=1))


def _print_mixed(store: Store, found: Sequence[TrialResult]) -> None:
    if all(each.is_virtual_time for each in found):
        return
    from ...sweep.origin import mixed  # imports all that a trial's provenance needs

    for what in mixed(store, found):
        print(paragraph(f"note: {visible(what)}", terminal_width()))


def _audit(folder: Path) -> Audit | None:
    """The last audit, if there is one. A file that says so is rare; what reads it takes half a second to import."""
    if not (folder / AUDIT).exists():
        return None
    from ...sweep.audit import latest

    return latest(folder)


def print_csv(found: Sequence[TrialResult], measured: Mapping[str, Metrics]) -> None:
    """Parameters, then scalar fields; `asked.rtt_s` is how a field of an object is named. With a policy, the packets
    that it dropped.
    """
    is_policed = any(each.policed_packets is not None for each in found)
    _write_csv(
        [
            _flat(_with_metrics(each, measured)) | ({"policed_packets": each.policed_packets} if is_policed else {})
            for each in found
        ]
    )


def _with_metrics(each: TrialResult, measured: Mapping[str, Metrics]) -> dict[str, object]:
    """`never` has the metrics whose value is only the least possible one: what they measure did not happen."""
    if not measured:
        return each.to_dict()
    from ...analysis.metric import AtLeast

    never = [name for name, value in measured[each.id].items() if isinstance(value, AtLeast)]
    return each.to_dict() | {"metrics": measured[each.id]} | ({"never": never} if never else {})


def _write_csv(rows: Sequence[dict[str, object]]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _flat(data: dict[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            flat |= {f"{key}.{name}": each for name, each in value.items() if not isinstance(each, dict | list)}
        elif key == "warnings" and isinstance(value, list):
            flat[key] = "; ".join(value)
        elif not isinstance(value, list):
            flat[key] = value
    return flat


PRINTERS = {Format.table: print_trials, Format.csv: print_csv, Format.json: print_json}
CELL_PRINTERS = {Format.table: print_cells, Format.csv: _print_cells_csv, Format.json: _print_cells_json}
