"""The windows table in the form of Hartpence and Kwasinski, Tables II to V: transfer by window, mean and sd. Pure.

MB are 2^20 bytes, as iperf 2 counts them; the sd is that of exactly these repetitions (with n, not n - 1). No I/O.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis import statistic
from ..analysis.series import all_keys, label, varied_keys
from ..codec.frozen import dataclass
from ..model.scenario import Params
from ..trial.result import TrialResult

MB = 2**20


@dataclass(frozen=True)
class Transfer:
    """What the trials with one window moved, in MB. One trial has no sd."""

    window: str
    trials: int
    mean_mb: float
    sd_mb: float | None

    @property
    def text(self) -> str:
        """Such as "2793 (12.1)"; of one trial "2793"."""
        return f"{self.mean_mb:.4g}" + ("" if self.sd_mb is None else f" ({self.sd_mb:.2g})")


@dataclass(frozen=True)
class WindowRow:
    """The transfers of the trials that differ in window and seed only; `params` are those of the others that vary."""

    label: str
    params: Mapping[str, str]
    transfers: tuple[Transfer, ...]


@dataclass(frozen=True)
class WindowTable:
    """`windows` are in the order of the scenario. `duration_s` is None where it differs from trial to trial."""

    windows: tuple[str, ...]
    rows: tuple[WindowRow, ...]
    duration_s: float | None


def window_key(results: Sequence[TrialResult]) -> str | None:
    """The parameter that is the window; None if none was varied."""
    return next((key for key in all_keys(results) if key.rsplit(".", 1)[-1] == "window"), None)


def window_table(results: Sequence[TrialResult]) -> WindowTable | None:
    """Of results with a goodput that are not invalid; None if no axis is a window, or all leave it to the kernel."""
    key = window_key(results)
    if key is None or {each.params.get(key) for each in results} == {"auto"}:
        return None
    others = [each for each in varied_keys(results) if each != key]
    groups: dict[Params, dict[str, list[float]]] = {}
    for each in results:
        moved = transferred_bytes(each)
        if moved is not None:
            params = tuple((key, value) for key, value in each.params.items() if key in others)
            groups.setdefault(params, {}).setdefault(each.params[key], []).append(moved / MB)
    windows = tuple(dict.fromkeys(window for row in groups.values() for window in row))
    rows = tuple(
        WindowRow(label(params), dict(params), tuple(_transfer(window, row[window]) for window in row))
        for params, row in groups.items()
    )
    durations = {round(each.workload_s, 1) for each in results if each.workload_s}
    return WindowTable(windows, rows, durations.pop() if len(durations) == 1 else None)


def transferred_bytes(result: TrialResult) -> float | None:
    """What all receivers got over the whole workload; None where nobody counted."""
    if result.received_bytes is not None:
        return float(result.received_bytes)
    goodput, lasted = result.goodput_bps, result.workload_s
    return None if goodput is None or not lasted else goodput * lasted / 8


def _transfer(window: str, moved: Sequence[float]) -> Transfer:
    sd = statistic.population_sd(moved) if len(moved) > 1 else None
    return Transfer(window, len(moved), statistic.mean(moved), sd)
