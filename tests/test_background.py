"""Background traffic: the draw of what starts when, and what of it stands in the plan."""

from __future__ import annotations

import math
import re
import statistics
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from trials import make_trial, steps_data

from testbed.error import SpecError, UserError
from testbed.kernel.guest import TrialError
from testbed.model.background import HeavyTailed, OnOff, schedule
from testbed.model.workload.arrival import Pareto
from testbed.spec.load import load_scenario
from testbed.spec.scenario.trial import trial_data
from testbed.trial import record
from testbed.trial.orders.sequence import Orders, orders
from testbed.trial.workload import background

SECOND = 10**9
WEB = {"pattern": "heavy-tailed", "from": "a", "to": "b", "arrivals": "20 /s", "size": {"mean": "100 kB"}}
BULK = {"pattern": "on-off", "from": "b", "to": "a", "busy": "2 s", "idle": "3 s"}
NOISE = {"pattern": "constant", "from": "a", "to": "b", "rate": "1 Mbit/s"}


def heavy(arrivals: int, shape: str = "1.2") -> HeavyTailed:
    return HeavyTailed("a", "b", Fraction(arrivals), Pareto(1_000_000, Fraction(shape)))


@pytest.mark.parametrize("seed", range(5))
def test_as_many_flows_arrive_as_a_poisson_process_has(seed: int) -> None:
    found = schedule(heavy(10), name="web", seed=seed, length_ns=1000 * SECOND)
    # The count has a standard deviation of 100; gaps are exponential, whose mean and deviation are one.
    assert len(found) == pytest.approx(10_000, abs=400)
    gaps = [(b.start_ns - a.start_ns) / SECOND for a, b in pairwise(found)]
    assert statistics.fmean(gaps) == pytest.approx(0.1, rel=0.05)
    assert statistics.stdev(gaps) == pytest.approx(0.1, rel=0.05)


def test_sizes_are_paretos() -> None:
    found = schedule(heavy(10, "2.5"), name="web", seed=1, length_ns=1000 * SECOND)
    sizes = [burst.flow_bytes or 0 for burst in found]
    assert min(sizes) >= 600_000  # mean × (shape − 1) / shape
    assert statistics.fmean(sizes) == pytest.approx(1e6, rel=0.03)
    for times in (2, 4):
        share = sum(size > 600_000 * times for size in sizes) / len(sizes)
        expected = times**-2.5
        assert share == pytest.approx(expected, abs=4 * math.sqrt(expected / len(sizes)))


def test_a_sender_is_on_for_its_share_of_the_time() -> None:
    spells = schedule(OnOff("a", "b", 2 * SECOND, 3 * SECOND), name="x", seed=1, length_ns=20_000 * SECOND)
    on_s = [((burst.stop_ns or 0) - burst.start_ns) / SECOND for burst in spells]
    assert statistics.fmean(on_s) == pytest.approx(2, rel=0.06)
    assert sum(on_s) == pytest.approx(20_000 * 2 / 5, rel=0.06)
    assert all(a.stop_ns is not None and a.stop_ns <= b.start_ns for a, b in pairwise(spells))


@given(st.integers(0, 2**31), st.text("abc", min_size=1, max_size=3))
def test_the_same_seed_and_name_draw_the_same_flows(seed: int, name: str) -> None:
    first, again = (schedule(heavy(10), name=name, seed=seed, length_ns=10 * SECOND) for _ in range(2))
    assert first == again
    assert first != schedule(heavy(10), name=name, seed=seed + 1, length_ns=10 * SECOND)
    assert first != schedule(heavy(10), name=f"{name}-", seed=seed, length_ns=10 * SECOND)


def test_more_flows_than_a_host_has_ports_are_refused() -> None:
    with pytest.raises(UserError, match="background web: these are more than 20000 flows in 3000 s"):
        schedule(heavy(10), name="web", seed=1, length_ns=3000 * SECOND)


def test_the_plan_says_exactly_which_flow_starts_when_with_how_many_bytes() -> None:
    made = orders(make_trial(background={"web": WEB, "bulk": BULK}))
    lines = [line for line in made.script.splitlines() if line.startswith("#   ") and " s: " in line]
    assert len(lines) == sum(map(len, made.drawn.values())) > 20
    step = next(step for step in steps_data(made.steps) if step.get("out") == "background-web.txt")
    start, _, size = step["stdin"].splitlines()[0].split()
    assert f"#   {int(start) / 1e9:.9f} s: {size} bytes" in lines


def test_what_leads_starts_first_and_by_so_much() -> None:
    each = {"web": {**WEB, "lead": "1 s"}, "bulk": {**BULK, "lead": "2500 ms"}, "noise": NOISE}
    made = orders(make_trial(background=each))
    first = next(i for i, step in enumerate(steps_data(made.steps)) if step.get("background") == "background-bulk")
    kinds = [step.get("background") or step.get("sleep") for step in steps_data(made.steps)[first : first + 5]]
    assert kinds == ["background-bulk", 1.5, "background-web", 1.0, "background-noise"]
    assert [step["stop"] for step in steps_data(made.steps) if "stop" in step][:3] == [
        f"background-{name}" for name in each
    ]


def test_each_has_a_port_of_its_own() -> None:
    made = orders(make_trial(background={"web": WEB, "bulk": BULK, "noise": NOISE}))
    runs = [step["run"] for step in steps_data(made.steps) if str(step.get("background", "")).startswith("background-")]
    assert sorted(run[run.index("--port") + 1] for run in runs) == ["7001", "7002", "7003"]


