"""The host's own kernel, in real time: what it can do is done, what it lacks is named, and the host stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from leftover import adopting, descendants, host_unchanged, outlive, processes_below
from trials import Ran, make_trial

from testbed.error import MachineError
from testbed.kernel import host
from testbed.kernel.guest import TrialError
from testbed.spec.scenario.trial import trial_of
from testbed.trial import readiness, run
from testbed.trial.measured import PingResult, need
from testbed.trial.orders.sequence import orders

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

PLAIN_LINK = {"rate": None, "rtt": None, "buffer": None}
"""Nothing to emulate: a pair of virtual Ethernet devices is all that the kernel must have."""

ONE_TRIAL = """
import sys
from pathlib import Path
from trials import make_trial
from test_host import PLAIN_LINK
from testbed.trial import run
from testbed.trial.orders.sequence import orders
trial = make_trial(path=PLAIN_LINK, kernel="host", workload={"duration": "100 s"})
run.run(trial, orders(trial), Path(sys.argv[1]), progress=lambda lab_s: print("alive", flush=True))
"""


@pytest.fixture(autouse=True)
def _the_host_stays_as_it_was() -> Iterator[None]:
    with host_unchanged():
        yield


def test_a_link_that_needs_nothing_of_the_kernel_works_everywhere(
    run_trial: Callable[..., Ran], tmp_path: Path
) -> None:
    ran = run_trial(path=PLAIN_LINK, kernel="host")
    assert ran.result.kernel == "host"
    assert ran.result.kernel_release == os.uname().release
    assert ran.result.goodput_bps > 0
    assert ran.result.seen.rtt_s < 0.01
    assert "invalid" not in ran.findings.values()  # suspect, if the machine is busy
    assert outlive(processes_below(tmp_path)) == []


def test_downloads_datagrams_and_background_traffic_work_there_too(
    run_trial: Callable[..., Ran], tmp_path: Path
) -> None:
    http = {"tool": "http", "sizes": ["1 B", "1 MB"], "concurrency": 4}
    web = {"pattern": "heavy-tailed", "from": "a", "to": "b", "arrivals": "50 /s", "size": {"mean": "10 kB"}}
    ran = run_trial(path=PLAIN_LINK, kernel="host", workload=http, background={"web": {**web, "duration": "5 s"}})
    assert len(ran.http.downloads) == 8
    assert ran.backgrounds["web"].planned_flows > 100
    udp = {"tool": "udp", "rate": "10 Mbit/s", "duration": "1 s"}
    ran = run_trial(path=PLAIN_LINK, kernel="host", workload=udp)
    assert ran.udp.sent_datagrams == 893  # every 1.12 ms
    assert ran.udp.delay_min_s < 0.1
    assert outlive(processes_below(tmp_path)) == []


@pytest.mark.parametrize(
    "path",
    [{"rtt": None, "buffer": "100 packets"}, {"rate": None, "buffer": None}, {}],
    ids=["rate", "delay", "rate-and-delay"],
)
def test_an_emulator_works_or_is_refused_with_the_names_of_what_is_missing(
    run_trial: Callable[..., Ran], path: dict[str, None]
) -> None:
    trial = make_trial(path=path, kernel="host")
    needed = {"nft"} | ({"tbf"} if "rate" not in path else set()) | ({"netem"} if "rtt" not in path else set())
    lacking = [name for name in needed if host.tried(name) is not None]
    if lacking:
        said = rf"^link path: this machine's kernel has no ({'|'.join(lacking)}) \(.*type: sudo modprobe"
        with pytest.raises(MachineError, match=said) as refused:
            readiness.check(trial, orders(trial))
        assert refused.value.exit_code == 3
        return
    ran = run_trial(path=path, kernel="host")
    # On the wall clock timers are late by up to a millisecond and the gate says what else was.
    assert ran.result.goodput_bps < 1.05 * (ran.result.asked.rate_bps or float("inf"))


def test_a_kernel_that_is_not_root_s_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    trial = make_trial(path=PLAIN_LINK, kernel="host")
    with pytest.raises(
        MachineError, match=r"the host's kernel needs root; to fix it, type: sudo \S+ …, or a lab kernel"
    ):
        readiness.check(trial, orders(trial))


def test_a_step_that_fails_leaves_nothing_on_the_host(run_trial: Callable[..., Ran], tmp_path: Path) -> None:
    with pytest.raises(TrialError, match=r"ls sabotage: exit status 2"):
        run_trial(path=PLAIN_LINK, kernel="host", tamper=lambda steps: (*steps[:-3], {"run": ["ls", "sabotage"]}))
    assert outlive(processes_below(tmp_path)) == []


def test_a_run_that_is_killed_leaves_nothing_on_the_host(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    words = (sys.executable, "-c", ONE_TRIAL, tmp_path)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "alive\n"
        inside = [pid for pid in processes_below(tmp_path) if pid != process.pid]
        assert inside
        process.kill()
    assert outlive(inside) == []
    assert outlive(processes_below(tmp_path)) == []


def test_open_vswitch_runs_beside_that_of_the_system_and_goes_with_the_trial(tmp_path: Path) -> None:
    """In user space, which needs no module, with daemons of its own. The first ping, its answer and the next ping go to
    the controller, and no others once it has said what to do; on a busy computer that may be late.
    """
    nodes = {
        "a": {"type": "host"},
        "b": {"type": "host"},
        "s": {"type": "ovs", "datapath": "user"},
        "c": {"type": "controller", "app": "learning-switch"},
    }
    links = {"one": {"ends": ["a", "s"]}, "two": {"ends": ["s", "b"]}}
    rest = {"id": "t", "params": {}, "repetition": 0, "seed": 1, "kernel": "host"}
    ping = {"tool": "ping", "from": "a", "to": "b", "count": 8, "interval": "1 s"}
    trial = trial_of({**rest, "topology": {"name": "net", "nodes": nodes, "links": links}, "workload": ping}, "test")
    with adopting():
        done = run.run(trial, orders(trial), tmp_path)
        assert descendants("ovs-vswitchd") == set()
    assert need(PingResult, done.measured).received == 8
    assert done.sdn is not None
    assert 3 <= done.sdn.controllers["c"].packet_ins["s"] < 2 * 8
    switch = done.sdn.switches["s"]
    assert (switch.datapath, switch.flows_after - switch.flows_before) == ("user", 2)
    assert not Path("/run/tb-ovs").exists()
