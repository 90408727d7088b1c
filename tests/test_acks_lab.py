"""Records of ACKs in the lab kernel: everything else that a trial writes stays the same, byte for byte, and the records
are what the sockets did.

What would count as failure was written down before there were data: any other byte in any file but the two new tables,
the trial's own description and the host's times.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from trials import Ran, RunTrial

from testbed.kernel import lab
from testbed.kernel.guest import TrialError

pytestmark = pytest.mark.lab

DIFFER = {"host.json", "trial.json", "acks.parquet", "events.parquet"}
BOTH_ENDS = [{"at": "a", "snaplen": 96}, {"at": "b", "snaplen": 96}]
CELLS: dict[str, dict[str, Any]] = {
    "cubic, 2 flows": {"workload": {"flows": 2, "duration": "3 s"}, "capture": BOTH_ENDS},
    "bbr": {"workload": {"congestion": "bbr", "duration": "3 s"}, "nic": "offload"},
    "reno, losses": {"path": {"loss": "1 in 500"}, "workload": {"congestion": "reno", "duration": "3 s"}},
    "dctcp beside random losses": {
        "path": {"loss": {"random": "0.5 %"}},
        "workload": {"flows": 3, "congestion": ["dctcp", "cubic", "bbr"], "duration": "2 s"},
    },
    "1 Gbit/s": {"path": {"rate": "1 Gbit/s"}, "workload": {"duration": "1 s"}, "nic": "offload"},
    "arrivals": {"workload": {"arrivals": {"poisson": "40 /s"}, "size": "100 kB", "duration": "3 s", "drain": "3 s"}},
    "writes with pauses": {"workload": {"writes": {"size": "100 kB", "every": "500 ms"}, "duration": "4 s"}},
}


def names(ran: Ran) -> set[Path]:
    return {path.relative_to(ran.folder) for path in ran.folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("cell", CELLS)
def test_everything_else_is_the_same_byte_for_byte(run_trial: RunTrial, cell: str) -> None:
    changes = CELLS[cell]
    without, with_acks = run_trial(**changes), run_trial(samples="acks", **changes)
    assert without.result.verdict == "valid", without.result.warnings
    assert with_acks.result == without.result or with_acks.result.stored() == without.result.stored()
    assert names(with_acks) - names(without) == {Path("acks.parquet"), Path("events.parquet")}
    compared = sorted(name for name in names(without) if name.name not in DIFFER)
    assert len(compared) > 10
    assert {"outcome.json", "log.jsonl", "steps.json", "result.json", "samples.parquet"} <= {str(n) for n in compared}
    differ = [n for n in compared if (without.folder / n).read_bytes() != (with_acks.folder / n).read_bytes()]
    assert differ == []


def test_the_same_trial_writes_the_same_records(run_trial: RunTrial) -> None:
    one, other = (run_trial(samples="acks", **CELLS["reno, losses"]) for _ in range(2))
    for name in ("acks.parquet", "events.parquet"):
        assert (one.folder / name).read_bytes() == (other.folder / name).read_bytes()


def test_each_segment_that_came_to_a_sender_has_a_record(run_trial: RunTrial) -> None:
    """But for the one that answered its SYN. Its last sample counts the segments that came to it."""
    ran = run_trial(samples="acks", **CELLS["reno, losses"])
    acks = pq.read_table(ran.folder / "acks.parquet").to_pylist()
    samples = pq.read_table(ran.folder / "samples.parquet").to_pylist()
    last = [each for each in samples if each["source_port"] == acks[0]["source_port"]][-1]
    until = [each for each in acks if each["time_s"] <= last["time_s"]]
    assert len(until) == last["segs_in"] - 1
    assert [each["segs_in"] for each in until] == list(range(2, last["segs_in"] + 1))
    assert until[-1]["snd_cwnd"] == last["snd_cwnd"]


def test_reno_halves_its_window_in_each_recovery(run_trial: RunTrial) -> None:
    ran = run_trial(samples="acks", **CELLS["reno, losses"])
    events = pq.read_table(ran.folder / "events.parquet").to_pylist()
    acks = pq.read_table(ran.folder / "acks.parquet").to_pylist()
    recoveries = [each for each in events if each["event"] == "state" and each["name"] == "Recovery"]
    assert len(recoveries) > 10
    for each in recoveries:
        before = [ack for ack in acks if ack["time_s"] < each["time_s"]][-1]
        assert each["snd_ssthresh"] == max(before["snd_cwnd"] // 2, 2)
    again = sum(each["value"] for each in events if each["event"] == "retransmit")
    assert again == acks[-1]["total_retrans"] == ran.result.flows[0].retransmits


def test_controls_tell_their_own_state(run_trial: RunTrial) -> None:
    bbr = pq.read_table(run_trial(samples="acks", **CELLS["bbr"]).folder / "acks.parquet").to_pylist()
    gains = Counter((round(each["pacing_gain"], 2), round(each["cwnd_gain"], 2)) for each in bbr)
    assert {(2.89, 2.89), (1.25, 2.0), (0.75, 2.0), (1.0, 2.0)} <= gains.keys()  # STARTUP, and three of PROBE_BW
    (late, *_) = (each for each in bbr if each["time_s"] > 2.5)
    assert late["bw_bps"] == pytest.approx(100e6, rel=0.06)
    assert late["min_rtt_s"] == pytest.approx(0.010, rel=0.2)
    cubic = run_trial(samples="acks", path={"loss": "1 in 1000"}, workload={"duration": "3 s"})
    events = pq.read_table(cubic.folder / "events.parquet").to_pylist()
    told = {each["name"] for each in events if each["event"] == "number"}
    assert told == {"epoch_start", "w_max", "origin", "k", "delay_min"}
    starts = [each for each in events if each["name"] == "epoch_start" and each["value"]]
    assert len(starts) > 3


def test_a_full_file_ends_and_says_when(run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "RECORDS_ACKS", {"TESTBED_ACKS": f"1000:{lab.ACKS}"})
    cell = CELLS["cubic, 2 flows"]
    whole, cut = run_trial(**cell), run_trial(samples="acks", **cell)
    table = pq.read_table(cut.folder / "acks.parquet")
    assert 800 < table.num_rows < 1000
    assert cut.result.verdict == "valid"
    (said,) = [each for each in cut.result.warnings if each.startswith("ACKs")]
    assert "there is room for 1000, and" in said
    ended_s = float(said.split("records end ")[1].split(" s ")[0])
    assert table["time_s"].to_pylist()[-1] <= ended_s < 1
    assert cut.result.goodput_bps == whole.result.goodput_bps


def test_a_program_of_somebody_elses_has_records_by_its_ports(run_trial: RunTrial) -> None:
    ran = run_trial(samples="acks", workload={"tool": "iperf3", "duration": "1 s"})
    assert ran.result.verdict == "valid", ran.result.warnings
    acks = pq.read_table(ran.folder / "acks.parquet").to_pylist()
    assert 5201 in {each["destination_port"] for each in acks}
    assert {each["netns"] for each in acks} <= {"tb-a", "tb-b"}


def test_records_that_cannot_be_written_end_the_trial(run_trial: RunTrial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "RECORDS_ACKS", {"TESTBED_ACKS": "1000:/nowhere/acks.bin"})
    with pytest.raises(TrialError, match="recorded no ACKs"):
        run_trial(samples="acks")
