"""Queues of a bottleneck, without a kernel: how files write them, what they become, and what the gate says of them."""

from __future__ import annotations

import struct
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from trials import make_trial, seen_evidence, seen_stage, with_seen

from testbed.error import UserError, ValueRefused
from testbed.model.link.queue import QUEUES, TYPES, Queue
from testbed.plan import batch
from testbed.plan.link import queue
from testbed.plan.link.impairment import Context, settings
from testbed.plan.link.stage import BUFFER
from testbed.spec.topology.link.queue import later_faults, read_queue, write_queue
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.outcome import Outcome
from testbed.trial.evidence.stage import StageEvidence
from testbed.trial.gate.link import queue_check, set_up_check
from testbed.trial.measured import PingResult
from testbed.trial.observe import queue_counter
from testbed.trial.observe.queue_counter import Counts
from testbed.trial.observe.readback import Qdisc
from testbed.trial.observe.sample import QueueSample, TcpSample
from testbed.trial.observe.tcp_info import EcnInfo, ecn
from testbed.trial.orders.remark import remarks
from testbed.trial.orders.sequence import orders

EMULATOR = "tb-path.emulator"
CONTEXT = Context(1500, real_time=False)


def planned(written: Any, **path: Any) -> Any:
    return orders(make_trial(path={"queue": written, **path})).plan


def lines(written: Any, **path: Any) -> list[str]:
    found = [each.words for each in planned(written, **path).commands if each.tool == "tc"]
    return [" ".join(words[words.index("handle") + 2 :]) for words in found if "3:" in words]


@pytest.mark.parametrize("name", QUEUES)
def test_a_type_alone_is_written_as_one_word_and_has_all_its_defaults(name: str) -> None:
    found = read_queue(name)
    assert found == Queue(name)
    assert write_queue(found) == name
    assert found is not None
    made = queue.made(found, 10**6 if name == "red" else 100, 1514, 10**8)
    told = {each.name for each in queue.told(made)}
    assert "limit" in told
    for each in found.kind.parameters:
        value = made.value[each.name]
        assert value is not None or each.name == "ce_threshold", each.name


@pytest.mark.parametrize(
    "written",
    [
        {"type": "codel", "target": "3 ms", "ecn": "true"},
        {"type": "fq_codel", "quantum": "300 B", "flows": 64},
        {"type": "dualpi2", "alpha": "0.5", "any_ect": "true", "classic_protection": "20 %"},
        {"type": "red", "min": "10 kB", "probability": "2 %", "bandwidth": "5 Mbit/s"},
        {"type": "cake", "isolation": "flows", "rtt": "20 ms"},
    ],
)
def test_what_is_read_is_written_again(written: dict[str, Any]) -> None:
    assert write_queue(read_queue(written)) == written
    assert read_queue(write_queue(read_queue(written))) == read_queue(written)


@pytest.mark.parametrize("written", ["fifo", "none", {"type": "fifo"}])
def test_a_fifo_is_no_queue(written: Any) -> None:
    assert read_queue(written) is None
    assert write_queue(read_queue(written)) == "fifo"
    assert planned(written).commands == planned(None).commands


