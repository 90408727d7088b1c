"""Virtual machines: what is planned, made and read without one, and real ones on the host's kernel."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import userimage
from interactive import Home
from leftover import host_unchanged, outlive, processes_below
from test_gate import fine
from trials import Ran, seen_as, steps_data
from trials import vm as vm_result

from testbed import package
from testbed.agent import remote_vm
from testbed.commands.network.up import up
from testbed.error import MachineError, NotHere, SpecError, UserError
from testbed.interactive.build import build
from testbed.kernel.guest import TrialError
from testbed.kernel.ready import doctor, feasibility
from testbed.kernel.ready.named import check_kernels, kernels_of
from testbed.kernel.vm import build as vm_build
from testbed.kernel.vm import guest_agent, hypervisor, kernel_cache
from testbed.kernel.vm.kernel_cache import VmKernel
from testbed.model.node.vm import Vm
from testbed.model.run_setting import Kernel
from testbed.model.scenario import Trial
from testbed.native_program import tools
from testbed.plan.node import vm as qemu
from testbed.plan.step import Location, Placeholder, Run, Sleep, StartVm
from testbed.spec.load import load_scenario, load_topology
from testbed.spec.scenario.trial import trial_of
from testbed.sweep.store import Store
from testbed.trial import provenance, readiness, ready_kernel, run, software
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.stage import Evidence
from testbed.trial.gate.judge import judge
from testbed.trial.measured import PingResult, need
from testbed.trial.orders.sequence import orders
from testbed.trial.start import local_words
from testbed.trial.subject import control_module, machine
from testbed.trial.subject import machine as vmevidence
from testbed.trial.workload.command import CommandResult

SMALL = {"type": "vm", "memory": "512 MiB"}
TOPOLOGY = {
    "name": "net",
    "nodes": {"a": SMALL, "b": SMALL, "s": {"type": "switch"}},
    "links": {"left": {"ends": ["a", "s"], "mtu": 1400}, "right": {"ends": ["s", "b"], "mtu": 1400}},
}
IPERF3 = {"tool": "iperf3", "from": "a", "to": "b", "duration": "2 s"}


def make_trial(topology: object = TOPOLOGY, **changes: object) -> Trial:
    data = {"id": "t", "params": {}, "repetition": 0, "seed": 1, "topology": topology, "workload": IPERF3}
    return trial_of({**data, "kernel": "host", **changes}, "test")


def test_machines_start_when_the_network_is_there_and_are_told_the_rest_when_they_are_up() -> None:
    steps = [step.get("title", next(iter(step))) for step in steps_data(orders(make_trial()).steps)]
    starts, waits = (
        [i for i, title in enumerate(steps) if title.startswith(word)] for word in ("start vm-", "wait for ")
    )
    places = [i for i, step in enumerate(steps_data(orders(make_trial()).steps)) if step.get("on") in ("a", "b")]
    assert len(starts) == len(waits) == 2
    assert max(starts) < min(waits) < max(waits) < min(places)


@pytest.mark.parametrize(("remote", "complaints"), [(True, 0), (False, 1)])
def test_parameters_of_controls_are_wanted_of_hosts_that_share_the_guest_s_kernel_alone(
    tmp_path: Path, remote: bool, complaints: int
) -> None:
    """A machine has a kernel of its own, which nobody asks; what was not read is nobody's change."""
    topology = TOPOLOGY if remote else {**TOPOLOGY, "nodes": {**TOPOLOGY["nodes"], "a": {"type": "host"}}}  # type: ignore[dict-item]
    trial = make_trial(topology, kernel="lab")
    plan = orders(trial).plan
    seen = control_module.CONTROL_MODULES.read(trial, plan, tmp_path)
    case = Case(trial, plan, cast("Evidence", None))
    found = [*control_module.missing(case, seen), *control_module.check(case, seen)]
    assert len(found) == complaints


def test_a_network_to_work_in_waits_for_its_machines_before_it_tells_them_anything() -> None:
    steps = steps_data(build(make_trial().topology, Kernel("host")).steps)
    started = [i for i, step in enumerate(steps) if step.get("background", "").startswith("vm-")]
    reached = [i for i, step in enumerate(steps) if "reach" in step]
    told = [i for i, step in enumerate(steps) if step.get("on") in ("a", "b")]
    assert len(started) == len(reached) == 2
    assert max(started) < min(reached) < max(reached) < min(told)


def test_a_machine_s_own_address_is_that_of_its_card_and_of_nothing_outside() -> None:
    planned = orders(make_trial()).plan
    port = planned.book.ports_of("a")[0]
    (start,) = [c for c in planned.commands if c.tool == "vm" and c.words[0] == "vm-a"]
    cables = [c.words for c in planned.commands if c.words[:2] == ("link", "add") and "veth" in c.words]
    assert f"virtio-net-pci,netdev=net0,mac={port.mac},romfile=" in start.words
    assert not [words for words in cables if port.mac in words]
    (built,) = [c for c in orders(make_trial({**TOPOLOGY, "engine": "mininet"})).plan.commands if c.tool == "mininet"]
    assert port.mac not in built.words[1]
    assert port.mac.replace("02:54:42", "02:54:56") in built.words[1]


@pytest.mark.parametrize(
    ("vm", "there", "not_there"),
    [
        (Vm(), ["@kernel/newest@", "testbed.root=host", "mount_tag=root"], ["snapshot=on"]),
        (Vm(kernel="mine"), ["@kernel/mine@", "@initramfs/host-virtio/mine@", "@modules/mine@"], ["newest"]),
        (Vm(image="/d,1.qcow2"), ["file=/d,,1.qcow2,if=virtio,snapshot=on"], ["-kernel", "mount_tag"]),
        (Vm(image="/d", kernel="k"), ["snapshot=on", "@kernel/k@", "testbed.root=disk"], ["mount_tag=root"]),
        (Vm(vhost=True), ["vhost=on"], []),
        (Vm(model="e1000", memory_bytes=2 << 30, cpus=3), ["e1000,netdev", "-m 2048M", "-smp 3"], ["virtio-net"]),
    ],
)
def test_what_a_machine_is_made_of_is_in_its_command(vm: Vm, there: list[str], not_there: list[str]) -> None:
    topology = {**TOPOLOGY, "nodes": {**TOPOLOGY["nodes"], "a": {"type": "vm"}}}  # type: ignore[dict-item]
    planned = orders(make_trial(topology)).plan
    node = next(n for n in make_trial(topology).topology.nodes if n.name == "a")
    said = " ".join(qemu._words(node, vm, planned.book, "offload"))
    assert [text for text in there if text not in said] == []
    assert [text for text in not_there if text in said] == []


def test_placeholders_are_filled_where_machines_start_only() -> None:
    words = ("q", "accel=@accelerator@", "path=@modules/k@,x")
    steps = (StartVm(words), Run(words), Sleep(1))
    filled = hypervisor.filled(steps, {Placeholder("accelerator"): "tcg", Placeholder("modules/k"): "/m"})
    assert filled == (StartVm(("q", "accel=tcg", "path=/m,x")), Run(words), Sleep(1))


