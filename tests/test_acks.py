"""`samples: acks`: how files ask for it, what refuses it, what is read of the records, and what the gate says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ackfiles
import pyarrow.parquet as pq
import pytest
from ackfiles import RETRANSMIT, STATE, WINDOW, flow, head, look, name, numbers, write
from test_gate import fine
from trials import make_trial

from testbed.error import MachineError, SpecError, UserError
from testbed.kernel.guest import TrialError
from testbed.kernel.image import feature
from testbed.model.scenario import Trial
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.trial import ack_table, readiness
from testbed.trial.evidence.case import Case
from testbed.trial.observe import ack
from testbed.trial.observe.sample import TcpSample
from testbed.trial.orders.sequence import orders
from testbed.trial.subject.ack import ACKS

MS = 10**6


@pytest.mark.parametrize(
    ("samples", "interval_ns", "acks"),
    [
        ({"interval": "100 ms"}, 100 * MS, False),
        ("acks", 100 * MS, True),
        ({"acks": True}, 100 * MS, True),
        ({"interval": "10 ms", "acks": True}, 10 * MS, True),
        ({"interval": "10 ms", "acks": False}, 10 * MS, False),
        ("none", None, False),
    ],
)
def test_a_trial_that_asks_for_acks_is_stored_and_read_back(samples: Any, interval_ns: int | None, acks: bool) -> None:
    trial = make_trial(samples=samples)
    assert (trial.samples_interval_ns, trial.acks) == (interval_ns, acks)
    assert trial_of(trial_data(trial)) == trial


def test_a_trial_without_acks_is_stored_as_before() -> None:
    assert trial_data(make_trial())["samples"] == {"interval": "100 ms"}


@pytest.mark.parametrize("samples", ["ack", "100 ms", {"acks": "often"}, {"interval": "none", "acks": True}])
def test_other_words_are_refused_with_those_that_are_allowed(samples: Any) -> None:
    with pytest.raises(SpecError, match=r"allowed: "):
        make_trial(samples=samples)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kernel": "host"}, "needs a lab kernel in virtual time, and this is kernel: host"),
        ({"kernel": "lab-realtime"}, "in real time the records would take time"),
        ({"workload": {"tool": "ping"}}, "the tool ping sends nothing over TCP"),
        ({"workload": {"tool": "udp", "rate": "1 Mbit/s", "duration": "1 s"}}, "the tool udp sends nothing over TCP"),
    ],
)
def test_where_there_can_be_no_records_they_are_refused(changes: dict[str, Any], why: str) -> None:
    orders(make_trial(**changes))
    with pytest.raises(UserError, match=why):
        orders(make_trial(samples="acks", **changes))


def test_a_kernel_without_our_patch_is_refused_by_name() -> None:
    trial = make_trial(samples="acks")
    old = feature.of_controls("reno cubic", tuple(feature.ATTEMPTS), {feature.ACKS: "exit 1"})
    ready: Any = SimpleNamespace(features=old, image=SimpleNamespace(name="mine"))
    with pytest.raises(MachineError, match=r"the lab kernel mine cannot record ACKs.*lacks our patch"):
        readiness.check_features(trial, orders(trial), ready)
    readiness.check_features(make_trial(), orders(make_trial()), ready)


WHOLE = (flow(), look(5), look(9, octets=2897, delivered=2))


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    seen = ack.read(write(tmp_path / "acks.bin", *WHOLE))
    (one,) = seen.flows
    assert one == ack.AckFlow(1, "10.0.0.1", 40000, "10.0.0.2", 5000, "cubic")
    assert [(int(each["time_ns"]), int(each["bytes"])) for each in seen.of(one)] == [(5, 1449), (9, 2897)]
    assert (seen.most, seen.left_out, seen.flows_left_out, seen.names_left_out) == (ackfiles.MOST, 0, 0, 0)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([], "is missing"),
        ([b""], "has 0 bytes"),
        ([ackfiles.begin(), *WHOLE], "are not whole"),
        ([ackfiles.begin(), *WHOLE, ackfiles.end(5)[:-1]], "are not whole"),
        ([ackfiles.begin(), *WHOLE[:2], ackfiles.end(5)], "ends after 4 of them"),
        ([ackfiles.begin(), *WHOLE, ackfiles.end(5, most=7)], "are not whole"),
        ([ackfiles.begin(version=2), *WHOLE, ackfiles.end(5)], "of another version"),
        ([ackfiles.begin(size=96), *WHOLE, ackfiles.end(5)], "of another version"),
        ([ackfiles.begin(), flow(), look(5, kind=9), ackfiles.end(4)], "kinds"),
        ([ackfiles.begin(), flow(), look(5, number=2), ackfiles.end(4)], "of no flow"),
        ([ackfiles.begin(), flow(), look(5), look(4), ackfiles.end(5)], "times go back"),
        ([ackfiles.begin(), flow(), name("a b"), look(4), ackfiles.end(5)], "cannot be a number's"),
        ([ackfiles.begin(most=3), *WHOLE, ackfiles.end(5, most=3)], "are not whole"),
    ],
)
def test_records_that_are_not_whole_are_no_result(parts: list[bytes], why: str, tmp_path: Path) -> None:
    path = tmp_path / "acks.bin"
    if parts:
        path.write_bytes(b"".join(parts))
    with pytest.raises(TrialError, match=why):
        ack.read(path)


TRIAL = make_trial(samples="acks")


def sample(time_ns: int, **changes: Any) -> TcpSample:
    info = {"state": 1, "snd_cwnd": 10, "snd_ssthresh": None, "delivered": 1, "total_retrans": 0}
    info |= {"bytes_acked": 1449, "segs_in": 5, "segs_out": 5} | changes
    return TcpSample(time_ns, "tb-a", "10.0.0.1", 40000, "10.0.0.2", 5000, "cubic", info)


def judged(seen: ack.Acks | None, *samples: TcpSample, trial: Trial = TRIAL) -> list[tuple[str, str]]:
    plan = orders(trial).plan
    evidence = replace(fine(trial, plan), tcp=samples)
    case = Case(trial, plan, replace(evidence, things={**evidence.things, ACKS.name: seen}))
    faults = [("invalid", f"missing: {each}") for each in ACKS.missing(case, seen)]
    return faults + [(each.verdict, each.text) for each in ACKS.judged(case)]


@pytest.mark.parametrize(
    ("samples", "fault"),
    [
        ([sample(5), sample(8)], None),
        ([sample(4)], None),
        ([sample(5, snd_cwnd=11)], "had snd_cwnd 11, and its last record has 10"),
        ([sample(50_000, snd_cwnd=11, bytes_acked=2897, delivered=2)], "had snd_cwnd 11"),
        ([sample(5, snd_ssthresh=7)], "had snd_ssthresh 7, and its last record has None"),
        ([sample(5, delivered=3)], "had delivered 3"),
        ([sample(5, total_retrans=1)], "had total_retrans 1"),
        ([sample(5, bytes_acked=1450)], "had bytes_acked 1450"),
        ([sample(5), sample(8, segs_in=0)], "took 1 ACKs until 8 ns, and 0 segments came to it"),
        ([replace(sample(5), source_port=40001)], "there is no record of it"),
    ],
)
def test_the_gate_holds_records_against_samples(samples: list[TcpSample], fault: str | None, tmp_path: Path) -> None:
    seen = ack.read(write(tmp_path / "acks.bin", *WHOLE))
    found = judged(seen, *samples)
    assert [verdict for verdict, _ in found] == ([] if fault is None else ["invalid"])
    assert fault is None or fault in found[0][1]


def test_a_receiver_that_sent_fewer_segments_makes_a_trial_invalid(tmp_path: Path) -> None:
    seen = ack.read(write(tmp_path / "acks.bin", *WHOLE))
    other = replace(sample(20_000), source="10.0.0.2", source_port=5000, destination="10.0.0.1", destination_port=40000)
    other = replace(other, info={**other.info, "bytes_acked": 1, "segs_out": 1})
    assert "took 2 ACKs until 20000 ns, and 1 segments its receiver had sent" in judged(seen, other)[0][1]


def test_what_is_missing_is_never_a_pass(tmp_path: Path) -> None:
    assert judged(None) == [("invalid", "missing: the records of ACKs")]
    seen = ack.read(write(tmp_path / "acks.bin", flow(), look(5, WINDOW)))
    assert judged(seen) == [("invalid", "no host took an ACK of TCP, and records of them were asked for")]
    assert judged(seen, trial=make_trial())[0] == ("invalid", "missing: no records of ACKs, which were not asked for")


def test_a_full_file_says_since_when(tmp_path: Path) -> None:
    seen = ack.read(write(tmp_path / "acks.bin", *WHOLE, left=(7, 60_000, 0, 0)))
    found = judged(seen, sample(5), sample(60_000, snd_cwnd=99))
    assert [verdict for verdict, _ in found] == ["valid"]
    assert f"there is room for {ackfiles.MOST}, and 7 more came" in found[0][1]


def test_connections_and_names_beyond_the_bounds_are_told(tmp_path: Path) -> None:
    seen = ack.read(write(tmp_path / "acks.bin", *WHOLE, left=(0, 0, 3, 4)))
    found = judged(seen, replace(sample(5), source_port=40001))
    assert [verdict for verdict, _ in found] == ["valid", "valid"]
    assert "beyond the first 65534 (3 times)" in found[0][1]
    assert "more than eight numbers" in found[1][1]


def test_tables_have_a_row_for_each_ack_and_each_event(tmp_path: Path) -> None:
    bbr = {"info_kind": 16, "info": (125_000, 0, 10_000, 739, 512)}
    records = (
        *(flow(congestion="bbr"), name("phase"), name("round", 1), numbers((3, -7))),
        *(look(5 * MS, **bbr), look(6 * MS, STATE, argument=0, ca_state=3)),
        *(look(7 * MS, RETRANSMIT, argument=2, octets=1449, ca_state=3), numbers((3, -6), 8 * MS)),
        *(look(8 * MS, ssthresh=7, pacing=2**64 - 1), look(9 * MS, WINDOW, argument=2, cwnd=5)),
    )
    seen = ack.read(write(tmp_path / "acks.bin", *records))
    plan = orders(TRIAL).plan
    evidence = fine(TRIAL, plan)
    evidence = replace(evidence, outcome=replace(evidence.outcome, begin_ns=1 * MS))
    ack_table.write(tmp_path, plan, evidence, seen)
    acks = pq.read_table(tmp_path / "acks.parquet").to_pylist()
    assert [each["time_s"] for each in acks] == [0.004, 0.007]
    first, second = acks
    assert (first["bw_bps"], first["min_rtt_s"], first["pacing_gain"], first["cwnd_gain"]) == (1e6, 0.01, 739 / 256, 2)
    assert (first["snd_ssthresh"], second["snd_ssthresh"], second["pacing_rate_bps"]) == (None, 7, None)
    assert (first["pacing_rate_bps"], first["srtt_s"], first["congestion"]) == (1e6, 0.01, "bbr")
    assert second["bw_bps"] is None
    events = pq.read_table(tmp_path / "events.parquet").to_pylist()
    told = [(each["time_s"], each["event"], each["name"], each["value"], each["first_byte"]) for each in events]
    assert told == [
        (-0.001, "number", "phase", 3, None),
        (-0.001, "number", "round", -7, None),
        (0.005, "state", "Recovery", 3, None),
        (0.006, "retransmit", None, 2, 1449),
        (0.007, "number", "round", -6, None),
        (0.008, "window", "application-limited", None, None),
    ]


def test_addresses_of_several_nodes_have_no_namespace(tmp_path: Path) -> None:
    seen = ack.read(write(tmp_path / "acks.bin", *WHOLE))
    plan = orders(TRIAL).plan
    twice = (replace(sample(5), netns="tb-a"), replace(sample(5), netns="tb-b"))
    ack_table.write(tmp_path, plan, replace(fine(TRIAL, plan), tcp=twice), seen)
    assert pq.read_table(tmp_path / "acks.parquet")["netns"].to_pylist() == [None, None]


def test_a_head_is_twelve_bytes_and_a_kind() -> None:
    assert len(head(0, 0, 1)) == 16
    assert len(look(0)) == ack.RECORD_BYTES == len(flow()) == len(numbers((1,)))
