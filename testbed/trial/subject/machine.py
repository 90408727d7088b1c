"""The computers of a trial: this one, machines over SSH, and virtual machines. How they ran, how much processor time
they used, and whether that held the flows back. Reads files of the trial's folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from ...codec.frozen import dataclass
from ...kernel.vm.hypervisor import COUNTED
from ...model.data_path import PathHop
from ...model.scenario import Trial
from ...model.topology import Node
from ...plan import command
from ...plan.network import Plan
from ...plan.node import vm
from ...plan.node.vm import FASTEST, takes_ns
from ...plan.step import Location, Read, Step
from .. import record
from ..evidence.case import Case, Subject, When
from ..evidence.stage import Evidence
from ..result import Finding, MachineResult, Verdict, VmResult
from ..start import remote

HYPERVISOR = "hypervisor.json"
"""How the virtual machines ran, if there are any."""

LOG = "log.jsonl"
ALL = "cpu"
"""How the line of all processors in /proc/stat begins, and those of each."""
TICKS = 100
"""In a second, of /proc/stat, on every computer that runs Linux's own ABI (USER_HZ)."""
CPU_BUSY = 0.9
BUSY = 0.9
"""A share of the processors of a virtual machine. Above it, the trial measured the processors."""
LOOKS = 30_000_000
"""Instructions of a machine beside those of its workload, between the two looks at it, at least: 0.03 s at 1 GIPS, in
trials that pinged only. They are known to 0.01 s, the unit of /proc/stat. With more, a short transfer of a
machine that was never idle would look as if it had been.
"""
UNLIMITED = "no link on the path has a rate, so processors are what limits: compare only with machines of the same cpu"


@dataclass(frozen=True)
class Machines:
    """`cpu_busy` is the used share of this computer's CPU time (None in virtual time, where it cannot matter),
    `machines` is what each machine reported, with its own `cpu_busy`.
    """

    cpu_busy: float | None
    machines: Mapping[str, MachineResult] = field(default_factory=dict)


def cpu_file(when: str) -> str:
    return f"cpu-{when}.txt"


def machine_cpu_file(machine: str, when: str) -> str:
    return f"cpu-{machine}-{when}.txt"


def process_file(when: str, node: str) -> str:
    """What this computer's kernel reports on the QEMU process of a virtual machine."""
    return f"qemu-{node}-{when}.txt"


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    return _steps(trial, when) if when in ("before", "after") else iter(())


def _steps(trial: Trial, when: str) -> Iterator[Step]:
    if not trial.kernel.is_virtual_time:
        yield Read("CPU", ((cpu_file(when), "/proc/stat"),))
    machines = () if trial.kernel.is_virtual_time else trial.topology.nodes
    for name in (node.name for node in machines if node.kind.runs_in == "virtual machine"):
        file = (process_file(when, name), "/proc/{pid}/stat")
        yield Read("CPU of QEMU", (file,), of=vm.program_name(name))
    for machine in remote.machines(trial):
        yield Read("CPU", ((machine_cpu_file(machine, when), "/proc/stat"),), Location(on=command.home(machine)))


def read(trial: Trial, plan: Plan, folder: Path) -> Machines:
    return Machines(
        cpu_busy=None if trial.kernel.is_virtual_time else cpu_busy(folder, cpu_file),
        machines={name: machine(folder, name) for name in remote.machines(trial)},
    )


def read_vms(trial: Trial, plan: Plan, folder: Path) -> dict[str, VmResult]:
    """The virtual machines by name, in file order; empty if there are none."""
    nodes = [node for node in trial.topology.nodes if node.kind.runs_in == "virtual machine"]
    if not nodes:
        return {}
    how = json.loads((folder / HYPERVISOR).read_text())
    reached = dict(_reached(folder))
    is_real = not trial.kernel.is_virtual_time
    hosts = trial.workload.hosts
    return {node.name: _of(node, how, reached[node.name], node.name in hosts, folder, is_real) for node in nodes}


def is_counted(each: VmResult) -> bool:
    """Whether instructions drove its clock."""
    return each.accelerator == COUNTED


