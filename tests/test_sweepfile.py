"""What a scenario file says of its sweep: ranges, groups, exclude rules, sizes, and the order of the trials."""

from __future__ import annotations

import copy
import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from junk import JUNK, paths, problems_of

from testbed import units
from testbed.error import SpecError
from testbed.library import TOPOLOGIES as TOPOLOGIES_OF_OURS
from testbed.model.run_setting import Kernel, Until
from testbed.model.scenario import Scenario
from testbed.model.workload import PingWorkload
from testbed.spec.load import files_of, load_scenario, load_topology, sizes_of
from testbed.spec.scenario.axis import read_range
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.sweep.store import Store

ROOT = Path(__file__).parents[1]
GOOD = Path(__file__).parent / "specs" / "good"
QUICKSTART, RANGES, TOPOLOGIES = ROOT / "scenarios" / "quickstart.yaml", GOOD / "ranges.yaml", GOOD / "topologies.yaml"


def values(option: str, file: Path = QUICKSTART) -> tuple[str, ...]:
    """What the last axis is, with an option that makes it the only one."""
    return load_scenario(file, ["sweep={}", option]).axes[-1].values


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("path.rtt={from: 1 ms, to: 366 ms, points: 4}", "1 ms, 123 ms, 244 ms, 366 ms"),
        ("path.rtt={from: 1 ms, to: 366.123 ms, points: 3, spacing: log}", "1 ms, 19.1 ms, 366.123 ms"),
        ("path.rtt={from: 1000 ms, to: 1010 ms, points: 3}", "1 s, 1.005 s, 1.01 s"),
        ("workload.start={from: 0, to: 1 s, points: 2}", "0 s, 1 s"),
        ("path.rtt={from: 3 ms, to: 1 ms, step: 500 us}", "3 ms, 2.5 ms, 2 ms, 1.5 ms, 1 ms"),
        ("path.rate={from: 1 Mbit/s, to: 10 Gbit/s, points: 5, spacing: log}", "1, 10, 100 Mbit/s, 1, 10 Gbit/s"),
        ("flows={from: 1, to: 10, points: 4, spacing: log}", "1, 2, 5, 10"),
        ("flows={from: 1, to: 10, step: 3}", "1, 4, 7, 10"),
        ("window={from: 64 KiB, to: 512 MiB, points: 3, spacing: log}", "64 KiB, 5790 KiB, 512 MiB"),
        ("window={from: 64 kB, to: 256 MB, points: 3, spacing: log}", "64 kB, 4050 kB, 256 MB"),
        ("path.loss={from: 1 in 1000000, to: 1 in 100, points: 3, spacing: log}", "1 in 1000000, 1 in 10000, 1 in 100"),
        ("path.loss={from: 1 in 100, to: 1 in 300, step: 100}", "1 in 100, 1 in 200, 1 in 300"),
        ("path.buffer={from: 0.02 bdp, to: 100 bdp, points: 3, spacing: log}", "0.02 bdp, 1.41 bdp, 100 bdp"),
        ("path.buffer={from: 1 packet, to: 1000 packets, points: 3}", "1 packet, 501 packets, 1000 packets"),
        ("path.mtu={from: 1500 B, to: 9000, step: 2500}", "1500, 4000, 6500, 9000"),
        ("sysctls.net.ipv4.tcp_reordering={from: 3, to: 9, step: 3}", "3, 6, 9"),
    ],
)
def test_a_range_has_its_ends_as_written_and_round_values_between(option: str, expected: str) -> None:
    found = values(option)
    if "Gbit/s" in expected:
        assert found == ("1 Mbit/s", "10 Mbit/s", "100 Mbit/s", "1 Gbit/s", "10 Gbit/s")
    else:
        assert ", ".join(found) == expected


TIMES = st.integers(1, 10**15)


@given(TIMES, TIMES, st.integers(2, 40), st.sampled_from(["linear", "log"]))
def test_points_are_distinct_in_order_and_near_where_they_belong(a: int, b: int, points: int, spacing: str) -> None:
    def read(data: Any) -> tuple[Any, str, list[Any]]:
        return units.parse_time(data), units.format_time(units.parse_time(data)), []

    data = {"from": f"{a} ns", "to": f"{b} ns", "points": str(points), "spacing": spacing}
    found, faults = read_range(data, read)
    if faults:
        # Only ends that are the same, or too near for so many whole numbers of nanoseconds at these ratios.
        low, high = sorted((a, b))
        first_step = (
            (high - low) / (points - 1) if spacing == "linear" else low * ((high / low) ** (1 / (points - 1)) - 1)
        )
        assert a == b or abs(a - b) < 20 * points or first_step < 2
        return
    numbers = [value for value, _, _ in found]
    assert (numbers[0], numbers[-1], len(numbers)) == (a, b, points)
    assert all((y > x) == (b > a) and x != y for x, y in itertools.pairwise(numbers))
    for n, number in enumerate(numbers):
        share = n / (points - 1)
        exact = (
            a + (b - a) * share if spacing == "linear" else math.exp(math.log(a) * (1 - share) + math.log(b) * share)
        )
        assert number == pytest.approx(exact, rel=0.0051, abs=0.51)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 50))
