"""Kills at any moment of up, run and down: clean leaves nothing of ours, and everything of others."""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from interactive import Computer, Home, computer
from leftover import namespaces, outlive, processes_below

pytestmark = [pytest.mark.lab, pytest.mark.slow]

IS_ROOT = os.geteuid() == 0
KILLS = [8, pytest.param(100, marks=pytest.mark.nightly)]
AT_ONCE = 4
ACTIONS = {"up": 1.5, "down": 0.5, "run": 3.0}
"""Seconds that each takes on an idle machine; a kill comes within them."""
SCENARIO = """
name: killed
topology:
  name: net
  nodes: {{a: {{type: host}}, s: {{type: switch{nic}}}, b: {{type: host}}}}
  links: {{left: {{ends: [a, s], rate: 10 Mbit/s}}, right: {{ends: [s, b]}}}}
kernel: {kernel}
workload: {{tool: ping, from: a, to: b, count: 3, interval: 100 ms}}
"""


@dataclass(frozen=True)
class Variant:
    kernel: str
    nic: str | None = None


@dataclass
class Others:
    """What looks like ours and is not: it must be there, as it is, whatever is cleaned."""

    netns: str
    process: subprocess.Popen[bytes]
    files: tuple[Path, ...]

    def check(self) -> None:
        assert self.process.poll() is None
        assert all(path.read_text() == "somebody's" for path in self.files)
        if IS_ROOT:
            assert self.netns in namespaces()
            shown = subprocess.run(("ip", "-n", self.netns, "-br", "link"), check=True, capture_output=True, text=True)
            assert {line.split("@")[0].split()[0] for line in shown.stdout.splitlines()} >= {
                "br0",
                "tbo-nic1",
                "tbi-nic1",
            }


@contextmanager
def others(home: Home, folder: Path) -> Iterator[Others]:
    netns = f"tb-{uuid.uuid4().hex[:6]}-lookalike"
    words = (sys.executable, "-c", "import time; time.sleep(1000)", "testbed.interactive.keeper", "umid=lab")
    (home.cache / "journal").mkdir()
    files = (home.cache / "journal" / "notes.txt", folder / ".partial-mine", home.folder / ".uml-mine")
    for path in files:
        path.write_text("somebody's")
    if IS_ROOT:
        subprocess.run(("ip", "netns", "add", netns), check=True)
        for device in (("br0", "type", "bridge"), ("tbo-nic1", "type", "veth", "peer", "name", "tbi-nic1")):
            subprocess.run(("ip", "-n", netns, "link", "add", *device), check=True)
    with subprocess.Popen(words, cwd=folder) as process:
        yield Others(netns, process, files)
        process.kill()
    if IS_ROOT:
        subprocess.run(("ip", "netns", "delete", netns), check=True)


@dataclass
class Place:
    """A user on a computer, with others on it."""

    home: Home
    pc: Computer | None
    others: Others


@pytest.fixture
def places(tmp_path: Path) -> Iterator[list[Place]]:
    with ExitStack() as stack:
        made = []
        for number in range(AT_ONCE):
            folder = tmp_path / str(number)
            pc = stack.enter_context(computer()) if IS_ROOT else None
            home = Home.at(folder / "ours", () if pc is None else pc.inside)
            made.append(Place(home, pc, stack.enter_context(others(home, folder))))
            stack.callback(home.run, "clean", "--all")
        yield made


def keepers(home: Home) -> list[int]:
    """The keepers of networks, and the guests below them."""
    return [pid for pid in processes_below(home.folder) if pid != os.getpid()]


def kill_during(home: Home, words: tuple[str | Path, ...], after_s: float, victim: str) -> bool:
    """Starts a command and kills so long afterwards: it alone, one process of what it started, or all of them. False if
    there was nothing left to kill.
    """
    with subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=home.env,
        cwd=home.folder,
        start_new_session=True,
    ) as process:
        descriptor = os.pidfd_open(process.pid)
        try:
            ended, _, _ = select.select([descriptor], [], [], after_s)
        finally:
            os.close(descriptor)
        below = sorted(set(keepers(home)) - {process.pid})
        targets = {"command": [process.pid], "all": [process.pid, *below], "one": below[:1] or [process.pid]}[victim]
        if ended and victim == "command":
            return False
        for pid in targets:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        return True


def settled(home: Home) -> None:
    """Until what was told to go is gone, and what goes on is a network that is up."""
    began = time.monotonic()
    while time.monotonic() - began < 30:
        entries = [json.loads(path.read_text().splitlines()[-1]) for path in (home.cache / "journal").glob("network-*")]
        up = {each["about"]["keeper"]["pid"] for each in entries if "keeper" in each["about"]}
        alive = keepers(home)
        if not alive or any(Path(f"/proc/{pid}").exists() for pid in up):
            return
        select.select([], [], [], 0.01)


def kill_again_and_again(place: Place, seed: int, kills: int) -> Counter[str]:
    """How often each kind of process was killed."""
    home, pc, chance, at = place.home, place.pc, random.Random(seed), Counter[str]()
    variants = [Variant("lab-realtime"), *([] if pc is None else [Variant("host"), Variant("host", pc.nic)])]
    untouched = None if pc is None else pc.state()
    for variant in variants:
        nic = "" if variant.nic is None else f", nic: {variant.nic}"
        scenario = SCENARIO.format(kernel=variant.kernel, nic=nic)
        (home.folder / f"run-{variant.kernel}-{variant.nic}.yaml").write_text(scenario)
    while at.total() < kills:
        variant, action = chance.choice(variants), chance.choice(list(ACTIONS))
        home.topology("net", variant.nic)
        up = home.words("up", "net.yaml", "--kernel", variant.kernel)
        words = {
            "up": up,
            "run": home.words("run", f"run-{variant.kernel}-{variant.nic}.yaml", "-o", home.folder / "out"),
            "down": home.words("down", "net"),
        }[action]
        if action == "down":
            subprocess.run(up, check=True, env=home.env, cwd=home.folder, capture_output=True)
        victim = chance.choice(("command", "all", "all", "one"))
        if kill_during(home, words, chance.uniform(0, ACTIONS[action]), victim):
            at[f"{action} {variant.kernel} {victim}"] += 1
        settled(home)
        place.others.check()
        said = home.says("clean", "--all")
        assert outlive(keepers(home)) == [], said
        assert home.left() == [str(home.cache / "journal" / "notes.txt")], said
        assert not [path for path in (home.folder / "out").rglob(".*")], said
        place.others.check()
        assert pc is None or pc.state() == untouched, f"{action} {variant} {victim}: {said}"
        for path in sorted((home.folder / "out").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
    return at


@pytest.mark.parametrize("kills", KILLS)
def test_kills_at_random_moments_leave_nothing_of_ours_and_everything_of_others(
    places: list[Place], kills: int
) -> None:
    before = namespaces()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        share = kills // AT_ONCE
        done = [pool.submit(kill_again_and_again, place, seed, share) for seed, place in enumerate(places)]
        at = sum((each.result() for each in done), Counter[str]())
    assert at.total() == kills
    if kills == 100:  # fewer may leave one out
        assert {name.split()[0] for name in at} == set(ACTIONS), at
        assert {name.split()[2] for name in at} == {"command", "all", "one"}, at
    assert namespaces() == before
