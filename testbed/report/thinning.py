"""Which samples are kept where there are too many: in each stretch the rows with the least and the most. Pure, no I/O.

What is kept are rows as they were measured, at their own times; peaks and troughs survive, what is between them goes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..analysis.statistic import FloatArray

Rows = NDArray[np.int64]


def kept(columns: Sequence[FloatArray], most: int) -> Rows:
    """The row numbers to keep, in order, at most about `most`: all, if there are no more; the first and last always.

    The columns are of one length. NaN is neither the least nor the most.
    """
    length = len(columns[0]) if columns else 0
    if length <= most:
        return np.arange(length)
    stretches = max(1, (most - 2) // (2 * len(columns)))
    size = -(-length // stretches)
    found = {0, length - 1}
    for column in columns:
        padded = np.full(-(-length // size) * size, np.nan)
        padded[:length] = column
        cells = padded.reshape(-1, size)
        known = np.isfinite(cells)
        starts = np.arange(len(cells))[known.any(axis=1)] * size
        for empty, extreme in ((np.inf, np.argmin), (-np.inf, np.argmax)):
            places = extreme(np.where(known, cells, empty)[known.any(axis=1)], axis=1)
            found |= {*(starts + places).tolist()}
    return np.array(sorted(found), dtype=np.int64)
