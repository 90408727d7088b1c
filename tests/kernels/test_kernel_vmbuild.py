"""A kernel for virtual machines, built from source."""

import json
from pathlib import Path

import pytest

from testbed import native_program
from testbed.error import MachineError, UserError
from testbed.kernel.image.build import Stage
from testbed.kernel.vm import build, hypervisor, kernel_cache


@pytest.fixture(autouse=True)
def own_cache(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "native"
    folder.mkdir()
    (folder / "vminit").write_text("our init")
    monkeypatch.setattr(native_program, "tools", lambda: native_program.Tools(folder, "toy"))
    hypervisor.version.cache_clear()


def test_a_tree_becomes_a_kernel_that_machines_can_name(tree: Path) -> None:
    made = build.make(str(tree), "mine")
    assert kernel_cache.find("mine") == made
    assert (made.release, made.default, made.image.read_text()) == ("7.3.4", False, "ARCH=x86_64\n")
    assert made.source.startswith("tree ")
    archive = kernel_cache.initramfs_of(made, native_program.tools().folder / "vminit").read_bytes()
    assert b"our init" in archive
    assert b".ko" not in archive
    with pytest.raises(MachineError, match="no kernel for virtual machines"):
        kernel_cache.find(None)


def test_it_is_built_once_and_again_when_a_patch_changes(tree: Path, tmp_path: Path) -> None:
    stages: list[Stage] = []
    first = build.make(str(tree), "mine")
    assert build.make(str(tree), "mine", report=stages.append) == first
    assert "compiling" not in {stage.what for stage in stages}
    patch = tmp_path / "mine.patch"
    patch.write_text("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n")
    changed = build.make(str(tree), "mine", patches=[patch])
    assert changed.source != first.source
    assert "mine.patch" in changed.source
    assert kernel_cache.find("mine") == changed


def test_without_a_name_it_is_what_machines_have_that_name_none(tree: Path) -> None:
    made = build.make()
    assert (made.name, made.default, kernel_cache.find(None)) == ("linux-7.3.10", True, made)
    assert not build.make(name="mine").default
    assert kernel_cache.find(None) == made


def test_one_that_does_not_boot_is_not_kept_and_shows_its_console(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "panics").touch()
    with pytest.raises(MachineError, match=r"(?s)does not run in a virtual machine.*not syncing: toy"):
        build.make(str(tree), "mine")
    assert kernel_cache.installed() == ()


def test_an_option_that_does_not_survive_is_named(tree: Path) -> None:
    (tree / "lacks").write_text("CONFIG_VIRTIO_NET")
    with pytest.raises(UserError, match=r"kernel for virtual machines needs: CONFIG_VIRTIO_NET=y \(is n\)"):
        build.make(str(tree), "mine")
    assert kernel_cache.installed() == ()


def test_its_record_tells_what_it_was_made_of(tree: Path) -> None:
    made = build.make(str(tree), "mine")
    about = json.loads((made.folder / "kernel.json").read_text())
    assert about.keys() == {"name", "release", "source", "default", "made"}
