"""The format of exercises, the files of submissions, marks, and how they leave."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from testbed.cli import main
from testbed.codec.keyed import read
from testbed.commands.teach import grade
from testbed.error import MachineError, SpecError, UserError
from testbed.exercise import check, file, jail, mark_format, self_test, submission, work_folder
from testbed.exercise.mark import Mark, Verdict, marked
from testbed.exercise.rule.action import Action
from testbed.exercise.rule.answer import Answer
from testbed.exercise.rule.common import STATUS, NotChecked, said
from testbed.exercise.rule.flow_table import GROUP, entry, plain
from testbed.kernel import confinement
from testbed.library import EXERCISES

WHOLE = """title: A title
goal: A goal
time: 20 min
topology: net.yaml
files: {app.py: {}}
expect:
  - {name: reaches, points: 2, reach: {from: [a], to: [b]}, message: It does not.}
  - {name: separate, needs: [reaches], no-reach: {from: [a], to: [c]}, message: It does.}
"""


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        folder = tmp_path / "mine"
        for name in ("solution", "starter"):
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / "app.py").write_text("# nothing\n")
        (folder / "net.yaml").write_text("name: net\nnodes: {a: {type: host}}\n")
        (folder / "exercise.yaml").write_text(text)
        return folder

    return write


def test_a_whole_exercise_is_read(made: Callable[[str], Path]) -> None:
    found = file.load(made(WHOLE))
    assert (found.name, found.file.points, found.given) == ("mine", 3, ("net.yaml",))


def test_an_exercise_has_no_links_to_elsewhere(made: Callable[[str], Path], tmp_path: Path) -> None:
    folder = made(WHOLE)
    (tmp_path / "key").write_text("hunter2")
    (folder / "inside").symlink_to("net.yaml")
    file.load(folder)
    for place in ("beside.conf", "solution/secret.conf"):
        (folder / place).symlink_to(tmp_path / "key")
        with pytest.raises(SpecError, match=f"'{place}' is a link that leads out of the exercise"):
            file.load(folder)
        (folder / place).unlink()


BAD = [
    ("expect:", "expects:", "unknown key 'expects'"),
    ("points: 2", "points: 0", "0 is out of range"),
    ("points: 2", "points: -1", "-1 is out of range"),
    ("reach: {from: [a], to: [b]}, ", "", "asks nothing"),
    ("reach: {from: [a], to: [b]}", "reach: {from: [a]}", "who pings whom"),
    ("reach: {from: [a], to: [b]}", "reach: {from: [a], to: [a]}", "nobody pings anybody"),
    ("reach: {from: [a], to: [b]}", "reach: {from: [a], to: [b], pings: 2, answers: 3}", "so many pings are not sent"),
    ("reach: {from: [a], to: [b]}", "reaches: {from: [a], to: [b]}", "unknown key 'reaches'"),
    ("needs: [reaches], ", "", "holds in a network in which nothing works"),
    ("needs: [reaches]", "needs: [separate]", "no rule before this one has the name 'separate'"),
    ("name: separate", "name: reaches", "two rules have the name"),
    ("topology: net.yaml", "topology: other.yaml", "there is no file 'other.yaml'"),
    ("topology: net.yaml\n", "", "this rule needs a network"),
    ("app.py: {}", "app.py: {}, more.py: {}", "there is no solution/more.py"),
    ("app.py: {}", "../app.py: {}", "is not the name of a file"),
    (", message: It does not.", "", "the key 'message' is missing"),
    ("time: 20 min", "time: soon", "soon"),
    ("title: A title", "title: A title\nwrong: {x: {why: y, fails: [reaches]}}", "there is no folder wrong/x"),
    ("title: A title", "title: A title\nwrong: {x: {why: y, fails: [nothing]}}", "there is no rule 'nothing'"),
    ("title: A title", "title: A title\nwrong: {x: {why: y, fails: []}}", "this is empty"),
    ("title: A title", "title: A title\nscripts: {a: a.sh}", "the student does not edit 'a.sh'"),
    ("title: A title", "title: A title\nbefore: [{wait: 1 s, link: x}]", "this is not one action"),
    ("title: A title", "title: A title\nbefore: [{link: x}]", "a link goes down or up"),
    ("title: A title", "title: A title\nbefore: [{run: x}]", "run and node belong together"),
    ("reach: {from: [a], to: [b]}", "output: {node: a, run: ls}", "any output would do"),
    ("reach: {from: [a], to: [b]}", "output: {node: a, run: ls, matches: '('}", "no regular expression"),
    ("reach: {from: [a], to: [b]}", "flow: {switch: s}", "every entry would do"),
    ("reach: {from: [a], to: [b]}", "flow: {switch: s, actions: '.*'}", "is found in every text"),
    ("reach: {from: [a], to: [b]}", "output: {node: a, run: ls, matches: '.*'}", "is found in every text"),
    ("reach: {from: [a], to: [b]}", "output: {node: a, run: ls, status: 0, lacks: 'x|'}", "is found in every text"),
    ("reach: {from: [a], to: [b]}", "seen: {at: a, filter: ip, node: b, while: ls, least: 0}", "any number of packets"),
    ("reach: {from: [a], to: [b]}", "measure: {scenario: net.yaml, metric: goodput, least: 0 Mbit/s}", "every value"),
    ("app.py: {}", "app.py: {may-change: []}", "this is empty"),
    ("title: A title", "title: A title\nvariants: {x: other}", "there is no file in variants/x"),
    ("reach: {from: [a], to: [b]}", "seen: {at: a, filter: ip, node: b, while: ls}", "any number of packets would do"),
    ("reach: {from: [a], to: [b]}", "seen: {at: a, filter: ip, node: b, while: ls, most: 0}", "nothing works"),
    ("reach: {from: [a], to: [b]}", "port: {node: a, from: b, tcp: 80, open: false}", "nothing works"),
    ("reach: {from: [a], to: [b]}", "answer: {key: x, is: y}", "the student does not edit 'answers.yaml'"),
    ("reach: {from: [a], to: [b]}", "answer: {key: x, is: word, within: 3 %, file: app.py}", "is no number"),
    ("reach: {from: [a], to: [b]}", "measure: {scenario: net.yaml, metric: speed, least: 1}", "is not a metric"),
    ("reach: {from: [a], to: [b]}", "measure: {scenario: net.yaml, metric: goodput}", "any value would do"),
    ("reach: {from: [a], to: [b]}", "measure: {scenario: net.yaml, metric: rtt, most: 5}", "most"),
    ("reach: {from: [a], to: [b]}", "measure: {scenario: x.yaml, metric: rtt, most: 5 s}", "there is no file 'x.yaml'"),
]


@pytest.mark.parametrize(("good", "bad", "says"), BAD, ids=lambda word: word[:40] if isinstance(word, str) else "")
def test_a_bad_exercise_is_refused_with_its_line(made: Callable[[str], Path], good: str, bad: str, says: str) -> None:
    assert good in WHOLE
    with pytest.raises(SpecError) as refused:
        file.load(made(WHOLE.replace(good, bad, 1)))
    assert says in str(refused.value)
    assert "exercise.yaml:" in str(refused.value)


@pytest.mark.parametrize(("said", "noun"), [("vm", "virtual machine"), ("machine", "machine")])
def test_nodes_that_are_not_in_the_one_kernel_are_refused(made: Callable[[str], Path], said: str, noun: str) -> None:
    folder = made(WHOLE)
    (folder / "net.yaml").write_text(f"name: net\nnodes: {{a: {{type: host}}, b: {{type: {said}}}}}\n")
    with pytest.raises(SpecError, match=f"4: topology: 'b' of net.yaml is a {noun}; allowed: hosts, routers"):
        file.load(folder)


@pytest.mark.skipif(not confinement.method().holds, reason="nothing confines guests here")
def test_a_student_who_makes_one_a_virtual_machine_is_told(made: Callable[[str], Path]) -> None:
    folder = made(WHOLE.replace("files: {app.py: {}}", "files: {net.yaml: {}}"))
    net = "name: net\nnodes: {a: {type: host}, b: {type: vm}}\n"
    for name in ("solution", "starter"):
        (folder / name / "net.yaml").write_text(net)
    found = check.mark(file.load(folder), submission.of_solution(file.load(folder)))
    said = "hosts, routers, switches and controllers: rules are checked in one lab kernel"
    assert (found.points, found.problems) == (0, (f"'b' is a virtual machine; allowed: {said}",))


def test_an_exercise_without_rules_is_refused(made: Callable[[str], Path]) -> None:
    with pytest.raises(SpecError, match="expect: this is empty"):
        file.load(made(WHOLE.partition("expect:")[0] + "expect: []\n"))


def test_a_folder_without_an_exercise_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no exercise"):
        file.load(tmp_path)
    with pytest.raises(UserError, match="did you mean 'learning-switch'"):
        work_folder.find("learnign-switch")


def test_only_named_files_are_taken_and_no_links(made: Callable[[str], Path], tmp_path: Path) -> None:
    exercise, theirs = file.load(made(WHOLE)), tmp_path / "theirs"
    theirs.mkdir()
    assert submission.read(exercise, theirs).problems == ("app.py: it is missing",)
    (theirs / "app.py").symlink_to(exercise.folder / "solution" / "app.py")
    assert "symbolic link" in submission.read(exercise, theirs).problems[0]
    (theirs / "app.py").unlink()
    os.mkfifo(theirs / "app.py")
    assert "pipe" in submission.read(exercise, theirs).problems[0]
    (theirs / "app.py").unlink()
    (theirs / "app.py").write_bytes(b"#" * (file.FILE_BYTES + 1))
    assert "allowed: up to 65536" in submission.read(exercise, theirs).problems[0]
    (theirs / "app.py").write_text("# mine\n")
    (theirs / "net.yaml").write_text("name: mine\n")
    found = submission.read(exercise, theirs)
    assert (dict(found.files), found.problems) == ({"app.py": b"# mine\n"}, ())


def test_a_link_in_place_of_the_folder_is_refused(made: Callable[[str], Path], tmp_path: Path) -> None:
    exercise = file.load(made(WHOLE))
    (tmp_path / "theirs").symlink_to(exercise.folder / "solution")
    with pytest.raises(UserError, match="no folder"):
        submission.read(exercise, tmp_path / "theirs")


@pytest.mark.parametrize(
    ("change", "is_allowed"),
    [
        ("      window: 128 KiB", True),
        ("window: 128 KiB, duration: 1 s", False),
        ("window: 128 KiB, flows: 2", False),
        ("", True),
    ],
)
def test_only_the_keys_that_may_change_may_change(change: str, is_allowed: bool) -> None:
    exercise = work_folder.find("windows")
    text = (exercise.folder / "starter" / "scenario.yaml").read_text()
    given = text.replace("window: 16 KiB", change.strip()) if change else text
    files = {
        "scenario.yaml": given.replace(
            "duration: 12 s, window: 128 KiB, duration", "window: 128 KiB, duration"
        ).encode()
    }
    found = submission.checked(exercise, "x", files, [])
    assert bool(found.problems) != is_allowed, found.problems


def test_yaml_that_is_none_is_a_problem_of_the_submission() -> None:
    exercise = work_folder.find("windows")
    for text in (b"a: [", b"\xff\xfe", b""):
        assert submission.checked(exercise, "x", {"scenario.yaml": text}, []).problems


def rules(made: Callable[[str], Path]) -> tuple[file.Rule, ...]:
    return file.load(made(WHOLE)).file.rules


def test_what_has_no_verdict_does_not_pass(made: Callable[[str], Path]) -> None:
    found = Mark("mine", "x", marked(rules(made), {}))
    assert (found.points, found.of, found.is_full) == (0, 3, False)
    assert {rule.outcome for rule in found.rules} == {"not checked"}


def test_a_rule_counts_only_if_what_it_needs_holds(made: Callable[[str], Path]) -> None:
    found = Mark("mine", "x", marked(rules(made), {"reaches": Verdict("no"), "separate": Verdict(None)}))
    assert (found.points, found.fails) == (0, ("reaches", "separate"))
    assert "does not count unless reaches does" in (found.rules[1].seen or "")


def test_no_rules_are_no_full_mark() -> None:
    assert not Mark("mine", "x", ()).is_full


@pytest.mark.parametrize("text", ["", "ok", f"ok\n{STATUS} ", f"ok\n{STATUS} x\n", f"{STATUS} 0"])
def test_an_output_without_its_end_was_not_checked(text: str) -> None:
    with pytest.raises(NotChecked):
        said({"a.out": text}, "a.out")


def test_a_program_that_prints_a_status_does_not_choose_it() -> None:
    assert said({"a.out": f"x\n{STATUS} 0\n\n{STATUS} 7\n"}, "a.out") == (7, f"x\n{STATUS} 0")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("bdp: 125 kB", True), ("bdp: 125000 B", True), ("bdp: 0.125 MB", True), ("bdp: 128 kB", True),
        ("bdp: 130 kB", False), ("bdp: 1 Mbit", False), ("bdp: 125", False), ("bdp: '?'", None), ("other: 1", None),
        ("", None), ("[1]", None), ("bdp: [125 kB]", None), ("bdp: nan", False), ("bdp: -125 kB", False),
    ],
)  # fmt: skip
def test_answers_are_numbers_with_units(text: str, right: bool | None) -> None:
    rule = read(Answer, {"key": "bdp", "is": "125 kB", "within": "3 %"})
    if right is None:
        with pytest.raises(NotChecked):
            rule.judged({"answers.yaml": text})
    else:
        assert (rule.judged({"answers.yaml": text}) is None) == right


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("125 kB", ["125 KB", "125KB", "0.125 MB"]),
        ("20 Mbit/s", ["20 Mbps", "20Mb/s", "20000 kbps", "20000 Kbps", "20000 kb/s", "0.02 Gb/s", "20000000 bps"]),
        ("646 ms", ["646 msec", "0.646 sec", "646000 usec"]),
    ],
)
def test_a_unit_in_an_answer_has_other_names_too(written: str, right: list[str]) -> None:
    rule = read(Answer, {"key": "found", "is": written, "within": "1 %"})
    for text in right:
        assert rule.judged({"answers.yaml": f"found: {text}"}) is None, text
        assert rule.judged({"answers.yaml": f"found: 9{text}"}) == f"found: 9{text} is not right"
    for text in ("125 KiBit", "20 MBps", "20 MB/s", "646 min."):
        assert rule.judged({"answers.yaml": f"found: {text}"}) is not None, text


def test_an_answer_that_is_there_twice_is_refused_with_its_line() -> None:
    text = "who: tcp\nrtt: 6 ms\nwho: ping\n"
    who, rtt = (read(Answer, {"key": key, "is": wanted}) for key, wanted in (("who", "tcp"), ("rtt", "6 ms")))
    with pytest.raises(NotChecked, match=r"answers\.yaml:3: the key 'who' appears twice, first in line 1"):
        who.judged({"answers.yaml": text})
    assert rtt.judged({"answers.yaml": text}) is None


@pytest.mark.parametrize("right", ["1 %", "1%", "0.01", "1 in 100", "1/100", "1e-2", "1.05 %"])
@pytest.mark.parametrize("written", ["1 %", "0.01", "1 in 100"])
def test_a_share_is_a_number_in_all_its_forms(written: str, right: str) -> None:
    rule = read(Answer, {"key": "loss", "is": written, "within": "5 %"})
    assert rule.judged({"answers.yaml": f"loss: {right}"}) is None
    assert rule.judged({"answers.yaml": "loss: 1"}) == "loss: 1 is not right"
    assert rule.judged({"answers.yaml": "loss: 2 %"}) == "loss: 2 % is not right"
    assert "a share such as '1 %'" in str(rule.judged({"answers.yaml": "loss: one per cent"}))
    assert rule.judged({"answers.yaml": "loss: 1 in 0"}) is not None


def test_an_answer_that_is_no_number_is_refused_with_the_units() -> None:
    (fault,) = read(Answer, {"key": "rtt", "is": "6 msec", "within": "5 %"}).faults()
    assert all(word in str(fault.allowed) for word in ("ns, us, ms, s, min, h", "Gbit/s", "KiB", "'1 %'", "4/5"))


def test_an_entry_of_a_flow_table_is_read() -> None:
    line = (
        " cookie=0x0, duration=5.1s, table=0, n_packets=3, n_bytes=294, idle_timeout=10, "
        "priority=1,tcp,in_port=1,dl_dst=00:00:00:00:00:02,nw_dst=10.0.0.2,tp_dst=80 actions=set_field:1->x,output:2"
    )
    found = entry(line)
    assert found["actions"] == "set_field:1->x,output:2"
    assert (found["n_packets"], found["priority"]) == ("3", "1")
    assert {key.removeprefix("match "): value for key, value in found.items() if key.startswith("match ")} == {
        "eth_type": "0x0800", "ip_proto": "6", "in_port": "1", "eth_dst": "00:00:00:00:00:02", "ipv4_dst": "10.0.0.2",
        "port_dst": "80",
    }  # fmt: skip


GROUPS = """OFPST_GROUP_DESC reply (OF1.3) (xid=0x2):
 group_id=1,type=indirect,bucket=actions=output:2
 group_id=2,type=all,bucket=bucket_id:0,actions=output:3,set_field:1->metadata
 group_id=3,type=all,bucket=actions=output:1,bucket=actions=output:2
 group_id=4,type=select,bucket=weight:1,actions=output:1
 group_id=5,type=indirect,bucket=actions=group:1
 group_id=6,type=indirect,bucket=actions=drop
