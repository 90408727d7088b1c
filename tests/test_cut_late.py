"""Superpackets that a token bucket holds uncut: where, and that it makes no difference to anything but the wall time.

The other side is the same trial on the same kernel, with superpackets cut where they leave the delay, as without our
patch. Both must write the same bytes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from late_cut import check_same_bytes, late_and_soon
from pcap import packets
from trials import RunTrial, adding, make_trial

from testbed.error import MachineError
from testbed.kernel.image import cache, feature, first_boot
from testbed.kernel.image.cache import KernelImage
from testbed.model.run_setting import Kernel
from testbed.plan.link.stage import Emulator
from testbed.trial.evidence.case import Case
from testbed.trial.gate import judge
from testbed.trial.gate.link import link_check
from testbed.trial.observe.sample import QueueSample
from testbed.trial.orders.sequence import orders
from testbed.trial.start import bring_up

PATH = {"rate": "1 Gbit/s", "rtt": "10 ms", "buffer": "50 kB"}


@pytest.fixture(autouse=True)
def late(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Plans are those for a kernel with our patch, whatever this computer has."""
    if request.node.get_closest_marker("lab") is None:
        monkeypatch.setattr(bring_up, "cuts_late", lambda kernel: kernel.is_virtual_time)


def emulator(**changes: Any) -> Emulator:
    (found,) = orders(make_trial(**changes)).plan.emulators
    return found


def test_a_stage_of_a_delay_and_a_rate_cuts_late() -> None:
    made = orders(make_trial(path=PATH)).plan
    assert [stage.cuts_late for stage in made.emulators[0].stages] == [True, True]
    assert [
        command.words[1:] for command in made.commands if command.tool == "ethtool" and "wire0" in command.words
    ] == [("wire0", "tso", "on", "gso", "on")]


@pytest.mark.parametrize(
    "changes",
    [
        {"nic": "plain"},
        {"path": {**PATH, "rtt": "0 s"}},
        {"path": {**PATH, "loss": {"forward": {"random": "1 %"}, "backward": {"random": "1 %"}}}},
        {"path": {**PATH, "jitter": "10 us"}},
        {"path": {**PATH, "queue": "fq_codel"}},
        {"path": {**PATH, "duplicate": "1 in 100"}},
        {"path": {**PATH, "policer": {"rate": "10 Mbit/s", "burst": "64 KiB"}}},
        {"path": PATH, "capture": [{"at": "path"}]},
        {"path": PATH, "kernel": "host"},
        {"path": PATH, "kernel": "lab-realtime"},
    ],
    ids=str,
)
def test_whatever_looks_at_single_packets_gets_single_packets(changes: dict[str, Any]) -> None:
    found = emulator(**{"path": PATH, **changes})
    assert not found.forward.cuts_late
    assert not found.backward.cuts_late


def test_a_loss_in_one_direction_leaves_the_other_as_it_is() -> None:
    found = emulator(path={**PATH, "loss": {"random": "1 %"}})
    assert [stage.cuts_late for stage in found.stages] == [False, True]


def test_a_schedule_that_brings_a_loss_later_has_single_packets_from_the_start() -> None:
    later = [{"at": "1 s", "loss": {"random": "1 %"}}]
    assert not emulator(path={**PATH, "schedule": later}, workload={"duration": "2 s"}).forward.cuts_late
    later = [{"at": "1 s", "rate": "2 Gbit/s"}]
    assert emulator(path={**PATH, "schedule": later}, workload={"duration": "2 s"}).forward.cuts_late


def test_captures_of_hosts_are_no_reason_to_cut_sooner() -> None:
    assert emulator(path=PATH, capture=[{"at": "b"}]).forward.cuts_late


@pytest.mark.parametrize(
    ("tried", "refusals", "expected"),
    [
        (tuple(feature.ATTEMPTS), {}, True),
        (tuple(feature.ATTEMPTS), {feature.CUTS_LATE: "no reason given"}, False),
        ((), {}, False),
    ],
)
def test_the_kernel_says_whether_it_cuts_late(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tried: tuple[str, ...], refusals: dict[str, str], expected: bool
) -> None:
    monkeypatch.undo()
    said = feature.of_controls("reno", tried, refusals)
    image = KernelImage("toy", tmp_path / "linux", "7.3.4", "", True, "", "")
    monkeypatch.setattr(cache, "find", lambda name: image)
    monkeypatch.setattr(first_boot, "features", lambda linux: said)
    bring_up._holds_superpackets.cache_clear()
    assert bring_up.cuts_late(Kernel("lab")) is expected
    assert not bring_up.cuts_late(Kernel("lab-realtime"))
    assert not bring_up.cuts_late(Kernel("host"))
    bring_up._holds_superpackets.cache_clear()


