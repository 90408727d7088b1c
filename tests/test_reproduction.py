"""Rows of publications: what they refer to exists, and their judges can tell good from bad."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from storedruns import Made, trial_result

from results import plain
from testbed import library
from testbed.commands.measure.reproduce import Runs, lacks
from testbed.compare import published
from testbed.compare.paper import catalogue, links, throughput_profile, throughput_profile_check
from testbed.compare.reproduction import table
from testbed.compare.reproduction.measured import Measured, with_interval
from testbed.compare.reproduction.row import Finding, Judgement, Row
from testbed.error import UserError
from testbed.model.scenario import Trial
from testbed.spec.load import load_scenario
from testbed.spec.scenario.trial import trial_data
from testbed.trial.stored_result import TrialResult
from testbed.units import parse_one_in

ROWS = {row.id: row for row in catalogue.ROWS}
CAPACITY_BPS = 1e9
RTTS_MS, FLOWS = (1, 22, 91, 183, 376), (1, 2, 5, 10)
LOSSES = ("none", "1 in 1000000", "1 in 100000", "1 in 10000", "1 in 500")
CONTROLS = ("cubic", "htcp", "bbr", "scalable")
FAR = {1: 0.33, 2: 0.62, 5: 0.88, 10: 0.9}
"""Shares of the line rate at the longest RTT, without loss."""
STRENGTH = {"cubic": 1.0, "htcp": 1.5, "bbr": 100.0, "scalable": 1.0}

Share = Callable[[str, str, int, int], float]


def as_published(loss: str, control: str, flows: int, rtt_ms: int) -> float:
    """A share of the line rate: concave without loss, the square-root law with loss."""
    share = 1 - (1 - FAR[flows]) * (rtt_ms / 376) ** 2
    if loss == "none":
        return share
    law_bps = flows * STRENGTH[control] * 1448 * 8 / (rtt_ms / 1e3) * (1.5 * parse_one_in(loss)) ** 0.5
    return min(share, law_bps / (CAPACITY_BPS * 0.956))


def sweep(share: Share) -> Measured:
    results = []
    for loss in LOSSES:
        for control in CONTROLS:
            for flows in FLOWS:
                for rtt_ms in RTTS_MS:
                    params = {
                        "path.loss": loss,
                        "congestion": control,
                        "flows": str(flows),
                        "path.rtt": f"{rtt_ms} ms",
                    }
                    goodput = CAPACITY_BPS * 0.956 * share(loss, control, flows, rtt_ms)
                    found = trial_result(Made(params, [goodput / flows] * flows), CAPACITY_BPS)
                    results.append(found)
    return Measured.of(throughput_profile_check.SCENARIO, "quick", results)


def changed(**by: Any) -> Share:
    """The same but for what matches: `where` says for which trials, `share` what they have instead."""

    def share(loss: str, control: str, flows: int, rtt_ms: int) -> float:
        usual = as_published(loss, control, flows, rtt_ms)
        return by["share"](usual) if by["where"](loss, control, flows, rtt_ms) else usual

    return share


def judged(id: str, share: Share) -> Judgement:
    judge = ROWS[id].judge
    assert judge is not None
    return judge({throughput_profile_check.SCENARIO: sweep(share)})


CHECKS = (
    "K1",
    "K2",
    "K3",
    "K4",
    "K5",
    "K6",
    "K7",
    "S3-F2d-f",
    "S3-F3b",
    "S3-F5",
    "S3-F7",
    "S3-F9",
    "S3-SYS-T",
    "S3-E3",
)

BROKEN = {
    "K1": changed(where=lambda loss, cc, n, rtt: rtt == 1 and n == 5 and cc == "htcp", share=lambda s: s * 0.8),
    "K2": changed(where=lambda loss, cc, n, rtt: loss == "none" and rtt == 22, share=lambda s: s * 0.5),
    "K3": changed(where=lambda loss, cc, n, rtt: loss == "1 in 500", share=lambda s: 1.0),
    "K4": changed(where=lambda loss, cc, n, rtt: n == 5, share=lambda s: s * 0.5),
    "K5": changed(where=lambda loss, cc, n, rtt: loss == "none" and cc == "htcp", share=lambda s: s * 0.7),
    "K6": changed(where=lambda loss, cc, n, rtt: cc == "bbr" and loss != "none", share=lambda s: s * 0.3),
    "K7": changed(where=lambda loss, cc, n, rtt: rtt == 376 and n == 1, share=lambda s: s * 2.5),
    "S3-F2d-f": changed(where=lambda loss, cc, n, rtt: rtt == 376 and n == 5, share=lambda s: s * 0.2),
    "S3-F3b": changed(where=lambda loss, cc, n, rtt: cc == "bbr" and rtt not in (1, 376), share=lambda s: s * 0.3),
    "S3-F5": changed(where=lambda loss, cc, n, rtt: cc == "scalable", share=lambda s: s * 0.8),
    "S3-F7": changed(where=lambda loss, cc, n, rtt: loss == "1 in 500" and rtt == 22, share=lambda s: 0.9),
    "S3-F9": changed(where=lambda loss, cc, n, rtt: cc == "htcp" and n == 10, share=lambda s: s * 0.3),
    "S3-E3": lambda loss, cc, n, rtt: as_published("none" if loss == "1 in 500" else "1 in 500", cc, n, rtt),
}


@pytest.mark.parametrize("id", CHECKS)
def test_a_check_is_met_by_what_was_published(id: str) -> None:
    found = judged(id, as_published)
    assert found.is_met, found


@pytest.mark.parametrize("id", BROKEN)
def test_a_check_is_not_met_by_what_contradicts_it(id: str) -> None:
    found = judged(id, BROKEN[id])
    assert found.is_met is False, found


def test_a_network_that_was_not_as_asked_fails_the_system_row() -> None:
    core = sweep(as_published)
    for broken in (
        replace(core, left_out=core.results[:1]),
        replace(core, results=(_with(core.results[0], seen={"rtt_s": 0.002}), *core.results[1:])),
        replace(core, results=(_with(core.results[0], stages=[{"expected_drops": 3, "dropped_packets": 2}]),)),
    ):
        assert not throughput_profile.network_was_as_asked({throughput_profile_check.SCENARIO: broken}).is_met


def _with(result: TrialResult, **data: Any) -> TrialResult:
    return plain(result, **data)


def test_the_anchors_are_exact() -> None:
    assert throughput_profile.anchors({}).is_met


def by_window(scenario: str, mbit: dict[str, float]) -> Measured:
    results = [trial_result(Made({"window": window}, [rate * 1e6])) for window, rate in mbit.items()]
    return Measured.of(scenario, "quick", results)


GROWING = {"4 KiB": 160.0, "8 KiB": 440.0, "16 KiB": 440.0, "64 KiB": 950.0}


@pytest.mark.parametrize(
    ("mbit", "is_met"),
    [(GROWING, True), (GROWING | {"16 KiB": 300.0}, False), (GROWING | {"64 KiB": 100.0}, False)],
)
def test_transfers_grow_with_the_window_or_not(mbit: dict[str, float], is_met: bool) -> None:
    found = links.grows_with_window(links.BASELINE)({links.BASELINE: by_window(links.BASELINE, mbit)})
    assert found.is_met is is_met


def test_transfers_are_in_mb_of_two_to_the_twentieth() -> None:
    """Table II, first cell: 772.6 MB in 30 s are 216.03 Mbit/s."""
    found = links.transfers(by_window(links.BASELINE, {"4 KiB": 216.03}))
    assert found["4 KiB"][0] == pytest.approx(772.6, abs=0.05)


@pytest.mark.parametrize(("factor", "is_met"), [(0.5, True), (1.5, False)])
def test_one_kind_of_link_is_below_another_or_not(factor: float, is_met: bool) -> None:
    less = by_window(links.BRIDGED, {window: rate * factor for window, rate in GROWING.items()})
    runs = {links.BRIDGED: less, links.BASELINE: by_window(links.BASELINE, GROWING)}
    assert links.below(links.BRIDGED, links.BASELINE)(runs).is_met is is_met


def taking_turns(sdn: dict[str, float]) -> Measured:
    """Two kinds of link in one scenario; GROWING between machines alone."""
    results = [
        trial_result(Made({"topology": kind, "window": window}, [rate * 1e6]))
        for kind, rates in {"sdn": sdn, "vm-to-vm": GROWING}.items()
        for window, rate in rates.items()
    ]
    return Measured.of(links.SDN, "quick", results)


@pytest.mark.parametrize(
    ("changes", "is_met", "why"),
    [({}, True, ""), ({"8 KiB": 450.0}, False, "not below at 8 KiB"), ({"4 KiB": 160.0}, False, "not below at 4 KiB")],
)
def test_sdn_is_compared_with_the_machines_that_took_turns_with_it(
    changes: dict[str, float], is_met: bool, why: str
) -> None:
    slower = {window: rate / 2 for window, rate in GROWING.items()}
    found = links.sdn_below_machines({links.SDN: taking_turns(slower | changes)})
    assert (found.is_met, found.why) == (is_met, why)


def test_sdn_is_to_be_between_the_machines_and_the_baseline_at_the_largest_window() -> None:
    slower = {window: rate / 2 for window, rate in GROWING.items()}
    for base, why in ((450.0, ""), (500.0, "not above the baseline at 64 KiB")):
        baseline = by_window(links.BASELINE, GROWING | {"64 KiB": base})
        found = links.sdn_between({links.SDN: taking_turns(slower), links.BASELINE: baseline})
        assert (found.is_met, found.why) == (not why, why)
    found = links.sdn_between({links.SDN: taking_turns(GROWING), links.BASELINE: by_window(links.BASELINE, GROWING)})
    assert found.why == "not below at 4 KiB, 8 KiB, 16 KiB, 64 KiB; not above the baseline at 64 KiB"


@pytest.mark.parametrize(
    ("factor", "spread", "is_met", "why"),
    [
        (1.01, 0.001, True, ""),
        (1.2, 0.001, False, "the change is larger at 64 KiB"),
        (1.01, 0.2, False, "repetitions vary too much to decide at 64 KiB"),
    ],
)
def test_twice_the_memory_changes_nothing_a_lot_or_nobody_can_tell(
    factor: float, spread: float, is_met: bool, why: str
) -> None:
    results = []
    for window, rate in GROWING.items():
        apart = spread if window == "64 KiB" else 0.001
        times = (factor if window == "64 KiB" else 1.0) * rate * 1e6
        for kind, mean, sign in (("vm-to-vm", rate * 1e6, 1), ("vm-to-vm-2gb", times, -1)):
            params = {"topology": kind, "window": window}
            results += [
                trial_result(Made(params, [mean * (1 + sign * apart * step)], seed=seed))
                for seed, step in enumerate((-1, 0, 1))
            ]
    found = links.memory_does_not_matter({links.MEMORY: Measured.of(links.MEMORY, "quick", results)})
    assert (found.is_met, found.why) == (is_met, why)


def test_kinds_of_links_that_take_turns_are_looked_at_one_by_one() -> None:
    """Mixed, the fall of one would hide in the other."""
    found = links.grow_with_window({links.SDN: taking_turns(GROWING | {"64 KiB": 100.0})})
    assert found.why == "it falls on links-sdn (sdn)"


@pytest.mark.parametrize(
    ("lost", "jitter_s", "is_met", "said"),
    [
        (0, 1e-6, True, "loss 0.00%"),
        (90, 1e-6, True, "loss 0.90%"),
        (101, 1e-6, False, "1.01%"),
        (0, 2e-3, False, "2 ms"),
    ],
)
def test_datagrams_are_judged_trial_by_trial(lost: int, jitter_s: float, is_met: bool, said: str) -> None:
    """What a fast trial lost is no share of what a slow one sent."""
    fast = {"jitter_s": jitter_s, "lost_datagrams": lost, "sent_datagrams": 10_000}
    slow = {"jitter_s": 0.0, "lost_datagrams": 0, "sent_datagrams": 100}
    results = [plain(measured={"udp": each}) for each in (fast, slow)]
    found = links.quiet_udp({links.UDP: Measured.of(links.UDP, "quick", results)})
    assert found.is_met is is_met
    assert said in found.ours


@pytest.mark.parametrize(
    ("payload", "again", "is_met"),
    [
        (1_000_900, 0, True),
        (1_010_900, 10_000, True),
        (1_001_100, 0, False),
        (998_900, 0, False),
        (1_000_000, 2000, False),
    ],
)
def test_a_tool_agrees_with_a_capture_or_not(payload: int, again: int, is_met: bool) -> None:
    wire = {"packets": 700, "payload_bytes": payload, "again_packets": 1, "again_bytes": again, "largest_bytes": 1448}
    result = plain(flows=[{"received_bytes": 1_000_000}], captures={"right-eth0.pcap": wire})
    measured = Measured.of(links.VALIDATION, "quick", [result])
    assert links.tool_agrees_with_capture({links.VALIDATION: measured}).is_met is is_met


def test_ids_are_there_once() -> None:
    assert len(ROWS) == len(catalogue.ROWS)


@pytest.mark.parametrize("row", catalogue.ROWS, ids=lambda row: row.id)
def test_what_a_row_refers_to_exists(row: Row) -> None:
    profile, _ = published.find(row.source)
    known = {*profile.facts, *profile.series, *profile.findings, *profile.conditions}
    assert set(row.facts) <= known
    assert row.expected
    for name in row.scenarios:
        assert (library.SCENARIOS / f"{name}.yaml").exists(), f"there is no scenario {name}"


@pytest.mark.parametrize("row", catalogue.ROWS, ids=lambda row: row.id)
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
    for row in catalogue.ROWS:
        assert (row.claim == "data only") == (row.judge is None), row.id


def test_rows_are_picked_by_id_by_check_and_by_publication() -> None:
    assert [row.id for row in catalogue.select(["k17", "S3-F7"])] == ["K17", "S3-F7"]
    assert set(throughput_profile.ROWS) == set(catalogue.select(["S3"]))
    assert catalogue.select([]) == catalogue.ROWS
    with pytest.raises(UserError, match=r"there is no row 'S3-F77'; allowed: .*did you mean S3-F7\?"):
        catalogue.select(["S3-F77"])


def test_what_was_not_measured_is_said() -> None:
    measured = by_window("links-baseline", GROWING)
    with pytest.raises(UserError, match="has no usable trial with window = 5 KiB"):
        measured.only(window="5 KiB")
    with pytest.raises(UserError, match="has no axis 'rtt'; it has window"):
        measured.split("rtt")


@pytest.mark.parametrize(
    ("values", "text"),
    [([2.94e9], "2.94 Gbit/s"), ([1e9, 1e9], "1 Gbit/s"), ([1e9, 1.2e9, 1.4e9], "1.2 Gbit/s [0.703, 1.7]")],
)
def test_a_mean_has_its_interval_where_there_is_one(values: list[float], text: str) -> None:
    """The last: t(0.975, 2) = 4.3027 times 0.2 / sqrt(3)."""
    assert with_interval(values, 1e-9, "Gbit/s") == text


def test_the_page_has_a_line_for_each_row_and_says_what_limits_it() -> None:
    made = [
        Finding(ROWS["K17"], Judgement("0", True)),
        Finding(ROWS["K7"], Judgement("× 3", False, "too much")),
        Finding(ROWS["S3-E4"], None),
        Finding(ROWS["K9"], None, "this version has no engine: mininet"),
    ]
    citations = {name: published.find(name)[0].citation for name in published.names()}
    page = table.markdown(made, citations, "Reproduction", "how")
    assert "4 rows: 1 met, 1 not met, 2 not run." in page
    assert "| K7 | IV.B |" in page
    assert "| **fail** |" in page
    assert "- K7: too much" in page
    assert "- K9: this version has no engine: mininet" in page
    assert "## Hartpence et al., Performance Evaluation of Networks with Physical and Virtual Links, 2015" in page


def test_an_rtt_or_a_cell_of_which_every_trial_is_invalid_is_not_passed_over() -> None:
    """Otherwise "the longest RTT" would be another one, and nobody would see it."""
    core = sweep(as_published)
    invalid = [_with(each, verdict="invalid") if each.params["path.rtt"] == "376 ms" else each for each in core.results]
    broken = Measured.of(throughput_profile_check.SCENARIO, "quick", invalid)
    for id in ("K2", "K4", "K5", "K7", "S3-F7"):
        with pytest.raises(UserError, match=r"has no usable trial (at an RTT of 376 ms|with path.rtt = 376 ms)"):
            ROWS[id].judge({throughput_profile_check.SCENARIO: broken})  # type: ignore[misc]
    assert (
        broken.cautions
        == f"of the {len(invalid)} trials of {throughput_profile_check.SCENARIO}, 80 are invalid and left out"
    )


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
    assert runs.finding(ROWS["K8"]).outcome == "pass"
    old = next((runs.folder / links.BASELINE / "trials").iterdir()) / "trial.json"
    old.write_text(json.dumps(json.loads(old.read_text()) | {"sysctls": {"net.ipv4.tcp_ecn": "1"}}))
    found = Runs(runs.folder, "quick", runs.console).finding(ROWS["K8"])
    assert found.outcome == "not run"
    assert "the same name and another specification" in found.why


def test_a_judge_that_finds_nothing_in_the_results_spoils_no_other_row(runs: Runs) -> None:
    stored(runs, links.UDP, 1e8)
    found = runs.finding(ROWS["K13"])
    assert found.outcome == "not run"
    assert "has no measured.udp" in found.why


def noisy(bps: Callable[[str, int, int, int], float]) -> Measured:
    results = []
    for control in ("cubic", "htcp", "bbr"):
        for flows in (1, 5, 10):
            for rtt_ms in (1, 80, 160, 340):
                for seed in (1, 2):
                    params = {"congestion": control, "flows": str(flows), "path.rtt": f"{rtt_ms} ms"}
                    made = Made(params, [bps(control, flows, rtt_ms, seed) / flows] * flows, seed=seed)
                    results.append(trial_result(made, CAPACITY_BPS))
    return Measured.of(throughput_profile.NOISY, "quick", results)


def cloud(control: str, flows: int, rtt_ms: int, seed: int) -> float:
    """As published of the cloud: falls with RTT, less with 10 flows, BBR highest and gaining the most."""
    drop = {"bbr": {1: 0.8, 5: 0.1, 10: 0.05}}.get(control, {1: 0.85, 5: 0.4, 10: 0.3})[flows]
    return CAPACITY_BPS * 0.95 * (1 - drop * rtt_ms / 340) * (1 + seed / 1000)


@pytest.mark.parametrize(
    ("id", "contradiction"),
    [
        ("S3-F2a-c", lambda cc, n, rtt, seed: cloud(cc, 1 if n == 10 else 10, rtt, seed)),
        ("S3-F3a", lambda cc, n, rtt, seed: cloud(cc, n, rtt, 1)),
        ("S3-F4", lambda cc, n, rtt, seed: cloud(cc, n, rtt, seed) * (0.8 if cc == "bbr" else 1)),
        ("S3-F9-C", lambda cc, n, rtt, seed: cloud("bbr" if cc == "cubic" else "cubic", n, rtt, seed)),
    ],
)
def test_rows_of_the_cloud_are_met_by_what_was_published_and_not_by_the_contrary(
    id: str, contradiction: Callable[[str, int, int, int], float]
) -> None:
    judge = ROWS[id].judge
    assert judge is not None
    assert judge({throughput_profile.NOISY: noisy(cloud)}).is_met
    assert judge({throughput_profile.NOISY: noisy(contradiction)}).is_met is False
