"""The page with all rows, in words. Pure, no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from testbed.api import Citation, counted, escaped

from .row import Cost, Finding, Row

HEAD = ("Row", "Where", "What", "Printed", "Criterion", "Ours", "Claim", "Quick", "Full")
OUTCOME = {"pass": "pass", "fail": "**fail**", "cannot tell": "cannot tell", "not run": "not run", None: "–"}
OUTCOMES: dict[str | None, str] = {"pass": "met", "fail": "not met", "cannot tell": "cannot tell", "not run": "not run"}
HOW = """For those who ask how the numbers of this testbed compare with the literature. For each row of the publications
below, this page says what was printed, what comes out here, and how strong the claim is. To see the rows, and to run
one of them (half a minute):

```sh
testbed reproduce --list
testbed reproduce S3-E2
```

`testbed reproduce --quick` runs all rows in minutes, by shorter runs, lower rates and fewer repetitions. `--full` has
the numbers of the publications. `--dry-run` says what would run, and how long it takes; `--until-decided` adds seeds
for rows of which nobody can tell.

"Ours", and what limits a row, are of the full size where it has run, and of the quick size otherwise. The results
behind this page are tables in `testbed_reproductions/data`, a row for each trial. `testbed reproduce --kept --stored`
judges them again; with `--kept` alone, what is missing runs; `--audit 1` repeats a random 1 % of the trials, and
compares every number. {kept}"""

Costs: TypeAlias = Mapping[str, Mapping[str, Cost]]
"""By size, and by scenario."""


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
    words = {**OUTCOMES, None: "without anything to meet"}
    return ", ".join(f"{number[outcome]} {word}" for outcome, word in words.items() if number[outcome])


def summary_of(findings: Sequence[Finding]) -> str:
    """The number of rows and of distinct findings with each outcome, in two sentences."""
    own = distinct(findings)
    text = f"{counted(len(findings), 'row')}: {counts(findings)}."
    apart = "1 is a distinct finding" if len(own) == 1 else f"{len(own)} are distinct findings"
    return text if len(own) in (0, len(findings)) else f"{text} Of them {apart}: {counts(own)}."


def remark(finding: Finding) -> str:
    """Why the row failed or was not run, and how our conditions differ from those of the publication."""
    repeats = finding.row.criterion.repeats if finding.row.criterion else ""
    again = f"the finding of {repeats} again" if repeats else ""
    return "; ".join(dict.fromkeys(each for each in (reason(finding), again, finding.limits) if each))


@dataclass(frozen=True)
class Both:
    """The findings of a row in both sizes."""

    quick: Finding
    full: Finding

    @property
    def row(self) -> Row:
        return self.quick.row

    @property
    def larger(self) -> Finding:
        """That of the full size, if it was judged; that of the quick size otherwise."""
        return self.quick if self.full.judgement is None else self.full


def markdown(
    findings: Sequence[Both],
    citations: Mapping[str, Citation],
    kept: str,
    costs: Costs | None = None,
) -> str:
    """The page: a table for each publication, and below each table the limits of its rows and what they cost.

    `kept` says what trials are behind it. `costs` are those of each scenario, by size.
    """
    quick, full = [each.quick for each in findings], [each.full for each in findings]
    lines = [
        "# Reproduction",
        "",
        HOW.format(kept=kept),
        "",
        f"Quick: {summary_of(quick)}",
        "",
        f"Full: {summary_of(full)}",
    ]
    by_source: dict[str, list[Both]] = {}
    for each in findings:
        by_source.setdefault(each.row.source, []).append(each)
    lines += ["", *_by_publication(by_source, citations)]
    lines += ["", CLAIMS, "", CRITERIA]
    for source, group in by_source.items():
        lines += [
            "",
            f"## {escaped(_citation(citations[source]))}",
            "",
            _line(HEAD),
            _line(["---"] * len(HEAD)),
        ]
        lines += [_line(_columns(each)) for each in group]
        lines += ["", "What limits these rows:", ""]
        remarks: dict[str, list[str]] = {}
        for finding in (each.larger for each in group):
            if remark(finding):
                remarks.setdefault(remark(finding), []).append(finding.row.id)
        lines += [f"- {', '.join(ids)}: {escaped(text)}." for text, ids in remarks.items()]
        lines += _costs(group, costs or {})
    return "\n".join(lines) + "\n"


CLAIMS = """How strong a pass is. **reproduced**: the same mechanism, so the numbers compare. **shape**: orderings and
curvature compare, numbers do not. **calibrated**: the number is an input of ours, so meeting it proves only that the
emulator works. **data only**: nothing is run; the numbers are kept as a published profile."""


CRITERIA = """\
What is met. Each criterion follows from what is printed. Most were written down before the runs that they judge; those
that changed after two readers had compared them with the publications are listed with both outcomes. A criterion is met
if the 95 % interval of each of its parts (Student's t over the seeds) is within its bounds, and not met if that of a
part is outside when all of them hold together (Bonferroni): so a row is wrongly met, or wrongly not met, in at most 5 %
of cases. Otherwise nobody can tell. That is no pass, and a missing value is none either. A row that is judged several
times, each time with more seeds, has this error over all of them together. Where every seed gives the same, the value
is exact, and has no interval. A printed number is met within half a unit of its last digit, one that is printed as
approximate within half a unit of its last digit other than 0. Alike is at most 5 % apart, apart is more; full is 95 %
or more of the line rate; a profile is concave if its C_CC is above 0, and convex if it is below.
`docs/internals/expectations.md` says what was expected before the runs, and which criteria and inputs changed."""


def _by_publication(by_source: Mapping[str, Sequence[Both]], citations: Mapping[str, Citation]) -> list[str]:
    """A table of how many rows of each have which outcome."""
    kinds = " / ".join(OUTCOMES.values())
    lines = [_line(("Publication", f"Quick: {kinds}", f"Full: {kinds}")), _line(["---"] * 3)]
    for source, group in by_source.items():
        sizes = ([each.quick for each in group], [each.full for each in group])
        lines.append(_line((_citation(citations[source]), *map(_numbers, sizes))))
    return lines


def _numbers(findings: Sequence[Finding]) -> str:
    number: Counter[str | None] = Counter(each.outcome for each in findings)
    return " / ".join(str(number[outcome]) for outcome in OUTCOMES)


def _costs(findings: Sequence[Both], costs: Costs) -> list[str]:
    """A table of what each scenario of these rows cost, as far as it ran."""
    rows: dict[str, list[str]] = {}
    for both in findings:
        for name in both.row.scenarios:
            rows.setdefault(name, []).append(both.row.id)
    ran = [name for name in rows if any(name in each for each in costs.values())]
    if not ran:
        return []
    lines = ["", "What these rows cost (trials, and minutes of a processor):", ""]
    lines += [_line(("Scenario", "Rows", *(size.capitalize() for size in costs))), _line(["---"] * (2 + len(costs)))]
    for name in ran:
        found = (each.get(name) for each in costs.values())
        cells = ("–" if each is None else f"{each.trials}, {each.cpu_s / 60:.3g} min" for each in found)
        lines.append(_line((name, ", ".join(rows[name]), *cells)))
    return lines


def _citation(citation: Citation) -> str:
    year = f", {citation.year}" if citation.year else ""
    return f"{citation.authors[0].split()[-1]} et al., {citation.title}{year}"


def _columns(both: Both) -> list[str]:
    row, finding = both.row, both.larger
    ours = finding.judgement.ours if finding.judgement else "–"
    criterion = f"{row.criterion.text} ({row.criterion.source})" if row.criterion else "–"
    outcomes = (OUTCOME[each.outcome] for each in (both.quick, both.full))
    return [row.id, row.where, row.what, row.expected, criterion, ours, row.claim, *outcomes]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"