@pytest.mark.parametrize(
    ("written", "what", "allowed"),
    [
        ("wred", "'wred' is no type of queue", "red"),
        ({"target": "5 ms"}, "the key 'type' is missing", ", ".join(TYPES)),
        ({"type": "codel", "limit": 100}, "the limit of a queue is the key 'buffer'", "target"),
        ({"type": "codel", "alpha": 2}, "codel has no parameter 'alpha', which pie and fq_pie and dualpi2", "target"),
        ({"type": "codel", "target": "1.5 us"}, "not a whole number of microseconds", "1 us"),
        ({"type": "codel", "target": "5"}, "no unit", "ms"),
        ({"type": "codel", "ecn": "maybe"}, "neither true nor false", "true, false"),
        ({"type": "fq_codel", "flows": 0}, "out of range", "1 to 65536"),
        ({"type": "fq_codel", "flows": 65_537}, "out of range", "1 to 65536"),
        ({"type": "red", "probability": "0 %"}, "out of range", "more than 0 %"),
        ({"type": "sfq", "divisor": 1000}, "no power of two", "1024"),
        ({"type": "sfq", "perturb": "1500 ms"}, "whole number of seconds", "1 s"),
        ({"type": "cake", "isolation": "triple"}, "'triple' is not known", "triple-isolate"),
        ({"type": "dualpi2", "alpha": "1 %"}, "is not a number", "0.16"),
        ({"type": "fifo", "target": "5 ms"}, "a fifo has no target", "buffer"),
    ],
)
def test_what_is_no_queue_is_refused_with_what_is_allowed(written: Any, what: str, allowed: str) -> None:
    with pytest.raises(ValueRefused) as refused:
        read_queue(written)
    assert what in refused.value.what
    assert allowed in refused.value.allowed


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ({"rate": None, "buffer": None, "queue": "codel"}, "without a rate nothing waits"),
        ({"queue": {"type": "red", "min": "50 kB", "max": "40 kB"}}, "a min that is not below its max"),
        ({"queue": "codel", "schedule": [{"at": "1 s", "queue": "pie"}]}, "cannot change the type of a queue"),
        ({"schedule": [{"at": "1 s", "queue": "pie"}]}, "cannot change the type of a queue"),
        ({"queue": "codel", "schedule": [{"at": "1 s", "buffer": "10 kB"}]}, "drops what it holds beyond it"),
    ],
)
def test_what_does_not_go_with_the_rest_of_a_link_is_refused(path: dict[str, Any], what: str) -> None:
    with pytest.raises(UserError, match=what):
        make_trial(path=path)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("fq_codel", {"type": "fq_codel", "flows": 5}, "flows of fq_codel is fixed"),
        ("codel", {"type": "codel", "ce_threshold": "1 ms"}, "cannot be switched on or off"),
        ("red", {"type": "red", "ecn": True}, "a change of red drops all that waits"),
        ("codel", {"type": "codel", "target": "1 ms"}, None),
    ],
)
def test_a_schedule_changes_only_what_loses_no_packet(before: Any, after: Any, what: str | None) -> None:
    said = later_faults(read_queue(after), read_queue(before))
    assert (what or "") in (said or "")
    assert (said is None) == (what is None)


def test_a_change_is_made_in_place_and_leaves_out_what_is_fixed() -> None:
    trial = make_trial(
        path={"queue": "fq_codel", "schedule": [{"at": "100 ms", "queue": {"type": "fq_codel", "target": "1 ms"}}]}
    )
    moments = orders(trial).plan.timeline
    changes = [each.words for moment in moments for each in moment.commands]
    assert len(changes) == 2
    for words in changes:
        assert words[:2] == ("qdisc", "change")
        assert "fq_codel" in words
        assert "flows" not in words
        assert words[words.index("target") + 1] == "1000us"


def test_a_new_rate_changes_the_bucket_and_not_the_queue() -> None:
    trial = make_trial(path={"queue": "red", "schedule": [{"at": "100 ms", "rate": "50 Mbit/s"}]})
    (moment,) = orders(trial).plan.timeline
    assert ["tbf" in each.words for each in moment.commands] == [True, True]


def test_each_direction_has_its_own_queue() -> None:
    assert [line.split()[0] for line in lines({"forward": "pie", "backward": "sfq"})] == ["pie", "sfq"]
    assert [line.split()[0] for line in lines({"forward": "pie"}, buffer="20 packets")] == ["pie", "pfifo"]


