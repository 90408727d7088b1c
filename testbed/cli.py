"""The command line: `testbed COMMAND`. Every command is a module of `testbed.commands`."""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

import typer
import typer.core

from . import __version__
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
COMMANDS: dict[str, dict[str, Any]] = {
    "doctor": {},
    "kernel": {},
    "check": {},
    "plan": {},
    "run": {},
    "results": {},
    "query": {},
    "plot": {},
    "compare": {},
    "reproduce": {},
    "schema": {},
    "up": {},
    "shell": {},
    "exec": {"context_settings": {"allow_interspersed_args": False}},
    "status": {},
    "down": {},
    "clean": {},
}
"""Every command, in the order in which help lists them, and how it differs from others: each is a module of the same
name with a function, or an `app`, of that name.
"""


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


def load(names: Iterable[str]) -> None:
    """Makes these commands known. Some of them import a great deal, and a command should not wait for another's."""
    for name in names:
        module = importlib.import_module(f".commands.{name}", __package__)
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, **COMMANDS[name])(getattr(module, name))


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main() -> None:
    """Runs the command and exits with its code; an error is one message on standard error."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        load([sys.argv[1]] if sys.argv[1:2] and sys.argv[1] in COMMANDS else COMMANDS)
        app(prog_name="testbed")
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(1)
