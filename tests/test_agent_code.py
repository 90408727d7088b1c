"""The agent that guests run is compiled once, and never older than its sources."""

from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from trials import Ran, RunTrial

from testbed import journal, native_program
from testbed.cache_folder import user_folder
from testbed.error import MachineError
from testbed.kernel.image.cache import find, user_cache
from testbed.kernel.vm import kernel_cache
from testbed.model.run_setting import LAB
from testbed.native_program import AGENT, MAIN
from testbed.trial import run
from testbed.trial.ready_kernel import ReadyKernel, ready_kernel

ASK = "import testbed.native_program as made; print(made._agent())"
NOBODY = 65534
SAID = "import sys; sys.path.insert(0, sys.argv[1]); import noun; print(noun.said)"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "testbed" / "tools"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent of one module, which says something."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / MAIN).write_text("")
    (folder / "noun.py").write_text("said = 'one'\n")
    monkeypatch.setattr(native_program, "AGENT", folder)
    return folder


def said(folder: Path) -> str:
    done = subprocess.run([sys.executable, "-ISB", "-c", SAID, folder], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_it_is_compiled_once(cache: Path) -> None:
    first = native_program._agent()
    times = {path: path.stat().st_mtime_ns for path in first.iterdir()}
    assert {path.name for path in first.iterdir()} == {
        *(journal.MARK, MAIN, native_program.CONTENTS),
        *(f"{path.stem}.pyc" for path in AGENT.glob("*.py") if path.name != MAIN),
    }
    assert native_program._agent() == first
    assert times == {path: path.stat().st_mtime_ns for path in first.iterdir()}
    assert list(cache.iterdir()) == [first]


def test_another_content_is_another_agent(cache: Path, sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with the same size and time."""
    about = (sources / "noun.py").stat()
    one = native_program._agent()
    (sources / "noun.py").write_text("said = 'two'\n")
    os.utime(sources / "noun.py", ns=(about.st_atime_ns, about.st_mtime_ns))
    two = native_program._agent()
    assert (said(one), said(two)) == ("one", "two")
    monkeypatch.setattr(sys, "version", "3.99.0")
    assert native_program._agent() not in (one, two)
    assert len(list(cache.iterdir())) == 3


def test_a_compiled_file_beside_the_source_counts_for_nothing(cache: Path, sources: Path) -> None:
    (sources / "other.py").write_text("said = 'stale'\n")
    target = sources / "__pycache__" / f"noun.{sys.implementation.cache_tag}.pyc"
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(sources / "other.py"), str(target), invalidation_mode=unchecked)
    assert said(sources) == "stale"
    assert said(native_program._agent()) == "one"


def test_an_interrupted_compilation_leaves_nothing_that_is_used(
    cache: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(partial: Path) -> None:
        (partial / "noun.pyc").write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(native_program, "_compile", interrupted)
        with pytest.raises(KeyboardInterrupt):
            native_program._agent()
    assert not list(cache.iterdir())
    (cache / "partial-of-a-killed-process").mkdir()
    assert said(native_program._agent()) == "one"


def test_no_file_can_be_empty_after_a_power_cut(cache: Path, sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder gets its name when the disk has all that is in it."""
    kept: set[int] = set()
    sync, rename = os.fsync, os.rename

    def fsync(descriptor: int) -> None:
        sync(descriptor)
        kept.add(os.fstat(descriptor).st_ino)

    def renamed(old: Path, new: Path) -> None:
        assert {each.stat().st_ino for each in (old, *old.iterdir())} <= kept
        rename(old, new)
        named.append(new)

    named: list[Path] = []
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", renamed)
    assert named == [native_program._agent()]
    assert len(list(named[0].iterdir())) > 1


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with all that is compiled."""
    home = tmp_path_factory.mktemp("compiled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home))
        native_program.tools()
    return home


@pytest.mark.parametrize("damage", ["empty", "zeros", "gone", "nobody says"])
def test_a_damaged_program_is_refused(cache: Path, compiled: Path, damage: str) -> None:
    """The loader goes on without a library that it cannot read: virtual machines kept no lab time, and were valid."""
    shutil.copytree(compiled, cache.parents[1])
    folder = native_program.tools().folder
    assert folder.parent == cache
    library = folder / "vmclock.so"
    if damage == "empty":
        library.write_bytes(b"")
    elif damage == "zeros":
        library.write_bytes(bytes(library.stat().st_size))
    else:
        (library if damage == "gone" else folder / native_program.CONTENTS).unlink()
    with pytest.raises(MachineError, match=rf"^{folder} is damaged: .*; to fix it, type: rm -r {folder}$"):
        native_program.tools()


def test_what_was_removed_is_compiled_again(cache: Path, compiled: Path) -> None:
    shutil.copytree(compiled, cache.parents[1])
    folder = native_program.tools().folder
    there = {path.name for path in folder.iterdir()}
    shutil.rmtree(folder)
    assert native_program.tools().folder == folder
    assert {path.name for path in folder.iterdir()} == there


def test_of_a_damaged_agent_the_sources_run(cache: Path, sources: Path) -> None:
    (native_program._agent() / "noun.pyc").write_bytes(b"")
    assert native_program._agent() == sources


def test_two_who_compile_at_once_do_not_collide(cache: Path, sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finds nothing when it begins, and the second one an agent when it is done."""
    compile_it: Callable[[Path], None] = native_program._compile
    first: list[Path] = []

    def late(partial: Path) -> None:
        compile_it(partial)
        monkeypatch.setattr(native_program, "_compile", compile_it)
        first.append(native_program._agent())

    monkeypatch.setattr(native_program, "_compile", late)
    assert [native_program._agent()] == first
    assert list(cache.iterdir()) == first
    assert said(first[0]) == "one"


def test_many_processes_compile_at_once(cache: Path) -> None:
    words = [sys.executable, "-c", ASK]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: subprocess.run(words, capture_output=True, text=True, check=True), range(4)))
    assert {each.stdout.strip() for each in done} == {str(path) for path in cache.iterdir()}
    assert len(list(cache.iterdir())) == 1


