"""The parts of a criterion and their verdicts, by intervals over the seeds. Pure, no I/O.

A part is met if its whole interval is within the bounds, not met if none of it is, and else nobody can tell. What is
missing, empty or not a number is never met.

A row is met if all its parts are. If it should not be called met, one part should not, so the interval of each part may
be at 95 % (an intersection-union test: Berger, Technometrics 24, 1982). A row is not met if one part is not, whichever;
so for that the intervals of all parts hold together (Bonferroni). For "at least one of" it is the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scipy import stats

Verdict: TypeAlias = Literal["met", "not met", "cannot tell"]
Values: TypeAlias = Sequence[float | None]

ERROR = 0.05
"""The greatest chance that a row is called met though it should not be, and that it is called not met though it is."""


FULL, MUCH = 0.95, 0.5
"""The least share of a full link that counts as all of it; less than this share is much lower."""


@dataclass(frozen=True)
class Chance:
    """How often a part may be wrongly called met, and wrongly called not met."""

    met: float
    unmet: float


ALONE = Chance(ERROR, ERROR)
"""For a part that is the whole criterion."""

Reach: TypeAlias = tuple[float, float]
"""The ends of an interval."""


@dataclass(frozen=True)
class Bounds:
    """What an interval must lie within; beyond the bounds, not on them, if `is_strict`."""

    low: float = -math.inf
    high: float = math.inf
    is_strict: bool = False

    def judge(self, interval: Callable[[float], Reach], chance: Chance) -> tuple[Verdict, Reach]:
        """The verdict, and the interval that gives it. `interval` takes the chance with which it misses."""
        near, wide = interval(chance.met), interval(chance.unmet)
        if self._excludes(*wide):
            return "not met", wide
        return ("met" if self._holds(*near) else "cannot tell"), near

    def _holds(self, low: float, high: float) -> bool:
        return self.low < low and high < self.high if self.is_strict else self.low <= low and high <= self.high

    def _excludes(self, low: float, high: float) -> bool:
        return high <= self.low or low >= self.high if self.is_strict else high < self.low or low > self.high


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error and degrees of freedom; without an error if every seed gave the same."""

    mean: float
    error: float
    freedom: float

    def interval(self, chance: float) -> tuple[float, float]:
        """Student's interval that misses with this chance."""
        half = float(stats.t.ppf(1 - chance / 2, self.freedom)) * self.error if self.error else 0.0
        return self.mean - half, self.mean + half


def estimate(*terms: tuple[float, Values]) -> Estimate | None:
    """The sum of factor × mean over independent samples, with the freedom of Welch and Satterthwaite.

    None if a sample has fewer than 2 values, or one of them is absent or not finite.
    """
    mean, variances = 0.0, []
    for factor, values in terms:
        numbers = [value for value in values if value is not None and math.isfinite(value)]
        if len(numbers) < 2 or len(numbers) < len(values):
            return None
        centre = math.fsum(numbers) / len(numbers)
        is_equal = min(numbers) == max(numbers)
        square = 0.0 if is_equal else math.fsum((each - centre) ** 2 for each in numbers) / (len(numbers) - 1)
        mean += factor * (numbers[0] if is_equal else centre)
        variances.append((factor * factor * square / len(numbers), len(numbers) - 1))
    total = math.fsum(variance for variance, _ in variances)
    if not variances:
        return None
    freedom = total**2 / math.fsum(variance**2 / least for variance, least in variances) if total else math.inf
    return Estimate(mean, math.sqrt(total), freedom)


@dataclass(frozen=True)
class Decision:
    """What one part came to, and by what."""

    says: str
    verdict: Verdict
    found: str = ""

    def __str__(self) -> str:
        return f"{self.says} ({self.found})" if self.found else self.says


@dataclass(frozen=True)
class Within:
    """A mean lies between two bounds; beyond them, not on them, if `is_strict`."""

    says: str
    estimate: Estimate | None
    low: float = -math.inf
    high: float = math.inf
    is_strict: bool = False

    @property
    def is_uncertain(self) -> bool:
        return self.estimate is not None and self.estimate.error > 0

    def decide(self, chance: Chance = ALONE) -> Decision:
        if self.estimate is None:
            return Decision(self.says, "cannot tell", "fewer than two values")
        verdict, (low, high) = Bounds(self.low, self.high, self.is_strict).judge(self.estimate.interval, chance)
        found = f"{self.estimate.mean:.5g}" + (f" [{low:.5g}, {high:.5g}]" if low < high else "")
        return Decision(self.says, verdict, found)


