"""Congestion controls in BPF: object files that scenarios name, and virtual machines that load them."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from runs import make_result
from test_gate import fine
from test_vm import SMALL, VIRTUAL, cache, kernel, run_real  # noqa: F401 (fixtures)
from trials import Ran, seen_as, steps_data
from trials import vm as vm_result

from testbed import package
from testbed.error import MachineError, SpecError, UserError, ValueRefused
from testbed.kernel.guest import TrialError
from testbed.kernel.image import feature
from testbed.kernel.vm import kernel_cache
from testbed.kernel.vm.kernel_cache import VmKernel
from testbed.model.scenario import Trial
from testbed.model.workload.control import BpfControl
from testbed.report import trust
from testbed.spec import bpf_object, program_store
from testbed.spec.load import load_scenario, programs_of
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.trial import readiness
from testbed.trial.evidence.case import Case
from testbed.trial.gate.judge import judge
from testbed.trial.orders.sequence import orders
from testbed.trial.start import refusal
from testbed.trial.subject import bpf

INT, PTR, ARRAY, STRUCT, CONST, FUNC_PROTO, VAR, DATASEC = 1, 2, 3, 4, 10, 13, 14, 15


def elf(sections: dict[str, bytes], machine: int = 247) -> bytes:
    """A 64-bit ELF file with these sections, of BPF if nothing else is said (elf(5))."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    parts, heads, here = [], [bytes(64)], 64
    for name, data in {**sections, ".shstrtab": names}.items():
        heads.append(
            struct.pack("<IIQQQQIIQQ", names.index(name.encode() + b"\0"), 1, 0, 0, here, len(data), 0, 0, 1, 0)
        )
        parts.append(data)
        here += len(data)
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 1, machine, 1, 0, 0, here, 0, 64, 0, 0, 64, len(heads), len(heads) - 1)
    return head + b"".join(parts) + b"".join(heads)


def btf(tables: Iterable[str], of: str = "tcp_congestion_ops", section: str = ".struct_ops") -> bytes:
    """Types of a table of operations, with a pointer before its name, and variables of it in a section."""
    strings = b"\0"

    def at(name: str) -> int:
        nonlocal strings
        strings += name.encode() + b"\0"
        return len(strings) - len(name) - 1

    def of_kind(kind: int, name: str, last: int, *behind: int, members: int = 0) -> bytes:
        return struct.pack(f"<{3 + len(behind)}I", at(name) if name else 0, kind << 24 | members, last, *behind)

    variables = [of_kind(VAR, name, 5, 1) for name in tables]
    places = (word for number in range(len(variables)) for word in (7 + number, 0, 24))
    types = (
        *(of_kind(INT, "char", 1, 8), of_kind(ARRAY, "", 0, 1, 1, 16), of_kind(PTR, "", 0)),
        of_kind(STRUCT, of, 24, at("ssthresh"), 3, 0, at("name"), 2, 64, members=2),
        of_kind(CONST, "", 4),
        of_kind(FUNC_PROTO, "", 0, 0, 1, members=1),
        *variables,
        of_kind(DATASEC, section, 0, *places, members=len(variables)),
    )
    whole = b"".join(types)
    return struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(whole), len(whole), len(strings)) + whole + strings


def an_object(name: str = "bpf_mine", *, tables: tuple[str, ...] = ("control",), **types: str) -> bytes:
    section = types.get("section", ".struct_ops")
    operations = (bytes(8) + name.encode().ljust(16, b"\0")) * len(tables)
    return elf({section: operations, ".BTF": btf(tables, **types)})


# --- what an object file registers ------------------------------------------------------------------------------------


