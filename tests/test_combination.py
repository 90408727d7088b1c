"""What a link can have at once: queues, buckets, traces and faults together, on each NIC, engine and kernel. Every
combination is valid, or refused before anything runs, with the reason. In `make test` each rate meets every fault,
a few on a link; `make nightly` has every pair.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
from trials import RunTrial, make_trial

from testbed.error import UserError
from testbed.kernel.ready import feasibility
from testbed.kernel.ready.probe import Lacking
from testbed.model.link.queue import QUEUES
from testbed.model.scenario import Trial
from testbed.trial import readiness
from testbed.trial.orders.sequence import orders

TRACE = {"file": "lines.trace", "opportunities": "ms " + "1x3 " * 99 + "2"}
RATES: dict[str, dict[str, Any]] = {
    "rate": {},
    "shaper": {"rate": None, "shaper": {"rate": "40 Mbit/s", "burst": "8 Mbit", "refill": "10 Mbit/s"}},
    "policer": {"policer": {"rate": "20 Mbit/s", "burst": "64 KiB"}},
    "per_flow": {"per_flow": "20 Mbit/s"},
    "policed flows": {"per_flow": {"rate": "20 Mbit/s", "burst": "64 KiB", "police": True}},
    "trace": {"rate": {"backward": "100 Mbit/s"}, "trace": {"forward": TRACE}},
    "policy": {"policy": {"after": "500 kB", "rate": "20 Mbit/s"}},
}
"""What limits the rate of a link."""

FAULTS: dict[str, dict[str, Any]] = {
    "down": {"down": {"from": "500 ms", "for": "100 ms"}},
    "duplicate": {"duplicate": "1 in 50"},
    "corrupt": {"corrupt": "1 in 50"},
    "late": {"reorder": {"forward": {"every": 40, "by": "2 ms"}}},
    "overtaken": {"reorder": {"forward": {"every": 40, "by": "3 packets"}}},
    "ack_loss": {"ack_loss": "1 in 10"},
    "aggregate": {"aggregate": {"forward": {"time": "4 ms", "bytes": "10 kB"}}},
    "loss": {"loss": "1 in 100"},
    "jitter": {"jitter": {"sd": "100 us", "distribution": "normal"}},
}

REFUSED = {
    ("shaper", "down"): "a link cannot have 'shaper' and go down",
    ("trace", "down"): "a link cannot have 'trace' and go down",
    ("per_flow", "down"): "a link cannot have 'per_flow' and go down",
    ("shaper", "overtaken"): "its rate varies; allowed: a time",
    ("trace", "overtaken"): "its rate varies; allowed: a time",
}
"""What cannot be together, and why."""

REFUSED_QUEUES = {("fq", "duplicate"): "the copies that 'duplicate' makes have none"}
"""The same of queues and faults."""


def path(rate: str, queue: str, fault: str) -> dict[str, Any]:
    buffer = "200 packets" if queue == "cake" else "100 packets"  # of a full one nobody knows what it dropped why
    return {**RATES[rate], "buffer": buffer, "queue": {"forward": queue}, **FAULTS[fault]}


def rows() -> list[tuple[str, str, str]]:
    """Every pair of a queue and a fault that can be, once; with them every rate and queue, and every rate and fault."""
    found: list[tuple[str, str, str]] = []
    for (number, queue), (other, fault) in product(enumerate(QUEUES), enumerate(FAULTS)):
        if (queue, fault) in REFUSED_QUEUES:
            continue
        can = [rate for rate in RATES if (rate, fault) not in REFUSED]
        can = can[(number + other) % len(can) :] + can[: (number + other) % len(can)]
        queues, faults = {(one, two) for one, two, _ in found}, {(one, two) for one, _, two in found}
        rate = max(can, key=lambda each: ((each, queue) not in queues) + ((each, fault) not in faults))
        found.append((rate, queue, fault))
    missing = set(product(RATES, QUEUES)) - {(rate, queue) for rate, queue, _ in found}
    lone = set(product(RATES, FAULTS)) - {(rate, fault) for rate, _, fault in found} - REFUSED.keys()
    found += [(rate, "codel", fault) for rate, fault in sorted(lone)]
    return [*found, *((rate, queue, "loss") for rate, queue in sorted(missing))]


def together() -> list[tuple[str, str, tuple[str, ...]]]:
    """Of each rate three rows, which share out the faults that it can have; with the next queue each time."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for number, rate in enumerate(RATES):
        can = [fault for fault in (sorted(FAULTS) if number % 2 else FAULTS) if (rate, fault) not in REFUSED]
        for first in range(3):
            queue = list(QUEUES)[len(found) % len(QUEUES)]
            found.append((rate, queue, tuple(can[first::3])))
    return found


