"""Snapshots of virtual machines: what names one, how it is kept, and that machines that start from one are two."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_vm import SMALL, TOPOLOGY, VIRTUAL, cache, fake_kernel, kernel, make_trial, run_real  # noqa: F401 (fixtures)
from trials import Ran

from testbed.error import MachineError
from testbed.kernel import lab
from testbed.kernel.guest import TrialError
from testbed.kernel.image.cache import KernelImage
from testbed.kernel.vm import hypervisor, kernel_cache, runtime, snapshot
from testbed.kernel.vm.kernel_cache import VmKernel
from testbed.model.scenario import Trial
from testbed.native_program import Tools
from testbed.plan.node import vm as qemu
from testbed.plan.step import ReachVm, Run, StartVm, Step
from testbed.spec.load import load_scenario
from testbed.trial import provenance, ready_kernel, software
from testbed.trial.orders.sequence import orders

IMAGE = KernelImage("linux", Path("/linux"), "7.3.4", "c", True, "2026", "the lab kernel")
TOOLS = Tools(Path("/tools"), "our programs")
MEMORY_BYTES = 8 << 20


def with_nodes(**nodes: object) -> Mapping[str, Any]:
    return {**TOPOLOGY, "nodes": {**TOPOLOGY["nodes"], **nodes}}  # type: ignore[dict-item]


def starts(**nodes: object) -> dict[str, StartVm]:
    """How the machines of the topology start in virtual time, with `nodes` in place of its own, by their programs."""
    steps = orders(make_trial(with_nodes(**nodes), kernel="lab")).steps
    return {str(step.background): step for step in steps if isinstance(step, StartVm)}


def test_machines_of_one_kind_start_from_one_snapshot_each_with_addresses_of_its_own() -> None:
    first, second = starts().values()
    assert qemu.snapshot_words(first.words) == qemu.snapshot_words(second.words)
    assert first.words[:4] == ("sh", "-c", qemu.RESUME, "@snapshot@")
    addresses = {step.words[5] for step in (first, second)}
    assert len(addresses) == 2
    for step in (first, second):
        shared = " ".join(qemu.snapshot_words(step.words))
        assert not any(address in shared for address in addresses)
        assert f"mac={qemu.NOBODYS}:00," in shared
        assert "testbed.waits=1" in shared
        assert "-incoming" not in shared
        assert "announce-rounds=0" in step.words[2]  # else a thread of QEMU's waits for the other for ever


def test_only_the_cards_of_a_machine_that_boots_are_named_through_its_agent() -> None:
    """The first program of the others has looked at their names."""
    for kind, named in (("lab", {"a": False, "b": True}), ("host", {"a": True, "b": True})):
        steps = orders(make_trial(with_nodes(b={**SMALL, "image": "/d"}), kernel=kind)).steps
        assert {step.node: bool(step.devices) for step in steps if isinstance(step, ReachVm)} == named


@pytest.mark.parametrize("node", [{"image": "/d"}, {"image": "/d", "kernel": "k"}])
def test_a_machine_with_a_disk_boots(node: dict[str, str]) -> None:
    found = starts(b={**SMALL, **node})
    assert qemu.RESUME in found["vm-a"].words
    assert qemu.RESUME not in found["vm-b"].words
    assert "testbed.waits" not in " ".join(found["vm-b"].words)


def test_in_real_time_machines_boot() -> None:
    steps = orders(make_trial()).steps
    assert not any(qemu.RESUME in step.words or "testbed.waits" in str(step) for step in steps if isinstance(step, Run))


def test_lab_time_starts_late_enough_for_the_clock_of_a_machine_that_has_run_before() -> None:
    resumed, booted = starts(b={**SMALL, "image": "/d"}).values()
    assert snapshot.clock_start_s([booted]) == 0
    assert snapshot.clock_start_s([booted, resumed]) == qemu.CLOCK_START_S > qemu.BOOT_LIMIT_S


@pytest.fixture
def known(cache: Path, monkeypatch: pytest.MonkeyPatch) -> VmKernel:  # noqa: F811
    """A kernel with an initramfs in a cache of the test's own."""
    made = fake_kernel("debian", default=True)
    (made.folder / "initramfs").write_text("init and modules")
    monkeypatch.setattr(hypervisor, "version", lambda: "7.2")
    return made


def placed(step: StartVm) -> StartVm:
    """With the files of that kernel in place of the words that stand for them."""
    there = f"{runtime.MOUNTED}/kernels/debian"
    return replace(
        step,
        words=tuple(
            f"{there}/initramfs"
            if word.startswith("@initramfs/")
            else word.replace("@kernel/newest@", f"{there}/vmlinuz")
            for word in step.words
        ),
    )


