"""A comparison of two runs by cell: effect, interval and verdict. Pure, no I/O."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import Generic, Literal, TypeAlias, TypeVar

import numpy as np

from ..codec.frozen import dataclass
from . import statistic
from .distribution import t_quantile
from .significance import multiple, noise, power
from .significance.noise import Noise
from .statistic import LEVEL, FloatArray, Interval, Values

K = TypeVar("K")
Verdict: TypeAlias = Literal["better", "same", "worse", "cannot tell"]

PRIMARY_SHARE = 0.9
"""The share of the error that the primary cells get, if there are others."""


@dataclass(frozen=True)
class CellComparison(Generic[K]):
    """One cell of two runs, paired by seed.

    `effect` is the mean of candidate minus base, in the metric's unit, with its t interval. `relative` and
    `noise_floor` are over the mean of the base; None if that is 0. `p` is two-sided, and adjusted over all the cells.
    The noise floor, by which two sets of the base's own seeds differ, decides nothing.

    `is_random` is False for several pairs that are all copies of one. `is_by_levels`: p is the chance that two levels
    do as much (`significance.noise.by_levels`); that of the t-test is less. `is_exact`: nothing is random in the cell,
    so that the difference is known, without an error and without p.

    `margin` is the difference that does not matter in this cell, in the metric's unit.

    `smallest_effect` is the smallest true difference, in the metric's unit, that so many pairs show in 80 % of cases;
    None if they show none, however large. `seeds_needed` is how many pairs decide: with them, no difference comes out
    as the same, and one of twice the tolerance is found, each in 80 % of cases, if the noise is as it seems; None also
    if no number does, as for a tolerance of 0. `seeds_for_all` is how many let all primary cells come out as the same
    in 80 % of cases, if nothing changed and all are as noisy as this one. Interval, floor, p and the last three are
    None for one pair.

    `by_test` is "better" or "worse" if the t-test tells the sides apart by more than the margin, whatever levels do;
    else "cannot tell". It claims nothing, but is not to be hidden.

    `may_differ` is what the seeds leave open of rare cases: with a confidence of 95 %, at most this share of the
    candidate's trials is beyond all that the base's do, by more than the tolerance. `is_rare_open`: this alone keeps
    the cell from being the same. `is_disjoint`: each trial of one side is above all of the other.
    """

    key: K
    pairs: int
    base: float
    candidate: float
    effect: float
    interval: Interval | None
    relative: float | None
    relative_interval: Interval | None
    noise_floor: float | None
    p: float | None
    verdict: Verdict
    is_random: bool = True
    is_by_levels: bool = False
    smallest_effect: float | None = None
    seeds_needed: int | None = None
    seeds_for_all: int | None = None
    may_differ: float = 1.0
    margin: float = 0.0
    is_exact: bool = False
    is_rare_open: bool = False
    by_test: Verdict = "cannot tell"
    is_disjoint: bool = False


def compare(
    cells: Mapping[K, tuple[Values, Values]],
    tolerance: float | Callable[[K], float],
    is_more_better: bool | Callable[[K], bool] = True,
    absolute_tolerance: float | Callable[[K], float] = 0.0,
    level: float = LEVEL,
    is_primary: Callable[[K], bool] = lambda key: True,
    kind: Callable[[K], Hashable] | None = None,
    sds: float | Callable[[K], float] = 0.0,
    rare: float | Callable[[K], float] = 1.0,
    exact: Callable[[K], bool] = lambda key: False,
    tests: float = 1.0,
    shown: float | None = None,
) -> tuple[CellComparison[K], ...]:
    """Compare base and candidate samples of each cell; sample i of both has the same seed.

    `cells` are those of the whole suite: the chance that any of them is called better or worse, if nothing changed, is
    at most 1 - level. Most of it, PRIMARY_SHARE, is for the cells that are primary. If these cells are one of so many
    parts of all `tests`, they have as small a part of the error, so that p is so many times as much. The intervals have
    the level `shown` (None: `level`).

    `kind` says which cells are noisy alike, relative to their means: those of one metric. Where there are five or more,
    each cell's noise is estimated with the help of the others (`significance.noise`). Without it each stands alone.

    `tolerance` is the relative difference that does not matter (0.03 is 3 % of the base's mean), and
    `absolute_tolerance` the one in the metric's unit, for metrics that can be 0; the larger of them counts. Where cells
    are of several metrics, it and `is_more_better` are functions of the cell's key. With `sds`, so many standard
    deviations of a trial of the base count too, if they are more (`significance.noise.typical`).

    `exact` are cells in which nothing is random: if their samples bear that out, the difference is what it is. `rare`
    is the largest share of trials that may differ, at a confidence of 95 %, where a cell is the same.

    same: the interval of `level` lies within the tolerance, also by the cell's own samples alone, or every pair is
    equal (3 pairs or more, where all seeds are alike and something could be random); and `may_differ` is at most
    `rare`. better, worse: the difference is not 0 (adjusted p < 1 - level), and as estimated it is larger than the
    tolerance. cannot tell: neither, as for a single pair. Copies of one pair have no noise: p is the chance of two
    levels. Raises ValueError if a cell's samples cannot be paired.
    """
    relative = tolerance if callable(tolerance) else lambda key: tolerance
    least = absolute_tolerance if callable(absolute_tolerance) else lambda key: absolute_tolerance
    is_gain = is_more_better if callable(is_more_better) else lambda key: is_more_better
    least_rare = rare if callable(rare) else lambda key: rare
    own = sds if callable(sds) else lambda key: sds
    if any(min(relative(key), least(key)) < 0 for key in cells):
        raise ValueError("a tolerance is 0 or more")
    found = _with_noise({key: statistic.paired(*samples) for key, samples in cells.items()}, kind, exact)
    parts = dict(zip(found, multiple.shares([is_primary(key) for key in found], PRIMARY_SHARE), strict=True))
    sd = _sds(found, kind) if any(map(own, found)) else dict.fromkeys(found, 0.0)
    margins = {
        key: max(relative(key) * abs(float(each.base.mean())), least(key), own(key) * sd[key])
        for key, each in found.items()
    }
    of_kind: defaultdict[Hashable, float] = defaultdict(float)
    for key, part in parts.items():
        of_kind[kind(key) if kind else None] += part
    shares = {key: of_kind[kind(key) if kind else None] for key in found}
    p_values = _p_values(found, parts, shares, margins, kind or (lambda key: key), level, tests)
    deciding = sum(map(is_primary, found)) or len(found)
    return tuple(
        _cell(
            key,
            each,
            p_values.get(key, (None, None)),
            (parts[key] / tests, shares[key] / tests, 1 / tests),
            (margins[key], least_rare(key)),
            is_gain(key),
            (level, level if shown is None else shown),
            deciding,
        )
        for key, each in found.items()
    )


def noise_floor(base: Values, level: float = LEVEL) -> float:
    """The most by which the means of two sets of as many seeds of the base differ, in `level` of cases.

    In the metric's unit: t sd sqrt(2/n), t of n - 1 degrees of freedom, for the sd is that of n samples. Needs 2.
    """
    samples = statistic.checked(base, 2)
    return _t(level, len(samples) - 1) * statistic.sample_sd(samples) * math.sqrt(2 / len(samples))


@dataclass(frozen=True)
class _Pairs:
    """The samples of a cell; `noise` is that of the differences, None where nothing is known of it. `peers` are the
    spreads of the other cells of its kind, the widest first. `is_exact`: nothing is random in it.
    """

    base: FloatArray
    candidate: FloatArray
    noise: Noise | None
    peers: FloatArray
    is_exact: bool = False

    @cached_property
    def effect(self) -> float:
        return float((self.candidate - self.base).mean())

    @property
    def is_equal(self) -> bool:
        return bool((self.candidate == self.base).all())

    @property
    def are_copies(self) -> bool:
        """Whether several pairs are all the same, and their sides are not."""
        return self.noise is None and len(self.base) > 1 and not self.is_equal

    @cached_property
    def scale(self) -> float:
        """The mean of both sides, over which effects and spreads of unlike cells are comparable."""
        return float(np.abs(self.base).mean() + np.abs(self.candidate).mean()) / 2

    @property
    def spread(self) -> float:
        """From the least to the largest difference, over the mean of both sides."""
        return float(np.ptp(self.candidate - self.base)) / self.scale

    @property
    def others(self) -> int:
        """How many other cells vary so much that they may be on two levels as far apart as the sides are here: their
        spread is at least half of the effect.
        """
        return int((self.peers * self.scale >= abs(self.effect) / 2).sum())

    def beyond(self, margin: float) -> int:
        """How many of the candidate's trials are beyond the base's, by more than the margin."""
        off = np.maximum(self.base.min() - self.candidate, self.candidate - self.base.max()) > margin
        return int(off.sum())

    def may_differ(self, margin: float) -> float:
        return 0.0 if self.is_exact else noise.share_at_most(self.beyond(margin), len(self.base))

    def interval(self, level: float, *, is_apart: bool = False) -> Interval | None:
        """With few cases, no difference at all may be chance, as for two levels: then the noise is the mean cell's,
        unless the sides were told apart.
        """
        if self.noise is None:
            return Interval(self.effect, self.effect, level) if self.is_exact else None
        count = len(self.base)
        is_doubtful = _is_doubtful(count, level) and self.noise.mean is not None and not (self.is_equal or is_apart)
        half = _t(level, self.noise.df) * (self.noise.careful_se(count) if is_doubtful else self.noise.se(count))
        return Interval(self.effect - half, self.effect + half, level)

    def is_believed(self, level: float) -> bool:
        """Whether pairs that show no noise are enough not to be on one of two levels by chance: all trials of both
        sides if they are equal, the candidate's otherwise.
        """
        return self.is_exact or not _is_doubtful(2 * len(self.base) - 1 if self.is_equal else len(self.base), level)

    def is_within(self, margin: float, level: float) -> bool:
        """Whether the interval, and the one that this cell's samples alone say, are within the margin."""
        interval = self.interval(level)
        if interval is None or self.noise is None:
            return self.is_believed(level) and abs(self.effect) <= margin
        variance, df = self.noise.alone or (self.noise.variance, self.noise.df)
        half = _t(level, df) * math.sqrt(variance / len(self.base))
        return self.is_equal or max(-interval.low, interval.high, abs(self.effect) + half) <= margin

    def smallest_effect(
        self, alpha: float, margin: float, level: float, share: float, most: float = 1.0
    ) -> float | None:
        """What the t-test shows with this `alpha`, if levels do not do as much in the cells of the kind, which has this
        share of the error. `most` is that of all cells, which levels that are clear beside the mean noise may take.
        """
        pairs = len(self.base)
        if self.noise is None or not self.noise.variance or noise.by_levels(pairs) >= most * (1 - level):
            return None
        least, careful = (
            power.smallest_effect(se, self.noise.df, alpha, margin) if math.isfinite(se) else math.inf
            for se in (self.noise.se(pairs), self.noise.careful_se(pairs))
        )
        reaches = [2 * each * self.scale for each in (math.inf, *self.peers.tolist())]
        hidden = (by for n, by in enumerate(reaches) if noise.by_levels(pairs, others=n) >= share * (1 - level))
        found = max(least, min(careful, next(hidden, 0.0)))
        return found if math.isfinite(found) else None

    def seeds_needed(
        self, alpha: float, margins: tuple[float, float], level: float, share: float, cells: int = 1
    ) -> int | None:
        """`margins` are that of the difference, and the share of trials that may differ."""
        margin, rare = margins
        of_means = self._seeds_of_means(alpha, margin, level, share, cells)
        return of_means and max(of_means, noise.seeds_for(self.beyond(margin), rare, len(self.base)))

    def _seeds_of_means(self, alpha: float, margin: float, level: float, share: float, cells: int) -> int | None:
        if self.is_exact or (self.is_equal and self.noise is not None):
            return len(self.base) if self.is_equal else None
        if self.is_equal:
            return max(len(self.base), next(n for n in count(1) if not _is_doubtful(2 * n - 1, level)))
        enough = next(n for n in count(2) if noise.by_levels(n, others=self.others) < share * (1 - level))
        if self.noise is None and not self.are_copies:
            return None
        if self.noise is None:
            return enough if abs(self.effect) > margin else next(n for n in count(2) if not _is_doubtful(n, level))
        if not self.noise.variance:
            return None if abs(self.effect) <= margin else math.floor(2 - math.log2(alpha))
        found = power.seeds_needed(math.sqrt(self.noise.variance), alpha, 1 - level, margin, cells)
        return found and max(found, enough)


def _sds(cells: Mapping[K, _Pairs], kind: Callable[[K], Hashable] | None) -> dict[K, float]:
    """The standard deviation of a trial of the base in each cell."""
    groups: defaultdict[Hashable, list[K]] = defaultdict(list)
    for key in cells:
        groups[kind(key) if kind else key].append(key)
    return {
        key: sd
        for keys in groups.values()
        for key, sd in zip(keys, noise.typical([cells[key].base for key in keys]), strict=True)
    }


def _is_doubtful(pairs: int, level: float) -> bool:
    """Whether so few pairs that show no noise may be on one of two levels by chance."""
    return 2.0**-pairs > 1 - level


def _with_noise(
    cells: Mapping[K, tuple[FloatArray, FloatArray]],
    kind: Callable[[K], Hashable] | None,
    exact: Callable[[K], bool],
) -> dict[K, _Pairs]:
    """The cells with their noise: none for one pair or copies of one, the cell's own for equal sides. Without a kind,
    the other cells may vary by any amount.
    """
    alike: dict[Hashable, list[K]] = {}
    known: dict[K, Noise] = {}
    for key, (base, candidate) in cells.items():
        if np.array_equal(base, candidate) and np.ptp(base) > 0:
            known[key] = noise.own(base, candidate)
        elif np.ptp(base) > 0 or np.ptp(candidate) > 0:
            alike.setdefault(kind(key) if kind else key, []).append(key)
    for keys in alike.values():
        known |= zip(keys, noise.pooled([cells[key] for key in keys]), strict=True)
    found = {
        key: _Pairs(*samples, known.get(key), np.array([]), exact(key) and key not in known)
        for key, samples in cells.items()
    }
    groups: defaultdict[Hashable, list[K]] = defaultdict(list)
    for key in cells:
        groups[kind(key) if kind else None].append(key)
    vary = {key for keys in alike.values() for key in keys}
    for keys in groups.values():
        spreads = {key: found[key].spread if kind else math.inf for key in keys if key in vary}
        for key in keys:
            peers = sorted((spread for other, spread in spreads.items() if other != key), reverse=True)
            found[key] = replace(found[key], peers=np.array(peers))
    return found


def _p_values(
    cells: Mapping[K, _Pairs],
    parts: Mapping[K, float],
    shares: Mapping[K, float],
    margins: Mapping[K, float],
    kind: Callable[[K], Hashable],
    level: float,
    tests: float,
) -> dict[K, tuple[float, float]]:
    """By the t-test, adjusted for all cells, and its own p. For what that tells apart, p is at least the chance
    that levels do: in the cells of a kind that are told apart in one direction and in those that vary as much, over the
    kind's share of the error. Where the difference is clear beside the noise of the mean cell too, only the former
    count, as one kind, for levels are a trial's.
    """
    known = {
        key: each for key, each in cells.items() if not each.is_exact and (each.noise is not None or each.are_copies)
    }

    def adjusted(test: Callable[[Noise, float, int], float], of_copies: Callable[[int], float]) -> dict[K, float]:
        def raw(each: _Pairs) -> float:
            if each.is_equal:
                return 1.0
            pairs = len(each.base)
            return of_copies(pairs) if each.noise is None else test(each.noise, each.effect, pairs)

        adjusted = multiple.holm([raw(each) for each in known.values()], [parts[key] for key in known])
        return dict(zip(known, adjusted, strict=True))

    plain, careful = adjusted(Noise.p, noise.of_copies), adjusted(Noise.careful_p, lambda pairs: 1.0)
    apart = {key: (kind(key), cells[key].effect > 0) for key, p in plain.items() if p < 1 - level}
    apart = {key: way for key, way in apart.items() if abs(cells[key].effect) > margins[key]}
    counts = Counter(apart.values())
    least = dict.fromkeys(plain, 0.0)
    for key, way in apart.items():
        pairs, many = len(cells[key].base), counts[way]
        with_others = min(1.0, noise.by_levels(pairs, many, cells[key].others) / shares[key])
        least[key] = max(noise.by_levels(pairs, many), min(careful[key], with_others))
    return {key: (min(1.0, tests * max(p, least[key])), min(1.0, tests * p)) for key, p in plain.items()}


def _t(level: float, df: float) -> float:
    """The quantile of the two-sided t interval."""
    return t_quantile(df, (1 + level) / 2)


def _cell(
    key: K,
    pairs: _Pairs,
    found: tuple[float | None, float | None],
    parts: tuple[float, float, float],
    margins: tuple[float, float],
    is_more_better: bool,
    levels: tuple[float, float],
    cells: int,
) -> CellComparison[K]:
    scale, effect = abs(float(pairs.base.mean())), pairs.effect
    p, of_test = found
    margin, rare = margins
    level, shown = levels
    floor = noise_floor(pairs.base, shown) if pairs.noise else None
    is_apart = pairs.is_exact or (p is not None and p < 1 - level)
    interval = pairs.interval(shown, is_apart=is_apart)
    is_significant = is_apart and abs(effect) > margin
    is_told = of_test is not None and of_test < 1 - level and abs(effect) > margin
    is_small, may_differ = pairs.is_within(margin, level), pairs.may_differ(margin)
    part, share, most = parts
    is_good = (effect > 0) == is_more_better
    alpha = part * (1 - level)
    return CellComparison(
        key=key,
        pairs=len(pairs.base),
        base=float(pairs.base.mean()),
        candidate=float(pairs.candidate.mean()),
        effect=effect,
        interval=interval,
        relative=effect / scale if scale else None,
        relative_interval=interval.scaled(1 / scale) if scale and interval else None,
        noise_floor=floor / scale if scale and floor is not None else None,
        p=p,
        verdict=_verdict(is_small and may_differ <= rare, is_significant, is_good),
        is_random=len(pairs.base) == 1 or pairs.noise is not None,
        is_by_levels=p is not None and of_test is not None and p > of_test,
        smallest_effect=pairs.smallest_effect(alpha, margin, level, share, most),
        seeds_needed=pairs.seeds_needed(alpha, margins, level, share),
        seeds_for_all=pairs.seeds_needed(alpha, margins, level, share, cells),
        may_differ=may_differ,
        margin=margin,
        is_exact=pairs.is_exact,
        is_rare_open=is_small and may_differ > rare,
        by_test=_verdict(False, is_told, is_good),
        is_disjoint=bool(pairs.base.max() < pairs.candidate.min() or pairs.candidate.max() < pairs.base.min()),
    )


def _verdict(is_same: bool, is_significant: bool, is_good: bool) -> Verdict:
    if is_same:
        return "same"
    if is_significant:
        return "better" if is_good else "worse"
    return "cannot tell"
