"""The doctor: what this computer can do, what it lacks, and what to type about it.

Looks at the computer and boots the lab kernel once. Changes nothing that lasts: it tries the host's kernel in a
temporary network namespace.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ... import package, process
from ...codec.frozen import dataclass
from ...error import MachineError
from ...native_program import tools
from ...spec import mininet_import
from .. import confinement, controller
from ..consumption import available_bytes
from ..image import feature, first_boot
from ..image.cache import BUILD_COMMAND, find
from ..vm import guest_agent, hypervisor, kernel_cache
from ..vm.hypervisor import TUN
from .probe import OVS_PACKAGE, lacking, lacking_program, missing_of_open_vswitch

X86 = "x86_64"
VENDORS = {
    "qemu": "QEMU",
    "vmware": "VMware",
    "innotek": "VirtualBox",
    "virtualbox": "VirtualBox",
    "microsoft corporation virtual machine": "Hyper-V",
    "parallels": "Parallels",
    "apple virtualization": "Apple's virtualization",
    "amazon ec2": "Amazon EC2",
    "google compute engine": "Google Compute Engine",
    "bochs": "Bochs",
}
"""What a firmware says of whom it was made for, in small letters; and what people call that."""
EMULATED = ("qemu virtual cpu", "qemu tcg")
"""Names of processors that QEMU plays without the help of the computer's."""
CONTAINERS = {"docker": "Docker", "podman": "Podman", "lxc": "LXC", "systemd-nspawn": "systemd-nspawn", "wsl": ""}
"""What the variable `container` of the first process says."""


def surroundings(root: Path, environment: Mapping[str, str], machine: str) -> tuple[str, ...]:
    """From the innermost outwards, as far as this computer tells. `root` is where its files are."""
    release = _text(root, "proc/sys/kernel/osrelease").lower()
    found = []
    if environment.get("CODESPACES") == "true":
        found.append("a GitHub Codespace")
    container = _container(root, environment)
    if container is not None:
        found.append(f"a container ({container})" if container else "a container")
    if "microsoft" in release:
        found.append("WSL 2" if "wsl2" in release else "WSL 1")
    else:
        found += _virtual(root)
    if machine != X86:
        found.append(f"a processor of the kind {machine}, for which there is no lab kernel")
    return tuple(found)


def _container(root: Path, environment: Mapping[str, str]) -> str | None:
    """What made it; empty if it does not say so. None for no container."""
    first = _text(root, "proc/1/environ").split("\0")
    told = next((each.removeprefix("container=") for each in first if each.startswith("container=")), "")
    told = told or environment.get("container", "")
    if (root / "run/.containerenv").exists():
        return "Podman"
    if (root / ".dockerenv").exists():
        return "Docker"
    if told == "oci":
        return ""
    return CONTAINERS.get(told, told) or None if told else None


def _virtual(root: Path) -> Iterator[str]:
    """A virtual machine, if the firmware or the processor says so."""
    said = f"{_text(root, 'sys/class/dmi/id/sys_vendor')} {_text(root, 'sys/class/dmi/id/product_name')}"
    said = " ".join(said.lower().split())
    cpu = _text(root, "proc/cpuinfo").lower()
    name = next((name for word, name in VENDORS.items() if word in said), None)
    is_virtual = any("hypervisor" in line.split() for line in cpu.splitlines() if line.startswith("flags"))
    if name is not None or is_virtual:
        slow = any(word in cpu for word in EMULATED)
        words = [*([name] if name else []), *(["its processor is emulated, which is slow"] if slow else [])]
        yield "a virtual machine" + (f" ({', '.join(words)})" if words else "")


def _text(root: Path, path: str) -> str:
    """Empty if it cannot be read."""
    try:
        return (root / path).read_text(errors="replace")
    except OSError:
        return ""


LAB, HOST, BUILD, SDN, VM, MININET, ROUTE = "lab", "host", "build", "sdn", "vm", "mininet", "route"
MEASURE = "measure"
CONFINED = "confinement"


@dataclass(frozen=True)
class Examination:
    """`fix` is what to type: empty if all is well, "# …" if nothing helps.

    `needed_for` is "lab" (trials in the lab kernel), "build" (building one), "host" (`kernel: host`), "sdn" (nodes
    of the types ovs and controller), "vm", "mininet" (`engine: mininet`), "route" (FRR, DHCP, DNS), "measure" (`testbed
    run` and what reads its results) or "confinement" (what others wrote).
    """

    what: str
    ok: bool
    detail: str
    fix: str = ""
    needed_for: str = LAB


PYTHON = (3, 11)
PYTHON_PACKAGES = {
    LAB: ("numpy", "pyroute2", "rich", "typer", "yaml"),
    MEASURE: ("ansible_runner", "asyncssh", "distributed", "duckdb", "matplotlib", "pyarrow", "scipy"),
}
"""Those of an installation with `[class]`, and what `[all]` adds; os-ken is examined as a controller."""
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
    """Whether networks, exercises and trials can run in the lab kernel here."""
    return all(finding.ok for finding in findings if finding.needed_for == LAB)


def _machine() -> Iterator[Examination]:
    ok = platform.machine() == "x86_64" and sys.platform == "linux"
    fix = "" if ok else "testbed run --set kernel=host …"
    yield Examination("machine", ok, f"{platform.system()} {platform.release()} on {platform.machine()}", fix)


def _surroundings() -> Iterator[Examination]:
    """One line, which is never wrong: what else is lacking, others say."""
    found = surroundings(Path("/"), os.environ, platform.machine())
    yield Examination("this is", True, ", ".join(found) or "a computer of its own, or one that hides what it is")


