"""The conditions of a published series held against ours: the same, different, or not stated. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .. import units
from ..analysis.condition import AUTO, DEFAULT, Conditions
from ..analysis.series import Series
from ..error import ValueRefused
from ..units import format_rate

Value: TypeAlias = str | float

NONE = "none"
TOLERANCE = 0.10
SAME = 1e-3
"""Shares and times that differ by less than this share are the same."""


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


def conditions(ours: Series, of: Mapping[str, str], capacity_bps: float | None) -> tuple[Condition, ...]:
    """Every condition that at least one side states. `of` and the capacity are those of the published series."""
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
        found.append(Condition(name, words, stated.get(name), is_same, kind.decides))
    return tuple(found)


def unfit(conditions: Sequence[Condition], choice: Choice) -> tuple[Condition, ...]:
    """The conditions for which a series must not decide."""
    return tuple(
        each
        for each in conditions
        if each.decides and each.is_same is False and not (each.name == "rate" and choice.as_shares)
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
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-12)
    forms = [str(each).rsplit(" ", 1)[-1] for each in (one, other)]
    is_buffer = {"bdp", "packets"} & set(forms) or DEFAULT in (one, other)
    return None if is_buffer and forms[0] != forms[1] else one == other


def _read_congestion(text: str) -> Value:
    return "+".join(sorted(word.strip() for word in text.split("+")))


def _read_flows(text: str) -> Value:
    if not text.isdecimal() or int(text) < 1:
        raise ValueRefused(f"{text!r} is no number of flows", "1, 2, …")
    return float(text)


def _read_loss(text: str) -> Value:
    words = text.strip().removeprefix("random ")
    if words == NONE:
        return 0.0
    return 1 / units.parse_one_in(words) if " in " in words else float(units.parse_fraction(words))


def _read_window(text: str) -> Value:
    return AUTO if text.strip() == AUTO else units.format_size(units.parse_size(text))


def _read_buffer(text: str) -> Value:
    if text.strip().endswith("bdp"):
        return units.format_bdp(units.parse_bdp(text))
    if text.strip().endswith("packets"):
        return units.format_packets(units.parse_packets(text))
    return units.format_size(units.parse_size(text))


def _loss_words(value: Value) -> str:
    if not value:
        return NONE
    every = 1 / float(value)
    return f"1 in {every:.0f}" if math.isclose(every, round(every), rel_tol=SAME) else f"{100 * float(value):g} %"


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
    "loss": _Kind(_read_loss, lambda ours: ours.loss, _loss_words),
    "rate": _Kind(
        lambda text: float(units.parse_rate(text)),
        lambda ours: None if ours.rate_bps is None else float(ours.rate_bps),
        lambda value: format_rate(round(float(value))),
    ),
    "window": _Kind(_read_window, lambda ours: ours.window, str),
    "buffer": _Kind(_read_buffer, lambda ours: ours.buffer, str),
    "duration": _Kind(
        lambda text: units.parse_time(text) / 1e9, lambda ours: ours.duration_s, lambda value: f"{value:g} s", False
    ),
}
"""The keys of `of` that are conditions, in the order in which they are said."""
