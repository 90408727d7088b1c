"""A computer over SSH as a remote node: requests go over a socket to the machine daemon on it.

The socket lies in the trial's folder, because the agent is in the trial's network and cannot open connections to the
outside. Several nodes on one computer, each in its own network namespace there, share one connection.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import select
import signal
import socket
import time

from .syscall import StepError

MYPY = False
if MYPY:
    from typing import Any

    Step = dict[str, Any]

OBSERVER = "observe-static"
CLOCK_LOOKS = 8


class Connection:
    """The connection to one computer; it sends one request at a time and waits for the answer."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(path)
        except OSError as error:
            raise StepError(f"{name}: cannot connect: {error.strerror}") from None
        self.number = 0
        self.unread = b""
        self.answers: dict[int, Step] = {}
        self.processes: dict[int, Process] = {}

    def ask(self, what: str, **words: Any) -> Step:
        return self.answer(self.send(what, **words))

    def send(self, what: str, **words: Any) -> int:
        self.number += 1
        self.say({"id": self.number, "do": what, **words})
        return self.number

    def say(self, request: Step) -> None:
        try:
            self.socket.sendall((json.dumps(request) + "\n").encode())
        except OSError:
            self.listen(0)  # its last output, if any
            raise StepError(f"{self.name}: the SSH connection is gone") from None

    def answer(self, number: int) -> Step:
        while number not in self.answers:
            self.listen(None)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise StepError(f"{self.name}: {answer['error']}")
        return answer

    def listen(self, timeout_s: float | None) -> bool:
        """Reads what arrives; False if nothing arrived in time."""
        if self.socket.fileno() < 0:
            raise StepError(f"{self.name}: the connection was given up")
        if not select.select([self.socket], [], [], timeout_s)[0]:
            return False
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionResetError:
            data = b""
        if not data:
            raise StepError(f"{self.name}: the SSH connection is gone")
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.take(json.loads(line))
        return True

    def take(self, said: Step) -> None:
        if "gone" in said:
            raise StepError(f"{self.name}: {said['gone']}")
        if "of" in said:
            process = self.processes.get(said["of"])
            if process is not None:
                process.take(said)
        else:
            self.answers[said["id"]] = said


class Process:
    """A program on the computer. `out` and `err` are descriptors here, or lists that collect."""

    def __init__(
        self, connection: Connection, inside: str | None, words: list[str], stdin: bytes, out: Any, err: Any
    ) -> None:
        self.connection = connection
        self.sinks = {"out": out, "err": err}
        self.returncode: int | None = None
        text = base64.b64encode(stdin).decode()
        self.number = connection.send("start", words=words, inside=inside, stdin=text)
        connection.processes[self.number] = self
        self.pid: int = connection.answer(self.number)["pid"]

    def take(self, said: Step) -> None:
        for name, sink in self.sinks.items():
            if name in said:
                text = base64.b64decode(said[name])
                if isinstance(sink, list):
                    sink.append(text)
                else:
                    os.write(sink, text)
        if "status" in said:
            self.returncode = said["status"]
            del self.connection.processes[self.number]

    def poll(self) -> int | None:
        while self.returncode is None and self.connection.listen(0):
            pass
        return self.returncode

    def wait(self, timeout_s: float | None = None) -> int:
        """Raises TimeoutError."""
        limit = None if timeout_s is None else time.monotonic() + timeout_s
        while self.returncode is None:
            self.connection.listen(None if limit is None else max(0.0, limit - time.monotonic()))
            if limit is not None and time.monotonic() >= limit and self.returncode is None:
                raise TimeoutError
        return self.returncode

    def send_signal(self, number: int) -> None:
        self.connection.ask("signal", of=self.number, number=number)

    def kill(self) -> None:
        if self.poll() is None:
            self.send_signal(signal.SIGKILL)


CONNECTIONS: dict[str, Connection] = {}


