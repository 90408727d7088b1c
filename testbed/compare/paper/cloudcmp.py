"""Rows of Li et al., CloudCmp: Comparing Public Cloud Providers, Figures 8 to 12. Pure, no I/O.

Nearly all its values are shown in figures only, so the rows check orderings, bounds and what follows from a window.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...analysis import statistic, tcp_model
from ...trial.measured import HttpResult, need
from ..reproduction.measured import Measured, mbit
from ..reproduction.row import Judgement, Publication, Row

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
PRINTED_WINDOW_BYTES, PRINTED_BDP_BYTES = 4_000_000, 5_000_000
INTRA_RTT_S, INTER_BPS = 2e-3, 200e6
NEAR_NIC, RTT_BOUND, PROPORTIONAL, MUCH = 0.9, 3.0, 0.15, 0.5
"""Share of the line rate; most RTTs of a small blob; deviation from proportion; a smaller share is much lower."""

OUR_RTT = (
    "providers are not named and RTTs are not printed; an emulated path stands in for a service, which itself takes no "
    "time"
)
OUR_RATE = "its rate is not printed, so we chose it"
OUR_WINDOW = "a fixed window of 64 KiB, which we chose, stands in for hosts other than Linux; our Linux is newer"
RMEM = "net.ipv4.tcp_rmem"


def times_s(measured: Measured, size_bytes: int) -> dict[int, float]:
    """Mean download time of objects of this size by the number fetched at once, the fewest first."""
    means_s = {}
    for many, part in measured.split("concurrency").items():
        times = [
            each.elapsed_s
            for result in part.results
            for each in need(HttpResult, result.measured).downloads
            if each.object_bytes == size_bytes
        ]
        if times:
            means_s[int(many)] = statistic.mean(times)
    return {many: means_s[many] for many in sorted(means_s)}


def asked_rtt_s(measured: Measured) -> float:
    return measured.results[0].asked.rtt_s


def in_trips(times: Mapping[int, float], rtt_s: float) -> str:
    return ", ".join(f"{many}: {time / rtt_s:.2f}" for many, time in times.items()) + f" RTT of {rtt_s * 1e3:g} ms"


def small_blob_is_rtt_bound(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 8a: two round trips, to connect and to request; more downloads at once take hardly longer."""
    times, rtt_s = times_s(runs[BLOBS], SMALL_BYTES), asked_rtt_s(runs[BLOBS])
    is_met = all(2 <= time / rtt_s <= RTT_BOUND for time in times.values())
    return Judgement(in_trips(times, rtt_s), is_met, f"passes up to {RTT_BOUND:g} RTT, as only the network takes time")


