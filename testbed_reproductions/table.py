"""The table of rows: what was printed, what came out here, and how strong the claim is. Pure, no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from testbed.api import Citation, escaped

from .row import Finding

HEAD = ("Row", "Where", "What", "Printed", "Criterion", "Ours", "Claim", "Outcome")
OUTCOME = {"pass": "pass", "fail": "**fail**", "cannot tell": "cannot tell", "not run": "not run", None: "–"}


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
        "why": reason(finding),
        "limits": row.limits,
        "criterion": row.criterion.text if row.criterion else None,
        "criterion_source": row.criterion.source if row.criterion else None,
        "repeats": (row.criterion.repeats or None) if row.criterion else None,
        "parts": [{"says": each.says, "verdict": each.verdict, "found": each.found} for each in judged.decisions]
        if judged
        else [],
    }


def reason(finding: Finding) -> str:
    """What is not met or cannot be told, what limits the result, or why there is none."""
    judged = finding.judgement
    return "; ".join(
        text for text in (judged.reasons if judged else "", judged.why if judged else "", finding.why) if text
    )


def distinct(findings: Sequence[Finding]) -> list[Finding]:
    """Without the rows that judge the finding of another one again, on the same data."""
    return [each for each in findings if each.row.criterion is None or not each.row.criterion.repeats]


def counts(findings: Sequence[Finding]) -> str:
    """The number of rows with each outcome, in one line."""
    number: Counter[str | None] = Counter(finding.outcome for finding in findings)
    words = {
        "pass": "met",
        "fail": "not met",
        "cannot tell": "cannot tell",
        "not run": "not run",
        None: "without anything to meet",
    }
    return ", ".join(f"{number[outcome]} {word}" for outcome, word in words.items() if number[outcome])


def summary(findings: Sequence[Finding]) -> str:
    """The number of rows and of distinct findings with each outcome, in two sentences."""
    own = distinct(findings)
    text = f"{len(findings)} rows: {counts(findings)}."
    return text if len(own) == len(findings) else f"{text} Of them {len(own)} are distinct findings: {counts(own)}."


def remark(finding: Finding) -> str:
    """Why the row failed or was not run, and how our conditions differ from those of the publication."""
    repeats = finding.row.criterion.repeats if finding.row.criterion else ""
    again = f"the finding of {repeats} again" if repeats else ""
    return "; ".join(dict.fromkeys(each for each in (reason(finding), again, finding.row.limits) if each))


def markdown(
    findings: Sequence[Finding], citations: Mapping[str, Citation], title: str, how: str, changes: str = ""
) -> str:
    """A page with a table for each publication, and below each table the limits of its rows.

    `how` is the introduction: who the page is for, and how to make it. `changes` is a section of its own, or empty.
    """
    lines = [f"# {title}", "", how, "", summary(findings), "", CLAIMS, "", CRITERIA]
    lines += ["", changes.strip()] if changes else []
    for source, members in groupby(findings, key=lambda finding: finding.row.source):
        group = list(members)
        lines += [
            "",
            f"## {escaped(_citation(citations[source]))}",
            "",
            _line(HEAD),
            _line(["---"] * len(HEAD)),
        ]
        lines += [_line(_cells(finding)) for finding in group]
        lines += ["", "What limits these rows:", ""]
        remarks: dict[str, list[str]] = {}
        for finding in group:
            if remark(finding):
                remarks.setdefault(remark(finding), []).append(finding.row.id)
        lines += [f"- {', '.join(ids)}: {escaped(text)}." for text, ids in remarks.items()]
    return "\n".join(lines) + "\n"


CLAIMS = """How strong a pass is. **reproduced**: the same mechanism, so the numbers compare. **shape**: orderings and
curvature compare, numbers do not. **calibrated**: the number is an input of ours, so meeting it proves only that the
emulator works. **data only**: nothing is run; the numbers are kept as a published profile."""


CRITERIA = """\
What is met. Each criterion follows from what is printed, and was written down before the runs that it judges. It is
met if the 95 % intervals of all its parts (Student's t over the seeds, Bonferroni over the parts of a row) are within
their bounds, and not met if one of them is outside. Otherwise nobody can tell, which is no pass; nor is a value that
is missing. Where every seed gives the same, the value is exact, and has no interval. A printed number is met within
half a unit of its last digit, one that is printed as approximate within half a unit of its last digit other than 0.
Alike is at most 5 % apart, apart is more; full is 95 % or more of the line rate; a profile bends if its C_CC is
beyond ±0.02."""


def _citation(citation: Citation) -> str:
    year = f", {citation.year}" if citation.year else ""
    return f"{citation.authors[0].split()[-1]} et al., {citation.title}{year}"


def _cells(finding: Finding) -> list[str]:
    row = finding.row
    ours = finding.judgement.ours if finding.judgement else "–"
    criterion = f"{row.criterion.text} ({row.criterion.source})" if row.criterion else "–"
    return [row.id, row.where, row.what, row.expected, criterion, ours, row.claim, OUTCOME[finding.outcome]]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"
