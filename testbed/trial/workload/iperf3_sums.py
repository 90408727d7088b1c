"""What contradicts itself in iperf3's JSON: its `end` is the sum of its intervals and of its streams. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

WHOLE = 0.02
"""Intervals that cover the time of `end` but for this share are all of them."""
FEW = 5
"""Segments sent again that a version may count in `end` alone."""


def contradictions(run: Mapping[str, Any], share: float) -> Iterator[str]:
    """In words, where two numbers for the same thing differ by more than a share. What a version does not tell is left
    out. Intervals that `-O` omits may count or not: versions differ.
    """
    start, end = run["start"], run["end"]
    test = start["test_start"]
    receives = bool(test.get("reverse")) != ("accepted_connection" in start)
    total = end.get("sum_received" if receives else "sum_sent") or ({} if receives else end.get("sum") or {})
    yield from _of_intervals(run["intervals"], {"seconds": test.get("duration"), **total}, share)
    for name in ("sum_sent", "sum_received"):
        yield from _of_rate(name, end.get(name) or {}, share)
    if str(test["protocol"]).upper() == "TCP":
        yield from _of_streams(end, share)


def _of_intervals(intervals: Any, total: Mapping[str, Any], share: float) -> Iterator[str]:
    every = [each["sum"] for each in intervals]
    ways = ([each for each in every if not each.get("omitted")], every)
    lengths_s = [sum(float(each["seconds"]) for each in way) for way in ways]
    took_s, octets = total.get("seconds"), total.get("bytes")
    if not took_s or octets is None or abs(lengths_s[0] - float(took_s)) > WHOLE * float(took_s):
        return
    sums = [sum(float(each["bytes"]) for each in way) for way in ways]
    if all(_differ(each, float(octets), share) for each in sums):
        yield f"its intervals have {sums[0]:.0f} bytes, and its end {float(octets):.0f}"
    resent = [[each.get("retransmits") for each in way] for way in ways]
    told = total.get("retransmits")
    if told is None or any(each is None for each in resent[0]):
        return
    counts = [sum(each or 0 for each in way) for way in resent]
    if all(abs(each - told) > FEW + share * max(each, told) for each in counts):
        yield f"its intervals sent {counts[0]} segments again, and its end {told}"


def _of_rate(name: str, total: Mapping[str, Any], share: float) -> Iterator[str]:
    took_s, octets, rate_bps = (total.get(key) for key in ("seconds", "bytes", "bits_per_second"))
    if took_s and octets and rate_bps and _differ(8 * float(octets) / float(took_s), float(rate_bps), share):
        yield f"{name} has {float(octets):.0f} bytes in {float(took_s):g} s, and {float(rate_bps):.0f} bit/s"


def _of_streams(end: Mapping[str, Any], share: float) -> Iterator[str]:
    for name, side in (("sum_sent", "sender"), ("sum_received", "receiver")):
        octets = (end.get(name) or {}).get("bytes")
        parts = [each.get(side, {}).get("bytes") for each in end.get("streams", ())]
        if octets and parts and None not in parts and _differ(sum(map(float, parts)), float(octets), share):
            yield f"its streams have {sum(map(float, parts)):.0f} bytes, and {name} {float(octets):.0f}"


def _differ(one: float, other: float, share: float) -> bool:
    return abs(one - other) > share * max(one, other)
