"""What the gate finds, and what follows from it for a result. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["valid", "suspect", "invalid"]


@dataclass(frozen=True)
class Finding:
    """Something to read before trusting a result; with the verdict `valid` a note. `hint` says what to do about it."""

    check: str
    verdict: Verdict
    text: str
    hint: str

    def __str__(self) -> str:
        return f"{self.check}: {self.text} ({self.hint})"


def verdict(findings: tuple[Finding, ...]) -> Verdict:
    """The worst of the findings; valid if there are none."""
    verdicts = {finding.verdict for finding in findings}
    return "invalid" if "invalid" in verdicts else "suspect" if "suspect" in verdicts else "valid"
