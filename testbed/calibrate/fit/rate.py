"""Capacity and available rate of one direction, and the limit of each flow. Pure, no I/O.

Bulk TCP tells what was available to it. That is the capacity only where the flows had a queue standing before the link
and nobody else used it (Sanaga, Duerig, Ricci and Lepreau, Modeling and Emulation of Internet Paths, NSDI 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...analysis import statistic
from ..measurement import Second
from .fitted import Explanation, Fitted, Found, mean_interval, unique, unknown
from .steady import Group, above_s, is_standing, rate, share, total

NEXT = "run `iperf3 --json -P 8 -t 60 -c SERVER`"
STANDING_MOST, STANDING_SOME = 0.9, 3
SAME = 0.05
"""Rates that differ by less are alike, for the rules that compare groups."""
ENOUGH_PINGS = 20
OVERLOAD = 0.02
"""So many datagrams lost show that a link was full, if the rate that arrived is below the one that was sent."""
STEADY_CV = 0.05
WINDOW_ABOVE = 1.3
WINDOWS = "run it with more flows, `-P 8`, or with larger windows, `-w 64M`"
SYSTEMATIC = 0.005
"""What is written to a socket waits in buffers; over the steady part of a run that is about this share."""


@dataclass(frozen=True)
class Carried:
    """The most that a direction was seen to carry, in bits of frames, and where."""

    frames_bps: float
    where: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Load:
    """A group with its steady intervals and the share of them in which a queue stood, by round-trip times above
    `from_s`; None if no RTT is told. In the others of the share `risen` there may have been one, of a packet or two.
    """

    group: Group
    steady: tuple[tuple[Second, ...], ...]
    rate_bps: float
    interval: tuple[float, float] | None
    standing: float | None
    risen: float | None
    from_s: float | None

    @property
    def seconds(self) -> list[Second]:
        return [each for run in self.steady for each in run]

    @property
    def frames_bps(self) -> float:
        return self.rate_bps * self.group.framing


def loads(groups: Sequence[Group], rtt_s: float | None, pings: Sequence[float] = ()) -> list[Load]:
    """The bulk TCP groups that have intervals, the fastest first. Round-trip times of `pings` that ran meanwhile tell
    of a queue where the flows tell none.
    """
    bulk = [group for group in groups if group.ask is None or group.ask.is_bulk]
    steady = [(group, runs) for group in bulk if (runs := [run for run in group.steady(rtt_s) if run])]
    most_bps = max((rate(runs)[0] for _, runs in steady), default=0.0)
    from_s = above_s(rtt_s, most_bps) if rtt_s is not None and most_bps else None

    def above(runs: Sequence[Sequence[Second]], level_s: float | None) -> float | None:
        if level_s is None:
            return None
        told = share(is_standing(each, level_s) for run in runs for each in run)
        return share(each > level_s for each in pings) if told is None and len(pings) >= ENOUGH_PINGS else told

    least_s = None if from_s is None or rtt_s is None else above_s(rtt_s)
    found = [
        Load(group, tuple(map(tuple, runs)), *rate(runs), above(runs, from_s), above(runs, least_s), from_s)
        for group, runs in steady
    ]
    return sorted(found, key=lambda each: -each.rate_bps)


def fit(found: Sequence[Load], datagrams: Sequence[Group], rtt_s: float | None) -> Found:
    """The rate of the link in bits of frames, and the available rate in payload."""
    overload = _overload(datagrams)
    if not found and not datagrams:
        return Found((unknown("rate", "bit/s", "no transfer in this direction", NEXT),))
    carried = _carried(found, datagrams)
    if overload is not None and not _reaches(overload, carried):
        overload = None
    if not found:
        rule = f"no load that fills the link: at least the rate of {carried.where}, in frames"
        value = carried.frames_bps
        least = Fitted("rate", "bit/s", "bound", rule, value, value * (1 - SAME), None, carried.files, NEXT)
        return Found((overload or least,))
    best = found[0]
    fitted = [_available(best)]
    link, notes = _capacity(best, found, rtt_s, carried)
    if overload is not None and not link.is_known:
        link = overload
    return Found((link, *fitted), (*notes, *_limits(found, rtt_s)))


def _reaches(overload: Fitted, carried: Carried) -> bool:
    """Whether datagrams that were lost brought over all that is known to fit; otherwise it is no overload."""
    return (overload.value or 0.0) >= carried.frames_bps * (1 - SAME)


def _carried(found: Sequence[Load], datagrams: Sequence[Group]) -> Carried:
    """The most of whole transfers. Parts of them tell less: a sender counts what waits in its sockets, a receiver what
    waited in its own, and a policer lets a burst pass.
    """
    most = [
        Carried(each.goodput_bps * group.framing, f"{group.said}, over its whole time", group.files)
        for group in (*(each.group for each in found), *datagrams)
        for each in group.transfers
    ]
    return max(most, key=lambda each: each.frames_bps)


def _available(best: Load) -> Fitted:
    rule = f"the mean of the steady part of {best.group.said}, in payload: what the others left to these flows"
    low, high = best.interval if best.interval else (None, None)
    low = None if low is None else max(0.0, low)
    return Fitted("available", "bit/s", "identified", rule, best.rate_bps, low, high, best.group.files)


def _capacity(
    best: Load, found: Sequence[Load], rtt_s: float | None, most: Carried
) -> tuple[Fitted, tuple[Explanation, ...]]:
    framing, files = best.group.framing, best.group.files
    where = f"{best.group.said}; times {framing:.4f} for headers and Ethernet"
    if _scales(found):
        rule = f"the rate still grows with the number of flows: at least that of {where}"
        return _bound(best, rule, files, most), ()
    if best.group.ask is None:
        rule = f"whether all was sent that fits is not told: at least the rate of {where}"
        return _bound(best, rule, files, most), ()
    if best.standing is None or rtt_s is None or best.from_s is None:
        plateau = _plateau(found)
        if plateau is None:
            rule = f"no round-trip time under load shows a queue: at least the rate of {where}"
            return _bound(best, rule, files, most), ()
        rule = f"more flows get no more ({plateau}), so the link is full: the rate of {where}"
        return _known(best, best.seconds, rule, files), _others()
    if best.standing >= STANDING_MOST:
        rule = f"a queue stood in {best.standing:.0%} of the intervals: the mean rate of {where}"
        return _known(best, best.seconds, rule, files), _others()
    busy = [each for each in best.seconds if is_standing(each, best.from_s)]
    if not any(each.rtts_s for each in best.seconds):
        rule = f"pings show a queue for {best.standing:.0%} of the time: at least the rate of {where}"
        return _bound(best, rule, files, most), ()
    if len(busy) >= STANDING_SOME:
        rule = f"the mean rate of the {len(busy)} of {len(best.seconds)} intervals in which a queue stood, of {where}"
        return _known(best, busy, rule, files), _others()
    rule = f"no queue stood, something else held the flows back: at least the rate of {where}"
    return _bound(best, rule, files, most), _held(best, rtt_s)


def _held(best: Load, rtt_s: float) -> tuple[Explanation, ...]:
    """What held flows back that had no queue: what they lost, or a window below the congestion window."""
    resent = [each.retransmits for each in best.seconds if each.retransmits is not None]
    flight = best.rate_bps / best.group.flows * rtt_s / 8
    windows = [value for each in best.seconds for value in each.windows_bytes]
    said = "retransmissions are not told" if not resent else f"{sum(resent)} segments were sent again meanwhile"
    lost = Explanation("no queue", "losses held the flows back", not resent or sum(resent) > 0, said)
    if not windows:
        why = "the congestion windows are not told"
        return (lost, Explanation("no queue", "a window of the sockets held the flows back", True, why, WINDOWS))
    median = statistic.median(windows)
    is_larger = median > WINDOW_ABOVE * flight
    why = f"{flight / 1e6:.3g} MB were under way in each flow, and congestion windows allowed {median / 1e6:.3g} MB"
    what = f"a window of the sockets of {flight / 1e6:.3g} MB held the flows back, or the sender"
    return (lost, Explanation("no queue", what, is_larger and not sum(resent), why, WINDOWS))


def _known(best: Load, seconds: Sequence[Second], rule: str, files: tuple[str, ...]) -> Fitted:
    value = total(seconds)
    interval = best.interval if len(best.steady) >= 3 else mean_interval([each.rate_bps for each in seconds])
    low, high = interval or (value * (1 - SAME), value * (1 + SAME))
    scale, off = best.group.framing, value * SYSTEMATIC
    return Fitted(
        *("rate", "bit/s", "identified", rule),
        value=value * scale,
        low=max(0.0, low - off) * scale,
        high=(high + off) * scale,
        sources=files,
    )


def _bound(best: Load, rule: str, files: tuple[str, ...], most: Carried) -> Fitted:
    """The rate of the steady part, or the most that was carried if that is more."""
    low = best.interval[0] if best.interval else best.rate_bps * (1 - SAME)
    scale = best.group.framing
    if most.frames_bps > best.rate_bps * scale:
        rule = f"{rule}, but more was carried by {most.where}"
        value, files = most.frames_bps, unique([*files, *most.files])
        return Fitted("rate", "bit/s", "bound", rule, value, value * (1 - SAME), None, files, NEXT)
    return Fitted("rate", "bit/s", "bound", rule, best.rate_bps * scale, max(0.0, low) * scale, None, files, NEXT)


def _others() -> tuple[Explanation, ...]:
    """What bulk TCP can never exclude."""
    apart = "the same at another hour, or packet pairs in a capture: `tcpdump -w pairs.pcap`"
    return (
        Explanation("rate", "a link of this rate, which nobody else uses", True, "the rate is steady", apart),
        Explanation(
            "rate", "a faster link, of which others use a constant part", True, "bulk TCP sees the same of both", apart
        ),
    )


def _plateau(found: Sequence[Load]) -> str | None:
    """In words, two numbers of flows that get the same rate together."""
    best = found[0]
    for other in found[1:]:
        few, many = sorted((best.group.flows, other.group.flows))
        if many >= 2 * few and other.rate_bps >= best.rate_bps * (1 - SAME):
            return f"{few} and {many} flows"
    return None


def _scales(found: Sequence[Load]) -> bool:
    """Whether the largest number of flows gets as much for each flow as a smaller number of them."""
    many = max(found, key=lambda each: each.group.flows)
    few = min(found, key=lambda each: each.group.flows)
    if many.group.flows < 2 * few.group.flows:
        return False
    return many.rate_bps / many.group.flows >= few.rate_bps / few.group.flows * (1 - SAME)


def _overload(groups: Sequence[Group]) -> Fitted | None:
    """From datagrams that came faster than the link takes them: of those of which most arrived."""
    lossy = [each for each in groups if _lost(each) > OVERLOAD and each.ask is not None and each.ask.length_bytes]
    group = max(lossy, key=lambda each: each.goodput_bps, default=None)
    if group is None:
        return None
    value = group.goodput_bps * group.framing
    rule = f"{_lost(group):.0%} of the datagrams of {group.said} were lost: the rate that arrived, in frames"
    return Fitted("rate", "bit/s", "identified", rule, value, value * 0.99, value * 1.01, group.files)


def _lost(group: Group) -> float:
    """The least share of a group's datagrams that a run of it lost; 0 if none tells it."""
    shares = [each.lost / each.datagrams for each in group.transfers if each.lost is not None and each.datagrams]
    return min(shares, default=0.0)


