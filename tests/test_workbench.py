"""The tree in which `testbed cc` builds: what another command reads of it is the source, whatever is built there."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testbed.cache_folder import open_lock
from testbed.commands.candidate import contender
from testbed.error import UserError
from testbed.kernel.image import change as changes
from testbed.kernel.image.build import LAB, Stage
from testbed.kernel.image.workbench import Workbench

NAME = "net/ipv4/tcp_cubic.c"


def bench(folder: Path) -> Workbench:
    unused: Any = None
    file = folder / "tree" / NAME
    file.parent.mkdir(parents=True)
    file.write_bytes(b"original")
    return Workbench(folder, "toy", "key", unused, "cc", "toy", unused)


def is_steady(made: Workbench) -> bool:
    """Whether somebody holds the lock of its files, as another process sees it."""
    with os.fdopen(open_lock(made.home / ".files"), "wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@pytest.mark.parametrize(("name", "reader"), [("my.patch", "of_patch"), ("tcp_my.c", "of_file"), ("mine", "of_tree")])
def test_a_change_is_read_while_no_build_exchanges_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reader: str
) -> None:
    made, held = bench(tmp_path / "bench"), []
    monkeypatch.setattr(changes, reader, lambda *words: held.append(is_steady(made)))
    (tmp_path / "mine").mkdir()
    contender._read(tmp_path / name, made, ())
    assert held == [True]
    assert not is_steady(made)


@pytest.mark.parametrize("name", ["mine", "reno"])
def test_a_patch_with_a_control_that_neither_side_would_run_is_refused(tmp_path: Path, name: str) -> None:
    """Reno is in tcp_cong.c: a new tcp_reno.c is no change of it."""
    file = f"net/ipv4/tcp_{name}.c"
    added = ("struct tcp_congestion_ops mine = {", '\t.name = "mine",', "};", f"int a = {changes.REGISTERS}(&mine);")
    body = "".join(f"+{line}\n" for line in added)
    patch = tmp_path / "my.patch"
    patch.write_text(f"--- /dev/null\n+++ b/{file}\n@@ -0,0 +1,{len(added)} @@\n{body}")
    with pytest.raises(UserError, match=f"tcp_{name}.c adds the congestion control mine, which neither side would run"):
        changes.of_patch(patch, bench(tmp_path / "bench"))


def test_a_build_exchanges_files_while_nobody_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, held = bench(tmp_path / "bench"), []

    def stopped(self: Workbench, change: Any) -> None:
        raise InterruptedError

    put: Callable[..., None] = Workbench._put
    monkeypatch.setattr(Workbench, "_check_room", lambda self: None)
    monkeypatch.setattr(Workbench, "_configure", stopped)
    monkeypatch.setattr(Workbench, "_put", lambda self, files: (held.append(is_steady(self)), put(self, files)))
    with pytest.raises(InterruptedError):
        made._make(changes.Change("mine", {NAME: b"changed"}), "key", lambda stage: None, 1)
    assert held == [True]
    assert (made.tree / NAME).read_bytes() == b"changed"
    assert made.path(NAME).read_bytes() == b"original"


@pytest.mark.parametrize("what", ["tcp_my.c", "reno", "sysctl:net.ipv4.tcp_sack=0", "variant:2"])
def test_the_first_build_has_as_many_compilers_as_were_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """It is the longest one: the kernel without the change."""
    jobs: list[int | None] = []

    def stopped(self: Workbench, change: Any, key: str, report: Any, asked: int | None, begun: int = 0) -> None:
        jobs.append(asked)
        raise InterruptedError

    made = bench(tmp_path / "bench")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tcp_my.c").touch()
    monkeypatch.setattr(contender.workbench, "open_workbench", lambda source, report: made)
    monkeypatch.setattr(Workbench, "_kept", lambda self, key, change: None)
    monkeypatch.setattr(Workbench, "_make", stopped)
    with pytest.raises(InterruptedError):
        contender.pair(what, "1" if what == "variant:2" else None, "7.3", lambda stage: None, 3)
    assert jobs == [3]


def test_a_first_build_that_was_interrupted_counts_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, said = bench(tmp_path / "bench"), list[Stage]()

    def compiled(tree: Path, arch: str, product: str, jobs: int, log: Path, step: Callable[[int], None]) -> None:
        for done in (1, 2, 3):
            step(done)
        raise KeyboardInterrupt

    for name in ("_check_room", "_configure"):
        monkeypatch.setattr(Workbench, name, lambda self, *words: None)
    monkeypatch.setattr(Workbench, "_kept", lambda self, key, change: None)
    monkeypatch.setattr("testbed.kernel.image.workbench.make.compile", compiled)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            made.base(said.append, 1)
    assert [(each.done, each.total) for each in said] == [(done, LAB.steps) for done in range(1, 7)]
    (made.home / "base").touch()
    said.clear()
    with pytest.raises(KeyboardInterrupt):
        made.base(said.append, 1)
    assert [(each.done, each.total) for each in said] == [(1, None), (2, None), (3, None)]


def test_an_original_is_kept_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that is killed while it copies leaves no half of a file that is taken for the source."""
    made = bench(tmp_path / "bench")

    def cut(source: Path, copy: Path) -> None:
        copy.write_bytes(b"orig")
        raise KeyboardInterrupt

    monkeypatch.setattr("testbed.kernel.image.workbench.shutil.copyfile", cut)
    with pytest.raises(KeyboardInterrupt):
        made._put({NAME: b"changed"})
    assert made.path(NAME).read_bytes() == b"original"
