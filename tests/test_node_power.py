"""A running network whose nodes go off and on, whose cables are pulled, and what its logs and its status say of it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from interactive import Home
from patience import PATIENCE_S, wait_for

from testbed.commands.network.iperf import busiest, limit, rate_between
from testbed.error import SpecError
from testbed.interactive import connection, node_files, power, reload
from testbed.interactive.build import build
from testbed.interactive.running_network import OFF, RunningNetwork
from testbed.interactive.watch.flow_table import Names
from testbed.journal import Entry
from testbed.model.run_setting import Kernel
from testbed.plan.node import control_channel
from testbed.spec.load import load_topology
from testbed.spec.topology.change import changed
from testbed.spec.topology.file import TopologyFile

NET = """name: net
nodes:
  a: {type: host}
  b: {type: host}
  d: {type: host}
  r: {type: router}
  s1: {type: ovs}
  s2: {type: ovs}
  c0: {type: controller, app: app.py}
links:
  one: {ends: [a, s1]}
  trunk: {ends: [s1, s2]}
  two: {ends: [b, s2]}
  three: {ends: [r, s2]}
  four: {ends: [r, d], rate: 50 Mbit/s}
  five: {ends: [r, b]}
"""
APP = """from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from ryu.app.simple_switch_13 import SimpleSwitch13


class App(SimpleSwitch13):
    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def features(self, ev):
        self.begin(ev.msg.datapath)
        print("hello from", ev.msg.datapath.id)
        parser = ev.msg.datapath.ofproto_parser
        self.add_flow(ev.msg.datapath, 9, parser.OFPMatch(tcp_dst=22), [])
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = Home.at(tmp_path_factory.mktemp("home"))
    (made.folder / "net.yaml").write_text(NET)
    (made.folder / "app.py").write_text(APP)
    made.says("up", made.folder / "net.yaml", "--kernel", "lab-realtime")
    yield made
    made.run("down", "net")
    left = made.left()
    made.clean()
    assert left == []


def networks_of(home: Home) -> list[RunningNetwork]:
    return [RunningNetwork(Entry("network", "net", {"folder": str(home.cache / "up" / "net")}))]


def events(home: Home) -> list[str]:
    (told,) = json.loads(home.says("status", "--format", "json"))
    found: list[str] = told["events"]
    return found


def nothing_is_told(home: Home) -> None:
    """Waits until there is no event: what a controller does first may take much of a core."""
    wait_for(lambda: events(home) == [], "a network of which nothing is told")


def reaches(home: Home, source: str, destination: str) -> bool:
    """Whether one of some pings is answered: the first may wait for a controller."""
    done = home.run("exec", source, "--", "ping", "-n", "-c", "3", "-i", "0.3", "-W", "2", destination)
    said = done.stdout.decode()
    assert "3 packets transmitted" in said or "unreachable" in done.stderr.decode(), (said, done.stderr)
    return done.returncode == 0


def comes_to_reach(home: Home, source: str, destination: str) -> None:
    wait_for(lambda: reaches(home, source, destination), f"an answer from {destination} to {source}")


def logged(home: Home, text: str) -> None:
    """Waits until the controller's log has a text once for each switch: an app says it a little after it has met the
    switch.
    """
    wait_for(lambda: home.says("logs", "c0").count(text) == 2, f"{text!r} of both switches")


@pytest.mark.lab
@pytest.mark.xdist_group("node_power")
def test_a_log_has_times_refusals_and_only_the_last_run(home: Home) -> None:
    logged(home, "hello from")
    logged(home, "refused")
    said = home.says("logs", "c0")
    assert said.count("=== started ") == 1
    refused = [line for line in said.splitlines() if "refused" in line]
    assert len(refused) == 2
    what = "refused a flow entry (tcp_dst=22 → drop): tcp_dst needs eth_type=0x0800 or eth_type=0x86dd and ip_proto=6"
    assert all(what in line for line in refused)
    assert {line.split()[2] for line in refused} == {"s1", "s2"}
    lines = said.splitlines()[1:]
    assert all(line[2] == line[5] == ":" and line[8] == "." for line in lines), lines
    (home.folder / "app.py").write_text(APP.replace("hello", "welcome"))
    home.says("reload", "c0")
    logged(home, "welcome")
    said, whole = home.says("logs", "c0"), home.says("logs", "c0", "--all")
    assert (said.count("hello"), said.count("welcome"), whole.count("hello"), whole.count("welcome")) == (0, 2, 2, 2)
    assert whole.count("=== started ") == 2