def marked(of: Iterable[tuple[str, ...]]) -> list[object]:
    return [pytest.param(*each, id="-".join(each), marks=pytest.mark.nightly) for each in of]


def test_the_rows_of_several_faults_have_every_queue_and_every_pair_of_a_rate_and_a_fault() -> None:
    found = together()
    assert {queue for _, queue, _ in found} == set(QUEUES)
    assert {(rate, each) for rate, _, faults in found for each in faults} == set(
        product(RATES, FAULTS)
    ) - REFUSED.keys()
    assert all(len(faults) > 1 for _, _, faults in found)


@pytest.mark.lab
@pytest.mark.parametrize(
    ("rate", "queue", "faults"), together(), ids=lambda word: word if isinstance(word, str) else "-".join(word)
)
def test_a_link_can_have_several_faults_at_once(
    run_trial: RunTrial, rate: str, queue: str, faults: tuple[str, ...]
) -> None:
    asked = {key: value for fault in faults for key, value in path(rate, queue, fault).items()}
    nic = "plain" if queue == "fq" or len(faults) % 2 else "offload"
    ran = run_trial(path=asked, workload=FLOW if "ack_loss" in faults else DATAGRAMS, nic=nic)
    assert ran.result.verdict == "valid", ran.result.warnings


def test_the_rows_have_every_pair_that_can_be() -> None:
    found = rows()
    assert {(queue, fault) for _, queue, fault in found} == set(product(QUEUES, FAULTS)) - REFUSED_QUEUES.keys()
    assert {(rate, fault) for rate, _, fault in found} == set(product(RATES, FAULTS)) - REFUSED.keys()
    assert {(rate, queue) for rate, queue, _ in found} == set(product(RATES, QUEUES))


@pytest.mark.lab
@pytest.mark.parametrize(("rate", "queue", "fault"), marked(rows()))
def test_a_link_can_have_a_queue_and_a_fault_whatever_limits_its_rate(
    run_trial: RunTrial, rate: str, queue: str, fault: str
) -> None:
    nic = "plain" if queue == "fq" or list(FAULTS).index(fault) % 2 else "offload"
    ran = run_trial(path=path(rate, queue, fault), nic=nic)
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.lab
@pytest.mark.parametrize(("rate", "fault"), marked(pair for pair in product(RATES, FAULTS) if pair not in REFUSED))
def test_a_link_can_have_a_fault_whatever_limits_its_rate(run_trial: RunTrial, rate: str, fault: str) -> None:
    asked = {"buffer": "100 packets", **RATES[rate], **FAULTS[fault]}
    ran = run_trial(path=asked, workload=FLOW if fault == "ack_loss" else DATAGRAMS)
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.parametrize(("rate", "fault"), REFUSED)
def test_what_cannot_be_together_is_refused_with_the_reason(rate: str, fault: str) -> None:
    with pytest.raises(UserError, match=REFUSED[rate, fault]):
        orders(make_trial(path={"buffer": "100 packets", **RATES[rate], **FAULTS[fault]}))


@pytest.mark.parametrize(("queue", "fault"), REFUSED_QUEUES)
def test_a_queue_and_a_fault_that_cannot_be_together_are_refused_with_the_reason(queue: str, fault: str) -> None:
    with pytest.raises(UserError, match=REFUSED_QUEUES[queue, fault]):
        orders(make_trial(path=path("rate", queue, fault), nic="plain"))


