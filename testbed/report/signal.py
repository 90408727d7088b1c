"""What happened inside a trial: the signals of its flows and queues over lab time. Reads a trial's Parquet files.

For the page they are packed into few bytes: whole numbers, differences, deflate, base64. Times are in 0.1 ms, goodputs
in kbit/s, windows in 100 bytes, round-trip times in µs; times and counts as differences.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..analysis.metric import SHORT_TERM_S
from ..analysis.statistic import FloatArray
from ..codec.frozen import dataclass
from ..trial import sample_table
from ..trial.folder import QUEUES, SAMPLES
from ..trial.result import TrialResult

MANY_FLOWS = 24
"""Of more flows, those that moved most are shown."""
QUIET = 0.001
"""A socket that had a smaller share of the busiest one's bytes acknowledged is no flow: it is the other end of one."""

ENDS = ("source", "source_port", "destination", "destination_port")
SAMPLED = ("time_s", *ENDS, "bytes_acked", "srtt_s", "snd_cwnd", "snd_mss_bytes", "total_retrans")
QUEUED = ("time_s", "link", "way", "backlog_packets", "drops", "aqm_drops", "marks")


@dataclass(frozen=True)
class FlowSignals:
    """Of one sender, a value for each sample. Seconds since the workload began, bit/s acknowledged over the last
    `average_s`, bytes of congestion window, seconds of smoothed RTT, segments sent again so far. NaN is unknown.
    """

    name: str
    time_s: FloatArray
    goodput_bps: FloatArray
    cwnd_bytes: FloatArray
    srtt_s: FloatArray
    retransmits: FloatArray


@dataclass(frozen=True)
class QueueSignals:
    """Of one bottleneck buffer: packets that wait, and packets dropped since the sample before; how many of those were
    dropped to signal congestion, and how many were marked in place of that.
    """

    name: str
    time_s: FloatArray
    backlog_packets: FloatArray
    drops: FloatArray
    signalled: int = 0
    marked: int = 0


@dataclass(frozen=True)
class Inside:
    """The signals of a trial. Goodput is over `average_s`; `left_out` flows, which moved least, are not there."""

    flows: tuple[FlowSignals, ...]
    queues: tuple[QueueSignals, ...]
    average_s: float
    left_out: int = 0


@dataclass(frozen=True)
class Words:
    """A column of few different words."""

    codes: Any
    words: Any

    def __getitem__(self, rows: Any) -> Any:
        """The word of one row, or the column of several."""
        return self.words[self.codes[rows]] if np.isscalar(rows) else Words(self.codes[rows], self.words)


def rows(folder: Path) -> int:
    """How many samples a trial has, those of queues included; 0 without any. Raises UserError for a broken file."""
    return sum(file.metadata.num_rows for name in (SAMPLES, QUEUES) if (file := _open(folder / name)))


def inside(folder: Path, result: TrialResult) -> Inside:
    """The signals of the trial in this folder; empty without samples. Raises UserError for a broken file."""
    sampled, queued = _columns(folder / SAMPLES, SAMPLED), _columns(folder / QUEUES, QUEUED)
    average_s = _average_s(result)
    flows = _flows(sampled, result, average_s) if {"time_s", "bytes_acked"} <= sampled.keys() else []
    flows.sort(key=lambda each: -float(np.nansum(each.goodput_bps)))
    kept = sorted(flows[:MANY_FLOWS], key=lambda each: (len(each.name), each.name))
    queues = _queues(queued) if {"time_s", "link", "way"} <= queued.keys() else []
    return Inside(tuple(kept), tuple(queues), average_s, len(flows) - len(kept))


def _average_s(result: TrialResult) -> float:
    """A second, as iperf has it; less for a short workload."""
    return min(SHORT_TERM_S, (result.workload_s or SHORT_TERM_S * 20) / 20)


def _flows(columns: Mapping[str, Any], result: TrialResult, average_s: float) -> list[FlowSignals]:
    numbers = _numbers(result)
    groups = list(_groups([columns[key] for key in ENDS if key in columns], len(columns["time_s"])))
    acked = [float(np.nanmax(_real(columns["bytes_acked"][rows]), initial=0.0)) for rows in groups]
    least = QUIET * max(acked, default=0.0)
    found = []
    for rows, most in zip(groups, acked, strict=True):
        if most <= least:
            continue
        own = {key: values[rows] for key, values in columns.items()}
        order = np.argsort(own["time_s"], kind="stable")
        found.append(_flow({key: values[order] for key, values in own.items()}, numbers, average_s))
    return found


def flow_names(result: TrialResult) -> list[str]:
    """For example "flow 1", or "flow 1 (bbr)" where the flows of the trial differ in their congestion control."""
    controls = [flow.congestion for flow in result.flows]
    if len(set(controls)) < 2:
        return [f"flow {n}" for n in range(1, len(controls) + 1)]
    return [f"flow {n} ({control or 'datagrams'})" for n, control in enumerate(controls, 1)]


def _numbers(result: TrialResult) -> dict[int, str]:
    """The name of the flow to a port, where only one has it."""
    ports = [flow.port for flow in result.flows]
    named = zip(ports, flow_names(result), strict=True)
    return {port: name for port, name in named if port is not None and ports.count(port) == 1}