def of_a(**keys: object) -> dict[str, object]:
    nodes = {**TOPOLOGY["nodes"], "a": {**SMALL, **keys}}  # type: ignore[dict-item]
    return {**TOPOLOGY, "nodes": nodes}


@pytest.mark.parametrize(
    ("kernel", "keys", "said"),
    [
        ("lab", {"vhost": True}, "a has vhost: true, but a lab kernel has no vhost-net.*allowed: vhost: false"),
        ("lab", {"cpus": 2}, "a has 2 cpus, which would take turns in virtual time.*allowed: cpus: 1"),
        ("host", {"cpu": "1 GIPS"}, "a has cpu: 1 GIPS, but in real time this computer.*allowed: kernel: lab"),
        ("lab-realtime", {"cpu": "0.5 GIPS"}, "a has cpu: 0.5 GIPS, but in real time this computer decides"),
    ],
)
def test_what_a_kernel_cannot_give_a_machine_is_refused(kernel: str, keys: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        orders(make_trial(of_a(**keys), kernel=kernel))
    if kernel == "lab-realtime":
        with pytest.raises(UserError, match=said):
            build(make_trial(of_a(**keys)).topology, Kernel("lab-realtime"))


@pytest.mark.parametrize("kernel", ["lab", "host"])
def test_only_cards_that_look_for_a_partner_are_waited_for(kernel: str) -> None:
    nodes = {**TOPOLOGY["nodes"], "b": {**SMALL, "model": "e1000"}}  # type: ignore[dict-item]
    steps = orders(make_trial({**TOPOLOGY, "nodes": nodes}, kernel=kernel)).steps
    (waits,) = (step for step in steps if isinstance(step, Run) and qemu.AWAIT_LINK in step.words)
    assert (waits.where, waits.words[4:]) == (Location(on="b"), ("eth0",))
    assert not any(isinstance(step, Run) and qemu.AWAIT_LINK in step.words for step in orders(make_trial()).steps)


@pytest.mark.parametrize(
    ("cpu", "shift"), [(None, "shift=0"), ("1 GIPS", "shift=0"), ("0.5 GIPS", "shift=1"), ("0.25 GIPS", "shift=2")]
)
def test_in_virtual_time_instructions_drive_a_machine_s_clock(cpu: str | None, shift: str) -> None:
    steps = orders(make_trial(of_a(**({} if cpu is None else {"cpu": cpu})), kernel="lab")).steps
    start, _ = (step for step in steps if isinstance(step, StartVm))
    said = " ".join(qemu.snapshot_words(start.words))
    assert said.startswith("env LD_PRELOAD=/run/tools/vmclock.so qemu-system-x86_64 ")
    processor = "-accel tcg,thread=single,tb-size=128 -cpu max,erms=off"
    assert f"{processor} -icount {shift},sleep=on,align=on -rtc clock=vm -smp 1 " in said
    assert " mitigations=off " in said
    assert " nolapic_timer " in said
    assert "@accelerator@" not in said
    real, _ = (step for step in orders(make_trial()).steps if isinstance(step, StartVm))
    assert "-icount" not in real.words
    assert "mitigations" not in " ".join(real.words)


def test_machines_are_in_virtual_time_unless_a_file_says_otherwise(tmp_path: Path) -> None:
    """With or without KVM: what a file says gives the same bytes on every computer."""
    (tmp_path / "s.yaml").write_text("".join(line for line in SWEPT.splitlines(True) if "kernel: host" not in line))
    assert {trial.kernel for trial in load_scenario(tmp_path / "s.yaml").trials()} == {Kernel("lab")}


def test_nothing_in_virtual_time_is_of_the_computer() -> None:
    """Files that differ from one run to the next: how long a processor of this computer took."""
    texts = {kernel: str(steps_data(orders(make_trial(kernel=kernel)).steps)) for kernel in ("lab", "host")}
    assert "'qemu-a-after.txt'" in texts["host"]
    assert "'qemu-a-after.txt'" not in texts["lab"]


def test_up_names_the_line_of_what_its_kernel_cannot_give_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "net.yaml"
    nodes = "nodes:\n  a:\n    type: vm\n    cpu: 1 GIPS\n  b: {type: host}\n"
    file.write_text(f"name: net\n{nodes}links: {{l: {{ends: [a, b]}}}}\n")
    monkeypatch.setattr(feasibility, "place_for", lambda *_: ("lab-realtime", ""))
    with pytest.raises(SpecError, match=r"net.yaml:5: a has cpu: 1 GIPS, but in real time .*; allowed: kernel: lab"):
        up(file)


def test_a_lab_kernel_has_the_memory_of_its_machines() -> None:
    small, large = (orders(make_trial(of_a(memory=memory), kernel="lab")) for memory in ("512 MiB", "1 GiB"))
    assert large.memory_bytes - small.memory_bytes >= 512 << 20
    assert small.memory_bytes > 2 * (512 << 20)


def test_a_path_without_a_rate_may_end_at_a_machine() -> None:
    """Its processor slows traffic down; nothing slows that of two hosts."""
    host = {"type": "host"}
    one = {**TOPOLOGY, "nodes": {"a": host, "b": SMALL, "s": {"type": "switch"}}}
    none = {**TOPOLOGY, "nodes": {"a": host, "b": host, "s": {"type": "switch"}}}
    orders(make_trial(one, kernel="lab"))
    with pytest.raises(UserError, match="no link between a and b has a rate"):
        orders(make_trial(none, kernel="lab"))


def test_a_speed_that_no_machine_has_is_refused_with_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text("name: net\nnodes:\n  a: {type: vm, cpu: 2 GIPS}\n")
    with pytest.raises(SpecError, match=r"net.yaml:3: .*2 GIPS.*allowed: 1 GIPS, 0.5 GIPS, 0.25 GIPS"):
        load_topology(tmp_path / "net.yaml")


def test_in_a_lab_kernel_files_of_machines_are_where_its_guest_has_them(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of this user's cache stands in no step."""
    monkeypatch.setattr(hypervisor, "version", lambda: "7.2")
    monkeypatch.setattr(hypervisor, "agent", lambda: kernel_cache.folder() / "agent/usr/sbin/qemu-ga")
    monkeypatch.setattr(kernel_cache, "initramfs_of", lambda kernel, *_: kernel.folder / "initramfs")
    fake_kernel("debian", default=True)
    trial = make_trial(kernel="lab")
    steps, how = local_words.substituted(
        trial.topology, orders(trial).steps, tools(), is_lab=True, is_virtual_time=True
    )
    assert how is not None
    assert how.name == hypervisor.COUNTED
    starts = [step for step in steps if isinstance(step, StartVm)]
    mounts = [step for step in steps if isinstance(step, Run) and step.words[0] == "mount"]
    assert max(map(steps.index, mounts)) < min(map(steps.index, starts))
    for start in starts:
        said = " ".join(start.words)
        assert "-kernel /run/vm/kernels/debian/vmlinuz -initrd /run/vm/kernels/debian/initramfs " in said
        assert "testbed.agent=/run/vm/agent/usr/sbin/qemu-ga" in said
        assert "local,path=/run/vm-root,mount_tag=root," in said
        assert str(cache) not in said
    assert local_words.programs(trial.topology).folders == {"vm": kernel_cache.folder().resolve()}


def test_in_a_lab_kernel_of_a_disk_s_folder_nothing_but_the_disk_is_seen(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A guest has a /tmp of its own, and no folder of the computer stands in a step."""
    monkeypatch.setattr(hypervisor, "version", lambda: "7.2")
    monkeypatch.setattr(hypervisor, "agent", lambda: kernel_cache.folder() / "agent/usr/sbin/qemu-ga")
    fake_kernel("debian", default=True)
    monkeypatch.setattr(kernel_cache, "initramfs_of", lambda kernel, *_: kernel.folder / "initramfs")
    (tmp_path / "disks").mkdir()
    disk = tmp_path / "disks/a,1.img"
    disk.write_bytes(b"")
    linked = tmp_path / "linked.img"
    linked.symlink_to(disk)
    nodes = {**TOPOLOGY["nodes"], "b": {**SMALL, "image": str(linked)}}  # type: ignore[dict-item]
    trial = make_trial({**TOPOLOGY, "nodes": nodes}, kernel="lab")
    steps, _ = local_words.substituted(trial.topology, orders(trial).steps, tools(), is_lab=True, is_virtual_time=True)
    (start,) = (step for step in steps if isinstance(step, StartVm) and "-drive" in step.words)
    assert "file=/run/vm-images/image-0/a,,1.img,if=virtio,snapshot=on" in start.words
    assert not any(str(tmp_path) in word for step in steps if isinstance(step, Run) for word in step.words)
    told = local_words.programs(trial.topology)
    assert (told.places, told.reads) == ({"image-0": tmp_path / "disks"}, (disk,))
    assert tmp_path / "disks" not in told.folders.values()


def test_a_tool_with_one_foot_in_each_end_is_refused() -> None:
    flow = {"tool": "flow", "from": "a", "to": "b", "duration": "1 s"}
    with pytest.raises(UserError, match=r"needs both ends in one kernel; allowed: tool: iperf3, or tool: ping"):
        orders(make_trial(workload=flow))


def test_an_image_is_looked_for_from_the_folder_of_its_topology(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text("name: net\nnodes:\n  a: {type: vm, image: disks/a.qcow2}\n")
    (node,) = load_topology(tmp_path / "net.yaml").nodes
    assert node.vm is not None
    assert node.vm.image == str(tmp_path / "disks/a.qcow2")


DEPENDENCIES = """\
kernel/fs/9p/9p.ko.xz: kernel/net/9p/9pnet.ko.xz kernel/fs/netfs.ko.xz
kernel/net/9p/9pnet.ko.xz:
kernel/fs/netfs.ko.xz:
kernel/drivers/virtio-net.ko.xz: kernel/net/failover.ko.xz
kernel/net/failover.ko.xz:
"""


def test_modules_are_loaded_after_what_they_need() -> None:
    order = [
        kernel_cache.module_name(file)
        for file in kernel_cache.load_order(DEPENDENCIES, ("9p", "virtio_net", "built_in"))
    ]
    assert order == ["9pnet", "netfs", "9p", "failover", "virtio_net"]


@pytest.mark.skipif(shutil.which("cpio") is None, reason="needs cpio")
def test_cpio_reads_our_archive(tmp_path: Path) -> None:
    archive = kernel_cache.initramfs(b"#!/init", [("9p.ko", b"abc"), ("overlay.ko", b"")])
    words = ("cpio", "--extract", "--quiet", "--make-directories", "--no-absolute-filenames", "init", "modules/*")
    subprocess.run(words, input=archive, cwd=tmp_path, check=True)
    assert (tmp_path / "init").read_bytes() == b"#!/init"
    assert (tmp_path / "modules/list").read_text().split() == ["9p.ko", "overlay.ko"]
    assert (tmp_path / "modules/9p.ko").read_bytes() == b"abc"
    assert os.access(tmp_path / "init", os.X_OK)


def test_of_a_signed_module_machines_get_what_was_signed() -> None:
    """`struct module_signature` of Linux: its last 4 bytes are the length of the signature, with the highest first."""
    plain, mark = b"\x7fELF and the rest", b"~Module signature appended~\n"
    signed = plain + b"s" * 300 + struct.pack(">8xI", 300) + mark
    assert kernel_cache.unsigned(signed) == plain
    assert kernel_cache.unsigned(plain) == plain


def test_a_machine_loads_the_modules_of_its_own_root_and_cards_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "module_files", lambda kernel, wanted: [(f"{name}.ko", b"") for name in wanted])
    (tmp_path / "vminit").write_bytes(b"our init")
    kernel = VmKernel("k", "7", "s", False, "2026", tmp_path)
    archives = {
        (root, card): kernel_cache.initramfs_of(kernel, tmp_path / "vminit", root, card).read_bytes()
        for root, card in (("host", "virtio"), ("host", "e1000"), ("disk", "virtio"))
    }
    loaded = {which: set(re.findall(rb"modules/(\w+)\.ko", archive)) for which, archive in archives.items()}
    assert loaded == {
        ("host", "virtio"): {b"9p", b"9pnet_virtio", b"overlay", b"virtio_net"},
        ("host", "e1000"): {b"9p", b"9pnet_virtio", b"overlay", b"e1000"},
        ("disk", "virtio"): {b"virtio_blk", b"ext4", b"overlay", b"virtio_net"},
    }


def test_what_grep_says_of_files_is_told_by_file() -> None:
    said = b"/p/sys/a:4096 16384\t9\n/p/sys/b:x:y\n/p/sys/a:1\n"
    assert remote_vm.words_of(said, "/p/sys/") == {"a": ["4096", "16384", "9", "1"], "b": ["x:y"]}


BEFORE, AFTER = "cpu  100 0 100 800 0 0 0 0\ncpu0 1\ncpu1 1\n", "cpu  140 0 120 840 0 0 0 0\ncpu0 1\ncpu1 1\n"


def test_how_busy_processors_were_is_what_was_not_idle() -> None:
    assert vmevidence.busy_share(BEFORE, AFTER) == pytest.approx(0.6)
    assert vmevidence.busy_share(BEFORE, BEFORE) is None


def test_what_a_process_took_is_in_processors() -> None:
    """100 ticks on two processors are 50 of time; 30 + 15 of them were spent."""
    stat = "7 (qemu-system (x)) S " + " ".join(["0"] * 10) + " {} {} 0 0"
    assert vmevidence.processors_taken(stat.format(5, 5), stat.format(35, 20), BEFORE, AFTER) == pytest.approx(0.9)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fake_kernel(name: str, default: bool = False, source: str = "test") -> VmKernel:
    with kernel_cache.kernels().partial() as made:
        (made / "vmlinuz").write_text(name)
        (made / "modules").mkdir()
        return kernel_cache.put(made, VmKernel(name, "7.3", source, default, "2026", made))


def test_a_kernel_is_found_by_name_or_as_the_newest_default(cache: Path) -> None:
    with pytest.raises(
        MachineError, match=r"no kernel for virtual machines has been fetched yet.*testbed kernel fetch"
    ):
        kernel_cache.find(None)
    fake_kernel("mine")
    fake_kernel("debian-7.3.4", default=True)
    assert [each.name for each in kernel_cache.installed()] == ["mine", "debian-7.3.4"]
    assert kernel_cache.find(None).name == "debian-7.3.4"
    assert kernel_cache.find("mine").image.read_text() == "mine"
    with pytest.raises(MachineError, match=r"called 'debain-7.3.4' \(there are: debian-7.3.4, mine \(did you mean"):
        kernel_cache.find("debain-7.3.4")


def test_doctor_names_every_kernel_that_a_machine_can_have(cache: Path) -> None:
    newest = fake_kernel("debian", default=True)
    assert doctor._vm_kernel() == f"debian (7.3) {newest.folder}"
    fake_kernel("mine")
    fake_kernel("old")
    assert doctor._vm_kernel() == f"debian (7.3) {newest.folder}; also mine (7.3), old (7.3)"


def test_a_kernel_that_a_file_names_and_that_is_not_here_is_refused_with_the_line(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text("name: net\nnodes:\n  a: {type: vm}\n  b: {type: vm, kernel: mime}\n")
    fake_kernel("mine")
    check_kernels([file], {"mine"})
    said = r"net.yaml:4: kernel: no kernel .* called 'mime' here; allowed: mine \(did you"
    with pytest.raises(NotHere, match=said):
        check_kernels([file], {"mine", "mime"})


SWEPT = """\
name: s
topology: {name: net, nodes: {a: {type: vm, kernel: other}, b: {type: vm}}, links: {l: {ends: [a, b]}}}
kernel: host
workload: {tool: ping, from: a, to: b, count: 1}
sweep:
  a.kernel:
    - mine
    - mime
"""


def test_a_kernel_that_an_axis_names_is_looked_for_in_the_place_of_the_file_s(cache: Path, tmp_path: Path) -> None:
    """Which no trial has, so that it need not be here."""
    file = tmp_path / "s.yaml"
    file.write_text(SWEPT)
    fake_kernel("mine")
    needed = kernels_of(trial.topology for trial in load_scenario(file).trials())
    assert needed == {"mine", "mime"}
    with pytest.raises(NotHere) as refused:
        check_kernels([file], needed)
    assert [(problem.line, problem.what.split(":")[0]) for problem in refused.value.problems] == [(8, "a.kernel")]


@pytest.mark.parametrize(
    ("vm", "free_bytes", "said"),
    [
        (Vm(memory_bytes=1 << 34), 1 << 30, r"have 16384 MiB together, and 1024 MiB are free"),
        (Vm(kernel="mime"), 1 << 40, r"a: no kernel for virtual machines is called 'mime'"),
        (Vm(image="/nowhere/disk.qcow2"), 1 << 40, r"a: the image /nowhere/disk.qcow2 cannot be read"),
    ],
)
def test_what_a_machine_lacks_is_said_before_anything_starts(
    cache: Path, monkeypatch: pytest.MonkeyPatch, vm: Vm, free_bytes: int, said: str
) -> None:
    monkeypatch.setattr(hypervisor, "version", lambda: "7.2")
    monkeypatch.setattr(hypervisor, "agent", lambda: Path("/usr/sbin/qemu-ga"))
    monkeypatch.setattr(hypervisor, "TUN", Path("/dev/null"))
    make_startable(fake_kernel("debian", default=True))
    with pytest.raises(MachineError, match=said):
        hypervisor.check([("a", vm)], free_bytes, 0)


def header(version: int = 0x20F, flags: int = 1) -> bytes:
    """The beginning of a bzImage."""
    return bytes(510) + b"\x55\xaa\xeb\x6aHdrS" + struct.pack("<H", version) + bytes(0x2E) + struct.pack("<H", flags)


def make_startable(kernel: VmKernel) -> None:
    """Gives it what is looked at before a machine starts."""
    kernel.image.write_bytes(header().ljust(1 << 12, b"\0"))
    (kernel.modules / kernel.release).mkdir()
    (kernel.modules / kernel.release / "modules.dep").touch()


def elf(bits: int, processor: int) -> bytes:
    return b"\x7fELF" + bytes([bits // 32, 1]) + bytes(12) + struct.pack("<H", processor)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"", "is no kernel of Linux for x86-64"),
        (b"#!/bin/sh\n" * 500, "is no kernel of Linux for x86-64"),
        (header()[:0x210], "is no kernel of Linux for x86-64"),  # cut off
        (header(flags=0), "is for 32 bits; allowed: one for x86-64"),
        (header(version=0x204), "is for 32 bits"),
        (elf(64, 183), "is for another processor than x86-64"),
        (elf(32, 3), "is for another processor than x86-64"),
        (bytes(56) + b"ARMd", "is for ARM"),
    ],
)
def test_what_is_no_kernel_of_this_processor_is_refused_before_anything_starts(
    cache: Path, head: bytes, said: str
) -> None:
    kernel = fake_kernel("mine")
    make_startable(kernel)
    hypervisor.check_kernel("a", kernel)
    kernel.image.write_bytes(head.ljust(1 << 12, b"\0") if len(head) > 0x230 else head)
    with pytest.raises(
        MachineError, match=rf"a: the kernel mine \(.*vmlinuz\) {said}.*kernel build --for vm --name mine"
    ):
        hypervisor.check_kernel("a", kernel)


def test_kernels_as_they_are_pass(cache: Path) -> None:
    """An unpacked one, and one as it is packed; without the list of its modules it is refused."""
    kernel = fake_kernel("mine")
    make_startable(kernel)
    kernel.image.write_bytes(elf(64, 62))
    hypervisor.check_kernel("a", kernel)
    (kernel.modules / kernel.release / "modules.dep").unlink()
    with pytest.raises(MachineError, match=r"a: the kernel mine has no list of its modules \(.*7.3/modules.dep\)"):
        hypervisor.check_kernel("a", kernel)


def test_a_disk_that_cannot_boot_is_refused_unless_it_need_not(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    for content, boots in ((b"QFI\xfb" + bytes(600), True), (header(), True), (bytes(600), False), (b"x", False)):
        disk.write_bytes(content)
        hypervisor.check_disk("a", disk, boots_itself=False)
        if boots:
            hypervisor.check_disk("a", disk, boots_itself=True)
        else:
            with pytest.raises(
                MachineError, match=r"a: the image .* has no boot sector .*kernel: NAME beside the image"
            ):
                hypervisor.check_disk("a", disk, boots_itself=True)
    disk.write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")  # whoever opens it waits for a writer
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(MachineError, match=rf"a: the image {path} is no file and no disk"):
            hypervisor.check_disk("a", path, boots_itself=False)
    with pytest.raises(MachineError, match=r"a: the image .* is empty"):
        hypervisor.check_disk("a", disk, boots_itself=False)


def test_without_qemu_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    hypervisor.version.cache_clear()
    monkeypatch.setattr(package, "which", lambda program: None)
    with pytest.raises(MachineError, match=r"QEMU is missing.*apt-get install -y qemu-system-x86$"):
        hypervisor.version()


def test_a_trial_knows_what_the_kernels_of_its_machines_were_made_of(cache: Path) -> None:
    """So that a kernel that is built anew under the same name does not take old results."""
    assert ready_kernel.kernel_key(make_trial()) is None
    fake_kernel("debian", default=True)
    before = ready_kernel.kernel_key(make_trial())
    assert re.fullmatch(r"test [0-9a-f]{16}; test [0-9a-f]{16}", str(before))
    assert ready_kernel.kernel_key(make_trial()) == before
    fake_kernel("debian", default=True, source="changed")
    assert str(ready_kernel.kernel_key(make_trial())) == str(before).replace("test", "changed")


def test_in_virtual_time_both_kernels_count(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """That of the lab, and those of the machines; what is stored tells the same."""
    built = SimpleNamespace(image=SimpleNamespace(key="lab"))
    monkeypatch.setattr(ready_kernel, "ready_kernel", lambda kernel: built)
    trial = make_trial(kernel="lab")
    assert ready_kernel.kernel_key(trial) is None
    fake_kernel("debian", default=True)
    machines = ready_kernel.machine_kernels(trial)
    assert ready_kernel.kernel_key(trial) == f"lab; {machines}"
    (tmp_path / "trials" / trial.id).mkdir(parents=True)
    noted = {"kernel": {"key": "lab"}, "machine_kernels": machines}
    (tmp_path / "trials" / trial.id / "provenance.json").write_text(json.dumps(noted))
    assert Store(tmp_path).kernel_key(trial) == f"lab; {machines}"
    fake_kernel("debian", default=True, source="changed")
    assert ready_kernel.kernel_key(trial) == f"lab; {machines}".replace("test", "changed")


@pytest.mark.parametrize(("told", "cpus"), [("0", "1"), ("0-1", "2"), ("0-2,5,7-8", "6"), ("", "")])
def test_the_processors_of_a_machine_are_counted(told: str, cpus: str) -> None:
    assert remote_vm.count_of(told) == cpus


@pytest.mark.parametrize("what", ["kernel", "module", "image", "QEMU", "guest agent"])
def test_no_result_is_believed_after_a_file_of_its_machines_changed(
    what: str, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever the kernel's own record still says of where it came from."""
    fake_kernel("debian", default=True)
    program, disk = tmp_path / qemu.PROGRAM, tmp_path / "disk.raw"
    module = kernel_cache.find(None).modules / "tcp_bbr.ko"
    monkeypatch.setattr(software, "_asked", lambda: {"modules": [], "files": ["/lib/ld-linux.so"]})
    monkeypatch.setattr(software, "_libraries", lambda programs: {str(each): [] for each in programs})
    monkeypatch.setattr(software, "PLACES", (str(tmp_path),))
    monkeypatch.setattr(guest_agent, "agent", lambda: tmp_path / "qemu-ga")
    monkeypatch.setattr(software, "here", dict)
    files = {"kernel": kernel_cache.find(None).image, "module": module, "image": disk, "QEMU": program}
    files["guest agent"] = tmp_path / "qemu-ga"
    for path in files.values():
        path.write_text("one")
    program.chmod(0o755)
    nodes = {**TOPOLOGY["nodes"], "b": {**SMALL, "kernel": "debian", "image": str(disk)}}  # type: ignore[dict-item]
    trial = make_trial({**TOPOLOGY, "nodes": nodes})

    def digests() -> tuple[str | None, str | None]:
        machines = ready_kernel.machine_kernels(trial)
        parts = software.of_machines(str(machines))
        assert software.UNKNOWN not in parts.values()
        return machines, software.digest(parts)

    before = digests()
    assert digests() == before
    files[what].write_text("two")  # as long
    os.utime(files[what], ns=(1, 1))
    after = digests()
    assert after[1] != before[1]
    assert (after[0] != before[0]) == (what in ("kernel", "module", "image"))
    files[what].unlink()
    if what in ("kernel", "image"):
        with pytest.raises(MachineError, match=r"no kernel for virtual machines|disk.raw cannot be read"):
            digests()


def test_only_trials_with_machines_have_parts_of_them(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(software, "here", lambda: {"ip": "1"})
    assert provenance._software("lab")["parts"] == {"kernel": "lab", "ip": "1"}
    assert {"machine kernels", "QEMU", "QEMU's firmware", "guest agent"} < provenance._software("lab", "test")[
        "parts"
    ].keys()


def test_what_kvm_is_good_for_is_tried_once(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A /dev/kvm with which a kernel says nothing before the limit is of no use."""
    said = iter(["kvm: error: failed to set MSR 0x10a\nAborted"])
    monkeypatch.setattr(hypervisor, "version", lambda: "7.2")
    monkeypatch.setattr(hypervisor, "KVM", tmp_path)
    monkeypatch.setattr(hypervisor, "boot", lambda *words: next(said))
    monkeypatch.setattr(kernel_cache, "initramfs_of", lambda kernel, *_: tmp_path / "initramfs")
    fake_kernel("debian", default=True)
    first, again = hypervisor.accelerator(tools()), hypervisor.accelerator(tools())
    assert first == again
    assert (first.name, first.version) == ("tcg", "7.2")
    assert "failed to set MSR 0x10a" in first.why


def judged(busy: float, accelerator: str, rtt_s: float) -> dict[str, str]:
    """Check to verdict, for machines that were so busy and pings that took so long."""
    trial = make_trial(kernel="lab" if accelerator == hypervisor.COUNTED else "host")
    plan = orders(trial).plan
    busy_s = busy * (trial.workload.length_ns or 0) / 1e9 + qemu.takes_ns(None, machine.LOOKS) / 1e9
    cpu = "1 GIPS" if accelerator == hypervisor.COUNTED else None
    seen = vm_result(accelerator, busy, why_no_kvm="no /dev/kvm", cpu=cpu, host_cpus=0.5, busy_s=busy_s)
    ping = PingResult(5, 5, rtt_s, rtt_s, 20 * rtt_s, 8 * rtt_s)
    both = {"a": seen, "b": seen}
    good = fine(trial, plan)
    length_ns = trial.workload.length_ns
    outcome = replace(good.outcome, begin_ns=None, steady_ns=None, end_ns=None, took_ns=length_ns)
    evidence = seen_as(good, outcome=outcome, rtt_check=ping, cpu_busy=0.5, vms=both)
    return {each.check: each.verdict for each in judge(Case(trial, plan, evidence))}


@pytest.mark.parametrize(
    ("busy", "accelerator", "rtt_s", "found"),
    [
        (0.5, "kvm", 1e-5, {}),
        (0.95, "kvm", 1e-5, {"virtual machine": "suspect"}),
        (0.5, "kvm", 2e-3, {"rtt": "suspect"}),
        (0.5, "tcg", 1e-5, {"virtual machine": "valid"}),
        (0.5, "tcg", 2e-3, {"virtual machine": "valid", "rtt": "valid"}),
        (0.5, "tcg", 9e-3, {"virtual machine": "valid", "rtt": "suspect"}),
        (0.5, hypervisor.COUNTED, 1e-5, {}),
        (0.95, hypervisor.COUNTED, 1e-5, {"virtual machine": "valid"}),  # no link has a rate
        (0.5, hypervisor.COUNTED, 2e-3, {"rtt": "invalid"}),
    ],
)
def test_what_machines_do_to_a_number_is_said(
    busy: float, accelerator: str, rtt_s: float, found: dict[str, str]
) -> None:
    assert judged(busy, accelerator, rtt_s) == found


REAL = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.xdist_group("vm"),  # a kernel is fetched once, and machines want their memory
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


@pytest.fixture(scope="module")
def kernel() -> VmKernel:
    if package.which(qemu.PROGRAM) is None:
        pytest.skip("needs QEMU")
    try:
        guest_agent.agent()
        return kernel_cache.find(None)
    except MachineError:
        pass
    try:
        return vm_build.fetch()
    except MachineError as error:
        pytest.skip(f"needs a kernel: {error}")


@pytest.fixture
def _the_host_stays_as_it_was(tmp_path: Path) -> Iterator[None]:
    with host_unchanged():
        yield
    assert outlive(processes_below(tmp_path)) == []


def run_real(trial: Trial, folder: Path) -> Ran:
    folder.mkdir()
    made = orders(trial)
    readiness.check(trial, made)
    return Ran(trial, made, folder, run.run(trial, made, folder))


FETCHED = 300_000


def programs(folder: Path, **client: object) -> dict[str, object]:
    """A web server in the machine a, with a file that stands beside the scenario, and a client on the host b."""
    folder.mkdir(exist_ok=True)
    (folder / "page").write_bytes(bytes(range(250)) * (FETCHED // 250))
    words = ["busybox", "wget", "-q", "-O", "{out}/got", "http://{server.address}:8080/page"]
    server = {"at": "a", "run": ["busybox", "httpd", "-f", "-p", "8080"], "ready": {"tcp": 8080}}
    return {
        "tool": "command",
        "server": server,
        "client": {"at": "b", "run": words, "runs": 2, "pause": "100 ms", **client},
        "measure": {"goodput": {"bytes": f"{FETCHED} B"}},
        "collect": ["out/got"],
        "files": ["page"],
    }


def program_trial(folder: Path, kernel: str, workload: dict[str, object]) -> Trial:
    path = {"ends": ["a", "b"], "rate": "20 Mbit/s", **({} if kernel == "host" else {"rtt": "10 ms"})}
    nodes = {"a": {"type": "vm", "memory": "256 MiB"}, "b": {"type": "host"}}
    topology = {"name": "net", "nodes": nodes, "links": {"l": path}}
    scenario = {"name": "programs", "kernel": kernel, "topology": topology, "workload": workload}
    (folder / "programs.yaml").write_text(json.dumps(scenario))
    return load_scenario(folder / "programs.yaml").trials()[0]


def check_programs(ran: Ran) -> None:
    said = need(CommandResult, ran.result.measured)
    assert ran.result.verdict != "invalid", ran.result.findings
    assert [(each.number, each.status) for each in said.runs] == [(1, 0), (2, 0)]
    first, second = said.runs
    assert second.begin_s - first.begin_s - first.elapsed_s >= 0.1
    for each in (1, 2):
        got = (ran.folder / f"command-client-{each}-out-got").read_bytes()
        assert got == bytes(range(250)) * (FETCHED // 250)
    assert min(each.elapsed_s for each in said.runs) > FETCHED * 8 / 20e6
    assert said.traffic["b"].payload_in_bytes >= 2 * FETCHED
    assert said.traffic["a"].payload_out_bytes >= 2 * FETCHED
    assert said.stopped == {"server": "asked"}


CLASSROOM = """\
name: net
nodes:
  a: {type: vm, memory: 512 MiB}
  s: {type: ovs}
  c: {type: controller, app: learning-switch}
  b: {type: host}
links: {left: {ends: [a, s]}, right: {ends: [s, b]}}
"""


class TestReal:
    """Machines that boot: seconds each, without KVM."""

    pytestmark = REAL

    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_programs_run_in_a_machine_as_in_a_namespace(self, kernel: VmKernel, tmp_path: Path) -> None:
        spec = tmp_path / "spec"
        check_programs(run_real(program_trial(spec, "host", programs(spec)), tmp_path / "trial"))

    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_a_program_that_fails_in_a_machine_ends_the_trial_with_its_reason(
        self, kernel: VmKernel, tmp_path: Path
    ) -> None:
        spec = tmp_path / "spec"
        words = ["sh", "-c", "echo it broke >&2; exit 3"]
        trial = program_trial(spec, "host", programs(spec, at="a", run=words, runs=1) | {"from": "a", "to": "b"})
        with pytest.raises(TrialError, match=r"(?s)the program client \(sh .*ended with status 3.*it broke"):
            run_real(trial, tmp_path / "trial")

    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_two_machines_of_two_kinds_exchange_pings_and_data(self, kernel: VmKernel, tmp_path: Path) -> None:
        """Frames are no larger than the MTU allows, and the numbers come from inside."""
        other = {**SMALL, "model": "e1000", "nic": "plain", "sysctls": {"net.ipv4.tcp_ecn": "1"}}
        nodes = {**TOPOLOGY["nodes"], "b": other}  # type: ignore[dict-item]
        ran = run_real(make_trial({**TOPOLOGY, "nodes": nodes}), tmp_path / "trial")
        assert ran.result.verdict != "invalid"
        (flow,) = ran.result.flows
        assert flow.received_bytes > 1_000_000
        assert flow.mss_bytes == 1400 - 52  # IP, TCP, and its time stamps
        assert 0 < ran.result.seen.rtt_s < 0.1
        about = ran.result.vms
        assert set(about) == {"a", "b"}
        for each in about.values():
            assert each.kernel_release == kernel.release
            assert each.accelerator in ("kvm", "tcg")
            assert each.memory_bytes == 512 << 20
            assert 0 < each.boot_s < qemu.BOOT_LIMIT_S
            assert 0 < each.cpu_busy <= 1
            assert 0 < each.host_cpus < (os.cpu_count() or 1)
        assert "testbed-vm: ready" in (ran.folder / "vm-a.log").read_text()
        assert "tcp_ecn: 1\n" in (ran.folder / "sysctls-b.txt").read_text()
        assert "TcpExt:" in (ran.folder / "netstat-a-after.txt").read_text()

    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_a_machine_with_two_links_reaches_namespaces_on_both(self, kernel: VmKernel, tmp_path: Path) -> None:
        topology = {
            "name": "net",
            "nodes": {"a": {"type": "host"}, "m": SMALL, "b": {"type": "host"}},
            "links": {"first": {"ends": ["a", "m"]}, "second": {"ends": ["m", "b"]}},
        }
        ping = {"tool": "ping", "from": "m", "to": "b", "count": 3, "interval": "200 ms"}
        ran = run_real(make_trial(topology, workload=ping), tmp_path / "trial")
        assert ran.ping.received == 3
        assert ran.made.plan.book.ports_of("m")[1].device == "eth1"

    @pytest.mark.nightly
    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_machines_talk_through_an_open_vswitch_that_is_told_what_to_do(
        self, kernel: VmKernel, tmp_path: Path
    ) -> None:
        """In user space: checksums that a machine left to its card would come as wrong ones, and data not at all."""
        if lacking := [name for name in package.OPEN_VSWITCH if package.which(name) is None]:
            pytest.skip(f"needs {lacking[0]}")
        topology = {
            "name": "net",
            "nodes": {
                **{"a": SMALL, "b": SMALL, "s": {"type": "switch"}},
                **{"core": {"type": "ovs", "datapath": "user"}, "c": {"type": "controller", "app": "learning-switch"}},
            },
            "links": {"left": {"ends": ["a", "core"]}, "up": {"ends": ["core", "s"]}, "right": {"ends": ["s", "b"]}},
        }
        ran = run_real(make_trial(topology), tmp_path / "trial")
        (flow,), switch = ran.result.flows, ran.result.sdn.switches["core"]
        assert flow.received_bytes > 1_000_000
        assert switch.ports["2"]["tx_bytes"] > flow.received_bytes
        assert (switch.datapath, switch.flows_before, switch.flows_after) == ("user", 1, 3)
        assert ran.result.sdn.controllers["c"].packet_ins["core"] >= 2

    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_an_image_of_the_user_s_own_is_what_a_machine_runs_and_stays_as_it_was(
        self, kernel: VmKernel, tmp_path: Path
    ) -> None:
        if lacking := userimage.missing("mke2fs"):
            pytest.skip(f"needs {lacking}")
        image = userimage.make(tmp_path, "a disk of mine", guest_agent.agent())
        before = image.read_bytes()
        own = {**SMALL, "image": str(image), "kernel": kernel.name}
        nodes = {**TOPOLOGY["nodes"], "b": own}  # type: ignore[dict-item]
        ran = run_real(make_trial({**TOPOLOGY, "nodes": nodes}), tmp_path / "trial")
        assert ran.result.flows[0].received_bytes > 1_000_000
        assert (ran.result.vms["a"].image, ran.result.vms["b"].image) == (None, str(image))
        assert "image: a disk of mine on /dev/vport" in (ran.folder / "vm-b.log").read_text()
        assert image.read_bytes() == before

    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_people_work_in_a_machine_behind_a_switch_with_a_controller(self, kernel: VmKernel, tmp_path: Path) -> None:
        if lacking := [name for name in package.OPEN_VSWITCH if package.which(name) is None]:
            pytest.skip(f"needs {lacking[0]}")
        file = tmp_path / "net.yaml"
        file.write_text(CLASSROOM)
        home = Home.at(tmp_path)
        (home.cache / "vm").symlink_to(kernel_cache.folder())

        def testbed(*words: str | Path) -> str:
            done = subprocess.run(home.words(*words), capture_output=True, text=True, env=home.env, check=False)
            assert done.returncode == 0, done.stderr
            return done.stdout

        testbed("up", file)
        try:
            assert kernel.release in testbed("exec", "a", "--", "uname", "-r")
            # Until three are answered; a busy computer's come late, and count.
            assert " 3 received" in testbed("exec", "a", "--", "ping", "-c", "3", "-w", "120", "10.0.0.2")
        finally:
            testbed("down", "net")

    @pytest.mark.nightly
    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_an_image_with_a_kernel_of_its_own_boots_itself(self, kernel: VmKernel, tmp_path: Path) -> None:
        if lacking := userimage.missing("syslinux", "mformat", "mcopy", "cpio", "qemu-img"):
            pytest.skip(f"needs {lacking}")
        disk = userimage.make_bootable(tmp_path, "all of it mine", guest_agent.agent(), kernel)
        subprocess.run(("qemu-img", "convert", "-O", "qcow2", disk, tmp_path / "user.qcow2"), check=True)
        nodes = {**TOPOLOGY["nodes"], "b": {**SMALL, "image": str(tmp_path / "user.qcow2")}}  # type: ignore[dict-item]
        ran = run_real(make_trial({**TOPOLOGY, "nodes": nodes}), tmp_path / "trial")
        assert ran.result.flows[0].received_bytes > 1_000_000
        assert ran.result.vms["b"].kernel_release == kernel.release
        assert "image: all of it mine on /dev/vport" in (ran.folder / "vm-b.log").read_text()

    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_a_machine_that_does_not_come_up_shows_its_console(self, kernel: VmKernel, tmp_path: Path) -> None:
        with kernel_cache.kernels().partial() as made:
            (made / "vmlinuz").symlink_to(kernel.image)
            (made / "modules" / kernel.release).mkdir(parents=True)
            (made / "modules" / kernel.release / "modules.dep").write_text("")
            name = f"without-modules-{os.getpid()}"
            broken = kernel_cache.put(made, VmKernel(name, kernel.release, "test", False, "2026", made))
        try:
            nodes = {**TOPOLOGY["nodes"], "b": {**SMALL, "kernel": name}}  # type: ignore[dict-item]
            said = r"(?s)the virtual machine b failed: .*testbed-vm: mount root \(9p\) on /lower: No such device"
            with pytest.raises(TrialError, match=said):
                run_real(make_trial({**TOPOLOGY, "nodes": nodes}), tmp_path / "trial")
            assert "No such device" in (tmp_path / "trial/vm-b.log").read_text()
        finally:
            shutil.rmtree(broken.folder)

    @pytest.mark.usefixtures("_the_host_stays_as_it_was")
    def test_a_run_that_is_killed_takes_its_machines_with_it(self, kernel: VmKernel, tmp_path: Path) -> None:
        folder = tmp_path / "trial"
        folder.mkdir()
        environment = {**os.environ, "PYTHONPATH": f"{Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"}
        with subprocess.Popen(
            (sys.executable, "-c", ONE_TRIAL, folder), stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "alive\n"
            machines = [pid for pid in machines_of(folder) if pid != process.pid]
            assert len(machines) == 2
            process.kill()
        assert outlive(machines) == []


def span_s(capture: Path) -> list[float]:
    """The times of the echo requests in it, by lab time."""
    words = ("tcpdump", "-tt", "-n", "-r", str(capture), "icmp[icmptype] == icmp-echo")
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return [float(line.split()[0]) for line in said.splitlines()]


VIRTUAL = [pytest.mark.lab, pytest.mark.slow, pytest.mark.xdist_group("vm")]


class TestVirtualTime:
    """The same in a lab kernel, as any user: half a minute of a processor for each machine."""

    pytestmark = VIRTUAL

    def test_a_machine_and_the_network_have_one_clock(self, kernel: VmKernel, tmp_path: Path) -> None:
        """What the machine says of its pings, by its own clock, is what a capture outside sees, by lab time. A clock
        that is stale after a sleep is wrong by the length of that sleep: here 200 ms, and 5 ms in each round trip.
        """
        topology = {
            "name": "net",
            "nodes": {"a": {"type": "vm", "memory": "256 MiB"}, "b": {"type": "host"}},
            "links": {"l": {"ends": ["a", "b"], "rtt": "10 ms", "rate": "100 Mbit/s"}},
        }
        ping = {"tool": "ping", "from": "a", "to": "b", "count": 5, "interval": "200 ms"}
        trial = make_trial(topology, kernel="lab", workload=ping, capture=[{"at": "b"}])
        ran = run_real(trial, tmp_path / "trial")
        assert ran.result.verdict == "valid"
        (about,) = ran.result.vms.values()
        assert (about.accelerator, about.cpu, about.host_cpus) == (hypervisor.COUNTED, "1 GIPS", None)
        assert about.kernel_release == kernel.release
        assert 0 < about.boot_s < 1  # lab time, whatever the computer does: a kernel takes longer to boot
        assert 0 < about.cpu_busy < 0.5
        assert ran.ping.received == 5
        assert 10e-3 <= ran.ping.rtt_min_s <= ran.ping.rtt_max_s < 10.2e-3
        seen = span_s(ran.folder / "b-eth0.pcap")[-5:]
        said = int(re.search(r"time (\d+)ms", (ran.folder / "ping.out").read_text())[1])  # type: ignore[index]
        assert 1e3 * (seen[-1] - seen[0]) == pytest.approx(said, abs=1)
        assert all(0.2 <= later - earlier < 0.201 for earlier, later in pairwise(seen))

    def test_programs_run_in_a_machine_in_lab_time(self, kernel: VmKernel, tmp_path: Path) -> None:
        spec = tmp_path / "spec"
        ran = run_real(program_trial(spec, "lab", programs(spec)), tmp_path / "trial")
        check_programs(ran)
        assert ran.result.verdict == "valid", ran.result.findings

    @pytest.mark.nightly
    def test_two_runs_of_a_trial_write_the_same_bytes(self, kernel: VmKernel, tmp_path: Path) -> None:
        """Two machines that are busy, and wait for each other; nothing is sent again, as nothing was lost."""
        trial = make_trial(
            of_a(cpu="0.5 GIPS"), kernel="lab", workload={**IPERF3, "duration": "1 s", "window": "16 KiB"}
        )
        ran, again = (run_real(trial, tmp_path / name) for name in ("one", "again"))
        (flow,) = ran.result.flows
        assert flow.received_bytes > 1_000_000
        assert flow.retransmits == 0
        assert ran.result.verdict == "valid", ran.result.findings
        assert [each.cpu for each in ran.result.vms.values()] == ["0.5 GIPS", "1 GIPS"]
        differing = [
            path.name
            for path in sorted(ran.folder.iterdir())
            if path.name != "host.json" and path.read_bytes() != (again.folder / path.name).read_bytes()
        ]
        assert differing == []


WAYS = ("poll", "ppoll", "nanosleep", "clock_nanosleep", "futex", "timedwait", "wait", "mutex")


@pytest.fixture(scope="module")
def fakeqemu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with what the clock needs of QEMU, which sleeps 5 ms in every way that QEMU knows."""
    made = tmp_path_factory.mktemp("fakeqemu") / "fakeqemu"
    source = Path(__file__).with_name("fakeqemu.c")
    subprocess.run(("gcc", "-O2", source, "-rdynamic", "-pthread", "-o", made), check=True)
    return made


def with_clock(program: Path | str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_PRELOAD": str(tools().folder / "vmclock.so")}
    return subprocess.run((program,), capture_output=True, text=True, env=environment, check=False)


def numbers(said: str) -> dict[str, list[int]]:
    return {name: list(map(int, words)) for name, *words in map(str.split, said.splitlines())}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may go first, as in a guest")
class TestClock:
    """`vmclock.so` in a program that stands for QEMU, on this computer's clock."""

    def test_it_is_kept_while_nobody_sleeps_and_never_over_a_sleep(self, fakeqemu: Path) -> None:
        done = with_clock(fakeqemu)
        assert (done.returncode, done.stderr) == (0, "")
        found = numbers(done.stdout)
        assert set(found) == {*WAYS, "event", "boot", "packet", "spoken", "kick", "ahead"}
        for name in WAYS:
            slept_ns, seen_ns, is_kept = found[name]
            assert is_kept, name
            assert 5_000_000 <= slept_ns <= seen_ns, name  # a stale clock has seen nothing

    def test_a_machine_that_is_ahead_waits_before_anything_leaves_it(self, fakeqemu: Path) -> None:
        """As long as it is ahead, which is 5 ms; without the library nothing waits."""
        found = numbers(with_clock(fakeqemu).stdout)
        alone = subprocess.run((fakeqemu,), capture_output=True, text=True, check=True).stdout
        assert found["event"][0] >= 5_000_000
        assert found["packet"][0] >= 5_000_000
        assert found["ahead"] == [0, 1]  # 9 us are not far, 20 us are
        assert "ahead 0 0\n" in alone

    def test_who_is_told_of_a_queue_looks_at_it_before_the_machine_goes_on(self, fakeqemu: Path) -> None:
        """Once the machine has given QEMU's lock back, not before: the other thread would wait for it."""
        assert numbers(with_clock(fakeqemu).stdout)["kick"] == [0, 1]

    def test_a_machine_that_has_said_nothing_yet_may_be_further_ahead(self, fakeqemu: Path) -> None:
        """0.5 ms, which it waits for from its first packet on; the clock is kept while nobody slept."""
        found = numbers(with_clock(fakeqemu).stdout)
        assert found["boot"][1] == 0
        assert found["spoken"][0] >= 500_000

    def test_another_program_is_refused_rather_than_run_with_a_wrong_clock(self) -> None:
        done = with_clock("/bin/true")
        assert done.returncode == 1
        assert done.stderr == "vmclock: this QEMU cannot keep lab time: it hides its functions\n"


ONE_TRIAL = """
import sys
from pathlib import Path
from test_vm import IPERF3, make_trial
from testbed.trial import run
from testbed.trial.orders.sequence import orders
trial = make_trial(workload={**IPERF3, "duration": "100 s"})
run.run(trial, orders(trial), Path(sys.argv[1]), progress=lambda lab_s: print("alive", flush=True))
"""


def machines_of(folder: Path) -> list[int]:
    """QEMU's processes whose console is in a folder."""
    consoles = {path.stat().st_ino for path in folder.glob("vm-*.log")}
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with suppress(OSError):
                words = (path / "cmdline").read_bytes()
                if words.startswith(qemu.PROGRAM.encode()) and (path / "fd/1").stat().st_ino in consoles:
                    found.append(int(path.name))
    return found
