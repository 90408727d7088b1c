"""The doctor: what this computer can do, what it lacks, and what to type about it.

Looks at the computer and boots the lab kernel once. Changes nothing that lasts: it tries the host's kernel in a
temporary network namespace.
"""

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ... import package, process
from ...error import MachineError
from ...spec import mininet_import
from .. import confinement
from ..image import feature, first_boot
from ..image.cache import find
from . import machine_doctor, sdn_doctor, surroundings, vm_doctor
from .examination import BUILD, CONFINED, HOST, LAB, MININET, ROUTE, VM, Examination
from .probe import lacking, lacking_program

PYTHON = (3, 11)
PYTHON_PACKAGES = (
    "ansible_runner",
    "asyncssh",
    "duckdb",
    "matplotlib",
    "numpy",
    "pyarrow",
    "pydantic",
    "pyroute2",
    "rich",
    "scipy",
    "typer",
)
MEMORY_BYTES = 2 << 30
"""The memory that a lab kernel with a 10 Gbit/s × 100 ms path touches; trials on larger paths state their own need."""
SHM = Path("/dev/shm")
WANTED_CONTROLS = ("reno", "cubic", "bbr", "htcp", "scalable")
ALONE = ("unshare", "--net", "--")
"""Runs a command in an unnamed network namespace, which vanishes with it."""

OUTSIDE = ("setpriv",)
"""What we start ourselves, and no guest does."""

NOT_NEEDED = "`kernel: lab`, the default, does not need it"


def examine() -> tuple[Examination, ...]:
    """All findings, in the order of `CHECKS`. Takes about a second."""
    return tuple(finding for check in CHECKS for finding in check())


def lab_works(findings: tuple[Examination, ...]) -> bool:
    """Whether trials can run in the lab kernel here."""
    return all(finding.ok for finding in findings if finding.needed_for == LAB)


def _machine() -> Iterator[Examination]:
    ok = platform.machine() == "x86_64" and sys.platform == "linux"
    fix = "" if ok else "testbed run --set kernel=host …"
    yield Examination("machine", ok, f"{platform.system()} {platform.release()} on {platform.machine()}", fix)


def _python() -> Iterator[Examination]:
    version = platform.python_version()
    ok = sys.version_info >= PYTHON
    yield Examination("python", ok, f"{version} ({sys.executable})", "" if ok else "make setup")
    missing = [name for name in PYTHON_PACKAGES if importlib.util.find_spec(name) is None]
    detail = f"not here: {', '.join(missing)}" if missing else f"{len(PYTHON_PACKAGES)}, all here"
    yield Examination("python packages", not missing, detail, "make setup" if missing else "")


def _programs() -> Iterator[Examination]:
    needs = {"run": LAB, "build": BUILD, "vm": VM, "mininet": MININET, "machine": HOST, "route": ROUTE}
    for each in (each for each in package.packages() if each.use in needs):
        lacks = None if each.use != "run" or each.probe in OUTSIDE else lacking_program(each.probe, is_lab=True)
        fix = "" if each.present and lacks is None else package.install_command([each.name])
        detail = (package.which(each.probe) or each.probe) if each.present else "missing"
        detail = lacks.what if lacks is not None and each.present else detail
        yield Examination(Path(each.probe).name, not fix, detail, fix, needs[each.use])
    for name in package.BASICS:  # every Debian has them: only what is lacking is said
        lacks = lacking_program(name, is_lab=True)
        if lacks is not None:
            yield Examination(name, False, lacks.what, lacks.fix, LAB)


def _mininet() -> Iterator[Examination]:
    lacking = mininet_import.missing()
    detail = "its Python package works" if lacking is None else lacking.what
    yield Examination("engine: mininet", lacking is None, detail, "" if lacking is None else lacking.fix, MININET)


def _memory() -> Iterator[Examination]:
    free = shutil.disk_usage(SHM).free if SHM.is_dir() else 0
    text = f"{free / 2**30:.1f} GiB free; a lab kernel keeps its memory there"
    fix = "" if free >= MEMORY_BYTES else f"sudo mount -o remount,size={2 * MEMORY_BYTES} {SHM}"
    yield Examination(str(SHM), free >= MEMORY_BYTES, text, fix)
    free = _available_bytes()
    fix = "" if free >= MEMORY_BYTES else "ps -eo rss,args --sort=-rss | head   # and end what is not needed"
    yield Examination("memory", free >= MEMORY_BYTES, f"{free / 2**30:.1f} GiB available", fix)