def _flow(own: Mapping[str, Any], numbers: Mapping[int, str], average_s: float) -> FlowSignals:
    time_s, acked = _real(own["time_s"]), _real(own["bytes_acked"])
    rate = _rate(time_s, np.nan_to_num(acked), average_s)
    nothing = np.full(len(time_s), np.nan)
    cwnd = _real(own["snd_cwnd"]) * _real(own["snd_mss_bytes"]) if {"snd_cwnd", "snd_mss_bytes"} <= own.keys() else None
    srtt = _real(own["srtt_s"]) if "srtt_s" in own else nothing
    return FlowSignals(
        name=_name(own, numbers),
        time_s=time_s,
        goodput_bps=rate,
        cwnd_bytes=nothing if cwnd is None else cwnd,
        srtt_s=np.where(srtt > 0, srtt, np.nan),
        retransmits=_real(own["total_retrans"]) if "total_retrans" in own else nothing,
    )


def _rate(time_s: FloatArray, acked: FloatArray, average_s: float) -> FloatArray:
    """Since the last sample that is at least so long ago, or the first one."""
    before = np.searchsorted(time_s, time_s - average_s * (1 - 1e-6), side="right") - 1
    before = np.minimum(np.maximum(before, 0), np.maximum(np.arange(len(time_s)) - 1, 0))
    step, moved = time_s - time_s[before], acked - acked[before]
    return np.asarray(np.divide(8 * moved, step, out=np.full(len(step), np.nan), where=step > 0), dtype=np.float64)


def _name(own: Mapping[str, Any], numbers: Mapping[int, str]) -> str:
    port = _port(own, "destination_port")
    if port in numbers:
        return numbers[port]
    ends = [f"{own[end][0]}:{_port(own, f'{end}_port')}" for end in ("source", "destination") if end in own]
    return " → ".join(ends) or f"port {port}"


def _port(own: Mapping[str, Any], name: str) -> int:
    """0 where none is known."""
    found = float(own[name][0]) if name in own else 0.0
    return int(found) if np.isfinite(found) else 0


def _queues(columns: Mapping[str, Any]) -> list[QueueSignals]:
    found = []
    for rows in _groups([columns["link"], columns["way"]], len(columns["time_s"])):
        own = {key: values[rows] for key, values in columns.items()}
        drops = _real(own["drops"]) if "drops" in own else np.zeros(len(rows))
        backlog = _real(own["backlog_packets"]) if "backlog_packets" in own else np.full(len(rows), np.nan)
        name = f"{own['link'][0]} {own['way'][0]}"
        signalled, marked = (_last(own[key]) if key in own else 0 for key in ("aqm_drops", "marks"))
        fell = np.maximum(np.diff(drops, prepend=0), 0)
        found.append(QueueSignals(name, _real(own["time_s"]), backlog, fell, signalled, marked))
    return found


def _last(values: Any) -> int:
    """The highest of a counter; 0 for a queue without it."""
    known = _real(values)
    return int(np.nanmax(known)) if np.isfinite(known).any() else 0


def _groups(keys: Sequence[Any], length: int) -> Iterable[Any]:
    """The row numbers of each combination of the keys, in the order in which they come first."""
    if not length:
        return
    codes = np.zeros(length, dtype=np.int64)
    for key in keys:
        if isinstance(key, Words):
            code = key.codes
        else:
            _, code = np.unique(key.astype(str) if key.dtype == object else key, return_inverse=True)
        codes = codes * (int(code.max()) + 1) + code
    _, first, code = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(code, kind="stable")
    bounds = np.searchsorted(code[order], np.arange(len(first) + 1))
    for group in np.argsort(first, kind="stable"):
        yield order[bounds[group] : bounds[group + 1]]


def _real(values: Any) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _open(path: Path) -> pq.ParquetFile | None:
    if not path.exists():
        return None
    with sample_table.reading(path):
        return sample_table.opened(path)


def _columns(path: Path, wanted: Sequence[str]) -> dict[str, Any]:
    file = _open(path)
    if file is None:
        return {}
    there = {*file.schema_arrow.names}
    names = [name for name in wanted if name in there]
    with sample_table.reading(path):
        table = sample_table.rows(file, names, use_threads=False)
    return {name: _array(table[name]) for name in names}


def _array(column: pa.ChunkedArray) -> Any:
    """Words as the numbers of their dictionary: they are told apart and looked up, and there are few."""
    if not pa.types.is_dictionary(column.type):
        return column.to_numpy()
    whole = column.unify_dictionaries().combine_chunks()
    words = [*whole.dictionary.to_pylist(), None]
    codes = whole.indices.fill_null(len(words) - 1)
    return Words(codes.to_numpy(zero_copy_only=False), np.array(words, dtype=object))


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
    flows = [_drawn_flow(each, _most(len(each.time_s), share, least)) for each in found.flows]
    queues = [_drawn_queue(each, _most(len(each.time_s), share, least)) for each in found.queues]
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


def _drawn_flow(each: FlowSignals, most: int) -> dict[str, Any]:
    rows = kept((each.goodput_bps, each.cwnd_bytes, each.srtt_s), most)
    return {
        "name": each.name,
        "t": _steps(each.time_s[rows] * 1e4),
        "g": _whole(each.goodput_bps[rows] / 1e3),
        "c": _whole(each.cwnd_bytes[rows] / 100),
        "s": _whole(each.srtt_s[rows] * 1e6),
        "r": _steps(np.nan_to_num(each.retransmits[rows])),
    }


def _drawn_queue(each: QueueSignals, most: int) -> dict[str, Any]:
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
