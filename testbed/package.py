"""Debian packages that the testbed needs, and whether they are installed. Looks for files, nothing else."""

import os
import platform
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("packages.txt")
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where Debian keeps `ip`, `tc` and `nft`; an ordinary user's PATH leaves these out."""

GUEST_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""The folders in which a lab kernel's guest looks for programs, whatever the user's PATH is."""

BASICS = {
    **dict.fromkeys(("cat", "cp", "cut", "date", "env", "ln", "mkdir", "mkfifo", "readlink"), "coreutils"),
    **dict.fromkeys(("rm", "seq", "sleep", "tee", "truncate"), "coreutils"),
    **{"sh": "dash", "awk": "mawk", "grep": "grep", "mount": "mount", "find": "findutils", "python3": "python3"},
    **dict.fromkeys(("setpriv", "taskset", "unshare"), "util-linux"),
}
"""Programs that every Debian has, and the packages that bring them back."""

OPEN_VSWITCH = ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl")
"""All of one package."""

FRR = ("zebra", "staticd", "ospfd", "ospf6d", "ripd", "ripngd", "bgpd", "isisd", "babeld", "eigrpd", "bfdd", "vtysh")
"""Likewise."""

FAMILIAR = {
    "aioquic": "python3-aioquic",
    "aria2c": "aria2",
    "curl": "curl",
    "dig": "bind9-dnsutils",
    "dnsperf": "dnsperf",
    "flent": "flent",
    "fping": "fping",
    "h2load": "nghttp2-client",
    "iperf": "iperf",
    "iperf3": "iperf3",
    "irtt": "irtt",
    "lighttpd": "lighttpd",
    "nc": "netcat-openbsd",
    "netperf": "netperf",
    "netserver": "netperf",
    "nginx": "nginx-light",
    "nghttp": "nghttp2-client",
    "nghttpd": "nghttp2-server",
    "nuttcp": "nuttcp",
    "openssl": "openssl",
    "rsync": "rsync",
    "scp": "openssh-client",
    "sftp": "openssh-client",
    "socat": "socat",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "sshd": "openssh-server",
    "tftp": "tftp-hpa",
    "wget": "wget",
    "wrk": "wrk",
}
"""Programs that people run over networks, which no part of the testbed needs, and the packages that bring them."""

TEST = "test"
"""The use of what only our own tests need."""

SERVICES = {
    "nginx-light": ("nginx",),
    "openvswitch-switch": ("openvswitch-switch", "ovs-record-hostname"),
    "openvswitch-testcontroller": ("openvswitch-testcontroller",),
    "mininet": ("openvswitch-switch", "ovs-record-hostname"),
    "frr": ("frr",),
}
"""Packages that start servers when they are installed, or bring some that do, and their names."""

SYSTEMD = Path("/run/systemd/system")
"""This folder exists where systemd starts servers; otherwise the runlevel decides."""


@dataclass(frozen=True)
class Package:
    """`probe` is a program's name or an absolute path; `use` is what needs it: one of those that `packages` takes."""

    name: str
    probe: str
    use: str

    @property
    def present(self) -> bool:
        if self.probe.startswith("/"):
            return Path(self.probe).exists()
        return which(self.probe) is not None


def search_path() -> str:
    """The user's PATH with the system folders added at its end."""
    words = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join([*words, *(folder for folder in SYSTEM_FOLDERS if folder not in words)])


def which(program: str) -> str | None:
    """Where the program is, or None."""
    return shutil.which(program, path=search_path())


def which_in_guest(program: str) -> str | None:
    """Where a lab kernel's guest finds the program, or None."""
    return shutil.which(program, path=os.pathsep.join(GUEST_FOLDERS))


def packages(use: str | None = None) -> tuple[Package, ...]:
    """The packages needed to "run", to "build", to "route", for "sdn", a "vm", "mininet", or to "test"; None: all but
    the last.
    """
    lines = (line.split("#")[0].split() for line in LIST.read_text().splitlines())
    listed = (Package(*words) for words in lines if words)
    return tuple(package for package in listed if package.use == use or (use is None and package.use != TEST))


def missing(use: str | None = None) -> tuple[Package, ...]:
    """Those of `packages(use)` that are missing."""
    return tuple(package for package in packages(use) if not package.present)


def install_command(names: Iterable[str]) -> str:
    """What to type to install these packages. Servers among them do not start, now or at boot."""
    listed = list(names)
    sudo = "" if os.geteuid() == 0 else "sudo "
    services = [service for name in listed for service in SERVICES.get(name, ())]
    if not services:
        return f"{sudo}apt-get install -y {' '.join(listed)}"
    install = f"{sudo}env RUNLEVEL=1 apt-get install -y {' '.join(listed)}"
    if not SYSTEMD.is_dir():
        return install
    before, *after = (f"{sudo}systemctl {verb} {' '.join(services)}" for verb in ("mask", "unmask", "disable"))
    return " && ".join((before, install, *after))


def fix_for(program: str) -> str:
    """What to type when this program is missing; a program outside the list is named as it is."""
    if program in (known := FAMILIAR | owners()):
        return install_command([known[program]])
    return f"install the program {program!r}, or add its folder to PATH"


def owners() -> dict[str, str]:
    """Programs, and the packages that bring them; not those that only our tests need."""
    listed = {each.probe: each.name for each in packages() if not each.probe.startswith("/")}
    return BASICS | dict.fromkeys(OPEN_VSWITCH, "openvswitch-switch") | dict.fromkeys(FRR, "frr") | listed


def has_module(name: str) -> bool:
    """Whether this machine's kernel has a module, loaded, built in or in a file."""
    if Path("/sys/module", name).exists():
        return True
    lists = (Path("/lib/modules", platform.release(), file) for file in ("modules.dep", "modules.builtin"))
    return any(f"/{name}.ko" in listed.read_text(errors="replace") for listed in lists if listed.exists())


MININET_PYTHON, MININET_DRIVER = ("/usr/bin/python3", "-EsB"), "mininet_driver.py"
"""Mininet belongs to the system's Python."""
