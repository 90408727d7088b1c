"""The command line: `testbed COMMAND`. Every command is a module of `testbed.commands`."""

from __future__ import annotations

import inspect
import io
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TextIO, cast

import typer
import typer.core
import typer.main

from . import __version__
from .commands import help_page
from .commands.closed_output import CLOSED, closed, given_up, to_nowhere
from .error import MachineError, TestbedError, harmless

GROUPS = {
    "describe": {
        "check": "Check topology and scenario files for mistakes.",
        "plan": "Print the commands that build a network, and run none.",
        "list": "List the scenarios, topologies, profiles and kernels.",
        "path": "Write a topology of a path between regions of clouds.",
        "schema": "Print the JSON Schema of topology, scenario or profile files.",
    },
    "measure": {
        "run": "Run the trials of a scenario.",
        "cc": "Say what a change of congestion control did.",
        "packetdrill": "Run packet-level scripts of TCP in a lab kernel.",
        "merge": "Merge the shards of a scenario.",
        "audit": "Repeat a random sample of trials, and compare the bytes.",
        "calibrate": "Rebuild a measured path, and measure it again.",
        "reproduce": "Repeat published measurements, and compare the numbers.",
    },
    "conclude": {
        "results": "Print the results of a run.",
        "query": "Query the results of a run in SQL.",
        "plot": "Draw a figure of a run.",
        "report": "Write a report of a run as one HTML page.",
        "compare": "Compare a run with another run or a published profile.",
    },
    "network": {
        "up": "Start a network and keep it running.",
        "shell": "Open a shell in a node of a running network.",
        "exec": "Run a command in a node of a running network.",
        "ping": "Ping a node of a running network from another.",
        "pingall": "Ping from every host of a running network to every other.",
        "iperf": "Measure what TCP reaches between two nodes of a running network.",
        "capture": "Capture packets of a running network, for Wireshark.",
        "logs": "Print the log of a controller, a switch or a router.",
        "reload": "Restart a controller, with its changed app.",
        "mininet": "Run a Mininet script, unchanged, in a lab kernel.",
        "node": "Stop or start a switch, a router or a controller.",
        "link": "Change a link of a running network, or take it down.",
        "status": "Show the running networks, their nodes and their links.",
        "watch": "Show running networks on a live page, with terminals.",
        "down": "Stop a running network.",
        "clean": "Remove what killed commands left behind.",
    },
    "teach": {
        "exercise": "Work on an exercise that checks itself.",
        "grade": "Mark submissions of an exercise.",
    },
    "computer": {
        "doctor": "Show what this computer can run, and what it lacks.",
        "kernel": "Build, fetch and list kernels.",
        "machines": "Prepare real computers over SSH, and restore them.",
        "completion": "Print the script that completes commands in a shell.",
    },
}
"""The commands and what they do, by the package of `testbed.commands` that their module is in, in the order of the
help; those of BESIDE lie elsewhere. The module has a function or a group `app` of the command's name; its docstring
says more. EXAMPLES in it are for the help, and SETTINGS say how the command differs from others.
"""

TITLES = {
    "describe": "Describe",
    "measure": "Run",
    "conclude": "Conclude",
    "network": "Work in a network",
    "teach": "Teach and learn",
    "computer": "This computer",
}

COMMANDS = {name: group for group, names in GROUPS.items() for name in names}

BESIDE = {"reproduce": "testbed_reproductions.command"}
"""Commands whose module is in a package beside this one, which uses `testbed.api`."""


def module_of(name: str) -> str:
    """The full name of a command's module."""
    return BESIDE.get(name) or f"{__package__}.commands.{COMMANDS[name]}.{name}"


class Interrupted(TestbedError):
    """Somebody pressed Ctrl-C."""

    exit_code = 130


class Commands(help_page.Group):
    """Imports a command when it is asked for, as the libraries of all of them take a second; and says what an
    interruption means, before typer makes an exit without a word of it.
    """

    titles: ClassVar = {TITLES[group]: tuple(names) for group, names in GROUPS.items()}

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def line_of(self, ctx: Any, name: str) -> str:
        return GROUPS[COMMANDS[name]][name]

    def source_of(self, name: str) -> Path:
        return Path(__file__).parents[1].joinpath(*module_of(name).split(".")).with_suffix(".py")

    def get_command(self, ctx: Any, name: str) -> Any:
        if name not in COMMANDS:
            return None
        module = import_module(module_of(name))
        found = getattr(module, "app", None)
        if found is None:
            found = typer.Typer(add_completion=False, rich_markup_mode=None)
            settings = getattr(module, "SETTINGS", {})
            shown = help_page.examples(*module.EXAMPLES)
            found.command(name, cls=help_page.Command, epilog=shown, **settings)(getattr(module, name))
        made = typer.main.get_command(found)
        made.name = name
        made.help = f"{self.line_of(ctx, name)}\n\n{inspect.cleandoc(made.help or '')}".strip()
        return made

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            keeps = COMMANDS.get(str(ctx.invoked_subcommand)) != "network"  # of a look at a network nothing is kept
            what = "; what is finished is kept, and the same command continues from there" if keeps else ""
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end of Python itself brings back what kills
            raise Interrupted(f"interrupted{what}") from None


