"""Rows of publications: what they refer to exists, and their judges can tell good from bad."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import printed
import pytest
import test_reproduction_interdatacenter as region_tests
import test_reproduction_objects as object_tests
import test_reproduction_profile as profile_tests
from rich.console import Console
from storedruns import Made, trial_result
from typer.testing import CliRunner

from results import plain
from testbed import library
from testbed.cli import app
from testbed.compare import published
from testbed.error import TestbedError, UserError
from testbed.model.scenario import Trial
from testbed.spec.load import load_scenario
from testbed.spec.scenario.trial import trial_data
from testbed.sweep.store import Store
from testbed.sweep.table import update
from testbed.trial.result import TrialResult
from testbed_reproductions import again, command, kept
from testbed_reproductions.check import Holds, near
from testbed_reproductions.command import SIZES, Runs, citations, lacks
from testbed_reproductions.measured import Measured, with_interval
from testbed_reproductions.page import Both, markdown, summary_of
from testbed_reproductions.paper import links, throughput_profile
from testbed_reproductions.row import Cost, Finding, Judgement, Row

ROWS = {row.id: row for row in command.ROWS}
ROOT = Path(__file__).parents[1]


def by_window(scenario: str, mbit: dict[str, float]) -> Measured:
    results = [trial_result(Made({"window": window}, [rate * 1e6])) for window, rate in mbit.items()]
    return Measured.of(scenario, "quick", results)


GROWING = {"4 KiB": 160.0, "8 KiB": 440.0, "16 KiB": 440.0, "64 KiB": 950.0}


def test_transfers_are_in_mb_of_two_to_the_twentieth() -> None:
    """Table II, first cell: 772.6 MB in 30 s are 216.03 Mbit/s."""
    found = links.transfers(by_window(links.BASELINE, {**GROWING, "4 KiB": 216.03}))
    assert found["4 KiB"] == [pytest.approx(772.6, abs=0.05)]


def test_ids_are_there_once() -> None:
    assert len(ROWS) == len(command.ROWS)


@pytest.mark.parametrize("row", command.ROWS, ids=lambda row: row.id)
def test_what_a_row_refers_to_exists(row: Row) -> None:
    profile, _ = published.find(row.source)
    known = {*profile.facts, *profile.series, *profile.findings, *profile.conditions}
    assert set(row.facts) <= known
    assert row.expected
    for name in row.scenarios:
        assert (library.SCENARIOS / f"{name}.yaml").exists(), f"there is no scenario {name}"


@pytest.mark.parametrize("row", command.ROWS, ids=lambda row: row.id)
def test_this_version_has_what_a_row_needs_and_the_scenarios_really_need_it(row: Row) -> None:
    assert lacks(row) == ""
    topologies = [trial.topology for name in row.scenarios for trial in first_trials(name)]
    there = {node.type for topology in topologies for node in topology.nodes}
    there |= {f"engine: {topology.engine}" for topology in topologies}
    assert set(row.needs) <= there


@cache
def first_trials(name: str) -> list[Trial]:
    return load_scenario(library.SCENARIOS / f"{name}.yaml", quick=True).trials()[:1]


def test_a_row_that_is_not_run_claims_nothing() -> None:
    for row in command.ROWS:
        assert (row.claim == "data only") == (row.judge is None), row.id


def test_rows_are_picked_by_id_by_check_and_by_publication() -> None:
    assert [row.id for row in command.select(["k17", "S3-F7"])] == ["K17", "S3-F7"]
    assert {row.id for row in throughput_profile.ROWS} == {row.id for row in command.select(["S3"])}
    assert command.select([]) == command.ROWS
    with pytest.raises(UserError, match=r"there is no row 'S3-F77'; allowed: .*did you mean S3-F7\?"):
        command.select(["S3-F77"])


def test_what_was_not_measured_is_said() -> None:
    measured = by_window("links-baseline", GROWING)
    with pytest.raises(UserError, match="has no usable trial with window = 5 KiB"):
        measured.only(window="5 KiB")
    with pytest.raises(UserError, match="has no axis 'rtt'; it has window"):
        measured.split("rtt")
    two = Measured.of("two", "full", [trial_result(Made({"path.rtt": "1 ms", "flows": "2"}, [1e6]))])
    with pytest.raises(UserError, match=r"two \(full\) has no usable trial with path\.rtt = 2 ms, flows = 3"):
        two.only(rtt="2 ms", flows="3")
    with pytest.raises(UserError, match=r"it has path\.rtt, flows"):
        two.split("loss")


@pytest.mark.parametrize(
    ("values", "text"),
    [([2.94e9], "2.94 Gbit/s"), ([1e9, 1e9], "1 Gbit/s"), ([1e9, 1.2e9, 1.4e9], "1.2 Gbit/s [0.703, 1.7]")],
)
def test_a_mean_has_its_interval_where_there_is_one(values: list[float], text: str) -> None:
    """The last: t(0.975, 2) = 4.3027 times 0.2 / sqrt(3)."""
    assert with_interval(values, 1e-9, "Gbit/s") == text


def test_the_page_has_a_line_for_each_row_and_says_what_limits_it() -> None:
    made = [
        Finding(ROWS["S3-EQ4"], Judgement("0", (Holds("it", True),))),
        Finding(ROWS["K7"], Judgement("× 3", (Holds("it", False),), "too much")),
        Finding(ROWS["S3-E4"], None),
        Finding(ROWS["K9"], None, "this version has no engine: mininet"),
    ]
    unlike = Finding(ROWS["K9"], Judgement("× 1", (Holds("it", True),)))
    both = [*(Both(each, each) for each in made[:3]), Both(made[3], unlike)]
    costs = {"quick": {links.BASELINE: Cost(7, 90.0)}, "full": {}}
    page = markdown(both, citations(), "Quick: 3 trials.", costs=costs)
    said = "4 rows: 1 met, 1 not met, 2 not run. Of them 3 are distinct findings: 1 met, 1 not met, 1 not run."
    assert f"\nQuick: {said}\n" in page
    assert "\nFull: 4 rows: 2 met, 1 not met, 1 not run. Of them 3 are distinct" in page
    assert "compares every number. Quick: 3 trials.\n" in page
    assert "| K7 | IV.B |" in page
    assert "| **fail** | **fail** |" in page
    (k9,) = [line for line in page.splitlines() if line.startswith("| K9 |")]
    assert k9.endswith(f" | × 1 | {ROWS['K9'].claim} | not run | pass |")  # of the full size, where it was judged
    assert "- K7: not met: it; too much" in page
    assert re.search(r"\| Hartpence et al\., .*, 2015 \| 0 / 0 / 0 / 1 \| 1 / 0 / 0 / 0 \|\n", page)
    assert f"\n| {links.BASELINE} | K9 | 7, 1.5 min | – |\n" in page
    assert "## Hartpence et al., Performance Evaluation of Networks with Physical and Virtual Links, 2015" in page


def test_what_limits_the_quick_size_is_said_of_it_alone() -> None:
    row = ROWS["S3-F6"]
    judgement = Judgement("1", ())
    quick, full = (Finding(row, judgement, is_full=each) for each in (False, True))
    assert "quick size: 1 Gbit/s, a tenth of the buffers" in quick.limits
    assert full.limits
    assert quick.limits.startswith(f"{full.limits}; quick size: ")


def test_rows_of_a_publication_that_are_apart_are_in_one_table() -> None:
    found = [Finding(ROWS[name], None) for name in ("S3-EQ4", "K9", "S3-E4")]
    page = markdown([Both(each, each) for each in found], citations(), "")
    assert [page.count(f"\n| {each.row.id} |") for each in found] == [1, 1, 1]
    assert page.count("\n## Phanekham") == 1


def test_what_is_said_of_a_row_that_is_not_run_is_that_of_the_quick_size() -> None:
    none = Finding(ROWS["K9"], None, "this version has no engine: mininet")
    page = markdown([Both(none, none)], citations(), "")
    assert "- K9: this version has no engine: mininet; the finding of S4-T5-MN again" in page


@pytest.mark.slow
def test_the_page_of_the_documentation_is_what_the_kept_results_give() -> None:
    page = (ROOT / "docs/reproduction.md").read_text()
    with command.behind(None, {}) as (findings, said, costs):
        assert markdown(findings, citations(), said, costs) == page
    unjudged = [each for both in findings for each in (both.quick, both.full) if each.judgement is None]
    reasons = re.compile(r"|.*has not run in its (quick|full) size|.* are missing|this version has no .*")
    assert not [each for each in unjudged if each.row.judge is not None and not reasons.fullmatch(each.why)]


def test_a_page_of_one_row_unpacks_what_that_row_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of both sizes; and a page in a folder has the rows of what else is there."""
    unpacked: list[str] = []

    def unpack(path: Path, folder: Path) -> None:
        unpacked.append(f"{path.parent.name}/{path.stem}")
        kept_unpack(path, folder)

    kept_unpack = kept.unpack
    monkeypatch.setattr(kept, "unpack", unpack)
    needed = {f"{size}/{name}" for size in SIZES for name in ROWS["S3-E2"].scenarios}
    asked = ["S3-E2", "--kept", "--stored", "--results", str(tmp_path)]
    done = CliRunner().invoke(app, ["reproduce", *asked])
    assert (done.exit_code, set(unpacked)) == (0, needed), done.output
    page = (tmp_path / "quick/reproduction.md").read_text()
    assert f"This page has 1 of {len(ROWS)} rows. Quick: " in page
    assert [each for each in ROWS if f"\n| {each} |" in page] == ["S3-E2"]
    assert f"A page: {tmp_path}" in done.stderr.replace("\n", "")
    done = CliRunner().invoke(app, ["reproduce", "K8", "--kept", "--stored", *asked[3:]])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "quick/reproduction.md").read_text()
    assert {"S3-E2", "K8"} <= {each for each in ROWS if f"\n| {each} |" in page}


