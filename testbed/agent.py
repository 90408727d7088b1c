"""Carries out the steps of a trial where the network is: inside a lab kernel as its first process, or on the host.

Stands alone (standard library only, no other module of the testbed), because a lab kernel starts it with the host's
interpreter and nothing else: `python3 -ISB agent.py guest|host FOLDER TOOLS PROGRESS`.  It is the first process of a
guest, or of a process, mount and network namespace of its own on the host; when it goes, everything goes with it.
FOLDER holds `steps.json` and gets everything that is written; TOOLS holds our compiled programs.  The steps find the
two at /run/trial and /run/tools.  PROGRESS is the file that gets a line for each step, as a sign of life.

A step is a mapping.  `netns` names the namespace it happens in (none: the first one).  Kinds:
    run: WORDS    start a program; `stdin` is its text, `out`/`err` files in FOLDER for its output, `background` a name
                  (it is not waited for), `may_fail` true if another exit status than 0 is a result, not an error
    stop: NAME    end a background program with SIGTERM and wait for it
    write: [[FILE, VALUE], …]   below /proc/sys or /sys, read back and compared
    read: {NAME: FILE}          copy files of /proc, … into FOLDER; of a folder, a line "FILE: text" for each file
    sleep: SECONDS
    timeline: [{"at_ns": NS, "steps": [STEP, …], "then": [STEP, …]}, …]   `background` is its name; steps that are done
                  while the next ones go on, at times after the start: that is when this step began, or with
                  `begin: [FILE, PATTERN]` the ns of CLOCK_MONOTONIC that the pattern finds in a file of FOLDER, as soon
                  as it is there.  `then` follows at once, and is not part of what is due

`timeline.jsonl` gets the start, and when each moment of a timeline began, was done and ended.  `log.jsonl` gets what
was done, when (ns of CLOCK_MONOTONIC) and with what result; `outcome.json`, written last, says whether all of it was.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

MYPY = False
if MYPY:  # `typing` would cost a guest more time than all that it does
    from collections.abc import Callable
    from typing import Any

    Step = dict[str, Any]

CLONE_NEWNET = 0x40000000
MS_BIND, MS_SLAVE_REC, MNT_DETACH = 0x1000, 0x84000, 2
POWER_OFF = 0x4321FEDC
FILES_MAX = 65536
LOOK_AGAIN_S = 0.0005
LIBC = ctypes.CDLL(None, use_errno=True)

TMPFS = ("/run", "/tmp", "/var/tmp", "/var/log", "/mnt")
TRIAL, TOOLS = "/run/trial", "/run/tools"


class StepError(Exception):
    """A step did not do what it should."""


def main(kind: str, folder: str, tools: str, progress: str) -> int:
    SET_UP[kind](folder, tools)
    raise_file_limit()
    trial = Trial(TRIAL, os.open(progress, os.O_WRONLY | os.O_APPEND))
    with open(os.path.join(TRIAL, "steps.json")) as file:
        steps = json.load(file)
    error = None
    for number, step in enumerate(steps, 1):
        try:
            trial.do(step, f"{number}/{len(steps)}")
        except (StepError, OSError, subprocess.SubprocessError) as failure:
            error = {"step": step, "text": str(failure)}
            break
    trial.stop_all()
    trial.close(error)
    return 0 if error is None else 1


class Trial:
    """The steps done so far, and the programs that still run."""

    def __init__(self, folder: str, progress: int) -> None:
        self.folder = folder
        self.progress = progress
        self.running: dict[str, subprocess.Popen[bytes] | Child] = {}
        self.log = open(os.path.join(folder, "log.jsonl"), "w")  # noqa: SIM115 - closed by close()
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)

    def do(self, step: Step, number: str) -> None:
        kind = next(kind for kind in KINDS if kind in step)
        os.write(self.progress, f"step {number} {step.get('title', kind)}\n".encode())
        entry = {"begin_ns": time.monotonic_ns(), "step": {k: v for k, v in step.items() if k != "stdin"}}
        try:
            self.enter(step.get("netns"))
            try:
                entry.update(KINDS[kind](self, step) or {})
            finally:
                if step.get("netns"):
                    setns(self.home)
        finally:
            entry["end_ns"] = time.monotonic_ns()
            self.log.write(json.dumps(entry) + "\n")
            self.log.flush()

    def enter(self, netns: str | None) -> None:
        if netns:
            with open(f"/run/netns/{netns}") as file:
                setns(file.fileno())

    def run(self, step: Step) -> Step:
        words = step["run"]
        out = self.open(step["out"]) if "out" in step else subprocess.PIPE
        err = self.open(step["err"]) if "err" in step else subprocess.PIPE
        if step.get("background"):
            out = out if "out" in step else self.progress
            err = err if "err" in step else self.open(f"{step['background']}.err")
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            self.running[step["background"]] = process
            return {"pid": process.pid}
        text = step.get("stdin", "").encode()
        try:
            done = subprocess.run(words, input=text, stdout=out, stderr=err, timeout=step.get("timeout_s"))
        except subprocess.TimeoutExpired:
            raise StepError(f"{' '.join(words)}: still running after {step['timeout_s']} s of lab time") from None
        stderr = (done.stderr or b"").decode(errors="replace")
        if done.returncode and not step.get("may_fail"):
            said = stderr.strip() or (done.stdout or b"").decode(errors="replace").strip()
            raise StepError(f"{' '.join(words)}: exit status {done.returncode}: {said}{failed_line(step, said)}")
        return {"status": done.returncode, "stderr": stderr}

    def stop(self, step: Step) -> Step:
        process = self.running.pop(step["stop"])
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        elif process.returncode:
            with open(os.path.join(self.folder, f"{step['stop']}.err")) as file:
                raise StepError(f"{step['stop']} ended early with status {process.returncode}: {file.read()}")
        return {"status": process.wait()}

    def write(self, step: Step) -> None:
        paths = [path for path, _ in step["write"]]
        if any(path.startswith("/sys/") for path in paths):
            write_sysfs(step["write"])
        else:
            write_files(step["write"])

    def read(self, step: Step) -> None:
        for name, path in step["read"].items():
            with open(os.path.join(self.folder, name), "w") as copy:
                copy.write(text_of(path))

    def sleep(self, step: Step) -> None:
        time.sleep(step["sleep"])

    def timeline(self, step: Step) -> Step:
        began_ns = time.monotonic_ns()
        child = Child(lambda: self.keep_time(step, began_ns), self.open(f"{step['background']}.err"))
        self.running[step["background"]] = child
        return {"pid": child.pid}

    def keep_time(self, step: Step, start_ns: int) -> None:
        """In a process of its own, before which nothing else runs once it is time, until SIGTERM or the last moment."""
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        with open(os.path.join(self.folder, "timeline.jsonl"), "w") as log:
            self.log = open(os.devnull, "w")  # noqa: SIM115 - goes with the process
            if step.get("begin"):
                start_ns = self.find_start(*step["begin"])
            log.write(json.dumps({"start_ns": start_ns}) + "\n")
            for moment in step["timeline"]:
                sleep_until(start_ns + moment["at_ns"])
                entry = {"at_ns": moment["at_ns"], "begin_ns": time.monotonic_ns()}
                for part, ended in (("steps", "done_ns"), ("then", "end_ns")):
                    for number, each in enumerate(moment[part], 1):
                        self.do(each, f"{number}/{len(moment[part])} at {moment['at_ns'] / 1e9:g} s:")
                    entry[ended] = time.monotonic_ns()
                log.write(json.dumps(entry) + "\n")
                log.flush()

    def find_start(self, name: str, pattern: str) -> int:
        while True:
            with contextlib.suppress(FileNotFoundError), open(os.path.join(self.folder, name)) as file:
                found = re.search(pattern, file.read(), re.MULTILINE)
                if found:
                    return int(found[1])
            sleep_until(time.monotonic_ns() + int(LOOK_AGAIN_S * 1e9))

    def open(self, name: str) -> int:
        return os.open(os.path.join(self.folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def stop_all(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()

    def close(self, error: Step | None) -> None:
        self.log.close()
        with open(os.path.join(self.folder, "outcome.json"), "w") as file:
            json.dump({"error": error, "end_ns": time.monotonic_ns(), "release": os.uname().release}, file)


KINDS: dict[str, Callable[[Trial, Step], Step | None]] = {
    "run": Trial.run,
    "stop": Trial.stop,
    "write": Trial.write,
    "read": Trial.read,
    "sleep": Trial.sleep,
    "timeline": Trial.timeline,
}


class Child:
    """A copy of this process that does one thing; to be stopped and waited for like a program.

    SIGTERM reaches it while it sleeps, so that what it has begun it does to the end.
    """

    def __init__(self, work: Callable[[], None], err: int) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if not self.pid:
            self.run(work, err)

    def run(self, work: Callable[[], None], err: int) -> None:
        status = 1
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            work()
            status = 0
        except Stopped:
            status = 0
        except BaseException as error:
            os.write(err, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class Stopped(Exception):
    """SIGTERM came to a process that had it blocked."""


def sleep_until(time_ns: int) -> None:
    """Raises Stopped when SIGTERM, which is blocked, has come."""
    while True:
        left_ns = time_ns - time.monotonic_ns()
        if signal.sigtimedwait({signal.SIGTERM}, max(0, left_ns) / 1e9) is not None:
            raise Stopped
        if left_ns <= 0:
            return


def failed_line(step: Step, said: str) -> str:
    """The command behind "Command failed -:7", as `ip` and `tc` put it when they read a batch."""
    found = re.search(r"^Command failed -:(\d+)$", said, re.MULTILINE)
    return f" ({step['stdin'].splitlines()[int(found[1]) - 1]})" if found and "stdin" in step else ""


def write_files(pairs: list[tuple[str, str]]) -> None:
    for path, value in pairs:
        try:
            with open(path, "w") as file:
                file.write(value)
        except OSError as error:
            raise StepError(f"{path} does not take {value!r}: {error.strerror}") from None
        with open(path) as file:
            seen = file.read()
        if seen.split() != value.split():
            raise StepError(f"{path} was set to {value!r} and reads {seen.strip()!r}")


def text_of(path: str) -> str:
    if not os.path.isdir(path):
        with open(path) as file:
            return file.read()
    lines = []
    for name in sorted(os.listdir(path)):
        try:
            with open(os.path.join(path, name)) as file:
                lines.append(f"{name}: {' '.join(file.read().split())}\n")
        except OSError:  # folders, and keys that cannot be read
            pass
    return "".join(lines)


def write_sysfs(pairs: list[tuple[str, str]]) -> None:
    """Sysfs shows the devices of the network namespace in which it was mounted. Our mounts are seen by nobody else."""
    mount("sysfs", "sysfs", "/sys")
    try:
        write_files(pairs)
    finally:
        checked(LIBC.umount2(b"/sys", MNT_DETACH), "umount /sys")


def setns(descriptor: int) -> None:
    checked(LIBC.setns(descriptor, CLONE_NEWNET), "setns")


def mount(kind: str | None, source: str, target: str, flags: int = 0, data: str | None = None) -> None:
    text = [None if word is None else word.encode() for word in (source, target, kind, data)]
    checked(LIBC.mount(text[0], text[1], text[2], flags, text[3]), f"mount {kind or source} on {target}")


def checked(result: int, what: str) -> None:
    if result:
        raise StepError(f"{what}: {os.strerror(ctypes.get_errno())}")


def raise_file_limit() -> None:
    with contextlib.suppress(ValueError, OSError):  # an ordinary limit does for ordinary topologies
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES_MAX, FILES_MAX))


def set_up_guest(folder: str, tools: str) -> None:
    """The file systems of a fresh lab kernel: the root is the host's, read-only; FOLDER is the only way out."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    os.environ.update(PATH=path, LC_ALL="C.UTF-8", HOME="/run")
    mount("proc", "proc", "/proc")
    mount("sysfs", "sysfs", "/sys")
    mount("devtmpfs", "dev", "/dev")
    for path in TMPFS:
        if os.path.isdir(path):
            mount("tmpfs", "tmpfs", path, data="mode=1777")
    for source, target in ((folder, TRIAL), (tools, TOOLS)):
        os.makedirs(target)
        mount("hostfs", "none", target, data=source)


def set_up_host(folder: str, tools: str) -> None:
    """A /run of our own, seen by nobody else, so that the names of our namespaces go when we go."""
    checked(LIBC.mount(None, b"/", None, MS_SLAVE_REC, None), "mount --make-rslave /")
    kept = {target: os.open(source, os.O_PATH) for source, target in ((folder, TRIAL), (tools, TOOLS))}
    mount("tmpfs", "tmpfs", "/run", data="mode=755")
    for target, descriptor in kept.items():
        os.makedirs(target)
        mount(None, f"/proc/self/fd/{descriptor}", target, flags=MS_BIND)


SET_UP = {"guest": set_up_guest, "host": set_up_host}


def power_off() -> None:
    os.sync()
    LIBC.reboot(POWER_OFF)


if __name__ == "__main__":
    try:
        status = main(*sys.argv[1:5])
    except BaseException as error:  # a guest whose first process dies panics: say why instead
        print(f"agent: {type(error).__name__}: {error}", file=sys.stderr)
        status = 1
    if sys.argv[1] == "guest":
        power_off()
    sys.exit(status)