def test_an_object_file_tells_the_name_that_it_registers() -> None:
    assert bpf_object.control_of(an_object("bpf_mine")) == "bpf_mine"
    assert bpf_object.control_of(an_object("m", of="tcp_congestion_ops___mine")) == "m"
    assert bpf_object.control_of(an_object("fifteen_letters")) == "fifteen_letters"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "this is no object file in BPF"),
        (b"#!/bin/sh\n" * 20, "this is no object file in BPF"),
        (elf({".BTF": btf(("control",))}, machine=62), "this is no object file in BPF"),
        (elf({}), "this object file is not whole, or has no types"),
        (elf({".struct_ops": bytes(24), ".BTF": bytes(24)}), "this object file is not whole, or has no types"),
        (elf({".BTF": btf(())}), "this object file has 0 tables of operations"),
        (an_object(tables=("one", "two")), "this object file has 2 tables of operations: one, two"),
        (an_object(of="Qdisc_ops"), "2 tables of operations: control, Qdisc_ops, which is no control"),
        (an_object(section=".struct_ops.link"), r"what is in \.struct_ops\.link leaves the kernel"),
        (an_object(""), "its control is called ''"),
        (an_object("Mine"), "its control is called 'Mine'"),
        (an_object("a-b"), "its control is called 'a-b'"),
        (an_object("sixteen_letters_"), "its control is called 'sixteen_letters_'"),
    ],
)
def test_an_object_file_that_is_no_control_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ValueRefused, match=said):
        bpf_object.control_of(data)


def test_no_cut_of_an_object_file_passes_for_it() -> None:
    whole = an_object()
    for length in range(len(whole)):
        with pytest.raises(ValueRefused):
            bpf_object.control_of(whole[:length])


def test_no_byte_of_an_object_file_can_be_wrong_in_a_way_that_is_not_said() -> None:
    """Another name comes out, or a refusal; nothing else is raised, and nothing takes for ever."""
    whole = bytearray(an_object())
    for place in range(len(whole)):
        for value in (0, 0xFF, whole[place] ^ 0x10):
            changed = bytes(whole[:place]) + bytes([value]) + bytes(whole[place + 1 :])
            with suppress(ValueRefused):
                assert bpf_object.control_of(changed)


# --- scenarios that name one ------------------------------------------------------------------------------------------

SCENARIO = """\
name: s
topology:
  name: net
  nodes: {a: {type: vm, memory: 256 MiB}, b: {type: vm, memory: 256 MiB}}
  links: {path: {ends: [a, b], rate: 20 Mbit/s, rtt: 20 ms}}
workload: {tool: iperf3, from: a, to: b, duration: 4 s}
sweep:
  congestion: [cubic, {bpf: mine.bpf.o}]
"""


@pytest.fixture
def scenario(tmp_path: Path, cache: Path) -> Path:  # noqa: F811
    (tmp_path / "mine.bpf.o").write_bytes(an_object())
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO)
    return path


def trials(scenario: Path, *settings: str) -> tuple[Trial, ...]:
    return load_scenario(scenario, settings).trials()


def one(scenario: Path, **changes: Any) -> Trial:
    """The trial whose control is the object file's."""
    return replace(trials(scenario)[1], **changes)


def test_an_object_file_is_a_value_of_the_axis_under_its_own_name(scenario: Path) -> None:
    cubic, mine = trials(scenario)
    assert [dict(each.params)["congestion"] for each in (cubic, mine)] == ["cubic", "bpf_mine"]
    digest = hashlib.sha256(an_object()).hexdigest()
    assert mine.workload.bpf_controls == (BpfControl("bpf_mine", digest),)
    assert [flow.congestion for flow in mine.workload.asked_flows] == ["bpf_mine"]
    assert mine.workload.needed_files == (("bpf_mine.bpf.o", digest),)
    assert (cubic.workload.bpf_controls, cubic.workload.needed_files) == ((), ())
    assert mine.controls == frozenset()  # it is not asked of a kernel, but brought to it


def test_a_stored_trial_has_the_file_by_its_content_and_comes_back(scenario: Path) -> None:
    mine = one(scenario)
    stored = json.loads(json.dumps(trial_data(mine)))
    assert stored["workload"]["congestion"] == {"bpf": "bpf_mine", "sha256": hashlib.sha256(an_object()).hexdigest()}
    assert trial_of(stored) == mine


