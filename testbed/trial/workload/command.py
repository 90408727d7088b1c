"""The workload `command`: programs as they are, which our own program starts and watches (see native/command.c)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import ClassVar

from ...codec.frozen import dataclass
from ...error import UserError
from ...kernel.guest import TrialError
from ...model.workload.command import GOODPUT, CommandWorkload, Started, filled
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Placeholder, Run, Step
from .. import record
from ..evidence.case import Case
from ..evidence.outcome import Outcome
from ..measured import ToolResult
from ..record import ABSENT_IF_EMPTY
from ..result import Finding, FlowResult
from . import command_output, command_part
from .command_output import HostTraffic, MeasuredValue, ProgramRun, Report
from .tool import Tool


@dataclass(frozen=True, kw_only=True)
class CommandResult(ToolResult):
    """`goodput_from` is bytes, program or counters. `uncollected` are patterns without a file, `left` the processes
    that outlived their program, `stopped` says how each server ended.
    """

    KEY: ClassVar[str] = "command"

    runs: tuple[ProgramRun, ...]
    values: Mapping[str, MeasuredValue]
    traffic: Mapping[str, HostTraffic]
    goodput_from: str
    collected: tuple[str, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    uncollected: tuple[str, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    left: tuple[str, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)
    stopped: Mapping[str, str] = field(default_factory=dict, metadata=ABSENT_IF_EMPTY)


OUTPUT, ERRORS = "command.out", "command.err"
WORK = "/run/command"
LINGER_NS, LINGER_ROUND_TRIPS = 50_000_000, 2
"""How long servers go on after the last client."""
FILES = Placeholder("files")
"""The folder with the files of the workload, or where a lab kernel finds it."""


def steps(workload: CommandWorkload, plan: Plan, seed: int) -> list[Step]:
    """One step; parts of their own if hosts have kernels of their own."""

    def option(each: Started, work: str, netns: str) -> list[str]:
        return list(_program(each, workload, plan, seed, work, netns))

    common = ["--space", str(workload.space_bytes)]
    common += [word for pattern in _patterns(workload) for word in ("--collect", pattern)]
    linger_ns = LINGER_NS + LINGER_ROUND_TRIPS * plan.rtts_ns[1]
    if command_part.is_needed(workload, plan):
        return list(command_part.steps(workload, plan, common, linger_ns, FILES, option, OUTPUT))
    words = ["/run/tools/command", "--work", WORK, *common, "--out", "/run/trial", "--linger", str(linger_ns)]
    words += ["--files", str(FILES)] if workload.files else []
    words += [word for host in workload.hosts for word in ("--host", node_netns(host))]
    words += [word for each in workload.started for word in option(each, WORK, node_netns(each.at))]
    return [Run(tuple(words), "command", out=OUTPUT, err=ERRORS, may_fail=True)]


def gather(workload: CommandWorkload, plan: Plan, folder: Path) -> None:
    command_part.gather(workload, plan, folder, OUTPUT)


def _patterns(workload: CommandWorkload) -> tuple[str, ...]:
    files = (each.json for each in workload.measures if each.json not in (None, command_output.STDOUT))
    return tuple(dict.fromkeys((*workload.collect, *(file for file in files if file is not None))))


def _program(
    started: Started, workload: CommandWorkload, plan: Plan, seed: int, work: str, netns: str
) -> Iterator[str]:
    """The option for one program, as command.c reads it."""

    def value_of(name: str) -> str:
        return f"{work}/{started.name}/out" if name == "out" else _value(name, workload, plan, seed)

    environment = [f"{name}={filled(value, value_of)}" for name, value in started.environment]
    words = [filled(word, value_of) for word in started.run]
    yield from ("--program", started.name, started.role, netns, started.user or "-")
    limit, *rest = map(str, command_output.numbers(started))
    yield from (limit, "-" if started.ready is None else str(started.ready), *rest)
    yield from (str(len(environment)), str(len(words)), *environment, *words)


def _value(name: str, workload: CommandWorkload, plan: Plan, seed: int) -> str:
    match name:
        case "seed":
            return str(seed)
        case "duration":
            return f"{(workload.duration_ns or 0) / 1e9:g}"
        case "variant":
            return workload.variant
    node = name.removesuffix(".address")
    if node in ("server", "client"):
        node = workload.servers[-1].at if node == "server" else workload.clients[0].at
    return address(node, plan)


def address(node: str, plan: Plan) -> str:
    """The address of a host at the data path's end there, or else its first one."""
    path = plan.data_path
    assert path is not None, "BUG: a plan without a workload"
    ends = {path.source: path.source_ip, path.destination: path.destination_ip}
    if node in ends:
        return str(ends[node])
    found = [each.ip for port in plan.book.interfaces_of(node) for each in port.addresses]
    if not found:
        raise UserError(f"the host {node} has no address; allowed: a host with one")
    return str(next((each for each in found if each.version == path.destination_ip.version), found[0]))


