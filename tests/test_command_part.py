"""Programs on hosts with kernels of their own: what their parts wrote becomes one account, in the trial's time."""

from __future__ import annotations

import json
import os
from itertools import takewhile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from testbed.agent.step import Trial
from testbed.agent.syscall import StepError
from testbed.kernel.guest import TrialError
from testbed.model.workload.command import CommandWorkload, Started
from testbed.native_program import tools
from testbed.plan.step import Placeholder, data
from testbed.trial.workload import command_output, command_part
from testbed.trial.workload.command_part import gather

S = 1_000_000_000


def gathered(folder: Path, parts: dict[str, tuple[int, str]]) -> command_output.Report:
    """Parts by name: when each was started, and what it wrote of its client."""
    started = tuple(SimpleNamespace(name=name, at=name) for name in parts)
    workload: Any = SimpleNamespace(hosts=tuple(parts), started=started, clients=started, servers=())
    plan: Any = SimpleNamespace(remote=set(parts))
    (folder / "command.out").write_text(f"begin {1 * S}\n")
    log = [{"step": {"background": f"part-{name}"}, "end_ns": begun_ns} for name, (begun_ns, _) in parts.items()]
    (folder / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in log))
    for name, (_, text) in parts.items():
        (folder / f"part-{name}.out").write_text(f"space 1 0\ntold {name} 0 0 1 0 0 15\n{text}done\n")
    gather(workload, plan, folder, "command.out")
    return command_output.parse((folder / "command.out").read_text())


def test_what_a_part_prepares_makes_its_client_late(tmp_path: Path) -> None:
    """The clocks of the two kernels were set at different times; the second unpacked files for 5 s."""
    quick = f"entered {50 * S}\nbegin {50 * S}\nrun a 1 {50 * S} {55 * S} 0\nend {55 * S}\n"
    slow = f"entered {7 * S}\nbegin {12 * S}\nrun b 1 {12 * S} {17 * S} 0\nend {17 * S}\n"
    runs = gathered(tmp_path, {"a": (1 * S, quick), "b": (1 * S, slow)}).runs
    assert [(each.program, each.begin_s, each.elapsed_s) for each in runs] == [("a", 0.0, 5.0), ("b", 5.0, 5.0)]


@pytest.mark.parametrize(
    "text",
    [
        f"begin {S}\nrun a 1 {S} {S} 0\n",
        f"entered {S}\nbegin {S}\nrun a 1 {S}\n",
        f"entered {S}\nbegin {S}\nrun a 1 {S} x 0\n",
        f"entered\nbegin {S}\nrun a 1 {S} {S} 0\n",
    ],
)
def test_a_part_that_is_not_whole_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(TrialError, match=r"part-a\.out is missing or not whole"):
        gathered(tmp_path, {"a": (S, text)})


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("sleep 100", "command: the program server did not begin in 10 s"),
        ("echo it broke >&2; exit 3", "it broke"),
        ("exit 0", "command: the program server did not begin in 10 s"),
    ],
    ids=["never begins", "fails", "ends"],
)
def test_clients_do_not_start_without_their_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, says: str
) -> None:
    """What waits for the server waits here for a part that never says that it began."""
    monkeypatch.setattr(command_part, "HERE", str(tools().folder))
    server, client = (Started(name, name, ("true",), name) for name in ("server", "client"))  # type: ignore[arg-type]
    workload = CommandWorkload(source="client", destination="server", servers=(server,), clients=(client,))
    plan: Any = SimpleNamespace(remote=set(), machines={}, where=lambda _host: None)
    made = list(command_part.steps(workload, plan, [], 0, Placeholder("files"), lambda *_: [], "command.out"))
    before = list(takewhile(lambda step: getattr(step, "title", "") != "begin", made))
    (folder := tmp_path / "trial").mkdir()
    assert says in failure([{**data(before[0]), "run": ["sh", "-c", part]}, *map(data, before[1:])], folder)


def failure(steps: list[dict[str, Any]], folder: Path) -> str:
    """Why the agent could not carry out the steps."""
    with open(os.devnull, "w") as progress:
        agent = Trial(str(folder), progress.fileno())
        try:
            for step in steps:
                agent.do(step, "")
        except StepError as error:
            return str(error)
        finally:
            agent.stop_all()
            agent.close(None)
    return ""
