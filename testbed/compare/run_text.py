"""Comparisons of runs as text: rows and notes of a table, the headline, Markdown and JSON. Pure, no I/O."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..analysis.metric import METRICS
from ..analysis.paired import CellComparison
from ..analysis.significance.within import APART
from ..analysis.statistic import Interval
from ..codec.markup import escaped
from ..units import counted
from . import look_text
from .headline import effect_text, headline, tolerance_text
from .pairing import Gap, GapKind
from .run import CellKey, RunComparison

Row = tuple[str, ...]

NAMED_MAX = 3
"""More cells or seeds than that are counted in a note."""
ROWS_MAX = 40
"""Of more rows, those of secondary metrics that show nothing are left out on a terminal."""
DULL = ("same", "cannot tell")
TRIALS = "trials"
WHERE: dict[GapKind, str] = {
    "lost": "the candidate lacks",
    "new": "the base lacks",
    "absent": "both sides lack",
    "spare": "a side did not need",
}
DOUBTFUL = "half of its pairs or more have a suspect trial, and these do not show that nothing got worse"
NONE = "-"
TWICE = "100 %"
OVER = f"over {TWICE}"
ACROSS = "looks worse over all cells"

RUN_HEADERS = (
    "cell",
    "metric",
    "base",
    "candidate",
    "difference",
    "95 % interval",
    "noise",
    "p",
    "seeds",
    "could be seen",
    "may differ",
    "tolerance",
    "verdict",
)


def run_rows(comparison: RunComparison) -> list[Row]:
    """A row for each metric of each cell, and for each gap; relative differences, or in the metric's unit where the
    base is 0.
    """
    places = {cell: number for number, cell in enumerate(comparison.labels)}
    rows = [(places[each.key.cell], run_row(comparison, each)) for each in comparison.cells]
    rows += [(places.get(gap.cell, len(places)), gap_row(comparison, gap)) for gap in comparison.gaps]
    return [row for _, row in sorted(rows, key=lambda each: each[0])]


def told_rows(comparison: RunComparison) -> tuple[list[Row], list[str]]:
    """The rows to show where room is short, and a note on the others: of many, secondary metrics that show nothing."""
    rows = run_rows(comparison)
    told = {each.key for each in comparison.looks_worse}
    dull = [
        each
        for each in comparison.cells
        if each.verdict in DULL and each.key not in told and not comparison.is_primary(each.key)
    ]
    if len(rows) <= ROWS_MAX or not dull:
        return rows, []
    gone = {run_row(comparison, each) for each in dull}
    counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(each.verdict for each in dull).items())
    note = f"not shown: secondary metrics of cells that show nothing: {counts} (--format json lists them)"
    return [row for row in rows if row not in gone], [note]


def run_row(comparison: RunComparison, each: CellComparison[CellKey]) -> Row:
    metric = METRICS[each.key.metric]
    return (
        comparison.label(each.key.cell),
        metric.title,
        metric.text(each.base),
        metric.text(each.candidate),
        effect_text(each),
        _interval(each),
        NONE if each.noise_floor is None else f"±{100 * each.noise_floor:.1f} %",
        NONE if each.p is None else f"{each.p:.2g}",
        str(each.pairs),
        _could_be_seen(each) if each.verdict == "cannot tell" else NONE,
        _may_differ(each),
        _tolerance(each),
        each.verdict,
    )


def gap_row(comparison: RunComparison, gap: Gap) -> Row:
    """How many trials, or values of a metric, each side has."""
    what = TRIALS if gap.metric is None else f"{gap.metric} values"
    counts = (str(gap.base), str(gap.candidate), f"{gap.candidate - gap.base:+d}")
    unknown = (NONE,) * 3 if gap.kind == "absent" else counts
    verdict = "cannot tell" if gap.kind == "absent" or gap.is_undecided else gap.kind
    return (
        comparison.label(gap.cell),
        what,
        *unknown,
        NONE,
        NONE,
        NONE,
        str(len(gap.seeds)) if gap.seeds else NONE,
        NONE,
        NONE,
        NONE,
        verdict,
    )


def run_notes(comparison: RunComparison) -> list[str]:
    """Notes on the table: differences, what is lost, what could be seen, cells without noise."""
    notes = [] if comparison.looks is None else [look_text.note(comparison.looks)]
    notes += [f"the sides differ in {difference}" for difference in comparison.differences]
    notes += [f"{gap.kind}: {gap_text(comparison, gap)}" for gap in comparison.gaps]
    notes += [
        f"cannot tell: {comparison.label(each.key.cell)}: {each.key.metric}: "
        + (
            DOUBTFUL
            if each.key.cell in comparison.doubtful
            else _undecided(each, comparison.rare.get(each.key.scenario, 1.0))
        )
        for each in comparison.undecided
    ]
    notes += [
        f"looks worse: {comparison.label(each.key.cell)}: {_looks_worse(each)}" for each in comparison.looks_worse
    ]
    notes += [
        f"{ACROSS}: {each.metric}: {100 * each.effect:+.1f} % in the mean of {each.cells} cells, "
        f"{each.worse} of which are beyond the tolerance in this direction; no cell tells by itself"
        for each in comparison.across
    ]
    notes += _cheapest(comparison)
    if same := [each for each in comparison.cells if each.verdict == "same" and comparison.is_primary(each.key)]:
        most = max(same, key=lambda each: each.may_differ)
        notes.append(
            f"same is said of means: up to {100 * most.may_differ:.0f} % of trials may differ from all that the base's "
            f"do, of which {counted(most.pairs, 'seed')} need not show one ({comparison.label(most.key.cell)})"
        )
    notes += _special(comparison)
    if limited := sum(each.is_by_levels for each in comparison.cells):
        notes.append(
            f"p of {counted(limited, 'row')} is not that of the t-test, which is less, but the chance that two levels, "
            "between which trials switch at random, tell so few seeds apart"
        )
    if comparison.without_noise:
        cells = _few(comparison.without_noise, "; ")
        notes.append(
            f"all seeds of the base give the same result in: {cells}. Nothing is random in these cells, so the noise "
            "floor is 0 and a difference is that of a single case"
        )
    notes += [f"suspect: {id}" for id in comparison.suspect]
    notes += [f"no trial has a value of {name}: {METRICS[name].what}" for name in comparison.unmeasured]
    return notes


def _special(comparison: RunComparison) -> list[str]:
    """What is judged in another way than by a t-test, and with a cell's own tolerance."""
    found = []
    if exact := list(dict.fromkeys(comparison.label(each.key.cell) for each in comparison.cells if each.is_exact)):
        found.append(
            f"exact: nothing is random in {_few(exact, '; ')}, so the difference has no error. It is that of this "
            "network as it is: a microsecond more may have as much effect, and a jitter shows it"
        )
    if comparison.within:
        cells = _few([comparison.label(key.cell) for key in comparison.within], "; ")
        found.append(
            f"told apart by the variation within the trials, with too few seeds for that between them: {cells}. Levels "
            f"that hold for a whole trial are taken to be less than {APART:g} times apart"
        )
    if comparison.sds:
        shares = [each.margin / abs(each.base) for each in comparison.cells if each.base and _is_own(comparison, each)]
        most = f", {100 * max(shares):.3g} % of the base at most" if shares else ""
        found.append(
            f"tolerance: {tolerance_text(comparison)}, where sd is that of a trial of the base in the same cell{most}; "
            "a cell that is the same is so within the tolerance in its row"
        )
    return found


