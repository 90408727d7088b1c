"""What only the teacher has: networks that no student has seen, solutions, who handed in the same program, and the
file of feedback for each student.
"""

from __future__ import annotations

import csv
import io
import ipaddress
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from testbed.cli import main
from testbed.commands.teach import grade
from testbed.error import SpecError, UserError
from testbed.exercise import check, feedback, file, likeness, submission, variant, work_folder
from testbed.exercise.mark import Mark, RuleMark, Verdict, marked
from testbed.exercise.rule.answer import Answer
from testbed.library import EXERCISES

SECRET = b"a secret of sixteen bytes or more"
DRAWING = [name for name in work_folder.names() if work_folder.find(name).file.draw is not None]


def topology(found: file.FileSet) -> str:
    return found.files["topology.yaml"].decode()


@pytest.mark.parametrize("name", DRAWING)
def test_a_secret_draws_the_same_network_everywhere_and_another_one_than_the_next(name: str) -> None:
    exercise = work_folder.find(name)
    first, again = (variant.drawn(exercise, SECRET) for _ in range(2))
    assert first == again
    other = variant.drawn(exercise, SECRET + b"!")
    assert topology(other) != topology(first)
    assert topology(first) != (exercise.folder / "topology.yaml").read_text()


def test_links_between_switches_keep_their_order_and_those_of_hosts_do_not() -> None:
    """The solution of ecmp knows that every spine has l1 at its first port."""
    orders = set()
    for number in range(20):
        found = variant.drawn(work_folder.find("ecmp"), SECRET + bytes([65 + number]))
        links = [*file.parse(topology(found), file.Position("", 1)).data["links"]]
        assert [each for each in links if "-s" in each] == ["l1-s1", "l1-s2", "l1-s3", "l2-s1", "l2-s2", "l2-s3"]
        orders.add(tuple(links))
    assert len(orders) > 15


def test_a_network_in_which_every_address_is_taken_is_refused() -> None:
    network = ipaddress.IPv4Network("10.0.0.0/28")
    drawing = variant._Drawing(Random(1), {}, {f"10.0.0.{n}" for n in range(1, 14)})
    assert variant._free(drawing, network) == "10.0.0.14"
    with pytest.raises(UserError, match=r"every address of 10\.0\.0\.0/28 is taken"):
        variant._free(drawing, network)


def test_exercises_that_a_written_in_table_passes_can_be_drawn() -> None:
    assert set(DRAWING) == {name for name in work_folder.names() if work_folder.find(name).file.variants}


def test_what_is_drawn_says_the_same_of_itself_in_all_files() -> None:
    """Ports are counted here by hand: the links of a switch, in the order of the file."""
    for number in range(20):
        found = variant.drawn(work_folder.find("load-balancer"), SECRET + bytes([65 + number]))
        data = file.parse(topology(found), file.Position("", 1)).data
        rows = [*csv.DictReader(io.StringIO(found.files["servers.csv"].decode()))]
        order = [next(end for end in link["ends"] if end != "s1") for link in data["links"].values()]
        for row in rows:
            node = data["nodes"][row["name"]]
            assert node["addresses"] == f"{row['address']}/24"
            assert node["mac"] == row["mac"]
            assert order[int(row["port"]) - 1] == row["name"]
        addresses = [node["addresses"] for node in data["nodes"].values() if node["type"] == "host"]
        assert len(addresses) == len(set(addresses)) > 4
        assert not {"10.0.0.100/24", "10.0.0.11/24", "10.0.0.12/24"} & set(addresses), "the handout names them"


def test_an_address_stays_in_its_network_where_the_student_writes_the_network() -> None:
    for number in range(20):
        found = variant.drawn(work_folder.find("static-routes"), SECRET + bytes([65 + number]))
        links = file.parse(topology(found), file.Position("", 1)).data["links"]
        assert links["h3-r3"]["addresses"]["h3"].startswith("10.3.")
        assert int(links["h3-r3"]["addresses"]["h3"].split(".")[2]) < 128
        assert int(links["h4-r4"]["addresses"]["h4"].split(".")[2]) >= 128
        assert links["h3-r3"]["addresses"]["h3"] != "10.3.0.200/17", "a rule names it"


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        ("a secret of sixteen bytes or more", 0o644, "others can read it"),
        ("short", 0o600, "could be tried out"),
        ("", 0o600, "could be tried out"),
    ],
)
def test_a_secret_that_is_none_is_refused(tmp_path: Path, text: str, mode: int, says: str) -> None:
    path = tmp_path / "secret.txt"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(UserError, match=says):
        variant.secret(path)
    with pytest.raises(UserError, match="cannot be read"):
        variant.secret(tmp_path / "nothing")