FLOW = {"tool": "flow", "duration": "1 s"}
"""Datagrams have no acknowledgements that could be lost."""
DATAGRAMS = {"tool": "udp", "rate": "15 Mbit/s", "duration": "1 s"}


def mininet(asked: dict[str, Any]) -> dict[str, Any]:
    link = {"ends": ["s", "b"], "rate": "50 Mbit/s", "delay": "5 ms", "buffer": "100 packets", **asked}
    nodes = {"a": {"type": "host"}, "s": {"type": "switch"}, "b": {"type": "host"}}
    links = {"in": {"ends": ["a", "s"]}, "path": {key: value for key, value in link.items() if value is not None}}
    return {"name": "net", "engine": "mininet", "nodes": nodes, "links": links}


ASKED = {
    **{name: {"queue": {"forward": name}} for name in QUEUES if name != "fq"},
    **{name: asked for name, asked in (*RATES.items(), *FAULTS.items()) if name not in ("rate", "policy", "loss")},
}


@pytest.mark.lab
@pytest.mark.parametrize("name", [pytest.param(each, marks=pytest.mark.nightly) for each in ASKED])
def test_a_link_between_nodes_of_mininet_can_have_it(run_trial: RunTrial, name: str) -> None:
    ran = run_trial(topology=mininet(ASKED[name]))
    assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.lab
@pytest.mark.parametrize("name", [pytest.param(each, marks=pytest.mark.nightly) for each in (*ASKED, "fq")])
def test_on_the_wall_clock_it_is_valid_or_says_that_the_computer_is_busy(run_trial: RunTrial, name: str) -> None:
    ran = run_trial(path={"buffer": "100 packets", **ASKED.get(name, {"queue": {"forward": name}})},
                    nic="plain", kernel="lab-realtime")  # fmt: skip
    assert ran.result.verdict != "invalid", ran.result.warnings


@pytest.mark.parametrize("name", ["shaper", "policer", "per_flow", "trace"])
def test_the_host_refuses_queueing_disciplines_of_ours(name: str) -> None:
    trial = make_trial(path={"buffer": "100 packets", **RATES[name]}, kernel="host")
    with pytest.raises(UserError, match="queueing disciplines of ours, which only the lab kernel has"):
        readiness.check(trial, orders(trial))


@pytest.mark.skipif(os.geteuid() != 0, reason="others are told first that they need root")
@pytest.mark.parametrize("name", [*QUEUES, *FAULTS])
def test_the_host_can_do_it_or_says_what_it_lacks(name: str) -> None:
    asked = FAULTS.get(name, {"queue": {"forward": name}})
    trial = make_trial(path={"buffer": "100 packets", **asked}, nic="plain", kernel="host")
    lacks = feasibility.obstacles(trial.topology, "host", orders(trial).plan)
    assert all(isinstance(each.why, Lacking) and each.why.fix and "modprobe" in each.why.fix for each in lacks), lacks


@pytest.mark.parametrize(
    ("name", "kernel", "why"),
    [
        ("shaper", "host", "queueing disciplines of ours, which only the lab kernel has"),
        ("policer", "host", "queueing disciplines of ours, which only the lab kernel has"),
        ("per_flow", "host", "queueing disciplines of ours, which only the lab kernel has"),
        ("trace", "host", "queueing disciplines of ours, which only the lab kernel has"),
    ],
)
def test_beside_a_virtual_machine_it_is_refused_where_the_lab_kernel_would_be_needed(
    name: str, kernel: str, why: str
) -> None:
    links = {"path": {**mininet(ASKED[name])["links"]["path"], "ends": ["a", "b"]}}
    network = {"name": "net", "nodes": {"a": {"type": "host"}, "b": {"type": "vm"}}, "links": links}
    trial = make_trial(topology=network, workload={"tool": "ping", "count": 5}, kernel=kernel)
    with pytest.raises(UserError, match=why):
        checked(trial)


def checked(trial: Trial) -> None:
    readiness.check(trial, orders(trial))
