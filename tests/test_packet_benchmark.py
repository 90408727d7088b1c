"""`python -m benchmarks packet`: which function belongs to which row, and which of perf's samples are the guest's."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import packet

SCRIPT = """
          python           4f0ba8 _PyEval_EvalFrameDefault (/usr/bin/python3.11)
           linux         60000010 wrong name (/a folder/kernels/linux)
           linux         60000020 tcp_ack (/a folder/kernels/linux)
           linux         60000031 nobody_knows (/a folder/kernels/linux)
           linux     7f0000001234 [unknown] (/usr/lib/libc.so.6)
           linux ffffffff81000000 do_syscall_64 ([kernel.kallsyms])
   uml-userspace         7fff1234 [unknown] (/memfd:lab-kernel (deleted))
"""
SYMBOLS = """
0000000060000000 T time_travel_del_event
0000000060000020 t tcp_ack
0000000060000030 T nobody_knows
0000000060870000 b single
"""


def test_samples_of_the_guest_are_sorted_by_the_kernel_s_own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"perf": SCRIPT, "nm": SYMBOLS}
    monkeypatch.setattr(subprocess, "run", lambda words, **_: SimpleNamespace(stdout=said[words[0]]))
    rows, unknown = packet.samples(Path("perf.data"))
    assert rows == Counter({packet.OUTSIDE: 3, packet.EVENTS: 1, "TCP, copying": 1, packet.OTHER: 1})
    assert unknown == Counter({"nobody_knows": 1})


@pytest.mark.parametrize(
    ("function", "row"),
    [
        ("tcp_gro_receive", "GRO"),
        ("tcp_gso_segment", "segmentation"),
        ("tbf_pop", "bucket and delay (tbf, netem)"),
        ("qdisc_watchdog", packet.EVENTS),
        ("__alloc_skb", "allocate and free"),
        ("hrtimer_interrupt", packet.EVENTS),
        ("tcp_write_xmit", "TCP, copying"),
        ("veth_xmit", "devices (veth), nftables, IP"),
        ("chacha_permute", packet.OTHER),
    ],
)
def test_the_first_pattern_that_fits_is_the_row(function: str, row: str) -> None:
    assert packet.row(function) == row
