"""What confines a guest: all that `attempts.py` tries is refused in `run`, `up`, `--repeat`, and works without it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
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

import testbed
from testbed import process
from testbed.commands import foreign_code
from testbed.error import MachineError, SpecError, UserError
from testbed.kernel import confinement, consumption, lab
from testbed.kernel.confinement import Method
from testbed.kernel.guest import TrialError
from testbed.kernel.image.cache import KernelImage, find
from testbed.model.node.vm import Vm
from testbed.model.run_setting import Kernel, KernelKind
from testbed.native_program import AGENT, Tools, tools
from testbed.package import MININET_PYTHON
from testbed.plan.step import Run
from testbed.spec import mininet_import
from testbed.spec.load import load_scenario, load_topology
from testbed.spec.syntax.attachment import permitted
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
            "memory_bytes": 2 * MEMORY_BYTES + lab.OWN_BYTES,
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


needs_mininet = pytest.mark.skipif(mininet_import.missing() is not None, reason="there is no Mininet")
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


def test_a_guest_has_all_the_descriptors_that_its_user_may_have(tmp_path: Path) -> None:
    """Three for each process of its own; the shell's limit is often 1024."""
    allowed = lab.allowance(find(None).path, tmp_path, tools(), MEMORY_BYTES)
    words = confinement.words(tools(), allowed)
    limited = ("prlimit", "--nofile=100:2000", "--", *words, "/bin/sh", "-c", "ulimit -Sn; ulimit -Hn")
    assert process.run(limited).stdout.split() == ["2000", "2000"]


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


ZEROS = """
import mmap, os, time
reads, writes = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        page, size = 4096, 200 << 20
        zeros = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
        for at in range(0, size, page):
            zeros[at]
        os.write(writes, bytes(1))
        time.sleep(1000)
for _ in range(3):
    os.read(reads, 1)
while True:
    pass
"""
"""Sees one page of zeros at 50 000 places, in each of three processes: without reservation (MAP_NORESERVE)."""
EXCESSES = {
    "processes": ("for n in $(seq 300); do sleep 1000 & done", "more than 100 processes"),
    "bytes": ("head -c 64M /dev/zero >/run/trial/large", "files take more than 8 MiB"),
    "several files": ("for n in $(seq 64); do head -c 1000000 /dev/zero >/run/trial/$n; done", "more than 8 MiB"),
    "files": ("for n in $(seq 3000); do : >/run/trial/$n; done", "more than 300 files"),
    "folders": ("for n in $(seq 300); do mkdir x; cd x; : >a; : >b; : >c; done", "more than 300 files"),
    "zeros": (f"exec python3 -c '{ZEROS}'", "memory besides its own 256 MiB; allowed: up to 20 MiB"),
    "console": ("while :; do echo much to say >/dev/tty0; done", "MiB to its console"),
}
"""What takes too much of the host, and what is said of it: so much that nothing else gives way before somebody looks,
who may be late. Then no time passes, so that the guest does not end by itself.
"""


@pytest.mark.lab
@pytest.mark.parametrize("what", EXCESSES)
def test_a_guest_that_takes_too_much_ends(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumption, "PROCESSES_MAX", 100)
    monkeypatch.setattr(consumption, "ENTRIES_MAX", 300)
    monkeypatch.setattr(consumption, "CONSOLE_BYTES", 1 << 20)
    monkeypatch.setattr("testbed.kernel.guest.share", lambda folder: 8 << 20)
    command, said = EXCESSES[what]
    if what == "zeros":
        monkeypatch.setattr(consumption, "BEYOND_BYTES", (20 << 20) - MEMORY_BYTES // 2)
    with pytest.raises(TrialError, match=said):
        guest(tmp_path, "sh", "-c", f"cd /run/trial; {command}; while :; do :; done")


@pytest.mark.lab
def test_a_file_that_is_too_long_is_an_error_of_its_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "share", lambda folder: 0)  # as long as the guest's memory, then
    guest(tmp_path, "sh", "-c", f"truncate -s {MEMORY_BYTES + (1 << 20)} /run/trial/x 2>&1; echo; echo goes on")
    assert (tmp_path / "out").read_text().splitlines()[-1] == "goes on"
    assert "File too large" in (tmp_path / "out").read_text()