def test_another_file_of_the_same_name_is_another_trial(scenario: Path) -> None:
    first = one(scenario)
    (scenario.parent / "mine.bpf.o").write_bytes(an_object() + b"\0")
    assert trial_data(one(scenario)) != trial_data(first)
    assert [each.id for each in (first, one(scenario))] == [first.id] * 2


def test_the_file_is_kept_and_its_copy_goes_into_the_run(scenario: Path) -> None:
    mine = one(scenario)
    (scenario.parent / "mine.bpf.o").unlink()
    folder = program_store.find(mine.workload.needed_files)
    assert folder is not None
    assert (folder / "bpf_mine.bpf.o").read_bytes() == an_object()
    (scenario.parent / "mine.bpf.o").write_bytes(an_object())
    assert programs_of(scenario) == {"file-bpf_mine.bpf.o": str(folder / "bpf_mine.bpf.o")}


def test_a_file_can_be_set_grouped_and_excluded_as_any_value(scenario: Path) -> None:
    (only,) = trials(scenario, "congestion={bpf: mine.bpf.o}")
    assert [each.name for each in only.workload.bpf_controls] == ["bpf_mine"]
    text = SCENARIO.replace(
        "congestion: [cubic, {bpf: mine.bpf.o}]", "flows+congestion: [[1, cubic], [2, {bpf: mine.bpf.o}]]"
    )
    scenario.write_text(text)
    assert [dict(each.params)["congestion"] for each in trials(scenario)] == ["cubic", "bpf_mine"]
    for rule in ("bpf_mine", "{bpf: mine.bpf.o}"):
        scenario.write_text(f"{SCENARIO}exclude: [{{congestion: {rule}}}]\n")
        assert [dict(each.params)["congestion"] for each in trials(scenario)] == ["cubic"]


def test_a_rule_about_another_file_is_not_about_the_one_of_its_name(scenario: Path) -> None:
    (scenario.parent / "other.bpf.o").write_bytes(an_object() + b"other")
    measure = "measure: {metric: goodput, where: {congestion: {bpf: other.bpf.o}}, least: 1 Mbit/s}"
    for rule in ("exclude: [{congestion: {bpf: other.bpf.o}}]", f"expect: [{{name: r, {measure}}}]"):
        scenario.write_text(f"{SCENARIO}{rule}\n")
        with pytest.raises(SpecError, match="the axis has another 'bpf_mine'"):
            trials(scenario)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{bpf: mine.bpf.o}", "{bpf: none.bpf.o}"), r"s.yaml:\d+: the file 'none.bpf.o' cannot be read"),
        (("{bpf: mine.bpf.o}", "{bpf: s.yaml}"), r"s.yaml:\d+: s.yaml: this is no object file in BPF"),
        (("{bpf: mine.bpf.o}", "{bpf: ../x.bpf.o}"), r"it is outside the folder of this file"),
        (("{bpf: mine.bpf.o}", "{bpf: [a]}"), r"this names no file; allowed: the kernel's name .*\{bpf: FILE\}"),
        (("{bpf: mine.bpf.o}", "{bpf: mine.bpf.o, name: x}"), r"this names no file"),
        (("cubic, ", "{bpf: mine.bpf.o}, "), r"the value 'bpf_mine' appears twice"),
        (
            ("tool: iperf3", "tool: flow"),
            r"User-Mode Linux has no JIT.*; allowed: .*tool: iperf3 from a virtual machine",
        ),
        (("duration: 4 s", "duration: 4 s, protocol: udp, rate: 1 Mbit/s"), r"udp has no congestion control"),
    ],
)
def test_what_cannot_be_a_control_in_bpf_is_refused_with_its_line(
    scenario: Path, change: tuple[str, str], said: str
) -> None:
    text = SCENARIO.replace(*change)
    assert text != SCENARIO
    scenario.write_text(text)
    with pytest.raises(SpecError, match=said):
        trials(scenario)