@pytest.mark.parametrize(
    ("name", "buffer", "limit"),
    [
        ("codel", "1 bdp", "limit 82"),
        ("codel", "77 packets", "limit 77"),
        ("codel", "100 kB", "limit 66"),
        ("codel", "10 B", "limit 1"),
        ("sfq", "10 B", "limit 2"),
        ("codel", None, "limit 1000"),
        ("fq_codel", None, "limit 10240"),
        ("dualpi2", None, "limit 10000"),
        ("red", "100 packets", "limit 151400"),
        ("red", None, "limit 151400"),
        ("cake", "100 packets", "memlimit 230400"),
        ("cake", "151400 B", "memlimit 230400"),
        ("cake", None, "memlimit 15503360"),
    ],
)
def test_the_limit_is_the_buffer_in_the_unit_of_the_type(name: str, buffer: str | None, limit: str) -> None:
    assert f"{limit} " in lines(name, buffer=buffer)[0]


def test_a_queue_that_fits_no_kernel_is_refused() -> None:
    with pytest.raises(UserError, match="more than an sfq with"):
        planned({"type": "sfq", "flows": 2, "depth": 10}, buffer="100 packets")
    with pytest.raises(UserError, match="allowed: a burst of more than"):
        planned({"type": "red", "burst": 1}, buffer="1 MB")
    with pytest.raises(UserError, match="allowed: nic: plain"):
        planned("fq")


def test_dualpi2_is_set_up_by_our_own_program_with_the_words_of_tc() -> None:
    plan = planned("dualpi2")
    steps = [each for each in batch.steps(plan.commands) if "/run/tools/dualpi2" in getattr(each, "words", ())]
    assert len(steps) == 2
    assert steps[0].words[1:6] == ("qdisc", "add", "dev", "end1", "parent")  # type: ignore[union-attr]


def test_of_red_tc_gets_all_and_netlink_tells_other_numbers() -> None:
    """By the formulas of iproute2's tc_red.c; trials in the lab kernel compare them with what it reports."""
    assert queue.weight(30_000, 55, 1000) == 5
    made = queue.made(Queue("red", (("min", 30_000), ("max", 90_000), ("avpkt", 1000))), 400_000, 1514, 10**7)
    told = {each.name: each.asked for each in queue.told(made)}
    assert (told["min"], told["max"], told["probability"]) == (30_000, 90_000, 85_899_345)
    assert told["slope"] == 22


def test_a_probability_of_red_that_the_kernel_cannot_count_is_refused() -> None:
    asked = Queue("red", (("min", 30_000), ("max", 90_000), ("avpkt", 1000), ("probability", Fraction(1, 10**9))))
    with pytest.raises(UserError, match="allowed: a larger one"):
        queue.made(asked, 400_000, 1514, 10**7)


def stage_evidence(trial: Any, **changes: Any) -> tuple[Any, StageEvidence]:
    plan = orders(trial).plan
    (emulated, way) = plan.emulators_passed(is_data=True)[0]
    stage = emulated.stage(way)
    found: dict[str, Qdisc] = {}
    for each in settings(stage, stage.start, CONTEXT):
        kind = {"2:": "tbf", BUFFER: stage.queue.type if stage.queue else "pfifo"}.get(each.handle, "netem")
        old = found.get(each.handle) or Qdisc(EMULATOR, 2, each.handle, kind)
        own = {each.name: each.asked} if hasattr(old, each.name) else {"more": {**old.more, each.name: each.asked}}
        found[each.handle] = replace(old, **own)  # type: ignore[arg-type]
    counted = Counts(3, 0, 5, largest_bytes=1514)
    first = QueueSample(1, EMULATOR, 2, BUFFER, "codel", 0, 0, 0, 0, 0, Counts(0, 0, 0, largest_bytes=0))
    last = replace(first, time_ns=10**9, bytes=151_400, packets=100, drops=3, counts=counted)
    above = tuple(replace(each, handle="2:", kind="tbf", counts=None) for each in (first, last))
    values = {"queue_around": (first, last), "around": above, "aqm_drops": 3, "marks": 5, "qdiscs": found, **changes}
    return plan, seen_stage(stage, data_packets=100, **values)


CODEL = make_trial(path={"queue": {"forward": {"type": "codel", "ecn": True}}})


