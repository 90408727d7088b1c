"""What a scenario measured, as rows look at it: results by parameter, profiles, means with intervals. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from ..analysis import concavity, model, statistic
from ..analysis.concavity import Curve
from ..analysis.profile import ThroughputProfile
from ..error import UserError
from ..result import TrialResult

Size: TypeAlias = Literal["quick", "full"]


@dataclass(frozen=True)
class Measured:
    """The results of a scenario that are not invalid; `invalid` counts the others."""

    scenario: str
    size: Size
    results: tuple[TrialResult, ...]
    invalid: int = 0

    @classmethod
    def of(cls, scenario: str, size: Size, results: Sequence[TrialResult]) -> Measured:
        usable = tuple(each for each in results if each.verdict != "invalid")
        return cls(scenario, size, usable, len(results) - len(usable))

    def only(self, **params: str) -> Measured:
        """Those with these parameters; a key is the end of an axis's ("loss" for path.loss), with _ for dots."""
        wanted = {self._key(end): text for end, text in params.items()}
        found = tuple(
            each for each in self.results if all(each.data["params"].get(k) == text for k, text in wanted.items())
        )
        if not found:
            said = ", ".join(f"{key} = {text}" for key, text in wanted.items())
            raise UserError(f"{self.scenario} ({self.size}) has no usable trial with {said}")
        return replace(self, results=found)

    def has(self, **params: str) -> bool:
        return all(text in self.values_of(end) for end, text in params.items())

    def values_of(self, end: str) -> tuple[str, ...]:
        """The values of an axis that occur, in the order of the results."""
        key = self._key(end)
        return tuple(dict.fromkeys(each.data["params"][key] for each in self.results if key in each.data["params"]))

    def split(self, end: str) -> dict[str, Measured]:
        """One part for each value of an axis."""
        return {text: self.only(**{end: text}) for text in self.values_of(end)}

    def numbers(self, read: Callable[[Mapping[str, Any]], float | None]) -> list[float]:
        """What `read` finds in each result; results without it are left out."""
        return [value for each in self.results if (value := read(each.data)) is not None]

    @property
    def goodputs_bps(self) -> list[float]:
        return self.numbers(lambda data: data["goodput_bps"])

    @property
    def mean_bps(self) -> float:
        return statistic.mean(self.goodputs_bps)

    @property
    def capacity_bps(self) -> float:
        """The path's rate. Raises UserError if it is not the same for all."""
        rates = {each.data["asked"]["rate_bps"] for each in self.results}
        if len(rates) != 1 or None in rates:
            raise UserError(f"{self.scenario} ({self.size}) has no single rate that could be its capacity")
        return float(rates.pop())

    @property
    def line_rate_bps(self) -> float:
        """The goodput of a full link, headers taken off."""
        return model.line_rate_limit_bps(self.capacity_bps)

    @property
    def profile(self) -> ThroughputProfile:
        """Mean goodput over RTT, with the repetitions behind it."""
        samples: dict[float, list[float]] = {}
        for each in self.results:
            if each.data["goodput_bps"] is not None:
                samples.setdefault(each.data["asked"]["rtt_s"], []).append(each.data["goodput_bps"])
        return ThroughputProfile.of_samples(samples)

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

    def _key(self, end: str) -> str:
        keys: dict[str, None] = dict.fromkeys(key for each in self.results for key in each.data["params"])
        name = end if any(key.endswith(end) for key in keys) else end.replace("_", ".")
        found = [key for key in keys if key == name or key.endswith(f".{name}")]
        if len(found) != 1:
            raise UserError(f"{self.scenario} ({self.size}) has no axis {name!r}; it has {', '.join(keys)}")
        return found[0]


def with_interval(values: Sequence[float], scale: float, unit: str) -> str:
    """The mean with its 95 % t interval, "2.94 Gbit/s [2.90, 2.98]"; one value, or equal ones, have none."""
    mean = statistic.mean(values) * scale
    if len(values) < 2 or min(values) == max(values):
        return f"{mean:.3g} {unit}"
    interval = statistic.t_interval(values).scaled(scale)
    return f"{mean:.3g} {unit} [{interval.low:.3g}, {interval.high:.3g}]"


def gbit(values: Sequence[float]) -> str:
    return with_interval(values, 1e-9, "Gbit/s")


def mbit(values: Sequence[float]) -> str:
    return with_interval(values, 1e-6, "Mbit/s")
