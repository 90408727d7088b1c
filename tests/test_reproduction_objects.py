"""Rows of the object store and of CloudCmp: each passes on what it should, and fails on what it should not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from results import plain
from testbed.compare.published import load
from testbed.spec import load as specfile
from testbed.trial.result import TrialResult
from testbed_reproductions import command
from testbed_reproductions.measured import Measured
from testbed_reproductions.paper import cloudcmp, object_store_check
from testbed_reproductions.row import Finding

ROOT = Path(__file__).parents[1]
ROWS = {row.id: row for id in ("S1", "S2") for row in command.PUBLICATIONS[id]}
KIB, MIB = 2**10, 2**20
SIZES = (1, KIB, MIB, 16 * MIB, 100 * MIB)
RTT_S = 0.1
PLAIN_SEED, SEEDS = 1, (11, 12, 13)

Download: TypeAlias = dict[str, Any]
Runs: TypeAlias = Mapping[str, Measured]


def result(params: Mapping[str, str], *, verdict: str = "valid", **data: Any) -> TrialResult:
    asked = {"rtt_s": data.pop("rtt_s", RTT_S), "rate_bps": data.pop("rate_bps", 1e9)}
    seen = {"rtt_s": asked["rtt_s"] + data.pop("off_s", 0.0), "rtt_max_s": asked["rtt_s"]}
    return plain(params=dict(params), verdict=verdict, asked=asked, seen=seen, **data)


def download(size: int, elapsed_s: float, number: int = 0, connect_s: float = RTT_S) -> Download:
    rate = size * 8 / elapsed_s
    return {
        "number": number,
        "object_bytes": size,
        "elapsed_s": elapsed_s,
        "goodput_bps": rate,
        "connect_s": connect_s,
    }


def http(params: Mapping[str, str], found: Sequence[Download], **data: Any) -> TrialResult:
    return result(params, measured={"http": {"downloads": list(found)}}, **data)


def at_kib(kib_s: float, size: int = 100 * MIB) -> Download:
    return download(size, size / KIB / kib_s)


def run(scenario: str, results: Sequence[TrialResult]) -> dict[str, Measured]:
    """Each result with three seeds alike, unless it has one of its own."""
    every = [
        replace(each, seed=seed) for each in results for seed in (SEEDS if each.seed == PLAIN_SEED else (each.seed,))
    ]
    return {scenario: Measured.of(scenario, "quick", every)}


TIMES = {1: 0.2, KIB: 0.2, MIB: 2.0, 16 * MIB: 4.5, 100 * MIB: 20.0}
"""Seconds. Goodput of 1 MiB, 1 KiB and 1 B is 1.0, 3.0 and 6.0 orders of magnitude below that of 100 MiB."""


def sizes(connect_s: float = RTT_S, **changed: Mapping[int, float]) -> Runs:
    times = TIMES | dict(changed.get("times", {}))
    numbered = list(enumerate((*SIZES, *SIZES[::-1])))
    found = [download(size, times[size], number, connect_s) for number, size in numbered]
    return run("object-sizes", [http({"path.rtt": "100 ms"}, found)])


NEAR = {"us": ("us", 5453), "eu": ("eu", 4046), "sa": ("csa", 1464), "ap": ("ap", 3573)}
MEANS = {"us": 3562, "eu": 2791, "sa": 1445, "ap": 2018}
FAR = {
    "us": {"eu": 2300, "csa": 2000, "ap": 1600},
    "eu": {"us": 2900, "csa": 1400, "ap": 1500},
    "sa": {"us": 1500, "eu": 1500, "ap": 1100},
    "ap": {"us": 2000, "eu": 1600, "csa": 1050},
}


def cells() -> dict[str, dict[str, float]]:
    """The printed cells, others that have the printed order, and for ZA what gives the printed mean over all homes."""
    found = {}
    for store, (home, kib) in NEAR.items():
        row = {home: kib, **FAR[store]}
        rest = 77 * MEANS[store] - sum(object_store_check.HOMES[each] * value for each, value in row.items())
        found[store] = {**row, "za": rest / object_store_check.HOMES["za"]}
    return found


CELLS = cells()


def regions(changed: Mapping[tuple[str, str], float] | None = None, off_s: float = 0.0, scale: float = 1.0) -> Runs:
    cells = {(s, h): kib * scale for s, homes in CELLS.items() for h, kib in homes.items()} | dict(changed or {})
    params = {at: {"workload.from": f"store-{at[0]}", "workload.to": f"home-{at[1]}"} for at in cells}
    return run("object-regions", [http(params[at], [at_kib(kib)], off_s=off_s) for at, kib in cells.items()])


def access(slow: Sequence[float] = (900, 890, 880), fast: Sequence[float] = (9000, 4000, 2000)) -> Runs:
    lines = (("8 Mbit/s", 8e6, slow), ("100 Mbit/s", 1e8, fast))
    found = [
        http({"path.rate": rate, "path.rtt": f"{n} ms"}, [at_kib(kib)], rate_bps=bps)
        for rate, bps, levels in lines
        for n, kib in enumerate(levels, 1)
    ]
    return run("access-limited", found)


NEAR_EDGE = {MIB: (600, 8100), 16 * MIB: (2000, 11000), 100 * MIB: (3000, 18000)}
"""KiB/s from the origin and from the edge."""
FAR_EDGE = {MIB: (4000, 4000 * 0.5641), 16 * MIB: (5000, 5200), 100 * MIB: (5500, 5700)}
"""The worst is -43.59 %."""
SLOW = {MIB: (400, 470), 16 * MIB: (470, 480), 100 * MIB: (480, 481)}

Goodputs: TypeAlias = Mapping[int, tuple[float, float]]


def edge(
    near: Goodputs = NEAR_EDGE, far: Goodputs = FAR_EDGE, slow: Goodputs = SLOW, scenario: str = "cdn-edge"
) -> Runs:
    homes = (("196 ms", 0.2, 0.01, near), ("10 ms", 0.014, 0.06, far), ("96 ms", 0.1, 0.01, slow))
    found = []
    for wan, origin_s, edge_s, levels in homes:
        for column, (cache, rtt_s) in enumerate((("none", origin_s), ("edge", edge_s))):
            params = {"workload.cache": cache, "workload.warm": str(cache == "edge"), "wan.rtt": wan}
            got = [at_kib(level[column], size) for size, level in levels.items()]
            found.append(http(params, got, rtt_s=rtt_s))
    return run(scenario, found)


def loaded(*levels: Goodputs, **more: Goodputs) -> Runs:
    """The same of an edge under load and of one without."""
    return both(edge(*levels, **more), edge(*levels, **more, scenario="cdn-load"))


def around(mean: float, cov: float) -> tuple[float, ...]:
    return (mean * (1 - cov), mean * (1 + cov))


def steady(origin: Sequence[float] = around(2000, 0.38), near: Sequence[float] = around(5000, 0.26)) -> Runs:
    """A CoV of 0.38 and 0.26, which is less by between 28 % and a third."""
    return run(
        "cdn-steadiness",
        [
            http({"workload.cache": cache}, [at_kib(kib) for kib in levels])
            for cache, levels in (("none", origin), ("edge", near))
        ],
    )


def at_once(size: int, times: Mapping[int, float]) -> list[TrialResult]:
    return [
        http(
            {"workload.sizes": str(size), "workload.concurrency": str(many)},
            [download(size, time)] * many,
            rtt_s=0.001,
            goodput_bps=many * size * 8 / time if time else None,
        )
        for many, time in times.items()
    ]


LARGE_S = {1: 0.09, 2: 0.17, 32: 2.7}


def blobs(small: Mapping[int, float] | None = None, large: Mapping[int, float] | None = None) -> Runs:
    small = small or {1: 0.002, 2: 0.002, 32: 0.0024}
    parts = at_once(1000, small), at_once(10_000_000, large or LARGE_S)
    return run("blob-concurrency", [*parts[0], *parts[1]])


def messages(times: Mapping[int, float]) -> Runs:
    return run("queue-messages", at_once(50, times))


def rates(scenario: str, fast: Sequence[float], slow: Sequence[float], rtt_s: float = 0.001) -> Runs:
    found = [
        replace(result({"path.rate": text}, goodput_bps=bps, rate_bps=rate, rtt_s=rtt_s), seed=seed)
        for text, rate, levels in (("1 Gbit/s", 1e9, fast), ("300 Mbit/s", 3e8, slow))
        for seed, bps in enumerate(levels, 21)
    ]
    return run(scenario, found)


def inside(
    fast: Sequence[float] = (940e6, 941e6, 940.5e6), slow: Sequence[float] = (86e6, 85e6, 86e6), rtt_s: float = 1e-3
) -> Runs:
    return rates("intra-datacenter", fast, slow, rtt_s)


INTER = tuple(250e6 + 10e6 * n for n in range(-4, 6))


def between(fast: Sequence[float] = INTER, slow: Sequence[float] = (25e6, 26e6) * 5) -> Runs:
    """Medians above 200 Mbit/s, and within the axis of the figure."""
    return {**rates("inter-datacenter", fast, slow), **inside()}


def windows(fixed: float = 10e6, default: float = 500e6, enough: float = 760e6) -> Runs:
    large = "4096 131072 50000000"
    found = [
        result({"window": window, "sysctls.net.ipv4.tcp_rmem": rmem}, goodput_bps=bps, rtt_s=0.05)
        for window, rmem, bps in (
            ("64 KiB", large, fixed),
            ("auto", "4096 131072 4000000", default),
            ("auto", large, enough),
        )
    ]
    return run("default-window", found)


def both(*parts: Runs) -> Runs:
    return {name: measured for part in parts for name, measured in part.items()}


STORE_RTTS_MS = {
    "us": (30, 90, 130, 230),
    "eu": (90, 25, 200, 190),
    "csa": (70, 170, 60, 290),
    "ap": (210, 200, 330, 50),
    "za": (240, 170, 350, 290),
}


def homes(
    counts: Mapping[str, int] = object_store_check.HOMES,
    sizes: Sequence[int] = SIZES,
    classes: Sequence[str] = ("none", "edge"),
    stores: Sequence[str] = object_store_check.STORES,
    off_s: float = 0.0,
    left_out: int = 0,
) -> Runs:
    """Homes with access lines of their own, each with all combinations; the last home lacks some of them."""
    lines = [(home, number) for home, count in counts.items() for number in range(count)]
    params = [
        {"access.rate": f"{10 + place} Mbit/s", "workload.from": f"store-{store}", "workload.cache": cache}
        | {f"{each}.rtt": f"{ms} ms" for each, ms in zip(("us", "eu", "sa", "ap"), STORE_RTTS_MS[home], strict=True)}
        for place, (home, _) in enumerate(lines) for store in stores for cache in classes
    ]  # fmt: skip
    found = [http(each, [at_kib(1000, size) for size in sizes], off_s=off_s) for each in params]
    return run("object-homes", found[: len(found) - left_out])


def week(cycles: int = 84, period_s: float = 7200.0, **values: Callable[[int], float]) -> Runs:
    """Cycles of the campaign, one run of the program each; `values` are what it tells of the n-th."""
    plain = {"downloads": 40, "objects": 40, "pause-min": 10.0, "pause-max": 10.1}
    told = {name: [value] * cycles for name, value in plain.items()} | {"order": list(range(cycles))}
    told |= {name.replace("_", "-"): [of(n) for n in range(cycles)] for name, of in values.items()}
    runs = [
        {"program": "client", "number": n + 1, "begin_s": n * period_s, "elapsed_s": period_s, "status": 0}
        for n in range(cycles)
    ]
    value = {"unit": "", "base_unit": "", "scale": 1.0, "is_more_better": True, "mean": 1.0}
    found = {"runs": runs, "values": {name: {**value, "values": each} for name, each in told.items()}}
    measured = {"command": {**found, "traffic": {}, "goodput_from": "counters"}}
    return run("download-campaign", [result({}, measured=measured)])


GOOD: dict[str, Callable[[], Runs]] = {
    "S1-SYS": homes,
    "S1-T1": homes,
    "S1-E1": week,
    "S1-E2": sizes,
    "S1-MET1": sizes,
    "S1-MET2": dict,
    "S1-F1": sizes,
    "S1-F2": regions,
    "S1-F3": access,
    "S1-F4": regions,
    "S1-F5": regions,
    "S1-F6": edge,
    "S1-F7": steady,
    "S1-F9a": edge,
    "S1-F9b": loaded,
    "K15": lambda: both(sizes(), edge()),
    "S2-F8b": blobs,
    "S2-E1": lambda: rates("blob-instances", [900e6] * 2, [370e6] * 2),
    "S2-E3": lambda: messages({1: 0.002, 32: 0.0021}),
    "S2-F10": inside,
    "S2-E4": inside,
    "S2-F11": between,
    "S2-E5": windows,
    "K16": windows,
}
BAD: tuple[tuple[str, str, Callable[[], Runs]], ...] = (
    ("S1-SYS", "there are five homes", partial(homes, dict.fromkeys(object_store_check.HOMES, 1))),
    ("S1-SYS", "there are 76 homes", partial(homes, {**object_store_check.HOMES, "za": 8})),
    ("S1-SYS", "77 homes are in one region", partial(homes, {"us": 77})),
    ("S1-SYS", "a store is missing", partial(homes, stores=("us", "eu", "sa"))),
    ("S1-SYS", "an RTT is not what was asked", partial(homes, off_s=1e-3)),
    ("S1-T1", "a size is missing", partial(homes, sizes=SIZES[:-1])),
    ("S1-T1", "a class is missing", partial(homes, classes=("none",))),
    ("S1-T1", "one home lacks the edge of one store", partial(homes, left_out=1)),
    ("S1-T1", "a region is missing", partial(homes, {"us": 36, "eu": 16, "csa": 4, "ap": 21})),
    ("S1-E1", "one cycle has 39 downloads", partial(week, downloads=lambda n: 40 - (n == 7))),
    ("S1-E1", "one cycle has an object twice", partial(week, objects=lambda n: 40 - (n == 7))),
    ("S1-E1", "two cycles have one order", partial(week, order=lambda n: max(1, n))),
    ("S1-E1", "one pause is too short", partial(week, pause_min=lambda n: 10.0 - (n == 7))),
    ("S1-E1", "one pause is too long", partial(week, pause_max=lambda n: 10.0 + (n == 7))),
    ("S1-E1", "a cycle is missing", partial(week, 83)),
    ("S1-E1", "there is one cycle", partial(week, 1)),
    ("S1-E1", "there is none", partial(week, 0)),
    ("S1-E1", "they follow one another", partial(week, period_s=800.0)),
    ("S1-E1", "they are 3 h apart", partial(week, period_s=10800.0)),
    ("S1-E2", "the handshake takes longer than the RTT", partial(sizes, connect_s=0.102)),
    ("S1-MET1", "connecting is not counted", partial(sizes, times={1: RTT_S})),
    ("S1-F1", "16 MiB is slower than 1 MiB", partial(sizes, times={16 * MIB: 60.0})),
    ("S1-F1", "1 MiB is as good as 100 MiB", partial(sizes, times={MIB: 0.2})),
    ("S1-F1", "1 KiB is four orders below", partial(sizes, times={KIB: 0.8})),
    ("S1-F2", "AP is above EU", partial(regions, {("ap", "us"): 4000})),
    ("S1-F2", "all are half as fast", partial(regions, scale=0.5)),
    ("S1-F2", "one is off by a thousandth", partial(regions, {("us", "us"): 5460})),
    ("S1-F3", "the slow line is not flat", partial(access, slow=(900, 870, 840))),
    ("S1-F3", "the fast line is flat", partial(access, fast=(9000, 8900, 8800))),
    ("S1-F4", "CSA is best from SA", partial(regions, {("sa", "csa"): 2500})),
    ("S1-F4", "another cell is the worst", partial(regions, {("eu", "csa"): 100})),
    ("S1-F4", "all stores are alike", lambda: regions({(s, h): 1000 for s, row in CELLS.items() for h in row})),
    ("S1-F5", "AP gains no more than the others", partial(regions, {("ap", "ap"): 2200})),
    ("S1-F5", "a gain is a point more", partial(regions, {("sa", "csa"): 1480})),
    ("S1-F6", "100 MiB gains as much", partial(edge, {**NEAR_EDGE, 100 * MIB: (3000, 42000)})),
    ("S1-F6", "100 MiB gains nothing", partial(edge, {**NEAR_EDGE, 100 * MIB: (3000, 2000)})),
    ("S1-F7", "the edge varies as much", partial(steady, near=around(5000, 0.38))),
    ("S1-F7", "the edge varies more", partial(steady, near=around(5000, 0.5))),
    ("S1-F7", "the ratio is right, and both are too small", partial(steady, around(2000, 0.348), around(5000, 0.24))),
    ("S1-F7", "the edge does not vary", partial(steady, near=(5000, 5000))),
    ("S1-F9a", "1 MiB gains the most", partial(edge, {**NEAR_EDGE, 100 * MIB: (3000, 9000)})),
    ("S1-F9a", "1 MiB gains more than was ever seen", partial(edge, {**NEAR_EDGE, MIB: (600, 8300)})),
    ("S1-F9a", "every case gains a lot", partial(edge, far=NEAR_EDGE, slow=NEAR_EDGE)),
    ("S1-F9b", "the edge is never worse", partial(loaded, far=NEAR_EDGE)),
    ("S1-F9b", "the edge is mostly worse", partial(loaded, *(({size: (2, 1.2) for size in NEAR_EDGE},) * 3))),
    ("S1-F9b", "it is worse than the worst", partial(loaded, far={**FAR_EDGE, MIB: (4000, 2000)})),
    ("S1-F9b", "it is worse where the store is far", partial(loaded, {**NEAR_EDGE, MIB: (4100, 4000)})),
    ("K15", "goodput does not grow", lambda: both(sizes(times={16 * MIB: 60.0}), edge())),
    ("K15", "1 MiB gains less", lambda: both(sizes(), edge({**NEAR_EDGE, MIB: (3900, 4000)}))),
    ("S2-F8b", "the link is not used", partial(blobs, large={1: 0.09, 2: 0.18, 32: 6.0})),
    ("S2-E1", "the large one has less than twice as much", lambda: rates("blob-instances", [600e6] * 2, [370e6] * 2)),
    ("S2-E1", "the small one has nothing", lambda: rates("blob-instances", [600e6] * 2, [0.0] * 2)),
    ("S2-E3", "32 messages take 6 % longer", lambda: messages({1: 0.002, 32: 0.00212})),
    ("S2-E3", "there are no 32 messages", lambda: messages({1: 0.002, 16: 0.002})),
    ("S2-F10", "the card is not reached", partial(inside, fast=(900e6, 901e6))),
    ("S2-F10", "it varies", partial(inside, fast=(950e6, 750e6, 950e6))),
    ("S2-F10", "C2 is as fast", partial(inside, slow=(900e6, 900e6, 900e6))),
    ("S2-E4", "the RTT is 2 ms", partial(inside, rtt_s=0.002)),
    ("S2-E4", "the RTT is 0", partial(inside, rtt_s=0.0)),
    ("S2-F11", "the median is too low", partial(between, fast=[each - 100e6 for each in INTER])),
    ("S2-F11", "the median is not shown to be above", partial(between, fast=(190e6,) * 4 + (260e6,) * 6)),
    ("S2-F11", "C2 is as fast", partial(between, slow=(240e6, 250e6) * 5)),
    ("S2-F11", "it does not vary", partial(between, fast=(250e6,) * 10)),
    ("S2-F11", "it is as fast as inside", partial(between, fast=(900e6, 940e6) * 5)),
    ("S2-E5", "the default is not slower", partial(windows, default=770e6)),
    ("S2-E5", "a fixed window is not worse", partial(windows, fixed=600e6)),
    ("S2-E5", "nothing is carried", partial(windows, fixed=0.0, default=0.0, enough=0.0)),
    ("K16", "enough is below the ceiling too", partial(windows, enough=600e6)),
    ("K16", "the ceiling does not hold", partial(windows, default=641e6)),
)


@pytest.mark.parametrize("id", GOOD)
def test_a_row_passes_on_what_is_printed(id: str) -> None:
    judge = ROWS[id].judge
    assert judge is not None
    found = judge(GOOD[id]())
    assert found.outcome == "pass", found.reasons


@pytest.mark.parametrize(("id", "what", "runs"), BAD, ids=[f"{id}: {what}" for id, what, _ in BAD])
def test_a_row_does_not_pass_on_something_else(id: str, what: str, runs: Callable[[], Runs]) -> None:
    judge = ROWS[id].judge
    assert judge is not None
    found = judge(runs())
    assert found.outcome in ("fail", "cannot tell"), found.ours


def test_every_row_that_is_run_is_tried_on_both() -> None:
    run_rows = {row.id for row in ROWS.values() if row.judge is not None and row.criterion is not None}
    assert set(GOOD) == run_rows
    assert {id for id, *_ in BAD} == run_rows - {"S1-MET2"}  # no run could change a formula


def test_a_row_of_which_nothing_is_printed_meets_nothing() -> None:
    row = ROWS["S2-F8a"]
    assert row.criterion is None
    assert row.judge is not None
    assert Finding(row, row.judge(blobs())).outcome is None


def test_an_axis_goes_over_with_and_without_a_cache() -> None:
    cells = specfile.load_scenario(ROOT / "scenarios" / "cdn-edge.yaml", quick=True).cells
    assert {dict(cell.params)["workload.cache"]: cell.workload.cache for cell in cells} == {
        "none": None,
        "edge": "edge",
    }


def test_means_over_homes_weigh_each_region_by_its_homes() -> None:
    one = {home: [77.0 if home == "us" else 0.0] for home in object_store_check.HOMES}
    assert object_store_check.over_all_homes(one) == [pytest.approx(36)]
    assert object_store_check.over_all_homes({**one, "za": [None]}) == [None]


def test_what_a_window_ceiling_lets_through_is_said_with_it() -> None:
    found = cloudcmp.ceiling_of_4_mb(windows())
    assert "640 Mbit/s" in found.ours
    assert "78%" in found.why  # 500 Mbit/s × 50 ms of 4 MB


def test_the_fixed_window_is_the_one_that_is_not_tuned_in_any_order() -> None:
    every = windows()["default-window"]
    backwards = {"default-window": replace(every, results=every.results[::-1])}
    for runs in (windows(), backwards):
        found = cloudcmp.default_window_is_slower(runs)
        assert found.ours == "fixed 10 Mbit/s, 4 MB 500 Mbit/s, enough 760 Mbit/s"


def test_the_longest_rtt_within_a_datacenter_is_said_in_ms() -> None:
    assert cloudcmp.short_rtt(inside(rtt_s=1.234e-3)).ours == "at most 1.23 ms"


@pytest.mark.parametrize("publication", ["S1", "S2"])
def test_every_fact_of_a_row_is_in_its_profile(publication: str) -> None:
    for row in command.PUBLICATIONS[publication]:
        profile = load(ROOT / "profiles" / f"{row.source}.yaml")
        known = {*profile.facts, *profile.findings}
        assert set(row.facts) <= known, row.id


@pytest.mark.parametrize("scenario", sorted({name for row in ROWS.values() for name in row.scenarios}))
def test_every_scenario_of_a_row_has_both_sizes(scenario: str) -> None:
    file = ROOT / "scenarios" / f"{scenario}.yaml"
    assert specfile.sizes_of(file) == ("full", "quick")
    quick, full = (specfile.load_scenario(file, quick=size) for size in (True, False))
    assert quick.name == scenario
    assert len(quick.trials()) <= len(full.trials())
    assert file.read_text().startswith("# ")
