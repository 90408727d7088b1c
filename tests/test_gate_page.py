"""docs/gate.md names every check of the gate, and every note: each place that makes one is a clause of its table."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from testbed.model.link.impairment import IMPAIRMENTS
from testbed.plan.link import fault

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "gate.md").read_text()
CODE = [path.read_text() for path in (ROOT / "testbed" / "trial").rglob("*.py")]
ROWS = {
    "key": ", ".join(fault.PICKING),
    "row.key": ", ".join(key for key, row in IMPAIRMENTS.items() if row.note is not None),
    "name": "shaper, policer, per flow, trace",
    "check": "ECN",
}
"""The row of a check whose name is a variable."""


def made(code: str) -> Iterator[str]:
    """The row of each finding that this code makes and that may be a note: `valid` is its verdict, or can be."""
    for function in ast.walk(ast.parse(code)):
        words = [each for each in ast.walk(function) if isinstance(each, ast.Constant) and each.value == "valid"]
        if not isinstance(function, ast.FunctionDef) or not words:
            continue
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and (name := ast.unparse(call.func)) in ("Finding", "_finding"):
                said = {each.arg: each.value for each in call.keywords}
                verdict = call.args[1] if name == "Finding" else said.get("verdict", ast.Constant("invalid"))
                if isinstance(verdict, ast.Name) or "'valid'" in ast.unparse(verdict):
                    check = call.args[0]
                    yield str(check.value) if isinstance(check, ast.Constant) else ROWS[ast.unparse(check)]


def table(heading: str) -> list[list[str]]:
    """The rows of a section's table."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]


def test_each_note_that_the_gate_may_leave_is_a_clause_of_its_row() -> None:
    found = Counter(row for code in CODE for row in made(code))
    assert found.total() > 40
    assert {row: len(clauses.split("; ")) for row, clauses in table("Notes")} == found


def test_each_check_has_a_row_and_each_row_a_check() -> None:
    calls = [each for code in CODE for each in ast.walk(ast.parse(code)) if isinstance(each, ast.Call)]
    first = [each.args[:2] for each in calls if ast.unparse(each.func) in ("Finding", "_finding", "too_little")]
    words = {str(each.value) for pair in first for each in pair if isinstance(each, ast.Constant)}
    found = {name for row in (*ROWS.values(), *words) for name in row.split(", ")} - {"valid", "suspect", "invalid"}
    rows = {name for heading in ("Checks", "Notes") for row in table(heading) for name in row[0].split(", ")}
    assert len(found) > 50
    assert rows == found


def test_a_note_is_told_from_other_findings() -> None:
    code = """
def check(case):
    verdict = "suspect" if case.is_odd else "valid"
    yield Finding("a", verdict, "one", "")
    yield Finding("b", "invalid" if case.virtual else "suspect", "two", "")
    yield Finding("c", "valid" if case.denies else "invalid", "three", "")
    yield _finding(key, case, "four")
    yield _finding("down", case, "five", verdict="valid")
"""
    assert list(made(code)) == ["a", "c", "down"]
    assert list(made('def check(case):\n    yield Finding("a", "invalid", "one", "")')) == []
