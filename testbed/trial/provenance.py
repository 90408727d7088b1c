"""What a trial ran with: the testbed, the kernels, the versions of all programs. Reads a trial's folder, and asks
programs for their versions.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from .. import __version__, process
from ..codec.frozen import dataclass
from ..error import MachineError, UserError
from ..kernel.guest import Steps, steps_text
from ..kernel.vm.hypervisor import Accelerator
from ..model.scenario import Trial
from ..spec import program_store
from ..spec.syntax import input_file
from . import known_file, software
from .folder import PROVENANCE, RESULT, read_host, read_json
from .orders.sequence import Orders
from .ready_kernel import ReadyKernel, machine_kernels, ready_kernel
from .start import remote
from .start.local_words import substituted
from .subject import bpf
from .workload import registry

ELF = b"\x7fELF"
"""How a file of machine code begins; a script may start anything."""


def of(trial: Trial, ready: ReadyKernel | None = None) -> dict[str, Any]:
    """For JSON: what the trial runs with now, on this kernel (None: the one that it names). Raises MachineError if its
    kernel is missing.
    """
    ready = ready or ready_kernel(trial.kernel)
    image, machines = ready.image, machine_kernels(trial)
    return {
        "testbed": __version__,
        "programs": ready.tools.digest,
        "kernel": None
        if image is None
        else {"name": image.name, "release": image.release, "config_hash": image.config_hash, "key": image.key},
        "machine_kernels": machines,
        "versions": _versions() | _users_programs(trial),
        "software": _software(None if image is None else image.key, machines),
    }


def disturbed(noted: Mapping[str, Any], files: Sequence[str]) -> dict[str, Any]:
    """What a trial ran with, if files with these names changed while it did: nobody can name its software."""
    parts = {**parts_of(noted), software.CHANGED: ", ".join(files)}
    return {**noted, "software": {"digest": software.digest(parts), "parts": parts}}


def kernel_program(ready: ReadyKernel) -> str | None:
    """The SHA-256 of a lab kernel's program, which tells two builds from one source apart; what they measure is the
    same. None for this computer's kernel.
    """
    return None if ready.image is None else known_file.said(ready.image.path, "program", _sha256)


def other_program(trial: Trial, folder: Path) -> tuple[str, str] | None:
    """The programs of the lab kernel with which a finished trial ran, and would run now; None if they are the same, or
    if its folder, of an older testbed, does not tell. Raises MachineError if its kernel is missing.
    """
    before, now = read_host(folder).kernel_program, kernel_program(ready_kernel(trial.kernel))
    return None if before is None or now is None or before == now else (before, now)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _users_programs(trial: Trial) -> dict[str, str]:
    """What is in the programs that a user's file names, whose own options for a version are not known; and in what
    loads a control in BPF.
    """
    names = [each.name for each in trial.workload.needed_programs if trial.workload.is_users_code]
    names += [bpf.LOADER.name for _ in trial.workload.bpf_controls[:1]]
    return {f"program {name}": digest for name, digest in software.contents(names).items()} if names else {}


def _software(kernel_key: str | None, machines: str | None = None) -> dict[str, Any]:
    """All that decides the trial's bytes, by parts, so that a difference can be named. `machines`: what its virtual
    machines start from.
    """
    parts = {"kernel": kernel_key or software.NONE, **software.here()}
    if machines is not None:
        parts |= software.of_machines(machines)
    return {"digest": software.digest(parts), "parts": parts}


def parts_of(told: Mapping[str, Any]) -> software.Parts:
    """Those of provenance.json; empty if they were not noted, or cannot be read."""
    parts = _map(_map(told, "software"), "parts")
    return dict(parts) if all(isinstance(each, str) for each in parts.values()) else {}


def digest_of(folder: Path) -> str | None:
    """Of the software that a trial ran with; None if its folder does not tell."""
    digest = _map(noted(folder) or {}, "software").get("digest")
    return digest if isinstance(digest, str) else None


@dataclass(frozen=True)
class Difference:
    """Something that a trial ran with, as it was then and as it is now, in words."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.what} {self.before} → {self.after}"


def changes(trial: Trial, made: Orders, folder: Path) -> tuple[str, ...]:
    """In what a repetition would differ from the finished trial in `folder`, in words; empty if in nothing.

    What the folder does not tell counts as a difference; that files changed while the trial ran does not, as it began
    with what is named. `made` are the trial's orders as they would be given now. Raises MachineError if its kernel is
    missing.
    """
    now = of(trial)
    if noted(folder) is None:
        return (f"{PROVENANCE} cannot be read",)
    others = (str(each) for each in _differences(trial, folder, now) if each.what != software.CHANGED)
    return (*others, *_other_orders(trial, made, folder))


