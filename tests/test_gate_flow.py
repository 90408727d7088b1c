"""Caps of flows: what the gate says of buckets and sockets that do not add up, without a kernel."""

from __future__ import annotations

import struct
from dataclasses import replace
from ipaddress import IPv6Address, ip_address
from types import SimpleNamespace
from typing import Any

import pytest

from testbed.model.link.bucket import PerFlow
from testbed.model.workload import UdpWorkload, Workload
from testbed.trial.gate.link import flow_check
from testbed.trial.gate.link.bucket_check import Bucket
from testbed.trial.observe import bucket as observed
from testbed.trial.observe.bucket import Flow, PacedSample

S = 10**9
FLOW = Flow("10.0.0.1", 5001, "10.0.0.2", 5002, 6, S)
LOOK = PacedSample("e", 4, "6:", "tbflow", 0, 0, S, 0, 0, 3000, 0, 0, S, 0)
CAP, HELD = PerFlow(8 * 10**6), Bucket(10**6, 3000)
"""1 MB/s, and a bucket of 3000 bytes."""


def held_back(
    *rows: dict[str, int], asked: PerFlow = CAP, flow_bytes: int = 30_000, workload: Workload | None = None
) -> list[str]:
    none = SimpleNamespace(policer=None, per_flow=asked, jitter=None, more=(), delay_ns=0)
    counts = SimpleNamespace(dropped_packets=0, delay_drops=0)
    stage = SimpleNamespace(flow_bytes=flow_bytes, asked=none, history=(SimpleNamespace(asked=none),))
    each: Any = SimpleNamespace(mtu_bytes=1500, counts=counts, stage=stage)
    outcome = SimpleNamespace(begin_ns=S, end_ns=9 * S, measured={})
    case: Any = SimpleNamespace(
        virtual=True,
        trial=SimpleNamespace(workload=workload, background=()),
        plan=SimpleNamespace(rtts_ns=(0, 0), channels=()),
        evidence=SimpleNamespace(outcome=outcome, data_stages=[each], tc_ends=()),
    )
    looks = [replace(LOOK, **row) for row in rows]
    bucket = replace(HELD, size=asked.burst_bytes or HELD.size)
    least = () if asked.polices else flow_check._least(bucket, looks, 1514, 1.0)
    return [*flow_check._held_back(bucket, asked, looks, each, case), *least]


BUSY = {"time_ns": 2 * S, "busy_ns": S, "credit_bytes": 0}


def test_a_flow_that_gets_its_cap_while_it_waits_is_fine() -> None:
    assert not held_back({}, {**BUSY, "taken_bytes": 1_003_000})
    assert not held_back({}, {**BUSY, "taken_bytes": 998_000})


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"taken_bytes": 1_100_000}, "more than the bucket can have held"),
        ({"taken_bytes": 900_000}, "could have"),
        ({"taken_bytes": 1_003_000, "backlog_bytes": 31_000}, "waited in a queue of 30000"),
        ({"taken_bytes": 1_003_000, "busy_ns": S + 1}, "ns busy in"),
        ({"taken_bytes": 5000, "busy_ns": 0, "policed_packets": 3, "policed_bytes": 4542}, "at most 5000 bytes waited"),
    ],
)
def test_a_flow_that_gets_another_cap_is_told(row: dict[str, int], said: str) -> None:
    found = held_back({}, {**BUSY, **row})
    assert any(said in what for what in found), found


def test_a_policed_flow_must_not_lose_what_its_bucket_holds() -> None:
    asked = PerFlow(8 * 10**6, None, 3000, True)
    row = {"time_ns": S + 10**6, "policed_packets": 1, "policed_bytes": 1514, "credit_bytes": 3000}
    found = held_back({}, {**row, "taken_bytes": 1000}, asked=asked, flow_bytes=0)
    assert any("there was no need to" in what for what in found), found


