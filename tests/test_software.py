"""The software that decides a trial's bytes: every part counts, what is unknown is the same as nothing, and no path or
name of a computer is in it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import py_compile
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import typer
from runs import make_store, make_trials
from trials import make_trial
from typer.testing import CliRunner

from testbed.commands.computer.doctor import doctor
from testbed.error import MachineError
from testbed.native_program import AGENT, Tools
from testbed.plan.node import vm
from testbed.plan.step import data
from testbed.report import trust
from testbed.spec.load import load_scenario
from testbed.trial import provenance, run, software
from testbed.trial.compiled_module import is_read
from testbed.trial.folder import read_result, write_json
from testbed.trial.orders.sequence import orders

SCENARIOS = Path(__file__).parents[1] / "scenarios"


@pytest.fixture
def fresh() -> Iterator[None]:
    """What was examined before, and in this test, is examined again."""
    caches = (software.here, software.of_snapshots, software._asked, software._library)
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()


def test_all_parts_are_known_here_and_none_names_a_path_or_a_computer() -> None:
    parts = software.here()
    assert software.UNKNOWN not in parts.values()
    text = json.dumps(dict(parts))
    assert "/" not in text
    assert platform.node() not in text
    assert str(Path.home()) not in text
    assert {"processor", "agent", "python", "python modules", "ip", "nft", "package pyarrow"} <= parts.keys()


def test_the_digest_is_of_every_part_and_an_unknown_part_has_none() -> None:
    parts = dict(software.here())
    digest = software.digest()
    assert digest is not None
    assert digest == software.digest(parts) == software.digest(dict(reversed(parts.items())))
    for part in parts:
        assert software.digest({**parts, part: "other"}) != digest
        assert software.digest({name: each for name, each in parts.items() if name != part}) != digest
        assert software.digest({**parts, part: software.UNKNOWN}) is None


def test_what_is_unknown_or_not_noted_differs() -> None:
    one, other = {"a": "1", "b": software.UNKNOWN, "c": "1"}, {"a": "1", "b": software.UNKNOWN, "d": "1"}
    assert list(software.differences(one, other)) == [
        ("b", "unknown", "unknown"),
        ("c", "1", "not noted"),
        ("d", "not noted", "1"),
    ]
    assert list(software.differences({"a": software.NONE}, {"a": software.NONE})) == []


@pytest.mark.parametrize("part", software.EXAMINATIONS)
def test_a_part_that_cannot_be_examined_is_unknown(part: str, fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> str:
        raise MachineError("it is missing", "nothing")

    monkeypatch.setitem(software.EXAMINATIONS, part, fails)
    monkeypatch.setattr(software, "_programs", lambda: {})
    assert software.here()[part] == software.UNKNOWN
    assert software.digest() is None


def test_a_program_counts_by_its_content_its_place_and_its_libraries(
    fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(software, "PLACES", tuple(map(str, folders)))
    libraries: dict[str, list[str]] = {}
    monkeypatch.setattr(software, "_libraries", lambda programs: {each: libraries.get(each, []) for each in programs})

    def put(folder: Path, content: str) -> str:
        (folder / "ip").write_text(content)
        (folder / "ip").chmod(0o755)
        return software._programs()["ip"]

    assert software._programs()["ip"] == software.NONE
    later = put(folders[1], "one")
    assert later == put(folders[1], "one") != put(folders[1], "two")
    first = put(folders[0], "one")
    assert first != later
    library = tmp_path / "lib.so.1"
    for content in ("one", "two"):
        library.write_text(content)
        libraries[str(folders[0] / "ip")] = [str(library)]
        software._library.cache_clear()
        assert software._programs()["ip"] not in (first, later)
        later = software._programs()["ip"]
    monkeypatch.setattr(software, "_libraries", lambda programs: {})
    assert software._programs()["ip"] == software.UNKNOWN


@pytest.mark.parametrize("how", ["changed", "compiled"])
def test_the_agent_counts_as_it_is_read(how: str, fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "main.py"
    source.write_text("a = 1\n")
    monkeypatch.setattr(software, "AGENT", tmp_path)
    before = software._agent()
    assert software._agent() == before
    if how == "changed":
        source.write_text("a = 2\n")
    else:
        monkeypatch.setattr(software, "tools", lambda: Tools(tmp_path, "", tmp_path))
        py_compile.compile(str(source))
    assert software._agent() != before


def test_of_an_agent_in_the_cache_only_controllers_count_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What other commands import, such as `testbed clean`, is compiled here and read by no guest."""
    sources = [tmp_path / name for name in ("frame.py", "controller/firewall.py")]
    monkeypatch.setattr(software, "AGENT", tmp_path)
    monkeypatch.setattr(software, "tools", lambda: Tools(tmp_path, "", tmp_path / "compiled"))
    for source in sources:
        source.parent.mkdir(exist_ok=True)
        source.write_text("a = 1\n")
    before = software._agent()
    py_compile.compile(str(sources[0]))
    assert software._agent() == before
    py_compile.compile(str(sources[1]))
    assert software._agent() != before


