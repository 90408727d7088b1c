"""A virtual machine as a remote node: over the guest agent on a virtio-serial port, apart from any network.

https://qemu.readthedocs.io/en/latest/interop/qemu-ga-ref.html: lines of JSON, one answer for each request; `guest-exec`
runs programs, and has their output when they have ended.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import socket
import time

from .syscall import StepError

MYPY = False
if MYPY:
    from typing import Any

    Step = dict[str, Any]

ANSWER_LIMIT_S = 60.0
LOOK_AGAIN_S, LOOK_SLOWER_S = 0.005, 0.05
"""How often to ask whether a program has ended: often at first, because most end at once."""
CONSOLE_LINES = 25
TOOLS = "/run"
"""Where a machine keeps programs and files of ours, which go with it."""
CHUNK_BYTES = 1 << 18
ANSWER_BYTES = 64 << 20
"""Of one answer: qemu-ga itself keeps 16 MiB of each output of a program, which are sent in base64."""
RELEASE = "/proc/sys/kernel/osrelease"
CONTROLS = "/proc/sys/net/ipv4/tcp_available_congestion_control"
CPUS = "/sys/devices/system/cpu/online"
SHELL_WRITE = """\
while [ $# -gt 1 ]; do printf %s "$2" > "$1" || exit 1; shift 2; done
"""
SHELL_LIST = """\
grep -sH "" "$1"/*
"""


class VirtualMachine:
    """One virtual machine. The constructor waits until its guest agent answers."""

    def __init__(self, node: str, step: Step, folder: str) -> None:
        self.node, self.pid, self.signs = node, step["pid"], step["signs"]
        self.console = os.path.join(folder, step["console"])
        self.errors = os.path.join(folder, f"{step['program']}.err")
        self.socket = socket.socket(socket.AF_UNIX)
        self.unread = b""
        deadline_s = time.monotonic() + step["limit_s"]
        self.connect(step["socket"], deadline_s)
        self.synchronise(deadline_s)
        self.boot_s = age_s(self.pid)
        self.name_devices(step["devices"])
        said = self.run(["cat", RELEASE, CONTROLS, CPUS], b"", None)[1].decode(errors="replace").splitlines()
        self.release, self.controls, cpus = (*said, "", "", "")[:3]
        self.cpus = count_of(cpus)

    def about(self) -> Step:
        return {
            "boot_s": self.boot_s,
            "release": self.release,
            "congestion_controls": self.controls.split(),
            "cpus": self.cpus,
        }

    def connect(self, path: str, deadline_s: float) -> None:
        while True:
            try:
                self.socket.connect(path)
                return
            except OSError:
                self.check_alive()
                self.check_time(deadline_s)
                time.sleep(LOOK_SLOWER_S)

    def synchronise(self, deadline_s: float) -> None:
        """Waits for the answer to this request, and drops older answers."""
        number = os.getpid() << 16 | self.pid
        self.send({"execute": "guest-sync-delimited", "arguments": {"id": number}}, b"\xff")
        while True:
            line = self.line(deadline_s)
            if line.rpartition(b"\xff")[1]:
                with contextlib.suppress(ValueError):
                    if json.loads(line.rpartition(b"\xff")[2]).get("return") == number:
                        return

    def name_devices(self, wanted: dict[str, str]) -> None:
        """Gives the network devices the names that the commands use, by their MAC addresses."""
        if not wanted:
            return
        found = {each.get("hardware-address"): each["name"] for each in self.ask("guest-network-get-interfaces")}
        missing = [f"{name} ({mac})" for mac, name in wanted.items() if mac not in found]
        if missing:
            raise StepError(f"{self.node} has no network device {', '.join(missing)}: its kernel lacks the driver?")
        moves = [(found[mac], name) for mac, name in wanted.items() if found[mac] != name]
        steps = [(old, f"moved{number}") for number, (old, _) in enumerate(moves)]
        steps += [(f"moved{number}", new) for number, (_, new) in enumerate(moves)]
        for old, new in steps:
            for words in (["ip", "link", "set", old, "down"], ["ip", "link", "set", old, "name", new]):
                status, _, stderr = self.run(words, b"", None)
                if status:
                    raise StepError(f"{self.node}: {' '.join(words)}: {stderr.decode(errors='replace').strip()}")

    def run(self, words: list[str], stdin: bytes, timeout_s: float | None) -> tuple[int, bytes, bytes]:
        number = self.begin(words, stdin)
        began_s, wait_s = time.monotonic(), LOOK_AGAIN_S
        while True:
            said = self.status(number)
            if said is not None:
                return said
            if timeout_s is not None and time.monotonic() - began_s > timeout_s:
                raise StepError(f"{self.node}: {' '.join(words)}: still running after {timeout_s} s")
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, LOOK_SLOWER_S)

    def start(self, words: list[str], out: int, err: int) -> VmProcess:
        return VmProcess(self, self.begin(words, b""), out, err)

    def read(self, path: str) -> str:
        """The text of a file; of a folder, of its files, without those in folders below."""
        status, stdout, stderr = self.run(["cat", path], b"", None)
        if not status:
            return stdout.decode(errors="replace")
        if b"directory" not in stderr:
            raise StepError(f"{self.node}: {path}: {stderr.decode(errors='replace').strip()}")
        folder = path.rstrip("/")
        _, stdout, _ = self.run(["sh", "-c", SHELL_LIST, "sh", folder], b"", None)
        found = words_of(stdout, f"{folder}/")
        return "".join(f"{file}: {' '.join(words)}\n" for file, words in sorted(found.items()))

    def write(self, pairs: list[tuple[str, str]]) -> None:
        words = [word for path, value in pairs for word in (path, value)]
        status, _, stderr = self.run(["sh", "-c", SHELL_WRITE, "sh", *words], b"", None)
        if status:
            raise StepError(f"{self.node}: {stderr.decode(errors='replace').strip()}")
        _, stdout, _ = self.run(["grep", "-sH", "", *(path for path, _ in pairs)], b"", None)
        seen = words_of(stdout)
        for path, value in pairs:
            if seen.get(path, []) != value.split():
                raise StepError(f"{self.node}: {path} was set to {value!r} and reads {' '.join(seen.get(path, []))!r}")

    def bring(self, name: str, data: bytes) -> None:
        path = f"{TOOLS}/{name}"
        handle = self.ask("guest-file-open", {"path": path, "mode": "w"})
        for begin in range(0, len(data), CHUNK_BYTES):
            part = data[begin : begin + CHUNK_BYTES]
            asked = {"handle": handle, "buf-b64": base64.b64encode(part).decode()}
            if self.ask("guest-file-write", asked)["count"] != len(part):
                raise StepError(f"{self.node}: {name} did not arrive whole")
        self.ask("guest-file-close", {"handle": handle})
        status, _, stderr = self.run(["chmod", "755", path], b"", None)
        if status:
            raise StepError(f"{self.node}: {path}: {stderr.decode(errors='replace').strip()}")

    def close(self) -> None:
        self.socket.close()

    def begin(self, words: list[str], stdin: bytes) -> int:
        asked: Step = {"path": words[0], "arg": words[1:], "capture-output": True}
        if stdin:
            asked["input-data"] = base64.b64encode(stdin).decode()
        return int(self.ask("guest-exec", asked)["pid"])

    def status(self, number: int) -> tuple[int, bytes, bytes] | None:
        """How a program ended, and its output, which can be asked once; None while it runs."""
        said = self.ask("guest-exec-status", {"pid": number})
        if not said["exited"]:
            return None
        out, err = (base64.b64decode(said.get(key, "")) for key in ("out-data", "err-data"))
        if said.get("out-truncated") or said.get("err-truncated"):
            raise StepError(f"{self.node}: a program wrote more than the guest agent keeps")
        return said.get("exitcode", -said.get("signal", 1)), out, err

    def ask(self, what: str, arguments: Step | None = None) -> Any:
        self.send({"execute": what, "arguments": arguments or {}})
        said = json.loads(self.line(time.monotonic() + ANSWER_LIMIT_S))
        if "error" in said:
            raise StepError(f"{self.node}: its guest agent says: {said['error'].get('desc', said['error'])}")
        return said["return"]

    def send(self, request: Step, before: bytes = b"") -> None:
        try:
            self.socket.sendall(before + json.dumps(request).encode() + b"\n")
        except OSError:
            raise StepError(self.story("its guest agent is gone")) from None

    def line(self, deadline_s: float) -> bytes:
        while b"\n" not in self.unread:
            self.socket.settimeout(LOOK_SLOWER_S * 10)
            try:
                found = self.socket.recv(1 << 16)
            except TimeoutError:
                self.check_alive()
                self.check_time(deadline_s)
                continue
            except OSError:
                found = b""
            if not found:
                time.sleep(LOOK_SLOWER_S)  # QEMU closes it shortly before it ends
                self.check_alive()
                raise StepError(self.story("its guest agent is gone"))
            self.unread += found
            if len(self.unread) > ANSWER_BYTES:
                raise StepError(f"{self.node}: its guest agent sends a line of more than {ANSWER_BYTES >> 20} MiB")
        line, _, self.unread = self.unread.partition(b"\n")
        return line

    def check_time(self, deadline_s: float) -> None:
        """Also a sign of life: where processors are emulated in virtual time, a second can take a minute."""
        os.write(self.signs, f"waiting for {self.node}\n".encode())
        if time.monotonic() > deadline_s:
            raise StepError(self.story("its guest agent does not answer"))

    def check_alive(self) -> None:
        """Whether QEMU, a child of ours, has ended; leaves it for its starter to wait for."""
        if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            raise StepError(self.story("QEMU has ended"))

    def story(self, what: str) -> str:
        """The error, with the output of QEMU and the machine."""
        lines = [line for path in (self.errors, self.console) for line in lines_of(path)]
        said = "\n".join(lines[-CONSOLE_LINES:]) or "(nothing)"
        return f"the virtual machine {self.node} failed: {what}. Its console ends:\n{said}"


class VmProcess:
    """A program in a virtual machine."""

    def __init__(self, machine: VirtualMachine, pid: int, out: int, err: int) -> None:
        self.machine, self.pid, self.out, self.err = machine, pid, out, err
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            said = self.machine.status(self.pid)
            if said is not None:
                self.returncode, stdout, stderr = said
                for descriptor, text in ((self.out, stdout), (self.err, stderr)):
                    with open(descriptor, "wb", closefd=False) as file:
                        file.write(text)
        return self.returncode

    def wait(self) -> int:
        while self.poll() is None:
            time.sleep(LOOK_SLOWER_S)
        assert self.returncode is not None, "BUG: it has ended"
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Uses the shell's own `kill`: not every image has the program."""
        self.machine.run(["sh", "-c", 'kill "-$1" "$2"', "sh", str(number), str(self.pid)], b"", None)

    def kill(self) -> None:
        try:
            if self.poll() is None:
                self.send_signal(signal.SIGKILL)
        except StepError:  # a machine that has ended has no programs
            self.returncode = -signal.SIGKILL


def age_s(pid: int) -> float:
    """The age of a process."""
    with open(f"/proc/{pid}/stat") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    return round(time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"), 3)


def count_of(ranges: str) -> str:
    """How many numbers there are in `0-2,5`; empty if none are told."""
    ends = [each.partition("-") for each in ranges.split(",") if each]
    return str(sum(int(last or first) - int(first) + 1 for first, _, last in ends)) if ends else ""


def words_of(listed: bytes, prefix: str = "") -> dict[str, list[str]]:
    """The words in each file, by its name without the prefix, of what `grep -H` said."""
    found: dict[str, list[str]] = {}
    for line in listed.decode(errors="replace").splitlines():
        file, _, text = line.removeprefix(prefix).partition(":")
        found.setdefault(file, []).extend(text.split())
    return found


def lines_of(path: str) -> list[str]:
    with contextlib.suppress(OSError), open(path, errors="replace") as file:
        return [line.rstrip() for line in file if line.strip()]
    return []
