"""What our observer is asked for: before the workload and after it, while it runs, and after each change of a schedule.
Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...model.scenario import Trial
from ...plan.link import fault
from ...plan.link.stage import Emulator
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ..observe.sample import Query

SAMPLES, READ_BACK, AFTER, CHANGES = "samples.bin", "read-back.bin", "after.bin", "changes.bin"
OBSERVER = "observer"


def passed(trial: Trial, planned: Plan) -> tuple[str, ...]:
    """The nodes that data and answers pass, with both ends, each once."""
    data_paths = filter(None, (planned.data_path, planned.upstream))
    links = (hop.link for data_path in data_paths for hop in (*data_path.path, *data_path.answers))
    return tuple(dict.fromkeys((*trial.workload.hosts, *(end for link in links for end in link.ends))))


def observed(trial: Trial, planned: Plan) -> tuple[Query, ...]:
    """Queueing disciplines, counters and devices of emulators and TCLinks, and the devices of every node on the data
    path. The counters of an emulator are read in the look that reads its queues: packets may still be under way, and
    the gate compares the two.
    """
    impairing = dict.fromkeys((*(e.netns for e in planned.emulators), *(port.netns for port in planned.tc_ports)))
    on_way = (node_netns(node) for node in passed(trial, planned) if is_observed(planned, node))
    return (
        *(Query(kind, netns) for netns in impairing for kind in ("link", "qdisc")),
        *(Query("nft", emulator.netns) for emulator in planned.emulators),
        *(Query("class", port.netns, port.device) for port in planned.tc_ports if port.rate_bps),
        *_flows(planned.emulators),
        *(Query("link", netns) for netns in on_way if netns not in impairing),
    )


def is_observed(planned: Plan, node: str) -> bool:
    """Whether our observer sees a node: it runs on this computer and on machines."""
    return node not in planned.remote or node_netns(node) in dict(planned.machines)


def sampled(trial: Trial, planned: Plan) -> tuple[Query, ...]:
    """The sockets of both ends and the queues of the emulators on the path; nothing if samples are off."""
    if trial.samples_interval_ns is None:
        return ()
    on_path = [*{e.netns: e for e, _ in planned.emulators_passed(is_data=True)}.values()]
    passed = (port.netns for port in planned.tc_passed(is_data=True))
    counted = [e for e in on_path if any(stage.policing for stage in e.stages) or fault.told(*e.stages)]
    return (
        *(Query("tcp", node_netns(host)) for host in trial.workload.hosts if is_observed(planned, host)),
        *(Query("qdisc", netns) for netns in dict.fromkeys((*(e.netns for e in on_path), *passed))),
        *(Query("nft", e.netns) for e in counted),
        *_flows(on_path),
    )


def _flows(emulators: Iterable[Emulator]) -> Iterator[Query]:
    """The flows that have a cap each: classes of a queueing discipline of ours."""
    return (
        Query("class", each.netns, stage.rate_device)
        for each in emulators
        for stage in each.stages
        if stage.asked.per_flow is not None
    )


def changed(planned: Plan) -> tuple[Query, ...]:
    """The queues and counters of the emulators that a schedule changes, or whose traces begin with the workload."""
    emulators = [e for e in planned.emulators if any(stage.states or stage.asked.trace for stage in e.stages)]
    return tuple(Query(kind, e.netns) for e in emulators for kind in ("qdisc", "nft"))
