"""A rule of `expect`: its name, its points, and what it asks, of one of the kinds. Pure, no I/O.

A new kind is a class in a module of this package, and its line in KINDS there.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from ...codec.fault import Fault
from ...codec.keyed import Keyed, key, named
from ...codec.kind import LINES, NAME, listed, record
from . import answer, convergence, flow_table, measure, node_state, packet, reach
from .action import Action
from .common import COUNT, Kind

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


@named
class _Rule(Keyed):
    """What all rules have."""

    name: str = key("name", NAME)
    points: int = key("points", COUNT, default=1)
    message: str = key("message", LINES, "What the student is told if the rule does not hold.")
    before: tuple[Action, ...] = key("before", listed(record(Action)), "What happens first.", default=())
    needs: tuple[str, ...] = key("needs", listed(NAME), "Rules that must hold, so that this one counts.", default=())

    @property
    def kinds(self) -> list[str]:
        """The keys of kinds that it has."""
        return [each for each in KINDS if getattr(self, each.replace("-", "_")) is not None]

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
        (asked,) = self.kinds
        yield from (fault.under(asked) for fault in self.kind.faults())
        for number, action in enumerate(self.before):
            yield from (fault.under("before", number) for fault in action.faults())
        if self.kind.is_negative and not self.needs:
            what = f"the rule {self.name!r} holds in a network in which nothing works"
            yield Fault((asked,), what, "needs: [NAME] with a rule that does not", named=True)


def _rule_keys() -> type[_Rule]:
    """A class with a key for each kind."""
    found: dict[str, Any] = {
        key_name.replace("-", "_"): key(key_name, record(kind), inspect.cleandoc(kind.__doc__ or ""), default=None)
        for key_name, kind in KINDS.items()
    }
    made: type[_Rule] = named(
        type("RuleFile", (_Rule,), {**found, "__annotations__": dict.fromkeys(found, "Any"), "__doc__": _Rule.__doc__})
    )
    return made


RuleFile = _rule_keys()
Rule = _Rule
