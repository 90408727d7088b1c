"""A comparison of a run with a published profile: each of our series with each published series. Pure, no I/O.

`analysis.distance` judges the points. Values are compared as they are, throughputs in bit/s. Where the rates of the
links differ they can only be compared as shares of the rate; that this makes sense is the user's claim (`as_shares`).

Where a publication does not state the RTT, its number is held against every RTT of ours, and that it is the number of
our path is the user's claim, too: so only what the user names is compared in this way, and agreement is at most
"calibrated". At least one of our RTTs may be another one than the publication's: the verdict is that of all of ours, if
they have one.
"""

from __future__ import annotations

import math
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from ..analysis.distance import Candidate, ProfileDistance, best_match, common_rtts, distance, worst
from ..analysis.point import SAME_RTT, PointDifference, Verdict
from ..analysis.profile import Limits, Published, ThroughputProfile
from ..analysis.series import Series, Span
from ..analysis.significance import within
from ..codec.frozen import dataclass
from ..error import UserError, one_of
from . import condition, quantity
from .condition import Choice, Condition, cautions, unfit
from .published import Certainty, Claim, Compared, PublishedProfile, comparable
from .published import Series as PublishedSeries
from .quantity import Quantity, Value

ZERO = "a number is 0, and nothing is relative to it"


@dataclass(frozen=True)
class Target:
    """A published series: its values in the base unit of its quantity, and the certainties of its points, both by RTT
    in s; and its limits. `about.is_alone`: it is a single number, not a series over RTT; unless it `about.has_rtt`, it
    stands at 0, and is held against each RTT of ours.
    """

    name: str
    about: Compared
    published: Published
    capacity_bps: float | None
    certainties: Mapping[float, Certainty]
    limits: Limits = ()

    @property
    def series(self) -> PublishedSeries:
        return self.about.series

    @property
    def quantity(self) -> Quantity:
        return self.about.quantity

    @property
    def is_alone(self) -> bool:
        return self.about.is_alone

    def joint(self, verdicts: Sequence[Verdict]) -> Verdict:
        """differ if any is; where the publication states no RTT, which would tell ours apart, only if all are."""
        if not self.about.has_rtt and len({*verdicts}) > 1:
            return "cannot tell"
        return worst(verdicts)

    def certainty(self, rtt_s: float) -> Certainty:
        return self.certainties[rtt_s if self.about.has_rtt else 0.0]

    def at_rtts(self, measured: ThroughputProfile) -> Target:
        """The same at RTTs: at all of ours if the publication states none."""
        if self.about.has_rtt:
            return self
        return replace(
            self,
            published={rtt: each for rtt in measured.rtt_s for each in self.published.values()},
            limits=[(rtt, each) for rtt in measured.rtt_s for _, each in self.limits],
        )

    def ours(self, series: Series, span: Span, value: Value) -> Series:
        """One of our series by what the number is."""
        of, values, about = self.series.of, self.published, self.quantity
        if about is quantity.GOODPUT:
            if "congestion" not in of or not any(map(quantity.is_of_datagrams, series.members)):
                return series
            about = quantity.TCP_GOODPUT
        is_ceiling = not values and all(limit.limit == "at most" for _, limit in self.limits)
        found = about.upper if is_ceiling and about.upper else about.of
        return series.of(lambda result: found(result, of, span, value))

    def rtts_within(self, measured: ThroughputProfile) -> tuple[float, ...]:
        """Of all its values and limits, one for each, those within what was measured; of a number that is alone, only
        where something was.
        """
        if not self.about.has_rtt:
            return measured.rtt_s
        found = common_rtts([*self.published, *(rtt for rtt, _ in self.limits)], measured)
        if not self.is_alone:
            return found
        return tuple(rtt for rtt in found if any(math.isclose(rtt, at, rel_tol=SAME_RTT) for at in measured.rtt_s))


