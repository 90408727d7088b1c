"""Rows of the network between datacenters: each judge passes on what it should, and fails on what it should not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from results import plain
from testbed.compare.paper import interdatacenter_degradation as worse
from testbed.compare.paper import interdatacenter_path as path
from testbed.compare.paper import interdatacenter_policy as policy
from testbed.compare.paper.catalogue import select
from testbed.compare.paper.interdatacenter import ROWS
from testbed.compare.reproduction.measured import Measured
from testbed.compare.reproduction.row import Judge, Judgement

PAYLOAD_BYTES = 1400
Made = Mapping[str, Measured]


def measured(scenario: str, *trials: Mapping[str, Any]) -> Made:
    results = tuple(plain(**{"id": str(n), **each}) for n, each in enumerate(trials))
    return {scenario: Measured.of(scenario, "quick", results)}


def between(source: str, target: str, **params: str) -> dict[str, str]:
    return {"workload.from": source, "workload.to": target, **params}


# The policy


def udp_run(
    length_s: int = 300, step_s: float | None = 85, low_bps: float = 40e6, lost: float | None = None, crossed: float = 0
) -> dict[str, Any]:
    """85 Mbit/s are offered; from the step on `low_bps` arrives, and `lost` of what is sent is said to be lost."""
    sent = round(85e6 / 8 / PAYLOAD_BYTES)
    series = []
    for second in range(length_s):
        arrived = sent if step_s is None or second < step_s else round(low_bps / 8 / PAYLOAD_BYTES)
        gone = sent - arrived if lost is None or arrived == sent else round(lost * sent)
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
    udp = {"offered_bps": 85e6, "arrived_datagrams": arrived, "received_bytes": arrived * PAYLOAD_BYTES}
    return {
        "params": {"duration": f"{length_s} s"},
        "workload_s": length_s,
        "measured": {"udp": {**udp, "series": series}},
        "stages": [{"policy": {"crossed_s": None if step_s is None else step_s + crossed}}],
    }


def uneven_sender(run: dict[str, Any]) -> dict[str, Any]:
    run["measured"]["udp"]["series"][200]["sent_datagrams"] //= 2
    return run


@pytest.mark.parametrize(
    ("runs", "is_met"),
    [
        ([udp_run(), udp_run(step_s=90)], True),
        ([udp_run(), udp_run(step_s=None)], False),  # one shows no step
        ([udp_run(low_bps=50e6)], False),  # not that low
        ([udp_run(lost=0.3)], False),  # loss that does not explain what is missing
        ([uneven_sender(udp_run())], False),
    ],
)
def test_a_step_has_both_levels_and_the_loss_that_explains_the_second(runs: Sequence[Any], is_met: bool) -> None:
    assert policy.inside_a_run(measured(policy.POLICY, *runs)).is_met is is_met


@pytest.mark.parametrize(
    ("runs", "is_met"),
    [
        ([udp_run(step_s=s) for s in (76, 80, 85, 91)], True),
        ([udp_run(step_s=s) for s in (80, 85, 91, 150)], True),  # three of four are enough
        ([udp_run(step_s=s) for s in (80, 85, 150, 200)], False),
        ([udp_run(step_s=40)], False),
        ([udp_run(crossed=-9)], False),  # found far from where the counter was
    ],
)
def test_the_step_comes_after_the_printed_volume(runs: Sequence[Any], is_met: bool) -> None:
    assert policy.when_it_comes(measured(policy.POLICY, *runs)).is_met is is_met


def lengths(*steps: tuple[int, float | None]) -> Made:
    return measured(policy.LENGTHS, *(udp_run(length, step) for length, step in steps))


SEEN = ((30, None), (60, None), (120, 85), (300, 85))


@pytest.mark.parametrize(
    ("steps", "is_met"),
    [
        (SEEN, True),
        (((30, None), (60, 40), (120, 85), (300, 85)), False),  # seen too early
        (((30, None), (60, None), (120, 85), (300, None)), False),  # not seen at all
        (((120, 85), (300, 85)), False),  # nothing short was run
    ],
)
def test_only_a_run_of_more_than_100_s_shows_the_step(steps: Any, is_met: bool) -> None:
    assert policy.needs_long_runs(lengths(*steps)).is_met is is_met


@pytest.mark.parametrize(
    ("runs", "steps", "is_met"),
    [
        ([udp_run()], SEEN, True),
        ([udp_run(step_s=None)], SEEN, False),
        ([udp_run(low_bps=60e6)], SEEN, False),
        ([udp_run(step_s=150)], SEEN, False),
        ([udp_run()], ((30, 15), *SEEN[1:]), False),
    ],
)
def test_k14_needs_the_levels_the_volume_and_runs_too_short_for_it(runs: Any, steps: Any, is_met: bool) -> None:
    assert policy.detector(measured(policy.POLICY, *runs) | lengths(*steps)).is_met is is_met


def test_volumes_and_times_of_a_step_are_those_of_the_series() -> None:
    step = policy.step_of(plain(**udp_run(step_s=85)))
    assert step is not None
    assert step.at_s == 85
    assert step.volume_bytes == 85 * round(85e6 / 8 / PAYLOAD_BYTES) * (PAYLOAD_BYTES + 28)
    assert step.undelivered == pytest.approx(step.loss, abs=1e-4)


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


def campaign(
    amazon: Mapping[str, float] = AMAZON,
    azure: Mapping[str, float] = AZURE,
    swing: float = 0.0,
    drops: int = 0,
    length_s: int = 300,
) -> Made:
    """A run of each ordered pair; every other second is up by `swing`, the rest down."""
    trials = []
    for provider, levels in (("Amazon", amazon), ("Azure", azure)):
        for pair, level in levels.items():
            for source, target in (pair.split("-"), pair.split("-")[::-1]):
                mbit = LARGEST.get((provider, source, target), level)
                bps = [mbit * 1e6 * (1 + (swing if n % 2 else -swing)) for n in range(length_s)]
                stages = [{"link": f"{source}-access", "queue_drops": drops}, {"link": pair, "queue_drops": 9}]
                params = between(source, target, topology=path.PROVIDERS[provider])
                trials.append(tcp_run(bps, params, stages=stages))
    return measured(path.PAIRS, *trials)


def without_last(runs: Made) -> Made:
    results = runs[path.PAIRS].results[:-1]
    return {path.PAIRS: Measured.of(path.PAIRS, "quick", results)}


SWAPPED = {**AZURE, "eu-ap": AZURE["us-ap"], "us-ap": AZURE["eu-ap"]}


@pytest.mark.parametrize(
    ("judge", "runs", "is_met"),
    [
        (path.bottleneck, campaign(), True),
        (path.bottleneck, campaign(drops=1), False),
        (path.campaign, campaign(), True),
        (path.campaign, without_last(campaign()), False),
        (path.tcp_levels, campaign(), True),
        (path.tcp_levels, campaign(azure=AMAZON), False),
        (path.tcp_levels, campaign(amazon={pair: 0.8 * level for pair, level in AMAZON.items()}), False),
        (path.tcp_levels, campaign(swing=0.1), True),
        (path.tcp_levels, campaign(swing=0.3), False),
        (path.tcp_levels, campaign(swing=0.3, length_s=20), True),  # too short to say
        (path.ranking, campaign(), True),
        (path.ranking, campaign(azure=SWAPPED), False),  # no difference between the providers
        (path.ranking, campaign(azure={**AZURE, "sa-ap": 200}), False),
        (path.ranking, campaign(amazon={**AMAZON, "sa-ap": 46}, azure={**AZURE, "sa-ap": 64}), True),
    ],
)
def test_levels_of_region_pairs(judge: Judge, runs: Made, is_met: bool) -> None:
    assert judge(runs).is_met is is_met


# Protocols and round trips


@pytest.mark.parametrize(("udp", "tcp", "is_met"), [(800e6, 100e6, True), (800e6, 700e6, False), (90e6, 100e6, False)])
def test_udp_is_far_above_tcp(udp: float, tcp: float, is_met: bool) -> None:
    asked = {"asked": {"rate_bps": 850e6}}
    runs = measured(path.UDP, {"goodput_bps": udp, "params": {}, **asked})
    runs |= measured(path.TCP, {"goodput_bps": tcp, "params": {}, **asked})
    assert path.udp_above_tcp(runs).is_met is is_met


AMAZON_MS = {"us-eu": 80, "us-sa": 125, "eu-sa": 190, "eu-ap": 201, "us-ap": 235, "sa-ap": 332.64}
AZURE_MS = {"us-eu": 80, "us-sa": 127, "eu-sa": 195, "eu-ap": 315, "us-ap": 235, "sa-ap": 335.66}


def pings(
    azure: Mapping[str, float] = AZURE_MS, cov: float = 0.01, steady: str = "sa-ap", scenario: str = path.RTTS
) -> Made:
    trials = []
    for provider, found in (("Amazon", AMAZON_MS), ("Azure", azure)):
        for pair, ms in found.items():
            sd_s = ms / 1e3 * (cov / 2 if pair == steady else cov)
            ping = {"rtt_mean_s": ms / 1e3, "rtt_sd_s": sd_s}
            source, target = pair.split("-")
            params = between(source, target, topology=path.PROVIDERS[provider])
            trials.append({"params": params, "measured": {"ping": ping}})
    return measured(scenario, *trials)


def detour(whole_ms: float) -> Made:
    legs = {("eu", "us"): 80, ("us", "ap"): 235, ("eu", "ap"): whole_ms}
    trials = ({"params": between(*pair), "measured": {"ping": {"rtt_mean_s": ms / 1e3}}} for pair, ms in legs.items())
    return measured(path.DETOUR, *trials)


@pytest.mark.parametrize(
    ("judge", "runs", "is_met"),
    [
        (path.rtts, pings(), True),
        (path.rtts, pings(azure=AMAZON_MS), False),
        (path.rtts, pings(azure={**AZURE_MS, "us-sa": 160, "sa-ap": 302.66}), False),  # same mean, another pair apart
        (path.rtt_variation, pings(), True),
        (path.rtt_variation, pings(cov=0.07), False),
        (path.rtt_variation, pings(steady="us-eu"), False),
        (path.detour, detour(315), True),
        (path.detour, detour(330), False),
        (path.detour, detour(235), False),
    ],
)
def test_round_trips(judge: Judge, runs: Made, is_met: bool) -> None:
    assert judge(runs).is_met is is_met


# Degradations


def schedule(begin_s: float, end_s: float, **change: Any) -> list[dict[str, Any]]:
    """The intervals of one link that is worse from `begin_s` to `end_s`."""
    good = {"asked_rate_bps": 30e6, "asked_loss": "none"}
    marks = ((0.0, begin_s, good), (begin_s, end_s, {**good, **change}), (end_s, 240.0, good))
    return [{"intervals": [{"from_s": begin, "to_s": end, **state} for begin, end, state in marks]}]


def day(level: float, bad: float, source: str, target: str, rtt_s: float = 0.2) -> dict[str, Any]:
    bps = [bad if 140 <= second < 200 else level for second in range(240)]
    stages = schedule(140, 200, asked_rate_bps=4e6)
    return tcp_run(bps, between(source, target), stages=stages, seen={"rtt_s": rtt_s})


def asymmetric(there: float, back: float) -> Made:
    return measured(worse.ASYMMETRY, day(60e6, there, "sa", "eu"), day(60e6, back, "eu", "sa"))


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
        rate, loss = words[:10].strip(), words[10:].strip()
        if words.startswith("8 "):
            rate, loss = "8 Mbit/s", "none"
        told = {"udp": {"delay_mean_s": delay_s}, "background": {"bulk": {"received_bytes": int(got)}}}
        trials.append({"params": {"path.rate": rate, "path.loss": loss}, "measured": told, "seen": {"rtt_s": 0.19}})
    return measured(worse.PROBES, *trials)


@pytest.mark.parametrize(
    ("judge", "runs", "is_met"),
    [
        (worse.one_direction, asymmetric(2e6, 60e6), True),
        (worse.one_direction, asymmetric(20e6, 60e6), False),
        (worse.one_direction, asymmetric(2e6, 30e6), False),
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
    assert judge(runs).is_met is is_met


# All of them


@pytest.mark.parametrize(("judge", "name"), [(path.cov_formula, "population_cov"), (path.cv_rmse_formula, "cv_rmse")])
def test_a_formula_that_is_off_is_noticed(
    judge: Callable[[Made], Judgement], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judge({}).is_met
    right = getattr(path.statistic, name)
    monkeypatch.setattr(path.statistic, name, lambda *samples: right(*samples) + 1e-6)
    assert not judge({}).is_met


def test_every_row_of_the_publication_is_there_once() -> None:
    wanted = {"SYS", "E1", "F2", "F3", "F4", "F5", "F6", "E5", "F7", "E6", "MET1", "MET2", "F8a", "F8b", "E7", "F9a"}
    wanted |= {"F9b", "E8", "CMP", "COST"}
    assert sorted(row.id for row in ROWS) == sorted(["K14", *(f"S0-{word}" for word in wanted)])
    assert select(["S0"]) == ROWS
