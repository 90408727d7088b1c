"""What limits a comparison with a published profile, in words. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.distance import ProfileDistance
from ..analysis.series import Series
from .condition import KINDS, Choice, Condition


def cautions(
    ours: Series, conditions: Sequence[Condition], apart: ProfileDistance, is_share: bool, choice: Choice
) -> tuple[str, ...]:
    """What limits a comparison of one of our series with a published one, and why points of it cannot be judged."""
    said = [
        f"ours has {each.name} {each.ours}, published {each.published}" for each in conditions if each.is_same is False
    ]
    said += [f"{side} does not state: {', '.join(names)}" for side, names in _unstated(conditions).items() if names]
    if is_share:
        decides = "" if choice.as_shares else "; they decide with --as-shares only"
        said.append(f"shares of the rate are compared, not bit/s: loss and windows do not scale with it{decides}")
    if len(apart.points) + len(apart.left_out_rtt_s) == 1:
        said.append("a single published RTT has no shape")
    if apart.left_out_rtt_s:
        rtts = ", ".join(f"{rtt * 1e3:g}" for rtt in apart.left_out_rtt_s)
        decides = "" if choice.common_rtts else "; with --common-rtts the others decide alone"
        said.append(f"ours does not reach the published RTTs of {rtts} ms{decides}")
    if ours.left_out:
        said.append(
            f"{len(ours.left_out)} of our trials are invalid and left out, so nothing is shown to agree: nobody knows "
            "what they hide"
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
        "one trial has no interval: needs at least 2 seeds": [each for each in apart.points if each.seeds == 1],
        "all seeds give the same, which is one case and no interval: needs jitter, random loss or a seeded phase": [
            each for each in apart.points if each.seeds > 1 and each.relative.interval is None and each.measured_bps > 0
        ],
        "nothing was received, so there is no ratio": [each for each in apart.points if not each.measured_bps],
        "nobody measured there: the interval reaches over both neighbours": [
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
