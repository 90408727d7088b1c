"""A guest that lies to whoever reads what it says: signs of life, outcome, channel, files in the trial's folder."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from trials import make_trial

from testbed import process
from testbed.agent import frame
from testbed.agent.session import REST_BYTES
from testbed.error import MachineError, UserError
from testbed.interactive import connection, mininet_guest, mininet_script, session_relay
from testbed.interactive.connection import SaysTooMuch
from testbed.interactive.session_relay import Client, Relay
from testbed.interactive.watch.terminal import Text
from testbed.kernel import consumption, guest_file
from testbed.kernel.consumption import Watch
from testbed.kernel.guest import CONSOLE, TrialError, ending, watch
from testbed.model.scenario import Trial
from testbed.trial import run as trial_run
from testbed.trial.folder import TRIAL, read_json
from testbed.trial.orders.sequence import Orders, orders
from testbed.trial.subject import openflow

SIGNS = (
    b"lab\n",
    b"lab \n",
    b"lab x\n",
    b"lab -1\n",
    b"lab " + b"9" * 5000 + b"\n",
    b"lab 1e9\n",
    b"\xff\x00\x1b[2J\n",
)


@pytest.mark.parametrize("sign", SIGNS, ids=range(len(SIGNS)))
def test_a_sign_of_life_that_makes_no_sense_is_one(sign: bytes, tmp_path: Path) -> None:
    """It was a ValueError, IndexError or OverflowError of the run."""
    reading, writing = os.pipe()
    os.write(writing, sign + b"lab 2000000000 later\n")
    told: list[float] = []

    def hear(lab_s: float) -> None:
        told.append(lab_s)
        running.signal(signal.SIGTERM)

    try:
        with process.start(("sleep", "1000")) as running:
            watch(running, tmp_path, reading, hear, None, lambda: False)
    finally:
        os.close(reading)
        os.close(writing)
    assert told == [2.0]


OUTCOMES = {
    "a list": "[]",
    "a number": "1",
    "deep": "[" * 100_000,
    "no end": '{"error": null, "release": "x", "end_ns": "soon"}',
    "infinite": '{"error": null, "release": "x", "end_ns": 1e999}',
    "no text": "\udcff",
    "folder": None,
}


@pytest.mark.parametrize("what", OUTCOMES)
@pytest.mark.parametrize("console", ["file", "folder", "none"])
def test_an_outcome_that_makes_no_sense_is_a_failed_trial(what: str, console: str, tmp_path: Path) -> None:
    text = OUTCOMES[what]
    if text is None:
        (tmp_path / "outcome.json").mkdir()
    else:
        (tmp_path / "outcome.json").write_text(text, errors="surrogateescape")
    if console == "folder":
        (tmp_path / CONSOLE).mkdir()
    elif console == "file":
        (tmp_path / CONSOLE).write_text("said")
    with pytest.raises(TrialError, match=r"outcome\.json is not whole"):
        ending(tmp_path, 0.0)


@pytest.mark.parametrize("name", ["outcome.json", CONSOLE])
@pytest.mark.parametrize("kind", ["pipe", "link", "endless"])
def test_what_stands_in_the_place_of_an_outcome_is_not_waited_for(name: str, kind: str, tmp_path: Path) -> None:
    """A pipe without a writer was waited for, for ever; a link led out."""
    (tmp_path / "secret").write_text('{"error": {"text": "mine"}}')
    path = tmp_path / name
    {
        "pipe": lambda: os.mkfifo(path),
        "link": lambda: path.symlink_to(tmp_path / "secret"),
        "endless": lambda: path.symlink_to("/dev/zero"),
    }[kind]()
    if name == CONSOLE:
        (tmp_path / "outcome.json").write_text("[]")
    with pytest.raises(TrialError, match=r"outcome\.json is not whole") as raised:
        ending(tmp_path, 0.0)
    assert "mine" not in str(raised.value)


def test_what_controllers_complained_of_is_said_in_brief(tmp_path: Path) -> None:
    """All of it was the reason of a failure, which nobody could read any more."""
    for number in range(100):
        (tmp_path / f"controller-{number:03}.err").write_text("x" * 100_000 + f"end {number}")
    said = openflow.failures(tmp_path)
    assert "end 19" in said
    assert len(said) < 1 << 20


def test_an_outcome_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "outcome.json").touch()
    os.truncate(tmp_path / "outcome.json", 1 << 40)
    (tmp_path / CONSOLE).touch()
    with pytest.raises(TrialError, match=r"outcome\.json is not whole"):
        ending(tmp_path, 0.0)


@contextmanager
def relayed(tmp_path: Path) -> Iterator[tuple[Relay, int]]:
    """A relay, and where its agent writes."""
    (hears, telling), (told, says) = os.pipe(), os.pipe()
    with socket.socket(socket.AF_UNIX) as listening, process.start(("sleep", "1000")) as mininet_guest:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        relay = Relay(hears, says, listening, mininet_guest)
        try:
            yield relay, telling
        finally:
            for each in (hears, telling, told, says, relay.ended):
                os.close(each)


@pytest.mark.parametrize("payload", [b"", b"x", b"longer than a number", b"\xff\xff\xff\xff"])
def test_a_frame_that_makes_no_sense_does_not_end_the_keeper(payload: bytes, tmp_path: Path) -> None:
    """It was a struct.error; and with the last the agent was sent more than its terminal line holds."""
    with relayed(tmp_path) as (relay, agent):
        os.write(agent, frame.pack(0, frame.HEARD, payload) + frame.pack(7, 255) + frame.pack(9, frame.ENDED, b"x"))
        os.write(agent, frame.pack(0, frame.READY))
        relay.look({}, 1000)
        assert relay.is_ready
        assert relay.credit <= frame.CHANNEL_BYTES


def test_a_guest_that_floods_its_channel_takes_no_more_of_the_keeper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_relay, "HELD_BYTES", 1 << 20)
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with relayed(tmp_path) as (relay, agent), ours, theirs:
        os.set_blocking(agent, False)
        relay.clients[1] = Client(ours)
        relay.clients[1].is_open = True
        sent, died = 0, frame.pack(0, frame.DIED, b"d" * 8000)
        for _ in range(300):
            try:
                sent += os.write(agent, died + frame.pack(1, frame.OUTPUT, b"o" * 20000))
            except BlockingIOError:
                break
            relay.look({}, 100)
        else:
            pytest.fail(f"took {sent} bytes")
        assert len(relay.clients[1].unsent) < 2 << 20
        assert sum(map(len, relay.events)) <= session_relay.EVENTS_MAX * session_relay.EVENT_BYTES


def test_a_schedule_that_is_over_is_no_event_and_one_that_broke_off_is(tmp_path: Path) -> None:
    with relayed(tmp_path) as (relay, agent):
        for said in (
            b"timeline has ended with status 0",
            b"timeline has ended with status 1",
            b"x has ended with status 0",
        ):
            os.write(agent, frame.pack(0, frame.DIED, said))
        os.write(agent, frame.pack(0, frame.READY))
        relay.look({}, 1000)
        assert list(relay.events) == ["timeline has ended with status 1", "x has ended with status 0"]


def test_an_agent_speaks_to_those_that_opened_a_session_and_to_nobody_else(tmp_path: Path) -> None:
    """What it sent to one that had asked for `status` was put into the answer, without end."""
    ours, theirs = socket.socketpair()
    with relayed(tmp_path) as (relay, agent), ours, theirs:
        relay.clients[1] = Client(ours)
        os.write(agent, frame.pack(1, frame.OUTPUT, b"x" * 1000) + frame.pack(0, frame.READY))
        relay.look({}, 1000)
        assert relay.is_ready
        assert relay.clients[1].unsent == b""


def test_an_answer_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = frame.pack(0, frame.OUTPUT, b"1" * 16_000)
    with answering(answer * 100, monkeypatch) as network, pytest.raises(MachineError, match="makes no sense"):
        connection.ask(network, "status")


def test_a_program_may_say_as_much_as_is_read_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    output = frame.pack(0, frame.OUTPUT, b"1" * 16_000)
    with answering(output * 3, monkeypatch) as network, pytest.raises(SaysTooMuch):
        connection.run(network, {}, ["yes"], 40_000)
    ended = frame.pack(0, frame.ENDED, frame.STATUS.pack(0))
    with answering(output * 3 + ended, monkeypatch) as network:
        assert connection.run(network, {}, ["yes"], 48_000) == (0, b"1" * 48_000, b"")


@contextmanager
def answering(said: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A network whose end of each connection has said that, and closed it."""
    ours, theirs = socket.socketpair()
    told = threading.Thread(target=lambda: suppressed(theirs, said))

    @contextmanager
    def connected(network: Any) -> Iterator[socket.socket]:
        told.start()
        yield ours

    monkeypatch.setattr(connection, "connected", connected)
    with ours, theirs:
        yield SimpleNamespace(name="net")
        ours.shutdown(socket.SHUT_RDWR)
        told.join()


