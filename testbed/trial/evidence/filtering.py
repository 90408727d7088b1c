"""What a trial's folder says of the rules of nftables of routers, before the workload and after it. Reads files of that
folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ...kernel.guest import TrialError
from ...model.topology import Topology
from ...plan.node import ruleset
from ..orders.file_name import rules_file
from .network import rules

Rule: TypeAlias = tuple[str, str, int | None]
"""Table and chain, the rule in words, and the packets that its counter has (None: it has no counter)."""


@dataclass(frozen=True)
class FilterEvidence:
    """One router's rules, in their order."""

    name: str
    before: tuple[Rule, ...]
    after: tuple[Rule, ...]

    @property
    def kept(self) -> bool:
        """Whether the rules were the same all the time, whatever they counted."""
        return [rule[:2] for rule in self.before] == [rule[:2] for rule in self.after]

    @property
    def met(self) -> tuple[Rule, ...]:
        """The packets that each rule met while the workload ran; only for rules that were kept."""
        pairs = zip(self.before, self.after, strict=False)
        return tuple(
            (where, text, None if last is None or first is None else last - first)
            for (_, _, first), (where, text, last) in pairs
        )


def read(topology: Topology, folder: Path) -> tuple[FilterEvidence, ...]:
    """Raises TrialError for what nft cannot have said."""
    try:
        return tuple(
            FilterEvidence(
                node.name, *(tuple(rules(folder / rules_file(node.name, when))) for when in ("before", "after"))
            )
            for node in ruleset.routers(topology)
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrialError(f"what nft said of a router makes no sense: {error!r}") from None