@pytest.mark.parametrize(
    ("rate_bps", "passed", "found"),
    [(16 * 10**6, 999_997, 1), (16 * 10**6, 999_998, 0), (16 * 10**6, 1_000_000, 0), (10**6, 10, 0)],
)
def test_a_policed_flow_that_never_pauses_gets_what_its_cap_brings(rate_bps: int, passed: int, found: int) -> None:
    """Samples that are far apart do not tell how full the bucket was in between; that more came does."""
    asked = PerFlow(8 * 10**6, None, 20_000, True)
    workload = UdpWorkload("a", "b", rate_bps=rate_bps, duration_ns=3 * S)
    row = {"time_ns": 2 * S, "taken_bytes": passed, "policed_packets": 9, "policed_bytes": 13_626, "credit_bytes": 0}
    case_looks = [{"credit_bytes": 0, "taken_bytes": 3000}, {**row, "taken_bytes": passed + 3000}]
    told = held_back(*case_looks, asked=asked, flow_bytes=0, workload=workload)
    assert sum("while more came" in what for what in told) == found


def counted(total: dict[str, int], *flows: dict[str, int]) -> list[str]:
    looks = (LOOK, replace(LOOK, time_ns=2 * S, **total))
    told = tuple((replace(FLOW, source_port=n), (replace(LOOK, **row),)) for n, row in enumerate(flows))
    each: Any = SimpleNamespace(per_flow=looks, flows=told, mtu_bytes=1500)
    return list(flow_check._counted(each, HELD, 0))


def test_flows_must_add_up() -> None:
    assert not counted({"begin_ns": 2, "taken_bytes": 9}, {"taken_bytes": 4}, {"taken_bytes": 5})
    assert not counted({"begin_ns": 1, "taken_bytes": 9}, {"taken_bytes": 9 + 1514})
    assert counted({"begin_ns": 1, "taken_bytes": 9}, {"taken_bytes": 9 + 1515})
    assert "3 flows came, and 2 were told of" in counted({"begin_ns": 3}, {}, {})
    assert "taken_bytes of all flows are 4, and together 9" in counted(
        {"begin_ns": 1, "taken_bytes": 9}, {"taken_bytes": 4}
    )
    assert any("more flows than it can hold" in what for what in counted({"begin_ns": 1, "opportunities": 7}, {}))


def sockets(received: int, time_ns: int = 3 * S, **flow: Any) -> list[str]:
    """A receiver at port 5002 got so many bytes by a time; the flow came at 1 s."""
    info = {"bytes_received": received}
    sample: Any = SimpleNamespace(
        netns="tb-b", time_ns=time_ns, source="10.0.0.2", source_port=5002, destination="::ffff:10.0.0.1",
        destination_port=5001, info=info,
    )  # fmt: skip
    workload = SimpleNamespace(destination="b")
    case: Any = SimpleNamespace(
        virtual=True,
        trial=SimpleNamespace(workload=workload, topology=SimpleNamespace(nodes=())),
        plan=SimpleNamespace(channels=()),
        evidence=SimpleNamespace(tcp=[sample]),
    )
    each: Any = SimpleNamespace(flows=((replace(FLOW, **flow), (replace(LOOK, taken_bytes=10**7),)),))
    return list(flow_check._sockets(case, each, HELD))


def test_what_receivers_got_is_no_more_than_the_bucket_of_one_flow_held() -> None:
    assert not sockets(2_003_000)
    assert any("more than the 2003000 that a flow gets" in what for what in sockets(2_003_001))
    assert any("its bucket gave 10000000" in what for what in sockets(10_000_001, time_ns=100 * S))


@pytest.mark.parametrize("other", [{"source_port": 5003}, {"destination": "10.0.0.3"}, {"protocol": 17}])
def test_a_connection_without_a_bucket_is_told(other: dict[str, Any]) -> None:
    assert any("had no bucket of its own" in what for what in sockets(1000, **other))


@pytest.mark.parametrize("address", ["10.1.2.3", "fd54:42::7"])
def test_a_flow_is_read_with_its_addresses(address: str) -> None:
    version = ip_address(address).version
    packed = (IPv6Address(f"::ffff:{address}") if version == 4 else IPv6Address(address)).packed
    raw = struct.pack("=16s16s2s2sBBH", packed, packed, b"\x13\x89", b"\x00\x50", 6, version, 0)
    assert observed._flow(raw, 7) == Flow(address, 5001, address, 80, 6, 7)