def connected(home: Home) -> None:
    """Waits until both switches have their controller again."""
    for switch in ("s1", "s2"):
        waits = ("ovs-vsctl", f"--timeout={PATIENCE_S:.0f}", "wait-until", "controller", "br0", "is_connected=true")
        home.says("exec", switch, "--", *waits)


@pytest.mark.lab
@pytest.mark.xdist_group("node_power")
def test_a_switch_that_is_off_passes_nothing_and_comes_back(home: Home) -> None:
    comes_to_reach(home, "a", "b")
    home.says("node", "s1", "stop")
    assert home.says("exec", "s1", "--", "ovs-vsctl", "get", "controller", "br0", "is_connected") == "false\n"
    assert not reaches(home, "a", "b")
    assert "s1 is off: testbed node s1 start" in events(home)
    again = home.run("node", "s1", "stop")
    assert (again.returncode, b"is off already; allowed: testbed node s1 start" in again.stderr) == (2, True)
    assert "with 1 of 1 switches" in home.says("reload", "c0")  # the other one is on
    home.says("node", "s1", "start")
    comes_to_reach(home, "a", "b")
    nothing_is_told(home)


@pytest.mark.lab
@pytest.mark.xdist_group("node_power")
def test_a_controller_that_an_interrupted_reload_has_left_stopped_starts_with_the_next(home: Home) -> None:
    (home.folder / "app.py").write_text(APP)
    (network,) = networks_of(home)
    connection.carry_out(network, [{"stop": "controller-c0"}])
    assert "with 2 of 2 switches" in home.says("reload", "c0")


def test_a_node_that_has_started_is_on_whoever_interrupts_the_wait_for_its_controller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "net.yaml").write_text(NET)
    (tmp_path / "app.py").write_text(APP)
    topology = load_topology(tmp_path / "net.yaml")
    made = build(topology, Kernel("lab-realtime"))
    about = json.loads(json.dumps({**made.to_dict(), "kernel": "lab-realtime"}))
    for name in ("s1", "c0"):
        about["nodes"][name][OFF] = True
    (tmp_path / "network.json").write_text(json.dumps(about))
    (tmp_path / "topology.json").write_text(json.dumps(TopologyFile.of(topology).written()))
    network = RunningNetwork(Entry("network", "net", {"folder": str(tmp_path)}))

    def interrupted(*words: object) -> tuple[str, ...]:
        raise KeyboardInterrupt

    monkeypatch.setattr(connection, "carry_out", lambda *words: None)
    monkeypatch.setattr(reload, "without_controller", interrupted)
    for name in ("c0", "s1"):
        assert network.is_off(name)
        with pytest.raises(KeyboardInterrupt):
            power.switch_on(network, name)
        assert not network.is_off(name)


def test_a_daemon_that_does_not_answer_is_killed_and_its_database_is_not_waited_for_without_end(tmp_path: Path) -> None:
    for name, script in (("appctl", "exit 1"), ("vsctl", f'echo "$@" >{tmp_path}/asked')):
        (tmp_path / f"ovs-{name}").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / f"ovs-{name}").chmod(0o755)
    inside = {"PATH": f"{tmp_path}:/usr/bin:/bin", "OVS_RUNDIR": str(tmp_path)}
    with subprocess.Popen(["sleep", "1000"]) as daemon:
        (tmp_path / "ovs-vswitchd.pid").write_text(f"{daemon.pid}\n")
        try:
            subprocess.run(["sh", "-c", power.OVS_OFF], env=inside, timeout=PATIENCE_S, check=True)
            assert daemon.wait(PATIENCE_S) == -signal.SIGKILL
        finally:
            daemon.kill()
    assert "--timeout=" in (tmp_path / "asked").read_text()


