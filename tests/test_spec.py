"""Spec files: what a good one means, and what is said of a bad one."""

from __future__ import annotations

import copy
import json
import statistics
from contextlib import nullcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from junk import JUNK, paths, problems_of
from shipped import scenarios

from testbed.error import MachineError, Problem, SpecError
from testbed.model.link.buffer import Buffer
from testbed.model.link.impairment import NETEM_SD, Direction, GilbertElliott, Jitter, PeriodicLoss, RandomLoss
from testbed.model.run_setting import Kernel
from testbed.model.scenario import Scenario, trial_ids
from testbed.model.topology import Topology
from testbed.model.workload import FlowWorkload, Iperf3Workload, PingWorkload
from testbed.spec.json_schema import schema
from testbed.spec.load import load_scenario, load_topology
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.spec.syntax.attachment import permitted
from testbed.spec.topology.file import TopologyFile
from testbed.spec.topology.link.impaired import halves
from testbed.spec.topology.link.impairment import JITTER

ROOT = Path(__file__).parents[1]
SPECS = Path(__file__).parent / "specs"
BAD = sorted((SPECS / "bad").glob("*.yaml"))
TOPOLOGIES = sorted((ROOT / "topologies").glob("*.yaml"))
SCENARIOS = [*scenarios(), *sorted((SPECS / "good").glob("*.yaml"))]
QUICKSTART = ROOT / "scenarios" / "quickstart.yaml"
ANYWHERE = permitted(["/"])
EVERYTHING = SPECS / "good" / "everything.yaml"


def stem(path: Path) -> str:
    return path.stem


def load(path: Path) -> Topology | Scenario:
    if path.stem.startswith("topology"):
        return load_topology(path)
    return load_scenario(path, permission=ANYWHERE)


