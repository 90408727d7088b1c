"""What confines a guest: all that `attempts.py` tries is refused in `run`, `up`, `--repeat`, and works without it."""

from __future__ import annotations

import json
import os
import pty
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import attempts
import pytest
from interactive import Home

from testbed.kernel import confinement, consumption, lab
from testbed.kernel.confinement import Method
from testbed.kernel.guest import AGENT, TrialError
from testbed.kernel.image.cache import find
from testbed.kernel.native_program import tools
from testbed.plan.step import Run

SOURCE = Path(attempts.__file__).read_text()
MEMORY_BYTES = 256 << 20
FILE_BYTES = 1 << 20
SYSTEM_REFUSES = {
    "a trace",
    "a look at memory",
    "an open memory",
    "io_uring",
    "a fault handler",
    "a namespace with a process",
}
"""What some systems refuse to everybody."""

About = dict[str, Any]

APP = """
import json, os
from os_ken.base.app_manager import OSKenApp
from os_ken.ofproto import ofproto_v1_3

class App(OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

def attempted():
    with open("/run/trial/attempts.json", "w") as file:
        json.dump(tried("guest", json.loads({about!r})), file)

attempted()
"""

SCENARIO = """
name: guest
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}, s: {type: ovs}, c: {type: controller, app: theirs.py}}
  links: {la: {ends: [a, s], rate: 100 Mbit/s, rtt: 10 ms}, lb: {ends: [b, s], rate: 100 Mbit/s}}
workload: {tool: ping, from: a, to: b, count: 2}
"""


