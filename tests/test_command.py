"""`tool: command`: what files can say, what each failure of a program says, and what the gate makes of the rest."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from testbed.error import MachineError, SpecError
from testbed.kernel import guest
from testbed.kernel.guest import TrialError
from testbed.model.scenario import Trial
from testbed.model.workload.command import CommandWorkload
from testbed.spec import program_store
from testbed.spec.load import COPY, load_scenario, programs_of
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.trial import provenance, readiness, run
from testbed.trial.measured import need
from testbed.trial.orders.sequence import orders
from testbed.trial.result import TrialResult
from testbed.trial.workload import command, command_output
from testbed.trial.workload.command import CommandResult

Scenario = Callable[..., Path]

SERVER = {"at": "server", "run": ["sleep", "1000"]}
CLIENT = {"at": "client", "run": ["sleep", "0.1"]}
SEND = (
    "import socket,sys;s=socket.create_connection((sys.argv[1],80));s.sendall(bytes(int(sys.argv[2])));"
    "s.shutdown(1);s.recv(1)"
)
TAKE = (
    "import socket;s=socket.create_server(('',80))\nwhile 1:\n c,_=s.accept()\n n=0\n"
    " while d:=c.recv(99999): n+=len(d)\n print('took',n,flush=True)\n c.close()"
)


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    """The file of a scenario with this workload."""

    def write(**workload: Any) -> Path:
        link = {"ends": ["client", "server"], "rate": "50 Mbit/s", "rtt": "20 ms", "buffer": "1 bdp"}
        nodes = {"client": {"type": "host"}, "server": {"type": "host"}}
        said = {"tool": "command", "server": SERVER, "client": CLIENT, **workload}
        whole = {
            "name": "programs",
            "topology": {"name": "pair", "nodes": nodes, "links": {"path": link}},
            "workload": {key: value for key, value in said.items() if value is not None},
        }
        path = tmp_path / "scenario.yaml"
        path.write_text(json.dumps(whole))
        return path

    return write


def trial_at(path: Path) -> Trial:
    (trial,) = load_scenario(path).trials()
    return trial


def value_of(path: Path) -> CommandWorkload:
    workload = trial_at(path).workload
    assert isinstance(workload, CommandWorkload)
    return workload


def carried_out(path: Path, folder: Path) -> TrialResult:
    trial = trial_at(path)
    folder.mkdir()
    return run.run(trial, orders(trial), folder)


def python(code: str, *words: str) -> list[str]:
    return ["python3", "-c", code, *words]


UPLOAD = {
    "from": "client",
    "server": {"at": "server", "run": python(TAKE), "ready": {"tcp": 80}},
    "client": {"at": "client", "run": python(SEND, "{server.address}", "1000000")},
}


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        ({"client": {"at": "clint", "run": ["true"]}}, "*there is no host 'clint'; allowed: *client*"),
        ({"client": {"at": "client", "run": []}}, "*run: this is no program*"),
        ({"client": {"at": "client", "run": "echo $HOME"}}, "*run: no shell reads this*"),
        ({"client": []}, "*client: this is empty; allowed: at least one entry*"),
        ({"client": {**CLIENT, "runs": 0}}, "*runs: 0 is out of range*"),
        ({"client": {**CLIENT, "env": {"A B": "1"}}}, "*'A B' is no name of a variable*"),
        ({"client": {**CLIENT, "user": "no body"}}, "*user: 'no body' is no name of a user*"),
        ({"client": {"at": "client", "run": ["echo", "{duration}"]}}, "*{duration} has no value*duration: 10 s*"),
        ({"client": {"at": "client", "run": ["echo", "{variant}"]}}, "*{variant} has no value*"),
        ({"client": {"at": "client", "run": ["echo", "{sever.address}"]}}, "*there is no host 'sever'*server*"),
        ({"client": [CLIENT, {**CLIENT, "name": "client-1"}]}, "*two programs have the name 'client-1'*"),
        ({"server": {**SERVER, "ready": {"port": 1}}}, "*'port' does not say when it is ready*"),
        ({"server": {**SERVER, "ready": {"tcp": 70000}}}, "*70000 is out of range*"),
        ({"server": None}, "*without a server, from and to must be said*"),
        ({"measure": {"x": {"unit": "ms"}}}, "*where the number comes from is not clear*"),
        ({"measure": {"x": {"output": "no group"}}}, "*has 0 groups*"),
        ({"measure": {"x": {"output": "(("}}}, "*is no regular expression*"),
        ({"measure": {"x": {"json": "a.json"}}}, "*json and key go together*"),
        ({"measure": {"x": {"json": "a.json", "key": "rtt"}}}, "*'rtt' is no place in JSON*"),
        ({"measure": {"x": {"json": "../a.json", "key": "$"}}}, "*this is outside the program's folder*"),
        ({"measure": {"x": {"output": "(1)", "of": "clint"}}}, "*there is no program 'clint'*server, client*"),
        ({"measure": {"goodput": {"output": "(1)", "unit": "ms"}}}, "*ms is no rate*"),
        ({"measure": {"goodput": {"output": "(1)"}}}, "*the goodput has no unit*"),
        ({"measure": {"rtt": {"output": "(1)"}}}, "*'rtt' is a metric of every trial*"),
        ({"collect": ["/etc/passwd"]}, "*is outside the program's folder*"),
        ({"collect": ["../x"]}, "*is outside the program's folder*"),
        ({"files": ["nothing.py"]}, "*nothing.py' cannot be read: No such file*relative to the scenario's folder*"),
        ({"client": {"at": "client", "run": ["./nothing"]}}, "*/nothing' cannot be read: No such file*"),
        ({"files": {"a": "b"}}, "*'b' is no SHA-256*"),
        ({"from": "client", "to": "client"}, "*are both 'client'*"),
    ],
)
def test_what_is_wrong_is_told_with_what_is_allowed(scenario: Scenario, workload: Any, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_scenario(scenario(**workload))
    pattern = ".*".join(map(re.escape, says.split("*")))
    assert re.search(pattern, str(caught.value), re.DOTALL), str(caught.value)
    assert re.search(r"scenario\.yaml:\d+: ", str(caught.value))


def test_a_stored_trial_has_the_same_workload(scenario: Scenario, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    trial = trial_at(
        scenario(
            background={"at": "client", "run": "true", "ready": "end"},
            server={**SERVER, "ready": {"output": "up"}, "stop": "INT", "env": {"A": "{seed}"}, "user": "nobody"},
            client=[{**CLIENT, "runs": 3, "pause": "1 s"}, {"at": "client", "run": ["./tool"], "name": "own"}],
            measure={"goodput": {"bytes": "1 MB"}, "x": {"json": "stdout", "key": "$.a[0]", "unit": "ms"}},
            collect=["*.qlog"],
            duration="3 s",
            variant="a b",
        )
    )
    assert trial_of(trial_data(trial)) == trial
    assert [each.name for each in trial.workload.started] == ["background", "server", "client-1", "own"]  # type: ignore[attr-defined]


def test_data_goes_to_the_client_unless_an_end_is_said(scenario: Scenario) -> None:
    ends = [value_of(scenario(**said)) for said in ({}, {"from": "client"}, {"to": "server"}, {"to": "client"})]
    assert [(each.source, each.destination) for each in ends] == [
        ("server", "client"),
        ("client", "server"),
        ("client", "server"),
        ("server", "client"),
    ]


def test_placeholders_are_filled_and_other_braces_are_kept(scenario: Scenario) -> None:
    words = ["echo", "{server.address}", "{client.address}", "{out}/x", "%{out}", "{seed}", "{duration}", "{other}"]
    trial = trial_at(scenario(client={"at": "client", "run": words}, duration="2500 ms"))
    made = orders(trial)
    (step,) = command.steps(trial.workload, made.plan, trial.seed)  # type: ignore[arg-type]
    assert step.words[-7:] == ("10.0.0.2", "10.0.0.1", "/run/command/client/out/x", "%{out}", "1", "2.5", "{other}")  # type: ignore[union-attr]


def test_another_program_is_another_trial(scenario: Scenario, tmp_path: Path) -> None:
    path = scenario(client={"at": "client", "run": ["./tool"]})
    found = []
    for text in ("one", "two"):
        (tmp_path / "tool").write_text(text)
        found.append(value_of(path).files)
    assert [name for ((name, _),) in found] == ["tool", "tool"]
    assert found[0] != found[1]
    for files, text in zip(found, ("one", "two"), strict=True):
        folder = program_store.find(files)
        assert folder is not None
        assert (folder / "tool").read_text() == text
    assert programs_of(path) == {f"{COPY}tool": str(folder / "tool")}  # not the user's, which may change


def test_a_folder_counts_with_all_that_is_in_it(scenario: Scenario, tmp_path: Path) -> None:
    (tmp_path / "kit/bin").mkdir(parents=True)
    path = scenario(files=["kit"], client={"at": "client", "run": ["kit/bin/tool"]})
    found = []
    for text in ("one", "two"):
        (tmp_path / "kit/bin/tool").write_text(text)
        workload = value_of(path)
        assert workload.clients[0].run == ("kit/bin/tool",)
        found.append(workload.files)
    assert found[0] != found[1]


def test_a_link_that_leads_out_of_its_folder_is_refused(scenario: Scenario, tmp_path: Path) -> None:
    """What is there would not count in the digest, and another computer would not have it."""
    (tmp_path / "kit/bin").mkdir(parents=True)
    (tmp_path / "kit/bin/tool").write_text("one")
    (tmp_path / "secret").write_text("mine")
    path = scenario(files=["kit"], client={"at": "client", "run": ["kit/bin/tool"]})
    link = tmp_path / "kit/bin/link"
    for target in ("tool", "..", "../bin", "missing", "/usr/bin/python3"):
        link.symlink_to(target)
        assert value_of(path).files
        link.unlink()
    for target in ("../../secret", "../..", str(tmp_path / "secret"), str(tmp_path / "kit/bin/tool")):
        link.symlink_to(target)
        with pytest.raises(SpecError, match="its link 'bin/link' leads out of it"):
            load_scenario(path)
        link.unlink()


def test_what_no_digest_covers_is_not_kept(scenario: Scenario, tmp_path: Path) -> None:
    """What Python compiled may be of another source."""
    (tmp_path / "kit/__pycache__").mkdir(parents=True)
    (tmp_path / "kit/tool.py").write_text("one")
    (tmp_path / "kit/__pycache__/tool.cpython-311.pyc").write_text("another")
    folder = program_store.find(
        value_of(scenario(files=["kit"], client={"at": "client", "run": ["kit/tool.py"]})).files
    )
    assert folder is not None
    assert [path.name for path in (folder / "kit").iterdir()] == ["tool.py"]


def test_what_is_kept_runs_as_nobody_else(scenario: Scenario, tmp_path: Path) -> None:
    """The copy belongs to the user, and the file may be another one's."""
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit/tool").write_text(f"another one that only this test has, at {tmp_path}")
    (tmp_path / "kit/tool").chmod(0o6755)
    folder = program_store.find(value_of(scenario(files=["kit"], client={"at": "client", "run": ["./kit/tool"]})).files)
    assert folder is not None
    assert (folder / "kit/tool").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("name", ["tool", "kit/tool"])
