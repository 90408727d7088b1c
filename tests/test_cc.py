"""`testbed cc` on real trials: controls and settings of the default lab kernel, which needs no build."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from comparing import Said, said_by

from testbed.cache_folder import open_lock, try_lock
from testbed.model.run_setting import Kernel
from testbed.spec.load import load_scenario
from testbed.trial.orders.sequence import orders
from testbed.trial.run import run
from testbed.trial.subject import taint

pytestmark = [pytest.mark.lab, pytest.mark.slow]

SCENARIO = """
name: short
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 50 Mbit/s, rtt: 80 ms, buffer: 0.02 bdp, jitter: 100 us}}
workload: {tool: flow, from: a, to: b, duration: 10 s}
repetitions: 8
expect: [{name: half, measure: {metric: goodput, least: 10 Mbit/s}}]
"""

Cc = Callable[..., Said]


@pytest.fixture
def cc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cc:
    """Runs `testbed cc` on the scenario above: exit code, standard output and error."""
    (tmp_path / "short.yaml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Said:
        capsys.readouterr()
        return said_by(capsys, "cc", *words, "--jobs", "1")

    return run


OURS = ("--scenario", "short.yaml", "--budget", "3 seeds")


def trials(folder: Path) -> dict[str, int]:
    """The trials of all bases and candidates, and when each result was written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.glob("results/cc/*/*/*/trials/*/result.json")}


def test_a_setting_that_hurts_is_called_worse_and_nothing_runs_twice(cc: Cc, tmp_path: Path) -> None:
    code, out, err = cc("sysctl:net.ipv4.tcp_sack=0", *OURS)
    assert code == 1, err
    last = " ".join(out.split("evidence.html")[-1].split())
    assert last.startswith("net.ipv4.tcp_sack=0 is worse than cubic: goodput: 1 of 1 cells worse")
    assert "first trial: passed" in err
    assert "suite: 1 scenario, 6 trials of first seeds, " in err
    assert re.search(r"rules of expect: [01] of 1 hold, [01] of cubic", " ".join(out.split()))
    assert re.search(r"so far: short: goodput: -\d+\.\d %", err)
    first = trials(tmp_path)
    assert len(first) == 6
    (home,) = (tmp_path / "results/cc/candidate").iterdir()
    assert "<td>half</td><td>goodput at least 10 Mbit/s</td>" in (home / "evidence.html").read_text()
    found = json.loads((home / "verdict.json").read_text())
    (cell,) = (each for each in found["cells"] if each["is_primary"])
    assert (cell["verdict"], cell["pairs"]) == ("worse", 3)
    suites = ElementTree.parse(home / "verdict.xml").getroot()
    assert [each.get("failures") for each in suites] == ["1"] or int(suites[0].get("failures", "0")) >= 1
    assert (home / "verdict.md").read_text().startswith("**net.ipv4.tcp\\_sack=0 is worse") or "is worse" in (
        home / "verdict.md"
    ).read_text().splitlines()[0]

    code, out, err = cc("sysctl:net.ipv4.tcp_sack=0", *OURS)
    assert (code, trials(tmp_path)) == (1, first)
    assert "first trial" not in err
    assert "suite:" not in err, "nothing is left to run"

    code, out, err = cc("reno", *OURS)  # another candidate: the base's trials are there
    assert len(trials(tmp_path)) == 9
    assert first.items() <= trials(tmp_path).items()


def test_the_same_parameter_is_the_same_and_what_was_interrupted_goes_on(cc: Cc, tmp_path: Path) -> None:
    """A/A: 717 is Linux's own value."""
    code, _, err = cc("cubic", "--param", "beta=717", *OURS)
    assert code in (0, 5), err  # 3 seeds of a noisy cell need not show that nothing changed
    (home,) = (tmp_path / "results/cc/candidate").iterdir()
    (cell,) = (each for each in json.loads((home / "verdict.json").read_text())["cells"] if each["is_primary"])
    assert cell["verdict"] in ("same", "cannot tell")
    before = trials(tmp_path)
    gone = [path for path in before if "candidate" in path][1]
    os.system(f"rm -r {Path(gone).parent}")
    assert cc("cubic", "--param", "beta=717", *OURS)[0] == code
    after = trials(tmp_path)
    assert before.keys() == after.keys()
    assert [path for path in before if before[path] != after[path]] == [gone]


PROGRAMS = """
name: window
topology:
  name: pair
  nodes: {client: {type: host}, server: {type: host}}
  links: {path: {ends: [server, client], rate: 50 Mbit/s, rtt: 40 ms, buffer: 1 bdp, jitter: 100 us}}
workload:
  tool: command
  server: {at: server, run: [python3, window.py, serve, "8000"], ready: {output: serving}}
  client: {at: client, run: [python3, window.py, fetch, "{server.address}", "8000", "1000000", "{variant}"]}
  files: [window.py]
  measure: {goodput: {bytes: 1 MB}}
sweep: {workload.variant: ["1000000", "30000"]}
"""


TAINTED = """
name: taint
topology:
  name: pair
  nodes: {client: {type: host}, server: {type: host}}
  links: {path: {ends: [server, client], rate: 50 Mbit/s, rtt: 40 ms}}
workload:
  tool: command
  server: {at: server, run: [python3, -m, http.server, "8000"], ready: {tcp: 8000}}
  client: {at: client, run: [sh, -c, "echo $0 > /proc/sys/kernel/tainted", "{variant}"]}
sweep: {workload.variant: ["0", "4096", "512"]}
"""