@dataclass(frozen=True)
class Match:
    """One of our series compared with a published one, in bit/s or, with `is_share`, in shares of each side's rate.

    `conditions` are those that a side states. `verdict` is of the numbers alone; it decides only if the series `fits`.
    `claim` is how strong an agreement is, `cautions` are its limits.
    """

    ours: Series
    target: Target
    is_share: bool
    distance: ProfileDistance
    conditions: tuple[Condition, ...]
    choice: Choice
    claim: Claim
    cautions: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        found = self.target.joint([each.verdict(self.choice.tolerance) for each in self.distance.points])
        is_part = bool(self.distance.left_out_rtt_s) and not self.choice.common_rtts
        return "cannot tell" if found == "agree" and (is_part or self.ours.left_out) else found

    @property
    def fits(self) -> bool:
        """Whether no condition that decides, and that both sides state, differs."""
        return not unfit(self.conditions, self.choice, self.is_share)


@dataclass(frozen=True)
class TargetComparison:
    """All matches of a published series, the nearest first; `ranking` says how sure this order is."""

    target: Target
    matches: tuple[Match, ...]
    ranking: tuple[Candidate[str], ...]

    @property
    def judged(self) -> tuple[Match, ...]:
        """The matches that decide: all whose conditions fit."""
        return tuple(match for match in self.matches if match.fits)

    @property
    def verdict(self) -> Verdict:
        """differ if any that fits does, agree if all that fit do, cannot tell if none fits."""
        return self.target.joint([match.verdict for match in self.judged])


@dataclass(frozen=True)
class ProfileComparison:
    """`not_compared` names the published series, and ours, that were not compared, each with the reason. `lost` is what
    the run was asked for and has not: with anything lost, nothing is shown to agree.
    """

    profile: PublishedProfile
    choice: Choice
    targets: tuple[TargetComparison, ...]
    not_compared: tuple[str, ...]
    lost: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        found = worst([each.verdict for each in self.targets])
        return "cannot tell" if found == "agree" and self.lost else found


@dataclass(frozen=True)
class Reason:
    """Why a series of one side is not compared, or a part of its points if `is_part`. `is_of_rtts` if it could be
    compared with other RTTs of ours.
    """

    side: Literal["ours", "published"]
    series: str
    text: str
    is_part: bool = False
    is_of_rtts: bool = False

    def __str__(self) -> str:
        return f"{self.side}, {self.series}: {self.text}"


class NothingToCompare(UserError):
    """No series of a run is comparable with any of a published profile; `reasons` has one or more for each."""

    def __init__(self, profile: PublishedProfile, reasons: tuple[Reason, ...]) -> None:
        self.profile, self.reasons = profile.name, reasons
        listed = "".join(f"\n  {each}" for each in reasons)
        allowed = "a run whose RTTs reach from below a published one to above it"
        if not profile.compared:
            allowed = f"a profile with such numbers ({', '.join(comparable())}), or the rows of testbed reproduce"
        elif not any(each.is_of_rtts for each in reasons):
            allowed = "a run that has what the number is of; docs/published-profiles.md says what a trial must have"
        super().__init__(f"nothing of this run can be compared with {profile.name}:{listed}\nallowed: {allowed}")


@dataclass(frozen=True)
class _Pair:
    """One of ours and a published series in one unit."""

    ours: Series
    target: Target
    is_share: bool
    measured: ThroughputProfile
    published: Published
    limits: Limits
    conditions: tuple[Condition, ...]