def test_an_rtt_of_which_every_trial_is_invalid_is_not_passed_over() -> None:
    """Otherwise "the longest RTT" would be another one, and nobody would see it."""
    made = printed.profile()
    core = made["throughput-profile"]
    invalid = [plain(each, verdict="invalid") if each.params["path.rtt"] == "376 ms" else each for each in core.results]
    broken = {**made, core.scenario: Measured.of(core.scenario, "quick", invalid)}
    for id in ("K2", "K4", "K7", "S3-F7", "S3-F8"):
        assert of_row(id, broken).outcome != "pass", id
    words = f"of the {len(invalid)} trials of throughput-profile, 48 are invalid and left out"
    assert broken[core.scenario].cautions == words


@pytest.mark.parametrize(("suspect", "words"), [(0, ""), (1, "1 is suspect"), (2, "2 are suspect")])
def test_one_trial_is_suspect_and_two_are(suspect: int, words: str) -> None:
    trials = [trial_result(Made({"window": "auto"}, [1e6], seed)) for seed in range(3)]
    marked = [plain(each, verdict="suspect") if n < suspect else each for n, each in enumerate(trials)]
    assert Measured.of("mine", "quick", marked).cautions == (words and f"of the 3 trials of mine, {words}")


def of_row(id: str, runs: Mapping[str, Measured]) -> Finding:
    """The finding as the command makes it: a judge that fails has none."""
    row = ROWS[id]
    assert row.judge is not None
    try:
        judged = row.judge({name: runs[name] for name in row.scenarios})
    except (TestbedError, ValueError, LookupError, ArithmeticError):
        return Finding(row, None)
    return Finding(row, judged, lost=sum(runs[name].invalid for name in row.scenarios))


