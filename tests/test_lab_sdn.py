"""Open vSwitch and controllers in the lab kernel: what first packets pay, what apps do, what happens without them."""

from __future__ import annotations

import filecmp
import shlex
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from trials import Ran, Steps, adding, tampered

from testbed.kernel.guest import TrialError
from testbed.model.scenario import Trial
from testbed.plan.node.namespace import node_netns
from testbed.spec.load import load_scenario, load_topology
from testbed.spec.scenario.trial import trial_of
from testbed.spec.topology.file import TopologyFile
from testbed.trial import run as runner
from testbed.trial.folder import NOT_REPEATED
from testbed.trial.orders.sequence import orders

pytestmark = pytest.mark.lab

ROOT = Path(__file__).parents[1]
RYU = (Path(__file__).parent / "data" / "ryu_switch_13.py").read_text()
EXCHANGE_S = 0.3e-3
"""What a first ping may take longer than its round trips to the controller."""

PING = {"tool": "ping", "from": "a", "to": "b", "count": 4, "interval": "1 s"}
FLOW = {"tool": "flow", "from": "a", "to": "b", "duration": "1 s"}
DENY_SSH = [
    {"action": "allow", "from": "a", "to": "b", "protocol": "tcp", "port": 80},
    {"action": "deny", "protocol": "tcp"},
]

HANDLER = """
from ryu.base import app_manager
from ryu.controller import ofp_event
from ryu.controller.handler import CONFIG_DISPATCHER, set_ev_cls
class Forgetful(app_manager.RyuApp):
    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def greet(self, ev):
        self.forgotten[ev.msg.datapath.id] = 1
"""


def line_of(switches: int, controller: Mapping[str, Any], ovs: Mapping[str, Any], neighbours: str) -> dict[str, Any]:
    """a – s1 – s2 – … – b, with a rate on the first link."""
    names = [f"s{number}" for number in range(1, switches + 1)]
    ends = list(zip(["a", *names], [*names, "b"], strict=True))
    return {
        "name": "line",
        "neighbours": neighbours,
        "nodes": {
            "a": {"type": "host"},
            "b": {"type": "host"},
            **{name: {"type": "ovs", **ovs} for name in names},
            "c": {"type": "controller", "app": "learning-switch", **controller},
        },
        "links": {
            f"l{n}": {"ends": list(pair), **({} if n else {"rate": "100 Mbit/s"})} for n, pair in enumerate(ends)
        },
    }


def sdn_trial(
    switches: int = 1,
    controller: Mapping[str, Any] | None = None,
    ovs: Mapping[str, Any] | None = None,
    workload: Mapping[str, Any] = PING,
    neighbours: str = "static",
    **changes: Any,
) -> Trial:
    topology = line_of(switches, controller or {}, ovs or {}, neighbours)
    rest = {"id": "t", "params": {}, "repetition": 0, "seed": 1, "topology": topology}
    return trial_of({**rest, "workload": dict(workload), **changes}, "test")


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    count = iter(range(1000))

    def carry_out(trial: Trial | None = None, tamper: Callable[[Steps], Steps] | None = None, **about: Any) -> Ran:
        trial = trial or sdn_trial(**about)
        made = orders(trial)
        folder = tmp_path / f"trial-{next(count)}"
        folder.mkdir()
        done = runner.run(trial, made if tamper is None else tampered(made, tamper), folder)
        return Ran(trial, made, folder, done)

    return carry_out


def first_rtts_s(ran: Ran) -> list[float]:
    return list(ran.ping.first_rtts_s)


def text_of(ran: Ran, check: str) -> str:
    return next(each.text for each in ran.result.findings if each.check == check)


