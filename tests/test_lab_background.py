"""Background traffic in the lab kernel: that it is what was drawn, shares the bottleneck, and spoils no count."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from trials import Ran, Steps, adding

from testbed.kernel.guest import TrialError
from testbed.trial.folder import same_files
from testbed.trial.workload.background import BackgroundResult

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

PAYLOAD_SHARE = 1448 / 1514
WEB = {"pattern": "heavy-tailed", "from": "a", "to": "b", "arrivals": "20 /s", "size": {"mean": "20 kB"}}


def background(ran: Ran, name: str = "web") -> BackgroundResult:
    return ran.backgrounds[name]


def test_flows_bring_exactly_the_bytes_that_were_drawn(run_trial: RunTrial) -> None:
    # Over after 3 s of 10: all of them finish.
    ran = run_trial(workload={"duration": "10 s", "window": "64 kB"}, background={"web": {**WEB, "duration": "3 s"}})
    found = background(ran)
    drawn = ran.made.drawn["web"]
    assert found.planned_flows == found.started_flows == found.finished_flows == len(drawn) > 40
    assert found.received_bytes == sum(burst.flow_bytes or 0 for burst in drawn)
    lines = (ran.folder / "background-web.out").read_text().splitlines()[1:]
    began = [int(line.split()[2]) for line in lines]
    assert began == pytest.approx(
        [burst.start_ns for burst in drawn], abs=50_000
    )  # a clock read is 256 ns, a start some


def test_what_the_background_takes_the_workload_lacks(run_trial: RunTrial) -> None:
    udp = {"pattern": "constant", "from": "a", "to": "b", "rate": "40 Mbit/s", "length": "1400 B"}
    path = {"rate": "100 Mbit/s", "rtt": "10 ms"}
    workload = {"duration": "6 s", "leave_out": "2 s"}
    ran = run_trial(path=path, workload=workload, background={"noise": udp})
    left_bps = (100e6 - 40e6 * 1442 / 1400) * PAYLOAD_SHARE
    # Both meet the same full buffer: TCP takes what the datagrams leave, and its drops cost it a little.
    assert left_bps * 0.93 < ran.result.goodput_bps < left_bps * 1.03
    found = background(ran, "noise")
    assert found.sent_datagrams == pytest.approx(40e6 / 8 / 1400 * ran.result.workload_s, rel=0.01)
    assert ran.result.verdict == "valid"


@pytest.mark.parametrize("nic", ["offload", "plain"])
def test_periodic_loss_counts_the_background_too_and_stays_exact(run_trial: RunTrial, nic: str) -> None:
    background_ = {"web": WEB, "bulk": {"pattern": "on-off", "from": "a", "to": "b", "busy": "1 s", "idle": "1 s"}}
    ran = run_trial(path={"loss": "1 in 100"}, workload={"duration": "5 s"}, background=background_, nic=nic)
    stage = ran.result.stages[0]
    assert stage.dropped_packets == stage.expected_drops == stage.data_packets // 100
    carried = ran.result.flows[0].received_bytes + sum(background(ran, n).received_bytes for n in background_)
    assert stage.data_packets * 1448 > carried
    assert ran.result.verdict == "valid"


def test_a_sender_is_on_only_while_it_is_on(run_trial: RunTrial) -> None:
    bulk = {"pattern": "on-off", "from": "a", "to": "b", "busy": "1 s", "idle": "1 s", "duration": "8 s"}
    ran = run_trial(workload={"tool": "ping", "count": 100, "interval": "100 ms"}, background={"web": bulk})
    drawn = ran.made.drawn["web"]
    lines = [line.split() for line in (ran.folder / "background-web.out").read_text().splitlines()[1:]]
    assert len(lines) == len(drawn)
    ends = [int(words[3]) for words in lines]
    assert ends == pytest.approx([burst.stop_ns for burst in drawn], abs=50_000)
    on_s = sum((burst.stop_ns or 0) - burst.start_ns for burst in drawn) / 1e9
    got_bps = background(ran).received_bytes * 8 / on_s
    assert 0.5 * 100e6 < got_bps < 100e6 * PAYLOAD_SHARE  # slow start, and nothing after the end of a spell


def test_two_hosts_beside_the_workload_share_its_bottleneck(run_trial: RunTrial) -> None:
    nodes = {name: {"type": "host"} for name in "abcd"} | {name: {"type": "router"} for name in ("l", "r")}
    ends = {"la": ["a", "l"], "lb": ["b", "r"], "lc": ["c", "l"], "ld": ["d", "r"]}
    links: dict[str, Any] = {name: {"ends": pair, "rate": "1 Gbit/s"} for name, pair in ends.items()}
    links["path"] = {"ends": ["l", "r"], "rate": "100 Mbit/s", "rtt": "10 ms"}
    other = {"pattern": "on-off", "from": "c", "to": "d", "busy": "1000 s", "idle": "1 ms"}
    topology = {"name": "net", "nodes": nodes, "links": links}
    workload = {"duration": "10 s", "leave_out": "3 s"}
    alone = run_trial(topology=topology, workload=workload)
    shared = run_trial(topology=topology, workload=workload, background={"web": other})
    assert alone.result.goodput_bps == pytest.approx(100e6 * PAYLOAD_SHARE, rel=0.02)
    assert 0.2 < shared.result.goodput_bps / alone.result.goodput_bps < 0.8
    assert background(shared).received_bytes * 8 / 10 > 0.2 * 100e6


def test_a_lead_fills_the_path_before_the_workload_begins(run_trial: RunTrial) -> None:
    bulk = {"pattern": "on-off", "from": "a", "to": "b", "busy": "1000 s", "idle": "1 ms"}
    for lead_s in (0, 3):
        each = {"web": {**bulk, "lead": f"{lead_s} s"}}
        ran = run_trial(workload={"duration": "1 s"}, background=each, samples={"interval": "10 ms"})
        begin_ns = int((ran.folder / "background-web.out").read_text().split()[1])
        flow_ns = int((ran.folder / "flow.out").read_text().split()[1])
        # The workload connects first: a round trip, and what waits in the queue before its SYN.
        assert lead_s <= (flow_ns - begin_ns) / 1e9 < lead_s + 0.05


def test_the_same_seed_repeats_byte_for_byte_and_another_does_not(run_trial: RunTrial) -> None:
    each = {"web": WEB, "noise": {"pattern": "constant", "from": "b", "to": "a", "rate": "5 Mbit/s"}}
    first, again, other = (run_trial(background=each, seed=seed) for seed in (1, 1, 2))
    assert same_files(first.folder, again.folder) == ()
    assert "background-web.txt" in same_files(first.folder, other.folder)


def test_what_is_on_its_way_at_the_end_is_not_lost(run_trial: RunTrial) -> None:
    noise = {"pattern": "constant", "from": "a", "to": "b", "rate": "5 Mbit/s"}
    workload = {"tool": "udp", "rate": "1 Mbit/s", "duration": "1 s"}
    ran = run_trial(path={"rtt": "400 ms"}, workload=workload, background={"noise": noise})
    found = background(ran, "noise")
    assert found.sent_datagrams > 400
    assert found.lost_datagrams == 0
    assert ran.findings == {}


def test_a_ping_that_waits_behind_others_is_what_was_asked_for(run_trial: RunTrial) -> None:
    noise = {"pattern": "constant", "from": "a", "to": "b", "rate": "15 Mbit/s"}
    path = {"rate": "10 Mbit/s", "rtt": "20 ms"}
    ran = run_trial(path=path, workload={"tool": "ping", "count": 20}, background={"noise": noise})
    assert ran.ping.rtt_max_s > 0.035
    assert ran.result.verdict == "valid", ran.result.warnings


def test_a_background_that_is_over_too_soon_is_told(run_trial: RunTrial) -> None:
    """Connecting takes the flows longer than can be known: three packets in ten are lost."""
    noise = {"pattern": "constant", "from": "b", "to": "a", "rate": "1 Mbit/s"}
    path = {"rate": "10 Mbit/s", "loss": {"forward": {"random": "30 %"}, "backward": "none"}}
    ran = run_trial(path=path, workload={"flows": 8}, background={"noise": noise})
    assert ran.findings["background"] == "suspect"


def test_a_handshake_that_is_not_complete_ends_the_trial(run_trial: RunTrial) -> None:
    """The sender is connected, the receiver is not, and both would wait for ever."""
    rules = (
        "table ip deaf { chain in { type filter hook input priority 0; "
        "tcp flags & (syn|ack) == ack tcp dport 5001 drop; }; }"
    )
    with pytest.raises(TrialError, match="cannot accept on port 5001: too many packets of the handshake are lost"):
        run_trial(tamper=adding("title=flow", {"run": ["nft", rules], "netns": "tb-b"}))


SIDE = {
    "ends": ["c", "d"],
    "rate": "50 Mbit/s",
    "rtt": "10 ms",
    "loss": {"forward": "1 in 100", "backward": "none"},
    "corrupt": {"forward": "1 in 40"},
    "duplicate": {"forward": "1 in 50"},
    "reorder": {"forward": {"every": 30, "by": "2 ms"}},
}
ASIDE = {
    "name": "net",
    "nodes": {name: {"type": "host"} for name in "abcd"},
    "links": {"path": {"ends": ["a", "b"], "rate": "100 Mbit/s", "rtt": "10 ms"}, "side": SIDE},
}
NOISE = {"pattern": "constant", "from": "c", "to": "d", "rate": "5 Mbit/s"}


def counted_by(name: str, every: int, instead: int) -> Callable[[Steps], Steps]:
    """The rules of one fault of the side link choose other packets; set up, and read back, as if it were asked."""

    def tamper(steps: Steps) -> Steps:
        text = json.dumps(steps)
        was, now = (f"numgen inc mod {n} == {n - 1}" for n in (every, instead))
        assert was in text, name
        return tuple(json.loads(text.replace(was, now)))

    return tamper


@pytest.mark.parametrize(
    ("name", "every"), [(None, 0), ("loss", 100), ("corrupt", 40), ("duplicate", 50), ("reorder", 30)]
)
def test_a_link_that_only_the_background_passes_is_judged_by_its_counters(
    run_trial: RunTrial, name: str | None, every: int
) -> None:
    tamper = {} if name is None else {"tamper": counted_by(name, every, every + 10)}
    ran = run_trial(topology=ASIDE, workload={"duration": "2 s"}, background={"web": NOISE}, **tamper)
    said = {each.check: each.text for each in ran.result.findings if each.text.startswith("side forward")}
    assert set(said) == ({name} if name else set()), ran.result.findings
    assert ran.result.verdict == ("valid" if name is None else "invalid")


def test_damaged_packets_of_the_background_are_found_by_its_hosts(run_trial: RunTrial) -> None:
    """One in 40 of the background's datagrams has a wrong checksum; a host that does not check them is found."""

    def unchecked(steps: Steps) -> Steps:
        text = json.dumps(steps)
        assert FLIP in text
        return tuple(json.loads(text.replace(FLIP, FLIP.replace("0x1", "0x0"))))

    ran = run_trial(topology=ASIDE, workload={"duration": "2 s"}, background={"web": NOISE}, tamper=unchecked)
    said = [each.text for each in ran.result.findings if each.check == "corrupt"]
    assert len(said) == 1, ran.result.findings
    assert "packets were damaged, and hosts found 0 with a wrong checksum" in said[0]


FLIP = "@th,64,8 set @th,64,8 ^ 0x1"
