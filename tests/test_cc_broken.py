"""A candidate that breaks the kernel in the suite, not in its first trial: `testbed cc` says so, in its words."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import test_cc_suite
from rich.console import Console
from runs import make_result, write_result
from test_cc_suite import SCENARIO
from trials import make_trial

from testbed.commands.candidate import broken, smoke
from testbed.commands.candidate.contender import Contender, Pair
from testbed.commands.candidate.suite import Suite
from testbed.commands.measure import cc
from testbed.commands.sequential.budget import Budget
from testbed.kernel import guest, oops
from testbed.kernel.guest import CONSOLE, TrialError, ending
from testbed.kernel.image.cache import KernelImage
from testbed.model.run_setting import LAB, Kernel
from testbed.model.scenario import Trial
from testbed.report import ack_page
from testbed.sweep.store import Store
from testbed.trial.orders.sequence import Orders, orders
from testbed.trial.result import TrialResult
from testbed.trial.subject import taint

PANIC = "Kernel panic - not syncing: Segfault with no mm"
STACK = [f" [<6042{n:04x}>] ? tcp_ack+0x{n:x}/0x1aa0" for n in range(35)]
CONSOLE_OF_PANIC = "\n".join(
    [
        "something before",
        PANIC,
        "CPU: 0 UID: 0 PID: 0 Comm: swapper/0 Not tainted 7.3.4 #1 VOLUNTARY  ",
        "Stack:",
        " 00000000 6201dc80 00000000 00000004",
        "Call Trace:",
        *STACK,
    ]
)
"""As User-Mode Linux writes it: longer than the end of a console that is told otherwise."""
WARNING = "WARNING: net/ipv4/tcp_foo.c:345 at foo_avoid+0x19/0x30, CPU#0: swapper/0/0"
MESSAGES = f"512\n[    0.0] Linux version\n[   12.1] ------------[ cut here ]------------\n[   12.1] {WARNING}\n"


def death(console: str, folder: Path) -> str:
    (folder / CONSOLE).write_text(console)
    with pytest.raises(TrialError) as failed:
        ending(folder, 0.0)
    return str(failed.value)


def test_the_death_of_a_guest_is_told_from_the_panic_on(tmp_path: Path) -> None:
    said = death(CONSOLE_OF_PANIC, tmp_path)
    assert said.splitlines()[1:] == CONSOLE_OF_PANIC.splitlines()[1:]
    assert oops.in_line(said) == f"the guest died before the trial was over. Its console ends: {PANIC}"
    assert (oops.of_failure(said) or "").splitlines()[0] == PANIC


def test_what_is_told_of_a_death_has_a_bound_and_its_end(tmp_path: Path) -> None:
    said = death("\n".join([PANIC, *("x" * 5000,) * 100, "the last words"]), tmp_path).splitlines()
    assert (said[1], said[-1]) == (PANIC, "the last words")
    assert len(said) == 1 + oops.HEAD + 1 + oops.TAIL
    assert max(map(len, said)) <= oops.WIDTH


def warned(name: str, seconds: float, depth: int = 40) -> list[str]:
    """A warning in a function and the stack behind it, whose end is of no fault."""
    calls = ("dump_stack_lvl", name, *(f"{name}_caller{n}" for n in range(depth)), "new_thread_handler")
    return [
        f"[{seconds:8.3f}] WARNING: net/ipv4/{name}.c:345 at {name}+0x19/0x30, CPU#0: swapper/0/0",
        *(f"[{seconds:8.3f}]  [<6042{n:04x}>] ? {call}+0x{n + 1:x}/0x1aa0" for n, call in enumerate(calls)),
    ]


@pytest.mark.parametrize("names", ["a", "aa", "aaa", "aaaaaaaa", "ab", "ba", "aab", "abcabc", "aabbccddaaaa"])
@pytest.mark.parametrize("tail", [[], [f"[   20.0] veth{n} entered promiscuous mode" for n in range(14)], STACK])
@pytest.mark.parametrize("depth", [1, 20, 40, 70])
def test_what_is_left_out_of_a_text_changes_none_of_its_kinds(names: str, tail: list[str], depth: int) -> None:
    said = "\n".join([line for n, name in enumerate(names) for line in warned(name, n, depth)] + tail)
    assert oops.kinds(oops.told(said)) == oops.kinds(said)
    assert oops.kinds(said) == oops.kinds("\n".join(line for name in {*names} for line in warned(name, 1.5)))
    assert oops.told(oops.told(said)) == oops.told(said)


def test_of_very_many_faults_some_are_told() -> None:
    said = "\n".join(line for n in range(100) for line in warned(f"tcp_{n}", n))
    assert len(oops.told(said).splitlines()) == oops.HEAD + 2 * oops.BETWEEN + 1 + oops.TAIL


@pytest.mark.parametrize("console", ["", "init: hello\n" * 30 + "the last words"])
def test_a_death_without_a_panic_is_no_fault_of_the_kernel(tmp_path: Path, console: str) -> None:
    said = death(console, tmp_path)
    assert len(said.splitlines()) <= 13
    assert oops.in_line(said).endswith("the last words" if console else "console ends: (nothing)")
    assert oops.of_failure(said) is None


def test_a_guest_without_memory_is_no_fault_of_the_kernel(tmp_path: Path) -> None:
    said = death(
        "Out of memory: Killed process 12\nKernel panic - not syncing: System is deadlocked on memory", tmp_path
    )
    assert "give it more with limits.memory" in said
    assert oops.of_failure(said) is None


class Made(test_cc_suite.Made):
    """Stands for all kernels: trials of the candidate with these seeds panic, or warn; `base` does, too, in `alike`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        super().__init__(monkeypatch)
        monkeypatch.setattr(smoke, "smoke", lambda *words: None)
        self.path = tmp_path / "short.yaml"
        self.path.write_text(SCENARIO)
        self.panics, self.warns, self.alike = set[int](), set[int](), set[int]()
        self.more = self.of_base = ""
        self.less = 1.0

    def run(self, trial: Trial, made: Orders, folder: Path, **options: Any) -> TrialResult:
        self.began.append(trial.id)
        is_candidate = trial.workload.asked_flows[0].congestion == "foo"
        breaks = is_candidate or trial.seed in self.alike
        if breaks and trial.seed in self.panics:
            raise TrialError(guest._death(CONSOLE_OF_PANIC))
        result = make_result(trial, goodput_bps=(1e7 + trial.seed) * (self.less if is_candidate else 1.0))
        more = self.more if is_candidate else self.of_base
        (folder / taint.FILE).write_text(MESSAGES + more if breaks and trial.seed in self.warns else "")
        write_result(folder, trial, result)
        return result

    def verdict(self, console: Console | None = None) -> tuple[int, Path]:
        """The exit code, and the candidate's folder."""
        image = KernelImage("mine", Path("/nowhere/linux"), "7.3.4", "", False, "", "key")
        pair = Pair(*(Contender(name, name, LAB, image) for name in ("cubic", "foo")))
        console = console or Console(file=io.StringIO())
        made = Suite(pair, (self.path,), self.path.with_name("out"), Budget(repetitions=3), 1, console, self.now_s)
        return cc._code(made), made.candidate


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Made:
    return Made(monkeypatch, tmp_path)


