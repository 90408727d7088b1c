"""The conditions of a published series held against ours: the same, different, or not stated; and what else limits a
comparison, in words. Pure, no I/O.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from .. import units
from ..analysis.condition import AUTO, DEFAULT, Conditions
from ..analysis.distance import ProfileDistance
from ..analysis.series import Series
from ..codec.frozen import dataclass
from ..error import ValueRefused
from ..units import format_rate
from . import loss

Value: TypeAlias = str | float | loss.Lost

TOLERANCE = 0.10
SAME = 1e-3
"""Rates and times that differ by less than this share are the same."""


@dataclass(frozen=True)
class Choice:
    """What the user chose: the tolerance, a share of each published throughput; whether links of different rates are
    judged by shares of it; whether published RTTs outside ours may be left out.
    """

    tolerance: float = TOLERANCE
    as_shares: bool = False
    common_rtts: bool = False


@dataclass(frozen=True)
class Condition:
    """One condition in words, None where a side does not state it.

    `is_same` is None if a side does not state it, or if the two cannot be held against each other (a buffer in bytes
    and one in BDP). `decides` is whether series that differ in it must not be judged by each other.
    """

    name: str
    ours: str | None
    published: str | None
    is_same: bool | None
    decides: bool


def conditions(
    ours: Series, of: Mapping[str, str], capacity_bps: float | None, axis: str | None = None
) -> tuple[Condition, ...]:
    """Every condition that at least one side states. `of` and the capacity are those of the published series; what that
    is over, its `axis`, must be known to be the same.
    """
    stated = dict(of)
    if capacity_bps is not None:
        stated["rate"] = format_rate(round(capacity_bps))
    found = []
    for name, kind in KINDS.items():
        values = dict.fromkeys(kind.ours(each) for each in ours.all_conditions)
        known = None if not values or None in values else [each for each in values if each is not None]
        theirs = kind.read(stated[name]) if name in stated else None
        if known is None and theirs is None:
            continue
        words = None if known is None else " and ".join(kind.words(each) for each in known)
        is_same = None if known is None or theirs is None else _all_same(known, theirs)
        if name == axis:
            is_same = is_same is True
        found.append(Condition(name, words, stated.get(name), is_same, kind.decides or name == axis))
    return tuple(found)


def unfit(conditions: Sequence[Condition], choice: Choice, is_share: bool = True) -> tuple[Condition, ...]:
    """The conditions for which a series must not decide. Another rate is one if no shares of it are compared."""
    return tuple(
        each
        for each in conditions
        if each.decides and each.is_same is False and not (each.name == "rate" and choice.as_shares and is_share)
    )


def cautions(
    ours: Series,
    conditions: Sequence[Condition],
    apart: ProfileDistance,
    is_share: bool,
    choice: Choice,
    is_alone: bool = False,
) -> tuple[str, ...]:
    """What limits a comparison of one of our series with a published one, and why points of it cannot be judged.
    `is_alone`: that is a single number, of which nobody expects a shape.
    """
    said = [
        f"ours has {each.name} {each.ours or 'unknown'}, published {each.published}"
        for each in conditions
        if each.is_same is False
    ]
    said += [f"{side} does not state: {', '.join(names)}" for side, names in _unstated(conditions).items() if names]
    if is_share:
        decides = "" if choice.as_shares else "; they decide with --as-shares only"
        said.append(f"shares of the rate are compared, not bit/s: loss and windows do not scale with it{decides}")
    if len(apart.points) + len(apart.left_out_rtt_s) == 1 and not is_alone:
        said.append("a single published RTT has no shape")
    if apart.left_out_rtt_s:
        rtts = ", ".join(f"{rtt * 1e3:g}" for rtt in apart.left_out_rtt_s)
        decides = "" if choice.common_rtts else "; with --common-rtts the others decide alone"
        said.append(f"ours does not reach the published RTTs of {rtts} ms{decides}")
    if ours.left_out:
        said.append(
            f"{len(ours.left_out)} of our trials are invalid and left out, so nothing is shown to agree: it is "
            "unknown what they hide"
        )
    if ours.suspect:
        said.append(f"{len(ours.suspect)} of our trials are suspect")
    return (*said, *_unshown(apart, choice.tolerance))


def _unstated(conditions: Sequence[Condition]) -> dict[str, list[str]]:
    named = {each.name: each for each in conditions}
    return {
        "the publication": [name for name in KINDS if name not in named or named[name].published is None],
        "our run": [name for name, each in named.items() if each.ours is None],
    }


def _unshown(apart: ProfileDistance, tolerance: float) -> tuple[str, ...]:
    """Why points cannot be judged."""
    why = {
        "one trial has no interval: needs at least 2 seeds": [
            each for each in apart.points if each.seeds == 1 and not each.is_exact
        ],
        "the published number is of one run, and how much others would differ is not known": [
            each for each in apart.points if each.is_of_one
        ],
        "all seeds give the same, which is one case and no interval: needs jitter, random loss or a seeded phase": [
            each
            for each in apart.points
            if each.seeds > 1 and each.relative.interval is None and each.measured_bps > 0 and not each.is_of_one
        ],
        "nothing is random in it, so the value has no error; it is that of this network as it is": [
            each for each in apart.points if each.is_exact
        ],
        "the variation within the one trial does not explain the difference": [
            each for each in apart.points if each.is_apart
        ],
        "nothing was received, so there is no ratio": [each for each in apart.points if not each.measured_bps],
        "nothing was measured there: the interval covers both neighbours": [
            each for each in apart.points if each.is_between and each.verdict(tolerance) == "cannot tell"
        ],
        "the published number is less certain than the tolerance": [
            each for each in apart.points if each.share_off > tolerance
        ],
    }
    return tuple(
        f"at {', '.join(f'{each.rtt_s * 1e3:g}' for each in points)} ms: {text}"
        for text, points in why.items()
        if points
    )


def refuse_unread(of: Mapping[str, str]) -> None:
    """Raise ValueRefused, at the key, for a condition that no run could be held against."""
    for name, text in of.items():
        if name in KINDS:
            try:
                KINDS[name].read(text)
            except ValueRefused as refused:
                raise ValueRefused(refused.what, refused.allowed, ("of", name)) from None


def _all_same(ours: list[Value], published: Value) -> bool | None:
    found = [_is_same(each, published) for each in ours]
    return False if False in found else None if None in found else True


def _is_same(one: Value, other: Value) -> bool | None:
    if isinstance(one, loss.Lost) and isinstance(other, loss.Lost):
        return one.is_same(other)
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-12)
    forms = [str(each).rsplit(" ", 1)[-1] for each in (one, other)]
    is_buffer = {"bdp", "packets"} & set(forms) or DEFAULT in (one, other)
    return None if is_buffer and forms[0] != forms[1] else one == other


def number(value: Value) -> float:
    """Of a condition that is one."""
    assert isinstance(value, float), f"BUG: {value} is no number"
    return value


def _read_congestion(text: str) -> Value:
    return "+".join(sorted(word.strip() for word in text.split("+")))


def _read_flows(text: str) -> Value:
    if not text.isdecimal() or int(text) < 1:
        raise ValueRefused(f"{text!r} is no number of flows", "1, 2, …")
    return float(text)


def _read_window(text: str) -> Value:
    return AUTO if text.strip() == AUTO else units.format_size(units.parse_size(text))


def _read_buffer(text: str) -> Value:
    if text.strip().endswith("bdp"):
        return units.format_bdp(units.parse_bdp(text))
    if text.strip().endswith("packets"):
        return units.format_packets(units.parse_packets(text))
    return units.format_size(units.parse_size(text))


@dataclass(frozen=True)
class _Kind:
    """How a condition is read from a profile's text, taken from ours (None: not known), and said."""

    read: Callable[[str], Value]
    ours: Callable[[Conditions], Value | None]
    words: Callable[[Value], str]
    decides: bool = True

    def can_be_read(self, words: str) -> bool:
        """Whether a profile can state it: the plan's own choice of a buffer has no words."""
        try:
            self.read(words)
        except ValueRefused:
            return False
        return True


KINDS: Mapping[str, _Kind] = {
    "congestion": _Kind(_read_congestion, lambda ours: "+".join(sorted(ours.congestion)) or None, str),
    "flows": _Kind(_read_flows, lambda ours: float(ours.flows) or None, lambda value: f"{value:g}"),
    "loss": _Kind(loss.read, lambda ours: None if ours.losses is None else loss.asked(ours.losses), str),
    "rate": _Kind(
        lambda text: float(units.parse_rate(text)),
        lambda ours: None if ours.rate_bps is None else float(ours.rate_bps),
        lambda value: format_rate(round(number(value))),
    ),
    "window": _Kind(_read_window, lambda ours: ours.window, str),
    "buffer": _Kind(_read_buffer, lambda ours: ours.buffer, str),
    "duration": _Kind(
        lambda text: units.parse_time(text) / 1e9, lambda ours: ours.duration_s, lambda value: f"{value:g} s", False
    ),
}
"""The keys of `of` that are conditions, in the order in which they are said."""
