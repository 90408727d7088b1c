"""Real computers over SSH: sshd processes in namespaces play them. They are measured, and left as they were."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml
from leftover import outlive
from machines import Computer, Room, keygen, room, sshd

from testbed.error import MachineError, TestbedError
from testbed.kernel.guest import TrialError
from testbed.kernel.machine import playbook
from testbed.package import which
from testbed.plan.step import Location, Run
from testbed.spec.load import load_scenario, load_topology
from testbed.trial import readiness
from testbed.trial import run as runner
from testbed.trial.measured import need
from testbed.trial.orders.sequence import orders
from testbed.trial.result import TrialResult
from testbed.trial.workload.command import CommandResult

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.xdist_group("machines"),  # they share the computers
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

PATH = {"ends": ["alpha", "beta"], "emulator": "emu", "rate": "100 Mbit/s", "buffer": "100 packets"}
NODES: dict[str, Any] = {
    "alpha": {"type": "machine", "nics": {"path": "eth1"}},
    "beta": {"type": "machine", "nics": {"path": "eth1"}},
    "emu": {"type": "machine", "nics": {"path": ["eth1", "eth2"]}},
}
IPERF3 = {"tool": "iperf3", "from": "alpha", "to": "beta", "duration": "2 s"}
PING = {"tool": "ping", "from": "alpha", "to": "beta", "count": 3}


@pytest.fixture(scope="module")
def computers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """alpha – emu – beta, with settings of their own that are easily lost."""
    if sshd() is None:
        pytest.skip("no sshd, and no network to get one")
    with room(tmp_path_factory.mktemp("room")) as found:
        for name in ("alpha", "beta", "emu"):
            found.add(name)
        found.plug("alpha", "eth1", "emu", "eth1")
        found.plug("emu", "eth2", "beta", "eth1")
        alpha, emu = found.computers["alpha"], found.computers["emu"]
        for words in (
            "ip address add 192.0.2.1/24 dev eth1 label eth1:lab",
            "ip address add 2001:db8::1/64 dev eth1 nodad",
            "ip route add 198.51.100.0/24 via 192.0.2.77 dev eth1 metric 50",
            "ip -6 route add 2001:db8:9::/48 via 2001:db8::77 dev eth1",
            "ip neighbour replace 192.0.2.77 lladdr 02:00:00:00:00:01 dev eth1",
            "ip link set eth1 alias uplink",
            "sysctl -qw net.ipv4.conf.eth1.rp_filter=2 net.ipv4.conf.eth1.arp_ignore=1 net.ipv6.conf.eth1.hop_limit=40",
            "ip link set eth1 mtu 1400",
        ):
            alpha.run(*words.split())
        emu.run("ethtool", "-K", "eth2", "tso", "off")
        emu.run("ip", "link", "set", "eth2", "down")
        yield found


@pytest.fixture(autouse=True)
def _every_machine_stays_as_it_was(computers: Room) -> Iterator[None]:
    readiness._examine.cache_clear()  # between tests machines change
    before = {name: computer.dump() for name, computer in computers.computers.items()}
    yield
    for name, computer in computers.computers.items():
        assert computer.dump() == before[name]


def write(
    computers: Room,
    folder: Path,
    path: dict[str, Any] | None = None,
    nodes: dict[str, Any] | None = None,
    workload: dict[str, Any] = IPERF3,
) -> Path:
    """A scenario file with its topology and its inventory; `path` and `nodes` change them."""
    folder.mkdir(exist_ok=True)
    link = {key: value for key, value in {**PATH, **(path or {})}.items() if value is not None}
    changed = {name: {**node, **(nodes or {}).get(name, {})} for name, node in NODES.items()}
    topology = {"name": "net", "nic": "plain", "nodes": changed, "links": {"path": link}}
    (folder / "net.yaml").write_text(yaml.safe_dump(topology))
    scenario = {"name": "far", "topology": "net.yaml", "kernel": "host", "workload": workload}
    (folder / "far.yaml").write_text(yaml.safe_dump(scenario))
    computers.inventory(folder)
    return folder / "far.yaml"


def run(scenario: Path) -> TrialResult:
    trial = load_scenario(scenario).trials()[0]
    made = orders(trial)
    readiness.check(trial, made)
    folder = scenario.parent / "trial"
    folder.mkdir()
    return runner.run(trial, made, folder)


def run_with(scenario: Path, *steps: Run) -> TrialResult:
    """With steps of somebody else, just before the workload."""
    trial = load_scenario(scenario).trials()[0]
    made = orders(trial)
    at = next(n for n, each in enumerate(made.steps) if isinstance(each, Run) and each.background is not None)
    object.__setattr__(made, "steps", (*made.steps[:at], *steps, *made.steps[at:]))
    folder = scenario.parent / "trial"
    folder.mkdir()
    return runner.run(trial, made, folder)


def journal(computer: Computer) -> bool:
    return Path(f"/proc/{computer.pid}/root/var/lib/testbed/lent.json").exists()


def test_a_machine_in_the_middle_drops_exactly_one_in_x(computers: Room, tmp_path: Path) -> None:
    done = run(write(computers, tmp_path / "spec", {"loss": "1 in 500"}))
    (forward, *_) = [stage for stage in done.stages if stage.way == "forward"]
    assert forward.data_packets > 500
    assert forward.dropped_packets == forward.data_packets // 500
    assert forward.oversize_packets == 0
    assert done.flows[0].retransmits + 1 >= forward.dropped_packets  # the last one may come too late
    assert done.goodput_bps <= 100e6 * 1448 / 1514 * 1.001
    assert done.verdict != "invalid", "\n".join(done.warnings)
    assert done.seen.rtt_s < 0.1


def test_what_each_machine_is_stands_in_the_result(computers: Room, tmp_path: Path) -> None:
    done = run(write(computers, tmp_path / "spec", workload=PING))
    assert set(done.machines) == {"alpha", "beta", "emu"}
    said = done.machines["emu"]
    assert said.release == os.uname().release
    assert said.versions["nftables"].startswith("nftables v")
    assert 0 <= said.cpu_busy <= 1
    assert abs(said.clock_ahead_ns) <= said.round_trip_ns  # here all have one clock
    assert (tmp_path / "spec/trial/sysctls-alpha.txt").read_text().count("\n") > 50
    assert not list((tmp_path / "spec/trial").glob("*.sock"))


@pytest.mark.parametrize(
    ("on", "words", "said"),
    [
        ("alpha", "ip link set eth0 mtu 1000", "tb-alpha: eth0 mtu: asked 1500, the kernel has 1000"),
        (
            "beta",
            "tc qdisc add dev eth0 root handle 7: tbf rate 9mbit burst 20k limit 1m",
            "tb-beta: qdisc 7: of eth0: not asked for, the kernel has tbf, root",
        ),
        ("path.emulator", "ethtool -K end1 gro on", "tb-path.emulator: end1 gro: asked off, the kernel has on"),
        (
            "alpha",
            "sysctl -qw net.ipv4.tcp_no_metrics_save=0",
            "tb-alpha: /proc/sys/net/ipv4/tcp_no_metrics_save: asked 1, the kernel has 0",
        ),
        ("alpha", "ip address add 10.9.0.1/24 dev eth0", "tb-alpha: address 10.9.0.1/24 on eth0: not asked for"),
    ],
    ids=["mtu", "rate", "offload", "sysctl", "address"],
)
def test_what_somebody_changes_on_a_machine_makes_a_trial_invalid(
    computers: Room, tmp_path: Path, on: str, words: str, said: str
) -> None:
    change = Run(tuple(words.split()), where=Location(on=on))
    done = run_with(write(computers, tmp_path / "spec", workload=PING), change)
    found = [each.text for each in done.findings if each.check == "set-up"]
    assert len(found) == 1
    assert found[0].startswith(said)
    assert done.verdict == "invalid"


SERVES = "import socket\nheld = socket.create_server(('', 9999)).accept()[0]\nwhile held.recv(65536):\n    pass"
CONNECTS = "import socket, time\nheld = socket.create_connection(('10.0.0.2', 9999))\ntime.sleep(60)"


def test_a_connection_of_somebody_else_between_machines_makes_a_trial_invalid(computers: Room, tmp_path: Path) -> None:
    def beside(on: str, program: str) -> Run:
        return Run(("python3", "-c", program), where=Location(on=on), background=f"somebody-{on}")

    steps = (beside("beta", SERVES), Run(("sleep", "1"), where=Location(on="beta")), beside("alpha", CONNECTS))
    done = run_with(write(computers, tmp_path / "spec", workload={**PING, "count": 8}), *steps)
    assert done.verdict == "invalid"
    (found,) = (each.text for each in done.findings if each.check == "account")
    assert found.endswith("to 10.0.0.2 port 9999, which was not asked for")


def test_a_cable_that_comes_loose_while_the_workload_runs_makes_a_trial_invalid(
    computers: Room, tmp_path: Path
) -> None:
    steps = (Run(("ip", "link", "set", "end0", way), where=Location(on="path.emulator")) for way in ("down", "up"))
    done = run_with(write(computers, tmp_path / "spec", workload=PING), *steps)
    assert done.verdict == "invalid"
    assert [each.text for each in done.findings if each.check == "cable"] == [
        f"the carrier of eth1 of {name} came or went 2 times while the workload ran" for name in ("alpha", "emu")
    ]


def test_a_link_that_was_asked_to_be_faster_than_its_nics_makes_a_trial_invalid(
    computers: Room, tmp_path: Path
) -> None:
    done = run(write(computers, tmp_path / "spec", {"rate": "20 Gbit/s"}, workload=PING))
    assert done.verdict == "invalid"
    assert [each.text for each in done.findings if each.check == "cable"] == [
        f"{nic} of {name} runs at 10000 Mbit/s, and the link path was asked to have 20000 Mbit/s"
        for name, nic in (("alpha", "eth1"), ("emu", "eth1"), ("beta", "eth1"), ("emu", "eth2"))
    ]


def test_a_machine_that_is_an_end_can_route_and_emulate(computers: Room, tmp_path: Path) -> None:
    folder = tmp_path / "spec"
    write(computers, folder)
    nodes = {
        **{name: {"type": "machine", "nics": {link: "eth1"}} for name, link in (("alpha", "near"), ("beta", "path"))},
        "emu": {"type": "machine", "forward": True, "nics": {"near": "eth1", "path": "eth2"}},
    }
    links = {"near": {"ends": ["alpha", "emu"]}, "path": {**PATH, "ends": ["emu", "beta"], "loss": "1 in 200"}}
    topology = {"name": "net", "nic": "plain", "nodes": nodes, "links": links}
    (folder / "net.yaml").write_text(yaml.safe_dump(topology))
    done = run(folder / "far.yaml")
    (stage, *_) = [each for each in done.stages if each.way == "forward"]
    assert stage.data_packets > 200
    assert stage.dropped_packets == stage.data_packets // 200
    assert "10.0.1.2" in (folder / "trial/plan.sh").read_text()
    assert done.verdict != "invalid"


@pytest.mark.parametrize(
    ("nodes", "path", "said"),
    [
        ({"alpha": {"nics": {"path": "eth9"}}}, {}, r"alpha: there is no network interface eth9 \(it has eth0, eth1\)"),
        (
            {"alpha": {"nics": {"path": "eth0"}}},
            {},
            r"alpha: eth0 has the address 10\.77\.0\.1, over which this very SSH",
        ),
        (
            {"emu": {"sysctls": {"net.core.somaxconn": 77}}},
            {},
            r"emu: its net\.core\.somaxconn is \d+ and not 77: `testbed",
        ),
        ({"alpha": {"host": "nobody.invalid"}}, {}, r"alpha: nobody\.invalid is not known: .*inventory\.yml"),
        (
            {"beta": {"ssh": {"address": "10.77.0.2", "port": 2}}},
            {},
            r"beta: 10\.77\.0\.2 port 2 refuses the connection",
        ),
        (
            {"beta": {"ssh": {"address": "10.77.0.2", "known_hosts": "/dev/null"}}},
            {},
            r"the host key of beta: 10\.77\.0\.2 is not known, and is not taken on trust; .* type: ssh .*-keyscan",
        ),
    ],
    ids=["no-such-nic", "nic-of-the-connection", "setting", "unknown-name", "refuses", "unknown-host-key"],
)
def test_a_machine_that_does_not_fit_is_refused_before_anything_is_touched(
    computers: Room, tmp_path: Path, nodes: dict[str, Any], path: dict[str, Any], said: str
) -> None:
    trial = load_scenario(write(computers, tmp_path / "spec", path, nodes)).trials()[0]
    with pytest.raises(MachineError, match=said):
        readiness.check(trial, orders(trial))


def test_a_delay_is_refused_where_the_kernel_of_the_emulator_has_no_netem(computers: Room, tmp_path: Path) -> None:
    scenario = write(computers, tmp_path / "spec", {"rtt": "10 ms"})
    trial = load_scenario(scenario).trials()[0]
    probe = ("unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "limit", "10")
    if subprocess.run(probe, capture_output=True).returncode:
        with pytest.raises(MachineError, match=r"emu: its kernel has no sch_netem.*sudo modprobe -a sch_netem"):
            readiness.check(trial, orders(trial))
    else:
        assert run(scenario).seen.rtt_s > 0.009


def test_a_missing_tool_is_named_with_its_machine(computers: Room, tmp_path: Path) -> None:
    beta = computers.computers["beta"]
    program = which("iperf3")
    assert program is not None
    beta.run("mount", "--bind", "/dev/null", program)
    try:
        trial = load_scenario(write(computers, tmp_path / "spec")).trials()[0]
        with pytest.raises(MachineError, match=r"beta: it has no iperf3: `testbed machines prepare` installs"):
            readiness.check(trial, orders(trial))
    finally:
        beta.run("umount", program)


TAKE = """\
import socket, sys
server = socket.create_server(("", 8080))
print("listening", flush=True)
while True:
    taken, _ = server.accept()
    count = 0
    while data := taken.recv(65536):
        count += len(data)
    open("took.log", "a").write(f"{count}\\n")
    taken.sendall(b"%d" % count)
    taken.close()
