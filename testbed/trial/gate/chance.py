"""Random losses and chance: can an asked loss have dropped so few or so many packets, and which rates do the drops
exclude? Pure, no I/O.

Exact for independent losses: Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of
the binomial", Biometrika 26 (1934) 404-413. Losses in bursts, and different losses together, have Chernoff's bound,
which errs on the side of the trial: Chernoff, Ann. Math. Statist. 23 (1952) 493-507.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ...model.link.impairment import GilbertElliott, Loss, RandomLoss

ERROR_RATE = 1e-6
"""How often a check may reject a loss that is as asked: at most so often, half of it on either side."""

CONFIDENCE = 0.95
"""Of the rates that a result names; both sides together."""

STEEPEST = 60.0
"""The largest exponent of Chernoff's bound that is tried: beyond it, a bound is no better."""

Met: TypeAlias = tuple[Loss | None, int]
"""A loss (None or periodic: netem drops nothing), and how many packets met it."""


def can_be(met: Sequence[Met], dropped: int, error_rate: float = ERROR_RATE) -> bool:
    """Whether chance can explain that random losses dropped `dropped` of the packets that met them: it does so, or
    worse, more often than at `error_rate`.
    """
    lossy = [(loss, packets) for loss, packets in met if isinstance(loss, RandomLoss | GilbertElliott) and packets]
    alone = [(float(loss.probability), packets) for loss, packets in lossy if isinstance(loss, RandomLoss)]
    if len(alone) == len(lossy) == 1:
        share, packets = alone[0]
        few, many = at_most(dropped, packets, share), at_most(packets - dropped, packets, 1 - share)
    else:
        few, many = _chernoff(lossy, dropped, -1), _chernoff(lossy, dropped, 1)
    return min(few, many) >= error_rate / 2


def excluded(packets: int, dropped: int) -> tuple[float, float]:
    """The lowest and the highest share of lost packets that the data do not exclude, for independent losses: the
    interval of Clopper and Pearson with CONFIDENCE; (0, 1) without packets.
    """
    tail = (1 - CONFIDENCE) / 2
    high = 1.0 if dropped == packets else _share_where(lambda share: at_most(dropped, packets, share) < tail)
    low = 0.0 if not dropped else _share_where(lambda share: at_most(packets - dropped, packets, 1 - share) >= tail)
    return low, high


def at_most(count: int, trials: int, share: float) -> float:
    """The probability of at most `count` successes in `trials`, each with the probability `share`."""
    if count >= trials or share <= 0:
        return 1.0
    if count < 0 or share >= 1:
        return 0.0
    if count > trials * share:
        return 1.0 - at_most(trials - count - 1, trials, 1 - share)
    odds = share / (1 - share)
    term = math.exp(_log_chance(count, trials, share))
    total = 0.0
    for n in range(count, -1, -1):  # the terms shrink on the way down
        total += term
        if term < total * 1e-17:
            break
        term *= n / ((trials - n + 1) * odds)
    return min(1.0, total)


def _log_chance(count: int, trials: int, share: float) -> float:
    ways = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
    return ways + count * math.log(share) + (trials - count) * math.log1p(-share)


def _share_where(is_beyond: Callable[[float], bool]) -> float:
    """The share at which a condition that holds for all greater ones begins to hold, by bisection of its logarithm."""
    low, high = math.log(1e-12), 0.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if is_beyond(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _chernoff(lossy: Sequence[tuple[RandomLoss | GilbertElliott, int]], dropped: int, side: int) -> float:
    """A bound of the probability of at least (`side` 1) or at most (-1) so many drops: the least of
    E[exp(t·drops)] / exp(t·dropped), whose logarithm is convex in t.
    """

    def log_bound(steepness: float) -> float:
        t = side * steepness
        return sum(_log_moment(loss, packets, t) for loss, packets in lossy) - t * dropped

    low, high = 0.0, STEEPEST
    for _ in range(100):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if log_bound(first) <= log_bound(second) else (first, high)
    return math.exp(min(0.0, log_bound(low)))


def _log_moment(loss: RandomLoss | GilbertElliott, packets: int, t: float) -> float:
    """The logarithm of E[exp(t·drops)]. A chain starts in the state that makes it larger: earlier packets advanced it,
    and nobody counted them.
    """
    grown = math.expm1(t)
    if isinstance(loss, RandomLoss):
        return packets * math.log1p(float(loss.probability) * grown)
    p, r = float(loss.p), float(loss.r)
    good, bad = 1 + float(loss.loss_good) * grown, 1 + float(loss.loss_bad) * grown
    return _log_power(((good * (1 - p), good * p), (bad * r, bad * (1 - r))), packets)


Matrix: TypeAlias = tuple[tuple[float, float], tuple[float, float]]


def _log_power(matrix: Matrix, exponent: int) -> float:
    """The logarithm of the larger row sum of a power of a matrix without negative entries, by repeated squaring."""
    power: Matrix = ((1.0, 0.0), (0.0, 1.0))
    log_power = log_matrix = 0.0
    while exponent:
        if exponent & 1:
            power, log_power = _scaled(_times(power, matrix), log_power + log_matrix)
        matrix, log_matrix = _scaled(_times(matrix, matrix), 2 * log_matrix)
        exponent >>= 1
    return log_power + math.log(max(map(sum, power)))


def _times(a: Matrix, b: Matrix) -> Matrix:
    return (
        (a[0][0] * b[0][0] + a[0][1] * b[1][0], a[0][0] * b[0][1] + a[0][1] * b[1][1]),
        (a[1][0] * b[0][0] + a[1][1] * b[1][0], a[1][0] * b[0][1] + a[1][1] * b[1][1]),
    )


def _scaled(matrix: Matrix, log: float) -> tuple[Matrix, float]:
    """The matrix with a largest entry of 1, and the logarithm of what was taken out of it, added to `log`."""
    largest = max(map(max, matrix))
    (a, b), (c, d) = matrix
    return ((a / largest, b / largest), (c / largest, d / largest)), log + math.log(largest)
