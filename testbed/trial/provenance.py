"""What a trial ran with: the testbed, the kernels, the versions of all programs. Reads a trial's folder, and asks
programs for their versions.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__, process
from ..error import MachineError, UserError
from ..kernel.guest import steps_text
from ..model.scenario import Trial
from .folder import PROVENANCE, RESULT, read_json
from .orders import remote
from .orders.local_words import substituted
from .orders.sequence import Orders
from .ready_kernel import machine_kernels, ready_kernel
from .workload import registry


def of(trial: Trial) -> dict[str, Any]:
    """For JSON: what the trial runs with now. Raises MachineError if its kernel is missing."""
    ready = ready_kernel(trial.kernel)
    image = ready.image
    return {
        "testbed": __version__,
        "programs": ready.tools.digest,
        "kernel": None
        if image is None
        else {"name": image.name, "release": image.release, "config_hash": image.config_hash, "key": image.key},
        "machine_kernels": machine_kernels(trial),
        "versions": _versions(),
    }


def changes(trial: Trial, made: Orders, folder: Path) -> tuple[str, ...]:
    """In what a repetition would differ from the finished trial in `folder`, in words; empty if in nothing.

    What the folder does not tell counts as a difference. `made` are the trial's orders as they would be given now.
    Raises MachineError if its kernel is missing.
    """
    try:
        then = read_json(folder / PROVENANCE)
    except UserError:
        return (f"{PROVENANCE} cannot be read",)
    now = of(trial)
    return (*_differences(then, now), *_other_release(trial, folder), *_other_orders(trial, made, folder))


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    kernels = [each.get("kernel") or {} for each in (then, now)]
    for key in ("testbed", "programs", "machine_kernels"):
        if then.get(key, "not noted") != now[key]:
            yield f"{key.replace('_', ' ')} {then.get(key, 'not noted')} → {now[key]}"
    if kernels[0].get("key") != kernels[1].get("key") or "kernel" not in then:
        yield f"kernel {_kernel(kernels[0])} → {_kernel(kernels[1])}"
    versions = [each.get("versions") or {} for each in (then, now)]
    for name in dict.fromkeys((*versions[0], *versions[1])):
        before, after = (each.get(name, "none") for each in versions)
        if before != after:
            yield f"{name} {before} → {after}"


def _kernel(noted: Mapping[str, Any]) -> str:
    return f"{noted['name']} (build {str(noted.get('key'))[:8]})" if noted.get("name") else "none noted"


def _other_release(trial: Trial, folder: Path) -> Iterator[str]:
    """Of this computer's own kernel, which has no build key."""
    if trial.kernel.kind == "host":
        before, after = read_json(folder / RESULT).get("kernel_release"), platform.release()
        if before != after:
            yield f"kernel release {before} → {after}"


def _other_orders(trial: Trial, made: Orders, folder: Path) -> Iterator[str]:
    for name, text in (("plan.sh", made.script), ("steps.json", steps_of(trial, made))):
        path = folder / name
        if not path.exists():
            yield f"{name} is missing"
        elif path.read_text() != text:
            yield f"{name} would be another"


def steps_of(trial: Trial, made: Orders) -> str:
    """steps.json as it would be written now."""
    ready = ready_kernel(trial.kernel)
    steps, _ = substituted(trial.topology, made.steps, ready.tools, is_lab=ready.image is not None)
    return steps_text(steps)


@cache
def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}  # the agent's, too
    programs = {
        **remote.versions(),
        "tcpdump": ("tcpdump", "--version"),
        **registry.versions(apart=False),
        "Open vSwitch": ("ovs-vswitchd", "--version"),
        "qemu": ("qemu-system-x86_64", "--version"),
    }
    for name, words in programs.items():
        try:
            done = process.run(words)
        except (process.CommandError, MachineError):
            continue
        versions[name] = (done.stdout or done.stderr).splitlines()[0].strip()
    return versions
