"""What confines a guest: all that `attempts.py` tries is refused in `run`, `up`, `--repeat`, and works without it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import attempts
import pytest
from interactive import Home
from trials import make_trial

from testbed.commands import foreign_code
from testbed.error import UserError
from testbed.kernel import confinement, consumption, lab
from testbed.kernel.confinement import Method
from testbed.kernel.guest import TrialError
from testbed.kernel.image.cache import find
from testbed.kernel.native_program import AGENT, tools
from testbed.model.run_setting import Kernel, KernelKind
from testbed.package import MININET_PYTHON
from testbed.plan.step import Run
from testbed.spec import mininet_import
from testbed.trial.folder import MARK, is_ours, mark

SOURCE = Path(attempts.__file__).read_text()
MEMORY_BYTES = 256 << 20
FILE_BYTES = 1 << 20
SYSTEM_REFUSES = {
    *("a trace", "a look at memory", "an open memory", "io_uring", "a fault handler", "an attribute"),
    *("a namespace", "a namespace with a process", "descriptors without end"),
    *("the flags of a file", "the generation of a file", "the generation of a file, by ext4", "the project of a file"),
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
            "tool": str(tools().folder / "qdisc"),  # runs in guests only; nobody can write to a program that runs
            "agent": str(AGENT / "step.py"),
            "compiled": str(tools().agent / "step.pyc"),
            "writable": os.access(AGENT / "step.py", os.W_OK),
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


@pytest.mark.lab
@pytest.mark.skipif(not confinement.bubblewrap_works(), reason="there is no bubblewrap, or it may not")
def test_bubblewrap_confines_a_guest_where_there_is_no_landlock(
    about: About, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "method", lambda: Method("bubblewrap"))
    before = content(target)
    found = in_guest(tmp_path, about)
    assert found
    assert {name for name, outcome in found.items() if outcome == "done"} <= {"list the home", "open the root's folder"}
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


THEIRS = """
from mininet.topo import Topo

open("{mark}", "w")

class Small(Topo):
    def build(self):
        self.addLink(self.addHost("a"), self.addHost("b"))
"""


@pytest.mark.parametrize("scenario", [False, True])
def test_check_runs_nothing_that_stands_in_a_file(scenario: bool, tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    ran = tmp_path / "it-ran"
    (tmp_path / "theirs.py").write_text(THEIRS.format(mark=ran))
    (tmp_path / "net.yaml").write_text("name: net\ntopo: theirs.py:Small\n")
    ping = "workload: {tool: ping, from: a, to: b}"
    (tmp_path / "ping.yaml").write_text(f"name: ping\ntopology: net.yaml\n{ping}\n")
    done = home.run("check", "ping.yaml" if scenario else "net.yaml")
    assert done.returncode == 2
    assert b"which is not run here; allowed: --allow-code, if you trust it" in done.stdout
    assert not ran.exists()


@pytest.mark.skipif(mininet_import.missing() is not None, reason="there is no Mininet")
@needs_landlock
@pytest.mark.parametrize("words", [("check", "--allow-code"), ("plan",)])
def test_a_topology_in_python_is_read_by_a_process_that_can_do_nothing_else(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    home = Home.at(tmp_path)
    ran = tmp_path / "it-ran"
    (tmp_path / "theirs.py").write_text(THEIRS.format(mark=ran))
    (tmp_path / "net.yaml").write_text("name: net\ntopo: theirs.py:Small\n")
    refused = home.run(*words, "net.yaml")
    assert refused.returncode == 2
    assert b"Permission denied" in refused.stdout + refused.stderr
    assert not ran.exists()


TOPOLOGY_ATTEMPTS = """
from mininet.topo import Topo
import json, os, socket, ctypes

def outcome(attempt):
    try:
        attempt()
    except (OSError, MemoryError) as error:
        return "refused" if isinstance(error, (PermissionError, MemoryError)) else repr(error)
    return "done"

ATTEMPTS = {attempts}

class Small(Topo):
    def build(self):
        self.addLink(self.addHost("a"), self.addHost("b"))
        raise ValueError(json.dumps({{name: outcome(each) for name, each in ATTEMPTS.items()}}))