def _is_own(comparison: RunComparison, each: CellComparison[CellKey]) -> bool:
    return METRICS[each.key.metric].is_relative and comparison.is_primary(each.key)


def _cheapest(comparison: RunComparison) -> list[str]:
    """Where several cells are undecided: those that the fewest seeds decide, and how many seeds the suite needs."""
    known = [each for each in comparison.undecided if _more_seeds(each) and each.key.cell not in comparison.doubtful]
    if len(known) < 2:
        return []
    known.sort(key=lambda each: each.seeds_needed or 0)
    first = [f"{comparison.label(each.key.cell)} ({each.seeds_needed} seeds)" for each in known[:NAMED_MAX]]
    primary = [each for each in comparison.cells if comparison.is_primary(each.key)]
    every = max(each.seeds_for_all or 0 for each in primary)
    return [
        f"the cheapest to decide: {'; '.join(first)}. If nothing changed, {every} seeds show it in all {len(primary)} "
        "primary cells, in 80 % of cases"
    ]


def _looks_worse(each: CellComparison[CellKey]) -> str:
    return (
        f"{each.key.metric} {effect_text(each)} is worse by the t-test, but {each.pairs} seeds may be on "
        "two levels by chance, or this analysis may err less"
    )


def gap_text(comparison: RunComparison, gap: Gap) -> str:
    """What a side lacks, of what, and why."""
    if not gap.seeds:
        return f"{comparison.label(gap.cell)}: {_few(gap.why, '; ')}"
    many = counted(len(gap.seeds), "value" if gap.metric else "trial") + (f" of {gap.metric}" if gap.metric else "")
    seeds = [f"seed {seed}" for seed in gap.seeds if gap.cell.params is not None]
    listed = f" ({_few(seeds, ', ')})" if seeds else ""
    why = f": {_few(gap.why, '; ')}" if gap.why else ""
    where = WHERE[gap.kind]
    return f"{comparison.label(gap.cell)}: {where} {many}{listed}{why}"


