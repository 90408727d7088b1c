"""`testbed cc`: says what a change of congestion control did."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ...error import UserError
from ...kernel.image.workbench import Built
from .. import option_rule
from ..candidate import ack_pages, broken, contender, smoke, suite, verdict, watch
from ..candidate.contender import Pair
from ..candidate.suite import Suite
from ..comparison_table import EXIT_CODES
from ..computer.kernel import Bar, Use
from ..option_rule import Never
from ..screen import duration
from ..sequential.budget import Budget, budget_of
from ..terminal import Terminal, say
from ..text_table import paragraph

BUDGET, BUDGET_FULL = "10 min", "30 min"
QUICK = Budget(repetitions=8, wall_s=180.0)

EXAMPLES = (
    ("Find out what your congestion control does that CUBIC does not", "testbed cc tcp_foo.c"),
    ("Find out in 3 minutes what a patch changes, and again each time you save it",
     "testbed cc my.patch --quick --watch"),
    ("Compare two controls of the lab kernel", "testbed cc bbr --base cubic"),
    ("See what a sysctl is worth",
     "testbed cc sysctl:net.ipv4.tcp_sack=0"),
)  # fmt: skip

SUITES = ("--full", "--group", "--scenario")
"""Options that say what runs: one of them. `--quick` says it, too, unless there are scenarios of the author's."""

RULES = (
    Never("--quick", ("--budget",), "{option} is a budget of 3 min and 8 seeds; allowed: it, or {others}"),
    Never("--quick", SUITES[:2], "{option} is a suite of its own; allowed: {option} without {others}"),
    Never("--full", SUITES[1:], "{option} is the whole suite; allowed: {option} without {others}"),
    Never("--group", SUITES[2:], "{option} is a part of the suite; allowed: it, or {others}"),
)  # fmt: skip


def cc(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="What to judge: a file tcp_NAME.c, a patch to Linux, a folder with Linux's source, the name of a "
            "congestion control, sysctl:KEY=VALUE, or variant:VALUE, a program of a scenario.",
        ),
    ],
    base: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The congestion control to compare with; of a patch or a folder, the one that runs on both sides. If "
            "left out, the one whose file a patch changes, else cubic. Of variant:VALUE the other value.",
        ),
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BUDGET",
            help=f'When to give up on cells that cannot be told apart, as "{BUDGET}" (if left out; with --full '
            f'"{BUDGET_FULL}"), "40 seeds" (of a cell) or "500 trials" (after the first seeds); may be repeated.',
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only a few of the suite's cells, up to 8 seeds of each, 3 min at most.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="All scenarios, in place of those in which a change is most often seen.")
    ] = False,
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP",
            help=f"All scenarios of this group, which is one of {', '.join(suite.GROUPS)}; may be repeated.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="The source of the base's kernel: a version of Linux, a tarball, or a folder; if left out, that of "
            "the default lab kernel.",
        ),
    ] = None,
    scenario: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Instead of the suite, this scenario, written for CUBIC or with {variant}; may be repeated.",
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="Give a parameter of the candidate's module these values, such as "
            f"{contender.PARAM_EXAMPLE}, and judge each; may be repeated. What the module computes of it when it "
            "registers stays as it was built.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Where the results of all bases and candidates go.")
    ] = Path("results/cc"),
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many trials, or compilers, run at the same time.")
    ] = os.cpu_count() or 1,
    watching: Annotated[
        bool, typer.Option("--watch", help="Do it again each time that the file is saved, until Ctrl-C.")
    ] = False,
) -> None:
    """Builds what is missing in a tree that is kept, runs a first trial, then a suite of scenarios on base and
    candidate with the same seeds, and adds seeds until each cell is decided or the budget is spent. The control under
    test takes the place of CUBIC in every cell. Finished trials do not run again.

    The exit code is that of `testbed compare`: 0 the same or better, 1 worse, 4 the candidate lacks something, 5 it
    cannot tell; and 6 if the kernel oopses, or the control breaks what every control must keep.
    """
    option_rule.refuse(option_rule.given_in(context), RULES)
    asked = QUICK if quick else budget_of(budget or [BUDGET_FULL if full else BUDGET])
    if watching:
        watch.watch(Path(what), _again(sys.argv))
    console = Terminal()
    if what.startswith(contender.VARIANT) and (not scenario or param):
        said = "its scenario is missing" if not scenario else "a program has no --param"
        raise UserError(f"{what}: {said}; allowed: testbed cc variant:VALUE --base ANOTHER --scenario FILE")
    with Bar(console, Use.lab) as bar:
        made = contender.pair(what, base, source, bar.show, jobs, is_swept=bool(param))
    if made.built is not None:
        _tell_build(console, made.built)
    files = suite.chosen(scenario or (), group or (), is_quick=quick, is_full=full)
    pairs = contender.swept(made, param or ())
    codes = [_code(Suite(pair, files, output, asked, jobs, console, time.monotonic())) for pair in pairs]
    if code := max(codes, key=SEVERITY.index):
        raise typer.Exit(code)


SEVERITY = (0, 5, 4, 1, 6)
"""Exit codes, the worst one last."""


def _code(made: Suite) -> int:
    """The exit code of a candidate; another value of a parameter is judged after one that breaks the kernel."""
    try:
        return _judge(made)
    except smoke.Broken as error:
        say(made.console, ("broken", "red"), f": {error}")
        return error.exit_code


def _judge(made: Suite) -> int:
    """The first trial, the suite and the verdict of one candidate; the exit code."""
    pair = made.pair
    _tell_differences(pair, made.console)
    with made.alone():
        if pair.is_same_code:
            return verdict.show_same_code(pair, made.candidate)
        passed, alike = (None, ()) if pair.is_of_programs else smoke.of_both(pair, made.base, made.candidate)
        if passed is not None:
            say(made.console, f"first trial: passed, after {duration(time.monotonic() - made.began_s)}")
        found = made.carry_out()
        told = broken.told(made.base), broken.told(made.candidate)
        broke = broken.found(*told)
        if found is None:
            if broke:
                raise smoke.Broken(broken.sentence(pair.candidate.label, broke))
            return EXIT_CODES["cannot tell"]
        about = pair, found, (*alike, *broken.shared(*told), *_notes(made)), made.candidate, made.own, made.rules()
        code = verdict.show_verdict(*about, broke)
        try:
            if acks := ack_pages.write(made, found):
                verdict.write_evidence(*about, acks, broke)
        finally:
            verdict.show_sentence(pair, found, broke)
    return code


def _tell_build(console: Terminal, built: Built) -> None:
    how = f"compiled in {built.wall_s:.0f} s" if built.is_new else "is compiled already"
    say(console, f"{built.change.label} {how}: kernel {built.image.name}")
    for line in built.warnings.splitlines():
        say(console, line)


def _tell_differences(pair: Pair, console: Console) -> None:
    width = console.width if console.is_terminal else None
    for each in (*(f"differs in: {each}" for each in pair.differences), *pair.partial_parameters):
        say(console, paragraph(each, width))


def _notes(made: Suite) -> Sequence[str]:
    found = [f"the sides differ in {each}" for each in made.pair.differences]
    found += made.pair.partial_parameters
    same, total = made.identical()
    if same:
        found.append(f"{same} of {total} pairs of trials are the same, byte for byte")
    return found


def _again(words: Sequence[str]) -> tuple[str, ...]:
    """The command without --watch."""
    rest = [each for each in words[1:] if each != "--watch"]
    if "cc" not in rest:
        raise UserError("--watch needs the command line that it repeats; allowed: testbed cc WHAT --watch")
    return (sys.executable, "-m", "testbed", *rest)
