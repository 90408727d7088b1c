"""Refuses trials that no kernel could carry out, before anything runs. Pure, no I/O.

What a file tells is refused with its line when it is read (spec/scenario): of windows, events, machines and rates.
"""

from __future__ import annotations

from ...codec.fault import refuse
from ...error import UserError, with_allowed
from ...model.background import Constant
from ...model.event_need import event_faults
from ...model.network_need import rate_fault, vm_faults
from ...model.run_setting import Kernel
from ...model.scenario import Trial
from ...model.topology import Topology
from ...model.workload import WINDOW_MAX_BYTES
from ...plan.network import Plan
from ...plan.node.namespace import HOST_ALLOWED, refused_by_host, written_sysctls
from ..workload import registry


def check_windows(trial: Trial) -> None:
    for window in (flow.window_bytes for flow in trial.workload.asked_flows):
        if window is not None and window >= WINDOW_MAX_BYTES:
            raise UserError(
                f"a window of {window} bytes is larger than the kernel allows; allowed: below 1 GiB (2^30 bytes), the "
                "most that TCP's window scaling can announce"
            )


def check_kernels(trial: Trial, planned: Plan) -> None:
    """Refuses nodes that cannot be part of the trial's kernel, sysctls of the whole computer, and tools that need both
    ends in one kernel: most of our programs hold sockets in both hosts.
    """
    if planned.real_nics and trial.kernel.kind != "host":
        names = " and ".join(wanted.nic for wanted in planned.real_nics)
        raise UserError(f"a lab kernel cannot use the real NIC {names}; allowed: kernel: host")
    for sysctl, _ in written_sysctls(planned.commands) if trial.kernel.kind == "host" else ():
        if (why := refused_by_host(sysctl)) is not None:
            raise UserError(f"{why}; allowed: {HOST_ALLOWED}")
    ends = {
        *trial.workload.hosts,
        *(host for each in planned.background for host in (each.source, each.destination)),
    }
    for node in sorted(planned.remote):
        what = f"{node} is a {trial.topology.node(node).type}, which has a kernel of its own"
        kind = trial.topology.node(node).kind
        if trial.kernel.kind != "host" and kind.runs_in == "computer":
            raise UserError(f"{what}, and cannot be part of a lab kernel; allowed: kernel: host")
        if node not in ends:
            continue
        if trial.workload.one_kernel:
            allowed = ", or ".join(f"tool: {each.tool}" for each in registry.workloads() if not each.one_kernel)
            raise UserError(f"{what}, but this tool needs both ends in one kernel; allowed: {allowed}")
        if planned.background:
            raise UserError(
                f"{what}, but background traffic needs both ends in one kernel; allowed: none, or host nodes"
            )


def check_acks(trial: Trial, planned: Plan) -> None:
    """Refuses records of ACKs where no kernel can make them, or nobody sends over TCP."""
    if not trial.acks:
        return
    if not trial.kernel.is_virtual_time:
        what = f"samples: acks needs a lab kernel in virtual time, and this is kernel: {trial.kernel.kind}"
        why = "in real time the records would take time of the flows that they are about"
        raise UserError(f"{what}; {why}; allowed: kernel: lab, or samples: {{interval: 100 ms}}")
    workload = trial.workload
    others = [each for _, each in trial.background if not isinstance(each, Constant)]
    sends = workload.sends_data and (workload.data_ports is None or workload.data_ports.protocol == "tcp")
    if not (sends or others):
        what = f"samples: acks records ACKs of TCP, and the tool {workload.tool} sends nothing over TCP"
        raise UserError(f"{what}; allowed: a tool that does, or samples: {{interval: 100 ms}}")
    for node in sorted(planned.remote):
        if node in trial.workload.hosts:
            what = f"{node} is a {trial.topology.node(node).type}, whose own kernel records no ACKs (samples: acks)"
            raise UserError(f"{what}; allowed: hosts of the lab kernel, or samples: {{interval: 100 ms}}")


def check_bpf(trial: Trial) -> None:
    """Refuses controls in BPF where they cannot be loaded, or would act on others: they are for virtual machines."""
    node = trial.topology.node(trial.workload.source)
    for control in trial.workload.bpf_controls if node.vm is None else ():
        why = "this computer's own kernel is not changed"
        if node.kind.runs_in == "computer":
            why = "that computer's own kernel is not changed"
        elif trial.kernel.kind != "host":
            why = "it is in the lab kernel, and User-Mode Linux has no JIT for it"
        what = f"{node.name} is a {node.type}, and cannot use {control.name}, a control in BPF: {why}"
        raise UserError(f"{what}; allowed: a sender of type vm; or, of a control in C, testbed cc tcp_NAME.c")


def check_events(trial: Trial, planned: Plan) -> None:
    """Refuses events where nobody could see them."""
    if not planned.events:
        return
    for link in trial.topology.links:
        for fault in event_faults(link, trial.topology, trial.workload, trial.background, trial.kernel):
            when = link.schedule[int(fault.path[0])].when
            assert when is not None, "BUG: a change at a time is no event"
            raise UserError(with_allowed(f"link {link.name}: {when.words}: {fault.what}", fault.allowed))


def check_vms(topology: Topology, kernel: Kernel) -> None:
    """Refuses virtual machines that this kernel cannot have as they are asked for."""
    for fault in vm_faults(topology, kernel):
        refuse(fault)


def check_rates(trial: Trial, planned: Plan) -> None:
    """Refuses paths without a rate in virtual time."""
    wanted = [planned.data_path, planned.upstream] if trial.workload.sends_data else []
    for data_path in filter(None, (*wanted, *planned.background)):
        refuse(rate_fault(trial.topology, data_path, "background" if data_path in planned.background else "workload"))
