"""The files of a running network, which several commands may change at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from testbed.interactive import reachability, tapping
from testbed.interactive.build import build
from testbed.interactive.running_network import ABOUT, RunningNetwork, rewrite
from testbed.journal import Entry
from testbed.library import TOPOLOGIES
from testbed.model.run_setting import Kernel
from testbed.spec.load import load_topology

COUNTS = """
import sys
from testbed.interactive.running_network import RunningNetwork, rewrite
from testbed.journal import Entry
network = RunningNetwork(Entry("network", "net", {"folder": sys.argv[1]}))
for _ in range(50):
    rewrite(network, lambda said: {**said, "count": said["count"] + 1})
"""


def test_no_change_is_lost_if_several_processes_make_them(tmp_path: Path) -> None:
    (tmp_path / ABOUT).write_text(json.dumps({"nodes": {}, "count": 0}))
    started = [subprocess.Popen([sys.executable, "-c", COUNTS, str(tmp_path)]) for _ in range(4)]
    assert [each.wait() for each in started] == [0] * 4
    assert json.loads((tmp_path / ABOUT).read_text())["count"] == 200


def test_what_was_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / ABOUT).write_text(json.dumps({"nodes": {"a": {}}}))
    network = RunningNetwork(Entry("network", "net", {"folder": str(tmp_path)}))
    assert network.nodes == ("a",)
    rewrite(network, lambda said: {**said, "nodes": {"a": {}, "b": {}}})
    assert network.nodes == ("a", "b")


def test_a_router_on_vlans_has_the_addresses_of_its_vlan_devices(tmp_path: Path) -> None:
    """A capture at the node is at the device below them only: each frame passes that once."""
    about = build(load_topology(TOPOLOGIES / "vlans.yaml"), Kernel("host")).to_dict()
    ports = {"eth0": [], "eth0.10": ["10.0.0.3/24"], "eth0.20": ["10.0.1.3/24"]}
    assert about["nodes"]["router"]["ports"] == ports
    (tmp_path / ABOUT).write_text(json.dumps(about))
    network = RunningNetwork(Entry("network", "net", {"folder": str(tmp_path)}))
    assert reachability.address(network, "router") == "10.0.0.3"
    assert tapping.points(network, ["router"]) == (tapping.Point("router", "eth0", "stick"),)