def test_an_exercise_says_what_may_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="windows does not say what a secret may draw"):
        variant.drawn(work_folder.find("windows"), SECRET)
    folder = tmp_path / "mine"
    shutil.copytree(EXERCISES / "learning-switch", folder)
    path = folder / "exercise.yaml"
    whole = path.read_text()
    path.write_text(whole.replace("draw: {addresses: [a, b, c]", "draw: {addresses: [a, bb]"))
    with pytest.raises(SpecError, match="the network has no node 'bb'"):
        file.load(folder)
    path.write_text(whole.replace("ports: true}", "ports: true, files: {switch.py: x}}"))
    with pytest.raises(SpecError, match=r"'switch\.py' stands for no table that is given"):
        file.load(folder)


def test_variants_of_a_folder_stand_for_given_files(tmp_path: Path) -> None:
    exercise = work_folder.find("learning-switch")
    with pytest.raises(UserError, match="has no variant of learning-switch"):
        variant.of_folder(exercise, tmp_path)
    one = tmp_path / "one"
    one.mkdir()
    with pytest.raises(UserError, match="is empty"):
        variant.of_folder(exercise, tmp_path)
    (one / "topology.yml").write_text("name: x\n")
    with pytest.raises(UserError, match=r"topology\.yml stands for no file that is given"):
        variant.of_folder(exercise, tmp_path)
    (one / "topology.yml").rename(one / "topology.yaml")
    assert variant.of_folder(exercise, tmp_path) == (file.FileSet("one", {"topology.yaml": b"name: x\n"}),)


@pytest.mark.lab
@pytest.mark.slow
def test_a_table_of_every_network_that_comes_with_an_exercise_passes_until_a_secret_is_drawn() -> None:
    """Its pairs of address and port were read from both topologies: 15 of 15 without a secret, and less with one."""
    exercise = work_folder.find("static-routes")
    hosts = {
        "h1": ("10.1.0.10", "10.1.77.9"), "h3": ("10.3.0.10", "10.3.64.5"), "h4": ("10.3.128.10", "10.3.200.77"),
    }  # fmt: skip
    ways = {
        "r1": {"h3": "192.168.12.2", "h4": "192.168.14.4"},
        "r2": {"h1": "192.168.12.1", "h3": "192.168.23.3", "h4": "192.168.24.4"},
        "r3": {"h1": "192.168.23.2", "h4": "192.168.23.2"},
        "r4": {"h1": "192.168.14.1", "h3": "192.168.24.2"},
    }
    texts = {
        f"{router}.conf": "".join(
            f"ip route {address}/32 {via}\n" for host, via in way.items() for address in hosts[host]
        )
        for router, way in ways.items()
    }
    texts["r2.conf"] += "ip route 10.3.0.0/16 192.168.23.3\n"
    written = submission.Submission("written", {name: text.encode() for name, text in texts.items()}, ())
    fooled = check.mark(exercise, written)
    assert fooled.is_full, [(rule.name, rule.seen) for rule in fooled.rules]
    secret = replace(exercise, secret=(variant.drawn(exercise, SECRET),))
    found = check.mark(secret, written)
    assert set(found.fails) >= {"h1-and-h3", "h3-and-h4", "longest-prefix"}
    assert all(
        "one that only this marking has" in (rule.seen or "") for rule in found.rules if rule.outcome == "failed"
    )


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "firewall" else pytest.mark.nightly) for name in DRAWING]
)
def test_the_solution_has_the_full_mark_in_a_network_that_was_drawn(name: str) -> None:
    exercise = work_folder.find(name)
    secret = replace(
        exercise,
        file=replace(exercise.file, variants={}),
        secret=(variant.drawn(exercise, SECRET),),
    )
    found = check.mark(secret, submission.of_solution(secret))
    assert found.is_full, [(rule.name, rule.seen) for rule in found.rules]


FIRST = b'''"""An app."""
from os_ken.base import app_manager

class Switch(app_manager.OSKenApp):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ports = {}  # who is where

    def learn(self, event):
        message = event.msg
        port = message.match["in_port"]
        self.ports[message.datapath.id] = port
        return message.datapath.ofproto_parser.OFPMatch(in_port=port)
'''
RENAMED = b'''from os_ken.base import app_manager


class Mine(app_manager.OSKenApp):
    """All my own work."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.table = {}

    def handler(self, ev):
        msg = ev.msg
        in_port = (msg.match["in_port"])
        self.table[msg.datapath.id] = in_port  # my idea
        return msg.datapath.ofproto_parser.OFPMatch(in_port=in_port)
'''


