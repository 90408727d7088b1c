"""Processes are started and ended as testbed/process.py promises."""

import os
import signal
import sys
from pathlib import Path

import pytest
from patience import PATIENCE_S

from testbed import process
from testbed.error import MachineError


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_dead(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    with os.fdopen(descriptor) as file:
        poller = process.select.poll()
        poller.register(file, process.select.POLLIN)
        assert poller.poll(1000 * PATIENCE_S), f"process {pid} still runs"


def test_a_command_gives_back_what_it_wrote() -> None:
    done = process.run(["sh", "-c", "cat; echo oh >&2"], input="hé\n")
    assert (done.stdout, done.stderr) == ("hé\n", "oh\n")
    assert done.argv == ("sh", "-c", "cat; echo oh >&2")


def test_a_failed_command_raises_with_its_words_its_status_and_its_stderr() -> None:
    with pytest.raises(process.CommandError) as caught:
        process.run(["sh", "-c", "echo no such device >&2; exit 7"])
    assert caught.value.status == 7
    assert caught.value.stderr == "no such device\n"
    assert caught.value.argv[0] == "sh"
    assert "no such device" in str(caught.value)
    assert "status 7" in str(caught.value)


def test_a_command_killed_by_a_signal_has_a_negative_status() -> None:
    with pytest.raises(process.CommandError) as caught:
        process.run(["sh", "-c", "kill -9 $$"])
    assert caught.value.status == -signal.SIGKILL


def test_a_missing_program_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "which", lambda program: None)
    with pytest.raises(MachineError, match=r"apt-get install -y nftables"):
        process.run(["nft", "list", "ruleset"])


def test_a_command_past_its_time_limit_is_ended_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 1000 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; wait"
    for limit_s in (0.5, 5, PATIENCE_S):
        with pytest.raises(process.CommandError) as caught:
            process.run(["sh", "-c", script], timeout=limit_s)
        assert caught.value.status is None
        if (tmp_path / "child").exists():  # on a busy computer a shell may not come so far
            break
    wait_until_dead(int((tmp_path / "child").read_text()))


def test_programs_of_the_system_folders_are_found_whatever_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert process.run(["sh", "-c", "echo $PATH"]).stdout.strip().endswith("/sbin")


def test_an_environment_replaces_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "1")
    assert process.run(["sh", "-c", "echo $OURS$THEIRS"], env={"THEIRS": "2"}).stdout == "2\n"


def started(script: str) -> process.Running:
    """A shell that has run its script as far as the line it prints."""
    running = process.start(["sh", "-c", script], stdout=process.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    return running


def test_leaving_the_block_ends_the_whole_group(tmp_path: Path) -> None:
    with started(f"sleep 1000 & echo $! > {tmp_path}/child; echo ready; wait") as running:
        child = int((tmp_path / "child").read_text())
        assert running.poll() is None
        assert alive(child)
    wait_until_dead(child)
    assert running.poll() == -signal.SIGTERM


def test_children_that_outlive_their_parent_are_ended_too(tmp_path: Path) -> None:
    with started(f"sleep 1000 >&- & echo $! > {tmp_path}/child; echo ready; exit 3") as running:
        assert running.wait(PATIENCE_S) == 3
        child = int((tmp_path / "child").read_text())
        assert alive(child)
    wait_until_dead(child)
    assert running.end() == 3


def test_what_does_not_listen_to_a_polite_end_is_killed() -> None:
    running = started("trap '' TERM; echo ready; while :; do sleep 1000; done")
    assert running.end(grace_s=0.1) == -signal.SIGKILL
    assert running.end() == -signal.SIGKILL


def test_waiting_has_a_limit() -> None:
    with started("echo ready; sleep 1000") as running, pytest.raises(process.CommandError, match="in time"):
        running.wait(0.01)


def test_a_process_ends_when_the_testbed_is_killed() -> None:
    program = (
        "from testbed import process\n"
        "running = process.start(['sleep', '1000'])\n"
        "print(running.pid, flush=True)\n"
        "running.wait()\n"
    )
    testbed = process.start([sys.executable, "-c", program], stdout=process.PIPE)
    assert testbed.stdout is not None
    sleeper = int(testbed.stdout.readline())
    os.kill(testbed.pid, signal.SIGKILL)
    wait_until_dead(sleeper)
    assert testbed.end() == -signal.SIGKILL
