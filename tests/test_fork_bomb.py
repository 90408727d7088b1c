"""A fork bomb, live, inside a guest: it ends that guest and nothing else, whoever runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from patience import wait_for

from testbed.cache_folder import user_folder

pytestmark = [pytest.mark.lab, pytest.mark.nightly]

NOBODY = 65534
TRIAL_S = 300
"""Of a command: it is not waited for longer."""
BOMB = """
import os
from os_ken.base import app_manager

class Bomb(app_manager.OSKenApp):
    def __init__(self, *words, **settings):
        super().__init__(*words, **settings)
        while True:
            try:
                os.fork()
            except OSError:
                pass
"""
NODES = "  nodes: {a: {type: host}, b: {type: host}}\n  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 10 ms}}\n"
WORK = "workload: {tool: ping, from: a, to: b, count: 4, interval: 1 s}\n"
FILES = {
    "bomb.py": BOMB,
    "bomb.yaml": "name: bomb\ntopology:\n  name: net\n"
    "  nodes: {a: {type: host}, b: {type: host}, s: {type: ovs}, c: {type: controller, app: bomb.py}}\n"
    f"  links: {{la: {{ends: [a, s], rate: 10 Mbit/s}}, lb: {{ends: [b, s]}}}}\n{WORK}",
    "plain.yaml": f"name: plain\ntopology:\n  name: net\n{NODES}{WORK}",
    "net.yaml": "name: net\n" + NODES.replace("\n  ", "\n").removeprefix("  "),
}
TESTBED = "import sys; sys.argv[0] = 'testbed'; from testbed.cli import main; main()"
SHELL_BOMB = "f() { f | f & }; f; sleep 1000"


@dataclass(frozen=True)
class User:
    """Who runs the testbed, in a home of its own."""

    home: Path
    before: tuple[str, ...]
    python: str

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        code = os.pathsep.join(path for path in sys.path if path)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache")}
        command = (*self.before, self.python, "-c", TESTBED, *words)
        environment["PYTHONPATH"] = code
        return subprocess.run(
            command, cwd=self.home, env=environment, capture_output=True, text=True, timeout=TRIAL_S, check=False
        )

    def guests(self) -> list[str]:
        """The processes of its lab kernels."""
        kernels = str(self.home / "cache/testbed/kernels")
        found = []
        for name in os.listdir("/proc"):
            if name.isdecimal():
                try:
                    target = os.readlink(f"/proc/{name}/exe")
                except OSError:
                    continue
                found += [name] if target.startswith(kernels) else []
        return found


@pytest.fixture(params=["this user", "nobody"])
def user(request: pytest.FixtureRequest) -> Iterator[User]:
    with tempfile.TemporaryDirectory(prefix="testbed-home-") as name:
        home = Path(name)
        kernels = user_folder() / "kernels"
        shutil.copytree(kernels, home / "cache/testbed/kernels", ignore=shutil.ignore_patterns(".partial-*"))
        for file, text in FILES.items():
            (home / file).write_text(text)
        found = User(home, (), sys.executable)
        if request.param == "nobody":
            if os.geteuid() != 0:
                pytest.skip("only root can become somebody else")
            for path in (home, *home.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
            before = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs")
            python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
            found = User(home, before, python if os.access(python, os.X_OK) else sys.executable)
            if found("--version").returncode:
                pytest.skip("this interpreter, or the testbed's code, is not for everybody to read")
        yield found
        found("down", "net")


def test_in_a_trial_it_ends_that_trial_and_the_next_one_runs(user: User) -> None:
    ran = user("run", "bomb.yaml", "-o", "bombed")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "failed" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert any(why in ran.stderr for why in ("more than 4096 processes", "ran out of memory", "the guest died"))
    wait_for(lambda: not user.guests(), "the end of the guest")
    after = user("run", "plain.yaml", "-o", "plain")
    assert after.returncode == 0, after.stdout + after.stderr


def test_in_a_network_that_stands_it_ends_that_network_and_the_next_one_comes_up(user: User) -> None:
    up = user("up", "net.yaml")
    assert up.returncode == 0, up.stdout + up.stderr
    shot = user("exec", "a", "--", "sh", "-c", SHELL_BOMB)
    assert shot.returncode != 0
    assert "Traceback" not in shot.stderr
    wait_for(lambda: not user.guests(), "the end of the guest")
    assert "no network is running" in user("status").stdout
    assert user("clean").returncode == 0
    again = user("up", "net.yaml")
    assert again.returncode == 0, again.stdout + again.stderr
    assert user("exec", "a", "--", "ping", "-c", "1", "b").returncode == 0
    assert user("down", "net").returncode == 0
    wait_for(lambda: not user.guests(), "the end of the guest")
