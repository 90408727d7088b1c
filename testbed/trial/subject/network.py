"""The whole network, read back after the workload: are devices, addresses, routes, rules, queues and settings those of
the plan, and no others? Reads files of a trial's folder.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from ipaddress import ip_network
from pathlib import Path

from ...codec.frozen import dataclass
from ...model.scenario import Trial
from ...plan.command import ALL_IS_ASKED, FEATURES, Facts, facts
from ...plan.network import Plan
from ...plan.node import ruleset
from ...plan.node.namespace import node_netns
from ...plan.step import Read, Run, Step
from ..evidence.case import Case, Subject, When
from ..observe import network
from ..observe.nftables import RULESET, ruleset_facts
from ..observe.sample import Query, device_numbers
from ..result import Finding
from ..start import bring_up
from .filter import rules_file
from .observer import AFTER, is_observed, observed, passed

KINDS = ("address", "route", "neighbour")
TCP_SETTINGS = "/proc/sys/net/ipv4"

HINT = "a command of the plan had no effect, or somebody changed its settings later"

SHOWN = 5
"""At most so many differences become findings."""

OWN_SETTINGS = ("tcp_fastopen_key",)
"""What the kernel draws for each namespace."""


@dataclass(frozen=True)
class NetworkEvidence:
    """`reference` is a namespace in it whose TCP has the kernel's own settings (None: there is none)."""

    facts: Facts
    reference: str | None = None


def chains_file(link: str) -> str:
    """All rules of nftables of an emulator after the workload, in JSON."""
    return f"chains-{link}.json"


def sysctls_file(node: str) -> str:
    """All settings of TCP and IP of a host."""
    return f"sysctls-{node}.txt"


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    for emulator in plan.emulators if when == "rules" else ():
        yield Run(RULESET, "rules", plan.where_in(emulator.netns), out=chains_file(emulator.link))
    if when == "settings":
        yield from _settings_steps(trial, plan)


def observed_after(trial: Trial, plan: Plan) -> tuple[Query, ...]:
    """What the observer is asked after the workload: what it was asked before, and all that was set up."""
    return (*observed(trial, plan), *_queries(trial, plan))


def read(trial: Trial, plan: Plan, folder: Path) -> NetworkEvidence:
    return NetworkEvidence(_facts(trial, plan, folder), reference(plan, looked_at(trial, plan)))


def expected(trial: Trial, planned: Plan, until_ns: int = -1) -> Facts:
    """The facts of what is read back, and of the namespace in which the plan starts; with the changes of the timeline
    up to `until_ns` after its start.
    """
    places = ("", *looked_at(trial, planned))
    later = (command for moment in planned.timeline if moment.at_ns <= until_ns for command in moment.commands)
    found = facts(later, facts(bring_up.prelude(trial.kernel)) | planned.facts)
    return {place: value for place, value in found.items() if place[0] in places}


def looked_at(trial: Trial, planned: Plan) -> tuple[str, ...]:
    """The namespaces that are read back, on this computer and on machines: emulators, and the nodes that data and
    answers pass.
    """
    nodes = (node_netns(node) for node in passed(trial, planned) if is_observed(planned, node))
    return tuple(dict.fromkeys((*(e.netns for e in planned.emulators), *nodes)))


def _queries(trial: Trial, planned: Plan) -> Iterator[Query]:
    asked = expected(trial, planned)
    impaired = {each.netns for each in planned.emulators}
    for each in looked_at(trial, planned):
        yield from (Query(kind, each) for kind in KINDS)
        yield from (Query(kind, each) for kind in ("qdisc",) if each not in impaired)
        yield from (Query("rule", each) for _ in planned.emulators[:1])
        if (each, "br0 vlan_filtering") in asked:
            yield Query("vlan", each)
    features = dict.fromkeys((place[0], place[1].split()[0]) for place in asked if place[1].split()[-1] in FEATURES)
    yield from (Query("feature", each, device) for each, device in features)


