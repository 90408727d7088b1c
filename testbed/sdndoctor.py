"""What this machine has for Open vSwitch and controllers, and what to type about what it lacks. May look for files, and
imports nothing of what it looks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from . import controllerhome, package
from .error import MachineError
from .probe import OVS_PACKAGE, missing_of_open_vswitch

TUN = Path("/dev/net/tun")
Found = tuple[str, bool, str, str]
"""What was looked at, whether it is well, what was found, and what to type if it is not."""


def examine(*, has_lab: bool) -> Iterator[Found]:
    """`has_lab` says whether there is a lab kernel, which has what an `ovs` needs of a kernel."""
    missing = missing_of_open_vswitch()
    fix = package.install_command([OVS_PACKAGE]) if missing else ""
    yield "ovs", not missing, f"missing: {', '.join(missing)}" if missing else "all its programs are here", fix
    yield _controller()
    yield _datapath(has_lab)


def _controller() -> Found:
    try:
        controllerhome.check(is_lab=True)
    except MachineError as error:
        return "controller", False, error.what, error.fix
    return "controller", True, f"os-ken in {controllerhome.folders()[-1]}", ""


def _datapath(has_lab: bool) -> Found:
    lab = "in the lab kernel both" if has_lab else "no lab kernel yet"
    if package.has_module("openvswitch"):
        return "datapaths", True, f"{lab}; in this machine's kernel its own", ""
    if TUN.exists():
        return "datapaths", True, f"{lab}; this machine's kernel has none of its own: in user space", ""
    return "datapaths", False, f"{lab}; in this machine's kernel none", "sudo modprobe openvswitch"
