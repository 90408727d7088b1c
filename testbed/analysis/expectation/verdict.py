"""Rules of `expect` held against trials: passed, failed or not checked, and what was seen. Pure, no I/O.

What is missing is never a pass: no trial with these values, one that is not valid, one without a (finite) value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from ...codec.frozen import dataclass
from ...error import UserError
from ...model.expectation import Choice, Expectation, NotChecked, chosen, in_words, lacking
from ..metric import METRICS, NEVER, AtLeast
from .measured import Measured

Outcome: TypeAlias = Literal["passed", "failed", "not checked"]


@dataclass(frozen=True)
class Verdict:
    """What became of a rule. `low` and `high` are the least and the largest value, in the unit of its bounds, of
    `trials` trials (0, None: no value); `seen` is what was seen instead, or why it was not checked (None: it passed).
    """

    rule: Expectation
    outcome: Outcome
    trials: int = 0
    low: float | None = None
    high: float | None = None
    seen: str | None = None

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
            **({"since": rule.since} if rule.since else {}),
            "unit": rule.unit,
            "least": rule.bound(rule.least),
            "most": rule.bound(rule.most),
            "trials": self.trials,
            "low": self.low,
            "high": self.high,
            "message": rule.message or None,
            "seen": self.seen,
        }


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
        wrong = off(rule, found)
    except (NotChecked, UserError) as why:
        return Verdict(rule, "not checked", seen=str(why))
    outcome: Outcome = "passed" if wrong is None else "failed"
    return Verdict(rule, outcome, len(found), min(found), max(found), wrong)


def values(rule: Expectation, trials: Sequence[Measured]) -> list[float]:
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
    if any(isinstance(value, AtLeast) for value in base):
        raise NotChecked(f"{rule.metric} has no value {in_words(where)}: it did not come to that".strip())
    mean = sum(base) / len(base)
    if mean <= 0:
        raise NotChecked(f"{rule.metric} is 0 {in_words(where)}".strip())
    quotients = [type(value)(value / mean) if isinstance(value, AtLeast) else value / mean for value in found]
    if not all(map(math.isfinite, quotients)):
        raise NotChecked(f"{rule.metric} is too small to divide by {in_words(where)}".strip())
    return quotients


def off(rule: Expectation, found: Sequence[float]) -> str | None:
    """None if all values are as they should be, otherwise what the first other one is."""
    least, most = rule.bound(rule.least), rule.bound(rule.most)
    for value in found:
        is_below = most is None or (value <= most and not isinstance(value, AtLeast))
        if not ((least is None or value >= least) and is_below):
            where = in_words(rule.where)
            what = f"{rule.what} {where}".strip()
            return f"{what} is {written(rule, value)}, and should be {rule.wanted}"
    return None


def seen_range(verdict: Verdict) -> str:
    """What was seen, for people: "9.41 Mbit/s – 9.44 Mbit/s"; a dash if nothing was."""
    if verdict.low is None or verdict.high is None:
        return "-"
    low, high = written(verdict.rule, verdict.low), written(verdict.rule, verdict.high)
    return low if low == high else f"{low} – {high}"


def written(rule: Expectation, value: float) -> str:
    """A value in the unit of the rule's bounds, for people."""
    if isinstance(value, AtLeast):
        return f"{NEVER} (in {value:.4g} s)" if rule.unit == "s" else NEVER
    if rule.unit == "bit/s":
        return f"{value / 1e6:.4g} Mbit/s"
    if rule.unit == "ratio":
        return f"{100 * value:.3g} %"
    return f"{value * 1e3:.4g} ms" if rule.unit == "s" else f"{value:.3g}"


def _chosen(rule: Expectation, trials: Sequence[Measured], where: Choice) -> list[float]:
    absent = lacking(where, [each.result.params for each in trials])
    if absent is not None:
        raise NotChecked(f"there is no trial {in_words(absent)}".strip())
    meant = _meant(trials, where)
    for each in meant:
        if each.result.verdict != "valid":
            reasons = "; ".join(each.result.warnings[:3])
            raise NotChecked(f"the trial {each.result.id} is {each.result.verdict}: {reasons}")
    found = []
    for each in meant:
        value = each.value(rule.metric, rule.number, each.part(rule))
        if value is None or not math.isfinite(value):
            why = f": its {each.lost[rule.metric]} is missing" if rule.metric in each.lost else ""
            raise NotChecked(f"the trial {each.result.id} has no {rule.metric}{why}")
        found.append(value)
    return found


def _meant(trials: Sequence[Measured], where: Choice) -> list[Measured]:
    return [each for each in trials if chosen(where, each.result.params)]