@dataclass(frozen=True)
class Share:
    """The share of runs, of which `hits` were seen in `of`, lies between two bounds: Clopper and Pearson, 1934."""

    says: str
    hits: int
    of: int
    low: float = 0.0
    high: float = 1.0
    is_strict: bool = False
    is_uncertain: bool = True

    def decide(self, chance: Chance = ALONE) -> Decision:
        if self.of < 1:
            return Decision(self.says, "cannot tell", "no runs")
        verdict, (low, high) = Bounds(self.low, self.high, self.is_strict).judge(self._interval, chance)
        return Decision(self.says, verdict, f"{self.hits} of {self.of}, {low:.0%} to {high:.0%}")

    def _interval(self, miss: float) -> Reach:
        rest = self.of - self.hits
        low = float(stats.beta.ppf(miss / 2, self.hits, rest + 1)) if self.hits else 0.0
        return low, float(stats.beta.ppf(1 - miss / 2, self.hits + 1, rest)) if rest else 1.0


@dataclass(frozen=True)
class MoreSpread:
    """The relative variance within some samples is more than `low` times that within others: the interval of F.

    Each sample counts around its own mean.
    """

    says: str
    wide: Sequence[Values]
    narrow: Sequence[Values]
    low: float = 1.0
    high: float = math.inf
    is_uncertain: bool = True

    def decide(self, chance: Chance = ALONE) -> Decision:
        wide, narrow = _pooled(self.wide), _pooled(self.narrow)
        if wide is None or narrow is None:
            return Decision(self.says, "cannot tell", "fewer than two values, or a mean of 0")
        if not narrow[0]:
            exact: Verdict = "met" if wide[0] and math.isinf(self.high) else "not met"
            return Decision(self.says, exact, f"CoV {math.sqrt(wide[0]):.2g} and 0")
        ratio = wide[0] / narrow[0]
        freedom = wide[1], narrow[1]

        def interval(miss: float) -> Reach:
            return ratio / float(stats.f.ppf(1 - miss / 2, *freedom)), ratio / float(stats.f.ppf(miss / 2, *freedom))

        verdict, (low, high) = Bounds(self.low, self.high, is_strict=True).judge(interval, chance)
        found = f"CoV {math.sqrt(wide[0]):.2g} and {math.sqrt(narrow[0]):.2g}, ratio {math.sqrt(ratio):.2g} "
        found += f"[{math.sqrt(low):.2g}, {math.sqrt(high):.2g}]"
        return Decision(self.says, verdict, found)


@dataclass(frozen=True)
class LittleSpread:
    """The coefficient of variation is at most `high`: the interval of chi-square."""

    says: str
    values: Values
    high: float
    is_uncertain: bool = True

    def decide(self, chance: Chance = ALONE) -> Decision:
        pooled = _pooled([self.values])
        if pooled is None:
            return Decision(self.says, "cannot tell", "fewer than two values, or a mean of 0")
        square, freedom = pooled

        def interval(miss: float) -> Reach:
            low, high = (square * freedom / float(stats.chi2.ppf(at, freedom)) for at in (1 - miss / 2, miss / 2))
            return math.sqrt(low), math.sqrt(high)

        verdict, (low, high) = Bounds(0.0, self.high).judge(interval, chance)
        found = f"CoV {math.sqrt(square):.2g}" + (f" [{low:.2g}, {high:.2g}]" if low < high else "")
        return Decision(self.says, verdict, found)


@dataclass(frozen=True)
class Holds:
    """What no chance decides, such as a count or a form; None if it was not seen."""

    says: str
    is_met: bool | None
    found: str = ""
    is_uncertain: bool = False

    def decide(self, chance: Chance = ALONE) -> Decision:
        verdict: Verdict = "cannot tell" if self.is_met is None else "met" if self.is_met else "not met"
        return Decision(self.says, verdict, self.found)


@dataclass(frozen=True)
class AnyOf:
    """At least one of the parts is met."""

    says: str
    parts: tuple[Part, ...]

    @property
    def is_uncertain(self) -> bool:
        return any(part.is_uncertain for part in self.parts)

    def decide(self, chance: Chance = ALONE) -> Decision:
        each = Chance(chance.met / _uncertain(self.parts), chance.unmet)
        decided = [part.decide(each) for part in self.parts]
        for verdict in ("met", "cannot tell"):
            first = next((each for each in decided if each.verdict == verdict), None)
            if first:
                return Decision(self.says, first.verdict, str(first))
        return Decision(self.says, "not met" if decided else "cannot tell", "" if decided else "nothing was seen")


