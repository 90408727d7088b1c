"""Builds a network with the real Mininet, or reads a topology in Python for it, and stands alone: it is one file,
because the system's Python, to which Mininet belongs, runs it without any other module of the testbed.


    mininet_driver.py build FOLDER
                               builds the network that the JSON on standard input describes (see `plan/mininet.py`);
                               FOLDER gets mininet.json, with Mininet's version, and mininet.log
    mininet_driver.py remove PIDFILE
    mininet_driver.py read FILE CLASS
                               the nodes and links of a topology in Python, as JSON. Standard input is a JSON mapping:
                               `source` has the bytes of the file, each as a character, `arguments` those of the class;
                               `file` and `folder` are descriptors of the file and of its folder
    mininet_driver.py check     fails if there is no Mininet that works

`build` ends when the network is up; a child of it stays, because the shells of Mininet's nodes are its children.  Every
node's network namespace gets the name under /run/netns that the description has.  Mininet's clean-up, which kills by
name, and its changes to the host's sysctls are both switched off.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import json
import logging
import os
import pwd
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
import traceback
import types
from collections.abc import Callable
from typing import Any

Data = dict[str, Any]

OVS_EARLIEST_S = 10
"""Open vSwitch counts the processors once CLOCK_MONOTONIC reaches 10 s; before that it has no thread for upcalls."""

OVS_LIMIT_S = 60
"""How long Open vSwitch may take to execute an order."""

OVS_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
HARMLESS = ("quantum of class", "has no interfaces")
"""A single class shares with nobody, so the quantum does not matter. A controller's device comes later."""


class Failed(Exception):
    """Mininet did not do what it should."""


def main(words: list[str]) -> int:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]  # modules that are not for this Python
    try:
        COMMANDS[words[0]](*words[1:])
    except (Failed, OSError, ImportError) as error:
        print(f"mininet: {error}", file=sys.stderr)
        return 1
    return 0


def build(folder: str) -> None:
    """Builds in a child that stays; passes on what the child prints while it builds."""
    description = json.load(sys.stdin)
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        with os.fdopen(reading) as said:
            text = said.read()
        if text != "built":
            raise Failed(text or "Mininet ended while it built the network")
        return
    os.close(reading)
    try:
        leave(os.path.join(folder, "mininet.log"))
        net = network(description)
        with open(description["pid_file"], "w") as file:
            file.write(str(os.getpid()))
        with open(os.path.join(folder, "mininet.json"), "w") as file:
            json.dump(report(), file)
        os.write(writing, b"built")
    except BaseException as error:
        os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    os.close(writing)
    signal.sigwait({signal.SIGTERM})
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    net.stop()
    for node in (*description["hosts"], *description["switches"]):
        subprocess.run(["ip", "netns", "del", node["netns"]], check=False)
    os.unlink(description["pid_file"])
    os._exit(0)


def leave(log: str) -> None:
    """Starts a new session and closes all that somebody might wait for the end of."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    null, out = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for descriptor, target in ((null, 0), (out, 1), (out, 2)):
        os.dup2(descriptor, target)


def remove(pid_file: str) -> None:
    with open(pid_file) as file:
        pid = int(file.read())
    os.kill(pid, signal.SIGTERM)
    while os.path.exists(pid_file):
        time.sleep(0.05)


def network(description: Data) -> Any:
    """Raises Failed for whatever Mininet, which prints its errors and goes on, has printed."""
    terminals()
    with faults() as found:
        net = built(description)
        if found:
            raise Failed("; ".join(found))
    names = ((node["netns"], net[node["name"]].pid) for node in (*description["hosts"], *description["switches"]))
    lines = "".join(f"netns attach {netns} {pid}\n" for netns, pid in names)
    done = subprocess.run(["ip", "-batch", "-"], input=lines, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"the namespaces of Mininet's nodes cannot be named: {done.stderr.strip()}")
    return net


def terminals() -> None:
    """Mounts devpts: Mininet's shells need pseudo-terminals, and a lab kernel starts without them."""
    if not os.path.exists("/dev/pts/ptmx"):
        os.makedirs("/dev/pts", exist_ok=True)
        subprocess.run(["mount", "-t", "devpts", "-o", "ptmxmode=666", "devpts", "/dev/pts"], check=True)