def suppressed(theirs: socket.socket, said: bytes) -> None:
    with suppress(OSError):
        theirs.sendall(said)
        theirs.shutdown(socket.SHUT_WR)


def test_a_terminal_keeps_what_a_window_allows_and_ends_with_more() -> None:
    """A guest's root that sent frames of its own to `watch` took 120 MiB of it each second."""
    text = Text(threading.Condition())
    text.add(bytes(frame.WINDOW_BYTES + REST_BYTES))
    assert text.ended is None
    for _ in range(1000):
        text.add(bytes(frame.PAYLOAD_MAX))
    assert text.ended == "the network sends more than was asked of it"
    assert len(text.waiting) <= guest_file.HELD_BYTES


@pytest.mark.parametrize("name", ["count.txt", "log.jsonl"])
@pytest.mark.parametrize("kind", ["sparse", "pipe", "link", "none"])
def test_what_a_script_left_is_read_within_bounds(name: str, kind: str, tmp_path: Path) -> None:
    """A count without end was read whole, a pipe waited for."""
    path = tmp_path / name
    if kind == "sparse":
        path.write_text("7")
        os.truncate(path, 1 << 40)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (tmp_path / "other").write_text("7")
        path.symlink_to(tmp_path / "other")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if name == "count.txt":
        said = mininet_script._beginning(tmp_path, name, guest_file.COUNT_BYTES)
        assert said == (b"7" + bytes(guest_file.COUNT_BYTES - 1) if kind == "sparse" else b"")
    else:
        with pytest.raises(TrialError, match="does not say how the script ended"):
            mininet_script._status(tmp_path, 0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 << 10


def test_a_script_that_prints_without_end_is_followed_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Nothing else was looked at until all of a file that takes nothing of a disk had been printed."""
    monkeypatch.setattr(mininet_script, "PRINTED_BYTES", 3 << 20)
    (tmp_path / mininet_script.OUT).touch()
    os.truncate(tmp_path / mininet_script.OUT, 1 << 40)
    with ExitStack() as files:
        followed = mininet_script._Followed(tmp_path, files)
        assert followed.look() is False
        assert len(capfdbinary.readouterr().out) == guest_file.COPIED_BYTES
        with pytest.raises(TrialError, match="printed more than 3 MiB"):
            followed.rest()
    assert len(capfdbinary.readouterr().out) == 2 * guest_file.COPIED_BYTES


def test_files_of_a_script_take_no_more_of_a_disk_than_a_guest_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of the guest's that take nothing of its disk were written out, up to the last byte of the user's."""
    monkeypatch.setattr(mininet_script, "share", lambda folder: 1 << 20)
    kept, keep = tmp_path / mininet_guest.KEPT, tmp_path / "keep"
    kept.mkdir()
    keep.mkdir()
    for name in ("a", "b"):
        (kept / name).touch()
        os.truncate(kept / name, 600 << 10)
    with pytest.raises(UserError, match="the script wrote more than 1 MiB"):
        mininet_script._keep(tmp_path, keep)
    assert sum(each.stat().st_size for each in keep.iterdir()) == 600 << 10


OWN = (512 << 20) // consumption.PAGE_BYTES * consumption.MAPPING_BYTES


@pytest.mark.parametrize("given", [None, 512 << 20])
def test_a_guest_ends_before_the_computer_is_short_of_memory(
    given: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two, the one that takes more of the computer besides what it was given ends first."""
    for beyond, free, ends in ((0, 128, False), (0, 127, True), (100, 228, False), (100, 227, True)):
        monkeypatch.setattr(consumption, "_descendants", lambda pid, most: [])  # those of the tests count for none
        monkeypatch.setattr(consumption, "available_bytes", lambda free=free: free << 20)
        monkeypatch.setattr(consumption, "beyond_bytes", lambda pid, beyond=beyond: (beyond << 20) + OWN)
        excess = Watch(os.getpid(), tmp_path, CONSOLE, 1 << 30, memory_bytes=given).excess()
        assert (excess is not None) == (ends and given is not None)
        assert excess is None or f"has {free} MiB of memory left" in excess


def test_what_the_kernel_keeps_for_mappings_is_counted() -> None:
    """`status` said 112 MiB of a network that took 1.13 GB."""
    code = """
import mmap, sys
held = mmap.mmap(-1, 20_000 * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
import ctypes
first = ctypes.addressof(ctypes.c_char.from_buffer(held))
for at in range(0, 20_000, 2):
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(first + at * 4096), 4096, 1) == 0
print(flush=True)
sys.stdin.read()
"""
    with subprocess.Popen((sys.executable, "-c", code), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        counted = consumption.kernel_bytes(running.pid)
        told = session_relay.memory_bytes(running.pid)
        bounded = consumption.beyond_bytes(running.pid)
        running.kill()
    assert counted > 20_000 * consumption.MAPPING_BYTES
    assert told > counted
    assert bounded > counted
    assert consumption.beyond_bytes(running.pid) == 0


def test_a_deleted_file_that_is_open_counts(tmp_path: Path) -> None:
    """Any number of them could be made."""
    shell = f"exec 3>{tmp_path}/x; rm {tmp_path}/x; head -c 3000000 /dev/zero >&3; echo; exec sleep 1000"
    with subprocess.Popen(("sh", "-c", shell), stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        excess = Watch(running.pid, tmp_path, CONSOLE, 1 << 20).excess()
        running.kill()
    assert excess is not None
    assert "take more than 1 MiB" in excess


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_ends_the_guest(tmp_path: Path) -> None:
    hide_and_look(tmp_path)


def test_a_folder_that_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of files could be in it. Root would read it: so it is said for root."""
    real = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("hidden"):
            raise PermissionError
        return real(path)

    monkeypatch.setattr(consumption.os, "scandir", scandir)
    hide_and_look(tmp_path)


def hide_and_look(folder: Path) -> None:
    (folder / "hidden").mkdir(mode=0o300)
    excess = Watch(os.getpid(), folder, CONSOLE, 1 << 30).excess()
    assert excess is not None
    assert "cannot be looked into, 'hidden'" in excess


@pytest.mark.lab
@pytest.mark.parametrize("name", [TRIAL, "plan.sh", "provenance.json", "steps.json"])
def test_what_a_guest_makes_of_its_trial_does_not_become_ours(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`run --repeat` would have run the guest's trial as one that this user made: with `kernel: host`, as root."""
    real = trial_run._carry_out

    def carry_out(trial: Trial, made: Orders, steps: Any, ready: Any, folder: Path, *rest: Any) -> Any:
        done = real(trial, made, steps, ready, folder, *rest)
        before.append((folder / name).read_bytes())
        (folder / name).write_text('{"name": "theirs"}')
        return done

    before: list[bytes] = []
    monkeypatch.setattr(trial_run, "_carry_out", carry_out)
    trial = make_trial()
    trial_run.run(trial, orders(trial), tmp_path)
    assert (tmp_path / name).read_bytes() == before[0]
    assert read_json(tmp_path / TRIAL) != {"name": "theirs"}