class Machine:
    """A node on a computer: the computer itself, or a namespace `inside` it. Checks the computer itself; lends its
    interfaces to a namespace or, once that `is_built`, waits until their cables are up.
    """

    def __init__(self, node: str, step: Step, folder: str) -> None:
        began_ns = time.monotonic_ns()
        self.machine: str = step["machine"]
        self.inside: str | None = step.get("inside")
        self.said: Step = {}
        path = os.path.join(folder, f"{self.machine}.sock")
        if path not in CONNECTIONS:
            CONNECTIONS[path] = Connection(self.machine, path)
        self.path, self.connection = path, CONNECTIONS[path]
        try:
            self.arrive(step, folder, began_ns)
        except StepError:
            self.hang_up()
            raise

    def arrive(self, step: Step, folder: str, began_ns: int) -> None:
        if self.inside is None:
            found = self.connection.ask("reach", **step["needs"])["about"]
            if step.get("tools"):
                with open(os.path.join(step["tools"], OBSERVER), "rb") as file:
                    self.bring(OBSERVER, file.read())
            found |= self.compare_clocks()
            self.said = {**found, "reached_s": (time.monotonic_ns() - began_ns) / 1e9}
            if "out" in step:
                with open(os.path.join(folder, step["out"]), "w") as file:
                    json.dump(self.said, file, indent=1)
        elif step.get("is_built"):
            self.connection.ask("carrier", inside=self.inside)
        else:
            self.connection.ask("lend", nics=step["nics"], netns=self.inside)

    def compare_clocks(self) -> Step:
        """How far its CLOCK_MONOTONIC is ahead of ours, from the quickest of a few round trips."""
        seen = []
        for _ in range(CLOCK_LOOKS):
            asked_ns = time.monotonic_ns()
            there_ns = self.connection.ask("clock")["now_ns"]
            now_ns = time.monotonic_ns()
            seen.append((now_ns - asked_ns, there_ns - (asked_ns + now_ns) // 2))
        round_trip_ns, ahead_ns = min(seen)
        return {"clock_ahead_ns": ahead_ns, "round_trip_ns": round_trip_ns}

    def bring(self, name: str, data: bytes) -> None:
        """Sends a program or a file of ours, unless the computer has it."""
        digest = hashlib.sha256(data).hexdigest()
        if not self.connection.ask("tool", name=name, hash=digest)["there"]:
            text = base64.b64encode(data).decode()
            if not self.connection.ask("tool", name=name, hash=digest, data=text)["there"]:
                raise StepError(f"{self.machine}: {name} did not arrive whole")

    def about(self) -> Step:
        return self.said

    def run(self, words: list[str], stdin: bytes, timeout_s: float | None) -> tuple[int, bytes, bytes]:
        out: list[bytes] = []
        err: list[bytes] = []
        process = Process(self.connection, self.inside, words, stdin, out, err)
        try:
            status = process.wait(timeout_s)
        except TimeoutError:
            process.kill()
            raise StepError(f"{self.machine}: {' '.join(words)}: still running after {timeout_s} s") from None
        return status, b"".join(out), b"".join(err)

    def start(self, words: list[str], out: int, err: int) -> Process:
        return Process(self.connection, self.inside, words, b"", out, err)

    def read(self, path: str) -> str:
        return str(self.connection.ask("read", path=path, inside=self.inside)["text"])

    def write(self, pairs: list[tuple[str, str]]) -> None:
        self.connection.ask("write", pairs=pairs, inside=self.inside)

    def hang_up(self) -> None:
        """Has the other end restore what it holds."""
        self.connection.socket.close()
        CONNECTIONS.pop(self.path, None)

    def close(self) -> None:
        """Restores everything on the computer; raises StepError if that fails."""
        if self.inside is None and self.connection.socket.fileno() >= 0:
            left = self.connection.ask("release")["left"]
            self.hang_up()
            if left:
                what = f"{self.machine}: not everything was restored ({'; '.join(left)})"
                raise StepError(f"{what}; `testbed machines restore` tries again")
