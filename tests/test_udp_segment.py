"""Superpackets of datagrams, as QUIC stacks send them (UDP_SEGMENT): each datagram is delayed, counted and dropped by
itself, wherever the link needs single packets.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from trials import RunTrial, make_trial

from testbed.plan.linux import CUTS
from testbed.trial.orders.sequence import orders

UDP_SEGMENT, SIZE_BYTES, TOGETHER, TOTAL = 103, 1200, 40, 2000
SEND = f"""
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(17, {UDP_SEGMENT}, {SIZE_BYTES})
s.connect((sys.argv[1], 80))
together = int(sys.argv[2])
for first in range(0, {TOTAL}, together):
    s.send(b"".join(n.to_bytes({SIZE_BYTES}, "big") for n in range(first, first + together)))
    time.sleep(0.01 * together / {TOGETHER})
time.sleep(1)
"""
TAKE = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
s.bind(("", 80))
print("ready", flush=True)
while 1:
    print(int.from_bytes(s.recv(65536), "big"), flush=True)
"""


def senders(source: str, together: int = TOGETHER) -> dict[str, Any]:
    """From `source` to the other host, so many in a superpacket."""
    other = "b" if source == "a" else "a"
    return {
        "tool": "command",
        "from": source,
        "to": other,
        "server": {"at": other, "run": ["python3", "-uc", TAKE], "ready": {"output": "ready"}},
        "client": {"at": source, "run": ["python3", "-c", SEND, "{server.address}", str(together)]},
    }


@pytest.mark.lab
@pytest.mark.parametrize("source", ["a", "b"])
@pytest.mark.parametrize(
    ("path", "lost"),
    [
        ({}, 0),
        ({"jitter": "200 us"}, 0),
        ({"queue": "fq_codel"}, 0),
        ({"duplicate": "1 in 100"}, -TOTAL // 100),
        ({"nic": "plain"}, 0),
        ({"nic": "plain", "jitter": "200 us"}, 0),
        ({"loss": "1 in 37"}, TOTAL // 37),
        ({"policer": {"rate": "10 Mbit/s", "burst": "64 KiB"}}, None),
    ],
    ids=str,
)
def test_each_datagram_is_a_packet(run_trial: RunTrial, source: str, path: dict[str, Any], lost: int | None) -> None:
    path = {"buffer": "200 packets", **path}
    nic = path.pop("nic", "offload")
    ran = run_trial(path=path, workload=senders(source), nic=nic)
    assert ran.result.verdict == "valid", ran.result.warnings
    stages = {each.way: each for each in ran.result.stages}
    sent = stages["forward" if source == "a" else "backward"]
    arrived = [int(each) for each in (ran.folder / "command-server-1.out").read_text().split()[1:]]
    assert sent.data_packets == TOTAL
    assert arrived == sorted(arrived)
    assert len(arrived) == TOTAL - lost if lost is not None else 0 < len(arrived) < TOTAL


@pytest.mark.lab
def test_a_random_loss_takes_single_datagrams(run_trial: RunTrial) -> None:
    """At 2 %, seven in a row are lost less often than once in 10^8 trials; superpackets would be lost in forties."""
    ran = run_trial(path={"loss": {"random": "2 %"}, "buffer": "200 packets"}, workload=senders("b"))
    assert ran.result.verdict == "valid", ran.result.warnings
    arrived = [int(each) for each in (ran.folder / "command-server-1.out").read_text().split()[1:]]
    in_a_row = [later - sooner - 1 for sooner, later in pairwise(arrived)]
    assert 0 < max(in_a_row) < 7


def test_where_superpackets_must_be_cut_those_of_datagrams_are_cut_too() -> None:
    for made, devices in (
        (make_trial(path={"jitter": "1 ms"}), {"end0", "wire0", "wire1", "end1"}),
        (make_trial(nic="plain"), {"eth0"}),
    ):
        commands = [each.words for each in orders(made).plan.commands if each.tool == "ethtool"]
        assert {words[1] for words in commands if words[2 : 2 + len(CUTS)] == CUTS} == devices
