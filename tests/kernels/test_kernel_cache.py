"""Which lab kernels are built again, and which one is chosen."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from toykernel import GCC, counted_build, executable, partial_folders

from testbed.error import MachineError
from testbed.kernel.image import recipe
from testbed.kernel.image.build import build
from testbed.kernel.image.cache import Cache


def test_the_same_ingredients_are_not_built_again(tree: Path, cache: Cache) -> None:
    first, _ = counted_build(cache, str(tree))
    (tree / "init.o").write_text("a product")
    (tree / ".git").mkdir()
    (tree / ".git/index").write_text("git's own")
    assert counted_build(cache, str(tree)) == (first, False)


def change_source(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "tcp.c").write_text("/* mine */")


def change_compiler(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tree.with_name("bin") / "gcc", GCC.replace("1.0", "2.0"))


def change_options(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = recipe.load("lab")
    changed = recipe.Recipe(ours.fragment + "CONFIG_MPTCP=y\n", ours.patches)
    monkeypatch.setattr(recipe, "load", lambda use: changed)


def change_patches(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = recipe.load("lab")
    patch, *others = ours.patches
    changed = recipe.Recipe(ours.fragment, (recipe.Patch(patch.name, "Other words.\n" + patch.text), *others))
    monkeypatch.setattr(recipe, "load", lambda use: changed)


@pytest.mark.parametrize("change", [change_source, change_compiler, change_options, change_patches])
def test_another_ingredient_makes_another_kernel_beside_the_first(
    tree: Path,
    cache: Cache,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path, pytest.MonkeyPatch], None],
) -> None:
    first, _ = counted_build(cache, str(tree))
    change(tree, monkeypatch)
    second, compiled = counted_build(cache, str(tree))
    assert compiled
    assert cache.installed() == (first, second)


def test_the_same_kernel_under_another_name_is_copied(tree: Path, cache: Cache) -> None:
    first, _ = counted_build(cache, str(tree), "one")
    second, compiled = counted_build(cache, str(tree), "two")
    assert not compiled
    assert cache.find("one") == first
    assert cache.find("two") == second
    assert not partial_folders(cache)


def test_the_default_kernel_is_debians_preferred_one_and_needs_no_network_again(tree: Path, cache: Cache) -> None:
    image, compiled = counted_build(cache, None)
    assert compiled
    assert image.name == "linux-7.3.10"
    assert image.default
    (tree.parent / "apt.log").unlink()
    assert counted_build(cache, None) == (image, False)
    assert not (tree.parent / "apt.log").exists()


def test_a_version_already_built_becomes_the_default_without_building(tree: Path, cache: Cache) -> None:
    image, _ = counted_build(cache, "7.3")
    assert not image.default
    default, compiled = counted_build(cache, None)
    assert not compiled
    assert default.path == image.path
    assert cache.find(None) == default
    assert cache.installed() == (default,)


def test_the_default_for_todays_compiler_wins_over_a_newer_one(tree: Path, cache: Cache) -> None:
    first, _ = counted_build(cache, None)
    tools = tree.with_name("bin")
    executable(tools / "gcc", GCC.replace("1.0", "2.0"))
    second, _ = counted_build(cache, None)
    assert cache.find(None) == second
    executable(tools / "gcc", GCC)
    assert counted_build(cache, None) == (first, False)
    assert cache.find(None) == first


def test_a_kernel_of_this_recipe_wins_over_a_newer_one_of_another_checkout(tree: Path, cache: Cache) -> None:
    ours, _ = counted_build(cache, None)
    record = cache.records()[0][0]
    with cache.partial() as partial:
        other = replace(record, key="f" * 64, recipe_hash="0" * 64)
        theirs = cache.keep(Path(shutil.copytree(ours.folder, partial / "copy")), other)
    assert cache.installed() == (ours, theirs)
    assert cache.find(None, record.recipe_hash) == ours
    assert cache.find(None, other.recipe_hash) == theirs
    assert cache.find(None, "1" * 64) == theirs  # the newest, while there is none of the recipe
    assert cache.find(record.name, record.recipe_hash) == theirs  # a name is a name: the newest


def test_without_kernels_one_is_told_what_to_type(cache: Cache) -> None:
    with pytest.raises(MachineError) as caught:
        cache.find(None)
    assert caught.value.fix == "testbed kernel build"
    with pytest.raises(MachineError, match="'mine'"):
        cache.find("mine")


def test_a_named_kernel_is_not_the_default(tree: Path, cache: Cache) -> None:
    build(str(tree), "mine", cache=cache)
    with pytest.raises(MachineError):
        cache.find(None)


def test_a_folder_without_a_whole_record_is_not_a_kernel(tree: Path, cache: Cache) -> None:
    image = build(str(tree), cache=cache)
    for name, text in {"torn": '{"name": ', "other": '{"name": "x"}', "list": "[1]"}.items():
        (cache.folder / name).mkdir()
        (cache.folder / name / "kernel.json").write_text(text)
    assert cache.installed() == (image,)
    image.path.unlink()
    assert cache.installed() == ()