def some_software() -> str:
    return "software"


def key(
    step: StartVm,
    image: KernelImage = IMAGE,
    tools: Tools = TOOLS,
    computer: snapshot.Software = some_software,
) -> str:
    return snapshot.key(placed(step), image, tools, computer)


@pytest.mark.parametrize(
    "changed", [{"memory": "1 GiB"}, {"cpu": "0.5 GIPS"}, {"model": "e1000"}, {"nic": "plain"}], ids=str
)
def test_another_machine_has_another_snapshot(known: VmKernel, changed: dict[str, str]) -> None:
    found = starts(b={**SMALL, **changed})
    assert key(found["vm-a"]) != key(found["vm-b"])
    assert key(starts()["vm-a"]) == key(starts()["vm-b"]) == key(found["vm-a"])


def test_another_number_of_cards_has_another_snapshot(known: VmKernel) -> None:
    links = {**TOPOLOGY["links"], "up": {"ends": ["a", "t"]}}  # type: ignore[dict-item]
    trial = make_trial({**with_nodes(t={"type": "host"}), "links": links}, kernel="lab")
    steps = orders(trial).steps
    first, second = (step for step in steps if isinstance(step, StartVm))
    assert key(first) != key(second)


@pytest.mark.parametrize("file", ["vmlinuz", "initramfs"])
def test_a_changed_kernel_or_initramfs_under_the_same_name_has_another_snapshot(known: VmKernel, file: str) -> None:
    """The same length and time: only its bytes and the file itself are others."""
    step, path = starts()["vm-a"], known.folder / file
    before, about = key(step), path.stat()
    fresh = path.with_name("fresh")
    fresh.write_bytes(bytes(reversed(path.read_bytes())))
    os.utime(fresh, ns=(about.st_atime_ns, about.st_mtime_ns))
    fresh.replace(path)
    assert key(step) != before


