"""A row: one table, figure, number or finding of a publication, and how it is judged here. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..published import Claim
from .measured import Measured

Outcome: TypeAlias = Literal["pass", "fail", "not run"]


@dataclass(frozen=True)
class Judgement:
    """What came out for a row: ours in words, with its interval where there are repetitions.

    `is_met` None is a row that has nothing to be met. `why` explains a failure, or what limits a success.
    """

    ours: str
    is_met: bool | None
    why: str = ""


Judge: TypeAlias = Callable[[Mapping[str, Measured]], Judgement]


@dataclass(frozen=True)
class Row:
    """One row. `id` begins with the publication ("S3-F7"; "K…" are checks over several rows).

    `source` is the published profile and `where` the place in it. `expected` says, in our words, what is printed.
    `facts` are the keys of that profile behind it. `scenarios` are the runs that `judge` gets, by name; a formula
    needs none. Without a `judge` the row is not run, and `limits` says why; otherwise what is not as it was there.
    `needs` are node types and engines without which the scenarios cannot be read.
    """

    id: str
    source: str
    where: str
    what: str
    expected: str
    claim: Claim
    limits: str
    facts: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    judge: Judge | None = None
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert self.judge is not None or not self.scenarios, f"BUG: {self.id} is run and never judged"
        assert self.judge is not None or self.limits, f"BUG: {self.id} is not run and does not say why"


@dataclass(frozen=True)
class Publication:
    """Makes the rows of one published profile."""

    source: str

    def row(
        self,
        id: str,
        where: str,
        what: str,
        expected: str,
        claim: Claim,
        judge: Judge,
        scenarios: tuple[str, ...],
        limits: str,
        *facts: str,
    ) -> Row:
        return Row(id, self.source, where, what, expected, claim, limits, facts, scenarios, judge)

    def data(self, id: str, where: str, what: str, expected: str, limits: str, *facts: str) -> Row:
        """One that is not run; `limits` says why."""
        return Row(id, self.source, where, what, expected, "data only", limits, facts)


@dataclass(frozen=True)
class Finding:
    """A row with what came out; `judgement` None is a row that was not run, and `why` says the reason."""

    row: Row
    judgement: Judgement | None
    why: str = ""

    @property
    def outcome(self) -> Outcome | None:
        """None where nothing had to be met."""
        if self.judgement is None:
            return "not run"
        return None if self.judgement.is_met is None else "pass" if self.judgement.is_met else "fail"
