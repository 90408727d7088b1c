"""Commands as a script for a root shell. Pure, no I/O."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from ..agent.syscall import OUTSIDE
from ..error import visible
from ..package import MININET_DRIVER, MININET_PYTHON
from .command import EXACT_NETEM, HOME, OWN_QDISC_PROGRAM, OWN_QDISCS, Command, process_words, takes_own_program


def script(commands: Iterable[Command]) -> str:
    """The commands as a script for a root shell."""
    return "".join(map(_shell_lines, commands))


def comment(text: str) -> str:
    """Text as lines that a shell skips, whatever is in it."""
    return "".join(f"# {visible(line)}\n" for line in text.split("\n"))


def _shell_lines(command: Command) -> str:
    line = _own_qdisc(command) if takes_own_program(command) else _line(command)
    if command.on is None:
        return f"{line}\n"
    if not command.on.endswith(HOME):
        return comment(f"on {command.on}: {line}")
    return f"{shlex.join(('ssh', command.on.removesuffix(HOME), line))}\n"


def _own_qdisc(command: Command) -> str:
    """Such a line works where our program can be called; OWN_QDISCS are in the lab kernel alone."""
    text = f"echo {shlex.quote(' '.join(command.words))} | {OWN_QDISC_PROGRAM}"
    inside = text if command.netns is None else shlex.join(("ip", "netns", "exec", command.netns, "sh", "-c", text))
    if EXACT_NETEM in command.words:
        return f"{inside}  # to the nanosecond: testbed/agent/native/qdisc.c"
    kind = next(word for word in command.words if word in OWN_QDISCS)
    return f"{inside}  # {kind} is ours: kernel/lab/patches/"


def _line(command: Command) -> str:
    netns, words = None if command.netns == OUTSIDE else command.netns, command.words
    if command.tool == "mininet":
        return _mininet_line(*words)
    if command.tool in ("ip", "tc", "bridge") and netns is not None:
        return shlex.join((command.tool, "-n", netns, *words))
    line = process_words(command)
    text = shlex.join(line if netns is None else ("ip", "netns", "exec", netns, *line))
    if command.tool == "file":
        return f"printf %s {shlex.quote(words[1])} | {text} > /dev/null"
    return f"{text} &" if command.tool in ("controller", "program", "vm") else text


def _mininet_line(verb: str, text: str) -> str:
    driver = f'{shlex.join(MININET_PYTHON)} "${{TESTBED:-testbed}}/agent/{MININET_DRIVER}" {verb}'
    return f"printf %s {shlex.quote(text)} | {driver} ." if verb == "build" else f"{driver} {shlex.quote(text)}"
