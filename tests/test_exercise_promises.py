"""Every exercise does what it promises: the solution has the full mark, the starter has not, and each wrong submission
fails the rules that it says, and no others. `make test` tries of each exercise the solution and as many wrong
submissions as fail every rule that one can fail; `make nightly` tries all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from testbed.exercise import check, self_test, submission, work_folder
from testbed.exercise.file import SOLUTION, STARTER, Exercise

WRITTEN_IN = {
    "ecmp": "written-in",
    "firewall": "hard-coded",
    "learning-switch": "static-table",
    "load-balancer": "written-in",
    "nat": "this-pc-only",
    "qos": "written-in",
    "static-routes": "these-hosts-only",
}
"""Submissions that know the one network that they were given."""


def failed(exercise: Exercise, cases: Iterable[str]) -> set[str]:
    """The rules that these wrong submissions fail."""
    return {rule for case in cases for rule in exercise.file.wrong[case].fails}


def few(exercise: Exercise) -> set[str]:
    """The solution, the submission that only variants tell, and wrong ones until every rule fails once."""
    found = [WRITTEN_IN[exercise.name]] if exercise.name in WRITTEN_IN else []
    while left := failed(exercise, exercise.wrongs()) - failed(exercise, found):
        found.append(max(exercise.wrongs(), key=lambda case: len(left & failed(exercise, [case]))))
    return {SOLUTION, *found}


def every_case() -> list[object]:
    return [
        pytest.param(name, case, id=f"{name}-{case}", marks=() if case in few(exercise) else pytest.mark.nightly)
        for name in work_folder.names()
        for exercise in [work_folder.find(name)]
        for case in self_test.cases(exercise)
    ]


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), every_case())
def test_an_exercise_keeps_its_promise(name: str, case: str) -> None:
    found = self_test.kept(work_folder.find(name), case)
    assert found.broken is None, [(rule.name, rule.seen) for rule in found.mark.rules]
    if case == STARTER:
        assert 2 * found.mark.points < found.mark.of, "who does nothing has half of the mark"


APPLY = """        apply = [parser.OFPInstructionActions(ofproto.OFPIT_APPLY_ACTIONS, actions)]
"""
WRITE = """        apply = [parser.OFPInstructionActions(ofproto.OFPIT_WRITE_ACTIONS, actions)]
"""
BY_GROUP = """        if priority:
            number = actions[0].port
            bucket = parser.OFPBucket(actions=actions)
            group = parser.OFPGroupMod(datapath, ofproto.OFPGC_ADD, ofproto.OFPGT_INDIRECT, number, [bucket])
            datapath.send_msg(group)
            actions = [parser.OFPActionGroup(number)]
"""


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("form", [WRITE, BY_GROUP + APPLY, APPLY.replace("actions)", "actions[:0])")])
def test_a_right_entry_in_another_form_has_its_points(form: str) -> None:
    exercise = work_folder.find("learning-switch")
    text = submission.of_solution(exercise).text("switch.py")
    assert APPLY in text
    files = {"switch.py": text.replace(APPLY, form).encode()}
    found = check.mark(exercise, submission.checked(exercise, "theirs", files, []))
    assert found.is_full == ("[:0]" not in form), found


FOR_EACH_HOST = """        for leaf, hosts in LEAVES.items():
            for port, host in hosts.items():
                actions = [parser.OFPActionOutput(port)] if leaf == datapath.id else self.up(datapath)
                self.add(datapath, host, actions)
"""
FOR_ALL_OTHERS = """        for port, host in LEAVES[datapath.id].items():
            self.add(datapath, host, [parser.OFPActionOutput(port)])
        instructions = [parser.OFPInstructionActions(datapath.ofproto.OFPIT_APPLY_ACTIONS, self.up(datapath))]
        match = parser.OFPMatch(eth_type=0x0800)
        datapath.send_msg(parser.OFPFlowMod(datapath, priority=1, match=match, instructions=instructions))
"""
APPLIED = "OFPIT_APPLY_ACTIONS, queue"
WRITTEN = "OFPIT_WRITE_ACTIONS, queue"
CLASSIFY = "    def classify(self"
WRITTEN_OUTPUT = f"""    def add_flow(self, datapath, priority, match, actions, buffer_id=None):
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        write = [parser.OFPInstructionActions(ofproto.OFPIT_WRITE_ACTIONS, actions)]
        flow = {{"table_id": self.TABLE, "priority": priority, "match": match, "instructions": write}}
        datapath.send_msg(parser.OFPFlowMod(datapath=datapath, **flow))