def _limits(found: Sequence[Load], rtt_s: float | None) -> tuple[Explanation, ...]:
    return flow_limits(found, rtt_s).explanations


def flow_limits(found: Sequence[Load], rtt_s: float | None) -> Found:
    """The cap of each flow: 1 against N flows. Kept apart from a window and from loss, which look the same."""
    few = min(found, key=lambda each: each.group.flows, default=None)
    many = max(found, key=lambda each: each.group.flows, default=None)
    if few is None or many is None or many.group.flows < 2 * few.group.flows:
        return Found((unknown("per_flow", "bit/s", "only one number of flows was measured", NEXT),))
    each_bps = few.rate_bps / few.group.flows
    if many.rate_bps <= few.rate_bps * (1 + 2 * SAME):
        rule = (
            f"{few.group.flows} and {many.group.flows} flows get the same together: no limit of a flow below the link"
        )
        return Found((unknown("per_flow", "bit/s", rule),))
    causes = _causes(few, each_bps, rtt_s)
    caps = [each for each in causes if each.fits]
    is_cap = caps and caps[0].says.startswith("a cap")
    if len(caps) == 1 and is_cap:
        low, high = few.interval or (few.rate_bps * (1 - SAME), few.rate_bps * (1 + SAME))
        scale = few.group.framing / few.group.flows
        rule = (
            f"{few.group.flows} flow gets {each_bps / 1e6:.4g} Mbit/s and {many.group.flows} flows more, with neither "
        )
        rule += "a window nor losses that hold it: in frames"
        files = unique([*few.group.files, *many.group.files])
        fitted = Fitted(
            "per_flow", "bit/s", "identified", rule, each_bps * few.group.framing, low * scale, high * scale, files
        )
        return Found((fitted,), causes)
    rule = (
        "several explanations of one flow's rate remain"
        if len(caps) > 1
        else "a window or losses explain one flow's rate"
    )
    return Found((unknown("per_flow", "bit/s", rule, "see the explanations"),), causes)


