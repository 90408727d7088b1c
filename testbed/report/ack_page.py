"""The page of one trial's ACKs, or of two trials on the same axes: windows, threshold, pacing, packets in flight, the
state of recovery, and the numbers that a control told, ACK by ACK. Reads the tables `acks` and `events` of trials.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..browser.page_text import data
from ..codec.frozen import dataclass
from ..error import UserError, harmless
from ..trial import sample_table
from ..trial.ack_table import ACKS, EVENTS
from .page import POLICY, VENDORED, asset_of

POINTS_MOST = 60_000
"""ACKs in a page: a browser draws so many in a second. Of more, each flow keeps one of so many."""
SERIES_MOST = 8
"""Connections in a page: those with the most ACKs."""
SCRIPTS = ("state.js", "dom.js", "look.js", "acks.js")
SHOWN = ("snd_cwnd", "snd_ssthresh", "in_flight", "pacing_rate_bps", "srtt_s", "ca_state")


@dataclass(frozen=True)
class Side:
    """A trial's folder, and what the page calls it."""

    label: str
    folder: Path


def page(title: str, sides: Sequence[Side], between: tuple[float, float] | None = None) -> str:
    """The whole file. `between` are two times (s) since the workload began; None: all. Raises UserError for a trial
    without records, and for a time in which there are none.
    """
    found = [(side, _table(side, ACKS, between), _table(side, EVENTS, between)) for side in sides]
    ports = [(side.label, pc.value_counts(acks["flow"]).to_pylist(), acks, events) for side, acks, events in found]
    chosen = sorted(
        ((each["counts"], label, each["values"]) for label, flows, _, _ in ports for each in flows), reverse=True
    )
    if not chosen:
        raise UserError("no ACK came in that time; allowed: --between with two times in s, such as 2,2.5")
    kept, total = chosen[:SERIES_MOST], sum(count for count, _, _ in chosen[:SERIES_MOST])
    every = -(-total // POINTS_MOST)
    notes = []
    if every > 1:
        notes.append(
            f"There are {total} ACKs, and the page has one of {every} of each connection. For all of them choose a "
            "shorter time with --between."
        )
    if len(chosen) > len(kept):
        notes.append(f"{len(chosen) - len(kept)} connections with fewer ACKs are left out.")
    rows: dict[str, list[dict[str, Any]]] = {"acks": [], "events": [], "numbers": []}
    for _, label, flow in sorted(kept, key=lambda each: each[1:]):
        acks, events = next((acks, events) for side, acks, events in found if side.label == label)
        _add(
            rows, label, acks.filter(pc.equal(acks["flow"], flow)), events.filter(pc.equal(events["flow"], flow)), every
        )
    view = {"title": title, "notes": notes, **rows}
    return Template(asset_of("page.html")).substitute(
        policy=html.escape(POLICY.format(connect="'none'")),
        title=html.escape(harmless(f"{title}: ACKs")),
        style=asset_of("page.css"),
        data=data(view),
        scripts="\n".join(f"<script>{each}</script>" for each in map(asset_of, (*VENDORED, *SCRIPTS))),
    )


def _table(side: Side, name: str, between: tuple[float, float] | None) -> pa.Table:
    file = side.folder / f"{name}.parquet"
    if not file.exists():
        raise UserError(
            f"{side.folder} has no records of ACKs; allowed: a trial with them (testbed run … --set samples=acks)"
        )
    with sample_table.reading(file):
        table = sample_table.rows(sample_table.opened(file))
    if between is None:
        return table
    return table.filter(
        pc.and_(pc.greater_equal(table["time_s"], between[0]), pc.less_equal(table["time_s"], between[1]))
    )


def _add(rows: dict[str, list[dict[str, Any]]], label: str, acks: pa.Table, events: pa.Table, every: int) -> None:
    first = acks.slice(0, 1).to_pylist()[0]
    series = f"{label}: {first['congestion']} {first['source_port']} → {first['destination_port']}"
    for each in acks.take(pa.array(range(0, acks.num_rows, every))).select(["time_s", *SHOWN]).to_pylist():
        rows["acks"].append(
            {
                "t": round(each["time_s"], 9),
                "series": series,
                "cwnd": each["snd_cwnd"],
                "ssthresh": each["snd_ssthresh"],
                "in_flight": each["in_flight"],
                "pacing": None if each["pacing_rate_bps"] is None else each["pacing_rate_bps"] / 1e6,
                "srtt": round(each["srtt_s"] * 1e3, 6),
                "ca_state": each["ca_state"],
            }
        )
    last_s, told = acks["time_s"][-1].as_py(), dict[str, dict[str, Any]]()
    for each in events.select(["time_s", "event", "name", "value"]).to_pylist():
        row = {"t": round(each["time_s"], 9), "series": series, "name": each["name"], "value": each["value"]}
        rows["numbers" if each["event"] == "number" else "events"].append(row | {"event": each["event"]})
        if each["event"] == "number":
            told[each["name"]] = row | {"event": "number", "t": round(last_s, 9)}
    rows["numbers"] += told.values()  # a number stays until it is told again
