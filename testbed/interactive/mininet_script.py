"""A Mininet script: in a standing guest with our terminal, or as a batch in virtual time. Starts guests, and copies
what a script wrote to a folder of the user's.
"""

from __future__ import annotations

import ast
import errno
import json
import os
import pwd
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, TextIO

from .. import journal, process
from ..cache_folder import private, sudo_user
from ..codec.frozen import dataclass
from ..error import MachineError, UserError
from ..kernel import guest_file, lab
from ..kernel.consumption import share
from ..kernel.guest import TrialError
from ..kernel.guest_file import COPIED_BYTES, COUNT_BYTES, PRINTED_BYTES, STEPS_BYTES
from ..kernel.image.cache import find
from ..model.run_setting import Kernel
from ..native_program import tools
from ..plan.step import Run
from ..spec.syntax import input_file
from ..trial import strict_folder
from . import connection, mininet_guest
from .connection import take_down
from .running_network import RunningNetwork
from .starter import start

FILES_MAX, DEPTH_MAX = 10_000, 30
OUT, ERRORS = "script.out", "script.err"
PRINTS: Mapping[str, Callable[[], TextIO]] = {OUT: lambda: sys.stdout, ERRORS: lambda: sys.stderr}
READ_BYTES = 1 << 16


@dataclass(frozen=True)
class Script:
    """`word` is the file's name in `folder`, or guest.MN. `folder` is what the guest may read; None: nothing."""

    word: str
    arguments: tuple[str, ...]
    folder: Path | None

    @property
    def name(self) -> str:
        """For a network; others of this user may run the same script."""
        stem = re.sub(r"[^a-z0-9]+", "-", Path(self.word).stem.lower()).strip("-")[:16] or "script"
        return f"{stem if stem[0].isalpha() else f'mn-{stem}'}-{os.getpid()}"


def script(given: str, arguments: Sequence[str]) -> Script:
    """Raises UserError if there is no such file."""
    path = Path(given)
    if given == mininet_guest.MN and not path.is_file():
        return Script(mininet_guest.MN, tuple(arguments), None if _is_private(Path.cwd(), Path.cwd()) else Path.cwd())
    if not path.is_file():
        raise UserError(
            f"there is no file {given!r}; allowed: a Python file, or {mininet_guest.MN}, Mininet's own command"
        )
    if not os.access(path, os.R_OK):
        raise UserError(
            f"{given!r} cannot be read; allowed: a Python file, or {mininet_guest.MN}, Mininet's own command"
        )
    folder = path.resolve().parent
    if _is_private(folder, path):
        what = f"{folder} is or holds your home, and a script may read its whole folder"
        raise UserError(f"{what}; allowed: a script in a folder of its own")
    _refuse_old_python(path)
    _refuse_missing_modules(path.resolve())
    return Script(path.resolve().name, tuple(arguments), folder)


OLD_PYTHON = re.compile(
    r"Missing parentheses|inconsistent use of tabs|multiple exception types|leading zeros in decimal"
)
"""What Python says of programs that only Python 2 reads."""


def _refuse_old_python(path: Path) -> None:
    """Raises UserError for a script that only Python 2 reads; everything else Python says when it runs the script."""
    try:
        compile(path.read_bytes(), path.name, "exec", dont_inherit=True)
    except SyntaxError as error:
        if OLD_PYTHON.search(error.msg):
            what = f"{path.name}:{error.lineno}: {error.msg}: it is written for Python 2, and Mininet runs on Python 3"
            raise UserError(f"{what}; allowed: Python 3 (2to3 -w {path.name} changes most of it)") from None
    except (ValueError, RecursionError, MemoryError):
        return


LACKING = """import sys
from importlib.util import find_spec
print(*[name for name in sys.argv[1:] if name not in sys.modules and find_spec(name) is None])
"""
MODULES_MAX = 200
"""So many files of a script's folder are read for what they import."""
NO_EVENTS = "/tracing"


def _refuse_missing_modules(path: Path) -> None:
    """Raises UserError for a script that imports what neither the system's Python nor its folder has. An import in a
    `try`, in a function or under a condition may fail, and who changes `sys.path` may find modules elsewhere.
    """
    wanted = {name: line for name, line in _imported(path).items() if name != "mininet"}
    if "sys.path" in _text(path):
        return
    try:
        lacking = process.run((mininet_guest.PYTHON, "-EsB", "-c", LACKING, *wanted)).stdout.split()
    except (process.CommandError, MachineError):
        return
    if lacking:
        name = lacking[0]
        what = f"{path.name}: {wanted[name]} imports {name}, which neither {mininet_guest.PYTHON} nor its folder has"
        one = f"pip install --target {shlex.quote(str(path.parent))} {name}, or the system's package with it"
        raise UserError(f"{what}; allowed: {one} (apt install python3-{name})")


