"""The evidence page of a change of congestion control: sections of RFC 9743, and what was not tested."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from storedruns import write_run
from test_compare_lost import steady

from testbed.analysis.expectation.verdict import Verdict
from testbed.commands import question
from testbed.commands.candidate.contender import Contender, Pair
from testbed.commands.candidate.verdict import _rules, write_evidence
from testbed.compare.run import TOLERANCE, RunComparison
from testbed.kernel.image.cache import KernelImage
from testbed.library import SCENARIOS
from testbed.model.expectation import Expectation
from testbed.model.run_setting import LAB
from testbed.report import evidence
from testbed.report.evidence import GROUPS, Evidence

SECTIONS = [each for _, sections in GROUPS for each in sections]
IMAGE = KernelImage("mine", Path("/nowhere/linux"), "7.3.4", "", False, "", "key")
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


def test_a_scenario_has_its_rules_with_what_each_side_shows(tmp_path: Path) -> None:
    rule = Expectation("fills", "goodput", "bit/s", least="9 Mbit/s")
    both = (Verdict(rule, "passed", 3, 9.4e6, 9.5e6), Verdict(rule, "failed", 3, 7e6, 7e6, "goodput is 7 Mbit/s"))
    found = compared(tmp_path, "bulk")
    text = evidence.page(Evidence(found, "x: y", (), (), {}, OWN, {"bulk": (both,)}))
    assert "<td>fills</td><td>goodput at least 9 Mbit/s</td>" in text
    assert '9.4 Mbit/s – 9.5 Mbit/s <span class="badge valid">passed' in text
    assert '7 Mbit/s <span class="badge invalid">failed' in text
    pair = Pair(*(Contender(name, name, LAB, IMAGE) for name in ("cubic", "foo")))
    (said,) = _rules(pair, {"bulk": (both,)})
    assert (
        said
        == "rules of expect: 0 of 1 hold, 1 of cubic; not any more: bulk: fills (9.4 Mbit/s – 9.5 Mbit/s → 7 Mbit/s)"
    )
    assert _rules(pair, {}) == []


def test_the_page_says_by_content_which_object_file_decided_a_control(tmp_path: Path) -> None:
    """A control in BPF is not under test here; a scenario of the author may have one that a rule divides by."""
    found = compared(tmp_path, "bulk")
    pair = Pair(*(Contender(name, name, LAB, IMAGE) for name in ("cubic", "foo")))
    home = tmp_path / "candidate"
    write_evidence(pair, found, (), home, OWN, {})
    assert "BPF" not in (home / "evidence.html").read_text()
    for file in (home / "bulk").glob("trials/*/result.json"):
        own = {"before": ["reno"], "loaded": ["reno", "bpf_mine"], "after": ["bpf_mine"], "sockets": ["bpf_mine"]}
        seen = {"name": "bpf_mine", "sha256": "ab" * 32, **own}
        file.write_text(json.dumps(json.loads(file.read_text()) | {"things": {"bpf": seen}}))
    write_evidence(pair, found, (), home, OWN, {})
    assert (home / "evidence.html").read_text().count(f"<li>control in BPF: bpf_mine, SHA-256 {'ab' * 32}</li>") == 1


def test_a_section_without_a_scenario_says_why() -> None:
    for each in SECTIONS:
        assert bool(each.scenarios) != bool(each.why), each.title
