"""The answer of a run in words: whether it can be used, from where to where the goodput goes, what changes it most, and
what limited it. Pure, no I/O.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..analysis import statistic
from ..analysis.series import full_goodput_bps, label, varied_keys
from ..codec.frozen import dataclass
from ..model.scenario import Params
from ..trial.result import TrialResult
from ..units import counted
from . import trust
from .stored_run import StoredRun

EFFECTS_MOST = 4
NONE = 0.01
"""A factor this close to 1 is no change."""


def verdict(run: StoredRun) -> dict[str, str]:
    """`level`, the worst that happened ("unfinished" if trials are missing), and `text`: how many trials are valid, why
    others are not, and whether the scenario's rules hold.
    """
    counts, total = trust.counts(run.results), len(run.results)
    broken = [each.rule.name for each in run.rules if each.outcome != "passed"]
    if not total:
        return {"level": "unfinished", "text": "No trial has a result."}
    text = f"{_shares(counts, total)} {_most_often(run.results)}".strip()
    if run.failures:
        text += f" {counted(len(run.failures), 'trial')} failed."
    if run.rules:
        held = len(run.rules) - len(broken)
        text += f" {held} of {counted(len(run.rules), 'rule')} {'holds' if held == 1 else 'hold'}"
        text += f", not {', '.join(broken)}." if broken else "."
    levels = {
        "invalid": counts["invalid"] or broken or run.failures,
        "suspect": counts["suspect"],
        "unfinished": run.missing,
    }
    return {"level": next((level for level, found in levels.items() if found), "valid"), "text": text}


def _shares(counts: Mapping[str, int], total: int) -> str:
    """Such as "16 of 18 trials are valid, 2 are invalid and left out."."""
    some = [(kind, count) for kind, count in counts.items() if count]
    if len(some) == 1:
        return f"The trial is {some[0][0]}." if total == 1 else f"All {total} trials are {some[0][0]}."
    words = [f"{'is' if count == 1 else 'are'} {kind}{' and left out' * (kind == 'invalid')}" for kind, count in some]
    first, *rest = zip((count for _, count in some), words, strict=True)
    return f"{first[0]} of {total} trials {first[1]}, {', '.join(f'{count} {word}' for count, word in rest)}."


def _most_often(results: Sequence[TrialResult]) -> str:
    """The reason that most of the trials have that are not valid."""
    reasons = [each for result in results for each in result.findings if each.verdict != "valid"]
    if not reasons:
        return ""
    ((check, count),) = Counter(each.check for each in reasons).most_common(1)
    first = next(each for each in reasons if each.check == check)
    return f"{'The reason' if count == len(reasons) else 'The most frequent reason'} is {check}: {first.text}."


@dataclass(frozen=True)
class Cell:
    """The trials that differ in the seed only, with their mean goodput."""

    params: Params
    goodputs_bps: tuple[float, ...]

    @property
    def mean_bps(self) -> float:
        return statistic.mean(self.goodputs_bps)


def cells(results: Sequence[TrialResult]) -> list[Cell]:
    """Those with a goodput that can be used, in the order of the results."""
    found: dict[Params, list[float]] = {}
    for each in results:
        if each.is_usable and each.goodput_bps is not None:
            found.setdefault(tuple(each.params.items()), []).append(each.goodput_bps)
    return [Cell(params, tuple(rates)) for params, rates in found.items()]


def sentences(results: Sequence[TrialResult], limits: Mapping[str, str]) -> list[str]:
    """One for each answer; `limits` has what limited a trial, by its id."""
    usable, known = [each for each in results if each.is_usable], cells(results)
    if not known:
        return list(_measured(results))
    every = effects(known, varied_keys(usable))
    changes = "; ".join(each.text for each in every if not each.is_none)
    none = ", ".join(each.words for each in every if each.is_none)
    found = Counter(limits[each.id] for each in usable)
    many = len(usable)
    words = ", ".join(f"{limit} in {'all' if count == many else count}" for limit, count in found.most_common())
    limited = f"What limited the {many} trials: {words}." if many > 1 else f"What limited it: {next(iter(found))}."
    return [
        _range(known, usable),
        *([f"What changes it, with all else the same (geometric mean): {changes}."] if changes else []),
        *([f"No change by more than {NONE:.0%}: {none}."] if none else []),
        limited,
    ]


def _range(known: Sequence[Cell], usable: Sequence[TrialResult]) -> str:
    full = full_goodput_bps(usable)
    if len(known) == 1:
        rates = known[0].goodputs_bps
        share = f", {known[0].mean_bps / full:.1%} of what the path can carry" if full else ""
        between = f" on the mean of {len(rates)} trials ({rate(min(rates))} to {rate(max(rates))})"
        return f"Goodput is {rate(known[0].mean_bps)}{between if len(rates) > 1 else ''}{share}."
    varied = varied_keys(usable)
    low, high = min(known, key=lambda cell: cell.mean_bps), max(known, key=lambda cell: cell.mean_bps)
    ends = [f"{rate(cell.mean_bps)} ({label(cell.params, varied)})" for cell in (low, high)]
    share = f"; a full path carries {rate(full)}" if full else ""
    return f"Goodput goes from {ends[0]} to {ends[1]}{share}."


@dataclass(frozen=True)
class Effect:
    """What another value of one parameter does, over all pairs of cells that are the same otherwise."""

    key: str
    before: str
    after: str
    ratios: tuple[float, ...]

    @property
    def factor(self) -> float:
        return math.exp(statistic.mean([math.log(each) for each in self.ratios]))

    @property
    def is_none(self) -> bool:
        return all(abs(each - 1) <= NONE for each in self.ratios)

    @property
    def words(self) -> str:
        return f"{self.key.rsplit('.', 1)[-1]} {self.before} → {self.after}"

    @property
    def text(self) -> str:
        """Such as "congestion cubic → bbr × 3.1 (1 to 31 in 8 pairs of cells)"."""
        low, high = (f"{each:.2g}" for each in (min(self.ratios), max(self.ratios)))
        spread = f" ({low} to {high} in {len(self.ratios)} pairs of cells)" if low != high else ""
        return f"{self.words} × {self.factor:.2g}{spread}"


def effects(known: Sequence[Cell], varied: Sequence[str]) -> list[Effect]:
    """The largest first. A parameter counts from its first to its last value, in the order of the scenario."""
    found = [each for key in varied for each in _effect(known, key)]
    return sorted(found, key=lambda each: -abs(math.log(each.factor)))[:EFFECTS_MOST]


def _effect(known: Sequence[Cell], key: str) -> Iterator[Effect]:
    values = list(dict.fromkeys(value for cell in known for name, value in cell.params if name == key))
    others: dict[Params, dict[str, float]] = {}
    for cell in known:
        rest = tuple(item for item in cell.params if item[0] != key)
        others.setdefault(rest, {})[dict(cell.params).get(key, "")] = cell.mean_bps
    ends = values[0], values[-1]
    pairs = [(found[ends[0]], found[ends[1]]) for found in others.values() if {*ends} <= {*found}]
    ratios = tuple(after / before for before, after in pairs if before > 0 and after > 0)
    if len(values) > 1 and ratios:
        yield Effect(key, *ends, ratios)


def _measured(results: Sequence[TrialResult]) -> Iterator[str]:
    """Without any goodput: the first numbers that tools measured, each from its least to its most. Those that differ
    among trials come first.
    """
    numbers: dict[str, list[float]] = {}
    for each in results:
        for name, value in trust.measured(each).items():
            if each.verdict != "invalid" and isinstance(value, int | float) and not isinstance(value, bool):
                numbers.setdefault(name, []).append(value)
    first = sorted(numbers.items(), key=lambda item: len({*item[1]}) == 1)[:EFFECTS_MOST]
    told = [f"{name} {_span(values)}" for name, values in first]
    yield f"No trial has a goodput that can be used{'; measured: ' + ', '.join(told) if told else ''}."


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def scaled_rate(most_bps: float) -> tuple[float, str]:
    """What bit/s are divided by, and the unit that makes it."""
    for scale, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if most_bps >= scale:
            return scale, unit
    return 1.0, "bit/s"


def rate(bps: float) -> str:
    """With four digits: "9.475 Gbit/s"."""
    scale, unit = scaled_rate(bps)
    return f"{bps / scale:.4g} {unit}"
