"""The signals of a trial in few bytes, for the page: whole numbers, differences, deflate, base64. Pure, no I/O.

Times are in 0.1 ms, goodputs in kbit/s, windows in 100 bytes, round-trip times in µs; times and counts as differences.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.statistic import FloatArray
from .signal import FlowSignals, Inside, QueueSignals

MANY_DROPS = 300
"""More moments with drops than this are counted together."""


def packed(value: Any) -> str:
    """JSON, deflated, in base64."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode()


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))


def trace(found: Inside, share: float = 1.0, least: int = 40) -> dict[str, Any]:
    """What the page draws. `share` of the samples are kept, but of each signal at least `least`."""
    flows = [_flow(each, _most(len(each.time_s), share, least)) for each in found.flows]
    queues = [_queue(each, _most(len(each.time_s), share, least)) for each in found.queues]
    return {
        "average_s": found.average_s,
        "left_out": found.left_out,
        "samples": sum(
            len(time_s) for time_s in [each.time_s for each in found.flows] + [q.time_s for q in found.queues]
        ),
        "kept": sum(len(each["t"]) for each in (*flows, *queues)),
        "flows": flows,
        "queues": queues,
        "signalled": sum(each.signalled for each in found.queues),
        "marked": sum(each.marked for each in found.queues),
    }


def _most(length: int, share: float, least: int) -> int:
    return max(least, int(length * share))


def _flow(each: FlowSignals, most: int) -> dict[str, Any]:
    rows = kept((each.goodput_bps, each.cwnd_bytes, each.srtt_s), most)
    return {
        "name": each.name,
        "t": _steps(each.time_s[rows] * 1e4),
        "g": _whole(each.goodput_bps[rows] / 1e3),
        "c": _whole(each.cwnd_bytes[rows] / 100),
        "s": _whole(each.srtt_s[rows] * 1e6),
        "r": _steps(np.nan_to_num(each.retransmits[rows])),
    }


def _queue(each: QueueSignals, most: int) -> dict[str, Any]:
    rows = kept((each.backlog_packets,), most)
    return {
        "name": each.name,
        "t": _steps(each.time_s[rows] * 1e4),
        "b": _whole(each.backlog_packets[rows]),
        "drops": _drops(each),
    }


def _drops(each: QueueSignals) -> list[list[int]]:
    """[time in 0.1 ms, packets] for each moment with drops; of too many, neighbours are added up."""
    rows = np.flatnonzero(each.drops > 0)
    parts = np.array_split(rows, MANY_DROPS) if len(rows) > MANY_DROPS else [np.array([row]) for row in rows]
    return [[round(float(each.time_s[part[0]]) * 1e4), int(each.drops[part].sum())] for part in parts if len(part)]


def _steps(values: FloatArray) -> list[int]:
    return [int(each) for each in np.diff(np.rint(values), prepend=0)]


def _whole(values: FloatArray) -> list[int | None]:
    if np.isfinite(values).all():
        return [int(each) for each in np.rint(values).tolist()]
    return [int(each) if np.isfinite(each) else None for each in np.rint(values).tolist()]


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
