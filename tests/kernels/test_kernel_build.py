"""What a build of a lab kernel leaves behind: when it works, when it fails, when it is interrupted."""

import json
import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from patience import PATIENCE_S
from toykernel import KCONFIG, executable, partial_folders, snapshot, tarball

from testbed import process
from testbed.error import MachineError, UserError
from testbed.interactive.leftover import leftovers
from testbed.kernel.image.build import KernelImage, Stage, build
from testbed.kernel.image.cache import Cache, find
from testbed.kernel.image.first_boot import LAB_S, boot

OURS = {
    "0001-um-hz-1000.patch",
    "0002-net-sched-testbed.patch",
    "0003-tbf-cut-late.patch",
    "0004-um-time-stamp-counter.patch",
    "0005-nft-numgen-late.patch",
    "0006-tun-orphan.patch",
    "0007-um-cheaper-events.patch",
    "0008-um-refused-mapping.patch",
    "0009-random-inline.patch",
    "0010-um-profile.patch",
    "0011-um-stub-hostile.patch",
    "0012-um-stub-error.patch",
    "0014-um-stub-turnstile.patch",
    "0015-um-timer-due.patch",
    "0016-tbf-pulled.patch",
    "0017-um-interrupts-apart.patch",
    "0018-tcp-testbed.patch",
}


def test_a_tree_becomes_a_kernel_with_its_record(tree: Path, cache: Cache) -> None:
    image = build(str(tree), "mine", cache=cache)
    assert (image.name, image.release, image.default) == ("mine", "7.3.4", False)
    assert image.path.name == "linux"
    assert os.access(image.path, os.X_OK)
    files = {"linux", "config", "build.log", "kernel.json", "features.json"}
    assert {path.name for path in image.folder.iterdir()} == files
    assert json.loads((image.folder / "features.json").read_text())["congestion_controls"] == ["reno", "toy"]
    record = json.loads((image.folder / "kernel.json").read_text())
    assert image.folder.name == f"mine-{record['key'][:12]}"
    assert record["compiler"] == "gcc (toy) 1.0"
    assert record["patches"].keys() == OURS
    assert record["steps"] == 2
    assert cache.installed() == (image,)
    assert not partial_folders(cache)


def test_the_tree_of_the_user_is_left_as_it_was(tree: Path, cache: Cache) -> None:
    before = snapshot(tree)
    build(str(tree), cache=cache)
    assert snapshot(tree) == before


def test_our_patch_raises_hz_and_is_left_out_where_it_is_applied_already(tree: Path, cache: Cache) -> None:
    image = build(str(tree), cache=cache)
    assert "CONFIG_HZ=1000\n" in (image.folder / "config").read_text()
    kconfig = tree / "arch/um/Kconfig"
    kconfig.write_text(KCONFIG.replace("default 100", "default 1000"))
    assert build(str(tree), cache=cache).path != image.path


@pytest.mark.parametrize("ending", ["xz", "gz"])
def test_a_tarball_becomes_a_kernel_named_after_it(tree: Path, cache: Cache, ending: str) -> None:
    assert build(str(tarball(tree, ending)), cache=cache).name == "mine"


@pytest.mark.parametrize("name", ["", "../x", "a b", ".hidden", "-rf"])
def test_a_name_that_is_no_file_name_is_refused(tree: Path, cache: Cache, name: str) -> None:
    with pytest.raises(UserError, match="--name"):
        build(str(tree), name, cache=cache)


def test_an_option_that_does_not_survive_stops_the_build_with_its_name(tree: Path, cache: Cache) -> None:
    (tree / "lacks").write_text("CONFIG_NET_SCH_NETEM")
    with pytest.raises(UserError, match=r"CONFIG_NET_SCH_NETEM=y \(is n\)"):
        build(str(tree), cache=cache)
    assert not partial_folders(cache)


def test_a_compiler_error_is_shown_and_the_log_kept(tree: Path, cache: Cache) -> None:
    (tree / "broken").touch()
    with pytest.raises(UserError, match=r"net/tcp\.c:7:1: error: expected"):
        build(str(tree), cache=cache)
    assert "init/main.o" in (cache.folder / "failed-build.log").read_text()
    assert cache.installed() == ()