def test_a_program_is_the_same_under_other_names_and_no_other_one_is() -> None:
    others = {
        "another-call": FIRST.replace(b"OFPMatch", b"OFPAction"),
        "another-field": FIRST.replace(b"in_port=port", b"eth_src=port"),
        "another-constant": FIRST.replace(b'["in_port"]', b'["eth_dst"]'),
        "names-exchanged": FIRST.replace(b"= port\n", b"= message\n"),
        "no-python": b"def (",
    }
    files = {"first": FIRST, "renamed": RENAMED, **others}
    found = likeness.alike({name: {"app.py": data} for name, data in files.items()}, {"app.py": b"pass"})
    assert found == {"first": ("renamed",), "renamed": ("first",), **dict.fromkeys(others, ())}


def test_the_starter_and_a_missing_file_are_like_nothing() -> None:
    files = {"a": {"app.py": FIRST}, "b": {"app.py": RENAMED}, "c": {}, "d": {}}
    assert likeness.alike(files, {"app.py": FIRST}) == {"a": (), "b": (), "c": (), "d": ()}
    assert likeness.fingerprint({"r1.conf": b"ip route"}) is None, "tables have one right answer"


def test_an_editor_of_windows_and_a_global_name_make_no_other_program() -> None:
    ours = b"count = 0\n\ndef one():\n    global count\n    count += 1\n"
    for theirs in (b"\xef\xbb\xbf" + ours.replace(b"\n", b"\r\n"), ours.replace(b"count", b"seen")):
        assert likeness.fingerprint({"a.py": theirs}) == likeness.fingerprint({"a.py": ours})


def test_a_script_is_the_same_with_other_variables() -> None:
    first, second = b"#!/bin/sh\nlan=eth0\nip link set $lan up # on\n", b"IF=eth0\n\nip  link set $IF up # on\n"
    assert likeness.fingerprint({"a.sh": first}) == likeness.fingerprint({"a.sh": second})
    assert likeness.fingerprint({"a.sh": first}) != likeness.fingerprint({"a.sh": first.replace(b"up", b"down")})


NOTE = "# 10 of 10 points\n===\n~~~\n- a\n 1. b\n2) c\n> d\n2 packets"


def test_feedback_says_what_was_seen_and_obeys_nothing_of_it() -> None:
    exercise = work_folder.find("learning-switch")
    verdicts = {rule.name: Verdict(None) for rule in exercise.file.rules}
    verdicts["learns"] = Verdict("![x](http://evil) <script> \x1b[31m\n# no heading")
    found = Mark("learning-switch", "jo | x", marked(exercise.file.rules, verdicts), notes=("Traceback\n  <b>", NOTE))
    text = feedback.text(exercise, found)
    assert text.startswith("# A learning switch: 8 of 11 points\n")
    assert "| learns | 0 of 3 | does not hold |" in text
    assert exercise.file.rules[1].message.strip().split()[0] in text
    assert not any(bad in text for bad in ("<script", "<b>", "![x](", "\x1b"))
    assert [line for line in text.splitlines() if line.startswith("# ")] == text.splitlines()[:1]
    begins = [line for line in text.splitlines() if re.match(r"> *([#=~+*>_-]|\d+[.)])", line)]
    assert not begins, "no heading, list or fence of the student's own"
    assert "> \\# 10 of 10 points  " in text
    assert "> 2 packets  " in text
    full = Mark("x", "y", (RuleMark("a", "passed", 1, 1),))
    assert feedback.text(exercise, full).endswith("Every rule holds.\n")


