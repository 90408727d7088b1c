"""One trial twice: with superpackets that stay whole as long as they can, and cut before anything counts them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from trials import Ran

from testbed.trial.start import bring_up

SAME = ("result.json", "samples.parquet", "queues.parquet", "flow.out", "netstat-a-after.txt", "netstat-b-after.txt")


def late_and_soon(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Ran]) -> tuple[Ran, Ran]:
    """All emulators of the first trial cut late, and none of the second one's."""
    late = run()
    monkeypatch.setattr(bring_up, "cuts_late", lambda kernel: False)
    soon = run()
    assert all(each.forward.cuts_late for each in late.made.plan.emulators)
    assert not any(each.forward.cuts_late for each in soon.made.plan.emulators)
    assert late.made.plan.emulators
    return late, soon


def check_same_bytes(late: Ran, soon: Ran) -> None:
    for name in SAME:
        assert (late.folder / name).read_bytes() == (soon.folder / name).read_bytes(), name
