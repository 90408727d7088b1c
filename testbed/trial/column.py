"""The columns of the tables, with their types: every run has the same, even if all values are absent. No I/O.

Columns whose names hold a dot stand in double quotes in SQL: "path.rtt", "seen.queue_drops".
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from .observe.tcp_info import FIELDS
from .result import FlowResult, TrialResult

TEXT, REAL, WHOLE, TEXTS = pa.string(), pa.float64(), pa.int64(), pa.list_(pa.string())
TYPES = {str: TEXT, float: REAL, int: WHOLE, bool: pa.bool_()}

TRIAL = (
    ("id", TEXT),
    ("seed", WHOLE),
    ("repetition", WHOLE),
    ("verdict", TEXT),
    ("warnings", TEXTS),
    ("goodput_bps", REAL),
    ("ramp_goodput_bps", REAL),
    ("handed_over_bps", REAL),
    ("flow_count", WHOLE),
    ("retransmits", WHOLE),
    ("rtt_s", REAL),
    ("rate_bps", REAL),
    ("asked.rtt_s", REAL),
    ("asked.rate_bps", REAL),
    ("asked.data_packets", WHOLE),
    ("asked.dropped_packets", WHOLE),
    ("asked.queue_drops", WHOLE),
    ("seen.rtt_s", REAL),
    ("seen.rtt_max_s", REAL),
    ("seen.rate_bps", REAL),
    ("seen.data_packets", WHOLE),
    ("seen.dropped_packets", WHOLE),
    ("seen.random_drops", WHOLE),
    ("seen.queue_drops", WHOLE),
    ("seen.aqm_drops", WHOLE),
    ("seen.marks", WHOLE),
    ("seen.filtered_acks", WHOLE),
    ("workload_s", REAL),
    ("steady_s", REAL),
    ("kernel_place", TEXT),
    ("kernel_release", TEXT),
    ("lab_s", REAL),
)
HOST = (("trial", TEXT), ("wall_s", REAL), ("started", TEXT), ("changed_ns", WHOLE))
"""Columns that depend on this computer and the time of the run. `changed_ns` is when the trial's result was written."""

SOCKET = (
    ("netns", TEXT),
    ("source", TEXT),
    ("source_port", WHOLE),
    ("destination", TEXT),
    ("destination_port", WHOLE),
    ("congestion", TEXT),
)
"""Which socket a row is about."""

SAMPLE = (
    ("time_s", REAL),
    *SOCKET,
    *((field.name, WHOLE if field.unit is None else REAL) for field in FIELDS),
)
QUEUE = (
    ("time_s", REAL),
    ("link", TEXT),
    ("way", TEXT),
    ("bytes", WHOLE),
    ("packets", WHOLE),
    ("drops", WHOLE),
    ("backlog_bytes", WHOLE),
    ("backlog_packets", WHOLE),
)
COMPLETION = (
    ("number", WHOLE),
    ("start_s", REAL),
    ("size_bytes", WHOLE),
    ("fct_s", REAL),
    ("slowdown", REAL),
    ("connect_s", REAL),
    ("received_bytes", WHOLE),
    ("retransmits", WHOLE),
    ("port", WHOLE),
    ("state", TEXT),
)
"""One flow of a workload whose flows arrive and end; `fct_s` and `slowdown` are NULL unless `state` is `finished`."""

FAULT = (
    ("time_s", REAL),
    ("link", TEXT),
    ("way", TEXT),
    ("fault", TEXT),
    ("packets", WHOLE),
    ("met", WHOLE),
)
"""A fault of a link at one time. Only trials with faults have such a table."""

ENDS = (
    ("time_s", REAL),
    ("flow", WHOLE),
    *SOCKET,
)
ACK = (
    *ENDS,
    ("ca_state", WHOLE),
    ("snd_cwnd", WHOLE),
    ("snd_ssthresh", WHOLE),
    ("srtt_s", REAL),
    ("pacing_rate_bps", REAL),
    ("in_flight", WHOLE),
    ("unacked", WHOLE),
    ("sacked", WHOLE),
    ("lost", WHOLE),
    ("retrans", WHOLE),
    ("delivered", WHOLE),
    ("total_lost", WHOLE),
    ("total_retrans", WHOLE),
    ("bytes_acked", WHOLE),
    ("segs_in", WHOLE),
    ("bw_bps", REAL),
    ("min_rtt_s", REAL),
    ("pacing_gain", REAL),
    ("cwnd_gain", REAL),
    ("alpha", REAL),
)
"""One ACK that a sender took, and what its socket was then. Only trials with `samples: acks` have such a table."""
EVENT = (
    *ENDS,
    ("event", TEXT),
    ("name", TEXT),
    ("value", WHOLE),
    ("snd_cwnd", WHOLE),
    ("snd_ssthresh", WHOLE),
    ("pacing_rate_bps", REAL),
    ("in_flight", WHOLE),
    ("first_byte", WHOLE),
)
"""What happened to a sender beside an ACK."""

COUNTED = (("aqm_drops", WHOLE), ("full_drops", WHOLE), ("marks", WHOLE))
"""Of queues that links ask for. A trial without such a queue has a table without them."""
FILTERED = (("filtered_acks", WHOLE),)
"""Of queues that filter ACKs."""

SAMPLES, QUEUES = pa.schema(SAMPLE), pa.schema((*QUEUE, *COUNTED, *FILTERED))
COMPLETIONS, FAULTS = pa.schema(COMPLETION), pa.schema(FAULT)
ACKS, EVENTS = pa.schema(ACK), pa.schema(EVENT)


def trials(axes: Iterable[str]) -> pa.Schema:
    """The columns of trials: the id, a text for each axis, then the rest."""
    return pa.schema([TRIAL[0], *((axis_column(key), TEXT) for key in axes), *TRIAL[1:]])


def axis_column(key: str) -> str:
    """The name of an axis's column: its key, or `params.KEY` if another column has that name."""
    return f"params.{key}" if key in dict(TRIAL) else key


def flows() -> pa.Schema:
    """The columns of flows: trial and number, then the fields of FlowResult."""
    hints = get_type_hints(FlowResult)
    own = [(field.name, _type(hints[field.name])) for field in fields(FlowResult)]
    return pa.schema([("trial", TEXT), ("number", WHOLE), *own])


def of_trial(own: pa.Schema) -> pa.Schema:
    """The columns of one trial's table, as the table of all trials has them."""
    return pa.schema([("trial", TEXT), *own])


def trial_row(result: TrialResult) -> dict[str, Any]:
    """The row of a stored result."""
    return {
        **vars(result),
        **{f"asked.{name}": value for name, value in vars(result.asked).items()},
        **{f"seen.{name}": value for name, value in vars(result.seen).items()},
        **{axis_column(key): text for key, text in result.params.items()},
        "flow_count": len(result.flows),
        "retransmits": result.retransmits,
        "rtt_s": result.asked.rtt_s,
        "rate_bps": result.asked.rate_bps,
        "kernel_place": result.kernel,
    }


def _type(hint: Any) -> pa.DataType:
    """The type of a field that holds one of TYPES, or None; every other field becomes JSON text."""
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    known = [TYPES[option] for option in options if option in TYPES]
    return known[0] if known and len([option for option in options if option is not type(None)]) == 1 else TEXT
