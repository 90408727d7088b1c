"""Whether anything in a trial may depend on its seed. Pure, no I/O.

The seed draws what the plan leaves to chance, and it is the entropy of the lab kernel, from which queues take their
hashes, BBR the phase of its cycle, and programs what they like. A NIC that merges segments passes on those of several
flows in the order of their hashes. So this names what draws nothing; all else may, also a
kernel with a name, in which somebody may have changed anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from .background import Constant
from .link.impairment import Direction, PeriodicLoss
from .run_setting import LAB
from .scenario import Trial
from .schedule import Change
from .topology import Node, Topology
from .workload.flow import FlowWorkload
from .workload.ping import PingWorkload
from .workload.udp import UdpWorkload

TOOLS = (FlowWorkload, PingWorkload, UdpWorkload)
CONTROLS = frozenset({"cubic", "reno", "htcp", "scalable"})
NODES = frozenset({"host", "switch", "router"})
SYSCTLS = ("net.ipv4.tcp_", "net.core.rmem", "net.core.wmem")
STEADY = frozenset({"rate_bps", "delay_ns", "buffer", "shaper", "policer", "per_flow", "trace", "down"})
"""What an impairment may be called that draws nothing, whatever its value is."""


def is_drawn(trial: Trial) -> bool:
    """Whether the result may depend on the seed, or on the clock of this computer."""
    workload = trial.workload
    is_plain = trial.kernel == LAB and isinstance(workload, TOOLS) and trial.controls <= CONTROLS
    is_steady = all(isinstance(each, Constant) for _, each in trial.background) and _are_plain(trial.sysctls)
    return not (is_plain and is_steady and _is_steady(trial.topology) and _keeps_order(trial))


def _keeps_order(trial: Trial) -> bool:
    """Whether segments reach TCP in the order in which they came."""
    hosts = [node for node in trial.topology.nodes if node.kind.has_offloads]
    return len(trial.workload.asked_flows) <= 1 or all((each.nic or trial.topology.nic) == "plain" for each in hosts)


def _is_steady(topology: Topology) -> bool:
    ways = [getattr(link, way) for link in topology.links for way in ("forward", "backward", "data")]
    changes = [change for link in topology.links for change in link.schedule]
    return (
        (topology.engine, topology.neighbours, topology.ip) == ("netns", "static", "4")
        and all(map(_passes_on, topology.nodes))
        and all(map(_draws_nothing, ways))
        and all(link.wander is None or link.wander.trace is not None for link in topology.links)
        and all(map(_changes_steadily, changes))
    )


def _passes_on(node: Node) -> bool:
    """Hosts, and what forwards by rules that have one answer."""
    is_more = (node.real_nic, node.router, node.dhcp, node.dns) != (None,) * 4 or node.takes_lease or node.stp
    return (
        node.type in NODES
        and not is_more
        and _are_plain(node.sysctls)
        and len({each.to for each in node.routes}) == len(node.routes)
    )


def _are_plain(sysctls: Sequence[tuple[str, str]]) -> bool:
    return all(name.startswith(SYSCTLS) for name, _ in sysctls)


def _draws_nothing(asked: Direction) -> bool:
    policy = asked.policy
    is_policy_steady = policy is None or policy.low_bytes == policy.high_bytes
    is_plain = asked.jitter is None and asked.queue is None and {name for name, _ in asked.more} <= STEADY
    return is_plain and is_policy_steady and (asked.loss is None or _counts(asked.loss))


def _changes_steadily(change: Change) -> bool:
    return all(
        name in STEADY or value is None or (name == "loss" and _counts(value)) for name, value in change.all_pairs
    )


def _counts(loss: object) -> bool:
    return isinstance(loss, PeriodicLoss) and loss.phase != "seeded"
