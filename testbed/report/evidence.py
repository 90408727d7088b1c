"""The evidence page of a change of congestion control: what was measured, by the sections of RFC 9743. Pure, but for
reading the page's style.

RFC 9743 (BCP 133, "Specifying New Congestion Control Algorithms") lists what an author should show. A section has the
scenarios of `scenarios/regression` that show a part of it. One without any is named as not tested, and so is one whose
scenarios did not run.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from ..analysis.expectation.verdict import Verdict, seen_range
from ..browser.page_text import asset
from ..codec.frozen import dataclass
from ..compare import run_text
from ..compare.headline import headline, tolerance_text
from ..compare.run import CellKey, Outcome, RunComparison
from ..error import harmless
from .page import ASSETS

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The page has no script."""


@dataclass(frozen=True)
class Section:
    """A section of the RFC, the scenarios that show a part of it, and what they leave out; or `why` there is none."""

    title: str
    scenarios: tuple[str, ...] = ()
    beyond: str = ""
    why: str = ""


GROUPS: tuple[tuple[str, tuple[Section, ...]], ...] = (
    (
        "Single Algorithm Behavior",
        (
            Section(
                "Protection Against Congestion Collapse",
                ("timeout", "high-loss"),
                "many flows at a drop rate that lasts",
            ),
            Section("Protection Against Bufferbloat", ("bufferbloat", "second-flow")),
            Section("Protection Against High Packet Loss", ("high-loss", "shallow-buffer")),
            Section(
                "Fairness within the Proposed Congestion Control Algorithm",
                ("start-stop", "second-flow", "rtt-unfairness"),
            ),
            Section("Short Flows", ("short-flows",), "sizes other than 50 kB"),
        ),
    ),
    (
        "Mixed Algorithm Behavior",
        (
            Section(
                "Existing General-Purpose Congestion Control",
                ("harm", "coexistence", "minority"),
                "RTTs that differ between the two",
            ),
            Section(
                "Real-Time Congestion Control", ("latency",), "controls of real-time media; here pings share the queue"
            ),
            Section("Short and Long Flows", ("short-vs-long", "long-vs-short")),
        ),
    ),
    (
        "Other Criteria",
        (
            Section("Differences with Congestion Control Principles", why="it is for the author to state"),
            Section("Incremental Deployment", ("minority", "harm")),
        ),
    ),
    (
        "General Use",
        (
            Section("Paths with Tail-Drop Queues", ("bulk", "shallow-buffer", "bufferbloat", "harm")),
            Section("Tunnel Behavior", why="topologies have no tunnels"),
            Section("Wired Paths", ("bulk",), "rates beyond 100 Mbit/s"),
            Section("Wireless Paths", ("random-loss", "loss-bursts", "variable-rate", "aggregation")),
        ),
    ),
    (
        "Special Cases",
        (
            Section("Active Queue Management (AQM)", ("aqm", "classic-ecn", "dualpi2")),
            Section(
                "Operation with the Envelope Set by Network Circuit Breakers",
                why="no node of the lab is a circuit breaker (RFC 8084)",
            ),
            Section("Paths with Varying Delay", ("varying-delay", "undo-delay")),
            Section("Internet of Things", ("low-bdp",), "nodes with little memory; here the path is narrow"),
            Section("Paths with High Delay", ("high-delay",)),
            Section(
                "Misbehaving Nodes",
                ("unresponsive", "policer"),
                "receivers and routers that lie: acknowledgements of what did not come, marks that are removed",
            ),
            Section("Extreme Packet Reordering", ("reordering", "undo-reorder")),
            Section("Transient Events", ("idle", "rate-step", "app-limited")),
            Section(
                "Sudden Changes in the Path",
                ("rate-step", "delay-step", "timeout", "probe-fall", "recovery-rise", "probe-rtt-fall"),
            ),
            Section("Multipath Transport", why="the lab kernel has no MPTCP"),
            Section("Data Centers", ("incast", "ecn-step"), "rates beyond 1 Gbit/s, many paths"),
        ),
    ),
)  # fmt: skip

CLASSES: Mapping[Outcome, str] = {
    "worse": "invalid", "lost": "invalid", "cannot tell": "suspect", "same": "valid", "better": "valid",
}  # fmt: skip
COLUMNS = ("cell", "metric", "base", "candidate", "difference", "95 % interval", "seeds", "tolerance", "verdict")


