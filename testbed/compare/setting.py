"""Settings in which paired trials differ: what people compare, and what is another scenario. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..error import UserError
from .pairing import Pair

SUBJECTS = ("kernel", "sysctls", "workload.congestion")
"""Settings of a trial that people compare: two runs may differ in them, and the comparison reports it."""

NOT_SETTINGS = ("id", "params", "seed", "repetition", "limits", "capture")


def differences(pairs: Iterable[Pair], names: tuple[str, str], ignored: Sequence[str]) -> tuple[str, ...]:
    """The settings in which paired trials differ, each once. Raises UserError for one that may not differ."""
    found: dict[str, dict[tuple[str, str], tuple[Any, Any]]] = {}
    for one, other in pairs:
        for key, values in _setting_differences(one.settings, other.settings).items():
            found.setdefault(key, {}).setdefault((str(values[0]), str(values[1])), values)
    differences = [(key, values) for key, each in found.items() for values in each.values()]
    refused = [(key, values) for key, values in differences if not _is_under(key, (*SUBJECTS, *ignored))]
    if refused:
        listed = "; ".join(_difference(key, values) for key, values in refused)
        options = " ".join(f"--ignore {key}" for key in dict.fromkeys(key for key, _ in refused))
        raise UserError(
            f"{names[0]} and {names[1]} are not of the same scenario: {listed}; allowed: two runs that differ in "
            f"{', '.join(SUBJECTS)} only, or {options} to compare them all the same"
        )
    return tuple(_difference(key, values) for key, values in differences)


def _difference(key: str, values: tuple[Any, Any]) -> str:
    first, second = ("not set" if value is None else str(value) for value in values)
    return f"{key}: {first} → {second}"


def _setting_differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    flat = [dict(_flat({**each, "kernel": _kernel(each.get("kernel"))})) for each in (one, other)]
    keys = [key for key in dict.fromkeys([*flat[0], *flat[1]]) if not _is_under(key, NOT_SETTINGS)]
    return {key: (flat[0].get(key), flat[1].get(key)) for key in keys if flat[0].get(key) != flat[1].get(key)}


def _kernel(written: Any) -> str | None:
    """A kernel in one or two words: "lab" for the default kernel, "lab mine" for a named one."""
    if not isinstance(written, Mapping):
        return None if written is None else str(written)
    return " ".join(f"{word}" for pair in written.items() for word in pair)


def _flat(value: Mapping[str, Any], under: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, each in value.items():
        rows += _flat(each, f"{under}{key}.") if isinstance(each, Mapping) else [(f"{under}{key}", each)]
    return rows


def _is_under(key: str, parents: Sequence[str]) -> bool:
    return any(key == parent or key.startswith(f"{parent}.") for parent in parents)