PRINTED: dict[str, Callable[[], Mapping[str, Measured]]] = {
    **{id: printed.profile for id in (*profile_tests.CONTRADICTS, "S3-F5", "S3-SYS-T")},
    **{id: profile_tests.with_cloud for id in ("S3-F2a-c", "S3-F3a", "S3-F4", "K6", "S3-F9-C")},
    **{id: made for id, (made, _) in profile_tests.CASES.items()},
    **{id: made for id, made in object_tests.GOOD.items() if ROWS[id].scenarios},
    "S0-SYS": partial(region_tests.campaign, swing=0.0),
    "S0-E1": lambda: region_tests.days(region_tests.campaign()),
    "S0-F2": region_tests.PRINTED,
    "S0-F3": region_tests.campaign,
    "S0-F4": lambda: region_tests.asymmetric(2e6, 60e6),
    "S0-F5": region_tests.udp_and_tcp,
    "S0-F6": region_tests.pings,
    "S0-F7": region_tests.pings,
    "S0-E5": lambda: region_tests.detour(315),
    "S0-E6": lambda: region_tests.probes(0.095, 0.4, 1e6),
    "S0-F8a": region_tests.shared,
    "S0-F8b": lambda: region_tests.zones(20e6, 30e6, 30e6),
    "S0-E7": region_tests.shared,
    "S0-F9a": region_tests.with_steps,
    "S0-F9b": lambda: region_tests.with_volumes(80, 85, 90, 110),
    "S0-E8": lambda: region_tests.lengths(*region_tests.SEEN),
    "K14": lambda: {**region_tests.with_steps(), **region_tests.lengths(*region_tests.SEEN)},
}
AS_PRINTED = {
    id: text
    for id, _, text in (
        part.partition("\n") for part in (ROOT / "tests/data/reproduction-as-printed.txt").read_text().split("## ")
    )
}