CellName: TypeAlias = tuple[str, frozenset[tuple[str, str]]]
"""A scenario, and the parameters of one of its cells."""
Rules: TypeAlias = Mapping[str, Sequence[tuple[Verdict, Verdict]]]
"""By scenario: what became of each rule with the base, and with the candidate."""


@dataclass(frozen=True)
class Evidence:
    """A comparison and what the page says around it: the verdict in a sentence, `differences` of the sides, what they
    ran `on`, and for each cell the command that repeats a trial of it. `suite` are the scenarios that are the testbed's
    own: one of the author's belongs to no section, whatever it is called. `rules` are those of `expect`, `acks` the
    pages beside this one that show each ACK of a cell. `first` is HTML of what comes before all others.
    """

    found: RunComparison
    sentence: str
    differences: tuple[str, ...]
    on: tuple[str, ...]
    repeats: Mapping[CellName, str]
    suite: frozenset[str]
    rules: Rules = field(default_factory=dict)
    acks: Mapping[CellName, str] = field(default_factory=dict)
    first: Sequence[str] = ()

    @property
    def of_suite(self) -> RunComparison:
        """What was found of the testbed's own scenarios."""
        cells = tuple(each for each in self.found.cells if each.key.scenario in self.suite)
        gaps = tuple(each for each in self.found.gaps if each.cell.scenario in self.suite)
        return replace(self.found, cells=cells, gaps=gaps, across=())


def part(found: RunComparison, scenario: str) -> RunComparison | None:
    """What was found of one scenario; None if nothing of it was run."""
    cells = tuple(each for each in found.cells if each.key.scenario == scenario)
    gaps = tuple(each for each in found.gaps if each.cell.scenario == scenario)
    return replace(found, cells=cells, gaps=gaps, across=()) if cells or gaps else None


def outcome(section: Section, found: RunComparison) -> Outcome | None:
    """The worst outcome of its scenarios; None if none of them was run."""
    parts = [each for name in section.scenarios if (each := part(found, name)) is not None]
    cells = tuple(cell for each in parts for cell in each.cells)
    gaps = tuple(gap for each in parts for gap in each.gaps)
    return replace(found, cells=cells, gaps=gaps).verdict if parts else None


def page(evidence: Evidence) -> str:
    """The whole file: HTML without scripts."""
    found = evidence.found
    lines = [f"<h1>{_text(evidence.sentence)}</h1>", _list(evidence.differences), *evidence.first]
    lines += ["<h2>Overview</h2>", *_overview(evidence.of_suite)]
    shown: set[str] = set()
    for title, sections in GROUPS:
        lines.append(f"<h2>{_text(title)}</h2>")
        for section in sections:
            lines += _section(section, evidence, shown)
    others = [name for name in found.primary if name not in shown and part(found, name) is not None]
    if others:
        lines.append("<h2>Scenarios that belong to no section</h2>")
        lines += [line for name in others for line in _scenario(name, evidence, shown)]
    lines += ["<h2>What it rests on</h2>", _list((*evidence.on, *_claims(found), *run_text.run_notes(found)))]
    lines += ["<h2>What was not tested</h2>", _list(_untested(evidence.of_suite))]
    title = _text(f"{evidence.sentence.split(':')[0]}: evidence")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(POLICY)}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n'
        f"<style>{asset(ASSETS, 'page.css')}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(lines)
        + "\n</main>\n</body>\n</html>\n"
    )


def _overview(found: RunComparison) -> list[str]:
    rows = []
    for title, sections in GROUPS:
        for each in sections:
            verdict = _badge(outcome(each, found))
            rows.append(f'<tr><td>{_text(title)}</td><td><a href="#{_anchor(each.title)}">{_text(each.title)}</a></td>')
            rows.append(f"<td>{verdict}</td></tr>")
    named = "RFC 9743 (BCP 133), Specifying New Congestion Control Algorithms"
    source = f'<p class="quiet">The sections are those of {named}. A verdict compares the candidate with the base.</p>'
    head = "<thead><tr><th>part</th><th>section</th><th>verdict</th></tr></thead>"
    return [source, f'<div class="scroll"><table>{head}<tbody>{"".join(rows)}</tbody></table></div>']


def _section(section: Section, evidence: Evidence, shown: set[str]) -> list[str]:
    verdict = outcome(section, evidence.of_suite)
    lines = [f'<h3 id="{_anchor(section.title)}">{_text(section.title)} {_badge(verdict)}</h3>']
    if verdict is None:
        ran = (
            f"its scenarios did not run: {', '.join(section.scenarios)}"
            if section.scenarios
            else f"no scenario shows it: {section.why}"
        )
        return [*lines, f'<p class="quiet">Not tested: {_text(ran)}.</p>']
    for name in section.scenarios:
        known = part(evidence.of_suite, name) is not None
        lines += _scenario(name, evidence, shown) if known else [f'<p class="quiet">{_text(name)} did not run.</p>']
    if section.beyond:
        lines.append(f'<p class="quiet">Not tested of it: {_text(section.beyond)}.</p>')
    return lines