"""
SEND = """\
import socket, sys
link = socket.create_connection((sys.argv[1], 8080))
link.sendall(bytes(int(sys.argv[2])))
link.shutdown(socket.SHUT_WR)
said = link.recv(100).decode()
open(sys.argv[3] + "/said.json", "w").write('{"took": %s}' % said)
print("took", said)
"""
OCTETS = 2_000_000


def programs(folder: Path, **client: Any) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    (folder / "take.py").write_text(TAKE)
    (folder / "send.py").write_text(SEND)
    words = ["python3", "send.py", "{server.address}", str(OCTETS), "{out}"]
    return {
        "tool": "command",
        "server": {"at": "beta", "run": ["python3", "take.py"], "ready": {"output": "listening"}},
        "client": {"at": "alpha", "run": words, "runs": 2, "start": "300 ms", "pause": "100 ms", **client},
        "from": "alpha",
        "measure": {"took": {"json": "out/said.json", "key": "$.took"}, "goodput": {"bytes": f"{OCTETS} B"}},
        "collect": ["took.log"],
        "files": ["take.py", "send.py"],
    }


def parts_left(computers: Room) -> list[str]:
    """What programs left on the computers: files in their folder, packed files."""
    folders = [Path(f"/proc/{each.pid}/root/var/lib/testbed") for each in computers.computers.values()]
    known = ("programs", "command-static", "observe-static", "lent.json", "lent.py", "lock")
    return [path.name for folder in folders for path in folder.rglob("*") if path.name not in known]


def test_programs_run_on_machines_as_in_one_kernel(computers: Room, tmp_path: Path) -> None:
    folder = tmp_path / "spec"
    done = run(write(computers, folder, {"loss": "1 in 500"}, workload=programs(folder)))
    assert {each.check for each in done.findings if each.verdict != "valid"} <= {"CPU", "programs"}, done.findings
    assert done.verdict != "invalid"
    said = need(CommandResult, done.measured)
    assert [(each.number, each.status) for each in said.runs] == [(1, 0), (2, 0)]
    first, second = said.runs
    assert first.begin_s >= 0.3
    assert second.begin_s - first.begin_s - first.elapsed_s >= 0.1
    assert said.values["took"].values == (OCTETS, OCTETS)
    assert said.traffic["beta"].payload_in_bytes >= 2 * OCTETS
    assert said.traffic["alpha"].tcp_resent_segments >= done.stages[0].dropped_packets > 0
    assert (folder / "trial/command-server-1-took.log").read_text() == f"{OCTETS}\n" * 2
    assert (folder / "trial/command-client-2.out").read_text() == f"took {OCTETS}\n"
    assert done.flows[0].goodput_bps <= 100e6 * 1448 / 1514
    assert said.stopped == {"server": "asked"}
    ports = {
        each["destination_port"] for each in pyarrow.parquet.read_table(folder / "trial/samples.parquet").to_pylist()
    }
    assert 8080 in ports
    assert parts_left(computers) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"run": ["sh", "-c", "echo it broke; exit 3"]}, r"the program client \(sh .*ended with status 3.*it broke"),
        ({"run": ["sleep", "100"], "limit": "1 s"}, r"program client \(sleep 100\).*still ran after its limit of 1 s"),
        ({"run": ["./nothing"]}, r"it cannot be started: No such file"),
        ({"user": "nobody-here"}, r"there is no user nobody-here"),
    ],
    ids=["status", "limit", "file", "user"],
)
def test_a_program_that_fails_on_a_machine_ends_the_trial_with_its_reason(
    computers: Room, tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    folder = tmp_path / "spec"
    folder.mkdir()
    (folder / "nothing").write_text("#!/there/is/no/interpreter\n")
    (folder / "nothing").chmod(0o755)
    with pytest.raises(TrialError, match=f"(?s){says}"):
        run(write(computers, folder, workload=programs(folder, **{"runs": 1, **changes})))
    assert set(parts_left(computers)) <= {"command-files.tar"}


def test_a_server_that_is_never_ready_on_a_machine_is_said(computers: Room, tmp_path: Path) -> None:
    folder = tmp_path / "spec"
    workload = programs(folder)
    workload["server"] |= {"run": ["sh", "-c", "echo waiting; sleep 100"], "ready": {"tcp": 8080}, "ready_limit": "5 s"}
    with pytest.raises(TrialError, match=r"(?s)the program server .*was not ready \(tcp:8080\) after 5 s.*waiting"):
        run(write(computers, folder, workload=workload))


def test_a_program_that_a_machine_lacks_is_said_before_anything_runs(computers: Room, tmp_path: Path) -> None:
    folder = tmp_path / "spec"
    trial = load_scenario(write(computers, folder, workload=programs(folder, run=["no-such-program"]))).trials()[0]
    with pytest.raises(MachineError, match=r"alpha: it has no no-such-program"):
        readiness.check(trial, orders(trial))


def test_a_key_that_is_not_accepted_is_told_with_what_to_type(computers: Room, tmp_path: Path) -> None:
    keygen(tmp_path / "other")
    ssh = {"address": "10.77.0.2", "user": "root", "key": str(tmp_path / "other")}
    ssh["known_hosts"] = str(computers.known_hosts())
    trial = load_scenario(write(computers, tmp_path / "spec", {}, {"beta": {"ssh": ssh}})).trials()[0]
    with pytest.raises(MachineError, match=r"beta: root@10\.77\.0\.2 accepts none of our keys.*type: ssh-copy-id"):
        readiness.check(trial, orders(trial))


def test_another_host_key_than_the_known_one_is_called_that(computers: Room, tmp_path: Path) -> None:
    alpha, beta = computers.computers["alpha"], computers.computers["beta"]
    known = tmp_path / "known_hosts"
    known.write_text(f"{beta.address} {(alpha.folder / 'host_key.pub').read_text()}")
    ssh = {"address": beta.address, "user": "root", "key": str(computers.key), "known_hosts": str(known)}
    trial = load_scenario(write(computers, tmp_path / "spec", {}, {"beta": {"ssh": ssh}})).trials()[0]
    with pytest.raises(MachineError, match=r"shows another host key than the one in .*known_hosts"):
        readiness.check(trial, orders(trial))


def test_a_step_that_fails_leaves_every_machine_as_it_was(computers: Room, tmp_path: Path) -> None:
    trial = load_scenario(write(computers, tmp_path / "spec")).trials()[0]
    made = orders(trial)
    steps = (*made.steps[:-8], Run(("ls", "sabotage"), where=Location(on="path.emulator")))
    object.__setattr__(made, "steps", steps)
    with pytest.raises(TrialError, match=r"ls sabotage: exit status 2"):
        runner.run(trial, made, tmp_path)


KILLED = """
import sys
from pathlib import Path
from testbed.spec.load import load_scenario
from testbed.trial import run
from testbed.trial.orders.sequence import orders
trial = load_scenario(Path(sys.argv[1])).trials()[0]
run.run(trial, orders(trial), Path(sys.argv[2]), progress=lambda lab_s: print("alive", flush=True))
"""


@contextmanager
def begun(computers: Room, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A long trial whose workload runs."""
    scenario = write(computers, folder / "spec", workload={**IPERF3, "duration": "300 s"})
    (folder / "trial").mkdir()
    words = (sys.executable, "-c", KILLED, scenario, folder / "trial")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "alive\n"
            assert all(journal(computer) for computer in computers.computers.values())
            yield process
        finally:
            process.kill()


