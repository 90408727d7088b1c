"""The kinds of value that keys of several tools have: flows, windows, congestion controls. Pure, no I/O."""

from __future__ import annotations

from ... import units
from ...codec.keyed import Kind
from ...codec.kind import byte_count, matching, whole
from ...codec.scalar import quantity, text_of, word
from ...error import ValueRefused

FLOWS_MAX = 128
WINDOW_MAX_BYTES = 2**30
"""Windows are smaller than this, the largest that TCP can announce (RFC 7323) and that the kernel accepts."""
DATAGRAM_MAX = 65_507
"""The payload of the longest IPv4 datagram with a header of 8 bytes."""
STAMP_BYTES = 16
"""What a datagram of ours carries: its number and when it was sent."""


def read_window(value: object) -> int | None:
    text = text_of(value, f"auto, or {units.SIZE.allowed}")
    if text == "auto":
        return None
    try:
        window_bytes = quantity(units.parse_size, units.SIZE.allowed, low=1)(text)
    except ValueRefused as refused:
        raise ValueRefused(refused.what, f"auto, or {refused.allowed}") from None
    if window_bytes is not None and window_bytes >= WINDOW_MAX_BYTES:
        raise ValueRefused(f"no TCP window is as large as {text!r}", "below 1 GiB, or auto")
    return window_bytes


CONGESTION = Kind(
    word(
        r"[a-z][a-z0-9_]*",
        "a congestion control",
        "the kernel's name of a congestion control, such as cubic or bbr",
    ),
    schema=matching("^[a-z][a-z0-9_]*$", "A congestion control.", "cubic", "bbr"),
)
WINDOW = Kind(
    read_window,
    lambda window_bytes: "auto" if window_bytes is None else units.format_size(window_bytes),
    matching(rf"^auto$|{units.SIZE.pattern}", "A size, or auto for autotuning.", "auto", "64 KiB"),
    none="auto",
)
FLOWS = whole(1, FLOWS_MAX, "How many flows run in parallel.")
LENGTH = byte_count(STAMP_BYTES, DATAGRAM_MAX, "The payload of a datagram, in bytes.", units.format_size)
