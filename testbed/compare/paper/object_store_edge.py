"""Checks of downloads from the edge of a CDN compared with the origin; goodput is in KiB/s. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping

from ...analysis import statistic
from ..reproduction.measured import Measured
from ..reproduction.row import Judgement
from .object_store_download import LARGEST, MIB, asked_rtt_s, by_home, by_size, downloads, size_name

EDGE, STEADY = "cdn-edge", "cdn-steadiness"
NEGLIGIBLE_KIB = 100


def gains(runs: Mapping[str, Measured]) -> dict[str, dict[int, tuple[float, float]]]:
    """Goodput in KiB/s from the origin and from the edge, by home and size in bytes."""
    goodputs = {}
    for home, part in by_home(runs[EDGE]).items():
        origin, edge = by_size(part.only(cache="none")), by_size(part.only(cache="edge"))
        goodputs[home] = {size: (origin[size], edge[size]) for size in origin}
    return goodputs


def relative_gain(runs: Mapping[str, Measured], size_bytes: int) -> float:
    """The relative gain from the edge, as the mean over the homes."""
    return statistic.mean([edge / origin - 1 for origin, edge in (home[size_bytes] for home in gains(runs).values())])


def edge_gains_more_for_small(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 6: the edge is faster than the origin, and gains more at 1 MiB than at 100 MiB."""
    small, large = (relative_gain(runs, size) for size in (MIB, LARGEST))
    ours = f"{small:+.0%} at 1 MiB, {large:+.0%} at 100 MiB, means over {len(gains(runs))} homes"
    why = "the size of the gain depends on the homes that we chose; the cache is warm, and each request is a hit"
    return Judgement(ours, small > large > 0, why)


def edge_is_steadier(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 7: downloads vary less from the edge than from the origin."""
    origin, edge = (
        statistic.population_cov([d.goodput_bps for d in downloads(runs[STEADY].only(cache=cache))])
        for cache in ("none", "edge")
    )
    ours = f"CoV {origin:.2f} from the origin, {edge:.2f} from the edge"
    why = "only the path to the origin has other traffic, so downloads from the edge do not vary"
    return Judgement(ours, edge < origin, why)


def edge_gain_by_size(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9a: the gain in KiB/s is largest for the largest object, and negligible in many cases."""
    goodputs = gains(runs)
    most = {
        size: max(home[size][1] - home[size][0] for home in goodputs.values()) for size in next(iter(goodputs.values()))
    }
    cases = [edge - origin for home in goodputs.values() for origin, edge in home.values()]
    ours = "most " + ", ".join(f"{gain:.0f} at {size_name(size)}" for size, gain in most.items())
    ours += f", mean {statistic.mean(cases):.0f} KiB/s; below {NEGLIGIBLE_KIB} KiB/s in "
    few = sum(each < NEGLIGIBLE_KIB for each in cases)
    is_met = most[LARGEST] > most[MIB] and statistic.mean(cases) > 0 and few > 0
    why = "judged by the order of the sizes; the share of cases depends on the homes"
    return Judgement(f"{ours}{few} of {len(cases)} cases", is_met, why)


def edge_can_be_worse(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9b: in some cases the edge is worse; here only where it is farther away than the origin."""
    worse, far = [], set()
    for home, part in by_home(runs[EDGE]).items():
        origin_s, edge_s = (asked_rtt_s(part.only(cache=cache)) for cache in ("none", "edge"))
        if edge_s > origin_s:
            far.add(home)
        worse += [
            (edge / origin - 1, size, home) for size, (origin, edge) in gains(runs)[home].items() if edge < origin
        ]
    total = sum(len(home) for home in gains(runs).values())
    if not worse:
        return Judgement(f"none of {total} cases", False, "no edge was worse than the origin")
    change, size, home = min(worse)
    ours = (
        f"{len(worse)} of {total} cases, {len({case[2] for case in worse} & far)} of {len(far)} homes with a far edge; "
    )
    ours += f"worst {change:+.0%} at {size_name(size)}"
    near_homes = sorted({case[2] for case in worse} - far)
    why = f"worse with a near edge too: {'; '.join(near_homes)}" if near_homes else ""
    return Judgement(ours, not near_homes, why)