def residents(computers: Room) -> list[int]:
    """What stands on the machines for trials. A child has its name until it is a program, and does not count."""
    theirs = {os.stat(f"/proc/{computer.pid}/ns/pid").st_ino for computer in computers.computers.values()}
    parents = {}
    for path in Path("/proc").iterdir():
        with suppress(OSError):
            if path.name.isdigit() and os.stat(path / "ns/pid").st_ino in theirs:
                words = (path / "cmdline").read_bytes().split(b"\0")
                if words[0] == b"python3" and b"-ISB" in words:
                    parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
    return [pid for pid, parent in parents.items() if parent not in parents]


def test_a_run_that_is_killed_gives_everything_back(computers: Room, tmp_path: Path) -> None:
    with begun(computers, tmp_path) as process:
        there = residents(computers)
        assert len(there) == 3
        process.kill()
    assert outlive(there) == []


def test_what_a_resident_that_was_killed_left_is_given_back_by_the_next_trial(computers: Room, tmp_path: Path) -> None:
    with begun(computers, tmp_path) as process:
        there = residents(computers)
        for pid in there:
            os.kill(pid, 9)
        process.wait()
    assert outlive(there) == []
    assert all(journal(computer) for computer in computers.computers.values())
    run(write(computers, tmp_path / "again", workload=PING))


