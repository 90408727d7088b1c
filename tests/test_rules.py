"""What the literature says of controls, the table of docs/cc.md, and the command that makes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from shipped import ROOT

from benchmarks.rules import literature, rows, table
from testbed.analysis.expectation.verdict import Verdict
from testbed.commands.candidate.suite import FIRST, GROUPS, named, ours
from testbed.model.expectation import Expectation
from testbed.spec.load import load_scenario

PAGE = (ROOT / "docs" / "cc.md").read_text()
RULE = Expectation("fills", "goodput", "bit/s", least="9 Mbit/s")
FILES = ours(named([*GROUPS]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_scenario_has_rules_and_the_literature_is_about_them(path: Path) -> None:
    names = {each.name for each in load_scenario(path).expect}
    assert names
    assert {rule for _, rule in literature(path)} <= names
    assert {control for control, _ in literature(path)} <= {"bbr", "cubic", "reno"}


def test_what_is_cited_is_found_over_the_end_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("# What it is. By the\n# literature cubic and reno do not meet fills: (a\n# book).\nname: x\n")
    assert literature(path) == {("cubic", "fills"), ("reno", "fills")}


def test_a_rule_that_does_not_hold_is_bold_and_what_the_literature_says_has_a_star(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("# By the literature foo does not meet fills: a book.\nname: x\n")
    found = {
        "cubic": [Verdict(RULE, "passed", 3, 9.4e6, 9.5e6)],
        "foo": [Verdict(RULE, "failed", 3, 7e6, 8e6, "less")],
        "bar": [Verdict(RULE, "not checked", seen="a trial is missing")],
    }
    made = rows(path, found)
    assert made == [
        ("`x`", "fills", "goodput at least 9 Mbit/s", "9.4 Mbit/s – 9.5 Mbit/s", "**7 Mbit/s – 8 Mbit/s**\\*",
         "not checked")
    ]  # fmt: skip
    assert table(("scenario", "rule", "bound", *found), made).splitlines()[1] == "| --- | --- | --- | --- | --- | --- |"


def test_the_page_names_every_scenario_and_those_that_run_by_themselves() -> None:
    suite = PAGE.partition("\n## The suite\n")[2].partition("\nBold are")[0]
    by_group = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \|$", suite, re.MULTILINE))
    assert [*by_group] == [*GROUPS]
    for group, names in GROUPS.items():
        assert set(re.findall(r"(?:^|; )(?:\*\*)?`([a-z0-9-]+)`", by_group[group])) == set(names)
    assert set(re.findall(r"\*\*`([a-z0-9-]+)`", suite)) == set(FIRST)


def test_the_page_has_a_row_for_every_rule_with_its_bound() -> None:
    told = re.findall(r"^\| `([a-z0-9-]+)` \| ([a-z0-9-]+) \| ([^|]+) \|", PAGE, re.MULTILINE)
    asked = [
        (path.stem, rule.name, f"{rule.what} {rule.wanted}") for path in FILES for rule in load_scenario(path).expect
    ]
    assert told == asked


def test_the_page_has_the_stars_of_the_literature() -> None:
    head, *lines = [
        line for line in PAGE.splitlines() if re.match(r"\| (scenario|`[a-z0-9-]+`) \| (rule|[a-z0-9-]+) \|", line)
    ]
    controls = [each.strip() for each in head.split("|")[4:-1]]
    for path in FILES:
        mine = [line.split("|") for line in lines if f"`{path.stem}`" in line]
        told = {
            (control, cells[2].strip())
            for cells in mine
            for control, cell in zip(controls, cells[4:-1], strict=True)
            if "\\*" in cell
        }
        assert told == {each for each in literature(path) if each[0] in controls}, path.stem
