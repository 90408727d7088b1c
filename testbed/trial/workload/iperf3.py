"""The workload `iperf3`: the well-known load generator, and a cross-check of `flow`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...kernel.guest import TrialError
from ...model.workload import Iperf3Workload
from ...model.workload.control import name_of
from ...plan.network import Plan
from ...plan.step import Run, Sleep, Step, Stop
from ..evidence.case import Case
from ..evidence.outcome import Outcome
from ..result import Finding, FlowResult
from . import iperf3_sums, udp
from .tool import Tool

CLIENT, SERVER = "iperf3-client.json", "iperf3-server.json"
SERVER_READY_S = 0.5
SERVER_PROCESS = "iperf3-server"
SUMS_DIFFER = 1e-3
"""By which share numbers for the same thing may differ in what iperf3 says."""


def steps(workload: Iperf3Workload, plan: Plan, seed: int) -> list[Step]:
    """A server for one test, and the client."""
    address = str(plan.destination)
    port, client_ports = workload.data_ports.destination[0], workload.data_ports.source
    server = ["iperf3", "--server", "--one-off", "--json", "--port", str(port)]
    client = [
        "iperf3",
        "--client",
        address,
        "--json",
        "--port",
        str(port),
        "--cport",
        str(client_ports[0]),
    ]
    client += ["--time", str(workload.duration_ns // 10**9), "--parallel", str(workload.flows)]
    client += ["--congestion", name_of(workload.congestion)] if workload.congestion else []
    client += ["--window", str(workload.window_bytes)] if workload.window_bytes else []
    client += ["--udp"] if workload.protocol == "udp" else []
    client += ["--bitrate", str(workload.rate_bps)] if workload.rate_bps else []
    client += ["--length", str(workload.length_bytes)] if workload.length_bytes else []
    return [
        Run(tuple(server), "iperf3 server", plan.where(workload.destination), out=SERVER, background=SERVER_PROCESS),
        Sleep(SERVER_READY_S),
        Run(  # its JSON has the error, if there is one
            tuple(client), "iperf3", plan.where(workload.source), out=CLIENT, may_fail=True
        ),
        Stop(SERVER_PROCESS),
    ]


def read(workload: Iperf3Workload, folder: Path) -> Outcome:
    """Takes the receiver's bytes, as the server counted them."""
    text = (folder / CLIENT).read_text()
    try:
        said = json.loads(text)
    except ValueError:
        raise TrialError(f"iperf3 wrote no JSON: {text.strip()[:500] or 'nothing'}") from None
    if "error" in said:
        raise TrialError(f"iperf3: {said['error']}")
    _check(workload, said["start"]["test_start"], said["start"].get("sock_bufsize"))
    for each in (said, heard) if (heard := _json(folder / SERVER)) else (said,):
        for what in iperf3_sums.contradictions(each, SUMS_DIFFER):
            raise TrialError(f"iperf3 contradicts itself: {what}")
    end = said["end"]
    buffers = {
        "sndbuf_bytes": said["start"].get("sndbuf_actual"),
        "rcvbuf_bytes": _heard(folder).get("rcvbuf_actual"),
    }
    if workload.protocol == "udp":
        heard = json.loads((folder / SERVER).read_text())
        return _udp(end, heard, said["start"]["test_start"]["blksize"], buffers)
    flows = tuple(
        replace(
            _flow(stream, end.get("sender_tcp_congestion")),
            mss_bytes=said["start"].get("tcp_mss_default"),
            **buffers,
        )
        for stream in end["streams"]
    )
    took_ns = round(end["sum_sent"]["seconds"] * 1e9)
    return Outcome(None, None, None, end["sum_received"]["bits_per_second"], None, flows, took_ns=took_ns)