def test_a_program_that_is_damaged_in_the_cache_is_refused(scenario: Scenario, tmp_path: Path, name: str) -> None:
    """An empty script would end at once and without an error."""
    (tmp_path / "kit").mkdir()
    (tmp_path / name).write_text(f"something that only this test has, at {tmp_path}")
    files = value_of(scenario(files=["kit"], client={"at": "client", "run": [f"./{name}"]})).files
    folder = program_store._folder(files)
    (folder / name).write_text("")
    with pytest.raises(MachineError, match=rf"{folder} is damaged: its '\w+' is not what was kept .* rm -r {folder}$"):
        program_store.find(files)
    (folder / name).unlink()
    with pytest.raises(MachineError, match="is damaged"):
        program_store.find(files)


def test_a_file_that_is_not_here_is_named_and_copies_are_used(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("content of a test that nobody else has")
    files = (("tool", program_store.digest(tmp_path / "tool")),)
    with pytest.raises(MachineError, match=r"the file 'tool' \(SHA-256 [0-9a-f]{12}…\) of this workload is not on"):
        program_store.find(files)
    (tmp_path / "other").write_text("another content")
    with pytest.raises(MachineError, match="is not on this computer"):
        program_store.find(files, {"tool": tmp_path / "other"})
    assert program_store.find(files, {"tool": tmp_path / "tool"}) is not None


def test_a_program_that_is_not_installed_is_said_before_anything_runs(scenario: Scenario) -> None:
    workload = value_of(scenario(client={"at": "client", "run": ["no-such-program"]}))
    with pytest.raises(MachineError, match="the program 'no-such-program' is missing"):
        readiness.check_programs(workload, is_lab=True)
    if shutil.which("netserver") is None:
        workload = value_of(scenario(client={"at": "client", "run": ["netserver"]}))
        with pytest.raises(MachineError, match="apt-get install -y netperf"):
            readiness.check_programs(workload, is_lab=True)


def test_what_is_in_a_program_is_noted(scenario: Scenario) -> None:
    trial = trial_at(scenario())
    assert provenance._users_programs(trial).keys() == {"program sleep"}
    assert re.fullmatch("[0-9a-f]{12}", provenance._users_programs(trial)["program sleep"])


# --- what is read -----------------------------------------------------------------------------------------------------


TOLD = {
    "server": "600000000000 10000000000 1 0 0 15",
    "client": "600000000000 10000000000 1 0 0 15",
}


def report(told: dict[str, str] = TOLD, space: int = 128 << 20, runs: str = "run client 1 5 9 0\n") -> str:
    lines = "".join(f"told {name} {numbers}\n" for name, numbers in told.items())
    return f"space {space} 70000000\n{lines}ready server 4\nbegin 5\n{runs}end 9\ndone\n"


def test_programs_are_started_as_asked(scenario: Scenario) -> None:
    workload = value_of(scenario())
    command_output.check(workload, command_output.parse(report()))
    for name, words in TOLD.items():
        numbers = words.split()
        for place, number in enumerate(numbers):
            other = " ".join([*numbers[:place], str(int(number) * 2 + 1), *numbers[place + 1 :]])
            with pytest.raises(TrialError, match="asked were"):
                command_output.check(workload, command_output.parse(report({**TOLD, name: other})))
    for text in (report({}), report(space=1 << 20), report({**TOLD, "other": TOLD["client"]})):
        with pytest.raises(TrialError, match="asked were"):
            command_output.check(workload, command_output.parse(text))


def test_a_report_that_is_cut_short_is_no_result(scenario: Scenario, tmp_path: Path) -> None:
    workload = value_of(scenario())
    for text in ("", "begin 5\n", "ready server 4\nbegin 5\nend 9\ndone\n", "nonsense\n"):
        (tmp_path / command.OUTPUT).write_text(text)
        (tmp_path / command.ERRORS).write_text("it broke")
        with pytest.raises(TrialError):
            command.read(workload, tmp_path)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("rtt 0 ms", "it is 0"),
        ("", "nothing matches"),
        ("rtt nan ms", "nothing matches"),
        ("rtt 1.2.3 ms", "is no number"),
    ],
)
def test_a_number_that_is_missing_or_zero_has_a_reason(
    scenario: Scenario, tmp_path: Path, said: str, reason: str
) -> None:
    workload = value_of(scenario(measure={"delay": {"output": "rtt ([0-9.]+) ms", "unit": "ms"}}))
    report = command_output.parse("begin 0\nrun client 1 0 1000000000 0\n")
    (tmp_path / "command-client-1.out").write_text(said)
    ((_, value),) = command_output.values(workload, report, tmp_path)
    assert value.mean is None
    assert reason in value.missing[0]