def _causes(few: Load, each_bps: float, rtt_s: float | None) -> tuple[Explanation, ...]:
    group = few.group
    limit = max((each.window_limit_bytes for each in group.transfers if each.window_limit_bytes), default=None)
    asked = None if group.ask is None else group.ask.window_bytes
    window, why = _window_fits(few, each_bps, limit, asked, rtt_s)
    resent = [each.retransmits for each in few.seconds if each.retransmits is not None]
    lossy = bool(resent) and sum(1 for each in resent if each) * 10 >= len(resent) and not (few.standing or 0) > 0.5
    said = "retransmissions are not told" if not resent else f"{sum(resent)} segments sent again in its steady part"
    steady = statistic.population_cov([each.rate_bps for each in few.seconds]) < STEADY_CV
    level = "its rate is steady" if steady else "its rate is not steady"
    longer = f"run `iperf3 --json -P {max(2, group.flows)} -w 16M -t 60` and one flow with `-C bbr`"
    return (
        Explanation(
            "one flow",
            f"a cap of {each_bps * group.framing / 1e6:.4g} Mbit/s for each flow",
            steady and not lossy and not window,
            f"{level}, {said}",
            longer,
        ),
        Explanation("one flow", "the window of the flow", window, why, longer),
        Explanation("one flow", "losses, by the law of its congestion control", lossy, said, longer),
    )


def _window_fits(
    few: Load, each_bps: float, limit: float | None, asked: int | None, rtt_s: float | None
) -> tuple[bool, str]:
    """Whether a window over the round-trip time gives the rate of a flow."""
    rtts = [value for each in few.seconds for value in each.rtts_s]
    loaded_s = statistic.median(rtts) if rtts else rtt_s
    if loaded_s is None or (limit is None and asked is None):
        return asked is not None, "a window was asked" if asked else "no window is told"
    window = min(each for each in (limit, asked and 2 * asked) if each)
    most_bps = window * 8 / loaded_s
    what = f"{window / 1024:.0f} KiB over {loaded_s * 1e3:.4g} ms carry {most_bps / 1e6:.4g} Mbit/s"
    return each_bps >= most_bps * 0.75, what
