"""A thousand nodes in the lab kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from testbed.model.scenario import Trial
from testbed.spec.scenario.trial import trial_of
from testbed.trial import run
from testbed.trial.measured import PingResult, need
from testbed.trial.orders.sequence import orders

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
    return trial_of({**data, "topology": {"name": "net", "nodes": nodes, "links": links | trunks}})


def mixed_trial() -> Trial:
    """Over IPv6: a binary tree of routers, at each of its leaves a trunk to a switch with hosts in two VLANs;
    a thousand nodes together, and a ping from one corner to the other.
    """
    routers = [f"r{n}" for n in range(63)]
    leaves = routers[31:]
    nodes: dict[str, Any] = {name: {"type": "router"} for name in routers}
    links: dict[str, Any] = {f"up{n}": {"ends": [f"r{n}", f"r{(n - 1) // 2}"], "rtt": "1 ms"} for n in range(1, 63)}
    hosts = 1000 - len(routers) - len(leaves)
    vlans: dict[str, dict[str, Any]] = {f"s{n}": {f"trunk{n}": [10, 20]} for n in range(len(leaves))}
    for n, leaf in enumerate(leaves):
        links[f"trunk{n}"] = {"ends": [leaf, f"s{n}"]}
    for n in range(hosts):
        switch = f"s{n % len(leaves)}"
        nodes[f"h{n}"] = {"type": "host"}
        links[f"port{n}"] = {"ends": [f"h{n}", switch]}
        vlans[switch][f"port{n}"] = 10 if n % 64 < 32 else 20
    nodes |= {switch: {"type": "switch", "vlans": ports} for switch, ports in vlans.items()}
    ping = {"tool": "ping", "from": "h0", "to": "h31", "count": 3}
    data = {"id": "t", "params": {}, "repetition": 0, "seed": 1, "workload": ping}
    return trial_of({**data, "topology": {"name": "net", "ip": 6, "nodes": nodes, "links": links}})


@pytest.mark.lab
@pytest.mark.nightly
@pytest.mark.parametrize(("make", "rtt_s"), [(trial, 0.009), (mixed_trial, 0.010)], ids=["switches", "mixed"])
def test_a_thousand_nodes_come_up_and_reach_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[], Trial], rtt_s: float
) -> None:
    began = time.monotonic()
    there = make()
    read = time.monotonic()
    assert len(there.topology.nodes) == 1000
    made = orders(there)
    planned = time.monotonic()
    done = run.run(there, made, tmp_path)
    took = (read - began, planned - read, time.monotonic() - planned)
    with capsys.disabled():
        print("\n1 000 nodes: read in {:.1f} s, planned in {:.1f} s, run in {:.1f} s".format(*took))
    ping = need(PingResult, done.measured)
    assert ping.received == ping.sent == 3
    # Links of 1 ms each. The first ping also waits for ARP, as nobody knows a thousand neighbours beforehand.
    assert ping.rtt_min_s == pytest.approx(rtt_s, abs=100e-6)