@pytest.mark.parametrize("id", [row.id for row in command.ROWS if row.judge is not None])
def test_what_is_said_of_results_as_printed_has_the_printed_numbers(id: str) -> None:
    """In the file: the outcome, our result, what limits it, and each part with its verdict and what was found."""
    others = {"S2-F8a": object_tests.blobs}
    found = of_row(id, good(id) if id in PRINTED else others.get(id, dict)())
    assert found.judgement is not None
    parts = [re.sub(r" \[[^]]*\]", "", f"- {each.verdict}: {each}") for each in found.judgement.decisions]
    lines = [str(found.outcome), found.judgement.ours, *filter(None, [found.judgement.why]), *parts]
    assert "\n".join(lines) == AS_PRINTED[id].strip()


@cache
def good(id: str) -> Mapping[str, Measured]:
    """What is printed, for a row; rows of one publication share it."""
    return PRINTED[id]()


def rows_of(ids: Iterable[str]) -> list[Any]:
    """Those of one publication run in one process: they share what is printed, and what is made of it."""
    return [pytest.param(id, marks=pytest.mark.xdist_group(f"printed {ROWS[id].source}")) for id in sorted(ids)]


COUNTED = {"S0-E1", "S0-F8b", "S0-E8", "K13", "K13-VM", "K13-MN", "S1-SYS", "S1-T1", "S1-E1", "S1-E2"} | {
    "S1-MET1", "S2-E4", "S3-SYS-T", "S4-E2", "S4-TV",
}  # fmt: skip
"""Rows that count, so that one seed can decide: nothing in them is a mean."""


def of_each(change: Callable[..., TrialResult]) -> Callable[..., TrialResult]:
    """The change, made once of each result."""
    made: dict[tuple[Any, ...], tuple[TrialResult, TrialResult]] = {}

    def once(result: TrialResult, *how: Any) -> TrialResult:
        key = (id(result), *how)
        if key not in made:
            made[key] = (result, change(result, *how))
        return made[key][1]

    return once


@of_each
def bare(result: TrialResult) -> TrialResult:
    """What is left if the tool reported nothing."""
    seen = {"rtt_s": None, "rtt_max_s": None}
    return replace(
        plain(result, goodput_bps=None, seen=seen, flows=[], stages=[]), measured={}, captures={}, workload_s=None
    )


def without_a_seed(measured: Measured) -> tuple[TrialResult, ...]:
    """The tool reported nothing in any trial of the first seed."""
    first = min(each.seed for each in measured.results)
    return tuple(bare(each) if each.seed == first else each for each in measured.results)


@pytest.mark.slow
@pytest.mark.parametrize("id", rows_of(PRINTED))
def test_no_row_passes_on_what_is_missing_empty_or_invalid(id: str) -> None:
    whole = good(id)
    for broken in (
        {name: replace(each, results=()) for name, each in whole.items()},
        {name: replace(each, results=tuple(map(bare, each.results))) for name, each in whole.items()},
        {name: replace(each, left_out=each.results[:1]) for name, each in whole.items()},
        {name: replace(each, results=without_a_seed(each)) for name, each in whole.items()},
    ):
        assert of_row(id, broken).outcome in ("fail", "cannot tell", "not run")


@pytest.mark.parametrize("id", rows_of(set(PRINTED) - COUNTED))
def test_no_row_of_means_passes_on_one_seed(id: str) -> None:
    whole = good(id)
    first = {name: min(each.seed for each in measured.results) for name, measured in whole.items()}
    one = {
        name: replace(measured, results=tuple(each for each in measured.results if each.seed == first[name]))
        for name, measured in whole.items()
    }
    assert of_row(id, one).outcome in ("fail", "cannot tell", "not run")


