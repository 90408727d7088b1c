"""Virtual machines in virtual time, on every kind of network: what they send is what the network carries."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import userimage
from test_vm import VIRTUAL, kernel, make_trial, run_real  # noqa: F401 (a fixture)
from trials import Ran

from testbed import package
from testbed.error import MachineError
from testbed.kernel.guest import TrialError
from testbed.kernel.vm import build, guest_agent, kernel_cache
from testbed.kernel.vm.kernel_cache import VmKernel
from testbed.spec.load import load_scenario
from testbed.trial.measured import need
from testbed.trial.workload.command import CommandResult

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


def extended(netstat: Path) -> dict[str, int]:
    """The counters of a host's TCP in a file like /proc/net/netstat."""
    lines = [line.split() for line in netstat.read_text().splitlines()]
    told = [pair for pair in pairwise(lines) if pair[0][0] == pair[1][0] == "TcpExt:"]
    return {name: int(value) for names, values in told for name, value in zip(names[1:], values[1:], strict=True)}


def iperf3(duration: str = "1 s", **keys: Any) -> dict[str, Any]:
    return {"tool": "iperf3", "from": "a", "to": "b", "duration": duration, **keys}


@pytest.fixture(scope="module")
def older(kernel: VmKernel) -> VmKernel:  # noqa: F811
    """The second kernel of scenarios/two-kernels.yaml."""
    try:
        found = kernel_cache.find("old")
    except MachineError:
        try:
            found = build.fetch("6.16", "old")
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

    def test_what_a_machine_sends_to_a_host_arrives_in_its_order(self, kernel: VmKernel, tmp_path: Path) -> None:  # noqa: F811
        """Superpackets are cut on the way, and a host's NIC may merge them again; nothing is lost in the bucket."""
        path = {"ends": ["a", "b"], "rate": "1 Gbit/s", "buffer": "1 MB"}
        network = over({"a": VM, "b": {"type": "host"}}, {"path": path}, nic="offload")
        ran = run_real(make_trial(network, kernel="lab", workload=iperf3(window="64 KiB")), tmp_path / "trial")
        assert moved(ran) > 100e6
        counted = extended(ran.folder / "netstat-b-after.txt")
        assert counted["TCPDelivered"] > 0
        assert counted["TCPOFOQueue"] == 0

    def test_an_image_of_the_user_s_own_is_what_a_machine_runs(self, kernel: VmKernel, tmp_path: Path) -> None:  # noqa: F811
        """It stands in /tmp, of which a guest has one of its own."""
        if lacking := userimage.missing("mke2fs"):
            pytest.skip(f"needs {lacking}")
        image = userimage.make(tmp_path, "a disk of mine", guest_agent.agent())
        before = image.read_bytes()
        own = {**VM, "image": str(image), "kernel": kernel.name}
        network = over({"a": own, "b": {"type": "host"}}, {"l": {"ends": ["a", "b"], "rate": "10 Mbit/s"}})
        ran = run_real(
            make_trial(network, kernel="lab", workload={"tool": "ping", "from": "b", "to": "a", "count": 3}),
            tmp_path / "trial",
        )
        assert ran.result.verdict == "valid", ran.result.warnings
        assert "image: a disk of mine on /dev/vport" in (ran.folder / "vm-a.log").read_text()
        assert image.read_bytes() == before

    def test_a_machine_that_spins_without_end_is_told_by_its_name(
        self,
        kernel: VmKernel,  # noqa: F811
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Its disk has a boot sector that jumps to itself: its time goes on, and it never answers."""
        monkeypatch.setattr("testbed.plan.node.vm.BOOT_LIMIT_S", 3)
        disk = tmp_path / "spins.img"
        disk.write_bytes(b"\xeb\xfe".ljust(510, b"\0") + b"\x55\xaa" + bytes(1 << 20))
        network = over({"a": {**VM, "image": str(disk)}, "b": {"type": "host"}}, {"l": {"ends": ["a", "b"]}})
        with pytest.raises(TrialError, match="the virtual machine a failed: its guest agent does not answer"):
            run_real(
                make_trial(network, kernel="lab", workload={"tool": "ping", "from": "a", "to": "b", "count": 3}),
                tmp_path / "trial",
            )

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

    def test_cards_that_look_for_a_partner_have_found_it_before_the_first_packet(
        self,
        kernel: VmKernel,  # noqa: F811
        tmp_path: Path,
    ) -> None:
        """An e1000 takes 2 s and more after it was switched on: the first ping was lost, and the trial invalid."""
        card = {**PLAIN, "model": "e1000"}
        ping = {"tool": "ping", "from": "a", "to": "b", "count": 3, "interval": "200 ms"}
        network = over({"a": card, "b": card}, {"l": {"ends": ["a", "b"]}})
        ran = run_real(make_trial(network, kernel="lab", workload=ping), tmp_path / "trial")
        assert ran.result.verdict == "valid", ran.result.findings
        assert ran.ping.received == 3

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