@pytest.mark.parametrize("rtt_ms", [2, 10, 40, 100])
@pytest.mark.parametrize(("neighbours", "exchanges"), [("learned", (3, 0, 0)), ("static", (2, 1, 0))])
def test_first_pings_pay_a_round_trip_to_the_controller_for_each_question(
    run: Run, rtt_ms: int, neighbours: str, exchanges: tuple[int, ...]
) -> None:
    """With ARP its question, its answer and the ping; without it the ping, its answer, and then the next ping."""
    ran = run(controller={"control": {"rtt": f"{rtt_ms} ms"}}, neighbours=neighbours)
    for seen_s, count in zip(first_rtts_s(ran), exchanges, strict=True):
        assert count * rtt_ms / 1e3 <= seen_s <= count * rtt_ms / 1e3 + EXCHANGE_S
    assert ran.result.verdict == "valid"
    assert ran.result.sdn.controllers["c"].packet_ins == {"s1": 3}


def test_three_switches_in_a_row_ask_one_after_the_other(run: Run) -> None:
    seen_s = first_rtts_s(run(switches=3, controller={"control": {"rtt": "10 ms"}}))
    for seen, count in zip(seen_s, (6, 3, 0), strict=True):
        assert count * 10e-3 <= seen <= count * 10e-3 + 3 * EXCHANGE_S


def test_the_ways_of_a_channel_count_each_by_itself(run: Run) -> None:
    about = {"control": {"delay": {"forward": "5 ms", "backward": "25 ms"}}}
    ran = run(controller=about)
    assert first_rtts_s(ran)[1] == pytest.approx(30e-3, abs=EXCHANGE_S)
    assert ran.findings == {}


def test_with_static_forwarding_no_packet_asks(run: Run) -> None:
    ran = run(switches=2, controller={"app": "static", "control": {"rtt": "100 ms"}})
    assert max(first_rtts_s(ran)) < EXCHANGE_S
    assert ran.result.sdn.controllers["c"].packet_ins == {"s1": 0, "s2": 0}


def test_an_app_written_for_ryu_runs_as_it_is(run: Run) -> None:
    ran = run(controller={"app": "switch.py", "text": RYU, "control": {"rtt": "10 ms"}}, neighbours="learned")
    assert ran.result.verdict == "valid"
    assert first_rtts_s(ran)[0] == pytest.approx(30e-3, abs=EXCHANGE_S)


@pytest.mark.parametrize("datapath", ["kernel", "user"])
def test_both_datapaths_carry_the_rate_and_say_which_they_are(run: Run, datapath: str) -> None:
    ran = run(ovs={"datapath": datapath}, workload=FLOW)
    switch = ran.result.sdn.switches["s1"]
    assert (switch.datapath, switch.lost_packets) == (datapath, 0)
    assert switch.flows_before == 1
    assert switch.flows_after == 3
    assert switch.ports["2"]["tx_bytes"] > ran.result.goodput_bps / 8
    assert ran.result.goodput_bps == pytest.approx(100e6 * 1448 / 1514, rel=0.01)
    assert not {"datapath", "upcalls", "controller", "rtt"} & set(ran.findings)


def shell(node: str, script: str, out: str) -> dict[str, Any]:
    return {"run": ["sh"], "stdin": f"{script}\ntrue\n", "netns": node_netns(node), "out": out}


def test_a_firewall_lets_pass_what_its_first_rule_allows_and_stops_what_the_next_denies(run: Run) -> None:
    def knock(port: int) -> str:
        code = f"import socket; socket.create_connection(('10.0.0.2', {port}), 3); print('open')"
        return f"{shlex.quote(runner.lab.interpreter())} -c {shlex.quote(code)} 2>&1 | tail -n 1"

    servers = "import socket, time; kept = [socket.create_server(('', port)) for port in (22, 80)]; time.sleep(100)"

    def tamper(steps: Steps) -> Steps:
        server = [runner.lab.interpreter(), "-c", servers]
        started = {"run": server, "netns": node_netns("b"), "background": "server"}
        return (*steps, started, {"sleep": 1}, shell("a", knock(80), "80.txt"), shell("a", knock(22), "22.txt"))

    ran = run(controller={"app": "firewall", "rules": DENY_SSH}, ovs={}, tamper=tamper)
    assert ran.result.verdict == "valid", "and pings pass"
    said = {name: (ran.folder / name).read_text() for name in ("80.txt", "22.txt")}
    assert said == {"80.txt": "TimeoutError: timed out\n", "22.txt": "TimeoutError: timed out\n"}, (
        "the answers to an open port are tcp too, and denied"
    )
    counts = (ran.folder / "flows-s1-after.txt").read_text()
    assert "priority=40000,tcp,nw_src=10.0.0.1,nw_dst=10.0.0.2,tp_dst=80 actions=goto_table:1" in counts