def _settings_steps(trial: Trial, planned: Plan) -> Iterator[Step]:
    """Reads the files below /proc/sys and /sys that the plan wrote, and the kernel's own settings of TCP."""
    asked, netns = expected(trial, planned), looked_at(trial, planned)
    for each in ("", *netns):
        paths = [what for where, what in asked if where == each and what.startswith("/")]
        files = {written_file(each): " ".join((*paths, ""))} if paths else {}  # a list, also of one
        if each and each == reference(planned, netns):
            files[tcp_file(each)] = TCP_SETTINGS
        if files:
            yield Read("set-up", tuple(files.items()), planned.where_in(each) if each else None)


def reference(planned: Plan, netns: tuple[str, ...]) -> str | None:
    """A namespace whose TCP has the settings of this computer's kernel: an emulator's, which needs none; None without
    any.
    """
    return next((each.netns for each in planned.emulators if each.netns in netns and each.on is None), None)


def written_file(netns: str) -> str:
    return f"written-{netns or 'kernel'}.txt"


def tcp_file(netns: str) -> str:
    return f"tcp-{netns}.txt"


def _facts(trial: Trial, plan: Plan, folder: Path) -> Facts:
    """All facts. What a file lacks is missing here, too."""
    data, read_back, queries = (folder / AFTER).read_bytes(), looked_at(trial, plan), observed_after(trial, plan)
    found = network.facts(data, queries, device_numbers(data, queries))
    tcp_files = {node_netns(node): sysctls_file(node) for node in trial.workload.hosts}
    for netns in ("", *read_back):
        tcp = tcp_files.get(netns, tcp_file(netns))
        for file, prefix in ((tcp, f"{TCP_SETTINGS}/"), (written_file(netns), "")):
            found |= {(netns, f"{prefix}{name}"): value for name, value in _lines(folder / file)}
    for emulator in plan.emulators:
        if emulator.netns in read_back:
            found.pop((emulator.netns, "rules of nftables"), None)
            found |= dict(ruleset_facts(emulator.netns, folder / chains_file(emulator.link)))
    for node in ruleset.routers(trial.topology):
        netns = node_netns(node.name)
        if netns in read_back:
            found.pop((netns, "rules of nftables"), None)
            if node.router is not None and node.router.nftables is None:  # what it said is for the subject of filters
                found |= dict(ruleset_facts(netns, folder / rules_file(node.name, "after")))
    return found


