"""A trial names the build of the lab kernel that it ran on."""

from __future__ import annotations

import hashlib
import json

import pytest
from trials import RunTrial

from testbed.kernel.image.cache import find
from testbed.trial import provenance

pytestmark = pytest.mark.lab


def test_a_trial_names_the_program_of_its_kernel(run_trial: RunTrial) -> None:
    ran = run_trial(workload={"tool": "ping", "from": "a", "to": "b", "count": 1})
    told = json.loads((ran.folder / "host.json").read_text())["kernel_program"]
    assert told == hashlib.sha256(find(None).path.read_bytes()).hexdigest()
    assert provenance.other_program(ran.trial, ran.folder) is None