def test_steps_are_exact(first: int, step: int, count: int) -> None:
    data = {"from": f"{first}", "to": f"{first + count * step}", "step": f"{step}"}
    found, faults = read_range(data, lambda each: (int(each), str(int(each)), []))
    assert not faults
    assert [value for value, _, _ in found] == [first + n * step for n in range(count + 1)]


def test_axes_of_a_group_vary_together_and_each_is_an_axis_of_its_own() -> None:
    scenario = load_scenario(QUICKSTART, ["sweep={}", "path.rtt + workload.flows=[[1 ms, 1], [1 ms, 2], [100 ms, 4]]"])
    assert [(axis.key, axis.values) for axis in scenario.axes] == [
        ("path.rtt", ("1 ms", "100 ms")),
        ("flows", ("1", "2", "4")),
    ]
    assert [dict(cell.params) for cell in scenario.cells] == [
        {"path.rtt": "1 ms", "flows": "1"},
        {"path.rtt": "1 ms", "flows": "2"},
        {"path.rtt": "100 ms", "flows": "4"},
    ]
    assert [(cell.topology.link("path").rtt_ns, cell.workload.flows) for cell in scenario.cells] == [  # type: ignore[union-attr]
        (10**6, 1),
        (10**6, 2),
        (10**8, 4),
    ]


def test_a_rule_leaves_out_the_cells_that_match_all_of_it_however_the_values_are_written() -> None:
    rule = "exclude=[{path.rtt: 0.1 s, workload.flows: [4, 1], path.loss: {every: 10000, phase: 0}}]"
    before, after = load_scenario(QUICKSTART), load_scenario(QUICKSTART, [rule])
    gone = [cell for cell in before.cells if cell not in after.cells]
    assert len(before.cells) - len(after.cells) == len(gone) == 4
    assert all(dict(cell.params)["path.rtt"] == "100 ms" for cell in gone)
    assert all(dict(cell.params)["path.loss"] == "1 in 10000" for cell in gone)
    assert after.axes == before.axes


def test_a_rule_of_the_file_is_idle_where_an_option_took_its_value_away() -> None:
    assert len(load_scenario(RANGES, ["path.rtt=5 ms", "flows+window=[[2, auto]]"]).cells) == 3 * 3 * 2 * 2 * 2
    with pytest.raises(SpecError, match=r"path\.rtt: the axis has no '1 us'"):
        load_scenario(RANGES, ["path.rtt=5 ms", "exclude=[{path.rtt: 1 us}]"])


def test_each_kernel_has_a_name_of_its_own_in_params_and_ids() -> None:
    scenario = load_scenario(QUICKSTART, ["sweep={}", "kernel=[lab, {lab: base}, {lab: 6.12-mine}]"])
    assert scenario.axes[0].values == ("lab", "lab:base", "lab:6.12-mine")
    assert [cell.kernel for cell in scenario.cells] == [Kernel(), Kernel("lab", "base"), Kernel("lab", "6.12-mine")]
    ids = [trial.id for trial in scenario.trials()]
    assert ids == ["kernel=lab,seed=1", "kernel=lab-base,seed=1", "kernel=lab-6.12-mine,seed=1"]