def test_python_says_itself_what_it_reads_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each state of a compiled file, and whether Python takes its code from it: the code there is another one."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    source, other = tmp_path / "noun.py", tmp_path / "other.py"
    modes = py_compile.PycInvalidationMode
    for mode in (modes.TIMESTAMP, modes.CHECKED_HASH, modes.UNCHECKED_HASH):
        for is_stale in (False, True):
            source.write_text("said = 'source'\n")
            os.utime(source, (1_000_000_000, 1_000_000_000))
            compiled = Path(importlib.util.cache_from_source(str(source)))
            py_compile.compile(str(source), str(compiled), invalidation_mode=mode)
            header = compiled.read_bytes()[:16]
            other.write_text("said = 'cached'\n")
            py_compile.compile(str(other), str(compiled), invalidation_mode=modes.UNCHECKED_HASH)
            compiled.write_bytes(header + compiled.read_bytes()[16:])
            if is_stale:
                source.write_text("said = 'source, and longer'\n")
            spec = importlib.util.spec_from_file_location("noun", source)
            assert spec is not None
            assert spec.loader is not None
            module: Any = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            assert is_read(source) == (module.said == "cached"), (mode, is_stale)
    for damaged in (header[:8], b"\0\0\0\0" + header[4:]):
        compiled.write_bytes(damaged)
        assert not is_read(source)
    compiled.unlink()
    assert not is_read(source)


def test_a_guest_looks_for_programs_where_we_do() -> None:
    assert f'path = "{":".join(software.SEARCH)}"' in (AGENT / "main.py").read_text()


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_all_that_a_guest_starts_is_a_part(path: Path) -> None:
    trial = load_scenario(path, []).trials()[0]
    if trial.kernel.kind == "host":
        return
    started = {words[0] for step in orders(trial).steps for words in _started(data(step))}
    assert started
    ours = ("/run/tools/", "/run/command-static")  # the second one is a copy of ours in a virtual machine
    others = {Path(each).name for each in started if not each.startswith(ours)}
    machines = any(node.vm is not None for node in trial.topology.nodes)
    assert others - {*software.PROGRAMS} == ({vm.PROGRAM} if machines else set())


def _started(step: Any) -> Iterator[list[str]]:
    if isinstance(step, dict):
        if isinstance(words := step.get("run"), list):
            yield words
            if "env" in words:
                yield [
                    word for word in words[words.index("env") + 1 :] if "=" not in word and not word.startswith("-")
                ][:1]
        step = [*step.values()]
    for each in step if isinstance(step, list) else ():
        yield from _started(each)


