"""Prepares a fresh kernel, or fresh namespaces, for the steps of a trial, and executes them."""

from __future__ import annotations

import importlib
import json
import os
import subprocess

from .step import Trial
from .syscall import LIBC, StepError, await_whole, checked, mount, raise_file_limit

MS_RDONLY, MS_NOATIME, MS_BIND, MS_SLAVE_REC = 0x1, 0x400, 0x1000, 0x84000
TMPFS = ("/run", "/tmp", "/var/tmp", "/var/log", "/mnt")
TRIAL, TOOLS = "/run/trial", "/run/tools"


def main(kind: str, folder: str, tools: str, progress: str, *, serves: bool, has_vms: bool, has_events: bool) -> int:
    """`serves`: a step of that kind will come; `has_vms`: one that reaches a virtual machine; `has_events`: a timeline
    with events. Once a guest has mounted its /proc, modules cannot be imported.
    """
    serve = importlib.import_module(".server", __package__).serve if serves else None
    if has_vms:
        importlib.import_module(".remote_vm", __package__)
    if has_events:
        importlib.import_module(".event", __package__)
    SET_UP[kind](folder, tools)
    raise_file_limit()
    trial = Trial(TRIAL, os.open(progress, os.O_WRONLY | os.O_APPEND), serve)
    with open(os.path.join(TRIAL, "steps.json")) as file:
        steps = json.load(file)
    error = None
    if kind == "guest":
        await_whole()
    for number, step in enumerate(steps, 1):
        try:
            trial.do(step, f"{number}/{len(steps)}")
        except (StepError, OSError, subprocess.SubprocessError) as failure:
            error = {"step": step, "text": str(failure)}
            break
    try:
        trial.stop_all()
    except StepError as failure:
        error = error or {"step": {"title": "the end"}, "text": str(failure)}
    trial.close(error)
    return 0 if error is None else 1


def set_up_guest(folder: str, tools: str) -> None:
    """The file systems of a fresh lab kernel: the root is the host's, read-only; FOLDER is the only way out.

    Times of access are off: whether the kernel updates one depends on when a file of the host was last read, and the
    update moves the clock.
    """
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    os.environ.update(PATH=path, LC_ALL="C.UTF-8", HOME="/run")
    mount("proc", "proc", "/proc")
    mount("sysfs", "sysfs", "/sys")
    mount("devtmpfs", "dev", "/dev")
    for path in TMPFS:
        if os.path.isdir(path):
            mount("tmpfs", "tmpfs", path, data="mode=1777")
    for source, target, flags in ((folder, TRIAL, MS_NOATIME), (tools, TOOLS, MS_NOATIME | MS_RDONLY)):
        os.makedirs(target)
        mount("hostfs", "none", target, flags, source)


def set_up_host(folder: str, tools: str) -> None:
    """A private /run, so that the names of our namespaces vanish with us."""
    checked(LIBC.mount(None, b"/", None, MS_SLAVE_REC, None), "mount --make-rslave /")
    kept = {target: os.open(source, os.O_PATH) for source, target in ((folder, TRIAL), (tools, TOOLS))}
    mount("tmpfs", "tmpfs", "/run", data="mode=755")
    for target, descriptor in kept.items():
        os.makedirs(target)
        mount(None, f"/proc/self/fd/{descriptor}", target, flags=MS_BIND)


SET_UP = {"guest": set_up_guest, "host": set_up_host}
