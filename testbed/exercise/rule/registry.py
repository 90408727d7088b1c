"""A rule of `expect`: its name, its points, and what it asks, of one of the kinds. Pure, no I/O.

A new kind is a class in a module of this package, and its line in KINDS there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field, create_model

from ...spec.syntax.document import Fault
from ...spec.syntax.field import Lines, Name
from ...spec.syntax.file_model import FileModel
from . import answer, convergence, flow_table, measure, node_state, packet, reach
from .action import Action
from .common import Count, Kind

KINDS: dict[str, type[Kind]] = {
    **reach.KINDS,
    **flow_table.KINDS,
    **packet.KINDS,
    **node_state.KINDS,
    **convergence.KINDS,
    **measure.KINDS,
    **answer.KINDS,
}
"""By the key that a rule has."""


class _Rule(FileModel):
    """What all rules have."""

    name: Name
    points: Count = 1
    message: Lines = Field(description="What the student is told if the rule does not hold.")
    before: list[Action] = Field([], description="What happens first.")
    needs: list[Name] = Field([], description="Rules that must hold, so that this one counts.")

    @property
    def kinds(self) -> list[str]:
        """The keys of kinds that it has."""
        return [key for key in KINDS if getattr(self, key.replace("-", "_")) is not None]

    @property
    def kind(self) -> Kind:
        """What it asks."""
        found: Kind = getattr(self, self.kinds[0].replace("-", "_"))
        return found

    def faults(self) -> Iterator[Fault]:
        """What is wrong between its keys."""
        if len(self.kinds) != 1:
            what = f"the rule {self.name!r} asks {'nothing' if not self.kinds else ' and '.join(self.kinds)}"
            yield Fault((), what, f"one of {', '.join(KINDS)}", named=True)
            return
        (key,) = self.kinds
        yield from (fault.under(key) for fault in self.kind.faults())
        for number, action in enumerate(self.before):
            yield from (fault.under("before", number) for fault in action.faults())
        if self.kind.is_negative and not self.needs:
            what = f"the rule {self.name!r} holds in a network in which nothing works"
            yield Fault((key,), what, "needs: [NAME] with a rule that does not", named=True)


_FIELDS: dict[str, Any] = {
    key.replace("-", "_"): (kind | None, Field(None, alias=key, description=kind.__doc__))
    for key, kind in KINDS.items()
}
RuleFile: type[_Rule] = create_model("RuleFile", __base__=_Rule, **_FIELDS)
Rule = _Rule