def test_a_kernel_that_is_not_built_yet_would_cut_late(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str | None) -> KernelImage:
        raise MachineError("no lab kernel has been built yet", "testbed kernel build")

    monkeypatch.undo()
    monkeypatch.setattr(cache, "find", none)
    assert bring_up.cuts_late(Kernel("lab"))


@pytest.mark.parametrize(
    ("sent_bytes", "left", "cuts_late", "found"),
    [
        (15_140_000, 10_000, True, 0),
        (15_140_000, 10_001, True, 0),
        (15_140_000, 9_792, True, 0),  # 208 of the shortest frames leave in 100 us
        (15_140_000, 9_791, True, 1),
        (15_140_000, 9_791, False, 0),
        (15_140_000, None, True, 0),  # `presence` says so, where the next node can be asked
        (15_140_001, 10_000, True, 1),
        (15_140_001, 10_000, False, 0),
    ],
)
def test_a_bucket_that_sends_superpackets_is_found(
    sent_bytes: int, left: int | None, cuts_late: bool, found: int
) -> None:
    (made,) = orders(make_trial(path=PATH)).plan.emulators
    around = tuple(
        QueueSample(at, made.netns, 2, "2:", "tbf", bytes_, at, 0, 0, 0)
        for at, bytes_ in ((5, 700), (10_005, 700 + sent_bytes))
    )
    stage = replace(made.forward, cuts_late=cuts_late)
    seen = SimpleNamespace(
        where="path forward",
        mtu_bytes=1500,
        oversize_packets=0,
        stage=stage,
        around=around,
        left_packets=left,
        sent_before=None,
    )
    findings = list(link_check.frame_size(Case(None, None, SimpleNamespace(judged=(seen,)))))  # type: ignore[arg-type]
    assert [(each.check, each.verdict) for each in findings] == [("frame size", "invalid")] * found