def _imported(path: Path) -> dict[str, str]:
    """The modules of elsewhere that a script and those beside it import at once, each with the line that does."""
    found: dict[str, str] = {}
    waiting, known = [path], {path}
    while waiting and len(known) <= MODULES_MAX:
        file = waiting.pop(0)
        for name, line in _imports(file):
            beside = [path.parent / f"{name}.py", path.parent / name / "__init__.py"]
            there = [each for each in beside if each.is_file()]
            if not there and not (path.parent / name).is_dir() and name.isidentifier():
                found.setdefault(name, f"{file.name}:{line}")
            waiting += [each for each in there if each not in known]
            known.update(there)
    return found


def _imports(file: Path) -> Iterator[tuple[str, int]]:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for each in tree.body:
        if isinstance(each, ast.Import):
            yield from ((alias.name.partition(".")[0], each.lineno) for alias in each.names)
        elif isinstance(each, ast.ImportFrom) and each.module and not each.level:
            yield each.module.partition(".")[0], each.lineno


def without_effect(wanted: Script) -> str | None:
    """What to say of a script that asks for what a lab kernel does not have, and would go on; None for others."""
    if wanted.folder is None or NO_EVENTS not in _text(wanted.folder / wanted.word):
        return None
    return (
        f"{wanted.word} reads /sys/kernel/…{NO_EVENTS}, and a lab kernel has no trace events (tcp_probe): "
        "it gets nothing; ss -tin in a node shows the window (cwnd) of each connection"
    )


def refuse_endless(wanted: Script, text: str) -> None:
    """Raises UserError for an iperf of Mininet's own command in virtual time, over links without a rate: it would send
    for ever at the same moment. `text` is the standard input. A `--custom` file may have links of its own, with a rate.
    """
    words = [word for each in wanted.arguments for word in each.split("=", 1)]
    tests = [name for flag, value in pairwise(words) if flag == "--test" for name in value.split(",")]
    commands = [line.split()[0] for line in text.splitlines() if line.strip()]
    asked = [each for each in (*tests, *commands) if each in ("iperf", "all")]
    is_known = wanted.word == mininet_guest.MN and "--custom" not in words
    if asked and is_known and not re.search(r"\bbw=", " ".join(wanted.arguments)):
        what = f"{asked[0]} sends as fast as it can, and without a rate on the path virtual time stands still"
        raise UserError(f"{what}; allowed: --link tc,bw=10, or no --virtual")


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _is_private(folder: Path, given: Path) -> bool:
    """Whether a folder is or holds a home: of the user who runs, of who typed sudo, or of who owns what was given."""
    return any(home == folder or folder in home.parents for home in _homes(given))


def _homes(given: Path) -> Iterator[Path]:
    yield Path.home().resolve()
    under_sudo = sudo_user()
    for uid in (os.geteuid(), given.stat().st_uid, *(() if under_sudo is None else (under_sudo,))):
        with suppress(KeyError):
            yield Path(pwd.getpwuid(uid).pw_dir).resolve()


def stand(wanted: Script, memory_bytes: int, report: Callable[[str], None]) -> RunningNetwork:
    """Starts a guest for it, on the wall clock. Raises as `starter.start` does."""
    kernel = Kernel("lab-realtime")
    made = mininet_guest.guest(wanted.name, kernel, has_files=wanted.folder is not None, memory_bytes=memory_bytes)
    node = {"type": "host", "where": {"netns": None}, "ports": {}, "environment": dict(mininet_guest.ENVIRONMENT)}
    return start(made, wanted.name, Path(wanted.word), report, files=wanted.folder, more={mininet_guest.NODE: node})


def attend(network: RunningNetwork, wanted: Script, keep: Path | None) -> int:
    """Runs it in its guest with our standard streams, or our terminal, and takes the guest down; its exit status as a
    shell would have it. What it writes to its folder goes to `keep`; None: it is lost.
    """
    try:
        terminal = connection.is_terminal()
        words = mininet_guest.words(wanted.word, wanted.arguments, terminal=terminal)
        status = connection.attend(network, mininet_guest.NODE, {}, list(words), terminal=terminal)
        if keep is None:
            _say_lost(_run(network, mininet_guest.count()))
        else:
            _run(network, mininet_guest.kept())
            _keep(network.folder / "trial", keep)
        return status
    finally:
        take_down(network)


def _run(network: RunningNetwork, words: Sequence[str]) -> bytes:
    status, out, err = connection.run(network, {}, list(words))
    if status:
        said = err.decode(errors="replace").strip()
        raise MachineError(f"what the script wrote cannot be kept: {said}", "testbed mininet --memory with more")
    return out


