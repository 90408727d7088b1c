"""Builds a network with the real Mininet, or reads a topology in Python for it, and stands alone: it is one file,
because the system's Python, to which Mininet belongs, runs it without any other module of the testbed.


    mininet_driver.py build FOLDER
                               builds the network that the JSON on standard input describes (see `plan/mininet.py`);
                               FOLDER gets mininet.json, with Mininet's version, and mininet.log
    mininet_driver.py remove PIDFILE
    mininet_driver.py read FILE CLASS
                               the nodes and links of a topology in Python, as JSON. Standard input is a JSON mapping:
                               `source` has the bytes of the file, each as a character, `arguments` those of the class;
                               `file` and `folder` are descriptors of the file and of its folder; `library` is the
                               path of what confines the process (`native/confine_topology.c`)
    mininet_driver.py check     fails if there is no Mininet that works

`build` ends when the network is up; a child of it stays, because the shells of Mininet's nodes are its children.  Every
node's network namespace gets the name under /run/netns that the description has.  Mininet's clean-up, which kills by
name, and its changes to the host's sysctls are both switched off.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import logging
import os
import pwd
import shutil
import signal
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
    confine(said["library"], said["file"], said["folder"])
    json.dump(said_by(path, home, said["source"].encode("latin-1"), name, said["arguments"]), out)
    out.close()


MODULE = "mininet_topology"
"""The name of a topology's file among Python's modules."""
ONLY = "-"
"""In place of the name of a topology: the only one of a file."""
ALLOW_CODE = "TESTBED_ALLOW_CODE"
"""The environment variable by which a user has code run that nothing confines."""

SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/mime.types", "/etc/localtime", "/dev/urandom", "/dev/null")


def confine(library: str, file: int, folder: int) -> None:
    """From here on this process can read the system, the topology's file and what is beside it, and nothing else: write
    no file, start no process, open no socket (`native/confine_topology.c`). Where the kernel cannot see to it, raises
    Failed, unless the user has said ALLOW_CODE.
    """
    paths = [os.fsencode(each or ".") for each in (*SYSTEM, *sys.path)]
    beside = -1 if is_above_a_home(file, folder) else folder
    readable = (ctypes.c_char_p * (len(paths) + 1))(*paths, None)
    if ctypes.CDLL(library).confine_topology(file, beside, readable) < 0 and not os.environ.get(ALLOW_CODE):
        raise Failed(
            "nothing confines Python here, as Landlock does from Linux 5.13 on; allowed: testbed … --allow-code"
        )
    if beside < 0:
        os.close(folder)


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
    """In the order in which Mininet makes them, each with the numbers of its two ports."""
    found = []
    for first, second, options in topo.links(sort=True, withInfo=True):
        rest = {key: value for key, value in options.items() if key not in ("node1", "node2", "port1", "port2")}
        ports = [options["port1"], options["port2"]]
        found.append({"ends": [first, second], "ports": ports, **plain(rest)})
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
