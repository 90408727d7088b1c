"""Marks as other programs read them: Gradescope's results.json, JUnit's XML, CSV. Pure, no I/O."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from ..codec import junit as xml
from ..codec.markup import fit
from .mark import Mark, RuleMark

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for a formula at the beginning of a cell."""


def gradescope(mark: Mark) -> str:
    """results.json of a Gradescope autograder."""
    tests = [
        {
            "name": rule.name,
            "score": rule.points,
            "max_score": rule.of,
            "status": "passed" if rule.outcome == "passed" else "failed",
            "output": _why(rule),
        }
        for rule in mark.rules
    ]
    data: dict[str, Any] = {
        "score": mark.points,
        "output": "\n\n".join(_said(mark)),
        "output_format": "text",
        "tests": tests,
    }
    return json.dumps(data, indent=1, ensure_ascii=False)


def junit(marks: Sequence[Mark]) -> str:
    """A suite for each submission, in it a case for each rule."""
    return xml.document(
        xml.suite(
            mark.submission,
            mark.exercise,
            [_case(mark, rule) for rule in mark.rules],
            "\n".join(_said(mark)),
            number=number,
        )
        for number, mark in enumerate(marks)
    )


def _case(mark: Mark, rule: RuleMark) -> ElementTree.Element:
    case = xml.case(mark.submission, rule.name)
    if rule.outcome != "passed":
        tag = "failure" if rule.outcome == "failed" else "error"
        found = ElementTree.SubElement(case, tag, message=fit(rule.message or ""), type=rule.outcome.replace(" ", "-"))
        found.text = fit(_why(rule))
    return case


def table(marks: Sequence[Mark]) -> str:
    """CSV: a line for each submission, a column for each rule with its points, and one for those that are the same."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rules = [rule.name for rule in marks[0].rules] if marks else []
    compared = any(mark.same_as is not None for mark in marks)
    writer.writerow(["submission", "points", "of", *rules, "remark", *(["same_as"] if compared else [])])
    for mark in marks:
        remark = "; ".join(mark.remarks)
        points = [rule.points for rule in mark.rules]
        same = [_cell("; ".join(mark.same_as or ()))] if compared else []
        writer.writerow([_cell(mark.submission), mark.points, mark.of, *points, _cell(remark), *same])
    return out.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text


def _said(mark: Mark) -> list[str]:
    return [f"{mark.points} of {mark.of} points", *mark.problems, *filter(None, [mark.ended]), *mark.notes]


def _why(rule: RuleMark) -> str:
    return "" if rule.outcome == "passed" else "\n".join(filter(None, [rule.message, rule.seen, *rule.shown]))