def test_without_a_cache_the_sources_are_run(cache: Path, sources: Path) -> None:
    """A folder cannot be made in a file, whoever we are."""
    cache.parents[1].write_text("")
    assert native_program._agent() == sources


def test_an_edit_while_it_is_compiled_is_not_kept_under_the_name_of_what_was_there(
    cache: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the edited one would be run when the edit is undone."""
    compile_it: Callable[[Path], None] = native_program._compile

    def edited(partial: Path) -> None:
        (sources / "noun.py").write_text("said = 'two'\n")
        compile_it(partial)

    with monkeypatch.context() as patch:
        patch.setattr(native_program, "_compile", edited)
        assert native_program._agent() == sources
    assert not list(cache.iterdir())
    (sources / "noun.py").write_text("said = 'one'\n")
    assert said(native_program._agent()) == "one"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_what_another_user_compiled_is_not_run(
    cache: Path, sources: Path, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    """Whoever owns the folder, or one above it, can put in it what he likes; its name is no secret."""
    folder = native_program._agent()
    assert folder.parent == cache
    owned = (folder, *folder.parents)[depth]
    os.chown(owned, NOBODY, NOBODY)
    with pytest.raises(MachineError, match="belongs to another user; to fix it, type: export XDG_CACHE_HOME"):
        native_program._kept(lambda: folder.name, native_program._compile)  # root ran it
    for key in ("SUDO_UID", "SUDO_GID"):
        monkeypatch.setenv(key, str(NOBODY))
    assert native_program._agent() == folder  # who may have root run us is trusted as root is
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert native_program._agent() == sources
    with pytest.raises(MachineError, match="belongs to another user; to fix it, type: export XDG_CACHE_HOME"):
        native_program._kept(lambda: folder.name, native_program._compile)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
@pytest.mark.parametrize("name", ["kernels", "vm"])
def test_root_runs_no_kernel_that_another_user_put_into_a_shared_cache(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "testbed" / name).mkdir(parents=True)
    os.chown(tmp_path / "testbed" / name, NOBODY, NOBODY)
    kernels = user_cache if name == "kernels" else kernel_cache.kernels
    with pytest.raises(MachineError, match=f"testbed/{name} belongs to another user"):
        kernels()
    for key in ("SUDO_UID", "SUDO_GID"):
        monkeypatch.setenv(key, str(NOBODY))
    kernels()


@pytest.mark.lab
def test_the_bytes_of_a_trial_are_those_of_its_sources(run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch) -> None:
    def bytes_of(ran: Ran) -> list[bytes]:
        return [(ran.folder / name).read_bytes() for name in ("log.jsonl", "result.json", "samples.parquet")]

    change = {"path": {"jitter": "1 ms"}, "workload": {"tool": "udp", "rate": "5 Mbit/s", "duration": "1 s"}}
    compiled = run_trial(**change)
    assert ready_kernel(LAB).tools.agent.parent == user_folder() / "tools"
    sources = ReadyKernel(LAB, replace(native_program.tools(), agent=AGENT), find(None))
    monkeypatch.setattr(run, "ready_kernel", lambda kernel: sources)
    assert bytes_of(run_trial(**change)) == bytes_of(compiled)