@pytest.mark.parametrize("path", BAD, ids=stem)
def test_a_bad_file_is_refused_with_all_its_problems(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with pytest.raises(SpecError) as refused:
        load(Path(path.name))
    assert f"{refused.value}\n" == path.with_suffix(".txt").read_text()
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("path", TOPOLOGIES, ids=stem)
def test_a_topology_written_back_as_yaml_is_the_same_topology(path: Path, tmp_path: Path) -> None:
    topology = load_topology(path)
    copied = tmp_path / "copy.yaml"
    copied.write_text(yaml.safe_dump(TopologyFile.of(topology).written(), sort_keys=False))
    assert load_topology(copied) == topology


@pytest.mark.parametrize("path", TOPOLOGIES, ids=stem)
def test_a_topology_file_opens_with_what_it_is_good_for(path: Path) -> None:
    assert path.read_text().startswith("# ")
    assert load_topology(path).name == path.stem


@pytest.mark.parametrize("path", SCENARIOS, ids=stem)
def test_a_stored_trial_is_the_same_trial(path: Path) -> None:
    trials = load_scenario(path, permission=ANYWHERE).trials()
    for trial in trials[:: max(1, len(trials) // 200)]:
        assert trial_of(json.loads(json.dumps(trial_data(trial)))) == trial


def test_the_quickstart_is_sixteen_trials_in_the_order_of_the_file() -> None:
    scenario = load_scenario(QUICKSTART)
    trials = scenario.trials()
    assert len(trials) == 16
    assert [axis.key for axis in scenario.axes] == ["path.rtt", "path.loss", "congestion", "window", "flows"]
    assert trials[0].id == "rtt=10ms,loss=none,congestion=cubic,window=auto,flows=1,seed=1"
    assert trials[-1].id == "rtt=100ms,loss=1in10000,congestion=bbr,window=auto,flows=4,seed=1"
    last = trials[-1]
    assert last.params == (
        ("path.rtt", "100 ms"),
        ("path.loss", "1 in 10000"),
        ("congestion", "bbr"),
        ("window", "auto"),
        ("flows", "4"),
    )
    assert last.workload == FlowWorkload(
        source="client",
        destination="server",
        duration_ns=10 * 10**9,
        flows=4,
        congestion=("bbr",) * 4,
        window_bytes=(None,) * 4,
        start_ns=(0,) * 4,
    )
    half = Direction(10**10, 50_000_000, None, None, Buffer(Fraction(1), "bdp"))
    link = last.topology.link("path")
    assert (link.forward, link.backward) == (half, half)
    assert link.data.loss == PeriodicLoss(10_000)
    assert trials[0].topology.link("path").data.loss is None
    assert (last.kernel, last.samples_interval_ns, last.seed) == (Kernel("lab"), 100_000_000, 1)


def test_the_standard_deviations_of_distributions_are_those_of_the_tables_that_netem_draws_from() -> None:
    """netem takes jitter × entry / 8192; a uniform one has none, and ±1 has 1/√3."""
    folder = next(each for each in map(Path, ("/usr/lib/x86_64-linux-gnu/tc", "/usr/lib/tc")) if each.is_dir())
    for name, sd in NETEM_SD.items():
        if name != "uniform":
            text = (folder / f"{name}.dist").read_text()
            entries = [int(word) / 8192 for line in text.splitlines() if line[:1] != "#" for word in line.split()]
            assert statistics.pstdev(entries) == pytest.approx(sd, rel=1e-4)
    assert NETEM_SD["uniform"] ** -2 == pytest.approx(3)


@pytest.mark.parametrize(
    ("text", "netem_ns", "written"),
    [
        ("2 ms", 2_000_000, "2 ms"),
        ("{most: 2 ms}", 2_000_000, "2 ms"),
        ("{sd: 2 ms}", 3_464_000, {"sd": "2 ms", "distribution": "uniform", "reorder": False}),
        ("{sd: 2 ms, distribution: normal}", 2_000_000, {"sd": "2 ms", "distribution": "normal", "reorder": False}),
        ("{sd: 1 us, distribution: pareto}", 1220, {"sd": "1 us", "distribution": "pareto", "reorder": False}),
    ],
)
def test_what_netem_gets_has_the_standard_deviation_that_is_asked(text: str, netem_ns: int, written: object) -> None:
    jitter = JITTER.read(yaml.safe_load(text))
    assert jitter.netem_ns == netem_ns
    assert str(JITTER.write(jitter)) == str(written)
    assert JITTER.read(JITTER.write(jitter)) == jitter


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{}", "does not say how much the delay varies"),
        ("{sd: 1 ms, most: 1 ms}", "sd and most exclude each other"),
        ("{most: 1 ms, distribution: pareto}", "a pareto distribution has no such end"),
    ],
)
def test_a_jitter_says_how_much_once(text: str, what: str) -> None:
    _, (fault,) = JITTER.checked(yaml.safe_load(text))
    assert what in fault.what


@pytest.mark.parametrize(
    ("jitter", "is_refused"),
    [
        ("{sd: 6.1 ms, distribution: pareto}", False),  # netem's 7.442 ms, of which two thirds are below the mean
        ("{sd: 6.2 ms, distribution: pareto}", True),
        ("{sd: 4 ms, distribution: paretonormal}", False),
        ("{sd: 4.2 ms, distribution: paretonormal}", True),
        ("{sd: 5 ms, distribution: normal}", False),
        ("{sd: 5.1 ms, distribution: normal}", True),
        ("{sd: 2.8 ms}", False),
        ("{sd: 2.9 ms}", True),
    ],
)
def test_jitter_is_refused_where_it_is_more_than_the_delay_and_delays_would_be_below_0(
    tmp_path: Path, jitter: str, is_refused: bool
) -> None:
    file = tmp_path / "net.yaml"
    path = f"{{ends: [a, b], rtt: 10 ms, jitter: {jitter}, schedule: [{{at: 1 s, rtt: 10 ms}}]}}"
    file.write_text(f"name: net\nnodes: {{a: {{type: host}}, b: {{type: host}}}}\nlinks: {{path: {path}}}\n")
    with pytest.raises(SpecError, match="no packet can arrive before it is sent") if is_refused else nullcontext():
        load_topology(file)


def test_every_form_of_value_means_what_it_says() -> None:
    trial = load_scenario(EVERYTHING).trials()[0]
    net = trial.topology
    assert not net.link("one").is_emulated
    assert net.link("one").mtu_bytes == 9000
    two = net.link("two")
    assert two.forward == Direction(10**10, 40_000_000, Jitter(most_ns=2_000_000), None, Buffer(Fraction(1), "bdp"))
    assert two.backward == Direction(
        None,
        60_000_000,
        Jitter(2500, "paretonormal", reorder=True),
        GilbertElliott(Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(0)),
        Buffer(Fraction(100), "packets"),
    )
    assert net.link("five").forward.loss == PeriodicLoss(10**8)
    assert net.link("five").forward.buffer == Buffer(Fraction(65536), "bytes")
    assert net.node("c").addresses == ("10.1.0.2/24", "fd00::2/64")
    assert trial.kernel == Kernel("host")
    assert (trial.limits.wall_ns, trial.limits.memory_bytes) == (300 * 10**9, 2**31)
    assert [(each.at, each.snaplen_bytes) for each in trial.captures] == [("a", 96), ("two", 1514)]
    assert trial.samples_interval_ns is None
    losses = {each.topology.link("two").forward.loss for each in load_scenario(EVERYTHING).cells}
    assert losses == {None, PeriodicLoss(2), PeriodicLoss(7, 3), RandomLoss(Fraction(1, 1000))}


def test_an_rtt_that_is_odd_in_nanoseconds_is_still_the_sum_of_both_ways() -> None:
    link = load_scenario(EVERYTHING, ["four.rtt=15 ns"]).cells[0].topology.link("four")
    assert (link.forward.delay_ns, link.backward.delay_ns, link.rtt_ns) == (7, 8, 15)


def test_workloads_of_every_tool_are_resolved() -> None:
    found = {path.stem: load_scenario(path, permission=ANYWHERE).cells[-1].workload for path in SCENARIOS}
    assert found["iperf3-tcp"] == Iperf3Workload(
        "client", "server", "tcp", 5 * 10**9, flows=2, congestion="bbr", window_bytes=2**22
    )
    assert found["iperf3-udp"] == Iperf3Workload(
        "client", "server", "udp", 2 * 10**9, congestion=None, rate_bps=10**8, length_bytes=1400
    )
    assert found["ping"] == PingWorkload("server", "client", 5, 10_000_000, 16)
    staggered = found["flow-staggered"]
    assert isinstance(staggered, FlowWorkload)
    assert staggered.start_ns == tuple(i * 10**9 for i in range(128))
    assert staggered.leave_out_ns == 2 * 10**9


def test_repetitions_are_consecutive_seeds() -> None:
    trials = load_scenario(QUICKSTART, ["repetitions=3", "seed=40"]).trials()
    assert len(trials) == 48
    assert [(trial.repetition, trial.seed) for trial in trials[:4]] == [(0, 40), (1, 41), (2, 42), (0, 40)]
    assert len({trial.id for trial in trials}) == 48


def test_the_nic_of_the_scenario_goes_before_the_nodes_and_a_nodes_axis_before_both() -> None:
    cell = load_scenario(EVERYTHING, ["nic=offload", "a.nic=plain"]).cells[0]
    assert cell.nic == cell.topology.nic == "offload"
    assert cell.topology.node("a").nic == "plain"
    assert load_scenario(EVERYTHING, ["nic=plain", "sweep={}"]).cells[0].topology.node("a").nic is None


@pytest.mark.parametrize(
    ("options", "axes", "look"),
    [
        (["path.rtt=20 ms"], {"path.rtt": ("20 ms",)}, None),
        (["path.rtt=[1 ms, 2 ms]"], {"path.rtt": ("1 ms", "2 ms")}, None),
        (["flows=2", "workload.flows=3"], {"flows": ("3",)}, None),
        (["sweep.flows=8"], {"flows": ("8",)}, None),
        (["path.mtu=1500", "path.mtu=9000"], {"path.mtu": None}, ("topology.links.path.mtu", 9000)),
        (["path.mtu=1500", "path.mtu=[1500, 9000]"], {"path.mtu": ("1500", "9000")}, None),
        (["path.mtu=[1500, 9000]"], {"path.mtu": ("1500", "9000")}, None),
        (["path.rate=1 Gbit/s"], {"path.rate": None}, ("topology.links.path.rate", "1 Gbit/s")),
        (["workload.duration=3 s"], {"duration": None}, ("workload.duration", "3 s")),
        (["workload.bytes=1 MB"], {"workload.bytes": None}, ("workload.bytes", "1 MB")),
        (["workload.bytes=1 MB"], {}, ("workload.duration", None)),
        (["kernel={lab: bbr3}"], {"kernel": None}, ("kernel.lab", "bbr3")),
        (["limits.wall=5 min", "limits.memory=1 GiB"], {}, ("limits.memory", "1 GiB")),
        (["sysctls.net.ipv4.tcp_ecn=1"], {}, ("sysctls", {"net.ipv4.tcp_ecn": "1"})),
        (["samples=none"], {}, ("samples", "none")),
        (
            [
                "topology=../topologies/dumbbell.yaml",
                "workload.from=left-1",
                "workload.to=right-2",
                "sweep={}",
            ],
            {},
            None,
        ),
    ],
    ids=str,
)
def test_an_option_replaces_an_axis_or_sets_a_value(
    options: list[str], axes: dict[str, tuple[str, ...] | None], look: tuple[str, Any] | None
) -> None:
    scenario = load_scenario(QUICKSTART, options)
    found = {axis.key: axis.values for axis in scenario.axes}
    for key, values in axes.items():
        assert found.get(key) == values
    if look is not None:
        value: Any = trial_data(scenario.trials()[0])
        for key in look[0].split("."):
            value = value.get(key)
        assert value == look[1]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("path.rtt=5", "path.rtt: '5' has no unit; allowed: a time in "),
        ("path.rtt=[1 ms, 1 parsec]", "path.rtt: unknown unit 'parsec' in '1 parsec'; allowed: a time in "),
        ("pth.rtt=5 ms", "there is no link or host 'pth'; allowed: "),
        ("repetitons=5", "unknown key 'repetitons'; allowed: name, description, "),
        ("leave_out=1 s", "unknown key 'leave_out'; allowed: workload.leave_out"),
        ("loss=none", "unknown key 'loss'; allowed: LINK.loss with the name of a link, such as path.loss"),
        ("rate=1 Mbit/s", "unknown key 'rate'; allowed: workload.rate, or LINK.rate with the name of a link"),
        ("seed=-1", "seed: -1 is out of range; allowed: a whole number from 0 to 2147483647"),
        ("seed", "this is not KEY=VALUE; allowed: such as path.rtt='20 ms' or seed=7"),
        ("seed=", "this is empty; allowed: "),
        ("seed={", "this is not YAML: "),
        ("workload.tool=netperf", "tool: 'netperf' is not known; allowed: flow, iperf3, ping"),
        ("workload.from=server", "from and to are both 'server'; allowed: two different hosts"),
        ("limits.wall=no", "YAML reads no without quotes as true or false; allowed: "),
        ("limits.cpu=1", "unknown key 'cpu'; allowed: wall, memory"),
        ("path.delay=5 ms", "the axes path.rtt and path.delay exclude each other; allowed: one of the two"),
        (
            "path.schedule=[{at: 1 s, rate: 5 Mbit/s}]",
            "path.schedule: this is not a list, and each value of this axis is one; allowed: a list in the list of "
            "values, such as [[{at: 1 s, rate: 5 Mbit/s}]]",
        ),
        ("topology=none.yaml", "'none.yaml': this cannot be read: No such file or directory"),
    ],
)
def test_a_problem_of_an_option_is_at_the_option(option: str, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        load_scenario(QUICKSTART, [option])
    assert str(refused.value).startswith(f"--set {option}: {message}")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none\.yaml: this cannot be read: No such file or directory"):
        load_topology(tmp_path / "none.yaml")
    with pytest.raises(SpecError, match="this cannot be read: Is a directory"):
        load_scenario(tmp_path)


def test_what_is_not_text_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_bytes(b"name: t\nnodes: \xff\n")
    with pytest.raises(SpecError, match=r"t\.yaml:2: this is not text in UTF-8"):
        load_topology(file)
    file.write_bytes(b"name: t\n\nnodes: \x01\n")
    with pytest.raises(SpecError, match=r"t\.yaml:3: the character '\\x01' is not allowed in YAML"):
        load_topology(file)


def test_a_stored_trial_that_was_damaged_is_refused_by_name() -> None:
    data = trial_data(load_scenario(QUICKSTART).trials()[0])
    data["topology"]["links"]["path"]["rtt"] = "10"
    del data["seed"]
    data["seed"] = "x"
    with pytest.raises(SpecError) as refused:
        trial_of(data, "trial.json")
    assert [str(each).split(";")[0] for each in refused.value.problems] == [
        "trial.json: rtt: '10' has no unit",
        "trial.json: seed: 'x' is not a whole number",
    ]


def test_ids_use_the_shortest_names_that_tell_axes_apart() -> None:
    runs = [(("a.rtt", "1 ms"), ("b.rtt", "2 ms"), ("b.loss.forward", "0.1 %"), ("seed", "1"))]
    assert trial_ids(runs) == ["a.rtt=1ms,b.rtt=2ms,loss.forward=0.1pct,seed=1"]


def test_a_key_that_is_the_end_of_another_key_names_itself() -> None:
    runs = [(("congestion", "reno"), ("background.far.congestion", "bbr"), ("seed", "1"))]
    assert trial_ids(runs) == ["congestion=reno,far.congestion=bbr,seed=1"]


def test_ids_are_unique_and_short_whatever_the_values() -> None:
    values = ["x y", "xy", "x/y", "x-y", "/", "..", "z" * 200, "z" * 201]
    ids = trial_ids([(("path.loss", value), ("seed", "1")) for value in values])
    assert len(set(ids)) == len(values)
    assert all(len(each) <= 120 and "/" not in each and each.startswith("loss=") for each in ids)
    assert ids == trial_ids([(("path.loss", value), ("seed", "1")) for value in values])


def test_a_path_leads_through_switches_and_routers_but_not_through_hosts() -> None:
    lot = load_topology(ROOT / "topologies" / "parking-lot.yaml")
    path = lot.path("host-1", "host-4")
    assert path is not None
    assert [link.name for link in path] == ["access-1", "hop-1", "hop-2", "hop-3", "access-4"]
    net = load_scenario(EVERYTHING).cells[0].topology
    assert net.path("a", "c") is not None
    assert net.path("a", "a") == ()
    assert [link.name for link in net.links_of("right")] == ["two", "three", "five"]


def test_errors_say_where_what_and_how_to_mend_it() -> None:
    assert str(Problem("a.yaml", 3, "no", "yes")) == "a.yaml:3: no; allowed: yes"
    assert str(Problem("a.yaml", None, "no")) == "a.yaml: no"
    error = MachineError("iperf3 is missing", "apt-get install iperf3")
    assert error.exit_code == 3
    assert str(error).endswith("apt-get install iperf3")


@cache
def judge(kind: Literal["topology", "scenario"]) -> Any:
    """A validator of a schema, which is one."""
    jsonschema = pytest.importorskip("jsonschema")
    found = schema(kind)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


@pytest.mark.parametrize("path", [*TOPOLOGIES, *SCENARIOS], ids=stem)
def test_the_schema_takes_every_good_file(path: Path) -> None:
    judge("topology" if path in TOPOLOGIES else "scenario").validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in BAD
        if path.stem.endswith(("unknown-keys", "-quantities", "-loss", "node-types", "axes", "values", "-rest"))
    ],
    ids=stem,
)
def test_the_schema_refuses_misspelt_keys_and_values(path: Path) -> None:
    kind: Any = "topology" if path.stem.startswith("t") else "scenario"
    assert list(judge(kind).iter_errors(yaml.safe_load(path.read_text())))