@dataclass(frozen=True)
class Counted:
    """What follows from the decisions on some cases, each of which is met or not; None if it depends on undecided ones.

    `holds` gets them in the order of `cases`.
    """

    says: str
    cases: tuple[Part, ...]
    holds: Callable[[Sequence[Decision]], bool | None]

    @property
    def is_uncertain(self) -> bool:
        return any(part.is_uncertain for part in self.cases)

    def decide(self, chance: Chance = ALONE) -> Decision:
        near, wide = (self.holds(classify(self.cases, each)) for each in (chance.met, chance.unmet))
        return Decision(self.says, "not met" if wide is False else "met" if near else "cannot tell")


Part: TypeAlias = Within | Share | MoreSpread | LittleSpread | Holds | AnyOf | Counted


def above(says: str, mean: Estimate | None, bound: float = 0.0) -> Within:
    return Within(says, mean, low=bound, is_strict=True)


def below(says: str, mean: Estimate | None, bound: float = 0.0) -> Within:
    return Within(says, mean, high=bound, is_strict=True)


def combined(*terms: tuple[float, Values]) -> Estimate | None:
    """The sum of factor × mean: of the values of each seed together if all have as many, as those of one seed belong
    together; of independent samples otherwise.
    """
    if len({len(values) for _, values in terms}) > 1:
        return estimate(*terms)
    factors = [factor for factor, _ in terms]

    def summed(values: Sequence[float]) -> float:
        return sum(factor * value for factor, value in zip(factors, values, strict=True))

    return estimate((1, by_seed(summed, *(values for _, values in terms))))


def by_seed(read: Callable[[list[float]], float], *samples: Values) -> list[float | None]:
    """What `read` makes of the values of each seed; None where one is absent."""
    of_seeds = ([each for each in values if each is not None] for values in zip(*samples, strict=True))
    return [read(values) if len(values) == len(samples) else None for values in of_seeds]


def minus(one: Values, other: Values) -> Estimate | None:
    """The difference of two means."""
    return combined((1, one), (-1, other))


def over(one: Values, other: Values) -> list[float | None]:
    """The ratio of each pair; None where one is absent, or the second is 0."""
    return [None if a is None or not b else a / b for a, b in zip(one, other, strict=True)]


def gain(one: Values, other: Values) -> list[float | None]:
    """By which share the first of each pair is more; None as `over`."""
    return by_seed(lambda ratio: ratio[0] - 1, over(one, other))


def grown(less: Values, more: Values) -> list[float | None]:
    """By how much the second of each pair is more; None where one is absent."""
    return by_seed(lambda pair: pair[1] - pair[0], less, more)


def average(values: Values) -> float:
    """For words: the mean of what is there; not a number if nothing is."""
    found = [value for value in values if value is not None]
    return math.fsum(found) / len(found) if found else math.nan


def near(says: str, values: Values, printed: float, tolerance: float) -> Within:
    """The mean is the printed number within a tolerance in its unit."""
    return Within(says, estimate((1, values)), printed - tolerance, printed + tolerance)


def alike(says: str, one: Values, other: Values, share: float) -> Within:
    """Two means are at most a share of the larger apart; values of the same seed stand at the same place."""
    return Within(says, estimate((1, _apart(one, other))), -share, share)


def apart(says: str, one: Values, other: Values, share: float) -> AnyOf:
    """The contrary: more than that share of the larger apart, in either direction."""
    mean = estimate((1, _apart(one, other)))
    return AnyOf(says, (above(says, mean, share), below(says, mean, -share)))


def decide(parts: Iterable[Part], error: float = ERROR) -> tuple[Decision, ...]:
    """The decisions on all parts of a row, which is met if all of them are; wrong with at most this chance."""
    every = tuple(parts)
    chance = Chance(error, error / _uncertain(every))
    return tuple(part.decide(chance) for part in every)


def classify(parts: Iterable[Part], error: float) -> tuple[Decision, ...]:
    """The decisions on parts that are counted, each met or not by itself: all intervals hold together (Bonferroni)."""
    every = tuple(parts)
    chance = error / _uncertain(every)
    return tuple(part.decide(Chance(chance, chance)) for part in every)


def _uncertain(parts: Sequence[Part]) -> int:
    """Among how many parts a chance is shared; at least 1."""
    return max(1, sum(part.is_uncertain for part in parts))


def _apart(one: Values, other: Values) -> list[float | None]:
    return [
        None if a is None or b is None or not max(a, b) > 0 else (a - b) / max(a, b)
        for a, b in zip(one, other, strict=True)
    ]


def _pooled(groups: Sequence[Values]) -> tuple[float, int] | None:
    """The relative variance within the groups, and its degrees of freedom."""
    squares, freedom = 0.0, 0
    for values in groups:
        one = estimate((1, values))
        if one is None or not one.mean:
            return None
        count = len(values)
        squares += (one.error / one.mean) ** 2 * count * (count - 1)
        freedom += count - 1
    return (squares / freedom, freedom) if freedom else None
