"""The profile of a lab kernel: which files are compiled by it, and what is said where there is none."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from runs import files_of
from toykernel import executable
from typer.testing import CliRunner

from testbed import process
from testbed.cache_folder import user_folder
from testbed.commands.computer import kernel
from testbed.error import MachineError
from testbed.kernel.image import cache as kernel_cache
from testbed.kernel.image import feature, make, recipe
from testbed.kernel.image.build import KernelImage, build
from testbed.kernel.image.cache import Cache
from testbed.process import CommandError
from testbed.spec.load import load_scenario
from testbed.trial import run as runner
from testbed.trial.orders.sequence import orders

HOT = ("net/core/dev.o", "net/core/skbuff.o")
# Called as the kernel's make says: FLAGS -c -o OBJECT SOURCE. It leaves its flags, and refuses another file's profile.
COMPILER = """#!/bin/sh
for source do :; done
object=${source%.c}
case "$*" in *-fprofile-use*)
    [ "$(cat "$object.gcda")" = "counted $object" ] || { echo "$source:1:1: error: the profile does not fit"; exit 1; }
esac >&2
echo "$source $*" >>net/flags
"""


@pytest.fixture
def hot_tree(tree: Path) -> Path:
    """A tree with two files to profile."""
    executable(tree / "compile.sh", COMPILER)
    for name in HOT:
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        words = f"./compile.sh -O2 -c -o {name} {name[:-1]}c  ; ./tools/check {name}"
        path.with_name(f".{path.name}.cmd").write_text(f"savedcmd_{name} := {words}\n\nsource_{name} := x\n")
    return tree


def trained(written: Callable[[str], str] = lambda name: f"counted {name}", left_out: str = "") -> make.Train:
    """Trials that count each object; a kernel that was not compiled to count fails them."""

    def train(linux: Path, counts: Path) -> None:
        assert all(f"# {name[:-1]}c -O2 {' '.join(make.COUNT)} -c" in linux.read_text() for name in HOT)
        for name in HOT:
            if name != left_out:
                file = counts / linux.parent.resolve().relative_to("/") / f"{name[:-2]}.gcda"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(written(name[:-2]))

    return train


def told(image: KernelImage) -> str:
    said = json.loads((image.folder / "kernel.json").read_text())["profile"]
    assert said == image.profile
    return str(said)


def test_the_hot_files_are_compiled_by_what_trials_counted(hot_tree: Path, cache: Cache) -> None:
    image = build(str(hot_tree), cache=cache, train=trained())
    assert told(image) == "training.yaml"
    used = [line for line in image.path.read_text().splitlines() if "-fprofile-use" in line]
    assert sorted(used) == [f"# {name[:-1]}c -O2 {' '.join(make.USE)} -c -o {name} {name[:-1]}c" for name in HOT]
    assert "# version 1" in image.path.read_text().splitlines()  # however often it was linked: the entropy has it
    assert feature.read(image.folder) is not None
    assert build(str(hot_tree), cache=cache, train=trained()) == image


def test_a_kernel_whose_trials_fail_is_kept_without_a_profile_and_says_why(hot_tree: Path, cache: Cache) -> None:
    def train(linux: Path, counts: Path) -> None:
        raise MachineError("there is no ip", "apt-get install iproute2")

    image = build(str(hot_tree), cache=cache, train=train)
    assert told(image) == "none: there is no ip; to fix it, type: apt-get install iproute2"
    assert "-fprofile" not in image.path.read_text()


def test_a_full_disk_while_it_trains_costs_the_profile_and_not_the_kernel(hot_tree: Path, cache: Cache) -> None:
    def train(linux: Path, counts: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/testbed-training")

    image = build(str(hot_tree), cache=cache, train=train)
    assert told(image) == "none: [Errno 28] No space left on device: '/tmp/testbed-training'"
    assert "-fprofile" not in image.path.read_text()


def test_a_file_that_was_not_counted_is_named(hot_tree: Path, cache: Cache) -> None:
    image = build(str(hot_tree), cache=cache, train=trained(left_out="net/core/dev.o"))
    assert told(image) == "none: the kernel that counts wrote nothing of net/core/dev.o"
    assert "-fprofile" not in image.path.read_text()


def test_a_profile_that_does_not_fit_is_never_used(hot_tree: Path, cache: Cache) -> None:
    image = build(str(hot_tree), cache=cache, train=trained(lambda name: "counted another file"))
    assert "cannot be compiled with -fprofile-use: net/core/" in told(image)
    assert "the profile does not fit" in told(image)
    assert "-fprofile" not in image.path.read_text()


def test_whoever_has_a_kernel_without_a_profile_is_told_how_to_try_again(
    hot_tree: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mended or not, what kept it from one: the same build takes the kernel that is there."""
    image = build(str(hot_tree), cache=cache, train=trained(left_out="net/core/dev.o"))
    assert build(str(hot_tree), cache=cache, train=trained()) == image
    monkeypatch.setattr(kernel, "build", lambda *args, **options: image)
    said = " ".join(CliRunner().invoke(kernel.app, ["build"]).stdout.split())
    assert "wrote nothing of net/core/dev.o" in said
    assert f"to try again: rm -r {image.folder}, and build" in said
    monkeypatch.setattr(kernel, "installed", lambda: (image,))
    listed = " ".join(CliRunner().invoke(kernel.app, ["list"]).stdout.split())
    assert "has no profile, so its trials take more CPU time (none: the kernel that counts wrote nothing of" in listed
    shutil.rmtree(image.folder)
    assert told(build(str(hot_tree), cache=cache, train=trained())) == "training.yaml"