@pytest.mark.parametrize(("said", "number"), [("1,234.5", 1.2345), ("12,345,678", 12_345.678), ("1234.5", 1.2345)])
def test_thousands_may_stand_apart(scenario: Scenario, tmp_path: Path, said: str, number: float) -> None:
    workload = value_of(scenario(measure={"delay": {"output": "rtt (\\S+) ms", "unit": "ms"}}))
    report = command_output.parse("begin 0\nrun client 1 0 1000000000 0\n")
    (tmp_path / "command-client-1.out").write_text(f"rtt {said} ms")
    ((_, value),) = command_output.values(workload, report, tmp_path)
    assert value.mean == pytest.approx(number)


def test_a_comma_before_decimals_is_no_number_of_ours(scenario: Scenario, tmp_path: Path) -> None:
    """1,5 is one and a half in half of the world, and was 15."""
    workload = value_of(scenario(measure={"delay": {"output": "rtt (\\S+) ms", "unit": "ms"}}))
    (tmp_path / "command-client-1.out").write_text("rtt 1,5 ms")
    report = command_output.parse("begin 0\nrun client 1 0 1000000000 0\n")
    ((_, value),) = command_output.values(workload, report, tmp_path)
    assert value.mean is None
    assert "is no number" in value.missing[0]


def test_numbers_are_stored_in_base_units(scenario: Scenario, tmp_path: Path) -> None:
    measure = {
        "delay": {"output": "rtt ([0-9.]+) ms", "unit": "ms"},
        "rate": {"json": "stats.json", "key": "$.a[1].rate", "unit": "MB/s"},
        "share": {"json": "stats.json", "key": "$.share", "unit": "%", "zero": True},
    }
    workload = value_of(scenario(measure=measure))
    report = command_output.parse("begin 0\nrun client 1 0 1000000000 0\n")
    (tmp_path / "command-client-1.out").write_text("rtt 9 ms\nrtt 12.5 ms\n")
    (tmp_path / "command-client-1-stats.json").write_text(json.dumps({"a": [1, {"rate": 3}], "share": 0}))
    means = {name: value.mean for name, value in command_output.values(workload, report, tmp_path)}
    assert means == pytest.approx({"delay": 0.0125, "rate": 24e6, "share": 0.0})