def _check(workload: Iperf3Workload, test: dict[str, Any], window_bytes: int | None) -> None:
    """Raises TrialError if iperf3 says that it ran another test than the one that was asked."""
    asked = {
        "protocol": workload.protocol.upper(),
        "num_streams": workload.flows,
        "duration": workload.duration_ns // 10**9,
        "blksize": workload.length_bytes,
        "target_bitrate": workload.rate_bps,
        "reverse": 0,
        "omit": 0,
    }
    told = {**test, "window": window_bytes}
    for key, value in {**asked, "window": workload.window_bytes}.items():
        if value is not None and key in told and told[key] != value:
            raise TrialError(f"iperf3 ran another test: {key} was {told[key]}, asked was {value}")


def _heard(folder: Path) -> dict[str, Any]:
    """What the server reports on the start; empty if it was stopped before."""
    try:
        found: dict[str, Any] = json.loads((folder / SERVER).read_text())["start"]
    except (OSError, ValueError, KeyError):
        return {}
    return found


def _json(path: Path) -> dict[str, Any]:
    """What a server wrote that ran to its end; empty if it did not."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("end") else {}


def _flow(stream: dict[str, Any], congestion: str | None) -> FlowResult:
    sender, receiver = stream["sender"], stream["receiver"]
    return FlowResult(
        goodput_bps=receiver["bits_per_second"],
        retransmits=sender.get("retransmits"),
        rtt_min_s=sender["min_rtt"] / 1e6 if "min_rtt" in sender else None,
        congestion=congestion,
        received_bytes=receiver["bytes"],
        snd_wnd_bytes=sender.get("max_snd_wnd"),
    )


def _udp(said: dict[str, Any], heard: dict[str, Any], length_bytes: int, buffers: dict[str, Any]) -> Outcome:
    """The datagrams that arrived, by the server's intervals: what the client only sent is not goodput."""
    received = [interval["sum"] for interval in heard["intervals"]]
    octets, seconds = sum(each["bytes"] for each in received), sum(each["seconds"] for each in received)
    sent = said["sum"]["packets"]
    arrived = octets // length_bytes
    if arrived > sent:
        raise TrialError(f"iperf3 sent {sent} datagrams and counted {arrived}: some came twice; allowed: tool: udp")
    total = heard["end"]["sum"]
    measured = {
        "sent_datagrams": sent,
        "arrived_datagrams": arrived,
        "lost_datagrams": sent - arrived,
        "jitter_s": total["jitter_ms"] / 1000,
        "out_of_order_datagrams": sum(each["udp"].get("out_of_order", 0) for each in heard["end"]["streams"]),
        "offered_bps": said["sum"]["bits_per_second"],
    }
    by_stream: dict[int, int] = {}
    for interval in heard["intervals"]:
        for each in interval["streams"]:
            by_stream[each["socket"]] = by_stream.get(each["socket"], 0) + each["bytes"]
    flows = tuple(
        FlowResult(count * 8 / seconds if seconds else 0.0, None, None, None, received_bytes=count, **buffers)
        for count in by_stream.values()
    )
    goodput_bps = octets * 8 / seconds if seconds else 0.0
    took_ns = round(said["sum"]["seconds"] * 1e9)
    return Outcome(None, None, None, goodput_bps, None, flows, {"udp": measured}, took_ns)


def once(case: Case, _: udp.UdpResult) -> Iterator[Finding]:
    """What came twice, iperf3 counts twice: then it knows neither what was lost, nor the goodput."""
    twice = sum(each.met("duplicate") for each in case.evidence.data_stages)
    if twice:
        what = f"links sent {twice} packets twice, and iperf3 counts both"
        yield Finding("data", "invalid", what, "it tells fewer losses than there were: use tool: udp")


TOOL = Tool(
    Iperf3Workload,
    steps=steps,
    read=read,
    begin=None,
    tells=frozenset({"took_ns", "goodput_bps", "received_bytes"}),
    result=udp.UdpResult,
    always=False,  # of TCP, it measures nothing else
    faults=udp.datagram_faults,
    checks=(udp.datagrams, once),
    host_checks=(udp.sender, udp.receiver),
)
