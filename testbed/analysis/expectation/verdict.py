"""Rules of `expect` held against trials: passed, failed or not checked, and what was seen. Pure, no I/O.

What is missing is never a pass: no trial with these values, one that is not valid, one without a (finite) value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from ... import units
from ...codec.frozen import dataclass
from ...error import UserError
from ...model.expectation import Choice, Expectation, NotChecked, chosen, in_words, lacking
from ..metric import METRICS, NEVER, AtLeast
from .measured import Measured

Outcome: TypeAlias = Literal["passed", "failed", "not checked"]
OF_ACKS = frozenset({"goodput", "flow-goodput"})
ACKED = "what was acknowledged in this time; some may have come before, and waited for a lost segment"
"""What a part of the time has of these metrics: it can be more than a link carries in it."""


@dataclass(frozen=True)
class Verdict:
    """What became of a rule. `low` and `high` are the least and the largest value, in the unit of its bounds, of
    `trials` trials (0, None: no value); `seen` is what was seen instead, or why it was not checked (None: it passed).
    `failed` are the trials in which it does not hold.
    """

    rule: Expectation
    outcome: Outcome
    trials: int = 0
    low: float | None = None
    high: float | None = None
    seen: str | None = None
    failed: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """For JSON: bounds and values in base units, absent is None."""
        rule = self.rule
        return {
            "name": rule.name,
            "outcome": self.outcome,
            "metric": rule.metric,
            "where": {key: list(texts) for key, texts in rule.where.items()},
            "over": None if rule.over is None else {key: list(texts) for key, texts in rule.over.items()},
            "number": rule.number,
            "between": rule.between_s,
            **({"between_rtts": rule.round_trips} if rule.between_rtts else {}),
            **({"since": rule.since} if rule.since else {}),
            "unit": rule.unit,
            "least": rule.bound(rule.least),
            "most": rule.bound(rule.most),
            "trials": self.trials,
            "low": self.low,
            "high": self.high,
            "message": rule.message or None,
            "seen": self.seen,
            "failed_trials": list(self.failed),
        }


@dataclass(frozen=True)
class Value:
    """What a trial has, in the unit of a rule's bounds."""

    trial: str
    value: float


def verdicts(
    rules: Sequence[Expectation], trials: Sequence[Measured], absent: str | None = None
) -> tuple[Verdict, ...]:
    """One for each rule, in their order. `absent` says which trials are missing, so that nothing can be checked."""
    done: list[Verdict] = []
    for rule in rules:
        found = Verdict(rule, "not checked", seen=absent) if absent is not None else _verdict(rule, trials)
        passed = {each.rule.name for each in done} - {each.rule.name for each in done if each.outcome != "passed"}
        unmet = [need for need in rule.needs if need not in passed]
        if found.outcome == "passed" and unmet:
            why = f"it holds, and does not count unless {', '.join(unmet)} does"
            found = Verdict(rule, "not checked", found.trials, found.low, found.high, why)
        done.append(found)
    return tuple(done)


def _verdict(rule: Expectation, trials: Sequence[Measured]) -> Verdict:
    try:
        found = values(rule, trials)
        wrong = _off(rule, found)
    except (NotChecked, UserError) as why:
        return Verdict(rule, "not checked", seen=str(why))
    outcome: Outcome = "failed" if wrong else "passed"
    numbers = [each.value for each in found]
    failed = tuple(each.trial for each in wrong)
    return Verdict(rule, outcome, len(found), min(numbers), max(numbers), _said(rule, found, wrong), failed)


def values(rule: Expectation, trials: Sequence[Measured]) -> list[Value]:
    """The value of each trial that the rule is about, at least one. Raises NotChecked."""
    known = METRICS.get(rule.metric)
    if known is not None and known.base_unit != rule.base_unit:
        raise NotChecked(f"{rule.metric} is in {known.base_unit}, and the bounds are in {rule.base_unit}")
    found = _chosen(rule, trials, rule.where)
    if rule.over is None:
        return found
    where = {**rule.where, **rule.over}
    base = _chosen(rule, trials, where)
    if all(chosen(where, each.result.params) for each in _meant(trials, rule.where)):
        raise NotChecked(f"{rule.metric} would be divided by itself: there are no trials but those {in_words(where)}")
    if any(isinstance(each.value, AtLeast) for each in base):
        raise NotChecked(f"{rule.metric} has no value {in_words(where)}: it did not come to that".strip())
    mean = sum(each.value for each in base) / len(base)
    if mean <= 0:
        raise NotChecked(f"{rule.metric} is 0 {in_words(where)}".strip())
    quotients = [replace(each, value=_over(each.value, mean)) for each in found]
    if not all(math.isfinite(each.value) for each in quotients):
        raise NotChecked(f"{rule.metric} is too small to divide by {in_words(where)}".strip())
    return quotients


