"""The guest in which a Mininet script runs: what the script finds there that the lab kernel, or Debian, has not got.
Looks whether os-ken is here.

The script is root there, of the guest only. Its folder is below a writable layer, and so are /etc, /root, /var, /opt
and /srv: what is written is the guest's own. One Open vSwitch runs, as on a computer with Mininet.

The typist is a program that gives a script its input line by line, whenever Mininet's CLI asks for one. Without it, the
CLI passes what waits in its input on to the command that it runs in a node, and at the end of the input it asks again
and again, for which virtual time stands still.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ..error import MachineError
from ..kernel import controller, lab
from ..model.run_setting import Kernel
from ..model.topology import Topology
from ..plan.step import Run
from .build import Build, build

TEXT = r'''#!/usr/bin/python3
import os
import select
import signal
import subprocess
import sys

PROMPT, QUIET_S = b"mininet> ", 600.0  # without a prompt, a script that says nothing for so long waits for input

child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, lambda number, frame: child.send_signal(number))
says, ended = child.stdout.fileno(), os.pidfd_open(child.pid)
given, last, is_all, asks = b"", b"", False, False


def write(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]


def give():
    """The next line, if there is one; at their end that there is none."""
    global given, asks, last
    line, end, rest = given.partition(b"\n")
    if end or (is_all and line):
        given = rest
    elif not is_all or child.stdin is None:
        return
    asks, last = False, b""
    try:
        write(child.stdin.fileno(), line + end)
        if not line and not end:
            child.stdin.close()
            child.stdin = None
    except BrokenPipeError:
        child.stdin = None


while True:
    hears = [0] if asks and not is_all else []
    ready = select.select([says, ended, *hears], [], [], None if asks or child.stdin is None else QUIET_S)[0]
    if says in ready:
        data = os.read(says, 65536)
        write(1, data)
        last = (last + data)[-len(PROMPT) :]
        asks = asks or last == PROMPT
        if not data:
            break
    elif ended in ready:
        break
    if not ready:
        asks = True
    if 0 in ready:
        data = os.read(0, 65536)
        given, is_all = given + data, not data
    if asks and child.stdin is not None:
        give()
status = child.wait()
sys.exit(status if status >= 0 else 128 - status)
'''


PYTHON = "/usr/bin/python3"
"""The system's Python, to which Mininet belongs."""
MN = "mn"
"""In place of a script: Mininet's own command."""
NODE = "mininet"
"""What the guest is called among the nodes of a network, for `testbed shell`."""

FOLDER = "/run/script"
"""Where the script finds its folder, and starts."""
CHANGED = "/run/over/changed"
"""The layer with what is written to FOLDER."""
KEPT = "changed"
"""The folder of a trial's folder for what is kept of it."""
BOARD = "/run/bin"
ENVIRONMENT = {
    "PATH": f"{BOARD}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "HOME": "/root",
    "SHELL": "/bin/bash",
    "PS1": "mininet# ",
}
MEMORY_BYTES = 1 << 30

