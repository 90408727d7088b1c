"""What a guest left in the folder of its trial: ordinary files of bounded sizes, or the trial fails. Looks at the
entries of that folder, and removes those that are none.

To be used when the guest has ended. Whoever was root in it, or in namespaces of this computer, could leave there what
it liked, under any name. Afterwards all that is there can be read, copied and compared: nothing of it leads elsewhere,
has no end, or makes a reader wait.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...agent.step import crc32_of
from ...error import TestbedError, visible
from ...kernel.guest import TrialError
from .. import strict_folder
from ..strict_folder import FULL

TEXT_BYTES = 128 << 20
"""Of a file that is read whole. iperf3 reports 128 flows for half an hour in as much."""
LARGER_BYTES = {".bin": 1 << 30, ".pcap": None}
"""Of the observers' files: the sockets of a hundred flows for an hour. Captures are read in part, or not at all."""
READ_BYTES = 1 << 30
"""Of all files together, but for captures."""
PLAIN_MODE, OWN_MODE = 0o644, 0o600
NAMED_MAX = 200
OUTCOME = "outcome.json"
MOST = strict_folder.FILES_MAX - 100
"""Files, with room for those that we add."""


def tidied(folder: Path) -> str | None:
    """Makes it a folder of ordinary files that their owner can read, none of them larger than it may be: what else
    there is, is removed, or cut off. The first such thing in words; None if there was none.
    """
    found = list(_tidied(folder))
    return found[0] if found else None


def _tidied(folder: Path) -> Iterator[str]:
    taken = 0
    with strict_folder.opened(folder) as here:
        for number, name in enumerate(sorted(os.listdir(here))):
            about = os.stat(name, dir_fd=here, follow_symlinks=False)
            fault = _fault(name, about) or (f"more than {MOST} files" if number >= MOST else None)
            if fault is not None:
                strict_folder.remove_at(name, here)
                yield fault
                continue
            path = f"/proc/self/fd/{here}/{name}"  # of an ordinary file, which is what we would name
            if stat.S_IMODE(about.st_mode) not in (PLAIN_MODE, OWN_MODE):  # such as one that anybody runs as its owner
                os.chmod(path, PLAIN_MODE)
            most = LARGER_BYTES.get(Path(name).suffix, TEXT_BYTES)
            if most is None:
                continue
            allowed = min(most, READ_BYTES - taken)
            taken += min(about.st_size, allowed)
            if about.st_size > allowed:
                os.truncate(path, allowed)
                yield f"{visible(name)!r:.{NAMED_MAX}} of {about.st_size >> 20} MiB; allowed: up to {allowed >> 20} MiB"


def _fault(name: str, about: os.stat_result) -> str | None:
    """What an entry is, in words; None for an ordinary file."""
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    said = f"{visible(name)!r:.{NAMED_MAX}}"
    kind = next((word for test, word in kinds if test(about.st_mode)), None)
    if kind is not None:
        return f"{kind}, {said}; allowed: files"
    if about.st_nlink != 1:
        return f"a file with several names, {said}; allowed: files with one"
    return None if visible(name) == name else f"a file with an unprintable name, {said}; allowed: printable ones"


def check_whole(folder: Path) -> None:
    """Raises TrialError for a file that is not as the agent left it, and names it. A program that outlives the agent
    for a moment may have added to its file.
    """
    said = json.loads((folder / OUTCOME).read_text()).get("written")
    if not isinstance(said, dict) or not said:
        raise TrialError(f"{OUTCOME} does not tell which files were written")
    for name, (length, summed) in said.items():
        if not strict_folder.is_name(name) or not (folder / name).is_file():
            raise TrialError(f"the file {visible(name)!r:.{NAMED_MAX}} is gone: the agent wrote {length} bytes of it")
        with (folder / name).open("rb") as file:
            if (left := os.fstat(file.fileno()).st_size) < length:
                raise TrialError(f"the file {name} is torn: it has {left} bytes, and the agent wrote {length}")
            if summed is not None and crc32_of(file, length) != summed:
                raise TrialError(f"the file {name} was changed after the agent wrote it")


@contextmanager
def read() -> Iterator[None]:
    """Whatever goes wrong while evidence is read, and is no fault of this computer's disk, is the trial's failure."""
    try:
        yield
    except TestbedError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise
        raise TrialError(f"what the trial left cannot be read: {in_words(error)}") from error


def in_words(error: Exception) -> str:
    """Its kind, what it says, and where in our code it came from: for an error that nobody foresaw."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"
    return f"{type(error).__name__}: {visible(str(error))[:1000]}{where}"
