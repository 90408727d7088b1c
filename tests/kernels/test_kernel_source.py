"""Where a lab kernel comes from: Debian's archive, what the user names, and our recipe."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from toykernel import GCC, counted_build, partial_folders, patched_files, tarball

from testbed.error import MachineError, UserError
from testbed.kernel.image import debian, fit, recipe
from testbed.kernel.image.build import Stage, build
from testbed.kernel.image.cache import Cache
from testbed.kernel.image.workbench import open_workbench


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("7.2", "7.2.9-1"), ("7.3", "7.3.10-1"), ("7.3.3", "7.3.3-1"), ("7.3.3-1", "7.3.3-1")],
)
def test_a_version_is_its_newest_release(tree: Path, tmp_path: Path, wanted: str, found: str) -> None:
    assert debian.Archive(tmp_path / "apt", debian.MIRROR).newest(wanted).version == found


def test_without_the_preferred_package_the_newest_is_taken(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debian, "DEFAULT_PACKAGE", "linux-source-6.0")
    assert debian.Archive(tmp_path / "apt", debian.MIRROR).newest(None).version == "9.1.2-1"


def test_an_unknown_version_is_refused_with_those_that_exist(tree: Path, cache: Cache) -> None:
    with pytest.raises(UserError, match=r"7\.1: no such version.*allowed: 7\.2\.9, 7\.3\.10, 7\.3\.3"):
        build("7.1", cache=cache)


def test_without_a_network_the_package_fetched_before_is_used(tree: Path, cache: Cache) -> None:
    build("7.3", cache=cache)
    (tree.parent / "offline").touch()
    (tree.parent / "bin/gcc").write_text(GCC.replace("1.0", "2.0"))
    image, compiled = counted_build(cache, "7.3")
    assert compiled
    assert image.name == "linux-7.3.10"


def test_without_a_network_and_without_a_package_the_reason_is_given(tree: Path, cache: Cache) -> None:
    (tree.parent / "offline").touch()
    with pytest.raises(MachineError, match=r"(?s)no kernel from .*Could not resolve"):
        build(cache=cache)


def test_one_package_is_kept_the_last_one_used(tree: Path, cache: Cache) -> None:
    build("7.2", cache=cache)
    build("7.3", cache=cache)
    kept = [path.name for path in (cache.folder.parent / "debian").rglob("*.deb")]
    assert kept == ["linux-source-7.3_7.3.10-1_all.deb"]


def test_apt_reads_our_sources_last_and_nothing_of_the_users(tree: Path, cache: Cache) -> None:
    build(cache=cache)
    apt = cache.folder.parent / "debian"
    assert "sourceparts" in (apt / "apt.conf").read_text()
    assert "signed-by=" in (apt / "sources.list").read_text()
    commands = (tree.parent / "apt.log").read_text().splitlines()
    assert all(f"-c {apt}/apt.conf" in command for command in commands)


def an_empty_folder(tmp_path: Path) -> Path:
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def a_text_file(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("no kernel")
    return tmp_path / "notes.txt"


def a_torn_tarball(tmp_path: Path) -> Path:
    noise = tmp_path / "linux/noise"
    noise.write_bytes(os.urandom(50_000))
    path = tarball(tmp_path / "linux", "gz")
    path.write_bytes(path.read_bytes()[:20_000])
    return path


def a_tarball_of_something_else(tmp_path: Path) -> Path:
    an_empty_folder(tmp_path).joinpath("file").touch()
    return tarball(tmp_path / "empty", "gz")


def nothing(tmp_path: Path) -> Path:
    return tmp_path / "absent"


@pytest.mark.parametrize(
    ("make_source", "message"),
    [
        (nothing, "does not exist.*allowed: a version"),
        (an_empty_folder, "is not a Linux source tree"),
        (a_text_file, "is not a tarball"),
        (a_torn_tarball, "cannot be unpacked"),
        (a_tarball_of_something_else, "is not a Linux source tree"),
    ],
)
def test_a_bad_source_is_refused_with_the_reason(
    tree: Path, cache: Cache, tmp_path: Path, make_source: Callable[[Path], Path], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        build(str(make_source(tmp_path)), cache=cache)
    assert cache.installed() == ()
    assert not partial_folders(cache)


def test_options_are_read_in_both_spellings() -> None:
    config = 'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C="x"\nCONFIG_HZ=1000\n# CONFIG_D=y\n'
    assert recipe.options(config) == {
        "CONFIG_A": "y",
        "CONFIG_B": "n",
        "CONFIG_C": '"x"',
        "CONFIG_HZ": "1000",
    }


def test_an_unwanted_option_that_is_on_is_refused() -> None:
    wanted = recipe.Recipe("CONFIG_SMP=n\nCONFIG_HZ=1000\nCONFIG_NET=y\nCONFIG_BLOCK=n\n", ())
    refused = wanted.refused("CONFIG_SMP=y\nCONFIG_HZ=100\nCONFIG_NET=y\n")
    assert refused == ("CONFIG_SMP=n (is y)", "CONFIG_HZ=1000 (is 100)")


@pytest.mark.parametrize("use", ["lab", "vm"])
def test_each_option_of_our_recipes_stands_once_and_each_patch_says_why(use: recipe.Use) -> None:
    ours = recipe.load(use)
    lines = [line for line in ours.fragment.splitlines() if line and not line.startswith("#")]
    assert len(lines) == len(ours.wanted)
    assert bool(ours.patches) == (use == "lab")
    for patch in ours.patches:
        assert len(patch.text.split("--- a/")[0].split()) > 10


def makefile(tree: Path, version: str) -> None:
    (tree / "Makefile").write_text("VERSION = {}\nPATCHLEVEL = {}\nSUBLEVEL = {}\n".format(*version.split(".")))


def test_a_source_without_seccomp_mode_is_refused_before_anything_is_compiled(tree: Path, cache: Cache) -> None:
    makefile(tree, "6.12.117")
    (tree / "arch/um/os-Linux/start_up.c").write_text("static int __init check_ptrace(void)\n")
    stages: list[Stage] = []
    with pytest.raises(UserError) as caught:
        build(str(tree), cache=cache, report=stages.append)
    assert "linux (Linux 6.12.117) cannot become a lab kernel: its User-Mode Linux has no seccomp mode" in str(
        caught.value
    )
    assert "allowed: Linux 7.2 or 7.3" in str(caught.value)
    assert not any(stage.what == "compiling" for stage in stages)
    assert cache.installed() == ()
    assert not partial_folders(cache)


def test_each_patch_that_does_not_fit_is_named_with_its_files(tree: Path, cache: Cache) -> None:
    makefile(tree, "7.9.1")
    (tree / "drivers/net/tun.c").write_text("/* all is new */\n")
    (tree / "net/netfilter/nft_numgen.c").unlink()
    with pytest.raises(UserError) as caught:
        build(str(tree), cache=cache)
    said = str(caught.value)
    assert "our patch 0005-nft-numgen-late.patch does not fit net/netfilter/nft_numgen.c (which is not there)" in said
    assert "nor does 0006-tun-orphan.patch" in said
    assert "0007" not in said
    (tree / "net/netfilter/nft_numgen.c").write_text(patched_files()["net/netfilter/nft_numgen.c"])
    with pytest.raises(UserError, match=r"0006-tun-orphan\.patch does not fit drivers/net/tun\.c \(2 of 2 parts\);"):
        build(str(tree), cache=cache)


def test_a_kernel_for_virtual_machines_needs_none_of_this(tree: Path, tmp_path: Path) -> None:
    (tree / "arch/um/os-Linux/start_up.c").write_text("")
    fit.prepare(tree, recipe.load("vm"), "old")


def test_testbed_cc_refuses_the_same_sources(tree: Path) -> None:
    (tree / "arch/um/os-Linux/start_up.c").write_text("")
    with pytest.raises(UserError, match="cannot become a lab kernel: its User-Mode Linux has no seccomp mode"):
        open_workbench(str(tree))
    trees = Path(os.environ["XDG_CACHE_HOME"]) / "testbed" / "trees"
    assert not [*trees.glob("*/tree")]
