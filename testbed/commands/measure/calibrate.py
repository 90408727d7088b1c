"""`testbed calibrate`: from measurements of a path to a link, measured again with the same tools."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml
from rich.console import Console

from ... import units
from ...error import UserError, ValueRefused
from ..terminal import Terminal, say
from ..text_table import Column, Table, paragraph, show, terminal_width

if TYPE_CHECKING:
    from ...calibrate.candidate import Candidate, Explained
    from ...calibrate.fit.fitted import Fitted
    from ...calibrate.fit.path import PathFit
    from ...calibrate.link import LinkFit
    from ...calibrate.measurement import Reading
    from ...calibrate.outcome import Outcome
    from ...calibrate.rebuild import Measure
    from ...calibrate.verdict import Judged

PREFIX = "path."
SETTING = "path.KEY=VALUE, with a key of a link, such as path.rtt='50 ms'"

EXAMPLES = (
    ("Rebuild a path of which you have pings and iperf3 runs",
     "testbed calibrate ping.txt iperf3-1.json iperf3-4.json -o my-path"),
    ("Check it with a run that it was not fitted to", "testbed calibrate ping.txt flows-*.json --hold-out bbr.json"),
    ("See what the files tell and what would be built, and run nothing", "testbed calibrate ping.txt *.json --dry-run"),
    ("See which link comes nearest to a published series",
     "testbed calibrate google-cloud-emulated#cloud-cubic-1-flow --dry-run"),
)  # fmt: skip


def calibrate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Measurements of one path: ping, iperf3 --json, .flent.gz, ndt7, pcap, Mahimahi's traces, CSV; or "
            "published series as PROFILE#NAME.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", help="Where everything goes; results/calibrated if left out."),
    ] = Path("results/calibrated"),
    hold_out: Annotated[
        list[Path] | None,
        typer.Option("--hold-out", metavar="FILE", help="A file to judge by and not to fit; may be repeated."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="path.KEY=VALUE", help="Give a key of the link, which is then not fitted."),
    ] = None,
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="How long the refinement by trials may take; 0 for none.")
    ] = "10min",
    repetitions: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="How often the rebuilt path is measured."),
    ] = 3,
    seed: Annotated[int, typer.Option(min=1, metavar="N", help="The first seed of the trials.")] = 1,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many trials run at the same time.")
    ] = os.cpu_count() or 1,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what the files tell and the link that would be built; run nothing.")
    ] = False,
) -> None:
    """Reads measurements of a path, fits a link, refines it by trials in virtual time, measures it again with the same
    tools, and judges each file and metric. DIR gets topology.yaml, scenario.yaml, what-if.yaml, profile.yaml,
    calibration.json and report.html; docs/calibration.md says what they mean.

    Of published series it says which mechanism of a link comes how near to them in closed form, runs nothing, and
    writes the topology and the scenario of the nearest.

    The same command goes on where an interrupted one stopped. The exit code is 0 if all metrics agree, 1 if one
    differs, 5 if it cannot be told.
    """
    from ...calibrate import run as calibration
    from ...calibrate.run import Wanted

    if any("#" in str(each) and not each.exists() for each in files):
        _explain(files, output, dry_run)
        return
    budget_s = _budget(budget)
    wanted = Wanted(tuple(files), tuple(hold_out or ()), _asked(settings or []), budget_s, seed, repetitions)
    console = Terminal()
    prepared = calibration.prepare(wanted)
    _print_files((*prepared.readings, *prepared.held))
    if dry_run:
        _print_fit(prepared.fit)
        _print_link(prepared.link)
        return
    outcome = calibration.carry_out(wanted, prepared, output, _measure(jobs, console), lambda text: say(console, text))
    _print_fit(outcome.fit)
    _print_verdicts(outcome)
    print(f"calibrated: {output}/topology.yaml, {output}/report.html")
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)


def _explain(names: Sequence[Path], output: Path, dry_run: bool) -> None:
    """Published series in place of files. Raises UserError for a mix of both."""
    from ...calibrate import candidate
    from ...compare import published
    from ...trial import strict_folder
    from ...trial.folder import write_text

    strange = [each for each in names if "#" not in str(each)]
    if strange:
        raise UserError(f"{strange[0]} is no published series, and others are; allowed: files, or PROFILE#NAME")
    found = candidate.explained([published.find(str(each)) for each in names])
    _print_candidates(found)
    if dry_run:
        return
    strict_folder.make_own(output)
    write_text(output / "topology.yaml", candidate.topology(found))
    write_text(output / "scenario.yaml", candidate.scenario(found))
    print(
        f"calibrated: {output}/topology.yaml; testbed run {output}/scenario.yaml, and testbed compare with {names[0]}"
    )


def _print_candidates(found: Explained) -> None:
    columns = (
        Column("candidate", names=True),
        Column("best number", right=True),
        *(Column(each.said, right=True) for each in found.points),
        Column("RMS", right=True),
        Column("within what is printed"),
    )

    def row(each: Candidate) -> tuple[str, ...]:
        over = (f"{100 * (ratio - 1):+.0f} %" for ratio in each.ratios)
        return each.name, each.number, *over, f"{100 * each.rms:.0f} %", f"{sum(each.fits)} of {len(each.fits)}"

    width = terminal_width()
    show(Table(columns, tuple(map(row, found.candidates))).lines(width))
    print("steady states in closed form, over the printed means")
    print(paragraph(f"nearest: {', or '.join(f'{each.name}, {each.number}' for each in found.as_near)}", width))
    if found.apart is not None:
        rates = (units.format_rate(round(each.at(found.apart) / 1e7) * 10**7) for each in found.as_near)
        told = ", ".join(f"{each.name}: {rate}" for each, rate in zip(found.as_near, rates, strict=True))
        print(paragraph(f"  to tell: {found.apart.said} ({told})", width, "    "))
    for text in found.untold:
        print(paragraph(f"not identifiable: {text}", width))


def _budget(text: str) -> float:
    try:
        return units.parse_time(text) / 1e9
    except ValueRefused as refused:
        raise UserError(f"--budget {text}: {refused}") from None


def _asked(settings: Sequence[str]) -> dict[str, Any]:
    """The keys of the link that are given."""
    found: dict[str, Any] = {}
    for each in settings:
        key, sign, value = each.partition("=")
        if not sign or not key.startswith(PREFIX) or not value.strip():
            raise UserError(f"--set {each}: this is no key of the link; allowed: {SETTING}")
        try:
            found[key.removeprefix(PREFIX)] = yaml.load(value, yaml.BaseLoader)
        except yaml.YAMLError:
            raise UserError(f"--set {each}: the value is no YAML; allowed: {SETTING}") from None
    return found


def _measure(jobs: int, console: Console) -> Measure:
    from ...spec.load import files_of, load_scenario
    from ...sweep import store
    from ...trial.folder import DiskFull
    from ...trial.result import TrialResult
    from .run import carry_out

    def measure(scenario: Path, folder: Path) -> Sequence[TrialResult]:
        loaded = load_scenario(scenario)
        summary, ids = carry_out(loaded, store.Store(folder), files_of(scenario), jobs, console)
        for trial, error in summary.failures:
            say(console, ("failed", "red"), f" {trial.id}: {error}")
            if isinstance(error, DiskFull):
                raise error
        return summary.in_order(ids)

    return measure


def _print_files(readings: Sequence[Reading]) -> None:
    width = terminal_width()
    for each in readings:
        print(paragraph(f"{each.file} ({each.format}) tells: {'; '.join(each.told)}", width))
        print(paragraph(f"  not: {'; '.join((*each.untold, *each.notes))}", width, "    "))


def _print_fit(fit: PathFit) -> None:
    from ...calibrate.link import in_unit, interval_words

    columns = (
        Column("property", names=True),
        Column("value", right=True),
        Column("interval", wraps=True),
        Column("status"),
    )

    def row(each: Fitted, name: str) -> tuple[str, ...]:
        value = "" if each.value is None else in_unit(each.value, each.unit)
        return name, value, interval_words(each), each.status

    rows = tuple(row(each, name) for name, each in fit.fitted.items() if _is_shown(name, fit))
    if rows:
        print()
        show(Table(columns, rows).lines(terminal_width()))
    _print_open(fit)


def _print_link(link: LinkFit) -> None:
    """What would be built before trials refine it."""
    from ...calibrate.written import flow

    print("\nthe link that would be built, before trials refine it:")
    for key, value in link.keys().items():
        said = f"{key}: {flow(value)}{' (set by you)' if key in link.asked else ''}"
        print(paragraph(f"  {said}", terminal_width(), "    "))


def _is_shown(name: str, fit: PathFit) -> bool:
    """Not what nobody measured: the properties of a direction without any file."""
    _, _, way = name.partition(".")
    if not way:
        return True
    return any(each.value is not None for other, each in fit.fitted.items() if other.endswith(f".{way}"))


def _print_open(fit: PathFit) -> None:
    """What several explanations fit, and what would tell more."""
    width = terminal_width()
    kept: dict[str, list[Any]] = {}
    for each in fit.explanations:
        if each.fits:
            kept.setdefault(each.of, []).append(each)
    for of, several in kept.items():
        if len(several) > 1:
            print(paragraph(f"{of}: {', or '.join(each.says for each in several)}", width))
            apart = next((each.apart for each in several if each.apart), None)
            if apart:
                print(paragraph(f"  to tell: {apart}", width, "    "))
    seen: set[str] = set()
    for name, fitted in fit.fitted.items():
        if fitted.next and not fitted.is_known and fitted.next not in seen and _is_shown(name, fit):
            seen.add(fitted.next)
            print(paragraph(f"{name}: {fitted.rule}; to tell: {fitted.next}", width))


def _print_verdicts(outcome: Outcome) -> None:
    from ...calibrate.page import shown

    columns = (
        Column("measurement", wraps=True, heads=True),
        Column("metric", names=True),
        Column("measured", right=True),
        Column("rebuilt", right=True),
        Column("ratio", right=True),
        Column("verdict"),
    )

    def row(each: Judged) -> tuple[str, ...]:
        values = ("" if value is None else shown(value, each.unit) for value in (each.measured, each.rebuilt))
        said = f"{each.said}{' (held out)' if each.held_out else ''}"
        return said, each.metric, *values, "" if each.ratio is None else f"{each.ratio:.3f}", each.verdict

    print()
    if outcome.judged:
        colours = {"differs": "red", "agrees": "green"}
        show(Table(columns, tuple(map(row, outcome.judged)), colours=colours).lines(terminal_width()))
    else:
        print("nothing can be measured again, so nothing is judged")
    for note in (*outcome.notes, *outcome.rebuilt.notes):
        print(paragraph(f"note: {note}", terminal_width()))