@contextlib.contextmanager
def faults() -> Any:
    """What Mininet logs as errors and warnings."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage().strip()
            if record.levelno >= logging.WARNING and text and not any(each in text for each in HARMLESS):
                found.append(text)

    from mininet.log import lg

    handler = Handler()
    lg.setLogLevel("warning")
    lg.addHandler(handler)
    try:
        yield found
    finally:
        lg.removeHandler(handler)


def built(description: Data) -> Any:
    from mininet.link import Link, TCLink
    from mininet.net import Mininet
    from mininet.node import Host, Node

    Mininet.inited = True  # it would raise limits and change sysctls of the whole machine
    net = Mininet(topo=None, build=False, controller=None, autoSetMacs=False)
    for node in description["hosts"]:
        made = net.addHost(node["name"], cls=Host if node["kind"] == "host" else Node, ip=None)
        quiet(made)
    for number, node in enumerate(description["switches"], 1):
        made = net.addSwitch(
            node["name"], cls=SWITCHES[node["kind"]](), inNamespace=True, **{"dpid": f"{number:x}", **node["options"]}
        )
        quiet(made)
    for link in description["links"]:
        first, second = (net[end["node"]] for end in link["ends"])
        one, other = link["ends"]
        made = net.addLink(
            first,
            second,
            cls=Link if link["tc"] is None else TCLink,
            intfName1=one["device"],
            intfName2=other["device"],
            addr1=one["mac"],
            addr2=other["mac"],
            **(link["tc"] or {}),
        )
        for intf in (made.intf1, made.intf2):
            if link["mtu_bytes"] != 1500:
                told(intf.node, "ip link set", intf, "mtu", link["mtu_bytes"])
    net.build()
    net.start()
    return net


def quiet(node: Any) -> None:
    """Switches IPv6 off until an address needs it: neighbour discovery would be traffic that nobody described."""
    for which in ("all", "default"):
        told(node, f"echo 1 > /proc/sys/net/ipv6/conf/{which}/disable_ipv6")


def told(node: Any, *words: Any) -> None:
    """Runs a command in the shell of a node; raises Failed if it prints anything."""
    said = node.cmd(*words)
    if said.strip():
        raise Failed(f"{node.name}: {' '.join(map(str, words))}: {said.strip()}")


@functools.cache
def linux_bridge() -> Any:
    from mininet.nodelib import LinuxBridge

    class Bridge(LinuxBridge):  # type: ignore[misc]
        """Mininet's bridge in a namespace of its own, set up with ip: Debian's Mininet comes without brctl."""

        def __init__(self, name: str, vlans: bool, **options: Any) -> None:
            self.vlans = vlans
            super().__init__(name, **options)

        @classmethod
        def setup(cls) -> None:
            """Does nothing: Mininet would look for brctl."""

        def start(self, _controllers: Any) -> None:
            stp = int(self.stp)
            apart = "vlan_filtering 1 vlan_default_pvid 0" if self.vlans else ""
            told(self, f"ip link add br0 type bridge stp_state {stp} mcast_snooping 0 {apart}")
            for intf in self.intfList():
                told(self, "ip link set", intf, "master br0")
            told(self, "ip link set br0 up")

    return Bridge


@functools.cache
def open_vswitch() -> Any:
    """Mininet's Open vSwitch, with its own daemons in its own namespace; it touches no Open vSwitch of the computer.

    Its bridge is called br0. `folder` gets sockets, database and logs, and `targets` are its controllers, in the
    notation of ovs-vsctl.
    """
    from mininet.node import OVSSwitch

    class Switch(OVSSwitch):  # type: ignore[misc]
        OVSVersion = ovs_version()

        def __init__(self, name: str, folder: str, targets: list[str], **options: Any) -> None:
            self.folder, self.targets = folder, targets
            super().__init__(name, **options)
            self.controlIntf = None

        @classmethod
        def setup(cls) -> None:
            """Does nothing: Mininet would ask the computer's Open vSwitch."""

        @classmethod
        def batchStartup(cls, switches: Any, run: Any = None) -> Any:
            return switches

        def __str__(self) -> str:
            return "br0"

        def start(self, _controllers: Any) -> None:
            self.daemons()
            self.inNamespace = False  # where Mininet thinks that the kernel's datapath is impossible
            try:
                super().start([Target(f"c{n}", target) for n, target in enumerate(self.targets)])
            finally:
                self.inNamespace = True
            said = self.cmd(f"ovs-vsctl --timeout={OVS_LIMIT_S} list-ports br0").split()
            if said != [intf.name for intf in self.intfList()]:
                raise Failed(f"{self.name}: Open vSwitch has the ports {' '.join(said) or '(none)'}")

        def vsctl(self, *words: Any, **options: Any) -> None:
            """Checks the output and limits the wait; Mininet does neither."""
            told(self, f"ovs-vsctl --timeout={OVS_LIMIT_S}", *words, "> /dev/null")  # it receives numbers of rows

        def daemons(self) -> None:
            folder = self.folder
            told(self, f"export OVS_RUNDIR={folder}; mkdir -p {folder}")
            told(self, f"ovsdb-tool create {folder}/conf.db {OVS_SCHEMA}")
            self.daemon(f"ovsdb-server --remote=punix:{folder}/db.sock {folder}/conf.db")
            time.sleep(max(0.0, OVS_EARLIEST_S - time.monotonic()))
            told(self, "ovs-vsctl --no-wait init")
            self.daemon("ovs-vswitchd")

        def daemon(self, words: str) -> None:
            log = f"{self.folder}/{words.split()[0]}.log"
            quiet = f"--no-chdir --detach --pidfile -vconsole:off -vsyslog:off --log-file={log}"
            told(self, f"{words} {quiet} || tail -n 3 {log}")

        def stop(self, deleteIntfs: bool = True) -> None:
            super().stop(deleteIntfs)
            self.cmd("ovs-appctl -t ovs-vswitchd exit --cleanup; ovs-appctl -t ovsdb-server exit")
            shutil.rmtree(self.folder, ignore_errors=True)

    return Switch


