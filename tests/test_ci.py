"""The steps that docs/ci.md gives to build servers, run by a user without privileges; and the plugin of pytest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from test_unprivileged import NO_CAPABILITY, NOBODY, interpreter

from testbed.cache_folder import user_folder

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "ci.md"
PLUGIN = ("-p", "testbed.commands.pytest_plugin")
TRY = f"sysctl:net.ipv4.tcp_keepalive_time=7000 --quick --jobs {os.cpu_count() or 1} --scenario cells/test_fills.yaml"

CELL = """
name: fills
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 20 ms}}
workload: {tool: flow, from: a, to: b, duration: 2 s, congestion: cubic}
expect: [{name: fills, measure: {metric: goodput, least: 8 Mbit/s}}]
"""
IMPORTED = "import sys, testbed.commands.pytest_plugin; print([m for m in sys.modules if m.startswith('testbed')])"


def blocks(language: str) -> list[str]:
    every = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [text for name, text in every if name == language]


def script() -> str:
    (found,) = [each for each in blocks("sh") if each.startswith("#!/bin/sh")]
    return found


def servers() -> tuple[dict[str, Any], dict[str, Any]]:
    github, gitlab = (yaml.safe_load(each) for each in blocks("yaml"))
    return github, gitlab


# The plugin.


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "test_fills.yaml").write_text(CELL)
    (tmp_path / "test_py.py").write_text("def test_py():\n    pass\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def asked(project: Path, *words: str | Path, plugin: tuple[str, ...] = PLUGIN) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = (sys.executable, "-W", "error", "-m", "pytest", *plugin, "-p", "no:cacheprovider", *words)
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


def outcomes(ran: subprocess.CompletedProcess[str]) -> tuple[int, dict[str, int]]:
    last = ran.stdout.splitlines()[-1]
    return ran.returncode, {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|deselected)", last)}


def changed(project: Path, old: str, new: str) -> None:
    assert old in CELL
    (project / "cells" / "test_fills.yaml").write_text(CELL.replace(old, new))


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    (found,) = [each for each in entry_points(group="pytest11") if each.value.startswith("testbed.")]
    assert (found.name, found.value) == ("testbed", PLUGIN[1])


def test_the_plugin_imports_nothing_of_ours_where_nobody_asks_for_it() -> None:
    said = subprocess.run((sys.executable, "-c", IMPORTED), capture_output=True, text=True, check=True).stdout
    assert said.strip() == "['testbed', 'testbed.commands', 'testbed.commands.pytest_plugin']"


def test_a_project_that_does_not_ask_has_its_own_tests_only(project: Path) -> None:
    assert outcomes(asked(project)) == (0, {"passed": 1})
    assert outcomes(asked(project, "cells")) == (5, {})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("expect:", "#", "it has no rule, so it tests nothing"),
        ("least: 8 Mbit/s", "leest: 8 Mbit/s", "leest"),
        ("cells", "", ""),
    ],
)
def test_a_file_that_tests_nothing_is_an_error(project: Path, old: str, new: str, said: str) -> None:
    if said:
        changed(project, old, new)
    else:
        (project / "cells" / "test_fills.yaml").write_text("name: net\nnodes: {}\n")  # no scenario at all
    ran = asked(project, "--testbed")
    assert ran.returncode == pytest.ExitCode.INTERRUPTED
    assert "test_fills.yaml" in ran.stdout
    assert said in ran.stdout


def test_who_asks_for_scenarios_is_told_if_none_was_run(project: Path) -> None:
    ran = asked(project, "--testbed", "test_py.py")
    assert outcomes(ran) == (5, {"passed": 1})
    assert "no scenario was run" in ran.stdout
    assert outcomes(asked(project, "--testbed", "-k", "py"))[0] == 5


@pytest.mark.parametrize("words", [("--testbed-jobs", "0"), ("--testbed-kernel", ""), ("--testbed-results", "")])
def test_options_that_mean_nothing_are_refused(project: Path, words: tuple[str, ...]) -> None:
    assert asked(project, "--testbed", *words).returncode == pytest.ExitCode.USAGE_ERROR


def test_a_kernel_that_is_not_there_is_an_error(project: Path) -> None:
    ran = asked(project, "--testbed-kernel", "nowhere")
    assert outcomes(ran)[0] == 2
    assert "no lab kernel is called 'nowhere'" in ran.stdout


def test_the_results_are_not_collected(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\ntestbed_files = *.yaml\n")
    spec = project / "results" / "pytest" / "cells" / "test_fills" / "spec"
    spec.mkdir(parents=True)
    (spec / "scenario.yaml").write_text(CELL)
    ran = asked(project, "--collect-only", "-q")
    collected = sorted(line for line in ran.stdout.splitlines() if "::" in line)
    assert collected == ["cells/test_fills.yaml::fills", "test_py.py::test_py"]


def test_a_folder_with_something_else_is_left_alone(project: Path) -> None:
    (project / "out" / "cells" / "test_fills").mkdir(parents=True)
    (project / "out" / "cells" / "test_fills" / "mine").write_text("x")
    ran = asked(project, "--testbed", "--testbed-results", "out", "cells")
    assert outcomes(ran) == (1, {"failed": 1})
    assert "is no earlier run of this test" in ran.stdout
    assert (project / "out" / "cells" / "test_fills" / "mine").exists()


@pytest.mark.lab
def test_rules_that_hold_pass_with_their_time_and_their_trials(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\ntestbed_files = cells/*.yaml\n")
    ran = asked(project, "--junitxml=j.xml")
    assert outcomes(ran) == (0, {"passed": 2}), ran.stdout
    (case,) = [each for each in ElementTree.parse(project / "j.xml").iter("testcase") if each.get("name") == "fills"]
    assert float(case.get("time", "0")) > 0
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert properties == {"testbed.trials": "1", "rule fills": "passed"}
    assert outcomes(asked(project)) == (0, {"passed": 2})  # in place of the earlier run


@pytest.mark.lab
def test_a_rule_that_does_not_hold_fails_with_what_was_seen(project: Path) -> None:
    changed(project, "8 Mbit/s", "9.9 Mbit/s")
    ran = asked(project, "--testbed")
    assert outcomes(ran) == (1, {"failed": 1, "passed": 1})
    assert re.search(r"fills failed: goodput is 9\.\d+ Mbit/s, and should be at least 9\.9 Mbit/s", ran.stdout)
    assert "Traceback" not in ran.stdout


@pytest.mark.lab
def test_a_trial_that_cannot_be_carried_out_fails(project: Path) -> None:
    changed(project, "expect:", "limits: {wall: 1 ms}\nexpect:")
    ran = asked(project, "--testbed")
    assert outcomes(ran) == (1, {"failed": 1, "passed": 1}), ran.stdout
    assert "1 trials are missing" in ran.stdout or "0 of 1 trials" in ran.stdout


# The build servers.


def test_the_packages_are_those_that_trials_and_the_kernel_need() -> None:
    lines = [line.split() for line in (ROOT / "testbed" / "packages.txt").read_text().splitlines() if line[:1] != "#"]
    wanted = {name for name, _, use in lines if use in ("run", "build")}
    assert set(blocks("")[-1].split()) == wanted


@pytest.fixture
def home(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of nobody's, with the lab kernels as a cache would bring them, and stand-ins for programs."""
    home = Path(os.path.realpath("/tmp")) / f"testbed-ci-{os.getpid()}-{project.name}"
    shutil.copytree(project, home / "project")
    (home / "project" / "test_py.py").unlink()
    (home / "project" / "ci").mkdir()
    (home / "project" / "ci" / "testbed.sh").write_text(script())
    kernels = user_folder() / "kernels"
    for cache in (home / ".cache", home / "project" / "cache"):
        shutil.copytree(kernels, cache / "testbed" / "kernels", ignore=shutil.ignore_patterns(".partial-*"))
    for name, text in programs(home).items():
        path = home / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return home


