"""The page of a trial's ACKs: what is in it, what refuses it, and that a browser draws it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparing import said_by
from patience import PATIENCE_S
from storedruns import Made, write_run

from testbed.error import UserError
from testbed.report import ack_page
from testbed.report.ack_page import Side, page
from testbed.trial import column

CHROMIUM = Path("/usr/bin/chromium")
ENDS = {"netns": "tb-a", "source": "10.0.0.1", "destination": "10.0.0.2", "destination_port": 5000}


def ack_row(number: int, flow: int, congestion: str) -> dict[str, Any]:
    whole = {name: 0 for name, kind in column.ACK if kind == column.WHOLE}
    real = {name: None for name, kind in column.ACK if kind == column.REAL}
    about = {**ENDS, "time_s": number / 100, "flow": flow, "source_port": 40000 + flow, "congestion": congestion}
    return {**whole, **real, **about, "srtt_s": 0.01, "snd_cwnd": 10 + number % 40, "snd_ssthresh": 30, "in_flight": 9}


def write_tables(folder: Path, rows: int = 300, flows: int = 1, congestion: str = "cubic") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    acks = [ack_row(number, flow, congestion) for number in range(rows) for flow in range(1, flows + 1)]
    pq.write_table(pa.Table.from_pylist(acks, column.ACKS), folder / "acks.parquet")
    first = {**ENDS, "flow": 1, "source_port": 40001, "congestion": congestion}
    events = [
        {**first, "time_s": 0.5, "event": "retransmit", "value": 2},
        {**first, "time_s": 0.5, "event": "state", "name": "Recovery", "value": 3},
        {**first, "time_s": 1.0, "event": "number", "name": "phase", "value": 2},
    ]
    pq.write_table(pa.Table.from_pylist(events, column.EVENTS), folder / "events.parquet")
    return folder


def shown(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_two_trials_are_on_one_axis_with_their_events(tmp_path: Path) -> None:
    sides = [Side(name, write_tables(tmp_path / name)) for name in ("base", "candidate")]
    view = shown(page("t", sides))
    assert {row["series"] for row in view["acks"]} == {f"{each.label}: cubic 40001 → 5000" for each in sides}
    assert len(view["acks"]) == 600
    assert [row["event"] for row in view["events"]] == ["retransmit", "state"] * 2
    numbers = [(row["t"], row["name"], row["value"]) for row in view["numbers"]]
    assert numbers == [(1.0, "phase", 2), (2.99, "phase", 2)] * 2
    assert view["notes"] == []


def test_a_part_of_the_time_has_all_acks_and_too_many_are_thinned_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = Side("one", write_tables(tmp_path / "one", flows=2))
    monkeypatch.setattr(ack_page, "POINTS_MOST", 100)
    view = shown(page("t", [side]))
    assert len(view["acks"]) == 2 * math.ceil(300 / 6)
    assert "There are 600 ACKs, and the page has one of 6" in view["notes"][0]
    part = shown(page("t", [side], (1.0, 1.4)))
    assert len(part["acks"]) == 82
    assert part["notes"] == []
    with pytest.raises(UserError, match="no ACK came in that time"):
        page("t", [side], (70.0, 71.0))


def test_connections_beyond_those_shown_are_told(tmp_path: Path) -> None:
    view = shown(page("t", [Side("one", write_tables(tmp_path / "one", rows=20, flows=11))]))
    assert len({row["series"] for row in view["acks"]}) == ack_page.SERIES_MOST
    assert view["notes"] == ["3 connections with fewer ACKs are left out."]


def test_a_trial_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no records of ACKs; allowed: .*samples=acks"):
        page("t", [Side("one", tmp_path)])


Report = Callable[..., tuple[int, str]]


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Report:
    def run(*words: str | Path) -> tuple[int, str]:
        code, out, err = said_by(capsys, "report", *words)
        return code, " ".join((out + err).split())

    return run


def run_with_acks(folder: Path) -> Path:
    run = write_run(folder, [Made({"flows": flows}, [1e6]) for flows in ("1", "2")])
    for home in run.glob("trials/*"):
        write_tables(home)
    return run


def test_the_command_writes_the_page_beside_another_run(tmp_path: Path, report: Report) -> None:
    one, other = (run_with_acks(tmp_path / name) for name in ("one", "other"))
    code, out = report(one, "--acks", "flows=1", "--beside", other)
    assert (code, out.endswith("acks.html")) == (0, True)
    labels = {row["series"].split(":")[0] for row in shown((one / "acks.html").read_text())["acks"]}
    assert labels == {"one", "other"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--between", "1,2"], "--beside and --between are for --acks"),
        (["--acks", "flows=1", "--between", "2,1"], "no part of the time"),
        (["--acks", "flows=1", "--between", "x"], "no part of the time"),
        (["--acks", "flows=7"], "no trial is"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], why: str, tmp_path: Path, report: Report) -> None:
    code, out = report(run_with_acks(tmp_path / "one"), *words)
    assert code == 2
    assert why in out


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium: apt-get install chromium")
def test_a_browser_draws_it_and_shows_the_part_that_is_chosen(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    sides = [Side(name, write_tables(tmp_path / name, congestion=name)) for name in ("base", "candidate")]
    file = tmp_path / "acks.html"
    file.write_text(page("t", sides))
    errors: list[str] = []
    with sync_playwright() as playwright:
        patience_ms = 1000 * PATIENCE_S
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=patience_ms)
        tab = chromium.new_page(viewport={"width": 1000, "height": 1200})
        tab.set_default_timeout(patience_ms)
        tab.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(file.as_uri())
        tab.wait_for_selector("body[data-ready]")
        whole = tab.locator("#acks svg").text_content() or ""
        assert "window, threshold" in whole
        assert "phase" in whole
        lines = "document.querySelectorAll('#acks svg .concat_1_group .mark-line path')"
        lengths = f"[...{lines}].map((each) => each.getAttribute('d').length)"
        before = sum(tab.evaluate(lengths))
        strip = tab.locator("#acks svg .concat_0_group").bounding_box()
        assert strip is not None
        tab.mouse.move(strip["x"] + 0.5 * strip["width"], strip["y"] + strip["height"] / 2)
        tab.mouse.down()
        tab.mouse.move(strip["x"] + 0.6 * strip["width"], strip["y"] + strip["height"] / 2, steps=5)
        tab.mouse.up()
        tab.evaluate("view.runAsync().then(() => null)")
        tab.screenshot(path=str(tmp_path / "acks.png"))
        assert 0 < sum(tab.evaluate(lengths)) < before / 4
        chromium.close()
    assert errors == []
