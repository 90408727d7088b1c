"""The command line: `testbed COMMAND`. Every command is a module of `testbed.commands`."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from typing import Any, NoReturn

import typer
import typer.core
import typer.main

from . import __version__
from .error import TestbedError

GROUPS = {
    "describe": ("check", "plan", "schema"),
    "measure": ("run", "reproduce"),
    "conclude": ("results", "query", "plot", "report", "compare"),
    "network": ("up", "shell", "exec", "status", "down", "clean"),
    "computer": ("doctor", "kernel", "machines"),
}
"""The commands, by the package of `testbed.commands` that their module is in, in the order of the help. The module has
a function or a group `app` of the command's name. SETTINGS in it says how the command differs from others.
"""

COMMANDS = {name: group for group, names in GROUPS.items() for name in names}


class Interrupted(TestbedError):
    """Somebody pressed Ctrl-C."""

    exit_code = 130


class Commands(typer.core.TyperGroup):
    """Imports a command when it is asked for, as the libraries of all of them take a second; and says what an
    interruption means, before typer makes an exit without a word of it.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, name: str) -> Any:
        if name not in COMMANDS:
            return None
        module = import_module(f".commands.{COMMANDS[name]}.{name}", __package__)
        found = getattr(module, "app", None)
        if found is None:
            found = typer.Typer(add_completion=False, rich_markup_mode=None)
            found.command(name, **getattr(module, "SETTINGS", {}))(getattr(module, name))
        made = typer.main.get_command(found)
        made.name = name
        return made

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
