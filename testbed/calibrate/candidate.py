"""Which link explains a published series best: candidates with one free number each, fitted in closed form. Pure, no
I/O.

A publication has no raw data, so nothing can be fitted to its variation. What can be said is which mechanism of a link,
with its best number, comes how near to each printed throughput in the steady state. Whether a real stack does so over
that link is for `testbed run` and `testbed compare`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..analysis import tcp_model
from ..compare.published import Compared, PublishedProfile
from ..compare.quantity import GOODPUT
from ..error import UserError, one_of
from ..units import counted, format_rate, format_time

MSS_BYTES = tcp_model.mss_bytes()
STEPS = 4000
"""How fine the free number is searched: 4 to 8 steps for each percent."""
SAME = 0.01
"""Candidates whose RMS differs by less are as near."""
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
LAWS: Mapping[str, Callable[[float, float], float]] = {
    "cubic": tcp_model.cubic_window_segments,
    "reno": lambda loss, rtt_s: tcp_model.reno_window_segments(loss),
}
"""The window in segments under a periodic loss and an RTT, for the controls that have a law."""
BETAS = {"cubic": (3 + tcp_model.CUBIC_BETA) / 4, "reno": 0.75}
"""The mean window over the largest, in a loss epoch of CUBIC (RFC 9438, section 5) and Reno."""


@dataclass(frozen=True)
class Point:
    """A printed throughput: at an RTT in s, of so many flows of a control; `off` is the share by which the number may
    be off, as printed.
    """

    series: str
    rtt_s: float
    flows: int
    congestion: str
    rate_bps: float
    off: float

    @property
    def said(self) -> str:
        return f"{counted(self.flows, 'flow')} at {self.rtt_s * 1e3:g} ms"


Model: TypeAlias = Callable[[Point, float], float]
"""The throughput in bit/s at a point, for a value of the free number."""


@dataclass(frozen=True)
class Candidate:
    """A mechanism, with its best number in words and as keys of a link and of a scenario; `ratios` are its throughput
    over each printed one, `fits` whether that is within what the printed number may be off, `at` its throughput at
    another point.
    """

    name: str
    number: str
    ratios: tuple[float, ...]
    link: Mapping[str, str]
    workload: Mapping[str, str]
    fits: tuple[bool, ...]
    at: Callable[[Point], float]

    @property
    def rms(self) -> float:
        """Root mean square of the logarithms of the ratios: 0.1 is 10 % either way."""
        return float(np.sqrt(np.mean(np.square(np.log(self.ratios)))))


@dataclass(frozen=True)
class Explained:
    """`candidates` are sorted, the nearest first; `untold` says in words what these numbers cannot tell."""

    points: tuple[Point, ...]
    rate_bps: float
    candidates: tuple[Candidate, ...]
    untold: tuple[str, ...]

    @property
    def as_near(self) -> tuple[Candidate, ...]:
        """The nearest, and those that these numbers do not tell from it."""
        return tuple(each for each in self.candidates if each.rms <= min(one.rms for one in self.candidates) + SAME)

    @property
    def apart(self) -> Point | None:
        """Where those that are as near differ the most, of one flow at RTTs up to the longest published one."""
        if len(self.as_near) < 2:
            return None
        longest = max(self.points, key=lambda each: each.rtt_s)
        places = [replace(longest, flows=1, rtt_s=longest.rtt_s * share) for share in SHARES]
        return max(places, key=lambda place: max(at := [each.at(place) for each in self.as_near]) / min(at))


def explained(named: Sequence[tuple[PublishedProfile, str | None]]) -> Explained:
    """The candidates for all points of the series that are named, as those of one link. Raises UserError for what is
    no throughput of a known number of flows over RTT, and without a rate of the link.
    """
    found = [(name, each) for profile, only in named for name, each in profile.chosen(only).items()]
    points = [point for name, each in found for point in _points(name, each)]
    rates = {each.series.capacity.value for _, each in found if each.series.capacity is not None}
    if len(rates) != 1:
        said = one_of([format_rate(round(each)) for each in sorted(rates)], "", "none")
        raise UserError(f"these series have no one rate of the link ({said}); allowed: series with the same capacity")
    (rate,) = rates
    if len({each.rtt_s for each in points}) < 2 and len({each.flows for each in points}) < 2:
        raise UserError(f"there is one point, {points[0].said}, which any link explains; allowed: two points or more")
    candidates = sorted(_candidates(points, rate), key=lambda each: round(each.rms, 2))  # of ties, what settles at once
    return Explained(tuple(points), rate, tuple(candidates), _untold(points))


def _points(name: str, each: Compared) -> list[Point]:
    of = each.series.of
    if each.quantity is not GOODPUT or not each.has_rtt or not of.get("flows", "").isdecimal():
        what = f"{name} is no throughput over RTT of a known number of flows"
        raise UserError(f"{what}; allowed: a series over rtt with flows in `of`")
    congestion = of.get("congestion", "")
    values = each.series.references()
    if not values:
        raise UserError(f"{name} has no value, only limits or nothing; allowed: a series with values")
    return [
        Point(name, rtt, int(of["flows"]), congestion, found.mean.value, found.share_off)
        for rtt, found in values.items()
    ]


def _candidates(points: Sequence[Point], rate: float) -> list[Candidate]:
    full = tcp_model.line_rate_limit_bps(rate, 1500)
    longest = max(each.rtt_s for each in points)

    def capped(of: Callable[[Point, float], float]) -> Model:
        return lambda point, value: min(full, of(point, value))

    made = [
        _fitted("the rate alone", points, (1.0,), capped(lambda point, value: full), lambda value: "-", {}),
        _fitted("a lower rate", points, _grid(rate / 1e4, rate),
                lambda point, value: tcp_model.line_rate_limit_bps(value, 1500),
                _rate, lambda value: {"rate": _rate(value)}),
        _fitted("a window for each flow", points, _grid(64e3, 10 * rate / 8 * longest),
                capped(lambda point, value: point.flows * tcp_model.window_limit_bps(value, point.rtt_s)),
                lambda value: f"{value / 1e6:.4g} MB", {}, lambda value: {"window": f"{round(value)} B"}),
        _fitted("a cap for each flow", points, _grid(1e6, rate), capped(lambda point, value: point.flows * value),
                _rate, lambda value: {"per_flow": _rate(value)}),
    ]  # fmt: skip
    if all(each.congestion in LAWS for each in points):
        made.append(
            _fitted("a loss", points, _grid(1e-10, 1e-2), capped(_under_loss), lambda value: f"1 in {1 / value:.3g}",
                    lambda value: {"loss": f"1 in {max(2, round(1 / value))}"})
        )  # fmt: skip
        made.append(
            _fitted("a short buffer", points, tuple(np.linspace(0, 1, 101)),
                    lambda point, value: full * _filled(point, value), lambda value: f"{value:.2g} bdp",
                    lambda value: {"buffer": f"{max(value, 0.01):.2g} bdp"})
        )  # fmt: skip
    return made


def _under_loss(point: Point, loss: float) -> float:
    window = LAWS[point.congestion](loss, point.rtt_s)
    return point.flows * tcp_model.window_throughput_bps(window, point.rtt_s, MSS_BYTES)


def _filled(point: Point, buffer_bdp: float) -> float:
    """The share of the rate that a flow fills which loses whenever the buffer is full, at least: several flows fill
    more. Below the BDP the window counts, above it the rate.
    """
    return min(1.0, BETAS[point.congestion] * (1 + buffer_bdp))


def _rate(value: float) -> str:
    """To five digits."""
    step = 10 ** max(0, math.floor(math.log10(value)) - 4)
    return format_rate(round(value / step) * step)


def _grid(low: float, high: float) -> tuple[float, ...]:
    return tuple(np.geomspace(low, high, STEPS).tolist())


def _fitted(
    name: str,
    points: Sequence[Point],
    grid: Sequence[float],
    model: Model,
    words: Callable[[float], str],
    link: Callable[[float], Mapping[str, str]] | Mapping[str, str],
    workload: Callable[[float], Mapping[str, str]] | None = None,
) -> Candidate:
    """With the number that brings it nearest to all points, by the RMS of the logarithms; of equal ones the first."""

    def off(value: float) -> float:
        return math.fsum(math.log(model(each, value) / each.rate_bps) ** 2 for each in points)

    best = min(grid, key=off)
    ratios = tuple(model(each, best) / each.rate_bps for each in points)
    fits = tuple(1 - each.off <= ratio <= 1 + each.off for each, ratio in zip(points, ratios, strict=True))
    own = link(best) if callable(link) else link
    asked = {} if workload is None else workload(best)
    return Candidate(name, words(best), ratios, own, asked, fits, lambda point: model(point, best))


def _untold(points: Sequence[Point]) -> tuple[str, ...]:
    """What the printed means leave open."""
    said = ["how long the flows ran: these are steady states, and a start that lasts makes a mean smaller"]
    if len({each.flows for each in points}) == 1:
        said.append("a loss apart from a window or a cap of each flow: one number of flows was published")
    said.append("the variation: a mean alone has none, so no candidate has an interval")
    return tuple(said)


def topology(found: Explained) -> str:
    """The YAML of the link of the nearest candidate."""
    best = found.candidates[0]
    link = {
        "rate": format_rate(round(found.rate_bps)),
        "rtt": _ms(found.points[0].rtt_s),
        "buffer": "1 bdp",
        **best.link,
    }
    lines = [
        "# A link that explains published throughputs, from `testbed calibrate`. The claim is calibrated, not more.",
        f"# {best.name}, {best.number}: in closed form within {100 * best.rms:.3g} % (RMS) of the printed means.",
        "name: explained",
        "nodes: {client: {type: host}, server: {type: host}}",
        "links:",
        "  path:",
        "    ends: [client, server]",
        "    jitter: 10 us  # ours: so that seeds differ",
        *(f"    {key}: {value}" for key, value in link.items()),
    ]
    return "\n".join(lines) + "\n"


def scenario(found: Explained) -> str:
    """The YAML of a run at the published RTTs, numbers of flows and controls."""
    best = found.candidates[0]
    rows = dict.fromkeys(f"    - [{_ms(each.rtt_s)}, {each.flows}, {each.congestion}]" for each in found.points)
    own = "".join(f", {key}: {value}" for key, value in best.workload.items())
    return "\n".join(
        [
            "# The published RTTs, flows and congestion controls over the link beside it. The durations are ours.",
            *(["# A window is the buffer that is asked for; Linux may have more in flight."] if best.workload else []),
            "name: explained",
            "topology: topology.yaml",
            f"workload: {{tool: flow, from: client, to: server, duration: 60 s, leave_out: 30 s{own}}}",
            "sweep:",
            "  path.rtt+flows+congestion:",
            *rows,
            "samples: {interval: 1 s}",
            "repetitions: 2",
            "",
        ]
    )


def _ms(seconds: float) -> str:
    return format_time(round(seconds * 1e9))
