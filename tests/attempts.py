"""What somebody may try who is root in a lab kernel, or who has taken over its process. Stands alone: it is sent into
guests as text, and runs there with any Python.

Each attempt does one thing to something of the host, and returns if it could. `python attempts.py KIND ABOUT` prints a
JSON object with the outcome of each: "done", "refused: …", or "broken: …" if it could not be tried.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import signal
import socket
import stat
import subprocess
import sys
import termios
from collections.abc import Callable
from typing import Any

About = dict[str, Any]
Attempts = dict[str, Callable[[], object]]

LIBC = ctypes.CDLL(None, use_errno=True)
REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EXDEV, errno.EFBIG, errno.EMFILE, errno.ENOSYS, errno.EAGAIN)
HOST = "/tmp/host"
"""Where the guest mounts all of the host's files."""


def mount_host() -> None:
    os.makedirs(HOST, exist_ok=True)
    if not os.path.ismount(HOST):
        checked(LIBC.mount(b"none", HOST.encode(), b"hostfs", 0, b"/"))


def checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def call(x86: int, arm: int, *arguments: Any) -> int:
    """A system call by its numbers on two processors."""
    number = x86 if platform.machine() == "x86_64" else arm
    return checked(
        LIBC.syscall(number, *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    )


def shell(command: str) -> None:
    """Fails with the last word of what it says."""
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip()
        refused = any(said.endswith(os.strerror(number)) for number in REFUSALS)
        raise OSError(errno.EACCES if refused else errno.ENOENT, said)


def write(path: str, mode: str = "w") -> None:
    with open(path, mode) as file:
        file.write("ESCAPED")


def touch_open(path: str) -> None:
    """Opens for writing and changes nothing."""
    os.close(os.open(path, os.O_WRONLY))


def read(path: str) -> None:
    with open(path, "rb") as file:
        assert file.read(64)


def look(path: str) -> None:
    """Opens for reading. Through hostfs, files of /proc are empty."""
    os.close(os.open(path, os.O_RDONLY))


def trial_folder() -> str:
    """On the host: its process works in a folder of the trial's folder."""
    pid = os.readlink(HOST + "/proc/self")
    return os.path.dirname(os.readlink(f"{HOST}/proc/{pid}/cwd"))


def at(about: About, name: str) -> str:
    return HOST + about["home"] + "/" + name


def guest_attempts(about: About) -> Attempts:
    """As root of the guest. Each has a file of its own in the home."""
    home, host, mine = about["home"], HOST, trial_folder()
    return {
        "mount hostfs and write": lambda: shell(
            f"mkdir -p /tmp/h; mount -t hostfs none /tmp/h -o '{home}' && touch /tmp/h/ESCAPED"
        ),
        "remount the root and write": lambda: shell(f"mount -o remount,rw / && touch '{home}/ESCAPED2'"),
        "make a file": lambda: write(at(about, "made")),
        "change a file": lambda: write(at(about, "changed"), "r+"),
        "append to a file": lambda: write(at(about, "appended"), "a"),
        "empty a file": lambda: os.truncate(at(about, "emptied"), 0),
        "remove a file": lambda: os.unlink(at(about, "removed")),
        "rename a file": lambda: os.rename(at(about, "renamed"), at(about, "renamed-2")),
        "make a folder": lambda: os.mkdir(at(about, "folder")),
        "remove a folder": lambda: os.rmdir(at(about, "empty-folder")),
        "link a file": lambda: os.link(at(about, "linked"), at(about, "linked-2")),
        "link a file into the trial": lambda: os.link(at(about, "linked"), host + mine + "/stolen"),
        "make a symbolic link": lambda: os.symlink("/etc/passwd", at(about, "symlink")),
        "make a pipe": lambda: os.mkfifo(at(about, "pipe")),
        "make a socket": lambda: os.mknod(at(about, "socket"), stat.S_IFSOCK | 0o600),
        "change a mode": lambda: os.chmod(at(about, "mode"), 0o777),
        "change a time": lambda: os.utime(at(about, "time"), (1, 1)),
        "read a key": lambda: read(at(about, ".ssh/id_ed25519")),
        "list the home": lambda: os.listdir(host + home),
        "read another result": lambda: read(at(about, "results/other/result.json")),
        "change another result": lambda: write(at(about, "results/other/result.json"), "r+"),
        "read a name in the journal": lambda: read(at(about, "cache/journal/net.json")),
        "execute what is not for all": lambda: subprocess.run([at(about, "program")], check=True),
        "open the kernel for writing": lambda: touch_open(host + about["features"]),
        "open the programs for writing": lambda: touch_open(host + about["tool"]),
        "open the compiled agent for writing": lambda: touch_open(host + about["compiled"]),
        **({"open the agent for writing": lambda: touch_open(host + about["agent"])} if about["writable"] else {}),
        "read another process": lambda: look(f"{host}/proc/{about['pid']}/cmdline"),
        "read another's environment": lambda: look(f"{host}/proc/{about['pid']}/environ"),
        "write to shared memory": lambda: write(f"{host}/dev/shm/{about['name']}"),
        "write to the folder for temporary files": lambda: write(f"{host}/tmp/{about['name']}"),
        "make a symbolic link in the trial": lambda: os.symlink("/etc/passwd", host + mine + "/symlink"),
        "make a pipe in the trial": lambda: os.mkfifo(host + mine + "/pipe"),
        "make a socket in the trial": lambda: os.mknod(host + mine + "/socket", stat.S_IFSOCK | 0o600),
        "change a mode in the trial": lambda: os.chmod(host + mine + "/steps.json", 0o600),
        **(root_attempts() if about["root"] else {}),
    }


def root_attempts() -> Attempts:
    """What only root may do on the host. Nothing is changed where it succeeds."""
    return {
        "read the passwords": lambda: read(HOST + "/etc/shadow"),
        "open a setting of the kernel": lambda: touch_open(HOST + "/proc/sys/vm/swappiness"),
        "open /etc/passwd for writing": lambda: touch_open(HOST + "/etc/passwd"),
        "open the root's folder": lambda: os.listdir(HOST + "/root"),
    }


def process_attempts(about: About) -> Attempts:
    """As the process of a lab kernel that has been taken over."""
    pid = about["pid"]
    return {
        "a TCP connection": lambda: socket.create_connection(("127.0.0.1", about["port"])),
        "a TCP server": lambda: socket.create_server(("127.0.0.1", 0)),
        "a UDP socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "an IPv6 socket": lambda: socket.socket(socket.AF_INET6),
        "a netlink socket": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
        "a Unix socket": lambda: socket.socket(socket.AF_UNIX),
        "a connection to a Unix socket": lambda: connect(about["home"] + "/listening"),
        "an abstract socket": lambda: connect("\0" + about["name"]),
        "a message over a datagram pair": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
        "a signal": lambda: os.kill(pid, signal.SIGCONT),
        "a signal by descriptor": lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGCONT),
        "a trace": lambda: traced(pid),
        "a look at memory": lambda: remote_read(pid, about["address"]),
        "an open memory": lambda: os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY)),
        "another's limits": lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE),
        "another's priority": lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
        "another's core": lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)),
        "a new session": lambda: in_child(os.setsid),
        "a namespace": lambda: in_child(lambda: call(272, 97, 0x10000000)),
        "a namespace with a process": in_namespace,
        "a shared segment": lambda: call(29, 194, 0, 4096, 0o1600),
        "a queue of messages": lambda: call(68, 186, 0, 0o1600),
        "a watch on the home": lambda: call(254, 27, call(294, 26, 0), about["home"].encode(), 0x2),
        "a handle of a file": lambda: handle(about["home"] + "/handle"),
        "an attribute": lambda: os.setxattr(about["home"] + "/attribute", "user.x", b"1"),
        "an owner": lambda: os.chown(about["home"] + "/owner", os.getuid(), os.getgid()),
        "a lease": lambda: leased(about["tool"]),
        "the flags of a file": lambda: put_back(about["tool"], 0x80086601, 0x40086602),
        "the generation of a file": lambda: put_back(about["tool"], 0x80087601, 0x40087602),
        "the generation of a file, by ext4": lambda: put_back(about["tool"], 0x80086603, 0x40086604),
        "the project of a file": lambda: put_back(about["tool"], 0x801C581F, 0x401C5820),
        "a terminal": os.openpty,
        "another's terminal": lambda: write(about["terminal"]),
        "a key ring": lambda: call(250, 219, 0, -3, 0),
        "io_uring": lambda: call(425, 425, 1, ctypes.create_string_buffer(256)),
        "a fault handler": lambda: call(323, 282, 1),
        "a file in the home": lambda: write(about["home"] + "/written"),
        "a key in the home": lambda: read(about["home"] + "/.ssh/id_ed25519"),
        "another working folder's file": lambda: read(about["home"] + "/results/other/result.json"),
        "a file without end": lambda: endless(about["trial"] + "/endless", about["file_bytes"]),
        "memory without end": lambda: mapped(about["memory_bytes"]),
        "a core file": allowed_core,
        "descriptors without end": lambda: raised(resource.RLIMIT_NOFILE, 65537),
    }


