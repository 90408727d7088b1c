"""A trial's result, as it is stored and printed. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .gate.finding import Verdict

SCHEMA = 1


@dataclass(frozen=True)
class TrialResult:
    """What `testbed results` prints of one trial. `data` has the fields; wall_s is beside it, for it never repeats."""

    data: Mapping[str, Any]
    wall_s: float

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def verdict(self) -> Verdict:
        return self.data["verdict"]  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        return {**self.data, "wall_s": self.wall_s}
