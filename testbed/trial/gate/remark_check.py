"""Notes on what a trial asked for in vain; none of them is a fault. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence.case import Case
from ..orders.remark import remarks
from ..result import Finding


def in_vain(case: Case) -> Iterator[Finding]:
    for check, what, hint in remarks(case.trial, case.plan):
        yield Finding(check, "valid", what, hint)