def test_two_variants_of_a_program_are_compared(cc: Cc, tmp_path: Path) -> None:
    (tmp_path / "window.yaml").write_text(PROGRAMS)
    shutil.copy(Path(__file__).parent / "data" / "window.py", tmp_path)
    rest = ("--scenario", "window.yaml", "--budget", "5 seeds")
    code, out, err = cc("variant:30000", "--base", "1000000", *rest)
    assert code == 1, err
    assert "30000 is worse than 1000000" in " ".join(out.split())
    assert "first trial" not in err  # which is for controls
    (found,) = (
        cell
        for home in (tmp_path / "results/cc/candidate").iterdir()
        for cell in json.loads((home / "verdict.json").read_text())["cells"]
        if cell["is_primary"]
    )
    assert (
        found["candidate"] < 30000 * 8 / 0.04 * 1.5 < found["base"]
    )  # a window, twice 30000 bytes less overhead, an RTT
    code, out, err = cc("variant:1000000", "--base", "1000001", *rest)
    assert code == 0, err
    assert "1000000 is the same as 1000001" in " ".join(out.split())
    (tmp_path / "window.yaml").write_text(PROGRAMS.replace("{variant}", "1000000"))
    code, _, err = cc("variant:30000", "--base", "1000000", *rest)
    assert code == 2  # both sides would run the same, and be the same
    assert "no program has {variant} in its words (window)" in err


def test_a_kernel_of_a_change_that_warned_is_seen_at_the_end_of_each_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root can set the bits of a warning, no kernel need be built for it."""
    monkeypatch.setattr(Kernel, "is_on_trial", True)
    (tmp_path / "taint.yaml").write_text(TAINTED)
    for trial in load_scenario(tmp_path / "taint.yaml").trials():
        folder = tmp_path / trial.id
        folder.mkdir()
        found = run(trial, orders(trial), folder)
        bits = dict(trial.params)["workload.variant"]
        said = taint.warned(folder)
        assert (said or "").startswith("tainted by 512") == (bits == "512")
        assert [each.check for each in found.findings].count("kernel") == (bits == "512")
        assert ((folder / taint.FILE).read_text() == "") == (bits == "0")


def test_a_second_one_in_the_same_folder_is_refused(cc: Cc, tmp_path: Path) -> None:
    (tmp_path / "results/cc").mkdir(parents=True)
    descriptor = open_lock(tmp_path / "results/cc/.lock")
    try:
        assert try_lock(descriptor)
        code, _, err = cc("reno", *OURS)
    finally:
        os.close(descriptor)
    assert code == 2
    assert "another testbed cc is writing to results/cc; allowed: another folder (-o), or waiting for it" in err


def test_a_folder_without_linux_is_no_tree_to_build(cc: Cc, tmp_path: Path) -> None:
    """It cost the build of the base, and hid the control of its name."""
    (tmp_path / "cubic").mkdir()
    for what, said in (("cubic", "cubic is the base, too"), ("./cubic", "has no source of Linux")):
        code, _, err = cc(what, "--scenario", "short.yaml")
        assert code == 2
        assert said in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("nosuch",),
            "nosuch: the lab kernel .* has no such congestion control, and there is no such file",
        ),
        (("cubic",), "cubic is the base, too; allowed: --base with another one than the candidate"),
        (("reno", "--base", "nosuch"), "--base nosuch: the kernel has no such congestion control"),
        (("sysctl:net.ipv4.tcp_sack",), "this is not KEY=VALUE; allowed: such as sysctl:net.ipv4.tcp_sack=0"),
        (
            ("sysctl:net.ipv4.tcp_congestion_control=bbr",),
            "flows of the suite name their congestion control, .* allowed: testbed cc bbr",
        ),
        (
            ("sysctl:net.ipv4.nosuch=1",),
            "net/ipv4/nosuch does not take '1': No such file .*; allowed: what this kernel has",
        ),
        (("cubic", "--param", "bic_scale=3"), "parameters/bic_scale does not take '3': Permission denied"),
        (("tcp_none.c",), r"tcp_none\.c: there is no such file"),
        (("short.yaml",), r"short\.yaml: what it is cannot be told from its name"),
        (
            ("cubic", "--param", "beta"),
            "this is not NAME=VALUE,VALUE; allowed: such as --param hystart_low_window=8,64",
        ),
        (
            ("reno", "--quick", "--budget", "5 seeds"),
            "--quick is a budget of 3 min and 8 seeds; allowed: it, or --budget",
        ),
        (("reno", "--quick", "--full"), "--quick is a suite of its own; allowed: --quick without --full and --group"),
        (("mine.bpf.o",), r"mine\.bpf\.o: the suite runs in lab kernels, and User-Mode Linux has no JIT"),
        (("reno", "--quick", "--scenario", "none.yaml"), r"none\.yaml: this cannot be read"),
        (("variant:2",), "two values of a program's {variant} are compared; allowed: variant:VALUE --base ANOTHER"),
        (("variant:2", "--base", "2"), "two values of a program's {variant} are compared"),
        (("variant:2", "--base", "1"), "flow has no 'variant' to vary"),
        (("variant:2", "--base", "1", "--param", "beta=1"), "a program has no --param"),
        (("reno", "--watch"), "--watch reno: there is no such file"),
    ],
)
def test_what_cannot_be_judged_is_refused(cc: Cc, words: tuple[str, ...], said: str) -> None:
    code, _, err = cc(*words, "--scenario", "short.yaml")
    assert code == 2
    assert re.search(said, err)
