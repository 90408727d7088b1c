"""What a guest does before its first step, and how its Python does it, does not move the steps.

A Python that reads the clock more often, or more files, moves lab time by multiples of 256 ns. The copy of the agent
here does so on purpose; with and without it a trial must write the same bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from trials import Ran, RunTrial

from testbed import native_program
from testbed.agent import syscall
from testbed.trial.ready_kernel import ready_kernel

Step = dict[str, Any]
READS = 100
JITTER = {"jitter": "1 ms"}
UDP = {"tool": "udp", "rate": "5 Mbit/s", "duration": "1 s"}


@pytest.fixture
def changed_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str, str], None]]:
    """Replaces text of one of the agent's files in a copy, which the guests from then on run."""
    folder = tmp_path / "changed"

    def change(name: str, text: str, by: str) -> None:
        if not folder.exists():
            shutil.copytree(native_program.AGENT, folder, ignore=shutil.ignore_patterns("__pycache__"))
            monkeypatch.setattr(native_program, "AGENT", folder)
        file = folder / name
        assert file.read_text().count(text) == 1
        file.write_text(file.read_text().replace(text, by))
        ready_kernel.cache_clear()

    yield change
    ready_kernel.cache_clear()


def bytes_of(ran: Ran) -> tuple[bytes, ...]:
    return tuple((ran.folder / name).read_bytes() for name in ("result.json", "samples.parquet", "queues.parquet"))


def begins_ns(ran: Ran) -> list[int]:
    return [json.loads(line)["begin_ns"] for line in (ran.folder / "log.jsonl").read_text().splitlines()]


@pytest.mark.lab
def test_a_slower_start_changes_nothing(run_trial: RunTrial, changed_agent: Callable[[str, str, str], None]) -> None:
    before = run_trial(path=JITTER, workload=UDP)
    changed_agent("main.py", "    raise_file_limit()\n", f"    raise_file_limit()\n{_late(READS)}")
    after = run_trial(path=JITTER, workload=UDP)
    assert begins_ns(before) == begins_ns(after)
    assert bytes_of(before) == bytes_of(after)


@pytest.mark.lab
def test_without_the_wait_it_would(run_trial: RunTrial, changed_agent: Callable[[str, str, str], None]) -> None:
    """Otherwise the test above could not fail."""
    changed_agent("main.py", "        await_whole()\n", "        pass\n")
    before = run_trial(path=JITTER, workload=UDP)
    changed_agent("main.py", "    raise_file_limit()\n", f"    raise_file_limit()\n{_late(READS)}")
    after = run_trial(path=JITTER, workload=UDP)
    assert begins_ns(after)[0] - begins_ns(before)[0] == READS * 256
    assert bytes_of(before) != bytes_of(after)


@pytest.mark.lab
def test_the_first_step_begins_at_a_whole_millisecond(run_trial: RunTrial) -> None:
    """The kernel rounds a sleep up by 50 us at most, and a few reads of the clock follow."""
    assert begins_ns(run_trial())[0] % syscall.GRID_NS < 60_000


@pytest.mark.lab
@pytest.mark.parametrize("is_aligned", [True, False])
def test_a_file_more_to_read_moves_no_workload(run_trial: RunTrial, is_aligned: bool) -> None:
    """As where the control under test is a module, and the one beside it is not."""

    def read(steps: tuple[Step, ...], more: int) -> tuple[Step, ...]:
        at = next(n for n, step in enumerate(steps) if "align" in step)
        files = {"read": {f"{n}.txt": "/proc/self/net/netstat" for n in range(more)}}
        return (*steps[:at], files, *steps[at + (not is_aligned) :])

    before, after = (run_trial(path=JITTER, workload=UDP, tamper=lambda steps, n=n: read(steps, n)) for n in (1, 4))
    assert (bytes_of(before) == bytes_of(after)) == is_aligned  # and without the wait the test could not pass


def _late(reads: int) -> str:
    return f"    import time\n    for _ in range({reads}):\n        time.monotonic_ns()\n"


def features(run_trial: RunTrial, value: str) -> str:
    """All that ethtool shows of a device, after those that plans change were set to a value."""
    words = [word for name in syscall.IS_FEATURE for word in (name, value)]
    set_and_show = (
        {"run": ["ethtool", "-K", "eth0", *words], "netns": "tb-a"},
        {"run": ["ethtool", "-k", "eth0"], "netns": "tb-a", "out": "features.txt"},
    )
    return (run_trial(tamper=lambda steps: (*steps, *set_and_show)).folder / "features.txt").read_text()


@pytest.mark.lab
def test_offloads_are_what_ethtool_makes_them(
    run_trial: RunTrial, changed_agent: Callable[[str, str, str], None]
) -> None:
    """By the agent, and by the program."""
    ours = [features(run_trial, value) for value in ("on", "off")]
    changed_agent("step.py", "set_features(*words[2:])", "False")
    assert ours == [features(run_trial, value) for value in ("on", "off")]
    assert "tcp-segmentation-offload: on" in ours[0]
    assert "tcp-segmentation-offload: off" in ours[1]


@pytest.mark.parametrize(
    "words",
    [
        ("eth0", "tso"),
        ("eth0", "lro", "off"),
        ("eth0", "tso", "maybe"),
        ("a-name-of-sixteen", "tso", "off"),
        ("no-such-device", "tso", "off"),
    ],
)
def test_what_the_agent_cannot_set_is_left_to_ethtool(words: tuple[str, ...]) -> None:
    assert not syscall.set_features(*words)
