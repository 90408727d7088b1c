"""Failures: whatever happens to a trial, it says what it was, and nothing is left behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from leftover import namespaces, outlive, processes_below
from trials import Ran, make_trial

from testbed.error import MachineError, UserError
from testbed.kernel import guest, lab
from testbed.kernel.guest import Cancelled, TrialError
from testbed.plan.step import step_of
from testbed.sweep import run as sweep
from testbed.sweep.store import Store
from testbed.trial import ready_kernel
from testbed.trial.orders.sequence import orders

MEMORY_BYTES = 200 << 20


@pytest.fixture
def carry_out(tmp_path: Path) -> Callable[..., guest.Ending]:
    """Has a lab kernel do some steps in tmp_path."""
    there = ready_kernel.ready_kernel(make_trial().kernel)
    assert there.image is not None
    image = there.image

    def run(*steps: dict[str, Any], memory_bytes: int = MEMORY_BYTES, **options: Any) -> guest.Ending:
        return lab.run(
            image, tuple(map(step_of, steps)), tmp_path, tools=there.tools, seed=1, memory_bytes=memory_bytes, **options
        )

    return run


def spin() -> dict[str, Any]:
    """A step that waits without sleeping: in virtual time no time passes."""
    return {"run": ["sh", "-c", "while :; do :; done"]}


LIMITS_S = (1, 10, 100)
"""Within the first a guest comes to its step, unless the computer is busy."""
LAST = "'step 1/1 run'"


def nothing_is_left(folder: Path) -> bool:
    return not outlive(processes_below(folder)) and not list(folder.rglob(".uml-*"))


@pytest.mark.lab
def test_a_step_that_fails_is_named_with_its_status_and_what_it_said(
    carry_out: Callable[..., Any], tmp_path: Path
) -> None:
    with pytest.raises(
        TrialError, match=r"ip link set nowhere up: exit status 1: Cannot find device .nowhere."
    ) as failed:
        carry_out({"run": ["ip", "link", "set", "nowhere", "up"]}, spin())
    assert failed.value.exit_code == 1
    assert nothing_is_left(tmp_path)


@pytest.mark.lab
@pytest.mark.parametrize(
    ("step", "text"),
    [
        ({"run": ["no-such-program"]}, "no-such-program"),
        (
            {"write": [["/proc/sys/net/ipv4/ip_forward", "maybe"]]},
            "/proc/sys/net/ipv4/ip_forward does not take 'maybe'",
        ),
        ({"write": [["/proc/sys/net/ipv4/no_such_key", "1"]]}, "no_such_key"),
        ({"read": {"copy": "/proc/no-such-file"}}, "no-such-file"),
        ({"run": ["true"], "netns": "nowhere"}, "nowhere"),
        ({"run": ["sleep", "100"], "timeout_s": 2}, "sleep 100: still running after 2 s of lab time"),
        (
            {"run": ["tc", "-batch", "-"], "stdin": "qdisc show\nqdisc add dev lo root nonsense\n"},
            "(qdisc add dev lo root nonsense)",
        ),
    ],
    ids=["program", "value", "key", "file", "namespace", "timeout", "batch"],
)
def test_every_kind_of_step_says_what_failed(
    carry_out: Callable[..., Any], tmp_path: Path, step: dict[str, Any], text: str
) -> None:
    with pytest.raises(TrialError) as failed:
        carry_out({"run": ["true"]}, step)
    assert text in str(failed.value)
    assert nothing_is_left(tmp_path)


@pytest.mark.lab
def test_a_background_program_that_dies_early_is_an_error(carry_out: Callable[..., Any]) -> None:
    words = ["sh", "-c", "echo gone >&2; exit 3"]
    with pytest.raises(TrialError, match=r"watcher ended early with status 3: gone"):
        carry_out({"run": words, "background": "watcher"}, {"sleep": 1}, {"stop": "watcher"})


@pytest.mark.lab
def test_a_guest_in_which_no_time_passes_is_ended(
    carry_out: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ""
    for limit_s in LIMITS_S:
        monkeypatch.setattr(guest, "STANDSTILL_S", float(limit_s))
        with pytest.raises(TrialError, match=rf"^lab time stands still: no sign of life for {limit_s} s, ") as failed:
            carry_out(spin())
        assert nothing_is_left(tmp_path)
        if f"the last was {LAST}" in (said := str(failed.value)):
            return
    pytest.fail(said)


@pytest.mark.lab
def test_a_trial_longer_than_its_limit_is_ended(carry_out: Callable[..., Any], tmp_path: Path) -> None:
    said = ""
    for limit_s in LIMITS_S:
        with pytest.raises(TrialError, match=rf"longer than its limit of {limit_s} s; the last sign was ") as failed:
            carry_out(spin(), wall_limit_s=float(limit_s))
        assert nothing_is_left(tmp_path)
        if (said := str(failed.value)).endswith(LAST):
            return
    pytest.fail(said)


@pytest.mark.lab
def test_a_trial_that_nobody_wants_any_more_is_ended(carry_out: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        carry_out(spin(), cancelled=lambda: True)
    assert nothing_is_left(tmp_path)


@pytest.mark.lab
def test_a_guest_without_memory_says_so(carry_out: Callable[..., Any], tmp_path: Path) -> None:
    code = "x = []\nwhile True: x.append(bytearray(b'1' * (1 << 20)))"
    with pytest.raises(TrialError, match=r"ran out of memory: give it more with limits\.memory"):
        carry_out({"run": ["python3", "-c", code]}, memory_bytes=128 << 20)
    assert nothing_is_left(tmp_path)


TOUCH = """
import mmap, sys
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (mmap.MAP_POPULATE if sys.argv[2] == "at once" else 0)
pages = mmap.mmap(-1, int(sys.argv[1]) * mmap.PAGESIZE, flags=flags, prot=mmap.PROT_READ)
for begin in range(0, len(pages), mmap.PAGESIZE):
    pages[begin : begin + 64]