def test_too_few_descriptors_are_said_with_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was "confine: a terminal: Bad file descriptor"."""
    image = KernelImage("x", tmp_path / "linux", "7", "", default=True, built="", key="")
    monkeypatch.setattr(lab.resource, "getrlimit", lambda what: (150, 150))
    with pytest.raises(MachineError, match=r"may open 150 files here .* needs 256; to fix it, type: sudo prlimit"):
        lab.run(image, [], tmp_path, tools=Tools(tmp_path, ""), seed=1, memory_bytes=1 << 20)


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


@needs_mininet
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
import ctypes, fcntl, json, os, resource, signal, socket, threading

LIBC = ctypes.CDLL(None, use_errno=True)

def call(number, *arguments):
    if LIBC.syscall(number, *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))

def outcome(attempt):
    try:
        attempt()
    except (PermissionError, MemoryError, KeyError, RuntimeError):
        return "refused"
    except ValueError:  # of resource
        return "refused"
    except OSError as error:
        return "refused" if error.errno == 38 else repr(error)  # ENOSYS
    return "done"

def flags(get, set):
    with open(__file__) as file:
        value = bytearray(28)
        fcntl.ioctl(file, get, value)
        fcntl.ioctl(file, set, value)

def shared(make, remove, *arguments):
    number = LIBC.syscall(make, *(ctypes.c_long(each) for each in arguments))
    if number < 0:
        raise OSError(ctypes.get_errno(), "refused")
    call(remove, number, 0, 0) if make != 64 else call(remove, number, 0, 0, 0)

PLACE = ctypes.create_string_buffer(4096)
ATTEMPTS = {attempts}

class Small(Topo):
    def build(self):
        self.addLink(self.addHost("a"), self.addHost("b"))
        raise ValueError(json.dumps({{name: outcome(each) for name, each in ATTEMPTS.items()}}))
"""


