"""Series: the trials of a run that differ in RTT and seed only, and the throughput profile they make. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal, TypeAlias

from ..codec.frozen import dataclass
from ..model import chance
from ..model.scenario import Params, Trial
from ..trial.result import TrialResult
from . import concavity
from .condition import Conditions, conditions
from .profile import Stretch, ThroughputProfile, stretches
from .statistic import Interval
from .theory_curve import line_rate_bps

Span: TypeAlias = Literal["steady", "whole"]
"""The part of a trial: without the ramp, or all of it."""

RTT_KEYS = ("rtt", "delay")
SCALED_WITH_RTT = ("duration", "bytes", "leave_out", "buffer", "window", "interval")
"""Parameters that people scale with the RTT: if each RTT has one value of such a parameter, it identifies no series."""

LABELLED = ("window", "loss", "rate", "buffer", "kernel")


@dataclass(frozen=True)
class Coefficients:
    """C_U, C_CC and C_UC of a normalized profile (ratios), and C_CC in bits, corrected and as the paper prints it.

    See docs/concavity.md; `c_uc_interval` is Student's, None if an RTT has one trial or all seeds give the same.
    """

    c_u: float
    c_cc: float
    c_uc: float
    c_uc_interval: Interval | None
    c_uc_measured_midpoint: float
    c_uc_as_glossed: float
    c_cc_bits: float
    c_cc_bits_as_printed: float


@dataclass(frozen=True)
class Series:
    """Trials that differ only in RTT and seed; `trials` are the valid and suspect ones with a goodput.

    `params` identify the series, `label` names those of them that vary in the run. `left_out` are the ids of the trials
    that are invalid or have no goodput, or an absurd one. `conditions` are those of the first trial; None without
    trials. `all_conditions` has each combination that occurs once. `exact` are the ids of trials in which nothing is
    random. `members` are all trials, with what they `asked` by id. `values` are what the profile is of, by the id of
    the trial, where that is not the goodput.
    """

    params: Params
    label: str
    trials: tuple[TrialResult, ...]
    left_out: tuple[str, ...]
    conditions: Conditions | None
    all_conditions: tuple[Conditions, ...] = ()
    exact: frozenset[str] = frozenset()
    members: tuple[TrialResult, ...] = ()
    asked: Mapping[str, Conditions] = field(default_factory=dict)
    values: Mapping[str, float] | None = None

    def of(self, value: Callable[[TrialResult], float | None]) -> Series:
        """The same trials by another value than their goodput: those that are not invalid and have it, 0 or more."""
        found = {each.id: value(each) for each in self.members if each.verdict != "invalid"}
        values = {id: known for id, known in found.items() if known is not None and 0 <= known < math.inf}
        return _chosen(replace(self, values=values), lambda each: each.id in values)

    @property
    def suspect(self) -> tuple[str, ...]:
        """The ids of the suspect trials."""
        return tuple(each.id for each in self.trials if each.verdict == "suspect")

    @property
    def capacity_bps(self) -> float | None:
        """The rate asked of the path's slowest link; None if there is none, or not one for all trials."""
        return capacity_bps(self.trials)

    @property
    def full_goodput_bps(self) -> float | None:
        """What flows reach over a full link; None without a capacity."""
        return full_goodput_bps(self.trials)

    def profile(self, span: Span = "steady", *, knows_exact: bool = False) -> ThroughputProfile | None:
        """Aggregate goodput over the RTT that was asked for, with the repetitions; None without any trial. Only if it
        `knows_exact` are the RTTs exact in which nothing is random. With `values` it is of these, whatever the span.
        """
        return profile(self.trials, span, self.exact if knows_exact else frozenset(), self.values)

    def stretches(self, span: Span = "steady", margin: float = 0.01) -> tuple[Stretch, ...]:
        """Where the profile is concave, convex or straight; `margin` is a share of the capacity. Empty for one RTT."""
        profile = self.profile(span)
        if profile is None or len(profile.rtt_s) < 2:
            return ()
        return stretches(profile, margin * (self.capacity_bps or max(profile.mean_bps)))

    def coefficients(self, span: Span = "steady") -> Coefficients | None:
        """None for fewer than two RTTs, or without a capacity."""
        profile, capacity = self.profile(span), self.full_goodput_bps
        if profile is None or capacity is None or len(profile.rtt_s) < 2:
            return None
        curve = concavity.normalized(profile, capacity)
        estimate = concavity.estimated(concavity.utilization_concavity, profile.rtt_s, profile.estimates, capacity)
        return Coefficients(
            c_u=concavity.under_utilization(curve),
            c_cc=concavity.convex_concave(curve),
            c_uc=concavity.utilization_concavity(curve),
            c_uc_interval=estimate.interval(),
            c_uc_measured_midpoint=concavity.utilization_concavity_with_measured_midpoint(curve),
            c_uc_as_glossed=concavity.utilization_concavity_as_glossed(curve),
            c_cc_bits=concavity.convex_concave_bits(profile),
            c_cc_bits_as_printed=concavity.convex_concave_bits_as_printed(profile),
        )


def capacity_bps(results: Sequence[TrialResult]) -> float | None:
    """The rate asked of the path's slowest link; None if there is none, or not one for all trials."""
    rates = {each.asked.rate_bps for each in results}
    return rates.pop() if len(rates) == 1 else None


