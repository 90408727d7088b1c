"""The report in a real browser: it opens from disk, asks nobody for anything, and does what one chooses.

Chromium is what `make test` installs; without it these tests are skipped.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_S
from rich.console import Console
from storedruns import Made, trial_result, write_run
from trials import make_trial

from testbed.commands.measure.run import carry_out
from testbed.model.expectation import Expectation
from testbed.report import live as live_module
from testbed.report import stored_run
from testbed.report.figure.style import log_ticks
from testbed.report.live import Live
from testbed.report.page import page
from testbed.report.view import view
from testbed.spec.load import load_scenario
from testbed.sweep import run_file
from testbed.sweep.store import Store

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium: apt-get install chromium"),
]

FLAGS = ["--no-sandbox", "--disable-background-networking"]
PHONE = {"width": 375, "height": 740}
WIDE = {"width": 1280, "height": 900}
DOUBT = {"findings": [{"check": "window", "verdict": "suspect", "text": "held back", "hint": "look at rwnd"}]}
SWEEP = [
    Made({"path.rtt": rtt, "congestion": congestion, "flows": str(flows), "window": window}, [rate / flows] * flows,
         seed, "suspect" if seed == 2 and rtt == "40 ms" else "valid", retransmits=0 if rtt == "10 ms" else 5,
         data=DOUBT if seed == 2 and rtt == "40 ms" else {})
    for rtt, rate in (("10 ms", 9e7), ("20 ms", 7e7), ("40 ms", 3e7))
    for congestion in ("cubic", "bbr")
    for flows in (1, 2)
    for window in ("4 KiB", "64 KiB")
    for seed in (1, 2)
]  # fmt: skip


SMALL = """
name: small
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 20 Mbit/s, rtt: 10 ms, buffer: 20 packets}}
workload: {tool: flow, from: a, to: b, duration: 1 s, flows: 2}
sweep: {path.rtt: [10 ms, 20 ms], congestion: [cubic, bbr]}
samples: {interval: 100 ms}
"""


@dataclass
class Opened:
    """A page, and what it said and asked for."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def state(self) -> str:
        return str(self.page.evaluate("location.hash"))

    def marks(self, figure: str) -> int:
        """How many marks of data a figure shows: lines, points, bars and cells."""
        found = self.page.locator(f"#{figure} .plot svg [role=graphics-symbol], #{figure} .plot svg .mark-line path")
        return int(found.count())

    def download(self, figure: str, kind: str) -> tuple[str, bytes]:
        with self.page.expect_download() as started:
            self.page.locator(f"#{figure} .tools button", has_text=kind).click()
        return started.value.suggested_filename, Path(started.value.path()).read_bytes()

    def settle(self) -> None:
        """Waits until what was chosen is drawn."""
        self.page.evaluate("update()")


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS, timeout=1000 * PATIENCE_S)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    run = write_run(folder / "run", SWEEP)
    for home in run.glob("trials/*"):
        (home / "plan.sh").write_text("#!/bin/sh -e\nip netns add tb-a\n")
    return write_page(folder / "report.html", view(stored_run.read(run)))


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Opens a file or an address; at the end there must have been no error and no request but for the page itself."""
    pages: list[Opened] = []

    def open_it(where: Path | str, state: str = "", size: dict[str, int] = WIDE, scheme: str = "light") -> Opened:
        context = browser.new_context(viewport=size, color_scheme=scheme, accept_downloads=True)
        tab = context.new_page()
        tab.set_default_timeout(1000 * PATIENCE_S)
        opened = Opened(tab)
        tab.on("console", lambda said: opened.errors.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: opened.errors.append(str(error)))
        tab.on("request", lambda asked: opened.requests.append(asked.url))
        address = where.as_uri() if isinstance(where, Path) else where
        tab.goto(address + state)
        tab.wait_for_selector("body[data-ready]")
        pages.append(opened)
        return opened

    yield open_it
    for opened in pages:
        opened.page.context.close()
        assert opened.errors == []


def write_page(path: Path, shown: dict[str, Any]) -> Path:
    path.write_text(page(shown))
    return path


def test_it_opens_from_disk_without_a_request_and_every_chart_has_marks(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    assert [url for url in opened.requests if not url.startswith(("data:", "blob:"))] == [report.as_uri()]
    titles = opened.page.locator("main h2").all_inner_texts()
    assert titles == [
        *("What came out", "Comparison with published results", "Trust", "Inside a trial", "Network", "Provenance")
    ]
    for figure in ("profile", "c-uc", "windows", "heat", "signals"):
        assert opened.marks(figure) > 1, figure
    assert opened.page.locator("#network-1 svg .node").count() == 2
    assert opened.page.locator("#network-1 svg .emulator").count() == 1
    assert "RTT 10 ms | 20 ms | 40 ms" in opened.page.locator("#network-1 svg").text_content()


def test_the_answer_is_on_the_first_screen(open_page: Open, report: Path) -> None:
    """The verdict, the headline in words, and the top of the figure, above all that is about trust."""
    opened = open_page(report)
    assert "40 of 48 trials are valid, 8 are suspect." in opened.page.locator("#verdict").inner_text()
    assert "The reason is window: held back." in opened.page.locator("#verdict").inner_text()
    assert "Goodput goes from 30 Mbit/s" in opened.page.locator("#headline").inner_text()
    for place in ("#verdict", "#headline", "#profile"):
        assert opened.page.locator(place).bounding_box()["y"] < WIDE["height"], place


def test_tables_have_a_column_for_each_parameter_that_varies(open_page: Open, tmp_path: Path) -> None:
    made = [
        Made({"path.rtt": rtt, "congestion": control, "window": "auto"}, [1e7], seed)
        for rtt in ("100 ms", "20 ms") for control in ("cubic", "bbr") for seed in (1, 2)
    ]  # fmt: skip
    run = stored_run.read(write_run(tmp_path / "run", made))
    opened = open_page(write_page(tmp_path / "report.html", view(run)))
    opened.page.locator("#trust summary", has_text="Asked and seen").click()
    table = opened.page.get_by_role("region", name="Asked against seen")
    table.locator("tbody tr").first.wait_for()
    assert table.locator("thead th").all_inner_texts()[:5] == ["rtt", "congestion", "seed", "verdict", "goodput"]
    assert "The same in all trials: window auto." in opened.page.locator("#trust").inner_text()
    assert "seed=" not in opened.page.locator("#trust").inner_text()
    table.locator("th button", has_text="rtt").first.click()
    firsts = [row.split("\t")[0] for row in table.locator("tbody tr").all_inner_texts()]
    assert firsts == ["100 ms"] * 4 + ["20 ms"] * 4, "in the order of the scenario"
    with opened.page.expect_download() as started:
        opened.page.locator("#trust button", has_text="CSV").last.click()
    rows = list(csv.DictReader(io.StringIO(Path(started.value.path()).read_text())))
    assert {row["trial"] for row in rows} == {each.id for each in made}
    assert {row["congestion"] for row in rows} == {"cubic", "bbr"}


def test_what_is_folded_is_printed(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    seen = opened.page.get_by_role("region", name="Asked against seen")
    assert seen.count() == 0
    rows = "[...document.querySelectorAll('figure')].map((each) => [each.id, each.querySelectorAll('tbody tr').length])"
    filled = opened.page.evaluate(f"() => {{ dispatchEvent(new Event('beforeprint')); return {rows}; }}")
    assert [name for name, count in filled if not count] == []  # a browser that prints waits for nothing
    assert seen.is_visible()
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not seen.is_visible()


def test_rules_that_do_not_hold_are_to_be_seen(open_page: Open, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", SWEEP)
    rules = (
        Expectation("<b>fills</b>", "goodput", "bit/s", least="20 Mbit/s"),
        Expectation("near", "goodput", "bit/s", least="900 Mbit/s", where={"path.rtt": ("10 ms",)}, message="Slow."),
        Expectation("half", "goodput", "bit/s", least="0.5", over={"path.rtt": ("20 ms",)}),
    )
    about = json.loads((run / "run.json").read_text()) | {"expect": run_file.rules_data(rules)}
    (run / "run.json").write_text(json.dumps(about))
    opened = open_page(write_page(tmp_path / "report.html", view(stored_run.read(run))))
    said = opened.page.locator("#trust").inner_text()
    assert "0 of 3 rules hold." in said
    assert "<b>fills</b>" in said
    assert "✗ not checked" in said
    assert "goodput over that where path.rtt is 20 ms" in said
    assert "and should be at least 900 Mbit/s, in the trial rtt=10ms," in said
    assert "and 15 more of 16; Slow." in said


def test_the_policy_of_the_page_forbids_it_every_connection(browser: Any, report: Path) -> None:
    tab = browser.new_page()
    tab.set_default_timeout(1000 * PATIENCE_S)
    tab.goto(report.as_uri())
    assert tab.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')") == "refused"
    assert tab.evaluate("document.securityPolicyViolations ?? true")
    tab.close()


def test_unticking_a_value_takes_its_series_away_and_a_link_shows_the_same(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    lines = opened.page.locator("#profile .plot .mark-line path")
    before = lines.count()
    opened.page.locator("fieldset[data-key=congestion] label", has_text="bbr").click()
    opened.settle()
    assert lines.count() == before // 2
    assert "bbr" not in opened.page.locator("#profile .plot").text_content()
    again = open_page(report, opened.state)
    assert again.page.locator("#profile .plot .mark-line path").count() == before // 2
    assert not again.page.locator("fieldset[data-key=congestion] label", has_text="bbr").locator("input").is_checked()


def test_every_series_can_be_taken_away_and_the_page_says_how_to_get_them_back(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    for value in ("cubic", "bbr"):
        opened.page.locator("fieldset[data-key=congestion] label", has_text=value).click()
        opened.settle()
    assert "select more values" in opened.page.locator("#profile .plot").text_content()


def test_series_are_compared_with_one_of_them(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    opened.page.locator("#profile select").select_option("ref0")
    opened.settle()
    rows = list(csv.DictReader(io.StringIO(opened.download("profile", "CSV")[1].decode())))
    means = [row for row in rows if row["what"] == "mean"]
    assert {float(row["value"]) for row in means} == {100.0}
    assert "y=ref0" in opened.state


def test_the_profile_zooms_by_fields_and_by_dragging_and_a_link_shows_the_same(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    opened.page.locator("#profile input[type=number]").nth(0).fill("15")
    opened.page.locator("#profile input[type=number]").nth(0).press("Enter")
    opened.settle()
    assert "zx=0.015%7E0.04" in opened.state
    assert "10" not in opened.page.locator("#profile .plot .role-axis-label").first.all_inner_texts()
    again = open_page(report, opened.state)
    assert again.page.locator("#profile input[type=number]").nth(0).input_value() == "15"
    again.page.locator("#profile button", has_text="all").click()
    again.settle()
    assert "zx" not in again.state
    box = again.page.locator("#profile .plot svg").bounding_box()
    again.page.mouse.move(box["x"] + 150, box["y"] + 150)
    again.page.mouse.down()
    again.page.mouse.move(box["x"] + 400, box["y"] + 160, steps=5)
    again.page.mouse.up()
    again.settle()
    assert "zx=" in again.state


def test_inside_a_trial_zooms_and_flows_can_be_hidden(open_page: Open, report: Path) -> None:
    trial = next(each for each in SWEEP if len(each.goodput_bps) == 2).id
    opened = open_page(report, f"#trial={trial}&zt=2~4")
    assert opened.page.locator("#signals select").input_value() == trial
    rows = list(csv.DictReader(io.StringIO(opened.download("signals", "CSV")[1].decode())))
    assert {row["name"] for row in rows if row["what"] == "flow"} == {"flow 1", "flow 2"}
    lines = opened.page.locator("#signals .plot .mark-line path")
    before = lines.count()
    opened.page.locator("#signals fieldset label", has_text="flow 2").click()
    opened.settle()
    assert lines.count() == before - 4
    assert "hide=1" in opened.state
    opened.page.locator("#signals button", has_text="next").click()
    opened.settle()
    assert "zt" not in opened.state
    assert opened.page.locator("#signals select").input_value() != trial


def test_drops_are_marked_on_every_panel(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    assert opened.page.locator("#signals .plot .mark-rule.role-mark").count() == 5
    assert "18 packets dropped" in opened.page.locator("#signals figcaption").text_content()


def test_theory_and_published_profiles_are_switched_on(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    before = opened.marks("profile")
    opened.page.locator("#profile label", has_text="theory: line rate").click()
    opened.settle()
    assert opened.marks("profile") > before
    opened.page.locator("#profile label", has_text="published profiles").click()
    opened.settle()
    assert "% of the capacity" in opened.page.locator("#profile .plot").text_content()
    assert "Diamonds: published" in opened.page.locator("#profile figcaption").text_content()


def test_the_heat_map_takes_any_two_axes(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    opened.page.locator("#heat select").nth(0).select_option("flows")
    opened.page.locator("#heat select").nth(1).select_option("congestion")
    opened.settle()
    rows = list(csv.DictReader(io.StringIO(opened.download("heat", "CSV")[1].decode())))
    assert {(row["flows"], row["congestion"]) for row in rows} == {(f, c) for f in "12" for c in ("cubic", "bbr")}
    assert {row["trials"] for row in rows} == {"12"}


def test_figures_are_saved_as_svg_png_and_csv(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    for figure in ("network-1", "profile", "signals"):
        name, svg = opened.download(figure, "SVG")
        assert name == f"{figure}.svg"
        assert svg.startswith(b"<svg")
        assert opened.download(figure, "PNG")[1].startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO(opened.download("profile", "CSV")[1].decode())))
    means = {row["value"] for row in rows if row["what"] == "mean" and row["rtt_ms"] == "10"}
    assert [round(float(each), 6) for each in means] == [90.0]
    assert len([row for row in rows if row["what"] == "trial"]) == len(SWEEP)
    assert {row["verdict"] for row in rows if row["what"] == "trial"} == {"valid", "suspect"}


def test_the_theme_follows_the_system_changes_at_a_click_and_stays_in_the_link(open_page: Open, report: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    dark, light = open_page(report, scheme="dark"), open_page(report)
    colours = [each.page.evaluate(background) for each in (dark, light)]
    assert colours[0] != colours[1]
    light.page.locator("#theme").click()
    light.settle()
    assert light.page.evaluate(background) == colours[0]
    assert open_page(report, light.state).page.evaluate(background) == colours[0]


def test_words_of_a_run_are_text_wherever_they_stand(open_page: Open, tmp_path: Path) -> None:
    evil = "<script>window.bad = 1</script><img src=x onerror='window.bad = 2'>"
    made = [Made({"path.rtt": "10 ms", "note": f"{evil}{n}"}, [1e7], n) for n in (1, 2)]
    finding = {"check": evil, "verdict": "suspect", "text": evil, "hint": evil}
    shown = view(stored_run.read(write_run(tmp_path / "run", [Made({"path.rtt": "10 ms"}, [1e7], n) for n in (1, 2)])))
    assert made[0].params["note"].startswith(evil)
    text = json.dumps(shown).replace('"a"', json.dumps(evil)).replace('"made"', json.dumps(evil))
    shown = json.loads(text)
    for number, trial in enumerate(shown["trials"]):
        trial |= {"id": f"{evil}{number}", "findings": [[*finding.values()]], "params": made[number].params}
    shown["series"][0] |= {"label": evil}
    shown["keys"] = [{"key": "note", "name": evil, "values": [each.params["note"] for each in made], "is_rtt": False,
                      "is_apart": True}]  # fmt: skip
    shown["notes"] = [evil]
    shown["networks"][0]["description"] = evil
    shown["inside"] = {int(number): packed for number, packed in shown["inside"].items()}
    opened = open_page(write_page(tmp_path / "report.html", shown))
    assert opened.page.evaluate("window.bad") is None
    assert opened.page.locator("main script, main img").count() == 0
    assert evil in opened.page.locator("#network-1 svg").text_content()
    assert opened.page.locator("h1").inner_text() == evil
    opened.page.locator("#trust button", has_text="script").first.click()
    assert evil in opened.page.locator("#script-title").inner_text()
    assert opened.page.evaluate("window.bad") is None


def test_the_script_of_a_trial_is_one_click_away(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    opened.page.locator("#trust button", has_text="script").first.click()
    assert "ip netns add tb-a" in opened.page.locator("#script pre").inner_text()
    opened.page.keyboard.press("Escape")
    assert not opened.page.locator("#script").is_visible()


def test_each_doubtful_trial_has_its_reason_and_its_hint(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    text = opened.page.locator("#trust").inner_text()
    assert "8 suspect" in text
    assert "held back" in text
    assert "look at rwnd" in text


def test_trials_without_goodput_show_what_else_was_measured(open_page: Open, tmp_path: Path) -> None:
    ping = {"ping": {"sent": 3, "received": 3, "rtt_mean_s": 0.0125, "first_rtts_s": [0.03, 0.01], "all_s": [0.1] * 9}}
    made = Made({"path.rtt": "10 ms"}, [], workload={"flows": 1}, data={"measured": ping})
    shown = view(stored_run.read(write_run(tmp_path / "run", [made], samples=False)))
    assert shown["trials"][0]["measured"] == {
        "ping.sent": 3,
        "ping.received": 3,
        "ping.rtt_mean_s": 0.0125,
        "ping.first_rtts_s.1": 0.03,
        "ping.first_rtts_s.2": 0.01,
    }
    opened = open_page(write_page(tmp_path / "report.html", shown))
    text = opened.page.locator("#findings").inner_text()
    assert "Other measurements" in text
    assert "0.0125" in text


def test_axes_of_signals_that_never_were_above_0_have_numbers(open_page: Open, report: Path) -> None:
    trial = SWEEP[0]
    opened = open_page(report, f"#trial={trial.id}")
    assert "NaN" not in opened.page.locator("#signals .plot").inner_html()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(open_page: Open, report: Path, scheme: str) -> None:
    opened = open_page(report, size=PHONE, scheme=scheme)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert opened.marks("profile") > 1


def test_it_can_be_used_by_keyboard_and_read_aloud(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    nameless = opened.page.evaluate(
        """[...document.querySelectorAll('button, input, select, a')].filter((node) =>
            !(node.getAttribute('aria-label') || node.textContent.trim() || node.labels?.[0]?.textContent.trim()))
            .map((node) => node.outerHTML)"""
    )
    assert nameless == []
    assert opened.page.evaluate("document.documentElement.lang") == "en"
    figures = "[...document.querySelectorAll('figure')].map((figure) => figure.getAttribute('aria-labelledby'))"
    assert all(opened.page.evaluate(figures))
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.textContent") == "Skip to the findings"
    opened.page.keyboard.press("Enter")
    assert "sec=findings" in opened.state
    opened.page.locator("#profile summary", has_text="Data as a table").focus()
    opened.page.keyboard.press("Enter")
    table = opened.page.locator("#profile details table")
    table.locator("tbody tr").first.wait_for()
    assert table.locator("tbody tr").count() > 10
    opened.page.locator("#trust summary", has_text="Asked and seen").press("Enter")
    opened.page.locator("#trust th button", has_text="goodput").press("Enter")
    assert opened.page.locator("#trust th[aria-sort=ascending]").count() == 1


def test_it_prints_without_controls(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    opened.page.emulate_media(media="print")
    assert not opened.page.locator("nav").is_visible()
    assert not opened.page.locator("#profile .tools").is_visible()
    assert opened.page.locator("#profile .plot svg").is_visible()
    assert opened.page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("trials", "words"),
    [
        ([], "No trial has finished yet"),
        ([Made({"path.rtt": "10 ms"}, [1e7], 1, "invalid")], "No trial has a goodput that can be used"),
        ([Made({"path.rtt": "10 ms"}, [1e7])], "The trial is valid."),
        ([Made({"path.rtt": "10 ms"}, [], workload={"flows": 1})], "No trial has a goodput that can be used"),
    ],
)
def test_little_or_nothing_to_show_makes_a_page_that_says_so(
    open_page: Open, tmp_path: Path, trials: list[Made], words: str
) -> None:
    (tmp_path / "run").mkdir()
    shown = view(stored_run.read(write_run(tmp_path / "run", trials, samples=False)))
    opened = open_page(write_page(tmp_path / "report.html", shown))
    assert words in opened.page.locator("body").inner_text()


def test_a_live_page_takes_in_new_trials_without_losing_the_view(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "LOOKING_S", PATIENCE_S)  # a busy browser asks late
    monkeypatch.setattr(live_module, "GOODBYE_S", PATIENCE_S)
    folder = write_run(tmp_path / "run", SWEEP[:3])
    more = SWEEP[3:5]
    about = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**about, "trials": [each.id for each in SWEEP[:5]]}))
    write_run(tmp_path / "other", more)
    with Live(Store(folder), 2) as live:
        opened = open_page(live.url, "#theme=dark&ys=lin")
        opened.page.locator("h1 + p", has_text="3 of 5 trials").wait_for()
        opened.page.locator("summary", has_text="Metrics of each trial").click()
        opened.page.get_by_role("region", name="Metrics").wait_for()  # before the page is made anew
        for each in more:
            (tmp_path / "other/trials" / each.id).rename(folder / "trials" / each.id)
            live.finished(make_trial(), trial_result(each))
        opened.page.locator("h1 + p", has_text="All 5 trials are valid.").wait_for()
        trials = opened.page.get_by_role("region", name="Metrics").locator("tbody tr")
        trials.nth(4).wait_for()
        assert trials.count() == 5
        assert "ys=lin" in opened.state
        assert opened.page.evaluate("document.documentElement.dataset.theme") == "dark"
        # What a page shows may be newer than what it was told before it asked for that.
        opened.page.locator("#live", has_text="2 of 2 trials ended: 2 valid").wait_for()
    opened.page.locator("#live", has_text="The run has ended").wait_for()
    here = re.compile(re.escape(live.url) + r"(progress|data\.json)?(#.*)?$")
    assert all(here.match(url) or url.startswith("data:") for url in opened.requests)


def test_alike_remarks_are_one_row(open_page: Open, tmp_path: Path) -> None:
    """Twelve trials with three flows and two directions each: 60 remarks, of two kinds, and one of its own."""
    notes = [
        *({"check": "window", "verdict": "valid", "text": f"flow {n} waited for {n}5% of the time", "hint": "look"}
          for n in (1, 2, 3)),
        *({"check": "jitter", "verdict": "valid", "text": f"path {way}: packets wait", "hint": "reorder"}
          for way in ("forward", "backward")),
    ]  # fmt: skip
    own = {"check": "burst", "verdict": "valid", "text": "path forward: 12500 bytes", "hint": "plain"}
    made = [Made({"path.rtt": f"{n} ms"}, [1e7], data={"findings": [*notes, *([own] if n == 3 else [])]})
            for n in range(1, 13)]  # fmt: skip
    run = stored_run.read(write_run(tmp_path / "run", made))
    opened = open_page(write_page(tmp_path / "report.html", view(run)))
    opened.page.locator("summary", has_text="3 remarks of the gate that do not change a verdict, in 12 trials").click()
    table = opened.page.get_by_role("region", name="Remarks of the gate").locator("tbody tr")
    table.first.wait_for()
    rows = table.all_inner_texts()
    cells = [row.split("\t")[:3] for row in rows]
    assert cells == [
        ["window", "12 of 12", "flows 1–3 waited for 15–35% of the time"],
        ["jitter", "12 of 12", "path forward and backward: packets wait"],
        ["burst", "3 ms", "path forward: 12500 bytes"],
    ]


def test_a_profile_of_one_rtt_is_bars_from_0(open_page: Open, tmp_path: Path) -> None:
    made = [
        Made({"path.rtt": "10 ms", "congestion": control}, [rate], seed)
        for control, rate in (("cubic", 9e7), ("bbr", 8e7))
        for seed in (1, 2)
    ]
    run = stored_run.read(write_run(tmp_path / "run", made))
    opened = open_page(write_page(tmp_path / "report.html", view(run)))
    bars = opened.page.locator("#profile .plot svg .mark-rect path")
    assert bars.count() == 2
    texts = opened.page.locator("#profile .plot svg .role-axis-label text").all_text_contents()
    assert {"0", "20", "80"} <= set(texts)
    assert not [text for text in texts if "e" in text and text[0].isdigit()]
    assert {row["series"] for row in csv.DictReader(io.StringIO(opened.download("profile", "CSV")[1].decode()))} == {
        "cubic",
        "bbr",
    }


def test_ticks_of_logarithmic_axes_are_those_of_figures_in_files(open_page: Open, report: Path) -> None:
    opened = open_page(report)
    ranges = [[first * 10**power, first * 10**power * ratio]
              for power in range(-3, 7) for first in (1, 8.9) for ratio in (1.05, 1.3, 3, 20, 5000)]  # fmt: skip
    found = opened.page.evaluate("(ranges) => ranges.map(([low, high]) => logTicks(low, high))", ranges)
    assert found == [pytest.approx(log_ticks(low, high)) for low, high in ranges]
    opened = open_page(report, "#ys=log")
    texts = opened.page.locator("#profile .plot svg .role-axis-label text").all_text_contents()
    assert texts
    assert not [text for text in texts if "e" in text]


def test_flows_that_share_a_path_have_their_part_and_their_control(open_page: Open, tmp_path: Path) -> None:
    made = [Made({"path.rtt": rtt}, [9e6, 1e6], 1) for rtt in ("10 ms", "20 ms")]
    folder = write_run(tmp_path / "run", made)
    for file in folder.glob("trials/*/result.json"):
        data = json.loads(file.read_text())
        for flow, control in zip(data["flows"], ("bbr", "cubic"), strict=True):
            flow["congestion"] = control
        file.write_text(json.dumps(data))
    opened = open_page(write_page(tmp_path / "report.html", view(stored_run.read(folder))))
    table = opened.page.get_by_role("region", name="Fairness")
    assert "flow 1 (bbr)" in table.inner_text()
    row = table.locator("tbody tr").first.inner_text().split()
    assert row == ["10", "ms", "2", "0.61", "90", "%", "10", "%"]


@pytest.mark.lab
def test_the_report_of_a_real_run_has_marks_in_every_chart(open_page: Open, tmp_path: Path) -> None:
    scenario = tmp_path / "small.yaml"
    scenario.write_text(SMALL)
    console = Console(file=io.StringIO())
    carry_out(load_scenario(scenario, []), Store(tmp_path / "run"), {}, 2, console, live=True)
    opened = open_page(tmp_path / "run" / "report.html")
    for figure in ("profile", "heat", "signals"):
        assert opened.marks(figure) > 1, figure
    limits = opened.page.get_by_role("region", name="What limited each cell")
    assert limits.locator(".limit").first.get_attribute("title"), "why"
    assert "unknown" not in limits.inner_text()
    opened.page.locator("#trust summary", has_text="Asked and seen").click()
    opened.page.locator("#trust button", has_text="script").first.click()
    assert "#!/bin/sh" in opened.page.locator("#script pre").inner_text()
