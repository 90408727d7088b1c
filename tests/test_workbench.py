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
