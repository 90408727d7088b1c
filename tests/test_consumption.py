"""What is left of the host's memory, in and outside control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.kernel.consumption import available_bytes

GIB = 1 << 30
FREE = f"MemTotal: {16 << 20} kB\nMemAvailable: {8 << 20} kB\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(FREE)
    (tmp_path / "proc/self/cgroup").write_text("0::/machine/ours\n")
    return tmp_path / "proc"


def group(folder: Path, most: str, taken: int, cached: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{most}\n")
    (folder / "memory.current").write_text(f"{taken}\n")
    (folder / "memory.stat").write_text(f"anon {taken - cached}\ninactive_file {cached}\n")


@pytest.mark.parametrize(
    ("ours", "above", "left"),
    [
        (None, None, 8 * GIB),
        (("max", GIB), ("max", GIB), 8 * GIB),
        ((4 * GIB, GIB), ("max", GIB), 3 * GIB),
        ((4 * GIB, GIB, GIB // 2), None, 3 * GIB + GIB // 2),
        ((4 * GIB, GIB), (2 * GIB, GIB), GIB),
        ((16 * GIB, GIB), None, 8 * GIB),
        ((GIB, 2 * GIB), None, 0),
    ],
    ids=["none", "no limit", "ours", "with files", "the one above", "more than there is", "too much already"],
)
def test_what_is_left_is_the_least_of_the_computers_and_of_the_groups(
    proc: Path, tmp_path: Path, ours: tuple[str, int] | None, above: tuple[str, int] | None, left: int
) -> None:
    groups = tmp_path / "groups"
    for folder, about in ((groups / "machine/ours", ours), (groups / "machine", above)):
        if about is not None:
            group(folder, str(about[0]), *about[1:])
    assert available_bytes(proc, groups) == left


def test_groups_of_the_first_version_and_what_cannot_be_read_change_nothing(proc: Path, tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    group(groups / "machine/ours", "1000", 10)
    (proc / "self/cgroup").write_text("4:memory:/machine/ours\n1:name=systemd:/\n")
    assert available_bytes(proc, groups) == 8 * GIB
    (proc / "self/cgroup").write_text("0::/machine/ours\n")
    (groups / "machine/ours/memory.current").write_text("much\n")
    assert available_bytes(proc, groups) == 8 * GIB
    (proc / "self/cgroup").unlink()
    assert available_bytes(proc, groups) == 8 * GIB
