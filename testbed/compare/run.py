"""A comparison of two runs, or of two suites: each metric of each cell judged, what is lost named. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Literal, TypeAlias

import numpy as np

from ..analysis.metric import METRICS
from ..analysis.paired import CellComparison
from ..analysis.series import label
from ..analysis.significance import within
from ..analysis.statistic import LEVEL
from ..codec.frozen import dataclass
from ..error import UserError, one_of
from ..model.scenario import Params
from . import look, setting
from .across import Across, look_worse, originals
from .look import Looks, Terms
from .pairing import Cell, Gap, GapKind, Pair, Pairing, pair
from .side import Measured, Side, primary_of, rare_of

TOLERANCE = 0.03
PARTED = "goodput"
"""The metric of which a trial's parts say how it varies."""

NOT_MEASURED = "not measured before the budget ended"
"""Why a suite lacks a cell on both sides."""

Outcome: TypeAlias = Literal["worse", "lost", "cannot tell", "better", "same"]
SEVERITY: tuple[Outcome, ...] = ("worse", "lost", "cannot tell", "better", "same")
"""What a comparison comes to: the first of these that is found."""


@dataclass(frozen=True)
class CellKey:
    """A metric of a cell."""

    params: Params
    metric: str
    scenario: str = ""

    @property
    def cell(self) -> Cell:
        return Cell(self.scenario, self.params)


@dataclass(frozen=True)
class RunComparison:
    """`cells` are in the order of the base, one metric after another; `labels` name each cell by what varies.

    `gaps` are trials and values that a side lacks. `primary` is the metric that decides, by scenario; the others are
    secondary. `differences` are the settings in which the sides differ, as text. `without_noise` are the cells in which
    all seeds of the base give the same result, `metrics` those that were compared, `unmeasured` those for which no pair
    has a value. `doubtful` are the cells in which at most half of the pairs are without a suspect trial: they are never
    the same or better. `sds` are the standard deviations of a cell's own base that do not matter, `rare` the share of
    trials that may differ, by scenario. `within` are told apart by the variation within their trials. `wall_s` is how
    long the trials of a cell took, on both sides together, one after the other. `across` are the secondary metrics that
    look worse over all cells together; a part of a comparison has none of its own.
    """

    base: str
    candidate: str
    tolerance: float
    cells: tuple[CellComparison[CellKey], ...]
    labels: Mapping[Cell, str]
    primary: Mapping[str, str]
    gaps: tuple[Gap, ...]
    differences: tuple[str, ...]
    without_noise: tuple[str, ...]
    unmeasured: tuple[str, ...]
    suspect: tuple[str, ...]
    metrics: tuple[str, ...]
    looks: Looks | None = None
    doubtful: frozenset[Cell] = frozenset()
    sds: float = 0.0
    rare: Mapping[str, float] = field(default_factory=dict)
    within: frozenset[CellKey] = frozenset()
    wall_s: Mapping[Cell, float] = field(default_factory=dict)
    across: tuple[Across, ...] = ()

    def is_primary(self, key: CellKey) -> bool:
        """Whether it decides: the primary metric of its scenario, or any if that is not among those compared."""
        return _is_primary(key, self.primary, self.metrics)

    @property
    def lost(self) -> tuple[Gap, ...]:
        return tuple(gap for gap in self.gaps if gap.kind == "lost")

    @property
    def undecided(self) -> tuple[CellComparison[CellKey], ...]:
        """The primary cells of which nothing was shown."""
        return tuple(each for each in self.cells if each.verdict == "cannot tell" and self.is_primary(each.key))

    @property
    def looks_worse(self) -> tuple[CellComparison[CellKey], ...]:
        """What is undecided though the t-test finds it worse: few seeds may be on two levels by chance, and an interim
        analysis may err less.
        """
        return tuple(each for each in self.cells if each.verdict == "cannot tell" and each.by_test == "worse")

    @property
    def unmeasured_cells(self) -> tuple[Cell, ...]:
        """Those that a suite has, and that were not measured before its budget ended."""
        return tuple(gap.cell for gap in self.gaps if gap.why == (NOT_MEASURED,))

    @property
    def verdict(self) -> Outcome:
        """worse, if any metric of any cell is; lost, if the candidate lacks anything; cannot tell, if a primary metric
        of any cell is undecided, or another looks worse (also over all cells), or a cell that the base should have has
        no pair; better, if anything is.
        """
        found = {each.verdict for each in self.cells if each.verdict != "cannot tell" or self.is_primary(each.key)}
        found |= {each.verdict for each in self.looks_worse} | {"cannot tell" for _ in self.across}
        gaps = {
            "lost" if gap.kind == "lost" else "cannot tell"
            for gap in self.gaps
            if gap.kind == "lost" or gap.is_undecided
        }
        return next((each for each in SEVERITY if each in found | gaps), "cannot tell")

    def label(self, cell: Cell) -> str:
        """A cell in words, with its scenario if the comparison is of a suite."""
        return _named(cell, self.labels)


