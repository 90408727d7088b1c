"""Object files in BPF: the name of the congestion control that one registers. Pure, no I/O.

It is in the object: a variable of the type `struct tcp_congestion_ops` in the section .struct_ops, whose member `name`
the types in .BTF place. Formats: elf(5); Documentation/bpf/btf.rst of Linux.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from mmap import mmap

from ..codec.frozen import dataclass
from ..error import ValueRefused
from ..model.workload.control import NAME_MAX, PATTERN

ELF_64_LSB, EM_BPF = b"\x7fELF\x02\x01", 247
HEAD_BYTES = 64
SECTION_WORDS = struct.Struct("<IIQQQQIIQQ")
READ = CONTROLS, LINKED, TYPES = ".struct_ops", ".struct_ops.link", ".BTF"
OPERATIONS, MEMBER = "tcp_congestion_ops", "name"
AN_OBJECT = "what `clang -target bpf -g -O2 -c` makes of a control in C"

BTF_MAGIC = 0xEB9F
STRUCT, DATASEC = 4, 15
MODIFIERS = (8, 9, 10, 11, 18)
"""typedef, volatile, const, restrict, and a tag of a type: behind them is another type."""
BEHIND = {1: 4, 3: 12, 14: 4, 17: 4}
BEHIND_EACH = {STRUCT: 12, 5: 12, 6: 8, 13: 8, DATASEC: 12, 19: 12}
"""Bytes behind the words of a type, at all (of an integer, an array, a variable, a tag of a declaration), and for each
member (also of a union, an enum, a prototype, an enum of 64 bits).
"""


@dataclass(frozen=True)
class Type:
    """A type: its kind, its name, the number of the type that it is of (or its size), and the three words of each
    member, where it has three.
    """

    kind: int
    name: str
    of: int
    members: tuple[tuple[int, int, int], ...]


class Types:
    """The types in a section .BTF, by their numbers; 0 is void. Raises ValueError, LookupError or struct.error for what
    is not whole.
    """

    def __init__(self, btf: bytes) -> None:
        magic, _, _, head, at, length, strings_at, strings_length = struct.unpack_from("<HBBIIIII", btf)
        if magic != BTF_MAGIC:
            raise ValueError
        self.strings = part(btf, head + strings_at, strings_length)
        self.all = [Type(0, "", 0, ()), *self._read(part(btf, head + at, length))]

    def _read(self, data: bytes) -> Iterator[Type]:
        here = 0
        while here < len(data):
            name, info, of = struct.unpack_from("<III", data, here)
            kind, members = info >> 24 & 0x1F, info & 0xFFFF
            each = BEHIND_EACH.get(kind, 0)
            behind = part(data, here + 12, BEHIND.get(kind, 0) + each * members)
            yield Type(
                kind, text(self.strings, name), of, tuple(struct.iter_unpack("<III", behind)) if each == 12 else ()
            )
            here += 12 + len(behind)

    def plain(self, number: int) -> Type:
        """The type behind all modifiers."""
        for _ in self.all:
            if self.all[number].kind not in MODIFIERS:
                return self.all[number]
            number = self.all[number].of
        raise ValueError

    def place(self, of: Type, member: str) -> int:
        """Where a member of a struct begins, in bytes."""
        return {text(self.strings, name): bits // 8 for name, _, bits in of.members}[member]


def control_of(data: bytes) -> str:
    """The name of the one congestion control that an object file registers. Raises ValueRefused for what is none."""
    if len(data) < HEAD_BYTES or data[:6] != ELF_64_LSB or struct.unpack_from("<H", data, 18)[0] != EM_BPF:
        raise ValueRefused("this is no object file in BPF", AN_OBJECT)
    try:
        found_in = {name: part(data, *place) for name, place in sections(data).items() if name in READ}
        found = tuple(_registered(found_in))
    except (struct.error, LookupError, ValueError):
        raise ValueRefused("this object file is not whole, or has no types (BTF)", AN_OBJECT) from None
    if LINKED in found_in:
        what = f"what is in {LINKED} leaves the kernel with the program that loaded it"
        raise ValueRefused(what, f'SEC("{CONTROLS}")')
    if len(found) != 1:
        said = f": {', '.join(found)}" if found else ""
        what = f"this object file has {len(found)} tables of operations{said}"
        raise ValueRefused(what, f'one `struct {OPERATIONS}` in SEC("{CONTROLS}")')
    if not re.fullmatch(PATTERN, found[0]) or len(found[0]) > NAME_MAX:
        raise ValueRefused(f"its control is called {found[0]!r}", f"a .name of up to {NAME_MAX} of a-z, 0-9 and _")
    return found[0]


def sections(data: bytes | mmap) -> dict[str, tuple[int, int]]:
    """The sections of a 64-bit ELF file by their names, each with its place and length. Raises ValueError, LookupError
    or struct.error for a file that is not whole.
    """
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count, of_names = struct.unpack_from("<HHH", data, 58)
    if size != SECTION_WORDS.size:
        raise ValueError
    heads = list(SECTION_WORDS.iter_unpack(part(data, start, count * size)))
    names = part(data, *heads[of_names][4:6])
    return {text(names, name): (offset, length) for name, _, _, _, offset, length, *_ in heads[1:]}


def _registered(found: Mapping[str, bytes]) -> Iterator[str]:
    """The name of the control, if there is one table of operations; of several, and of others, that of the variable:
    the compiler does not say where the second one begins.
    """
    types = Types(found[TYPES])
    variables = [row[0] for each in types.all if each.kind == DATASEC and each.name == CONTROLS for row in each.members]
    for variable in variables:
        table = types.plain(types.all[variable].of)
        is_control = table.kind == STRUCT and table.name.partition("___")[0] == OPERATIONS
        if is_control and len(variables) == 1:
            yield text(part(found[CONTROLS], types.place(table, MEMBER), NAME_MAX + 1) + b"\0", 0)
        else:
            yield from (types.all[variable].name, *(() if is_control else (f"{table.name}, which is no control",)))


def part(data: bytes | mmap, offset: int, length: int) -> bytes:
    """Raises ValueError if the data ends before it."""
    if offset + length > len(data):
        raise ValueError
    return data[offset : offset + length]


def text(strings: bytes, offset: int) -> str:
    """What begins there, up to a NUL. Raises ValueError if there is none."""
    return strings[offset : strings.index(b"\0", offset)].decode("ascii", "replace")
