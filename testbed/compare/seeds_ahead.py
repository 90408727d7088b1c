"""How many seeds a comparison of a run will need, by the noise of what one side has measured. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

from ..analysis.metric import METRICS
from ..analysis.paired import PRIMARY_SHARE
from ..analysis.significance import noise, power
from ..analysis.statistic import LEVEL, FloatArray, checked
from ..codec.frozen import dataclass
from ..model.run_setting import PRIMARY
from .look import FEWEST, Terms
from .side import Side


@dataclass(frozen=True)
class SeedsAhead:
    """How many `seeds` let all `cells` come out as the same in 80 % of cases, if nothing changed and both sides are as
    noisy, in each cell, as this one; None if no number does. `known` is of how many cells the noise is known.
    """

    cells: int
    known: int
    seeds: int | None

    @property
    def text(self) -> str:
        many = "all" if self.known == self.cells else f"{self.known} of"
        what = f"{many} {self.cells} primary cells" if self.cells > 1 else "the one primary cell"
        if self.seeds is None:
            return f"no number of seeds shows in {what} that nothing changed"
        return f"about {self.seeds} seeds show in {what} that nothing changed, in 80 % of cases"


def seeds_ahead(side: Side, terms: Terms) -> SeedsAhead | None:
    """By the primary metric of each cell. None if no cell has two values."""
    values = _values(side)
    known = {key: checked(each) for key, each in values.items() if len(each) >= FEWEST}
    if not known:
        return None
    by_metric: dict[str, list[_Key]] = {}
    for key in known:
        by_metric.setdefault(key.metric, []).append(key)
    noisy = [
        (sd, _margin(key, known[key], sd, terms))
        for keys in by_metric.values()
        for key, sd in zip(keys, noise.typical([known[key] for key in keys]), strict=True)
        if sd
    ]
    least = max(noise.seeds_for(0, terms.rare.get(key.scenario, 1.0), FEWEST) for key in known)
    if not noisy:
        return SeedsAhead(len(values), len(known), least)
    if any(margin <= 0 for _, margin in noisy):
        return SeedsAhead(len(values), len(known), None)
    shares = [math.sqrt(2) * sd / margin for sd, margin in noisy]
    unknown = [max(shares)] * (len(values) - len(known))
    found = power.seeds_for_all(shares + unknown, PRIMARY_SHARE * (1 - LEVEL) / len(values), 1 - LEVEL)
    return SeedsAhead(len(values), len(known), found and max(found, least))


@dataclass(frozen=True)
class _Key:
    scenario: str
    cell: Hashable
    metric: str


def _values(side: Side) -> Mapping[_Key, list[float]]:
    found: dict[_Key, list[float]] = {}
    for scenario, run in side.runs.items():
        metric = run.primary or PRIMARY
        for each in run.trials:
            value = each.metrics.get(metric)
            if value is not None and each.result.verdict != "invalid":
                found.setdefault(_Key(scenario, frozenset(each.result.params.items()), metric), []).append(value)
    return found


def _margin(key: _Key, samples: FloatArray, sd: float, terms: Terms) -> float:
    metric = METRICS[key.metric]
    share, sds = (terms.tolerance, terms.sds) if metric.is_relative else (0.0, 0.0)
    return max(share * abs(float(samples.mean())), metric.least, sds * sd)
