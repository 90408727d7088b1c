"""Machines in virtual time, as QEMU itself counts what they do (`counting.py`): the clock, and what a result says of a
processor, must agree with it.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from counting import client, counted, counts, pair, share, steps
from test_vm import VIRTUAL, kernel  # noqa: F401 (a fixture)

from testbed.kernel.vm.kernel_cache import VmKernel

pytestmark = [*VIRTUAL, pytest.mark.nightly]

AHEAD_NS = 10_000 + 65_536
"""How far a machine may be ahead of lab time: see `vmclock.c`, and QEMU's longest run of instructions."""


def test_qemu_s_own_count_is_what_the_clock_and_the_result_say(kernel: VmKernel, tmp_path: Path) -> None:  # noqa: F811
    """A transfer that keeps the sender's processor of 0.5 GIPS busy; the receiver's has 1 GIPS.

    A machine's kernel calls its way into the idle state idle, so that it reports less than it does: up to 8 points,
    and never more than it does but for its ticks of 10 ms.
    """
    iperf3 = {"tool": "iperf3", "duration": "1 s", "window": "8 KiB"}
    ran = counted(pair(iperf3, {"cpu": "0.5 GIPS"}), tmp_path)
    busy = {}
    for node, gips in {"a": 0.5, "b": 1.0}.items():
        found = counts(ran, node)
        for one, other in pairwise(found):
            most = gips * (other.lab_ns - one.lab_ns + AHEAD_NS)
            assert 0 <= other.instructions - one.instructions <= most, (node, other)
        looks = [each for each in steps(ran) if f"cpu-{node}-" in str(each["step"].get("read"))]
        assert len(looks) == 2
        did = share(found, looks[0]["end_ns"], looks[1]["end_ns"]) / gips
        said = ran.result.vms[node].cpu_busy
        assert said is not None
        assert -0.02 < did - said < 0.08, (node, did, said)
        end_ns = client(ran, "iperf3")[1]
        busy[node] = share(found, end_ns - 0.9e9, end_ns - 0.1e9) / gips
    assert 0.9 < max(busy.values()) <= 1  # the machine that has more to do is the bottleneck
    assert busy["a"] > busy["b"] > 0.1
