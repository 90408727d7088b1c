"""What this machine can do, what it lacks, and what to type about it.

Looks at the machine and boots the lab kernel once. Changes nothing that lasts: the host's kernel is tried
in a network namespace of its own, which is gone afterwards.
"""

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import machinedoctor, package, process, sdndoctor, topo, vmdoctor
from .error import MachineError
from .kernels import firstboot
from .kernels.cache import find

LAB, HOST, BUILD, SDN, VM, MININET = "lab", "host", "build", "sdn", "vm", "mininet"
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
"""What a lab kernel with a 10 Gbit/s × 100 ms path touches; larger paths say themselves what they need."""
SHM = Path("/dev/shm")
CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
WANTED_CONTROLS = ("reno", "cubic", "bbr", "htcp", "scalable")
ALONE = ("unshare", "--net", "--")
"""In a network namespace without a name, which goes with the command, however that ends."""

NOT_NEEDED = "`kernel: lab`, the default, does not need it"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `fix` is what to type: empty when all is well, "# …" when nothing helps.

    `needed_for` is "lab" (trials in the lab kernel), "build" (building one), "host" (`kernel: host`), "sdn" (nodes
    of the types ovs and controller), "vm" or "mininet" (`engine: mininet`).
    """

    what: str
    ok: bool
    detail: str
    fix: str = ""
    needed_for: str = LAB


def examine() -> tuple[Finding, ...]:
    """All findings, in the order of `CHECKS`. Takes about a second."""
    return tuple(finding for check in CHECKS for finding in check())


def lab_works(findings: tuple[Finding, ...]) -> bool:
    """Whether trials can run in the lab kernel here."""
    return all(finding.ok for finding in findings if finding.needed_for == LAB)


def _machine() -> Iterator[Finding]:
    ok = platform.machine() == "x86_64" and sys.platform == "linux"
    fix = "" if ok else "testbed run --set kernel=host …"
    yield Finding("machine", ok, f"{platform.system()} {platform.release()} on {platform.machine()}", fix)


def _python() -> Iterator[Finding]:
    version = platform.python_version()
    ok = sys.version_info >= PYTHON
    yield Finding("python", ok, f"{version} ({sys.executable})", "" if ok else "make setup")
    missing = [name for name in PYTHON_PACKAGES if importlib.util.find_spec(name) is None]
    detail = f"not here: {', '.join(missing)}" if missing else f"{len(PYTHON_PACKAGES)}, all here"
    yield Finding("python packages", not missing, detail, "make setup" if missing else "")


def _programs() -> Iterator[Finding]:
    needs = {"run": LAB, "build": BUILD, "vm": VM, "mininet": MININET, "machine": HOST}
    for each in (each for each in package.packages() if each.use in needs):
        fix = "" if each.present else package.install_command([each.name])
        detail = (package.which(each.probe) or each.probe) if each.present else "missing"
        yield Finding(Path(each.probe).name, each.present, detail, fix, needs[each.use])


def _virtual_machines() -> Iterator[Finding]:
    for what, ok, detail, fix in vmdoctor.examine():
        yield Finding(what, ok, detail, fix, VM)


def _mininet() -> Iterator[Finding]:
    lacking = topo.missing()
    detail = "its Python package works" if lacking is None else lacking.what
    yield Finding("engine: mininet", lacking is None, detail, "" if lacking is None else lacking.fix, MININET)


def _memory() -> Iterator[Finding]:
    free = shutil.disk_usage(SHM).free if SHM.is_dir() else 0
    text = f"{free / 2**30:.1f} GiB free; a lab kernel keeps its memory there"
    fix = "" if free >= MEMORY_BYTES else f"sudo mount -o remount,size={2 * MEMORY_BYTES} {SHM}"
    yield Finding(str(SHM), free >= MEMORY_BYTES, text, fix)
    free = _available_bytes()
    fix = "" if free >= MEMORY_BYTES else "ps -eo rss,args --sort=-rss | head   # and end what is not needed"
    yield Finding("memory", free >= MEMORY_BYTES, f"{free / 2**30:.1f} GiB available", fix)


def _available_bytes() -> int:
    fields = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return next(int(words[1]) * 1024 for words in fields if words[0] == "MemAvailable:")


def _lab_kernel() -> Iterator[Finding]:
    try:
        image = find(None)
    except MachineError as error:
        yield Finding("lab kernel", False, error.what, error.fix)
        return
    yield Finding("lab kernel", True, f"{image.name} ({image.release}) {image.path}")
    first = firstboot.boot(image.path)
    if first.ok:
        yield Finding("lab kernel boots", True, f"an hour of lab time in {first.wall_s:.1f} s")
    else:
        fix = "sudo sysctl kernel.yama.ptrace_scope=1" if _ptrace_forbidden() else f"{image.path} --showconfig"
        yield Finding("lab kernel boots", False, first.last_lines, fix)


def _ptrace_forbidden() -> bool:
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    return scope.exists() and scope.read_text().strip() in ("2", "3")


def _host_kernel() -> Iterator[Finding]:
    if os.geteuid() != 0:
        again = f"sudo {Path(sys.executable).with_name('testbed')} doctor"
        yield Finding("root", False, "an ordinary user", again, HOST)
        return
    yield Finding("root", True, "yes", needed_for=HOST)
    try:
        process.run((*ALONE, "true"))
        yield Finding("network namespaces", True, "yes", needed_for=HOST)
        for what, module, attempt in ABILITIES:
            yield _tried(what, module, attempt)
    except (process.CommandError, MachineError) as error:
        yield Finding("network namespaces", False, str(error).splitlines()[-1], f"# {NOT_NEEDED}", HOST)


def _tried(what: str, module: str, attempt: Callable[[], None]) -> Finding:
    try:
        attempt()
    except (process.CommandError, MachineError) as error:
        reason = error.stderr.strip() if isinstance(error, process.CommandError) else error.what
        return Finding(what, False, (reason or str(error)).splitlines()[-1], module_fix(module), HOST)
    return Finding(what, True, "yes", needed_for=HOST)


def module_fix(module: str) -> str:
    """What to type so that this host's kernel has a module; a comment when nothing helps."""
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