def test_restore_gives_back_what_a_resident_that_was_killed_left(computers: Room, tmp_path: Path) -> None:
    with begun(computers, tmp_path) as process:
        for pid in residents(computers):
            os.kill(pid, 9)
        process.wait()
    playbook.play("restore", load_topology(tmp_path / "spec/net.yaml"))


def test_restore_says_what_it_could_not_restore_and_restores_it_later(computers: Room, tmp_path: Path) -> None:
    emu = computers.computers["emu"]
    topology = load_topology(write(computers, tmp_path / "spec").with_name("net.yaml"))
    playbook.play("prepare", topology)
    emu.run("ip", "link", "set", "eth2", "name", "eth9")
    with pytest.raises(TestbedError, match=r"emu: .*not restored, try again: eth2 is not there") as refused:
        playbook.play("restore", topology)
    assert "alpha" not in str(refused.value)
    emu.run("ip", "link", "set", "eth9", "name", "eth2")
    assert playbook.play("restore", topology).changed["emu"] > 0


def test_nothing_is_prepared_or_restored_under_a_trial(computers: Room, tmp_path: Path) -> None:
    topology = load_topology(write(computers, tmp_path / "spec").with_name("net.yaml"))
    emu = computers.computers["emu"]
    held = Path(f"/proc/{emu.pid}/root/var/lib/testbed/lock")
    held.parent.mkdir(exist_ok=True)
    with held.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in ("prepare", "restore"):
            with pytest.raises(TestbedError, match=r"emu: .*a trial is running on it"):
                playbook.play(name, topology)
        assert held.exists()
    playbook.play("restore", topology)