def compare(
    base: Side,
    candidate: Side,
    tolerance: float = TOLERANCE,
    metrics: Sequence[str] | None = None,
    axis: Sequence[str] = (),
    ignored: Sequence[str] = (),
    level: float = LEVEL,
    looks: Looks | None = None,
    is_named: bool = False,
    sds: float = 0.0,
) -> RunComparison:
    """Judge each metric of each cell of all scenarios together. `axis` are the parameters in which the two sides
    differ; cells do not have them.

    `ignored` are settings that may differ; `level` is that of the whole comparison, `looks` are those that were made
    at it; None for a comparison of all there is, once. If somebody named the metrics (`is_named`), those that no trial
    has are told of, also where only another workload could have them. Raises UserError if nothing can be
    paired, or if the sides differ in a setting that is neither in `setting.SUBJECTS` nor in `ignored`.
    """
    metrics = tuple(METRICS if metrics is None else metrics)
    apart_from = axis or apart(base, candidate)
    paired = pair(base, candidate, apart_from)
    names = (base.name, candidate.name)
    all_pairs = [each for pairs in paired.cells.values() for each in pairs]
    primary = {scenario: primary_of(base, candidate, scenario) for scenario in {**base.runs, **candidate.runs}}
    samples, gaps = _samples(paired, metrics, primary)
    if not samples and not any(gap.kind == "lost" for gap in (*paired.gaps, *gaps)):
        raise UserError(f"no pair of trials has a value of {', '.join(metrics)}; allowed: {one_of([*METRICS], '')}")
    labels = _labels([*paired.asked])
    doubtful = frozenset(cell for cell, pairs in paired.cells.items() if _is_doubtful(pairs))
    rare = {scenario: rare_of(base, candidate, scenario) for scenario in primary}
    question = Terms(tolerance, sds, rare, exact_cells(paired, (base, candidate), apart_from))
    judged = _judged(samples, paired, metrics, question, primary, level, looks)
    told = {} if looks is not None else _within(judged, paired, primary, metrics)
    found = RunComparison(
        base=base.name,
        candidate=candidate.name,
        tolerance=tolerance,
        cells=tuple(
            replace(each, verdict="cannot tell")
            if each.key.cell in doubtful and each.verdict in ("same", "better")
            else told.get(each.key, each)
            for each in judged
        ),
        labels=labels,
        primary=primary,
        gaps=(*paired.gaps, *gaps),
        differences=() if axis else (*setting.differences(all_pairs, names, ignored), *_primaries(base, candidate)),
        without_noise=tuple(_named(cell, labels) for cell in paired.cells if _is_without_noise(cell, samples)),
        unmeasured=tuple(
            name
            for name in metrics
            if not any(key.metric == name for key in samples) and (is_named or METRICS[name].only is None)
        ),
        suspect=tuple(
            f"{word}: {': '.join(filter(None, [scenario, each.result.id]))}"
            for word, side in (("base", base), ("candidate", candidate))
            for scenario, run in side.runs.items()
            for each in run.trials
            if each.result.verdict == "suspect"
        ),
        metrics=metrics,
        looks=looks,
        doubtful=doubtful,
        sds=sds,
        rare=rare,
        within=frozenset(told),
        wall_s={
            cell: sum(each.result.wall_s for both in pairs for each in both) for cell, pairs in paired.cells.items()
        },
    )
    return replace(found, across=_across(found, originals(paired.cells, tolerance)))


