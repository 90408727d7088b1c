"""Flent's data files (`.flent.gz`, also plain JSON), versions 1 to 4. Reads text.

Pings count one by one, from the raw values; throughput from the series. Pings before the first and after the last
sample of throughput ran without load. netperf is not free software, so iperf3 makes the same flows, which is noted.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..measurement import Ask, Measurement, Reading, Second, Transfer, Way, refused, summed

FORMAT = "flent"
ICMP = re.compile(r"^Ping \(ms\) (ICMP|UDP|avg)?")
TCP = re.compile(r"^TCP (?P<way>upload|download)(?: (?P<what>sum|avg)$|(?P<single>.*))", re.DOTALL)
AGGREGATES = ("avg", "sum", "totals")
MARGIN_S = 0.5
"""So far from the load a ping must be to count as one without it."""


def is_it(text: str) -> bool:
    head = text[:2000]
    return head.lstrip().startswith("{") and ('"x_values"' in text and '"results"' in text and '"metadata"' in text)


def read(file: str, text: str) -> Reading:
    """Raises SpecError for what is no such file."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise refused(file, None, "this JSON is nested too deeply", "a data file of Flent") from None
    except json.JSONDecodeError as error:
        raise refused(file, error.lineno, f"the JSON is cut short or damaged: {error.msg}", "a whole file") from None
    try:
        return _read(file, data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"this lacks what a data file of Flent has ({type(error).__name__}: {error})"
        raise refused(file, None, what[:160], "the file that flent wrote") from None


def _read(file: str, data: Mapping[str, Any]) -> Reading:
    times = [float(each) for each in data["x_values"]]
    if any(other <= one for one, other in pairwise(times)):
        raise refused(file, None, "the times of its samples go backward", "times that rise")
    targets = [name for name in data.get("raw_values") or {} if re.match(r"Ping \(ms\) ICMP\d", name)]
    if len(targets) > 1:
        raise refused(file, None, f"it has the pings of {len(targets)} hosts, so of as many paths", "those of one path")
    ways = {way: flows for way in ("upload", "download") if (flows := _flows(data["results"], way))}
    span = _load_span(data, ways)
    found: list[Measurement] = []
    rtts = sorted(_pings(data))
    idle = [rtt_s for at, rtt_s in rtts if span is None or not span[0] - MARGIN_S <= at <= span[1] + MARGIN_S]
    loaded = [rtt_s for at, rtt_s in rtts if span is not None and span[0] + MARGIN_S < at < span[1] - MARGIN_S]
    told: list[str] = []
    untold = ["the windows and buffers of the sockets"]
    for values, is_loaded in ((idle, False), (loaded, True)):
        if values:
            word = "under load" if is_loaded else "without load"
            told.append(f"{len(values)} round-trip times {word}")
            found.append(Measurement(file, None, pings=summed(values, 1e-4), is_loaded=is_loaded))
    if not idle:
        untold.append("round-trip times without load")
    step_s = float(data["metadata"].get("STEP_SIZE") or 0) or (times[1] - times[0] if len(times) > 1 else 1.0)
    for word, flows in ways.items():
        way: Way = "forward" if word == "upload" else "backward"
        transfer = _transfer(times, flows, step_s)
        if transfer is None:
            continue
        told.append(f"{word} of {len(flows)} flows, mean {transfer.goodput_bps / 1e6:.4g} Mbit/s")
        ask = None if len(ways) > 1 else _ask(data, word, flows)
        found.append(Measurement(file, ask, transfer=transfer, way=way))
        untold.append("retransmissions")
    notes = ("its flows are netperf's; iperf3 makes the same ones here",) if len(ways) == 1 else ()
    if len(ways) > 1:
        untold.append("one direction alone: both ran at once, so it is fitted and not measured again")
    if not found:
        raise refused(file, None, "this has neither ICMP pings nor TCP flows", "tests such as tcp_nup, rrul or ping")
    return Reading(file, FORMAT, tuple(found), tuple(told), tuple(untold), notes=notes)


def _flows(results: Mapping[str, Sequence[float | None]], word: str) -> dict[str, Sequence[float | None]]:
    """The series of single flows in Mbit/s."""
    return {
        name: series
        for name, series in results.items()
        if (match := TCP.match(name)) is not None
        and match["way"] == word
        and not any(part in AGGREGATES for part in name.split())
        and not re.search(r"::tcp_|::[a-z_]+$", name)
        and any(each is not None for each in series)
    }


def _load_span(data: Mapping[str, Any], ways: Mapping[str, Mapping[str, object]]) -> tuple[float, float] | None:
    """From the first to the last sample of throughput, by the clock of the raw values."""
    names = [name for flows in ways.values() for name in flows]
    raw = data.get("raw_values") or {}
    at = [float(each["t"]) for name in names for each in raw.get(name) or () if "t" in each]
    if not at:
        return None
    first = [float(raw[name][0].get("dur", 0.2)) for name in names if raw.get(name)]
    return min(at) - max(first, default=0.2), max(at)


def _pings(data: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """When each ping came, and its RTT; of ICMP alone, as netperf's UDP_RR tells rates of transactions."""
    for name, values in (data.get("raw_values") or {}).items():
        if not name.startswith("Ping (ms) ICMP") or "::" in name:
            continue
        for each in values or ():
            value = each.get("val")
            if value is not None and math.isfinite(value) and value > 0:
                yield float(each["t"]), float(value) / 1000


def _transfer(times: Sequence[float], flows: Mapping[str, Sequence[float | None]], step_s: float) -> Transfer | None:
    """The mean of the flows that have a sample, times their number, while at least half have one. Flent's own sum takes
    a missing sample as 0.
    """
    whole = []
    for at, *row in zip(times, *flows.values(), strict=False):
        known = [each for each in row if each is not None]
        if known and 2 * len(known) >= len(flows):
            whole.append((at, _mean(known) * len(flows)))
    if len(whole) < 2:
        return None
    seconds = tuple(Second(at, at + step_s, mbps * 1e6 / 8 * step_s) for at, mbps in whole)
    each_bps = tuple(_mean([v for v in series if v is not None]) * 1e6 for series in flows.values())
    return Transfer(sum(each_bps), seconds, each_bps)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _ask(data: Mapping[str, Any], word: str, flows: Mapping[str, object]) -> Ask:
    about = data["metadata"].get("SERIES_META") or {}
    controls = {str(about.get(name, {}).get("CONG_CONTROL")) for name in flows} - {"None"}
    known = next(iter(controls)) if len(controls) == 1 else None
    length_s = float(data["metadata"]["LENGTH"])
    return Ask("iperf3", "tcp", len(flows), length_s, word == "download", known)