"""


def test_what_a_topology_in_python_tries_is_refused_and_works_without(target: Path) -> None:
    if mininet_import.missing() is not None or confinement.landlock_abi() is None:
        pytest.skip("there is no Mininet, or no Landlock")
    tried = {
        "write": f"open({str(target / 'changed')!r}, 'r+')",
        "read": f"open({str(target / '.ssh/id_ed25519')!r})",
        "list": f"os.listdir({str(target)!r})",
        "mode": f"os.chmod({str(target / 'mode')!r}, 0o600)",
        "process": "os.popen('exit').close()",
        "socket": "socket.socket().close()",
        "signal": "os.kill(os.getppid(), 0)",
        "memory": "bytearray(5 << 30) and None",
    }
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "theirs.py")
        lines = ", ".join(f"{key!r}: lambda: {code}" for key, code in tried.items())
        file.write_text(TOPOLOGY_ATTEMPTS.format(attempts=f"{{{lines}}}"))
        for change, expected in ("", "refused"), ("driver.confine = lambda path: None; ", "done"):
            here = str(mininet_import.driver().parent)
            code = f"import sys; sys.path.insert(0, {here!r}); import mininet_driver as driver; {change}"
            code += f"sys.exit(driver.main(['read', {str(file)!r}, 'Small']))"
            done = subprocess.run((*MININET_PYTHON, "-c", code), input="{}", capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            said = json.loads(done.stdout)["error"].removeprefix("ValueError: ")
            found = json.loads(said)
            assert found == dict.fromkeys(tried, expected)


@pytest.fixture
def trial_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a trial that was made here, as far as its origin can be seen."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "trials" / "seed=1"
    folder.mkdir(parents=True)
    (folder / "trial.json").write_text("{}")
    (folder / "host.json").write_text(json.dumps({MARK: mark(folder)}))
    return folder


def test_a_trial_of_ours_is_ours_wherever_it_is_moved(trial_folder: Path, tmp_path: Path) -> None:
    assert is_ours(trial_folder)
    trial_folder.rename(tmp_path / "moved")
    assert is_ours(tmp_path / "moved")
    key = tmp_path / "cache/testbed/own/key"
    assert key.stat().st_mode & 0o777 == 0o600


FOREIGN: dict[str, Callable[[Path, Path], object]] = {
    "changed": lambda trial, cache: (trial / "trial.json").write_text('{"a": 1}'),
    "without a mark": lambda trial, cache: (trial / "host.json").write_text("{}"),
    "without host.json": lambda trial, cache: (trial / "host.json").unlink(),
    "damaged": lambda trial, cache: (trial / "host.json").write_text("["),
    "empty mark": lambda trial, cache: (trial / "host.json").write_text(json.dumps({MARK: ""})),
    "no text": lambda trial, cache: (trial / "host.json").write_text(json.dumps({MARK: None})),
    "other letters": lambda trial, cache: (trial / "host.json").write_text(json.dumps({MARK: "ä"})),
    "another's": lambda trial, cache: (cache / "testbed/own/key").write_bytes(b"x" * 32),
    "lost key": lambda trial, cache: (cache / "testbed/own/key").unlink(),
    "empty key": lambda trial, cache: (cache / "testbed/own/key").write_bytes(b""),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_does_not_have_our_mark_is_foreign(what: str, trial_folder: Path, tmp_path: Path) -> None:
    FOREIGN[what](trial_folder, tmp_path / "cache")
    assert not is_ours(trial_folder)


@pytest.mark.parametrize(("kernel", "text", "method", "is_refused"), [
    ("lab", True, Method("Landlock", 7), False),
    ("lab", True, confinement.NONE, True),
    ("lab", False, confinement.NONE, False),
    ("host", False, Method("Landlock", 7), True),
])  # fmt: skip
def test_a_foreign_trial_runs_where_it_is_confined(
    kernel: KernelKind, text: bool, method: Method, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "method", lambda: method)
    monkeypatch.setattr(foreign_code, "has_code", lambda topology: text)
    allowed = pytest.raises(UserError, match="--allow-code") if is_refused else contextlib.nullcontext()
    with allowed:
        trial = make_trial()
        foreign_code.refuse_foreign(Path("theirs"), trial.topology, trial.workload, Kernel(kernel))