def test_missing_tools_are_named_with_the_command(tree: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("testbed.package.which", lambda program: None if program in ("flex", "bc") else program)
    with pytest.raises(MachineError) as caught:
        build(str(tree), cache=cache)
    assert "apt-get install -y flex bc" in caught.value.fix


def test_a_full_disk_is_noticed_before_the_build(tree: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("testbed.kernel.image.build.ROOM_BYTES", 1 << 60)
    with pytest.raises(MachineError, match="GB for a while"):
        build(str(tree), cache=cache)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_named(tree: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(MachineError, match="cannot be written"):
        build(str(tree), cache=Cache(closed / "kernels"))


def test_a_kernel_that_does_not_boot_never_enters_the_cache(tree: Path, cache: Cache) -> None:
    executable(tree / "kernel.sh", "#!/bin/sh\necho 'Kernel panic - not syncing: No working init found.'\nexit 1\n")
    with pytest.raises(MachineError, match="No working init found"):
        build(str(tree), cache=cache)
    assert cache.installed() == ()
    assert not partial_folders(cache)


def test_a_kernel_that_hangs_is_ended(tmp_path: Path) -> None:
    executable(tmp_path / "linux", "#!/bin/sh\necho Booting\nexec sleep 1000\n")
    for limit_s in (0.2, 2, PATIENCE_S):
        first = boot(tmp_path / "linux", limit_s=limit_s)
        assert not first.ok
        assert first.wall_s >= limit_s
        if first.console:  # on a busy computer it may not come so far
            break
    assert first.console == "Booting\n"


def test_an_interrupted_build_leaves_the_cache_as_it_was(tree: Path, cache: Cache) -> None:
    def interrupt(stage: Stage) -> None:
        if stage.what == "compiling":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(str(tree), cache=cache, report=interrupt)
    assert cache.installed() == ()
    assert not partial_folders(cache)
    assert build(str(tree), cache=cache) in cache.installed()


def killed_build(tree: Path, cache: Cache) -> None:
    (tree / "slow").touch()
    program = (
        "import sys; from pathlib import Path\n"
        "from testbed import package\n"
        "from testbed.kernel.image.build import build; from testbed.kernel.image.cache import Cache\n"
        "package.missing = lambda use: ()\n"
        "report = lambda stage: print(stage.done, flush=True)\n"
        "build(sys.argv[1], cache=Cache(Path(sys.argv[2])), report=report)\n"
    )
    with process.start([sys.executable, "-c", program, tree, cache.folder], stdout=process.PIPE) as victim:
        assert victim.stdout is not None
        assert any(line == b"2\n" for line in victim.stdout)
        os.kill(victim.pid, signal.SIGKILL)
    assert partial_folders(cache)
    (tree / "slow").unlink()


def test_what_a_killed_build_left_is_removed_by_the_next(tree: Path, cache: Cache) -> None:
    killed_build(tree, cache)
    image = build(str(tree), cache=cache)
    assert cache.installed() == (image,)
    assert not partial_folders(cache)


def test_what_a_killed_build_left_is_in_the_journal(tree: Path, cache: Cache) -> None:
    killed_build(tree, cache)
    with leftovers() as found:
        ((_, things),) = found
        assert [thing.what for thing in things] == [f"folder {folder}" for folder in partial_folders(cache)]
        for thing in things:
            thing.remove()
    assert not partial_folders(cache)


def test_two_builds_at_once_wait_for_each_other_and_compile_once(tree: Path, cache: Cache) -> None:
    waiting = threading.Event()
    images: list[KernelImage] = []
    stages: list[str] = []

    def report(stage: Stage) -> None:
        stages.append(stage.what)
        if stage.what.startswith("waiting"):
            waiting.set()

    second = threading.Thread(target=lambda: images.append(build(None, cache=cache, report=report)))

    def start_the_second(stage: Stage) -> None:
        if stage.what == "booting it once":
            second.start()
            assert waiting.wait(PATIENCE_S)

    first = build(None, cache=cache, report=start_the_second)
    second.join()
    assert images == [first]
    assert "compiling" not in stages


@pytest.mark.lab
def test_the_built_kernel_keeps_virtual_time() -> None:
    """It slept for an hour by its own clock, and nobody else did."""
    first = boot(find(None).path)
    assert first.ok, first.last_lines
    assert first.wall_s < LAB_S / 10


PATCH = Path(__file__).with_name("cubic-beta-512.patch")


def toy_patch(tmp_path: Path, old: str = "# end", new: str = "# changed") -> Path:
    path = tmp_path / "mine.patch"
    context = "\tint\n \tdefault 1000\n \n"
    path.write_text(f"--- a/arch/um/Kconfig\n+++ b/arch/um/Kconfig\n@@ -85,4 +85,4 @@\n {context}-{old}\n+{new}\n")
    return path


def test_a_patch_of_the_user_makes_another_kernel_that_is_never_the_default(
    tree: Path, cache: Cache, tmp_path: Path
) -> None:
    plain = build(None, cache=cache)
    mine = build(None, "mine", patches=[toy_patch(tmp_path)], cache=cache)
    assert (mine.name, mine.default, cache.find(None).path) == ("mine", False, plain.path)
    record = json.loads((mine.folder / "kernel.json").read_text())
    assert record["patches"].keys() == {*OURS, "mine.patch"}
    assert build(None, "mine", patches=[toy_patch(tmp_path)], cache=cache).path == mine.path
    assert build(None, "mine", patches=[toy_patch(tmp_path, new="# more")], cache=cache).path != mine.path
    assert build(None, cache=cache) == plain


def test_a_patch_that_does_not_fit_or_has_no_name_is_refused(tree: Path, cache: Cache, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--name NAME beside --patch"):
        build(str(tree), patches=[toy_patch(tmp_path)], cache=cache)
    with pytest.raises(UserError, match=r"--patch mine\.patch: does not fit linux"):
        build(str(tree), "mine", patches=[toy_patch(tmp_path, old="# no such line")], cache=cache)
    with pytest.raises(UserError, match="cannot be read"):
        build(str(tree), "mine", patches=[tmp_path / "missing.patch"], cache=cache)
    assert cache.installed() == ()


def test_the_changed_cubic_differs_in_its_beta_alone() -> None:
    lines = PATCH.read_text().splitlines()
    changed = [line for line in lines if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))]
    assert [line.split("=")[1].split(";")[0].strip() for line in changed] == ["717", "512"]