def run_summary(comparison: RunComparison) -> str:
    counts = Counter(each.verdict for each in comparison.cells)
    listed = [
        f"{counts[verdict]} {verdict}" for verdict in ("better", "same", "worse", "cannot tell") if counts[verdict]
    ]
    listed += [f"{text} {kind}" for kind in WHERE if (text := _gap_counts(comparison.gaps, kind))]
    return f"overall: {comparison.verdict} ({', '.join(listed)}; tolerance {tolerance_text(comparison)})"


def _gap_counts(gaps: Sequence[Gap], kind: str) -> str:
    mine = [gap for gap in gaps if gap.kind == kind]
    cells = sum(gap.is_whole and gap.metric is None for gap in mine)
    trials, values = (
        sum(len(gap.seeds) for gap in mine if (gap.metric is None) == is_trial) for is_trial in (True, False)
    )
    counts = ((cells, "cell"), (trials, "trial"), (values, "value"))
    return " and ".join(counted(count, noun) for count, noun in counts if count)


def markdown(headers: Row, rows: Sequence[Row], before: Sequence[str] = (), after: Sequence[str] = ()) -> str:
    """A table in GitHub's Markdown, with paragraphs before and a list after it."""
    lines = [*(line + "\n" for line in before), _line(headers), _line(["---"] * len(headers)), *map(_line, rows)]
    return "\n".join([*lines, *(["", *(f"- {escaped(note)}" for note in after)] if after else [])]) + "\n"


def run_markdown(comparison: RunComparison) -> str:
    names = f"**{escaped(comparison.candidate)}** against **{escaped(comparison.base)}**"
    head = [f"{names}: {escaped(run_summary(comparison))}", escaped(headline(comparison))]
    return markdown(RUN_HEADERS, run_rows(comparison), head, run_notes(comparison))