def _across(found: RunComparison, originals: Mapping[Cell, Cell]) -> tuple[Across, ...]:
    """The secondary metrics that look worse over all cells together, if no cell is worse in them, or looks so."""
    told = {each.key.metric for each in found.cells if "worse" in (each.verdict, each.by_test)}
    others = [each for each in found.cells if each.key.metric not in told and not found.is_primary(each.key)]
    named = ((each.key.metric, each) for each in others)
    return look_worse(named, found.tolerance, lambda key: originals[key.cell])


def with_unmeasured(found: RunComparison, cells: Mapping[Cell, str]) -> RunComparison:
    """The comparison with cells of other scenarios that were not measured, each with the metric that would decide: so
    it is not the same or better.
    """
    gaps = tuple(Gap("absent", cell, None, (), 0, 0, (NOT_MEASURED,), is_whole=True) for cell in cells)
    return replace(
        found,
        gaps=(*found.gaps, *gaps),
        labels={**found.labels, **_labels([*cells])},
        primary={**found.primary, **{cell.scenario: metric for cell, metric in cells.items()}},
    )


def exact_cells(paired: Pairing, sides: Sequence[Side], apart_from: Sequence[str]) -> frozenset[Cell]:
    """The cells in which nothing is random: nothing is drawn from a seed, and all trials of a side came out the same,
    also those without a partner. Their parameters are all but `apart_from`.
    """
    first: dict[tuple[int, str, frozenset[tuple[str, str]]], Measured] = {}
    varied = set()
    for number, side in enumerate(sides):
        for scenario, run in side.runs.items():
            for each in run.trials:
                params = frozenset((key, text) for key, text in each.result.params.items() if key not in apart_from)
                one = first.setdefault((number, scenario, params), each)
                if each.is_drawn or each.metrics != one.metrics or each.result.verdict == "invalid":
                    varied.add((scenario, params))
    return frozenset(cell for cell in paired.cells if (cell.scenario, frozenset(cell.params or ())) not in varied)


def _within(
    judged: Sequence[CellComparison[CellKey]], paired: Pairing, primary: Mapping[str, str], metrics: Sequence[str]
) -> dict[CellKey, CellComparison[CellKey]]:
    """Of goodputs that fewer than three pairs do not tell apart, those that each trial's parts show to be worse."""
    goodputs = [each for each in judged if each.key.metric == PARTED and _is_primary(each.key, primary, metrics)]
    found = {}
    for each in goodputs:
        if each.verdict != "cannot tell" or each.effect > 0 or each.pairs >= look.LEAST or each.base == 0:
            continue
        pairs = [tuple(np.array(one.parts) for one in both) for both in paired.cells[each.key.cell]]
        p = max(within.p(*both) for both in pairs) * len(goodputs) / within.ERROR * (1 - LEVEL)
        if p < 1 - LEVEL:
            found[each.key] = replace(each, verdict="worse", p=p)
    return found


def _is_doubtful(pairs: Sequence[Pair]) -> bool:
    suspect = sum(any(each.result.verdict == "suspect" for each in both) for both in pairs)
    return 2 * suspect >= len(pairs)


Samples: TypeAlias = Mapping[CellKey, tuple[list[float], list[float]]]


def _samples(paired: Pairing, metrics: Sequence[str], primary: Mapping[str, str]) -> tuple[Samples, list[Gap]]:
    """The values of each metric of each cell, side by side, and those that a side lacks."""
    samples: dict[CellKey, tuple[list[float], list[float]]] = {}
    gaps: list[Gap] = []
    for cell, pairs in paired.cells.items():
        for metric in metrics:
            assert cell.params is not None, "BUG: pairs of no cell"
            key = CellKey(cell.params, metric, cell.scenario)
            both = [(one.metrics[metric], other.metrics[metric]) for one, other in pairs]
            known = [(a, b) for a, b in both if a is not None and b is not None]
            if known:
                samples[key] = ([a for a, _ in known], [b for _, b in known])
            gaps += _value_gaps(cell, metric, pairs, is_needed=_is_primary(key, primary, metrics))
    return samples, gaps