def cpu_busy(folder: Path, file: Callable[[str], str]) -> float | None:
    """The share of the time in which processors were busy, by the file of each look: `file` names it."""
    return busy_share(*((folder / file(when)).read_text() for when in ("before", "after")))


def busy_share(before: str, after: str) -> float | None:
    """The busy share of CPU time between two readings of /proc/stat; None if no time passed."""
    return _share(_spent(before, after)[ALL])


def busiest_share(before: str, after: str) -> float | None:
    """The same of the processor that was busiest: one flow, or the packets of one NIC, may use a single one."""
    shares = (_share(spent) for name, spent in _spent(before, after).items() if name != ALL)
    return max((share for share in shares if share is not None), default=None)


def _share(spent: list[int]) -> float | None:
    return 1 - (spent[3] + spent[4]) / sum(spent) if sum(spent) else None


def busy_s(before: str, after: str) -> float:
    """For how many seconds each processor was busy between two readings of /proc/stat, whose unit is 10 ms."""
    spent = _spent(before, after)[ALL]
    return (sum(spent) - spent[3] - spent[4]) / TICKS / _cpus(after)


def processors_taken(before: str, after: str, stat_before: str, stat_after: str) -> float | None:
    """How many processors a process used between two readings of its stat file, and of /proc/stat at the same times."""
    elapsed = sum(_spent(stat_before, stat_after)[ALL]) / _cpus(stat_after)
    first, last = (sum(map(int, text.rpartition(")")[2].split()[11:13])) for text in (before, after))
    return (last - first) / elapsed if elapsed else None


