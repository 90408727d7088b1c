"""Starts the controller of a running network anew, as its topology file is now. The network stays up, and its switches
forget their flows.
"""

from __future__ import annotations

import json
from typing import Any

from ..error import UserError, one_of
from ..kernel.native_program import tools
from ..model.run_setting import Kernel
from ..model.topology import Topology
from ..plan import batch
from ..plan.node import controller
from ..plan.node.control_channel import Channel
from ..plan.step_json import data
from ..trial.orders.local_words import substituted
from . import connection, node_files
from .build import Build, build
from .running_network import RunningNetwork

WAIT_S = 10
BRIDGE = "br0"
CONNECTED = f"ovs-vsctl --timeout={WAIT_S} wait-until controller {BRIDGE} is_connected="
FORGET = f"{CONNECTED}false; for each in flows groups meters; do ovs-ofctl -O OpenFlow13 del-$each {BRIDGE}; done"


def reload(network: RunningNetwork, wanted: Topology, node: str) -> dict[str, bool]:
    """Whether each switch of the controller has found it again within WAIT_S.

    Raises UserError if the node is no controller, or if anything but apps has changed.
    """
    made = build(wanted, Kernel(network.about["kernel"]))
    channels = {channel.name: channel for channel in made.plan.channels}
    network.where(node)
    if node not in channels:
        raise UserError(f"{node} of {network.name} is no controller; allowed: {one_of(tuple(channels), node)}")
    _refuse_other(network, made)
    channel = channels[node]
    connection.carry_out(network, [{"stop": f"controller-{node}"}])
    for switch in channel.switches:
        _in(network, switch, FORGET)
    connection.carry_out(network, _starts(made, channel))
    return {switch: _in(network, switch, f"{CONNECTED}true") == 0 for switch in channel.switches}


def _starts(made: Build, channel: Channel) -> list[dict[str, Any]]:
    commands = controller.commands(channel, made.topology, made.plan.book)
    steps, _ = substituted(made.topology, batch.steps(commands), tools(), is_lab=made.kernel.kind != "host")
    return [data(node_files.talking(step)) for step in steps]


def _refuse_other(network: RunningNetwork, made: Build) -> None:
    now = json.loads(json.dumps(made.to_dict()))
    for key, then in (("topology", "topology"), ("nodes", "nodes"), ("links", "as_started")):
        if now[key] != network.about[then]:
            what = f"the {key} of the file are no longer those of the network {network.name}"
            raise UserError(f"{what}, and only apps can be loaded anew; allowed: testbed down, testbed up")


def _in(network: RunningNetwork, switch: str, script: str) -> int:
    inside = network.environment(switch)
    return connection.run(network, network.where(switch), ["sh", "-c", script], environment=inside)[0]
