"""Every exercise does what it promises: the solution has the full mark, the starter has not, and each wrong submission
fails the rules that it says, and no others.
"""

from __future__ import annotations

import pytest

from testbed.exercise import promise, work_folder

CASES = [(name, case) for name in work_folder.names() for case in promise.cases(work_folder.find(name))]


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), CASES, ids=lambda word: str(word))
def test_an_exercise_keeps_its_promise(name: str, case: str) -> None:
    found = promise.kept(work_folder.find(name), case)
    assert found.broken is None, [(rule.name, rule.seen) for rule in found.mark.rules]


@pytest.mark.parametrize("name", work_folder.names())
def test_an_exercise_has_all_that_a_class_needs(name: str) -> None:
    found = work_folder.find(name)
    assert (found.folder / "handout.md").is_file()
    assert found.file.hints
    assert found.file.mistakes
    assert 2 <= len(found.wrongs()) <= 4
