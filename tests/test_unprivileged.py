"""An ordinary user: everything but the host's kernel, from a cache and a home of one's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.cache_folder import user_folder

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else; others are ordinary users"),
]

NOBODY = 65534
NO_CAPABILITY = ("--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all")
TESTBED = "from testbed.cli import main; main()"

SCENARIO = """
name: small
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 100 Mbit/s, rtt: 10 ms, loss: {random: 0.1 %}}}
workload: {tool: flow, from: a, to: b, duration: 1 s}
capture: [{at: path}]
"""

NET = """
name: net
nodes: {a: {type: host}, b: {type: host}}
links: {path: {ends: [a, b], rate: 100 Mbit/s, rtt: 10 ms}}
"""

CACHED = """
name: cached
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}, c: {type: host}, s: {type: switch}}
  links:
    la: {ends: [a, s], rate: 100 Mbit/s, rtt: 10 ms}
    lb: {ends: [b, s], rate: 100 Mbit/s, rtt: 10 ms}
    lc: {ends: [c, s], rate: 100 Mbit/s, rtt: 10 ms}
workload: {tool: http, from: a, to: b, cache: c, warm: true, sizes: [1 B, 100 kB]}
"""

SWITCHED = """
name: switched
topology:
  name: net
  nodes:
    a: {type: host}
    b: {type: host}
    s: {type: ovs}
    u: {type: ovs, datapath: user}
    c: {type: controller, app: my_app.py, control: {rtt: 10 ms}}
  links: {la: {ends: [a, s], rate: 100 Mbit/s}, mid: {ends: [s, u]}, lb: {ends: [b, u]}}
workload: {tool: ping, from: a, to: b, count: 4, interval: 1 s}
"""
RYU = Path(__file__).parent / "data" / "ryu_switch_13.py"


MININET = """
name: mininet
topology:
  name: net
  engine: mininet
  nodes: {a: {type: host}, b: {type: host}, s: {type: switch}}
  links:
    la: {ends: [a, s], rate: 100 Mbit/s, rtt: 10 ms}
    lb: {ends: [b, s], rate: 100 Mbit/s, rtt: 10 ms, loss: 1 in 1000}
workload: {tool: flow, from: a, to: b, duration: 1 s, window: 30 kB}
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of nobody's, with the lab kernels of root."""
    with tempfile.TemporaryDirectory(prefix="testbed-home-") as name:
        home = Path(name)
        shutil.copytree(
            user_folder() / "kernels", home / "cache/testbed/kernels", ignore=shutil.ignore_patterns(".partial-*")
        )
        (home / "small.yaml").write_text(SCENARIO)
        (home / "cached.yaml").write_text(CACHED)
        (home / "switched.yaml").write_text(SWITCHED)
        shutil.copyfile(RYU, home / "my_app.py")
        (home / "mininet.yaml").write_text(MININET)
        for path in (home, *home.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        yield home


def as_nobody(home: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", *NO_CAPABILITY)
    code = os.pathsep.join(path for path in sys.path if path)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    command = (*user, interpreter(), "-c", TESTBED, *words)
    return subprocess.run(command, cwd=home, env={**environment, "PYTHONPATH": code}, capture_output=True, text=True)


def interpreter() -> str:
    """A Python of our version that everybody may run: ours may be in root's home."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return f"/usr/bin/{name}" if os.access(f"/usr/bin/{name}", os.X_OK) else sys.executable


def test_a_user_without_any_privilege_runs_and_repeats_a_trial(home: Path) -> None:
    if as_nobody(home, "--version").returncode:
        pytest.skip("this interpreter, or the testbed's code, is not for everybody to read")
    ran = as_nobody(home, "run", "small.yaml", "-o", "out")
    assert ran.returncode == 0, ran.stderr
    assert "1 valid" in ran.stdout
    (trial,) = (home / "out/trials").iterdir()
    assert trial.stat().st_uid == NOBODY
    repeated = as_nobody(home, "run", "--repeat", trial)
    assert repeated.returncode == 0, repeated.stdout + repeated.stderr


def test_a_user_without_any_privilege_has_a_web_server_in_a_trial(home: Path) -> None:
    if as_nobody(home, "--version").returncode:
        pytest.skip("this interpreter, or the testbed's code, is not for everybody to read")
    ran = as_nobody(home, "run", "cached.yaml", "-o", "out")
    assert ran.returncode == 0, ran.stderr
    assert "1 valid" in ran.stdout


def test_a_user_without_any_privilege_has_a_network_to_work_in(home: Path) -> None:
    if as_nobody(home, "--version").returncode:
        pytest.skip("this interpreter, or the testbed's code, is not for everybody to read")
    (home / "net.yaml").write_text(NET)
    said = as_nobody(home, "up", "net.yaml")
    assert said.returncode == 0, said.stderr
    assert "net is up on kernel lab-realtime (engine netns: the host's kernel needs root): a, b" in said.stdout
    ping = as_nobody(home, "exec", "a", "--", "ping", "-c", "1", "-W", "60", "10.0.0.2")
    assert "1 received" in ping.stdout, ping.stderr
    assert as_nobody(home, "exec", "b", "--", "id", "-u").stdout == "0\n"
    refused = as_nobody(home, "up", "net.yaml", "--name", "other", "--kernel", "host")
    assert refused.returncode == 3
    assert "the host's kernel needs root; to fix it, type: sudo" in refused.stderr
    assert as_nobody(home, "down").stdout == "net is down\n"
    assert not list((home / "cache/testbed/journal").iterdir())


def test_a_user_without_any_privilege_has_switches_and_a_controller_and_can_repeat_them(home: Path) -> None:
    if as_nobody(home, "--version").returncode:
        pytest.skip("this interpreter, or the testbed's code, is not for everybody to read")
    ran = as_nobody(home, "run", "switched.yaml", "-o", "out")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 valid" in ran.stdout
    (home / "my_app.py").unlink()
    (trial,) = (home / "out/trials").iterdir()
    repeated = as_nobody(home, "run", "--repeat", trial)
    assert repeated.returncode == 0, repeated.stdout + repeated.stderr


def test_a_user_without_any_privilege_is_told_what_needs_root(home: Path) -> None:
    if as_nobody(home, "--version").returncode:
        pytest.skip("this interpreter, or the testbed's code, is not for everybody to read")
    refused = as_nobody(home, "run", "small.yaml", "-o", "out", "--set", "kernel=host")
    assert refused.returncode == 3
    assert "the host's kernel needs root; to fix it, type: sudo testbed …, or a lab kernel" in refused.stderr


def test_a_user_without_any_privilege_has_mininet_build_a_network_and_repeats_it(home: Path) -> None:
    if as_nobody(home, "--version").returncode:
        pytest.skip("this interpreter, or the testbed's code, is not for everybody to read")
    ran = as_nobody(home, "run", "mininet.yaml", "-o", "out")
    assert ran.returncode == 0, ran.stderr
    assert "1 valid" in ran.stdout
    (trial,) = (home / "out/trials").iterdir()
    repeated = as_nobody(home, "run", "--repeat", trial)
    assert repeated.returncode == 0, repeated.stdout + repeated.stderr
