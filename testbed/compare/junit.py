"""A comparison of runs, or the rules of one, as JUnit's XML for build servers. Pure, no I/O.

Valid by the schemas of JUnit's XML that are in use: it has all their required attributes, and elements in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from xml.etree import ElementTree

from ..analysis.expectation.verdict import Verdict
from ..codec import junit as xml
from ..codec.markup import fit
from ..trial.result import TrialResult
from .headline import headline
from .run import Outcome, RunComparison
from .run_text import RUN_HEADERS, gap_row, gap_text, run_notes, run_row, run_summary

NAMED = 2
"""So many folders of a run's path name it."""
FAILS: tuple[Outcome, ...] = ("worse", "lost", "cannot tell")
"""All that was not shown to be the same or better."""


def run_junit(comparison: RunComparison, fails: Sequence[str] = FAILS, timestamp: str = xml.NEVER) -> str:
    """A suite for each scenario, in it a case for each metric of each cell and for each gap.

    What `fails` holds is a failure, but for secondary metrics that are undecided and do not look worse: these, and what
    is undecided otherwise, are skipped. `timestamp` is when the comparison was made, "2026-01-31T12:00:00". The time of
    a cell's first case is what the trials of both sides took, so that a sum counts each trial once.
    """
    return xml.document(
        _suite(comparison, scenario, number, fails, timestamp) for number, scenario in enumerate(comparison.primary)
    )


def _suite(
    comparison: RunComparison, scenario: str, number: int, fails: Sequence[str], timestamp: str
) -> ElementTree.Element:
    cases = []
    times = {cell: wall_s for cell, wall_s in comparison.wall_s.items() if cell.scenario == scenario}
    whole_s, not_yet = sum(times.values()), dict(times)
    looks = {each.key for each in comparison.looks_worse}
    for each in comparison.cells:
        if each.key.scenario == scenario:
            row = run_row(comparison, each)
            text = "; ".join(f"{name} {value}" for name, value in zip(RUN_HEADERS[1:], row[1:], strict=True))
            counts = each.verdict != "cannot tell" or comparison.is_primary(each.key) or each.key in looks
            case = _case(row[0], each.key.metric, each.verdict, f"{each.verdict} by {row[4]}", text, counts, fails)
            case.set("time", xml.seconds(not_yet.pop(each.key.cell, 0.0)))
            cases.append(case)
    for gap in comparison.gaps:
        if gap.cell.scenario == scenario:
            row, text = gap_row(comparison, gap), gap_text(comparison, gap)
            counts = gap.kind != "absent" or gap.is_whole
            cases.append(_case(row[0], row[1], row[-1], text, text, counts, fails))
    for over in comparison.across if number == 0 else ():
        text = f"{over.text}, p {over.p:.2g}"
        cases.append(_case("all cells", over.metric, "cannot tell", text, text, True, fails))
    base, candidate = _short(comparison.base, comparison.candidate)
    notes = [f"{candidate} against {base}", run_summary(comparison), headline(comparison), *run_notes(comparison)]
    notes = notes if number == 0 else []
    took = xml.seconds(whole_s)
    name, said = scenario or "comparison", "\n".join(notes)
    return xml.suite(name, "testbed.compare", cases, said, number=number, timestamp=timestamp, time=took)


def rules_junit(name: str, judged: Sequence[Verdict], found: Sequence[TrialResult], trials: int, timestamp: str) -> str:
    """A suite with a case for each rule of `expect`, and one for the trials themselves, of which there should be
    `trials`: it fails if one is invalid or missing. Its time is what they took; that of a rule is 0.
    """
    invalid = [each.id for each in found if each.verdict == "invalid"]
    said = f"{len(found)} of {trials} trials, {len(invalid)} invalid {' '.join(invalid)}".strip()
    took = xml.seconds(sum(each.wall_s for each in found))
    cases = [_rule_case("trials", None if found and len(found) == trials and not invalid else said, "invalid")]
    cases[0].set("time", took)
    cases += [
        _rule_case(each.rule.name, None if each.outcome == "passed" else each.seen or each.outcome, each.outcome)
        for each in judged
    ]
    return xml.document([xml.suite(name, "testbed.results", cases, said, timestamp=timestamp, time=took)])


def _rule_case(name: str, wrong: str | None, kind: str) -> ElementTree.Element:
    case = xml.case("expect", name)
    if wrong is not None:
        ElementTree.SubElement(case, "failure", message=fit(wrong), type=kind.replace(" ", "-")).text = fit(wrong)
    return case


def _case(
    cell: str, name: str, verdict: str, message: str, text: str, counts: bool, fails: Sequence[str]
) -> ElementTree.Element:
    case = xml.case(cell, name)
    if verdict in fails and counts:
        failure = ElementTree.SubElement(case, "failure", message=fit(message), type=verdict.replace(" ", "-"))
        failure.text = fit(text)
    elif verdict in ("cannot tell", "new", "spare"):
        ElementTree.SubElement(case, "skipped", message=fit(text))
    return case


def _short(*names: str) -> list[str]:
    """The names of folders without what they have in common: a computer's paths tell a build server nothing."""
    parts = [PurePath(name).parts for name in names]
    shared = 0
    while len({each[: shared + 1] for each in parts}) == 1 and shared + 1 < min(map(len, parts)):
        shared += 1
    return ["/".join(each[shared:][-NAMED:]) for each in parts]
