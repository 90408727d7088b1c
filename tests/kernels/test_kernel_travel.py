"""A lab kernel as a file, and the kernels and programs that root keeps for all users."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from toykernel import KERNEL, counted_build

from testbed import cache_folder, native_program
from testbed.error import MachineError, UserError
from testbed.kernel.image import cache as image_cache
from testbed.kernel.image import recipe, travel
from testbed.kernel.image.build import build
from testbed.kernel.image.cache import Cache, KernelImage
from testbed.kernel.ready import feasibility
from testbed.kernel.ready.probe import Lacking
from testbed.spec.load import load_topology

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root keeps files for all users")


@pytest.fixture
def built(tree: Path, monkeypatch: pytest.MonkeyPatch) -> KernelImage:
    """A kernel in the user's cache, and no other one on this computer."""
    monkeypatch.setattr(cache_folder, "SHARED", ())
    return counted_build(image_cache.user_cache(), str(tree), "toy")[0]


@pytest.fixture
def exported(built: KernelImage, tmp_path: Path) -> tuple[Path, str]:
    image, parcel = travel.export("toy")
    assert image == built
    file = tmp_path / "toy.tar.gz"
    file.write_bytes(parcel.data)
    return file, parcel.digest


@pytest.fixture
def for_all(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that only root can have filled; every folder above it, too."""
    folder = Path(tempfile.mkdtemp(prefix="testbed-test-", dir="/var/cache"))
    folder.chmod(0o755)
    monkeypatch.setattr(cache_folder, "SHARED", (folder,))
    monkeypatch.setattr(travel, "SHARED", (folder,))
    yield folder
    shutil.rmtree(folder)


def shared(exported: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> KernelImage:
    """Imported for all, with a toy in place of our programs."""

    def compiled(partial: Path) -> None:
        (partial / "confine").write_text("toy")
        umask = os.umask(0)
        os.umask(umask)
        (partial / "confine").chmod(0o777 & ~umask)  # as a linker does

    monkeypatch.setattr(native_program, "_build", compiled)
    return travel.import_(*exported, for_all=True)


def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From now on the user is on another computer."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another computer"))


def test_a_kernel_travels_as_a_file_and_boots_before_it_is_kept(
    exported: tuple[Path, str], built: KernelImage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert travel.export("toy")[1].digest == exported[1], "the same kernel gives the same bytes"
    elsewhere(monkeypatch, tmp_path)
    assert image_cache.installed() == ()
    kept = travel.import_(*exported)
    assert kept.path.read_bytes() == (tmp_path / "home/testbed/kernels" / built.folder.name / "linux").read_bytes()
    assert (kept.name, kept.key, kept.recipe_hash) == (built.name, built.key, built.recipe_hash)
    assert (kept.folder / "features.json").exists(), "it was asked here what it has"
    assert image_cache.find("toy") == kept


@pytest.mark.parametrize("digest", ["", "0" * 63, "F" * 64, "x" * 64])
def test_a_digest_that_is_none_is_refused(exported: tuple[Path, str], digest: str) -> None:
    with pytest.raises(UserError, match="64 hexadecimal digits"):
        travel.import_(exported[0], digest)


def test_a_file_with_another_digest_is_refused_before_it_is_read(
    exported: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere(monkeypatch, tmp_path)
    with pytest.raises(UserError, match="is not the kernel that is meant"):
        travel.import_(exported[0], "0" * 64)
    with pytest.raises(UserError, match="cannot be read"):
        travel.import_(tmp_path / "nothing", "0" * 64)
    assert image_cache.installed() == ()


def with_files(change: Callable[[dict[str, bytes]], None], file: Path) -> str:
    """Makes a kernel's file another one; its digest."""
    with tarfile.open(file) as archive:
        files = {about.name: archive.extractfile(about).read() for about in archive}  # type: ignore[union-attr]
    change(files)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            about = tarfile.TarInfo(name)
            about.size, about.mode = len(data), 0o755
            archive.addfile(about, io.BytesIO(data))
    file.write_bytes(gzip.compress(buffer.getvalue()))
    return hashlib.sha256(file.read_bytes()).hexdigest()


def record(**keys: object) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        files["kernel.json"] = json.dumps({**json.loads(files["kernel.json"]), **keys}).encode()

    return change


BAD: dict[str, tuple[Callable[[dict[str, bytes]], None], str]] = {
    "one more file": (lambda files: files.update({"evil.so": b""}), "is no lab kernel"),
    "no kernel": (lambda files: files.pop("linux") and None, "is no lab kernel"),
    "a way out": (lambda files: files.update({"../linux": b""}), "no file or folder inside it"),
    "a name that is a path": (record(name="../../x"), "names no kernel"),
    "a key that is a path": (record(key="../" * 5), "key is no SHA-256"),
    "an unknown key": (record(more=1), "is no lab kernel"),
    "a date that is none": (record(built=5), "names no kernel"),
    "a compiler that moves the cursor": (record(compiler="gcc\x1b[2J"), "names no kernel"),
    "patches that are no table": (record(patches=[]), "names no kernel"),
    "no JSON": (lambda files: files.update({"kernel.json": b"{"}), "is no lab kernel"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_kernel_is_refused(
    name: str, exported: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    change, says = BAD[name]
    elsewhere(monkeypatch, tmp_path)
    digest = with_files(change, exported[0])
    with pytest.raises(UserError, match=says):
        travel.import_(exported[0], digest)
    assert image_cache.installed() == ()


def test_a_kernel_that_does_not_boot_is_not_kept(
    exported: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere(monkeypatch, tmp_path)
    digest = with_files(lambda files: files.update({"linux": b"#!/bin/sh\necho panic\n"}), exported[0])
    with pytest.raises(MachineError, match="does not run here"):
        travel.import_(exported[0], digest)
    assert image_cache.installed() == ()


def test_another_program_from_the_same_ingredients_comes_only_when_asked_for(
    exported: tuple[Path, str], built: KernelImage
) -> None:
    digest = with_files(lambda files: files.update({"linux": KERNEL.encode() + b"# a door\n"}), exported[0])
    with pytest.raises(UserError, match=r"is another program; allowed: .*--replace"):
        travel.import_(exported[0], digest)
    assert travel.executable(image_cache.find("toy")) == travel.executable(built)
    kept = travel.import_(exported[0], digest, replace=True)
    assert image_cache.installed() == (kept,)
    assert kept.path.read_bytes().endswith(b"# a door\n")


@NEEDS_ROOT
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_one_kernel_and_one_compilation_serve_all_users(
    umask: int, exported: tuple[Path, str], for_all: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = os.umask(umask)
    try:
        kept = shared(exported, monkeypatch)
    finally:
        os.umask(before)
    assert kept.folder.parent == for_all / "kernels"
    for path in (kept.path, kept.folder / "kernel.json", *(for_all / "tools").glob("*/*")):
        is_program = path.name in ("linux", "confine")
        assert path.stat().st_mode & 0o777 == (0o755 if is_program else 0o644), path
    elsewhere(monkeypatch, tmp_path)
    assert image_cache.find("toy") == kept
    assert native_program.tools().folder.parent == for_all / "tools"
    assert native_program.tools().agent.parent == for_all / "tools"
    assert not (tmp_path / "another computer/testbed/tools").exists(), "nothing is compiled for this user"


CHANGES: dict[str, Callable[[Path], None]] = {
    "a folder above that a group may write to": lambda home: home.chmod(0o775),
    "a folder above that is a user's": lambda home: os.chown(home, 1000, 1000),
    "the kernels' folder": lambda home: (home / "kernels").chmod(0o777),
    "the kernel itself": lambda home: os.chown(next(home.glob("kernels/*/linux")), 1000, 1000),
    "its record": lambda home: next(home.glob("kernels/*/kernel.json")).chmod(0o666),
}


@NEEDS_ROOT
@pytest.mark.parametrize("name", CHANGES)
def test_nobody_runs_what_others_than_root_could_have_put_there(
    name: str, exported: tuple[Path, str], for_all: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shared(exported, monkeypatch)
    elsewhere(monkeypatch, tmp_path)
    assert len(image_cache.installed()) == 1
    CHANGES[name](for_all)
    assert image_cache.installed() == ()


@NEEDS_ROOT
def test_programs_for_all_that_are_another_users_or_damaged_are_compiled_anew(
    exported: tuple[Path, str], for_all: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shared(exported, monkeypatch)
    elsewhere(monkeypatch, tmp_path)
    compiled = native_program.tools().folder
    with (compiled / "confine").open("ab") as file:
        file.write(b"x")
    assert native_program.tools().folder != compiled


@NEEDS_ROOT
def test_a_build_takes_the_kernel_for_all_and_a_link_leads_nowhere(
    tree: Path, for_all: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernels = Cache(for_all / "kernels")
    (for_all / "kernels").mkdir(mode=0o755)
    made = build(str(tree), "toy", cache=kernels)
    known = json.loads((made.folder / "kernel.json").read_text())
    ours = recipe.load("lab").sha256
    (made.folder / "kernel.json").write_text(json.dumps({**known, "is_default": True, "recipe_hash": ours}))
    made.folder.chmod(0o755)
    assert build().path == made.path, "nothing is built, and no compiler asked"
    (made.folder / "linux").rename(tmp_path / "moved")
    (made.folder / "linux").symlink_to(tmp_path / "moved")
    assert image_cache.installed() == ()


def test_for_all_needs_root(exported: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(UserError, match="which only root may"):
        travel.import_(*exported, for_all=True)


def test_a_network_without_a_kernel_is_told_to_build_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The host's kernel needs root, the lab kernel nothing but to be built: that is what to type."""
    (tmp_path / "net.yaml").write_text(
        "name: net\nnodes: {a: {type: host}, b: {type: host}}\nlinks: {l: {ends: [a, b]}}\n"
    )
    said = {"root": Lacking("the host's kernel needs root", "sudo testbed …, or a lab kernel")}
    lack = {**said, "lab kernel": Lacking("no lab kernel has been built yet", "testbed kernel build")}
    monkeypatch.setattr(feasibility, "lacking", lambda name: lack.get(name))
    with pytest.raises(MachineError) as error:
        feasibility.place_for(load_topology(tmp_path / "net.yaml"), None)
    assert error.value.fix == "testbed kernel build"
