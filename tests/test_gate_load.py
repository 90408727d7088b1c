"""What the gate makes of a tool that did less, or at other times, than it was asked to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from trials import found_in, make_trial, seen_evidence

from testbed.trial import record
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.outcome import Outcome
from testbed.trial.evidence.stage import Evidence
from testbed.trial.measured import PingResult
from testbed.trial.observe.sample import TcpSample
from testbed.trial.orders.sequence import orders
from testbed.trial.result import FlowResult
from testbed.trial.workload import command, flow, short_flow
from testbed.trial.workload.command import CommandResult
from testbed.trial.workload.command_output import ProgramRun

PING = PingResult(5, 5, 0.01, 0.01, 0.01, 0.0)


def evidence(flows: tuple[FlowResult, ...] = (), measured: dict[str, Any] | None = None, **more: Any) -> Evidence:
    outcome = Outcome(None, None, None, 1e6, None, flows, measured or {})
    return replace(seen_evidence(PING, (), (), outcome, (), {}, {}, None, 0), **more)


PACED = {"rate": "8 Mbit/s", "duration": "10 s"}
WRITTEN = {"writes": {"size": "100 kB", "every": "100 ms"}, "duration": "10 s"}


@pytest.mark.parametrize("workload", [PACED, WRITTEN])
@pytest.mark.parametrize(
    ("received", "resent", "path", "verdicts"),
    [
        (10_000_000, 0, {}, []),
        (9_100_000, 0, {}, []),
        (5_000_000, 0, {}, ["suspect"]),
        (0, 0, {}, ["suspect"]),
        (12_000_000, 0, {}, ["invalid"]),
        (5_000_000, 3, {}, []),
        (5_000_000, 0, {"rate": "9 Mbit/s"}, []),
        (5_000_000, 0, {"schedule": [{"at": "5 s", "rate": "20 Mbit/s"}]}, []),
    ],
)
def test_a_flow_brings_what_its_rate_or_its_application_makes_where_nothing_holds_it_back(
    workload: dict[str, Any], received: int, resent: int, path: dict[str, Any], verdicts: list[str]
) -> None:
    trial = make_trial(path={"rate": "100 Mbit/s", **path}, workload=workload)
    one = FlowResult(received * 0.8, resent, None, "cubic", 5001, received)
    found = found_in(flow.rates, Case(trial, orders(trial).plan, evidence((one,))))
    assert [each.verdict for each in found] == verdicts


@pytest.mark.parametrize(("port", "is_found"), [(5001, False), (5128, False), (2500, True), (10_002, True)])
@pytest.mark.parametrize("requests", [None, {"connections": 2}])
def test_flows_that_arrive_do_so_at_the_ports_of_the_data(port: int, is_found: bool, requests: Any) -> None:
    asked = {"arrivals": {"poisson": "50 /s"}, "size": "20 kB", "duration": "1 s"}
    trial = make_trial(workload={**asked, **({"requests": requests} if requests else {})})
    ends = (port, 40_000) if requests else (40_000, port)
    sample = TcpSample(0, "tb-a", "10.0.0.1", ends[0], "10.0.0.2", ends[1], "cubic", {})
    found = found_in(short_flow.listens, Case(trial, orders(trial).plan, evidence(tcp=(sample,))))
    assert bool(found) == is_found


SERVER = {"at": "b", "run": ["sleep", "100"]}
CLIENT = {"at": "a", "run": ["true"], "runs": 2, "start": "500 ms", "pause": "1 s"}


@pytest.mark.parametrize(
    ("begins", "left", "verdict"),
    [
        ((0.5, 1.7), (), None),
        ((0.25, 1.45), (), "invalid"),
        ((1.0, 2.2), (), "invalid"),
        ((0.5, 0.7), (), "invalid"),
        ((0.5, 2.7), (), "invalid"),
        ((0.5, 3.7), ("client left sleep",), None),
    ],
)
def test_runs_of_a_program_begin_when_they_were_to(
    begins: tuple[float, float], left: tuple[str, ...], verdict: str | None
) -> None:
    trial = make_trial(workload={"tool": "command", "server": SERVER, "client": CLIENT})
    runs = tuple(ProgramRun("client", number, begin_s, 0.2, 0) for number, begin_s in enumerate(begins, 1))
    told = CommandResult(
        runs=runs, values={}, traffic={}, goodput_from="counters", collected=(), uncollected=(), left=left, stopped={}
    )
    found = found_in(
        command.starts, Case(trial, orders(trial).plan, evidence(measured={CommandResult.KEY: record.write(told)}))
    )
    assert [each.verdict for each in found] == ([verdict] if verdict else [])
