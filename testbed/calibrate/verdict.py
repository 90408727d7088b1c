"""Measured against rebuilt, by file and metric. Pure, no I/O.

Both sides are estimates: of the runs if there are several, else of the variation within the one run. They agree if the
interval of their ratio lies within the tolerance (two one-sided tests), they differ if it lies outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from ..analysis import statistic
from ..analysis.statistic import Estimate
from .fit.fitted import LEVEL, independent
from .fit.steady import steady
from .measurement import Measurement, Pings

Verdict: TypeAlias = Literal["agrees", "differs", "cannot tell", "not identifiable"]

ENOUGH = 5
CLOCK_STEPS = 2
JITTER_LEAST_S = 5e-6


@dataclass(frozen=True)
class Metric:
    """`of` is the number of a run with its standard error within the run; None where the run does not tell it.
    `tolerance` is the largest ratio, less 1, that counts as agreement. `may_lack`: the trials' tool may not tell it.
    """

    name: str
    unit: str
    tolerance: float
    of: Callable[[Measurement], Estimate | None]
    may_lack: bool = False


@dataclass(frozen=True)
class Judged:
    """One metric of one measurement. `ratio` is rebuilt over measured, with its 95 % interval."""

    said: str
    files: tuple[str, ...]
    held_out: bool
    metric: str
    unit: str
    measured: float | None
    rebuilt: float | None
    runs: tuple[int, int]
    ratio: float | None
    low: float | None
    high: float | None
    tolerance: float
    verdict: Verdict
    why: str = ""

    def data(self) -> dict[str, Any]:
        return {**vars(self), "files": list(self.files), "runs": list(self.runs)}


def judged(
    said: str, files: Sequence[str], held_out: bool, measured: Sequence[Measurement], rebuilt: Sequence[Measurement]
) -> Iterator[Judged]:
    """Each metric that one of the sides tells."""
    for metric in METRICS:
        sides = [[value for each in runs if (value := metric.of(each)) is not None] for runs in (measured, rebuilt)]
        if not sides[0] and not sides[1]:
            continue
        yield _judge(metric, said, tuple(files), held_out, sides[0], sides[1], len(rebuilt))


def _judge(
    metric: Metric,
    said: str,
    files: tuple[str, ...],
    held_out: bool,
    measured: Sequence[Estimate],
    rebuilt: Sequence[Estimate],
    trials: int,
) -> Judged:
    one, other = (together(each) if each else None for each in (measured, rebuilt))
    about = (said, files, held_out, metric.name, metric.unit)
    values = (None if one is None else one.value, None if other is None else other.value)
    runs = (len(measured), len(rebuilt))

    def made(
        verdict: Verdict, why: str, ratio: float | None = None, low: float | None = None, high: float | None = None
    ) -> Judged:
        return Judged(*about, *values, runs, ratio, low, high, metric.tolerance, verdict, why)

    if one is None:
        return made("not identifiable", "the files do not tell it")
    if other is None and trials and metric.may_lack:
        return made("not identifiable", "the trials' tool does not tell it")
    if other is None:
        return made("cannot tell", "no trial that is not invalid tells it")
    if one.value <= 0 and other.value <= 0:
        return made("not identifiable", "it is 0 on both sides, and 0 is no ratio")
    if one.value <= 0 or other.value <= 0:
        return _one_is_zero(one, other, made)
    difference = statistic.log_ratio(other, one)
    ratio = math.exp(difference.value)
    found = _interval(difference)
    if found is None:
        return made("cannot tell", "one run with no variation inside: its noise is unknown", ratio)
    low, high = (math.exp(min(each, 50.0)) for each in found)
    most, least = 1 + metric.tolerance, 1 / (1 + metric.tolerance)
    if least <= low and high <= most:
        return made("agrees", "", ratio, low, high)
    if high < least or low > most:
        return made("differs", "", ratio, low, high)
    return made("cannot tell", "the interval is wider than the tolerance allows", ratio, low, high)


def _interval(difference: Estimate) -> tuple[float, float] | None:
    if difference.error is None:
        return None
    if difference.error == 0:
        return difference.value, difference.value  # nothing is random on either side
    found = difference.interval(LEVEL)
    return None if found is None else (found.low, found.high)


def _one_is_zero(one: Estimate, other: Estimate, made: Callable[..., Judged]) -> Judged:
    """Of counts: none on one side differs if the other side has clearly some."""
    there = max(one, other, key=lambda each: each.value)
    interval = there.interval(LEVEL)
    if interval is not None and interval.low > 0:
        return made("differs", "it is 0 on one side alone")
    return made("cannot tell", "it is 0 on one side, and few on the other")


def together(runs: Sequence[Estimate]) -> Estimate:
    """Of several runs their mean, with the spread of the runs; of one the error within it."""
    if len(runs) == 1:
        return runs[0]
    found = statistic.estimate([each.value for each in runs])
    return Estimate.constant(found.value) if found.error == 0 else found


def series_mean(values: Sequence[float]) -> Estimate:
    """The mean of a series in time, with an error for as many samples as are independent."""
    middle = statistic.mean(values)
    if len(values) < ENOUGH:
        return Estimate(middle, None, 0)
    sd, count = statistic.sample_sd(values), independent(values)
    return Estimate(middle, sd / math.sqrt(count), count - 1) if sd else Estimate.constant(middle)


def series_quantile(values: Sequence[float], share: float) -> Estimate:
    """A quantile with the error that the order statistics around it show (a binomial's one sigma)."""
    value = statistic.quantile(values, share)
    count = len(values)
    if count < ENOUGH:
        return Estimate(value, None, 0)
    off = math.sqrt(share * (1 - share) / count)
    low, high = (statistic.quantile(values, float(np.clip(share + each, 0, 1))) for each in (-off, off))
    error = (high - low) / 2
    return Estimate(value, error, count - 1) if error else Estimate.constant(value)


def _goodput(run: Measurement) -> Estimate | None:
    if run.transfer is None:
        return None
    rates = [each.rate_bps for each in steady(run.transfer.seconds, None)]
    spread = series_mean(rates) if len(rates) >= ENOUGH else Estimate(run.transfer.goodput_bps, None, 0)
    return Estimate(run.transfer.goodput_bps, spread.error, spread.freedom)


def _resent(run: Measurement) -> Estimate | None:
    """Segments sent again, as a share; its error is that of the counts of the intervals."""
    transfer = run.transfer
    if transfer is None or transfer.retransmits is None or not transfer.segments:
        return None
    counts = [each.retransmits for each in transfer.seconds if each.retransmits is not None]
    share = transfer.retransmits / transfer.segments
    if len(counts) < ENOUGH:
        return Estimate(share, None, 0)
    error = statistic.sample_sd([float(each) for each in counts]) * math.sqrt(len(counts)) / transfer.segments
    return Estimate(share, max(error, math.sqrt(transfer.retransmits) / transfer.segments), len(counts) - 1)


def _lost(run: Measurement) -> Estimate | None:
    transfer = run.transfer
    if transfer is None or transfer.lost is None or not transfer.datagrams:
        return None
    return Estimate(transfer.lost / transfer.datagrams, math.sqrt(transfer.lost) / transfer.datagrams, math.inf)


def _loaded(share: float) -> Callable[[Measurement], Estimate | None]:
    def of(run: Measurement) -> Estimate | None:
        if run.transfer is None:
            return None
        values = [rtt_s for each in steady(run.transfer.seconds, None) for rtt_s in each.rtts_s]
        return series_quantile(values, share) if values else None

    return of


def _idle(share: float | None) -> Callable[[Measurement], Estimate | None]:
    def of(run: Measurement) -> Estimate | None:
        if run.pings is None:
            return None
        if share is None:
            if len(run.pings.rtts_s) >= ENOUGH:
                return _stepped(series_mean(run.pings.rtts_s), run.pings)
            return _mean_of_summary(run.pings)
        return series_quantile(run.pings.rtts_s, share) if len(run.pings.rtts_s) >= ENOUGH else None

    return of


def _stepped(found: Estimate, pings: Pings) -> Estimate:
    """With what the clock's steps may be off, which is the same for each ping if they do not vary."""
    step_s = pings.step_s / math.sqrt(12)
    if found.error is None or found.error >= step_s:
        return found
    return Estimate(found.value, math.hypot(found.error, step_s), math.inf)


def _mean_of_summary(pings: Pings) -> Estimate | None:
    """With the error that the tool's own deviation gives; what it rounds to counts as one, too."""
    if pings.mean_s is None:
        return None
    if pings.sd_s is None or pings.received < ENOUGH:
        return Estimate(pings.mean_s, None, 0)
    error = math.hypot(pings.sd_s / math.sqrt(pings.received), pings.summary_step_s / math.sqrt(12))
    return Estimate(pings.mean_s, error, pings.received - 1)


def _deviation(run: Measurement) -> Estimate | None:
    """The sd of pings, with the error of an sd of normal samples; None where it is that of the clock."""
    pings = run.pings
    if pings is None or pings.sd_s is None or pings.received < ENOUGH:
        return None
    if pings.sd_s <= CLOCK_STEPS * max(pings.step_s, pings.summary_step_s):
        return None
    return Estimate(pings.sd_s, pings.sd_s / math.sqrt(2 * (pings.received - 1)), pings.received - 1)


def _unanswered(run: Measurement) -> Estimate | None:
    pings = run.pings
    if pings is None:
        return None
    lost = pings.sent - pings.received
    return Estimate(lost / pings.sent, math.sqrt(lost) / pings.sent, math.inf)


def _jitter(run: Measurement) -> Estimate | None:
    """RFC 3550's estimate remembers 16 differences: with its gain g = 1/16, its variance is g / (2 - g) = 1/31 of
    theirs, whose deviation is taken to be their mean, as that of an exponential distribution. Below 5 µs it is none.
    """
    jitter_s = None if run.transfer is None else run.transfer.jitter_s
    if jitter_s is None or jitter_s < JITTER_LEAST_S:
        return None
    return Estimate(jitter_s, jitter_s / math.sqrt(31), 30)


METRICS = (
    Metric("RTT mean", "s", 0.02, _idle(None)),
    Metric("RTT deviation", "s", 0.5, _deviation),
    Metric("RTT p95", "s", 0.05, _idle(0.95), may_lack=True),
    Metric("pings lost", "ratio", 0.5, _unanswered),
    Metric("goodput", "bit/s", 0.10, _goodput),
    Metric("RTT under load p50", "s", 0.15, _loaded(0.5)),
    Metric("RTT under load p95", "s", 0.15, _loaded(0.95)),
    Metric("sent again", "ratio", 0.5, _resent),
    Metric("datagrams lost", "ratio", 0.5, _lost),
    Metric("jitter", "s", 0.5, _jitter),
)


def doubted(found: Judged) -> Judged:
    """What suspect trials show: no agreement."""
    if found.verdict != "agrees":
        return found
    return replace(found, verdict="cannot tell", why="at least half of its trials are suspect")


def exit_code(found: Sequence[Judged]) -> int:
    """1 if any differs, 0 if all agree that can, 5 if it cannot be told or nothing was judged."""
    verdicts = {each.verdict for each in found} - {"not identifiable"}
    if "differs" in verdicts:
        return 1
    return 0 if verdicts == {"agrees"} else 5