def _over(value: float, mean: float) -> float:
    return type(value)(value / mean) if isinstance(value, AtLeast) else value / mean


def off(rule: Expectation, found: Sequence[Value]) -> str | None:
    """None if all values are as they should be, otherwise what the first other one is, and of which trial."""
    return _said(rule, found, _off(rule, found))


def _said(rule: Expectation, found: Sequence[Value], wrong: Sequence[Value]) -> str | None:
    if not wrong:
        return None
    first, more = wrong[0], len(wrong) - 1
    what = f"{rule.what} {in_words(rule.where)}".strip()
    is_low = (least := rule.bound(rule.least)) is not None and first.value < least
    said = written(rule, first.value, rule.least if is_low else rule.most)
    over = "" if rule.over is None else f" times that {in_words(rule.over)}".rstrip()
    others = f" and {more} more of {len(found)}" if more else ""
    acked = f" ({ACKED})" if rule.has_part and rule.metric in OF_ACKS else ""
    return f"{what} is {said}{over}, and should be {rule.wanted}, in the trial {first.trial}{others}{acked}"


def _off(rule: Expectation, found: Sequence[Value]) -> list[Value]:
    """The values that are not as they should be."""
    least, most = rule.bound(rule.least), rule.bound(rule.most)

    def is_fine(value: float) -> bool:
        is_below = most is None or (value <= most and not isinstance(value, AtLeast))
        return (least is None or value >= least) and is_below

    return [each for each in found if not is_fine(each.value)]


def seen_range(verdict: Verdict) -> str:
    """What was seen, for people: "9.41 Mbit/s – 9.44 Mbit/s"; a dash if nothing was."""
    if verdict.low is None or verdict.high is None:
        return "-"
    low, high = written(verdict.rule, verdict.low), written(verdict.rule, verdict.high)
    return low if low == high else f"{low} – {high}"


def written(rule: Expectation, value: float, bound: str | None = None) -> str:
    """A value for people, in the unit in which the rule says this bound, else its first one. It has as many digits as
    tell it from all bounds.
    """
    if isinstance(value, AtLeast):
        return f"{NEVER} (in {value:.4g} s)" if rule.unit == "s" else NEVER
    text = next((each for each in (bound, rule.least, rule.most) if each is not None), "")
    limits = [limit for limit in map(rule.bound, (rule.least, rule.most)) if limit is not None]
    if rule.unit in QUANTITIES:
        quantity, base, usual = QUANTITIES[rule.unit]
        unit = units.unit_in(text, quantity) or usual
        return f"{_digits(value, limits, base / quantity.units[unit], 4)} {unit}"
    is_percent = rule.unit == "ratio" and ("%" in text or not text)
    return f"{_digits(value, limits, 100 if is_percent else 1, 3)}{' %' if is_percent else ''}"


def _digits(value: float, limits: Sequence[float], scale: float, least: int) -> str:
    """Times `scale`. Without an exponent for what is large; with more digits where fewer would show another number than
    a limit as if it were the limit.
    """
    others = {float(f"{limit * scale:.12g}") for limit in limits if limit != value}
    scaled, text = value * scale, ""
    for digits in (least, 6, 9, 17):
        text = f"{scaled:.0f}" if 10**digits <= abs(scaled) < LARGE else f"{scaled:.{digits}g}"
        if float(text) not in others:
            return text
    return text


LARGE = 1e15
"""From here on exponents are easier to read."""
QUANTITIES = {
    "s": (units.TIME, 1e9, "ms"),
    "bit/s": (units.RATE, 1.0, "Mbit/s"),
    "B": (units.SIZE, 1.0, "B"),
}
"""By a rule's unit: its quantity, how many of its first unit that is, and the unit for people if a bound has none."""


def _chosen(rule: Expectation, trials: Sequence[Measured], where: Choice) -> list[Value]:
    absent = lacking(where, [each.result.params for each in trials])
    if absent is not None:
        raise NotChecked(f"there is no trial {in_words(absent)}".strip())
    meant = _meant(trials, where)
    for each in meant:
        if each.result.verdict != "valid":
            worst = [str(found) for found in each.result.findings if found.verdict == each.result.verdict]
            reasons = "; ".join(worst[:3])
            raise NotChecked(f"the trial {each.result.id} is {each.result.verdict}: {reasons}")
    found = []
    for each in meant:
        value = each.value(rule.metric, rule.number, each.part(rule))
        if value is None or not math.isfinite(value):
            why = f": its {each.lost[rule.metric]} is missing" if rule.metric in each.lost else ""
            raise NotChecked(f"the trial {each.result.id} has no {rule.metric}{why}")
        found.append(Value(each.result.id, value))
    return found


def _meant(trials: Sequence[Measured], where: Choice) -> list[Measured]:
    return [each for each in trials if chosen(where, each.result.params)]