def _available_bytes() -> int:
    fields = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return next(int(words[1]) * 1024 for words in fields if words[0] == "MemAvailable:")


def _confinement() -> Iterator[Examination]:
    held = confinement.method()
    detail = held.text if held.holds else "none: a guest may do all that you may"
    fix = "" if held.holds else package.install_command([confinement.PACKAGE])
    yield Examination("confinement", held.holds, detail, fix, CONFINED)


def _lab_kernel() -> Iterator[Examination]:
    try:
        image = find(None)
    except MachineError as error:
        yield Examination("lab kernel", False, error.what, error.fix)
        return
    yield Examination("lab kernel", True, f"{image.name} ({image.release}) {image.path}")
    first = first_boot.boot(image.path)
    if first.ok:
        yield Examination("lab kernel boots", True, f"an hour of lab time in {first.wall_s:.1f} s")
        yield _features(first)
    else:
        fix = "sudo sysctl kernel.yama.ptrace_scope=1" if _ptrace_forbidden() else f"{image.path} --showconfig"
        yield Examination("lab kernel boots", False, first.last_lines, fix)


def _features(first: first_boot.FirstBoot) -> Examination:
    """What the kernel says that it has, and what it refused."""
    try:
        found = first.features
    except MachineError as error:
        return Examination("lab kernel features", False, error.what, "testbed kernel build")
    refused = "".join(f"; refused: {name} ({said})" for name, said in found.refusals.items())
    detail = f"congestion controls {', '.join(found.congestion_controls)}{refused}"
    return Examination("lab kernel features", not refused, detail, "testbed kernel build" if refused else "")


def _ptrace_forbidden() -> bool:
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    return scope.exists() and scope.read_text().strip() in ("2", "3")


def _host_kernel() -> Iterator[Examination]:
    if os.geteuid() != 0:
        again = f"sudo {Path(sys.executable).with_name('testbed')} doctor"
        yield Examination("root", False, "an ordinary user", again, HOST)
        return
    yield Examination("root", True, "yes", needed_for=HOST)
    try:
        process.run((*ALONE, "true"))
        yield Examination("network namespaces", True, "yes", needed_for=HOST)
        for name, module in ABILITIES.items():
            why = lacking(name)
            fix = module_fix(module) if why else ""
            yield Examination(name, why is None, why.what if why else "yes", fix, HOST)
    except (process.CommandError, MachineError) as error:
        yield Examination("network namespaces", False, str(error).splitlines()[-1], f"# {NOT_NEEDED}", HOST)


def module_fix(module: str) -> str:
    """What to type so that the host's kernel has a module; a comment if nothing helps."""
    release = platform.release()
    if not Path("/proc/modules").exists() or not Path("/lib/modules", release).is_dir():
        return f"# this kernel ({release}) has no {module} and cannot load modules; {NOT_NEEDED}"
    try:
        process.run(["modprobe", "--dry-run", module])
    except (process.CommandError, MachineError):
        if Path("/etc/os-release").read_text().find("ID=ubuntu") >= 0:
            return package.install_command([f"linux-modules-extra-{release}"])
        return f"# this kernel ({release}) comes without {module}; {NOT_NEEDED}"
    return f"sudo modprobe {module}"


def _congestion_controls() -> Iterator[Examination]:
    have = feature.CONTROLS.read_text().split()
    lacking = [name for name in WANTED_CONTROLS if name not in have]
    fix = module_fix(f"tcp_{lacking[0]}") if lacking else ""
    if fix.startswith("sudo modprobe"):
        fix = f"sudo modprobe -a {' '.join(f'tcp_{name}' for name in lacking)}"
    detail = ", ".join(have) + (f"; not: {', '.join(lacking)}" if lacking else "")
    yield Examination("congestion controls", not lacking, detail, fix, HOST)


ABILITIES = {"veth": "veth", "netem": "sch_netem", "tbf": "sch_tbf", "periodic loss": "nft_numgen"}
"""Probes, and the kernel module that each looks for."""

CHECKS: tuple[Callable[[], Iterator[Examination]], ...] = (
    _machine,
    surroundings.examine,
    _python,
    _programs,
    _mininet,
    _memory,
    _confinement,
    _lab_kernel,
    _host_kernel,
    _congestion_controls,
    machine_doctor.examine,
    sdn_doctor.examine,
    vm_doctor.examine,
)
