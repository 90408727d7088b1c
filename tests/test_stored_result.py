"""Stored results: what is read is written again as it was, what is wrong is named, and reading loads little."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trials import SWITCH, vm

from results import PLAIN, plain
from testbed.error import UserError
from testbed.trial import measured, record
from testbed.trial.folder import HOST, RESULT, read_result, write_json
from testbed.trial.result import SCHEMA, TrialResult
from testbed.trial.workload.background import backgrounds
from testbed.trial.workload.udp import UdpResult

OLDEST = {
    "schema": SCHEMA,
    "id": "t",
    "params": {"path.rtt": "10 ms"},
    "seed": 1,
    "repetition": 0,
    "verdict": "valid",
    "warnings": [],
    "findings": [],
    "goodput_bps": 95653931.8,
    "flows": [{"goodput_bps": 95653931.8, "retransmits": 0, "rtt_min_s": 0.01, "congestion": "cubic"}],
    "asked": {"rtt_s": 0.01, "rate_bps": 100000000},
    "seen": {"rtt_s": 0.01},
    "stages": [],
    "kernel": "lab",
    "kernel_release": "7.3.4",
    "lab_s": 4.0,
}
"""With no more than every result has."""


def write(folder: Path, data: Any) -> Path:
    write_json(folder / RESULT, data)
    write_json(folder / HOST, {"wall_s": 2.5})
    return folder


def test_loading_a_result_loads_neither_the_world_nor_pyroute2() -> None:
    say = "import json, sys; import testbed.trial.result; print(json.dumps(list(sys.modules)))"
    names = json.loads(subprocess.run([sys.executable, "-c", say], stdout=subprocess.PIPE, check=True).stdout)
    ours = [name for name in names if name.split(".")[0] == "testbed"]
    assert len(ours) < 20, ours
    assert not {name.split(".")[0] for name in names} & {"numpy", "pyarrow", "pydantic", "pyroute2", "rich", "typer"}


def test_a_result_is_written_as_it_was_read(tmp_path: Path) -> None:
    stage = {"link": "path", "way": "forward", "policy": {"crossed_s": 1.5}, "intervals": [{"asked_loss": "none"}]}
    whole = plain(
        stages=[stage],
        captures={"a.pcap": None, "b.pcap": {}},
        vms={"a": {}},
        machines={"m": {}},
        tclinks=[{}],
        sdn={"switches": {"s": {"ports": {"1": {"rx_packets": 3}}}}, "controllers": {"c": {}}},
    )
    text = json.dumps(whole.stored())
    folder = write(tmp_path, whole.stored())
    assert json.dumps(read_result(folder).stored()) == text
    assert read_result(folder).wall_s == 2.5


def test_what_is_not_there_is_not_written() -> None:
    said = plain(stages=[{}]).stored()
    assert not {"machines", "sdn", "wall_s"} & said.keys()
    assert not {"intervals", "policy"} & said["stages"][0].keys()
    assert said["mininet_version"] is None


def test_an_older_result_without_the_later_keys_is_read(tmp_path: Path) -> None:
    found = read_result(write(tmp_path, OLDEST))
    assert found.flows[0].received_bytes is None
    assert found.seen.queue_drops is None
    assert (found.stages, found.machines, found.sdn, found.ip_version) == ((), {}, None, None)


def test_a_command_that_removes_a_damaged_trial_can_be_pasted(tmp_path: Path) -> None:
    folder = tmp_path / "my results" / "trials" / "t"
    folder.mkdir(parents=True)
    with pytest.raises(
        UserError, match=r"result\.json is damaged: it is gone; .*: rm -r '[^']*/my results/trials/[^']*'$"
    ):
        read_result(folder)


@pytest.mark.parametrize("key", sorted(OLDEST.keys() - {"schema"}))
def test_a_key_that_is_missing_is_named(tmp_path: Path, key: str) -> None:
    folder = write(tmp_path, {name: value for name, value in OLDEST.items() if name != key})
    with pytest.raises(UserError, match=rf"result\.json is damaged: it has no {key}; delete .* rm -r {tmp_path}"):
        read_result(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": "1"}, "seed is '1', not a whole number"),
        ({"seed": True}, "seed is True, not a whole number"),
        ({"goodput_bps": "fast"}, "goodput_bps is 'fast', not a number"),
        ({"params": []}, r"params is \[\], not an object"),
        ({"params": {"rtt": 1}}, "params.rtt is 1, not text"),
        ({"flows": {}}, r"flows is \{\}, not a list"),
        ({"flows": [{}]}, r"it has no flows\[0\].goodput_bps"),
        ({"flows": [{**OLDEST["flows"][0], "port": 1.5}]}, r"flows\[0\].port is 1.5, not a whole number"),  # type: ignore[index]
        ({"verdict": "good"}, "verdict is 'good'; allowed: valid, suspect, invalid"),
        ({"asked": None}, "asked is None, not an object"),
        ({"captures": {"a": {"packets": 1}}}, "it has no captures.a.payload_bytes"),
    ],
)
def test_a_value_of_another_type_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=rf"result\.json is damaged: .*{message}"):
        read_result(write(tmp_path, {**OLDEST, **change}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goodput_bps": 1e308}, r"goodput_bps is 1e\+308; allowed: less than 2\^64"),
        ({"goodput_bps": float("nan")}, "goodput_bps is nan; allowed: a finite number"),
        ({"goodput_bps": float("inf")}, "goodput_bps is inf; allowed: a finite number"),
        ({"goodput_bps": 10**400}, r"goodput_bps is 10+; allowed: less than 2\^64"),
        ({"goodput_bps": -5.0}, "goodput_bps is -5.0; allowed: 0 or more"),
        ({"flows": [{**OLDEST["flows"][0], "retransmits": -1}]}, r"flows\[0\].retransmits is -1; allowed: 0 or more"),  # type: ignore[index]
        ({"asked": {"rtt_s": -0.01, "rate_bps": None}}, "asked.rtt_s is -0.01; allowed: 0 or more"),
        ({"asked": {"rtt_s": 0.01, "rate_bps": 0}}, "asked.rate_bps is 0; allowed: above 0"),
        ({"asked": {"rtt_s": 0.01, "rate_bps": -1.5}}, "asked.rate_bps is -1.5; allowed: above 0"),
        ({"seen": {"rtt_s": float("-inf")}}, "seen.rtt_s is -inf; allowed: a finite number"),
        ({"repetition": -1}, "repetition is -1; allowed: 0 or more"),
        ({"lab_s": 1e30}, r"lab_s is 1e\+30; allowed: less than 2\^64"),
    ],
)
def test_a_number_that_no_trial_can_give_is_refused_with_its_file_and_field(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=rf"{tmp_path}/result\.json is damaged: {message}; delete"):
        read_result(write(tmp_path, {**OLDEST, **change}))


def test_what_a_tool_measured_is_held_to_the_same() -> None:
    ping = {"sent": 5, "received": 5, "rtt_min_s": 0.01, "rtt_mean_s": 0.01, "rtt_max_s": -0.01, "rtt_sd_s": 0.0}
    with pytest.raises(UserError, match=r"rtt_max_s is -0.01; allowed: 0 or more"):
        measured.find(measured.PingResult, {"ping": ping})


def test_a_clock_may_be_behind_ours() -> None:
    done = plain(machines={"m": {"clock_ahead_ns": -5}})
    assert record.read(TrialResult, done.to_dict()) == done


def test_keys_of_a_later_version_are_passed_over(tmp_path: Path) -> None:
    assert read_result(write(tmp_path, {**OLDEST, "new": 1})) == read_result(write(tmp_path, OLDEST))


def test_keys_of_a_later_version_are_written_again(tmp_path: Path) -> None:
    later = {"new": {"deep": [1]}, "flows": [{**OLDEST["flows"][0], "ecn_marks": 7}]}  # type: ignore[index]
    found = read_result(write(tmp_path, {**OLDEST, **later}))
    said = json.loads(json.dumps(found.to_dict()))
    assert said["new"] == {"deep": [1]}
    assert said["flows"][0]["ecn_marks"] == 7
    assert found.stored()["new"] == {"deep": [1]}


@pytest.mark.parametrize("damaged", [None, [], 3, "noise"])
def test_backgrounds_that_are_no_object_are_damage(damaged: object) -> None:
    with pytest.raises(UserError, match=r"damaged: measured\.background is .*, not an object"):
        backgrounds({"background": damaged})


def test_what_a_tool_measured_is_read_in_one_place_and_faults_are_named() -> None:
    ping = {"sent": 3, "received": 0, "rtt_min_s": None, "rtt_mean_s": None, "rtt_max_s": None, "rtt_sd_s": None}
    found = plain(measured={"ping": ping}).measured
    assert record.write(measured.need(measured.PingResult, found)) == ping
    assert measured.find(UdpResult, found) is None
    with pytest.raises(UserError, match=r"has no measured\.udp"):
        measured.need(UdpResult, found)
    with pytest.raises(UserError, match=r"in measured\.ping, sent is 'x', not a whole number"):
        measured.need(measured.PingResult, {"ping": {**ping, "sent": "x"}})


def test_a_background_has_keys_that_are_no_names_in_python() -> None:
    about = {"pattern": "constant", "from": "a", "to": "b", "received_bytes": 5}
    (found,) = backgrounds({"background": {"noise": about}}).values()
    assert (found.source, found.destination, found.planned_flows) == ("a", "b", None)
    assert record.write(found) == about


def test_the_result_for_tests_is_valid() -> None:
    assert plain().verdict == "valid"
    assert record.read(TrialResult, {**plain().to_dict()}) == plain()
    assert plain(plain(seed=7), repetition=1).seed == 7
    assert PLAIN["kernel"] == "lab"


@pytest.mark.parametrize("seen", [vm("kvm", 0.5, busy_s=3.0), replace(SWITCH, protocols=("OpenFlow10",))])
def test_what_is_not_stored_is_no_difference(seen: Any) -> None:
    stored = record.write(seen)
    assert not {"busy_s", "protocols"} & stored.keys()
    assert record.read(type(seen), stored) == seen
    assert record.write(record.read(type(seen), stored)) == stored
