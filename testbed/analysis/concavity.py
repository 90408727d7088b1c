"""Utilization and concavity of a throughput profile, corrected and as printed. Pure, no I/O.

Source: Phanekham, Nair, Rao and Truty, Throughput Analytics of Cloud Networks, section V, eqs. (2) to (4).
docs/concavity.md says what is wrong there, and derives the corrected form.

L is the capacity in bit/s, tau the RTT in seconds, Theta the throughput in bit/s. Integrals are trapezoids
between the measured RTTs. The coefficients C_U, C_CC and C_UC of a `Curve` are ratios; those of a profile
that is not normalized are in bits (bit/s times seconds of RTT).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..codec.frozen import dataclass
from . import statistic
from .profile import Bend, ThroughputProfile
from .statistic import Estimate, FloatArray, Interval

BEND_MARGIN = 0.02
"""A profile whose normalized C_CC is nearer to 0 than this counts as straight."""


@dataclass(frozen=True)
class Curve:
    """A normalized profile: RTT mapped to [0, 1], throughput divided by the capacity.

    `x` goes from 0 to 1 and does not decrease; two points at the same x are a jump. `y` is 0 or more; above
    1 the capacity was set too low. Raises ValueError.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        x, y = statistic.paired(self.x, self.y, least=2)
        if x[0] != 0 or x[-1] != 1 or (np.diff(x) < 0).any():
            raise ValueError("the x of a curve do not go from 0 to 1 without decreasing")
        if (y < 0).any():
            raise ValueError(f"y is negative at x = {x[int(np.argmax(y < 0))]}")

    @property
    def mean(self) -> float:
        return _trapezoids(np.asarray(self.y), np.asarray(self.x))


def _trapezoids(y: FloatArray, x: FloatArray) -> float:
    """The integral of y over x, as trapezoids between the points."""
    return float((np.diff(x) * (y[1:] + y[:-1]) / 2).sum())


def normalized(profile: ThroughputProfile, capacity_bps: float) -> Curve:
    """The profile over [0, 1]; the capacity, above 0, counts on the layer of the throughput. Needs 2 RTTs."""
    if not capacity_bps > 0:
        raise ValueError(f"a capacity of {capacity_bps} bit/s is not above 0")
    rtt = statistic.checked(profile.rtt_s, 2)
    x = (rtt - rtt[0]) / (rtt[-1] - rtt[0])
    return Curve(tuple(x.tolist()), tuple((np.asarray(profile.mean_bps) / capacity_bps).tolist()))


def under_utilization(curve: Curve) -> float:
    """C_U of the normalized profile: 0 if the capacity is used at every RTT, 1 if nothing is sent."""
    return 1 - curve.mean


def convex_concave(curve: Curve) -> float:
    """C_CC of the normalized profile: its mean above the chord's; positive concave, negative convex.

    Within [-1/2, 1/2] for a profile that does not rise and stays within the capacity.
    """
    return curve.mean - (curve.y[0] + curve.y[-1]) / 2


def utilization_concavity(curve: Curve) -> float:
    """C_UC, corrected: mean - (first + last)/4 + 1/4, which is eq. (3).

    1 for a step down at the far end, 3/4 for a flat profile at capacity, 1/2 for a straight line to zero, 0
    for a step down at the near end. Within [0, 1] if the profile does not rise; from -1/4 to 5/4 otherwise.
    """
    return ((1 - under_utilization(curve)) + (0.5 + convex_concave(curve))) / 2


def estimated(
    coefficient: Callable[[Curve], float],
    rtt_s: Sequence[float],
    means_bps: Sequence[Estimate],
    capacity_bps: float,
    between_s: tuple[float, float] | None = None,
) -> Estimate:
    """A coefficient of a normalized profile with the error that the repetitions leave, by `statistic.weighted`.

    C_U, C_CC and C_UC are linear in the throughputs, but for a constant; the weights follow from that. `between_s` are
    two RTTs within the measured ones, if the coefficient is of this part only, with straight lines between the points.
    """
    weights, rest = _weights(coefficient, rtt_s, between_s or (rtt_s[0], rtt_s[-1]))
    found = statistic.weighted(list(zip((weights / capacity_bps).tolist(), means_bps, strict=True)))
    return Estimate(found.value + rest, found.error, found.freedom)