def _scenario(name: str, evidence: Evidence, shown: set[str]) -> list[str]:
    """Its table, once; from then on a link to it."""
    mine = part(evidence.found, name)
    assert mine is not None, "BUG: a scenario without a cell has no table"
    said = f"<p><b>{_text(name)}</b> {_badge(mine.verdict)} {_text(headline(mine))}"
    if name in shown:
        return [f'{said} (<a href="#scenario-{_anchor(name)}">its table</a>)</p>']
    shown.add(name)
    at = [run_text.RUN_HEADERS.index(each) for each in COLUMNS]
    rows = [
        "".join(f"<td>{_text(row[place])}</td>" for place in at[:-1]) + f"<td>{_badge(row[-1])}</td>"
        for row in run_text.run_rows(mine)
    ]
    head = "".join(f"<th>{_text(each)}</th>" for each in COLUMNS)
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody>"
    commands = [
        f"<li>{_text(mine.label(key.cell))}: <code>{_text(command)}</code></li>"
        for key in _cells(mine)
        if (command := evidence.repeats.get((name, frozenset(key.params)))) is not None
    ]
    link = "each ACK of one seed, base and candidate"
    pages = [
        f'<p>{_text(mine.label(key.cell))}: <a href="{html.escape(file)}">{link}</a></p>'
        for key in _cells(mine)
        if (file := evidence.acks.get((name, frozenset(key.params)))) is not None
    ]
    return [
        f'<div id="scenario-{_anchor(name)}">{said}</p>',
        f'<div class="scroll"><table>{table}</table></div>',
        *pages,
        *_rules(evidence.rules.get(name, ())),
        f"<details><summary>To repeat a cell, type</summary><ul>{''.join(commands)}</ul></details></div>",
    ]


def _rules(rules: Sequence[tuple[Verdict, Verdict]]) -> list[str]:
    """What each side shows of the rules, whose sources are in the scenario's file."""
    if not rules:
        return []
    rows = "".join(
        f"<tr><td>{_text(rule.name)}</td><td>{_text(f'{rule.measured} {rule.wanted}')}</td>"
        f"{''.join(f'<td>{_text(seen_range(each))} {_outcome(each)}</td>' for each in both)}</tr>"
        for both in rules
        for rule in (both[0].rule,)
    )
    head = "<thead><tr><th>rule</th><th>asked</th><th>base</th><th>candidate</th></tr></thead>"
    return [f'<div class="scroll"><table>{head}<tbody>{rows}</tbody></table></div>']


def _outcome(verdict: Verdict) -> str:
    kind = {"passed": "valid", "failed": "invalid"}.get(verdict.outcome, "quiet")
    return f'<span class="badge {kind}">{_text(verdict.outcome)}</span>'


def _cells(found: RunComparison) -> list[CellKey]:
    return list({each.key.cell: each.key for each in found.cells}.values())


def _claims(found: RunComparison) -> tuple[str, ...]:
    return (
        f"a metric is the same if its mean changed by at most {tolerance_text(found)}: a statement about these cells, "
        "and no praise where the base itself does badly; the error of 5 % is that of all cells together",
        "paths are emulated, hosts run Linux's own TCP, and computing takes no time (virtual time)",
    )


def _untested(found: RunComparison) -> tuple[str, ...]:
    lines = []
    for _, sections in GROUPS:
        for each in sections:
            if outcome(each, found) is None:
                lines.append(f"{each.title}: {each.why}" if each.why else each.title)
            elif each.beyond:
                lines.append(f"{each.title}: {each.beyond}")
    return tuple(lines)


def _badge(verdict: str | None) -> str:
    if verdict is None:
        return '<span class="badge quiet">not tested</span>'
    kind = next((name for known, name in CLASSES.items() if known == verdict), "quiet")
    return f'<span class="badge {kind}">{_text(verdict)}</span>'


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(each)}</li>' for each in lines)}</ul>"


def _anchor(text: str) -> str:
    return "".join(each if each.isalnum() else "-" for each in text.lower())


def _text(text: str) -> str:
    return html.escape(harmless(text))
