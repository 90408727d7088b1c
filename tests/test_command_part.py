"""Programs on hosts with kernels of their own: what their parts wrote becomes one account, in the trial's time."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from testbed.kernel.guest import TrialError
from testbed.trial.workload import command_output
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
