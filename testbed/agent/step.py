"""Executes the steps of a trial, and keeps the programs that they start.

A step is a mapping.  `netns` names the namespace it happens in (none: the first one; OUTSIDE: the one that has this
computer's real NICs); `on` a remote node (see `remote`).  Kinds:
    run: WORDS    start a program; `stdin` is its text, `out`/`err` files in FOLDER for its output, `background` a name
                  (it is not waited for), `may_fail` true if another exit status than 0 is a result, not an error
    stop: NAME    end a background program with SIGTERM and wait for it
    write: [[FILE, VALUE], …]   below /proc/sys or /sys, read back and compared
    read: {NAME: FILE}          copy files of /proc, … into FOLDER; of a folder, or of several files with spaces between
                  them, a line "FILE: text" for each file; `of` names a background program whose number stands for
                  {pid} in FILE
    await: [NAME, …]            wait until these background programs have ended; one with another status than 0
                  is an error, with what it wrote to `NAME.err`, and so is one of `watched`, which need not end
    bring: {NAME: PATH}         put files where a remote node keeps ours; of a folder (`hostfs:PATH`: of the host of a
                  lab kernel), one tar file
    sleep: SECONDS
    align: SECONDS              wait until the time is a whole multiple of it
    reach: NODE                 connect to a remote node, `by` one of the kinds in `remote`; `program` is a background
                  program that is the node
    timeline: [{"at_ns": NS, "steps": [STEP, …], "then": [STEP, …]}, …]   `background` is its name; steps that are done
                  while the next ones go on, at times after the start: that is when this step began, or with
                  `begin: [FILE, PATTERN]` the ns of CLOCK_MONOTONIC that the pattern finds in a file of FOLDER, as soon
                  as it is there.  `then` follows at once, and is not part of what is due.  `events` are steps at times
                  that nobody knows beforehand (see `event`), each followed by the step's own `then`
    serve: CHANNEL              start programs for clients that ask through a channel, until told to end (see `server`)

`timeline.jsonl` records the start, and when each moment of a timeline began, was done and ended; with `events` which
came then and what the kernel had said, and at the end, without a time, those that are still waited for.  `log.jsonl`
records each step, its time (ns of CLOCK_MONOTONIC) and its result; `outcome.json`, written last, says whether all
succeeded, and has the length and the CRC-32 of every file that came into FOLDER, so that a reader finds one that is
torn or was changed.
"""

from __future__ import annotations

import binascii
import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import time

from .child import Child, nap_until, sleep_until
from .remote import REACH
from .syscall import OUTSIDE, StepError, await_whole, mount, set_features, setns, text_of, write_files, write_sysfs

MYPY = False
if MYPY:  # importing `typing` would cost a guest more time than all the rest
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    from .event import Chain
    from .remote import RemoteNode, RemoteProcess

    Step = dict[str, Any]

LOOK_AGAIN_S = 0.0005
AWAIT_S = 0.05
"""How often to ask whether programs have ended: those on remote nodes are asked through their agents."""
SUMMED_BYTES, PART_BYTES = 1 << 30, 1 << 20
"""Longer files have a length only; so much of a file is in memory at a time."""
HOSTFS, MS_RDONLY = "hostfs:", 0x1