@pytest.mark.lab
def test_every_frame_behind_the_bucket_is_counted(run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a good trial as many came to the receiver as left the bucket, as superpackets and as single ACKs."""
    kept = []
    judging = judge.judge
    monkeypatch.setattr(judge, "judge", lambda case: kept.append(case.evidence) or judging(case))
    ran = run_trial(path=PATH, workload={"flows": 2, "duration": "1 s"})
    assert ran.result.verdict == "valid"
    for each in (*kept[0].data_stages, *kept[0].answer_stages):
        first, last = each.around
        assert each.stage.cuts_late
        assert abs(each.left_packets - (last.packets - first.packets)) <= 208  # in the 100 us between the looks


@pytest.mark.lab
def test_a_queue_that_lets_superpackets_pass_uncut_is_found(run_trial: RunTrial) -> None:
    """Sabotage: below the bucket a queue that is no fifo, and a burst that has room for superpackets. Then the bucket
    sends them whole, and what it counts itself is still right.
    """
    netns, made = "tb-path.emulator", "qdisc replace dev end1 root handle 2: tbf rate 1gbit burst 70000 limit 5000000"
    words = [f"tc {made}", "tc qdisc add dev end1 parent 2:1 handle 3: sfq limit 1000"]
    words += ["ethtool -K end1 tso on gso on"]
    tamper = adding("title=observe", *({"run": each.split(), "netns": netns} for each in words))
    ran = run_trial(path=PATH, workload={"duration": "1 s"}, tamper=tamper)
    found = {each.check: each for each in ran.result.findings}
    assert ran.result.verdict == "invalid"
    assert "frames came to the next node" in found["frame size"].text


@pytest.mark.parametrize("changes", [{}, {"duplicate": "1 in 100"}, {"down": "by hand"}, {"loss": "1 in 100"}], ids=str)
def test_counters_that_superpackets_meet_are_of_data(changes: dict[str, Any]) -> None:
    """The counter of nftables takes a superpacket's last packet as no data if it is as short as an ACK can be. So every
    counter that a superpacket can meet stands behind the rule that says what is data.
    """
    made = orders(make_trial(path={**PATH, **changes})).plan
    for stage in (stage for stage in made.emulators[0].stages if stage.cuts_late):
        chain = f"from-{stage.loss_device}"
        rules = [" ".join(c.words) for c in made.commands if c.tool == "nft" and c.words[:2] == ("add", "rule")]
        counted = {rule.split()[4] for rule in rules if "counter name" in rule and stage.way in rule}
        assert counted == {f"data-{stage.way}"}
        into = [rule for rule in rules if rule.endswith(f"jump data-{stage.way}")]
        assert [rule.split()[4] for rule in into] == [chain] * 2
        assert all("length > 100" in rule or "l4proto udp" in rule for rule in into)


CHANGES = [
    {"at": "1 s", "rate": "100 Mbit/s"},
    {"at": "1500 ms", "buffer": "30 kB", "rtt": "20 ms"},
    {"at": "2 s", "rate": "500 Mbit/s", "rtt": "10 ms"},
]


@pytest.mark.lab
@pytest.mark.parametrize(
    ("path", "workload"),
    [
        (PATH, {"flows": 4, "duration": "3 s"}),
        ({"rate": "100 Mbit/s", "rtt": "20 ms", "buffer": "30 packets"}, {"flows": 3, "duration": "6 s"}),
        ({"rate": "100 Mbit/s", "rtt": "20 ms", "buffer": "1 packets"}, {"duration": "4 s"}),
        ({"rate": "10 Gbit/s", "rtt": "50 ms", "buffer": "0.05 bdp"}, {"duration": "2 s"}),
        ({"rate": "20 Mbit/s", "rtt": "30 ms", "buffer": "20 kB"}, {"congestion": "bbr", "duration": "4 s"}),
        ({**PATH, "schedule": CHANGES}, {"flows": 2, "duration": "3 s"}),
    ],
    ids=["bytes", "packets", "one-packet", "fast", "slow", "schedule"],
)
def test_a_full_buffer_drops_the_same_packets_at_the_same_times(
    run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch, path: dict[str, Any], workload: dict[str, Any]
) -> None:
    late, soon = late_and_soon(monkeypatch, lambda: run_trial(path=path, workload=workload))
    assert late.result.verdict == "valid"
    assert late.result.stages[0].queue_drops > 0
    check_same_bytes(late, soon)


@pytest.mark.lab
def test_what_leaves_the_bottleneck_is_the_same_in_captures(
    run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receiver merges nothing, so a capture there has every packet behind the bottleneck, and every answer."""
    nodes = {"a": {"type": "host", "nic": "offload"}, "b": {"type": "host", "nic": "plain"}}
    topology = {"name": "half", "nodes": nodes, "links": {"path": {"ends": ["a", "b"], **PATH}}}
    workload = {"tool": "flow", "from": "a", "to": "b", "flows": 2, "duration": "1 s"}
    words = {"topology": topology, "workload": workload, "capture": [{"at": "b", "snaplen": 96}]}
    late, soon = late_and_soon(monkeypatch, lambda: run_trial(**words))
    assert late.result.stages[0].queue_drops > 0
    (captured,) = late.folder.glob("b-*.pcap")
    assert (
        len(list(packets(captured))) > late.result.stages[0].data_packets - late.result.stages[0].queue_drops > 10_000
    )
    assert captured.read_bytes() == (soon.folder / captured.name).read_bytes()


@pytest.mark.lab
@pytest.mark.parametrize("gbps", [10, 25, 40, 100])
def test_a_rate_is_exact_where_a_packet_takes_no_whole_number_of_ns(run_trial: RunTrial, gbps: int) -> None:
    """While packets wait, what leaves is the rate to a bucket and a packet: with whole ns it would be 0.017 to 0.27 %
    more, 50 kB to 3 MB in these 250 ms.
    """
    path = {"rate": f"{gbps} Gbit/s", "rtt": "1 ms", "buffer": "4 bdp"}
    workload = {"flows": 4, "duration": "300 ms"}
    ran = run_trial(path=path, workload=workload, samples={"interval": "10 ms"})
    assert ran.result.verdict == "valid"
    rows = pq.read_table(ran.folder / "queues.parquet").to_pylist()
    busy = [row for row in rows if row["way"] == "forward" and row["backlog_packets"] and row["time_s"] > 0.04]
    assert len(busy) > 20
    first, last = busy[0], busy[-1]
    expected_bytes = (last["time_s"] - first["time_s"]) * gbps * 1e9 / 8
    assert last["bytes"] - first["bytes"] == pytest.approx(expected_bytes, abs=gbps * 1e9 / 8 * 5e-6 + 2 * 1514)
