"""`testbed mininet`: scripts for Mininet run unchanged in a lab kernel, and can do nothing outside of it."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from interactive import Home
from test_mininet import needs_mininet

from testbed.error import UserError
from testbed.interactive import mininet_guest
from testbed.interactive import mininet_script as script_module
from testbed.interactive.mininet_script import check_empty, refuse_endless, script, without_effect

EXAMPLES = Path("/usr/share/doc/mininet/examples")

SCRIPT = """#!/usr/bin/env python
import os
import sys

import beside
from mininet.cli import CLI
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo

net = Mininet(SingleSwitchTopo(2), waitConnected=True)
net.start()
print("lost", net.pingAll(), os.getuid(), sys.argv[1:])
for path in ({secret!r}, "beside.py", "kept/out.txt", "/etc/mine", "link"):
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        print(path, open(path).read() if path == {secret!r} else open(path, "w").write("changed"))
    except OSError as error:
        print(path, error.strerror)
os.symlink({secret!r}, "kept/link")
CLI(net)
net.stop()
sys.exit(beside.CODE)
"""


def written(folder: Path) -> Path:
    secret = folder / "secret"
    secret.write_text("for nobody\n")
    path = folder / "work" / "net.py"
    path.parent.mkdir()
    path.write_text(SCRIPT.format(secret=str(secret)))
    (path.parent / "beside.py").write_text("CODE = 7\n")
    return path


def holds(said: str, folder: Path) -> None:
    """What the script did, and what it could not."""
    assert "lost 0.0 0 ['a', '-b']" in said
    assert f"{folder / 'secret'} " in said
    assert "for nobody" not in said
    assert "beside.py 7" in said  # of the guest
    assert (folder / "work" / "beside.py").read_text() == "CODE = 7\n"
    assert not Path("/etc/mine").exists()
    kept = {str(path.relative_to(folder / "kept")) for path in (folder / "kept").rglob("*")}
    assert kept == {"beside.py", "link", "kept", "kept/out.txt"}  # and no link to the secret
    assert (folder / "kept" / "kept" / "out.txt").read_text() == "changed"


@needs_mininet
@pytest.mark.lab
def test_a_script_runs_in_virtual_time_and_sees_its_folder_only(home: Home) -> None:
    path = written(home.folder)
    words = ("mininet", "--virtual", "-o", str(home.folder / "kept"), path, "a", "-b")
    done = home.run(*words, input=b"h1 ping -c 3 h2\n")
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 7, done.stderr.decode()
    holds(said, home.folder)
    assert "3 received, 0% packet loss" in said
    assert home.left() == []


@needs_mininet
@pytest.mark.lab
def test_a_script_runs_on_the_wall_clock_with_its_cli(home: Home) -> None:
    path = written(home.folder)
    lines = b"h1 ping -c 1 h2\nsh cat /etc/mine\nexit\n"
    done = home.run("mininet", "-o", str(home.folder / "kept"), path, "a", "-b", input=lines)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 7, done.stderr.decode()
    holds(said, home.folder)
    assert "1 received, 0% packet loss" in said
    assert "changed" in said
    assert home.left() == []


def test_a_script_in_a_home_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could read all that is in it."""
    (tmp_path / "net.py").write_text("")
    for private in (tmp_path, tmp_path / "user"):
        monkeypatch.setenv("HOME", str(private))
        with pytest.raises(UserError, match=r"is or holds your home.*allowed: a script in a folder of its own"):
            script(str(tmp_path / "net.py"), ())
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.chdir(tmp_path)
    assert script(mininet_guest.MN, ("--test", "pingall")).folder is None


def test_a_folder_called_mn_does_not_hide_mininet_s_own_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mn").mkdir()
    assert script(mininet_guest.MN, ("--test", "pingall")).arguments == ("--test", "pingall")


