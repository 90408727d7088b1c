"""The end of `testbed cc`: a sentence, a table of what changed, files for build servers. Prints and writes files."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree

from ...analysis.expectation.verdict import seen_range
from ...codec import junit as xml
from ...codec.markup import escaped, fit
from ...compare import junit, run_text
from ...compare.headline import headline
from ...compare.run import Outcome, RunComparison
from ...error import harmless
from ...report import evidence
from ...report.evidence import CellName, Evidence, Rules
from ...sweep.store import Store
from ...trial.folder import write_named
from ...trial.subject import bpf
from ...units import counted
from ..comparison_table import COLOUR, COLUMNS, EXIT_CODES, MORE
from ..text_table import Column, Table, literal, paragraph, show, terminal_width
from . import broken, smoke
from .broken import Broken
from .contender import Pair

SHOWN = ("cell", "metric", "base", "candidate", "difference", "95 % interval", "seeds", "verdict")
QUIET = ("same", "cannot tell", "spare")
WORDS: dict[Outcome, str] = {
    "worse": "is worse than {base}",
    "lost": "lost what {base} has",
    "cannot tell": "cannot be told from {base}",
    "better": "is better than {base}",
    "same": "is the same as {base}",
}
MIXED = "is better than {base} in some cells and worse in others"
IN_PART = "is better than {base} in some cells, and others cannot be told"
MARKDOWN, JUNIT, JSON, EVIDENCE = "verdict.md", "verdict.xml", "verdict.json", "evidence.html"


def sentence(pair: Pair, found: RunComparison, broke: Broken = MappingProxyType({})) -> str:
    """The outcome in one sentence; that the candidate breaks the kernel is more than what it does to traffic."""
    if broke:
        return broken.sentence(pair.candidate.label, broke)
    changed = {each.verdict for each in found.cells}
    words = WORDS[found.verdict]
    if {"worse", "better"} <= changed:
        words = MIXED
    elif found.verdict == "cannot tell" and "better" in changed:
        words = IN_PART
    return f"{pair.candidate.label} {words.format(base=_base(pair))}: {headline(found)}"


def _base(pair: Pair) -> str:
    return pair.base.label if pair.base.label != pair.candidate.label else f"{pair.base.label} without it"


def show_verdict(
    pair: Pair,
    found: RunComparison,
    notes: Sequence[str],
    home: Path,
    suite: frozenset[str] = frozenset(),
    rules: Rules = MappingProxyType({}),
    broke: Broken = MappingProxyType({}),
) -> int:
    """Prints all but the sentence, writes the files beside the candidate's results, and returns the exit code. `suite`
    are the scenarios that are the testbed's own, `rules` those of all, `broke` the trials in which the kernel broke.
    """
    asked, notes = notes, (*notes, *_rules(pair, rules))
    width = terminal_width()
    alike = [run_text.run_row(found, each) for each in found.looks_worse]
    rows = [row for row in run_text.run_rows(found) if row[-1] not in QUIET or row in alike]
    at = [run_text.RUN_HEADERS.index(name) for name in SHOWN]
    lines: list[str] = []
    if rows:
        columns = tuple(Column(name, **COLUMNS.get(name, {})) for name in SHOWN)
        lines += Table(columns, tuple(tuple(row[place] for place in at) for row in rows), MORE, COLOUR).lines(width)
    lines.append(literal(paragraph(_rest(found), width)))
    lines += [literal(paragraph(note, width)) for note in (*_undecided(found), *notes)]
    lines += [literal(line) for line in broken.lines(broke)]
    code = smoke.Broken.exit_code if broke else EXIT_CODES[found.verdict]
    for name, text in (
        (MARKDOWN, markdown(pair, found, notes, broke)),
        (JSON, _json(found, broke, code)),
        (JUNIT, _junit(found, broke)),
    ):
        write_named(home / name, harmless(text))
    write_evidence(pair, found, asked, home, suite, rules, broke=broke)
    show(lines)
    show([literal(paragraph(f"for build servers: {home}/{{{MARKDOWN},{JUNIT},{JSON}}}", width))])
    show([literal(paragraph(f"for people, by the sections of RFC 9743: {home}/{EVIDENCE}", width))])
    return code


def show_sentence(pair: Pair, found: RunComparison, broke: Broken = MappingProxyType({})) -> None:
    """The last line of all."""
    show([literal(paragraph(sentence(pair, found, broke), terminal_width()))])


def _json(found: RunComparison, broke: Broken, code: int) -> str:
    told = {**json.loads(run_text.run_json(found)), "broken": dict(broke), "exit_code": code}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _junit(found: RunComparison, broke: Broken) -> str:
    text = junit.run_junit(found, junit.FAILS, _now())
    if not broke:
        return text
    suites = [*ElementTree.fromstring(text), broken.junit_suite(broke, len(found.primary), _now())]
    return xml.document(suites)


def write_evidence(
    pair: Pair,
    found: RunComparison,
    notes: Sequence[str],
    home: Path,
    suite: frozenset[str],
    rules: Rules,
    acks: Mapping[CellName, str] = MappingProxyType({}),
    broke: Broken = MappingProxyType({}),
) -> None:
    """The page for people; `acks` are the pages beside it that show each ACK of a cell."""
    made = _evidence(pair, found, (*notes, *_rules(pair, rules)), home, suite, rules)
    made = replace(made, sentence=sentence(pair, found, broke), first=broken.section(broke), acks=acks)
    write_named(home / EVIDENCE, harmless(evidence.page(made)))


def _rules(pair: Pair, rules: Rules) -> list[str]:
    """How many rules each side keeps, and which the candidate does not though the base does; nothing without rules."""
    both = [(name, first, second) for name, found in rules.items() for first, second in found]
    base = sum(first.outcome == "passed" for _, first, _ in both)
    mine = sum(second.outcome == "passed" for _, _, second in both)
    lost = [
        f"{name}: {second.rule.name} ({seen_range(first)} → {seen_range(second)})"
        for name, first, second in both
        if (first.outcome, second.outcome) == ("passed", "failed")
    ]
    if not both:
        return []
    said = f"rules of expect: {mine} of {len(both)} hold, {base} of {_base(pair)}"
    return [f"{said}; not any more: {', '.join(lost)}" if lost else said]


def _evidence(
    pair: Pair, found: RunComparison, notes: Sequence[str], home: Path, suite: frozenset[str], rules: Rules
) -> Evidence:
    """With a command for each cell that repeats the candidate's first trial of it."""
    results = [
        (scenario, root / "trials" / each.id, each)
        for scenario in found.primary
        if (root := home / scenario).is_dir()
        for each in reversed(Store(root).open().results())
    ]
    repeats = {
        (scenario, frozenset(each.params.items())): f"testbed run --repeat {shlex.quote(str(folder))}"
        for scenario, folder, each in results
    }
    objects = dict.fromkeys(filter(None, (bpf.told(each) for _, _, each in results)))
    on = tuple(
        f"{kind}: lab kernel {each.image.name} ({each.image.release})"
        + (f", control {each.control}" if each.control else "")
        + f", key {each.image.key[:12]}"
        for kind, each in (("base", pair.base), ("candidate", pair.candidate))
    )
    on += tuple(f"control in BPF: {each}" for each in objects)
    return Evidence(found, sentence(pair, found), tuple(notes), on, repeats, suite, rules)