def test_two_trials_do_not_share_a_machine(computers: Room, tmp_path: Path) -> None:
    with begun(computers, tmp_path) as process:
        there = residents(computers)
        trial = load_scenario(write(computers, tmp_path / "other", workload=PING)).trials()[0]
        with pytest.raises(MachineError, match="another trial is running on it"):
            readiness.check(trial, orders(trial))
        process.terminate()
    assert outlive(there) == []


def test_machines_are_prepared_once_and_restored_exactly(computers: Room, tmp_path: Path) -> None:
    nodes = {"alpha": {"sysctls": {"net.core.somaxconn": 7777, "net.ipv4.tcp_sack": 0}}}
    scenario = write(computers, tmp_path / "spec", nodes=nodes, workload=PING)
    topology = load_topology(scenario.with_name("net.yaml"))
    alpha, emu = computers.computers["alpha"], computers.computers["emu"]
    first = playbook.play("prepare", topology)
    assert first.changed["alpha"] > 0
    assert alpha.run("sysctl", "-n", "net.core.somaxconn") == "7777\n"
    assert "generic-segmentation-offload: off" in emu.run("ethtool", "-k", "eth1")
    assert "tx-udp-segmentation: off" in emu.run("ethtool", "-k", "eth1")
    assert playbook.play("prepare", topology).changed == {"alpha": 0, "beta": 0, "emu": 0}
    run(scenario)
    assert alpha.run("sysctl", "-n", "net.core.somaxconn") == "7777\n"
    playbook.play("collect", topology, tmp_path)
    looked = json.loads((tmp_path / "emu.json").read_text())
    assert "generic-segmentation-offload: off" in looked["offloads"]
    assert os.uname().release in looked["kernel"]
    playbook.play("restore", topology)
    assert playbook.play("restore", topology).changed == {"alpha": 0, "beta": 0, "emu": 0}
