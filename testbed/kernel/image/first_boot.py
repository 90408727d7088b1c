"""Boots a lab kernel once, to check that it runs on this machine and to ask what it has. Starts one process; leaves
nothing behind but the answer, beside the kernel.
"""

import contextlib
import json
import shlex
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ... import process
from ...codec.frozen import dataclass
from ...error import MachineError
from ...journal import folder_noted, unique
from ...native_program import Tools, tools
from .. import confinement, guest_file
from ..confinement import Allowance
from . import feature
from .feature import Features

MARK = "testbed-first-boot"
LAB_S = 3600
"""The guest's sleep: immediate in virtual time, endless in real time."""
MEMORY = "64M"
FILE_BYTES = 1 << 30
"""More than its memory, which is a file."""
PRELOAD = "preload.so"
POWER_OFF = 0x4321FEDC

INIT = f"""\
import ctypes, json, os, subprocess, time
libc = ctypes.CDLL(None)
began = time.monotonic()
time.sleep({LAB_S})
print("{MARK}", os.uname().release, round(time.monotonic() - began), flush=True)
try:
    libc.mount(b"proc", b"/proc", b"proc", 0, None)
    tried, refusals = [], {{}}
    with open(os.path.dirname(__file__) + "/attempts.json") as file:
        attempts = json.load(file)
    for name, words in attempts["attempts"].items():
        done = subprocess.run(["unshare", "--net", "--", *words], capture_output=True, env=attempts["environment"])
        if done.returncode == 127:
            continue  # the program is not installed, which says nothing of the kernel
        tried.append(name)
        if done.returncode:
            refusals[name] = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
    with open("{feature.CONTROLS}") as file:
        said = {{"controls": file.read(), "tried": tried, "refusals": refusals}}
except BaseException as error:
    said = {{"error": repr(error)}}
print("{feature.SAID}", json.dumps(said), flush=True)
libc.reboot({POWER_OFF})
"""


@dataclass(frozen=True)
class FirstBoot:
    """Whether the kernel came up, kept virtual time and powered off; `console` is its whole output."""

    ok: bool
    console: str
    wall_s: float

    @property
    def last_lines(self) -> str:
        return "\n".join(self.console.splitlines()[-15:]) or "(the kernel wrote nothing)"

    @property
    def features(self) -> Features:
        """What the kernel says it has. MachineError if it did not say."""
        said = next((line for line in self.console.splitlines() if line.startswith(feature.SAID)), "")
        try:
            found = json.loads(said.removeprefix(feature.SAID))
            return feature.of_controls(found["controls"], tuple(found["tried"]), dict(found["refusals"]))
        except (ValueError, KeyError, TypeError):
            what = "the lab kernel does not say what it has; its console ends with:"
            raise MachineError(f"{what}\n{self.last_lines}\n", "testbed doctor") from None


def first_features(linux: Path) -> Features:
    """What a lab kernel has that was just built. Raises MachineError if it does not run here."""
    first = boot(linux)
    if not first.ok:
        what = "the kernel does not run here; its console ends with:"
        raise MachineError(f"{what}\n{first.last_lines}\n", "testbed doctor")
    return first.features


def features(linux: Path) -> Features:
    """What a lab kernel has: what is kept beside it, or else its answer when it boots, which is then kept there.
    MachineError if it does not boot.
    """
    known = feature.read(linux.parent)
    if known is not None and known.tried == tuple(feature.ATTEMPTS):
        return known
    found = boot(linux).features
    with contextlib.suppress(OSError):  # a cache that others own
        feature.write(linux.parent, found)
    return found


def boot(linux: Path, limit_s: float = 120.0) -> FirstBoot:
    """Boots with our interpreter as init. `limit_s` is wall time; a healthy kernel needs 0.5 s of it."""
    began = time.monotonic()
    with _folder() as folder:
        (folder / "init.py").write_text(INIT)
        asked = {"attempts": feature.ATTEMPTS, "environment": {"PATH": process.search_path(), "LC_ALL": "C"}}
        (folder / "attempts.json").write_text(json.dumps(asked))
        init = folder / "init"
        init.write_text(f"#!/bin/sh\nexec {shlex.quote(confinement.interpreter())} -ISB {folder}/init.py\n")
        init.chmod(0o755)
        console = folder / "console"
        programs = tools()
        (folder / PRELOAD).symlink_to(programs.folder / PRELOAD)  # LD_PRELOAD is cut at blanks
        words = (*confinement.words(programs, _allowance(linux, folder, programs)), *_words(linux, folder))
        environment = {"PATH": process.search_path(), "LD_PRELOAD": f"./{PRELOAD}"}
        with console.open("wb") as file:
            guest = process.start(words, stdout=file, stderr=file, cwd=folder, env=environment)
            with guest, contextlib.suppress(process.CommandError):  # The console decides.
                guest.wait(limit_s)
        text = guest_file.told(console, guest_file.CONSOLE_BYTES)
    return FirstBoot(f"{MARK} " in text and f" {LAB_S}" in text, text, time.monotonic() - began)


@contextmanager
def _folder() -> Iterator[Path]:
    with folder_noted(Path(tempfile.gettempdir(), unique("testbed-boot"))) as folder:
        yield folder


def _allowance(linux: Path, folder: Path, programs: Tools) -> Allowance:
    reads = (linux, programs.folder, *confinement.python_files())
    return Allowance(reads=reads, writes=(folder,), file_bytes=FILE_BYTES, has_terminal=True)


def _words(linux: Path, folder: Path) -> tuple[str, ...]:
    return (
        str(linux),
        f"mem={MEMORY}",
        "time-travel=inf-cpu",
        "time-travel-start=0",
        "seccomp=on",
        f"uml_dir={folder}",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        f"init={folder}/init",
        "con=null",
        "con0=fd:0,fd:1",
    )