def test_a_panic_in_the_suite_is_the_verdict_and_every_file_has_it(
    there: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    there.panics = {2}
    code, home = there.verdict()
    out = capsys.readouterr().out.splitlines()
    assert code == 6
    sentence = f"foo breaks the kernel: in 1 trial, short: seed=2: {PANIC}"
    assert out[-1] == sentence
    assert STACK[-1] in out
    assert any(f"console ends: {PANIC}" in line for line in out)
    markdown = (home / "verdict.md").read_text()
    assert markdown.startswith(f"**{sentence}**")
    assert f"\n    {PANIC}\n" in markdown
    assert f"\n    {STACK[-1]}\n" in markdown
    evidence = (home / "evidence.html").read_text()
    assert f"<h1>{sentence}</h1>" in evidence
    assert PANIC in evidence.partition("<pre")[2].partition("</pre>")[0]
    (failure,) = ElementTree.parse(home / "verdict.xml").getroot().findall("testsuite[@name='kernel']/testcase/failure")
    assert failure.get("message") == PANIC
    assert STACK[-1] in (failure.text or "")
    told = json.loads((home / "verdict.json").read_text())
    assert told["broken"]["short: seed=2"].startswith(PANIC)
    assert told["verdict"] == "lost"


def test_a_warning_in_the_suite_is_one_though_all_is_the_same(there: Made, capsys: pytest.CaptureFixture[str]) -> None:
    there.warns = {1, 3}
    code, home = there.verdict()
    out = capsys.readouterr().out.splitlines()
    assert code == 6
    assert out[-1].startswith(
        "foo breaks the kernel: in 2 trials, the first of which is short: seed=1: [   12.1] WARNING"
    )
    assert json.loads((home / "verdict.json").read_text())["verdict"] == "same"


def test_what_breaks_the_bases_kernel_too_is_no_fault_of_the_candidate_and_is_noted(
    there: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    there.warns, there.alike = {1, 2, 3}, {1, 2}
    code, home = there.verdict()
    assert code == 0
    assert json.loads((home / "verdict.json").read_text())["exit_code"] == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"the base's kernel broke in 2 trials, the candidate's in 3; short: seed=1: [ 12.1] {WARNING}" in said


def test_an_oops_behind_a_warning_that_the_base_has_too_is_the_candidates(
    there: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    there.warns = there.alike = {1, 2, 3}
    oops_line = "[   13.0] Oops: 0000 [#1]"
    there.of_base = "\n".join([*STACK, *STACK, *STACK, ""])
    there.more = "\n".join([*STACK, *STACK, *STACK, oops_line, *STACK, ""])
    code, home = there.verdict()
    assert code == 6
    told = json.loads((home / "verdict.json").read_text())
    assert (len(told["broken"]), told["exit_code"]) == (3, 6)
    assert told["broken"]["short: seed=2"].splitlines() == [oops_line, *STACK]
    for name in ("verdict.md", "evidence.html"):
        assert f"in 3 trials, the first of which is short: seed=1: {oops_line}" in (home / name).read_text()
    failures = ElementTree.parse(home / "verdict.xml").getroot().iterfind(".//failure[@type='broken']")
    assert [each.get("message") for each in failures] == [oops_line] * 3
    shown = capsys.readouterr().out.splitlines()
    assert shown[shown.index("the kernel in short: seed=1:") + 1] == oops_line
    assert shown[-1].endswith(oops_line)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (WARNING, WARNING.replace("CPU#0: swapper/0/0", "CPU#0: iperf3/57"), True),
        (f"[    1.5] {WARNING}", f"[   12.1] {WARNING}", True),
        ("WARNING: CPU: 0 PID: 57 at net/a.c:1 f+0x1/0x2", "WARNING: CPU: 0 PID: 8 at net/a.c:1 f+0x1/0x2", True),
        ("BUG: unable to handle page 0x08, ip 0x6042", "BUG: unable to handle page 0x10, ip 0x6043", True),
        (WARNING, WARNING.replace("foo_avoid", "foo_avoid.isra.0"), True),
        (WARNING, WARNING.replace("foo_avoid", "foo_start"), False),
        (f"{PANIC}\n ? segv+0x1/0x2\n ? tcp_ack+0x3/0x4", f"{PANIC}\n ? segv+0x5/0x6\n ? tcp_foo+0x3/0x4", False),
        (f"{PANIC}\n ? segv+0x1/0x2\n ? tcp_ack+0x3/0x4", f"{PANIC}\n ? segv+0x5/0x6\n ? tcp_ack+0x9/0xa", True),
        (WARNING, WARNING.replace("foo_avoid", "foo_avoid.part.0.cold"), True),
        ("Oops: 0000 [#1] SMP\n f+0x1/0x2", "Oops: 0000 [#2] SMP\n f+0x1/0x2", True),
        (WARNING, PANIC, False),
    ],
)
def test_the_same_warning_is_known_again(one: str, other: str, is_same: bool) -> None:
    assert (oops.kinds(f"before\n{one}\nafter") == oops.kinds(other)) == is_same
    assert len(oops.kinds(f"{one}\n{other}")) == 2 - is_same


def test_all_that_is_stored_of_what_a_kernel_said_counts(there: Made) -> None:
    """The base's one of many kinds that would be left out where it is shown."""
    there.warns, there.alike = {1, 2, 3}, {1}
    both = ["\n".join(warned(f"tcp_{n}", n)) for n in range(60)]
    there.of_base = "\n".join([*STACK, *both, ""])
    there.more = "\n".join([*STACK, *reversed(both), ""])
    assert there.verdict()[0] == 0


@pytest.mark.parametrize("one", [WARNING, "UBSAN: shift-out-of-bounds in net/a.c:345:9"])
def test_the_same_warning_elsewhere_in_a_file_is_known_again_and_two_of_one_kernel_are_two(one: str) -> None:
    other = one.replace(":345", ":349")
    assert oops.kinds(one) == oops.kinds(other)
    assert len(oops.kinds(f"{one}\n{one}\n{other}")) == len(oops.kinds(one, other)) == 2
    assert oops.kinds(one, other) == oops.kinds(f"{other}\n{one}") > oops.kinds(one)
    between = "\n".join(line for n in range(3) for line in warned("tcp_foo", n))
    long = "\n".join([*(warned("foo", 1.0) * 3), between, one, between, other, between])
    assert oops.kinds(oops.told(long)) == oops.kinds(long)


@pytest.mark.parametrize(
    ("of_base", "is_new"),
    [(":345 :349", False), (":345, :349", False), (":345, :345", True), (":7 :8", False), (":7", True)],
)
def test_a_warning_that_a_candidate_has_twice_in_a_function_is_new_if_the_base_has_one(
    of_base: str, is_new: bool
) -> None:
    base = {
        f"s: {n}": "\n".join(WARNING.replace(":345", place) for place in of_one.split())
        for n, of_one in enumerate(of_base.split(","))
    }
    second = WARNING.replace(":345", ":349")
    found = broken.found(base, {"s: 1": f"{WARNING}\n{second}"})
    assert found == ({"s: 1": second} if is_new else {})
    found = broken.found(base, {"s: 1": WARNING, "s: 2": second, "s: 3": WARNING})
    assert found == ({"s: 2": second} if is_new else {})


@pytest.mark.parametrize(
    ("stack", "function"),
    [
        ("vpanic+0xbc/0x224 add_taint.cold+0x0/0x26 kernel_init+0xac/0xfc new_thread_handler+0x36/0x50", "kernel_init"),
        ("dump_stack_lvl+0x4b/0x70 vpanic+0x10b/0x234 panic+0x52/0x52 segv+0x27a/0x2ba tcp_ack+0x1/0x2", "tcp_ack"),
        ("dump_stack_lvl+0x4b/0x70 __warn.cold+0x4b/0xb9 warn_slowpath_fmt+0x7d/0x8a tcp_ack+0x1/0x2", "tcp_ack"),
        ("__die_body+0x1/0x2 page_fault_oops+0x1/0x2 asm_exc_page_fault+0x1/0x2 tcp_ack+0x1/0x2", "tcp_ack"),
        ("segv+0x1/0x2 tcp_exc_rate+0x1/0x2 tcp_ack+0x1/0x2", "tcp_exc_rate"),
        ("segv+0x1/0x2 die_hard_cong+0x1/0x2 tcp_ack+0x1/0x2", "die_hard_cong"),
        ("segv+0x1/0x2 panic_cong+0x10/0x20 tcp_ack+0x1/0x2", "panic_cong"),
        ("segv+0x1/0x2 sig_handler_common+0x1/0x2", ""),
    ],
)
def test_a_panic_is_told_from_others_by_the_function_with_the_fault(stack: str, function: str) -> None:
    said = "\n".join([PANIC, *(f" [<6001b932>] ? {each}" for each in stack.split())])
    assert oops.kinds(said) == {f"{PANIC} {function}".strip()}


@pytest.mark.parametrize(
    ("of_base", "ends"), [(None, True), ({"window"}, False), ({"window", "no goodput"}, False), ({"no goodput"}, True)]
)
def test_a_first_trial_that_the_base_fails_alike_is_a_note(
    of_base: set[str] | None, ends: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    image = KernelImage("mine", Path("/nowhere/linux"), "7.3.4", "", False, "", "key")
    pair = Pair(*(Contender(name, name, LAB, image) for name in ("cubic", "foo")))

    def trial(side: Contender, control: str, folder: Path) -> TrialResult | None:
        kinds = {"window"} if side.label == "foo" else of_base
        if kinds is not None:
            raise smoke.Broken(f"{side.label}: the congestion window is 1\nand more", frozenset(kinds))
        return None

    monkeypatch.setattr(smoke, "smoke", trial)
    if ends:
        with pytest.raises(smoke.Broken, match=r"^foo: the congestion window is 1"):
            smoke.of_both(pair, tmp_path / "base", tmp_path / "candidate")
    else:
        said = "first trial: the base does the same: foo: the congestion window is 1"
        assert smoke.of_both(pair, tmp_path / "base", tmp_path / "candidate") == (None, (said,))


def test_a_scenario_called_smoke_is_no_first_trial(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    image = KernelImage("mine", Path("/nowhere/linux"), "7.3.4", "", False, "", "key")
    began = []

    def run(trial: Trial, made: Orders, folder: Path) -> TrialResult:
        began.append(trial.id)
        return make_result(trial)

    monkeypatch.setattr(smoke.runner, "run", run)
    monkeypatch.setattr(smoke, "_check", lambda *words: None)
    Store(tmp_path / "smoke").create("smoke", {}, ())
    for _ in range(2):
        smoke.smoke(Contender("foo", "foo", LAB, image), "cubic", tmp_path)
    assert len(began) == 1
    assert Store(tmp_path / "smoke").open().name == "smoke"


def test_a_candidate_that_breaks_nothing_has_the_verdict_of_before(
    there: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    code, home = there.verdict()
    assert code == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("foo is the same as cubic")
    assert json.loads((home / "verdict.json").read_text())["broken"] == {}
    assert 'name="kernel"' not in (home / "verdict.xml").read_text()


def test_the_verdict_comes_behind_the_pages_of_acks_which_are_not_run_for_twice(
    there: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ack_page, "page", lambda title, sides: title)
    there.less = 0.5
    for number in (1, 2):
        there.began.clear()
        assert there.verdict(Console(file=sys.stdout, width=200))[0] == 1
        out = capsys.readouterr().out.splitlines()
        assert out[-1].startswith("foo is worse than cubic")
        assert out[-2].startswith("each ACK of short")
        assert len(there.began) == (8 if number == 1 else 0)
        assert not [line for line in out if "already" in line and number == 2]


def test_kernels_of_changes_are_asked_whether_they_warned_and_no_others_are() -> None:
    trial = make_trial({})
    mine = replace(trial, kernel=Kernel("lab", "cc-tcp_foo-12345678"))
    (step,) = taint.steps(mine, orders(trial).plan, "last")
    assert step.out == taint.FILE
    for kernel in (LAB, Kernel("lab", "mine"), Kernel("host")):
        assert not [*taint.steps(replace(trial, kernel=kernel), orders(trial).plan, "last")]
    assert taint.FILE not in str(orders(trial).steps)


def test_the_look_says_nothing_of_a_kernel_with_which_all_is_well(tmp_path: Path) -> None:
    """Two kernels without a fault give the same bytes."""
    for bits, said in (("0", ""), ("512", "512\n[ 1.0] words\n")):
        (tmp_path / "tainted").write_text(f"{bits}\n")
        look = taint.LOOK.replace("/proc/sys/kernel/tainted", str(tmp_path / "tainted"))
        look = "dmesg() { echo '[ 1.0] words'; }\n" + look
        assert subprocess.run(["sh", "-c", look], capture_output=True, text=True).stdout == said


@pytest.mark.parametrize(("said", "told"), [("", None), ("4096\n[ 1.0] WARNING: x", None), ("640\n", "tainted by 640")])
def test_only_warnings_and_oopses_count(tmp_path: Path, said: str, told: str | None) -> None:
    (tmp_path / taint.FILE).write_text(said)
    found = taint.warned(tmp_path)
    assert found == told or (told and found and found.startswith(told))
