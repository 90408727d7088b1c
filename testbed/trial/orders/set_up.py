"""What is read back of the whole network after the workload: the queries, the files, and the facts that are expected.

Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...model.scenario import Trial
from ...plan.command import Command
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.set_up import FEATURES, Facts, facts
from ...plan.step import Location, Read, Step
from ..observe.sample import Query

KINDS = ("address", "route", "neighbour")
TCP_SETTINGS = "/proc/sys/net/ipv4"


def expected(commands: tuple[Command, ...], planned: Plan, netns: tuple[str, ...], until_ns: int = -1) -> Facts:
    """The facts of the namespaces `netns`, and of the one in which the plan starts; with the changes of the timeline up
    to `until_ns` after its start.
    """
    later = (command for moment in planned.timeline if moment.at_ns <= until_ns for command in moment.commands)
    found = facts((*commands, *later))
    return {place: value for place, value in found.items() if place[0] in ("", *netns)}


def looked_at(trial: Trial, planned: Plan) -> tuple[str, ...]:
    """The namespaces of this computer that are read back: emulators, and the nodes that data and answers pass."""
    nodes = (node_netns(node) for node in passed(trial, planned) if node not in planned.remote)
    machines = dict(planned.machines)
    return tuple(dict.fromkeys((*(e.netns for e in planned.emulators if e.netns not in machines), *nodes)))


def passed(trial: Trial, planned: Plan) -> tuple[str, ...]:
    """The nodes that data and answers pass, with both ends, each once."""
    data_paths = filter(None, (planned.data_path, planned.upstream))
    links = (hop.link for data_path in data_paths for hop in (*data_path.path, *data_path.answers))
    return tuple(dict.fromkeys((*trial.workload.hosts, *(end for link in links for end in link.ends))))


def queries(commands: tuple[Command, ...], planned: Plan, netns: tuple[str, ...]) -> Iterator[Query]:
    """What the observer is asked for."""
    asked = expected(commands, planned, netns)
    impaired = {each.netns for each in planned.emulators}
    for each in netns:
        yield from (Query(kind, each) for kind in KINDS)
        yield from (Query(kind, each) for kind in ("qdisc",) if each not in impaired)
        yield from (Query("rule", each) for _ in planned.emulators[:1])
        if (each, "br0 vlan_filtering") in asked:
            yield Query("vlan", each)
    features = dict.fromkeys((place[0], place[1].split()[0]) for place in asked if place[1].split()[-1] in FEATURES)
    yield from (Query("feature", each, device) for each, device in features)


def steps(commands: tuple[Command, ...], planned: Plan, netns: tuple[str, ...]) -> Iterator[Step]:
    """Reads the files below /proc/sys and /sys that the plan wrote, and the kernel's own settings of TCP."""
    asked = expected(commands, planned, netns)
    for each in ("", *netns):
        paths = [what for where, what in asked if where == each and what.startswith("/")]
        files = {written_file(each): " ".join((*paths, ""))} if paths else {}  # a list, also of one
        if each and each == reference(planned, netns):
            files[tcp_file(each)] = TCP_SETTINGS
        if files:
            yield Read("set-up", tuple(files.items()), Location(each) if each else None)


def reference(planned: Plan, netns: tuple[str, ...]) -> str | None:
    """A namespace whose TCP has the kernel's own settings: an emulator's, which needs none; None without any."""
    return next((each.netns for each in planned.emulators if each.netns in netns), None)


def written_file(netns: str) -> str:
    return f"written-{netns or 'kernel'}.txt"


def tcp_file(netns: str) -> str:
    return f"tcp-{netns}.txt"
