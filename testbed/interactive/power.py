"""Nodes of a running network off and on: switches, routers, controllers. Runs steps and programs in the network.

A node that is off keeps its cables, and their carrier. An Open vSwitch loses its daemon, its datapath and all that it
was told; a bridge is down; a router loses its routing daemons, and takes and sends nothing; a controller is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..error import UserError, one_of
from ..model.run_setting import Kernel
from ..model.topology import Node, Topology
from ..native_program import tools
from ..plan import batch
from ..plan.command import Command
from ..plan.node import control_channel, frr, open_vswitch
from ..plan.step import data
from ..trial.start.local_words import substituted
from . import connection, node_files, reload
from .build import Build, build
from .link_change import topology_of
from .running_network import OFF, RunningNetwork, rewrite

SILENT = "testbed-off"
"""The table of a router that is off."""
SILENCE = f"""table inet {SILENT} {{
 chain in {{ type filter hook prerouting priority -400; policy drop; }}
 chain out {{ type filter hook output priority -400; policy drop; }}
}}
"""
END = 'for each in "$@"; do pid=$(cat "$each" 2>/dev/null) && kill "$pid" 2>/dev/null; done; true'
OVS_OFF = (
    "ovs-appctl --timeout=60 -t ovs-vswitchd exit --cleanup 2>/dev/null && looks=600 || looks=1; "
    'pid=$(cat "$OVS_RUNDIR/ovs-vswitchd.pid" 2>/dev/null); '
    'for n in $(seq $looks); do [ "$pid" ] && kill -0 "$pid" 2>/dev/null || { pid=; break; }; sleep 0.1; done; '
    '[ -z "$pid" ] || kill -9 "$pid"; '
    "ovs-vsctl --timeout=60 --no-wait --if-exists set controller br0 is_connected=false"
)
"""A daemon that does not answer in time is killed. One that is gone leaves in the database that it is connected, and
who waits for its next start would believe that."""


def switch_off(network: RunningNetwork, name: str) -> None:
    """Raises UserError for a node that is off, or cannot be."""
    node = _node(network, name)
    if network.is_off(name):
        raise UserError(f"{name} of {network.name} is off already; allowed: testbed node {name} start")
    _off(network, node)
    _note(network, name, off=True)


def switch_on(network: RunningNetwork, name: str) -> tuple[str, ...]:
    """What is not connected, see `reload.without_controller`: the controller of a switch, or switches of a controller.
    Raises UserError for a node that is not off.
    """
    node = _node(network, name)
    if not network.is_off(name):
        raise UserError(f"{name} of {network.name} is on; allowed: testbed node {name} stop, or restart")
    return _on(network, node)


def restart(network: RunningNetwork, name: str) -> tuple[str, ...]:
    """Off, if it is not, and on."""
    node = _node(network, name)
    if not network.is_off(name):
        _off(network, node)
        _note(network, name, off=True)
    return _on(network, node)


def _node(network: RunningNetwork, name: str) -> Node:
    network.where(name)
    topology = topology_of(network)
    able = [node.name for node in topology.nodes if _can(topology, node)]
    if name not in able:
        allowed = one_of(able, name, "none of this network")
        raise UserError(f"{name} of {network.name} is no switch, router or controller of ours; allowed: {allowed}")
    return topology.node(name)


def _can(topology: Topology, node: Node) -> bool:
    if topology.engine != "netns" or node.kind.has_own_kernel:
        return False
    return node.kind.openflow is not None or node.kind.switches_frames or node.kind.forwards_packets


def _off(network: RunningNetwork, node: Node) -> None:
    if node.kind.openflow == "controller":
        reload.stop(network, _channel(network, node))
    elif node.kind.openflow == "switch":
        _run(network, node.name, "sh", "-c", OVS_OFF)
    elif node.kind.switches_frames:
        _run(network, node.name, "ip", "link", "set", "br0", "down")
    else:
        pids = [f"{frr.FRR_FOLDER}/{node.name}/{each}.pid" for each in ("zebra", *frr.DAEMONS)]
        _run(network, node.name, "sh", "-c", END, "sh", *(pids if node.finds_routes else ()))
        _run(network, node.name, "sh", "-c", 'printf %s "$0" | nft -f -', SILENCE)


def _on(network: RunningNetwork, node: Node) -> tuple[str, ...]:
    """It is on whoever interrupts the wait."""
    _start(network, node)
    _note(network, node.name, off=False)
    if node.kind.openflow == "controller":
        channel = _channel(network, node)
        return reload.without_controller(network, channel, channel.switches)
    channels = control_channel.channels(topology_of(network))
    own = [each for each in channels if node.name in each.switches and not network.is_off(each.name)]
    return tuple(each.name for each in own if reload.without_controller(network, each, (node.name,)))


def _start(network: RunningNetwork, node: Node) -> None:
    made = build(topology_of(network), Kernel(network.about["kernel"]))
    if node.kind.openflow == "controller":
        channel = next(each for each in made.plan.channels if each.name == node.name)
        connection.carry_out(network, reload.starts(made, channel, reload.copied(network, channel)))
    elif node.kind.openflow == "switch":
        _carry_out(network, made, [open_vswitch.daemon(node)])
    elif node.kind.switches_frames:
        _run(network, node.name, "ip", "link", "set", "br0", "up")
    else:
        _run(network, node.name, "nft", "delete", "table", "inet", SILENT)
        commands = frr.commands(made.topology, made.plan.book) if node.finds_routes else ()
        _carry_out(network, made, [each for each in commands if getattr(each, "router", None) == node.name])


def _channel(network: RunningNetwork, controller: Node) -> control_channel.Channel:
    channels = control_channel.channels(topology_of(network))
    return next(each for each in channels if each.name == controller.name)


def _carry_out(network: RunningNetwork, made: Build, commands: Iterable[Command]) -> None:
    filled, _ = substituted(made.topology, batch.steps(commands), tools(), is_lab=made.kernel.kind != "host")
    connection.carry_out(network, [data(node_files.talking(step)) for step in filled])


def _run(network: RunningNetwork, node: str, *words: str) -> None:
    status, out, err = connection.run(network, network.where(node), [*words], environment=network.environment(node))
    if status:
        raise UserError(f"{node}: {(err or out).decode(errors='replace').strip() or f'exit code {status}'}")


def _note(network: RunningNetwork, name: str, *, off: bool) -> None:
    def put(about: Mapping[str, Any]) -> Mapping[str, Any]:
        node = {key: value for key, value in about["nodes"][name].items() if key != OFF} | ({OFF: True} if off else {})
        return {**about, "nodes": {**about["nodes"], name: node}}

    rewrite(network, put)
