"""packetdrill's scripts in lab kernels. What needs the program itself is skipped unless its source, or what was built
from it, is here: it is no package of Debian.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from testbed.compare import drill
from testbed.compare.drill import Drilled
from testbed.error import MachineError, UserError
from testbed.kernel import packetdrill
from testbed.kernel.image.cache import find
from testbed.kernel.packetdrill import OPTIONS, PATCH, cases, program

SOURCE = os.environ.get("TESTBED_PACKETDRILL")
"""A folder with the source of packetdrill."""
PASSES = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+1 close(3) = 0\n"
FAILS = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+1 close(3) = 7\n"

needs_program = pytest.mark.skipif(
    SOURCE is None, reason="packetdrill is no package of Debian: TESTBED_PACKETDRILL=DIR names its source"
)


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "testbed", "packetdrill", *map(str, words)], capture_output=True, text=True
    )


def written(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.pkt").write_text(text)
    return folder


def test_a_script_runs_with_each_version_of_ip_unless_it_names_one(tmp_path: Path) -> None:
    folder = written(tmp_path, a=PASSES, b=f"--ip_version=ipv6\n{PASSES}")
    assert [each.name for each in cases([folder])] == [*(f"a.pkt {each}" for each in OPTIONS), "b.pkt ipv6"]
    assert [each.name for each in cases([folder], ["ipv4"])] == ["a.pkt ipv4"]


def test_the_scripts_of_a_tree_of_linux_are_found_and_none_counts_twice(tmp_path: Path) -> None:
    folder = written(tmp_path / "linux" / packetdrill.SCRIPTS, a=PASSES)
    found = cases([tmp_path / "linux", folder, folder / "a.pkt"])
    assert [each.name for each in found] == [f"a.pkt {each}" for each in OPTIONS]


@pytest.mark.parametrize("what", ["missing", "empty", "other", "version", "only"])
def test_where_no_script_would_run_that_is_said(tmp_path: Path, what: str) -> None:
    path, versions = tmp_path / "x", tuple(OPTIONS)
    if what == "empty":
        path.mkdir()
    elif what == "other":
        path.write_text(PASSES)
    elif what == "version":
        written(path, a=f"--ip_version=ipv5\n{PASSES}")
    elif what == "only":
        written(path, a=f"--ip_version=ipv6\n{PASSES}")
        versions = ("ipv4",)
    with pytest.raises(UserError, match="allowed"):
        cases([path], versions)


def test_a_source_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="this is no source of packetdrill"):
        program(tmp_path, 1)


def test_who_has_no_packetdrill_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(MachineError, match="git clone"):
        program(None, 1)


def test_the_patch_has_its_reason_and_sleeps_in_three_places() -> None:
    head, _, body = PATCH.read_text().partition("--- a/")
    assert "lab time" in head
    assert len(re.findall(r"^\+.*usleep\(", body, re.MULTILINE)) == 3


FOUND = (Drilled("a.pkt ipv4", None, 1.5), Drilled("b.pkt ipv4", "b.pkt:2: off\nmore", 0.5))


def test_ktap_has_the_plan_and_a_line_for_each() -> None:
    assert drill.ktap(FOUND).splitlines() == [
        *("KTAP version 1", "1..2", "ok 1 a.pkt ipv4", "not ok 2 b.pkt ipv4", "# b.pkt:2: off", "# more"),
    ]


def test_junit_has_the_lab_time_and_why() -> None:
    (suite,) = ElementTree.fromstring(drill.junit(FOUND, "mine", None, "2026-01-31T12:00:00"))
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped", "time")} == {
        "tests": "2", "failures": "1", "skipped": "0", "time": "2.000",
    }  # fmt: skip
    assert [each.get("message") for each in suite.iter("failure")] == ["b.pkt:2: off"]


def test_what_fails_on_the_base_too_is_no_failure_and_no_pass() -> None:
    found = (
        Drilled("a.pkt ipv4", "off", 1.0, "off"),
        Drilled("b.pkt ipv4", "off", 1.0, None),
        Drilled("c.pkt ipv4", None, 1.0, "off"),
    )
    said = drill.sentence(found, "mine", "plain")
    assert said.startswith("1 of 3 scripts passed on mine; compared with plain 1 fail that passed, 1 pass that failed")
    assert [line for line in drill.ktap(found).splitlines() if " a.pkt" in line] == ["ok 1 a.pkt ipv4 # XFAIL off"]
    (suite,) = ElementTree.fromstring(drill.junit(found, "mine", "plain", "2026-01-31T12:00:00"))
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "1")


@pytest.mark.lab
@needs_program
def test_scripts_pass_and_fail_in_lab_time(tmp_path: Path) -> None:
    folder = written(tmp_path / "s", good=PASSES, bad=FAILS)
    assert SOURCE is not None
    ran = command(folder, "--source", SOURCE, "--format", "junit")
    assert ran.returncode == 1, ran.stderr
    (suite,) = ElementTree.fromstring(ran.stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("6", "3")
    assert all(1 < float(case.get("time", "0")) < 1.3 for case in suite.iter("testcase"))
    assert {case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None} == {"bad.pkt"}


@pytest.mark.lab
def test_a_base_that_is_the_candidate_is_refused(tmp_path: Path) -> None:
    ran = command(written(tmp_path / "s", bad=FAILS), "--base", find(None).name)
    assert ran.returncode == 2
    assert "every failure would be a known one" in ran.stderr


@pytest.mark.lab
@needs_program
def test_a_program_that_lets_everything_pass_is_found_out(tmp_path: Path) -> None:
    fake = tmp_path / "program"
    fake.mkdir()
    (fake / "packetdrill").write_text("#!/bin/sh\nexit 0\n")
    (fake / "packetdrill").chmod(0o755)
    wanted = cases([written(tmp_path / "s", good=PASSES)], ["ipv4"])
    with pytest.raises(MachineError, match="lets a script pass that must fail"):
        packetdrill.run(find(None), fake, wanted, 1)


@pytest.mark.lab
@needs_program
def test_a_script_that_panics_the_kernel_takes_no_other_with_it(tmp_path: Path) -> None:
    panic = "0 `echo c >/proc/sysrq-trigger || poweroff -f`\n" + PASSES
    folder = written(tmp_path / "s", bad=panic, good=PASSES)
    assert SOURCE is not None
    found = packetdrill.run(find(None), program(Path(SOURCE), 2), cases([folder], ["ipv4"]), 1)
    assert [each.wrong is None for each in found] == [False, True]
