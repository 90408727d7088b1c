"""A comparison as JUnit's XML: what a build server counts, and what its schemas ask.

SCHEMA has the rules of the two schemas that are in use, Ant's (github.com/windyroad/JUnit-Schema, the stricter one) and
that of Jenkins (xunit-plugin, junit-10.xsd); the files that these tests write were valid by both.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from comparing import Compare
from storedruns import write_run
from test_compare_lost import noise, not_run, seven, steady, suite

from testbed.analysis.metric import METRICS
from testbed.codec.markup import FOLDERS, escaped, fit

SCHEMA = {
    "testsuites": ((), ["testsuite*"]),
    "testsuite": (
        ("name", "package", "id", "hostname", "timestamp", "tests", "failures", "errors", "time"),
        ["properties", "testcase*", "system-out", "system-err"],
    ),
    "testcase": (("name", "classname", "time"), ["error? | failure? | skipped?"]),
    "failure": (("type",), []),
    "skipped": ((), []),
    "properties": ((), []),
    "system-out": ((), []),
    "system-err": ((), []),
}
"""The attributes that each element must have, and its children in their order."""
OPTIONAL = {"testsuite": {"skipped"}, "failure": {"message"}, "skipped": {"message"}}


def check(element: ElementTree.Element) -> None:
    needed, children = SCHEMA[element.tag]
    assert {*needed} <= {*element.attrib} <= {*needed} | OPTIONAL.get(element.tag, set()), element.tag
    tags = " ".join(child.tag for child in element)
    pattern = " ?".join(
        rf"({each[:-1]} ?)*" if each.endswith("*") else "(error|failure|skipped)?" if "|" in each else each
        for each in children
    )
    assert re.fullmatch(pattern, tags), (element.tag, tags)
    for child in element:
        check(child)


def read(text: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text.encode())
    check(root)
    for each in root:
        cases = each.findall("testcase")
        assert int(each.get("tests", -1)) == len(cases)
        assert int(each.get("failures", -1)) == len(each.findall("testcase/failure"))
        assert int(each.get("skipped", -1)) == len(each.findall("testcase/skipped"))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", each.get("timestamp", ""))
    assert [each.get("id") for each in root] == [str(n) for n in range(len(root))]
    return root


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_run(tmp_path / "base", steady())


def test_there_is_a_case_for_each_metric_of_each_cell(compare: Compare, base: Path, tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    said = compare(base, base, "--format", "junit", "-o", file)
    assert (said.code, said.out.strip()) == (0, str(file))
    (one,) = read(file.read_text())
    names = {name for name, metric in METRICS.items() if metric.only is None}
    assert len(one.findall("testcase")) == 2 * len(names)
    assert {case.get("name") for case in one.findall("testcase")} == names
    assert (one.get("failures"), one.get("skipped")) == ("0", "0")


def test_the_times_are_those_of_the_trials_each_counted_once(compare: Compare, base: Path) -> None:
    (one,) = read(compare(base, base, "--format", "junit").out)
    trials = 2 * len([*(base / "trials").iterdir()])  # of both sides, 1 s each
    assert float(one.get("time", "0")) == trials
    assert sum(float(case.get("time", "0")) for case in one.iter("testcase")) == trials
    assert all(float(case.get("time", "0")) == 0 for case in one.iter("testcase") if case.get("name") == "fairness")


def test_what_is_worse_is_a_failure(compare: Compare, base: Path, tmp_path: Path) -> None:
    said = compare(base, write_run(tmp_path / "slow", steady(scale=0.8)), "--format", "junit")
    failures = [*read(said.out).iter("failure")]
    assert [failure.get("message") for failure in failures] == ["worse by -20.0 %"] * 2
    assert {failure.get("type") for failure in failures} == {"worse"}
    assert said.code == 1


def test_what_is_lost_is_a_failure_with_the_reason(compare: Compare, base: Path, tmp_path: Path) -> None:
    lost = not_run(write_run(tmp_path / "x", steady()), seven, "no \x01 <memory> & in /home/me/x")
    said = compare(base, lost, "--format", "junit")
    (failure,) = [each for each in read(said.out).iter("failure") if each.get("type") == "lost"]
    assert "the candidate lacks 7 trials" in (failure.text or "")
    assert "no \\x01 <memory> & in x" in (failure.text or "")
    assert said.code == 4


@pytest.mark.parametrize(("least", "tag"), [(None, "failure"), ("cannot-tell", "failure"), ("worse", "skipped")])
def test_what_is_undecided_is_a_failure_as_far_as_it_is_one_of_the_command(
    compare: Compare, tmp_path: Path, least: str | None, tag: str
) -> None:
    sides = [
        write_run(tmp_path / name, [each for each in steady(("1 bdp",), factor) if each.seed < 4])
        for name, factor in (("before", 1.0), ("after", 1 + 0.05 * (1 + noise("x"))))
    ]
    for side, made in zip(sides, ("before", "after"), strict=True):
        for number, file in enumerate(sorted(side.glob("trials/*/result.json"))):
            text = file.read_text()
            value = 40e6 * (1 + 30 * noise(made, number))
            file.write_text(re.sub(r'"goodput_bps": [0-9.e+]+(?=,\s*"ramp)', f'"goodput_bps": {value}', text))
    said = compare(*sides, "--format", "junit", "--metric", "goodput", *(["--fail-on", least] if least else []))
    (case,) = read(said.out).iter("testcase")
    assert [child.tag for child in case] == [tag]
    assert said.code == (5 if tag == "failure" else 0)


def test_secondary_metrics_that_are_undecided_are_skipped(compare: Compare, tmp_path: Path) -> None:
    sides = []
    for side in ("base", "candidate"):
        folder = write_run(tmp_path / side, steady())
        for number, file in enumerate(sorted(folder.glob("trials/*/result.json"))):
            count = round(1000 * (1 + 100 * noise(side, number)))
            file.write_text(re.sub(r'"retransmits": \d+', f'"retransmits": {abs(count)}', file.read_text()))
        sides.append(folder)
    said = compare(*sides, "--format", "junit")
    assert said.code == 0
    assert {case.get("name") for case in read(said.out).iter("testcase") if len(case)} == {"retransmits"}
    assert len([*read(said.out).iter("skipped")]) == 2


def test_a_suite_is_one_file_without_the_paths_of_this_computer(compare: Compare, tmp_path: Path) -> None:
    base = suite(tmp_path / "base", bulk=steady(), far=steady())
    mine = suite(tmp_path / "mine", bulk=steady())
    root = read(compare(base, mine, "--format", "junit").out)
    assert [(each.get("name"), each.get("failures")) for each in root] == [("bulk", "0"), ("far", "2")]
    text = ElementTree.tostring(root, encoding="unicode")
    assert str(tmp_path) not in text
    assert "mine against base" in text
    assert "/tmp" not in text


@pytest.mark.parametrize(
    ("text", "fit"),
    [
        ("100 Mbit/s", "100 Mbit/s"),
        ("in /home/me/x/y: no", "in y: no"),
        ("a/b/c", "a/b/c"),
        ("1/2 and 3/4", "1/2 and 3/4"),
    ],
)
def test_only_absolute_paths_lose_their_folders(text: str, fit: str) -> None:
    assert FOLDERS.sub("", text) == fit


HOSTILE = "]]> & <b> \" ' \x01\x1b[31m \ufffe é -->"


@pytest.mark.parametrize("part", ["cell", "error", "scenario"])
def test_hostile_names_stay_text(compare: Compare, tmp_path: Path, part: str) -> None:
    """In the name of a cell, the message of a failure and the folder of a scenario. A cell's has no control characters,
    which a trial refuses.
    """
    plain = "".join(each for each in HOSTILE if each.isprintable())
    shown = HOSTILE.translate({1: "\\u0001", 0x1B: "\\u001b", 0xFFFE: "\\ufffe"})
    sides = [tmp_path / name / (HOSTILE if part == "scenario" else "run") for name in ("a", "b")]
    cells = ("1 bdp", plain if part == "cell" else "2 bdp")
    for number, side in enumerate(sides):
        write_run(side, [replace(each, path={"buffer": "1 bdp"}) for each in steady(cells, scale=1 - number / 2)])
    if part == "error":
        not_run(sides[1], seven, error=HOSTILE)
    said = compare(tmp_path / "a", tmp_path / "b", "--format", "junit")
    root = read(said.out)
    text = "".join(root.itertext()) + " ".join(value for each in root.iter() for value in each.attrib.values())
    assert {"cell": plain, "error": "]]> & <b> \" ' \\x01\\x1b[31m", "scenario": shown}[part] in text
    assert {each.tag for each in root.iter()} <= {*SCHEMA}


@pytest.mark.parametrize(
    "bad",
    ["\x00", "\x01", "\x0b", "\r", "\x1f", "\x7f", "\x9b", "\u202e", "\u2028", "\udcff", "\ufffe", "\uffff"],
)
def test_what_xml_cannot_hold_is_said(bad: str) -> None:
    text = ElementTree.tostring(ElementTree.Element("a", name=fit(f"a{bad}b\t\n")), encoding="unicode")
    assert ElementTree.fromstring(text).get("name") == f"a\\u{ord(bad):04x}b\t\n"


def test_markdown_takes_every_text_as_it_is() -> None:
    assert escaped("a|b <c> \\ d\ne") == "a\\|b &lt;c> \\\\ d e"


def test_what_only_the_candidate_has_and_what_was_not_needed_is_skipped(compare: Compare, tmp_path: Path) -> None:
    base = write_run(tmp_path / "base", steady(("1 bdp",)))
    text = compare(base, write_run(tmp_path / "more", steady()), "--format", "junit").out
    assert text.startswith("<?xml version='1.0' encoding='")
    ((case, skipped),) = [(case, case[0]) for case in read(text).iter("testcase") if len(case)]
    assert (case.get("classname"), case.get("name"), skipped.tag) == ("buffer 2 bdp", "trials", "skipped")
    assert (skipped.get("message") or "").startswith("buffer 2 bdp: the base lacks 8 trials (seed 1, seed 2, seed 3")