def run_json(comparison: RunComparison) -> str:
    cells = [
        {
            "scenario": each.key.scenario,
            "params": dict(each.key.params),
            "metric": each.key.metric,
            "unit": METRICS[each.key.metric].base_unit,
            "is_primary": comparison.is_primary(each.key),
            "is_within_trials": each.key in comparison.within,
            **{key: value for key, value in asdict(each).items() if key != "key"},
        }
        for each in comparison.cells
    ]
    whole: dict[str, Any] = {
        "base": comparison.base,
        "candidate": comparison.candidate,
        "tolerance": comparison.tolerance,
        "sds": comparison.sds,
        "rare": dict(comparison.rare),
        "verdict": comparison.verdict,
        "headline": headline(comparison),
        "primary": dict(comparison.primary),
        "cells": cells,
        "across": [asdict(each) for each in comparison.across],
        "gaps": [_gap_data(gap) for gap in comparison.gaps],
        "notes": run_notes(comparison),
        "unpaired": list(dict.fromkeys(comparison.label(gap.cell) for gap in comparison.gaps if gap.is_whole)),
        "left_over": [gap_text(comparison, gap) for gap in comparison.gaps],
        "differences": list(comparison.differences),
        "sequential": None if comparison.looks is None else look_text.to_json(comparison.looks),
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _gap_data(gap: Gap) -> dict[str, Any]:
    return {
        "verdict": gap.kind,
        "scenario": gap.cell.scenario,
        "params": None if gap.cell.params is None else dict(gap.cell.params),
        "metric": gap.metric,
        "seeds": None if gap.cell.params is None else list(gap.seeds),
        "base": gap.base,
        "candidate": gap.candidate,
        "is_whole": gap.is_whole,
        "why": list(gap.why),
    }


def interval_text(interval: Interval | None, scale: float = 100.0, unit: str = " %") -> str:
    """The interval as "+1.2 … +3.4 %"; a dash for None."""
    if interval is None:
        return NONE
    return f"{interval.low * scale:+.1f} … {interval.high * scale:+.1f}{unit}"


def _interval(each: CellComparison[CellKey]) -> str:
    if each.relative_interval is not None:
        return interval_text(each.relative_interval)
    metric = METRICS[each.key.metric]
    return interval_text(each.interval, metric.scale, f" {metric.unit}")


def _may_differ(each: CellComparison[CellKey]) -> str:
    """The share of trials of which nothing is shown, where it matters."""
    return f"{100 * each.may_differ:.2g} %" if each.verdict == "same" or each.is_rare_open else NONE


def _tolerance(each: CellComparison[CellKey]) -> str:
    if each.base and METRICS[each.key.metric].is_relative:
        return f"{100 * each.margin / abs(each.base):.3g} %"
    metric = METRICS[each.key.metric]
    return f"{each.margin * metric.scale:.3g} {metric.unit}".strip()


def _could_be_seen(each: CellComparison[CellKey]) -> str:
    """The smallest effect that so many seeds show, and how many decide."""
    if each.smallest_effect is None:
        return NONE
    metric = METRICS[each.key.metric]
    unit = f"{each.smallest_effect * metric.scale:.3g} {metric.unit}".strip()
    share = each.smallest_effect / abs(each.base) if each.base else None
    seen = unit if share is None else f"{100 * share:.1f} %" if share < 1 else OVER
    return seen + (f"; {each.seeds_needed} seeds" if _more_seeds(each) else "")


def _more_seeds(each: CellComparison[CellKey]) -> bool:
    """Whether more seeds than there are decide in 80 % of cases. Where there are enough and it is undecided all the
    same, the difference is near the tolerance, or it is one of the other cases.
    """
    return each.seeds_needed is not None and each.seeds_needed > each.pairs


NEAR = "; so many decide most cells with this noise, but not those whose difference is near the tolerance"


def _undecided(each: CellComparison[CellKey], rare: float = 1.0) -> str:
    """Why nothing is shown, and what would. `rare` is the share of trials that may differ."""
    if each.is_rare_open:
        more = f": {each.seeds_needed - each.pairs} more seeds" if each.seeds_needed else ""
        share = f"{100 * each.may_differ:.2g} %"
        return f"the mean is the same, but {share} of trials may differ, and rare is {100 * rare:g} %{more}"
    if each.base == each.candidate == 0:
        return "it is 0 on both sides, so nothing was measured"
    if each.pairs == 1:
        return "one pair of seeds shows nothing; more repetitions do"
    if not each.is_random:
        more = f"; {each.seeds_needed} seeds would decide" if each.seeds_needed else ""
        return f"all seeds are copies of one case, which may be one of two levels{more}"
    needed = f"; {each.seeds_needed} seeds would decide" if each.seeds_needed else "; no number of seeds would decide"
    needed = needed if _more_seeds(each) or not each.seeds_needed else NEAR
    if each.smallest_effect is None:
        return f"{each.pairs} seeds show no change, however large{needed}"
    seen, _, _ = _could_be_seen(each).partition(";")
    seen = f"only a change of more than {TWICE}" if seen == OVER else f"a change of {seen} or more"
    return f"{each.pairs} seeds show {seen}{needed}"


def _few(texts: Sequence[str], between: str) -> str:
    more = len(texts) - NAMED_MAX
    return between.join(texts[:NAMED_MAX]) + (f"{between}and {more} more" if more > 0 else "")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"