@pytest.mark.parametrize(("begin_s", "all_bps"), [(0, 18e6), (4, 12e6), (8, 9e6)])
def test_clients_that_run_at_different_times_have_no_sum_of_rates(
    scenario: Scenario, tmp_path: Path, begin_s: int, all_bps: float
) -> None:
    """Each gets 9 Mbit/s for 8 s: together, half of the time together, and one after the other."""
    said = {"goodput": {"output": "rate ([0-9]+)", "unit": "Mbit/s"}}
    workload = value_of(scenario(client=[{**CLIENT, "name": each} for each in ("one", "two")], measure=said))
    times = f"run one 1 0 8000000000 0\nrun two 1 {begin_s}000000000 {begin_s + 8}000000000 0\n"
    ran = command_output.parse(f"begin 0\n{times}")
    for name in ("one", "two"):
        (tmp_path / f"command-{name}-1.out").write_text("rate 9")
    values = dict(command_output.values(workload, ran, tmp_path))
    names = (each.name for each in fields(command_output.HostTraffic))
    counters = command_output.HostTraffic(**dict.fromkeys(names, 0))
    flows, goodput_bps = command._flows(workload, ran, values, dict.fromkeys(workload.hosts, counters), 0)
    assert [each.goodput_bps for each in flows] == [9e6, 9e6]
    assert goodput_bps == pytest.approx(all_bps)