@pytest.fixture
def target() -> Iterator[Path]:
    """A folder in the home with what a guest might want; not below /tmp, where a guest has its own files."""
    folder = Path(tempfile.mkdtemp(prefix=".testbed-attempts-", dir=Path.home()))
    for name in ("changed", "appended", "emptied", "removed", "renamed", "linked", "mode", "time", "handle", "owner"):
        (folder / name).write_text("as it was")
    for name in ("attribute",):
        (folder / name).write_text("as it was")
    for name in ("empty-folder", ".ssh", "results/other", "cache/journal"):
        (folder / name).mkdir(parents=True)
    for name in (".ssh/id_ed25519", "results/other/result.json", "cache/journal/net.json"):
        (folder / name).write_text("secret")
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o700)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def about(target: Path) -> Iterator[About]:
    """What the attempts are told of the host, and of a process of this user outside."""
    name = f"testbed-attempts-{os.getpid()}"
    master, terminal = pty.openpty()
    with (
        subprocess.Popen(["sleep", "1000"]) as other,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as listening,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        listening.bind(str(target / "listening"))
        listening.listen()
        abstract.bind(f"\0{name}")
        abstract.listen()
        address = Path(f"/proc/{other.pid}/maps").read_text().split("-")[0]
        yield {
            "home": str(target),
            "name": name,
            "pid": other.pid,
            "address": int(address, 16),
            "port": server.getsockname()[1],
            "terminal": os.ttyname(terminal),
            "features": str(find(None).path.with_name("features.json")),
            "tool": str(tools().folder / "confine"),
            "agent": str(AGENT / "step.py"),
            "root": os.geteuid() == 0,
            "trial": "/run/trial",
            "file_bytes": FILE_BYTES,
        }
        other.kill()
    for end in (master, terminal):
        os.close(end)
    for folder in ("/dev/shm", "/tmp"):
        Path(folder, name).unlink(missing_ok=True)


def content(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() if path.is_file() else "" for path in sorted(folder.rglob("*"))}


def guest(folder: Path, *words: str) -> None:
    """Has a lab kernel execute one command as root."""
    lab.run(
        find(None),
        [Run(("mkdir", "-p", "/dev/shm")), Run(words, out="out")],
        folder,
        tools=tools(),
        seed=1,
        memory_bytes=MEMORY_BYTES,
    )


def in_guest(folder: Path, about: About) -> dict[str, str]:
    guest(folder, confinement.interpreter(), "-ISBc", SOURCE, "guest", json.dumps(about))
    found: dict[str, str] = json.loads((folder / "out").read_text())
    return found


def in_process(folder: Path, about: About, held: Method | None) -> dict[str, str]:
    """What came of it in a process confined as that of a lab kernel is (None: not confined)."""
    folder.mkdir(exist_ok=True)
    (folder / "attempts.py").write_text(SOURCE)
    allowed = replace(lab.allowance(find(None).path, folder, tools(), MEMORY_BYTES), file_bytes=FILE_BYTES)
    words = () if held is None else confinement.words(tools(), allowed, held)
    program = (confinement.interpreter(), "-ISB", str(folder / "attempts.py"))
    done = subprocess.run(
        (*words, *program, "process", json.dumps(about | {"trial": str(folder)})), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def not_refused(found: dict[str, str]) -> dict[str, str]:
    return {name: outcome for name, outcome in found.items() if not outcome.startswith("refused")}


needs_landlock = pytest.mark.skipif(confinement.landlock_abi() is None, reason="this kernel has no Landlock")


def test_there_are_enough_attempts(about: About, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "trial_folder", lambda: "/")
    assert len(attempts.guest_attempts(about)) + len(attempts.process_attempts(about)) >= 40


@pytest.mark.lab
def test_every_attempt_of_a_guest_works_where_nothing_confines_it(
    about: About, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "words", lambda *given: ())
    found = in_guest(tmp_path, about)
    assert {name: outcome for name, outcome in found.items() if outcome != "done"} == {}


@pytest.mark.lab
def test_every_attempt_of_a_guest_is_refused(about: About, target: Path, tmp_path: Path) -> None:
    before = content(target)
    found = in_guest(tmp_path, about)
    assert found
    assert not_refused(found) == {}
    assert content(target) == before


def test_every_attempt_of_a_process_works_where_nothing_confines_it(about: About, tmp_path: Path) -> None:
    found = in_process(tmp_path / "trial", about, None)
    failed = {name: outcome for name, outcome in found.items() if outcome != "done"}
    assert not {name: outcome for name, outcome in failed.items() if outcome.startswith("broken")}
    assert set(failed) <= SYSTEM_REFUSES


@needs_landlock
def test_every_attempt_of_a_process_is_refused(about: About, target: Path, tmp_path: Path) -> None:
    before = content(target)
    found = in_process(tmp_path / "trial", about, confinement.method())
    abi = confinement.landlock_abi() or 0
    beyond = {"a signal"} if abi < 6 else set()
    assert found
    assert set(not_refused(found)) <= beyond
    assert content(target) == before


@pytest.mark.lab
def test_nothing_of_it_works_in_a_network_that_stands(about: About, target: Path, tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    before = content(target)
    home.says("up", home.topology("net"), "--kernel", "lab-realtime")
    try:
        home.says("exec", "a", "--", "mkdir", "-p", "/dev/shm")
        words = ("exec", "a", "--", confinement.interpreter(), "-ISB", "-", "guest", json.dumps(about))
        done = home.run(*words, input=SOURCE.encode())
    finally:
        home.clean()
    found = json.loads(done.stdout)
    assert found
    assert not_refused(found) == {}
    assert content(target) == before


@pytest.mark.lab
def test_nothing_of_it_works_in_an_app_in_a_run_and_its_repetition(about: About, target: Path, tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    app = SOURCE.partition("\nif __name__ ==")[0] + APP.format(about=json.dumps(about))
    (tmp_path / "theirs.py").write_text(app)
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    before = content(target)
    home.run("run", tmp_path / "scenario.yaml", "-o", "out")  # the trial is invalid: their app forwards nothing
    (trial,) = (tmp_path / "out/trials").iterdir()
    found = json.loads((trial / "attempts.json").read_text())
    assert found
    assert not_refused(found) == {}
    repeated = home.says("run", "--repeat", trial)
    assert "every file is the same" in repeated  # attempts.json among them
    assert content(target) == before


EXCESSES = {
    "processes": ("while :; do sleep 1000 & done", "more than 100 processes"),
    "bytes": ("cat /dev/zero >/run/trial/large", "files take more than 8 MiB"),
    "several files": ("i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero >/run/trial/$i; done", "more than 8 MiB"),
    "files": ("i=0; while :; do i=$((i+1)); : >/run/trial/$i; done", "more than 300 files"),
    "folders": ("while :; do mkdir x; cd x; : >a; : >b; : >c; done", "more than 300 files"),
    "console": ("while :; do echo much to say >/dev/tty0; done", "MiB to its console"),
}
"""What takes too much of the host, and what is said of it."""


@pytest.mark.lab
@pytest.mark.parametrize("what", EXCESSES)
def test_a_guest_that_takes_too_much_ends(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumption, "PROCESSES_MAX", 100)
    monkeypatch.setattr(consumption, "ENTRIES_MAX", 300)
    monkeypatch.setattr(consumption, "CONSOLE_BYTES", 1 << 20)
    monkeypatch.setattr("testbed.kernel.guest.share", lambda folder: 8 << 20)
    command, said = EXCESSES[what]
    with pytest.raises(TrialError, match=said):
        guest(tmp_path, "sh", "-c", f"cd /run/trial; {command}")


@pytest.mark.lab
def test_a_file_that_is_too_long_is_an_error_of_its_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "share", lambda folder: 0)  # as long as the guest's memory, then
    guest(tmp_path, "sh", "-c", f"truncate -s {MEMORY_BYTES + (1 << 20)} /run/trial/x 2>&1; echo; echo goes on")
    assert (tmp_path / "out").read_text().splitlines()[-1] == "goes on"
    assert "File too large" in (tmp_path / "out").read_text()