def test_a_firewall_that_lets_answers_pass_leaves_the_port_open(run: Run) -> None:
    rules = [{"action": "deny", "from": "a", "to": "b", "protocol": "tcp", "port": 22}]
    window = {
        "window": "256 KiB"
    }  # the first packets go through the controller: autotuning may make much or little of that
    ran = run(controller={"app": "firewall", "rules": rules}, workload=FLOW | window)
    assert ran.result.verdict == "valid"
    assert ran.result.goodput_bps > 90e6


def test_a_monitor_sees_what_the_hosts_sent(run: Run) -> None:
    ran = run(controller={"app": "monitor", "interval": "500 ms"}, workload=FLOW)
    seen = ran.result.sdn.controllers["c"]
    times_s = [each["time_s"] for each in seen.ports]
    assert all(later - sooner == pytest.approx(0.5, abs=1e-3) for sooner, later in pairwise(times_s))
    last = {port["port"]: port for port in seen.ports[-1]["ports"]}
    assert last[1]["rx_bytes"] > ran.result.goodput_bps / 8
    assert last[2]["tx_packets"] == last[1]["rx_packets"]
    assert any(flow["bytes"] > ran.result.goodput_bps / 8 for flow in seen.flows[-1]["flows"])


@pytest.mark.nightly
def test_every_host_of_a_fat_tree_reaches_every_other(run: Run) -> None:
    topology = TopologyFile.of(load_topology(ROOT / "topologies" / "fat-tree.yaml")).written()
    ping = {**PING, "from": "host-0-0", "to": "host-3-3", "count": 1}
    rest = {"id": "t", "params": {}, "repetition": 0, "seed": 1, "workload": ping}
    trial = trial_of({**rest, "topology": topology}, "test")
    book = orders(trial).plan.book
    ips = {port.node: str(port.addresses[0].ip) for port in book.ports if port.addresses}
    assert len(ips) == 16

    def tamper(steps: Steps) -> Steps:
        scripts = {
            node: "\n".join(
                f"ping -n -q -c 1 -W 1 {ip} | grep transmitted" for other, ip in ips.items() if other != node
            )
            for node in ips
        }
        return (*steps, *(shell(node, script, f"all-{node}.txt") for node, script in scripts.items()))

    ran = run(trial, tamper)
    came = {node: (ran.folder / f"all-{node}.txt").read_text().count(" 1 received") for node in ips}
    assert came == dict.fromkeys(ips, 15)
    assert {each.datapath for each in ran.result.sdn.switches.values()} == {"kernel"}
    assert ran.result.verdict == "valid"


def test_a_ring_takes_the_shorter_way(run: Run) -> None:
    topology = TopologyFile.of(load_topology(ROOT / "topologies" / "sdn-ring.yaml")).written()
    rest = {"id": "t", "params": {}, "repetition": 0, "seed": 1, "workload": {**PING, "from": "h1", "to": "h5"}}
    ran = run(trial_of({**rest, "topology": topology}, "test"))
    assert ran.result.seen.rtt_s == pytest.approx(4e-3, abs=0.1e-3)
    assert ran.result.verdict == "valid"


@pytest.mark.parametrize(("fail_mode", "passes"), [("secure", False), ("standalone", True)])
def test_without_its_controller_a_switch_does_what_its_fail_mode_says(run: Run, fail_mode: str, passes: bool) -> None:
    """Open vSwitch gives a controller up after three intervals of 5 s."""
    ran = run(
        controller={"stop": "1 us"}, ovs={"fail_mode": fail_mode}, workload={**PING, "count": 25}, neighbours="learned"
    )
    assert (ran.ping.received > 0) == passes
    assert first_rtts_s(ran)[0] is None
    assert text_of(ran, "controller") == "c was gone for s1, as asked"
    assert ran.result.verdict == "valid"