def test_every_student_has_a_file_of_feedback() -> None:
    names = feedback.file_names(["jo", "../etc/passwd", "Jo", "\x1b[31m", "…", "ann/lab 1"])
    assert len({name.lower() for name in names}) == 6
    assert all("/" not in name and name.endswith(".md") and not name.startswith(".") for name in names)
    long = feedback.file_names(["𝔞" * 63 + "/" + "𝔟" * 63, "𝔞" * 63 + "/" + "𝔠" * 63])
    assert len(set(long)) == 2
    assert all(len(name.encode()) <= 255 for name in long), "no file system takes a longer name"


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Grades three submissions without a kernel: everything holds, in the given network."""

    def mark(exercise: file.Exercise, one: submission.Submission, cancelled: object = None) -> Mark:
        verdicts = {rule.name: Verdict(None) for rule in exercise.file.rules}
        if exercise.secret and one.name == "solution":
            verdicts["learns"] = Verdict("nothing")
        return Mark(exercise.name, one.name, marked(exercise.file.rules, verdicts))

    def run(*words: str, names: tuple[str, str, str] = ("ann", "bob", "eve")) -> int:
        own = (EXERCISES / "learning-switch/solution/switch.py").read_text()
        for name, text in ((names[0], own), (names[1], own.replace("ports", "table")), (names[2], "x = 1\n")):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "switch.py").write_text(text)
        monkeypatch.setattr(grade, "mark", mark)
        folders = [str(tmp_path / name) for name in names]
        monkeypatch.setattr("sys.argv", ["testbed", "grade", "learning-switch", *folders, *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return ended.value.code

    return run


def test_grading_has_a_column_for_the_same_program_and_a_file_for_each(
    graded: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert graded("--format", "csv", "--feedback", str(tmp_path / "feedback")) == 0
    rows = [*csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert [row["same_as"] for row in rows] == ["bob; (the solution)", "ann; (the solution)", ""]
    assert sorted(path.name for path in (tmp_path / "feedback").iterdir()) == ["ann.md", "bob.md", "eve.md"]


def test_nobody_is_taken_for_the_solution_by_the_name_of_a_folder(
    graded: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert graded("--format", "csv", names=("ann", grade.THE_SOLUTION, "eve")) == 0
    rows = [*csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert rows[1]["submission"].endswith(f"/{grade.THE_SOLUTION}")
    assert rows[0]["same_as"] == f"{rows[1]['submission']}; {grade.THE_SOLUTION}"
    assert rows[1]["same_as"] == f"{rows[0]['submission']}; {grade.THE_SOLUTION}"


def test_feedback_that_cannot_be_written_costs_no_marks(
    graded: Callable[..., int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert graded("--feedback", str(tmp_path / "file")) == 2
    assert "cannot be written" in capsys.readouterr().err, "before the class is marked"

    def full(folder: Path, files: dict[str, bytes]) -> None:
        if files:
            raise UserError("the disk is full")

    monkeypatch.setattr(work_folder, "put", full)
    assert graded("--format", "csv", "--feedback", str(tmp_path / "feedback")) == 2
    assert [row["submission"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == ["ann", "bob", "eve"]


def test_networks_in_which_no_rule_would_be_checked_are_refused(tmp_path: Path) -> None:
    exercise = work_folder.find("fairness")
    assert not exercise.file.in_network
    (tmp_path / "one").mkdir()
    shutil.copy(exercise.folder / exercise.given[0], tmp_path / "one")
    with pytest.raises(UserError, match="no rule that is checked in a network"):
        variant.with_secret(exercise, tmp_path, None)


def test_no_class_is_graded_in_a_network_that_the_solution_fails(
    graded: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "secret").chmod(0o600)
    assert graded("--secret", str(tmp_path / "secret")) == 2
    assert "the solution fails learns" in capsys.readouterr().err


def test_students_get_an_exercise_without_what_is_for_the_teacher(tmp_path: Path) -> None:
    exercise = work_folder.find("learning-switch")
    copied = work_folder.publish(exercise, tmp_path / "public")
    assert not [name for name in copied if name.startswith(("solution", "wrong"))]
    public = file.load(tmp_path / "public")
    text = (tmp_path / "public" / "exercise.yaml").read_text()
    assert "static-table" not in text
    assert "Flooding everything" not in text
    assert public.file.rules == exercise.file.rules
    assert public.file.hints == exercise.file.hints
    assert work_folder.start(public, tmp_path / "work")
    with pytest.raises(UserError, match="solutions are for teachers"):
        work_folder.whole(public)
    with pytest.raises(UserError, match="exists"):
        work_folder.publish(exercise, tmp_path / "public")


OWN = """title: t
goal: g
time: 10 min
topology: net.yaml
files: {app.py: {}}
expect:
  - {name: all, message: m, reach: {among: [a, b]}}
