"""The table of rows: what was printed, what came out here, and how strong the claim is. Pure, no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from ..published import Citation
from .row import Finding

HEAD = ("Row", "Where", "What", "Printed", "Ours", "Claim", "Outcome")
OUTCOME = {"pass": "pass", "fail": "**fail**", "not run": "not run", None: "–"}


def to_dict(finding: Finding) -> dict[str, Any]:
    """For JSON."""
    row, judged = finding.row, finding.judgement
    return {
        "id": row.id,
        "source": row.source,
        "where": row.where,
        "what": row.what,
        "expected": row.expected,
        "claim": row.claim,
        "scenarios": list(row.scenarios),
        "ours": judged.ours if judged else None,
        "outcome": finding.outcome,
        "why": (judged.why if judged else "") or finding.why,
        "limits": row.limits,
    }


def counts(findings: Sequence[Finding]) -> str:
    """The number of rows with each outcome, in one line."""
    number: Counter[str | None] = Counter(finding.outcome for finding in findings)
    words = {"pass": "met", "fail": "not met", "not run": "not run", None: "without anything to meet"}
    return ", ".join(f"{number[outcome]} {word}" for outcome, word in words.items() if number[outcome])


def remark(finding: Finding) -> str:
    """Why the row failed or was not run, and how our conditions differ from those of the publication."""
    remarks = [finding.judgement.why if finding.judgement else finding.why, finding.row.limits]
    return "; ".join(dict.fromkeys(each for each in remarks if each))


def markdown(findings: Sequence[Finding], citations: Mapping[str, Citation], title: str, how: str) -> str:
    """A page with a table for each publication, and below each table the limits of its rows.

    `how` is the introduction: who the page is for, and how to make it.
    """
    lines = [f"# {title}", "", how, "", f"{len(findings)} rows: {counts(findings)}.", "", CLAIMS]
    for source, members in groupby(findings, key=lambda finding: finding.row.source):
        group = list(members)
        lines += ["", f"## {_citation(citations[source])}", "", _line(HEAD), _line(["---"] * len(HEAD))]
        lines += [_line(_cells(finding)) for finding in group]
        lines += ["", "What limits these rows:", ""]
        remarks: dict[str, list[str]] = {}
        for finding in group:
            if remark(finding):
                remarks.setdefault(remark(finding), []).append(finding.row.id)
        lines += [f"- {', '.join(ids)}: {text}." for text, ids in remarks.items()]
    return "\n".join(lines) + "\n"


CLAIMS = """How strong a pass is. **reproduced**: the same mechanism, so the numbers compare. **shape**: orderings and
curvature compare, numbers do not. **calibrated**: the number is an input of ours, so meeting it proves only that the
emulator works. **data only**: nothing is run; the numbers are kept as a published profile."""


def _citation(citation: Citation) -> str:
    year = f", {citation.year}" if citation.year else ""
    return f"{citation.authors[0].split()[-1]} et al., {citation.title}{year}"


def _cells(finding: Finding) -> list[str]:
    row = finding.row
    ours = finding.judgement.ours if finding.judgement else "–"
    return [row.id, row.where, row.what, row.expected, ours, row.claim, OUTCOME[finding.outcome]]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
