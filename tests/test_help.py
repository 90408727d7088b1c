"""Help, lists and suggestions: what somebody sees who does not know the command yet."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer.main
from comparing import Said, said_by
from storedruns import Made, write_run

from testbed import cli, library
from testbed.commands import help_page, known
from testbed.commands.computer import completion
from testbed.compare import published

ROOT = Path(__file__).parents[1]
APP = typer.main.get_command(cli.app)


def commands() -> Iterator[tuple[str, ...]]:
    yield ()
    for name in cli.COMMANDS:
        yield (name,)
        command = command_of((name,))
        yield from ((name, each) for each in (command.list_commands(context(())) if is_group(command) else ()))


def is_group(command: Any) -> bool:
    return isinstance(command, help_page.Group)


def context(path: tuple[str, ...]) -> Any:
    made: Any = None
    command: Any = APP
    for name in ("testbed", *path):
        command = command if made is None else command.get_command(made, name)
        made = command.make_context(name, [], parent=made, resilient_parsing=True)
    return made


def command_of(path: tuple[str, ...]) -> Any:
    return context(path).command


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_help_is_whole_and_fits(path: tuple[str, ...], width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    ctx = context(path)
    text = ctx.command.get_help(ctx)
    lines = text.split("\nExamples:\n")[0].splitlines()
    assert max(map(len, lines)) <= min(width, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"\w\.\.\.$", text.split("\n", 1)[1], re.MULTILINE)
    assert text.startswith(f"Usage: {' '.join(('testbed', *path))} ")


@pytest.mark.parametrize("path", [path for path in commands() if path], ids=" ".join)
def test_every_command_has_examples_that_can_be_typed(path: tuple[str, ...]) -> None:
    epilog = command_of(path).epilog or ""
    typed = [line.strip() for line in epilog.splitlines() if line.startswith("    ")]
    assert 1 <= len(typed) <= 4
    for line in typed:
        for words in parts(line):
            run = [*words]
            command, ctx = APP, context(())
            while is_group(command):
                assert run, line
                command = command.get_command(ctx, run.pop(0))
                assert command is not None, line
                ctx = command.make_context(command.name, [], parent=ctx, resilient_parsing=True)
            command.make_context(command.name, run, parent=ctx.parent)  # raises for an option that is not there


def parts(line: str) -> Iterator[list[str]]:
    """The words after `testbed`, of each command in a line."""
    for piece in line.split(";") if "; " in line else [line]:
        words = shlex.split(piece)
        if words[:1] in (["eval"], ["echo"]):
            words = shlex.split(words[1].removeprefix("eval ").strip('"').removeprefix("$(").partition(")")[0])
        end = next((at for at, word in enumerate(words) if word in (">", ">>", "<", "|")), len(words))
        assert words[0] == "testbed"
        yield words[1:end]


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_a_line_of_plain_text(name: str) -> None:
    line = cli.GROUPS[cli.COMMANDS[name]][name]
    assert line.endswith(".")
    assert len(line) <= 80 - len("  completion  ")
    module = import_module(cli.module_of(name))
    assert (module.__doc__ or "").startswith(f"`testbed {name}`: ")


def test_all_options_and_arguments_are_explained() -> None:
    for path in commands():
        for param in command_of(path).params:
            assert param.hidden or (param.help or "").endswith((".", ")", "!")) or not path, (path, param.name)


def test_the_help_imports_no_command() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "testbed", "--help"],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not [name for name in loaded if name.startswith(("testbed.commands.", "testbed.spec", "testbed.trial"))
                and name not in {f"testbed.commands.{each}" for each in ("help_page", "closed_output")}]  # fmt: skip
    assert not loaded & {"pydantic", "numpy", "pyarrow", "rich.console", "yaml"}


Command = Callable[..., Said]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Command:
    return partial(said_by, capsys)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("rnu", "run"),
        ("reslts results", "results"),
        ("kernel biuld", "build"),
        ("machines prepair net.yaml", "prepare"),
        ("run quickstart --quik", "--quick"),
        ("results x --fromat json", "--format"),
        ("plan quikstart", "quickstart"),
        ("up wen", "wan"),
        ("check scenarios/quikstart.yaml", "scenarios/quickstart.yaml"),
        ("check scenario/quickstart.yml", "scenarios/quickstart.yaml"),
        ("compare . rfc9348", "rfc9438"),
        ("compare . profiles/rfc9348.yaml", "profiles/rfc9438.yaml"),
        ("results profile", "profiles"),
        ("completion fsh", "fish"),
        ("plan quickstart --trial rtt=10ms,loss=non,congestion=cubic,window=auto,flows=1,seed=1",
         "rtt=10ms,loss=none,congestion=cubic,window=auto,flows=1,seed=1"),
    ],
)  # fmt: skip
def test_what_was_probably_meant_is_said(said: Command, line: str, meant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code, out, err = said(*line.split())
    assert code == 2
    assert f"(did you mean {meant!r}?)" in out + err


def test_nothing_is_suggested_where_nothing_is_alike(said: Command) -> None:
    for line in ("fly", "run --zzzzzz", "plan zzzzzzzzz", "results /zzzz/yyyy/xxxx"):
        assert "did you mean" not in said(*line.split())[2]


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("reproduce S3-F5 --audit 0.1", "'0.1'; allowed: a whole number, 1 to 100"),
        ("reproduce S3-F5 --audit 101", "101; allowed: a whole number, 1 to 100"),
        ("run quickstart --jobs x", "'x'; allowed: a whole number, 1 or more"),
        ("run quickstart --jobs 0", "0; allowed: a whole number, 1 or more"),
        ("exercise prove learning-switch --jobs x", "'x'; allowed: a whole number, 1 or more"),
    ],
)
def test_a_number_that_an_option_cannot_be_is_told_with_the_range(said: Command, line: str, allowed: str) -> None:
    code, _, err = said(*line.split())
    assert code == 2
    assert err.endswith(f": {allowed}\n")


@pytest.mark.parametrize("kind", ["scenarios", "topologies", "profiles"])
def test_a_list_has_a_line_for_each_file(said: Command, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = said("list", kind)
    head, *lines = out.splitlines()
    assert code == 0
    assert head.startswith(kind.capitalize())
    folder = {"scenarios": library.SCENARIOS, "topologies": library.TOPOLOGIES, "profiles": library.PROFILES}[kind]
    assert sorted(line.split()[0] for line in lines) == sorted(library.names(folder))
    assert all(len(line) <= 80 and len(line.split()) > 2 for line in lines)


def test_a_list_alone_has_all_four_and_json_has_whole_sentences(
    said: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    out = said("list")[1]
    assert [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ")] == [
        "Scenarios", "Topologies", "Profiles", "Kernels",
    ]  # fmt: skip
    assert "none yet; to build one, type: testbed kernel build" in out
    listed = json.loads(said("list", "--format", "json")[1])
    (wan,) = [each for each in listed if (each["kind"], each["name"]) == ("topology", "wan")]
    assert wan["description"].startswith("Two hosts and a long path between them")
    assert Path(wan["path"]).samefile(ROOT / "topologies/wan.yaml")
    assert len({(each["kind"], each["name"]) for each in listed}) == len(listed) > 80


def test_what_is_listed_is_found_by_name(said: Command) -> None:
    for folder in (library.SCENARIOS, library.TOPOLOGIES):
        for name in library.names(folder):
            assert library.spec_file(Path(name)).is_file()
    assert said("plan", "regression/bulk", "--list")[0] == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# A path of 1.5 Gbit/s, after Li et al., One. Two.\nname: a\n", "A path of 1.5 Gbit/s, after Li et al., One"),
        ("# Other.\nname: a\ndescription: What it is. Why.\n", "What it is"),
        ("name: a\nabout: >-\n  Two\n  lines\n", "Two lines"),
        ("name: a\n", ""),
    ],
)  # fmt: skip
def test_a_file_is_described_by_its_first_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    (found,) = known._of_files("scenario", tmp_path)
    assert (found.name, found.description) == ("a", sentence)


def test_a_long_sentence_ends_at_a_clause_or_a_word() -> None:
    text = "Two hosts and a long path between them: throughput against round-trip time"
    assert known.shortened(text, 100) == known.shortened(text, None) == text
    assert known.shortened(text, 50) == "Two hosts and a long path between them …"
    assert known.shortened(text, 30) == "Two hosts and a long path …"
    assert all(len(known.shortened(text, width)) <= width for width in range(2, 90))


def test_the_sentence_of_every_scenario_fits_a_line_of_80_columns() -> None:
    found = known.scenarios()
    column = max(len(each.name) for each in found)
    assert [each.name for each in found if not 0 < len(each.description) <= 80 - column - 4] == []


def test_a_profile_is_listed_with_the_command_that_judges_by_it(said: Command, tmp_path: Path) -> None:
    listed = json.loads(said("list", "profiles", "--format", "json")[1])
    judged = {each["name"]: each["judge"] for each in listed}
    counts = {each["name"]: (each["compared"], each["numbers"]) for each in listed}
    assert (counts["skyplane-2022"], counts["rfc9438"]) == ((3, 3), (71, 89))  # 10 series of 7 losses, and a rate
    assert "rfc9438                      compare 71 of 89  " in said("list", "profiles")[1]
    assert {*judged} == {*library.names(library.PROFILES)}
    assert {name for name, judge in judged.items() if judge == "testbed compare"} == {*published.comparable()} != set()
    made = [
        Made({"path.rtt": f"{rtt} ms", "flows": f"{flows}"}, [9e6 / flows] * flows)
        for flows in (1, 64)  # those of one profile and of the other
        for rtt in (1, 10, 50, 100, 340, 400)
    ]
    run = write_run(tmp_path / "r", made)
    for name, judge in judged.items():
        code, _, err = said("compare", str(run), name)
        assert judge == "testbed compare"
        assert code != 2 or "no RTT is stated, so what is named is compared alone" in err or name == "rfc9438"
    offered: Any = completion.VALUES["RUN|PROFILE"][1]
    assert {name for name, _ in offered("", [], [])} == {*published.comparable()}
