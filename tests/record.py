"""Records what the observer says in a real trial: `python tests/record.py` writes tests/data/."""

from __future__ import annotations

import tempfile
from pathlib import Path

from conftest import make_trial

from testbed import runner
from testbed.kernels import lab
from testbed.trial import READ_BACK, SAMPLES, Orders, orders

DATA = Path(__file__).parent / "data"

CHANGES = {
    "path": {"rate": "100 Mbit/s", "rtt": "10 ms", "buffer": "20 packets", "loss": "1 in 50"},
    "workload": {"flows": 2, "congestion": ["cubic", "bbr"], "duration": "300 ms"},
}


def recorded() -> Orders:
    """What was recorded: its sources stand in the order of their numbers."""
    return orders(make_trial(**CHANGES))


def record() -> None:
    made, place = recorded(), runner.place(make_trial().kernel)
    assert place.image is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lab.run(place.image, made.steps, folder, tools=place.tools, seed=1, memory_bytes=made.memory_bytes)
        for file in (SAMPLES, READ_BACK):
            (DATA / file).write_bytes((folder / file).read_bytes())


if __name__ == "__main__":
    record()
