"""Records what the observer says in a real trial: `python tests/record.py` writes tests/data/."""

from __future__ import annotations

import json
import tempfile
from dataclasses import astuple
from pathlib import Path

from trials import make_trial

from testbed.kernel import lab
from testbed.trial import ready_kernel
from testbed.trial.observe.sample import Query
from testbed.trial.orders.sequence import orders
from testbed.trial.subject.observer import READ_BACK, SAMPLES

DATA = Path(__file__).parent / "data"

CHANGES = {
    "path": {"rate": "100 Mbit/s", "rtt": "10 ms", "buffer": "20 packets", "loss": "1 in 50"},
    "workload": {"flows": 2, "congestion": ["cubic", "bbr"], "duration": "300 ms"},
}


def sources(file: str) -> tuple[Query, ...]:
    """Those of a recorded file, in the order of their numbers."""
    return tuple(Query(*words) for words in json.loads((DATA / "sources.json").read_text())[file])


def record() -> None:
    trial = make_trial(**CHANGES)
    made, there = orders(trial), ready_kernel.ready_kernel(trial.kernel)
    assert there.image is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lab.run(there.image, made.steps, folder, tools=there.tools, seed=1, memory_bytes=made.memory_bytes)
        for file in (SAMPLES, READ_BACK):
            (DATA / file).write_bytes((folder / file).read_bytes())
    asked = {SAMPLES: made.sampled, READ_BACK: made.observed}
    words = {file: [astuple(source) for source in told] for file, told in asked.items()}
    (DATA / "sources.json").write_text(json.dumps(words, indent=1) + "\n")


if __name__ == "__main__":
    record()
