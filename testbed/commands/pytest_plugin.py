"""The plugin of pytest: a scenario file is a test, and its rules of `expect` are what it asserts. Runs trials, and
writes to a folder of results. pytest imports this module in every project on the computer, so it imports nothing of
ours before a scenario is collected.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..model.scenario import Scenario

FILES = "testbed_files"
USUAL = ("test_*.yaml",)
RESULTS = "results/pytest"
TRIALS = "testbed.trials"
"""The property of a report that says how many trials a test had."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("testbed", "scenarios of the testbed as tests")
    group.addoption(
        "--testbed",
        action="store_true",
        help=f"Collect scenario files ({USUAL[0]}, or the patterns of {FILES}); exit code 5 if none of them ran.",
    )
    group.addoption("--testbed-kernel", metavar="NAME", help="Run them in this lab kernel (testbed kernel list).")
    group.addoption(
        "--testbed-results", metavar="DIR", help=f"Where their results go; {RESULTS} in the root folder if left out."
    )
    group.addoption(
        "--testbed-jobs",
        type=int,
        metavar="N",
        help="How many trials of a scenario run at once; one for each processor, or 1 with -n, if left out.",
    )
    parser.addini(FILES, "Patterns of scenario files that are tests, such as cells/*.yaml.", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    jobs = config.getoption("testbed_jobs")
    if jobs is not None and jobs < 1:
        raise pytest.UsageError(f"--testbed-jobs {jobs}: allowed: 1 or more")
    for option in ("testbed_kernel", "testbed_results"):
        if config.getoption(option) == "":
            raise pytest.UsageError(f"--{option.replace('_', '-')} is empty; allowed: a name")
    if _is_wanted(config) and not config.getoption("collectonly"):
        config.pluginmanager.register(AtLeastOne(), "testbed-at-least-one")


def _is_wanted(config: pytest.Config) -> bool:
    return bool(config.getoption("testbed")) or config.getoption("testbed_kernel") is not None


class AtLeastOne:
    """Somebody who asks for scenarios shall not be told that all is well if none was run."""

    def __init__(self) -> None:
        self.ran = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran += report.when == "call" and any(key == TRIALS for key, _ in report.user_properties)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK and not self.ran and not hasattr(session.config, "workerinput"):
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.ran:
            terminalreporter.write_line(f"testbed: no scenario was run; collected are {' '.join(USUAL)}, or {FILES}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".yaml" or not _is_test(file_path, parent):
        return None
    made: pytest.Collector = ScenarioFile.from_parent(parent, path=file_path)
    return made


def _is_test(path: Path, parent: pytest.Collector) -> bool:
    config = parent.config
    patterns = config.getini(FILES)
    is_wanted = _is_wanted(config)
    if not (patterns or is_wanted) or path.is_relative_to(_results(config)):  # which has copies of scenarios
        return False
    named = is_wanted and parent.session.isinitpath(path)
    return named or any(path.match(each) for each in patterns or USUAL)


def _results(config: pytest.Config) -> Path:
    given = config.getoption("testbed_results")
    return config.rootpath / RESULTS if given is None else config.invocation_params.dir / given


class ScenarioFile(pytest.File):
    """A scenario file; it has one test."""

    def collect(self) -> Iterator[ScenarioTest]:
        from ..error import TestbedError

        try:
            scenario = self._scenario()
        except TestbedError as error:
            raise self.CollectError(_text(error)) from None
        yield ScenarioTest.from_parent(self, name=scenario.name, scenario=scenario)

    def _scenario(self) -> Scenario:
        """Raises UserError for a file that is none, or has no rule."""
        from ..error import UserError
        from ..kernel.image.cache import find
        from ..spec.load import load_scenario

        kernel = self.config.getoption("testbed_kernel")
        settings = [] if kernel is None else [f"kernel={{lab: {find(kernel).name}}}"]
        scenario = load_scenario(self.path, settings)
        if not scenario.expect:
            raise UserError(f"{self.path}: it has no rule, so it tests nothing; allowed: a scenario with expect")
        return scenario


class ScenarioTest(pytest.Item):
    """A scenario: it passes if there are all of its trials, none is invalid, and each rule of `expect` holds."""

    def __init__(self, *, scenario: Scenario, **others: Any) -> None:
        super().__init__(**others)
        self.scenario = scenario

    def runtest(self) -> None:
        """Raises NotKept, or TestbedError where it could not be tried."""
        from ..sweep.expectation import judged
        from ..sweep.store import Store
        from .result_table import unkept

        store = Store(self._folder())
        summary, ids = self._carry_out(store)
        found = summary.in_order(ids)
        verdicts = judged(store, found)
        self.user_properties.append((TRIALS, str(len(found))))
        self.user_properties += [(f"rule {each.rule.name}", each.outcome) for each in verdicts]
        wrong = [f"{trial.id} failed: {error}" for trial, error in summary.failures]
        wrong += [f"{each.id} is invalid: {'; '.join(each.warnings)}" for each in found if each.verdict == "invalid"]
        wrong += unkept(verdicts)
        if not found or len(found) < len(ids) or not verdicts:
            wrong.append(f"{len(found)} of {len(ids)} trials have a result, and {len(verdicts)} rules were judged")
        if wrong:
            raise NotKept(wrong, store.path)

    def _folder(self) -> Path:
        """The folder for its results, without an earlier run. Raises UserError if it has something else."""
        from ..error import UserError
        from ..sweep.store import Store
        from ..trial.strict_folder import remove_tree

        root = self.config.rootpath
        place = self.path.relative_to(root) if self.path.is_relative_to(root) else Path(*self.path.parts[1:])
        folder = _results(self.config) / place.with_suffix("")
        if folder.exists():
            if not Store(folder).exists:
                raise UserError(f"{folder} is no earlier run of this test; allowed: another folder (--testbed-results)")
            remove_tree(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        return folder

    def _carry_out(self, store: Any) -> Any:
        from ..kernel.ready.named import check_kernels, kernels_of
        from ..spec.load import files_of, programs_of
        from . import foreign_code
        from .measure.run import carry_out
        from .terminal import Terminal

        cells = self.scenario.cells
        files = files_of(self.path)
        foreign_code.refuse_unconfined(str(self.path), ((each.topology, each.workload, each.kernel) for each in cells))
        check_kernels(files.values(), kernels_of(each.topology for each in cells))
        return carry_out(self.scenario, store, files | programs_of(self.path), self._jobs(), Terminal())

    def _jobs(self) -> int:
        given: int | None = self.config.getoption("testbed_jobs")
        usual = 1 if hasattr(self.config, "workerinput") else os.cpu_count() or 1
        return usual if given is None else given

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A sentence for each thing that is wrong, instead of a traceback through our code."""
        from ..error import TestbedError

        if isinstance(excinfo.value, NotKept | TestbedError):
            return _text(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"scenario {self.name}"


class NotKept(Exception):
    """What is wrong with the trials of a scenario, and where they are."""

    def __init__(self, wrong: list[str], folder: Path) -> None:
        super().__init__("\n".join([*wrong, f"its results: testbed results {folder}"]))


def _text(error: BaseException) -> str:
    from ..error import harmless

    return harmless(str(error))