def test_a_sysctl_of_an_axis_goes_before_the_scenarios_own() -> None:
    options = [
        "sweep={}",
        "sysctls.net.ipv4.tcp_ecn=2",
        "sysctls.net.ipv4.tcp_sack=0",
        "sysctls.net.ipv4.tcp_ecn=[0, 1]",
    ]
    trials = load_scenario(QUICKSTART, options).trials()
    assert [trial.id for trial in trials] == ["tcp_ecn=0,seed=1", "tcp_ecn=1,seed=1"]
    assert [dict(trial.sysctls) for trial in trials] == [
        {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_ecn": n} for n in ("0", "1")
    ]


def test_a_topology_of_an_axis_goes_by_its_name_and_is_kept_with_the_results(tmp_path: Path) -> None:
    scenario = load_scenario(TOPOLOGIES)
    assert scenario.axes[0].values == ("wan", "dumbbell")
    assert [(cell.topology.name, cell.workload.source) for cell in scenario.cells] == [("wan", "client")] * 3 + [
        ("dumbbell", "left-1")
    ] * 2
    assert isinstance(scenario.cells[0].workload, PingWorkload)
    files = files_of(TOPOLOGIES)
    assert set(files) == {"scenario.yaml", "topology-wan.yaml", "topology-dumbbell.yaml"}
    Store(tmp_path).create(scenario.name, files, [trial.id for trial in scenario.order()])
    kept = {path.name: path.read_text() for path in (tmp_path / "spec").iterdir()}
    assert kept["topology-wan.yaml"] == (ROOT / "topologies" / "wan.yaml").read_text()
    assert set(kept) == set(files)


def test_a_scenario_names_a_topology_of_ours_where_no_file_has_its_name(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    text = "name: two\nworkload: {tool: ping, from: client, to: server, count: 1}\n"
    file.write_text(f"{text}topology: wan\n")
    assert load_scenario(file).cells[0].topology == load_topology(TOPOLOGIES_OF_OURS / "wan.yaml")
    assert files_of(file)["topology.yaml"] == str(TOPOLOGIES_OF_OURS / "wan.yaml")
    file.write_text(f"{text}sweep: {{topology: [wan, dual-stack]}}\n")
    assert load_scenario(file).axes[0].values == ("wan", "dual-stack")
    assert set(files_of(file)) == {"scenario.yaml", "topology-wan.yaml", "topology-dual-stack.yaml"}
    (tmp_path / "wan").write_text((ROOT / "topologies/wan.yaml").read_text().replace("name: wan", "name: mine"))
    assert load_scenario(file).axes[0].values == ("mine", "dual-stack")


@pytest.mark.parametrize(
    ("named", "file", "hint"),
    [
        ("quickstart", "two.yaml", ""),  # what was typed, but a scenario
        ("my-own-net", "my-own-net.yaml", ""),  # the scenario itself
        ("dual-stak", "two.yaml", " (did you mean 'dual-stack'?)"),
    ],
)
def test_a_hint_is_neither_what_was_typed_nor_the_file_itself(
    named: str, file: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"name: two\ntopology: {named}\nworkload: {{tool: ping, from: client, to: server, count: 1}}\n"
    Path(file).write_text(text)
    with pytest.raises(SpecError) as caught:
        load_scenario(file)
    assert str(caught.value) == f"{file}:2: {named!r}: this cannot be read: No such file or directory{hint}"


def test_the_files_that_are_kept_are_those_that_were_read(tmp_path: Path) -> None:
    (tmp_path / "wan.yaml").write_text(
        (ROOT / "topologies" / "wan.yaml").read_text().replace("name: wan", "name: mine")
    )
    assert list(files_of(QUICKSTART)) == ["scenario.yaml", "topology.yaml"]
    options = [f"topology=[../topologies/wan.yaml, {tmp_path}/wan.yaml]"]
    files = files_of(QUICKSTART, options)
    assert list(files) == ["scenario.yaml", "topology-wan.yaml", "topology-wan-2.yaml"]
    assert files["topology-wan-2.yaml"] == f"{tmp_path}/wan.yaml"
    assert load_scenario(QUICKSTART, options).axes[-1].values == ("wan", "mine")
    assert files_of(QUICKSTART, [f"topology={tmp_path}/wan.yaml"])["topology.yaml"] == f"{tmp_path}/wan.yaml"


def test_until_is_the_aim_and_its_max_the_repetitions() -> None:
    scenario = load_scenario(QUICKSTART, ["until={ci: 5 %, max: 20}"])
    assert (scenario.until, scenario.repetitions) == (Until(Fraction(1, 20), 20, 3), 20)
    assert len(scenario.trials()) == 16 * 20
    assert load_scenario(QUICKSTART, ["until={ci: 0.1, max: 2, min: 2}"]).until == Until(Fraction(1, 10), 2, 2)


def test_repetitions_and_until_as_options_take_each_other_away() -> None:
    fixed = load_scenario(RANGES, ["repetitions=2"])
    assert (fixed.until, fixed.repetitions) == (None, 2)
    again = load_scenario(RANGES, ["repetitions=2", "until={ci: 1 %, max: 9}"])
    assert (again.until, again.repetitions) == (Until(Fraction(1, 100), 9), 9)


def lots(scenario: Scenario) -> list[list[tuple[tuple[str, str], ...]]]:
    """The cells of each block in their order."""
    blocks = itertools.groupby(scenario.order(), key=lambda trial: trial.repetition)
    return [[trial.params for trial in block] for _, block in blocks]


def test_trials_run_in_blocks_of_one_repetition_each_in_an_order_of_its_own() -> None:
    scenario = load_scenario(QUICKSTART, ["repetitions=3"])
    in_order = scenario.order()
    assert sorted(trial.id for trial in in_order) == sorted(trial.id for trial in scenario.trials())
    assert [trial.repetition for trial in in_order] == [0] * 16 + [1] * 16 + [2] * 16
    first, second, third = lots(scenario)
    assert set(first) == set(second) == set(third) == {cell.params for cell in scenario.cells}
    in_file = [cell.params for cell in scenario.cells]
    assert len({tuple(each) for each in (in_file, first, second, third)}) == 4


def test_the_order_repeats_and_depends_on_the_seed() -> None:
    one, again, other = (lots(load_scenario(QUICKSTART, [f"seed={seed}"])) for seed in (7, 7, 8))
    assert one == again != other


def test_the_order_mixes_every_axis() -> None:
    """Of a cell's two values, neither comes in one half of a block only."""
    for block in lots(load_scenario(QUICKSTART, ["repetitions=5"])):
        for axis in (0, 1, 2, 4):
            firsts = {params[axis][1] for params in block[: len(block) // 2 + 3]}
            assert len(firsts) == 2


def test_the_quick_size_changes_what_it_says_and_no_more() -> None:
    full, quick = load_scenario(RANGES), load_scenario(RANGES, quick=True)
    assert sizes_of(RANGES) == ("full", "quick")
    assert (full.size, full.quick_note) == ("full", None)
    assert (quick.size, quick.repetitions, quick.until) == ("quick", 1, None)
    assert quick.quick_note is not None
    assert quick.quick_note.startswith("two round-trip times")
    assert [axis.key for axis in quick.axes] == [axis.key for axis in full.axes]
    assert quick.axes[0].values == ("1 ms", "366 ms")
    trial = quick.trials()[0]
    assert trial.topology.link("path").forward.rate_bps == 10**8
    assert json.loads(json.dumps(trial_data(trial)))["workload"]["duration"] == "1 s"


def test_options_go_before_the_quick_size() -> None:
    quick = load_scenario(RANGES, ["path.rtt=7 ms", "workload.duration=2 s"], quick=True)
    assert quick.axes[0].values == ("7 ms",)
    assert trial_data(quick.trials()[0])["workload"]["duration"] == "2 s"


def test_a_scenario_of_one_size_says_so() -> None:
    assert sizes_of(QUICKSTART) == ("full",)
    with pytest.raises(SpecError, match=r"quickstart\.yaml: this scenario has no 'quick' size; allowed: no --quick"):
        load_scenario(QUICKSTART, quick=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("path.rtt: [1 parsec]", "path.rtt: unknown unit 'parsec'"),
        ("pth.rtt: 1 ms", "there is no link or host 'pth'"),
        ("durations: 1 s", "unknown key 'durations'"),
        ("flows: 3", "flows varies in the group 'flows + window'"),
        ("quick: 3", "options cannot change the quick size"),
        ("limits.wall: 5", "wall: '5' has no unit"),
        ("until: {ci: 0 %, max: 9}", "ci: 0 % is out of range"),
        ("workload.to: c", "workload.to: there is no host 'c'"),
    ],
)
def test_a_problem_of_the_quick_size_is_at_its_line(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    text = RANGES.read_text()
    file.write_text(f"{text[: text.index('quick:')]}quick:\n  note: smaller\n  {line}\n")
    load_scenario(file)
    with pytest.raises(SpecError) as refused:
        load_scenario(file, quick=True)
    at = len(file.read_text().splitlines())
    assert f"{file}:{at}: {message}" in str(refused.value)


def test_ten_million_trials_are_counted_and_refused_before_a_cell_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("testbed.spec.load.Resolver", None)
    ten = "{from: 1 ms, to: 10 ms, step: 1 ms}"
    axes = [f"workload.start={ten}", f"path.rtt={ten}", f"workload.leave_out={ten}", "flows={from: 1, to: 10, step: 1}"]
    axes += ["path.mtu={from: 1000, to: 1900, step: 100}", "path.rate={from: 1 Mbit/s, to: 1 Gbit/s, points: 10}"]
    with pytest.raises(SpecError, match="this makes 10000000 trials; allowed: up to 100000"):
        load_scenario(QUICKSTART, ["sweep={}", *axes, "repetitions=10"])


SWEPT: dict[str, Any] = yaml.load(RANGES.read_text(), yaml.BaseLoader)


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from([path for path in paths(SWEPT) if path[:1] in (("sweep",), ("exclude",), ("until",), ("quick",))]),
    JUNK | st.sampled_from(["3", "1 s", "none", {"from": "1", "to": "2", "points": "2"}, [["1", "auto"]]]),
    st.booleans(),
)
@example(("quick",), None, True)
def test_junk_in_a_sweep_is_either_fine_or_refused_with_a_line(path: tuple[Any, ...], junk: Any, quick: bool) -> None:
    data = copy.deepcopy(SWEPT)
    part = data
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = junk
    assert all(problem.what and problem.line for problem in problems_of(data, quick=quick))


NOISY = """name: noisy
topology:
  name: pair
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rtt: 10 ms, rate: 10 Mbit/s, buffer: 1 bdp}}
workload: {tool: flow, from: a, to: b, duration: 2 s}
background:
  others: {pattern: heavy-tailed, from: a, to: b, arrivals: 5 /s, size: {mean: 100 kB}}
  hum: {pattern: constant, from: a, to: b, rate: 1 Mbit/s}
sweep:
"""


def noisy(folder: Path, sweep: str, *options: str) -> Scenario:
    file = folder / "noisy.yaml"
    file.write_text(f"{NOISY}{sweep}")
    return load_scenario(file, options)


def test_background_traffic_is_an_axis_that_each_cell_has_in_its_own_way(tmp_path: Path) -> None:
    found = noisy(
        tmp_path, "  background.others.arrivals: [10 /s, 50 /s]\n  background.hum.rate: [1 Mbit/s, 2 Mbit/s]\n"
    )
    assert [dict(cell.params) for cell in found.cells] == [
        {"background.others.arrivals": arrivals, "background.hum.rate": rate}
        for arrivals, rate in itertools.product(("10 /s", "50 /s"), ("1 Mbit/s", "2 Mbit/s"))
    ]
    drawn = [(dict(trial.background)["others"], dict(trial.background)["hum"]) for trial in found.trials()]
    assert [(int(others.arrivals), hum.rate_bps) for others, hum in drawn] == [  # type: ignore[union-attr]
        (10, 1_000_000), (10, 2_000_000), (50, 1_000_000), (50, 2_000_000),
    ]  # fmt: skip
    assert [trial_of(trial_data(each)) for each in found.trials()] == [*found.trials()]
    assert found.trials()[0].id == "arrivals=10-s,rate=1Mbit-s,seed=1"


def test_options_reach_background_traffic_varied_or_not(tmp_path: Path) -> None:
    sweep = "  background.others.arrivals: [10 /s, 50 /s]\n"
    axis = noisy(tmp_path, sweep, "background.others.arrivals=7 /s")
    assert [(dict(cell.params), dict(cell.background)["others"].arrivals) for cell in axis.cells] == [  # type: ignore[union-attr]
        ({"background.others.arrivals": "7 /s"}, 7)
    ]
    fixed = noisy(tmp_path, sweep, "background.hum.rate=3 Mbit/s")
    assert {dict(cell.background)["hum"].rate_bps for cell in fixed.cells} == {3_000_000}  # type: ignore[union-attr]
    assert [axis.key for axis in fixed.axes] == ["background.others.arrivals"]
    more = noisy(tmp_path, sweep, "background.hum.rate=[3 Mbit/s, 4 Mbit/s]")
    assert [axis.key for axis in more.axes] == ["background.others.arrivals", "background.hum.rate"]


@pytest.mark.parametrize(
    ("sweep", "expected"),
    [
        ("background.other.arrivals: [5 /s]", r"there is no background 'other' to vary; .*did you mean"),
        ("background.others.arrival: [5 /s]", r"heavy-tailed has no 'arrival' to vary; .*background.others.arrivals"),
        ("background.hum.arrivals: [5 /s]", r"constant has no 'arrivals' to vary"),
        ("background.hum.pattern: [on-off]", r"constant has no 'pattern' to vary"),
        ("background.others.arrivals: [5 /s, lots]", r"noisy.yaml:11: .*'lots' is not a rate of arrivals"),
        ("background.hum.rate: [1 Mbit/s, none]", r"noisy.yaml:11: .*a constant background needs a rate"),
        ("background.hum.to: [b, c]", r"noisy.yaml:11: .*'c'"),
    ],
)
def test_a_wrong_axis_over_background_traffic_is_named_with_its_line(tmp_path: Path, sweep: str, expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        noisy(tmp_path, f"  {sweep}\n")
