"""What a kernel has is what it says, and not what its configuration is called."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from trials import Ran, make_trial

from testbed.commands.computer.kernel import controls_of
from testbed.error import MachineError, NotHere, SpecError, UserError
from testbed.kernel.image import cache, feature, first_boot
from testbed.kernel.image.cache import KernelImage
from testbed.kernel.ready import named
from testbed.kernel.vm import first_boot as vm_first_boot
from testbed.kernel.vm import kernel_cache
from testbed.model.run_setting import LAB, Kernel
from testbed.model.scenario import CONGESTION_SYSCTL
from testbed.native_program import Tools
from testbed.trial import readiness
from testbed.trial.orders.sequence import orders
from testbed.trial.ready_kernel import ReadyKernel, ready_kernel

SCENARIO = """
name: small
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 100 Mbit/s, rtt: 10 ms}}
workload: {tool: flow, from: a, to: b, duration: 1 s}
sweep:
  congestion: [cubic, hstcp]
"""


@pytest.fixture
def image(tmp_path: Path) -> KernelImage:
    """A lab kernel that answered when it booted: it has no reason to boot again."""
    feature.write(tmp_path, feature.of_controls("reno highspeed cubic", tuple(feature.ATTEMPTS)))
    return KernelImage("toy", tmp_path / "linux", "7.3.4", "0", True, "2026", "1")


def ready(image: KernelImage) -> ReadyKernel:
    return ReadyKernel(LAB, Tools(Path("/nowhere"), "toy"), image)


def test_the_name_of_the_configuration_is_refused_and_the_kernels_name_is_proposed(image: KernelImage) -> None:
    readiness.check_features(made := make_trial(workload={"congestion": "highspeed"}), orders(made), ready(image))
    for wrong in ("hstcp", "tcp_highspeed"):
        trial = make_trial(workload={"congestion": wrong})
        with pytest.raises(UserError, match=rf"toy has no congestion control {wrong};.*did you mean 'highspeed'"):
            readiness.check_features(trial, orders(trial), ready(image))


def test_the_sysctl_of_the_default_is_checked_as_well(image: KernelImage) -> None:
    trial = replace(make_trial(), sysctls=((CONGESTION_SYSCTL, "hstcp"),))
    with pytest.raises(UserError, match="no congestion control hstcp"):
        readiness.check_features(trial, orders(trial), ready(image))


def test_check_names_the_line_of_a_control_that_the_kernel_lacks(
    image: KernelImage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named, "find", lambda name: image)
    (tmp_path / "small.yaml").write_text(SCENARIO)
    with pytest.raises(SpecError, match=r"small.yaml:9: .*no congestion control hstcp; allowed: cubic, highspeed, "):
        named.check_controls(tmp_path / "small.yaml", None, {"cubic", "hstcp"})
    named.check_controls(tmp_path / "small.yaml", None, {"cubic", "highspeed"})


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("kernel: {lab: nosuch}\n", "", "small.yaml:1: kernel: "),
        ("", "  kernel:\n    - lab\n    - {lab: nosuch}\n", "small.yaml:12: kernel: "),
        ("", "  kernel+flows:\n    - [{lab: nosuch}, 2]\n", r"small.yaml:11: kernel\+flows: "),
    ],
)
def test_check_here_names_the_line_of_a_lab_kernel_that_is_not_here(
    before: str, after: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named, "find", lambda name: cache.found((), name))
    file = tmp_path / "small.yaml"
    file.write_text(f"{before}{SCENARIO}{after}")
    kernels = [LAB, Kernel("lab", "nosuch")]
    said = rf"{line}no lab kernel is called 'nosuch' .*; to fix it, type: testbed kernel build .* nosuch$"
    with pytest.raises(NotHere, match=said) as refused:
        named.check_lab_kernels(file, kernels)
    assert refused.value.exit_code == 3
    file.write_text(SCENARIO)
    with pytest.raises(MachineError, match="no lab kernel is called 'nosuch'"):
        named.check_lab_kernels(file, kernels)


def test_a_scenario_for_a_kernel_of_another_computer_is_no_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(name: str | None) -> KernelImage:
        raise MachineError("no such kernel", "build it")

    monkeypatch.setattr(named, "find", none)
    named.check_controls(tmp_path / "not-read.yaml", "elsewhere", {"prague"})


def test_a_command_that_the_kernel_refused_when_it_was_asked_is_refused_before_a_trial(image: KernelImage) -> None:
    said = feature.of_controls("reno cubic", tuple(feature.ATTEMPTS), {"gemodel": "What is gemodel?", "htb": "no"})
    feature.write(image.folder, said)
    trial = make_trial()
    readiness.check_features(trial, orders(trial), ready(image))
    trial = make_trial(path={"loss": {"gilbert-elliott": {"p": "1 %", "r": "10 %"}}})
    with pytest.raises(MachineError, match=r"toy refused tc qdisc .* \(What is gemodel\?\).*needs gemodel"):
        readiness.check_features(trial, orders(trial), ready(image))


def test_a_damaged_or_empty_answer_is_none(tmp_path: Path) -> None:
    assert feature.read(tmp_path) is None
    for text in ("", "[]", "{}", '{"congestion_controls": [], "tried": [], "refusals": {}}'):
        (tmp_path / feature.FILE).write_text(text)
        assert feature.read(tmp_path) is None
    with pytest.raises(ValueError, match="without reno"):
        feature.of_controls("")


def test_a_kernel_that_does_not_say_what_it_has_is_not_taken_for_one_that_has_all() -> None:
    for console in ("", "testbed-features: ", 'testbed-features: {"error": "no proc"}'):
        with pytest.raises(MachineError, match="does not say what it has"):
            first_boot.FirstBoot(True, console, 0.1).features  # noqa: B018


@pytest.mark.lab
def test_an_old_kernel_without_a_record_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linux = shutil.copy(cache.find(None).path, tmp_path / "linux")
    found = first_boot.features(linux)
    assert {"highspeed", "reno", "cubic", "bbr"} <= set(found.congestion_controls)
    assert "hstcp" not in found.congestion_controls
    assert found.tried == tuple(feature.ATTEMPTS)
    assert found.refusals == {}, "the lab kernel makes all that plans ask for"
    assert json.loads((tmp_path / feature.FILE).read_text())["congestion_controls"] == [*found.congestion_controls]
    monkeypatch.setattr(first_boot, "boot", lambda linux: pytest.fail("it was asked before"))
    assert first_boot.features(linux) == found


@pytest.mark.lab
@pytest.mark.slow
def test_every_congestion_control_of_the_lab_kernel_carries_a_flow(run_trial: Callable[..., Ran]) -> None:
    """Each alone on a path: the weakest of 17 on one path might get nothing."""
    controls = ready_kernel(LAB).features.congestion_controls
    assert len(controls) >= 17, "all that kernel/config asks for, and reno"
    for name in controls:
        (flow,) = run_trial(workload={"congestion": name}).result.flows
        assert flow.congestion == name
        assert flow.goodput_bps is not None
        assert flow.goodput_bps > 10e6, "a path of 100 Mbit/s, a second, no loss"


@pytest.mark.slow
@pytest.mark.root
def test_a_kernel_for_virtual_machines_is_asked_with_its_modules() -> None:
    try:
        kernel = kernel_cache.find(None)
    except MachineError:
        pytest.skip("no kernel for virtual machines")
    (kernel.folder / feature.FILE).unlink(missing_ok=True)
    found = vm_first_boot.features(kernel)
    assert {"reno", "highspeed", "bbr"} <= set(found.congestion_controls)
    assert feature.read(kernel.folder) == found


def test_controls_that_several_kernels_have_are_listed_once(tmp_path: Path) -> None:
    kernels = [(name, tmp_path / name) for name in ("unasked", "base", "same", "more", "less")]
    both = "reno cubic"
    for name, controls in (("base", both), ("same", both), ("more", f"{both} mine"), ("less", "reno")):
        (tmp_path / name).mkdir()
        feature.write(tmp_path / name, feature.of_controls(controls))
    assert list(controls_of(kernels)) == [
        ("unasked", "not been asked yet which congestion controls it has: it boots once when a trial needs it"),
        ("base", "the congestion controls cubic, reno"),
        ("same", "those of base"),
        ("more", "those of base, and mine"),
        ("less", "the congestion controls reno"),
    ]
