"""The round-trip time without load: its base, its variation, and whether that is correlated. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ...analysis import statistic
from ..measurement import Measurement, Pings
from .fitted import Explanation, Fitted, Found, correlation, mean_interval, unique, unknown

ENOUGH = 10
ENOUGH_FOR_SHAPE = 50
NEXT = "run `ping -D -i 0.2 -c 200 SERVER` without load"
OTHERS = "traffic of others, which fills a queue at times"
CORRELATED, LEANS, ABOVE = 3.0, 0.5, 4.0
"""Deviations of a correlation by chance, a skewness, and how much further than the least the largest is from the mode,
from which on pings show queues of others. Where half of the pings met one, they lean to no side, and the mode may be
among those that did: then that of the lower half counts.
"""
SINGLE = 0.1
"""The share of pings above a level that others' queues explain, and jitter does not: half of it would be below."""
CHANGED, CHANGED_S = 0.02, 1e-4
"""By how much a flow's least round-trip time is below all pings without load if they are not of one path: a share, and
at least what a program takes to answer.
"""
FLOAT_S = 1e-9
"""What floating point may make of round-trip times that are alike."""
NOISE_STEPS = 2.0
"""A spread of so many steps of the clock is one of the clock."""


def fit(idle: Sequence[Measurement], transfers: Sequence[Measurement]) -> Found:
    """From pings without load; without any, the least RTT of transfers is a bound from above."""
    pings = [each.pings for each in idle if each.pings is not None]
    files = unique([each.file for each in idle])
    if not pings:
        return Found((_from_transfers(transfers), *_untold()))
    step_s = max(each.summary_step_s or each.step_s for each in pings)
    quiet, others = _without_others(pings)
    if others is not None:
        found = fit([replace(idle[0], pings=quiet, file=idle[0].file)], transfers)
        return Found(tuple(replace(each, sources=files) for each in found.fitted), (others,))
    received = sum(each.received for each in pings)
    mean_s = sum((each.mean_s or 0.0) * each.received for each in pings) / received
    low_s = min(each.min_s for each in pings if each.min_s is not None)
    sd_s = _sd(pings, mean_s)
    base = Fitted(
        "rtt_base",
        "s",
        "identified",
        f"the least of {received} round-trip times without load, which no ping can be below; the clock's step is "
        f"{step_s * 1e3:g} ms",
        low_s,
        max(0.0, low_s - _gap(sd_s, received) - step_s),
        low_s + step_s / 2,
        files,
    )
    mean = _mean(pings, mean_s, sd_s, step_s, files)
    flow = _from_transfers(transfers)
    if flow.value is not None and flow.value < low_s - max(CHANGED * low_s, CHANGED_S) - step_s:
        rule = f"; but a flow had {flow.value * 1e3:.4g} ms, so the path changed, or is another one: at most that"
        base, mean = (
            replace(
                each,
                status="bound",
                low=None,
                rule=each.rule + rule,
                next=NEXT,
                sources=unique([*files, *flow.sources]),
            )
            for each in (base, mean)
        )
    return Found((base, mean, *_variation(pings, sd_s, step_s, received, files)))


