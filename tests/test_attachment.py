"""Files that spec files name: those beside them are read, others only if the user permits it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from comparing import exit_code, said_by

from testbed.cache_folder import user_folder
from testbed.commands.network import up as commands_up
from testbed.error import MachineError, SpecError
from testbed.kernel.vm import runtime
from testbed.spec import mininet_import, program_store
from testbed.spec.load import load_scenario, load_topology, programs_of
from testbed.spec.scenario.topologies import read as read_file
from testbed.spec.syntax.attachment import NOTHING_MORE, OPTION, Folder, Permission, permitted

SECRET = "-----BEGIN PRIVATE KEY-----\nhunter2: [hunter2\n"

NET = "topology: {name: n, nodes: {a: {type: host}, b: {type: host}}, links: {p: {ends: [a, b], rate: 9 Mbit/s}}}"
FLOW = "workload: {tool: flow, from: a, to: b, duration: 1 s}"


def with_router(keys: str) -> str:
    nodes = f"{{a: {{type: host}}, b: {{type: host}}, r: {{type: router, {keys}}}}}"
    return f"name: n\nnodes: {nodes}\nlinks: {{la: {{ends: [a, r]}}, lb: {{ends: [r, b]}}}}"


def with_controller(keys: str) -> str:
    nodes = f"{{a: {{type: host}}, b: {{type: host}}, s: {{type: ovs}}, c: {{type: controller, {keys}}}}}"
    return f"name: n\nnodes: {nodes}\nlinks: {{la: {{ends: [a, s]}}, lb: {{ends: [s, b]}}}}"


def with_link(keys: str) -> str:
    return f"name: n\nnodes: {{a: {{type: host}}, b: {{type: host}}}}\nlinks: {{p: {{ends: [a, b], {keys}}}}}"


TOPOLOGIES = {
    "nftables": with_router("nftables: '@'"),
    "frr.config": with_router("frr: {config: '@'}"),
    "app": with_controller("app: '@'"),
    "command": with_controller("command: ['@']"),
    "files of a command": with_controller("command: [sh], files: ['@']"),
    "python": with_controller("command: [sh], python: '@'"),
    "trace": with_link("trace: '@'"),
    "trace of a direction": with_link("trace: {forward: '@', backward: none}"),
    "image": "name: n\nnodes: {a: {type: host}, v: {type: vm, image: '@'}}\nlinks: {p: {ends: [a, v]}}",
    "topo": "name: n\ntopo: {file: '@', class: A}",
}
"""By key, a topology file that names @."""

SCENARIOS = {
    "files": f"name: s\n{NET}\nworkload: {{tool: command, from: a, to: b, client: {{at: a, run: [sh]}}, files: ['@']}}",
    "run": f"name: s\n{NET}\nworkload: {{tool: command, from: a, to: b, client: {{at: a, run: ['@']}}}}",
    "run of a server": f"name: s\n{NET}\n"
    "workload: {tool: command, from: a, to: b, client: {at: a, run: [sh]}, server: [{at: b, run: ['@']}]}",
    "arrivals": f"name: s\n{NET}\n"
    "workload: {tool: flow, from: a, to: b, duration: 1 s, size: 1 KB, arrivals: {trace: '@'}}",
    "size": f"name: s\n{NET}\n"
    "workload: {tool: flow, from: a, to: b, duration: 1 s, size: {cdf: '@'}, arrivals: 9 /s}",
    "axis": f"name: s\n{NET}\n{FLOW}\nsweep: {{p.trace: ['@']}}",
    "axis of a group": f"name: s\n{NET}\n{FLOW}\nsweep: {{p.trace+flows: [['@', 1]]}}",
    "quick": f"name: s\n{NET}\n{FLOW}\nquick: {{note: small, p.trace: '@'}}",
    "topology": f"name: s\ntopology: '@'\n{FLOW}",
    "axis of topologies": f"name: s\nsweep: {{topology: ['@']}}\n{FLOW}",
    "quick topology": f"name: s\n{NET}\n{FLOW}\nquick: {{note: small, topology: '@'}}",
    **{
        f"inline {key}": f"name: s\ntopology:\n  {indent(text, '  ').lstrip()}\n{FLOW}"
        for key, text in TOPOLOGIES.items()
    },
}
"""By key, a scenario file that names @, in its quick size where it has one."""

FILES = {
    **{f"topology: {key}": ("t.yaml", text) for key, text in TOPOLOGIES.items()},
    **{f"scenario: {key}": ("s.yaml", text) for key, text in SCENARIOS.items()},
}


def linked(folder: Path, secret: Path) -> str:
    (folder / secret.name).symlink_to(secret)
    return f"./{secret.name}"


def in_linked_folder(folder: Path, secret: Path) -> str:
    (folder / "folder").symlink_to(secret.parent)
    return f"folder/{secret.name}"


def hidden(folder: Path, secret: Path) -> str:
    (folder / ".ssh").mkdir()
    secret.rename(folder / ".ssh" / secret.name)
    return f".ssh/{secret.name}"


def through_a_link(folder: Path, secret: Path) -> str:
    """Where links lead, it would be in a folder below; without them, it is the private one."""
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "link").symlink_to("a/b/c")
    return f"link/../../private/{secret.name}"


def out_through_a_link(folder: Path, secret: Path) -> str:
    """Where links lead, it is the private one; without them, it would be beside."""
    (secret.parent / "below").mkdir()
    (folder / "out").symlink_to(secret.parent / "below")
    return f"out/../{secret.name}"


WAYS: dict[str, Callable[[Path, Path], str]] = {
    "above": lambda folder, secret: f"../private/{secret.name}",
    "from the root": lambda folder, secret: str(secret),
    "a link": linked,
    "a linked folder": in_linked_folder,
    "hidden": hidden,
    "nowhere, through a link": through_a_link,
    "out, through a link": out_through_a_link,
    "there and back": lambda folder, secret: f"./../{folder.name}/../private/{secret.name}",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("downloaded", "private"):
        (tmp_path / name).mkdir()
    (tmp_path / "private/key").write_text(SECRET)
    return tmp_path / "downloaded"


def problems(folder: Path, what: str, said: str, permission: Permission = NOTHING_MORE) -> str:
    """All that is wrong with a file; empty if nothing is."""
    name, text = FILES[what]
    file = folder / name
    file.write_text(text.replace("@", said))
    try:
        if name == "t.yaml":
            load_topology(file, permission)
        else:
            load_scenario(file, quick="quick" in text, permission=permission)
    except SpecError as error:
        return str(error)
    return ""


def kept() -> list[str]:
    return [path.name for path in (user_folder() / program_store.FOLDER).glob("*")]


def key(what: str) -> str:
    """The name of a private file that could be meant."""
    return "key.py" if what.endswith(("app", "topo")) else "key"


def is_program(what: str, said: str) -> bool:
    """Of the computer on which it runs: it is not read."""
    return said.startswith("/") and what.endswith(("command", "run", "run of a server")) and "files" not in what


@pytest.mark.parametrize("what", FILES)
def test_no_file_names_what_is_elsewhere(what: str, folder: Path) -> None:
    for number, (way, make) in enumerate(WAYS.items()):
        here, private = folder / str(number) / "downloaded", folder / str(number) / "private"
        for each in (here, private):
            each.mkdir(parents=True)
        (private / key(what)).write_text(SECRET)
        said = make(here, private / key(what))
        found = problems(here, what, said)
        assert "hunter2" not in found, (way, found)
        assert kept() == [], way
        if "nowhere" in way:
            assert OPTION not in found, found
            assert found or what.endswith("image"), found  # where links lead there is none, and an image is not read
        elif not is_program(what, said):
            assert OPTION in found, (way, found)
            assert f"{FILES[what][0]}:" in found, (way, found)


@pytest.mark.parametrize("what", FILES)
def test_what_the_user_permits_is_read(what: str, folder: Path) -> None:
    private, said = folder.parent / "private" / key(what), f"../private/{key(what)}"
    private.write_text("0\n1\n")
    for permission in (permitted([private]), permitted([private.parent])):
        assert OPTION not in problems(folder, what, said, permission)
    assert OPTION in problems(folder, what, said, permitted([private.with_name("ke")]))


@pytest.mark.parametrize("what", FILES)
def test_what_is_beside_a_file_is_read(what: str, folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "below" / key(what)).write_text("0\n1\n")
    (folder / key(what)).symlink_to(f"below/{key(what)}")
    assert OPTION not in problems(folder, what, f"./below/{key(what)}")
    assert OPTION not in problems(folder, what, f"./{key(what)}")


@pytest.mark.parametrize("what", [each for each in FILES if not each.endswith(("image", "topologies", "topology"))])
def test_a_file_that_is_exchanged_after_it_was_judged_is_not_read(
    what: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another user to whom the folder belongs."""
    (folder / "below").mkdir()
    (folder / "below" / key(what)).write_text("0\n1\n")
    (folder.parent / "private" / key(what)).write_text(SECRET)
    judge = Folder._refuse

    def then_exchange(self: Folder, path: str, said: str) -> None:
        judge(self, path, said)
        if (folder / "below").is_dir() and not (folder / "below").is_symlink():
            (folder / "below").rename(folder / "before")
            (folder / "below").symlink_to(folder.parent / "private")

    monkeypatch.setattr(Folder, "_refuse", then_exchange)
    assert "hunter2" not in problems(folder, what, f"below/{key(what)}")
    assert (folder / "below").is_symlink() or is_program(what, "below")
    kept_files = [path for path in (user_folder() / program_store.FOLDER).rglob("*") if path.is_file()]
    assert [path for path in kept_files if b"hunter2" in path.read_bytes()] == []