def sensitivity(
    coefficient: Callable[[Curve], float], rtt_s: Sequence[float], off_bps: Sequence[float], capacity_bps: float
) -> float:
    """How far a coefficient may be off if each throughput may be off by so much, in either direction."""
    weights, _ = _weights(coefficient, rtt_s, (rtt_s[0], rtt_s[-1]))
    return float(np.abs(weights) @ np.asarray(off_bps)) / capacity_bps


def _weights(
    coefficient: Callable[[Curve], float], rtt_s: Sequence[float], between_s: tuple[float, float]
) -> tuple[FloatArray, float]:
    """What 1 at each RTT adds to a coefficient, and what it is without any throughput."""
    first, last = between_s
    grid = np.array([first, *(rtt for rtt in rtt_s if first < rtt < last), last])
    x = tuple(((grid - first) / (last - first)).tolist())
    rest = coefficient(Curve(x, (0.0,) * len(x)))
    units = np.eye(len(rtt_s))
    rows = [tuple(np.interp(grid, rtt_s, unit).tolist()) for unit in units]
    return np.array([coefficient(Curve(x, row)) - rest for row in rows]), rest


def bend(c_cc: float, interval: Interval | None) -> Bend | None:
    """How a whole profile bends; None if neither a bend nor its absence is shown."""
    if interval is None:
        return None
    if max(-interval.low, interval.high) < BEND_MARGIN:
        return "straight"
    if abs(c_cc) < BEND_MARGIN or interval.contains(0):
        return None
    return "concave" if c_cc > 0 else "convex"


def convex_concave_bits(profile: ThroughputProfile) -> float:
    """C_CC of the profile itself, corrected: the area above its chord, Theta_L + s (tau - tau_L), in bits.

    s is the slope from the first to the last point. Needs 2 RTTs.
    """
    rtt, mean = statistic.paired(profile.rtt_s, profile.mean_bps, least=2)
    chord = (rtt[-1] - rtt[0]) * (mean[0] + mean[-1]) / 2
    return float(_trapezoids(mean, rtt) - chord)


def convex_concave_bits_as_printed(profile: ThroughputProfile) -> float:
    """C_CC by the first line of eq. (2) as printed, with the chord Theta_L + s tau. For comparison.

    It exceeds the corrected one by tau_L (Theta_L - Theta_H), so it is right only if the first RTT is 0 or
    the ends are equal.
    """
    rtt, mean = statistic.paired(profile.rtt_s, profile.mean_bps, least=2)
    slope = (mean[-1] - mean[0]) / (rtt[-1] - rtt[0])
    chord = mean[0] * (rtt[-1] - rtt[0]) + slope * (rtt[-1] ** 2 - rtt[0] ** 2) / 2
    return float(_trapezoids(mean, rtt) - chord)


def utilization_concavity_with_measured_midpoint(curve: Curve) -> float:
    """Eq. (4) with Theta_M taken as the throughput measured at the middle RTT. For comparison.

    Gives 3/4 and 1/4 for the two steps (1 and 0 are right).
    """
    return curve.mean - _at_middle(curve) / 2 + 0.25


def utilization_concavity_as_glossed(curve: Curve) -> float:
    """Eq. (4) with Theta_M / 2 taken as the throughput at the middle RTT, as its gloss says. For comparison.

    Gives 1/4 for a flat profile at capacity (3/4 is right).
    """
    return curve.mean - _at_middle(curve) + 0.25


def _at_middle(curve: Curve) -> float:
    return float(np.interp(0.5, curve.x, curve.y))