def programs(home: Path) -> dict[str, str]:
    code = os.pathsep.join(path for path in sys.path if path)
    said = f'#!/bin/sh\necho "$0 $*" >>{home}/said\n'
    ours = f"#!/bin/sh\nexport PYTHONPATH={code}\nexec {interpreter()}"
    return {
        "testbed": f'{ours} -c "from testbed.cli import main; main()" "$@"\n',
        "pytest": f'{ours} -m pytest -p no:cacheprovider "$@"\n',
        "gh": said,
        "curl": said,
        "su": said + 'exec sh -c "$3"\n',
    }


def steps(server: str, *, is_whole: bool) -> list[str]:
    """What the page tells a build server to run, but for what needs root; without the installation by pip unless
    `is_whole`.
    """
    github, gitlab = servers()
    if server == "github":
        (job,) = github["jobs"].values()
        found = [step["run"] for step in job["steps"] if "run" in step]
    else:
        (job,) = gitlab.values()
        found = [*job["before_script"], *job["script"], *job["after_script"]]
    return [
        each for each in found if not re.search(r"apt-get|useradd|chown", each) and (is_whole or "-m venv" not in each)
    ]


def as_nobody(home: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Runs it as a build server does, in an environment that has what it says and no more."""
    user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", *NO_CAPABILITY)
    for path in (home, *home.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    environment = {
        "PATH": f"{home}/venv/bin:{home}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(home),
        "TRY": TRY,
        "TESTBED": f"file://{ROOT}",
        **{name: str(home / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")},
        **{"NUMBER": "7", "TOKEN": "t", "CI_API_V4_URL": "api", "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "7"},
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
    }
    words = (*(user if os.geteuid() == 0 else ()), "bash", "-e", "-o", "pipefail", "-c", line)
    return subprocess.run(words, cwd=home / "project", env=environment, capture_output=True, text=True)


@pytest.mark.lab
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    ("server", "is_whole"),
    [
        pytest.param("github", False, marks=pytest.mark.slow),
        pytest.param("gitlab", False, marks=pytest.mark.slow),
        pytest.param("github", True, marks=pytest.mark.nightly),
    ],
)
def test_an_ordinary_user_runs_the_steps_of_a_build_server(home: Path, server: str, is_whole: bool) -> None:
    try:
        if as_nobody(home, "testbed --version && pytest --version").returncode:
            pytest.skip("this interpreter, or the testbed's code, is not for everybody to read")
        if is_whole:
            for name in ("testbed", "pytest"):
                (home / "bin" / name).unlink()
        lines = steps(server, is_whole=is_whole)
        assert len(lines) >= 2
        for line in lines:
            ran = as_nobody(home, line)
            assert ran.returncode == 0, f"{line}\n{ran.stdout}\n{ran.stderr}"
        out = home / "project" / "out"
        (case,) = ElementTree.parse(out / "cells.xml").iter("testcase")
        assert (case.get("name"), len(case)) == ("fills", 1)  # its properties, and no failure
        assert [*ElementTree.parse(out / "verdict.xml").iter("testcase")]
        assert (out / "cells" / "cells" / "test_fills" / "report.html").stat().st_size > 10_000
        assert (out / "verdict.md").read_text().startswith("**net.ipv4.tcp_keepalive_time=7000 is the same")
        assert "verdict.md" in (home / "said").read_text()
        if server == "github":
            assert re.fullmatch(r"key=lab-\w{12}\n", (home / "github_output").read_text())
            assert (home / "github_step_summary").read_text() == (out / "verdict.md").read_text()
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_the_job_fails_if_a_scenario_does(home: Path) -> None:
    try:
        changed(home / "project", "8 Mbit/s", "9.9 Mbit/s")
        if as_nobody(home, "testbed --version && pytest --version").returncode:
            pytest.skip("this interpreter, or the testbed's code, is not for everybody to read")
        assert as_nobody(home, "sh ci/testbed.sh $TRY").returncode == 1
    finally:
        shutil.rmtree(home, ignore_errors=True)