TOLD = {
    "goodput_bps",
    "elapsed_s",
    "connect_s",
    "rtt_mean_s",
    "rtt_sd_s",
    "received_bytes",
    "payload_bytes",
    "delay_mean_s",
}
"""What tools tell, and wrong results change; with lost datagrams, jitter and the RTT that was seen."""


@of_each
def scaled(result: TrialResult, factor: float) -> TrialResult:
    """Everything that was measured, by a factor; what was lost and how long it took, the other way round."""

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: walk(each, name) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [walk(each, key) for each in value]
        if key in TOLD and isinstance(value, int | float):
            return type(value)(value * factor)
        if key in ("lost_datagrams", "jitter_s") and isinstance(value, int | float):
            return type(value)(value / factor if factor else 1e9)
        return value

    told = result.to_dict()
    parts = {key: walk(told[key], key) for key in ("measured", "flows", "captures")}
    seen = {key: told["seen"][key] * factor for key in ("rtt_s", "rtt_max_s") if told["seen"][key] is not None}
    return plain(result, goodput_bps=(result.goodput_bps or 0.0) * factor, seen=seen, **parts)


def like(result: TrialResult, other: TrialResult) -> TrialResult:
    """The trial with what was measured in another one."""
    return replace(
        result, goodput_bps=other.goodput_bps, seen=other.seen, measured=other.measured, captures=other.captures
    )


NOISE = (0.2, 1.0, 2.5, 0.6, 1.7, 0.1, 1.3)
Change = Callable[[Sequence[TrialResult]], Sequence[TrialResult]]
WRONG: dict[str, Change] = {
    "zero": lambda every: [scaled(each, 0.0) for each in every],
    "halved": lambda every: [scaled(each, 0.5) for each in every],
    "halved here and there": lambda every: [
        scaled(each, 0.5 if n % 7 in (1, 3, 4) else 1.0) for n, each in enumerate(every)
    ],
    "noisy": lambda every: [scaled(each, NOISE[(n + each.seed) % 7]) for n, each in enumerate(every)],
    "flat": lambda every: [like(each, every[0]) for each in every],
    "flipped": lambda every: [like(each, other) for each, other in zip(every, every[::-1], strict=True)],
}
SETUP = {"S0-E1", "S1-SYS", "S1-T1", "S1-E1"}
"""Rows that count runs, homes, factors and cycles, and measure nothing."""


BOUNDS = {"S1-F1", "S2-E4", "S4-TV"}
"""Orders of magnitude, an upper bound, and two tellings of one number: other numbers of that size keep to them."""


def with_all(whole: Mapping[str, Measured], change: Change) -> dict[str, Measured]:
    """The results of one scenario after the other changed as one list: two scenarios are not wrong in the same way."""
    changed = iter(change([result for each in whole.values() for result in each.results]))
    return {name: replace(each, results=tuple(islice(changed, len(each.results)))) for name, each in whole.items()}


@pytest.mark.slow
@pytest.mark.parametrize("id", rows_of(set(PRINTED) - SETUP))
def test_no_row_passes_on_every_wrong_result(id: str) -> None:
    outcomes = {name: of_row(id, with_all(good(id), change)).outcome for name, change in WRONG.items()}
    assert outcomes["zero"] != "pass", outcomes
    least = 1 if id in BOUNDS else 2
    assert sum(outcome != "pass" for outcome in outcomes.values()) >= least, outcomes


def test_every_row_that_is_run_is_tried_with_what_is_printed() -> None:
    formulas = {row.id for row in command.ROWS if row.judge is not None and not row.scenarios}
    tried = {*PRINTED, *formulas, "S2-F8a"}
    assert tried == {row.id for row in command.ROWS if row.judge is not None}


def test_a_row_that_is_run_has_a_criterion_with_its_source() -> None:
    """But one of which nothing is printed."""
    for row in command.ROWS:
        assert (row.criterion is not None) == (row.judge is not None and row.id != "S2-F8a"), row.id
        assert row.criterion is None or (row.criterion.text and row.criterion.source)


def test_rows_with_the_same_judge_on_the_same_data_are_one_finding() -> None:
    seen: dict[tuple[object, ...], str] = {}
    for row in command.ROWS:
        if row.judge is None or row.criterion is None:
            continue
        key = (row.judge, row.scenarios)
        assert key not in seen or seen[key] == row.criterion.repeats or row.criterion.repeats, row.id
        seen.setdefault(key, row.id)
        assert not row.criterion.repeats or row.criterion.repeats in ROWS


