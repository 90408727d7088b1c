"""A comparison of a run with a published profile: each of our series with each published series. Pure, no I/O.

Shares of the capacity are compared: absolute rates on links of different speed are not comparable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..analysis.distance import Candidate, ProfileDistance, best_match, distance
from ..analysis.profile import ThroughputProfile
from ..analysis.series import Series, Span
from ..analysis.statistic import RESAMPLES
from ..error import UserError
from ..units import format_rate
from .published import Certainty, Claim, PublishedProfile
from .published import Series as PublishedSeries

TOLERANCE = 0.10


@dataclass(frozen=True)
class Target:
    """A published series as a profile of shares of its capacity; `certainties` are those of its points, by RTT in s."""

    name: str
    series: PublishedSeries
    profile: ThroughputProfile
    capacity_bps: float
    certainties: Mapping[float, Certainty]


@dataclass(frozen=True)
class Match:
    """One of our series compared with a published one. `distance` is between shares of the capacity.

    `fits` is whether the conditions that both sides state, including loss, are the same; `agrees` is whether the RMS
    difference is within the tolerance. `claim` is how strong an agreement is, `cautions` are its limits.
    """

    ours: Series
    target: Target
    distance: ProfileDistance
    agrees: bool
    fits: bool
    claim: Claim
    cautions: tuple[str, ...]


@dataclass(frozen=True)
class TargetComparison:
    """All matches of a published series, the nearest first; `ranking` has the confidence in this order.

    `agrees` is that of the nearest match whose conditions fit, or of the nearest match if none fits.
    """

    target: Target
    matches: tuple[Match, ...]
    ranking: tuple[Candidate[str], ...]

    @property
    def judged(self) -> Match:
        """The match that decides."""
        return next((each for each in self.matches if each.fits), self.matches[0])

    @property
    def agrees(self) -> bool:
        return self.judged.agrees


@dataclass(frozen=True)
class ProfileComparison:
    """`not_compared` names the published series, and ours, that were not compared, each with the reason."""

    profile: PublishedProfile
    tolerance: float
    targets: tuple[TargetComparison, ...]
    not_compared: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        return all(each.agrees for each in self.targets)


def compare(
    ours: Sequence[Series],
    profile: PublishedProfile,
    only: str | None = None,
    tolerance: float = TOLERANCE,
    span: Span = "steady",
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> ProfileComparison:
    """Compare our series with the published ones of the same congestion control and flows, as far as both are known.

    Their losses may differ, so as to find which loss of ours explains a published profile best. `only` is the name of
    the one published series to compare; if none of our series is like it, it is compared with all of them. Raises
    UserError, with the series of both sides and the reasons, if nothing can be compared.
    """
    why_not: list[str] = []
    shares = _shares(ours, span, why_not)
    compared = []
    for target in _targets(profile, only, why_not):
        covering = {index: share for index, share in shares.items() if _covers(share, target)}
        why_not += _not_covering(target, {ours[i].label: share for i, share in shares.items() if i not in covering})
        alike = {index: share for index, share in covering.items() if not _unlike(ours[index], target.series)}
        if covering and not alike and only is None:
            why_not.append(f"published, {target.name}: {_of(target.series)}; ours has no such series")
        elif covering:
            compared.append(_target(target, ours, alike or covering, tolerance, seed, resamples))
    if not compared:
        listed = "".join(f"\n  {text}" for text in dict.fromkeys(why_not))
        raise UserError(
            f"nothing of this run can be compared with {profile.name}:{listed}\n"
            "allowed: a run whose RTTs reach from below a published one to above it"
        )
    return ProfileComparison(profile, tolerance, tuple(compared), tuple(dict.fromkeys(why_not)))


def _target(
    target: Target,
    ours: Sequence[Series],
    shares: Mapping[int, ThroughputProfile],
    tolerance: float,
    seed: int,
    resamples: int,
) -> TargetComparison:
    matches = []
    for index, share in shares.items():
        apart = distance(share, target.profile, 1, 1, seed, resamples=resamples)
        unlike = (*_unlike(ours[index], target.series), *_other_loss(ours[index], target.series))
        cautions = (*_cautions(ours[index], target, unlike), *_far_points(apart, tolerance))
        claim = _claim(ours[index], target, unlike)
        agrees = apart.rms.value <= tolerance
        matches.append(Match(ours[index], target, apart, agrees, not unlike, claim, cautions))
    by_label = {ours[index].label: share for index, share in shares.items()}
    ranking = best_match(target.profile, by_label, 1, 1, seed, resamples=resamples)
    nearest_first = sorted(matches, key=lambda match: match.distance.rms.value)
    return TargetComparison(target, tuple(nearest_first), ranking)


def _shares(ours: Sequence[Series], span: Span, why_not: list[str]) -> dict[int, ThroughputProfile]:
    """Our profiles as shares of their capacity, by index; the reasons for the others are added to `why_not`."""
    shares = {}
    for index, each in enumerate(ours):
        profile, capacity = each.profile(span), each.capacity_bps
        if profile is None:
            why_not.append(f"ours, {each.label}: no valid or suspect trial has a goodput")
        elif capacity is None:
            why_not.append(f"ours, {each.label}: it has no rate, or its trials have different rates")
        else:
            shares[index] = scaled(profile, 1 / capacity)
    return shares


def scaled(profile: ThroughputProfile, factor: float) -> ThroughputProfile:
    """Every throughput times a factor above 0."""
    if profile.has_samples or any(profile.samples_bps):
        return ThroughputProfile.of_samples(
            {
                rtt: [rate * factor for rate in rates]
                for rtt, rates in zip(profile.rtt_s, profile.samples_bps, strict=True)
            }
        )
    return replace(profile, mean_bps=tuple(rate * factor for rate in profile.mean_bps))


def _targets(profile: PublishedProfile, only: str | None, why_not: list[str]) -> list[Target]:
    targets = []
    for name, each in profile.series.items():
        if only not in (None, name):
            continue
        try:
            throughput = each.throughput_profile()
        except UserError as error:
            why_not.append(f"published, {name}: {error}")
            continue
        if each.capacity is None:
            why_not.append(f"published, {name}: its capacity is not known, so it cannot be normalized")
            continue
        certainties = {point.at.value: each.certainty_of(point) for point in each.points}
        capacity = each.capacity.value
        targets.append(Target(name, each, scaled(throughput, 1 / capacity), capacity, certainties))
    if not profile.series:
        why_not.append(f"published, {profile.name}: it has no series")
    return targets


def _covers(share: ThroughputProfile, target: Target) -> bool:
    return any(share.rtt_s[0] <= rtt <= share.rtt_s[-1] for rtt in target.profile.rtt_s)


def _not_covering(target: Target, shares: Mapping[str, ThroughputProfile]) -> list[str]:
    """One reason for all of our series whose range holds no RTT of the published series; empty if there are none."""
    if not shares:
        return []
    ranges = dict.fromkeys(f"{each.rtt_s[0] * 1e3:g} to {each.rtt_s[-1] * 1e3:g} ms" for each in shares.values())
    rtts = ", ".join(f"{rtt * 1e3:g}" for rtt in target.profile.rtt_s)
    which = next(iter(shares)) if len(shares) == 1 else f"{len(shares)} series"
    return [f"published, {target.name}: RTT {rtts} ms; ours, {which}: {', '.join(ranges)}"]


def _unlike(ours: Series, published: PublishedSeries) -> tuple[str, ...]:
    """Congestion control and flows, where both sides state them and they differ."""
    about = ours.conditions
    if about is None:
        return ()
    unlike = []
    wanted = published.of
    if "congestion" in wanted and about.congestion and about.congestion != (wanted["congestion"],):
        unlike.append(f"{'+'.join(about.congestion)}, published {wanted['congestion']}")
    if "flows" in wanted and str(about.flows) != wanted["flows"]:
        unlike.append(f"{about.flows} flow{'s' if about.flows != 1 else ''}, published {wanted['flows']}")
    return tuple(unlike)


def _other_loss(ours: Series, published: PublishedSeries) -> tuple[str, ...]:
    lost = None if ours.conditions is None else ours.conditions.loss
    is_other = published.of.get("loss") == "none" and lost
    return (f"loss {lost:g}, published none",) if is_other else ()


def _of(published: PublishedSeries) -> str:
    return ", ".join(f"{key} {value}" for key, value in published.of.items())


def _far_points(apart: ProfileDistance, tolerance: float) -> tuple[str, ...]:
    """A caution if the RMS of shares hides a large relative difference at a low throughput."""
    far = max(abs(point.relative.value) for point in apart.points)
    if apart.rms.value > tolerance or far <= tolerance:
        return ()
    return (f"near as shares of capacity, but the throughput at one point differs by {100 * far:.0f} %",)


def _claim(ours: Series, target: Target, unlike: Sequence[str]) -> Claim:
    """The claim of the published series; "reproduced" becomes "shape" if the rate or the conditions differ."""
    claim = target.series.claim
    is_like = ours.capacity_bps == target.capacity_bps and not unlike
    return "shape" if claim == "reproduced" and not is_like else claim


def _cautions(ours: Series, target: Target, unlike: Sequence[str]) -> tuple[str, ...]:
    cautions = [f"ours has {text}" for text in unlike]
    if ours.capacity_bps is not None and ours.capacity_bps != target.capacity_bps:
        cautions.append(
            f"ours is {format_rate(int(ours.capacity_bps))}, published {format_rate(int(target.capacity_bps))}: shares "
            "of capacity are compared, not bit/s; loss does not scale with the rate"
        )
    if len(target.profile.rtt_s) == 1:
        cautions.append("a single published RTT has no shape")
    if ours.left_out:
        cautions.append(f"{len(ours.left_out)} of our trials are invalid and left out")
    if ours.suspect:
        cautions.append(f"{len(ours.suspect)} of our trials are suspect")
    return tuple(cautions)