GOOD: dict[str, Any] = yaml.load(EVERYTHING.read_text(), yaml.BaseLoader)
GOOD["sweep"] = {key: values[:2] for key, values in GOOD["sweep"].items()}


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(paths(GOOD)[1:]), JUNK)
def test_junk_anywhere_is_either_fine_or_refused_with_a_line(path: tuple[Any, ...], junk: Any) -> None:
    data = copy.deepcopy(GOOD)
    part = data
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = junk
    assert all(problem.what and problem.line for problem in problems_of(data))


FREE = ("description", "text", "note")
"""Keys whose text may have lines; other control characters they may not have either."""
CONTROL = ("\x1b", "\x7f", "\x85", "\u2028", "\u202e", "\x07")


@pytest.mark.parametrize("path", sorted((SPECS / "good").glob("*.yaml")), ids=stem)
def test_control_characters_are_refused_in_every_value(path: Path, tmp_path: Path) -> None:
    text = path.read_text().replace("../../../topologies", str(ROOT / "topologies"))
    text = text.replace("../../data", str(SPECS.parent / "data"))
    data = yaml.load(text, yaml.BaseLoader)
    (tmp_path / "good").mkdir()
    for beside in path.parent.glob("*.py"):
        (tmp_path / "good" / beside.name).write_bytes(beside.read_bytes())
    assert not _problems(tmp_path / "good" / path.name, data)
    for number, place in enumerate(paths(data)):
        here = data
        for step in place[:-1]:
            here = here[step]
        if not place or isinstance(here[place[-1]], dict | list):
            continue
        was = here[place[-1]]
        here[place[-1]] = was + (CONTROL[number % len(CONTROL)] if place[-1] in FREE or number % 2 else "\n")
        found = _problems(tmp_path / "good" / path.name, data)
        assert found, place
        assert all(str(problem).isprintable() for problem in found), place
        here[place[-1]] = was


def _problems(file: Path, data: Any) -> tuple[Problem, ...]:
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    for quick in (False, True) if "quick" in data else (False,):
        try:
            load_scenario(file, quick=quick, permission=ANYWHERE)
        except SpecError as error:
            return error.problems
    return ()


@pytest.mark.parametrize(
    ("rtt_ns", "ways"),
    [(27_395_000, (13_697_000, 13_698_000)), (10_000_000, (5_000_000, 5_000_000)), (15, (7, 8)), (0, (0, 0))],
)
def test_halves_of_an_rtt_are_whole_microseconds_where_that_can_be(rtt_ns: int, ways: tuple[int, int]) -> None:
    """tc 6.1 cuts off what is less than a microsecond."""
    assert tuple(halves(rtt_ns).values()) == ways