def test_the_summary_counts_rows_and_distinct_findings() -> None:
    met, unclear = Judgement("0", (Holds("it", True),)), Judgement("0", (Holds("it", None),))
    made = [Finding(ROWS["S3-EQ4"], met), Finding(ROWS["K17"], met), Finding(ROWS["K7"], unclear)]
    text = "3 rows: 2 met, 1 cannot tell. Of them 2 are distinct findings: 1 met, 1 cannot tell."
    assert summary_of(made) == text
    assert summary_of(made[:2]) == "2 rows: 2 met. Of them 1 is a distinct finding: 1 met."
    for one in (made[:1], made[1:2]):
        assert summary_of(one) == "1 row: 1 met."


def test_a_finding_in_json_has_its_criterion_and_its_parts() -> None:
    found = Judgement("× 3", (near("the gain", [3.0, 3.0], 2.4, 0.4), Holds("seen", None)), "the ramp")
    told = command.to_dict(Finding(ROWS["K7"], found))
    assert told["outcome"] == "fail"
    assert told["why"] == "not met: the gain (3); cannot tell: seen; the ramp"
    assert told["criterion"].startswith("a gain of")
    assert told["repeats"] is None
    assert told["parts"] == [
        {"says": "the gain", "verdict": "not met", "found": "3"},
        {"says": "seen", "verdict": "cannot tell", "found": ""},
    ]
    assert {key: told[key] for key in ("id", "source", "where", "claim", "ours", "scenarios")} == {
        "id": "K7",
        "source": "google-cloud-emulated",
        "where": "IV.B",
        "claim": "shape",
        "ours": "× 3",
        "scenarios": ["throughput-profile"],
    }
    assert (told["what"], told["expected"], told["limits"]) == (ROWS["K7"].what, "× 2 to 2.8", ROWS["K7"].limits)
    assert told["criterion_source"].startswith("IV.B: 3.22 to 6.44")
    again = command.to_dict(Finding(ROWS["K5"], None, "not now"))
    assert (again["ours"], again["parts"], again["why"], again["repeats"]) == (None, [], "not now", "S3-F6")
    assert command.to_dict(Finding(ROWS["S3-SYS-C"], None))["criterion"] is None


def test_a_row_with_a_lost_trial_behind_it_does_not_pass() -> None:
    met = Judgement("0", (Holds("it", True),))
    assert Finding(ROWS["K7"], met).outcome == "pass"
    assert Finding(ROWS["K7"], met, lost=1).outcome == "cannot tell"
    assert Finding(ROWS["K7"], Judgement("0")).outcome == "cannot tell"


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path, "quick", Console(file=io.StringIO()))


def stored(runs: Runs, name: str, goodput_bps: float, *, only: int | None = None) -> None:
    """A run of a scenario of ours, or a part of it, with the same goodput everywhere."""
    trials = load_scenario(library.SCENARIOS / f"{name}.yaml", quick=True).trials()
    folder = runs.folder / name
    for trial in trials[:only]:
        home = folder / "trials" / trial.id
        home.mkdir(parents=True)
        made = trial_result(Made(dict(trial.params), [goodput_bps], seed=trial.seed))
        (home / "trial.json").write_text(json.dumps(trial_data(trial)))
        (home / "result.json").write_text(json.dumps(replace(made, id=trial.id, repetition=trial.repetition).stored()))
        (home / "host.json").write_text('{"wall_s": 1.0}')
    (folder / "run.json").write_text(
        json.dumps({"schema": 1, "scenario": name, "trials": [each.id for each in trials]})
    )


def test_a_part_of_a_sweep_is_not_judged(runs: Runs) -> None:
    stored(runs, links.BASELINE, 1e8, only=5)
    found = runs.finding(ROWS["K8"])
    assert found.outcome == "not run"
    assert re.fullmatch(r"\d+ of \d+ trials of links-baseline \(quick\) are missing", found.why), found.why


