"""The kernel's struct tcp_info, decoded. Pure, no I/O.

The layout is that of include/uapi/linux/tcp.h; it only ever grows at its end, so an older kernel's is a shorter one and
what it lacks is None. Times come out in seconds, rates in bit/s, windows in bytes, `snd_cwnd` and `snd_ssthresh` in
segments.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from ...codec.frozen import dataclass

_MICRO = 1e-6


@dataclass(frozen=True)
class Field:
    """Where a field is, how it is packed, and what one unit of it is worth in base units (None: a plain count).

    Its laws: it only `rises`; of a connected socket it is `never_zero`, or only once that has `moved` data; `is_paced`
    is a rate at which nothing needs to have been sent.
    """

    name: str
    offset: int
    code: str
    unit: float | None = None
    rises: bool = False
    never_zero: bool = False
    moved: bool = False
    is_paced: bool = False


FIELDS = (
    Field("state", 0, "B"),
    Field("ca_state", 1, "B"),
    Field("rto_s", 8, "I", _MICRO, never_zero=True),
    Field("snd_mss_bytes", 16, "I", never_zero=True),
    Field("unacked", 24, "I"),
    Field("sacked", 28, "I"),
    Field("lost", 32, "I"),
    Field("rcv_ssthresh_bytes", 64, "I", never_zero=True),
    Field("srtt_s", 68, "I", _MICRO),
    Field("rttvar_s", 72, "I", _MICRO),
    Field("snd_ssthresh", 76, "I"),
    Field("snd_cwnd", 80, "I", never_zero=True),
    Field("reordering", 88, "I", never_zero=True),
    Field("total_retrans", 100, "I", rises=True),
    Field("pacing_rate_bps", 104, "Q", 8.0, moved=True, is_paced=True),
    Field("bytes_acked", 120, "Q", rises=True),
    Field("bytes_received", 128, "Q", rises=True),
    Field("segs_out", 136, "I", rises=True),
    Field("segs_in", 140, "I", rises=True, moved=True),
    Field("notsent_bytes", 144, "I"),
    Field("min_rtt_s", 148, "I", _MICRO, moved=True),
    Field("data_segs_in", 152, "I", rises=True),
    Field("data_segs_out", 156, "I", rises=True),
    Field("delivery_rate_bps", 160, "Q", 8.0, is_paced=True),
    Field("busy_s", 168, "Q", _MICRO, rises=True),
    Field("rwnd_limited_s", 176, "Q", _MICRO, rises=True),
    Field("sndbuf_limited_s", 184, "Q", _MICRO, rises=True),
    Field("delivered", 192, "I", rises=True),
    Field("bytes_sent", 200, "Q", rises=True),
    Field("bytes_retrans", 208, "Q", rises=True),
    Field("snd_wnd_bytes", 228, "I"),
    Field("rcv_wnd_bytes", 232, "I"),
    Field("total_rto", 240, "H", rises=True),
)

UNKNOWN = {
    "min_rtt_s": 2**32 - 1,  # no sample yet
    "snd_ssthresh": 2**31 - 1,  # never set: slow start has no end
    "pacing_rate_bps": 2**64 - 1,  # not paced
}
"""Raw values that mean "none"."""

TcpInfo = Mapping[str, int | float | None]


UNDECIDED = "not decided"
ECN_MODES = ("off", "on", "accurate", UNDECIDED)


@dataclass(frozen=True)
class EcnInfo:
    """What a socket says of ECN: what was negotiated, how many of its segments arrived with the mark CE, by what the
    receiver said, and how many it received with it (None: the kernel is too old to tell).
    """

    mode: str
    delivered_ce: int
    received_ce: int | None


def ecn(data: bytes) -> EcnInfo | None:
    """None where the kernel says nothing of it."""
    if len(data) < 200:
        return None
    mode = "on" if data[5] & 8 else "off"
    (delivered,) = struct.unpack_from("=I", data, 196)
    if len(data) < 280:
        return EcnInfo(mode, delivered, None)
    received, modes = struct.unpack_from("=I", data, 248)[0], struct.unpack_from("=I", data, 276)[0]
    return EcnInfo(ECN_MODES[modes & 3], delivered, received)


@dataclass(frozen=True)
class Agreed:
    """What both ends of a connection agreed on when it began: which options it has, and the largest segment that the
    socket lets the other end send.
    """

    timestamps: bool
    sack: bool
    scaled_windows: bool
    advmss_bytes: int


def agreed(data: bytes) -> Agreed | None:
    """None where the kernel says nothing of it."""
    if len(data) < 88:
        return None
    (advmss_bytes,) = struct.unpack_from("=I", data, 84)
    timestamps, sack, scaled = (bool(data[5] & bit) for bit in (1, 2, 4))
    return Agreed(timestamps, sack, scaled, advmss_bytes)


def decode(data: bytes) -> TcpInfo:
    """One entry for each field; None where the kernel has no value."""
    return {field.name: _value(field, data) for field in FIELDS}


def _value(field: Field, data: bytes) -> int | float | None:
    if field.offset + struct.calcsize(field.code) > len(data):
        return None
    raw: int = struct.unpack_from(f"={field.code}", data, field.offset)[0]
    if raw == UNKNOWN.get(field.name):
        return None
    return raw if field.unit is None else raw * field.unit
