"""Starts the controller of a running network anew, as its topology file is now. The network stays up, and its switches
forget their flows.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from math import ceil
from typing import Any

from ..error import UserError, one_of
from ..model.run_setting import Kernel
from ..model.topology import Topology
from ..native_program import tools
from ..plan import batch
from ..plan.command import PREFIX
from ..plan.node import controller
from ..plan.node.control_channel import Channel
from ..plan.step import Run, data
from ..spec import program_store
from ..trial import strict_folder
from ..trial.start.local_words import substituted
from . import connection, link_change, node_files
from .build import Build, build
from .running_network import OFF, RunningNetwork

WAIT_S = 60
"""How long switches may take, all together, to find their controller, unless it ends before. A switch says every 5 s
whether it is connected (ovs-vswitchd's stats-update-interval, which cannot be less), its controller takes seconds to
start, on a busy computer many, and the switch tries once a second.
"""
BRIDGE = "br0"
FILES = "files"
LEAVE = """for each in $(ip netns pids "$1"); do
  case "$(readlink "/proc/$each/cwd")" in "$0"/*) kill -9 "$each" ;; esac
done
umount -l "$0/files" 2>/dev/null
rm -rf "$0"
"""
"""Ends what a program has left in its folder, and removes that."""

RUNS = 'kill -0 "$(cat "$OVS_RUNDIR/ovs-vswitchd.pid")" 2>/dev/null'
"""The daemon of a switch runs; its database keeps what one that ended has said."""
CONNECTED = f"ovs-vsctl --timeout={{seconds}} wait-until controller {BRIDGE} is_connected={{value}}"
FORGET = f"for each in flows groups meters; do ovs-ofctl --timeout=30 -O {{version}} del-$each {BRIDGE}; done"


def reload(network: RunningNetwork, wanted: Topology, node: str) -> dict[str, bool]:
    """Whether each switch of the controller has found it again, see `without_controller`.

    Raises UserError if the node is no controller, or if anything but apps has changed.
    """
    made = build(wanted, Kernel(network.about["kernel"]))
    channels = {channel.name: channel for channel in made.plan.channels}
    network.where(node)
    if node not in channels:
        allowed = one_of(tuple(channels), node, "none, it has no controllers")
        raise UserError(f"{node} of {network.name} is no controller; allowed: {allowed}")
    if network.is_off(node):
        raise UserError(f"{node} of {network.name} is off; allowed: testbed node {node} start")
    _refuse_other(network, made)
    channel = channels[node]
    copy = copied(network, channel)
    stop(network, channel)
    switches = [each for each in channel.switches if not network.is_off(each)]
    for switch in switches:
        _in(network, switch, "sh", "-c", FORGET.format(version=channel.version))
    connection.carry_out(network, starts(made, channel, copy))
    link_change.keep_node(network, wanted.node(node))
    missing = without_controller(network, channel, switches)
    return {switch: switch not in missing for switch in switches}


def stop(network: RunningNetwork, channel: Channel) -> None:
    """Stops a controller, forgets its number, and waits until its switches say so: what starts it next would believe
    what was said before.
    """
    steps = {"stop": f"controller-{channel.name}"}, {"run": ["rm", "-f", f"{channel.folder}/pid"]}
    connection.carry_out(network, [*steps])
    _await(network, channel.switches, "false")


def without_controller(network: RunningNetwork, channel: Channel, switches: Sequence[str]) -> tuple[str, ...]:
    """Those that have not connected to their controller within WAIT_S, or when it has ended, or will never listen."""
    return _await(network, switches, "true", *node_files.impatience(channel))


def _await(network: RunningNetwork, switches: Sequence[str], connected: str, *around: str) -> tuple[str, ...]:
    """The switches that are on and do not say within WAIT_S, of all, that they are connected, or are not. `around` are
    words before the command that waits. One whose daemon has ended says nothing any more.
    """
    end, missing = time.monotonic() + WAIT_S, []
    for switch in (each for each in switches if not network.is_off(each)):
        left_s = max(1, ceil(end - time.monotonic()))
        wait = CONNECTED.format(seconds=left_s, value=connected).split()
        if _in(network, switch, "sh", "-c", RUNS) or _in(network, switch, *around, *wait):
            missing.append(switch)
    return tuple(missing)


def copied(network: RunningNetwork, channel: Channel) -> str | None:
    """The files of a controller that is a program, as they are now, where the network sees them; None without any."""
    program = channel.controller.program
    place = None if program is None else program_store.find(program.files)
    if place is None:
        return None
    folder = network.folder / "trial"
    earlier = sorted(folder.glob(f"{FILES}-{channel.name}-*"))
    target = folder / f"{FILES}-{channel.name}-{int(earlier[-1].name.rpartition('-')[2]) + 1 if earlier else 1:06}"
    shutil.copytree(place, target, symlinks=True)
    for each in earlier[:-1]:  # the last one is in use
        strict_folder.remove_tree(each)
    return target.name


def starts(made: Build, channel: Channel, copy: str | None) -> list[dict[str, Any]]:
    """The steps that start a controller; `copy` is what `copied` has made."""
    steps = batch.steps(controller.commands(channel, made.topology, made.plan.book))
    if channel.controller.program is not None:
        words = ("sh", "-c", LEAVE, channel.folder, f"{PREFIX}{channel.name}")
        change = str(controller.files_of(channel.name)), f"{node_files.TRIAL}/{copy}"
        placed = (step.with_word(*change) if isinstance(step, Run) else step for step in steps)
        steps = (Run(words, "the folder"), *placed)
    filled, _ = substituted(made.topology, steps, tools(), is_lab=made.kernel.kind != "host")
    return [data(node_files.talking(step)) for step in filled]


def _refuse_other(network: RunningNetwork, made: Build) -> None:
    now = json.loads(json.dumps(made.to_dict()))
    about = network.about
    nodes = {name: {key: each[key] for key in each if key != OFF} for name, each in about["nodes"].items()}
    for key, then in (("topology", about["topology"]), ("nodes", nodes), ("links", about["as_started"])):
        if now[key] != then:
            what = f"the {key} of the file are no longer those of the network {network.name}"
            raise UserError(f"{what}, and only apps can be loaded anew; allowed: testbed down, testbed up")


def _in(network: RunningNetwork, switch: str, *words: str) -> int:
    inside = network.environment(switch)
    return connection.run(network, network.where(switch), [*words], environment=inside)[0]
