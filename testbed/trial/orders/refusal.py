"""Refuses trials that no kernel could carry out, before anything runs. Pure, no I/O."""

from __future__ import annotations

from ...error import UserError
from ...model.data_path import lowest_rate_bps
from ...model.scenario import Trial
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
        if trial.kernel.kind != "host":
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


def check_rates(trial: Trial, planned: Plan) -> None:
    """Refuses paths without a rate: in virtual time nothing else slows traffic down."""
    wanted = [planned.data_path, planned.upstream] if trial.workload.sends_data else []
    for data_path in filter(None, (*wanted, *planned.background)):
        if lowest_rate_bps(data_path.path) is None:
            links = ", ".join(hop.link.name for hop in data_path.path)
            what = "background" if data_path in planned.background else "workload"
            raise UserError(
                f"no link between {data_path.source} and {data_path.destination} has a rate ({links}): in "
                f"virtual time nothing else would slow the {what} down; allowed: a rate on one of them"
            )
