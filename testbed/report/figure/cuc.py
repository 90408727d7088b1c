"""C_UC over the number of flows, a line for each loss and congestion control. Draws, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from ...analysis.series import Coefficients, Series, word
from ...codec.frozen import dataclass
from ...error import UserError
from ...model.scenario import Params
from ..stored_run import StoredRun
from .option import Options
from .style import GREY, HIGH, WIDE, grid, looks, refuse_too_many, values_of

FULL = 0.75
"""C_UC of a full link at every RTT."""


def draw(figure: Figure, run: StoredRun, options: Options) -> None:
    """Raises UserError for a run without any."""
    rows = concavity_rows(run.series)
    if not rows:
        raise UserError(f"there is no C_UC: {why_none(run.series)}; allowed: a rate, and a sweep over the RTT")
    figure.set_size_inches(WIDE, HIGH)
    axes = figure.subplots()
    groups: dict[Params, list[ConcavityRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    keys = [key for key, _ in rows[0].group if len({dict(group).get(key) for group in groups}) > 1]
    refuse_too_many(len(groups), {key: value for key, value in rows[0].group if key in keys})
    (found,) = looks([[values_of(group, keys) for group in groups]])
    for group, members in groups.items():
        colour, line, mark = found[values_of(group, keys)]
        members.sort(key=lambda row: row.flows or 0)
        below, above = zip(*(_ends(row) for row in members), strict=True)
        axes.errorbar(
            [row.flows or 0 for row in members],
            [row.found.c_uc for row in members],
            yerr=[below, above],
            linestyle=line,
            color=colour,
            marker=mark,
            capsize=3,
            linewidth=1.5,
            label=", ".join(word(key, dict(group).get(key, "")) for key in keys) or "all",
        )
    axes.axhline(FULL, color=GREY, linewidth=1, linestyle=(0, (1, 3)), label="a full link at every RTT")
    flows = sorted({row.flows or 0 for row in rows})
    axes.set_xticks(flows)
    axes.set_xlabel("parallel flows")
    axes.set_ylabel("utilization-concavity coefficient C_UC (ratio)")
    grid(axes)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=3.2)


def _ends(row: ConcavityRow) -> tuple[float, float]:
    """How far the 95 % interval reaches below and above; nothing where there is none."""
    interval, value = row.found.c_uc_interval, row.found.c_uc
    return (0.0, 0.0) if interval is None else (max(0.0, value - interval.low), max(0.0, interval.high - value))


FLOWS = "flows"


@dataclass(frozen=True)
class ConcavityRow:
    """`group` are the parameters but for the flows; `flows` is how many there were, None if nobody knows."""

    group: Params
    flows: int | None
    found: Coefficients
    series: Series


def concavity_rows(series: Sequence[Series]) -> tuple[ConcavityRow, ...]:
    """One for each series with a capacity and two or more RTTs."""
    rows = []
    for each in series:
        found = each.coefficients()
        if found is not None:
            flows = each.conditions.flows if each.conditions else None
            group = tuple((key, value) for key, value in each.params if key.rsplit(".", 1)[-1] != FLOWS)
            rows.append(ConcavityRow(group, flows, found, each))
    return tuple(rows)


def why_none(series: Sequence[Series]) -> str:
    """What a run lacks for the coefficient of any series."""
    usable = [each for each in series if each.trials]
    if all(each.capacity_bps is None for each in usable):
        return "its paths have no rate, or not one rate for all trials of a series"
    return "no series has trials at two round-trip times"
