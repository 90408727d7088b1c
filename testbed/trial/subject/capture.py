"""The captures of a trial: where tcpdump listens, the workload's data in what it wrote, and what it missed. Reads files
of a trial's folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...codec.frozen import dataclass
from ...kernel.guest import TrialError
from ...model.run_setting import Capture
from ...model.scenario import Trial
from ...model.workload import Workload
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Run, Sleep, Step, Stop
from ..evidence.case import Case, Subject, When
from ..observe.pcap import TCP, UDP, Stream, data_of
from ..result import CaptureResult, Finding

READ_MAX_BYTES = 64 << 20
"""Larger captures are kept, but not read: half a million packets take seconds."""

PROTOCOLS = {"tcp": TCP, "udp": UDP}

EMULATORS_DEVICES = ("end0", "end1", "wire0", "wire1")
INITIAL_WINDOW = 10
"""The packets that TCP sends at once at its start (RFC 6928): more need some time."""

CAPTURE_BUFFER_BYTES = 16 << 20
"""The buffer, in the guest's memory, for packets of one captured device that tcpdump has not read yet."""


CAPTURE_RETIRES_S = 2
"""Packets reach tcpdump up to a second after the device saw them; at its end, it writes only what has reached it."""


@dataclass(frozen=True)
class Captures:
    """`files` maps each file to the workload's data in it (None: it was not read); together they missed `missed`
    packets (None: one did not report it).
    """

    files: Mapping[str, CaptureResult | None]
    missed: int | None


def capture_file(place: str, device: str) -> str:
    """The place is as in `capture_points`."""
    return f"{place}-{device}.pcap"


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    if when == "opening":
        yield from _starts(trial, plan)
    if when == "ended" and trial.captures:
        yield Sleep(CAPTURE_RETIRES_S)
    if when == "closing":
        yield from (Stop(capture_name(n)) for n, _ in enumerate(capture_points(trial, plan)))


def read(trial: Trial, plan: Plan, folder: Path) -> Captures:
    missed = _missed([folder / name for name in capture_errors(trial, plan)])
    return Captures(_captures(trial, plan, folder), missed)


def capture_errors(trial: Trial, planned: Plan) -> tuple[str, ...]:
    """The files in which the captures report what they missed."""
    return tuple(f"{capture_name(n)}.err" for n, _ in enumerate(capture_points(trial, planned)))


def captured_devices(trial: Trial, planned: Plan) -> tuple[tuple[str, str], ...]:
    """The place and the device of each capture: no two have both in common."""
    return tuple((place, device) for _, place, _, device in capture_points(trial, planned))


def capture_points(trial: Trial, planned: Plan) -> Iterator[tuple[Capture, str, str, str]]:
    """(capture, place, namespace, device): every port of a node; the devices of a link's emulator, or the two ends of
    the plain link, whose places are LINK.NODE: both devices may be called eth0.
    """
    for capture in trial.captures:
        emulator = planned.emulator(capture.at)
        if emulator is not None:
            for device in ("end0", "wire0", "wire1", "end1"):
                yield capture, capture.at, emulator.netns, device
            continue
        for port in planned.book.ports:
            if capture.at in (port.node, port.link):
                place = port.node if capture.at == port.node else f"{port.link}.{port.node}"
                yield capture, place, node_netns(port.node), port.device


def capture_name(number: int) -> str:
    return f"capture-{number}"


def _starts(trial: Trial, planned: Plan) -> Iterator[Step]:
    for number, (capture, place, netns, device) in enumerate(capture_points(trial, planned)):
        words = (
            "tcpdump",
            "-i",
            device,
            "-s",
            str(capture.snaplen_bytes),
            "-B",
            str(CAPTURE_BUFFER_BYTES >> 10),
            "-w",
            "-",  # tcpdump would give its own file to root, who is nobody in a guest of an ordinary user
            "--relinquish-privileges=root",
        )
        file, name = capture_file(place, device), capture_name(number)
        yield Run(words, "capture", planned.where_in(netns), out=file, background=name)
    if trial.captures:
        yield Sleep(1)