@pytest.mark.parametrize(
    ("node", "kind", "said"),
    [
        ("{type: host}", "lab", "a is a host.*it is in the lab kernel, and User-Mode Linux has no JIT"),
        ("{type: host}", "host", "a is a host.*this computer's own kernel is not changed"),
        ("{type: machine, nics: {path: eth1}}", "host", "a is a machine.*that computer's own kernel is not changed"),
    ],
)
def test_a_sender_that_is_no_virtual_machine_is_refused_with_the_reason(
    scenario: Path, node: str, kind: str, said: str
) -> None:
    link = ", rate: 20 Mbit/s, rtt: 20 ms"
    text = SCENARIO.replace("{type: vm, memory: 256 MiB}", node).replace(link, link if kind == "lab" else "")
    scenario.write_text(f"kernel: {kind}\n{text}")
    with pytest.raises(UserError, match=f"{said}.*; allowed: a sender of type vm"):
        orders(trials(scenario)[1])
    refusal.check_bpf(trials(scenario)[0])


def test_a_receiver_may_be_any_host(scenario: Path) -> None:
    scenario.write_text(SCENARIO.replace("b: {type: vm, memory: 256 MiB}", "b: {type: host}"))
    assert orders(trials(scenario)[1]).steps


# --- what a machine's kernel must have --------------------------------------------------------------------------------


def a_kernel(name: str, controls: tuple[str, ...] = ("reno", "cubic"), *, has_types: bool | None = True) -> None:
    image = name.encode()
    with kernel_cache.kernels().partial() as made:
        (made / "modules").mkdir()
        (made / "vmlinuz").write_bytes(image)
        if has_types is not None:
            plain = elf({".BTF": b"types"} if has_types else {".text": b"code"}, machine=62)
            (made / f"vmlinux-{hashlib.sha256(image).hexdigest()[:16]}").write_bytes(plain)
        feature.write(made, feature.Features(controls))
        kernel_cache.put(made, VmKernel(name, "7.3", "test", True, "2026", made))


@pytest.mark.parametrize(
    ("about", "error", "said"),
    [
        ({}, None, ""),
        ({"has_types": None}, None, ""),  # the machine says so itself
        ({"has_types": False}, MachineError, r"tells no types \(BTF\).*testbed kernel fetch"),
        ({"controls": ("reno", "bpf_mine")}, UserError, "has a congestion control bpf_mine already; allowed: another"),
    ],
)
def test_a_kernel_that_cannot_take_the_control_is_refused_before_anything_runs(
    scenario: Path,
    monkeypatch: pytest.MonkeyPatch,
    about: dict[str, Any],
    error: type[Exception] | None,
    said: str,
) -> None:
    a_kernel("k", **about)
    monkeypatch.setattr(readiness, "lacking_program", lambda name, is_lab: None)
    for trial in trials(scenario):
        is_asked = bool(trial.workload.bpf_controls)
        if error is None or not is_asked:
            readiness.check_bpf(trial, is_lab=True)
            continue
        with pytest.raises(error, match=said):
            readiness.check_bpf(trial, is_lab=True)