def test_a_source_without_the_files_has_no_profile(tree: Path, cache: Cache) -> None:
    image = build(str(tree), cache=cache, train=trained())
    assert told(image) == "none: the source has none of the files to profile"


def test_a_kernel_that_nobody_trains_does_not_say_that_it_has_a_profile(hot_tree: Path, cache: Cache) -> None:
    assert told(build(str(hot_tree), cache=cache)) == ""


def test_an_object_that_no_compiler_made_is_refused(hot_tree: Path) -> None:
    (hot_tree / "net/core/.dev.o.cmd").write_text("savedcmd_net/core/dev.o := ld -r -o net/core/dev.o\n")
    with pytest.raises(make.ProfileError, match=r"how net/core/dev\.o was compiled: 'ld -r"):
        make.command(hot_tree, "net/core/dev.o", make.USE)


def test_a_changed_list_or_scenario_is_another_recipe() -> None:
    ours = recipe.load("lab")
    others = [
        recipe.Recipe(ours.fragment, ours.patches, ours.hot[1:], ours.training),
        recipe.Recipe(ours.fragment, ours.patches, ours.hot, f"{ours.training} "),
        recipe.Recipe(ours.fragment, ours.patches),
    ]
    assert len({each.sha256 for each in (ours, *others)}) == 4
    assert (recipe.load("vm").hot, recipe.load("vm").training) == ((), "")


def test_the_list_names_each_object_once() -> None:
    hot = recipe.load("lab").hot
    assert len(hot) == 75
    assert list(hot) == sorted(set(hot))
    assert all(name.endswith(".o") for name in hot)


def test_the_trials_of_the_profile_are_not_those_that_judge_it() -> None:
    trials = load_scenario(kernel.FILE).trials()
    assert len(trials) == 4
    for trial in trials:
        assert orders(trial).steps
        (link,) = trial.topology.links
        assert (link.forward.rate_bps, link.rtt_ns) == (10**9, 20_000_000)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_the_compiler_itself_refuses_a_profile_that_is_missing_or_of_another_function(tmp_path: Path) -> None:
    def compiled(flags: tuple[str, ...], *more: str) -> None:
        process.run(("gcc", "-O2", *flags, "-c", "-o", "hot.o", "hot.c", *more), cwd=tmp_path)

    body = "int hot(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += {}; return s; }}"
    end = "int main(int n, char **v) { (void)v; return hot(9 * n) < 0; }\n"
    (tmp_path / "hot.c").write_text(body.format("i") + end)
    with pytest.raises(CommandError, match="missing-profile"):
        compiled(make.USE)
    compiled(make.COUNT)
    process.run(("gcc", "--coverage", "-o", "hot", "hot.o"), cwd=tmp_path)
    process.run((tmp_path / "hot",), cwd=tmp_path)
    compiled(make.USE)
    (tmp_path / "hot.c").write_text(body.format("i % 3 ? i : (i & 4) ? n : 7") + end)
    with pytest.raises(CommandError, match="coverage-mismatch"):
        compiled(make.USE)


@pytest.mark.lab
@pytest.mark.nightly
def test_trials_write_the_same_bytes_with_a_profile_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draw that depends on what the compiler inlines, or a miscompiled file, would be seen here. Takes a build."""
    ours = kernel_cache.find(None)
    assert ours.profile == recipe.TRAINING, "the lab kernel has no profile, so nothing can be compared"
    home, shared = tmp_path / "testbed", user_folder()
    home.mkdir()
    for name in ("tools", "debian", "cores"):
        (home / name).symlink_to(shared / name)
    bare = build(cache=Cache(home / "kernels"))
    assert (bare.profile, bare.key) == ("", ours.key)
    assert bare.path.read_bytes() != ours.path.read_bytes()
    for number, trial in enumerate(load_scenario(kernel.FILE, ["workload.duration=1 s"]).trials()):
        made = orders(trial)
        folders = [tmp_path / f"{number}-{name}" for name in ("with", "without")]
        for folder, cache_home in zip(folders, (shared.parent, tmp_path), strict=True):
            monkeypatch.setenv("XDG_CACHE_HOME", str(cache_home))
            folder.mkdir()
            assert runner.run(trial, made, folder).verdict == "valid"
        found, expected = (files_of(folder, but=("host.json",)) for folder in folders)
        assert len(found) > 10
        assert [name for name in expected if found.get(name) != expected[name]] == []
        assert found.keys() == expected.keys()