def compare(
    ours: Sequence[Series],
    profile: PublishedProfile,
    only: str | None = None,
    choice: Choice = Choice(),  # noqa: B008
    span: Span = "steady",
    parts: Mapping[str, Sequence[float]] = types.MappingProxyType({}),
    value: Value = quantity.measured,
) -> ProfileComparison:
    """Compare our series with the published ones of the same congestion control and flows, as far as both are known.

    Other conditions may differ, so as to find which of ours explains a published profile best; such series do not
    decide. `only` is the name of the one published series or number to compare; if none of our series is like it, it
    is compared with all of them. `parts` is what a trial brought in each of many parts of the same length, by its id,
    where it may say how it varies. `value` is where metrics come from. Raises UserError, with the series of both sides
    and the reasons, if nothing can be compared.
    """
    why_not: list[Reason] = []
    targets = _targets(profile, only, why_not)
    lost: dict[str, Reason] = {}
    pairs: list[list[_Pair]] = []
    unlike: list[Target] = []
    for target in targets:
        own = [target.ours(each, span, value) for each in ours]
        lost |= {each.label: _lost(each, target) for each in _without(own, ours, target, choice, span)}
        profiles = [(each, found) for each in own if (found := each.profile(span, knows_exact=True)) is not None]
        covering = [(each, found) for each, found in profiles if target.rtts_within(found)]
        why_not += _not_covering(target, [pair for pair in profiles if pair not in covering])
        made = [_pair(each, found, target) for each, found in covering]
        alike = [pair for pair in made if not _unlike(pair.conditions, target.about.axis)]
        if covering and not alike and only != target.name and (only is None or target.about.axis):
            unlike.append(target)
        elif covering:
            pairs.append(alike or made)
    groups = {each.about.group for each in targets}
    zeros = [each for each in why_not if each.text == ZERO and profile.compared[each.series].group in groups]
    why_not = [each for each in why_not if each not in zeros]
    without_like = [*_without_like(unlike, targets), *(replace(each, is_part=True) for each in zeros)]
    why_not = [*lost.values(), *why_not]
    if not pairs:
        why_not += [*without_like, *_only_named(profile, only)]
        raise NothingToCompare(profile, tuple(dict.fromkeys(why_not)))
    judged = [pair for each in pairs for pair in each if not unfit(pair.conditions, choice, pair.is_share)]
    family = max(1, sum(len(pair.target.rtts_within(pair.measured)) for pair in judged))
    compared = tuple(_target(each, choice, family, parts) for each in pairs)
    gaps = [] if choice.common_rtts else [each for each in without_like if each.is_part]
    why_not += [each for each in without_like if each not in gaps]
    gone = [*lost.values(), *map(_gap, gaps)]
    return ProfileComparison(profile, choice, compared, _texts([*why_not, *gone]), _texts(gone))


def _without_like(unlike: Sequence[Target], targets: Sequence[Target]) -> Iterator[Reason]:
    """Of published series that ours has not, one reason for all points of a series."""
    for group in dict.fromkeys(each.about.group for each in unlike):
        these = [each for each in unlike if each.about.group == group]
        is_whole = len(these) == sum(each.about.group == group for each in targets)
        name = group if is_whole else ", ".join(each.name for each in these)
        axis = these[0].about.axis
        stated = [f"{key} {value}" for key, value in these[0].series.of.items() if key != axis or len(these) == 1]
        if axis and len(these) > 1:
            stated.append(f"{axis} {', '.join(each.series.of[axis] for each in these)}")
        yield Reason("published", name, f"{', '.join(stated)}; ours has no such series", is_part=not is_whole)


def _only_named(profile: PublishedProfile, only: str | None) -> Iterator[Reason]:
    """What is not compared unless the user names it."""
    names = [*dict.fromkeys(each.group for each in profile.compared.values() if not each.has_rtt)]
    if names and only is None:
        what = f"no RTT is stated, so what is named is compared alone: {profile.name}#NAME with {one_of(names, '')}"
        yield Reason("published", profile.name, what)


def _without(
    own: Sequence[Series], ours: Sequence[Series], target: Target, choice: Choice, span: Span
) -> Iterator[Series]:
    """Those of ours that have no value, and are not of other conditions, which would not decide."""
    for each, whole in zip(own, ours, strict=True):
        known = condition.conditions(whole, target.series.of, target.capacity_bps, target.about.axis)
        is_other = _unlike(known, target.about.axis) or unfit(known, choice)
        if not each.profile(span) and not is_other:
            yield each