def test_what_comes_twice_counts_twice_unless_it_is_known_what_a_run_transfers(scenario: Scenario) -> None:
    said = {"goodput": {"output": "rate ([0-9]+)", "unit": "Mbit/s"}}
    known = {"goodput": {"bytes": "1 MB"}}
    counted = [value_of(scenario(measure=each)).counts_twice for each in ({}, said, known)]
    assert counted == [True, True, False]


def test_what_runs_say_is_counted_over_the_time_of_each(scenario: Scenario, tmp_path: Path) -> None:
    """100 Mbit/s for 1 s and 10 for 9 s: the gate holds 19 against what a link can carry, and not the mean of 55."""
    measure = {"goodput": {"output": "rate ([0-9]+)", "unit": "Mbit/s"}}
    ran = command_output.parse("begin 0\nrun client 1 0 1000000000 0\nrun client 2 1000000000 10000000000 0\n")

    def counted_bps(clients: Any) -> float | None:
        workload = value_of(scenario(client=clients, measure=measure))
        return command._counted_bps(workload, ran, dict(command_output.values(workload, ran, tmp_path)))

    twice = {**CLIENT, "runs": 2}
    (tmp_path / "command-client-1.out").write_text("rate 100")
    assert counted_bps(twice) is None
    (tmp_path / "command-client-2.out").write_text("rate 10")
    assert counted_bps(twice) == pytest.approx(19e6)
    assert counted_bps([{**twice, "name": "client"}, {**CLIENT, "name": "other"}]) is None
    measure = {"goodput": {"bytes": "1 MB"}}
    assert counted_bps(twice) is None