def said(trial: Any = CODEL, **changes: Any) -> list[str]:
    plan, each = stage_evidence(trial, **changes)
    ping = PingResult(5, 5, 0.01, 0.01, 0.01, 0.0)
    seen = seen_evidence(ping, (each,), (), Outcome(None, None, None, 1e6, None, (), {}), (), {}, {}, None, 0)
    return [f"{one.verdict}: {one.text}" for one in queue_check.counted(Case(trial, plan, seen))]


@pytest.mark.parametrize(
    ("path", "most", "found"),
    [
        ({"buffer": "50 kB"}, {"backlog_bytes": 50_000, "backlog_packets": 700}, None),
        ({"buffer": "50 kB"}, {"backlog_bytes": 50_001, "backlog_packets": 40}, "50001 bytes waited"),
        ({"buffer": "30 packets"}, {"backlog_bytes": 50_001, "backlog_packets": 30}, None),
        ({"buffer": "30 packets"}, {"backlog_bytes": 100, "backlog_packets": 31}, "31 packets waited"),
        ({"queue": "codel", "buffer": "30 packets"}, {"backlog_bytes": 100, "backlog_packets": 31}, None),
    ],
)
@pytest.mark.parametrize("is_sample", [True, False])
def test_a_fifo_that_held_more_than_its_buffer_is_found(
    path: dict[str, Any], most: dict[str, int], found: str | None, is_sample: bool
) -> None:
    """Such as that of a kernel that takes a superpacket for one packet."""
    trial = make_trial(path=path)
    first = QueueSample(1, EMULATOR, 2, "2:", "tbf", 0, 0, 0, 0, 0)
    last = replace(first, time_ns=10**9, **most)
    plan, each = stage_evidence(trial, around=(first, first if is_sample else last))
    each = with_seen(each, samples=(first, last) if is_sample else ())
    told = list(queue_check.overfull(Case(trial, plan, SimpleNamespace(judged=(each,)))))  # type: ignore[arg-type]
    assert [(one.check, one.verdict) for one in told] == [("queue", "invalid")] * (found is not None)
    assert all(str(found) in one.text for one in told)


def looks(**changes: Any) -> tuple[QueueSample, QueueSample]:
    _, each = stage_evidence(CODEL)
    assert each.queue_around is not None
    first, last = each.queue_around
    return first, replace(last, **changes)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({}, None),
        ({"packets": 101}, None),  # one is still on its way out
        ({"packets": 99}, "99 packets left the codel, 100 the token bucket above it"),
        ({"packets": 102}, "102 packets left the codel, 100 the token bucket above it"),
        ({"drops": 4}, "the codel dropped 4 packets, the token bucket above it tells of 3"),
        ({"counts": None}, "missing: what the codel dropped and marked"),
        ({"counts": Counts(2, 0, 5)}, "of the 3 drops of the codel 2 were to signal and 0 as it was full"),
        ({"counts": Counts(4, -1, 5)}, "of the 3 drops of the codel 4 were to signal and -1 as it was full"),
        ({"counts": Counts(3, 0, 5, largest_bytes=1515)}, "a packet of 1515 bytes waited in the codel"),
        ({"bytes": 151_401}, "some exceed a frame of 1514"),
    ],
)
def test_what_a_queue_counted_must_add_up(changes: dict[str, Any], what: str | None) -> None:
    found = said(queue_around=looks(**changes))
    assert [each for each in found if what is not None and each.startswith("invalid") and what in each] == found
    assert bool(found) == (what is not None)


def test_drops_of_a_full_queue_are_a_note_and_unknown_ones_are_suspect() -> None:
    (note,) = said(queue_around=looks(counts=Counts(1, 2, 5)))
    assert note.startswith("valid: path forward: the codel was full, and dropped 2 packets for that")
    (note,) = said(queue_around=looks(counts=Counts(3, 0, 5, is_told_apart=False)))
    assert note.startswith("suspect: path forward: the memory of the codel was full")


CAKE = make_trial(path={"queue": {"forward": {"type": "cake", "ack_filter": "ack-filter"}}})


