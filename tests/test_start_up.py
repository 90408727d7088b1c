"""Commands import what they need, and no library that takes long to import and serves another command."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from testbed.cli import LIBRARIES

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "results/example"

HEAVY = {"ansible_runner", "asyncssh", "distributed", "duckdb", "matplotlib", "pydantic", "pyroute2", "scipy"}
NUMBERS = {"numpy", "pyarrow"}
CASES = {
    ("check", "quickstart"): HEAVY | NUMBERS,
    ("list",): HEAVY | NUMBERS,
    ("status",): HEAVY | NUMBERS,
    ("exec", "--help"): HEAVY | NUMBERS,
    ("link", "--help"): HEAVY | NUMBERS,
    ("run", "quickstart", "--dry-run"): HEAVY | {"pyarrow"},
}
ENDS = "import sys, json, atexit; atexit.register(lambda: print('\\n' + json.dumps(sorted(sys.modules))))"
ALL = ("ansible_runner", "asyncssh", "dask", "distributed", "duckdb", "matplotlib", "pyarrow", "scipy")
"""The packages of the extra `all`, which an installation for classes leaves out."""
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({ALL!r}))"
STARTS = "sys.argv = ['testbed', *sys.argv[1:]]; from testbed.cli import main; main()"


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_a_command_imports_no_library_of_another(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        (sys.executable, "-c", f"{ENDS}; {STARTS}", *words), stdout=subprocess.PIPE, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert "testbed" in loaded
    assert not loaded & CASES[words]


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command of an installation for classes."""
    return subprocess.run(
        (sys.executable, "-c", f"{WITHOUT}; {STARTS}", *words), capture_output=True, text=True, check=False, cwd=cwd
    )


def test_what_an_installation_for_classes_lacks_is_named_with_what_installs_it() -> None:
    done = run("query", "nothing", "SELECT 1")
    assert done.returncode in (2, 3)
    done = run("plot", "--help")
    assert done.returncode == 0
    done = run("report", str(EXAMPLE), "-o", "/dev/null")
    assert done.returncode == 3, done.stderr
    assert re.search(r"needs the Python package \w+, .*; to fix it, type: pip install \w+", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_run_that_lacks_a_package_ends_before_its_first_trial(tmp_path: Path) -> None:
    done = run("run", "quickstart", "-o", str(tmp_path / "results"))
    assert done.returncode == 3
    assert "needs the Python package pyarrow" in done.stderr
    assert not (tmp_path / "results").exists()


def test_marking_a_class_needs_no_package_but_those_for_classes(tmp_path: Path) -> None:
    (tmp_path / "anna").mkdir()
    for form in ("table", "csv", "junit", "gradescope"):
        done = run("grade", "windows", str(tmp_path / "anna"), "--format", form, "--feedback", str(tmp_path / form))
        assert "needs the Python package" not in done.stderr
        assert [each.name for each in (tmp_path / form).iterdir()] == ["anna.md"]


def test_the_extra_all_has_what_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    packages = {re.split(r"[<>=~]", each)[0] for each in project["optional-dependencies"]["all"]}
    assert packages == {*LIBRARIES.values(), "ansible-core"}
    assert not packages & {re.split(r"[<>=~]", each)[0] for each in project["dependencies"]}


@pytest.mark.lab
@pytest.mark.slow
def test_an_exercise_that_measures_needs_no_package_but_those_for_classes(tmp_path: Path) -> None:
    """`buffer` measures goodput and quantiles of the RTT, which come from samples."""
    solution = ROOT / "exercises/buffer/solution"
    assert run("exercise", "start", "buffer", str(tmp_path / "work")).returncode == 0
    for path in solution.iterdir():
        shutil.copy(path, tmp_path / "work")
    done = run("exercise", "check", "--format", "json", cwd=tmp_path / "work")
    assert done.returncode == 0, done.stderr + done.stdout