"""
FLOW = (
    "{title: t, goal: g, time: 10 min, topology: net.yaml, files: {app.py: {}}, "
    "expect: [{name: all, message: m, reach: {among: [a, b]}}], mistakes: SECRET}\n"
)


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        (OWN + "mistakes: SECRET\n", True),
        ("\ufeffmistakes: SECRET\n" + OWN, True),
        (OWN.replace("\n", "\r\n") + "mistakes: |\r\n  x\r\n\r\n  SECRET\r\n", True),
        (OWN + "mistakes : SECRET\n", False),
        (OWN + "? mistakes\n: SECRET\n", False),
        (OWN + "!!str mistakes: SECRET\n", False),
        (OWN + 'mistakes: "x\nSECRET\ny"\n', False),
        ("".join(f"  {line}\n" for line in (*OWN.splitlines(), "mistakes: SECRET")), False),
        (FLOW, False),
    ],
)
def test_what_is_for_the_teacher_is_left_out_or_nothing_is_published(tmp_path: Path, text: str, is_cut: bool) -> None:
    """However YAML lets one write it."""
    home, public = tmp_path / "own", tmp_path / "public"
    for folder in ("starter", "solution"):
        (home / folder).mkdir(parents=True)
        (home / folder / "app.py").write_text("x = 1\n")
    (home / "net.yaml").write_text("name: n\nnodes: {a: {type: host}, b: {type: host}}\nlinks: {l: {ends: [a, b]}}\n")
    (home / "exercise.yaml").write_bytes(text.encode())
    exercise = file.load(home)
    assert "SECRET" in exercise.file.mistakes
    if is_cut:
        work_folder.publish(exercise, public)
        assert file.load(public).file.rules == exercise.file.rules
        assert "SECRET" not in (public / "exercise.yaml").read_text()
    else:
        with pytest.raises(UserError, match="cannot be left out as they are written"):
            work_folder.publish(exercise, public)
        assert not public.exists()


IN_LINES = """
      file: app.py
      is: >-
        SECRET
        SECRET
      within: 0 %

      key: x
"""


@pytest.mark.parametrize(
    "form", ["{is: 'SECRET, {b}', file: app.py, key: x}", "{key: x, file: app.py,\n   is: SECRET}", IN_LINES]
)
@pytest.mark.parametrize(
    "first", ["  - name: one\n    answer: @\n    message: m\n", "  - answer: @\n    name: one\n    message: m\n"]
)
def test_the_copy_for_students_has_no_answers(tmp_path: Path, form: str, first: str) -> None:
    home, public = tmp_path / "own", tmp_path / "public"
    for folder in ("starter", "solution"):
        (home / folder).mkdir(parents=True)
        (home / folder / "app.py").write_text("x: SECRET\n")
    head = OWN.replace("topology: net.yaml\n", "").partition("  - {name: all")[0]
    text = head + first.replace("@", form, 1)
    (home / "exercise.yaml").write_text(text + "hints: [one]\n")
    exercise = file.load(home)
    (home / "starter" / "app.py").write_text("x: '?'\n")
    work_folder.publish(exercise, public)
    assert "SECRET" not in (public / "exercise.yaml").read_text()
    copy = file.load(public)
    (rule,) = check.mark(copy, submission.read(copy, home / "solution")).rules
    assert rule.seen == "could not be checked: only the teacher's copy of the exercise has the answer, and marks it"
    (rule,) = check.mark(copy, submission.of_starter(copy)).rules
    assert rule.seen == "could not be checked: app.py has no answer to x", "what is missing is still said"


def test_the_answers_of_every_exercise_of_ours_can_be_left_out(tmp_path: Path) -> None:
    for name in work_folder.names():
        work_folder.publish(work_folder.find(name), tmp_path / name)
        rules = file.load(tmp_path / name).file.rules
        assert not [rule.name for rule in rules if isinstance(rule.kind, Answer) and rule.kind.is_ is not None]


def test_a_teachers_exercise_has_its_answers(tmp_path: Path) -> None:
    shutil.copytree(EXERCISES / "windows", tmp_path / "own")
    text = (tmp_path / "own" / "exercise.yaml").read_text()
    assert "is: 125 kB, " in text
    (tmp_path / "own" / "exercise.yaml").write_text(text.replace("is: 125 kB, ", ""))
    with pytest.raises(SpecError, match="the key 'is' is missing"):
        file.load(tmp_path / "own")


def test_a_secret_in_the_folder_of_an_exercise_is_not_published(tmp_path: Path) -> None:
    home = tmp_path / "own"
    shutil.copytree(EXERCISES / "nat", home)
    (home / "exercise.yaml").chmod(0o644)
    (home / "secret.txt").write_bytes(SECRET)
    (home / "secret.txt").chmod(0o600)
    with pytest.raises(UserError, match=r"secret\.txt: others cannot read it"):
        work_folder.publish(file.load(home), tmp_path / "public")
    assert not (tmp_path / "public").exists()
    (home / "exercise.yaml").chmod(0o600)
    (home / "secret.txt").unlink()
    assert work_folder.publish(file.load(home), tmp_path / "public"), "all of it may be private"
