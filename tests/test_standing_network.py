"""A standing network feels like a network: names, switches' tools, pings, logs, and apps that change meanwhile."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from interactive import Home
from patience import PATIENCE_S

from testbed.error import SpecError
from testbed.interactive import keeper, node_files
from testbed.model.address import address_book
from testbed.model.link.impairment import RandomLoss
from testbed.spec.load import load_topology
from testbed.spec.topology.change import changed
from testbed.spec.topology.file import TopologyFile

pytestmark = [pytest.mark.lab]

APP = """
from ryu.base import app_manager
from ryu.controller import ofp_event
from ryu.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from ryu.ofproto import ofproto_v1_3


class App(app_manager.RyuApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def begin(self, event):
        print("first words")
        self.logger.info("switch %d", event.msg.datapath.id)
        path, of, make = event.msg.datapath, event.msg.datapath.ofproto, event.msg.datapath.ofproto_parser
        acts = [make.OFPActionOutput(of.OFPP_FLOOD)]
        does = [make.OFPInstructionActions(of.OFPIT_APPLY_ACTIONS, acts)]
        path.send_msg(make.OFPFlowMod(datapath=path, priority=PRIORITY, match=make.OFPMatch(), instructions=does))
"""
BROKEN = APP.replace("PRIORITY", "7").replace("    OFP", "    raise ValueError\n    OFP")
NET = """
name: app
nodes: {a: {type: host}, b: {type: host}, s1: {type: ovs}, c0: {type: controller, app: app.py}}
links: {left: {ends: [a, s1]}, right: {ends: [b, s1]}}
"""
PATH = "name: net\nnodes: {a: {type: host}, b: {type: host}}\nlinks: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 50 ms"
FLOWS = ("exec", "s1", "--", "ovs-ofctl", "dump-flows", "br0")
KILL = (
    "read -r pid </run/tb-ovs/c0/pid; kill -9 $pid; while grep -q 'State:.[^ZX]' /proc/$pid/status; do sleep 0.1; done"
)
"""Ends the controller, and waits until it has ended."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home.at(tmp_path)
    (tmp_path / "app.py").write_text(APP.replace("PRIORITY", "7"))
    (tmp_path / "net.yaml").write_text(NET)
    made.says("up", tmp_path / "net.yaml", "--kernel", "lab-realtime")
    yield made
    made.says("down", "app")
    assert made.left() == []
    made.clean()


def test_names_switches_pings_logs_and_a_changed_app(home: Home) -> None:
    assert "1 received" in home.says("exec", "a", "--", "ping", "-c", "1", "-W", "60", "b")
    assert "priority=7" in home.says(*FLOWS)
    assert "Bridge br0" in home.says("exec", "s1", "--", "ovs-vsctl", "show")
    assert "OF1.3" in home.says("exec", "s1", "--", "ovs-ofctl", "dump-groups", "br0")
    assert "3 packets transmitted, 3 received" in home.says("ping", "a", "b", "--count", "3")
    assert "1 packets transmitted, 1 received" in home.says("ping", "b", "a", "-c", "1")
    assert "Mbit/s sent" in home.says("iperf", "a", "b", "--time", "1")
    start, *told = home.says("logs", "c0").splitlines()
    assert start.startswith("=== started ")
    assert [line.partition(" ")[2] for line in told] == ["first words", "App: switch 1"]
    assert "bridge br0" in home.says("logs", "s1")

    found = json.loads(home.says("pingall", "app", "--format", "json"))
    assert [(each["source"], each["destination"], each["sent"], each["received"]) for each in found] == [
        ("a", "b", 1, 1),
        ("b", "a", 1, 1),
    ]
    home.says("exec", "b", "--", "ip", "link", "set", "eth0", "down")
    lost = home.run("pingall")
    assert (lost.returncode, lost.stdout.decode().splitlines()[-1]) == (1, "0 of 2 pairs reach each other; 2 do not")
    home.says("exec", "b", "--", "ip", "link", "set", "eth0", "up")

    (home.folder / "app.py").write_text(APP.replace("PRIORITY", "9").replace("first", "other"))
    assert home.says("reload", "c0") == "c0 of app has started anew, with 1 of 1 switches\n"
    home.says("exec", "s1", "--", "sh", "-c", "until ovs-ofctl dump-flows br0 | grep -q priority=9; do sleep 0.1; done")
    assert "priority=7" not in home.says(*FLOWS)
    assert "other words\n" in home.says("logs", "c0")


def test_a_controller_that_has_ended_is_told_of_until_it_is_reloaded(home: Home) -> None:
    home.says("exec", "c0", "--", "sh", "-c", KILL)
    gone = b"! controller-c0 has ended with status -9\n"
    assert home.run("exec", "a", "--", "true").stderr == gone
    home.says("reload", "c0")
    home.says("exec", "c0", "--", "sh", "-c", KILL)
    assert home.run("exec", "a", "--", "true").stderr == gone  # once again, and the old one no more
    (home.folder / "app.py").write_text(BROKEN)
    done = home.run("reload", "c0")
    assert (done.returncode, done.stdout.decode().splitlines()) == (
        1,
        [
            "c0 of app has started anew, with 0 of 1 switches",
            "the app does not start: app.py, line 9: ValueError",
            "not connected: s1; see testbed logs c0",
        ],
    )


def test_an_app_that_crashes_at_once_is_shown_by_up(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    (tmp_path / "app.py").write_text(BROKEN)
    (tmp_path / "net.yaml").write_text(NET)
    done = home.run("up", tmp_path / "net.yaml", "--kernel", "lab-realtime")
    said = done.stderr.decode()
    assert done.returncode not in (0, 2)
    assert "the network app did not come up: c0: the app does not start: app.py, line 9: ValueError\n" in said
    assert "c0 printed, at last:\n" in said
    assert "raise ValueError" in said
    assert home.left() == []
    home.clean()


def test_who_cannot_be_reached_by_iperf_is_said(home: Home) -> None:
    home.says("exec", "s1", "--", "ovs-ofctl", "del-flows", "br0")
    done = home.run("iperf", "a", "b")
    assert (done.returncode, b"iperf3 in a failed" in done.stderr) == (2, True), done.stderr


REFUSED = (
    (("reload", "a"), "a of app is no controller; allowed: c0"),
    (("logs", "a"), "a of app keeps no log; allowed: s1, c0"),
    (("ping", "a", "s1"), "s1 of app has no address; allowed: a, b"),
    (("ping", "a", "zz"), "no node 'zz'"),
    (("iperf", "a", "c0"), "c0 of app has no address"),
    (("iperf", "a", "a"), "a would send to itself, over no link; allowed: two nodes"),
    (("pingall", "other"), "no network 'other' is up"),
)


def test_what_makes_no_sense_is_refused(home: Home) -> None:
    """So is a changed network; one network stands for all, as it takes a while to come up."""
    for words, said in REFUSED:
        done = home.run(*words)
        assert (done.returncode, said in done.stderr.decode()) == (2, True), words
    (home.folder / "net.yaml").write_text(NET.replace("[a, s1]}", "[a, s1], rate: 1 Mbit/s}"))
    done = home.run("reload", "c0")
    assert done.returncode == 2
    assert "the links of the file are no longer those of the network app" in done.stderr.decode()
    (home.folder / "net.yaml").write_text(NET)
    (home.folder / "app.py").write_text("class App(")
    done = home.run("reload", "c0")
    assert done.returncode == 2
    assert "app.py:1: '(' was never closed" in done.stderr.decode()


def test_schedules_begin_when_asked(tmp_path: Path) -> None:
    """A minute of changes: more than a message to the agent can hold."""
    home = Home.at(tmp_path)
    changes = ", ".join(f"{{at: {at} ms, rtt: {50 + at} ms}}" for at in range(1, 900))
    (tmp_path / "net.yaml").write_text(f"{PATH}, schedule: [{changes}]}}}}\n")
    home.says("up", tmp_path / "net.yaml", "--kernel", "lab-realtime", "--schedule")
    script = "until tc -n tb-path.emulator qdisc show dev wire0 | grep -q 'delay 474'; do sleep 0.1; done"
    home.says("exec", "a", "--", "sh", "-c", script)
    home.says("down", "net")
    (tmp_path / "net.yaml").write_text(f"{PATH}}}}}\n")
    done = home.run("up", tmp_path / "net.yaml", "--kernel", "lab-realtime", "--schedule")
    assert (done.returncode, b"no link has a schedule" in done.stderr) == (2, True)
    assert home.left() == []
    home.clean()


def round_trips_ms(home: Home) -> Iterator[float]:
    """Of pings from a to b, each at least what the link delays: a busy computer adds to it."""
    for _ in range(30):
        found = re.search(r"time=([\d.]+) ms", home.says("ping", "a", "b", "--count", "1"))
        assert found
        yield float(found.group(1))


def test_a_link_changes_by_hand_and_goes_down_and_up(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    (tmp_path / "net.yaml").write_text(
        f"{PATH}}}, plain: {{ends: [b, c]}}}}\n".replace("b: {type", "c: {type: host}, b: {type")
    )
    home.says("up", tmp_path / "net.yaml", "--kernel", "lab-realtime")
    queues = (
        "exec",
        "a",
        "--",
        "sh",
        "-c",
        "for each in wire0 end1; do tc -n tb-path.emulator qdisc show dev $each; done",
    )

    said = home.says("link", "path", "rtt=200 ms", "loss=1 in 10", "buffer=20 packets")
    assert said == "path of net: rate 10 Mbit/s, rtt 200 ms, loss 1 in 10, buffer 20 packets\n"
    found = home.says(*queues)
    assert "delay 100ms" in found
    assert "pfifo 3: parent 2:1 limit 20p" in found
    assert next(round_trips_ms(home)) >= 200
    asked = json.loads(home.says("status", "--format", "json"))[0]["links"][0]["asked"]
    assert asked == {"rate": "10 Mbit/s", "rtt": "200 ms", "loss": "1 in 10", "buffer": "20 packets"}
    sends = "for each in $(seq 100); do echo x >/dev/udp/10.0.0.2/9; done"
    home.says("exec", "a", "--", "bash", "-c", sends)
    assert json.loads(home.says("status", "--format", "json"))[0]["links"][0]["seen"]["drops"] == 10

    assert home.says("link", "path", "down") == "path of net is down\n"
    assert home.run("ping", "a", "b", "--count", "1").returncode == 1
    for node in ("a", "b"):
        assert "NO-CARRIER" in home.says("exec", node, "--", "ip", "-br", "link", "show", "eth0")
    assert json.loads(home.says("status", "--format", "json"))[0]["links"][0]["asked"]["down"] == "now"
    assert home.says("link", "path", "up") == "path of net is up\n"
    assert home.says("link", "path", "loss=none", "rtt=10 ms").endswith(
        ": rate 10 Mbit/s, rtt 10 ms, buffer 20 packets\n"
    )
    assert "delay 5ms" in home.says(*queues)
    assert next(each for each in round_trips_ms(home) if each < 200) >= 10

    for words, why in (
        (("plain", "rtt=3 ms"), "has no emulator of ours: it asks for nothing; allowed: down and up"),
        (("path", "rtt=none", "rate=none", "buffer=none"), "nothing would be left of the emulator of path"),
        (("path", "rtt=1 parsec"), "rtt=1 parsec: rtt: unknown unit 'parsec'"),
        (("path", "speed=3"), "a link has no 'speed'"),
        (("path", "down", "rtt=1 ms"), "down goes alone"),
        (("path", "duplicate=1 in 10"), "lacks the devices for that"),
        (("nix", "up"), "has no link 'nix'; allowed: path, plain"),
    ):
        done = home.run("link", *words)
        assert (done.returncode, why in done.stderr.decode()) == (2, True), (words, done.stderr)
    assert "delay 5ms" in home.says(*queues)
    home.says("down", "net")
    assert home.left() == []
    home.clean()


def test_a_share_of_loss_by_hand_is_random(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(f"{PATH}}}}}\n")
    topology = load_topology(tmp_path / "net.yaml")
    lossy = TopologyFile.of(changed(topology, "path", ["loss=1%"])).written()
    assert lossy["links"]["path"]["loss"] == {"random": "1 %"}
    with pytest.raises(SpecError, match="everything would be lost"):
        changed(topology, "path", ["loss=100 %"])
    with pytest.raises(SpecError, match="does not say which packets are lost"):
        changed(topology, "path", ["loss=0.01"])


def test_a_share_of_loss_is_written_in_files_as_by_hand(tmp_path: Path) -> None:
    """`testbed link path loss=1%` was taken, and the same words refused in a topology, in a schedule and as an axis."""
    for number, loss in enumerate(("1 %", "{forward: 1 %}", "{random: 1 %}", "{forward: {random: 1 %}}")):
        file = tmp_path / f"net-{number}.yaml"
        file.write_text(f"{PATH}, loss: {loss}}}}}\n")
        assert load_topology(file).links[0].asked("forward", is_data=True).loss == RandomLoss(Fraction(1, 100))
    by_hand = changed(load_topology(tmp_path / "net-0.yaml"), "path", ["loss=none"])
    assert changed(by_hand, "path", ["loss=1%"]) == load_topology(tmp_path / "net-0.yaml")


def test_told_is_only_what_concerns_controllers(tmp_path: Path) -> None:
    """And at most the end of what they print, with nothing that a terminal would obey."""
    (tmp_path / "controller-c0.err").write_text("".join(f"line {number}\n\n" for number in range(10_000)) + "\x1b[2J\n")
    (tmp_path / "controller-c1.err").touch()
    (tmp_path / "controller-c2.err").symlink_to("/etc/passwd")
    assert keeper.explained("tc: no such qdisc", tmp_path) == "tc: no such qdisc"
    lines = keeper.explained("wait-until controller br0 is_connected=true: 14", tmp_path).splitlines()
    assert lines[0] == "a switch did not find its controller"
    assert (len(lines), lines[1], lines[12], lines[13]) == (16, "c0 printed, at last:", "  line 9999", "  \\x1b[2J")
    assert lines[14:] == ["c1 printed nothing", "c2 printed nothing"]


def test_who_waits_for_a_controller_that_has_ended_stops_waiting(tmp_path: Path) -> None:
    """Also while nobody has asked for the status of what has ended, so that its number is still there."""
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        (tmp_path / "pid").write_text(f"{ended.pid}\n")
        words = ("sh", "-c", node_files.IMPATIENT, tmp_path / "pid", "0", "sleep", "1000")
        assert subprocess.run(words, timeout=PATIENCE_S, check=False).returncode == 1
    (tmp_path / "pid").write_text(f"{os.getpid()}\n")
    words = ("sh", "-c", node_files.IMPATIENT, tmp_path / "pid", "0", "sh", "-c", "exit 5")
    assert subprocess.run(words, timeout=PATIENCE_S, check=False).returncode == 5


DEAF = """
nodes:
  a: {type: host}
  s1: {type: ovs}
  c0: {type: controller, command: [sh, deaf.sh], files: [deaf.sh]}
links: {left: {ends: [a, s1]}}
"""


def test_a_program_that_idles_and_does_not_listen_is_told_of_long_before_the_switch_gives_up(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    (tmp_path / "net.yaml").write_text(f"name: deaf\n{DEAF}")
    (tmp_path / "deaf.sh").write_text("echo no settings found\nexec sleep 10000\n")
    done = home.run("up", tmp_path / "net.yaml", "--kernel", "lab-realtime")
    said = done.stderr.decode()
    assert done.returncode, said
    assert (
        "the controller does not listen at port 6653, and does nothing\nc0 printed, at last:\n  no settings found"
        in said
    )


def test_a_program_that_is_slow_to_listen_or_works_is_waited_for(tmp_path: Path) -> None:
    """Ports of this process's namespace; the port 1 is nobody's."""
    with socket.socket() as listening, subprocess.Popen(["sh", "-c", "while :; do :; done"]) as works:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        for pid, port in ((works.pid, 1), (os.getpid(), listening.getsockname()[1])):
            (tmp_path / "pid").write_text(f"{pid}\n")
            words = ("sh", "-c", node_files.IMPATIENT.replace("-ge 8", "-ge 1"), tmp_path / "pid", str(port))
            done = subprocess.run((*words, "sh", "-c", "sleep 4; exit 5"), timeout=PATIENCE_S, check=False)
            assert done.returncode == 5
        works.kill()


def test_every_node_has_its_name_at_all_its_addresses() -> None:
    topology = load_topology(Path("topologies/dual-stack.yaml"))
    book = address_book(topology)
    text, mode = node_files.files(topology, book)["hosts"]
    assert mode == 0o644
    lines = [line.split() for line in text.splitlines()]
    assert lines[:2] == [["127.0.0.1", "localhost"], ["::1", "localhost", "ip6-localhost", "ip6-loopback"]]
    asked = {(str(each.ip), port.node) for port in book.ports for each in port.addresses}
    assert {(line[0], line[1]) for line in lines[2:]} == asked
    assert {4, 6} == {6 if ":" in line[0] else 4 for line in lines[2:]}


def test_what_a_network_has_none_of_is_said(tmp_path: Path) -> None:
    """It said "allowed: " and no more; `pingall`, which has no --name, said "allowed: --name"."""
    home = Home.at(tmp_path)
    for name in ("one", "two"):
        home.says("up", home.topology(name), "--kernel", "lab-realtime")
    for words in (("logs", "a", "--name", "one"), ("reload", "a", "--name", "one")):
        assert "; allowed: none" in home.run(*words).stderr.decode()
    assert home.run("pingall").stderr.decode().endswith("(one, two); allowed: to name one of one, two\n")
    home.run("down", "--all")
    assert home.left() == []
    home.clean()
