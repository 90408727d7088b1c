"""In the lab kernel: three shards and their merge are the whole run, byte for byte; an audit finds a flipped byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import files_of
from test_shard import said

from testbed.sweep.store import Store

pytestmark = pytest.mark.lab

SCENARIO = """
name: made
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 10 Mbit/s, rtt: 10 ms, jitter: 1 ms, buffer: 1 bdp}}
workload: {tool: ping, from: a, to: b, count: 3}
sweep: {path.rtt: [10 ms, 20 ms, 30 ms]}
repetitions: 2
"""


def test_shards_merged_are_the_whole_and_an_audit_finds_a_flipped_byte(tmp_path: Path) -> None:
    scenario, whole, merged = tmp_path / "made.yaml", tmp_path / "whole", tmp_path / "merged"
    scenario.write_text(SCENARIO)
    assert said("run", str(scenario), "-o", str(whole))[0] == 0
    parts = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        assert said("run", str(scenario), "-o", str(part), "--shard", f"{number}/3")[0] == 0
    assert sum(len(Store(part).results()) for part in parts) == 6
    code, out, err = said("merge", *map(str, parts), str(whole), "-o", str(merged))
    assert code == 0, out + err
    here_only = ("host.json", "host.parquet", "lock")
    assert files_of(merged, but=here_only) == files_of(whole, but=here_only)
    code, out, err = said("doctor", "--same-as", str(merged))
    assert code == 0, out
    assert said("audit", str(merged), "--sample", "2", "--seed", "1")[0] == 0
    trial = Store(merged).ids[0]
    file = merged / "trials" / trial / "read-back.bin"
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    code, out, err = said("audit", str(merged), "--seed", "1")
    assert code == 1, out + err
    assert f"different {trial}: read-back.bin" in err
    assert "5 of 6 repeated trials are the same, byte for byte; 1 differs" in out
    code, _, err = said("merge", str(whole), "-o", str(merged))
    assert code == 1
    assert f"different: {trial}: read-back.bin differ between" in err
