"""A comparison of a run with a published profile: each of our series with each published series. Pure, no I/O.

`analysis.distance` judges the points. Throughputs are compared as they are, in bit/s. Where the rates of the links
differ they can only be compared as shares of the rate; that this makes sense is the user's claim (`as_shares`).
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from ..analysis.distance import Candidate, ProfileDistance, best_match, common_rtts, distance, worst
from ..analysis.point import SAME_RTT, PointDifference, Verdict
from ..analysis.profile import Limits, Published, ThroughputProfile
from ..analysis.series import Series, Span
from ..analysis.significance import within
from ..codec.frozen import dataclass
from ..error import UserError
from . import condition
from .condition import Choice, Condition, cautions, unfit
from .published import Certainty, Claim, PublishedProfile, comparable
from .published import Series as PublishedSeries


@dataclass(frozen=True)
class Target:
    """A published series: its throughputs in bit/s, and the certainties of its points, both by RTT in s; and its limits
    of the throughput, in bit/s. `is_alone`: it is a single number, not a series over RTT.
    """

    name: str
    series: PublishedSeries
    published: Published
    capacity_bps: float | None
    certainties: Mapping[float, Certainty]
    limits: Limits = ()
    is_alone: bool = False

    def rtts_within(self, measured: ThroughputProfile) -> tuple[float, ...]:
        """Of all its values and limits, one for each, those within what was measured; of a number that is alone, only
        where something was.
        """
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
        found = self.distance.verdict(self.choice.tolerance)
        is_part = bool(self.distance.left_out_rtt_s) and not self.choice.common_rtts
        return "cannot tell" if found == "agree" and (is_part or self.ours.left_out) else found

    @property
    def fits(self) -> bool:
        """Whether no condition that decides, and that both sides state, differs."""
        return not unfit(self.conditions, self.choice)


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
        return worst([match.verdict for match in self.judged])


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
        if not profile.is_comparable:
            allowed = f"a profile of throughput over RTT ({', '.join(comparable())}), or the rows of testbed reproduce"
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
) -> ProfileComparison:
    """Compare our series with the published ones of the same congestion control and flows, as far as both are known.

    Other conditions may differ, so as to find which of ours explains a published profile best; such series do not
    decide. `only` is the name of the one published series to compare; if none of our series is like it, it is compared
    with all of them. `parts` is what a trial brought in each of many parts of the same length, by its id, where it may
    say how it varies. Raises UserError, with the series of both sides and the reasons, if nothing can be compared.
    """
    lost = [
        Reason("ours", each.label, "no valid or suspect trial has a goodput") for each in ours if not each.profile(span)
    ]
    why_not = [*lost]
    profiles = [(each, found) for each in ours if (found := each.profile(span, knows_exact=True)) is not None]
    pairs: list[list[_Pair]] = []
    for target in _targets(profile, only, why_not):
        covering = [(each, own) for each, own in profiles if target.rtts_within(own)]
        why_not += _not_covering(target, [(each, own) for each, own in profiles if (each, own) not in covering])
        made = [_pair(each, own, target, choice) for each, own in covering]
        alike = [pair for pair in made if not _unlike(pair.conditions)]
        if covering and not alike and only is None:
            why_not.append(Reason("published", target.name, f"{_of(target.series)}; ours has no such series"))
        elif covering:
            pairs.append(alike or made)
    if not pairs:
        raise NothingToCompare(profile, tuple(dict.fromkeys(why_not)))
    judged = [pair for each in pairs for pair in each if not unfit(pair.conditions, choice)]
    family = max(1, sum(len(pair.target.rtts_within(pair.measured)) for pair in judged))
    compared = tuple(_target(each, choice, family, parts) for each in pairs)
    return ProfileComparison(profile, choice, compared, _texts(why_not), _texts(lost))


def _texts(reasons: Sequence[Reason]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, reasons)))


def _target(
    pairs: Sequence[_Pair], choice: Choice, family: int, parts: Mapping[str, Sequence[float]]
) -> TargetComparison:
    matches = [_match(pair, choice, family, parts) for pair in pairs]
    nearest_first = sorted(matches, key=lambda match: match.distance.rms.value if match.distance.rms else 0.0)
    ranking: tuple[Candidate[str], ...] = ()
    if not any(pair.is_share for pair in pairs) or all(pair.is_share for pair in pairs):
        ranking = _ranking(pairs)
    return TargetComparison(pairs[0].target, tuple(nearest_first), ranking)


def _ranking(pairs: Sequence[_Pair]) -> tuple[Candidate[str], ...]:
    """Empty if no RTT is common to all."""
    try:
        return best_match(pairs[0].published, {pair.ours.label: pair.measured for pair in pairs})
    except ValueError:
        return ()


def _match(pair: _Pair, choice: Choice, family: int, parts: Mapping[str, Sequence[float]]) -> Match:
    apart = distance(pair.measured, pair.published, _capacities(pair), family, limits=pair.limits)
    points = tuple(replace(each, is_apart=_is_apart(pair.ours, each, family, parts)) for each in apart.points)
    apart = replace(apart, points=points)
    return Match(
        ours=pair.ours,
        target=pair.target,
        is_share=pair.is_share,
        distance=apart,
        conditions=pair.conditions,
        choice=choice,
        claim=_claim(pair),
        cautions=cautions(pair.ours, pair.conditions, apart, pair.is_share, choice),
    )


def _is_apart(ours: Series, at: PointDifference, family: int, parts: Mapping[str, Sequence[float]]) -> bool:
    """Whether the one trial at an RTT differs from what is published by more than its own variation explains."""
    trials = [each for each in ours.trials if math.isclose(each.asked.rtt_s, at.rtt_s, rel_tol=SAME_RTT)]
    if len(trials) != 1 or at.is_between or at.is_exact or at.share_off >= 1:
        return False
    known = np.array(parts.get(trials[0].id, ()))
    if not len(known) or known.mean() <= 0:
        return False
    off = at.share_off if at.relative.value > 0 else -at.share_off
    p = within.of_value(known / known.mean() * at.measured_bps, at.published_bps * (1 + off))
    return p * family < within.ERROR


def _pair(ours: Series, measured: ThroughputProfile, target: Target, choice: Choice) -> _Pair:
    conditions = condition.conditions(ours, target.series.of, target.capacity_bps)
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
    for name, each in profile.compared.items():
        if only not in (None, name):
            continue
        limits, published = each.limits(), None
        try:
            published = each.references()
        except UserError as error:
            if not limits:
                why_not.append(Reason("published", name, str(error)))
                continue
        published = published or {}
        if any(found.mean.value <= 0 for found in (*published.values(), *(limit for _, limit in limits))):
            why_not.append(Reason("published", name, "a throughput is 0, and nothing is relative to it"))
            continue
        certainties = {point.at.value: each.certainty_of(point) for point in each.points}
        capacity_bps = each.capacity.value if each.capacity else None
        alone = name not in profile.series
        targets.append(Target(name, each, published, capacity_bps, certainties, limits, alone))
        unknown = [f"{rtt * 1e3:g}" for rtt, certainty in certainties.items() if certainty == "unknown"]
        if unknown:
            why_not.append(Reason("published", name, f"nothing is printed at {', '.join(unknown)} ms", is_part=True))
    if not profile.compared:
        why_not.append(Reason("published", profile.name, "it has no series"))
    return targets


def _not_covering(target: Target, others: Sequence[tuple[Series, ThroughputProfile]]) -> list[Reason]:
    """One reason for all of our series whose range holds no RTT of the published series; empty if there are none."""
    if not others:
        return []
    ranges = dict.fromkeys(f"{own.rtt_s[0] * 1e3:g} to {own.rtt_s[-1] * 1e3:g} ms" for _, own in others)
    rtts = ", ".join(f"{rtt * 1e3:g}" for rtt in dict.fromkeys([*target.published, *(at for at, _ in target.limits)]))
    which = others[0][0].label if len(others) == 1 else f"{len(others)} series"
    return [Reason("published", target.name, f"RTT {rtts} ms; ours, {which}: {', '.join(ranges)}", is_of_rtts=True)]


def _unlike(conditions: Sequence[Condition]) -> bool:
    """Whether congestion control or flows differ, where both sides state them."""
    return any(each.name in ("congestion", "flows") and each.is_same is False for each in conditions)


def _of(published: PublishedSeries) -> str:
    return ", ".join(f"{key} {value}" for key, value in published.of.items())


def _claim(pair: _Pair) -> Claim:
    """The claim of the published series; "reproduced" becomes "shape" unless all conditions are stated and the same."""
    claim, named = pair.target.series.claim, {each.name for each in pair.conditions}
    is_like = all(each.is_same for each in pair.conditions) and named == set(condition.KINDS)
    return "shape" if claim == "reproduced" and not is_like else claim
