"""What the captures of a trial saw of its workload. Reads files of a trial's folder."""

from __future__ import annotations

from pathlib import Path

from ...kernel.guest import TrialError
from ...model.scenario import Trial
from ...model.workload import FLOWS_MAX, FlowWorkload, Iperf3Workload, UdpWorkload, Workload
from ...plan.link.ruleset import CONTROL_PORT, DATA_PORTS
from ...plan.network import Plan
from ..observe.pcap import TCP, UDP, Seen, Stream, seen
from ..orders.capture import captured_devices
from ..orders.file_name import capture_file
from ..workload import flow, udp

READ_MAX_BYTES = 64 << 20
"""Larger captures are kept, and not read: half a million packets take seconds."""

ANY_PORT = (0, 65_535)


def captures(trial: Trial, planned: Plan, folder: Path) -> dict[str, Seen | None]:
    """File to what it shows of the workload's data; None for one that is too large to be read, or of a tool whose
    packets cannot be told by their ports. Raises TrialError for a file that is no capture.
    """
    stream = data_stream(trial.workload, planned)
    return {name: _read(folder / name, stream) for name in map(_file, captured_devices(trial, planned))}


def _file(place: tuple[str, str]) -> str:
    return capture_file(*place)


def _read(path: Path, stream: Stream | None) -> Seen | None:
    if stream is None or path.stat().st_size > READ_MAX_BYTES:
        return None
    try:
        return seen(path.read_bytes(), stream)
    except ValueError as error:
        raise TrialError(f"{path.name}: {error}") from None


def data_stream(workload: Workload, planned: Plan) -> Stream | None:
    """The packets that carry a workload's data."""
    assert planned.leg is not None, "BUG: a plan without a workload"
    ends = (planned.leg.source_ip, planned.leg.destination_ip)
    if isinstance(workload, FlowWorkload):
        return Stream(*ends, TCP, ANY_PORT, (flow.FIRST_PORT, flow.FIRST_PORT + FLOWS_MAX - 1))
    if isinstance(workload, UdpWorkload):
        return Stream(*ends, UDP, ANY_PORT, (udp.FIRST_PORT, udp.FIRST_PORT + FLOWS_MAX - 1))
    if isinstance(workload, Iperf3Workload):
        return Stream(*ends, TCP if workload.protocol == "tcp" else UDP, DATA_PORTS, (CONTROL_PORT, CONTROL_PORT))
    return None