@pytest.mark.parametrize(("said", "port"), [("app: app.py", "0"), ("command: [sh, app.py], files: [app.py]", "6653")])
def test_who_reloads_a_program_that_never_listens_is_told_before_the_time_is_over(
    said: str, port: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "net.yaml").write_text(NET.replace("app: app.py", said))
    (tmp_path / "app.py").write_text(APP)
    topology = load_topology(tmp_path / "net.yaml")
    about = json.loads(json.dumps(build(topology, Kernel("lab-realtime")).to_dict()))
    (tmp_path / "network.json").write_text(json.dumps({**about, "kernel": "lab-realtime"}))
    network = RunningNetwork(Entry("network", "net", {"folder": str(tmp_path)}))
    asked: list[list[str]] = []

    def run(network: RunningNetwork, where: object, words: list[str], **more: object) -> tuple[int, bytes, bytes]:
        asked.append(words)
        return 0, b"", b""

    monkeypatch.setattr(connection, "run", run)
    (channel,) = control_channel.channels(topology)
    assert reload.without_controller(network, channel, ("s1",)) == ()
    assert asked[-1][2:5] == [node_files.IMPATIENT, f"{channel.folder}/pid", port]


@pytest.mark.lab
@pytest.mark.xdist_group("node_power")
def test_a_router_that_is_off_takes_nothing_and_comes_back(home: Home) -> None:
    comes_to_reach(home, "b", "d")
    home.says("node", "r", "stop")
    assert not reaches(home, "b", "d")
    assert not reaches(home, "b", "r")
    home.says("node", "r", "restart")
    comes_to_reach(home, "b", "d")


@pytest.mark.lab
@pytest.mark.xdist_group("node_power")
def test_a_controller_that_was_off_starts_with_the_app_that_was_loaded_last(home: Home) -> None:
    (home.folder / "app.py").write_text(APP.replace("hello", "good evening"))
    home.says("reload", "c0")
    home.says("node", "c0", "stop")
    for switch in ("s1", "s2"):
        said = home.says("exec", switch, "--", "ovs-vsctl", "get", "controller", "br0", "is_connected")
        assert said.strip() == "false"  # or the wait below would be for nothing
    refused = home.run("reload", "c0")
    assert (refused.returncode, b"c0 of net is off" in refused.stderr) == (2, True)
    (home.folder / "app.py").write_text("this is no app")
    home.says("node", "c0", "start")
    connected(home)
    logged(home, "good evening")
    host = home.run("node", "a", "stop")
    assert (host.returncode, b"allowed: r, s1, s2, c0" in host.stderr) == (2, True)


def is_told(home: Home, begin: str, part: str = "") -> None:
    """Waits until an event begins like this."""
    wait_for(lambda: any(each.startswith(begin) and part in each for each in events(home)), f"{begin!r}")


@pytest.mark.lab
@pytest.mark.xdist_group("node_power")
def test_a_daemon_that_ended_and_an_app_that_spins_are_told(home: Home) -> None:
    home.says("exec", "s2", "--", "sh", "-c", 'kill -9 "$(cat "$OVS_RUNDIR/ovs-vswitchd.pid")"')
    is_told(home, "s2: its ovs-vswitchd does not run: ")
    (home.folder / "app.py").write_text(APP)
    done = home.run("reload", "c0")  # what s2 has said last is that it is connected
    assert (done.returncode, b"with 1 of 2 switches\nnot connected: s2; see" in done.stdout) == (1, True), done
    home.says("node", "s2", "restart")
    nothing_is_told(home)
    spins = (
        APP
        + "\n    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n"
        + (
            "        import threading\n        threading.Thread(target=self.spin, daemon=True).start()\n\n"
            "    def spin(self):\n        while True:\n            pass\n"
        )
    )
    (home.folder / "app.py").write_text(spins)
    home.run("reload", "c0")
    is_told(home, "c0 takes ", "of a core")
    (home.folder / "app.py").write_text(APP)
    home.run("reload", "c0")
    connected(home)
    nothing_is_told(home)