def same_as(folder: Path, *words: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(doctor)
    done = CliRunner().invoke(app, ["--same-as", str(folder), *words])
    return done.exit_code, done.stdout


def test_doctor_names_the_parts_that_differ_from_those_of_a_run_or_a_trial(tmp_path: Path) -> None:
    trials = make_trials(["10 ms"], 3)
    store = make_store(tmp_path, trials)
    noted = provenance.of(trials[0])
    folders = [tmp_path / "trials" / trial.id for trial in trials]
    for folder in folders:
        write_json(folder / "provenance.json", noted)
    code, text = same_as(tmp_path)
    assert code == 0, text
    assert "All that decides the bytes is the same" in text
    parts = {**noted["software"]["parts"], "nft": "other", "processor": "x86-64-v2 0"}
    write_json(folders[1] / "provenance.json", {**noted, "software": {"digest": "0", "parts": parts}})
    code, text = same_as(tmp_path, "--format", "json")
    rows = {row["what"]: row for row in json.loads(text)}
    assert code == 1
    assert {what for what, row in rows.items() if not row["ok"]} == {"nft", "processor"}
    assert rows["nft"]["detail"].startswith("other → ")
    assert rows["nft"]["detail"].endswith("(1 of 3 trials)")
    assert rows["ip"] == {"what": "ip", "ok": True, "detail": parts["ip"], "fix": "", "needed_for": "same bytes"}
    assert [same_as(folder)[0] for folder in folders] == [0, 1, 0]
    assert store.ids


@pytest.mark.parametrize("lost", ["file", "software", "parts", "one part", "a kernel"])
def test_what_a_trial_does_not_tell_is_not_the_same(lost: str, tmp_path: Path) -> None:
    trial = make_trials(["10 ms"], 1)[0]
    make_store(tmp_path, [trial])
    noted = provenance.of(trial)
    told = noted["software"]
    changes: dict[str, Any] = {
        "software": {"software": None},
        "parts": {"software": {"digest": told["digest"]}},
        "one part": {"software": {**told, "parts": {name: v for name, v in told["parts"].items() if name != "sh"}}},
        "a kernel": {"kernel": {**noted["kernel"], "key": "0" * 64}},
    }
    if lost in changes:
        write_json(tmp_path / "trials" / trial.id / "provenance.json", {**noted, **changes[lost]})
    code, text = same_as(tmp_path)
    assert code == 1, text
    assert "differs" in text


def test_a_run_without_a_finished_trial_is_the_same_as_nothing(tmp_path: Path) -> None:
    make_store(tmp_path, make_trials(["10 ms"], 1))
    for folder in (tmp_path / "trials").iterdir():
        folder.rename(tmp_path / "failed" / folder.name)
    app = typer.Typer()
    app.command()(doctor)
    assert "has no finished trial" in str(CliRunner().invoke(app, ["--same-as", str(tmp_path)]).exception)


def test_a_package_that_is_being_installed_is_unknown(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: None)
    assert software.here()["package pyarrow"] == software.UNKNOWN
    assert software.digest() is None


@pytest.mark.parametrize("where", ["protocols", "rt_tables.d/mine.conf", "ld.so.cache", "ip"])
def test_a_file_that_changes_or_is_new_is_named(where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("protocols", "ip", "ld.so.cache", "iproute2/rt_protos"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one")
    monkeypatch.setattr(software, "SETTINGS", (str(tmp_path / "protocols"), str(tmp_path / "iproute2")))
    monkeypatch.setattr(software, "LOADER_CACHE", tmp_path / "ld.so.cache")
    monkeypatch.setattr(software, "_EXAMINED", set())
    software._sha_of(tmp_path / "ip")
    before = software.files()
    (tmp_path / "other").write_text("nobody reads it")
    os.link(tmp_path / "protocols", tmp_path / "linked")
    (tmp_path / "ip").chmod(0o755)
    assert software.changed(before) == ()
    if where.startswith("rt_tables.d"):
        (tmp_path / "iproute2" / where).parent.mkdir()
        (tmp_path / "iproute2" / where).write_text("new")
        assert software.changed(before) == ("iproute2", "mine.conf", "rt_tables.d")
    else:
        (tmp_path / "new").write_text("two, and longer")
        (tmp_path / "new").rename(tmp_path / where)
        assert software.changed(before) == (where,)
        (tmp_path / where).unlink()
        assert software.changed(before) == (where,)


@pytest.mark.lab
def test_a_trial_during_which_a_file_changes_says_so(
    fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    setting = tmp_path / "protocols"
    setting.write_text("one")
    monkeypatch.setattr(software, "SETTINGS", (str(setting),))
    trial = make_trial(workload={"duration": "2 s"})

    def change(lab_s: float) -> None:
        setting.write_text("two, and longer")

    def carried_out(name: str, progress: Callable[[float], None] = lambda lab_s: None) -> dict[str, Any]:
        (tmp_path / name).mkdir()
        run.run(trial, orders(trial), tmp_path / name, progress=progress)
        noted = provenance.noted(tmp_path / name)
        assert noted is not None
        return dict(noted["software"])

    first = carried_out("first")
    assert first["digest"] is not None
    disturbed = carried_out("disturbed", change)
    assert disturbed == {"digest": None, "parts": first["parts"] | {software.CHANGED: "protocols"}}
    assert carried_out("later") == first
    for name in ("first", "disturbed"):
        noted = provenance.noted(tmp_path / name) or {}
        told = list(map(str, provenance.between(trial, tmp_path / "disturbed", noted)))
        assert told == [f"{software.CHANGED} protocols → {'not noted' if name == 'first' else 'protocols'}"]
    assert provenance.changes(trial, orders(trial), tmp_path / "disturbed") == ()
    result = read_result(tmp_path / "first")
    rows = dict(trust.provenance(provenance.noted(tmp_path / "disturbed") or {}, result, {}))
    assert (rows[software.CHANGED], "all that decides the bytes" in rows) == ("protocols", False)
