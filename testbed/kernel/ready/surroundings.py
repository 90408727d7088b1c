"""What kind of computer this is: a container, WSL, a Codespace, a virtual machine, another processor. Reads files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

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
