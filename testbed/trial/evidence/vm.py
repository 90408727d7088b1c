"""The machines of a trial, virtual and real: how they ran, and how much processor time they used.

Reads files of the trial's folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...kernel.vm.hypervisor import COUNTED
from ...model.node.vm import Vm
from ...model.scenario import Trial
from ...model.topology import Node
from ...plan.node.vm import FASTEST
from .. import record
from ..node_result import MachineResult, VmResult
from ..orders import remote
from ..orders.file_name import HYPERVISOR, LOG, cpu_file, machine_cpu_file, process_file

TICKS = 100
"""In a second, of /proc/stat, on every computer that runs Linux's own ABI (USER_HZ)."""


@dataclass(frozen=True)
class VmEvidence:
    """One virtual machine. `accelerator` is `kvm`, `tcg` (emulated) or `hypervisor.COUNTED` (the same in virtual time);
    `why` says why KVM was not used. `is_counted`: instructions drove its clock.

    `boot_s` is the time from its start to the first answer of its agent. `cpu_busy` is the share of time that its
    processors were busy while the workload ran, by its own kernel (None if the workload has no end in it), and `busy_s`
    for how long they were, each. `host_cpus` is how many processors of this computer QEMU used for it (None in virtual
    time, where a trial shows nothing of the computer).
    """

    node: str
    vm: Vm
    accelerator: str
    why: str
    qemu: str
    boot_s: float
    release: str
    cpu_busy: float | None
    host_cpus: float | None
    busy_s: float | None = None

    @property
    def is_counted(self) -> bool:
        return self.accelerator == COUNTED

    def result(self) -> VmResult:
        return VmResult(
            accelerator=self.accelerator,
            why_no_kvm=self.why or None,
            qemu=self.qemu,
            boot_s=self.boot_s,
            kernel_release=self.release,
            kernel=self.vm.kernel,
            image=self.vm.image,
            memory_bytes=self.vm.memory_bytes,
            cpus=self.vm.cpus,
            model=self.vm.model,
            vhost=self.vm.vhost,
            cpu_busy=self.cpu_busy,
            cpu=(self.vm.cpu or FASTEST) if self.is_counted else None,
            host_cpus=self.host_cpus,
        )


def read(trial: Trial, folder: Path) -> tuple[VmEvidence, ...]:
    """The virtual machines in file order; empty if there are none."""
    nodes = [node for node in trial.topology.nodes if node.kind.runs_in == "virtual machine"]
    if not nodes:
        return ()
    how = json.loads((folder / HYPERVISOR).read_text())
    reached = dict(_reached(folder))
    is_real = not trial.kernel.is_virtual_time
    hosts = trial.workload.hosts
    return tuple(_of(node, how, reached[node.name], node.name in hosts, folder, is_real=is_real) for node in nodes)


def cpu_busy(folder: Path, file: Callable[[str], str]) -> float | None:
    """The share of the time in which processors were busy, by the file of each look: `file` names it."""
    return busy_share(*((folder / file(when)).read_text() for when in ("before", "after")))


def busy_share(before: str, after: str) -> float | None:
    """The busy share of CPU time between two readings of /proc/stat; None if no time passed. The first line has user,
    nice, system, idle, iowait, irq, softirq, steal.
    """
    spent = _spent(before, after)
    return 1 - (spent[3] + spent[4]) / sum(spent) if sum(spent) else None


def busy_s(before: str, after: str) -> float:
    """For how many seconds each processor was busy between two readings of /proc/stat, whose unit is 10 ms."""
    spent = _spent(before, after)
    return (sum(spent) - spent[3] - spent[4]) / TICKS / _cpus(after)


def processors_taken(before: str, after: str, stat_before: str, stat_after: str) -> float | None:
    """How many processors a process used between two readings of its stat file, and of /proc/stat at the same times."""
    elapsed = sum(_spent(stat_before, stat_after)) / _cpus(stat_after)
    first, last = (sum(map(int, text.rpartition(")")[2].split()[11:13])) for text in (before, after))
    return (last - first) / elapsed if elapsed else None


def _of(
    node: Node, how: Mapping[str, str], about: Mapping[str, Any], is_end: bool, folder: Path, *, is_real: bool
) -> VmEvidence:
    assert node.vm is not None, "BUG: no virtual machine"
    own = [(folder / machine_cpu_file(node.name, when)).read_text() for when in ("before", "after")] if is_end else None
    files = (process_file, _host) if is_real else ()
    taken = [(folder / file(when, node.name)).read_text() for file in files for when in ("before", "after")]
    return VmEvidence(
        node=node.name,
        vm=node.vm,
        accelerator=how["name"],
        why=how["why"],
        qemu=how["version"],
        boot_s=about["boot_s"],
        release=about["release"],
        cpu_busy=None if own is None else busy_share(*own),
        host_cpus=processors_taken(*taken) if taken else None,
        busy_s=None if own is None else busy_s(*own),
    )


def _host(when: str, node: str) -> str:
    return cpu_file(when)


def _reached(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for line in (folder / LOG).read_text().splitlines():
        entry = json.loads(line)
        if "reach" in entry["step"]:
            yield entry["step"]["reach"], entry


def _cpus(stat: str) -> int:
    """How many processors /proc/stat has, beside the line of all."""
    return max(1, sum(line.startswith("cpu") for line in stat.splitlines()) - 1)


def _spent(before: str, after: str) -> list[int]:
    first, last = ([int(word) for word in text.splitlines()[0].split()[1:9]] for text in (before, after))
    return [b - a for a, b in zip(first, last, strict=True)]


def machine(folder: Path, name: str) -> MachineResult:
    """What a machine, a real computer, reported, and how busy it was."""
    about = json.loads((folder / remote.about_file(name)).read_text())
    return record.read(MachineResult, {**about, "cpu_busy": cpu_busy(folder, partial(machine_cpu_file, name))})
