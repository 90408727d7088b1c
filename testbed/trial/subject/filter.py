"""The rules of nftables of routers, before the workload and after it: did they stay as they were asked, and did they
meet packets? Reads files of a trial's folder.

The rules of `nat` and `firewall` on the data path are also compared word by word, by `network_check`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from ...codec.frozen import dataclass
from ...kernel.guest import TrialError
from ...model.scenario import Trial
from ...plan.command import PREFIX, facts
from ...plan.network import Plan
from ...plan.node import ruleset
from ...plan.node.namespace import node_netns
from ...plan.step import Location, Run, Step
from ..evidence.case import Case, Subject, When
from ..observe.nftables import RULESET, rules
from ..result import Finding

Rule: TypeAlias = tuple[str, str, int | None]
"""Table and chain, the rule in words, and the packets that its counter has (None: it has no counter)."""


HINT = "somebody changed the rules while the trial ran, or nft did not load them"


def rules_file(router: str, when: str) -> str:
    """All rules of nftables of a router, in JSON."""
    return f"rules-{router}-{when}.json"


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


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    for node in ruleset.routers(trial.topology) if when in ("before", "after") else ():
        out = rules_file(node.name, when)
        yield Run(RULESET, "rules", Location(node_netns(node.name)), out=out)


def read(trial: Trial, plan: Plan, folder: Path) -> tuple[FilterEvidence, ...]:
    """Raises TrialError for what nft cannot have said."""
    try:
        return tuple(
            FilterEvidence(
                node.name, *(tuple(rules(folder / rules_file(node.name, when))) for when in ("before", "after"))
            )
            for node in ruleset.routers(trial.topology)
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrialError(f"what nft said of a router makes no sense: {error!r}") from None


def kept(case: Case, seen: tuple[FilterEvidence, ...]) -> Iterator[Finding]:
    """Every router that was asked to have rules has them, as many as were asked, before and after the workload."""
    told = {each.name: each for each in seen}
    for node in ruleset.routers(case.trial.topology):
        found = told.get(node.name)
        if found is None or not found.before:
            yield Finding("rules", "invalid", f"{node.name} was asked to have rules of nftables, and has none", HINT)
        elif not found.kept:
            yield Finding("rules", "invalid", f"the rules of {node.name} changed during the workload", HINT)
        elif node.router is not None and node.router.nftables is None:
            asked = _asked(case.plan, node.name)
            if [text for _, text, _ in found.before] != asked:
                yield Finding("rules", "invalid", f"{node.name} has other rules than the {len(asked)} asked", HINT)


def met(case: Case, seen: tuple[FilterEvidence, ...]) -> Iterator[Finding]:
    """Data that leave by the outer link of a router with NAT are translated; those that a firewall passes, met it."""
    paths = [each for each in (case.plan.data_path, case.plan.upstream) if each is not None]
    ends = {end for path in paths for hop in (*path.path, *path.answers) for end in hop.link.ends}
    hosts = {host for path in paths for host in (path.source, path.destination)}
    for each in seen:
        router = case.trial.topology.node(each.name).router
        if router is None or each.name not in ends - hosts or not each.kept:
            continue
        left = any(
            hop.link.name == router.nat.out and hop.link.ends[0 if hop.way == "forward" else 1] == each.name
            for path in paths
            for hop in path.path
            if router.nat is not None
        )
        if left and not _met(each, "leaving"):
            what = f"{each.name} translated no address, though data left by {router.nat.out if router.nat else ''}"
            yield Finding("rules", "invalid", what, "the data took another path, or the rule was not there")
        if router.firewall is not None and not _met(each, "forwarded"):
            what = f"no packet met a rule of the firewall of {each.name}"
            yield Finding("rules", "suspect", what, "without a match everything is allowed: was that meant?")


def _met(each: FilterEvidence, chain: str) -> int:
    """Packets since the rules were made: a translation counts the first packet of a connection, which may be a ping."""
    return sum(packets or 0 for where, _, packets in each.after if where.split()[-1] == chain)


def _asked(plan: Plan, router: str) -> list[str]:
    """The rules of the plan, in the order in which nft lists them: by table, then by chain."""
    mine = facts(command for command in plan.commands if command.netns == f"{PREFIX}{router}")
    return [value for (_, what), value in mine.items() if what.startswith("rule ")]


FILTERS = Subject(name="filters", kind=tuple[FilterEvidence, ...], read=read, steps=steps, checks=(kept, met))