@functools.cache
def ovs_version() -> str:
    """MAJOR.MINOR. Mininet asks once for all kinds of nodes, and not at all once it has made a plain one."""
    said = subprocess.run(["ovs-vsctl", "--version"], capture_output=True, text=True, check=True).stdout
    return said.split()[3].rpartition(".")[0]


SWITCHES: dict[str, Callable[[], Any]] = {"bridge": linux_bridge, "ovs": open_vswitch}
"""The switch classes, by their names in the description."""


class Target:
    """What Mininet's switches need to know of a controller."""

    def __init__(self, name: str, target: str) -> None:
        self.name = name
        self.protocol, self.ip, port = target.rsplit(":", 2)
        self.port = int(port)

    def IP(self) -> str:
        return self.ip


def report() -> Data:
    from mininet.net import VERSION

    return {"version": VERSION}


def check() -> None:
    import mininet.net  # noqa: F401


def read(path: str, name: str) -> None:
    """Sends what the class prints to standard error. What stands in the file is confined, with all that comes after."""
    said = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import mininet.node  # noqa: F401 - it starts processes, and topologies import it

    home = os.readlink(f"/proc/self/fd/{said['folder']}")
    confine(said["file"], said["folder"])
    json.dump(said_by(path, home, said["source"].encode("latin-1"), name, said["arguments"]), out)
    out.close()


MODULE = "mininet_topology"
"""The name of a topology's file among Python's modules."""
ONLY = "-"
"""In place of the name of a topology: the only one of a file."""
ALLOW_CODE = "TESTBED_ALLOW_CODE"
"""The environment variable by which a user has code run that nothing confines."""

SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/mime.types", "/etc/localtime", "/dev/urandom", "/dev/null")
READ_LIMITS = {
    resource.RLIMIT_AS: 1 << 30,
    resource.RLIMIT_CPU: 60,
    resource.RLIMIT_FSIZE: 8 << 20,
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_CORE: 0,
}
"""For reading a topology; in bytes, seconds and descriptors. What it prints goes to files, so they bound that, too."""
BESIDE_MAX = 4096
"""How many files and folders below the folder of a topology it can read, those that are nearest first."""
FOLDERS_MAX = 128
"""How many of them are open at a time, before they are looked into."""
LIBC = ctypes.CDLL(None, use_errno=True)
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
FILE_RIGHTS = (0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1)
"""All that Landlock knows of files, by the version of its interface."""
READ_FILE, READ_FOLDER = 1 << 2, 1 << 3
NO_NEW_PRIVS, SECCOMP, FILTER, CAPABILITIES = 38, 22, 2, 0x20080522
ALLOWED_CALLS = {
    "x86_64": "0 1 3 4 5 6 7 8 9 10 11 12 13 14 15 17 19 20 21 23 24 25 28 32 33 35 39 60 63 79 78 217 89 96 "
    "97 98 100 102 104 107 108 131 186 201 202 204 228 229 230 231 2 257 262 267 269 270 271 273 292 "
    "318 332 219 221 439 436",
    "aarch64": "63 64 57 80 62 222 226 215 214 134 135 139 67 65 66 124 216 233 23 101 172 93 160 17 61 169 163 "
    "165 153 174 176 175 177 132 178 98 123 113 114 115 94 56 79 78 48 72 73 99 24 278 291 128 223 "
    "439 436",
}
"""By their numbers, those of these that a processor has: read, write, close, stat, fstat, lstat, poll, lseek, mmap,
mprotect, munmap, brk, rt_sigaction, rt_sigprocmask, rt_sigreturn, pread64, readv, writev, access, select, sched_yield,
mremap, madvise, dup, dup2, nanosleep, getpid, exit, uname, getcwd, getdents, getdents64, readlink, gettimeofday,
getrlimit, getrusage, times, getuid, getgid, geteuid, getegid, sigaltstack, gettid, time, futex, sched_getaffinity,
clock_gettime, clock_getres, clock_nanosleep, exit_group, open, openat, newfstatat, readlinkat, faccessat, pselect6,
ppoll, set_robust_list, dup3, getrandom, statx, restart_syscall, fadvise64, faccessat2, close_range. Those that strace
shows of topologies, and their variants in other versions of Python and of the C library.
"""
ALLOWED_REQUESTS = {
    "x86_64": {16: (0x5401, 0x5413, 0x5450, 0x5451), 72: (0, 1, 2, 3, 1030)},
    "aarch64": {29: (0x5401, 0x5413, 0x5450, 0x5451), 25: (0, 1, 2, 3, 1030)},
}
"""Of ioctl, to ask whether something is a terminal and to close it on exec; of fcntl, to duplicate and to look."""
FIRST_NEW_CALL = 424
"""Of what is newer and not allowed, programs believe that this kernel does not have it."""
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def confine(file: int, folder: int) -> None:
    """From here on this process can read the system, the topology's file and what is beside it, and nothing else: write
    no file, start no process, open no socket. Closes both descriptors. Where the kernel cannot see to it, raises
    Failed, unless the user has said ALLOW_CODE.
    """
    abi = LIBC.syscall(CREATE_RULESET, None, 0, 1)
    machine = os.uname().machine
    if abi < 1 or machine not in ARCHITECTURES:
        if os.environ.get(ALLOW_CODE):
            return
        raise Failed(
            "nothing confines Python here, as Landlock does from Linux 5.13 on; allowed: testbed … --allow-code"
        )
    for limit, most in READ_LIMITS.items():
        _, hard = resource.getrlimit(limit)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (most, most))
    checked(LIBC.prctl(NO_NEW_PRIVS, 1, 0, 0, 0))
    checked(LIBC.capset(struct.pack("Ii", CAPABILITIES, 0), bytes(24)))
    handled = FILE_RIGHTS[min(abi, 5)]
    ruleset = struct.pack("QQQ", handled, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    rules = checked(LIBC.syscall(CREATE_RULESET, ruleset, 24 if abi >= 6 else 16 if abi >= 4 else 8, 0))
    for path in (*SYSTEM, *sys.path):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            allow(rules, os.open(path or ".", os.O_PATH))
    if not is_above_a_home(file, folder):
        allow_beside(rules, os.dup(folder))
    allow(rules, file)
    os.close(folder)
    checked(LIBC.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)
    refuse_calls(machine)


def allow(rules: int, place: int, *, only_names: bool = False) -> None:
    """Has an opened file or folder be read, or only the names of the files below it. Closes it."""
    rights = READ_FOLDER if only_names else READ_FILE | READ_FOLDER if os.path.isdir(place) else READ_FILE
    try:
        checked(LIBC.syscall(ADD_RULE, rules, 1, struct.pack("<Qi", rights, place), 0))
    finally:
        os.close(place)


def is_above_a_home(file: int, folder: int) -> bool:
    """Whether a folder is a home, or has one below it: of this user, or of the file's owner."""
    own = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), "")
    homes = {os.path.expanduser(f"~{user_name(uid)}") for uid in (os.getuid(), os.fstat(file).st_uid)}
    return any(os.path.join(os.path.realpath(home), "").startswith(own) for home in homes)


