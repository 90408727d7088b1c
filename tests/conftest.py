"""Before the first test: this run apart from others. Fixtures: one real trial in the lab kernel, from a few changed
values to its result and its folder.
"""

from __future__ import annotations

import compileall
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import private
import pytest
from comparing import Compare, command
from interactive import Home
from trials import Ran, Steps, make_trial, tampered

import testbed
from testbed.kernel.ready import probe
from testbed.trial import run as runner
from testbed.trial.orders.sequence import orders

hypothesis.settings.register_profile(  # a loaded machine proves nothing
    "testbed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("testbed")


def pytest_configure(config: pytest.Config) -> None:
    """Each process that runs tests is by itself; the one that only hands them out (`-n`) needs nothing.

    The package is compiled before: which files of the agent are compiled decides the bytes of trials, so that must not
    change while tests run.

    What runs in the background of a script ignores Ctrl-C, and so would all that it starts: tests send it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(testbed.__file__).parent, quiet=2)
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.add_cleanup(private.begin())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Side by side, the long ones first: at the end no processor waits for another."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: [item.get_closest_marker(name) is None for name in ("nightly", "slow", "lab")])


@pytest.fixture(autouse=True)
def _every_test_looks_at_the_machine_itself() -> None:
    """What a test made believe is missing is not missing for the next one."""
    probe._looked.cache_clear()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A user's own cache folder and working folder, for commands about running networks."""
    made = Home.at(tmp_path)
    yield made
    made.clean()


@pytest.fixture
def run_trial(tmp_path: Path) -> Callable[..., Ran]:
    """Carries out a trial of `make_trial`. `tamper` gets its steps and returns those that are done instead."""
    count = iter(range(1000))

    def run(*, tamper: Callable[[Steps], Steps] = lambda steps: steps, **changes: Any) -> Ran:
        trial = make_trial(**changes)
        made = orders(trial)
        folder = tmp_path / f"trial-{next(count)}"
        folder.mkdir()
        done = runner.run(trial, tampered(made, tamper), folder)
        return Ran(trial, made, folder, done)

    return run


@pytest.fixture
def compare(capsys: pytest.CaptureFixture[str]) -> Compare:
    """Runs `testbed compare` with these words."""
    return command(capsys)
