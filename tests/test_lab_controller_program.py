"""Controllers of any kind in the lab kernel: programs of their users, and apps with groups and meters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from trials import RunTrial

from testbed import package
from testbed.spec.load import load_topology
from testbed.spec.topology.file import TopologyFile

pytestmark = pytest.mark.lab

PING = {"tool": "ping", "from": "a", "to": "b", "count": 4, "interval": "1 s"}
needs_testcontroller = pytest.mark.skipif(
    package.which("ovs-testcontroller") is None, reason="needs ovs-testcontroller: make test"
)


def of_program(said: dict[str, Any]) -> dict[str, Any]:
    """Two switches 4 ms apart, and a controller 10 ms away that is a program."""
    return {
        "name": "line",
        "neighbours": "learned",
        "nodes": {
            **{name: {"type": "host"} for name in "ab"},
            **{name: {"type": "ovs"} for name in ("s1", "s2")},
            "c0": {"type": "controller", "control": {"rtt": "10 ms"}, **said},
        },
        "links": {
            "left": {"ends": ["a", "s1"], "rate": "100 Mbit/s"},
            "middle": {"ends": ["s1", "s2"], "rtt": "4 ms"},
            "right": {"ends": ["s2", "b"]},
        },
    }


@needs_testcontroller
@pytest.mark.parametrize("version", ["1.0", "1.3"])
def test_a_controller_that_is_a_program_decides_in_the_version_that_was_asked(
    run_trial: RunTrial, version: str
) -> None:
    said = {"command": ["ovs-testcontroller", "ptcp:6633"], "port": 6633, "openflow": version}
    ran = run_trial(topology=of_program(said), workload=PING)
    found, later = ran.ping.first_rtts_s[0], ran.ping.first_rtts_s[1]
    assert (ran.result.verdict, ran.result.warnings) == ("valid", ())
    rtt_s = ran.result.asked.rtt_s
    # Each of two switches asks about ARP's question, its answer, the first ping, and its answer.
    assert 0 < found - (2 * rtt_s + 8 * 10e-3) < 8 * 0.1e-3
    assert later == pytest.approx(rtt_s, abs=0.1e-3)
    name = f"OpenFlow{version.replace('.', '')}"
    assert {(ran.folder / f"protocols-s{n}-after.txt").read_text() for n in (1, 2)} == {f"[{name}]\n"}
    assert ran.result.sdn.controllers["c0"].packet_ins == {}  # nobody counts them


CRASHES = """#!/usr/bin/env python3
import subprocess, sys, time
print("prefix", sys.prefix, [each for each in sys.path if "packages" in each], flush=True)
child = subprocess.Popen(["ovs-testcontroller", "ptcp:6653"])
time.sleep(float(sys.argv[1]))
child.kill()
raise RuntimeError("it was too much")
"""


@needs_testcontroller
def test_a_controller_that_is_a_program_and_crashes_is_told_of(run_trial: RunTrial, tmp_path: Path) -> None:
    """It has the Python of its own environment, without the packages of the system."""
    subprocess.run(("/usr/bin/python3", "-m", "venv", "--without-pip", tmp_path / "venv"), check=True)
    (tmp_path / "late.py").write_text(CRASHES)
    topology = of_program({"command": ["late.py", "17"], "python": "venv"})
    (tmp_path / "net.yaml").write_text(yaml.safe_dump(topology))
    written = TopologyFile.of(load_topology(tmp_path / "net.yaml")).written()
    ran = run_trial(topology=written, workload={**PING, "count": 10})
    assert ran.result.verdict == "invalid"
    said = [each.text for each in ran.result.findings if each.check == "controller"]
    assert [each.split(":")[0] for each in said] == ["c0 (late.py) had an exception", "c0 was gone for s1, s2"]
    assert "it was too much" in said[0]
    folder = "/run/tb-ovs/c0/files/python"
    out = (ran.folder / "controller-c0.out").read_text().splitlines()[0]
    assert out.startswith(f"prefix {folder} ['{folder}/lib/python3.")
    assert out.count("-packages'") == 1  # not those of the system


GROUPS = """
from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls
class Groups(app_manager.OSKenApp):
    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def begin(self, ev):
        switch, ofp, make = ev.msg.datapath, ev.msg.datapath.ofproto, ev.msg.datapath.ofproto_parser
        def out(port):
            return [make.OFPActionOutput(port)]
        def flow(port, instructions):
            switch.send_msg(make.OFPFlowMod(switch, match=make.OFPMatch(in_port=port), instructions=instructions))
        def forward(port, actions, *first):
            flow(port, [*first, make.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions)])
        if switch.id == 1:
            band = make.OFPMeterBandDrop(rate=5000, burst_size=100)
            switch.send_msg(make.OFPMeterMod(switch, ofp.OFPMC_ADD, ofp.OFPMF_KBPS | ofp.OFPMF_BURST, 1, [band]))
            buckets = [make.OFPBucket(weight=50, actions=out(port)) for port in (2, 3)]
            switch.send_msg(make.OFPGroupMod(switch, ofp.OFPGC_ADD, ofp.OFPGT_SELECT, 1, buckets))
            meters = [make.OFPInstructionMeter(1, ofp.OFPIT_METER)] if METERED else []
            forward(1, [make.OFPActionGroup(1)], *meters)
        for port in {1: (2, 3), 4: (2, 3)}.get(switch.id, ()):
            forward(port, out(1))
        if switch.id == 4:
            forward(1, out(2))
        elif switch.id != 1:
            forward(1, out(2))
            forward(2, out(1))
