"""The outcome of a comparison of runs in one sentence. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.metric import METRICS
from ..analysis.paired import CellComparison
from .run import SEVERITY, CellKey, Outcome, RunComparison


def headline(comparison: RunComparison) -> str:
    """The outcome in one sentence: of the cells of the primary metric, and what of the others is worse."""
    outcomes = {key: _outcome(comparison, key) for key in primary_keys(comparison)}
    metrics = list(dict.fromkeys(key.metric for key in outcomes))
    found: list[str] = []
    for outcome in SEVERITY:
        mine = [key for key, each in outcomes.items() if each == outcome]
        if mine:
            count = f"{len(mine)} of {len(outcomes)} cells" if not found else str(len(mine))
            words: str = "lost trials or values" if outcome == "lost" else outcome
            look = [each.key for each in comparison.looks_worse if each.key in mine]
            if outcome == "worse":
                words += _worst(comparison, mine, len(metrics) > 1)
            elif outcome == "cannot tell" and look:
                words += f", of which {_look(look)} worse{_worst(comparison, look, len(metrics) > 1)}"
            found.append(f"{count} {words}")
    if {*outcomes.values()} == {"same"}:
        is_share = all(METRICS[name].is_relative for name in metrics)
        within = tolerance_text(comparison) if is_share else "tolerance"
        found = [f"{_all(len(outcomes))} the same within {within}"]
    others = [each for each in comparison.cells if not comparison.is_primary(each.key)]
    if worse := [each.key for each in others if each.verdict == "worse"]:
        found.append(f"of the other metrics {len(worse)} of {len(others)} worse{_worst(comparison, worse, True)}")
    elif look := [each.key for each in comparison.looks_worse if not comparison.is_primary(each.key)]:
        said = f"{len(look)} of {len(others)} cannot be told and {'looks' if len(look) == 1 else 'look'} worse"
        found.append(f"of the other metrics {said}{_worst(comparison, look, True)}")
    for each in comparison.across:
        found.append(f"{each.metric} {each.text}")
    if lacking := list(dict.fromkeys(cell.scenario for cell in comparison.unmeasured_cells)):
        found.append(f"not measured: {', '.join(lacking)}")
    return f"{', '.join(metrics)}: {'; '.join(found)}"


def tolerance_text(comparison: RunComparison) -> str:
    """Such as "3 %" or "3 % or 2 sd"."""
    return f"{100 * comparison.tolerance:g} %" + (f" or {comparison.sds:g} sd" if comparison.sds else "")


def primary_keys(comparison: RunComparison) -> list[CellKey]:
    """The primary metrics of all cells, those that are lost as a whole too."""
    keys = [each.key for each in comparison.cells if comparison.is_primary(each.key)]
    for gap in comparison.gaps:
        metric = gap.metric or comparison.primary.get(gap.cell.scenario, "")
        key = CellKey(gap.cell.params or (), metric, gap.cell.scenario)
        if gap.is_whole and (gap.kind != "new" or gap.is_due) and comparison.is_primary(key):
            keys.append(key)
    return list(dict.fromkeys(keys))


def _outcome(comparison: RunComparison, key: CellKey) -> Outcome:
    found: set[str] = {each.verdict for each in comparison.cells if each.key == key}
    for gap in comparison.gaps:
        mine = (gap.cell.scenario, gap.cell.params or ()) == (key.scenario, key.params)
        if mine and gap.metric in (None, key.metric):
            found |= {"lost"} if gap.kind == "lost" else ({"cannot tell"} if gap.is_undecided else set())
    return next(each for each in SEVERITY if each in found)


def _look(keys: Sequence[CellKey]) -> str:
    return "1 looks" if len(keys) == 1 else f"{len(keys)} look"


def _all(count: int) -> str:
    return "the one cell is" if count == 1 else f"all {count} cells are"


def _worst(comparison: RunComparison, keys: Sequence[CellKey], named: bool) -> str:
    mine = [each for each in comparison.cells if each.key in keys]
    worst = max(mine, key=lambda each: float("inf") if each.relative is None else abs(each.relative))
    metric = f"{worst.key.metric} " if named else ""
    return (
        f", {'the worst ' if len(mine) > 1 else ''}{metric}{effect_text(worst)} in {comparison.label(worst.key.cell)}"
    )


def effect_text(each: CellComparison[CellKey]) -> str:
    """The difference in per cent of the base, or in the metric's unit where that is 0."""
    if each.relative is not None:
        return f"{100 * each.relative:+.1f} %"
    metric = METRICS[each.key.metric]
    return f"{each.effect * metric.scale:+.3g} {metric.unit}".strip()
