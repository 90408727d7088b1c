"""Traces of a link's rate in the format of Mahimahi, as the `trace` of a link reads them. Reads a file."""

from __future__ import annotations

from pathlib import Path

from ...spec import trace_file
from ..measurement import Reading, refused

FORMAT = "trace"
LINES_MIN = 10


def is_it(text: str) -> bool:
    """Whether the first lines are whole numbers, alone."""
    lines = text[:4000].splitlines()[:LINES_MIN]
    return bool(lines) and all(line.strip().isdigit() for line in lines if line.strip())


def read(file: str, path: Path) -> Reading:
    """Raises SpecError with the line of what is wrong."""
    try:
        found = trace_file.read(str(path), path.name, file)
    except OSError as error:
        raise refused(file, None, str(error.strerror or error), "a file that can be read") from None
    rate_bps = float(found.rate_bps)
    told = (f"the rate of a link over time, mean {rate_bps / 1e6:.4g} Mbit/s", "the link plays it as its `trace`")
    untold = ("round-trip times", "the buffer", "loss", "how it was measured, so that it is not measured again")
    return Reading(file, FORMAT, (), told, untold, trace=str(path))
