"""Boots a lab kernel once, to check that it runs on this machine. Starts one process; leaves nothing behind."""

import contextlib
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ... import process
from ...journal import noted, unique

MARK = "testbed-first-boot"
LAB_S = 3600
"""The guest's sleep: immediate in virtual time, endless in real time."""
MEMORY = "64M"
POWER_OFF = 0x4321FEDC

INIT = f"""\
import ctypes, os, time
began = time.monotonic()
time.sleep({LAB_S})
print("{MARK}", os.uname().release, round(time.monotonic() - began), flush=True)
ctypes.CDLL(None).reboot({POWER_OFF})
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


def boot(linux: Path, limit_s: float = 15.0) -> FirstBoot:
    """Boots with this interpreter as init. `limit_s` is wall time; a healthy kernel needs 0.5 s of it."""
    began = time.monotonic()
    with _folder() as folder:
        (folder / "init.py").write_text(INIT)
        init = folder / "init"
        init.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -I {folder}/init.py\n")
        init.chmod(0o755)
        console = folder / "console"
        with console.open("wb") as file:
            guest = process.start(_words(linux, folder), stdout=file, stderr=file)
            with guest, contextlib.suppress(process.CommandError):  # The console decides.
                guest.wait(limit_s)
        text = console.read_text(errors="replace")
    return FirstBoot(f"{MARK} " in text and f" {LAB_S}" in text, text, time.monotonic() - began)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.gettempdir(), unique("testbed-boot"))
    with noted("folder", folder.name, folder=str(folder)):
        try:
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


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