PROGRAMS = {
    "controller": """#!/bin/sh
command -v ovs-testcontroller >/dev/null || {
  port=6633
  for each in "$@"; do case "$each" in ptcp:?*) port=${each#ptcp:} ;; esac; done
  exec ryu-manager --ofp-tcp-listen-port "$port" simple_switch_13
}
for each in "$@"; do
  shift
  [ "$each" = ptcp: ] && each=ptcp:6633
  set -- "$@" "$each"
done
exec ovs-testcontroller --protocols=OpenFlow10 "$@"
""",
    "sudo": """#!/bin/sh
while :; do case "$1" in -u | -g) shift 2 ;; -*) shift ;; *=*) export "$1"; shift ;; *) break ;; esac; done
exec "$@"
""",
    "iperf": """#!/bin/sh
case " $* " in *' -s '*) exec /usr/bin/iperf "$@" -i 1 ;; esac
exec /usr/bin/iperf "$@"
""",
    "cgcreate": """#!/bin/sh
# -g KIND,…:/GROUP
for each in cpu cpuacct cpuset; do
  mkdir -p "/sys/fs/cgroup/$each${2##*:}" && : >"/sys/fs/cgroup/$each${2##*:}/tasks"
done
""",
    "cgclassify": "#!/bin/sh\n",
    "cgdelete": "#!/bin/sh\n",
    "cgset": """#!/bin/sh
# -r NAME=VALUE /GROUP
mkdir -p "/run/cgroups$3" && echo "${2#*=}" >"/run/cgroups$3/${2%%=*}"
""",
    "cgget": """#!/bin/sh
# -r NAME /GROUP
echo "$2: $(cat "/run/cgroups$3/$2")"
""",
    "m": """#!/bin/sh
# m NODE [COMMAND...]: runs a command, or a shell, in a node of Mininet's
node=${1:?"m NODE [COMMAND...]"} && shift
pid=$(pgrep -of "mininet:$node\\$") || { echo "there is no node $node" >&2; exit 1; }
[ $# -gt 0 ] || set -- bash --rcfile /run/trial/shellrc -i
TESTBED_NODE=$node exec mnexec -a "$pid" "$@"
""",
    "typist": TEXT,
    "brctl": """#!/bin/sh
case "$1" in
addbr) exec ip link add "$2" type bridge ;;
delbr) exec ip link delete "$2" type bridge ;;
addif) exec ip link set "$3" master "$2" ;;
delif) exec ip link set "$3" nomaster ;;
stp) case "$3" in on | yes | 1) on=1 ;; *) on=0 ;; esac; exec ip link set "$2" type bridge stp_state $on ;;
setbridgeprio) exec ip link set "$2" type bridge priority "$3" ;;
setfd) exec ip link set "$2" type bridge forward_delay "$(($3 * 100))" ;;
show) [ -z "$2" ] || exec ip link show master "$2"; exec ip link show type bridge ;;
esac
echo "brctl: $1 is not known here" >&2
exit 1
""",
    "vconfig": """#!/bin/sh
case "$1" in
add) exec ip link add link "$2" name "$2.$3" type vlan id "$3" ;;
rem) exec ip link delete "$2" ;;
set_flag) exit 0 ;;
esac
echo "vconfig: $1 is not known here" >&2
exit 1
""",
}
"""Programs that scripts expect of a computer. Mininet counts two reports of an iperf server; iperf 2.1 makes one, so it
reports each second as well. The reference controller, `controller`, speaks OpenFlow 1.0, at port 6633; our learning
switch takes its place, with 1.3, where Open vSwitch's is not installed. Those for cgroups keep what they are told, and
limit nothing. What Debian has comes first, but for OURS.
"""

RYU = "ryu-manager"
RYU_NAMES = (RYU, "osken-manager")
RYU_PROGRAM = """#!/bin/sh
# ryu-manager [--ofp-tcp-listen-port N] [--verbose] APP: os-ken, which runs apps for Ryu
port=6653 app= level=INFO observe=
while [ $# -gt 0 ]; do
  case "$1" in
  --ofp-tcp-listen-port=*) port=${1#*=} ;;
  --ofp-tcp-listen-port) port=$2 && shift ;;
  --verbose | --observe-links) ;;
  -*) echo "ryu-manager: $1 is not known here; allowed: --ofp-tcp-listen-port N, --verbose, --observe-links" >&2
      exit 2 ;;
  *) [ -z "$app" ] || { echo "ryu-manager: $1: one app runs here, and $app is given already" >&2; exit 2; }; app=$1 ;;
  esac
  shift
done
case "$app" in
ryu.app.simple_switch_13 | os_ken.app.simple_switch_13 | simple_switch_13) app=learning-switch is_ours=true ;;
*) [ -f "$app" ] || { echo "ryu-manager: no file '$app'; allowed: an app's file, or ryu.app.simple_switch_13" >&2
     exit 2; }
   app=$(realpath "$app") is_ours=false ;;
esac
folder=$(mktemp -d /run/ryu-XXXXXX) || exit 1
form='{"app": "%s", "is_ours": %s, "listen": ["0.0.0.0", %d], "waits": false, "names": {}}'
printf "$form" "$app" $is_ours "$port" >"$folder/told.json"
TESTBED_LOG_LEVEL=$level exec @PYTHON@ -m testbed.agent.controller "$folder"
"""
"""os-ken's package has no runner; ours takes the place of Ryu's."""

OURS = ("iperf", "cgcreate", "cgclassify", "cgdelete", "cgset", "cgget")
"""Those that take the place of Debian's."""

OVS_LATER_S = 20
"""By so much the clock of ovs-vswitchd is ahead: it counts the processors once its clock passes 10 s, and has no thread
for unknown packets if it starts sooner."""

