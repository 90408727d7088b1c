"""The report as a value and as a file: what is in it, what is left out and said, and that nothing escapes."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparing import exit_code, said_by
from storedruns import Made, trial_result, trial_settings, write_run
from trials import make_trial

from benchmarks.report import make_run
from testbed.browser.graph_layout import place
from testbed.browser.page_text import data
from testbed.error import UserError, harmless
from testbed.library import TOPOLOGIES
from testbed.report import stored_run
from testbed.report.caption import facts
from testbed.report.drawing import drawings
from testbed.report.live import Live
from testbed.report.page import ASSETS, VENDORED, page
from testbed.report.signal import inside, kept, trace, unpacked
from testbed.report.view import view
from testbed.spec.load import load_topology
from testbed.sweep.store import Store

TWO = [
    Made({"path.rtt": rtt, "flows": str(flows)}, [4e7 / flows] * flows, seed, retransmits=5)
    for rtt in ("10 ms", "40 ms")
    for flows in (1, 2)
    for seed in (1, 2)
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", TWO)


def test_the_view_has_a_point_for_each_rtt_of_each_series_with_its_trials(run: Path) -> None:
    shown = view(stored_run.read(run))
    assert [each["label"] for each in shown["series"]] == ["1 flow", "2 flows"]
    for each in shown["series"]:
        assert [point["rtt"] for point in each["points"]] == [0.01, 0.04]
        assert all(len(point["trials"]) == 2 and point["mean"] == pytest.approx(4e7) for point in each["points"])
    assert shown["counts"] == {"valid": 8, "suspect": 0, "invalid": 0}
    assert shown["notes"] == []
    assert "8 trials" in " ".join(shown["agreement"])


def test_the_headline_says_from_where_to_where_what_changes_it_and_what_limited_it(tmp_path: Path) -> None:
    """100 Mbit/s carry 95.64 Mbit/s; from 10 to 40 ms two flows of CUBIC lose a half, and BBR nothing."""
    made = [
        Made({"path.rtt": rtt, "congestion": control, "window": "auto"}, [rate / 2] * 2, seed)
        for rtt, rates in (("10 ms", (8e7, 9e7)), ("40 ms", (4e7, 9e7)))
        for control, rate in zip(("cubic", "bbr"), rates, strict=True)
        for seed in (1, 2)
    ]
    shown = view(stored_run.read(write_run(tmp_path / "run", made, samples=False)))
    assert shown["headline"] == [
        "Goodput goes from 40 Mbit/s (40 ms, cubic) to 90 Mbit/s (10 ms, bbr); a full path carries 95.64 Mbit/s.",
        "What changes it, with all else the same (geometric mean): congestion cubic → bbr × 1.6 (1.1 to 2.2 in 2 pairs "
        "of cells); rtt 10 ms → 40 ms × 0.71 (0.5 to 1 in 2 pairs of cells).",
        "What limited the 8 trials: unknown in all.",
    ]
    assert shown["same"] == [["window", "auto"]]
    assert shown["verdict"] == {"level": "valid", "text": "All 8 trials are valid."}


def test_what_changes_nothing_is_said_and_one_trial_is_a_number(tmp_path: Path) -> None:
    made = [Made({"path.rtt": rtt}, [9e7]) for rtt in ("10 ms", "40 ms")]
    headline = view(stored_run.read(write_run(tmp_path / "two", made, samples=False)))["headline"]
    assert headline[1] == "No change by more than 1%: rtt 10 ms → 40 ms."
    headline = view(stored_run.read(write_run(tmp_path / "one", made[:1], samples=False)))["headline"]
    assert headline == ["Goodput is 90 Mbit/s, 94.1% of what the path can carry.", "What limited it: unknown."]


RTT_OFF = {"findings": [{"check": "rtt", "verdict": "invalid", "text": "the RTT is off", "hint": "look"}]}
HELD = {"findings": [{"check": "window", "verdict": "suspect", "text": "held back", "hint": "look"}]}


@pytest.mark.parametrize(
    ("verdicts", "level", "text"),
    [
        ("v", "valid", "The trial is valid."),
        ("vs", "suspect", "1 of 2 trials is valid, 1 is suspect. The reason is window: held back."),
        ("vsii", "invalid", "1 of 4 trials is valid, 1 is suspect, 2 are invalid and left out. "
         "The most frequent reason is rtt: the RTT is off."),
        ("ii", "invalid", "All 2 trials are invalid. The reason is rtt: the RTT is off."),
    ],
)  # fmt: skip
def test_the_verdict_counts_trials_and_gives_the_most_frequent_reason(
    tmp_path: Path, verdicts: str, level: str, text: str
) -> None:
    kinds: dict[str, tuple[str, dict[str, object]]] = {
        "v": ("valid", {}), "s": ("suspect", dict(HELD)), "i": ("invalid", dict(RTT_OFF))
    }  # fmt: skip
    made = [
        Made({"path.rtt": "10 ms"}, [1e7], n, kinds[each][0], data=kinds[each][1]) for n, each in enumerate(verdicts)
    ]
    shown = view(stored_run.read(write_run(tmp_path / "run", made)))
    assert shown["verdict"] == {"level": level, "text": text}


def test_a_run_that_lacks_trials_is_unfinished_though_all_are_valid(run: Path) -> None:
    about = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**about, "trials": [*about["trials"], "later"]}))
    assert view(stored_run.read(run))["verdict"]["level"] == "unfinished"


def test_a_run_that_nothing_published_compares_with_says_the_true_reason(run: Path) -> None:
    """Throughput over two RTTs, but published RTTs are below the shorter, above the longer, or not printed."""
    reasons = {each["name"]: each["why"] for each in view(stored_run.read(run))["not_compared"]}
    assert "RTT 1, 340 ms; ours, 2 series: 10 to 40 ms (cloud-cubic-1-flow)" in reasons["google-cloud-emulated"]
    assert reasons["cloudcmp-2010"][0] == "RTT 50 ms; ours, 2 series: 10 to 40 ms (linux-window-limit)"
    assert reasons["physical-virtual-links-2015"][0].startswith(
        "no RTT is stated, so what is named is compared alone: "
    )
    of_rtts = ["cloudcmp-2010", "google-cloud-emulated", "rfc9438", "skyplane-2022"]
    assert [*reasons][: len(of_rtts)] == of_rtts, "those that another range of RTTs could be compared with"


def test_the_same_run_gives_the_same_file(run: Path) -> None:
    assert page(view(stored_run.read(run))) == page(view(stored_run.read(run)))


def test_invalid_trials_are_no_part_of_a_mean_but_have_their_reason(tmp_path: Path) -> None:
    finding = {"check": "rtt", "verdict": "invalid", "text": "the RTT is off", "hint": "look at the link"}
    bad = Made({"path.rtt": "10 ms"}, [9e7], 2, "invalid", data={"findings": [finding]})
    shown = view(stored_run.read(write_run(tmp_path / "run", [Made({"path.rtt": "10 ms"}, [1e7]), bad])))
    assert shown["series"][0]["points"][0]["mean"] == 1e7
    assert shown["series"][0]["left_out"] == 1
    assert shown["trials"][1]["findings"] == [["rtt", "invalid", "the RTT is off", "look at the link"]]


def test_a_run_without_a_usable_trial_says_so(tmp_path: Path) -> None:
    shown = view(stored_run.read(write_run(tmp_path / "run", [Made({"path.rtt": "10 ms"}, [1e7], 1, "invalid")])))
    assert "No trial has a goodput that can be used" in " ".join(shown["notes"])
    assert shown["series"][0]["points"] == []


def test_an_unfinished_sweep_says_what_is_missing_and_what_failed(run: Path) -> None:
    about = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**about, "trials": [*about["trials"], "later", "broken"]}))
    (run / "failed/broken").mkdir(parents=True)
    (run / "failed/broken/error.txt").write_text("no such kernel\n")
    shown = view(stored_run.read(run))
    assert "2 of 10 trials are missing" in " ".join(shown["notes"])
    assert shown["run"]["failed"] == [["broken", "no such kernel"]]


def test_a_run_of_which_nothing_is_done_has_a_page_too(tmp_path: Path) -> None:
    Store(tmp_path).create("waiting", {}, ["a", "b"])
    assert "No trial has finished yet" in " ".join(view(stored_run.read(tmp_path))["notes"])


@pytest.mark.parametrize("file", ["run.json", "result.json"])
def test_results_of_another_schema_version_are_refused(file: str, run: Path) -> None:
    path = run / file if file == "run.json" else next(run.glob("trials/*")) / file
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 99}))
    with pytest.raises(UserError, match="schema version 99; allowed: 1"):
        stored_run.read(run)


def test_a_specification_of_another_version_is_left_out_and_said(run: Path) -> None:
    path = next(run.glob("trials/*")) / "trial.json"
    settings = json.loads(path.read_text())
    settings["topology"]["nodes"]["a"]["type"] = "teleporter"
    path.write_text(json.dumps(settings))
    shown = view(stored_run.read(run))
    assert "another version wrote are left out: 1" in " ".join(shown["notes"])
    assert shown["networks"][0]["trials"] == 7


def test_a_damaged_table_of_a_trial_is_named_with_what_to_type(run: Path) -> None:
    path = next(run.glob("trials/*")) / "samples.parquet"
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(UserError, match=r"samples.parquet is damaged.*rm -r"):
        view(stored_run.read(run))


def test_thinned_samples_are_real_ones_with_every_extreme() -> None:
    generator = np.random.default_rng(3)
    columns = [generator.normal(size=1000).cumsum(), generator.uniform(size=1000)]
    columns[1][200:260] = np.nan
    rows = kept(columns, 100)
    assert len(rows) <= 110
    assert {0, 999} <= {*rows}
    assert all(a < b for a, b in pairwise(rows))
    for column in columns:
        assert np.nanmin(column) in column[rows]
        assert np.nanmax(column) in column[rows]
    assert [*kept(columns, 1000)] == [*range(1000)]


def test_a_trace_says_how_many_samples_it_keeps_and_counts_every_drop_and_retransmission(run: Path) -> None:
    found = stored_run.read(run)
    result = found.results[-1]
    signals = inside(found.folder(result.id), result)
    for share in (1.0, 0.3):
        told = trace(signals, share, least=10)
        assert told["samples"] == 400
        assert (told["kept"] == 400) == (share == 1.0)
        assert [each["name"] for each in told["flows"]] == ["flow 1", "flow 2"]
        assert all(sum(each["r"]) == signals.flows[0].retransmits[-1] for each in told["flows"])
        assert all(sum(count for _, count in each["drops"]) == 9 for each in told["queues"])
        assert (told["signalled"], told["marked"]) == (0, 0)


def test_a_trace_tells_drops_that_signal_congestion_and_marks_apart(run: Path) -> None:
    found = stored_run.read(run)
    folder = found.folder(found.results[-1].id)
    table = pq.read_table(folder / "queues.parquet").to_pylist()
    for row in table:
        mine = row["way"] == "forward"
        row["aqm_drops"], row["marks"] = (row["drops"] - 2, 5 * row["drops"]) if mine else (None, None)
    pq.write_table(pa.Table.from_pylist(table), folder / "queues.parquet")
    told = trace(inside(folder, found.results[-1]))
    assert (told["signalled"], told["marked"]) == (7, 45)


def test_goodput_of_a_flow_is_what_was_acknowledged(run: Path) -> None:
    found = stored_run.read(run)
    flow = inside(found.folder(found.results[0].id), found.results[0]).flows[0]
    assert flow.goodput_bps[5:] == pytest.approx(4e7, rel=1e-6)
    assert flow.cwnd_bytes[0] == 14480
    assert math.isnan(flow.goodput_bps[0])


def test_the_script_of_each_trial_is_in_the_page(run: Path) -> None:
    homes = [run / "trials" / id for id in json.loads((run / "run.json").read_text())["trials"]]
    for number, home in enumerate(homes):
        (home / "plan.sh").write_text(f"#!/bin/sh -e\nip netns add tb-{number}\n")
    scripts = unpacked(view(stored_run.read(run))["scripts"])
    told = ["\n".join(scripts["lines"][line] for line in plan) for plan in scripts["plans"]]
    assert told == [f"#!/bin/sh -e\nip netns add tb-{number}" for number in range(len(homes))]


def test_nothing_of_a_run_ends_the_element_that_holds_it(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><!-- & \u2028"
    made = [Made({"path.rtt": "10 ms", "note": evil}, [1e7])]
    shown = view(
        stored_run.read(write_run(tmp_path / "run", [replace(each, params={"path.rtt": "10 ms"}) for each in made]))
    )
    shown["run"]["name"] = evil
    text = page(shown)
    assert "alert(1)</script>" not in text
    assert json.loads(data(shown))["run"]["name"] == harmless(evil)
    assert "default-src &#x27;none&#x27;" in text


def test_a_number_that_json_does_not_have_is_never_written() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        data({"run": {"name": "x"}, "value": math.nan})


def test_links_tell_rates_round_trips_by_direction_loss_and_buffer() -> None:
    link = make_trial(
        {"rtt": None, "delay": {"forward": "4 ms", "backward": "6 ms"}, "loss": "1 in 500"}
    ).topology.links[0]
    told = {fact.name: fact.text for fact in facts([link])}
    assert told == {
        "rate": "100 Mbit/s",
        "RTT": "10 ms",
        "one way →": "4 ms",
        "one way ←": "6 ms",
        "loss": "1 in 500 of data",
        "buffer": "1 bdp",
    }


def test_a_fact_that_varies_lists_its_values_and_of_many_the_ends() -> None:
    links = [make_trial({"rtt": f"{n} ms"}).topology.links[0] for n in (1, 2, 3, 4, 5)]
    told = {fact.name: fact.text for fact in facts(links)}
    assert told["RTT"] == "1 ms … 5 ms (5 values)"
    assert {fact.name: fact.text for fact in facts(links[:2])}["RTT"] == "1 ms | 2 ms"


def test_a_chain_is_drawn_as_a_line_from_left_to_right_and_the_same_every_time() -> None:
    edges = [(0, 1, 1.0), (1, 2, 2.0), (2, 3, 1.0)]
    found = place(4, edges, 0, 3)
    assert found[:, 0] == pytest.approx([0, 1, 3, 4], abs=1e-3)
    assert found[:, 1] == pytest.approx([0, 0, 0, 0])
    assert (place(4, edges, 0, 3) == found).all()
    assert place(4, edges, 3, 0)[0, 0] > place(4, edges, 3, 0)[3, 0]


def test_no_two_nodes_of_a_star_or_of_two_parts_are_in_one_place() -> None:
    for edges in ([(0, n, 1.0) for n in range(1, 9)], [(0, 1, 1.0), (2, 3, 1.0)]):
        count = 1 + max(max(a, b) for a, b, _ in edges)
        found = place(count, edges)
        apart = np.linalg.norm(found[:, None] - found[None], axis=2)[~np.eye(count, dtype=bool)]
        assert apart.min() > 0.3


def test_a_controller_is_joined_to_its_switches_and_an_unknown_type_is_drawn(run: Path) -> None:
    found = stored_run.read(run)
    settings = json.loads(json.dumps(found.settings[found.results[0].id]))
    trial = found.trials[found.results[0].id]
    types = {"a": "host", "b": "host", "s1": "ovs", "s2": "ovs", "c0": "controller", "x": "teleporter"}
    nodes = [replace(trial.topology.node("a"), name=name, type=type) for name, type in types.items()]
    written = {node.name: {"type": node.type} for node in nodes}
    written["s1"] |= {"control": {"rtt": "10 ms"}}
    settings["topology"]["nodes"] = written
    topology = replace(trial.topology, nodes=tuple(nodes))
    one = replace(
        found.only(found.results[:1]),
        trials={trial.id: replace(trial, topology=topology)},
        settings={trial.id: settings},
    )
    drawing = drawings(one)[0]
    assert [(each.controller, each.switch, each.about) for each in drawing.controls] == [
        ("c0", "s1", "rtt 10 ms"),
        ("c0", "s2", ""),
    ]
    assert {"teleporter", "controller"} <= {spot.type for spot in drawing.spots}


def test_the_command_writes_the_file_and_says_where(run: Path) -> None:
    assert exit_code("report", run) == 0
    assert (run / "report.html").read_text().startswith("<!doctype html>")


def test_a_place_that_cannot_be_written_is_said(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said_by(capsys, "report", run, "-o", tmp_path / "none/x.html")
    assert code == 2
    assert "cannot be written: No such file or directory; allowed: -o" in err


@pytest.mark.parametrize("words", [["--dry-run", "quickstart"], ["--repeat", "trial"]])
def test_live_is_refused_where_nothing_goes_on(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said_by(capsys, "run", "--live", *words)
    assert code == 2
    assert "--live" in err


def test_an_interrupted_run_keeps_its_report_and_the_interruption_is_what_is_told(run: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Live(Store(run), 2):
        raise KeyboardInterrupt
    assert (run / "report.html").exists()
    damaged = next(run.glob("trials/*")) / "samples.parquet"
    damaged.write_bytes(b"PAR1 no more")
    with pytest.raises(KeyboardInterrupt), Live(Store(run), 2):
        raise KeyboardInterrupt
    with pytest.raises(UserError, match=r"cannot be kept: .*samples.parquet is damaged"), Live(Store(run), 2):
        pass


def test_a_live_report_follows_the_run_on_this_computer_alone_and_is_kept(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", TWO[:1])
    about = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**about, "trials": [TWO[0].id, TWO[1].id]}))
    with Live(Store(folder), 2) as live:
        assert live.url.startswith("http://127.0.0.1:")

        def told(path: str) -> dict[str, object]:
            return json.loads(urlopen(live.url + path).read())  # type: ignore[no-any-return]

        assert "connect-src &#x27;self&#x27;" in urlopen(live.url).read().decode()
        assert len(told("data.json")["trials"]) == 1  # type: ignore[arg-type]
        write_run(tmp_path / "other", TWO[1:2])
        (tmp_path / "other/trials" / TWO[1].id).rename(folder / "trials" / TWO[1].id)
        live.finished(make_trial(), trial_result(TWO[1]))
        assert told("progress")["line"] == "1 of 2 trials ended: 1 valid"
        assert len(told("data.json")["trials"]) == 2  # type: ignore[arg-type]
        for path, host in (("", "evil.example"), ("data.json", "evil.example"), ("etc/passwd", None)):
            with pytest.raises(HTTPError) as refused:
                urlopen(Request(live.url + path, headers={"Host": host} if host else {}))
            assert refused.value.code == (403 if host else 404)
        live._asked_at = -100.0
    assert TWO[1].id in (folder / "report.html").read_text()
    with pytest.raises(OSError, match="refused"):
        urlopen(live.url)


def test_trial_settings_of_stored_runs_can_be_read(run: Path) -> None:
    assert stored_run.read(run).settings[TWO[0].id] == trial_settings(TWO[0])


def test_the_run_that_the_benchmark_makes_has_a_report(tmp_path: Path) -> None:
    make_run(tmp_path / "run", 3)
    shown = view(stored_run.read(tmp_path / "run"))
    assert shown["verdict"] == {"level": "valid", "text": "All 3 trials are valid."}
    assert len(shown["inside"]) == 3


def test_the_charting_library_is_the_one_that_is_said_with_its_licence() -> None:
    folder = ASSETS / "vendor"
    told = (folder / "README.md").read_text()
    for name in VENDORED:
        assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() in told
    assert all("Redistribution and use" in path.read_text() for path in folder.glob("LICENSE.*"))
    assert len([*folder.glob("LICENSE.*")]) == 2


@pytest.mark.parametrize("path", sorted(TOPOLOGIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_ready_topology_is_drawn_with_no_node_upon_another(path: Path, run: Path) -> None:
    topology = load_topology(path)
    found = stored_run.read(run)
    trial = next(iter(found.trials.values()))
    ends = [node.name for node in topology.nodes if not node.forwards and topology.links_of(node.name)]
    trial = replace(trial, topology=topology, workload=replace(trial.workload, source=ends[0], destination=ends[-1]))
    one = replace(found, trials={trial.id: trial}, settings={trial.id: {"topology": {"nodes": {}}}})
    (drawing,) = drawings(one)
    assert [spot.name for spot in drawing.spots] == [node.name for node in topology.nodes]
    assert [line.name for line in drawing.lines] == [link.name for link in topology.links]
    places = np.array([(spot.x, spot.y) for spot in drawing.spots])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)[~np.eye(len(places), dtype=bool)]
    assert apart.min() > 0.3
    assert drawing.spot(ends[0]).x <= drawing.spot(ends[-1]).x
