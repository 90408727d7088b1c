"""The records of ACKs as Parquet tables. Writes into the trial's folder.

The tables are made in parts, so that memory holds a part of millions of records, and not all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..plan.network import Plan
from ..plan.node.namespace import node_netns
from . import column
from .evidence.stage import Evidence
from .observe import ack
from .observe.ack import AckFlow, Acks

ACKS, EVENTS = "acks", "events"
"""The table with a row for each ACK, and that of what else happened to senders."""
PART = 1 << 17
NO_RTT_US, UNPACED = 0x7FFFFFFF, 2**64 - 1
"""What controls tell from here on where they have no round-trip time, and what Linux has for no pacing."""
VEGAS, BBR, DCTCP = 3, 16, 9
"""INET_DIAG_VEGASINFO, INET_DIAG_BBRINFO and INET_DIAG_DCTCPINFO of linux/inet_diag.h."""
GAIN_UNIT, ALPHA_UNIT = 256, 1024
"""Of BBR's gains, and of DCTCP's alpha."""


def write(folder: Path, plan: Plan, evidence: Evidence, acks: Acks) -> None:
    """acks.parquet: one row for each ACK; events.parquet: one for each change of the state of recovery, each segment
    sent again, each change of a window without an ACK, and each change of a control's own number.
    """
    begin_ns = evidence.outcome.begin_ns or 0
    ends = _Ends(acks.flows, _places(plan, evidence))
    with pq.ParquetWriter(folder / f"{ACKS}.parquet", column.ACKS, compression="zstd") as file:
        places = np.flatnonzero(acks.records["kind"] == ack.ACK)
        for first in range(0, len(places), PART):
            file.write_table(_acks(acks.records[places[first : first + PART]], ends, begin_ns))
    with pq.ParquetWriter(folder / f"{EVENTS}.parquet", column.EVENTS, compression="zstd") as file:
        for table in _events(acks, ends, begin_ns):
            file.write_table(table)


def _places(plan: Plan, evidence: Evidence) -> Mapping[str, str]:
    """The namespace of each address; of those that several nodes have, none."""
    found: dict[str, set[str]] = {}
    for port in (*plan.book.ports, *plan.book.tagged):
        for address in port.addresses:
            found.setdefault(str(address.ip), set()).add(node_netns(port.node))
    for each in evidence.tcp:
        found.setdefault(each.source, set()).add(each.netns)
    return {address: next(iter(names)) for address, names in found.items() if len(names) == 1}


class _Ends:
    """What rows say of their flow, by its number."""

    def __init__(self, flows: tuple[AckFlow, ...], places: Mapping[str, str]) -> None:
        most = max((each.number for each in flows), default=0)
        self._row = np.zeros(most + 1, dtype=np.int64)
        for row, each in enumerate(flows):
            self._row[each.number] = row
        self._values = {
            "netns": pa.array([places.get(each.source) for each in flows], column.TEXT),
            "source": pa.array([each.source for each in flows], column.TEXT),
            "source_port": pa.array([each.source_port for each in flows], column.WHOLE),
            "destination": pa.array([each.destination for each in flows], column.TEXT),
            "destination_port": pa.array([each.destination_port for each in flows], column.WHOLE),
            "congestion": pa.array([each.congestion for each in flows], column.TEXT),
        }

    def of(self, numbers: Any, time_ns: Any, begin_ns: int) -> dict[str, Any]:
        rows = pa.array(self._row[numbers])
        told = {name: values.take(rows) for name, values in self._values.items()}
        return {"time_s": (time_ns.astype(np.int64) - begin_ns) / 1e9, "flow": numbers, **told}


def _whole(values: Any, without: Any = None) -> pa.Array:
    return pa.array(values.astype(np.int64), column.WHOLE, mask=without)


def _real(values: Any, without: Any) -> pa.Array:
    return pa.array(values, column.REAL, mask=without)


def _windows(records: Any) -> dict[str, Any]:
    return {
        "snd_cwnd": _whole(records["cwnd"]),
        "snd_ssthresh": _whole(records["ssthresh"], records["ssthresh"] == ack.INFINITE),
        "pacing_rate_bps": _real(records["pacing_rate"] * 8.0, records["pacing_rate"] == UNPACED),
        "in_flight": _whole(records["in_flight"]),
    }


def _acks(records: Any, ends: _Ends, begin_ns: int) -> pa.Table:
    same = {"unacked": "packets_out", "sacked": "sacked_out", "lost": "lost_out", "retrans": "retrans_out"}
    counts = {"total_lost": "lost", "bytes_acked": "bytes"}
    counts |= {name: name for name in ("ca_state", "delivered", "total_retrans", "segs_in")}
    return _table(
        ends.of(records["flow"], records["time_ns"], begin_ns)
        | _windows(records)
        | {name: _whole(records[own]) for name, own in (same | counts).items()}
        | {"srtt_s": records["srtt_us"] / 1e6}
        | _controls_own(records),
        column.ACKS,
    )


def _controls_own(records: Any) -> dict[str, Any]:
    """What the control tells netlink (`union tcp_cc_info`)."""
    kind, info = records["info_kind"], records["info"]
    no_bbr, no_vegas = kind != BBR, kind != VEGAS
    bw = (info[:, 0] + info[:, 1] * 2.0**32) * 8.0
    min_rtt_us = np.where(no_bbr, info[:, 3], info[:, 2])
    return {
        "bw_bps": _real(bw, no_bbr),
        "min_rtt_s": _real(min_rtt_us / 1e6, (no_bbr & no_vegas) | (min_rtt_us >= NO_RTT_US)),
        "pacing_gain": _real(info[:, 3] / GAIN_UNIT, no_bbr),
        "cwnd_gain": _real(info[:, 4] / GAIN_UNIT, no_bbr),
        "alpha": _real((info[:, 1] & 0xFFFF) / ALPHA_UNIT, kind != DCTCP),
    }


def _events(acks: Acks, ends: _Ends, begin_ns: int) -> Iterator[pa.Table]:
    """All in the order of time, in parts."""
    kinds = acks.records["kind"]
    places = np.flatnonzero((kinds == ack.STATE) | (kinds == ack.RETRANSMIT) | (kinds == ack.WINDOW))
    own = list(acks.numbers())
    times = acks.records["time_ns"][places].astype(np.int64), np.array([each[0] for each in own], np.int64)
    order = np.argsort(np.concatenate(times), kind="stable")
    for first in range(0, len(order), PART):
        part = order[first : first + PART]
        looked = places[part[part < len(places)]]
        told = [own[place - len(places)] for place in part[part >= len(places)].tolist()]
        tables = [_looks(acks.records[looked], ends, begin_ns), _numbers(told, ends, begin_ns)]
        yield pa.concat_tables(tables).sort_by("time_s")


def _looks(records: Any, ends: _Ends, begin_ns: int) -> pa.Table:
    kind, argument = records["kind"], records["argument"].tolist()
    states = [ack.STATES[n] if n < len(ack.STATES) else str(n) for n in records["ca_state"].tolist()]
    names = [
        state if one == ack.STATE else ack.WINDOW_CAUSES[why & 3] if one == ack.WINDOW else None
        for one, state, why in zip(kind.tolist(), states, argument, strict=True)
    ]
    words = {ack.STATE: "state", ack.RETRANSMIT: "retransmit", ack.WINDOW: "window"}
    return _table(
        ends.of(records["flow"], records["time_ns"], begin_ns)
        | _windows(records)
        | {
            "event": [words[each] for each in kind.tolist()],
            "name": names,
            "value": _whole(np.where(kind == ack.STATE, records["ca_state"], records["argument"]), kind == ack.WINDOW),
            "first_byte": _whole(records["bytes"], kind != ack.RETRANSMIT),
        },
        column.EVENTS,
    )


def _numbers(told: list[tuple[int, int, str, int]], ends: _Ends, begin_ns: int) -> pa.Table:
    numbers, times = (np.array([each[n] for each in told], np.int64) for n in (1, 0))
    about = ends.of(numbers, times, begin_ns)
    own = {"event": ["number"] * len(told), "name": [each[2] for each in told], "value": [each[3] for each in told]}
    return _table(about | own, column.EVENTS)


def _table(values: Mapping[str, Any], columns: pa.Schema) -> pa.Table:
    rows = len(values["time_s"])
    arrays = [
        pa.nulls(rows, each.type) if each.name not in values else _array(values[each.name], each.type)
        for each in columns
    ]
    return pa.Table.from_arrays(arrays, schema=columns)


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, kind)