app = typer.Typer(
    cls=Commands,
    help="Build a network out of real parts, measure over it, and know whether the numbers can be believed.\n\n"
    "`testbed COMMAND --help` explains a command, with examples.",
    epilog="Exit codes: 0 fine, 1 a verdict or comparison failed, 2 wrong input, 3 this computer lacks something, "
    "4 trials are missing (merge), or a comparison lacks what its base has, 5 it cannot tell, 6 a congestion control "
    "breaks the kernel (cc), 130 interrupted, 141 its output was closed.",
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
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Options before any command."""


LIBRARIES = {
    "ansible_runner": "ansible-runner",
    "asyncssh": "asyncssh",
    "dask": "distributed",
    "distributed": "distributed",
    "duckdb": "duckdb",
    "matplotlib": "matplotlib",
    "pyarrow": "pyarrow",
    "scipy": "scipy",
}
"""The packages of the extra `all`, by the modules that are imported."""
FAULT = 70
"""The exit code if the testbed itself is at fault, which is no verdict: EX_SOFTWARE of sysexits.h."""
INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupt(number: int, frame: object) -> NoReturn:
    """The first interruption ends the command. Another one, in the middle of its clean-up, would leave locks broken
    ("release unlocked lock") and work undone, so it only says what else there is.
    """
    for each in INTERRUPTIONS:
        signal.signal(each, _goes_on)
    raise KeyboardInterrupt


def _goes_on(number: int, frame: object) -> None:
    """Not SIG_IGN, which programs that are started from here would inherit."""
    if number == signal.SIGINT:
        how = f"to end at once: kill -9 {os.getpid()}, then testbed clean"
        with suppress(OSError):  # its terminal may be gone
            os.write(2, f"\ntestbed: what runs is being ended and removed; {how}\n".encode())


class _Screen:
    """A stream of text to which only harmless text is written."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream  # where rich draws, which has its own commands for a terminal

    def write(self, text: str) -> int:
        try:
            self.rich_proxied_file.write(harmless(text))
        except BrokenPipeError:
            closed(self.rich_proxied_file)
        return len(text)

    def flush(self) -> None:
        try:
            self.rich_proxied_file.flush()
        except BrokenPipeError:
            closed(self.rich_proxied_file)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def _opened() -> None:
    """A stream that was closed when the command began goes nowhere, so that no file that is opened takes its place."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            to_nowhere(number)
            setattr(sys, name, io.TextIOWrapper(io.FileIO(number, mode, closefd=False), line_buffering=number == 2))


@contextmanager
def screened() -> Iterator[None]:
    """All that is printed meanwhile is harmless, and is never refused for its characters."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = (cast(TextIO, _Screen(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def main() -> None:
    """Runs the command and exits with its code; an error is one message on standard error."""
    _opened()
    for each in INTERRUPTIONS:
        if each != signal.SIGINT or signal.getsignal(each) is not signal.SIG_IGN:  # as in the background of a shell
            signal.signal(each, _interrupt)
    with screened():
        try:
            _main()
        except SystemExit as ended:
            sys.exit(_written(ended.code))
        except Exception:
            with suppress(OSError):
                traceback.print_exc()  # while what it says is screened
            sys.exit(_written(FAULT))
        sys.exit(_written(0))


def _written(code: str | int | None) -> str | int | None:
    """Writes what is still in the buffers. Returns the exit code of the command; not 0 if something cannot be written.
    Otherwise Python would find that out at its end, and end with 120.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            given_up(stream)
            if not code:
                code = MachineError.exit_code
                with suppress(OSError):
                    print(f"testbed: not all of its output could be written: {error.strerror}", file=sys.stderr)
    return code


def _main() -> None:
    try:
        app(prog_name="testbed")
    except TestbedError as error:
        with suppress(OSError):
            print(f"testbed: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in LIBRARIES:
            raise
        package = LIBRARIES[error.name.split(".")[0]]
        what = f"this needs the Python package {package}, which an installation for classes leaves out"
        print(f"testbed: {what}; to fix it, type: pip install {package}", file=sys.stderr)
        sys.exit(MachineError.exit_code)
    except BrokenPipeError:
        sys.exit(CLOSED)
    except OSError as error:  # of a file that is none of the results' or the user's: the computer lacks something
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        with suppress(OSError):
            print(f"testbed: {where}{error.strerror or error}", file=sys.stderr)
        sys.exit(MachineError.exit_code)