def test_a_count_stands_for_as_many_alike_with_draws_of_their_own() -> None:
    short, long = (
        make_trial(background={"bulk": {**BULK, "count": 3}, "web": WEB}),
        make_trial(background={**{f"bulk-{n}": BULK for n in (1, 2, 3)}, "web": WEB}),
    )
    assert (short, trial_data(short)) == (long, trial_data(long))
    assert orders(short).script == orders(long).script
    assert len(set(map(str, orders(short).drawn.values()))) == 4
    assert make_trial(background={"bulk": {**BULK, "count": 1}}) == make_trial(background={"bulk": BULK})


@pytest.mark.parametrize(
    ("backgrounds", "what"),
    [
        ({"bulk": {**BULK, "count": 0}}, "count: 0 is out of range; allowed: a whole number from 1 to 100"),
        ({"bulk": {**BULK, "count": 2}, "bulk-2": NOISE}, "'bulk-2' is another one's name, too"),
        ({"b" * 31: {**BULK, "count": 2}}, f"'{'b' * 31}-1' is not a name"),
    ],
)
def test_a_count_out_of_range_or_names_that_cannot_be_are_refused(
    backgrounds: dict[str, dict[str, object]], what: str
) -> None:
    with pytest.raises(SpecError, match=re.escape(what)):
        make_trial(background=backgrounds)


def test_a_count_can_be_varied(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(yaml.safe_dump(trial_data(make_trial())["topology"]))
    said = {"name": "bulks", "topology": "net.yaml", "background": {"bulk": BULK}}
    said |= {"workload": {"tool": "flow", "from": "a", "to": "b", "duration": "1 s"}}
    said |= {"sweep": {"background.bulk.count": [1, 2]}}
    (tmp_path / "bulks.yaml").write_text(yaml.safe_dump(said))
    cells = load_scenario(tmp_path / "bulks.yaml").cells
    assert [[name for name, _ in cell.background] for cell in cells] == [["bulk"], ["bulk-1", "bulk-2"]]


def test_hosts_beside_the_workload_can_have_traffic_too() -> None:
    nodes = {name: {"type": "host"} for name in "abcd"} | {name: {"type": "router"} for name in ("l", "r")}
    ends = {"la": ["a", "l"], "lb": ["b", "r"], "lc": ["c", "l"], "ld": ["d", "r"]}
    links: dict[str, object] = {name: {"ends": pair} for name, pair in ends.items()}
    links["path"] = {"ends": ["l", "r"], "rate": "100 Mbit/s", "rtt": "10 ms"}
    made = orders(
        make_trial(
            topology={"name": "net", "nodes": nodes, "links": links},
            background={"web": {**WEB, "from": "c", "to": "d"}},
        )
    )
    data_path = made.plan.background[0]
    assert [hop.link.name for hop in data_path.path] == ["lc", "path", "ld"]
    assert [hop.link.name for hop in made.plan.path] == ["la", "path", "lb"]


def test_traffic_without_any_rate_on_its_way_is_refused() -> None:
    nodes = {name: {"type": "host"} for name in "abc"} | {"s": {"type": "switch"}}
    links = {"la": {"ends": ["a", "s"], "rate": "1 Mbit/s"}, "lb": {"ends": ["b", "s"]}, "lc": {"ends": ["c", "s"]}}
    topology = {"name": "net", "nodes": nodes, "links": links}
    with pytest.raises(UserError, match=r"no link between b and c has a rate .*slow the background down"):
        orders(make_trial(topology=topology, background={"web": {**WEB, "from": "b", "to": "c"}}))


def test_a_background_outlasts_the_workload_unless_it_says_how_long_it_takes() -> None:
    def last_s(**changes: str) -> float:
        made: Orders = orders(make_trial(workload={"duration": "30 s"}, background={"web": {**WEB, **changes}}))
        return made.drawn["web"][-1].start_ns / SECOND

    assert 30 < last_s() < 35
    assert 35 < last_s(lead="5 s") < 40
    assert 9 < last_s(duration="10 s") < 10


def test_a_workload_of_unknown_length_needs_the_length_of_its_background() -> None:
    with pytest.raises(
        SpecError, match="web: the length of the workload is not known in advance, so the background needs a duration"
    ):
        make_trial(workload={"tool": "http", "sizes": "1 MB"}, background={"web": WEB})


def test_what_is_in_the_files_is_what_the_result_says(tmp_path: Path) -> None:
    trial = make_trial(background={"web": WEB})
    (tmp_path / "background-web.txt").write_text("5 0 100\n7 0 200\n9 0 300\n")
    (tmp_path / "background-web.out").write_text("start 1000\nflow 0 5 90 100 3 finished\nflow 1 7 95 150 0 cut\n")
    found = background.read(trial.background, tmp_path)["web"]
    assert record.write(found) == {
        "pattern": "heavy-tailed",
        "from": "a",
        "to": "b",
        "planned_flows": 3,
        "started_flows": 2,
        "finished_flows": 1,
        "received_bytes": 250,
        "retransmits": 3,
    }


def test_a_background_that_died_is_no_result(tmp_path: Path) -> None:
    trial = make_trial(background={"web": WEB})
    (tmp_path / "background-web.txt").write_text("5 0 100\n")
    (tmp_path / "background-web.out").write_text("")
    with pytest.raises(TrialError, match="a background did not run to its end"):
        background.read(trial.background, tmp_path)