@pytest.mark.parametrize("what", ["topology: files of a command", "scenario: files", "scenario: run"])
def test_a_program_that_is_exchanged_before_it_is_read_is_not_kept(
    what: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "below").mkdir()
    (folder / "below/key").write_text("0\n1\n")
    (folder.parent / "private/key").write_text(SECRET)
    read = program_store.digest

    def exchange_first(path: Any) -> str:
        if not (folder / "below").is_symlink():
            (folder / "below").rename(folder / "before")
            (folder / "below").symlink_to(folder.parent / "private")
        return read(path)

    monkeypatch.setattr(program_store, "digest", exchange_first)
    assert "changed while it was read" in problems(folder, what, "below/key")
    assert kept() == []


def test_an_image_has_the_path_that_was_judged(folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "below/disk.img").write_bytes(b"disk")
    (folder / "disk.img").symlink_to("below/disk.img")
    (folder / "t.yaml").write_text(TOPOLOGIES["image"].replace("@", "./disk.img"))
    machine = load_topology(folder / "t.yaml").node("v").vm
    assert machine is not None
    assert machine.image == str((folder / "below/disk.img").resolve())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_an_image_behind_another_users_link_is_refused_when_a_machine_starts(folder: Path) -> None:
    (folder / "disk.img").write_bytes(b"disk")
    (folder / "t.yaml").write_text(TOPOLOGIES["image"].replace("@", "./disk.img"))
    machine = load_topology(folder / "t.yaml").node("v").vm
    assert machine is not None
    assert runtime.programs([machine]).reads == (folder / "disk.img",)
    (folder / "disk.img").unlink()
    (folder / "disk.img").symlink_to(folder.parent / "private/key")
    os.lchown(folder / "disk.img", 65534, 65534)
    with pytest.raises(MachineError, match=r"the link .*disk\.img belongs to the user nobody"):
        runtime.programs([machine])


