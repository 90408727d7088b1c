"""A trial on the host's kernel sets only sysctls that each network namespace has for itself, and which go with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from trials import Ran, make_trial

from testbed.error import MachineError, UserError
from testbed.kernel.ready import feasibility, probe
from testbed.kernel.ready.probe import Lacking
from testbed.kernel.ready.requirement import Need, Never, Sysctl, needs
from testbed.model.run_setting import Kernel
from testbed.model.topology import Link, Node, Topology
from testbed.model.workload import PingWorkload
from testbed.plan.linux import Write
from testbed.plan.network import plan
from testbed.trial.orders.sequence import orders

WHOLE = ("vm.swappiness", "kernel.core_pattern", "kernel/modprobe", "fs.protected_symlinks", "vm.overcommit_memory")
GLOBAL = ("net.core.rmem_max", "net.ipv4.tcp_mem", "net.ipv4.tcp_allowed_congestion_control", "net.core.bpf_jit_enable")
"""Network settings of the whole computer: a fresh namespace has them not, or to be read."""
OWN = (
    *("net.ipv4.tcp_ecn", "net/ipv4/tcp_rmem", "net.core.somaxconn", "net.ipv4.ip_forward"),
    *("net.ipv4.conf.all.rp_filter", "net.ipv4.conf.path.rp_filter", "net.ipv4.neigh.path.gc_stale_time"),
)
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a network namespace")


def network(*sysctls: tuple[str, str]) -> Topology:
    nodes = (Node("a", "host", sysctls=sysctls), Node("b", "host"))
    return Topology("net", nodes, (Link("path", ("a", "b")),))


@pytest.fixture
def _nothing_else_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasibility, "lacking", lambda name: None)


@pytest.mark.parametrize("name", WHOLE)
def test_a_trial_that_would_change_the_computer_for_good_is_refused(name: str) -> None:
    """Whoever sets it: a host, or the scenario for all hosts; `check`, `plan` and `run` make these orders."""
    shown = name.replace("/", ".")
    said = f"the sysctl {shown} belongs to the whole computer .* allowed: kernel: lab, or sysctls of the network"
    for sysctls, of_host in (({name: "1"}, ()), ({}, ((name, "1"),))):
        trial = make_trial(sysctls=sysctls, kernel="host", workload={"tool": "ping", "count": 1, "interval": "1 s"})
        trial = replace(trial, topology=network(*of_host), workload=PingWorkload("a", "b"))
        with pytest.raises(UserError, match=said):
            orders(trial)
        orders(replace(trial, kernel=Kernel("lab")))


def test_a_parameter_of_a_module_is_refused_on_the_host_and_a_file_below_sys_elsewhere() -> None:
    trial = make_trial(sysctls={"module.tcp_cubic.beta": "512"}, workload={"duration": "1 s"})
    written = [each for each in orders(trial).plan.commands if isinstance(each, Write) and "tcp_cubic" in each.path]
    assert {each.path for each in written} == {"/sys/module/tcp_cubic/parameters/beta"}
    assert len(written) == 2  # each host
    said = "the parameter beta of tcp_cubic belongs to the whole computer .* allowed: kernel: lab"
    with pytest.raises(UserError, match=said):
        orders(replace(trial, kernel=Kernel("host"), workload=PingWorkload("a", "b")))


@pytest.mark.lab
def test_a_parameter_of_a_module_is_set_for_the_trial_and_read_back(run_trial: Callable[..., Ran]) -> None:
    """Failure: another value than the one that was asked for, or a gate that knows none but Linux's own."""
    ran = run_trial(sysctls={"module.tcp_cubic.beta": "512"}, workload={"duration": "1 s"})
    assert ran.result.verdict == "valid", ran.result.warnings
    assert "beta: 512\n" in (ran.folder / "module-cubic-after.txt").read_text()
    assert "/sys/module/tcp_cubic/parameters/beta: 512\n" in (ran.folder / "written-tb-a.txt").read_text()


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.usefixtures("_nothing_else_lacks")
def test_a_network_that_stands_on_the_host_is_refused_as_well(name: str) -> None:
    with pytest.raises(UserError, match=r"node a: the sysctl .* would stay as the trial set it"):
        feasibility.refuse(network((name, "1")), "host")
    feasibility.refuse(network((name, "1")), "lab-realtime")


def test_the_kernel_is_asked_for_every_sysctl_of_the_plan() -> None:
    found = list(needs(network(("net.ipv4.tcp_ecn", "1"), ("vm.swappiness", "1")), plan(network()), "host"))
    assert not [need for need in found if isinstance(need.needed, Never)]  # it is the plan that counts
    topology = network(("net.ipv4.tcp_ecn", "1"), ("vm.swappiness", "1"))
    found = list(needs(topology, plan(topology), "host"))
    asked = {need.needed.path for need in found if isinstance(need.needed, Sysctl)}
    assert asked >= {"net/ipv4/tcp_ecn", "net/ipv4/tcp_rmem", "net/ipv6/conf/all/disable_ipv6"}
    assert Need("node a", Sysctl("net/ipv4/tcp_ecn")) in found
    assert [need.part for need in found if isinstance(need.needed, Never)] == ["node a"]


@root
@pytest.mark.parametrize("name", [name for name in GLOBAL if Path("/proc/sys", name.replace(".", "/")).exists()])
@pytest.mark.usefixtures("_nothing_else_lacks")
def test_network_settings_of_the_whole_computer_are_refused_by_the_kernels_own_account(name: str) -> None:
    with pytest.raises(MachineError, match=f"node a: the sysctl {name} belongs to the whole computer"):
        feasibility.refuse(network((name, "1")), "host")


@root
@pytest.mark.parametrize("name", OWN)
@pytest.mark.usefixtures("_nothing_else_lacks")
def test_what_every_namespace_has_for_itself_may_be_set(name: str) -> None:
    feasibility.refuse(network((name, "1")), "host")


@root
def test_what_no_kernel_has_is_refused() -> None:
    assert probe.lacking_sysctl("net/ipv4/tcp_no_such") == Lacking(
        "this machine's kernel has no sysctl net.ipv4.tcp_no_such in network namespaces",
        "kernel: lab, or the file without this sysctl",
    )


@root
def test_what_may_be_set_does_not_change_the_computer() -> None:
    """The kernel's account holds: what is set in a fresh namespace is not to be seen outside."""
    outside, inside = "/proc/sys/net/ipv4/tcp_ecn", "/proc/sys/net/core/somaxconn"
    was = [Path(path).read_text() for path in (outside, inside)]
    words = f"echo 1 > {outside}; echo 77 > {inside}; cat {outside} {inside}"
    done = subprocess.run(("unshare", "--net", "sh", "-c", words), capture_output=True, text=True)
    assert done.stdout.split() == ["1", "77"]
    assert [Path(path).read_text() for path in (outside, inside)] == was


def test_an_ordinary_user_is_told_of_root_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    monkeypatch.setattr(probe.process, "run", _refuses)
    assert probe.lacking_sysctl("net/ipv4/tcp_ecn") is None


def _refuses(words: tuple[str, ...]) -> None:
    raise MachineError("no namespace", "be root")
