"""Virtual machines in virtual time, on every kind of network: what they send is what the network carries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_vm import VIRTUAL, kernel, make_trial, run_real  # noqa: F401 (a fixture)
from trials import Ran

from testbed import package
from testbed.error import MachineError
from testbed.kernel.vm import fetch, kernel_cache
from testbed.kernel.vm.kernel_cache import VmKernel
from testbed.spec.load import load_scenario
from testbed.trial.measured import CommandResult, need

VM = {"type": "vm", "memory": "256 MiB"}
PLAIN = {**VM, "nic": "plain"}
SCENARIOS = Path(__file__).parents[1] / "scenarios"
AT_NIGHT = [*VIRTUAL, pytest.mark.nightly]


def over(nodes: dict[str, Any], links: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"name": "net", "nodes": nodes, "links": links, **keys}


def moved(ran: Ran) -> int:
    """The bytes of its only flow, which must be valid."""
    assert ran.result.verdict == "valid", ran.result.warnings
    (flow,) = ran.result.flows
    assert flow.received_bytes is not None
    assert flow.received_bytes > 1_000_000
    return flow.received_bytes


def iperf3(duration: str = "1 s", **keys: Any) -> dict[str, Any]:
    return {"tool": "iperf3", "from": "a", "to": "b", "duration": duration, **keys}


@pytest.fixture(scope="module")
def older(kernel: VmKernel) -> VmKernel:  # noqa: F811
    """The second kernel of scenarios/two-kernels.yaml."""
    try:
        found = kernel_cache.find("old")
    except MachineError:
        try:
            found = fetch.fetch("6.16", "old")
        except MachineError as error:
            pytest.skip(f"needs a second kernel: {error}")
    if found.release == kernel.release:
        pytest.skip("the kernel called old is the newest one")
    return found


class TestNetwork:
    """Half a minute of a processor for each machine."""

    pytestmark = AT_NIGHT

    def test_behind_an_open_vswitch_in_the_kernel_packets_are_as_large_as_without(
        self,
        kernel: VmKernel,  # noqa: F811
        tmp_path: Path,
    ) -> None:
        """The controller is told of the first packets; the datapath of the lab kernel carries the rest."""
        if lacking := [name for name in package.OPEN_VSWITCH if package.which(name) is None]:
            pytest.skip(f"needs {lacking[0]}")
        nodes = {"a": VM, "b": VM, "core": {"type": "ovs"}, "c": {"type": "controller", "app": "learning-switch"}}
        network = over(nodes, {"l": {"ends": ["a", "core"]}, "r": {"ends": ["core", "b"]}})
        ran = run_real(make_trial(network, kernel="lab", workload=iperf3(window="16 KiB")), tmp_path / "trial")
        received_bytes, switch = moved(ran), ran.result.sdn.switches["core"]
        assert switch.datapath == "kernel"
        assert (switch.flows_before, switch.flows_after) == (1, 3)
        assert ran.result.sdn.controllers["c"].packet_ins["core"] >= 2
        assert switch.ports["2"]["tx_bytes"] > received_bytes
        assert switch.ports["2"]["tx_packets"] < received_bytes / 1448  # superpackets

    def test_in_a_network_of_mininet_s(self, kernel: VmKernel, tmp_path: Path) -> None:  # noqa: F811
        network = over(
            {"a": VM, "b": VM, "s": {"type": "switch"}},
            {"l": {"ends": ["a", "s"]}, "r": {"ends": ["s", "b"], "rate": "20 Mbit/s", "rtt": "10 ms"}},
            engine="mininet",
        )
        ran = run_real(make_trial(network, kernel="lab", workload=iperf3("2 s")), tmp_path / "trial")
        moved(ran)

    def test_a_queue_and_a_periodic_loss_meet_what_machines_of_both_models_send(
        self,
        kernel: VmKernel,  # noqa: F811
        tmp_path: Path,
    ) -> None:
        """One data packet in 200 is lost, to the packet, and is sent again; the queue never holds 100 packets."""
        path = {"rate": "50 Mbit/s", "rtt": "10 ms", "buffer": "100 packets", "queue": {"forward": "fq_codel"}}
        network = over(
            {"a": {**PLAIN, "model": "e1000"}, "b": PLAIN, "s": {"type": "switch"}},
            {"l": {"ends": ["a", "s"]}, "r": {"ends": ["s", "b"], **path, "loss": "1 in 200"}},
        )
        ran = run_real(make_trial(network, kernel="lab", workload=iperf3("2 s")), tmp_path / "trial")
        moved(ran)

    @pytest.mark.parametrize("control", ["cubic", "bbr"])
    def test_two_kernels_share_a_bottleneck(
        self,
        kernel: VmKernel,  # noqa: F811
        older: VmKernel,
        control: str,
        tmp_path: Path,
    ) -> None:
        """Each machine has its own kernel; together they have what the bottleneck carries, and no more."""
        (trial,) = (
            each
            for each in load_scenario(SCENARIOS / "two-kernels.yaml").trials()
            if ("workload.variant", control) in each.params
        )
        ran = run_real(trial, tmp_path / "trial")
        assert ran.result.verdict == "valid", ran.result.findings
        assert {name: about.kernel_release for name, about in ran.result.vms.items()} == {
            "new": kernel.release,
            "old": older.release,
        }
        values = need(CommandResult, ran.result.measured).values
        shares = [values[name].mean for name in ("new", "old")]
        assert min(shares) > 0
        assert 0.8 * 20e6 < sum(shares) < 20e6