def test_a_computer_without_the_loader_is_told_what_to_install(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_kernel("k")
    monkeypatch.setattr(package, "which_in_guest", lambda name: None)
    monkeypatch.setattr(package, "which", lambda name: None)
    with pytest.raises(MachineError, match=r"'bpftool' is missing.*apt(-get)? install .*bpftool"):
        readiness.check_bpf(one(scenario), is_lab=True)


# --- the steps of a trial, and what is made of their files ------------------------------------------------------------


def test_the_control_is_loaded_before_anything_is_measured_and_its_sockets_are_looked_at(scenario: Path) -> None:
    cubic, mine = (steps_data(orders(each).steps) for each in trials(scenario))
    titles = [step.get("title", next(iter(step))) for step in mine]
    load = next(step for step in mine if step.get("run", [""])[0] == "bpftool")
    assert (load["run"], load["on"]) == (["bpftool", "struct_ops", "register", "/run/bpf_mine.bpf.o"], "a")
    assert "may_fail" not in load
    assert titles.index("load bpf_mine") < titles.index("sockets") < titles.index("iperf3 server")
    look = next(step for step in mine if step.get("background") == bpf.WATCH)
    assert look["run"][3:] == ["2.5", "1", "( sport >= :50000 and sport < :50001 )"]
    assert [step for step in mine if step.get("await") == [bpf.WATCH]]
    assert not any("bpf" in json.dumps(step) for step in cubic)


KNOWN = "reno cubic"
ESTABLISHED = "ESTAB 0      0      10.0.0.1:50000 10.0.0.2:5201 ts sack bpf_mine wscale:7,7 rto:204 rtt:0.1/0.05\n"
FILES = {
    bpf.BEFORE: f"{KNOWN}\n",
    bpf.SUM: hashlib.sha256(an_object()).hexdigest() + "  /run/bpf_mine.bpf.o\n",
    bpf.LOADED: f"{KNOWN} bpf_mine\n",
    bpf.AFTER: f"{KNOWN} bpf_mine\n",
    bpf.SOCKETS: ESTABLISHED,
}


def findings(scenario: Path, folder: Path, files: dict[str, str]) -> list[str]:
    """What the gate makes of these files of a trial in which all else was as asked."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    trial = one(scenario)
    plan = orders(trial).plan
    good = fine(trial, plan)
    both = {name: vm_result("tcg, counted instructions", 0.5, cpu="1 GIPS", vhost=False, busy_s=1.0) for name in "ab"}
    evidence = seen_as(good, vms=both, bpf=bpf.BPF.read(trial, plan, folder))
    return [f"{each.verdict}: {each.text}" for each in judge(Case(trial, plan, evidence))]


def test_nothing_is_said_of_a_control_that_all_sockets_used(scenario: Path, tmp_path: Path) -> None:
    assert [each for each in findings(scenario, tmp_path / "t", FILES) if "control" in each or "missing" in each] == []


def test_the_report_says_by_content_which_file_decided_the_control(scenario: Path, tmp_path: Path) -> None:
    """By what the machine read, also of a result that comes from a file."""
    trial = one(scenario)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    seen = bpf.BPF.read(trial, orders(trial).plan, tmp_path)
    digest = hashlib.sha256(an_object()).hexdigest()
    for told in (seen, asdict(seen), asdict(replace(seen, sha256=""))):
        result = make_result(trial, things={"bpf": told})
        row = ["control in BPF", f"bpf_mine, SHA-256 {digest if told == seen or told['sha256'] else 'not known'}"]
        assert row in trust.provenance({}, result, {})
    assert not any("BPF" in name for name, _ in trust.provenance({}, make_result(trials(scenario)[0]), {}))
    assert seen is not None
    for change in ({"loaded": ("reno",)}, {"before": seen.loaded}, {"sockets": ("bpf_mine", "cubic")}, {"sockets": ()}):
        other = make_result(trial, things={"bpf": asdict(replace(seen, **change))})
        assert bpf.told(other) is None, "an object that did not decide it"
    with pytest.raises(UserError, match=r"a result is damaged: in things\.bpf, "):
        bpf.told(make_result(trial, things={"bpf": {"name": "bpf_mine"}}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({bpf.SUM: "0" * 64 + "  x\n"}, "invalid: a read a file with the SHA-256 000000000000"),
        ({bpf.BEFORE: f"{KNOWN} bpf_mine\n"}, "invalid: a had a congestion control bpf_mine before"),
        ({bpf.LOADED: f"{KNOWN}\n"}, "invalid: a had no congestion control bpf_mine once the file was loaded"),
        ({bpf.AFTER: f"{KNOWN}\n"}, "invalid: a had no congestion control bpf_mine after the workload"),
        (
            {bpf.SOCKETS: ESTABLISHED.replace("bpf_mine", "cubic")},
            "invalid: a was asked to use bpf_mine, and one of its sockets used cubic",
        ),
        ({bpf.SOCKETS: ESTABLISHED * 2}, "invalid: missing: the controls of all sockets.*2 of 1"),
        ({bpf.SOCKETS: ESTABLISHED.replace("ESTAB", "SYN-SENT")}, "invalid: missing: the controls of all.*0 of 1"),
        ({bpf.SOCKETS: "ESTAB 0 0 10.0.0.1:50000 10.0.0.2:5201\n"}, "invalid: a was asked.*used nothing that ss names"),
        *(({name: text}, "invalid: missing: ") for name in FILES for text in ("", None)),
    ],
)
def test_whatever_does_not_show_the_control_makes_a_trial_invalid(
    scenario: Path, tmp_path: Path, change: dict[str, str | None], said: str
) -> None:
    files = {name: text for name, text in {**FILES, **change}.items() if text is not None}
    found = findings(scenario, tmp_path / "t", files)
    assert any(re.search(said, each) for each in found), found


# --- machines that load one -------------------------------------------------------------------------------------------

SOURCE = Path(__file__).with_name("bpf") / "control.bpf.c"
SEGMENT_BYTES, HEAD_BYTES = 1448, 66
RATE_BPS, RTT_S, WINDOW_SEGMENTS = 20e6, 0.02, 10


class TestReal:
    """Two machines in a lab kernel: a minute of a processor for each trial."""

    pytestmark = VIRTUAL

    @pytest.fixture
    def ran(self, kernel: VmKernel, tmp_path: Path) -> Callable[[str], Ran]:  # noqa: F811
        """Runs a trial with the control that the source has under a name, in capitals."""
        for name in ("clang", "bpftool"):
            if package.which_in_guest(name) is None:
                pytest.skip(f"needs {name}: apt-get install {name}")

        def run(which: str) -> Ran:
            words = ("clang", "-target", "bpf", "-g", "-O2", f"-D{which}", "-c", SOURCE, "-o", tmp_path / "mine.bpf.o")
            subprocess.run(words, check=True)
            path = tmp_path / "s.yaml"
            path.write_text(SCENARIO)
            return run_real(one(path), tmp_path / "trial")

        return run

    def test_the_code_of_the_file_decides_what_a_flow_does(self, ran: Callable[[str], Ran]) -> None:
        """Ten segments in a round trip, which is that of the link and the time of up to two packets on the wire: the
        receiver acknowledges every second one. The start, until the first segment, takes two round trips of 200.
        """
        done = ran("TEN")
        assert done.result.verdict == "valid", done.result.findings
        loaded = done.result.things["bpf"]
        assert (loaded["sockets"], loaded["name"]) == (["bpf_ten"], "bpf_ten")
        assert "bpf_ten" in loaded["after"]
        (flow,) = done.result.flows
        assert flow.congestion == "bpf_ten"
        wire_s = 2 * (SEGMENT_BYTES + HEAD_BYTES) * 8 / RATE_BPS
        slowest, fastest = (WINDOW_SEGMENTS * SEGMENT_BYTES * 8 / rtt_s for rtt_s in (RTT_S + wire_s, RTT_S))
        assert 0.98 * slowest < flow.goodput_bps < fastest

    @pytest.mark.nightly
    def test_reno_in_bpf_fills_a_link(self, ran: Callable[[str], Ran]) -> None:
        done = ran("RENO")
        assert done.result.verdict == "valid", done.result.findings
        (flow,) = done.result.flows
        assert 0.9 < flow.goodput_bps / (RATE_BPS * SEGMENT_BYTES / (SEGMENT_BYTES + HEAD_BYTES)) < 1

    def test_what_the_verifier_refuses_ends_the_trial_with_what_it_says(self, ran: Callable[[str], Ran]) -> None:
        with pytest.raises(
            TrialError, match=r"(?s)bpftool struct_ops register /run/bpf_wild\.bpf\.o: .*BEGIN PROG LOAD LOG.*write"
        ):
            ran("WILD")