def test_results_of_what_the_scenario_was_once_are_not_judged(runs: Runs) -> None:
    stored(runs, links.BASELINE, 1e8)
    assert runs.finding(ROWS["K8"]).outcome == "pass", runs.finding(ROWS["K8"])
    old = next((runs.folder / links.BASELINE / "trials").iterdir()) / "trial.json"
    old.write_text(json.dumps(json.loads(old.read_text()) | {"sysctls": {"net.ipv4.tcp_ecn": "1"}}))
    found = Runs(runs.folder, "quick", runs.console).finding(ROWS["K8"])
    assert found.outcome == "not run"
    assert "the same name and another specification" in found.why


def test_what_is_kept_is_judged_as_it_was_and_nobodys_mark_is_in_it(runs: Runs, tmp_path: Path) -> None:
    stored(runs, links.BASELINE, 1e8)
    before = runs.finding(ROWS["K8"])
    host = next((runs.folder / links.BASELINE / "trials").iterdir()) / "host.json"
    host.write_text('{"wall_s": 1.0, "cpu_s": 0.5, "started": "2026-01-02T03:04:05", "made_by": "somebody"}')
    count = len([*(runs.folder / links.BASELINE / "trials").iterdir()])
    assert kept.keep(runs.folder, [links.BASELINE, links.UDP], tmp_path / "kept") == {links.BASELINE: count}
    with kept.unpacked(tmp_path / "kept") as folder:
        again = Runs(folder, "quick", runs.console).finding(ROWS["K8"])
        assert (
            kept.said(folder, tmp_path / "kept")
            == f"{count} trials of 2026-01-02, 0.000139 h of processor time, with no lab kernel."
        )
        assert "made_by" not in (folder / links.BASELINE / "trials" / host.parent.name / "host.json").read_text()
    assert (before.outcome, again.outcome) == ("pass", "pass")
    assert again == before
    assert not folder.exists()


def test_a_part_of_a_run_is_kept_and_goes_on_where_it_was(runs: Runs, tmp_path: Path) -> None:
    """Nothing that is there already is replaced."""
    stored(runs, links.BASELINE, 1e8, only=5)
    kept.keep(runs.folder, [links.BASELINE], tmp_path / "kept")
    kept.put_back(tmp_path / "kept", tmp_path / "later", [links.BASELINE, links.UDP])
    later = Runs(tmp_path / "later", "quick", runs.console)
    assert later.finding(ROWS["K8"]).why == runs.finding(ROWS["K8"]).why
    assert len([*(tmp_path / "later" / links.BASELINE / "trials").iterdir()]) == 5
    update(Store(tmp_path / "later" / links.BASELINE))  # as after the rest has run: each trial has its samples
    mine = tmp_path / "mine" / links.BASELINE
    mine.mkdir(parents=True)
    kept.put_back(tmp_path / "kept", tmp_path / "mine", [links.BASELINE])
    assert [*mine.iterdir()] == []


def test_an_audit_is_of_the_tables_that_it_was_made_of(runs: Runs, tmp_path: Path) -> None:
    home = tmp_path / "kept"
    stored(runs, links.BASELINE, 1e8, only=5)
    kept.keep(runs.folder, [links.BASELINE], home)
    again.store(home, again.Again("2026-01-02", 1, 1, 5, 1))
    kept.keep(runs.folder, [links.BASELINE], home)  # the same table
    assert len(again.stored(home)) == 1
    host = next((runs.folder / links.BASELINE / "trials").iterdir()) / "host.json"
    host.write_text('{"wall_s": 1.0, "cpu_s": 0.5, "started": "2026-01-02T03:04:05"}')
    kept.keep(runs.folder, [links.BASELINE], home)
    assert again.stored(home) == []


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-9], lambda data: b"PAR1" + data[4:-8] + b"PAR1"]
)
def test_a_damaged_table_is_refused(runs: Runs, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    stored(runs, links.BASELINE, 1e8, only=2)
    kept.keep(runs.folder, [links.BASELINE], tmp_path)
    table = tmp_path / f"{links.BASELINE}.parquet"
    table.write_bytes(damage(table.read_bytes()))
    with pytest.raises(UserError, match="is damaged"):
        kept.put_back(tmp_path, tmp_path / "later", [links.BASELINE])


def test_a_judge_that_finds_nothing_in_the_results_spoils_no_other_row(runs: Runs) -> None:
    stored(runs, links.UDP, 1e8)
    found = runs.finding(ROWS["K13"])
    assert found.outcome == "not run"
    assert "has no measured.udp" in found.why
