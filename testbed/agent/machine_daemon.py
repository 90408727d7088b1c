"""The machine daemon: executes on a computer what a trial asks of it, and stands alone, for SSH sends it as text.

It reads one line of JSON for each request and answers with one or more.

It runs as root at the remote end of an SSH connection.  When its input ends, for whatever reason, or stays silent for
too long, it ends every program that it started and gives back every network interface, so a lost connection leaves
nothing behind.

A request has an `id`, `do` (a key of REQUESTS) and `inside`, the network namespace it happens in (absent: the
machine's own).  The answer has the same id, and `error` if the request was refused.  A program's output comes as
{"of": ID, "out"|"err": BASE64}, its end as {"of": ID, "status": N}.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import fcntl
import functools
import hashlib
import json
import os
import platform
import select
import shutil
import signal
import subprocess
import sys
import time

from . import nic_loan
from .syscall import StepError, text_of, write_files, write_sysfs

MYPY = False
if MYPY:
    from collections.abc import Callable
    from typing import Any

    Request = dict[str, Any]

CLONE_NEWNS, CLONE_NEWNET, MS_SLAVE_REC, MNT_DETACH = 0x20000, 0x40000000, 0x84000, 2
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SILENCE_S = 60.0
"""The client sends something every few seconds; after so long without a word, it is gone."""
GRACE_S = 2.0
CARRIER_S, LOOK_AGAIN_S = 10.0, 0.02
LIBC = ctypes.CDLL(None, use_errno=True)


class MachineDaemon:
    """The programs that run, and the lock that keeps two trials apart."""

    def __init__(self, sources: dict[str, str], ssh_address: str | None) -> None:
        self.sources = sources
        self.ssh_address = ssh_address
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        self.pipes: dict[int, tuple[int, str]] = {}
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.lock = -1
        self.heard = time.monotonic()
        self.ended, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writing)

    def say(self, **words: Any) -> None:
        text = (json.dumps(words) + "\n").encode()
        while text:
            text = text[os.write(1, text) :]

    def serve(self) -> None:
        """Serves requests until its input ends."""
        unread = b""
        while time.monotonic() - self.heard < SILENCE_S:
            ready, _, _ = select.select([0, self.ended, *self.pipes], [], [], SILENCE_S / 4)
            if self.ended in ready:
                os.read(self.ended, 4096)
            for pipe in ready:
                if pipe in self.pipes:
                    self.pass_on(pipe)
            self.reap()
            if 0 not in ready:
                continue
            data = os.read(0, 1 << 20)
            if not data:
                return
            self.heard = time.monotonic()
            *lines, unread = (unread + data).split(b"\n")
            for line in lines:
                request = json.loads(line)
                if request:
                    self.answer(request)

    def answer(self, request: Request) -> None:
        try:
            self.enter(request.get("inside"))
            try:
                answer = REQUESTS[request["do"]](self, request) or {}
            finally:
                enter(self.home)
        except (StepError, OSError, nic_loan.NotLent, subprocess.SubprocessError) as error:
            answer = {"error": str(error)}
        self.say(id=request["id"], **answer)

    def enter(self, netns: str | None) -> None:
        if netns and os.path.exists(f"/run/netns/{netns}"):
            with open(f"/run/netns/{netns}") as file:
                enter(file.fileno())

    def reach(self, request: Request) -> Request:
        """Checks that the machine has what is needed, and locks it. Changes nothing, except that it restores what a
        killed trial left.
        """
        if os.geteuid():
            raise StepError("the user of the SSH connection is not root and cannot become root with sudo")
        os.makedirs(nic_loan.FOLDER, exist_ok=True)
        self.lock = os.open(f"{nic_loan.FOLDER}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StepError("another trial is running on it") from None
        left = nic_loan.give_back()
        if left:
            raise StepError(f"what an earlier trial changed could not be restored: {'; '.join(left)}")
        said = [each for nic in request["nics"] for each in nic_loan.problems(nic, self.ssh_address)]
        gone = [name for name in request["programs"] if shutil.which(name) is None]
        if gone:
            said.append(f"it has no {', '.join(gone)}: `testbed machines prepare` installs what is missing")
        for module, words in request["probes"].items():
            done = subprocess.run(["unshare", "--net", "--", *words], capture_output=True)
            if done.returncode:
                said.append(f"its kernel has no {module}, which the plan needs: `sudo modprobe -a {module}` there")
        known = text_of("/proc/sys/net/ipv4/tcp_available_congestion_control").split()
        said += [
            f"its kernel has no congestion control {name} (it has {', '.join(known)})"
            for name in request["controls"]
            if name not in known
        ]
        for name, value in request["sysctls"].items():
            now = text_of("/proc/sys/" + (name if "/" in name else name.replace(".", "/")))
            if now.split() != value.split():
                said.append(f"its {name} is {now.strip()} and not {value}: `testbed machines prepare` sets it")
        if request["architecture"] != platform.machine():
            said.append(
                f"it is a {platform.machine()}, and our observer is for {request['architecture']}: the "
                "set-up could not be read back"
            )
        if said:
            raise StepError("; ".join(said))
        return {"about": about(request["versions"])}

    def clock(self, request: Request) -> Request:
        return {"now_ns": time.monotonic_ns()}

    def tool(self, request: Request) -> Request:
        """Whether a program of ours is present, by its hash; with `data`, writes it."""
        path = f"{nic_loan.FOLDER}/{request['name']}"
        if "data" in request:
            text = base64.b64decode(request["data"])
            with open(f"{path}.new", "wb") as file:
                file.write(text)
            os.chmod(f"{path}.new", 0o755)
            os.rename(f"{path}.new", path)
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
            return {"there": hashlib.sha256(file.read()).hexdigest() == request["hash"]}
        return {"there": False}

    def lend(self, request: Request) -> None:
        nic_loan.lend(request["nics"], request["netns"])
        with open(f"{nic_loan.FOLDER}/lent.py", "w") as file:
            file.write(self.sources["agent.nic_loan"])
        for nic in request["nics"]:
            nic_loan.call("ip", "link", "set", nic, "alias", nic_loan.alias(nic))

    def carrier(self, request: Request) -> None:
        """Waits until every link is up: a NIC and a switch need seconds to agree on a speed."""
        limit = time.monotonic() + CARRIER_S
        while True:
            links = json.loads(nic_loan.call("ip", "-j", "link", "show", "up"))
            down = [each["ifname"] for each in links if each and "LOWER_UP" not in each["flags"]]
            if not down:
                return
            if time.monotonic() > limit:
                raise StepError(f"no cable, or nothing at its other end: {', '.join(down)} (its name in the namespace)")
            time.sleep(LOOK_AGAIN_S)

    def start(self, request: Request) -> Request:
        """Its programs end with it, whatever ends it."""
        words, number = request["words"], request["id"]
        text = base64.b64decode(request.get("stdin", ""))
        stdin = subprocess.PIPE if text else subprocess.DEVNULL
        bound = functools.partial(die_with, os.getpid())
        process = subprocess.Popen(words, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=bound)
        assert process.stdout is not None
        assert process.stderr is not None
        self.running[number] = process
        self.pipes[process.stdout.fileno()] = (number, "out")
        self.pipes[process.stderr.fileno()] = (number, "err")
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(text)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        return {"pid": process.pid}

    def pass_on(self, pipe: int) -> None:
        number, name = self.pipes[pipe]
        data = os.read(pipe, 1 << 16)
        if data:
            self.say(of=number, **{name: base64.b64encode(data).decode()})
        else:
            del self.pipes[pipe]

    def reap(self) -> None:
        """A program has ended once it is gone and all its output was passed on; a child may still hold the output."""
        for number, process in list(self.running.items()):
            if process.poll() is None:
                continue
            held = [pipe for pipe, (owner, _) in self.pipes.items() if owner == number]
            for pipe in held:
                while pipe in self.pipes and select.select([pipe], [], [], 0)[0]:
                    self.pass_on(pipe)
                self.pipes.pop(pipe, None)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            del self.running[number]
            self.say(of=number, status=process.returncode)

    def signal(self, request: Request) -> None:
        process = self.running.get(request["of"])
        if process is not None:
            process.send_signal(request["number"])

    def read(self, request: Request) -> Request:
        return {"text": text_of(request["path"])}

    def write(self, request: Request) -> None:
        pairs = [(path, value) for path, value in request["pairs"]]
        if any(path.startswith("/sys/") for path, _ in pairs):
            in_a_child(lambda: write_sysfs(pairs))
        else:
            write_files(pairs)

    def release(self, request: Request) -> Request:
        self.end_all()
        enter(self.home)
        return {"left": nic_loan.give_back()}

    def end_all(self) -> None:
        for process in self.running.values():
            process.terminate()
        limit = time.monotonic() + GRACE_S
        for process in self.running.values():
            try:
                process.wait(max(0.0, limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running.clear()
        self.pipes.clear()


REQUESTS: dict[str, Callable[[MachineDaemon, Request], Request | None]] = {
    "reach": MachineDaemon.reach,
    "clock": MachineDaemon.clock,
    "tool": MachineDaemon.tool,
    "lend": MachineDaemon.lend,
    "carrier": MachineDaemon.carrier,
    "start": MachineDaemon.start,
    "signal": MachineDaemon.signal,
    "read": MachineDaemon.read,
    "write": MachineDaemon.write,
    "release": MachineDaemon.release,
}


def enter(descriptor: int) -> None:
    if LIBC.setns(descriptor, CLONE_NEWNET):
        raise StepError(f"setns: {os.strerror(ctypes.get_errno())}")


def die_with(parent: int) -> None:
    """Also holds if the parent died before this call."""
    LIBC.prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def in_a_child(work: Callable[[], None]) -> None:
    """Makes a mount namespace, so that the machine's mounts stay as they are."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        said = ""
        try:
            if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(None, b"/", None, MS_SLAVE_REC, None):
                raise StepError(f"a mount namespace: {os.strerror(ctypes.get_errno())}")
            work()
        except BaseException as error:
            said = str(error) or type(error).__name__
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(pid, 0)
    with open(reading) as file:
        text = file.read()
    if text:
        raise StepError(text)


def about(versions: dict[str, list[str]]) -> Request:
    found = {"python": platform.python_version()}
    for name, words in versions.items():
        with contextlib.suppress(OSError, IndexError):
            done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            found[name] = done.stdout.decode(errors="replace").splitlines()[0].strip()
    return {
        "release": os.uname().release,
        "host": os.uname().nodename,
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
        "versions": found,
    }


def main(sources: dict[str, str], ssh_address: str | None) -> int:
    """Ends by itself only once everything is restored."""
    os.environ.update(PATH=PATH, LC_ALL="C.UTF-8")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(1))
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    daemon = MachineDaemon(sources, ssh_address)
    try:
        with contextlib.suppress(BrokenPipeError):
            daemon.serve()
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        daemon.end_all()
        if daemon.lock >= 0:
            enter(daemon.home)
            nic_loan.give_back()
    return 0
