"""What is left of the host's memory, in and outside control groups, and how long a guest was silent."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from testbed.kernel import consumption
from testbed.kernel.consumption import Silence, available_bytes

GIB = 1 << 30
FREE = f"MemTotal: {16 << 20} kB\nMemAvailable: {8 << 20} kB\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(FREE)
    (tmp_path / "proc/self/cgroup").write_text("0::/machine/ours\n")
    return tmp_path / "proc"


def group(folder: Path, most: str, taken: int, cached: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{most}\n")
    (folder / "memory.current").write_text(f"{taken}\n")
    (folder / "memory.stat").write_text(f"anon {taken - cached}\ninactive_file {cached}\n")


@pytest.mark.parametrize(
    ("ours", "above", "left"),
    [
        (None, None, 8 * GIB),
        (("max", GIB), ("max", GIB), 8 * GIB),
        ((4 * GIB, GIB), ("max", GIB), 3 * GIB),
        ((4 * GIB, GIB, GIB // 2), None, 3 * GIB + GIB // 2),
        ((4 * GIB, GIB), (2 * GIB, GIB), GIB),
        ((16 * GIB, GIB), None, 8 * GIB),
        ((GIB, 2 * GIB), None, 0),
    ],
    ids=["none", "no limit", "ours", "with files", "the one above", "more than there is", "too much already"],
)
def test_what_is_left_is_the_least_of_the_computers_and_of_the_groups(
    proc: Path, tmp_path: Path, ours: tuple[str, int] | None, above: tuple[str, int] | None, left: int
) -> None:
    groups = tmp_path / "groups"
    for folder, about in ((groups / "machine/ours", ours), (groups / "machine", above)):
        if about is not None:
            group(folder, str(about[0]), *about[1:])
    assert available_bytes(proc, groups) == left


def test_groups_of_the_first_version_and_what_cannot_be_read_change_nothing(proc: Path, tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    group(groups / "machine/ours", "1000", 10)
    (proc / "self/cgroup").write_text("4:memory:/machine/ours\n1:name=systemd:/\n")
    assert available_bytes(proc, groups) == 8 * GIB
    (proc / "self/cgroup").write_text("0::/machine/ours\n")
    (groups / "machine/ours/memory.current").write_text("much\n")
    assert available_bytes(proc, groups) == 8 * GIB
    (proc / "self/cgroup").unlink()
    assert available_bytes(proc, groups) == 8 * GIB


@pytest.mark.parametrize(
    ("looks", "lasted_s"),
    [
        ([(1, 0, 0), (2, 0, 0), (3, 0, 0)], 2.0),
        ([(1, 0, 0), (2, 0.25, 0.75), (3, 0.5, 1.5)], 0.5),
        ([(1, 0, 0), (2, 0, 0), (3, 0, 0), (3.5, 0, 3)], 0.0),
        ([(1, 5, 5), (2, 5, 5)], 1.0),
        ([(1, 0, 0), (1000, 0, 0)], 2.0),
        ([(500, 0, 0), (501, 0, 0)], 1.0),
        ([(1, 0, 0), (1.25, 0, 0), (1.75, 0, 0)], 0.75),
        ([(1, 0, 0), (2, 0, 0), (2, None, None), (3, 0, 0), (4, 0, 0)], 1.0),
        ([(1, 1, 1), (2, 2, 4), (3, 3, 7)], 2.0),
        ([(1, 0.4, 1), (2, 0.8, 4), (3, 1.2, 7)], 0.8),
    ],
    ids=[
        *("idle", "waits", "told late", "before", "nobody looked", "the first look is late", "too soon", "a sign"),
        *("several run", "several wait"),
    ],
)
def test_silence_is_the_time_in_which_a_guest_could_have_given_a_sign(
    looks: Sequence[tuple[float, float | None, float]], lasted_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    silence = Silence(0, 0.0)
    for now, ran, waited in looks:
        if ran is None:
            silence.ends(now)
        else:
            monkeypatch.setattr(consumption, "scheduled_s", lambda pid, both=(ran, waited): [(pid, both)])
        found = silence.goes_on(now)
    assert found == pytest.approx(lasted_s)


@pytest.mark.parametrize(("waits", "ends_after_s"), [(0.0, 121.0), (1.0, None)], ids=["stands still", "starves"])
def test_the_past_of_many_processes_is_no_time_since_a_sign(
    waits: float, ends_after_s: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of 300 processes waits for a processor, if any does."""
    silence, now = Silence(0, 0.0), 0.0
    monkeypatch.setattr(consumption, "_descendants", lambda pid, most: iter(range(-299, 0)))
    monkeypatch.setattr(consumption, "scheduled_s", lambda pid: [(pid, (5.0, 5.0 + (0.0 if pid else waits * now)))])
    while now < 300 and silence.lasted_s <= 120:
        now += 0.5
        silence.goes_on(now)
    assert (now if silence.lasted_s > 120 else None) == ends_after_s


def test_threads_count_and_one_that_ends_takes_nothing_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first thread sleeps; of two others one waits, and one with a long past ends."""
    silence = Silence(0, 0.0)
    for now, threads in ((1, (7, 8)), (2, (7, 8)), (3, (7,)), (4, (7,))):
        others = [(each, (50.0, 0.0) if each == 8 else (0.0, now)) for each in threads]
        monkeypatch.setattr(consumption, "scheduled_s", lambda pid, others=others: [(pid, (1.0, 0.0)), *others])
        silence.goes_on(now)
    assert (silence.passed_s, silence.lasted_s) == (3.0, 0.0)


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not tell who waits")
def test_the_kernel_tells_of_each_thread_of_a_process() -> None:
    spun, may_end = threading.Event(), threading.Event()

    def spin() -> None:
        while time.thread_time() < 0.02:
            pass
        spun.set()
        may_end.wait()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    spun.wait()
    found = dict(consumption.scheduled_s(os.getpid()))
    may_end.set()
    thread.join()
    assert thread.native_id is not None
    assert found[thread.native_id][0] > 0.01
    assert os.getpid() in found


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not tell who waits")
def test_a_process_that_gets_no_processor_is_not_silent_and_one_that_sleeps_is() -> None:
    processor = str(min(os.sched_getaffinity(0)))
    pinned = ["taskset", "-c", processor]
    spin = ["sh", "-c", "while :; do :; done"]
    began = time.monotonic()
    running = [subprocess.Popen(each) for each in (["nice", "-n", "19", *pinned, *spin], ["sleep", "100"])]
    others = [subprocess.Popen([*pinned, *spin]) for _ in range(3)]
    try:
        starved, asleep = (Silence(each.pid, began) for each in running)
        while (now := time.monotonic()) < began + 4:
            time.sleep(0.3)
            starved.goes_on(now)
            asleep.goes_on(now)
        assert starved.lasted_s < 0.6 * asleep.lasted_s
    finally:
        for each in (*running, *others):
            each.kill()
            each.wait()