def _qdisc(*words: str) -> Callable[[], None]:
    def attempt() -> None:
        process.run((*ALONE, "tc", "qdisc", "replace", "dev", "lo", "root", *words))

    return attempt


def _veth() -> None:
    process.run((*ALONE, "ip", "link", "add", "name", "tb-a", "type", "veth", "peer", "name", "tb-b"))


def _periodic_loss() -> None:
    rules = """\
table netdev t {
  chain c {
    type filter hook ingress device "lo" priority 0
    numgen inc mod 10 == 9 counter drop
  }
}
"""
    process.run((*ALONE, "nft", "-f", "-"), input=rules)


def _congestion_controls() -> Iterator[Finding]:
    have = CONTROLS.read_text().split()
    lacking = [name for name in WANTED_CONTROLS if name not in have]
    fix = module_fix(f"tcp_{lacking[0]}") if lacking else ""
    if fix.startswith("sudo modprobe"):
        fix = f"sudo modprobe -a {' '.join(f'tcp_{name}' for name in lacking)}"
    detail = ", ".join(have) + (f"; not: {', '.join(lacking)}" if lacking else "")
    yield Finding("congestion controls", not lacking, detail, fix, HOST)


def _machines() -> Iterator[Finding]:
    for look in machinedoctor.looks():
        yield Finding(look.what, look.ok, look.detail, look.fix, HOST)


def _openflow() -> Iterator[Finding]:
    try:
        has_lab = bool(find(None))
    except MachineError:
        has_lab = False
    for found in sdndoctor.examine(has_lab=has_lab):
        yield Finding(*found, needed_for=SDN)


ABILITIES: tuple[tuple[str, str, Callable[[], None]], ...] = (
    ("veth", "veth", _veth),
    ("netem", "sch_netem", _qdisc("netem", "delay", "1ms")),
    ("tbf", "sch_tbf", _qdisc("tbf", "rate", "1mbit", "burst", "3100", "limit", "10000")),
    ("nft ingress and numgen", "nft_numgen", _periodic_loss),
)

CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _machine,
    _python,
    _programs,
    _mininet,
    _memory,
    _lab_kernel,
    _host_kernel,
    _congestion_controls,
    _machines,
    _openflow,
    _virtual_machines,
)