def differences(trial: Trial, folder: Path) -> tuple[Difference, ...]:
    """Between this computer and the one of the finished trial in `folder`, in all that decides the bytes. What the
    folder does not tell counts as a difference, and so does a kernel that is missing here.
    """
    try:
        now = of(trial)
    except MachineError:
        now = {"testbed": __version__, "versions": _versions() | _users_programs(trial), "software": _software(None)}
    return between(trial, folder, now)


def between(trial: Trial, folder: Path, now: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Between a finished trial and another time that it ran, with what `now` tells as provenance.json does."""
    return tuple(_differences(trial, folder, now))


def noted(folder: Path) -> dict[str, Any] | None:
    """What a trial's folder says that it ran with; None if it does not say."""
    try:
        return read_json(folder / PROVENANCE)
    except UserError:
        return None


def _differences(trial: Trial, folder: Path, now: Mapping[str, Any]) -> Iterator[Difference]:
    then = noted(folder) or {}
    for key in ("testbed", "programs", "machine_kernels"):
        before, after = then.get(key, software.NOT_NOTED), now.get(key)
        if key in now and before != after:
            yield Difference(key.replace("_", " "), str(before), str(after))
    kernels = [_map(each, "kernel") for each in (then, now)]
    is_other_kernel = kernels[0].get("key") != kernels[1].get("key") or "kernel" not in then
    if is_other_kernel:
        yield Difference("kernel", *map(_kernel, kernels))
    versions = [_map(each, "versions") for each in (then, now)]
    for name in dict.fromkeys((*versions[0], *versions[1])):
        before, after = (each.get(name, "none") for each in versions)
        if before != after:
            yield Difference(name, str(before), str(after))
    yield from _other_parts(parts_of(then), parts_of(now), is_other_kernel=is_other_kernel)
    yield from _other_release(trial, folder)


def _other_parts(then: software.Parts, now: software.Parts, *, is_other_kernel: bool) -> Iterator[Difference]:
    if not then and now:
        yield Difference("software", software.NOT_NOTED, str(software.digest(now)))
        return
    for part, before, after in software.differences(then, now):
        if part != "kernel" or not is_other_kernel:  # that was said with its name
            yield Difference(part, before, after)


def _map(about: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = about.get(key)
    return value if isinstance(value, Mapping) else {}


def _kernel(noted: Mapping[str, Any]) -> str:
    return f"{noted['name']} (build {str(noted.get('key'))[:8]})" if noted.get("name") else "none noted"


def _other_release(trial: Trial, folder: Path) -> Iterator[Difference]:
    """Of this computer's own kernel, which has no build key."""
    if trial.kernel.kind == "host":
        before, after = read_json(folder / RESULT).get("kernel_release"), platform.release()
        if before != after:
            yield Difference("kernel release", str(before), after)


def _other_orders(trial: Trial, made: Orders, folder: Path) -> Iterator[str]:
    for name, text in (("plan.sh", made.script), ("steps.json", steps_of(trial, made))):
        path = folder / name
        if not path.exists():
            yield f"{name} is missing"
        elif not _holds(path, text.encode()):
            yield f"{name} would be another"


def _holds(path: Path, data: bytes) -> bool:
    try:
        return input_file.read(path, len(data), by_link=False) == data
    except OSError:
        return False


def steps_of(trial: Trial, made: Orders) -> str:
    """steps.json as it would be written now."""
    ready = ready_kernel(trial.kernel)
    files = None if ready.image is not None else program_store.find(trial.workload.needed_files)
    return steps_text(steps_here(trial, made, ready, files)[0])


def steps_here(trial: Trial, made: Orders, ready: ReadyKernel, files: Path | None) -> tuple[Steps, Accelerator | None]:
    """The steps as this computer carries them out on that kernel, and the accelerator of the virtual machines."""
    return substituted(
        trial.topology,
        made.steps,
        ready.tools,
        is_lab=ready.image is not None,
        is_virtual_time=trial.kernel.is_virtual_time,
        files=files,
        image=ready.image,
        software=software.of_snapshots,
    )


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
        with suppress(process.CommandError, MachineError, OSError):
            versions[name] = _version(words)
    known_file.keep()
    return versions


def _version(words: Sequence[str]) -> str:
    """What a program says of its version. One that is machine code, of which a part of the software tells content and
    libraries, says the same again. Raises CommandError, MachineError or OSError if it says nothing.
    """
    program, part = shutil.which(words[0], path=process.search_path()), software.here().get(words[0])
    if program is None or part in (None, software.NONE, software.UNKNOWN) or not _is_machine_code(Path(program)):
        return _asked(words)
    return known_file.said(Path(program), f"version {' '.join(words)} {part}", lambda data: _asked(words))


def _asked(words: Sequence[str]) -> str:
    done = process.run(words)
    if not (said := (done.stdout or done.stderr).strip()):
        raise OSError(f"{words[0]} says nothing of its version")
    return said.splitlines()[0].strip()


def _is_machine_code(program: Path) -> bool:
    with program.open("rb") as file:
        return file.read(len(ELF)) == ELF
