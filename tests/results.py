"""Results for tests: one that nothing measured, and what differs from it."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from testbed.trial import record
from testbed.trial.evidence.outcome import TcpResult
from testbed.trial.measured import PingResult
from testbed.trial.result import TrialResult
from testbed.trial.workload.background import BACKGROUND, BackgroundResult
from testbed.trial.workload.http import HttpResult
from testbed.trial.workload.udp import UdpResult

PLAIN: Mapping[str, Any] = {
    "id": "t",
    "seed": 1,
    "verdict": "valid",
    "goodput_bps": 1e6,
    "asked": {"rtt_s": 0.01, "rate_bps": 10**8},
    "seen": {"rtt_s": 0.01, "rtt_max_s": 0.011, "rate_bps": 10**8, "random_drops": 0, "queue_drops": 0},
    "workload_s": 1.0,
    "kernel": "lab",
    "kernel_release": "7.3.4",
    "lab_s": 4.0,
    "wall_s": 1.0,
}

TOOLS: Mapping[str, Any] = {kind.KEY: kind for kind in (HttpResult, PingResult, TcpResult, UdpResult)}


def plain(base: TrialResult | None = None, **changes: Any) -> TrialResult:
    """A valid trial, or `base`, with what is different, as result.json has it or as values.

    Objects may be given in part: what they lack is 0 (1 where 0 is wrong), empty or None;
    of `asked` and `seen` it is as before.
    """
    start = dict(PLAIN) if base is None else base.to_dict()
    given = {key: record.write(value) for key, value in changes.items()}
    for part in ("asked", "seen"):
        given[part] = {**start[part], **given.get(part, {})}
    if "measured" in given:
        given["measured"] = measured(given["measured"])
    return record.read(TrialResult, filled(TrialResult, {**start, **given}))


def measured(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same for what tools measure."""
    found = {key: filled(TOOLS[key], each) if key in TOOLS else each for key, each in given.items()}
    if BACKGROUND in given:
        found[BACKGROUND] = {name: filled(BackgroundResult, each) for name, each in given[BACKGROUND].items()}
    return found


def filled(hint: Any, given: Any) -> Any:
    """JSON with all that a type needs."""
    return _filler(hint)(given)


@cache
def _filler(hint: Any) -> Callable[[Any], Any]:
    """What a type says is read once."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _filler(next(part for part in parts if part is not type(None)))
    if origin is tuple:
        each = _filler(parts[0])
        return lambda given: None if given is None else list(map(each, given))
    if origin is Mapping:
        value = _filler(parts[1])
        return lambda given: None if given is None else {key: value(at) for key, at in given.items()}
    return _object_filler(hint) if is_dataclass(hint) else lambda given: given


def _object_filler(hint: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(hint)
    known, needed = [], []
    for each in fields(hint):
        key, kind = each.metadata.get("key", each.name), hints[each.name]
        known.append((key, _filler(kind)))
        if each.default is each.default_factory is MISSING:
            is_positive = each.metadata.get("positive") and type(None) not in get_args(kind)
            needed.append((key, (lambda: 1) if is_positive else partial(empty, kind)))

    def fill(given: Any) -> Any:
        if given is None:
            return None
        own = {key: value(given[key]) for key, value in known if key in given}
        return own | {key: least() for key, least in needed if key not in own}

    return fill


def empty(hint: Any) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if type(None) in parts:
        return None
    if is_dataclass(hint):
        return filled(hint, {})
    if origin is Literal:
        return parts[0]
    return {tuple: [], Mapping: {}, str: "", int: 0, float: 0.0, bool: False}.get(origin or hint)
