"""What came out of a workload, whichever tool it was. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..stored_result import FlowResult


@dataclass(frozen=True)
class Outcome:
    """A whole workload. Times are ns of CLOCK_MONOTONIC; `steady_ns` is when the ramp that is left out ended.

    `goodput_bps` is that of all flows together, from `steady_ns` to `end_ns`; `ramp_goodput_bps` the same for what was
    left out, None if nothing was. `measured` has what only this tool measures.
    """

    begin_ns: int | None
    steady_ns: int | None
    end_ns: int | None
    goodput_bps: float | None
    ramp_goodput_bps: float | None
    flows: tuple[FlowResult, ...]
    measured: dict[str, Any] = field(default_factory=dict)