def batch(wanted: Script, memory_bytes: int, keep: Path | None, text: str) -> int:
    """Runs it in virtual time; `text` is its standard input. Raises TrialError if lab time stands still or the guest
    dies.
    """
    made = mininet_guest.guest(
        wanted.name, Kernel("lab"), has_files=wanted.folder is not None, memory_bytes=memory_bytes
    )
    settings = (f"{key}={value}" for key, value in mininet_guest.ENVIRONMENT.items())
    words = ("env", *settings, *mininet_guest.words(wanted.word, wanted.arguments, terminal=False))
    last = Run(mininet_guest.count() if keep is None else mininet_guest.kept(), "files", out="count.txt")
    steps = (*made.steps, Run(words, "script", stdin=text, out=OUT, err=ERRORS, may_fail=True), last)
    with journal.folder_noted(private("mininet") / journal.unique("script")) as folder, ExitStack() as files:
        follow = _Followed(folder, files)
        lab.run(
            find(None),
            steps,
            folder,
            tools=tools(),
            seed=1,
            memory_bytes=memory_bytes,
            cancelled=follow.look,
            files=wanted.folder,
        )
        follow.rest()
        status = _status(folder, len(steps) - 2)
        if keep is None:
            _say_lost(_beginning(folder, "count.txt", COUNT_BYTES))
        else:
            _keep(folder, keep)
    return status if status >= 0 else 128 - status


def _status(folder: Path, step: int) -> int:
    """Of the script, which is a step."""
    lines = _beginning(folder, "log.jsonl", STEPS_BYTES).splitlines()
    try:
        return int(json.loads(lines[step])["status"])
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        raise TrialError("the guest does not say how the script ended") from None


def _beginning(folder: Path, name: str, most_bytes: int) -> bytes:
    """Of a file that is the guest's; nothing where there is none."""
    with suppress(OSError):
        return guest_file.beginning(folder / name, most_bytes)
    return b""


class _Followed:
    """What a script prints, passed on while it runs. At most COPIED_BYTES of a stream at a time: nothing else is looked
    at meanwhile.
    """

    def __init__(self, folder: Path, open_files: ExitStack) -> None:
        self._folder, self._open = folder, open_files
        self._files: dict[str, BinaryIO] = {}

    def look(self) -> bool:
        """Returns that nothing is cancelled. Raises TrialError as `rest` does."""
        for name in PRINTS:
            self._pass_on(name)
        return False

    def rest(self) -> None:
        """To be called when the guest has ended. Raises TrialError for more than PRINTED_BYTES."""
        for name in PRINTS:
            while self._pass_on(name):
                pass

    def _pass_on(self, name: str) -> int:
        if name not in self._files:
            with suppress(OSError):  # there is none yet, or what no script printed to
                self._files[name] = self._open.enter_context(input_file.opened(self._folder / name))
        data = self._files[name].read(COPIED_BYTES) if name in self._files else b""
        if data and self._files[name].tell() > PRINTED_BYTES:
            raise TrialError(f"the script printed more than {PRINTED_BYTES >> 20} MiB")
        stream = PRINTS[name]()
        stream.flush()
        for at in range(0, len(data), READ_BYTES):
            connection.write_all(stream.fileno(), data[at : at + READ_BYTES])
        return len(data)


def check_empty(keep: Path) -> None:
    """Raises UserError unless it is an empty folder, or can become one."""
    try:
        strict_folder.make_own(keep)
    except OSError as error:
        raise UserError(f"{keep} cannot be made: {error.strerror}; allowed: an empty folder") from None
    if any(keep.iterdir()):
        raise UserError(f"{keep} is not empty; allowed: an empty folder, or the name of a new one")


def _keep(folder: Path, keep: Path) -> None:
    """Copies plain files, and follows no link: the guest may have made one, and files that are longer than what they
    take of a disk.
    """
    most = left = share(keep)
    for count, names in enumerate(_files(folder, (mininet_guest.KEPT,)), 1):
        if count > FILES_MAX:
            raise UserError(f"the script wrote more than {FILES_MAX} files; the first {FILES_MAX} are in {keep}")
        target = keep.joinpath(*names[1:])
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            left -= strict_folder.copy(folder, *names, target=target, most_bytes=left)
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            target.unlink()
            what = f"the script wrote more than {most >> 20} MiB, half of what is free"
            raise UserError(f"{what}; the first files are in {keep}") from None


def _files(folder: Path, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name in strict_folder.names_in(folder, *names):
        with strict_folder.opened(folder, *names) as here:
            is_file, is_folder = strict_folder.is_file(name, here), strict_folder.is_folder(name, here)
        if is_file:
            yield (*names, name)
        elif is_folder and len(names) < DEPTH_MAX:
            yield from _files(folder, (*names, name))


def _say_lost(counted: bytes) -> None:
    said = counted.strip()
    if said.isdigit() and int(said):
        files = "a file" if int(said) == 1 else f"{int(said)} files"
        print(f"testbed: the script wrote {files} to its folder, of the guest; -o DIR keeps such", file=sys.stderr)