def _lost(ours: Series, target: Target) -> Reason:
    return Reason("ours", ours.label, f"no valid or suspect trial has {target.quantity.trial}")


def _gap(reason: Reason) -> Reason:
    """Of a series of which other points are compared, those that ours does not have: they may hide anything."""
    return replace(reason, text=f"{reason.text}; with --common-rtts the others decide alone")


def _texts(reasons: Sequence[Reason]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, reasons)))


def _target(
    pairs: Sequence[_Pair], choice: Choice, family: int, parts: Mapping[str, Sequence[float]]
) -> TargetComparison:
    matches = [_match(pair, choice, family, parts) for pair in pairs]
    nearest_first = sorted(matches, key=lambda match: match.distance.rms.value if match.distance.rms else 0.0)
    ranking: tuple[Candidate[str], ...] = ()
    target = pairs[0].target
    is_contest = target.about.has_rtt and (len(pairs) > 1 or not target.is_alone)
    if is_contest and len({pair.is_share for pair in pairs}) == 1:
        ranking = _ranking(pairs)
    return TargetComparison(target, tuple(nearest_first), ranking)


def _ranking(pairs: Sequence[_Pair]) -> tuple[Candidate[str], ...]:
    """Empty if no RTT is common to all."""
    try:
        return best_match(pairs[0].published, {pair.ours.label: pair.measured for pair in pairs})
    except ValueError:
        return ()


def _match(pair: _Pair, choice: Choice, family: int, parts: Mapping[str, Sequence[float]]) -> Match:
    apart = distance(pair.measured, pair.published, _capacities(pair), family, limits=pair.limits)
    points = tuple(replace(each, is_apart=_is_apart(pair, each, family, parts)) for each in apart.points)
    apart = replace(apart, points=points)
    return Match(
        ours=pair.ours,
        target=pair.target,
        is_share=pair.is_share,
        distance=apart,
        conditions=pair.conditions,
        choice=choice,
        claim=_claim(pair),
        cautions=cautions(pair.ours, pair.conditions, apart, pair.is_share, choice, pair.target.is_alone)
        + _of_no_rtt(pair.target, apart, choice),
    )


def _is_apart(pair: _Pair, at: PointDifference, family: int, parts: Mapping[str, Sequence[float]]) -> bool:
    """Whether the one trial at an RTT differs from what is published by more than its own variation explains."""
    is_bulk = pair.target.quantity.is_bulk
    trials = [each for each in pair.ours.trials if math.isclose(each.asked.rtt_s, at.rtt_s, rel_tol=SAME_RTT)]
    if len(trials) != 1 or not is_bulk or at.is_between or at.is_exact or at.share_off >= 1:
        return False
    known = np.array(parts.get(trials[0].id, ()))
    if not len(known) or known.mean() <= 0:
        return False
    off = at.share_off if at.relative.value > 0 else -at.share_off
    p = within.of_value(known / known.mean() * at.measured_bps, at.published_bps * (1 + off))
    return p * family < within.ERROR


def _pair(ours: Series, measured: ThroughputProfile, target: Target) -> _Pair:
    target = target.at_rtts(measured)
    conditions = condition.conditions(ours, target.series.of, target.capacity_bps, target.about.axis)
    own, theirs = ours.capacity_bps, target.capacity_bps
    if own is None or theirs is None or own == theirs:
        return _Pair(ours, target, False, measured, target.published, target.limits, conditions)
    shares = {rtt: each.scaled(1 / theirs) for rtt, each in target.published.items()}
    limits = [(rtt, each.scaled(1 / theirs)) for rtt, each in target.limits]
    return _Pair(ours, target, True, measured.scaled(1 / own), shares, limits, conditions)


