"""Looks at queues whose packets are told at one moment and their bytes at a later one, as kernels do in real time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from patience import wait_for
from test_gate import EMULATOR, carried, on_data
from test_gate_sample import of, sampled
from test_mininet import in_mininet, tc_evidence
from trials import make_trial

from testbed.native_program import tools
from testbed.plan.link.stage import BUFFER, RATE
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.stage import TcEvidence
from testbed.trial.gate import consistency
from testbed.trial.gate.link import tclink_check
from testbed.trial.observe.queue_counter import Counts
from testbed.trial.observe.sample import Query, QueueSample, queue_samples
from testbed.trial.orders.sequence import orders

LEFT, CAME_BYTES = 826, 1_250_000
"""What moved between the samples 1 and 3 of `carried`; after the sample 3 nothing moves."""


@pytest.mark.parametrize("kernel", ["lab", "lab-realtime", "host"])
@pytest.mark.parametrize(
    ("number", "packets", "octets", "refused"),
    [
        (2, 0, 66, False),
        (2, 1, 0, False),
        (2, LEFT, 0, False),
        (2, LEFT + 1, 0, True),
        (2, 0, CAME_BYTES, False),
        (2, 0, CAME_BYTES + 1, True),
        (1, 0, 66, False),
        (3, 1, 0, True),
        (5, 0, 1, True),
        (5, 1, 0, True),
    ],
)
def test_only_the_packets_or_only_the_bytes_may_wait_where_so_many_moved_and_time_is_real(
    kernel: str, number: int, packets: int, octets: int, refused: bool
) -> None:
    said = f"path forward: {packets} packets of {octets} bytes waited"
    if kernel != "lab":
        left, came_bytes = (LEFT, CAME_BYTES) if number < 3 else (0, 0)
        said += f", and from the look before it to the next {left} packets left and {came_bytes} bytes came"
    change = sampled(number, backlog_packets=packets, backlog_bytes=octets)
    found = of(consistency.queue_samples.queues, change, kernel=kernel)
    assert found == ([("invalid", said)] if refused or kernel == "lab" else [])


def test_bytes_that_wait_at_the_next_look_or_were_dropped_came() -> None:
    """Nothing left meanwhile. A dropped packet may have been a superpacket."""
    first = carried(0)[0]
    waits = replace(first, time_ns=first.time_ns + 1, backlog_bytes=66)
    after = replace(first, time_ns=first.time_ns + 2)

    def found(after: QueueSample) -> list[str]:
        return list(consistency.queue_samples._waiting_faults((first, waits, after), is_exact=False))

    assert len(found(after)) == 1
    assert found(replace(after, backlog_packets=1, backlog_bytes=66)) == []
    assert len(found(replace(after, backlog_packets=1, backlog_bytes=65))) == 1
    assert found(replace(after, drops=after.drops + 1)) == []


def test_bytes_that_waited_before_and_never_leave_did_not_come() -> None:
    """Such as those of a queue that counted a packet off without its bytes: they wait at every look from then on."""
    looks = [replace(each, backlog_packets=10, backlog_bytes=15_140) for each in carried(*(100e6,) * 20)]
    looks[24:] = [replace(each, backlog_packets=0, backlog_bytes=66) for each in looks[24:]]
    said = "path forward: 0 packets of 66 bytes waited, and from the look before it to the next 0 packets left and 0 "
    found = of(consistency.queue_samples.queues, on_data(samples=tuple(looks), around=None), kernel="host")
    assert found == [("invalid", f"{said}bytes came")]


@pytest.mark.parametrize("lacked", ["backlog_bytes", "backlog_packets"])
@pytest.mark.parametrize(("full", "even", "refused"), [(40, 0, False), (41, 0, True), (41, 1, False)])
def test_a_queue_of_which_nobody_tells_the_packets_or_the_bytes_is_refused_though_it_is_mostly_empty(
    lacked: str, full: int, even: int, refused: bool
) -> None:
    """It holds something at fewer than half of the looks. Chance would bring one with both."""
    looks = [*carried(*(100e6,) * (full + 2))]
    looks += [replace(looks[-1], time_ns=looks[-1].time_ns + n) for n in range(1, full)]
    for n in range(full):
        whole = replace(looks[3 + n], backlog_packets=10, backlog_bytes=15_140)
        looks[3 + n] = whole if n < even else replace(whole, **{lacked: 0})
    said = f"something waited at {full} looks, and none tells of {lacked.removeprefix('backlog_')}"
    expected = [("invalid", f"path forward: {said}")] if refused else []
    assert of(consistency.queue_samples.queues, on_data(samples=tuple(looks), around=None), kernel="host") == expected


@pytest.mark.parametrize(("uneven", "refused"), [(0, False), (18, False), (19, True), (36, True)])
@pytest.mark.parametrize("told", [{"backlog_packets": 0}, {"backlog_bytes": 0}])
def test_a_queue_that_lacks_its_packets_or_its_bytes_at_most_looks_is_refused(
    uneven: int, refused: bool, told: dict[str, int]
) -> None:
    """Such as that of a kernel that never tells one of them: chance brings no more than half."""
    full = [replace(each, backlog_packets=10, backlog_bytes=15_140) for each in carried(*(100e6,) * 34)]
    looks = [replace(each, **told) if n < uneven else each for n, each in enumerate(full)]
    said = f"packets without bytes, or bytes without packets, waited at {uneven} of 36 looks"
    expected = [("invalid", f"path forward: {said}")] if refused else []
    assert of(consistency.queue_samples.queues, on_data(samples=tuple(looks), around=None), kernel="host") == expected


@pytest.mark.parametrize(
    ("kind", "counts", "exact", "real"),
    [
        ("codel", (4, 2), None, None),
        ("codel", (3, 3), "aqm_drops went from 4 to 3", None),
        ("red", (3, 3), "aqm_drops went from 4 to 3", "aqm_drops went from 4 to 3"),
        ("codel", (2, 3), "aqm_drops went from 4 to 2", "aqm_drops went from 4 to 2"),
        ("codel", (5, 1), "full_drops went from 2 to 1", "full_drops went from 2 to 1"),
    ],
)
def test_drops_of_a_full_queue_may_be_among_the_others_until_the_next_look(
    kind: str, counts: tuple[int, int], exact: str | None, real: str | None
) -> None:
    """CoDel's are all drops but those of a full queue, which are told before. RED tells both itself."""
    one = QueueSample(1, EMULATOR, 2, BUFFER, kind, 0, 0, 6, 0, 0, Counts(4, 2, 0))
    pair = (one, replace(one, time_ns=2, counts=Counts(*counts, 0)))
    for is_exact, fault in ((True, exact), (False, real)):
        found = consistency.queue_samples.faults_of(pair, EMULATOR, BUFFER, is_exact, asked=kind)
        assert list(found) == ([fault] if fault else [])