def user_name(uid: int) -> str:
    """Empty for a user that this computer does not know: then HOME says which home is meant."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return ""


def allow_beside(rules: int, folder: int) -> None:
    """What is below the folder of a topology's file and is not hidden, at any depth; links are no part. Closes it.
    In a folder that could be read as a whole hidden files could be read, so each file has a rule.
    """
    allow(rules, os.dup(folder), only_names=True)
    waiting, left = [folder], BESIDE_MAX
    while waiting:
        here = waiting.pop(0)
        for name in sorted(os.listdir(f"/proc/self/fd/{here}")) if left else ():
            if name.startswith(".") or not left:
                continue
            left -= 1
            with contextlib.suppress(OSError):
                place = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=here)
                mode = os.fstat(place).st_mode
                if stat.S_ISDIR(mode) and len(waiting) < FOLDERS_MAX:
                    waiting.append(place)
                elif stat.S_ISREG(mode):
                    allow(rules, place)
                else:
                    os.close(place)
        os.close(here)


def refuse_calls(machine: str) -> None:
    """A seccomp filter: EPERM for all but ALLOWED_CALLS, ENOSYS for new ones and those of other architectures."""
    load, jump_equal, jump_from, answer = 0x20, 0x15, 0x35, 0x06
    allow, refuse, unknown = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
    lines = [(load, 0, 0, 4), (jump_equal, 1, 0, ARCHITECTURES[machine]), (answer, 0, 0, unknown), (load, 0, 0, 0)]
    for number in map(int, ALLOWED_CALLS[machine].split()):
        lines += [(jump_equal, 0, 1, number), (answer, 0, 0, allow)]
    for number, requests in ALLOWED_REQUESTS[machine].items():
        lines += [(jump_equal, 0, 2 * len(requests) + 2, number), (load, 0, 0, 24)]
        for request in requests:
            lines += [(jump_equal, 0, 1, request), (answer, 0, 0, allow)]
        lines.append((answer, 0, 0, refuse))
    lines += [(jump_from, 0, 1, FIRST_NEW_CALL), (answer, 0, 0, unknown), (answer, 0, 0, refuse)]
    program = b"".join(struct.pack("HBBI", *line) for line in lines)
    text = ctypes.create_string_buffer(program, len(program))
    checked(LIBC.prctl(SECCOMP, FILTER, struct.pack("HxxxxxxP", len(lines), ctypes.addressof(text)), 0, 0))


def checked(result: int) -> int:
    if result < 0:
        raise Failed(f"Python cannot be confined: {os.strerror(ctypes.get_errno())}")
    return result


def said_by(path: str, home: str, source: bytes, name: str, arguments: Data) -> Data:
    """The nodes and links; or the error, with its line of the file. `home` is the folder of the file."""
    sys.path.insert(0, home)
    module = types.ModuleType(MODULE)
    module.__file__ = os.path.join(home, os.path.basename(path))
    sys.modules[MODULE] = module
    try:
        exec(compile(source, path, "exec"), module.__dict__)
        found = module.__dict__
        known = topologies(found)
        offered = list(found.get("topos", {})) or known
        if name == ONLY and len(offered) != 1:
            what = "there are several topologies in it" if offered else "there is no topology in it"
            return {"error": what, "allowed": ", ".join(f"{path}:{each}" for each in offered) or "a class of Topo's"}
        make = {**found, **found.get("topos", {})}.get(offered[0] if name == ONLY else name)
        if make is None:
            return {"error": f"there is no {name!r} in it", "allowed": ", ".join(known) or "a class"}
        topo = make(**arguments)
        return {"nodes": [node(topo, each) for each in topo.nodes()], "links": links(topo)}
    except BaseException as error:
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
        frames = traceback.extract_tb(error.__traceback__)
        line = line or next((frame.lineno for frame in reversed(frames) if frame.filename == path), None)
        return {"error": traceback.format_exception_only(error)[-1].strip(), "line": line}


def topologies(found: Data) -> list[str]:
    from mininet.topo import Topo

    classes = [name for name, each in found.items() if isinstance(each, type) and issubclass(each, Topo)]
    return [*found.get("topos", {}), *(name for name in classes if found[name].__module__ == MODULE)]


def node(topo: Any, name: str) -> Data:
    options = dict(topo.nodeInfo(name))
    is_switch = options.pop("isSwitch", False)
    return {"name": name, "is_switch": is_switch, **plain(options)}


def links(topo: Any) -> list[Data]:
    """In the order in which Mininet makes them."""
    found = []
    for first, second, options in topo.links(sort=True, withInfo=True):
        rest = {key: value for key, value in options.items() if key not in ("node1", "node2", "port1", "port2")}
        found.append({"ends": [first, second], **plain(rest)})
    return found


def plain(options: Data) -> Data:
    """The class by its name, with the arguments of a partial(); a value that JSON lacks by its Python repr."""
    cls = options.pop("cls", None)
    if isinstance(cls, functools.partial):
        options = {**cls.keywords, **options}
        cls = cls.func
    name = getattr(cls, "__name__", None) if cls is not None else None
    return {"class": name, "options": json.loads(json.dumps(options, default=repr))}


COMMANDS: dict[str, Callable[..., None]] = {"build": build, "remove": remove, "read": read, "check": check}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
