"""Values of links that tc or the kernel cannot hold are refused with file and line, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from trials import make_trial

from testbed.error import SpecError, UserError
from testbed.plan import batch
from testbed.plan.linux import EXACT_NETEM
from testbed.plan.network import plan
from testbed.plan.step import Run
from testbed.spec.load import load_scenario

SCENARIO = """name: s
topology:
  name: t
  nodes: {{a: {{type: host}}, b: {{type: host}}}}
  links:
    path:
      ends: [a, b]
      {keys}
workload: {{tool: flow, from: a, to: b, duration: 1 s}}
"""
LINE = 8


def load(folder: Path, keys: str) -> None:
    (folder / "s.yaml").write_text(SCENARIO.format(keys=keys))
    trial = load_scenario(folder / "s.yaml").trials()[0]
    plan(trial.topology, trial.workload)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("rtt: 600 s", "'600 s' is too large; allowed: up to 270 s"),
        ("rate: 999 bit/s", "'999 bit/s' is too small; allowed: 1 kbit/s to 100 Tbit/s"),
        ("rate: 101 Tbit/s", "'101 Tbit/s' is too large; allowed: 1 kbit/s to 100 Tbit/s"),
        ("{rate: 1 Mbit/s, buffer: 5 GB}", "'5 GB' is too large; allowed: up to 4294967295 bytes"),
        ("{rate: 1 Mbit/s, buffer: 4294967296 packets}", "is too large; allowed: up to 4294967295 packets"),
        ("shaper: {rate: 1 Gbit/s, burst: 7201 Tbit, refill: 1 Mbit/s}", "allowed: up to 900 TB (7200 Tbit)"),
        ("policer: {rate: 10 Mbit/s, burst: 900001 GB}", "allowed: up to 900 TB (7200 Tbit)"),
        ("{rate: 1 Gbit/s, policy: {after: 9999999999999 GB, rate: 1 Mbit/s}}", "allowed: up to 1000000 TB"),
        ("{rate: 1 Mbit/s, aggregate: {time: 300 s}}", "time: this is too large; allowed: up to 270 s"),
        ("{rate: 1 Mbit/s, aggregate: {time: 1 ms, bytes: 3 GB}}", "bytes: this is too large"),
        ("{rate: 1 Mbit/s, reorder: {every: 10, by: 300 s}}", "'300 s' is too large; allowed: up to 270 s"),
        ("{rate: 100 kbit/s, reorder: {every: 10, by: 10000 packets}}", "takes 1211 s for so many packets"),
        ("loss: {random: 0.0000000232 %}", "2^-32: this would be none; allowed: at least 0.0000000233 %"),
        ("loss: {random: 99.9999999999 %}", "this would be all; allowed: at least 0.0000000233 % below 100 %"),
        ("loss: {gilbert-elliott: {p: 1e-12, r: 10 %}}", "p: netem counts in parts of 2^-32: this would be none"),
        ("loss: {gilbert-elliott: {p: 1 %, r: 10 %, loss_good: 1e-10}}", "loss_good: netem counts in parts of 2^-32"),
        ("{rate: 1 Mbit/s, schedule: [{at: 1 s, loss: {random: 1e-11}}]}", "allowed: at least 0.0000000233 %"),
        ("down: {from: 99999999999 s, for: 1 s}", "from: '99999999999 s' is too large; allowed: up to 87600 h"),
        ("{rate: 1 Mbit/s, schedule: [{at: 99999999999 s, rate: 2 Mbit/s}]}", "allowed: up to 87600 h"),
    ],
)
def test_what_no_kernel_holds_is_refused_at_its_line(tmp_path: Path, keys: str, said: str) -> None:
    written = keys[1:-1] if keys.startswith("{") else keys
    with pytest.raises(SpecError) as refused:
        load(tmp_path, keys if not keys.startswith("{") else "\n      ".join(_entries(written)))
    (problem,) = {str(each.line): each for each in refused.value.problems}.values()
    assert said in str(problem)
    assert problem.line is not None
    assert problem.line >= LINE - 2


def _entries(text: str) -> list[str]:
    """Keys of one level, a line each."""
    found, depth = [""], 0
    for letter in text:
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [each.strip() for each in found]


@pytest.mark.parametrize(
    "keys",
    [
        "rtt: 1 us",
        "rtt: 12.3456 ms",
        "rtt: 270 s",
        "loss: {random: 0.0000000233 %}",
        "loss: {random: 99.9999999767 %}",
        "loss: {gilbert-elliott: {p: 2.33e-10, r: 100 %, loss_bad: 0 %}}",
        "rate: 1 kbit/s",
        "shaper: {rate: 10 Gbit/s, burst: 7200 Tbit, refill: 750 Mbit/s}",
        "aggregate: {time: 1.5 us, bytes: 2147483647 B}",
    ],
)
def test_what_stands_at_the_edge_is_planned(tmp_path: Path, keys: str) -> None:
    load(tmp_path, keys if "rate:" in keys else f"{keys}\n      rate: 10 Mbit/s")


@pytest.mark.parametrize("keys", ["rate: 10 Gbit/s", "rate: 1 Gbit/s\n      buffer: 10 bdp"])
def test_a_bdp_that_no_kernel_counts_is_refused(tmp_path: Path, keys: str) -> None:
    with pytest.raises(UserError, match=r"more than the kernel can count; allowed: up to 4294967295 bytes"):
        load(tmp_path, f"rtt: 100 s\n      {keys}")


def test_a_queue_that_would_need_too_much_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="allowed: a smaller buffer"):
        load(tmp_path, "rate: 1 Mbit/s\n      buffer: 9999999 packets\n      queue: cake")


def test_parts_of_a_microsecond_are_set_by_our_own_program() -> None:
    trial = make_trial(
        path={"rtt": None, "delay": {"forward": "5000001 ns", "backward": "5 ms"}, "jitter": {"forward": "1.5 us"}}
    )
    planned = plan(trial.topology, trial.workload)
    exact = [each for each in planned.commands if EXACT_NETEM in each.words]
    assert [each.words[each.words.index(EXACT_NETEM) :] for each in exact] == [
        (EXACT_NETEM, "delay", "5000001", "jitter", "1500")
    ]
    (step,) = (step for step in batch.steps(planned.commands) if EXACT_NETEM in str(getattr(step, "stdin", "")))
    assert isinstance(step, Run)
    assert step.words == ("/run/tools/qdisc",)


def test_whole_microseconds_need_no_program_of_ours() -> None:
    trial = make_trial(path={"rtt": "10 ms", "jitter": "2 us"})
    planned = plan(trial.topology, trial.workload)
    assert not [each for each in planned.commands if EXACT_NETEM in each.words]
