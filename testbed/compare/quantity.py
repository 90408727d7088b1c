"""What a published number is: the metric of a trial that it is judged against, and what a trial must have for it. Pure,
no I/O.

This is the one place where a number of a publication becomes something that a run can have. Each metric of
`analysis.metric` is such a quantity, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from .. import units
from ..analysis import statistic
from ..analysis.condition import conditions
from ..analysis.metric import METRICS
from ..analysis.series import Span, goodput_bps
from ..analysis.theory_curve import line_rate_bps
from ..codec.frozen import dataclass
from ..error import ValueRefused, one_of
from ..trial.measured import PingResult, find
from ..trial.result import TrialResult
from ..trial.workload.http import Download, HttpResult
from ..trial.workload.udp import UdpResult
from ..units import format_rate

Of: TypeAlias = Mapping[str, str]
"""What a profile says of a number: its conditions, as text."""
Value: TypeAlias = Callable[[TrialResult, str], float | None]
"""A metric of a trial by its name, in base units; None if the trial does not have it."""

RATE = "bit/s"
FULL = 0.9
"""From this share of what its link carries, a flow may have a queue, and so an RTT of its own."""
FEW_LOST = 3
"""Where none of n is lost, the share is at most 3 / n with a confidence of 95 %: the rule of three (Hanley and
Lippman-Hand, JAMA 249, 1983)."""
TICK_S = 1e-9
"""What the clock tells apart."""
SHOWN = {"s": ("ms", 1e3), "ratio": ("%", 100.0)}
"""How people read a base unit."""


@dataclass(frozen=True)
class Quantity:
    """`unit` is that in which it is published, `judged_in` that in which it is judged (base units); they differ by
    `factor`, which follows from what the profile says of the number. `needs` are the keys that `of` must have.

    `of` is the value of a trial, None if it has none; `trial` says in words what a trial must have. Where a value may
    be 0, `upper` is what it is at most, which a published upper limit alone is held against. `is_bulk`: the parts of a
    trial tell how much it varies. `is_of_rtt`: it is an RTT itself, and depends on no other.
    """

    name: str
    what: str
    unit: str
    trial: str
    of: Callable[[TrialResult, Of, Span, Value], float | None]
    needs: tuple[str, ...] = ()
    judged_in: str = ""
    factor: Callable[[Of], float] = lambda of: 1.0
    upper: Callable[[TrialResult, Of, Span, Value], float | None] | None = None
    is_bulk: bool = False
    is_of_rtt: bool = False

    @property
    def base_unit(self) -> str:
        return self.judged_in or self.unit

    def text(self, value: float) -> str:
        """A value in base units as people read it."""
        if self.base_unit == RATE:
            return format_rate(int(float(f"{value:.3g}"))) if value >= 1 else f"{value:g} {RATE}"
        unit, scale = SHOWN.get(self.base_unit, (self.base_unit, 1.0))
        return f"{value * scale:.4g} {unit}"

    def refuse_unread(self, of: Of) -> None:
        """Raises ValueRefused, at its key, for a condition that it needs and that is missing or cannot be read."""
        for key in self.needs:
            if key not in of:
                raise ValueRefused(f"{self.name} needs the {key} that the publication states", READ[key][1], ("of",))
            try:
                found = READ[key][0](of[key])
            except ValueRefused as refused:
                raise ValueRefused(refused.what, refused.allowed, ("of", key)) from None
            if not found:
                raise ValueRefused(f"a {key} of {of[key]} is none", READ[key][1], ("of", key))


READ: Mapping[str, tuple[Callable[[str], int], str]] = {
    "duration": (units.parse_time, "such as {duration: 30 s}"),
    "size": (units.parse_size, "such as {size: 1 MiB}"),
}
"""How a condition that a quantity needs is read, with an example."""


def of_number(metric: str | None, unit: str | None, of: Of) -> Quantity:
    """What a number of this unit is; without `metric`, what its unit says. Raises ValueRefused if no trial has such a
    number, with the reason.
    """
    name = metric or BY_UNIT.get(unit or "")
    if name is None:
        allowed = f"numbers in {', '.join(BY_UNIT)}, or `metric` with one of {', '.join(names())}"
        raise ValueRefused(f"its unit ({unit}) does not say which metric of a trial it is", allowed)
    found = QUANTITIES.get(name) or (_of_metric(name) if name in METRICS else None)
    if found is None:
        raise ValueRefused(f"{name!r} is no metric of a trial", one_of(names(), name), ("metric",))
    if unit is not None and unit != found.unit:
        at = () if metric is None else ("metric",)
        raise ValueRefused(f"{name} is in {found.unit}, and this is in {unit}", f"a metric in {unit}", at)
    found.refuse_unread(of)
    return found


def names() -> list[str]:
    """What `metric` may be in a profile."""
    return [*QUANTITIES, *(name for name in METRICS if name not in QUANTITIES)]


def _of_metric(name: str) -> Quantity:
    metric = METRICS[name]
    return Quantity(name, metric.what, metric.base_unit, f"this metric ({metric.what})",
                    lambda result, of, span, value: value(result, name))  # fmt: skip


def measured(result: TrialResult, name: str) -> float | None:
    """A metric of a trial without its samples."""
    return METRICS[name].of(result, ())


def is_of_datagrams(result: TrialResult) -> bool:
    """Whether UDP, which no congestion control holds back, gave a trial's goodput."""
    return find(UdpResult, result.measured) is not None


