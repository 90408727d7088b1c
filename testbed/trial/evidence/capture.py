"""The workload's data in the captures of a trial. Reads files of a trial's folder."""

from __future__ import annotations

import re
from pathlib import Path

from ...kernel.guest import TrialError
from ...model.scenario import Trial
from ...model.workload import Workload
from ...plan.network import Plan
from ..observe.pcap import TCP, UDP, Stream, seen
from ..orders.capture import captured_devices
from ..orders.file_name import capture_file
from ..stored_result import CaptureResult

READ_MAX_BYTES = 64 << 20
"""Larger captures are kept, but not read: half a million packets take seconds."""

PROTOCOLS = {"tcp": TCP, "udp": UDP}


def captures(trial: Trial, planned: Plan, folder: Path) -> dict[str, CaptureResult | None]:
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
        return seen(path.read_bytes(), stream)
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


def missed(paths: list[Path]) -> int | None:
    """The packets that captures missed; None if one does not report it."""
    found = [re.search(r"(\d+) packets dropped by kernel", path.read_text()) for path in paths]
    return None if None in found else sum(int(match[1]) for match in found if match)
