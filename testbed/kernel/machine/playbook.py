"""Playbooks: Ansible changes machines for more than one trial. Starts ansible-playbook; writes to its own folder below
/tmp and, for `collect`, to one of the user's.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible_runner

from ... import process
from ...error import MachineError, TestbedError
from ...model.node.machine import Machine
from ...model.topology import Node, Topology
from ...model.workload import BUILT_IN
from ...plan.node.namespace import of_machine

PLAYBOOKS = Path(__file__).parents[2] / "_playbooks"

TOOLS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "nft": "nftables",
    "ethtool": "ethtool",
    "ping": "iputils-ping",
    "tcpdump": "tcpdump",
    "modprobe": "kmod",
    **{program.name: program.package for each in BUILT_IN if not each.one_kernel for program in each.programs},
}
"""Program to Debian package: what every trial needs of a machine, and the tools that need not be in one kernel."""
SYSCTLS = {
    "net.core.rmem_max": "2147483647",
    "net.core.wmem_max": "2147483647",
    "net.core.netdev_max_backlog": "30000",
}
MODULES = ("tcp_bbr", "tcp_htcp", "tcp_scalable")
OFFLOADS = {"large-receive-offload": "off"}
"""A machine keeps the offloads of its NICs, except this one, which merges packets so that nothing can split them
again.
"""

EMULATOR_MODULES = ("sch_netem", "sch_tbf", "nft_fwd_netdev", "nft_numgen", "nft_quota", "nft_limit")
EMULATOR_OFFLOADS = {
    "tcp-segmentation-offload": "off",
    "generic-segmentation-offload": "off",
    "tx-udp-segmentation": "off",
    "generic-receive-offload": "off",
    "large-receive-offload": "off",
}
LOOKS = {
    "kernel": "uname -a",
    "system": "cat /etc/os-release",
    "cpu": "lscpu",
    "memory": "cat /proc/meminfo",
    "links": "ip -json -details -statistics link show",
    "addresses": "ip -json address show",
    "routes": "ip -json route show table all",
    "qdiscs": "tc -json -statistics qdisc show",
    "drivers": 'for n in $(ls /sys/class/net); do echo "$n"; ethtool -i $n; done 2>&1',
    "offloads": "for n in $(ls /sys/class/net); do ethtool -k $n; done 2>&1",
    "coalescing": 'for n in $(ls /sys/class/net); do echo "$n"; ethtool -c $n; done 2>&1',
    "rings": 'for n in $(ls /sys/class/net); do echo "$n"; ethtool -g $n; done 2>&1',
    "sysctls": "cd /proc/sys/net && grep -r . . 2>/dev/null | LC_ALL=C sort",
    "governor": "cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor 2>&1 | sort | uniq -c",
    "journal": "cat /var/lib/testbed/*.json 2>/dev/null",
}


STATUS_SAID = "non-zero return code"
"""All that Ansible itself has to say of a program that failed; its output says more."""


@dataclass
class Played:
    """How a playbook ended: for each machine its changes and its output."""

    changed: dict[str, int] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


def play(
    name: str, topology: Topology, output: Path | None = None, tell: Callable[[str], None] = lambda line: None
) -> Played:
    """Runs a playbook on every machine of a topology. Raises MachineError without Ansible or an SSH client, and
    TestbedError that names the task and the machine if a task failed.
    """
    for program in ("ansible-playbook", "ssh"):
        if shutil.which(program, path=_path()) is None:
            fix = "make setup" if program == "ansible-playbook" else "sudo apt-get install -y openssh-client"
            raise MachineError(f"the program {program!r} is missing", fix)
    played = Played()
    with tempfile.TemporaryDirectory() as folder:
        ended = ansible_runner.run(
            private_data_dir=folder,
            playbook=str((PLAYBOOKS / f"{name}.yml").resolve()),
            inventory=plain(inventory(topology)),
            extravars={"testbed_output": plain(str(output.resolve()) if output else ""), "testbed_looks": LOOKS},
            envvars=_environment(folder),
            suppress_env_files=True,
            quiet=True,
            event_handler=lambda event: _take(event, played, tell),
        )
        _hang_up(Path(folder))
        if ended.status != "successful" and not played.failures:
            raise TestbedError(f"{name} could not be run ({ended.status}):\n{ended.stdout.read().strip()}")
    if played.failures:
        text = "\n".join(f"{host}: {why}" for host, why in played.failures.items())
        raise TestbedError(f"{name} failed:\n{text}")
    return played


def inventory(topology: Topology) -> dict[str, Any]:
    """The inventory for Ansible: how to reach each machine, and its wanted state."""
    found = [node for node in topology.nodes if node.kind.runs_in == "computer"]
    emulators = {link.emulator for link in topology.links if link.emulator is not None}
    variables = {
        "ansible_python_interpreter": "/usr/bin/python3",
        "testbed_tools": TOOLS,
        "testbed_modules": list(MODULES),
        "testbed_offloads": OFFLOADS,
        "testbed_emulator_modules": list(EMULATOR_MODULES),
        "testbed_emulator_offloads": EMULATOR_OFFLOADS,
    }
    return {
        "machines": {"hosts": {node.name: _host(node) for node in found}, "vars": variables},
        "emulators": {"hosts": {node.name: {} for node in found if node.name in emulators}},
    }


def plain(value: Any) -> Any:
    """Data that Ansible takes as it is. Other text is a template for it, which can start programs on this computer."""
    if isinstance(value, str):
        return {"__ansible_unsafe": value}
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def _host(node: Node) -> Mapping[str, Any]:
    name, machine = node.name, node.machine or Machine()
    nics = sorted({nic for _, names in machine.nics for nic in names})
    sysctls = SYSCTLS | dict(of_machine(node.sysctls))
    found: dict[str, Any] = {"ansible_host": machine.host or name, "testbed_nics": nics, "testbed_sysctls": sysctls}
    ssh = machine.ssh
    if ssh is not None:
        given = {
            "ansible_host": ssh.address,
            "ansible_user": ssh.user,
            "ansible_port": ssh.port,
            "ansible_ssh_private_key_file": ssh.key,
            "ansible_ssh_common_args": shlex.join(ssh.options) or None,
        }
        found |= {key: value for key, value in given.items() if value is not None}
    found["ansible_become"] = ssh is None or ssh.user != "root"
    return found


def _environment(folder: str) -> dict[str, str]:
    return {
        "PATH": _path(),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_SSH_CONTROL_PATH_DIR": folder,
        "ANSIBLE_HOME": folder,
        "ANSIBLE_LOCAL_TEMP": f"{folder}/tmp",
        "ANSIBLE_CONFIG": str((PLAYBOOKS / "ansible.cfg").resolve()),
    }


def _path() -> str:
    """ansible-playbook is beside the Python that runs us."""
    return os.pathsep.join([os.path.dirname(sys.executable), process.search_path()])


def _hang_up(folder: Path) -> None:
    """Closes the connections that Ansible keeps open; they would outlive us."""
    for path in folder.iterdir():
        if path.is_socket():
            process.run(("ssh", "-O", "exit", "-o", f"ControlPath={path}", "machine"), timeout=10)


def _take(event: Mapping[str, Any], played: Played, tell: Callable[[str], None]) -> bool:
    kind, data = event.get("event"), event.get("event_data", {})
    host, result = data.get("host"), data.get("res", {})
    if kind == "playbook_on_stats":
        played.changed = {name: data.get("changed", {}).get(name, 0) for name in data.get("processed", {})}
    elif kind in ("runner_on_failed", "runner_on_unreachable") and not data.get("ignore_errors"):
        told = [result[key] for key in ("msg", "stderr", "stdout") if result.get(key) not in (None, "", STATUS_SAID)]
        said = next(iter(told), STATUS_SAID)
        played.failures[host] = f"{data.get('task')}: {str(said).strip()}"
    elif kind == "runner_on_ok":
        found = [*result.get("settings", []), *(result.get("refused") or [])]
        played.notes.setdefault(host, []).extend(found)
        for line in found:
            tell(f"{host}: {line}")
    return False