def read(workload: CommandWorkload, folder: Path) -> Outcome:
    """Raises TrialError, with the end of its output, for a program that failed."""
    report = command_output.parse((folder / OUTPUT).read_text(errors="replace"))
    if report.failed is not None:
        raise TrialError(command_output.story(report, workload, folder))
    if not report.is_done:
        said = (folder / ERRORS).read_text(errors="replace").strip()[-500:]
        raise TrialError(f"the programs were not run to their end: {said or 'nothing says why'}")
    command_output.check(workload, report)
    values = dict(command_output.values(workload, report, folder))
    traffic = {host: command_output.traffic(folder, node_netns(host)) for host in workload.hosts}
    until_end = command_output.traffic(folder, node_netns(workload.destination), "end")
    flows, goodput_bps = _flows(workload, report, values, traffic, until_end.payload_in_bytes)
    patterns = _patterns(workload)
    measured = CommandResult(
        runs=tuple(report.runs),
        values=values,
        traffic=traffic,
        goodput_from=_goodput_from(workload),
        collected=tuple(name for _, _, name in report.collected),
        uncollected=tuple(each for each in patterns if not command_output.matched(each, report)),
        left=tuple(f"{program} left {name}" for program, name in report.left),
        stopped=dict(report.stopped),
    )
    ends = (workload.source, workload.destination)
    return Outcome(
        report.begin_ns,
        None,
        report.end_ns,
        goodput_bps,
        None,
        flows,
        {CommandResult.KEY: record.write(measured)},
        elsewhere_bytes={host: each.payload_out_bytes for host, each in traffic.items() if host not in ends},
        counted_ns=round(_busy_s(report.runs) * 1e9),
        counted_bps=_counted_bps(workload, report, values),
    )


def _goodput_from(workload: CommandWorkload) -> str:
    told = workload.goodput
    return "counters" if told is None else "bytes" if told.run_bytes is not None else "program"


def _flows(
    workload: CommandWorkload,
    report: Report,
    values: dict[str, MeasuredValue],
    traffic: dict[str, HostTraffic],
    arrived: int,
) -> tuple[tuple[FlowResult, ...], float | None]:
    """What each client got, if they tell; else what `arrived` at the destination while they ran, all together."""
    resent, busy_s = _resent(workload, traffic), _busy_s(report.runs)
    told = workload.goodput
    if told is None:
        goodput_bps = arrived * 8 / busy_s if busy_s > 0 else None
        return (FlowResult(goodput_bps, resent, None, None, None, arrived),), goodput_bps
    flows = []
    for client in workload.clients:
        mine = [each for each in report.runs if each.program == client.name]
        octets = None if told.run_bytes is None else told.run_bytes * len(mine)
        spent_s = sum(each.elapsed_s for each in mine)
        if octets is None:
            found = [n for n, each in zip(values[told.name].values, report.runs, strict=True) if each in mine]
            known = [number for number in found if number is not None]
            rate_bps = sum(known) / len(known) if len(known) == len(mine) else None
        else:
            rate_bps = octets * 8 / spent_s if spent_s > 0 else None
        one = len(workload.clients) == 1
        octets = arrived if octets is None and one else octets
        flows.append(FlowResult(rate_bps, resent if one else None, None, None, None, octets))
    rates = [flow.goodput_bps for flow in flows]
    if len(flows) == 1 or None in rates:
        return tuple(flows), None if None in rates else rates[0]
    bits = _told_bits(report, values) if told.run_bytes is None else told.run_bytes * len(report.runs) * 8
    return tuple(flows), bits / busy_s if busy_s > 0 else None


def _told_bits(report: Report, values: dict[str, MeasuredValue]) -> float:
    """What came in all runs at the rates that they tell."""
    rates = zip(values[GOODPUT].values, report.runs, strict=True)
    return sum((rate or 0.0) * each.elapsed_s for rate, each in rates)


def _counted_bps(workload: CommandWorkload, report: Report, values: dict[str, MeasuredValue]) -> float | None:
    """What the only client got over all the time of its runs, if it tells a rate for each."""
    told = workload.goodput
    if told is None or told.run_bytes is not None or len(workload.clients) > 1:
        return None
    spent_s = sum(each.elapsed_s for each in report.runs)
    return None if not spent_s or None in values[GOODPUT].values else _told_bits(report, values) / spent_s


def _busy_s(runs: tuple[ProgramRun, ...]) -> float:
    """The time in which any client ran."""
    busy_s, until_s = 0.0, 0.0
    for begin_s, end_s in sorted((each.begin_s, each.begin_s + each.elapsed_s) for each in runs):
        busy_s += max(0.0, end_s - max(begin_s, until_s))
        until_s = max(until_s, end_s)
    return busy_s


def _resent(workload: CommandWorkload, traffic: dict[str, HostTraffic]) -> int | None:
    """Segments that the source sent again, if it sends TCP alone; what other protocols do is theirs to say."""
    sent = traffic[workload.source]
    return sent.tcp_resent_segments if sent.tcp_out_segments and not sent.udp_out_datagrams else None


