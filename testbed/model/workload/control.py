"""Congestion controls as files name them: by the kernel's name, or as an object file in BPF. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ...codec.keyed import Keyed, Kind, key, keyed, read
from ...codec.kind import matching
from ...codec.scalar import word
from ...error import ValueRefused

PATTERN = "[a-z][a-z0-9_]*"
NAME_MAX = 15
"""Bytes that the kernel has for the name of a control, without the NUL (TCP_CA_NAME_MAX of linux/tcp.h)."""

OF_LINUX = frozenset(
    ("bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno", "scalable",
     "vegas", "veno", "westwood", "yeah")
)  # fmt: skip
"""The congestion controls of Linux 7.3. All but reno are in a file tcp_NAME.c."""

ALLOWED = "the kernel's name of a congestion control, such as cubic or bbr"
OBJECT_ALLOWED = "{bpf: FILE}, an object file relative to the scenario's folder, such as {bpf: reno.bpf.o}"
OF_THE_KERNEL = matching(f"^{PATTERN}$", "A congestion control.", "cubic", "bbr")
NO_JIT = "User-Mode Linux has no JIT for it, and this computer's own kernel is not changed"
VM_WAY = "tool: iperf3 from a virtual machine (docs/vm.md)"
read_name = word(PATTERN, "a congestion control", ALLOWED)


ABOUT = {
    "bpf": "The object file; in a stored trial the name that it registers.",
    "sha256": "Of the object file, once read.",
}
"""What the keys of an object file are."""


@keyed
class BpfControl(Keyed):
    """A congestion control in BPF: an object file by its content, and the name under which it registers."""

    name: str = key("bpf", Kind(read_name), ABOUT["bpf"])
    sha256: str = key("sha256", Kind(word(r"[0-9a-f]{64}", "a SHA-256", "64 hexadecimal digits")), ABOUT["sha256"])

    @property
    def file(self) -> str:
        """What the object file is called where it is kept."""
        return f"{self.name}.bpf.o"


Control: TypeAlias = str | BpfControl


def name_of(control: Control) -> str:
    """What the kernel calls it."""
    return control if isinstance(control, str) else control.name


def _read_kernels(value: object) -> str:
    if isinstance(value, Mapping) and "bpf" in value:
        what = f"both ends of this are in one kernel, and none loads a control in BPF: {NO_JIT}"
        raise ValueRefused(what, f"{ALLOWED}; {VM_WAY}; or, of a control in C, testbed cc tcp_NAME.c")
    return read_name(value)


def _read(value: object) -> Control:
    if not isinstance(value, Mapping):
        return read_name(value)
    if value.keys() != {"bpf", "sha256"}:
        raise ValueRefused("this names no file", f"{ALLOWED}; or {OBJECT_ALLOWED}")
    return read(BpfControl, value)


def _schema() -> dict[str, Any]:
    keys = {name: {"type": "string", "description": about} for name, about in ABOUT.items()}
    of_file = {"type": "object", "properties": keys, "required": ["bpf"], "additionalProperties": False}
    of_file["description"] = "An object file in BPF, relative to the scenario's folder, for virtual machines."
    return {"anyOf": [OF_THE_KERNEL, of_file], "description": "A congestion control."}


CONGESTION = Kind(_read_kernels, schema=OF_THE_KERNEL)
"""Of the kernel."""
ANY_CONGESTION = Kind(_read, lambda value: value if isinstance(value, str) else value.written(), _schema, full=name_of)
"""Of the kernel, or an object file."""
