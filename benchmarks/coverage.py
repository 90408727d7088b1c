"""How often 95 % intervals hold the true value, by simulation: `python -m benchmarks coverage`.

`before` is the percentile bootstrap of the repetitions, which the testbed printed once; `now` is what it prints. The
repetitions are normal or log-normal around a known profile; the same seed gives the same table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from testbed.analysis import concavity, statistic
from testbed.analysis.distance import distance
from testbed.analysis.profile import Reference, ThroughputProfile
from testbed.analysis.statistic import Estimate, FloatArray, Interval

RTTS_S = (0.001, 0.05, 0.1, 0.2, 0.35)
TRUE_BPS = (9.5e9, 9.0e9, 8.0e9, 5.0e9, 2.0e9)
CAPACITY_BPS = 10e9
AT = 3
"""The place of the RTT whose mean and difference are looked at."""
REPETITIONS = (2, 3, 5, 10)
LEAST = 1e-3
"""No throughput is below 0."""
RUNS = 2000
RESAMPLES = 500
QUANTITIES = ("mean", "difference", "of two means", "RMS, true 0", "RMS, true 20 %", "C_UC")


@dataclass(frozen=True)
class Noise:
    """Repetitions around a mean of 1, with a coefficient of variation."""

    kind: str
    cov: float

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        if self.kind == "normal":
            return np.maximum(1 + self.cov * generator.normal(size=shape), LEAST)
        sd = math.sqrt(math.log1p(self.cov**2))
        samples: FloatArray = np.exp(sd * generator.normal(size=shape) - sd**2 / 2)
        return samples


NOISES = tuple(Noise(kind, cov) for kind in ("normal", "log-normal") for cov in (0.1, 0.3))


def now(samples: FloatArray, other: FloatArray) -> dict[str, Interval | None]:
    """The interval of each quantity; a row of `samples` has the repetitions at one RTT, `other` those of a published
    mean at one RTT.
    """
    profile = ThroughputProfile.of_samples(dict(zip(RTTS_S, samples, strict=True)))
    same, apart = _published(1.0), _published(1 / 1.2)
    own = statistic.estimate(other)
    c_uc = concavity.estimated(concavity.utilization_concavity, RTTS_S, profile.estimates, CAPACITY_BPS)
    near, far = distance(profile, same), distance(profile, apart)
    assert near.rms is not None
    assert far.rms is not None
    return {
        "mean": profile.estimates[AT].interval(),
        "difference": near.points[AT].relative.interval,
        "of two means": distance(profile, {RTTS_S[AT]: Reference(own)}).points[0].relative.interval,
        "RMS, true 0": near.rms.interval,
        "RMS, true 20 %": far.rms.interval,
        "C_UC": c_uc.interval(),
    }


def before(samples: FloatArray, other: FloatArray, generator: np.random.Generator) -> dict[str, Interval]:
    """Percentile bootstraps: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3."""
    draws = np.array([_resampled(row, generator) for row in samples])
    true = np.array(TRUE_BPS)[:, None]
    weights = _c_uc_weights()
    values = {
        "mean": draws[AT],
        "difference": draws[AT] / TRUE_BPS[AT] - 1,
        "of two means": draws[AT] / _resampled(other, generator) - 1,
        "RMS, true 0": np.sqrt(np.mean((draws / true - 1) ** 2, axis=0)),
        "RMS, true 20 %": np.sqrt(np.mean((draws * 1.2 / true - 1) ** 2, axis=0)),
        "C_UC": weights @ draws / CAPACITY_BPS + 0.25,
    }
    return {name: _middle(each) for name, each in values.items()}


def truth() -> dict[str, float]:
    profile = ThroughputProfile.of_means(dict(zip(RTTS_S, TRUE_BPS, strict=True)))
    c_uc = concavity.utilization_concavity(concavity.normalized(profile, CAPACITY_BPS))
    return dict(zip(QUANTITIES, (TRUE_BPS[AT], 0.0, 0.0, 0.0, 0.2, c_uc), strict=True))


def covered(noise: Noise, repetitions: int, runs: int, seed: int, with_before: bool = True) -> dict[str, Counts]:
    """How many of so many intervals hold the true value, by quantity."""
    generator = np.random.default_rng([seed, NOISES.index(noise), repetitions])
    true, found = truth(), {name: Counts() for name in QUANTITIES}
    for _ in range(runs):
        samples = np.array(TRUE_BPS)[:, None] * noise.draw(generator, (len(RTTS_S), repetitions))
        other = TRUE_BPS[AT] * noise.draw(generator, (repetitions,))
        old = before(samples, other, generator) if with_before else {}
        for name, interval in now(samples, other).items():
            is_then = name in old and old[name].contains(true[name])
            found[name] = found[name].plus(is_then, None if interval is None else interval.contains(true[name]))
    return found


@dataclass(frozen=True)
class Counts:
    """Of intervals: how many held before; how many there are now, and how many of them hold."""

    then: int = 0
    now: int = 0
    held: int = 0

    def plus(self, is_then: bool, is_held: bool | None) -> Counts:
        return Counts(self.then + is_then, self.now + (is_held is not None), self.held + bool(is_held))


def main(runs: int = RUNS, seed: int = 1) -> int:
    """Prints the table, in per cent."""
    print(f"share of 95 % intervals that hold the true value, before → now, in % of {runs} runs")
    print(f"{'':16}{'noise':11}{'CV':>5}" + "".join(f"{f'{n} runs':>12}" for n in REPETITIONS))
    tables = {(noise, n): covered(noise, n, runs, seed) for noise in NOISES for n in REPETITIONS}
    for name in QUANTITIES:
        for noise in NOISES:
            cells = "".join(f"{_cell(tables[noise, n][name], runs):>12}" for n in REPETITIONS)
            print(f"{name:16}{noise.kind:11}{noise.cov:5.0%}{cells}")
    return 0


def _cell(counts: Counts, runs: int) -> str:
    share = f"{100 * counts.held / counts.now:.0f}" if counts.now else "none"
    return f"{100 * counts.then / runs:.0f} → {share}"


def _published(factor: float) -> dict[float, Reference]:
    return {rtt: Reference(Estimate.constant(bps * factor)) for rtt, bps in zip(RTTS_S, TRUE_BPS, strict=True)}


def _resampled(row: FloatArray, generator: np.random.Generator) -> FloatArray:
    return np.asarray(row[generator.integers(0, len(row), (RESAMPLES, len(row)))].mean(axis=1))


def _middle(draws: FloatArray) -> Interval:
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(float(low), float(high))


def _c_uc_weights() -> FloatArray:
    """Of the throughputs, for the mean less a quarter of both ends."""
    x = (np.array(RTTS_S) - RTTS_S[0]) / (RTTS_S[-1] - RTTS_S[0])
    steps = np.diff(x)
    weights = np.zeros(len(x))
    weights[:-1] += steps / 2
    weights[1:] += steps / 2
    weights[[0, -1]] -= 0.25
    return weights