# --- in the lab kernel ------------------------------------------------------------------------------------------------


@pytest.mark.lab
def test_an_upload_is_counted_to_the_byte(scenario: Scenario, tmp_path: Path) -> None:
    path = scenario(
        **UPLOAD,
        measure={"took": {"output": r"took (\d+)", "unit": "B", "of": "server"}, "goodput": {"bytes": "1 MB"}},
    )
    result = carried_out(path, tmp_path / "one")
    measured = need(CommandResult, result.measured)
    assert [str(each) for each in result.findings if each.verdict != "valid"] == []
    assert measured.values["took"].mean == 1e6
    assert measured.traffic["server"].payload_in_bytes == pytest.approx(1e6, rel=1e-3)
    assert result.goodput_bps == pytest.approx(8e6 / measured.runs[0].elapsed_s)
    assert any(each.suffix == ".parquet" for each in (tmp_path / "one").iterdir())
    counted = carried_out(scenario(**UPLOAD), tmp_path / "two")
    assert counted.goodput_bps == pytest.approx(result.goodput_bps, rel=1e-2)
    assert need(CommandResult, counted.measured).goodput_from == "counters"


@pytest.mark.lab
def test_a_client_may_fetch_from_several_hosts_at_once(scenario: Scenario, tmp_path: Path) -> None:
    """Together they bring more than the way from one of them could, and each link carried only its own."""
    give = (
        "import socket;s=socket.create_server(('',80))\nwhile 1:\n c,_=s.accept()\n c.sendall(bytes(10**6))\n c.close()"
    )
    take = "import socket,sys;s=socket.create_connection((sys.argv[1],80))\nwhile s.recv(99999): pass"
    hosts = ("server", "second", "third")
    programs = {each: {"at": each, "run": python(give), "ready": {"tcp": 80}} for each in hosts}
    path = scenario(
        server=programs["server"],
        background=[{"name": each, **programs[each]} for each in hosts[1:]],
        client=[
            {
                "name": f"of-{each}",
                "at": "client",
                "run": python(take, f"{{{each}.address}}"),
                "runs": 2,
                "pause": "9 s",
            }
            for each in hosts
        ],
    )
    whole = json.loads(path.read_text())
    link = {"rate": "10 Mbit/s", "rtt": "20 ms", "buffer": "1 bdp"}
    whole["topology"]["nodes"] = {"client": {"type": "host"}, "middle": {"type": "router"}}
    whole["topology"]["nodes"] |= {each: {"type": "host"} for each in hosts}
    whole["topology"]["links"] = {f"of-{each}": {"ends": [each, "middle"], **link} for each in hosts}
    whole["topology"]["links"]["access"] = {"ends": ["middle", "client"], **link, "rate": "1 Gbit/s"}
    path.write_text(json.dumps(whole))
    result = carried_out(path, tmp_path / "one")
    assert [str(each) for each in result.findings if each.verdict != "valid"] == []
    assert result.goodput_bps is not None
    assert 20e6 < result.goodput_bps < 30e6


@pytest.mark.lab
def test_who_transfers_less_than_was_said_is_not_believed(scenario: Scenario, tmp_path: Path) -> None:
    result = carried_out(scenario(**UPLOAD, measure={"goodput": {"bytes": "1100 kB"}}), tmp_path / "one")
    assert result.verdict == "invalid"
    assert any("were to transfer 1100000 bytes" in each.text for each in result.findings)


