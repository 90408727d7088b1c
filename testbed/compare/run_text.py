"""Comparisons as text: Markdown, JSON and JUnit's XML. Pure, no I/O."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from ..analysis.metric import METRICS
from ..analysis.paired import CellComparison
from ..analysis.statistic import Interval
from .run import CellKey, RunComparison

Row = tuple[str, ...]

NAMED_MAX = 3
"""More cells than that are counted in a note."""

RUN_HEADERS = ("cell", "metric", "base", "candidate", "difference", "95 % interval", "noise", "p", "seeds", "verdict")


def run_rows(comparison: RunComparison) -> list[Row]:
    """A row for each metric of each cell; relative differences, or in the metric's unit where the base is 0."""
    return [
        (
            comparison.labels[each.key.params],
            METRICS[each.key.metric].title,
            METRICS[each.key.metric].text(each.base),
            METRICS[each.key.metric].text(each.candidate),
            _effect(each),
            _interval(each),
            "-" if each.noise_floor is None else f"±{100 * each.noise_floor:.1f} %",
            "-" if each.p is None else f"{each.p:.2g}",
            str(each.pairs),
            each.verdict,
        )
        for each in comparison.cells
    ]


def run_notes(comparison: RunComparison) -> list[str]:
    """Notes on the table: differences, cells without noise, trials left out."""
    notes = [f"the sides differ in {difference}" for difference in comparison.differences]
    if comparison.without_noise:
        more = len(comparison.without_noise) - NAMED_MAX
        cells = "; ".join(comparison.without_noise[:NAMED_MAX]) + (f"; and {more} more" if more > 0 else "")
        notes.append(
            f"all seeds of the base give the same result in: {cells}. Nothing is random in these cells, so the noise "
            "floor is 0 and a difference is that of a single case"
        )
    notes += [f"cannot tell: {cell} has no pair of trials" for cell in comparison.unpaired]
    notes += [f"suspect: {id}" for id in comparison.suspect]
    notes += [f"left out: {text}" for text in comparison.left_over]
    notes += [f"no trial has a value of {name}: {METRICS[name].what}" for name in comparison.unmeasured]
    return notes


def run_summary(comparison: RunComparison) -> str:
    counts = {verdict: 0 for verdict in ("better", "same", "worse", "cannot tell")}
    for each in comparison.cells:
        counts[each.verdict] += 1
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    listed += f", {len(comparison.unpaired)} cells without a pair" if comparison.unpaired else ""
    return f"overall: {comparison.verdict} ({listed}; tolerance {100 * comparison.tolerance:g} %)"


def markdown(headers: Row, rows: Sequence[Row], before: Sequence[str] = (), after: Sequence[str] = ()) -> str:
    """A table in GitHub's Markdown, with paragraphs before and a list after it."""
    lines = [*(line + "\n" for line in before), _line(headers), _line(["---"] * len(headers)), *map(_line, rows)]
    return "\n".join([*lines, *(["", *(f"- {note}" for note in after)] if after else [])]) + "\n"


def run_markdown(comparison: RunComparison) -> str:
    head = [f"**{comparison.candidate}** against **{comparison.base}**: {run_summary(comparison)}"]
    return markdown(RUN_HEADERS, run_rows(comparison), head, run_notes(comparison))


def run_json(comparison: RunComparison) -> str:
    cells = [
        {
            "params": dict(each.key.params),
            "metric": each.key.metric,
            "unit": METRICS[each.key.metric].base_unit,
            **{key: value for key, value in asdict(each).items() if key != "key"},
        }
        for each in comparison.cells
    ]
    whole: dict[str, Any] = {
        "base": comparison.base,
        "candidate": comparison.candidate,
        "tolerance": comparison.tolerance,
        "verdict": comparison.verdict,
        "cells": cells,
        "notes": run_notes(comparison),
        "unpaired": list(comparison.unpaired),
        "left_over": list(comparison.left_over),
        "differences": list(comparison.differences),
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def run_junit(comparison: RunComparison) -> str:
    """A test case for each metric of each cell: worse is a failure, cannot tell is skipped."""
    suite = ElementTree.Element(
        "testsuite",
        name=f"{comparison.candidate} against {comparison.base}",
        tests=str(len(comparison.cells)),
        failures=str(sum(each.verdict == "worse" for each in comparison.cells)),
        errors="0",
        skipped=str(sum(each.verdict == "cannot tell" for each in comparison.cells)),
    )
    for each, row in zip(comparison.cells, run_rows(comparison), strict=True):
        case = ElementTree.SubElement(suite, "testcase", classname=row[0], name=each.key.metric, time="0")
        text = "; ".join(f"{name} {value}" for name, value in zip(RUN_HEADERS[1:], row[1:], strict=True))
        if each.verdict == "worse":
            ElementTree.SubElement(case, "failure", message=f"worse by {row[4]}", type="regression").text = text
        elif each.verdict == "cannot tell":
            ElementTree.SubElement(case, "skipped", message=text)
        else:
            ElementTree.SubElement(case, "system-out").text = text
    notes = ElementTree.SubElement(suite, "system-out")
    notes.text = "\n".join([run_summary(comparison), *run_notes(comparison)])
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    ElementTree.indent(whole)
    return ElementTree.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"


def interval_text(interval: Interval | None, scale: float = 100.0, unit: str = " %") -> str:
    """The interval as "+1.2 … +3.4 %"; a dash for None."""
    if interval is None:
        return "-"
    return f"{interval.low * scale:+.1f} … {interval.high * scale:+.1f}{unit}"


def _effect(each: CellComparison[CellKey]) -> str:
    if each.relative is not None:
        return f"{100 * each.relative:+.1f} %"
    metric = METRICS[each.key.metric]
    return f"{each.effect * metric.scale:+.3g} {metric.unit}".strip()


def _interval(each: CellComparison[CellKey]) -> str:
    if each.relative_interval is not None:
        return interval_text(each.relative_interval)
    metric = METRICS[each.key.metric]
    return interval_text(each.interval, metric.scale, f" {metric.unit}")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