def _python() -> Iterator[Examination]:
    version = platform.python_version()
    ok = sys.version_info >= PYTHON
    yield Examination("python", ok, f"{version} ({sys.executable})", "" if ok else "make setup")
    for need, names in PYTHON_PACKAGES.items():
        missing = [name for name in names if importlib.util.find_spec(name) is None]
        detail = f"not here: {', '.join(missing)}" if missing else f"{len(names)}, all here"
        yield Examination("python packages", not missing, detail, _install(missing, need) if missing else "", need)


def _install(modules: Sequence[str], need: str) -> str:
    """What to type for these modules."""
    if (Path(__file__).parents[3] / "Makefile").is_file():
        return "make setup"
    names = " ".join("pyyaml" if each == "yaml" else each.replace("_", "-") for each in modules)
    return f"pip install {names}" + ("    # exercises and networks do not need them" if need == MEASURE else "")


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
    free = available_bytes()
    fix = "" if free >= MEMORY_BYTES else "ps -eo rss,args --sort=-rss | head   # and end what is not needed"
    yield Examination("memory", free >= MEMORY_BYTES, f"{free / 2**30:.1f} GiB available", fix)


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
    other = "" if image.is_current else ", not the one of this version of the testbed"
    fix = "" if image.is_current else BUILD_COMMAND
    yield Examination("lab kernel", True, f"{image.name} ({image.release}){other} {image.path}", fix)
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


_SSH_FILES = Path("~/.ssh")


def _ssh_and_ansible() -> Iterator[Examination]:
    """`testbed machines` needs the SSH client and Ansible; trials have their own client, and need a key."""
    ssh = package.which("ssh")
    fix = "" if ssh else package.fix_for("ssh")
    yield Examination("ssh client (machine)", ssh is not None, ssh or "missing", fix, HOST)
    playbook = Path(sys.executable).with_name("ansible-playbook")
    found = str(playbook) if os.access(playbook, os.X_OK) else package.which("ansible-playbook")
    fix = "" if found else _install(["ansible_core", "ansible_runner"], MEASURE)
    yield Examination("ansible-playbook (machine)", found is not None, found or "missing", fix, HOST)
    keys = sorted(path.name for path in _SSH_FILES.expanduser().glob("id_*") if not path.suffix)
    agent = os.environ.get("SSH_AUTH_SOCK")
    detail = ", ".join([*keys, *(["an agent"] if agent else [])]) or "no key in ~/.ssh and no agent"
    ok = bool(keys or agent)
    fix = "" if ok else "ssh-keygen -t ed25519   # or name one in inventory.yml"
    yield Examination("ssh key (machine)", ok, detail, fix, HOST)


def _open_vswitch() -> Iterator[Examination]:
    missing = missing_of_open_vswitch()
    fix = package.install_command([OVS_PACKAGE]) if missing else ""
    detail = f"missing: {', '.join(missing)}" if missing else "all its programs are here"
    yield Examination("ovs", not missing, detail, fix, SDN)
    yield _controller()
    yield _datapath()


def _controller() -> Examination:
    try:
        controller.check(is_lab=True)
    except MachineError as error:
        return Examination("controller", False, error.what, error.fix, SDN)
    return Examination("controller", True, f"os-ken in {controller.folders()[-1]}", needed_for=SDN)


def _datapath() -> Examination:
    lab = "in the lab kernel both" if lacking("lab kernel") is None else "no lab kernel yet"
    if package.has_module("openvswitch"):
        return Examination("datapaths", True, f"{lab}; in this machine's kernel its own", needed_for=SDN)
    if TUN.exists():
        detail = f"{lab}; this machine's kernel has none of its own: in user space"
        return Examination("datapaths", True, detail, needed_for=SDN)
    return Examination("datapaths", False, f"{lab}; in this machine's kernel none", "sudo modprobe openvswitch", SDN)


def _virtual_machines() -> Iterator[Examination]:
    """In order of dependency; leaves out what it cannot examine."""
    works = True
    for what, look in VM_LOOKS:
        if not works and what == "virtual machines run":
            return
        try:
            yield Examination(what, True, look(), needed_for=VM)
        except MachineError as error:
            works = False
            yield Examination(what, False, error.what, error.fix, VM)


def _vm_kernel() -> str:
    found = kernel_cache.find(None)
    others = [f"{each.name} ({each.release})" for each in kernel_cache.installed() if each.name != found.name]
    also = f"; also {', '.join(others)}" if others else ""
    return f"{found.name} ({found.release}) {found.folder}{also}"


def _vm_accelerator() -> str:
    found = hypervisor.accelerator(tools())
    return "with KVM" if found.name == "kvm" else f"emulated, exact only in virtual time (`kernel: lab`): {found.why}"


def _taps() -> str:
    if not hypervisor.TUN.exists():
        raise MachineError(f"there is no {hypervisor.TUN}", "sudo modprobe tun")
    return f"{hypervisor.TUN}, and {'also' if hypervisor.VHOST.exists() else 'no'} {hypervisor.VHOST}"


VM_LOOKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("QEMU", hypervisor.version),
    ("taps", _taps),
    ("kernel for virtual machines", _vm_kernel),
    ("guest agent", lambda: str(guest_agent.agent())),
    ("virtual machines run", _vm_accelerator),
)


ABILITIES = {"veth": "veth", "netem": "sch_netem", "tbf": "sch_tbf", "periodic loss": "nft_numgen"}
"""Probes, and the kernel module that each looks for."""

CHECKS: tuple[Callable[[], Iterator[Examination]], ...] = (
    _machine,
    _surroundings,
    _python,
    _programs,
    _mininet,
    _memory,
    _confinement,
    _lab_kernel,
    _host_kernel,
    _congestion_controls,
    _ssh_and_ansible,
    _open_vswitch,
    _virtual_machines,
)