"""


def two_ways(metered: bool) -> dict[str, Any]:
    switches = {name: {"type": "ovs", "dpid": number} for number, name in enumerate(("s1", "up", "low", "s2"), 1)}
    ends = (("a", "s1"), ("s1", "up"), ("s1", "low"), ("s2", "b"), ("up", "s2"), ("low", "s2"))
    app = {"app": "groups.py", "text": GROUPS.replace("METERED", str(metered)), "loops": True, "openflow": "1.3"}
    return {
        "name": "two-ways",
        "nodes": {"a": {"type": "host"}, "b": {"type": "host"}, **switches, "c0": {"type": "controller", **app}},
        "links": {
            f"{one}-{other}": {"ends": [one, other], **({"rate": "100 Mbit/s", "rtt": "2 ms"} if one == "a" else {})}
            for one, other in ends
        },
    }


def test_a_group_that_selects_shares_connections_among_two_ways(run_trial: RunTrial) -> None:
    workload = {"tool": "flow", "from": "a", "to": "b", "duration": "2 s", "flows": 16}
    ran = run_trial(topology=two_ways(False), workload=workload)
    carried = [ran.result.sdn.switches[name].ports["1"]["rx_packets"] for name in ("up", "low")]
    assert not [each.text for each in ran.result.findings if each.check == "controller"]
    # 16 connections of equal weights: that all go one way has a chance of 2 in 65 536.
    assert min(carried) > 0.05 * sum(carried)
    assert sum(carried) == pytest.approx(ran.result.sdn.switches["s1"].ports["1"]["rx_packets"], rel=0.01)


def test_a_meter_passes_its_rate(run_trial: RunTrial) -> None:
    """5 Mbit/s of frames and a first 100 kbit, of 20 Mbit/s of datagrams."""
    workload = {"tool": "udp", "from": "a", "to": "b", "rate": "20 Mbit/s", "duration": "4 s"}
    ran = run_trial(topology=two_ways(True), workload=workload)
    frames = ran.result.sdn.switches["s2"].ports["1"]["tx_bytes"]
    assert not [each.text for each in ran.result.findings if each.check == "controller"]
    assert frames * 8 == pytest.approx(5e6 * 4 + 100e3, rel=0.02)


SPANNING_TREE = """
from ryu.app import simple_switch_13
from ryu.controller.handler import MAIN_DISPATCHER, set_ev_cls
from ryu.lib import stplib
class Tree(simple_switch_13.SimpleSwitch13):
    _CONTEXTS = {"stplib": stplib.Stp}
    def _packet_in_handler(self, ev):  # they come from the library
        pass
    @set_ev_cls(stplib.EventPacketIn, MAIN_DISPATCHER)
    def _packet_came(self, ev):
        super()._packet_in_handler(ev)