def settings_of(facts: Mapping[tuple[str, str], str], netns: str) -> dict[str, str]:
    """The settings of TCP and IP that are files of their own, by name."""
    prefix = f"{TCP_SETTINGS}/"
    names = ((what.removeprefix(prefix), value) for (where, what), value in facts.items()
             if where == netns and what.startswith(prefix))  # fmt: skip
    return {name: value for name, value in names if "/" not in name}


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of what is before and after ": " in each line; nothing if there is no such file."""
    for line in path.read_text().splitlines() if path.exists() else ():
        name, _, value = line.partition(": ")
        yield name, value


def check(case: Case, seen: NetworkEvidence) -> Iterator[Finding]:
    differences = tuple(_differences(case, seen))
    for what in differences[:SHOWN]:
        yield Finding("set-up", "invalid", what, HINT)
    if len(differences) > SHOWN:
        yield Finding("set-up", "invalid", f"and {len(differences) - SHOWN} more differences", HINT)


def _differences(case: Case, network: NetworkEvidence) -> Iterator[str]:
    netns = looked_at(case.trial, case.plan)
    until_ns = max(case.evidence.timeline.moments, default=-1) if case.evidence.timeline else -1
    asked = expected(case.trial, case.plan, until_ns)
    seen = network.facts
    for (where, what), value in asked.items():
        if seen.get((where, what)) != value:
            yield f"{where or 'the kernel'}: {what}: asked {value}, the kernel has {seen.get((where, what), 'none')}"
    if case.trial.topology.engine == "netns":
        find = frozenset(node_netns(node.name) for node in case.trial.topology.nodes if node.finds_routes)
        yield from _strangers(asked, seen, netns, find)
    if network.reference is not None:
        here = [each for each in netns if each not in dict(case.plan.machines)]
        yield from _settings(asked, seen, network.reference, here)


def _strangers(asked: Facts, seen: Facts, netns: tuple[str, ...], find: frozenset[str]) -> Iterator[str]:
    """What only somebody else can have set up, in the namespaces that are read back as a whole; in those that `find`
    has, daemons find routes.
    """
    for (where, what), value in ((place, value) for place, value in seen.items() if place[0] in ("", *netns)):
        kind = what.split()[0]
        filters = asked.get((where, "br0 vlan_filtering")) == "1"
        is_strange = kind in ALL_IS_ASKED or (kind == "vlan" and filters) or (kind == "learned" and where not in find)
        is_strange = is_strange or (kind == network.LEARNED_MTU and not is_mtu_of_path(asked, where, what, value))
        if (where, what) not in asked and is_strange:
            yield f"{where}: {what}: not asked for, the kernel has {value}"


def is_mtu_of_path(asked: Facts, where: str, what: str, mtu: str) -> bool:
    """Whether a host may have learned this MTU from a router (RFC 1191, RFC 8201): it goes on as it was asked to, and a
    link farther on has this MTU, which is smaller than its own.
    """
    _, to, _, gateway, _, device = what.split()
    known = {value for (_, fact), value in asked.items() if fact.endswith(" mtu")}
    own = asked.get((where, f"{device} mtu"))
    via = [fact.split() for (place, fact), value in asked.items() if place == where and value == gateway]
    routes = (words[1] for words in via if words[0] == "route" and words[-1] == "via")
    return own is not None and mtu in known and int(mtu) < int(own) and any(_covers(each, to) for each in routes)


def _covers(route: str, to: str) -> bool:
    one, other = ip_network(EVERYTHING.get(route, route)), ip_network(to)
    return one.version == other.version and other.subnet_of(one)  # type: ignore[arg-type]


EVERYTHING = {"default": "0.0.0.0/0", "default6": "::/0"}


def learned_mtus(case: Case, seen: NetworkEvidence) -> tuple[tuple[int, int], ...]:
    """For each MTU that a host of the workload learned: that of its own device, and the one that it learned."""
    hosts = {node_netns(node) for node in case.trial.workload.hosts}
    found = ((where, what.split()[-1], mtu) for (where, what), mtu in seen.facts.items()
             if where in hosts and what.split()[0] == network.LEARNED_MTU and mtu.isdigit())  # fmt: skip
    own = ((seen.facts.get((where, f"{device} mtu"), ""), mtu) for where, device, mtu in found)
    return tuple((int(before), int(mtu)) for before, mtu in own if before.isdigit())


def _settings(asked: Facts, seen: Facts, reference: str, here: Collection[str]) -> Iterator[str]:
    """Settings of TCP and IP that differ from the kernel's own, though this was not asked for, in namespaces `here`, of
    the same kernel.
    """
    own = settings_of(seen, reference)
    if not own:
        yield f"{reference}: the kernel's settings of TCP were not read back"
    for netns in sorted({where for where, _ in asked}.intersection(here) - {reference}):
        for name, value in settings_of(seen, netns).items():
            is_asked = (netns, f"{TCP_SETTINGS}/{name}") in asked
            if not is_asked and name not in OWN_SETTINGS and own.get(name) != value:
                yield f"{netns}: {name}: not asked for, the kernel has {value}, not {own.get(name, 'none')}"


NETWORK = Subject(name="network", kind=NetworkEvidence, read=read, steps=steps, checks=(check,))
