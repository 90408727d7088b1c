"""Completion: what can follow on a command line, and the real shells that ask for it."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from comparing import said_by
from patience import PATIENCE_S

from testbed import cli, journal
from testbed.commands.computer import completion
from testbed.kernel.image import feature
from testbed.spec.topology import change

ROOT = Path(__file__).parents[1]

Ask = Callable[[str], tuple[str, list[str]]]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(ROOT)
    return tmp_path / "cache/testbed"


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """What a script is told: the kind of files, and the words."""

    def answer(line: str, shell: str = "fish") -> tuple[str, list[str]]:
        said = said_by(capsys, "completion", "words", shell, line)
        assert (said.code, said.err) == (0, "")
        files, *words = said.out.splitlines() or [""]
        return files, [word.split("\t")[0] for word in words]

    return answer


@pytest.fixture
def two_networks(tmp_path: Path) -> Iterator[None]:
    """Entries in the journal as running networks have them."""
    nodes = {"wan": ("client", "server"), "campus": ("client", "router")}
    for name, its in nodes.items():
        (tmp_path / name).mkdir()
        about = {"nodes": {node: {} for node in its}, "links": [{"name": f"to-{node}"} for node in its]}
        (tmp_path / name / "network.json").write_text(json.dumps(about))
    with (
        journal.noted("network", "wan", folder=str(tmp_path / "wan"), since="2026-01-01T00:00:00+00:00"),
        journal.noted("network", "campus", folder=str(tmp_path / "campus"), since="2026-01-01T00:00:00+00:00"),
        journal.noted("network", "starting", folder=str(tmp_path / "none")),
    ):
        yield


@pytest.mark.parametrize(
    ("line", "files", "words"),
    [
        ("testbed ", "none", list(cli.COMMANDS)),
        ("testbed re", "none", ["reproduce", "results", "report", "reload"]),
        ("testbed fly ", "none", []),
        ("testbed kernel ", "none", ["build", "key", "fetch", "export", "import", "list"]),
        ("testbed kernel bu", "none", ["build"]),
        ("testbed run quick", "files", ["quickstart"]),
        ("/opt/bin/testbed run quick", "files", ["quickstart"]),
        ("FORCE=1 testbed run quick", "files", ["quickstart"]),
        ("testbed up wa", "files", ["wan"]),
        ("testbed check wa", "files", ["wan"]),
        ("testbed check wan quick", "files", ["quickstart"]),
        ("testbed run quickstart more", "none", []),
        ("testbed run quickstart --d", "none", ["--dry-run"]),
        ("testbed run -o ", "dirs", []),
        ("testbed run -o some/where quick", "files", ["quickstart"]),
        ("testbed run --output=some/where quick", "files", ["quickstart"]),
        ("testbed run --jobs ", "none", []),
        ("testbed run --format ", "none", ["table", "json"]),
        ("testbed run --format=j", "none", ["--format=json"]),
        ("testbed results --by c", "none", ["cell"]),
        ("testbed results ", "dirs", []),
        ("testbed compare results/a goo", "dirs", ["google-cloud-emulated"]),
        ("testbed schema ", "none", ["topology", "scenario", "profile"]),
        ("testbed list to", "none", ["topologies"]),
        ("testbed completion ", "none", ["bash", "zsh", "fish"]),
        ("testbed plot results/a ", "none", list(completion.KINDS_OF_FIGURE)),
        ("testbed run quickstart --set path.", "none", ["path.rtt=", "path.loss="]),
        ("testbed run quickstart --set kernel=lab-", "none", ["kernel=lab-realtime"]),
        ("testbed run quickstart --set 'path.rtt=[1 ms, 2 ms]' --qu", "none", ["--quick"]),
        ("testbed run quickstart --set 'path.rtt=[1 m", "none", []),
        ("testbed exec ", "none", []),
        ("testbed down ", "none", []),
    ],
)
def test_what_fits_follows(ask: Ask, line: str, files: str, words: list[str]) -> None:
    assert ask(line) == (files, words)


@pytest.mark.usefixtures("two_networks")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("testbed exec ", ["client", "router", "client", "server"]),
        ("testbed exec se", ["server"]),
        ("testbed shell -n campus ", ["client", "router"]),
        ("testbed shell --name w", ["wan"]),
        ("testbed down ", ["campus", "wan"]),
        ("testbed status w", ["wan"]),
        ("testbed link to-s", ["to-server"]),
        ("testbed link -n campus ", ["to-client", "to-router"]),
        ("testbed link to-server ", ["down", "up", *(f"{key}=" for key in change.KEYS)]),
        ("testbed link to-server rtt='5 ms' ra", ["rate="]),
        ("testbed link to-server rtt='5 ms' do", []),
    ],
)
def test_nodes_and_links_are_those_of_running_networks(ask: Ask, line: str, words: list[str]) -> None:
    assert ask(line) == ("none", words)


@pytest.mark.usefixtures("two_networks")
def test_what_follows_a_node_is_for_the_command_in_it(ask: Ask) -> None:
    assert ask("testbed exec client -- ls --")[0] == "files"
    assert ask("testbed exec client --na") == ("files", [])


@pytest.fixture
def old_kernel(cache: Path) -> Path:
    folder = cache / "vm/kernels/old"
    (folder / "modules").mkdir(parents=True)
    (folder / "vmlinuz").touch()
    about = {"name": "old", "release": "6.16", "source": "debian", "default": False, "made": "2026"}
    (folder / "kernel.json").write_text(json.dumps(about))
    return folder


@pytest.mark.usefixtures("old_kernel")
def test_kernels_follow_by_name(ask: Ask) -> None:
    assert ask("testbed kernel fetch --name ") == ("none", ["old"])


def test_congestion_controls_are_those_that_kernels_have(ask: Ask, old_kernel: Path) -> None:
    assert ask("testbed run quickstart --set congestion=") == ("none", [])
    feature.write(old_kernel, feature.of_controls("reno cubic highspeed"))
    names = ["congestion=cubic", "congestion=highspeed", "congestion=reno"]
    assert ask("testbed run quickstart --set congestion=") == ("none", names)
    assert ask("testbed run quickstart --set congestion=h") == ("none", ["congestion=highspeed"])


def test_an_error_is_silent(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(completion.known, "networks", broken)
    assert ask("testbed exec ") == ("", [])


def test_what_a_command_takes_is_remembered_until_it_changes(ask: Ask, cache: Path) -> None:
    assert ask("testbed results --b") == ("none", ["--by"])
    file = cache / "completion/results.json"
    data = json.loads(file.read_text())
    data["nodes"]["results"]["params"] = []
    file.write_text(json.dumps(data))
    assert ask("testbed results --b") == ("none", [])  # the module is not looked at again
    file.write_text(json.dumps({**data, "key": "of an older version"}))
    assert ask("testbed results --b") == ("none", ["--by"])
    file.write_text("half a fi")
    assert ask("testbed results --b") == ("none", ["--by"])


def test_a_cache_that_cannot_be_written_is_no_error(ask: Ask, cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_text("no folder")
    assert ask("testbed results --b") == ("none", ["--by"])


@pytest.mark.slow
def test_names_are_completed_without_the_libraries_of_the_command(cache: Path) -> None:
    words = [sys.executable, "-X", "importtime", "-m", "testbed", "completion", "words", "bash", "testbed run quick"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(words, capture_output=True, check=True, env=env)
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=env)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.stdout == "files\nquickstart\n"
    assert not loaded & {"numpy", "pyarrow", "duckdb", "testbed.spec", "testbed.trial", "testbed.kernel"}


def test_the_kinds_of_figures_are_those_that_there_are() -> None:
    from testbed.report.figure import KINDS

    assert tuple(KINDS) == completion.KINDS_OF_FIGURE


def test_a_shell_that_is_not_known_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "testbed", "completion", "tcsh"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 2
    assert "allowed: bash, zsh, fish" in done.stderr


class Terminal:
    """A shell on a terminal, in which the command `testbed` is that of this tree."""

    def __init__(self, words: list[str], folder: Path) -> None:
        program = folder / "testbed"
        program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m testbed "$@"\n')
        program.chmod(0o755)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "$ "}
        self.said = ""
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], words, environment)

    def type(self, text: str) -> None:
        self.said = ""
        os.write(self.file, text.encode())

    def until(self, text: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while text not in self.said:
            assert time.monotonic() < end, f"{text!r} does not come: {self.said!r}"
            if select.select([self.file], [], [], 0.1)[0]:
                self.said += os.read(self.file, 65536).decode(errors="replace").replace("\b", "")

    def end(self) -> None:
        os.close(self.file)
        os.waitpid(self.pid, 0)


SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(testbed completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -U compinit; compinit -u -D; eval "$(testbed completion zsh)"'),
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.usefixtures("two_networks")
def test_the_tab_key_completes_in_a_real_shell(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    words, setup = SHELLS[shell]
    terminal = Terminal(words, tmp_path)
    try:
        terminal.type(f"{setup}; echo read''y\n")
        terminal.until("ready")
        for typed, comes in (
            ("testbed kern\t", "kernel "),
            ("bui\t", "build "),
            ("--fo\t", "--for "),
            ("\x15testbed run quicks\t", "quickstart "),
            ("--format=js\t", "json "),
            ("--set path.r\t", "path.rtt="),
            ("\x15testbed check topologies/wa\t", "wan.yaml "),
            ("\x15testbed exec -n wan se\t", "server "),
        ):
            terminal.type(typed)
            terminal.until(comes.removeprefix(typed.rpartition("\x15")[2].rstrip("\t").split(" ")[-1]))
    finally:
        terminal.end()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.usefixtures("two_networks")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("testbed kern", ["kernel"]),
        ("testbed kernel build --fo", ["--for"]),
        ("testbed run quicks", ["quickstart"]),
        ("testbed run --format=js", ["--format=json"]),
        ("testbed check topologies/wa", ["topologies/wan.yaml"]),
        ("testbed exec -n wan se", ["server"]),
    ],
)
def test_fish_completes(line: str, words: list[str], tmp_path: Path) -> None:
    program = tmp_path / "testbed"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m testbed "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"testbed completion fish | source; complete -C '{line}'"],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert [each.split("\t")[0] for each in done.stdout.splitlines()] == words