COUNTED = 0.99
"""The least share of the bytes that a program transferred which must have come in packets."""

EARLY_S, LAB_LATE_S, REAL_LATE_S = 1e-6, 0.001, 0.5
"""By how much a run may begin sooner or later than asked."""


def values(case: Case, result: CommandResult) -> Iterator[Finding]:
    """Every run said every number that was asked for."""
    workload = case.trial.workload
    assert isinstance(workload, CommandWorkload), "BUG: programs of another tool"
    for measure in workload.measures:
        value = result.values.get(measure.name)
        reason = "" if value is None or not value.missing else f" ({value.missing[0]})"
        if value is None or not value.values or value.mean is None:
            what = f"missing: {measure.name}{reason}"
            yield Finding("measure", "invalid", what, "look at the program's output, command-*.out and .err")
    for pattern in result.uncollected:
        what = f"no program left a file {pattern}"
        yield Finding("collect", "suspect", what, "look at what the programs wrote, and at the pattern")


def starts(case: Case, result: CommandResult) -> Iterator[Finding]:
    """Every client began when it was to, and paused between its runs as long as asked."""
    workload = case.trial.workload
    assert isinstance(workload, CommandWorkload), "BUG: programs of another tool"
    if result.left:  # what a program left behind is ended first
        return
    is_real = not case.virtual or any(each.at in case.plan.remote for each in workload.clients)
    for client in workload.clients:
        due_s = client.start_ns / 1e9
        for run in sorted((each for each in result.runs if each.program == client.name), key=lambda each: each.number):
            late_s = run.begin_s - due_s
            if not -EARLY_S <= late_s <= (REAL_LATE_S if is_real else LAB_LATE_S):
                what = f"run {run.number} of {client.name} began at {run.begin_s:g} s, asked was {due_s:g} s"
                busy = is_real and late_s > 0
                hint = "the machine is too busy" if busy else "the programs were started in another way"
                yield Finding("programs", "suspect" if busy else "invalid", what, hint)
                break
            due_s = run.begin_s + run.elapsed_s + client.pause_ns / 1e9


def traffic(case: Case, result: CommandResult) -> Iterator[Finding]:
    """Data arrived where it was to arrive, as much as the programs say, and found room in the sockets."""
    workload = case.trial.workload
    assert isinstance(workload, CommandWorkload), "BUG: programs of another tool"
    for host in workload.hosts:
        if host not in result.traffic:
            yield Finding("evidence", "invalid", f"missing: the counters of {host}", "a file of the trial is not whole")
            return
    there = result.traffic[workload.destination]
    if not there.tcp_in_segments and not there.udp_in_datagrams:
        what = f"{workload.destination} received no TCP and no UDP"
        yield Finding("data", "invalid", what, "the programs did not use the network, or 'to' is the wrong host")
    asked = workload.goodput
    for host, octets in _to_transfer(workload).items():
        came = result.traffic[host].payload_in_bytes
        if octets * COUNTED > came:
            what = f"the programs were to transfer {octets} bytes, and {came} came to {host}"
            yield Finding("data", "invalid", what, "they transferred less, compressed it, or 'to' is the wrong host")
    if asked is None and any(each.destination == workload.destination for _, each in case.trial.background):
        what = f"the counters of {workload.destination} count background traffic, too"
        yield Finding("goodput", "invalid", what, "say where the goodput comes from: measure: {goodput: …}")
    for host, each in result.traffic.items():
        if each.udp_lost_datagrams:
            what = f"{each.udp_lost_datagrams} datagrams were lost in sockets of {host}"
            yield Finding("receiver", "suspect", what, "its program reads too slowly, or asks for too small a buffer")


def _to_transfer(workload: CommandWorkload) -> dict[str, int]:
    """Hosts to what programs say that they received: the clients' own, or the destination that they send to."""
    told: dict[str, int] = {}
    octets = workload.goodput.run_bytes if workload.goodput is not None else None
    send = any(each.at == workload.source for each in workload.clients)
    for each in workload.clients if octets is not None else ():
        host = workload.destination if send else each.at
        told[host] = told.get(host, 0) + (octets or 0) * each.runs
    return told


def processes(case: Case, result: CommandResult) -> Iterator[Finding]:
    """No program left others behind, and every server ended when it was asked to."""
    for text in result.left:
        hint = "it was ended: run the program in the foreground, or as a server"
        yield Finding("programs", "suspect", f"{text} behind", hint)
    for name, how in result.stopped.items():
        if how == "killed":
            what = f"{name} did not end when it was asked to, and was killed"
            yield Finding("programs", "valid", what, "what it writes at its end is missing: another 'stop' signal?")


TOOL = Tool(
    CommandWorkload,
    steps=steps,
    read=read,
    begin=(OUTPUT, r"^begin (\d+)$"),
    tells=frozenset({"begin_ns", "end_ns"}),
    result=CommandResult,
    runs_programs=True,
    checks=(values, starts, traffic, processes),
    gather=gather,
)
