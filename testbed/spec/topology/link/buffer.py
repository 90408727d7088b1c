"""How files write how much waits at a link. Pure, no I/O."""

from __future__ import annotations

from fractions import Fraction

from .... import units
from ....codec.keyed import Kind
from ....codec.kind import matching
from ....codec.scalar import text_of
from ....error import ValueRefused
from ....model.link.buffer import Buffer, buffer_words
from ....model.link.extent import BUFFER_MAX

BUFFER_ALLOWED = "bdp, packets, or a size in B, kB, KiB, MB, MiB, GB, GiB, such as '1 bdp', '100 packets' or '64 KiB'"


def read_buffer(value: object) -> Buffer | None:
    text = text_of(value, BUFFER_ALLOWED)
    if text == "none":
        return None
    if text.rstrip().endswith("bdp"):
        buffer = Buffer(units.parse_bdp(text), "bdp")
    elif text.rstrip().endswith(("packets", "packet")):
        buffer = Buffer(Fraction(units.parse_packets(text)), "packets")
    else:
        buffer = Buffer(Fraction(_size(text)), "bytes")
    if not buffer.amount:
        raise ValueRefused(f"{text!r} holds nothing", f"more than 0: {BUFFER_ALLOWED}")
    if buffer.unit != "bdp" and buffer.amount > BUFFER_MAX:
        raise ValueRefused(f"{text!r} is too large", f"up to {BUFFER_MAX} {buffer.unit}")
    return buffer


def _size(text: str) -> int:
    try:
        return units.parse_size(text)
    except ValueRefused as refused:
        raise ValueRefused(refused.what, f"bdp, packets, or {refused.allowed}") from None


def write_buffer(buffer: Buffer | None) -> str:
    return "none" if buffer is None else buffer_words(buffer)


BUFFER = Kind(
    read_buffer,
    write_buffer,
    matching(
        rf"{units.BDP_PATTERN}|{units.PACKETS.pattern}|{units.SIZE.pattern}",
        "What the drop-tail queue holds, or none.",
        "1 bdp",
        "100 packets",
        "64 KiB",
        none=True,
    ),
    none="none",
)