def _captures(trial: Trial, planned: Plan, folder: Path) -> dict[str, CaptureResult | None]:
    """Maps files to the workload's data in them; None if a file is too large to be read, or if the tool's packets
    cannot be recognized by their ports. Raises TrialError for a file that is no capture.
    """
    stream = data_stream(trial.workload, planned)
    return {name: _read(folder / name, stream) for name in map(_file, captured_devices(trial, planned))}


def _file(place: tuple[str, str]) -> str:
    return capture_file(*place)


def _read(path: Path, stream: Stream | None) -> CaptureResult | None:
    if stream is None or path.stat().st_size > READ_MAX_BYTES:
        return None
    try:
        return data_of(path.read_bytes(), stream)
    except ValueError as error:
        raise TrialError(f"{path.name}: {error}") from None


def data_stream(workload: Workload, planned: Plan) -> Stream | None:
    """The packets that carry a workload's data; None if their ports are not known."""
    assert planned.data_path is not None, "BUG: a plan without a workload"
    ports = workload.data_ports
    if ports is None:
        return None
    ends = (planned.data_path.source_ip, planned.data_path.destination_ip)
    return Stream(*ends, PROTOCOLS[ports.protocol], ports.source, ports.destination)


def _missed(paths: list[Path]) -> int | None:
    """The packets that captures missed; None if one does not report it."""
    found = [re.search(r"(\d+) packets dropped by kernel", path.read_text()) for path in paths]
    return None if None in found else sum(int(match[1]) for match in found if match)


def missing(case: Case, seen: Captures) -> Iterator[str]:
    for place in captured_devices(case.trial, case.plan):
        if capture_file(*place) not in seen.files:
            yield f"the capture {capture_file(*place)}"


def faults(case: Case, captures: Captures) -> Iterator[str]:
    """A capture on the way has all that arrived, unless it missed packets."""
    received = case.evidence.outcome.received_bytes
    places = {name for hop in case.plan.path for name in (hop.link.name, *hop.link.ends)}
    for name, seen in captures.files.items():
        if seen is None:
            continue
        at, _, device = name.removesuffix(".pcap").rpartition("-")
        yield from (f"the capture {name}: {what}" for what in _capture_faults(seen, is_far=case.plan.rtt_ns > 0))
        on_way = at in places and device in EMULATORS_DEVICES and captures.missed == 0
        if on_way and seen.payload_bytes < received:
            yield f"the capture {name} has {seen.payload_bytes} bytes of payload, {received} arrived"


def _capture_faults(seen: CaptureResult, *, is_far: bool) -> Iterator[str]:
    largest = seen.largest_bytes or 0
    if not largest <= seen.payload_bytes <= largest * seen.packets or (seen.packets > 0) != (seen.span_s is not None):
        yield f"{seen.packets} packets with {seen.payload_bytes} bytes, the largest with {largest}"
    if is_far and seen.packets > INITIAL_WINDOW and not seen.span_s:
        yield f"{seen.packets} packets in {seen.span_s} s"
    again = seen.again_bytes, seen.again_packets
    if seen.again_packets > seen.packets or seen.again_bytes > seen.payload_bytes or bool(again[0]) != bool(again[1]):
        yield f"{again[1]} packets with {again[0]} bytes came again"


def reported(case: Case, seen: Captures) -> Iterator[Finding]:
    if seen.missed is None:
        yield Finding("capture", "suspect", "missing: how many packets the captures missed", "look at capture-*.err")


def missed(case: Case, seen: Captures) -> Iterator[Finding]:
    if seen.missed:
        yield Finding(
            "capture",
            "suspect",
            f"captures missed {seen.missed} packets",
            "use a smaller snaplen",
        )


CAPTURES = Subject(
    name="captures",
    kind=Captures,
    read=read,
    steps=steps,
    missing=missing,
    faults=faults,
    reported=reported,
    checks=(missed,),
    result=lambda case, seen: seen.files,
    field="captures",
)