def _capacities(pair: _Pair) -> tuple[float, float] | None:
    """What full links carry, in the unit of the pair; the published one is taken to have our headers."""
    own, full, theirs = pair.ours.capacity_bps, pair.ours.full_goodput_bps, pair.target.capacity_bps
    if own is None or full is None or theirs is None:
        return None
    return (full / own, full / own) if pair.is_share else (full, theirs * full / own)


def _targets(profile: PublishedProfile, only: str | None, why_not: list[Reason]) -> list[Target]:
    targets = []
    for name, about in profile.chosen(only).items():
        if only is None and not about.has_rtt:
            continue
        each, factor = about.series, about.quantity.factor(about.series.of)
        published = {rtt: found.scaled(factor) for rtt, found in each.references().items()}
        limits = [(rtt, found.scaled(factor)) for rtt, found in each.limits()]
        if not published and not limits:
            why_not.append(Reason("published", name, f"nothing is printed: {each.what}"))
            continue
        if any(found.mean.value <= 0 for found in (*published.values(), *(limit for _, limit in limits))):
            why_not.append(Reason("published", name, ZERO))
            continue
        certainties = {point.at.value: each.certainty_of(point) for point in each.points}
        capacity_bps = each.capacity.value if each.capacity else None
        targets.append(Target(name, about, published, capacity_bps, certainties, limits))
        unknown = [f"{rtt * 1e3:g}" for rtt, certainty in certainties.items() if certainty == "unknown"]
        if unknown:
            why_not.append(Reason("published", name, f"nothing is printed at {', '.join(unknown)} ms", is_part=True))
    if not profile.compared:
        why_not.append(Reason("published", profile.name, "it has no number that a trial can have"))
    return targets


def _not_covering(target: Target, others: Sequence[tuple[Series, ThroughputProfile]]) -> list[Reason]:
    """One reason for all of our series whose range holds no RTT of the published series; empty if there are none."""
    if not others:
        return []
    ranges = dict.fromkeys(f"{own.rtt_s[0] * 1e3:g} to {own.rtt_s[-1] * 1e3:g} ms" for _, own in others)
    rtts = ", ".join(f"{rtt * 1e3:g}" for rtt in dict.fromkeys([*target.published, *(at for at, _ in target.limits)]))
    which = others[0][0].label if len(others) == 1 else f"{len(others)} series"
    return [
        Reason("published", target.about.group, f"RTT {rtts} ms; ours, {which}: {', '.join(ranges)}", is_of_rtts=True)
    ]


def _unlike(conditions: Sequence[Condition], axis: str | None) -> bool:
    """Whether congestion control, flows or what the published series is over differ, where both sides state them."""
    return any(each.name in ("congestion", "flows", axis) and each.is_same is False for each in conditions)


def _of_no_rtt(target: Target, apart: ProfileDistance, choice: Choice) -> tuple[str, ...]:
    verdicts = {point.verdict(choice.tolerance) for point in apart.points}
    if target.about.has_rtt or (target.quantity.is_of_rtt and len(verdicts) < 2):
        return ()
    rtts = ", ".join(f"{each * 1e3:g}" for each in dict.fromkeys(point.rtt_s for point in apart.points))
    said = f"the publication states no RTT; ours is {rtts} ms, and whether that is its own is not known"
    return (f"{said}, so RTTs that come out differently decide nothing" if len(verdicts) > 1 else said,)


def _claim(pair: _Pair) -> Claim:
    """The claim of the published series; "reproduced" becomes "shape" unless all conditions are stated and the same.
    Without an RTT, which was then chosen here, it is "calibrated".
    """
    claim, named = pair.target.series.claim, {each.name for each in pair.conditions}
    if not (pair.target.about.has_rtt or pair.target.quantity.is_of_rtt or claim == "data only"):
        return "calibrated"
    is_like = all(each.is_same for each in pair.conditions) and named == set(condition.KINDS)
    return "shape" if claim == "reproduced" and not is_like else claim
