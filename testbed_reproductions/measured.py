"""The results of a scenario for the rows: results by parameter, profiles, means with intervals. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from testbed.api import Curve, ThroughputProfile, TrialResult, UserError, concavity, series, statistic

T = TypeVar("T")

Size: TypeAlias = Literal["quick", "full"]


@dataclass(frozen=True)
class Measured:
    """The valid and suspect results of a scenario; `left_out` are the invalid ones, which are never averaged.

    Asking for parameters that have only left-out results raises UserError.
    """

    scenario: str
    size: Size
    results: tuple[TrialResult, ...]
    left_out: tuple[TrialResult, ...] = ()

    @classmethod
    def of(cls, scenario: str, size: Size, results: Sequence[TrialResult]) -> Measured:
        usable = tuple(each for each in results if each.verdict != "invalid")
        return cls(scenario, size, usable, tuple(each for each in results if each.verdict == "invalid"))

    def first(self, seeds: int) -> Measured:
        """The results of the first seeds, of each combination."""
        return self._where(lambda result: result.repetition < seeds)

    def _where(self, keeps: Callable[[TrialResult], bool]) -> Measured:
        return replace(self, results=tuple(filter(keeps, self.results)), left_out=tuple(filter(keeps, self.left_out)))

    @property
    def invalid(self) -> int:
        return len(self.left_out)

    @property
    def cautions(self) -> str:
        """What to know about the trials before trusting their results; empty if all are valid."""
        suspect = sum(each.verdict == "suspect" for each in self.results)
        counts = {"suspect": suspect, "invalid and left out": self.invalid}
        parts = ", ".join(f"{count} {'is' if count == 1 else 'are'} {word}" for word, count in counts.items() if count)
        return f"of the {len(self.results) + self.invalid} trials of {self.scenario}, {parts}" if parts else ""

    def only(self, **params: str) -> Measured:
        """The results with these parameters; a key is the end of an axis ("loss" for path.loss), with _ for dots."""
        wanted = {self._key(end): text for end, text in params.items()}
        found = self._where(lambda result: wanted.items() <= result.params.items())
        if not found.results:
            wanted_text = ", ".join(f"{key} = {text}" for key, text in wanted.items())
            raise UserError(f"{self.scenario} ({self.size}) has no usable trial with {wanted_text}")
        return found

    def has(self, **params: str) -> bool:
        return all(text in self.values_of(end) for end, text in params.items())

    def values_of(self, end: str) -> tuple[str, ...]:
        """The values of an axis that occur, in the order of the results."""
        key = self._key(end)
        every = (*self.results, *self.left_out)
        return tuple(dict.fromkeys(each.params[key] for each in every if key in each.params))

    def split(self, end: str) -> dict[str, Measured]:
        """One part for each value of an axis."""
        return {text: self.only(**{end: text}) for text in self.values_of(end)}

    def numbers(self, read: Callable[[TrialResult], float | None]) -> list[float]:
        """The number that `read` gets from each result; results for which it is None are left out."""
        return [value for each in self.results if (value := read(each)) is not None]

    def each_seed(self, read: Callable[[Measured], float | None]) -> list[float | None]:
        """What `read` gets from each seed's results, in the order of the seeds.

        None for a seed without all that is read: one that is lost is not passed over.
        """
        seeds = sorted({each.seed for each in (*self.results, *self.left_out)})
        return [self._of_seed(seed, read) for seed in seeds]

    def _of_seed(self, seed: int, read: Callable[[Measured], float | None]) -> float | None:
        found = self._where(lambda result: result.seed == seed)
        if found.left_out:
            return None
        try:
            return read(found)
        except (UserError, ValueError, LookupError, ArithmeticError):
            return None

    @property
    def goodputs_bps(self) -> list[float]:
        return self.numbers(lambda result: result.goodput_bps)

    @property
    def mean_bps(self) -> float:
        return statistic.mean(self.goodputs_bps)

    @property
    def capacity_bps(self) -> float:
        """The path's rate. Raises UserError if it is not the same for all."""
        return self._of_one_rate(series.capacity_bps(self.results))

    @property
    def line_rate_bps(self) -> float:
        """The goodput of a full link: its rate without the headers. Raises UserError as `capacity_bps` does."""
        return self._of_one_rate(series.full_goodput_bps(self.results))

    @property
    def profile(self) -> ThroughputProfile:
        """Mean goodput over RTT, with the repetitions behind it. Raises UserError if an RTT has no usable trial."""
        profile = series.profile(self.results)
        asked = {each.asked.rtt_s for each in (*self.results, *self.left_out)}
        missing = sorted(asked - set(profile.rtt_s if profile else ()))
        if profile is None or missing:
            rtts = ", ".join(f"{rtt * 1e3:g} ms" for rtt in missing)
            raise UserError(f"{self.scenario} ({self.size}) has no usable trial at an RTT of {rtts or 'any length'}")
        return profile

    @property
    def curve(self) -> Curve:
        """The profile over [0, 1] of RTT, normalized by the goodput of a full link."""
        return concavity.normalized(self.profile, self.line_rate_bps)

    @property
    def c_uc(self) -> float:
        return concavity.utilization_concavity(self.curve)

    @property
    def c_cc(self) -> float:
        return concavity.convex_concave(self.curve)

    def _of_one_rate(self, value: float | None) -> float:
        if value is None:
            raise UserError(f"{self.scenario} ({self.size}) has no single rate that could be its capacity")
        return value

    def _key(self, end: str) -> str:
        keys = series.all_keys((*self.results, *self.left_out))
        names = (end, end.replace("_", "."))
        matching = [key for key in keys if any(key == name or key.endswith(f".{name}") for name in names)]
        if len(matching) != 1:
            raise UserError(f"{self.scenario} ({self.size}) has no axis {end!r}; it has {', '.join(keys)}")
        return matching[0]


def both(one: Measured, other: Measured) -> Measured:
    """The results of two scenarios as those of one."""
    name = f"{one.scenario} and {other.scenario}"
    return replace(
        one,
        scenario=name,
        results=(*one.results, *other.results),
        left_out=(*one.left_out, *other.left_out),
    )


def known(value: T | None) -> T:
    """The value, which every result of the scenario must have. Raises UserError for None."""
    if value is None:
        raise UserError("a result lacks the value that its scenario measures; allowed: results of these scenarios")
    return value


def with_interval(values: Sequence[float], scale: float, unit: str) -> str:
    """The mean of what is never negative, with its 95 % t interval: "2.94 Gbit/s [2.90, 2.98]"; one value, or equal
    ones, have none.
    """
    mean = statistic.mean(values) * scale
    if len(values) < 2 or min(values) == max(values):
        return f"{mean:.3g} {unit}"
    interval = statistic.above_zero(statistic.t_interval(values)).scaled(scale)
    return f"{mean:.3g} {unit} [{interval.low:.3g}, {interval.high:.3g}]"


def gbit(values: Sequence[float]) -> str:
    return with_interval(values, 1e-9, "Gbit/s")


def mbit(values: Sequence[float]) -> str:
    return with_interval(values, 1e-6, "Mbit/s")
