"""`testbed doctor` names what is missing, and the command that supplies it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from testbed import package, process
from testbed.commands.computer import doctor as command
from testbed.commands.computer import kernel
from testbed.commands.computer.doctor import TITLES
from testbed.commands.text_table import Format
from testbed.error import MachineError
from testbed.kernel.image import recipe
from testbed.kernel.image.cache import KernelImage, find
from testbed.kernel.image.first_boot import FirstBoot
from testbed.kernel.ready import doctor, named
from testbed.kernel.ready.doctor import BUILD, HOST, LAB, MEASURE, Examination, lab_works
from testbed.kernel.ready.feasibility import Ability
from testbed.model.run_setting import Kernel

WELL = Examination("python", True, "3.11")
NO_BC = Examination("bc", False, "missing", "apt-get install -y bc", BUILD)
NO_NETEM = Examination("netem", False, "missing", "sudo modprobe sch_netem", HOST)
NO_KERNEL = Examination("lab kernel", False, "no lab kernel has been built yet", "testbed kernel build")


ABLE = (
    Ability("node type vm", "lab", False, "it has a kernel of its own", "# kernel: host"),
    Ability("node type vm", "host", True, "", ""),
)


def run(monkeypatch: pytest.MonkeyPatch, findings: tuple[Examination, ...], *words: str) -> tuple[int, str]:
    monkeypatch.setattr(command, "examine", lambda: findings)
    monkeypatch.setattr(command, "abilities", lambda: iter(ABLE))
    app = typer.Typer()
    app.command()(command.doctor)
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.stdout


@pytest.mark.parametrize(
    ("findings", "status"), [((WELL,), 0), ((WELL, NO_NETEM), 0), ((WELL, NO_BC), 0), ((WELL, NO_KERNEL), 3)]
)
def test_the_exit_code_is_about_the_lab_kernel(
    monkeypatch: pytest.MonkeyPatch, findings: tuple[Examination, ...], status: int
) -> None:
    assert run(monkeypatch, findings)[0] == status


def test_an_installation_for_classes_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip install testbed[class]` has all that networks, exercises and marks need."""
    all_ = doctor.PYTHON_PACKAGES[MEASURE]
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None if name in all_ else object())
    found = tuple(doctor._python())
    status, text = run(monkeypatch, found)
    assert status == 0
    assert text.endswith("testbed run and what reads its results cannot.\n")
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None if name == "numpy" else object())
    assert run(monkeypatch, tuple(doctor._python()))[0] == 3


def test_what_the_doctor_asks_for_is_what_the_package_brings() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    brings = {LAB: project["dependencies"], MEASURE: project["optional-dependencies"]["all"]}
    for need, modules in doctor.PYTHON_PACKAGES.items():
        names = {re.match(r"[a-z0-9-]+", each)[0] for each in brings[need]}  # type: ignore[index]
        apart = {"os-ken", "ansible-core"}  # a controller, and a program, which are examined as such
        assert {{"yaml": "pyyaml"}.get(each, each.replace("_", "-")) for each in modules} == names - apart


def test_the_table_ends_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    _, text = run(monkeypatch, (WELL, NO_NETEM, NO_KERNEL))
    assert "netem: type sudo modprobe sch_netem\n" in text
    assert "lab kernel: type testbed kernel build\n" in text
    assert text.endswith("cannot run here.\n")


def test_json_has_one_object_for_each_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = run(monkeypatch, (WELL, NO_KERNEL), "--format", "json")
    assert status == 3
    whats = ["python", "lab kernel", "node type vm on kernel lab", "node type vm on kernel host"]
    assert [each["what"] for each in json.loads(text)] == whats
    assert json.loads(text)[1]["fix"] == "testbed kernel build"


def test_what_can_run_here_is_a_table_with_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    _, text = run(monkeypatch, (WELL,))
    (row,) = (line.split() for line in text.splitlines() if line.startswith("node type vm"))
    assert " ".join(row) == "node type vm no yes lab: it has a kernel of its own"


def test_on_this_machine_everything_missing_comes_with_something_to_type() -> None:
    for finding in doctor.examine():
        assert finding.ok == (not finding.fix), finding
        assert finding.needed_for in TITLES


def by_name(findings: Iterator[Examination]) -> dict[str, Examination]:
    return {finding.what: finding for finding in findings}


def test_a_missing_program_is_found_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "which", lambda program: None if program == "nft" else f"/usr/bin/{program}")
    found = by_name(doctor._programs())
    assert not found["nft"].ok
    assert "apt-get install -y nftables" in found["nft"].fix
    assert found["tcpdump"].ok


def test_a_machine_without_open_vswitch_is_told_which_package_it_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "which", lambda program: None if program.startswith("ovs") else f"/usr/bin/{program}")
    found = by_name(doctor._open_vswitch())
    assert not found["ovs"].ok
    assert "apt-get install -y openvswitch-switch" in found["ovs"].fix
    assert found["controller"].ok
    assert lab_works(tuple(found.values())), "other topologies do not need it"


