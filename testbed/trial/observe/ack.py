"""What senders did, one record for each ACK that they took: the file that a lab kernel writes with `samples: acks`.

The layout is that of `kernel/lab/patches/0018-tcp-testbed.patch`. A record has what the socket was when the ACK had
been dealt with. Beside ACKs there are records of what else may change a window: another state of recovery, a segment
that is sent again, the end of an idle time. All stand in the order of time. Reads that file.
"""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...codec.frozen import dataclass
from ...kernel.guest import TrialError

ACK, STATE, RETRANSMIT, WINDOW = 1, 2, 3, 4
BEGIN, FLOW, NAME, NUMBERS, END = 16, 17, 18, 19, 20
LOOKS = (ACK, STATE, RETRANSMIT, WINDOW)
"""Kinds of records that tell what a socket is."""
VERSION = 1
RECORD_BYTES = 104
FLOW_LAYOUT = struct.Struct("=16s16sHHHH16s")
OWN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}", re.ASCII)

FIELDS = (
    ("time_ns", "u8"),
    ("flow", "u4"),
    ("kind", "u1"),
    ("argument", "u1"),
    ("ca_state", "u1"),
    ("state", "u1"),
    *((name, "u4") for name in ("cwnd", "ssthresh", "srtt_us", "in_flight", "packets_out", "sacked_out", "lost_out")),
    *((name, "u4") for name in ("retrans_out", "delivered", "lost", "total_retrans", "segs_in")),
    ("pacing_rate", "u8"),
    ("bytes", "u8"),
    ("info_kind", "u4"),
    ("info", "u4", (5,)),
)
"""Of a record in LOOKS, packed, as numpy names types."""
STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
"""The states of TCP's recovery (`ca_state`)."""
INFINITE = 0x7FFFFFFF
"""What Linux has for no threshold (TCP_INFINITE_SSTHRESH)."""
WINDOW_CAUSES = ("idle", "first packet", "application-limited", "MTU probe")


@dataclass(frozen=True)
class AckFlow:
    """One connection, as its sender sees it. `number` counts from 1; `names` are those of the control's own numbers."""

    number: int
    source: str
    source_port: int
    destination: str
    destination_port: int
    congestion: str
    names: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[str, int, str, int]:
        return self.source, self.source_port, self.destination, self.destination_port


@dataclass(frozen=True)
class Acks:
    """All records. `most` is how many the file can have; those that did not fit, `left_out`, begin at `left_out_ns`.
    `flows_left_out` tells of connections beyond 65 534, `names_left_out` of numbers beyond eight of a connection.
    """

    flows: tuple[AckFlow, ...]
    most: int
    left_out: int
    left_out_ns: int
    flows_left_out: int
    names_left_out: int
    records: Any = field(repr=False, compare=False)

    @cached_property
    def _places(self) -> Mapping[int, Any]:
        """The places of each flow's records in LOOKS, by its number."""
        import numpy as np

        places = np.flatnonzero(self.records["kind"] <= WINDOW)
        numbers = self.records["flow"][places]
        order = np.argsort(numbers, kind="stable")
        found, starts = np.unique(numbers[order], return_index=True)
        parts = np.split(places[order], starts[1:])
        return {int(number): part for number, part in zip(found, parts, strict=True)}

    def of(self, flow: AckFlow) -> Any:
        """The records in LOOKS of a flow, in the order of time."""
        return self.records[self._places[flow.number]] if flow.number in self._places else self.records[:0]

    def numbers(self) -> Iterator[tuple[int, int, str, int]]:
        """Each change of a control's own number: time (ns), flow, name, value."""
        import numpy as np

        names = {each.number: each.names for each in self.flows}
        last: dict[tuple[int, int], int] = {}
        for place in np.flatnonzero(self.records["kind"] == NUMBERS).tolist():
            each = self.records[place]
            number, told = int(each["flow"]), each.tobytes()[16:80]
            for index, value in enumerate(struct.unpack("=8q", told)[: int(each["argument"])]):
                if last.get((number, index)) != value:
                    last[number, index] = value
                    yield int(each["time_ns"]), number, names[number][index], value


def read(path: Path) -> Acks:
    """Raises TrialError for a file that is not whole, or was not written by the kernel."""
    import numpy as np

    layout = np.dtype(list(FIELDS))
    assert layout.itemsize == RECORD_BYTES, f"BUG: a record of {layout.itemsize} bytes"
    if not path.exists():
        raise TrialError(f"the lab kernel recorded no ACKs: {path.name} is missing; its console may say why")
    size = path.stat().st_size
    if size < 2 * RECORD_BYTES or size % RECORD_BYTES:
        raise TrialError(f"the records of ACKs are not whole: {path.name} has {size} bytes")
    records = np.memmap(path, layout, "r")
    first, last = (_counted(records[place]) for place in (0, -1))
    if records[0]["kind"] != BEGIN or first[:2] != (VERSION, RECORD_BYTES):
        raise TrialError(f"the records of ACKs are of another version: {path.name}")
    if records[-1]["kind"] != END or last[0] != len(records) or last[1] != first[2] or len(records) > first[2]:
        raise TrialError(f"the records of ACKs are not whole: {path.name} ends after {len(records)} of them")
    between = records[1:-1]
    kinds = set(np.unique(between["kind"]).tolist())
    if not kinds <= {*LOOKS, FLOW, NAME, NUMBERS}:
        raise TrialError(f"the records of ACKs make no sense: kinds {sorted(kinds)}")
    flows = tuple(_flows(between))
    if not set(np.unique(between["flow"]).tolist()) <= {each.number for each in flows}:
        raise TrialError("the records of ACKs make no sense: some are of no flow")
    if (np.diff(between["time_ns"].astype("i8")) < 0).any():
        raise TrialError("the records of ACKs make no sense: their times go back")
    left_out, left_out_ns, flows_left_out, names_left_out = last[3:7]
    return Acks(flows, first[2], left_out, left_out_ns, flows_left_out, names_left_out, between)


def _counted(record: Any) -> tuple[int, ...]:
    """The eight numbers of the first record and of the last."""
    return struct.unpack("=8Q", record.tobytes()[16:80])


def _flows(records: Any) -> Iterator[AckFlow]:
    import numpy as np

    names: dict[int, list[str]] = {}
    for place in np.flatnonzero(records["kind"] == NAME).tolist():
        name = records[place].tobytes()[16:48].split(b"\0")[0].decode("ascii", "replace")
        if not OWN_NAME.fullmatch(name):
            raise TrialError(
                f"tcp_testbed(): the name {name!r} cannot be a number's; allowed: up to 31 letters, digits and "
                "underscores, a letter first"
            )
        names.setdefault(int(records[place]["flow"]), []).append(name)
    for place in np.flatnonzero(records["kind"] == FLOW).tolist():
        number = int(records[place]["flow"])
        source, destination, family, source_port, destination_port, _, control = FLOW_LAYOUT.unpack_from(
            records[place].tobytes(), 16
        )
        if family not in (socket.AF_INET, socket.AF_INET6):
            raise TrialError(f"the records of ACKs make no sense: a flow of the family {family}")
        size = 4 if family == socket.AF_INET else 16
        ends = (socket.inet_ntop(family, each[:size]) for each in (source, destination))
        congestion = control.split(b"\0")[0].decode("ascii", "replace")
        first, second = ends
        yield AckFlow(number, first, source_port, second, destination_port, congestion, tuple(names.get(number, ())))