def full_goodput_bps(results: Sequence[TrialResult]) -> float | None:
    """L of the coefficients: the goodput of a full link, without headers; None without a single rate.

    A rate counts whole Ethernet frames, so a profile of goodput over the rate itself would never reach 1.
    """
    if capacity_bps(results) is None:
        return None
    return max(rate for each in results if (rate := line_rate_bps(conditions(each))) is not None)


def profile(
    results: Sequence[TrialResult],
    span: Span = "steady",
    exact: frozenset[str] = frozenset(),
    values: Mapping[str, float] | None = None,
) -> ThroughputProfile | None:
    """Aggregate goodput, or these values by id, over the RTT that was asked for, with the repetitions; None without
    any. An RTT is exact if all its trials are, and came out the same.
    """
    samples: dict[float, list[float]] = {}
    drawn = {each.asked.rtt_s for each in results if each.id not in exact}
    for each in results:
        rate = goodput_bps(each, span) if values is None else values.get(each.id)
        if rate is not None:
            samples.setdefault(each.asked.rtt_s, []).append(rate)
    one_case = frozenset(rtt for rtt, rates in samples.items() if rtt not in drawn and len({*rates}) == 1)
    return ThroughputProfile.of_samples(samples, one_case) if samples else None


def series(
    results: Sequence[TrialResult],
    trials: Mapping[str, Trial] | None = None,
    apart_from: Sequence[str] = (),
) -> tuple[Series, ...]:
    """The series of a run, in the order of their first trials.

    All parameters identify a series, except the RTT, parameters that scale with it (such as a duration for each RTT),
    and `apart_from`. `trials` are those of the results, by id: they give a series its loss and its windows.
    """
    rtt = rtt_key(results)
    unseen = {rtt, *apart_from, *_bound_to_rtt(results, rtt)}
    groups: dict[Params, list[TrialResult]] = {}
    for each in results:
        params = tuple((key, value) for key, value in each.params.items() if key not in unseen)
        groups.setdefault(params, []).append(each)
    varied = [key for key in varied_keys(results) if key not in unseen]
    return tuple(_series(params, members, varied, trials or {}) for params, members in groups.items())


def _series(
    params: Params, members: Sequence[TrialResult], varied: Sequence[str], trials: Mapping[str, Trial]
) -> Series:
    known = [each for each in members if each.verdict != "invalid"]
    found = Series(
        params=params,
        label=label(params, varied),
        trials=(),
        left_out=(),
        conditions=None,
        exact=frozenset(each.id for each in known if each.id in trials and not chance.is_drawn(trials[each.id])),
        members=tuple(members),
        asked={each.id: conditions(each, trials.get(each.id)) for each in known},
    )
    return _chosen(found, lambda each: each.is_usable and 0 <= each.usable_goodput_bps < math.inf)


def _chosen(found: Series, is_chosen: Callable[[TrialResult], bool]) -> Series:
    """With those of its trials that count."""
    usable = tuple(each for each in found.members if is_chosen(each))
    asked, used = [found.asked[each.id] for each in usable], {each.id for each in usable}
    return replace(
        found,
        trials=usable,
        left_out=tuple(each.id for each in found.members if each.id not in used),
        conditions=asked[0] if asked else None,
        all_conditions=tuple(dict.fromkeys(asked)),
    )


def rtt_key(results: Sequence[TrialResult]) -> str | None:
    """The parameter that is the RTT; of several, the one with the most values; None if none is an axis."""
    keys = [key for key in all_keys(results) if key.split(".")[-1] in RTT_KEYS or ".delay." in key]
    return max(keys, key=lambda key: len({each.params.get(key) for each in results}), default=None)


def all_keys(results: Sequence[TrialResult]) -> list[str]:
    return list(dict.fromkeys(key for each in results for key in each.params))


def varied_keys(results: Sequence[TrialResult]) -> list[str]:
    """The parameters that have more than one value."""
    return [key for key in all_keys(results) if len({each.params.get(key) for each in results}) > 1]


def _bound_to_rtt(results: Sequence[TrialResult], rtt: str | None) -> list[str]:
    """Parameters that have one value for each RTT, so that they vary with the RTT and not independently of it."""
    if rtt is None:
        return []
    bound = []
    for key in varied_keys(results):
        pairs = {(each.params.get(rtt), each.params.get(key)) for each in results}
        is_function = len(pairs) == len({first for first, _ in pairs})
        if key != rtt and is_function and key.split(".")[-1] in SCALED_WITH_RTT:
            bound.append(key)
    return bound


def label(params: Params, keys: Sequence[str] | None = None) -> str:
    """A short name: "loss none, bbr, 4 flows"; only of these keys (None: of all). "all" if there are none."""
    words = [word(key, value) for key, value in params if keys is None or key in keys]
    return ", ".join(words) or "all"


def word(key: str, value: str) -> str:
    """One parameter in words: the value alone if it needs no name."""
    name = key.rsplit(".", 1)[-1]
    if name == "flows":
        return f"{value} flow{'s' if value != '1' else ''}"
    return f"{name} {value}" if name in LABELLED else value


def goodput_bps(result: TrialResult, span: Span = "steady") -> float | None:
    """The aggregate goodput: without the ramp, or all bytes that the flows received over the whole workload."""
    if span == "steady" or result.ramp_goodput_bps is None:
        return result.goodput_bps
    return 8 * result.received_bytes / result.workload_s if result.received_bytes and result.workload_s else None