def test_too_little_shared_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MEMORY_BYTES", 1 << 60)
    found = by_name(doctor._memory())
    assert "remount" in found["/dev/shm"].fix
    assert not found["memory"].ok


IMAGE = KernelImage(
    "linux-7.3.4", Path("/nowhere/linux"), "7.3.4", "0" * 64, True, "2026-01-01T00:00:00+00:00", "1" * 64,
    recipe_hash=recipe.load("lab").sha256,
)  # fmt: skip


def test_a_kernel_of_another_version_is_named_with_the_command_that_builds_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = replace(IMAGE, recipe_hash="2" * 64)
    monkeypatch.setattr("testbed.kernel.image.first_boot.boot", lambda path: FirstBoot(False, "", 0.1))
    for image, is_said in ((IMAGE, False), (other, True), (replace(other, recipe_hash=""), True)):
        monkeypatch.setattr(doctor, "find", lambda name, image=image: image)
        found = by_name(doctor._lab_kernel())["lab kernel"]
        assert found.ok
        assert ("not the one of this version" in found.detail, found.fix) == (
            is_said,
            "testbed kernel build" if is_said else "",
        )
        monkeypatch.setattr("testbed.kernel.ready.named.find", lambda name, image=image: image)
        said = named.older_kernels([Kernel("lab"), Kernel("lab-realtime"), Kernel("host")])
        assert len(said) == is_said
        monkeypatch.setattr(kernel, "installed", lambda image=image: (image,))
        monkeypatch.setattr(kernel.kernel_cache, "installed", tuple)
        kernel.list_command(Format.table)
        listed = " ".join(capsys.readouterr().out.split())
        assert ("not the one of this version of the testbed" in listed) == is_said
        assert ("To build this one, type: testbed kernel build" in listed) == is_said
    assert named.older_kernels([Kernel("host")]) == ()
    mine = replace(other, default=False, name="mine").older
    assert mine is not None
    assert mine.endswith("type: testbed kernel build --name mine with its --source or --patch")


def test_a_kernel_that_does_not_boot_is_found_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find", lambda name: IMAGE)
    dead = FirstBoot(False, "start\nptrace set fp regs failed, errno = 14", 0.1)
    monkeypatch.setattr("testbed.kernel.image.first_boot.boot", lambda path: dead)
    found = by_name(doctor._lab_kernel())
    assert found["lab kernel"].ok
    assert "ptrace set fp regs failed" in found["lab kernel boots"].detail
    assert not lab_works(tuple(found.values()))


def test_no_lab_kernel_is_found_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str | None) -> KernelImage:
        raise MachineError("no lab kernel has been built yet", "testbed kernel build")

    monkeypatch.setattr(doctor, "find", none)
    assert by_name(doctor._lab_kernel())["lab kernel"].fix == "testbed kernel build"


def test_an_ordinary_user_is_told_that_the_hosts_kernel_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (finding,) = doctor._host_kernel()
    assert (finding.what, finding.needed_for) == ("root", HOST)
    assert finding.fix.startswith("sudo ")


def test_a_kernel_without_modules_is_said_to_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.release", lambda: "0.0-none")
    assert "does not need it" in doctor.module_fix("sch_netem")
    assert "has no sch_netem and cannot load modules" in doctor.module_fix("sch_netem")


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_trying_the_hosts_kernel_leaves_nothing_behind() -> None:
    def namespaces() -> set[str]:
        return set(process.run(["ip", "netns", "list"]).stdout.split())

    before = namespaces()
    found = by_name(doctor._host_kernel())
    assert {"network namespaces", "netem", "tbf", "periodic loss"} <= set(found)
    assert namespaces() == before


TRIAL = """name: x
topology:
  name: x
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rtt: 1 ms}}
workload: {tool: ping, from: a, to: b, count: 2}
sweep: {path.rtt: [1 ms, 2 ms]}
"""


@pytest.mark.lab
def test_a_run_warns_once_of_a_kernel_of_another_version(tmp_path: Path) -> None:
    ours = find(None).folder
    copy = tmp_path / "cache/testbed/kernels" / ours.name
    shutil.copytree(ours, copy)
    (tmp_path / "x.yaml").write_text(TRIAL)
    said = {}
    for is_other in (False, True):
        if is_other:
            about = json.loads((copy / "kernel.json").read_text())
            (copy / "kernel.json").write_text(json.dumps(about | {"recipe_hash": "2" * 64}))
        words = [sys.executable, "-m", "testbed", "run", tmp_path / "x.yaml", "-o", tmp_path / f"{is_other}"]
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
        said[is_other] = done.stdout + done.stderr
    assert [text.count("is not the one of this version") for text in said.values()] == [0, 1]
    assert "warning: the lab kernel" in said[True]
    assert "type: testbed kernel build" in said[True]
