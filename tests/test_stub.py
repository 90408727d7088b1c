"""Programs of a guest that attack the stub through which they reach their kernel gain nothing (`stub_attack.c`)."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from testbed import process
from testbed.exercise import check, jail, submission, work_folder
from testbed.kernel import lab
from testbed.kernel.image.cache import find
from testbed.native_program import tools
from testbed.plan.step import Run

pytestmark = pytest.mark.lab

ATTEMPTS = (
    "maps-host-memory",
    "maps-a-descriptor",
    "has-requests-carried-out",
    "keeps-what-it-gave-back",
    "stops-in-the-stub",
    "becomes-root",
    "counts-requests-of-its-own",
    "confuses-the-kernel",
    "holds-up-its-kin",
)
MEMORY_BYTES = 256 << 20


@pytest.fixture
def attack(tmp_path: Path) -> Path:
    """The compiled program."""
    program = tmp_path / "stub_attack"
    source = Path(__file__).with_name("stub_attack.c")
    process.run(("gcc", "-Os", "-s", "-Wall", "-Werror", "-mno-red-zone", "-o", program, source))
    return program


def test_whoever_jumps_into_the_stub_gains_nothing_and_the_guest_goes_on(attack: Path, tmp_path: Path) -> None:
    """Without the patches six of them work, becoming root among them, and one ends the guest."""
    folder = tmp_path / "trial"
    folder.mkdir()
    attack.rename(folder / "attack")
    words = (*jail.words(jail.NOTHING), "/run/trial/attack")
    steps = [Run(words, out="out"), Run(("id", "-u"), out="after")]
    lab.run(find(None), steps, folder, tools=tools(), seed=1, memory_bytes=MEMORY_BYTES)
    assert (folder / "out").read_text().split() == [word for name in ATTEMPTS for word in (name, "refused")]
    assert (folder / "after").read_text() == "0\n"


SCRIPT = """
base64 -d >/tmp/attack <<'END'
{text}
END
chmod +x /tmp/attack
/tmp/attack becomes-root
false
"""


@pytest.mark.slow
def test_a_submission_that_attacks_the_stub_has_no_points(attack: Path) -> None:
    """It became root, and could write what the rules see."""
    exercise = work_folder.find("addressing")
    starter = submission.of_starter(exercise)
    text = base64.encodebytes(attack.read_bytes()).decode()
    files = {**starter.files, "a.sh": SCRIPT.format(text=text).encode()}
    found = check.mark(exercise, submission.checked(exercise, "theirs", files, []))
    assert any("becomes-root refused" in note for note in found.notes), found.notes
    assert found.points == 0
