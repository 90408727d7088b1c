"""When the packets of a machine in virtual time leave it, and what its clock says: a program in the machine sends
datagrams that say when they were sent (`burst.c`), and a capture outside sees them by lab time.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from statistics import median

import pytest
from test_vm import VIRTUAL, kernel, run_real  # noqa: F401

from testbed.kernel.vm.kernel_cache import VmKernel
from testbed.plan.node import vm as qemu
from testbed.spec.load import load_scenario

pytestmark = VIRTUAL

QUEUE = 256
"""So many packets fit into the queue of a card, and QEMU sends so many at a time."""
LISTEN = "import socket, time; s = socket.socket(2, 2); s.bind(('', 99)); print('ready'); time.sleep(1000)"
EARLY_US = 1.0 + 0.256
"""A capture counts whole microseconds, and a look at the clock moves lab time."""
AHEAD_NS = 10_000
"""How far a machine may be ahead, see `vmclock.c`."""
DRIFT_US = 5
"""How wrong a machine's clock gets over all bursts: its kernel measures how fast it goes when it starts."""
BEHIND_S = 1e-3
"""By how much a machine's clock may be behind lab time: what it does from its start until it sets it."""


@pytest.mark.parametrize(
    ("model", "cpu", "bursts", "each"),
    [
        ("virtio", "1 GIPS", 60, 8),
        pytest.param("virtio", "0.25 GIPS", 60, 8, marks=pytest.mark.nightly),
        pytest.param("virtio", "1 GIPS", 12, 2 * QUEUE, marks=pytest.mark.nightly),
        pytest.param("e1000", "1 GIPS", 60, 8, marks=pytest.mark.nightly),
    ],
)
def test_no_packet_leaves_a_machine_before_it_was_sent_and_its_clock_is_lab_time(
    kernel: VmKernel,  # noqa: F811
    tmp_path: Path,
    model: str,
    cpu: str,
    bursts: int,
    each: int,
) -> None:
    """From the look at the clock to the capture every packet takes as long, whether it is a burst's first one, of which
    the machine tells, or a later one, which the machine adds to a queue that QEMU knows of. An e1000 card has no such
    queue: the processor's thread sends what it is told of.
    """
    spec = tmp_path / "spec"
    spec.mkdir()
    source = Path(__file__).with_name("burst.c")
    subprocess.run(("gcc", "-O2", "-static", source, "-o", spec / "burst"), check=True)
    scenario = {
        "name": "burst",
        "kernel": "lab",
        "topology": {
            "name": "net",
            "nodes": {"a": {"type": "vm", "memory": "256 MiB", "model": model, "cpu": cpu}, "b": {"type": "host"}},
            "links": {"l": {"ends": ["a", "b"]}},
        },
        "workload": {
            "tool": "command",
            "from": "a",
            "to": "b",
            "server": {"at": "b", "run": ["python3", "-uc", LISTEN], "ready": {"output": "ready"}},
            "client": {"at": "a", "run": ["./burst", "{server.address}", str(bursts), str(each)]},
            "files": ["burst"],
        },
        "capture": [{"at": "b"}],
    }
    (spec / "burst.yaml").write_text(json.dumps(scenario))
    ran = run_real(load_scenario(spec / "burst.yaml").trials()[0], tmp_path / "trial")
    words = ("tcpdump", "-tt", "--nano", "-n", "-A", "-r", str(ran.folder / "b-eth0.pcap"), "udp dst port 99")
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^(\d+)\.(\d{9}) IP .*\n(?:.*\n)*?.*#(\d+) (\d+) (\d+) (\d+);", said, re.MULTILINE)
    rows = [(int(s) * 10**9 + int(ns), *map(int, rest)) for s, ns, *rest in found]
    assert [row[1:3] for row in rows] == [(burst, number) for burst in range(bursts) for number in range(each)]

    later = [rows[at : at + each] for at in range(each, len(rows), each)]  # the first one waits for an address
    late_us = [[(came - sent) / 1e3 for came, _, _, sent, _ in burst] for burst in later]
    for number in range(1, each):
        later_us = median(late[number] - late[0] for late in late_us)
        assert abs(later_us) <= EARLY_US, number
    least_us = min(late[0] for late in late_us)
    assert min(map(min, late_us)) >= least_us - EARLY_US - DRIFT_US
    assert 0 < median(burst[1][3] - burst[0][3] for burst in later) < 4 * AHEAD_NS

    behind_s = [(came - clock) / 1e9 for came, _, _, _, clock in rows]
    assert min(came for came, *_ in rows) > qemu.CLOCK_START_S * 10**9
    assert 0 <= min(behind_s) <= max(behind_s) < BEHIND_S
