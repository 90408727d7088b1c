"""The real Mininet in the lab kernel: rates and delays, the same numbers as our own engine, and its own tests."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import private
import pytest
from patience import PATIENCE_S
from test_udp_segment import senders
from trials import Ran

from testbed import package, process
from testbed.error import MachineError
from testbed.kernel import lab
from testbed.kernel.image.cache import find
from testbed.native_program import tools
from testbed.package import MININET_DRIVER, MININET_PYTHON
from testbed.plan.step import Run, step_of
from testbed.spec import mininet_import
from testbed.spec.load import load_topology
from testbed.spec.topology.file import TopologyFile
from testbed.trial.folder import same_files

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(mininet_import.missing() is not None, reason="there is no Mininet: apt-get install mininet"),
]

RunTrial = Callable[..., Ran]
HERE = Path(__file__).parent

FRAME_BYTES, PAYLOAD_BYTES = 1514, 1448
HOSTS = {name: {"type": "host"} for name in ("a", "b", "c")}
SWITCHES = {name: {"type": "switch"} for name in ("west", "east")}


def over_switches(port: str = "1 Gbit/s", **middle: Any) -> dict[str, Any]:
    """Two hosts on ports of switches, and what is asked of the link between those."""
    return {
        "nodes": {"a": HOSTS["a"], "b": HOSTS["b"], **SWITCHES},
        "links": {
            "left": {"ends": ["a", "west"], "rate": port},
            "middle": {"ends": ["west", "east"], **middle},
            "right": {"ends": ["east", "b"], "rate": port},
        },
    }


TCLINK = {"rate": "100 Mbit/s", "rtt": "20 ms"}
NETWORKS: dict[str, dict[str, Any]] = {
    "tclinks": over_switches(**TCLINK),
    "tclink-of-a-gigabit": over_switches("none", rate="1 Gbit/s", rtt="2 ms"),
    "buffer": over_switches(**TCLINK, buffer="1 bdp"),
    "periodic-loss": over_switches("none", **TCLINK, loss="1 in 500"),
    "asymmetric": over_switches(rate="100 Mbit/s", delay={"forward": "3 ms", "backward": "7 ms"}),
    "routers": {
        "nodes": {"a": HOSTS["a"], "b": HOSTS["b"], "one": {"type": "router"}, "two": {"type": "router"}},
        "links": {
            "left": {"ends": ["a", "one"], "rate": "1 Gbit/s"},
            "middle": {"ends": ["one", "two"], "rate": "200 Mbit/s", "rtt": "10 ms", "buffer": "100 packets"},
            "right": {"ends": ["two", "b"], "rate": "1 Gbit/s"},
        },
    },
}


PINGED = ("tclinks", "routers")
"""Those in which `ping` is tried in `make test`; the pings before each flow are looked at in all."""


def network(name: str, engine: str = "mininet") -> dict[str, Any]:
    return {"name": "net", "engine": engine, "nic": "plain", **NETWORKS[name]}


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=() if each in PINGED else pytest.mark.nightly) for each in NETWORKS]
)
def test_every_ping_takes_what_was_asked_within_a_thousandth(run_trial: RunTrial, name: str) -> None:
    ping = {"tool": "ping", "count": 10, "interval": "100 ms"}
    ran = run_trial(topology=network(name), workload=ping)
    found, asked_s = ran.ping, ran.result.asked.rtt_s
    # Ping prints microseconds; a frame of 98 bytes at 100 Mbit/s takes 8 µs, unless a full bucket lets it go.
    assert found.rtt_min_s == pytest.approx(asked_s, rel=1e-3)
    assert found.rtt_max_s == pytest.approx(asked_s, rel=1e-3)
    assert (ran.result.engine, ran.result.mininet_version) == ("mininet", "2.3.0")
    assert not [each for each in ran.result.findings if each.check != "loss"]  # pings are not lost


FULL = [
    pytest.param(
        rate, kind, id=f"{rate}-{'emulator' if kind else 'tclink'}", marks=pytest.mark.nightly if seldom else ()
    )
    for kind in ({}, {"buffer": "1500 kB"})
    for rate, seldom in (("1 Mbit/s", False), ("10 Mbit/s", kind), ("100 Mbit/s", kind), ("1 Gbit/s", False))
]
"""An emulator is the same in both engines: `make test` tries it at the lowest and at the highest rate."""


@pytest.mark.parametrize(("rate", "kind"), FULL)
def test_a_full_link_carries_its_rate_within_a_thousandth(run_trial: RunTrial, kind: dict[str, str], rate: str) -> None:
    middle = over_switches("none", rate=rate, rtt="10 ms", **kind)
    topology = {"name": "net", "engine": "mininet", "nic": "plain", **middle}
    duration = {"1 Mbit/s": "40 s", "10 Mbit/s": "10 s"}.get(rate, "2 s")
    # The window is more than one BDP and less than BDP and buffer.
    window = {"1 Gbit/s": "2 MB", "100 Mbit/s": "150 kB"}.get(rate, "30 kB")
    workload = {"duration": duration, "window": window, "leave_out": "1 s"}
    ran = run_trial(topology=topology, workload=workload)
    assert len(ran.result.tclinks) == (2 if not kind else 0)
    line_bps = ran.result.asked.rate_bps * PAYLOAD_BYTES / FRAME_BYTES
    assert ran.result.goodput_bps == pytest.approx(line_bps, rel=1e-3)
    assert ran.result.seen.queue_drops == 0
    assert ran.result.verdict == "valid"


SHORT = {"tclink-of-a-gigabit": {"duration": "3 s", "leave_out": "1 s"}}
"""As many packets as the others have in ten seconds, and more."""
WITHIN = {"periodic-loss": 1 / 29}
"""CUBIC keeps whole segments. With 29 in its window, a loss that comes a millisecond earlier can make ssthresh 20 in
place of 21, and from then on the window is one segment smaller.
"""


@pytest.mark.parametrize("name", NETWORKS)
def test_goodput_is_that_of_our_own_engine(run_trial: RunTrial, name: str) -> None:
    workload = SHORT.get(name, {"duration": "10 s", "leave_out": "2 s"})
    ours, theirs = (run_trial(topology=network(name, engine), workload=workload) for engine in ("netns", "mininet"))
    asked_s, seen = theirs.result.asked.rtt_s, theirs.result.seen
    assert (seen.rtt_s, seen.rtt_max_s) == (pytest.approx(asked_s, rel=1e-3), pytest.approx(asked_s, rel=1e-3))
    assert (theirs.result.engine, theirs.result.mininet_version) == ("mininet", "2.3.0")
    assert theirs.result.goodput_bps == pytest.approx(ours.result.goodput_bps, rel=WITHIN.get(name, 5e-3))
    assert not [each for each in theirs.result.findings if each.verdict != "valid"]


def test_a_seed_repeats_every_byte_in_mininet(run_trial: RunTrial) -> None:
    workload = {"duration": "2 s", "flows": 4}
    first, again = (run_trial(topology=network("periodic-loss"), workload=workload, seed=7) for _ in range(2))
    assert same_files(first.folder, again.folder) == ()


def test_a_queue_of_the_sender_makes_a_trial_suspect(run_trial: RunTrial) -> None:
    topology = {
        "name": "net",
        "engine": "mininet",
        "nodes": {"a": HOSTS["a"], "b": HOSTS["b"]},
        "links": {"wire": {"ends": ["a", "b"], "rate": "10 Mbit/s", "rtt": "20 ms"}},
    }
    ran = run_trial(topology=topology, workload={"duration": "5 s"})
    assert ran.result.verdict == "suspect"
    assert ran.result.seen.queue_drops == ran.result.tclinks[0].queue_drops > 0
    assert any("the sender's own device" in text for text in ran.result.warnings)


def test_superpackets_of_datagrams_in_a_queue_of_the_sender_make_a_trial_invalid(run_trial: RunTrial) -> None:
    """40 at once overflow the queue of a faster link behind it, and 900 of 2000 are lost."""
    links = over_switches("20 Mbit/s", rate="50 Mbit/s", buffer="20 packets")
    topology = {"name": "net", "engine": "mininet", "nic": "plain", **links}
    together = run_trial(topology=topology, workload=senders("a"))
    assert together.result.verdict == "invalid"
    assert together.findings["frame size"] == "invalid"
    alone = run_trial(topology=topology, workload=senders("a", together=1))
    assert (alone.result.verdict, alone.result.seen.queue_drops) == ("valid", 0)


def test_a_topology_in_python_runs(run_trial: RunTrial) -> None:
    topology = load_topology(HERE.parent / "topologies" / "mininet-campus.yaml")
    written = TopologyFile.of(topology).written()
    ping = {"tool": "ping", "from": "h1", "to": "h4", "count": 5, "interval": "100 ms"}
    ran = run_trial(topology=written, workload=ping)
    # Two links of 2 ms and two of 1 ms, there and back; three switches ask first, over a channel that takes no time.
    asking = ran.ping.first_rtts_s
    assert asking[2] == pytest.approx(0.012, rel=1e-3)
    assert 0.012 < asking[1] < asking[0] < 0.013
    assert ran.result.sdn.controllers["c0"].packet_ins == {"s1": 3, "s2": 3, "s3": 3}
    assert ran.result.verdict == "valid"


def sdn(datapath: str, engine: str, **middle: Any) -> dict[str, Any]:
    """Two hosts, two Open vSwitches, and a controller 10 ms away from them."""
    switches = {name: {"type": "ovs", "datapath": datapath} for name in ("s1", "s2")}
    controller = {"type": "controller", "app": "learning-switch", "control": {"rtt": "10 ms"}}
    links = {
        "left": {"ends": ["a", "s1"], "rate": "100 Mbit/s"},
        "middle": {"ends": ["s1", "s2"], "rtt": "4 ms", **middle},
        "right": {"ends": ["s2", "b"]},
    }
    nodes = {"a": HOSTS["a"], "b": HOSTS["b"], **switches, "c0": controller}
    return {"name": "net", "engine": engine, "nic": "plain", "nodes": nodes, "links": links}


@pytest.mark.parametrize("datapath", ["kernel", "user"])
@pytest.mark.parametrize("middle", [{}, {"loss": "1 in 500"}], ids=["tclink", "emulator"])
def test_first_pings_ask_the_controller_of_open_vswitches_in_mininet(
    run_trial: RunTrial, datapath: str, middle: dict[str, str]
) -> None:
    """Each of two switches asks for the ping and its answer, and then for the next ping."""
    workload = {"tool": "ping", "count": 4, "interval": "1 s"}
    ran = run_trial(topology=sdn(datapath, "mininet", **middle), workload=workload)
    first = ran.ping.first_rtts_s
    for seen_s, exchanges in zip(first, (4, 2, 0), strict=True):
        assert 0 <= seen_s - (4e-3 + exchanges * 10e-3) <= 2 * 0.3e-3
    found = ran.result.sdn
    assert found.controllers["c0"].packet_ins == {"s1": 3, "s2": 3}
    for switch in found.switches.values():
        assert (switch.datapath, switch.lost_packets, switch.connected_before) == (datapath, 0, True)
        assert (switch.flows_before, switch.flows_after) == (1, 3)
    assert (ran.result.engine, ran.result.mininet_version) == ("mininet", "2.3.0")
    # Pings are not lost.
    assert {each.check for each in ran.result.findings if each.verdict != "valid"} <= {"loss"}


@pytest.mark.parametrize("datapath", ["kernel", pytest.param("user", marks=pytest.mark.nightly)])
def test_goodput_over_open_vswitches_is_that_of_our_own_engine(run_trial: RunTrial, datapath: str) -> None:
    ours, theirs = (
        run_trial(topology=sdn(datapath, engine), workload={"duration": "4 s", "leave_out": "2 s"})
        for engine in ("netns", "mininet")
    )
    assert theirs.result.goodput_bps == pytest.approx(ours.result.goodput_bps, rel=5e-3)
    assert theirs.result.sdn.switches["s1"].lost_packets == 0
    assert not [each for each in theirs.result.findings if each.verdict != "valid"]


def test_a_switch_in_mininet_forgets_its_controller_as_its_fail_mode_says(run_trial: RunTrial) -> None:
    topology = sdn("kernel", "mininet")
    topology["nodes"] |= {name: {"type": "ovs", "fail_mode": "standalone"} for name in ("s1", "s2")}
    topology["nodes"]["c0"]["stop"] = "1 us"
    ran = run_trial(topology=topology, workload={"tool": "ping", "count": 25, "interval": "1 s"})
    assert ran.ping.first_rtts_s[0] is None
    assert ran.ping.received > 0
    assert {each.connected_after for each in ran.result.sdn.switches.values()} == {False}


@pytest.mark.parametrize("datapath", ["kernel", "user"])
def test_open_vswitch_of_mininet_forwards_without_a_daemon_of_the_machine(tmp_path: Path, datapath: str) -> None:
    folder = "/run/tb-ovs/s"
    options = {"folder": folder, "targets": [], "failMode": "standalone", "datapath": datapath}
    tc = {"bw": 100.0, "delay": "5ms", "max_queue_size": 1000}
    macs = (f"02:54:42:00:00:0{n}" for n in range(4))

    def link(host: str, device: str) -> dict[str, Any]:
        ends = (("s", device), (host, "eth0"))
        return {"ends": [{"node": n, "device": d, "mac": next(macs)} for n, d in ends], "mtu_bytes": 1500, "tc": tc}

    said = {
        "pid_file": "/run/tb.mininet",
        "hosts": [{"name": name, "netns": f"tb-{name}", "kind": "host"} for name in ("a", "b")],
        "switches": [{"name": "s", "netns": "tb-s", "kind": "ovs", "options": options}],
        "links": [link("a", "eth0"), link("b", "eth1")],
    }
    driver = [*MININET_PYTHON, f"/run/tools/{MININET_DRIVER}"]
    ovs = ["env", f"OVS_RUNDIR={folder}"]
    addresses = [
        {"run": ["ip", "address", "add", f"10.0.0.{n}/24", "dev", "eth0"], "netns": f"tb-{name}"}
        for n, name in enumerate("ab", 1)
    ]
    steps: list[dict[str, Any]] = [
        {"run": [*driver, "build", "/run/trial"], "stdin": json.dumps(said)},
        *addresses,
        {"sleep": 2},
        {"run": ["ping", "-c", "5", "-i", "0.2", "10.0.0.2"], "netns": "tb-a", "out": "ping.txt"},
        {"run": [*ovs, "ovs-appctl", "dpctl/show"], "out": "datapath.txt"},
        {"run": [*driver, "remove", "/run/tb.mininet"]},
        {"run": ["ip", "netns"], "out": "left.txt"},
        {"read": {"processes.txt": "/proc/loadavg"}},
    ]
    lab.run(find(None), tuple(map(step_of, steps)), tmp_path, tools=tools(), seed=1, memory_bytes=512 << 20)
    assert "5 received, 0% packet loss" in (tmp_path / "ping.txt").read_text()
    assert "time=20.0 ms" in (tmp_path / "ping.txt").read_text()
    shown = (tmp_path / "datapath.txt").read_text()
    assert {"kernel": "system@ovs-system", "user": "netdev@ovs-netdev"}[datapath] in shown
    assert "lost:0" in shown
    assert (tmp_path / "left.txt").read_text() == ""


def test_what_mininet_only_prints_ends_the_trial(tmp_path: Path) -> None:
    ends = [{"node": name, "device": "eth0", "mac": f"02:54:42:00:00:0{n}"} for n, name in enumerate("ab")]
    said = {
        "pid_file": "/run/tb.mininet",
        "hosts": [{"name": name, "netns": f"tb-{name}", "kind": "host"} for name in ("a", "b")],
        "switches": [],
        "links": [{"ends": ends, "mtu_bytes": 1500, "tc": {"bw": 2000.0}}],  # more than Mininet takes: it ignores it
    }
    driver = (*MININET_PYTHON, f"/run/tools/{MININET_DRIVER}", "build", "/run/trial")
    step = Run(driver, stdin=json.dumps(said))
    with pytest.raises(Exception, match=r"Bandwidth limit 2000\.0 is outside supported range"):
        lab.run(find(None), [step], tmp_path, tools=tools(), seed=1, memory_bytes=512 << 20)


@pytest.fixture(scope="session")
def own_tests() -> Path:
    """The tests in Mininet's source, which Debian's package leaves out; fetched once, by APT."""
    folder = private.SHARED / "mininet-tests"
    if not folder.exists():
        try:
            fetch(folder)
        except (process.CommandError, MachineError, StopIteration) as error:
            pytest.skip(f"Mininet's source cannot be fetched: {error}")
    return folder


def fetch(folder: Path) -> None:
    """Several processes may do so at the same time."""
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.partial-", dir=folder.parent) as name:
        partial = Path(name)
        (partial / "lists" / "partial").mkdir(parents=True)
        (partial / "sources.list").write_text("deb-src http://deb.debian.org/debian bookworm main\n")
        options = {"Dir::Etc::SourceList": partial / "sources.list", "Dir::Etc::SourceParts": "/dev/null"}
        options |= {"Dir::State::Lists": partial / "lists", "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": ""}
        words = ("apt-get", "-q", *(f"-o{key}={value}" for key, value in options.items()))
        process.run((*words, "update"), timeout=PATIENCE_S, cwd=partial)
        process.run((*words, "source", "--tar-only", "mininet"), timeout=PATIENCE_S, cwd=partial)
        process.run(("tar", "--extract", "--file", next(partial.glob("*.orig.tar.*"))), cwd=partial)
        made = next(partial.glob("*/mininet/test"))
        with suppress(OSError):  # another one was sooner
            made.rename(folder)


@pytest.mark.nightly
@pytest.mark.skipif(package.which("ovs-testcontroller") is None, reason="needs ovs-testcontroller: make test")
@pytest.mark.parametrize(("module", "ran", "left_out"), [("test_nets", 6, 0), ("test_hifi", 4, 4)])
def test_mininets_own_tests_pass_inside(tmp_path: Path, own_tests: Path, module: str, ran: int, left_out: int) -> None:
    """Those that its author skips without the reference switch or IVS are skipped; `own-tests.sh` says the rest."""
    shutil.copytree(own_tests, tmp_path / "own")
    script = (HERE / "mininet" / "own-tests.sh").read_text()
    life = Run(("/run/tools/observe", "/run/trial/life.bin", "1000000000"), background="life")
    step = Run(("sh", "-s", "/run/trial/own", module), stdin=script, out="own.txt", err="own.txt")
    try:
        lab.run(find(None), [life, step], tmp_path, tools=tools(), seed=1, memory_bytes=1 << 30)
    finally:
        said = (tmp_path / "own.txt").read_text()
        print(said)
    skipped = said.count("... skipped")
    assert f"ran {ran + skipped}, skipped {skipped}, left out {left_out}, failed 0" in said