PREPARED = f"""set -eu
mkdir -p /run/openvswitch /run/sshd /run/over/etc /run/cgroups {FOLDER} {CHANGED} /run/over/script /run/over/work
[ -e /dev/pts/ptmx ] || {{ mkdir -p /dev/pts && mount -t devpts -o ptmxmode=666,mode=620 devpts /dev/pts; }}
for each in fd:/proc/self/fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do
  [ -e "/dev/${{each%%:*}}" ] || ln -s "${{each#*:}}" "/dev/${{each%%:*}}"
done
for folder in etc root var opt srv; do
  [ -d /$folder ] || continue
  mkdir -p /run/over/up-$folder /run/over/work-$folder
  mount -t overlay -o lowerdir=/$folder,upperdir=/run/over/up-$folder,workdir=/run/over/work-$folder overlay /$folder
done
[ -z "${{1:-}}" ] || mount -r -t hostfs -o "$1" none /run/over/script
mount -t overlay -o lowerdir=/run/over/script,upperdir={CHANGED},workdir=/run/over/work overlay {FOLDER}
mount -t tmpfs tmpfs /sys/fs
mkdir -p /sys/fs/cgroup
mount -t tmpfs cgroup /sys/fs/cgroup
for each in python python3; do ln -s {PYTHON} {BOARD}/$each; done
if [ -x /usr/sbin/sshd ] && [ ! -r /etc/ssh/ssh_host_ed25519_key ]; then
  rm -f /etc/ssh/ssh_host_*
  ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
fi
ip link set lo up
"""

OPEN_VSWITCH = f"""set -eu
cd /run/openvswitch
ovsdb-tool create conf.db /usr/share/openvswitch/vswitch.ovsschema
quiet='--pidfile --detach --no-chdir -vconsole:off -vsyslog:off'
ovsdb-server conf.db --remote=punix:db.sock $quiet --log-file=/run/openvswitch/ovsdb-server.log
ovs-vsctl --no-wait init
start="ovs-vswitchd $quiet --log-file=/run/openvswitch/ovs-vswitchd.log"
if unshare --time true 2>/dev/null; then
  exec unshare --time --monotonic {OVS_LATER_S} --boottime {OVS_LATER_S} --fork $start
fi
sleep 11
exec $start
"""


def guest(name: str, kernel: Kernel, *, has_files: bool, memory_bytes: int) -> Build:
    """A lab kernel without a network, ready for a script of this name; with the files of a folder, or none."""
    made = build(Topology(name, (), ()), kernel)
    source = (f"{lab.HERE}/{lab.FILES}",) if has_files else ()
    steps = (
        Run(("mkdir", "-p", BOARD)),
        *(_program(each, text) for each, text in PROGRAMS.items()),
        *_controller(),
        Run(("sh", "-s", "--", *source), "files", stdin=PREPARED),
        Run(("sh", "-s"), "Open vSwitch", stdin=OPEN_VSWITCH),
    )
    return replace(made, steps=(*made.steps, *steps), memory_bytes=memory_bytes)


def _controller() -> Iterator[Run]:
    """os-ken, where this computer has it: scripts with a RemoteController start it beside themselves."""
    with suppress(MachineError):
        mounts, words = controller.in_guest()
        yield from mounts
        text = RYU_PROGRAM.replace("@PYTHON@", shlex.join(words))
        yield from (_program(name, text) for name in RYU_NAMES)


def _program(name: str, text: str) -> Run:
    words = f'[ -z "$1" ] || ! command -v {name} >/dev/null || exit 0; cat >{BOARD}/{name} && chmod 755 {BOARD}/{name}'
    return Run(("sh", "-c", words, "sh", "" if name in OURS else "theirs first"), name, stdin=text)


def words(script: str, arguments: Sequence[str], *, terminal: bool) -> tuple[str, ...]:
    """What starts a script, which is a file of FOLDER, or Mininet's own command, MN; with a terminal, or a typist."""
    program = "/usr/bin/mn" if script == MN else script
    given = () if terminal else (f"{BOARD}/typist",)
    return ("sh", "-c", f'cd {FOLDER} && exec "$@"', "sh", *given, PYTHON, program, *arguments)


def kept() -> tuple[str, ...]:
    """Copies the plain files of CHANGED to the trial's folder, without their modes, which a guest cannot give."""
    into, all_but = f"/run/trial/{KEPT}", "find . -name __pycache__ -prune -o -type"
    folders = f"{all_but} d -exec mkdir -p {into}/{{}} \\;"
    files = f"""{all_but} f -exec sh -ec 'for each; do cat "$each" >{into}/"$each"; done' sh {{}} +"""
    return ("sh", "-ec", f"mkdir {into}; cd {CHANGED}; {folders}; {files}")


def count() -> tuple[str, ...]:
    """Prints how many plain files a script has written to its folder."""
    return ("sh", "-c", f"cd {CHANGED} && find . -name __pycache__ -prune -o -type f -printf x | wc -c")
