"""The evidence page of a change of congestion control: sections of RFC 9743, and what was not tested."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from storedruns import write_run
from test_compare_lost import steady

from testbed.commands import question
from testbed.compare.run import TOLERANCE, RunComparison
from testbed.library import SCENARIOS
from testbed.report import evidence
from testbed.report.evidence import GROUPS, Evidence

SECTIONS = [each for _, sections in GROUPS for each in sections]
OWN = frozenset(path.stem for path in (SCENARIOS / "regression").glob("*.yaml"))


def compared(folder: Path, *names: str, scale: float = 1.0) -> RunComparison:
    for name in names:
        write_run(folder / "base" / name, steady())
        write_run(folder / "candidate" / name, steady(scale=scale))
    return question.answer(question.of_runs(folder / "base", folder / "candidate", TOLERANCE, None, ()))


def made(found: RunComparison, suite: frozenset[str] = OWN, sentence: str = "foo is worse than cubic: x") -> str:
    repeats = {
        (each.key.scenario, frozenset(each.key.params)): f"testbed run --repeat {each.key.scenario}"
        for each in found.cells
    }
    return evidence.page(Evidence(found, sentence, ("differs",), ("base: a kernel",), repeats, suite))


def verdicts(text: str) -> dict[str, str]:
    """The verdict of each section, by the overview."""
    return dict(re.findall(r'<td><a href="#[^"]*">([^<]*)</a></td><td><span class="badge \w+">([^<]*)</span>', text))


def test_each_scenario_of_the_suite_belongs_to_a_section_and_no_section_names_another() -> None:
    assert {name for each in SECTIONS for name in each.scenarios} == OWN


def test_a_section_is_as_bad_as_its_worst_scenario_and_what_did_not_run_is_not_tested(tmp_path: Path) -> None:
    write_run(tmp_path / "base" / "idle", steady())
    write_run(tmp_path / "candidate" / "idle", steady())
    text = made(compared(tmp_path, "bulk", scale=0.8))
    said = verdicts(text)
    assert [*said] == [each.title for each in SECTIONS]
    assert {title for title, verdict in said.items() if verdict == "worse"} == {
        "Paths with Tail-Drop Queues",
        "Wired Paths",
    }
    assert {title for title, verdict in said.items() if verdict == "same"} == {"Transient Events"}
    assert set(said.values()) == {"worse", "same", "not tested"}
    untested = text.partition("What was not tested")[2]
    assert all(f"<li>{title}" in untested for title, verdict in said.items() if verdict == "not tested")


def test_a_scenario_of_the_author_belongs_to_no_section_whatever_it_is_called(tmp_path: Path) -> None:
    text = made(compared(tmp_path, "bulk"), suite=frozenset())
    assert set(verdicts(text).values()) == {"not tested"}
    assert "Scenarios that belong to no section" in text


def test_there_is_a_table_once_and_a_command_for_each_cell(tmp_path: Path) -> None:
    text = made(compared(tmp_path, "bulk"))
    assert text.count('id="scenario-bulk"') == 1
    assert text.count("<code>testbed run --repeat bulk</code>") == 2


@pytest.mark.parametrize("bad", ["<script>alert(1)</script>", "\x1b[2J", '"><img src=x>'])
def test_what_a_file_is_called_is_text_on_the_page(tmp_path: Path, bad: str) -> None:
    text = made(compared(tmp_path, "bulk"), sentence=f"{bad} is worse: x")
    tags: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.add(tag)

    Reader().feed(text)
    assert not tags & {"script", "img"}
    assert "\x1b" not in text
    assert "default-src &#x27;none&#x27;" in text
