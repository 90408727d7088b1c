"""What kind of computer the doctor says this is."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.kernel.ready import doctor
from testbed.kernel.ready.doctor import surroundings

WSL2 = {"proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n"}
QEMU = {"sys/class/dmi/id/sys_vendor": "QEMU\n", "proc/cpuinfo": "flags\t\t: fpu hypervisor\n"}
EMULATED = QEMU | {"proc/cpuinfo": "model name\t: QEMU Virtual CPU version 2.5+\nflags\t\t: fpu hypervisor\n"}
CASES: dict[str, tuple[dict[str, str], dict[str, str], str, tuple[str, ...]]] = {
    "nothing": ({}, {}, "x86_64", ()),
    "a plain computer": ({"proc/cpuinfo": "flags : fpu vme\n"}, {}, "x86_64", ()),
    "docker": ({".dockerenv": ""}, {}, "x86_64", ("a container (Docker)",)),
    "podman": ({"run/.containerenv": ""}, {"container": "podman"}, "x86_64", ("a container (Podman)",)),
    "lxc": ({"proc/1/environ": "A=b\0container=lxc\0"}, {}, "x86_64", ("a container (LXC)",)),
    "oci": ({}, {"container": "oci"}, "x86_64", ("a container",)),
    "wsl": (WSL2, {}, "x86_64", ("WSL 2",)),
    "wsl, which says that it is a container": (WSL2, {"container": "wsl"}, "x86_64", ("WSL 2",)),
    "the first wsl": ({"proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft"}, {}, "x86_64", ("WSL 1",)),
    "docker on wsl": (WSL2 | {".dockerenv": ""}, {}, "x86_64", ("a container (Docker)", "WSL 2")),
    "codespace": (
        {".dockerenv": "", "proc/cpuinfo": "flags : hypervisor"},
        {"CODESPACES": "true"},
        "x86_64",
        ("a GitHub Codespace", "a container (Docker)", "a virtual machine"),
    ),
    "qemu": (QEMU, {}, "x86_64", ("a virtual machine (QEMU)",)),
    "qemu without help": (
        EMULATED,
        {},
        "x86_64",
        ("a virtual machine (QEMU, its processor is emulated, which is slow)",),
    ),
    "arm": ({}, {}, "aarch64", ("a processor of the kind aarch64, for which there is no lab kernel",)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_computer_is_known_by_what_it_says_of_itself(name: str, tmp_path: Path) -> None:
    files, environment, machine, found = CASES[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert surroundings(tmp_path, environment, machine) == found


def test_the_doctor_says_it_in_one_line_that_needs_no_mending() -> None:
    (line,) = doctor._surroundings()
    assert (line.what, line.ok, line.fix) == ("this is", True, "")
    assert line.detail