"""


def test_a_spanning_tree_of_ryus_library_opens_a_ring(run_trial: RunTrial) -> None:
    """Its timers end waits, which os-ken's native threads cannot do: no port would ever forward."""
    switches = {name: {"type": "ovs", "fail_mode": "secure"} for name in ("s1", "s2", "s3")}
    app = {"type": "controller", "app": "tree.py", "text": SPANNING_TREE, "loops": True}
    ends = (("a", "s1"), ("s2", "b"), ("s1", "s2"), ("s2", "s3"), ("s3", "s1"))
    topology = {
        "name": "ring",
        "neighbours": "learned",
        "nodes": {"a": {"type": "host"}, "b": {"type": "host"}, **switches, "c0": app},
        "links": {"-".join(each): {"ends": [*each], "rate": "100 Mbit/s"} for each in ends},
    }
    ran = run_trial(topology=topology, workload={**PING, "count": 60})
    # Ports listen and learn for 15 s each; then nothing is lost, and no broadcast circulates.
    assert 60 - ran.ping.received < 2 * 15 + 5
    assert sum(ran.result.sdn.controllers["c0"].packet_ins.values()) < 1000
    assert not [each.text for each in ran.result.findings if each.check == "controller"]


FAUCET = "faucet==1.10.11"
OFFLINE = ("NewConnectionError", "Failed to establish a new connection", "No matching distribution", "ProxyError")
ONE_VLAN = {
    "vlans": {"office": {"vid": 100}},
    "dps": {
        name: {
            "dp_id": number,
            "hardware": "Open vSwitch",
            "interfaces": {port: {"native_vlan": "office"} for port in (1, 2)},
        }
        for number, name in enumerate(("s1", "s2"), 1)
    },
}


@pytest.fixture(scope="module")
def faucet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Faucet in a virtual environment of its own: it pins another os-ken than ours."""
    folder = tmp_path_factory.mktemp("faucet")
    subprocess.run(("/usr/bin/python3", "-m", "venv", "--without-pip", folder / "venv"), check=True)
    (folder / "constraints.txt").write_text("setuptools<81\n")  # pbr 5 builds with its pkg_resources
    words = (sys.executable, "-m", "pip", "--python", folder / "venv/bin/python", "install", "--quiet", FAUCET)
    own = {**os.environ, "PIP_CONSTRAINT": str(folder / "constraints.txt")}
    done = subprocess.run(words, env=own, capture_output=True, text=True, check=False)
    if done.returncode and any(each in done.stderr for each in OFFLINE):
        pytest.skip("no package registry can be reached")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.nightly
def test_faucet_switches_by_its_own_configuration(run_trial: RunTrial, faucet: Path) -> None:
    """With one VLAN on all ports everybody is reached; without an entry for a's port nobody is."""
    environment = {"FAUCET_CONFIG": "faucet.yaml", "FAUCET_LOG": "STDERR", "FAUCET_EXCEPTION_LOG": "STDERR"}
    said = {"command": ["faucet"], "python": "venv", "files": ["faucet.yaml"], "environment": environment}
    topology = of_program({**said, "port": 6653, "openflow": "1.3"})
    (faucet / "faucet.yaml").write_text(yaml.safe_dump(ONE_VLAN))
    (faucet / "net.yaml").write_text(yaml.safe_dump(topology))
    written = TopologyFile.of(load_topology(faucet / "net.yaml")).written()
    ran = run_trial(topology=written, workload=PING)
    assert (ran.result.verdict, ran.result.warnings) == ("valid", ())
    assert (ran.ping.sent, ran.ping.received) == (4, 4)
    assert {(ran.folder / f"protocols-s{n}-after.txt").read_text() for n in (1, 2)} == {"[OpenFlow13]\n"}
    ports = {port: dict(each) for port, each in ONE_VLAN["dps"]["s1"]["interfaces"].items() if port != 1}
    closed = {**ONE_VLAN, "dps": {**ONE_VLAN["dps"], "s1": {**ONE_VLAN["dps"]["s1"], "interfaces": ports}}}
    (faucet / "faucet.yaml").write_text(yaml.safe_dump(closed))
    written = TopologyFile.of(load_topology(faucet / "net.yaml")).written()
    ran = run_trial(topology=written, workload=PING)
    assert ran.ping.received == 0
