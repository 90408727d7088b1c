"""Rows of Li et al., CloudCmp: Comparing Public Cloud Providers, Figures 8 to 12. Pure, no I/O.

Nearly all its values are shown in figures only, so the rows check orderings, bounds and what follows from a window.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from testbed.api import Download, HttpResult, TrialResult, need, statistic, tcp_model

from ..check import (
    FULL,
    MUCH,
    Holds,
    LittleSpread,
    MoreSpread,
    Part,
    Share,
    Values,
    Within,
    above,
    average,
    below,
    minus,
    over,
)
from ..check import estimate as mean_of
from ..measured import Measured, known, mbit
from ..row import Criterion, Judgement, Publication, Row

SOURCE = "cloudcmp-2010"
BLOBS, INSTANCES, MESSAGES, WINDOW, INTRA, INTER = (
    "blob-concurrency",
    "blob-instances",
    "queue-messages",
    "default-window",
    "intra-datacenter",
    "inter-datacenter",
)
SMALL_BYTES, LARGE_BYTES = 1_000, 10_000_000
NIC_BPS = 1e9
INTRA_RTT_S, INTER_BPS = 2e-3, 200e6
STEADY_COV, SLOWER = 0.05, 0.05
"""Little variation; no longer than this."""

OUR_RTT = (
    "providers are not named and RTTs are not printed; an emulated path stands in for a service, which itself takes no "
    "time"
)
OUR_RATE = "its rate is not printed, so we chose it"
OUR_WINDOW = (
    "a window of 64 KiB asked of the socket, which we chose, stands in for hosts other than Linux; Linux makes its "
    "buffer twice as large, so that 94 kB are in flight; our Linux is newer"
)
RMEM = "net.ipv4.tcp_rmem"


def times_s(measured: Measured, size_bytes: int) -> dict[int, Values]:
    """Mean download time of objects of this size, by the number fetched at once (the fewest first) and seed."""
    found = {}
    for many, part in measured.split("concurrency").items():
        if any(each.object_bytes == size_bytes for result in part.results for each in _downloads(result)):
            found[int(many)] = part.each_seed(partial(_mean_time_s, size_bytes=size_bytes))
    return {many: found[many] for many in sorted(found)}


def _mean_time_s(part: Measured, size_bytes: int) -> float:
    every = [each for result in part.results for each in _downloads(result)]
    return statistic.mean([each.elapsed_s for each in every if each.object_bytes == size_bytes])


def _downloads(result: TrialResult) -> tuple[Download, ...]:
    return need(HttpResult, result.measured).downloads


def asked_rtt_s(measured: Measured) -> float:
    return measured.results[0].asked.rtt_s


def rates(part: Measured) -> Values:
    return part.each_seed(lambda each: each.mean_bps)


def in_trips(times: Mapping[int, Values], rtt_s: float) -> str:
    return (
        ", ".join(f"{many}: {average(time) / rtt_s:.2f}" for many, time in times.items())
        + f" RTT of {rtt_s * 1e3:g} ms"
    )


def small_blob(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 8a: no number and no finding is printed, so there is nothing to meet."""
    times, rtt_s = times_s(runs[BLOBS], SMALL_BYTES), asked_rtt_s(runs[BLOBS])
    return Judgement(in_trips(times, rtt_s), (), "only the network takes time here")


