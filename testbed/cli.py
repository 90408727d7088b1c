"""The command line: `testbed COMMAND`. Every command is a module of `testbed.commands`."""

from __future__ import annotations

import signal
import sys
from typing import Any, NoReturn

import typer
import typer.core

from . import __version__
from .commands import check, compare, doctor, kernel, plan, plot, query, report, reproduce, results, run, schema
from .error import TestbedError


class Interrupted(TestbedError):
    """Somebody pressed Ctrl-C."""

    exit_code = 130


class Commands(typer.core.TyperGroup):
    """Says what an interruption means, before typer makes an exit without a word of it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            said = "interrupted; what was finished is kept, the same command goes on from there"
            raise Interrupted(said) from None


app = typer.Typer(
    cls=Commands,
    help="Build a network out of real parts, run an experiment over it, and know whether the number can be believed.",
    epilog="Exit codes: 0 fine, 1 a verdict failed, 2 wrong input, 3 this machine lacks something, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(doctor.doctor)
app.add_typer(kernel.app, name="kernel")
app.command()(check.check)
app.command()(plan.plan)
app.command()(run.run)
app.command()(results.results)
app.command()(query.query)
app.command()(plot.plot)
app.command()(report.report)
app.command()(compare.compare)
app.command()(reproduce.reproduce)
app.command()(schema.schema)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"testbed {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Say which version this is."
    ),
) -> None:
    """Options before any command."""


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main() -> None:
    """Runs the command and exits with its code; an error is one message on standard error."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        app(prog_name="testbed")
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(1)