def _of_tcp(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    return None if is_of_datagrams(result) else goodput_bps(result, span)


def _transfer(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    """All bytes over the whole time, the ramp included, as in a transfer that is published."""
    return goodput_bps(result, "whole")


def _window(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    """Segments in flight, by Little's law: goodput times RTT. Without a queue, which a full link may have, the RTT
    under load is that of the path.
    """
    goodput, asked = goodput_bps(result, span), conditions(result)
    full = line_rate_bps(asked)
    if goodput is None or not result.flows or (full is not None and goodput > FULL * full):
        return None
    return goodput * result.asked.rtt_s / 8 / asked.mss_bytes / len(result.flows)


def _ping_mean(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    found = find(PingResult, result.measured)
    return None if found is None else found.rtt_mean_s


def _datagrams(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    return goodput_bps(result, span) if is_of_datagrams(result) else None


def _loss(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    found = find(UdpResult, result.measured)
    return found.lost_datagrams / found.sent_datagrams if found is not None and found.sent_datagrams else None


def _most_loss(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    seen, found = _loss(result, of, span, value), find(UdpResult, result.measured)
    return None if seen is None or found is None else max(seen, FEW_LOST / found.sent_datagrams)


def _jitter(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    found = find(UdpResult, result.measured)
    return None if found is None else found.jitter_s if found.jitter_mean_s is None else found.jitter_mean_s


def _most_jitter(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    seen = _jitter(result, of, span, value)
    return None if seen is None else max(seen, TICK_S)


def _without_credit(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    shapers = [each.paced.shaper for each in result.stages if each.paced is not None]
    knees = [each.knee_s for each in shapers if each is not None]
    steady_s = result.steady_s or 0.0
    if not any(knee is not None and knee <= steady_s for knee in knees):
        return None
    return goodput_bps(result, "steady")


def _downloads(result: TrialResult, of: Of) -> list[Download]:
    found, size = find(HttpResult, result.measured), units.parse_size(of["size"])
    return [] if found is None else [each for each in found.downloads if each.object_bytes == size]


def _object_goodput(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    found = _downloads(result, of)
    return statistic.mean([each.goodput_bps for each in found]) if found else None


def _object_time(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    found = _downloads(result, of)
    return statistic.mean([each.elapsed_s for each in found]) if found else None


def _object_cov(result: TrialResult, of: Of, span: Span, value: Value) -> float | None:
    found = _downloads(result, of)
    return statistic.population_cov([each.goodput_bps for each in found]) if len(found) > 1 else None


_ALL = (
    Quantity("goodput", "goodput of all flows", RATE, "a goodput",
             lambda result, of, span, value: goodput_bps(result, span), is_bulk=True),
    Quantity("tcp-goodput", "goodput of all flows of TCP", RATE, "a goodput of TCP", _of_tcp, is_bulk=True),
    Quantity("transfer", "bytes of all flows, over the duration that the publication states", "B",
             "bytes received and the time that they took", _transfer, ("duration",), RATE,
             lambda of: 8e9 / units.parse_time(of["duration"]), is_bulk=True),
    Quantity("window", "segments in flight of a flow: goodput times RTT over the segment's size", "segments",
             f"a goodput of at most {FULL:.0%} of its link's, so that no queue stands", _window),
    Quantity("ping-mean", "mean of the RTTs of the workload's pings", "s", "tool: ping", _ping_mean,
             is_of_rtt=True),
    Quantity("udp-goodput", "rate at which datagrams arrive", RATE, "tool: udp", _datagrams),
    Quantity("udp-loss", "share of datagrams lost", "ratio", "tool: udp", _loss, upper=_most_loss),
    Quantity("udp-jitter", "mean jitter of datagrams (RFC 3550)", "s", "tool: udp", _jitter, upper=_most_jitter),
    Quantity("object-goodput", "mean goodput of downloads of one size", RATE, "tool: http with this size",
             _object_goodput, ("size",)),
    Quantity("object-time", "mean completion time of downloads of one size", "s", "tool: http with this size",
             _object_time, ("size",)),
    Quantity("object-cov", "sd over mean of the goodputs of downloads of one size", "ratio",
             "tool: http with two downloads of this size or more", _object_cov, ("size",)),
    Quantity("rate-without-credit", "goodput when a token bucket has no credit", RATE,
             "a shaper whose credit is used up before `leave_out` ends", _without_credit),
)  # fmt: skip

QUANTITIES: Mapping[str, Quantity] = {each.name: each for each in _ALL}
"""By the name that `metric` has in a profile."""
BY_UNIT: Mapping[str, str] = {RATE: "goodput", "B": "transfer", "segments": "window"}
"""What a number is whose profile does not say it, by its unit."""
GOODPUT, TCP_GOODPUT = QUANTITIES["goodput"], QUANTITIES["tcp-goodput"]