def large_blob_fills_the_link(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 8b: several clients together use the whole link."""
    parts, words = [], []
    times = times_s(runs[BLOBS], LARGE_BYTES)
    for many, time in times.items():
        shares = runs[BLOBS].only(concurrency=str(many)).each_seed(_share_with_large)
        words.append(f"{many}: {average(time) * 1e3:.0f} ms ({average(shares):.1%})")
        if many > 1:
            parts.append(Within(f"{many} at once fill the link", mean_of((1, shares)), FULL))
    why = "the time of one client alone includes slow start; the throughput of the service is that of several"
    return Judgement(f"time, and share of a full link: {', '.join(words)}", tuple(parts), why)


def _share_with_large(part: Measured) -> float:
    """The share of a full link that the downloads of the larger blob have together."""
    large = [each for each in part.results if _downloads(each)[0].object_bytes == LARGE_BYTES]
    return statistic.mean([known(each.goodput_bps) for each in large]) / part.line_rate_bps


def large_instance_doubles(runs: Mapping[str, Measured]) -> Judgement:
    """5.2: a large instance gets more than twice the blob throughput of a small one."""
    fast, slow = fast_and_slow(runs[INSTANCES])
    ratio = over(rates(fast), rates(slow))
    ours = f"{mbit(slow.goodputs_bps)} and {mbit(fast.goodputs_bps)}: × {average(ratio):.2f}"
    return Judgement(ours, (above("more than twice", mean_of((1, ratio)), 2.0),), "both rates are inputs")


def messages_scale(runs: Mapping[str, Measured]) -> Judgement:
    """5.2.3: up to 32 messages at once take no longer than one."""
    size = _downloads(runs[MESSAGES].results[0])[0].object_bytes
    times, rtt_s = times_s(runs[MESSAGES], size), asked_rtt_s(runs[MESSAGES])
    one = times.get(1, ())
    parts: list[Part] = [Holds("32 messages at once", max(times) == 32)]
    parts += [
        Within(f"{many} at once take at most 5 % longer", mean_of((1, over(time, one))), high=1 + SLOWER)
        for many, time in times.items()
        if many > 1
    ]
    slower = average(times[max(times)]) / average(one) - 1
    return Judgement(f"{in_trips(times, rtt_s)}; {max(times)} at once {slower:+.1%}", tuple(parts))


def near_the_nic(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 10: close to the network card with little variation; the third provider is far below."""
    fast, slow = fast_and_slow(runs[INTRA])
    line_bps = tcp_model.line_rate_limit_bps(NIC_BPS)
    share, cov = fast.mean_bps / line_bps, statistic.population_cov(fast.goodputs_bps)
    ours = f"C1, C4 {mbit(fast.goodputs_bps)}, {share:.1%} of a full card, CoV {cov:.3f}; C2 {mbit(slow.goodputs_bps)}"
    parts = (
        Within("close to the card", mean_of((1 / line_bps, rates(fast))), FULL),
        LittleSpread("little variation", rates(fast), STEADY_COV),
        below("C2 is much lower", mean_of((1, rates(slow)), (-MUCH, rates(fast)))),
    )
    return Judgement(ours, parts, "at most 95.6 % of the card's rate can be payload; both rates are inputs")


def fast_and_slow(measured: Measured) -> tuple[Measured, Measured]:
    parts = sorted(measured.split("rate").values(), key=lambda part: part.capacity_bps)
    return parts[-1], parts[0]


def short_rtt(runs: Mapping[str, Measured]) -> Judgement:
    """5.3.1: below 2 ms between any two instances."""
    seen = [result.seen.rtt_max_s for result in runs[INTRA].results]
    most_s = None if None in seen else max(map(known, seen), default=None)
    ours = "no RTT was seen" if most_s is None else f"at most {most_s * 1e3:.3g} ms"
    part = Holds("below 2 ms in every run", None if most_s is None else 0 < most_s < INTRA_RTT_S)
    return Judgement(ours, (part,), "measured on an idle path")


def between_datacenters(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 11: medians above 200 Mbit/s, the third provider much lower, all lower and more variable than inside."""
    (fast, slow), (inside, inside_slow) = fast_and_slow(runs[INTER]), fast_and_slow(runs[INTRA])
    medians = [statistic.median(part.goodputs_bps) for part in (fast, slow)]
    got = rates(fast)
    ours = f"median C1, C4 {medians[0] / 1e6:.0f}, C2 {medians[1] / 1e6:.0f} Mbit/s; "
    spread = MoreSpread("more variable than within a datacenter", [got], [rates(inside)])
    above_it = sum(value is not None and value > INTER_BPS for value in got)
    parts = (
        Share("the median of C1 and C4 is above 200 Mbit/s", above_it, len(got), 0.5, is_strict=True, high=2.0),
        below("C2 is much lower", mean_of((1, rates(slow)), (-MUCH, got))),
        below("C1 and C4 are much slower than within", mean_of((1, got), (-MUCH, rates(inside)))),
        below("C2 is much slower than within", mean_of((1, rates(slow)), (-MUCH, rates(inside_slow)))),
        spread,
    )
    return Judgement(ours + spread.decide().found, parts)


def by_window(measured: Measured) -> tuple[Measured, Measured, Measured]:
    """The parts with a fixed small window, with tuning up to the printed ceiling, and with tuning up to enough."""
    small = measured.only(window=next(text for text in measured.values_of("window") if text != "auto"))
    tuned = sorted(
        measured.only(window="auto").split(RMEM).items(),
        key=lambda item: int(item[0].split()[-1]),
    )
    return small, tuned[0][1], tuned[-1][1]


def ceiling(measured: Measured) -> tuple[float, float]:
    """The largest receive buffer in bytes, and the throughput in bit/s of a window of that size."""
    limit_bytes = int(measured.results[0].params[f"sysctls.{RMEM}"].split()[-1])
    return limit_bytes, tcp_model.window_limit_bps(limit_bytes, asked_rtt_s(measured))


def limit_of_window(measured: Measured) -> str:
    limit_bytes, limit_bps = ceiling(measured)
    rtt_s = asked_rtt_s(measured)
    window = measured.mean_bps * rtt_s / 8 / limit_bytes
    return (
        f"{window:.0%} of the buffer of 4 MB is in flight, because the kernel subtracts overhead before it announces a "
        f"window; without the overhead the limit would be {limit_bps / 1e6:.0f} Mbit/s"
    )


def default_window_is_slower(runs: Mapping[str, Measured]) -> Judgement:
    """5.3.2: default windows lower the throughput: somewhat with tuning up to 4 MB, far more without tuning."""
    windows = by_window(runs[WINDOW])
    fixed, default, enough = map(rates, windows)
    names = zip(("fixed", "4 MB", "enough"), windows, strict=True)
    ours = ", ".join(f"{name} {mbit(part.goodputs_bps)}" for name, part in names)
    parts = (
        below("4 MB is slower than enough", minus(default, enough)),
        below("fixed loses more than twice as much as 4 MB", mean_of((1, fixed), (1, enough), (-2, default))),
    )
    return Judgement(ours, parts, limit_of_window(windows[1]))


def ceiling_of_4_mb(runs: Mapping[str, Measured]) -> Judgement:
    """K16: at 50 ms and 800 Mbit/s a ceiling of 4 MB is below what a window of the whole 5 MB gives."""
    _, default, enough = by_window(runs[WINDOW])
    limit_bps = ceiling(default)[1]
    ours = f"{mbit(default.goodputs_bps)} against {mbit(enough.goodputs_bps)}; ceiling {limit_bps / 1e6:.0f} Mbit/s"
    parts = (
        Within("4 MB stay at or below the ceiling", mean_of((1, rates(default))), high=limit_bps),
        above("enough is above it", mean_of((1, rates(enough))), limit_bps),
    )
    return Judgement(ours, parts, limit_of_window(default))


_row, _data = Publication(SOURCE).row, Publication(SOURCE).data

ROWS: tuple[Row, ...] = (
    _data("S2-SYS", "Table 6", "Four providers, C1 to C4", "instances of C3 cannot talk to one another",
          "providers are not named; what is known of them is kept in a published profile", "datacenters"),
    _row("S2-F8a", "Fig. 8a", "Download time of a blob of 1 KB, 1 to 32 at once", "in a figure only, axis up to 400 ms",
         "shape", small_blob, (BLOBS,), OUR_RTT, "blob-1kb-time"),
    _row("S2-F8b", "Fig. 8b", "Download time of a blob of 10 MB, 1 to 32 at once",
         "in a figure only, axis up to 14 s; for C1 and C2 the network is the limit", "shape",
         large_blob_fills_the_link, (BLOBS,), OUR_RTT, "blob-10mb-time", "blob-near-network",
         criterion=Criterion("2 or more clients together have 95 % or more of a full link's goodput",
                             "5.2: for C1 and C2 close to the bandwidth within the datacenter")),
    _row("S2-E1", "5.2", "Blobs by the size of the instance", "C4's large one has more than twice the throughput",
         "calibrated", large_instance_doubles, (INSTANCES,),
         f"the small instance is calibrated: {OUR_RATE}",
         "blob-large-instance",
         criterion=Criterion("more than twice as much", "5.2, bound as printed")),
    _data("S2-E2", "5.2", "Consistency of blobs", "no stale read", "a property of the service, not of a network"),
    _data("S2-F9ab", "Fig. 9a, b", "Time to send and to retrieve a message",
          "C4 sends faster, C1 retrieves faster; axis up to 200 ms",
          "time inside the services, shown in a figure only", "queue-message", "queue-order"),
    _data("S2-F9c", "Fig. 9c", "Propagation of a message", "20 % of C1's take more than 200 ms",
          "time inside the services", "queue-slow", "queue-propagation"),
    _row("S2-E3", "5.2.3", "Queues under load", "up to 32 messages at once are not slower", "shape", messages_scale,
         (MESSAGES,), "requests of 50 B to a web server in place of a queue; only the network takes time here",
         "queue-scales", "queue-message",
         criterion=Criterion("2 to 32 messages at once take at most 5 % longer than one",
                             "5.2.3: no significant degradation up to 32 messages")),
    _data("S2-T6", "Table 6", "Where datacenters are", "11: C1 3, C2 2, C4 6", "a list of places, kept in the profile",
          "datacenters"),
    _row("S2-F10", "Fig. 10", "TCP within a datacenter",
         "C1 and C4 close to 1 Gbit/s with little variation, C2 much lower", "calibrated", near_the_nic, (INTRA,),
         f"values are shown in a figure only; C2 is calibrated: {OUR_RATE}", "nic", "intra-tcp", "intra-near-nic",
         criterion=Criterion("C1 and C4: 95 % or more of a full card's goodput, CoV at most 0.05; C2 less than "
                             "half of that",
                             "5.3.1 and Fig. 10: close to 1 Gbit/s, low variation; C2 much lower")),
    _row("S2-E4", "5.3.1", "RTT within a datacenter", "below 2 ms", "calibrated", short_rtt, (INTRA,),
         "trivial: the delay is an input", "intra-rtt",
         criterion=Criterion("below 2 ms in every run", "5.3.1, bound as printed")),
    _row("S2-F11", "Fig. 11", "TCP between datacenters",
         "median of C1 and C4 above 200 Mbit/s, C2 much lower; all lower and more variable than within a datacenter",
         "calibrated", between_datacenters, (INTER, INTRA),
         "we chose the rates, the RTT and the other traffic; the length of a run is the third that was tried, so the "
         "error of this row is more than 5 %",
         "inter-median-c1", "inter-median-c4", "inter-median-c2", "inter-below-intra", "c2-much-lower",
         criterion=Criterion("median of C1 and C4 above 200 Mbit/s, C2's less than half of it; both less than half "
                             "of what is had within a datacenter; more variable than there",
                             "5.3.2 and Fig. 11: above 200 Mbit/s, much lower, much smaller")),
    _row("S2-E5", "5.3.2", "One flow with default windows",
         "less throughput; Linux, which tunes up to 4 MB (640 Mbit/s, derived), loses less than others",
         "shape", default_window_is_slower, (WINDOW,), OUR_WINDOW, "vanilla-slower", "linux-window-max",
         "linux-window-limit", "example-rtt", "example-rate", "example-bdp",
         criterion=Criterion("4 MB is slower than enough; a fixed window loses more than twice as much as 4 MB",
                             "5.3.2: smaller with default windows, far worse without tuning")),
    _data("S2-F12", "Fig. 12", "RTT from 260 places", "C3 the lowest, C2 the highest",
          "a distribution over the Internet, shown in a figure only", "wide-area-sites", "wide-area-rtt", "rtt-order"),
    _data("S2-E6", "5.4", "C3's choice of a datacenter", "at most 20 ms longer than the best",
          "the provider's DNS makes the choice", "c3-dns-gap"),
    _row("K16", "5.3.2", "50 ms, 800 Mbit/s, one flow", "a ceiling of 4 MB is below a window of 5 MB", "shape",
         ceiling_of_4_mb, (WINDOW,), OUR_WINDOW, "linux-window-limit", "example-bdp",
         criterion=Criterion("with 4 MB at most 640 Mbit/s, with enough more than that",
                             "5.3.2: 4 MB against 5 MB at 50 ms (derived)")),
)  # fmt: skip
