"""Programs on hosts with kernels of their own: each is a part of the workload, run by our program there, and the agent
orders the parts. Joins what the parts wrote. Pure, except `gather`, which reads and writes files of the trial's folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from ...agent import nic_loan, remote_vm
from ...kernel.guest import TrialError
from ...model.workload.command import CommandWorkload, Started
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Await, Bring, Location, Placeholder, Run, Sleep, Step, Stop
from .. import strict_folder

Option: TypeAlias = Callable[[Started, str, str], list[str]]
"""The words for a program, given the folder of its part and the namespace."""

TOOL, HERE = "command-static", "/run/tools"
PACKED = "command-files.tar"
VM_BYTES = 12 << 20
"""What a part in a virtual machine may send: the guest agent keeps 16 MiB of a program's output, until it is asked."""
COUNTERS = ("/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat", "/proc/thread-self/net/snmp6")


def is_needed(workload: CommandWorkload, plan: Plan) -> bool:
    return any(host in plan.remote for host in workload.hosts)


def steps(
    workload: CommandWorkload,
    plan: Plan,
    common: list[str],
    linger_ns: int,
    files: Placeholder,
    option: Option,
    begin: str,
) -> Iterator[Step]:
    """The steps. Each part gets the words `common`; the file `begin` gets the time at which the clients start."""
    away = [host for host in dict.fromkeys(each.at for each in workload.started) if host in plan.remote]
    packed = ((PACKED, str(files)),) if workload.files else ()
    for host in away:
        yield Bring(((TOOL, f"{HERE}/{TOOL}"), *packed), Location(on=host))
    for server in workload.servers:
        yield _part(server, workload, plan, common, files, option)
        words = (_tool(server.at, plan), "--await", server.name)
        yield Run(words, f"{server.name} is ready", _where(server.at, plan), background=f"ready-{server.name}")
        yield Await((f"ready-{server.name}",), (_name(server),))
    servers = tuple(_name(each) for each in workload.servers)
    yield from _counters(workload, plan, "before")
    yield Run((f"{HERE}/command", "--now"), "begin", out=begin)
    yield from (_part(client, workload, plan, common, files, option) for client in workload.clients)
    yield Await(tuple(_name(each) for each in workload.clients), servers)
    yield from _counters(workload, plan, "end")
    yield Sleep(linger_ns / 1e9)
    yield Await((), servers)
    yield from _counters(workload, plan, "after")
    yield from (Stop(name) for name in reversed(servers))
    for host in away if workload.files else ():
        yield Run(("rm", "-f", f"{_base(host, plan)}/{PACKED}"), "remove files", Location(on=host))


def _part(
    started: Started, workload: CommandWorkload, plan: Plan, common: list[str], files: Placeholder, option: Option
) -> Run:
    is_away = started.at in plan.remote
    work = f"{_base(started.at, plan)}/programs"  # its mounts are its own
    most = VM_BYTES if is_away and not _is_machine(started.at, plan) else 0
    words = [_tool(started.at, plan), "--part", started.name, str(most), "--work", work, *common]
    if workload.files:
        words += ["--files", f"tar:{_base(started.at, plan)}/{PACKED}" if is_away else str(files)]
    words += option(started, work, "-" if is_away else node_netns(started.at))
    name = _name(started)
    return Run(tuple(words), started.name, _where(started.at, plan), out=f"{name}.out", background=name)


def _name(started: Started) -> str:
    return f"part-{started.name}"


def _where(host: str, plan: Plan) -> Location | None:
    return Location(on=host) if host in plan.remote else None


def _is_machine(host: str, plan: Plan) -> bool:
    return node_netns(host) in dict(plan.machines)


def _base(host: str, plan: Plan) -> str:
    """The folder for parts and what they need."""
    return nic_loan.FOLDER if _is_machine(host, plan) else remote_vm.TOOLS


def _tool(host: str, plan: Plan) -> str:
    return f"{_base(host, plan)}/{TOOL}" if host in plan.remote else f"{HERE}/command"


def _counters(workload: CommandWorkload, plan: Plan, when: str) -> Iterator[Run]:
    """A kernel without IPv6 lacks the last file."""
    for host in workload.hosts:
        out = f"command-{node_netns(host)}-{when}.txt"
        yield Run(("cat", *COUNTERS), "counters", plan.where(host), out=out, may_fail=True)


# --- what they wrote --------------------------------------------------------------------------------------------------


def gather(workload: CommandWorkload, plan: Plan, folder: Path, joined: str) -> None:
    """Writes the files that the parts sent, and what they say into the file `joined`, as if there were one kernel. A
    client's times become those of this one: its part was entered when the step that started it was done, and what the
    part then prepared (mounts, files) makes the client late.

    Raises TrialError for a part that is missing or not whole.
    """
    if not is_needed(workload, plan):
        return
    told, ready, runs, rest = [], [], [], []
    begun, done = _begun(folder), True
    spaces = set()
    for each in workload.started:
        file = f"{_name(each)}.out"
        try:
            lines = list(_lines(folder / file, each.name, folder))
            entered_ns = next(int(words[1]) for words in lines if words[0] == "entered")
            for words in lines:
                match words:
                    case ["space", octets, _]:
                        spaces.add(octets)
                    case ["told", *_]:
                        told.append(words)
                    case ["ready", *_]:
                        ready.append(words)
                    case ["run", name, number, *times, status]:
                        ahead_ns = begun[_name(each)] - entered_ns
                        began, ended = (str(int(ns) + ahead_ns) for ns in times)
                        runs.append(["run", name, number, began, ended, status])
                    case ["entered" | "begin" | "end" | "done", *_]:
                        pass
                    case _:
                        rest.append(words)
        except (OSError, ValueError, LookupError, StopIteration):
            raise TrialError(f"{file} is missing or not whole") from None
        done = done and lines[-1] == ["done"]
    start = (folder / joined).read_text(errors="replace").split()
    if len(spaces) != 1 or len(start) != 2 or not done:
        raise TrialError("the parts of the programs do not tell how they ended")
    runs.sort(key=lambda words: int(words[4]))
    end = [["end", runs[-1][4]]] if runs else []
    whole = [["space", *spaces, "0"], *told, *ready, start, *runs, *end, *rest, ["done"]]
    text = "".join(" ".join(words) + "\n" for words in whole)
    strict_folder.write(folder, joined, data=text.encode(errors="surrogateescape"))


def _begun(folder: Path) -> dict[str, int]:
    """When each background program had been started."""
    found: dict[str, int] = {}
    for line in (folder / "log.jsonl").read_text(errors="replace").splitlines():
        entry = json.loads(line)
        if entry["step"].get("background", "").startswith("part-"):
            found[entry["step"]["background"]] = int(entry["end_ns"])
    return found


def _lines(path: Path, program: str, folder: Path) -> Iterator[list[str]]:
    """The words of each line; what follows a line with `file` becomes that file. Raises ValueError if it is short."""
    data, here = path.read_bytes(), 0
    while here < len(data):
        end = data.index(b"\n", here)
        line = data[here:end].decode(errors="surrogateescape")
        here = end + 1
        if not line.startswith("file "):
            yield line.split(" ")
            continue
        name, octets = line.removeprefix("file ").rsplit(" ", 1)
        size = int(octets)
        if not name.startswith(f"command-{program}-") or "/" in name or not 0 <= size <= len(data) - here:
            raise ValueError
        strict_folder.write(folder, name, data=data[here : here + size])
        here += size
