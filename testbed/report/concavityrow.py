"""The utilization-concavity coefficient of each series of a run, by flows and loss. Pure, no I/O.

See docs/concavity.md for the formula: 0.75 is a full link at every RTT, less a profile that falls early.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..series import Coefficients, Series

FLOWS = "flows"


@dataclass(frozen=True)
class ConcavityRow:
    """`group` are the parameters but for the flows; `flows` is how many there were, None if nobody knows."""

    group: tuple[tuple[str, str], ...]
    flows: int | None
    found: Coefficients
    series: Series


def concavity_rows(series: Sequence[Series], resamples: int = 500) -> tuple[ConcavityRow, ...]:
    """One for each series with a capacity and two or more RTTs."""
    rows = []
    for each in series:
        found = each.coefficients(resamples=resamples)
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