print("touched", len(pages) // mmap.PAGESIZE)
"""
"""Reads pages that nobody wrote: each is the same page of zeros, so each is a mapping of the host by itself."""


@pytest.mark.lab
@pytest.mark.parametrize("how", ["one by one", "at once"])
def test_a_program_with_more_mappings_than_the_host_allows_is_killed(
    carry_out: Callable[..., Any], tmp_path: Path, how: str
) -> None:
    """Lab time goes on, other programs live, and one with fewer mappings comes to its end."""
    most = int(Path("/proc/sys/vm/max_map_count").read_text())
    words = ["sh", "-c", 'python3 -c "$0" "$1" "$2"; echo "ended with $?"', TOUCH]
    carry_out(
        {"run": [*words, str(most - 3000), how], "out": "few.txt"},
        {"run": [*words, str(most + 3000), how], "out": "many.txt"},
        {"run": ["sleep", "1"]},
        memory_bytes=MEMORY_BYTES + most * 64,
    )
    assert (tmp_path / "few.txt").read_text() == f"touched {most - 3000}\nended with 0\n"
    assert (tmp_path / "many.txt").read_text().endswith("ended with 139\n")
    said = (tmp_path / guest.CONSOLE).read_text()
    assert re.search(r"python3\S*\[\d+\]: UML ran out of memory on the host side! .*max_map_count", said)
    assert nothing_is_left(tmp_path)


@pytest.mark.lab
def test_a_guest_too_small_to_boot_says_so(carry_out: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(TrialError, match=r"the guest (ran out of memory|died)"):
        carry_out({"run": ["true"]}, memory_bytes=16 << 20)
    assert nothing_is_left(tmp_path)


@pytest.mark.lab
def test_a_host_without_memory_refuses_before_anything_runs(carry_out: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"may need \d+ MiB for this and \d+ MiB are free; to fix it, type") as no:
        carry_out({"run": ["true"]}, memory_bytes=1 << 50)
    assert no.value.exit_code == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.lab
def test_a_failure_anywhere_leaves_nothing_behind(run_trial: Callable[..., Ran], tmp_path: Path) -> None:
    """A trial has some forty steps; one in seven fails here, each time with the rest of them undone."""
    before = namespaces()
    steps = len(orders(make_trial()).steps)
    for number in range(0, steps, 7):
        with pytest.raises(TrialError, match="sabotage"):
            run_trial(tamper=lambda all, n=number: (*all[:n], {"run": ["ls", "sabotage"]}, *all[n:]))  # type: ignore[misc]
    assert nothing_is_left(tmp_path)
    assert namespaces() == before


@pytest.mark.lab
def test_an_unknown_congestion_control_is_refused_before_anything_runs(tmp_path: Path) -> None:
    trials = [make_trial(), make_trial(workload={"congestion": "warp"}, id="u")]
    with pytest.raises(UserError, match=r"has no congestion control warp; allowed: .*\bcubic\b"):
        sweep.prepare(trials, Store(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("window", ["1 GiB", "2 GiB"])
@pytest.mark.parametrize("tool", ["flow", "iperf3"])
def test_a_window_beyond_what_tcp_can_announce_is_refused(window: str, tool: str) -> None:
    with pytest.raises(UserError, match=r"allowed: below 1 GiB"):
        orders(make_trial(workload={"tool": tool, "duration": "1 s", "window": window}))


def test_a_ramp_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(UserError, match=r"leave_out leaves nothing.*allowed: a longer duration"):
        orders(make_trial(workload={"leave_out": "1 s"}))


def test_a_trial_that_fails_is_kept_apart_with_its_error(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.create("net", {}, ())
    trial = make_trial()

    def fail() -> None:
        with store.writing(trial) as folder:
            (folder / "half").write_text("a result")
            raise TrialError("it rained")

    with pytest.raises(TrialError):
        fail()
    assert (tmp_path / "failed/t/error.txt").read_text() == "it rained\n"
    assert list((tmp_path / "trials").iterdir()) == []
    assert store.finished(trial) is None