def cake_stats(drops: int, acks: int, marks: int) -> dict[int, bytes]:
    """What the kernel tells of a cake with two tins (linux/pkt_sched.h, TCA_CAKE_STATS_… and TCA_CAKE_TIN_STATS_…)."""

    def attribute(number: int, data: bytes) -> bytes:
        return struct.pack("=HH", 4 + len(data), number) + data

    def word(number: int, value: int) -> bytes:
        return attribute(number, struct.pack("=I", value))

    tins = b"".join(attribute(n, word(4, drops) + word(6, acks) + word(8, marks)) for n in (1, 2))
    return {4: word(3, 10**6) + word(4, 10**5) + attribute(10, tins)}


def test_of_cakes_drops_the_filtered_acks_are_counted_apart() -> None:
    found = queue_counter.counts("cake", 2 * (3 + 40), cake_stats(3, 40, 5), b"")
    assert found == Counts(6, 0, 10, filtered_acks=80)


def test_filtered_acks_are_no_congestion_and_told_where_nobody_asked_for_them() -> None:
    counts = Counts(1, 0, 5, filtered_acks=2)
    assert said(queue_around=looks(counts=counts)) == [
        "invalid: path forward: the codel filtered 2 ACKs, which was not asked for"
    ]
    assert said(trial=CAKE, queue_around=looks(counts=counts)) == []
    (wrong,) = said(trial=CAKE, queue_around=looks(counts=Counts(0, 0, 5, filtered_acks=2)))
    assert "of the 3 drops of the codel 0 were to signal and 0 as it was full, 2 were filtered ACKs" in wrong
    (note,) = said(trial=CAKE, queue_around=looks(counts=Counts(3, 0, 5)))
    assert note == "valid: path forward: the cake filtered no ACK"


def test_samples_of_the_queue_are_as_many_as_those_of_the_bucket() -> None:
    _, each = stage_evidence(CODEL)
    assert each.around is not None
    assert each.queue_around is not None
    sampled = replace(each.around[1], time_ns=5)
    plan, one = stage_evidence(CODEL)
    one = with_seen(one, samples=(sampled,))
    ping = PingResult(5, 5, 0.01, 0.01, 0.01, 0.0)
    seen = seen_evidence(ping, (one,), (), Outcome(None, None, None, 1e6, None, (), {}), (), {}, {}, None, 0)
    (found,) = queue_check.counted(Case(CODEL, plan, seen))
    assert "0 samples of the codel" in found.text


def differences(change: Any) -> list[str]:
    _, each = stage_evidence(CODEL)
    qdiscs = dict(each.qdiscs)
    change(qdiscs)
    return list(set_up_check.differences(each.stage, each.stage.start, qdiscs, CONTEXT))


def _other(**changes: Any) -> Any:
    return lambda qdiscs: qdiscs.__setitem__(BUFFER, replace(qdiscs[BUFFER], **changes))


def _more(name: str, number: int | None) -> Any:
    def change(qdiscs: dict[str, Qdisc]) -> None:
        rest = {key: each for key, each in qdiscs[BUFFER].more.items() if key != name}
        more = rest if number is None else {**rest, name: number}
        qdiscs[BUFFER] = replace(qdiscs[BUFFER], more=more)

    return change


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda qdiscs: None, None),
        (lambda qdiscs: qdiscs.pop(BUFFER), "queue: asked codel, the kernel has none"),
        (_other(kind="pfifo"), "queue: asked codel, the kernel has pfifo"),
        (_other(kind="fq_codel"), "queue: asked codel, the kernel has fq_codel"),
        (_other(limit=81), "limit in packets of codel: asked 82, the kernel has 81"),
        (_more("target", 4997), "target in us of codel: asked 5000, the kernel has 4997"),
        (_more("target", 0), "target in us of codel: asked 5000, the kernel has 0"),
        (_more("target", None), "target in us of codel: asked 5000, the kernel has none"),
        (_more("ecn", 0), "ecn of codel: asked 1, the kernel has 0"),
        (_more("ce_threshold", 1000), "ce_threshold of codel: not asked for, the kernel has 1000"),
        (_more("attribute_9", 1), "attribute_9 of codel: not asked for, the kernel has 1"),
    ],
)
def test_a_queue_that_is_not_as_asked_is_found(change: Any, what: str | None) -> None:
    assert differences(change) == ([] if what is None else [what])