def _without_others(pings: Sequence[Pings]) -> tuple[Pings | None, Explanation | None]:
    """The pings that met no queue, if some met one: round-trip times that are correlated and lean to one side are not
    jitter, nor are a few above a level below which only the clock varies. Those up to three deviations above the mode
    count, with the deviation of what is below it.
    """
    series = [rtt_s for each in pings for rtt_s in each.rtts_s]
    coarse_s = NOISE_STEPS * max(each.step_s for each in pings)
    if len(series) < ENOUGH_FOR_SHAPE or statistic.population_sd(series) <= coarse_s:
        return None, None
    mode_s, low_s = half_sample_mode(series), half_sample_mode(sorted(series)[: len(series) // 2])
    if _skewness(series) < LEANS and not _is_above(mode_s, series, coarse_s):
        if not _is_above(low_s, series, coarse_s):
            return None, None
        mode_s = low_s
    below = [mode_s - each for each in series if each <= mode_s]
    sd_s = math.sqrt(sum(each**2 for each in below) / len(below))
    most_s = mode_s + max(3 * sd_s, coarse_s)
    above = [each > most_s for each in series]
    is_flat = mode_s - min(series) <= coarse_s / NOISE_STEPS + FLOAT_S and sum(above) <= SINGLE * len(series)
    is_queue = is_flat or correlation(series) >= CORRELATED / math.sqrt(len(series)) or _is_clustered(above)
    if not is_queue:
        return None, None
    kept = [each for each in series if each <= most_s]
    if len(kept) < ENOUGH or len(kept) == len(series):
        return None, None
    mean_s = statistic.mean(kept)
    quiet = replace(
        pings[0], sent=len(kept), received=len(kept), rtts_s=tuple(kept), times_s=(), min_s=min(kept),
        mean_s=mean_s, max_s=max(kept), sd_s=statistic.population_sd(kept), summary_step_s=pings[0].step_s,
    )  # fmt: skip
    most_ms = (max(series) - mean_s) * 1e3
    why = f"{len(series) - len(kept)} of {len(series)} pings met a queue, of {most_ms:.3g} ms at most"
    return quiet, Explanation("round trip", OTHERS, True, why, "repeat it at several hours")


def _is_above(mode_s: float, series: Sequence[float], coarse_s: float) -> bool:
    """Whether the largest is much further from a mode than the least is."""
    return max(series) - mode_s >= ABOVE * max(mode_s - min(series), coarse_s)


def _is_clustered(marks: Sequence[bool]) -> bool:
    """Whether those marked stand together more than chance lets them, by the number of runs (Wald and Wolfowitz, Annals
    of Mathematical Statistics 11, 1940): neighbours in a queue that rises and falls quickly need not correlate.
    """
    count, n = len(marks), sum(marks)
    if not 0 < n < count:
        return False
    pairs = 2 * n * (count - n)
    expected, variance = pairs / count + 1, pairs * (pairs - count) / count**2 / (count - 1)
    runs = 1 + sum(one != other for one, other in pairwise(marks))
    return runs < expected - CORRELATED * math.sqrt(max(variance, 0.0))


def half_sample_mode(values: Sequence[float]) -> float:
    """The densest place: half after half, the narrowest one (Bickel and Fruhwirth, Computational Statistics and Data
    Analysis 50, 2006).
    """
    found = sorted(values)
    while len(found) > 2:
        size = (len(found) + 1) // 2
        at = min(range(len(found) - size + 1), key=lambda n: found[n + size - 1] - found[n])
        found = found[at : at + size]
    return statistic.mean(found)


def _skewness(values: Sequence[float]) -> float:
    middle, sd = statistic.mean(values), statistic.population_sd(values)
    return sum((each - middle) ** 3 for each in values) / len(values) / sd**3 if sd else 0.0


def _gap(sd_s: float | None, received: int) -> float:
    """How far the least of so many times may be above the true one: one mean distance of the smallest ones."""
    return 0.0 if sd_s is None else 3 * sd_s / received


def _sd(pings: Sequence[Pings], mean_s: float) -> float | None:
    """The sd of all times together: from what the tools print, which is finer than single times, or else from these."""
    squares, count = 0.0, 0
    for each in pings:
        own_s, around_s = each.sd_s, each.mean_s
        if own_s is None and len(each.rtts_s) > 1:
            own_s, around_s = statistic.population_sd(each.rtts_s), mean_s
        if own_s is not None and around_s is not None:
            squares += each.received * (own_s**2 + (around_s - mean_s) ** 2)
            count += each.received
    return math.sqrt(squares / count) if count > 1 else None


def _mean(pings: Sequence[Pings], mean_s: float, sd_s: float | None, step_s: float, files: tuple[str, ...]) -> Fitted:
    """What the link's `rtt` is: netem varies the delay on both sides of its mean."""
    received = sum(each.received for each in pings)
    rule = f"the mean of {received} round-trip times without load"
    series = [rtt_s for each in pings for rtt_s in each.rtts_s]
    found = mean_interval(series) if len(series) >= ENOUGH else None
    if found is not None:  # single times are coarser than their mean in the summary
        half = (found[1] - found[0]) / 2
        found = mean_s - half, mean_s + half
    if found is None and sd_s is not None and received > 2:
        half = 2 * sd_s / math.sqrt(received)
        found = mean_s - half, mean_s + half
    if found is None:
        return Fitted("rtt", "s", "identified", f"{rule}, of a single run of few", mean_s, sources=files, next=NEXT)
    least_s = min(each.min_s for each in pings if each.min_s is not None)
    low, high = max(least_s, found[0]) - step_s, found[1] + step_s  # ping cuts digits off, and does not round
    return Fitted("rtt", "s", "identified", rule, mean_s, low, high, files)


def _variation(
    pings: Sequence[Pings], sd_s: float | None, step_s: float, received: int, files: tuple[str, ...]
) -> tuple[Fitted, ...]:
    singles = [list(each.rtts_s) for each in pings if len(each.rtts_s) >= ENOUGH]
    if sd_s is None or received < ENOUGH:
        why = f"{received} round-trip times are too few"
        return unknown("jitter", "s", why, NEXT, files), unknown("rtt_correlation", "ratio", why, NEXT, files)
    low_s, high_s = _sd_interval(sd_s, received, [value for each in singles for value in each])
    rule = "the standard deviation of round-trip times without load"
    if sd_s <= max(NOISE_STEPS * step_s, FLOAT_S):
        most = max(high_s, NOISE_STEPS * step_s)
        rule += f", which is that of the clock (steps of {step_s * 1e3:g} ms)"
        jitter = Fitted("jitter", "s", "bound", rule, 0.0, None, most, files)
        return jitter, unknown("rtt_correlation", "ratio", "the round-trip time does not vary", None, files)
    high_s += step_s  # ping cuts digits off
    jitter = Fitted("jitter", "s", "identified", rule, sd_s, low_s, high_s, files)
    coarse_s = max((each.step_s for each in pings), default=0.0)
    if sd_s <= coarse_s:
        why = f"single times in steps of {coarse_s * 1e3:g} ms are too coarse for it"
        return jitter, unknown("rtt_correlation", "ratio", why, NEXT, files)
    return jitter, _correlation(singles, files)


def _sd_interval(sd_s: float, count: int, values: Sequence[float]) -> tuple[float, float]:
    """Of a standard deviation over `count` times, on the logarithmic scale: an estimate that is too small has an
    interval that is as much too narrow on the linear one. The kurtosis is that of the `values`, around their trimmed
    mean; without them, of a normal distribution (Bonett, Computational Statistics and Data Analysis 50, 2006, 775-782).
    """
    z = 1.96
    error = math.sqrt((_kurtosis(values) - (count - 3) / count) / (count - 1)) * count / (count - z)
    unbiased_s = sd_s * math.sqrt(count / (count - 1))
    ends = (unbiased_s * math.sqrt(count / (count - z)) * math.exp(sign * z * error / 2) for sign in (-1, 1))
    low_s, high_s = ends
    return low_s, high_s


def _kurtosis(values: Sequence[float]) -> float:
    """Fourth moment around the trimmed mean over the square of the variance; 3 where nothing varies, or too few do."""
    if len(values) < ENOUGH:
        return 3.0
    cut = int(len(values) / (2 * math.sqrt(len(values) - 4)))
    middle = statistic.mean(sorted(values)[cut : len(values) - cut])
    variance = statistic.population_sd(values) ** 2
    fourth = sum((value - middle) ** 4 for value in values) / len(values)
    return max(fourth / variance**2, 1.5) if variance else 3.0


def _correlation(singles: Sequence[Sequence[float]], files: tuple[str, ...]) -> Fitted:
    series = max(singles, key=len, default=())
    if len(series) < ENOUGH_FOR_SHAPE:
        what = f"{len(series)} single round-trip times are too few for a correlation"
        return unknown("rtt_correlation", "ratio", what, NEXT, files)
    value = correlation(series)
    half = 1.96 / math.sqrt(len(series))
    rule = f"the correlation of neighbours among {len(series)} round-trip times"
    if abs(value) < half:
        rule += ", which chance explains: the link draws each delay independently"
    return Fitted(
        "rtt_correlation", "ratio", "identified", rule, value, max(-1.0, value - half), min(1.0, value + half), files
    )


def _from_transfers(transfers: Sequence[Measurement]) -> Fitted:
    least = [(each.transfer.rtt_min_s, each.file) for each in transfers if each.transfer and each.transfer.rtt_min_s]
    if not least:
        return unknown("rtt", "s", "no file tells a round-trip time without load", NEXT)
    value, file = min(least)
    rule = "no ping without load: the least round-trip time of a TCP flow, which its own queue may have raised"
    return Fitted("rtt", "s", "bound", rule, value, None, value, (file,), NEXT)


def _untold() -> tuple[Fitted, ...]:
    why = "no ping without load"
    return unknown("jitter", "s", why, NEXT), unknown("rtt_correlation", "ratio", why, NEXT)