def topology_attempts(target: Path, own: Path) -> dict[str, str]:
    """What a topology in Python may try, as expressions, in a folder of its own."""
    changed, key = str(target / "changed"), str(target / ".ssh/id_ed25519")
    return {
        "write": f"open({changed!r}, 'r+')",
        "read": f"open({key!r})",
        "list": f"os.listdir({str(target)!r})",
        "a hidden file beside": f"open({str(own / '.env')!r}).read()",
        "a hidden file below": f"open({str(own / 'below/.env')!r}).read()",
        "a file in a hidden folder below": f"open({str(own / 'below/.git/config')!r}).read()",
        "a link beside": f"open({str(own / 'link')!r}).read()",
        "a new file": f"open({str(own / 'made')!r}, 'w')",
        "an appended file": f"open({str(own / 'beside.txt')!r}, 'a')",
        "a cut file": f"os.truncate({str(own / 'beside.txt')!r}, 3)",
        "a folder": f"os.mkdir({str(own / 'folder')!r})",
        "a renamed file": f"os.rename({str(own / 'renamed')!r}, {str(own / 'renamed-2')!r})",
        "a removed file": f"os.unlink({str(own / 'removed')!r})",
        "a link": f"os.symlink({key!r}, {str(own / 'symlink')!r})",
        "a pipe with a name": f"os.mkfifo({str(own / 'pipe')!r})",
        "mode": f"os.chmod({str(target / 'mode')!r}, 0o600)",
        "owner": f"os.chown({str(target / 'owner')!r}, os.getuid(), os.getgid())",
        "time": f"os.utime({str(target / 'time')!r})",
        "an attribute": f"os.setxattr({str(target / 'attribute')!r}, 'user.x', b'1')",
        "a look at an attribute": f"os.getxattr({str(target / 'linked')!r}, 'user.secret')",
        "the names of attributes": f"os.listxattr({str(target / 'linked')!r})",
        "a removed attribute": f"os.removexattr({str(target / 'linked')!r}, 'user.removed')",
        "flags": "flags(0x80086601, 0x40086602)",
        "a generation": "flags(0x80087601, 0x40087602)",
        "a project": "flags(0x801C581F, 0x401C5820)",
        "a lock": f"fcntl.flock(open({str(own / 'beside.txt')!r}), fcntl.LOCK_EX)",
        "a lease": f"fcntl.fcntl(open({str(own / 'beside.txt')!r}), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
        "a blocking standard output": "fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL))",
        "a watch": f"call(254, LIBC.inotify_init(), {str(target).encode()!r}, 2)",
        "a file system": f"os.statvfs({str(target)!r})",
        "the environment": "os.environ['TESTBED_SECRET']",
        "the folder of the user": "os.environ['PWD']",
        "more than a path in the environment": "set(os.environ) - {'PATH', 'LC_CTYPE'} or {}['nothing']",
        "the folder of the caller": "os.getcwd() != os.path.dirname(__file__) or {}['no']",
        "process": "os.popen('exit').close()",
        "a fork": "os.fork() or os._exit(0)",
        "a thread": "threading.Thread(target=int).start()",
        "another program": "os.execv('/bin/nothing', ['nothing']) if LIBC.access(b'/bin/true', 1) else "
        "os.posix_spawn('/bin/true', ['true'], {})",
        "socket": "socket.socket().close()",
        "a pair of sockets": "socket.socketpair()",
        "a pipe": "os.pipe()",
        "a terminal": "os.openpty()",
        "signal": "os.kill(os.getppid(), 0)",
        "a signal by descriptor": "os.pidfd_open(os.getpid())",
        "a session": "os.setpgid(0, 0)",
        "a priority": "os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))",
        "a core": "os.sched_setaffinity(0, os.sched_getaffinity(0))",
        "a scheduler": "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))",
        "a priority of the disk": "call(251, 1, 0, 2 << 13 | 7)",
        "a limit": "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
        "another's limits": "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)",
        "a comparison of processes": "call(312, os.getpid(), os.getpid(), 2, 0, 0)",
        "another name": "call(157, 15, b'systemd', 0, 0, 0)",
        "a personality": "call(135, 0xFFFFFFFF)",
        "a key ring": "call(250, 0, -3, 0)",
        "a key": "call(248, b'user', b'testbed-attempt', b'x', 1, -2)",
        "a shared segment": "shared(29, 31, 0, 4096, 0o1600)",
        "semaphores": "shared(64, 66, 0, 1, 0o1600)",
        "a queue of messages": "shared(68, 71, 0, 0o1600)",
        "others' segments": "call(31, 0, 14, PLACE)",
        "others' semaphores": "call(66, 0, 0, 19, PLACE)",
        "others' queues": "call(71, 0, 12, PLACE)",
        "a file in memory": "os.memfd_create('x')",
        "a file in shared memory": f"os.unlink(open('/dev/shm/{target.name}', 'w').name)",
        "locked memory": "call(149, PLACE, 4096)",
        "io_uring": "call(425, 1, ctypes.create_string_buffer(256))",
        "all of a disk": "call(306, 1)",
        "memory": "bytearray(5 << 30) and None",
    }


@pytest.fixture
def own(target: Path) -> Iterator[Path]:
    """The folder of a topology in Python that tries them."""
    with tempfile.TemporaryDirectory() as name:
        own = Path(name).resolve()
        (own / "below/.git").mkdir(parents=True)
        for each in ("beside.txt", "removed", "renamed", ".env", "below/.env", "below/.git/config"):
            (own / each).write_text("as it was")
        (own / "link").symlink_to(target / "changed")
        for attribute in ("user.secret", "user.removed"):
            with contextlib.suppress(OSError):
                os.setxattr(target / "linked", attribute, b"1")
        lines = ", ".join(f"{key!r}: lambda: {code}" for key, code in topology_attempts(target, own).items())
        (own / "theirs.py").write_text(TOPOLOGY_ATTEMPTS.format(attempts=f"{{{lines}}}"))
        yield own


