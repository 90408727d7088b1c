"""All rows, and their selection by id or publication. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.api import UserError, nearest

from .paper import cloudcmp, interdatacenter, links, object_store, throughput_profile
from .row import Row

PUBLICATIONS = {
    "S0": interdatacenter.ROWS,
    "S1": object_store.ROWS,
    "S2": cloudcmp.ROWS,
    "S3": throughput_profile.ROWS,
    "S4": links.ROWS,
}
"""By the first word of the ids of their rows; checks ("K1") stand among the rows that they are about."""

ROWS: tuple[Row, ...] = tuple(row for rows in PUBLICATIONS.values() for row in rows)


def select(words: Sequence[str]) -> tuple[Row, ...]:
    """The rows that the words name: an id ("S3-F7", "K3"), or a publication ("S3") with all its rows and checks.

    Without words, all rows. Raises UserError for a word that names nothing.
    """
    picked: dict[str, Row] = {}
    for word in words:
        matching = PUBLICATIONS.get(word.upper()) or tuple(row for row in ROWS if row.id.lower() == word.lower())
        if not matching:
            near = nearest(word.upper(), [*PUBLICATIONS, *(row.id for row in ROWS)])
            hint = f" (did you mean {near}?)" if near else ""
            allowed = f"{', '.join(PUBLICATIONS)}, or an id that `testbed reproduce --list` prints{hint}"
            raise UserError(f"there is no row {word!r}; allowed: {allowed}")
        picked |= {row.id: row for row in matching}
    return tuple(picked.values()) if words else ROWS