def test_flows_that_are_set_up_outlive_their_controller(run: Run) -> None:
    ran = run(controller={"stop": "2500 ms"}, workload={**PING, "count": 6})
    assert ran.ping.received == 6
    assert ran.result.sdn.switches["s1"].connected_after is False


def test_a_late_controller_is_found_when_it_comes(run: Run) -> None:
    ran = run(controller={"start": "3 s"}, workload={**PING, "count": 10})
    switch = ran.result.sdn.switches["s1"]
    assert (switch.connected_before, switch.connected_after) == (False, True)
    assert first_rtts_s(ran) == [None, None, None]
    assert 3 <= ran.ping.received <= 7
    assert text_of(ran, "controller") == "c came late for s1, as asked"


def test_a_controller_that_ends_unasked_is_suspect(run: Run) -> None:
    killed = {"run": ["sh", "-c", "kill -9 $(cat /run/tb-ovs/c/pid)"]}
    ran = run(tamper=adding("title=ping", killed, {"sleep": 1}, later=1))
    assert ran.findings["controller"] == "suspect"


def test_an_exception_in_a_handler_makes_a_trial_invalid_and_is_told(run: Run) -> None:
    ran = run(controller={"app": "forgetful.py", "text": HANDLER})
    assert ran.result.verdict == "invalid"
    text = text_of(ran, "controller")
    assert "c (forgetful.py) had an exception" in text
    assert 'forgetful.py", line 8, in greet' in text
    assert "AttributeError: 'Forgetful' object has no attribute 'forgotten'" in text


def test_an_app_that_cannot_start_is_told_with_its_traceback(run: Run) -> None:
    with pytest.raises(TrialError, match=r"controller-c said:(.|\n)*No module named 'nothing_of_the_kind'"):
        run(controller={"app": "lost.py", "text": "import nothing_of_the_kind\nclass A: pass\n"})


def test_lost_upcalls_make_a_trial_suspect(run: Run) -> None:
    """A switch that starts before the clock is past 10 s has no thread for them."""

    def tamper(steps: Steps) -> Steps:
        return tuple(step for step in steps if step.get("run", [""])[0] != "awk")

    ran = run(tamper=tamper)
    assert ran.findings["upcalls"] == "suspect"
    assert ran.result.sdn.switches["s1"].lost_packets > 0


def test_a_channel_that_is_not_what_was_asked_is_found(run: Run) -> None:
    def tamper(steps: Steps) -> Steps:
        words = [
            "tc",
            "qdisc",
            "change",
            "dev",
            "wire0",
            "root",
            "handle",
            "1:",
            "netem",
            "limit",
            "1000",
            "delay",
            "1ms",
        ]
        return ({"sleep": 0}, *adding("sleep", {"run": words, "netns": "tb-c.control.emulator"})(steps))

    assert run(controller={"control": {"rtt": "10 ms"}}, tamper=tamper).findings["set-up"] == "invalid"


@pytest.mark.parametrize("datapath", ["kernel", pytest.param("user", marks=pytest.mark.nightly)])
def test_the_same_trial_gives_the_same_bytes(run: Run, datapath: str) -> None:
    about = {"control": {"rtt": "10 ms", "loss": {"random": "1 %"}}, "app": "monitor"}
    first, second = (run(switches=2, controller=about, ovs={"datapath": datapath}, workload=FLOW) for _ in range(2))
    names = sorted(path.name for path in first.folder.iterdir() if path.name not in NOT_REPEATED)
    assert names == sorted(path.name for path in second.folder.iterdir() if path.name not in NOT_REPEATED)
    _, differing, errors = filecmp.cmpfiles(first.folder, second.folder, names, shallow=False)
    assert (differing, errors) == ([], [])


def test_the_scenario_of_first_packets_varies_the_channel() -> None:
    trials = load_scenario(ROOT / "scenarios" / "sdn-first-packet.yaml").trials()
    controllers = [trial.topology.node("c0").controller for trial in trials]
    assert [each.rtt_ns for each in controllers if each is not None] == [
        ms * 10**6 for ms in (2, 2, 10, 10, 40, 40, 100, 100)
    ]
