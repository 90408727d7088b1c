"""A network emulation testbed: real TCP over exact paths, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .sweep.database import Results

__version__ = "0.1.0"


def open(path: str | Path) -> Results:
    """The results in a folder that `testbed run -o` wrote: `.results`, and `.trials`, `.flows`, `.samples` and
    `.queues`, `.completions` as Arrow tables; `.pandas(name)`, `.polars(name)`, `.duckdb()`, `.query(sql)`.

    Raises UserError for a folder that holds no results, or those of another schema version.
    """
    from .sweep.database import open_results  # importing Arrow takes a while

    return open_results(path)
