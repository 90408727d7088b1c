"""A change to a kernel's source, and the tree that is kept for it: with a toy of Linux."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from patience import PATIENCE_S
from toykernel import tarball

from testbed.error import MachineError, UserError
from testbed.kernel.image import build, change, workbench
from testbed.kernel.image.build import Stage
from testbed.kernel.image.workbench import Workbench, open_workbench

CUBIC = 'int cubic;\nint beta = 717;\nint end;\nMODULE_VERSION("2.3");\n'
FOO = """
static struct tcp_congestion_ops foo __read_mostly = {
	.init		= foo_init,
	.name		= "foo",
	.owner		= THIS_MODULE,
};
static int __init foo_register(void) { return tcp_register_congestion_control(&foo); }
"""
PATCH = """--- a/net/ipv4/tcp_cubic.c
+++ b/net/ipv4/tcp_cubic.c
@@ -1,3 +1,3 @@
 int cubic;
-int beta = 717;
+int beta = 512;
 int end;
"""


@pytest.fixture
def source(tree: Path) -> Path:
    """The toy with a congestion control, and the version of a kernel."""
    (tree / "Makefile").write_text("VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n")
    place = tree / "net/ipv4"
    place.mkdir(parents=True, exist_ok=True)
    (place / "tcp_cubic.c").write_text(CUBIC)
    (place / "tcp_lonely.c").write_text("int lonely;\n")
    (place / "Makefile").write_text("obj-y += tcp_cubic.o\n")
    (place / "Kconfig").write_text("config INET\n")
    return tree


@pytest.fixture
def bench(source: Path) -> Workbench:
    return open_workbench(str(source))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def adding() -> str:
    """A patch that adds the control foo."""
    lines = "".join(f"+{line}\n" for line in FOO.splitlines())
    return f"--- /dev/null\n+++ b/net/ipv4/tcp_foo.c\n@@ -0,0 +1,{len(FOO.splitlines())} @@\n{lines}"


def test_a_patch_or_tree_whose_new_control_neither_side_would_run_is_refused(
    tmp_path: Path, bench: Workbench, source: Path
) -> None:
    """Both sides would run cubic, and "the same" would say nothing about foo."""
    said = "tcp_foo.c adds the congestion control foo, which neither side would run; allowed: testbed cc tcp_foo.c"
    with pytest.raises(UserError, match=said):
        change.of_patch(patched(tmp_path, adding()), bench)
    other = tmp_path / "other"
    shutil.copytree(source, other)
    (other / "net/ipv4/tcp_foo.c").write_text(FOO)
    with pytest.raises(UserError, match=said):
        change.of_tree(other, bench)
    both = change.of_patch(patched(tmp_path, PATCH + adding()), bench)  # cubic runs, and is what changes
    assert both.control == "cubic"


def patched(tmp_path: Path, text: str = PATCH) -> Path:
    return write(tmp_path / "mine.patch", text)


def test_a_patch_makes_a_kernel_that_differs_in_one_object(bench: Workbench, tmp_path: Path) -> None:
    made = change.of_patch(patched(tmp_path), bench)
    assert made.control == "cubic"
    built = bench.build(made)
    assert (built.objects, built.is_base_code, built.is_new) == (("net/ipv4/tcp_cubic.o",), False, True)
    assert "beta = 512" in built.image.path.read_text()
    assert "beta = 717" in bench.base().image.path.read_text()


def test_a_second_build_of_the_same_change_compiles_nothing(bench: Workbench, tmp_path: Path) -> None:
    first = bench.build(change.of_patch(patched(tmp_path), bench))
    stages: list[Stage] = []
    again = bench.build(change.of_patch(patched(tmp_path), bench), stages.append)
    assert (again.image, again.objects, again.is_new, stages) == (first.image, first.objects, False, [])


def test_one_change_after_another_compiles_only_what_differs(bench: Workbench, tmp_path: Path) -> None:
    bench.build(change.of_patch(patched(tmp_path), bench))
    other = bench.build(change.of_file(write(tmp_path / "tcp_foo.c", FOO), bench, ("reno", "toy")))
    assert other.objects == ("net/ipv4/tcp_foo.o",)
    text = other.image.path.read_text()
    assert "beta = 717" in text  # what the patch changed is as it was
    assert ".name" in text
    assert (bench.tree / "net/ipv4/tcp_cubic.c").read_text().startswith(CUBIC)  # then what our patch adds


def test_the_source_of_the_user_is_left_as_it_was(source: Path, bench: Workbench, tmp_path: Path) -> None:
    bench.build(change.of_patch(patched(tmp_path), bench))
    assert (source / "net/ipv4/tcp_cubic.c").read_text() == CUBIC
    assert not (source / "linux").exists()


def test_a_new_control_is_known_by_name_and_its_option_alone_is_added(bench: Workbench, tmp_path: Path) -> None:
    made = change.of_file(write(tmp_path / "tcp_foo.c", FOO), bench, ("reno", "toy"))
    assert (made.control, made.adds, made.option) == ("foo", True, "CONFIG_TCP_CONG_FOO")
    built = bench.build(made)
    features = json.loads((built.image.folder / "features.json").read_text())
    assert features["congestion_controls"] == ["foo", "reno", "toy"]
    config, base = ({*(each.image.folder / "config").read_text().splitlines()} for each in (built, bench.base()))
    assert config ^ base == {"CONFIG_TCP_CONG_FOO=y"}


def test_a_header_beside_the_file_goes_with_it(bench: Workbench, tmp_path: Path) -> None:
    write(tmp_path / "foo_table.h", "int table;\n")
    made = change.of_file(write(tmp_path / "tcp_foo.c", f'#include "foo_table.h"\n{FOO}'), bench, ())
    assert made.files["net/ipv4/foo_table.h"] == b"int table;\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("foo.c", FOO, r"foo\.c: its name is not that of a congestion control; allowed: tcp_NAME\.c"),
        ("tcp_cubic.c", FOO, r"has net/ipv4/tcp_cubic\.c already; allowed: another name, such as tcp_mycubic\.c"),
        ("tcp_foo.c", FOO.replace('"foo"', '"toy"'), "has a congestion control named 'toy' already"),
        ("tcp_foo.c", "int nothing;\n", "it registers no congestion control"),
        ("tcp_foo.c", f"/* {FOO} */", "it registers no congestion control"),
        ("tcp_foo.c", FOO.replace("tcp_register_congestion_control", "f"), "does not call tcp_register_congestion_co"),
        ("tcp_foo.c", FOO.replace('"foo"', '"a-name-that-is-long"'), "allowed: up to 15 of a to z"),
    ],
)
def test_a_file_that_is_no_new_control_is_refused(
    bench: Workbench, tmp_path: Path, name: str, text: str, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        change.of_file(write(tmp_path / name, text), bench, ("reno", "toy"))


def test_a_patch_that_does_not_apply_names_itself_and_the_hunk(bench: Workbench, tmp_path: Path) -> None:
    wrong = patched(tmp_path, PATCH.replace("717", "818"))
    with pytest.raises(UserError, match=r"mine\.patch does not fit linux: net/ipv4/tcp_cubic\.c: Hunk #1 FAILED at 1"):
        change.of_patch(wrong, bench)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello\n", "it is no patch"),
        (PATCH.replace("net/ipv4/tcp_cubic.c", "../../escape.c"), "is outside the tree"),
        (PATCH.replace("512", "717"), "it changes nothing in linux"),
    ],
)
def test_what_is_no_patch_is_refused(bench: Workbench, tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        change.of_patch(patched(tmp_path, text), bench)


def test_a_patch_reads_the_source_and_not_the_change_that_is_in_the_tree(bench: Workbench, tmp_path: Path) -> None:
    bench.build(change.of_patch(patched(tmp_path), bench))
    other = change.of_patch(patched(tmp_path, PATCH.replace("512", "600")), bench)
    assert b"beta = 600" in (other.files["net/ipv4/tcp_cubic.c"] or b"")


def test_what_the_compiler_says_is_shown_as_it_says_it(bench: Workbench, tmp_path: Path) -> None:
    bench.base()
    broken = patched(tmp_path, PATCH.replace("int beta = 512;", "#error here"))
    with pytest.raises(UserError) as caught:
        bench.build(change.of_patch(broken, bench))
    said = "mine does not compile:\nnet/ipv4/tcp_cubic.c:3:2: error: #error here\n    3 | #error here\n"
    assert str(caught.value).startswith(said)
    built = bench.build(change.of_patch(patched(tmp_path), bench))
    assert "beta = 512" in built.image.path.read_text()


def test_warnings_are_kept_and_told_again(bench: Workbench, tmp_path: Path) -> None:
    loud = patched(tmp_path, PATCH.replace("int beta = 512;", "int unused;"))
    for is_new in (True, False):
        built = bench.build(change.of_patch(loud, bench))
        assert built.is_new is is_new
        assert "tcp_cubic.c:1:5: warning: unused variable\n    1 | int unused;" in built.warnings


def test_a_change_of_comments_is_the_base_byte_for_byte(bench: Workbench, tmp_path: Path) -> None:
    text = PATCH.replace("-int beta = 717;\n+int beta = 512;", "+// a comment\n int beta = 717;")
    comment = patched(tmp_path, text.replace("+1,3", "+1,4"))
    built = bench.build(change.of_patch(comment, bench))
    assert (built.is_base_code, built.objects) == (True, ())


def test_a_change_that_no_kernel_compiles_is_refused(bench: Workbench, tmp_path: Path) -> None:
    text = "--- a/net/ipv4/tcp_lonely.c\n+++ b/net/ipv4/tcp_lonely.c\n@@ -1 +1 @@\n-int lonely;\n+int other;\n"
    with pytest.raises(UserError, match=r"compiles none of what it changes \(net/ipv4/tcp_lonely\.c\)"):
        bench.build(change.of_patch(patched(tmp_path, text), bench))


def test_a_tree_counts_in_what_differs(source: Path, bench: Workbench, tmp_path: Path) -> None:
    other = tmp_path / "theirs"
    os.system(f"cp -a {source} {other}")
    (other / "net/ipv4/tcp_cubic.c").write_text(CUBIC.replace("717", "512"))
    (other / "net/ipv4/tcp_cubic.o").write_text("a product")
    made = change.of_tree(other, bench)
    assert (sorted(made.files), made.control) == (["net/ipv4/tcp_cubic.c"], "cubic")
    assert change.of_tree(source, bench).files == {}


def test_a_tree_keeps_our_patches_where_both_change_a_file(source: Path, bench: Workbench, tmp_path: Path) -> None:
    other = tmp_path / "theirs"
    os.system(f"cp -a {source} {other}")
    kconfig = other / "arch/um/Kconfig"
    kconfig.write_text(kconfig.read_text().replace("# filler", "# changed", 1))
    (name, content), *more = change.of_tree(other, bench).files.items()
    assert (name, more) == ("arch/um/Kconfig", [])
    assert b"# changed" in (content or b"")
    assert b"default 1000" in (content or b"")  # of our patch


def test_trees_of_another_version_or_architecture_are_refused(source: Path, bench: Workbench, tmp_path: Path) -> None:
    arm = tmp_path / "arm"
    write(arm / "arch/arm64/Kconfig", "")
    with pytest.raises(UserError, match="it is a tree of arm64, without User-Mode Linux"):
        change.of_tree(arm, bench)
    other = tmp_path / "theirs"
    os.system(f"cp -a {source} {other}")
    (other / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n")
    with pytest.raises(UserError, match=r"is Linux 6\.12\.1, and the base is linux, Linux 7\.3\.4"):
        change.of_tree(other, bench)


def test_a_killed_build_is_mended(bench: Workbench, tmp_path: Path) -> None:
    """make would take half an object, which is younger than its source, for a whole one."""
    bench.base()
    mine = change.of_patch(patched(tmp_path), bench)
    bench._put(mine.files)  # as far as the killed build came
    (bench.home / "making").touch()
    source, half = (bench.tree / f"net/ipv4/tcp_cubic.{ending}" for ending in "co")
    half.write_text("half an obj")
    while half.stat().st_mtime_ns <= source.stat().st_mtime_ns:  # a tick of the file system's clock
        half.write_text("half an obj")
    built = bench.build(mine)
    assert "beta = 512" in built.image.path.read_text()
    assert "half an obj" not in built.image.path.read_text()
    (bench.home / "making").touch()
    other = bench.build(change.of_patch(patched(tmp_path, PATCH.replace("512", "600")), bench))
    assert "beta = 600" in other.image.path.read_text()


def test_the_tree_is_kept_by_source_and_found_again(source: Path, bench: Workbench) -> None:
    assert open_workbench(str(source)).home == bench.home
    assert open_workbench(str(tarball(source, "xz"))).home != bench.home
    (source / "net/ipv4/tcp_cubic.c").write_text(CUBIC + "int more;\n")
    assert open_workbench(str(source)).home != bench.home


def test_no_room_is_noticed_before_make_runs(bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.base()
    monkeypatch.setattr(workbench, "ROOM_BYTES", 1 << 60)
    with pytest.raises(MachineError, match=r"building a kernel in .* takes"):
        bench.build(change.of_patch(patched(tmp_path), bench))


def test_no_room_for_a_tree_is_noticed_before_it_is_unpacked(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "ROOM_BYTES", 1 << 60)
    with pytest.raises(MachineError, match="GB for a while"):
        open_workbench(str(source))


def test_a_second_build_at_the_same_time_waits_and_says_so(bench: Workbench, tmp_path: Path) -> None:
    bench.base()
    waits, stages = threading.Event(), []

    def report(stage: Stage) -> None:
        stages.append(stage.what)
        if stage.what.startswith("waiting for another build"):
            waits.set()

    other = change.of_patch(patched(tmp_path, PATCH.replace("512", "600")), bench)
    mine = change.of_patch(patched(tmp_path), bench)
    second = threading.Thread(target=lambda: bench.build(other, report))

    def start_the_second(stage: Stage) -> None:
        if not second.ident:
            second.start()
            assert waits.wait(PATIENCE_S)

    built = bench.build(mine, start_the_second)
    second.join()
    assert "beta = 512" in built.image.path.read_text()
    assert "beta = 600" in bench.build(other).image.path.read_text()