@pytest.mark.lab
def test_without_data_or_measured_values_nothing_is_valid(scenario: Scenario, tmp_path: Path) -> None:
    said = {"measure": {"x": {"output": "x=([0-9]+)"}}, "collect": ["*.qlog"]}
    result = carried_out(scenario(**said), tmp_path / "one")
    texts = {each.text: each.verdict for each in result.findings}
    assert texts["the goodput is 0"] == "invalid"
    assert texts["client received no TCP and no UDP"] == "invalid"
    assert texts["missing: x (client, run 1: nothing matches 'x=([0-9]+)')"] == "invalid"
    assert texts["no program left a file *.qlog"] == "suspect"


@pytest.mark.lab
@pytest.mark.parametrize(
    ("workload", "says"),
    [
        (
            {"server": {**SERVER, "ready": {"tcp": 80}, "ready_limit": "2 s"}},
            r"the program server \(sleep 1000\) on server: it was not ready \(tcp:80\) after 2 s",
        ),
        (
            {"server": {"at": "server", "run": ["sh", "-c", "echo bad >&2; exit 3"], "ready": {"udp": 80}}},
            r"it ended with status 3 before it was ready; command-server-1.err ends:\nbad",
        ),
        (
            {"server": {"at": "server", "run": ["true"], "ready": {"udp": 80}}},
            r"it ended with status 0 before it was ready \(udp:80\)",
        ),
        (
            {
                "server": {"at": "server", "run": ["sh", "-c", "sleep 1; exit 4"]},
                "client": {**CLIENT, "run": "sleep 5"},
            },
            r"the program server .* it ended with status 4 while the clients ran",
        ),
        (
            {"client": {"at": "client", "run": ["sh", "-c", "echo fine; echo no way >&2; exit 7"]}},
            r"the program client .* on client: it ended with status 7; command-client-1.err ends:\nno way",
        ),
        (
            {"client": {"at": "client", "run": ["sh", "-c", "echo fine; kill -SEGV $$"], "runs": 2}},
            r", run 1: signal 11 \(Segmentation fault\) ended it; command-client-1.out ends:\nfine",
        ),
        ({"client": {**CLIENT, "run": "sleep 100", "limit": "3 s"}}, r"it still ran after its limit of 3 s"),
        ({"client": {"at": "client", "run": ["yes"]}, "space": "40 MiB"}, r"it (wrote|ended with status 1)"),
        (
            {"client": {"at": "client", "run": ["sh", "-c", "yes >out/x; true"]}, "space": "8 MiB"},
            r"its files and output filled the 8 MiB that there are; allowed: less, or a larger 'space'",
        ),
        ({"client": {**CLIENT, "user": "nosuchuser"}}, r"there is no user nosuchuser here"),
    ],
)
def test_a_program_that_fails_is_named_with_what_it_said(
    scenario: Scenario, tmp_path: Path, workload: Any, says: str
) -> None:
    with pytest.raises(TrialError, match=says):
        carried_out(scenario(**workload), tmp_path / "one")


@pytest.mark.lab
def test_what_a_program_leaves_behind_is_ended_and_said(scenario: Scenario, tmp_path: Path) -> None:
    leave = ["sh", "-c", "setsid sleep 500 & exec python3 -c '" + SEND.replace("'", '"') + "' {server.address} 9000"]
    result = carried_out(scenario(**{**UPLOAD, "client": {"at": "client", "run": leave}}), tmp_path / "one")
    assert [each.text for each in result.findings] == ["client left sleep behind"]
    assert result.verdict == "suspect"
    assert result.lab_s < 100


@pytest.mark.lab
def test_a_server_that_forks_away_serves_and_is_ended(scenario: Scenario, tmp_path: Path) -> None:
    away = {"at": "server", "run": ["sh", "-c", 'python3 -c "$0" & exit 0', TAKE]}
    workload = {**UPLOAD, "server": {**away, "ready": {"tcp": 80}}}
    result = carried_out(scenario(**workload), tmp_path / "one")
    assert result.verdict == "valid"
    assert need(CommandResult, result.measured).stopped["server"] == "asked"