def _rest(found: RunComparison) -> str:
    """What did not change, in one line."""
    primary, other = (Counter[str](), Counter[str]())
    for each in found.cells:
        (primary if found.is_primary(each.key) else other)[each.verdict] += 1
    parts = []
    for name, counts in (("primary cells", primary), ("other metrics of cells", other)):
        total = sum(counts.values())
        parts.append(f"of {total} {name} {counts['same']} are the same, {counts['cannot tell']} cannot be told")
    return f"not in the table: {'; '.join(parts)}"


def _undecided(found: RunComparison) -> list[str]:
    shown = [note for note in run_text.run_notes(found) if note.startswith(("cannot tell", "lost", run_text.ACROSS))]
    if alike := found.looks_worse:
        shown.append(
            f"{counted(len(alike), 'row')} of the table cannot be told, but would be worse by the t-test: so few seeds "
            "may be on two levels by chance, or the analysis may err less; a larger --budget tells more of primary "
            "metrics, and of others a scenario (--scenario) of which they are the primary one"
        )
    return shown


def markdown(pair: Pair, found: RunComparison, notes: Sequence[str], broke: Broken = MappingProxyType({})) -> str:
    """For a comment of a build server: the sentence first."""
    differ = "".join(f"- {escaped(each)}\n" for each in (*pair.differences, *notes))
    said = f"**{escaped(sentence(pair, found, broke))}**\n\n{broken.markdown(broke)}"
    return f"{said}{differ}\n{run_text.run_markdown(found)}"


def show_same_code(pair: Pair, home: Path) -> int:
    """For a candidate whose kernel is that of the base, byte for byte: nothing is measured."""
    said = (
        f"{pair.candidate.label} is the same as {_base(pair)}: its compiled kernel is the base's, byte for byte, "
        "so that each trial would be; nothing was run"
    )
    home.mkdir(parents=True, exist_ok=True)
    suites = ElementTree.Element("testsuites")
    counts = {"tests": "1", "failures": "0", "errors": "0", "skipped": "0", "time": "0", "id": "0"}
    counts |= {"name": "code", "package": "testbed.cc", "hostname": "localhost", "timestamp": _now()}
    suite = ElementTree.SubElement(suites, "testsuite", counts)
    ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(suite, "testcase", classname="kernel", name="the same code", time="0")
    ElementTree.SubElement(suite, "system-out").text = fit(said)
    ElementTree.SubElement(suite, "system-err")
    write_named(home / JUNIT, ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n")
    write_named(home / MARKDOWN, harmless(f"**{escaped(said)}**\n"))
    show([literal(paragraph(said, terminal_width()))])
    return 0


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