@pytest.mark.lab
@pytest.mark.xdist_group("node_power")
def test_a_cable_of_any_link_is_pulled_out_and_put_in(home: Home) -> None:
    """One at switches, and one between routers and hosts, whose routes come back, those too that somebody added."""
    home.says("link", "trunk", "down")
    assert not reaches(home, "a", "b")
    assert "NO-CARRIER" not in home.says("exec", "a", "--", "ip", "link", "show", "eth0")
    home.says("link", "trunk", "up")
    comes_to_reach(home, "a", "b")
    home.says("link", "one", "down")
    assert "NO-CARRIER" in home.says("exec", "a", "--", "ip", "link", "show", "eth0")
    home.says("link", "one", "up")
    home.says("exec", "b", "--", "ip", "route", "add", "192.0.2.0/24", "dev", "eth1", "metric", "7")
    shows = ("exec", "b", "--", "sh", "-c", "ip route; ip neigh show nud permanent | sort")
    before = home.says(*shows)
    assert "192.0.2.0/24" in before
    home.says("link", "five", "down")
    assert "192.0.2.0/24" not in home.says(*shows)
    (told,) = json.loads(home.says("status", "--format", "json"))
    assert {each["name"]: each["asked"] for each in told["links"]}["five"] == {"down": "now"}
    home.says("link", "five", "up")
    assert home.says(*shows) == before


@pytest.mark.lab
@pytest.mark.xdist_group("node_power")
def test_ping_says_how_to_end_it_and_one_iperf_after_another_finds_its_server(home: Home) -> None:
    done = home.run("ping", "b", "d", "-c", "1")
    assert done.stderr == b""
    home.says("exec", "d", "--", "iperf3", "-s", "-D", "-p", "5201")  # somebody's own, which testbed iperf leaves alone
    for _ in range(2):
        said = home.says("iperf", "b", "d", "--time", "1")
        assert "Mbit/s sent" in said
    assert home.says("exec", "d", "--", "ss", "-Hltn", "sport", "=", ":5201").count("5201") == 1
    (told,) = [each for each in networks_of(home) if each.name == "net"]
    assert rate_between(told, "b", "d") == 50_000_000
    assert rate_between(told, "a", "b") is None


STAT = "cpu0 100 0 50 1000 10 0 0 0 0 0\ncpu1 0 0 0 {idle} 0 0 0 0 0 0\n"


def test_a_computer_with_other_work_is_said_to_share_its_cores() -> None:
    assert limit(0.5, 1.9, 2) is None
    assert limit(None, 12.3, 2) == "the computer may be the limit, not the network: 12 processes share its 2 cores"
    assert "was the limit" in str(limit(0.99, 12.3, 2))


def test_the_busiest_core_is_the_one_with_the_least_idle_time() -> None:
    """Of 200 ticks cpu0 was idle for 40, and cpu1 for 198."""
    last = "cpu0 220 0 90 1040 10 0 0 0 0 0\ncpu1 1 0 1 1198 0 0 0 0 0 0\n"
    assert busiest(STAT.format(idle=1000) + "{}\n" + last) == pytest.approx(160 / 200)
    assert busiest("{}") is None
    assert busiest(STAT.format(idle=1)) is None


def test_a_state_that_is_no_word_names_both(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(
        "name: n\nnodes: {a: {type: host}, b: {type: host}}\nlinks: {path: {ends: [a, b], rate: 1 Mbit/s}}\n"
    )
    with pytest.raises(SpecError, match=r"dwon.*did you mean 'down'.*allowed: down, up, or KEY=VALUE"):
        changed(load_topology(tmp_path / "net.yaml"), "path", ["dwon"])


NAMES = Names({1: "a", 2: "s2"}, {"10.0.0.2": "b", "02:00:00:00:00:01": "a"})
TOLD: list[tuple[Any, str]] = [
    ("in_port=1,dl_src=02:00:00:00:00:01,ip", "in_port=1 (a),dl_src=02:00:00:00:00:01 (a),ip"),
    ("tcp,nw_dst=10.0.0.2,tp_dst=80", "tcp,nw_dst=10.0.0.2 (b),tp_dst=80"),
    ("output:2,output:13", "output:2 (s2),output:13"),
    ("set_field:10.0.0.2->ip_dst,output:1", "set_field:10.0.0.2 (b)->ip_dst,output:1 (a)"),
    ("nw_dst=10.0.0.0/24 nw_src=10.0.0.2/31", "nw_dst=10.0.0.0/24 nw_src=10.0.0.2/31"),
    ("CONTROLLER:65535,group:1,meter:2,tp_dst=1", "CONTROLLER:65535,group:1,meter:2,tp_dst=1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "told"), TOLD)
def test_ports_and_addresses_have_their_names(text: str, told: str) -> None:
    assert NAMES.told(text) == told