def _of(
    node: Node, how: Mapping[str, str], about: Mapping[str, Any], is_end: bool, folder: Path, is_real: bool
) -> VmResult:
    assert node.vm is not None, "BUG: no virtual machine"
    own = [(folder / machine_cpu_file(node.name, when)).read_text() for when in ("before", "after")] if is_end else None
    files = (process_file, _host) if is_real else ()
    taken = [(folder / file(when, node.name)).read_text() for file in files for when in ("before", "after")]
    return VmResult(
        accelerator=how["name"],
        why_no_kvm=how["why"] or None,
        qemu=how["version"],
        boot_s=about["boot_s"],
        kernel_release=about["release"],
        kernel=node.vm.kernel,
        image=node.vm.image,
        memory_bytes=node.vm.memory_bytes,
        cpus=node.vm.cpus,
        model=node.vm.model,
        vhost=node.vm.vhost,
        cpu_busy=None if own is None else busy_share(*own),
        cpu=(node.vm.cpu or FASTEST) if how["name"] == COUNTED else None,
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
    return max(1, len(_lines(stat)) - 1)


def _lines(stat: str) -> dict[str, list[int]]:
    """What each processor has spent, by its name, and all together: user, nice, system, idle, iowait, irq, softirq,
    steal.
    """
    lines = (line.split() for line in stat.splitlines() if line.startswith(ALL))
    return {name: [int(word) for word in words[:8]] for name, *words in lines}


def _spent(before: str, after: str) -> dict[str, list[int]]:
    """The same of the time between two readings, of the processors that both have."""
    first, last = _lines(before), _lines(after)
    return {name: [b - a for a, b in zip(first[name], last[name], strict=True)] for name in first if name in last}


def machine(folder: Path, name: str) -> MachineResult:
    """What a machine, a real computer, reported, and how busy it was."""
    about = json.loads((folder / remote.about_file(name)).read_text())
    before, after = ((folder / machine_cpu_file(name, when)).read_text() for when in ("before", "after"))
    busy = {"cpu_busy": busy_share(before, after), "busiest_cpu": busiest_share(before, after)}
    return record.read(MachineResult, {**about, **busy})


def missing(case: Case, seen: Machines) -> Iterator[str]:
    if not case.virtual and seen.cpu_busy is None:
        yield "the CPU time of this computer"
    for name in remote.machines(case.trial):
        if name not in seen.machines or seen.machines[name].cpu_busy is None:
            yield f"the CPU time of the machine {name}"


def missing_vms(case: Case, seen: Mapping[str, VmResult]) -> Iterator[str]:
    for node in case.trial.topology.nodes:
        if node.kind.runs_in == "virtual machine":
            found, is_end = seen.get(node.name), node.name in case.trial.workload.hosts
            if found is None or (is_end and None in (found.cpu_busy, found.busy_s)):
                yield f"the CPU time of the virtual machine {node.name}"
            elif not (found.kernel_release and found.qemu and found.boot_s) or is_counted(found) != case.virtual:
                yield f"how the virtual machine {node.name} ran"


def cpu(case: Case, seen: Machines) -> Iterator[Finding]:
    hint = "the machine may be the limit: run fewer flows, use a lower rate, or use kernel: lab"
    yield from _busy(seen.cpu_busy, "the machine's CPU time", hint)


def others(case: Case, seen: Machines) -> Iterator[Finding]:
    """The same for each machine that took part."""
    for name, said in seen.machines.items():
        hint = "that machine may be the limit: run fewer flows, or use a lower rate"
        all_, one = f"the CPU time of {name}", f"the time of one processor of {name}, which has {said.cpus},"
        yield from _busy(said.cpu_busy, all_, hint) or _busy(said.busiest_cpu, one, hint)


def _busy(share: float | None, whose: str, hint: str) -> tuple[Finding, ...]:
    is_busy = share is not None and share > CPU_BUSY
    return (Finding("CPU", "suspect", f"{share:.0%} of {whose} was used", hint),) if is_busy else ()


def emulated(case: Case, seen: Mapping[str, VmResult]) -> Iterator[Finding]:
    """Notes virtual machines without KVM: no fault, but their numbers mean less."""
    names = [name for name, each in seen.items() if each.accelerator == "tcg"]
    if names:
        yield Finding(
            "virtual machine",
            "valid",
            f"{', '.join(names)} ran without KVM, every instruction translated: {seen[names[0]].why_no_kvm}",
            "delays inside such a machine are about ten times those of a real one: compare it only with its like",
        )


def processors(case: Case, seen: Mapping[str, VmResult]) -> Iterator[Finding]:
    """The results of a machine that is never idle show its processors, not the network.

    That is a fault unless it was asked for: in virtual time, on a path that has no rate, nothing else limits.
    """
    for name, each in seen.items():
        share = _while_data_flowed(each, case.evidence) if is_counted(each) else each.cpu_busy
        if share is None or share <= BUSY:
            continue
        verdict: Verdict = "suspect"
        if not is_counted(each):
            hint = "the machine is the limit: use a lower rate, more cpus, or a computer with KVM"
        elif not case.plan.path or any(map(_limits, (*case.plan.path, *case.plan.answers))):
            hint = "its processor is the bottleneck: use a lower rate, or a faster cpu (1 GIPS is the fastest)"
        else:
            verdict = "valid"
            hint = UNLIMITED
        what = f"the processors of {name} were busy for {share:.0%} of the time"
        yield Finding("virtual machine", verdict, what, hint)


def _limits(hop: PathHop) -> bool:
    """Whether a link has a rate in this direction: its own, that of a shaper or a trace, or that of a policer."""
    asked = hop.link.own(hop.way)
    return asked.rate_bps is not None or asked.policer is not None


def _while_data_flowed(machine: VmResult, evidence: Evidence) -> float | None:
    """The busy share of the time in which a tool sent. The two looks at a machine are some 0.6 s longer apart, in which
    it does little but answer them. Programs of users are started between the looks, and may do anything before they
    send: for them it is the share of all the time.
    """
    sent_ns = evidence.outcome.took_ns
    if machine.busy_s is None or not sent_ns:
        return machine.cpu_busy
    looks_s = takes_ns(machine.cpu, LOOKS) / 1e9
    return min(1.0, max(0.0, machine.busy_s - looks_s) * 1e9 / sent_ns)


MACHINES = Subject(
    name="machines",
    kind=Machines,
    read=read,
    steps=steps,
    missing=missing,
    checks=(cpu, others),
    result=lambda case, seen: seen.machines,
    field="machines",
)

VMS = Subject[Mapping[str, VmResult]](
    name="vms",
    kind=Mapping[str, VmResult],
    read=read_vms,
    missing=missing_vms,
    checks=(processors, emulated),
    result=lambda case, seen: seen,
    field="vms",
)
