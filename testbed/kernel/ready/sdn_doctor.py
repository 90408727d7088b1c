"""What this computer has for Open vSwitch and controllers, and what to type for the rest. Looks for files; imports none
of what it looks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import package
from ...error import MachineError
from ..vm.hypervisor import TUN
from . import controller_runtime
from .examination import SDN, Examination
from .probe import OVS_PACKAGE, lacking, missing_of_open_vswitch


def examine() -> Iterator[Examination]:
    missing = missing_of_open_vswitch()
    fix = package.install_command([OVS_PACKAGE]) if missing else ""
    detail = f"missing: {', '.join(missing)}" if missing else "all its programs are here"
    yield Examination("ovs", not missing, detail, fix, SDN)
    yield _controller()
    yield _datapath()


def _controller() -> Examination:
    try:
        controller_runtime.check(is_lab=True)
    except MachineError as error:
        return Examination("controller", False, error.what, error.fix, SDN)
    return Examination("controller", True, f"os-ken in {controller_runtime.folders()[-1]}", needed_for=SDN)


def _datapath() -> Examination:
    lab = "in the lab kernel both" if lacking("lab kernel") is None else "no lab kernel yet"
    if package.has_module("openvswitch"):
        return Examination("datapaths", True, f"{lab}; in this machine's kernel its own", needed_for=SDN)
    if TUN.exists():
        detail = f"{lab}; this machine's kernel has none of its own: in user space"
        return Examination("datapaths", True, detail, needed_for=SDN)
    return Examination("datapaths", False, f"{lab}; in this machine's kernel none", "sudo modprobe openvswitch", SDN)