class Trial:
    """The steps done so far, and the programs that still run. `server` carries out the step `serve`."""

    def __init__(
        self, folder: str, progress: int, server: Callable[[Trial, list[int] | str], None] | None = None
    ) -> None:
        self.folder = folder
        self.server = server
        self.progress = progress
        self.running: dict[str, subprocess.Popen[bytes] | Child | RemoteProcess] = {}
        self.remote_nodes: dict[str, RemoteNode] = {}
        self.given = frozenset(os.listdir(folder))
        self.log = open(os.path.join(folder, "log.jsonl"), "w")  # noqa: SIM115 - closed by close()
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        outside = os.environ.pop(OUTSIDE, None)
        self.outside = None if outside is None else int(outside)
        if self.outside is not None:
            os.set_inheritable(self.outside, False)

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
        if netns == OUTSIDE:
            if self.outside is None:
                raise StepError("a lab kernel cannot use the real NICs of this computer")
            setns(self.outside)
        elif netns:
            descriptor = os.open(f"/run/netns/{netns}", os.O_RDONLY)
            try:
                setns(descriptor)
            finally:
                os.close(descriptor)

    def run(self, step: Step) -> Step:
        if "on" in step:
            return self.run_remotely(step)
        words = step["run"]
        if set(step) <= {"title", "run", "netns"} and words[:2] == ["ethtool", "-K"] and set_features(*words[2:]):
            return judged(step, 0, b"", b"")
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
        return judged(step, done.returncode, done.stdout or b"", done.stderr or b"")

    def run_remotely(self, step: Step) -> Step:
        """The same on a remote node; its output arrives when the program has ended."""
        there = self.remote_nodes[step["on"]]
        if step.get("background"):
            out = self.open(step["out"]) if "out" in step else self.progress
            err = self.open(step["err"] if "err" in step else f"{step['background']}.err")
            self.running[step["background"]] = process = there.start(step["run"], out, err)
            return {"pid": process.pid}
        status, stdout, stderr = there.run(step["run"], step.get("stdin", "").encode(), step.get("timeout_s"))
        for name, text in (("out", stdout), ("err", stderr)):
            if name in step:
                write_all(self.open(step[name]), text)
        return judged(step, status, b"" if "out" in step else stdout, b"" if "err" in step else stderr)

    def reach(self, step: Step) -> Step:
        node = step["reach"]
        pid = {"pid": self.running[step["program"]].pid} if "program" in step else {}
        self.remote_nodes[node] = REACH[step["by"]](node, step | pid | {"signs": self.progress}, self.folder)
        return self.remote_nodes[node].about()

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
        if "on" in step:
            self.remote_nodes[step["on"]].write(step["write"])
        elif any(path.startswith("/sys/") for path in paths):
            write_sysfs(step["write"])
        else:
            write_files(step["write"])

    def read(self, step: Step) -> None:
        for name, path in step["read"].items():
            if "of" in step:
                path = path.format(pid=self.running[step["of"]].pid)
            with open(os.path.join(self.folder, name), "w") as copy:
                copy.write(self.remote_nodes[step["on"]].read(path) if "on" in step else text_of(path))

    def wait(self, step: Step) -> None:
        names = [*step["await"], *step.get("watched", ())]
        while True:
            statuses = {name: self.running[name].poll() for name in names}
            for name, status in statuses.items():
                if status:
                    with open(os.path.join(self.folder, f"{name}.err"), errors="replace") as file:
                        raise StepError(file.read().strip() or f"{name} ended early with status {status}")
            if None not in [statuses[name] for name in step["await"]]:
                return
            time.sleep(AWAIT_S)

    def bring(self, step: Step) -> None:
        for name, path in step["bring"].items():
            self.remote_nodes[step["on"]].bring(name, content(path))

    def sleep(self, step: Step) -> None:
        time.sleep(step["sleep"])

    def align(self, step: Step) -> None:
        await_whole(round(step["align"] * 1e9))

    def timeline(self, step: Step) -> Step:
        began_ns = time.monotonic_ns()
        child = Child(lambda: self.keep_time(step, began_ns), self.open(f"{step['background']}.err"))
        self.running[step["background"]] = child
        return {"pid": child.pid}

    def keep_time(self, step: Step, start_ns: int) -> None:
        """Runs in a process of its own, which goes first once a moment is due, until SIGTERM or the last moment."""
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        with open(os.path.join(self.folder, "timeline.jsonl"), "w") as log:
            self.log = open(os.devnull, "w")  # noqa: SIM115 - goes with the process
            if step.get("begin"):
                start_ns = self.find_start(*step["begin"])
            log.write(json.dumps({"start_ns": start_ns}) + "\n")
            chains = self.chains(step["events"]) if "events" in step else []
            try:
                for moment, notes in moments(step, chains, start_ns):
                    entry = {"at_ns": moment["at_ns"], "begin_ns": time.monotonic_ns()}
                    for part, ended in (("steps", "done_ns"), ("then", "end_ns")):
                        for number, each in enumerate(moment[part], 1):
                            self.do(each, f"{number}/{len(moment[part])} at {moment['at_ns'] / 1e9:g} s:")
                        entry[ended] = time.monotonic_ns()
                    log.write(json.dumps(entry | ({"events": notes} if notes else {})) + "\n")
                    log.flush()
            finally:
                waits = [each for chain in chains for each in chain.waits()]
                log.write(json.dumps({"waiting": waits}) + "\n" if chains else "")

    def chains(self, events: list[Step]) -> list[Chain]:
        from .event import chains  # would cost every trial time

        return chains(events, self.enter, lambda: setns(self.home))

    def find_start(self, name: str, pattern: str) -> int:
        while True:
            with contextlib.suppress(FileNotFoundError), open(os.path.join(self.folder, name)) as file:
                found = re.search(pattern, file.read(), re.MULTILINE)
                if found:
                    return int(found[1])
            sleep_until(time.monotonic_ns() + int(LOOK_AGAIN_S * 1e9))

    def serve(self, step: Step) -> None:
        assert self.server is not None, "BUG: main was not told that a step serves"
        self.server(self, step["serve"])

    def open(self, name: str) -> int:
        return os.open(os.path.join(self.folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def stop_all(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()
        failures = []
        for each in self.remote_nodes.values():
            try:
                each.close()
            except StepError as error:
                failures.append(str(error))
        if failures:
            raise StepError("; ".join(failures))

    def close(self, error: Step | None) -> None:
        self.log.close()
        with open(os.path.join(self.folder, "outcome.json"), "w") as file:
            said = {"error": error, "end_ns": time.monotonic_ns(), "release": os.uname().release}
            json.dump(said | {"written": written(self.folder, self.given)}, file)


def moments(step: Step, chains: list[Chain], start_ns: int) -> Iterator[tuple[Step, list[Step]]]:
    """Each moment when it is due, with what events note of it: those of the timeline, and those that events make."""
    left = list(step["timeline"])
    while True:
        due = [at_ns for chain in chains if (at_ns := chain.next_ns()) is not None]
        at_ns = min([*due, *(moment["at_ns"] for moment in left[:1])], default=None)
        if at_ns is None:
            return
        (nap_until if chains else sleep_until)(start_ns + at_ns)
        planned = left.pop(0) if left and left[0]["at_ns"] == at_ns else None
        acts = [chain.act(at_ns, time.monotonic_ns) for chain in chains if chain.next_ns() == at_ns]
        notes = [note for _, note in acts if note is not None]
        if planned or notes:
            steps = [*(planned["steps"] if planned else ()), *(each for steps, _ in acts for each in steps)]
            yield {"at_ns": at_ns, "steps": steps, "then": planned["then"] if planned else step["then"]}, notes


def written(folder: str, given: frozenset[str]) -> dict[str, list[int | None]]:
    """Maps each ordinary file that is not `given` to its length and CRC-32; None for one that is too long to be read
    again. Leaves out what cannot be read.
    """
    found: dict[str, list[int | None]] = {}
    for name in sorted(set(os.listdir(folder)) - given - {"outcome.json"}):
        with contextlib.suppress(OSError):
            descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    length = os.fstat(descriptor).st_size
                    found[name] = [length, None if length > SUMMED_BYTES else crc32_of(file, length)]
    return found


def crc32_of(file: BinaryIO, length: int) -> int:
    """Of the first bytes of a file, or of all if it is shorter."""
    summed = 0
    while length > 0 and (part := file.read(min(PART_BYTES, length))):
        summed, length = binascii.crc32(part, summed), length - len(part)
    return summed


KINDS: dict[str, Callable[[Trial, Step], Step | None]] = {
    "run": Trial.run,
    "stop": Trial.stop,
    "write": Trial.write,
    "read": Trial.read,
    "await": Trial.wait,
    "bring": Trial.bring,
    "sleep": Trial.sleep,
    "align": Trial.align,
    "reach": Trial.reach,
    "timeline": Trial.timeline,
    "serve": Trial.serve,
}


def judged(step: Step, status: int, stdout: bytes, stderr: bytes) -> Step:
    """How a program ended, for the log. Raises StepError for a status that the step does not allow."""
    said = stderr.decode(errors="replace")
    if status and not step.get("may_fail"):
        reason = said.strip() or stdout.decode(errors="replace").strip()
        raise StepError(f"{' '.join(step['run'])}: exit status {status}: {reason}{failed_line(step, reason)}")
    return {"status": status, "stderr": said}


def write_all(descriptor: int, text: bytes) -> None:
    with open(descriptor, "wb") as file:
        file.write(text)


def content(path: str) -> bytes:
    """Of a file; of a folder, all that is in it as a tar file."""
    if path.startswith(HOSTFS):
        import tempfile  # would cost every trial time

        place = tempfile.mkdtemp(dir="/run")
        mount("hostfs", "none", place, MS_RDONLY, path.removeprefix(HOSTFS))
        path = place
    if not os.path.isdir(path):
        with open(path, "rb") as file:
            return file.read()
    import io  # so would these
    import tarfile

    text = io.BytesIO()
    with tarfile.open(fileobj=text, mode="w") as packed:
        for name in sorted(os.listdir(path)):
            if not name.startswith("."):
                packed.add(os.path.join(path, name), name, filter=plain)
    return text.getvalue()


def plain(each: Any) -> Any:
    """A file of a tar file, of nobody in particular and no time."""
    each.uid = each.gid = each.mtime = 0
    return each


def failed_line(step: Step, said: str) -> str:
    """The command that `ip` and `tc` mean by "Command failed -:7" when they read a batch."""
    found = re.search(r"^Command failed -:(\d+)$", said, re.MULTILINE)
    return f" ({step['stdin'].splitlines()[int(found[1]) - 1]})" if found and "stdin" in step else ""