def test_a_queue_that_nobody_asked_for_is_found() -> None:
    trial = make_trial(path={"buffer": "20 packets"})
    _, each = stage_evidence(trial)
    codel = {**each.qdiscs, BUFFER: replace(each.qdiscs[BUFFER], kind="codel")}
    said = list(set_up_check.differences(each.stage, each.stage.start, codel, CONTEXT))
    assert said == ["queue: asked pfifo, the kernel has codel"]


def test_counts_of_each_kind_are_read_from_its_own_structure() -> None:
    codel = struct.pack("=4Ii4I", 1514, 7, 0, 0, 0, 2, 11, 1, 13)
    found = queue_counter.counts("codel", 9, {4: codel}, b"")
    assert found == Counts(7, 2, 24, largest_bytes=1514)
    below = struct.pack("=HHIHHI", 8, 1, 5000, 8, 5, 1000)
    found = queue_counter.counts("codel", 9, {4: codel}, below)
    assert found is not None
    assert found.marks == 13
    pie = struct.pack("=Q8I", 0, 0, 0, 0, 0, 9, 4, 0, 6)
    assert queue_counter.counts("pie", 9, {4: pie}, b"") == Counts(5, 4, 6)
    red = struct.pack("=4I", 3, 6, 0, 2)
    assert queue_counter.counts("red", 9, {4: red}, b"") == Counts(3, 6, 2)
    dualpi2 = struct.pack("=12I", 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0)
    full = struct.pack("=5I", 0, 0, 9, 0, 4)
    assert queue_counter.counts("dualpi2", 9, {3: full, 4: dualpi2}, b"") == Counts(5, 4, 8)
    assert queue_counter.counts("sfq", 9, {}, b"") == Counts(0, 9, 0)
    assert queue_counter.counts("pfifo", 9, {}, b"") is None
    with pytest.raises(struct.error):
        queue_counter.counts("red", 9, {4: b"\0"}, b"")


def test_what_a_socket_says_of_ecn() -> None:
    old = bytes(5) + b"\x08" + bytes(194)
    assert ecn(b"") is None
    found = ecn(old)
    assert found is not None
    assert (found.mode, found.received_ce) == ("on", None)
    new = bytearray(280)
    struct.pack_into("=I", new, 276, 2)
    struct.pack_into("=I", new, 196, 4)
    found = ecn(bytes(new))
    assert found is not None
    assert (found.mode, found.delivered_ce) == ("accurate", 4)


@pytest.mark.parametrize(("written", "value"), [("off", "0"), ("on", "1"), ("accurate", "3"), (True, "1")])
def test_hosts_say_which_ecn_they_use(written: Any, value: str) -> None:
    nodes = {"a": {"type": "host", "ecn": written}, "b": {"type": "host"}}
    links = {"path": {"ends": ["a", "b"], "rate": "10 Mbit/s", "rtt": "10 ms"}}
    trial = make_trial(topology={"name": "net", "nodes": nodes, "links": links})
    writes = {each.netns: each.words[1] for each in orders(trial).plan.commands if "tcp_ecn" in each.words[0]}
    assert writes == {"tb-a": value}


def test_whoever_asks_for_marks_is_told_unless_a_queue_makes_them() -> None:
    def trial(written: Any) -> Any:
        return make_trial(path={"queue": written}, sysctls={"net.ipv4.tcp_ecn": "1"})

    marking = {"type": "pie", "ecn": True}
    for written, is_told in (("fifo", True), ("codel", True), ("fq_codel", False), (marking, False)):
        found = list(remarks(trial(written), orders(trial(written)).plan))
        assert bool(found) == is_told, written


def test_the_emulator_of_a_plain_link_has_no_queue() -> None:
    trial = make_trial()
    assert all(stage.queue is None for each in orders(trial).plan.emulators for stage in each.stages)


