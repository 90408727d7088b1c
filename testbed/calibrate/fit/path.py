"""All fits of a path together. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..measurement import Measurement, Reading, Way
from . import background, bucket, buffer, loss, rate, round_trip
from .fitted import Explanation, Fitted, Found, unknown
from .steady import Group, grouped

WAYS: tuple[Way, ...] = ("forward", "backward")
MORE_THAN_FILL = 1.1
"""How many times the rate of the link the caps of flows let through that fill it."""


@dataclass(frozen=True)
class PathFit:
    """`fitted` by name: those of a direction end with ".forward" or ".backward". `mtu` is that of the segments seen;
    None if none tell it. `trace` is a file that the link plays instead of a rate.
    """

    fitted: Mapping[str, Fitted]
    explanations: tuple[Explanation, ...]
    mtu: int | None = None
    trace: str | None = None

    def of(self, name: str, way: Way | None = None) -> Fitted:
        return self.fitted[name if way is None else f"{name}.{way}"]

    def measured(self, way: Way) -> bool:
        """Whether any file tells of a rate in this direction."""
        return self.of("rate", way).value is not None


def fit(readings: Sequence[Reading]) -> PathFit:
    """Of all measurements of the files."""
    every = [each for reading in readings for each in reading.measurements]
    idle = [each for each in every if each.pings is not None and not each.is_loaded]
    loaded = [each for each in every if each.pings is not None and each.is_loaded]
    transfers = [each for each in every if each.transfer is not None]
    found = round_trip.fit(idle, transfers)
    fitted = {each.name: each for each in found.fitted}
    explanations = list(found.explanations)
    base = fitted.get("rtt_base", fitted["rtt"]).value
    top = fitted["rtt"].value
    for way in WAYS:
        mine = [group for group in grouped(transfers) if group.way == way]
        others = [group for group in grouped(transfers) if group.way != way]
        pings = [each for each in loaded if _beside(each, mine) and not _beside(each, others)]
        of_way = _of_way(mine, pings, base, top)
        if any(each.says == round_trip.OTHERS for each in found.explanations):
            of_way = replace(of_way, fitted=tuple(map(_beside_others, of_way.fitted)))
        fitted |= {f"{each.name}.{way}": each for each in of_way.fitted}
        explanations += of_way.explanations
    trace = next((reading.trace for reading in readings if reading.trace is not None), None)
    sizes = [each.transfer.mss_bytes for each in transfers if each.transfer and each.transfer.mss_bytes]
    return PathFit(fitted, tuple(dict.fromkeys(explanations)), _mtu(sizes), trace)


def _shared(each: Fitted) -> Fitted:
    """A rate that varies while a queue stands is what others left, not the capacity."""
    if each.name != "rate" or not each.is_known:
        return each
    rule = f"{each.rule}; but it varies as others' traffic or a changing link do: at least that"
    return replace(each, status="bound", high=None, rule=rule, next=background.APART)


def _beside_others(each: Fitted) -> Fitted:
    """What was lost may have been lost in a queue that others filled."""
    if each.name != "loss" or not each.is_known:
        return each
    rule = f"{each.rule}; but others fill a queue, which drops too: a bound"
    return replace(each, status="bound", value=0.0, low=None, rule=rule, next="the same while nobody else is there")


def _beside(pings: Measurement, mine: Sequence[Group]) -> bool:
    """Whether pings under load ran while one of these transfers did; those of its own file count too. Under load in
    both directions they tell nothing of either queue.
    """
    for group in mine:
        for run in group.runs:
            if run.file == pings.file:
                return True
            times = (run.starts_s, run.ends_s, pings.starts_s, pings.ends_s)
            if None not in times and times[0] < times[3] and times[2] < times[1]:  # type: ignore[operator]
                return True
    return False


def _of_way(mine: Sequence[Group], pings: Sequence[Measurement], base_s: float | None, rtt_s: float | None) -> Found:
    bulk = [each for each in mine if each.ask is None or each.ask.protocol == "tcp"]
    datagrams = [each for each in mine if each.ask is not None and each.ask.protocol == "udp"]
    credit = bucket.fit(bulk, rtt_s)
    is_bucket = credit.fitted[0].is_known
    singles = [value for each in pings if each.pings for value in each.pings.rtts_s]
    loads = rate.loads(bulk, rtt_s, singles)
    if is_bucket:
        falling = set(credit.fitted[0].sources)
        rates = Found(
            (
                unknown("rate", "bit/s", "a token bucket has two rates"),
                unknown("available", "bit/s", "a token bucket has two rates"),
            )
        )
        steady = [each for each in loads if not falling & set(each.group.files)]
        link = credit.fitted[2]
        varies = Found((unknown("background", "ratio", "a token bucket explains how the rate varies"),))
    else:
        rates, steady = rate.fit(loads, datagrams, rtt_s), loads
        varies = background.fit(loads)
        if any(each.of == "variation" for each in varies.explanations):
            rates = replace(rates, fitted=tuple(map(_shared, rates.fitted)))
        link = rates.fitted[0]
    if len(rates.fitted) == 1:
        rates = replace(rates, fitted=(*rates.fitted, unknown("available", "bit/s", "no bulk TCP in this direction")))
    caps = rate.flow_limits(steady, rtt_s)
    filling = _filling(loads, caps.fitted[0], link)
    beside = pings if len(filling) == len(loads) else [each for each in pings if _is_beside_only(each, filling, mine)]
    held = buffer.fit(filling, beside, link, rtt_s if base_s is None else min(base_s, rtt_s or base_s))
    lost = loss.fit(steady, datagrams, link.value, rtt_s)
    if any(each.of == "variation" for each in varies.explanations):
        lost = replace(lost, fitted=tuple(map(_beside_others, lost.fitted)))
    parts = (credit, rates, caps, held, lost, varies)
    return Found(
        tuple(each for part in parts for each in part.fitted),
        tuple(each for part in parts for each in part.explanations),
    )


def _filling(loads: Sequence[rate.Load], cap: Fitted, link: Fitted) -> Sequence[rate.Load]:
    """Those whose flows could fill the link; others wait at their caps, in queues that are not the link's."""
    if not cap.is_known or cap.value is None or link.value is None:
        return loads
    return [each for each in loads if each.group.flows * cap.value > link.value * MORE_THAN_FILL]


def _is_beside_only(pings: Measurement, filling: Sequence[rate.Load], mine: Sequence[Group]) -> bool:
    """Whether pings under load ran beside loads that fill the link, and beside no other."""
    groups = [each.group for each in filling]
    return _beside(pings, groups) and not _beside(pings, [each for each in mine if each not in groups])


def _mtu(sizes: Sequence[int]) -> int | None:
    """With the headers of IPv4 and TCP with time stamps; those of a capture may be anything else."""
    if not sizes:
        return None
    mtu = max(set(sizes), key=sizes.count) + 52
    return mtu if 576 <= mtu <= 9000 else None