def connect(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(address)


def traced(pid: int) -> None:
    call(101, 117, 0x4206, pid, 0, 0)  # PTRACE_SEIZE; it goes on when we end


def remote_read(pid: int, address: int) -> None:
    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    mine = ctypes.create_string_buffer(8)
    ours, theirs = Part(ctypes.addressof(mine), 8), Part(address, 8)
    call(310, 270, pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)


def in_child(attempt: Callable[[], object]) -> None:
    """For what would change the rest."""
    pid = os.fork()
    if not pid:
        try:
            attempt()
        except OSError as error:
            os._exit(error.errno or 255)
        os._exit(0)
    number = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if number:
        raise OSError(number, os.strerror(number))


def in_namespace() -> None:
    pid = call(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)


def handle(path: str) -> None:
    place = ctypes.create_string_buffer(256)
    ctypes.c_uint.from_buffer(place).value = 128
    call(303, 264, -100, path.encode(), place, ctypes.byref(ctypes.c_int()), 0)


def leased(path: str) -> None:
    with open(path, "rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def put_back(path: str, get: int, set: int) -> None:
    """Sets what an ioctl of file systems says, to what it is."""
    value = bytearray(28)
    with open(path, "rb") as file:
        try:
            fcntl.ioctl(file, get, value)
            fcntl.ioctl(file, set, value)
        except OSError as error:
            if error.errno in (errno.ENOTTY, errno.EOPNOTSUPP, errno.EINVAL):  # not on this file system
                raise OSError(errno.EPERM, error.strerror) from None
            raise


def endless(path: str, most: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with open(path, "wb") as file:
            os.ftruncate(file.fileno(), most + 1)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def mapped(size: int) -> None:
    try:
        mmap.mmap(-1, size).close()
    except OSError as error:
        raise OSError(errno.EAGAIN if error.errno == errno.ENOMEM else error.errno, "cannot be mapped") from error


def allowed_core() -> None:
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        raise OSError(errno.EPERM, "core files have no room")


def raised(what: int, wanted: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise OSError(errno.EPERM, f"at most {hard}")


def outcomes(attempts: Attempts) -> dict[str, str]:
    """Of each attempt, in its order. An error that is no refusal means that it could not be tried."""
    found = {}
    for name, attempt in attempts.items():
        try:
            attempt()
            found[name] = "done"
        except (OSError, termios.error) as error:
            verdict = "refused" if error.errno in REFUSALS else "broken"
            found[name] = f"{verdict}: {errno.errorcode.get(error.errno, error.errno)}"
        except Exception as error:
            found[name] = f"broken: {error!r}"
    return found


def tried(kind: str, about: About) -> dict[str, str]:
    """What came of all attempts of a kind, guest or process."""
    if kind == "guest":
        mount_host()
    return outcomes({"guest": guest_attempts, "process": process_attempts}[kind](about))


if __name__ == "__main__":
    print(json.dumps(tried(sys.argv[1], json.loads(sys.argv[2]))))
