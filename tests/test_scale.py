"""A thousand nodes in the lab kernel."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest

from testbed import runner
from testbed.scenario import Trial
from testbed.trial import orders

SWITCHES, HOSTS_EACH = 10, 99


def trial() -> Trial:
    """A line of switches with hosts, a thousand nodes together, and a ping from the first to the last."""
    switches = [f"s{n}" for n in range(SWITCHES)]
    hosts = {f"h{s}-{n}": switches[s] for s in range(SWITCHES) for n in range(HOSTS_EACH)}
    links = {f"l-{host}": {"ends": [host, switch]} for host, switch in hosts.items()}
    pairs = pairwise(switches)
    trunks = {f"t{n}": {"ends": list(pair), "rtt": "1 ms"} for n, pair in enumerate(pairs)}
    nodes = {name: {"type": "switch"} for name in switches} | {name: {"type": "host"} for name in hosts}
    ping = {"tool": "ping", "from": "h0-0", "to": f"h{SWITCHES - 1}-{HOSTS_EACH - 1}", "count": 3}
    data = {"id": "t", "params": {}, "repetition": 0, "seed": 1, "workload": ping}
    return Trial.from_dict({**data, "topology": {"name": "net", "nodes": nodes, "links": links | trunks}})


@pytest.mark.lab
@pytest.mark.slow
def test_a_thousand_nodes_come_up_and_reach_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = trial()
    assert len(there.topology.nodes) == 1000
    began = time.monotonic()
    made = orders(there)
    planned = time.monotonic()
    done = runner.run(there, made, tmp_path)
    with capsys.disabled():
        print(f"\n1 000 nodes: planned in {planned - began:.1f} s, run in {time.monotonic() - planned:.1f} s")
    ping = done.data["measured"]["ping"]
    assert ping["received"] == ping["sent"] == 3
    # Nine trunks of 1 ms. The first ping also waits for ARP, as nobody knows a thousand neighbours beforehand.
    assert ping["rtt_min_s"] == pytest.approx(0.009, abs=100e-6)