def test_another_lab_kernel_program_or_qemu_has_another_snapshot(
    known: VmKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = starts()["vm-a"]
    seen = {key(step), key(step, replace(IMAGE, key="another")), key(step, tools=replace(TOOLS, digest="others"))}
    monkeypatch.setattr(hypervisor, "version", lambda: "7.3")
    seen.add(key(step))
    monkeypatch.setattr(snapshot.content, "of_firmware", lambda: "other firmware")
    seen.add(key(step))
    seen.add(key(step, computer=lambda: "other software"))
    assert len(seen) == 6


def test_all_that_a_guest_starts_to_make_one_decides_its_name() -> None:
    """`printf`, `echo` and `kill` are the shell's own; `tail` shows what went wrong."""
    named = {*re.findall(r"\b[a-z]+\b", f"{snapshot.TAKE} {runtime.MAKE_ROOT}")}
    started = {"cat", "cp", "cut", "grep", "ip", "ln", "mkdir", "mkfifo", "mount", "readlink", "seq", "sleep"}
    assert started <= named
    assert {*started, "env", "sh"} <= {*software.PROGRAMS}


def test_whose_cache_it_is_in_does_not_change_its_name(
    known: VmKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps name it, and are the same on all computers with the same software."""
    step = starts()["vm-a"]
    before = key(step)
    home = tmp_path / "of another user"
    shutil.copytree(kernel_cache.folder(), home / "testbed" / "vm")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    assert kernel_cache.folder() == home / "testbed" / "vm"
    assert key(step) == before


@pytest.mark.parametrize(
    "part", ["agent", "python", "python libraries", "cp", "files in sight", "testbed sources", "QEMU", "guest agent"]
)
def test_other_software_of_this_computer_has_another_snapshot(
    known: VmKernel, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """A random number more that the agent draws changed the bytes of a snapshot (measured): whoever has this agent must
    not start from the snapshot that another one made.
    """
    more = {name: "one, with its libraries" for name in ("QEMU", "guest agent")}
    parts: dict[str, str] = {**software.here(), **more}
    monkeypatch.setattr(software, "here", lambda: parts)
    monkeypatch.setattr(software, "of_machines", lambda kernels: {name: parts[name] for name in more})
    monkeypatch.setattr(provenance, "ready_kernel", lambda asked: ready_kernel.ReadyKernel(asked, TOOLS, IMAGE))
    monkeypatch.setattr(hypervisor, "words", lambda machines, tools, how: {})
    monkeypatch.setattr(snapshot, "_started_from", lambda words: ())
    trial = make_trial(kernel="lab")

    def named() -> set[str]:
        software.of_snapshots.cache_clear()
        return set(re.findall(r"/run/vm/snapshots/(\w+)", provenance.steps_of(trial, orders(trial))))

    try:
        before = named()
        assert before == named()
        parts[part] = "another"
        after = named()
    finally:
        software.of_snapshots.cache_clear()
    assert len(before) == len(after) == 1
    assert before != after


@pytest.mark.parametrize("part", ["python", "guest agent"])
def test_software_that_could_not_be_examined_has_none(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """Else all agents that the loader cannot be asked about would have the same."""
    machines = {**software.of_machines(""), "guest agent": "1"}
    for of, parts in (("here", software.here()), ("of_machines", machines)):
        examined = {name: software.UNKNOWN if name == part else value for name, value in parts.items()}
        monkeypatch.setattr(software, of, lambda *kernels, examined=examined: examined)
    software.of_snapshots.cache_clear()
    with pytest.raises(MachineError, match=f"the version of {part} on this computer is unknown;"):
        software.of_snapshots()
    software.of_snapshots.cache_clear()


def test_the_steps_name_the_snapshot_as_the_guest_has_it_and_nothing_else(known: VmKernel, cache: Path) -> None:  # noqa: F811
    step = placed(starts()["vm-a"])
    (named,) = snapshot.with_folders((step,), IMAGE, TOOLS, some_software)
    assert isinstance(named, StartVm)
    assert named.words[3] == f"/run/vm/snapshots/{key(step)}"
    assert named.words[:3] + named.words[4:] == step.words[:3] + step.words[4:]
    assert snapshot.key(named, IMAGE, TOOLS, some_software) == key(step)
    assert not snapshot.shelf().folder.exists()


def make_files(folder: Path, *, sparse: bool = True) -> Path:
    """What a guest leaves: mostly empty memory, and a state."""
    folder.mkdir(parents=True, exist_ok=True)
    content = bytearray(MEMORY_BYTES)
    content[5000:5004], content[-3:] = b"data", b"end"
    with (folder / "memory").open("wb") as file:
        if sparse:
            file.truncate(MEMORY_BYTES)
            os.pwrite(file.fileno(), content[4096:8192], 4096)
            os.pwrite(file.fileno(), content[-10:], MEMORY_BYTES - 10)
        else:
            file.write(content)
    assert (folder / "memory").read_bytes() == content
    (folder / "state").write_bytes(b"s" * 10_000)
    return folder


@pytest.mark.usefixtures("cache")
class TestCache:
    """What is kept is found as it is, or not at all."""

    def test_what_is_put_there_is_found_and_takes_no_room_for_empty_memory(self, tmp_path: Path) -> None:
        assert snapshot.find("k") is None
        with snapshot.shelf().lock():
            home = snapshot.put("k", make_files(tmp_path / "made", sparse=False))
        assert snapshot.find("k") == home == kernel_cache.folder() / "snapshots/k"
        for name in snapshot.FILES:
            assert (home / name).read_bytes() == (tmp_path / "made" / name).read_bytes()
        assert (home / "memory").stat().st_blocks * 512 < MEMORY_BYTES / 4

    def test_holes_do_not_count(self, tmp_path: Path) -> None:
        with snapshot.shelf().lock():
            homes = [
                snapshot.put(f"k{sparse:d}", make_files(tmp_path / f"{sparse}", sparse=sparse))
                for sparse in (True, False)
            ]
        first, second = (json.loads((home / "snapshot.json").read_text()) for home in homes)
        assert {**first, "key": ""} == {**second, "key": ""}

    @pytest.mark.parametrize("name", ["memory", "state", "snapshot.json"])
    @pytest.mark.parametrize("damage", ["changed", "truncated", "longer", "empty", "missing", "link"])
    def test_a_broken_one_counts_as_absent_and_is_replaced(self, tmp_path: Path, name: str, damage: str) -> None:
        made = make_files(tmp_path / "made")
        with snapshot.shelf().lock():
            path = snapshot.put("k", made) / name
        content = path.read_bytes()
        path.unlink()
        if damage == "link" and name != "snapshot.json":
            (tmp_path / "elsewhere").write_bytes(content)
            path.symlink_to(tmp_path / "elsewhere")
        elif damage not in ("missing", "link"):
            broken = {
                "changed": content[:5000] + b"D" + content[5001:] if name == "memory" else b"x" + content[1:],
                "truncated": content[:-1],
                "longer": content + b"\0",
                "empty": b"",
            }[damage]
            path.write_bytes(broken)
        if (name, damage) != ("snapshot.json", "truncated") and (name, damage) != ("snapshot.json", "longer"):
            assert snapshot.find("k") is None
        with snapshot.shelf().lock():
            home = snapshot.put("k", made)
        assert snapshot.find("k") == home
        assert path.read_bytes() == content

    def test_one_in_a_cache_that_cannot_be_written_is_found(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with snapshot.shelf().lock():
            home = snapshot.put("k", make_files(tmp_path / "made"))

        def refused(*args: object, **options: object) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        monkeypatch.setattr(os, "utime", refused)
        assert snapshot.find("k") == home

    def test_that_of_another_key_counts_as_absent(self, tmp_path: Path) -> None:
        with snapshot.shelf().lock():
            home = snapshot.put("k", make_files(tmp_path / "made"))
        shutil.copytree(home, home.with_name("other"))
        assert snapshot.find("other") is None

    @pytest.mark.parametrize("name", ["memory", "state"])
    def test_what_is_no_file_is_not_copied_and_leaves_nothing(self, tmp_path: Path, name: str) -> None:
        """A guest wrote it; a link could lead to a file of the user's."""
        made = make_files(tmp_path / "made")
        (made / name).unlink()
        (made / name).symlink_to("/etc/passwd")
        with snapshot.shelf().lock(), pytest.raises(OSError, match="symbolic link"):
            snapshot.put("k", made)
        assert [path.name for path in snapshot.shelf().folder.iterdir()] == [".lock"]

    def test_one_that_nobody_used_for_long_goes_when_another_comes(self, tmp_path: Path) -> None:
        made = make_files(tmp_path / "made")
        with snapshot.shelf().lock():
            old, used = snapshot.put("old", made), snapshot.put("used", made)
            for home in (old, used):
                os.utime(home / "snapshot.json", (0, 0))
            assert snapshot.find("used") == used
            snapshot.put("new", made)
        assert (snapshot.find("old"), snapshot.find("used")) == (None, used)


class FakeLab:
    """Stands for `lab.run`, and leaves what a guest would."""

    def __init__(self) -> None:
        self.runs: list[tuple[tuple[Step, ...], Path, dict[str, Any]]] = []
        self.error: BaseException | None = None

    def run(self, image: KernelImage, steps: tuple[Step, ...], folder: Path, **options: Any) -> None:
        self.runs.append((tuple(steps), folder, options))
        make_files(folder)
        if self.error is not None:
            raise self.error


@pytest.fixture
def fake_lab(known: VmKernel, monkeypatch: pytest.MonkeyPatch) -> FakeLab:
    found = FakeLab()
    monkeypatch.setattr(lab, "run", found.run)
    return found


def test_one_that_is_missing_is_made_once_and_a_broken_one_again(fake_lab: FakeLab) -> None:
    steps = tuple(map(placed, starts().values()))
    for _ in range(2):
        snapshot.make_missing(steps, IMAGE, TOOLS, some_software)
    assert len(fake_lab.runs) == 1
    (done, folder, options), wanted = fake_lab.runs[0], key(steps[0])
    assert options["seed"] == snapshot.SEED
    assert options["memory_bytes"] > 512 << 20
    assert not folder.exists()
    assert not folder.is_relative_to(kernel_cache.folder())  # a guest does not write to the cache
    take = done[-1]
    assert isinstance(take, Run)
    assert take.words[4:] == ("1", "512M", *qemu.snapshot_words(steps[0].words))
    with (snapshot.shelf().folder / wanted / "state").open("ab") as file:
        file.write(b"x")
    snapshot.make_missing(steps, IMAGE, TOOLS, some_software)
    assert len(fake_lab.runs) == 2
    assert snapshot.find(wanted) is not None


@pytest.mark.parametrize("error", [TrialError("the kernel panicked"), KeyboardInterrupt()])
def test_one_that_cannot_be_made_leaves_nothing(fake_lab: FakeLab, error: BaseException) -> None:
    fake_lab.error = error
    with pytest.raises(type(error)) as raised:
        snapshot.make_missing([placed(starts()["vm-a"])], IMAGE, TOOLS, some_software)
    if isinstance(error, TrialError):
        assert str(raised.value) == "no snapshot of a virtual machine could be made: the kernel panicked"
    assert not fake_lab.runs[0][1].exists()
    assert [path.name for path in snapshot.shelf().folder.iterdir()] == [".lock"]


def test_a_guest_that_left_no_state_is_an_error(fake_lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(image: KernelImage, steps: tuple[Step, ...], folder: Path, **options: Any) -> None:
        (make_files(folder) / "state").unlink()

    monkeypatch.setattr(lab, "run", run)
    with pytest.raises(MachineError, match=r"could not be kept: .*state"):
        snapshot.make_missing([placed(starts()["vm-a"])], IMAGE, TOOLS, some_software)


SAY = (
    "cat /proc/sys/kernel/random/boot_id /proc/sys/kernel/random/uuid /sys/class/net/eth0/address; "
    "cut -d' ' -f1 /proc/uptime; date +%s.%N; busybox wget -q -O /dev/null http://10.0.0.3:8080/page"
)


def told_trial(folder: Path, seed: int) -> Trial:
    """Two machines of a size that nobody else has, which say what they are and send to a host that captures."""
    folder.mkdir()
    (folder / "page").write_text("page")
    small = {"type": "vm", "memory": "264 MiB"}
    scenario = {
        "name": "told",
        "kernel": "lab",
        "seed": seed,
        "topology": {
            "name": "net",
            "nodes": {"a": small, "b": small, "c": {"type": "host"}, "s": {"type": "switch"}},
            "links": {name: {"ends": [name[0], "s"]} for name in ("al", "bl", "cl")},
        },
        "workload": {
            "tool": "command",
            "from": "a",
            "to": "c",
            "server": {"at": "c", "run": ["busybox", "httpd", "-f", "-p", "8080"], "ready": {"tcp": 8080}},
            "client": [{"name": name, "at": name, "run": ["sh", "-c", SAY]} for name in ("a", "b")],
            "files": ["page"],
        },
        "capture": [{"at": "c"}],
    }
    (folder / "told.yaml").write_text(json.dumps(scenario))
    return load_scenario(folder / "told.yaml").trials()[0]


def said(ran: Ran) -> list[list[str]]:
    """For each machine: boot id, UUID, MAC address, uptime, clock; and the first SYN that it sent: port and number."""
    words = [(ran.folder / f"command-{name}-1.out").read_text().split() for name in "ab"]
    told = ("tcpdump", "-n", "-e", "-S", "-r", str(ran.folder / "c-eth0.pcap"), "tcp[13] == 2")
    syns = subprocess.run(told, check=True, capture_output=True, text=True).stdout
    for each in words:
        found = re.search(rf"{each[2]} > .* 10\.0\.0\.\d\.(\d+) > .*? seq (\d+)", syns)
        assert found is not None, syns
        each += found.groups()
    return words


class TestReal:
    """With QEMU in a lab kernel."""

    pytestmark = VIRTUAL

    @pytest.mark.nightly
    def test_a_snapshot_made_anew_changes_no_byte_and_another_seed_all_that_is_random(
        self,
        kernel: VmKernel,  # noqa: F811
        tmp_path: Path,
    ) -> None:
        one = run_real(told_trial(tmp_path / "spec", 1), tmp_path / "one")
        (name,) = set(re.findall(r"/run/vm/snapshots/(\w+)", (one.folder / "steps.json").read_text()))
        record = snapshot.shelf().folder / name / "snapshot.json"
        before = record.read_text()
        with (snapshot.shelf().folder / name / "state").open("ab") as file:
            file.write(b"broken")
        again = run_real(told_trial(tmp_path / "spec-again", 1), tmp_path / "again")
        assert record.read_text() == before  # the digests of its files: the same bytes
        differing = [
            path.name
            for path in sorted(one.folder.iterdir())
            if path.name != "host.json" and path.read_bytes() != (again.folder / path.name).read_bytes()
        ]
        assert differing == []
        assert [each.name for each in snapshot.shelf().folder.glob(".partial*")] == []

        other = run_real(told_trial(tmp_path / "spec-other", 2), tmp_path / "other")
        machines = [*said(one), *said(other)]
        assert [each[2] for each in machines] == [
            port.mac for ran in (one, other) for node in "ab" for port in ran.made.plan.book.ports_of(node)
        ]
        for number in (0, 1, 6):  # boot id, UUID, initial sequence number
            assert len({each[number] for each in machines}) == 4, number
        assert len({each[5] for each in machines}) > 1  # ports: a machine may draw that of another one
        for ran in (one, other):
            for about in ran.result.vms.values():
                assert 0 < about.boot_s < 0.5
        for _, _, _, uptime, clock, *_ in machines:  # a machine has run for longer than lab time
            assert 0 < float(clock) - qemu.CLOCK_START_S < float(uptime)
