"""A row: one table, figure, number or finding of a publication, its criterion and its judge. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from testbed.api import Claim

from .check import ERROR, Decision, Part, decide
from .measured import Measured

Outcome: TypeAlias = Literal["pass", "fail", "cannot tell", "not run"]


@dataclass(frozen=True)
class Criterion:
    """What a row must meet, in words with its bounds, and the `source` of these: what is printed where. It is written
    before the runs that it judges.

    How a bound follows from what is printed: a number x is met within half a unit of its last digit; one that is
    printed as approximate ("about x"), within half a unit of its last digit other than 0. A bound is met beyond it, and
    an order by differences beyond 0.
    "Alike", "close to", "no effect": at most 5 % apart, as rates are printed as whole Gbit/s of 10, and an effect of
    memory that is called none is up to 4.65 %. "Apart", "noticeable", "matters": more than the same 5 %. "The line
    rate" is 95 % or more of a full link's goodput. "Much lower": less than half. A profile is concave if its C_CC is
    above 0, and convex if it is below. A trend is the slope of a line through values in order, by least squares.
    Where a row claims a shape, orders and bends are judged; numbers only where its criterion says so.

    `repeats` is the id of the row whose finding this one judges again, on the same data; empty if it has its own.
    """

    text: str
    source: str
    repeats: str = ""


@dataclass(frozen=True)
class Judgement:
    """The judgement of a row: our result in words, the parts of its criterion, and what limits it; and the chance that
    it is wrong.
    """

    ours: str
    parts: tuple[Part, ...] = ()
    why: str = ""
    error: float = ERROR

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return decide(self.parts, self.error)

    @property
    def outcome(self) -> Outcome:
        """`fail` if a part is not met, `pass` only if all are, and there are any."""
        verdicts = {each.verdict for each in self.decisions}
        return "fail" if "not met" in verdicts else "pass" if verdicts == {"met"} else "cannot tell"

    @property
    def reasons(self) -> str:
        """The parts that are not met or cannot be told, with what was found."""
        kinds = {kind: [str(each) for each in self.decisions if each.verdict == kind] for kind in ORDER}
        return "; ".join(f"{kind}: {', '.join(words)}" for kind, words in kinds.items() if words)


ORDER = ("not met", "cannot tell")

Judge: TypeAlias = Callable[[Mapping[str, Measured]], Judgement]


QUICK = "quick size: "


@dataclass(frozen=True)
class Row:
    """One row. `id` begins with the publication ("S3-F7"; "K…" are checks over several rows).

    `source` is the published profile, `where` the section, table or figure. `expected` says, in our words, what is
    printed. `facts` are the keys of the profile that it is based on. `scenarios` are the runs that `judge` gets, by
    name; a formula needs none. A row without a `judge` is not run, and `limits` says why; for other rows `limits` says
    how our conditions differ from the publication's, and behind QUICK how those of the quick size do. `needs` are the
    node types and engines of the scenarios. A row that is run without a `criterion` has nothing to meet, as nothing is
    printed.
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
    criterion: Criterion | None = None

    def __post_init__(self) -> None:
        assert self.judge is not None or not self.scenarios, f"BUG: {self.id} is run and never judged"
        assert self.judge is not None or self.limits, f"BUG: {self.id} is not run and does not say why"
        assert self.judge is not None or self.criterion is None, f"BUG: {self.id} is not run and has a criterion"


@dataclass(frozen=True)
class Cost:
    """How many trials of a scenario ran in one size, and for how many seconds of a processor."""

    trials: int
    cpu_s: float


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
        criterion: Criterion | None = None,
    ) -> Row:
        return Row(id, self.source, where, what, expected, claim, limits, facts, scenarios, judge, criterion=criterion)

    def data(self, id: str, where: str, what: str, expected: str, limits: str, *facts: str) -> Row:
        """A row that is not run; `limits` says why."""
        return Row(id, self.source, where, what, expected, "data only", limits, facts)


@dataclass(frozen=True)
class Finding:
    """A row with its judgement; `judgement` is None if the row was not run, and `why` gives the reason.

    `lost` is the number of trials behind it that are invalid: then it cannot pass. `is_full`: it is judged by trials of
    the full size.
    """

    row: Row
    judgement: Judgement | None
    why: str = ""
    lost: int = 0
    is_full: bool = False

    @property
    def limits(self) -> str:
        """Those of its row that limit this result; what limits the quick size is the end of a row's."""
        return self.row.limits.partition(QUICK)[0].rstrip("; ") if self.is_full else self.row.limits

    @property
    def outcome(self) -> Outcome | None:
        """None where there is no criterion to meet."""
        if self.judgement is None:
            return "not run"
        if self.row.criterion is None:
            return None
        outcome = self.judgement.outcome
        return "cannot tell" if outcome == "pass" and self.lost else outcome

    @property
    def is_decided(self) -> bool:
        return self.outcome in ("pass", "fail")