def _value_gaps(cell: Cell, metric: str, pairs: Sequence[Pair], *, is_needed: bool) -> list[Gap]:
    """Values that one side has. That neither has one is a gap where some pairs have it, or the metric `is_needed`."""
    has = [tuple(each.metrics[metric] is not None for each in both) for both in pairs]
    counts = (sum(first for first, _ in has), sum(second for _, second in has))
    seeds = [one.result.seed for one, _ in pairs]
    is_whole = (True, True) not in has
    gaps = []
    for kind, mine in (("lost", (True, False)), ("new", (False, True))):
        if mine in has:
            gone = tuple(seed for seed, each in zip(seeds, has, strict=True) if each == mine)
            found: GapKind = "lost" if kind == "lost" else "new"
            gaps.append(Gap(found, cell, metric, gone, *counts, is_whole=is_whole, is_due=is_needed))
    nowhere = tuple(seed for seed, each in zip(seeds, has, strict=True) if not any(each))
    if nowhere and (is_needed or not is_whole):
        gaps.append(Gap("absent", cell, metric, nowhere, *counts, is_whole=is_whole and not gaps))
    return gaps


def _judged(
    samples: Samples,
    paired: Pairing,
    metrics: Sequence[str],
    terms: Terms,
    primary: Mapping[str, str],
    level: float,
    looks: Looks | None,
) -> list[CellComparison[CellKey]]:
    """Verdicts by one family of primary cells, and secondary ones. What nothing showed is not the same."""
    if looks is not None:
        last = look.of_last(looks, samples, terms, lambda key: _is_primary(key, primary, metrics))
        plain = look.compared(samples, terms, looks.level, lambda key: _is_primary(key, primary, metrics))
        by_test = {each.key: each.by_test for each in plain}
        return [replace(each, by_test=by_test[each.key]) for each in last]
    found = look.compared(samples, terms, level, lambda key: _is_primary(key, primary, metrics))
    return [
        replace(each, verdict="cannot tell")
        if each.verdict == "same" and _shows_nothing(each, paired.asked[each.key.cell])
        else each
        for each in found
    ]


def _shows_nothing(each: CellComparison[CellKey], asked: int) -> bool:
    """Whether a cell is the same for want of anything to tell apart: one pair of several seeds, or nothing on both
    sides of what there should be more of.
    """
    return (each.pairs == 1 < asked) or (METRICS[each.key.metric].is_more_better and each.base == each.candidate == 0)


def _primaries(base: Side, candidate: Side) -> tuple[str, ...]:
    """Where the sides say that different metrics are primary: that of the base is."""
    both = [(base.runs[each].primary, candidate.runs[each].primary) for each in base.runs if each in candidate.runs]
    return tuple(dict.fromkeys(f"primary: {one} → {other}" for one, other in both if one and other and one != other))


def _is_primary(key: CellKey, primary: Mapping[str, str], metrics: Sequence[str]) -> bool:
    return primary[key.scenario] == key.metric or primary[key.scenario] not in metrics


def apart(base: Side, candidate: Side) -> list[str]:
    """The kernel axis, if each side has a single kernel: then it tells the sides apart, not the cells."""
    values = [{each.result.params.get("kernel") for each in side.trials} for side in (base, candidate)]
    return ["kernel"] if all(len(kernels) == 1 for kernels in values) else []


def _is_without_noise(cell: Cell, samples: Samples) -> bool:
    """Whether the base has several seeds, and all of them give the same value of every metric."""
    mine = [base for key, (base, _) in samples.items() if key.cell == cell]
    return any(len(base) > 1 for base in mine) and all(np.ptp(base) == 0 for base in mine)


def _labels(cells: Sequence[Cell]) -> dict[Cell, str]:
    """Each cell in words, by what varies in its scenario."""
    found: dict[Cell, str] = {}
    for scenario in dict.fromkeys(cell.scenario for cell in cells):
        mine = {cell: cell.params or () for cell in cells if cell.scenario == scenario}
        keys = list(dict.fromkeys(key for params in mine.values() for key, _ in params))
        varied = [key for key in keys if len({dict(params).get(key) for params in mine.values()}) > 1]
        plain = scenario and len(mine) == 1
        found |= {cell: "" if plain else label(params, varied) for cell, params in mine.items()}
    return found


def _named(cell: Cell, labels: Mapping[Cell, str]) -> str:
    """A cell in words, with its scenario if there are several."""
    return ": ".join(filter(None, [cell.scenario, labels.get(cell, "")])) or "all"
