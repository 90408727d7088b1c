"""`testbed compare`: compares a run with another run, or with a published profile."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ...analysis.metric import METRICS, chosen
from ...analysis.series import Span
from ...compare import published, run
from ...compare.condition import TOLERANCE, Choice
from ...error import UserError
from .. import compared_profile, option_rule, question
from ..known import learn_metrics
from ..option_rule import Only
from ..run_verdict import FAILS, FailOn, Format, share, show_runs, tolerance_of
from ..sequential.budget import HELP as BUDGET_HELP
from ..sequential.budget import budget_of
from ..sequential.foretold import foretell
from ..sequential.until_decided import UntilDecided
from ..terminal import Terminal

EXAMPLES = (
    ("Find out whether a change made anything worse", "testbed compare results/before results/after"),
    ("Compare two values of an axis of one run, and add seeds where it cannot tell",
     "testbed compare results/mine --axis flows --base 1 --candidate 4 --extend"),
    ("Compare a run with a published profile", "testbed compare results/mine google-cloud-emulated"),
    ("Let a build server read the outcome",
     "testbed compare results/before results/after --format junit -o out.xml"),
)  # fmt: skip


TWO_RUNS, RUNS, PROFILE = "two runs", "runs or two values of an axis", "a published profile"
OF_EXTENSION = Only(("--budget",), "--extend", "{option} is for --extend; allowed: both, or neither")
RULES = (
    Only(("--with-ramp", "--as-shares", "--common-rtts"), PROFILE,
         f"{{option}} is for {PROFILE}; allowed: {TWO_RUNS} without it"),
    Only(("--metric", "--fail-on", "--extend"), RUNS, f"{{option}} is for {TWO_RUNS}; allowed: the same without it"),
    Only(("--ignore",), TWO_RUNS, f"{{option}} is for {TWO_RUNS}; allowed: the same without it"),
    OF_EXTENSION,
)  # fmt: skip


def compare(
    context: typer.Context,
    base: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run, or of several.")],
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN|PROFILE",
            help="The folder of another run, or of several; or a published profile as NAME or FILE, or one number "
            "or series of it as NAME#NUMBER (testbed list profiles).",
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
            help="The difference that does not matter; if left out, 3 % of a metric, or for a profile 10 % of each "
            "throughput. '3 % or 2 sd': of two runs, or 2 standard deviations of the base's trials of a cell, if these "
            "are more.",
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
    as_shares: Annotated[
        bool,
        typer.Option("--as-shares", help="Judge a profile of a link of another rate, by shares of the rate."),
    ] = False,
    common_rtts: Annotated[
        bool,
        typer.Option(
            "--common-rtts", help="Compare only the RTTs, windows, losses, … that both the profile and the run cover."
        ),
    ] = False,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(
            metavar="worse|lost|cannot-tell",
            help="What makes the command fail: cannot-tell (the default), all that was not shown to be the same or "
            "better; worse or lost, only what is worse or lost.",
        ),
    ] = None,
    extend: Annotated[
        bool,
        typer.Option("--extend", help="First add seeds to the undecided cells of both runs, until each is decided."),
    ] = False,
    budget: Annotated[list[str] | None, typer.Option(metavar="BUDGET", help=OF_EXTENSION.help(BUDGET_HELP))] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="With --extend: how many trials run at the same time.")
    ] = os.cpu_count() or 1,
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
    the profile; 4 if the candidate lacks trials, cells or values that the base has; 5 if a primary metric is undecided,
    or the run is neither shown to agree with the profile nor to differ from it.
    """
    option_rule.refuse(option_rule.given_in(context), RULES, _kinds(other, axis))
    least = max(fail_on or [FailOn.cannot_tell], key=lambda each: len(FAILS[each]))
    learn_metrics([base, *([Path(other)] if other is not None and Path(other).is_dir() else [])])
    asked = None if not metric else tuple(chosen(metric))
    allowed, sds = tolerance_of(tolerance, run.TOLERANCE) if _kinds(other, axis) != (PROFILE,) else (0.0, 0.0)
    if axis is not None:
        if other is not None or base_value is None or candidate is None:
            raise UserError("--axis compares within one run; allowed: DIR --axis AXIS --base VALUE --candidate VALUE")
        wanted = question.of_values(base, axis, (base_value, candidate), allowed, asked)
    elif other is not None and Path(other).is_dir() and base_value is None and candidate is None:
        wanted = question.of_runs(base, Path(other), allowed, asked, ignore or [])
    else:
        wanted = None
    if wanted is not None:
        wanted = replace(wanted, sds=sds)
        if extend:
            foretell(Terminal(), wanted.base, wanted.tolerance, sds, budget_of(budget or []).repetitions)
            UntilDecided(wanted, budget_of(budget or []), jobs, Terminal()).carry_out()
        show_runs(question.answer(wanted), format, least, output)
        return
    if other is None or base_value is not None or candidate is not None:
        raise UserError(
            "there is nothing to compare the run with; allowed: the folder of another run, a published profile "
            f"({', '.join(published.comparable())}), or --axis with --base and --candidate"
        )
    choice = Choice(share(tolerance, TOLERANCE), as_shares, common_rtts)
    _published(base, other, choice, "whole" if with_ramp else "steady", format, output)


def _kinds(other: str | None, axis: str | None) -> tuple[str, ...]:
    """What is compared, as the rules of the options name it."""
    if axis is not None:
        return (RUNS,)
    return (PROFILE,) if other is not None and not Path(other).is_dir() else (RUNS, TWO_RUNS)


def _published(folder: Path, name: str, choice: Choice, span: Span, format: Format, output: Path | None) -> None:
    if format is Format.junit:
        raise UserError("--format junit is for two runs; allowed for a published profile: table, json, markdown")
    found = compared_profile.found_in(folder, name, choice, span)
    compared_profile.show(found, span, format.value, output)
    code = compared_profile.EXIT_CODES[found.verdict]
    if code:
        raise typer.Exit(code)