{CLASSIFY}"""
NOTHING = "# nothing needs to be done here"
OTHERS_HIGH = "ip link set br0 type bridge priority 61440"


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        pytest.param("ecmp", {"ecmp.py": {FOR_EACH_HOST: FOR_ALL_OTHERS}}, id="one-entry-with-the-group"),
        pytest.param("qos", {"qos.py": {APPLIED: WRITTEN, CLASSIFY: WRITTEN_OUTPUT}}, id="written-actions"),
        pytest.param(
            "spanning-tree",
            {"s1.sh": {"priority 4096 ": ""}, "s2.sh": {NOTHING: OTHERS_HIGH}, "s3.sh": {NOTHING: OTHERS_HIGH}},
            id="others-with-higher-priorities",
        ),
    ],
)
def test_another_right_solution_has_the_full_mark(name: str, changes: dict[str, dict[str, str]]) -> None:
    exercise = work_folder.find(name)
    texts = {file: submission.of_solution(exercise).text(file) for file in exercise.file.files}
    for file, pairs in changes.items():
        for ours, theirs in pairs.items():
            assert texts[file].count(ours) == 1
            texts[file] = texts[file].replace(ours, theirs)
    files = {file: text.encode() for file, text in texts.items()}
    found = check.mark(exercise, submission.checked(exercise, "theirs", files, []))
    assert found.is_full, [(rule.name, rule.seen) for rule in found.rules]


@pytest.mark.lab
@pytest.mark.slow
def test_an_entry_that_drops_by_clearing_has_its_points_and_the_nearest_one_is_told() -> None:
    exercise = work_folder.find("firewall")
    text = submission.of_solution(exercise).text("firewall.py")
    denies = "self.add_flow(datapath, 100, datapath.ofproto_parser.OFPMatch(**match), [])"
    assert denies in text
    clears = """p, o = datapath.ofproto_parser, datapath.ofproto
        clear = [p.OFPInstructionActions(o.OFPIT_CLEAR_ACTIONS, [])]
        datapath.send_msg(p.OFPFlowMod(datapath=datapath, priority=100, match=p.OFPMatch(**match), instructions=clear))
"""
    for form, is_full in (
        (clears, True),
        (denies.replace("[]", "[datapath.ofproto_parser.OFPActionOutput(99)]"), False),
    ):
        files = {"firewall.py": text.replace(denies, form).encode()}
        found = check.mark(exercise, submission.checked(exercise, "theirs", files, []))
        assert found.is_full == is_full, found
    assert found.fails == ("drops-in-the-switch", "drops-the-port-in-the-switch")
    seen = {rule.name: str(rule.seen) for rule in found.rules}
    for name in found.fails:
        assert "and should have 1; the nearest other one has actions=output:99" in seen[name]


def test_every_exercise_with_variants_has_a_submission_that_only_they_tell() -> None:
    assert {name for name in work_folder.names() if work_folder.find(name).file.variants} == set(WRITTEN_IN)


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "nat" else pytest.mark.nightly) for name in WRITTEN_IN]
)
def test_without_its_variants_an_exercise_would_be_fooled(name: str) -> None:
    exercise = work_folder.find(name)
    alone = replace(exercise, file=replace(exercise.file, variants={}))
    found = check.mark(alone, submission.of_wrong(exercise, WRITTEN_IN[name]))
    assert found.is_full, [(rule.name, rule.seen) for rule in found.rules]


@pytest.mark.parametrize("name", work_folder.names())
def test_the_few_that_are_always_tried_fail_every_rule_that_a_wrong_submission_fails(name: str) -> None:
    exercise = work_folder.find(name)
    wrongs = few(exercise) - {SOLUTION}
    assert wrongs
    assert failed(exercise, wrongs) == failed(exercise, exercise.wrongs())


@pytest.mark.parametrize("name", work_folder.names())
def test_an_exercise_has_all_that_a_class_needs(name: str) -> None:
    found = work_folder.find(name)
    assert (found.folder / "handout.md").is_file()
    assert found.file.hints
    assert found.file.mistakes
    assert 2 <= len(found.wrongs()) <= 10
