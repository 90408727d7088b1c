"""Interactive networks, as people use them: up, shell, exec, status, down; several at once, and what is refused."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any

import pytest
from interactive import Home
from leftover import namespaces
from patience import PATIENCE_S, wait_for

from testbed.cache_folder import user_folder
from testbed.kernel.ready import probe, requirement
from testbed.model.node.type import NODE_TYPES

LAB = pytest.param("lab-realtime", marks=pytest.mark.lab)
HOST = pytest.param("host", marks=[pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")])

EMULATED = """
name: far
nodes: {client: {type: host}, r: {type: router}, server: {type: host}}
links:
  path: {ends: [client, r], rate: 100 Mbit/s, rtt: 40 ms}
  port: {ends: [r, server]}
"""


@pytest.fixture(params=[LAB, HOST])
def net(request: pytest.FixtureRequest, home: Home) -> Iterator[Home]:
    before = namespaces()
    home.says("up", home.topology("net"), "--kernel", request.param)
    yield home
    home.says("down", "net")
    assert home.left() == []
    assert namespaces() == before


def test_a_command_has_our_streams_and_gives_its_status(net: Home) -> None:
    done = net.run("exec", "a", "--", "sh", "-c", "cat; echo wrong >&2; exit 7", input=b"given\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"given\n", b"wrong\n")
    assert net.run("exec", "a", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    missing = net.run("exec", "a", "--", "no-such-program")
    assert (missing.returncode, missing.stderr) == (127, b"no-such-program: No such file or directory\n")
    assert net.run("exec", "a", "--", "/etc/passwd").returncode == 126

    much = os.urandom(1 << 20)
    assert net.run("exec", "b", "--", "cat", input=much).stdout == much
    assert len(net.run("exec", "b", "--", "head", "-c", "1000000", "/dev/zero").stdout) == 1000000
    assert net.run("exec", "b", "--", "true", input=much).returncode == 0  # it reads none of it

    assert "1 received" in net.says("exec", "a", "--", "ping", "-c", "1", "-W", "60", "10.0.0.2")
    devices = net.says("exec", "s", "--", "ls", "/sys/class/net").split()
    assert {"br0", "eth0", "eth1"} <= set(devices) <= {"br0", "eth0", "eth1", "lo", "sit0"}


def test_many_work_in_it_at_once_and_what_one_leaves_running_goes_on(net: Home) -> None:
    listens = "until ss -Hltn sport = :5201 | grep -q .; do sleep 0.1; done"
    net.says("exec", "b", "--", "sh", "-c", f"setsid -f iperf3 -s -D -I /tmp/net-iperf3.pid; {listens}")
    words = net.words("exec", "a", "--", "iperf3", "-c", "10.0.0.2", "-n", "1M", "--connect-timeout", "60000")
    status = net.words("exec", "a", "--", "cat", "/proc/net/dev")
    several = [
        subprocess.Popen(each, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=net.env, cwd=net.folder)
        for each in (status, words, status, status)
    ]
    for process in several:
        out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, out + err
    assert b"eth0" in out
    net.says("exec", "b", "--", "pkill", "-F", "/tmp/net-iperf3.pid")


def test_an_interrupt_goes_to_the_command_and_who_leaves_ends_it(net: Home) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        words = net.words("exec", "a", "--", "sh", "-c", "echo here; exec sleep 1000")
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=net.env) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"here\n"
            process.send_signal(number)
            assert process.wait(PATIENCE_S) == 128 + number
    words = net.words(
        "exec", "a", "--", "sh", "-c", "trap 'echo left >/tmp/left-net' HUP; echo here; sleep 1000 & wait"
    )
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=net.env) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.kill()
    wait = "until [ -e /tmp/left-net ]; do :; done; cat /tmp/left-net; rm /tmp/left-net"
    assert net.says("exec", "a", "--", "sh", "-c", wait) == "left\n"


class Terminal:
    """A terminal with a program in it."""

    def __init__(self, words: tuple[str | Path, ...], home: Home) -> None:
        self.pid, self.descriptor = pty.fork()
        if not self.pid:
            os.chdir(home.folder)
            os.execve(words[0], list(map(str, words)), home.env)
        self.seen = ""

    def resize(self, rows: int, columns: int) -> None:
        ioctl(self.descriptor, TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def until(self, text: str) -> None:
        """Reads up to a text, which is then gone from what is seen."""
        while text not in self.seen:
            assert select.select([self.descriptor], [], [], PATIENCE_S)[0], f"no {text!r} in {self.seen!r}"
            self.seen += os.read(self.descriptor, 4096).decode(errors="replace")
        self.seen = self.seen.partition(text)[2]

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_a_shell_has_a_terminal_that_says_where_it_is(net: Home) -> None:
    terminal = Terminal(net.words("shell", "a"), net)
    terminal.resize(33, 111)
    terminal.until("\x1b[1ma\x1b[0m:")
    terminal.type("stty size; echo network $TESTBED_NETWORK\n")
    terminal.until("33 111\r\n")
    terminal.until("network net\r\n")
    terminal.resize(44, 122)
    terminal.type("stty size\n")
    terminal.until("44 122\r\n")
    terminal.type("sh -c 'echo begun; exec sleep 1000'\n")
    terminal.until("begun\r\n")
    terminal.type("\x03")
    terminal.until("# ")  # root of the guest, whoever started it
    terminal.type("echo status $?; exit 5\n")
    terminal.until("status 130\r\n")
    assert terminal.wait() == 5


def test_a_network_that_goes_down_says_so_to_those_in_it(net: Home) -> None:
    words = net.words("exec", "a", "--", "sh", "-c", "echo here; exec sleep 1000")
    net.says(
        "up", net.topology("second"), "--kernel", json.loads(net.says("status", "net", "--format", "json"))[0]["kernel"]
    )
    words = (*net.words("exec", "--name", "second"), *words[words.index("a") :])
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1, env=net.env) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"here\n"
        net.says("down", "second")
        assert process.wait(PATIENCE_S) == 3
        assert b"the network second has gone down" in process.stderr.read()


def least_ms(said: str) -> float:
    """The shortest round trip of pings."""
    return float(said.rpartition("= ")[2].split("/")[0])


@pytest.mark.lab
def test_the_emulator_of_a_standing_network_is_exact_and_status_counts_what_passed(home: Home) -> None:
    (home.folder / "far.yaml").write_text(EMULATED)
    home.says("up", "far.yaml", "--kernel", "lab-realtime")
    pings = ("exec", "client", "--", "ping", "-c", "5", "-i", "0.2", "10.0.1.2")
    found = [least_ms(home.says(*pings))]  # on the wall clock timers are late, and never early
    (told,) = json.loads(home.says("status", "--format", "json"))
    assert told["kernel"] == "lab-realtime"
    assert told["nodes"]["server"] == {"type": "host", "ports": {"eth0": ["10.0.1.2/24"]}}
    path, port = told["links"]
    assert path["asked"] == {"rate": "100 Mbit/s", "rtt": "40 ms"}
    for way in ("forward", "backward"):
        seen = path["seen"][way]
        assert (seen["packets"], seen["bytes"]) == (5, 5 * 98)
        assert seen["left"] == {"packets": 5, "bytes": 5 * 98}
    assert port["seen"]["forward"]["packets"] == 5
    text = home.says("status")
    assert "client  host    eth0 10.0.0.1/24" in text
    assert "rate 100 Mbit/s, rtt 40 ms" in text
    while found[-1] >= 60 and len(found) < 20:
        found.append(least_ms(home.says(*pings)))
    assert 40 <= min(found) < 60, found


@pytest.mark.lab
def test_status_counts_what_periodic_loss_dropped(home: Home) -> None:
    (home.folder / "far.yaml").write_text(EMULATED.replace("rtt: 40 ms", "rtt: 40 ms, loss: 1 in 4"))
    home.says("up", "far.yaml", "--kernel", "lab-realtime")
    home.says("exec", "client", "--", "bash", "-c", "for n in {1..10}; do echo $n >/dev/udp/10.0.1.2/9; done")

    def path() -> dict[str, Any]:
        return dict(json.loads(home.says("status", "--format", "json"))[0]["links"][0])

    wait_for(lambda: path()["seen"]["forward"]["left"]["packets"] >= 8, "what is not lost")
    assert (path()["seen"]["forward"]["packets"], path()["seen"]["drops"]) == (10, 2)
    assert path().keys() == {"name", "ends", "asked", "seen"}
    assert ", 2 dropped" in home.says("status")
    name = path()["name"]
    home.says("link", name, "rate=50Mbit/s")
    assert (path()["seen"]["forward"]["packets"], path()["seen"]["drops"]) == (10, 2), "both since the start"
    home.says("link", name, "loss=none")
    assert (path()["seen"]["forward"]["packets"], path()["seen"]["drops"]) == (10, 2), "both since the start"
    assert path().keys() == {"name", "ends", "asked", "seen"}


@pytest.mark.lab
def test_a_standing_network_idles(home: Home) -> None:
    home.says("up", home.topology("net"), "--kernel", "lab-realtime")
    guest = json.loads((home.cache / "up" / "net" / "guest.json").read_text())["pid"]

    def ticks() -> int:
        """CPU time of the guest, whose processes are threads of control of this one on the host."""
        return sum(map(int, Path(f"/proc/{guest}/stat").read_text().rpartition(")")[2].split()[11:13]))

    before, began_s = ticks(), time.monotonic()
    home.says("exec", "a", "--", "sleep", "3")
    took_s = time.monotonic() - began_s  # longer than 3 s, if the computer is busy
    assert ticks() - before < 0.5 * took_s * os.sysconf("SC_CLK_TCK")  # without idling: all that there is


@pytest.mark.lab
def test_several_networks_stand_side_by_side_and_are_told_apart(home: Home) -> None:
    (home.folder / "far.yaml").write_text(EMULATED)
    for words in (("net.yaml",), ("net.yaml", "--name", "mine"), ("far.yaml",)):
        home.topology("net")
        home.says("up", *words, "--kernel", "lab-realtime")
    assert home.says("exec", "client", "--", "echo", "only far has one") == "only far has one\n"
    refused = home.run("exec", "a", "--", "true")
    assert refused.returncode == 2
    said = "several networks that are up have a node 'a' (mine, net); allowed: --name with one of mine, net"
    assert said in refused.stderr.decode()
    for name in ("net", "mine"):
        assert home.says("exec", "--name", name, "a", "--", "sh", "-c", "echo $TESTBED_NETWORK") == f"{name}\n"
    assert home.run("down").returncode == 2
    twice = home.run("up", "net.yaml", "--kernel", "lab-realtime")
    assert twice.returncode == 2
    assert "a network 'net' is up already (since 2" in twice.stderr.decode()
    assert "allowed: another --name, or testbed down net" in twice.stderr.decode()
    wrong = home.run("exec", "--name", "far", "clinet", "--", "true")
    assert (
        "the network far has no node 'clinet'; allowed: client, r, server (did you mean 'client'?)"
        in wrong.stderr.decode()
    )
    assert home.run("exec", "--name", "other", "a", "--", "true").returncode == 2
    assert home.says("clean") == "nothing is left behind\n"  # what is up is left alone
    assert home.says("down", "mine") == "mine is down\n"
    assert sorted(home.says("down", "--all").splitlines()) == ["far is down", "net is down"]
    assert home.left() == []


@pytest.mark.lab
def test_clean_all_takes_down_what_is_up(home: Home) -> None:
    home.says("up", home.topology("net"), "--kernel", "lab-realtime")
    assert home.says("clean", "--all", "--dry-run") == "would stop: network net\n"
    assert len(json.loads(home.says("status", "--format", "json"))) == 1
    assert "stops: network net" in home.says("clean", "--all")
    assert home.left() == []


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("exec", "a", "--", "true"), 3, "no network is up; to fix it, type: testbed up TOPOLOGY"),
        (("shell", "a"), 3, "no network is up"),
        (("down",), 3, "no network is up"),
        (
            ("down", "net"),
            3,
            "the network 'net' is not up, and no other is; to fix it, type: testbed up TOPOLOGY --name net",
        ),
        (("down", "net", "--all"), 2, "--all and net exclude each other; allowed: one of them"),
        (("exec", "a"), 2, "there is no command to run; allowed: testbed exec a -- COMMAND"),
        (
            ("up", "net.yaml", "--name", "No Name"),
            2,
            "--name 'No Name' cannot be the name of a network; allowed: 1 to 32 of",
        ),
        (
            ("up", "nic.yaml", "--kernel", "lab-realtime"),
            2,
            "node s (nic eth7): a lab kernel cannot use a real NIC; allowed",
        ),
    ],
)
def test_what_cannot_be_is_refused(home: Home, words: tuple[str, ...], status: int, said: str) -> None:
    home.topology("net")
    home.topology("nic", "eth7").rename(home.folder / "nic.yaml")
    done = home.run(*words)
    assert said in done.stderr.decode()
    assert done.returncode == status
    assert home.left() == []


def test_no_network_is_no_error(home: Home) -> None:
    assert home.says("status") == "no network is running; to start one, type: testbed up TOPOLOGY\n"
    assert home.says("status", "--format", "json") == "[]\n"
    assert home.says("clean") == "nothing is left behind\n"
    assert home.says("down", "--all") == ""


@pytest.mark.lab
def test_switches_and_their_controller_stand(home: Home) -> None:
    home.says("up", "sdn-hosts", "--kernel", "lab-realtime")
    ping = ("exec", "left", "--", "ping", "-c", "1", "-W", "60", "10.0.0.2")
    assert "1 received" in home.says(*ping)
    flows = home.says("exec", "s1", "--", "ovs-ofctl", "-O", "OpenFlow13", "dump-flows", "unix:/run/tb-ovs/s1/br0.mgmt")
    assert "actions=output:" in flows
    home.says("down")
    assert home.left() == []


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_virtual_machines_stand_and_take_commands(home: Home) -> None:
    (home.cache / "vm").symlink_to(user_folder() / "vm")
    lacking = [why for why in map(probe.lacking, requirement.of_type(NODE_TYPES["vm"], "host")) if why is not None]
    if lacking:
        pytest.skip(lacking[0].what)
    home.says("up", "vm-to-vm", "--kernel", "host")
    assert "1 received" in home.says("exec", "left", "--", "ping", "-c", "1", "-W", "60", "10.0.0.2")
    done = home.run("exec", "right", "--", "sh", "-c", "cat; echo wrong >&2; exit 7", input=b"given\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"given\n", b"wrong\n")
    shell = home.run("shell", "left", input=b"echo one\nfalse\nexit\n")
    assert (shell.returncode, shell.stdout) == (1, b"one\n")
    home.says("down")
    assert home.left() == []


@pytest.mark.lab
def test_a_step_that_fails_leaves_nothing(home: Home) -> None:
    (home.folder / "bad.yaml").write_text(
        "name: bad\nnodes: {a: {type: host, sysctls: {net.ipv4.tcp_no_such: 1}}, b: {type: host}}\n"
        "links: {path: {ends: [a, b]}}\n"
    )
    refused = home.run("up", "bad.yaml", "--kernel", "lab-realtime")
    assert refused.returncode != 0
    assert "the network bad did not come up: " in refused.stderr.decode()
    assert "tcp_no_such" in refused.stderr.decode()
    assert home.left() == []
