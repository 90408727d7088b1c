"""Rows of the network between datacenters: each judge passes on what it should, and fails on what it should not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from results import plain
from testbed_reproductions.command import select
from testbed_reproductions.measured import Measured, known
from testbed_reproductions.paper import interdatacenter as policy
from testbed_reproductions.paper import interdatacenter as worse
from testbed_reproductions.paper import interdatacenter_path as path
from testbed_reproductions.paper import interdatacenter_path as rtt
from testbed_reproductions.paper.interdatacenter import ROWS
from testbed_reproductions.row import Judge, Judgement

PAYLOAD_BYTES = 1400
SEEDS = (1, 2, 3)
Made = Mapping[str, Measured]


def measured(scenario: str, *trials: Mapping[str, Any]) -> Made:
    """Trials that have no seed of their own run with each seed alike."""
    results = [
        plain(**{"id": f"{n}-{seed}", "seed": seed, **each})
        for n, each in enumerate(trials)
        for seed in ((1,) if "seed" in each else SEEDS)
    ]
    return {scenario: Measured.of(scenario, "quick", results)}


def one_by_one(scenario: str, *trials: Mapping[str, Any]) -> Made:
    return measured(scenario, *({"seed": seed, **each} for seed, each in enumerate(trials, 1)))


def between(source: str, target: str, **params: str) -> dict[str, str]:
    return {"workload.from": source, "workload.to": target, **params}


# The policy


def udp_run(
    length_s: int = 300,
    step_s: float | None = 85,
    low_bps: float = 400e6,
    lost: float | None = None,
    cov_ratio: float = 0.5,
    high_bps: float = 850e6,
) -> dict[str, Any]:
    """850 Mbit/s are offered; from the step on `low_bps` arrives, and `lost` of what is sent is said to be lost.

    The relative swing from second to second changes by `cov_ratio` then.
    """
    sent = round(high_bps / 8 / PAYLOAD_BYTES)
    series = []
    for second in range(length_s):
        is_before = step_s is None or second < step_s
        swing = 0.002 if is_before else 0.002 * cov_ratio
        level = sent if is_before else low_bps / 8 / PAYLOAD_BYTES
        arrived = round(level * (1 + (swing if second % 2 else -swing)))
        gone = max(0, sent - arrived) if lost is None or is_before else round(lost * sent)
        series.append(
            {
                "time_s": second,
                "goodput_bps": arrived * PAYLOAD_BYTES * 8,
                "sent_datagrams": sent,
                "lost_datagrams": gone,
                "arrived_datagrams": arrived,
            }
        )
    arrived = sum(each["arrived_datagrams"] for each in series)
    udp = {"offered_bps": 850e6, "arrived_datagrams": arrived, "received_bytes": arrived * PAYLOAD_BYTES}
    return {
        "params": {"duration": f"{length_s} s"},
        "workload_s": length_s,
        "measured": {"udp": {**udp, "series": series}},
        "stages": [{"policy": {"crossed_s": step_s}}],
    }


def uneven_sender(run: dict[str, Any]) -> dict[str, Any]:
    run["measured"]["udp"]["series"][200]["sent_datagrams"] //= 2
    return run


@pytest.mark.parametrize(
    ("runs", "wanted"),
    [
        ([udp_run(), udp_run(step_s=90)], "pass"),
        ([udp_run()], "cannot tell"),  # one run has no interval
        ([udp_run(), udp_run(step_s=None)], "fail"),  # one shows no step
        ([udp_run(low_bps=500e6), udp_run(low_bps=500e6)], "fail"),  # not that low
        ([udp_run(high_bps=830e6), udp_run(high_bps=830e6)], "fail"),  # not that high
        ([udp_run(lost=0.3), udp_run(lost=0.3)], "fail"),  # loss that does not explain what is missing
        ([udp_run(cov_ratio=1.0), udp_run(cov_ratio=1.0)], "fail"),  # not halved
        ([udp_run(cov_ratio=0.0), udp_run(cov_ratio=0.0)], "fail"),
        ([uneven_sender(udp_run()), udp_run()], "fail"),
    ],
)
def test_a_step_has_both_levels_the_loss_that_explains_the_second_and_half_the_variation(
    runs: Sequence[Any], wanted: str
) -> None:
    found = policy.inside_a_run(one_by_one(policy.POLICY, *runs))
    assert found.outcome == wanted, found.reasons


def with_volumes(*steps_s: float | None, seeds: Sequence[int] = (1, 2)) -> Made:
    """For each seed a run with a step at each time, at 850 Mbit/s: after 8 to 10 GB from 74 to 92 s."""
    runs = [{"seed": seed, **udp_run(160, step_s)} for seed in seeds for step_s in steps_s]
    return measured(policy.VOLUMES, *runs)


@pytest.mark.parametrize(
    ("runs", "wanted"),
    [
        (with_volumes(80, 85, 90, 110), "pass"),  # three of four
        (with_volumes(*[85] * 14, *[110] * 6), "fail"),  # in 70 %
        (with_volumes(80, 85, 90), "fail"),  # in every run
        (with_volumes(80, 85, 100, 110), "fail"),  # in half of them
        (with_volumes(80, 85, 90, 155), "fail"),  # so late that not more than three quarters are in time
        (with_volumes(80, 85, 90, None), "fail"),  # a run without a step counts as one
        (with_volumes(20, 20, 20, 20), "fail"),
        (with_volumes(80, 85, 90, 110, seeds=(1,)), "cannot tell"),
    ],
)
def test_the_step_comes_at_the_printed_time_and_after_the_printed_volume(runs: Made, wanted: str) -> None:
    judged = policy.when_it_comes(runs)
    assert judged.outcome == wanted, judged.reasons


def test_how_exact_a_step_was_found_is_only_said_if_the_counter_was_seen() -> None:
    runs = [{"seed": seed, **udp_run(160, 85), "stages": []} for seed in (1, 2)]
    assert "found within 0.0 s" in policy.when_it_comes(with_volumes(85)).ours
    assert "found within" not in policy.when_it_comes(measured(policy.VOLUMES, *runs)).ours


def with_steps() -> Made:
    return one_by_one(policy.POLICY, udp_run(), udp_run(step_s=88), udp_run(step_s=92))


def test_a_seed_that_lost_a_run_does_not_count() -> None:
    (good,) = with_volumes(80, 85, 90, 110).values()
    lost = {policy.VOLUMES: replace(good, results=good.results[:-1], left_out=good.results[-1:])}
    assert policy.when_it_comes(lost).outcome == "cannot tell"


def test_runs_without_a_step_do_not_pass() -> None:
    runs = one_by_one(policy.POLICY, *(udp_run(step_s=None) for _ in range(3)))
    assert policy.inside_a_run(runs).outcome == "fail"
    assert policy.when_it_comes(with_volumes(None, None)).outcome == "fail"


def lengths(*steps: tuple[int, float | None]) -> Made:
    return one_by_one(policy.LENGTHS, *(udp_run(length, step) for length, step in steps))


WORDS = {True: "pass", False: "fail", None: "cannot tell"}
SEEN = ((30, None), (60, None), (120, 85), (300, 85))


@pytest.mark.parametrize(
    ("steps", "is_met"),
    [
        (SEEN, True),
        (((30, None), (60, 40), (120, 85), (300, 85)), False),  # seen too early
        (((30, None), (60, None), (120, 85), (300, None)), False),  # not seen at all
        (((120, 85), (300, 85)), None),  # nothing short was run
        (((30, None), (60, None)), None),  # nothing long was run
        ((*SEEN, (100, 60)), True),  # 100 s are neither
        ((*SEEN, (100, None)), True),
        (((30, None), (100, None), (300, 85)), None),  # 60 and 120 s are missing
    ],
)
def test_runs_of_30_and_60_s_show_no_step_and_those_of_120_and_300_s_do(steps: Any, is_met: bool | None) -> None:
    assert policy.needs_long_runs(lengths(*steps)).outcome == WORDS[is_met]


@pytest.mark.parametrize(
    ("run", "steps", "is_met"),
    [
        (udp_run(), SEEN, True),
        (udp_run(step_s=None), SEEN, False),
        (udp_run(low_bps=600e6), SEEN, False),
        (udp_run(step_s=150), SEEN, False),
        (udp_run(), ((30, 15), *SEEN[1:]), False),
    ],
)
def test_k14_needs_the_levels_the_volume_and_runs_too_short_for_it(run: Any, steps: Any, is_met: bool) -> None:
    found = policy.detector({**one_by_one(policy.POLICY, run, run, run), **lengths(*steps)})
    assert found.outcome == WORDS[is_met], found.reasons


def test_volumes_and_times_of_a_step_are_those_of_the_series() -> None:
    step = policy.step_of(plain(**udp_run(step_s=85)))
    assert step is not None
    assert step.at_s == 85
    assert step.volume_bytes == pytest.approx(85 * round(850e6 / 8 / PAYLOAD_BYTES) * (PAYLOAD_BYTES + 28), rel=1e-3)
    assert step.undelivered == pytest.approx(step.loss, abs=1e-3)


# Levels of region pairs

AMAZON = {"eu-us": 165.8, "us-sa": 99.5, "eu-ap": 65, "us-ap": 57, "eu-sa": 47, "sa-ap": 32.5}
AZURE = {"eu-us": 273.25, "us-sa": 138, "us-ap": 95, "eu-ap": 81, "eu-sa": 65, "sa-ap": 56.95}
LARGEST = {("Amazon", "us", "eu"): 171.6, ("Amazon", "eu", "us"): 160.0, ("Azure", "us", "eu"): 284.5,
           ("Azure", "eu", "us"): 262.0}  # fmt: skip


def tcp_run(bps: Sequence[float], params: Mapping[str, str], **more: Any) -> dict[str, Any]:
    series = [{"time_s": n, "goodput_bps": value} for n, value in enumerate(bps)]
    told = {"measured": {"tcp": {"series": series}}, "workload_s": float(len(bps)), "stages": []}
    return {"params": dict(params), "goodput_bps": sum(bps) / len(bps), "asked": {"rate_bps": bps[-1] / 0.95}, **told,
            **more}  # fmt: skip


WITH_A_LOW_RUN = {**AMAZON, "us-sa": 99.2, "eu-sa": 47.3, "eu-ap": 72.875, "us-ap": 64.875}
LOWEST = {("Amazon", "ap", "sa"): 1.0}
"""As small as 1 Mbit/s, with the same mean."""
TIMES = (-2.0, -1.0, 0.0, 1.0, 2.0)


def campaign(
    amazon: Mapping[str, float] = AMAZON,
    azure: Mapping[str, float] = AZURE,
    swing: float = 0.2,
    drops: int = 0,
    length_s: int = 20,
    lowest: Mapping[tuple[str, str, str], float] | None = None,
    uneven: float = 0.02,
    even: float = 1e-5,
) -> Made:
    """A run of each ordered pair and seed; every other second is up by `swing`, the rest down.

    The runs of Azure's three uneven pairs differ from seed to seed by `uneven`, the others by `even`.
    """
    trials = []
    for provider, levels in (("Amazon", amazon), ("Azure", azure)):
        for pair, level in levels.items():
            for source, target in (pair.split("-"), pair.split("-")[::-1]):
                mbit = {**LARGEST, **(lowest or {})}.get((provider, source, target), level)
                by = uneven if provider == "Azure" and (source, target) in path.UNEVEN else even
                for seed, step in enumerate(TIMES, 1):
                    mean = mbit * 1e6 * (1 + step * by)
                    bps = [mean * (1 + (swing if n % 2 else -swing)) for n in range(length_s)]
                    stages = [{"link": f"{source}-access", "queue_drops": drops}, {"link": pair, "queue_drops": 9}]
                    params = between(source, target, topology=path.PROVIDERS[provider])
                    asked = {"asked": {"rate_bps": mean * 1514 / 1448}}
                    trials.append(tcp_run(bps, params, stages=stages, seed=seed, workload_s=300.0, **asked))
    return measured(path.PAIRS, *trials)


def by_day_and_night(uneven: float = 0.2, even: float = 0.0, full: float = 1.0) -> Made:
    """Seeds repeat each other; runs by day are above those by night by these shares of the mean. By night a run has the
    share `full` of its link.
    """
    day, night = (campaign(uneven=by * uneven / 2, even=by * even / 2) for by in (1, -1))
    found = []
    for when, runs in (("day", day), ("night", night)):
        for each in runs[path.PAIRS].results:
            if each.seed == TIMES.index(1.0) + 1:
                rate_bps = known(each.asked.rate_bps) / (full if when == "night" else 1.0)
                told = {"asked": replace(each.asked, rate_bps=rate_bps), "params": {**each.params, "sa-ap.rate": when}}
                found += [replace(each, id=f"{each.id}-{when}-{seed}", seed=seed, **told) for seed in SEEDS]
    return {path.PAIRS: Measured.of(path.PAIRS, "quick", found)}


def days(runs: Made, many: int = 40) -> Made:
    """The campaign again and again, until it is more than 300 h."""
    return {path.PAIRS: Measured.of(path.PAIRS, "quick", runs[path.PAIRS].results * many)}


def without_a_pair(runs: Made) -> Made:
    pair = runs[path.PAIRS].results[-1].params
    return {path.PAIRS: Measured.of(path.PAIRS, "quick", [r for r in runs[path.PAIRS].results if r.params != pair])}


SWAPPED = {**AZURE, "eu-ap": AZURE["us-ap"], "us-ap": AZURE["eu-ap"]}
PRINTED = partial(campaign, WITH_A_LOW_RUN, lowest=LOWEST, uneven=1e-5)


@pytest.mark.parametrize(
    ("judge", "runs", "is_met"),
    [
        (path.bottleneck, partial(campaign, swing=0.0), True),
        (path.bottleneck, partial(campaign, drops=1), False),
        (path.campaign, lambda: days(campaign()), True),
        (path.campaign, campaign, False),  # not 300 h
        (path.campaign, lambda: days(without_a_pair(campaign())), False),
        (path.tcp_levels, PRINTED, True),
        (path.tcp_levels, partial(campaign, uneven=1e-5), False),  # no run as small as 1 Mbit/s
        (path.tcp_levels, partial(campaign, WITH_A_LOW_RUN, AMAZON, lowest=LOWEST), False),
        (
            path.tcp_levels,
            partial(campaign, {pair: 0.99 * level for pair, level in AMAZON.items()}, lowest=LOWEST),
            False,
        ),
        (path.tcp_levels, partial(PRINTED, swing=0.1), False),
        (path.tcp_levels, partial(PRINTED, swing=0.29), False),
        (path.ranking, campaign, True),
        (path.ranking, partial(campaign, uneven=1e-5), None),  # no pair is shown to vary more
        (path.ranking, by_day_and_night, True),
        (path.ranking, partial(by_day_and_night, uneven=0.0), False),
        (path.ranking, partial(by_day_and_night, even=0.2), None),  # three runs of a seed are not three runs
        (path.bottleneck, by_day_and_night, True),
        (path.bottleneck, partial(by_day_and_night, full=0.9), False),
        (path.ranking, partial(campaign, azure=SWAPPED), False),  # no difference between the providers
        (path.ranking, partial(campaign, azure={**AZURE, "sa-ap": 200}), False),
    ],
)
def test_levels_of_region_pairs(judge: Judge, runs: Callable[[], Made], is_met: bool | None) -> None:
    found = judge(runs())
    assert found.outcome == WORDS[is_met], found.reasons


# Protocols and round trips


def udp_and_tcp(udp: float = 805e6, tcp: float = 284.5e6, best: float = 805e6) -> Made:
    """What UDP and TCP have on the whole, and what UDP has in its best second."""
    run = udp_run(length_s=10, step_s=None, high_bps=best)
    runs = measured(path.UDP, {**run, "goodput_bps": udp, "params": {}, "asked": {"rate_bps": 850e6}})
    return {**runs, **measured(path.TCP, {"goodput_bps": tcp, "params": {}, "asked": {"rate_bps": 850e6}})}


@pytest.mark.parametrize(
    ("udp", "tcp", "best", "is_met"),
    [
        (805e6, 284.5e6, 805e6, True),
        (570e6, 284.5e6, 805e6, True),
        (568e6, 284.5e6, 805e6, False),
        (500e6, 100e6, 790e6, False),
        (0.0, 0.0, 805e6, False),
    ],
)
def test_tcp_has_less_than_half_of_udp_which_fills_the_path_in_its_best_second(
    udp: float, tcp: float, best: float, is_met: bool
) -> None:
    assert path.udp_above_tcp(udp_and_tcp(udp, tcp, best)).outcome == WORDS[is_met]


AMAZON_MS = {"us-eu": 80, "us-sa": 125, "eu-sa": 190, "eu-ap": 201, "us-ap": 235, "sa-ap": 332.64}
AZURE_MS = {"us-eu": 80, "us-sa": 127, "eu-sa": 195, "eu-ap": 315, "us-ap": 235, "sa-ap": 335.66}


def pings(azure: Mapping[str, float] = AZURE_MS, cov: float = 0.01, steady: str = "sa-ap", seeds: int = 8) -> Made:
    trials = []
    for provider, found in (("Amazon", AMAZON_MS), ("Azure", azure)):
        for pair, ms in found.items():
            sd_s = ms / 1e3 * (cov / 2 if pair == steady else cov)
            ping = {"rtt_mean_s": ms / 1e3, "rtt_sd_s": sd_s}
            source, target = pair.split("-")
            params = between(source, target, topology=path.PROVIDERS[provider])
            trials += [{"params": params, "measured": {"ping": ping}, "seed": seed} for seed in range(seeds)]
    return measured(rtt.RTTS, *trials)


def detour(whole_ms: float) -> Made:
    legs = {("eu", "us"): 80, ("us", "ap"): 235, ("eu", "ap"): whole_ms}
    trials = ({"params": between(*pair), "measured": {"ping": {"rtt_mean_s": ms / 1e3}}} for pair, ms in legs.items())
    return measured(rtt.DETOUR, *trials)


@pytest.mark.parametrize(
    ("judge", "runs", "is_met"),
    [
        (rtt.rtts, pings(), True),
        (rtt.rtts, pings(seeds=1), None),
        (rtt.rtts, pings(azure=AMAZON_MS), False),
        (rtt.rtts, pings(azure={**AZURE_MS, "us-sa": 127.12}), False),  # a mean of 214.63
        (rtt.rtts, pings(azure={**AZURE_MS, "us-sa": 160, "sa-ap": 302.66}), False),  # same mean, another pair apart
        (rtt.rtt_variation, pings(), True),
        (rtt.rtt_variation, pings(seeds=1), None),  # none of 12 runs, but up to 26 % are not excluded
        (rtt.rtt_variation, pings(cov=0.07), False),
        (rtt.rtt_variation, pings(steady="us-eu"), False),
        (rtt.detour, detour(315), True),
        (rtt.detour, detour(317), False),
        (rtt.detour, detour(235), False),
    ],
)
def test_round_trips(judge: Judge, runs: Made, is_met: bool | None) -> None:
    found = judge(runs)
    assert found.outcome == WORDS[is_met], found.reasons


# Degradations


def schedule(begin_s: float, end_s: float, **change: Any) -> list[dict[str, Any]]:
    """The intervals of one link that is worse from `begin_s` to `end_s`."""
    good = {"asked_rate_bps": 30e6, "asked_loss": "none"}
    marks = ((0.0, begin_s, good), (begin_s, end_s, {**good, **change}), (end_s, 240.0, good))
    return [{"intervals": [{"from_s": begin, "to_s": end, **state} for begin, end, state in marks]}]


def again(spans: Sequence[tuple[float, float]]) -> list[dict[str, Any]]:
    """Of one that is worse several times."""
    good, bad = {"asked_rate_bps": 30e6, "asked_loss": "none"}, {"asked_rate_bps": 4e6, "asked_loss": "none"}
    states = [{"from_s": 0.0, "to_s": spans[0][0], **good}]
    for (begin, end), following in zip(spans, [*(each[0] for each in spans[1:]), 240.0], strict=True):
        states += [{"from_s": begin, "to_s": end, **bad}, {"from_s": end, "to_s": following, **good}]
    return [{"intervals": states}]


def day(level: float, bad: float, source: str, target: str, rtt_s: float = 0.2) -> dict[str, Any]:
    bps = [bad if 140 <= second < 200 else level for second in range(240)]
    stages = schedule(140, 200, asked_rate_bps=4e6)
    return tcp_run(bps, between(source, target), stages=stages, seen={"rtt_s": rtt_s})


SPANS = ((30.0, 70.0), (150.0, 190.0))


def twice(level: float, bad: float, source: str, target: str, spans: Sequence[tuple[float, float]] = SPANS) -> Any:
    bps = [bad if any(begin <= n < end for begin, end in spans) else level for n in range(240)]
    return tcp_run(bps, between(source, target), stages=again(spans))


def asymmetric(there: float, back: float, spans: Sequence[tuple[float, float]] = SPANS) -> Made:
    return measured(worse.ASYMMETRY, twice(60e6, there, "sa", "eu", spans), twice(60e6, back, "eu", "sa", spans))


def shared(
    first: float = 4e6, second: float = 4e6, level: float = 28e6, rtts: tuple[float, float] = (0.2, 0.202)
) -> Made:
    return measured(
        worse.SHARED, day(28e6, first, "a", "a2", rtts[0]), day(level, second, "b", "b2", rtts[1]),
    )  # fmt: skip


def zones(lower: float, higher: float, at_night: float) -> Made:
    both = tcp_run([lower] * 240, between("a", "c")), tcp_run([higher] * 200 + [at_night] * 40, between("b", "b2"))
    return measured(worse.LOWER, *both)


def probes(lossy_s: float, queued_s: float, lossy_bytes: float) -> Made:
    cases = zip(worse.CONDITIONS, (0.095, lossy_s, queued_s), (100e6, lossy_bytes, 1e6), strict=True)
    trials = []
    for words, delay_s, got in cases:
        rate, loss = words.split("|")
        told = {"udp": {"delay_mean_s": delay_s}, "background": {"bulk": {"received_bytes": int(got)}}}
        trials.append({"params": {"path.rate": rate, "path.loss": loss}, "measured": told, "seen": {"rtt_s": 0.19}})
    return measured(worse.PROBES, *trials)


@pytest.mark.parametrize(
    ("judge", "runs", "is_met"),
    [
        (worse.one_direction, asymmetric(2e6, 60e6), True),
        (worse.one_direction, asymmetric(20e6, 60e6), False),
        (worse.one_direction, asymmetric(2e6, 56e6), False),
        (worse.one_direction, asymmetric(2e6, 60e6, SPANS[:1]), False),  # once is not again and again
        (worse.one_direction, asymmetric(0.0, 0.0), False),
        (worse.degrade_together, shared(), True),
        (worse.degrade_together, shared(second=28e6), False),
        (worse.degrade_together, shared(level=12e6), False),  # together, but not alike
        (worse.zones_differ, shared(), True),
        (worse.zones_differ, shared(rtts=(0.2, 0.2)), False),
        (worse.zones_differ, shared(rtts=(0.2, 0.3)), False),
        (worse.lower_all_day, zones(20e6, 30e6, 30e6), True),
        (worse.lower_all_day, zones(20e6, 30e6, 15e6), False),
        (worse.rtt_in_degradation, probes(0.095, 0.4, 1e6), True),
        (worse.rtt_in_degradation, probes(0.3, 0.4, 1e6), False),
        (worse.rtt_in_degradation, probes(0.095, 0.095, 1e6), False),  # nor does a queue: the probe sees nothing
        (worse.rtt_in_degradation, probes(0.095, 0.4, 90e6), False),  # nothing dropped
    ],
)
def test_degradations(judge: Judge, runs: Made, is_met: bool) -> None:
    found = judge(runs)
    assert found.outcome == WORDS[is_met], found.reasons


def test_the_mean_of_the_degraded_hours_is_of_all_their_seconds_and_the_first_hour_counts_in_neither() -> None:
    made = measured(
        worse.SHARED, tcp_run([1e6 * n for n in range(240)], {}, stages=schedule(60, 80, asked_rate_bps=4e6))
    )[worse.SHARED]
    (run, *_) = made.results
    one = replace(made, results=(run,))
    others = [*range(10, 60), *range(80, 240)]
    assert worse.mean_bps(one, is_degraded=True) == pytest.approx(1e6 * sum(range(60, 80)) / 20)
    assert worse.mean_bps(one, is_degraded=False) == pytest.approx(1e6 * sum(others) / len(others))
    assert worse.hours(run, first=0) == [pytest.approx(1e6 * (begin + 4.5)) for begin in range(0, 240, 10)]
    assert len(worse.hours(run)) == 23


def test_seconds_count_as_degraded_once_a_flow_has_adapted_and_as_usual_once_it_has_recovered() -> None:
    """Worse from 30 to 70 s: degraded from 40 to 69 s; usual after the ramp of 8 s, up to 28 s, and from 90 s on."""
    run = measured(
        worse.SHARED, tcp_run([float(n) for n in range(240)], {}, stages=schedule(30, 70, asked_loss="random 1 %"))
    )[worse.SHARED].results[0]
    assert worse.intervals(run) == [(30, 70)]
    assert worse.degraded(run) == [[float(n) for n in range(40, 70)]]
    assert worse.undisturbed(run) == [float(n) for n in (*range(8, 29), *range(90, 240))]


# All of them


@pytest.mark.parametrize(("judge", "name"), [(rtt.cov_formula, "population_cov"), (rtt.cv_rmse_formula, "cv_rmse")])
def test_a_formula_that_is_off_is_noticed(
    judge: Callable[[Made], Judgement], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judge({}).outcome == "pass"
    right = getattr(rtt.statistic, name)
    monkeypatch.setattr(rtt.statistic, name, lambda *samples: right(*samples) + 1e-6)
    assert judge({}).outcome == "fail"


def test_every_row_of_the_publication_is_there_once() -> None:
    wanted = {"SYS", "E1", "F2", "F3", "F4", "F5", "F6", "E5", "F7", "E6", "MET1", "MET2", "F8a", "F8b", "E7", "F9a"}
    wanted |= {"F9b", "E8", "CMP", "COST"}
    assert sorted(row.id for row in ROWS) == sorted(["K14", *(f"S0-{word}" for word in wanted)])
    assert [row.id for row in select(["S0"])] == [row.id for row in ROWS]
