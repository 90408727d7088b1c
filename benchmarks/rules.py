"""Which rules of the regression scenarios a control meets: `python -m benchmarks rules [CONTROL …]`.

Runs each scenario of `testbed cc`'s suite with the control in the place of CUBIC, and prints a table in Markdown: for
each rule its bound, and for each control the range of what was seen in all trials of the rule. Bold is a rule that does
not hold; a star says that by the literature this control does not meet it (the scenario's file has the source).
Without controls they are cubic, reno and bbr. Finished trials are in `-o` and do not run again.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from testbed.analysis.expectation.verdict import Verdict, seen_range
from testbed.commands.candidate.contender import CUBIC, Contender
from testbed.commands.candidate.suite import GROUPS, named, ours
from testbed.commands.candidate.under_test import under_test
from testbed.commands.measure.run import carry_out
from testbed.kernel.image.cache import find
from testbed.model.run_setting import LAB
from testbed.spec.load import files_of, load_scenario
from testbed.sweep.expectation import judged
from testbed.sweep.store import Store

CONTROLS, SEEDS = ("cubic", "reno", "bbr"), 3
SAID = re.compile(r"By the literature ([a-z ]+?) do(?:es)? not meet ([\w-]+):")
HOLDS: Mapping[str, str] = {"passed": "{}", "failed": "**{}**", "not checked": "not checked"}


def literature(path: Path) -> frozenset[tuple[str, str]]:
    """Controls and names of rules that they do not meet, by what a scenario's file cites."""
    text = " ".join(line.lstrip("# ") for line in path.read_text().splitlines() if line.startswith("#"))
    return frozenset((control, rule) for controls, rule in SAID.findall(text) for control in controls.split(" and "))


def verdicts(path: Path, control: str, folder: Path, seeds: int, jobs: int) -> tuple[Verdict, ...]:
    """What became of the rules of a scenario with this control; runs what is missing."""
    side = Contender(control, control, LAB, find(None))
    scenario = under_test(load_scenario(path), side, CUBIC, seeds)
    store = Store(folder / control / path.stem)
    carry_out(scenario, store, files_of(path), jobs, Console(stderr=True))
    return judged(store, store.results())


def rows(path: Path, found: Mapping[str, Sequence[Verdict]]) -> list[tuple[str, ...]]:
    """A row for each rule; `found` are the verdicts by control."""
    known = literature(path)
    made = []
    for each in zip(*found.values(), strict=True):
        rule = each[0].rule
        cells = [
            HOLDS[verdict.outcome].format(seen_range(verdict)) + ("\\*" if (control, rule.name) in known else "")
            for control, verdict in zip(found, each, strict=True)
        ]
        made.append((f"`{path.stem}`", rule.name, f"{rule.what} {rule.wanted}", *cells))
    return made


def table(heads: Sequence[str], made: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *made]
    return "\n".join(f"| {' | '.join(each)} |" for each in lines)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks rules")
    parser.add_argument("controls", nargs="*", default=CONTROLS, metavar="CONTROL")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/rules"))
    parser.add_argument("--scenario", action="append", type=Path)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args(words)
    made: list[tuple[str, ...]] = []
    for path in asked.scenario or ours(named([*GROUPS])):
        found = {each: verdicts(path, each, asked.output, asked.seeds, asked.jobs) for each in asked.controls}
        made += rows(path, found)
    print(table(("scenario", "rule", "bound", *asked.controls), made))
    return 0