def tried_in(text: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return found


@needs_mininet
@needs_landlock
def test_what_a_topology_in_python_tries_is_refused(target: Path, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTBED_SECRET", "hunter2")
    with pytest.raises(SpecError) as raised:
        load_topology(own / "theirs.py")
    found = tried_in(str(raised.value))
    assert {name: outcome for name, outcome in found.items() if outcome != "refused"} == {}
    assert set(found) == set(topology_attempts(target, own))
    assert (own / "beside.txt").read_text() == (own / "removed").read_text() == "as it was"


def test_landlock_has_one_place_in_the_code() -> None:
    package = Path(testbed.__file__).parent
    files = [path for path in package.rglob("*") if path.suffix in (".py", ".c", ".h")]
    rules = [path.name for path in files if re.search(r"restrict_self", path.read_text(), re.IGNORECASE)]
    assert rules == ["confinement.h"]


@needs_mininet
def test_what_a_topology_in_python_tries_works_where_nothing_confines_it(
    target: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, file = str(mininet_import.driver().parent), str(own / "theirs.py")
    monkeypatch.setenv("TESTBED_SECRET", "hunter2")
    code = f"import sys; sys.path.insert(0, {here!r}); import mininet_driver as driver; "
    code += "driver.confine = lambda *given: None; "
    code += f"sys.exit(driver.main(['read', {file!r}, 'Small']))"
    folder = os.open(own, os.O_PATH)
    said = {"source": Path(file).read_text(), "arguments": {}, "library": "", "file": folder, "folder": folder}
    done = subprocess.run(
        (*MININET_PYTHON, "-c", code), input=json.dumps(said), capture_output=True, text=True, pass_fds=(folder,)
    )
    os.close(folder)
    assert done.returncode == 0, done.stderr
    found = tried_in(json.loads(done.stdout)["error"])
    system = {"an attribute", "a look at an attribute", "a removed attribute", "io_uring", "a key", "a key ring"}
    system |= {"flags", "a generation", "a project", "a file in shared memory"}
    assert {name for name, outcome in found.items() if outcome != "done"} <= system


@pytest.mark.parametrize("form", ["inline", "quick", "option", "named by quick"])
def test_check_runs_no_python_wherever_a_scenario_has_it(form: str, tmp_path: Path) -> None:
    """Two sizes of a scenario may have two topologies."""
    ran = tmp_path / "it-ran"
    (tmp_path / "theirs.py").write_text(THEIRS.format(mark=ran))
    (tmp_path / "net.yaml").write_text("name: net\ntopo: theirs.py:Small\n")
    theirs = "{name: net, topo: {file: theirs.py, class: Small}}"
    ours = "{name: net, nodes: {a: {type: host}, b: {type: host}}, links: {p: {ends: [a, b], rate: 1 Mbit/s}}}"
    topology = theirs if form == "inline" else ours
    quick = {"quick": theirs, "named by quick": "net.yaml"}.get(form)
    (tmp_path / "s.yaml").write_text(
        f"name: s\ntopology: {topology}\nworkload: {{tool: ping, from: a, to: b}}\n"
        + (f"quick: {{note: small, topology: {quick}}}\n" if quick else "")
    )
    settings = [f"topology={theirs}"] if form == "option" else []
    with pytest.raises(SpecError, match="is not run here; allowed: --allow-code, if you trust it"):
        load_scenario(tmp_path / "s.yaml", settings, quick is not None, permitted((), python=False))
    if form != "option":
        assert Home.at(tmp_path).run("check", "s.yaml").returncode == 2
    assert not ran.exists()


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


def test_a_foreign_trial_starts_no_machine_from_a_disk_of_this_computer() -> None:
    trial = make_trial()
    machine = replace(trial.topology.nodes[0], vm=Vm(image="/home/me/disk.qcow2"))
    topology = replace(trial.topology, nodes=(machine, *trial.topology.nodes[1:]))
    with pytest.raises(UserError, match=r"from a disk of this computer, /home/me/disk\.qcow2; allowed: --allow-code"):
        foreign_code.refuse_foreign(Path("theirs"), topology, trial.workload, Kernel("lab"))
