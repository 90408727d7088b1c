"""Files as Windows writes them, with CR and LF and a byte order mark: the same files, to everybody who reads them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from shipped import ROOT

from testbed.compare import published
from testbed.error import SpecError
from testbed.exercise import check, submission, work_folder
from testbed.exercise.file import Exercise, load
from testbed.library import EXERCISES
from testbed.spec.load import is_scenario, load_scenario, load_topology
from testbed.spec.program_store import digest
from testbed.spec.syntax import input_file

TEXTS = (".yaml", ".yml", ".py", ".sh", ".conf", ".nft", ".csv", ".trace", ".txt", ".md", ".cdf")
BOM = b"\xef\xbb\xbf"


def windows(folder: Path) -> None:
    """Writes every text in a folder as an editor of Windows does."""
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix in TEXTS:
            path.write_bytes(BOM + path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def copied(what: Path, to: Path) -> Path:
    shutil.copytree(what, to, ignore=shutil.ignore_patterns("__pycache__"))
    windows(to)
    return to


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("windows")
    for name in ("topologies", "scenarios", "profiles"):
        copied(ROOT / name, folder / name)
    return folder


TOPOLOGIES = sorted(path.relative_to(ROOT) for path in (ROOT / "topologies").glob("*.yaml"))
SCENARIOS = sorted(path.relative_to(ROOT) for path in (ROOT / "scenarios").glob("*.yaml"))
PROFILES = sorted(path.relative_to(ROOT) for path in (ROOT / "profiles").glob("*.yaml"))


@pytest.mark.parametrize("file", TOPOLOGIES, ids=str)
def test_a_topology_of_windows_is_the_same(file: Path, library: Path) -> None:
    assert b"\r\n" in (library / file).read_bytes()
    assert load_topology(library / file) == load_topology(ROOT / file)


@pytest.mark.parametrize("file", SCENARIOS, ids=str)
def test_a_scenario_of_windows_is_the_same(file: Path, library: Path) -> None:
    assert is_scenario(library / file)
    ours, theirs = load_scenario(ROOT / file), load_scenario(library / file)
    if any(getattr(trial.workload, "files", ()) for trial in ours.trials()):  # programs are named by their bytes
        assert len(ours.trials()) == len(theirs.trials())
    else:
        assert theirs == ours


@pytest.mark.parametrize("file", PROFILES, ids=str)
def test_a_profile_of_windows_is_the_same(file: Path, library: Path) -> None:
    assert repr(published.load(library / file)) == repr(published.load(ROOT / file))


NETWORK = """name: net
nodes:
  a: {type: host}
  b: {type: host}
  r: {type: router, nftables: rules.nft}
  s1: {type: ovs}
  c0: {type: controller, app: app.py, files: [policy.csv]}
links:
  one: {ends: [a, s1], trace: line.trace}
  two: {ends: [s1, r]}
  three: {ends: [r, b]}
"""
APP = '"""An app."""\nfrom os_ken.base.app_manager import OSKenApp\n\n\nclass App(OSKenApp):\n    """nothing."""\n'
FILES = {
    "net.yaml": NETWORK,
    "app.py": APP,
    "policy.csv": "a,b\n1,2\n",
    "rules.nft": "table ip t {\n}\n",
    "line.trace": "0\n1\n",
}


def written(folder: Path) -> Path:
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def test_apps_their_files_rules_and_traces_of_windows_are_the_same(tmp_path: Path) -> None:
    ours, theirs = written(tmp_path / "linux"), written(tmp_path / "windows")
    windows(theirs)
    found = load_topology(theirs / "net.yaml")
    assert found == load_topology(ours / "net.yaml")
    assert found.node("c0").controller is not None
    assert found.node("c0").controller.text == APP


def test_a_carriage_return_within_a_line_is_still_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "net")
    (folder / "app.py").write_bytes(APP.replace("nothing", "noth\ring").encode())
    with pytest.raises(SpecError, match=r"control character '\\r'"):
        load_topology(folder / "net.yaml")


def test_utf_16_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path / "net")
    (folder / "net.yaml").write_bytes(NETWORK.encode("utf-16"))
    with pytest.raises(SpecError, match="in UTF-16: save it as UTF-8"):
        load_topology(folder / "net.yaml")
    (folder / "net.yaml").write_text(NETWORK)
    (folder / "app.py").write_bytes(APP.encode("utf-16"))
    with pytest.raises(SpecError, match="in UTF-16: save it as UTF-8"):
        load_topology(folder / "net.yaml")


SCENARIO = """name: own
topology: {name: net, nodes: {a: {type: host}, b: {type: host}}, links: {path: {ends: [a, b], rate: 1 Mbit/s}}}
workload: {tool: command, client: {at: a, run: ./load.sh}, from: a, to: b, duration: 1 s}
"""


def test_a_program_that_linux_would_not_start_is_refused(tmp_path: Path) -> None:
    """Programs are kept byte for byte, so nobody turns their lines."""
    (tmp_path / "own.yaml").write_text(SCENARIO)
    script = tmp_path / "load.sh"
    script.write_bytes(b"#!/bin/sh\r\necho done\r\n")
    script.chmod(0o755)
    with pytest.raises(SpecError, match=r"line endings of Windows.*sed -i 's/\\r\$//'"):
        load_scenario(tmp_path / "own.yaml")
    script.write_bytes(b"#!/bin/sh\necho done\n")
    (trial,) = load_scenario(tmp_path / "own.yaml").trials()
    assert dict(trial.workload.files)["load.sh"] == digest(script)  # type: ignore[attr-defined]


def of_windows(exercise: Exercise, folder: Path) -> submission.Submission:
    """The solution, as a student would hand it in from Windows."""
    copied(exercise.folder / "solution", folder)
    return submission.read(exercise, folder, "solution")


@pytest.mark.parametrize("name", work_folder.names())
def test_a_solution_of_windows_is_read_as_the_same(name: str, tmp_path: Path) -> None:
    exercise = load(EXERCISES / name)
    ours, theirs = submission.of_solution(exercise), of_windows(exercise, tmp_path / "mine")
    assert theirs.problems == ours.problems == ()
    assert all(b"\r\n" in each for each in theirs.files.values())
    assert {each: theirs.text(each) for each in theirs.files} == {each: ours.text(each) for each in ours.files}


def test_an_exercise_of_windows_is_the_same(tmp_path: Path) -> None:
    for name in ("addressing", "firewall"):
        theirs = load(copied(EXERCISES / name, tmp_path / name))
        assert theirs.file == load(EXERCISES / name).file
        assert work_folder.solution(theirs) == work_folder.solution(load(EXERCISES / name))


@pytest.mark.lab
@pytest.mark.parametrize("name", ["learning-switch", "addressing"])
def test_a_solution_of_windows_has_the_full_mark(name: str, tmp_path: Path) -> None:
    """An app of a controller, and a script that a shell reads."""
    exercise = load(EXERCISES / name)
    found = check.mark(exercise, of_windows(exercise, tmp_path / "mine"))
    assert found.is_full, [(rule.name, rule.seen) for rule in found.rules] + list(found.problems)


def test_one_place_turns_bytes_into_text() -> None:
    assert input_file.decoded(BOM + b"a\r\nb\rc\n") == "a\nb\rc\n"
    readers = [path for path in (ROOT / "testbed").rglob("*.py") if "utf-8-sig" in path.read_text()]
    assert readers == [Path(input_file.__file__)]