@pytest.mark.parametrize("kernel", ["lab", "lab-realtime", "host"])
@pytest.mark.parametrize(
    ("waits", "lab", "real"),
    [
        ([(2, 3028)] * 4, None, None),
        ([(2, 3029), (0, 66)], "invalid", None),
        ([(2, 3 * 1514)] * 4, "invalid", None),
        ([(2, 3 * 1514 + 1), (2, 3028)], "invalid", "suspect"),
        ([(2, 3 * 1514 + 1)] * 2, "invalid", "suspect"),
        ([(2, 3 * 1514 + 1)] * 3, "invalid", "invalid"),
        ([(1, 65_226)] * 3, "invalid", "invalid"),
        ([(1, 3028)] * 40, "invalid", None),
        ([(1, 3028)] * 41, "invalid", "invalid"),
        ([(1, 3028)] * 41 + [(1, 1514)] * 41, "invalid", None),
    ],
)
def test_a_packet_that_comes_during_a_look_makes_no_superpacket(
    kernel: str, waits: list[tuple[int, int]], lab: str | None, real: str | None
) -> None:
    trial = replace(in_mininet(), kernel=make_trial(kernel=kernel).kernel)
    plan = replace(orders(trial).plan, nics=(("a", "plain"), ("b", "plain")))

    def waiting(each: TcEvidence) -> TcEvidence:
        look = each.samples[0]
        looks = [replace(look, time_ns=n, backlog_packets=p, backlog_bytes=o) for n, (p, o) in enumerate(waits)]
        return replace(each, samples=tuple(looks))

    found = {each.verdict for each in tclink_check.superpackets(Case(trial, plan, tc_evidence(trial, waiting)))}
    verdict = lab if kernel == "lab" else real
    assert found == ({verdict} if verdict else set())


NETNS = "tb-look-apart"
LOOK_BYTES = 1024
"""A look takes a third of it in the file."""
FLOOD = """\
import socket
flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    flood.sendto(bytes(24), ("10.9.3.2", 9))
"""


def on(number: int) -> list[str]:
    """The words before a command that shall run on the first processor, or on the last one."""
    return ["taskset", "--cpu-list", str(sorted(os.sched_getaffinity(0))[number])]


def passed_bytes() -> int:
    words = ["tc", "-n", NETNS, "-s", "qdisc", "show", "dev", "eth0"]
    return int(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout.split(b"Sent ")[1].split()[0])


@pytest.fixture
def flooded() -> Iterator[None]:
    """A token bucket in which a packet waits only while it is passed on, half a million times a second."""
    run = ["ip", "-n", NETNS]
    subprocess.run(["ip", "netns", "add", NETNS], check=True)
    try:
        for words in (
            "link add eth0 type veth peer name eth1",
            "link set eth0 up",
            "link set eth1 up",
            "address add 10.9.3.1/24 dev eth0",
            "neighbour add 10.9.3.2 lladdr 02:00:00:00:00:01 dev eth0",
        ):
            subprocess.run([*run, *words.split()], check=True)
        bucket = "qdisc add dev eth0 root handle 2: tbf rate 10gbit burst 1mb limit 1mb"
        subprocess.run(["tc", "-n", NETNS, *bucket.split()], check=True)
        with subprocess.Popen([*on(0), "ip", "netns", "exec", NETNS, sys.executable, "-c", FLOOD]) as process:
            wait_for(lambda: passed_bytes() > 1 << 20, "the flood")
            yield
            process.kill()
    finally:
        subprocess.run(["ip", "netns", "delete", NETNS], check=True)


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.usefixtures("flooded")
def test_what_the_kernel_of_this_computer_tells_of_a_busy_queue_is_fine(tmp_path: Path) -> None:
    """With two processors tens of 10 000 looks show packets without bytes, or bytes without packets."""
    file = tmp_path / "samples.bin"
    words = [*on(-1), tools().folder / "observe", file, "200000", f"qdisc@{NETNS}"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as observer:
        with pytest.raises(subprocess.TimeoutExpired):
            observer.wait(2)
        wait_for(lambda: file.exists() and file.stat().st_size > 1000 * LOOK_BYTES, "1000 looks")
        observer.send_signal(signal.SIGTERM)
    found = [each for each in queue_samples(file.read_bytes(), (Query("qdisc", NETNS),)) if each.handle == RATE]
    assert len(found) > 1000
    assert found[-1].packets > found[0].packets
    assert all(later.time_ns > one.time_ns for one, later in pairwise(found))
    assert list(consistency.queue_samples.faults_of(found, NETNS, RATE, is_exact=False)) == []