@pytest.mark.parametrize("whose", ["who typed sudo", "the script's owner"])
def test_root_is_refused_a_script_in_the_home_of(whose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`sudo testbed mininet ~/x.py` opened the whole home of the user, as root's own is another."""
    path, uid = tmp_path / "net.py", 4711
    path.write_text("")
    monkeypatch.setenv("HOME", "/root")
    monkeypatch.setattr(script_module, "sudo_user", lambda: uid if whose == "who typed sudo" else None)
    real = Path.stat
    if whose != "who typed sudo":
        monkeypatch.setattr(Path, "stat", lambda self, **more: owned(real(self, **more), uid))
    homes = {uid: SimpleNamespace(pw_dir=str(tmp_path))}
    monkeypatch.setattr(script_module.pwd, "getpwuid", homes.__getitem__)
    with pytest.raises(UserError, match="is or holds your home"):
        script(str(path), ())
    homes[uid].pw_dir = "/home/other"
    assert script(str(path), ()).folder == tmp_path


def owned(about: os.stat_result, uid: int) -> os.stat_result:
    return os.stat_result((*about[:4], uid, *about[5:]))


def test_a_script_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no file 'net\.py'; allowed: a Python file, or mn"):
        script("net.py", ())
    with pytest.raises(UserError, match="there is no file"):
        script(str(tmp_path), ())


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(UserError, match="is not empty; allowed: an empty folder"):
        check_empty(tmp_path)
    check_empty(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


def test_scripts_of_one_user_have_networks_of_their_own(tmp_path: Path) -> None:
    for name, wanted in (("My_Net.py", "my-net"), ("9.py", "mn-9"), ("é.py", "script")):
        (tmp_path / name).write_text("")
        assert script(str(tmp_path / name), ()).name == f"{wanted}-{os.getpid()}"


def test_every_program_of_ours_is_a_script() -> None:
    assert all(text.startswith(("#!/bin/sh\n", "#!/usr/bin/python3\n")) for text in mininet_guest.PROGRAMS.values())
    assert set(mininet_guest.OURS) < set(mininet_guest.PROGRAMS)


CONTROLLED = """
import subprocess
from mininet.net import Mininet
from mininet.node import RemoteController
from mininet.topo import SingleSwitchTopo

controller = subprocess.Popen(["ryu-manager", "app.py"])
net = Mininet(SingleSwitchTopo(2), controller=None)
net.addController(RemoteController("c0", ip="127.0.0.1", port=6653))
net.start()
print("connected", net.waitConnected(10))
shell = net.get("h1").popen("echo $((6 * 7))", shell=True)
print("shell", shell.communicate()[0].decode().strip())
print("lost", net.pingAll())
net.stop()
controller.terminate()
print("nothing", subprocess.run(["osken-manager", "nothing.py"]).returncode)
"""


@needs_mininet
@pytest.mark.lab
def test_a_script_starts_its_controller_and_commands_in_a_shell(home: Home) -> None:
    """`popen(..., shell=True)` takes the shell that the environment names; a RemoteController needs a controller."""
    folder = home.folder / "work"
    folder.mkdir()
    (folder / "net.py").write_text(CONTROLLED)
    app = "from ryu.app.simple_switch_13 import SimpleSwitch13\n\n\nclass Mine(SimpleSwitch13):\n    pass\n"
    (folder / "app.py").write_text(app)
    done = home.run("mininet", "--virtual", folder / "net.py")
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    assert all(line in said.splitlines() for line in ("connected True", "shell 42", "lost 0.0", "nothing 2")), said
    assert "no file 'nothing.py'" in said


@pytest.mark.parametrize("text", ["print 'hello'\n", "if True:\n        a = 1\n\tb = 2\n"])
def test_a_script_for_python_2_is_refused_before_a_guest_starts(text: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(text)
    with pytest.raises(UserError, match=r"net\.py:\d: .*it is written for Python 2"):
        script(str(tmp_path / "net.py"), ())


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("import os\nimport monitor\n", True),
        ("from absent_module.part import x\n", True),
        ("try:\n    import absent_module\nexcept ImportError:\n    pass\n", False),
        ("def later():\n    import absent_module\n", False),
        ("import sys\nsys.path.append('../more')\nimport absent_module\n", False),
        ("import json, helper\n", False),
    ],
)
def test_a_script_that_lacks_a_module_is_refused_before_a_guest_starts(
    text: str, is_refused: bool, tmp_path: Path
) -> None:
    """It took a guest's start, and a traceback, to find out."""
    (tmp_path / "net.py").write_text(text)
    (tmp_path / "helper.py").write_text("import re\n")
    (tmp_path / "monitor.py").write_text("\nimport absent_module as T\n")
    if not is_refused:
        assert script(str(tmp_path / "net.py"), ()).word == "net.py"
        return
    with pytest.raises(
        UserError, match=r"(net\.py:1|monitor\.py:2) imports absent_module, .*allowed: pip install --target"
    ):
        script(str(tmp_path / "net.py"), ())


def test_a_script_that_reads_trace_events_is_told_that_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("open('/sys/kernel/debug/tracing/trace_pipe')\n")
    (tmp_path / "other.py").write_text("print('tracing')\n")
    assert "ss -tin" in str(without_effect(script(str(tmp_path / "net.py"), ())))
    assert without_effect(script(str(tmp_path / "other.py"), ())) is None


DEFAULT_CONTROLLER = """
import subprocess
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo
subprocess.run("p=$(command -v ovs-testcontroller) && mount --bind /dev/null $p", shell=True)
net = Mininet(SingleSwitchTopo(2))
net.start()
print("lost", net.pingAll())
net.stop()
"""


@needs_mininet
@pytest.mark.lab
def test_mininets_default_controller_is_there_without_open_vswitchs(home: Home) -> None:
    folder = home.folder / "work"
    folder.mkdir()
    (folder / "net.py").write_text(DEFAULT_CONTROLLER)
    done = home.run("mininet", "--virtual", folder / "net.py")
    said = (done.stdout + done.stderr).decode()
    assert "lost 0.0" in said.splitlines(), said


@pytest.mark.parametrize(
    ("arguments", "text", "is_endless"),
    [
        (("--test", "iperf"), "", True), (("--test=pingall,iperf",), "", True),
        (("--topo", "tree,2"), "iperf h1 h2\n", True),
        (("--test", "all"), "", True), (("--test", "pingall"), "nodes\n\nexit\n", False),
        (("--link", "tc,bw=10", "--test", "iperf"), "", False), (("--link=tc,bw=10",), "iperf\n", False),
        (("--custom", "own.py", "--test", "iperf"), "", False),
        (("--link", "tc,delay=5ms", "--test", "iperf"), "", True),
    ],
)  # fmt: skip
def test_an_iperf_that_could_not_end_in_virtual_time_is_refused(
    arguments: tuple[str, ...], text: str, is_endless: bool
) -> None:
    if is_endless:
        with pytest.raises(
            UserError, match="without a rate on the path virtual time stands still; allowed: --link tc,bw"
        ):
            refuse_endless(script("mn", arguments), text)
    else:
        refuse_endless(script("mn", arguments), text)
