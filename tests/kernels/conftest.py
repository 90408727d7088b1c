"""Fixtures for tests of the lab kernel's build."""

import os
from pathlib import Path

import pytest
from toykernel import KCONFIG, KERNEL, TOOLS, executable, patched_files

from testbed import native_program
from testbed.kernel.image import debian, first_boot
from testbed.kernel.image.cache import Cache


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A toy of Linux, toy tools in front of the real ones, and a cache and a journal of its own."""
    programs = native_program.tools()  # by the real compiler
    monkeypatch.setattr(first_boot, "tools", lambda: programs)
    tree = tmp_path / "linux"
    (tree / "arch/um").mkdir(parents=True)
    (tree / "arch/um/Kconfig").write_text(KCONFIG)
    for path, text in patched_files().items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    executable(tree / "kernel.sh", KERNEL)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in TOOLS.items():
        executable(tools / name, text)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("TOY", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("testbed.package.missing", lambda use: ())
    monkeypatch.setattr(debian, "KEYRING", tools)
    return tree


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache" / "kernels")