@pytest.mark.lab
def test_a_program_that_spins_is_named(scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "STANDSTILL_S", 2.0)
    path = scenario(client={"at": "client", "run": ["sh", "-c", "while :; do :; done"]})
    with pytest.raises(TrialError, match=r"The process /\S*sh \(the program client\) computes without a system call"):
        carried_out(path, tmp_path / "one")


COUNTER = """
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
static unsigned long long clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}
int main(void)
{
    unsigned processor = 99;
    unsigned long long first = clock_ns(), second = __rdtsc();
    usleep(250000);
    unsigned long long third = __rdtscp(&processor), fourth = clock_ns();
    printf("%llu %llu %llu %llu %u\\n", first, second, third, fourth, processor);
}
"""


@pytest.mark.lab
def test_the_time_stamp_counter_is_lab_time(scenario: Scenario, tmp_path: Path) -> None:
    """In nanoseconds; a look at it takes as long as one at the clock."""
    (tmp_path / "counter.c").write_text(COUNTER)
    subprocess.run(["gcc", "-o", tmp_path / "counter", tmp_path / "counter.c"], check=True)
    path = scenario(files=["counter"], client={"at": "client", "run": ["./counter"]})
    said = []
    for name in ("one", "two"):
        carried_out(path, tmp_path / name)
        said.append((tmp_path / name / "command-client-1.out").read_text())
    assert said[0] == said[1]
    first, second, third, fourth, processor = map(int, said[0].split())
    assert (second - first, fourth - third, processor) == (256, 256, 0)
    assert 250_000_000 <= third - second < 250_100_000


@pytest.mark.lab
def test_programs_see_their_host_user_folder_and_files(scenario: Scenario, tmp_path: Path) -> None:
    (tmp_path / "beside.txt").write_text("hello")
    look = (
        "cat beside.txt; pwd; echo $HOME; echo $A; id -un; ls -d out; ls /sys/class/net | tr '\\n' ' '; ls /proc/1/fd"
    )
    client = {"at": "client", "run": ["sh", "-c", f"{look} >/dev/null 2>&1; true"], "user": "nobody"}
    client |= {"env": {"A": "{client.address}"}}
    client["run"] = ["sh", "-c", look.rpartition(";")[0] + "; touch mine out/mine"]
    carried_out(scenario(files=["beside.txt"], client=client, collect=["mine"]), tmp_path / "one")
    said = (tmp_path / "one/command-client-1.out").read_text().splitlines()
    assert said[0].startswith("hello/run/command/client")
    assert said[1:5] == ["/run/command/client", "10.0.0.1", "nobody", "out"]
    assert "path" in said[5] or "eth" in said[5] or "lo" in said[5]
    assert (tmp_path / "one/command-client-1-mine").exists()


@pytest.mark.lab
def test_every_run_of_every_client_counts(scenario: Scenario, tmp_path: Path) -> None:
    send = {"at": "client", "run": python(SEND, "{server.address}", "100000")}
    clients = [{**send, "runs": 3, "pause": "100 ms"}, {**send, "start": "50 ms", "name": "late"}]
    path = scenario(**{**UPLOAD, "client": clients}, measure={"goodput": {"bytes": "100 kB"}})
    result = carried_out(path, tmp_path / "one")
    runs = need(CommandResult, result.measured).runs
    assert sorted((each.program, each.number) for each in runs) == [
        *(("client-1", number) for number in (1, 2, 3)),
        ("late", 1),
    ]
    begins = {(each.program, each.number): each.begin_s for each in runs}
    assert begins["late", 1] == pytest.approx(0.05, abs=1e-3)
    assert [flow.received_bytes for flow in result.flows] == [300_000, 100_000]
    assert result.verdict == "valid"


@pytest.mark.lab
def test_the_same_seed_gives_the_same_bytes(scenario: Scenario, tmp_path: Path) -> None:
    path = scenario(**UPLOAD)
    first, second = (carried_out(path, tmp_path / name) for name in ("one", "two"))
    assert replace(first, wall_s=0.0) == replace(second, wall_s=0.0)
    names = {each.name for each in (tmp_path / "one").iterdir()} - {"host.json"}
    assert [
        n for n in sorted(names) if (tmp_path / "one" / n).read_bytes() != (tmp_path / "two" / n).read_bytes()
    ] == []
