"""What programs find in the nodes of a running network: names, logs, tools that know their switch. Pure, no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace

from ..model.address import AddressBook
from ..model.node.type import NODE_TYPES
from ..model.topology import Node, Topology
from ..plan.node import frr, service
from ..plan.node.control_channel import OVS_FOLDER, Channel
from ..plan.step import Run, StartController, StartProgram, Step

TRIAL = "/run/trial"
"""Where nodes see the folder that FILES are written to."""
TOOLS = "bin"
SHELL_RC = r"""[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
PS1='\[\e[1m\]'$TESTBED_NODE'\[\e[0m\]:\w\$ '
unset HISTFILE
"""
SHELL = ("sh", "-c", f"command -v bash >/dev/null && exec bash --rcfile {TRIAL}/shellrc -i; exec sh -i")
OFCTL = """#!/bin/sh
exec /usr/bin/ovs-ofctl -O "${TESTBED_OPENFLOW:-OpenFlow13}" "$@"
"""
"""By itself ovs-ofctl speaks OpenFlow 1.0, which shows no groups, meters and tables. A later -O has the last word."""
VTYSH = """#!/bin/sh
exec /usr/bin/vtysh --config_dir /run/frr -N "$TESTBED_NODE" "$@"
"""
UDHCPC = f"""#!/bin/sh
export resolver={service.folder("$TESTBED_NODE")}/resolv.conf
exec busybox udhcpc -i eth0 -O staticroutes -s {service.LEASE_SCRIPT} "$@"
"""
ROUTING = "routing.json"
"""What routing daemons must come to know."""
MARK = "=== started "
"""How the line begins that stands before each run in the log of a controller; the date and the time follow."""
TALKING = (
    *("env", "PYTHONUNBUFFERED=1", "TESTBED_LOG_LEVEL=INFO", "TESTBED_LOG_TIME=1", "sh", "-c"),
    f'echo "{MARK}$(date "+%Y-%m-%d %H:%M:%S")" >&2; exec "$0" "$@" >&2',
)
LAST_RUN = r"""
last=$(grep -En '^=== started |\|vlog\|INFO\|opened log file' "$0" 2>/dev/null | tail -n 1 | cut -d: -f1)
exec tail -n "+${last:-1}" "$@" "$0"
"""
"""Prints a log from where the last run of its program begins: a controller's by our mark, Open vSwitch's by its own."""
PATH = f"{TRIAL}/{TOOLS}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def files(topology: Topology, book: AddressBook) -> dict[str, tuple[str, int]]:
    """Text and mode of each file, by its path in the folder. The agent shows `hosts` as /etc/hosts."""
    return {
        "shellrc": (SHELL_RC, 0o644),
        "hosts": ("".join(f"{line}\n" for line in _hosts(topology, book)), 0o644),
        f"{TOOLS}/ovs-ofctl": (OFCTL, 0o755),
        f"{TOOLS}/vtysh": (VTYSH, 0o755),
        f"{TOOLS}/udhcpc": (UDHCPC, 0o755),
        ROUTING: (json.dumps([asdict(each) for each in frr.knowledge(topology, book)]), 0o644),
    }


def environment(node: Node, version: str | None = None) -> Mapping[str, str]:
    """What programs in a node get besides their users' settings. `version` of OpenFlow is that of a switch, as Open
    vSwitch calls it; None is OpenFlow13.
    """
    if node.kind.openflow == "switch":
        spoken = {} if version is None else {"TESTBED_OPENFLOW": version}
        return {"OVS_RUNDIR": f"{OVS_FOLDER}/{node.name}", "PATH": PATH, **spoken}
    return {"TESTBED_NODE": node.name, "PATH": PATH} if node.kind.forwards_packets or node.takes_lease else {}


def logs(type: str, name: str, *, finds_routes: bool, serves: bool) -> tuple[str, ...]:
    """Where a node's logs are, as programs in it see them. `finds_routes`: it has FRR; `serves`: a server."""
    openflow = NODE_TYPES[type].openflow
    if openflow == "controller":
        return (f"{TRIAL}/controller-{name}.err",)
    if openflow == "switch":
        return (f"{OVS_FOLDER}/{name}/ovs-vswitchd.log",)
    daemons = (f"{frr.FRR_FOLDER}/{name}/{frr.LOG}",) if finds_routes else ()
    return (*daemons, f"{service.folder(name)}/{service.LOG}") if serves else daemons


def talking(step: Step) -> Step:
    """The step with a controller that shows what its app prints, and what it logs at INFO."""
    if not isinstance(step, StartController | StartProgram):
        return step
    return replace(step, words=(*TALKING, *step.words), out=None)


DEAF = "the controller does not listen at port"
IDLE_LOOKS = 8
IMPATIENT = """
port=$1; shift
"$@" & waits=$!
looks=0 used=none idle=0
while kill -0 "$waits" 2>/dev/null; do
  if read -r pid <"$0"; then
    case "$(sed 's/.*) //' "/proc/$pid/stat")" in '' | Z* | X*) kill "$waits"; exit 1 ;; esac
    looks=$((looks + 1))
    if [ "$port" -gt 0 ] && [ $((looks % 5)) = 0 ]; then
      now=$(for each in /proc/[0-9]*; do
        [ "$each/ns/net" -ef "/proc/$pid/ns/net" ] && sed 's/.*) //' "$each/stat"
      done | awk '{used += $12 + $13} END {print NR, used}')
      if [ "$now" = "$used" ]; then idle=$((idle + 1)); else idle=0; fi
      used=$now
      listens=$(printf ':%04X [0:]* 0A ' "$port")
      if [ "$idle" -ge IDLE_LOOKS ] && ! cat "/proc/$pid/net/tcp" "/proc/$pid/net/tcp6" | grep -q "$listens"; then
        kill "$waits"
        echo "DEAF $port, and does nothing" >&3
        exit 1
      fi
    fi
  fi 2>/dev/null
  sleep 0.1
done 3>&2
wait "$waits"
""".replace("IDLE_LOOKS", str(IDLE_LOOKS)).replace("DEAF", DEAF)
"""Runs a program that waits for a controller, until that has ended: $0 has the number of its process, which may be a
zombie by then. With a port other than 0, it ends too once all processes in the controller's namespace have done nothing
between IDLE_LOOKS + 1 looks, which are 0.5 s or more apart, and nobody there listens at it. Looks are counted, not
seconds: nobody does anything while a computer is too busy for the network, or sleeps.
"""


def impatient(step: Step, controllers: Mapping[str, Channel]) -> Step:
    """The step that waits until a switch has found its controller, which ends when the controller has, or when it is a
    program that never listens. `controllers` are by switch.
    """
    if not isinstance(step, Run) or "is_connected=true" not in step.words:
        return step
    switch = next(word for word in step.words if word.startswith("OVS_RUNDIR=")).rpartition("/")[2]
    if switch not in controllers:
        return step
    return replace(step, words=(*impatience(controllers[switch]), *step.words))


def impatience(channel: Channel) -> tuple[str, ...]:
    """What stands before the words that wait for a controller."""
    port = 0 if channel.controller.program is None else channel.controller.port
    return "sh", "-c", IMPATIENT, f"{channel.folder}/pid", str(port)


def _hosts(topology: Topology, book: AddressBook) -> Iterator[str]:
    """hosts(5): a node has its name at all its addresses, the first one first, and NODE-DEVICE at those of a device."""
    yield from ("127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback")
    for node in topology.nodes:
        for port in book.interfaces_of(node.name):
            device = port.device.replace(".", "-")
            yield from (f"{address.ip} {node.name} {node.name}-{device}" for address in port.addresses)