def large_blob_shares_the_link(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 8b: time in proportion to the number fetched at once: all bytes over the rate of the full link."""
    times = times_s(runs[BLOBS], LARGE_BYTES)
    full_s = 8 * LARGE_BYTES / runs[BLOBS].line_rate_bps
    shares = {many: time / (many * full_s) for many, time in times.items()}
    ours = ", ".join(f"{many}: {time * 1e3:.0f} ms" for many, time in times.items())
    last = max(times)
    ours += f"; {shares[last]:.2f} of the time that the full link needs at {last}"
    is_met = all(abs(share - 1) <= PROPORTIONAL for many, share in shares.items() if many > 1) and last > 1
    why = (
        f"passes within {PROPORTIONAL:.0%} for 2 or more clients; the time is the mean over the clients, some of which "
        "end before the last"
    )
    return Judgement(ours, is_met, why)


def large_instance_doubles(runs: Mapping[str, Measured]) -> Judgement:
    """5.2: a large instance gets more than twice the blob throughput of a small one."""
    parts = sorted(runs[INSTANCES].split("rate").values(), key=lambda part: part.capacity_bps)
    ratio = parts[-1].mean_bps / parts[0].mean_bps
    ours = f"{mbit(parts[0].goodputs_bps)} and {mbit(parts[-1].goodputs_bps)}: × {ratio:.2f}"
    return Judgement(ours, ratio > 2, "both rates are inputs")


def messages_scale(runs: Mapping[str, Measured]) -> Judgement:
    """5.2.3: up to 32 messages at once take no longer than one."""
    size = need(HttpResult, runs[MESSAGES].results[0].measured).downloads[0].object_bytes
    times, rtt_s = times_s(runs[MESSAGES], size), asked_rtt_s(runs[MESSAGES])
    slower = times[max(times)] / times[min(times)] - 1
    ours = f"{in_trips(times, rtt_s)}; {max(times)} at once {slower:+.1%}"
    why = "passes below 25 %, for the time that the link needs to carry more messages"
    return Judgement(ours, slower < 0.25 and max(times) >= 32, why)


def near_the_nic(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 10: close to the network card with little variation; the third provider is far below."""
    fast, slow = fast_and_slow(runs[INTRA])
    share, cov = fast.mean_bps / NIC_BPS, statistic.population_cov(fast.goodputs_bps)
    ours = f"C1, C4 {mbit(fast.goodputs_bps)}, {share:.1%} of the card, CoV {cov:.3f}; C2 {mbit(slow.goodputs_bps)}"
    is_met = NEAR_NIC <= share < 1 and cov < 0.05 and slow.mean_bps < MUCH * fast.mean_bps
    why = f"at most 95.6 % of the card's rate can be payload; passes from {NEAR_NIC:.0%}; C2's rate is an input"
    return Judgement(ours, is_met, why)


def fast_and_slow(measured: Measured) -> tuple[Measured, Measured]:
    parts = sorted(measured.split("rate").values(), key=lambda part: part.capacity_bps)
    return parts[-1], parts[0]


def short_rtt(runs: Mapping[str, Measured]) -> Judgement:
    """5.3.1: below 2 ms between any two instances."""
    most_s = max(runs[INTRA].numbers(lambda result: result.seen.rtt_max_s))
    return Judgement(f"at most {most_s * 1e3:.3g} ms", most_s < INTRA_RTT_S, "measured on an idle path")


def between_datacenters(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 11: medians above 200 Mbit/s, the third provider much lower, all lower and more variable than inside."""
    (fast, slow), (inside, inside_slow) = fast_and_slow(runs[INTER]), fast_and_slow(runs[INTRA])
    medians = [statistic.median(part.goodputs_bps) for part in (fast, slow)]
    covs = [statistic.population_cov(part.goodputs_bps) for part in (fast, inside)]
    ours = f"median C1, C4 {medians[0] / 1e6:.0f}, C2 {medians[1] / 1e6:.0f} Mbit/s; "
    ours += f"CoV {covs[0]:.2f}, within a datacenter {covs[1]:.3f}"
    failed = [
        text
        for text, is_met in (
            ("C1 and C4 are not above 200 Mbit/s", medians[0] > INTER_BPS),
            ("C2 is not much lower", medians[1] < MUCH * medians[0]),
            ("it is not slower than inside", fast.mean_bps < inside.mean_bps and slow.mean_bps < inside_slow.mean_bps),
            ("it does not vary more than inside", covs[0] > covs[1]),
        )
        if not is_met
    ]
    return Judgement(ours, not failed, "; ".join(failed))


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
    fixed, default, enough = by_window(runs[WINDOW])
    parts = zip(("fixed", "4 MB", "enough"), (fixed, default, enough), strict=True)
    ours = ", ".join(f"{name} {mbit(part.goodputs_bps)}" for name, part in parts)
    lost = [1 - part.mean_bps / enough.mean_bps for part in (default, fixed)]
    limit_bps = ceiling(default)[1]
    is_met = max(default.goodputs_bps) <= limit_bps and 0 < lost[0] < lost[1] and lost[1] > MUCH
    ours += f"; 4 MB gives {lost[0]:.0%} and fixed {lost[1]:.0%} less than enough"
    return Judgement(ours, is_met, limit_of_window(default))


def ceiling_of_4_mb(runs: Mapping[str, Measured]) -> Judgement:
    """K16: at 50 ms and 800 Mbit/s a ceiling of 4 MB is below what a window of the whole 5 MB gives."""
    _, default, enough = by_window(runs[WINDOW])
    limit_bps = ceiling(default)[1]
    ours = f"{mbit(default.goodputs_bps)} against {mbit(enough.goodputs_bps)}; ceiling {limit_bps / 1e6:.0f} Mbit/s"
    is_met = max(default.goodputs_bps) <= limit_bps < min(enough.goodputs_bps)
    return Judgement(ours, is_met, limit_of_window(default))


_row, _data = Publication(SOURCE).row, Publication(SOURCE).data

ROWS: tuple[Row, ...] = (
    _data("S2-SYS", "Table 6", "Four providers, C1 to C4", "instances of C3 cannot talk to one another",
          "providers are not named; what is known of them is kept in a published profile", "datacenters"),
    _row("S2-F8a", "Fig. 8a", "Download time of a blob of 1 KB, 1 to 32 at once", "in a figure only, axis up to 400 ms",
         "shape", small_blob_is_rtt_bound, (BLOBS,), OUR_RTT, "blob-1kb-time"),
    _row("S2-F8b", "Fig. 8b", "Download time of a blob of 10 MB, 1 to 32 at once",
         "in a figure only, axis up to 14 s; for C1 and C2 the network is the limit", "shape",
         large_blob_shares_the_link, (BLOBS,), OUR_RTT, "blob-10mb-time", "blob-near-network"),
    _row("S2-E1", "5.2", "Blobs by the size of the instance", "C4's large one has more than twice the throughput",
         "calibrated", large_instance_doubles, (INSTANCES,),
         f"the small instance is calibrated: {OUR_RATE}",
         "blob-large-instance"),
    _data("S2-E2", "5.2", "Consistency of blobs", "no stale read", "a property of the service, not of a network"),
    _data("S2-F9ab", "Fig. 9a, b", "Time to send and to retrieve a message",
          "C4 sends faster, C1 retrieves faster; axis up to 200 ms",
          "time inside the services, shown in a figure only", "queue-message", "queue-order"),
    _data("S2-F9c", "Fig. 9c", "Propagation of a message", "20 % of C1's take more than 200 ms",
          "time inside the services", "queue-slow", "queue-propagation"),
    _row("S2-E3", "5.2.3", "Queues under load", "up to 32 messages at once are not slower", "shape", messages_scale,
         (MESSAGES,), "requests of 50 B to a web server in place of a queue", "queue-scales", "queue-message"),
    _data("S2-T6", "Table 6", "Where datacenters are", "11: C1 3, C2 2, C4 6", "a list of places, kept in the profile",
          "datacenters"),
    _row("S2-F10", "Fig. 10", "TCP within a datacenter",
         "C1 and C4 close to 1 Gbit/s with little variation, C2 much lower", "reproduced", near_the_nic, (INTRA,),
         f"values are shown in a figure only; C2 is calibrated: {OUR_RATE}", "nic", "intra-tcp", "intra-near-nic"),
    _row("S2-E4", "5.3.1", "RTT within a datacenter", "below 2 ms", "reproduced", short_rtt, (INTRA,),
         "trivial: the delay is an input", "intra-rtt"),
    _row("S2-F11", "Fig. 11", "TCP between datacenters",
         "median of C1 and C4 above 200 Mbit/s, C2 much lower; all lower and more variable than within a datacenter",
         "calibrated", between_datacenters, (INTER, INTRA), "we chose the rates, the RTT and the other traffic",
         "inter-median-c1", "inter-median-c4", "inter-median-c2", "inter-below-intra", "c2-much-lower"),
    _row("S2-E5", "5.3.2", "One flow with default windows",
         "less throughput; Linux, which tunes up to 4 MB (640 Mbit/s, derived), loses less than others",
         "reproduced", default_window_is_slower, (WINDOW,), OUR_WINDOW, "vanilla-slower", "linux-window-max",
         "linux-window-limit", "example-rtt", "example-rate", "example-bdp"),
    _data("S2-F12", "Fig. 12", "RTT from 260 places", "C3 the lowest, C2 the highest",
          "a distribution over the Internet, shown in a figure only", "wide-area-sites", "wide-area-rtt", "rtt-order"),
    _data("S2-E6", "5.4", "C3's choice of a datacenter", "at most 20 ms longer than the best",
          "the provider's DNS makes the choice", "c3-dns-gap"),
    _row("K16", "5.3.2", "50 ms, 800 Mbit/s, one flow", "a ceiling of 4 MB is below a window of 5 MB", "reproduced",
         ceiling_of_4_mb, (WINDOW,), OUR_WINDOW, "linux-window-limit", "example-bdp"),
)  # fmt: skip