"""


@pytest.mark.parametrize(
    ("printed", "means"),
    [
        ("output:2", "output:2"), ("drop", "drop"), ("clear_actions", "drop"), ("write_actions(output:2)", "output:2"),
        ("clear_actions,write_actions(output:2)", "output:2"), ("meter:1,write_actions(output:2)", "meter:1,output:2"),
        ("write_actions(output:2,set_queue:1)", "set_queue:1,output:2"), ("write_actions(drop)", "drop"),
        ("write_actions(output:2),goto_table:1", "write_actions(output:2),goto_table:1"),
        ("clear_actions,goto_table:1", "clear_actions,goto_table:1"),
        ("write_actions(output:1,output:2)", "write_actions(output:1,output:2)"),
        ("set_field:10.0.0.1->ip_dst,output:2", "set_field:10.0.0.1->ip_dst,output:2"),
        ("group:1", "output:2"), ("write_actions(group:1)", "output:2"),
        ("set_queue:1,group:1", "set_queue:1,output:2"),
        ("group:2", "set_field:1->metadata,output:3"), ("group:3", "group:3"), ("group:4", "group:4"),
        ("group:5", "output:2"), ("group:6", "drop"), ("group:1,output:3", "group:1,output:3"),
    ],
)  # fmt: skip
def test_equal_actions_have_one_form(printed: str, means: str) -> None:
    assert plain(printed, dict(GROUP.findall(GROUPS))) == means


@pytest.mark.parametrize(
    ("output", "says"),
    [
        (None, None), (f"\n{STATUS} 0\n", None), (f"x\n\n{STATUS} 0\n", "a.sh in a said:\nx"),
        (f"\n{STATUS} 2\n", "a.sh in a ended with status 2"), ("x\n", "a.sh in a did not come to its end"),
        (f"x\n\n{STATUS} 124\n", "a.sh in a was ended after 60 s:\nx"),
    ],
)  # fmt: skip
def test_how_a_script_ended_is_told_in_words(output: str | None, says: str | None) -> None:
    assert jail.complaint("a.sh", "a", {} if output is None else {"script-a.out": output}, "script-a.out") == says


def test_a_remark_is_the_line_that_speaks_of_the_error(made: Callable[[str], Path]) -> None:
    trace = 'controller-c0 said:\nTraceback (most recent call last):\n    raise ValueError("Error")\nValueError: 3\n'
    nft = "a.sh in a ended with status 1:\na.nft:6:1-3: Error: syntax error\nadd fwd\n    ^^^\n"
    found = Mark(
        "mine", "x", marked(rules(made), {}), ended="the guest died: x", notes=(trace, nft, "a.sh in a said:\nx")
    )
    assert found.remarks == [
        "the guest died: x",
        "controller-c0 said: ValueError: 3",
        "a.sh in a ended with status 1: a.nft:6:1-3: Error: syntax error",
        "a.sh in a said: x",
    ]
    assert mark_format.table([found]).splitlines()[1] == f"x,0,3,0,0,{'; '.join(found.remarks)}"


def marks(made: Callable[[str], Path]) -> list[Mark]:
    verdicts = {"reaches": Verdict(None), "separate": Verdict("<a> reaches \x1b[31m c")}
    return [Mark("mine", name, marked(rules(made), verdicts)) for name in ("=1+1", "b")]


def test_marks_leave_for_other_programs(made: Callable[[str], Path]) -> None:
    found = marks(made)
    scope = json.loads(mark_format.gradescope(found[0]))
    assert scope["score"] == 2
    assert [test["status"] for test in scope["tests"]] == ["passed", "failed"]
    assert mark_format.table(found).splitlines()[1] == "'=1+1,2,3,2,0,"
    whole = ElementTree.fromstring(mark_format.junit(found))
    assert [suite.get("failures") for suite in whole] == ["1", "1"]
    assert "\x1b" not in mark_format.junit(found)


def test_a_folder_is_started_reset_and_never_overwritten(tmp_path: Path) -> None:
    exercise, folder = work_folder.find("learning-switch"), tmp_path / "work"
    copied = work_folder.start(exercise, folder)
    assert {"handout.md", "switch.py", "topology.yaml"} == set(copied)
    assert not (folder / "solution").exists()
    (folder / "switch.py").write_text("mine")
    with pytest.raises(UserError, match=r"has handout\.md"):
        work_folder.start(exercise, folder)
    work = work_folder.opened(folder)
    kept = work_folder.reset(work)
    assert kept is not None
    assert (kept / "switch.py").read_text() == "mine"
    assert (folder / "switch.py").read_bytes() == (EXERCISES / "learning-switch/starter/switch.py").read_bytes()
    assert work_folder.reset(work) is None
    (folder / "switch.py").write_text("again")
    work_folder.start(exercise, folder, force=True)
    assert "again" in [path.read_text() for path in folder.glob("before-*/switch.py")]


def test_hints_open_one_by_one(tmp_path: Path) -> None:
    exercise = work_folder.find("learning-switch")
    work_folder.start(exercise, tmp_path)
    told = [work_folder.next_hint(work_folder.opened(tmp_path)) for _ in range(4)]
    assert told == [*(hint.strip() for hint in exercise.file.hints), None]


def test_a_folder_in_which_nothing_was_started_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no exercise was started"):
        work_folder.opened(tmp_path)
    (tmp_path / work_folder.STATE).write_text("[]")
    with pytest.raises(UserError, match="no exercise was started"):
        work_folder.opened(tmp_path)


def test_an_exercise_of_ones_own_is_found_again(made: Callable[[str], Path], tmp_path: Path) -> None:
    folder = made(WHOLE)
    work_folder.start(file.load(folder), tmp_path / "work")
    assert work_folder.opened(tmp_path / "work").exercise.folder == folder.resolve()
    shutil.rmtree(folder)
    with pytest.raises(UserError, match="there is no exercise"):
        work_folder.opened(tmp_path / "work")


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "9" * 100_000, "1e100"])
def test_a_number_that_would_take_for_ever_is_none(text: str) -> None:
    rule = read(Answer, {"key": "jain", "is": "0.8", "within": "1 %"})
    assert rule.judged({"answers.yaml": f"jain: '{text}'"}) is not None
    assert rule.judged({"answers.yaml": "jain: 4/5"}) is None


def test_no_submission_is_taken_for_an_exercise_of_ours(
    made: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(WHOLE).rename(tmp_path / "windows")
    monkeypatch.chdir(tmp_path)
    assert work_folder.find("windows").folder == EXERCISES / "windows"
    assert work_folder.find("./windows").file.title == "A title"


@pytest.mark.parametrize("value", ["/etc/passwd", "../other/topology.yaml", "~/x.py", "a/../../x.py"])
def test_files_elsewhere_are_refused(value: str) -> None:
    exercise = work_folder.find("controller-distance")
    files = dict(submission.of_starter(exercise).files)
    assert submission.checked(exercise, "x", files, []).problems == ()
    files["topology.yaml"] = files["topology.yaml"].replace(b"app: learning-switch", f"app: {value!r}".encode())
    (problem,) = submission.checked(exercise, "x", files, []).problems
    assert "the name of a file elsewhere" in problem


def test_a_server_that_does_not_listen_is_told() -> None:
    action = read(Action, {"node": "a", "listen": "22"})
    assert action.went_wrong({"x.out": "listens\n", "x.err": ""}, "x") is None
    assert action.went_wrong({}, "x") == "a does not listen at TCP port 22: nothing was heard of it"
    assert "in use" in str(action.went_wrong({"x.out": "", "x.err": "Traceback\nOSError: in use\n"}, "x"))


def test_what_was_to_go_on_in_the_background_and_was_not_there_is_told() -> None:
    action = read(Action, {"node": "a", "start": "nosuchserver"})
    ended = {"x.out": f"\n{STATUS} 127\n", "x.err": "sh: 1: nosuchserver: not found\n"}
    assert action.went_wrong(ended, "x") == (
        "`nosuchserver` in a ended with status 127: sh: 1: nosuchserver: not found"
    )
    assert action.went_wrong({"x.out": f"done\n\n{STATUS} 0\n", "x.err": ""}, "x") is None
    assert action.went_wrong({"x.out": "goes on\n", "x.err": ""}, "x") is None


def test_the_files_of_a_variant_stand_for_given_ones(made: Callable[[str], Path]) -> None:
    folder = made(WHOLE + "variants: {x: other}\n")
    (folder / "variants" / "x").mkdir(parents=True)
    (folder / "variants" / "x" / "net.yaml").write_text("name: net\nnodes: {a: {type: host}}\n")
    assert file.load(folder).given == ("net.yaml",)
    (folder / "variants" / "x" / "app.py").write_text("# the student's\n")
    with pytest.raises(SpecError, match=r"variants/x/app\.py stands for no file that is given"):
        file.load(folder)


@pytest.mark.parametrize(
    "error", [MachineError("there is no room", "df"), OSError("there is no room"), KeyError("there is no room")]
)
def test_one_submission_that_could_not_be_graded_leaves_the_others_their_marks(
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    made: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    folder = made(WHOLE)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.py").write_text("# mine\n")

    def mark(exercise: file.Exercise, one: submission.Submission, cancelled: object) -> Mark:
        if one.name == "first":
            raise error
        return Mark(exercise.name, one.name, marked(exercise.file.rules, {"reaches": Verdict(None)}))

    monkeypatch.setattr(grade, "mark", mark)
    words = ["grade", str(folder), str(tmp_path / "first"), str(tmp_path / "second"), "--format", "csv"]
    monkeypatch.setattr("sys.argv", ["testbed", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == MachineError.exit_code
    said = capsys.readouterr()
    _, first, second = said.out.splitlines()
    assert re.match(r"first,0,3,0,0,could not be graded: (\w+: )?'?there is no room", first)
    assert second.startswith("second,2,3,2,0,")
    assert re.search("1 of 2 could not be graded: .*there is no room", said.err)


def test_a_computer_that_confines_nothing_gives_no_marks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], made: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = made(WHOLE)
    (tmp_path / "student").mkdir()
    (tmp_path / "student" / "app.py").write_text("# mine\n")
    monkeypatch.setattr(confinement, "method", lambda: confinement.NONE)
    monkeypatch.setattr("sys.argv", ["testbed", "grade", str(folder), str(tmp_path / "student")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == MachineError.exit_code
    said = capsys.readouterr()
    assert "nothing confines guests on this computer" in said.err
    assert "0 of" not in said.out


def test_a_solution_that_is_near_a_limit_breaks_the_promise(
    monkeypatch: pytest.MonkeyPatch, made: Callable[[str], Path]
) -> None:
    """It has the full mark with the whole limit, and not with a third of it."""
    exercise = file.load(made(WHOLE))
    needs_ns = 0

    def mark(exercise: file.Exercise, one: submission.Submission, cancelled: object) -> Mark:
        verdict = Verdict(None) if exercise.file.limits.cpu >= needs_ns else Verdict("ended", is_checked=False)
        verdicts = dict.fromkeys(("reaches", "separate"), verdict)
        return Mark(exercise.name, one.name, marked(exercise.file.rules, verdicts))

    monkeypatch.setattr(self_test, "mark", mark)
    assert self_test.kept(exercise, file.SOLUTION).broken is None
    needs_ns = file.CPU_NS // 2
    assert "takes more than 1/3 of limits.cpu (30 s)" in str(self_test.kept(exercise, file.SOLUTION).broken)
    needs_ns = file.CPU_NS * 2
    broken = self_test.kept(exercise, file.SOLUTION).broken
    assert broken == "the solution fails reaches, separate (reaches: could not be checked: ended)"


def test_nobody_who_grades_is_not_who_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"--reuid={jail.NOBODY}" in jail.words(jail.NOTHING)
    monkeypatch.setattr("os.geteuid", lambda: jail.NOBODY)
    assert f"--reuid={jail.NOBODY}" not in jail.words(jail.NOTHING)