def sample(mode: str = "off", delivered: int = 0, received: int | None = 0, netns: str = "tb-a") -> TcpSample:
    return TcpSample(
        1, netns, "10.0.0.1", 80, "10.0.0.2", 9, "cubic", {"total_rto": 0}, EcnInfo(mode, delivered, received)
    )


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ([sample()], None),
        ([sample("not decided"), sample(received=None, netns="tb-b")], None),
        ([replace(sample(), ecn=None)], "tb-a tells nothing of ECN"),
        ([replace(sample(), ecn=None, info={})], None),
        ([sample(), sample(received=None)], "tells less of ECN than another one"),
        ([sample("absurd")], "tells of ECN 'absurd'"),
        ([sample(delivered=-1)], "of -1 and 0 marks"),
        ([sample("on")], "has ECN on and 0 marks, which was not asked for"),
        ([sample("off", 3)], "has ECN off and 3 marks"),
    ],
)
def test_what_samples_say_of_ecn_is_whole_and_nobody_has_it_unasked(samples: Any, words: str | None) -> None:
    plan, each = stage_evidence(CODEL)
    ping = PingResult(5, 5, 0.01, 0.01, 0.01, 0.0)
    seen = seen_evidence(
        ping, (each,), (), Outcome(None, None, None, 1e6, None, (), {}), tuple(samples), {}, {}, None, 0
    )
    told = [f"{one.verdict}: {one.text}" for one in queue_check.ecn_samples(Case(make_trial(), plan, seen))]
    assert len(told) == (words is not None)
    assert words is None or words in told[0].removeprefix("invalid: ")


@pytest.mark.parametrize(
    "asked",
    [
        {"sysctls": {"net.ipv4.tcp_ecn": "1"}},
        {"workload": {"congestion": "dctcp"}},
        {"topology": {"name": "n", "nodes": {"a": {"type": "host"}, "b": {"type": "host", "ecn": "on"}},
                      "links": {"path": {"ends": ["a", "b"], "rate": "1 Mbit/s"}}}},
    ],
    ids=["sysctl", "dctcp", "host"],
)  # fmt: skip
def test_whoever_asks_for_ecn_may_have_it(asked: dict[str, Any]) -> None:
    trial = make_trial(**asked)
    plan, each = stage_evidence(CODEL)
    ping = PingResult(5, 5, 0.01, 0.01, 0.01, 0.0)
    samples = (sample("on", 3, 0),)
    seen = seen_evidence(ping, (each,), (), Outcome(None, None, None, 1e6, None, (), {}), samples, {}, {}, None, 0)
    assert list(queue_check.ecn_samples(Case(trial, plan, seen))) == []


@pytest.mark.parametrize(
    ("host", "control", "mode", "verdicts"),
    [
        ("off", "dctcp", "on", ["valid"]),  # tcp_ecn_send_syn asks where the control needs it, whatever the sysctl
        ("off", "cubic", "on", ["suspect"]),
        ("off", "dctcp", "off", []),
        ("on", "dctcp", "off", ["suspect"]),
        ("on", "dctcp", "on", []),
    ],
)
def test_a_control_that_needs_marks_asks_for_them_by_itself(
    host: str, control: str, mode: str, verdicts: list[str]
) -> None:
    nodes = {"a": {"type": "host", "ecn": host}, "b": {"type": "host"}}
    topology = {"name": "n", "nodes": nodes, "links": {"path": {"ends": ["a", "b"], "rate": "1 Mbit/s"}}}
    trial = make_trial(topology=topology, workload={"congestion": control})
    plan, each = stage_evidence(CODEL)
    ping = PingResult(5, 5, 0.01, 0.01, 0.01, 0.0)
    samples = (replace(sample(mode), congestion=control),)
    seen = seen_evidence(ping, (each,), (), Outcome(None, None, None, 1e6, None, (), {}), samples, {}, {}, None, 0)
    assert [one.verdict for one in queue_check.ecn(Case(trial, plan, seen))] == verdicts
