"""What a packet costs: `python -m benchmarks packet [SECONDS]`, 10 Gbit/s x 50 ms x 1 flow, `nic: offload`.

`perf record -e cpu-clock` on the whole command, which needs no hardware counters; of its samples those of the guest
count, that is of the lab kernel and of its processes. A row is what the names of functions say, the first pattern
that fits; the time is that of its samples by the packets of data that arrived (goodput by 1448 bytes).
"""

from __future__ import annotations

import bisect
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from testbed.analysis.condition import MSS_BYTES

HZ = 2000
"""Samples a second of CPU time."""
KERNEL, PROCESSES = "linux", "uml-userspace"
"""The names under which perf knows the lab kernel, and the host's processes that are the guest's."""

SAMPLE = re.compile(r"\s*(?P<command>\S+)\s+(?P<address>[0-9a-f]+) .*?\((?P<file>.*)\)\s*")

OUTSIDE = "host's kernel, other processes of the guest"
EVENTS = "lab time, timers, interrupts"
OTHER = "other"
ROWS = {
    "GRO": r"gro_|_gro|napi_watchdog|skb_shift",
    "segmentation": r"skb_segment|gso|skb_zerocopy|__copy_skb_header|skb_headers_offset|csum_hwoffload",
    "bucket and delay (tbf, netem)": r"tbf_|netem_|late_|qdisc_(?!watchdog)|__qdisc|sch_direct|pfifo|__netif_schedule",
    "allocate and free": r"alloc|k?free|slab|__pcs|refill_|skb_release|skb_attempt_defer|page_frag|___slab|_sheaf",
    EVENTS: (
        r"time|tick|clock|irq|IRQ|bh_enable|startup_entry|alarm|signal|idle|rb_|fast_mix|random|hrtimer|watchdog|schedule|sched|wake_up|interrupt"
    ),
    "TCP, copying": r"tcp_|memcpy|copy|splice|shmem|iov_|xas_|inet_lookup|sk_|sock|pipe|folio|skb_append|bictcp|cubic",
    "devices (veth), nftables, IP": (
        r"veth|netif|nft_|eth_|ip_|ipv4|inet|net_[rt]x|dev_|xmit|napi|backlog|nf_|xdp|skb_|fib_|route|neigh"
    ),
}
"""A pattern for each row, in the order in which they are tried."""


def scenario(seconds: int) -> dict[str, Any]:
    path = {"ends": ["client", "server"], "rate": "10 Gbit/s", "rtt": "50 ms", "buffer": "1 bdp"}
    hosts = {"client": {"type": "host"}, "server": {"type": "host"}}
    return {
        "name": "packet",
        "topology": {"name": "bench", "nic": "offload", "nodes": hosts, "links": {"path": path}},
        "workload": {"tool": "flow", "from": "client", "to": "server", "duration": f"{seconds} s", "flows": 1},
        "samples": {"interval": "100 ms"},
    }


def functions(linux: str) -> tuple[list[int], list[str]]:
    """The addresses of a kernel's functions, in order, and their names. (perf takes some for data, 0x60000000 off.)"""
    table = subprocess.run(("nm", "-n", linux), capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in table.splitlines()]
    text = [(int(each[0], 16), each[2]) for each in words if len(each) == 3 and each[1] in "tTwW"]
    return [address for address, _ in text], [name for _, name in text]


def row(function: str) -> str:
    """The row of a function of the lab kernel."""
    return next((name for name, pattern in ROWS.items() if re.search(pattern, function)), OTHER)


def samples(file: Path) -> tuple[Counter[str], Counter[str]]:
    """The guest's samples in each row, and those of each function of the lab kernel that belongs to no row."""
    rows: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    words = ("perf", "script", "-i", str(file), "-F", "comm,ip,sym,dso")
    known: tuple[list[int], list[str]] | None = None
    for line in subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines():
        if (sample := SAMPLE.fullmatch(line)) is None or sample["command"] not in (KERNEL, PROCESSES):
            continue
        if sample["command"] == PROCESSES or Path(sample["file"]).name != KERNEL:
            rows[OUTSIDE] += 1
            continue
        known = known or functions(sample["file"])
        function = known[1][bisect.bisect(known[0], int(sample["address"], 16)) - 1]
        part = row(function)
        rows[part] += 1
        if part == OTHER:
            unknown[function] += 1
    return rows, unknown


def main(seconds: int = 6) -> int:
    """Prints a line for each row; 1 if the trial is not valid or nothing was sampled."""
    with tempfile.TemporaryDirectory(prefix="packet-") as name:
        folder = Path(name)
        file, data = folder / "packet.yaml", folder / "perf.data"
        file.write_text(json.dumps(scenario(seconds)))
        words = [sys.executable, "-m", "testbed", "run", str(file), "-o", str(folder / "out"), "--jobs", "1"]
        record = ["perf", "record", "--quiet", "-e", "cpu-clock", "-F", str(HZ), "-o", str(data), "--"]
        done = subprocess.run([*record, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        found = list((folder / "out" / "trials").glob("*/result.json"))
        if len(found) != 1:
            raise SystemExit(f"measured nothing:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
        result = json.loads(found[0].read_text())
        rows, unknown = samples(data)
    packets = result["goodput_bps"] * result["workload_s"] / 8 / MSS_BYTES
    total = rows.total()
    if result["verdict"] != "valid" or not total:
        print(f"{result['verdict']}, {total} samples")
        return 1
    print(f"{packets / 1e6:.2f} million packets of data in {total / HZ:.2f} s of a processor, {total} samples")
    print(f"{'part':48}{'ns':>6}{'share':>8}")
    for part, number in [*rows.most_common(), ("a packet of data", total)]:
        print(f"{part:48}{number / HZ / packets * 1e9:6.0f}{number / total:8.1%}")
    print("other: " + ", ".join(f"{each} {number}" for each, number in unknown.most_common(12)))
    return 0