@pytest.mark.skipif(mininet_import.missing() is not None, reason="there is no Mininet")
def test_a_folder_that_is_exchanged_is_not_beside_a_topology_in_python(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os\nraise ValueError(open(os.path.join(os.path.dirname(__file__), 'key')).read())\n"
    (folder / "below").mkdir()
    (folder / "below/t.py").write_text(code)
    (folder.parent / "private/t.py").write_text(code)
    file = folder / "t.yaml"
    file.write_text("name: n\ntopo: {file: below/t.py, class: A}\n")
    document, around, opened, exchanged = read_file(file), Folder.of(file), os.open, []

    def exchange_first(path: Any, flags: int, *given: Any, **more: Any) -> int:
        if flags & os.O_DIRECTORY and str(path) == str(folder / "below") and not exchanged:
            (folder / "below").rename(folder / "before")
            (folder / "below").symlink_to(folder.parent / "private")
            exchanged.append(path)
        return opened(path, flags, *given, **more)

    monkeypatch.setattr(os, "open", exchange_first)
    with pytest.raises(SpecError) as raised:
        mininet_import.expanded(document, around)
    assert exchanged
    assert "hunter2" not in str(raised.value)


def test_the_whole_folder_of_a_file_is_not_beside_it(folder: Path) -> None:
    for said in (".", "./", f"../{folder.name}"):
        assert "it is the folder of this file itself" in problems(folder, "scenario: files", said)


@pytest.mark.parametrize("said", ["a\\0b", "\\ud800"])
def test_a_name_that_no_file_can_have_is_a_mistake(said: str, folder: Path) -> None:
    (folder / "s.yaml").write_text(FILES["scenario: files"][1].replace("'@'", f'"{said}"'))
    with pytest.raises(SpecError, match="no file can have this name"):
        load_scenario(folder / "s.yaml")


def test_an_inventory_that_is_a_link_to_elsewhere_is_not_read(folder: Path) -> None:
    (folder / "inventory.yml").symlink_to("../private/key")
    (folder / "m.yaml").write_text(
        "name: m\nnodes: {a: {type: machine}, b: {type: host}}\nlinks: {p: {ends: [a, b]}}\n"
    )
    with pytest.raises(SpecError, match=f"outside the folder.*{OPTION}") as raised:
        load_topology(folder / "m.yaml")
    assert "hunter2" not in str(raised.value)


def test_a_topology_elsewhere_is_named_as_ever_and_a_file_that_is_none_is_not_quoted(folder: Path) -> None:
    net = "name: n\nnodes: {a: {type: host}, b: {type: host}}\nlinks: {p: {ends: [a, b], rate: 9 Mbit/s}}\n"
    (folder.parent / "private/net.yaml").write_text(net)
    assert problems(folder, "scenario: topology", "../private/net.yaml") == ""
    for text in (SECRET, "password: hunter2\n", "[hunter2]\n", "hunter2", "a: &x hunter2\n", "\0hunter2", ""):
        (folder.parent / "private/key").write_text(text)
        assert "hunter2" not in problems(folder, "scenario: topology", "../private/key")
    (folder / "out").symlink_to(folder.parent / "private")
    (folder.parent / "private/key").write_text("hunter2: x\nnodes: {a: {type: hunter2}}\n")
    found = problems(folder, "scenario: topology", "out/../private/key")
    assert "hunter2" not in found
    assert "no topology" in found


def test_what_the_user_says_in_an_option_is_the_users_choice(folder: Path) -> None:
    (folder.parent / "private/key").write_text("0\n1\n")
    (folder / "s.yaml").write_text(f"name: s\n{NET.replace(', rate: 9 Mbit/s', '')}\n{FLOW}")
    for option in ("p.trace=../private/key", "p.trace=[../private/key]"):
        (cell,) = load_scenario(folder / "s.yaml", [option]).cells
        assert cell.topology.link("p").forward.trace is not None


def test_a_refused_scenario_keeps_nothing_and_one_that_is_fine_keeps_its_files(folder: Path) -> None:
    (folder / "tool").write_text("mine")
    text = FILES["scenario: files"][1].replace("@", "tool")
    (folder / "s.yaml").write_text(text + "\nseed: none\n")
    with pytest.raises(SpecError):
        load_scenario(folder / "s.yaml")
    assert kept() == []
    (folder / "s.yaml").write_text(text)
    load_scenario(folder / "s.yaml")
    assert len(kept()) == 1
    (copy,) = programs_of(folder / "s.yaml").values()
    assert Path(copy).read_text() == "mine"
    assert Path(copy).is_relative_to(user_folder())


@pytest.mark.parametrize("words", [("check",), ("plan",), ("run", "--dry-run"), ("up",), ("machines", "collect")])
def test_every_command_that_reads_a_file_refuses_and_permits(
    words: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parent)
    Path("private/rules").write_text("hunter2 of ours")
    Path("downloaded/t.yaml").write_text(TOPOLOGIES["nftables"].replace("@", "../private/rules"))
    Path("downloaded/s.yaml").write_text(f"name: s\ntopology: t.yaml\n{FLOW}\n")
    file = "downloaded/s.yaml" if words[0] == "run" else "downloaded/t.yaml"
    monkeypatch.setattr(commands_up, "start", lambda *given, **more: None)

    def said(*more: str) -> tuple[int, str]:
        code, out, err = said_by(capsys, *words, file, *more)
        return code, out + err

    code, text = said()
    assert code == 2
    assert "downloaded/t.yaml:2: the file '../private/rules' cannot be read: it is outside the folder" in text
    assert f"{OPTION} {folder.parent}/private/rules" in text
    assert "hunter2" not in text
    assert said(OPTION, "private/nothing")[0] == 2
    assert OPTION not in said(OPTION, "private")[1]


@pytest.mark.parametrize("key", ["inline frr.config", "files", "arrivals", "axis"])
def test_a_private_file_is_in_no_result_and_not_in_the_cache(
    key: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    Path("downloaded/s.yaml").write_text(SCENARIOS[key].replace("@", "../private/key"))
    assert exit_code("run", "downloaded/s.yaml") == 2
    files = [path for path in folder.parent.rglob("*") if path.is_file()]
    assert [path for path in files if b"hunter2" in path.read_bytes()] == [folder.parent / "private/key"]
